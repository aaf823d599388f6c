// All distances of a cloth as one linear system, row by row.
//
// Twin: linear_system.rs, solver/cpu/linear.rs      Test: tests/gpu/linear.rs

struct Tie {
    ends: vec2u,
    length: f32,
    // Load number for a multiplier of 1.
    load: f32,
}

struct Settings {
    // Whether rows can go slack.
    is_slack: u32,
    // Slots before the part of the matrix that is filled.
    first_slot: u32,
    // The largest tension that means anything: its weight, and what a square metre of moved particles adds.
    most: f32,
    most_by_square: f32,
    // Bins of the matrix.
    bins: u32,
    unused_1: u32,
    unused_2: u32,
    unused_3: u32,
}

@group(0) @binding(1) var<uniform> settings: Settings;
@group(0) @binding(2) var<storage, read> x: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> d: array<vec4f>;
@group(0) @binding(4) var<storage, read> ties: array<Tie>;
// Of length 1, or nothing where the row takes no part.
@group(0) @binding(5) var<storage, read_write> directions: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> total: array<f32>;
@group(0) @binding(7) var<storage, read_write> multipliers: array<f32>;
@group(0) @binding(8) var<storage, read_write> right: array<f32>;
@group(0) @binding(9) var<storage, read_write> sizes: array<vec4f>;
@group(0) @binding(10) var<storage, read_write> released: atomic<u32>;
// As in bin_csr.wgsl.
@group(0) @binding(11) var<storage, read> starts: array<u32>;
@group(0) @binding(12) var<storage, read> columns: array<u32>;
@group(0) @binding(13) var<storage, read> recipe: array<f32>;
@group(0) @binding(14) var<storage, read_write> values: array<f32>;
@group(0) @binding(15) var<storage, read> list_starts: array<u32>;
// Of each particle its rows, and what a multiplier of each moves it by.
@group(0) @binding(16) var<storage, read> list: array<vec2u>;
@group(0) @binding(17) var<storage, read> sum: array<vec4f>;

fn between(tie: Tie) -> vec3f {
    let a = tie.ends.x;
    let b = tie.ends.y;
    return (x[b].xyz - x[a].xyz) + (d[b].xyz - d[a].xyz);
}

// Directions at the look-ahead positions. Of rows that can go slack those take part that pulled or are too long.
@compute @workgroup_size(WORKGROUP)
fn look(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let row = item(id);
    let tie = ties[row];
    let way = between(tie);
    let norm = length(way);
    let takes_part = norm > 0.0 && (settings.is_slack == 0u || total[row] > 0.0 || norm > tie.length);
    directions[row] = select(vec4f(0.0), vec4f(way / norm, 0.0), takes_part);
    if (!takes_part) { multipliers[row] = 0.0; }
}

// What each row is off by; relative to its length also where it takes no part but is too long.
@compute @workgroup_size(WORKGROUP)
fn measure(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let row = item(id);
    let tie = ties[row];
    let off = length(between(tie)) - tie.length;
    let is_in = any(directions[row].xyz != vec3f(0.0));
    right[row] = select(0.0, off, is_in);
    // What is not a number counts.
    let relative = select(BROKEN, abs(off) / tie.length, is_finite(off));
    sizes[row] = vec4f(select(0.0, relative, is_in || off > 0.0 || !is_finite(off)), 0.0, 0.0, 0.0);
}

// Entries off the diagonal; one invocation a row, in the order of bins, rows of one part of the matrix.
@compute @workgroup_size(WORKGROUP)
fn fill(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let place = item(id);
    let bin = place / u32(BIN);
    let end = starts[bin + 1u] - settings.first_slot;
    let direction = directions[starts[settings.bins + 1u + place]].xyz;
    for (var slot = starts[bin] - settings.first_slot + place % u32(BIN); slot < end; slot += u32(BIN)) {
        values[slot] = recipe[slot] * dot(direction, directions[columns[slot]].xyz);
    }
}

// Rows that would have to push are let go.
@compute @workgroup_size(WORKGROUP)
fn release(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let row = item(id);
    if (total[row] + multipliers[row] < 0.0) {
        directions[row] = vec4f(0.0);
        multipliers[row] = 0.0;
        right[row] = 0.0;
        atomicAdd(&released, 1u);
    }
}

@compute @workgroup_size(WORKGROUP)
fn tally(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let row = item(id);
    total[row] += multipliers[row];
}

@compute @workgroup_size(WORKGROUP)
fn clear_multipliers(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    multipliers[item(id)] = 0.0;
}

@compute @workgroup_size(WORKGROUP)
fn clear_total(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    total[item(id)] = 0.0;
}

// d -= W Cᵀ λ, particle by particle
@compute @workgroup_size(WORKGROUP)
fn apply(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let i = item(id);
    var moved = vec3f(0.0);
    for (var n = list_starts[i]; n < list_starts[i + 1u]; n++) {
        let row = list[n].x;
        moved += directions[row].xyz * (multipliers[row] * bitcast<f32>(list[n].y));
    }
    d[i] = vec4f(d[i].xyz - moved, 0.0);
}

@compute @workgroup_size(WORKGROUP)
fn squares(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let i = item(id);
    sizes[i] = vec4f(dot(d[i].xyz, d[i].xyz), 0.0, 0.0, 0.0);
}

@compute @workgroup_size(WORKGROUP)
fn loads(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let row = item(id);
    let most = settings.most + settings.most_by_square * sum[0].x;
    sizes[row] = vec4f(max(min(total[row], most) * ties[row].load, 0.0), 0.0, 0.0, 0.0);
}
