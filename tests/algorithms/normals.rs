//! Normals of meshes that moved.

use kiln::math::Vec3;
use kiln::mesh::generate;
use kiln::mesh::normals::{NormalGroups, vertex_normals};
use kiln::mesh::simulation_mesh::SimulationMesh;
use kiln::mesh::surface::{Corner, PolyMesh};

/// A unit cube of quads whose corners name these normals.
fn cube(normal: impl Fn(usize, usize) -> Option<u32>, normals: Vec<Vec3>) -> PolyMesh {
    let faces = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]];
    let position = |v: usize| Vec3::new((v >> 2) as f64, (v >> 1 & 1) as f64, (v & 1) as f64) - Vec3::repeat(0.5);
    let corner = |face: usize, k: usize| Corner { position: faces[face][k], uv: None, normal: normal(face, k) };
    PolyMesh {
        positions: (0..8).map(position).collect(),
        normals,
        corners: (0..6).flat_map(|face| (0..4).map(move |k| corner(face, k))).collect(),
        face_starts: (0..=6).map(|face| 4 * face).collect(),
        ..PolyMesh::default()
    }
}

fn at(mesh: &PolyMesh) -> Vec<[f32; 3]> {
    mesh.positions.iter().map(|p| p.map(|x| x as f32).into()).collect()
}

#[test]
fn a_cube_without_normals_is_smooth_and_one_with_them_is_not() {
    let smooth = cube(|_, _| None, Vec::new());
    let groups = NormalGroups::build(&smooth);
    assert_eq!(groups.count, 8);
    for (corner, &group) in smooth.corners.iter().zip(&groups.of_corner) {
        let normal = groups.normals(&smooth, &at(&smooth))[group as usize];
        let outwards = smooth.positions[corner.position as usize].normalize();
        // Every corner has the same three right angles, however quads are cut.
        assert!((Vec3::from(normal.map(f64::from)) - outwards).norm() < 1e-6);
    }
    let directions = [-Vec3::x(), Vec3::x(), -Vec3::y(), Vec3::y(), -Vec3::z(), Vec3::z()];
    let hard = cube(|face, _| Some(face as u32), directions.to_vec());
    let groups = NormalGroups::build(&hard);
    assert_eq!(groups.count, 24);
    let normals = groups.normals(&hard, &at(&hard));
    for (corner, &group) in hard.corners.iter().zip(&groups.of_corner) {
        let expected = directions[corner.normal.unwrap() as usize];
        assert!((Vec3::from(normals[group as usize].map(f64::from)) - expected).norm() < 1e-6);
    }
}

#[test]
fn one_number_for_all_of_a_flat_sheet_does_not_make_it_flat_for_ever() {
    let mut mesh = generate::sheet([9, 9], [1.0, 1.0]);
    mesh.normals = vec![Vec3::y()];
    mesh.corners.iter_mut().for_each(|corner| corner.normal = Some(0));
    let groups = NormalGroups::build(&mesh);
    assert_eq!(groups.count, 81);
    let bowl = |p: &Vec3| [p.x as f32, (p.x * p.x + p.z * p.z) as f32, p.z as f32];
    let normals = groups.normals(&mesh, &mesh.positions.iter().map(bowl).collect::<Vec<_>>());
    let middle = normals[groups.of_corner[mesh.corners.iter().position(|c| c.position == 40).unwrap()] as usize];
    assert!((middle[1] - 1.0).abs() < 1e-5);
    assert!(normals.iter().any(|normal| normal[1] < 0.8), "the rim leans");
}

#[test]
fn seams_are_smooth_and_what_has_no_area_gets_a_unit_normal() {
    let mut mesh = generate::sheet([3, 3], [1.0, 1.0]);
    // The last triangle gets a vertex of its own in an old place.
    let last = mesh.corners.len() - 1;
    let copied = mesh.positions[mesh.corners[last].position as usize];
    mesh.corners[last].position = mesh.positions.len() as u32;
    mesh.positions.push(copied);
    let groups = NormalGroups::build(&mesh);
    assert_eq!(groups.count, 9);
    let all_in_one = vec![[1.0; 3]; mesh.positions.len()];
    assert!(groups.normals(&mesh, &all_in_one).iter().all(|normal| *normal == [0.0, 1.0, 0.0]));
}

#[test]
fn vertex_normals_of_a_ball_point_outwards() {
    let mesh = SimulationMesh::build(&generate::sheet([21, 21], [1.0, 1.0]));
    let on_ball = |p: &Vec3| Vec3::new(p.x, 1.0, p.z).normalize();
    let positions: Vec<Vec3> = mesh.positions.iter().map(on_ball).collect();
    let mut normals = Vec::new();
    vertex_normals(&positions, &mesh.triangles, &mut normals);
    for (p, n) in positions.iter().zip(&normals) {
        assert!((n.norm() - 1.0).abs() < 1e-12 && n.dot(p) > 0.999);
    }
}
