//! Bending on midpoints and on vertices: flat is at rest, folds measure their angle, the energy converges, the bound is a bound.

use kiln::algorithms::cloth::bending::{BendRow, Bending};
use kiln::math::Vec3;
use kiln::math::sparse_cholesky::SparseCholesky;
use nalgebra::{DMatrix, Rotation3, Unit};

use crate::{Mesh, Random, assert_close, assert_near};

fn build(mesh: &Mesh) -> Bending {
    Bending::of_midpoints(&mesh.flat(), &mesh.triangles, &mesh.topology, |_| 1.0)
}

fn measured(bending: &Bending, x: &[Vec3]) -> Vec<Vec3> {
    bending.rows.iter().map(|row| row.measure(x)).collect()
}

fn energy(bending: &Bending, x: &[Vec3]) -> f64 {
    bending.rows.iter().map(|row| 0.5 * row.weight * row.measure(x).norm_squared()).sum()
}

/// Flat, and irregular in its plane.
fn flat_meshes() -> Vec<Mesh> {
    let mut random = Random(50);
    let mut meshes =
        vec![Mesh::sheet(6, 4, 1.0, 0.7), Mesh::disc(0.8, 30, 14), Mesh::disc(1.0, 1, 6), Mesh::sheet(2, 2, 1.0, 2.0)];
    for p in meshes.iter_mut().flat_map(|mesh| &mut mesh.positions) {
        *p += Vec3::new(random.within(-0.03, 0.03), 0.0, random.within(-0.03, 0.03));
    }
    meshes
}

#[test]
fn flat_cloth_is_at_rest_wherever_it_lies() {
    let mut random = Random(51);
    for mesh in flat_meshes() {
        let bending = build(&mesh);
        for _ in 0..5 {
            let pose = random.pose();
            let x: Vec<Vec3> = mesh.midpoints().into_iter().map(|p| pose.apply(p)).collect();
            assert!(measured(&bending, &x).iter().all(|row| row.norm() < 1e-13), "a flat sheet bends");
        }
    }
}

#[test]
fn every_inner_edge_has_two_rows_whose_coefficients_sum_to_zero() {
    for mesh in flat_meshes() {
        let bending = build(&mesh);
        let inner = mesh.topology.edge_triangles.iter().filter(|triangles| triangles.len() == 2).count();
        assert_eq!(bending.rows.len(), 2 * inner);
        for row in &bending.rows {
            assert_close(row.coefficients.iter().sum(), 0.0, 1e-13);
            assert!(row.weight > 0.0);
        }
    }
}

/// Two triangles at an edge, flat in the xz-plane.
fn pair() -> Mesh {
    let point = |x: f64, z: f64| Vec3::new(x, 0.0, z);
    let positions = vec![point(0.0, 0.0), point(0.3, 1.1), point(-0.8, 0.4), point(0.9, 0.2)];
    Mesh::new(positions, vec![[0, 1, 2], [1, 0, 3]])
}

#[test]
fn a_folded_pair_measures_its_edge_times_twice_the_sine_of_half_the_angle() {
    let flat = pair();
    let bending = build(&flat);
    let edge = flat.positions[1] - flat.positions[0];
    for degrees in [-170.0_f64, -90.0, -1.0, 1e-3, 10.0, 60.0, 120.0, 180.0] {
        let angle = degrees.to_radians();
        let mut folded = flat.clone();
        folded.positions[3] = Rotation3::from_axis_angle(&Unit::new_normalize(edge), angle) * folded.positions[3];
        let rows = measured(&bending, &folded.midpoints());
        assert_close(rows[0].norm(), edge.norm() * 2.0 * (angle / 2.0).sin().abs(), 1e-14);
        assert_near(rows[1], Vec3::zeros(), 1e-14);
        let area = flat.area();
        assert_close(energy(&bending, &folded.midpoints()), 0.75 / area * rows[0].norm_squared(), 1e-13);
    }
}

#[test]
fn the_row_along_the_edge_sees_triangles_that_come_apart() {
    let mesh = pair();
    let bending = build(&mesh);
    let shared = mesh.topology.edges.iter().position(|edge| *edge == [0, 1]).unwrap();
    let mut x = mesh.midpoints();
    // Turn the second triangle about the shared midpoint: across and along change, nothing is bent.
    let turn = Rotation3::from_axis_angle(&Vec3::y_axis(), 0.2);
    for edge in mesh.topology.triangle_edges[1].map(|edge| edge as usize).into_iter().filter(|edge| *edge != shared) {
        x[edge] = x[shared] + turn * (x[edge] - x[shared]);
    }
    let length = (mesh.positions[1] - mesh.positions[0]).norm();
    for row in measured(&bending, &x) {
        assert_close(row.norm(), length * 2.0 * 0.1_f64.sin(), 1e-14);
    }
}

#[test]
fn the_gradient_is_the_derivative_of_the_energy() {
    let mut random = Random(52);
    for mesh in flat_meshes() {
        let bending = build(&mesh);
        let x: Vec<Vec3> = mesh.midpoints().iter().map(|p| p + random.vector() * 0.1).collect();
        let rows = measured(&bending, &x);
        for _ in 0..10 {
            let (i, axis) = (random.below(x.len()), random.below(3));
            let at = |step: f64| {
                let mut moved = x.clone();
                moved[i][axis] += step;
                energy(&bending, &moved)
            };
            // The energy is quadratic, so central differences are exact but for rounding.
            let slope = (at(1e-3) - at(-1e-3)) / 2e-3;
            assert_close(bending.gradient(i, &rows)[axis], slope, 1e-9 * energy(&bending, &x));
        }
        let total: Vec3 = (0..x.len()).map(|i| bending.gradient(i, &rows)).sum();
        assert_near(total, Vec3::zeros(), 1e-9);
    }
}

#[test]
fn where_three_triangles_meet_consecutive_ones_are_tied() {
    let positions = vec![Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z(), -Vec3::y()];
    let mesh = Mesh::new(positions, vec![[0, 1, 2], [0, 1, 3], [0, 1, 4]]);
    assert_eq!(build(&mesh).rows.len(), 4);
}

#[test]
fn the_highest_frequency_is_not_below_the_largest_eigenvalue_and_little_above() {
    let mut random = Random(53);
    for mesh in flat_meshes() {
        let bending = build(&mesh);
        for held in [false, true] {
            let k: Vec<f64> = (0..mesh.topology.edges.len())
                .map(|i| if held && i % 5 == 0 { 0.0 } else { random.within(0.5, 1.0) })
                .collect();
            let mut matrix = DMatrix::<f64>::zeros(k.len(), k.len());
            for row in &bending.rows {
                for (i, a) in row.particles.iter().map(|p| *p as usize).zip(row.coefficients) {
                    for (j, b) in row.particles.iter().map(|p| *p as usize).zip(row.coefficients) {
                        matrix[(i, j)] += row.weight * a * b * (k[i] * k[j]).sqrt();
                    }
                }
            }
            let largest = matrix.symmetric_eigenvalues().max();
            let bound = bending.highest_frequency_squared(&k);
            assert!(bound >= largest * (1.0 - 1e-12), "{bound} is below {largest}");
            assert!(bound <= 1.2001 * largest, "{bound} is far above {largest}");
        }
    }
}

/// Energy of a square metre bent to a radius of one metre, in units of `1/2 ∫ H² dA`.
fn energy_of_a_cylinder(n: u32) -> f64 {
    let mut mesh = Mesh::sheet(n, n, 1.0, 1.0);
    let bending = build(&mesh);
    mesh.positions.iter_mut().for_each(|p| *p = Vec3::new(p.x.sin(), 1.0 - p.x.cos(), p.z));
    energy(&bending, &mesh.midpoints()) / 0.5
}

#[test]
fn the_energy_of_a_mesh_whose_vertices_lie_on_a_cylinder_converges_to_one_and_a_half_times_the_continuous_one() {
    // All of the curvature sits in the edges along the axis: per cell a b, 1.5/(a b) (b a/R)² = 1.5 a b / R².
    let errors = [11, 21, 41, 81].map(|n| (energy_of_a_cylinder(n) - 1.5).abs());
    assert!(errors.windows(2).all(|pair| pair[1] < 0.6 * pair[0]), "{errors:?}");
    assert!(errors[3] < 0.02, "{errors:?}");
}

/// Heights of least energy where those near the rim are a parabola: the energy inside per area, in units of `1/2 ∫ H² dA`.
fn relaxed_energy(mesh: &Mesh, inside: impl Fn(Vec3) -> bool, direction: Vec3) -> f64 {
    let bending = build(mesh);
    let x = mesh.midpoints();
    let free: Vec<Option<u32>> = x
        .iter()
        .scan(0, |count, p| {
            let number = inside(*p).then_some(*count);
            *count += u32::from(number.is_some());
            Some(number)
        })
        .collect();
    let free_count = free.iter().flatten().count();
    let mut heights: Vec<Vec3> = x.iter().map(|p| Vec3::new(0.0, 0.5 * p.dot(&direction).powi(2), 0.0)).collect();
    free.iter()
        .zip(&mut heights)
        .filter(|(number, _)| number.is_some())
        .for_each(|(_, height)| *height = Vec3::zeros());
    let mut entries = Vec::new();
    let mut right = vec![Vec3::zeros(); free_count];
    for row in &bending.rows {
        let fixed = row.measure(&heights);
        let numbers = row.particles.map(|p| free[p as usize]);
        for (i, a) in numbers.iter().zip(row.coefficients) {
            let Some(i) = *i else { continue };
            right[i as usize] -= fixed * (row.weight * a);
            for (j, b) in numbers.iter().zip(row.coefficients) {
                if let Some(j) = j.filter(|j| *j <= i) {
                    entries.push((i, j, row.weight * a * b));
                }
            }
        }
    }
    SparseCholesky::build(free_count, &entries).unwrap().solve(&mut right);
    for (number, height) in free.iter().zip(&mut heights) {
        if let Some(number) = number {
            *height = right[*number as usize];
        }
    }
    // Rows inside, each with the area that is its own: a third of its two triangles.
    let within = |row: &&BendRow| inside(x[row.particles[0] as usize]);
    let energy: f64 =
        bending.rows.iter().filter(within).map(|row| 0.5 * row.weight * row.measure(&heights).norm_squared()).sum();
    let area: f64 = bending.rows.iter().filter(within).map(|row| 0.25 / row.weight).sum();
    energy / (0.5 * area)
}

#[test]
fn relaxed_particles_bend_to_a_cylinder_with_the_continuous_energy() {
    // Cells a by b: a jump J at the edge along the axis costs b² J², at the diagonal (a² + b²) J²; the two share a/R so that the
    // sum is least, which is 1.5 (a² + b²) / (a² + 2 b²) = 1 for squares; the same along the diagonal.
    let inside = |p: Vec3| p.x.abs() < 0.4 && p.z.abs() < 0.4;
    for direction in [Vec3::x(), Vec3::z(), Vec3::new(1.0, 0.0, 1.0).normalize(), Vec3::new(0.8, 0.0, 0.6)] {
        let errors =
            [11, 21, 41].map(|n| (relaxed_energy(&Mesh::sheet(n, n, 1.0, 1.0), inside, direction) - 1.0).abs());
        assert!(errors[2] < 0.01 && errors[2] < errors[0], "{errors:?}");
    }
    let disc = Mesh::disc(0.75, 2302, 120);
    assert_close(relaxed_energy(&disc, |p| p.norm() < 0.6, Vec3::x()), 1.0, 0.075);
}

fn on_vertices(mesh: &Mesh) -> Bending {
    Bending::of_vertices(mesh.positions.len(), &mesh.flat(), &mesh.triangles, &mesh.topology, |_| 1.0)
}

#[test]
fn on_vertices_flat_cloth_is_at_rest_wherever_it_lies() {
    let mut random = Random(54);
    for mesh in flat_meshes() {
        let bending = on_vertices(&mesh);
        let inner = mesh.topology.edge_triangles.iter().filter(|triangles| triangles.len() == 2).count();
        assert_eq!(bending.rows.len(), inner);
        for row in &bending.rows {
            assert_close(row.coefficients.iter().sum(), 0.0, 1e-13);
        }
        for _ in 0..5 {
            let pose = random.pose();
            let x: Vec<Vec3> = mesh.positions.iter().map(|p| pose.apply(*p)).collect();
            assert!(measured(&bending, &x).iter().all(|row| row.norm() < 1e-12), "a flat sheet bends");
        }
    }
}

#[test]
fn on_vertices_a_folded_pair_measures_its_edge_times_twice_the_sine_of_half_the_angle() {
    let flat = pair();
    let bending = on_vertices(&flat);
    let edge = flat.positions[1] - flat.positions[0];
    for degrees in [-170.0_f64, -90.0, -1.0, 1e-3, 10.0, 60.0, 120.0, 180.0] {
        let angle = degrees.to_radians();
        let mut folded = flat.clone();
        folded.positions[3] = Rotation3::from_axis_angle(&Unit::new_normalize(edge), angle) * folded.positions[3];
        let rows = measured(&bending, &folded.positions);
        assert_close(rows[0].norm(), edge.norm() * 2.0 * (angle / 2.0).sin().abs(), 1e-13);
        assert_close(energy(&bending, &folded.positions), 0.5 / flat.area() * rows[0].norm_squared(), 1e-13);
    }
}

#[test]
fn on_vertices_the_gradient_is_the_derivative_of_the_energy() {
    let mut random = Random(55);
    for mesh in flat_meshes() {
        let bending = on_vertices(&mesh);
        let x: Vec<Vec3> = mesh.positions.iter().map(|p| p + random.vector() * 0.1).collect();
        let rows = measured(&bending, &x);
        for _ in 0..10 {
            let (i, axis) = (random.below(x.len()), random.below(3));
            let at = |step: f64| {
                let mut moved = x.clone();
                moved[i][axis] += step;
                energy(&bending, &moved)
            };
            let slope = (at(1e-3) - at(-1e-3)) / 2e-3;
            assert_close(bending.gradient(i, &rows)[axis], slope, 1e-9 * energy(&bending, &x));
        }
        let total: Vec3 = (0..x.len()).map(|i| bending.gradient(i, &rows)).sum();
        assert_near(total, Vec3::zeros(), 1e-9);
    }
}

/// Energy of a mesh whose vertices lie on a cylinder of a metre, bent along a direction, in units of `1/2 ∫ H² dA` over what lies between
/// inner edges.
fn vertex_energy_of_a_cylinder(mesh: &Mesh, direction: Vec3) -> f64 {
    let bending = on_vertices(mesh);
    let across = direction.cross(&Vec3::y());
    let bend = |p: &Vec3| {
        let along = p.dot(&direction);
        direction * along.sin() + Vec3::y() * (1.0 - along.cos()) + across * p.dot(&across)
    };
    let x: Vec<Vec3> = mesh.positions.iter().map(bend).collect();
    // An edge stands for a third of its two triangles; those of the boundary bend nothing.
    let area: f64 = bending.rows.iter().map(|row| 1.0 / row.weight / 3.0).sum();
    energy(&bending, &x) / (0.5 * area)
}

#[test]
fn on_vertices_a_cylinder_holds_the_continuous_energy() {
    let directions = [0.0_f64, 15.0, 30.0, 45.0, 60.0, 90.0].map(|degrees| {
        let angle = degrees.to_radians();
        Vec3::new(angle.cos(), 0.0, angle.sin())
    });
    for (name, mesh) in [
        ("equilateral", Mesh::equilateral(1.0, 1.0, 0.05)),
        ("fine equilateral", Mesh::equilateral(1.0, 1.0, 0.025)),
        ("disc", Mesh::disc(0.5, 721, 96)),
        ("fine disc", Mesh::disc(0.5, 2611, 180)),
    ] {
        let ratios = directions.map(|direction| vertex_energy_of_a_cylinder(&mesh, direction));
        println!("{name}: {ratios:.3?} of the continuous energy");
        assert!(ratios.iter().all(|ratio| (0.95..=1.15).contains(ratio)), "{name}: {ratios:?}");
    }
    let squares = directions.map(|direction| vertex_energy_of_a_cylinder(&Mesh::sheet(41, 41, 1.0, 1.0), direction));
    // The tablecloth, whose rim has longer edges than its rings.
    let tablecloth = directions.map(|direction| vertex_energy_of_a_cylinder(&Mesh::disc(0.75, 2302, 120), direction));
    println!("tablecloth: {tablecloth:.3?} of the continuous energy");
    assert!(tablecloth.iter().all(|ratio| (0.95..=1.15).contains(ratio)), "{tablecloth:?}");
    println!("squares with diagonals: {squares:.3?} of the continuous energy");
    assert!(squares.iter().all(|ratio| (0.95..=1.55).contains(ratio)), "{squares:?}");
}

#[test]
fn a_factor_on_an_edge_is_one_on_its_energy() {
    let mut random = Random(56);
    let mesh = Mesh::disc(0.8, 30, 14);
    let factor = |edge: usize| 1.0 + edge as f64 % 3.0;
    for (plain, factored, per_edge) in [
        (
            on_vertices(&mesh),
            Bending::of_vertices(mesh.positions.len(), &mesh.flat(), &mesh.triangles, &mesh.topology, factor),
            1,
        ),
        (build(&mesh), Bending::of_midpoints(&mesh.flat(), &mesh.triangles, &mesh.topology, factor), 2),
    ] {
        let inner = mesh.topology.edge_triangles.iter().enumerate().filter(|(_, triangles)| triangles.len() == 2);
        let edges: Vec<usize> = inner.map(|(edge, _)| edge).collect();
        for (number, (plain, factored)) in plain.rows.iter().zip(&factored.rows).enumerate() {
            assert_close(factored.weight, plain.weight * factor(edges[number / per_edge]), 1e-12 * factored.weight);
        }
        let x = random.vectors(mesh.topology.edges.len());
        assert!(energy(&factored, &x) > energy(&plain, &x));
    }
}
