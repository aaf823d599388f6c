//! Volumes of parts: what they are led to, that nothing else is changed, and that what is flat or inside out turns back.

use kiln::algorithms::volume::tet_volume::{self, Corners, LEAST_PART, Part, relative_error, volume};
use kiln::math::Vec3;

use crate::{Random, assert_close, assert_near};

/// A cube of 0.2 m and its five tetrahedra: bit 0 of a corner is x, bit 1 y, bit 2 z.
const TETS: [Corners; 5] = [[0, 3, 6, 5], [0, 1, 3, 5], [0, 3, 2, 6], [0, 6, 4, 5], [3, 6, 5, 7]];
const SIZE: f64 = 0.2;

struct Cell {
    rest: Vec<f64>,
    x: Vec<Vec3>,
}

impl Cell {
    fn new() -> Cell {
        let x: Vec<Vec3> = (0..8)
            .map(|corner| Vec3::new(f64::from(corner & 1), f64::from(corner >> 1 & 1), f64::from(corner >> 2)) * SIZE)
            .collect();
        let rest = TETS.iter().map(|tet| volume(&[*tet], &x)).collect();
        Cell { rest, x }
    }

    /// Every corner moved by up to a part of the edge.
    fn shaken(by: f64, random: &mut Random) -> Cell {
        let mut cell = Cell::new();
        cell.x.iter_mut().for_each(|x| *x += random.vector() * (by * SIZE));
        cell
    }

    fn part(&self) -> Part<'_> {
        Part { tets: &TETS, rest: &self.rest, volume: self.rest.iter().sum(), size: SIZE }
    }

    /// Where one correction leads its corners and the error that it saw.
    fn corrected(&self, growth: f64, k: &[f64]) -> (Vec<Vec3>, f64) {
        let mut x = self.x.clone();
        let mut scratch = vec![Vec3::repeat(7.0); 8]; // what was there before says nothing
        let error = tet_volume::correct_position(&self.part(), growth, &mut x, k, &mut scratch);
        (x, error)
    }

    fn smallest(&self) -> f64 {
        TETS.iter().zip(&self.rest).map(|(tet, rest)| volume(&[*tet], &self.x) / rest).fold(f64::INFINITY, f64::min)
    }

    /// Corrections until the volume is right and every tetrahedron is the right way out.
    fn recover(&mut self, k: &[f64]) -> usize {
        for count in 0..10_000 {
            let target = self.part().volume;
            if relative_error(volume(&TETS, &self.x), target) < 1e-6 && self.smallest() > 0.0 {
                return count;
            }
            self.x = self.corrected(1.0, k).0;
        }
        panic!("it does not recover: {:?}, smallest {}", self.x, self.smallest());
    }
}

/// From `1 / most` to `most`.
fn unequal(most: f64, random: &mut Random) -> Vec<f64> {
    (0..8).map(|_| most.powf(random.within(-1.0, 1.0))).collect()
}

/// The gradient of the volume by central differences, which are exact: a volume is linear in each coordinate.
fn slopes(x: &[Vec3]) -> Vec<Vec3> {
    let step = 0.01;
    let along = |corner: usize, axis: usize| {
        let moved = |by: f64| {
            let mut x = x.to_vec();
            x[corner][axis] += by;
            volume(&TETS, &x)
        };
        (moved(step) - moved(-step)) / (2.0 * step)
    };
    (0..x.len()).map(|corner| Vec3::from_fn(|axis, _| along(corner, axis))).collect()
}

/// Momentum that corrections make of nothing, in parts of what they hand from corner to corner. What is heavy cannot tell a way from the
/// rounding of its place, which counts for nothing here.
fn made_momentum(before: &[Vec3], after: &[Vec3], k: &[f64]) -> f64 {
    let ways = || before.iter().zip(after).zip(k).map(|((before, after), k)| (after - before) / *k);
    let rounding: f64 = before.iter().zip(k).map(|(x, k)| 4.0 * f64::EPSILON * x.norm() / k).sum();
    (ways().sum::<Vec3>().norm() - rounding).max(0.0) / ways().map(|way| way.norm()).sum::<f64>()
}

#[test]
fn momentum_is_kept_with_very_unequal_masses() {
    let mut random = Random(70);
    for most in [1.0, 30.0, 1e3, 1e6] {
        for by in [0.05, 0.3, 1.0] {
            let cell = Cell::shaken(by, &mut random);
            let k = unequal(most, &mut random);
            let (x, error) = cell.corrected(1.0, &k);
            let made = made_momentum(&cell.x, &x, &k);
            assert!(error > 1e-4 && made < 1e-12, "masses 1 to {most}, shaken by {by}: {made:.1e} made");
        }
    }
}

#[test]
fn a_correction_goes_along_the_gradient_of_the_volume() {
    let mut random = Random(71);
    for _ in 0..20 {
        let cell = Cell::shaken(0.1, &mut random);
        let k = unequal(30.0, &mut random);
        // As many times its volume as it has, but for a thousandth, so that no way is cut short.
        let growth = volume(&TETS, &cell.x) / cell.part().volume * 1.001;
        let (x, _) = cell.corrected(growth, &k);
        let slopes = slopes(&cell.x);
        let missing = cell.part().volume * growth - volume(&TETS, &cell.x);
        let steep: f64 = slopes.iter().zip(&k).map(|(g, k)| g.norm_squared() * k).sum();
        for corner in 0..8 {
            let expected = slopes[corner] * (k[corner] * missing / steep);
            assert_near(x[corner] - cell.x[corner], expected, 1e-9 * SIZE * 1e-3);
        }
    }
}

#[test]
fn what_is_moved_and_turned_is_corrected_as_it_would_be_where_it_was() {
    let mut random = Random(72);
    for by in [0.05, 0.5, 1.5] {
        for _ in 0..10 {
            let cell = Cell::shaken(by, &mut random);
            let k = unequal(10.0, &mut random);
            let pose = random.pose();
            let turned = Cell { x: cell.x.iter().map(|x| pose.apply(*x)).collect(), rest: cell.rest.clone() };
            let ((there, there_error), (here, error)) = (turned.corrected(1.2, &k), cell.corrected(1.2, &k));
            assert_close(there_error, error, 1e-11);
            for (there, here) in there.iter().zip(&here) {
                assert_near(*there, pose.apply(*here), 1e-12);
            }
        }
    }
}

#[test]
fn a_part_that_has_its_volume_is_not_moved() {
    let mut random = Random(73);
    let cell = Cell::new();
    let (x, error) = cell.corrected(1.0, &unequal(100.0, &mut random));
    assert!(error < 1e-15, "{error}");
    x.iter().zip(&cell.x).for_each(|(x, rest)| assert_near(*x, *rest, 1e-16));

    // Sheared it has the same volume: its tetrahedra are free to change their shape.
    let sheared: Vec<Vec3> = cell.x.iter().map(|x| Vec3::new(x.x + 0.7 * x.y - 0.3 * x.z, x.y, x.z)).collect();
    let sheared = Cell { x: sheared, ..cell };
    let (x, error) = sheared.corrected(1.0, &[1.0; 8]);
    assert!(error < 1e-14, "{error}");
    x.iter().zip(&sheared.x).for_each(|(x, was)| assert_near(*x, *was, 1e-15));
}

#[test]
fn what_one_correction_leaves_is_of_second_order() {
    let mut random = Random(74);
    for _ in 0..5 {
        let cell = Cell::shaken(0.1, &mut random);
        let k = unequal(10.0, &mut random);
        let now = volume(&TETS, &cell.x) / cell.part().volume;
        let left = |error: f64| {
            let growth = now * (1.0 + error);
            let (x, seen) = cell.corrected(growth, &k);
            assert_close(seen, error / (1.0 + error), 1e-12);
            relative_error(volume(&TETS, &x), cell.part().volume * growth)
        };
        let lefts = [1e-2, 1e-3, 1e-4].map(|error| left(error) / (error * error));
        assert!(lefts.iter().all(|left| *left < 2.0), "{lefts:?}");
        assert!((lefts[1] / lefts[2] - 1.0).abs() < 0.05, "a tenth of the error leaves a hundredth: {lefts:?}");
    }
}

#[test]
fn a_part_grows_to_any_volume_and_comes_back() {
    let mut random = Random(75);
    let mut cell = Cell::shaken(0.1, &mut random);
    let k = unequal(3.0, &mut random);
    for growth in [8.0, 0.5, 1.0] {
        for _ in 0..60 {
            cell.x = cell.corrected(growth, &k).0;
        }
        assert_close(volume(&TETS, &cell.x) / cell.part().volume, growth, 1e-9);
    }
}

#[test]
fn a_flattened_cell_comes_back() {
    let mut random = Random(76);
    for axis in 0..3 {
        for masses in [1.0, 10.0] {
            let mut cell = Cell::new();
            cell.x.iter_mut().for_each(|x| x[axis] = 0.0);
            let k = unequal(masses, &mut random);
            let count = cell.recover(&k);
            println!("flat along {axis}, masses 1 to {masses}: {count} corrections");
            assert!(count <= 60, "{count} corrections");
        }
    }
}

#[test]
fn an_inverted_cell_comes_back() {
    let mut random = Random(77);
    let mirrors: [fn(Vec3) -> Vec3; 4] =
        [|x| Vec3::new(-x.x, x.y, x.z), |x| Vec3::new(x.x, x.y, SIZE - x.z), |x| -x, |x| Vec3::new(x.y, x.x, x.z)];
    for (number, mirror) in mirrors.iter().enumerate() {
        for masses in [1.0, 10.0] {
            let mut cell = Cell::new();
            cell.x.iter_mut().for_each(|x| *x = mirror(*x));
            assert!(volume(&TETS, &cell.x) < -0.9 * cell.part().volume);
            let k = unequal(masses, &mut random);
            let count = cell.recover(&k);
            println!("mirror {number}, masses 1 to {masses}: {count} corrections");
            assert!(count <= 200, "{count} corrections");
        }
    }
}

#[test]
fn a_cell_of_random_corners_comes_back() {
    let mut random = Random(78);
    let mut most = 0;
    for _ in 0..200 {
        let mut cell = Cell::shaken(2.0, &mut random);
        most = most.max(cell.recover(&[1.0; 8]));
    }
    println!("at most {most} corrections");
    assert!(most <= 1000, "{most} corrections");
}

#[test]
fn no_corner_is_shot_by_a_correction() {
    let mut random = Random(79);
    for by in [0.5, 3.0, 100.0] {
        for _ in 0..20 {
            let cell = Cell::shaken(by, &mut random);
            let k = unequal(100.0, &mut random);
            let (x, _) = cell.corrected(1.0, &k);
            let farthest = x.iter().zip(&cell.x).map(|(x, was)| (x - was).norm()).fold(0.0, f64::max);
            // A tenth for the part, and the same for each tetrahedron that is pushed open and shares the corner.
            assert!(farthest <= 0.1 * SIZE * 6.0 * (1.0 + 1e-12), "shaken by {by}: {farthest} m");
        }
    }
}

#[test]
fn what_has_shrunk_to_a_point_or_a_line_stays_finite() {
    for flat in [|_: Vec3| Vec3::repeat(0.3), |x: Vec3| Vec3::new(x.x, 0.0, 0.0)] {
        let mut cell = Cell::new();
        cell.x.iter_mut().for_each(|x| *x = flat(*x));
        let was = cell.x.clone();
        let (x, error) = cell.corrected(1.0, &[1.0; 8]);
        assert_eq!((x, error), (was, 1.0));
    }
    let mut lost = Cell::new();
    lost.x[3].y = f64::NAN;
    assert_eq!(lost.corrected(1.0, &[1.0; 8]).1, f64::INFINITY);
}

#[test]
fn led_corners_do_not_move() {
    let mut random = Random(80);
    for by in [0.1, 1.0] {
        let cell = Cell::shaken(by, &mut random);
        let mut k = unequal(10.0, &mut random);
        (k[0], k[5], k[6]) = (0.0, 0.0, 0.0);
        let (x, _) = cell.corrected(1.3, &k);
        for corner in 0..8 {
            assert_eq!(x[corner] == cell.x[corner], k[corner] == 0.0, "corner {corner}");
        }
        let (x, error) = cell.corrected(1.3, &[0.0; 8]);
        assert_eq!(x, cell.x);
        assert!(error > 0.01);
    }
}

/// Each outer tetrahedron in turn is pushed inside out, and the corner across takes the volume that is lost: the sum is right and sees nothing.
#[test]
fn single_inverted_tetrahedra_in_a_cell_of_the_right_volume_are_opened() {
    for (corner, across) in [(1, 6), (2, 5), (4, 3), (7, 0)] {
        let mut cell = Cell::new();
        let middle = Vec3::repeat(0.5 * SIZE);
        let rest = cell.part().volume;
        cell.x[corner] = cell.x[corner].lerp(&middle, 1.2);
        let away = (cell.x[across] - middle) * 1.0;
        let missing = |far: f64| {
            let mut x = cell.x.clone();
            x[across] += away * far;
            volume(&TETS, &x) - rest
        };
        // The volume is linear in how far the corner is moved.
        let far = -missing(0.0) / (missing(1.0) - missing(0.0));
        cell.x[across] += away * far;
        assert!(relative_error(volume(&TETS, &cell.x), rest) < 1e-12 && cell.smallest() < -0.1, "{}", cell.smallest());
        let before = cell.x.clone();
        let count = cell.recover(&[1.0; 8]);
        println!("corner {corner}: {count} corrections, smallest tetrahedron {:.3} of its volume", cell.smallest());
        assert!((1..=60).contains(&count), "{count} corrections");
        // It is left alone once it has the least part, as far as the volume of the sum lets it.
        assert!(cell.smallest() > 0.5 * LEAST_PART, "{}", cell.smallest());
        assert!(made_momentum(&before, &cell.x, &[1.0; 8]) < 1e-12);
    }
}

#[test]
fn errors_are_relative_and_never_not_a_number() {
    assert_close(relative_error(1.1, 1.0), 0.1, 1e-15);
    assert_close(relative_error(-2.0, 2.0), 2.0, 0.0);
    for (volume, target) in [(0.0, 0.0), (f64::NAN, 1.0), (1.0, f64::NAN), (f64::INFINITY, f64::INFINITY)] {
        assert_eq!(relative_error(volume, target), f64::INFINITY);
    }
}
