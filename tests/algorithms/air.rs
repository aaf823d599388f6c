//! Drag and wind on a triangle.

use kiln::algorithms::cloth::air::{AIR_DENSITY, velocity_change};
use kiln::math::Vec3;

use crate::{Random, assert_close, assert_near};

#[test]
fn air_that_moves_with_the_cloth_or_along_it_does_nothing() {
    assert_eq!(velocity_change(Vec3::y(), Vec3::zeros(), 1.0, 0.2, 0.01), Vec3::zeros());
    assert_near(velocity_change(Vec3::y(), Vec3::new(5.0, 0.0, 3.0), 1.0, 0.2, 0.01), Vec3::zeros(), 0.0);
    assert_eq!(velocity_change(Vec3::zeros(), Vec3::y(), 1.0, 0.2, 0.01), Vec3::zeros());
}

#[test]
fn drag_never_turns_the_relative_speed_round() {
    let mut random = Random(40);
    for _ in 0..1000 {
        let normal = random.vector();
        let air = random.vector() * 10.0_f64.powf(random.within(-3.0, 3.0));
        let h = 10.0_f64.powf(random.within(-5.0, 5.0));
        let change = velocity_change(normal, air, 2.0, 10.0_f64.powf(random.within(-4.0, 1.0)), h);
        let (before, after) = (air.dot(&normal), (air - change).dot(&normal));
        assert!(before * after >= 0.0 && after.abs() <= before.abs(), "{before} became {after}");
        assert_near(change.cross(&normal), Vec3::zeros(), 1e-12 * change.norm().max(1.0));
    }
}

#[test]
fn a_small_step_follows_the_explicit_law_whatever_the_size_and_side_of_the_triangle() {
    // a = c/2 ρ |u·n| (u·n) n / density
    let normal = Vec3::new(1.0, 2.0, -2.0) / 3.0;
    let air = Vec3::new(3.0, -1.0, 2.5);
    let speed = air.dot(&normal);
    let expected = normal * (0.5 * 1.3 * AIR_DENSITY * speed.abs() * speed / 0.15);
    for area in [1e-8, 1.0, -1.0, 50.0] {
        let change = velocity_change(normal * area, air, 1.3, 0.15, 1e-9);
        assert_near(change / 1e-9, expected, 1e-6);
    }
}

#[test]
fn a_falling_plate_reaches_its_terminal_velocity() {
    let (g, drag, density, h) = (9.81, 1.2, 0.2, 1e-4);
    let expected = (g * density / (0.5 * drag * AIR_DENSITY)).sqrt();
    let mut v = Vec3::zeros();
    for _ in 0..40_000 {
        v += velocity_change(Vec3::y(), -v, drag, density, h) - Vec3::y() * (h * g);
    }
    assert_close(-v.y, expected, 1e-3 * expected);
}
