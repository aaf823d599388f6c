//! Soft bodies of matched shapes that are simulated together: their particles lie behind each other in the same arrays, so that twenty of them
//! cost the dispatches of one. What touches colliders has dispatches of its own for each body.
//!
//! Each body is a `BodyStep` of its own. What all of them do at once is done by the first one that needs it (sweeps, the step), or by the last
//! one that has said its part (loading, the look-ahead): the order of a step has all bodies in each of its phases.

use std::cell::RefCell;
use std::rc::Rc;

use super::contact::DeviceContacts;
use super::finding::Finder;
use super::meshes::DeviceMeshes;
use super::particles::{Particles, StepData};
use super::reduce::{Control, ControlData};
use super::shapes::{GpuShapes, kind, largest_array, starts};
use super::soft::{DeviceFilling, LEAST_TOLERANCE, MOST_AT_ONCE, SkinAir, SoftPins};
use super::work::{Gpu, Slab};
use crate::math::Vec3;
use crate::mesh::bvh::Aabb;
use crate::model::build_pins::LedParticle;
use crate::model::{BodyState, Broken, Model, MovingCollider, ShapeBody, Skin, SoftBodyModel};
use crate::solver::cpu::StepWorld;
use crate::solver::cpu::body_step::BodyStep;
use crate::solver::cpu::contacts::SOFT_SWEEPS;
use crate::solver::cpu::soft_step::SoftStep;
use crate::solver::wind::Weather;
use crate::solver::{BodyReport, Drive, Quality, TouchCounts};

/// Where a soft body is simulated together with others: with which ones, and which of them it is.
pub type Place<'m> = Option<(Rc<RefCell<Pack<'m>>>, usize)>;

/// Pack the soft bodies of a model that can be: for each of them its place.
pub fn pack<'m>(gpu: &Rc<Gpu>, model: &'m Model, meshes: &Rc<RefCell<DeviceMeshes>>) -> Vec<Place<'m>> {
    let mut groups: Vec<([bool; 3], usize, Vec<usize>)> = Vec::new();
    for (number, body) in model.soft_bodies.iter().enumerate() {
        let Some(shape) = body.shape().filter(|_| body.flesh.volume_tolerance >= LEAST_TOLERANCE) else { continue };
        let (kind, size) = (kind(body, shape), largest_array(body, shape));
        let room = gpu.limits().binding as usize;
        match groups.iter_mut().find(|(of, taken, _)| *of == kind && taken.saturating_add(size) <= room) {
            Some((_, taken, numbers)) => {
                *taken += size;
                numbers.push(number);
            }
            None => groups.push((kind, size, vec![number])),
        }
    }
    let mut places: Vec<Place<'m>> = model.soft_bodies.iter().map(|_| None).collect();
    for (_, _, numbers) in groups.iter().filter(|(_, _, numbers)| numbers.len() > 1) {
        let body = |&number: &usize| {
            let body = &model.soft_bodies[number];
            Some((model.cloths.len() + number, body, body.shape()?))
        };
        let bodies: Vec<_> = numbers.iter().filter_map(body).collect();
        let pack = Rc::new(RefCell::new(Pack::new(gpu, &bodies, model, meshes)));
        numbers.iter().enumerate().for_each(|(place, &number)| places[number] = Some((Rc::clone(&pack), place)));
    }
    places
}

/// What bodies that are simulated together share.
pub struct Pack<'m> {
    gpu: Rc<Gpu>,
    bodies: Vec<&'m SoftBodyModel>,
    /// The first particle of each.
    starts: Vec<usize>,
    particles: Particles,
    shapes: GpuShapes<'m>,
    control: Control,
    air: SkinAir,
    soft_pins: SoftPins,
    /// Not 0 for particles that touch something.
    touches: Slab<u32>,
    /// Of each body; none where nothing can touch.
    contacts: Vec<Option<DeviceContacts>>,
    /// The same; none where the processor finds what is near.
    finders: Vec<Option<Finder>>,
    /// Whether the processor sees places and velocities in every step.
    is_watched: bool,
    /// What the bodies have said so far: wind, and where pins are.
    winds: Vec<Vec<Vec3>>,
    pin_targets: Vec<Vec<[Vec3; 2]>>,
    soft_targets: Vec<Vec<[Vec3; 2]>>,
    aims: Vec<(f64, u32)>,
    /// How many bodies have been there in this phase.
    there: usize,
    /// Which bodies are to be swept, and what the device knows of that.
    due: Vec<bool>,
    told_due: Vec<bool>,
    touched: Vec<bool>,
    sweeps: [u32; 2],
    is_settled: bool,
    ends: Vec<ControlData>,
    /// How often look-ahead positions have been changed, and when they and velocities came here last.
    version: u64,
    ahead_version: u64,
    has_velocities: bool,
}

impl<'m> Pack<'m> {
    fn new(
        gpu: &Rc<Gpu>,
        bodies: &[(usize, &'m SoftBodyModel, &'m ShapeBody)],
        model: &'m Model,
        meshes: &Rc<RefCell<DeviceMeshes>>,
    ) -> Self {
        let starts = starts(bodies.iter().map(|(_, body, _)| body.rest.len()));
        let (mut k, mut led, mut pin_count) = (Vec::new(), Vec::new(), 0);
        for ((_, body, _), &start) in bodies.iter().zip(&starts) {
            k.resize(start, 0.0);
            k.extend(&body.k);
            led.extend(body.pins.particles.iter().map(|led| LedParticle {
                particle: start as u32 + led.particle,
                ends: led.ends.map(|end| pin_count + end),
            }));
            pin_count += body.pins.vertices.len() as u32;
        }
        let particles = Particles::new(gpu, &k, &led);
        let shapes: Vec<_> = bodies.iter().map(|(_, body, shape)| (*body, *shape)).collect();
        let placed: Vec<(&SoftBodyModel, usize)> =
            bodies.iter().zip(&starts).map(|((_, body, _), &start)| (*body, start)).collect();
        let (mut contacts, mut finders) = (Vec::new(), Vec::new());
        for (place, (number, body, _)) in bodies.iter().enumerate() {
            let own = starts[place]..starts[place] + body.rest.len();
            let meets = model.contact.with_colliders(*number).iter().any(Option::is_some);
            let mut of_body = model.has_contacts().then(|| DeviceContacts::of_part(gpu, body, &particles, place, own));
            finders.push(match &mut of_body {
                Some(contacts) if meets && !model.has_touching_triangles() => {
                    Finder::of_skin(gpu, *number, model, &particles, contacts, meshes)
                }
                _ => None,
            });
            contacts.push(of_body);
        }
        let count = bodies.len();
        Pack {
            shapes: GpuShapes::of_several(gpu, &shapes, &particles),
            control: Control::of_several(gpu, count),
            air: SkinAir::of_several(gpu, &placed, &particles),
            soft_pins: SoftPins::of_several(gpu, &placed, &particles),
            touches: gpu.zeros("touches", k.len()),
            is_watched: model.has_contacts() && finders.iter().any(Option::is_none),
            bodies: bodies.iter().map(|(_, body, _)| *body).collect(),
            gpu: Rc::clone(gpu),
            starts,
            particles,
            contacts,
            finders,
            winds: vec![Vec::new(); count],
            pin_targets: vec![Vec::new(); count],
            soft_targets: vec![Vec::new(); count],
            aims: vec![(0.0, 0); count],
            there: 0,
            due: vec![false; count],
            told_due: Vec::new(),
            touched: vec![false; count],
            sweeps: [1, 1],
            is_settled: true,
            ends: vec![ControlData::default(); count],
            version: 0,
            ahead_version: 0,
            has_velocities: false,
        }
    }

    /// Whether the last body has been there now.
    fn is_last(&mut self) -> bool {
        self.there = (self.there + 1) % self.bodies.len();
        self.there == 0
    }

    fn begin_frame(&mut self, place: usize, moving: &BodyState, host: &SoftStep) {
        if place == 0 {
            // The last frame may have ended early.
            self.there = 0;
            self.due.fill(false);
            self.is_settled = true;
        }
        if let Some(finder) = &mut self.finders[place] {
            finder.watch(host.contacts.watched_box(self.bodies[place], moving, 0.0));
        }
        self.particles.load_part(self.starts[place], moving);
        self.shapes.begin_frame_of(place, moving);
        self.sweeps = host.filling.sweeps();
        self.aims[place] = (host.filling.enough() * self.bodies[place].flesh.volume_tolerance, self.sweeps[0]);
        self.winds[place].clone_from(&host.wind);
        if self.is_last() {
            self.particles.finish_loading();
            self.shapes.begin_turns();
            self.air.forget();
            self.told_due.clear();
        }
    }

    fn prepare(&mut self, place: usize, moving: &BodyState, world: &StepWorld) {
        self.shapes.begin_step_of(place, world.h);
        if self.is_watched {
            self.particles.load_velocities_of(self.starts[place], moving);
        }
        if self.is_last() {
            self.particles.begin_step(StepData::new(world));
            if world.drag > 0.0 {
                self.air.blow(&self.winds.concat());
            }
            self.shapes.damp();
            self.has_velocities = false;
        }
    }

    /// Velocities of a body after forces.
    fn velocities(&mut self, place: usize, v: &mut [Vec3]) {
        if !self.has_velocities {
            self.particles.bring_velocities();
            self.has_velocities = true;
        }
        self.particles.velocities_of(self.starts[place], v);
    }

    fn look_ahead(&mut self, place: usize, host: &SoftStep, h: f64) {
        self.pin_targets[place].clone_from(&host.pin_targets);
        self.soft_targets[place].clone_from(&host.soft_targets);
        if self.is_last() {
            self.particles.look_ahead(&self.pin_targets.concat());
            let targets = self.bodies.iter().copied().zip(self.soft_targets.iter().map(Vec::as_slice));
            self.soft_pins.draw_all(targets, h);
            self.shapes.spring();
            self.version += 1;
        }
    }

    /// Press and hold what touches colliders, as often.
    fn touch(&mut self, place: usize, sweeps: u32) {
        if let Some(contacts) = &mut self.contacts[place] {
            (0..sweeps).for_each(|_| contacts.positions_anyway());
        }
        self.version += 1;
    }

    /// Volumes of all that are due; contacts have the last word.
    fn settle(&mut self) {
        if std::mem::replace(&mut self.is_settled, true) {
            return;
        }
        if self.told_due != self.due {
            let aims = self.aims.iter().zip(&self.due).map(|(&(enough, fewest), &is_due)| (enough, fewest, is_due));
            self.control.aim_several(aims);
            self.told_due.clone_from(&self.due);
        }
        self.shapes.heed_contacts(&self.touches, &self.control);
        self.control.begin();
        let [fewest, most] = self.sweeps;
        let (mut swept, mut at_once) = (0, fewest);
        loop {
            let count = at_once.min(most - swept);
            for _ in 0..count {
                self.shapes.sweep(&self.control);
                let touched = self.touched.iter().zip(&self.due).map(|(touched, due)| *touched && *due);
                for (contacts, _) in self.contacts.iter_mut().zip(touched).filter(|(_, touched)| *touched) {
                    contacts.iter_mut().for_each(|contacts| contacts.positions(&self.control.slab));
                }
                self.control.judge();
            }
            swept += count;
            at_once = (2 * at_once).min(MOST_AT_ONCE);
            self.ends = self.control.read_all();
            if swept >= most || self.ends.iter().all(|end| end.done != 0) {
                break;
            }
        }
        self.version += 1;
        for place in 0..self.bodies.len() {
            if self.due[place] && self.touched[place] {
                self.touch(place, SOFT_SWEEPS - 1);
            }
        }
        self.due.fill(false);
    }

    fn ahead(&mut self, place: usize, ahead: &mut [Vec3]) {
        if self.ahead_version != self.version {
            self.particles.bring_ahead();
            self.ahead_version = self.version;
        }
        self.particles.ahead_of(self.starts[place], ahead);
    }

    fn step(&mut self, is_read: bool) {
        if self.there == 0 {
            self.particles.advance();
            self.shapes.calm();
            self.contacts.iter().flatten().for_each(DeviceContacts::velocities);
            self.shapes.flow();
            if is_read {
                self.particles.bring_state();
            }
        }
        self.is_last();
    }
}

/// A soft body that is simulated together with others. See `GpuSoft` for the same without others.
pub struct GpuPacked<'m> {
    /// What the processor does: contacts with colliders, what is written, reports.
    host: SoftStep<'m>,
    body: &'m SoftBodyModel,
    model: &'m Model,
    pack: Rc<RefCell<Pack<'m>>>,
    place: usize,
    start: usize,
    meets_colliders: bool,
    has_triangles: bool,
    is_due: bool,
    is_touched: bool,
    /// Whether anything but the body itself may have moved its look-ahead positions, so that its volumes have to be looked at.
    is_judged: bool,
    /// Which of the pack's look-ahead positions are here.
    version: Option<u64>,
}

impl<'m> GpuPacked<'m> {
    /// For a body of a model that has this place in a pack.
    pub fn new(
        number: usize,
        body: &'m SoftBodyModel,
        model: &'m Model,
        (pack, place): (&Rc<RefCell<Pack<'m>>>, usize),
    ) -> Self {
        GpuPacked {
            host: SoftStep::new(number, body, model),
            meets_colliders: model.contact.with_colliders(number).iter().any(Option::is_some),
            has_triangles: model.has_touching_triangles(),
            start: pack.borrow().starts[place],
            pack: Rc::clone(pack),
            place,
            body,
            model,
            is_due: false,
            is_touched: false,
            is_judged: false,
            version: None,
        }
    }
}

impl BodyStep for GpuPacked<'_> {
    fn forget(&mut self) {
        self.host.forget();
    }

    fn begin_frame(&mut self, moving: &BodyState, weather: &Weather, drive: &Drive) {
        self.host.begin_frame(moving, weather, drive);
        self.pack.borrow_mut().begin_frame(self.place, moving, &self.host);
        self.version = None;
    }

    fn frame_box(&self, moving: &BodyState, drive: &Drive) -> Aabb {
        self.host.frame_box(moving, drive)
    }

    fn prepare(&mut self, moving: &BodyState, world: &StepWorld) {
        if self.is_broken() {
            return;
        }
        self.host.begin_step(world);
        self.pack.borrow_mut().prepare(self.place, moving, world);
    }

    fn look_ahead(&mut self, moving: &mut BodyState, world: &mut StepWorld, step: u32) {
        if self.is_broken() {
            return;
        }
        let mut pack = self.pack.borrow_mut();
        let Pack { finders, contacts, .. } = &mut *pack;
        if let (Some(finder), Some(contacts)) = (&mut finders[self.place], &contacts[self.place]) {
            finder.find(self.host.number(), self.body, self.model, world, step);
            contacts.begin_found();
        } else if contacts[self.place].is_some() && self.meets_colliders {
            // How fast what touches arrives decides how it bounces, and how far it may come.
            let is_damped = self.body.shape().is_some_and(|shape| shape.settings.damping > 0.0);
            if world.drag > 0.0 || self.body.flesh.damping > 0.0 || is_damped {
                pack.velocities(self.place, &mut moving.v);
            }
            self.host.find_contacts(moving, world);
            if let Some(contacts) = &mut pack.contacts[self.place] {
                contacts.load(self.body, &moving.x, &self.host.contacts);
            }
        }
        pack.look_ahead(self.place, &self.host, world.h);
    }

    fn passing(&self) -> &[(u32, u32)] {
        self.host.passing()
    }

    fn constrain(&mut self, _: &BodyState, _: &StepWorld, again: bool) {
        if self.is_broken() {
            return;
        }
        let is_found = self.pack.borrow().finders[self.place].is_some();
        self.is_touched = is_found || self.host.contacts.active.iter().any(|contact| !contact.passes);
        if self.is_touched {
            self.pack.borrow_mut().touch(self.place, 1);
        }
        if again && !is_found {
            // What other bodies have moved is known here.
            self.fetch();
        }
        let mut pack = self.pack.borrow_mut();
        let Pack { gpu, contacts, touches, .. } = &mut *pack;
        if again && !is_found {
            if let Some(contacts) = &contacts[self.place] {
                contacts.read(&mut self.host.contacts);
            }
            self.host.mark_touching(again);
            let own: Vec<u32> = self.host.touches.iter().map(|touches| u32::from(*touches)).collect();
            gpu.write(touches, self.start, &own);
        } else if let Some(contacts) = &mut contacts[self.place] {
            contacts.mark(touches);
        }
        pack.due[self.place] = true;
        pack.touched[self.place] = self.is_touched;
        pack.is_settled = false;
        self.is_due = true;
    }

    fn settle(&mut self, moving: &BodyState, _: &StepWorld) {
        if !std::mem::take(&mut self.is_due) || self.is_broken() {
            return;
        }
        let end = {
            let mut pack = self.pack.borrow_mut();
            pack.settle();
            pack.ends[self.place]
        };
        self.host.report.iterations += u64::from(end.sweeps);
        if end.is_broken() {
            let mut v = moving.v.clone();
            let mut pack = self.pack.borrow_mut();
            pack.has_velocities = false;
            pack.velocities(self.place, &mut v);
            self.host.break_down(&v);
            return;
        }
        self.is_judged = self.is_touched || self.has_triangles;
        if self.is_judged {
            self.fetch();
            self.host.left.copy_from_slice(&self.host.ahead);
        }
    }

    fn is_pulled_apart(&self) -> bool {
        self.is_judged && self.host.is_pulled_apart()
    }

    fn mend(&mut self, moving: &BodyState, world: &StepWorld) {
        if !self.host.filling.moves_only_what_is_free() {
            return;
        }
        if self.is_pulled_apart() {
            self.constrain(moving, world, true);
            self.settle(moving, world);
        } else if self.is_judged && self.host.ahead != self.host.left {
            // Other bodies have pressed it into colliders.
            self.pack.borrow_mut().touch(self.place, SOFT_SWEEPS);
        }
    }

    fn is_broken(&self) -> bool {
        self.host.is_broken()
    }

    fn fetch(&mut self) {
        let mut pack = self.pack.borrow_mut();
        if self.version != Some(pack.version) {
            pack.ahead(self.place, &mut self.host.ahead);
            self.version = Some(pack.version);
        }
    }

    fn ahead(&self) -> &[Vec3] {
        &self.host.ahead
    }

    fn put(&mut self, places: &[Vec3]) {
        let mut pack = self.pack.borrow_mut();
        if self.version != Some(pack.version) || self.host.ahead != places {
            self.host.put(places);
            pack.particles.write_ahead_of(self.start, &self.host.ahead);
            self.version = Some(pack.version);
        }
    }

    fn step(&mut self, moving: &mut BodyState, world: &StepWorld) {
        if self.is_broken() {
            return;
        }
        let mut pack = self.pack.borrow_mut();
        let is_last = world.steps_left == 1;
        let is_read = pack.is_watched || is_last;
        pack.step(is_read);
        if is_read {
            pack.particles.state_of(self.start, moving);
        }
        if is_last {
            if let (None, Some(contacts)) = (&pack.finders[self.place], &pack.contacts[self.place]) {
                contacts.read(&mut self.host.contacts);
            }
            pack.shapes.read_of(self.place, moving);
        }
    }

    fn polish(&mut self, moving: &mut BodyState, world: &mut StepWorld) {
        {
            let pack = self.pack.borrow();
            if let (Some(finder), Some(contacts)) = (&pack.finders[self.place], &pack.contacts[self.place]) {
                finder.read(contacts, &mut self.host.contacts, self.body, moving, world);
            }
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
