//! A triangle that resists stretch along warp and weft and shear between them, below the limit of its edges.
//!
//! Based on: Baraff and Witkin 1998 (the three measures of a triangle); Macklin, Müller and Chentanez 2016 (implicit Euler as a
//!           constraint with compliance)
//! Idea:     the triangle's map from the flat cloth to space has one column for warp and one for weft; their lengths less one and
//!           the sine between them are the strains. Energy `A/2 k C²` each, taken implicitly: stable for every stiffness and step.
//! Test:     tests/algorithms/elastic.rs

use super::nonconforming::flat_area;
use crate::math::{Vec2, Vec3};

/// Stiffness of a cloth in its plane [N/m].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stiffness {
    /// Along u.
    pub warp: f64,
    /// Along v.
    pub weft: f64,
    /// Between them, per radian.
    pub shear: f64,
}

/// One elastic triangle over three particles.
#[derive(Clone, Copy, Debug)]
pub struct Elastic {
    /// Its particles.
    pub particles: [u32; 3],
    /// How much of each particle's position is in the warp and in the weft column [1/m].
    pub columns: [[f64; 3]; 2],
    /// `1 / (A k)` for warp, weft and shear [1/J].
    pub compliance: [f64; 3],
}

impl Elastic {
    /// From the particles' places in the flat cloth (u along the warp) and the area that they stand for [m²]. `None` without area.
    pub fn new(particles: [u32; 3], flat: [Vec2; 3], area: f64, stiffness: Stiffness) -> Option<Self> {
        let [a, b] = [flat[1] - flat[0], flat[2] - flat[0]];
        let determinant = a.perp(&b);
        if flat_area(&flat) <= 0.0 || area <= 0.0 {
            return None;
        }
        // Inverse of [a b], row by row: how u and v are made of the two edges.
        let (u, v) = ([b.y / determinant, -a.y / determinant], [-b.x / determinant, a.x / determinant]);
        let column = |[of_a, of_b]: [f64; 2]| [-of_a - of_b, of_a, of_b];
        let compliance = [stiffness.warp, stiffness.weft, stiffness.shear].map(|k| 1.0 / (area * k));
        Some(Elastic { particles, columns: [column(u), column(v)], compliance })
    }

    /// The three strains of a state.
    pub fn strains(&self, x: [Vec3; 3]) -> [f64; 3] {
        let [u, v] = self.columns.map(|column| combine(&column, &x));
        [u.norm() - 1.0, v.norm() - 1.0, u.dot(&v) / (u.norm() * v.norm())]
    }

    /// Energy of a state [J].
    pub fn energy(&self, x: [Vec3; 3]) -> f64 {
        self.strains(x).iter().zip(self.compliance).map(|(strain, compliance)| 0.5 * strain * strain / compliance).sum()
    }

    /// Move look-ahead positions as the three forces do in a step of length `h`; `k` are the inverse masses.
    #[inline]
    pub fn correct_position(&self, x: &mut [Vec3; 3], k: [f64; 3], h: f64) {
        for direction in 0..2 {
            let column = &self.columns[direction];
            let along = combine(column, x);
            let length = along.norm();
            if length > 0.0 {
                let gradients = column.map(|c| along * (c / length));
                pull(x, gradients, k, length - 1.0, self.compliance[direction] / (h * h));
            }
        }
        let [u, v] = self.columns.map(|column| combine(&column, x));
        let (u_length, v_length) = (u.norm(), v.norm());
        if u_length > 0.0 && v_length > 0.0 {
            let (u, v) = (u / u_length, v / v_length);
            let sine = u.dot(&v);
            let by_u = (v - u * sine) / u_length;
            let by_v = (u - v * sine) / v_length;
            let gradients = std::array::from_fn(|i| by_u * self.columns[0][i] + by_v * self.columns[1][i]);
            pull(x, gradients, k, sine, self.compliance[2] / (h * h));
        }
    }
}

fn combine(column: &[f64; 3], x: &[Vec3; 3]) -> Vec3 {
    x[0] * column[0] + x[1] * column[1] + x[2] * column[2]
}

/// One strain towards zero, against its compliance.
#[inline(always)]
fn pull(x: &mut [Vec3; 3], gradients: [Vec3; 3], k: [f64; 3], strain: f64, compliance: f64) {
    let weight: f64 = (0..3).map(|i| k[i] * gradients[i].norm_squared()).sum();
    let multiplier = strain / (weight + compliance);
    for i in 0..3 {
        x[i] -= gradients[i] * (k[i] * multiplier);
    }
}
