//! Constraints as linear systems.

pub mod conjugate_gradient;
pub mod linear_system;
