//! Contact between cloth and colliders.

pub mod continuous;
pub mod friction;
pub mod pair;
pub mod proximity;
pub mod resting;
pub mod restitution;
pub mod signed_distance;
pub mod untangle;
