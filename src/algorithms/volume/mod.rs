//! Bodies with an inside: the volume that any triangles take up, tetrahedra that fill it and keep it, and meshes carried by them.

pub mod edge_spring;
pub mod embedding;
pub mod pseudo_volume;
pub mod tet_lattice;
pub mod tet_volume;
