//! What matched shapes cost, beside the published figures: tables for people and one JSON object for machines.
//!
//! Run: `cargo bench --bench shape` for everything, `-- cube` for one part, `-- --quick` for short runs. Times are seconds of the clock, best of
//! several: some rows use two threads. Nothing is asserted.
//!
//! ```text
//! cube       a cube of 30 248 particles, regions of 1 to 5 edges, all particles moving; naive sums and sums along paths
//! scenes     the three scenes of [Bender14, tables 4.2 and 4.3], steps of 5 ms, contacts apart
//! pressed    four balls pressed by a plate [Bender14, figure 4.28]
//! ```
#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark stops at the first surprise")]
#![allow(dead_code, reason = "not every benchmark uses all of what they share")]

mod measure;
#[path = "../support/mod.rs"]
mod support;

use std::path::Path;
use std::time::Instant;

use kiln::algorithms::shape_matching::matching::{Moments, Transform};
use kiln::math::Vec3;
use kiln::math::polar::LANES;
use kiln::model::{BodyState, Inside, ShapeBody, SoftBodyModel};
use kiln::solver::cpu::filling::Filling;
use kiln::solver::cpu::shape_filling::ShapeFilling;
use measure::{Options, Part, Table, run_parts};
use serde_json::Value;
use support::World;

const PARTS: [(&str, Part); 3] = [("cube", cube), ("scenes", scenes), ("pressed", pressed)];

fn main() {
    run_parts("shape", &PARTS);
}

/// The best of some runs of something [ms].
fn best(rounds: usize, mut f: impl FnMut()) -> f64 {
    let time = |_| {
        let start = Instant::now();
        f();
        1e3 * start.elapsed().as_secs_f64()
    };
    (0..rounds).map(time).fold(f64::INFINITY, f64::min)
}

/// A pool of its own, so that results can be compared within one run.
fn on_threads<T: Send>(threads: usize, f: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(f)
}

fn cube_world(omega: u32) -> World {
    World::new(&format!(
        "[scene]\nname = \"cube\"\nfps = 25\nframes = \"0-1\"\nsubsteps = 8\n[air]\ndrag = 0\n\
         [[soft_body]]\nname = \"cube\"\nmodel = \"shape_matching\"\n\
         mesh = {{ box = {{ size = [1, 1, 1], vertices = [72, 72, 72] }} }}\n\
         shape_matching = {{ omega = {omega}, stiffness = 0.9 }}\n"
    ))
}

/// The cube bent, twisted and turned a little further with every step.
fn moved(rest: &[Vec3], step: usize) -> Vec<Vec3> {
    let turn = nalgebra::Rotation3::from_axis_angle(&Vec3::y_axis(), 0.01 * step as f64);
    let bend = |x: &Vec3| {
        let swing = 0.1 * (0.2 * step as f64).sin();
        turn * Vec3::new(x.x + swing * x.y * x.y, x.y + 0.05 * (6.0 * x.x).sin() * swing, x.z + swing * x.x * x.y)
    };
    rest.iter().map(bend).collect()
}

/// What a step takes at best: sums, rotations and goals; damping; volume with two corrections [ms].
fn step_times(body: &SoftBodyModel, rounds: usize) -> [f64; 3] {
    let shape = body.shape().unwrap();
    let mut filling = ShapeFilling::new(body, shape);
    let mut moving = BodyState::at_rest(body);
    filling.begin_frame(&moving);
    filling.begin_step(0.005, 0.0);
    let mut ahead = moving.x.clone();
    let mut matched = f64::INFINITY;
    for step in 0..rounds {
        ahead = moved(&moving.x, step);
        matched = matched.min(best(1, || filling.spring(&moving, &mut ahead)));
    }
    moving.v = moved(&body.rest, 3).iter().zip(&body.rest).map(|(a, b)| a - b).collect();
    let damped = best(rounds, || filling.damp(&mut moving));
    let touches = vec![false; ahead.len()];
    let kept = best(rounds, || {
        filling.heed_contacts(&ahead, &touches);
        filling.sweep(&mut ahead);
        filling.sweep(&mut ahead);
        filling.calm(&moving.x, &mut moving.v);
    });
    [matched, damped, kept]
}

fn cube(options: &Options) -> Value {
    let mut table = Table::new(
        "cube of 30 248 particles, ms a step (goal on one thread: sums, rotations and goals 3 ms, all 5 ms, omega 5 at most 1.6 times omega 1; \
         published, naive: 37.3 53.8 82.9 121.5 169.8; paths: 42.5 46.7 51.6 56.2 62.1; graphics card: 3.2 to 4.2)",
        [
            "omega",
            "threads",
            "naive sums",
            "sums, rotations, goals",
            "with damping",
            "with volume too",
            "stretches a region",
            "paths",
        ],
    );
    let rounds = if options.quick { 3 } else { 30 };
    for omega in 1..=5 {
        let world = cube_world(omega);
        let body = &world.model.soft_bodies[0];
        let shape = body.shape().unwrap();
        let members: Vec<Vec<u32>> =
            (0..shape.regions.len()).map(|i| shape.regions.members(i).map(|m| m as u32).collect()).collect();
        for threads in [1, 2] {
            let [matched, damped, kept] = on_threads(threads, || step_times(body, rounds));
            let naive = || best(rounds.min(5), || naive_step(shape, &body.rest, &members)).into();
            table.row([
                omega.into(),
                threads.into(),
                if threads == 1 { naive() } else { "-".into() },
                matched.into(),
                (matched + damped).into(),
                (matched + damped + kept).into(),
                shape.regions.mean_stretches().into(),
                shape.regions.path_count().into(),
            ]);
        }
    }
    table.json()
}

/// Sums, rotations and goals with every member of every region added up.
fn naive_step(shape: &ShapeBody, x: &[Vec3], members: &[Vec<u32>]) {
    let sum = |rows: &[[f64; 12]], i: usize| {
        members[i].iter().fold([0.0; 12], |sum, &m| std::array::from_fn(|n| sum[n] + rows[m as usize][n]))
    };
    let rows: Vec<Moments> = (0..x.len()).map(|i| shape.shapes.moments(i, x[i] - shape.middle)).collect();
    let mut transforms: Vec<Transform> = vec![[0.0; 12]; x.len()];
    let mut quaternions = vec![[1.0, 0.0, 0.0, 0.0]; x.len()];
    let normals = [Vec3::y(); LANES];
    for first in (0..x.len()).step_by(LANES) {
        let end = (first + LANES).min(x.len());
        let sums: Vec<Moments> = (first..end).map(|i| sum(&rows, i)).collect();
        let (q, t) = (&mut quaternions[first..end], &mut transforms[first..end]);
        shape.shapes.fit_lanes(first, &sums, &normals[..end - first], &[], q, t);
    }
    let goals: Vec<Vec3> =
        (0..x.len()).map(|i| shape.shapes.goal(i, &sum(&transforms, i), members[i].len() as u32)).collect();
    assert!(goals[0].norm().is_finite());
}

/// Of each body the largest loss of volume over some frames, in percent.
fn losses(world: &World) -> Vec<f64> {
    let mut losses = vec![0.0_f64; world.model.body_count()];
    world.simulate(|frame| {
        for (loss, quality) in losses.iter_mut().zip(frame.quality) {
            *loss = loss.max(-100.0 * quality.volume_error);
        }
    });
    losses
}

fn scenes(options: &Options) -> Value {
    let mut table = Table::new(
        "the published scenes: a step of all bodies, contacts apart, and what volume they lose (published, naive / paths / graphics card: six \
         armadillos 114.75 / 69.92 / 4.69 ms, ducks and tori 44.88 / 30.2 / 3.54, balls 15.86 / 10.58 / 2.34; loss 0.1, 0.5, 0.2 %)",
        ["scene", "particles", "frames", "ms a step, 1 thread", "largest loss of volume %", "without the constraint %"],
    );
    let (frames, rounds) = if options.quick { (3, 3) } else { (30, 30) };
    for preset in ["bears", "ducks_and_tori", "balls_in_glass"] {
        let text = std::fs::read_to_string(format!("presets/{preset}.toml")).unwrap();
        let mut world = World::in_folder(&text, Path::new("presets"), &[&format!("scene.frames=1-{frames}")]);
        let times = world.model.soft_bodies.iter().map(|body| step_times(body, rounds).iter().sum::<f64>());
        let time: f64 = times.sum();
        let worst = |world: &World| on_threads(2, || losses(world)).into_iter().fold(0.0, f64::max);
        let kept = worst(&world);
        for body in &mut world.model.soft_bodies {
            if let Inside::Shape(shape) = &mut body.inside {
                shape.settings.keep_volume = false;
            }
        }
        let particles: usize = world.model.skins().map(|skin| skin.rest.len()).sum();
        table.row([preset.into(), particles.into(), frames.into(), time.into(), kept.into(), worst(&world).into()]);
    }
    table.json()
}

fn pressed(options: &Options) -> Value {
    let mut table = Table::new(
        "four balls of 1562 particles pressed by a plate (published loss of volume: 0.6, 0.7, 0.7 and 40 %)",
        ["volume", "largest loss of volume %"],
    );
    let text = std::fs::read_to_string("presets/pressed_balls.toml").unwrap();
    let frames = if options.quick { "scene.frames=1-5" } else { "scene.frames=1-70" };
    let world = World::in_folder(&text, Path::new("presets"), &[frames]);
    for (body, loss) in world.model.soft_bodies.iter().zip(losses(&world)) {
        table.row([body.name.clone().into(), loss.into()]);
    }
    table.json()
}
