//! The promise where it is seen: no edge of the written mesh is longer than allowed, also where a vertex is the mean of triangles
//! that fold against each other.
//!
//! Idea: at a frame's end edges that are longer than allowed are shortened to what is allowed, no further, and nothing else is asked:
//! projections on sets that have a common point end in one. Midpoints could have `|B_i x - B_j x| ≤ (1 + limit) d0` as a
//! constraint in each step instead; that was measured: it fights with their own distances, and flag and ball sheet crumple.

use super::independent::sweep;
use crate::algorithms::cloth::distance::{Distance, Keeps};
use crate::algorithms::parallel::independent_groups::IndependentPairs;
use crate::math::Vec3;
use crate::model::ClothModel;

/// Upper limits on the edges between vertices as they are written.
#[derive(Debug, Default)]
pub struct VisibleLimits {
    pairs: IndependentPairs,
    distances: Vec<Distance>,
}

impl VisibleLimits {
    /// For a cloth; edges may use this part of their allowed stretch. Pinned vertices stay.
    pub fn build(cloth: &ClothModel, part: f64) -> Self {
        // Both ends share a correction whatever they weigh: a chain of small triangles cannot pull a large one along otherwise.
        let k = |v: u32| if cloth.is_led[v as usize] || cloth.vertex_k[v as usize] <= 0.0 { 0.0 } else { 1.0 };
        let free: Vec<usize> =
            (0..cloth.visible_edges.len()).filter(|&e| cloth.visible_edges[e].iter().any(|&v| k(v) > 0.0)).collect();
        let edges: Vec<[u32; 2]> = free.iter().map(|&e| cloth.visible_edges[e]).collect();
        let Some((pairs, order)) = IndependentPairs::arrange(cloth.map.vertex_count(), &edges) else {
            return VisibleLimits::default();
        };
        let distance = |&row: &u32| {
            let edge = free[row as usize];
            let [a, b] = cloth.visible_edges[edge];
            let longest = cloth.visible_rest[edge] * (1.0 + part * cloth.visible_limits[edge]);
            Distance::new(longest, k(a), k(b), Keeps::AtMost)
        };
        VisibleLimits { distances: order.iter().map(distance).collect(), pairs }
    }

    /// Shorten every edge that is too long, by this many times what it is too long: below 2 that still ends in a common point, because what is
    /// allowed is convex, and above 1 far sooner where the excess has a long way to go.
    pub fn sweep(&self, vertices: &mut [Vec3], relaxation: f64) {
        sweep(&self.pairs, vertices, |row, _, a, b| {
            let distance = &self.distances[row];
            let d = *b - *a;
            let strain = distance.squared_strain(d);
            if strain > 0.0 {
                let correction = d * (relaxation * (1.0 - 1.0 / (1.0 + strain).sqrt()));
                *a += correction * distance.share_a;
                *b -= correction * distance.share_b;
            }
            strain
        });
    }
}
