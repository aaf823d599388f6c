//! Coulomb friction on an incline.

use crate::support::World;
use kiln::math::Vec3;

/// What the incline is made of, as a scene file says it.
#[derive(Clone, Copy, Debug)]
enum Incline {
    Plane,
    /// Two large triangles.
    Mesh,
}

use Incline::{Mesh, Plane};

/// A small sheet lying on an incline tilted about z by `degrees`; how far it slid down in a second, and its velocity then.
fn slide(degrees: f64, [friction, sticking]: [f64; 2], incline: Incline) -> (f64, f64) {
    let slope = degrees.to_radians();
    let (normal, downhill) = (Vec3::new(slope.sin(), slope.cos(), 0.0), Vec3::new(slope.cos(), -slope.sin(), 0.0));
    let at = normal * 0.001;
    let shape = match incline {
        Plane => format!("shape = \"plane\"\npoint = [0, 0, 0]\nnormal = [{}, {}, 0]", normal.x, normal.y),
        Mesh => format!(
            "shape = \"mesh\"\nmesh.sheet = {{ vertices = [2, 2], size = [12, 12] }}\ntransform.rotate = [0, 0, -{degrees}]"
        ),
    };
    let world = World::new(&format!(
        r#"
        [scene]
        name = "incline"
        fps = 25
        frames = "0-25"
        substeps = 100
        [air]
        drag = 0
        [[cloth]]
        name = "sheet"
        mesh = {{ sheet = {{ vertices = [6, 6], size = [0.3, 0.3] }} }}
        transform = {{ rotate = [0, 0, -{degrees}], translate = [{}, {}, 0] }}
        thickness = 0.001
        friction = {friction}
        static_friction = {sticking}
        [[collider]]
        name = "incline"
        {shape}
        friction = {friction}
        static_friction = {sticking}
        "#,
        at.x, at.y
    ));
    let cloth = &world.model.cloths[0];
    let mass: f64 = cloth.mass.iter().sum();
    let centre = |x: &[Vec3]| x.iter().zip(&cloth.mass).map(|(x, m)| x * *m).sum::<Vec3>() / mass;
    let end = world.simulate(|frame| assert_eq!(frame.quality[0].max_penetration, 0.0));
    let moved = centre(&end.bodies[0].x) - centre(&world.start.bodies[0].x);
    (moved.dot(&downhill), centre(&end.bodies[0].v).dot(&downhill))
}

fn sticks(degrees: f64, friction: [f64; 2], incline: Incline) {
    let (slid, speed) = slide(degrees, friction, incline);
    let what = format!("{incline:?}, {degrees} degrees, {friction:?}");
    assert!(slid.abs() < 1e-5 && speed.abs() < 1e-4, "{what}: {slid} m, {speed} m/s");
}

fn slides(degrees: f64, friction: [f64; 2], incline: Incline, tolerance: f64) {
    let (slid, speed) = slide(degrees, friction, incline);
    let acceleration = 9.81 * (degrees.to_radians().sin() - friction[0] * degrees.to_radians().cos());
    let what = format!("{incline:?}, {degrees} degrees, {friction:?}");
    println!("{what}: {speed} m/s after a second, {acceleration} expected");
    assert!((speed / acceleration - 1.0).abs() < tolerance, "{what}: {speed} m/s for {acceleration} m/s²");
    assert!((slid / (0.5 * acceleration) - 1.0).abs() < tolerance, "{what}: {slid} m");
}

#[test]
fn it_sticks_below_the_angle_of_friction() {
    for (degrees, friction) in [(10.0, 0.3), (16.0, 0.3), (25.0, 0.5)] {
        sticks(degrees, [friction; 2], Plane);
    }
    sticks(16.0, [0.3; 2], Mesh);
}

#[test]
fn it_slides_above_with_the_right_acceleration() {
    for (degrees, friction) in [(20.0_f64, 0.3), (30.0, 0.3), (35.0, 0.5)] {
        slides(degrees, [friction; 2], Plane, 0.01);
    }
    slides(20.0, [0.3; 2], Mesh, 0.02);
    slides(35.0, [0.5; 2], Mesh, 0.02);
}

/// The angles of 0.3 and 0.5 are 16.7 and 26.6 degrees.
#[test]
fn between_the_angles_of_sliding_and_sticking_what_rests_stays() {
    for incline in [Plane, Mesh] {
        for degrees in [16.0, 20.0, 26.0] {
            sticks(degrees, [0.3, 0.5], incline);
        }
        for degrees in [27.5, 35.0] {
            slides(degrees, [0.3, 0.5], incline, 0.02);
        }
    }
}
