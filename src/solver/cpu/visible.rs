//! The promise where it is seen: no edge of the written mesh is longer than allowed, also where a vertex is the mean of triangles
//! that fold against each other.
//!
//! Idea: at a frame's end single edges that are longer than allowed are shortened to what is allowed, no further, and nothing else is asked:
//! projections on sets that have a common point end in one. Midpoints have `|B_i x - B_j x| ≤ (1 + limit) d0` as a constraint in
//! each sweep besides, for the few edges that are near it, so that little is left for the end.

use super::independent::sweep;
use crate::algorithms::cloth::distance::{Distance, Keeps, stretch};
use crate::algorithms::parallel::independent_groups::IndependentPairs;
use crate::math::Vec3;
use crate::math::rows::Rows;
use crate::model::{ClothModel, ClothState};

/// Part of the allowed stretch that the constraint leaves; the rest is for what a step leaves behind.
const AIM: f64 = 0.5;
/// Part of the allowed stretch from which on an edge is watched.
const WATCHED: f64 = 0.2;
/// Largest part of an edge that one correction removes.
const LARGEST_CORRECTION: f64 = 0.3;

/// Rows over midpoints for the edges of the written mesh.
#[derive(Debug)]
pub struct VisibleRows {
    /// Coefficients of second end minus first.
    rows: Rows<(u32, f64)>,
    /// `Σ c² k`
    inverse_mass: Vec<f64>,
    /// `1 / ((1 + limit) d0)²`
    inverse_squared: Vec<f64>,
    /// Edges that are near their limit, ascending.
    watched: Vec<u32>,
}

impl VisibleRows {
    /// For a cloth on midpoints.
    pub fn build(cloth: &ClothModel) -> Self {
        let row = |&[a, b]: &[u32; 2]| {
            let mut row = std::collections::BTreeMap::new();
            for (vertex, sign) in [(a, -1.0), (b, 1.0)] {
                for &(particle, weight) in cloth.map.row(vertex as usize) {
                    *row.entry(particle).or_insert(0.0) += sign * weight;
                }
            }
            row
        };
        let rows: Rows<(u32, f64)> = cloth.visible_edges.iter().map(row).collect();
        // The limit of an elastic fabric is in its constraints.
        let aim = if cloth.elastic.is_empty() { AIM } else { 1.0 };
        let longest = |(rest, limit): (&f64, &f64)| 1.0 / (rest * (1.0 + aim * limit)).powi(2);
        VisibleRows {
            inverse_mass: rows.iter().map(|row| row.iter().map(|&(p, c)| c * c * cloth.k[p as usize]).sum()).collect(),
            inverse_squared: cloth.visible_rest.iter().zip(&cloth.visible_limits).map(longest).collect(),
            rows,
            watched: Vec::new(),
        }
    }

    /// See which edges are near their limit.
    pub fn look(&mut self, cloth: &ClothModel, moving: &ClothState) {
        self.watched.clear();
        for edge in 0..self.rows.len() {
            let d = self.measure(edge, &moving.x);
            let longest_squared = (cloth.visible_rest[edge] * (1.0 + WATCHED * cloth.visible_limits[edge])).powi(2);
            if self.inverse_mass[edge] > 0.0 && d.norm_squared() > longest_squared {
                self.watched.push(edge as u32);
            }
        }
    }

    /// Correct all watched edges once.
    pub fn sweep(&self, cloth: &ClothModel, particles: &mut [Vec3]) {
        for &edge in &self.watched {
            let edge = edge as usize;
            let d = self.measure(edge, particles);
            let strain = d.norm_squared() * self.inverse_squared[edge] - 1.0;
            if strain > 0.0 {
                let impulse = d * (stretch(strain).min(LARGEST_CORRECTION) / self.inverse_mass[edge]);
                for &(particle, coefficient) in self.rows.row(edge) {
                    particles[particle as usize] -= impulse * (coefficient * cloth.k[particle as usize]);
                }
            }
        }
    }

    fn measure(&self, edge: usize, particles: &[Vec3]) -> Vec3 {
        self.rows.row(edge).iter().fold(Vec3::zeros(), |sum, &(p, c)| sum + particles[p as usize] * c)
    }
}

/// Upper limits on the edges between vertices as they are written.
#[derive(Debug, Default)]
pub struct VisibleLimits {
    pairs: IndependentPairs,
    distances: Vec<Distance>,
}

impl VisibleLimits {
    /// For a cloth; edges may use this part of their allowed stretch. Pinned vertices stay.
    pub fn build(cloth: &ClothModel, part: f64) -> Self {
        let k = |v: u32| if cloth.is_led[v as usize] { 0.0 } else { cloth.vertex_k[v as usize] };
        let free: Vec<usize> =
            (0..cloth.visible_edges.len()).filter(|&e| cloth.visible_edges[e].iter().any(|&v| k(v) > 0.0)).collect();
        let edges: Vec<[u32; 2]> = free.iter().map(|&e| cloth.visible_edges[e]).collect();
        let Some((pairs, order)) = IndependentPairs::arrange(cloth.map.vertex_count(), &edges) else {
            return VisibleLimits::default();
        };
        let distance = |&row: &u32| {
            let edge = free[row as usize];
            let [a, b] = cloth.visible_edges[edge];
            let longest = cloth.visible_rest[edge] * (1.0 + part * cloth.visible_limits[edge]);
            Distance::new(longest, k(a), k(b), Keeps::AtMost)
        };
        VisibleLimits { distances: order.iter().map(distance).collect(), pairs }
    }

    /// Shorten every edge that is too long, once.
    pub fn sweep(&self, vertices: &mut [Vec3]) {
        sweep(&self.pairs, vertices, |row, _, a, b| self.distances[row].correct_position(a, b));
    }
}
