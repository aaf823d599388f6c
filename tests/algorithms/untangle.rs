//! The way out of a tangle: along it the contour gets shorter, and small ones vanish.

use super::Random;
use kiln::algorithms::contact::untangle::{piercing, shorten_contour};
use kiln::math::Vec3;

/// A large triangle in the xz-plane, its normal up.
const FLOOR: [Vec3; 3] = [Vec3::new(-9.0, 0.0, -9.0), Vec3::new(0.0, 0.0, 9.0), Vec3::new(9.0, 0.0, -9.0)];

#[test]
fn an_edge_meets_a_triangle_where_weights_say() {
    let edge = [Vec3::new(0.3, -1.0, 0.2), Vec3::new(0.5, 3.0, -0.2)];
    let found = piercing(edge, FLOOR).unwrap();
    let on_edge = edge[0] + (edge[1] - edge[0]) * found.along;
    let on_triangle: Vec3 = FLOOR.iter().zip(found.corners).map(|(corner, weight)| corner * weight).sum();
    assert!((found.along - 0.25).abs() < 1e-15);
    assert!((on_edge - on_triangle).norm() < 1e-14 && (found.corners.iter().sum::<f64>() - 1.0).abs() < 1e-15);
    assert_eq!(piercing([Vec3::zeros(), Vec3::x()], FLOOR), None, "along the plane");
    assert_eq!(piercing(edge, [Vec3::zeros(); 3]), None, "no plane");
}

/// The tip of a cone below the floor: its edges, each with the tips of the two triangles that it belongs to.
fn cone(depth: f64) -> Vec<([Vec3; 2], [Vec3; 2])> {
    let around = |k: usize| {
        let angle = std::f64::consts::TAU * k as f64 / 6.0;
        Vec3::new(angle.cos(), 1.0, angle.sin())
    };
    let tip = Vec3::new(0.0, -depth, 0.0);
    (0..6).map(|k| ([tip, around(k)], [around(k + 5), around(k + 1)])).collect()
}

#[test]
fn a_tip_that_pokes_through_is_drawn_back() {
    for depth in [1e-6, 0.01, 0.5] {
        for (edge, tips) in cone(depth) {
            let way = shorten_contour(edge, &tips, FLOOR).unwrap();
            assert!((way.norm() - 1.0).abs() < 1e-12);
            assert!(way.y > 0.3, "{depth}: {way}");
        }
        let sum: Vec3 = cone(depth).iter().map(|(edge, tips)| shorten_contour(*edge, tips, FLOOR).unwrap()).sum();
        assert!(sum.x.abs() + sum.z.abs() < 1e-9, "nothing is drawn aside: {sum}");
    }
}

/// Where a segment meets the floor.
fn meeting([a, b]: [Vec3; 2]) -> Vec3 {
    a + (b - a) * (a.y / (a.y - b.y))
}

#[test]
fn the_contour_gets_shorter_along_the_way() {
    let mut random = Random(7);
    let mut point =
        |low: f64, high: f64| Vec3::new(random.within(-1.0, 1.0), random.within(low, high), random.within(-1.0, 1.0));
    for case in 0..500 {
        let edge = [point(-1.0, -0.2), point(0.2, 1.0)];
        let tips = [point(0.2, 1.0), point(-1.0, -0.2)];
        let Some(way) = shorten_contour(edge, &tips, FLOOR) else { continue };
        // From the edge to the far sides of its triangles, which others take care of.
        let far = tips.map(|tip| meeting([if tip.y > 0.0 { edge[0] } else { edge[1] }, tip]));
        let contour = |edge: [Vec3; 2]| far.iter().map(|far| (far - meeting(edge)).norm()).sum::<f64>();
        let shorter = contour(edge) - contour(edge.map(|end| end + way * 1e-6));
        assert!(shorter > 0.0, "case {case}: {shorter:e} along {way}");
    }
}

#[test]
fn degenerate_input_has_no_way() {
    let edge = [Vec3::new(0.0, -1.0, 0.0), Vec3::new(0.0, 1.0, 0.0)];
    assert_eq!(shorten_contour(edge, &[], FLOOR), None, "no triangle, no contour");
    assert_eq!(shorten_contour(edge, &[Vec3::x(), -Vec3::x()], FLOOR), None, "a straight contour");
    assert_eq!(shorten_contour([Vec3::zeros(); 2], &[Vec3::x()], FLOOR), None);
    assert_eq!(shorten_contour(edge, &[Vec3::x()], [Vec3::zeros(); 3]), None);
}
