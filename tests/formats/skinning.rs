//! Animated glTF meshes at many times: against Blender, and against the formulas of the specification written down in
//! Python.

use std::path::Path;
use std::process::Command;

use kiln::import::gltf::parse;
use serde_json::{Value as Json, json};

use crate::sample::{BYTE, FLOAT, SHORT, Sample, UNSIGNED_BYTE, UNSIGNED_SHORT, floats, shorts};

const FIGURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/meshes/walking_figure.glb");

/// Evaluates nodes of a file at some times and lets Python do the same in its own way.
fn compare(mode: &str, path: &Path, names: &[&str], times: &[f64]) {
    let file = parse(path, &std::fs::read(path).unwrap()).unwrap_or_else(|problem| panic!("{problem:?}"));
    let folder = tempfile::tempdir().unwrap();
    let mut objects = Vec::new();
    for (number, name) in names.iter().enumerate() {
        let loaded = file.load(&file.select(Some(name)).unwrap()).unwrap();
        let animated = loaded.animated.unwrap_or_else(|| panic!("{name} does not move"));
        let mut bytes = Vec::new();
        for &seconds in times {
            // Kiln counts from the first key of a clip.
            let pose = animated.pose(0, seconds, 1.0);
            for vertex in 0..loaded.mesh.positions.len() {
                bytes.extend(animated.vertex(&pose, vertex).iter().flat_map(|x| x.to_le_bytes()));
            }
        }
        std::fs::write(folder.path().join(format!("{number}.f64")), bytes).unwrap();
        objects.push((*name, loaded.mesh.positions.len()));
    }
    let plan = json!({ "times": times, "objects": objects });
    std::fs::write(folder.path().join("plan.json"), plan.to_string()).unwrap();
    let python = crate::blender::python();
    assert!(python.exists(), "there is no Blender client at {}: run tests/run once, it fetches it", python.display());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/formats/skinning.py");
    let result = Command::new(&python).arg(script).arg(mode).arg(path).arg(folder.path()).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&result.stdout), String::from_utf8_lossy(&result.stderr));
    println!("{out}{err}");
    assert!(result.status.success(), "{mode} disagrees ({}), see above", result.status);
    assert_eq!(out.matches("worst error").count(), names.len());
}

/// Times over two seconds, on keys of 24 a second and between them.
fn times(count: u32) -> Vec<f64> {
    (0..count).map(|n| 2.0 * f64::from(n) / f64::from(count) + 0.003 * f64::from(n % 3)).collect()
}

/// Twenty times on frames and halfway between them. Blender blends the four numbers of a turn one by one, which is the
/// arc that glTF asks for only there; a quarter of a frame further on the figure is 13 µm off.
fn frames_and_halves() -> Vec<f64> {
    (0..20).map(|n| f64::from(n * 5) / 48.0).collect()
}

#[test]
fn blender_walks_the_figure_as_we_do() {
    compare("blender", Path::new(FIGURE), &["body"], &frames_and_halves());
}

#[test]
fn formulas_walk_the_figure_as_we_do() {
    compare("formulas", Path::new(FIGURE), &["body"], &[0.0, 0.506, 1.234]);
}

#[test]
fn blender_moves_a_made_rig_as_we_do() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rig.glb");
    std::fs::write(&path, made(true).glb()).unwrap();
    compare("blender", &path, &["tube", "sleeve", "ball"], &frames_and_halves());
}

#[test]
fn formulas_move_a_made_rig_as_we_do() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rig.glb");
    std::fs::write(&path, made(false).glb()).unwrap();
    compare("formulas", &path, &["tube", "sleeve", "ball", "everything"], &times(25));
}

/// Numbers that look random and are the same every time.
struct Random(u64);

impl Random {
    /// Between -1 and 1.
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    fn many(&mut self, count: usize, size: f32) -> Vec<f32> {
        (0..count).map(|_| size * self.next()).collect()
    }
}

const KEYS: usize = 49;
/// Rings of a tube.
const RINGS: usize = 16;
const AROUND: usize = 8;
const COUNT: usize = RINGS * AROUND;

/// A chain of joints with two tubes on skins of their own, and a ball on the last joint. Left out `for_blender` is what
/// it cannot say or is not asked about: splines (its importer drops their tangents), shear, joints that rest scaled or
/// elsewhere than bound, quantised positions and turns.
fn made(for_blender: bool) -> Sample {
    let mut random = Random(5);
    let mut s = Sample::new();
    if !for_blender {
        s.json["extensionsUsed"] = json!(["KHR_mesh_quantization"]);
        s.json["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
    }
    // 0 holder, 1-6 joints, 7 tube, 8 sleeve, 9 ball, 10 everything.
    let turn = |angle: f32, axis: [f32; 3]| {
        let (sine, cosine) = (angle / 2.0).sin_cos();
        let size = axis.iter().map(|x| x * x).sum::<f32>().sqrt();
        [axis[0] / size * sine, axis[1] / size * sine, axis[2] / size * sine, cosine]
    };
    let holder = if for_blender {
        json!({ "name": "holder", "children": [1], "translation": [0.1, 0.2, 0.3], "rotation": turn(0.7, [1.0, 2.0, 3.0]) })
    } else {
        let shear = [0.9, 0.1, 0.0, 0.0, 0.2, 1.1, -0.1, 0.0, 0.0, 0.3, 1.0, 0.0, 0.1, 0.2, 0.3, 1.0];
        json!({ "name": "holder", "children": [1], "matrix": shear })
    };
    s.push("nodes", holder);
    for joint in 1..7 {
        let children = if joint < 6 { json!([joint + 1]) } else { json!([9]) };
        let mut node = json!({ "name": format!("joint_{joint}"), "children": children, "translation": [0.0, 0.5, 0.05],
            "rotation": turn(0.2, [0.3, 0.1, 1.0]) });
        if !for_blender {
            node["scale"] = json!([1.1, 0.9, 1.2]);
        }
        s.push("nodes", node);
    }
    s.push(
        "nodes",
        json!({ "name": "tube", "mesh": 0, "skin": 0, "weights": [0.2, 0.0], "translation": [9.0, 9.0, 9.0] }),
    );
    s.push("nodes", json!({ "name": "sleeve", "mesh": 1, "skin": 1 }));
    s.push("nodes", json!({ "name": "ball", "mesh": 2, "translation": [0.0, 0.3, 0.0], "scale": [1.0, 1.5, 0.5] }));
    s.push("nodes", json!({ "name": "everything", "children": [0, 7, 8] }));
    s.push("scenes", json!({ "nodes": [10] }));

    let world = worlds(&s.json["nodes"]);
    let bind = |joint: usize, random: &mut Random| -> Vec<f32> {
        // Not quite where the joints rest.
        let nudge = nalgebra::Translation3::from(nalgebra::Vector3::from(
            random.many(3, 0.02).as_slice().try_into().map(|a: [f32; 3]| a.map(f64::from)).unwrap(),
        ));
        let bound = if for_blender { world[joint] } else { nudge.to_homogeneous() * world[joint] };
        bound.try_inverse().unwrap().iter().map(|x| *x as f32).collect()
    };
    for joints in [[1, 2, 3, 4, 5, 6], [4, 2, 6, 1, 3, 5]] {
        let binds: Vec<f32> = joints.iter().flat_map(|&joint| bind(joint, &mut random)).collect();
        let binds = s.floats(&binds, "MAT4");
        s.push("skins", json!({ "joints": joints, "inverseBindMatrices": binds }));
    }

    let indices: Vec<u16> = (0..RINGS - 1)
        .flat_map(|ring| (0..AROUND).map(move |n| (ring * AROUND + n, ring * AROUND + (n + 1) % AROUND)))
        .flat_map(|(a, b)| [a, b, a + AROUND, a + AROUND, b, b + AROUND])
        .map(|index| index as u16)
        .collect();
    let indices = s.accessor(&shorts(&indices), UNSIGNED_SHORT, "SCALAR", indices.len());
    for mesh in 0..3 {
        let points: Vec<f32> = (0..COUNT)
            .flat_map(|v| {
                let angle = (v % AROUND) as f32 * std::f32::consts::TAU / AROUND as f32;
                let height = (v / AROUND) as f32 / RINGS as f32;
                [0.2 * angle.cos() + 0.01 * random.next(), height * if mesh < 2 { 2.2 } else { 0.4 }, 0.2 * angle.sin()]
            })
            .collect();
        // The sleeve is stored in sixteen bits, 3 m for the largest.
        let is_small = mesh == 1 && !for_blender;
        let positions = if is_small {
            let bytes: Vec<u8> = points
                .chunks(3)
                .flat_map(|p| [p[0], p[1], p[2], 0.0].map(|x| ((x / 3.0 * 32767.0) as i16).to_le_bytes()).concat())
                .collect();
            let accessor = s.accessor(&bytes, SHORT, "VEC3", COUNT);
            let view = s.json["accessors"][accessor]["bufferView"].as_u64().unwrap() as usize;
            s.json["bufferViews"][view]["byteStride"] = json!(8);
            s.json["accessors"][accessor]["normalized"] = json!(true);
            accessor
        } else {
            let accessor = s.floats(&points, "VEC3");
            s.json["accessors"][accessor]["min"] = json!([-1.0, -1.0, -1.0]);
            s.json["accessors"][accessor]["max"] = json!([3.0, 3.0, 3.0]);
            accessor
        };
        let mut attributes = json!({ "POSITION": positions });
        if mesh < 2 {
            // Four joints for the tube, six for the sleeve.
            let sets = if mesh == 0 { 1 } else { 2 };
            let shares: Vec<Vec<f32>> = (0..COUNT)
                .map(|_| {
                    let shares: Vec<f32> = random.many(4 * sets, 0.5).iter().map(|w| w + 0.51).collect();
                    let shares = [&shares[..(4 * sets).min(6)], &[0.0; 2]].concat();
                    let sum: f32 = shares.iter().sum();
                    shares.iter().map(|share| share / sum).collect()
                })
                .collect();
            for set in 0..sets {
                let joints: Vec<u8> = [[1, 5, 2, 3], [4, 0, 0, 0]][set].repeat(COUNT);
                attributes[format!("JOINTS_{set}")] = json!(s.accessor(&joints, UNSIGNED_BYTE, "VEC4", COUNT));
                let weights: Vec<f32> =
                    shares.iter().flat_map(|shares| shares[4 * set..4 * set + 4].to_vec()).collect();
                attributes[format!("WEIGHTS_{set}")] = json!(if mesh == 0 {
                    s.floats(&weights, "VEC4")
                } else {
                    let weights: Vec<u16> = weights.iter().map(|w| (w * 65535.0).round() as u16).collect();
                    let accessor = s.accessor(&shorts(&weights), UNSIGNED_SHORT, "VEC4", COUNT);
                    s.json["accessors"][accessor]["normalized"] = json!(true);
                    accessor
                });
            }
        }
        let mut primitive = json!({ "attributes": attributes, "indices": indices });
        if mesh != 1 {
            // One target for all vertices, one for a few of them.
            let bulge = random.many(3 * COUNT, 0.2);
            let bulge = s.floats(&bulge, "VEC3");
            let few: Vec<u16> = (0..COUNT as u16).step_by(7).collect();
            let places = s.view(&shorts(&few));
            let values = random.many(3 * few.len(), 0.3);
            let values = s.view(&floats(&values));
            let sparse = json!({ "count": few.len(), "indices": { "bufferView": places, "componentType": UNSIGNED_SHORT },
                "values": { "bufferView": values } });
            let few = s
                .push("accessors", json!({ "componentType": FLOAT, "type": "VEC3", "count": COUNT, "sparse": sparse }));
            primitive["targets"] = json!([{ "POSITION": bulge }, { "POSITION": few }]);
        }
        let name = ["tube", "sleeve", "ball"][mesh];
        s.push("meshes", json!({ "name": name, "primitives": [primitive] }));
    }
    let animation = animation(&mut s, &mut random, for_blender);
    s.push("animations", animation);
    s
}

/// World matrices of nodes as they rest; parents stand before children in some order.
fn worlds(nodes: &Json) -> Vec<nalgebra::Matrix4<f64>> {
    let nodes = nodes.as_array().unwrap();
    let numbers = |json: &Json, or: &[f64]| -> Vec<f64> {
        json.as_array().map_or(or.to_vec(), |list| list.iter().map(|x| x.as_f64().unwrap()).collect())
    };
    let local = |node: &Json| {
        if node["matrix"].is_array() {
            return nalgebra::Matrix4::from_column_slice(&numbers(&node["matrix"], &[]));
        }
        let t = numbers(&node["translation"], &[0.0; 3]);
        let r = numbers(&node["rotation"], &[0.0, 0.0, 0.0, 1.0]);
        let scale = numbers(&node["scale"], &[1.0; 3]);
        let turn = nalgebra::UnitQuaternion::new_normalize(nalgebra::Quaternion::new(r[3], r[0], r[1], r[2]));
        nalgebra::Translation3::new(t[0], t[1], t[2]).to_homogeneous()
            * turn.to_homogeneous()
            * nalgebra::Matrix4::new_nonuniform_scaling(&nalgebra::Vector3::new(scale[0], scale[1], scale[2]))
    };
    let parent = |n: usize| {
        let is_child = |node: &Json| node["children"].as_array().is_some_and(|list| list.contains(&json!(n)));
        nodes.iter().position(is_child)
    };
    let world = |mut n: usize| {
        let mut world = local(&nodes[n]);
        while let Some(parent) = parent(n) {
            world = local(&nodes[parent]) * world;
            n = parent;
        }
        world
    };
    (0..nodes.len()).map(world).collect()
}

/// Everything that can move, by every kind of interpolation.
fn animation(s: &mut Sample, random: &mut Random, for_blender: bool) -> Json {
    let mut samplers: Vec<Json> = Vec::new();
    let mut channels: Vec<Json> = Vec::new();
    let mut add = |s: &mut Sample, times: usize, output: usize, interpolation: &str, node: usize, path: &str| {
        channels.push(json!({ "sampler": samplers.len(), "target": { "node": node, "path": path } }));
        samplers.push(json!({ "input": times, "output": output, "interpolation": interpolation }));
        let _ = s;
    };
    let every_frame: Vec<f32> = (0..KEYS).map(|n| n as f32 / 24.0).collect();
    let times = s.floats(&every_frame, "SCALAR");
    let wave = |n: usize, phase: f32| (std::f32::consts::TAU * n as f32 / 48.0 + phase).sin();
    for joint in 1..7 {
        let phase = joint as f32;
        let turns: Vec<f32> = (0..KEYS)
            .flat_map(|n| {
                let (sine, cosine) = (0.2 * wave(n, phase)).sin_cos();
                [0.6 * sine, 0.0, 0.8 * sine, cosine]
            })
            .collect();
        // One joint's turns are stored in sixteen bits.
        let output = if joint == 2 && !for_blender {
            let bytes: Vec<u8> = turns.iter().flat_map(|x| ((x * 32767.0) as i16).to_le_bytes()).collect();
            let accessor = s.accessor(&bytes, SHORT, "VEC4", KEYS);
            s.json["accessors"][accessor]["normalized"] = json!(true);
            accessor
        } else {
            s.floats(&turns, "VEC4")
        };
        add(s, times, output, "LINEAR", joint, "rotation");
    }
    let shifts: Vec<f32> = (0..KEYS).flat_map(|n| [0.2 * wave(n, 0.0), 0.5, 0.1 * wave(n, 1.0)]).collect();
    let shifts = s.floats(&shifts, "VEC3");
    add(s, times, shifts, "LINEAR", 2, "translation");
    let scales: Vec<f32> = (0..KEYS).flat_map(|n| [1.0 + 0.3 * wave(n, 0.5), 1.0, 1.0 - 0.2 * wave(n, 0.5)]).collect();
    let scales = s.floats(&scales, "VEC3");
    add(s, times, scales, "LINEAR", 3, "scale");
    let weights: Vec<f32> = (0..KEYS).flat_map(|n| [0.5 + 0.5 * wave(n, 2.0), 0.5 - 0.5 * wave(n, 2.0)]).collect();
    let weights = s.floats(&weights, "SCALAR");
    add(s, times, weights, "LINEAR", 7, "weights");
    // Steps between few keys, of their own times, on and off the frames of the others.
    let few = s.floats(&[0.0, 0.5, 1.25, 1.75], "SCALAR");
    let steps = s.floats(&random.many(12, 0.3), "VEC3");
    add(s, few, steps, "STEP", 1, "translation");
    if !for_blender {
        let odd = s.floats(&[0.1, 0.41, 0.9, 1.3], "SCALAR");
        for (node, path, kind, width, base) in [
            (4, "translation", "VEC3", 3, 0.3),
            (4, "scale", "VEC3", 3, 1.0),
            (9, "rotation", "VEC4", 4, 0.5),
            (9, "weights", "SCALAR", 2, 0.5),
        ] {
            let values: Vec<f32> = (0..4)
                .flat_map(|_| {
                    [
                        random.many(width, 1.5),
                        random.many(width, 0.4).iter().map(|x| x + base).collect(),
                        random.many(width, 1.5),
                    ]
                })
                .flatten()
                .collect();
            let values = s.floats(&values, kind);
            add(s, odd, values, "CUBICSPLINE", node, path);
        }
        // A few far apart, the long way round: slerp and not its cheap cousin; and turns in eight bits.
        let bytes: Vec<u8> = [[0, 0, 0, 127], [90, 0, 0, -90], [0, 90, 90, 0], [-64, 64, 64, 64]]
            .concat()
            .iter()
            .map(|x: &i8| *x as u8)
            .collect();
        let turns = s.accessor(&bytes, BYTE, "VEC4", 4);
        s.json["accessors"][turns]["normalized"] = json!(true);
        add(s, odd, turns, "LINEAR", 10, "rotation");
    }
    json!({ "name": "moves", "samplers": samplers, "channels": channels })
}
