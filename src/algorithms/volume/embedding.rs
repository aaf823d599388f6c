//! A mesh carried by tetrahedra: each of its points as a mean of four nodes.
//!
//! Based on: [Bender14 §4.4.1.1] (Freiform-Deformation); Milliron et al. 2002
//! Idea:     barycentric coordinates in the tetrahedron that holds a point; what moves all nodes linearly moves the
//!           point so.
//! Deviates: a point outside is extrapolated from the tetrahedron at the nearest place of the surface; where several
//!           are equally near, from the one that it is least outside of, then from the lowest.
//! Test:     tests/algorithms/embedding.rs

use crate::math::rows::Rows;
use crate::math::{Mat3, Vec3};
use crate::mesh::bvh::Bvh;
use crate::mesh::closest::closest_on_triangle;
use crate::mesh::measures::bounds;
use crate::mesh::tets::TetMesh;

/// A weight that is negative by no more than this is on a face.
const ON_FACE: f64 = 1e-12;

/// A point that no tetrahedron holds, but one misses it by no more than this weight, fell between two of them by
/// rounding.
const BETWEEN: f64 = 1e-9;

/// Places whose distances differ by less than this part of a cell are equally near.
const TIE: f64 = 1e-9;

/// Most bins along an axis: more would cost memory for tetrahedra that are far from each other and save no time.
const MOST_BINS: f64 = 256.0;

/// Where points are in a mesh of tetrahedra.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Embedding {
    /// The tetrahedron of each point.
    pub tets: Vec<u32>,
    /// Nodes and weights of each point; the weights sum to one.
    pub weights: Vec<[(u32, f64); 4]>,
    /// How far each point is outside, in cells; 0 inside.
    pub outside: Vec<f64>,
}

impl Embedding {
    /// Find all points, which are at finite places. Without tetrahedra nothing is found and the result is empty.
    pub fn build(mesh: &TetMesh, points: &[Vec3]) -> Self {
        let mut embedding = Embedding::default();
        if let Some(finder) = TetFinder::new(mesh) {
            for point in points {
                let (tet, weights, outside) = finder.find(*point);
                embedding.tets.push(tet);
                embedding.weights.push(weights);
                embedding.outside.push(outside);
            }
        }
        embedding
    }

    /// A point from the nodes' values (positions or velocities).
    #[inline]
    pub fn point(&self, point: usize, nodes: &[Vec3]) -> Vec3 {
        self.weights[point].iter().fold(Vec3::zeros(), |sum, &(node, weight)| sum + nodes[node as usize] * weight)
    }
}

/// Finds tetrahedra by place.
#[derive(Clone, Debug)]
pub struct TetFinder<'a> {
    mesh: &'a TetMesh,
    /// First corner and inverse of the three edges that leave it.
    frames: Vec<(Vec3, Mat3)>,
    low: Vec3,
    bin: f64,
    bins: [usize; 3],
    /// Ascending.
    bin_tets: Rows<u32>,
    faces: Vec<[u32; 3]>,
    face_tets: Vec<u32>,
    bvh: Bvh,
}

impl<'a> TetFinder<'a> {
    /// Sort tetrahedra into bins of a cell's size. `None` without tetrahedra, or if a node is not at a finite place.
    pub fn new(mesh: &'a TetMesh) -> Option<Self> {
        let is_finite = mesh.positions.iter().all(|p| p.iter().all(|x| x.is_finite()));
        let (low, high) = bounds(mesh.tets.iter().flatten().map(|&node| mesh.positions[node as usize]))?;
        let bin = mesh.cell_size.max((high - low).max() / MOST_BINS);
        if !is_finite || bin <= 0.0 || !bin.is_finite() {
            return None;
        }
        let low = low.add_scalar(-TIE * bin);
        let bins: [usize; 3] = std::array::from_fn(|axis| ((high - low)[axis] / bin + TIE) as usize + 1);
        let mut bin_tets: Vec<Vec<u32>> = vec![Vec::new(); bins.iter().product()];
        for tet in 0..mesh.tets.len() {
            let (tet_low, tet_high) = bounds(mesh.points(tet))?;
            let place =
                |p: Vec3, by: f64, axis: usize| (((p - low)[axis] / bin + by).max(0.0) as usize).min(bins[axis] - 1);
            let range: [_; 3] = std::array::from_fn(|axis| place(tet_low, -TIE, axis)..=place(tet_high, TIE, axis));
            for z in range[2].clone() {
                for y in range[1].clone() {
                    for x in range[0].clone() {
                        bin_tets[(z * bins[1] + y) * bins[0] + x].push(tet as u32);
                    }
                }
            }
        }
        let frame = |tet: usize| {
            let [a, b, c, d] = mesh.points(tet);
            (a, Mat3::from_columns(&[b - a, c - a, d - a]).try_inverse().unwrap_or_else(Mat3::zeros))
        };
        let boundary = mesh.boundary();
        let faces: Vec<[u32; 3]> = boundary.iter().map(|face| face.corners).collect();
        Some(TetFinder {
            mesh,
            frames: (0..mesh.tets.len()).map(frame).collect(),
            low,
            bin,
            bins,
            bin_tets: bin_tets.into_iter().collect(),
            bvh: Bvh::build(&mesh.positions, &faces),
            faces,
            face_tets: boundary.iter().map(|face| face.tet).collect(),
        })
    }

    /// The tetrahedron that holds a point, or the nearest; nodes and weights; how far outside, in cells.
    pub fn find(&self, p: Vec3) -> (u32, [(u32, f64); 4], f64) {
        let mut least_outside: Option<(u32, [f64; 4])> = None;
        for &tet in self.candidates(p) {
            let weights = self.weights(tet, p);
            if smallest(weights) >= -ON_FACE {
                return (tet, self.named(tet, onto_face(weights)), 0.0);
            }
            if least_outside.is_none_or(|(_, least)| smallest(weights) > smallest(least)) {
                least_outside = Some((tet, weights));
            }
        }
        match least_outside {
            Some((tet, weights)) if smallest(weights) >= -BETWEEN => (tet, self.named(tet, weights), 0.0),
            _ => self.nearest(p),
        }
    }

    /// The tetrahedra near a point, ascending.
    fn candidates(&self, p: Vec3) -> &[u32] {
        let along = (p - self.low) / self.bin;
        if !(0..3).all(|axis| along[axis] >= 0.0 && along[axis] < self.bins[axis] as f64) {
            return &[];
        }
        let [x, y, z] = [0, 1, 2].map(|axis| along[axis] as usize);
        self.bin_tets.row((z * self.bins[1] + y) * self.bins[0] + x)
    }

    fn nearest(&self, p: Vec3) -> (u32, [(u32, f64); 4], f64) {
        let tie = TIE * self.mesh.cell_size;
        // Distance, tetrahedron and weights of the best so far.
        let mut best = (f64::INFINITY, 0, [f64::NEG_INFINITY; 4]);
        self.bvh.near(p, f64::INFINITY, |face| {
            let corners = self.faces[face as usize].map(|node| self.mesh.positions[node as usize]);
            let distance = (closest_on_triangle(p, corners).0 - p).norm();
            if distance <= best.0 + tie {
                let tet = self.face_tets[face as usize];
                let weights = self.weights(tet, p);
                // Faces that share the nearest edge or corner differ by rounding; a shape does not.
                let (here, there) = (smallest(weights), smallest(best.2));
                if distance < best.0 - tie || here > there + TIE || (here > there - TIE && tet < best.1) {
                    (best.1, best.2) = (tet, weights);
                }
                best.0 = distance.min(best.0);
            }
            (best.0 + tie).powi(2)
        });
        (best.1, self.named(best.1, best.2), best.0 / self.mesh.cell_size)
    }

    /// Barycentric coordinates.
    fn weights(&self, tet: u32, p: Vec3) -> [f64; 4] {
        let (origin, inverse) = &self.frames[tet as usize];
        let w = inverse * (p - origin);
        [1.0 - w.x - w.y - w.z, w.x, w.y, w.z]
    }

    fn named(&self, tet: u32, weights: [f64; 4]) -> [(u32, f64); 4] {
        let nodes = self.mesh.tets[tet as usize];
        [0, 1, 2, 3].map(|k| (nodes[k], weights[k]))
    }
}

fn smallest(weights: [f64; 4]) -> f64 {
    weights.into_iter().fold(f64::INFINITY, f64::min)
}

/// What is negative by rounding becomes zero at the largest one's cost.
fn onto_face(mut weights: [f64; 4]) -> [f64; 4] {
    let largest = (1..4).fold(0, |largest, k| if weights[k] > weights[largest] { k } else { largest });
    for k in 0..4 {
        if weights[k] < 0.0 {
            weights[largest] += weights[k];
            weights[k] = 0.0;
        }
    }
    weights
}
