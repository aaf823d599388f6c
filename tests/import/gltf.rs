//! The glTF reader on good files: against the gltf crate, and against numbers worked out by hand.

use std::path::Path;

use kiln::import::Asset;
use kiln::import::gltf::{GltfFile, Loaded, parse};
use kiln::math::Vec3;
use kiln::scene::problem::KeyPath;
use kiln::scene::{MeshSource, Placement, UpAxis};
use serde_json::json;

use crate::sample::*;

pub const FIGURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/meshes/walking_figure.glb");

fn file(bytes: &[u8]) -> GltfFile {
    parse(Path::new("a.glb"), bytes).unwrap_or_else(|problem| panic!("{problem:?}"))
}

fn load(sample: &Sample, object: Option<&str>) -> Loaded {
    let file = file(&sample.glb());
    let selection = file.select(object).unwrap_or_else(|choice| panic!("{choice:?}"));
    file.load(&selection).unwrap_or_else(|problem| panic!("{problem:?}"))
}

#[track_caller]
fn near(a: Vec3, b: [f64; 3]) {
    assert!((a - Vec3::from(b)).norm() < 1e-6, "{a:?} instead of {b:?}");
}

fn largest(a: &[Vec3], b: &[Vec3]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
}

fn posed(loaded: &Loaded, clip: usize, seconds: f64, dressed: f64) -> Vec<Vec3> {
    let animated = loaded.animated.as_ref().unwrap();
    let pose = animated.pose(clip, seconds, dressed);
    (0..animated.vertex_count()).map(|v| animated.vertex(&pose, v)).collect()
}

#[test]
fn it_reads_what_the_gltf_crate_reads() {
    let bytes = std::fs::read(FIGURE).unwrap();
    let theirs = gltf::Gltf::from_slice(&bytes).unwrap();
    let blob = theirs.blob.as_deref().unwrap();
    let primitive = theirs.meshes().next().unwrap().primitives().next().unwrap();
    let reader = primitive.reader(|_| Some(blob));
    let ours = file(&bytes);
    let loaded = ours.load(&ours.select(None).unwrap()).unwrap();
    let points = |points: Vec<[f32; 3]>| -> Vec<Vec3> { points.iter().map(|p| Vec3::from(p.map(f64::from))).collect() };
    assert_eq!(loaded.mesh.name, "body");
    assert_eq!(loaded.mesh.positions.len(), 13_380);
    assert!(loaded.mesh.positions == points(reader.read_positions().unwrap().collect()));
    assert!(loaded.mesh.normals == points(reader.read_normals().unwrap().collect()));
    let corners: Vec<u32> = loaded.mesh.corners.iter().map(|corner| corner.position).collect();
    assert!(corners == reader.read_indices().unwrap().into_u32().collect::<Vec<u32>>());
    let animation = theirs.animations().next().unwrap();
    let animated = loaded.animated.as_ref().unwrap();
    assert_eq!(animated.clips(), [(animation.name().unwrap(), 2.0)]);

    // Every joint's matrix at a key, by their reader and plain products, moves a vertex where ours does.
    let skin = theirs.skins().next().unwrap();
    let binds: Vec<_> = skin.reader(|_| Some(blob)).read_inverse_bind_matrices().unwrap().collect();
    let joints: Vec<[u16; 4]> = reader.read_joints(0).unwrap().into_u16().collect();
    let weights: Vec<[f32; 4]> = reader.read_weights(0).unwrap().into_f32().collect();
    let mut locals: Vec<nalgebra::Matrix4<f64>> =
        theirs.nodes().map(|node| matrix(node.transform().matrix())).collect();
    let mut parts: Vec<_> = theirs.nodes().map(|node| node.transform().decomposed()).collect();
    let key = 17;
    let mut seconds = 0.0;
    for channel in animation.channels() {
        let reader = channel.reader(|_| Some(blob));
        let (node, last) = (channel.target().node().index(), reader.read_inputs().unwrap().count() - 1);
        if last >= key {
            seconds = f64::from(reader.read_inputs().unwrap().nth(key).unwrap());
        }
        use gltf::animation::util::ReadOutputs::{Rotations, Scales, Translations};
        match reader.read_outputs().unwrap() {
            Translations(mut values) => parts[node].0 = values.nth(key.min(last - 1)).unwrap(),
            Rotations(values) => parts[node].1 = values.into_f32().nth(key.min(last - 1)).unwrap(),
            Scales(mut values) => parts[node].2 = values.nth(key.min(last - 1)).unwrap(),
            _ => {}
        }
    }
    assert!(seconds > 0.5);
    for (local, (translation, rotation, scale)) in locals.iter_mut().zip(parts) {
        *local = matrix(gltf::scene::Transform::Decomposed { translation, rotation, scale }.matrix());
    }
    let mut parents = vec![None; locals.len()];
    theirs.nodes().for_each(|node| node.children().for_each(|child| parents[child.index()] = Some(node.index())));
    let world = |node: usize| {
        let (mut world, mut at) = (locals[node], node);
        while let Some(parent) = parents[at] {
            (world, at) = (locals[parent] * world, parent);
        }
        world
    };
    let movers: Vec<_> = skin.joints().zip(&binds).map(|(joint, bind)| world(joint.index()) * matrix(*bind)).collect();
    let moved = posed(&loaded, 0, seconds, 1.0);
    let mut farthest = 0.0_f64;
    for (v, p) in loaded.mesh.positions.iter().enumerate() {
        let sum: f64 = weights[v].iter().map(|w| f64::from(*w)).sum();
        let parts =
            joints[v].iter().zip(weights[v]).map(|(&j, w)| movers[j as usize] * p.push(1.0) * (f64::from(w) / sum));
        let expected = parts.sum::<nalgebra::Vector4<f64>>().xyz();
        assert!((moved[v] - expected).norm() < 1e-6, "vertex {v}: {} instead of {expected}", moved[v]);
        farthest = farthest.max((expected - p).norm());
    }
    assert!(farthest > 0.1, "{farthest}");
}

fn matrix(columns: [[f32; 4]; 4]) -> nalgebra::Matrix4<f64> {
    nalgebra::Matrix4::from(columns.map(|column| column.map(f64::from)))
}

#[test]
fn the_figure_is_bound_as_modelled_and_walks() {
    let bytes = std::fs::read(FIGURE).unwrap();
    let figure = file(&bytes);
    let loaded = figure.load(&figure.select(Some("rig")).unwrap()).unwrap();
    assert!(largest(&posed(&loaded, 0, 1.0, 0.0), &loaded.mesh.positions) < 1e-12);
    let (halfway, walking) = (posed(&loaded, 0, 0.4, 0.5), posed(&loaded, 0, 0.4, 1.0));
    let whole = largest(&walking, &loaded.mesh.positions);
    let (before, after) = (largest(&halfway, &loaded.mesh.positions), largest(&walking, &halfway));
    assert!(whole > 0.1 && before < 0.7 * whole && after < 0.7 * whole, "{before} + {after} for {whole}");
    // Just before an end it is almost there: nothing jumps.
    assert!(largest(&posed(&loaded, 0, 0.4, 1e-7), &loaded.mesh.positions) < 1e-6);
    assert!(largest(&posed(&loaded, 0, 0.4, 1.0 - 1e-7), &walking) < 1e-6);
    assert!(posed(&loaded, 0, -3.0, 1.0) == posed(&loaded, 0, 0.0, 1.0));
    assert!(posed(&loaded, 0, 99.0, 1.0) == posed(&loaded, 0, 2.0, 1.0));
}

/// Not judged, because other things run at the same time; told with --nocapture.
#[test]
fn the_figure_is_evaluated_in_little_time() {
    let figure = file(&std::fs::read(FIGURE).unwrap());
    let animated = figure.load(&figure.select(None).unwrap()).unwrap().animated.unwrap();
    let mut best = [f64::INFINITY; 2];
    for _ in 0..5 {
        let start = std::time::Instant::now();
        let pose = animated.pose(0, 0.4, 1.0);
        best[0] = best[0].min(start.elapsed().as_secs_f64());
        let sum: Vec3 = (0..animated.vertex_count()).map(|v| animated.vertex(&pose, v)).sum();
        best[1] = best[1].min(start.elapsed().as_secs_f64());
        assert!(sum.norm() > 0.0);
    }
    println!("pose {:.1} µs, pose and {} vertices {:.3} ms", 1e6 * best[0], animated.vertex_count(), 1e3 * best[1]);
}

#[test]
fn a_rig_of_everything_moves_as_worked_out_by_hand() {
    let loaded = load(&rigged(), None);
    assert_eq!(loaded.mesh.name, "cloth");
    // The skinned node's own place does not count; a quarter of the second target does.
    near(loaded.mesh.positions[5], [1.125, 2.0, 0.0]);
    assert_eq!(loaded.mesh.uvs[2], [0.0, 0.5]);
    assert_eq!(loaded.mesh.uvs[1], [1.0, 1.0]);
    assert_eq!(loaded.animated.as_ref().unwrap().clips(), [("sway", 1.5)]);
    let first = posed(&loaded, 0, 0.0, 1.0);
    near(first[5], [1.0, 2.0, 0.0]); // both targets are at 0 in the first key
    // Half a second on: a quarter turn about (0, 1), twice as large there, the whole 1 m to the right, targets 1 and
    // 0.5.
    let second = posed(&loaded, 0, 0.5, 1.0);
    near(second[5], [1.0 - 2.0, 1.0 + 2.5, 0.0]);
    near(second[0], [1.0, 0.0, 0.0]);
    near(second[3], [1.0 + 0.5, 1.0 + 0.5 * 2.0, 0.5 * 1.0 + 0.5 * 2.0]);
    // Halfway between the first two keys: 45 degrees, the step still holds, the spline overshoots by its tangents.
    let scale = 0.5 + 0.125 * 0.5 + 0.5 * 2.0;
    let between = posed(&loaded, 0, 0.25, 1.0);
    let (x, y) = (1.0 + 0.25 * 0.5, 1.0);
    let r = scale * std::f64::consts::FRAC_1_SQRT_2;
    near(between[5], [r * (x - y), 1.0 + r * (x + y), 0.0]);
    // A quarter dressed: a quarter of every part's way.
    let dressed = posed(&loaded, 0, 0.5, 0.25);
    let (angle, scale) = (std::f64::consts::FRAC_PI_8, 1.25);
    let (x, y) = (1.0 + 0.5 * (0.25 + 0.25 * 0.25), 1.0);
    let [c, s] = [angle.cos() * scale, angle.sin() * scale];
    near(dressed[5], [0.25 + c * x - s * y, 1.0 + s * x + c * y, 0.0]);
    assert!(largest(&posed(&loaded, 0, 0.5, 0.0), &loaded.mesh.positions) < 1e-12);
    // Without a clip of that number the file's own pose.
    near(posed(&loaded, 7, 0.5, 1.0)[5], [1.125, 2.0, 0.0]);
}

#[test]
fn bindings_tell_what_moves_alike() {
    let loaded = load(&rigged(), None);
    let animated = loaded.animated.unwrap();
    let bindings: Vec<u64> = (0..6).map(|v| animated.binding(v)).collect();
    assert!(bindings[0] == bindings[1] && bindings[2] == bindings[3] && bindings[4] == bindings[5], "{bindings:?}");
    assert!(bindings[0] != bindings[2] && bindings[2] != bindings[4], "{bindings:?}");
}

#[test]
fn materials_attributes_and_groups_come_along() {
    let mesh = load(&rigged(), None).mesh;
    let silk = &mesh.material_definitions[0];
    assert_eq!((silk.name.as_str(), silk.base_color, silk.metallic), ("silk", [1.0, 0.5, 0.25, 1.0], 0.0));
    assert_eq!((silk.roughness, silk.emissive, silk.double_sided), (0.75, [0.1, 0.2, 0.3], true));
    // Alpha only counts where the material blends, and all metal only where no texture says what is.
    let mut see_through = rigged();
    let material = &mut see_through.json["materials"][0];
    material["alphaMode"] = json!("BLEND");
    material["pbrMetallicRoughness"]["metallicFactor"] = json!(1.0);
    let [metal, cloth] = [json!(null), json!({ "index": 0 })].map(|texture| {
        see_through.json["materials"][0]["pbrMetallicRoughness"]["metallicRoughnessTexture"] = texture;
        load(&see_through, None).mesh.material_definitions[0].clone()
    });
    assert_eq!((metal.base_color[3], metal.metallic, cloth.metallic), (0.5, 1.0, 0.0));
    assert_eq!(mesh.materials.len(), 1);
    assert!(mesh.groups.is_empty());
    let attributes: Vec<(&str, f64)> = mesh.attributes.iter().map(|a| (a.name.as_str(), a.values[2])).collect();
    let expected = [("COLOR_0.r", 1.0), ("COLOR_0.g", 0.0), ("COLOR_0.b", 0.2), ("COLOR_0.a", 1.0), ("_PIN", 0.5)];
    assert_eq!(attributes, expected);
    assert!(mesh.attributes.iter().all(|attribute| attribute.values.len() == 6));

    // Two primitives on the same vertices, one more with its own, a line.
    let mut s = rigged();
    s.push("materials", json!({}));
    let mut second = s.json["meshes"][0]["primitives"][0].clone();
    second["material"] = json!(1);
    let mut third = second.clone();
    third["attributes"].as_object_mut().unwrap().remove("TEXCOORD_0");
    third["attributes"].as_object_mut().unwrap().remove("_PIN");
    third.as_object_mut().unwrap().remove("material");
    let line = json!({ "mode": 1, "attributes": second["attributes"] });
    s.json["meshes"][0]["primitives"].as_array_mut().unwrap().extend([line, second, third]);
    let loaded = load(&s, None);
    assert_eq!(loaded.warnings.len(), 1);
    let mesh = loaded.mesh;
    assert_eq!((mesh.positions.len(), mesh.uvs.len(), mesh.normals.len(), mesh.face_count()), (12, 12, 12, 12));
    assert!(mesh.face(3)[0].uv.is_some() && mesh.face(11)[0].uv.is_none() && mesh.face(11)[0].normal.is_some());
    let runs: Vec<(u32, &str)> = mesh.materials.iter().map(|run| (run.first_face, run.name.as_str())).collect();
    assert_eq!(runs, [(0, "silk"), (4, "material_1"), (8, "default")]);
    let groups: Vec<(&str, &[u32])> = mesh.groups.iter().map(|g| (g.name.as_str(), g.faces.as_slice())).collect();
    assert_eq!(groups, [("silk", &[0, 1, 2, 3][..]), ("material_1", &[4, 5, 6, 7]), ("default", &[8, 9, 10, 11])]);
    let pin = mesh.attributes.iter().find(|attribute| attribute.name == "_PIN").unwrap();
    assert_eq!((pin.values[0], pin.values[6], pin.values.len()), (1.0, 0.0, 12));
}

#[test]
fn strips_fans_and_lists_give_the_same_triangles() {
    let faces = |mode: u32, indices: Option<&[u16]>, vertices: &[f32]| -> Vec<Vec<[f64; 3]>> {
        let mut s = triangle();
        let positions = s.floats(vertices, "VEC3");
        s.json["meshes"][0]["primitives"][0] = json!({ "attributes": { "POSITION": positions }, "mode": mode });
        if let Some(indices) = indices {
            let indices = s.accessor(&shorts(indices), UNSIGNED_SHORT, "SCALAR", indices.len());
            s.json["meshes"][0]["primitives"][0]["indices"] = json!(indices);
        }
        let mesh = load(&s, None).mesh;
        let corner = |c: &kiln::mesh::surface::Corner| mesh.positions[c.position as usize].into();
        let mut faces: Vec<Vec<[f64; 3]>> =
            (0..mesh.face_count()).map(|face| mesh.face(face).iter().map(corner).collect()).collect();
        for face in &mut faces {
            let first = (0..3).min_by(|&a, &b| face[a].partial_cmp(&face[b]).unwrap()).unwrap();
            face.rotate_left(first);
        }
        faces
    };
    let listed = faces(4, Some(&STRIP_TRIANGLES), &STRIP);
    assert_eq!(listed.len(), 4);
    assert_eq!(faces(5, None, &STRIP), listed);
    assert_eq!(faces(5, Some(&[0, 1, 2, 3, 4, 5, 5, 5]), &STRIP), listed);
    let quad = [&STRIP[..6], &STRIP[9..12], &STRIP[6..9]].concat();
    assert_eq!(faces(6, None, &quad), faces(4, Some(&[0, 1, 2, 0, 2, 3]), &quad));
}

#[test]
fn nodes_place_still_meshes_and_mirrors_keep_the_outside_outside() {
    let mut s = triangle();
    let normals = s.floats(&[0., 0., 1.].repeat(3), "VEC3");
    s.json["meshes"][0]["primitives"][0]["attributes"]["NORMAL"] = json!(normals);
    s.json["nodes"][0]["scale"] = json!([1.0, 1.0, -2.0]);
    // About x by a quarter turn, up by 5.
    let matrix = [1., 0., 0., 0., 0., 0., 1., 0., 0., -1., 0., 0., 0., 5., 0., 1.];
    s.push("nodes", json!({ "name": "above", "children": [0], "matrix": matrix }));
    s.json["scenes"][0]["nodes"] = json!([1]);
    let loaded = load(&s, None);
    assert!(loaded.animated.is_none());
    near(loaded.mesh.positions[2], [0.0, 5.0, 1.0]);
    let [a, b, c] = [0, 1, 2].map(|k| loaded.mesh.positions[loaded.mesh.corners[k].position as usize]);
    let upright = (b - a).cross(&(c - a)).normalize();
    near(upright, loaded.mesh.normals[0].into());
    near(upright, [0.0, 1.0, 0.0]);
}

#[test]
fn an_animated_node_moves_what_hangs_below_it() {
    let mut s = triangle();
    let times = s.floats(&[0.0, 1.0], "SCALAR");
    let shifts = s.floats(&[0., 0., 0., 4., 0., 0.], "VEC3");
    s.push("nodes", json!({ "name": "cart", "children": [0], "scale": [2.0, 2.0, 2.0] }));
    s.json["scenes"][0]["nodes"] = json!([1]);
    s.push(
        "animations",
        json!({ "samplers": [{ "input": times, "output": shifts }],
        "channels": [{ "sampler": 0, "target": { "node": 1, "path": "translation" } }] }),
    );
    let loaded = load(&s, Some("cart"));
    assert_eq!(loaded.mesh.name, "cart");
    near(posed(&loaded, 0, 0.25, 1.0)[1], [3.0, 0.0, 0.0]);
    near(posed(&loaded, 0, 0.5, 0.5)[1], [3.0, 0.0, 0.0]);
    assert_eq!(loaded.animated.as_ref().unwrap().clips(), [("animation_0", 1.0)]);
    // A clip that moves something else leaves the mesh still.
    s.json["animations"][0]["channels"][0]["target"]["node"] = json!(s.push("nodes", json!({})));
    assert!(load(&s, None).animated.is_none());
}

#[test]
fn quantised_normalised_sparse_and_strided_numbers_are_read() {
    let mut s = triangle();
    s.json["extensionsRequired"] = json!(["KHR_mesh_quantization", "KHR_materials_unlit", "EXT_texture_webp"]);
    let bytes: Vec<u8> =
        [0_i16, 0, 0, 99, 32767, 0, 0, 99, 0, -32768, 0, 99].iter().flat_map(|x| x.to_le_bytes()).collect();
    let positions = s.accessor(&bytes, SHORT, "VEC3", 3);
    let view = s.json["accessors"][positions]["bufferView"].as_u64().unwrap() as usize;
    s.json["bufferViews"][view]["byteStride"] = json!(8);
    s.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"] = json!(positions);
    s.json["nodes"][0]["scale"] = json!([1e-3, 1e-3, 1e-3]);
    near(load(&s, None).mesh.positions[2], [0.0, -32.768, 0.0]);
    s.json["accessors"][positions]["normalized"] = json!(true);
    s.json["nodes"][0]["scale"] = json!([2.0, 2.0, 2.0]);
    let mesh = load(&s, None).mesh;
    near(mesh.positions[1], [2.0, 0.0, 0.0]);
    near(mesh.positions[2], [0.0, -2.0, 0.0]);

    // Zeros with two replaced elements, then the same on top of a real accessor.
    let mut s = triangle();
    let indices = s.view(&[1, 2]);
    let values = s.view(&floats(&[3., 0., 0., 0., 4., 0.]));
    let sparse = json!({ "count": 2, "indices": { "bufferView": indices, "componentType": UNSIGNED_BYTE },
        "values": { "bufferView": values } });
    let zeros = s.push("accessors", json!({ "componentType": FLOAT, "type": "VEC3", "count": 3, "sparse": sparse }));
    s.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"] = json!(zeros);
    near(load(&s, None).mesh.positions[2], [0.0, 4.0, 0.0]);
    s.json["accessors"][0]["sparse"] = sparse;
    s.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"] = json!(0);
    near(load(&s, None).mesh.positions[1], [3.0, 0.0, 0.0]);
}

#[test]
fn more_than_four_influences_count() {
    let mut s = rigged();
    let joints = s.accessor(&shorts(&[1, 0, 0, 0].repeat(6)), UNSIGNED_SHORT, "VEC4", 6);
    let weights = s.accessor(&[255, 0, 0, 0].repeat(6), UNSIGNED_BYTE, "VEC4", 6);
    let attributes = &mut s.json["meshes"][0]["primitives"][0]["attributes"];
    attributes["JOINTS_1"] = json!(joints);
    attributes["WEIGHTS_1"] = json!(weights);
    let loaded = load(&s, None);
    // Vertex 0: joint 0 by 1 and joint 1 by 1, brought to halves. The upper joint turns it about (0, 1), twice as
    // large.
    near(posed(&loaded, 0, 0.5, 1.0)[0], [0.5 * 1.0 + 0.5 * (1.0 + 2.0), 0.5, 0.0]);
}

#[test]
fn a_skin_bound_in_the_space_of_its_holder_stands_upright() {
    let mut s = rigged();
    // The mesh and its bind matrices are in centimetres with Z up; the node above the joints turns and shrinks them.
    let holder = [0.01, 0., 0., 0., 0., 0., -0.01, 0., 0., 0.01, 0., 0., 0., 0., 0., 1.];
    s.push("nodes", json!({ "name": "holder", "children": [1], "matrix": holder }));
    s.json["scenes"][0]["nodes"] = json!([0, 3]);
    s.json.as_object_mut().unwrap().remove("animations");
    let loaded = load(&s, None);
    near(loaded.mesh.positions[5], [0.01125, 0.0, -0.02]);
    assert!(largest(&posed(&loaded, 0, 0.0, 0.0), &loaded.mesh.positions) < 1e-12);
    near(posed(&loaded, 0, 0.0, 1.0)[5], [0.01125, 0.0, -0.02]);
    near(posed(&loaded, 0, 0.0, 0.3)[5], [0.01125, 0.0, -0.02]);
}

#[test]
fn two_skins_and_a_still_mesh_can_be_taken_together() {
    let mut s = rigged();
    let binds: Vec<f32> = [IDENTITY.map(|x| 2.0 * x), IDENTITY].concat();
    let mut binds = binds;
    binds[15] = 1.0;
    let binds = s.floats(&binds, "MAT4");
    s.push("skins", json!({ "joints": [2, 1], "inverseBindMatrices": binds }));
    let primitive = s.json["meshes"][0]["primitives"][0].clone();
    s.push("meshes", json!({ "primitives": [primitive] }));
    s.push("nodes", json!({ "name": "second", "mesh": 1, "skin": 1 }));
    s.push("nodes", json!({ "name": "third", "mesh": 1, "translation": [0.0, 0.0, 3.0] }));
    s.push("nodes", json!({ "name": "all", "children": [0, 1, 3, 4] }));
    s.json["scenes"][0]["nodes"] = json!([5]);
    let loaded = load(&s, Some("all"));
    assert_eq!(loaded.mesh.positions.len(), 18);
    assert!(largest(&posed(&loaded, 0, 0.5, 0.0), &loaded.mesh.positions) < 1e-12);
    let moved = posed(&loaded, 0, 0.5, 1.0);
    near(moved[5], [1.0 - 2.0, 1.0 + 2.5, 0.0]);
    // Second mesh: on the upper joint alone, twice as large by its bind matrix, twice by the joint, without morph
    // weights.
    near(moved[6], [1.0, 1.0, 0.0]);
    near(moved[7], [1.0, 1.0 + 4.0, 0.0]);
    near(moved[17], [1.0, 2.0, 3.0]);
}

#[test]
fn nodes_are_chosen_by_name() {
    let mut s = triangle();
    s.push("nodes", json!({ "name": "skirt", "mesh": 0, "translation": [0.0, 0.0, 1.0] }));
    s.push("nodes", json!({ "name": "clothes", "children": [0, 1] }));
    s.push("nodes", json!({ "name": "spare", "mesh": 0 }));
    s.push("nodes", json!({ "name": "lamp" }));
    s.json["scenes"][0]["nodes"] = json!([2]);
    let all = file(&s.glb());
    assert_eq!(all.object_names(), ["triangle", "skirt"]);
    let choice = all.select(None).unwrap_err();
    assert!(choice.message.contains("2 objects and none is chosen"), "{choice:?}");
    assert!(choice.help.contains("`triangle`, `skirt`"), "{choice:?}");
    let choice = all.select(Some("skrit")).unwrap_err();
    assert!(
        choice.message.contains("no object `skrit`") && choice.help.contains("did you mean `skirt`?"),
        "{choice:?}"
    );
    assert!(all.select(Some("lamp")).unwrap_err().message.contains("no mesh"));
    assert_eq!(load(&s, Some("clothes")).mesh.positions.len(), 6);
    assert_eq!(load(&s, Some("skirt")).mesh.positions[0].z, 1.0);
    assert_eq!(load(&s, Some("spare")).mesh.positions.len(), 3);
    // A bone of the same name is not meant; another mesh could be.
    s.json["nodes"][4]["name"] = json!("skirt");
    assert_eq!(load(&s, Some("skirt")).mesh.positions[0].z, 1.0);
    s.json["nodes"][3]["name"] = json!("skirt");
    let choice = file(&s.glb()).select(Some("skirt")).unwrap_err();
    assert!(choice.message.contains("3 nodes of the file are called `skirt`"), "{choice:?}");
}

fn read(folder: &Path, name: &str, placement: Placement) -> Asset {
    let source = MeshSource::File { typed: format!("assets/{name}"), path: folder.join(name), object: None };
    kiln::import::read(&source, &placement, &KeyPath::default()).unwrap_or_else(|problem| panic!("{problem:?}"))
}

fn unplaced() -> Placement {
    Placement { up: UpAxis::Y, scale: 1.0, rotate: Vec3::zeros(), translate: Vec3::zeros() }
}

#[test]
fn buffers_come_from_the_file_from_beside_it_and_from_data_addresses() {
    let folder = tempfile::tempdir().unwrap();
    let s = rigged();
    let expected = load(&s, None).mesh;
    std::fs::write(folder.path().join("a.glb"), s.glb()).unwrap();
    std::fs::write(folder.path().join("strip of cloth.bin"), &s.bin).unwrap();
    std::fs::write(folder.path().join("b.gltf"), s.text("strip%20of%20cloth.bin")).unwrap();
    let data = format!("data:application/octet-stream;base64,{}", base64(&s.bin));
    std::fs::write(folder.path().join("c.GLTF"), s.text(&data)).unwrap();
    for (name, inputs) in [("a.glb", 1), ("b.gltf", 2), ("c.GLTF", 1)] {
        let asset = read(folder.path(), name, unplaced());
        assert_eq!(asset.mesh, expected, "{name}");
        assert_eq!(asset.inputs.len(), inputs);
        assert_eq!(asset.inputs[0].typed, format!("assets/{name}"));
    }
    let asset = read(folder.path(), "b.gltf", unplaced());
    assert_eq!(asset.inputs[1].typed, "assets/strip%20of%20cloth.bin");
    assert_eq!(asset.inputs[1].bytes, s.bin.len() as u64);
    assert_eq!(asset.inputs[1].xxh3, format!("{:032x}", xxhash_rust::xxh3::xxh3_128(&s.bin)));
}

/// Straight from the table in RFC 4648.
fn base64(bytes: &[u8]) -> String {
    let table = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let number = (0..3).fold(0, |number, n| number << 8 | u32::from(*three.get(n).unwrap_or(&0)));
        for n in 0..4 {
            text.push(if n <= three.len() { table[(number >> (18 - 6 * n) & 63) as usize] as char } else { '=' });
        }
    }
    text
}

#[test]
fn placements_move_the_mesh_and_its_animation_alike() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.glb"), rigged().glb()).unwrap();
    let placement = Placement {
        up: UpAxis::Z,
        scale: 0.01,
        rotate: Vec3::new(0.0, 90.0, 0.0),
        translate: Vec3::new(1.0, 2.0, 3.0),
    };
    let asset = read(folder.path(), "a.glb", placement);
    let animated = asset.animated.unwrap();
    let pose = animated.pose(0, 0.7, 0.0);
    for (v, p) in asset.mesh.positions.iter().enumerate() {
        near(animated.vertex(&pose, v), (*p).into());
    }
    // (-1, 3.5, 0) with Z up is (-1, 0, -3.5); shrunk, turned about y, shifted.
    let pose = animated.pose(0, 0.5, 1.0);
    near(animated.vertex(&pose, 5), [1.0 - 0.035, 2.0, 3.0 + 0.01]);
}

#[test]
fn habits_of_exporters_are_borne() {
    let expected = load(&rigged(), None).mesh;
    // Zeros behind the JSON, a chunk of an unknown kind, a text file with a byte order mark.
    let mut s = rigged();
    s.json["buffers"] = json!([{ "byteLength": s.bin.len() }]);
    let mut json = s.json.to_string().into_bytes();
    json.resize(json.len().next_multiple_of(4) + 4, 0);
    let mut bytes = glb(&json, Some(&s.bin));
    bytes.extend(chunk(b"WHAT", b"ever", 0));
    let length = (bytes.len() as u32).to_le_bytes();
    bytes[8..12].copy_from_slice(&length);
    let padded = file(&bytes);
    assert!(padded.load(&padded.select(None).unwrap()).unwrap().mesh == expected);
    let text = [b"\xef\xbb\xbf", &rigged().text(&format!("data:;base64,{}", base64(&s.bin)))[..]].concat();
    let marked = file(&text);
    assert!(marked.load(&marked.select(None).unwrap()).unwrap().mesh == expected);
    // Textures without a source, images that are not there, channels that an extension explains.
    let mut s = rigged();
    s.json["images"] = json!([{ "uri": "not there.png" }]);
    s.json["textures"] = json!([{ "extensions": { "EXT_texture_webp": { "source": 0 } } }]);
    s.json["materials"][0]["normalTexture"] = json!({ "index": 0 });
    s.json["extensionsRequired"] = json!(["EXT_texture_webp", "KHR_texture_transform", "KHR_materials_clearcoat"]);
    let pointer = json!({ "sampler": 1, "target": { "path": "pointer", "extensions": {} } });
    s.json["animations"][0]["channels"].as_array_mut().unwrap().push(pointer);
    let loaded = load(&s, None);
    assert!(loaded.mesh == expected);
    assert!(loaded.warnings[0].message.contains("animations[0]: 1 channels that move no node"));
    // Names that would disturb a terminal or break a line.
    s.json["nodes"][0]["name"] = json!("clo\u{1b}th\n");
    assert_eq!(file(&s.glb()).object_names(), ["clo_th_"]);
}

#[test]
fn a_long_chain_of_nodes_is_no_problem() {
    let mut s = triangle();
    let count = 100_000;
    let nodes: Vec<_> = (0..count).map(|n| json!({ "children": [n + 1], "translation": [1e-3, 0.0, 0.0] })).collect();
    s.json["nodes"] = json!(nodes);
    s.push("nodes", json!({ "mesh": 0 }));
    let near_end = load(&s, Some("node_0")).mesh.positions[0].x;
    assert!((near_end - 100.0).abs() < 1e-6);
}
