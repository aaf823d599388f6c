//! A cloth on the device. See `cpu/cloth_step.rs` for the order of a step; what a kernel does is described beside its twin.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::cloth_parts::{self as parts, AirData, BeatData, DistanceData, GoalData, Held};
use super::cloth_systems::{BendingSystem, ConstraintSystem};
use super::contact::DeviceContacts;
use super::finding::Finder;
use super::meshes::DeviceMeshes;
use super::pairs::BodyArrays;
use super::particles::{Four, Particles, StepData, four};
use super::work::{Dispatch, Gpu, Told};
use crate::algorithms::cloth::distance::Distance;
use crate::math::Vec3;
use crate::mesh::bvh::Aabb;
use crate::model::{BodyState, Broken, Carried, ClothModel, Model, MovingCollider, Skin};
use crate::scene::{ClothKind, SolverChoice};
use crate::solver::cpu::StepWorld;
use crate::solver::cpu::body_step::BodyStep;
use crate::solver::cpu::cloth_step::{ATTACHMENT_EDGES, ClothStep};
use crate::solver::wind::Weather;
use crate::solver::{BodyReport, Drive, Quality, TouchCounts};

/// A cloth whose steps are done on the device.
pub struct GpuCloth<'m> {
    /// What the processor does: contacts with colliders, what is written, reports.
    host: ClothStep<'m>,
    cloth: &'m ClothModel,
    gpu: Rc<Gpu>,
    particles: Particles,
    /// Whether the processor looks for what is near at the start of every step.
    is_watched: bool,
    /// Whether triangles may touch.
    has_triangles: bool,
    /// Whether it sees the look-ahead positions whenever constraints were gone over: triangles may touch and are pressed there, or contacts and
    /// a linear system take turns.
    is_seen: bool,
    /// Whether triangles may touch and are pressed on the device: look-ahead positions are seen once a step.
    is_pressed_here: bool,
    /// Whether the look-ahead positions here are those of the device.
    is_fetched: bool,
    /// Whether the linear system and what came after it have left more than is allowed, where the processor does not see the look-ahead positions
    /// and has asked.
    is_left_apart: Cell<Option<bool>>,
    air_data: Told<AirData>,
    wind: Told<Four>,
    beat_data: Told<BeatData>,
    distance_data: Told<DistanceData>,
    /// Of vertices that are pinned exactly, and of those that are drawn to their places.
    goals: Told<GoalData>,
    soft_goals: Told<GoalData>,
    bend: [Dispatch; 2],
    /// Implicit bending, made when a frame needs it for the first time.
    bending_system: Option<BendingSystem>,
    /// All distances at once, if they are solved so.
    system: Option<ConstraintSystem>,
    blow: [Dispatch; 2],
    soft_pins: Option<Held>,
    /// Elastic triangles and shear springs.
    springs: Vec<Dispatch>,
    attach: Dispatch,
    distances: [Vec<Dispatch>; 2],
    pins: Option<Held>,
    /// None without colliders.
    contacts: Option<DeviceContacts>,
    /// Finds what is near; none where the processor does.
    finder: Option<Finder>,
    model: &'m Model,
}

impl<'m> GpuCloth<'m> {
    /// For a cloth; none where the device cannot do what it needs.
    pub fn new(
        gpu: &Rc<Gpu>,
        number: usize,
        cloth: &'m ClothModel,
        model: &'m Model,
        meshes: &Rc<RefCell<DeviceMeshes>>,
    ) -> Option<Self> {
        let particles = Particles::new(gpu, &cloth.k, &cloth.pins.particles);
        let system = match cloth.solver {
            SolverChoice::Iterative => None,
            // Pinned vertices between midpoints are rows of their own; which of the rows that only pull do so would be asked of the device dozens of
            // times a step.
            SolverChoice::Pcg if cloth.kind != ClothKind::Midpoint && cloth.is_bilateral() => {
                Some(ConstraintSystem::new(gpu, cloth, &particles)?)
            }
            _ => return None,
        };
        let (exact, soft) = (&cloth.pins.vertices, &cloth.pins.soft);
        let goals = Told::new(gpu, "goals", exact.len());
        let soft_goals = Told::new(gpu, "soft goals", soft.len());
        let held = |vertices: Vec<u32>, goals| Held::new(gpu, &particles, &cloth.map, &cloth.k, vertices, goals);
        let soft_pins = match soft.is_empty() {
            true => None,
            false => Some(held(soft.iter().map(|soft| soft.pin.vertex).collect(), &soft_goals)?),
        };
        let pins = match exact.is_empty() || cloth.kind != ClothKind::Midpoint {
            true => None, // others are led particles
            false => Some(held(exact.iter().map(|pin| pin.vertex).collect(), &goals)?),
        };
        let air_data = Told::new(gpu, "air", 1);
        let wind = Told::new(gpu, "wind", cloth.triangle_particles.len());
        let beat_data = Told::new(gpu, "beat", 1);
        let distance_data = Told::new(gpu, "distances", cloth.distances.len());
        let triangles = (cloth.triangle_particles.as_slice(), cloth.triangle_density.as_slice());
        let mut springs = parts::elastic(gpu, &particles, &cloth.elastic)?;
        springs.extend(parts::diagonals(gpu, &particles, &cloth.diagonals)?);
        let mut host = ClothStep::new(number, cloth, model);
        host.bending.is_elsewhere = true;
        let is_seen = model.has_touching_triangles() || cloth.solver == SolverChoice::Pcg && model.has_contacts();
        let mut contacts = (!model.colliders.is_empty()).then(|| DeviceContacts::of_skin(gpu, cloth, &particles));
        let finder = match &mut contacts {
            Some(contacts) => Finder::of_skin(gpu, number, model, &particles, contacts, meshes),
            None => None,
        };
        Some(GpuCloth {
            host,
            system,
            bending_system: None,
            gpu: Rc::clone(gpu),
            is_watched: model.has_contacts() && finder.is_none(),
            has_triangles: model.has_touching_triangles(),
            is_seen,
            contacts,
            finder,
            model,
            is_fetched: false,
            is_left_apart: Cell::new(None),
            is_pressed_here: false,
            bend: parts::bending(gpu, &particles, &cloth.bending, &beat_data),
            blow: parts::air(gpu, &particles, triangles, &cloth.triangle_shares, &air_data, &wind),
            soft_pins,
            springs,
            attach: parts::attachments(gpu, &particles, &cloth.attachments, &goals, ATTACHMENT_EDGES * cloth.mean_edge),
            distances: parts::distances(gpu, &particles, &cloth.pairs, &distance_data),
            pins,
            air_data,
            wind,
            beat_data,
            distance_data,
            goals,
            soft_goals,
            particles,
            cloth,
        })
    }

    /// Its arrays, if each of its vertices is a particle that moves by itself, so that triangles can be pressed in them.
    pub fn arrays(&self) -> Option<BodyArrays> {
        let cloth = self.cloth;
        let is_own = cloth
            .touch_k
            .iter()
            .zip(&cloth.is_led)
            .zip(&cloth.k)
            .all(|((touch_k, is_led), k)| if *is_led { *k == 0.0 } else { touch_k == k });
        let Particles { x, low, d, v, .. } = &self.particles;
        let arrays = || BodyArrays { x: x.clone(), low: low.clone(), d: d.clone(), v: v.clone() };
        (cloth.carried == Carried::Itself && is_own).then(arrays)
    }

    /// From now on triangles that may touch are pressed on the device.
    pub fn press_here(&mut self) {
        self.is_pressed_here = true;
        self.is_seen = false;
        self.is_watched = self.contacts.is_some() && self.finder.is_none();
    }

    /// Whether the processor sees the state at the end of every step.
    fn sees_states(&self) -> bool {
        self.is_watched || self.has_triangles && !self.is_pressed_here
    }

    /// Impulses at the start of a step; whether the device has changed velocities by any.
    fn push(&mut self, world: &StepWorld, step: u32) -> bool {
        let (gpu, cloth) = (&self.gpu, self.cloth);
        let mut is_changed = false;
        if let Some(beat) = self.host.bending.beat(cloth, world.h, step) {
            match self.host.bending.explicit_damping() {
                Some(damping) => {
                    self.beat_data.tell(gpu, [BeatData::new(cloth.bend, beat, damping)].into_iter());
                    gpu.run(&self.bend);
                    is_changed = true;
                }
                None => {
                    self.bending_system.iter().for_each(BendingSystem::apply);
                    is_changed = true;
                }
            }
        }
        if let Some(seconds) = self.host.air_seconds(world, step) {
            self.air_data.tell(gpu, [AirData::new(world.gravity, seconds, world.drag)].into_iter());
            gpu.run(&self.blow);
            is_changed = true;
        }
        is_changed
    }

    /// Where pins want their vertices in this step.
    fn place_pins(&mut self, world: &StepWorld) {
        self.host.place_pins(world);
        self.goals.tell(&self.gpu, self.host.pin_targets.iter().map(|ends| GoalData::exact(*ends)));
        let soft = self.cloth.pins.soft.iter().zip(&self.host.soft_targets);
        self.soft_goals.tell(&self.gpu, soft.map(|(soft, ends)| GoalData::soft(*ends, soft.frequency * world.h)));
    }

    fn tell_distances(told: &mut Told<DistanceData>, gpu: &Gpu, cloth: &ClothModel, distances: &[Distance]) {
        let rows = cloth.pairs.pairs().iter().zip(distances);
        told.tell(gpu, rows.map(|(ends, distance)| DistanceData::new(*ends, distance)));
    }

    fn is_torn(&self) -> bool {
        !self.host.torn.is_empty()
    }

    /// Bring the look-ahead positions here and see whether they are numbers.
    fn see(&mut self) {
        match self.is_pressed_here {
            true => self.particles.bring_places_and_ahead(),
            false => self.particles.bring_ahead(),
        }
        self.take_ahead();
    }

    fn take_ahead(&mut self) {
        self.particles.ahead_of(0, &mut self.host.ahead);
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
        if let Some(finder) = &mut self.finder {
            finder.watch(self.host.contacts.watched_box(self.cloth, moving, 0.0));
        }
        self.particles.load(moving);
        let h = drive.frame_seconds / f64::from(drive.substeps);
        if self.cloth.bend > 0.0 && self.host.bending.explicit_damping().is_none() {
            if self.bending_system.is_none() {
                self.bending_system = BendingSystem::new(&self.gpu, self.cloth, &self.particles);
            }
            if let Some(bending) = &mut self.bending_system {
                bending.begin_frame(self.cloth, self.host.bending.frame_beat(h));
            }
        }
        self.system.iter_mut().for_each(ConstraintSystem::reset);
        self.wind.tell(&self.gpu, self.host.wind.iter().map(|wind| four(*wind, 0.0)));
        Self::tell_distances(&mut self.distance_data, &self.gpu, self.cloth, &self.host.distances);
    }

    fn frame_box(&self, moving: &BodyState, drive: &Drive) -> Aabb {
        self.host.frame_box(moving, drive)
    }

    fn look_ahead(&mut self, moving: &mut BodyState, world: &mut StepWorld, step: u32) {
        if self.is_broken() {
            return;
        }
        self.place_pins(world);
        if self.sees_states() {
            self.particles.load_velocities(moving);
        }
        let is_changed = self.push(world, step);
        if self.is_watched {
            if is_changed || self.is_pressed_here {
                self.particles.read_velocities(&mut moving.v);
            }
            self.host.find_contacts(moving, world);
            if let Some(contacts) = &mut self.contacts {
                contacts.load(self.cloth, &moving.x, &self.host.contacts);
            }
        }
        if let (Some(finder), Some(contacts)) = (&mut self.finder, &self.contacts) {
            let number = self.host.number();
            if self.has_triangles {
                finder.watch(self.host.contacts.watch(number, self.cloth, moving, world.colliders));
            }
            finder.find(number, self.cloth, self.model, world, step);
            contacts.begin_found();
            finder.read_passing(&mut self.host.contacts, self.cloth);
        }
        self.particles.begin_step(StepData::new(world));
        self.particles.look_ahead(&self.host.pin_targets);
        self.gpu.run(self.soft_pins.iter().flat_map(|pins| &pins.places));
        if self.is_torn() {
            self.host.heal(world.h * f64::from(step + 1));
            Self::tell_distances(&mut self.distance_data, &self.gpu, self.cloth, &self.host.distances);
        }
        self.gpu.run(&self.springs);
        self.is_fetched = false;
    }

    fn passing(&self) -> &[(u32, u32)] {
        self.host.passing()
    }

    fn constrain(&mut self, _: &BodyState, world: &StepWorld, again: bool) {
        if self.is_broken() {
            return;
        }
        let is_torn = self.is_torn();
        if let Some(system) = self.system.as_mut().filter(|_| !is_torn) {
            let solved = system.positions(world.h, world.gravity.norm(), again);
            self.host.note_solved(&solved, system.counts);
        }
        let pins = self.pins.iter().flat_map(|pins| &pins.places);
        let attach = (!self.is_torn()).then_some(&self.attach);
        self.gpu.run(attach.into_iter().chain(&self.distances[0]).chain(pins));
        if let Some(contacts) = &mut self.contacts {
            contacts.positions_anyway();
        }
        self.host.count_sweep();
        self.is_fetched = false;
        if self.is_seen {
            // What presses does not look at what are no numbers.
            self.see();
        }
        self.is_left_apart.set(None);
    }

    fn is_pulled_apart(&self) -> bool {
        if self.is_seen {
            return self.host.is_pulled_apart();
        }
        let Some(system) = self.system.as_ref().filter(|_| !self.is_torn() && !self.is_broken()) else { return false };
        let ask = || {
            let error = system.error();
            error.is_finite() && error > self.cloth.fabric.max_stretch
        };
        let is_so = self.is_left_apart.get().unwrap_or_else(ask);
        self.is_left_apart.set(Some(is_so));
        is_so
    }

    fn is_broken(&self) -> bool {
        self.host.is_broken()
    }

    fn fetch(&mut self) {
        if !self.is_fetched {
            self.see();
        }
    }

    fn receive(&mut self, places: &[Four], ways: &[Four]) {
        self.particles.receive(places, ways);
        self.take_ahead();
    }

    fn bring_velocities(&mut self, moving: &mut BodyState) {
        if self.is_pressed_here {
            self.particles.read_velocities(&mut moving.v);
            self.note_if_broken(&moving.v);
        }
    }

    fn send_velocities(&mut self, moving: &BodyState) {
        if self.is_pressed_here {
            self.particles.load_velocities(moving);
        }
    }

    fn ahead(&self) -> &[Vec3] {
        &self.host.ahead
    }

    fn put(&mut self, places: &[Vec3]) {
        self.host.put(places);
        self.particles.write_ahead(&self.host.ahead);
    }

    fn step(&mut self, moving: &mut BodyState, world: &StepWorld) {
        if self.is_broken() {
            return;
        }
        self.particles.advance();
        if self.cloth.is_bilateral() && (self.system.is_none() || self.is_torn()) {
            if self.is_torn() {
                Self::tell_distances(&mut self.distance_data, &self.gpu, self.cloth, &self.cloth.distances);
            }
            self.gpu.run(&self.distances[1]);
        }
        self.gpu.run(self.pins.iter().flat_map(|pins| &pins.velocities));
        if let Some(contacts) = &self.contacts {
            contacts.velocities();
            if world.steps_left == 1 && self.finder.is_none() {
                contacts.read(&mut self.host.contacts);
            }
        }
        if self.sees_states() || world.steps_left == 1 {
            self.particles.read_state(moving);
            self.note_if_broken(&moving.x);
            self.note_if_broken(&moving.v);
        } else if self.is_pressed_here {
            // Where the step leads was seen before.
            moving.x.copy_from_slice(&self.host.ahead);
        }
    }

    fn polish(&mut self, moving: &mut BodyState, world: &mut StepWorld) {
        if let (Some(finder), Some(contacts)) = (&self.finder, &self.contacts) {
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
