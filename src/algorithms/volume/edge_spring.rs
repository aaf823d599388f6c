//! Damped springs along the edges of tetrahedra: the elasticity of a soft body.
//!
//! Based on: [Bender14 §4.4.1.2] (gedämpfte Federn); Van Gelder 1998 for stiffnesses that do not depend on the mesh; Macklin, Müller and Chentanez
//!           2016 for the implicit step
//! Idea:     each spring's force at the end of the step acts as an impulse at its start, so that no stiffness is too large for a step.
//!           Damping acts on velocities, before and apart from the force: in one implicit step of both a strongly damped spring would hold
//!           its ends where they are, and a body that no sweep has solved exactly would flow. It acts along the edge, so that turning
//!           as a whole is free.
//! Test:     tests/algorithms/edge_spring.rs

use crate::math::Vec3;

/// What a lattice of cubes with five tetrahedra each resists stretch with at a constant volume, over the modulus that its springs were given:
/// 1.5 along its axes, 1.125 along diagonals of its faces (a network without directions would have 1.2). This is between.
const OF_LATTICE: f64 = 1.3;
/// Isotropic stress of the lattice for a relative change of all lengths, over the same modulus.
const OF_GROWTH: f64 = 2.0;

/// Bounds of lengths that have flowed, on the original ones.
pub const SHORTEST: f64 = 0.2;
/// The longest.
pub const LONGEST: f64 = 5.0;

/// The stiffness of an edge [N/m]: Young's modulus of the incompressible body, the volume of the tetrahedra around the edge, its length.
pub fn stiffness(modulus: f64, volume_around: f64, length: f64) -> f64 {
    modulus * volume_around / (OF_LATTICE * length * length)
}

/// How many times its volume at rest a body has whose springs hold a pressure inside.
pub fn growth(pressure: f64, modulus: f64) -> f64 {
    if pressure <= 0.0 { 1.0 } else { (1.0 + pressure * OF_LATTICE / (OF_GROWTH * modulus)).powi(3) }
}

/// A spring during a step.
#[derive(Clone, Copy, Debug)]
pub struct EdgeSpring {
    /// `1 / (stiffness h²)` [1/kg]
    compliance: f64,
    /// `1 / (damping h)` [1/kg]
    yielding: f64,
}

impl EdgeSpring {
    /// For a stiffness [N/m], a time constant [s] and a step [s].
    pub fn new(stiffness: f64, damping: f64, h: f64) -> Self {
        EdgeSpring { compliance: 1.0 / (stiffness * h * h), yielding: 1.0 / (stiffness * damping * h) }
    }

    /// Move look-ahead positions `a` and `b` by the impulse of the spring; `length` is the one at rest, `k` are the inverse masses. Without a
    /// length the edge has no direction and waits for its neighbours to give it one.
    #[inline]
    pub fn correct_position(&self, a: &mut Vec3, b: &mut Vec3, length: f64, [k_a, k_b]: [f64; 2]) {
        let difference = *b - *a;
        let now = difference.norm();
        if now > 0.0 {
            let impulse = difference * ((now - length) / (now * (k_a + k_b + self.compliance)));
            *a += impulse * k_a;
            *b -= impulse * k_b;
        }
    }

    /// Take from the velocities `a` and `b` of ends that are `difference` apart what damping takes.
    #[inline]
    pub fn damp(&self, a: &mut Vec3, b: &mut Vec3, difference: Vec3, [k_a, k_b]: [f64; 2]) {
        let squared = difference.norm_squared();
        if squared > 0.0 {
            let rate = (*b - *a).dot(&difference);
            let impulse = difference * (rate / (squared * (k_a + k_b + self.yielding)));
            *a += impulse * k_a;
            *b -= impulse * k_b;
        }
    }
}

/// Part of what is beyond the yield that stays after a step.
pub fn stays(creep: f64, h: f64) -> f64 {
    1.0 - (-creep * h).exp()
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
    (rest + stays(creep, h) * beyond).clamp(SHORTEST * original, LONGEST * original)
}
