//! `kiln inspect`: one report, as JSON or as text for people.

mod caches;
mod job;
mod mesh;

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value as Json, json};

use super::load::{load_scene, refuse};
use super::terminal::print;
use super::tet::facts;
use super::{SceneArgs, switch};
use crate::algorithms::volume::tet_lattice::TetLattice;
use crate::bake::{Exit, Failure};
use crate::cache::names;
use crate::model::{self, Inside};

#[derive(Debug, Args)]
pub struct InspectArgs {
    /// A mesh (.glb, .gltf, .obj), scene (.toml), cache (.kc, .pc2, .mdd) or job folder
    path: PathBuf,
    /// Print JSON
    #[arg(long, env = "KILN_JSON", value_parser = switch())]
    json: bool,
    /// Of a scene: write the meshes of soft bodies whose shapes are matched into this folder, with every path in its own colour (OBJ with
    /// vertex colours)
    #[arg(long, env = "KILN_PATHS", value_name = "FOLDER")]
    paths: Option<PathBuf>,
}

pub fn run(arguments: &InspectArgs) -> Result<(), Failure> {
    if let Some(folder) = &arguments.paths {
        write_paths(&arguments.path, folder)?;
    }
    let report = inspect(&arguments.path)?;
    print(&if arguments.json { format!("{report:#}\n") } else { text(&report, 0) })
}

fn inspect(path: &Path) -> Result<Json, Failure> {
    let metadata = std::fs::metadata(path).map_err(|error| unreadable(path, &error))?;
    if metadata.is_dir() {
        return job::inspect(path);
    }
    if [names::MANIFEST_FILE, names::FRAMES_LOG_FILE].iter().any(|name| path.ends_with(name)) {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let cause = format!("{} is a part of a job", path.display());
        return Err(Failure::new(Exit::InvalidInput, cause, format!("inspect the folder {}", folder.display())));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    match name.trim_end_matches(".partial").rsplit('.').next().unwrap_or_default() {
        "obj" => mesh::obj(path),
        "gltf" | "glb" => mesh::gltf(path),
        "toml" => scene(path),
        "kc" => caches::store(path),
        "pc2" => caches::pc2(path),
        "mdd" => caches::mdd(path),
        _ => {
            let cause = format!("{} is of no kind that Kiln knows", path.display());
            let remedy = "name a .glb, .gltf, .obj, .toml, .kc, .pc2 or .mdd file, or a job folder";
            Err(Failure::new(Exit::InvalidInput, cause, remedy))
        }
    }
}

/// The scene with all defaults filled in, as a bake would take it.
fn scene(path: &Path) -> Result<Json, Failure> {
    let resolved = load_scene(Some(path), &SceneArgs { set: Vec::new(), frames: None })?;
    let mut report = serde_json::to_value(&resolved.scene).unwrap_or_default();
    // Thousands of numbers are no help to anyone.
    report["written_frames"] = json!(frame_ranges(&resolved.scene.written_frames));
    let mut lattices = Vec::new();
    if !resolved.scene.soft_bodies.is_empty() {
        let (model, ..) = model::build(&resolved.scene)
            .map_err(|problems| refuse(Some(path), &problems, Some(&resolved.document)))?;
        for body in model.soft_bodies {
            let name = body.skin.name;
            lattices.push(match body.inside {
                Inside::Tetrahedra(tets) => {
                    let lattice = TetLattice { mesh: tets.tets, report: tets.lattice };
                    json!({ "soft_body": name, "lattice": facts(&lattice) })
                }
                Inside::Shape(shape) => json!({
                    "soft_body": name,
                    "regions": {
                        "count": shape.regions.len(),
                        "edges_around": shape.settings.omega,
                        "paths": shape.regions.path_count(),
                        "mean_stretches": shape.regions.mean_stretches(),
                        "volume_m3": shape.volume,
                    },
                }),
            });
        }
    }
    Ok(json!({ "kind": "scene", "file": path, "scene": report, "lattices": lattices }))
}

/// The meshes of bodies whose shapes are matched, coloured by path.
fn write_paths(path: &Path, folder: &Path) -> Result<(), Failure> {
    let resolved = load_scene(Some(path), &SceneArgs { set: Vec::new(), frames: None })?;
    let (model, ..) =
        model::build(&resolved.scene).map_err(|problems| refuse(Some(path), &problems, Some(&resolved.document)))?;
    let mut bodies = model.soft_bodies.iter().filter_map(|body| Some((body, body.shape()?))).peekable();
    if bodies.peek().is_none() {
        let cause = format!("{} has no soft body whose shapes are matched", path.display());
        return Err(Failure::new(Exit::InvalidInput, cause, "use a scene with `model = \"shape_matching\"`"));
    }
    let unwritable = |error: std::io::Error| {
        let cause = format!("cannot write to {}: {error}", folder.display());
        Failure::new(Exit::InputOutput, cause, "check the folder and its permissions")
    };
    std::fs::create_dir_all(folder).map_err(unwritable)?;
    for (body, shape) in bodies {
        let mut text = format!("# paths of {}\n", body.name);
        for number in 0..shape.regions.path_count() {
            let [r, g, b] = colour(number);
            for x in shape.regions.particles(number..number + 1).map(|i| body.rest[i]) {
                text += &format!("v {:.6} {:.6} {:.6} {r:.3} {g:.3} {b:.3}\n", x.x, x.y, x.z);
            }
        }
        for [a, b, c] in &body.mesh.triangles {
            text += &format!("f {} {} {}\n", a + 1, b + 1, c + 1);
        }
        std::fs::write(folder.join(format!("{}.paths.obj", body.name)), text).map_err(unwritable)?;
    }
    Ok(())
}

/// Colours of which neighbours differ: hues a golden ratio apart.
fn colour(number: usize) -> [f64; 3] {
    let hue = (number as f64 * 0.618_034).fract();
    [0.0, 1.0 / 3.0, 2.0 / 3.0].map(|at| {
        let away = (hue - at + 1.5).fract() - 0.5;
        (1.0 - 3.0 * away.abs()).clamp(0.15, 1.0)
    })
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    let cause = format!("cannot read {}: {error}", path.display());
    match error.kind() {
        std::io::ErrorKind::NotFound => Failure::new(Exit::InvalidInput, cause, "check the path"),
        _ => Failure::new(Exit::InputOutput, cause, "check the path and its permissions"),
    }
}

/// Ascending frames the way they are typed: `1-100`, `1-99x2`, or runs such as `1-3,7,9-12`.
fn frame_ranges(frames: &[i64]) -> String {
    let run = |frames: &[i64], step: i64| match frames {
        [] => "none".to_owned(),
        [only] => only.to_string(),
        [first, .., last] if step == 1 => format!("{first}-{last}"),
        [first, .., last] => format!("{first}-{last}x{step}"),
    };
    if let [first, second, _, ..] = frames {
        let step = second - first;
        if frames.windows(2).all(|pair| pair[1] - pair[0] == step) {
            return run(frames, step);
        }
    }
    let runs: Vec<String> = frames.chunk_by(|a, b| b - a == 1).map(|frames| run(frames, 1)).collect();
    if runs.is_empty() { run(&[], 1) } else { runs.join(",") }
}

/// A report for people: one line a value, deeper things further in.
pub(super) fn text(report: &Json, depth: usize) -> String {
    let margin = "  ".repeat(depth);
    let mut lines = String::new();
    for (key, value) in report.as_object().into_iter().flatten() {
        let key = key.replace('_', " ");
        match value {
            Json::Null => {}
            Json::Object(_) => lines += &format!("{margin}{key}:\n{}", text(value, depth + 1)),
            Json::Array(items) if items.iter().any(Json::is_object) => {
                lines += &format!("{margin}{key}:\n");
                for item in items {
                    let entry = text(item, depth + 2);
                    lines += &format!("{margin}  - {}", entry.trim_start());
                }
            }
            value => lines += &format!("{margin}{key}: {}\n", one_line(value)),
        }
    }
    lines
}

fn one_line(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Array(items) if items.is_empty() => "none".to_owned(),
        Json::Array(items) => items.iter().map(one_line).collect::<Vec<_>>().join(", "),
        Json::Number(number) if number.is_f64() => shorter(number.as_f64().unwrap_or_default()),
        other => other.to_string(),
    }
}

/// Six digits are enough for people.
fn shorter(value: f64) -> String {
    let digits = 6 - (value.abs().max(1e-12).log10().floor() as i32).clamp(-12, 5);
    let factor = 10_f64.powi(digits);
    let rounded = (value * factor).round() / factor;
    (if rounded.is_finite() { rounded } else { value }).to_string()
}
