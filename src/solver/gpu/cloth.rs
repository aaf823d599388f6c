//! A cloth on the device. See `cpu/cloth_step.rs` for the order of a step; what a kernel does is described beside its twin.

use std::cell::RefCell;
use std::rc::Rc;

use super::cloths::{Cloths, Place};
use super::pairs::BodyArrays;
use super::particles::Four;
use crate::math::Vec3;
use crate::mesh::bvh::Aabb;
use crate::model::{BodyState, Broken, ClothModel, Model, MovingCollider, Skin};
use crate::solver::cpu::StepWorld;
use crate::solver::cpu::body_step::BodyStep;
use crate::solver::cpu::cloth_step::ClothStep;
use crate::solver::wind::Weather;
use crate::solver::{BodyReport, Drive, Quality, TouchCounts};

/// A cloth whose steps are done on the device, together with those of others or alone.
pub struct GpuCloth<'m> {
    /// What the processor does: contacts with colliders, what is written, reports.
    host: ClothStep<'m>,
    cloth: &'m ClothModel,
    model: &'m Model,
    cloths: Rc<RefCell<Cloths<'m>>>,
    place: usize,
    /// Steps of this frame.
    substeps: u32,
    /// Whether constraints were gone over, and nobody has seen where they led.
    is_due: bool,
    /// Whether the look-ahead positions here are those of the device.
    is_fetched: bool,
}

impl<'m> GpuCloth<'m> {
    /// For a cloth that has this place.
    pub fn new(number: usize, cloth: &'m ClothModel, model: &'m Model, (cloths, place): Place<'m>) -> Self {
        let mut host = ClothStep::new(number, cloth, model);
        host.bending.is_elsewhere = true;
        GpuCloth { host, cloth, model, cloths, place, substeps: 1, is_due: false, is_fetched: false }
    }

    /// Its arrays, if each of its vertices is a particle that moves by itself, so that triangles can be pressed in them.
    pub fn arrays(&self) -> Option<BodyArrays> {
        self.cloths.borrow().arrays(self.place)
    }

    /// From now on triangles that may touch are pressed on the device.
    pub fn press_here(&mut self) {
        self.cloths.borrow_mut().press_here();
    }

    /// The look-ahead positions are here: whether they are numbers.
    fn see(&mut self) {
        self.is_fetched = true;
        let ahead = std::mem::take(&mut self.host.ahead);
        self.note_if_broken(&ahead);
        self.host.ahead = ahead;
    }

    fn note_if_broken(&mut self, values: &[Vec3]) {
        if !self.is_broken() && values.iter().any(|v| !v.norm_squared().is_finite()) {
            self.host.note_broken(values);
        }
    }
}

impl BodyStep for GpuCloth<'_> {
    fn forget(&mut self) {
        self.host.forget();
    }

    fn begin_frame(&mut self, moving: &BodyState, weather: &Weather, drive: &Drive) {
        self.host.begin_frame(moving, weather, drive);
        self.cloths.borrow_mut().begin_frame(self.place, moving, &self.host, drive);
        self.substeps = drive.substeps;
        self.is_due = false;
    }

    fn frame_box(&self, moving: &BodyState, drive: &Drive) -> Aabb {
        self.host.frame_box(moving, drive)
    }

    fn prepare(&mut self, moving: &BodyState, world: &StepWorld) {
        if self.is_broken() {
            return;
        }
        self.host.place_pins(world);
        let step = self.substeps - world.steps_left;
        self.cloths.borrow_mut().prepare(self.place, moving, &self.host, world, step);
    }

    fn look_ahead(&mut self, moving: &mut BodyState, world: &mut StepWorld, step: u32) {
        if self.is_broken() {
            return;
        }
        let mut cloths = self.cloths.borrow_mut();
        if cloths.is_watched && cloths.finders[self.place].is_none() {
            if cloths.has_other_velocities() {
                cloths.velocities(self.place, &mut moving.v);
            }
            self.host.find_contacts(moving, world);
        }
        let has_triangles = cloths.has_triangles;
        let is_watched = cloths.is_watched;
        let Cloths { finders, contacts, .. } = &mut *cloths;
        match (&mut finders[self.place], &mut contacts[self.place]) {
            (None, Some(contacts)) if is_watched => contacts.load(self.cloth, &moving.x, &self.host.contacts),
            (Some(finder), Some(contacts)) => {
                let number = self.host.number();
                if has_triangles {
                    finder.watch(self.host.contacts.watch(number, self.cloth, moving, world.colliders));
                }
                finder.find(number, self.cloth, self.model, world, step);
                contacts.begin_found();
                finder.read_passing(&mut self.host.contacts, self.cloth);
            }
            _ => {}
        }
        if !self.host.torn.is_empty() {
            self.host.heal(world.h * f64::from(step + 1));
        }
        cloths.look_ahead(self.place, &self.host, world);
        self.is_fetched = false;
    }

    fn passing(&self) -> &[(u32, u32)] {
        self.host.passing()
    }

    fn constrain(&mut self, _: &BodyState, world: &StepWorld, again: bool) {
        if !self.is_broken() {
            self.cloths.borrow_mut().constrain(self.place, &mut self.host, world, again);
            self.is_fetched = false;
            self.is_due = true;
        }
    }

    fn settle(&mut self, _: &BodyState, _: &StepWorld) {
        // What presses does not look at what are no numbers.
        if std::mem::take(&mut self.is_due) && self.cloths.borrow().is_seen {
            self.fetch();
        }
    }

    fn is_pulled_apart(&self) -> bool {
        let cloths = self.cloths.borrow();
        if cloths.is_seen { self.host.is_pulled_apart() } else { !self.is_broken() && cloths.is_left_apart() }
    }

    fn is_broken(&self) -> bool {
        self.host.is_broken()
    }

    fn fetch(&mut self) {
        if !self.is_fetched {
            self.cloths.borrow_mut().ahead(self.place, &mut self.host.ahead);
            self.see();
        }
    }

    fn receive(&mut self, places: &[Four], ways: &[Four]) {
        self.cloths.borrow_mut().receive(self.place, (places, ways), &mut self.host.ahead);
        self.see();
    }

    fn bring_velocities(&mut self, moving: &mut BodyState) {
        if self.cloths.borrow().is_pressed_here {
            self.cloths.borrow_mut().velocities(self.place, &mut moving.v);
            self.note_if_broken(&moving.v);
        }
    }

    fn send_velocities(&mut self, moving: &BodyState) {
        let mut cloths = self.cloths.borrow_mut();
        if cloths.is_pressed_here {
            let start = cloths.start(self.place);
            cloths.particles.load_velocities_of(start, moving);
        }
    }

    fn ahead(&self) -> &[Vec3] {
        &self.host.ahead
    }

    fn put(&mut self, places: &[Vec3]) {
        self.host.put(places);
        let mut cloths = self.cloths.borrow_mut();
        let start = cloths.start(self.place);
        cloths.particles.write_ahead_of(start, &self.host.ahead);
    }

    fn step(&mut self, moving: &mut BodyState, world: &StepWorld) {
        if self.is_broken() {
            return;
        }
        let mut cloths = self.cloths.borrow_mut();
        let is_last = world.steps_left == 1;
        let is_read = cloths.sees_states() || is_last;
        cloths.step(self.place, is_read);
        if let (true, Some(contacts), None) = (is_last, &cloths.contacts[self.place], &cloths.finders[self.place]) {
            contacts.read(&mut self.host.contacts);
        }
        if is_read {
            cloths.particles.state_of(cloths.start(self.place), moving);
            drop(cloths);
            self.note_if_broken(&moving.x);
            self.note_if_broken(&moving.v);
        } else if cloths.is_pressed_here {
            // Where the step leads was seen before.
            moving.x.copy_from_slice(&self.host.ahead);
        }
    }

    fn polish(&mut self, moving: &mut BodyState, world: &mut StepWorld) {
        let cloths = self.cloths.borrow();
        if let (Some(finder), Some(contacts)) = (&cloths.finders[self.place], &cloths.contacts[self.place]) {
            finder.read(contacts, &mut self.host.contacts, self.cloth, moving, world);
        }
        self.host.polish(moving, world);
    }

    fn used(&self, vertices: &[Vec3]) -> f64 {
        self.host.used(vertices)
    }

    fn report(&self, moving: &BodyState, touched: TouchCounts, broken: &[Broken]) -> BodyReport {
        self.host.report(moving, touched, broken)
    }

    fn quality(&self, moving: &BodyState, vertices: &[Vec3], colliders: &[MovingCollider]) -> Quality {
        self.host.quality(moving, vertices, colliders)
    }

    fn skin(&self) -> &Skin {
        self.host.skin()
    }
}
