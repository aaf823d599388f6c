// The right-hand side of implicit bending, and what its solution does to velocities.
//
// Twin: solver/cpu/bending_step.rs, bending.rs      Test: tests/gpu/linear.rs
//
// What is solved for is the change of velocities, (M + s Q) Δv = -s Q (x / t + v): the same in other words as for all of them, but uniform
// motion, however fast, takes nothing from its digits.

struct BendRow {
    particles: array<u32, 5>,
    coefficients: array<f32, 5>,
    unused_1: u32,
    unused_2: u32,
}

struct Settings {
    // How much places count, and velocities [s].
    place: f32,
    time: f32,
    // What a gradient is multiplied by.
    scale: f32,
    unused: f32,
}

@group(0) @binding(1) var<uniform> settings: Settings;
@group(0) @binding(2) var<storage, read> x: array<vec4f>;
@group(0) @binding(3) var<storage, read> low: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> v: array<vec4f>;
@group(0) @binding(5) var<storage, read> rows: array<BendRow>;
@group(0) @binding(6) var<storage, read_write> measured: array<vec4f>;
@group(0) @binding(7) var<storage, read> list_starts: array<u32>;
// Of each particle its rows, and its coefficient in each times the row's weight.
@group(0) @binding(8) var<storage, read> list: array<vec2u>;
@group(0) @binding(9) var<storage, read_write> right: array<vec4f>;
@group(0) @binding(10) var<storage, read> change: array<vec4f>;

// K (place x + time v), of differences: the coefficients of a row add up to nothing.
@compute @workgroup_size(WORKGROUP)
fn measure(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let number = item(id);
    let first = rows[number].particles[0];
    let start = x[first].xyz;
    let start_low = low[first].xyz;
    let start_v = v[first].xyz;
    var sum = vec3f(0.0);
    for (var n = 1u; n < 5u; n++) {
        let i = rows[number].particles[n];
        let place = (x[i].xyz - start) + (low[i].xyz - start_low);
        sum += (place * settings.place + (v[i].xyz - start_v) * settings.time) * rows[number].coefficients[n];
    }
    measured[number] = vec4f(sum, 0.0);
}

@compute @workgroup_size(WORKGROUP)
fn gather(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let i = item(id);
    var sum = vec3f(0.0);
    for (var n = list_starts[i]; n < list_starts[i + 1u]; n++) {
        sum += measured[list[n].x].xyz * bitcast<f32>(list[n].y);
    }
    right[i] = vec4f(sum * settings.scale, 0.0);
}

@compute @workgroup_size(WORKGROUP)
fn change_velocities(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let i = item(id);
    v[i] = vec4f(v[i].xyz + change[i].xyz, 0.0);
}
