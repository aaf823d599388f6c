// Damping that leaves regions free to move and turn as a whole.
//
// Velocities count from that of the whole, and are parts of the fastest one; places are parts of the reach.
//
// Twin: damping.rs      Test: tests/gpu/shapes.rs

@compute @workgroup_size(WORKGROUP)
fn look_at_motion(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) local: u32) {
    if (has_item(id)) {
        let i = item(id);
        let p = particles[i];
        let place = (x[i].xyz - bodies[p.body].about_next) + low[i].xyz;
        rows[0] = vec4f(v[i].xyz * p.mass, 0.0);
        rows[MOST] = vec4f(at_most(length(place)), at_most(length(v[i].xyz)), 0.0, 0.0);
    }
    leave(id, local, 1u);
}

@compute @workgroup_size(WORKGROUP)
fn judge_motion(@builtin(local_invocation_index) local: u32, @builtin(workgroup_id) group: vec3u) {
    let b = group.x;
    collect(local, b, 1u);
    if (local != 0u) { return; }
    let settings = bodies[b].settings;
    let velocity = all_of(0u).xyz / settings.mass;
    bodies[b].velocity = velocity;
    bodies[b].speed = power_above(all_of(MOST).y + length(velocity));
    bodies[b].reach = power_above(max(all_of(MOST).x, 1e-6 * settings.extent));
    bodies[b].spin_unit = power_above(settings.most_count * (1.0 + settings.most_spin));
}

@compute @workgroup_size(WORKGROUP)
fn sum_motions(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) local: u32) {
    var own = nothing();
    if (has_item(id)) {
        let i = item(id);
        let p = particles[i];
        let b = p.body;
        let place = ((x[i].xyz - bodies[b].about_next) + low[i].xyz) / bodies[b].reach;
        let momentum = (v[i].xyz - bodies[b].velocity) * (p.part / bodies[b].speed);
        let arm = place * p.part;
        own.a = fixed(vec4f(arm, momentum.x));
        own.b = fixed(vec4f(momentum.yz, cross(place, momentum).xy));
        own.c = fixed(vec4f(cross(place, momentum).z, arm * place));
        own.e = fixed(vec4f(arm.x * place.y, arm.x * place.z, arm.y * place.z, 0.0));
    }
    scan(id, local, 4u, own);
}

// How each region moves as a whole, summed up.
@compute @workgroup_size(WORKGROUP)
fn find_motions(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) local: u32) {
    var own = nothing();
    if (has_item(id)) {
        let i = item(id);
        let p = particles[i];
        let sums = sum_over(p.stretches, 4u);
        let inverse_mass = regions[i].inverse_mass;
        let a = vec4f(sums.a) / FIXED;
        let b = vec4f(sums.b) / FIXED;
        let c = vec4f(sums.c) / FIXED;
        let e = vec4f(sums.e) / FIXED;
        let momentum = vec3f(a.w, b.xy);
        let centre = a.xyz * inverse_mass;
        let velocity = momentum * inverse_mass;
        let angular = vec3f(b.zw, c.x) - cross(centre, momentum);
        let spread = inertia(c.yzw - a.xyz * centre, e.x - a.x * centre.y, e.y - a.x * centre.z, e.z - a.y * centre.z);
        let most = bodies[p.body].settings.most_spin;
        var spin = inverse(spread) * angular;
        let size = length(spin);
        if (!is_finite(size)) { spin = vec3f(0.0); }
        if (size > most) { spin *= most / size; }
        let unit = 1.0 / bodies[p.body].spin_unit;
        own.a = fixed(vec4f(spin, velocity.x - cross(spin, centre).x) * unit);
        own.b = fixed(vec4f(velocity.yz - cross(spin, centre).yz, 0.0, 0.0) * unit);
    }
    scan(id, local, 2u, own);
}

@compute @workgroup_size(WORKGROUP)
fn damp(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let i = item(id);
    if (!(x[i].w > 0.0)) { return; }
    let p = particles[i];
    let b = p.body;
    let sums = sum_over(p.stretches, 2u);
    let unit = p.share * bodies[b].spin_unit * bodies[b].speed / FIXED;
    let place = ((x[i].xyz - bodies[b].about_next) + low[i].xyz) / bodies[b].reach;
    let given = cross(vec3f(sums.a.xyz) * unit, place) + vec3f(vec4f(vec4i(sums.a.w, sums.b.xy, 0)).xyz) * unit;
    let own = v[i].xyz;
    v[i] = vec4f(own + (given + (bodies[b].velocity - own)) * bodies[b].settings.damping, 0.0);
}
