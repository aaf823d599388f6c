//! The backend that runs on the processor, in f64.

mod bending_step;
pub(in crate::solver) mod body_step;
mod breaks;
pub(in crate::solver) mod cloth_step;
pub(in crate::solver) mod contacts;
pub mod filling;
pub mod independent;
pub mod linear;
mod path_sums;
mod pin_targets;
pub mod shape_filling;
pub(in crate::solver) mod soft_step;
mod strip_sweep;
mod tet_filling;
pub(in crate::solver) mod touching;
mod visible;

use std::time::Instant;

use rayon::prelude::*;

use super::wind::Weather;
use super::{Backend, BodyReport, Drive, PhaseSeconds, Quality, Vertices};
use crate::algorithms::contact::friction::Friction;
use crate::math::Vec3;
use crate::mesh::bvh::Aabb;
use crate::model::{BodyState, ColliderModel, Model, Moment, MovingCollider, Skin, State};
use crate::scene::Scene;
use body_step::{Bodies, BodyStep, vertices_of};
use cloth_step::ClothStep;
use independent::larger;
use soft_step::SoftStep;
use touching::Touching;
use touching::elsewhere::PressElsewhere;

/// Most times that linear solvers or volumes and contacts take turns in a step.
const CONTACT_ROUNDS: u32 = 4;
/// Particles from which on a loop over them is shared out to threads.
const PARALLEL_PARTICLES: usize = 16_384;

/// Whether work on so many values is shared out to threads.
fn is_shared_out(count: usize) -> bool {
    count >= PARALLEL_PARTICLES && rayon::current_num_threads() > 1
}

/// Call `f` for every value, in parallel where there are many. The result does not depend on the thread count because no call
/// sees another's value.
fn for_each<T: Send>(values: &mut [T], f: impl Fn(usize, &mut T) + Sync) {
    if is_shared_out(values.len()) {
        values.par_iter_mut().with_min_len(PARALLEL_PARTICLES / 4).enumerate().for_each(|(i, value)| f(i, value));
    } else {
        values.iter_mut().enumerate().for_each(|(i, value)| f(i, value));
    }
}

/// What is the same for all bodies during one step.
pub struct StepWorld<'a, 'm> {
    /// Where colliders are at the start and at the end of the step.
    pub(in crate::solver) colliders: &'a mut [MovingCollider<'m>],
    /// Friction of each collider.
    pub(in crate::solver) collider_friction: Vec<Friction>,
    /// Key-frame time at the start and end of the step.
    pub(in crate::solver) frames: [f64; 2],
    pub(in crate::solver) gravity: Vec3,
    pub(in crate::solver) drag: f64,
    pub(in crate::solver) h: f64,
    /// Steps to the end of the frame, this one included.
    pub(in crate::solver) steps_left: u32,
    /// Time spent on colliders [s].
    collider_seconds: &'a mut f64,
}

/// The processor.
pub struct CpuBackend<'m> {
    scene: &'m Scene,
    model: &'m Model,
    drive: Drive,
    bodies: Vec<Box<dyn BodyStep + 'm>>,
    colliders: Vec<MovingCollider<'m>>,
    touching: Touching<'m>,
    collider_seconds: f64,
}

impl<'m> CpuBackend<'m> {
    /// Make one for a model; it runs on the threads of the rayon pool it is called from.
    pub fn new(scene: &'m Scene, model: &'m Model) -> Self {
        Self::with_bodies(scene, model, (0..model.body_count()).map(|_| None).collect(), None)
    }

    /// The same with bodies that are simulated elsewhere, by their number, and somebody who presses their triangles there.
    pub(in crate::solver) fn with_bodies(
        scene: &'m Scene,
        model: &'m Model,
        elsewhere: Vec<Option<Box<dyn BodyStep + 'm>>>,
        pairs: Option<Box<dyn PressElsewhere + 'm>>,
    ) -> Self {
        let start = Moment::start(scene);
        let drive = Drive { moments: [start; 2], seconds: 0.0, frame_seconds: 0.0, substeps: 1 };
        let place = |(number, collider): (usize, &'m ColliderModel)| {
            let mut collider = MovingCollider::at(collider, number, start);
            model.pins().for_each(|pins| collider.keep(pins.anchors()));
            collider
        };
        let here = |number: usize| -> Box<dyn BodyStep + 'm> {
            match number.checked_sub(model.cloths.len()) {
                None => Box::new(ClothStep::new(number, &model.cloths[number], model)),
                Some(soft) => Box::new(SoftStep::new(number, &model.soft_bodies[soft], model)),
            }
        };
        let bodies = elsewhere.into_iter().enumerate().map(|(number, body)| body.unwrap_or_else(|| here(number)));
        CpuBackend {
            scene,
            model,
            drive,
            bodies: bodies.collect(),
            colliders: model.colliders.iter().enumerate().map(place).collect(),
            touching: Touching::new(model, pairs),
            collider_seconds: 0.0,
        }
    }

    /// Where colliders are during the frame; nothing touches yet.
    fn begin_frame(&mut self, state: &State) {
        let start = Instant::now();
        let near: Vec<Aabb> =
            self.bodies.iter().zip(&state.bodies).map(|(body, moving)| body.frame_box(moving, &self.drive)).collect();
        for collider in &mut self.colliders {
            collider.begin_frame(self.drive.moments, &near);
        }
        self.collider_seconds += start.elapsed().as_secs_f64();
        self.touching.begin_frame();
    }

    fn reports(&self, state: &State) -> Vec<BodyReport> {
        let touched = self.touching.counts.iter().zip(&self.touching.broken);
        let parts = self.bodies.iter().zip(&state.bodies).zip(touched);
        parts.map(|((body, moving), (counts, broken))| body.report(moving, *counts, broken)).collect()
    }

    /// Memory of a cloth's linear solver [B]; 0 without one.
    pub fn linear_bytes(&self, cloth: usize) -> usize {
        self.bodies[cloth].linear_bytes()
    }

    fn step<'a>(&'a mut self, step: u32) -> (StepWorld<'a, 'm>, &'a mut Bodies<'m>, &'a mut Touching<'m>) {
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
        (world, &mut self.bodies, &mut self.touching)
    }
}

impl Backend for CpuBackend<'_> {
    fn drive(&mut self, drive: Drive) {
        self.drive = drive;
    }

    fn advance(&mut self, state: &mut State) -> Vec<BodyReport> {
        let from_frame = self.drive.moments[0].frame;
        let weather = Weather::at(&self.scene.wind, from_frame, self.drive.seconds, state.wind_drift);
        state.wind_drift = weather.drift_after(self.drive.frame_seconds);
        for (body, moving) in self.bodies.iter_mut().zip(&state.bodies) {
            body.begin_frame(moving, &weather, &self.drive);
        }
        self.begin_frame(state);
        for step in 0..self.drive.substeps {
            let (mut world, bodies, touching) = self.step(step);
            let states = &mut state.bodies;
            bodies.iter_mut().zip(&*states).for_each(|(body, moving)| body.prepare(moving, &world));
            for (body, moving) in bodies.iter_mut().zip(&mut *states) {
                body.look_ahead(moving, &mut world, step);
            }
            touching.look(bodies, states, &world);
            for round in 0..CONTACT_ROUNDS {
                let is_due = |body: &dyn BodyStep| round == 0 || body.is_pulled_apart();
                if !bodies.iter().any(|body| is_due(body.as_ref())) {
                    break;
                }
                for (body, moving) in bodies.iter_mut().zip(&*states).filter(|(body, _)| is_due(body.as_ref())) {
                    body.constrain(moving, &world, round > 0);
                }
                bodies.iter_mut().zip(&*states).for_each(|(body, moving)| body.settle(moving, &world));
                if !bodies.iter().any(|body| body.is_broken()) {
                    touching.press(bodies);
                }
            }
            if bodies.iter().any(|body| body.is_broken()) {
                break;
            }
            bodies.iter_mut().zip(&*states).for_each(|(body, moving)| body.mend(moving, &world));
            touching.guard_step(bodies, &world);
            if bodies.iter().any(|body| body.is_broken()) {
                break;
            }
            bodies.iter_mut().zip(&mut *states).for_each(|(body, moving)| body.step(moving, &world));
            touching.calm(bodies, states, &world);
            if world.steps_left == 1 {
                let vertices = |skin: &Skin, moving: &BodyState| {
                    let mut vertices = vec![Vec3::zeros(); skin.map.vertex_count()];
                    vertices_of(skin, &moving.x, &mut vertices);
                    vertices
                };
                let before: Vec<Vec<Vec3>> =
                    bodies.iter().zip(&*states).map(|(body, moving)| vertices(body.skin(), moving)).collect();
                bodies.iter_mut().zip(&mut *states).for_each(|(body, moving)| body.polish(moving, &mut world));
                touching.guard_written(&before, states, world.colliders);
                // Where there is no way to be within all limits, what was tried may be worse than nothing.
                let used = |written: &dyn Fn(usize) -> f64| (0..bodies.len()).map(written).fold(0.0, larger);
                let [tried, left] =
                    [used(&|n| bodies[n].used(&states[n].written)), used(&|n| bodies[n].used(&before[n]))];
                if tried > left.max(1.0) {
                    states.iter_mut().zip(before).for_each(|(moving, before)| moving.written = before);
                    touching.judge_written(states);
                }
            }
        }
        self.reports(state)
    }

    fn survey(&mut self, state: &State) -> Vec<BodyReport> {
        self.bodies.iter_mut().for_each(|body| body.forget());
        self.begin_frame(state);
        self.colliders.iter_mut().for_each(|collider| collider.place(0));
        self.touching.survey(&state.bodies, &self.colliders);
        self.reports(state)
    }

    fn fetch(&mut self, state: &State, body: usize, vertices: &mut Vertices) -> Quality {
        let moving = &state.bodies[body];
        let map = &self.model.skin(body).map;
        vertices.positions.clear();
        vertices.positions.extend_from_slice(&moving.written);
        vertices.velocities.resize(map.vertex_count(), Vec3::zeros());
        for_each(&mut vertices.velocities, |v, velocity| *velocity = map.vertex(v, &moving.v));
        let around = vertices.positions.iter().fold(Aabb::empty(), |aabb, p| aabb.join(Aabb::around(*p)));
        for collider in &mut self.colliders {
            collider.watch(body, around, 0.0);
            collider.begin_step([1.0, 1.0]);
            collider.place(0);
        }
        self.bodies[body].quality(moving, &vertices.positions, &self.colliders)
    }

    fn take_seconds(&mut self) -> PhaseSeconds {
        PhaseSeconds {
            colliders: std::mem::take(&mut self.collider_seconds),
            touching: std::mem::take(&mut self.touching.seconds),
        }
    }
}
