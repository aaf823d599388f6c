// How far a point is from a primitive, and which way is out, in the primitive's own coordinates: it is in its middle, a capsule and a cylinder
// lie along `extent`, a box is that large, a plane looks there.
//
// Twin: signed_distance.rs      Test: tests/gpu/finding.rs

const PLANE: u32 = 0u;
const SPHERE: u32 = 1u;
const BOX: u32 = 2u;
const CAPSULE: u32 = 3u;
const CYLINDER: u32 = 4u;

// The normal, and in w the distance.
alias Nearest = vec4f;

fn direction(v: vec3f, fallback: vec3f) -> vec3f {
    let size = length(v);
    return select(fallback, v / size, size > LEAST_LENGTH);
}

// Some direction across an axis.
fn across(axis: vec3f) -> vec3f {
    let along = direction(axis, vec3f(0.0, 1.0, 0.0));
    return direction(cross(along, vec3f(1.0, 0.0, 0.0)), vec3f(0.0, 0.0, 1.0));
}

fn nearest_of_capsule(p: vec3f, extent: vec3f, radius: f32) -> Nearest {
    let square = dot(extent, extent);
    let t = select(0.0, clamp(dot(p, extent) / square, -0.5, 0.5), square > 0.0);
    let arm = p - extent * t;
    return vec4f(direction(arm, across(extent)), length(arm) - radius);
}

fn nearest_of_box(p: vec3f, size: vec3f) -> Nearest {
    let excess = abs(p) - size * 0.5;
    let side = select(vec3f(1.0), vec3f(-1.0), p < vec3f(0.0));
    let outside = max(excess, vec3f(0.0));
    let farthest = max(max(outside.x, outside.y), outside.z);
    if (farthest > 0.0) {
        // Scaled first: a point a hair outside has the normal of its side too.
        return vec4f(normalize(outside * side / farthest), length(outside / farthest) * farthest);
    }
    if (excess.x >= excess.y && excess.x >= excess.z) { return vec4f(side.x, 0.0, 0.0, excess.x); }
    if (excess.y >= excess.z) { return vec4f(0.0, side.y, 0.0, excess.y); }
    return vec4f(0.0, 0.0, side.z, excess.z);
}

fn nearest_of_cylinder(p: vec3f, extent: vec3f, radius: f32) -> Nearest {
    let axis = direction(extent, vec3f(0.0, 1.0, 0.0));
    let along = dot(p, axis);
    let arm = p - axis * along;
    let radial = direction(arm, across(axis));
    let end = select(axis, -axis, along < 0.0);
    let beyond_end = abs(along) - 0.5 * length(extent);
    let beyond_side = length(arm) - radius;
    if (beyond_end > 0.0 && beyond_side > 0.0) {
        let distance = length(vec2f(beyond_end, beyond_side));
        return vec4f((end * beyond_end + radial * beyond_side) / distance, distance);
    }
    if (beyond_end > beyond_side) { return vec4f(end, beyond_end); }
    return vec4f(radial, beyond_side);
}

fn nearest_of(kind: u32, p: vec3f, extent: vec3f, radius: f32) -> Nearest {
    switch kind {
        case PLANE: { return vec4f(extent, dot(p, extent)); }
        case SPHERE: { return vec4f(direction(p, vec3f(0.0, 1.0, 0.0)), length(p) - radius); }
        case BOX: { return nearest_of_box(p, extent); }
        case CAPSULE: { return nearest_of_capsule(p, extent, radius); }
        default: { return nearest_of_cylinder(p, extent, radius); }
    }
}
