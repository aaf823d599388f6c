//! Placements and rigid motions.

use kiln::math::Vec3;
use kiln::math::curve::{Curve, Interpolation};
use kiln::math::motion::{Motion, Pose, rotation_from_degrees};

use crate::{Random, assert_close, assert_near};

#[test]
fn angles_turn_about_x_then_y_then_z() {
    let turned = |angles: [f64; 3], p: Vec3| rotation_from_degrees(angles.into()) * p;
    assert_near(turned([90.0, 0.0, 0.0], Vec3::y()), Vec3::z(), 1e-15);
    assert_near(turned([0.0, 90.0, 0.0], Vec3::z()), Vec3::x(), 1e-15);
    assert_near(turned([0.0, 0.0, 90.0], Vec3::x()), Vec3::y(), 1e-15);
    assert_near(turned([90.0, 90.0, 0.0], Vec3::y()), Vec3::x(), 1e-15);
    assert_near(turned([0.0, 90.0, 90.0], Vec3::z()), Vec3::y(), 1e-15);
}

#[test]
fn the_inverse_undoes_a_pose() {
    let mut random = Random(120);
    for _ in 0..100 {
        let (pose, p, q) = (random.pose(), random.vector(), random.vector());
        assert_near(pose.apply_inverse(pose.apply(p)), p, 1e-14);
        assert_near(pose.apply(pose.apply_inverse(p)), p, 1e-14);
        assert_close((pose.apply(p) - pose.apply(q)).norm(), (p - q).norm(), 1e-14);
    }
    assert_eq!(Pose::identity().apply(Vec3::x()), Vec3::x());
}

#[test]
fn the_pivot_stays_where_it_is_but_for_the_shift() {
    let keys = |to: Vec3| Curve::from_keys(vec![(0.0, Vec3::zeros()), (10.0, to)], Interpolation::Linear).unwrap();
    let pivot = Vec3::new(1.0, -2.0, 0.5);
    let motion = Motion { translate: keys(Vec3::new(0.0, 5.0, 0.0)), rotate: keys(Vec3::new(0.0, 180.0, 0.0)), pivot };
    assert!(!motion.is_constant());
    for frame in [0.0, 2.5, 10.0, 20.0] {
        let shift = Vec3::new(0.0, 0.5 * f64::min(frame, 10.0), 0.0);
        assert_near(motion.at(frame).apply(pivot), pivot + shift, 1e-14);
    }
    let half_turn = motion.at(10.0).apply(pivot + Vec3::x());
    assert_near(half_turn, pivot - Vec3::x() + Vec3::new(0.0, 5.0, 0.0), 1e-14);
}

#[test]
fn stillness_changes_nothing() {
    assert!(Motion::still().is_constant());
    assert_near(Motion::still().at(7.0).apply(Vec3::new(1.0, 2.0, 3.0)), Vec3::new(1.0, 2.0, 3.0), 0.0);
}
