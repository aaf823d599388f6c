// Damped springs along edges, for all edges of an independent group.
//
// Twin: edge_spring.rs      Test: tests/gpu/tets.rs

struct Spring {
    ends: vec2u,
    stiffness: f32,
    // Its length at rest before anything has flowed.
    original: f32,
}

struct Elastic {
    h: f32,
    damping: f32,
    // How many times its volume at rest the body has.
    growth: f32,
    // Relative change of length that is taken back, and the part of what is beyond that stays in a step.
    yields_at: f32,
    stays: f32,
    // Of a cell.
    size: f32,
    inverse_size: f32,
    unused: f32,
}

@group(0) @binding(1) var<uniform> elastic: Elastic;
@group(0) @binding(2) var<storage, read> x: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> d: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> v: array<vec4f>;
@group(0) @binding(5) var<storage, read> springs: array<Spring>;
@group(0) @binding(6) var<storage, read_write> lengths: array<f32>;

// Products instead of compliances: a spring may be so soft that its compliance is no number.
@compute @workgroup_size(WORKGROUP)
fn correct_positions(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let spring = springs[item(id)];
    let a = spring.ends.x;
    let b = spring.ends.y;
    let at_a = x[a];
    let at_b = x[b];
    let way_a = d[a].xyz;
    let way_b = d[b].xyz;
    let between = (at_b.xyz - at_a.xyz) + (way_b - way_a);
    let now = length(between);
    if (now <= 0.0) { return; }
    let hard = spring.stiffness * elastic.h * elastic.h;
    let impulse = between * ((now - lengths[item(id)]) / now * (hard / (1.0 + (at_a.w + at_b.w) * hard)));
    d[a] = vec4f(way_a + impulse * at_a.w, 0.0);
    d[b] = vec4f(way_b - impulse * at_b.w, 0.0);
}

// Before the look-ahead d holds what rounding has taken from x.
@compute @workgroup_size(WORKGROUP)
fn damp(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let spring = springs[item(id)];
    let a = spring.ends.x;
    let b = spring.ends.y;
    let at_a = x[a];
    let at_b = x[b];
    let between = (at_b.xyz - at_a.xyz) + (d[b].xyz - d[a].xyz);
    let squared = dot(between, between);
    if (squared <= 0.0) { return; }
    let v_a = v[a].xyz;
    let v_b = v[b].xyz;
    let hard = spring.stiffness * elastic.damping * elastic.h;
    let impulse = between * (dot(v_b - v_a, between) / squared * (hard / (1.0 + (at_a.w + at_b.w) * hard)));
    v[a] = vec4f(v_a + impulse * at_a.w, 0.0);
    v[b] = vec4f(v_b - impulse * at_b.w, 0.0);
}

// After the step, likewise. Edges share nothing here.
@compute @workgroup_size(WORKGROUP)
fn flow(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let spring = springs[item(id)];
    let a = spring.ends.x;
    let b = spring.ends.y;
    let now = length((x[b].xyz - x[a].xyz) + (d[b].xyz - d[a].xyz));
    let rest = lengths[item(id)];
    var beyond = 0.0;
    if (now > rest * (1.0 + elastic.yields_at)) {
        beyond = now - rest * (1.0 + elastic.yields_at);
    } else if (now < rest * (1.0 - elastic.yields_at)) {
        beyond = now - rest * (1.0 - elastic.yields_at);
    } else {
        return;
    }
    let stays = rest + elastic.stays * beyond;
    lengths[item(id)] = clamp(stays, SHORTEST * spring.original, LONGEST * spring.original);
}
