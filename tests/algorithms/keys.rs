//! Key frames: what holds before, between and after them.

use kiln::mesh::keys::{Interpolation, Keys, quaternion};

#[test]
fn steps_and_lines() {
    let keys =
        |interpolation| Keys::new(interpolation, vec![1.0, 2.0, 4.0], vec![0., 10., 1., 20., 5., 0.], 2).unwrap();
    let (step, line) = (keys(Interpolation::Step), keys(Interpolation::Linear));
    for (seconds, stepped, straight) in [
        (0.0, [0.0, 10.0], [0.0, 10.0]),
        (1.0, [0.0, 10.0], [0.0, 10.0]),
        (1.5, [0.0, 10.0], [0.5, 15.0]),
        (2.0, [1.0, 20.0], [1.0, 20.0]),
        (3.0, [1.0, 20.0], [3.0, 10.0]),
        (4.0, [5.0, 0.0], [5.0, 0.0]),
        (9.0, [5.0, 0.0], [5.0, 0.0]),
    ] {
        assert_eq!([step.at(seconds, 0), step.at(seconds, 1)], stepped, "{seconds}");
        assert_eq!([line.at(seconds, 0), line.at(seconds, 1)], straight, "{seconds}");
    }
    assert_eq!(line.span(), (1.0, 4.0));
}

/// A spline through samples of a cubic, with its true slopes, is that cubic: so tangents are per second and not per
/// key.
#[test]
fn a_spline_reproduces_a_cubic() {
    let cubic = |t: f64| 1.0 - 2.0 * t + 0.5 * t * t + 0.25 * t * t * t;
    let slope = |t: f64| -2.0 + t + 0.75 * t * t;
    let times = vec![0.0, 0.5, 3.0];
    let values = times.iter().flat_map(|&t| [slope(t), cubic(t), slope(t)]).collect();
    let keys = Keys::new(Interpolation::CubicSpline, times, values, 1).unwrap();
    for n in 0..=30 {
        let t = 0.1 * f64::from(n);
        assert!((keys.at(t, 0) - cubic(t)).abs() < 1e-12, "{t}");
    }
    assert_eq!((keys.at(-1.0, 0), keys.at(7.0, 0)), (cubic(0.0), cubic(3.0)));
}

#[test]
fn a_spline_of_turns_is_a_turn() {
    let values =
        [[0.0; 4], [0.0, 0.0, 0.0, 1.0], [3.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0], [0.0, 0.6, 0.0, 0.8], [0.0; 4]];
    let keys = Keys::new(Interpolation::CubicSpline, vec![0.0, 2.0], values.concat(), 4).unwrap();
    let middle = keys.rotation_at(1.0);
    assert!((middle.norm() - 1.0).abs() < 1e-12);
    let expected = quaternion([0.125 * 2.0 * 3.0, 0.5 * 0.6 - 0.125 * 2.0 * 2.0, 0.0, 0.5 + 0.5 * 0.8]);
    assert!(middle.angle_to(&expected) < 1e-7);
    assert!(keys.rotation_at(2.0).angle_to(&quaternion([0.0, 0.6, 0.0, 0.8])) < 1e-7);
}

#[test]
fn two_keys_at_once_are_a_jump() {
    let keys = Keys::new(Interpolation::Linear, vec![0.0, 1.0, 1.0, 2.0], vec![0.0, 1.0, 5.0, 6.0], 1).unwrap();
    assert_eq!([0.5, 1.0, 1.5].map(|t| keys.at(t, 0)), [0.5, 5.0, 5.5]);
}

#[test]
fn keys_that_cannot_be_are_refused() {
    let linear = Interpolation::Linear;
    assert!(Keys::new(linear, vec![], vec![], 1).is_none());
    assert!(Keys::new(linear, vec![1.0, 0.0], vec![0.0; 2], 1).is_none());
    assert!(Keys::new(linear, vec![0.0, f64::NAN], vec![0.0; 2], 1).is_none());
    assert!(Keys::new(linear, vec![0.0, 1.0], vec![0.0; 3], 1).is_none());
    assert!(Keys::new(Interpolation::CubicSpline, vec![0.0, 1.0], vec![0.0; 2], 1).is_none());
    assert!(Keys::new(linear, vec![0.0, 1.0], vec![], usize::MAX).is_none());
}
