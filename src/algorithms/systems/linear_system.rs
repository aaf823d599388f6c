//! All constraints of a cloth as one linear system for their multipliers.
//!
//! Based on: [Bender14 §4.3.3] (LGS-Verfahren), eqs. 4.4, 4.5
//! Idea:     row i measures a weighted sum of particles along a unit direction nᵢ. The entry between two rows is
//!           `(nᵢ · nⱼ) Σ cᵢₚ kₚ cⱼₚ`, and the sum is a constant of the model: assembly is one dot product an entry, from a recipe made
//!           once.
//! Deviates: pinned vertices of the midpoint model are rows like any other (three fixed directions each); a row that is slack has no
//!           direction, which takes it out of the system without changing its pattern; and a small part of the diagonal is added,
//!           because flat sheets with boundary rows have rows that depend on each other.
//! Test:     tests/algorithms/linear_system.rs

use crate::math::Vec3;
use crate::math::rows::Rows;
use crate::math::sparse_cholesky::LowerPattern;

/// Added to the diagonal, relative to it. Rows depend on each other on every straight line between two pins, on flat sheets with boundary rows
/// and wherever three edges a vertex are taut; with a thousandth of that (1e-6) the tensions that they share without meaning pumped 26 % of the
/// energy of its swing into a sheet of threads. What it leaves of an error the next solve takes.
pub const REGULARISATION: f64 = 1e-3;

/// The constant part of the system.
#[derive(Clone, Debug)]
pub struct LinearSystem {
    /// For each row its particles and their coefficients.
    rows: Rows<(u32, f64)>,
    /// Inverse masses [1/kg].
    k: Vec<f64>,
    pattern: LowerPattern,
    /// `Σ cᵢₚ kₚ cⱼₚ` for each entry of the pattern.
    recipe: Vec<f64>,
}

impl LinearSystem {
    /// Build from rows of particles and coefficients, for the inverse masses `k`.
    pub fn build(rows: Rows<(u32, f64)>, k: &[f64]) -> Self {
        // Columns, so that rows that share a particle are found directly.
        let mut columns: Vec<Vec<(u32, f64)>> = vec![Vec::new(); k.len()];
        for (number, row) in rows.iter().enumerate() {
            for &(particle, coefficient) in row.iter().filter(|entry| k[entry.0 as usize] > 0.0) {
                columns[particle as usize].push((number as u32, coefficient));
            }
        }
        let mut pattern = LowerPattern { starts: vec![0], rows: Vec::new() };
        let mut recipe = Vec::new();
        let mut sum = vec![0.0; rows.len()];
        let mut found: Vec<u32> = Vec::new();
        for (column, row) in rows.iter().enumerate() {
            found.clear();
            found.push(column as u32);
            for &(particle, coefficient) in row {
                let k = k[particle as usize];
                for &(other, of_other) in &columns[particle as usize] {
                    if other as usize >= column {
                        sum[other as usize] += coefficient * k * of_other;
                        found.push(other);
                    }
                }
            }
            found.sort_unstable();
            found.dedup();
            for &other in &found {
                pattern.rows.push(other as usize);
                recipe.push(std::mem::take(&mut sum[other as usize]));
            }
            pattern.starts.push(pattern.rows.len());
        }
        LinearSystem { rows, k: k.to_vec(), pattern, recipe }
    }

    /// Where the entries are.
    pub fn pattern(&self) -> &LowerPattern {
        &self.pattern
    }

    /// `Σ cᵢₚ kₚ cⱼₚ` for each of them: what is left of an entry are the directions of its rows.
    pub fn recipe(&self) -> &[f64] {
        &self.recipe
    }

    /// How many rows there are.
    pub fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// Memory of the constant part [B].
    pub fn bytes(&self) -> usize {
        16 * self.recipe.len() + 8 * self.pattern.starts.len() + 16 * 2 * self.rows.len() + 8 * self.k.len()
    }

    /// The values of the lower triangle for these directions, in the order of the pattern.
    pub fn assemble(&self, directions: &[Vec3], mut put: impl FnMut(usize, f64)) {
        for column in 0..self.row_count() {
            let n = directions[column];
            let entries = self.pattern.starts[column]..self.pattern.starts[column + 1];
            put(entries.start, self.diagonal(column) * (1.0 + REGULARISATION));
            for entry in entries.skip(1) {
                put(entry, self.recipe[entry] * n.dot(&directions[self.pattern.rows[entry]]));
            }
        }
    }

    /// Diagonal entry of a row: the same for every unit direction. A row without direction stands alone with it, so that a factor from
    /// before it went slack still has the right size; a row between held particles has 1.
    pub fn diagonal(&self, row: usize) -> f64 {
        let diagonal = self.recipe[self.pattern.starts[row]];
        if diagonal > 0.0 { diagonal } else { 1.0 }
    }

    /// What one row measures of some values.
    #[inline]
    pub fn measure(&self, row: usize, values: &[Vec3]) -> Vec3 {
        self.rows.row(row).iter().fold(Vec3::zeros(), |sum, &(p, c)| sum + values[p as usize] * c)
    }

    /// `values -= W Cᵀ λ`
    pub fn apply(&self, directions: &[Vec3], multipliers: &[f64], values: &mut [Vec3]) {
        for (row, multiplier) in multipliers.iter().enumerate().filter(|(_, multiplier)| **multiplier != 0.0) {
            let impulse = directions[row] * *multiplier;
            for &(particle, coefficient) in self.rows.row(row) {
                values[particle as usize] -= impulse * (coefficient * self.k[particle as usize]);
            }
        }
    }

    /// `out = (C W Cᵀ + ε D) λ` without the matrix; `scratch` has one entry a particle.
    pub fn multiply(&self, directions: &[Vec3], multipliers: &[f64], scratch: &mut [Vec3], out: &mut [f64]) {
        scratch.fill(Vec3::zeros());
        self.apply(directions, multipliers, scratch);
        for (row, out) in out.iter_mut().enumerate() {
            let n = directions[row];
            // A row without direction has its diagonal entry alone; one between held particles measures nothing.
            let is_alone = n == Vec3::zeros() || self.recipe[self.pattern.starts[row]] <= 0.0;
            let own = if is_alone { 1.0 + REGULARISATION } else { REGULARISATION };
            *out = own * self.diagonal(row) * multipliers[row] - n.dot(&self.measure(row, scratch));
        }
    }
}
