//! One step of one cloth.
//!
//! Based on: [Bender14 §2.3, §4.3.2] (Vorausschau; iteratives Verfahren), order of a step as in section 4.3
//!
//! ```text
//! bending, air         impulses at the start of the step (every few steps while that is accurate)
//! touch                contacts from the positions at the start
//! look ahead           p = x + h v + h²/2 g
//! position sweep       distances in groups, pins, contacts
//! step                 v = (p - x)/h + h/2 g,  x = p
//! velocity sweep       distances, pins, contacts
//! at a frame's end     more position sweeps, without effect on v, until every distance is within tolerance
//! ```
//!
//! One sweep of each kind a step, never more: what a sweep leaves behind acts like the energy of a stiff spring, and a number of
//! sweeps that changes from step to step changes that spring's stiffness, which pumps energy into the cloth (measured: a
//! hanging sheet of 41 × 41 gained 300 J that way and loses 1 J this way). The tolerance is met by the number of steps.

use rayon::prelude::*;

use super::contacts::{Contacts, Point};
use super::independent::{larger, sweep};
use super::{StepWorld, for_each};
use crate::algorithms::cloth::air;
use crate::algorithms::cloth::conforming_map::WeightedReturn;
use crate::algorithms::cloth::distance;
use crate::math::motion::Pose;
use crate::math::sparse_cholesky::SparseCholesky;
use crate::math::sums::compensated_sum;
use crate::math::{Vec3, largest_norm};
use crate::mesh::bvh::Aabb;
use crate::model::build_pins::{Lead, PinnedVertex};
use crate::model::{ClothModel, ClothState, Model, MovingCollider};
use crate::solver::wind::Weather;
use crate::solver::{ClothReport, Drive, Quality};

/// Most sweeps at a frame's end, in case the number of steps was too small for the tolerance.
const POLISH_SWEEPS: u32 = 300;
/// Explicit bending is used while `step * frequency` is below this (the limit of stability is 2).
const EXPLICIT_BENDING: f64 = 0.5;
/// Most steps between two bending impulses.
const BENDING_INTERVAL: f64 = 4.0;
/// Depth in edge lengths up to which a vertex is moved out of a collider in one go.
const LEAVE_EDGES: f64 = 0.25;
/// Longest time between two air impulses [s]: the fastest cloth turns little in it.
const AIR_SECONDS: f64 = 5e-4;

/// A cloth's private memory.
pub struct ClothStep<'m> {
    number: usize,
    cloth: &'m ClothModel,
    /// Look-ahead positions.
    ahead: Vec<Vec3>,
    /// Bending rows as measured.
    measured: Vec<Vec3>,
    /// Air velocity at each triangle during the frame.
    wind: Vec<Vec3>,
    /// Velocity change of each triangle by air.
    air: Vec<Vec3>,
    /// Places of the pinned vertices at the start and end of the step.
    pin_targets: Vec<[Vec3; 2]>,
    /// The same for those that are only drawn there.
    soft_targets: Vec<[Vec3; 2]>,
    contacts: Contacts,
    /// Steps between two air impulses.
    air_interval: u32,
    bending: BendingPlan,
    /// Puts all pinned vertices where they belong at once.
    pin_return: Option<WeightedReturn>,
    /// Moves all softly pinned vertices at once.
    soft_return: Option<WeightedReturn>,
    /// Puts vertices outside of colliders; made when that is needed for the first time.
    collider_return: Option<WeightedReturn>,
    iterations: u64,
    /// Largest relative length error at the end of the frame.
    max_stretch: f64,
    /// The vertex that was fastest when a position was no longer a finite number.
    broken_at: Option<u32>,
}

/// How bending is integrated during a frame.
#[derive(Default)]
struct BendingPlan {
    /// Steps between two bending impulses.
    interval: u32,
    /// Damping time in use [s].
    damping: f64,
    /// The factor of the implicit form and the step it is for, where the explicit one would not be stable.
    implicit: Option<(f64, SparseCholesky)>,
}

impl<'m> ClothStep<'m> {
    /// Memory for a cloth.
    pub fn new(number: usize, cloth: &'m ClothModel, model: &Model) -> Self {
        ClothStep {
            number,
            cloth,
            ahead: cloth.rest.clone(),
            measured: vec![Vec3::zeros(); cloth.bending.rows.len()],
            wind: vec![Vec3::zeros(); cloth.mesh.triangles.len()],
            air: vec![Vec3::zeros(); cloth.mesh.triangles.len()],
            pin_targets: Vec::new(),
            soft_targets: Vec::new(),
            contacts: Contacts::new(cloth, model),
            air_interval: 1,
            bending: BendingPlan::default(),
            pin_return: weighted_return(cloth, cloth.pins.vertices.iter()),
            soft_return: weighted_return(cloth, cloth.pins.soft.iter().map(|soft| &soft.pin)),
            collider_return: None,
            iterations: 0,
            max_stretch: 0.0,
            broken_at: None,
        }
    }

    /// Prepare a frame.
    pub fn begin_frame(&mut self, moving: &ClothState, weather: &Weather, drive: &Drive) {
        let cloth = self.cloth;
        self.iterations = 0;
        self.broken_at = None;
        self.contacts.reset();
        for_each(&mut self.wind, |t, wind| {
            let centre = cloth.topology.triangle_edges[t].iter().map(|&e| moving.x[e as usize]).sum::<Vec3>() / 3.0;
            *wind = weather.velocity(centre);
        });
        let h = drive.frame_seconds / f64::from(drive.substeps);
        self.air_interval = (AIR_SECONDS / h).floor().clamp(1.0, f64::from(drive.substeps)) as u32;
        self.plan_bending(h);
    }

    /// Explicit bending as seldom as is stable, implicit where not even every step is.
    fn plan_bending(&mut self, h: f64) {
        let cloth = self.cloth;
        let frequency = cloth.bend_frequency_squared.sqrt();
        let plan = &mut self.bending;
        plan.damping = cloth.fabric.damping;
        if h * frequency > EXPLICIT_BENDING {
            plan.interval = 1;
            if plan.implicit.as_ref().is_none_or(|(step, _)| *step != h) {
                plan.implicit = implicit_bending(cloth, h).map(|factor| (h, factor));
            }
            return;
        }
        plan.implicit = None;
        plan.interval = (EXPLICIT_BENDING / (h * frequency)).floor().clamp(1.0, BENDING_INTERVAL) as u32;
        // Damping has a limit of stability too. The fastest waves get all that it allows, slower ones less than asked for.
        let longest = EXPLICIT_BENDING / (h * f64::from(plan.interval) * cloth.bend_frequency_squared);
        plan.damping = plan.damping.min(longest);
    }

    /// The box in which colliders are watched during the frame, if the cloth moves on as it does.
    pub fn frame_box(&self, moving: &ClothState, drive: &Drive) -> Aabb {
        self.contacts.watched_box(self.cloth, moving, largest_norm(&moving.v) * drive.frame_seconds)
    }

    /// Advance by one step.
    pub fn advance(&mut self, moving: &mut ClothState, world: &mut StepWorld, step: u32) {
        if self.broken_at.is_some() {
            return;
        }
        let cloth = self.cloth;
        let StepWorld { h, gravity, .. } = *world;
        self.pin_targets.clear();
        self.pin_targets.extend(pin_targets(cloth, cloth.pins.vertices.iter(), world));
        self.soft_targets.clear();
        self.soft_targets.extend(pin_targets(cloth, cloth.pins.soft.iter().map(|soft| &soft.pin), world));

        self.bend(moving, world, step);
        self.blow(moving, world, step);
        self.contacts.find(self.number, cloth, moving, world);
        let half = gravity * (0.5 * h);
        let (x, v) = (&moving.x, &moving.v);
        for_each(&mut self.ahead, |i, ahead| *ahead = x[i] + (v[i] + half) * h);
        for led in &cloth.pins.particles {
            let [a, b] = led.ends.map(|end| self.pin_targets[end as usize][1]);
            self.ahead[led.particle as usize] = (a + b) * 0.5;
        }
        self.draw_to_pins(moving, h);
        if !self.position_sweep().is_finite() {
            self.broken_at = Some(fastest_vertex(cloth, moving));
            return;
        }

        let ahead = &self.ahead;
        let ClothState { x, v } = moving;
        let inverse_h = 1.0 / h;
        for_each(v, |i, v| *v = (ahead[i] - x[i]) * inverse_h + half);
        for led in &cloth.pins.particles {
            v[led.particle as usize] = (ahead[led.particle as usize] - x[led.particle as usize]) * inverse_h;
        }
        std::mem::swap(x, &mut self.ahead);
        self.velocity_sweep(moving, h);
        if world.steps_left == 1 {
            self.polish(moving, world);
        }
    }

    /// Critically damped springs to the places of soft pins, implicit, so that their strength does not depend on the step:
    /// `(1 + 2 w h + w² h²) Δ = w² h² (target - y) + 2 w h (target's way - y's way)`.
    fn draw_to_pins(&mut self, moving: &ClothState, h: f64) {
        let cloth = self.cloth;
        let Some(soft_return) = &mut self.soft_return else {
            return;
        };
        soft_return.apply(&cloth.map, &cloth.k, &mut self.ahead, |number, y| {
            let (soft, [from, to]) = (&cloth.pins.soft[number], self.soft_targets[number]);
            let way = y - cloth.map.vertex(soft.pin.vertex as usize, &moving.x);
            let wh = soft.frequency * h;
            ((to - y) * (wh * wh) + ((to - from) - way) * (2.0 * wh)) / (1.0 + 2.0 * wh + wh * wh)
        });
    }

    fn bend(&mut self, moving: &mut ClothState, world: &StepWorld, step: u32) {
        let (cloth, h) = (self.cloth, world.h);
        let plan = &mut self.bending;
        if let Some((_, factor)) = &mut plan.implicit {
            // (M + k (h² + h τ) Q) v' = M v - h k Q x
            let x = &moving.x;
            for_each(&mut self.measured, |row, measured| *measured = cloth.bending.rows[row].measure(x));
            let measured = &self.measured;
            for_each(&mut moving.v, |i, v| {
                let mass = implicit_mass(cloth, i);
                *v = *v * mass - cloth.bending.gradient(i, measured) * (h * cloth.bend);
            });
            factor.solve(&mut moving.v);
            return;
        }
        if !step.is_multiple_of(plan.interval) {
            return;
        }
        let (x, v, damping) = (&moving.x, &moving.v, plan.damping);
        for_each(&mut self.measured, |row, measured| {
            let row = &cloth.bending.rows[row];
            *measured = row.measure(x) + row.measure(v) * damping;
        });
        let measured = &self.measured;
        let scale = -cloth.bend * h * f64::from(plan.interval.min(world.steps_left));
        for_each(&mut moving.v, |i, v| *v += cloth.bending.gradient(i, measured) * (scale * cloth.k[i]));
    }

    fn blow(&mut self, moving: &mut ClothState, world: &StepWorld, step: u32) {
        if world.drag <= 0.0 || !step.is_multiple_of(self.air_interval) {
            return;
        }
        let cloth = self.cloth;
        let h = world.h * f64::from(self.air_interval.min(world.steps_left));
        let (x, v, wind) = (&moving.x, &moving.v, &self.wind);
        for_each(&mut self.air, |t, air| {
            let [a, b, c] = cloth.topology.triangle_edges[t].map(|e| e as usize);
            let area_vector = (x[b] - x[a]).cross(&(x[c] - x[a]));
            // The speed in the middle of the interval.
            let relative = wind[t] - ((v[a] + v[b] + v[c]) / 3.0 + world.gravity * (0.5 * h));
            *air = air::velocity_change(area_vector, relative, world.drag, cloth.fabric.density, h);
        });
        let air = &self.air;
        for_each(&mut moving.v, |i, v| {
            if cloth.k[i] > 0.0 {
                for &(t, share) in cloth.triangle_shares.row(i) {
                    *v += air[t as usize] * share;
                }
            }
        });
    }

    /// Distances, pins and contacts once; returns the largest `|(l/l0)² - 1|` met.
    fn position_sweep(&mut self) -> f64 {
        let cloth = self.cloth;
        let worst =
            sweep(&cloth.pairs, &mut self.ahead, |row, _, a, b| cloth.distances[row].correct_position(a, b).abs());
        self.put_pins();
        for contact in &mut self.contacts.active {
            let y = contact.point.value(cloth, &self.ahead);
            let by = contact.resting.correct_position(y);
            if by != Vec3::zeros() {
                contact.point.shift(cloth, &mut self.ahead, by);
            }
        }
        self.iterations += 1;
        worst
    }

    /// Put the pinned vertices where they belong.
    fn put_pins(&mut self) {
        if let Some(pins) = &mut self.pin_return {
            let targets = &self.pin_targets;
            pins.apply(&self.cloth.map, &self.cloth.k, &mut self.ahead, |pin, y| targets[pin][1] - y);
        }
    }

    /// What is written is within tolerance and outside of colliders; the velocities do not hear of it.
    fn polish(&mut self, moving: &mut ClothState, world: &mut StepWorld) {
        // |(l/l0)² - 1| below this is a stretch below the tolerance, longer or shorter.
        let tolerance = self.cloth.fabric.max_stretch.min(1.0);
        let limit = 2.0 * tolerance - tolerance * tolerance;
        std::mem::swap(&mut moving.x, &mut self.ahead);
        let mut worst = squared_strains(self.cloth, &self.ahead).map(f64::abs).fold(0.0, larger);
        for _ in 0..POLISH_SWEEPS {
            if worst <= limit || !worst.is_finite() {
                break;
            }
            // A sweep measures each distance before it changes its neighbours: the last word has a look at all of them.
            worst = self.position_sweep();
            if worst <= limit {
                worst = squared_strains(self.cloth, &self.ahead).map(f64::abs).fold(0.0, larger);
            }
        }
        self.leave_colliders(world);
        self.put_pins(); // contacts may have moved them by some micrometres
        self.max_stretch = max_stretch(self.cloth, &self.ahead);
        std::mem::swap(&mut moving.x, &mut self.ahead);
    }

    /// What the sweeps left a little below a surface is moved out exactly; what is deep inside is on its way out.
    fn leave_colliders(&mut self, world: &mut StepWorld) {
        let cloth = self.cloth;
        let mut displacements = Vec::new();
        world.colliders.iter_mut().for_each(|collider| collider.place(1));
        for contact in &self.contacts.active {
            let Point::Vertex(v) = contact.point else {
                continue;
            };
            let y = contact.point.value(cloth, &self.ahead);
            for collider in world.colliders.iter() {
                if let Some(nearest) = collider.nearest(y, 0.0)
                    && (-LEAVE_EDGES * cloth.mean_edge..0.0).contains(&nearest.distance)
                {
                    displacements.resize(cloth.map.vertex_count(), Vec3::zeros());
                    let out = &mut displacements[v as usize];
                    if -nearest.distance > out.norm() {
                        *out = nearest.normal * -nearest.distance;
                    }
                }
            }
        }
        if !displacements.is_empty() {
            if self.collider_return.is_none() {
                let all = (0..cloth.map.vertex_count() as u32).collect();
                self.collider_return = WeightedReturn::build(&cloth.map, &cloth.k, all);
            }
            if let Some(all) = &mut self.collider_return {
                all.apply(&cloth.map, &cloth.k, &mut self.ahead, |v, _| displacements[v]);
            }
        }
    }

    fn velocity_sweep(&mut self, moving: &mut ClothState, h: f64) {
        let cloth = self.cloth;
        let ClothState { x, v } = moving;
        sweep(&cloth.pairs, v, |row, [a, b], v_a, v_b| {
            cloth.distances[row].correct_velocity(x[b as usize] - x[a as usize], v_a, v_b);
            0.0
        });
        if let Some(pins) = &mut self.pin_return {
            let targets = &self.pin_targets;
            pins.apply(&cloth.map, &cloth.k, v, |pin, velocity| (targets[pin][1] - targets[pin][0]) / h - velocity);
        }
        for contact in self.contacts.active.iter_mut().filter(|contact| contact.resting.pressed > 0.0) {
            let velocity = contact.point.value(cloth, v) - contact.surface_velocity;
            let by = contact.resting.correct_velocity(velocity, h);
            if by != Vec3::zeros() {
                contact.point.shift(cloth, v, by);
            }
        }
        self.iterations += 1;
    }

    /// What the frame took.
    pub fn report(&self) -> ClothReport {
        let contacts = self.contacts.active.iter().filter(|contact| contact.resting.pressed > 0.0).count();
        ClothReport {
            iterations: self.iterations,
            contacts: contacts as u32,
            max_stretch: self.max_stretch,
            broken_at: self.broken_at,
        }
    }

    /// How good a state is.
    pub fn quality(&self, moving: &ClothState, vertices: &[Vec3], colliders: &[MovingCollider]) -> Quality {
        let cloth = self.cloth;
        let depth = |y: &Vec3| {
            let deepest = |depth: f64, collider: &MovingCollider| {
                collider.nearest(*y, 0.0).map_or(depth, |nearest| larger(depth, -nearest.distance))
            };
            colliders.iter().fold(0.0, deepest)
        };
        let depths: Vec<f64> = vertices.par_iter().with_min_len(256).map(depth).collect();
        Quality {
            max_stretch: max_stretch(cloth, &moving.x),
            mean_stretch: compensated_sum(stretches(cloth, &moving.x)) / cloth.distances.len().max(1) as f64,
            max_penetration: depths.into_iter().fold(0.0, larger),
        }
    }
}

/// An end of the edge whose midpoint is fastest; a speed that is not a number is the fastest of all.
fn fastest_vertex(cloth: &ClothModel, moving: &ClothState) -> u32 {
    let speed = |v: &Vec3| if v.norm_squared().is_nan() { f64::INFINITY } else { v.norm_squared() };
    let fastest = (0..moving.v.len()).max_by(|&a, &b| speed(&moving.v[a]).total_cmp(&speed(&moving.v[b])));
    cloth.topology.edges[fastest.unwrap_or_default()][0]
}

/// `(l/l0)² - 1` of every constraint.
fn squared_strains<'a>(cloth: &'a ClothModel, x: &'a [Vec3]) -> impl Iterator<Item = f64> + 'a {
    let rows = cloth.pairs.pairs().iter().zip(&cloth.distances);
    rows.map(|(&[a, b], distance)| distance.squared_strain(x[b as usize] - x[a as usize]))
}

/// Relative length error of every constraint.
fn stretches<'a>(cloth: &'a ClothModel, x: &'a [Vec3]) -> impl Iterator<Item = f64> + 'a {
    squared_strains(cloth, x).map(distance::stretch)
}

/// Largest relative length error.
fn max_stretch(cloth: &ClothModel, x: &[Vec3]) -> f64 {
    stretches(cloth, x).fold(0.0, larger)
}

/// What moves pinned vertices, if there are any.
fn weighted_return<'a>(cloth: &ClothModel, pins: impl Iterator<Item = &'a PinnedVertex>) -> Option<WeightedReturn> {
    let vertices: Vec<u32> = pins.map(|pin| pin.vertex).collect();
    (!vertices.is_empty()).then(|| WeightedReturn::build(&cloth.map, &cloth.k, vertices)).flatten()
}

/// Where pinned vertices are at the start and end of a step.
fn pin_targets<'a>(
    cloth: &ClothModel,
    pins: impl Iterator<Item = &'a PinnedVertex>,
    world: &StepWorld,
) -> impl Iterator<Item = [Vec3; 2]> {
    let poses: Vec<[Pose; 2]> =
        cloth.pins.motions.iter().map(|motion| world.frames.map(|frame| motion.at(frame))).collect();
    pins.map(move |pin| {
        let poses = match &pin.lead {
            Lead::Motion(motion) => poses[*motion as usize],
            Lead::Surface(anchor) => world.colliders[anchor.collider as usize].poses(anchor),
        };
        poses.map(|pose| pose.apply(pin.rest))
    })
}

/// Mass in the implicit bending system: led particles are so heavy that bending cannot move them.
fn implicit_mass(cloth: &ClothModel, particle: usize) -> f64 {
    if cloth.k[particle] > 0.0 { cloth.mass[particle] } else { 1e9 * cloth.mass[particle] }
}

/// `M + bend (h² + h τ) Q`
fn implicit_bending(cloth: &ClothModel, h: f64) -> Option<SparseCholesky> {
    let scale = cloth.bend * (h * h + h * cloth.fabric.damping);
    let mut entries: Vec<(u32, u32, f64)> =
        (0..cloth.k.len()).map(|i| (i as u32, i as u32, implicit_mass(cloth, i))).collect();
    for row in &cloth.bending.rows {
        for (i, a) in row.particles.iter().zip(row.coefficients) {
            for (j, b) in row.particles.iter().zip(row.coefficients) {
                if i >= j && a != 0.0 && b != 0.0 {
                    entries.push((*i, *j, scale * row.weight * a * b));
                }
            }
        }
    }
    SparseCholesky::build(cloth.k.len(), &entries)
}
