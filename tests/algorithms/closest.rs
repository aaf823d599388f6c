//! The nearest point of a triangle against a dense sampling of it.

use kiln::math::Vec3;
use kiln::mesh::closest::{Feature, closest_on_triangle};

use crate::{Random, assert_close, assert_near};

#[test]
fn it_is_nearer_than_every_sample_and_lies_on_the_triangle() {
    let mut random = Random(60);
    for _ in 0..150 {
        let [a, b, c] = std::array::from_fn(|_| random.vector());
        let p = random.vector() * 2.0;
        let (q, _) = closest_on_triangle(p, [a, b, c]);
        let steps = 60;
        let mut best = f64::INFINITY;
        for i in 0..=steps {
            for j in 0..=steps - i {
                let (u, v) = (f64::from(i) / f64::from(steps), f64::from(j) / f64::from(steps));
                best = best.min((a + (b - a) * u + (c - a) * v - p).norm());
            }
        }
        let spacing = (b - a).norm().max((c - a).norm()).max((c - b).norm()) / f64::from(steps);
        let found = (q - p).norm();
        assert!(found <= best + 1e-12 && best <= found + spacing, "{found} against {best}");
        let areas = [[a, b, q], [b, c, q], [c, a, q]].map(crate::doubled_area).iter().sum::<f64>();
        assert_close(areas, crate::doubled_area([a, b, c]), 1e-12);
    }
}

#[test]
fn every_feature_is_named() {
    let triangle = [Vec3::zeros(), Vec3::x(), Vec3::y()];
    let cases = [
        ([-1.0, -1.0, 2.0], [0.0, 0.0], Feature::Corner(0)),
        ([2.0, -0.5, 1.0], [1.0, 0.0], Feature::Corner(1)),
        ([-0.5, 3.0, 0.0], [0.0, 1.0], Feature::Corner(2)),
        ([1.0, 1.0, -1.0], [0.5, 0.5], Feature::Edge(0)),
        ([-1.0, 0.25, 0.0], [0.0, 0.25], Feature::Edge(1)),
        ([0.25, -1.0, 0.0], [0.25, 0.0], Feature::Edge(2)),
        ([0.25, 0.25, 5.0], [0.25, 0.25], Feature::Face),
    ];
    for (p, [x, y], feature) in cases {
        let (q, found) = closest_on_triangle(p.into(), triangle);
        assert_eq!(found, feature, "{p:?}");
        assert_near(q, Vec3::new(x, y, 0.0), 1e-15);
    }
}

#[test]
fn a_point_of_the_triangle_is_its_own_nearest_one() {
    let triangle = [Vec3::new(0.1, 0.2, 0.3), Vec3::new(1.0, 0.0, -0.5), Vec3::new(0.2, 1.4, 0.8)];
    for corner in triangle {
        assert_eq!(closest_on_triangle(corner, triangle).0, corner);
    }
    let middle = (triangle[0] + triangle[1]) / 2.0;
    assert_near(closest_on_triangle(middle, triangle).0, middle, 1e-15);
}
