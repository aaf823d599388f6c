//! A scene into a job folder: simulate, store, make the caches.
//!
//! ```text
//! job ─► folder (may we write here?) ─► frame_loop ─► store, frames.jsonl ─► outputs (rest meshes, caches)
//!                                          └─► gates (worst figures), progress (only receives)
//! ```

pub mod colliders;
pub mod exit;
pub mod folder;
pub mod frame_loop;
pub mod gates;
pub mod heat;
pub mod job;
pub mod movie;
pub mod outputs;
pub mod progress;
pub mod render;

pub use exit::{Exit, Failure};
pub use job::{Job, Outcome, Summary};
pub use progress::Progress;
