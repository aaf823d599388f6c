//! Coulomb's cone, with one opening while two surfaces stick and another while they slide.
//!
//! Based on: [Bender14 §3.4] (Haft- und Gleitreibung)
//! Test:     tests/algorithms/{resting,pair}.rs

use crate::math::Vec3;

/// The coefficients of a surface, or of two that touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Friction {
    /// While they slide.
    pub dynamic: f64,
    /// While they stick; not less.
    pub sticking: f64,
}

impl Friction {
    /// Sticking is never weaker than sliding.
    pub fn new(dynamic: f64, sticking: f64) -> Self {
        Friction { dynamic, sticking: sticking.max(dynamic) }
    }

    /// Of two surfaces: the geometric means.
    pub fn of_both(a: Friction, b: Friction) -> Self {
        Friction { dynamic: (a.dynamic * b.dynamic).sqrt(), sticking: (a.sticking * b.sticking).sqrt() }
    }

    /// The tangential impulse that a normal one allows: all that is wanted, or what sliding leaves of it.
    #[inline]
    pub fn allow(self, wanted: Vec3, pressed: f64) -> Vec3 {
        let length = wanted.norm();
        if length > self.sticking * pressed { wanted * (self.dynamic * pressed / length) } else { wanted }
    }
}

/// The same for sticking and sliding.
impl From<f64> for Friction {
    fn from(coefficient: f64) -> Self {
        Friction { dynamic: coefficient, sticking: coefficient }
    }
}
