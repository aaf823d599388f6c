//! What bounces and what rests.
//!
//! Based on: [Bender14 §3.4] (Kollision und bleibender Kontakt)
//! Test:     tests/algorithms/{resting,pair}.rs

/// Surfaces count as at least this thick: below the speed of a fall through it nothing bounces [m].
pub const LEAST_THICKNESS: f64 = 1e-3;

/// The normal speed after a contact of two surfaces that meet at `normal_speed`, negative where they come nearer. What a fall through
/// their thickness could have made is a contact that lasts: 0 [m/s].
pub fn outgoing_speed(normal_speed: f64, restitution: f64, gravity: f64, thickness: f64) -> f64 {
    let resting = (2.0 * gravity * thickness.max(LEAST_THICKNESS)).sqrt();
    if normal_speed < -resting { -restitution * normal_speed } else { 0.0 }
}
