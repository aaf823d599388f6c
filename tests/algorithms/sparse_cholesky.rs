//! The sparse factor against a dense one.

use kiln::math::Vec3;
use kiln::math::sparse_cholesky::SparseCholesky;
use nalgebra::DMatrix;

use crate::{Random, assert_near};

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
