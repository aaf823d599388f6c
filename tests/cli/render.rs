//! Render meshes and GLB files through the program: what is written, what convert makes again, what is refused.

use serde_json::json;

use crate::{Place, TINY};

/// A finer sheet that follows the tiny one, a little larger.
const RENDER: &str = "{ mesh = { sheet = { vertices = [33, 33], size = [1.02, 1.02] } } }";
const BESIDE: &str = "{ mesh = { sheet = { vertices = [33, 33], size = [1.02, 1.02] } }, write = \"beside\" }";

fn with_render_mesh(render: &str, formats: &str) -> Place {
    Place::new(&format!(
        "{TINY}pins = [{{ vertices = [0, 4] }}]\nrender_mesh = {render}\n[output]\nformats = {formats}\n"
    ))
}

fn names(place: &Place, folder: &str) -> Vec<String> {
    let relative = |(path, _): &(std::path::PathBuf, Vec<u8>)| {
        path.strip_prefix(place.path(folder)).unwrap().to_string_lossy().into_owned()
    };
    place.files(folder).iter().map(relative).collect()
}

#[test]
fn the_render_mesh_is_written_instead() {
    let place = with_render_mesh(RENDER, "[\"pc2\", \"glb\"]");
    let words =
        ["hold its render mesh, 1089 vertices", "rest/sheet.render.obj", "sheet.glb: 4 frames of 1089 vertices"];
    let run = place.bake(&[]).ends_with(0, &words);
    let announced = run.err.find("sheet.glb: 4 frames").unwrap();
    assert!(announced < run.err.find("cache of \"sheet\": sheet.glb").unwrap(), "before it is written");
    let expected = [
        ".lock",
        "bake.kc",
        "frames.jsonl",
        "manifest.json",
        "rest/sheet.obj",
        "rest/sheet.render.obj",
        "sheet.glb",
        "sheet.pc2",
    ];
    assert_eq!(names(&place, "job"), expected);
    assert_eq!(place.read("job/sheet.pc2").len(), 32 + 4 * 12 * 1089);
    // The first frame is the rest mesh.
    let first: Vec<f32> = place.read("job/sheet.pc2")[32..32 + 12 * 1089]
        .as_chunks::<4>()
        .0
        .iter()
        .map(|b| f32::from_le_bytes(*b))
        .collect();
    let text = String::from_utf8(place.read("job/rest/sheet.render.obj")).unwrap();
    let rest: Vec<f32> = text
        .lines()
        .filter_map(|line| line.strip_prefix("v "))
        .flat_map(|line| line.split(' ').map(|number| number.parse::<f32>().unwrap()))
        .collect();
    assert!(first.len() == rest.len() && first.iter().zip(&rest).all(|(a, b)| (a - b).abs() <= 1e-7));
    let manifest = place.json("job/manifest.json");
    assert_eq!(manifest["scene"]["cloths"][0]["render_mesh"]["write"], "instead");
    assert!(manifest["files"].as_array().unwrap().iter().any(|file| file["file"] == "rest/sheet.render.obj"));
    assert_eq!(
        manifest["scene"]["output"]["glb"],
        json!({"mode": "morph", "quantize": false, "sparse": false, "normals": false})
    );

    place.bake(&[]).ends_with(0, &["nothing to do"]);
    place.write("job/rest/sheet.render.obj", "damaged");
    place.bake(&[]).ends_with(3, &["rest/sheet.render.obj is missing or damaged"]);
    place.bake(&["--restart", "--set", "output.formats=[\"pc2\"]"]).succeeds();
    assert!(!names(&place, "job").contains(&"sheet.glb".to_owned()));
}

#[test]
fn converted_render_meshes_and_glb_are_those_of_the_bake_for_any_number_of_threads() {
    let place = with_render_mesh(BESIDE, "[\"pc2\", \"obj\", \"glb\"]");
    let turned = ["--set", "cloth.sheet.transform={ rotate = [10, 20, 30], translate = [0.1, 0.2, 0.3] }"];
    let placed = ["--set", "output.up=z", "--set", "output.unit=cm", "--set", "output.space=local"];
    for glb in
        ["{}", "{ quantize = true }", "{ sparse = true, quantize = true, normals = true }", "{ mode = \"stream\" }"]
    {
        let kind = format!("output.glb={glb}");
        let run = place.bake(&[&turned[..], &placed, &["--restart", "--threads", "1", "--set", &kind]].concat());
        run.ends_with(0, &["GLB files are in metres and Y up"]);
        let caches = place.json("job/manifest.json")["caches"].as_array().unwrap().clone();
        let stream = glb.contains("stream");
        assert_eq!(caches.len(), 2 * (1 + 4 + if stream { 2 } else { 1 }), "{glb}");
        let mut convert = place.command(&["convert", "job", "--to", "glb,obj,pc2", "--out", "copies"]);
        let output = convert.env("RAYON_NUM_THREADS", "3").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        for cache in &caches {
            let file = cache["file"].as_str().unwrap();
            assert!(place.read(&format!("copies/{file}")) == place.read(&format!("job/{file}")), "{glb}: {file}");
        }
        assert_eq!(names(&place, "copies").len(), caches.len(), "no temporary file is left");
        std::fs::remove_dir_all(place.path("copies")).unwrap();
    }
}

#[test]
fn render_meshes_that_cannot_be_used_are_refused_or_warned_about() {
    let beside = with_render_mesh(BESIDE, "[\"pc2\"]");
    let second = "\n[[collider]]\nname = \"sheet_render\"\nshape = \"sphere\"\ncenter = [0, 0, 0]\nradius = 0.1\n";
    let scene = String::from_utf8(beside.read("scene.toml")).unwrap();
    beside.write("scene.toml", scene + second);
    beside.bake(&[]).ends_with(3, &["`sheet_render` is the name of"]);

    let place = with_render_mesh("\"dense.obj\"", "[\"pc2\"]");
    place.run(&["check", "scene.toml"]).ends_with(3, &["dense.obj"]);
    place.write("dense.obj", "v 0 0 0\nv 1 0\n");
    place.bake(&[]).ends_with(3, &["dense.obj:2"]);
    // Centimetres taken for metres.
    place.write("dense.obj", "v -50 0 -50\nv 50 0 -50\nv 50 0 50\nv -50 0 50\nf 4 3 2 1\n");
    place.run(&["check", "scene.toml"]).ends_with(0, &["warning", "4 of 4 vertices are far from its object", "`unit`"]);
    let centimetres = "cloth.sheet.render_mesh={ mesh = \"dense.obj\", unit = \"cm\" }";
    let run = place.bake(&["--set", centimetres]).ends_with(0, &["4 vertices (0 beside its object)"]);
    assert!(!run.err.contains("far from"));
    assert_eq!(place.json("job/manifest.json")["inputs"][0]["file"], "dense.obj");

    let quantised_stream = ["check", "scene.toml", "--set", "output.glb={ mode = \"stream\", sparse = true }"];
    place.run(&quantised_stream).ends_with(3, &["`quantize`, `sparse` and `normals` are about morph targets"]);
    let unknown = ["check", "scene.toml", "--set", "output.glb={ quantise = true }"];
    place.run(&unknown).ends_with(3, &["quantise"]);
}

#[test]
fn check_says_how_large_a_glb_will_be() {
    let place = with_render_mesh(BESIDE, "[\"glb\"]");
    let checked = place.run(&["check", "scene.toml"]).succeeds().out;
    place.bake(&[]).succeeds();
    for file in ["sheet.glb", "sheet_render.glb"] {
        let bytes = place.read(&format!("job/{file}")).len();
        assert!(checked.contains(&format!("{file}: {:.1} kB", bytes as f64 / 1e3)), "{bytes} in:\n{checked}");
    }
    assert!(checked.contains("render mesh of \"sheet\": 1089 vertices, 2048 faces"), "{checked}");
    let sparse = place.run(&["check", "scene.toml", "--set", "output.glb={ sparse = true }"]).succeeds().out;
    assert!(sparse.contains("sheet.glb: at most "), "{sparse}");
    // Without a frame number in the name, more than one file is too many.
    let long = ["check", "scene.toml", "--set", "scene.frames=1-300", "--set", "output.pattern={object}"];
    place.run(&long).ends_with(3, &["two files would have the name `sheet.glb`"]);
    let long = ["check", "scene.toml", "--set", "scene.frames=1-300"];
    let text = place.run(&long).succeeds().out;
    assert!(text.contains("sheet.0001.glb: ") && text.contains("sheet.0241.glb: "), "{text}");
}

#[test]
fn materials_reach_a_glb_that_is_made_later() {
    let place = Place::new(&TINY.replace("{ sheet = { vertices = [5, 5], size = [1.0, 1.0] } }", "\"cloth.obj\""));
    let mesh = "mtllib cloth.mtl\nv 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\nv 2 0 0\nv 2 0 1\n\
                usemtl red silk\nf 4 3 2 1\nusemtl unknown\nf 3 6 5 2\n";
    place.write("cloth.obj", mesh);
    place.bake(&[]).succeeds();
    assert!(!place.path("job/rest/sheet.mtl").exists(), "nothing is known of the materials");
    place.write("cloth.mtl", "newmtl red silk\nKd 0.7 0.1 0.2\nNs 10\nPr 0.25\nd 0.5\nmap_Kd silk.png\n");
    place.bake(&["--restart"]).succeeds();
    let inputs = place.json("job/manifest.json")["inputs"].as_array().unwrap().clone();
    assert_eq!(inputs.iter().map(|input| &input["file"]).collect::<Vec<_>>(), ["cloth.obj", "cloth.mtl"]);
    assert!(
        String::from_utf8(place.read("job/rest/sheet.obj")).unwrap().contains("mtllib sheet.mtl\nmtllib cloth.mtl\n")
    );
    std::fs::remove_file(place.path("cloth.mtl")).unwrap();
    place.run(&["convert", "job", "--to", "glb"]).succeeds();
    let glb = place.read("job/sheet.glb");
    let length = u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
    let json: serde_json::Value = serde_json::from_slice(&glb[20..20 + length]).unwrap();
    let silk = &json["materials"][0];
    assert_eq!(silk["name"], "red silk");
    assert_eq!(silk["pbrMetallicRoughness"]["baseColorFactor"], json!([0.7, 0.1, 0.2, 0.5]));
    assert_eq!((&silk["pbrMetallicRoughness"]["roughnessFactor"], &silk["alphaMode"]), (&json!(0.25), &json!("BLEND")));
    assert_eq!(json["materials"][1]["name"], "unknown");
}

#[test]
fn a_conversion_that_is_killed_leaves_no_half_file() {
    let place = with_render_mesh(&RENDER.replace("33, 33", "301, 301"), "[]");
    place.bake(&["--set", "scene.frames=1-30", "--set", "output.glb={ normals = true }"]).succeeds();
    let mut child =
        place.command(&["convert", "job", "--to", "glb"]).stderr(std::process::Stdio::null()).spawn().unwrap();
    let partial = place.path("job/sheet.glb.partial");
    while !partial.exists() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!place.path("job/sheet.glb").exists() && partial.exists(), "it was killed too late");
    place.run(&["convert", "job", "--to", "glb"]).succeeds();
    assert!(place.path("job/sheet.glb").exists() && !partial.exists());
    assert!(names(&place, "job").iter().all(|name| !name.ends_with(".partial")));
}
