// What stands for a number of a vector in bin_csr.wgsl: one of each of up to four systems that share their matrix.

alias Number = vec4f;
alias Truth = vec4<bool>;

const PLANES: u32 = 1u;

fn wide(a: Number) -> vec4f {
    return a;
}

fn narrow(a: vec4f) -> Number {
    return a;
}

fn is_number(a: Number) -> Truth {
    return (bitcast<vec4u>(a) & vec4u(0x7f800000u)) != vec4u(0x7f800000u);
}

// What dots add up: each system has its own.
fn product(a: Number, b: Number) -> Number {
    return a * b;
}

fn diagonal_times(row: u32, a: Number) -> Number {
    return diagonal[row] * a;
}

fn value_times(slot: u32, slots: u32, a: Number) -> Number {
    return values[slot] * a;
}
