//! One step of one soft body.
//!
//! Based on: [Bender14 §4.4.1.2-4.4.1.3, §4.4.2.1], order of a step as in `cloth_step`
//!
//! ```text
//! air, damping         impulses at the start of the step
//! touch                contacts from the positions at the start
//! look ahead           p = x + h v + h²/2 g
//! elasticity           springs or matched shapes, and soft pins: once
//! volumes              volumes and contacts in turns until all is within its tolerance
//! step                 v = (p - x)/h + h/2 g,  x = p
//! ```
//!
//! Contacts come last, so that what touches is at rest where it sticks; each has few particles of its own, so they are gone over several times.

use super::body_step::{BodyStep, vertices_of};
use super::breaks::Breaks;
use super::contacts::{Contacts, Point, SOFT_SWEEPS};
use super::filling::Filling;
use super::pin_targets::pin_targets;
use super::shape_filling::ShapeFilling;
use super::tet_filling::TetFilling;
use super::{StepWorld, contacts, for_each};
use crate::algorithms::cloth::air;
use crate::math::{Vec3, largest_norm};
use crate::mesh::bvh::Aabb;
use crate::model::{BodyState, Broken, Carried, Inside, Model, MovingCollider, Promise, Skin, SoftBodyModel};
use crate::solver::wind::Weather;
use crate::solver::{BodyReport, Drive, Quality, TouchCounts};

/// A soft body's private memory.
pub struct SoftStep<'m> {
    number: usize,
    body_count: usize,
    body: &'m SoftBodyModel,
    pub(in crate::solver) filling: Box<dyn Filling + 'm>,
    /// Look-ahead positions.
    pub(in crate::solver) ahead: Vec<Vec3>,
    /// Those that volumes and contacts were left with: what differs since was moved by other bodies.
    pub(in crate::solver) left: Vec<Vec3>,
    /// Which particles touch something.
    pub(in crate::solver) touches: Vec<bool>,
    /// Air velocity at each triangle during the frame.
    pub(in crate::solver) wind: Vec<Vec3>,
    /// Velocity change of each triangle by air.
    air: Vec<Vec3>,
    /// Places of the led particles at the start and end of the step.
    pub(in crate::solver) pin_targets: Vec<[Vec3; 2]>,
    /// The same for those that are only drawn there.
    pub(in crate::solver) soft_targets: Vec<[Vec3; 2]>,
    pub(in crate::solver) contacts: Contacts,
    pub(in crate::solver) report: BodyReport,
}

impl<'m> SoftStep<'m> {
    /// Memory for a soft body.
    pub fn new(number: usize, body: &'m SoftBodyModel, model: &Model) -> Self {
        SoftStep {
            number,
            body_count: model.body_count(),
            body,
            filling: match &body.inside {
                Inside::Tetrahedra(tets) => Box::new(TetFilling::new(body, tets)),
                Inside::Shape(shape) => Box::new(ShapeFilling::new(body, shape)),
            },
            ahead: body.rest.clone(),
            left: body.rest.clone(),
            touches: vec![false; body.rest.len()],
            wind: vec![Vec3::zeros(); body.mesh.triangles.len()],
            air: vec![Vec3::zeros(); body.mesh.triangles.len()],
            pin_targets: Vec::new(),
            soft_targets: Vec::new(),
            contacts: Contacts::new(number, body, model),
            report: BodyReport::default(),
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

    /// What fills it, and its pins, are where they are during a step.
    pub(in crate::solver) fn begin_step(&mut self, world: &StepWorld) {
        let pins = &self.body.pins;
        self.filling.begin_step(world.h, world.frames[1]);
        self.pin_targets.clear();
        self.pin_targets.extend(pin_targets(pins, pins.vertices.iter(), world));
        self.soft_targets.clear();
        self.soft_targets.extend(pin_targets(pins, pins.soft.iter().map(|soft| &soft.pin), world));
    }

    /// Its number among all bodies.
    #[cfg(feature = "gpu")]
    pub(in crate::solver) fn number(&self) -> usize {
        self.number
    }

    /// Which points are near colliders at the start of a step.
    pub(in crate::solver) fn find_contacts(&mut self, moving: &BodyState, world: &mut StepWorld) {
        self.contacts.find(self.number, self.body, moving, world);
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

    /// Move what touches to where it may be.
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

    /// Where the particles are in what is seen.
    fn seen<'a>(&self, moving: &'a BodyState) -> &'a [Vec3] {
        if matches!(self.body.carried, Carried::Itself) { &moving.written } else { &moving.x }
    }

    /// Which particles touch colliders, or were moved by what touches them since the last turn.
    pub(in crate::solver) fn mark_touching(&mut self, again: bool) {
        let body = self.body;
        for (touches, (ahead, left)) in self.touches.iter_mut().zip(self.ahead.iter().zip(&self.left)) {
            *touches = again && ahead != left;
        }
        for contact in self.contacts.active.iter().filter(|contact| contact.resting.pressed > 0.0) {
            let row = match contact.point {
                Point::Particle(p) => &[(p, 1.0)],
                Point::Vertex(v) => body.map.row(v as usize),
                Point::Sample(s) => body.samples.rows.row(s as usize),
            };
            row.iter().for_each(|&(particle, _)| self.touches[particle as usize] = true);
        }
    }

    /// Its numbers have ended while it had these velocities.
    pub(in crate::solver) fn break_down(&mut self, v: &[Vec3]) {
        let map = &self.body.map;
        let speed = |v: Vec3| if v.norm_squared().is_nan() { f64::INFINITY } else { v.norm_squared() };
        let speeds = (0..map.vertex_count()).map(|vertex| speed(map.vertex(vertex, v)));
        let fastest = speeds.enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
        self.report.broken_at = Some(fastest.map_or(0, |(vertex, _)| vertex as u32));
    }

    /// Take from velocities after a step what contacts do not allow.
    fn calm_contacts(&mut self, v: &mut [Vec3], h: f64) {
        let body = self.body;
        for contact in self.contacts.active.iter_mut().filter(|contact| contact.resting.pressed > 0.0) {
            let velocity = contact.point.value(body, v) - contact.surface_velocity;
            let by = contact.resting.correct_velocity(velocity, h);
            if by != Vec3::zeros() {
                contact.point.shift(body, v, by);
            }
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
        self.filling.begin_frame(moving);
        self.filling.begin_step(drive.frame_seconds / f64::from(drive.substeps), drive.moments[1].frame);
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
        self.begin_step(world);
        self.blow(moving, world);
        self.filling.damp(moving);
        self.find_contacts(moving, world);
        let half = gravity * (0.5 * h);
        let (x, v) = (&moving.x, &moving.v);
        for_each(&mut self.ahead, |i, ahead| *ahead = x[i] + (v[i] + half) * h);
        for (led, target) in body.pins.particles.iter().zip(&self.pin_targets) {
            self.ahead[led.particle as usize] = target[1];
        }
        self.draw_to_pins(moving, h);
        self.filling.spring(moving, &mut self.ahead);
    }

    fn passing(&self) -> &[(u32, u32)] {
        &self.contacts.passing
    }

    fn constrain(&mut self, moving: &BodyState, _: &StepWorld, again: bool) {
        if self.is_broken() {
            return;
        }
        let enough = self.filling.enough() * self.body.flesh.volume_tolerance;
        let [fewest, most] = self.filling.sweeps();
        self.touch();
        self.mark_touching(again);
        self.filling.heed_contacts(&self.ahead, &self.touches);
        for sweep in 1..=most {
            let worst = self.filling.sweep(&mut self.ahead);
            self.report.iterations += 1;
            if !worst.is_finite() {
                self.break_down(&moving.v);
                return;
            }
            self.touch();
            if worst <= enough && sweep >= fewest {
                break;
            }
        }
        for _ in 1..SOFT_SWEEPS {
            self.touch();
        }
        self.left.copy_from_slice(&self.ahead);
    }

    fn is_pulled_apart(&self) -> bool {
        !self.is_broken() && self.filling.worst_error(&self.ahead) > self.body.flesh.volume_tolerance
    }

    fn mend(&mut self, moving: &BodyState, world: &StepWorld) {
        if !self.filling.moves_only_what_is_free() {
            return;
        }
        if self.is_pulled_apart() {
            self.constrain(moving, world, true);
        } else if self.ahead != self.left {
            // Other bodies have pressed it into colliders.
            (0..SOFT_SWEEPS).for_each(|_| self.touch());
        }
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
        self.filling.calm(x, v);
        self.calm_contacts(v, h);
        self.filling.flow(moving);
    }

    fn polish(&mut self, moving: &mut BodyState, world: &mut StepWorld) {
        let BodyState { x, written, .. } = moving;
        vertices_of(self.body, x, written);
        self.contacts.leave_colliders(self.body, world, written);
    }

    fn used(&self, _: &[Vec3]) -> f64 {
        0.0
    }

    fn report(&self, moving: &BodyState, touched: TouchCounts, broken: &[Broken]) -> BodyReport {
        let contacts = self.contacts.active.iter().filter(|contact| contact.resting.pressed > 0.0).count();
        let contacts = contacts as u32 + touched.contacts;
        let tolerance = self.body.flesh.volume_tolerance;
        let mut used = self.filling.worst_error(self.seen(moving)) / tolerance;
        if self.is_broken() {
            used = f64::INFINITY;
        }
        let mut breaks = Breaks::default();
        for found in broken {
            found.vertices.iter().for_each(|&v| breaks.add(found.promise, found.with, v));
        }
        if used > 1.0 && used.is_finite() {
            let mut is_off = vec![false; moving.x.len()];
            self.filling.mark_broken(self.seen(moving), &mut is_off);
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
            max_volume_error: self.filling.worst_error(self.seen(moving)),
            volume_error: self.filling.whole_error(self.seen(moving)),
            ..Quality::default()
        }
    }

    fn skin(&self) -> &Skin {
        self.body
    }
}
