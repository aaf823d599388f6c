//! Cloths that are simulated together, one or more: their particles lie behind each other in the same arrays, so that ten flags cost the dispatches of
//! one ([Bender14 §5.2], several models of equal size). What touches colliders has dispatches of its own for each cloth.
//!
//! What all cloths do at once is done by the last one that has said its part (loading, forces, the look-ahead) or by the first one that needs it
//! (sweeps, the step): the order of a step has all bodies in each of its phases.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::cloth_parts::{self as parts, AirData, Attachments, BeatData, DistanceData, GoalData, Held, MOST_HELD};
use super::cloth_systems::{BendingSystem, ConstraintSystem};
use super::contact::DeviceContacts;
use super::finding::Finder;
use super::joined::Joined;
use super::meshes::DeviceMeshes;
use super::pairs::BodyArrays;
use super::particles::{Four, Particles, StepData, four};
use super::work::{Dispatch, Gpu, Told};
use crate::algorithms::cloth::distance::Distance;
use crate::math::Vec3;
use crate::model::{BodyState, Carried, ClothModel, Model};
use crate::scene::{ClothKind, SolverChoice};
use crate::solver::Drive;
use crate::solver::cpu::StepWorld;
use crate::solver::cpu::cloth_step::{ATTACHMENT_EDGES, ClothStep};

/// Where a cloth is simulated: with which ones, and which of them it is.
pub type Place<'m> = (Rc<RefCell<Cloths<'m>>>, usize);

/// What cloths must have alike so that one number a kernel is given serves all: up to rounding, which meshes in other places bring.
fn are_alike(a: &ClothModel, b: &ClothModel) -> bool {
    let is_near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * a.abs();
    let sizes = |cloth: &ClothModel| {
        [cloth.k.len(), cloth.distances.len(), cloth.triangle_particles.len(), cloth.bending.rows.len()]
    };
    [a, b].iter().all(|cloth| cloth.solver == SolverChoice::Iterative)
        && a.kind == b.kind
        && a.fabric == b.fabric
        && sizes(a) == sizes(b)
        && a.is_bilateral() == b.is_bilateral()
        && is_near(a.bend, b.bend)
        && is_near(a.bend_frequency_squared, b.bend_frequency_squared)
}

/// The largest array that a cloth brings, and how many held vertices between midpoints [B].
fn size(cloth: &ClothModel) -> [usize; 2] {
    let gathered: usize = (0..cloth.k.len()).map(|particle| cloth.bending.rows_of(particle).len()).sum();
    let arrays = [48 * cloth.bending.rows.len(), 16 * gathered, 48 * cloth.elastic.len(), 16 * cloth.distances.len()];
    let pins = [cloth.pins.vertices.len(), cloth.pins.soft.len()].into_iter().max().unwrap_or_default();
    [arrays.into_iter().fold(16 * cloth.k.len(), usize::max), if cloth.kind == ClothKind::Midpoint { pins } else { 0 }]
}

/// Each cloth's place on the device; none where the device cannot do what it needs.
pub fn together<'m>(gpu: &Rc<Gpu>, model: &'m Model, meshes: &Rc<RefCell<DeviceMeshes>>) -> Vec<Option<Place<'m>>> {
    let room = [gpu.limits().binding as usize, MOST_HELD];
    let mut groups: Vec<([usize; 2], Vec<usize>)> = Vec::new();
    for (number, cloth) in model.cloths.iter().enumerate() {
        let size = size(cloth);
        let fits = |(taken, numbers): &&mut ([usize; 2], Vec<usize>)| {
            (0..2).all(|n| taken[n].saturating_add(size[n]) <= room[n]) && are_alike(&model.cloths[numbers[0]], cloth)
        };
        match groups.iter_mut().find(fits) {
            Some((taken, numbers)) => {
                taken.iter_mut().zip(size).for_each(|(taken, size)| *taken += size);
                numbers.push(number);
            }
            None => groups.push((size, vec![number])),
        }
    }
    let mut places: Vec<Option<Place<'m>>> = model.cloths.iter().map(|_| None).collect();
    for (_, numbers) in groups {
        let Some(cloths) = Cloths::new(gpu, &numbers, model, meshes) else { continue };
        let cloths = Rc::new(RefCell::new(cloths));
        numbers.iter().enumerate().for_each(|(place, &number)| places[number] = Some((Rc::clone(&cloths), place)));
    }
    places
}

/// What cloths that are simulated together share.
pub struct Cloths<'m> {
    gpu: Rc<Gpu>,
    cloths: Vec<&'m ClothModel>,
    joined: Joined,
    /// Where particles are, and how fast.
    pub particles: Particles,
    /// Whether the processor looks for what is near at the start of every step.
    pub is_watched: bool,
    /// Whether triangles may touch.
    pub has_triangles: bool,
    /// Whether the processor sees the look-ahead positions whenever constraints were gone over: triangles may touch and are pressed there, or contacts
    /// and a linear system take turns.
    pub is_seen: bool,
    /// Whether triangles may touch and are pressed on the device: look-ahead positions are seen once a step.
    pub is_pressed_here: bool,
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
    /// All distances at once, if they are solved so: of a cloth that is alone.
    system: Option<ConstraintSystem>,
    blow: [Dispatch; 2],
    soft_pins: Option<Held>,
    /// Elastic triangles and shear springs.
    springs: Vec<Dispatch>,
    attachments: Attachments,
    distances: [Vec<Dispatch>; 2],
    pins: Option<Held>,
    /// Of each cloth; none without colliders.
    pub contacts: Vec<Option<DeviceContacts>>,
    /// Finds what is near; none where the processor does.
    pub finders: Vec<Option<Finder>>,
    /// What the cloths have said so far: wind, distances and whether they are torn, where pins are.
    winds: Vec<Vec<Vec3>>,
    known: Vec<Vec<Distance>>,
    torn: Vec<bool>,
    pin_targets: Vec<Vec<[Vec3; 2]>>,
    soft_targets: Vec<Vec<[Vec3; 2]>>,
    /// How many of them have been there in this phase.
    there: usize,
    /// Whether forces have changed velocities in this step.
    is_pushed: bool,
    /// How often look-ahead positions have been changed, and when they came here last; whether velocities have.
    version: u64,
    ahead_version: Option<u64>,
    has_velocities: bool,
}

impl<'m> Cloths<'m> {
    /// For cloths of a model; none where the device cannot do what they need.
    fn new(gpu: &Rc<Gpu>, numbers: &[usize], model: &'m Model, meshes: &Rc<RefCell<DeviceMeshes>>) -> Option<Self> {
        let cloths: Vec<&ClothModel> = numbers.iter().map(|&number| &model.cloths[number]).collect();
        let [first, others @ ..] = cloths.as_slice() else { return None };
        let joined = Joined::new(&cloths)?;
        let particles = Particles::new(gpu, &joined.k, &joined.led);
        let system = match first.solver {
            SolverChoice::Iterative => None,
            // Pinned vertices between midpoints are rows of their own; which of the rows that only pull do so would be asked of the device dozens of
            // times a step.
            SolverChoice::Pcg if first.kind != ClothKind::Midpoint && first.is_bilateral() && others.is_empty() => {
                Some(ConstraintSystem::new(gpu, first, &particles)?)
            }
            _ => return None,
        };
        let [exact, soft] = &joined.pinned;
        let goals = Told::new(gpu, "goals", exact.len());
        let soft_goals = Told::new(gpu, "soft goals", soft.len());
        let held =
            |vertices: &[u32], goals| Held::new(gpu, &particles, &joined.map, &joined.k, vertices.to_vec(), goals);
        let soft_pins = match soft.is_empty() {
            true => None,
            false => Some(held(soft, &soft_goals)?),
        };
        let pins = match exact.is_empty() || first.kind != ClothKind::Midpoint {
            true => None, // others are led particles
            false => Some(held(exact, &goals)?),
        };
        let air_data = Told::new(gpu, "air", 1);
        let wind = Told::new(gpu, "wind", joined.triangles.len());
        let beat_data = Told::new(gpu, "beat", 1);
        let distance_data = Told::new(gpu, "distances", joined.distances.len());
        let mut springs = parts::elastic(gpu, &particles, &joined.elastic)?;
        springs.extend(parts::diagonals(gpu, &particles, &joined.diagonals)?);
        let (mut contacts, mut finders) = (Vec::new(), Vec::new());
        for (place, (&number, cloth)) in numbers.iter().zip(&cloths).enumerate() {
            let own = joined.starts[place]..joined.starts[place] + cloth.k.len();
            let mut of_cloth =
                (!model.colliders.is_empty()).then(|| DeviceContacts::of_part(gpu, cloth, &particles, place, own));
            finders.push(match &mut of_cloth {
                Some(contacts) => Finder::of_skin(gpu, number, model, &particles, contacts, meshes),
                None => None,
            });
            contacts.push(of_cloth);
        }
        let count = cloths.len();
        let triangles = (joined.triangles.as_slice(), joined.densities.as_slice());
        Some(Cloths {
            bend: parts::bending(gpu, &particles, &joined.bending, &beat_data),
            blow: parts::air(gpu, &particles, triangles, &joined.shares, &air_data, &wind),
            attachments: Attachments::new(gpu, &particles, &joined.attachments, &goals),
            distances: parts::distances(gpu, &particles, &joined.pairs, &distance_data),
            is_watched: model.has_contacts() && finders.iter().any(Option::is_none),
            has_triangles: model.has_touching_triangles(),
            is_seen: model.has_touching_triangles() || system.is_some() && model.has_contacts(),
            is_pressed_here: false,
            is_left_apart: Cell::new(None),
            gpu: Rc::clone(gpu),
            bending_system: None,
            system,
            soft_pins,
            springs,
            pins,
            air_data,
            wind,
            beat_data,
            distance_data,
            goals,
            soft_goals,
            contacts,
            finders,
            winds: vec![Vec::new(); count],
            known: vec![Vec::new(); count],
            torn: vec![false; count],
            pin_targets: vec![Vec::new(); count],
            soft_targets: vec![Vec::new(); count],
            there: 0,
            is_pushed: false,
            version: 0,
            ahead_version: None,
            has_velocities: false,
            particles,
            joined,
            cloths,
        })
    }

    /// The first particle of a cloth.
    pub fn start(&self, place: usize) -> usize {
        self.joined.starts[place]
    }

    /// Its arrays and where it is in them, if each of its vertices is a particle that moves by itself, so that triangles can be pressed there.
    pub fn arrays(&self, place: usize) -> Option<BodyArrays> {
        let cloth = self.cloths[place];
        let is_own = cloth
            .touch_k
            .iter()
            .zip(&cloth.is_led)
            .zip(&cloth.k)
            .all(|((touch_k, is_led), k)| if *is_led { *k == 0.0 } else { touch_k == k });
        let Particles { x, low, d, v, .. } = &self.particles;
        let own = self.start(place)..self.start(place) + cloth.k.len();
        let arrays = || BodyArrays { x: x.clone(), low: low.clone(), d: d.clone(), v: v.clone(), own };
        (cloth.carried == Carried::Itself && is_own).then(arrays)
    }

    /// From now on triangles that may touch are pressed on the device.
    pub fn press_here(&mut self) {
        self.is_pressed_here = true;
        self.is_seen = false;
        self.is_watched =
            self.contacts.iter().zip(&self.finders).any(|(any, finder)| any.is_some() && finder.is_none());
    }

    /// Whether the processor sees the state at the end of every step.
    pub fn sees_states(&self) -> bool {
        self.is_watched || self.has_triangles && !self.is_pressed_here
    }

    /// Whether all distances are solved at once.
    pub fn is_system(&self) -> bool {
        self.system.is_some()
    }

    /// Whether the last cloth has been there now.
    fn is_last(&mut self) -> bool {
        self.there = (self.there + 1) % self.cloths.len();
        self.there == 0
    }

    /// A frame begins for a cloth.
    pub fn begin_frame(&mut self, place: usize, moving: &BodyState, host: &ClothStep, drive: &Drive) {
        if place == 0 {
            self.there = 0; // the last frame may have ended early
        }
        if let Some(finder) = &mut self.finders[place] {
            finder.watch(host.contacts.watched_box(self.cloths[place], moving, 0.0));
        }
        self.particles.load_part(self.start(place), moving);
        self.winds[place].clone_from(&host.wind);
        self.known[place].clone_from(&host.distances);
        self.torn[place] = !host.torn.is_empty();
        if !self.is_last() {
            return;
        }
        self.particles.finish_loading();
        let h = drive.frame_seconds / f64::from(drive.substeps);
        let (cloth, joined) = (self.cloths[0], &self.joined);
        if cloth.bend > 0.0 && host.bending.explicit_damping().is_none() {
            if self.bending_system.is_none() {
                self.bending_system = BendingSystem::new(&self.gpu, joined, cloth, &self.particles);
            }
            if let Some(bending) = &mut self.bending_system {
                bending.begin_frame(joined, cloth, host.bending.frame_beat(h));
            }
        }
        self.system.iter_mut().for_each(ConstraintSystem::reset);
        self.wind.tell(&self.gpu, self.winds.iter().flatten().map(|wind| four(*wind, 0.0)));
        // What is torn is not held back.
        let (starts, torn, cloths) = (&self.joined.starts, &self.torn, &self.cloths);
        self.attachments.limit(&self.gpu, |particle| {
            let place = starts.partition_point(|start| *start <= particle as usize) - 1;
            if torn[place] { 0.0 } else { ATTACHMENT_EDGES * cloths[place].mean_edge }
        });
        self.tell_distances(false);
        self.ahead_version = None;
    }

    /// As the cloths have said, or as they are at rest.
    fn tell_distances(&mut self, at_rest: bool) {
        let (joined, known, cloths) = (&self.joined, &self.known, &self.cloths);
        let row = |(&ends, &[place, row]): (&[u32; 2], &[usize; 2])| {
            let is_torn = at_rest && self.torn[place];
            let distance = if is_torn { &cloths[place].distances[row] } else { &known[place][row] };
            DistanceData::new(ends, distance)
        };
        self.distance_data.tell(&self.gpu, joined.pairs.pairs().iter().zip(&joined.distances).map(row));
    }

    /// Where pins want vertices in this step; forces.
    pub fn prepare(&mut self, place: usize, moving: &BodyState, host: &ClothStep, world: &StepWorld, step: u32) {
        self.pin_targets[place].clone_from(&host.pin_targets);
        self.soft_targets[place].clone_from(&host.soft_targets);
        if self.sees_states() {
            self.particles.load_velocities_of(self.start(place), moving);
        }
        if !self.is_last() {
            return;
        }
        self.goals.tell(&self.gpu, self.pin_targets.iter().flatten().map(|ends| GoalData::exact(*ends)));
        let soft = self.cloths.iter().flat_map(|cloth| &cloth.pins.soft).zip(self.soft_targets.iter().flatten());
        self.soft_goals.tell(&self.gpu, soft.map(|(soft, ends)| GoalData::soft(*ends, soft.frequency * world.h)));
        self.push(host, world, step);
        self.has_velocities = false;
    }

    /// Impulses at the start of a step.
    fn push(&mut self, host: &ClothStep, world: &StepWorld, step: u32) {
        let (gpu, cloth) = (&self.gpu, self.cloths[0]);
        self.is_pushed = false;
        if let Some(beat) = host.bending.beat(cloth, world.h, step) {
            match host.bending.explicit_damping() {
                Some(damping) => {
                    self.beat_data.tell(gpu, [BeatData::new(cloth.bend, beat, damping)].into_iter());
                    gpu.run(&self.bend);
                }
                None => self.bending_system.iter().for_each(BendingSystem::apply),
            }
            self.is_pushed = true;
        }
        if let Some(seconds) = host.air_seconds(world, step) {
            self.air_data.tell(gpu, [AirData::new(world.gravity, seconds, world.drag)].into_iter());
            gpu.run(&self.blow);
            self.is_pushed = true;
        }
    }

    /// Velocities of a cloth after forces, or of the step, where they have changed on the device.
    pub fn velocities(&mut self, place: usize, v: &mut [Vec3]) {
        if !self.has_velocities {
            self.particles.bring_velocities();
            self.has_velocities = true;
        }
        self.particles.velocities_of(self.start(place), v);
    }

    /// Whether those that the processor has are of before the forces.
    pub fn has_other_velocities(&self) -> bool {
        self.is_pushed || self.is_pressed_here
    }

    /// The look-ahead, after contacts were found.
    pub fn look_ahead(&mut self, place: usize, host: &ClothStep, world: &StepWorld) {
        if self.torn[place] {
            self.known[place].clone_from(&host.distances); // they heal
        }
        if !self.is_last() {
            return;
        }
        self.particles.begin_step(StepData::new(world));
        self.particles.look_ahead(&self.pin_targets.concat());
        self.gpu.run(self.soft_pins.iter().flat_map(|pins| &pins.places));
        if self.torn.contains(&true) {
            self.tell_distances(false);
        }
        self.gpu.run(&self.springs);
        self.version += 1;
    }

    /// Everything that must hold, once, and what a cloth touches. Of several cloths the first one sweeps for all.
    pub fn constrain(&mut self, place: usize, host: &mut ClothStep, world: &StepWorld, again: bool) {
        if place == 0 {
            let is_torn = self.torn[0];
            if let Some(system) = self.system.as_mut().filter(|_| !is_torn) {
                let solved = system.positions(world.h, world.gravity.norm(), again);
                host.note_solved(&solved, system.counts);
            }
            let pins = self.pins.iter().flat_map(|pins| &pins.places);
            self.gpu.run([&self.attachments.dispatch].into_iter().chain(&self.distances[0]).chain(pins));
        }
        if let Some(contacts) = &mut self.contacts[place] {
            contacts.positions_anyway();
        }
        host.count_sweep();
        self.version += 1;
        self.is_left_apart.set(None);
    }

    /// Whether a linear system has left more than is allowed, or what came after it has. It asks the device.
    pub fn is_left_apart(&self) -> bool {
        let Some(system) = self.system.as_ref().filter(|_| !self.torn[0]) else { return false };
        let ask = || {
            let error = system.error();
            error.is_finite() && error > self.cloths[0].fabric.max_stretch
        };
        let is_so = self.is_left_apart.get().unwrap_or_else(ask);
        self.is_left_apart.set(Some(is_so));
        is_so
    }

    /// Bring the look-ahead positions of a cloth here.
    pub fn ahead(&mut self, place: usize, ahead: &mut [Vec3]) {
        if self.ahead_version != Some(self.version) {
            match self.is_pressed_here {
                // Where the last step has led is not known here.
                true => self.particles.bring_places_and_ahead(),
                false => self.particles.bring_ahead(),
            }
            self.ahead_version = Some(self.version);
        }
        self.particles.ahead_of(self.start(place), ahead);
    }

    /// Take them as they were brought with those of others.
    pub fn receive(&mut self, place: usize, (places, ways): (&[Four], &[Four]), ahead: &mut [Vec3]) {
        let start = self.start(place);
        self.particles.receive_of(start, places, ways);
        self.particles.ahead_of(start, ahead);
    }

    /// The step, of all cloths at once; the first one takes it.
    pub fn step(&mut self, place: usize, is_read: bool) {
        if place > 0 {
            return;
        }
        self.particles.advance();
        if self.cloths[0].is_bilateral() && (self.system.is_none() || self.torn[0]) {
            if self.torn.contains(&true) {
                self.tell_distances(true);
            }
            self.gpu.run(&self.distances[1]);
        }
        self.gpu.run(self.pins.iter().flat_map(|pins| &pins.velocities));
        self.contacts.iter().flatten().for_each(DeviceContacts::velocities);
        self.has_velocities = false;
        if is_read {
            self.particles.bring_state();
        }
    }
}
