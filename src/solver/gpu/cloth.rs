//! A cloth on the device. See `cpu/cloth_step.rs` for the order of a step; what a kernel does is described beside its twin.

use std::rc::Rc;

use bytemuck::{Pod, Zeroable};

use super::particles::{Particles, StepData};
use super::work::{Binding, Dispatch, Gpu, Slab, Source};
use crate::algorithms::cloth::distance;
use crate::math::Vec3;
use crate::mesh::bvh::Aabb;
use crate::model::{BodyState, Broken, ClothModel, Model, MovingCollider, Skin};
use crate::scene::{ClothKind, SolverChoice};
use crate::solver::cpu::StepWorld;
use crate::solver::cpu::body_step::BodyStep;
use crate::solver::cpu::cloth_step::ClothStep;
use crate::solver::wind::Weather;
use crate::solver::{BodyReport, Drive, Quality, TouchCounts};

/// The kernels of distances.
pub const DISTANCE: Source = Source {
    name: "distance",
    text: include_str!("../../algorithms/cloth/distance.wgsl"),
    constants: &[("LARGEST_CORRECTION", distance::LARGEST_CORRECTION)],
};

/// A distance as kernels have it.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct DistanceData {
    ends: [u32; 2],
    inverse_rest_squared: f32,
    push: f32,
}

/// A cloth whose steps are done on the device.
pub struct GpuCloth<'m> {
    /// What the processor does: contacts with colliders, what is written, reports.
    host: ClothStep<'m>,
    cloth: &'m ClothModel,
    gpu: Rc<Gpu>,
    particles: Particles,
    /// Whether the processor sees the look-ahead positions in every step.
    is_watched: bool,
    /// Whether the look-ahead positions here are those of the device.
    is_fetched: bool,
    distances: Slab<DistanceData>,
    /// One dispatch for each independent group.
    positions: Vec<Dispatch>,
    velocities: Vec<Dispatch>,
}

impl<'m> GpuCloth<'m> {
    /// For a cloth; none where the device cannot do what it needs.
    pub fn new(gpu: &Rc<Gpu>, number: usize, cloth: &'m ClothModel, model: &Model) -> Option<Self> {
        if cloth.solver != SolverChoice::Iterative || cloth.kind == ClothKind::Midpoint {
            return None;
        }
        let particles = Particles::new(gpu, &cloth.k, &cloth.pins.particles);
        let distances = gpu.zeros::<DistanceData>("distances", cloth.distances.len());
        let bound: [(u32, &dyn Binding); 4] = [(1, &particles.x), (2, &particles.d), (3, &distances), (4, &particles.v)];
        let position = |group| gpu.dispatch(&DISTANCE, "distance_positions", group, 112, &bound[..3]);
        let velocity = |group| gpu.dispatch(&DISTANCE, "distance_velocities", group, 144, &bound);
        let positions = cloth.pairs.groups().map(position).collect();
        let velocities =
            if cloth.is_bilateral() { cloth.pairs.groups().map(velocity).collect() } else { Vec::new() };
        Some(GpuCloth {
            host: ClothStep::new(number, cloth, model),
            gpu: Rc::clone(gpu),
            positions,
            velocities,
            is_watched: model.has_contacts(),
            is_fetched: false,
            distances,
            particles,
            cloth,
        })
    }
}

impl BodyStep for GpuCloth<'_> {
    fn forget(&mut self) {
        self.host.forget();
    }

    fn begin_frame(&mut self, moving: &BodyState, weather: &Weather, drive: &Drive) {
        self.host.begin_frame(moving, weather, drive);
        self.particles.load(moving);
        let data = |(distance, &ends): (&distance::Distance, &[u32; 2])| DistanceData {
            ends,
            inverse_rest_squared: distance.inverse_rest_squared as f32,
            push: distance.push as f32,
        };
        let distances: Vec<DistanceData> = self.host.distances.iter().zip(self.cloth.pairs.pairs()).map(data).collect();
        self.gpu.write(&self.distances, 0, &distances);
    }

    fn frame_box(&self, moving: &BodyState, drive: &Drive) -> Aabb {
        self.host.frame_box(moving, drive)
    }

    fn look_ahead(&mut self, moving: &mut BodyState, world: &mut StepWorld, _step: u32) {
        if self.is_broken() {
            return;
        }
        self.host.place_pins(world);
        if self.is_watched {
            self.particles.load_velocities(moving);
        }
        self.particles.begin_step(StepData::new(world));
        self.particles.look_ahead(&self.host.pin_targets);
        self.is_fetched = false;
    }

    fn passing(&self) -> &[(u32, u32)] {
        self.host.passing()
    }

    fn constrain(&mut self, _: &BodyState, _: &StepWorld, _again: bool) {
        self.gpu.run(&self.positions);
        self.is_fetched = false;
    }

    fn is_pulled_apart(&self) -> bool {
        false
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
        self.host.put(places);
        self.particles.write_ahead(&self.host.ahead);
    }

    fn step(&mut self, moving: &mut BodyState, world: &StepWorld) {
        if self.is_broken() {
            return;
        }
        self.particles.advance();
        self.gpu.run(&self.velocities);
        if self.is_watched || world.steps_left == 1 {
            self.particles.read_state(moving);
        }
    }

    fn polish(&mut self, moving: &mut BodyState, world: &mut StepWorld) {
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
