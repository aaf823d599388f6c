//! Affine maps, their parts, and arcs between turns.

use kiln::math::affine::{Affine, Local, slerp};
use kiln::math::{Mat3, Vec3};
use nalgebra::UnitQuaternion;

use crate::Random;

fn random_local(random: &mut Random) -> Local {
    let scale = Vec3::from_fn(|_, _| random.within(0.2, 3.0));
    Local::new(random.vector(), UnitQuaternion::from_scaled_axis(random.vector() * 3.0), scale)
}

#[test]
fn a_product_is_one_map_after_the_other_and_the_inverse_leads_back() {
    let mut random = Random(1);
    for _ in 0..100 {
        let (a, b) = (random_local(&mut random).affine(), random_local(&mut random).affine());
        let p = random.vector();
        assert!(((a * b).apply(p) - a.apply(b.apply(p))).norm() < 1e-12);
        assert!((a.inverse().unwrap().apply(a.apply(p)) - p).norm() < 1e-12);
    }
    let flat = Affine { linear: Mat3::from_diagonal(&Vec3::new(1.0, 0.0, 1.0)), shift: Vec3::zeros() };
    assert!(flat.inverse().is_none());
}

#[test]
fn parts_make_the_same_map_again() {
    let mut random = Random(2);
    for _ in 0..100 {
        let local = random_local(&mut random);
        let again = Local::from_affine(&local.affine(), &local);
        assert!(again.rotation.angle_to(&local.rotation) < 1e-7 && (again.stretch - local.stretch).amax() < 1e-12);
        // Anything, also with shear.
        let columns = [random.vector(), random.vector(), random.vector()];
        let any = Affine { linear: Mat3::from_columns(&columns), shift: random.vector() };
        assert!(Local::from_affine(&any, &local).affine().distance(&any) < 1e-12);
    }
}

#[test]
fn mirrors_keep_the_axis_that_was_mirrored() {
    for scale in [Vec3::new(-1.0, 1.0, 2.0), Vec3::new(1.0, -1.0, 2.0), Vec3::new(1.0, 1.0, -2.0), Vec3::repeat(-1.0)] {
        let local = Local::new(Vec3::zeros(), UnitQuaternion::from_scaled_axis(Vec3::new(0.3, 0.5, -0.2)), scale);
        let again = Local::from_affine(&local.affine(), &local);
        assert!(again.rotation.angle_to(&local.rotation) < 1e-7, "{scale}");
        assert!((again.stretch - local.stretch).amax() < 1e-12, "{scale}");
    }
}

#[test]
fn flattened_maps_have_parts_too() {
    let like = Local::new(Vec3::zeros(), UnitQuaternion::identity(), Vec3::repeat(1.0));
    for diagonal in [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]] {
        let flat = Affine { linear: Mat3::from_diagonal(&diagonal.into()), shift: Vec3::x() };
        assert!(Local::from_affine(&flat, &like).affine().distance(&flat) < 1e-12, "{diagonal:?}");
    }
}

#[test]
fn arcs_are_short_even_and_end_where_they_should() {
    let mut random = Random(3);
    for _ in 0..200 {
        let from = UnitQuaternion::from_scaled_axis(random.vector() * 3.0);
        let axis = nalgebra::Unit::new_normalize(random.vector());
        let angle = random.within(0.0, 3.1);
        let to = from * UnitQuaternion::from_axis_angle(&axis, angle);
        // The same turn with the other sign is not a longer way.
        for to in [to, UnitQuaternion::new_unchecked(-to.into_inner())] {
            for share in [0.0, 0.1, 0.5, 0.77, 1.0] {
                let expected = from * UnitQuaternion::from_axis_angle(&axis, share * angle);
                assert!(slerp(&from, &to, share).angle_to(&expected) < 1e-7);
            }
        }
    }
    let turn = UnitQuaternion::from_scaled_axis(Vec3::new(0.1, 0.2, 0.3));
    let almost = turn * UnitQuaternion::from_scaled_axis(Vec3::new(1e-13, 0.0, 0.0));
    assert!(slerp(&turn, &almost, 0.5).angle_to(&turn) < 1e-7);
    let opposite = UnitQuaternion::from_scaled_axis(Vec3::new(std::f64::consts::PI, 0.0, 0.0));
    assert!((slerp(&UnitQuaternion::identity(), &opposite, 0.5).angle() - std::f64::consts::FRAC_PI_2).abs() < 1e-9);
}
