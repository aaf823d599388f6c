//! No particle is farther from a pin than the cloth between them is long.
//!
//! Based on: Kim, Chentanez and Müller 2012 (long range attachments); distances along the surface: `mesh/geodesic`
//! Idea:     what inextensible cloth cannot do is known in advance for every particle and pin. One look at each particle keeps the
//!           weight of all cloth below a pin from pulling at the first edges, which is what sweeps over edges are slow at.
//! Deviates: an inequality that the distances imply, so it takes nothing away from what the cloth may do; distances are exact
//!           on flat cloth where Dijkstra's would be up to 8 % too long.
//! Test:     tests/algorithms/attachment.rs

use crate::math::Vec3;

/// A particle and the longest way from a pin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attachment {
    /// The particle.
    pub particle: u32,
    /// The pinned vertex, into the model's pins.
    pub pin: u32,
    /// Square of the way [m²].
    pub longest_squared: f64,
}

impl Attachment {
    /// Bring the particle to where it is allowed to be, by `most` at most [m].
    #[inline(always)]
    pub fn correct(&self, pin: Vec3, particle: &mut Vec3, most: f64) {
        let d = *particle - pin;
        let squared = d.norm_squared();
        if squared > self.longest_squared {
            let length = squared.sqrt();
            *particle -= d * ((length - self.longest_squared.sqrt()).min(most) / length);
        }
    }
}
