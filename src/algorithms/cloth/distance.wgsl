// Two particles that keep their distance, for all pairs of an independent group.
//
// Twin: distance.rs      Test: tests/gpu/distance.rs

struct Distance {
    ends: vec2u,
    inverse_rest_squared: f32,
    push: f32,
}

@group(0) @binding(1) var<storage, read> x: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> d: array<vec4f>;
@group(0) @binding(3) var<storage, read> distances: array<Distance>;
@group(0) @binding(4) var<storage, read_write> v: array<vec4f>;

// [4.2]
@compute @workgroup_size(WORKGROUP)
fn distance_positions(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let pair = distances[item(id)];
    let a = pair.ends.x;
    let b = pair.ends.y;
    let at_a = x[a];
    let at_b = x[b];
    let way_a = d[a].xyz;
    let way_b = d[b].xyz;
    let between = (at_b.xyz - at_a.xyz) + (way_b - way_a);
    let strain = dot(between, between) * pair.inverse_rest_squared - 1.0;
    let part = min(0.5 * strain * select(1.0, pair.push, strain < 0.0), LARGEST_CORRECTION);
    let correction = between * (part / (at_a.w + at_b.w));
    d[a] = vec4f(way_a + correction * at_a.w, 0.0);
    d[b] = vec4f(way_b - correction * at_b.w, 0.0);
}

// [4.3], at the end of the step
@compute @workgroup_size(WORKGROUP)
fn distance_velocities(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let pair = distances[item(id)];
    let a = pair.ends.x;
    let b = pair.ends.y;
    let at_a = x[a];
    let at_b = x[b];
    // After the step d holds what rounding has taken from x.
    let between = (at_b.xyz - at_a.xyz) + (d[b].xyz - d[a].xyz);
    let squared = dot(between, between);
    if (squared <= 0.0) { return; }
    let inverse_squared = min(pair.inverse_rest_squared, 1.0 / squared);
    let rate = dot(v[b].xyz - v[a].xyz, between) * inverse_squared / (at_a.w + at_b.w);
    v[a] = vec4f(v[a].xyz + between * (rate * at_a.w), 0.0);
    v[b] = vec4f(v[b].xyz - between * (rate * at_b.w), 0.0);
}
