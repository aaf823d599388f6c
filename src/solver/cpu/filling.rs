//! What a soft body asks of whatever holds it together.

use crate::math::Vec3;
use crate::model::BodyState;

/// What holds a body together, in the order of a step.
pub trait Filling {
    /// Prepare a frame: what follows depends on the state alone.
    fn begin_frame(&mut self, moving: &BodyState);
    /// Prepare a step of this length, which ends at this frame.
    fn begin_step(&mut self, h: f64, frame: f64);
    /// Damp velocities.
    fn damp(&mut self, moving: &mut BodyState);
    /// Move look-ahead positions by elasticity, once.
    fn spring(&mut self, moving: &BodyState, ahead: &mut [Vec3]);
    /// Prepare to keep volumes where these particles touch something.
    fn heed_contacts(&mut self, ahead: &[Vec3], touches: &[bool]);
    /// Whether keeping volumes leaves what touches where it is.
    fn moves_only_what_is_free(&self) -> bool;
    /// Bring volumes nearer to what they must be; the largest relative error before.
    fn sweep(&mut self, ahead: &mut [Vec3]) -> f64;
    /// The fewest and the most sweeps in a step; what is left then is for smaller steps.
    fn sweeps(&self) -> [u32; 2];
    /// Part of the tolerance at which a step has done enough.
    fn enough(&self) -> f64;
    /// Take out of velocities what would change volumes.
    fn calm(&mut self, x: &[Vec3], v: &mut [Vec3]);
    /// What stays of the deformation.
    fn flow(&self, moving: &mut BodyState);
    /// Largest relative error of what is promised.
    fn worst_error(&self, x: &[Vec3]) -> f64;
    /// Signed relative error of the whole volume.
    fn whole_error(&self, x: &[Vec3]) -> f64;
    /// Mark the particles whose promise is broken.
    fn mark_broken(&self, x: &[Vec3], is_broken: &mut [bool]);
}
