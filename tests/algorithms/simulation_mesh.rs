//! Polygons welded into triangles, with the way back to the file's vertices.

use kiln::mesh::simulation_mesh::{Findings, SimulationMesh};

use crate::polygons;

#[test]
fn a_seam_is_welded_and_both_sides_map_to_the_same_vertex() {
    let positions =
        [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]];
    let mesh = SimulationMesh::build(&polygons(&positions, &[&[0, 1, 2], &[4, 3, 5]]));
    assert_eq!(mesh.from_file_vertex, [0, 1, 2, 1, 2, 3].map(Some));
    assert_eq!(mesh.triangles, [[0, 1, 2], [2, 1, 3]]);
    assert_eq!(mesh.findings, Findings { welded_vertices: 2, ..Findings::default() });
    for (file, simulated) in positions.iter().zip(&mesh.from_file_vertex) {
        assert_eq!(<[f64; 3]>::from(mesh.positions[simulated.unwrap() as usize]), *file);
    }
}

#[test]
fn zero_and_minus_zero_are_the_same_place_but_the_next_number_is_not() {
    let close = f64::from_bits(1.0_f64.to_bits() + 1);
    let positions =
        [[0.0, 0.0, 0.0], [1.0, -0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, -0.0], [close, 0.0, 0.0], [1.0, 1.0, 0.0]];
    let mesh = SimulationMesh::build(&polygons(&positions, &[&[0, 1, 2], &[3, 5, 2], &[4, 5, 0]]));
    assert_eq!(mesh.findings.welded_vertices, 1);
    assert_eq!(mesh.from_file_vertex[1], mesh.from_file_vertex[3]);
    assert_ne!(mesh.from_file_vertex[1], mesh.from_file_vertex[4]);
}

#[test]
fn flat_and_repeated_triangles_and_lonely_vertices_are_left_out_and_counted() {
    let positions = [
        [9.0, 9.0, 9.0],
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [2.0, 0.0, 0.0],
        [0.5, 1e-9, 0.0],
        [7.0, 7.0, 7.0],
    ];
    let faces: [&[u32]; 5] = [&[1, 2, 3], &[2, 3, 1], &[3, 2, 1], &[1, 2, 4], &[1, 5, 2]];
    let mesh = SimulationMesh::build(&polygons(&positions, &faces));
    assert_eq!(mesh.triangles, [[0, 1, 2]]);
    assert_eq!(mesh.from_file_vertex, [None, Some(0), Some(1), Some(2), None, None, None]);
    let expected =
        Findings { degenerate_triangles: 2, duplicate_triangles: 2, isolated_vertices: 4, ..Findings::default() };
    assert_eq!(mesh.findings, expected);
}

#[test]
fn a_quad_that_two_welded_corners_make_a_triangle_is_one() {
    let positions = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 0.0]];
    let mesh = SimulationMesh::build(&polygons(&positions, &[&[0, 1, 2, 3]]));
    assert_eq!(mesh.triangles.len(), 1);
    assert_eq!([mesh.findings.welded_vertices, mesh.findings.degenerate_triangles], [1, 1]);
}

#[test]
fn vertices_keep_the_order_of_the_file_not_that_of_the_faces() {
    let positions = [[3.0, 0.0, 0.0], [2.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 5.0, 0.0]];
    let mesh = SimulationMesh::build(&polygons(&positions, &[&[3, 2, 1], &[1, 2, 0]]));
    assert_eq!(mesh.from_file_vertex, [0, 1, 2, 3].map(Some));
    assert_eq!(mesh.positions[0].x, 3.0);
}

#[test]
fn an_empty_mesh_stays_empty() {
    let mesh = SimulationMesh::build(&polygons(&[], &[]));
    assert!(mesh.triangles.is_empty() && mesh.positions.is_empty());
}
