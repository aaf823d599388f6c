//! What a step costs on a device, counted, and what that would take on a card; padding of large matrices. Tables for people and one JSON object
//! for machines.
//!
//! Run: `cargo bench --bench device` for everything, `-- steps` for one part. `KILN_TEST_ADAPTER` names the adapter (Mesa's software Vulkan
//! without it): counts do not depend on it, times on a software adapter would say nothing and are not taken. The processor's times are those of one
//! thread. Nothing is asserted.
//!
//! ```text
//! steps      the sheet of 59 396 constraints and the grid of 65 536 particles [Bender14, table 4.1 and §5.2.2], 32 442 matched particles
//!            [table 4.2]; nothing touches. One sheet and ten alike [§5.2.2]. A sheet that may touch itself
//! ```
#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark stops at the first surprise")]
#![allow(dead_code, reason = "not every benchmark uses all of what they share")]
#![cfg(feature = "gpu")]

mod measure;
#[path = "../support/mod.rs"]
mod support;

use kiln::solver::cpu::CpuBackend;
use kiln::solver::device::{Counts, DeviceChoice};
use kiln::solver::gpu::{self, GpuBackend};
use kiln::solver::{Backend, Drive};
use measure::{Options, Part, Table, cpu_seconds, run_parts};
use serde_json::Value;
use support::World;

const PARTS: [(&str, Part); 1] = [("steps", steps)];
/// A card's memory, as the estimate has it [bytes/s], and the time that it takes to start a kernel [s].
const BANDWIDTH: f64 = 500e9;
const START: f64 = 3e-6;
/// Steps of a frame.
const STEPS: u32 = 10;
/// A sheet of which there are many.
const SMALL: &str = "vertices = [33, 33], size = [2, 2]";
/// Frames that the processor is measured in.
const FRAMES: i64 = 12;

fn main() {
    run_parts("device", &PARTS);
}

fn sheet(mesh: &str, rest: &str) -> World {
    sheets(1, mesh, &format!("self_collision = false\nbend = 0\n{rest}"))
}

/// So many sheets beside each other, none of which touches another one.
fn sheets(count: u32, mesh: &str, rest: &str) -> World {
    let mut text = format!("[scene]\nname = \"sheets\"\nfps = 100\nframes = \"0-2\"\nsubsteps = {STEPS}\n");
    for number in 0..count {
        text += &format!(
            "[[cloth]]\nname = \"sheet {number}\"\nmesh = {{ sheet = {{ {mesh} }} }}\nsolver = \"iterative\"\n\
             transform.translate = [{}, 0, 0]\n{rest}\n",
            8 * number
        );
    }
    for b in 0..count {
        for a in 0..b {
            text += &format!("[[contact]]\nbetween = [\"sheet {a}\", \"sheet {b}\"]\ncollide = false\n");
        }
    }
    World::new(&text)
}

/// The bodies of the bears preset, with nothing to touch.
fn bears() -> World {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("presets");
    let mut scene: toml::Table = std::fs::read_to_string(folder.join("bears.toml")).unwrap().parse().unwrap();
    scene.remove("collider");
    scene.remove("output");
    scene.remove("gates");
    let settings = format!("name = \"bears\"\nfps = 20\nframes = \"0-2\"\nsubsteps = {STEPS}");
    scene.insert("scene".to_owned(), toml::Value::Table(settings.parse().unwrap()));
    let names: Vec<String> =
        scene["soft_body"].as_array().unwrap().iter().map(|body| body["name"].as_str().unwrap().to_owned()).collect();
    let mut text = toml::to_string(&scene).unwrap();
    for (n, a) in names.iter().enumerate() {
        for b in &names[n + 1..] {
            text += &format!("[[contact]]\nbetween = [\"{a}\", \"{b}\"]\ncollide = false\n");
        }
    }
    World::in_folder(&text, &folder, &[])
}

fn drive(world: &World, frame: i64) -> Drive {
    let frame_seconds = world.scene.fps.frame_seconds();
    let moments = [frame, frame + 1].map(|frame| kiln::model::Moment::at(frame as f64));
    Drive { moments, seconds: frame as f64 * frame_seconds, frame_seconds, substeps: STEPS }
}

/// The processor's time for a step, mean of some frames after the first one [ms].
fn on_processor(world: &World) -> f64 {
    let mut backend = CpuBackend::new(&world.scene, &world.model);
    let mut state = world.start.clone();
    let mut frame = |frame| {
        backend.drive(drive(world, frame));
        backend.advance(&mut state);
    };
    frame(0);
    let start = cpu_seconds();
    (1..=FRAMES).for_each(&mut frame);
    1e3 * (cpu_seconds() - start) / (FRAMES as f64 * f64::from(STEPS))
}

/// What the second frame took on the device.
fn on_device(world: &World) -> Counts {
    let adapter = std::env::var("KILN_TEST_ADAPTER").unwrap_or_else(|_| "vulkan:llvmpipe".to_owned());
    let gpu = gpu::open(&DeviceChoice::Named(adapter), false, None).unwrap_or_else(|error| panic!("{error:?}"));
    let mut backend =
        GpuBackend::new(&world.scene, &world.model, gpu, false).unwrap_or_else(|error| panic!("{error:?}"));
    let mut state = world.start.clone();
    let mut frame = |frame| {
        backend.drive(drive(world, frame));
        backend.advance(&mut state);
        backend.gpu().finish();
        backend.gpu().counts()
    };
    let (before, after) = (frame(0), frame(1));
    assert_eq!(backend.gpu().trouble(), None);
    Counts {
        dispatches: after.dispatches - before.dispatches,
        passes: after.passes - before.passes,
        submits: after.submits - before.submits,
        kernel_bytes: after.kernel_bytes - before.kernel_bytes,
        uploads: after.uploads - before.uploads,
        uploaded_bytes: after.uploaded_bytes - before.uploaded_bytes,
        read_backs: after.read_backs - before.read_backs,
        read_bytes: after.read_bytes - before.read_bytes,
    }
}

fn steps(_: &Options) -> Value {
    let pins = |count: u32| format!("pins = [{{ vertices = [0, {}] }}]", count - 1);
    let scenes = [
        ("sheet, 59 396 constraints", sheet("vertices = [100, 100], size = [2, 2]", "model = \"midpoint\"")),
        ("grid, 130 560 constraints", {
            sheet("vertices = [256, 256], size = [5, 5], quads = true", &format!("model = \"grid\"\n{}", pins(256)))
        }),
        ("bears, 32 442 particles", bears()),
        ("one sheet of 33 × 33", sheets(1, SMALL, "self_collision = false\nmodel = \"stretch_only\"")),
        ("ten of them", sheets(10, SMALL, "self_collision = false\nmodel = \"stretch_only\"")),
        ("sheet of 100 × 100 that may touch itself", {
            sheets(1, "vertices = [100, 100], size = [2, 2]", "bend = 0\nmodel = \"stretch_only\"")
        }),
    ];
    let columns = [
        "scene",
        "constraints",
        "dispatches",
        "passes",
        "submits",
        "MB read and written",
        "kB up",
        "kB back",
        "read-backs a frame",
        "ms at 500 GB/s",
        "with 3 us a kernel",
        "processor ms",
        "times as long",
    ];
    let mut table = Table::new("a step", columns);
    for (name, world) in &scenes {
        let counts = on_device(world);
        let each = |count: u64| count as f64 / f64::from(STEPS);
        let constraints: usize = world.model.cloths.iter().map(|cloth| cloth.distances.len()).sum();
        let memory = 1e3 * each(counts.kernel_bytes) / BANDWIDTH;
        let here = on_processor(world);
        table.row([
            (*name).into(),
            constraints.into(),
            each(counts.dispatches).into(),
            each(counts.passes).into(),
            each(counts.submits).into(),
            (1e-6 * each(counts.kernel_bytes)).into(),
            (1e-3 * each(counts.uploaded_bytes)).into(),
            (1e-3 * each(counts.read_bytes)).into(),
            counts.read_backs.into(),
            memory.into(),
            (memory + 1e3 * START * each(counts.dispatches)).into(),
            here.into(),
            (here / (memory + 1e3 * START * each(counts.dispatches))).into(),
        ]);
    }
    table.json()
}
