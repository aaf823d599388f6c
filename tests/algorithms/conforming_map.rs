//! Vertices from midpoints and the weighted way back, against dense algebra.

use kiln::algorithms::cloth::conforming_map::{ConformingMap, WeightedReturn};
use kiln::math::Vec3;
use nalgebra::DMatrix;

use crate::{Mesh, Random, assert_close, assert_near};

fn map_of(mesh: &Mesh) -> ConformingMap {
    ConformingMap::build(mesh.positions.len(), &mesh.triangles, &mesh.topology)
}

fn curved_meshes() -> Vec<Mesh> {
    let mut random = Random(10);
    let triangle = Mesh::new(vec![Vec3::x(), Vec3::y(), Vec3::z()], vec![[0, 1, 2]]);
    [triangle, Mesh::sheet(7, 5, 1.0, 1.0), Mesh::disc(1.0, 40, 18), Mesh::icosphere(1)]
        .into_iter()
        .map(|mesh| mesh.shaken(0.1, &mut random))
        .collect()
}

fn dense(map: &ConformingMap, particle_count: usize) -> DMatrix<f64> {
    let mut b = DMatrix::zeros(map.vertex_count(), particle_count);
    for v in 0..map.vertex_count() {
        map.row(v).iter().for_each(|&(particle, weight)| b[(v, particle as usize)] = weight);
    }
    b
}

fn rows_of(values: &[Vec3]) -> DMatrix<f64> {
    DMatrix::from_fn(values.len(), 3, |i, k| values[i][k])
}

#[test]
fn midpoints_of_a_curved_mesh_give_back_its_vertices() {
    for mesh in curved_meshes() {
        let (map, midpoints) = (map_of(&mesh), mesh.midpoints());
        for (v, position) in mesh.positions.iter().enumerate() {
            assert_near(map.vertex(v, &midpoints), *position, 1e-14 * position.norm().max(1.0));
        }
    }
}

#[test]
fn rows_sum_to_one_and_name_each_particle_once() {
    for mesh in curved_meshes() {
        let map = map_of(&mesh);
        for v in 0..map.vertex_count() {
            assert_close(map.row(v).iter().map(|entry| entry.1).sum(), 1.0, 1e-14);
            assert!(map.row(v).windows(2).all(|pair| pair[0].0 < pair[1].0));
        }
    }
}

#[test]
fn a_vertex_is_the_average_of_what_its_triangles_say() {
    let mut random = Random(11);
    for mesh in curved_meshes() {
        let map = map_of(&mesh);
        let particles = random.vectors(mesh.topology.edges.len());
        let mut sums = vec![(Vec3::zeros(), 0.0); mesh.positions.len()];
        for (corners, edges) in mesh.triangles.iter().zip(&mesh.topology.triangle_edges) {
            let [m0, m1, m2] = edges.map(|edge| particles[edge as usize]);
            for (vertex, corner) in corners.iter().zip([m1 + m2 - m0, m2 + m0 - m1, m0 + m1 - m2]) {
                sums[*vertex as usize].0 += corner;
                sums[*vertex as usize].1 += 1.0;
            }
        }
        for (v, (sum, count)) in sums.into_iter().enumerate() {
            assert_near(map.vertex(v, &particles), sum / count, 1e-13);
        }
    }
}

/// Unequal inverse masses from 0.2 to 5, one in eight held if asked for.
fn inverse_masses(count: usize, held: bool, random: &mut Random) -> Vec<f64> {
    (0..count)
        .map(|_| if held && random.below(8) == 0 { 0.0 } else { 5.0_f64.powf(random.within(-1.0, 1.0)) })
        .collect()
}

fn all_vertices(map: &ConformingMap, k: &[f64]) -> WeightedReturn {
    WeightedReturn::build(map, k, (0..map.vertex_count() as u32).collect()).unwrap()
}

#[test]
fn some_vertices_are_led_to_their_targets_and_only_their_particles_move() {
    let mut random = Random(15);
    let mesh = Mesh::disc(1.0, 40, 18).shaken(0.1, &mut random);
    let map = map_of(&mesh);
    let k = inverse_masses(mesh.topology.edges.len(), false, &mut random);
    let led = vec![3, 4, 17, 40, 57];
    let targets = random.vectors(led.len());
    let before = mesh.midpoints();
    let mut after = before.clone();
    let mut some = WeightedReturn::build(&map, &k, led.clone()).unwrap();
    some.apply(&map, &k, &mut after, |row, now| targets[row] - now);
    for (vertex, target) in led.iter().zip(&targets) {
        assert_near(map.vertex(*vertex as usize, &after), *target, 1e-12);
    }
    let touched = |p: u32| led.iter().any(|v| map.row(*v as usize).iter().any(|entry| entry.0 == p));
    assert!((0..k.len()).all(|p| touched(p as u32) || before[p] == after[p]));
}

#[test]
fn rows_that_depend_on_each_other_do_not_stop_the_return() {
    let mesh = Mesh::sheet(4, 4, 1.0, 1.0);
    let map = map_of(&mesh);
    let k = vec![2.0; mesh.topology.edges.len()];
    let mut after = mesh.midpoints();
    WeightedReturn::build(&map, &k, vec![5, 5]).unwrap().apply(&map, &k, &mut after, |_, now| Vec3::y() - now);
    assert_near(map.vertex(5, &after), Vec3::y(), 1e-8);
}

#[test]
fn the_weighted_return_moves_every_vertex_exactly_and_held_particles_not_at_all() {
    let mut random = Random(12);
    for mesh in curved_meshes() {
        for held in [false, mesh.triangles.len() > 1] {
            let map = map_of(&mesh);
            let k = inverse_masses(mesh.topology.edges.len(), held, &mut random);
            let before = mesh.midpoints();
            let mut after = before.clone();
            let wanted = random.vectors(map.vertex_count());
            all_vertices(&map, &k).apply(&map, &k, &mut after, |v, _| wanted[v]);
            for (v, wanted) in wanted.iter().enumerate() {
                assert!(map.inverse_mass(v, &k) > 0.0);
                assert_near(map.vertex(v, &after) - map.vertex(v, &before), *wanted, 1e-12);
            }
            for (i, k) in k.iter().enumerate() {
                assert!(*k > 0.0 || before[i] == after[i], "held particle {i} moved");
            }
        }
    }
}

#[test]
fn the_weighted_return_is_the_dense_solution_and_its_momentum_is_the_sum_of_the_multipliers() {
    let mut random = Random(13);
    for mesh in curved_meshes() {
        let map = map_of(&mesh);
        let k = inverse_masses(mesh.topology.edges.len(), false, &mut random);
        let wanted = random.vectors(map.vertex_count());
        let mut moved = vec![Vec3::zeros(); k.len()];
        all_vertices(&map, &k).apply(&map, &k, &mut moved, |v, _| wanted[v]);

        let b = dense(&map, k.len());
        let w = DMatrix::from_diagonal(&k.clone().into());
        let multipliers = (&b * &w * b.transpose()).lu().solve(&rows_of(&wanted)).unwrap();
        let expected = w * b.transpose() * &multipliers;
        assert!((rows_of(&moved) - expected).amax() < 1e-10);

        // Rows of B sum to one: sum m Δx = sum Bᵀ λ = sum λ.
        let momentum = moved.iter().zip(&k).map(|(d, k)| d / *k).sum::<Vec3>();
        let of_multipliers = Vec3::from_fn(|axis, _| multipliers.column(axis).sum());
        assert_near(momentum, of_multipliers, 1e-10 * (1.0 + of_multipliers.norm()));
    }
}

#[test]
fn the_inverse_mass_of_a_vertex_is_the_diagonal_of_the_return_matrix() {
    let mesh = Mesh::disc(1.0, 20, 9);
    let map = map_of(&mesh);
    let k = inverse_masses(mesh.topology.edges.len(), true, &mut Random(14));
    let b = dense(&map, k.len());
    let matrix = &b * DMatrix::from_diagonal(&k.clone().into()) * b.transpose();
    for v in 0..map.vertex_count() {
        assert_close(map.inverse_mass(v, &k), matrix[(v, v)], 1e-13);
    }
}

#[test]
fn a_vertex_among_held_particles_only_does_not_stop_the_return() {
    let mesh = Mesh::sheet(4, 4, 1.0, 1.0);
    let map = map_of(&mesh);
    let mut k = vec![1.0; mesh.topology.edges.len()];
    map.row(0).iter().for_each(|&(particle, _)| k[particle as usize] = 0.0);
    assert_eq!(map.inverse_mass(0, &k), 0.0);
    let mut moved = vec![Vec3::zeros(); k.len()];
    let mut wanted = vec![Vec3::zeros(); 16];
    wanted[15] = Vec3::y();
    all_vertices(&map, &k).apply(&map, &k, &mut moved, |v, _| wanted[v]);
    assert_near(map.vertex(15, &moved), Vec3::y(), 1e-12);
    assert_near(map.vertex(0, &moved), Vec3::zeros(), 0.0);
}
