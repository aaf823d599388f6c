//! A sparse symmetric positive definite matrix, factorised once or again and again, and solved often.
//!
//! Based on: faer's sparse Cholesky (AMD ordering), one thread: two never paid on the small supernodes of cloth, and one order of
//! operations gives one result.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::LltRegularization;
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMat, SparseColMatRef, SymbolicSparseColMatRef, Triplet};
use faer::traits::ComplexField;
use faer::{Conj, MatMut, Par, Side, Spec};

use super::Vec3;

/// The lower triangle of a sparse matrix, column by column, rows ascending; every diagonal entry is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LowerPattern {
    /// Where each column starts in `rows`, and where the last one ends.
    pub starts: Vec<usize>,
    /// Row numbers.
    pub rows: Vec<usize>,
}

impl LowerPattern {
    /// How many columns there are.
    pub fn size(&self) -> usize {
        self.starts.len() - 1
    }

    fn symbolic(&self) -> SymbolicSparseColMatRef<'_, usize> {
        SymbolicSparseColMatRef::new_checked(self.size(), self.size(), &self.starts, None, &self.rows)
    }
}

/// How the factor is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// As the library thinks best.
    Automatic,
    /// Dense blocks: faster to factorise.
    Blocks,
    /// Single columns: faster to solve with.
    Columns,
}

/// The factor of a matrix and the memory to solve with it.
pub struct SparseCholesky<T: ComplexField = f64> {
    pattern: LowerPattern,
    symbolic: SymbolicCholesky<usize>,
    factor: Vec<T>,
    scratch: MemBuffer,
    columns: Vec<T>,
}

impl<T: ComplexField> std::fmt::Debug for SparseCholesky<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SparseCholesky({} unknowns)", self.pattern.size())
    }
}

impl<T: ComplexField> SparseCholesky<T> {
    /// Everything that does not depend on the values. `columns` right-hand sides are solved at once.
    pub fn analyse(pattern: LowerPattern, layout: Layout, columns: usize) -> Option<Self> {
        let threshold = match layout {
            Layout::Automatic => SupernodalThreshold::default(),
            Layout::Blocks => SupernodalThreshold::FORCE_SUPERNODAL,
            Layout::Columns => SupernodalThreshold::FORCE_SIMPLICIAL,
        };
        let parameters =
            CholeskySymbolicParams { supernodal_flop_ratio_threshold: threshold, ..CholeskySymbolicParams::default() };
        let symbolic =
            factorize_symbolic_cholesky(pattern.symbolic(), Side::Lower, SymmetricOrdering::Amd, parameters).ok()?;
        let scratch = MemBuffer::new(
            symbolic
                .factorize_numeric_llt_scratch::<T>(Par::Seq, Spec::default())
                .or(symbolic.solve_in_place_scratch::<T>(columns, Par::Seq)),
        );
        let factor = (0..symbolic.len_val()).map(|_| faer::traits::math_utils::zero()).collect();
        Some(SparseCholesky { pattern, symbolic, factor, scratch, columns: Vec::new() })
    }

    /// Factorise for these values of the pattern. False when the matrix is not positive definite.
    pub fn factorize(&mut self, values: &[T]) -> bool {
        let matrix = SparseColMatRef::new(self.pattern.symbolic(), values);
        self.symbolic
            .factorize_numeric_llt(
                &mut self.factor,
                matrix,
                Side::Lower,
                LltRegularization::default(),
                Par::Seq,
                MemStack::new(&mut self.scratch),
                Spec::default(),
            )
            .is_ok()
    }

    /// Replace right-hand sides, one column after the other, by the solutions.
    pub fn solve_columns(&mut self, right: &mut [T]) {
        let size = self.pattern.size();
        let columns = MatMut::from_column_major_slice_mut(right, size, right.len().checked_div(size).unwrap_or(0));
        LltRef::<'_, usize, T>::new(&self.symbolic, &self.factor).solve_in_place_with_conj(
            Conj::No,
            columns,
            Par::Seq,
            MemStack::new(&mut self.scratch),
        );
    }

    /// Numbers in the factor.
    pub fn factor_len(&self) -> usize {
        self.factor.len()
    }

    /// Memory that it holds [B].
    pub fn bytes(&self) -> usize {
        std::mem::size_of_val(self.factor.as_slice())
            + std::mem::size_of_val(self.pattern.rows.as_slice())
            + std::mem::size_of_val(self.pattern.starts.as_slice())
            + self.scratch.len()
            + std::mem::size_of_val(self.columns.as_slice())
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
        let pattern = LowerPattern { starts: matrix.col_ptr().to_vec(), rows: matrix.row_idx().to_vec() };
        let mut factor = Self::analyse(pattern, Layout::Automatic, 3)?;
        (factor.factorize(matrix.val()) && factor.factor.iter().all(|x| x.is_finite())).then_some(factor)
    }

    /// Replace each of the three coordinate columns `b` by the solution of `A x = b`.
    pub fn solve(&mut self, values: &mut [Vec3]) {
        let size = values.len();
        let mut columns = std::mem::take(&mut self.columns);
        columns.resize(3 * size, 0.0);
        for (i, value) in values.iter().enumerate() {
            for k in 0..3 {
                columns[k * size + i] = value[k];
            }
        }
        self.solve_columns(&mut columns);
        for (i, value) in values.iter_mut().enumerate() {
            *value = Vec3::from_fn(|k, _| columns[k * size + i]);
        }
        self.columns = columns;
    }
}
