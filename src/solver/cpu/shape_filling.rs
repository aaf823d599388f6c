//! Elasticity and volume of a soft body whose shapes are matched.
//!
//! Based on: [Bender14 §4.4.2]
//!
//! Elasticity and volume are forces within the body, so they never move or turn it as a whole, also where it touches something (the thesis
//! lets volume do that): contacts do. With it the motion that keeping the volume made fed balls that should have come to rest.
//!
//! All sums run along paths (`path_sums`).

use std::ops::Range;

use pulp::Arch;

use super::filling::Filling;
use super::for_each;
use super::path_sums::{for_each_region, over_paths, widest};
use crate::algorithms::shape_matching::fast_summation;
use crate::algorithms::shape_matching::matching::{self, Moments, RigidMotion, Transform, Whole, mass_and_centre};
use crate::algorithms::shape_matching::surface_volume::{Correction, correction};
use crate::algorithms::shape_matching::{damping, surface_volume};
use crate::math::polar::{self, LANES};
use crate::math::{Mat3, Vec3, largest_norm};
use crate::model::{BodyState, ShapeBody, SoftBodyModel};
use crate::scene::ShapeMatching;

/// Fewest and most corrections of the volume in a step.
const SWEEPS: [u32; 2] = [1, 20];
/// Part of the tolerance that corrections aim at: contacts move things after them.
const ENOUGH: f64 = 0.1;
/// Largest way of a particle in one correction, in parts of the size of the body.
pub const LARGEST_WAY: f64 = 0.1;
/// Parts of its volume between which a body can find back to its shape region by region; what is flatter, inside out or blown up is led back as a
/// whole.
pub const FINDS_BACK: Range<f64> = 0.7..1.4;
/// Error of the volume from which on all particles mend it alike: the few that are deformed most would be shot out.
pub const MENDED_ALIKE: f64 = 0.05;
/// Part of all weights that must be free of contacts, else what touches moves too.
pub const LEAST_FREE: f64 = 0.5;
/// Square of the smallest normal that tells a direction, on the square of the mean.
pub const SMALL_NORMAL: f64 = 1e-12;

/// A surface's private memory.
pub struct ShapeFilling<'m> {
    body: &'m SoftBodyModel,
    shape: &'m ShapeBody,
    arch: Arch,
    h: f64,
    /// Whether nothing holds the body, so that elasticity must not move or turn it as a whole.
    is_free: bool,
    /// Where particles are at the start of the step: angular momentum is kept about these, because what is moved along its velocity keeps it.
    from: Vec<Vec3>,
    whole: Whole,
    /// Running sums of places, and then of transforms.
    moments: Vec<Moments>,
    transforms: Vec<Transform>,
    /// Running sums for damping.
    motions: Vec<damping::Motions>,
    region_motions: Vec<damping::Motion>,
    /// Running sums of weights.
    weight_sums: Vec<[f64; 2]>,
    /// How each region is turned.
    quaternions: Vec<[f64; 4]>,
    /// Area normals and unit normals of particles.
    normals: Vec<Vec3>,
    directions: Vec<Vec3>,
    /// Squares of the area normals at rest.
    squares_at_rest: Vec<f64>,
    /// The volume inside the look-ahead positions that are corrected next, if the area normals are theirs already.
    volume_of_ahead: Option<f64>,
    /// Ways of the particles, to their shape or by the volume [m].
    ways: Vec<Vec3>,
    /// How far along its normal each particle was moved to its shape in this step [m].
    risen: Vec<f64>,
    /// How much each particle is deformed.
    local: Vec<f64>,
    local_weights: Vec<f64>,
    /// How much of a volume that lacks each particle brings back: in velocities, and in positions, which heed contacts.
    weights: Vec<[f64; 2]>,
    /// Relative error of the volume before elasticity.
    off: f64,
    /// Whether the body is led back to its shape as a whole in this step.
    is_lost: bool,
    mean_mass: f64,
}

impl<'m> ShapeFilling<'m> {
    /// Memory for a soft body.
    pub fn new(body: &'m SoftBodyModel, shape: &'m ShapeBody) -> Self {
        let count = body.rest.len();
        let rows = count + shape.regions.path_count();
        let mut filling = ShapeFilling {
            body,
            shape,
            arch: Arch::new(),
            h: 0.0,
            is_free: body.k.iter().all(|k| *k > 0.0) && body.pins.soft.is_empty(),
            from: body.rest.clone(),
            whole: Whole::new(&body.mass, &body.rest),
            moments: vec![[0.0; 12]; rows],
            transforms: vec![[0.0; 12]; rows],
            motions: vec![[0.0; 16]; rows],
            region_motions: vec![[0.0; 6]; rows],
            weight_sums: vec![[0.0; 2]; rows],
            quaternions: vec![[1.0, 0.0, 0.0, 0.0]; count],
            normals: vec![Vec3::zeros(); count],
            directions: vec![Vec3::zeros(); count],
            squares_at_rest: Vec::new(),
            volume_of_ahead: None,
            ways: vec![Vec3::zeros(); count],
            risen: vec![0.0; count],
            local: vec![0.0; count],
            local_weights: vec![0.0; count],
            weights: vec![[0.0; 2]; count],
            off: 0.0,
            is_lost: false,
            mean_mass: body.mass.iter().sum::<f64>() / count as f64,
        };
        filling.point_normals(&body.rest);
        filling.squares_at_rest = filling.normals.iter().map(|normal| normal.norm_squared()).collect();
        filling
    }

    /// The middle of the body, from which places count: numbers near zero lose no digits.
    fn middle(&self, x: &[Vec3]) -> Vec3 {
        mass_and_centre(&self.body.mass, x).1
    }

    /// Area normals; the volume inside. One pass on one thread is faster than two that are shared out.
    fn point_normals(&mut self, x: &[Vec3]) -> f64 {
        surface_volume::area_normals(x, &self.body.mesh.triangles, self.shape.outwards, &mut self.normals)
    }

    /// Their directions; what has none keeps its last one.
    fn point_directions(&mut self) {
        let (normals, count) = (&self.normals, self.normals.len() as f64);
        let least = SMALL_NORMAL * normals.iter().map(|n| n.norm_squared()).sum::<f64>() / count;
        for_each(&mut self.directions, |i, direction| {
            let square = normals[i].norm_squared();
            if square > least {
                *direction = normals[i] / square.sqrt();
            }
        });
    }

    /// The running sums that regions are fitted with, of places from a middle.
    fn sum_moments(&mut self, x: &[Vec3], middle: Vec3) {
        let (shape, arch) = (self.shape, self.arch);
        let mut nothing = vec![(); x.len()]; // takes no memory
        over_paths(&shape.regions, &mut self.moments, &mut nothing, &|path, rows, _| {
            let first = shape.regions.particles(path..path + 1).start;
            widest(
                arch,
                #[inline(always)]
                || {
                    fast_summation::run(
                        rows,
                        #[inline(always)]
                        |at| shape.shapes.moments(first + at, x[first + at] - middle),
                    );
                },
            );
        });
    }

    /// What each region does to rest places, summed up along paths.
    fn fit(&mut self, flowed: &[f64]) {
        let (shape, arch) = (self.shape, self.arch);
        let (moments, directions) = (&self.moments, &self.directions);
        over_paths(&shape.regions, &mut self.transforms, &mut self.quaternions, &|path, rows, quaternions| {
            let first = shape.regions.particles(path..path + 1).start;
            widest(
                arch,
                #[inline(always)]
                || fit_path(shape, first, moments, directions, flowed, rows, quaternions),
            );
        });
    }

    /// The sums for the motion of the whole.
    fn whole_motions(&self, x: &[Vec3], v: &[Vec3], middle: Vec3) -> damping::Motions {
        let rows = x.iter().zip(v).zip(&self.body.mass).map(|((x, v), &m)| damping::motions(m, x - middle, *v));
        rows.fold([0.0; 16], |sum, row| std::array::from_fn(|n| sum[n] + row[n]))
    }

    /// How the body is turned as a whole.
    fn whole_turn(&self, x: &[Vec3]) -> Mat3 {
        self.shape.shapes.whole_turn(&self.body.mass, x, self.middle(x))
    }

    /// Lead all particles towards the shape of the whole, which is where it fits best.
    fn lead_back(&mut self, ahead: &mut [Vec3], middle: Vec3) {
        let (body, shape, turn) = (self.body, self.shape, self.whole_turn(ahead));
        for_each(&mut self.ways, |i, way| {
            let goal = turn * shape.shapes.rest[i] + middle;
            *way = if body.k[i] > 0.0 { goal - ahead[i] } else { Vec3::zeros() };
        });
        let part = self.shortened(largest_norm(&self.ways));
        ahead.iter_mut().zip(&self.ways).for_each(|(ahead, way)| *ahead += way * part);
    }

    /// What of some ways moves or turns a free body as a whole, which nothing inside it can.
    fn excess(&self, whole: &Whole, x: &[Vec3], way: impl Fn(usize) -> Vec3) -> RigidMotion {
        if self.is_free { whole.moved_by(&self.body.mass, x, way) } else { RigidMotion::default() }
    }

    /// Part that all ways are shortened to, so that none is longer than a part of the body.
    fn shortened(&self, longest: f64) -> f64 {
        let most = LARGEST_WAY * self.shape.volume.cbrt();
        if longest > most { most / longest } else { 1.0 }
    }

    /// The volume inside.
    fn volume(&self, x: &[Vec3]) -> f64 {
        let from = x[0];
        let six = |corners: &[u32; 3]| {
            let [a, b, c] = corners.map(|v| x[v as usize] - from);
            a.dot(&b.cross(&c))
        };
        self.body.mesh.triangles.iter().map(six).sum::<f64>() / 6.0 * self.shape.outwards
    }
}

/// Fit the regions of a path and add up what they do: `rows` are those of the path, the first one stays zero.
#[inline(always)]
fn fit_path(
    shape: &ShapeBody,
    first: usize,
    moments: &[Moments],
    directions: &[Vec3],
    flowed: &[f64],
    rows: &mut [Transform],
    quaternions: &mut [[f64; 4]],
) {
    let mut sums = [[0.0; 12]; LANES];
    fast_summation::run_parts(
        rows,
        LANES,
        #[inline(always)]
        |at, rows| {
            let (start, count) = (first + at, rows.len());
            shape.regions.sums(moments, start, &mut sums[..count]);
            let flowed = if flowed.is_empty() { flowed } else { &flowed[9 * start..9 * (start + count)] };
            let (directions, quaternions) = (&directions[start..start + count], &mut quaternions[at..at + count]);
            shape.shapes.fit_lanes(start, &sums[..count], directions, flowed, quaternions, rows);
        },
    );
}

impl Filling for ShapeFilling<'_> {
    fn begin_frame(&mut self, moving: &BodyState) {
        let turn = self.whole_turn(&moving.x);
        self.quaternions.fill(polar::quaternion(&turn));
        // What has no normal points where it would if the body had its shape.
        self.point_normals(&self.body.rest.clone());
        self.point_directions();
        self.directions.iter_mut().for_each(|direction| *direction = turn * *direction);
    }

    fn begin_step(&mut self, h: f64, _: f64) {
        self.h = h;
    }

    fn damp(&mut self, moving: &mut BodyState) {
        let (shape, arch, k) = (self.shape, self.arch, &self.body.k);
        let rate = shape.settings.damping;
        if rate <= 0.0 {
            return;
        }
        let middle = self.middle(&moving.x);
        let BodyState { x, v, .. } = moving;
        let mut nothing = vec![(); x.len()];
        over_paths(&shape.regions, &mut self.motions, &mut nothing, &|path, rows, _| {
            let first = shape.regions.particles(path..path + 1).start;
            let mass = &shape.shapes.shared_mass;
            widest(
                arch,
                #[inline(always)]
                || {
                    fast_summation::run(
                        rows,
                        #[inline(always)]
                        |at| damping::motions(mass[first + at], x[first + at] - middle, v[first + at]),
                    );
                },
            );
        });
        let motions = &self.motions;
        over_paths(&shape.regions, &mut self.region_motions, &mut nothing, &|path, rows, _| {
            let first = shape.regions.particles(path..path + 1).start;
            let mut sums = [[0.0; 16]; LANES];
            widest(
                arch,
                #[inline(always)]
                || {
                    fast_summation::run_parts(
                        rows,
                        LANES,
                        #[inline(always)]
                        |at, rows| {
                            shape.regions.sums(motions, first + at, &mut sums[..rows.len()]);
                            rows.iter_mut().zip(&sums).for_each(|(row, sums)| *row = damping::motion(sums));
                        },
                    );
                },
            );
        });
        let (region_motions, part) = (&self.region_motions, 1.0 - (-rate * self.h).exp());
        for_each_region(&shape.regions, arch, region_motions, v, |i, sum, v| {
            if k[i] > 0.0 {
                *v += (damping::velocity(sum, shape.regions.count(i), x[i] - middle) - *v) * part;
            }
        });
    }

    fn spring(&mut self, moving: &BodyState, ahead: &mut [Vec3]) {
        let (body, shape, arch) = (self.body, self.shape, self.arch);
        let middle = self.middle(ahead);
        self.from.copy_from_slice(&moving.x);
        self.whole = Whole::new(&body.mass, &moving.x);
        self.off = self.point_normals(ahead) / shape.volume - 1.0;
        self.is_lost = shape.settings.keep_volume && !FINDS_BACK.contains(&(1.0 + self.off));
        if self.is_lost {
            self.lead_back(ahead, middle);
            self.risen.fill(0.0);
            return;
        }
        self.point_directions();
        self.sum_moments(ahead, middle);
        self.fit(&moving.flowed);
        let faster = (self.h / ShapeMatching::STEP).powi(2);
        let transforms = &self.transforms;
        for_each_region(&shape.regions, arch, transforms, &mut self.ways, |i, sum, way| {
            let goal = shape.shapes.goal(i, sum, shape.regions.count(i)) + middle;
            let part = (shape.stiffness[i] * faster).min(1.0);
            *way = if body.k[i] > 0.0 { (goal - ahead[i]) * part } else { Vec3::zeros() };
        });
        let excess = self.excess(&self.whole, &self.from, |i| self.ways[i]);
        let places = ahead.iter_mut().zip(&self.from).zip(&self.ways);
        for (((ahead, from), way), (risen, direction)) in places.zip(self.risen.iter_mut().zip(&self.directions)) {
            let way = way - excess.at(from);
            *risen = way.dot(direction);
            *ahead += way;
        }
    }

    fn heed_contacts(&mut self, ahead: &[Vec3], touches: &[bool]) {
        let (body, shape, arch) = (self.body, self.shape, self.arch);
        let ShapeMatching { keep_volume, alpha, beta, .. } = shape.settings;
        if !keep_volume {
            return;
        }
        // Only what would bring the volume nearer counts: a peak that has more than its part would else be given all of it.
        let volume = self.point_normals(ahead);
        self.volume_of_ahead = Some(volume);
        let sign = if volume <= shape.volume { 1.0 } else { -1.0 };
        let risen = &self.risen;
        for_each(&mut self.local, |i, local| {
            let through = (-sign * shape.inner.change(i, ahead)).max(0.0);
            let risen = (sign * risen[i]).max(0.0);
            *local = beta * shape.inner.weights[i] * through + (1.0 - beta) * risen;
        });
        let alike = alpha.max((self.off.abs() / MENDED_ALIKE).min(1.0));
        surface_volume::blend(alike, &self.local, &mut self.local_weights);
        let weights = &self.local_weights;
        let weight = |i: usize| [weights[i], if touches[i] { 0.0 } else { weights[i] }];
        let mut nothing = vec![(); ahead.len()];
        over_paths(&shape.regions, &mut self.weight_sums, &mut nothing, &|path, rows, _| {
            let first = shape.regions.particles(path..path + 1).start;
            fast_summation::run(rows, |at| weight(first + at));
        });
        let (sums, mean_mass) = (&self.weight_sums, self.mean_mass);
        let (normals, squares_at_rest) = (&self.normals, &self.squares_at_rest);
        for_each_region(&shape.regions, arch, sums, &mut self.weights, |i, sum, smoothed| {
            // What is blown up brings back no more volume than at rest: the larger it got, the more it would take.
            let blown = (normals[i].norm_squared() / squares_at_rest[i]).max(1.0);
            let share = body.k[i] * mean_mass / (f64::from(shape.regions.count(i)) * blown);
            *smoothed = sum.map(|sum| sum.max(0.0) * share);
            if touches[i] {
                smoothed[1] = 0.0;
            }
        });
        let [all, free] = self.weights.iter().fold([0.0; 2], |sum, weight| [sum[0] + weight[0], sum[1] + weight[1]]);
        let lacking = LEAST_FREE - free / all;
        if lacking > 0.0 {
            // Held on most sides: the few that are free would be shot out, so contacts and volume have to agree.
            self.weights.iter_mut().for_each(|[weight, heeding]| *heeding += lacking * *weight);
        }
    }

    fn moves_only_what_is_free(&self) -> bool {
        true
    }

    fn sweep(&mut self, ahead: &mut [Vec3]) -> f64 {
        if !self.shape.settings.keep_volume {
            return if ahead.iter().all(|x| x.norm_squared().is_finite()) { 0.0 } else { f64::INFINITY };
        }
        let volume = self.volume_of_ahead.take().unwrap_or_else(|| self.point_normals(ahead));
        let error = (volume / self.shape.volume - 1.0).abs();
        if error.is_nan() {
            return f64::INFINITY;
        }
        if !FINDS_BACK.contains(&(volume / self.shape.volume)) {
            return error; // no direction along a normal means anything
        }
        let lacking = self.shape.volume - volume;
        let (normals, weights) = (&self.normals, &self.weights);
        let Some(Correction { multiplier, longest }) = correction(lacking, |i| weights[i][1], normals) else {
            return error;
        };
        let multiplier = multiplier * self.shortened(longest);
        let way = |i: usize| normals[i] * (weights[i][1] * multiplier);
        let excess = self.excess(&self.whole, &self.from, way);
        ahead.iter_mut().zip(&self.from).enumerate().for_each(|(i, (ahead, from))| *ahead += way(i) - excess.at(from));
        error
    }

    fn sweeps(&self) -> [u32; 2] {
        SWEEPS
    }

    fn enough(&self) -> f64 {
        ENOUGH
    }

    fn calm(&mut self, x: &[Vec3], v: &mut [Vec3]) {
        if !self.shape.settings.keep_volume {
            return;
        }
        if self.is_lost {
            // Being led gives no speed but that of the whole.
            let middle = self.middle(x);
            let motion = damping::motion(&self.whole_motions(x, v, middle));
            for ((x, v), k) in x.iter().zip(v).zip(&self.body.k) {
                if *k > 0.0 {
                    *v = damping::velocity(&motion, 1, x - middle);
                }
            }
            return;
        }
        // The normals of the last correction, which has hardly changed them.
        let growth = surface_volume::growth(v, &self.normals);
        let (normals, weights) = (&self.normals, &self.weights);
        if let Some(Correction { multiplier, .. }) = correction(-growth, |i| weights[i][0], normals) {
            let way = |i: usize| normals[i] * (weights[i][0] * multiplier);
            let excess = self.excess(&Whole::new(&self.body.mass, x), x, way);
            v.iter_mut().zip(x).enumerate().for_each(|(i, (v, x))| *v += way(i) - excess.at(x));
        }
    }

    fn flow(&self, moving: &mut BodyState) {
        let (shape, Some(plasticity)) = (self.shape, self.body.flesh.plasticity) else {
            return;
        };
        if self.is_lost {
            return; // nothing was fitted in this step
        }
        if moving.flowed.is_empty() {
            let none = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
            moving.flowed = none.iter().copied().cycle().take(9 * moving.x.len()).collect();
        }
        let mut regions: Vec<&mut [f64]> = moving.flowed.chunks_exact_mut(9).collect();
        for_each(&mut regions, |i, flowed| {
            let before = Mat3::from_row_slice(flowed);
            let sums = shape.regions.sum(&self.moments, i);
            let stretch = shape.shapes.stretch(i, &sums, self.directions[i], &self.quaternions[i], &before);
            let after = matching::flow(&before, &stretch, plasticity.yields_at, plasticity.creep, self.h);
            for (n, flowed) in flowed.iter_mut().enumerate() {
                *flowed = after[(n / 3, n % 3)];
            }
        });
    }

    fn worst_error(&self, x: &[Vec3]) -> f64 {
        if self.shape.settings.keep_volume { self.whole_error(x).abs() } else { 0.0 }
    }

    fn whole_error(&self, x: &[Vec3]) -> f64 {
        self.volume(x) / self.shape.volume - 1.0
    }

    fn mark_broken(&self, _: &[Vec3], is_broken: &mut [bool]) {
        is_broken.fill(true);
    }
}
