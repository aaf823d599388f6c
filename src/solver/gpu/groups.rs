//! Contacts in groups that can be gone over at once, because none in a group moves what another one looks at.
//!
//! Large groups have a dispatch of their own; small ones are one workgroup's, which goes through them in turn, as many in a run as a device
//! finishes.

use std::ops::Range;

use super::work::{Dispatch, Gpu, WORKGROUP};

/// Groups with no more contacts than this are small.
pub const SMALL: usize = 4 * WORKGROUP as usize;
/// Most dispatches for large groups; what does not fit into these counts as small.
const MOST_DISPATCHES: usize = 32;
/// Most turns of loops, inner and outer ones together, that an invocation may take: after 65535 Mesa's software Vulkan ends them all without a
/// word.
const MOST_TURNS: usize = 60_000;

/// The contacts in the order of their groups, and where each group begins, with the end of the last one. `moved` are the particles that a contact
/// moves, `point` is the same for contacts of one point. All contacts that share a particle keep their order, if it is said so; if not only
/// those of one point do, which stand together, and there are as few groups as will do.
pub fn arrange<I: Iterator<Item = usize>>(
    count: usize,
    particle_count: usize,
    keeps_order: bool,
    point: impl Fn(u32) -> u32,
    moved: impl Fn(u32) -> I,
) -> (Vec<u32>, Vec<usize>) {
    let mut groups: Vec<Vec<u32>> = Vec::new();
    let mut waiting: Vec<u32> = (0..count as u32).collect();
    let mut taken = vec![0_u64; particle_count];
    while !waiting.is_empty() {
        let first = groups.len();
        taken.fill(0);
        let mut before = None;
        waiting.retain(|&number| {
            let point = point(number);
            let earlier = match before {
                Some((same, group)) if same == point => u64::MAX >> (u64::BITS - 1 - group),
                _ => 0,
            };
            let used = moved(number).fold(earlier, |used, particle| used | taken[particle]);
            let group = if keeps_order { u64::BITS - used.leading_zeros() } else { used.trailing_ones() };
            before = Some((point, group.min(u64::BITS - 1)));
            if group == u64::BITS {
                // In the next turn, and what shares a particle with it not before that.
                moved(number).for_each(|particle| taken[particle] = u64::MAX);
                return true;
            }
            moved(number).for_each(|particle| taken[particle] |= 1 << group);
            let group = first + group as usize;
            groups.resize_with(groups.len().max(group + 1), Vec::new);
            groups[group].push(number);
            false
        });
    }
    let mut starts = vec![0];
    starts.extend(groups.iter().scan(0, |end, group| {
        *end += group.len();
        Some(*end)
    }));
    (groups.into_iter().flatten().collect(), starts)
}

/// Which groups have a dispatch of their own, and which go in runs.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    /// Ranges of large groups.
    large: Vec<Range<usize>>,
    /// How many runs there are of small ones.
    count: usize,
    /// Where the groups of each run begin in this list, with the end of the last run; then where each group begins, with the end of the last one.
    pub list: Vec<u32>,
}

impl Runs {
    /// From where groups begin, with the end of the last one. `turns` says how many turns of loops an invocation takes for one.
    pub fn new(starts: &[usize], turns: impl Fn(Range<usize>) -> usize) -> Self {
        let ranges: Vec<Range<usize>> = starts.windows(2).map(|ends| ends[0]..ends[1]).collect();
        let large = ranges.iter().rposition(|range| range.len() > SMALL).map_or(0, |last| last + 1);
        let large = large.min(MOST_DISPATCHES);
        let mut runs = Vec::new();
        let mut taken = MOST_TURNS;
        for (number, range) in ranges.iter().enumerate().skip(large) {
            let of_group = turns(range.clone());
            if taken + of_group > MOST_TURNS {
                runs.push(number);
                taken = 0;
            }
            taken += of_group;
        }
        let count = runs.len();
        runs.push(ranges.len());
        let list = runs.iter().map(|group| count + 1 + group).chain(starts.iter().copied());
        Runs { large: ranges[..large].to_vec(), count, list: list.map(|number| number as u32).collect() }
    }

    /// How many dispatches it takes to go over all groups.
    pub fn dispatches(&self) -> usize {
        self.large.len() + self.count
    }
}

/// A kernel for all groups.
#[derive(Default)]
pub struct Grouped {
    /// For large groups.
    large: Vec<(Range<usize>, Dispatch)>,
    /// For each run of small ones.
    small: Vec<(Range<usize>, Dispatch)>,
}

impl Grouped {
    /// From now on for these groups. `make` makes the dispatch for one of two kernels: of a large group, or of runs of small ones.
    pub fn aim(&mut self, gpu: &Gpu, runs: &Runs, make: impl Fn(usize, Range<usize>) -> Dispatch) {
        // One workgroup for each run, whose start is the number of the run.
        let small: Vec<Range<usize>> = (0..runs.count).map(|run| run..run + WORKGROUP as usize).collect();
        let all = [(&mut self.large, runs.large.as_slice()), (&mut self.small, small.as_slice())];
        for (kernel, (dispatches, ranges)) in all.into_iter().enumerate() {
            for number in 0..dispatches.len().max(ranges.len()) {
                // Dispatches that have nothing to do now may have later.
                let range = ranges.get(number).cloned().unwrap_or_default();
                match dispatches.get_mut(number) {
                    Some((aimed, _)) if *aimed == range => {}
                    Some((aimed, dispatch)) => {
                        gpu.aim(dispatch, range.clone());
                        *aimed = range;
                    }
                    None => dispatches.push((range.clone(), make(kernel, range))),
                }
            }
        }
    }

    /// What was made is of no use any more, because what it is given was made anew.
    pub fn forget(&mut self) {
        self.large.clear();
        self.small.clear();
    }

    /// Go over all groups once.
    pub fn run(&self, gpu: &Gpu) {
        gpu.run(self.large.iter().chain(&self.small).map(|(_, dispatch)| dispatch));
    }
}
