//! Constraints cut into paths that are solved exactly, each in linear time.
//!
//! Based on: [Bender14 §4.3.4] (azyklische Streifen), algorithms 3.3 and 3.4
//! Idea:     along a path of particles without a cycle, every constraint meets only the one before and the one after it. The
//!           system is tridiagonal and its LDLᵀ has no fill, so that one solve carries an impulse from end to end. Paths that share
//!           no particle form a group, as rows and columns of a grid do, and are solved at the same time.
//! Deviates: the particles are eliminated first (`C W Cᵀ` instead of the matrix of masses and constraints), which on a path
//!           gives the same order without fill and half the work; paths go straight on through any mesh, not only along rows.
//! Test:     tests/algorithms/strips.rs

use std::ops::Range;

use crate::math::Vec3;

/// Straight ahead is a turn of less than this (its cosine): sharper ones end a path.
const STRAIGHT: f64 = 0.5;

/// One constraint of a path: from the particle before to the one after it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// The constraint.
    pub row: u32,
    /// The particle before and after it along the path.
    pub ends: [u32; 2],
}

/// All constraints in paths, paths in groups. The fields are private because `solver::cpu` relies on it that paths of a group share
/// no particle.
#[derive(Clone, Debug, Default)]
pub struct Strips {
    links: Vec<Link>,
    paths: Vec<Range<u32>>,
    groups: Vec<Range<u32>>,
    particle_count: usize,
}

impl Strips {
    /// Decompose; `positions` are those of the particles at rest.
    pub fn build(pairs: &[[u32; 2]], positions: &[Vec3]) -> Self {
        let partner_of = partners_of_rows(pairs, positions);
        let mut used = vec![false; pairs.len()];
        let mut on_path = vec![u32::MAX; positions.len()];
        let mut paths: Vec<Vec<Link>> = Vec::new();
        let walk = |start: u32, from: u32, number: u32, used: &mut [bool], on_path: &mut [u32]| {
            let (mut row, mut before) = (start, from);
            let mut path = Vec::new();
            on_path[from as usize] = number;
            loop {
                let [a, b] = pairs[row as usize];
                let after = if a == before { b } else { a };
                if std::mem::replace(&mut used[row as usize], true) {
                    break;
                }
                if on_path[after as usize] == number {
                    // It would close a cycle: another path takes it.
                    used[row as usize] = false;
                    break;
                }
                on_path[after as usize] = number;
                path.push(Link { row, ends: [before, after] });
                let at = usize::from(pairs[row as usize][1] == after);
                match partner_of[row as usize][at] {
                    Some(next) => (row, before) = (next, after),
                    None => break,
                }
            }
            path
        };
        // Paths with an end first, then what is left of rings.
        for rings in [false, true] {
            for row in 0..pairs.len() as u32 {
                let ends = partner_of[row as usize];
                let start = if ends[0].is_none() { 0 } else { 1 };
                if used[row as usize] || (!rings && ends.iter().all(Option::is_some)) {
                    continue;
                }
                let number = paths.len() as u32;
                let path = walk(row, pairs[row as usize][start], number, &mut used, &mut on_path);
                paths.push(path);
            }
        }
        Self::group(paths, positions.len())
    }

    /// Greedy groups, longest paths first so that rows and columns come together.
    fn group(mut paths: Vec<Vec<Link>>, particle_count: usize) -> Self {
        paths.retain(|path| !path.is_empty());
        paths.sort_by_key(|path| (std::cmp::Reverse(path.len()), path[0].row));
        let mut taken: Vec<Vec<u32>> = vec![Vec::new(); particle_count];
        let mut groups: Vec<Vec<Vec<Link>>> = Vec::new();
        for path in paths {
            let particles = || path.iter().map(|link| link.ends[1]).chain([path[0].ends[0]]);
            let is_free = |group: &u32| particles().all(|p| !taken[p as usize].contains(group));
            let group = (0..).find(is_free).unwrap_or_default();
            for p in particles() {
                taken[p as usize].push(group);
            }
            if group as usize == groups.len() {
                groups.push(Vec::new());
            }
            groups[group as usize].push(path);
        }
        let mut strips = Strips { particle_count, ..Strips::default() };
        for group in groups {
            let first = strips.paths.len() as u32;
            for path in group {
                let start = strips.links.len() as u32;
                strips.links.extend(path);
                strips.paths.push(start..strips.links.len() as u32);
            }
            strips.groups.push(first..strips.paths.len() as u32);
        }
        strips
    }

    /// Groups of paths.
    pub fn groups(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.groups.iter().map(|group| group.start as usize..group.end as usize)
    }

    /// How many paths there are.
    pub fn path_count(&self) -> usize {
        self.paths.len()
    }

    /// The links of one path.
    pub fn path(&self, path: usize) -> &[Link] {
        let Range { start, end } = self.paths[path];
        &self.links[start as usize..end as usize]
    }

    /// How many particles the numbers refer to.
    pub fn particle_count(&self) -> usize {
        self.particle_count
    }

    /// Longest path.
    pub fn longest(&self) -> usize {
        self.paths.iter().map(ExactSizeIterator::len).max().unwrap_or_default()
    }
}

/// For each constraint the one that goes straight on at its first and second particle.
fn partners_of_rows(pairs: &[[u32; 2]], positions: &[Vec3]) -> Vec<[Option<u32>; 2]> {
    let mut partner_of = vec![[None; 2]; pairs.len()];
    for (particle, partners) in straight_partners(pairs, positions).into_iter().enumerate() {
        for [a, b] in partners {
            for (row, other) in [(a, b), (b, a)] {
                let at = usize::from(pairs[row as usize][1] as usize == particle);
                partner_of[row as usize][at] = Some(other);
            }
        }
    }
    partner_of
}

/// For each particle the pairs of constraints that go straight on through it, straightest first; no constraint twice.
pub fn straight_partners(pairs: &[[u32; 2]], positions: &[Vec3]) -> Vec<Vec<[u32; 2]>> {
    let mut rows_of: Vec<Vec<u32>> = vec![Vec::new(); positions.len()];
    for (row, ends) in pairs.iter().enumerate() {
        ends.iter().for_each(|&end| rows_of[end as usize].push(row as u32));
    }
    let direction = |row: u32, from: usize| {
        let [a, b] = pairs[row as usize].map(|end| end as usize);
        let d = if a == from { positions[b] - positions[a] } else { positions[a] - positions[b] };
        d / d.norm().max(f64::MIN_POSITIVE)
    };
    let of_particle = |(particle, rows): (usize, &Vec<u32>)| {
        let mut candidates: Vec<(f64, [u32; 2])> = Vec::new();
        for (i, &a) in rows.iter().enumerate() {
            for &b in &rows[i + 1..] {
                let ahead = -direction(a, particle).dot(&direction(b, particle));
                if ahead > STRAIGHT {
                    candidates.push((ahead, [a, b]));
                }
            }
        }
        candidates.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut partners: Vec<[u32; 2]> = Vec::new();
        for (_, pair) in candidates {
            if !partners.iter().flatten().any(|row| pair.contains(row)) {
                partners.push(pair);
            }
        }
        partners
    };
    rows_of.iter().enumerate().map(of_particle).collect()
}

/// Solve a symmetric positive definite tridiagonal system in place by LDLᵀ: `diagonal` and `beside` (between row i and i + 1) are
/// overwritten, `right` becomes the solution. False where a pivot is not positive.
pub fn solve_tridiagonal(diagonal: &mut [f64], beside: &mut [f64], right: &mut [f64]) -> bool {
    let n = diagonal.len();
    for i in 1..n {
        if diagonal[i - 1].is_nan() || diagonal[i - 1] <= 0.0 {
            return false;
        }
        let below = beside[i - 1] / diagonal[i - 1];
        diagonal[i] -= below * beside[i - 1];
        right[i] -= below * right[i - 1];
        beside[i - 1] = below;
    }
    if n > 0 && (diagonal[n - 1].is_nan() || diagonal[n - 1] <= 0.0) {
        return false;
    }
    for i in (0..n).rev() {
        right[i] /= diagonal[i];
        if i + 1 < n {
            right[i] -= beside[i] * right[i + 1];
        }
    }
    true
}
