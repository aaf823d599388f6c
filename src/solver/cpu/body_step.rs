//! What a step needs of a body, whatever it is made of: contact moves vertices and does not ask what is below them.

use super::contacts::spread;
use super::{StepWorld, for_each};
use crate::math::Vec3;
use crate::mesh::bvh::Aabb;
use crate::model::{BodyState, Broken, Carried, MovingCollider, Skin};
use crate::solver::wind::Weather;
use crate::solver::{BodyReport, Drive, Quality, TouchCounts};

/// All bodies that deform, cloths first.
pub type Bodies<'m> = [Box<dyn BodyStep + 'm>];

/// A body's private memory, and what can be done with it in a step, in this order.
pub trait BodyStep {
    /// Nothing has happened yet.
    fn forget(&mut self);
    /// Prepare a frame.
    fn begin_frame(&mut self, moving: &BodyState, weather: &Weather, drive: &Drive);
    /// The box in which colliders are watched during the frame, if the body moves on as it does.
    fn frame_box(&self, moving: &BodyState, drive: &Drive) -> Aabb;
    /// What has to be known of all bodies before any of them begins a step, for those that are simulated together.
    fn prepare(&mut self, _: &BodyState, _: &StepWorld) {}
    /// Begin a step: forces, contacts with single points, look-ahead positions.
    fn look_ahead(&mut self, moving: &mut BodyState, world: &mut StepWorld, step: u32);
    /// Vertices that are let pass a collider in this step, and the collider.
    fn passing(&self) -> &[(u32, u32)];
    /// Bring the look-ahead positions to what must hold; `again` if contacts have moved them since.
    fn constrain(&mut self, moving: &BodyState, world: &StepWorld, again: bool);
    /// After that of all bodies: for those that are simulated together, it is done only now.
    fn settle(&mut self, _: &BodyState, _: &StepWorld) {}
    /// Whether that has to be done again, because contacts have pulled apart what was brought together.
    fn is_pulled_apart(&self) -> bool;
    /// The last word after all contacts, for bodies that can keep what must hold without moving what touches.
    fn mend(&mut self, _: &BodyState, _: &StepWorld) {}
    /// Whether its numbers have ended.
    fn is_broken(&self) -> bool;
    /// Bring the look-ahead positions here, where they are elsewhere: before anything asks for them.
    fn fetch(&mut self) {}
    /// The same for places on a device, as it has them, and the ways from there: they were brought with those of others.
    #[cfg(feature = "gpu")]
    fn receive(&mut self, _places: &[[f32; 4]], _ways: &[[f32; 4]]) {}
    /// Bring velocities here, where they are elsewhere and may have changed there.
    fn bring_velocities(&mut self, _: &mut BodyState) {}
    /// Take them back with what was changed here.
    fn send_velocities(&mut self, _: &BodyState) {}
    /// The look-ahead positions of the particles.
    fn ahead(&self) -> &[Vec3];
    /// Move the look-ahead positions to these places: of the vertices, or of the particles where those only carry vertices.
    fn put(&mut self, places: &[Vec3]);
    /// Take the step to the look-ahead positions.
    fn step(&mut self, moving: &mut BodyState, world: &StepWorld);
    /// At a frame's end: what is written is within its limits; the motion does not hear of it.
    fn polish(&mut self, moving: &mut BodyState, world: &mut StepWorld);
    /// Largest part of its allowed stretch that an edge between these vertices has; 0 for bodies that may stretch.
    fn used(&self, vertices: &[Vec3]) -> f64;
    /// What the frame took; `touched` is what touching triangles did.
    fn report(&self, moving: &BodyState, touched: TouchCounts, broken: &[Broken]) -> BodyReport;
    /// How good a state is.
    fn quality(&self, moving: &BodyState, vertices: &[Vec3], colliders: &[MovingCollider]) -> Quality;
    /// What is seen of it.
    fn skin(&self) -> &Skin;
    /// Memory of a linear solver [B]; 0 without one.
    fn linear_bytes(&self) -> usize {
        0
    }
}

/// The vertices for some values of the particles.
pub fn vertices_of(skin: &Skin, particles: &[Vec3], vertices: &mut [Vec3]) {
    match skin.carried {
        Carried::Itself => vertices.copy_from_slice(particles),
        _ => for_each(vertices, |v, vertex| *vertex = skin.map.vertex(v, particles)),
    }
}

/// Give a vertex an impulse, shared by the particles below it.
pub fn push_vertex(skin: &Skin, vertex: usize, particles: &mut [Vec3], impulse: Vec3) {
    spread(skin.map.row(vertex), skin, particles, impulse);
}
