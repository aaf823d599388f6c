//! Soft bodies through the program: what is written and said, what is refused.

use crate::{Place, TINY};

/// A box that lies on a floor, a few cells large, and one frame of it hits the ground.
const BOX: &str = r#"[scene]
name = "soft"
frames = "1-4"
[[soft_body]]
name = "box"
mesh = { box = { size = [0.4, 0.4, 0.4], vertices = [5, 5, 5] } }
transform = { translate = [0, 0.203, 0] }
tetrahedra = { cell = 0.1 }
[[collider]]
name = "floor"
shape = "plane"
point = [0, 0, 0]
normal = [0, 1, 0]
"#;

/// A scene whose soft body is a file.
fn of_file(content: &str, lines: &str) -> Place {
    let place = Place::new(&format!(
        "[scene]\nname = \"soft\"\nframes = \"1-3\"\n[[soft_body]]\nname = \"body\"\nmesh = \"body.obj\"\n{lines}\n"
    ));
    place.write("body.obj", content);
    place
}

/// A closed box of quads from corner to corner.
fn quads([x, y, z]: [f64; 3]) -> String {
    let mut text = String::new();
    for corner in 0..8 {
        let side = |axis: u32, length: f64| if corner >> axis & 1 == 0 { -0.5 * length } else { 0.5 * length };
        text += &format!("v {} {} {}\n", side(0, x), side(1, y), side(2, z));
    }
    text + "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n"
}

#[test]
fn frames_say_what_became_of_the_volume() {
    let place = Place::new(&format!(
        "{BOX}{}",
        TINY.split_once("[[cloth]]").map(|(_, rest)| format!("[[cloth]]{rest}")).unwrap()
    ));
    let run = place.bake(&[]).succeeds();
    for words in
        ["soft body \"box\": 98 vertices", "320 tetrahedra", "64 cells", "max_volume_error of \"box\": at most"]
    {
        assert!(run.err.contains(words), "`{words}` is missing in {}", run.err);
    }
    assert!(!run.err.contains("max_stretch of \"box\"") && !run.err.contains("max_volume_error of \"sheet\""));
    let text = String::from_utf8(place.read("job/frames.jsonl")).unwrap();
    for line in text.lines() {
        let frame: serde_json::Value = serde_json::from_str(line).unwrap();
        let [sheet, soft] = [&frame["objects"][0], &frame["objects"][1]];
        assert_eq!((sheet["name"].as_str(), soft["name"].as_str()), (Some("sheet"), Some("box")));
        assert!(sheet.get("max_volume_error").is_none() && sheet.get("volume_error").is_none());
        let [part, whole] = ["max_volume_error", "volume_error"].map(|key| soft[key].as_f64().unwrap());
        assert!((0.0..=0.005).contains(&part) && whole.abs() <= part, "{part} {whole}");
    }
    assert_eq!(place.read("job/box.pc2").len(), 32 + 4 * 12 * 98);
    assert!(place.run(&["check", "scene.toml"]).succeeds().out.contains("soft body \"box\": 98 vertices, 192 faces"));
    let inspected = place.run(&["inspect", "scene.toml"]).succeeds().out;
    for words in ["lattices:", "tetrahedra: 320", "smallest dihedral angle", "volume: 0.064"] {
        assert!(inspected.contains(words), "`{words}` is missing in {inspected}");
    }
}

#[test]
fn a_missed_gate_is_told() {
    let place = Place::new(&format!("{BOX}[gates]\nmax_volume_error = 1e-12\n"));
    place
        .bake(&["--set", "soft_body.box.transform.translate=[0, 0.201, 0]"])
        .ends_with(5, &["gate max_volume_error missed"]);
}

#[test]
fn render_meshes_are_embedded() {
    // The same mesh again: whatever carries it carries both alike.
    let same = "{ box = { size = [0.4, 0.4, 0.4], vertices = [5, 5, 5] } }";
    let render = |write: &str| format!("soft_body.box.render_mesh={{ mesh = {same}, write = \"{write}\" }}");
    let falls = "scene.frames=1-8";
    let place = Place::new(BOX);
    place.bake(&["--set", &render("beside"), "--set", falls]).succeeds();
    let numbers = |file: &str| -> Vec<f32> {
        place.read(file)[32..].as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
    };
    let [own, rendered] = ["job/box.pc2", "job/box_render.pc2"].map(numbers);
    let farthest = own.iter().zip(&rendered).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(own.len() == rendered.len() && farthest < 1e-6, "{farthest}");
    assert!(place.path("job/rest/box.render.obj").is_file());
    let before = place.read("job/box_render.pc2");
    std::fs::remove_file(place.path("job/box_render.pc2")).unwrap();
    place.run(&["convert", "job", "--to", "pc2"]).succeeds();
    assert_eq!(place.read("job/box_render.pc2"), before);

    // A finer one, written in its place, lies on the floor as well.
    let finer = "soft_body.box.render_mesh={ mesh = { box = { size = [0.4, 0.4, 0.4], vertices = [17, 17, 17] } } }";
    place.bake(&["--set", finer, "--set", falls, "--restart"]).succeeds();
    let bytes = place.read("job/box.pc2");
    let count = u32::from_le_bytes(bytes[16..20].try_into().unwrap()) as usize;
    assert_eq!(count, 6 * 17 * 17 - 12 * 17 + 8);
    let heights: Vec<f32> =
        bytes[bytes.len() - 12 * count..].chunks(12).map(|p| f32::from_le_bytes(p[4..8].try_into().unwrap())).collect();
    let lowest = heights.iter().copied().fold(f32::INFINITY, f32::min);
    assert!((-1e-3..0.01).contains(&lowest), "{lowest}");
}

#[test]
fn render_meshes_follow_matched_shapes() {
    let place = Place::new(BOX);
    let same = "{ box = { size = [0.4, 0.4, 0.4], vertices = [5, 5, 5] } }";
    let render = format!("soft_body.box.render_mesh={{ mesh = {same}, write = \"beside\" }}");
    let matched = "soft_body.box.model=\"shape_matching\"";
    place.bake(&["--set", &render, "--set", matched, "--set", "scene.frames=1-8"]).succeeds();
    let [own, rendered] = ["job/box.pc2", "job/box_render.pc2"].map(|file| place.read(file));
    assert_eq!(own.len(), rendered.len());
    let number = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().unwrap());
    let apart = own[32..].chunks(4).zip(rendered[32..].chunks(4)).map(|(a, b)| (number(a) - number(b)).abs());
    assert!(apart.fold(0.0, f32::max) < 1e-6);
    std::fs::remove_file(place.path("job/box_render.pc2")).unwrap();
    place.run(&["convert", "job", "--to", "pc2"]).succeeds();
    assert_eq!(place.read("job/box_render.pc2"), rendered);
}

#[test]
fn any_triangles_are_a_body_or_are_refused_with_a_reason() {
    // Thin, but something.
    let plate = of_file("v 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\nf 1 2 3 4\n", "");
    plate.run(&["check", "scene.toml"]).ends_with(0, &["warning", "too thin for cells", "`tetrahedra = { cell"]);
    plate.bake(&[]).succeeds();
    let triangle = of_file("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "tetrahedra = { cell = 0.2 }");
    triangle.bake(&[]).ends_with(0, &["too thin"]);
    // Two millimetres at ten centimetres.
    let small = of_file(&quads([0.002; 3]), "tetrahedra = { cell = 0.1 }");
    small.bake(&[]).succeeds();
    // No cell at all, more than fits, or not a number.
    let cube = of_file(&quads([1.0; 3]), "");
    let cell = |length: &str| format!("soft_body.body.tetrahedra={{ cell = {length} }}");
    cube.bake(&["--set", &cell("0")]).ends_with(3, &["0 is too small"]);
    cube.bake(&["--set", &cell("1e-7")]).ends_with(3, &["would take", "would fit"]);
    of_file("v 0 0 0\nv nan 0 0\nv 0 1 0\nf 1 2 3\n", "").bake(&[]).ends_with(3, &["body.obj:2"]);
    of_file("v 0 0 0\nv 0 0 0\nv 0 0 0\nf 1 2 3\n", "").bake(&[]).ends_with(3, &["no triangle with an area"]);
    // A box that is open, and one that passes through another.
    let open = quads([1.0; 3]).replace("f 3 7 8 4\n", "");
    let run = of_file(&open, "tetrahedra = { cell = 0.25 }").run(&["inspect", "scene.toml"]).succeeds();
    let (_, lattices) = run.out.split_once("lattices:").unwrap();
    let volume = lattices.lines().find_map(|line| line.trim().strip_prefix("volume: ")).unwrap();
    assert!((volume.parse::<f64>().unwrap() - 1.0).abs() < 0.1, "{volume}");
}

#[test]
fn pressure_that_would_burst_a_body_is_refused() {
    let place = Place::new(BOX);
    place.bake(&["--set", "soft_body.box.pressure=1e6"]).ends_with(3, &["would blow the body up", "raise `stiffness`"]);
}

#[test]
fn lattices_are_remembered_and_make_no_difference() {
    let place = Place::new(BOX);
    let bake = || {
        let mut command = place.command(&["bake", "scene.toml", "--out", "job", "--restart"]);
        let run = crate::Run::new(command.env("KILN_CACHE", place.path("kept")).output().unwrap());
        run.succeeds();
        place.read("job/bake.kc")
    };
    let first = bake();
    let kept = place.files("kept");
    assert_eq!(kept.len(), 1, "one lattice");
    assert_eq!(bake(), first);
    assert_eq!(place.files("kept"), kept);
    // One that is damaged is made anew; so is one that was cut off.
    for damaged in [[kept[0].1.as_slice(), b"x"].concat(), kept[0].1[..100].to_vec(), Vec::new()] {
        std::fs::write(&kept[0].0, damaged).unwrap();
        assert_eq!(bake(), first);
        assert_eq!(place.files("kept"), kept);
    }
    // A folder that cannot be written is no reason to fail.
    std::fs::write(place.path("file"), "").unwrap();
    let mut command = place.command(&["bake", "scene.toml", "--out", "job", "--restart"]);
    crate::Run::new(command.env("KILN_CACHE", place.path("file")).output().unwrap()).succeeds();
    assert_eq!(place.read("job/bake.kc"), first);
}

#[test]
fn tetrahedra_are_written_for_other_programs() {
    let place = of_file(&quads([1.0, 0.5, 0.5]), "");
    let run = place.run(&["tet", "body.obj", "-o", "body.vtk", "--cell", "0.25"]).succeeds();
    assert!(run.out.contains("tetrahedra: 80") && run.out.contains("volume: 0.25"), "{}", run.out);
    let vtk = String::from_utf8(place.read("body.vtk")).unwrap();
    assert!(vtk.contains("POINTS 45 double") && vtk.contains("CELLS 80 400"), "{}", &vtk[..300]);
    let json = place.run(&["tet", "body.obj", "-o", "body.node", "--count", "100", "--json"]).succeeds().out;
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(report["files"], serde_json::json!(["body.node", "body.ele"]));
    assert!(place.path("body.ele").is_file() && report["quality"]["smallest_dihedral_angle"].as_f64().unwrap() > 15.0);
    place.run(&["tet", "body.obj", "-o", "body.txt"]).ends_with(2, &["end it with .vtk"]);
    place.run(&["tet", "none.obj", "-o", "body.vtk"]).ends_with(3, &["none.obj"]);
    place.run(&["tet", "body.obj", "-o", "body.vtk", "--cell", "-1"]).ends_with(3, &["cannot be"]);
    place.run(&["tet", "body.obj", "-o", "no/such/body.vtk", "--cell", "0.25"]).succeeds();
}

#[test]
fn open_meshes_are_refused_for_matched_shapes_and_taken_as_tetrahedra_by_themselves() {
    let open = quads([0.4, 0.4, 0.4]).replace("f 2 4 8 6\n", "");
    let run = of_file(&open, "model = \"shape_matching\"").bake(&[]).ends_with(3, &[]);
    for words in ["4 open edges", "model = \"tetrahedra\"", "close the mesh"] {
        assert!(run.err.contains(words), "`{words}` is missing in {}", run.err);
    }
    let auto = "model = \"auto\"\ntetrahedra = { cell = 0.1 }";
    assert!(of_file(&open, auto).bake(&[]).succeeds().err.contains(" tetrahedra in cells of"));
    assert!(of_file(&quads([0.4, 0.4, 0.4]), auto).bake(&[]).succeeds().err.contains(" matched regions of 3 edges"));
    // Faces that look in different directions have no inside.
    let twisted = quads([0.4, 0.4, 0.4]).replace("f 2 4 8 6", "f 6 8 4 2");
    let run = of_file(&twisted, "model = \"shape_matching\"").bake(&[]).ends_with(3, &[]);
    assert!(run.err.contains("turn from outwards to inwards"), "{}", run.err);
    // All of them inwards are as good as outwards.
    let inwards: String = quads([0.4, 0.4, 0.4])
        .lines()
        .map(|line| match line.strip_prefix("f ") {
            Some(face) => format!("f {}\n", face.split(' ').rev().collect::<Vec<_>>().join(" ")),
            None => format!("{line}\n"),
        })
        .collect();
    of_file(&inwards, "model = \"shape_matching\"").bake(&[]).succeeds();
    let run =
        of_file(&quads([0.4, 0.4, 0.4]), "model = \"shape_matching\"\npressure = 100").bake(&[]).ends_with(3, &[]);
    assert!(run.err.contains("tetrahedra"), "{}", run.err);
}

#[test]
fn inspect_shows_and_colours_paths() {
    let place = of_file(&quads([0.4, 0.4, 0.4]), "model = \"shape_matching\"\nshape_matching = { omega = 1 }");
    let scene = place.path("scene.toml");
    let folder = place.path("paths");
    let run = place.run(&["inspect", scene.to_str().unwrap(), "--paths", folder.to_str().unwrap()]).succeeds();
    assert!(run.out.contains("paths") && run.out.contains("mean stretches"), "{}", run.out);
    let text = String::from_utf8(place.read("paths/body.paths.obj")).unwrap();
    let vertices: Vec<&str> = text.lines().filter(|line| line.starts_with("v ")).collect();
    assert_eq!(vertices.len(), 8);
    assert!(vertices.iter().all(|line| line.split(' ').count() == 7), "{text}");
    let place = Place::new(BOX);
    let scene = place.path("scene.toml");
    let run = place.run(&["inspect", scene.to_str().unwrap(), "--paths", "nowhere"]).ends_with(3, &[]);
    assert!(run.err.contains("no soft body whose shapes are matched"), "{}", run.err);
}
