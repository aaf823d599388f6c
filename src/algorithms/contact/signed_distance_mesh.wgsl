// How far a point is from a triangle mesh, and which way is out, in the mesh's own coordinates, which begin in its middle.
//
// Stands before finding.wgsl. Normals of edges and corners are made from the triangles around them where they are asked for: few points are near
// enough. Boxes are larger than what is in them by more than rounding, and those of a mesh whose vertices move hold all of a frame.
//
// Twin: `SurfaceShape::nearest` (signed_distance.rs), closest.rs, bvh.rs, moving_collider.rs      Test: tests/gpu/mesh_finding.rs

struct Mesh {
    // Where in `lists` they begin: the triangles in the order of leaves; for each edge, and for each vertex, where the triangles around it begin,
    // with the end of the last one's; for each vertex whether it is at a rim.
    order: u32,
    edges: u32,
    corners: u32,
    rims: u32,
    // Whether its inside goes to any depth.
    is_solid: u32,
    // How far behind its faces an open mesh has an inside.
    behind: f32,
    // More than rounding takes from places on it.
    rounding: f32,
    unused: u32,
}

struct Node {
    low: vec3f,
    // Inner node: number of the second child, the first one follows directly. Leaf: its first entry in the order.
    link: u32,
    high: vec3f,
    // Triangles of a leaf; 0 for an inner node.
    count: u32,
}

struct Vertex {
    // At the start of the step.
    place: vec3f,
    unused_1: f32,
    // To where it is at the end, if it moves by itself.
    way: vec3f,
    unused_2: f32,
}

struct Blend {
    // In which piece of the frame the step begins, and how far inside it.
    piece: u32,
    inside: f32,
    vertices: u32,
    unused: u32,
    // How much of each piece passes in the step.
    passed: vec4f,
}

@group(0) @binding(14) var<uniform> mesh: Mesh;
@group(0) @binding(15) var<storage, read> nodes: array<Node>;
// Of each triangle its corners and the edges opposite to them; then as `mesh` says.
@group(0) @binding(16) var<storage, read> lists: array<u32>;
@group(0) @binding(17) var<storage, read> vertices: array<Vertex>;
// Where all vertices are at the ends of the pieces.
@group(0) @binding(18) var<storage, read> keys: array<vec4f>;
@group(0) @binding(19) var<uniform> blend: Blend;
@group(0) @binding(20) var<storage, read_write> placed_vertices: array<Vertex>;

@compute @workgroup_size(WORKGROUP)
fn place_vertices(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let i = item(id);
    let before = keys[blend.piece * blend.vertices + i].xyz;
    let after = keys[(blend.piece + 1u) * blend.vertices + i].xyz;
    // Small as it is, the way must not be the difference of two places.
    var way = vec3f(0.0);
    for (var piece = 0u; piece < 4u; piece++) {
        let ends = array(keys[piece * blend.vertices + i].xyz, keys[(piece + 1u) * blend.vertices + i].xyz);
        way += (ends[1] - ends[0]) * blend.passed[piece];
    }
    placed_vertices[i] = Vertex(before + (after - before) * blend.inside, 0.0, way, 0.0);
}

// Squared sine of the angle below which two edges have no plane in common: vertices are rounded.
const FLAT: f32 = 1e-10;
// Farther than anything.
const FAR: f32 = 1e18;

// Corners are 0 to 2, the edges opposite to them 3 to 5.
const EDGES: u32 = 3u;
const FACE: u32 = 6u;

struct OnTriangle {
    // From the point to the nearest place.
    arm: vec3f,
    feature: u32,
    at_b: f32,
    at_c: f32,
}

fn is_flat(ab: vec3f, ac: vec3f, normal: vec3f) -> bool {
    return dot(normal, normal) <= FLAT * dot(ab, ab) * dot(ac, ac);
}

// Part of the way along an edge.
fn part_of(since: f32, until: f32) -> f32 {
    let all = since + until;
    return select(0.0, clamp(since / all, 0.0, 1.0), all > 0.0);
}

// The corners are seen from the point.
fn closest_on_triangle(a: vec3f, b: vec3f, c: vec3f) -> OnTriangle {
    let ab = b - a;
    let ac = c - a;
    let bc = c - b;
    let d1 = -dot(ab, a);
    let d2 = -dot(ac, a);
    if (d1 <= 0.0 && d2 <= 0.0) { return OnTriangle(a, 0u, 0.0, 0.0); }
    let d3 = -dot(ab, b);
    let d4 = -dot(ac, b);
    if (d3 >= 0.0 && d4 <= d3) { return OnTriangle(b, 1u, 1.0, 0.0); }
    // What is flat has edges and no inside.
    let normal = cross(ab, ac);
    let square = select(dot(normal, normal), 0.0, is_flat(ab, ac, normal));
    let up = select(normal, vec3f(0.0), square == 0.0);
    let vc = dot(up, cross(a, ab));
    if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0) {
        let t = part_of(d1, -d3);
        return OnTriangle(a + ab * t, EDGES + 2u, t, 0.0);
    }
    let d5 = -dot(ab, c);
    let d6 = -dot(ac, c);
    if (d6 >= 0.0 && d5 <= d6) { return OnTriangle(c, 2u, 0.0, 1.0); }
    let vb = dot(up, cross(ac, a));
    if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0) {
        let t = part_of(d2, -d6);
        return OnTriangle(a + ac * t, EDGES + 1u, 0.0, t);
    }
    let va = dot(up, cross(b, bc));
    if (va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0) {
        let t = part_of(d4 - d3, d5 - d6);
        return OnTriangle(b + bc * t, EDGES, 1.0 - t, t);
    }
    // It stays on the triangle whatever was rounded.
    let at_b = select(0.0, clamp(vb / square, 0.0, 1.0), square > 0.0);
    let at_c = select(0.0, clamp(vc / square, 0.0, 1.0 - at_b), square > 0.0);
    return OnTriangle(a + ab * at_b + ac * at_c, FACE, at_b, at_c);
}

fn corner(triangle: u32, k: u32) -> u32 {
    return lists[6u * triangle + k];
}

fn place_of(triangle: u32, k: u32) -> vec3f {
    return vertices[corner(triangle, k)].place;
}

// Not of unit length where the triangle is flat: then it says nothing, or what the processor says of a triangle that is a point.
fn face_normal(triangle: u32) -> vec3f {
    let a = place_of(triangle, 0u);
    let ab = place_of(triangle, 1u) - a;
    let ac = place_of(triangle, 2u) - a;
    let normal = cross(ab, ac);
    let size = length(normal);
    if (size <= LEAST_LENGTH) { return vec3f(0.0, 1.0, 0.0); }
    return select(normal / size, vec3f(0.0), is_flat(ab, ac, normal));
}

// The angle of a triangle at one of its vertices.
fn angle_at(triangle: u32, vertex: u32) -> f32 {
    var k = 0u;
    if (corner(triangle, 1u) == vertex) { k = 1u; }
    if (corner(triangle, 2u) == vertex) { k = 2u; }
    let p = place_of(triangle, k);
    let one = place_of(triangle, (k + 1u) % 3u) - p;
    let other = place_of(triangle, (k + 2u) % 3u) - p;
    let along = dot(one, other);
    let across = length(cross(one, other));
    return select(0.0, atan2(across, along), across > 0.0 || along != 0.0);
}

// Where the nearest place is on an edge or corner, which triangles meet there.
fn meeting(triangle: u32, feature: u32) -> vec2u {
    var at = mesh.corners + corner(triangle, feature % 3u);
    if (feature >= EDGES) { at = mesh.edges + lists[6u * triangle + feature]; }
    return vec2u(lists[at], lists[at + 1u]);
}

fn feature_normal(triangle: u32, feature: u32) -> vec3f {
    if (feature == FACE) { return face_normal(triangle); }
    let around = meeting(triangle, feature);
    var sum = vec3f(0.0);
    for (var n = around.x; n < around.y; n++) {
        let t = lists[n];
        var weight = 1.0;
        if (feature < EDGES) { weight = angle_at(t, corner(triangle, feature)); }
        sum += face_normal(t) * weight;
    }
    return sum;
}

fn is_at_rim(triangle: u32, feature: u32) -> bool {
    if (feature == FACE) { return false; }
    if (feature < EDGES) { return lists[mesh.rims + corner(triangle, feature)] != 0u; }
    let around = meeting(triangle, feature);
    return around.y - around.x == 1u;
}

// Squared distance from a box, 0 inside.
fn box_distance(node: u32, p: vec3f) -> f32 {
    let outside = max(max(nodes[node].low - p, p - nodes[node].high), vec3f(0.0));
    return dot(outside, outside);
}

// A point's nearest place on a mesh.
struct OnMesh {
    // Out of the body, unit length.
    normal: vec3f,
    // Negative inside.
    distance: f32,
    // Which triangle, or `NONE`, and where in it.
    part: u32,
    at_b: f32,
    at_c: f32,
}

struct Best {
    // Squared distance from which on nothing is of interest.
    within: f32,
    part: u32,
    on: OnTriangle,
}

fn visit(best: Best, triangle: u32, p: vec3f) -> Best {
    let on = closest_on_triangle(place_of(triangle, 0u) - p, place_of(triangle, 1u) - p, place_of(triangle, 2u) - p);
    let square = dot(on.arm, on.arm);
    if (square < best.within || square == best.within && triangle < best.part) { return Best(square, triangle, on); }
    return best;
}

// The nearest place within `reach`, or inside. `guess` is a triangle that may well be the nearest, or `NONE`.
fn nearest_on_mesh(p: vec3f, reach: f32, guess: u32) -> OnMesh {
    let nothing = OnMesh(vec3f(0.0), reach, NONE, 0.0, 0.0);
    let search = select(max(reach, mesh.behind), FAR, mesh.is_solid != 0u && box_distance(0u, p) == 0.0);
    var best = Best(search * search, NONE, OnTriangle(vec3f(0.0), FACE, 0.0, 0.0));
    if (guess != NONE) { best = visit(best, guess, p); }
    var stack: array<u32, u32(MOST_DEPTH)>;
    var depth = 1u;
    var entry = 0u;
    var end = 0u;
    // One loop for nodes and triangles, with an end: devices may end loops that take more turns without a word. Only what is about equally far from
    // tens of thousands of triangles has not seen all that it should by then.
    for (var turn = 0u; turn < u32(MOST_TURNS); turn++) {
        if (entry < end) {
            best = visit(best, lists[mesh.order + entry], p);
            entry++;
            continue;
        }
        if (depth == 0u) { break; }
        depth--;
        let at = stack[depth];
        if (box_distance(at, p) > best.within) { continue; }
        let link = nodes[at].link;
        let count = nodes[at].count;
        if (count > 0u) {
            entry = link;
            end = link + count;
            continue;
        }
        let first_is_near = box_distance(at + 1u, p) <= box_distance(link, p);
        stack[depth] = select(at + 1u, link, first_is_near);
        stack[depth + 1u] = select(link, at + 1u, first_is_near);
        depth += 2u;
    }
    if (best.part == NONE) { return nothing; }
    let on = best.on;
    let size = sqrt(best.within);
    let up = feature_normal(best.part, on.feature);
    let may_be_inside = mesh.is_solid != 0u || size <= mesh.behind && !is_at_rim(best.part, on.feature);
    let is_inside = may_be_inside && dot(on.arm, up) > 0.0;
    let distance = select(size, -size, is_inside);
    if (distance > reach) { return nothing; }
    let outwards = select(-on.arm, on.arm, is_inside);
    var normal = direction(up, face_normal(best.part));
    if (on.feature == FACE) {
        // The normal of a triangle that is high enough is known better than the way to it.
        normal = select(normal, -normal, size > mesh.rounding && dot(outwards, normal) < 0.0);
        if (size > mesh.rounding && is_low(best.part, size)) { normal = direction(outwards, normal); }
    } else if (size > mesh.rounding) {
        normal = outwards / size;
    }
    return OnMesh(normal, distance, best.part, on.at_b, on.at_c);
}

// Whether a triangle is lower than this.
fn is_low(triangle: u32, height: f32) -> bool {
    let a = place_of(triangle, 0u);
    let ab = place_of(triangle, 1u) - a;
    let ac = place_of(triangle, 2u) - a;
    let bc = ac - ab;
    let normal = cross(ab, ac);
    let longest = max(max(dot(ab, ab), dot(ac, ac)), dot(bc, bc));
    return dot(normal, normal) < height * height * longest;
}

// What a plane moves with: its coordinates at the start of the step, and what the step adds to their axes and to where they begin.
struct Anchor {
    axes: mat3x3f,
    change: mat3x3f,
    origin: vec3f,
    shift: vec3f,
}

// Along the first edge and the normal.
fn frame(ab: vec3f, normal: vec3f) -> mat3x3f {
    let along = normalize(ab);
    let up = normalize(normal);
    return mat3x3f(along, up, cross(along, up));
}

// A place of a triangle whose corners move.
fn anchor_on(triangle: u32, at_b: f32, at_c: f32) -> Anchor {
    let a = vertices[corner(triangle, 0u)];
    let b = vertices[corner(triangle, 1u)];
    let c = vertices[corner(triangle, 2u)];
    let ab = b.place - a.place;
    let ac = c.place - a.place;
    let turn_ab = b.way - a.way;
    let turn_ac = c.way - a.way;
    let end_ab = ab + turn_ab;
    let end_ac = ac + turn_ac;
    let origin = a.place + ab * at_b + ac * at_c;
    let shift = a.way + turn_ab * at_b + turn_ac * at_c;
    let normal = cross(ab, ac);
    let end_normal = cross(end_ab, end_ac);
    // A triangle without a direction does not turn.
    var anchor = Anchor(mat3x3f(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), mat3x3f(), origin, shift);
    if (!is_flat(ab, ac, normal) && !is_flat(end_ab, end_ac, end_normal)) {
        anchor.axes = frame(ab, normal);
        anchor.change = frame(end_ab, end_normal) - anchor.axes;
    }
    return anchor;
}
