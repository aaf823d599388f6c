//! The volume of some tetrahedra that lie together, kept by impulses on their particles.
//!
//! Based on: [Bender14 §4.4.1.2] (Volumenbedingung); Irving, Schroeder and Fedkiw 2007 for one-rings; Diziol, Bender and Bayer 2009 for the
//!           signed form
//! Idea:     `C = V - V0` of a whole cell (five tetrahedra) or of all that meets in a particle, so that single tetrahedra stay free to change
//!           their shape and nothing locks; `Δxᵢ = -C kᵢ ∇ᵢC / Σ kⱼ |∇ⱼC|²`.
//! Deviates: not the cube-root form, which explodes where a volume vanishes: volumes are signed here, so that what is flat or inside out turns
//!           back. Gradients of a volume sum to zero, so momentum is kept for any masses. A single tetrahedron that is nearly flat or
//!           inverted is pushed open by itself, which the sum over its neighbours would not see.
//! Test:     tests/algorithms/tet_volume.rs

use crate::math::{Mat3, Vec3};

/// Part of its volume at rest below which a single tetrahedron is pushed open.
pub const LEAST_PART: f64 = 0.1;
/// Largest way of a particle in one correction, in parts of the size of what is corrected: what is inside out turns back without being shot.
pub const LARGEST_WAY: f64 = 0.1;

/// Four corners, as places in the list of a part's particles.
pub type Corners = [u8; 4];

/// What does not change about a part of a body.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// Its tetrahedra.
    pub tets: &'a [Corners],
    /// Their volumes at rest [m³].
    pub rest: &'a [f64],
    /// The sum of these [m³].
    pub volume: f64,
    /// How large it is [m].
    pub size: f64,
}

/// The gradients of a tetrahedron's volume by its corners, and the volume; all times six.
#[inline]
fn gradients([a, b, c, d]: [Vec3; 4]) -> ([Vec3; 4], f64) {
    let [ab, ac, ad] = [b - a, c - a, d - a];
    let [of_b, of_c, of_d] = [ac.cross(&ad), ad.cross(&ab), ab.cross(&ac)];
    ([-(of_b + of_c + of_d), of_b, of_c, of_d], ab.dot(&of_b))
}

/// The signed volume of a part [m³].
#[inline]
pub fn volume(tets: &[Corners], x: &[Vec3]) -> f64 {
    let six = |corners: &Corners| {
        let [a, b, c, d] = corners.map(|corner| x[usize::from(corner)]);
        (b - a).dot(&(c - a).cross(&(d - a)))
    };
    tets.iter().map(six).sum::<f64>() / 6.0
}

/// Relative error of a volume; one that is not a number is infinite.
#[inline]
pub fn relative_error(volume: f64, target: f64) -> f64 {
    let error = (volume / target - 1.0).abs();
    if error.is_nan() { f64::INFINITY } else { error }
}

/// Bring a part to its volume at rest times `growth`: particles `x` with inverse masses `k` move; `gradient` is scratch of the same length. Returns
/// the relative error before.
#[inline]
pub fn correct_position(part: &Part, growth: f64, x: &mut [Vec3], k: &[f64], gradient: &mut [Vec3]) -> f64 {
    gradient.fill(Vec3::zeros());
    let mut six = 0.0;
    let mut flat = false;
    for (corners, rest) in part.tets.iter().zip(part.rest) {
        let at = corners.map(usize::from);
        let (gradients, six_of_one) = gradients(at.map(|corner| x[corner]));
        six += six_of_one;
        flat |= six_of_one < 6.0 * LEAST_PART * rest * growth;
        at.into_iter().zip(gradients).for_each(|(corner, g)| gradient[corner] += g);
    }
    let target = part.volume * growth;
    let volume = six / 6.0;
    let error = relative_error(volume, target);
    let slope: f64 = gradient.iter().zip(k).map(|(g, k)| g.norm_squared() * k).sum();
    if slope > 0.0 && slope.is_finite() {
        // All gradients are six times too long, hence one six here and one in their squares.
        let multiplier = (target - volume) * 6.0 / slope;
        let longest = gradient.iter().zip(k).map(|(g, k)| g.norm_squared() * k * k).fold(0.0, f64::max).sqrt();
        let multiplier = limited(multiplier, longest, part.size);
        for ((x, g), k) in x.iter_mut().zip(&*gradient).zip(k) {
            *x += g * (multiplier * k);
        }
    }
    if flat {
        for (corners, rest) in part.tets.iter().zip(part.rest) {
            open(corners.map(usize::from), LEAST_PART * rest * growth, part.size, x, k);
        }
    }
    error
}

/// Lead a part that is flat or inside out back to the shape it has at rest, wherever and however turned that fits best: the volume alone would
/// draw a mirrored part together into a point, where it has no direction to go. Centre and turn are kept, and so is momentum where nothing is led.
/// `shape` are its particles at rest.
pub fn turn_back(shape: &[Vec3], size: f64, x: &mut [Vec3], k: &[f64]) {
    let lightest = k.iter().copied().fold(0.0, f64::max);
    if lightest <= 0.0 {
        return;
    }
    // What is led weighs as much as what is lightest: it only says where the rest belongs.
    let weight = |k: f64| if k > 0.0 { lightest / k } else { 1.0 };
    let sum: f64 = k.iter().map(|&k| weight(k)).sum();
    let centre = |points: &[Vec3]| points.iter().zip(k).map(|(p, &k)| p * weight(k)).sum::<Vec3>() / sum;
    let (from, to) = (centre(shape), centre(x));
    let products = shape.iter().zip(&*x).zip(k).map(|((rest, x), &k)| (x - to) * (rest - from).transpose() * weight(k));
    let svd = products.sum::<Mat3>().svd(true, true);
    let (Some(u), Some(v)) = (svd.u, svd.v_t) else {
        return;
    };
    let mut signs = Vec3::repeat(1.0);
    if (u * v).determinant() < 0.0 {
        signs[svd.singular_values.imin()] = -1.0;
    }
    let turn = u * Mat3::from_diagonal(&signs) * v;
    if turn.iter().any(|entry| !entry.is_finite()) {
        return;
    }
    let most = LARGEST_WAY * size;
    let ways: Vec<Vec3> = shape.iter().zip(&*x).map(|(rest, x)| turn * (rest - from) + to - x).collect();
    let longest = ways.iter().map(|way| way.norm()).fold(0.0, f64::max);
    let part = if longest > most { most / longest } else { 1.0 };
    for ((x, way), &k) in x.iter_mut().zip(ways).zip(k) {
        if k > 0.0 {
            *x += way * part;
        }
    }
}

/// Push a single tetrahedron open that has less than this volume.
fn open(at: [usize; 4], least: f64, size: f64, x: &mut [Vec3], k: &[f64]) {
    let (gradients, six) = gradients(at.map(|corner| x[corner]));
    let missing = 6.0 * least - six;
    let weights = at.map(|corner| k[corner]);
    let slope: f64 = gradients.iter().zip(weights).map(|(g, k)| g.norm_squared() * k).sum();
    if missing <= 0.0 || slope <= 0.0 || !slope.is_finite() {
        return;
    }
    let longest = gradients.iter().zip(weights).map(|(g, k)| g.norm_squared() * k * k).fold(0.0, f64::max).sqrt();
    let multiplier = limited(missing / slope, longest, size);
    for ((corner, g), k) in at.into_iter().zip(gradients).zip(weights) {
        x[corner] += g * (multiplier * k);
    }
}

/// A multiplier, so small that the particle that it moves farthest, by `longest` for one, keeps to its largest way.
fn limited(multiplier: f64, longest: f64, size: f64) -> f64 {
    let most = LARGEST_WAY * size / longest;
    multiplier.clamp(-most, most)
}
