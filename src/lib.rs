//! Kiln bakes cloth animation offline.

pub mod math;
pub mod mesh;
pub mod scene;
