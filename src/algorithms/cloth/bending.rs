//! Resistance to bending on the midpoint particles.
//!
//! Based on: [Bender14 §4.3.5.1]; Wardetzky et al. 2007 (isometric quadratic bending on Crouzeix-Raviart elements)
//! Idea:     each triangle's three midpoints fix its plane; across an edge, the two conormal derivatives add up to zero when the
//!           pair is flat: `K x = -|e| (n0 + n1)`, energy `k/2 * c/(A0 + A1) |K x|²`. All coefficients are constant.
//! Deviates: measured on each triangle's own corners, so that it also ties triangles which the averaged vertices cannot see;
//!           and the jump of the derivative along the edge is penalised with the same stiffness (it is zero on a continuous
//!           surface, so it resists gaps between triangles, not bending); and c is 1.5 where the paper has 3: with 3 a sheet bent
//!           to a cylinder, its particles settled, holds twice the energy `k/2 ∫ H² dA` that the stiffness k stands for.
//! Test:     tests/algorithms/bending.rs

use crate::math::Vec3;
use crate::math::noise::value_noise;
use crate::math::rows::Rows;
use crate::mesh::measures::triangle_area;
use crate::mesh::topology::Topology;

/// Enough for the highest frequencies of a mesh, which lie close together.
const POWER_ITERATIONS: u32 = 60;
/// The iteration comes from below. With this margin the result is 1 to 1.2 times the true value on the test's meshes, where the dense
/// eigenvalues are known.
const POWER_MARGIN: f64 = 1.2;

/// The c above: found by bending sheets to cylinders (see the test), right for roundish triangles.
const ENERGY_FACTOR: f64 = 1.5;

/// One linear measure of five particles and its weight.
#[derive(Clone, Copy, Debug)]
pub struct BendRow {
    /// The shared midpoint, then two of each triangle.
    pub particles: [u32; 5],
    /// The coefficient of each; they sum to zero.
    pub coefficients: [f64; 5],
    /// `c / (A0 + A1)` [1/m²]
    pub weight: f64,
}

impl BendRow {
    /// `K x`
    #[inline(always)]
    pub fn measure(&self, x: &[Vec3]) -> Vec3 {
        (0..5).fold(Vec3::zeros(), |sum, i| sum + x[self.particles[i] as usize] * self.coefficients[i])
    }
}

/// All bending of a cloth, for a stiffness of 1 N m.
#[derive(Clone, Debug, Default)]
pub struct Bending {
    /// Two rows an inner edge: across it and along it.
    pub rows: Vec<BendRow>,
    /// Per particle the rows it is in, as `(row, coefficient * weight)`.
    gather: Rows<(u32, f64)>,
}

impl Bending {
    /// Build from the mesh at rest. Where more than two triangles meet in an edge, consecutive ones are tied.
    pub fn build(positions: &[Vec3], triangles: &[[u32; 3]], topology: &Topology) -> Self {
        let mut rows = Vec::new();
        for (edge, meeting) in topology.edge_triangles.iter().enumerate() {
            for pair in meeting.windows(2) {
                let sides =
                    [pair[0], pair[1]].map(|t| Side::new(t as usize, edge as u32, positions, triangles, topology));
                let weight = ENERGY_FACTOR / (sides[0].area + sides[1].area);
                let [p, q] = sides;
                let particles = [edge as u32, p.beside[0], p.beside[1], q.beside[0], q.beside[1]];
                // K of a triangle on its own midpoints: 2 ((c0 + c1) m_e - c1 m_0 - c0 m_1), with c the cotangents at the
                // edge's ends and m_i the midpoint opposite to end i.
                let across = [
                    2.0 * (p.cotangents[0] + p.cotangents[1] + q.cotangents[0] + q.cotangents[1]),
                    -2.0 * p.cotangents[1],
                    -2.0 * p.cotangents[0],
                    -2.0 * q.cotangents[1],
                    -2.0 * q.cotangents[0],
                ];
                // The edge vector as each triangle sees it: 2 (m_0 - m_1).
                let along = [0.0, 2.0, -2.0, -2.0, 2.0];
                rows.extend([across, along].map(|coefficients| BendRow { particles, coefficients, weight }));
            }
        }
        let mut entries: Vec<Vec<(u32, f64)>> = vec![Vec::new(); topology.edges.len()];
        for (number, row) in rows.iter().enumerate() {
            for (particle, coefficient) in row.particles.iter().zip(row.coefficients) {
                if coefficient != 0.0 {
                    entries[*particle as usize].push((number as u32, coefficient * row.weight));
                }
            }
        }
        Bending { rows, gather: entries.into_iter().collect() }
    }

    /// `(Q x)_i` from the measured rows: the force on a particle is the negative of it times the stiffness.
    #[inline(always)]
    pub fn gradient(&self, particle: usize, measured: &[Vec3]) -> Vec3 {
        self.gather
            .row(particle)
            .iter()
            .fold(Vec3::zeros(), |sum, &(row, coefficient)| sum + measured[row as usize] * coefficient)
    }

    /// The square of the highest frequency of free particles for 1 N m [1/s²], or a little more: the largest eigenvalue of `W Q`
    /// by power iteration, with a margin for what the iteration has not reached, but never above Gershgorin's bound.
    pub fn highest_frequency_squared(&self, k: &[f64]) -> f64 {
        let mut x: Vec<Vec3> =
            (0..k.len()).map(|i| Vec3::repeat(value_noise(0, [i as f64 * 0.9, 0.5, 0.5, 0.5]))).collect();
        let mut measured = vec![Vec3::zeros(); self.rows.len()];
        let mut eigenvalue = 0.0;
        for _ in 0..POWER_ITERATIONS {
            for (measured, row) in measured.iter_mut().zip(&self.rows) {
                *measured = row.measure(&x);
            }
            let norm = x.iter().map(|x| x.norm_squared()).sum::<f64>().sqrt();
            for (i, x) in x.iter_mut().enumerate() {
                *x = self.gradient(i, &measured) * k[i];
            }
            let grown = x.iter().map(|x| x.norm_squared()).sum::<f64>().sqrt();
            if grown.is_nan() || grown <= 0.0 {
                break;
            }
            eigenvalue = grown / norm;
            x.iter_mut().for_each(|x| *x /= grown);
        }
        (POWER_MARGIN * eigenvalue).min(self.gershgorin_bound(k))
    }

    /// No eigenvalue of `W Q` is above the largest sum of a row's absolute values.
    fn gershgorin_bound(&self, k: &[f64]) -> f64 {
        let row_sum = |particle: usize| -> f64 {
            let of_row = |&(row, coefficient): &(u32, f64)| {
                coefficient.abs() * self.rows[row as usize].coefficients.iter().map(|c| c.abs()).sum::<f64>()
            };
            self.gather.row(particle).iter().map(of_row).sum()
        };
        (0..k.len()).map(|particle| k[particle] * row_sum(particle)).fold(0.0, f64::max)
    }
}

/// One triangle at an edge.
struct Side {
    area: f64,
    /// Cotangents of the angles at the edge's two ends.
    cotangents: [f64; 2],
    /// The midpoints opposite to the edge's first and second end.
    beside: [u32; 2],
}

impl Side {
    fn new(triangle: usize, edge: u32, positions: &[Vec3], triangles: &[[u32; 3]], topology: &Topology) -> Self {
        let corners = triangles[triangle];
        let ends = topology.edges[edge as usize];
        let corner_of = |vertex: u32| corners.iter().position(|&c| c == vertex).unwrap_or_default();
        let at = ends.map(corner_of);
        let point = |k: usize| positions[corners[k] as usize];
        let cotangent = |k: usize| {
            let (a, b) = (point((k + 1) % 3) - point(k), point((k + 2) % 3) - point(k));
            a.dot(&b) / a.cross(&b).norm()
        };
        Side {
            area: triangle_area(corners.map(|v| positions[v as usize])),
            cotangents: at.map(cotangent),
            beside: at.map(|k| topology.triangle_edges[triangle][k]),
        }
    }
}
