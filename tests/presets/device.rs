//! The presets on a device against the processor: 20 steps end within a ten thousandth of their size, and whole bakes keep their gates.
//!
//! The adapter is Mesa's software Vulkan, or the one that `KILN_TEST_ADAPTER` names. The quick tier takes one preset of every family, with at most
//! 2000 vertices; the long tier all of them as they are.

use std::path::Path;
use std::process::Output;

use kiln::bake::frame_loop::FrameLoop;
use kiln::solver::device::{DeviceChoice, DeviceRequest, open_backend};

use super::kiln;
use super::support::full;

/// A preset, what makes it smaller, and what has it touch something within 20 steps.
struct Family {
    preset: &'static str,
    smaller: &'static [&'static str],
    touching: &'static [&'static str],
}

const fn family(preset: &'static str, smaller: &'static [&'static str], touching: &'static [&'static str]) -> Family {
    Family { preset, smaller, touching }
}

const FAMILIES: [Family; 13] = [
    family(
        "tablecloth",
        &["cloth.cloth.mesh.disc.inner=400", "cloth.cloth.mesh.disc.rim=60"],
        &["cloth.cloth.transform.translate=[0, 0.75, 0]"],
    ),
    family(
        "hanging_sheet",
        &["cloth.sheet.mesh.sheet.vertices=[21, 21]", "cloth.sheet.pins=[{ vertices = [0, 20] }]"],
        &[],
    ),
    family("flag", &["cloth.flag.mesh.sheet.vertices=[31, 21]"], &[]),
    family(
        "ball_sheet",
        &["cloth.sheet.mesh.sheet.vertices=[31, 31]"],
        &["cloth.sheet.transform.translate=[0, 1.005, 0]"],
    ),
    family("render_mesh", &[], &[]),
    family("skirt_walk", &[], &[]),
    family("two_layers", &[], &[]),
    family("jelly", &[], &["soft_body.soft.transform.translate=[-0.8, 0.302, 0]"]),
    family("ball_on_cloth", &[], &["soft_body.ball.transform.translate=[0.12, 1.23, 0.05]"]),
    family("tree", &[], &[]),
    family("soft_pack", &[], &[]),
    family(
        "twisted_bars",
        &["soft_body.kept.mesh.box.vertices=[5, 21, 5]", "soft_body.lost.mesh.box.vertices=[5, 21, 5]"],
        &[],
    ),
    family(
        "three_kinds",
        &["soft_body.bear.mesh={ sphere = { radius = 0.15, rings = 15, segments = 16 } }"],
        &["soft_body.box.transform.translate=[0, 0.755, 0]", "soft_body.bear.transform.translate=[0.05, 1.1, 0.03]"],
    ),
];
/// Presets that only the long tier takes: too large for a software adapter otherwise.
const LARGE: [Family; 6] = [
    family("pressed_balls", &[], &[]),
    family("recovery", &[], &[]),
    family("balls_in_glass", &[], &[]),
    family("ducks_and_tori", &[], &[]),
    family("bears", &[], &[]),
    family("three_kinds", &[], &[]),
];

fn device() -> String {
    format!("gpu:{}", std::env::var("KILN_TEST_ADAPTER").unwrap_or_else(|_| "vulkan:llvmpipe".to_owned()))
}

fn families() -> Vec<&'static Family> {
    FAMILIES.iter().chain(if full() { &LARGE[..] } else { &[] }).collect()
}

/// Bake a preset with some changes.
fn bake(preset: &str, device: &str, out: &Path, changes: &[&str]) -> Output {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("presets/{preset}.toml"));
    let arguments =
        ["bake", file.to_str().unwrap(), "--progress", "none", "--device", device, "--out", out.to_str().unwrap()];
    let changes = changes.iter().flat_map(|change| ["--set", change]);
    kiln(&arguments.into_iter().chain(changes).collect::<Vec<_>>())
}

/// Where everything is after 20 steps: of the first frame that is simulated, in which a character begins to dress.
fn after_twenty_steps(family: &Family, device: &DeviceChoice) -> Vec<[f32; 3]> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("presets/{}.toml", family.preset));
    let changes = ["scene.substeps=20"].iter().chain(family.smaller).chain(family.touching);
    let changes: Vec<String> = changes.map(|change| (*change).to_owned()).collect();
    let scene = kiln::scene::read(&file, &changes, None).unwrap_or_else(|_| panic!("{}", family.preset)).scene;
    let (model, state, _) = kiln::model::build(&scene).unwrap();
    let request = DeviceRequest { choice: device.clone(), ..DeviceRequest::default() };
    let opened = open_backend(&request, &scene, &model).unwrap_or_else(|error| panic!("{error:?}"));
    assert_eq!(opened.device.is_some(), *device != DeviceChoice::Cpu, "{}", opened.line);
    let mut frames = FrameLoop::on(opened.backend, &scene, &model, state);
    if scene.lead_in() > 0 {
        assert_eq!(frames.lead_in().unwrap(), 20);
    } else {
        frames.simulate(scene.first_frame).unwrap();
        assert_eq!(frames.simulate(scene.first_frame + 1).unwrap().substeps, 20);
    }
    frames.objects().iter().flat_map(|object| object.positions.to_vec()).collect()
}

fn extent(points: &[[f32; 3]]) -> f32 {
    let along = |axis: usize| {
        let values = points.iter().map(|p| p[axis]);
        values.clone().fold(f32::NEG_INFINITY, f32::max) - values.fold(f32::INFINITY, f32::min)
    };
    (0..3).map(along).fold(0.0, f32::max)
}

/// How far the ends of 20 steps are apart, in parts of the size of everything.
fn apart(family: &Family) -> f32 {
    let named = DeviceChoice::Named(device().trim_start_matches("gpu:").to_owned());
    let [cpu, gpu] = [DeviceChoice::Cpu, named].map(|device| after_twenty_steps(family, &device));
    let distance = |(a, b): (&[f32; 3], &[f32; 3])| (0..3).map(|n| (a[n] - b[n]).powi(2)).sum::<f32>().sqrt();
    cpu.iter().zip(&gpu).map(distance).fold(0.0, f32::max) / extent(&cpu)
}

#[test]
fn twenty_steps_of_every_family_end_where_the_processor_has_them() {
    let mut far = Vec::new();
    for family in families() {
        let apart = apart(family);
        println!("{}: {apart:.1e}", family.preset);
        if apart.is_nan() || apart >= 1e-4 {
            far.push((family.preset, apart));
        }
    }
    assert!(far.is_empty(), "{far:?}");
}

#[test]
fn bakes_on_a_device_keep_their_gates() {
    let folder = tempfile::tempdir().unwrap();
    let mut missed = Vec::new();
    for family in families() {
        let out = folder.path().join(family.preset);
        let mut changes = family.smaller.to_vec();
        if !full() {
            changes.push("scene.frames=1-5");
            changes.extend(family.touching);
            if super::has_a_figure(family.preset) {
                changes.extend(["scene.dress_blend=6", "scene.settle=1"]);
            }
        }
        let output = bake(family.preset, &device(), &out, &changes);
        let log = String::from_utf8_lossy(&output.stderr).into_owned();
        println!("{}\n{log}", family.preset);
        assert!(log.contains("read-backs"), "{}: nothing was done on the device\n{log}", family.preset);
        if output.status.code() != Some(0) {
            missed.push((family.preset, output.status));
        }
    }
    assert!(missed.is_empty(), "{missed:?}");
}
