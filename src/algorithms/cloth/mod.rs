//! Inextensible cloth on triangle meshes.

pub mod air;
pub mod bending;
pub mod conforming_map;
pub mod distance;
pub mod nonconforming;
