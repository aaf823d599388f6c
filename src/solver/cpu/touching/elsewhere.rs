//! Contacts of triangles that are measured and pressed where the bodies are: on a device.

#![cfg_attr(not(feature = "gpu"), allow(dead_code, reason = "nobody but a device does so"))]

use super::super::body_step::Bodies;
use crate::algorithms::contact::friction::Friction;
use crate::algorithms::contact::proximity::Pairing;
use crate::math::Vec3;

/// Two features that may touch in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearPair {
    /// Vertex and triangle, or the ends of two edges, in the numbering of all surfaces.
    pub vertices: [u32; 4],
    /// Which of both.
    pub pairing: Pairing,
    /// Distance that they keep [m].
    pub gap: f64,
    /// Coulomb coefficients.
    pub friction: Friction,
}

/// What a step begins with. Vertices are those of all bodies, then of all colliders that are near.
pub struct PairStep<'a> {
    /// Where they are at the start and at the end of the step, as far as colliders go [m].
    pub from: &'a [Vec3],
    /// The same at the end.
    pub to: &'a [Vec3],
    /// Inverse masses of all [1/kg].
    pub k: &'a [f64],
    /// What may touch, in the order in which it is pressed.
    pub pairs: &'a [NearPair],
    /// Way by which what is too near is led apart at most [m].
    pub recover: f64,
    /// How long the step is [s].
    pub h: f64,
}

/// Somebody who measures and presses pairs.
pub trait PressElsewhere {
    /// Measure these pairs; false if that is more than it can take.
    fn begin_step(&mut self, step: &PairStep) -> bool;
    /// Correct the look-ahead positions by the pairs, once.
    fn press(&mut self);
    /// Bring all look-ahead positions to the bodies here, and for each pair a lower bound of its distance at the start of the step [m].
    fn fetch(&mut self, bodies: &mut Bodies, distances: &mut Vec<f64>);
    /// Which pairs were pressed.
    fn pressed(&mut self) -> Vec<bool>;
    /// After the step, take away the speed at which features were led apart.
    fn calm(&mut self);
}
