//! Nothing but gravity: the cloth falls like a stone, momentum is exact.

use crate::support::World;
use kiln::math::Vec3;
use kiln::math::sums::compensated_sum;
use kiln::model::{BodyState, ClothModel};

fn momentum(cloth: &ClothModel, moving: &BodyState) -> Vec3 {
    Vec3::from_fn(|axis, _| compensated_sum(moving.v.iter().zip(&cloth.mass).map(|(v, m)| m * v[axis])))
}

fn crumpled_disc(extra: &str) -> World {
    // Turned out of all axes, unequal triangles, and an OBJ would change nothing here.
    World::new(&format!(
        r#"
        [scene]
        name = "fall"
        fps = 24
        frames = "0-24"
        {extra}
        [air]
        drag = 0
        [[cloth]]
        name = "disc"
        mesh = {{ disc = {{ radius = 0.6, inner = 91, rim = 24 }} }}
        transform = {{ rotate = [20, 30, 40], translate = [0.3, 2, -0.7] }}
        density = 0.2
        "#
    ))
}

#[test]
fn masses_sum_to_area_times_density() {
    let world = crumpled_disc("");
    let cloth = &world.model.cloths[0];
    // The inscribed polygon of 24 corners.
    let area = 0.5 * 24.0 * 0.36 * (std::f64::consts::TAU / 24.0).sin();
    let mass = compensated_sum(cloth.mass.iter().copied());
    assert!((mass / (0.2 * area) - 1.0).abs() < 1e-13, "{mass} kg of {} kg", 0.2 * area);
}

#[test]
fn momentum_after_a_second_is_mass_times_gravity() {
    let world = crumpled_disc("gravity = [1.5, -9.81, 0.4]");
    let cloth = &world.model.cloths[0];
    let mass = compensated_sum(cloth.mass.iter().copied());
    world.simulate(|frame| {
        let seconds = frame.number as f64 / 24.0;
        let expected = Vec3::new(1.5, -9.81, 0.4) * mass * seconds;
        let found = momentum(cloth, &frame.state.bodies[0]);
        let error = (found - expected).norm() / expected.norm();
        assert!(error < 1e-10, "frame {}: momentum off by {error:e}", frame.number);
    });
}

#[test]
fn inner_forces_do_not_change_the_momentum() {
    // A start that is not at rest for the solver: the sheet shrinks and bends in itself while it falls.
    let mut world = crumpled_disc("substeps = 200");
    let mass = compensated_sum(world.model.cloths[0].mass.iter().copied());
    let moving = &mut world.start.bodies[0];
    for (i, x) in moving.x.iter_mut().enumerate() {
        x.y += 0.02 * ((i * 7919 % 101) as f64 / 101.0);
    }
    let before = Vec3::zeros();
    world.simulate(|frame| {
        let expected = before + Vec3::new(0.0, -9.81, 0.0) * mass * (frame.number as f64 / 24.0);
        let found = momentum(&world.model.cloths[0], &frame.state.bodies[0]);
        let error = (found - expected).norm() / expected.norm();
        // The sheet moves within itself a hundred times as fast as it falls in the first frame; found 1.7e-10.
        assert!(error < 1e-9, "frame {}: momentum off by {error:e}", frame.number);
    });
}
