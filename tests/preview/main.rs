//! Looking at bakes: the local server as a stranger would ask it, and the page in a real browser.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test that cannot go on has failed")]

mod browser;
mod drawn;
mod exported;
mod server;
#[path = "../support/mod.rs"]
mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// A sheet that falls on a moving ball above a floor, 12 frames.
const SCENE: &str = r#"[scene]
name = "small"
fps = 24
frames = "1001-1012"
[[cloth]]
name = "sheet"
mesh = { sheet = { vertices = [15, 15], size = [1.0, 1.0] } }
transform = { translate = [0, 0.72, 0] }
[[collider]]
name = "ball"
shape = "sphere"
center = [0, 0.4, 0]
radius = 0.3
transform = { translate = { keys = [[1001, [0, 0, 0]], [1012, [0.1, 0, 0]]] } }
[[collider]]
name = "floor"
shape = "plane"
point = [0, 0, 0]
normal = [0, 1, 0]
[output]
formats = ["glb"]
"#;

/// A command of the program that hears nothing of the environment.
fn kiln(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kiln"));
    command.args(arguments).stdin(Stdio::null());
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("KILN_")) {
        command.env_remove(name);
    }
    command
}

/// A finished bake of a scene.
struct Baked {
    folder: TempDir,
}

impl Baked {
    fn new(scene: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("scene.toml"), scene).unwrap();
        let baked = Baked { folder };
        let (scene, job) = (baked.path("scene.toml"), baked.job());
        let output = kiln(&["bake", text(&scene), "--out", text(&job), "--progress", "none"]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        baked
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn job(&self) -> PathBuf {
        self.path("job")
    }
}

/// A bake with raw frames, one number of frame 1005 not finite.
fn damaged_stream() -> Baked {
    let baked = Baked::new(&format!("{SCENE}glb = {{ mode = \"stream\" }}\n"));
    let entries = std::fs::read_dir(baked.job()).unwrap().map(|entry| entry.unwrap().path());
    let glb = std::fs::read(baked.path("job/sheet.glb")).unwrap();
    let is_raw = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        !name.ends_with(".glb") && glb.windows(name.len()).any(|window| window == name.as_bytes())
    };
    let raw = entries.filter(is_raw).collect::<Vec<_>>();
    assert_eq!(raw.len(), 1, "{raw:?}");
    let mut bytes = std::fs::read(&raw[0]).unwrap();
    let frame = bytes.len() / 12;
    bytes[4 * frame + 12..][..4].copy_from_slice(&f32::NAN.to_le_bytes());
    std::fs::write(&raw[0], bytes).unwrap();
    baked
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A process that does not outlive its test, whatever happens to that.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// A preview that runs until it is dropped.
struct Preview {
    process: Running,
    port: u16,
}

impl Preview {
    fn of(paths: &[&Path]) -> Self {
        let paths: Vec<&str> = std::iter::once("preview").chain(paths.iter().map(|path| text(path))).collect();
        let child = kiln(&paths).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut process = Running(child.unwrap());
        let mut line = String::new();
        BufReader::new(process.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port =
            line.trim().strip_prefix("http://127.0.0.1:").and_then(|rest| rest.trim_end_matches('/').parse().ok());
        Preview { process, port: port.unwrap_or_else(|| panic!("no address but `{line}`")) }
    }

    fn address(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// Send some bytes and read until the connection ends.
    fn raw(&self, request: &str) -> Vec<u8> {
        let mut connection = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        connection.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        connection.read_to_end(&mut answer).unwrap();
        answer
    }

    /// Head and body of an answer.
    fn ask(&self, method: &str, target: &str, more: &str) -> (String, Vec<u8>) {
        let request =
            format!("{method} {target} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n{more}Connection: close\r\n\r\n", self.port);
        let answer = self.raw(&request);
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        (String::from_utf8(answer[..end].to_vec()).unwrap(), answer[end + 4..].to_vec())
    }

    fn get(&self, target: &str) -> (String, Vec<u8>) {
        self.ask("GET", target, "")
    }

    fn json(&self, target: &str) -> serde_json::Value {
        serde_json::from_slice(&self.get(target).1).unwrap()
    }
}

/// The f32 numbers in some bytes.
fn numbers(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|four| f32::from_le_bytes(*four)).collect()
}
