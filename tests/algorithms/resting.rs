//! One particle on a plane, stepped as `solver::cpu` steps a cloth.

use kiln::algorithms::contact::friction::Friction;
use kiln::algorithms::contact::resting::Resting;
use kiln::algorithms::contact::restitution::outgoing_speed;
use kiln::math::Vec3;

use crate::{assert_close, assert_near};

/// A plane through a point that moves.
#[derive(Clone, Copy)]
struct Surface {
    point: Vec3,
    normal: Vec3,
    velocity: Vec3,
    friction: Friction,
    restitution: f64,
}

#[derive(Clone, Copy)]
struct Particle {
    x: Vec3,
    v: Vec3,
}

const H: f64 = 1e-3;
/// Depth by which a sunken point comes out in a step.
const PUSH: f64 = 1e-3;

/// Look ahead, press, step, correct the velocity; moves the surface as well. Returns the contact.
fn step(particle: &mut Particle, surface: &mut Surface, gravity: Vec3, sweeps: usize) -> Resting {
    let half = gravity * (0.5 * H);
    let speed = (particle.v - surface.velocity).dot(&surface.normal);
    let bounce = outgoing_speed(speed, surface.restitution, gravity.norm(), 0.001);
    let mut ahead = particle.x + (particle.v + half) * H;
    surface.point += surface.velocity * H;
    let gap = (particle.x - surface.point).dot(&surface.normal);
    let mut resting = Resting::new(surface.normal, particle.x, gap, surface.friction);
    resting.begin_step(particle.x + surface.velocity * H, PUSH, bounce);
    for _ in 0..sweeps {
        ahead += resting.correct_position(ahead);
    }
    particle.v = (ahead - particle.x) / H + half;
    particle.x = ahead;
    for _ in 0..sweeps {
        particle.v += resting.correct_velocity(particle.v - surface.velocity, H);
    }
    resting
}

/// A slope of some degrees that falls along x; the particle starts at the origin, at rest.
fn incline(degrees: f64, friction: impl Into<Friction>) -> (Particle, Surface, Vec3) {
    let angle = degrees.to_radians();
    let surface = Surface {
        point: Vec3::zeros(),
        normal: Vec3::new(angle.sin(), angle.cos(), 0.0),
        velocity: Vec3::zeros(),
        friction: friction.into(),
        restitution: 0.0,
    };
    let down = Vec3::new(angle.cos(), -angle.sin(), 0.0);
    (Particle { x: Vec3::zeros(), v: Vec3::zeros() }, surface, down)
}

const GRAVITY: Vec3 = Vec3::new(0.0, -9.81, 0.0);

#[test]
fn a_block_sticks_below_the_friction_angle() {
    for sweeps in [1, 4, 20] {
        let friction = 20.0_f64.to_radians().tan();
        let (mut block, mut slope, _) = incline(19.9, friction);
        for _ in 0..2000 {
            step(&mut block, &mut slope, GRAVITY, sweeps);
        }
        assert_near(block.x, Vec3::zeros(), 1e-12);
        assert_near(block.v, Vec3::zeros(), 1e-12);
    }
}

#[test]
fn a_block_slides_above_the_friction_angle_with_the_right_acceleration() {
    for (degrees, friction) in [(20.1, 20.0_f64.to_radians().tan()), (45.0, 0.3), (60.0, 1.0), (30.0, 0.0)] {
        for sweeps in [1, 4, 20] {
            let (mut block, mut slope, down) = incline(degrees, friction);
            for _ in 0..1000 {
                step(&mut block, &mut slope, GRAVITY, sweeps);
            }
            let angle = f64::to_radians(degrees);
            let expected = 9.81 * (angle.sin() - friction * angle.cos());
            assert_close(block.v.dot(&down), expected, 1e-3 * expected);
            assert_close(block.x.dot(&down), 0.5 * expected, 2e-3 * expected);
            assert_close(block.x.dot(&slope.normal), 0.0, 1e-12);
        }
    }
}

#[test]
fn the_impulses_stay_within_the_cone_and_never_pull() {
    let (mut block, mut slope, down) = incline(30.0, 0.4);
    block.v = down * 3.0 + slope.normal * 0.02;
    for _ in 0..300 {
        let resting = step(&mut block, &mut slope, GRAVITY, 3);
        assert!(resting.pressed >= 0.0);
        assert!(resting.held.norm() <= 0.4 * resting.pressed * (1.0 + 1e-12));
        assert!(block.x.dot(&slope.normal) >= -1e-12);
    }
}

#[test]
fn a_point_that_leaves_is_not_held_back() {
    let (mut block, mut slope, _) = incline(0.0, 1.0);
    block.v = Vec3::new(1.0, 2.0, 0.0);
    let resting = step(&mut block, &mut slope, GRAVITY, 4);
    assert_eq!(resting.pressed, 0.0);
    assert_near(block.v, Vec3::new(1.0, 2.0 - 9.81 * H, 0.0), 1e-12);
}

#[test]
fn a_point_pushed_out_from_deep_inside_does_not_jump() {
    for sweeps in [1, 4] {
        let (mut block, mut slope, _) = incline(0.0, 0.5);
        block.x.y = -0.05;
        let mut highest: f64 = 0.0;
        for steps in 1..=200 {
            step(&mut block, &mut slope, GRAVITY, sweeps);
            assert_close(block.x.y, (-0.05 + PUSH * f64::from(steps)).min(0.0), 1e-12);
            highest = highest.max(block.x.y);
            assert!(block.v.norm() < 1e-9, "speed {}", block.v.norm());
        }
        assert!(highest < 1e-12, "it jumped to {highest}");
        assert_close(block.x.y, 0.0, 1e-12);
    }
}

#[test]
fn being_pushed_out_does_not_brake_a_slide_without_weight() {
    let (mut block, mut slope, _) = incline(0.0, 0.5);
    (block.x.y, block.v.x) = (-0.05, 1.0);
    step(&mut block, &mut slope, Vec3::zeros(), 4);
    assert_near(block.v, Vec3::x(), 1e-9);
}

#[test]
fn a_moving_surface_carries_what_lies_on_it() {
    let (mut block, mut belt, _) = incline(0.0, 0.5);
    belt.velocity.x = 0.3;
    // Friction needs v / (mu g) to bring it up to speed.
    let steps = (0.3 / (0.5 * 9.81) / H).ceil() as usize + 1;
    for n in 0..steps {
        step(&mut block, &mut belt, GRAVITY, 2);
        let expected = (0.5 * 9.81 * H * (n as f64 + 1.0)).min(0.3);
        assert_close(block.v.x, expected, 1e-9);
    }
    let before = block.x.x - belt.point.x;
    for _ in 0..500 {
        step(&mut block, &mut belt, GRAVITY, 2);
    }
    assert_close(block.x.x - belt.point.x, before, 1e-12);
}

#[test]
fn a_rising_surface_lifts_what_lies_on_it() {
    let (mut block, mut lift, _) = incline(0.0, 0.5);
    lift.velocity.y = 0.7;
    for _ in 0..100 {
        step(&mut block, &mut lift, GRAVITY, 2);
        assert_close(block.x.y, lift.point.y, 1e-12);
        assert_close(block.v.y, 0.7, 1e-9);
    }
}

#[test]
fn a_step_starts_without_the_impulses_of_the_last_one() {
    let mut resting = Resting::new(Vec3::y(), Vec3::zeros(), 0.0, 0.5);
    assert_near(resting.correct_position(Vec3::new(1.0, -0.1, 0.0)), Vec3::new(-0.05, 0.1, 0.0), 1e-15);
    assert_close(resting.pressed, 0.1, 1e-15);
    resting.begin_step(Vec3::x(), PUSH, 0.0);
    assert_eq!([resting.pressed, resting.held.norm()], [0.0, 0.0]);
    // The plane is where it was; the point at (1, 0, 0) sticks there.
    assert_near(resting.correct_position(Vec3::new(1.01, -0.1, 0.0)), Vec3::new(-0.01, 0.1, 0.0), 1e-15);
}

#[test]
fn what_sticks_is_held_more_than_what_slides() {
    let both = Friction { dynamic: 0.2, sticking: 0.5 };
    let angle = |degrees: f64| degrees.to_radians();
    for sweeps in [1, 4] {
        // Between both angles (11.3 and 26.6 degrees) it depends on how it starts.
        for degrees in [10.0, 20.0, 26.0] {
            let (mut block, mut slope, _) = incline(degrees, both);
            (0..1000).for_each(|_| {
                step(&mut block, &mut slope, GRAVITY, sweeps);
            });
            assert_near(block.x, Vec3::zeros(), 1e-12);
        }
        for (degrees, start) in [(27.0, 0.0), (40.0, 0.0), (20.0, 0.1)] {
            let (mut block, mut slope, down) = incline(degrees, both);
            block.v = down * start;
            (0..1000).for_each(|_| {
                step(&mut block, &mut slope, GRAVITY, sweeps);
            });
            let expected = 9.81 * (angle(degrees).sin() - 0.2 * angle(degrees).cos());
            assert_close(block.v.dot(&down) - start, expected, 2e-3 * expected);
        }
    }
}

#[test]
fn it_bounces_with_its_restitution_and_comes_to_rest() {
    for restitution in [0.0, 0.5, 0.8, 1.0] {
        let (mut block, mut floor, _) = incline(0.0, 0.3);
        floor.restitution = restitution;
        block.x.y = 0.5;
        while block.v.y <= 0.0 && block.x.y > 1e-9 {
            step(&mut block, &mut floor, GRAVITY, 1);
        }
        let mut highest: f64 = 0.0;
        for _ in 0..700 {
            step(&mut block, &mut floor, GRAVITY, 1);
            highest = highest.max(block.x.y);
        }
        assert_close(highest, restitution * restitution * 0.5, 0.01);
    }
    // Slower than a fall through the thickness it rests, whatever its restitution.
    let (mut block, mut floor, _) = incline(0.0, 0.3);
    floor.restitution = 1.0;
    block.v.y = -0.13;
    for _ in 0..100 {
        step(&mut block, &mut floor, GRAVITY, 1);
        assert!(block.x.y.abs() < 1e-12 && block.v.norm() < 1e-9);
    }
}

#[test]
fn slower_than_a_fall_through_the_thickness_is_rest() {
    assert_eq!(outgoing_speed(-0.9, 0.5, 9.81, 0.05), 0.0);
    assert_eq!(outgoing_speed(-1.0, 0.5, 9.81, 0.05), 0.5);
    assert_eq!(outgoing_speed(1.0, 0.5, 9.81, 0.05), 0.0);
    // Thin surfaces count as a millimetre thick.
    assert_eq!([0.13, 0.15].map(|speed| outgoing_speed(-speed, 1.0, 9.81, 0.0)), [0.0, 0.15]);
}
