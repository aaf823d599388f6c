//! Contacts of two features: the gap holds, momentum is kept, friction sticks and slides.

use kiln::algorithms::contact::friction::Friction;
use kiln::algorithms::contact::pair::{PairContact, inverse_mass};
use kiln::algorithms::contact::proximity::{Pairing, proximity};
use kiln::math::Vec3;

/// A vertex above a triangle in the xz-plane.
const START: [Vec3; 4] =
    [Vec3::new(0.2, 0.01, 0.2), Vec3::new(0.0, 0.0, 0.0), Vec3::new(0.0, 0.0, 1.0), Vec3::new(1.0, 0.0, 0.0)];
const K: [f64; 4] = [2.0, 1.0, 3.0, 0.5];

fn contact(gap: f64, recover: f64, friction: impl Into<Friction>, k: [f64; 4]) -> PairContact {
    let near = proximity(Pairing::VertexTriangle, &START);
    PairContact::new([0, 1, 2, 3], &near, gap, recover, friction, inverse_mass(near.weights, k)).unwrap()
}

/// Sweep so often that what is left is rounding.
fn settle(contact: &mut PairContact, x: &mut [Vec3; 4], k: [f64; 4]) {
    for _ in 0..50 {
        let by = contact.correct_position(*x);
        for corner in 0..4 {
            x[corner] += by * contact.share(corner, k[corner]);
        }
    }
}

fn momentum(x: &[Vec3; 4]) -> Vec3 {
    (0..4).map(|i| (x[i] - START[i]) / K[i]).sum()
}

#[test]
fn what_comes_too_near_is_kept_at_the_gap_and_momentum_is_kept() {
    let mut x = START;
    x[0] += Vec3::new(0.003, -0.02, 0.001);
    let before = momentum(&x);
    let mut contact = contact(0.005, 1.0, 0.4, K);
    settle(&mut contact, &mut x, K);
    assert!((momentum(&x) - before).norm() < 1e-15, "{:?}", momentum(&x) - before);
    let near = proximity(Pairing::VertexTriangle, &x);
    assert!((near.distance - 0.005).abs() < 1e-5, "{near:?}"); // the triangle turned a little
    assert!(contact.pressed > 0.0);
}

#[test]
fn what_stays_away_is_left_alone() {
    let mut x = START;
    x[0].y -= 0.004;
    let free = x;
    let mut contact = contact(0.005, 1.0, 0.4, K);
    settle(&mut contact, &mut x, K);
    assert_eq!((x, contact.pressed), (free, 0.0));
}

#[test]
fn what_starts_too_near_is_led_apart_and_its_speed_is_taken_away() {
    let mut x = START;
    let mut contact = contact(0.05, 0.001, 0.0, K);
    settle(&mut contact, &mut x, K);
    assert!((proximity(Pairing::VertexTriangle, &x).distance - 0.011).abs() < 1e-6);
    let h = 0.001;
    let v: [Vec3; 4] = std::array::from_fn(|i| (x[i] - START[i]) / h);
    let by = contact.calm(v, h);
    let parting: Vec3 = (0..4).map(|i| (v[i] + by * contact.share(i, K[i])) * contact.weights[i]).sum();
    assert!(parting.dot(&contact.normal).abs() < 1e-9, "{parting:?}");
}

#[test]
fn friction_sticks_inside_the_cone_and_slides_outside_of_it() {
    let led = [1.0, 0.0, 0.0, 0.0];
    for (slip, friction) in [(0.002, 0.5), (0.02, 0.5), (0.02, 0.0)] {
        let mut x = START;
        x[0] += Vec3::new(slip, -0.015, 0.0);
        let mut contact = contact(0.005, 1.0, friction, led);
        settle(&mut contact, &mut x, led);
        let pressed = 0.005 - (0.01 - 0.015);
        let left = (slip - friction * pressed).max(0.0);
        assert!(
            (x[0].x - START[0].x - left).abs() < 1e-12,
            "slip {slip}, friction {friction}: {}",
            x[0].x - START[0].x
        );
        assert!((x[0].y - 0.005).abs() < 1e-12);
    }
}

#[test]
fn led_features_make_no_contact() {
    let near = proximity(Pairing::VertexTriangle, &START);
    assert!(PairContact::new([0, 1, 2, 3], &near, 0.1, 1.0, 0.5, 0.0).is_none());
}

#[test]
fn what_sticks_is_held_more_than_what_slides() {
    let led = [1.0, 0.0, 0.0, 0.0];
    let pressed = 0.005 - (0.01 - 0.015);
    // The cone of sticking ends at 0.6 of what is pressed; what is beyond it slides with 0.2.
    for (slip, left) in [(0.5 * pressed, 0.0), (0.7 * pressed, 0.5 * pressed)] {
        let mut x = START;
        x[0] += Vec3::new(slip, -0.015, 0.0);
        let mut contact = contact(0.005, 1.0, Friction { dynamic: 0.2, sticking: 0.6 }, led);
        let by = contact.correct_position(x);
        assert!((x[0].x + by.x - START[0].x - left).abs() < 1e-12, "slip {slip}: {}", x[0].x + by.x - START[0].x);
    }
}

#[test]
fn what_meets_fast_parts_with_its_bounce_and_momentum_is_kept() {
    let h = 0.001;
    let mut x = START;
    let mut contact = contact(0.0095, 0.0001, 0.0, K);
    contact.bounce = 0.7;
    let mut v = [Vec3::new(0.0, -2.0, 0.0), Vec3::zeros(), Vec3::zeros(), Vec3::zeros()];
    assert_eq!(contact.rebound(v), Vec3::zeros()); // nothing pressed yet
    x[0] += v[0] * h;
    settle(&mut contact, &mut x, K);
    let before = (0..4).map(|i| v[i] / K[i]).sum::<Vec3>();
    let by = contact.rebound(v);
    (0..4).for_each(|i| v[i] += by * contact.share(i, K[i]));
    assert!((contact.speed(v) - 0.7).abs() < 1e-12, "{}", contact.speed(v));
    assert!(((0..4).map(|i| v[i] / K[i]).sum::<Vec3>() - before).norm() < 1e-12);
    // What neighbours give too much is taken back, but no more than was given.
    v[0].y += 100.0;
    let back = contact.rebound(v);
    assert!((back + by).norm() < 1e-12 && contact.rebound(v).norm() == 0.0, "{back:?}");
}
