//! Affine maps, and the shift, turn and stretch that they are made of.

use std::ops::Mul;

use nalgebra::{Quaternion, Rotation3, UnitQuaternion};

use super::{Mat3, Vec3};

/// A linear map, then a shift.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Affine {
    /// The linear map.
    pub linear: Mat3,
    /// The shift.
    pub shift: Vec3,
}

impl Affine {
    /// The map that changes nothing.
    pub fn identity() -> Self {
        Affine { linear: Mat3::identity(), shift: Vec3::zeros() }
    }

    /// Where a point goes.
    #[inline(always)]
    pub fn apply(&self, point: Vec3) -> Vec3 {
        self.linear * point + self.shift
    }

    /// The way back; `None` for a map that flattens space.
    pub fn inverse(&self) -> Option<Affine> {
        let linear = self.linear.try_inverse().filter(|inverse| inverse.iter().all(|x| x.is_finite()))?;
        Some(Affine { linear, shift: -(linear * self.shift) })
    }

    /// The largest difference between two numbers of both maps.
    pub fn distance(&self, other: &Affine) -> f64 {
        (self.linear - other.linear).amax().max((self.shift - other.shift).amax())
    }

    /// Whether every number of it is one.
    pub fn is_finite(&self) -> bool {
        self.linear.iter().chain(self.shift.iter()).all(|x| x.is_finite())
    }
}

impl Mul for Affine {
    type Output = Affine;

    /// First `inner`, then `self`.
    fn mul(self, inner: Affine) -> Affine {
        Affine { linear: self.linear * inner.linear, shift: self.apply(inner.shift) }
    }
}

/// An affine map in parts that can be blended one by one: stretch, then turn, then shift.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Local {
    /// The shift.
    pub translation: Vec3,
    /// The turn.
    pub rotation: UnitQuaternion<f64>,
    /// Scales on the diagonal; a matrix that shears has more entries.
    pub stretch: Mat3,
}

impl Local {
    /// From the three parts of a glTF node.
    pub fn new(translation: Vec3, rotation: UnitQuaternion<f64>, scale: Vec3) -> Self {
        Local { translation, rotation, stretch: Mat3::from_diagonal(&scale) }
    }

    /// The parts of a map. Mirrors can be told in several ways; the axes that `like` mirrors are tried first.
    pub fn from_affine(affine: &Affine, like: &Local) -> Self {
        let axis = |k: usize| {
            let column: Vec3 = affine.linear.column(k).into();
            if like.stretch[(k, k)] < 0.0 { -column } else { column }
        };
        let x = unit(axis(0)).or_else(|| unit(axis(1).cross(&axis(2)))).unwrap_or(Vec3::x());
        let beside_x = |v: Vec3| unit(v - x * x.dot(&v));
        let y = beside_x(axis(1)).or_else(|| unit(axis(2).cross(&x))).or_else(|| beside_x(Vec3::y()));
        let y = y.or_else(|| beside_x(Vec3::z())).unwrap_or(Vec3::y());
        let turn = Mat3::from_columns(&[x, y, x.cross(&y)]);
        Local {
            translation: affine.shift,
            rotation: UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(turn)),
            stretch: turn.transpose() * affine.linear,
        }
    }

    /// As one map.
    pub fn affine(&self) -> Affine {
        Affine { linear: self.rotation.to_rotation_matrix().matrix() * self.stretch, shift: self.translation }
    }

    /// Part of the way to another one: 0 is here, 1 is there.
    pub fn towards(&self, other: &Local, share: f64) -> Local {
        Local {
            translation: self.translation.lerp(&other.translation, share),
            rotation: slerp(&self.rotation, &other.rotation, share),
            stretch: self.stretch * (1.0 - share) + other.stretch * share,
        }
    }
}

/// The direction of a vector that has one.
fn unit(v: Vec3) -> Option<Vec3> {
    v.try_normalize(1e-150)
}

/// Part of the way between two turns, along the shorter arc at a constant speed.
pub fn slerp(from: &UnitQuaternion<f64>, to: &UnitQuaternion<f64>, share: f64) -> UnitQuaternion<f64> {
    let to = if from.coords.dot(&to.coords) < 0.0 { -to.coords } else { to.coords };
    // Not from the cosine, which knows small angles badly.
    let angle = 2.0 * (to - from.coords).norm().atan2((to + from.coords).norm());
    let sine = angle.sin();
    let (a, b) = if sine > 1e-12 {
        ((angle * (1.0 - share)).sin() / sine, (angle * share).sin() / sine)
    } else {
        (1.0 - share, share)
    };
    UnitQuaternion::new_normalize(Quaternion::from(from.coords * a + to * b))
}
