//! The volume in a closed surface, its corrections, and what lies across.

use std::f64::consts::PI;

use kiln::algorithms::shape_matching::surface_volume::{self, InnerStructure, blend, correction, growth, volume};
use kiln::math::Vec3;
use kiln::mesh::bvh::Bvh;
use kiln::mesh::generate as rule;

use crate::surfaces::{area_normals, closed, masses};
use crate::{Mesh, Random, assert_close, assert_near};

fn volume_of(x: &[Vec3], triangles: &[[u32; 3]]) -> f64 {
    volume(x, &area_normals(x, triangles))
}

#[test]
fn the_volume_is_that_of_tetrahedra_to_any_point() {
    let mut random = Random(270);
    for mesh in closed(&mut random) {
        let apex = random.vector();
        let six = |corners: &[u32; 3]| {
            let [a, b, c] = corners.map(|v| mesh.positions[v as usize] - apex);
            a.dot(&b.cross(&c))
        };
        let expected = mesh.triangles.iter().map(six).sum::<f64>() / 6.0;
        assert!(expected > 0.1);
        assert_close(volume_of(&mesh.positions, &mesh.triangles), expected, 1e-13);
        // Inside out it is the opposite.
        let turned: Vec<[u32; 3]> = mesh.triangles.iter().map(|&[a, b, c]| [a, c, b]).collect();
        assert_close(volume_of(&mesh.positions, &turned), -expected, 1e-13);
    }
    let cuboid = Mesh::of(&rule::cuboid([1.0, 0.2, 0.7], [5, 3, 4]));
    assert_close(volume_of(&cuboid.positions, &cuboid.triangles), 0.14, 1e-15);
    let far: Vec<Vec3> = cuboid.positions.iter().map(|x| x + Vec3::repeat(1000.0)).collect();
    assert_close(volume_of(&far, &cuboid.triangles), 0.14, 1e-12);
}

#[test]
fn a_fine_sphere_has_the_volume_of_a_sphere() {
    let exact = 4.0 * PI / 3.0;
    let [coarse, fine] = [4, 5].map(|times| {
        let mesh = Mesh::icosphere(times);
        volume_of(&mesh.positions, &mesh.triangles)
    });
    println!("lacking: {} and {} of {exact}", exact - coarse, exact - fine);
    // Halving edges quarters the error, which leaves a more exact value.
    assert_close((exact - coarse) / (exact - fine), 4.0, 0.01);
    assert_close((4.0 * fine - coarse) / 3.0, exact, 1e-5);
}

#[test]
fn the_gradient_is_a_third_of_the_area_normal() {
    let mut random = Random(271);
    for mesh in closed(&mut random) {
        let normals = area_normals(&mesh.positions, &mesh.triangles);
        let mut x = mesh.positions.clone();
        for i in (0..x.len()).step_by(7) {
            let slope = Vec3::from_fn(|axis, _| {
                let mut at = |by: f64| {
                    x[i][axis] = mesh.positions[i][axis] + by;
                    let found = volume_of(&x, &mesh.triangles);
                    x[i] = mesh.positions[i];
                    found
                };
                (at(1e-4) - at(-1e-4)) / 2e-4
            });
            assert_near(slope, normals[i] / 3.0, 1e-7 * normals[i].norm().max(1e-3));
        }
    }
}

#[test]
fn one_pass_over_triangles_gives_the_bits_of_sums_around_vertices() {
    let mut random = Random(276);
    for mesh in closed(&mut random) {
        let (x, triangles) = (&mesh.positions, &mesh.triangles);
        let expected = area_normals(x, triangles);
        for outwards in [1.0, -1.0] {
            let mut found = random.vectors(x.len()); // what was there does not count
            let inside = surface_volume::area_normals(x, triangles, outwards, &mut found);
            assert!(found.iter().zip(&expected).all(|(found, expected)| *found == expected * outwards));
            assert_eq!(inside, outwards * volume(x, &expected));
        }
    }
}

#[test]
fn the_longest_way_of_a_correction_is_known_before() {
    let mut random = Random(277);
    for mesh in closed(&mut random) {
        let normals = area_normals(&mesh.positions, &mesh.triangles);
        let weights = masses(normals.len(), &mut random);
        for lacking in [0.1, -0.3] {
            let step = correction(lacking, |i| weights[i], &normals).unwrap();
            let ways = normals.iter().zip(&weights).map(|(n, w)| (n * (w * step.multiplier)).norm());
            assert_close(step.longest, ways.fold(0.0, f64::max), 1e-14);
        }
    }
}

/// One correction towards a volume.
fn correct(x: &mut [Vec3], triangles: &[[u32; 3]], wanted: f64, weights: &[f64]) {
    let normals = area_normals(x, triangles);
    let step = correction(wanted - volume(x, &normals), |i| weights[i], &normals).unwrap().multiplier;
    x.iter_mut().zip(&normals).zip(weights).for_each(|((x, n), w)| *x += n * (w * step));
}

#[test]
fn a_correction_leaves_an_error_of_second_order() {
    let mut random = Random(272);
    for mesh in closed(&mut random) {
        let before = volume_of(&mesh.positions, &mesh.triangles);
        let weights = masses(mesh.positions.len(), &mut random);
        let left = |part: f64, times: usize| {
            let mut x = mesh.positions.clone();
            let wanted = before * (1.0 + part);
            (0..times).for_each(|_| correct(&mut x, &mesh.triangles, wanted, &weights));
            volume_of(&x, &mesh.triangles) / wanted - 1.0
        };
        let (large, small) = (left(1e-2, 1), left(1e-3, 1));
        assert!(large.abs() < 1e-3, "{large}");
        assert!((80.0..125.0).contains(&(large / small)), "{large} {small}");
        for part in [0.03, -0.03] {
            assert_close(left(part, 3), 0.0, 1e-12);
        }
    }
}

#[test]
fn equal_weights_over_masses_keep_momentum() {
    let mut random = Random(273);
    for mesh in closed(&mut random) {
        let mass = masses(mesh.positions.len(), &mut random);
        let weights: Vec<f64> = mass.iter().map(|m| 0.37 / m).collect();
        let (mut x, before) = (mesh.positions.clone(), volume_of(&mesh.positions, &mesh.triangles));
        correct(&mut x, &mesh.triangles, 0.9 * before, &weights);
        let ways: Vec<Vec3> = (0..x.len()).map(|i| (x[i] - mesh.positions[i]) * mass[i]).collect();
        let parts: f64 = ways.iter().map(|way| way.norm()).sum();
        assert!(parts > 1e-3);
        assert_near(ways.iter().sum(), Vec3::zeros(), 1e-12 * parts);
    }
}

#[test]
fn velocities_are_left_without_growth() {
    let mut random = Random(274);
    for mesh in closed(&mut random) {
        let normals = area_normals(&mesh.positions, &mesh.triangles);
        let weights = masses(normals.len(), &mut random);
        // A motion of the whole makes nothing grow; blowing up by a rate makes the volume grow threefold.
        let v = |rate: f64| mesh.positions.iter().map(|x| Vec3::new(1.0, -2.0, 0.5) + x * rate).collect::<Vec<_>>();
        let inside = volume(&mesh.positions, &normals);
        assert_close(growth(&v(0.0), &normals), 0.0, 1e-13);
        assert_close(growth(&v(0.4), &normals), 1.2 * inside, 1e-13);
        let mut v = random.vectors(normals.len());
        let before = growth(&v, &normals);
        assert!(before.abs() > 1e-3);
        let step = correction(-before, |i| weights[i], &normals).unwrap().multiplier;
        v.iter_mut().zip(&normals).zip(&weights).for_each(|((v, n), w)| *v += n * (w * step));
        assert_close(growth(&v, &normals), 0.0, 1e-12 * before.abs());
    }
}

#[test]
fn without_weights_or_normals_nothing_can_be_corrected() {
    let normals = Random(275).vectors(5);
    assert_eq!(correction(1.0, |_| 0.0, &normals), None);
    assert_eq!(correction(1.0, |_| 1.0, &[Vec3::zeros(); 5]), None);
    assert_eq!(correction(f64::NAN, |_| 1.0, &normals), None);
    assert_eq!(correction(1.0, |_| f64::NAN, &normals), None);
}

fn inner(mesh: &Mesh, range: [f64; 2]) -> InnerStructure {
    let normals = area_normals(&mesh.positions, &mesh.triangles);
    InnerStructure::build(&mesh.positions, &mesh.triangles, &normals, range)
}

#[test]
fn across_a_sphere_is_the_opposite_vertex() {
    for mesh in [Mesh::icosphere(3), Mesh::of(&rule::ball(1.0, 9)), Mesh::of(&rule::sphere(1.0, 17, 32))] {
        let inner = inner(&mesh, [0.1, 1.0]);
        for (i, &across) in inner.across.iter().enumerate() {
            assert_near(mesh.positions[across as usize], -mesh.positions[i], 1e-12);
            assert_close(inner.distances[i], 2.0, 1e-12);
        }
        // Pushed in on one side, and moved as a whole.
        let pole = mesh.positions[0];
        let pushed: Vec<Vec3> = mesh.positions.iter().map(|x| x - pole * (0.1 * x.dot(&pole)) + Vec3::x()).collect();
        assert_close(inner.change(0, &pushed), -0.2, 1e-12);
        let moved: Vec<Vec3> = mesh.positions.iter().map(|x| x + Vec3::x()).collect();
        (0..moved.len()).for_each(|i| assert_close(inner.change(i, &moved), 0.0, 1e-12));
    }
}

#[test]
fn across_a_flat_box_is_its_thickness() {
    let mesh = Mesh::of(&rule::cuboid([1.0, 0.2, 1.0], [11, 3, 11]));
    let inner = inner(&mesh, [0.25, 2.0]);
    let mut checked = [0; 2];
    for (i, x) in mesh.positions.iter().enumerate() {
        let is_inside = |axis: usize, half: f64| x[axis].abs() < half - 1e-9;
        // Edges look along diagonals, faces straight across.
        if is_inside(0, 0.5) && is_inside(2, 0.5) {
            assert_near(mesh.positions[inner.across[i] as usize], Vec3::new(x.x, -x.y, x.z), 1e-12);
            assert_close(inner.distances[i], 0.2, 1e-12);
            assert_close(inner.weights[i], 2.0, 1e-12);
            checked[0] += 1;
        } else if is_inside(1, 0.1) && (is_inside(0, 0.5) || is_inside(2, 0.5)) {
            assert_close(inner.distances[i], 1.0, 1e-12);
            checked[1] += 1;
        }
    }
    assert_eq!(checked, [2 * 81, 4 * 9]);
}

#[test]
fn weights_run_from_the_shortest_to_the_longest_way() {
    let mut random = Random(276);
    for mesh in closed(&mut random) {
        let inner = inner(&mesh, [0.25, 2.0]);
        let found: Vec<f64> = inner.distances.iter().copied().filter(|d| *d > 0.0).collect();
        assert_eq!(found.len(), inner.distances.len(), "all look across");
        let shortest = found.iter().copied().fold(f64::INFINITY, f64::min);
        let longest = found.iter().copied().fold(0.0, f64::max);
        assert!(longest > 1.02 * shortest);
        for (i, &distance) in inner.distances.iter().enumerate() {
            assert_close(distance, (mesh.positions[i] - mesh.positions[inner.across[i] as usize]).norm(), 1e-15);
            let expected = 2.0 - 1.75 * (distance - shortest) / (longest - shortest);
            assert_close(inner.weights[i], expected, 1e-12);
        }
    }
}

#[test]
fn without_an_inside_a_particle_is_across_itself() {
    let mesh = Mesh::sheet(4, 4, 1.0, 1.0);
    let inner = inner(&mesh, [0.25, 2.0]);
    assert_eq!(inner.across, (0..16).collect::<Vec<u32>>());
    assert_eq!((inner.distances, inner.weights), (vec![0.0; 16], vec![0.0; 16]));
}

#[test]
fn shares_sum_to_one_and_blend_the_deformed_with_all_alike() {
    let mut random = Random(277);
    let local: Vec<f64> = (0..50).map(|_| random.within(0.0, 3.0)).collect();
    let sum: f64 = local.iter().sum();
    let blended = |alpha: f64, local: &[f64]| {
        let mut weights = vec![f64::NAN; local.len()];
        blend(alpha, local, &mut weights);
        weights
    };
    for alpha in [0.0, 0.3, 0.99, 1.0] {
        let weights = blended(alpha, &local);
        assert_close(weights.iter().sum(), 1.0, 1e-14);
        for (weight, local) in weights.iter().zip(&local) {
            assert_close(*weight, alpha / 50.0 + (1.0 - alpha) * local / sum, 1e-15);
        }
    }
    assert_eq!(blended(1.0, &local), vec![1.0 / 50.0; 50]);
    // Where nothing is deformed all are alike.
    for alpha in [0.0, 0.5, 1.0] {
        assert_eq!(blended(alpha, &[0.0; 50]), vec![1.0 / 50.0; 50]);
    }
}

/// Where a ray passes a triangle, by the plane and the three sides.
fn passes(from: Vec3, direction: Vec3, [a, b, c]: [Vec3; 3]) -> Option<f64> {
    let normal = (b - a).cross(&(c - a));
    let far = (a - from).dot(&normal) / direction.dot(&normal);
    let place = from + direction * far;
    let is_left = |from: Vec3, to: Vec3| (to - from).cross(&(place - from)).dot(&normal) >= 0.0;
    (far > 0.0 && is_left(a, b) && is_left(b, c) && is_left(c, a)).then_some(far)
}

#[test]
fn a_ray_finds_the_same_first_triangle_as_brute_force() {
    let mut random = Random(278);
    let mut hits = 0;
    for mesh in closed(&mut random) {
        let bvh = Bvh::build(&mesh.positions, &mesh.triangles);
        let mut looks = 0;
        for ray in 0..2000 {
            let from = random.vector();
            let direction = match ray % 4 {
                // Along an axis a box has sides that the ray never meets.
                0 => Vec3::from_fn(|axis, _| if axis == ray / 4 % 3 { 1.0 } else { 0.0 } * [1.0, -1.0][ray / 12 % 2]),
                1 => random.vector().component_mul(&Vec3::new(1.0, 1.0, 0.0)),
                2 => -from + random.vector() * 0.3,
                _ => random.vector(),
            };
            let at = |t: usize| passes(from, direction, mesh.points(t));
            let expected = (0..mesh.triangles.len()).filter_map(at).fold(f64::INFINITY, f64::min);
            let mut found = f64::INFINITY;
            bvh.along(from, direction, |t| {
                looks += 1;
                found = at(t as usize).map_or(found, |far| found.min(far));
                found
            });
            assert_eq!(found, expected, "{from:?} {direction:?}");
            hits += usize::from(found.is_finite());
        }
        assert!(looks < 2000 * mesh.triangles.len() / 5, "{looks} looks are no saving");
    }
    assert!(hits > 1500, "{hits} rays hit anything");
    Bvh::build(&[], &[]).along(Vec3::zeros(), Vec3::x(), |_| unreachable!("nothing is there"));
}

#[test]
fn a_share_that_is_no_number_leaves_all_alike() {
    for bad in [f64::NAN, f64::INFINITY] {
        let mut weights = vec![0.0; 4];
        blend(0.5, &[1.0, bad, 0.0, 2.0], &mut weights);
        assert_eq!(weights, vec![0.25; 4]);
    }
}
