//! Coulomb friction on an incline.

use crate::support::World;
use kiln::math::Vec3;

/// A small sheet lying on a plane tilted about z by `degrees`; how far it slid down in a second, and its velocity then.
fn slide(degrees: f64, friction: f64) -> (f64, f64) {
    let slope = degrees.to_radians();
    let (normal, downhill) = (Vec3::new(slope.sin(), slope.cos(), 0.0), Vec3::new(slope.cos(), -slope.sin(), 0.0));
    let at = normal * 0.001;
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
        [[collider]]
        name = "incline"
        shape = "plane"
        point = [0, 0, 0]
        normal = [{}, {}, 0]
        friction = {friction}
        "#,
        at.x, at.y, normal.x, normal.y
    ));
    let cloth = &world.model.cloths[0];
    let mass: f64 = cloth.mass.iter().sum();
    let centre = |x: &[Vec3]| x.iter().zip(&cloth.mass).map(|(x, m)| x * *m).sum::<Vec3>() / mass;
    let end = world.simulate(|frame| assert_eq!(frame.quality[0].max_penetration, 0.0));
    let moved = centre(&end.cloths[0].x) - centre(&world.start.cloths[0].x);
    (moved.dot(&downhill), centre(&end.cloths[0].v).dot(&downhill))
}

#[test]
fn it_sticks_below_the_angle_of_friction() {
    for (degrees, friction) in [(10.0, 0.3), (16.0, 0.3), (25.0, 0.5)] {
        let (slid, speed) = slide(degrees, friction);
        assert!(slid.abs() < 1e-5 && speed.abs() < 1e-4, "{degrees} degrees, {friction}: {slid} m, {speed} m/s");
    }
}

#[test]
fn it_slides_above_with_the_right_acceleration() {
    for (degrees, friction) in [(20.0_f64, 0.3), (30.0, 0.3), (35.0, 0.5)] {
        let (slid, speed) = slide(degrees, friction);
        let acceleration = 9.81 * (degrees.to_radians().sin() - friction * degrees.to_radians().cos());
        let error = speed / acceleration - 1.0;
        assert!(error.abs() < 0.01, "{degrees} degrees, {friction}: {speed} m/s for {acceleration} m/s²");
        assert!((slid / (0.5 * acceleration) - 1.0).abs() < 0.01, "{slid} m");
    }
}
