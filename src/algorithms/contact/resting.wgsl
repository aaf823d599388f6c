// Points of a body that touch colliders, for all contacts of an independent group.
//
// Twin: resting.rs, friction.rs; rows are `Point::value` and `Point::shift` (solver/cpu/contacts.rs)      Test: tests/gpu/contact.rs
//
// Planes and the places that friction holds to are given against where the point would be if its particles had gone no way, so that a
// contact adds up nothing but ways.

struct Contact {
    normal: vec3f,
    // How far above what is allowed the point is without any way.
    above: f32,
    // From where the point would be if it moved with the surface to where it is without any way.
    slipped: vec3f,
    sliding: f32,
    surface_velocity: vec3f,
    sticking: f32,
    bounce: f32,
    row_start: u32,
    row_end: u32,
    gap: f32,
}

// A particle below a point.
struct Part {
    particle: u32,
    weight: f32,
    // How far it moves when the point is to move by one.
    share: f32,
}

struct Control {
    done: u32,
    sweeps: u32,
    worst: f32,
    enough: f32,
    fewest: u32,
    total: u32,
    is_off: u32,
    unused: u32,
}

struct Step {
    gravity: vec3f,
    h: f32,
    inverse_h: f32,
    drag: f32,
    unused_1: f32,
    unused_2: f32,
}

// One a body; that of these contacts is `span.number`.
@group(0) @binding(1) var<storage, read> control: array<Control>;
@group(0) @binding(2) var<storage, read_write> d: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> v: array<vec4f>;
@group(0) @binding(4) var<storage, read> contacts: array<Contact>;
@group(0) @binding(5) var<storage, read> parts: array<Part>;
// Sums of corrections so far: tangential, and normal in the last number.
@group(0) @binding(6) var<storage, read_write> sums: array<vec4f>;
// Where the groups of each run of small ones begin in this array, with the end of the last run; then where each group begins, with the end of the
// last one.
@group(0) @binding(7) var<storage, read> groups: array<u32>;
@group(0) @binding(8) var<uniform> step: Step;
// Whether each particle touches something.
@group(0) @binding(9) var<storage, read_write> touches: array<atomic<u32>>;

// The tangential sum that a normal one allows.
fn allowed(contact: Contact, wanted: vec3f, pressed: f32) -> vec3f {
    let size = length(wanted);
    if (size > contact.sticking * pressed) { return wanted * (contact.sliding * pressed / size); }
    return wanted;
}

fn correct_position(number: u32) {
    // What was found to be far away has no particles.
    if (contacts[number].row_start == contacts[number].row_end) { return; }
    let contact = contacts[number];
    var way = vec3f(0.0);
    for (var n = contact.row_start; n < contact.row_end; n++) { way += d[parts[n].particle].xyz * parts[n].weight; }
    // What is not a number is found by those who look for it.
    if (!is_finite3(way)) { return; }
    let sum = sums[number];
    let pressed = max(sum.w - (contact.above + dot(way, contact.normal)), 0.0);
    let slip = contact.slipped + way;
    let held = allowed(contact, sum.xyz - (slip - contact.normal * dot(slip, contact.normal)), pressed);
    sums[number] = vec4f(held, pressed);
    let by = contact.normal * (pressed - sum.w) + (held - sum.xyz);
    for (var n = contact.row_start; n < contact.row_end; n++) {
        let part = parts[n];
        if (part.share != 0.0) { d[part.particle] = vec4f(d[part.particle].xyz + by * part.share, 0.0); }
    }
}

fn correct_velocity(number: u32) {
    let sum = sums[number];
    if (sum.w <= 0.0) { return; }
    let contact = contacts[number];
    var velocity = -contact.surface_velocity;
    for (var n = contact.row_start; n < contact.row_end; n++) { velocity += v[parts[n].particle].xyz * parts[n].weight; }
    if (!is_finite3(velocity)) { return; }
    let speed = dot(velocity, contact.normal);
    let excess = speed - contact.bounce;
    let pressed = max(sum.w - excess * step.h, LEAST_PRESSED);
    let slip = (velocity - contact.normal * speed) * step.h;
    let held = allowed(contact, sum.xyz - slip, pressed);
    sums[number] = vec4f(held, pressed);
    let by = (held - sum.xyz) * step.inverse_h - contact.normal * excess;
    for (var n = contact.row_start; n < contact.row_end; n++) {
        let part = parts[n];
        if (part.share != 0.0) { v[part.particle] = vec4f(v[part.particle].xyz + by * part.share, 0.0); }
    }
}

@compute @workgroup_size(WORKGROUP)
fn contact_begin(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    sums[item(id)] = vec4f(0.0);
}

@compute @workgroup_size(WORKGROUP)
fn contact_positions(@builtin(global_invocation_id) id: vec3u) {
    if (control[span.number].done != 0u || !has_item(id)) { return; }
    correct_position(item(id));
}

@compute @workgroup_size(WORKGROUP)
fn contact_velocities(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    correct_velocity(item(id));
}

// One workgroup for all groups of run number `span.start`, which are small: it goes through one after the other.
@compute @workgroup_size(WORKGROUP)
fn contact_positions_of_small_groups(@builtin(local_invocation_index) local: u32) {
    if (control[span.number].done != 0u) { return; }
    for (var group = groups[span.start]; group < groups[span.start + 1u]; group++) {
        for (var n = groups[group] + local; n < groups[group + 1u]; n += WORKGROUP) { correct_position(n); }
        storageBarrier();
    }
}

@compute @workgroup_size(WORKGROUP)
fn contact_velocities_of_small_groups(@builtin(local_invocation_index) local: u32) {
    for (var group = groups[span.start]; group < groups[span.start + 1u]; group++) {
        for (var n = groups[group] + local; n < groups[group + 1u]; n += WORKGROUP) { correct_velocity(n); }
        storageBarrier();
    }
}

@compute @workgroup_size(WORKGROUP)
fn contact_forget_touches(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    atomicStore(&touches[item(id)], 0u);
}

// All write the same, so it does not matter who is last.
@compute @workgroup_size(WORKGROUP)
fn contact_touches(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let number = item(id);
    if (sums[number].w <= 0.0) { return; }
    let contact = contacts[number];
    for (var n = contact.row_start; n < contact.row_end; n++) { atomicStore(&touches[parts[n].particle], 1u); }
}
