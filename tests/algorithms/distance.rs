//! Two particles that keep their distance.

use kiln::algorithms::cloth::distance::{Distance, Keeps, stretch};
use kiln::math::Vec3;

use crate::{Random, assert_close, assert_near};

#[test]
fn momentum_and_shares_hold_for_unequal_masses() {
    let mut random = Random(20);
    for _ in 0..200 {
        let (k_a, k_b) = (random.within(0.1, 9.0), random.within(0.1, 9.0));
        let distance = Distance::new(random.within(0.5, 2.0), k_a, k_b, Keeps::Distance);
        let (a0, b0, v_a0, v_b0) = (random.vector(), random.vector(), random.vector(), random.vector());
        let (mut a, mut b) = (a0, b0);
        distance.correct_position(&mut a, &mut b);
        assert_near((a - a0) / k_a + (b - b0) / k_b, Vec3::zeros(), 1e-14);
        assert_close(distance.share_a, k_a / (k_a + k_b), 1e-15);
        assert_close(distance.share_a + distance.share_b, 1.0, 1e-15);
        let (mut v_a, mut v_b) = (v_a0, v_b0);
        distance.correct_velocity(b0 - a0, &mut v_a, &mut v_b);
        assert_near((v_a - v_a0) / k_a + (v_b - v_b0) / k_b, Vec3::zeros(), 1e-13);
    }
}

#[test]
fn a_fixed_particle_does_not_move() {
    let distance = Distance::new(1.0, 0.0, 3.0, Keeps::Distance);
    let (mut a, mut b) = (Vec3::zeros(), Vec3::new(0.0, 1.1, 0.0));
    assert_close(distance.correct_position(&mut a, &mut b), 0.21, 1e-15);
    assert_eq!(a, Vec3::zeros());
    assert_close(b.y, 1.1 * (1.0 - 0.105), 1e-15);
    let (mut v_a, mut v_b) = (Vec3::zeros(), Vec3::y());
    distance.correct_velocity(Vec3::y(), &mut v_a, &mut v_b);
    assert_eq!([v_a, v_b], [Vec3::zeros(); 2]);
}

#[test]
fn a_small_error_is_removed_to_first_order() {
    // The exact correction leaves nothing; ours leaves 3/2 e² + O(e³) of the length.
    for error in [1e-2, 1e-3, 1e-4, -1e-2, -1e-3, -1e-4] {
        let distance = Distance::new(1.0, 1.0, 2.0, Keeps::Distance);
        let (mut a, mut b) = (Vec3::zeros(), Vec3::new(1.0 + error, 0.0, 0.0));
        distance.correct_position(&mut a, &mut b);
        assert_close(((b - a).norm() - 1.0) / (error * error), -1.5, 1.0 * error.abs());
        assert_close(a.x, error / 3.0, error * error);
    }
}

#[test]
fn it_stays_finite_where_the_particles_meet_and_at_a_hundredfold_stretch() {
    let distance = Distance::new(0.01, 1.0, 1.0, Keeps::Distance);
    for length in [0.0, 1e-300, 1e-20, 1.0, 100.0] {
        let (mut a, mut b) = (Vec3::zeros(), Vec3::new(length, 0.0, 0.0));
        let strain = distance.correct_position(&mut a, &mut b);
        assert!(strain.is_finite() && a.x.is_finite() && b.x.is_finite());
        assert!(b.x >= a.x, "the pair was turned round at length {length}");
    }
}

#[test]
fn repeated_corrections_converge_from_near_and_far() {
    for start in [1.26, 11.0, 101.0, 0.5, 0.01] {
        let distance = Distance::new(1.0, 1.0, 0.25, Keeps::Distance);
        let (mut a, mut b) = (Vec3::zeros(), Vec3::new(0.0, 0.0, start));
        let mut length = start;
        for _ in 0..40 {
            distance.correct_position(&mut a, &mut b);
            let next = (b - a).norm();
            assert!((next - 1.0).abs() <= (length - 1.0).abs(), "the error grew at length {length}");
            length = next;
        }
        assert_close(length, 1.0, 1e-14);
    }
}

#[test]
fn the_velocity_along_a_pair_at_rest_length_vanishes_and_the_rest_is_kept() {
    let mut random = Random(21);
    for _ in 0..100 {
        let direction = random.vector().normalize();
        let distance = Distance::new(0.7, random.within(0.1, 5.0), random.within(0.1, 5.0), Keeps::Distance);
        let (v_a0, v_b0) = (random.vector(), random.vector());
        let (mut v_a, mut v_b) = (v_a0, v_b0);
        distance.correct_velocity(direction * 0.7, &mut v_a, &mut v_b);
        assert_close((v_b - v_a).dot(&direction), 0.0, 1e-14);
        let across = |v: Vec3| v - direction * v.dot(&direction);
        assert_near(across(v_b - v_a), across(v_b0 - v_a0), 1e-14);
    }
}

#[test]
fn stretch_undoes_the_square() {
    for length in [0.0, 0.3, 0.999, 1.0, 1.01, 3.0, 100.0_f64] {
        assert_close(stretch(length * length - 1.0), (length - 1.0).abs(), 1e-13 * length.max(1.0));
    }
    assert_close(stretch(-1.1), 1.0, 0.0);
    let distance = Distance::new(2.0, 1.0, 1.0, Keeps::Distance);
    assert_close(stretch(distance.squared_strain(Vec3::new(0.0, 2.5, 0.0))), 0.25, 1e-15);
}

#[test]
fn a_pair_that_may_go_slack_is_only_ever_drawn_together() {
    let mut random = Random(22);
    for _ in 0..100 {
        let (k_a, k_b) = (random.within(0.1, 5.0), random.within(0.1, 5.0));
        let (thread, rod) =
            (Distance::new(1.0, k_a, k_b, Keeps::AtMost), Distance::new(1.0, k_a, k_b, Keeps::Distance));
        assert!(thread.can_go_slack() && !rod.can_go_slack());
        let (a0, b0) = (random.vector(), random.vector());
        let [(mut a, mut b), (mut c, mut d)] = [(a0, b0); 2];
        let strain = thread.correct_position(&mut a, &mut b);
        assert_eq!(strain, rod.correct_position(&mut c, &mut d), "the strain is told with its sign");
        assert_eq!(rod.error(strain), strain);
        if strain > 0.0 {
            assert_eq!([a, b], [c, d]);
            assert_eq!(thread.error(strain), strain);
        } else {
            assert_eq!([a, b], [a0, b0], "a slack thread pushes");
            assert_eq!(thread.error(strain), 0.0);
        }
    }
}
