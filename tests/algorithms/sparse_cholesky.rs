//! The sparse factor against a dense one.

use kiln::math::Vec3;
use kiln::math::sparse_cholesky::{Layout, LowerPattern, SparseCholesky};
use nalgebra::DMatrix;

use crate::{Random, assert_close, assert_near};

#[test]
fn random_systems_are_solved_as_dense_ones_are() {
    let mut random = Random(100);
    for size in [1, 2, 5, 30, 150] {
        // A sum of squares of sparse rows and a little of the identity.
        let mut entries: Vec<(u32, u32, f64)> = (0..size as u32).map(|i| (i, i, 0.1)).collect();
        for _ in 0..4 * size {
            let row: Vec<(u32, f64)> = (0..3).map(|_| (random.below(size) as u32, random.within(-1.0, 1.0))).collect();
            for &(i, a) in &row {
                // Both triangles: the upper one must be ignored.
                entries.extend(row.iter().map(|&(j, b)| (i, j, a * b)));
            }
        }
        let mut dense = DMatrix::<f64>::zeros(size, size);
        entries.iter().for_each(|&(i, j, value)| dense[(i as usize, j as usize)] += value);
        let right = random.vectors(size);
        let expected = dense.lu().solve(&DMatrix::from_fn(size, 3, |i, k| right[i][k])).unwrap();
        let mut factor = SparseCholesky::build(size, &entries).unwrap();
        for _ in 0..2 {
            let mut solved = right.clone();
            factor.solve(&mut solved);
            for (i, value) in solved.iter().enumerate() {
                assert_near(*value, Vec3::from_fn(|k, _| expected[(i, k)]), 1e-9);
            }
        }
    }
}

#[test]
fn what_is_not_positive_definite_is_refused() {
    let cases: [&[(u32, u32, f64)]; 6] = [
        &[(0, 0, -1.0), (1, 1, 1.0)],
        &[(0, 0, 1.0), (1, 1, 1.0), (1, 0, 2.0)],
        &[(0, 0, 1.0), (1, 1, -1e-3)],
        &[(0, 0, 1.0), (1, 0, 1.0), (1, 1, 1.0)],
        &[(0, 0, f64::NAN), (1, 1, 1.0)],
        &[(0, 0, 1.0), (1, 1, 1.0), (7, 0, 1.0)],
    ];
    for entries in cases {
        assert!(SparseCholesky::build(2, entries).is_none(), "{entries:?}");
    }
}

/// A random positive definite matrix: its pattern, its values, and the same in full.
fn matrix(pattern: &LowerPattern, random: &mut Random) -> (Vec<f64>, DMatrix<f64>) {
    let size = pattern.size();
    let mut dense = DMatrix::<f64>::zeros(size, size);
    for column in 0..size {
        for &row in &pattern.rows[pattern.starts[column]..pattern.starts[column + 1]] {
            let value = random.within(-1.0, 1.0);
            (dense[(row, column)], dense[(column, row)]) = (value, value);
        }
    }
    // The diagonal outweighs the rest of its row.
    for i in 0..size {
        dense[(i, i)] = 0.0;
        dense[(i, i)] = 0.5 + dense.row(i).iter().map(|x| x.abs()).sum::<f64>();
    }
    let mut values = Vec::new();
    for column in 0..size {
        values.extend(
            pattern.rows[pattern.starts[column]..pattern.starts[column + 1]].iter().map(|&r| dense[(r, column)]),
        );
    }
    (values, dense)
}

fn pattern(size: usize, random: &mut Random) -> LowerPattern {
    let mut pattern = LowerPattern { starts: vec![0], rows: Vec::new() };
    for column in 0..size {
        let mut rows: Vec<usize> = (0..4).map(|_| column + random.below(size - column)).chain([column]).collect();
        rows.sort_unstable();
        rows.dedup();
        pattern.rows.extend(rows);
        pattern.starts.push(pattern.rows.len());
    }
    pattern
}

#[test]
fn a_factor_is_renewed_for_other_values_in_every_layout_and_in_both_precisions() {
    let mut random = Random(101);
    for size in [1, 3, 40, 200] {
        let pattern = pattern(size, &mut random);
        for layout in [Layout::Automatic, Layout::Blocks, Layout::Columns] {
            let mut exact = SparseCholesky::<f64>::analyse(pattern.clone(), layout, 2).unwrap();
            let mut coarse = SparseCholesky::<f32>::analyse(pattern.clone(), layout, 1).unwrap();
            for _ in 0..3 {
                let (values, dense) = matrix(&pattern, &mut random);
                let right: Vec<f64> = (0..2 * size).map(|_| random.within(-1.0, 1.0)).collect();
                let expected = dense.lu().solve(&DMatrix::from_column_slice(size, 2, &right)).unwrap();

                assert!(exact.factorize(&values));
                let mut solved = right.clone();
                exact.solve_columns(&mut solved);
                solved.iter().zip(expected.iter()).for_each(|(x, expected)| assert_close(*x, *expected, 1e-11));

                assert!(coarse.factorize(&values.iter().map(|x| *x as f32).collect::<Vec<_>>()));
                let mut solved: Vec<f32> = right[..size].iter().map(|x| *x as f32).collect();
                coarse.solve_columns(&mut solved);
                let pairs = solved.iter().zip(expected.iter());
                pairs.for_each(|(x, expected)| assert_close(f64::from(*x), *expected, 1e-4));
            }
            // After a matrix without a factor the next one is as good as ever.
            let (mut values, dense) = matrix(&pattern, &mut random);
            let good = values.clone();
            values[0] = -1.0;
            assert!(!exact.factorize(&values), "not positive definite");
            assert!(exact.factorize(&good));
            let mut solved = vec![1.0; size];
            exact.solve_columns(&mut solved);
            let residual = dense * DMatrix::from_column_slice(size, 1, &solved);
            residual.iter().for_each(|x| assert_close(*x, 1.0, 1e-12));
            assert!(exact.bytes() >= 8 * exact.factor_len() && exact.factor_len() >= size);
        }
    }
}
