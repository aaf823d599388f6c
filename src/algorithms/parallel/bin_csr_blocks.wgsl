// What stands for a number of a vector in bin_csr.wgsl: three numbers, which blocks of 3 × 3 multiply.

alias Number = vec4f;
alias Truth = vec4<bool>;

const PLANES: u32 = 9u;

fn wide(a: Number) -> vec4f {
    return a;
}

fn narrow(a: vec4f) -> Number {
    return a;
}

fn is_number(a: Number) -> Truth {
    return (bitcast<vec4u>(a) & vec4u(0x7f800000u)) != vec4u(0x7f800000u);
}

// What dots add up: one number, four times.
fn product(a: Number, b: Number) -> Number {
    return vec4f(dot(a.xyz, b.xyz));
}

fn diagonal_times(row: u32, a: Number) -> Number {
    let n = system.padded;
    return vec4f(
        diagonal[row] * a.x + diagonal[n + row] * a.y + diagonal[2u * n + row] * a.z,
        diagonal[3u * n + row] * a.x + diagonal[4u * n + row] * a.y + diagonal[5u * n + row] * a.z,
        diagonal[6u * n + row] * a.x + diagonal[7u * n + row] * a.y + diagonal[8u * n + row] * a.z,
        0.0);
}

fn value_times(slot: u32, n: u32, a: Number) -> Number {
    return vec4f(
        values[slot] * a.x + values[n + slot] * a.y + values[2u * n + slot] * a.z,
        values[3u * n + slot] * a.x + values[4u * n + slot] * a.y + values[5u * n + slot] * a.z,
        values[6u * n + slot] * a.x + values[7u * n + slot] * a.y + values[8u * n + slot] * a.z,
        0.0);
}
