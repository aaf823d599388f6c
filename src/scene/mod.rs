//! The scene: as typed (`file`), checked (`validate`, `resolve`) and as the rest of the program sees it (`scene`).

pub mod problem;
#[allow(clippy::module_inception, reason = "the resolved scene is the room's main resident")]
pub mod scene;

pub use scene::*;
