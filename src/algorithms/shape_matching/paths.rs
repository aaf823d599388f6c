//! Paths along the edges of a mesh that together pass every vertex once, side by side.
//!
//! Based on: [Bender14 §4.4.2.2] (Konstruktion der Pfade)
//! Idea:     greedy: a path goes on to a neighbour that lies next to an earlier path, so that no holes stay between them, and among these to
//!           the one that is nearest to the plane through the path's first vertex. What is near together on the mesh then lies in few stretches of
//!           few paths.
//! Deviates: paths grow at both ends; they start where the fewest free neighbours are left, so that nothing is left behind alone; of the planes
//!           across the three axes the one is taken whose paths are fewest; equally near neighbours are taken straight ahead.
//! Test:     tests/algorithms/paths.rs

use std::collections::BTreeSet;

use crate::math::Vec3;
use crate::math::rows::Rows;

/// Longest path: differences of sums along it stay exact, and sums can be made path by path in parallel.
pub const LONGEST: usize = 512;

/// Every vertex once, along paths.
#[derive(Clone, Debug, PartialEq)]
pub struct Paths {
    /// The vertices, path after path.
    pub order: Vec<u32>,
    /// Where each path begins in `order`, and the end of the last one.
    pub starts: Vec<u32>,
}

impl Paths {
    /// For vertices at these places, with these neighbours.
    pub fn build(positions: &[Vec3], neighbours: &Rows<u32>) -> Self {
        let along = |axis: usize| Self::across(positions, neighbours, axis);
        let [mut best, others @ ..] = [2, 0, 1].map(along);
        for other in others {
            if other.count() < best.count() {
                best = other;
            }
        }
        best
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// With planes across one axis.
    fn across(positions: &[Vec3], neighbours: &Rows<u32>, axis: usize) -> Self {
        let mut walk = Walk {
            positions,
            neighbours,
            axis,
            path_of: vec![u32::MAX; positions.len()],
            next_to: BTreeSet::new(),
            free: neighbours.iter().map(|near| near.len() as u32).collect(),
        };
        let mut by_height: Vec<u32> = (0..positions.len() as u32).collect();
        by_height.sort_by(|&a, &b| positions[a as usize][axis].total_cmp(&positions[b as usize][axis]).then(a.cmp(&b)));
        let mut lowest = by_height.into_iter();
        let mut paths = Paths { order: Vec::with_capacity(positions.len()), starts: vec![0] };
        loop {
            let start = match walk.next_to.first() {
                Some(&(_, v)) => v,
                None => match lowest.find(|&v| walk.path_of[v as usize] == u32::MAX) {
                    Some(v) => v,
                    None => return paths,
                },
            };
            let number = paths.count() as u32;
            let mut halves = [vec![start], Vec::new()];
            walk.take(start, number);
            let height = positions[start as usize][axis];
            for side in 0..2 {
                while halves[0].len() + halves[1].len() < LONGEST {
                    let end = *halves[side].last().unwrap_or(&start);
                    let before = match halves[side].len() {
                        0 => halves[0].get(1).copied(),
                        1 if side == 1 => Some(start),
                        n => n.checked_sub(2).map(|n| halves[side][n]),
                    };
                    let Some(next) = walk.next(end, before, number, height) else { break };
                    walk.take(next, number);
                    halves[side].push(next);
                }
            }
            let [ahead, behind] = halves;
            paths.order.extend(behind.into_iter().rev().chain(ahead));
            paths.starts.push(paths.order.len() as u32);
        }
    }
}

/// What has been passed so far.
struct Walk<'a> {
    positions: &'a [Vec3],
    neighbours: &'a Rows<u32>,
    axis: usize,
    /// The path of each vertex; the largest number where there is none yet.
    path_of: Vec<u32>,
    /// Free vertices next to a path, those with the fewest free neighbours first.
    next_to: BTreeSet<(u32, u32)>,
    /// How many free neighbours each vertex has.
    free: Vec<u32>,
}

impl Walk<'_> {
    fn is_free(&self, v: u32) -> bool {
        self.path_of[v as usize] == u32::MAX
    }

    fn take(&mut self, v: u32, path: u32) {
        self.path_of[v as usize] = path;
        self.next_to.remove(&(self.free[v as usize], v));
        for &near in self.neighbours.row(v as usize) {
            let was = self.free[near as usize];
            self.free[near as usize] -= 1;
            if self.is_free(near) {
                self.next_to.remove(&(was, near));
                self.next_to.insert((was - 1, near));
            }
        }
    }

    /// Where a path goes on from `end`, to which it came from `before`.
    fn next(&self, end: u32, before: Option<u32>, path: u32, height: f64) -> Option<u32> {
        let is_beside = |v: u32| {
            let is_passed = |near: &u32| !self.is_free(*near) && self.path_of[*near as usize] != path;
            self.neighbours.row(v as usize).iter().any(is_passed)
        };
        let place = |v: u32| self.positions[v as usize];
        let came = before.map_or(Vec3::zeros(), |before| place(end) - place(before));
        let rank = |v: u32| {
            let straight = (place(v) - place(end)).try_normalize(0.0).unwrap_or_default().dot(&came);
            (!is_beside(v), (place(v)[self.axis] - height).abs(), -straight, v)
        };
        let free = self.neighbours.row(end as usize).iter().copied().filter(|&v| self.is_free(v));
        free.map(rank)
            .min_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.total_cmp(&b.2)).then(a.3.cmp(&b.3)))
            .map(|best| best.3)
    }
}

/// The neighbours of each vertex over edges, ascending.
pub fn neighbours(vertex_count: usize, edges: &[[u32; 2]]) -> Rows<u32> {
    let mut near: Vec<Vec<u32>> = vec![Vec::new(); vertex_count];
    for &[a, b] in edges {
        near[a as usize].push(b);
        near[b as usize].push(a);
    }
    near.iter_mut().for_each(|near| near.sort_unstable());
    near.into_iter().collect()
}
