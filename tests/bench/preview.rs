//! How soon a large bake is seen in the browser, how fast its frames are decoded, and what memory that takes: a table for people and
//! one JSON object for machines.
//!
//! Run: `cargo bench --bench preview` (with `-- --quick` for a tenth of the frames). A sheet of 100 489 vertices and 199 712 triangles, 240
//! frames: once from its own store, once as a render mesh that follows 900 simulated vertices. It is opened by `kiln preview` in a headless
//! Chromium (its drawing is done by the processor here, and is not part of decoding). Times are those of the clock. Nothing is asserted.
//!
//! ```text
//! first picture   from the start of the server to the picture, and of that the page alone
//! decoding        a frame's bytes to places and normals (and stretch) in the buffers of WebGL
//! server          frames asked for one after the other, by ranges
//! memory          most that the page's process and the server have held, the JavaScript heap, frames that the page keeps
//! ```
#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark stops at the first surprise")]

#[allow(dead_code, reason = "shared with other benchmarks")]
mod measure;
#[path = "../support/mod.rs"]
mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use kiln::cache::names;
use kiln::cache::store::{ObjectFrame, StoreHeader, StoreObject, StoreReader, StoreWriter};
use kiln::mesh::generate;
use kiln::mesh::surface::PolyMesh;
use kiln::scene::FrameRate;
use measure::{Table, load_average};
use serde_json::{Value, json};

/// Vertices along each side of the sheet.
const SIDE: u32 = 317;
const FRAMES: i64 = 240;

fn scene(cloth: &str, frames: i64) -> String {
    format!(
        "[scene]\nname = \"large\"\nfps = 24\nframes = \"1-{frames}\"\n[[cloth]]\nname = \"sheet\"\n{cloth}\nself_collision = false\n\
         transform = {{ translate = [0, 0.6, 0] }}\n[[collider]]\nname = \"ball\"\nshape = \"sphere\"\ncenter = [0, 0.3, 0]\nradius = 0.25\n\
         [[collider]]\nname = \"floor\"\nshape = \"plane\"\npoint = [0, 0, 0]\nnormal = [0, 1, 0]\n[output]\nformats = []\n"
    )
}

fn bake(folder: &Path, scene: &str) {
    let file = folder.join("scene.toml");
    std::fs::write(&file, scene).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_kiln"));
    command.arg("bake").arg(file).arg("--out").arg(folder.join("job")).args(["--progress", "none", "--device", "cpu"]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The sheet in its own store: a bake of two frames whose store is replaced by one with waves.
fn stored(folder: &Path, frames: i64) {
    let cloth = format!("mesh = {{ sheet = {{ vertices = [{SIDE}, {SIDE}], size = [1, 1] }} }}");
    bake(folder, &scene(&cloth, 2));
    let job = folder.join("job");
    let manifest = job.join(names::MANIFEST_FILE);
    let mut text: Value = serde_json::from_slice(&std::fs::read(&manifest).unwrap()).unwrap();
    text["frames"]["last"] = json!(frames);
    std::fs::write(&manifest, text.to_string()).unwrap();
    let mesh = generate::sheet([SIDE; 2], [1.0, 1.0]);
    let objects = vec![StoreObject { name: "sheet".into(), vertex_count: mesh.positions.len() }];
    let fps = FrameRate { numerator: 24, denominator: 1 };
    let file = job.join(names::STORE_FILE);
    let mut writer = StoreWriter::create(&file, &StoreHeader { fps, objects, has_velocities: false }).unwrap();
    for frame in 1..=frames {
        let positions = waves(&mesh, frame);
        writer.append(frame, &[ObjectFrame { positions: &positions, velocities: &[] }]).unwrap();
    }
    writer.finish().unwrap();
    assert_eq!(StoreReader::open(&file).unwrap().frames().len() as i64, frames);
}

fn waves(mesh: &PolyMesh, frame: i64) -> Vec<[f32; 3]> {
    let t = frame as f64 * 0.15;
    let place = |p: &kiln::math::Vec3| [p.x, 0.7 + 0.06 * (9.0 * p.x + 5.0 * p.z + t).sin(), p.z].map(|x| x as f32);
    mesh.positions.iter().map(place).collect()
}

/// The sheet as a render mesh.
fn followed(folder: &Path, frames: i64) {
    let mesh = |side: u32| format!("{{ sheet = {{ vertices = [{side}, {side}], size = [1, 1] }} }}");
    bake(folder, &scene(&format!("mesh = {}\nrender_mesh = {{ mesh = {} }}", mesh(30), mesh(SIDE)), frames));
}

/// Most memory that a process has held [B].
fn peak(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    1024 * line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
}

fn serve(job: &Path) -> (Child, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kiln"));
    let mut child = command
        .arg("preview")
        .arg(job)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (child, line.trim().to_owned())
}

/// Ask for all frames, one request each; seconds.
fn fetch(address: &str, frames: i64) -> f64 {
    let host = address.trim_start_matches("http://").trim_end_matches('/');
    let mut connection = TcpStream::connect(host).unwrap();
    connection.set_nodelay(true).unwrap();
    let mut reader = BufReader::new(connection.try_clone().unwrap());
    let mut ask = |target: &str, range: &str| -> Vec<u8> {
        write!(connection, "GET {target} HTTP/1.1\r\nHost: {host}\r\n{range}\r\n").unwrap();
        let (mut line, mut length) = (String::new(), 0);
        while line.trim() != "" || length == 0 {
            line.clear();
            reader.read_line(&mut line).unwrap();
            if let Some(text) = line.strip_prefix("Content-Length: ") {
                length = text.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        body
    };
    let scene: Value = serde_json::from_slice(&ask("/scene.json", "")).unwrap();
    let bytes = scene["bakes"][0]["bytes_per_frame"].as_i64().unwrap();
    let start = Instant::now();
    for frame in 0..frames {
        let range = format!("Range: bytes={}-{}\r\n", frame * bytes, (frame + 1) * bytes - 1);
        assert_eq!(ask("/bake/0/frames.bin", &range).len() as i64, bytes);
    }
    start.elapsed().as_secs_f64()
}

fn browse(address: &str, count: u32, play: f64) -> Value {
    let modules = std::env::var_os("KILN_TEST_NODE_MODULES").map(PathBuf::from);
    let modules = modules.expect("KILN_TEST_NODE_MODULES names the folder of node packages: tests/run --full sets it");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/preview/browser.mjs");
    let arguments = json!({ "url": address, "count": count, "play": play }).to_string();
    let output = Command::new("node")
        .arg(script)
        .arg(modules)
        .args(["/usr/bin/chromium", "speed", &arguments])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_str(text.lines().last().unwrap()).unwrap()
}

fn main() {
    let quick = std::env::args().any(|arg| arg == "--quick");
    let (frames, count, play) = if quick { (FRAMES / 10, 30, 2.0) } else { (FRAMES, 240, 20.0) };
    println!("{} vertices, {frames} frames, load average {:?}", SIDE * SIDE, load_average());
    let mut table = Table::new(
        "a large bake in the browser",
        [
            "bake",
            "first picture s",
            "of the page s",
            "decoded frames/s",
            "with stretch",
            "server frames/s",
            "page MB",
            "JS heap MB",
            "frames kept MB",
            "server MB",
        ],
    );
    for (name, make) in [("its own store", stored as fn(&Path, i64)), ("render mesh", followed)] {
        let folder = tempfile::tempdir().unwrap();
        make(folder.path(), frames);
        let start = Instant::now();
        let (mut server, address) = serve(&folder.path().join("job"));
        let started = start.elapsed().as_secs_f64();
        let seen = browse(&address, count, play);
        let fetched = fetch(&address, frames);
        let megabytes = |name: &str| json!(seen[name].as_f64().unwrap() / 1e6);
        let page = seen["first"].as_f64().unwrap();
        table.row([
            json!(name),
            json!(started + page),
            json!(page),
            seen["decoded"].clone(),
            seen["withStretch"].clone(),
            json!(frames as f64 / fetched),
            megabytes("process"),
            megabytes("heap"),
            megabytes("cache"),
            json!(peak(server.id()) as f64 / 1e6),
        ]);
        server.kill().unwrap();
        server.wait().unwrap();
    }
    println!("\nload average {:?}\n", load_average());
    println!(
        "{}",
        json!({ "benchmark": "preview", "quick": quick, "vertices": SIDE * SIDE, "frames": frames, "rows": table.json() })
    );
}
