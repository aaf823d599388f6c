// Triangles that resist stretch along warp and weft and shear between them, for all of an independent group.
//
// Twin: elastic.rs      Test: tests/gpu/elastic.rs

struct Elastic {
    particles: array<u32, 3>,
    shear_compliance: f32,
    // How much of each particle's place is in the column, and its compliance.
    warp: vec4f,
    weft: vec4f,
}

struct Step {
    gravity: vec3f,
    h: f32,
    inverse_h: f32,
    drag: f32,
    unused_1: f32,
    unused_2: f32,
}

// Of each corner.
struct Corners {
    a: vec3f,
    b: vec3f,
    c: vec3f,
}

@group(0) @binding(1) var<uniform> step: Step;
@group(0) @binding(2) var<storage, read> x: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> d: array<vec4f>;
@group(0) @binding(4) var<storage, read> triangles: array<Elastic>;

// One strain towards zero, against its compliance: the moves of the corners.
fn pull(gradients: Corners, k: vec3f, strain: f32, compliance: f32) -> Corners {
    let squares =
        vec3f(dot(gradients.a, gradients.a), dot(gradients.b, gradients.b), dot(gradients.c, gradients.c));
    let multiplier = strain / (dot(k, squares) + compliance * step.inverse_h * step.inverse_h);
    return Corners(
        gradients.a * (-k.x * multiplier),
        gradients.b * (-k.y * multiplier),
        gradients.c * (-k.z * multiplier),
    );
}

fn add(a: Corners, b: Corners) -> Corners {
    return Corners(a.a + b.a, a.b + b.b, a.c + b.c);
}

// A column of the map to space; its numbers sum to zero, so it is seen from the first corner.
fn combine(column: vec3f, to_b: vec3f, to_c: vec3f, moves: Corners) -> vec3f {
    return (to_b + (moves.b - moves.a)) * column.y + (to_c + (moves.c - moves.a)) * column.z;
}

fn stretched(column: vec4f, to_b: vec3f, to_c: vec3f, moves: Corners, k: vec3f) -> Corners {
    let along = combine(column.xyz, to_b, to_c, moves);
    let now = length(along);
    if (now <= 0.0) { return moves; }
    let direction = along / now;
    let gradients = Corners(direction * column.x, direction * column.y, direction * column.z);
    return add(moves, pull(gradients, k, now - 1.0, column.w));
}

@compute @workgroup_size(WORKGROUP)
fn stretch_elastically(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let triangle = triangles[item(id)];
    let a = triangle.particles[0];
    let b = triangle.particles[1];
    let c = triangle.particles[2];
    let to_b = (x[b].xyz - x[a].xyz) + (d[b].xyz - d[a].xyz);
    let to_c = (x[c].xyz - x[a].xyz) + (d[c].xyz - d[a].xyz);
    let k = vec3f(x[a].w, x[b].w, x[c].w);
    var moves = Corners(vec3f(0.0), vec3f(0.0), vec3f(0.0));
    moves = stretched(triangle.warp, to_b, to_c, moves, k);
    moves = stretched(triangle.weft, to_b, to_c, moves, k);
    let u = combine(triangle.warp.xyz, to_b, to_c, moves);
    let v = combine(triangle.weft.xyz, to_b, to_c, moves);
    let u_length = length(u);
    let v_length = length(v);
    if (u_length > 0.0 && v_length > 0.0) {
        let along_u = u / u_length;
        let along_v = v / v_length;
        let sine = dot(along_u, along_v);
        let by_u = (along_v - along_u * sine) / u_length;
        let by_v = (along_u - along_v * sine) / v_length;
        let gradients = Corners(
            by_u * triangle.warp.x + by_v * triangle.weft.x,
            by_u * triangle.warp.y + by_v * triangle.weft.y,
            by_u * triangle.warp.z + by_v * triangle.weft.z,
        );
        moves = add(moves, pull(gradients, k, sine, triangle.shear_compliance));
    }
    d[a] = vec4f(d[a].xyz + moves.a, 0.0);
    d[b] = vec4f(d[b].xyz + moves.b, 0.0);
    d[c] = vec4f(d[c].xyz + moves.c, 0.0);
}
