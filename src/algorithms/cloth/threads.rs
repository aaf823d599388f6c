//! Threads of a quad mesh: edges that keep their length, shear and bending between them.
//!
//! Based on: [Bender14 §4.3.1] (regelmäßiges Modell), §4.3.3.2 for the guard
//! Idea:     only the two thread directions are inextensible; diagonals are springs, so that the cloth shears; and no diagonal
//!           gets so short that its quad collapses to a line, which would leave rows that depend on each other.
//! Deviates: the shear springs are taken implicitly, by their compliance.
//! Test:     tests/algorithms/threads.rs

use super::bending::ThreadBend;
use super::strips::straight_partners;
use crate::math::Vec3;

/// A quad's diagonal may not be shorter than this part of its length at rest.
pub const SHORTEST_DIAGONAL: f64 = 0.25;

/// A diagonal of a quad: an implicit spring that does not let the quad collapse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Diagonal {
    /// Its ends.
    pub ends: [u32; 2],
    /// Length at rest [m].
    pub rest: f64,
    /// `1 / stiffness` [m/N].
    pub compliance: f64,
}

impl Diagonal {
    /// Move the look-ahead positions of its ends as the spring does in a step of length `h`; `k` are the inverse masses.
    #[inline]
    pub fn correct_position(&self, a: &mut Vec3, b: &mut Vec3, k: [f64; 2], h: f64) {
        let d = *b - *a;
        let length = d.norm();
        let weight = k[0] + k[1];
        if length <= 0.0 || weight <= 0.0 {
            return;
        }
        let spring = (length - self.rest) / (weight + self.compliance / (h * h));
        let guard = (length - SHORTEST_DIAGONAL * self.rest) / weight;
        let impulse = d * (if guard < 0.0 { spring.min(guard) } else { spring } / length);
        *a += impulse * k[0];
        *b -= impulse * k[1];
    }
}

/// Which three vertices follow each other on a thread, from the edges alone and where their ends are at rest; `vertex_area` [m²].
pub fn thread_bends(
    edges: &[[u32; 2]],
    lengths: &[f64],
    positions: &[Vec3],
    vertex_area: impl Fn(u32) -> f64,
) -> Vec<ThreadBend> {
    let mut bends = Vec::new();
    for (vertex, partners) in straight_partners(edges, positions).iter().enumerate() {
        for &[a, b] in partners {
            let other = |edge: u32| {
                let [p, q] = edges[edge as usize];
                if p == vertex as u32 { q } else { p }
            };
            bends.push(ThreadBend {
                vertices: [other(a), vertex as u32, other(b)],
                lengths: [lengths[a as usize], lengths[b as usize]],
                area: vertex_area(vertex as u32),
            });
        }
    }
    bends
}
