// The preconditioner and the filter of conjugate_gradient.wgsl for a matrix of blocks.

alias Freedom = vec4f;

fn filtered(freedom: Freedom, a: Number) -> Number {
    let along = vec4f(freedom.xyz * dot(freedom.xyz, a.xyz), 0.0);
    switch u32(freedom.w) {
        case 0u: { return a; }
        case 1u: { return a - along; }
        case 2u: { return along; }
        default: { return vec4f(0.0); }
    }
}

fn filtered_row(row: u32, a: Number) -> Number {
    let n = system.padded;
    let kind = inverse[9u * n + row];
    if (kind == 0.0) { return a; }
    return filtered(vec4f(inverse[6u * n + row], inverse[7u * n + row], inverse[8u * n + row], kind), a);
}

fn precondition(row: u32, a: Number) -> Number {
    let n = system.padded;
    let xy = inverse[n + row];
    let xz = inverse[2u * n + row];
    let yz = inverse[4u * n + row];
    return vec4f(
        inverse[row] * a.x + xy * a.y + xz * a.z,
        xy * a.x + inverse[3u * n + row] * a.y + yz * a.z,
        xz * a.x + yz * a.y + inverse[5u * n + row] * a.z,
        0.0);
}

// S D⁻¹ S of a symmetric block; nothing of one that is not positive definite.
fn put_inverse(row: u32) {
    let n = system.padded;
    let a = vec3f(diagonal[row], diagonal[n + row], diagonal[2u * n + row]);
    let b = vec3f(a.y, diagonal[4u * n + row], diagonal[5u * n + row]);
    let c = vec3f(a.z, b.z, diagonal[8u * n + row]);
    let volume = dot(a, cross(b, c));
    let is_sound = is_finite(volume) && a.x > 0.0 && a.x * b.y > a.y * a.y && volume > 0.0;
    let scale = select(0.0, 1.0 / volume, is_sound);
    let columns = array(cross(b, c) * scale, cross(c, a) * scale, cross(a, b) * scale);
    // Filtered from both sides.
    let free = freedom[row];
    var some = array<vec3f, 3>();
    for (var i = 0u; i < 3u; i++) { some[i] = filtered(free, vec4f(columns[i], 0.0)).xyz; }
    for (var i = 0u; i < 4u; i++) { inverse_out[(6u + i) * n + row] = free[i]; }
    var plane = 0u;
    for (var i = 0u; i < 3u; i++) {
        let of_row = vec3f(some[0][i], some[1][i], some[2][i]);
        let both = filtered(free, vec4f(of_row, 0.0)).xyz;
        for (var j = i; j < 3u; j++) {
            inverse_out[plane * n + row] = select(0.0, both[j], is_sound);
            plane++;
        }
    }
}
