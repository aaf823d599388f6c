//! What moves: exactly what a checkpoint has to hold.

use super::ClothModel;
use crate::math::Vec3;

/// Positions and velocities of one cloth's particles, and what its last frames have taught.
#[derive(Clone, Debug, PartialEq)]
pub struct ClothState {
    /// [m]
    pub x: Vec<Vec3>,
    /// [m/s]
    pub v: Vec<Vec3>,
    /// Vertices as they are written: those of the particles with what is too long made shorter, which the motion does not hear of [m].
    pub written: Vec<Vec3>,
    /// What the last frames have taught about the number of steps.
    pub pace: Pace,
}

/// How many steps a cloth needs, learnt from frame to frame: see `solver::substeps`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// On the rule's number of steps.
    pub factor: f64,
    /// By how much that was changed before the last frame.
    pub change: f64,
    /// Part of the allowed stretch that the steps of the last frame left behind.
    pub strain: f64,
}

impl ClothState {
    /// At the mesh's own place, not moving.
    pub fn at_rest(cloth: &ClothModel) -> Self {
        ClothState {
            x: cloth.rest.clone(),
            v: vec![Vec3::zeros(); cloth.rest.len()],
            written: cloth.mesh.positions.clone(),
            pace: Pace { factor: 1.0, change: 1.0, strain: 0.0 },
        }
    }
}

/// All of the moving world.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// In the order of the model.
    pub cloths: Vec<ClothState>,
    /// How far the wind has carried its eddies since the start [m].
    pub wind_drift: Vec3,
}
