// Vertices that pins hold or draw to their places, and the particles below them: what each vertex lacks, the multipliers that give all of
// them exactly that, and what these do to the particles.
//
// Twin: conforming_map.rs (`WeightedReturn::apply`), `ClothStep::draw_to_pins`      Test: tests/gpu/conforming_map.rs

struct Goal {
    // Where the pin has its vertex, a place and what it lacks; w is the part of the gap that is closed,
    high: vec4f,
    // and the part of the difference between their ways that is.
    low: vec4f,
    // The goal's own way in this step.
    way: vec4f,
}

struct Entry {
    number: u32,
    weight: f32,
}

struct Step {
    gravity: vec3f,
    h: f32,
    inverse_h: f32,
    drag: f32,
    unused_1: f32,
    unused_2: f32,
}

@group(0) @binding(1) var<uniform> step: Step;
@group(0) @binding(2) var<storage, read> x: array<vec4f>;
@group(0) @binding(3) var<storage, read> low: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> d: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> v: array<vec4f>;
@group(0) @binding(6) var<storage, read> goals: array<Goal>;
// Of each vertex its particles, or of each particle its vertices, and their weights.
@group(0) @binding(7) var<storage, read> starts: array<u32>;
@group(0) @binding(8) var<storage, read> entries: array<Entry>;
@group(0) @binding(9) var<storage, read_write> changes: array<vec4f>;
@group(0) @binding(10) var<storage, read> inverse: array<f32>;
@group(0) @binding(11) var<storage, read_write> multipliers: array<vec4f>;
// The particles that have such vertices.
@group(0) @binding(12) var<storage, read> carriers: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn miss_places(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let n = item(id);
    let goal = goals[n];
    // Weights sum to one.
    var gap = vec3f(0.0);
    var way = vec3f(0.0);
    for (var e = starts[n]; e < starts[n + 1u]; e++) {
        let i = entries[e].number;
        gap += ((goal.high.xyz - x[i].xyz) + (goal.low.xyz - d[i].xyz)) * entries[e].weight;
        way += (d[i].xyz - low[i].xyz) * entries[e].weight;
    }
    changes[n] = vec4f(gap * goal.high.w + (goal.way.xyz - way) * goal.low.w, 0.0);
}

@compute @workgroup_size(WORKGROUP)
fn miss_velocities(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let n = item(id);
    var velocity = vec3f(0.0);
    for (var e = starts[n]; e < starts[n + 1u]; e++) {
        velocity += v[entries[e].number].xyz * entries[e].weight;
    }
    changes[n] = vec4f(goals[n].way.xyz * step.inverse_h - velocity, 0.0);
}

// The dense inverse of B W Bᵀ is symmetric: neighbours in a workgroup read neighbours in memory.
@compute @workgroup_size(WORKGROUP)
fn multiply(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let n = item(id);
    var sum = vec3f(0.0);
    for (var other = 0u; other < span.count; other++) {
        sum += changes[other].xyz * inverse[other * span.count + n];
    }
    multipliers[n] = vec4f(sum, 0.0);
}

fn carried(n: u32) -> vec3f {
    var sum = vec3f(0.0);
    for (var e = starts[n]; e < starts[n + 1u]; e++) {
        sum += multipliers[entries[e].number].xyz * entries[e].weight;
    }
    return sum;
}

@compute @workgroup_size(WORKGROUP)
fn give_places(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let n = item(id);
    let i = carriers[n];
    d[i] = vec4f(d[i].xyz + carried(n), 0.0);
}

@compute @workgroup_size(WORKGROUP)
fn give_velocities(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let n = item(id);
    let i = carriers[n];
    v[i] = vec4f(v[i].xyz + carried(n), 0.0);
}
