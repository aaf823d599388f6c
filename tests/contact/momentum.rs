//! Two sheets that fly into each other where nothing draws or slows them keep the momentum that they have together.

use kiln::math::Vec3;
use kiln::model::State;

use crate::scenes::{self, Size};
use crate::support::World;

/// Of all cloths together [kg m/s].
fn momentum(world: &World, state: &State) -> Vec3 {
    let cloths = world.model.cloths.iter().zip(&state.bodies);
    cloths.flat_map(|(cloth, state)| cloth.mass.iter().zip(&state.v)).map(|(m, v)| v * *m).sum()
}

/// The largest change of momentum in any frame, as a part of what was there at the start.
#[track_caller]
fn largest_change(overrides: &[&str]) -> f64 {
    let scene = scenes::two_sheets(Size::Quick);
    let world = scene.world(&[&["scene.gravity=[0, 0, 0]"], overrides].concat());
    let before = momentum(&world, &world.start);
    let (mut largest, mut contacts, mut cut) = (0.0_f64, 0, 0);
    world.simulate(|frame| {
        largest = largest.max((momentum(&world, frame.state) - before).norm() / before.norm());
        contacts += frame.report.bodies[0].touched.contacts;
        cut += frame.report.bodies[0].touched.cut;
    });
    assert!(contacts > 100, "they do not meet: {contacts}");
    println!("{overrides:?}: {largest:.2e} of the momentum, {contacts} contacts, {cut} ways cut");
    largest
}

#[test]
fn sheets_that_collide_keep_their_momentum() {
    let change = largest_change(&[]);
    assert!(change < 1e-9, "{change}");
}

#[test]
fn sheets_of_midpoints_that_collide_keep_their_momentum() {
    let change = largest_change(&["cloth.left.model=\"midpoint\"", "cloth.right.model=\"midpoint\""]);
    assert!(change < 1e-9, "{change}");
}

#[test]
fn sheets_with_a_direct_solver_that_collide_keep_their_momentum() {
    let change =
        largest_change(&["cloth.left.solver=\"direct\"", "cloth.right.solver=\"direct\"", "scene.frames=\"0-12\""]);
    assert!(change < 1e-9, "{change}");
}
