//! The backend that runs on the processor, in f64.

mod bending_step;
mod breaks;
mod cloth_step;
mod contacts;
pub mod independent;
pub mod linear;
mod strip_sweep;
mod touching;
mod visible;

use std::time::Instant;

use rayon::prelude::*;

use super::wind::Weather;
use super::{Backend, ClothReport, Drive, PhaseSeconds, Quality, Vertices};
use crate::algorithms::contact::friction::Friction;
use crate::math::Vec3;
use crate::mesh::bvh::Aabb;
use crate::model::{ColliderModel, Model, Moment, MovingCollider, State};
use crate::scene::Scene;
use cloth_step::ClothStep;
use independent::larger;
use touching::Touching;

/// Most times that linear solvers and contacts take turns in a step.
const CONTACT_ROUNDS: u32 = 4;
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
struct StepWorld<'a, 'm> {
    /// Where colliders are at the start and at the end of the step.
    colliders: &'a mut [MovingCollider<'m>],
    /// Friction of each collider.
    collider_friction: Vec<Friction>,
    /// Key-frame time at the start and end of the step.
    frames: [f64; 2],
    gravity: Vec3,
    drag: f64,
    h: f64,
    /// Steps to the end of the frame, this one included.
    steps_left: u32,
    /// Time spent on colliders [s].
    collider_seconds: &'a mut f64,
}

/// The processor.
pub struct CpuBackend<'m> {
    scene: &'m Scene,
    model: &'m Model,
    drive: Drive,
    cloths: Vec<ClothStep<'m>>,
    colliders: Vec<MovingCollider<'m>>,
    touching: Touching<'m>,
    collider_seconds: f64,
}

impl<'m> CpuBackend<'m> {
    /// Make one for a model; it runs on the threads of the rayon pool it is called from.
    pub fn new(scene: &'m Scene, model: &'m Model) -> Self {
        let start = Moment::start(scene);
        let drive = Drive { moments: [start; 2], seconds: 0.0, frame_seconds: 0.0, substeps: 1 };
        let place = |(number, collider): (usize, &'m ColliderModel)| {
            let mut collider = MovingCollider::at(collider, number, start);
            model.cloths.iter().for_each(|cloth| collider.keep(cloth.pins.anchors()));
            collider
        };
        CpuBackend {
            scene,
            model,
            drive,
            cloths: model
                .cloths
                .iter()
                .enumerate()
                .map(|(number, cloth)| ClothStep::new(number, cloth, model))
                .collect(),
            colliders: model.colliders.iter().enumerate().map(place).collect(),
            touching: Touching::new(model),
            collider_seconds: 0.0,
        }
    }

    /// Where colliders are during the frame; nothing touches yet.
    fn begin_frame(&mut self, state: &State) {
        let start = Instant::now();
        let near: Vec<Aabb> =
            self.cloths.iter().zip(&state.cloths).map(|(cloth, moving)| cloth.frame_box(moving, &self.drive)).collect();
        for collider in &mut self.colliders {
            collider.begin_frame(self.drive.moments, &near);
        }
        self.collider_seconds += start.elapsed().as_secs_f64();
        self.touching.begin_frame();
    }

    fn reports(&self, state: &State) -> Vec<ClothReport> {
        let touched = self.touching.counts.iter().zip(&self.touching.broken);
        let parts = self.cloths.iter().zip(&state.cloths).zip(touched);
        parts.map(|((cloth, moving), (counts, broken))| cloth.report(moving, *counts, broken)).collect()
    }

    /// Memory of a cloth's linear solver [B]; 0 without one.
    pub fn linear_bytes(&self, cloth: usize) -> usize {
        self.cloths[cloth].linear_bytes()
    }

    fn step<'a>(&'a mut self, step: u32) -> (StepWorld<'a, 'm>, &'a mut [ClothStep<'m>], &'a mut Touching<'m>) {
        let Drive { moments, substeps, frame_seconds, .. } = self.drive;
        let parts = [step, step + 1].map(|step| f64::from(step) / f64::from(substeps));
        let frames = parts.map(|part| Moment::between(moments, part).frame);
        for collider in &mut self.colliders {
            collider.begin_step(parts);
        }
        let world = StepWorld {
            colliders: &mut self.colliders,
            collider_friction: self.model.colliders.iter().map(|c| c.friction_at(frames[1])).collect(),
            gravity: self.scene.gravity.at(frames[0]),
            drag: self.scene.drag.at(frames[0]),
            h: frame_seconds / f64::from(substeps),
            steps_left: substeps - step,
            frames,
            collider_seconds: &mut self.collider_seconds,
        };
        (world, &mut self.cloths, &mut self.touching)
    }
}

impl Backend for CpuBackend<'_> {
    fn drive(&mut self, drive: Drive) {
        self.drive = drive;
    }

    fn advance(&mut self, state: &mut State) -> Vec<ClothReport> {
        let from_frame = self.drive.moments[0].frame;
        let weather = Weather::at(&self.scene.wind, from_frame, self.drive.seconds, state.wind_drift);
        state.wind_drift = weather.drift_after(self.drive.frame_seconds);
        for (cloth, moving) in self.cloths.iter_mut().zip(&state.cloths) {
            cloth.begin_frame(moving, &weather, &self.drive);
        }
        self.begin_frame(state);
        for step in 0..self.drive.substeps {
            let (mut world, cloths, touching) = self.step(step);
            let states = &mut state.cloths;
            for (cloth, moving) in cloths.iter_mut().zip(&mut *states) {
                cloth.look_ahead(moving, &mut world, step);
            }
            touching.look(cloths, states, &world);
            for round in 0..CONTACT_ROUNDS {
                let is_due = |cloth: &ClothStep| round == 0 || cloth.is_pulled_apart();
                if !cloths.iter().any(is_due) {
                    break;
                }
                for (cloth, moving) in cloths.iter_mut().zip(&*states).filter(|(cloth, _)| is_due(cloth)) {
                    cloth.constrain(moving, &world, round > 0);
                }
                if !cloths.iter().any(ClothStep::is_broken) {
                    touching.press(cloths);
                }
            }
            if cloths.iter().any(ClothStep::is_broken) {
                break;
            }
            touching.guard_step(cloths, world.h);
            cloths.iter_mut().zip(&mut *states).for_each(|(cloth, moving)| cloth.step(moving, &world));
            touching.calm(cloths, states, world.h);
            if world.steps_left == 1 {
                let before: Vec<Vec<Vec3>> =
                    cloths.iter().zip(&*states).map(|(cloth, moving)| cloth.vertices(moving)).collect();
                cloths.iter_mut().zip(&mut *states).for_each(|(cloth, moving)| cloth.polish(moving, &mut world));
                touching.guard_written(&before, states, world.colliders);
                // Where there is no way to be within all limits, what was tried may be worse than nothing.
                let used = |written: &dyn Fn(usize) -> f64| (0..cloths.len()).map(written).fold(0.0, larger);
                let [tried, left] =
                    [used(&|n| cloths[n].used(&states[n].written)), used(&|n| cloths[n].used(&before[n]))];
                if tried > left.max(1.0) {
                    states.iter_mut().zip(before).for_each(|(moving, before)| moving.written = before);
                    touching.judge_written(states);
                }
            }
        }
        self.reports(state)
    }

    fn survey(&mut self, state: &State) -> Vec<ClothReport> {
        self.cloths.iter_mut().for_each(ClothStep::forget);
        self.begin_frame(state);
        self.colliders.iter_mut().for_each(|collider| collider.place(0));
        self.touching.survey(&state.cloths, &self.colliders);
        self.reports(state)
    }

    fn fetch(&mut self, state: &State, cloth: usize, vertices: &mut Vertices) -> Quality {
        let moving = &state.cloths[cloth];
        let map = &self.model.cloths[cloth].map;
        vertices.positions.clear();
        vertices.positions.extend_from_slice(&moving.written);
        vertices.velocities.resize(map.vertex_count(), Vec3::zeros());
        for_each(&mut vertices.velocities, |v, velocity| *velocity = map.vertex(v, &moving.v));
        let around = vertices.positions.iter().fold(Aabb::empty(), |aabb, p| aabb.join(Aabb::around(*p)));
        for collider in &mut self.colliders {
            collider.watch(cloth, around, 0.0);
            collider.begin_step([1.0, 1.0]);
            collider.place(0);
        }
        self.cloths[cloth].quality(moving, &vertices.positions, &self.colliders)
    }

    fn take_seconds(&mut self) -> PhaseSeconds {
        PhaseSeconds {
            colliders: std::mem::take(&mut self.collider_seconds),
            touching: std::mem::take(&mut self.touching.seconds),
        }
    }
}
