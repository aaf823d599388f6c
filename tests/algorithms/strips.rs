//! Paths: every constraint once, no particle twice, groups that share nothing; and the solve along a path.

use std::collections::BTreeSet;

use kiln::algorithms::cloth::strips::{Strips, solve_tridiagonal};
use kiln::math::Vec3;
use kiln::mesh::generate as rule;
use nalgebra::{DMatrix, DVector};

use crate::{Mesh, Random, assert_close};

/// Threads of a quad sheet.
fn threads(columns: u32, rows: u32) -> (Vec<[u32; 2]>, Vec<Vec3>) {
    let positions = rule::quad_sheet([columns, rows], [1.0, 1.0]).positions;
    let across = (0..columns * rows).filter(|i| i % columns + 1 < columns).map(|i| [i, i + 1]);
    (across.chain((0..columns * (rows - 1)).map(|i| [i, i + columns])).collect(), positions)
}

/// What must hold for every mesh; returns how many groups there are.
#[track_caller]
fn check(pairs: &[[u32; 2]], positions: &[Vec3]) -> (Strips, usize) {
    let strips = Strips::build(pairs, positions);
    assert_eq!(strips.particle_count(), positions.len());
    let (mut rows, mut next, mut longest) = (BTreeSet::new(), 0, 0);
    for group in strips.groups() {
        assert_eq!(group.start, next);
        next = group.end;
        let mut in_group = BTreeSet::new();
        for path in group {
            let links = strips.path(path);
            assert!(!links.is_empty());
            longest = longest.max(links.len());
            let mut in_path: Vec<u32> = links.iter().map(|link| link.ends[1]).collect();
            in_path.push(links[0].ends[0]);
            assert!(in_path.iter().all(|p| in_group.insert(*p)), "a particle is twice on a path or in a group");
            assert!(links.windows(2).all(|pair| pair[0].ends[1] == pair[1].ends[0]), "a path with a gap");
            for link in links {
                assert!(rows.insert(link.row), "row {} twice", link.row);
                let [a, b] = pairs[link.row as usize];
                assert!(link.ends == [a, b] || link.ends == [b, a]);
            }
        }
    }
    assert_eq!(next, strips.path_count());
    assert_eq!(rows.len(), pairs.len(), "a row was left out");
    assert_eq!(longest, strips.longest());
    let groups = strips.groups().count();
    (strips, groups)
}

#[test]
fn rows_and_columns_of_a_quad_sheet_are_one_path_each_in_two_groups() {
    for (columns, rows) in [(2, 2), (5, 5), (8, 3), (30, 41)] {
        let (pairs, positions) = threads(columns, rows);
        let (strips, groups) = check(&pairs, &positions);
        assert_eq!(strips.path_count() as u32, columns + rows);
        assert_eq!(groups, 2);
        assert_eq!(strips.longest() as u32, columns.max(rows) - 1);
    }
}

#[test]
fn meshes_of_all_kinds_are_cut_into_paths() {
    let mut random = Random(150);
    let meshes = [
        Mesh::sheet(12, 9, 1.0, 1.0),
        Mesh::disc(1.0, 60, 20),
        Mesh::disc(1.0, 1, 200),
        Mesh::icosphere(2),
        Mesh::equilateral(1.0, 1.0, 0.1),
        Mesh::sheet(2, 2, 1.0, 1.0),
    ];
    for mesh in meshes.into_iter().chain([Mesh::disc(1.0, 90, 30).shaken(0.1, &mut random)]) {
        let (strips, groups) = check(&mesh.topology.edges, &mesh.positions);
        println!("{} edges: {} paths in {groups} groups", mesh.topology.edges.len(), strips.path_count());
        // Midpoints too: three pairs a triangle.
        let pairs: Vec<[u32; 2]> =
            mesh.topology.triangle_edges.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).collect();
        check(&pairs, &mesh.midpoints());
    }
    // Any pairs at all, also the same ones again.
    let pairs: Vec<[u32; 2]> = (0..300)
        .map(|_| {
            let a = random.below(40);
            [a as u32, ((a + 1 + random.below(39)) % 40) as u32]
        })
        .collect();
    check(&pairs, &random.vectors(40));
    check(&pairs, &[Vec3::zeros(); 40]);
    check(&[], &[Vec3::zeros(); 3]);
    assert_eq!(check(&[], &[]).1, 0);
}

#[test]
fn straight_lines_through_a_triangle_mesh_are_followed() {
    // Away from its zigzag sides, each of the three directions' lines is one path.
    let mesh = Mesh::equilateral(1.0, 1.0, 0.05);
    let (strips, _) = check(&mesh.topology.edges, &mesh.positions);
    let inside = |p: &Vec3| p.x.abs() < 0.42;
    for path in 0..strips.path_count() {
        for pair in strips.path(path).windows(2) {
            let [a, b, c] = [pair[0].ends[0], pair[0].ends[1], pair[1].ends[1]].map(|p| mesh.positions[p as usize]);
            assert!(!inside(&b) || (c - b - (b - a)).norm() < 1e-9, "path {path} turns at {b:?}");
        }
    }
    let along = strips.path(0).iter().map(|link| mesh.distance(link.ends[0], link.ends[1])).sum::<f64>();
    assert!(strips.longest() >= 20 && along > 0.99, "{} edges, {along} m", strips.longest());
}

#[test]
fn rings_are_cut() {
    for count in [6_u32, 7, 30] {
        let at = |i: u32| {
            let angle = std::f64::consts::TAU * f64::from(i) / f64::from(count);
            Vec3::new(angle.cos(), angle.sin(), 0.0)
        };
        let positions: Vec<Vec3> = (0..count).map(at).collect();
        let pairs: Vec<[u32; 2]> = (0..count).map(|i| [i, (i + 1) % count]).collect();
        let (strips, _) = check(&pairs, &positions);
        assert!(strips.longest() < count as usize, "a ring of {count} is a path");
        assert_eq!(strips.path_count(), if count == 6 { strips.path_count() } else { 2 });
    }
}

#[test]
fn the_decomposition_follows_from_the_lists_alone() {
    let mesh = Mesh::disc(1.0, 90, 30);
    let build = || Strips::build(&mesh.topology.edges, &mesh.positions);
    let (a, b) = (build(), build());
    assert!((0..a.path_count()).all(|path| a.path(path) == b.path(path)));
}

#[test]
fn a_tridiagonal_system_is_solved_as_a_dense_one_is() {
    let mut random = Random(151);
    for size in [0_usize, 1, 2, 3, 10, 200] {
        let mut beside: Vec<f64> = (1..size).map(|_| random.within(-1.0, 1.0)).collect();
        let of = |i: usize| if i < beside.len() { beside[i].abs() } else { 0.0 };
        let mut diagonal: Vec<f64> = (0..size).map(|i| 0.05 + of(i) + if i > 0 { of(i - 1) } else { 0.0 }).collect();
        let mut right: Vec<f64> = (0..size).map(|_| random.within(-1.0, 1.0)).collect();
        let mut dense = DMatrix::from_diagonal(&DVector::from_column_slice(&diagonal));
        for (i, value) in beside.iter().enumerate() {
            (dense[(i, i + 1)], dense[(i + 1, i)]) = (*value, *value);
        }
        let b = DVector::from_column_slice(&right);
        assert!(solve_tridiagonal(&mut diagonal, &mut beside, &mut right));
        let residual = dense * DVector::from_column_slice(&right) - b;
        residual.iter().for_each(|r| assert_close(*r, 0.0, 1e-12));
    }
}

#[test]
fn a_tridiagonal_system_that_is_not_definite_is_refused() {
    for (mut diagonal, mut beside) in [
        (vec![0.0], vec![]),
        (vec![-1.0], vec![]),
        (vec![1.0, 1.0], vec![1.0]),
        (vec![1.0, 1.0], vec![2.0]),
        (vec![0.0, 1.0], vec![0.0]),
        (vec![1.0, f64::NAN], vec![0.5]),
        (vec![f64::NAN, 1.0], vec![0.5]),
        (vec![1.0, 2.0, 0.1], vec![0.5, 0.9]),
    ] {
        let told = format!("{diagonal:?} {beside:?}");
        let mut right = vec![1.0; diagonal.len()];
        assert!(!solve_tridiagonal(&mut diagonal, &mut beside, &mut right), "{told}");
    }
}
