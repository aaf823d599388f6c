//! What makes sure that nothing crosses: a step in which two features would meet is cut short for their vertices.
//!
//! Idea: features that are farther apart than they move together are safe. So are those that a plane separates at both ends of the step:
//! half spaces are convex and the motion is straight. The others are first shifted apart across that plane, so that they still slide along
//! it. Where that is not enough, additive continuous detection finds a part of the step that is safe; their vertices take that part of their way
//! against each other and all of what they have in common, or what the surface that carries them moves. So momentum is kept. Moving one
//! pair may open another meeting, so all is looked at again; what still meets after some rounds is joined into zones that move as a
//! whole (Provot 1997, Bridson et al. 2002), which ends because zones only grow.
//! Raced before (impact zones from the start, balls around vertices, planes alone): this cuts the fewest ways and stretches least.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::candidates::{Candidates, ClusterPair, Gaps};
use super::surfaces::Surfaces;
use crate::algorithms::contact::continuous::first_contact;
use crate::algorithms::contact::proximity::{Pairing, proximity};
use crate::math::Vec3;

/// Part of the gap that two features keep where they can, and the part below which they do not come nearer at all: what is written is rounded.
const LEAST_GAP: f64 = 0.05;
const LAST_GAP: f64 = 0.01;
/// What of a distance may be lost to rounding.
const ROUNDING: f64 = 1e-6;
/// Part of the safe way that is taken.
const CAREFUL: f64 = 0.8;
/// Rounds until which features are shifted apart, until which ways are cut short, and all rounds. Without the first, cloth that is crumpled
/// by something very fast sticks to itself and does not open again; with more than one, shifts push others on and a pile's cost explodes.
const SHIFTING_ROUNDS: usize = 1;
const CUTTING_ROUNDS: usize = 5;
const ROUNDS: usize = 32;
/// Pairs of clusters from which on looking at them is shared out to threads.
const PARALLEL_PAIRS: usize = 64;

/// Two features that would meet.
struct Meeting {
    vertices: [u32; 4],
    pairing: Pairing,
    /// Across the plane between them, towards the first side.
    normal: Vec3,
    /// How far apart they shall stay across it [m].
    least: f64,
    /// Part of the step that is safe.
    safe: f64,
    /// How what is led among them moves, if anything is [m].
    carried: Option<Vec3>,
}

/// What the guard did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Guarded {
    /// Vertices whose way was cut short.
    pub cut: Vec<u32>,
    /// Features that would still meet.
    pub left: Vec<[u32; 4]>,
}

/// Cut short the ways `from` → `to` so that nothing meets.
pub fn guard(
    candidates: &mut Candidates,
    surfaces: &Surfaces,
    gaps: Gaps,
    is_free: &(dyn Fn(Pairing, &[u32; 4]) -> bool + Sync),
    from: &[Vec3],
    to: &mut [Vec3],
) -> Guarded {
    let mut guarded = Guarded::default();
    let mut zones = Zones::default();
    for round in 0..=ROUNDS {
        // Also after ways were cut: a vertex that stays behind moves against its cluster.
        candidates.cover(surfaces, gaps, from, to);
        let meetings = find(candidates, surfaces, is_free, from, to);
        if meetings.is_empty() {
            break;
        }
        if round == ROUNDS {
            guarded.left = meetings.iter().map(|meeting| meeting.vertices).collect();
            break;
        }
        for meeting in &meetings {
            let free = surfaces.free_handles(&meeting.vertices);
            if round < SHIFTING_ROUNDS {
                meeting.shift_apart(surfaces, to);
            } else if round < CUTTING_ROUNDS {
                let way = meeting.carried.unwrap_or_else(|| common_way(&free, surfaces, from, to));
                cut(&free, way, CAREFUL * meeting.safe, from, to);
            } else {
                zones.join(&free, meeting.carried);
            }
            guarded.cut.extend(meeting.vertices.iter().filter(|&&v| surfaces.k[v as usize] > 0.0));
        }
        if round >= CUTTING_ROUNDS {
            for (vertices, carried) in zones.all() {
                cut(&vertices, carried.unwrap_or_else(|| common_way(&vertices, surfaces, from, to)), 0.0, from, to);
            }
        }
        surfaces.carry(to);
    }
    guarded.cut.sort_unstable();
    guarded.cut.dedup();
    guarded
}

/// How far two sides are apart across a plane; negative where they overlap [m].
fn apart(pairing: Pairing, normal: Vec3, ends: &[Vec3; 4]) -> f64 {
    let heights = ends.map(|end| end.dot(&normal));
    let (first, second) = heights.split_at(pairing.split());
    first.iter().copied().fold(f64::INFINITY, f64::min) - second.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

impl Meeting {
    /// Shift both sides so far that the plane separates them, each by what the other weighs. Carried vertices move with all of their handles.
    fn shift_apart(&self, surfaces: &Surfaces, to: &mut [Vec3]) {
        let missing = self.least - apart(self.pairing, self.normal, &self.vertices.map(|v| surfaces.place(v, to)));
        if missing <= 0.0 {
            return; // others have moved them
        }
        let (first, second) = self.vertices.split_at(self.pairing.split());
        let [first, second] = [first, second].map(|side| surfaces.free_handles(side));
        let mass = |side: &[u32]| -> f64 { side.iter().map(|&handle| 1.0 / surfaces.k[handle as usize]).sum() };
        // What is led has no mass here and does not move, so the other side takes all of it.
        let [of_first, of_second] = [mass(&first), mass(&second)];
        let share = |own: f64, other: f64| match (own > 0.0, other > 0.0) {
            (true, true) => other / (own + other),
            (true, false) => 1.0,
            _ => 0.0,
        };
        let by = self.normal * (missing * (1.0 + ROUNDING));
        for (side, by) in [(first, by * share(of_first, of_second)), (second, -by * share(of_second, of_first))] {
            for handle in side {
                to[handle as usize] += by;
            }
        }
    }
}

/// The displacement of the centre of mass of some handles.
fn common_way(vertices: &[u32], surfaces: &Surfaces, from: &[Vec3], to: &[Vec3]) -> Vec3 {
    let (mut mass, mut moved) = (0.0, Vec3::zeros());
    for v in vertices.iter().map(|&v| v as usize) {
        mass += 1.0 / surfaces.k[v];
        moved += (to[v] - from[v]) / surfaces.k[v];
    }
    moved / mass
}

/// Take a part of the ways of some handles beside one that all of them take; what they carry does the same.
fn cut(vertices: &[u32], way: Vec3, part: f64, from: &[Vec3], to: &mut [Vec3]) {
    for v in vertices.iter().map(|&v| v as usize) {
        to[v] = from[v] + way + (to[v] - from[v] - way) * part;
    }
}

/// Vertices that move as one.
#[derive(Default)]
struct Zones {
    /// For each vertex in a zone another one of it; the lowest points at itself.
    next: BTreeMap<u32, u32>,
    /// For the lowest vertex of a zone how what carries it moves.
    carried: BTreeMap<u32, Vec3>,
}

impl Zones {
    fn lowest(&self, mut v: u32) -> u32 {
        while let Some(&next) = self.next.get(&v).filter(|next| **next != v) {
            v = next;
        }
        v
    }

    fn join(&mut self, vertices: &[u32], carried: Option<Vec3>) {
        let Some(lowest) = vertices.iter().map(|&v| self.lowest(v)).min() else {
            return;
        };
        let mut carried = carried;
        for &v in vertices {
            let root = self.lowest(v);
            carried = carried.or(self.carried.remove(&root));
            self.next.insert(root, lowest);
            self.next.insert(v, lowest);
        }
        if let Some(way) = carried {
            self.carried.insert(lowest, way);
        }
    }

    fn all(&self) -> Vec<(Vec<u32>, Option<Vec3>)> {
        let mut zones: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for &v in self.next.keys() {
            zones.entry(self.lowest(v)).or_default().push(v);
        }
        zones.into_iter().map(|(lowest, vertices)| (vertices, self.carried.get(&lowest).copied())).collect()
    }
}

/// All meetings, in the order of the candidates.
fn find(
    candidates: &Candidates,
    surfaces: &Surfaces,
    is_free: &(dyn Fn(Pairing, &[u32; 4]) -> bool + Sync),
    from: &[Vec3],
    to: &[Vec3],
) -> Vec<Meeting> {
    let look = |pair: &ClusterPair| {
        let mut found = Vec::new();
        for candidate in &pair.list {
            let least = LEAST_GAP * candidate.gap;
            let at_least = pair.at_least(candidate) - least;
            if at_least > pair.approach() || is_free(candidate.pairing, &candidate.vertices) {
                continue;
            }
            let start = candidate.vertices.map(|v| from[v as usize]);
            let end = candidate.vertices.map(|v| to[v as usize]);
            if at_least > own_approach(candidate.pairing, &start, &end) {
                continue;
            }
            found.extend(meeting(
                candidate.vertices,
                candidate.pairing,
                &start,
                &end,
                [least, LAST_GAP * candidate.gap],
                surfaces,
            ));
        }
        found
    };
    if candidates.pairs.len() >= PARALLEL_PAIRS && rayon::current_num_threads() > 1 {
        candidates.pairs.par_iter().with_min_len(16).flat_map_iter(look).collect()
    } else {
        candidates.pairs.iter().flat_map(look).collect()
    }
}

/// How far two features come nearer at most: their largest ways, less what they have in common [m].
fn own_approach(pairing: Pairing, start: &[Vec3; 4], end: &[Vec3; 4]) -> f64 {
    let ways: [Vec3; 4] = std::array::from_fn(|i| end[i] - start[i]);
    let mean = (ways[0] + ways[1] + ways[2] + ways[3]) * 0.25;
    let ways = ways.map(|way| (way - mean).norm_squared());
    let split = pairing.split();
    let [first, second] = [&ways[..split], &ways[split..]].map(|side| side.iter().copied().fold(0.0, f64::max).sqrt());
    first + second
}

/// Whether two features meet on their ways.
fn meeting(
    vertices: [u32; 4],
    pairing: Pairing,
    start: &[Vec3; 4],
    end: &[Vec3; 4],
    [least, last]: [f64; 2],
    surfaces: &Surfaces,
) -> Option<Meeting> {
    let near = proximity(pairing, start);
    let split = pairing.split();
    let least = least.min(near.distance) * (1.0 - ROUNDING);
    // The nearest points are supported by the plane across their difference, so each side starts beyond its own.
    if apart(pairing, near.normal, end) >= least {
        return None;
    }
    let safe = if near.distance > last { first_contact(pairing, start, end, least)? } else { 0.0 };
    let led = |i: usize| surfaces.k[vertices[i] as usize] <= 0.0;
    let mut carried = None;
    for side in [0..split, split..4] {
        if side.clone().all(led) {
            let weight: f64 = side.clone().map(|i| near.weights[i].abs()).sum();
            let way: Vec3 = side.map(|i| (end[i] - start[i]) * near.weights[i].abs()).sum();
            carried = Some(way / weight);
        }
    }
    Some(Meeting { vertices, pairing, normal: near.normal, least, safe, carried })
}
