//! Meshes made by rule.

use kiln::mesh::generate::{ball, cuboid, disc, quad_sheet, sheet, sphere, torus};
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

/// Closed, faces outwards (so the volume is above zero), and nothing of it is lost or without area.
#[track_caller]
fn check_closed(polygons: &PolyMesh, vertex_count: u32, euler: i64, volume: f64, tolerance: f64) {
    let mesh = Mesh::of(polygons);
    assert_eq!(polygons.positions.len() as u32, vertex_count);
    assert_eq!(mesh.positions.len(), polygons.positions.len(), "a vertex was left out");
    assert_eq!(mesh.triangles.len(), polygons.face_count(), "a triangle was left out");
    let mut sides: Vec<[u32; 2]> = mesh.triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).collect();
    sides.sort_unstable();
    let side_count = sides.len();
    sides.dedup();
    assert_eq!(sides.len(), side_count, "two triangles have an edge in the same direction");
    assert!(sides.iter().all(|&[a, b]| sides.binary_search(&[b, a]).is_ok()), "it is open");
    assert_eq!(i64::from(vertex_count) + mesh.triangles.len() as i64 - sides.len() as i64 / 2, euler);
    let mut found = 0.0;
    for t in 0..mesh.triangles.len() {
        let [a, b, c] = mesh.points(t);
        let area = 0.5 * (b - a).cross(&(c - a)).norm();
        assert!(area > 1e-3 * (b - a).norm_squared(), "triangle {t} has an area of {area}");
        found += a.dot(&b.cross(&c)) / 6.0;
    }
    assert_close(found, volume, tolerance * volume);
}

/// UVs may have a seam, but none of them is mirrored or flat.
#[track_caller]
fn check_uvs(polygons: &PolyMesh) {
    for face in 0..polygons.face_count() {
        let [a, b, c] = [0, 1, 2].map(|k| polygons.uvs[polygons.face(face)[k].uv.unwrap() as usize]);
        let area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
        assert!(area > 0.0, "face {face} has a UV area of {area}");
    }
    assert!(polygons.uvs.iter().flatten().all(|x| (0.0..=1.0).contains(x)));
}

#[test]
fn boxes_and_balls_are_closed_and_have_their_volume() {
    check_closed(&cuboid([1.0, 0.5, 2.0], [5, 3, 9]), 114, 2, 1.0, 1e-12);
    check_closed(&cuboid([1.0, 1.0, 1.0], [2, 2, 2]), 8, 2, 1.0, 1e-12);
    check_closed(&ball(0.5, 17), 1538, 2, std::f64::consts::PI / 6.0, 0.01);
}

#[test]
fn a_sphere_is_closed_and_has_its_volume() {
    let full = 4.0 / 3.0 * std::f64::consts::PI;
    for (rings, segments, tolerance) in [(39, 40, 0.008), (40, 39, 0.008), (200, 7, 0.15), (2, 300, 0.5)] {
        let mesh = sphere(0.5, rings, segments);
        check_closed(&mesh, rings * segments + 2, 2, full * 0.125, tolerance);
        check_uvs(&mesh);
        assert!(mesh.positions.iter().all(|p| (p.norm() - 0.5).abs() < 1e-15));
        assert_close(mesh.positions[0].y, 0.5, 0.0);
        assert_close(mesh.positions.last().unwrap().y, -0.5, 0.0);
    }
    // Two pyramids.
    check_closed(&sphere(1.0, 1, 3), 5, 2, 0.75_f64.sqrt(), 1e-12);
    check_closed(&sphere(1.0, 1, 4), 6, 2, 4.0 / 3.0, 1e-12);
}

#[test]
fn a_torus_is_closed_and_has_its_volume() {
    let full = 2.0 * std::f64::consts::PI.powi(2) * 0.5 * 0.2 * 0.2;
    for (around, across, tolerance) in [(26, 15, 0.05), (60, 60, 0.005), (3, 3, 0.9), (4, 5, 0.7), (3, 50, 0.7)] {
        let mesh = torus(0.5, 0.2, around, across);
        check_closed(&mesh, around * across, 0, full, tolerance);
        check_uvs(&mesh);
        let ring = |x: f64, z: f64| x.hypot(z) - 0.5;
        assert!(mesh.positions.iter().all(|p| (ring(p.x, p.z).hypot(p.y) - 0.2).abs() < 1e-15));
    }
}
