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
    /// Factor on the rule's number of steps: see `solver::substeps`.
    pub step_factor: f64,
}

impl ClothState {
    /// At the mesh's own place, not moving.
    pub fn at_rest(cloth: &ClothModel) -> Self {
        ClothState { x: cloth.rest.clone(), v: vec![Vec3::zeros(); cloth.rest.len()], step_factor: 1.0 }
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
