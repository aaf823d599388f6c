//! Kernels against their twins, and bakes on a device against bakes on the processor. They run on whatever adapter `KILN_TEST_ADAPTER` names
//! (Mesa's software Vulkan without it) and fail where there is none.
#![cfg(feature = "gpu")]
#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

#[path = "../support/mod.rs"]
mod support;

mod adapters;
mod air;
mod attachment;
mod bending;
mod cloth;
mod conforming_map;
mod contact;
mod distance;
mod elastic;
mod finding;
mod linear;
mod mesh_finding;
mod motion;
mod pack;
mod pairs;
mod parity;
mod particles;
mod reduce;
mod shapes;
mod soft;
mod tets;
mod threads;
mod work;

use kiln::math::Vec3;
use kiln::solver::device::DeviceChoice;
use kiln::solver::gpu::{self, Gpu, Limits};

/// The adapter of these tests.
pub fn adapter() -> DeviceChoice {
    DeviceChoice::Named(std::env::var("KILN_TEST_ADAPTER").unwrap_or_else(|_| "vulkan:llvmpipe".to_owned()))
}

/// A device, cut to these limits if there are any.
pub fn open(limits: Option<Limits>) -> Gpu {
    gpu::open(&adapter(), false, limits).unwrap_or_else(|error| panic!("{error:?}"))
}

/// Numbers between -1 and 1 that look random and are the same in every run.
pub fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// A random vector.
pub fn vector(next: &mut impl FnMut() -> f64) -> Vec3 {
    Vec3::new(next(), next(), next())
}
