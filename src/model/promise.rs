//! What a bake promises, in the order in which the promises outweigh each other: where two of them conflict and smaller steps do not help, the
//! lower one yields, and the frame says so.

use serde::{Deserialize, Serialize};

/// A promise that a frame may have to break. That numbers are finite and that the rest holds is never up for trade.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Promise {
    /// Nothing passes through anything.
    Crossing,
    /// No visible edge is longer than allowed.
    Stretch,
    /// No part of a soft body has more or less volume than allowed.
    Volume,
    /// Surfaces keep their distance.
    Thickness,
    /// What rests is held by friction.
    Friction,
}

impl Promise {
    /// Its name in `frames.jsonl` and in messages.
    pub fn name(self) -> &'static str {
        match self {
            Promise::Crossing => "crossing",
            Promise::Stretch => "stretch",
            Promise::Volume => "volume",
            Promise::Thickness => "thickness",
            Promise::Friction => "friction",
        }
    }
}

/// A promise that a body's frame has broken, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Which one.
    pub promise: Promise,
    /// The other body, if there is one: cloths first, then soft bodies, then colliders, in the order of the model.
    pub with: Option<usize>,
    /// Simulation vertices of the body, ascending.
    pub vertices: Vec<u32>,
}
