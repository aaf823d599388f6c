//! Everything Kiln writes into a job folder, and how it is read again.
//!
//! ```text
//! frames ─► store (bake.kc) ─► convert ─► pc2 | mdd | obj | glb
//!           manifest (manifest.json), frames_log (frames.jsonl), lock (.lock)
//! ```
//!
//! The simulation only writes the store; every other cache is made from it and can be made again. Nothing under a
//! final name is ever half a file (`atomic`), and no reader believes a count before it was held against the file's
//! length.

pub mod atomic;
mod bytes;
pub mod convert;
pub mod error;
pub mod frames_log;
pub mod glb;
pub mod lock;
pub mod manifest;
pub mod mdd;
pub mod names;
pub mod obj;
pub mod pc2;
pub mod store;
pub mod tets;
pub mod writers;

pub use error::{CacheError, Failure, Result};
