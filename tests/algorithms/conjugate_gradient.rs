//! Conjugate gradients against a dense solve.

use kiln::algorithms::systems::conjugate_gradient::{Scratch, solve};
use nalgebra::{DMatrix, DVector};

use crate::Random;

/// Symmetric, positive definite, condition number below 10⁴.
fn matrix(size: usize, random: &mut Random) -> DMatrix<f64> {
    let root = DMatrix::from_fn(size, size, |_, _| random.within(-1.0, 1.0));
    let mut matrix = &root * root.transpose();
    (0..size).for_each(|i| matrix[(i, i)] += 0.01 * size as f64);
    matrix
}

fn vector(size: usize, random: &mut Random) -> Vec<f64> {
    (0..size).map(|_| random.within(-1.0, 1.0)).collect()
}

/// Iterations that it took, with or without the diagonal as preconditioner, and the residual's norm relative to the right side.
fn run(
    matrix: &DMatrix<f64>,
    right: &[f64],
    x: &mut [f64],
    tolerance: f64,
    most: u32,
    is_preconditioned: bool,
) -> (u32, f64) {
    let multiply = |x: &[f64], out: &mut [f64]| {
        out.copy_from_slice((matrix * DVector::from_column_slice(x)).as_slice());
    };
    let precondition = |r: &mut Vec<f64>| {
        if is_preconditioned {
            r.iter_mut().enumerate().for_each(|(i, r)| *r /= matrix[(i, i)]);
        }
    };
    // Memory that held something else before.
    let mut scratch = Scratch::default();
    solve(&[1.0; 3], &mut [5.0; 3], 0.0, 1, &mut scratch, |x, out| out.copy_from_slice(x), |_| ());
    let count = solve(right, x, tolerance, most, &mut scratch, multiply, precondition);
    let right = DVector::from_column_slice(right);
    let residual = &right - matrix * DVector::from_column_slice(x);
    (count, residual.norm() / right.norm())
}

#[test]
fn it_finds_what_a_dense_solve_finds() {
    let mut random = Random(110);
    for size in [1, 2, 10, 60] {
        let matrix = matrix(size, &mut random);
        let right = vector(size, &mut random);
        let expected = matrix.clone().lu().solve(&DVector::from_column_slice(&right)).unwrap();
        for is_preconditioned in [false, true] {
            let mut x = vector(size, &mut random);
            let (count, _) = run(&matrix, &right, &mut x, 1e-12, 500, is_preconditioned);
            assert!(count < 500, "{count} iterations for {size} unknowns");
            assert!((DVector::from_column_slice(&x) - &expected).amax() < 1e-9 * expected.amax());
        }
    }
}

#[test]
fn a_good_start_ends_at_once() {
    let mut random = Random(111);
    let matrix = matrix(40, &mut random);
    let right = vector(40, &mut random);
    let mut x = vec![0.0; 40];
    let (cold, _) = run(&matrix, &right, &mut x, 1e-8, 500, true);
    assert!(cold > 5);
    let found = x.clone();
    assert_eq!(run(&matrix, &right, &mut x, 1e-8, 500, true).0, 0);
    assert_eq!(x, found);
    // Nearly there: nearly nothing to do.
    x.iter_mut().for_each(|x| *x *= 1.0 + 1e-7);
    assert!(run(&matrix, &right, &mut x, 1e-6, 500, true).0 <= 1);
}

#[test]
fn the_tolerance_is_relative_to_the_right_side_not_to_the_start() {
    let mut random = Random(112);
    let matrix = matrix(40, &mut random);
    let right = vector(40, &mut random);
    for tolerance in [1e-2, 1e-4, 1e-8] {
        for start in [0.0, 1e3] {
            let mut x = vec![start; 40];
            let (_, residual) = run(&matrix, &right, &mut x, tolerance, 500, true);
            assert!(residual <= tolerance * 1.01, "{residual} for {tolerance} from {start}");
        }
        // The same right side, larger: the same count.
        let large: Vec<f64> = right.iter().map(|b| 1e6 * b).collect();
        let counts = [&right, &large].map(|right| run(&matrix, right, &mut [0.0; 40], tolerance, 500, true).0);
        assert_eq!(counts[0], counts[1]);
    }
}

#[test]
fn it_ends_for_nothing_to_do_for_its_limit_and_where_numbers_end() {
    let mut random = Random(113);
    let matrix = matrix(30, &mut random);
    let right = vector(30, &mut random);
    let mut x = vec![0.0; 30];
    assert_eq!(run(&matrix, &[0.0; 30], &mut x, 1e-8, 500, true).0, 0);
    assert_eq!(x, [0.0; 30]);
    assert_eq!(run(&matrix, &right, &mut x, 0.0, 3, true).0, 3);
    let mut broken = right.clone();
    broken[7] = f64::NAN;
    assert_eq!(run(&matrix, &broken, &mut x, 1e-8, 500, true).0, 0);
    // Not positive definite: it does not go on.
    assert!(run(&-matrix, &right, &mut [0.0; 30], 1e-8, 500, false).0 < 3);
    let nothing: (u32, f64) = run(&DMatrix::zeros(0, 0), &[], &mut [], 1e-8, 500, false);
    assert_eq!(nothing.0, 0);
}
