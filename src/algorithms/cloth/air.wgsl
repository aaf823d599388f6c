// Drag and wind on triangles, and what they do to the particles.
//
// Twin: air.rs, `ClothStep::blow`      Test: tests/gpu/air.rs

struct Air {
    gravity: vec3f,
    // How long the air acts.
    h: f32,
    drag: f32,
    unused_1: f32,
    unused_2: f32,
    unused_3: f32,
}

struct Triangle {
    particles: array<u32, 3>,
    density: f32,
}

struct Entry {
    number: u32,
    weight: f32,
}

@group(0) @binding(1) var<uniform> air: Air;
@group(0) @binding(2) var<storage, read> x: array<vec4f>;
@group(0) @binding(3) var<storage, read> low: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> v: array<vec4f>;
@group(0) @binding(5) var<storage, read> triangles: array<Triangle>;
@group(0) @binding(6) var<storage, read> wind: array<vec4f>;
@group(0) @binding(7) var<storage, read_write> changes: array<vec4f>;
// The triangles of each particle and the part of its mass that they bring.
@group(0) @binding(8) var<storage, read> starts: array<u32>;
@group(0) @binding(9) var<storage, read> entries: array<Entry>;

@compute @workgroup_size(WORKGROUP)
fn blow_at_triangles(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let t = item(id);
    let triangle = triangles[t];
    let a = triangle.particles[0];
    let b = triangle.particles[1];
    let c = triangle.particles[2];
    let to_b = (x[b].xyz - x[a].xyz) + (low[b].xyz - low[a].xyz);
    let to_c = (x[c].xyz - x[a].xyz) + (low[c].xyz - low[a].xyz);
    let area = cross(to_b, to_c);
    let squared = dot(area, area);
    var change = vec3f(0.0);
    if (squared > 0.0) {
        let normal = area * inverseSqrt(squared);
        // The speed in the middle of the time.
        let own = (v[a].xyz + v[b].xyz + v[c].xyz) / 3.0 + air.gravity * (0.5 * air.h);
        let speed = dot(wind[t].xyz - own, normal);
        let rate = 0.5 * air.drag * AIR_DENSITY / triangle.density * abs(speed);
        change = normal * (speed * air.h * rate / (1.0 + air.h * rate));
    }
    changes[t] = vec4f(change, 0.0);
}

@compute @workgroup_size(WORKGROUP)
fn blow_at_particles(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let i = item(id);
    if (x[i].w <= 0.0) { return; }
    var sum = vec3f(0.0);
    for (var n = starts[i]; n < starts[i + 1u]; n++) {
        sum += changes[entries[n].number].xyz * entries[n].weight;
    }
    v[i] = vec4f(v[i].xyz + sum, 0.0);
}
