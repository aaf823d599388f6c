//! Where pins want things to be during a step.

use super::StepWorld;
use crate::math::Vec3;
use crate::math::motion::Pose;
use crate::model::build_pins::{Lead, PinnedVertex, Pins};

/// Where pinned vertices are at the start and end of a step.
pub fn pin_targets<'a>(
    all: &Pins,
    pins: impl Iterator<Item = &'a PinnedVertex>,
    world: &StepWorld,
) -> impl Iterator<Item = [Vec3; 2]> {
    let poses: Vec<[Pose; 2]> = all.motions.iter().map(|motion| world.frames.map(|frame| motion.at(frame))).collect();
    pins.map(move |pin| {
        let poses = match &pin.lead {
            Lead::Motion(motion) => poses[*motion as usize],
            Lead::Surface(anchor) => world.colliders[anchor.collider as usize].poses(anchor),
        };
        poses.map(|pose| pose.apply(pin.rest))
    })
}
