//! Contact between cloth and colliders.

pub mod resting;
pub mod signed_distance;
