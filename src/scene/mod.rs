//! The scene: as typed (`file`), checked (`validate`, `resolve`) and as the rest of the program sees it (`scene`).

pub mod problem;
#[allow(clippy::module_inception, reason = "the resolved scene is the room's main resident")]
pub mod scene;

pub use scene::*;

use problem::KeyPath;

/// Path of the n-th cloth in the scene file.
pub fn cloth_path(number: usize) -> KeyPath {
    KeyPath::default().key("cloth").index(number)
}

/// Path of the n-th collider in the scene file.
pub fn collider_path(number: usize) -> KeyPath {
    KeyPath::default().key("collider").index(number)
}
