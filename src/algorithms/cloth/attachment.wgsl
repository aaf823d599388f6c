// No particle is farther from a pin than the cloth between them is long: one invocation takes all attachments of one particle.
//
// Twin: attachment.rs      Test: tests/gpu/attachment.rs

struct Attached {
    particle: u32,
    // Its attachments.
    first: u32,
    end: u32,
    // Largest correction of each.
    most: f32,
}

struct Attachment {
    pin: u32,
    longest: f32,
}

struct Goal {
    // Where the pin has its vertex: a place and what it lacks.
    high: vec4f,
    low: vec4f,
    way: vec4f,
}

@group(0) @binding(1) var<storage, read> x: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> d: array<vec4f>;
@group(0) @binding(3) var<storage, read> attached: array<Attached>;
@group(0) @binding(4) var<storage, read> attachments: array<Attachment>;
@group(0) @binding(5) var<storage, read> goals: array<Goal>;

@compute @workgroup_size(WORKGROUP)
fn attach(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let row = attached[item(id)];
    let place = x[row.particle].xyz;
    var way = d[row.particle].xyz;
    for (var n = row.first; n < row.end; n++) {
        let attachment = attachments[n];
        let between = (place - goals[attachment.pin].high.xyz) + (way - goals[attachment.pin].low.xyz);
        let squared = dot(between, between);
        if (squared > attachment.longest * attachment.longest) {
            let distance = sqrt(squared);
            way -= between * (min(distance - attachment.longest, row.most) / distance);
        }
    }
    d[row.particle] = vec4f(way, 0.0);
}
