// Diagonals of quads as implicit springs that do not let the quads collapse, for all of an independent group.
//
// Twin: threads.rs      Test: tests/gpu/threads.rs

struct Diagonal {
    ends: vec2u,
    rest: f32,
    compliance: f32,
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
@group(0) @binding(3) var<storage, read_write> d: array<vec4f>;
@group(0) @binding(4) var<storage, read> diagonals: array<Diagonal>;

@compute @workgroup_size(WORKGROUP)
fn shear_threads(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let diagonal = diagonals[item(id)];
    let a = diagonal.ends.x;
    let b = diagonal.ends.y;
    let at_a = x[a];
    let at_b = x[b];
    let between = (at_b.xyz - at_a.xyz) + (d[b].xyz - d[a].xyz);
    let distance = length(between);
    let weight = at_a.w + at_b.w;
    if (distance <= 0.0 || weight <= 0.0) { return; }
    let spring = (distance - diagonal.rest) / (weight + diagonal.compliance * step.inverse_h * step.inverse_h);
    let guard = (distance - SHORTEST_DIAGONAL * diagonal.rest) / weight;
    let impulse = between * (select(spring, min(spring, guard), guard < 0.0) / distance);
    d[a] = vec4f(d[a].xyz + impulse * at_a.w, 0.0);
    d[b] = vec4f(d[b].xyz - impulse * at_b.w, 0.0);
}
