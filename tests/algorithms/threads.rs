//! Threads of quads: shear springs, their guard, and which vertices bend together.

use kiln::algorithms::cloth::bending::Bending;
use kiln::algorithms::cloth::threads::{Diagonal, thread_bends};
use kiln::math::Vec3;
use kiln::mesh::generate as rule;

use crate::{Random, assert_close, assert_near};

#[test]
fn a_diagonal_keeps_momentum_and_is_a_spring_in_short_steps() {
    let mut random = Random(170);
    for _ in 0..200 {
        let diagonal = Diagonal { ends: [0, 1], rest: random.within(0.5, 1.0), compliance: random.within(0.01, 0.1) };
        let k = [random.within(0.1, 5.0), random.within(0.1, 5.0)];
        let (a0, b0) = (random.vector(), random.vector());
        if (b0 - a0).norm() < 0.25 {
            continue;
        }
        for h in [1e-5, 1e-2, 1.0, 1e3] {
            let (mut a, mut b) = (a0, b0);
            diagonal.correct_position(&mut a, &mut b, k, h);
            assert_near((a - a0) / k[0] + (b - b0) / k[1], Vec3::zeros(), 1e-13);
            let (before, after) = ((b0 - a0).norm() - diagonal.rest, (b - a).norm() - diagonal.rest);
            assert!(
                after.abs() <= before.abs() + 1e-15 && after * before >= -1e-15,
                "it overshoots: {before} to {after}"
            );
            if h == 1e-5 {
                let force = (b0 - a0).normalize() * (before / diagonal.compliance);
                assert_near((a - a0) / (h * h * k[0]), force, 1e-4 * (1.0 + force.norm()));
            }
        }
    }
}

#[test]
fn no_diagonal_gets_so_short_that_its_quad_collapses() {
    let mut random = Random(171);
    for _ in 0..200 {
        // So soft that the spring alone does nothing.
        let diagonal = Diagonal { ends: [0, 1], rest: 1.0, compliance: 1e12 };
        let k = [random.within(0.1, 5.0), random.within(0.1, 5.0)];
        let a0 = random.vector();
        let length = random.within(0.01, 0.6);
        let b0 = a0 + random.vector().normalize() * length;
        let (mut a, mut b) = (a0, b0);
        diagonal.correct_position(&mut a, &mut b, k, 1e-3);
        assert_close((b - a).norm(), length.max(0.25), 1e-9);
        assert_near((a - a0) / k[0] + (b - b0) / k[1], Vec3::zeros(), 1e-12);
    }
}

#[test]
fn ends_that_meet_or_are_held_do_not_break_it() {
    let diagonal = Diagonal { ends: [0, 1], rest: 1.0, compliance: 0.01 };
    let (mut a, mut b) = (Vec3::x(), Vec3::x());
    diagonal.correct_position(&mut a, &mut b, [1.0, 1.0], 0.01);
    assert_eq!([a, b], [Vec3::x(); 2]);
    let (mut a, mut b) = (Vec3::zeros(), Vec3::x() * 2.0);
    diagonal.correct_position(&mut a, &mut b, [0.0, 0.0], 0.01);
    assert_eq!([a, b], [Vec3::zeros(), Vec3::x() * 2.0]);
    diagonal.correct_position(&mut a, &mut b, [0.0, 1.0], 1e3);
    assert_eq!(a, Vec3::zeros());
    assert_close(b.x, 1.0, 1e-6);
}

struct Sheet {
    positions: Vec<Vec3>,
    edges: Vec<[u32; 2]>,
    bending: Bending,
    bend_count: usize,
}

/// A sheet of threads over one square metre; its vertices stand for their part of the area.
fn sheet(columns: u32, rows: u32) -> Sheet {
    let positions = rule::quad_sheet([columns, rows], [1.0, 1.0]).positions;
    let across = (0..columns * rows).filter(|i| i % columns + 1 < columns).map(|i| [i, i + 1]);
    let edges: Vec<[u32; 2]> = across.chain((0..columns * (rows - 1)).map(|i| [i, i + columns])).collect();
    let length = |&[a, b]: &[u32; 2]| (positions[a as usize] - positions[b as usize]).norm();
    let lengths: Vec<f64> = edges.iter().map(length).collect();
    let area = |v: u32| {
        let part = |i: u32, n: u32| if i == 0 || i == n - 1 { 0.5 } else { 1.0 } / f64::from(n - 1);
        part(v % columns, columns) * part(v / columns, rows)
    };
    let bends = thread_bends(&edges, &lengths, &positions, area);
    for bend in &bends {
        let [a, b, c] = bend.vertices.map(|v| positions[v as usize]);
        assert_near((b - a) / bend.lengths[0], (c - b) / bend.lengths[1], 1e-12);
        assert!(bend.area == area(bend.vertices[1]));
    }
    Sheet { bending: Bending::of_threads(positions.len(), &bends), bend_count: bends.len(), positions, edges }
}

fn energy(bending: &Bending, x: &[Vec3]) -> f64 {
    bending.rows.iter().map(|row| 0.5 * row.weight * row.measure(x).norm_squared()).sum()
}

#[test]
fn every_thread_bends_at_each_vertex_between_its_ends() {
    for (columns, rows) in [(3, 3), (2, 5), (9, 4), (2, 2)] {
        let sheet = sheet(columns, rows);
        assert_eq!(sheet.bend_count as u32, (columns - 2) * rows + columns * (rows - 2));
        assert_eq!(sheet.edges.len() as u32, (columns - 1) * rows + columns * (rows - 1));
        // Flat is at rest wherever it lies, sheared or stretched too.
        let mut random = Random(172);
        let pose = random.pose();
        for shear in [0.0, 0.5] {
            let x: Vec<Vec3> = sheet.positions.iter().map(|p| pose.apply(p + Vec3::x() * (shear * p.z))).collect();
            assert!(energy(&sheet.bending, &x) < 1e-20);
        }
    }
}

#[test]
fn a_sheet_bent_to_a_cylinder_holds_half_the_curvature_squared_an_area() {
    for n in [11, 21, 41] {
        let sheet = sheet(n, n);
        for radius in [0.5, 1.0] {
            let bend = |p: &Vec3| Vec3::new(radius * (p.x / radius).sin(), radius * (p.x / radius).cos(), p.z);
            let x: Vec<Vec3> = sheet.positions.iter().map(bend).collect();
            // The two outer half columns have no neighbour to bend against.
            let area = f64::from(n - 2) / f64::from(n - 1);
            let ratio = energy(&sheet.bending, &x) / (0.5 * area / (radius * radius));
            println!("{n}x{n} threads, radius {radius}: {ratio:.5} of the continuous energy");
            assert_close(ratio, 1.0, 0.3 / f64::from(n * n) / (radius * radius));
            let gentle: Vec<Vec3> = sheet.positions.iter().map(|p| p + Vec3::y() * (0.5 * p.z * p.z)).collect();
            assert_close(energy(&sheet.bending, &gentle), 0.5 * area, 1e-9);
        }
    }
}

#[test]
fn unequal_lengths_on_a_thread_measure_the_same_curvature() {
    let xs = [0.0, 0.1, 0.25, 0.3, 0.7, 1.0];
    let positions: Vec<Vec3> = xs.iter().map(|&x| Vec3::new(x, 0.0, 0.0)).collect();
    let edges: Vec<[u32; 2]> = (0..5).map(|i| [i, i + 1]).collect();
    let lengths: Vec<f64> = xs.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let bends = thread_bends(&edges, &lengths, &positions, |_| 0.2);
    assert_eq!(bends.len(), 4);
    let bending = Bending::of_threads(6, &bends);
    let parabola: Vec<Vec3> = xs.iter().map(|&x| Vec3::new(x, 1.5 * x * x, 0.0)).collect();
    for row in &bending.rows {
        assert_near(row.measure(&parabola), Vec3::y() * 3.0, 1e-12);
    }
    let sharp = thread_bends(&[[0, 1], [1, 2]], &[1.0, 1.0], &[Vec3::x(), Vec3::zeros(), Vec3::y()], |_| 1.0);
    assert!(sharp.is_empty(), "a corner is no thread");
}
