//! The same bits for every thread count.

use crate::support::{World, full};

/// A sheet that falls on a ball and a floor in turbulent wind, large enough that constraints, particles and contacts are really shared out.
fn falling(model: &str, solver: &str, frames: u32, substeps: u32) -> World {
    let quads = model == "grid";
    World::new(&format!(
        r#"
        [scene]
        name = "threads"
        fps = 30
        frames = "0-{frames}"
        substeps = {substeps}
        [wind]
        speed = 3
        turbulence = 0.5
        [[cloth]]
        name = "sheet"
        mesh = {{ sheet = {{ vertices = [100, 100], size = [2, 2], quads = {quads} }} }}
        model = "{model}"
        solver = "{solver}"
        transform = {{ translate = [0, 0.5, 0] }}
        pins = [{{ vertices = [0] }}]
        [[collider]]
        name = "ball"
        shape = "sphere"
        center = [0, 0, 0]
        radius = 0.499
        [[collider]]
        name = "floor"
        shape = "mesh"
        mesh = {{ sheet = {{ vertices = [9, 9], size = [3, 3] }} }}
        transform = {{ translate = [0, 0.495, 0] }}
        "#
    ))
}

/// Every thread count gives the state of one thread.
#[track_caller]
fn check(model: &str, solver: &str, frames: u32, substeps: u32, least_contacts: u32) {
    let world = falling(model, solver, frames, substeps);
    assert!(world.model.cloths[0].pairs.pairs().len() > 16_384);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut contacts = 0;
            let state = world.simulate(|frame| contacts += frame.report.bodies[0].contacts);
            assert!(contacts >= least_contacts, "{contacts} contacts");
            state
        })
    };
    let one = run(1);
    assert!(one.bodies[0].x.iter().all(|x| x.iter().all(|x| x.is_finite())));
    for threads in [2, 3, 8] {
        assert!(run(threads) == one, "{model} {solver}: {threads} threads give another result than one");
    }
}

#[test]
fn states_are_bit_equal_for_1_2_3_8_threads() {
    check("stretch_only", "iterative", 3, 60, 1000);
}

#[test]
fn sweeps_over_strips_are_bit_equal() {
    check("grid", "strips", 2, 60, 100);
    check("stretch_only", "strips", 1, 30, 0);
}

#[test]
fn linear_solvers_are_bit_equal() {
    let substeps = if full() { 30 } else { 4 };
    check("grid", "direct", 1, substeps, 0);
    check("grid", "pcg", 1, substeps, 0);
}

#[test]
fn midpoints_are_bit_equal() {
    check("midpoint", "iterative", 1, 60, 0);
}
