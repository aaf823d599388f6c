//! Which solver suits a cloth: from counts and tolerance alone, never from the clock.
//!
//! The constants were fitted to `cargo bench --bench cloth -- auto thesis` (hanging sheets of 10² to 120² vertices). Attachments carry the load of
//! pinned cloth, so that sweeps over single constraints need few steps; on edges that can go slack nothing beats them. Threads that hold
//! both ways are solved exactly by strips, which costs about twice as much a step and needs fewer steps the tighter the tolerance is. The
//! linear solvers pay where neither gets there: they are never chosen, but can be typed.

use crate::scene::{ClothKind, SolverChoice};

/// Time of strips over time of single constraints, on a grid whose farthest vertex is 30 edges from the pins, at 1 %.
const STRIPS_AT_30: f64 = 1.3;
/// How that grows with the way to the farthest vertex, and with the tolerance.
const BY_REACH: f64 = 0.5;
const BY_TOLERANCE: f64 = 0.35;

/// The solver and why; `Auto` is decided here.
pub fn choose(
    asked: SolverChoice,
    kind: ClothKind,
    is_bilateral: bool,
    reach: u32,
    tolerance: f64,
) -> (SolverChoice, String) {
    if asked != SolverChoice::Auto {
        return (asked, "as typed".to_owned());
    }
    if kind != ClothKind::Grid || !is_bilateral {
        let reason = if is_bilateral { "no strips run through midpoints" } else { "its edges can go slack" };
        return (SolverChoice::Iterative, reason.to_owned());
    }
    let ratio = STRIPS_AT_30 * (f64::from(reach) / 30.0).powf(BY_REACH) * (tolerance / 0.01).powf(BY_TOLERANCE);
    let choice = if ratio < 1.0 { SolverChoice::Strips } else { SolverChoice::Iterative };
    (choice, format!("strips would take about {ratio:.1} times as long as single threads, {reach} edges from the pins"))
}
