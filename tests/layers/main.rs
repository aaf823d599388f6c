//! Imports point down: reads the sources and checks who uses whom, and who may start threads, touch files or be unsafe.
#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

use std::path::{Path, PathBuf};

/// Rooms by layer; a new room is given its layer here.
const LAYERS: [(&str, u32); 13] = [
    ("math", 0),
    ("mesh", 1),
    ("scene", 1),
    ("import", 2),
    ("algorithms", 2),
    ("model", 3),
    ("solver", 4),
    ("cache", 4),
    ("render", 4),
    ("bake", 5),
    ("check", 5),
    ("preview", 6),
    ("cli", 7),
];
/// The methods are mathematics over meshes and know no scene.
const ALGORITHMS_MAY_USE: [&str; 2] = ["math", "mesh"];
const THREADS: [&str; 6] = ["solver", "model", "render", "bake", "preview", "cli"];
const FILES: [&str; 5] = ["scene", "import", "cache", "bake", "cli"];
const UNSAFE: &str = "solver/cpu/independent.rs";

/// A source file: its path below `src`, its room, its lines of code.
struct Source {
    path: String,
    room: String,
    lines: Vec<(usize, String)>,
}

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// All files of all rooms; `main.rs` and `lib.rs` belong to none.
fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    files_below(&root, &mut files);
    files.sort();
    let source = |file: PathBuf| {
        let path = file.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
        let room = path.split('/').next().unwrap().trim_end_matches(".rs").to_owned();
        Source { lines: code_lines(&std::fs::read_to_string(file).unwrap()), path, room }
    };
    files.into_iter().map(source).filter(|source| !["main", "lib"].contains(&source.room.as_str())).collect()
}

/// Numbered lines without comments.
fn code_lines(text: &str) -> Vec<(usize, String)> {
    let code = |line: &str| line.split("//").next().unwrap_or_default().trim().to_owned();
    text.lines().enumerate().map(|(n, line)| (n + 1, code(line))).filter(|(_, line)| !line.is_empty()).collect()
}

/// Words of a line: names and paths of them.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).filter(|word| !word.is_empty())
}

/// The rooms that a line names after `crate::`, or by going up out of its own room.
fn rooms_named(line: &str, depth: usize) -> Vec<String> {
    let mut rooms = Vec::new();
    for word in words(line) {
        let parts: Vec<&str> = word.split("::").collect();
        let ups = parts.iter().take_while(|part| **part == "super").count();
        let first = if word == "crate" {
            continue; // pub(crate)
        } else if parts[0] == "crate" {
            1
        } else if ups >= depth && ups > 0 {
            ups
        } else {
            continue;
        };
        // A list after `crate::` hides its names from this reader.
        let name =
            parts.get(first).filter(|name| !name.is_empty()).unwrap_or(&"a list of rooms: one `use` a room, please");
        rooms.push((*name).to_owned());
    }
    rooms
}

fn layer(room: &str) -> Option<u32> {
    LAYERS.iter().find(|(name, _)| *name == room).map(|(_, layer)| *layer)
}

/// Why a room may not use another one.
fn objection(from: &str, to: &str) -> Option<String> {
    let (Some(from_layer), Some(to_layer)) = (layer(from), layer(to)) else {
        return Some(format!("`{from}` or `{to}` has no layer in tests/layers/main.rs"));
    };
    let allowed =
        from == to || if from == "algorithms" { ALGORITHMS_MAY_USE.contains(&to) } else { to_layer < from_layer };
    (!allowed).then(|| format!("`{from}` (layer {from_layer}) may not use `{to}` (layer {to_layer})"))
}

/// How many `super` lead from a file to the crate: a room's `mod.rs` needs one, a file in it two.
fn depth(path: &str) -> usize {
    path.split('/').count() - usize::from(path.ends_with("mod.rs"))
}

/// `path:line: complaint` for every line that `complaint` has something to say about.
fn complaints(sources: &[Source], complaint: impl Fn(&Source, &str) -> Option<String>) -> Vec<String> {
    let of_source = |source: &Source| -> Vec<String> {
        let lines = source.lines.iter();
        lines
            .filter_map(|(n, line)| complaint(source, line).map(|text| format!("src/{}:{n}: {text}", source.path)))
            .collect()
    };
    sources.iter().flat_map(of_source).collect()
}

fn upward_imports(sources: &[Source]) -> Vec<String> {
    complaints(sources, |source, line| {
        rooms_named(line, depth(&source.path)).iter().find_map(|room| objection(&source.room, room))
    })
}

fn threads_elsewhere(sources: &[Source]) -> Vec<String> {
    complaints(sources, |source, line| {
        let threads = words(line).any(|word| word.split("::").any(|part| part == "rayon") || word.contains("thread::"));
        (threads && !THREADS.contains(&source.room.as_str())).then(|| "threads belong elsewhere".to_owned())
    })
}

fn files_elsewhere(sources: &[Source]) -> Vec<String> {
    complaints(sources, |source, line| {
        let files = words(line).any(|word| word.split("::").any(|part| part == "fs" || part == "OpenOptions"));
        (files && !FILES.contains(&source.room.as_str())).then(|| "files are opened elsewhere".to_owned())
    })
}

fn unsafe_elsewhere(sources: &[Source]) -> Vec<String> {
    complaints(sources, |source, line| {
        // What browsers are told about scripts is no Rust.
        let line = line.replace("'unsafe-inline'", "");
        let is_unsafe = words(&line).any(|word| word == "unsafe" || word == "unsafe_code");
        (is_unsafe && source.path != UNSAFE).then(|| format!("unsafe code belongs into src/{UNSAFE} alone"))
    })
}

#[track_caller]
fn expect_none(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn imports_point_down() {
    expect_none(&upward_imports(&sources()));
}

#[test]
fn threads_are_started_in_few_rooms() {
    expect_none(&threads_elsewhere(&sources()));
}

#[test]
fn files_are_opened_in_few_rooms() {
    expect_none(&files_elsewhere(&sources()));
}

#[test]
fn one_file_is_unsafe() {
    expect_none(&unsafe_elsewhere(&sources()));
    assert!(sources().iter().any(|source| source.path == UNSAFE), "src/{UNSAFE} has moved");
}

#[test]
fn the_reader_sees_the_sources() {
    let sources = sources();
    assert!(sources.len() > 30);
    let named = sources.iter().flat_map(|s| s.lines.iter().flat_map(|(_, line)| rooms_named(line, depth(&s.path))));
    assert!(named.count() > 60);
}

/// A file with one line of code.
fn planted(path: &str, line: &str) -> Vec<Source> {
    let room = path.split('/').next().unwrap().to_owned();
    vec![Source { path: path.to_owned(), room, lines: code_lines(line) }]
}

#[test]
fn every_rule_can_be_broken() {
    let imports = [
        ("math/a.rs", "use crate::mesh::surface::PolyMesh;"),
        ("mesh/a.rs", "use crate::scene::Scene;"),
        ("scene/a.rs", "fn f(x: crate::mesh::surface::PolyMesh) {}"),
        ("algorithms/cloth/a.rs", "use crate::scene::Fabric;"),
        ("algorithms/cloth/a.rs", "use super::super::super::scene::Fabric;"),
        ("algorithms/mod.rs", "pub use super::model::Model;"),
        ("model/a.rs", "pub(crate) use crate::solver::Drive;"),
        ("cache/a.rs", "use crate::solver::Drive;"),
        ("check/a.rs", "let x = crate::bake::run();"),
        ("solver/cpu/a.rs", "use crate::{math, cli};"),
        ("attic/a.rs", "use crate::math::Vec3;"),
    ];
    for (path, line) in imports {
        assert_eq!(upward_imports(&planted(path, line)).len(), 1, "{path}: {line}");
    }
    let fine = [
        ("scene/a.rs", "use crate::math::Vec3;"),
        ("import/a.rs", "use crate::scene::problem::Problem;"),
        ("model/a.rs", "use crate::import::Asset; // not crate::cli::run"),
        ("solver/cpu/a.rs", "use super::super::Drive;"),
        ("solver/cpu/mod.rs", "use super::wind::Weather;"),
        ("cli/a.rs", "use crate::bake::Job;"),
    ];
    for (path, line) in fine {
        expect_none(&upward_imports(&planted(path, line)));
    }
    assert_eq!(threads_elsewhere(&planted("algorithms/a.rs", "use rayon::prelude::*;")).len(), 1);
    assert_eq!(threads_elsewhere(&planted("mesh/a.rs", "std::thread::spawn(f);")).len(), 1);
    assert_eq!(files_elsewhere(&planted("model/a.rs", "let x = std::fs::read(path)?;")).len(), 1);
    assert_eq!(files_elsewhere(&planted("mesh/a.rs", "use std::{fs, path::Path};")).len(), 1);
    assert_eq!(unsafe_elsewhere(&planted("solver/cpu/a.rs", "let x = unsafe { *p };")).len(), 1);
}
