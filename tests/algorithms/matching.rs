//! Goals of matched regions: against sums over members and another decomposition, and what goals must keep.

use kiln::algorithms::shape_matching::fast_summation::Regions;
use kiln::algorithms::shape_matching::matching::{Moments, RestShapes, Transform, Whole, flow};
use kiln::math::polar::{LANES, quaternion};
use kiln::math::{Mat3, Vec3};

use crate::surfaces::{along_paths, closed, directions, masses, members, nearest_rotation, neighbours, run, turn};
use crate::{Mesh, Random, assert_close, assert_near};

/// A body in its numbering, as the solver has it.
struct Body {
    mesh: Mesh,
    mass: Vec<f64>,
    /// Places at rest, from the middle.
    rest: Vec<Vec3>,
    normals: Vec<Vec3>,
    omega: u32,
    regions: Regions,
    shapes: RestShapes,
}

impl Body {
    fn new(mesh: &Mesh, omega: u32, random: &mut Random) -> Body {
        let (mesh, paths) = along_paths(mesh);
        let mass = masses(mesh.positions.len(), random);
        let middle = middle(&mass, &mesh.positions);
        let rest: Vec<Vec3> = mesh.positions.iter().map(|x| x - middle).collect();
        let regions = Regions::build(&paths, &neighbours(&mesh), omega);
        let normals = directions(&rest, &mesh.triangles);
        let shapes = RestShapes::build(&regions, rest.clone(), &mass, &normals);
        Body { mesh, mass, rest, normals, omega, regions, shapes }
    }

    fn sums(&self, x: &[Vec3]) -> Vec<Moments> {
        let middle = middle(&self.mass, x);
        let running = run(&self.regions, |i| self.shapes.moments(i, x[i] - middle));
        (0..x.len()).map(|region| self.regions.sum(&running, region)).collect()
    }

    /// Goals from running sums; `quaternions` are the guesses and then what was found, `flowed` nine numbers for each region or nothing.
    fn goals(&self, x: &[Vec3], normals: &[Vec3], flowed: &[f64], quaternions: &mut [[f64; 4]]) -> Vec<Vec3> {
        let sums = self.sums(x);
        let mut transforms: Vec<Transform> = vec![[0.0; 12]; x.len()];
        let chunks = transforms.chunks_mut(LANES).zip(quaternions.chunks_mut(LANES)).enumerate();
        for (chunk, (transforms, quaternions)) in chunks {
            let lanes = chunk * LANES..chunk * LANES + transforms.len();
            let flowed = if flowed.is_empty() { flowed } else { &flowed[9 * lanes.start..9 * lanes.end] };
            self.shapes.fit_lanes(lanes.start, &sums[lanes.clone()], &normals[lanes], flowed, quaternions, transforms);
        }
        let running = run(&self.regions, |i| transforms[i]);
        let middle = middle(&self.mass, x);
        let goal = |i: usize| self.shapes.goal(i, &self.regions.sum(&running, i), self.regions.count(i)) + middle;
        (0..x.len()).map(goal).collect()
    }

    fn goals_from_unturned(&self, x: &[Vec3]) -> Vec<Vec3> {
        let normals = directions(x, &self.mesh.triangles);
        self.goals(x, &normals, &[], &mut vec![[1.0, 0.0, 0.0, 0.0]; x.len()])
    }

    /// The same from what the algorithm says, region by region and member by member.
    fn oracle(&self, x: &[Vec3], flowed: &[Mat3]) -> Vec<Vec3> {
        let all = members(&self.mesh, self.omega);
        let normals = directions(x, &self.mesh.triangles);
        let shared = |i: usize| self.mass[i] / all[i].len() as f64;
        let mut sums = vec![Vec3::zeros(); x.len()];
        for (region, held) in all.iter().enumerate() {
            let mass: f64 = held.iter().map(|&i| shared(i)).sum();
            let mean = |of: &[Vec3]| held.iter().map(|&i| of[i] * shared(i)).sum::<Vec3>() / mass;
            let (t, t0) = (mean(x), mean(&self.rest));
            let far = held.iter().map(|&i| (self.rest[i] - t0).norm() * shared(i)).sum::<f64>() / mass;
            let arms = held.iter().map(|&i| (x[i] - t) * (self.rest[i] - t0).transpose() * shared(i));
            // The point along the normal: as far out, and as heavy as the members are in the mean.
            let along = normals[region] * self.normals[region].transpose() * (far * far * mass / held.len() as f64);
            let a = arms.sum::<Mat3>() + along;
            let turned = nearest_rotation(&(a * flowed[region].transpose())) * flowed[region];
            held.iter().for_each(|&i| sums[i] += turned * (self.rest[i] - t0) + t);
        }
        sums.iter().zip(&all).map(|(sum, held)| sum / held.len() as f64).collect()
    }
}

fn middle(mass: &[f64], x: &[Vec3]) -> Vec3 {
    x.iter().zip(mass).map(|(x, m)| x * *m).sum::<Vec3>() / mass.iter().sum::<f64>()
}

fn bodies(seed: u64, mut check: impl FnMut(&Body, &mut Random)) {
    let mut random = Random(seed);
    for mesh in closed(&mut random) {
        for omega in [1, 2, 4] {
            let body = Body::new(&mesh, omega, &mut random);
            check(&body, &mut random);
        }
    }
}

/// Bent, sheared and shaken.
fn deformed(body: &Body, random: &mut Random) -> Vec<Vec3> {
    let shear = Mat3::identity() + Mat3::from_fn(|_, _| random.within(-0.15, 0.15));
    let bend = random.vector() * 0.3;
    let place = |x: &Vec3| shear * x + bend * x.dot(&bend).powi(2) + random.vector() * 0.01;
    body.rest.iter().map(place).collect()
}

fn keep_momentum(mass: &[f64], x: &[Vec3], ways: &mut [Vec3]) {
    let excess = Whole::new(mass, x).moved_by(mass, x, |i| ways[i]);
    ways.iter_mut().zip(x).for_each(|(way, x)| *way -= excess.at(x));
}

#[test]
fn goals_are_those_of_brute_force() {
    bodies(240, |body, random| {
        let x = deformed(body, random);
        let expected = body.oracle(&x, &vec![Mat3::identity(); x.len()]);
        for (found, expected) in body.goals_from_unturned(&x).iter().zip(expected) {
            assert_near(*found, expected, 1e-10);
        }
    });
}

#[test]
fn goals_of_what_has_flowed_are_those_of_brute_force() {
    bodies(241, |body, random| {
        let x = deformed(body, random);
        let stays = |random: &mut Random| {
            let m = Mat3::identity() + Mat3::from_fn(|_, _| random.within(-0.1, 0.1));
            m / m.determinant().cbrt()
        };
        let flowed: Vec<Mat3> = x.iter().map(|_| stays(random)).collect();
        let numbers: Vec<f64> = flowed.iter().flat_map(|m| m.transpose().iter().copied().collect::<Vec<_>>()).collect();
        let normals = directions(&x, &body.mesh.triangles);
        let found = body.goals(&x, &normals, &numbers, &mut vec![[1.0, 0.0, 0.0, 0.0]; x.len()]);
        for (found, expected) in found.iter().zip(body.oracle(&x, &flowed)) {
            assert_near(*found, expected, 1e-10);
        }
    });
}

#[test]
fn a_rigid_motion_leaves_nothing_to_do() {
    bodies(242, |body, random| {
        for angle in [0.0, 0.1, 0.5] {
            let (rotation, away) = (turn(angle, random), random.vector());
            let x: Vec<Vec3> = body.rest.iter().map(|x| rotation * x + away).collect();
            for (goal, x) in body.goals_from_unturned(&x).iter().zip(&x) {
                assert_near(*goal, *x, 1e-12);
            }
        }
    });
}

#[test]
fn from_the_last_rotation_a_body_can_turn_as_far_as_it_wants() {
    bodies(244, |body, random| {
        let (step, away) = (turn(0.3, random), random.vector());
        let mut quaternions = vec![[1.0, 0.0, 0.0, 0.0]; body.rest.len()];
        let mut rotation = Mat3::identity();
        for _ in 0..12 {
            rotation = step * rotation;
            let x: Vec<Vec3> = body.rest.iter().map(|x| rotation * x + away).collect();
            let normals = directions(&x, &body.mesh.triangles);
            for (goal, x) in body.goals(&x, &normals, &[], &mut quaternions).iter().zip(&x) {
                assert_near(*goal, *x, 1e-12);
            }
            // A quaternion and its opposite are one rotation.
            let expected = nalgebra::Vector4::from(quaternion(&rotation));
            for found in &quaternions {
                assert_close(nalgebra::Vector4::from(*found).dot(&expected).abs(), 1.0, 1e-13);
            }
        }
    });
}

#[test]
fn what_was_far_from_the_guess_is_exact_the_next_time() {
    bodies(243, |body, random| {
        for angle in [1.2, 2.0, 3.0] {
            let (rotation, away) = (turn(angle, random), random.vector());
            let x: Vec<Vec3> = body.rest.iter().map(|x| rotation * x + away).collect();
            let normals = directions(&x, &body.mesh.triangles);
            let mut quaternions = vec![[1.0, 0.0, 0.0, 0.0]; x.len()];
            body.goals(&x, &normals, &[], &mut quaternions);
            for (goal, x) in body.goals(&x, &normals, &[], &mut quaternions).iter().zip(&x) {
                assert_near(*goal, *x, 1e-12);
            }
        }
    });
}

#[test]
fn at_rest_goals_are_where_particles_are() {
    bodies(245, |body, _| {
        for (goal, rest) in body.goals_from_unturned(&body.rest).iter().zip(&body.rest) {
            // Sums that differ by what a region is away from the middle leave some tens of roundings.
            assert_near(*goal, *rest, 3e-14);
        }
    });
}

#[test]
fn goals_keep_momentum_whatever_the_deformation() {
    bodies(246, |body, random| {
        let torn = random.vectors(body.rest.len());
        for x in [deformed(body, random), torn] {
            let ways: Vec<Vec3> = body.goals_from_unturned(&x).iter().zip(&x).map(|(goal, x)| goal - x).collect();
            let parts: f64 = ways.iter().zip(&body.mass).map(|(way, m)| way.norm() * m).sum();
            let sum: Vec3 = ways.iter().zip(&body.mass).map(|(way, m)| way * *m).sum();
            assert!(parts > 0.1 * body.mass.iter().sum::<f64>() * 0.01, "nothing moved");
            assert_near(sum, Vec3::zeros(), 1e-12 * parts);
        }
    });
}

#[test]
fn a_stretch_of_the_whole_is_that_of_each_region() {
    bodies(247, |body, random| {
        let b = Mat3::from_fn(|_, _| random.within(-0.2, 0.2));
        let (stretch, rotation) = (Mat3::identity() + b + b.transpose(), turn(0.4, random));
        let x: Vec<Vec3> = body.rest.iter().map(|x| rotation * stretch * x).collect();
        // Normals that stretch with the rest, so that they say nothing else than the places do.
        let normals: Vec<Vec3> = body.normals.iter().map(|n| rotation * stretch * n).collect();
        let mut quaternions = vec![[1.0, 0.0, 0.0, 0.0]; x.len()];
        body.goals(&x, &normals, &[], &mut quaternions);
        let stays = Mat3::from_diagonal(&Vec3::new(1.25, 1.0, 0.8));
        for (region, sums) in body.sums(&x).iter().enumerate() {
            // The guess of the rotation is nearest to A, not to the stretch: both turned together are exact.
            let [w, i, j, k] = quaternions[region];
            let found = nalgebra::UnitQuaternion::new_normalize(nalgebra::Quaternion::new(w, i, j, k));
            let expected = found.to_rotation_matrix().matrix().transpose() * rotation * stretch;
            let none = Mat3::identity();
            for (flowed, expected) in [(none, expected), (stays, expected * stays.try_inverse().unwrap())] {
                let found = body.shapes.stretch(region, sums, normals[region], &quaternions[region], &flowed);
                assert!((found - expected).norm() < 1e-10, "{found} is not {expected}");
            }
        }
    });
}

/// Momentum and angular momentum about the middle, with the size of their parts.
fn momenta(mass: &[f64], x: &[Vec3], ways: &[Vec3]) -> ([Vec3; 2], [f64; 2]) {
    let centre = middle(mass, x);
    let (mut sums, mut sizes) = ([Vec3::zeros(); 2], [0.0; 2]);
    for ((x, way), &m) in x.iter().zip(ways).zip(mass) {
        for (n, part) in [way * m, (x - centre).cross(way) * m].into_iter().enumerate() {
            sums[n] += part;
            sizes[n] += part.norm();
        }
    }
    (sums, sizes)
}

#[test]
fn what_moves_or_turns_the_whole_is_taken_out_and_nothing_else() {
    bodies(248, |body, random| {
        let far = random.vector() * 10.0;
        let x: Vec<Vec3> = body.rest.iter().map(|x| x + far).collect();
        let any: Vec<Vec3> = random.vectors(x.len()).iter().map(|way| way * 0.1).collect();
        let mut pure = any.clone();
        keep_momentum(&body.mass, &x, &mut pure);
        let (sums, sizes) = momenta(&body.mass, &x, &pure);
        (0..2).for_each(|n| assert_near(sums[n], Vec3::zeros(), 1e-12 * sizes[n]));
        let (before, sizes) = momenta(&body.mass, &x, &any);
        assert!((0..2).all(|n| before[n].norm() > 1e-6 * sizes[n]), "there was nothing to take out");
        // A pure deformation stays as it is.
        let mut again = pure.clone();
        keep_momentum(&body.mass, &x, &mut again);
        again.iter().zip(&pure).for_each(|(again, pure)| assert_near(*again, *pure, 1e-12 * 0.1));
        // And what it lost is a shift and a turn: added on purpose they are gone, and no more.
        let (shift, spin, centre) = (random.vector() * 0.1, random.vector() * 0.1, middle(&body.mass, &x));
        let mut moved: Vec<Vec3> =
            pure.iter().zip(&x).map(|(way, x)| way + shift + spin.cross(&(x - centre))).collect();
        keep_momentum(&body.mass, &x, &mut moved);
        moved.iter().zip(&pure).for_each(|(moved, pure)| assert_near(*moved, *pure, 1e-12));
    });
}

#[test]
fn points_on_a_line_and_in_one_place_are_not_turned() {
    let mut random = Random(249);
    let mass = masses(20, &mut random);
    let along = random.vector();
    for size in [0.0, 1.0] {
        let x: Vec<Vec3> = (0..20).map(|i| along * (size * f64::from(i)) + Vec3::repeat(0.5)).collect();
        let mut ways = random.vectors(20);
        keep_momentum(&mass, &x, &mut ways);
        let ([moved, _], [size, _]) = momenta(&mass, &x, &ways);
        assert_near(moved, Vec3::zeros(), 1e-12 * size);
        assert!(ways.iter().all(|way| way.norm() < 40.0), "{ways:?}");
    }
}

const H: f64 = 1.0 / 240.0;

#[test]
fn nothing_stays_below_the_yield() {
    let mut random = Random(250);
    for _ in 0..100 {
        let flowed = Mat3::from_diagonal(&Vec3::new(1.25, 1.0, 0.8));
        let beyond = Mat3::from_fn(|_, _| random.within(-1.0, 1.0)).normalize() * random.within(0.0, 0.0999);
        assert_eq!(flow(&flowed, &(Mat3::identity() + beyond), 0.1, 1e3, 1.0), flowed);
    }
    let nan = Mat3::repeat(f64::NAN);
    assert_eq!(flow(&Mat3::identity(), &nan, 0.1, 1.0, H), Mat3::identity());
}

#[test]
fn above_the_yield_the_part_stays_that_time_lets_it() {
    let mut random = Random(251);
    for _ in 0..100 {
        // A shear changes no volume, so that what stays is told without a scale.
        let (a, size) = (random.vector().normalize(), random.within(0.15, 0.6));
        let b = a.cross(&random.vector()).normalize();
        let shear = |by: f64| Mat3::identity() + a * b.transpose() * by;
        for creep in [0.1, 2.0, 50.0] {
            let found = flow(&Mat3::identity(), &shear(size), 0.1, creep, H);
            let expected = shear((size - 0.1) * (1.0 - (-creep * H).exp()));
            assert!((found - expected).norm() < 1e-14, "{found} is not {expected}");
        }
        // After long enough only the yield is left, and then nothing more stays.
        let flowed = flow(&Mat3::identity(), &shear(size), 0.1, 1e6, 1.0);
        let left = shear(size) * flowed.try_inverse().unwrap();
        assert_close((left - Mat3::identity()).norm(), 0.1, 1e-14);
        // Later ones come on top of earlier ones.
        let before = Mat3::from_diagonal(&Vec3::new(1.25, 1.0, 0.8));
        assert!((flow(&before, &shear(size), 0.1, 1e6, 1.0) - shear(size - 0.1) * before).norm() < 1e-14);
    }
}

#[test]
fn what_stays_has_the_volume_it_had_and_is_bounded() {
    let mut random = Random(252);
    for largest in [0.3, 1.0, 10.0] {
        let mut flowed = Mat3::identity();
        let mut most = 0.0_f64;
        for _ in 0..2000 {
            let stretch = Mat3::identity() + Mat3::from_fn(|_, _| random.within(-largest, largest));
            flowed = flow(&flowed, &stretch, 0.1, 20.0, H);
            assert_close(flowed.determinant(), 1.0, 1e-12);
            most = most.max((flowed - Mat3::identity()).norm());
        }
        assert!(most > 0.5 && most <= 1.0, "{most}");
    }
    for stretch in [-Mat3::identity(), Mat3::identity() * 1e300, Mat3::zeros(), Mat3::identity() * f64::INFINITY] {
        let flowed = flow(&Mat3::identity(), &stretch, 0.1, 1e6, 1.0);
        assert!((flowed - Mat3::identity()).norm() <= 1.0, "{stretch} makes {flowed}");
    }
}

#[test]
fn a_rigid_motion_far_from_the_guess_leaves_nothing_to_do() {
    bodies(243, |body, random| {
        for angle in [1.5, 2.5, 3.0] {
            let (rotation, away) = (turn(angle, random), random.vector());
            let x: Vec<Vec3> = body.rest.iter().map(|x| rotation * x + away).collect();
            for (goal, x) in body.goals_from_unturned(&x).iter().zip(&x) {
                assert_near(*goal, *x, 1e-12);
            }
        }
    });
}
