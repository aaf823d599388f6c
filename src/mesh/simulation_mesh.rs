//! The artist's polygons as the simulation sees them: welded triangles, with the way back to every file vertex.
//!
//! What cannot be simulated (flat triangles, faces drawn twice, vertices without a face) is left out here and counted, never
//! removed from what is written.

use std::collections::HashMap;

use super::surface::PolyMesh;
use super::triangulate::triangulate;
use crate::math::Vec3;

/// Below this ratio of height to longest edge a triangle has no usable direction in f64; it is left out.
const THINNEST_TRIANGLE: f64 = 1e-7;

/// What was found and left out while building.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// File vertices that share a position with an earlier one.
    pub welded_vertices: usize,
    /// Triangles without area.
    pub degenerate_triangles: usize,
    /// Triangles with the same three vertices as an earlier one.
    pub duplicate_triangles: usize,
    /// File vertices without a usable face: they stay where they are.
    pub isolated_vertices: usize,
}

/// Welded triangles and the maps to the file's vertices.
#[derive(Clone, Debug, Default)]
pub struct SimulationMesh {
    /// One entry a distinct, used position.
    pub positions: Vec<Vec3>,
    /// Corners into `positions`.
    pub triangles: Vec<[u32; 3]>,
    /// For each corner of a triangle the corner of the file's polygons that it is, into `PolyMesh::corners`.
    pub triangle_corners: Vec<[u32; 3]>,
    /// For each file vertex its simulation vertex; `None` where no usable face holds it.
    pub from_file_vertex: Vec<Option<u32>>,
    /// What was left out.
    pub findings: Findings,
}

impl SimulationMesh {
    /// Triangulate and weld by exact position: exporters repeat a position digit for digit along seams, while layers that
    /// only come close must stay apart.
    pub fn build(mesh: &PolyMesh) -> Self {
        Self::build_apart(mesh, |_| 0)
    }

    /// The same, but only vertices with equal `binding`s are welded: those that will not stay together must not be.
    pub fn build_apart(mesh: &PolyMesh, binding: impl Fn(usize) -> u64) -> Self {
        let mut findings = Findings::default();
        let mut by_position: HashMap<[u64; 4], u32> = HashMap::with_capacity(mesh.positions.len());
        let mut welded_positions: Vec<Vec3> = Vec::new();
        let welded: Vec<u32> = mesh
            .positions
            .iter()
            .enumerate()
            .map(|(vertex, p)| {
                let [x, y, z] = [p.x, p.y, p.z].map(|x| (x + 0.0).to_bits()); // + 0.0 makes -0 and 0 the same
                let key = [x, y, z, binding(vertex)];
                *by_position.entry(key).or_insert_with(|| {
                    welded_positions.push(*p);
                    welded_positions.len() as u32 - 1
                })
            })
            .collect();
        findings.welded_vertices = welded.len() - welded_positions.len();

        let mut seen = std::collections::HashSet::new();
        let (mut triangles, mut triangle_corners) = (Vec::new(), Vec::new());
        for face in 0..mesh.face_count() {
            let corners: Vec<u32> = mesh.face(face).iter().map(|c| welded[c.position as usize]).collect();
            let points: Vec<Vec3> = corners.iter().map(|&c| welded_positions[c as usize]).collect();
            for triangle in triangulate(&points) {
                let [a, b, c] = triangle.map(|k| points[k]);
                let longest = (b - a).norm_squared().max((c - b).norm_squared()).max((a - c).norm_squared());
                if (b - a).cross(&(c - a)).norm() <= THINNEST_TRIANGLE * longest {
                    findings.degenerate_triangles += 1;
                    continue;
                }
                let file_corners = triangle.map(|k| mesh.face_starts[face] + k as u32);
                let triangle = triangle.map(|k| corners[k]);
                let mut set = triangle;
                set.sort_unstable();
                if seen.insert(set) {
                    triangles.push(triangle);
                    triangle_corners.push(file_corners);
                } else {
                    findings.duplicate_triangles += 1;
                }
            }
        }

        // Number the used vertices in the order of the file.
        let mut used = vec![false; welded_positions.len()];
        triangles.iter().flatten().for_each(|&v: &u32| used[v as usize] = true);
        let mut number = vec![None; welded_positions.len()];
        let mut positions = Vec::new();
        for (v, &is_used) in used.iter().enumerate() {
            if is_used {
                number[v] = Some(positions.len() as u32);
                positions.push(welded_positions[v]);
            }
        }
        for corner in triangles.iter_mut().flatten() {
            *corner = number[*corner as usize].unwrap_or_default();
        }
        let from_file_vertex: Vec<Option<u32>> = welded.iter().map(|&v| number[v as usize]).collect();
        findings.isolated_vertices = from_file_vertex.iter().filter(|v| v.is_none()).count();
        SimulationMesh { positions, triangles, triangle_corners, from_file_vertex, findings }
    }

    /// Give the vertices new numbers: `order` are the old ones in the new order. Triangles follow their first vertices.
    pub fn renumber(&mut self, order: &[u32]) {
        let mut number = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            number[old as usize] = new as u32;
        }
        self.positions = order.iter().map(|&old| self.positions[old as usize]).collect();
        let mut triangles: Vec<([u32; 3], [u32; 3])> = (self.triangles.iter().zip(&self.triangle_corners))
            .map(|(corners, of_file)| (corners.map(|v| number[v as usize]), *of_file))
            .collect();
        triangles.sort_by_key(|(corners, of_file)| (corners.iter().copied().min(), *of_file));
        (self.triangles, self.triangle_corners) = triangles.into_iter().unzip();
        self.from_file_vertex.iter_mut().flatten().for_each(|v| *v = number[*v as usize]);
    }
}
