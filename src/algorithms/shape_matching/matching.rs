//! Where a particle would be if the regions around it had kept their shapes.
//!
//! Based on: [Bender14 §4.4.2.2] (4.14-4.18); Müller, Heidelberger, Teschner and Gross 2005 also for plasticity; Rivers and James 2007 for masses
//! Idea:     each region's rest shape is moved and turned to fit best, `A = Σ m (x - t)(x⁰ - t⁰)ᵀ`, `R` nearest to `A`; a particle's goal is the
//!           mean of what all regions that hold it want. A point along the normal, as far out as the region is wide, tells one side of a flat
//!           region from the other.
//! Deviates: a particle counts in each region with its mass over the number of regions that hold it: what regions want then keeps momentum
//!           as it is, also where the mesh is irregular. The point along the normal moves no centre, for the same reason.
//!           `l` is the mean distance by mass (the thesis divides by the number of particles, which leaves a mass too many).
//! Test:     tests/algorithms/matching.rs

use super::fast_summation::Regions;
use crate::math::polar::{self, LANES, Lanes};
use crate::math::{Mat3, Vec3};

/// A row of sums: `Σ m x`, then `Σ m x x⁰ᵀ` row by row.
pub type Moments = [f64; 12];
/// What a region does to rest places: a matrix row by row, then a displacement.
pub type Transform = [f64; 12];

/// Part of its extent at rest below which a body is in one point, which is turned in no direction.
const IN_A_POINT: f64 = 1e-9;

/// What does not change about the regions.
#[derive(Clone, Debug)]
pub struct RestShapes {
    /// Where particles are at rest, from the middle of the body [m].
    pub rest: Vec<Vec3>,
    /// Mass over the number of regions that hold the particle [kg].
    pub shared_mass: Vec<f64>,
    /// The sum of these over each region [kg].
    pub masses: Vec<f64>,
    /// Centres at rest [m].
    pub centres: Vec<Vec3>,
    /// Normals at rest times the weight of the point along them [kg m²].
    pub normals: Vec<Vec3>,
    /// Inverse of `Σ m (x⁰ - t⁰)(x⁰ - t⁰)ᵀ` with the point along the normal [1/(kg m²)].
    pub inverse_spread: Vec<Mat3>,
}

impl RestShapes {
    /// From places (from the middle of the body), masses and unit normals at rest.
    pub fn build(regions: &Regions, rest: Vec<Vec3>, masses: &[f64], normals: &[Vec3]) -> Self {
        let shared_mass: Vec<f64> =
            masses.iter().enumerate().map(|(i, mass)| mass / f64::from(regions.count(i))).collect();
        let mut shapes = RestShapes {
            masses: Vec::new(),
            centres: Vec::new(),
            normals: Vec::new(),
            inverse_spread: Vec::new(),
            rest,
            shared_mass,
        };
        for (region, &normal) in normals.iter().enumerate() {
            let mass: f64 = regions.members(region).map(|i| shapes.shared_mass[i]).sum();
            let mean = |value: &dyn Fn(usize) -> f64| {
                regions.members(region).map(|i| value(i) * shapes.shared_mass[i]).sum::<f64>() / mass
            };
            let centre = Vec3::from_fn(|k, _| mean(&|i| shapes.rest[i][k]));
            let far = mean(&|i| (shapes.rest[i] - centre).norm());
            let weight = mass / f64::from(regions.count(region)) * far * far;
            let spread = regions.members(region).map(|i| {
                let arm = shapes.rest[i] - centre;
                arm * arm.transpose() * shapes.shared_mass[i]
            });
            let spread = spread.sum::<Mat3>() + normal * normal.transpose() * weight;
            shapes.inverse_spread.push(spread.try_inverse().unwrap_or_default());
            shapes.masses.push(mass);
            shapes.centres.push(centre);
            shapes.normals.push(normal * weight);
        }
        shapes
    }

    /// A particle's part of the sums, at `x` from a common point.
    #[inline(always)]
    pub fn moments(&self, i: usize, x: Vec3) -> Moments {
        let (p, r) = (x * self.shared_mass[i], &self.rest[i]);
        [
            p.x,
            p.y,
            p.z,
            p.x * r.x,
            p.x * r.y,
            p.x * r.z,
            p.y * r.x,
            p.y * r.y,
            p.y * r.z,
            p.z * r.x,
            p.z * r.y,
            p.z * r.z,
        ]
    }

    /// The centre of a region and its matrix `A`, from its sums and the unit normal there.
    #[inline(always)]
    fn fit(&self, region: usize, sums: &Moments, normal: Vec3) -> (Vec3, [f64; 9]) {
        let mass = self.masses[region];
        let t = Vec3::new(sums[0] / mass, sums[1] / mass, sums[2] / mass);
        let (t0, n0) = (self.centres[region], self.normals[region]);
        let mut a = [0.0; 9];
        for row in 0..3 {
            for column in 0..3 {
                a[3 * row + column] = sums[3 + 3 * row + column] - sums[row] * t0[column] + normal[row] * n0[column];
            }
        }
        (t, a)
    }

    /// Fit some regions that follow each other, at most as many as there are lanes: `quaternions` are their rotations before and after, `flowed`
    /// what has stayed of earlier deformations (nine numbers each, or nothing), `transforms` what they do to rest places.
    #[inline(always)]
    pub fn fit_lanes(
        &self,
        first: usize,
        sums: &[Moments],
        normals: &[Vec3],
        flowed: &[f64],
        quaternions: &mut [[f64; 4]],
        transforms: &mut [Transform],
    ) {
        let mut a = [[0.0; LANES]; 9];
        let mut q: [Lanes; 4] = [[1.0; LANES], [0.0; LANES], [0.0; LANES], [0.0; LANES]];
        let mut centres = [Vec3::zeros(); LANES];
        for n in [0, 4, 8] {
            a[n] = [1.0; LANES]; // lanes without a region converge at once
        }
        for (l, sums) in sums.iter().enumerate() {
            let (centre, of_region) = self.fit(first + l, sums, normals[l]);
            centres[l] = centre;
            let of_region = match flowed.get(9 * l..9 * l + 9) {
                Some(flowed) => times_transposed(&of_region, flowed),
                None => of_region,
            };
            for n in 0..9 {
                a[n][l] = of_region[n];
            }
            for n in 0..4 {
                q[n][l] = quaternions[l][n];
            }
        }
        let is_there = polar::turn_towards(&a, &mut q);
        if is_there.iter().any(|is_there| !is_there) {
            self.fall_back(&a, &is_there, sums.len(), quaternions, &mut q);
        }
        let r = polar::matrices(&q);
        for l in 0..sums.len() {
            let matrix: [f64; 9] = std::array::from_fn(|n| r[n][l]);
            let matrix = match flowed.get(9 * l..9 * l + 9) {
                Some(flowed) => times(&matrix, flowed),
                None => matrix,
            };
            let t0 = &self.centres[first + l];
            let transform = &mut transforms[l];
            transform[..9].copy_from_slice(&matrix);
            for row in 0..3 {
                transform[9 + row] = centres[l][row]
                    - (matrix[3 * row] * t0.x + matrix[3 * row + 1] * t0.y + matrix[3 * row + 2] * t0.z);
            }
            for n in 0..4 {
                quaternions[l][n] = q[n][l];
            }
        }
    }

    /// The slow way for lanes that Newton's steps do not lead anywhere.
    #[cold]
    #[inline(never)]
    fn fall_back(
        &self,
        a: &[Lanes; 9],
        is_there: &[bool; LANES],
        count: usize,
        before: &[[f64; 4]],
        q: &mut [Lanes; 4],
    ) {
        for l in (0..count).filter(|&l| !is_there[l]) {
            let [w, x, y, z] = before[l];
            let guess = nalgebra::UnitQuaternion::new_normalize(nalgebra::Quaternion::new(w, x, y, z));
            let matrix = Mat3::from_fn(|row, column| a[3 * row + column][l]);
            let found = polar::quaternion(&polar::rotation(&matrix, guess.to_rotation_matrix().matrix()));
            for n in 0..4 {
                q[n][l] = found[n];
            }
        }
    }

    /// What a region has become beside its rotation, less what has stayed already: the matrix `S` of `A = R S (...)`.
    pub fn stretch(&self, region: usize, sums: &Moments, normal: Vec3, quaternion: &[f64; 4], flowed: &Mat3) -> Mat3 {
        let (_, a) = self.fit(region, sums, normal);
        let [w, x, y, z] = *quaternion;
        let turn = nalgebra::UnitQuaternion::new_normalize(nalgebra::Quaternion::new(w, x, y, z));
        let kept = flowed.try_inverse().unwrap_or_else(Mat3::identity);
        turn.to_rotation_matrix().matrix().transpose() * Mat3::from_row_slice(&a) * self.inverse_spread[region] * kept
    }

    /// How the body is turned as a whole, with these masses at these places around its middle.
    pub fn whole_turn(&self, masses: &[f64], x: &[Vec3], middle: Vec3) -> Mat3 {
        let products = x.iter().zip(&self.rest).zip(masses);
        let sum = products.map(|((x, rest), m)| (x - middle) * rest.transpose() * *m).sum::<Mat3>();
        let at_rest: f64 = self.rest.iter().zip(masses).map(|(rest, m)| rest.norm_squared() * m).sum();
        let upright = Mat3::identity();
        if sum.norm() > IN_A_POINT * at_rest { polar::rotation(&sum, &upright) } else { upright }
    }

    /// The goal of a particle, from the sum of the transforms of all regions that hold it.
    #[inline(always)]
    pub fn goal(&self, i: usize, sum: &Transform, count: u32) -> Vec3 {
        let (r, share) = (&self.rest[i], 1.0 / f64::from(count));
        let row = |k: usize| {
            (sum[3 * k] * share) * r.x
                + (sum[3 * k + 1] * share) * r.y
                + (sum[3 * k + 2] * share) * r.z
                + sum[9 + k] * share
        };
        Vec3::new(row(0), row(1), row(2))
    }
}

/// `a bᵀ`, row by row.
#[inline(always)]
fn times_transposed(a: &[f64; 9], b: &[f64]) -> [f64; 9] {
    std::array::from_fn(|n| (0..3).map(|k| a[3 * (n / 3) + k] * b[3 * (n % 3) + k]).sum())
}

/// `a b`, row by row.
#[inline(always)]
fn times(a: &[f64; 9], b: &[f64]) -> [f64; 9] {
    std::array::from_fn(|n| (0..3).map(|k| a[3 * (n / 3) + k] * b[3 * k + n % 3]).sum())
}

/// Largest change of a region's shape that can stay, as the norm of its difference from none.
pub const MOST_FLOWED: f64 = 1.0;

/// What has stayed after a step in which a region was stretched by `stretch` beyond that: what is above the yield stays at a rate of `creep`
/// [1/s]. Volumes do not change by it.
pub fn flow(flowed: &Mat3, stretch: &Mat3, yields_at: f64, creep: f64, h: f64) -> Mat3 {
    let beyond = stretch - Mat3::identity();
    let size = beyond.norm();
    if size.is_nan() || size <= yields_at {
        return *flowed;
    }
    let stays = (1.0 - (-creep * h).exp()) * (1.0 - yields_at / size);
    let next = (Mat3::identity() + beyond * stays) * flowed;
    let volume = next.determinant();
    let is_sound = volume > 0.0 && volume.is_finite();
    let next = if is_sound { next / volume.cbrt() } else { *flowed };
    if (next - Mat3::identity()).norm() <= MOST_FLOWED { next } else { *flowed }
}

/// Largest turn of a body that displacements can mean [rad].
pub const LARGEST_TURN: f64 = 0.5;

/// The mass of particles and where its middle is.
pub fn mass_and_centre(masses: &[f64], x: &[Vec3]) -> (f64, Vec3) {
    let (mut mass, mut sum) = (0.0, Vec3::zeros());
    for (x, m) in x.iter().zip(masses) {
        mass += m;
        sum += x * *m;
    }
    (mass, sum / mass)
}

/// A body as a whole: what its displacements must not move or turn.
#[derive(Clone, Copy, Debug)]
pub struct Whole {
    mass: f64,
    centre: Vec3,
    inverse_inertia: Mat3,
}

impl Whole {
    /// Of particles with these masses at these places.
    pub fn new(masses: &[f64], x: &[Vec3]) -> Self {
        let (mass, centre) = mass_and_centre(masses, x);
        let [mut xx, mut yy, mut zz, mut xy, mut xz, mut yz] = [0.0; 6];
        for (x, m) in x.iter().zip(masses) {
            let arm = x - centre;
            let weighted = arm * *m;
            xx += weighted.x * arm.x;
            yy += weighted.y * arm.y;
            zz += weighted.z * arm.z;
            xy += weighted.x * arm.y;
            xz += weighted.x * arm.z;
            yz += weighted.y * arm.z;
        }
        let inertia = Mat3::new(yy + zz, -xy, -xz, -xy, xx + zz, -yz, -xz, -yz, xx + yy);
        Whole { mass, centre, inverse_inertia: inertia.try_inverse().unwrap_or_default() }
    }

    /// What of displacements moves or turns it as a whole; masses and places are the same. Taken away, momentum is as it was.
    #[inline]
    pub fn moved_by(&self, masses: &[f64], x: &[Vec3], displacement: impl Fn(usize) -> Vec3) -> RigidMotion {
        let (mut moved, mut turned) = (Vec3::zeros(), Vec3::zeros());
        for (i, (x, &m)) in x.iter().zip(masses).enumerate() {
            let by = displacement(i) * m;
            moved += by;
            turned += (x - self.centre).cross(&by);
        }
        let turn = self.inverse_inertia * turned;
        // What is in one point or on one line can be turned by anything.
        let turn = if turn.norm() < LARGEST_TURN { turn } else { Vec3::zeros() };
        RigidMotion { shift: moved / self.mass, turn, centre: self.centre }
    }
}

/// Small displacements of a body as a whole.
#[derive(Clone, Copy, Debug, Default)]
pub struct RigidMotion {
    shift: Vec3,
    turn: Vec3,
    centre: Vec3,
}

impl RigidMotion {
    /// The displacement of a place.
    #[inline(always)]
    pub fn at(&self, x: &Vec3) -> Vec3 {
        self.shift + self.turn.cross(&(x - self.centre))
    }
}
