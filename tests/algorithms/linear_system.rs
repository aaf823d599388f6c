//! All constraints as one system, against dense matrices.

use kiln::algorithms::systems::linear_system::{LinearSystem, REGULARISATION};
use kiln::math::Vec3;
use nalgebra::{DMatrix, DVector};

use crate::{Mesh, Random, assert_close, assert_near};

type Row = Vec<(u32, f64)>;

/// The edges of a mesh between vertices, and some pinned vertices of three rows each, as means of several particles.
fn rows(mesh: &Mesh, random: &mut Random) -> Vec<Row> {
    let mut rows: Vec<Row> = mesh.topology.edges.iter().map(|&[a, b]| vec![(a, -1.0), (b, 1.0)]).collect();
    for pin in [0, 3] {
        let mean: Row = (pin..pin + 4).map(|p| (p, random.within(-0.5, 1.0))).collect();
        rows.extend(std::iter::repeat_n(mean, 3));
    }
    rows
}

struct Case {
    rows: Vec<Row>,
    k: Vec<f64>,
    system: LinearSystem,
    directions: Vec<Vec3>,
}

/// Random directions and masses; every eighth row slack and every seventh particle held, if asked.
fn case(special: bool, seed: u64) -> Case {
    let mut random = Random(seed);
    let mesh = Mesh::sheet(6, 5, 1.0, 0.8);
    let rows = rows(&mesh, &mut random);
    let held = |i: usize| special && i.is_multiple_of(7);
    let k: Vec<f64> = (0..30).map(|i| if held(i) { 0.0 } else { random.within(0.2, 3.0) }).collect();
    let mut directions: Vec<Vec3> = rows.iter().map(|_| random.vector().normalize()).collect();
    let pins = directions.len() - 6;
    (0..6).for_each(|i| directions[pins + i] = Vec3::ith(i % 3, 1.0));
    if special {
        directions.iter_mut().step_by(8).for_each(|n| *n = Vec3::zeros());
    }
    let system = LinearSystem::build(rows.iter().cloned().collect(), &k);
    Case { rows, k, system, directions }
}

impl Case {
    /// C: a row measures three coordinates of each particle along its direction.
    fn dense(&self) -> DMatrix<f64> {
        let mut c = DMatrix::zeros(self.rows.len(), 3 * self.k.len());
        for (i, row) in self.rows.iter().enumerate() {
            for &(p, coefficient) in row {
                (0..3).for_each(|axis| c[(i, 3 * p as usize + axis)] += coefficient * self.directions[i][axis]);
            }
        }
        c
    }

    /// `C W Cᵀ` with what stands on the diagonal instead or besides.
    fn expected(&self) -> DMatrix<f64> {
        let c = self.dense();
        let w = DMatrix::from_fn(c.ncols(), c.ncols(), |i, j| if i == j { self.k[i / 3] } else { 0.0 });
        let mut matrix = &c * w * c.transpose();
        for i in 0..matrix.nrows() {
            // A slack row stands alone with the diagonal it has when taut, a row between held particles with 1.
            let taut: f64 = self.rows[i].iter().map(|&(p, c)| c * c * self.k[p as usize]).sum();
            matrix[(i, i)] = if taut > 0.0 { taut } else { 1.0 } * (1.0 + REGULARISATION);
        }
        matrix
    }

    /// What `assemble` gives, mirrored.
    fn assembled(&self) -> DMatrix<f64> {
        let pattern = self.system.pattern();
        let mut values = vec![f64::NAN; pattern.rows.len()];
        self.system.assemble(&self.directions, |entry, value| values[entry] = value);
        let size = pattern.size();
        let mut matrix = DMatrix::zeros(size, size);
        for column in 0..size {
            let entries = pattern.starts[column]..pattern.starts[column + 1];
            assert_eq!(pattern.rows[entries.start], column, "the diagonal comes first");
            assert!(pattern.rows[entries.clone()].is_sorted_by(|a, b| a < b));
            for entry in entries {
                let row = pattern.rows[entry];
                (matrix[(row, column)], matrix[(column, row)]) = (values[entry], values[entry]);
            }
        }
        matrix
    }
}

#[test]
fn the_assembled_matrix_is_the_dense_product() {
    for (special, seed) in [(false, 120), (true, 121), (false, 122), (true, 123)] {
        let case = case(special, seed);
        assert_eq!(case.system.row_count(), case.rows.len());
        let (assembled, expected) = (case.assembled(), case.expected());
        assert!((&assembled - &expected).amax() < 1e-13, "{}", (&assembled - &expected).amax());
        assert!(assembled.cholesky().is_some() || !special, "slack and held rows keep it definite");
    }
}

#[test]
fn multiplying_without_the_matrix_is_multiplying_with_it() {
    for (special, seed) in [(false, 124), (true, 125)] {
        let case = case(special, seed);
        let mut random = Random(seed + 100);
        let multipliers: Vec<f64> = case.rows.iter().map(|_| random.within(-1.0, 1.0)).collect();
        let mut scratch = random.vectors(case.k.len()); // what it held must not matter
        let mut out = vec![f64::NAN; case.rows.len()];
        case.system.multiply(&case.directions, &multipliers, &mut scratch, &mut out);
        let expected = case.expected() * DVector::from_column_slice(&multipliers);
        out.iter().zip(expected.iter()).for_each(|(found, expected)| assert_close(*found, *expected, 1e-12));
    }
}

#[test]
fn slack_rows_stand_alone() {
    let case = case(true, 126);
    let matrix = case.assembled();
    for row in (0..case.rows.len()).step_by(8) {
        for other in 0..case.rows.len() {
            assert_eq!(matrix[(row, other)] != 0.0, other == row);
        }
    }
    // And their multipliers move nothing.
    let mut multipliers = vec![0.0; case.rows.len()];
    multipliers.iter_mut().step_by(8).for_each(|m| *m = 1.0);
    let mut moved = vec![Vec3::zeros(); case.k.len()];
    case.system.apply(&case.directions, &multipliers, &mut moved);
    assert!(moved.iter().all(|x| *x == Vec3::zeros()));
}

#[test]
fn applied_multipliers_are_impulses_that_hold_the_held_and_measure_as_asked() {
    let case = case(true, 127);
    let mut random = Random(128);
    let matrix = case.assembled();
    let wanted: Vec<f64> = case.directions.iter().map(|n| n.norm_squared() * random.within(-1.0, 1.0)).collect();
    let multipliers = matrix.cholesky().unwrap().solve(&DVector::from_column_slice(&wanted));
    let start = random.vectors(case.k.len());
    let mut x = start.clone();
    case.system.apply(&case.directions, multipliers.as_slice(), &mut x);
    for (p, k) in case.k.iter().enumerate().filter(|(_, k)| **k == 0.0) {
        assert_eq!(x[p], start[p], "{k}");
    }
    for row in 0..case.rows.len() {
        let n = case.directions[row];
        let has_free = case.rows[row].iter().any(|&(p, _)| case.k[p as usize] > 0.0);
        if n != Vec3::zeros() && has_free {
            let change = n.dot(&(case.system.measure(row, &start) - case.system.measure(row, &x)));
            // All but the regularisation, which the next solve makes up for.
            let left = REGULARISATION * case.system.diagonal(row) * multipliers[row];
            assert_close(change + left, wanted[row], 1e-9);
        }
    }
    // Rows between particles keep the momentum of free ones.
    let mut only = vec![0.0; case.rows.len()];
    let row = (1..case.rows.len()).find(|&r| case.rows[r].iter().all(|&(p, _)| case.k[p as usize] > 0.0)).unwrap();
    only[row] = 1.0;
    let mut moved = vec![Vec3::zeros(); case.k.len()];
    case.system.apply(&case.directions, &only, &mut moved);
    let momentum: Vec3 = moved.iter().zip(&case.k).filter(|(_, k)| **k > 0.0).map(|(x, k)| x / *k).sum();
    assert_near(momentum, Vec3::zeros(), 1e-13);
}

#[test]
fn pinned_vertices_are_three_rows_that_share_a_diagonal() {
    let case = case(false, 129);
    let first = case.rows.len() - 6;
    let matrix = case.assembled();
    for pin in [first, first + 3] {
        let own: f64 = case.rows[pin].iter().map(|&(p, c)| c * c * case.k[p as usize]).sum();
        for i in 0..3 {
            assert_close(case.system.diagonal(pin + i), own, 1e-14);
            assert_close(matrix[(pin + i, pin + i)], own * (1.0 + REGULARISATION), 1e-14);
            assert_eq!(matrix[(pin + i, pin + (i + 1) % 3)], 0.0, "coordinates do not see each other");
        }
    }
}
