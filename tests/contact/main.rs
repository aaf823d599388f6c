//! Nothing goes through anything: scenes that are hard in this respect, and a checker that knows nothing of how Kiln
//! works.
#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

#[path = "../support/mod.rs"]
mod support;

mod checker;
mod crossings;
#[cfg(feature = "gpu")]
mod device;
mod failures;
mod figure;
mod holds;
mod momentum;
mod scenes;
mod shapes;
mod soft;
mod start;
mod tangled;

use crossings::{Crossings, Mesh};
use kiln::math::Vec3;
use kiln::solver::Backend;
use kiln::solver::cpu::CpuBackend;
use scenes::Scene;
use support::{Frame, World};

/// Simulate a scene and count what crosses at every frame, the first included, in vertices as they are written: `world`
/// must be of `scene`. Meshes are numbered as in `meshes`.
fn check(world: &World, scene: &Scene) -> Vec<(i64, Crossings)> {
    check_on(&mut CpuBackend::new(&world.scene, &world.model), world, scene, |_| ())
}

/// The same on some backend; `see` is called after each frame.
fn check_on(
    backend: &mut dyn Backend,
    world: &World,
    scene: &Scene,
    mut see: impl FnMut(&Frame),
) -> Vec<(i64, Crossings)> {
    let start: Vec<&[Vec3]> = world.start.bodies.iter().map(|body| body.written.as_slice()).collect();
    let first = world.scene.first_frame;
    let mut found = vec![(first, crossings::find(&meshes(world, scene, first, &start)))];
    world.simulate_on(backend, |frame| {
        see(&frame);
        let vertices: Vec<&[Vec3]> = frame.vertices.iter().map(|vertices| vertices.positions.as_slice()).collect();
        found.push((frame.number, crossings::find(&meshes(world, scene, frame.number, &vertices))));
    });
    found
}

/// The cloths and soft bodies with these vertices, as the store rounds them, then the colliders at that frame, both in the order of the
/// scene.
fn meshes(world: &World, scene: &Scene, frame: i64, vertices: &[&[Vec3]]) -> Vec<Mesh> {
    let bodies = world.model.skins().zip(vertices).map(|(skin, vertices)| {
        let rounded: Vec<[f32; 3]> = vertices.iter().map(|v| v.map(|x| x as f32).into()).collect();
        Mesh::new(&skin.name, &rounded, &skin.mesh.triangles, &skin.is_led)
    });
    bodies.chain(scene.colliders.iter().map(|collider| collider.at(frame))).collect()
}
