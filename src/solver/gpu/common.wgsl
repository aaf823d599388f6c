// Stands before every WGSL file.

// Which items a dispatch is about.
struct Span {
    start: u32,
    count: u32,
    // Invocations in a row of workgroups.
    row: u32,
    // Of the body, for kernels that ask for it; 0 without one.
    number: u32,
}

@group(0) @binding(0) var<uniform> span: Span;

const NONE: u32 = 0xffffffffu;

// Whether an invocation has an item.
fn has_item(id: vec3u) -> bool {
    return id.y * span.row + id.x < span.count;
}

// Its number.
fn item(id: vec3u) -> u32 {
    return span.start + id.y * span.row + id.x;
}

// By its bits: compilers may take it for granted that there is nothing but numbers.
fn is_finite(x: f32) -> bool {
    return (bitcast<u32>(x) & 0x7f800000u) != 0x7f800000u;
}

fn is_finite3(v: vec3f) -> bool {
    return is_finite(v.x) && is_finite(v.y) && is_finite(v.z);
}

// Larger than any error that means anything; stands for what is not a number.
const BROKEN: f32 = 1e30;
