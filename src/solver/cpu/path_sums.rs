//! Sums over the regions of a surface, shared out to threads and compiled for the widest vectors there are.
//!
//! Threads take whole paths, so that no result depends on their number. Vectors do not add in another order, so the kind of processor makes no
//! difference either.

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::{PARALLEL_PARTICLES, is_shared_out};
use crate::algorithms::shape_matching::fast_summation::Regions;
use crate::math::polar::LANES;

/// Run a loop that is compiled for the widest vectors of this processor. Closures must be `#[inline(always)]`, and so must be all that they call:
/// what is not inlined is compiled for the narrowest. (`Arch::dispatch` alone does not inline any closure.)
#[inline(always)]
pub fn widest<R>(arch: Arch, f: impl FnMut() -> R) -> R {
    struct Widest<F>(F);
    impl<R, F: FnMut() -> R> WithSimd for Widest<F> {
        type Output = R;
        #[inline(always)]
        fn with_simd<S: Simd>(mut self, _: S) -> R {
            (self.0)()
        }
    }
    arch.dispatch(Widest(f))
}

/// Call `f` for every path with its rows of running sums and its particles, in parallel where there are many.
pub fn over_paths<const N: usize, T: Send>(
    regions: &Regions,
    rows: &mut [[f64; N]],
    particles: &mut [T],
    f: &(impl Fn(usize, &mut [[f64; N]], &mut [T]) + Sync),
) {
    let least = if is_shared_out(particles.len()) { PARALLEL_PARTICLES / 4 } else { usize::MAX };
    share_out(regions, 0..regions.path_count(), rows, particles, f, least);
}

/// Call `f` for every particle with the sum over the regions that hold it, from running sums, in parallel where there are many.
pub fn for_each_region<const N: usize, T: Send>(
    regions: &Regions,
    arch: Arch,
    running: &[[f64; N]],
    particles: &mut [T],
    f: impl Fn(usize, &[f64; N], &mut T) + Sync,
) {
    for_each_part(particles, |first, part| {
        let mut sums = [[0.0; N]; LANES];
        widest(
            arch,
            #[inline(always)]
            || {
                for (lanes, particles) in part.chunks_mut(LANES).enumerate() {
                    let first = first + lanes * LANES;
                    regions.sums(running, first, &mut sums[..particles.len()]);
                    particles
                        .iter_mut()
                        .zip(&sums)
                        .enumerate()
                        .for_each(|(l, (particle, sum))| f(first + l, sum, particle));
                }
            },
        );
    });
}

fn share_out<const N: usize, T: Send>(
    regions: &Regions,
    paths: Range<usize>,
    rows: &mut [[f64; N]],
    particles: &mut [T],
    f: &(impl Fn(usize, &mut [[f64; N]], &mut [T]) + Sync),
    least: usize,
) {
    if paths.len() > 1 && particles.len() > least {
        let middle = paths.start + paths.len() / 2;
        let [left, right] = [paths.start..middle, middle..paths.end];
        let (left_rows, right_rows) = rows.split_at_mut(regions.rows(left.clone()).len());
        let (left_particles, right_particles) = particles.split_at_mut(regions.particles(left.clone()).len());
        rayon::join(
            || share_out(regions, left, left_rows, left_particles, f, least),
            || share_out(regions, right, right_rows, right_particles, f, least),
        );
        return;
    }
    let (mut rows, mut particles) = (rows, particles);
    for path in paths {
        let (own_rows, other_rows) = rows.split_at_mut(regions.rows(path..path + 1).len());
        let (own, others) = particles.split_at_mut(regions.particles(path..path + 1).len());
        f(path, own_rows, own);
        (rows, particles) = (other_rows, others);
    }
}

/// Call `f` for parts of the values and the number of each part's first one, in parallel where there are many.
fn for_each_part<T: Send>(values: &mut [T], f: impl Fn(usize, &mut [T]) + Sync) {
    if is_shared_out(values.len()) {
        let parts = values.par_chunks_mut(PARALLEL_PARTICLES / 4).enumerate();
        parts.for_each(|(part, values)| f(part * (PARALLEL_PARTICLES / 4), values));
    } else {
        f(0, values);
    }
}
