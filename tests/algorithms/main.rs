//! The mathematics: analytic cases, invariants, degenerate input, and the slow obvious way against the fast one.
#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

#[path = "../support/mod.rs"]
mod support;

mod affine;
mod air;
mod animated;
mod attachment;
mod bending;
mod bin_csr;
mod build_maps;
mod bvh;
mod closest;
mod conforming_map;
mod conjugate_gradient;
mod continuous;
mod curve;
mod damping;
mod distance;
mod edge_spring;
mod elastic;
mod embedding;
mod fast_summation;
mod generate;
mod geodesic;
mod independent_groups;
mod keys;
mod linear_system;
mod matching;
mod measures;
mod motion;
mod noise;
mod nonconforming;
mod normals;
mod pair;
mod paths;
mod polar;
mod proximity;
mod pseudo_volume;
mod render_mesh;
mod rest_shape;
mod resting;
mod rows;
mod signed_distance;
mod simulation_mesh;
mod sparse_cholesky;
mod strips;
mod sums;
mod surface_volume;
mod surfaces;
mod tet_lattice;
mod tet_volume;
mod tets;
mod threads;
mod topology;
mod triangulate;
mod untangle;

use kiln::math::motion::{Pose, rotation_from_degrees};
use kiln::math::{Vec2, Vec3};
use kiln::mesh::generate as rule;
use kiln::mesh::simulation_mesh::SimulationMesh;
use kiln::mesh::surface::{Corner, PolyMesh};
use kiln::mesh::topology::Topology;

/// Random numbers that are the same in every run (SplitMix64).
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// At least `low`, below `high`.
    fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// 0 to `count - 1`.
    fn below(&mut self, count: usize) -> usize {
        (self.bits() % count as u64) as usize
    }

    /// A vector in the cube from -1 to 1.
    fn vector(&mut self) -> Vec3 {
        Vec3::from_fn(|_, _| self.within(-1.0, 1.0))
    }

    fn vectors(&mut self, count: usize) -> Vec<Vec3> {
        (0..count).map(|_| self.vector()).collect()
    }

    fn pose(&mut self) -> Pose {
        Pose { rotation: rotation_from_degrees(self.vector() * 180.0), translation: self.vector() * 3.0 }
    }
}

#[track_caller]
fn assert_close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} is not {expected} (tolerance {tolerance})");
}

#[track_caller]
fn assert_near(found: Vec3, expected: Vec3, tolerance: f64) {
    assert!((found - expected).norm() <= tolerance, "{found:?} is not {expected:?} (tolerance {tolerance})");
}

/// A triangle mesh and its edges.
#[derive(Clone)]
struct Mesh {
    positions: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    topology: Topology,
}

impl Mesh {
    fn new(positions: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Mesh {
        let topology = Topology::build(&triangles);
        Mesh { positions, triangles, topology }
    }

    fn of(polygons: &PolyMesh) -> Mesh {
        let mesh = SimulationMesh::build(polygons);
        Mesh::new(mesh.positions, mesh.triangles)
    }

    fn sheet(columns: u32, rows: u32, width: f64, depth: f64) -> Mesh {
        Mesh::of(&rule::sheet([columns, rows], [width, depth]))
    }

    fn disc(radius: f64, inner: u32, rim: u32) -> Mesh {
        Mesh::of(&rule::disc(radius, inner, rim))
    }

    /// Equilateral triangles in rows, about `width` by `depth`, the edges `edge` long, in the xz-plane around the origin.
    fn equilateral(width: f64, depth: f64, edge: f64) -> Mesh {
        let (columns, rows) =
            ((width / edge).round() as u32 + 1, (depth / (edge * 0.75_f64.sqrt())).round() as u32 + 1);
        let mut positions = Vec::new();
        let mut triangles = Vec::new();
        for j in 0..rows {
            for i in 0..columns {
                let x = f64::from(i) + if j % 2 == 0 { 0.0 } else { 0.5 };
                positions.push(Vec3::new(
                    x * edge - 0.5 * width,
                    0.0,
                    f64::from(j) * edge * 0.75_f64.sqrt() - 0.5 * depth,
                ));
                if i + 1 < columns && j + 1 < rows {
                    let [a, b, c, d] =
                        [j * columns + i, j * columns + i + 1, (j + 1) * columns + i, (j + 1) * columns + i + 1];
                    triangles.extend(if j % 2 == 0 { [[a, c, b], [b, c, d]] } else { [[a, c, d], [a, d, b]] });
                }
            }
        }
        Mesh::new(positions, triangles)
    }

    /// The unit sphere: an icosahedron, halved `times` times.
    fn icosphere(times: u32) -> Mesh {
        let g = f64::midpoint(1.0, 5.0_f64.sqrt());
        let mut positions: Vec<Vec3> = Vec::new();
        for (a, b) in [(1.0, g), (-1.0, g), (1.0, -g), (-1.0, -g)] {
            positions.extend([Vec3::new(0.0, a, b), Vec3::new(a, b, 0.0), Vec3::new(b, 0.0, a)]);
        }
        // Neighbours are at distance 2: every triple of them is a face.
        let near = |a: usize, b: usize| ((positions[a] - positions[b]).norm() - 2.0).abs() < 1e-9;
        let mut triangles = Vec::new();
        for a in 0..12 {
            for b in a + 1..12 {
                for c in b + 1..12 {
                    if near(a, b) && near(b, c) && near(a, c) {
                        let volume = positions[a].dot(&positions[b].cross(&positions[c]));
                        triangles.push(if volume > 0.0 { [a, b, c] } else { [a, c, b] }.map(|v| v as u32));
                    }
                }
            }
        }
        assert_eq!(triangles.len(), 20);
        for _ in 0..times {
            let topology = Topology::build(&triangles);
            let first = positions.len() as u32;
            let middle = |&[a, b]: &[u32; 2]| (positions[a as usize] + positions[b as usize]).normalize();
            let middles: Vec<Vec3> = topology.edges.iter().map(middle).collect();
            positions.extend(middles);
            let halve = |(&[a, b, c], edges): (&[u32; 3], &[u32; 3])| {
                let [p, q, r] = edges.map(|edge| edge + first);
                [[a, r, q], [b, p, r], [c, q, p], [p, q, r]]
            };
            triangles = triangles.iter().zip(&topology.triangle_edges).flat_map(halve).collect();
        }
        Mesh::new(positions.iter().map(|p| p.normalize()).collect(), triangles)
    }

    /// The same connectivity, every vertex moved at random.
    fn shaken(mut self, by: f64, random: &mut Random) -> Mesh {
        self.positions.iter_mut().for_each(|p| *p += random.vector() * by);
        self
    }

    /// The same, but flat stays flat.
    fn shaken_in_plane(mut self, by: f64, random: &mut Random) -> Mesh {
        self.positions.iter_mut().for_each(|p| *p += random.vector().component_mul(&Vec3::new(by, 0.0, by)));
        self
    }

    /// Bent to a cylinder of this radius about z, isometrically.
    fn rolled(mut self, radius: f64) -> Mesh {
        let roll = |p: &Vec3| {
            let angle = p.x / radius;
            Vec3::new(radius * angle.sin(), radius * (1.0 - angle.cos()) + p.y, p.z)
        };
        self.positions.iter_mut().for_each(|p| *p = roll(p));
        self
    }

    fn points(&self, triangle: usize) -> [Vec3; 3] {
        self.triangles[triangle].map(|v| self.positions[v as usize])
    }

    /// Every triangle laid into a plane of its own, lengths and corners' order kept.
    fn flat(&self) -> Vec<[Vec2; 3]> {
        let lay = |triangle: usize| {
            let [a, b, c] = self.points(triangle);
            let along = (b - a).normalize();
            let x = (c - a).dot(&along);
            [Vec2::zeros(), Vec2::new((b - a).norm(), 0.0), Vec2::new(x, (c - a - along * x).norm())]
        };
        (0..self.triangles.len()).map(lay).collect()
    }

    fn edge_lengths(&self) -> Vec<f64> {
        self.topology.edges.iter().map(|ends| self.distance(ends[0], ends[1])).collect()
    }

    fn distance(&self, a: u32, b: u32) -> f64 {
        (self.positions[a as usize] - self.positions[b as usize]).norm()
    }

    /// The triangles of each vertex.
    fn vertex_triangles(&self) -> Vec<Vec<u32>> {
        let mut found = vec![Vec::new(); self.positions.len()];
        for (t, corners) in self.triangles.iter().enumerate() {
            corners.iter().for_each(|&v| found[v as usize].push(t as u32));
        }
        found
    }

    fn area(&self) -> f64 {
        (0..self.triangles.len()).map(|t| doubled_area(self.points(t)) / 2.0).sum()
    }

    fn midpoints(&self) -> Vec<Vec3> {
        self.topology
            .edges
            .iter()
            .map(|ends| ends.iter().map(|&v| self.positions[v as usize]).sum::<Vec3>() / 2.0)
            .collect()
    }
}

fn doubled_area([a, b, c]: [Vec3; 3]) -> f64 {
    (b - a).cross(&(c - a)).norm()
}

/// A mesh of polygons from their corners.
fn polygons(positions: &[[f64; 3]], faces: &[&[u32]]) -> PolyMesh {
    let mut mesh = PolyMesh { face_starts: vec![0], ..PolyMesh::default() };
    mesh.positions = positions.iter().map(|&p| Vec3::from(p)).collect();
    for face in faces {
        mesh.corners.extend(face.iter().map(|&position| Corner { position, uv: None, normal: None }));
        mesh.face_starts.push(mesh.corners.len() as u32);
    }
    mesh
}
