//! Placements and key-framed rigid motions.

use nalgebra::{Rotation3, UnitQuaternion};
use serde::Serialize;

use super::Vec3;
use super::curve::Curve;

/// Rotation from angles about x, then y, then z [degrees].
pub fn rotation_from_degrees(angles: Vec3) -> UnitQuaternion<f64> {
    let [x, y, z] = [angles.x.to_radians(), angles.y.to_radians(), angles.z.to_radians()];
    UnitQuaternion::from_rotation_matrix(&Rotation3::from_euler_angles(x, y, z))
}

/// A rigid placement: turn about the origin, then shift.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// The turn.
    pub rotation: UnitQuaternion<f64>,
    /// The shift [m].
    pub translation: Vec3,
}

impl Pose {
    /// The pose that changes nothing.
    pub fn identity() -> Self {
        Pose { rotation: UnitQuaternion::identity(), translation: Vec3::zeros() }
    }

    /// From own coordinates to the world's.
    pub fn apply(&self, point: Vec3) -> Vec3 {
        self.rotation * point + self.translation
    }

    /// From the world's coordinates to its own.
    pub fn apply_inverse(&self, point: Vec3) -> Vec3 {
        self.rotation.inverse() * (point - self.translation)
    }
}

/// A key-framed rigid motion about a pivot; identity when both curves are zero.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Motion {
    /// Shift [m].
    pub translate: Curve<Vec3>,
    /// Angles about x, then y, then z [degrees].
    pub rotate: Curve<Vec3>,
    /// The point that the rotation leaves in place [m].
    pub pivot: Vec3,
}

impl Motion {
    /// No motion at all.
    pub fn still() -> Self {
        Motion {
            translate: Curve::constant(Vec3::zeros()),
            rotate: Curve::constant(Vec3::zeros()),
            pivot: Vec3::zeros(),
        }
    }

    /// Where things are at a (fractional) frame.
    pub fn at(&self, frame: f64) -> Pose {
        let rotation = rotation_from_degrees(self.rotate.at(frame));
        Pose { rotation, translation: self.pivot - rotation * self.pivot + self.translate.at(frame) }
    }

    /// Whether time changes nothing.
    pub fn is_constant(&self) -> bool {
        self.translate.is_constant() && self.rotate.is_constant()
    }
}
