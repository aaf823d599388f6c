//! Meshes made by rule.

use kiln::mesh::generate::{disc, quad_sheet, sheet};
use kiln::mesh::surface::PolyMesh;

use crate::{Mesh, assert_close};

#[track_caller]
fn check(polygons: &PolyMesh, area: f64, tolerance: f64) {
    let mesh = Mesh::of(polygons);
    assert_eq!(mesh.triangles.len(), polygons.face_count(), "a triangle was left out");
    assert_eq!(mesh.positions.len(), polygons.positions.len(), "a vertex was left out");
    assert_close(mesh.area(), area, tolerance);
    for t in 0..mesh.triangles.len() {
        let [a, b, c] = mesh.points(t);
        assert!((b - a).cross(&(c - a)).y > 0.0, "triangle {t} looks down");
    }
    assert_eq!(polygons.uvs.len(), polygons.positions.len());
    assert!(polygons.uvs.iter().flatten().all(|x| (-1e-12..=1.0 + 1e-12).contains(x)));
    assert!(mesh.topology.edge_triangles.iter().all(|triangles| triangles.len() <= 2));
    assert_eq!(mesh.topology.boundary_loops().len(), 1);
}

#[test]
fn a_sheet_has_its_size_and_looks_up() {
    for (vertices, size) in [([2, 2], [1.0, 1.0]), ([7, 3], [0.5, 2.0]), ([41, 41], [4.0, 4.0])] {
        let mesh = sheet(vertices, size);
        check(&mesh, size[0] * size[1], 1e-12 * mesh.positions.len() as f64);
        assert_eq!(mesh.positions.len() as u32, vertices[0] * vertices[1]);
        let last = mesh.positions.last().unwrap();
        assert_close(last.x, size[0] / 2.0, 1e-15);
        assert_close(mesh.positions[1].x - mesh.positions[0].x, size[0] / f64::from(vertices[0] - 1), 1e-15);
    }
}

#[test]
fn a_quad_sheet_is_the_sheet_with_four_corners_a_face() {
    for (vertices, size) in [([2, 2], [1.0, 1.0]), ([7, 3], [0.5, 2.0]), ([20, 31], [4.0, 4.0])] {
        let (quads, triangles) = (quad_sheet(vertices, size), sheet(vertices, size));
        assert_eq!(quads.positions, triangles.positions);
        assert_eq!(quads.uvs, triangles.uvs);
        assert_eq!(quads.face_count() as u32, (vertices[0] - 1) * (vertices[1] - 1));
        let cell = [size[0] / f64::from(vertices[0] - 1), size[1] / f64::from(vertices[1] - 1)];
        for face in 0..quads.face_count() {
            let corners = quads.face(face);
            assert_eq!(corners.len(), 4);
            let [a, b, c, d] = [0, 1, 2, 3].map(|k| quads.positions[corners[k].position as usize]);
            assert!((b - a).cross(&(c - b)).y > 0.0, "face {face} looks down");
            assert_close((b - a).norm(), cell[1], 1e-12);
            assert_close((c - b).norm(), cell[0], 1e-12);
            assert!((a + c - b - d).norm() < 1e-12 && (b - a).dot(&(c - b)).abs() < 1e-12);
            assert!(corners.iter().all(|corner| corner.uv == Some(corner.position)));
        }
        let mesh = Mesh::of(&quads);
        assert_close(mesh.area(), size[0] * size[1], 1e-12 * size[0] * size[1]);
        assert_eq!(mesh.positions.len(), quads.positions.len());
    }
}

#[test]
fn diagonals_alternate_like_a_chessboard() {
    // Inner vertices have four or eight neighbours in turn.
    let mesh = Mesh::sheet(6, 6, 1.0, 1.0);
    let degree = |v: u32| mesh.topology.edges.iter().filter(|edge| edge.contains(&v)).count();
    for (column, row) in (1..5).flat_map(|c| (1..5).map(move |r| (c, r))) {
        assert_eq!(degree(row * 6 + column), if (column + row) % 2 == 0 { 8 } else { 4 });
    }
}

#[test]
fn a_disc_has_the_area_of_its_rim_polygon_and_all_its_vertices() {
    for inner in (1..60).chain([91, 500, 2302]) {
        for rim in [3, 4, 17, 120] {
            let mesh = disc(0.75, inner, rim);
            let angle = std::f64::consts::TAU / f64::from(rim);
            // Inner rings may reach over the straight edges of a coarse rim.
            if rim >= 17 && f64::from(inner) < 10.0 * f64::from(rim) {
                check(&mesh, 0.5 * f64::from(rim) * 0.75 * 0.75 * angle.sin(), 1e-12);
            }
            assert_eq!(
                mesh.positions.len() as u32,
                (if inner < 4 { 1 } else { inner }) + rim,
                "inner {inner}, rim {rim}"
            );
        }
    }
    check(&disc(0.75, 2302, 120), 0.5 * 120.0 * 0.75 * 0.75 * (std::f64::consts::TAU / 120.0).sin(), 1e-12);
}
