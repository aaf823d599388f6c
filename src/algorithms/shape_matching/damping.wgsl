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
        rows[MOST] = vec4f(select(vec2f(0.0), vec2f(at_most(length(place)), at_most(length(v[i].xyz))), p.mass > 0.0), 0.0, 0.0);
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
        own.e = fixed(vec4f(arm.x * place.y, arm.x * place.z, arm.y * place.z, p.part));
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
        let places = sums.a.xyz;
        let momenta = vec3i(sums.a.w, sums.b.xy);
        let centre = vec3f(places) / FIXED * inverse_mass;
        let momentum = vec3f(momenta) / FIXED;
        let velocity = momentum * inverse_mass;
        // First about a point near the centre, in whole numbers.
        let coarse = round(centre * PARTS);
        let fine = centre - coarse / PARTS;
        let k = vec3i(coarse);
        let turned = vec3i(sums.b.zw, sums.c.x) - (part_of(momenta.zxy, k.yzx) - part_of(momenta.yzx, k.zxy));
        let weighted = part_of(vec3i(sums.e.w), k);
        let squares = sums.c.yzw - 2 * part_of(places, k) + part_of(weighted, k);
        let products = sums.e.xyz - part_of(places.xxy, k.yzz) - part_of(places.yzz, k.xxy) + part_of(weighted.xxy, k.yzz);
        let angular = vec3f(turned) / FIXED - cross(fine, momentum);
        let mass = 1.0 / inverse_mass;
        let about = vec3f(products) / FIXED - mass * fine.xxy * fine.yzz;
        let spread = inertia(vec3f(squares) / FIXED - mass * fine * fine, about.x, about.y, about.z);
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
