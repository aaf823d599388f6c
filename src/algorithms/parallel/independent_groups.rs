//! Constraints in groups that share no particle.
//!
//! Based on: [Bender14 §5.2], algorithm 5.1 (Unabhängige Gruppen)
//! Idea:     greedy colouring; the constraints of a group can be solved at the same time, in any order, with the same result.
//! Deviates: one look at the particles of a constraint instead of the quadratic loop over all constraints.
//! Test:     tests/algorithms/independent_groups.rs

use std::ops::Range;

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
        let mut starts = vec![0];
        for group in &groups {
            starts.push(starts.last().copied().unwrap_or_default() + group.len() as u32);
        }
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
