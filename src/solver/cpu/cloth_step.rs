//! One step of one cloth.
//!
//! Based on: [Bender14 §2.3, §4.3.2-4.3.4] (Vorausschau; iteratives Verfahren, LGS, Streifen), order of a step as in section 4.3
//!
//! ```text
//! bending, air         impulses at the start of the step (every few steps while that is accurate)
//! touch                contacts from the positions at the start
//! look ahead           p = x + h v + h²/2 g
//! soft forces          elasticity in the plane, shear springs, soft pins, all implicit
//! hard constraints     attachments; distances by the cloth's solver; pins, contacts
//! step                 v = (p - x)/h + h/2 g,  x = p
//! velocities           distances that hold both ways, pins, contacts
//! at a frame's end     what is written: visible edges that are too long are shortened, which the motion does not hear of
//! ```
//!
//! One sweep of each kind a step, never more (but where linear solvers and contacts take turns): what a sweep leaves behind acts like the energy of a stiff spring, and a number of
//! sweeps that changes from step to step changes that spring's stiffness, which pumps energy into the cloth (measured: a
//! hanging sheet of 41 × 41 gained 300 J that way and loses 1 J this way). The tolerance is met by the number of steps.

use super::bending_step::BendingStep;
use super::body_step::{BodyStep, vertices_of};
use super::breaks::Breaks;
use super::contacts::{Contact, Contacts};
use super::independent::{larger, sweep};
use super::linear::{LinearCounts, LinearSolver, Solved};
use super::pin_targets::pin_targets;
use super::visible::VisibleLimits;
use super::{StepWorld, for_each, strip_sweep};
use crate::algorithms::cloth::air;
use crate::algorithms::cloth::conforming_map::WeightedReturn;
use crate::algorithms::cloth::distance::{self, Distance};
use crate::algorithms::cloth::strips::Strips;
use crate::math::sums::compensated_sum;
use crate::math::{Vec3, largest_norm};
use crate::mesh::bvh::Aabb;
use crate::model::build_pins::PinnedVertex;
use crate::model::{BodyState, Broken, ClothModel, Model, MovingCollider, Promise, Skin};
use crate::scene::{ClothKind, SolverChoice};
use crate::solver::substeps::beat_seconds;
use crate::solver::wind::Weather;
use crate::solver::{BodyReport, Drive, Quality, TouchCounts};

/// Most sweeps at a frame's end, in case the number of steps was too small for the tolerance; small meshes, which may have one vertex with
/// hundreds of edges, get as many as make this number of corrections.
const POLISH_SWEEPS: usize = 600;
const POLISH_CORRECTIONS: usize = 3_000_000;
/// Sweeps that shorten what is too long and no further, which is enough for a few edges; what is still too long then is so over a long way.
const PLAIN_SWEEPS: usize = 8;
/// How far those after them overdo it: the longest took 61 sweeps at 1.9, 196 at 1.8 and were not done after 600 at 1.
const OVER_RELAXATION: f64 = 1.9;
/// Longest time between two air impulses [s]: the fastest cloth turns little in it.
const AIR_SECONDS: f64 = 5e-4;
/// Largest part of an edge that an attachment moves a particle by in one step: pulls a torn model together without shooting it.
pub const ATTACHMENT_EDGES: f64 = 0.3;
/// Stretch of a constraint at the start of a frame from which on the cloth counts as torn apart, beyond so many times the stretch it is
/// allowed: what steps may leave behind is no damage.
const TORN: f64 = 0.1;
const TORN_BEYOND: f64 = 2.0;
/// Part of its length by which torn cloth contracts in a second: whole again within a few frames, without the speed of a shot.
const HEALING_RATE: f64 = 10.0;
/// Part of the allowed stretch at which the sweeps at a frame's end have done enough, and the part that they aim at: what projections aim at
/// they only come near to.
const POLISHED: f64 = 0.99;
const POLISH_AIM: f64 = 0.95;

/// How a cloth's distances are solved.
enum Solver {
    Iterative,
    Strips(Box<Strips>),
    Linear(Box<LinearSolver>),
}

/// A cloth's private memory.
pub struct ClothStep<'m> {
    number: usize,
    body_count: usize,
    cloth: &'m ClothModel,
    solver: Solver,
    /// The distances, with what those that can go slack have of their own.
    pub(in crate::solver) distances: Vec<Distance>,
    /// Lengths of the constraints at the start of the frame, if the cloth is torn apart; empty otherwise.
    pub(in crate::solver) torn: Vec<f64>,
    /// Look-ahead positions.
    pub(in crate::solver) ahead: Vec<Vec3>,
    /// Air velocity at each triangle during the frame.
    pub(in crate::solver) wind: Vec<Vec3>,
    /// Velocity change of each triangle by air.
    air: Vec<Vec3>,
    /// Places of the pinned vertices at the start and end of the step.
    pub(in crate::solver) pin_targets: Vec<[Vec3; 2]>,
    /// The same for those that are only drawn there.
    pub(in crate::solver) soft_targets: Vec<[Vec3; 2]>,
    pub(in crate::solver) contacts: Contacts,
    /// Steps between two air impulses.
    air_interval: u32,
    /// Steps between two bending impulses.
    beat_interval: u32,
    pub(in crate::solver) bending: BendingStep,
    /// Puts all pinned vertices where they belong at once.
    pin_return: Option<WeightedReturn>,
    /// Moves all softly pinned vertices at once.
    soft_return: Option<WeightedReturn>,
    /// Puts all vertices where contact wants them; made when that is needed for the first time.
    vertex_return: Option<WeightedReturn>,
    /// How long the edges of the written mesh may be.
    limits: VisibleLimits,
    report: BodyReport,
}

impl<'m> ClothStep<'m> {
    /// Memory for a cloth.
    pub fn new(number: usize, cloth: &'m ClothModel, model: &Model) -> Self {
        let linear = |is_direct| LinearSolver::build(cloth, is_direct).map(|linear| Solver::Linear(Box::new(linear)));
        let on_midpoints = cloth.kind == ClothKind::Midpoint;
        let pins = if on_midpoints { cloth.pins.vertices.as_slice() } else { &[] }; // others are led particles
        ClothStep {
            number,
            body_count: model.body_count(),
            cloth,
            solver: match cloth.solver {
                SolverChoice::Direct => linear(true).unwrap_or(Solver::Iterative),
                SolverChoice::Pcg => linear(false).unwrap_or(Solver::Iterative),
                SolverChoice::Strips => Solver::Strips(Box::new(Strips::build(cloth.pairs.pairs(), &cloth.rest))),
                SolverChoice::Iterative | SolverChoice::Auto => Solver::Iterative,
            },
            distances: cloth.distances.clone(),
            torn: Vec::new(),
            ahead: cloth.rest.clone(),
            wind: vec![Vec3::zeros(); cloth.mesh.triangles.len()],
            air: vec![Vec3::zeros(); cloth.mesh.triangles.len()],
            pin_targets: Vec::new(),
            soft_targets: Vec::new(),
            contacts: Contacts::new(number, cloth, model),
            air_interval: 1,
            beat_interval: 1,
            bending: BendingStep::default(),
            pin_return: weighted_return(cloth, pins.iter()),
            soft_return: weighted_return(cloth, cloth.pins.soft.iter().map(|soft| &soft.pin)),
            vertex_return: None,
            limits: VisibleLimits::build(cloth, POLISH_AIM),
            report: BodyReport::default(),
        }
    }

    /// Critically damped springs to the places of soft pins, implicit, so that their strength does not depend on the step:
    /// `(1 + 2 w h + w² h²) Δ = w² h² (target - y) + 2 w h (target's way - y's way)`.
    fn draw_to_pins(&mut self, moving: &BodyState, h: f64) {
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

    /// Where pins want their vertices in this step.
    pub(in crate::solver) fn place_pins(&mut self, world: &StepWorld) {
        let pins = &self.cloth.pins;
        self.pin_targets.clear();
        self.pin_targets.extend(pin_targets(pins, pins.vertices.iter(), world));
        self.soft_targets.clear();
        self.soft_targets.extend(pin_targets(pins, pins.soft.iter().map(|soft| &soft.pin), world));
    }

    /// What is torn apart comes together at a bounded rate: its constraints are as long as they were, less what has healed since.
    pub(in crate::solver) fn heal(&mut self, seconds: f64) {
        for ((distance, &torn), &length) in self.distances.iter_mut().zip(&self.torn).zip(&self.cloth.lengths) {
            let now = (torn * (1.0 - HEALING_RATE * seconds)).max(length);
            distance.inverse_rest_squared = 1.0 / (now * now);
        }
    }

    /// Forces in the plane of the cloth below its limit, and the shear springs of threads.
    fn stretch_elastically(&mut self, h: f64) {
        let (cloth, ahead) = (self.cloth, &mut self.ahead);
        for elastic in &cloth.elastic {
            let particles = elastic.particles.map(|p| p as usize);
            let mut x = particles.map(|p| ahead[p]);
            elastic.correct_position(&mut x, particles.map(|p| cloth.k[p]), h);
            particles.into_iter().zip(x).for_each(|(p, x)| ahead[p] = x);
        }
        // The other solvers do this where they sweep.
        if cloth.compression > 0.0 && matches!(self.solver, Solver::Strips(_)) {
            let distances = &self.distances;
            sweep(&cloth.pairs, ahead, |row, _, a, b| {
                if distances[row].squared_strain(*b - *a) < 0.0 {
                    distances[row].correct_position(a, b);
                }
                0.0
            });
        }
        for diagonal in &cloth.diagonals {
            let ends = diagonal.ends.map(|end| end as usize);
            let [mut a, mut b] = ends.map(|end| ahead[end]);
            diagonal.correct_position(&mut a, &mut b, ends.map(|end| cloth.k[end]), h);
            ahead[ends[0]] = a;
            ahead[ends[1]] = b;
        }
    }

    /// Everything that must hold at the end of the step; returns the largest `|(l/l0)² - 1|` met.
    fn hard_constraints(&mut self, moving: &BodyState, h: f64, gravity: Vec3, again: bool) -> f64 {
        if let Solver::Linear(linear) = &mut self.solver
            && self.torn.is_empty()
        {
            let (x, ahead) = (&moving.x, &mut self.ahead);
            let solved = linear.positions(self.cloth, x, ahead, &self.pin_targets, h, gravity.norm(), again);
            let counts = linear.counts;
            self.note_solved(&solved, counts);
            // What was slack until now and contacts are taken care of one by one.
            return solved.worst.max(self.position_sweep());
        }
        self.position_sweep()
    }

    /// How long the air acts that begins with this step of the frame, if it does [s].
    pub(in crate::solver) fn air_seconds(&self, world: &StepWorld, step: u32) -> Option<f64> {
        let is_due = world.drag > 0.0 && step.is_multiple_of(self.air_interval);
        is_due.then(|| world.h * f64::from(self.air_interval.min(world.steps_left)))
    }

    /// Its number among all bodies.
    #[cfg(feature = "gpu")]
    pub(in crate::solver) fn number(&self) -> usize {
        self.number
    }

    /// Contacts with colliders, from the state at the start of the step.
    pub(in crate::solver) fn find_contacts(&mut self, moving: &BodyState, world: &mut StepWorld) {
        self.contacts.find(self.number, self.cloth, moving, world);
    }

    /// All distances at once were solved elsewhere.
    pub(in crate::solver) fn note_solved(&mut self, solved: &Solved, counts: LinearCounts) {
        self.report.load = larger(self.report.load, solved.load);
        self.report.linear = counts;
    }

    /// A sweep was done elsewhere.
    #[cfg(feature = "gpu")]
    pub(in crate::solver) fn count_sweep(&mut self) {
        self.report.iterations += 1;
    }

    /// Its numbers have ended elsewhere; these are where that is seen.
    #[cfg(feature = "gpu")]
    pub(in crate::solver) fn note_broken(&mut self, values: &[Vec3]) {
        self.report.broken_at = Some(fastest_vertex(self.cloth, values));
    }

    fn blow(&mut self, moving: &mut BodyState, world: &StepWorld, step: u32) {
        let Some(h) = self.air_seconds(world, step) else {
            return;
        };
        let cloth = self.cloth;
        let (x, v, wind) = (&moving.x, &moving.v, &self.wind);
        for_each(&mut self.air, |t, air| {
            let [a, b, c] = cloth.triangle_particles[t].map(|p| p as usize);
            let area_vector = (x[b] - x[a]).cross(&(x[c] - x[a]));
            // The speed in the middle of the interval.
            let relative = wind[t] - ((v[a] + v[b] + v[c]) / 3.0 + world.gravity * (0.5 * h));
            *air = air::velocity_change(area_vector, relative, world.drag, cloth.triangle_density[t], h);
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

    /// Attachments, distances, pins and contacts once; returns the largest `|(l/l0)² - 1|` met.
    fn position_sweep(&mut self) -> f64 {
        let cloth = self.cloth;
        self.attach();
        let worst = match &self.solver {
            Solver::Strips(strips) if self.torn.is_empty() => strip_sweep::positions(cloth, strips, &mut self.ahead),
            _ => {
                let distances = &self.distances;
                sweep(&cloth.pairs, &mut self.ahead, |row, _, a, b| {
                    distances[row].error(distances[row].correct_position(a, b)).abs()
                })
            }
        };
        self.put_pins();
        for contact in self.contacts.active.iter_mut().filter(|contact| !contact.passes) {
            let y = contact.point.value(cloth, &self.ahead);
            let by = contact.resting.correct_position(y);
            if by != Vec3::zeros() {
                contact.point.shift(cloth, &mut self.ahead, by);
            }
        }
        self.report.iterations += 1;
        worst
    }

    /// No particle is farther from a pin than the cloth between them allows.
    fn attach(&mut self) {
        if !self.torn.is_empty() {
            return;
        }
        let most = ATTACHMENT_EDGES * self.cloth.mean_edge;
        for attachment in &self.cloth.attachments {
            let pin = self.pin_targets[attachment.pin as usize][1];
            attachment.correct(pin, &mut self.ahead[attachment.particle as usize], most);
        }
    }

    /// Put the pinned vertices where they belong.
    fn put_pins(&mut self) {
        if let Some(pins) = &mut self.pin_return {
            let targets = &self.pin_targets;
            pins.apply(&self.cloth.map, &self.cloth.k, &mut self.ahead, |pin, y| targets[pin][1] - y);
        }
    }

    /// Shorten edges and push out of colliders in turns until no edge is too long; where thickness yields, only out of the bare surfaces.
    /// Returns the used part of the allowed stretch.
    fn shorten(&mut self, written: &mut [Vec3], thickness_yields: bool) -> f64 {
        let cloth = self.cloth;
        let mut used = f64::INFINITY;
        for sweep in 0..POLISH_SWEEPS.max(POLISH_CORRECTIONS / cloth.visible_edges.len().max(1)) {
            self.limits.sweep(written, if sweep < PLAIN_SWEEPS { 1.0 } else { OVER_RELAXATION });
            let is_free = |contact: &&mut Contact| !contact.passes && !contact.is_of(&cloth.is_led);
            for contact in self.contacts.active.iter_mut().filter(is_free) {
                contact.push_out(cloth, written, thickness_yields);
            }
            self.report.iterations += 1;
            used = used_stretch(cloth, written);
            if used <= POLISHED || !used.is_finite() {
                break;
            }
        }
        used
    }

    /// Velocities that fit the constraints at the end of the step.
    fn correct_velocities(&mut self, moving: &mut BodyState, h: f64) {
        let cloth = self.cloth;
        let BodyState { x, v, .. } = moving;
        match &mut self.solver {
            Solver::Linear(linear) if self.torn.is_empty() => linear.velocities(cloth, x, v, &self.pin_targets, h),
            // What can go slack has no velocity of its own to keep.
            _ if !cloth.is_bilateral() => {}
            Solver::Strips(strips) if self.torn.is_empty() => strip_sweep::velocities(cloth, strips, x, v),
            _ => {
                sweep(&cloth.pairs, v, |row, [a, b], v_a, v_b| {
                    cloth.distances[row].correct_velocity(x[b as usize] - x[a as usize], v_a, v_b);
                    0.0
                });
            }
        }
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
    }

    /// The promises that what is written has broken, with those that touching triangles have.
    fn broken(&self, moving: &BodyState, touched: &[Broken]) -> Vec<Broken> {
        let (cloth, written) = (self.cloth, &moving.written);
        if self.is_broken() {
            return Vec::new();
        }
        let mut broken = Breaks::default();
        for found in touched {
            found.vertices.iter().for_each(|&v| broken.add(found.promise, found.with, v));
        }
        for (&ends, used) in cloth.visible_edges.iter().zip(used_stretches(cloth, written)) {
            if used > 1.0 {
                ends.iter().for_each(|&v| broken.add(Promise::Stretch, None, v));
            }
        }
        self.contacts.judge(cloth, self.body_count, &moving.x, written, &mut broken);
        broken.into()
    }
}

impl BodyStep for ClothStep<'_> {
    fn forget(&mut self) {
        self.report = BodyReport::default();
        self.contacts.reset();
    }

    fn begin_frame(&mut self, moving: &BodyState, weather: &Weather, drive: &Drive) {
        let cloth = self.cloth;
        self.forget();
        if let Solver::Linear(linear) = &mut self.solver {
            linear.reset();
        }
        for_each(&mut self.wind, |t, wind| {
            let centre = cloth.triangle_particles[t].iter().map(|&p| moving.x[p as usize]).sum::<Vec3>() / 3.0;
            *wind = weather.velocity(centre);
        });
        let h = drive.frame_seconds / f64::from(drive.substeps);
        self.air_interval = (AIR_SECONDS / h).floor().clamp(1.0, f64::from(drive.substeps)) as u32;
        // The longest interval that divides the frame and is no longer than a beat.
        let longest = ((1.0 + 1e-9) * beat_seconds(cloth) / h).floor().clamp(1.0, f64::from(drive.substeps)) as u32;
        self.beat_interval = (1..=longest).rev().find(|&n| drive.substeps.is_multiple_of(n)).unwrap_or(1);
        self.bending.begin_frame(cloth, h, self.beat_interval);
        let was_torn = !self.torn.is_empty();
        self.torn.clear();
        // Lengths of an elastic fabric have its allowed stretch in them.
        let allowed = if cloth.fabric.warp.is_some() { 0.0 } else { cloth.fabric.max_stretch };
        if stretches(cloth, &moving.x).any(|stretch| stretch > TORN + TORN_BEYOND * allowed) {
            let length = |&[a, b]: &[u32; 2]| (moving.x[b as usize] - moving.x[a as usize]).norm();
            self.torn.extend(cloth.pairs.pairs().iter().map(length));
        } else if was_torn {
            self.distances.clone_from(&cloth.distances);
        }
        if cloth.compression > 0.0 {
            for (distance, &[a, b]) in self.distances.iter_mut().zip(cloth.pairs.pairs()) {
                distance.resist(cloth.compression, cloth.k[a as usize] + cloth.k[b as usize], h);
            }
        }
    }

    fn frame_box(&self, moving: &BodyState, drive: &Drive) -> Aabb {
        self.contacts.watched_box(self.cloth, moving, largest_norm(&moving.v) * drive.frame_seconds)
    }

    fn look_ahead(&mut self, moving: &mut BodyState, world: &mut StepWorld, step: u32) {
        if self.is_broken() {
            return;
        }
        let cloth = self.cloth;
        let StepWorld { h, gravity, .. } = *world;
        self.place_pins(world);
        self.bending.apply(cloth, moving, h, step);
        self.blow(moving, world, step);
        self.find_contacts(moving, world);
        let half = gravity * (0.5 * h);
        let (x, v) = (&moving.x, &moving.v);
        for_each(&mut self.ahead, |i, ahead| *ahead = x[i] + (v[i] + half) * h);
        for led in &cloth.pins.particles {
            let [a, b] = led.ends.map(|end| self.pin_targets[end as usize][1]);
            self.ahead[led.particle as usize] = (a + b) * 0.5;
        }
        self.draw_to_pins(moving, h);
        self.heal(h * f64::from(step + 1));
        self.stretch_elastically(h);
    }

    fn passing(&self) -> &[(u32, u32)] {
        &self.contacts.passing
    }

    fn constrain(&mut self, moving: &BodyState, world: &StepWorld, again: bool) {
        if !self.is_broken() && !self.hard_constraints(moving, world.h, world.gravity, again).is_finite() {
            self.report.broken_at = Some(fastest_vertex(self.cloth, &moving.v));
        }
    }

    fn is_pulled_apart(&self) -> bool {
        matches!(self.solver, Solver::Linear(_))
            && !self.is_broken()
            && self.torn.is_empty()
            && max_stretch(self.cloth, &self.ahead) > self.cloth.fabric.max_stretch
    }

    fn is_broken(&self) -> bool {
        self.report.broken_at.is_some()
    }

    fn ahead(&self) -> &[Vec3] {
        &self.ahead
    }

    fn put(&mut self, vertices: &[Vec3]) {
        let cloth = self.cloth;
        if cloth.kind != ClothKind::Midpoint {
            self.ahead.copy_from_slice(vertices);
            return;
        }
        let make = || WeightedReturn::build(&cloth.map, &cloth.k, (0..vertices.len() as u32).collect());
        if self.vertex_return.is_none() {
            self.vertex_return = make();
        }
        if let Some(all) = &mut self.vertex_return {
            all.apply(&cloth.map, &cloth.k, &mut self.ahead, |v, y| vertices[v] - y);
        }
    }

    fn step(&mut self, moving: &mut BodyState, world: &StepWorld) {
        if self.is_broken() {
            return;
        }
        let (cloth, h) = (self.cloth, world.h);
        let half = world.gravity * (0.5 * h);
        let ahead = &self.ahead;
        let BodyState { x, v, .. } = moving;
        let inverse_h = 1.0 / h;
        for_each(v, |i, v| *v = (ahead[i] - x[i]) * inverse_h + half);
        for led in &cloth.pins.particles {
            v[led.particle as usize] = (ahead[led.particle as usize] - x[led.particle as usize]) * inverse_h;
        }
        std::mem::swap(x, &mut self.ahead);
        self.correct_velocities(moving, h);
    }

    fn polish(&mut self, moving: &mut BodyState, world: &mut StepWorld) {
        if self.is_broken() {
            return;
        }
        let cloth = self.cloth;
        let BodyState { x, written, .. } = moving;
        vertices_of(cloth, x, written);
        let mut used = used_stretch(cloth, written);
        // What vertices between folded midpoints are apart is not for steps to mend where a solver holds all that it works on.
        let is_held = cloth.kind == ClothKind::Midpoint && !matches!(self.solver, Solver::Iterative);
        self.report.strain = if is_held { max_stretch(cloth, x) / cloth.fabric.max_stretch } else { used };
        if used > POLISHED && used.is_finite() {
            used = self.shorten(written, false);
        }
        if used > 1.0 && used.is_finite() && !self.contacts.active.is_empty() {
            self.shorten(written, true);
        }
        self.contacts.leave_colliders(cloth, world, written);
        for (pin, target) in cloth.pins.vertices.iter().zip(&self.pin_targets) {
            written[pin.vertex as usize] = target[1];
        }
    }

    fn used(&self, vertices: &[Vec3]) -> f64 {
        used_stretch(self.cloth, vertices)
    }

    fn report(&self, moving: &BodyState, touched: TouchCounts, broken: &[Broken]) -> BodyReport {
        let contacts = self.contacts.active.iter().filter(|contact| contact.resting.pressed > 0.0).count();
        let used = if self.is_broken() { f64::INFINITY } else { used_stretch(self.cloth, &moving.written) };
        let contacts = contacts as u32 + touched.contacts;
        BodyReport { contacts, used, touched, broken: self.broken(moving, broken), ..self.report.clone() }
    }

    fn linear_bytes(&self) -> usize {
        match &self.solver {
            Solver::Linear(linear) => linear.bytes(),
            _ => 0,
        }
    }

    fn quality(&self, moving: &BodyState, vertices: &[Vec3], colliders: &[MovingCollider]) -> Quality {
        let cloth = self.cloth;
        Quality {
            max_stretch: max_stretch(cloth, &moving.x),
            mean_stretch: compensated_sum(stretches(cloth, &moving.x)) / cloth.distances.len().max(1) as f64,
            max_penetration: self.contacts.deepest(vertices, colliders),
            ..Quality::default()
        }
    }

    fn skin(&self) -> &Skin {
        self.cloth
    }
}

/// The fastest vertex, or an end of the edge whose midpoint is; a speed that is not a number is the fastest of all.
fn fastest_vertex(cloth: &ClothModel, v: &[Vec3]) -> u32 {
    let speed = |v: &Vec3| if v.norm_squared().is_nan() { f64::INFINITY } else { v.norm_squared() };
    let fastest = (0..v.len()).max_by(|&a, &b| speed(&v[a]).total_cmp(&speed(&v[b])));
    let fastest = fastest.unwrap_or_default();
    if cloth.kind == ClothKind::Midpoint { cloth.topology.edges[fastest][0] } else { fastest as u32 }
}

/// Largest part of its allowed stretch that a visible edge has; infinite where a position is not a number.
fn used_stretch(cloth: &ClothModel, vertices: &[Vec3]) -> f64 {
    used_stretches(cloth, vertices).fold(0.0, larger)
}

/// Part of its allowed stretch that each visible edge has.
fn used_stretches<'a>(cloth: &'a ClothModel, vertices: &'a [Vec3]) -> impl Iterator<Item = f64> + 'a {
    let rows = cloth.visible_edges.iter().zip(&cloth.visible_rest).zip(&cloth.visible_limits);
    rows.map(|((&[a, b], rest), limit)| {
        if [a, b].iter().all(|&v| cloth.is_led[v as usize]) {
            return 0.0; // as long as its pins make it
        }
        ((vertices[b as usize] - vertices[a as usize]).norm() / rest - 1.0) / limit
    })
}

/// `(l/l0)² - 1` of every constraint, as far as it is an error.
fn squared_strains<'a>(cloth: &'a ClothModel, x: &'a [Vec3]) -> impl Iterator<Item = f64> + 'a {
    let rows = cloth.pairs.pairs().iter().zip(&cloth.distances);
    rows.map(|(&[a, b], distance)| distance.error(distance.squared_strain(x[b as usize] - x[a as usize])))
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
