// Wind and drag on a surface that particles carry: an impulse of each triangle, then for each particle those of the triangles around it.
//
// Twin: `SoftStep::blow` (solver/cpu/soft_step.rs) and cloth/air.rs      Test: tests/gpu/soft.rs

struct Step {
    gravity: vec3f,
    h: f32,
    inverse_h: f32,
    drag: f32,
    unused_1: f32,
    unused_2: f32,
}

struct Triangle {
    corners: array<u32, 3>,
    // Deceleration of a square metre at 1 m/s in air with a drag of 1.
    rate: f32,
}

// What carries a vertex, or how a triangle's impulse moves a particle.
struct Share {
    number: u32,
    part: f32,
}

@group(0) @binding(1) var<uniform> step: Step;
@group(0) @binding(2) var<storage, read> x: array<vec4f>;
@group(0) @binding(3) var<storage, read> d: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> v: array<vec4f>;
@group(0) @binding(5) var<storage, read> triangles: array<Triangle>;
// Where the shares of each vertex, or of each particle, begin.
@group(0) @binding(6) var<storage, read> starts: array<u32>;
@group(0) @binding(7) var<storage, read> shares: array<Share>;
// Velocity of the air at each triangle, and the impulse of a corner for a change of velocity.
@group(0) @binding(8) var<storage, read> wind: array<vec4f>;
@group(0) @binding(9) var<storage, read_write> air: array<vec4f>;

struct Moving {
    place: vec3f,
    velocity: vec3f,
}

// Places are differences to that of a particle nearby, which keeps their digits.
fn corner(vertex: u32, near: vec3f, way_near: vec3f) -> Moving {
    var moving = Moving(vec3f(0.0), vec3f(0.0));
    for (var n = starts[vertex]; n < starts[vertex + 1u]; n++) {
        let share = shares[n];
        moving.place += ((x[share.number].xyz - near) + (d[share.number].xyz - way_near)) * share.part;
        moving.velocity += v[share.number].xyz * share.part;
    }
    return moving;
}

@compute @workgroup_size(WORKGROUP)
fn blow(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let t = item(id);
    let triangle = triangles[t];
    let first = shares[starts[triangle.corners[0]]].number;
    let a = corner(triangle.corners[0], x[first].xyz, d[first].xyz);
    let b = corner(triangle.corners[1], x[first].xyz, d[first].xyz);
    let c = corner(triangle.corners[2], x[first].xyz, d[first].xyz);
    let area_vector = cross(b.place - a.place, c.place - a.place);
    let doubled = length(area_vector);
    if (doubled <= 0.0) {
        air[t] = vec4f(0.0);
        return;
    }
    let normal = area_vector / doubled;
    let speed = dot(wind[t].xyz - (a.velocity + b.velocity + c.velocity) / 3.0, normal);
    let rate = triangle.rate * step.drag * 0.5 * doubled * abs(speed) * step.h;
    air[t] = vec4f(normal * (speed * rate / (1.0 + rate) * wind[t].w), 0.0);
}

@compute @workgroup_size(WORKGROUP)
fn take_air(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let i = item(id);
    var change = vec3f(0.0);
    for (var n = starts[i]; n < starts[i + 1u]; n++) { change += air[shares[n].number].xyz * shares[n].part; }
    v[i] = vec4f(v[i].xyz + change, 0.0);
}
