//! The backend that runs on the processor, in f64.

mod cloth_step;
mod contacts;
pub mod independent;

use rayon::prelude::*;

use super::wind::Weather;
use super::{Backend, ClothReport, Drive, Quality, Vertices};
use crate::math::Vec3;
use crate::math::motion::Pose;
use crate::model::{Model, State};
use crate::scene::Scene;
use cloth_step::ClothStep;

/// Particles from which on a loop over them is shared out to threads.
const PARALLEL_PARTICLES: usize = 16_384;

/// Call `f` for every value, in parallel where there are many. The result does not depend on the thread count because no call
/// sees another's value.
fn for_each<T: Send>(values: &mut [T], f: impl Fn(usize, &mut T) + Sync) {
    if values.len() >= PARALLEL_PARTICLES && rayon::current_num_threads() > 1 {
        values.par_iter_mut().with_min_len(PARALLEL_PARTICLES / 4).enumerate().for_each(|(i, value)| f(i, value));
    } else {
        values.iter_mut().enumerate().for_each(|(i, value)| f(i, value));
    }
}

/// What is the same for all cloths during one step.
struct StepWorld<'m> {
    model: &'m Model,
    /// Where colliders are at the start and at the end of the step.
    collider_poses: Vec<[Pose; 2]>,
    /// Friction of each collider.
    collider_friction: Vec<f64>,
    /// Key-frame time at the start and end of the step.
    frames: [f64; 2],
    gravity: Vec3,
    drag: f64,
    h: f64,
    /// Steps to the end of the frame, this one included.
    steps_left: u32,
}

/// The processor.
pub struct CpuBackend<'m> {
    scene: &'m Scene,
    model: &'m Model,
    drive: Drive,
    cloths: Vec<ClothStep<'m>>,
}

impl<'m> CpuBackend<'m> {
    /// Make one for a model; it runs on the threads of the rayon pool it is called from.
    pub fn new(scene: &'m Scene, model: &'m Model) -> Self {
        let first = scene.first_frame as f64;
        let drive = Drive { from_frame: first, to_frame: first, seconds: 0.0, frame_seconds: 0.0, substeps: 1 };
        CpuBackend { scene, model, drive, cloths: model.cloths.iter().map(ClothStep::new).collect() }
    }

    fn world(&self, step: u32) -> StepWorld<'m> {
        let Drive { from_frame, to_frame, substeps, frame_seconds, .. } = self.drive;
        let at = |step: u32| from_frame + (to_frame - from_frame) * f64::from(step) / f64::from(substeps);
        let frames = [at(step), at(step + 1)];
        StepWorld {
            model: self.model,
            collider_poses: self.model.colliders.iter().map(|c| frames.map(|frame| c.motion.at(frame))).collect(),
            collider_friction: self.model.colliders.iter().map(|c| c.friction.at(frames[1])).collect(),
            gravity: self.scene.gravity.at(frames[0]),
            drag: self.scene.drag.at(frames[0]),
            h: frame_seconds / f64::from(substeps),
            steps_left: substeps - step,
            frames,
        }
    }
}

impl Backend for CpuBackend<'_> {
    fn drive(&mut self, drive: Drive) {
        self.drive = drive;
    }

    fn advance(&mut self, state: &mut State) -> Vec<ClothReport> {
        let weather = Weather::at(&self.scene.wind, self.drive.from_frame, self.drive.seconds, state.wind_drift);
        state.wind_drift = weather.drift_after(self.drive.frame_seconds);
        for (cloth, moving) in self.cloths.iter_mut().zip(&state.cloths) {
            cloth.begin_frame(moving, &weather, &self.drive);
        }
        for step in 0..self.drive.substeps {
            let world = self.world(step);
            for (cloth, moving) in self.cloths.iter_mut().zip(&mut state.cloths) {
                cloth.advance(moving, &world, step);
            }
        }
        self.cloths.iter().map(ClothStep::report).collect()
    }

    fn fetch(&mut self, state: &State, cloth: usize, vertices: &mut Vertices) -> Quality {
        let poses: Vec<Pose> = self.model.colliders.iter().map(|c| c.motion.at(self.drive.to_frame)).collect();
        let moving = &state.cloths[cloth];
        let map = &self.model.cloths[cloth].map;
        vertices.positions.resize(map.vertex_count(), Vec3::zeros());
        vertices.velocities.resize(map.vertex_count(), Vec3::zeros());
        for_each(&mut vertices.positions, |v, position| *position = map.vertex(v, &moving.x));
        for_each(&mut vertices.velocities, |v, velocity| *velocity = map.vertex(v, &moving.v));
        self.cloths[cloth].quality(moving, &vertices.positions, &self.model.colliders, &poses)
    }
}
