//! Bakes that are killed, watched or disturbed while they run.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Stdio};
use std::time::Duration;

use crate::{Place, TINY};

/// A bake that would run for a long time; comes back after its fifth frame.
fn start(place: &Place) -> (Child, BufReader<ChildStdout>) {
    let endless = ["bake", "scene.toml", "--out", "job", "--set", "scene.frames=1-100000", "--progress", "plain"];
    let mut child = place.command(&endless).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("frame 5 of") {
        line.clear();
        assert!(lines.read_line(&mut line).unwrap() > 0, "lines come while the bake runs");
    }
    (child, lines)
}

#[test]
fn a_killed_bake_leaves_no_half_files_and_can_be_restarted() {
    let place = Place::new(TINY);
    let (mut child, _lines) = start(&place);
    child.kill().unwrap();
    child.wait().unwrap();
    let names: Vec<String> = place
        .files("job")
        .iter()
        .map(|(path, _)| path.strip_prefix(place.path("job")).unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(names, [".lock", "bake.kc.partial", "frames.jsonl", "manifest.json", "rest/sheet.obj"]);
    assert_eq!(place.json("job/manifest.json")["status"], "running");
    place.run(&["inspect", "job/bake.kc.partial"]).succeeds();
    place.bake(&[]).ends_with(3, &["a bake that was interrupted", "--restart"]);
    place.run(&["convert", "job", "--to", "mdd"]).ends_with(0, &["did not finish"]);
    place.bake(&["--restart"]).succeeds();
    assert!(place.path("job/bake.kc").exists());
    assert!(!place.path("job/bake.kc.partial").exists() && !place.path("job/sheet.mdd").exists());
}

#[test]
fn two_writers_of_one_job_are_refused() {
    let place = Place::new(TINY);
    let (mut child, _lines) = start(&place);
    for arguments in [&["bake", "scene.toml", "--out", "job", "--restart"][..], &["convert", "job", "--to", "pc2"]] {
        place.run(arguments).ends_with(74, &["held by another process"]);
    }
    child.kill().unwrap();
    child.wait().unwrap();
    place.bake(&["--restart"]).succeeds();
}

#[test]
fn a_reader_that_goes_away_does_not_disturb_a_bake() {
    let place = Place::new(TINY);
    for arguments in [&["bake", "scene.toml", "--progress", "plain"][..], &["schema"], &["completions", "bash"]] {
        let mut command = place.command(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut log = String::new();
        child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0), "{log}");
        assert!(!log.contains("panicked"), "{log}");
    }
    assert!(place.path("output/tiny/bake.kc").exists());
}

/// The most memory that a bake of so many frames had [kB].
fn peak_memory(frames: u32) -> u64 {
    let place = Place::new(TINY);
    let frames = format!("scene.frames=1-{frames}");
    let larger = "cloth.sheet.mesh={ sheet = { vertices = [13, 13], size = [1.0, 1.0] } }";
    let arguments = ["bake", "scene.toml", "--set", &frames, "--set", larger, "--set", "scene.substeps=1"];
    let mut child = place
        .command(&[&arguments[..], &["--progress", "none", "--threads", "1"]].concat())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
        peak = peak.max(line.trim().trim_end_matches(" kB").parse().unwrap_or(0));
        std::thread::sleep(Duration::from_micros(500));
    }
    assert!(child.wait().unwrap().success() && peak > 0);
    peak
}

#[test]
fn memory_does_not_grow_with_the_number_of_frames() {
    let (few, many) = (peak_memory(20), peak_memory(2000));
    // The positions alone of 1980 frames of 169 vertices would be 4 MB.
    assert!(many < few + 1000, "{few} kB for 20 frames, {many} kB for 2000");
}
