//! The program as its users meet it: exit codes, messages, files.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod bake;
mod commands;
#[cfg(feature = "gpu")]
mod devices;
mod folders;
mod gltf;
mod interrupted;
mod meshes;
mod pictures;
mod render;
#[path = "../import/sample.rs"]
#[allow(dead_code, reason = "made for the tests of the importer")]
mod sample;
mod soft_bodies;
mod streams;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value as Json;
use tempfile::TempDir;

/// A few frames of a small sheet that falls freely.
const TINY: &str = r#"[scene]
name = "tiny"
frames = "1-4"
substeps = 4
[[cloth]]
name = "sheet"
mesh = { sheet = { vertices = [5, 5], size = [1.0, 1.0] } }
bend = 0.01
"#;

/// A folder with a scene, in which the program runs.
struct Place {
    folder: TempDir,
}

/// What a run left behind.
struct Run {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Place {
    fn new(scene: &str) -> Place {
        let place = Place { folder: tempfile::tempdir().unwrap() };
        place.write("scene.toml", scene);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).unwrap();
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn json(&self, name: &str) -> Json {
        serde_json::from_slice(&self.read(name)).unwrap()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kiln"));
        command.current_dir(self.folder.path()).args(arguments).stdin(Stdio::null());
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("KILN_")) {
            command.env_remove(name);
        }
        command.env("KILN_CACHE", self.folder.path().with_extension("kept"));
        command
    }

    fn run(&self, arguments: &[&str]) -> Run {
        Run::new(self.command(arguments).output().unwrap())
    }

    /// Bakes `scene.toml` into `job`.
    fn bake(&self, more: &[&str]) -> Run {
        self.run(&[&["bake", "scene.toml", "--out", "job"], more].concat())
    }

    /// All files below a folder with their content.
    fn files(&self, name: &str) -> Vec<(PathBuf, Vec<u8>)> {
        fn walk(folder: &Path, found: &mut Vec<(PathBuf, Vec<u8>)>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    walk(&path, found);
                } else {
                    found.push((path.clone(), std::fs::read(&path).unwrap()));
                }
            }
        }
        let mut found = Vec::new();
        walk(&self.path(name), &mut found);
        found.sort();
        found
    }
}

impl Run {
    fn new(output: Output) -> Run {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Run { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// Expects an exit code, and words in the log; a failure says so in exactly one line.
    #[track_caller]
    fn ends_with(self, code: i32, words: &[&str]) -> Run {
        assert_eq!(self.code, Some(code), "\n{}\n{}", self.out, self.err);
        for word in words {
            assert!(self.err.contains(word), "`{word}` is missing in:\n{}", self.err);
        }
        let failures = self.err.lines().filter(|line| line.starts_with("Error: ")).count();
        assert_eq!(failures, usize::from(code != 0), "\n{}", self.err);
        assert_eq!(self.err.matches("Error:").count(), failures, "\n{}", self.err);
        for text in [&self.out, &self.err] {
            assert!(!text.contains("ERROR") && !text.contains("panicked"), "{text}");
            assert!(!text.contains('\r') && !text.contains('\u{1b}'), "control characters in {text:?}");
        }
        assert!(!self.out.contains("Error:"), "{}", self.out);
        if code != 0 {
            assert!(self.err.contains(&format!("[exit code {code}: ")), "\n{}", self.err);
        }
        self
    }

    #[track_caller]
    fn succeeds(self) -> Run {
        self.ends_with(0, &[])
    }
}
