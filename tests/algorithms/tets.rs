//! Volumes, faces, edges and angles of tetrahedra.

use kiln::math::Vec3;
use kiln::mesh::tets::{TetMesh, tet_volume};

use crate::{Random, assert_close};

fn one(points: [Vec3; 4]) -> TetMesh {
    TetMesh { positions: points.to_vec(), tets: vec![[0, 1, 2, 3]], cells: vec![], cell_size: 1.0 }
}

fn regular() -> [Vec3; 4] {
    [Vec3::new(1.0, 1.0, 1.0), Vec3::new(-1.0, 1.0, -1.0), Vec3::new(1.0, -1.0, -1.0), Vec3::new(-1.0, -1.0, 1.0)]
}

fn corner() -> [Vec3; 4] {
    [Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z()]
}

#[test]
fn a_volume_is_a_sixth_of_the_determinant() {
    assert_close(tet_volume(corner()), 1.0 / 6.0, 1e-15);
    let [a, b, c, d] = corner();
    assert_close(tet_volume([a, c, b, d]), -1.0 / 6.0, 1e-15);
    let mut random = Random(90);
    for _ in 0..50 {
        let points = [0; 4].map(|_| random.vector());
        let pose = random.pose();
        let moved = points.map(|p| (pose.rotation * p) * 2.0 + pose.translation);
        assert_close(tet_volume(moved), 8.0 * tet_volume(points), 1e-12);
    }
}

#[test]
fn a_regular_tetrahedron_is_the_best() {
    let quality = one(regular()).quality().unwrap();
    let angle = (1.0_f64 / 3.0).acos().to_degrees();
    assert_close(quality.smallest_angle, angle, 1e-9);
    assert_close(quality.largest_angle, angle, 1e-9);
    assert_close(quality.worst_ratio, 1.0, 1e-12);
    assert_close(quality.worst_volume, 8.0 / 3.0, 1e-12);
    let quality = one(corner()).quality().unwrap();
    assert_close(quality.smallest_angle, 2.0_f64.sqrt().atan().to_degrees(), 1e-9);
    assert_close(quality.largest_angle, 90.0, 1e-9);
    // Inscribed radius 1 / (3 + √3), circumscribed √3 / 2.
    assert_close(quality.worst_ratio, 6.0 / ((3.0 + 3.0_f64.sqrt()) * 3.0_f64.sqrt()), 1e-12);
}

#[test]
fn the_worst_is_named() {
    let mut mesh = one(regular());
    mesh.positions.extend(corner());
    mesh.tets.extend([[4, 5, 6, 7], [4, 6, 5, 7]]);
    let quality = mesh.quality().unwrap();
    assert_eq!(quality.worst, 2);
    assert!(quality.worst_ratio < -0.5 && quality.worst_volume < 0.0);
    let flat = one([Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::new(0.3, 0.3, 0.0)]).quality().unwrap();
    assert_eq!(flat.worst_ratio, 0.0);
    assert_eq!(one([Vec3::x(); 4]).quality().unwrap().worst_ratio, 0.0);
    assert!(TetMesh::default().quality().is_none());
}

#[test]
fn two_that_share_a_face_have_six_outside() {
    let mut mesh = one(corner());
    mesh.positions.push(Vec3::repeat(1.0));
    mesh.tets.push([1, 2, 3, 4]);
    assert!(mesh.volume(1) > 0.0);
    let boundary = mesh.boundary();
    assert_eq!(boundary.len(), 6);
    assert_eq!(boundary.iter().filter(|face| face.tet == 0).count(), 3);
    let middle = Vec3::repeat(0.4);
    for face in &boundary {
        let [a, b, c] = face.corners.map(|v| mesh.positions[v as usize]);
        assert!((b - a).cross(&(c - a)).dot(&(a - middle)) > 0.0, "{face:?} looks inwards");
        assert!(face.corners.iter().all(|node| mesh.tets[face.tet as usize].contains(node)));
    }
    let edges = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [1, 4], [2, 3], [2, 4], [3, 4]];
    assert_eq!(mesh.edges(), edges);
    assert_close(mesh.total_volume(), 1.0 / 6.0 + mesh.volume(1), 1e-15);
    assert!(TetMesh::default().boundary_faces().is_empty() && TetMesh::default().edges().is_empty());
}
