//! Inextensible cloth on triangle and quad meshes.

pub mod air;
pub mod attachment;
pub mod bending;
pub mod conforming_map;
pub mod distance;
pub mod elastic;
pub mod nonconforming;
pub mod strips;
pub mod threads;
