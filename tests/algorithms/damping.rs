//! Damping by regions: what it must leave alone, and the same by brute force.

use kiln::algorithms::shape_matching::damping::{Motions, motion, motions, velocity};
use kiln::algorithms::shape_matching::fast_summation::Regions;
use kiln::math::{Mat3, Vec3};

use crate::surfaces::{along_paths, closed, masses, members, neighbours, run};
use crate::{Mesh, Random, assert_near};

struct Body {
    mesh: Mesh,
    omega: u32,
    mass: Vec<f64>,
    regions: Regions,
}

impl Body {
    /// What regions give each particle, from running sums, places counting from the middle.
    fn smoothed(&self, v: &[Vec3]) -> Vec<Vec3> {
        let (x, regions) = (&self.mesh.positions, &self.regions);
        let middle = self.middle();
        let shared = |i: usize| self.mass[i] / f64::from(regions.count(i));
        let sums = run(regions, |i| motions(shared(i), x[i] - middle, v[i]));
        let moving = run(regions, |i| motion(&regions.sum(&sums, i)));
        (0..v.len()).map(|i| velocity(&regions.sum(&moving, i), regions.count(i), x[i] - middle)).collect()
    }

    fn damped(&self, v: &[Vec3], part: f64) -> Vec<Vec3> {
        self.smoothed(v).iter().zip(v).map(|(smooth, v)| v + (smooth - v) * part).collect()
    }

    fn middle(&self) -> Vec3 {
        let sum: Vec3 = self.mesh.positions.iter().zip(&self.mass).map(|(x, m)| x * *m).sum();
        sum / self.mass.iter().sum::<f64>()
    }

    fn momenta(&self, v: &[Vec3]) -> [Vec3; 2] {
        let middle = self.middle();
        let parts = v.iter().zip(&self.mesh.positions).zip(&self.mass);
        parts.fold([Vec3::zeros(); 2], |[p, l], ((v, x), m)| [p + v * *m, l + (x - middle).cross(v) * *m])
    }

    fn energy(&self, v: &[Vec3]) -> f64 {
        v.iter().zip(&self.mass).map(|(v, m)| 0.5 * m * v.norm_squared()).sum()
    }
}

fn bodies(seed: u64, mut check: impl FnMut(&Body, &mut Random)) {
    let mut random = Random(seed);
    for mesh in closed(&mut random) {
        for omega in [1, 2, 4] {
            let (mesh, paths) = along_paths(&mesh);
            let regions = Regions::build(&paths, &neighbours(&mesh), omega);
            let mass = masses(mesh.positions.len(), &mut random);
            check(&Body { mesh, omega, mass, regions }, &mut random);
        }
    }
}

#[test]
fn velocities_are_those_of_brute_force() {
    bodies(260, |body, random| {
        let (x, v) = (&body.mesh.positions, random.vectors(body.mass.len()));
        let all = members(&body.mesh, body.omega);
        let shared = |i: usize| body.mass[i] / all[i].len() as f64;
        let mut sums = vec![Vec3::zeros(); v.len()];
        for held in &all {
            let mass: f64 = held.iter().map(|&i| shared(i)).sum();
            let mean = |of: &[Vec3]| held.iter().map(|&i| of[i] * shared(i)).sum::<Vec3>() / mass;
            let (centre, straight) = (mean(x), mean(&v));
            let (mut spin, mut inertia) = (Vec3::zeros(), Mat3::zeros());
            for &i in held {
                let arm = x[i] - centre;
                spin += arm.cross(&(v[i] - straight)) * shared(i);
                let cross = arm.cross_matrix();
                inertia += cross.transpose() * cross * shared(i);
            }
            let spin = inertia.lu().solve(&spin).unwrap();
            held.iter().for_each(|&i| sums[i] += straight + spin.cross(&(x[i] - centre)));
        }
        for (i, found) in body.smoothed(&v).iter().enumerate() {
            assert_near(*found, sums[i] / all[i].len() as f64, 1e-10);
        }
    });
}

#[test]
fn a_rigid_motion_is_left_alone() {
    bodies(261, |body, random| {
        let (straight, spin) = (random.vector(), random.vector());
        let v: Vec<Vec3> = body.mesh.positions.iter().map(|x| straight + spin.cross(x)).collect();
        for (found, v) in body.damped(&v, 1.0).iter().zip(&v) {
            assert_near(*found, *v, 1e-12);
        }
    });
}

#[test]
fn momentum_and_angular_momentum_are_kept() {
    bodies(262, |body, random| {
        let v = random.vectors(body.mass.len());
        let sizes: f64 = body.mass.iter().zip(&v).map(|(m, v)| m * v.norm()).sum();
        for part in [0.1, 1.0] {
            let after = body.damped(&v, part);
            assert!(after.iter().zip(&v).any(|(after, v)| (after - v).norm() > 0.05), "nothing was damped");
            for (after, before) in body.momenta(&after).into_iter().zip(body.momenta(&v)) {
                assert_near(after, before, 1e-12 * sizes);
            }
        }
    });
}

#[test]
fn energy_never_grows() {
    bodies(263, |body, random| {
        for part in [0.01, 0.5, 1.0] {
            let mut v = random.vectors(body.mass.len());
            let first = body.energy(&v);
            for _ in 0..20 {
                let after = body.damped(&v, part);
                // Rounding is all that it may grow by, once only a motion of the whole is left.
                assert!(body.energy(&after) <= body.energy(&v) * (1.0 + 1e-14));
                v = after;
            }
            assert!(part < 0.5 || body.energy(&v) < 0.5 * first, "{} of {first}", body.energy(&v));
        }
    });
}

fn sum_of(parts: &[(f64, Vec3, Vec3)]) -> Motions {
    let rows = parts.iter().map(|&(m, x, v)| motions(m, x, v));
    rows.fold([0.0; 16], |sum, row| std::array::from_fn(|n| sum[n] + row[n]))
}

#[test]
fn points_on_a_line_or_in_one_place_move_without_a_spin() {
    let mut random = Random(264);
    for round in 0..200 {
        let (along, from) = (random.vector(), random.vector());
        let size = if round % 2 == 0 { 1.0 } else { 0.0 };
        let part = |random: &mut Random| {
            (random.within(0.2, 3.0), from + along * (size * random.within(-1.0, 1.0)), random.vector())
        };
        let parts: Vec<(f64, Vec3, Vec3)> = (0..7).map(|_| part(&mut random)).collect();
        let found = motion(&sum_of(&parts));
        let mass: f64 = parts.iter().map(|part| part.0).sum();
        let mean = parts.iter().map(|(m, _, v)| v * *m).sum::<Vec3>() / mass;
        for (_, x, _) in &parts {
            assert_near(velocity(&found, 1, *x), mean, 1e-12);
        }
    }
}
