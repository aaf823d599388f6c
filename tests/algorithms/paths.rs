//! Paths over a mesh: every vertex once, along edges, and few stretches of them in a region.

use kiln::algorithms::shape_matching::fast_summation::Regions;
use kiln::algorithms::shape_matching::paths::{LONGEST, Paths};
use kiln::mesh::generate as rule;

use crate::surfaces::{along_paths, irregular, neighbours, shuffled};
use crate::{Mesh, Random};

#[track_caller]
fn check(mesh: &Mesh) {
    let near = neighbours(mesh);
    let paths = Paths::build(&mesh.positions, &near);
    let mut passed = vec![0; mesh.positions.len()];
    paths.order.iter().for_each(|&v| passed[v as usize] += 1);
    assert_eq!(passed, vec![1; mesh.positions.len()], "every vertex once");
    assert_eq!((paths.starts[0], paths.starts[paths.count()] as usize), (0, paths.order.len()));
    for range in paths.starts.windows(2) {
        let path = &paths.order[range[0] as usize..range[1] as usize];
        assert!((1..=LONGEST).contains(&path.len()), "{}", path.len());
        for ends in path.windows(2) {
            let is_edge = mesh.triangles.iter().any(|t| t.contains(&ends[0]) && t.contains(&ends[1]));
            assert!(is_edge, "{ends:?} is no edge");
        }
    }
    assert_eq!(paths, Paths::build(&mesh.positions, &near));
}

#[test]
fn every_vertex_is_on_one_path_along_edges() {
    let mut random = Random(220);
    for mesh in irregular(&mut random) {
        check(&mesh);
    }
    check(&Mesh::sheet(12, 7, 1.0, 1.0));
    check(&Mesh::icosphere(3));
}

#[test]
fn long_paths_are_cut() {
    // A strip so long that one path would pass more than the longest one may.
    let mesh = Mesh::sheet(900, 2, 90.0, 0.1);
    check(&mesh);
    let paths = Paths::build(&mesh.positions, &neighbours(&mesh));
    assert!(paths.starts.windows(2).any(|range| (range[1] - range[0]) as usize == LONGEST));
}

#[test]
fn nothing_has_no_paths_and_lone_vertices_have_their_own() {
    let none = kiln::algorithms::shape_matching::paths::neighbours(0, &[]);
    assert_eq!(Paths::build(&[], &none), Paths { order: vec![], starts: vec![0] });
    let lone = kiln::algorithms::shape_matching::paths::neighbours(3, &[]);
    let paths = Paths::build(&Random(221).vectors(3), &lone);
    assert_eq!(paths.count(), 3);
}

#[test]
fn regions_are_cut_in_few_stretches() {
    let mut random = Random(222);
    let torus = Mesh::of(&rule::torus(0.5, 0.2, 240, 125));
    let cube = Mesh::of(&rule::cuboid([1.0; 3], [72; 3]));
    let [turned, mixed] = [shuffled(&torus, &mut random), shuffled(&cube, &mut random)];
    println!("mean stretches of a region for omega 1 to 5:");
    for (name, mesh) in [("torus", torus), ("cube", cube), ("torus, shuffled", turned), ("cube, shuffled", mixed)] {
        let (mesh, paths) = along_paths(&mesh);
        let near = neighbours(&mesh);
        let mean: Vec<f64> = (1..=5).map(|omega| Regions::build(&paths, &near, omega).mean_stretches()).collect();
        let cells: Vec<String> = mean.iter().map(|mean| format!("{mean:.2}")).collect();
        println!("{name}, {} vertices, {} paths: {}", mesh.positions.len(), paths.count(), cells.join(" "));
        for (omega, mean) in (1..=5).zip(mean) {
            // Even paths would cut it in 2 omega + 1.
            assert!(mean <= 2.0 * f64::from(omega) + 2.0, "{name}, omega {omega}: {mean}");
        }
    }
}
