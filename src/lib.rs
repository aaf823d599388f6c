//! Kiln bakes cloth animation offline.

pub mod algorithms;
pub mod cache;
pub mod import;
pub mod math;
pub mod mesh;
pub mod model;
pub mod scene;
pub mod solver;
