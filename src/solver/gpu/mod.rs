//! The backend that runs on a graphics card, through wgpu, in single precision.
//!
//! ```text
//! work       buffers, kernels, dispatches; what was done is counted
//! adapters   which devices there are, and opening one
//! particles  places, ways and velocities of bodies
//! cloths     cloths of equal size together, their parts (`cloth_parts`) and what these are made from (`joined`); `cloth` is each of them
//! cloth_systems   all distances of a cloth at once, implicit bending       linear    large systems
//! soft       a soft body             tets, shapes   what fills it          pack      matched shapes together
//! contact    points against planes   finding        which points are near colliders, meshes among them (`meshes`)
//! pairs      triangles against triangles            groups    contacts that can be gone over at once
//! ```
//!
//! The order of a step is that of the processor (`cpu`): a body on the device is a `BodyStep` like any other. What is done where:
//!
//! | | on the device | on the processor |
//! |---|---|---|
//! | always | forces, free motion, elasticity, all constraints, volumes, matched shapes, pressing and holding points that touch colliders, friction, the step | where colliders and pins are; what is written at a frame's end |
//! | cloths, and soft bodies where no triangle can touch another one | which points are near colliders, primitives and meshes: a contact for each pair of a point and a collider, asleep where they are far apart | |
//! | triangles can touch (mesh colliders, `self_collision`, cloth on cloth), and all bodies are cloths whose vertices are particles, on the device | how far what may touch is apart, pressing, friction, calming | which triangles may touch at all, for some dozens of steps; the guard; what is tangled |
//! | triangles can touch otherwise: soft bodies, midpoints, pairs that bounce | | the same, with measuring, pressing, calming; which points of soft bodies are near colliders |
//!
//! What goes there and back, counted as `read_backs` and `uploads`:
//!
//! | | to the device | to the processor |
//! |---|---|---|
//! | a frame | wind; the state if it was changed here; of a mesh whose vertices move 80 bytes a vertex and 32 bytes a box, all of it | the state, 48 bytes a particle; what each pair of a point and a collider was pressed, 16 bytes |
//! | a step | where pins are; 176 bytes for each collider that moves; 32 bytes for each mesh whose vertices move | of soft bodies 32 bytes a body after each batch of sweeps, and where they can touch the look-ahead, 16 bytes a particle, because their volumes are judged after contacts |
//! | a step in which triangles are pressed on the device, besides | 32 bytes for each pair that may touch, where others may than in the step before; 64 bytes for each vertex of a collider among them, if it moves; the look-ahead, 16 bytes a particle, where the guard has changed it | once, for the guard: places and look-ahead, 32 bytes a particle, 4 bytes a pair; of cloths that touch several colliders 4 bytes a point: which of them let it pass |
//! | a step in which they are pressed by the processor, besides | velocities that triangles have changed; the look-ahead after each press, 16 bytes a particle | the look-ahead before each press; the state; the passing points |
//! | the same of a soft body, besides | contacts | velocities |
//!
//! Cloths that conjugate gradients hold take turns with contacts: 16 bytes tell after each whether there is another one. A mesh with triangles or hierarchies
//! that do not fit into a binding, or with more than 4096 triangles around a vertex, and all that touches it, is left to the processor's finding; so are
//! pairs of triangles in a step that has more of them than a binding holds. Cloths that strips or a direct factor solve, conjugate gradients on anything
//! but threads, midpoints with more than a thousand pins, and soft bodies with a tolerance below what single precision can tell stay on the processor
//! altogether.
//!
//! Bodies whose parts have dispatches in common: matched shapes of one kind (`pack`), and cloths that are alike in size and fabric (`cloths`).
//!
//! Results are the same bits in every run on one adapter with one driver: no sum depends on the order in which threads finish.

mod adapters;
mod cloth;
pub mod cloth_parts;
pub mod cloth_systems;
pub mod cloths;
pub mod contact;
pub mod finding;
pub mod groups;
pub mod joined;
pub mod linear;
pub mod meshes;
pub mod pack;
pub mod pairs;
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
use super::cpu::touching::elsewhere::PressElsewhere;
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
    pairs::PAIRS,
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
    /// Whether triangles that touch are pressed there too.
    presses_pairs: bool,
}

impl<'m> GpuBackend<'m> {
    /// Make one for a model; it may go on on the processor if the device is lost.
    pub fn new(scene: &'m Scene, model: &'m Model, gpu: Gpu, may_fall_back: bool) -> Result<Self, DeviceError> {
        let gpu = Rc::new(gpu);
        let meshes = Rc::new(RefCell::new(meshes::DeviceMeshes::new(&gpu, model)));
        let packed = pack::pack(&gpu, model, &meshes);
        let places = cloths::together(&gpu, model, &meshes).into_iter().zip(&model.cloths).enumerate();
        let mut cloths: Vec<Option<cloth::GpuCloth>> =
            places.map(|(number, (place, cloth))| Some(cloth::GpuCloth::new(number, cloth, model, place?))).collect();
        let pairs = pairs::DevicePairs::of_model(&gpu, model, &mut cloths);
        let presses_pairs = pairs.is_some();
        let soft_body = |(soft, body): (usize, &'m _)| -> Option<Box<dyn BodyStep + 'm>> {
            let number = model.cloths.len() + soft;
            Some(match &packed[soft] {
                Some((pack, place)) => Box::new(pack::GpuPacked::new(number, body, model, (pack, *place))),
                None => Box::new(soft::GpuSoft::new(&gpu, number, body, model, &meshes)?),
            })
        };
        let cloths = cloths.into_iter().map(|cloth| Some(Box::new(cloth?) as Box<dyn BodyStep + 'm>));
        let bodies: Vec<_> = cloths.chain(model.soft_bodies.iter().enumerate().map(soft_body)).collect();
        let resident_count = bodies.iter().flatten().count();
        let pairs = pairs.map(|pairs| Box::new(pairs) as Box<dyn PressElsewhere + 'm>);
        let steps = CpuBackend::with_bodies(scene, model, bodies, pairs);
        gpu.finish();
        if let Some(cause) = gpu.overflow() {
            let cause = format!("{} has no room for the scene: {cause}", gpu.name);
            let remedy = "use a card with more memory or fewer particles, raise --device-memory, or use --device cpu";
            return Err(DeviceError::TooSmall { cause, remedy: remedy.to_owned() });
        }
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
            presses_pairs,
        })
    }

    /// What of the scene is simulated where.
    pub fn describe(&self) -> String {
        let all = self.model.body_count();
        let seen = match () {
            () if !self.model.has_contacts() => "nothing can touch",
            () if self.presses_pairs => {
                "contact with colliders and of triangles is found and pressed there, the processor keeps triangles from crossing"
            }
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
