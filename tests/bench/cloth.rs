//! What cloth costs and how well it keeps its lengths: tables for people and one JSON object for machines.
//!
//! Run: `cargo bench --bench cloth` for everything, `-- published peers` for some parts, `-- --quick` for short runs,
//! `-- --limit=10` to end every run after 10 s (60 without it). Times are processor seconds of one thread, which other work on the
//! machine changes less than those of the clock; counts stand beside them, because machines differ. Nothing is asserted.
//!
//! Cloth alone, without self-collision, unless a table says otherwise.
//!
//! ```text
//! published    the two scenes of [Bender14, table 4.1], also against the bare cost of the linear system
//! thesis       the hanging sheets of [Bender14]
//! peers        a hanging sheet of which times and stretch of other programs are known
//! zozo         a fine hanging sheet at 60 frames a second, as ZOZO publishes one
//! sweep        how the cost of a sweep grows with the mesh
//! auto         every solver, and the one that Kiln chooses
//! ```
#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark stops at the first surprise")]

mod measure;
#[path = "../support/mod.rs"]
mod support;

use std::path::{Path, PathBuf};

use kiln::algorithms::systems::linear_system::LinearSystem;
use kiln::math::Vec3;
use kiln::math::sparse_cholesky::{Layout, SparseCholesky};
use kiln::model::BodyState;
use kiln::scene::SolverChoice;
use measure::{Options, Part, Run, Table, cpu_seconds, run, run_parts, run_until};
use serde_json::{Value, json};
use support::World;

const PARTS: [(&str, Part); 6] =
    [("published", published), ("thesis", thesis), ("peers", peers), ("zozo", zozo), ("sweep", sweep), ("auto", auto)];

fn main() {
    run_parts("cloth", &PARTS);
}

fn presets() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("presets")
}

fn preset(name: &str, overrides: &[String]) -> World {
    let text = std::fs::read_to_string(presets().join(format!("{name}.toml"))).unwrap();
    let overrides: Vec<&str> = overrides.iter().map(String::as_str).collect();
    World::in_folder(&text, &presets(), &overrides)
}

/// A square sheet that hangs from two neighbouring corners and starts horizontal.
#[derive(Clone, Copy)]
struct Hung {
    vertices: u32,
    size: f64,
    fps: u32,
    frames: u32,
    drag: f64,
    model: &'static str,
    solver: &'static str,
    max_stretch: f64,
    /// 0 for as many as are needed.
    substeps: u32,
    self_collision: bool,
}

const HUNG: Hung = Hung {
    vertices: 50,
    size: 4.9,
    fps: 30,
    frames: 150,
    drag: 1.0,
    model: "stretch_only",
    solver: "auto",
    max_stretch: 0.01,
    substeps: 0,
    self_collision: false,
};

impl Hung {
    fn world(&self) -> World {
        let Hung { vertices: n, size, fps, frames, drag, model, solver, max_stretch, substeps, self_collision } = *self;
        let substeps = if substeps == 0 { "\"auto\"".to_owned() } else { substeps.to_string() };
        World::new(&format!(
            r#"
            [scene]
            name = "hung"
            fps = {fps}
            frames = "0-{frames}"
            substeps = {substeps}
            [air]
            drag = {drag}
            [[cloth]]
            name = "sheet"
            mesh = {{ sheet = {{ vertices = [{n}, {n}], size = [{size}, {size}], quads = {} }} }}
            pins = [{{ vertices = [0, {}] }}]
            model = "{model}"
            solver = "{solver}"
            max_stretch = {max_stretch}
            self_collision = {self_collision}
            "#,
            model == "grid",
            n - 1
        ))
    }
}

fn percent(part: f64) -> Value {
    let text = format!("{:.4}", 100.0 * part);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.')).into()
}

fn solver_name(solver: SolverChoice) -> &'static str {
    match solver {
        SolverChoice::Auto => "auto",
        SolverChoice::Iterative => "iterative",
        SolverChoice::Direct => "direct",
        SolverChoice::Strips => "strips",
        SolverChoice::Pcg => "pcg",
    }
}

/// One scene as it was published: a direct solver on 12 cores, 1e-6 m, steps of 1 ms.
struct Published {
    preset: &'static str,
    particles: usize,
    constraints: usize,
    step_ms: f64,
}

const PUBLISHED: [Published; 2] = [
    Published { preset: "tablecloth", particles: 7143, constraints: 14_406, step_ms: 109.5 },
    Published { preset: "ball_sheet", particles: 29_601, constraints: 59_396, step_ms: 572.4 },
];
/// The published tolerance [m], and the part of the allowed stretch at which the linear solvers have done enough.
const PUBLISHED_TOLERANCE: f64 = 1e-6;
const ENOUGH: f64 = 0.1;

/// What the linear system costs without a cloth around it [s].
struct Bare {
    assembly: f64,
    factorisation: f64,
    solve: f64,
}

impl Bare {
    /// Of the distances of a cloth without pins, in some state; the best of some rounds.
    fn measure(world: &World, at: &BodyState, rounds: u32) -> Bare {
        let cloth = &world.model.cloths[0];
        let rows = cloth.pairs.pairs().iter().map(|&[a, b]| vec![(a, -1.0), (b, 1.0)]).collect();
        let system = LinearSystem::build(rows, &cloth.k);
        let along = |&[a, b]: &[u32; 2]| (at.x[b as usize] - at.x[a as usize]).normalize();
        let directions: Vec<Vec3> = cloth.pairs.pairs().iter().map(along).collect();
        let mut values = vec![0.0; system.pattern().rows.len()];
        let mut factor = SparseCholesky::<f64>::analyse(system.pattern().clone(), Layout::Blocks, 1).unwrap();
        let mut right: Vec<f64> = vec![1e-6; system.row_count()];
        let mut best = Bare { assembly: f64::INFINITY, factorisation: f64::INFINITY, solve: f64::INFINITY };
        for _ in 0..rounds {
            // Several in a row, because the clock ticks.
            let seconds = |times: u32, work: &mut dyn FnMut()| {
                let start = cpu_seconds();
                (0..times).for_each(|_| work());
                (cpu_seconds() - start) / f64::from(times)
            };
            let assembly = seconds(40, &mut || system.assemble(&directions, |entry, value| values[entry] = value));
            let factorisation = seconds(8, &mut || assert!(factor.factorize(&values)));
            let solve = seconds(40, &mut || factor.solve_columns(&mut right));
            right.fill(1e-6);
            best.assembly = best.assembly.min(assembly);
            best.factorisation = best.factorisation.min(factorisation);
            best.solve = best.solve.min(solve);
        }
        best
    }
}

fn published(options: &Options) -> Value {
    let frames = if options.quick { 4 } else { 24 };
    let range = format!("scene.frames=\"1-{}\"", 1 + frames);
    let mut direct = Table::new(
        "direct, midpoint model, 1e-6 m, h = 1 ms, against one assembly and factorisation and as many solves (goal: ratio at most 1.4; at most 1.5 kB a constraint)",
        [
            "scene",
            "particles",
            "constraints",
            "frames",
            "ms a step",
            "factorisations a step",
            "solves a step",
            "sweeps a step",
            "constraint stretch %",
            "visible stretch %",
            "load",
            "assembly ms",
            "factorisation ms",
            "solve ms",
            "bare ms",
            "ratio",
            "ratio with all factorisations",
            "kB a constraint",
            "published ms",
        ],
    );
    for published in &PUBLISHED {
        let overrides = |max_stretch: f64| {
            let cloth = if published.preset == "tablecloth" { "cloth" } else { "sheet" };
            let set = |key: &str, value: &str| format!("cloth.{cloth}.{key}={value}");
            let mut overrides = vec![range.clone(), "scene.fps=25".to_owned(), "scene.substeps=40".to_owned()];
            overrides.extend([set("model", "midpoint"), set("solver", "direct"), set("self_collision", "false")]);
            overrides.push(set("max_stretch", &format!("{max_stretch:e}")));
            overrides
        };
        let lengths = preset(published.preset, &overrides(0.01)).model.cloths.remove(0).lengths;
        let mean = lengths.iter().sum::<f64>() / lengths.len() as f64;
        let world = preset(published.preset, &overrides(PUBLISHED_TOLERANCE / (ENOUGH * mean)));
        let cloth = &world.model.cloths[0];
        let run = run(&world, options.limit);
        let bare = Bare::measure(&world, &run.end.bodies[0], if options.quick { 1 } else { 3 });
        let step = run.step_seconds();
        let [factorisations, solves] = [run.factorisations, run.solves].map(|count| run.a_step(count as f64));
        let renewal = bare.assembly + bare.factorisation;
        direct.row([
            published.preset.into(),
            cloth.k.len().into(),
            (cloth.distances.len() + cloth.led_pair_count).into(),
            run.frames().into(),
            (1e3 * step).into(),
            factorisations.into(),
            solves.into(),
            run.a_step(run.sweeps as f64).into(),
            (100.0 * run.stretch).into(),
            run.visible_percent(),
            run.load.into(),
            (1e3 * bare.assembly).into(),
            (1e3 * bare.factorisation).into(),
            (1e3 * bare.solve).into(),
            (1e3 * (renewal + solves * bare.solve)).into(),
            (step / (renewal + solves * bare.solve)).into(),
            (step / (factorisations * renewal + solves * bare.solve)).into(),
            (1e-3 * run.linear_bytes as f64 / cloth.distances.len() as f64).into(),
            published.step_ms.into(),
        ]);
        if (cloth.k.len(), cloth.distances.len() + cloth.led_pair_count) != (published.particles, published.constraints)
        {
            println!(
                "\nnot the published counts: {} particles, {} constraints",
                published.particles, published.constraints
            );
        }
    }
    let mut others = Table::new(
        "the same scenes as a user bakes them, 1 %",
        [
            "scene",
            "model",
            "solver",
            "constraints",
            "frames",
            "steps a frame",
            "attempts",
            "ms a step",
            "ms a frame",
            "sweeps a frame",
            "factorisations a frame",
            "solves a frame",
            "load",
            "visible stretch %",
        ],
    );
    for published in &PUBLISHED {
        for model in ["stretch_only", "midpoint"] {
            for solver in ["iterative", "strips", "pcg", "direct"] {
                let cloth = if published.preset == "tablecloth" { "cloth" } else { "sheet" };
                let set = |key: &str, value: &str| format!("cloth.{cloth}.{key}={value}");
                let alone = set("self_collision", "false");
                let world =
                    preset(published.preset, &[range.clone(), set("model", model), set("solver", solver), alone]);
                let run = run(&world, options.limit / 2.0);
                others.row([
                    published.preset.into(),
                    model.into(),
                    solver.into(),
                    world.model.cloths[0].distances.len().into(),
                    run.frames().into(),
                    run.frame_steps().into(),
                    run.frame_attempts().into(),
                    (1e3 * run.step_seconds()).into(),
                    (1e3 * run.mean_seconds()).into(),
                    run.a_frame(run.sweeps as f64).into(),
                    run.a_frame(run.factorisations as f64).into(),
                    run.a_frame(run.solves as f64).into(),
                    run.load.into(),
                    run.visible_percent(),
                ]);
            }
        }
    }
    json!({ "direct": direct.json(), "others": others.json() })
}

/// Published for the sheets of [Bender14]; strips on 4 cores.
fn thesis_published(n: u32, solver: &str, max_stretch: f64) -> &'static str {
    match (n, solver) {
        (30, "iterative") if max_stretch == 0.0001 => "faster than real time",
        (50, "iterative") if max_stretch == 0.01 => "about real time",
        (50, "iterative") if max_stretch == 0.0001 => "6 times slower than real time",
        (50, "strips") if max_stretch == 0.01 => "22.87 ms a step",
        (50, "strips") if max_stretch == 0.0001 => "31.75 ms a step",
        (10, "direct") => "4 times faster than real time",
        (20, "direct") => "4 times slower than real time",
        _ => "",
    }
}

fn thesis(options: &Options) -> Value {
    let sizes: &[u32] = if options.quick { &[10, 20] } else { &[10, 20, 30, 40, 50] };
    let mut table = Table::new(
        "sheets of 10 cm quads, grid model, 60 frames of 1/30 s; the last columns with one step a frame",
        [
            "sheet",
            "allowed",
            "solver",
            "frames",
            "steps a frame",
            "attempts",
            "ms a step",
            "ms a frame",
            "of real time",
            "visible stretch %",
            "load",
            "published",
            "one step: ms a frame",
            "one step: visible stretch %",
            "one step: before the last sweeps %",
            "one step: load",
        ],
    );
    for &n in sizes {
        for max_stretch in [0.01, 0.001, 0.0001] {
            for solver in ["iterative", "strips", "direct", "pcg"] {
                let frames = if options.quick { 20 } else { 60 };
                let size = 0.1 * f64::from(n - 1);
                let hung = Hung { vertices: n, size, frames, model: "grid", solver, max_stretch, ..HUNG };
                let many = run(&hung.world(), options.limit / 8.0);
                let one = run(&Hung { substeps: 1, ..hung }.world(), options.limit / 8.0);
                table.row([
                    format!("{n} x {n}").into(),
                    percent(max_stretch),
                    solver.into(),
                    many.frames().into(),
                    many.frame_steps().into(),
                    many.frame_attempts().into(),
                    (1e3 * many.step_seconds()).into(),
                    (1e3 * many.mean_seconds()).into(),
                    (30.0 * many.mean_seconds()).into(),
                    many.visible_percent(),
                    many.load.into(),
                    thesis_published(n, solver, max_stretch).into(),
                    (1e3 * one.mean_seconds()).into(),
                    one.visible_percent(),
                    (100.0 * one.strain * max_stretch).into(),
                    one.load.into(),
                ]);
            }
        }
    }
    table.json()
}

/// What is known of others, or wanted: Blender by its `quality`, processor seconds a frame and largest stretch.
fn peer(hung: &Hung) -> &'static str {
    match (hung.vertices, hung.model) {
        _ if hung.drag == 0.0 => "",
        (50, "stretch_only") if hung.max_stretch == 0.01 => "Blender: 0.058 s 23 %; quality 20: 0.27 s 0.65 %",
        (50, "stretch_only") => "Blender: quality 80: 0.62 s 0.11 %; goal 0.10 s",
        (100, "stretch_only") if hung.max_stretch == 0.01 => {
            "Blender: 0.20 s 77 %; quality 20: 1.20 s 2.1 %; goal 0.25 s"
        }
        (200, "stretch_only") if hung.max_stretch == 0.01 => "goal 1.5 s",
        _ => "",
    }
}

fn peers(options: &Options) -> Value {
    let frames = if options.quick { 20 } else { HUNG.frames };
    let sizes: &[u32] = if options.quick { &[26, 50] } else { &[26, 50, 100, 200] };
    let mut cases = Vec::new();
    for drag in [1.0, 0.0] {
        for max_stretch in [0.01, 0.001] {
            let hung = Hung { frames, drag, max_stretch, ..HUNG };
            cases.extend(sizes.iter().map(|&vertices| Hung { vertices, ..hung }));
            cases.extend(["grid", "midpoint"].map(|model| Hung { model, ..hung }));
        }
    }
    let mut table = Table::new(
        "a sheet of 4.9 m, 30 frames a second",
        [
            "sheet",
            "drag",
            "model",
            "allowed",
            "solver",
            "frames",
            "steps a frame",
            "attempts",
            "s a frame",
            "visible stretch %",
            "exponent in vertices",
            "others",
        ],
    );
    let mut last: Option<(Hung, Run)> = None;
    for hung in cases {
        let world = hung.world();
        let run = run(&world, options.limit);
        table.row([
            format!("{0} x {0}", hung.vertices).into(),
            hung.drag.into(),
            hung.model.into(),
            percent(hung.max_stretch),
            solver_name(world.model.cloths[0].solver).into(),
            run.frames().into(),
            run.frame_steps().into(),
            run.frame_attempts().into(),
            run.mean_seconds().into(),
            run.visible_percent(),
            growth(last.as_ref(), &hung, &run),
            peer(&hung).into(),
        ]);
        last = Some((hung, run));
    }
    table.json()
}

/// How cost has grown with the number of vertices since the last size, over the frames that both have.
fn growth(last: Option<&(Hung, Run)>, hung: &Hung, run: &Run) -> Value {
    match last {
        Some((before, earlier)) if before.model == hung.model && before.vertices < hung.vertices => {
            let frames = earlier.frames().min(run.frames());
            let more = run.frame_seconds(frames) / earlier.frame_seconds(frames);
            (more.ln() / (2.0 * (f64::from(hung.vertices) / f64::from(before.vertices)).ln())).into()
        }
        _ => Value::Null,
    }
}

fn zozo(options: &Options) -> Value {
    let sizes: &[u32] = if options.quick { &[64] } else { &[64, 128, 256] };
    let mut table = Table::new(
        "1 %, 60 frames a second; ZOZO's contact solver publishes 2.56 s for 128 x 128 with self-contact on an NVIDIA L4",
        [
            "sheet",
            "size m",
            "self-collision",
            "solver",
            "frames",
            "steps a frame",
            "attempts",
            "s a frame",
            "visible stretch %",
            "exponent in vertices",
        ],
    );
    for (size, self_collision) in [(1.0, false), (1.0, true), (4.9, false), (4.9, true)] {
        let mut last: Option<(Hung, Run)> = None;
        for &vertices in sizes {
            let frames = if vertices > 128 { 12 } else { 120 };
            let hung = Hung { vertices, size, fps: 60, frames, self_collision, ..HUNG };
            let world = hung.world();
            let run = run(&world, options.limit);
            table.row([
                format!("{vertices} x {vertices}").into(),
                size.into(),
                self_collision.into(),
                solver_name(world.model.cloths[0].solver).into(),
                run.frames().into(),
                run.frame_steps().into(),
                run.frame_attempts().into(),
                run.mean_seconds().into(),
                run.visible_percent(),
                growth(last.as_ref(), &hung, &run),
            ]);
            last = Some((hung, run));
        }
    }
    table.json()
}

/// Constraints that the sweeps of one run pass altogether, and sweeps of a frame.
const SWEPT: f64 = 6e7;
const SWEEPS: u32 = 128;

fn sweep(options: &Options) -> Value {
    let mut table = Table::new(
        "one step with one sweep, iterative, vacuum (goal: exponent at most 1.1)",
        ["model", "sheet", "constraints", "sweeps", "ms a sweep", "ns a constraint", "exponent in constraints"],
    );
    let sizes: &[u32] = if options.quick { &[25, 50, 100] } else { &[25, 50, 100, 200, 400] };
    for model in ["stretch_only", "grid", "midpoint"] {
        let mut last: Option<(f64, f64)> = None;
        for &vertices in sizes {
            let size = 0.1 * f64::from(vertices - 1);
            let hung = Hung { vertices, size, drag: 0.0, model, solver: "iterative", ..HUNG };
            let constraints = hung.world().model.cloths[0].distances.len();
            // So much stretch is allowed that the end of a frame needs no more sweeps.
            let frames = (SWEPT / f64::from(SWEEPS) / constraints as f64).max(1.0) as u32;
            let world = Hung { frames, substeps: SWEEPS, max_stretch: 0.5, ..hung }.world();
            let run = run(&world, 10.0 * options.limit);
            let seconds = run.mean_seconds() * run.frames() as f64 / run.sweeps as f64;
            let exponent = last.map(|(rows, before)| (seconds / before).ln() / (constraints as f64 / rows).ln());
            table.row([
                model.into(),
                format!("{vertices} x {vertices}").into(),
                constraints.into(),
                run.sweeps.into(),
                (1e3 * seconds).into(),
                (1e9 * seconds / constraints as f64).into(),
                exponent.into(),
            ]);
            last = Some((constraints as f64, seconds));
        }
    }
    table.json()
}

/// A solver is given up when it takes this many times as long as the iterative one.
const HOPELESS: f64 = 20.0;
const SOLVERS: [&str; 4] = ["iterative", "strips", "direct", "pcg"];

fn auto(options: &Options) -> Value {
    type Scene = Box<dyn Fn(&'static str) -> World>;
    let mut scenes: Vec<(String, String, Scene)> = Vec::new();
    // Two seconds: the fall alone flatters solvers whose need for steps grows when the sheet swings.
    let frames = if options.quick { 4 } else { 60 };
    let sizes: &[u32] = if options.quick { &[30] } else { &[30, 60, 120] };
    for &vertices in sizes {
        for model in ["stretch_only", "grid", "midpoint"] {
            for max_stretch in [0.01, 0.001, 0.0001] {
                let hung = Hung { vertices, frames, model, max_stretch, ..HUNG };
                let kind = format!("{model}, {}", percent(max_stretch).as_str().unwrap());
                let scene = move |solver| Hung { solver, ..hung }.world();
                scenes.push((format!("hung {vertices}, {kind}"), kind, Box::new(scene)));
            }
        }
    }
    for (name, cloth, model) in
        [("tablecloth", "cloth", "stretch_only"), ("tablecloth", "cloth", "midpoint"), ("flag", "flag", "stretch_only")]
    {
        let scene = move |solver: &'static str| {
            let set = |key: &str, value: &str| format!("cloth.{cloth}.{key}={value}");
            let range = format!("scene.frames=\"1-{}\"", 1 + frames);
            preset(name, &[range, set("model", model), set("solver", solver), set("self_collision", "false")])
        };
        scenes.push((format!("{name}, {model}"), format!("{name}, {model}"), Box::new(scene)));
    }
    let mut table = Table::new(
        "s a frame of every solver and of the one that is chosen (goal: ratio at most 1.3); `-` where one is 20 times slower than iterative",
        [
            "scene",
            "constraints",
            "reach",
            "iterative",
            "strips",
            "direct",
            "pcg",
            "steps",
            "attempts",
            "chosen",
            "s a frame",
            "best other",
            "ratio",
            "frames",
            "stretch %",
        ],
    );
    // What is hopeless on a coarse mesh is not tried on a finer one: a single frame could take hours.
    let mut hopeless: Vec<(&str, &str)> = Vec::new();
    for (name, kind, scene) in &scenes {
        let mut runs: Vec<(&str, Option<Run>)> = Vec::new();
        for solver in SOLVERS {
            let iterative = runs.first().and_then(|(_, run)| run.clone());
            let is_hopeless = |run: &Run| {
                let seconds = iterative.as_ref().map(|other| other.frame_seconds(run.frames().min(other.frames())));
                seconds.is_some_and(|seconds| run.mean_seconds() > HOPELESS * seconds)
            };
            if hopeless.contains(&(kind, solver)) {
                runs.push((solver, None));
                continue;
            }
            let run = run_until(&scene(solver), options.limit / 10.0, is_hopeless);
            if is_hopeless(&run) {
                hopeless.push((kind, solver));
            }
            runs.push((solver, (!is_hopeless(&run)).then_some(run)));
        }
        let world = scene("auto");
        let cloth = &world.model.cloths[0];
        let chosen = solver_name(cloth.solver);
        let own = runs.iter().find(|(solver, _)| *solver == chosen).and_then(|(_, run)| run.clone());
        let own = own.unwrap_or_else(|| run(&world, options.limit / 10.0));
        let ratio = |run: &Run| {
            let frames = run.frames().min(own.frames());
            own.frame_seconds(frames) / run.frame_seconds(frames)
        };
        // A solver that breaks the promise is no rival.
        let limit = cloth.visible_limits.iter().copied().fold(0.0, f64::max);
        let kept = |run: &&Run| run.broken_at.is_none() && run.visible <= limit;
        let ratios = runs.iter().filter_map(|(solver, run)| Some((*solver, ratio(run.as_ref().filter(kept)?))));
        let (best, ratio) = ratios.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or(("none", f64::NAN));
        let seconds = |number: usize| runs[number].1.as_ref().map(Run::mean_seconds).into();
        let each = |of: &dyn Fn(&Run) -> String| -> Value {
            let each = runs.iter().map(|(_, run)| run.as_ref().map_or("-".to_owned(), of));
            each.collect::<Vec<_>>().join(" / ").into()
        };
        table.row([
            name.as_str().into(),
            cloth.distances.len().into(),
            cloth.reach.into(),
            seconds(0),
            seconds(1),
            seconds(2),
            seconds(3),
            each(&|run| format!("{:.0}", run.frame_steps())),
            each(&|run| format!("{:.1}", run.frame_attempts())),
            chosen.into(),
            own.mean_seconds().into(),
            best.into(),
            ratio.into(),
            each(&|run| run.frames().to_string()),
            each(&|run| match run.visible_percent() {
                Value::String(text) => text,
                number => format!("{:.4}", number.as_f64().unwrap()),
            }),
        ]);
    }
    table.json()
}
