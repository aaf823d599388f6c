//! Sweeps over independent groups, in parallel where a group is large enough.
//!
//! The only unsafe code of the program. It is sound because `IndependentPairs` cannot be made with two pairs of a group that
//! share a particle, or with a number that is out of range.
#![allow(unsafe_code, reason = "disjoint writes that the compiler cannot see; proven by IndependentPairs")]

use rayon::prelude::*;

use crate::algorithms::parallel::independent_groups::IndependentPairs;
use crate::math::Vec3;

/// Pairs in a group from which on a second thread pays (a hand-over costs some microseconds, a pair some nanoseconds).
const PARALLEL_PAIRS: usize = 4096;

/// A pointer that threads may share because they write to different places.
#[derive(Clone, Copy)]
struct Shared(*mut Vec3);

// SAFETY: only used below, for places that no two threads share.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    /// # Safety
    /// Both numbers are in range and different, and no other thread has either at the same time.
    unsafe fn pair<'a>(self, [a, b]: [u32; 2]) -> (&'a mut Vec3, &'a mut Vec3) {
        // SAFETY: the caller's promise.
        unsafe { (&mut *self.0.add(a as usize), &mut *self.0.add(b as usize)) }
    }
}

/// Apply `kernel` to every pair, group after group; `kernel` gets the pair's place in the list, its particles and their values.
/// Returns the largest result (a result that is not a number counts as infinite).
pub fn sweep(
    pairs: &IndependentPairs,
    values: &mut [Vec3],
    kernel: impl Fn(usize, [u32; 2], &mut Vec3, &mut Vec3) -> f64 + Sync,
) -> f64 {
    assert_eq!(values.len(), pairs.particle_count(), "the pairs belong to other particles");
    let shared = Shared(values.as_mut_ptr());
    let list = pairs.pairs();
    let run = |row: usize| {
        let pair = list[row];
        // SAFETY: numbers are in range and pairs of a group are disjoint by the construction of IndependentPairs; groups run one
        // after the other; `values` is borrowed mutably for the whole sweep.
        let (a, b) = unsafe { shared.pair(pair) };
        kernel(row, pair, a, b)
    };
    pairs.groups().fold(0.0, |largest, group| {
        let of_group = if group.len() >= PARALLEL_PAIRS && rayon::current_num_threads() > 1 {
            group.into_par_iter().with_min_len(PARALLEL_PAIRS / 4).map(run).reduce(|| 0.0, larger)
        } else {
            group.map(run).fold(0.0, larger)
        };
        larger(largest, of_group)
    })
}

/// The larger one; infinite if either is not a number, so that nothing wrong is overlooked.
#[inline(always)]
pub fn larger(a: f64, b: f64) -> f64 {
    if a >= b {
        a
    } else if b >= a {
        b
    } else {
        f64::INFINITY
    }
}
