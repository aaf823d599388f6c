//! Pictures of a frame, made by the processor alone: the same on every machine, with or without a screen.
//!
//! ```text
//! meshes, vertices, colours ─ surface ─► normals ┐
//! camera ────────────────────────────────────────┼─ raster ─► which triangle each sample sees ─ shade ─► picture ─► encode
//! ground ─ shadow, from above ───────────────────┘                                     font, sheet ──┘
//! ```
//!
//! Triangles are sorted into square tiles, and every tile is drawn by one thread from what is in it, in the order of the triangles. So the
//! bytes do not depend on how many threads there are. Nothing in here knows of jobs, files or solvers.

pub mod camera;
pub mod caption;
pub mod encode;
pub mod font;
pub mod glyphs;
pub mod ground;
pub mod look;
pub mod picture;
pub mod raster;
pub mod scene;
pub mod shade;
pub mod sheet;
pub mod surface;

/// A point or vector in space that is near enough to the eye to need few digits.
pub type Vec3f = nalgebra::Vector3<f32>;
