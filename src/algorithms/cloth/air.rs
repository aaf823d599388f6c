//! Drag and wind on a triangle.
//!
//! Based on: the quadratic drag law of a flat plate, `F = c/2 ρ A |u·n| (u·n) n`, u the air's velocity against the triangle
//! Idea:     the three midpoints of a triangle share the impulse; the answer to a step is implicit in the triangle's own speed,
//!           so that drag slows a light cloth at any step and never turns it round.
//! Test:     tests/algorithms/air.rs

use crate::math::Vec3;

/// Density of air at 20 °C and sea level [kg/m³].
pub const AIR_DENSITY: f64 = 1.2;

/// Change of velocity of a triangle in air. `area_vector` is the cross product of two edges (twice the area long), `relative_air`
/// the air's velocity minus the triangle's, `density` the cloth's [kg/m²].
#[inline]
pub fn velocity_change(area_vector: Vec3, relative_air: Vec3, drag: f64, density: f64, h: f64) -> Vec3 {
    let length_squared = area_vector.norm_squared();
    if length_squared <= 0.0 {
        return Vec3::zeros();
    }
    let normal = area_vector / length_squared.sqrt();
    let speed = relative_air.dot(&normal);
    let rate = 0.5 * drag * AIR_DENSITY / density * speed.abs();
    normal * (speed * h * rate / (1.0 + h * rate))
}
