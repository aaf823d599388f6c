//! Resistance to bending: energies with a constant matrix, for each of the cloth models.
//!
//! Based on: [Bender14 §4.3.5.1]; Wardetzky et al. 2007 (isometric quadratic bending); [Bender14 §4.3.1] for threads
//! Idea:     a triangle's three midpoints (or corners) fix its plane; across an edge, the two conormal derivatives add up to zero when the
//!           pair is flat: `K x = -|e| (n0 + n1)`, energy `k/2 * c/(A0 + A1) |K x|²`. All coefficients are constant.
//! Deviates: on midpoints it is measured on each triangle's own corners, so that it also ties triangles which the averaged
//!           vertices cannot see, and the jump of the derivative along the edge is penalised with the same stiffness (it is zero
//!           on a continuous surface, so it resists gaps between triangles, not bending). c is 1.5 there and 1 on vertices, where
//!           the paper has 3: so that a sheet bent to a cylinder holds the energy `k/2 ∫ H² dA` that the stiffness k stands for.
//!           Threads have second differences where the thesis has springs between second neighbours: those have no stiffness at
//!           all at small angles, and one that depends on the resolution at large ones.
//! Test:     tests/algorithms/bending.rs

use super::nonconforming::flat_area;
use crate::math::noise::value_noise;
use crate::math::rows::Rows;
use crate::math::{Vec2, Vec3};
use crate::mesh::topology::Topology;

/// Enough for the highest frequencies of a mesh, which lie close together.
const POWER_ITERATIONS: u32 = 60;
/// The iteration comes from below. With this margin the result is 1 to 1.2 times the true value on the test's meshes, where the dense
/// eigenvalues are known.
const POWER_MARGIN: f64 = 1.2;

/// The c above: found by bending sheets to cylinders (see the test), right for roundish triangles.
const MIDPOINT_FACTOR: f64 = 1.5;
/// The same on vertices: 0.98 to 1.16 times the continuous energy on equilateral triangles and discs, 1 to 1.5 by direction on
/// squares with diagonals.
const VERTEX_FACTOR: f64 = 1.0;

/// One linear measure of up to five particles and its weight.
#[derive(Clone, Copy, Debug)]
pub struct BendRow {
    /// On midpoints the shared one, then two of each triangle; fewer ones are filled up with the first.
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

/// Two neighbouring triangles at an edge.
struct Hinge {
    edge: usize,
    sides: [Side; 2],
    area: f64,
}

impl Bending {
    /// Rows over midpoints, for triangles that are `flat` at rest; `factor` is that of an edge on the stiffness. Where more than
    /// two triangles meet in an edge, consecutive ones are tied.
    pub fn of_midpoints(
        flat: &[[Vec2; 3]],
        triangles: &[[u32; 3]],
        topology: &Topology,
        factor: impl Fn(usize) -> f64,
    ) -> Self {
        let mut rows = Vec::new();
        for Hinge { edge, sides: [p, q], area } in hinges(flat, triangles, topology) {
            let weight = MIDPOINT_FACTOR * factor(edge) / area;
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
        Self::of_rows(rows, topology.edges.len())
    }

    /// Rows over vertices, for triangles that are `flat` at rest; as above.
    pub fn of_vertices(
        vertex_count: usize,
        flat: &[[Vec2; 3]],
        triangles: &[[u32; 3]],
        topology: &Topology,
        factor: impl Fn(usize) -> f64,
    ) -> Self {
        let row = |Hinge { edge, sides: [p, q], area }: Hinge| {
            let [x0, x1] = topology.edges[edge];
            let ([c01, c03], [c02, c04]) = (p.cotangents, q.cotangents);
            BendRow {
                particles: [x0, x1, p.opposite, q.opposite, x0],
                coefficients: [c03 + c04, c01 + c02, -c01 - c03, -c02 - c04, 0.0],
                weight: VERTEX_FACTOR * factor(edge) / area,
            }
        };
        Self::of_rows(hinges(flat, triangles, topology).map(row).collect(), vertex_count)
    }

    /// Rows over the vertices of threads: each is the second derivative at the middle of three vertices in a row, with the two
    /// lengths between them, and the area that bends with it.
    pub fn of_threads(vertex_count: usize, bends: &[ThreadBend]) -> Self {
        let row = |bend: &ThreadBend| {
            let [before, after] = bend.lengths.map(|length| 2.0 / (length * (bend.lengths[0] + bend.lengths[1])));
            let [a, b, c] = bend.vertices;
            BendRow {
                particles: [a, b, c, a, a],
                coefficients: [before, -before - after, after, 0.0, 0.0],
                weight: bend.area,
            }
        };
        Self::of_rows(bends.iter().map(row).collect(), vertex_count)
    }

    /// From rows over so many particles.
    pub fn of_rows(rows: Vec<BendRow>, particle_count: usize) -> Self {
        let mut entries: Vec<Vec<(u32, f64)>> = vec![Vec::new(); particle_count];
        for (number, row) in rows.iter().enumerate() {
            for (particle, coefficient) in row.particles.iter().zip(row.coefficients) {
                if coefficient != 0.0 {
                    entries[*particle as usize].push((number as u32, coefficient * row.weight));
                }
            }
        }
        Bending { rows, gather: entries.into_iter().collect() }
    }

    /// The rows that a particle is in, as `(row, coefficient * weight)`.
    pub fn rows_of(&self, particle: usize) -> &[(u32, f64)] {
        self.gather.row(particle)
    }

    /// `(Q x)_i` from the measured rows: the force on a particle is the negative of it times the stiffness.
    #[inline(always)]
    pub fn gradient(&self, particle: usize, measured: &[Vec3]) -> Vec3 {
        self.rows_of(particle)
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

/// Three vertices in a row on a thread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThreadBend {
    /// Before, middle, after.
    pub vertices: [u32; 3],
    /// Lengths between them [m].
    pub lengths: [f64; 2],
    /// Area that bends with the thread, times the factor on the stiffness [m²].
    pub area: f64,
}

/// All pairs of neighbouring triangles, edge by edge.
fn hinges<'a>(
    flat: &'a [[Vec2; 3]],
    triangles: &'a [[u32; 3]],
    topology: &'a Topology,
) -> impl Iterator<Item = Hinge> + 'a {
    topology.edge_triangles.iter().enumerate().flat_map(move |(edge, meeting)| {
        meeting.windows(2).map(move |pair| {
            let sides = [pair[0], pair[1]].map(|t| Side::new(t as usize, edge as u32, flat, triangles, topology));
            Hinge { edge, area: sides[0].area + sides[1].area, sides }
        })
    })
}

/// One triangle at an edge.
struct Side {
    area: f64,
    /// Cotangents of the angles at the edge's two ends.
    cotangents: [f64; 2],
    /// The midpoints opposite to the edge's first and second end.
    beside: [u32; 2],
    /// The vertex opposite to the edge.
    opposite: u32,
}

impl Side {
    fn new(triangle: usize, edge: u32, flat: &[[Vec2; 3]], triangles: &[[u32; 3]], topology: &Topology) -> Self {
        let corners = triangles[triangle];
        let corner_of = |vertex: u32| corners.iter().position(|&c| c == vertex).unwrap_or_default();
        let at = topology.edges[edge as usize].map(corner_of);
        let point = |k: usize| flat[triangle][k % 3];
        let cotangent = |k: usize| {
            let (a, b) = (point(k + 1) - point(k), point(k + 2) - point(k));
            a.dot(&b) / a.perp(&b).abs()
        };
        Side {
            area: flat_area(&flat[triangle]),
            cotangents: at.map(cotangent),
            beside: at.map(|k| topology.triangle_edges[triangle][k]),
            opposite: corners[3 - at[0] - at[1]],
        }
    }
}
