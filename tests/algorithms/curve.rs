//! Key-frame curves.

use kiln::math::Vec3;
use kiln::math::curve::{Curve, Interpolation};

use crate::{assert_close, assert_near};

fn keys(interpolation: Interpolation) -> Curve<f64> {
    Curve::from_keys(vec![(10.0, 1.0), (20.0, 3.0), (24.0, -1.0)], interpolation).unwrap()
}

#[test]
fn every_interpolation_passes_through_its_keys_and_holds_outside() {
    for interpolation in [Interpolation::Linear, Interpolation::Step, Interpolation::Smooth] {
        let curve = keys(interpolation);
        for (frame, value) in [(-5.0, 1.0), (10.0, 1.0), (20.0, 3.0), (24.0, -1.0), (1e9, -1.0)] {
            assert_close(curve.at(frame), value, 0.0);
        }
        assert!(!curve.is_constant());
    }
}

#[test]
fn between_keys_each_interpolation_goes_its_way() {
    let at = |interpolation, frame| keys(interpolation).at(frame);
    assert_close(at(Interpolation::Linear, 12.5), 1.5, 1e-15);
    assert_close(at(Interpolation::Linear, 22.0), 1.0, 1e-15);
    assert_close(at(Interpolation::Step, 19.999), 1.0, 0.0);
    assert_close(at(Interpolation::Step, 20.001), 3.0, 0.0);
    assert_close(at(Interpolation::Smooth, 15.0), 2.0, 1e-15);
    assert_close(at(Interpolation::Smooth, 12.5), 1.0 + 2.0 * (3.0 * 0.0625 - 2.0 * 0.015_625), 1e-15);
}

#[test]
fn a_smooth_curve_starts_and_stops_slowly() {
    let curve = keys(Interpolation::Smooth);
    for key in [10.0, 20.0, 24.0] {
        assert_close((curve.at(key + 1e-6) - curve.at(key - 1e-6)) / 2e-6, 0.0, 1e-5);
    }
}

#[test]
fn bad_keys_are_refused() {
    for frames in [&[][..], &[1.0, 1.0], &[2.0, 1.0], &[f64::NAN], &[0.0, f64::INFINITY]] {
        let keys: Vec<(f64, f64)> = frames.iter().map(|frame| (*frame, 0.0)).collect();
        assert!(Curve::from_keys(keys, Interpolation::Linear).is_none(), "{frames:?}");
    }
}

#[test]
fn constants_and_maps() {
    let curve = Curve::constant(Vec3::x());
    assert!(curve.is_constant());
    assert_eq!(curve.at(123.0), Vec3::x());
    let mapped = keys(Interpolation::Linear).map(|x| Vec3::new(0.0, 2.0 * x, 0.0));
    assert_near(mapped.at(15.0), Vec3::new(0.0, 4.0, 0.0), 1e-15);
    assert_eq!(keys(Interpolation::Step).values().collect::<Vec<_>>(), [1.0, 3.0, -1.0]);
}
