//! Sweeps over independent groups, in parallel where there are enough constraints.
//!
//! All threads walk through the groups together and wait for each other after each one: waking a thread costs more than a group
//! does, so it is done once a sweep.
//!
//! The only unsafe code of the program. It is sound because `IndependentPairs`, `IndependentSets` and `Strips` cannot be made with two members of a group
//! that share a particle, or with a number that is out of range.
#![allow(unsafe_code, reason = "disjoint writes that the compiler cannot see; proven by IndependentPairs and Strips")]

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::algorithms::cloth::strips::{Link, Strips};
use crate::algorithms::parallel::independent_groups::{IndependentPairs, IndependentSets};
use crate::math::Vec3;

/// Pairs from which on more threads pay (waking one takes some ten microseconds, a pair some nanoseconds).
const PARALLEL_PAIRS: usize = 16_384;
/// Looks at the others before a waiting thread lets the system run something else.
const SPINS: u32 = 2000;

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

    /// # Safety
    /// The number is in range, and no other thread has it at the same time.
    unsafe fn one<'a>(self, particle: u32) -> &'a mut Vec3 {
        // SAFETY: the caller's promise.
        unsafe { &mut *self.0.add(particle as usize) }
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
        // SAFETY: numbers are in range and pairs of a group are disjoint by the construction of IndependentPairs; no thread starts
        // a group before all have finished the one before; `values` is borrowed mutably for the whole sweep.
        let (a, b) = unsafe { shared.pair(pair) };
        kernel(row, pair, a, b)
    };
    if list.len() < PARALLEL_PAIRS || rayon::current_num_threads() == 1 {
        return list.iter().enumerate().map(|(row, _)| run(row)).fold(0.0, larger);
    }
    in_turn(pairs.groups(), run)
}

/// Apply `kernel` to every path, group after group; `kernel` gets the values along the path and may change them. Returns the largest
/// result.
pub fn sweep_paths(
    strips: &Strips,
    values: &mut [Vec3],
    kernel: impl Fn(&[Link], &mut PathScratch) -> f64 + Sync,
) -> f64 {
    assert_eq!(values.len(), strips.particle_count(), "the paths belong to other particles");
    let shared = Shared(values.as_mut_ptr());
    let run = |path: usize| {
        let links = strips.path(path);
        PATH_SCRATCH.with_borrow_mut(|scratch| {
            // SAFETY: as above, with paths for pairs, by the construction of Strips; no particle is twice on a path.
            let place = |particle: u32| unsafe { shared.one(particle) };
            let particles =
                || links.first().map(|link| link.ends[0]).into_iter().chain(links.iter().map(|l| l.ends[1]));
            scratch.values.clear();
            scratch.values.extend(particles().map(|p| *place(p)));
            let result = kernel(links, scratch);
            particles().zip(&scratch.values).for_each(|(p, value)| *place(p) = *value);
            result
        })
    };
    if values.len() < PARALLEL_PAIRS / 4 || rayon::current_num_threads() == 1 {
        return strips.groups().flatten().map(run).fold(0.0, larger);
    }
    in_turn(strips.groups(), run)
}

/// Sets from which on more threads pay: one takes some hundred nanoseconds.
const PARALLEL_SETS: usize = 1024;

/// Apply `kernel` to every set, group after group; `kernel` gets the set's place, and the values of its particles to change. Returns the largest
/// result.
pub fn sweep_sets(
    sets: &IndependentSets,
    values: &mut [Vec3],
    kernel: impl Fn(usize, &mut SetScratch) -> f64 + Sync,
) -> f64 {
    assert_eq!(values.len(), sets.particle_count(), "the sets belong to other particles");
    let shared = Shared(values.as_mut_ptr());
    let run_with = |set: usize, scratch: &mut SetScratch| {
        let particles = sets.set(set);
        // SAFETY: as above, with sets for pairs, by the construction of IndependentSets; no particle is twice in a set.
        let place = |particle: u32| unsafe { shared.one(particle) };
        scratch.values.clear();
        scratch.values.extend(particles.iter().map(|&p| *place(p)));
        scratch.gradient.resize(particles.len(), Vec3::zeros());
        let result = kernel(set, scratch);
        particles.iter().zip(&scratch.values).for_each(|(&p, value)| *place(p) = *value);
        result
    };
    if sets.len() < PARALLEL_SETS || rayon::current_num_threads() == 1 {
        let mut scratch = SetScratch::default();
        return sets.groups().flatten().map(|set| run_with(set, &mut scratch)).fold(0.0, larger);
    }
    in_turn(sets.groups(), |set| SET_SCRATCH.with_borrow_mut(|scratch| run_with(set, scratch)))
}

/// What the kernel of a set works with.
#[derive(Debug, Default)]
pub struct SetScratch {
    /// The values of the set's particles.
    pub values: Vec<Vec3>,
    /// As long as these.
    pub gradient: Vec<Vec3>,
}

thread_local! {
    static SET_SCRATCH: std::cell::RefCell<SetScratch> = std::cell::RefCell::default();
}

/// What the kernel of a path works with.
#[derive(Debug, Default)]
pub struct PathScratch {
    /// The values of the path's particles.
    pub values: Vec<Vec3>,
    /// Directions of its links.
    pub directions: Vec<Vec3>,
    /// The system of its links.
    pub diagonal: Vec<f64>,
    /// Beside the diagonal.
    pub beside: Vec<f64>,
    /// Right-hand side, then multipliers.
    pub right: Vec<f64>,
}

thread_local! {
    static PATH_SCRATCH: std::cell::RefCell<PathScratch> = std::cell::RefCell::default();
}

/// Call `run` for all numbers of one group, shared out to threads, then of the next.
fn in_turn(groups: impl Iterator<Item = Range<usize>>, run: impl Fn(usize) -> f64 + Sync) -> f64 {
    let groups: Vec<Range<usize>> = groups.collect();
    let (arrived, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let largest_of_threads = rayon::broadcast(|thread| {
        let _alarm = Alarm(&failed);
        let (me, all) = (thread.index(), thread.num_threads());
        let mut largest = 0.0;
        for (number, group) in groups.iter().enumerate() {
            let share = |part: usize| group.start + group.len() * part / all;
            largest = (share(me)..share(me + 1)).map(&run).fold(largest, larger);
            // Release what this thread wrote and see what the others did before the next group reads it.
            arrived.fetch_add(1, Ordering::AcqRel);
            let mut spins = 0;
            while arrived.load(Ordering::Acquire) < all * (number + 1) {
                assert!(!failed.load(Ordering::Relaxed), "another thread of the sweep failed");
                spins += 1;
                if spins < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
            }
        }
        largest
    });
    largest_of_threads.into_iter().fold(0.0, larger)
}

/// Tells the waiting threads when this one panics.
struct Alarm<'a>(&'a AtomicBool);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
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
