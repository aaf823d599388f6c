//! Meshes: as the artist made them, and as the simulation sees them.

pub mod animated;
pub mod bvh;
pub mod closest;
pub mod generate;
pub mod geodesic;
pub mod keys;
pub mod measures;
pub mod normals;
pub mod rig;
pub mod simulation_mesh;
pub mod surface;
pub mod tets;
pub mod topology;
pub mod triangulate;
