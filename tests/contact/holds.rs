//! Nothing crosses in any frame, in scenes made for it; where there is no room, it comes back when there is.

use crate::scenes::{self, Size};
use crate::support::full;
use crate::{check, crossings, meshes};
use kiln::math::Vec3;

/// Simulate a scene; frames in which something crosses although there is room.
#[track_caller]
fn nothing_crosses(name: &str, overrides: &[&str]) {
    let size = if full() { Size::Large } else { Size::Quick };
    let scene = scenes::all(size).into_iter().find(|scene| scene.name == name).unwrap();
    let world = scene.world(overrides);
    let names = scene.mesh_names(&world);
    let mut wrong = Vec::new();
    let start = std::time::Instant::now();
    for (frame, found) in check(&world, &scene) {
        if found.total() > 0 {
            wrong.push(format!("{name} {overrides:?} frame {frame}: {}", found.describe(&names)));
        }
    }
    println!("{name} {overrides:?}: {:.1} s", start.elapsed().as_secs_f64());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_sheet_on_a_ball() {
    nothing_crosses("sheet_on_ball", &[]);
}

#[test]
fn a_sheet_of_midpoints_on_a_ball() {
    // Three particles for each of the others: coarser.
    let n = if full() { "[41, 41]" } else { "[23, 23]" };
    let [vertices, frames] = [format!("cloth.sheet.mesh.sheet.vertices={n}"), "scene.frames=\"0-28\"".to_owned()];
    nothing_crosses("sheet_on_ball", &["cloth.sheet.model=\"midpoint\"", &vertices, &frames]);
}

#[test]
fn a_sheet_folded_three_times() {
    nothing_crosses("folded_sheet", &[]);
}

#[test]
fn a_cloth_dragged_through_a_ring() {
    nothing_crosses("dragged_through_ring", &[]);
}

#[test]
fn a_strip_twisted_five_turns() {
    nothing_crosses("twisted_strip", &[]);
}

#[test]
fn sheets_piled_in_a_bowl() {
    nothing_crosses("pile_in_bowl", &[]);
}

#[test]
fn a_knot_pulled_tight() {
    nothing_crosses("knot", &[]);
}

#[test]
fn two_sheets_in_free_space() {
    nothing_crosses("two_sheets", &[]);
}

/// A ball that is on one side of the sheet in one frame and beyond it in the next takes the sheet along.
#[test]
fn a_ball_that_jumps_takes_the_sheet_along() {
    nothing_crosses("teleport", &[]);
    let scene = scenes::all(Size::Quick).into_iter().find(|scene| scene.name == "teleport").unwrap();
    let world = scene.world(&[]);
    world.simulate(|frame| {
        let farthest = frame.vertices[0].positions.iter().map(|p| p.z).fold(f64::NEG_INFINITY, f64::max);
        assert!(frame.number < 12 || farthest > 0.25, "frame {}: the ball went through, {farthest} m", frame.number);
    });
}

/// Balls that overlap leave no room: frames are marked, nothing ends, and ten frames after they open all is well.
#[test]
fn a_sheet_between_balls_that_overlap() {
    let scene = scenes::all(Size::Quick).into_iter().find(|scene| scene.name == "pinch").unwrap();
    let world = scene.world(&[]);
    let (first, last) = scene.no_room.as_ref().map(|frames| (*frames.start(), *frames.end())).unwrap();
    let mut wrong = Vec::new();
    let mut is_marked = false;
    world.simulate(|frame| {
        let vertices: Vec<&[Vec3]> = frame.vertices.iter().map(|v| v.positions.as_slice()).collect();
        let found = crossings::find(&meshes(&world, &scene, frame.number, &vertices));
        let touched = frame.report.bodies[0].touched;
        let stretch = world.edge_stretch(&frame.vertices[0]).max;
        println!("frame {}: stretch {stretch:.4}, {} of them crossing, {touched:?}", frame.number, found.total());
        is_marked |= touched.released > 0 && touched.crossings > 0;
        assert!(vertices[0].iter().all(|p| p.iter().all(|x| x.is_finite())));
        if found.total() > 0 && (frame.number < first || frame.number > last + 10) {
            wrong.push(format!("frame {}: {}", frame.number, found.describe(&scene.mesh_names(&world))));
        }
    });
    assert!(is_marked && wrong.is_empty(), "{is_marked} {wrong:#?}");
}
