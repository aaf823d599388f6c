//! The glTF reader on bad files: an error that names the place, never a panic, never more memory than the file is
//! worth.

use std::path::Path;

use kiln::import::gltf::parse;
use kiln::scene::problem::{Place, Problem};
use serde_json::{Value as Json, json};

use crate::Random;
use crate::sample::*;

/// Reads and uses all of a file; the first thing that is wrong.
fn use_up(bytes: &[u8]) -> Result<(), Problem> {
    let file = parse(Path::new("a.glb"), bytes)?;
    let mut names: Vec<Option<String>> = vec![None];
    names.extend(file.object_names().into_iter().map(|name| Some(name.to_owned())));
    for name in names {
        let Ok(selection) = file.select(name.as_deref()) else { continue };
        let loaded = file.load(&selection)?;
        let mesh = &loaded.mesh;
        assert_eq!(*mesh.face_starts.last().unwrap() as usize, mesh.corners.len());
        assert!(mesh.corners.iter().all(|c| (c.position as usize) < mesh.positions.len()));
        assert!(mesh.corners.iter().filter_map(|c| c.uv).all(|uv| (uv as usize) < mesh.uvs.len()));
        assert!(mesh.corners.iter().filter_map(|c| c.normal).all(|normal| (normal as usize) < mesh.normals.len()));
        assert!(mesh.attributes.iter().all(|attribute| attribute.values.len() == mesh.positions.len()));
        if let Some(animated) = &loaded.animated {
            assert_eq!(animated.vertex_count(), mesh.positions.len());
            for (clip, (_, length)) in animated.clips().into_iter().enumerate() {
                for dressed in [0.0, 0.5, 1.0] {
                    let pose = animated.pose(clip, 0.4 * length, dressed);
                    let all = (0..animated.vertex_count()).map(|v| animated.vertex(&pose, v));
                    let _: kiln::math::Vec3 = all.sum();
                }
            }
        }
    }
    Ok(())
}

#[track_caller]
fn refused(what: &str, bytes: &[u8], words: &str) {
    match use_up(bytes) {
        Ok(()) => panic!("{what} was read"),
        Err(problem) => {
            assert_eq!(problem.place, Place::File("a.glb".into()), "{what}");
            assert!(problem.message.contains(words), "{what}: `{words}` is not in `{}`", problem.message);
            assert!(problem.help.is_some_and(|help| !help.is_empty()), "{what}");
        }
    }
}

#[test]
fn the_samples_are_good() {
    use_up(&rigged().glb()).unwrap();
    use_up(&triangle().glb()).unwrap();
}

#[test]
fn damaged_packing_is_refused() {
    let good = rigged().glb();
    let changed = |at: usize, bytes: &[u8]| {
        let mut copy = good.clone();
        copy[at..at + bytes.len()].copy_from_slice(bytes);
        copy
    };
    let json_size = u32::from_le_bytes(good[12..16].try_into().unwrap()) as usize;
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("nothing", Vec::new(), "the file is empty"),
        ("another magic", changed(0, b"glTX"), "line 1"),
        ("version 1", changed(4, &[1]), "header: this is glTF 1"),
        ("half a header", good[..10].to_vec(), "header: the file ends"),
        ("only a header", good[..12].to_vec(), "header: the file should have"),
        ("a header for no chunks", [b"glTF\x02\0\0\0", &12_u32.to_le_bytes()[..]].concat(), "chunk 0: is missing"),
        ("a length beyond the end", changed(8, &u32::MAX.to_le_bytes()), "header: the file should have 4294967295"),
        ("a JSON chunk beyond the end", changed(12, &u32::MAX.to_le_bytes()), "chunk 0: has 4294967295 bytes"),
        ("a BIN chunk beyond the end", changed(20 + json_size, &u32::MAX.to_le_bytes()), "chunk 1: has 4294967295"),
        ("a first chunk of bytes", changed(16, b"BIN\0"), "chunk 0: is not JSON"),
        ("a BIN chunk of another kind", changed(24 + json_size, b"WHAT"), "buffers[0]: has no data"),
        ("noise", (0..999_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect(), "line"),
        ("OBJ", b"v 0 0 0\nv 1 0 0\n".to_vec(), "line 1"),
        ("brackets", b"[".repeat(100_000), "line 1"),
        ("deep objects", br#"{"nodes":"#.repeat(50_000), "line 1"),
        ("an empty object", b"{}".to_vec(), "asset.version: is missing"),
        ("no JSON at all", glb(b"", None), "line"),
    ];
    for (what, bytes, words) in cases {
        refused(what, &bytes, words);
    }
    // Nobody reads what is nested in there.
    let nested = format!(r#"{{"extras":{}{},"#, "[".repeat(50_000), "]".repeat(50_000));
    let mut sample = rigged();
    sample.json["buffers"] = json!([{ "byteLength": sample.bin.len() }]);
    let json = sample.json.to_string().replacen('{', &nested, 1);
    use_up(&glb(json.as_bytes(), Some(&sample.bin))).unwrap();
}

/// Puts a value somewhere into the JSON.
fn at<'a>(sample: &'a mut Sample, path: &str) -> &'a mut Json {
    path.split('/').fold(&mut sample.json, |json, key| match key.parse::<usize>() {
        Ok(index) => &mut json[index],
        Err(_) => &mut json[key],
    })
}

/// Where the content of an accessor starts in the bytes.
fn content(sample: &Sample, accessor: u64) -> usize {
    let view = sample.json["accessors"][accessor as usize]["bufferView"].as_u64().unwrap() as usize;
    sample.json["bufferViews"][view]["byteOffset"].as_u64().unwrap() as usize
}

#[test]
fn one_wrong_value_is_refused_with_its_place() {
    let attributes = "meshes/0/primitives/0/attributes";
    let huge = json!(4_294_967_296_u64);
    let most = json!(u64::MAX);
    let accessor = |path: &str| rigged().json.pointer(&format!("/{path}")).unwrap().as_u64().unwrap();
    let [position, joints, weights, index] = ["POSITION", "JOINTS_0", "WEIGHTS_0", "indices"].map(|name| {
        accessor(&if name == "indices" {
            "meshes/0/primitives/0/indices".to_owned()
        } else {
            format!("{attributes}/{name}")
        })
    });
    let pin = accessor(&format!("{attributes}/_PIN"));
    let binds = accessor("skins/0/inverseBindMatrices");
    let times = accessor("animations/0/samplers/0/input");
    let turns = accessor("animations/0/samplers/0/output");
    let morphs = accessor("animations/0/samplers/3/output");
    let bulge = accessor("meshes/0/primitives/0/targets/0/POSITION");
    let of = |accessor: u64, key: &str| format!("accessors/{accessor}/{key}");
    let place = |accessor: u64| format!("accessors[{accessor}]");
    let sparse = |count: u64, index: usize| {
        json!({ "count": count, "indices": { "bufferView": index, "componentType": 5123 },
        "values": { "bufferView": 0 } })
    };
    let index_view = rigged().json["accessors"][index as usize]["bufferView"].as_u64().unwrap() as usize;
    let cases: Vec<(String, Json, String)> = vec![
        ("extensionsRequired".into(), json!(["KHR_draco_mesh_compression"]), "KHR_draco_mesh_compression".into()),
        ("extensionsRequired".into(), json!(["EXT_meshopt_compression"]), "EXT_meshopt_compression".into()),
        ("asset/version".into(), json!("1.0"), "this is glTF 1.0".into()),
        ("scene".into(), json!(3), "scene: names scenes[3], and the file has 1".into()),
        ("scenes/0/nodes/0".into(), json!(99), "scenes[0].nodes: names nodes[99]".into()),
        ("nodes/0/mesh".into(), json!(1), "nodes[0].mesh: names meshes[1]".into()),
        ("nodes/0/skin".into(), json!(1), "nodes[0].skin: names skins[1]".into()),
        ("nodes/1/children".into(), json!([7]), "nodes[1].children: names nodes[7]".into()),
        ("nodes/1/children".into(), json!([2, 2]), "nodes[2] is already a child of nodes[1]".into()),
        ("nodes/0/children".into(), json!([2]), "is already a child of".into()),
        ("nodes/2/children".into(), json!([1]), "nodes[1].children: the node hangs below itself".into()),
        ("nodes/2/children".into(), json!([2]), "is already a child of nodes[1]".into()),
        ("nodes/0/children".into(), json!([0]), "nodes[0].children: the node hangs below itself".into()),
        ("nodes/0/children".into(), json!([-1]), "line 1".into()),
        ("nodes/1/matrix".into(), json!(vec![0; 16]), "nodes[1].matrix: its last row".into()),
        ("nodes/1/matrix".into(), json!(vec![0; 15]), "line 1".into()),
        ("nodes/1/scale".into(), json!([1e300, 1.0, 1.0]), "".into()),
        ("nodes/0/weights".into(), json!([1.0]), "nodes[0]: has 1 weights for the 2 morph targets".into()),
        ("meshes/0/primitives/0/mode".into(), json!(9), "meshes[0].primitives[0]: mode 9".into()),
        ("meshes/0/primitives/0/mode".into(), json!(1), "`cloth` has no triangles".into()),
        ("meshes/0/primitives/0/material".into(), json!(1), "names materials[1]".into()),
        ("meshes/0/primitives/0/indices".into(), json!(99), "primitives[0].indices: names accessors[99]".into()),
        (
            "meshes/0/primitives/0/indices".into(),
            json!(position),
            "cannot be used as meshes[0].primitives[0].indices".into(),
        ),
        ("meshes/0/primitives/0/targets".into(), json!([]), "weights".into()),
        ("meshes/0/primitives/0/targets/1/POSITION".into(), json!(turns), "has 3 elements for 6 vertices".into()),
        (attributes.into(), json!({}), "has no POSITION".into()),
        (format!("{attributes}/POSITION"), json!(99), "attributes.POSITION: names accessors[99]".into()),
        (format!("{attributes}/NORMAL"), json!(times), "attributes.NORMAL: has 3 elements for 6 vertices".into()),
        (
            format!("{attributes}/JOINTS_0"),
            json!(position),
            "cannot be used as meshes[0].primitives[0].attributes.JOINTS_0".into(),
        ),
        (format!("{attributes}/WEIGHTS_0"), json!(joints), "".into()),
        (format!("{attributes}/WEIGHTS_1"), json!(weights), "has no JOINTS_1 and WEIGHTS_1".into()),
        (of(position, "count"), huge.clone(), format!("{}: has 4294967296 elements", place(position))),
        (of(position, "count"), most.clone(), format!("{}: has 18446744073709551615 elements", place(position))),
        (of(position, "count"), json!(7), "has 6 elements for 7 vertices".into()),
        (of(position, "count"), json!(0), "elements for 0 vertices".into()),
        (of(position, "count"), json!(-1), "line 1".into()),
        (of(position, "componentType"), json!(5125), format!("{}: VEC3 of componentType 5125", place(position))),
        (of(position, "componentType"), json!(5124), format!("{}: componentType 5124 is not one", place(position))),
        (of(position, "type"), json!("VEC2"), format!("{}: VEC2 of componentType 5126", place(position))),
        (of(position, "type"), json!("VEC9"), format!("{}: VEC9 of", place(position))),
        (of(position, "byteOffset"), json!(4), format!("{}: 6 elements of 12 bytes from byte 4 on", place(position))),
        (of(position, "byteOffset"), most.clone(), format!("{}: 6 elements", place(position))),
        (of(position, "bufferView"), json!(99), format!("{}: names bufferViews[99]", place(position))),
        (of(position, "sparse"), sparse(1000, index_view), "sparse: 1000 elements".into()),
        (of(position, "sparse"), sparse(u64::MAX, index_view), "sparse: ".into()),
        (of(position, "sparse"), sparse(1, 99), "sparse: names bufferViews[99]".into()),
        (
            of(bulge, "sparse"),
            json!({ "count": 1, "indices": { "bufferView": 0, "byteOffset": 12, "componentType": 5125 },
            "values": { "bufferView": 0 } }),
            format!("{}.sparse: replaces element 1065353216 of 6", place(bulge)),
        ),
        ("extensionsRequired".into(), json!(["KHR_animation_pointer"]), "KHR_animation_pointer".into()),
        (of(index, "count"), json!(11), "11 corners are not a whole number of triangles".into()),
        ("bufferViews/0/buffer".into(), json!(1), "bufferViews[0]: names buffers[1]".into()),
        ("bufferViews/0/byteOffset".into(), json!(100_000), "bufferViews[0]: 72 bytes from byte 100000 on".into()),
        ("bufferViews/0/byteOffset".into(), most.clone(), "bufferViews[0]: 72 bytes".into()),
        ("bufferViews/0/byteLength".into(), most.clone(), "bufferViews[0]: 18446744073709551615 bytes".into()),
        ("bufferViews/0/byteLength".into(), json!(71), format!("{}: 6 elements of 12 bytes", place(position))),
        ("bufferViews/0/byteStride".into(), json!(8), "bufferViews[0]: byteStride 8 is less than the 12".into()),
        ("bufferViews/0/byteStride".into(), most.clone(), format!("{}: 6 elements", place(position))),
        ("buffers".into(), json!([{ "byteLength": 100_000 }]), "buffers[0]: should have 100000 bytes and has".into()),
        ("buffers".into(), json!([]), "all buffers together have 0 bytes".into()),
        ("buffers".into(), json!([{ "byteLength": 10, "uri": "no such file.bin" }]), "`no such file.bin`".into()),
        ("buffers".into(), json!([{ "byteLength": 10, "uri": "/dev/zero" }]), "it is not a file".into()),
        (
            "buffers".into(),
            json!([{ "byteLength": 1, "uri": "data:;base64,A" }]),
            "buffers[0]: its base64 data is cut short".into(),
        ),
        (
            "buffers".into(),
            json!([{ "byteLength": 1, "uri": "data:;base64,A!AA" }]),
            "letter 1 of its data is not base64".into(),
        ),
        ("buffers".into(), json!([{ "byteLength": 1, "uri": "data:;base64,AAA=AAAA" }]), "is not base64".into()),
        ("buffers".into(), json!([{ "byteLength": 1, "uri": "data:text/plain" }]), "no comma".into()),
        ("buffers".into(), json!([{ "byteLength": 1, "uri": "data:text/plain,abc" }]), "not in base64".into()),
        (
            "buffers".into(),
            json!([{ "byteLength": 4, "uri": "data:;base64,AAAA" }]),
            "should have 4 bytes and has 3".into(),
        ),
        ("skins/0/joints".into(), json!([]), "skins[0]: has no joints".into()),
        ("skins/0/joints".into(), json!([1, 9]), "skins[0].joints: names nodes[9]".into()),
        ("skins/0/joints".into(), json!([1]), "JOINTS_0: vertex 2 hangs on joint 1, and the skin has 1".into()),
        ("skins/0/joints".into(), json!([1, 2, 0]), "inverseBindMatrices: has 2 matrices for 3 joints".into()),
        (
            "skins/0/inverseBindMatrices".into(),
            json!(position),
            "cannot be used as skins[0].inverseBindMatrices".into(),
        ),
        ("skins/0/inverseBindMatrices".into(), json!(99), "skins[0].inverseBindMatrices: names accessors[99]".into()),
        (of(times, "count"), json!(0), "samplers[0]: has no keys".into()),
        (of(times, "count"), json!(2), "animations[0].samplers[0].output: has 12 numbers for 2 keys of 4 each".into()),
        (of(times, "componentType"), json!(5123), format!("{}: SCALAR of componentType 5123", place(times))),
        (of(turns, "count"), json!(2), "animations[0].samplers[0].output: has 8 numbers for 3 keys".into()),
        (of(morphs, "count"), json!(3), "animations[0].samplers[3].output: has 3 numbers for 3 keys of 2".into()),
        ("animations/0/samplers/0/input".into(), json!(99), "samplers[0].input: names accessors[99]".into()),
        ("animations/0/samplers/0/output".into(), json!(99), "samplers[0].output: names accessors[99]".into()),
        (
            "animations/0/samplers/0/output".into(),
            json!(position),
            "cannot be used as animations[0].samplers[0].output".into(),
        ),
        ("animations/0/samplers/0/interpolation".into(), json!("MAGIC"), "`MAGIC` is not an interpolation".into()),
        ("animations/0/channels/0/sampler".into(), json!(9), "animations[0].channels[0]: names samplers[9]".into()),
        ("animations/0/channels/0/target/node".into(), json!(9), "animations[0].channels[0]: names nodes[9]".into()),
        ("animations/0/channels/0/target/path".into(), json!("color"), "`color` is nothing that can move".into()),
        (
            "animations/0/channels/1/target".into(),
            json!({ "node": 2, "path": "scale" }),
            "moves in two channels".into(),
        ),
        (format!("{attributes}/_PIN"), json!(99), "attributes._PIN: names accessors[99]".into()),
    ];
    for (path, value, words) in cases {
        let mut sample = rigged();
        if path == "buffers" {
            sample.json["buffers"] = value.clone();
        } else {
            *at(&mut sample, &path) = value.clone();
        }
        if words.is_empty() {
            let _ = use_up(&sample.glb()); // whatever it is, it does not panic
        } else {
            refused(&format!("{path} = {value}"), &sample.glb(), &words);
        }
    }
    // Numbers in the bytes.
    let nan = f32::NAN.to_le_bytes();
    let infinite = f32::INFINITY.to_le_bytes();
    let late = 100.0_f32.to_le_bytes();
    let cases: Vec<(u64, usize, &[u8], String)> = vec![
        (position, 12, &nan, format!("{}: element 1 is not a finite number", place(position))),
        (position, 0, &infinite, format!("{}: element 0 is not a finite number", place(position))),
        (weights, 4, &nan, format!("{}: element 0 is not a finite number", place(weights))),
        (weights, 0, &[0, 0, 128, 191], "WEIGHTS_0: vertex 0 has a weight below 0".into()),
        (pin, 8, &nan, format!("{}: element 2 is not a finite number", place(pin))),
        (binds, 64, &nan, format!("{}: element 1 is not a finite number", place(binds))),
        (binds, 12, &[0, 0, 128, 63], "the last row of matrix 0".into()),
        (times, 4, &nan, format!("{}: element 1 is not a finite number", place(times))),
        (times, 0, &late, "samplers[0].input: key 1 is earlier".into()),
        (turns, 16, &infinite, format!("{}: element 1 is not a finite number", place(turns))),
        (bulge, 0, &nan, format!("{}: element 0 is not a finite number", place(bulge))),
        (joints, 1, &[9], "".into()),
        (joints, 0, &[9], "JOINTS_0: vertex 0 hangs on joint 9, and the skin has 2".into()),
        (index, 2, &[6, 0], "indices: vertex 6 does not exist: there are 6".into()),
        (index, 2, &[255, 255], "indices: vertex 65535 does not exist".into()),
    ];
    for (accessor, offset, bytes, words) in cases {
        let mut sample = rigged();
        let start = content(&sample, accessor) + offset;
        sample.bin[start..start + bytes.len()].copy_from_slice(bytes);
        if words.is_empty() {
            use_up(&sample.glb()).unwrap(); // what counts nothing may name anything
        } else {
            refused(&words, &sample.glb(), &words);
        }
    }
}

#[test]
fn counts_without_bytes_reserve_nothing() {
    for count in [1_000_000_u64, 4_294_967_295, u64::MAX] {
        let mut s = triangle();
        s.json["accessors"][0].as_object_mut().unwrap().remove("bufferView");
        s.json["accessors"][0]["count"] = json!(count);
        refused(
            "zeros",
            &s.glb(),
            &format!("accessors[0]: has {count} elements, and all buffers together have 36 bytes"),
        );
    }
    // As many elements as there are bytes, of sixteen numbers each.
    let mut s = rigged();
    let binds = s.json["skins"][0]["inverseBindMatrices"].as_u64().unwrap() as usize;
    s.json["accessors"][binds].as_object_mut().unwrap().remove("bufferView");
    s.json["accessors"][binds]["count"] = json!(s.bin.len());
    refused("zeros", &s.glb(), &format!("accessors[{binds}]: has {} elements in no buffer", s.bin.len()));
    // Many nodes that show the same large mesh.
    let mut s = triangle();
    let count = 30_000;
    let positions = s.accessor(&vec![0; 3 * count], BYTE, "VEC3", count);
    s.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"] = json!(positions);
    let children: Vec<usize> = (1..=1000).collect();
    s.json["nodes"] = json!([{ "name": "forest", "children": children }]);
    for _ in 0..1000 {
        s.push("nodes", json!({ "mesh": 0 }));
    }
    let file = parse(Path::new("a.glb"), &s.glb()).unwrap();
    let problem = file.load(&file.select(Some("forest")).unwrap()).unwrap_err();
    assert!(problem.message.contains("more than 16777216 vertices"), "{problem:?}");
}

#[test]
fn what_shares_bytes_is_bounded() {
    let load = |sample: &Sample, object: Option<&str>| {
        let file = parse(Path::new("a.glb"), &sample.glb()).unwrap();
        file.load(&file.select(object).unwrap()).unwrap_err().message
    };
    let count = 100_000;
    for key in ["attributes", "targets"] {
        let mut s = rigged();
        let (positions, paint) = (s.accessor(&vec![1; 3 * count], BYTE, "VEC3", count), 1000);
        let primitive = &mut s.json["meshes"][0]["primitives"][0];
        *primitive = json!({ "attributes": { "POSITION": positions } });
        match key {
            "attributes" => (0..paint).for_each(|n| primitive[key][format!("_{n}")] = json!(positions)),
            _ => primitive[key] = json!(vec![json!({ "POSITION": positions }); paint]),
        }
        s.json["nodes"] = json!([{ "mesh": 0 }]);
        s.json["scenes"] = json!([{ "nodes": [0] }]);
        s.json["animations"] = json!([]);
        let mesh = s.json["meshes"][0].as_object_mut().unwrap();
        mesh.remove("weights");
        let message = load(&s, None);
        assert!(message.contains("attributes and morph targets"), "{key}: {message}");
    }
    let mut s = rigged();
    let children: Vec<usize> = (1..=6000).collect();
    s.json["nodes"] = json!([{ "name": "crowd", "children": children }]);
    s.json["scenes"] = json!([{ "nodes": [0] }]);
    (s.json["animations"], s.json["skins"]) = (json!([]), json!([]));
    for n in 0..3000 {
        s.push("nodes", json!({ "mesh": 0, "skin": n }));
    }
    for n in 0..3000 {
        s.push("nodes", json!({}));
        s.push("skins", json!({ "joints": [3001 + n] }));
    }
    assert!(load(&s, Some("crowd")).contains("3000 skins on 6001 nodes"));
}

#[test]
fn nan_in_normals_only_costs_the_normals() {
    let mut s = rigged();
    let normals = s.json["meshes"][0]["primitives"][0]["attributes"]["NORMAL"].as_u64().unwrap();
    let start = content(&s, normals);
    s.bin[start..start + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    let file = parse(Path::new("a.glb"), &s.glb()).unwrap();
    let loaded = file.load(&file.select(None).unwrap()).unwrap();
    assert!(loaded.mesh.normals.is_empty() && loaded.warnings[0].message.contains("NORMAL"));
}

#[test]
fn files_cut_off_anywhere_are_refused() {
    let good = rigged().glb();
    for length in 0..good.len() {
        refused(&format!("{length} bytes"), &good[..length], "");
    }
    let figure = std::fs::read(crate::gltf::FIGURE).unwrap();
    use_up(&figure).unwrap();
    for length in (0..figure.len()).step_by(9973).chain(0..40) {
        refused(&format!("{length} bytes"), &figure[..length], "");
        // Also where the header agrees with what is left.
        if length >= 12 {
            let mut shorter = figure[..length].to_vec();
            shorter[8..12].copy_from_slice(&(length as u32).to_le_bytes());
            refused(&format!("{length} bytes"), &shorter, "");
        }
    }
}

#[test]
fn flipped_bytes_never_stop_the_program() {
    let good = rigged().glb();
    let count = if std::env::var_os("KILN_TEST_FULL").is_some() { 50_000 } else { 2000 };
    let mut random = Random(11);
    let mut read = 0;
    for _ in 0..count {
        let mut bytes = good.clone();
        for _ in 0..1 + random.below(3) {
            let at = random.below(bytes.len());
            match random.below(4) {
                0 => bytes[at] ^= 1 << random.below(8),
                1 => bytes[at] = random.below(256) as u8,
                // Another digit, so that the JSON stays JSON.
                2 if bytes[at].is_ascii_digit() => bytes[at] = b'0' + random.below(10) as u8,
                _ => bytes[at] = [0, 0x7f, 0x80, 0xff][random.below(4)],
            }
        }
        read += usize::from(use_up(&bytes).is_ok());
    }
    assert!((count / 20..count).contains(&read), "{read} of {count} damaged files were read");
}
