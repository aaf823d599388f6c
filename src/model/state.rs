//! What moves: exactly what a checkpoint has to hold.

use super::ClothModel;
use crate::math::Vec3;

/// Positions and velocities of one cloth's particles (edge midpoints).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClothState {
    /// [m]
    pub x: Vec<Vec3>,
    /// [m/s]
    pub v: Vec<Vec3>,
}

impl ClothState {
    /// At the mesh's own place, not moving.
    pub fn at_rest(cloth: &ClothModel) -> Self {
        ClothState { x: cloth.rest.clone(), v: vec![Vec3::zeros(); cloth.rest.len()] }
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
