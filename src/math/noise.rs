//! Smooth noise from integers: the same on every machine.

/// Well-mixed bits of a lattice point (the finaliser of SplitMix64, applied per coordinate).
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A value in [-1, 1] for a lattice point.
fn lattice(seed: u64, point: [i64; 4]) -> f64 {
    let bits = point.iter().fold(mix(seed.wrapping_add(0x9e37_79b9_7f4a_7c15)), |bits, &x| {
        mix(bits.wrapping_add(x as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    });
    (bits >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// Value noise over space and time: in [-1, 1], once continuously differentiable, features about one unit large.
pub fn value_noise(seed: u64, at: [f64; 4]) -> f64 {
    let floor = at.map(f64::floor);
    let blend: [f64; 4] = std::array::from_fn(|k| {
        let t = at[k] - floor[k];
        t * t * (3.0 - 2.0 * t)
    });
    (0..16u32)
        .map(|corner| {
            let bit = |k: usize| (corner >> k) & 1;
            let weight: f64 = (0..4).map(|k| if bit(k) == 1 { blend[k] } else { 1.0 - blend[k] }).product();
            weight * lattice(seed, std::array::from_fn(|k| floor[k] as i64 + i64::from(bit(k))))
        })
        .sum()
}
