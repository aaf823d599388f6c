//! The backend that runs on a graphics card, through wgpu, in single precision.
//!
//! ```text
//! work       buffers, kernels, dispatches; what was done is counted
//! adapters   which devices there are, and opening one
//! particles  places, ways and velocities of a body
//! cloth      one cloth               tets, shapes   what fills a soft body
//! linear     large systems           contact        points against planes
//! ```
//!
//! The order of a step is that of the processor (`cpu`): a body on the device is a `BodyStep` like any other. What is done where:
//!
//! | on the device | on the processor |
//! |---|---|
//! | forces, free motion, elasticity, all constraints, volumes, matched shapes, points that touch colliders, the step | where colliders and pins are, which points are near them; triangles against triangles: finding, pressing, the guard; what is written at a frame's end |
//!
//! Where triangles may touch, or points touch colliders, the processor looks at the look-ahead positions in every step: they go there and back
//! (16 bytes a particle each way, counted as `read_backs` and `uploads`). Where nothing can touch, the state stays on the device for all of a
//! frame and comes back at its end.
//!
//! Results are the same bits in every run on one adapter with one driver: no sum depends on the order in which threads finish.

mod adapters;
mod cloth;
pub mod particles;
mod profile;
pub mod reduce;
mod soft;
pub mod work;

use std::rc::Rc;

pub use adapters::{list, open, with_environment};
pub use work::{Counts, Gpu, Limits, Source};

use super::cpu::CpuBackend;
use super::cpu::body_step::BodyStep;
use super::device::DeviceError;
use super::{Backend, BodyReport, Drive, PhaseSeconds, Quality, Vertices};
use crate::model::{Model, State};
use crate::scene::Scene;

/// All files of kernels.
pub const SOURCES: &[Source] = &[particles::MOTION, cloth::DISTANCE, reduce::REDUCE, reduce::CONTROL];

/// A graphics card.
pub struct GpuBackend<'m> {
    scene: &'m Scene,
    model: &'m Model,
    gpu: Rc<Gpu>,
    drive: Option<Drive>,
    /// The order of a step, over bodies that are on the device.
    steps: CpuBackend<'m>,
    /// Why it went on on the processor, if it did and that was not told yet.
    fell_back: Option<String>,
    is_lost: bool,
}

impl<'m> GpuBackend<'m> {
    /// Make one for a model.
    pub fn new(scene: &'m Scene, model: &'m Model, gpu: Gpu) -> Result<Self, DeviceError> {
        let gpu = Rc::new(gpu);
        let bodies = |number: usize| -> Option<Box<dyn BodyStep + 'm>> {
            let cloth = model.cloths.get(number)?;
            Some(Box::new(cloth::GpuCloth::new(&gpu, number, cloth, model)?))
        };
        let steps = CpuBackend::with_bodies(scene, model, bodies);
        Ok(GpuBackend { scene, model, gpu, drive: None, steps, fell_back: None, is_lost: false })
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
        if self.is_lost {
            return self.steps.advance(state);
        }
        let before = state.clone();
        let reports = self.steps.advance(state);
        self.gpu.submit();
        let Some(trouble) = self.gpu.trouble() else { return reports };
        // From the last state that came back, on the processor: the work of a night is worth more than the device.
        self.fell_back = Some(trouble);
        self.is_lost = true;
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
        self.fell_back.take().map(|why| format!("{why}; this and all further frames are simulated on the processor"))
    }
}
