//! The midpoint model: published counts, masses, and the boundary rows counted again by hand.

use std::collections::BTreeSet;

use kiln::algorithms::cloth::nonconforming::Nonconforming;

use crate::{Mesh, Random, assert_close};

fn build(mesh: &Mesh) -> Nonconforming {
    Nonconforming::build(&mesh.positions, &mesh.flat(), &mesh.topology)
}

/// Particles, constraints, boundary constraints.
fn counts(mesh: &Mesh) -> [usize; 3] {
    let model = build(mesh);
    [model.midpoints.len(), model.pairs.len(), model.boundary_pair_count]
}

#[test]
fn the_tablecloth_has_the_published_counts() {
    let mesh = Mesh::disc(0.75, 2302, 120);
    assert_eq!(mesh.triangles.len(), 4722);
    assert_eq!(counts(&mesh), [7143, 14_406, 240]);
    let on_rim = |edge: &&u32| mesh.topology.edge_triangles[**edge as usize].len() == 1;
    assert!(mesh.topology.triangle_edges.iter().all(|edges| edges.iter().filter(on_rim).count() < 2));
}

#[test]
fn the_sheet_on_a_ball_has_the_published_counts() {
    assert_eq!(counts(&Mesh::sheet(100, 100, 1.0, 1.0))[..2], [29_601, 59_396]);
}

#[test]
fn a_sheet_of_41_by_41_has_its_counts() {
    // Three a triangle; two a boundary edge, less the four corners' shared ones.
    let [particles, constraints, boundary] = counts(&Mesh::sheet(41, 41, 4.0, 4.0));
    assert_eq!([particles, constraints - boundary], [2 * 40 * 41 + 1600, 3 * 3200]);
    assert_eq!(boundary, brute_force_boundary(&Mesh::sheet(41, 41, 4.0, 4.0)).len());
}

#[test]
fn areas_sum_to_the_area_of_the_mesh() {
    let mut random = Random(1);
    for mesh in [Mesh::disc(1.0, 90, 30), Mesh::sheet(8, 5, 2.0, 1.0), Mesh::icosphere(2)] {
        let mesh = mesh.shaken(0.05, &mut random);
        let model = build(&mesh);
        assert_close(model.areas.iter().sum(), mesh.area(), 1e-13 * mesh.area());
        assert!(model.areas.iter().all(|&area| area > 0.0));
    }
    let sheet = build(&Mesh::sheet(11, 11, 1.0, 1.0));
    assert!(sheet.areas.iter().all(|&area| (area * 600.0 - 1.0).abs() < 1e-9 || (area * 300.0 - 1.0).abs() < 1e-9));
}

#[test]
fn a_single_triangle_has_three_particles_and_three_constraints_of_half_its_edges() {
    let mesh = Mesh::new(vec![[0.0, 0.0, 0.0].into(), [3.0, 0.0, 0.0].into(), [0.0, 4.0, 0.0].into()], vec![[0, 1, 2]]);
    let model = build(&mesh);
    assert_eq!(counts(&mesh), [3, 3, 0]);
    let mut rests: Vec<f64> = model.pairs.iter().map(|pair| pair.rest).collect();
    rests.sort_by(f64::total_cmp);
    assert_eq!(rests, [1.5, 2.0, 2.5]);
    assert_eq!(model.areas, [2.0; 3]);
}

#[test]
fn a_closed_mesh_has_no_boundary_rows() {
    let mesh = Mesh::icosphere(2);
    assert_eq!(counts(&mesh), [480, 960, 0]);
}

#[test]
fn rest_distances_are_those_of_the_midpoints() {
    let mesh = Mesh::disc(1.0, 60, 20).shaken_in_plane(0.05, &mut Random(2));
    let (model, midpoints) = (build(&mesh), mesh.midpoints());
    for pair in &model.pairs {
        let [a, b] = pair.particles.map(|p| midpoints[p as usize]);
        assert_close(pair.rest, (b - a).norm(), 1e-14);
        assert!(pair.rest > 0.0);
    }
}

#[test]
fn boundary_rows_of_bent_cloth_are_measured_on_the_flat_one() {
    let flat = Mesh::disc(1.0, 60, 20).shaken_in_plane(0.03, &mut Random(4));
    let mut bent = flat.clone();
    // Folded along a line of vertices' own choosing: the triangles keep their shape in `flat()` alone.
    bent.positions.iter_mut().for_each(|p| p.y = 0.3 * p.x * p.x);
    let model = Nonconforming::build(&bent.positions, &flat.flat(), &flat.topology);
    let midpoints = flat.midpoints();
    assert!(model.boundary_pair_count > 20);
    for pair in &model.pairs {
        let [a, b] = pair.particles.map(|p| midpoints[p as usize]);
        assert_close(pair.rest, (b - a).norm(), 1e-14);
    }
}

/// Boundary rows as pairs of edges, each by its sorted end points: found from vertex sets alone.
fn brute_force_boundary(mesh: &Mesh) -> BTreeSet<[[u32; 2]; 2]> {
    let edge = |a: u32, b: u32| [a.min(b), a.max(b)];
    let edges = |t: &[u32; 3]| [edge(t[0], t[1]), edge(t[1], t[2]), edge(t[2], t[0])];
    let middle = |[a, b]: [u32; 2]| (mesh.positions[a as usize] + mesh.positions[b as usize]) / 2.0;
    let mut rows = BTreeSet::new();
    for (t, triangle) in mesh.triangles.iter().enumerate() {
        let others = || mesh.triangles.iter().enumerate().filter(|(o, _)| *o != t).map(|(_, other)| edges(other));
        for rim in edges(triangle).into_iter().filter(|rim| others().all(|other| !other.contains(rim))) {
            for neighbour in others() {
                let Some(shared) = edges(triangle).into_iter().find(|e| neighbour.contains(e)) else { continue };
                let distance = |e: &[u32; 2]| (middle(*e) - middle(rim)).norm();
                let unshared = neighbour.into_iter().filter(|e| *e != shared);
                let nearer = unshared.min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap();
                rows.insert([rim.min(nearer), rim.max(nearer)]);
            }
        }
    }
    rows
}

#[test]
fn boundary_rows_of_irregular_meshes_are_those_of_a_brute_force_search() {
    let mut random = Random(3);
    for (inner, rim) in [(1, 5), (7, 9), (30, 17), (91, 24)] {
        let mesh = Mesh::disc(1.0, inner, rim).shaken_in_plane(0.04, &mut random);
        let model = build(&mesh);
        let boundary = &model.pairs[model.pairs.len() - model.boundary_pair_count..];
        let ends = |p: u32| mesh.topology.edges[p as usize];
        let found: BTreeSet<[[u32; 2]; 2]> = boundary.iter().map(|pair| pair.particles.map(ends)).collect();
        assert_eq!(found.len(), boundary.len(), "a pair stands twice");
        assert_eq!(found, brute_force_boundary(&mesh));
    }
}
