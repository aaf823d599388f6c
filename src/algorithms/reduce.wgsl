// Sums and maxima of all items, always in the same order: the bits do not depend on which workgroup is first.
//
// Each workgroup takes a block of items; one workgroup takes what these found.
//
// Test: tests/gpu/reduce.rs

// Items that a workgroup takes: each invocation every WORKGROUP-th of them.
const BLOCK: u32 = 16u * WORKGROUP;

@group(0) @binding(1) var<storage, read> values: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> partial: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> result: array<vec4f>;

var<workgroup> shared_values: array<vec4f, WORKGROUP>;

fn larger(a: vec4f, b: vec4f) -> vec4f {
    // What is not a number is larger than everything.
    let x = vec4f(
        select(BROKEN, a.x, is_finite(a.x)), select(BROKEN, a.y, is_finite(a.y)),
        select(BROKEN, a.z, is_finite(a.z)), select(BROKEN, a.w, is_finite(a.w)));
    let y = vec4f(
        select(BROKEN, b.x, is_finite(b.x)), select(BROKEN, b.y, is_finite(b.y)),
        select(BROKEN, b.z, is_finite(b.z)), select(BROKEN, b.w, is_finite(b.w)));
    return max(x, y);
}

fn add_up(local: u32) -> vec4f {
    workgroupBarrier();
    for (var width = WORKGROUP / 2u; width > 0u; width /= 2u) {
        if (local < width) { shared_values[local] += shared_values[local + width]; }
        workgroupBarrier();
    }
    return shared_values[0];
}

fn largest(local: u32) -> vec4f {
    workgroupBarrier();
    for (var width = WORKGROUP / 2u; width > 0u; width /= 2u) {
        if (local < width) { shared_values[local] = larger(shared_values[local], shared_values[local + width]); }
        workgroupBarrier();
    }
    return shared_values[0];
}

// One workgroup a block. `span.count` counts invocations, `span.start` is the number of values.
@compute @workgroup_size(WORKGROUP)
fn sum_blocks(@builtin(local_invocation_index) local: u32, @builtin(workgroup_id) group: vec3u) {
    let block = group.y * (span.row / WORKGROUP) + group.x;
    let end = min((block + 1u) * BLOCK, span.start);
    var sum = vec4f(0.0);
    for (var i = block * BLOCK + local; i < end; i += WORKGROUP) { sum += values[i]; }
    shared_values[local] = sum;
    let all = add_up(local);
    if (local == 0u && block * BLOCK < span.start) { partial[block] = all; }
}

@compute @workgroup_size(WORKGROUP)
fn largest_of_blocks(@builtin(local_invocation_index) local: u32, @builtin(workgroup_id) group: vec3u) {
    let block = group.y * (span.row / WORKGROUP) + group.x;
    let end = min((block + 1u) * BLOCK, span.start);
    var most = vec4f(0.0);
    for (var i = block * BLOCK + local; i < end; i += WORKGROUP) { most = larger(most, values[i]); }
    shared_values[local] = most;
    let all = largest(local);
    if (local == 0u && block * BLOCK < span.start) { partial[block] = all; }
}

// One workgroup for all blocks; `span.start` is their number.
@compute @workgroup_size(WORKGROUP)
fn sum_all(@builtin(local_invocation_index) local: u32) {
    var sum = vec4f(0.0);
    for (var i = local; i < span.start; i += WORKGROUP) { sum += partial[i]; }
    shared_values[local] = sum;
    let all = add_up(local);
    if (local == 0u) { result[0] = all; }
}

@compute @workgroup_size(WORKGROUP)
fn largest_of_all(@builtin(local_invocation_index) local: u32) {
    var most = vec4f(0.0);
    for (var i = local; i < span.start; i += WORKGROUP) { most = larger(most, partial[i]); }
    shared_values[local] = most;
    let all = largest(local);
    if (local == 0u) { result[0] = all; }
}
