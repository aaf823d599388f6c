//! What contact costs: tables for people and one JSON object for machines.
//!
//! Run: `cargo bench --bench contact` for everything, `-- pile fine` for some parts, `-- --quick` for short runs, `-- --limit=10` to end
//! every run after 10 s (60 without it). Times are processor seconds of one thread. Phases are measured by the clock; their shares of it
//! are taken as shares of the processor time. Nothing is asserted.
//!
//! ```text
//! own       the tablecloth and the walking skirt with and without self-collision
//! pile      how the cost of a step grows with the sheets that lie in a bowl
//! fine      a sheet of 100 × 100 on a ball at 0.1 %
//! scenes    every scene of the contact tests, and the skirts on the walking figure
//! ```
#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark stops at the first surprise")]

#[path = "../contact/crossings.rs"]
#[allow(dead_code, reason = "what places colliders is used, not what judges them")]
mod crossings;
#[allow(dead_code, reason = "shared with another benchmark")]
mod measure;
#[path = "../contact/scenes.rs"]
#[allow(dead_code, reason = "shared with the tests")]
mod scenes;
#[path = "../contact/shapes.rs"]
mod shapes;
#[path = "../support/mod.rs"]
mod support;

use std::path::Path;

use kiln::bake::frame_loop::FrameLoop;
use measure::{Options, Part, Table, cpu_seconds, run_parts};
use scenes::Size;
use serde_json::{Value, json};
use support::World;

const PARTS: [(&str, Part); 4] = [("own", own), ("pile", pile), ("fine", fine), ("scenes", all_scenes)];

fn main() {
    run_parts("contact", &PARTS);
}

/// What the frames of a scene took and how good they are.
#[derive(Clone, Copy, Debug, Default)]
struct Baked {
    frames: u32,
    steps: u32,
    /// Processor time [s].
    cpu: f64,
    /// Time by the clock, and what went into where colliders are and into contact of triangles [s].
    clock: f64,
    colliders: f64,
    touching: f64,
    /// Of all frames together.
    contacts: u64,
    crossings: u64,
    released: u64,
    degraded: u32,
    /// Largest of a visible edge, and largest that 99 of 100 edges keep.
    stretch: f64,
    p99_stretch: f64,
}

impl Baked {
    fn a_frame(&self, sum: f64) -> f64 {
        sum / f64::from(self.frames)
    }

    fn a_step(&self, sum: f64) -> f64 {
        sum / f64::from(self.steps)
    }

    /// Processor time of a part that the clock has measured [s].
    fn cpu_of(&self, clock: f64) -> f64 {
        self.cpu * clock / self.clock
    }

    fn rest(&self) -> f64 {
        self.clock - self.colliders - self.touching
    }
}

/// Bake the range with all that leads up to it; what comes before `from` is not counted. Ends early when the time is over.
fn bake(world: &World, from: i64, limit: f64) -> Baked {
    let mut frames = FrameLoop::new(&world.scene, &world.model, world.start.clone());
    for _ in 0..world.scene.lead_in() {
        frames.lead_in().unwrap();
    }
    let mut baked = Baked::default();
    let mut spent = 0.0;
    for frame in world.scene.first_frame..=world.scene.last_frame {
        let before = cpu_seconds();
        let record = frames.simulate(frame).unwrap();
        let cpu = cpu_seconds() - before;
        spent += cpu;
        if record.substeps > 0 && frame >= from {
            baked.frames += 1;
            baked.steps += record.substeps;
            baked.cpu += cpu;
            baked.clock += record.seconds;
            baked.colliders += record.collider_seconds;
            baked.touching += record.contact_seconds;
            for object in &record.objects {
                baked.contacts += object.contacts;
                baked.crossings += object.crossings;
                baked.released += object.released;
                baked.degraded += u32::from(!object.degraded.is_empty());
                baked.stretch = baked.stretch.max(object.max_stretch);
                baked.p99_stretch = baked.p99_stretch.max(object.p99_stretch);
            }
        }
        if spent > limit && baked.frames > 0 {
            break;
        }
    }
    baked
}

fn preset(name: &str, overrides: &[&str]) -> World {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("presets");
    let text = std::fs::read_to_string(folder.join(format!("{name}.toml"))).unwrap();
    World::in_folder(&text, &folder, overrides)
}

/// With and without alternate, so that other work on the machine hits both; the best round of each counts.
fn own(options: &Options) -> Value {
    const ROUNDS: usize = 3;
    let mut table = Table::new(
        "with and without self-collision (goal: ratio at most 2)",
        [
            "preset",
            "frames",
            "s a frame without",
            "s a frame with",
            "ratio",
            "contact of triangles without",
            "contact of triangles with",
            "steps without",
            "steps with",
            "crossings without",
            "crossings with",
            "stretch %",
        ],
    );
    for (name, cloth) in [("tablecloth", "cloth"), ("skirt_walk", "skirt")] {
        let frames = if options.quick { "scene.frames=\"1-13\"" } else { "scene.frames=\"1-72\"" };
        let world = |with: bool| preset(name, &[frames, &format!("cloth.{cloth}.self_collision={with}")]);
        let mut best: [Option<Baked>; 2] = [None; 2];
        for _ in 0..if options.quick { 1 } else { ROUNDS } {
            for (with, best) in [false, true].into_iter().zip(&mut best) {
                let baked = bake(&world(with), 0, f64::INFINITY);
                if best.is_none_or(|best| baked.cpu < best.cpu) {
                    *best = Some(baked);
                }
            }
        }
        let [without, with] = best.map(Option::unwrap);
        table.row([
            name.into(),
            with.frames.into(),
            without.a_frame(without.cpu).into(),
            with.a_frame(with.cpu).into(),
            (with.a_frame(with.cpu) / without.a_frame(without.cpu)).into(),
            without.a_frame(without.cpu_of(without.touching)).into(),
            with.a_frame(with.cpu_of(with.touching)).into(),
            without.a_frame(f64::from(without.steps)).into(),
            with.a_frame(f64::from(with.steps)).into(),
            without.crossings.into(),
            with.crossings.into(),
            (100.0 * with.stretch).into(),
        ]);
    }
    table.json()
}

/// Ten sheets in a bowl; equal steps for all sizes, counted from when they lie on each other.
fn pile(options: &Options) -> Value {
    const COUNT: usize = 10;
    const STEPS: u32 = 40;
    // They start just above where they come to lie.
    const HEIGHTS: [f64; 2] = [-0.13, 0.003];
    // The same frames for all sizes, whatever they take.
    const FRAMES: [i64; 2] = [5, 6];
    let sizes: &[u32] = if options.quick { &[17, 24, 33] } else { &[17, 24, 33, 46, 64] };
    let mut table = Table::new(
        "a step of ten sheets piled in a bowl (goal: exponent at most 1.3)",
        [
            "triangles",
            "frames",
            "ms a step",
            "contact of triangles ms",
            "rest ms",
            "contacts a frame",
            "crossings",
            "exponent, all",
            "exponent, contact",
        ],
    );
    let mut points: Vec<[f64; 3]> = Vec::new();
    for &n in sizes {
        let triangles = COUNT as u32 * 2 * (n - 1) * (n - 1);
        let scene = scenes::pile(COUNT, n, 32, HEIGHTS, FRAMES[1]);
        let baked = bake(&scene.world(&[&format!("scene.substeps={STEPS}")]), FRAMES[0], f64::INFINITY);
        let [step, contact] = [baked.cpu, baked.cpu_of(baked.touching)].map(|sum| 1e3 * baked.a_step(sum));
        points.push([f64::from(triangles), step, contact]);
        // From the size before to this one.
        let growth = |of: usize| match points.as_slice() {
            [.., a, b] => Value::from((b[of] / a[of]).ln() / (b[0] / a[0]).ln()),
            _ => Value::Null,
        };
        table.row([
            triangles.into(),
            baked.frames.into(),
            step.into(),
            contact.into(),
            (1e3 * baked.a_step(baked.cpu_of(baked.rest()))).into(),
            baked.a_frame(baked.contacts as f64).into(),
            baked.crossings.into(),
            growth(1),
            growth(2),
        ]);
    }
    let [all, contact] = [1, 2].map(|of| exponent(&points, of));
    println!(
        "\nfrom {} to {} triangles: exponent {all:.2}, of contact {contact:.2}",
        points[0][0],
        points[points.len() - 1][0]
    );
    json!({ "rows": table.json(), "exponent": all, "contact_exponent": contact })
}

/// The slope of the line through all points on logarithmic axes.
fn exponent(points: &[[f64; 3]], of: usize) -> f64 {
    let logs: Vec<[f64; 2]> = points.iter().map(|point| [point[0].ln(), point[of].ln()]).collect();
    let mean = |axis: usize| logs.iter().map(|log| log[axis]).sum::<f64>() / logs.len() as f64;
    let [x, y] = [mean(0), mean(1)];
    let [over, under] = logs
        .iter()
        .fold([0.0; 2], |[over, under], log| [over + (log[0] - x) * (log[1] - y), under + (log[0] - x).powi(2)]);
    over / under
}

fn fine(options: &Options) -> Value {
    let mut table = Table::new(
        "100 × 100 on the ball with self-collision at 0.1 % (goal: at most 1 s a frame)",
        [
            "frames",
            "s a frame",
            "contact of triangles",
            "steps",
            "stretch %",
            "degraded",
            "contacts a frame",
            "crossings",
        ],
    );
    let frames = if options.quick { "scene.frames=\"1-13\"" } else { "scene.frames=\"1-75\"" };
    let baked = bake(&preset("ball_sheet", &[frames, "cloth.sheet.max_stretch=0.001"]), 0, 4.0 * options.limit);
    table.row([
        baked.frames.into(),
        baked.a_frame(baked.cpu).into(),
        baked.a_frame(baked.cpu_of(baked.touching)).into(),
        baked.a_frame(f64::from(baked.steps)).into(),
        (100.0 * baked.stretch).into(),
        baked.degraded.into(),
        baked.a_frame(baked.contacts as f64).into(),
        baked.crossings.into(),
    ]);
    table.json()
}

fn all_scenes(options: &Options) -> Value {
    let mut table = Table::new(
        "s a frame by phase",
        [
            "scene",
            "triangles",
            "frames",
            "steps",
            "s a frame",
            "colliders",
            "contact of triangles",
            "rest",
            "contacts a frame",
            "crossings",
            "released",
            "degraded",
            "stretch %",
            "of 99 % of edges",
        ],
    );
    let mut worlds: Vec<(String, World)> = Vec::new();
    for scene in scenes::all(if options.quick { Size::Quick } else { Size::Large }) {
        worlds.push((scene.name.to_owned(), scene.world(&[])));
    }
    let short = ["scene.dress_blend=12", "scene.settle=2", "scene.frames=\"1-9\""];
    let short = if options.quick { &short[..] } else { &[] };
    let fast = "collider.figure.animation={ loop = true, speed = 4.0 }";
    let tight = "cloth.skirt.mesh=\"../meshes/skirt_tight.obj\"";
    for (name, of, changes) in [
        ("skirt_walk", "skirt_walk", None),
        ("skirt_walk, speed 4", "skirt_walk", Some(fast)),
        ("two_layers", "two_layers", None),
        ("skirt_tight", "skirt_walk", Some(tight)),
    ] {
        worlds.push((name.to_owned(), preset(of, &[short, changes.as_slice()].concat())));
    }
    for (name, world) in worlds {
        let triangles: usize = world.model.cloths.iter().map(|cloth| cloth.mesh.triangles.len()).sum();
        let baked = bake(&world, 0, options.limit);
        let phase = |clock: f64| Value::from(baked.a_frame(baked.cpu_of(clock)));
        table.row([
            name.into(),
            triangles.into(),
            baked.frames.into(),
            baked.a_frame(f64::from(baked.steps)).into(),
            baked.a_frame(baked.cpu).into(),
            phase(baked.colliders),
            phase(baked.touching),
            phase(baked.rest()),
            baked.a_frame(baked.contacts as f64).into(),
            baked.crossings.into(),
            baked.released.into(),
            baked.degraded.into(),
            (100.0 * baked.stretch).into(),
            (100.0 * baked.p99_stretch).into(),
        ]);
    }
    table.json()
}
