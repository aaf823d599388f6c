//! A soft body on the device, whatever fills it. See `cpu/soft_step.rs` for the order of a step.
//!
//! The processor learns after each batch of sweeps whether they were enough (one small read), and the state at the frame's end. Where something
//! can touch, it also sees the look-ahead positions of every step, because it judges volumes after contacts, and where triangles can, the state at the
//! end of every step, because it looks for what is near.

use std::cell::RefCell;
use std::rc::Rc;

use bytemuck::{Pod, Zeroable};

use super::contact::DeviceContacts;
use super::finding::Finder;
use super::meshes::DeviceMeshes;
use super::particles::{Four, Particles, StepData, four, split};
use super::reduce::Control;
use super::shapes::GpuShapes;
use super::tets::GpuTets;
use super::work::{Binding, Dispatch, Gpu, Slab, Source, Told};
use crate::algorithms::cloth::air::AIR_DENSITY;
use crate::math::Vec3;
use crate::mesh::bvh::Aabb;
use crate::model::build_pins::SoftPin;
use crate::model::{BodyState, Broken, Inside, Model, MovingCollider, Skin, SoftBodyModel};
use crate::solver::cpu::StepWorld;
use crate::solver::cpu::body_step::BodyStep;
use crate::solver::cpu::contacts::SOFT_SWEEPS;
use crate::solver::cpu::soft_step::SoftStep;
use crate::solver::wind::Weather;
use crate::solver::{BodyReport, Drive, Quality, TouchCounts};

/// The kernel of soft pins.
pub const SOFT_PINS: Source =
    Source { name: "soft_pins", text: include_str!("../../algorithms/soft_pins.wgsl"), constants: &[] };
/// The kernels of wind and drag.
pub const SKIN_AIR: Source =
    Source { name: "skin_air", text: include_str!("../../algorithms/skin_air.wgsl"), constants: &[] };

/// Relative errors of volumes that single precision can tell from rounding.
pub(super) const LEAST_TOLERANCE: f64 = 1e-5;
/// Most sweeps between two looks at how far they are.
pub(super) const MOST_AT_ONCE: u32 = 12;

/// What holds a body together, on the device; the twin of `cpu::filling::Filling`. Each call adds dispatches to the device's list: none waits for
/// the device but `read`.
///
/// A filling is made with the body's `Particles` and `Control`, whose arrays it binds. It may rely on this: before the look-ahead (`damp`) and
/// after the step (`calm`, `flow`) `x` + `d` are the places that the body has, because `d` holds what `x` lacks; between (`spring`,
/// `heed_contacts`, `sweep`) they are its look-ahead positions, and `x` + `low` is where the step began. `v` is current before the look-ahead and after
/// the step.
pub trait DeviceFilling {
    /// Prepare a frame: what follows depends on the state alone, which particles have been loaded from.
    fn begin_frame(&mut self, moving: &BodyState);
    /// Prepare a step of this length, which ends at this frame.
    fn begin_step(&mut self, h: f64, frame: f64);
    /// Damp velocities.
    fn damp(&mut self);
    /// Move look-ahead positions by elasticity, once.
    fn spring(&mut self);
    /// Prepare to keep volumes where particles touch something: not 0 in `touches`. Bodies that `control` says are off stay as they are.
    fn heed_contacts(&mut self, touches: &Slab<u32>, control: &Control);
    /// Bring volumes nearer to what they must be and leave the largest relative error before in `control.worst`; nothing once `control.done`.
    fn sweep(&mut self, control: &Control);
    /// Take out of velocities what would change volumes, after the step.
    fn calm(&mut self);
    /// What stays of the deformation, after that.
    fn flow(&mut self);
    /// Bring what stays into the state, at a frame's end.
    fn read(&mut self, moving: &mut BodyState);
}

/// A soft body whose steps are done on the device.
pub struct GpuSoft<'m> {
    /// What the processor does: contacts with colliders, what is written, reports.
    host: SoftStep<'m>,
    body: &'m SoftBodyModel,
    gpu: Rc<Gpu>,
    particles: Particles,
    filling: Box<dyn DeviceFilling + 'm>,
    control: Control,
    air: SkinAir,
    soft_pins: SoftPins,
    /// Not 0 for particles that touch something.
    touches: Slab<u32>,
    /// None where nothing can touch.
    contacts: Option<DeviceContacts>,
    /// Finds what is near; none where the processor does.
    finder: Option<Finder>,
    model: &'m Model,
    /// Whether the processor sees places and velocities in every step.
    is_watched: bool,
    /// Whether the body touches colliders at all.
    meets_colliders: bool,
    /// Whether triangles that touch may move it.
    has_triangles: bool,
    /// Whether the look-ahead positions here are those of the device.
    is_fetched: bool,
    /// Whether anything but the body itself may have moved its look-ahead positions, so that its volumes have to be looked at.
    is_judged: bool,
}

impl<'m> GpuSoft<'m> {
    /// For a soft body; none where the device cannot do what it needs.
    pub fn new(
        gpu: &Rc<Gpu>,
        number: usize,
        body: &'m SoftBodyModel,
        model: &'m Model,
        meshes: &Rc<RefCell<DeviceMeshes>>,
    ) -> Option<Self> {
        if body.flesh.volume_tolerance < LEAST_TOLERANCE {
            return None;
        }
        let particles = Particles::new(gpu, &body.k, &body.pins.particles);
        let control = Control::new(gpu);
        let filling: Box<dyn DeviceFilling + 'm> = match &body.inside {
            Inside::Tetrahedra(tets) => Box::new(GpuTets::new(gpu, body, tets, &particles, &control)?),
            Inside::Shape(shape) => Box::new(GpuShapes::new(gpu, body, shape, &particles)),
        };
        let host = SoftStep::new(number, body, model);
        let meets_colliders = (0..model.colliders.len()).any(|collider| host.contacts.meets(collider));
        let mut contacts = model.has_contacts().then(|| DeviceContacts::of_skin(gpu, body, &particles));
        let finder = match &mut contacts {
            Some(contacts) if meets_colliders && !model.has_touching_triangles() => {
                Finder::of_skin(gpu, number, model, &particles, contacts, meshes)
            }
            _ => None,
        };
        Some(GpuSoft {
            air: SkinAir::new(gpu, body, &particles),
            soft_pins: SoftPins::new(gpu, body, &particles),
            touches: gpu.zeros("touches", body.k.len()),
            is_watched: model.has_contacts() && finder.is_none(),
            meets_colliders,
            contacts,
            finder,
            model,
            has_triangles: model.has_touching_triangles(),
            is_fetched: false,
            is_judged: false,
            gpu: Rc::clone(gpu),
            host,
            body,
            particles,
            filling,
            control,
        })
    }

    /// Press and hold what touches colliders, as often.
    fn touch(&mut self, sweeps: u32) {
        if let Some(contacts) = &mut self.contacts {
            (0..sweeps).for_each(|_| contacts.positions_anyway());
        }
        self.is_fetched = false;
    }

    /// Which particles touch something.
    fn mark_touching(&mut self, again: bool) {
        if again && self.finder.is_none() {
            // What other bodies have moved is known here.
            self.fetch();
            if let Some(contacts) = &self.contacts {
                contacts.read(&mut self.host.contacts);
            }
            self.host.mark_touching(again);
            let touches: Vec<u32> = self.host.touches.iter().map(|touches| u32::from(*touches)).collect();
            self.gpu.write(&self.touches, 0, &touches);
        } else if let Some(contacts) = &mut self.contacts {
            contacts.mark(&self.touches);
        }
    }
}

impl BodyStep for GpuSoft<'_> {
    fn forget(&mut self) {
        self.host.forget();
    }

    fn begin_frame(&mut self, moving: &BodyState, weather: &Weather, drive: &Drive) {
        self.host.begin_frame(moving, weather, drive);
        if let Some(finder) = &mut self.finder {
            finder.watch(self.host.contacts.watched_box(self.body, moving, 0.0));
        }
        self.particles.load(moving);
        self.filling.begin_frame(moving);
        self.air.forget();
        let [fewest, _] = self.host.filling.sweeps();
        self.control.aim(self.host.filling.enough() * self.body.flesh.volume_tolerance, fewest);
    }

    fn frame_box(&self, moving: &BodyState, drive: &Drive) -> Aabb {
        self.host.frame_box(moving, drive)
    }

    fn look_ahead(&mut self, moving: &mut BodyState, world: &mut StepWorld, step: u32) {
        if self.is_broken() {
            return;
        }
        self.host.begin_step(world);
        self.filling.begin_step(world.h, world.frames[1]);
        if self.is_watched {
            self.particles.load_velocities(moving);
        }
        self.particles.begin_step(StepData::new(world));
        let blows = world.drag > 0.0;
        if blows {
            self.air.blow(&self.host.wind);
        }
        self.filling.damp();
        if let (Some(finder), Some(contacts)) = (&mut self.finder, &self.contacts) {
            finder.find(self.host.number(), self.body, self.model, world, step);
            contacts.begin_found();
        } else if let Some(contacts) = self.contacts.as_mut().filter(|_| self.meets_colliders) {
            // How fast what touches arrives decides how it bounces, and how far it may come.
            if blows
                || self.body.flesh.damping > 0.0
                || self.body.shape().is_some_and(|shape| shape.settings.damping > 0.0)
            {
                self.particles.read_velocities(&mut moving.v);
            }
            self.host.find_contacts(moving, world);
            contacts.load(self.body, &moving.x, &self.host.contacts);
        }
        self.particles.look_ahead(&self.host.pin_targets);
        self.soft_pins.draw(self.body, &self.host.soft_targets, world.h);
        self.filling.spring();
        self.is_fetched = false;
    }

    fn passing(&self) -> &[(u32, u32)] {
        self.host.passing()
    }

    fn constrain(&mut self, moving: &BodyState, _: &StepWorld, again: bool) {
        if self.is_broken() {
            return;
        }
        let [fewest, most] = self.host.filling.sweeps();
        let is_touched = self.finder.is_some() || self.host.contacts.active.iter().any(|contact| !contact.passes);
        if is_touched {
            self.touch(1);
        }
        self.mark_touching(again);
        self.filling.heed_contacts(&self.touches, &self.control);
        self.control.begin();
        let (mut swept, mut at_once) = (0, fewest);
        let end = loop {
            let count = at_once.min(most - swept);
            for _ in 0..count {
                self.filling.sweep(&self.control);
                if let Some(contacts) = self.contacts.as_mut().filter(|_| is_touched) {
                    contacts.positions(&self.control.slab);
                }
                self.control.judge();
            }
            self.is_fetched = false;
            swept += count;
            at_once = (2 * at_once).min(MOST_AT_ONCE);
            let seen = self.control.read();
            if seen.done != 0 || swept >= most {
                break seen;
            }
        };
        self.host.report.iterations += u64::from(end.sweeps);
        if end.is_broken() {
            let mut v = moving.v.clone();
            self.particles.read_velocities(&mut v);
            self.host.break_down(&v);
            return;
        }
        if is_touched {
            self.touch(SOFT_SWEEPS - 1);
        }
        self.is_judged = is_touched || self.has_triangles;
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
        } else if self.is_judged && self.host.ahead != self.host.left {
            // Other bodies have pressed it into colliders.
            self.touch(SOFT_SWEEPS);
        }
    }

    fn is_broken(&self) -> bool {
        self.host.is_broken()
    }

    fn fetch(&mut self) {
        if !self.is_fetched {
            self.particles.read_ahead(&mut self.host.ahead);
            self.is_fetched = true;
        }
    }

    fn ahead(&self) -> &[Vec3] {
        &self.host.ahead
    }

    fn put(&mut self, places: &[Vec3]) {
        if !self.is_fetched || self.host.ahead != places {
            self.host.put(places);
            self.particles.write_ahead(&self.host.ahead);
            self.is_fetched = true;
        }
    }

    fn step(&mut self, moving: &mut BodyState, world: &StepWorld) {
        if self.is_broken() {
            return;
        }
        self.particles.advance();
        self.filling.calm();
        let is_last = world.steps_left == 1;
        if let Some(contacts) = &self.contacts {
            contacts.velocities();
            if is_last && self.finder.is_none() {
                contacts.read(&mut self.host.contacts);
            }
        }
        self.filling.flow();
        if self.is_watched || is_last {
            self.particles.read_state(moving);
        }
        if is_last {
            self.filling.read(moving);
        }
    }

    fn polish(&mut self, moving: &mut BodyState, world: &mut StepWorld) {
        if let (Some(finder), Some(contacts)) = (&self.finder, &self.contacts) {
            finder.read(contacts, &mut self.host.contacts, self.body, moving, world);
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

/// Where a particle is drawn to, as the kernel has it.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct SoftPinData {
    place: Four,
    place_low: Four,
    way: Four,
}

/// Particles that are drawn to their places.
pub struct SoftPins {
    gpu: Rc<Gpu>,
    pins: Slab<SoftPinData>,
    draw: Dispatch,
}

impl SoftPins {
    /// For a body.
    pub fn new(gpu: &Rc<Gpu>, body: &SoftBodyModel, particles: &Particles) -> Self {
        Self::of_several(gpu, &[(body, 0)], particles)
    }

    /// For bodies and the first particle of each.
    pub fn of_several(gpu: &Rc<Gpu>, bodies: &[(&SoftBodyModel, usize)], particles: &Particles) -> Self {
        let drawn = |&(body, start): &(&SoftBodyModel, usize)| -> Vec<u32> {
            body.pins.soft.iter().map(|soft| start as u32 + soft.pin.vertex).collect()
        };
        let numbers: Vec<u32> = bodies.iter().flat_map(drawn).collect();
        let pins = gpu.zeros("soft pins", numbers.len());
        let drawn = gpu.slab("drawn", &numbers);
        let Particles { x, low, d, .. } = particles;
        let bound: [(u32, &dyn Binding); 5] = [(1, x), (2, low), (3, d), (4, &drawn), (5, &pins)];
        let draw = gpu.dispatch(&SOFT_PINS, "draw_to_pins", 0..numbers.len(), 116, &bound);
        SoftPins { gpu: Rc::clone(gpu), pins, draw }
    }

    /// Move look-ahead positions towards places, which are where they are at the start and at the end of the step.
    pub fn draw(&self, body: &SoftBodyModel, places: &[[Vec3; 2]], h: f64) {
        self.draw_all([(body, places)].into_iter(), h);
    }

    /// The same for all bodies.
    pub fn draw_all<'a>(&self, bodies: impl Iterator<Item = (&'a SoftBodyModel, &'a [[Vec3; 2]])>, h: f64) {
        if self.pins.is_empty() {
            return;
        }
        let data = |(soft, [start, end]): (&SoftPin, &[Vec3; 2])| {
            let [place, mut place_low] = split(*end, 0.0);
            place_low[3] = (soft.frequency * h) as f32;
            SoftPinData { place, place_low, way: four(end - start, 0.0) }
        };
        let pins: Vec<SoftPinData> =
            bodies.flat_map(|(body, places)| body.pins.soft.iter().zip(places).map(data)).collect();
        self.gpu.write(&self.pins, 0, &pins);
        self.gpu.run([&self.draw]);
    }
}

/// A triangle in the air, as kernels have it.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct AirTriangle {
    corners: [u32; 3],
    rate: f32,
}

/// Part of something, as kernels have it.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Share {
    number: u32,
    part: f32,
}

/// Lists of shares one behind the other, and where each begins.
fn list_shares(gpu: &Gpu, rows: impl Iterator<Item = Vec<Share>>) -> (Slab<u32>, Slab<Share>) {
    let (mut starts, mut shares) = (vec![0], Vec::new());
    for row in rows {
        shares.extend(row);
        starts.push(shares.len() as u32);
    }
    (gpu.slab("starts of shares", &starts), gpu.slab("shares", &shares))
}

/// Wind and drag on the surface.
pub struct SkinAir {
    gpu: Rc<Gpu>,
    /// Impulse of each triangle's corners for a change of its velocity [kg].
    impulses: Vec<f64>,
    wind: Told<Four>,
    /// Whether the device has the wind of this frame.
    is_current: bool,
    dispatches: [Dispatch; 2],
}

impl SkinAir {
    /// For a body.
    pub fn new(gpu: &Rc<Gpu>, body: &SoftBodyModel, particles: &Particles) -> Self {
        Self::of_several(gpu, &[(body, 0)], particles)
    }

    /// For bodies and the first particle of each.
    pub fn of_several(gpu: &Rc<Gpu>, bodies: &[(&SoftBodyModel, usize)], particles: &Particles) -> Self {
        let (mut triangles, mut impulses) = (Vec::new(), Vec::new());
        let mut carriers: Vec<Vec<Share>> = Vec::new();
        let mut moved: Vec<Vec<Share>> = vec![Vec::new(); particles.len()];
        for &(body, start) in bodies {
            // The three corners are pushed alike, so what a unit impulse on the triangle moves is the mean of theirs.
            let mean_k =
                |corners: &[u32; 3]| corners.iter().map(|&corner| body.vertex_k[corner as usize]).sum::<f64>() / 3.0;
            let first_vertex = carriers.len() as u32;
            for corners in &body.mesh.triangles {
                for &(particle, weight) in corners.iter().flat_map(|&corner| body.map.row(corner as usize)) {
                    let part = (weight * body.k[particle as usize]) as f32;
                    moved[start + particle as usize].push(Share { number: triangles.len() as u32, part });
                }
                let k = mean_k(corners);
                impulses.push(if k > 0.0 { 1.0 / (3.0 * k) } else { 0.0 });
                let rate = (0.5 * AIR_DENSITY * body.wind_share * k) as f32;
                triangles.push(AirTriangle { corners: corners.map(|corner| first_vertex + corner), rate });
            }
            let carrier = |&(number, weight): &(u32, f64)| Share { number: start as u32 + number, part: weight as f32 };
            let rows = (0..body.map.vertex_count()).map(|vertex| body.map.row(vertex).iter().map(carrier).collect());
            carriers.extend(rows);
        }
        let mean_row = |entries: usize, rows: usize| 8 * entries / rows.max(1);
        let (vertex_count, count) = (carriers.len(), particles.len());
        let bytes_carrying = mean_row(carriers.iter().map(Vec::len).sum(), vertex_count);
        let bytes_moving = mean_row(moved.iter().map(Vec::len).sum(), count);
        let (vertex_starts, carriers) = list_shares(gpu, carriers.into_iter());
        let (particle_starts, moving) = list_shares(gpu, moved.into_iter());
        let triangle_count = triangles.len();
        let triangles = gpu.slab("triangles in the air", &triangles);
        let (wind, air) = (Told::new(gpu, "wind", triangle_count), gpu.zeros::<Four>("air", triangle_count));
        let Particles { x, d, v, step, .. } = particles;
        let bound: [(u32, &dyn Binding); 9] = [
            (1, step),
            (2, x),
            (3, d),
            (4, v),
            (5, &triangles),
            (6, &vertex_starts),
            (7, &carriers),
            (8, &wind),
            (9, &air),
        ];
        // Each share of a vertex comes with the place, way and velocity of its particle.
        let blow = gpu.dispatch(&SKIN_AIR, "blow", 0..triangle_count, 72 + 21 * bytes_carrying, &bound);
        let bound: [(u32, &dyn Binding); 4] = [(4, v), (6, &particle_starts), (7, &moving), (9, &air)];
        let take = gpu.dispatch(&SKIN_AIR, "take_air", 0..count, 40 + 3 * bytes_moving, &bound);
        SkinAir { gpu: Rc::clone(gpu), impulses, wind, is_current: false, dispatches: [blow, take] }
    }

    /// Another frame begins, with other wind.
    pub(super) fn forget(&mut self) {
        self.is_current = false;
    }

    /// Change velocities by this air at each triangle, which is that of the frame.
    pub fn blow(&mut self, wind: &[Vec3]) {
        if !self.is_current {
            let impulses = wind.iter().zip(&self.impulses);
            self.wind.tell(&self.gpu, impulses.map(|(wind, impulse)| four(*wind, *impulse)));
            self.is_current = true;
        }
        self.gpu.run(&self.dispatches);
    }
}
