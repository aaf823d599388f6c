// Parts of a body that keep their volumes, for all parts of an independent group.
//
// Twin: tet_volume.rs      Test: tests/gpu/tets.rs
//
// Each invocation takes one part. Lengths are in cells and places relative to the part's first particle, so that neither digits nor range are
// lost; ways are summed up apart from the places and added to the look-ahead once.
//
// Deviates: the turn that fits best is the eigenvector of a 4 x 4 matrix (Horn 1987), which is a turn also where the twin's singular
// values need their signs put right.

struct Elastic {
    h: f32,
    damping: f32,
    growth: f32,
    yields_at: f32,
    stays: f32,
    size: f32,
    inverse_size: f32,
    unused: f32,
}

struct Part {
    first_node: u32,
    node_count: u32,
    first_tet: u32,
    tet_count: u32,
    volume: f32,
}

struct Tet {
    // Four bytes: places in the list of the part's particles.
    corners: u32,
    rest: f32,
}

// How this begins.
struct Control {
    done: u32,
    sweeps: u32,
}

@group(0) @binding(1) var<uniform> elastic: Elastic;
@group(0) @binding(2) var<storage, read> x: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> d: array<vec4f>;
@group(0) @binding(4) var<storage, read> parts: array<Part>;
@group(0) @binding(5) var<storage, read> nodes: array<u32>;
@group(0) @binding(6) var<storage, read> tets: array<Tet>;
// Where a part's particles are at rest.
@group(0) @binding(7) var<storage, read> shape: array<vec4f>;
@group(0) @binding(8) var<storage, read_write> errors: array<f32>;
@group(0) @binding(9) var<storage, read> control: Control;

const MOST: u32 = u32(MOST_NODES);

// Places and inverse masses of the part's particles.
var<private> places: array<vec4f, MOST>;
// First the gradients of the volume, then the ways so far.
var<private> ways: array<vec3f, MOST>;

struct Gradients {
    a: vec3f,
    b: vec3f,
    c: vec3f,
    d: vec3f,
    // The volume, six times as everything here.
    six: f32,
}

fn unpack(corners: u32) -> vec4u {
    return vec4u(corners & 0xffu, (corners >> 8u) & 0xffu, (corners >> 16u) & 0xffu, corners >> 24u);
}

fn gradients(at: vec4u) -> Gradients {
    let a = places[at.x].xyz;
    let ab = places[at.y].xyz - a;
    let ac = places[at.z].xyz - a;
    let ad = places[at.w].xyz - a;
    let of_b = cross(ac, ad);
    let of_c = cross(ad, ab);
    let of_d = cross(ab, ac);
    return Gradients(-(of_b + of_c + of_d), of_b, of_c, of_d, dot(ab, of_b));
}

// So small that the particle that it moves farthest keeps to its largest way.
fn limited(multiplier: f32, longest: f32) -> f32 {
    let way = abs(multiplier) * longest;
    return select(multiplier, sign(multiplier) * (LARGEST_WAY / longest), way > LARGEST_WAY);
}

fn shift(n: u32, by: vec3f) {
    places[n] += vec4f(by, 0.0);
    ways[n] += by;
}

fn open(at: vec4u, least: f32) {
    let g = gradients(at);
    let missing = 6.0 * least - g.six;
    let k = vec4f(places[at.x].w, places[at.y].w, places[at.z].w, places[at.w].w);
    let squares = vec4f(dot(g.a, g.a), dot(g.b, g.b), dot(g.c, g.c), dot(g.d, g.d));
    let slope = dot(squares, k);
    if (missing <= 0.0 || slope <= 0.0 || !is_finite(slope)) { return; }
    let moved = squares * k * k;
    let multiplier = limited(missing / slope, sqrt(max(max(moved.x, moved.y), max(moved.z, moved.w))));
    shift(at.x, g.a * (multiplier * k.x));
    shift(at.y, g.b * (multiplier * k.y));
    shift(at.z, g.c * (multiplier * k.z));
    shift(at.w, g.d * (multiplier * k.w));
}

// The unit quaternion (real part last) of the turn by which the sums of products of places at rest with places, by the axes of the former,
// become largest.
fn best_turn(sx: vec3f, sy: vec3f, sz: vec3f) -> vec4f {
    var m = array<array<f32, 4>, 4>(
        array<f32, 4>(sx.x + sy.y + sz.z, sy.z - sz.y, sz.x - sx.z, sx.y - sy.x),
        array<f32, 4>(sy.z - sz.y, sx.x - sy.y - sz.z, sx.y + sy.x, sz.x + sx.z),
        array<f32, 4>(sz.x - sx.z, sx.y + sy.x, sy.y - sx.x - sz.z, sy.z + sz.y),
        array<f32, 4>(sx.y - sy.x, sz.x + sx.z, sy.z + sz.y, sz.z - sx.x - sy.y));
    var e = array<array<f32, 4>, 4>(
        array<f32, 4>(1.0, 0.0, 0.0, 0.0), array<f32, 4>(0.0, 1.0, 0.0, 0.0),
        array<f32, 4>(0.0, 0.0, 1.0, 0.0), array<f32, 4>(0.0, 0.0, 0.0, 1.0));
    // Of turns that are equal but for rounding the one that turns least.
    m[0][0] += 2e-6;
    // Jacobi's turns: quadratic, so that a few rounds are enough.
    for (var round = 0; round < 8; round++) {
        for (var p = 0u; p < 3u; p++) {
            for (var q = p + 1u; q < 4u; q++) {
                let beside = m[p][q];
                if (abs(beside) < 1e-12) { continue; }
                let theta = (m[q][q] - m[p][p]) / (2.0 * beside);
                let t = select(-1.0, 1.0, theta >= 0.0) / (abs(theta) + sqrt(theta * theta + 1.0));
                let c = 1.0 / sqrt(t * t + 1.0);
                let s = t * c;
                for (var n = 0u; n < 4u; n++) {
                    let to_p = m[n][p];
                    let to_q = m[n][q];
                    m[n][p] = c * to_p - s * to_q;
                    m[n][q] = s * to_p + c * to_q;
                    let e_p = e[n][p];
                    let e_q = e[n][q];
                    e[n][p] = c * e_p - s * e_q;
                    e[n][q] = s * e_p + c * e_q;
                }
                for (var n = 0u; n < 4u; n++) {
                    let to_p = m[p][n];
                    let to_q = m[q][n];
                    m[p][n] = c * to_p - s * to_q;
                    m[q][n] = s * to_p + c * to_q;
                }
            }
        }
    }
    var best = 0u;
    for (var n = 1u; n < 4u; n++) { if (m[n][n] > m[best][best]) { best = n; } }
    let turn = vec4f(e[1][best], e[2][best], e[3][best], e[0][best]);
    return turn / length(turn);
}

fn turned(turn: vec4f, by: vec3f) -> vec3f {
    return by + 2.0 * cross(turn.xyz, cross(turn.xyz, by) + turn.w * by);
}

fn turn_back(first: u32, count: u32) {
    var lightest = 0.0;
    for (var n = 0u; n < count; n++) { lightest = max(lightest, places[n].w); }
    if (lightest <= 0.0) { return; }
    var sum = 0.0;
    var rest_centre = vec3f(0.0);
    var centre = vec3f(0.0);
    for (var n = 0u; n < count; n++) {
        // What is led weighs as much as what is lightest.
        let k = places[n].w;
        let weight = select(1.0, lightest / k, k > 0.0);
        sum += weight;
        rest_centre += shape[first + n].xyz * weight;
        centre += places[n].xyz * weight;
    }
    rest_centre /= sum;
    centre /= sum;
    var sx = vec3f(0.0);
    var sy = vec3f(0.0);
    var sz = vec3f(0.0);
    for (var n = 0u; n < count; n++) {
        let k = places[n].w;
        let rest = shape[first + n].xyz - rest_centre;
        let now = (places[n].xyz - centre) * select(1.0, lightest / k, k > 0.0);
        sx += now * rest.x;
        sy += now * rest.y;
        sz += now * rest.z;
    }
    let scale = max(length(sx), max(length(sy), length(sz)));
    if (!is_finite(scale)) { return; }
    // What is in one point is turned in no direction.
    var turn = vec4f(0.0, 0.0, 0.0, 1.0);
    if (scale > 0.0) { turn = best_turn(sx / scale, sy / scale, sz / scale); }
    if (!is_finite3(turn.xyz) || !is_finite(turn.w)) { return; }
    var longest = 0.0;
    for (var n = 0u; n < count; n++) {
        let way = turned(turn, shape[first + n].xyz - rest_centre) + centre - places[n].xyz;
        longest = max(longest, length(way));
    }
    let part = select(1.0, LARGEST_WAY / longest, longest > LARGEST_WAY);
    for (var n = 0u; n < count; n++) {
        let way = turned(turn, shape[first + n].xyz - rest_centre) + centre - places[n].xyz;
        if (places[n].w > 0.0) { shift(n, way * part); }
    }
}

@compute @workgroup_size(WORKGROUP)
fn keep_volumes(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id) || control.done != 0u) { return; }
    let part = parts[item(id)];
    let count = part.node_count;
    let last_tet = part.first_tet + part.tet_count;
    let near = nodes[part.first_node];
    for (var n = 0u; n < count; n++) {
        let i = nodes[part.first_node + n];
        let between = (x[i].xyz - x[near].xyz) + (d[i].xyz - d[near].xyz);
        places[n] = vec4f(between * elastic.inverse_size, x[i].w);
        ways[n] = vec3f(0.0);
    }
    let least_part = LEAST_PART * elastic.growth;
    var six = 0.0;
    var is_flat = false;
    for (var t = part.first_tet; t < last_tet; t++) {
        let at = unpack(tets[t].corners);
        let g = gradients(at);
        six += g.six;
        is_flat = is_flat || g.six < 6.0 * least_part * tets[t].rest;
        ways[at.x] += g.a;
        ways[at.y] += g.b;
        ways[at.z] += g.c;
        ways[at.w] += g.d;
    }
    let wanted = part.volume * elastic.growth;
    let missing = wanted - six / 6.0;
    let error = abs(missing) / wanted;
    errors[item(id)] = select(BROKEN, error, is_finite(error));
    if (!is_finite(error)) { return; }
    var slope = 0.0;
    var longest = 0.0;
    for (var n = 0u; n < count; n++) {
        let k = places[n].w;
        let square = dot(ways[n], ways[n]) * k;
        slope += square;
        longest = max(longest, square * k);
    }
    var multiplier = 0.0;
    // All gradients are six times too long, hence one six here and one in their squares.
    if (slope > 0.0 && is_finite(slope)) { multiplier = limited(missing * 6.0 / slope, sqrt(longest)); }
    for (var n = 0u; n < count; n++) {
        let way = ways[n] * (multiplier * places[n].w);
        ways[n] = vec3f(0.0);
        shift(n, way);
    }
    if (is_flat) {
        for (var t = part.first_tet; t < last_tet; t++) { open(unpack(tets[t].corners), least_part * tets[t].rest); }
    }
    if (error > 1.0 - LEAST_PART) {
        var left = 0.0;
        for (var t = part.first_tet; t < last_tet; t++) { left += gradients(unpack(tets[t].corners)).six; }
        if (left < 6.0 * LEAST_PART * wanted) { turn_back(part.first_node, count); }
    }
    for (var n = 0u; n < count; n++) {
        if (places[n].w > 0.0) {
            let i = nodes[part.first_node + n];
            d[i] = vec4f(d[i].xyz + ways[n] * elastic.size, 0.0);
        }
    }
}
