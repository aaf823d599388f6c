// Products of a sparse matrix and a vector: one thread a row, nothing to add up between threads.
//
// Twin: bin_csr.rs      Test: tests/gpu/linear.rs
//
// What a number of a vector is stands in bin_csr_one, _three or _blocks.wgsl. A workgroup has whole bins of rows, `turns` times as many rows as
// threads. A matrix that does not fit into one binding comes in parts, each with some workgroups; `starts` counts slots of all parts. Rows stand
// in bins in an order of their own, behind the starts; vectors and the diagonal are in the order of rows.

struct System {
    rows: u32,
    // The same with those that fill up the last bin.
    padded: u32,
    bins: u32,
    // Workgroups of all rows.
    groups: u32,
    // Rows that a thread has.
    turns: u32,
    most_iterations: u32,
    // The error that is small enough, squared: see conjugate_gradient.wgsl.
    relative: f32,
    absolute: f32,
}

@group(0) @binding(1) var<uniform> system: System;
// Of each bin, the end of the last one, and the row at each place.
@group(0) @binding(2) var<storage, read> starts: array<u32>;
@group(0) @binding(3) var<storage, read> columns: array<u32>;
@group(0) @binding(4) var<storage, read> values: array<f32>;
@group(0) @binding(5) var<storage, read> diagonal: array<f32>;
@group(0) @binding(6) var<storage, read> factor: array<Number>;
@group(0) @binding(7) var<storage, read_write> result: array<Number>;
@group(0) @binding(8) var<storage, read> right: array<Number>;

// A dispatch may have more workgroups than there are.
fn has_group(group: vec3u) -> bool {
    return (group.y * (span.row / WORKGROUP) + group.x) * WORKGROUP < span.count;
}

fn group_number(group: vec3u) -> u32 {
    return span.start / WORKGROUP + group.y * (span.row / WORKGROUP) + group.x;
}

// The row, or the place of one, of a thread at its turn.
fn row_of(group: u32, turn: u32, local: u32) -> u32 {
    return (group * system.turns + turn) * WORKGROUP + local;
}

// The row at a place of the bins.
fn row_at(place: u32) -> u32 {
    return starts[system.bins + 1u + place];
}

fn row_times_factor(place: u32, row: u32) -> Number {
    let bins_of_group = system.turns * (WORKGROUP / u32(BIN));
    let first = starts[span.start / WORKGROUP * bins_of_group];
    let slots = starts[min((span.start + span.count) / WORKGROUP * bins_of_group, system.bins)] - first;
    let bin = place / u32(BIN);
    let end = starts[bin + 1u] - first;
    var sum = diagonal_times(row, factor[row]);
    for (var slot = starts[bin] - first + place % u32(BIN); slot < end; slot += u32(BIN)) {
        sum += value_times(slot, slots, factor[columns[slot]]);
    }
    return sum;
}

@compute @workgroup_size(WORKGROUP)
fn multiply(@builtin(local_invocation_index) local: u32, @builtin(workgroup_id) group: vec3u) {
    if (!has_group(group)) { return; }
    for (var turn = 0u; turn < system.turns; turn++) {
        let place = row_of(group_number(group), turn, local);
        if (place < system.rows) {
            let row = row_at(place);
            result[row] = row_times_factor(place, row);
        }
    }
}

@compute @workgroup_size(WORKGROUP)
fn residual(@builtin(local_invocation_index) local: u32, @builtin(workgroup_id) group: vec3u) {
    if (!has_group(group)) { return; }
    for (var turn = 0u; turn < system.turns; turn++) {
        let place = row_of(group_number(group), turn, local);
        if (place < system.rows) {
            let row = row_at(place);
            result[row] = right[row] - row_times_factor(place, row);
        }
    }
}
