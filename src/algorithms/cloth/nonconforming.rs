//! Particles on edge midpoints, three distances a triangle: cloth that cannot stretch and does not lock.
//!
//! Based on: [Bender14 §4.3.5.1], eq. 4.9, figures 4.6-4.8 (nicht-konformes Simulationsnetz); English and Bridson 2008
//! Idea:     neighbouring triangles share one particle instead of two, so the sheet can bend along any line.
//! Test:     tests/algorithms/nonconforming.rs

use crate::math::Vec3;
use crate::mesh::measures::triangle_area;
use crate::mesh::topology::Topology;

/// A pair of particles and their rest distance [m].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The two particles.
    pub particles: [u32; 2],
    /// Rest distance [m].
    pub rest: f64,
}

/// The simulated model of a triangle mesh: one particle an edge.
#[derive(Clone, Debug, Default)]
pub struct Nonconforming {
    /// Rest positions: the midpoints of the edges [m].
    pub midpoints: Vec<Vec3>,
    /// One third of the area of each particle's triangles [m²]; times density this is its mass [4.9].
    pub areas: Vec<f64>,
    /// Three constraints a triangle, then those of the boundary.
    pub pairs: Vec<Pair>,
    /// How many of `pairs` belong to the boundary.
    pub boundary_pair_count: usize,
}

impl Nonconforming {
    /// Build from the mesh at rest. Triangles have area.
    pub fn build(positions: &[Vec3], triangles: &[[u32; 3]], topology: &Topology) -> Self {
        let midpoints: Vec<Vec3> =
            topology.edges.iter().map(|&[a, b]| (positions[a as usize] + positions[b as usize]) * 0.5).collect();
        let mut areas = vec![0.0; midpoints.len()];
        let pair =
            |a: u32, b: u32| Pair { particles: [a, b], rest: (midpoints[b as usize] - midpoints[a as usize]).norm() };
        let mut pairs = Vec::with_capacity(3 * triangles.len());
        for (corners, &[e0, e1, e2]) in triangles.iter().zip(&topology.triangle_edges) {
            let third = triangle_area(corners.map(|v| positions[v as usize])) / 3.0;
            for edge in [e0, e1, e2] {
                areas[edge as usize] += third;
            }
            pairs.extend([pair(e0, e1), pair(e1, e2), pair(e2, e0)]);
        }
        let boundary = boundary_pairs(&midpoints, topology);
        let boundary_pair_count = boundary.len();
        pairs.extend(boundary.into_iter().map(|[a, b]| pair(a, b)));
        Nonconforming { midpoints, areas, pairs, boundary_pair_count }
    }
}

/// Boundary triangles would turn freely: from each boundary midpoint one more distance into each neighbour of its triangle, to
/// the nearer of the two midpoints that they do not share (figure 4.7); equal pairs once, none of zero length.
fn boundary_pairs(midpoints: &[Vec3], topology: &Topology) -> Vec<[u32; 2]> {
    let mut pairs = Vec::new();
    for edge in topology.boundary_edges() {
        let triangle = topology.edge_triangles[edge][0];
        for shared in topology.triangle_edges[triangle as usize] {
            if shared as usize == edge {
                continue;
            }
            for &neighbour in topology.edge_triangles[shared as usize].iter().filter(|&&t| t != triangle) {
                let distance = |candidate: u32| (midpoints[candidate as usize] - midpoints[edge]).norm_squared();
                let nearer = topology.triangle_edges[neighbour as usize]
                    .into_iter()
                    .filter(|&candidate| candidate != shared && candidate as usize != edge)
                    .min_by(|&a, &b| distance(a).total_cmp(&distance(b)).then(a.cmp(&b)));
                if let Some(nearer) = nearer.filter(|&candidate| distance(candidate) > 0.0) {
                    let edge = edge as u32;
                    pairs.push([edge.min(nearer), edge.max(nearer)]);
                }
            }
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}
