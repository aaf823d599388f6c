//! What goes to standard output, what to standard error, and in which form.

use serde_json::Value as Json;

use crate::{Place, TINY};

#[test]
fn plain_progress_is_one_line_a_frame_on_standard_output() {
    let place = Place::new(TINY);
    let run = place.bake(&["--set", "scene.preroll=1"]).succeeds();
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!(lines.len(), 5, "{}", run.out);
    assert_eq!(lines[0], "Progress: 20% pre-roll 1, 4 substeps");
    assert!(lines[1].starts_with("Progress: 40% frame 1 of 1-4, 0.") && lines[1].ends_with("stretch 0.00 %"));
    assert!(lines[4].starts_with("Progress: 100% frame 4 of 1-4, "));
    assert!(!run.err.contains("Progress"));
    assert!(run.err.starts_with("kiln "));
    assert!(run.err.trim_end().ends_with("done [exit code 0: ok]"));
}

#[test]
fn json_progress_parses_and_only_grows() {
    let place = Place::new(TINY);
    let run = place.bake(&["--progress", "json", "--set", "scene.name=ERROR", "--set", "scene.preroll=2"]).succeeds();
    let events: Vec<Json> = run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    let expected = ["started", "preroll", "preroll", "frame", "frame", "frame", "frame", "caches", "finished"];
    assert_eq!(kinds, expected);
    assert_eq!((&events[0]["scene"], &events[0]["total"]), (&"ERROR".into(), &6.into()));
    let percents: Vec<u64> = events.iter().filter_map(|event| event["percent"].as_u64()).collect();
    assert!(percents.is_sorted() && percents.last() == Some(&100), "{percents:?}");
    let frames: Vec<i64> = events.iter().filter_map(|event| event["frame"].as_i64()).collect();
    assert_eq!(frames, [1, 2, 3, 4]);
    assert_eq!((&events[8]["exit_code"], &events[8]["exit_name"]), (&0.into(), &"ok".into()));
    let run = place.bake(&["--progress", "json"]).ends_with(3, &[]);
    let last: Json = serde_json::from_str(run.out.lines().last().unwrap()).unwrap();
    assert_eq!((&last["event"], &last["exit_code"]), (&"finished".into(), &3.into()));
}

#[test]
fn json_progress_tells_the_end_exactly_once_whatever_it_is() {
    let gate = ["--set", "gates.max_stretch=1e-12", "--set", "cloth.sheet.pins=[{ vertices = [0] }]"];
    let ends: [(&[&str], i32, &str); 5] = [
        (&["--set", "scene.frames=none"], 3, "input invalid"),
        (&["--set", "cloth.sheet.mesh=nothing.obj"], 3, "input invalid"),
        (&["--out", "scene.toml/job"], 74, "input/output"),
        (&gate, 5, "gate failed"),
        (&["--restart"], 0, "ok"),
    ];
    for (arguments, code, name) in ends {
        let place = Place::new(TINY);
        let run = place.run(&[&["bake", "scene.toml", "--progress", "json"], arguments].concat()).ends_with(code, &[]);
        let events: Vec<Json> = run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(events.iter().filter(|event| event["event"] == "finished").count(), 1, "{}", run.out);
        let last = events.last().unwrap();
        assert_eq!((&last["exit_code"], &last["exit_name"]), (&code.into(), &name.into()));
    }
}

#[test]
fn no_progress_and_a_bar_leave_standard_output_empty() {
    for style in ["none", "bar"] {
        assert_eq!(Place::new(TINY).bake(&["--progress", style]).succeeds().out, "");
    }
}

/// What the program shows on a terminal (of `script`, which every Debian has).
fn on_a_terminal(place: &Place, arguments: &str, variables: &[(&str, &str)]) -> String {
    let program = format!("{} {arguments}", env!("CARGO_BIN_EXE_kiln"));
    let mut command = std::process::Command::new("script");
    command.args(["-qec", &program, "/dev/null"]).current_dir(place.path("")).stdin(std::process::Stdio::null());
    let output = command.env_remove("NO_COLOR").env("TERM", "xterm").envs(variables.iter().copied()).output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_terminal_gets_a_bar_and_colours_unless_no_color_is_set() {
    let place = Place::new(&TINY.replace("bend = 0.01", "bend = 1e-5"));
    let shown = on_a_terminal(&place, "bake scene.toml", &[]);
    assert!(shown.contains("100%") && !shown.contains("Progress: "), "{shown:?}");
    assert!(on_a_terminal(&place, "check scene.toml", &[]).contains("\u{1b}[33m"));
    assert!(!on_a_terminal(&place, "check scene.toml", &[("NO_COLOR", "1")]).contains('\u{1b}'));
}

#[test]
fn json_commands_print_exactly_one_document() {
    let place = Place::new(&format!("{TINY}[output]\nformats = [\"pc2\", \"mdd\"]\n"));
    place.bake(&[]).succeeds();
    let paths = ["job", "job/bake.kc", "job/sheet.pc2", "job/sheet.mdd", "job/rest/sheet.obj", "scene.toml"];
    let kinds = ["job", "store", "pc2", "mdd", "mesh", "scene"];
    for (path, kind) in paths.into_iter().zip(kinds) {
        let run = place.run(&["inspect", path, "--json"]).succeeds();
        let report: Json = serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert_eq!(report["kind"], kind);
        let text = place.run(&["inspect", path]).succeeds().out;
        assert!(text.starts_with(&format!("kind: {kind}\n")), "{text}");
    }
    let schema: Json = serde_json::from_str(&place.run(&["schema"]).succeeds().out).unwrap();
    assert_eq!(schema["title"], "Kiln scene");
}

#[test]
fn every_option_has_a_twin_in_the_environment_and_the_option_wins() {
    let place = Place::new(TINY);
    let bake = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = place.command(&[&["bake", "scene.toml"], arguments].concat());
        crate::Run::new(command.envs(variables.iter().copied()).output().unwrap())
    };
    let variables = [
        ("KILN_OUT", "elsewhere"),
        ("KILN_PROGRESS", "json"),
        ("KILN_THREADS", "1"),
        ("KILN_FRAMES", "2-3"),
        ("KILN_SET", "scene.preroll=1\nscene.gravity=[0, -1, 0]"),
    ];
    let run = bake(&["--frames", "4"], &variables).ends_with(0, &["1 thread\n", "1 written", "1 of pre-roll"]);
    assert!(run.out.starts_with("{\"event\":\"started\""));
    let scene = &place.json("elsewhere/manifest.json")["scene"];
    assert_eq!((&scene["written_frames"][0], &scene["gravity"][1]), (&4.into(), &(-1.0).into()));
    bake(&["--out", "elsewhere"], &[("KILN_RESTART", "0")]).ends_with(3, &["--restart"]);
    bake(&["--out", "elsewhere"], &[("KILN_RESTART", "1")]).succeeds();
    bake(&[], &[("KILN_THREADS", "0")]).ends_with(2, &["--threads"]);
}
