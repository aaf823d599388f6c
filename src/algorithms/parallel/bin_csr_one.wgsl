// What stands for a number of a vector in bin_csr.wgsl: a number.

alias Number = f32;
alias Truth = bool;

const PLANES: u32 = 1u;

fn wide(a: Number) -> vec4f {
    return vec4f(a, 0.0, 0.0, 0.0);
}

fn narrow(a: vec4f) -> Number {
    return a.x;
}

fn is_number(a: Number) -> Truth {
    return is_finite(a);
}

// What dots add up.
fn product(a: Number, b: Number) -> Number {
    return a * b;
}

fn diagonal_times(row: u32, a: Number) -> Number {
    return diagonal[row] * a;
}

fn value_times(slot: u32, slots: u32, a: Number) -> Number {
    return values[slot] * a;
}
