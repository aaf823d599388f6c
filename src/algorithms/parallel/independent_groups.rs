//! Constraints in groups that share no particle.
//!
//! Based on: [Bender14 §5.2], algorithm 5.1 (Unabhängige Gruppen)
//! Idea:     greedy colouring; the constraints of a group can be solved at the same time, in any order, with the same result.
//! Deviates: one look at the particles of a constraint instead of the quadratic loop over all constraints.
//! Test:     tests/algorithms/independent_groups.rs

use std::ops::Range;

use crate::math::rows::Rows;

/// Pairs of particles, arranged in groups. The fields are private because `solver::cpu` relies on it that no two pairs of a
/// group share a particle and that every number is below `particle_count`.
#[derive(Clone, Debug, Default)]
pub struct IndependentPairs {
    particle_count: usize,
    pairs: Vec<[u32; 2]>,
    starts: Vec<u32>,
}

impl IndependentPairs {
    /// Arrange the pairs; the second result tells for each new place the old one. Which group a pair is in follows from the
    /// list alone. `None` if a pair names a particle that does not exist, or the same one twice.
    pub fn arrange(particle_count: usize, pairs: &[[u32; 2]]) -> Option<(Self, Vec<u32>)> {
        if pairs.iter().any(|&[a, b]| a == b || a as usize >= particle_count || b as usize >= particle_count) {
            return None;
        }
        let mut taken: Vec<Vec<u32>> = vec![Vec::new(); particle_count];
        let mut groups: Vec<Vec<u32>> = Vec::new();
        for (row, &[a, b]) in pairs.iter().enumerate() {
            let free = |group: &u32| !taken[a as usize].contains(group) && !taken[b as usize].contains(group);
            let group = (0..).find(free).unwrap_or_default();
            taken[a as usize].push(group);
            taken[b as usize].push(group);
            if group as usize == groups.len() {
                groups.push(Vec::new());
            }
            groups[group as usize].push(row as u32);
        }
        let starts = starts(&groups);
        let order: Vec<u32> = groups.into_iter().flatten().collect();
        let arranged = order.iter().map(|&row| pairs[row as usize]).collect();
        Some((IndependentPairs { particle_count, pairs: arranged, starts }, order))
    }

    /// How many particles the numbers refer to.
    pub fn particle_count(&self) -> usize {
        self.particle_count
    }

    /// All pairs, group after group.
    pub fn pairs(&self) -> &[[u32; 2]] {
        &self.pairs
    }

    /// The range of each group in `pairs`.
    pub fn groups(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.starts.windows(2).map(|ends| ends[0] as usize..ends[1] as usize)
    }
}

/// Sets of any number of particles, arranged in groups. Private for the same reason.
#[derive(Clone, Debug, Default)]
pub struct IndependentSets {
    particle_count: usize,
    sets: Rows<u32>,
    starts: Vec<u32>,
}

impl IndependentSets {
    /// As for pairs. `None` if a set names a particle that does not exist, or the same one twice.
    pub fn arrange(particle_count: usize, sets: &[Vec<u32>]) -> Option<(Self, Vec<u32>)> {
        let is_sound = |set: &Vec<u32>| {
            let mut sorted = set.clone();
            sorted.sort_unstable();
            sorted.windows(2).all(|pair| pair[0] < pair[1])
                && sorted.last().is_none_or(|&p| (p as usize) < particle_count)
        };
        if !sets.iter().all(is_sound) {
            return None;
        }
        let mut taken: Vec<Vec<u32>> = vec![Vec::new(); particle_count];
        let mut groups: Vec<Vec<u32>> = Vec::new();
        for (row, set) in sets.iter().enumerate() {
            let free = |group: &u32| set.iter().all(|&p| !taken[p as usize].contains(group));
            let group = (0..).find(free).unwrap_or_default();
            set.iter().for_each(|&p| taken[p as usize].push(group));
            if group as usize == groups.len() {
                groups.push(Vec::new());
            }
            groups[group as usize].push(row as u32);
        }
        let starts = starts(&groups);
        let order: Vec<u32> = groups.into_iter().flatten().collect();
        let arranged = order.iter().map(|&row| sets[row as usize].iter().copied()).collect();
        Some((IndependentSets { particle_count, sets: arranged, starts }, order))
    }

    /// How many particles the numbers refer to.
    pub fn particle_count(&self) -> usize {
        self.particle_count
    }

    /// How many sets there are.
    pub fn len(&self) -> usize {
        self.sets.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// The particles of a set.
    pub fn set(&self, set: usize) -> &[u32] {
        self.sets.row(set)
    }

    /// The range of each group.
    pub fn groups(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.starts.windows(2).map(|ends| ends[0] as usize..ends[1] as usize)
    }
}

/// Where each group begins, and where the last one ends.
fn starts(groups: &[Vec<u32>]) -> Vec<u32> {
    let mut starts = vec![0];
    for group in groups {
        starts.push(starts.last().copied().unwrap_or_default() + group.len() as u32);
    }
    starts
}
