//! Triangles that cross each other: found exactly, so that what is tangled can be let go and what is not is known to be clean.
//!
//! Idea: two triangles cross where an edge of one pierces the other. Signs come from exact predicates (Shewchuk 1997).

use rayon::prelude::*;

use super::candidates::Candidates;
use super::clusters::Cluster;
use super::surfaces::Surfaces;
use crate::math::Vec3;
use crate::mesh::bvh::Aabb;

/// An edge that pierces a triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Crossing {
    /// Ends of the edge, lower number first.
    pub edge: [u32; 2],
    /// Corners of the triangle.
    pub triangle: [u32; 3],
}

/// All edges that pierce a triangle they share no vertex with, ascending. The candidates cover the positions.
pub fn find(candidates: &Candidates, surfaces: &Surfaces, x: &[Vec3]) -> Vec<Crossing> {
    let corners = |t: u32| surfaces.triangles[t as usize];
    let around = |t: &u32| {
        let points = corners(*t).map(|v| x[v as usize]);
        (*t, points.iter().fold(Aabb::empty(), |aabb, p| aabb.join(Aabb::around(*p))))
    };
    let look = |[a, b]: [u32; 2]| {
        let [of_a, of_b] = [a, b].map(|number| candidates.cluster(number));
        let mut found = Vec::new();
        let [box_of_a, box_of_b] = [of_a, of_b].map(|cluster| cluster.around(x));
        if !box_of_a.meets(&box_of_b) {
            return found;
        }
        let near = |own: &Cluster, other: &Aabb| -> Vec<(u32, Aabb)> {
            own.triangles.iter().map(around).filter(|(_, aabb)| aabb.meets(other)).collect()
        };
        let (first, second) = (near(of_a, &box_of_b), if a == b { Vec::new() } else { near(of_b, &box_of_a) });
        for (place, (s, around_s)) in first.iter().enumerate() {
            let others = if a == b { &first[place + 1..] } else { &second[..] };
            let meets = |(t, around_t): &&(u32, Aabb)| around_s.meets(around_t) && !surfaces.are_tied(*s, *t);
            for (t, _) in others.iter().filter(meets) {
                pierced(corners(*s), corners(*t), surfaces, x, &mut found);
                pierced(corners(*t), corners(*s), surfaces, x, &mut found);
            }
        }
        found
    };
    let pairs: Vec<[u32; 2]> = candidates.cluster_pairs().collect();
    let mut found: Vec<Crossing> = pairs.par_iter().with_min_len(64).flat_map_iter(|&pair| look(pair)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Edges of one triangle that pierce another.
fn pierced(edges_of: [u32; 3], triangle: [u32; 3], surfaces: &Surfaces, x: &[Vec3], found: &mut Vec<Crossing>) {
    if edges_of.iter().any(|v| triangle.contains(v)) {
        return;
    }
    let led = |v: &u32| surfaces.k[*v as usize] <= 0.0;
    for k in 0..3 {
        let (a, b) = (edges_of[k], edges_of[(k + 1) % 3]);
        // What is led as a whole crosses because it is made to.
        if led(&a) && led(&b) && triangle.iter().all(led) {
            continue;
        }
        if pierces([a, b].map(|v| x[v as usize]), triangle.map(|v| x[v as usize])) {
            found.push(Crossing { edge: [a.min(b), a.max(b)], triangle });
        }
    }
}

/// Whether a segment passes through the inside of a triangle.
pub fn pierces([p, q]: [Vec3; 2], [a, b, c]: [Vec3; 3]) -> bool {
    let side = |a: Vec3, b: Vec3, c: Vec3, d: Vec3| {
        let coord = |v: Vec3| robust::Coord3D { x: v.x, y: v.y, z: v.z };
        robust::orient3d(coord(a), coord(b), coord(c), coord(d))
    };
    let (from, to) = (side(a, b, c, p), side(a, b, c, q));
    if !(from > 0.0 && to < 0.0 || from < 0.0 && to > 0.0) {
        return false;
    }
    let turns = [side(p, q, a, b), side(p, q, b, c), side(p, q, c, a)];
    turns.iter().all(|turn| *turn > 0.0) || turns.iter().all(|turn| *turn < 0.0)
}
