//! Rotations nearest to matrices: known factors, another decomposition, and where no rotation is the nearest.

use kiln::math::polar::{LANES, Lanes, matrices, quaternion, rotation, turn_towards};
use kiln::math::{Mat3, Vec3};

use crate::surfaces::{nearest_rotation, turn};
use crate::{Random, assert_close};

/// Matrices, and the guesses from which to begin.
fn lanes(all: &[(Mat3, Mat3)]) -> ([Lanes; 9], [Lanes; 4]) {
    assert_eq!(all.len(), LANES);
    let a = std::array::from_fn(|n| std::array::from_fn(|l| all[l].0[(n / 3, n % 3)]));
    let quaternions: Vec<[f64; 4]> = all.iter().map(|(_, guess)| quaternion(guess)).collect();
    (a, std::array::from_fn(|n| std::array::from_fn(|l| quaternions[l][n])))
}

fn matrix(q: &[Lanes; 4], lane: usize) -> Mat3 {
    let r = matrices(q);
    Mat3::from_fn(|row, column| r[3 * row + column][lane])
}

#[track_caller]
fn assert_alike(found: &Mat3, expected: &Mat3, tolerance: f64) {
    assert!((found - expected).norm() <= tolerance, "{found} is not {expected} but {}", (found - expected).norm());
}

#[track_caller]
fn assert_is_rotation(r: &Mat3) {
    assert_alike(&(r.transpose() * r), &Mat3::identity(), 1e-12);
    assert_close(r.determinant(), 1.0, 1e-12);
}

/// Singular values that are well apart, the largest first; the last one times `last`.
fn values(random: &mut Random, last: f64) -> Vec3 {
    let smallest = random.within(0.3, 1.0);
    let middle = smallest + random.within(0.5, 1.0);
    Vec3::new(middle + random.within(0.3, 2.0), middle, smallest * last)
}

/// A matrix with these values, and the rotation in it.
fn made(values: Vec3, random: &mut Random) -> (Mat3, Mat3) {
    let angles = [random.within(0.0, 3.0), random.within(0.0, 3.0)];
    let [u, v] = angles.map(|angle| turn(angle, random));
    (u * Mat3::from_diagonal(&values) * v.transpose(), u * v.transpose())
}

/// The rotation nearest to a matrix of any rank above one, as the largest eigenvector of a matrix of quaternions (Horn 1987).
fn by_eigenvector(a: &Mat3) -> Mat3 {
    let w = Vec3::new(a.m32 - a.m23, a.m13 - a.m31, a.m21 - a.m12);
    let mut n = nalgebra::Matrix4::zeros();
    n[(0, 0)] = a.trace();
    n.fixed_view_mut::<3, 1>(1, 0).copy_from(&w);
    n.fixed_view_mut::<1, 3>(0, 1).copy_from(&w.transpose());
    n.fixed_view_mut::<3, 3>(1, 1).copy_from(&(a + a.transpose() - Mat3::identity() * a.trace()));
    let eigen = n.symmetric_eigen();
    let q = eigen.eigenvectors.column(eigen.eigenvalues.imax()).into_owned();
    let q = nalgebra::Quaternion::new(q[0], q[1], q[2], q[3]);
    nalgebra::UnitQuaternion::new_normalize(q).to_rotation_matrix().into_inner()
}

/// Turns eight lanes at a time that begin at most half a radian away, and compares.
fn check(last: f64, seed: u64) {
    let mut random = Random(seed);
    for _ in 0..500 {
        let made: Vec<(Mat3, Mat3)> = (0..LANES).map(|_| made(values(&mut random, last), &mut random)).collect();
        let guesses = made.iter().map(|(a, r)| (*a, r * turn(random.within(0.0, 0.5), &mut random)));
        let (a, mut q) = lanes(&guesses.collect::<Vec<_>>());
        assert_eq!(turn_towards(&a, &mut q), [true; LANES]);
        for (l, (a, r)) in made.iter().enumerate() {
            assert_alike(&matrix(&q, l), r, 1e-12);
            assert_alike(&matrix(&q, l), &by_eigenvector(a), 1e-12);
            if last.abs() > 1e-6 {
                assert_alike(&matrix(&q, l), &nearest_rotation(a), 1e-12);
            }
            assert_is_rotation(&matrix(&q, l));
        }
    }
}

#[test]
fn eight_lanes_find_the_rotation_of_another_decomposition() {
    check(1.0, 201);
}

#[test]
fn what_is_mirrored_is_turned_without_the_mirror_of_its_smallest_value() {
    check(-1.0, 202);
}

#[test]
fn flat_points_are_no_exception() {
    check(0.0, 203);
    check(1e-9, 204);
    check(-1e-9, 205);
}

#[test]
fn lanes_do_not_know_of_each_other() {
    let mut random = Random(206);
    let made: Vec<(Mat3, Mat3)> = (0..LANES).map(|_| made(values(&mut random, 1.0), &mut random)).collect();
    let alone: Vec<(Mat3, Mat3)> = made.iter().map(|(a, r)| (*a, r * turn(0.4, &mut random))).collect();
    let mut beside = alone.clone();
    beside[3] = (Mat3::repeat(f64::NAN), Mat3::identity());
    beside[6] = (Mat3::zeros(), Mat3::identity());
    let ((a, mut q), (a_beside, mut q_beside)) = (lanes(&alone), lanes(&beside));
    turn_towards(&a, &mut q);
    let is_there = turn_towards(&a_beside, &mut q_beside);
    for l in (0..LANES).filter(|l| ![3, 6].contains(l)) {
        assert!(is_there[l]);
        // Lanes that are there go on with the others, by steps of rounding.
        assert_alike(&matrix(&q_beside, l), &matrix(&q, l), 1e-14);
    }
    assert!(!is_there[3] && !is_there[6]);
}

#[test]
fn quaternions_stay_units_over_many_steps() {
    let mut random = Random(207);
    let start: Vec<(Mat3, Mat3)> = (0..LANES).map(|_| made(values(&mut random, 1.0), &mut random)).collect();
    let (mut a, mut q) = lanes(&start);
    let turns: Vec<Mat3> = (0..LANES).map(|l| turn(0.02 * (l + 1) as f64, &mut random)).collect();
    let mut now: Vec<Mat3> = start.iter().map(|(a, _)| *a).collect();
    for _ in 0..10_000 {
        for l in 0..LANES {
            now[l] = turns[l] * now[l];
            (0..9).for_each(|n| a[n][l] = now[l][(n / 3, n % 3)]);
        }
        assert_eq!(turn_towards(&a, &mut q), [true; LANES]);
        for l in 0..LANES {
            let norm = q.iter().map(|q| q[l] * q[l]).sum::<f64>().sqrt();
            assert_close(norm, 1.0, 1e-14);
        }
    }
    for (l, now) in now.iter().enumerate() {
        assert_alike(&matrix(&q, l), &nearest_rotation(now), 1e-12);
    }
}

#[test]
fn what_is_only_stretched_is_not_turned_at_all() {
    let mut random = Random(208);
    let stretched = |random: &mut Random| {
        let b = Mat3::from_fn(|_, _| random.within(-1.0, 1.0));
        let a = b * b.transpose() + Mat3::identity() * 0.1;
        (a + a.transpose(), Mat3::identity()) // the same bits on both sides
    };
    for _ in 0..100 {
        let (a, mut q) = lanes(&(0..LANES).map(|_| stretched(&mut random)).collect::<Vec<_>>());
        assert_eq!(turn_towards(&a, &mut q), [true; LANES]);
        assert_eq!(q, [[1.0; LANES], [0.0; LANES], [0.0; LANES], [0.0; LANES]]);
    }
}

#[test]
fn from_anywhere_the_slow_way_is_as_good_as_any_of_many_rotations() {
    let mut random = Random(209);
    let others: Vec<Mat3> = (0..2000)
        .map(|_| {
            let four = nalgebra::Vector4::from_fn(|_, _| random.within(-1.0, 1.0));
            nalgebra::UnitQuaternion::new_normalize(nalgebra::Quaternion::from(four)).to_rotation_matrix().into_inner()
        })
        .collect();
    let mut lost = 0;
    for round in 0..60 {
        let last = [1.0, -1.0, 0.0][round % 3];
        let made: Vec<(Mat3, Mat3)> = (0..LANES).map(|_| made(values(&mut random, last), &mut random)).collect();
        let far: Vec<(Mat3, Mat3)> =
            made.iter().map(|(a, r)| (*a, r * turn(random.within(1.5, 3.0), &mut random))).collect();
        let (a, mut q) = lanes(&far);
        let is_there = turn_towards(&a, &mut q);
        for (l, (a, guess)) in far.iter().enumerate() {
            if is_there[l] {
                assert_alike(&matrix(&q, l), &made[l].1, 1e-12); // what says that it is there is there
                continue;
            }
            lost += 1;
            let found = rotation(a, guess);
            assert_is_rotation(&found);
            let gain = found.dot(a);
            for other in &others {
                assert!(other.dot(a) <= gain, "{} is better than {gain}", other.dot(a));
            }
        }
    }
    assert!(lost > 100, "only {lost} lanes needed it");
}

#[test]
fn of_rotations_that_are_equally_near_one_is_taken_that_none_beats() {
    let mut random = Random(214);
    for round in 0..90 {
        // Mirrored alike in two directions, or in all three.
        let values = [Vec3::new(2.0, 1.0, -1.0), Vec3::new(1.0, 1.0, -1.0), Vec3::repeat(-1.0)][round % 3];
        let (a, _) = made(values, &mut random);
        let guess = turn(random.within(0.0, 3.0), &mut random);
        let found = rotation(&a, &guess);
        assert_is_rotation(&found);
        let best = values.x + values.y + values.z + if values.x < 0.0 { 4.0 } else { 0.0 };
        // What is left of the guess, of second order in its weight.
        assert_close(found.dot(&a), best, 4.0 * (1e-3 * a.norm()).powi(2));
    }
}

#[test]
fn points_on_a_line_turn_no_further_from_the_guess_than_they_must() {
    let mut random = Random(211);
    for _ in 0..200 {
        let guess = turn(random.within(0.0, 3.0), &mut random);
        let (v, bend) = (random.vector().normalize(), random.within(0.0, 2.0));
        // The guess is right already.
        assert_alike(&rotation(&(guess * v * v.transpose()), &guess), &guess, 1e-12);
        // The line has turned away from the guess: about the axis across, and no more than that.
        let axis = (guess * v).cross(&random.vector()).normalize();
        let away = nalgebra::Rotation3::new(axis * bend).into_inner();
        let a = away * guess * v * v.transpose() * random.within(0.01, 100.0);
        let found = rotation(&a, &guess);
        assert_is_rotation(&found);
        let turned = found * guess.transpose();
        // Values a thousandth of the largest: the decomposition of squares loses six digits.
        assert!((turned * axis - axis).norm() < 1e-9, "it turns about another axis");
        // The guess has a weight of a thousandth, and pulls in two directions where the line pulls in one.
        let left = (found * v).cross(&(away * guess * v)).dot(&axis);
        assert!((-1e-12..2e-3).contains(&left), "{left}");
        let (a, mut q) = lanes(&vec![(a, guess); LANES]);
        let before = q;
        assert_eq!(turn_towards(&a, &mut q), [false; LANES]);
        for l in 0..LANES {
            // A line says nothing about the turn around it, so the steps leave the guess alone.
            (0..4).for_each(|n| assert_close(q[n][l], before[n][l], 1e-15));
        }
    }
}

#[test]
fn points_in_one_place_and_what_is_not_a_number_leave_the_guess() {
    let mut random = Random(212);
    let guess = turn(1.0, &mut random);
    let mut partly = turn(0.3, &mut random);
    partly[(1, 2)] = f64::NAN;
    let endless = Mat3::identity() * f64::INFINITY;
    for a in [Mat3::zeros(), Mat3::repeat(f64::NAN), partly, endless, -endless] {
        assert_eq!(rotation(&a, &guess), guess);
        let (a, mut q) = lanes(&vec![(a, guess); LANES]);
        assert_eq!(turn_towards(&a, &mut q), [false; LANES]);
        for l in 0..LANES {
            assert_alike(&matrix(&q, l), &guess, 1e-14);
        }
    }
}

#[test]
fn quaternions_and_matrices_say_the_same() {
    let mut random = Random(213);
    for _ in 0..100 {
        let all: Vec<(Mat3, Mat3)> =
            (0..LANES).map(|_| (Mat3::zeros(), turn(random.within(0.0, 3.1), &mut random))).collect();
        let (_, q) = lanes(&all);
        (0..LANES).for_each(|l| assert_alike(&matrix(&q, l), &all[l].1, 1e-14));
    }
}

#[test]
fn the_slow_way_finds_the_nearest_rotation_to_the_last_digits() {
    let mut random = Random(210);
    for round in 0..300 {
        let (a, r) = made(values(&mut random, [1.0, -1.0, 0.0][round % 3]), &mut random);
        let guess = r * turn(random.within(0.0, 3.0), &mut random);
        assert_alike(&rotation(&a, &guess), &r, 1e-12);
    }
}
