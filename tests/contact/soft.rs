//! Soft bodies among cloth, colliders and each other: nothing crosses, by the independent checker.

use crate::scenes::Scene;
use crate::{check, shapes, support};

/// A ball of jelly.
fn ball(name: &str, radius: f64, at: [f64; 3], stiffness: f64) -> String {
    format!(
        "[[soft_body]]\nname = \"{name}\"\nmesh = {{ ball = {{ radius = {radius}, vertices = 7 }} }}\ntransform = {{ translate = {at:?} }}\n\
         density = 150\nstiffness = {stiffness}\ntetrahedra = {{ cell = {} }}",
        radius / 2.5
    )
}

#[track_caller]
fn nothing_crosses(scene: &Scene) {
    let world = scene.world(&[]);
    let mut touched = 0;
    world.simulate(|frame| touched += frame.report.bodies.iter().map(|body| body.touched.contacts).sum::<u32>());
    assert!(touched > 0, "{}: nothing touches", scene.name);
    for (frame, crossings) in check(&world, scene) {
        assert_eq!(
            crossings.total(),
            0,
            "{} frame {frame}: {}",
            scene.name,
            crossings.describe(&scene.mesh_names(&world))
        );
    }
}

#[test]
fn a_cloth_over_a_soft_ball_and_under_one() {
    let last = if support::full() { 48 } else { 16 };
    let scene = Scene::new("sandwich", last)
        .line(&ball("below", 0.2, [0.0, 0.21, 0.0], 2e4))
        .line(&ball("above", 0.12, [0.03, 0.62, 0.02], 5e3))
        .line(
            "[[cloth]]\nname = \"sheet\"\nmesh = { sheet = { vertices = [15, 15], size = [0.8, 0.8] } }\n\
             transform = { translate = [0, 0.45, 0] }",
        )
        .floor();
    nothing_crosses(&scene);
}

#[test]
fn soft_balls_in_a_bowl() {
    let last = if support::full() { 48 } else { 14 };
    let scene = Scene::new("bowl", last)
        .line(&ball("one", 0.12, [-0.13, 0.0, 0.0], 1e4))
        .line(&ball("two", 0.12, [0.13, 0.02, 0.01], 1e4))
        .collider("bowl", shapes::bowl(0.35, 0.02, 16), vec![(0.0, [0.0, 0.1, 0.0])]);
    nothing_crosses(&scene);
}

#[test]
fn parts_of_one_body_touch_each_other() {
    // Two balls in one mesh: the upper one falls on the lower one.
    let last = if support::full() { 48 } else { 20 };
    let [lower, upper] = [0.16, 0.55].map(|height| {
        let mut shape = shapes::ball(0.15, 10);
        shape.positions.iter_mut().for_each(|p| (p[0], p[1]) = (p[0] + 0.1 * height, p[1] + height));
        shape
    });
    let mut both = lower.clone();
    let first = both.positions.len() as u32;
    both.positions.extend(&upper.positions);
    both.triangles.extend(upper.triangles.iter().map(|t| t.map(|v| v + first)));
    let mut scene = Scene::new("both", last)
        .line("[[soft_body]]\nname = \"both\"\nmesh = \"both.obj\"\nstiffness = 1e4\ndensity = 150\ntetrahedra = { cell = 0.06 }")
        .floor();
    scene.files.push(("both.obj".to_owned(), both.obj()));
    nothing_crosses(&scene);
}
