//! Damped springs along the edges of tetrahedra: the elasticity of a soft body.
//!
//! Based on: [Bender14 §4.4.1.2] (gedämpfte Federn); Van Gelder 1998 for stiffnesses that do not depend on the mesh; Macklin, Müller and Chentanez
//!           2016 for the implicit step
//! Idea:     each spring's force at the end of the step acts as an impulse at its start, so that no stiffness is too large for a step.
//!           Damping acts along the edge, so that turning as a whole is free.
//! Test:     tests/algorithms/edge_spring.rs

use crate::math::Vec3;

/// What an edge resists incompressible stretch with, over what a spring network of the same modulus resists that is free to change its volume:
/// in an isotropic network with `λ = μ` these are 3 μ and 2.5 μ.
const INCOMPRESSIBLE: f64 = 1.2;
/// Isotropic stress of such a network for a relative change of all lengths, `3 λ + 2 μ = 5 μ`, in parts of the modulus of the incompressible
/// body, `E = 3 μ`.
const PRESSURE_OF_GROWTH: f64 = 5.0 / 3.0;

/// The stiffness of an edge [N/m]: Young's modulus of the incompressible body, the volume of the tetrahedra around the edge, its length.
pub fn stiffness(modulus: f64, volume_around: f64, length: f64) -> f64 {
    modulus * volume_around / (INCOMPRESSIBLE * length * length)
}

/// How many times its volume at rest a body has whose springs hold a pressure inside.
pub fn growth(pressure: f64, modulus: f64) -> f64 {
    if pressure <= 0.0 { 1.0 } else { (1.0 + pressure / (PRESSURE_OF_GROWTH * modulus)).powi(3) }
}

/// A spring during a step.
#[derive(Clone, Copy, Debug)]
pub struct EdgeSpring {
    /// `1 / (stiffness h²)` [1/kg]
    pub compliance: f64,
    /// Time constant of damping over the step.
    pub damping: f64,
}

impl EdgeSpring {
    /// For a stiffness [N/m], a time constant [s] and a step [s].
    pub fn new(stiffness: f64, damping: f64, h: f64) -> Self {
        EdgeSpring { compliance: 1.0 / (stiffness * h * h), damping: damping / h }
    }

    /// Move look-ahead positions `a` and `b` by the impulse of the spring; `length` is the one at rest, `was` the difference `b - a` at the start
    /// of the step, `k` are the inverse masses.
    #[inline]
    pub fn correct_position(&self, a: &mut Vec3, b: &mut Vec3, length: f64, was: Vec3, [k_a, k_b]: [f64; 2]) {
        let difference = *b - *a;
        let now = difference.norm();
        // Without a direction of its own it keeps the one it had.
        let direction = if now > 0.0 { difference / now } else { was / was.norm().max(f64::MIN_POSITIVE) };
        let rate = (difference - was).dot(&direction);
        let multiplier = (now - length + self.damping * rate) / ((1.0 + self.damping) * (k_a + k_b) + self.compliance);
        let impulse = direction * multiplier;
        *a += impulse * k_a;
        *b -= impulse * k_b;
    }
}

/// The rest length after a step in which the edge had this length: what is beyond the yield stays at a rate of `creep` [1/s]. Bounds keep an edge
/// that is crushed or torn from becoming a point or endless.
pub fn flow(rest: f64, length: f64, original: f64, yields_at: f64, creep: f64, h: f64) -> f64 {
    let beyond = if length > rest * (1.0 + yields_at) {
        length - rest * (1.0 + yields_at)
    } else if length < rest * (1.0 - yields_at) {
        length - rest * (1.0 - yields_at)
    } else {
        return rest;
    };
    let stays = 1.0 - (-creep * h).exp();
    (rest + stays * beyond).clamp(0.2 * original, 5.0 * original)
}
