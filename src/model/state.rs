//! What moves: exactly what a checkpoint has to hold.

use super::Skin;
use crate::math::Vec3;

/// Positions and velocities of one body's particles, and what its last frames have taught.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyState {
    /// [m]
    pub x: Vec<Vec3>,
    /// [m/s]
    pub v: Vec<Vec3>,
    /// Vertices as they are written: those of the particles with what is too long made shorter, which the motion does not hear of [m].
    pub written: Vec<Vec3>,
    /// What has stayed of a soft body's deformations: lengths at rest of its springs [m], or nine numbers for each region whose shape is
    /// matched. Empty as long as nothing can stay.
    pub flowed: Vec<f64>,
    /// What the last frames have taught about the number of steps.
    pub pace: Pace,
}

/// How many steps a body needs, learnt from frame to frame: see `solver::substeps`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// On the rule's number of steps.
    pub factor: f64,
    /// By how much that was changed before the last frame.
    pub change: f64,
    /// Part of the allowed stretch that the steps of the last frame left behind.
    pub strain: f64,
}

impl BodyState {
    /// At the mesh's own place, not moving.
    pub fn at_rest(skin: &Skin) -> Self {
        BodyState {
            x: skin.rest.clone(),
            v: vec![Vec3::zeros(); skin.rest.len()],
            written: skin.mesh.positions.clone(),
            flowed: Vec::new(),
            pace: Pace { factor: 1.0, change: 1.0, strain: 0.0 },
        }
    }
}

impl BodyState {
    /// Begin with another size about the middle, which is where the particles are on average.
    pub fn scale_at_start(&mut self, factors: [f64; 3]) {
        if factors != [1.0; 3] {
            let middle = self.x.iter().sum::<Vec3>() / self.x.len().max(1) as f64;
            let scale = |x: &mut Vec3| *x = middle + (*x - middle).component_mul(&Vec3::from(factors));
            self.x.iter_mut().chain(&mut self.written).for_each(scale);
        }
    }
}

/// All of the moving world.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// In the order of the model.
    pub bodies: Vec<BodyState>,
    /// How far the wind has carried its eddies since the start [m].
    pub wind_drift: Vec3,
}
