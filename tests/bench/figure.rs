//! What the walking figure costs: its share of the frame time under a skirt, as it is and with four times the triangles.
//!
//! Run: `cargo bench --bench figure` (or `-- --quick` for a few frames). A share is a ratio within one run, so a shared machine does
//! not change it much.
#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark stops at the first surprise")]

use std::path::Path;
use std::process::Command;

use kiln::cache::frames_log;
use kiln::import::obj;
use kiln::mesh::simulation_mesh::SimulationMesh;
use kiln::mesh::topology::Topology;

/// The skirt's triangles, each split into four as often as wanted, as an OBJ file.
fn skirt(path: &Path, splits: usize) -> usize {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("meshes/skirt_flared.obj");
    let file = obj::parse(&source, &std::fs::read(&source).unwrap()).unwrap();
    let SimulationMesh { mut positions, mut triangles, .. } = SimulationMesh::build(file.whole());
    for _ in 0..splits {
        let topology = Topology::build(&triangles);
        let first = positions.len() as u32;
        positions.extend(
            topology
                .edges
                .iter()
                .map(|&[a, b]| (positions[a as usize] + positions[b as usize]) / 2.0)
                .collect::<Vec<_>>(),
        );
        let split = triangles.iter().zip(&topology.triangle_edges).flat_map(|(&[a, b, c], edges)| {
            let [p, q, r] = edges.map(|edge| first + edge);
            [[a, r, q], [r, b, p], [q, p, c], [p, q, r]]
        });
        triangles = split.collect();
    }
    let mut text = String::new();
    positions.iter().for_each(|p| text += &format!("v {} {} {}\n", p.x, p.y, p.z));
    triangles.iter().for_each(|t| text += &format!("f {} {} {}\n", t[0] + 1, t[1] + 1, t[2] + 1));
    std::fs::write(path, text).unwrap();
    triangles.len()
}

fn main() {
    let quick = std::env::args().any(|arg| arg == "--quick");
    let frames = if quick { 4 } else { 12 };
    let folder = tempfile::tempdir().unwrap();
    println!("{} threads, {frames} frames of the walk", rayon::current_num_threads());
    println!("| garment | steps a frame | ms a frame | of that the figure | share |");
    println!("|---|---|---|---|---|");
    let mut rows = Vec::new();
    for splits in [0, 1] {
        let mesh = folder.path().join(format!("skirt{splits}.obj"));
        let triangles = skirt(&mesh, splits);
        let job = folder.path().join(format!("job{splits}"));
        let preset = Path::new(env!("CARGO_MANIFEST_DIR")).join("presets/skirt_walk.toml");
        let mut kiln = Command::new(env!("CARGO_BIN_EXE_kiln"));
        kiln.arg("bake").arg(preset).args(["--progress", "none", "--set", "output.formats=[]", "--set", "gates={}"]);
        kiln.args(["--set", "scene.dress_blend=12", "--set", "scene.settle=2"]);
        kiln.arg("--set").arg(format!("scene.frames=1-{}", 1 + frames));
        kiln.arg("--set").arg(format!("cloth.skirt.mesh={}", mesh.display())).arg("--out").arg(&job);
        let output = kiln.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let records = frames_log::read(&job.join("frames.jsonl")).unwrap();
        let simulated = &records[1..];
        let mean =
            |of: fn(&frames_log::FrameRecord) -> f64| simulated.iter().map(of).sum::<f64>() / simulated.len() as f64;
        let (frame_ms, collider_ms) = (1e3 * mean(|r| r.seconds), 1e3 * mean(|r| r.collider_seconds));
        let steps = mean(|r| f64::from(r.substeps));
        let share = collider_ms / frame_ms;
        println!("| {triangles} triangles | {steps:.0} | {frame_ms:.0} | {collider_ms:.0} | {:.0} % |", 100.0 * share);
        rows.push(serde_json::json!({
            "triangles": triangles, "steps_per_frame": steps, "ms_per_frame": frame_ms,
            "collider_ms_per_frame": collider_ms, "share": share,
        }));
    }
    println!("{}", serde_json::json!({ "benchmark": "figure", "threads": rayon::current_num_threads(), "rows": rows }));
}
