//! Particles on edge midpoints, three distances a triangle: cloth that cannot stretch and does not lock.
//!
//! Based on: [Bender14 §4.3.5.1], eq. 4.9, figures 4.6-4.8 (nicht-konformes Simulationsnetz); English and Bridson 2008
//! Idea:     neighbouring triangles share one particle instead of two, so the sheet can bend along any line.
//! Test:     tests/algorithms/nonconforming.rs

use crate::math::{Vec2, Vec3};
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
    /// Build for vertices at `positions` whose triangles are `flat` at rest (corner for corner). Triangles have area.
    pub fn build(positions: &[Vec3], flat: &[[Vec2; 3]], topology: &Topology) -> Self {
        let midpoints: Vec<Vec3> =
            topology.edges.iter().map(|&[a, b]| (positions[a as usize] + positions[b as usize]) * 0.5).collect();
        let mut areas = vec![0.0; midpoints.len()];
        let mut pairs = Vec::with_capacity(3 * flat.len());
        for (corners, &edges) in flat.iter().zip(&topology.triangle_edges) {
            let third = flat_area(corners) / 3.0;
            for edge in edges {
                areas[edge as usize] += third;
            }
            // Two midpoints are half as far apart as the ends of the third edge.
            let pair = |a: usize, b: usize| Pair {
                particles: [edges[a], edges[b]],
                rest: 0.5 * (corners[a] - corners[b]).norm(),
            };
            pairs.extend([pair(0, 1), pair(1, 2), pair(2, 0)]);
        }
        let boundary = boundary_pairs(flat, topology);
        let boundary_pair_count = boundary.len();
        pairs.extend(boundary);
        Nonconforming { midpoints, areas, pairs, boundary_pair_count }
    }
}

/// Boundary triangles would turn freely: from each boundary midpoint one more distance into each neighbour of its triangle, to
/// the nearer of the two midpoints that they do not share (figure 4.7), measured with the neighbour laid flat beside it; equal
/// pairs once, none of zero length.
fn boundary_pairs(flat: &[[Vec2; 3]], topology: &Topology) -> Vec<Pair> {
    let mut pairs: Vec<Pair> = Vec::new();
    for edge in topology.boundary_edges() {
        let triangle = topology.edge_triangles[edge][0] as usize;
        let edges = topology.triangle_edges[triangle];
        let middle = |corners: &[Vec2; 3], k: usize| (corners[(k + 1) % 3] + corners[(k + 2) % 3]) * 0.5;
        let Some(own) = edges.iter().position(|&e| e as usize == edge) else {
            continue;
        };
        for (place, &shared) in edges.iter().enumerate().filter(|&(place, _)| place != own) {
            for &neighbour in topology.edge_triangles[shared as usize].iter().filter(|&&t| t as usize != triangle) {
                let neighbour_edges = topology.triangle_edges[neighbour as usize];
                let Some(at) = neighbour_edges.iter().position(|&e| e == shared) else {
                    continue;
                };
                let from = middle(&flat[triangle], own);
                let laid = lay_beside(&flat[neighbour as usize], at, &flat[triangle], place);
                let distance = |k: usize| (middle(&laid, k) - from).norm();
                let nearer = (0..3).filter(|&k| k != at && neighbour_edges[k] as usize != edge).min_by(|&a, &b| {
                    distance(a).total_cmp(&distance(b)).then(neighbour_edges[a].cmp(&neighbour_edges[b]))
                });
                if let Some(k) = nearer.filter(|&k| distance(k) > 0.0) {
                    let (edge, other) = (edge as u32, neighbour_edges[k]);
                    pairs.push(Pair { particles: [edge.min(other), edge.max(other)], rest: distance(k) });
                }
            }
        }
    }
    pairs.sort_unstable_by_key(|pair| pair.particles);
    pairs.dedup_by_key(|pair| pair.particles);
    pairs
}

/// A neighbour's corners in a triangle's plane: its edge opposite to corner `at` on the triangle's edge opposite to corner `place`,
/// the rest on the other side. Edge lengths that differ (seams) are scaled.
fn lay_beside(neighbour: &[Vec2; 3], at: usize, triangle: &[Vec2; 3], place: usize) -> [Vec2; 3] {
    let [p, q] = [triangle[(place + 1) % 3], triangle[(place + 2) % 3]];
    let [a, b, apex] = [neighbour[(at + 1) % 3], neighbour[(at + 2) % 3], neighbour[at]];
    let base = b - a;
    let along = (apex - a).dot(&base) / base.norm_squared();
    let beside = ((apex - a).perp(&base) / base.norm_squared()).abs();
    // Corners of both run the same way round, so the shared edge runs backwards in the neighbour.
    let edge = p - q;
    let mut out = Vec2::new(-edge.y, edge.x);
    if out.dot(&(triangle[place] - p)) > 0.0 {
        out = -out;
    }
    let mut laid = [Vec2::zeros(); 3];
    laid[(at + 1) % 3] = q;
    laid[(at + 2) % 3] = p;
    laid[at] = q + edge * along + out * beside;
    laid
}

/// Area of a flat triangle [m²].
pub fn flat_area(corners: &[Vec2; 3]) -> f64 {
    0.5 * (corners[1] - corners[0]).perp(&(corners[2] - corners[0])).abs()
}
