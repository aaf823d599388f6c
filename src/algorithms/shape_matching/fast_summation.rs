//! Sums over overlapping regions of a mesh, from sums along paths.
//!
//! Based on: [Bender14 §4.4.2.2] (schnelle Summation, 4.18)
//! Idea:     the region of a particle is all that is within ω edges of it. Paths cut it in about 2 ω + 1 stretches; the sum over a stretch is a
//!           difference of two running sums along its path. Particles are numbered along the paths, so that these lie side by side in memory.
//!           What holds a particle is what the particle holds, so the same stretches average over all regions that hold it.
//! Test:     tests/algorithms/fast_summation.rs

use std::ops::Range;

use super::paths::Paths;
use crate::math::rows::Rows;

/// The regions of particles that are numbered along paths.
#[derive(Clone, Debug, PartialEq)]
pub struct Regions {
    /// Where the rows of each path begin in running sums, and the end of the last one: one row before its first particle, and one for each.
    row_starts: Vec<u32>,
    /// For each region its stretches, as rows of running sums: the sum is that of the second row less that of the first.
    stretches: Rows<[u32; 2]>,
    /// How many particles each holds.
    counts: Vec<u32>,
}

impl Regions {
    /// All within `omega` edges. `neighbours` are in the numbering along the paths.
    pub fn build(paths: &Paths, neighbours: &Rows<u32>, omega: u32) -> Self {
        let mut path_of = vec![0_u32; paths.order.len()];
        for (path, range) in paths.starts.windows(2).enumerate() {
            path_of[range[0] as usize..range[1] as usize].fill(path as u32);
        }
        let mut reached = vec![u32::MAX; paths.order.len()];
        let mut counts = Vec::with_capacity(paths.order.len());
        let stretches = (0..paths.order.len() as u32).map(|centre| {
            reached[centre as usize] = centre;
            let mut members = vec![centre];
            let mut outermost = 0..1;
            for _ in 0..omega {
                for at in outermost.clone() {
                    for &near in neighbours.row(members[at] as usize) {
                        if reached[near as usize] != centre {
                            reached[near as usize] = centre;
                            members.push(near);
                        }
                    }
                }
                outermost = outermost.end..members.len();
            }
            members.sort_unstable();
            counts.push(members.len() as u32);
            let joins = |a: &u32, b: &u32| b - a == 1 && path_of[*a as usize] == path_of[*b as usize];
            let stretch = |run: &[u32]| {
                let path = path_of[run[0] as usize];
                [run[0] + path, run[run.len() - 1] + path + 1]
            };
            members.chunk_by(joins).map(stretch).collect::<Vec<_>>()
        });
        let stretches = stretches.collect();
        let row_starts = paths.starts.iter().enumerate().map(|(path, start)| start + path as u32).collect();
        Regions { row_starts, stretches, counts }
    }

    /// How many regions, and particles, there are.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// How many particles a region holds, and how many regions hold its particle.
    #[inline(always)]
    pub fn count(&self, region: usize) -> u32 {
        self.counts[region]
    }

    /// How many paths there are.
    pub fn path_count(&self) -> usize {
        self.row_starts.len() - 1
    }

    /// The particles of some paths.
    pub fn particles(&self, paths: Range<usize>) -> Range<usize> {
        let Range { start, end } = self.rows(paths.clone());
        start - paths.start..end - paths.end
    }

    /// The rows of some paths in running sums.
    pub fn rows(&self, paths: Range<usize>) -> Range<usize> {
        self.row_starts[paths.start] as usize..self.row_starts[paths.end] as usize
    }

    /// The mean number of stretches of a region.
    pub fn mean_stretches(&self) -> f64 {
        self.stretches.iter().map(<[_]>::len).sum::<usize>() as f64 / self.len().max(1) as f64
    }

    /// The stretches of a region, as particles.
    pub fn stretches(&self, region: usize) -> impl Iterator<Item = Range<usize>> + '_ {
        self.stretches.row(region).iter().map(|&[from, to]| {
            let path = self.row_starts.partition_point(|&start| start <= from) - 1;
            from as usize - path..to as usize - path
        })
    }

    /// The particles of a region.
    pub fn members(&self, region: usize) -> impl Iterator<Item = usize> + '_ {
        self.stretches(region).flatten()
    }

    /// The sum over a region, from running sums.
    #[inline(always)]
    pub fn sum<const N: usize>(&self, running: &[[f64; N]], region: usize) -> [f64; N] {
        let mut sum = [0.0; N];
        for &[from, to] in self.stretches.row(region) {
            let (from, to) = (&running[from as usize], &running[to as usize]);
            for n in 0..N {
                sum[n] += to[n] - from[n];
            }
        }
        sum
    }

    /// The sums over regions that follow each other. What comes after is kept apart from these loops by the memory between: compiled in one, the
    /// order in which it takes single numbers breaks the vectors here up.
    #[inline(always)]
    pub fn sums<const N: usize>(&self, running: &[[f64; N]], first: usize, sums: &mut [[f64; N]]) {
        for (at, sum) in sums.iter_mut().enumerate() {
            *sum = self.sum(running, first + at);
        }
    }
}

/// Running sums along one path: `running` are its rows, `value` is asked for each of its particles.
#[inline(always)]
pub fn run<const N: usize>(running: &mut [[f64; N]], mut value: impl FnMut(usize) -> [f64; N]) {
    run_parts(running, 1, |at, row| row[0] = value(at));
}

/// The same where `values` fills in some rows that follow each other, `most` at the most, and gets to know the first one's particle.
#[inline(always)]
pub fn run_parts<const N: usize>(
    running: &mut [[f64; N]],
    most: usize,
    mut values: impl FnMut(usize, &mut [[f64; N]]),
) {
    let mut sum = [0.0; N];
    let Some((zero, rows)) = running.split_first_mut() else { return };
    *zero = sum;
    for (part, rows) in rows.chunks_mut(most).enumerate() {
        values(part * most, rows);
        for row in rows {
            for n in 0..N {
                sum[n] += row[n];
            }
            *row = sum;
        }
    }
}
