//! A tolerance can be met while energy grows without bound, so energy is looked at on its own.

use crate::support::full;
use crate::{MODELS, SOLVERS, hanging_sheet};
use kiln::model::{BodyState, ClothModel};

/// Kinetic, potential, bending, shear and elastic energy [J].
fn energy(cloth: &ClothModel, moving: &BodyState) -> f64 {
    let x = &moving.x;
    let moving_mass = moving.v.iter().zip(x).zip(&cloth.mass);
    let mechanical: f64 = moving_mass.map(|((v, x), m)| m * (0.5 * v.norm_squared() + 9.81 * x.y)).sum();
    let bending = cloth.bending.rows.iter().map(|row| 0.5 * cloth.bend * row.weight * row.measure(x).norm_squared());
    let shear = cloth.diagonals.iter().map(|diagonal| {
        let [a, b] = diagonal.ends.map(|end| x[end as usize]);
        0.5 * ((b - a).norm() - diagonal.rest).powi(2) / diagonal.compliance
    });
    let elastic = cloth.elastic.iter().map(|elastic| elastic.energy(elastic.particles.map(|p| x[p as usize])));
    mechanical + bending.sum::<f64>() + shear.sum::<f64>() + elastic.sum::<f64>()
}

/// Largest gain of a sheet that swings without damping, as part of the swing, and the frame of it.
fn largest_gain(vertices: u32, frames: u32, model: &str, solver: &str, fabric: &str) -> (f64, i64) {
    let world = hanging_sheet(vertices, frames, model, solver, &format!("damping = 0\n{fabric}"));
    let cloth = &world.model.cloths[0];
    assert_eq!((cloth.kind.name(), cloth.solver.name()), (model, solver));
    let start = energy(cloth, &world.start.bodies[0]);
    // What the sheet can lose by hanging down is the scale of the problem.
    let scale = 9.81 * cloth.mass.iter().sum::<f64>() * 0.5 * 0.1 * f64::from(vertices - 1);
    let (mut highest, mut last, mut substeps) = ((f64::NEG_INFINITY, 0), 0.0, 0);
    world.simulate(|frame| {
        last = (energy(cloth, &frame.state.bodies[0]) - start) / scale;
        substeps += frame.report.substeps;
        if last > highest.0 || !last.is_finite() {
            highest = (last, frame.number);
        }
    });
    println!(
        "{vertices}x{vertices}, {frames} frames, {model} {solver} {fabric}: largest gain {:.4} % of the swing in frame {}, {:.2} % \
         at the end, {substeps} substeps",
        100.0 * highest.0,
        highest.1,
        100.0 * last
    );
    highest
}

#[track_caller]
fn gains_nothing(vertices: u32, frames: u32, model: &str, solver: &str, fabric: &str) -> Result<(), String> {
    let (gain, frame) = largest_gain(vertices, frames, model, solver, fabric);
    let told = format!("{vertices}x{vertices} {model} {solver} {fabric}: {:.2} % in frame {frame}", 100.0 * gain);
    if gain < 0.01 { Ok(()) } else { Err(told) }
}

/// All solvers of a model.
#[track_caller]
fn check(model: &str) {
    let mut cases = vec![(12, 60)];
    if full() {
        cases = vec![(16, 600)];
    }
    let mut failures = Vec::new();
    for (vertices, frames) in cases {
        for solver in SOLVERS {
            // The linear solvers take ten times the steps here.
            let frames = if full() || ["iterative", "strips"].contains(&solver) { frames } else { 20 };
            failures.extend(gains_nothing(vertices, frames, model, solver, "max_stretch = 0.01").err());
        }
        failures.extend(gains_nothing(vertices, frames, model, "iterative", "max_stretch = 0.1").err());
    }
    assert!(failures.is_empty(), "energy was gained:\n{}", failures.join("\n"));
}

#[test]
fn a_pendulum_sheet_that_gives_way_gains_no_energy() {
    check("stretch_only");
}

#[test]
fn a_pendulum_sheet_of_threads_gains_no_energy() {
    check("grid");
}

#[test]
fn a_pendulum_sheet_of_midpoints_gains_no_energy() {
    check("midpoint");
}

#[test]
fn an_elastic_pendulum_sheet_gains_no_energy() {
    let frames = if full() { 300 } else { 45 };
    let failures: Vec<String> = MODELS
        .iter()
        .filter_map(|model| gains_nothing(10, frames, model, "iterative", "fabric = \"rubber\"").err())
        .collect();
    assert!(failures.is_empty(), "energy was gained:\n{}", failures.join("\n"));
}

#[test]
fn a_large_pendulum_sheet_gains_no_energy() {
    let (vertices, frames) = if full() { (41, 600) } else { (24, 30) };
    let failures: Vec<String> = MODELS
        .iter()
        .filter_map(|model| gains_nothing(vertices, frames, model, "iterative", "max_stretch = 0.01").err())
        .collect();
    assert!(failures.is_empty(), "energy was gained:\n{}", failures.join("\n"));
}
