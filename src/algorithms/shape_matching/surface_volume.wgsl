// The volume inside a closed surface, kept by moving its particles along their normals.
//
// Twin: surface_volume.rs, and `heed_contacts`, `sweep`, `calm` of solver/cpu/shape_filling.rs      Test: tests/gpu/shapes.rs

// When sweeps have done enough: see control.wgsl.
struct Control {
    done: u32,
    sweeps: u32,
    worst: f32,
    enough: f32,
    fewest: u32,
    total: u32,
    is_off: u32,
    unused: u32,
}

// The other two corners of each triangle around a particle, as the triangle faces.
@group(0) @binding(16) var<storage, read> rings: array<vec2u>;
@group(0) @binding(17) var<storage, read> touches: array<u32>;
@group(0) @binding(18) var<storage, read_write> control: array<Control>;

// `n̄` of the look-ahead, in units of the mean one at rest.
fn area_normal(i: u32, p: Particle) -> vec3f {
    let own = x[i].xyz;
    let way = d[i].xyz;
    var sum = vec3f(0.0);
    for (var n = p.ring.x; n < p.ring.y; n += 1u) {
        let pair = rings[n];
        sum += cross((x[pair.x].xyz - own) + (d[pair.x].xyz - way), (x[pair.y].xyz - own) + (d[pair.y].xyz - way));
    }
    return sum * bodies[p.body].settings.normal_unit;
}

// How much each particle is deformed, should volume lack or be too much.
@compute @workgroup_size(WORKGROUP)
fn look_inside(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) local: u32) {
    if (has_item(id) && control[particles[item(id)].body].is_off == 0u) {
        let i = item(id);
        let p = particles[i];
        let settings = bodies[p.body].settings;
        let ahead = (x[i].xyz - bodies[p.body].about) + d[i].xyz;
        let normal = area_normal(i, p);
        let across = (x[p.across].xyz - x[i].xyz) + (d[p.across].xyz - d[i].xyz);
        let change = length(across) - p.inner_distance;
        let through = max(vec2f(-change, change), vec2f(0.0));
        let risen = max(vec2f(surface[i].risen, -surface[i].risen), vec2f(0.0));
        let deformed = settings.beta * p.inner_weight * through + (1.0 - settings.beta) * risen;
        surface[i].normal = normal;
        surface[i].local = deformed;
        rows[0] = vec4f(dot(ahead, normal), deformed, 0.0);
        rows[MOST] = vec4f(at_most(deformed.x), at_most(deformed.y), 0.0, 0.0);
    }
    leave(id, local, 1u);
}

@compute @workgroup_size(WORKGROUP)
fn judge_inside(@builtin(local_invocation_index) local: u32, @builtin(workgroup_id) group: vec3u) {
    let b = group.x;
    collect(local, b, 1u);
    if (local != 0u) { return; }
    bodies[b].is_off = control[b].is_off;
    if (control[b].is_off != 0u) { return; }
    let settings = bodies[b].settings;
    let lacks = all_of(0u).x * settings.area / 9.0 <= settings.volume;
    let sum = select(all_of(0u).z, all_of(0u).y, lacks);
    let most = select(all_of(MOST).y, all_of(MOST).x, lacks);
    let alike = max(settings.alpha, min(abs(bodies[b].off) / MENDED_ALIKE, 1.0));
    let share = select(0.0, (1.0 - alike) / sum, sum > 0.0 && is_finite(sum));
    let is_local = share > 0.0 && is_finite(share);
    bodies[b].sign = select(-1.0, 1.0, lacks);
    bodies[b].local_share = select(0.0, share, is_local);
    bodies[b].alike = select(1.0, alike, is_local) / settings.mass;
    let largest = select(0.0, most * share, is_local) + bodies[b].alike;
    bodies[b].weight_unit = power_above(settings.most_count * largest);
}

// Running sums of weights.
@compute @workgroup_size(WORKGROUP)
fn sum_weights(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) local: u32) {
    var own = nothing();
    if (has_item(id)) {
        let i = item(id);
        let b = particles[i].body;
        let deformed = select(surface[i].local.y, surface[i].local.x, bodies[b].sign > 0.0);
        let weight = (deformed * bodies[b].local_share + bodies[b].alike) / bodies[b].weight_unit;
        own.a = fixed(vec4f(weight, select(weight, 0.0, touches[i] != 0u), 0.0, 0.0));
    }
    scan(id, local, 1u, own);
}

@compute @workgroup_size(WORKGROUP)
fn spread_weights(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) local: u32) {
    if (has_item(id) && bodies[particles[item(id)].body].is_off == 0u) {
        let i = item(id);
        let p = particles[i];
        let sum = vec2f(sum_over(p.stretches, 1u).a.xy) * (bodies[p.body].weight_unit / FIXED);
        // What is blown up brings back no more volume than at rest: the larger it got, the more it would take.
        let square = dot(surface[i].normal, surface[i].normal);
        let as_at_rest = select(1.0, p.square_at_rest / square, square > p.square_at_rest);
        var weights = max(sum, vec2f(0.0)) * (x[i].w * bodies[p.body].settings.mean_mass * p.share * as_at_rest);
        if (touches[i] != 0u) { weights.y = 0.0; }
        surface[i].weights = weights;
        rows[0] = vec4f(weights, 0.0, 0.0);
    }
    leave(id, local, 1u);
}

@compute @workgroup_size(WORKGROUP)
fn judge_weights(@builtin(local_invocation_index) local: u32, @builtin(workgroup_id) group: vec3u) {
    let b = group.x;
    collect(local, b, 1u);
    if (local != 0u || bodies[b].is_off != 0u) { return; }
    let all = all_of(0u).x;
    // Held on most sides: the few that are free would be shot out, so contacts and volume have to agree.
    bodies[b].lacking = select(0.0, max(LEAST_FREE - all_of(0u).y / all, 0.0), all > 0.0);
}

fn heeding(i: u32, b: u32) -> f32 {
    return surface[i].weights.y + bodies[b].lacking * surface[i].weights.x;
}

@compute @workgroup_size(WORKGROUP)
fn look_again(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) local: u32) {
    if (has_item(id)) {
        let i = item(id);
        let p = particles[i];
        let b = p.body;
        if (control[b].done == 0u) {
            let ahead = (x[i].xyz - bodies[b].about) + d[i].xyz;
            let normal = area_normal(i, p);
            surface[i].normal = normal;
            let way = normal * heeding(i, b);
            let impulse = way * p.mass;
            rows[0] = vec4f(dot(ahead, normal), dot(way, normal), 0.0, 0.0);
            rows[1] = vec4f(impulse, 0.0);
            rows[2] = vec4f(cross(surface[i].arm - bodies[b].centre, impulse), 0.0);
            rows[MOST] = vec4f(at_most(length(way)), 0.0, 0.0, 0.0);
        }
    }
    leave(id, local, 3u);
}

// How far to go along the normals for the volume that lacks.
@compute @workgroup_size(WORKGROUP)
fn judge_volume(@builtin(local_invocation_index) local: u32, @builtin(workgroup_id) group: vec3u) {
    let b = group.x;
    collect(local, b, 3u);
    if (local != 0u || control[b].done != 0u) { return; }
    let settings = bodies[b].settings;
    let ratio = all_of(0u).x * settings.area / (9.0 * settings.volume);
    let error = select(0.0, abs(ratio - 1.0), settings.keeps_volume != 0u);
    control[b].worst = select(BROKEN, error, is_finite(ratio));
    bodies[b].multiplier = 0.0;
    bodies[b].shift = vec3f(0.0);
    bodies[b].spin = vec3f(0.0);
    let slope = all_of(0u).y;
    // Beyond these no direction along a normal means anything.
    if (settings.keeps_volume == 0u || !finds_back(ratio) || !(slope > 0.0)) { return; }
    var multiplier = 3.0 * (1.0 - ratio) * (settings.volume / settings.area) / slope;
    if (!is_finite(multiplier)) { return; }
    multiplier *= limit_of(b, all_of(MOST).x * abs(multiplier));
    bodies[b].multiplier = multiplier;
    keep_momentum(b, all_of(1u).xyz * multiplier, all_of(2u).xyz * multiplier);
}

@compute @workgroup_size(WORKGROUP)
fn correct(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let i = item(id);
    let b = particles[i].body;
    if (control[b].done != 0u || bodies[b].multiplier == 0.0) { return; }
    let way = surface[i].normal * (heeding(i, b) * bodies[b].multiplier);
    let kept = bodies[b].shift + cross(bodies[b].spin, surface[i].arm - bodies[b].centre);
    d[i] = vec4f(d[i].xyz + (way - kept), 0.0);
}

// After the step: how fast the volume grows.
@compute @workgroup_size(WORKGROUP)
fn look_back(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) local: u32) {
    if (has_item(id)) {
        let i = item(id);
        let b = particles[i].body;
        let place = (x[i].xyz - bodies[b].about) + low[i].xyz;
        let normal = surface[i].normal;
        let way = normal * surface[i].weights.x;
        let impulse = way * surface[i].mass;
        let arm = place * surface[i].mass;
        let momentum = v[i].xyz * surface[i].mass;
        rows[0] = vec4f(arm, dot(v[i].xyz, normal));
        rows[1] = vec4f(impulse, dot(way, normal));
        rows[2] = vec4f(cross(place, impulse), 0.0);
        rows[3] = vec4f(arm * place, arm.x * place.y);
        rows[4] = vec4f(arm.x * place.z, arm.y * place.z, 0.0, 0.0);
        rows[5] = vec4f(momentum, 0.0);
        rows[6] = vec4f(cross(place, momentum), 0.0);
    }
    leave(id, local, 7u);
}

@compute @workgroup_size(WORKGROUP)
fn judge_growth(@builtin(local_invocation_index) local: u32, @builtin(workgroup_id) group: vec3u) {
    let b = group.x;
    collect(local, b, 7u);
    if (local != 0u) { return; }
    let centre = keep_about(b, all_of(0u).xyz, all_of(3u), all_of(4u).xy);
    bodies[b].centre = centre;
    bodies[b].multiplier = 0.0;
    if (bodies[b].is_lost != 0u) {
        // Being led gives no speed but that of the whole.
        bodies[b].velocity = all_of(5u).xyz / bodies[b].settings.mass;
        bodies[b].spin = bodies[b].inverse_inertia * (all_of(6u).xyz - cross(centre, all_of(5u).xyz));
        return;
    }
    let slope = all_of(1u).w;
    let multiplier = -all_of(0u).w / slope;
    if (!(slope > 0.0) || !is_finite(multiplier)) { return; }
    bodies[b].multiplier = multiplier;
    let turned = all_of(2u).xyz - cross(centre, all_of(1u).xyz);
    keep_momentum(b, all_of(1u).xyz * multiplier, turned * multiplier);
}

@compute @workgroup_size(WORKGROUP)
fn calm(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let i = item(id);
    let b = particles[i].body;
    let arm = (x[i].xyz - bodies[b].about) + low[i].xyz - bodies[b].centre;
    if (bodies[b].is_lost != 0u) {
        if (x[i].w > 0.0) { v[i] = vec4f(bodies[b].velocity + cross(bodies[b].spin, arm), 0.0); }
        return;
    }
    if (bodies[b].multiplier == 0.0) { return; }
    let way = surface[i].normal * (surface[i].weights.x * bodies[b].multiplier);
    v[i] = vec4f(v[i].xyz + (way - (bodies[b].shift + cross(bodies[b].spin, arm))), 0.0);
}
