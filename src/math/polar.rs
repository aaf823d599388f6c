//! The rotation that a 3 × 3 matrix is nearest to, for eight matrices at a time.
//!
//! Based on: Kugelstadt, Koschier and Bender 2018 (analytic polar decomposition: Newton steps on the rotation, started from the last one);
//!           Arun, Huang and Blostein 1987 for reflections
//! Idea:     the rotation R maximises tr(RᵀA). With B = RᵀA, turning R by a small θ changes that by θᵀw - ½ θᵀHθ, where w is the axial vector
//!           of B and H = tr(S) I - S for its symmetric part S; a step solves this exactly. The maximum is the only place where H is positive
//!           definite and w vanishes, so that a step that converges has found it. Nearly flat point sets are no exception, which they are for
//!           methods of first order.
//! Test:     tests/algorithms/polar.rs

use super::Mat3;

/// How many matrices are treated at a time: what the widest registers hold.
pub const LANES: usize = 8;
/// One number of each.
pub type Lanes = [f64; LANES];

/// Most Newton steps; from the rotation of the last step two are usual.
pub const MOST_STEPS: usize = 6;
/// Square of the turn after which the next step would be below rounding: steps converge cubically [rad²].
const SMALL_TURN: f64 = 1e-10;
/// Determinant of H over the cube of its mean eigenvalue below which it counts as singular.
const SINGULAR: f64 = 1e-9;
/// Weight of the guess where a matrix alone does not tell the rotation, on its own size.
pub const GUESS: f64 = 1e-3;

/// Turn the unit quaternions `q` (real part first) to the rotations nearest to `a` (rows one after the other). Tells which lanes have got
/// there; `rotation` is for the others.
#[inline(always)]
pub fn turn_towards(a: &[Lanes; 9], q: &mut [Lanes; 4]) -> [bool; LANES] {
    let mut is_there = [false; LANES];
    for _ in 0..MOST_STEPS {
        let mut turns = [f64::INFINITY; LANES];
        let r = matrices(q);
        for l in 0..LANES {
            // B = Rᵀ A, entry (i, j) = Σ R(k, i) A(k, j)
            let b = |i: usize, j: usize| r[i][l] * a[j][l] + r[3 + i][l] * a[3 + j][l] + r[6 + i][l] * a[6 + j][l];
            let (b00, b01, b02) = (b(0, 0), b(0, 1), b(0, 2));
            let (b10, b11, b12) = (b(1, 0), b(1, 1), b(1, 2));
            let (b20, b21, b22) = (b(2, 0), b(2, 1), b(2, 2));
            let (wx, wy, wz) = (b21 - b12, b02 - b20, b10 - b01);
            let (h00, h11, h22) = (b11 + b22, b00 + b22, b00 + b11);
            let (h01, h02, h12) = (-0.5 * (b01 + b10), -0.5 * (b02 + b20), -0.5 * (b12 + b21));
            let (c00, c01, c02) = (h11 * h22 - h12 * h12, h02 * h12 - h01 * h22, h01 * h12 - h02 * h11);
            let (c11, c12, c22) = (h00 * h22 - h02 * h02, h01 * h02 - h00 * h12, h00 * h11 - h01 * h01);
            let det = h00 * c00 + h01 * c01 + h02 * c02;
            let mean = (h00 + h11 + h22) * (1.0 / 3.0);
            let is_definite = (h00 > 0.0) & (c22 > 0.0) & (det > SINGULAR * mean * mean * mean);
            let half = 0.5 / if is_definite { det } else { 1.0 };
            let (x, y, z) = (
                (c00 * wx + c01 * wy + c02 * wz) * half,
                (c01 * wx + c11 * wy + c12 * wz) * half,
                (c02 * wx + c12 * wy + c22 * wz) * half,
            );
            let square = x * x + y * y + z * z;
            // Cayley's form of a turn by twice this vector; where the step means nothing the guess stays as it is.
            let is_sound = is_definite & (square < 1.0);
            let (x, y, z) = if is_sound { (x, y, z) } else { (0.0, 0.0, 0.0) };
            let scale = 1.0 / (1.0 + if is_sound { square } else { 0.0 }).sqrt();
            let (p, u, v, w) = (q[0][l], q[1][l], q[2][l], q[3][l]);
            let next = [
                (p - u * x - v * y - w * z) * scale,
                (u + p * x + v * z - w * y) * scale,
                (v + p * y + w * x - u * z) * scale,
                (w + p * z + u * y - v * x) * scale,
            ];
            // Rounding would let it grow or shrink over many steps.
            let norm = next[0] * next[0] + next[1] * next[1] + next[2] * next[2] + next[3] * next[3];
            let unit = 1.5 - 0.5 * norm;
            for (q, next) in q.iter_mut().zip(next) {
                q[l] = next * unit;
            }
            turns[l] = if is_sound { square } else { f64::INFINITY };
        }
        is_there = turns.map(|turn| turn < SMALL_TURN);
        if is_there.iter().all(|is_there| *is_there) {
            break;
        }
    }
    is_there
}

/// The rotation matrices of unit quaternions, rows one after the other.
#[inline(always)]
pub fn matrices(q: &[Lanes; 4]) -> [Lanes; 9] {
    let mut r = [[0.0; LANES]; 9];
    for l in 0..LANES {
        let (w, x, y, z) = (q[0][l], q[1][l], q[2][l], q[3][l]);
        r[0][l] = 1.0 - 2.0 * (y * y + z * z);
        r[1][l] = 2.0 * (x * y - w * z);
        r[2][l] = 2.0 * (x * z + w * y);
        r[3][l] = 2.0 * (x * y + w * z);
        r[4][l] = 1.0 - 2.0 * (x * x + z * z);
        r[5][l] = 2.0 * (y * z - w * x);
        r[6][l] = 2.0 * (x * z - w * y);
        r[7][l] = 2.0 * (y * z + w * x);
        r[8][l] = 1.0 - 2.0 * (x * x + y * y);
    }
    r
}

/// The rotation nearest to a matrix, whatever it is: of those that are equally near (points on a line, in one point, or mirrored alike in two
/// directions) the one next to the guess.
pub fn rotation(a: &Mat3, guess: &Mat3) -> Mat3 {
    let size = a.norm();
    if size.is_nan() || size <= 0.0 || size.is_infinite() {
        return *guess;
    }
    let svd = (a / size + guess * GUESS).svd(true, true);
    let (Some(u), Some(v_t)) = (svd.u, svd.v_t) else {
        return *guess;
    };
    let mut signs = super::Vec3::repeat(1.0);
    if (u * v_t).determinant() < 0.0 {
        signs[svd.singular_values.imin()] = -1.0;
    }
    let turned = u * Mat3::from_diagonal(&signs) * v_t;
    if turned.iter().any(|entry| !entry.is_finite()) {
        return *guess;
    }
    // Where the matrix alone tells the rotation, the guess must not pull at it.
    let mut q = quaternion(&turned).map(|entry| [entry; LANES]);
    let lanes = std::array::from_fn(|n| [a[(n / 3, n % 3)] / size; LANES]);
    let [is_there, ..] = turn_towards(&lanes, &mut q);
    let r = matrices(&q);
    if is_there { Mat3::from_fn(|row, column| r[3 * row + column][0]) } else { turned }
}

/// The unit quaternion of a rotation matrix, real part first.
pub fn quaternion(r: &Mat3) -> [f64; 4] {
    let q = nalgebra::UnitQuaternion::from_rotation_matrix(&nalgebra::Rotation3::from_matrix_unchecked(*r));
    [q.w, q.i, q.j, q.k]
}
