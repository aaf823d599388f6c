// Free motion of particles, and what a step makes of their look-ahead.
//
// Twin: `solver/cpu/cloth_step.rs` (look ahead, step)      Test: tests/gpu/motion.rs
//
// A place is x + low, two numbers of 24 bits each, and the look-ahead is kept as the way d from x to it. Everything that a step
// looks at is a difference of neighbours plus a difference of ways, which keeps its digits however far from the origin it happens, and a
// velocity is never taken from the difference of two large places.

struct Step {
    gravity: vec3f,
    h: f32,
    inverse_h: f32,
    drag: f32,
    unused_1: f32,
    unused_2: f32,
}

@group(0) @binding(1) var<uniform> step: Step;
// Place and inverse mass.
@group(0) @binding(2) var<storage, read_write> x: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> low: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> d: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> v: array<vec4f>;
// Particles that are led, and where to: for each a place and what it lacks.
@group(0) @binding(6) var<storage, read> led: array<u32>;
@group(0) @binding(7) var<storage, read> led_to: array<vec4f>;

// Adding and taking away this part of a place leaves what it lacks in steps of 2^-47 to 2^-46 of it.
const GRAIN: f32 = 1.1920929e-7;

// Compilers for shaders take (a + b) - a for b. They do not know that this nothing is nothing.
fn as_rounded(v: vec3f) -> vec3f {
    return bitcast<vec3f>(bitcast<vec3u>(v) ^ vec3u(span.number));
}

// p = x + h v + h²/2 g
@compute @workgroup_size(WORKGROUP)
fn look_ahead(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let i = item(id);
    d[i] = vec4f(low[i].xyz + (v[i].xyz + step.gravity * (0.5 * step.h)) * step.h, 0.0);
}

@compute @workgroup_size(WORKGROUP)
fn lead(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let n = item(id);
    let i = led[n];
    d[i] = vec4f((led_to[2u * n].xyz - x[i].xyz) + led_to[2u * n + 1u].xyz, 0.0);
}

// v = (p - x)/h + h/2 g, x = p; what is led has no gravity of its own. What moves freely only gets what constraints have added to its way:
// rounding h and 1/h would slow it down or speed it up by the same part in every step.
@compute @workgroup_size(WORKGROUP)
fn advance(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let i = item(id);
    let start = x[i];
    let way = d[i].xyz;
    let half = step.gravity * (0.5 * step.h);
    let free = v[i].xyz + half;
    let added_way = way - (low[i].xyz + free * step.h);
    let led = (way - low[i].xyz) * step.inverse_h;
    v[i] = vec4f(select(led, free + half + added_way * step.inverse_h, start.w > 0.0), 0.0);
    // The sum and what rounding takes from it.
    let to = as_rounded(start.xyz + way);
    let added = as_rounded(to - start.xyz);
    let lost_of_start = as_rounded(start.xyz - as_rounded(to - added));
    let lost_of_way = as_rounded(way - added);
    // No finer than the processor's numbers can tell: it knows x + low as one of them, and what it knows is all there is.
    let grain = abs(to) * GRAIN;
    let lost = as_rounded(as_rounded((lost_of_start + lost_of_way) + grain) - grain);
    low[i] = vec4f(lost, 0.0);
    x[i] = vec4f(to, start.w);
}
