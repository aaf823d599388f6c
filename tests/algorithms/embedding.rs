//! Points in tetrahedra, against looking at all of them.

use std::time::Instant;

use kiln::algorithms::volume::embedding::{Embedding, TetFinder};
use kiln::math::{Mat3, Vec3};
use kiln::mesh::closest::closest_on_triangle;
use kiln::mesh::tets::{TetMesh, tet_volume};

use crate::pseudo_volume::{Soup, cells_of};
use crate::tet_lattice::lattice_of;
use crate::{Random, assert_close, assert_near};

fn meshes() -> Vec<TetMesh> {
    let two = Soup::cube(0.5).and(&Soup::ball(2).moved(|p| p * 0.4 + Vec3::new(3.0, 0.3, 0.1)));
    vec![lattice_of(&Soup::bumpy(2), &cells_of(0.3)).mesh, lattice_of(&two, &cells_of(0.2)).mesh]
}

fn points(mesh: &TetMesh, count: usize, spread: f64, random: &mut Random) -> Vec<Vec3> {
    let mut points = random.vectors(count);
    points.iter_mut().for_each(|p| *p *= spread);
    // On nodes, edges and faces too.
    points.extend(mesh.positions.iter().take(100));
    points.extend((0..100).map(|tet| mesh.points(tet)[..2].iter().sum::<Vec3>() / 2.0));
    points.extend((0..100).map(|tet| mesh.points(tet)[..3].iter().sum::<Vec3>() / 3.0));
    points
}

/// Weights by volumes.
fn slow_weights(mesh: &TetMesh, tet: usize, p: Vec3) -> [f64; 4] {
    let corners = mesh.points(tet);
    std::array::from_fn(|k| {
        let mut with = corners;
        with[k] = p;
        tet_volume(with) / tet_volume(corners)
    })
}

#[test]
fn linear_functions_are_reproduced_inside_and_outside() {
    let mut random = Random(95);
    for mesh in meshes() {
        let points = points(&mesh, 3000, 4.0, &mut random);
        let embedding = Embedding::build(&mesh, &points);
        assert_eq!(embedding.weights.len(), points.len());
        let linear = Mat3::from_columns(&[random.vector(), random.vector(), random.vector()]);
        let shift = random.vector();
        let mapped: Vec<Vec3> = mesh.positions.iter().map(|p| linear * p + shift).collect();
        let mut outside = 0;
        for (n, p) in points.iter().enumerate() {
            let weights = embedding.weights[n].map(|(_, weight)| weight);
            assert_close(weights.iter().sum(), 1.0, 1e-12);
            let size = weights.iter().fold(1.0, |size, weight| weight.abs().max(size));
            assert_near(embedding.point(n, &mapped), linear * p + shift, 1e-12 * size);
            assert_eq!(embedding.weights[n].map(|(node, _)| node), mesh.tets[embedding.tets[n] as usize]);
            if embedding.outside[n] == 0.0 {
                assert!(weights.iter().all(|weight| (0.0..=1.0).contains(weight)), "{weights:?}");
            } else {
                assert!(weights.iter().any(|weight| *weight < 0.0));
                outside += 1;
            }
        }
        assert!(outside > 100 && outside < points.len() - 100);
    }
}

#[test]
fn the_lowest_tetrahedron_that_holds_a_point_is_found() {
    let mut random = Random(96);
    for mesh in meshes() {
        let points = points(&mesh, 700, 1.2, &mut random);
        let embedding = Embedding::build(&mesh, &points);
        let faces = mesh.boundary();
        for (n, &p) in points.iter().enumerate() {
            let tet = embedding.tets[n] as usize;
            // The fast way takes a weight of -1e-12 for a face; rounding is far less.
            let holds = |tet: usize, least: f64| slow_weights(&mesh, tet, p).iter().all(|weight| *weight >= least);
            match (0..mesh.tets.len()).find(|&tet| holds(tet, -1e-13)) {
                Some(lowest) => {
                    assert_eq!(embedding.outside[n], 0.0);
                    assert!(tet <= lowest && holds(tet, -1e-11), "{tet} instead of {lowest}");
                }
                None => {
                    let distance = |face: &[u32; 3]| {
                        (closest_on_triangle(p, face.map(|v| mesh.positions[v as usize])).0 - p).norm() / mesh.cell_size
                    };
                    let nearest = faces.iter().map(|face| distance(&face.corners)).fold(f64::INFINITY, f64::min);
                    assert_close(embedding.outside[n], nearest, 1e-8);
                    // Of the equally near ones, it is least outside of its own.
                    let depth = |tet: usize| slow_weights(&mesh, tet, p).into_iter().fold(f64::INFINITY, f64::min);
                    let equally = faces.iter().filter(|face| distance(&face.corners) <= nearest + 1e-12);
                    let best = equally.map(|face| depth(face.tet as usize)).fold(f64::NEG_INFINITY, f64::max);
                    assert_close(depth(tet), best, 1e-6 * best.abs().max(1.0));
                }
            }
        }
    }
}

#[test]
fn no_tetrahedra_hold_nothing() {
    let empty = TetMesh { cell_size: 1.0, ..TetMesh::default() };
    assert!(TetFinder::new(&empty).is_none());
    assert!(Embedding::build(&empty, &[Vec3::zeros()]).tets.is_empty());
    let mut broken = meshes().remove(0);
    broken.positions[3].x = f64::NAN;
    assert!(TetFinder::new(&broken).is_none());
}

#[test]
fn a_hundred_thousand_points_take_a_moment() {
    let mut random = Random(97);
    let mesh = lattice_of(&Soup::bumpy(3), &cells_of(0.12)).mesh;
    let surface = Soup::bumpy(3);
    let points: Vec<Vec3> =
        (0..100_000).map(|n| surface.positions[n % surface.positions.len()] * random.within(0.98, 1.02)).collect();
    let start = Instant::now();
    let embedding = Embedding::build(&mesh, &points);
    println!("100 000 points in {} tetrahedra: {:.2} s", mesh.tets.len(), start.elapsed().as_secs_f64());
    let farthest = embedding.outside.iter().copied().fold(0.0, f64::max);
    assert!(farthest > 0.05 && farthest < 1.0, "{farthest}");
    assert_eq!(Embedding::build(&mesh, &points), embedding);
}
