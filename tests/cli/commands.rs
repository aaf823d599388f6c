//! The commands besides `bake`, and wrong command lines.

use crate::{Place, TINY};

#[test]
fn wrong_command_lines_exit_with_2() {
    let place = Place::new(TINY);
    let wrong: [&[&str]; 6] = [
        &[],
        &["bakee"],
        &["bake", "--colour"],
        &["bake", "--threads", "0"],
        &["bake", "--progress", "loud"],
        &["convert", "job", "--to", "abc"],
    ];
    for arguments in wrong {
        place.run(arguments).ends_with(2, &["--help"]);
    }
}

#[test]
fn help_lists_every_exit_code() {
    let place = Place::new(TINY);
    let help = place.run(&["--help"]).succeeds().out;
    for exit in kiln::bake::Exit::ALL {
        assert!(help.contains(&format!("{:>3}  {}", exit.number(), exit.name())), "{help}");
    }
    assert_eq!(help.matches("what shells report").count(), 2, "signals end Kiln without its doing");
    assert!(place.run(&["--version"]).succeeds().out.starts_with("kiln 0."));
}

#[test]
fn all_mistakes_of_a_scene_are_told_in_one_run() {
    let scene = TINY.replace("bend", "bendd").replace("\"1-4\"", "\"4-1\"") + "[gates]\nmax_stretch = \"no\"\n";
    let place = Place::new(&scene);
    let words = [
        "scene.toml:3:10",
        "scene.toml:8:1",
        "did you mean `bend`?",
        "max_stretch = \"no\"",
        "3 problems",
        "exit code 3: input invalid",
    ];
    place.bake(&[]).ends_with(3, &words);
    place.run(&["check", "scene.toml"]).ends_with(3, &words);
    assert!(!place.path("job").exists());
    place.run(&["bake", "nothing.toml"]).ends_with(3, &["nothing.toml"]);
    place.bake(&["--set", "cloth.shed.bend=1"]).ends_with(3, &["nothing in `cloth` is called `shed`"]);
}

#[test]
fn mistakes_in_meshes_are_told_beside_those_of_the_scene() {
    let more = r#"pins = [{ vertices = [99] }]
[[cloth]]
name = "flag"
mesh = "flag.obj"
[[cloth]]
name = "bad"
mesh = "flag.obj"
pins = [{ group = "none" }]
strech = 1
[[collider]]
name = "ball"
shape = "sphere"
"#;
    let place = Place::new(&(TINY.replace("substeps = 4", "substeps = 4\nfps = 0") + more));
    place.write("flag.obj", "v 0 0 0\nv 1 0\n");
    let words = ["this is no frame rate", "99", "flag.obj:2", "`strech`", "`center` is missing", "6 problems"];
    let run = place.run(&["check", "scene.toml"]).ends_with(3, &words);
    assert_eq!(run.err.matches("flag.obj:2").count(), 1, "{}", run.err);
}

#[test]
fn check_says_what_a_bake_would_take() {
    let place = Place::new(TINY);
    let run = place.run(&["check", "scene.toml", "--frames", "2-3"]).succeeds();
    for part in [
        "25 vertices",
        "25 particles",
        "stretch_only, iterative (its edges can go slack)",
        "substeps: 4",
        "2 written",
        "disk: about 1.2 kB",
    ] {
        assert!(run.out.contains(part), "`{part}` is missing in:\n{}", run.out);
    }
    let warned = place.run(&["check", "scene.toml", "--set", "cloth.sheet.bend=1e-5"]);
    warned.ends_with(0, &["warning: ", "too coarse"]);
    assert!(!place.path("output").exists());
}

#[test]
fn init_writes_a_scene_that_bakes_as_it_is() {
    let place = Place::new(TINY);
    let run = place.run(&["init", "new/shot"]).succeeds();
    assert_eq!(run.out, "next: kiln bake new/shot/scene.toml\n");
    place.run(&["bake", "new/shot/scene.toml", "--out", "job", "--set", "scene.frames=1-12"]).succeeds();
    assert!(place.path("job/curtain.pc2").exists());
    let report = place.run(&["inspect", "new/shot/cloth.obj"]).succeeds().out;
    for part in ["4 corners: 400", "name: top", "boundary loops: 80", "texture coordinates: 441"] {
        assert!(report.contains(part), "{report}");
    }
    std::fs::remove_file(place.path("new/shot/cloth.obj")).unwrap();
    place.run(&["init", "new/shot"]).ends_with(3, &["scene.toml exists already"]);
    assert!(!place.path("new/shot/cloth.obj").exists(), "all or nothing");
}

#[test]
fn converted_caches_are_those_of_the_bake() {
    let place = Place::new(TINY);
    place.run(&["init", "."]).ends_with(3, &["scene.toml"]);
    place.run(&["init", "new"]).succeeds();
    let common = ["bake", "new/scene.toml", "--set", "scene.frames=1-5x2"];
    let placed = ["--set", "output.up=z", "--set", "output.unit=cm", "--set", "output.space=local"];
    let turned = ["--set", "cloth.curtain.transform={ rotate = [10, 20, 30], translate = [0.1, 0.2, 0.3] }"];
    let common = [&common[..], &placed, &turned].concat();
    place
        .run(&[&common[..], &["--out", "all", "--set", "output.formats=[\"pc2\", \"mdd\", \"obj\"]"]].concat())
        .succeeds();
    place.run(&[&common[..], &["--out", "none", "--set", "output.formats=[]"]].concat()).succeeds();
    assert_eq!(place.json("none/manifest.json")["caches"], serde_json::json!([]));
    place.run(&["convert", "none", "--to", "obj,pc2", "--to", "mdd"]).succeeds();
    place.run(&["convert", "all", "--to", "pc2,mdd,obj", "--out", "copies"]).succeeds();
    let files = ["curtain.pc2", "curtain.mdd", "curtain.0001.obj", "curtain.0003.obj", "curtain.0005.obj"];
    for file in files {
        let original = place.read(&format!("all/{file}"));
        assert_eq!(place.read(&format!("none/{file}")), original, "{file}");
        assert_eq!(place.read(&format!("copies/{file}")), original, "{file}");
    }
    assert_eq!(place.json("none/manifest.json")["caches"].as_array().unwrap().len(), files.len());
    let hint = place.run(&["inspect", "all/curtain.mdd"]).succeeds().out;
    assert!(hint.contains("Frame Start 1, Frame Scale 1/2") && hint.contains("unit: cm"), "{hint}");
}

#[test]
fn convert_takes_what_is_stored_and_keeps_whole_caches() {
    let place = Place::new(TINY);
    place.bake(&[]).succeeds();
    let whole = place.read("job/sheet.pc2");
    place.run(&["convert", "job", "--to", "pc2", "--frames", "2-3"]).ends_with(3, &["sheet.pc2", "--out"]);
    assert_eq!(place.read("job/sheet.pc2"), whole);
    place.run(&["convert", "job", "--to", "pc2", "--frames", "2-3", "--out", "part"]).succeeds();
    assert_eq!(place.read("part/sheet.pc2").len(), 32 + 2 * 12 * 25);
    place.run(&["convert", "job", "--to", "mdd", "--frames", "3-9"]).ends_with(3, &["frame 5 is not stored"]);
    place.run(&["convert", "job", "--to", "mdd", "--frames", "3-"]).ends_with(3, &["--frames"]);
    place.run(&["convert", ".", "--to", "mdd"]).ends_with(3, &["not a job folder"]);
    place.run(&["convert", "nowhere", "--to", "mdd"]).ends_with(3, &["not a job folder"]);
}

#[test]
fn irregular_frames_are_warned_of_and_shown_as_such() {
    let place = Place::new(&format!("{TINY}[output]\nformats = [\"pc2\", \"mdd\"]\n"));
    let warnings = |run: crate::Run| run.err.matches("warning: the written frames are irregular").count();
    let uneven = ["--frames", "1,2,4"];
    assert_eq!(warnings(place.run(&[&["check", "scene.toml"], &uneven[..]].concat()).succeeds()), 1);
    assert_eq!(warnings(place.bake(&uneven).succeeds()), 1);
    assert_eq!(warnings(place.run(&["convert", "job", "--to", "pc2,mdd", "--out", "copies"]).succeeds()), 1);
    for (file, other) in
        [("job/sheet.pc2", "frames per sample: irregular"), ("job/sheet.mdd", ""), ("copies/sheet.mdd", "")]
    {
        let report = place.run(&["inspect", file]).succeeds().out;
        assert!(report.contains("irregular") && report.contains(other), "{report}");
        assert!(!report.contains("Frame Scale"), "{report}");
    }
    assert_eq!(warnings(place.run(&["convert", "job", "--to", "obj"]).succeeds()), 0);
    assert_eq!(warnings(place.bake(&["--frames", "1-4x3", "--restart"]).succeeds()), 0);
    assert!(place.run(&["inspect", "job/sheet.pc2"]).succeeds().out.contains("Frame Scale 1/3"));
}

#[test]
fn convert_has_its_own_names_in_the_environment() {
    let place = Place::new(TINY);
    place.bake(&[]).succeeds();
    let mut command = place.command(&["convert", "job", "--to", "mdd"]);
    command.envs([("KILN_OUT", "wrong"), ("KILN_FRAMES", "9")]);
    command.envs([("KILN_CONVERT_OUT", "right"), ("KILN_CONVERT_FRAMES", "2-3")]);
    crate::Run::new(command.output().unwrap()).succeeds();
    assert!(place.path("right/sheet.mdd").exists() && !place.path("wrong").exists());
    let help = place.run(&["convert", "--help"]).succeeds().out;
    assert!(help.contains("KILN_CONVERT_OUT") && help.contains("KILN_CONVERT_FRAMES"), "{help}");
}

#[test]
fn damage_is_found_by_inspect_and_convert() {
    let place = Place::new(TINY);
    place.bake(&[]).succeeds();
    let mut store = place.read("job/bake.kc");
    let middle = store.len() / 2;
    store[middle] ^= 1;
    place.write("job/bake.kc", store);
    place.run(&["inspect", "job/bake.kc"]).ends_with(3, &["is damaged"]);
    place.run(&["convert", "job", "--to", "mdd"]).ends_with(3, &["is damaged"]);
    assert!(!place.path("job/sheet.mdd").exists());
    place.write("job/rest/sheet.obj", "v 1 2");
    place.run(&["convert", "job", "--to", "mdd"]).ends_with(3, &["rest mesh", "--restart"]);
    for (name, content) in [("job/manifest.json", "{"), ("a.pc2", "POINTCACHE2"), ("b.mdd", ""), ("c.kc", "KILN")] {
        place.write(name, content);
        let path = if name.starts_with("job") { "job" } else { name };
        place.run(&["inspect", path]).ends_with(3, &[]);
    }
    for part in ["manifest.json", "frames.jsonl"] {
        place.run(&["inspect", &format!("job/{part}")]).ends_with(3, &[part, "inspect the folder job"]);
    }
    place.run(&["inspect", "nothing.obj"]).ends_with(3, &["nothing.obj"]);
    place.run(&["inspect", "."]).ends_with(3, &["not a job folder"]);
}

#[test]
fn completions_exist_for_common_shells() {
    let place = Place::new(TINY);
    for shell in ["bash", "zsh", "fish", "powershell"] {
        assert!(place.run(&["completions", shell]).succeeds().out.contains("kiln"));
    }
}
