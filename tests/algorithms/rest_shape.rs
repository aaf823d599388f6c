//! Triangles at rest: turned without a change, or taken from the UV layout.

use kiln::mesh::generate as rule;
use kiln::mesh::simulation_mesh::SimulationMesh;
use kiln::mesh::surface::PolyMesh;
use kiln::mesh::topology::Topology;
use kiln::model::rest_shape::RestTriangles;
use kiln::scene::RestShape;
use kiln::scene::problem::{KeyPath, Problem, Severity};
use nalgebra::Vector2;

use crate::{Random, assert_close, polygons};

fn build(shape: RestShape, scale: f64, surface: &PolyMesh) -> (Option<RestTriangles>, Vec<Problem>) {
    let mut problems = Vec::new();
    let mesh = SimulationMesh::build(surface);
    (RestTriangles::build(shape, scale, surface, &mesh, &KeyPath::cloth(0), &mut problems), problems)
}

#[track_caller]
fn good(shape: RestShape, scale: f64, surface: &PolyMesh) -> RestTriangles {
    let (rest, problems) = build(shape, scale, surface);
    assert_eq!(problems, []);
    rest.unwrap()
}

/// A sheet whose vertices and UVs are moved at random: no two triangles alike.
fn crumpled(seed: u64) -> PolyMesh {
    let mut random = Random(seed);
    let mut surface = rule::sheet([6, 5], [1.0, 0.8]);
    surface.positions.iter_mut().for_each(|p| *p += random.vector() * 0.04);
    surface.uvs.iter_mut().for_each(|uv| *uv = uv.map(|x| x + random.within(-0.04, 0.04)));
    surface
}

#[test]
fn corners_know_the_polygon_they_came_from() {
    // A quad, a pentagon, and a flat triangle that is left out in between.
    let positions = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [1.0, 1.0, 0.0],
        [0.0, 1.0, 0.0],
        [2.0, 0.0, 0.0],
        [3.0, 1.0, 0.0],
        [2.0, 2.0, 0.0],
    ];
    let surface = polygons(&positions, &[&[0, 1, 2, 3], &[0, 1, 4], &[1, 4, 5, 6, 2]]);
    let mesh = SimulationMesh::build(&surface);
    assert_eq!((mesh.triangles.len(), mesh.triangle_corners.len()), (5, 5));
    for (triangle, corners) in mesh.triangles.iter().zip(&mesh.triangle_corners) {
        for (vertex, corner) in triangle.iter().zip(corners) {
            let position = surface.corners[*corner as usize].position;
            assert_eq!(mesh.from_file_vertex[position as usize], Some(*vertex));
        }
    }
    let faces: Vec<usize> = mesh.triangle_corners.iter().map(|corners| surface.face_of_corner(corners[0])).collect();
    assert_eq!(faces, [0, 0, 2, 2, 2]);
    let all: Vec<usize> = (0..surface.corners.len() as u32).map(|corner| surface.face_of_corner(corner)).collect();
    assert_eq!(all, [0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2]);
}

#[test]
fn a_mesh_keeps_its_lengths_and_areas() {
    let surface = crumpled(3);
    let mesh = SimulationMesh::build(&surface);
    let topology = Topology::build(&mesh.triangles);
    let rest = good(RestShape::Mesh, 1.0, &surface);
    assert!(rest.has_directions);
    let length = |&[a, b]: &[u32; 2]| (mesh.positions[b as usize] - mesh.positions[a as usize]).norm();
    for (edge, found) in topology.edges.iter().zip(rest.edge_lengths(&topology)) {
        assert_close(found, length(edge), 1e-14);
    }
    for (t, triangle) in mesh.triangles.iter().enumerate() {
        let area = kiln::mesh::measures::triangle_area(triangle.map(|v| mesh.positions[v as usize]));
        assert_close(rest.area(t), area, 1e-15);
        let [a, b, c] = rest.corners[t];
        assert!((b - a).perp(&(c - a)) > 0.0, "triangle {t} is seen from behind");
    }
}

#[test]
fn the_warp_runs_where_u_grows_and_v_stays() {
    for seed in 0..5 {
        let mut surface = crumpled(seed);
        if seed % 2 == 1 {
            surface.uvs.iter_mut().for_each(|uv| uv[0] = -uv[0]);
        }
        let mesh = SimulationMesh::build(&surface);
        let rest = good(RestShape::Mesh, 1.0, &surface);
        for (corners, file) in rest.corners.iter().zip(&mesh.triangle_corners) {
            let uvs = file.map(|c| Vector2::from(surface.uvs[surface.corners[c as usize].uv.unwrap() as usize]));
            // The affine map from the UV plane to the triangle at rest: where does it send (1, 0)?
            let uv_edges = nalgebra::Matrix2::from_columns(&[uvs[1] - uvs[0], uvs[2] - uvs[0]]);
            let edges = nalgebra::Matrix2::from_columns(&[corners[1] - corners[0], corners[2] - corners[0]]);
            let along = edges * uv_edges.try_inverse().unwrap() * Vector2::x();
            assert!(along.x > 0.0 && along.y.abs() < 1e-9 * along.x, "{along:?}");
        }
    }
}

#[test]
fn a_made_sheet_has_its_warp_along_x() {
    let surface = rule::sheet([3, 3], [2.0, 1.0]);
    let mesh = SimulationMesh::build(&surface);
    let rest = good(RestShape::Mesh, 1.0, &surface);
    for (corners, triangle) in rest.corners.iter().zip(&mesh.triangles) {
        let [a, b, c] = triangle.map(|v| mesh.positions[v as usize]);
        for (flat, solid) in [(corners[1] - corners[0], b - a), (corners[2] - corners[0], c - a)] {
            // Seen from above, y is up, so the weft runs towards -z.
            assert_close(flat.x, solid.x, 1e-15);
            assert_close(flat.y, -solid.z, 1e-15);
        }
    }
}

#[test]
fn without_uvs_the_world_shows_the_way() {
    let faces: [&[u32]; 1] = [&[0, 1, 2]];
    let lying = polygons(&[[0.0, 0.0, 0.0], [0.0, 0.0, 2.0], [1.0, 0.0, 0.0]], &faces);
    let rest = good(RestShape::Mesh, 1.0, &lying);
    assert!(!rest.has_directions);
    let far = rest.corners[0][2] - rest.corners[0][0];
    assert_close((far - Vector2::new(1.0, 0.0)).norm(), 0.0, 1e-15);
    // A wall across x: its warp runs along z.
    let wall = polygons(&[[0.0, 0.0, 0.0], [0.0, 0.0, 2.0], [0.0, 1.0, 0.0]], &faces);
    let rest = good(RestShape::Mesh, 1.0, &wall);
    let far = rest.corners[0][1] - rest.corners[0][0];
    assert_close((far - Vector2::new(2.0, 0.0)).norm(), 0.0, 1e-15);
    // UVs in one point are as good as none.
    let mut pointed = rule::sheet([2, 2], [1.0, 1.0]);
    pointed.uvs.iter_mut().for_each(|uv| *uv = [0.5, 0.5]);
    assert!(!good(RestShape::Mesh, 1.0, &pointed).has_directions);
}

#[test]
fn the_uv_layout_is_the_sewing_pattern() {
    // One UV unit is 1.5 m, so the layout is a square of 1.5 m; the mesh is a little smaller.
    let mut surface = rule::sheet([4, 4], [1.4, 1.4]);
    let mesh = SimulationMesh::build(&surface);
    let topology = Topology::build(&mesh.triangles);
    for mirrored in [false, true] {
        if mirrored {
            surface.uvs.iter_mut().for_each(|uv| uv[0] = 1.0 - uv[0]);
        }
        let rest = good(RestShape::Uv { metres: 1.5 }, 0.9, &surface);
        assert!(rest.has_directions);
        assert_close((0..rest.corners.len()).map(|t| rest.area(t)).sum::<f64>(), (1.5_f64 * 0.9).powi(2), 1e-12);
        assert!(rest.corners.iter().all(|[a, b, c]| (b - a).perp(&(c - a)) > 0.0));
        let shortest = rest.edge_lengths(&topology).into_iter().fold(f64::INFINITY, f64::min);
        assert_close(shortest, 1.5 * 0.9 / 3.0, 1e-12);
    }
}

#[test]
fn where_charts_disagree_an_edge_gets_the_mean() {
    let mut surface =
        polygons(&[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]], &[&[0, 1, 2], &[1, 3, 2]]);
    // The second triangle has a chart of its own, in which the shared edge is 1.25 times as long.
    surface.uvs = vec![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [5.0, 0.0], [5.0, 1.25], [3.75, 1.25]];
    for (corner, uv) in [0, 1, 2, 3, 4, 5].into_iter().enumerate() {
        surface.corners[corner].uv = Some(uv);
    }
    let rest = good(RestShape::Uv { metres: 1.0 }, 1.0, &surface);
    let topology = Topology::build(&SimulationMesh::build(&surface).triangles);
    let lengths = rest.edge_lengths(&topology);
    let shared = topology.edges.iter().position(|edge| *edge == [1, 2]).unwrap();
    assert_close(lengths[shared], 1.125 * 2.0_f64.sqrt(), 1e-15);
    assert_close(rest.area(1), 1.5625 / 2.0, 1e-15);
}

#[test]
fn a_layout_in_the_wrong_unit_is_warned_about() {
    let surface = rule::sheet([3, 3], [2.0, 2.0]);
    let (rest, problems) = build(RestShape::Uv { metres: 1.0 }, 1.0, &surface);
    assert!(rest.is_some());
    assert_eq!((problems.len(), problems[0].severity), (1, Severity::Warning));
    assert_eq!(problems[0].message, "the UV layout makes 1.00 m2 of cloth, but the mesh has 4.00 m2");
    assert!(problems[0].help.as_deref().unwrap().contains("`rest = { uv = 2.00 }`"), "{problems:?}");
}

#[test]
fn what_is_missing_in_the_layout_is_counted_and_named() {
    let uv = RestShape::Uv { metres: 1.0 };
    let bare = polygons(&[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], &[&[0, 1, 2]]);
    let (rest, problems) = build(uv, 1.0, &bare);
    assert!(rest.is_none() && problems[0].message.contains("has no UVs"), "{problems:?}");
    assert!(problems[0].help.as_deref().unwrap().contains("rest = \"mesh\""));

    let mut holed = rule::sheet([3, 2], [1.0, 1.0]);
    holed.corners[3 * 2].uv = None;
    // The last triangle lies on a line.
    let last = holed.uvs.len() as u32;
    holed.uvs.extend([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]);
    (0..3).for_each(|k| holed.corners[3 * 3 + k].uv = Some(last + k as u32));
    let (rest, problems) = build(uv, 1.0, &holed);
    assert!(rest.is_none());
    let messages: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(messages.len(), 2);
    assert!(messages[0].starts_with("1 triangle has no UVs") && messages[0].contains("face 2"), "{messages:?}");
    assert!(messages[1].starts_with("1 triangle has no area") && messages[1].contains("face 3"), "{messages:?}");
}

#[test]
fn shrinking_scales_every_length() {
    let surface = crumpled(9);
    let topology = Topology::build(&SimulationMesh::build(&surface).triangles);
    let [full, shrunk] = [1.0, 0.8].map(|scale| good(RestShape::Mesh, scale, &surface).edge_lengths(&topology));
    full.iter().zip(&shrunk).for_each(|(full, shrunk)| assert_close(*shrunk, 0.8 * full, 1e-15));
}
