// The closest points of a vertex and a triangle, and of two edges, in coordinates that begin near them.
//
// Twin: proximity.rs      Test: tests/gpu/pairs.rs

struct Proximity {
    distance: f32,
    // From the second part to the first.
    normal: vec3f,
    // Of the four points; those of the first part sum to 1, those of the second to -1.
    weights: vec4f,
}

// From the second part's closest point to the first one's, and the weights.
struct Closest {
    difference: vec3f,
    weights: vec4f,
}

// Three numbers that sum to one, if the foot of the perpendicular is inside.
struct Foot {
    difference: vec3f,
    corners: vec3f,
    is_inside: bool,
}

fn square(v: vec3f) -> f32 {
    return dot(v, v);
}

// 0 to 1; 0 for what is no number.
fn unit_interval(x: f32) -> f32 {
    return select(0.0, min(x, 1.0), x > 0.0);
}

fn foot_on_face(ab: vec3f, ac: vec3f, to_a: vec3f, normal: vec3f, normal_squared: f32, ab_squared: f32) -> Foot {
    let of_c = dot(cross(ab, to_a), normal) / normal_squared;
    let beside = to_a - ac * of_c;
    let of_b = dot(beside, ab) / ab_squared;
    let of_a = 1.0 - of_b - of_c;
    return Foot(beside - ab * of_b, vec3f(of_a, of_b, of_c), of_a > 0.0 && of_b > 0.0 && of_c > 0.0);
}

// For a triangle that must stand on its longest edge to be told well; one that is flat has no inside.
fn foot_on_thin_face(edges: array<vec3f, 3>, arms: array<vec3f, 3>) -> Foot {
    var e = edges;
    var to = arms;
    var a = 0u;
    if (square(e[1]) > square(e[0])) { a = 1u; }
    if (square(e[2]) > square(e[a])) { a = 2u; }
    let b = (a + 1u) % 3u;
    let c = (a + 2u) % 3u;
    let ab = e[a];
    let ac = -e[c];
    let normal = cross(ab, ac);
    let normal_squared = square(normal);
    if (normal_squared <= PARALLEL * square(ab) * square(ac)) { return Foot(vec3f(0.0), vec3f(0.0), false); }
    let foot = foot_on_face(ab, ac, to[a], normal, normal_squared, square(ab));
    var corners = array<f32, 3>(0.0, 0.0, 0.0);
    corners[a] = foot.corners.x;
    corners[b] = foot.corners.y;
    corners[c] = foot.corners.z;
    return Foot(foot.difference, vec3f(corners[0], corners[1], corners[2]), foot.is_inside);
}

fn closest_vertex_triangle(p: vec3f, a: vec3f, b: vec3f, c: vec3f) -> Closest {
    let ab = b - a;
    let bc = c - b;
    let ca = a - c;
    let to_a = p - a;
    let to_b = p - b;
    let to_c = p - c;
    let ab_squared = square(ab);
    let bc_squared = square(bc);
    let ca_squared = square(ca);
    let normal = cross(ca, ab);
    let area = square(normal);
    let is_stout = area > STOUT * bc_squared * bc_squared && area > STOUT * ab_squared * ab_squared
        && area > STOUT * ca_squared * ca_squared;
    var foot: Foot;
    if (is_stout) {
        foot = foot_on_face(ab, -ca, to_a, normal, area, ab_squared);
    } else {
        foot = foot_on_thin_face(array<vec3f, 3>(ab, bc, ca), array<vec3f, 3>(to_a, to_b, to_c));
    }
    if (foot.is_inside) { return Closest(foot.difference, vec4f(1.0, -foot.corners)); }

    // Else it is on one of the edges.
    let along_ab = unit_interval(dot(to_a, ab) / ab_squared);
    let along_bc = unit_interval(dot(to_b, bc) / bc_squared);
    let along_ca = unit_interval(dot(to_c, ca) / ca_squared);
    let from_ab = to_a - ab * along_ab;
    let from_bc = to_b - bc * along_bc;
    let from_ca = to_c - ca * along_ca;
    let ab_far = square(from_ab);
    let bc_far = square(from_bc);
    let ca_far = square(from_ca);
    if (bc_far < ab_far && bc_far <= ca_far) {
        return Closest(from_bc, vec4f(1.0, 0.0, along_bc - 1.0, -along_bc));
    }
    if (ca_far < ab_far) { return Closest(from_ca, vec4f(1.0, -along_ca, 0.0, along_ca - 1.0)); }
    return Closest(from_ab, vec4f(1.0, along_ab - 1.0, -along_ab, 0.0));
}

fn closest_edge_edge(a: vec3f, b: vec3f, c: vec3f, d: vec3f) -> Closest {
    let first = b - a;
    let second = d - c;
    let between = a - c;
    let first_squared = square(first);
    let second_squared = square(second);
    let mixed = dot(first, second);
    let first_between = dot(first, between);
    let second_between = dot(second, between);
    let across = cross(first, second);
    let across_squared = square(across);
    var s: f32;
    if (across_squared > PARALLEL * first_squared * second_squared) {
        s = unit_interval(dot(cross(second, between), across) / across_squared);
    } else {
        s = 0.5 * (unit_interval(-first_between / first_squared) + unit_interval((mixed - first_between) / first_squared));
    }
    // The best on the second edge for it, and then on the first: exact if an end was met, no change else.
    let t = unit_interval((s * mixed + second_between) / second_squared);
    s = unit_interval((t * mixed - first_between) / first_squared);
    return Closest(between + first * s - second * t, vec4f(1.0 - s, s, t - 1.0, -t));
}

fn unit(v: vec3f) -> vec3f {
    let length = length(v);
    return select(vec3f(0.0), v / length, length > 0.0);
}

// Across u and v, or else across the longest of all three.
fn direction_across(u: vec3f, v: vec3f, w: vec3f) -> vec3f {
    let normal = cross(unit(u), unit(v));
    if (square(normal) > PARALLEL) { return unit(normal); }
    var longest = u;
    if (square(v) > square(longest)) { longest = v; }
    if (square(w) > square(longest)) { longest = w; }
    let size = abs(longest);
    var axis = vec3f(1.0, 0.0, 0.0);
    if (size.y < size.x && size.y <= size.z) { axis = vec3f(0.0, 1.0, 0.0); }
    if (size.z < size.x && size.z < size.y) { axis = vec3f(0.0, 0.0, 1.0); }
    let beside = unit(cross(longest, axis));
    return select(vec3f(0.0, 1.0, 0.0), beside, square(beside) > 0.0);
}

fn proximity(is_edges: bool, a: vec3f, b: vec3f, c: vec3f, d: vec3f) -> Proximity {
    // Squares of squares of lengths must neither vanish nor overflow.
    let largest = max(max(abs(a), abs(b)), max(abs(c), abs(d)));
    let size = max(max(largest.x, largest.y), largest.z);
    if (!is_finite(size) || size <= 0.0) {
        let weights = select(vec4f(1.0, -1.0, 0.0, 0.0), vec4f(1.0, 0.0, -1.0, 0.0), is_edges);
        return Proximity(select(BROKEN, 0.0, size <= 0.0), vec3f(0.0, 1.0, 0.0), weights);
    }
    let scale = 1.0 / size;
    let p = a * scale;
    let q = b * scale;
    let r = c * scale;
    let s = d * scale;
    var closest: Closest;
    var u: vec3f;
    var v: vec3f;
    var w = vec3f(0.0);
    if (is_edges) {
        closest = closest_edge_edge(p, q, r, s);
        u = q - p;
        v = s - r;
    } else {
        closest = closest_vertex_triangle(p, q, r, s);
        u = r - q;
        v = s - q;
        w = s - r;
    }
    let distance = length(closest.difference);
    // What is shorter is rounding and has no direction.
    let has_direction = distance > LEAST_DISTANCE;
    let normal = select(direction_across(u, v, w), closest.difference / distance, has_direction);
    return Proximity(select(0.0, distance * size, has_direction), normal, closest.weights);
}
