//! Two features that touch: they do not come nearer than a gap, and slide on each other only against friction.
//!
//! Based on: [Bender14 §3.4, §4.3.6] (Kollision und bleibender Kontakt mit Reibung), look-ahead as in 2.3; friction as in `resting`
//! Idea:     normal and weights are frozen at the start of the step. The impulse acts on the two nearest points and is shared by the vertices
//!           around them with their weights, which sum to zero over both sides: momentum is kept exactly.
//! Twin:     pair.wgsl      Test: tests/algorithms/pair.rs

use super::friction::Friction;
use super::proximity::Proximity;
use crate::math::Vec3;

/// A contact of four vertices during one step. Impulses are per unit of inverse mass: lengths [m].
#[derive(Clone, Copy, Debug)]
pub struct PairContact {
    /// The vertices, whatever the numbers mean to the caller.
    pub vertices: [u32; 4],
    /// Nearest point of the first side minus that of the second, in parts of the vertices.
    pub weights: [f64; 4],
    /// From the second side to the first.
    pub normal: Vec3,
    /// How far apart they shall be at the end of the step [m].
    pub target: f64,
    /// Coulomb coefficients.
    pub friction: Friction,
    /// How fast they part after the step if they were pressed [m/s]: more than 0 where they bounce.
    pub bounce: f64,
    /// Difference of the nearest points at the start of the step [m].
    start: Vec3,
    /// Of the difference [1/kg].
    inverse_mass: f64,
    /// Sum of normal corrections so far, never negative [m].
    pub pressed: f64,
    /// Sum of tangential corrections so far [m].
    held: Vec3,
    /// Sum of speeds given to bounce so far, never negative [m/s].
    rebounded: f64,
}

/// Of the difference of two points between vertices that move by themselves, with these weights and inverse masses [1/kg].
pub fn inverse_mass(weights: [f64; 4], k: [f64; 4]) -> f64 {
    weights.iter().zip(k).map(|(w, k)| w * w * k).sum()
}

impl PairContact {
    /// From how near they are at the start of the step. What is nearer than `gap` is led apart by at most `recover` [m]; `inverse_mass` is that
    /// of the difference of both points (see `inverse_mass`). `None` where nothing can move.
    pub fn new(
        vertices: [u32; 4],
        near: &Proximity,
        gap: f64,
        recover: f64,
        friction: impl Into<Friction>,
        inverse_mass: f64,
    ) -> Option<Self> {
        (inverse_mass > 0.0).then_some(PairContact {
            vertices,
            weights: near.weights,
            normal: near.normal,
            target: gap.min(near.distance + recover),
            friction: friction.into(),
            bounce: 0.0,
            start: near.normal * near.distance,
            inverse_mass,
            pressed: 0.0,
            held: Vec3::zeros(),
            rebounded: 0.0,
        })
    }

    /// The change of difference that look-ahead positions still need [m]; each vertex takes part by `share`.
    #[inline]
    pub fn correct_position(&mut self, x: [Vec3; 4]) -> Vec3 {
        let difference = self.measure(x);
        let pressed = (self.pressed - (difference.dot(&self.normal) - self.target)).max(0.0);
        let push = pressed - self.pressed;
        self.pressed = pressed;
        let slip = difference - self.start;
        let slip = slip - self.normal * slip.dot(&self.normal);
        let held = self.friction.allow(self.held - slip, pressed);
        let hold = held - self.held;
        self.held = held;
        self.normal * push + hold
    }

    /// The change of relative velocity that takes away what leading them apart has left [m/s]; `v` are the velocities, `h` the step.
    pub fn calm(&self, v: [Vec3; 4], h: f64) -> Vec3 {
        let led = (self.target - self.start.dot(&self.normal)) / h;
        if self.pressed <= 0.0 || led.is_nan() || led <= 0.0 {
            return Vec3::zeros();
        }
        self.normal * -self.speed(v).clamp(0.0, led)
    }

    /// The change of relative velocity that still lacks for the bounce [m/s]. Its sum over all sweeps never pulls, so that neighbours that
    /// push the same vertices do not add up.
    pub fn rebound(&mut self, v: [Vec3; 4]) -> Vec3 {
        if self.pressed <= 0.0 || self.bounce <= 0.0 {
            return Vec3::zeros();
        }
        let rebounded = (self.rebounded + self.bounce - self.speed(v)).max(0.0);
        let change = rebounded - self.rebounded;
        self.rebounded = rebounded;
        self.normal * change
    }

    /// How fast they part, from the velocities of the vertices; negative where they come nearer [m/s].
    pub fn speed(&self, v: [Vec3; 4]) -> f64 {
        self.measure(v).dot(&self.normal)
    }

    /// How much of a change of difference the vertex with this inverse mass takes.
    #[inline]
    pub fn share(&self, corner: usize, k: f64) -> f64 {
        self.weights[corner] * k / self.inverse_mass
    }

    /// The difference of both points, of positions or velocities.
    #[inline]
    fn measure(&self, x: [Vec3; 4]) -> Vec3 {
        x[0] * self.weights[0] + x[1] * self.weights[1] + x[2] * self.weights[2] + x[3] * self.weights[3]
    }
}
