//! Whole small bakes against known results.
#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

#[path = "../support/mod.rs"]
mod support;

mod colliders;
mod energy;
mod free_fall;
mod friction;
mod hanging;
mod pins;
mod threads;
mod wind;
