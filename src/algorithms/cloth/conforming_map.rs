//! From midpoint particles to the garment's own vertices, and back.
//!
//! Based on: [Bender14 §4.3.5.1] (konformes Netz, matrix B); English and Bridson 2008
//! Idea:     three midpoints determine their triangle's corners; a vertex is the average over its triangles: `x = B xⁿᶜ`.
//! Deviates: the way back is weighted by the inverse masses, `B W Bᵀ λ = Δx`, `xⁿᶜ += W Bᵀ λ`, so that held particles stay and
//!           momentum is kept for unequal masses.
//! Test:     tests/algorithms/conforming_map.rs

use crate::math::Vec3;
use crate::math::rows::Rows;
use crate::math::sparse_cholesky::SparseCholesky;
use crate::mesh::topology::Topology;

/// The constant matrix B, row by row.
#[derive(Clone, Debug, Default)]
pub struct ConformingMap {
    rows: Rows<(u32, f64)>,
}

impl ConformingMap {
    /// Build from the connectivity alone. Every vertex has a triangle.
    pub fn build(vertex_count: usize, triangles: &[[u32; 3]], topology: &Topology) -> Self {
        let mut rows: Vec<Vec<(u32, f64)>> = vec![Vec::new(); vertex_count];
        let mut triangle_count = vec![0.0; vertex_count];
        for (corners, edges) in triangles.iter().zip(&topology.triangle_edges) {
            for k in 0..3 {
                let vertex = corners[k] as usize;
                triangle_count[vertex] += 1.0;
                // The midpoint opposite to a corner counts negative, the two beside it positive.
                rows[vertex].extend((0..3).map(|m| (edges[m], if m == k { -1.0 } else { 1.0 })));
            }
        }
        for (row, count) in rows.iter_mut().zip(triangle_count) {
            row.sort_unstable_by_key(|entry| entry.0);
            row.iter_mut().for_each(|entry| entry.1 /= count);
            // An inner edge comes once from each of its triangles.
            row.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                if same {
                    kept.1 += next.1;
                }
                same
            });
        }
        ConformingMap { rows: rows.into_iter().collect() }
    }

    /// How many vertices it gives.
    pub fn vertex_count(&self) -> usize {
        self.rows.len()
    }

    /// The particles and weights of one vertex; the weights sum to one.
    #[inline]
    pub fn row(&self, vertex: usize) -> &[(u32, f64)] {
        self.rows.row(vertex)
    }

    /// One vertex from the particles' values (positions or velocities).
    #[inline]
    pub fn vertex(&self, vertex: usize, particles: &[Vec3]) -> Vec3 {
        self.row(vertex)
            .iter()
            .fold(Vec3::zeros(), |sum, &(particle, weight)| sum + particles[particle as usize] * weight)
    }

    /// `B_v W B_vᵀ`: how far a unit impulse on a vertex moves it in a unit of time.
    pub fn inverse_mass(&self, vertex: usize, k: &[f64]) -> f64 {
        self.row(vertex).iter().map(|&(particle, weight)| weight * weight * k[particle as usize]).sum()
    }
}

/// The factorised `B W Bᵀ`.
#[derive(Debug)]
pub struct WeightedReturn {
    factor: SparseCholesky,
    multipliers: Vec<Vec3>,
}

impl WeightedReturn {
    /// Factorise for the inverse masses `k`. `None` when the vertices depend on each other too closely to be moved apart.
    pub fn build(map: &ConformingMap, k: &[f64]) -> Option<Self> {
        // Columns of B, so that pairs of rows that share a particle are found directly.
        let mut columns: Vec<Vec<(u32, f64)>> = vec![Vec::new(); k.len()];
        for vertex in 0..map.vertex_count() {
            for &(particle, weight) in map.row(vertex) {
                columns[particle as usize].push((vertex as u32, weight));
            }
        }
        let mut entries = Vec::new();
        for (column, k) in columns.iter().zip(k) {
            for &(i, weight_i) in column {
                for &(j, weight_j) in column.iter().filter(|(j, _)| *j <= i) {
                    entries.push((i, j, weight_i * k * weight_j));
                }
            }
        }
        // A vertex among held particles only cannot move; a unit row keeps the matrix definite.
        for vertex in 0..map.vertex_count() {
            if map.inverse_mass(vertex, k) <= 0.0 {
                entries.push((vertex as u32, vertex as u32, 1.0));
            }
        }
        let factor = SparseCholesky::build(map.vertex_count(), &entries)?;
        Some(WeightedReturn { factor, multipliers: Vec::new() })
    }

    /// Move the particles so that every vertex moves by exactly its displacement.
    pub fn apply(&mut self, map: &ConformingMap, k: &[f64], displacements: &[Vec3], particles: &mut [Vec3]) {
        self.multipliers.clear();
        self.multipliers.extend_from_slice(displacements);
        self.factor.solve(&mut self.multipliers);
        for vertex in 0..map.vertex_count() {
            for &(particle, weight) in map.row(vertex) {
                particles[particle as usize] += self.multipliers[vertex] * (weight * k[particle as usize]);
            }
        }
    }
}
