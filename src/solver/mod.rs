//! Time steps. A backend gets what drives the world during one frame, advances the state, and hands back vertices.

pub mod cpu;
pub mod substeps;
pub mod wind;

use crate::math::Vec3;
use crate::model::State;

/// What acts from outside during one frame.
#[derive(Clone, Copy, Debug)]
pub struct Drive {
    /// The (key-frame) time at the start of the frame.
    pub from_frame: f64,
    /// The (key-frame) time at its end; equal to the start during the pre-roll, when nothing moves.
    pub to_frame: f64,
    /// Seconds since the start of the bake, pre-roll included: the clock of the weather.
    pub seconds: f64,
    /// How long the frame is [s].
    pub frame_seconds: f64,
    /// Steps in it.
    pub substeps: u32,
}

/// What a frame did to one cloth.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClothReport {
    /// Sweeps over the constraints, positions and velocities together.
    pub iterations: u64,
    /// Points in contact at the end.
    pub contacts: u32,
}

/// Written coordinates of one cloth: simulation vertices.
#[derive(Clone, Debug, Default)]
pub struct Vertices {
    /// [m]
    pub positions: Vec<Vec3>,
    /// [m/s]
    pub velocities: Vec<Vec3>,
}

/// What a frame looks like in numbers, for one cloth.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quality {
    /// Largest relative length error of the constraints.
    pub max_stretch: f64,
    /// Mean relative length error of the constraints.
    pub mean_stretch: f64,
    /// Deepest vertex below a collider's surface [m].
    pub max_penetration: f64,
}

/// Something that can simulate: four verbs, the first of which is making it from a model.
pub trait Backend {
    /// Take in what acts during the next frame.
    fn drive(&mut self, drive: Drive);
    /// Simulate that frame.
    fn advance(&mut self, state: &mut State) -> Vec<ClothReport>;
    /// The vertices of a cloth and how good they are.
    fn fetch(&mut self, state: &State, cloth: usize, vertices: &mut Vertices) -> Quality;
}
