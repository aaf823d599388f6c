//! Small mathematics everything else stands on: vectors, key-frame curves, placements, sums that do not depend on
//! the thread count.

pub mod affine;
pub mod curve;
pub mod motion;
pub mod noise;
pub mod polar;
pub mod rows;
pub mod sparse_cholesky;
pub mod sums;

/// A point or vector in space.
pub type Vec3 = nalgebra::Vector3<f64>;
/// A point or vector in a plane.
pub type Vec2 = nalgebra::Vector2<f64>;
/// A 3 × 3 matrix.
pub type Mat3 = nalgebra::Matrix3<f64>;

/// The largest length among some vectors; 0 without any. Vectors that are not numbers do not count.
pub fn largest_norm(vectors: &[Vec3]) -> f64 {
    // A plain comparison compiles to a few instructions, f64::max to many.
    let larger = |largest: f64, v: &Vec3| if v.norm_squared() > largest { v.norm_squared() } else { largest };
    vectors.iter().fold(0.0, larger).sqrt()
}
