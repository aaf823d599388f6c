// A matrix from local contributions: each entry gathers its own, always in the same order.
//
// Twin: `Assembly` (bin_csr.rs)      Test: tests/gpu/linear.rs

struct Strides {
    // Numbers of a block: 1 or 9.
    planes: u32,
    // Contributions in a plane of `local`.
    local: u32,
    // Entries in a plane of `assembled`.
    assembled: u32,
    // First entry of the lists.
    first: u32,
}

@group(0) @binding(1) var<uniform> strides: Strides;
@group(0) @binding(2) var<storage, read> list_starts: array<u32>;
// Numbers of contributions, times two, and one more for the transpose.
@group(0) @binding(3) var<storage, read> sources: array<u32>;
@group(0) @binding(4) var<storage, read> local: array<f32>;
@group(0) @binding(5) var<storage, read_write> assembled: array<f32>;

@compute @workgroup_size(WORKGROUP)
fn assemble(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let entry = item(id);
    let end = list_starts[entry - strides.first + 1u];
    for (var plane = 0u; plane < strides.planes; plane++) {
        let turned = select(0u, 3u * (plane % 3u) + plane / 3u, strides.planes > 1u);
        var sum = 0.0;
        for (var n = list_starts[entry - strides.first]; n < end; n++) {
            let source = sources[n];
            sum += local[select(plane, turned, (source & 1u) != 0u) * strides.local + source / 2u];
        }
        assembled[plane * strides.assembled + entry] = sum;
    }
}
