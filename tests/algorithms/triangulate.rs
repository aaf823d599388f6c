//! Polygons into triangles: nothing is lost, nothing overlaps.

use kiln::math::Vec3;
use kiln::mesh::triangulate::triangulate;

use crate::{Random, assert_close, doubled_area};

fn flat(points: &[[f64; 2]]) -> Vec<Vec3> {
    points.iter().map(|[x, y]| Vec3::new(*x, *y, 0.0)).collect()
}

/// Signed area of a polygon in the xy-plane.
fn area(points: &[Vec3]) -> f64 {
    let next = points.iter().cycle().skip(1);
    points.iter().zip(next).map(|(p, q)| 0.5 * (p.x * q.y - q.x * p.y)).sum()
}

/// `n - 2` triangles that cover the polygon once: their areas without sign sum to its area, so none overlaps or is turned over.
#[track_caller]
fn check(points: &[Vec3]) {
    let mut random = Random(80);
    let expected = area(points).abs();
    for _ in 0..3 {
        let pose = random.pose();
        let placed: Vec<Vec3> = points.iter().map(|p| pose.apply(*p)).collect();
        let triangles = triangulate(&placed);
        assert_eq!(triangles.len(), points.len() - 2);
        let covered: f64 = triangles.iter().map(|t| 0.5 * doubled_area(t.map(|k| placed[k]))).sum();
        assert_close(covered, expected, 1e-12 * expected.max(1.0));
        let turned = |t: &[usize; 3]| area(&t.map(|k| points[k])) * area(points) < -1e-12;
        assert!(!triangles.iter().any(turned), "a triangle is turned over");
    }
}

#[test]
fn convex_polygons_are_covered() {
    for n in 3..20 {
        let corner = |k: i32| {
            let angle = f64::from(k) / f64::from(n) * std::f64::consts::TAU;
            [angle.cos(), 0.5 * angle.sin()]
        };
        check(&flat(&(0..n).map(corner).collect::<Vec<_>>()));
    }
}

#[test]
fn concave_polygons_are_covered() {
    let arrow = [[0.0, 0.0], [2.0, -1.0], [0.5, 0.0], [2.0, 1.0]];
    let l = [[0.0, 0.0], [3.0, 0.0], [3.0, 1.0], [1.0, 1.0], [1.0, 3.0], [0.0, 3.0]];
    let comb =
        [[0.0, 0.0], [5.0, 0.0], [5.0, 3.0], [4.0, 1.0], [3.0, 3.0], [2.0, 1.0], [1.0, 3.0], [0.5, 1.0], [0.0, 3.0]];
    for polygon in [&arrow[..], &l, &comb] {
        check(&flat(polygon));
        check(&flat(&polygon.iter().rev().copied().collect::<Vec<_>>()));
    }
}

#[test]
fn random_star_shaped_polygons_are_covered() {
    let mut random = Random(81);
    for n in 4..40 {
        let corner = |k: usize| {
            let angle = (k as f64 + random.within(0.0, 0.8)) / n as f64 * std::f64::consts::TAU;
            let radius = random.within(0.1, 1.0);
            [radius * angle.cos(), radius * angle.sin()]
        };
        check(&flat(&(0..n).map(corner).collect::<Vec<_>>()));
    }
}

#[test]
fn corners_on_a_straight_line_are_no_trouble() {
    check(&flat(&[[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [1.0, 2.0]]));
    check(&flat(&[[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [2.0, 1.0], [2.0, 2.0], [1.0, 2.0], [0.0, 2.0], [0.0, 1.0]]));
}

#[test]
fn a_repeated_corner_costs_one_flat_triangle_only() {
    let l = [[0.0, 0.0], [3.0, 0.0], [3.0, 1.0], [1.0, 1.0], [1.0, 3.0], [0.0, 3.0]];
    for twice in 0..6 {
        for shift in 0..7 {
            let mut polygon = l.to_vec();
            polygon.insert(twice, l[twice]);
            polygon.rotate_left(shift);
            check(&flat(&polygon));
        }
    }
}

#[test]
fn a_hole_that_a_bridge_joins_to_the_rim_stays_a_hole() {
    let polygon = [
        [0.0, 0.0],
        [4.0, 0.0],
        [4.0, 4.0],
        [0.0, 4.0],
        [0.0, 0.0],
        [1.0, 1.0],
        [1.0, 3.0],
        [3.0, 3.0],
        [3.0, 1.0],
        [1.0, 1.0],
    ];
    for shift in 0..10 {
        let mut polygon = polygon.to_vec();
        polygon.rotate_left(shift);
        check(&flat(&polygon));
    }
}

#[test]
fn a_quad_is_split_along_its_better_diagonal() {
    let kite = flat(&[[-3.0, 0.0], [0.0, -1.0], [3.0, 0.0], [0.0, 1.0]]);
    let triangles = triangulate(&kite);
    assert!(triangles.iter().all(|t| t.contains(&1) && t.contains(&3)), "{triangles:?}");
}

#[test]
fn degenerate_polygons_still_give_their_count() {
    for n in 0..8_usize {
        for points in [vec![Vec3::zeros(); n], (0..n).map(|k| Vec3::x() * k as f64).collect()] {
            let triangles = triangulate(&points);
            assert_eq!(triangles.len(), n.saturating_sub(2));
            assert!(triangles.iter().flatten().all(|k| *k < n));
        }
    }
    assert_eq!(triangulate(&flat(&[[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]])).len(), 2);
}

#[test]
fn a_bent_quad_keeps_its_corners() {
    let points = [Vec3::zeros(), Vec3::x(), Vec3::new(1.0, 1.0, 0.7), Vec3::y()];
    let mut used: Vec<usize> = triangulate(&points).into_iter().flatten().collect();
    used.sort_unstable();
    used.dedup();
    assert_eq!(used, [0, 1, 2, 3]);
}
