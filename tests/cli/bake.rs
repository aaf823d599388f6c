//! What a bake writes, and how it ends.

use kiln::cache::frames_log;
use kiln::cache::manifest::Manifest;
use kiln::cache::store::{StoreReader, StoredFrame};

use crate::{Place, TINY};

#[test]
fn a_bake_writes_store_log_manifest_rest_mesh_and_caches() {
    let place = Place::new(&format!("{TINY}[output]\nformats = [\"pc2\", \"mdd\", \"obj\"]\n"));
    place.bake(&[]).ends_with(0, &["kiln 0.1.0", "thread", "scene \"tiny\"", "25 vertices", "exit code 0: ok"]);
    let manifest = place.json("job/manifest.json");
    assert_eq!((&manifest["status"], &manifest["exit_code"]), (&"complete".into(), &0.into()));
    assert_eq!(manifest["frames"], serde_json::json!({ "first": 1, "last": 4, "written": 4 }));
    let caches: Vec<&str> =
        manifest["caches"].as_array().unwrap().iter().map(|cache| cache["file"].as_str().unwrap()).collect();
    assert_eq!(
        caches,
        ["sheet.pc2", "sheet.mdd", "sheet.0001.obj", "sheet.0002.obj", "sheet.0003.obj", "sheet.0004.obj"]
    );
    for cache in manifest["caches"].as_array().unwrap() {
        let file = place.read(&format!("job/{}", cache["file"].as_str().unwrap()));
        assert_eq!(cache["bytes"], file.len());
    }
    assert!(String::from_utf8(place.read("job/rest/sheet.obj")).unwrap().contains("\nf 1/1 6/6 7/7\n"));
    let records = frames_log::read(&place.path("job/frames.jsonl")).unwrap();
    assert_eq!(records.iter().map(|record| record.frame).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert_eq!(records.iter().map(|record| record.substeps).collect::<Vec<_>>(), [0, 4, 4, 4]);
    assert!(records.iter().all(|record| record.written && record.objects[0].name == "sheet"));
    assert!(!place.path("job/bake.kc.partial").exists());
}

/// Height and vertical speed of the first vertex in every stored frame.
fn heights(place: &Place) -> Vec<(i64, f32, f32)> {
    let mut reader = StoreReader::open(&place.path("job/bake.kc")).unwrap();
    let mut frame = StoredFrame::default();
    let read = |index| {
        reader.read(index, &mut frame).unwrap();
        (frame.frame, frame.objects[0].positions[0][1], frame.objects[0].velocities[0][1])
    };
    (0..StoreReader::open(&place.path("job/bake.kc")).unwrap().frames().len()).map(read).collect()
}

#[test]
fn the_first_frame_is_the_scene_as_it_stands_and_the_preroll_comes_before_it() {
    let place = Place::new(&TINY.replace("[[cloth]]", "[air]\ndrag = 0\n[[cloth]]"));
    place.bake(&[]).succeeds();
    let still = heights(&place);
    assert_eq!((still[0].1, still[0].2), (0.0, 0.0));
    place.bake(&["--set", "scene.preroll=2", "--restart"]).succeeds();
    let rolled = heights(&place);
    assert_eq!(rolled[0].1, still[2].1, "two frames of pre-roll are two frames of falling");
    assert_eq!(rolled[1].1, still[3].1);
    assert_eq!(frames_log::read(&place.path("job/frames.jsonl")).unwrap().len(), 4, "the pre-roll is not logged");
}

#[test]
fn everything_waits_while_the_cloth_settles_and_moves_in_the_preroll() {
    let lift = "{ translate = { keys = [[0, [0, 0, 0]], [10, [0, 1, 0]]] } }";
    let held = format!("{TINY}pins = [{{ sphere = {{ center = [0, 0, 0], radius = 9 }}, follow = {lift} }}]\n");
    let place = Place::new(&held.replace("1-4", "5-6"));
    for (lead_in, at_first_frame) in [("settle=3", 0.0), ("preroll=3", 0.3), ("dress_blend=3", 0.0)] {
        place.bake(&["--set", &format!("scene.{lead_in}"), "--restart"]).succeeds();
        let heights = heights(&place);
        assert!((heights[0].1 - at_first_frame).abs() < 1e-6, "{lead_in}: {heights:?}");
        assert!((heights[1].1 - at_first_frame - 0.1).abs() < 1e-6, "{lead_in}: {heights:?}");
    }
}

#[test]
fn frames_select_what_is_written_but_not_what_is_simulated() {
    let place = Place::new(TINY);
    place.bake(&[]).succeeds();
    let all = heights(&place);
    place.bake(&["--frames", "2-4x2", "--restart"]).succeeds();
    assert_eq!(heights(&place), [all[1], all[3]]);
    let records = frames_log::read(&place.path("job/frames.jsonl")).unwrap();
    assert_eq!(records.iter().map(|record| record.written).collect::<Vec<_>>(), [false, true, false, true]);
    place.bake(&["--frames", "3-9", "--restart"]).ends_with(3, &["frame 5 is not in this scene", "1 to 4"]);
}

#[test]
fn vertices_without_a_face_stay_where_they_are() {
    let place = Place::new(&TINY.replace("{ sheet = { vertices = [5, 5], size = [1.0, 1.0] } }", "\"cloth.obj\""));
    place.write("cloth.obj", "v 7 8 9\nv 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\nf 2 3 4 5\nv 3 3 3\n");
    place.bake(&[]).ends_with(0, &["2 vertices without a face"]);
    let mut reader = StoreReader::open(&place.path("job/bake.kc")).unwrap();
    let mut frame = StoredFrame::default();
    reader.read(3, &mut frame).unwrap();
    let object = &frame.objects[0];
    assert_eq!((object.positions.len(), object.positions[0], object.positions[5]), (6, [7.0, 8.0, 9.0], [3.0; 3]));
    assert_eq!((object.velocities[0], object.velocities[5]), ([0.0; 3], [0.0; 3]));
    assert!(object.positions[1][1] < 0.0 && object.velocities[1][1] < 0.0);
}

#[test]
fn a_missed_gate_finishes_everything_and_exits_with_5() {
    let place = Place::new(&format!("{TINY}pins = [{{ vertices = [0, 4] }}]\n[gates]\nmax_stretch = 1e-9\n"));
    let words = ["gate max_stretch missed", "\"sheet\"", "at frame", "the limit is 0.000 %", "gate failed"];
    place.bake(&[]).ends_with(5, &words);
    let manifest = place.json("job/manifest.json");
    assert_eq!((&manifest["status"], &manifest["exit_code"]), (&"gates_failed".into(), &5.into()));
    assert_eq!(manifest["frames"]["written"], 4);
    assert!(place.path("job/sheet.pc2").exists() && place.path("job/bake.kc").exists());
    let before = place.files("job");
    place.bake(&[]).ends_with(5, &["nothing to do", "gate max_stretch missed"]);
    assert_eq!(place.files("job"), before);
    place.bake(&["--restart", "--set", "gates.max_stretch=10"]).ends_with(0, &["within its limit"]);
}

/// Frames of a century each: sooner or later a fall leaves the numbers that a cache can hold.
const ENDLESS_FALL: &str = r#"[scene]
name = "fall"
fps = "1/4294967295"
frames = "1-20000"
substeps = 1
gravity = { keys = [[1, [0, 0, 0]], [3, [0, -1e12, 0]]], interpolation = "step" }
[air]
drag = 0
[[cloth]]
name = "sheet"
mesh = { sheet = { vertices = [5, 5], size = [1.0, 1.0] } }
bend = 0
"#;

#[test]
fn a_state_that_is_not_finite_stops_the_bake_with_4_and_keeps_the_frames_before() {
    let place = Place::new(ENDLESS_FALL);
    let run =
        place.bake(&[]).ends_with(4, &["of vertex ", " of \"sheet\" is not finite at frame ", "simulation failed"]);
    let number = run.err.split("at frame ").nth(1).unwrap().split(';').next().unwrap();
    let failed: i64 = number.parse().unwrap();
    assert!(failed > 3, "nothing falls before frame 3");
    let reader = StoreReader::open(&place.path("job/bake.kc.partial")).unwrap();
    assert_eq!(reader.frames(), (1..failed).collect::<Vec<_>>());
    assert!(!place.path("job/bake.kc").exists() && !place.path("job/sheet.pc2").exists());
    assert_eq!(frames_log::read(&place.path("job/frames.jsonl")).unwrap().len(), reader.frames().len());
    let manifest = place.json("job/manifest.json");
    assert_eq!((&manifest["status"], &manifest["exit_code"]), (&"failed".into(), &4.into()));
    assert!(manifest["message"].as_str().unwrap().ends_with(&format!("frame {failed}")));
    place.run(&["inspect", "job/bake.kc.partial"]).succeeds();
    place.bake(&[]).ends_with(3, &["a bake that failed", "--restart"]);
    place
        .run(&["convert", "job", "--to", "pc2"])
        .ends_with(0, &["did not finish", &format!("has {} frames", failed - 1)]);
}

#[test]
fn a_preroll_that_is_not_finite_stops_the_bake_too() {
    let place = Place::new(ENDLESS_FALL);
    let settle = ["--set", "scene.frames=3-4", "--set", "scene.settle=20000"];
    place.bake(&settle).ends_with(4, &["is not finite in the pre-roll of frame 3"]);
    assert!(StoreReader::open(&place.path("job/bake.kc.partial")).unwrap().frames().is_empty());
    place.run(&["convert", "job", "--to", "pc2"]).ends_with(3, &["holds no frame"]);
}

#[test]
fn the_demo_needs_no_scene_and_goes_to_output() {
    let place = Place::new(TINY);
    let smaller = ["--set", "cloth.cloth.mesh={ disc = { radius = 0.75, inner = 30, rim = 12 } }"];
    let shorter = ["--set", "scene.frames=1-3", "--set", "scene.substeps=4"];
    place.run(&[&["bake"][..], &smaller, &shorter].concat()).succeeds();
    assert!(place.path("output/tablecloth/cloth.pc2").exists());
}

#[test]
fn a_cloth_that_stretches_too_far_is_named_without_a_gate() {
    let place = Place::new(TINY);
    let apart = "{ translate = { keys = [[1, [0, 0, 0]], [24, [0.5, 0, 0.5]]] } }";
    let pins = format!("cloth.sheet.pins=[{{ vertices = [0] }}, {{ vertices = [24], follow = {apart} }}]");
    let torn = ["--set", &pins, "--set", "scene.frames=1-24"];
    place.bake(&torn).ends_with(0, &["warning: \"sheet\" stretched by", "max_stretch of 1.000 %"]);
    let lines = std::fs::read_to_string(place.path("job/frames.jsonl")).unwrap();
    assert!(lines.contains(r#""degraded":[{"promise":"stretch","count":"#), "{lines}");
    // Strictly it ends with the frame that is the first to be too long, and keeps those before it.
    let strict = [&torn[..], &["--strict", "--restart"]].concat();
    place
        .bake(&strict)
        .ends_with(4, &["breaks its promise of stretch at", "bake without --strict", "simulation failed"]);
    let kept = StoreReader::open(&place.path("job/bake.kc.partial")).unwrap().frames().len();
    assert!((1..24).contains(&kept), "{kept}");
    place.bake(&["--strict", "--restart", "--set", "scene.frames=1-8"]).succeeds();
}

#[test]
fn a_tangled_start_is_told_and_recorded() {
    let second = "[[cloth]]\nname = \"other\"\nmesh = { sheet = { vertices = [5, 5], size = [1.0, 1.0] } }\n\
                  transform = { rotate = [90, 0, 0], translate = [0.1, 0.05, 0.03] }\n";
    let place = Place::new(&format!("{TINY}{second}"));
    let checked = place.run(&["check", "scene.toml"]).succeeds();
    assert!(checked.out.contains("\"other\" starts with") && checked.out.contains("`layer` tells"), "{}", checked.out);
    let told = ["\"sheet\" started with", "crossings); at the first frame they have moved by up to 0.0 mm"];
    place.bake(&[]).ends_with(0, &told);
    let manifest = Manifest::read(&place.path("job/manifest.json")).unwrap();
    assert_eq!(manifest.tangled.iter().map(|start| start.object.as_str()).collect::<Vec<_>>(), ["sheet", "other"]);
    assert!(manifest.tangled.iter().all(|start| start.crossings > 0 && !start.vertices.is_empty()), "{manifest:?}");
    // The finished bake is not strict either.
    place.bake(&["--strict"]).ends_with(4, &["frame 1 of \"sheet\" breaks its promise of crossing with \"other\""]);
}
