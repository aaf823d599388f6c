// Particles that are drawn to their places by critically damped springs, implicit.
//
// Twin: `SoftStep::draw_to_pins` (solver/cpu/soft_step.rs)      Test: tests/gpu/soft.rs

struct SoftPin {
    // Its place at the end of the step, and what that lacks; with it the frequency times the step.
    place: vec4f,
    place_low: vec4f,
    // How far the place moves in the step.
    way: vec4f,
}

@group(0) @binding(1) var<storage, read> x: array<vec4f>;
@group(0) @binding(2) var<storage, read> low: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> d: array<vec4f>;
@group(0) @binding(4) var<storage, read> particles: array<u32>;
@group(0) @binding(5) var<storage, read> pins: array<SoftPin>;

@compute @workgroup_size(WORKGROUP)
fn draw_to_pins(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let pin = pins[item(id)];
    let i = particles[item(id)];
    let ahead = d[i].xyz;
    let wh = pin.place_low.w;
    let missing = (pin.place.xyz - x[i].xyz) + pin.place_low.xyz - ahead;
    let way = ahead - low[i].xyz;
    let by = (missing * (wh * wh) + (pin.way.xyz - way) * (2.0 * wh)) / (1.0 + 2.0 * wh + wh * wh);
    d[i] = vec4f(ahead + by, 0.0);
}
