//! A soft body on the device, whatever fills it. See `cpu/soft_step.rs` for the order of a step.

use super::reduce::Control;
use super::work::Slab;
use crate::model::BodyState;

/// What holds a body together, on the device; the twin of `cpu::filling::Filling`. Each call adds dispatches to the device's list: none waits for
/// the device but `read`.
pub trait DeviceFilling {
    /// Prepare a frame: what follows depends on the state alone, which particles have been loaded from.
    fn begin_frame(&mut self, moving: &BodyState);
    /// Prepare a step of this length, which ends at this frame.
    fn begin_step(&mut self, h: f64, frame: f64);
    /// Damp velocities.
    fn damp(&mut self);
    /// Move look-ahead positions by elasticity, once.
    fn spring(&mut self);
    /// Prepare to keep volumes where particles touch something: not 0 in `touches`.
    fn heed_contacts(&mut self, touches: &Slab<u32>);
    /// Bring volumes nearer to what they must be and leave the largest relative error before in `control.worst`; nothing once `control.done`.
    fn sweep(&mut self, control: &Control);
    /// Take out of velocities what would change volumes, after the step.
    fn calm(&mut self);
    /// What stays of the deformation, after that.
    fn flow(&mut self);
    /// Bring what stays into the state, at a frame's end.
    fn read(&mut self, moving: &mut BodyState);
}
