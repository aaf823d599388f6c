//! Meshes: as the artist made them, and as the simulation sees them.

pub mod surface;
