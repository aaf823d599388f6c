//! The scene: as typed (`file`), checked (`validate`, `resolve`) and as the rest of the program sees it (`scene`).
//!
//! ```text
//! text, --set ─ document ─► tree ─ validate ─ deserialize ─► SceneFile ─ resolve, objects, contacts ─► Scene
//! ```

mod contacts;
mod deserialize;
pub mod diagnostics;
pub mod document;
pub mod fabric;
pub mod file;
pub mod frames;
mod input_file;
mod made_meshes;
mod objects;
pub mod pattern;
pub mod problem;
mod read;
mod resolve;
#[allow(clippy::module_inception, reason = "the resolved scene is the room's main resident")]
pub mod scene;
mod soft_bodies;
mod stand_in;
pub mod suggest;
mod tree;
mod validate;

pub use objects::render_name;
pub use read::{Failure, Resolved, read, read_text, schema};
pub use scene::*;
