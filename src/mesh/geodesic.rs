//! How far it is along a surface.
//!
//! Based on: Novotni and Klein 2002 (geodesic distances by unfolding); Dijkstra's order
//! Idea:     distances spread from the sources vertex by vertex. Two vertices of a triangle whose distances come from the same
//!           source fix where that source lies in the triangle's plane, unfolded; the third vertex is measured from there, if the
//!           straight way passes between the two. On flat pieces without notches this is exact, and elsewhere it is rather too
//!           long than too short, because all other ways run along edges.
//! Test:     tests/algorithms/geodesic.rs

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::topology::Topology;

/// A way counts as shorter than another below this part of it: what is less is rounding.
const LEAST_GAIN: f64 = 1.0 - 1e-12;

/// Distance of a vertex to the nearest source, and which one that is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reached {
    /// [m]; infinite where no source is connected.
    pub distance: f64,
    /// Number of the source.
    pub source: u32,
}

impl Reached {
    /// No way leads here.
    pub const NEVER: Reached = Reached { distance: f64::INFINITY, source: u32::MAX };
}

/// Vertices in the order of their distance, equal ones by number.
#[derive(PartialEq)]
struct Front {
    distance: f64,
    vertex: u32,
}

impl Eq for Front {}

impl Ord for Front {
    fn cmp(&self, other: &Self) -> Ordering {
        self.distance.total_cmp(&other.distance).then(self.vertex.cmp(&other.vertex))
    }
}

impl PartialOrd for Front {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Distances along the surface from some vertices to all. `lengths` are the edges' [m]; with `across` ways may also lead through
/// triangles, otherwise only along edges.
pub fn distances(
    sources: &[u32],
    triangles: &[[u32; 3]],
    topology: &Topology,
    lengths: &[f64],
    vertex_triangles: &[Vec<u32>],
    across: bool,
) -> Vec<Reached> {
    let mut reached = vec![Reached::NEVER; vertex_triangles.len()];
    let mut front = BinaryHeap::new();
    for (number, &vertex) in sources.iter().enumerate() {
        reached[vertex as usize] = Reached { distance: 0.0, source: number as u32 };
        front.push(Reverse(Front { distance: 0.0, vertex }));
    }
    while let Some(Reverse(Front { distance, vertex })) = front.pop() {
        let here = reached[vertex as usize];
        if distance > here.distance {
            continue; // a shorter way was found since
        }
        for &triangle in &vertex_triangles[vertex as usize] {
            let (corners, edges) = (triangles[triangle as usize], topology.triangle_edges[triangle as usize]);
            let me = corners.iter().position(|&corner| corner == vertex).unwrap_or_default();
            let length = |corner: usize| lengths[edges[corner] as usize]; // of the edge opposite to a corner
            for (other, target) in [((me + 1) % 3, (me + 2) % 3), ((me + 2) % 3, (me + 1) % 3)] {
                let [other_vertex, target_vertex] = [corners[other], corners[target]].map(|v| v as usize);
                let mut distance = here.distance + length(other);
                let beside = reached[other_vertex];
                if across && beside.source == here.source {
                    let sides = [length(target), length(other), length(me)];
                    if let Some(straight) = through(here.distance, beside.distance, sides) {
                        distance = distance.min(straight);
                    }
                }
                // Also where the front has passed: a vertex beside the way can be farther than the one it leads to.
                if distance < reached[target_vertex].distance * LEAST_GAIN {
                    reached[target_vertex] = Reached { distance, source: here.source };
                    front.push(Reverse(Front { distance, vertex: corners[target] }));
                }
            }
        }
    }
    reached
}

/// Distance to a triangle's third corner from a source at `from_a` and `from_b` of the other two; the sides are ab, ac, bc. `None` if
/// the straight way does not pass between a and b.
fn through(from_a: f64, from_b: f64, [ab, ac, bc]: [f64; 3]) -> Option<f64> {
    let source = unfold(from_a, from_b, ab);
    let corner = unfold(ac, bc, ab);
    // a is at 0, b at `ab` on the line; the source lies below it, the corner above.
    let height = source[1] + corner[1];
    let crossing = source[0] + (corner[0] - source[0]) * source[1] / height;
    let slack = 1e-9 * ab;
    let distance = (corner[0] - source[0]).hypot(height);
    ((-slack..=ab + slack).contains(&crossing)).then_some(distance)
}

/// Where a point is that has these distances from the ends of a base line: along it from the first, and beside it.
fn unfold(from_a: f64, from_b: f64, base: f64) -> [f64; 2] {
    let along = (from_a * from_a - from_b * from_b + base * base) / (2.0 * base);
    [along, (from_a * from_a - along * along).max(0.0).sqrt()]
}

/// Distance to the middle of an edge of this length from that of its ends.
pub fn to_middle(ends: [Reached; 2], length: f64) -> Reached {
    let [a, b] = ends;
    let nearer = if b.distance < a.distance { b } else { a };
    let along = nearer.distance + 0.5 * length;
    if a.source != b.source || !along.is_finite() {
        return Reached { distance: along, ..nearer };
    }
    let source = unfold(a.distance, b.distance, length);
    Reached { distance: along.min((0.5 * length - source[0]).hypot(source[1])), ..nearer }
}
