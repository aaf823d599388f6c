//! The backend that runs on a graphics card, through wgpu, in single precision.
//!
//! ```text
//! work       buffers, kernels, dispatches; what was done is counted
//! adapters   which devices there are, and opening one
//! particles  places, ways and velocities of a body
//! cloth      one cloth, its parts    tets, shapes   what fills a soft body
//! linear     large systems           contact        points against planes
//! pack       matched shapes together finding        which points are near colliders
//! meshes     mesh colliders
//! cloth_systems   all distances of a cloth at once, implicit bending
//! ```
//!
//! The order of a step is that of the processor (`cpu`): a body on the device is a `BodyStep` like any other. What is done where:
//!
//! | | on the device | on the processor |
//! |---|---|---|
//! | always | forces, free motion, elasticity, all constraints, volumes, matched shapes, pressing and holding points that touch colliders, friction, the step | where colliders and pins are; what is written at a frame's end |
//! | cloths, and soft bodies where no triangle can touch another one | which points are near colliders, primitives and meshes: a contact for each pair of a point and a collider, asleep where they are far apart | |
//! | triangles can touch: mesh colliders, `self_collision`, cloth on cloth | | triangles against triangles: finding, pressing, the guard; which points of soft bodies are near colliders |
//!
//! What goes there and back, counted as `read_backs` and `uploads`:
//!
//! | | to the device | to the processor |
//! |---|---|---|
//! | a frame | wind; the state if it was changed here; of a mesh whose vertices move 80 bytes a vertex and 32 bytes a box, all of it | the state, 48 bytes a particle; what each pair of a point and a collider was pressed, 16 bytes |
//! | a step | where pins are; 176 bytes for each collider that moves; 32 bytes for each mesh whose vertices move | of soft bodies 32 bytes a body after each batch of sweeps, and where they can touch the look-ahead, 16 bytes a particle, because their volumes are judged after contacts |
//! | a step in which triangles can touch, besides | velocities that triangles have changed; the look-ahead after each press, 16 bytes a particle | the look-ahead before each press; the state; of a cloth that touches several colliders 4 bytes a point: which of them let it pass |
//! | the same of a soft body, besides | contacts | velocities |
//!
//! Cloths that conjugate gradients hold take turns with contacts: their look-ahead is read after each. A mesh with triangles or hierarchies that do not fit
//! into a binding, or with more than 4096 triangles around a vertex, and all that touches it, is left to the processor's finding. Cloths that strips or a direct factor solve, conjugate
//! gradients on anything but threads, midpoints with more than a thousand pins, and soft bodies with a tolerance below what single precision can
//! tell stay on the processor altogether.
//!
//! Results are the same bits in every run on one adapter with one driver: no sum depends on the order in which threads finish.

mod adapters;
mod cloth;
pub mod cloth_parts;
pub mod cloth_systems;
pub mod contact;
pub mod finding;
pub mod linear;
pub mod meshes;
pub mod pack;
pub mod particles;
mod profile;
pub mod reduce;
pub mod shapes;
pub mod soft;
pub mod tets;
pub mod work;

use std::cell::RefCell;
use std::rc::Rc;

pub use adapters::{list, open, with_environment};
pub use work::{Gpu, Limits, Source};

use super::cpu::CpuBackend;
use super::cpu::body_step::BodyStep;
use super::device::{DeviceError, DeviceReport};
use super::{Backend, BodyReport, Drive, PhaseSeconds, Quality, Vertices};
use crate::model::{Model, State};
use crate::scene::Scene;

/// All files of kernels.
pub const SOURCES: &[Source] = &[
    particles::MOTION,
    cloth_parts::DISTANCE,
    cloth_parts::ATTACHMENT,
    cloth_parts::AIR,
    cloth_parts::BENDING,
    cloth_parts::THREADS,
    cloth_parts::ELASTIC,
    cloth_parts::CONFORMING_MAP,
    cloth_systems::LINEAR_SYSTEM,
    cloth_systems::BENDING_SYSTEM,
    contact::RESTING,
    finding::FINDING,
    linear::ONE,
    linear::THREE,
    linear::BLOCKS,
    linear::ASSEMBLY,
    reduce::REDUCE,
    reduce::CONTROL,
    shapes::SHAPES,
    soft::SOFT_PINS,
    soft::SKIN_AIR,
    tets::EDGE_SPRING,
    tets::CELL_VOLUME,
    tets::RING_VOLUME,
];

/// A graphics card.
pub struct GpuBackend<'m> {
    scene: &'m Scene,
    model: &'m Model,
    gpu: Rc<Gpu>,
    drive: Option<Drive>,
    /// The order of a step, over bodies that are on the device.
    steps: CpuBackend<'m>,
    /// Whether it may go on on the processor.
    may_fall_back: bool,
    /// What became of the device, if anything did.
    lost: Option<String>,
    /// Whether that was told.
    is_told: bool,
    /// Bodies that are simulated on the device.
    resident_count: usize,
}

impl<'m> GpuBackend<'m> {
    /// Make one for a model; it may go on on the processor if the device is lost.
    pub fn new(scene: &'m Scene, model: &'m Model, gpu: Gpu, may_fall_back: bool) -> Result<Self, DeviceError> {
        let gpu = Rc::new(gpu);
        let resident_count = std::cell::Cell::new(0);
        let meshes = Rc::new(RefCell::new(meshes::DeviceMeshes::new(&gpu, model)));
        let packed = pack::pack(&gpu, model, &meshes);
        let bodies = |number: usize| -> Option<Box<dyn BodyStep + 'm>> {
            let body: Box<dyn BodyStep + 'm> = match number.checked_sub(model.cloths.len()) {
                None => Box::new(cloth::GpuCloth::new(&gpu, number, &model.cloths[number], model, &meshes)?),
                Some(soft) => match (&model.soft_bodies[soft], &packed[soft]) {
                    (body, Some((pack, place))) => Box::new(pack::GpuPacked::new(number, body, model, (pack, *place))),
                    (body, None) => Box::new(soft::GpuSoft::new(&gpu, number, body, model, &meshes)?),
                },
            };
            resident_count.set(resident_count.get() + 1);
            Some(body)
        };
        let steps = CpuBackend::with_bodies(scene, model, bodies);
        gpu.finish();
        if let Some(cause) = gpu.overflow() {
            let cause = format!("{} has no room for the scene: {cause}", gpu.name);
            let remedy = "use a card with more memory or fewer particles, raise --device-memory, or use --device cpu";
            return Err(DeviceError::TooSmall { cause, remedy: remedy.to_owned() });
        }
        let resident_count = resident_count.get();
        Ok(GpuBackend {
            scene,
            model,
            gpu,
            drive: None,
            steps,
            may_fall_back,
            lost: None,
            is_told: false,
            resident_count,
        })
    }

    /// What of the scene is simulated where.
    pub fn describe(&self) -> String {
        let all = self.model.body_count();
        let seen = match () {
            () if !self.model.has_contacts() => "nothing can touch",
            () if self.model.has_touching_triangles() && self.model.cloths.is_empty() => {
                "contact is looked for by the processor"
            }
            () if self.model.has_touching_triangles() => {
                "contact of cloths with colliders is found there, all other by the processor"
            }
            () => "contact with colliders is found there",
        };
        match self.resident_count {
            there if there == all => format!("all bodies are simulated there, {seen}"),
            there => format!("{there} of {all} bodies are simulated there, the others by the processor; {seen}"),
        }
    }

    /// The device.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }
}

impl Backend for GpuBackend<'_> {
    fn drive(&mut self, drive: Drive) {
        self.drive = Some(drive);
        self.steps.drive(drive);
    }

    fn advance(&mut self, state: &mut State) -> Vec<BodyReport> {
        if self.lost.is_some() {
            return self.steps.advance(state);
        }
        let before = state.clone();
        let reports = self.steps.advance(state);
        self.gpu.submit();
        self.lost = self.gpu.trouble();
        if self.lost.is_none() {
            return reports;
        }
        if !self.may_fall_back {
            *state = before;
            return reports;
        }
        // From the last state that came back, on the processor: the work of a night is worth more than the device.
        self.steps = CpuBackend::new(self.scene, self.model);
        if let Some(drive) = self.drive {
            self.steps.drive(drive);
        }
        *state = before;
        self.steps.advance(state)
    }

    fn survey(&mut self, state: &State) -> Vec<BodyReport> {
        self.steps.survey(state)
    }

    fn fetch(&mut self, state: &State, body: usize, vertices: &mut Vertices) -> Quality {
        self.steps.fetch(state, body, vertices)
    }

    fn take_seconds(&mut self) -> PhaseSeconds {
        self.steps.take_seconds()
    }

    fn take_note(&mut self) -> Option<String> {
        let why = self.lost.as_ref().filter(|_| self.may_fall_back && !self.is_told)?;
        self.is_told = true;
        Some(format!("{}: {why}; this and all further frames are simulated on the processor", self.gpu.name))
    }

    fn failure(&self) -> Option<String> {
        let why = self.lost.as_ref().filter(|_| !self.may_fall_back)?;
        Some(format!("{}: {why}", self.gpu.name))
    }

    fn device_report(&self) -> Option<DeviceReport> {
        let gpu = &self.gpu;
        Some(DeviceReport { kernels: gpu.profile(), counts: gpu.counts(), bytes: gpu.allocated() })
    }
}
