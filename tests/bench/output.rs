//! Time to tie a render mesh of 200 000 vertices and to write its caches: a table for people and one JSON object for machines.
//!
//! Run: `cargo bench --bench output` (with `-- --quick` for one short round). Best of several rounds. Writing is measured from the
//! store to the finished file on the disk, with everything that `kiln convert` does in between.
#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark stops at the first surprise")]

use std::path::Path;
use std::time::Instant;

use kiln::bake::render::BoundMesh;
use kiln::cache::convert::{Coordinates, Target, convert};
use kiln::cache::names;
use kiln::cache::store::{ObjectFrame, StoreHeader, StoreObject, StoreReader, StoreWriter};
use kiln::math::Vec3;
use kiln::mesh::generate;
use kiln::mesh::surface::PolyMesh;
use kiln::scene::{Format, FrameRate, Glb, GlbMode, Output, Placement, Space, Unit, UpAxis};

/// Vertices along each side of the simulated sheets: 1352 and 9800 triangles.
const SIMULATED: [u32; 2] = [27, 71];
/// Of the render mesh: 200 704 vertices.
const RENDERED: u32 = 448;

/// A sheet with waves running over it; its last quarter is at rest.
fn pose(mesh: &PolyMesh, frame: i64) -> Vec<[f32; 3]> {
    let t = frame as f64 * 0.2;
    let moved = |p: &Vec3| {
        let height = if p.x < 0.25 { 0.1 * (9.0 * p.x + 7.0 * p.z + t).sin() * (0.25 - p.x) } else { 0.0 };
        [p.x as f32, (p.y + height) as f32, p.z as f32]
    };
    mesh.positions.iter().map(moved).collect()
}

fn store(folder: &Path, mesh: &PolyMesh, frames: i64) {
    let objects = vec![StoreObject { name: "sheet".into(), vertex_count: mesh.positions.len() }];
    let fps = FrameRate { numerator: 24, denominator: 1 };
    let header = StoreHeader { fps, objects, has_velocities: true };
    let mut writer = StoreWriter::create(&folder.join(names::STORE_FILE), &header).unwrap();
    for frame in 1..=frames {
        let positions = pose(mesh, frame);
        writer.append(frame, &[ObjectFrame { positions: &positions, velocities: &positions }]).unwrap();
    }
    writer.finish().unwrap();
}

fn main() {
    let quick = std::env::args().any(|arg| arg == "--quick");
    let (rounds, frames) = if quick { (1, 20) } else { (3, 120) };
    let threads = rayon::current_num_threads();
    let render = generate::sheet([RENDERED; 2], [1.01, 1.01]);
    let vertices = render.positions.len();
    let mut rows = Vec::new();
    println!("{threads} threads, best of {rounds} rounds, {vertices} render vertices, {frames} frames");
    println!("| simulated triangles | what | ms a frame | frames/s | MB |");
    println!("|---|---|---|---|---|");
    let best = |work: &mut dyn FnMut()| {
        let seconds = (0..rounds).map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64()
        });
        seconds.fold(f64::INFINITY, f64::min)
    };
    let mut report = |triangles: usize, what: &str, seconds: f64, count: i64, bytes: u64| {
        let ms = 1e3 * seconds / count as f64;
        println!("| {triangles} | {what} | {ms:.2} | {:.0} | {:.1} |", 1e3 / ms, bytes as f64 / 1e6);
        rows.push(serde_json::json!({ "triangles": triangles, "what": what, "ms": ms, "bytes": bytes }));
    };
    for side in SIMULATED {
        let cloth = generate::sheet([side; 2], [1.0, 1.0]);
        let triangles = cloth.face_count();
        let seconds = best(&mut || drop(BoundMesh::build(&cloth, &render)));
        report(triangles, "tie the render mesh (once)", seconds, 1, 0);
        let bound = BoundMesh::build(&cloth, &render);
        let folder = tempfile::tempdir().unwrap();
        store(folder.path(), &cloth, frames);
        let plain = Glb::default();
        let kinds = [
            ("PC2", Format::Pc2, plain),
            ("MDD", Format::Mdd, plain),
            ("GLB", Format::Glb, plain),
            ("GLB, quantised", Format::Glb, Glb { quantize: true, ..plain }),
            ("GLB, sparse", Format::Glb, Glb { sparse: true, ..plain }),
            ("GLB, quantised and sparse", Format::Glb, Glb { quantize: true, sparse: true, ..plain }),
            ("GLB, normals", Format::Glb, Glb { normals: true, ..plain }),
            ("GLB, stream", Format::Glb, Glb { mode: GlbMode::Stream, ..plain }),
        ];
        for (what, format, glb) in kinds {
            let output = Output {
                formats: Vec::new(),
                unit: Unit::Metre,
                up: UpAxis::Y,
                pattern: String::new(),
                space: Space::World,
                glb,
                colliders: false,
            };
            let placement = Placement { up: UpAxis::Y, scale: 1.0, rotate: Vec3::zeros(), translate: Vec3::zeros() };
            let coordinates = Coordinates::new(&output, &placement);
            let deform = Some(&bound as &dyn kiln::cache::convert::Deform);
            let target = Target { stored: "sheet", object: "sheet", mesh: &render, deform, format, coordinates, glb };
            let name = |object: &str, format: Format, _| format!("{object}.{}", format.name());
            let numbers: Vec<i64> = (1..=frames).collect();
            let mut bytes = 0;
            let seconds = best(&mut || {
                let mut reader = StoreReader::open(&folder.path().join(names::STORE_FILE)).unwrap();
                let made = convert(&mut reader, &[target], &numbers, folder.path(), &name, &mut |_| {}).unwrap();
                bytes = made[0].files.iter().map(|file| file.bytes).sum();
            });
            report(triangles, what, seconds, frames, bytes);
        }
    }
    println!(
        "{}",
        serde_json::json!({ "benchmark": "output", "threads": threads, "vertices": vertices, "rows": rows })
    );
}
