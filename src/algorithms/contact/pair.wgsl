// Two features that touch, for all pairs that may do so in a step.
//
// Stands behind proximity.wgsl. What the processor takes for near enough is measured here; pairs that turn out to be apart are passed over, so
// that the order in which they follow each other is known beforehand.
//
// Twin: pair.rs, friction.rs; `Touching::look`, `press` and `calm` (solver/cpu/touching/mod.rs)      Test: tests/gpu/pairs.rs

struct Candidate {
    vertices: vec4u,
    gap: f32,
    sliding: f32,
    sticking: f32,
    is_edges: u32,
}

struct Pair {
    weights: vec4f,
    // How far each vertex moves when the difference of both points is to change by one.
    shares: vec4f,
    normal: vec3f,
    // How far they are to be led apart: what the distance at the start lacks.
    led: f32,
    // What places on the device lack, which ways begin with.
    lacking: vec3f,
    is_near: u32,
}

struct Pressing {
    // Way by which what is too near is led apart in a step, at most.
    recover: f32,
    h: f32,
    unused_1: f32,
    unused_2: f32,
}

@group(0) @binding(1) var<storage, read> candidates: array<Candidate>;
@group(0) @binding(2) var<storage, read> x: array<vec4f>;
@group(0) @binding(3) var<storage, read> low: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> d: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> pairs: array<Pair>;
// Sums of corrections so far: tangential, and normal in the last number.
@group(0) @binding(6) var<storage, read_write> sums: array<vec4f>;
// No more than the distances at the start of the step.
@group(0) @binding(7) var<storage, read_write> distances: array<f32>;
@group(0) @binding(8) var<uniform> pressing: Pressing;
// As in resting.wgsl.
@group(0) @binding(9) var<storage, read> groups: array<u32>;
@group(0) @binding(10) var<storage, read_write> v: array<vec4f>;

fn weighted(weights: vec4f, a: vec3f, b: vec3f, c: vec3f, d: vec3f) -> vec3f {
    return a * weights.x + b * weights.y + c * weights.z + d * weights.w;
}

@compute @workgroup_size(WORKGROUP)
fn measure_pairs(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let number = item(id);
    let candidate = candidates[number];
    let n = candidate.vertices;
    let a = x[n.x];
    let b = x[n.y];
    let c = x[n.z];
    let e = x[n.w];
    let low_a = low[n.x].xyz;
    let low_b = low[n.y].xyz;
    let low_c = low[n.z].xyz;
    let low_e = low[n.w].xyz;
    let to_b = (b.xyz - a.xyz) + (low_b - low_a);
    let to_c = (c.xyz - a.xyz) + (low_c - low_a);
    let to_e = (e.xyz - a.xyz) + (low_e - low_a);
    let near = proximity(candidate.is_edges != 0u, vec3f(0.0), to_b, to_c, to_e);
    let reach = max(max(length(to_b), length(to_c)), length(to_e));
    distances[number] = max(near.distance - DISTANCE_ERROR * reach, 0.0);
    sums[number] = vec4f(0.0);
    let mobile = vec4f(a.w, b.w, c.w, e.w) * near.weights;
    let inverse_mass = dot(mobile, near.weights);
    let lacking = weighted(near.weights, low_a, low_b, low_c, low_e);
    let coming = weighted(near.weights, d[n.x].xyz, d[n.y].xyz, d[n.z].xyz, d[n.w].xyz) - lacking;
    // What moves across may still come nearer by what the vertices move against each other. What is not a number is found by those who look for it.
    let is_near = near.distance <= candidate.gap + length(coming) && inverse_mass > 0.0 && is_finite3(coming);
    let shares = select(vec4f(0.0), mobile / inverse_mass, is_near);
    let led = min(candidate.gap - near.distance, pressing.recover);
    pairs[number] = Pair(near.weights, shares, near.normal, led, lacking, u32(is_near));
}

// The tangential sum that a normal one allows.
fn allowed(candidate: Candidate, wanted: vec3f, pressed: f32) -> vec3f {
    let size = length(wanted);
    if (size > candidate.sticking * pressed) { return wanted * (candidate.sliding * pressed / size); }
    return wanted;
}

fn press(number: u32) {
    if (pairs[number].is_near == 0u) { return; }
    let pair = pairs[number];
    let candidate = candidates[number];
    let n = candidate.vertices;
    let a = d[n.x].xyz;
    let b = d[n.y].xyz;
    let c = d[n.z].xyz;
    let e = d[n.w].xyz;
    let way = weighted(pair.weights, a, b, c, e) - pair.lacking;
    if (!is_finite3(way)) { return; }
    let sum = sums[number];
    let opening = dot(way, pair.normal);
    let pressed = max(sum.w - (opening - pair.led), 0.0);
    let held = allowed(candidate, sum.xyz - (way - pair.normal * opening), pressed);
    sums[number] = vec4f(held, pressed);
    let by = pair.normal * (pressed - sum.w) + (held - sum.xyz);
    if (by.x == 0.0 && by.y == 0.0 && by.z == 0.0) { return; }
    if (pair.shares.x != 0.0) { d[n.x] = vec4f(a + by * pair.shares.x, 0.0); }
    if (pair.shares.y != 0.0) { d[n.y] = vec4f(b + by * pair.shares.y, 0.0); }
    if (pair.shares.z != 0.0) { d[n.z] = vec4f(c + by * pair.shares.z, 0.0); }
    if (pair.shares.w != 0.0) { d[n.w] = vec4f(e + by * pair.shares.w, 0.0); }
}

// Take away the speed at which they were led apart.
fn calm(number: u32) {
    let pair = pairs[number];
    if (sums[number].w <= 0.0 || pair.led <= 0.0) { return; }
    let n = candidates[number].vertices;
    let a = v[n.x].xyz;
    let b = v[n.y].xyz;
    let c = v[n.z].xyz;
    let e = v[n.w].xyz;
    let speed = dot(weighted(pair.weights, a, b, c, e), pair.normal);
    if (!is_finite(speed)) { return; }
    let by = pair.normal * -clamp(speed, 0.0, pair.led / pressing.h);
    if (pair.shares.x != 0.0) { v[n.x] = vec4f(a + by * pair.shares.x, 0.0); }
    if (pair.shares.y != 0.0) { v[n.y] = vec4f(b + by * pair.shares.y, 0.0); }
    if (pair.shares.z != 0.0) { v[n.z] = vec4f(c + by * pair.shares.z, 0.0); }
    if (pair.shares.w != 0.0) { v[n.w] = vec4f(e + by * pair.shares.w, 0.0); }
}

@compute @workgroup_size(WORKGROUP)
fn press_pairs(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    press(item(id));
}

@compute @workgroup_size(WORKGROUP)
fn calm_pairs(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    calm(item(id));
}

// One workgroup for all groups of run number `span.start`, which are small: it goes through one after the other.
@compute @workgroup_size(WORKGROUP)
fn press_pairs_of_small_groups(@builtin(local_invocation_index) local: u32) {
    for (var group = groups[span.start]; group < groups[span.start + 1u]; group++) {
        for (var n = groups[group] + local; n < groups[group + 1u]; n += WORKGROUP) { press(n); }
        storageBarrier();
    }
}

@compute @workgroup_size(WORKGROUP)
fn calm_pairs_of_small_groups(@builtin(local_invocation_index) local: u32) {
    for (var group = groups[span.start]; group < groups[span.start + 1u]; group++) {
        for (var n = groups[group] + local; n < groups[group + 1u]; n += WORKGROUP) { calm(n); }
        storageBarrier();
    }
}
