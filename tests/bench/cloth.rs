//! Time per step of the two published scenes: a table for people and one JSON object for machines.
//!
//! Run: `cargo bench` (or `cargo bench -- --quick` for one short round). Best of several rounds; counts beside times, because
//! machines differ and are shared.
#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark stops at the first surprise")]

#[path = "../support/mod.rs"]
mod support;

use std::time::Instant;

use support::World;

/// One scene as it was published: [Bender14], table 4.1, a direct solver on 12 cores, 1e-6 m.
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

/// How the steps are chosen.
struct Setting {
    name: &'static str,
    overrides: &'static [&'static str],
}

const SETTINGS: [Setting; 2] = [
    // The published step.
    Setting { name: "h = 1 ms", overrides: &["scene.fps=25", "scene.substeps=40"] },
    // What a user gets.
    Setting { name: "auto, 1 %", overrides: &[] },
];

fn main() {
    let quick = std::env::args().any(|arg| arg == "--quick");
    let (rounds, frames) = if quick { (1, 6) } else { (3, 24) };
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("presets");
    println!("{} threads, best of {rounds} rounds, first {frames} frames", rayon::current_num_threads());
    println!(
        "| scene | particles | constraints | steps | steps a frame | ms a step | ms a frame | largest stretch | largest edge stretch | published ms a step |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let mut rows = Vec::new();
    for published in &PUBLISHED {
        let text = std::fs::read_to_string(folder.join(format!("{}.toml", published.preset))).unwrap();
        for setting in &SETTINGS {
            let range = format!("scene.frames=\"1-{}\"", 1 + frames);
            let overrides: Vec<&str> = setting.overrides.iter().copied().chain([range.as_str()]).collect();
            let world = World::in_folder(&text, &folder, &overrides);
            let cloth = &world.model.cloths[0];
            let constraints = cloth.distances.len() + cloth.led_pair_count;
            assert_eq!((cloth.k.len(), constraints), (published.particles, published.constraints));
            let (mut best_seconds, mut steps) = (f64::INFINITY, 0);
            let (mut stretch, mut edge_stretch) = (0.0_f64, 0.0_f64);
            for _ in 0..rounds {
                steps = 0;
                let start = Instant::now();
                let mut looking = 0.0;
                world.simulate(|frame| {
                    let look = Instant::now();
                    steps += frame.report.substeps;
                    stretch = stretch.max(frame.quality[0].max_stretch);
                    edge_stretch = edge_stretch.max(world.edge_stretch(&frame.vertices[0]).max);
                    looking += look.elapsed().as_secs_f64();
                });
                best_seconds = best_seconds.min(start.elapsed().as_secs_f64() - looking);
            }
            let step_ms = 1e3 * best_seconds / f64::from(steps);
            let frame_ms = 1e3 * best_seconds / f64::from(frames);
            println!(
                "| {} | {} | {constraints} | {} | {:.0} | {step_ms:.3} | {frame_ms:.0} | {:.3} % | {:.1} % | {} |",
                published.preset,
                published.particles,
                setting.name,
                f64::from(steps) / f64::from(frames),
                100.0 * stretch,
                100.0 * edge_stretch,
                published.step_ms
            );
            rows.push(serde_json::json!({
                "scene": published.preset,
                "particles": published.particles,
                "constraints": constraints,
                "setting": setting.name,
                "frames": frames,
                "steps": steps,
                "ms_per_step": step_ms,
                "ms_per_frame": frame_ms,
                "max_stretch": stretch,
                "max_edge_stretch": edge_stretch,
                "published_ms_per_step": published.step_ms,
            }));
        }
    }
    println!("{}", serde_json::json!({ "benchmark": "cloth", "threads": rayon::current_num_threads(), "rows": rows }));
}
