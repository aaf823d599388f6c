// Resistance to bending, explicit: rows are measured, then each particle gathers its force from them.
//
// Twin: bending.rs, `BendingStep::apply`      Test: tests/gpu/bending.rs

struct Row {
    particles: array<u32, 5>,
    coefficients: array<f32, 5>,
}

struct Beat {
    // Time by which the velocity counts.
    damping: f32,
    // What a unit of the gradient gives a unit of inverse mass.
    scale: f32,
    unused_1: f32,
    unused_2: f32,
}

struct Entry {
    number: u32,
    weight: f32,
}

@group(0) @binding(1) var<uniform> beat: Beat;
@group(0) @binding(2) var<storage, read> x: array<vec4f>;
@group(0) @binding(3) var<storage, read> low: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> v: array<vec4f>;
@group(0) @binding(5) var<storage, read> rows: array<Row>;
@group(0) @binding(6) var<storage, read_write> measured: array<vec4f>;
@group(0) @binding(7) var<storage, read> starts: array<u32>;
@group(0) @binding(8) var<storage, read> entries: array<Entry>;

@compute @workgroup_size(WORKGROUP)
fn measure_bending(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let number = item(id);
    // Coefficients sum to zero, so everything can be seen from the first particle.
    let first = rows[number].particles[0];
    let place = x[first].xyz;
    let lacks = low[first].xyz;
    let velocity = v[first].xyz;
    var sum = vec3f(0.0);
    for (var n = 1u; n < 5u; n++) {
        let i = rows[number].particles[n];
        let way = (x[i].xyz - place) + (low[i].xyz - lacks);
        sum += (way + (v[i].xyz - velocity) * beat.damping) * rows[number].coefficients[n];
    }
    measured[number] = vec4f(sum, 0.0);
}

@compute @workgroup_size(WORKGROUP)
fn bend(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let i = item(id);
    let k = x[i].w;
    if (k <= 0.0) { return; }
    var gradient = vec3f(0.0);
    for (var n = starts[i]; n < starts[i + 1u]; n++) {
        gradient += measured[entries[n].number].xyz * entries[n].weight;
    }
    v[i] = vec4f(v[i].xyz + gradient * (beat.scale * k), 0.0);
}
