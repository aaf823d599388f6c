//! Areas, boxes, and how far a mesh has stretched.

use kiln::math::Vec3;
use kiln::mesh::measures::{EdgeStretch, bounds, edge_excess, edge_stretch, triangle_area};

use crate::{Random, assert_close};

/// Stretch of edges that start in the origin.
fn of_lengths(lengths: &[f64]) -> EdgeStretch {
    let positions: Vec<Vec3> = [Vec3::zeros()].into_iter().chain(lengths.iter().map(|l| Vec3::x() * *l)).collect();
    let edges: Vec<[u32; 2]> = (1..=lengths.len() as u32).map(|end| [0, end]).collect();
    edge_stretch(&edges, &vec![1.0; lengths.len()], &positions, &mut Vec::new())
}

#[test]
fn the_area_of_a_triangle_is_half_its_base_times_its_height() {
    assert_close(triangle_area([Vec3::zeros(), Vec3::x() * 3.0, Vec3::new(7.0, 0.0, 4.0)]), 6.0, 1e-15);
    assert_close(triangle_area([Vec3::x(); 3]), 0.0, 0.0);
}

#[test]
fn ninety_nine_of_a_hundred_edges_are_at_or_below_p99() {
    let mut random = Random(90);
    for count in [1, 2, 3, 50, 99, 100, 101, 199, 200, 250, 1000, 1001] {
        let lengths: Vec<f64> = (0..count).map(|_| 1.0 + random.within(0.0, 0.5)).collect();
        let found = of_lengths(&lengths);
        let mut sorted: Vec<f64> = lengths.iter().map(|l| l - 1.0).collect();
        sorted.sort_by(f64::total_cmp);
        let at_or_below = |limit: f64| sorted.iter().filter(|s| **s <= limit).count();
        assert!(at_or_below(found.p99) * 100 >= 99 * count, "{count} edges: only {}", at_or_below(found.p99));
        let lower = sorted.iter().rev().find(|s| **s < found.p99);
        assert!(
            lower.is_none_or(|lower| at_or_below(*lower) * 100 < 99 * count),
            "{count} edges: a lower one would do"
        );
        assert_close(found.max, sorted[count - 1], 0.0);
    }
}

#[test]
fn shrinking_is_no_stretch_and_no_edges_have_none() {
    let found = of_lengths(&[0.25, 0.9]);
    assert_eq!(found, EdgeStretch { max: 0.0, p99: 0.0, compression: 0.75 });
    assert_eq!(of_lengths(&[1.5]).compression, 0.0);
    assert_eq!(of_lengths(&[]), EdgeStretch::default());
}

#[test]
fn a_position_that_is_not_a_number_is_not_overlooked() {
    let found = of_lengths(&[1.0, f64::NAN, 1.1]);
    assert_eq!((found.max, found.compression), (f64::INFINITY, f64::INFINITY));
}

#[test]
fn each_edge_is_held_against_its_own_limit() {
    let positions = [Vec3::zeros(), Vec3::x() * 1.5, Vec3::x() * 2.25];
    let excess = |limits: [f64; 2]| edge_excess(&[[0, 1], [0, 2]], &[1.0, 2.0], &limits, &positions);
    // The edges are stretched by 0.5 and 0.125.
    assert_eq!(excess([0.25, 0.0]), 0.25);
    assert_eq!(excess([1.0, 0.0]), 0.125);
    assert_eq!(excess([1.0, 0.25]), -0.125);
    assert_eq!(edge_excess(&[], &[], &[], &positions), f64::NEG_INFINITY);
    assert_eq!(edge_excess(&[[0, 1]], &[1.0], &[0.1], &[Vec3::zeros(), Vec3::repeat(f64::NAN)]), f64::INFINITY);
}

#[test]
fn the_box_holds_all_points_and_nothing_more() {
    let points = [Vec3::new(1.0, -2.0, 3.0), Vec3::new(-1.0, 5.0, 0.0), Vec3::zeros()];
    assert_eq!(bounds(points), Some((Vec3::new(-1.0, -2.0, 0.0), Vec3::new(1.0, 5.0, 3.0))));
    assert_eq!(bounds([]), None);
}
