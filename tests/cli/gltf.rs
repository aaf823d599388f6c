//! glTF files at the command line: baked, inspected, or refused with the place inside of them.

use serde_json::{Value as Json, json};

use crate::sample::{Sample, rigged, triangle};
use crate::{Place, TINY};

fn with_mesh(name: &str, mesh: impl AsRef<[u8]>) -> Place {
    let place =
        Place::new(&TINY.replace("{ sheet = { vertices = [5, 5], size = [1.0, 1.0] } }", &format!("\"{name}\"")));
    place.write(name, mesh);
    place
}

/// A sample with one value changed.
fn with(path: &str, value: Json) -> Vec<u8> {
    let mut sample = rigged();
    *sample.json.pointer_mut(path).unwrap() = value;
    sample.glb()
}

#[test]
fn damaged_files_are_refused_with_the_place() {
    let good = rigged().glb();
    let mut compressed = rigged();
    compressed.json["extensionsRequired"] = json!(["KHR_draco_mesh_compression"]);
    let refused: [(Vec<u8>, &[&str]); 9] = [
        (Vec::new(), &["the file is empty"]),
        (good[..good.len() / 2].to_vec(), &["header: the file should have"]),
        (b"glTF\x01\0\0\0\x0c\0\0\0".to_vec(), &["header: this is glTF 1"]),
        (with("/accessors/0/count", json!(4_000_000_000_u64)), &["accessors[0]: has 4000000000 elements"]),
        (with("/bufferViews/0/byteOffset", json!(1_000_000)), &["bufferViews[0]:", "buffers[0]"]),
        (with("/nodes/1/children", json!([9])), &["nodes[1].children: names nodes[9]"]),
        (with("/skins/0/joints", json!([1])), &["JOINTS_0: vertex 2 hangs on joint 1"]),
        (compressed.glb(), &["KHR_draco_mesh_compression", "without compression"]),
        (br#"{"asset":{"version":"2.0"},"nodes":7}"#.to_vec(), &["line 1 column"]),
    ];
    for (bytes, words) in refused {
        println!("{words:?}");
        let place = with_mesh("cloth.glb", &bytes);
        let words = [words, &["cloth.glb"]].concat();
        place.bake(&[]).ends_with(3, &words);
        place.run(&["check", "scene.toml"]).ends_with(3, &words);
        place.run(&["inspect", "cloth.glb"]).ends_with(3, &words);
        assert!(!place.path("job").exists());
    }
}

#[test]
fn a_missing_buffer_is_named() {
    let place = with_mesh("cloth.gltf", rigged().text("strip.bin"));
    place.bake(&[]).ends_with(3, &["buffers[0]: cannot read", "strip.bin", "beside the glTF"]);
}

#[test]
fn a_still_mesh_is_baked_and_its_files_are_listed() {
    let sample = triangle();
    let place = with_mesh("cloth.gltf", sample.text("cloth%201.bin"));
    place.write("cloth 1.bin", &sample.bin);
    place.bake(&[]).succeeds();
    let manifest = place.json("job/manifest.json");
    let inputs: Vec<&str> = manifest["inputs"].as_array().unwrap().iter().filter_map(|i| i["file"].as_str()).collect();
    assert_eq!(
        inputs.iter().filter(|input| **input == "cloth.gltf" || **input == "cloth%201.bin").count(),
        2,
        "{manifest:#}"
    );
    assert_eq!(place.read("job/sheet.pc2").len(), 32 + 4 * 12 * 3);
}

#[test]
fn objects_are_chosen_from_and_suggested() {
    let mut sample = triangle();
    sample.push("nodes", json!({ "name": "skirt", "mesh": 0 }));
    sample.json["scenes"][0]["nodes"] = json!([0, 1]);
    let place = with_mesh("cloth.glb", sample.glb());
    place.bake(&[]).ends_with(3, &["2 objects and none is chosen", "`triangle`, `skirt`"]);
    place.bake(&["--set", "cloth.sheet.object=skirt"]).succeeds();
    let wrong = place.bake(&["--set", "cloth.sheet.object=skrit", "--restart"]);
    wrong.ends_with(3, &["no object `skrit`", "did you mean `skirt`?"]);
}

#[test]
fn what_is_left_out_is_said() {
    let mut sample = triangle();
    let line = json!({ "mode": 3, "attributes": { "POSITION": 0 } });
    sample.json["meshes"][0]["primitives"].as_array_mut().unwrap().push(line);
    let place = with_mesh("cloth.glb", sample.glb());
    place.bake(&[]).ends_with(0, &["meshes[0].primitives[1]: points and lines are left out"]);
}

#[test]
fn inspect_tells_nodes_skins_animations_and_attributes() {
    let mut sample: Sample = rigged();
    sample.json["extensionsUsed"] = json!(["KHR_materials_sheen"]);
    sample.json["asset"]["generator"] = json!("a test");
    sample.push("nodes", json!({ "name": "eye", "camera": 0 }));
    sample.push("nodes", json!({ "name": "lamp" }));
    let place = with_mesh("cloth.glb", sample.glb());
    let run = place.run(&["inspect", "cloth.glb", "--json"]).succeeds();
    let report: Json = serde_json::from_str(&run.out).unwrap();
    assert_eq!((&report["kind"], &report["written_by"]), (&json!("mesh"), &json!("a test")));
    assert_eq!(report["objects"], json!(["cloth"]));
    assert_eq!(report["joints"], json!(["lower", "upper"]));
    assert_eq!((&report["cameras"], &report["other_nodes"]), (&json!(["eye"]), &json!(["lamp"])));
    assert_eq!(report["skins"], json!([{ "name": "skin", "joints": 2 }]));
    let sway = json!([{ "name": "sway", "seconds": 1.5, "first_key": 0.5, "channels": 4 }]);
    assert_eq!(report["animations"], sway);
    assert_eq!(report["materials"], json!(["silk"]));
    assert_eq!(report["extensions_used"], json!(["KHR_materials_sheen"]));
    let mesh = &report["meshes"][0];
    assert_eq!((&mesh["name"], &mesh["skin"], &mesh["moves"]), (&json!("cloth"), &json!("skin"), &json!(true)));
    assert_eq!((&mesh["vertices"], &mesh["triangles"], &mesh["morph_targets"]), (&json!(6), &json!(4), &json!(2)));
    let pin = json!({ "name": "_PIN", "min": 0.0, "max": 1.0, "vertices_above_0": 4 });
    assert!(mesh["attributes"].as_array().unwrap().contains(&pin), "{mesh:#}");
    assert_eq!(report["bounds"]["max"], json!([1.125, 2.0, 0.0]));
    let text = place.run(&["inspect", "cloth.glb"]).succeeds().out;
    for line in ["joints: lower, upper", "seconds: 1.5", "vertices above 0: 4", "morph targets: 2"] {
        assert!(text.contains(line), "`{line}` is missing in\n{text}");
    }
}
