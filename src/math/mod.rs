//! Small mathematics everything else stands on: vectors, key-frame curves, placements, sums that do not depend on
//! the thread count.

pub mod curve;
pub mod motion;
pub mod noise;
pub mod rows;
pub mod sparse_cholesky;
pub mod sums;

/// A point or vector in space.
pub type Vec3 = nalgebra::Vector3<f64>;
/// A 3 × 3 matrix.
pub type Mat3 = nalgebra::Matrix3<f64>;
