// The preconditioner and the filter of conjugate_gradient.wgsl for a matrix of numbers.

alias Freedom = f32;

fn filtered(freedom: Freedom, a: Number) -> Number {
    return freedom * a;
}

// Nothing times anything is nothing: the preconditioner does it.
fn filtered_row(row: u32, a: Number) -> Number {
    return a;
}

fn precondition(row: u32, a: Number) -> Number {
    return inverse[row] * a;
}

fn put_inverse(row: u32) {
    let own = diagonal[row];
    let is_sound = is_finite(own) && own > 0.0;
    inverse_out[row] = select(0.0, freedom[row] / own, is_sound);
}
