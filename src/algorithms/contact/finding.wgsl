// Which points of a body are near which colliders at the start of a step, and the planes that they have there.
//
// Stands behind signed_distance.wgsl and signed_distance_mesh.wgsl. Each point and each collider have a contact of their own, which is asleep where
// they are far apart: so the order in which contacts follow each other is known beforehand. A plane is kept until the point has moved over it by
// more than the margin.
//
// Twin: `Contacts::find` (solver/cpu/contacts.rs), restitution.rs      Test: tests/gpu/finding.rs, mesh_finding.rs

// Kinds besides primitives: a mesh that keeps its shape, and one whose vertices move.
const MESH: u32 = 5u;
const ANIMATED: u32 = 6u;

// A collider; meshes have more in signed_distance_mesh.wgsl. The axes of one whose vertices move are those of the world.
struct Primitive {
    // Where its middle is at the start of the step, as two numbers.
    place: vec3f,
    kind: u32,
    place_low: vec3f,
    radius: f32,
    // Its axes then.
    axis_x: vec3f,
    sliding: f32,
    axis_y: vec3f,
    sticking: f32,
    axis_z: vec3f,
    thickness: f32,
    // What the step adds to a vector that turns with it, by columns, and to a point.
    turn_x: vec3f,
    restitution: f32,
    turn_y: vec3f,
    // Whether the body touches it at all.
    is_met: u32,
    turn_z: vec3f,
    // How far its surface moves in the step near the body, at most, and has moved in the frame before.
    way: f32,
    shift: vec3f,
    travelled: f32,
    extent: vec3f,
    unused_1: f32,
    // How far its middle has come in the frame.
    since: vec3f,
    unused_2: f32,
}

struct Finding {
    h: f32,
    // Size of gravity [m/s²].
    gravity: f32,
    // Way by which what is deep inside comes out [m].
    push: f32,
    // How far a point may move over a plane.
    margin: f32,
    // How many colliders there are.
    primitives: u32,
    // Whether a frame begins, which must not depend on what was before.
    is_first: u32,
    // How far above what is watched the surface of a mesh is looked for.
    search: f32,
    // In how many numbers of `passing` the colliders of a point are.
    words: u32,
}

// A point at the start of a step.
struct Placed {
    // Where one of its particles is, and from there to the point: large and small digits apart.
    base: vec3f,
    row_start: u32,
    offset: vec3f,
    row_end: u32,
    velocity: vec3f,
    unused_1: f32,
    // What places on the device lack, which ways begin with.
    lacking: vec3f,
    unused_2: f32,
}

// As in resting.wgsl.
struct Contact {
    normal: vec3f,
    above: f32,
    slipped: vec3f,
    sliding: f32,
    surface_velocity: vec3f,
    sticking: f32,
    bounce: f32,
    row_start: u32,
    row_end: u32,
    // How far the point is above the thick surface at the start.
    gap: f32,
}

// What was seen when a contact was last looked at.
struct Seen {
    // Awake: the point in the coordinates of what the plane moves with. Asleep: from where the collider's middle was when the frame began.
    point: vec3f,
    // Awake: how far above the thick surface that is. Asleep: above the surface.
    gap: f32,
    // Awake: in the same coordinates. Asleep: in x, how far the collider had travelled.
    normal: vec3f,
    is_awake: u32,
    // Of a mesh, which triangle was the nearest, or `NONE`, and where in it.
    part: u32,
    at_b: f32,
    at_c: f32,
    unused: u32,
}

struct Part {
    particle: u32,
    weight: f32,
    share: f32,
}

@group(0) @binding(1) var<uniform> finding: Finding;
@group(0) @binding(2) var<storage, read> primitives: array<Primitive>;
@group(0) @binding(3) var<storage, read> x: array<vec4f>;
@group(0) @binding(4) var<storage, read> low: array<vec4f>;
@group(0) @binding(5) var<storage, read> v: array<vec4f>;
@group(0) @binding(6) var<storage, read> parts: array<Part>;
// Of each point where its particles begin and end, and its contact with each collider.
@group(0) @binding(7) var<storage, read> points: array<u32>;
@group(0) @binding(8) var<storage, read_write> contacts: array<Contact>;
// The largest speed of a particle, in x.
@group(0) @binding(9) var<uniform> fastest: vec4f;
@group(0) @binding(10) var<storage, read_write> speeds: array<vec4f>;
// As many as contacts.
@group(0) @binding(11) var<storage, read_write> seen: array<Seen>;
@group(0) @binding(12) var<storage, read_write> placed: array<Placed>;
// Of each point one bit for each collider that lets it pass.
@group(0) @binding(13) var<storage, read_write> passing: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn measure_speeds(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let i = item(id);
    speeds[i - span.start] = vec4f(length(v[i].xyz), 0.0, 0.0, 0.0);
}

// What a fall through the thickness could have made is a contact that lasts.
fn outgoing_speed(speed: f32, restitution: f32, thickness: f32) -> f32 {
    let resting = sqrt(2.0 * finding.gravity * max(thickness, LEAST_THICKNESS));
    return select(0.0, -restitution * speed, speed < -resting);
}

// A contact that does nothing.
fn asleep() -> Contact {
    return Contact(vec3f(0.0), 0.0, vec3f(0.0), 0.0, vec3f(0.0), 0.0, 0.0, 0u, 0u, 0.0);
}

@compute @workgroup_size(WORKGROUP)
fn place_points(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let first = item(id) * (2u + finding.primitives);
    let row_start = points[first];
    let row_end = points[first + 1u];
    let of_base = parts[row_start].particle;
    var point = Placed(x[of_base].xyz, row_start, low[of_base].xyz, row_end, vec3f(0.0), 0.0, vec3f(0.0), 0.0);
    for (var n = row_start; n < row_end; n++) {
        let i = parts[n].particle;
        let weight = parts[n].weight;
        // Weights add up to one.
        point.offset += ((x[i].xyz - x[of_base].xyz) + (low[i].xyz - low[of_base].xyz)) * weight;
        point.velocity += v[i].xyz * weight;
        point.lacking += low[i].xyz * weight;
    }
    placed[item(id)] = point;
}

// From a collider's middle to a point.
fn arm_to(point: Placed, p: Primitive) -> vec3f {
    return (point.base - p.place) + (point.offset - p.place_low);
}

// How far a point and the colliders' surfaces may come towards each other in the step.
fn reach_of(p: Primitive) -> f32 {
    return finding.h * (fastest.x + finding.h * finding.gravity) + p.way;
}

// Whether a pair that was seen far apart cannot have come near since.
fn sleeps_on(last: Seen, place: vec3f, p: Primitive) -> bool {
    let left = last.gap - length(place - last.point) - (p.travelled - last.normal.x);
    return finding.is_first == 0u && last.is_awake == 0u && reach_of(p) <= left - ACTIVATION * p.thickness;
}

// Whether what was seen so far away touches in the step.
fn is_near(distance: f32, p: Primitive) -> bool {
    return distance < ACTIVATION * p.thickness + finding.margin + reach_of(p);
}

// Whether a plane still stands for the surface where the point is now, in the plane's coordinates.
fn is_kept(plane: Seen, at: vec3f) -> bool {
    let over = at - plane.point;
    return finding.is_first == 0u && plane.is_awake != 0u && dot(over, over) < finding.margin * finding.margin;
}

// The contact of a point with a plane that is that at the end of the step; the surface carries the point so far.
fn touch(slot: u32, point: Placed, p: Primitive, gap: f32, normal: vec3f, carried: vec3f) {
    let surface_velocity = carried / finding.h;
    // From where the point would be without any way to where the surface carries it.
    let behind = point.lacking + carried;
    contacts[slot] = Contact(
        normal, gap - dot(behind, normal) - min(gap + finding.push, 0.0),
        -behind, p.sliding,
        surface_velocity, p.sticking,
        outgoing_speed(dot(point.velocity - surface_velocity, normal), p.restitution, p.thickness),
        point.row_start, point.row_end, gap);
}

@compute @workgroup_size(WORKGROUP)
fn find_contacts(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let first = item(id) * (2u + finding.primitives);
    let point = placed[item(id)];
    for (var c = 0u; c < finding.primitives; c++) {
        let slot = points[first + 2u + c];
        let p = primitives[c];
        if (p.kind >= MESH) { continue; }
        contacts[slot] = asleep();
        if (p.is_met == 0u) { continue; }
        let arm = arm_to(point, p);
        let at = vec3f(dot(p.axis_x, arm), dot(p.axis_y, arm), dot(p.axis_z, arm));
        let turn = mat3x3f(p.turn_x, p.turn_y, p.turn_z);
        var plane = seen[slot];
        if (!is_kept(plane, at)) {
            let place = arm + p.since;
            if (sleeps_on(plane, place, p)) { continue; }
            let near = nearest_of(p.kind, at, p.extent, p.radius);
            if (!is_finite3(arm) || !is_near(near.w, p)) {
                seen[slot] = Seen(place, near.w, vec3f(p.travelled, 0.0, 0.0), 0u, NONE, 0.0, 0.0, 0u);
                continue;
            }
            plane = Seen(at, near.w - p.thickness, near.xyz, 1u, NONE, 0.0, 0.0, 0u);
            seen[slot] = plane;
        }
        let start_normal = p.axis_x * plane.normal.x + p.axis_y * plane.normal.y + p.axis_z * plane.normal.z;
        let gap = plane.gap + dot(at - plane.point, plane.normal);
        touch(slot, point, p, gap, start_normal + turn * start_normal, turn * arm + p.shift);
    }
}

// One mesh: the collider of the dispatch's number.
@compute @workgroup_size(WORKGROUP)
fn find_on_mesh(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let point = placed[item(id)];
    let slot = points[item(id) * (2u + finding.primitives) + 2u + span.number];
    let p = primitives[span.number];
    contacts[slot] = asleep();
    let arm = arm_to(point, p);
    let axes = mat3x3f(p.axis_x, p.axis_y, p.axis_z);
    var plane = seen[slot];
    var anchor = Anchor(axes, mat3x3f(p.turn_x, p.turn_y, p.turn_z) * axes, vec3f(0.0), p.shift);
    if (p.kind == ANIMATED && finding.is_first == 0u && plane.is_awake != 0u) {
        anchor = anchor_on(plane.part, plane.at_b, plane.at_c);
    }
    var at = (arm - anchor.origin) * anchor.axes;
    if (!is_kept(plane, at)) {
        let place = arm + p.since;
        if (sleeps_on(plane, place, p)) { return; }
        let reach = finding.search + ACTIVATION * p.thickness;
        var near = OnMesh(vec3f(0.0), reach, NONE, 0.0, 0.0);
        // The same at the start of a frame, whatever was before.
        let guess = select(plane.part, NONE, finding.is_first != 0u);
        if (is_finite3(arm)) { near = nearest_on_mesh(arm * axes, reach, guess); }
        if (near.part == NONE || !is_near(near.distance, p)) {
            seen[slot] = Seen(place, near.distance, vec3f(p.travelled, 0.0, 0.0), 0u, near.part, 0.0, 0.0, 0u);
            return;
        }
        var normal = near.normal;
        at = arm * axes;
        if (p.kind == ANIMATED) {
            anchor = anchor_on(near.part, near.at_b, near.at_c);
            at = (arm - anchor.origin) * anchor.axes;
            normal = normal * anchor.axes;
        }
        plane = Seen(at, near.distance - p.thickness, normal, 1u, near.part, near.at_b, near.at_c, 0u);
        seen[slot] = plane;
    }
    let gap = plane.gap + dot(at - plane.point, plane.normal);
    let normal = anchor.axes * plane.normal + anchor.change * plane.normal;
    touch(slot, point, p, gap, normal, anchor.shift + anchor.change * at);
}

fn is_awake(slot: u32) -> bool {
    return contacts[slot].row_start != contacts[slot].row_end;
}

// How far above the thick surface the point is where its particles are so far from where kernels count from.
fn above_at(slot: u32, way: vec3f) -> f32 {
    return contacts[slot].gap + dot(contacts[slot].slipped + way, contacts[slot].normal);
}

// It may be so far below the thick surface at least: `above` counts from what is allowed.
fn give_room(slot: u32, depth: f32) {
    contacts[slot].above = max(contacts[slot].above, above_at(slot, vec3f(0.0)) - depth);
}

// Where colliders from opposite sides leave a point no room, their thickness yields first; where they overlap, the later one lets it pass.
@compute @workgroup_size(WORKGROUP)
fn share_room(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let first = item(id) * (2u + finding.primitives);
    let first_word = item(id) * finding.words;
    let lacking = placed[item(id)].lacking;
    for (var n = 0u; n < finding.words; n++) { passing[first_word + n] = 0u; }
    for (var b = 1u; b < finding.primitives; b++) {
        let second = points[first + 2u + b];
        var passes = false;
        for (var a = 0u; a < b; a++) {
            let before = points[first + 2u + a];
            if (!is_awake(before) || !is_awake(second)) { continue; }
            let room = above_at(before, lacking) + above_at(second, lacking);
            if (room >= 0.0 || dot(contacts[before].normal, contacts[second].normal) > OPPOSITE) { continue; }
            let thickness = primitives[a].thickness + primitives[b].thickness;
            if (room > -thickness) {
                give_room(before, room * primitives[a].thickness / thickness);
                give_room(second, room * primitives[b].thickness / thickness);
            } else {
                passes = true;
            }
        }
        if (passes) {
            contacts[second] = asleep();
            passing[first_word + b / 32u] |= 1u << (b % 32u);
        }
    }
}
