//! One step of one soft body.
//!
//! Based on: [Bender14 §4.4.1.2-4.4.1.3], order of a step as in `cloth_step`
//!
//! ```text
//! air, damping         impulses at the start of the step
//! touch                contacts from the positions at the start
//! look ahead           p = x + h v + h²/2 g
//! springs, soft pins   once, implicit
//! volumes              parts and contacts in turns until every part is within its tolerance
//! step                 v = (p - x)/h + h/2 g,  x = p
//! ```
//!
//! Contacts come last, so that what touches is at rest where it sticks; each has few particles of its own, so they are gone over several times.
//! No step begins with the pressure of the one before: sweeps leave slow errors, which such a guess adds up over the steps, against a motion that
//! nothing damps, and what is at rest begins to swing. More than two thirds of it is unstable, and half of it saves nothing.

use super::body_step::{BodyStep, vertices_of};
use super::breaks::Breaks;
use super::contacts::{CARRIED_SWEEPS, Contacts};
use super::independent::{larger, sweep, sweep_sets};
use super::pin_targets::pin_targets;
use super::{StepWorld, contacts, for_each};
use crate::algorithms::cloth::air;
use crate::algorithms::volume::edge_spring::{self, EdgeSpring};
use crate::algorithms::volume::tet_volume;
use crate::math::{Vec3, largest_norm};
use crate::mesh::bvh::Aabb;
use crate::model::{BodyState, Broken, Model, MovingCollider, Promise, Skin, SoftBodyModel};
use crate::solver::wind::Weather;
use crate::solver::{BodyReport, Drive, Quality, TouchCounts};

/// Most sweeps over the volumes in a step; what is left then is for smaller steps.
const MOST_SWEEPS: u32 = 400;
/// Fewest: with one alone, which is often enough for the tolerance, heavy bodies never come to rest.
const LEAST_SWEEPS: u32 = 4;
/// Part of the tolerance at which a step has done enough: contacts move things after it.
const ENOUGH: f64 = 1.0;

/// A soft body's private memory.
pub struct SoftStep<'m> {
    number: usize,
    body_count: usize,
    body: &'m SoftBodyModel,
    /// Look-ahead positions.
    ahead: Vec<Vec3>,
    /// Air velocity at each triangle during the frame.
    wind: Vec<Vec3>,
    /// Velocity change of each triangle by air.
    air: Vec<Vec3>,
    /// Springs for the present step.
    springs: Vec<EdgeSpring>,
    springs_step: f64,
    /// Places of the led particles at the start and end of the step.
    pin_targets: Vec<[Vec3; 2]>,
    /// The same for those that are only drawn there.
    soft_targets: Vec<[Vec3; 2]>,
    contacts: Contacts,
    /// How many times its volume at rest it has at the end of the step.
    growth: f64,
    report: BodyReport,
}

impl<'m> SoftStep<'m> {
    /// Memory for a soft body.
    pub fn new(number: usize, body: &'m SoftBodyModel, model: &Model) -> Self {
        SoftStep {
            number,
            body_count: model.body_count(),
            body,
            ahead: body.rest.clone(),
            wind: vec![Vec3::zeros(); body.mesh.triangles.len()],
            air: vec![Vec3::zeros(); body.mesh.triangles.len()],
            springs: Vec::new(),
            springs_step: 0.0,
            pin_targets: Vec::new(),
            soft_targets: Vec::new(),
            contacts: Contacts::new(number, body, model),
            growth: 1.0,
            report: BodyReport::default(),
        }
    }

    /// The springs for steps of this length.
    fn tune(&mut self, h: f64) {
        if self.springs_step != h {
            self.springs_step = h;
            let damping = self.body.flesh.damping;
            let spring = |stiffness: &f64| EdgeSpring::new(*stiffness, damping, h);
            self.springs = self.body.stiffnesses.iter().map(spring).collect();
        }
    }

    /// Wind and drag on the surface.
    fn blow(&mut self, moving: &mut BodyState, world: &StepWorld) {
        if world.drag <= 0.0 {
            return;
        }
        let body = self.body;
        let vertices: Vec<Vec3> = {
            let mut vertices = vec![Vec3::zeros(); body.map.vertex_count()];
            vertices_of(body, &moving.x, &mut vertices);
            vertices
        };
        let (v, wind) = (&moving.v, &self.wind);
        for_each(&mut self.air, |t, air| {
            let corners = body.mesh.triangles[t].map(|corner| corner as usize);
            let [a, b, c] = corners.map(|corner| vertices[corner]);
            let area_vector = (b - a).cross(&(c - a));
            let velocity: Vec3 = corners.iter().map(|&corner| body.map.vertex(corner, v)).sum::<Vec3>() / 3.0;
            // The three corners are pushed alike, so what a unit impulse on the triangle moves is the mean of theirs.
            let k = corners.iter().map(|&corner| body.vertex_k[corner]).sum::<f64>() / 3.0;
            *air = Vec3::zeros();
            let area = 0.5 * area_vector.norm();
            if k > 0.0 && area > 0.0 {
                let density = 1.0 / (k * area);
                let drag = world.drag * body.wind_share;
                let change = air::velocity_change(area_vector, wind[t] - velocity, drag, density, world.h);
                *air = change / (3.0 * k);
            }
        });
        for (corners, impulse) in body.mesh.triangles.iter().zip(&self.air) {
            for &corner in corners {
                contacts::spread(body.map.row(corner as usize), body, &mut moving.v, *impulse);
            }
        }
    }

    fn draw_to_pins(&mut self, moving: &BodyState, h: f64) {
        for (soft, [from, to]) in self.body.pins.soft.iter().zip(&self.soft_targets) {
            let particle = soft.pin.vertex as usize;
            let y = &mut self.ahead[particle];
            let way = *y - moving.x[particle];
            let wh = soft.frequency * h;
            *y += ((to - *y) * (wh * wh) + ((to - from) - way) * (2.0 * wh)) / (1.0 + 2.0 * wh + wh * wh);
        }
    }

    /// Elasticity, once.
    fn spring(&mut self, moving: &BodyState) {
        let (body, springs) = (self.body, &self.springs);
        let lengths = if moving.flowed.is_empty() { &body.lengths } else { &moving.flowed };
        sweep(&body.edges, &mut self.ahead, |row, ends, a, b| {
            springs[row].correct_position(a, b, lengths[row], ends.map(|end| body.k[end as usize]));
            0.0
        });
    }

    /// Damping, once.
    fn damp(&self, moving: &mut BodyState) {
        let (body, springs) = (self.body, &self.springs);
        if body.flesh.damping > 0.0 {
            let BodyState { x, v, .. } = moving;
            sweep(&body.edges, v, |row, ends, a, b| {
                let difference = x[ends[1] as usize] - x[ends[0] as usize];
                springs[row].damp(a, b, difference, ends.map(|end| body.k[end as usize]));
                0.0
            });
        }
    }

    /// One sweep over all parts; the largest error met.
    fn volume_sweep(&mut self) -> f64 {
        let (body, growth) = (self.body, self.growth);
        self.report.iterations += 1;
        sweep_sets(&body.sets, &mut self.ahead, |set, scratch| {
            let k = body.set_k.row(set);
            let (values, gradient) = (&mut scratch.values, &mut scratch.gradient);
            let error = tet_volume::correct_position(&body.part(set), growth, values, k, gradient);
            let least = tet_volume::LEAST_PART * body.set_volumes[set] * growth;
            if error > 1.0 - tet_volume::LEAST_PART
                && tet_volume::volume(body.set_tets.row(set), &scratch.values) < least
            {
                tet_volume::turn_back(body.set_shape.row(set), body.tets.cell_size, &mut scratch.values, k);
            }
            error
        })
    }

    fn touch(&mut self) {
        let body = self.body;
        for contact in self.contacts.active.iter_mut().filter(|contact| !contact.passes) {
            let y = contact.point.value(body, &self.ahead);
            let by = contact.resting.correct_position(y);
            if by != Vec3::zeros() {
                contact.point.shift(body, &mut self.ahead, by);
            }
        }
    }

    /// Relative error of each part's volume.
    fn errors<'a>(&'a self, x: &'a [Vec3]) -> impl Iterator<Item = f64> + 'a {
        let body = self.body;
        (0..body.sets.len()).map(move |set| {
            let particles = body.sets.set(set);
            let at = |corners: &tet_volume::Corners| {
                let [a, b, c, d] = corners.map(|corner| x[particles[usize::from(corner)] as usize]);
                (b - a).dot(&(c - a).cross(&(d - a))) / 6.0
            };
            let volume: f64 = body.set_tets.row(set).iter().map(at).sum();
            tet_volume::relative_error(volume, body.set_volumes[set] * self.growth)
        })
    }

    /// Signed relative error of the whole volume.
    fn whole_error(&self, x: &[Vec3]) -> f64 {
        let volume = |x: &[Vec3]| -> f64 {
            let of_one = |corners: &[u32; 4]| {
                let [a, b, c, d] = corners.map(|node| x[node as usize]);
                (b - a).dot(&(c - a).cross(&(d - a)))
            };
            self.body.tets.tets.iter().map(of_one).sum()
        };
        volume(x) / (volume(&self.body.rest) * self.growth) - 1.0
    }

    /// What stays of the deformation.
    fn flow(&self, moving: &mut BodyState, h: f64) {
        let (body, Some(plasticity)) = (self.body, self.body.flesh.plasticity) else {
            return;
        };
        if moving.flowed.is_empty() {
            moving.flowed.clone_from(&body.lengths);
        }
        let BodyState { x, flowed, .. } = moving;
        for ((rest, &[a, b]), &original) in flowed.iter_mut().zip(body.edges.pairs()).zip(&body.lengths) {
            let length = (x[b as usize] - x[a as usize]).norm();
            *rest = edge_spring::flow(*rest, length, original, plasticity.yields_at, plasticity.creep, h);
        }
    }
}

impl BodyStep for SoftStep<'_> {
    fn forget(&mut self) {
        self.report = BodyReport::default();
        self.contacts.reset();
    }

    fn begin_frame(&mut self, moving: &BodyState, weather: &Weather, drive: &Drive) {
        let body = self.body;
        self.forget();
        for_each(&mut self.wind, |t, wind| {
            let corners = body.mesh.triangles[t];
            let centre = corners.iter().map(|&v| body.map.vertex(v as usize, &moving.x)).sum::<Vec3>() / 3.0;
            *wind = weather.velocity(centre);
        });
        self.growth = body.growth(drive.moments[1].frame);
        self.tune(drive.frame_seconds / f64::from(drive.substeps));
    }

    fn frame_box(&self, moving: &BodyState, drive: &Drive) -> Aabb {
        self.contacts.watched_box(self.body, moving, largest_norm(&moving.v) * drive.frame_seconds)
    }

    fn look_ahead(&mut self, moving: &mut BodyState, world: &mut StepWorld, _: u32) {
        if self.is_broken() {
            return;
        }
        let body = self.body;
        let StepWorld { h, gravity, .. } = *world;
        self.growth = body.growth(world.frames[1]);
        self.pin_targets.clear();
        self.pin_targets.extend(pin_targets(&body.pins, body.pins.vertices.iter(), world));
        self.soft_targets.clear();
        self.soft_targets.extend(pin_targets(&body.pins, body.pins.soft.iter().map(|soft| &soft.pin), world));
        self.blow(moving, world);
        self.damp(moving);
        self.contacts.find(self.number, body, moving, world);
        let half = gravity * (0.5 * h);
        let (x, v) = (&moving.x, &moving.v);
        for_each(&mut self.ahead, |i, ahead| *ahead = x[i] + (v[i] + half) * h);
        for (led, target) in body.pins.particles.iter().zip(&self.pin_targets) {
            self.ahead[led.particle as usize] = target[1];
        }
        self.draw_to_pins(moving, h);
        self.spring(moving);
    }

    fn passing(&self) -> &[(u32, u32)] {
        &self.contacts.passing
    }

    fn constrain(&mut self, moving: &BodyState, _: &StepWorld, _: bool) {
        if self.is_broken() {
            return;
        }
        let enough = ENOUGH * self.body.flesh.volume_tolerance;
        for sweep in 1..=MOST_SWEEPS {
            self.touch();
            let worst = self.volume_sweep();
            if !worst.is_finite() {
                let speed = |v: &Vec3| if v.norm_squared().is_nan() { f64::INFINITY } else { v.norm_squared() };
                let vertices = (0..self.body.map.vertex_count()).map(|v| speed(&self.body.map.vertex(v, &moving.v)));
                let fastest = vertices.enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
                self.report.broken_at = Some(fastest.map_or(0, |(v, _)| v as u32));
                return;
            }
            if worst <= enough && sweep >= LEAST_SWEEPS {
                break;
            }
        }
        (0..CARRIED_SWEEPS).for_each(|_| self.touch());
    }

    fn is_pulled_apart(&self) -> bool {
        !self.is_broken() && self.errors(&self.ahead).any(|error| error > self.body.flesh.volume_tolerance)
    }

    fn is_broken(&self) -> bool {
        self.report.broken_at.is_some()
    }

    fn ahead(&self) -> &[Vec3] {
        &self.ahead
    }

    fn put(&mut self, places: &[Vec3]) {
        self.ahead.copy_from_slice(places);
    }

    fn step(&mut self, moving: &mut BodyState, world: &StepWorld) {
        if self.is_broken() {
            return;
        }
        let (body, h) = (self.body, world.h);
        let half = world.gravity * (0.5 * h);
        let ahead = &self.ahead;
        let BodyState { x, v, .. } = moving;
        let inverse_h = 1.0 / h;
        for_each(v, |i, v| *v = (ahead[i] - x[i]) * inverse_h + half);
        for led in &body.pins.particles {
            v[led.particle as usize] = (ahead[led.particle as usize] - x[led.particle as usize]) * inverse_h;
        }
        std::mem::swap(x, &mut self.ahead);
        for contact in self.contacts.active.iter_mut().filter(|contact| contact.resting.pressed > 0.0) {
            let velocity = contact.point.value(body, v) - contact.surface_velocity;
            let by = contact.resting.correct_velocity(velocity, h);
            if by != Vec3::zeros() {
                contact.point.shift(body, v, by);
            }
        }
        self.flow(moving, h);
    }

    fn polish(&mut self, moving: &mut BodyState, _: &mut StepWorld) {
        let BodyState { x, written, .. } = moving;
        vertices_of(self.body, x, written);
    }

    fn used(&self, _: &[Vec3]) -> f64 {
        0.0
    }

    fn report(&self, moving: &BodyState, touched: TouchCounts, broken: &[Broken]) -> BodyReport {
        let contacts = self.contacts.active.iter().filter(|contact| contact.resting.pressed > 0.0).count();
        let contacts = contacts as u32 + touched.contacts;
        let tolerance = self.body.flesh.volume_tolerance;
        let mut used = self.errors(&moving.x).fold(0.0, larger) / tolerance;
        if self.is_broken() {
            used = f64::INFINITY;
        }
        let mut breaks = Breaks::default();
        for found in broken {
            found.vertices.iter().for_each(|&v| breaks.add(found.promise, found.with, v));
        }
        if used > 1.0 && used.is_finite() {
            let mut is_off = vec![false; moving.x.len()];
            for (set, _) in self.errors(&moving.x).enumerate().filter(|(_, error)| *error > tolerance) {
                self.body.sets.set(set).iter().for_each(|&particle| is_off[particle as usize] = true);
            }
            let concerned = |v: &usize| self.body.map.row(*v).iter().any(|&(particle, _)| is_off[particle as usize]);
            let vertices: Vec<usize> = (0..self.body.map.vertex_count()).filter(concerned).collect();
            // A part deep inside carries no vertex, but the promise is broken all the same.
            let vertices = if vertices.is_empty() { vec![0] } else { vertices };
            vertices.into_iter().for_each(|v| breaks.add(Promise::Volume, None, v as u32));
        }
        self.contacts.judge(self.body, self.body_count, &moving.x, &moving.written, &mut breaks);
        BodyReport { contacts, used, strain: used, touched, broken: breaks.into(), ..self.report.clone() }
    }

    fn quality(&self, moving: &BodyState, vertices: &[Vec3], colliders: &[MovingCollider]) -> Quality {
        Quality {
            max_penetration: self.contacts.deepest(vertices, colliders),
            max_volume_error: self.errors(&moving.x).fold(0.0, larger),
            volume_error: self.whole_error(&moving.x),
            ..Quality::default()
        }
    }

    fn skin(&self) -> &Skin {
        self.body
    }
}
