//! Soft bodies that are a closed surface: no particles inside, shapes matched region by region.

pub mod damping;
pub mod fast_summation;
pub mod matching;
pub mod paths;
pub mod surface_volume;
