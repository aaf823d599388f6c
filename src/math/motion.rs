//! Placements and key-framed rigid motions.

use nalgebra::Rotation3;
use serde::Serialize;

use super::curve::Curve;
use super::{Mat3, Vec3};

/// Rotation from angles about x, then y, then z [degrees].
pub fn rotation_from_degrees(angles: Vec3) -> Rotation3<f64> {
    Rotation3::from_euler_angles(angles.x.to_radians(), angles.y.to_radians(), angles.z.to_radians())
}

/// A rigid placement: turn about the origin, then shift.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// The turn.
    pub rotation: Rotation3<f64>,
    /// The shift [m].
    pub translation: Vec3,
}

impl Pose {
    /// The pose that changes nothing.
    pub fn identity() -> Self {
        Pose { rotation: Rotation3::identity(), translation: Vec3::zeros() }
    }

    /// The place and direction of a point of a triangle: at the barycentric coordinates, turned with its first edge and its
    /// normal. A triangle without a direction does not turn.
    pub fn on_triangle([a, b, c]: [Vec3; 3], barycentric: [f64; 3]) -> Self {
        let translation = a * barycentric[0] + b * barycentric[1] + c * barycentric[2];
        let axes = (b - a).try_normalize(0.0).zip((b - a).cross(&(c - a)).try_normalize(0.0));
        let rotation = axes.map_or_else(Rotation3::identity, |(along, normal)| {
            let axes = [along, normal, along.cross(&normal)];
            Rotation3::from_matrix_unchecked(Mat3::from_columns(&axes))
        });
        Pose { rotation, translation }
    }

    /// From own coordinates to the world's.
    pub fn apply(&self, point: Vec3) -> Vec3 {
        self.rotation * point + self.translation
    }

    /// From the world's coordinates to its own.
    pub fn apply_inverse(&self, point: Vec3) -> Vec3 {
        self.rotation.inverse_transform_vector(&(point - self.translation))
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
