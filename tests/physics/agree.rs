//! Different solvers of the same model are different ways to the same motion. Midpoints are left out: at this limit they crumple, whatever
//! solves them.

use crate::support::World;
use crate::{SOLVERS, sheet_of};
use kiln::math::Vec3;

/// A sheet of 10 x 10 that swings down from a tilt, pinned along one side, in air and with damping: its vertices after a second.
fn hung(model: &str, solver: &str, substeps: u32) -> Vec<Vec3> {
    let mesh = sheet_of(10, 0.1, model);
    let world = World::new(&format!(
        r#"
        [scene]
        name = "agree"
        fps = 30
        frames = "0-30"
        substeps = {substeps}
        [[cloth]]
        name = "sheet"
        {mesh}
        solver = "{solver}"
        transform = {{ rotate = [60, 0, 0] }}
        pins = [{{ vertices = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] }}]
        damping = 0.05
        max_stretch = 1e-5
        "#
    ));
    let mut vertices = Vec::new();
    world.simulate(|frame| vertices.clone_from(&frame.vertices[0].positions));
    vertices
}

fn largest_difference(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
}

/// The linear solvers hold edges that are within a thousandth of taut both ways, so on edges that can go slack they simulate another cloth (a
/// millimetre away after a second): they are not compared there.
fn is_compared(model: &str, solver: &str) -> bool {
    model != "stretch_only" || solver == "strips"
}

#[track_caller]
fn check(model: &str) {
    let substeps = 400;
    let expected = hung(model, "iterative", substeps);
    let finer = largest_difference(&expected, &hung(model, "iterative", 2 * substeps));
    println!("{model}: {substeps} steps a frame are {finer:.2e} m from twice as many");
    let mut off = Vec::new();
    for solver in SOLVERS.into_iter().skip(1).filter(|solver| is_compared(model, solver)) {
        let difference = largest_difference(&expected, &hung(model, solver, substeps));
        println!("{model}: {solver} is {difference:.2e} m from iterative at {substeps} steps a frame");
        if difference.is_nan() || difference > 1e-4 {
            off.push(format!("{model} {solver}: {difference:.2e} m"));
        }
    }
    assert!(off.is_empty(), "solvers disagree: {off:?}");
}

#[test]
fn solvers_agree_on_threads() {
    check("grid");
}

#[test]
fn solvers_agree_on_edges_that_give_way() {
    check("stretch_only");
}
