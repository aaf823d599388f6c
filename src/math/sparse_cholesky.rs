//! A sparse symmetric positive definite matrix, factorised once and solved often.
//!
//! Based on: faer's sparse Cholesky (supernodal or simplicial by its own rule, AMD ordering), one thread: two never paid on
//! the small supernodes of cloth, and one order of operations gives one result.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::LltRegularization;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMat, Triplet};
use faer::{Conj, MatMut, Par, Side, Spec};

use super::Vec3;

/// The factor of a matrix and the memory to solve with it.
pub struct SparseCholesky {
    symbolic: SymbolicCholesky<usize>,
    factor: Vec<f64>,
    scratch: MemBuffer,
    columns: Vec<f64>,
}

impl std::fmt::Debug for SparseCholesky {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SparseCholesky({} unknowns)", self.columns.len() / 3)
    }
}

impl SparseCholesky {
    /// Factorise the matrix whose lower triangle is the sum of `(row, column, value)` entries; entries above the diagonal are
    /// ignored. `None` when the matrix is not positive definite or holds something that is not a number.
    pub fn build(size: usize, entries: &[(u32, u32, f64)]) -> Option<Self> {
        let triplets: Vec<Triplet<usize, usize, f64>> = entries
            .iter()
            .filter(|(row, column, _)| row >= column)
            .map(|&(row, column, value)| Triplet::new(row as usize, column as usize, value))
            .chain((0..size).map(|i| Triplet::new(i, i, 0.0))) // the pattern has every diagonal entry
            .collect();
        let matrix = SparseColMat::<usize, f64>::try_new_from_triplets(size, size, &triplets).ok()?;
        let symbolic = factorize_symbolic_cholesky(
            matrix.symbolic(),
            Side::Lower,
            SymmetricOrdering::Amd,
            CholeskySymbolicParams::default(),
        )
        .ok()?;
        let mut factor = vec![0.0; symbolic.len_val()];
        let mut scratch = MemBuffer::new(
            symbolic
                .factorize_numeric_llt_scratch::<f64>(Par::Seq, Spec::default())
                .or(symbolic.solve_in_place_scratch::<f64>(3, Par::Seq)),
        );
        symbolic
            .factorize_numeric_llt(
                &mut factor,
                matrix.as_ref(),
                Side::Lower,
                LltRegularization::default(),
                Par::Seq,
                MemStack::new(&mut scratch),
                Spec::default(),
            )
            .ok()?;
        factor.iter().all(|x| x.is_finite()).then(|| SparseCholesky {
            symbolic,
            factor,
            scratch,
            columns: vec![0.0; 3 * size],
        })
    }

    /// Replace each of the three coordinate columns `b` by the solution of `A x = b`.
    pub fn solve(&mut self, values: &mut [Vec3]) {
        let size = values.len();
        for (i, value) in values.iter().enumerate() {
            for k in 0..3 {
                self.columns[k * size + i] = value[k];
            }
        }
        let columns = MatMut::from_column_major_slice_mut(&mut self.columns, size, 3);
        LltRef::<'_, usize, f64>::new(&self.symbolic, &self.factor).solve_in_place_with_conj(
            Conj::No,
            columns,
            Par::Seq,
            MemStack::new(&mut self.scratch),
        );
        for (i, value) in values.iter_mut().enumerate() {
            *value = Vec3::from_fn(|k, _| self.columns[k * size + i]);
        }
    }
}
