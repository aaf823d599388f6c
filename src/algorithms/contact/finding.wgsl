// Which points of a body are near which primitives at the start of a step, and the planes that they have there.
//
// Stands behind signed_distance.wgsl. Each point and each primitive have a contact of their own, which is asleep where they are far apart: so the
// order in which contacts follow each other is known beforehand. A plane is kept until the point has moved over it by more than the margin.
//
// Twin: `Contacts::find` (solver/cpu/contacts.rs), restitution.rs      Test: tests/gpu/finding.rs

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
    primitives: u32,
    // Whether a frame begins, which must not depend on what was before.
    is_first: u32,
    unused_1: u32,
    unused_2: u32,
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
    // Awake: the point in the primitive's coordinates. Asleep: from where the primitive's middle was when the frame began.
    point: vec3f,
    // Awake: how far above the thick surface that is. Asleep: above the surface.
    gap: f32,
    // Awake: in the primitive's coordinates. Asleep: in x, how far the primitive had travelled.
    normal: vec3f,
    is_awake: u32,
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
// Of each point where its particles begin and end, and its contact with each primitive.
@group(0) @binding(7) var<storage, read> points: array<u32>;
@group(0) @binding(8) var<storage, read_write> contacts: array<Contact>;
// The largest speed of a particle, in x.
@group(0) @binding(9) var<uniform> fastest: vec4f;
@group(0) @binding(10) var<storage, read_write> speeds: array<vec4f>;
// As many as contacts.
@group(0) @binding(11) var<storage, read_write> seen: array<Seen>;

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
fn find_contacts(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let first = item(id) * (2u + finding.primitives);
    let row_start = points[first];
    let row_end = points[first + 1u];
    var velocity = vec3f(0.0);
    // What places on the device lack, which ways begin with.
    var lacking = vec3f(0.0);
    for (var n = row_start; n < row_end; n++) {
        velocity += v[parts[n].particle].xyz * parts[n].weight;
        lacking += low[parts[n].particle].xyz * parts[n].weight;
    }
    let way = finding.h * (fastest.x + finding.h * finding.gravity);
    for (var c = 0u; c < finding.primitives; c++) {
        let slot = points[first + 2u + c];
        contacts[slot] = asleep();
        let p = primitives[c];
        if (p.is_met == 0u) { continue; }
        // Weights add up to one.
        var arm = vec3f(0.0);
        for (var n = row_start; n < row_end; n++) {
            let i = parts[n].particle;
            arm += ((x[i].xyz - p.place) + (low[i].xyz - p.place_low)) * parts[n].weight;
        }
        let at = vec3f(dot(p.axis_x, arm), dot(p.axis_y, arm), dot(p.axis_z, arm));
        let turn = mat3x3f(p.turn_x, p.turn_y, p.turn_z);
        let carried = turn * arm + p.shift;
        var plane = seen[slot];
        let was_awake = finding.is_first == 0u && plane.is_awake != 0u;
        let over = at - plane.point;
        if (!(was_awake && dot(over, over) < finding.margin * finding.margin)) {
            let place = arm + p.since;
            let reach = way + p.way;
            // Nearer than that it cannot have come.
            let left = plane.gap - length(place - plane.point) - (p.travelled - plane.normal.x);
            if (finding.is_first == 0u && !was_awake && reach <= left - ACTIVATION * p.thickness) { continue; }
            let near = nearest_of(p.kind, at, p.extent, p.radius);
            if (!is_finite3(arm) || !(near.w < ACTIVATION * p.thickness + finding.margin + reach)) {
                seen[slot] = Seen(place, near.w, vec3f(p.travelled, 0.0, 0.0), 0u);
                continue;
            }
            plane = Seen(at, near.w - p.thickness, near.xyz, 1u);
            seen[slot] = plane;
        }
        let start_normal = p.axis_x * plane.normal.x + p.axis_y * plane.normal.y + p.axis_z * plane.normal.z;
        let normal = start_normal + turn * start_normal;
        let gap = plane.gap + dot(at - plane.point, plane.normal);
        let surface_velocity = carried / finding.h;
        // From where the point would be without any way to where the surface carries it.
        let behind = lacking + carried;
        contacts[slot] = Contact(
            normal, gap - dot(behind, normal) - min(gap + finding.push, 0.0),
            -behind, p.sliding,
            surface_velocity, p.sticking,
            outgoing_speed(dot(velocity - surface_velocity, normal), p.restitution, p.thickness),
            row_start, row_end, gap);
    }
    share_room(first, lacking);
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

// Where primitives from opposite sides leave a point no room, their thickness yields first; where they overlap, the later one lets it pass.
fn share_room(first: u32, lacking: vec3f) {
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
        if (passes) { contacts[second] = asleep(); }
    }
}
