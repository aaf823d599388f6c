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
            for (k, &vertex) in corners.iter().enumerate() {
                let vertex = vertex as usize;
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

    /// From particles and weights of each vertex; the weights sum to one.
    pub fn from_rows(rows: Rows<(u32, f64)>) -> Self {
        ConformingMap { rows }
    }

    /// Every vertex is a particle.
    pub fn identity(vertex_count: usize) -> Self {
        ConformingMap { rows: (0..vertex_count as u32).map(|v| [(v, 1.0)]).collect() }
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

/// Added to the diagonal, relative to its largest entry, when rows depend on each other so closely that the matrix is not
/// definite in f64; the second try is off by as little in the result.
const SHIFTS: [f64; 2] = [0.0, 1e-9];

/// The factorised `B W Bᵀ` of some vertices: moves exactly those by exactly what is asked, whatever their neighbours want.
#[derive(Debug)]
pub struct WeightedReturn {
    vertices: Vec<u32>,
    factor: SparseCholesky,
    multipliers: Vec<Vec3>,
}

impl WeightedReturn {
    /// Factorise for the inverse masses `k`. `None` when it cannot be done in f64.
    pub fn build(map: &ConformingMap, k: &[f64], vertices: Vec<u32>) -> Option<Self> {
        // Columns of B, so that pairs of rows that share a particle are found directly.
        let mut columns: Vec<Vec<(u32, f64)>> = vec![Vec::new(); k.len()];
        for (row, &vertex) in vertices.iter().enumerate() {
            for &(particle, weight) in map.row(vertex as usize) {
                columns[particle as usize].push((row as u32, weight));
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
        for (row, &vertex) in vertices.iter().enumerate() {
            if map.inverse_mass(vertex as usize, k) <= 0.0 {
                entries.push((row as u32, row as u32, 1.0));
            }
        }
        let largest = vertices.iter().map(|&v| map.inverse_mass(v as usize, k)).fold(0.0, f64::max);
        let factor = SHIFTS.iter().find_map(|shift| {
            let shifted = (0..vertices.len() as u32).map(|row| (row, row, shift * largest));
            SparseCholesky::build(vertices.len(), &entries.iter().copied().chain(shifted).collect::<Vec<_>>())
        })?;
        Some(WeightedReturn { multipliers: vec![Vec3::zeros(); vertices.len()], vertices, factor })
    }

    /// Move the particles (or change their velocities) so that every vertex changes by exactly what `change` says; it gets the
    /// number in the list of vertices and the present value.
    pub fn apply(
        &mut self,
        map: &ConformingMap,
        k: &[f64],
        particles: &mut [Vec3],
        change: impl Fn(usize, Vec3) -> Vec3,
    ) {
        for (row, &vertex) in self.vertices.iter().enumerate() {
            self.multipliers[row] = change(row, map.vertex(vertex as usize, particles));
        }
        self.factor.solve(&mut self.multipliers);
        for (&vertex, multiplier) in self.vertices.iter().zip(&self.multipliers) {
            for &(particle, weight) in map.row(vertex as usize) {
                particles[particle as usize] += multiplier * (weight * k[particle as usize]);
            }
        }
    }

    /// What each of the vertices weighs when all of them are moved together: the sum of masses times changes is the momentum that `apply`
    /// gives, because `1ᵀ (B W Bᵀ)⁻¹ Δ` is.
    pub fn masses(&mut self) -> Vec<f64> {
        let mut masses = vec![Vec3::repeat(1.0); self.vertices.len()];
        self.factor.solve(&mut masses);
        masses.iter().map(|mass| mass.x).collect()
    }

    /// `(B W Bᵀ)⁻¹` of all the vertices, column by column: for devices, where a factor cannot be solved with in parallel.
    pub fn inverse(&mut self) -> Vec<f64> {
        let size = self.vertices.len();
        let mut inverse = vec![0.0; size * size];
        for (three, columns) in inverse.chunks_mut(3 * size.max(1)).enumerate() {
            let mut solved = vec![Vec3::zeros(); size];
            (0..columns.len() / size).for_each(|k| solved[3 * three + k][k] = 1.0);
            self.factor.solve(&mut solved);
            for (k, column) in columns.chunks_mut(size).enumerate() {
                column.iter_mut().zip(&solved).for_each(|(entry, solved)| *entry = solved[k]);
            }
        }
        inverse
    }
}
