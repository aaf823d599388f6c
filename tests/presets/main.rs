//! Every preset through the program, with its own gates; the long tier bakes all of their frames.
#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

#[cfg(feature = "gpu")]
mod device;
#[path = "../support/mod.rs"]
mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use kiln::cache::frames_log::ObjectRecord;
use kiln::model::Promise;

fn presets() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("presets");
    let mut scenes: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    scenes.sort();
    scenes
}

fn kiln(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kiln")).args(arguments).output().unwrap()
}

#[track_caller]
fn assert_success(output: &Output) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{:?}\n{}\n{}", output.status, text(&output.stdout), text(&output.stderr));
}

/// Whether a preset dresses the walking figure first.
fn has_a_figure(preset: &str) -> bool {
    ["skirt_walk", "two_layers", "soft_pack"].contains(&preset)
}

#[test]
fn every_preset_bakes_within_its_gates() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(presets().len(), 18);
    for preset in presets() {
        let name = preset.file_stem().unwrap().to_str().unwrap();
        let out = folder.path().join(name);
        // Seven frames reach the table and the ball, eleven the floor.
        let frames = match name {
            "ducks_and_tori" | "bears" => "scene.frames=1-6",
            _ if cloths(&preset).is_empty() => "scene.frames=1-12",
            _ => "scene.frames=1-8",
        };
        let mut shorter = if support::full() { vec![] } else { vec!["--set", frames] };
        if !support::full() && has_a_figure(name) {
            shorter.extend(["--set", "scene.dress_blend=12", "--set", "scene.settle=2"]);
        }
        let arguments = ["bake", preset.to_str().unwrap(), "--progress", "none", "--out", out.to_str().unwrap()];
        let output = kiln(&[&arguments[..], &shorter].concat());
        assert_success(&output);
        print!("{name}\n{}", String::from_utf8_lossy(&output.stderr));
        let text = std::fs::read_to_string(&preset).unwrap();
        assert!(text.starts_with("# ") && text.contains("# Look for: "), "{name} says what to look for");
        // Some have a body that must not keep its volume.
        let promises = match name {
            "pressed_balls" | "twisted_bars" | "recovery" => "[gates]\nmax_penetration = ",
            _ if cloths(&preset).is_empty() => "[gates]\nmax_volume_error = ",
            _ => "[gates]\nmax_stretch = ",
        };
        assert!(text.contains(promises), "{name} has gates");
        let frames = kiln::cache::frames_log::read(&out.join("frames.jsonl")).unwrap();
        let contacts = frames.iter().flat_map(|frame| &frame.objects).map(|object| object.contacts).max().unwrap();
        let touching = ["tablecloth", "ball_sheet", "render_mesh", "jelly"];
        assert!(contacts > 0 || !touching.contains(&name), "{name} touches nothing");
    }
}

/// The names of a preset's cloths.
fn cloths(preset: &Path) -> Vec<String> {
    let scene: toml::Table = std::fs::read_to_string(preset).unwrap().parse().unwrap();
    let cloths = scene.get("cloth").and_then(toml::Value::as_array).into_iter().flatten();
    cloths.map(|cloth| cloth["name"].as_str().unwrap().to_owned()).collect()
}

/// Bake some frames with a solver; no visible edge that is not between two pins may be longer than allowed in any of them.
#[track_caller]
fn keeps_its_promise(solver: &str, frames: &str) {
    let folder = tempfile::tempdir().unwrap();
    let mut missed = Vec::new();
    for preset in presets().iter().filter(|preset| !cloths(preset).is_empty()) {
        let name = preset.file_stem().unwrap().to_str().unwrap();
        let out = folder.path().join(name);
        let mut changes = vec![format!("scene.frames={frames}"), "gates={}".to_owned(), "output.formats=[]".to_owned()];
        changes.extend(cloths(preset).iter().map(|cloth| format!("cloth.{cloth}.solver={solver}")));
        if has_a_figure(name) {
            changes.extend(["scene.dress_blend=4".to_owned(), "scene.settle=1".to_owned()]);
        }
        let arguments = ["bake", preset.to_str().unwrap(), "--progress", "none", "--out", out.to_str().unwrap()];
        let changes = changes.iter().flat_map(|change| ["--set", change]);
        assert_success(&kiln(&arguments.into_iter().chain(changes).collect::<Vec<_>>()));
        for frame in kiln::cache::frames_log::read(&out.join("frames.jsonl")).unwrap() {
            // Thickness may yield to both for a moment.
            let is_broken =
                |object: &&ObjectRecord| object.degraded.iter().any(|broken| broken.promise <= Promise::Stretch);
            for object in frame.objects.iter().filter(is_broken) {
                missed.push(format!("{name} {} frame {}: {:?}", object.name, frame.frame, object.degraded));
            }
        }
    }
    assert!(missed.is_empty(), "{solver}: {missed:#?}");
}

#[test]
fn the_promise_holds_with_strips() {
    keeps_its_promise("strips", if support::full() { "1-48" } else { "1-8" });
}

#[test]
fn the_promise_holds_with_the_direct_solver() {
    keeps_its_promise("direct", if support::full() { "1-12" } else { "1-3" });
}

#[test]
fn the_promise_holds_with_conjugate_gradients() {
    keeps_its_promise("pcg", if support::full() { "1-12" } else { "1-3" });
}

#[test]
fn stores_are_byte_equal_for_1_2_3_8_threads() {
    // It lies on the ball from the first frame on.
    let on_the_ball = ["cloth.sheet.transform.translate=[0, 1.001, 0]", "scene.frames=1-4", "scene.substeps=30"];
    let walking = ["scene.dress_blend=2", "scene.settle=1", "scene.frames=1-3", "scene.substeps=40"];
    // On the floor, and the one caught in the cloth.
    let jelly = ["soft_body.soft.transform.translate=[-0.8, 0.31, 0]", "scene.frames=1-4"];
    let caught = ["soft_body.ball.transform.translate=[0.12, 1.23, 0.05]", "scene.frames=1-4"];
    let scenes = [
        ("ball_sheet", on_the_ball.as_slice()),
        ("two_layers", walking.as_slice()),
        ("jelly", jelly.as_slice()),
        ("ball_on_cloth", caught.as_slice()),
        ("three_kinds", &["soft_body.bear.transform.translate=[0.05, 1.27, 0.03]", "scene.frames=1-4"]),
    ];
    for (preset, changes) in scenes {
        let folder = tempfile::tempdir().unwrap();
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("presets/{preset}.toml"));
        let bake = |threads: &str| {
            let out = folder.path().join(threads);
            let arguments = ["bake", file.to_str().unwrap(), "--threads", threads, "--out", out.to_str().unwrap()];
            let changes = changes.iter().chain(&["gates={}"]).flat_map(|change| ["--set", change]);
            assert_success(&kiln(&arguments.into_iter().chain(changes).collect::<Vec<_>>()));
            std::fs::read(out.join("bake.kc")).unwrap()
        };
        let one = bake("1");
        for threads in ["2", "3", "8"] {
            assert!(bake(threads) == one, "{preset}: {threads} threads give other bytes than one");
        }
    }
}

#[test]
fn an_independent_validator_accepts_the_presets_by_the_published_schema() {
    let schema = kiln(&["schema"]);
    assert_success(&schema);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("schema.json");
    std::fs::write(&file, &schema.stdout).unwrap();
    let script = "import json, sys, tomllib, jsonschema
validator = jsonschema.Draft202012Validator(json.load(open(sys.argv[1])))
validator.check_schema(validator.schema)
for path in sys.argv[2:]:
    scene = tomllib.load(open(path, 'rb'))
    validator.validate(scene)
    scene['scene']['framse'] = '1-2'
    assert not validator.is_valid(scene), 'a misspelt key passes'
";
    let python =
        std::env::var_os("KILN_TEST_PYTHON").expect("tests/run installs the clients and sets KILN_TEST_PYTHON");
    let output = Command::new(python).args(["-c", script]).arg(file).args(presets()).output().unwrap();
    assert_success(&output);
}
