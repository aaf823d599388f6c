//! The scenes are what they say they are, and the helper sees what happens in them.

use crate::crossings::{Crossings, find};
use crate::scenes::{self, Scene, Size};
use crate::support::World;
use crate::{check, meshes};

fn at_start(scene: &Scene, world: &World) -> Crossings {
    let start: Vec<_> = world.start.bodies.iter().map(|cloth| cloth.written.as_slice()).collect();
    find(&meshes(world, scene, world.scene.first_frame, &start))
}

fn starts_with_nothing_crossing(size: Size) {
    for scene in scenes::all(size) {
        let world = scene.world(&[]);
        let found = at_start(&scene, &world);
        let said = found.describe(&scene.mesh_names(&world));
        assert_eq!(found, Crossings::default(), "{}: {said}", scene.name);
        assert_eq!(scene.colliders.len(), world.model.colliders.len(), "{}", scene.name);
    }
}

#[test]
fn quick_scenes_start_with_nothing_crossing() {
    starts_with_nothing_crossing(Size::Quick);
}

#[test]
fn large_scenes_start_with_nothing_crossing() {
    starts_with_nothing_crossing(Size::Large);
}

#[test]
fn scenes_have_nothing_to_complain_about_but_coarseness() {
    for scene in scenes::all(Size::Quick) {
        let world = scene.world(&[]);
        let folder = scene.folder();
        let resolved = kiln::scene::read_text("test.toml", &scene.text, folder.path(), &[], None);
        let resolved = resolved.unwrap_or_else(|_| panic!("{} is not read", scene.name));
        let (_, _, problems) = kiln::model::build(&resolved.scene).unwrap();
        let others: Vec<_> = problems.iter().filter(|problem| !problem.message.contains("too coarse")).collect();
        assert!(others.is_empty(), "{}: {others:?}", scene.name);
        assert_eq!(world.model.cloths.len(), resolved.scene.cloths.len());
    }
}

#[test]
fn colliders_are_where_kiln_has_them() {
    for scene in scenes::all(Size::Quick) {
        let world = scene.world(&[]);
        for (ours, theirs) in scene.colliders.iter().zip(&world.model.colliders) {
            for step in -4..=4 * world.scene.last_frame + 4 {
                let frame = step as f64 / 4.0;
                let pose = theirs.motion.at(frame);
                let shift: [f64; 3] = pose.translation.into();
                let error = (0..3).map(|k| (shift[k] - ours.shift(frame)[k]).abs()).fold(0.0, f64::max);
                assert!(error < 1e-12 && pose.rotation.angle() == 0.0, "{} {} at {frame}", scene.name, ours.name);
            }
        }
    }
}

#[test]
fn colliders_overlap_only_where_a_scene_says_so() {
    for scene in scenes::all(Size::Quick) {
        let mut most = 0;
        for frame in 0..60 {
            let colliders: Vec<_> = scene.colliders.iter().map(|collider| collider.at(frame)).collect();
            let overlap = find(&colliders).kinematic.values().sum();
            let is_told = scene.no_room.as_ref().is_some_and(|frames| frames.contains(&frame));
            assert!(overlap == 0 || is_told, "{}: frame {frame}", scene.name);
            most = most.max(overlap);
        }
        assert_eq!(scene.no_room.is_some(), most > 0, "{}", scene.name);
    }
}

#[test]
fn the_helper_looks_at_every_frame_from_the_first() {
    let scene = scenes::sheet_on_ball(Size::Quick);
    let found = check(&scene.world(&["scene.frames=\"0-2\""]), &scene);
    assert_eq!(found.iter().map(|(frame, _)| *frame).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(found[0].1, Crossings::default());
}

#[test]
fn the_helper_sees_cloth_and_collider_where_they_are() {
    // All of the sheet is held, far from what Kiln takes for the ball: the frames in which they cross are known.
    let mut scene = scenes::teleport(Size::Quick);
    scene.colliders[0].path = vec![(10.0, [0.0, -0.5, -0.4]), (12.0, [0.0, -0.5, 0.4])];
    let world = scene.world(&[
        "scene.frames=\"10-12\"",
        "collider.ball.transform={ translate = [0, -100, 0] }",
        "cloth.sheet.pins=[{ sphere = { center = [0, 0, 0], radius = 10 } }]",
    ]);
    let found = check(&world, &scene);
    let crossing: Vec<bool> = found.iter().map(|(_, crossings)| !crossings.kinematic.is_empty()).collect();
    assert_eq!(crossing, [false, true, false], "{found:?}");
    assert!(found.iter().all(|(_, crossings)| crossings.total() == 0), "all of it is led: {found:?}");
}
