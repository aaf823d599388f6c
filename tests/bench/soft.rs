//! What soft bodies cost and how well they keep their volume: tables for people and one JSON object for machines.
//!
//! Run: `cargo bench --bench soft` for everything, `-- cuboid peers` for some parts, `-- --quick` for short runs. Times are processor seconds of
//! one thread, unless a table says otherwise. Nothing is asserted.
//!
//! ```text
//! cuboid     about 1500 tetrahedra, dropped and hit by a ball, steps of 5 ms, as in [Bender14, 4.4.1.3]
//! peers      a dropped ball of 1538 vertices, of which times and volumes of other programs are known
//! growth     how the cost of a sweep and the memory grow with the lattice
//! lattice    how long tetrahedra take to make
//! ```
#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark stops at the first surprise")]
#![allow(dead_code, reason = "not every benchmark uses all of what they share")]

mod measure;
#[path = "../support/mod.rs"]
mod support;

use std::time::Instant;

use kiln::algorithms::volume::pseudo_volume::{Plan, Resolution, Settings};
use kiln::algorithms::volume::tet_lattice::TetLattice;
use kiln::mesh::generate;
use kiln::mesh::simulation_mesh::SimulationMesh;
use measure::{Options, Part, Table, run, run_parts};
use rayon::prelude::*;
use serde_json::{Value, json};
use support::World;

const PARTS: [(&str, Part); 4] = [("cuboid", cuboid), ("peers", peers), ("growth", growth), ("lattice", lattice)];

fn main() {
    run_parts("soft", &PARTS);
}

const FLOOR: &str =
    "[[collider]]\nname = \"floor\"\nshape = \"plane\"\npoint = [0, 0, 0]\nnormal = [0, 1, 0]\n[air]\ndrag = 0\n";

fn cuboid(options: &Options) -> Value {
    let mut table = Table::new(
        "cuboid of 0.8 × 0.6 × 0.6 m, dropped 0.4 m and hit by a ball, steps of 5 ms, 0.5 % (goal: below 10 ms a step; published: sometimes more \
         than 600 iterations)",
        [
            "stiffness Pa",
            "parts",
            "tetrahedra",
            "frames",
            "ms a step",
            "sweeps a step",
            "most sweeps a step, mean of a frame",
            "largest volume error of a part %",
            "of the whole %",
            "attempts a frame",
        ],
    );
    let frames = if options.quick { 20 } else { 120 };
    for (stiffness, parts) in [("1e4", "cells"), ("1e5", "cells"), ("1e6", "cells"), ("1e5", "rings")] {
        let world = World::new(&format!(
            "[scene]\nname = \"cuboid\"\nfps = 40\nframes = \"0-{frames}\"\nsubsteps = 5\n{FLOOR}\
             [[soft_body]]\nname = \"cuboid\"\nmesh = {{ box = {{ size = [0.8, 0.6, 0.6], vertices = [17, 13, 13] }} }}\n\
             transform = {{ translate = [0, 0.7, 0] }}\nstiffness = {stiffness}\nvolume = \"{parts}\"\n\
             tetrahedra = {{ count = 1500 }}\n\
             [[collider]]\nname = \"ball\"\nshape = \"sphere\"\ncenter = [0, 0.5, 1.4]\nradius = 0.2\n\
             transform = {{ translate = {{ keys = [[32, [0, 0, 0]], [52, [0, 0, -1.1]], [72, [0, 0, 0]]] }} }}\n"
        ));
        let run = run(&world, options.limit);
        table.row([
            stiffness.into(),
            parts.into(),
            world.model.soft_bodies[0].tetrahedra().unwrap().tets.tets.len().into(),
            run.frames().into(),
            (1e3 * run.step_seconds()).into(),
            run.a_step(run.sweeps as f64).into(),
            run.most_sweeps.into(),
            (100.0 * run.part_volume).into(),
            (100.0 * run.volume).into(),
            run.frame_attempts().into(),
        ]);
    }
    table.json()
}

fn peers(options: &Options) -> Value {
    let mut table = Table::new(
        "ball of 1538 vertices, radius 0.5 m, dropped from 0.5 m, 30 fps (Blender 5.0.1, cloth with pressure: 0.034 s a frame, volume -27 %; goal: no \
         more time, at most 0.5 %)",
        ["stiffness Pa", "tetrahedra", "frames", "s a frame", "steps", "volume error of a part %", "of the whole %"],
    );
    let frames = if options.quick { 20 } else { 90 };
    for stiffness in ["3e3", "1e4", "1e5"] {
        let world = World::new(&format!(
            "[scene]\nname = \"ball\"\nfps = 30\nframes = \"0-{frames}\"\n{FLOOR}\
             [[soft_body]]\nname = \"ball\"\nmesh = {{ ball = {{ radius = 0.5, vertices = 17 }} }}\n\
             transform = {{ translate = [0, 1, 0] }}\nstiffness = {stiffness}\n"
        ));
        let run = run(&world, options.limit);
        table.row([
            stiffness.into(),
            world.model.soft_bodies[0].tetrahedra().unwrap().tets.tets.len().into(),
            run.frames().into(),
            run.mean_seconds().into(),
            run.frame_steps().into(),
            (100.0 * run.part_volume).into(),
            (100.0 * run.volume).into(),
        ]);
    }
    table.json()
}

/// Memory of this process [B].
fn resident() -> f64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    4096.0 * text.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap()
}

/// A cube that hangs from its top, its tolerance out of reach: every step takes all sweeps that it may.
fn hanging_cube(cells: u32) -> World {
    World::new(&format!(
        "[scene]\nname = \"cube\"\nfps = 200\nframes = \"0-3\"\nsubsteps = 1\n[air]\ndrag = 0\n\
         [[soft_body]]\nname = \"cube\"\nmesh = {{ box = {{ size = [1, 1, 1], vertices = [{n}, {n}, {n}] }} }}\n\
         volume_tolerance = 1e-14\nself_collision = false\ntetrahedra = {{ cell = {} }}\n\
         pins = [{{ box = {{ min = [-1, 0.49, -1], max = [1, 1, 1] }} }}]\n",
        1.0 / f64::from(cells),
        n = cells + 1
    ))
}

fn growth(options: &Options) -> Value {
    let sizes: &[u32] = if options.quick { &[6, 12] } else { &[6, 8, 12, 16, 20, 28] };
    // What was freed is used again, so memory is looked at once, before anything else: by a child that does nothing else.
    let finest = sizes[sizes.len() - 1];
    if std::env::var_os("KILN_BENCH_MEMORY").is_some() {
        let (before, world) = (resident(), hanging_cube(finest));
        measure::run_until(&world, 0.0, |_| true);
        println!(
            "memory {}",
            (resident() - before) / world.model.soft_bodies[0].tetrahedra().unwrap().tets.tets.len() as f64
        );
        std::process::exit(0);
    }
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    child.env("KILN_BENCH_MEMORY", "1").arg("growth").args(options.quick.then_some("--quick"));
    let output = child.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let bytes: f64 = text.lines().find_map(|line| line.strip_prefix("memory ")?.parse().ok()).unwrap();
    let mut table = Table::new(
        "cube that hangs from its top, one step of 5 ms a frame: cost of a sweep (goal: exponent about 1)",
        ["tetrahedra", "vertices", "sweeps", "us a sweep", "ns a tetrahedron", "exponent"],
    );
    let mut last: Option<[f64; 2]> = None;
    for &cells in sizes {
        let world = hanging_cube(cells);
        let tets = world.model.soft_bodies[0].tetrahedra().unwrap().tets.tets.len() as f64;
        let run = measure::run_until(&world, options.limit, |_| false);
        let sweep = run.mean_seconds() * run.frames() as f64 / run.sweeps as f64;
        let exponent = last.map(|[count, seconds]| (sweep / seconds).ln() / (tets / count).ln());
        table.row([
            tets.into(),
            world.model.soft_bodies[0].mesh.positions.len().into(),
            run.sweeps.into(),
            (1e6 * sweep).into(),
            (1e9 * sweep / tets).into(),
            exponent.into(),
        ]);
        last = Some([tets, sweep]);
    }
    println!("\n{bytes:.0} bytes a tetrahedron at the finest: model, state, solver and what making them has left");
    json!({ "rows": table.json(), "bytes_a_tetrahedron": bytes })
}

fn lattice(options: &Options) -> Value {
    let mut table = Table::new(
        "tetrahedra of a closed ball of 52 k triangles, seconds of the clock (goal: below 2 s at 64 voxels along each side)",
        ["triangles", "voxels", "tetrahedra", "s on 1 thread", "s on 2 threads", "volume error %", "dihedral angles"],
    );
    let n = if options.quick { 24 } else { 67 };
    let mesh = SimulationMesh::build(&generate::ball(0.5, n));
    let own: f64 = mesh
        .triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(|v| mesh.positions[v as usize]);
            a.dot(&b.cross(&c)) / 6.0
        })
        .sum();
    for cells in [8.0, 16.0, 32.0] {
        let settings = Settings {
            resolution: Resolution::Cell(1.0 / cells),
            voxels_per_edge: Some((64.0 / cells) as u32),
            density: 0.3,
            ..Settings::default()
        };
        let make = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let start = Instant::now();
                let plan = Plan::build(&mesh.positions, &mesh.triangles, &settings).unwrap();
                let slabs: Vec<_> = (0..plan.slab_count()).into_par_iter().map(|z| plan.slab(z)).collect();
                let lattice = TetLattice::build(&plan, &slabs, &settings).unwrap();
                (start.elapsed().as_secs_f64(), lattice)
            })
        };
        let best = |threads| (0..3).map(|_| make(threads).0).fold(f64::INFINITY, f64::min);
        let (_, made) = make(2);
        let quality = made.mesh.quality().unwrap();
        table.row([
            mesh.triangles.len().into(),
            format!("{:?}", made.report.grid_voxels).into(),
            made.mesh.tets.len().into(),
            best(1).into(),
            best(2).into(),
            (100.0 * (made.report.volume / own - 1.0)).into(),
            format!("{:.0} to {:.0}", quality.smallest_angle, quality.largest_angle).into(),
        ]);
    }
    table.json()
}
