//! Colliders whose vertices move: the same motion by scene keys, node, skin and morph target gives the same bake, and pins
//! follow surfaces that bend.

use std::path::Path;

use crate::support::World;
use kiln::math::{Mat3, Vec3};
use kiln::model::{Moment, MovingCollider};
use kiln::solver::cpu::CpuBackend;
use kiln::solver::{Backend, Vertices};
use serde_json::{Value as Json, json};

/// A slab of 1 × 0.2 × 1 m, its top at y = 0.
const CORNERS: [[f32; 3]; 8] = [
    [-0.5, -0.2, -0.5],
    [0.5, -0.2, -0.5],
    [0.5, 0.0, -0.5],
    [-0.5, 0.0, -0.5],
    [-0.5, -0.2, 0.5],
    [0.5, -0.2, 0.5],
    [0.5, 0.0, 0.5],
    [-0.5, 0.0, 0.5],
];
const TRIANGLES: [[u32; 3]; 12] = [
    [0, 2, 1],
    [0, 3, 2],
    [4, 5, 6],
    [4, 6, 7],
    [0, 1, 5],
    [0, 5, 4],
    [3, 7, 6],
    [3, 6, 2],
    [0, 4, 7],
    [0, 7, 3],
    [1, 2, 6],
    [1, 6, 5],
];

/// A glTF file in the making: numbers go to its buffer, accessors are written down as they come.
#[derive(Default)]
struct Gltf {
    bytes: Vec<u8>,
    accessors: Vec<Json>,
    views: Vec<Json>,
}

impl Gltf {
    fn accessor(&mut self, kind: &str, component: u32, count: usize, bytes: &[u8]) -> usize {
        self.views.push(json!({ "buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len() }));
        self.bytes.extend_from_slice(bytes);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let view = self.views.len() - 1;
        self.accessors.push(json!({ "bufferView": view, "componentType": component, "count": count, "type": kind }));
        self.accessors.len() - 1
    }

    fn floats(&mut self, kind: &str, count: usize, values: &[f32]) -> usize {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.accessor(kind, 5126, count, &bytes)
    }

    fn write(self, folder: &Path, mut document: Json) {
        std::fs::write(folder.join("slab.bin"), &self.bytes).unwrap();
        document["asset"] = json!({ "version": "2.0" });
        document["buffers"] = json!([{ "uri": "slab.bin", "byteLength": self.bytes.len() }]);
        document["bufferViews"] = json!(self.views);
        document["accessors"] = json!(self.accessors);
        std::fs::write(folder.join("slab.gltf"), document.to_string()).unwrap();
    }
}

/// A slab that moves by 0.3 m along x in the first second, in one of three ways.
fn write_slab(folder: &Path, how: &str) {
    let mut file = Gltf::default();
    let position = file.floats("VEC3", 8, CORNERS.as_flattened());
    let indices: Vec<u8> = TRIANGLES.as_flattened().iter().flat_map(|index| index.to_le_bytes()).collect();
    let indices = file.accessor("SCALAR", 5125, 36, &indices);
    let times = file.floats("SCALAR", 2, &[0.0, 1.0]);
    let mut primitive = json!({ "attributes": { "POSITION": position }, "indices": indices });
    let mut nodes = vec![json!({ "name": "slab", "mesh": 0 })];
    let mut document = json!({ "scene": 0 });
    let (target, path, output) = match how {
        "node" => (0, "translation", file.floats("VEC3", 2, &[0.0, 0.0, 0.0, 0.3, 0.0, 0.0])),
        "skin" => {
            let weights = file.floats("VEC4", 8, &[1.0, 0.0, 0.0, 0.0].repeat(8));
            let joints = file.accessor("VEC4", 5121, 8, &[0; 32]);
            primitive["attributes"]["JOINTS_0"] = json!(joints);
            primitive["attributes"]["WEIGHTS_0"] = json!(weights);
            nodes[0]["skin"] = json!(0);
            nodes.push(json!({ "name": "bone" }));
            document["skins"] = json!([{ "joints": [1] }]);
            (1, "translation", file.floats("VEC3", 2, &[0.0, 0.0, 0.0, 0.3, 0.0, 0.0]))
        }
        _ => {
            let delta = file.floats("VEC3", 8, &[1.0, 0.0, 0.0].repeat(8));
            primitive["targets"] = json!([{ "POSITION": delta }]);
            (0, "weights", file.floats("SCALAR", 2, &[0.0, 0.3]))
        }
    };
    document["scenes"] = json!([{ "nodes": (0..nodes.len()).collect::<Vec<_>>() }]);
    document["nodes"] = json!(nodes);
    document["meshes"] = json!([{ "primitives": [primitive] }]);
    document["animations"] = json!([{
        "name": "Slide",
        "channels": [{ "sampler": 0, "target": { "node": target, "path": path } }],
        "samplers": [{ "input": times, "output": output }],
    }]);
    file.write(folder, document);
}

fn carried(collider: &str, folder: &Path) -> Vec<Vec3> {
    let world = World::in_folder(
        &format!(
            r#"
            [scene]
            name = "carried"
            fps = 24
            frames = "10-40"
            substeps = 60
            [[cloth]]
            name = "sheet"
            mesh = {{ sheet = {{ vertices = [13, 13], size = [0.4, 0.4] }} }}
            transform = {{ translate = [0, 0.004, 0], rotate = [0, 20, 0] }}
            thickness = 0.003
            friction = 0.9
            [[collider]]
            name = "slab"
            shape = "mesh"
            friction = 0.9
            {collider}
            "#
        ),
        folder,
        &[],
    );
    let mut last = Vec::new();
    world.simulate(|frame| {
        assert!(frame.quality[0].max_penetration < 1e-6, "frame {}", frame.number);
        last.clone_from(&frame.vertices[0].positions);
    });
    last
}

#[test]
fn keys_node_skin_and_morph_carry_a_cloth_alike() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::new();
    CORNERS.iter().for_each(|[x, y, z]| text += &format!("v {x} {y} {z}\n"));
    TRIANGLES.iter().for_each(|[a, b, c]| text += &format!("f {} {} {}\n", a + 1, b + 1, c + 1));
    std::fs::write(folder.path().join("slab.obj"), text).unwrap();
    let keyed = "mesh = \"slab.obj\"\ntransform = { translate = { keys = [[10, [0, 0, 0]], [34, [0.3, 0, 0]]] } }";
    let by_keys = carried(keyed, folder.path());
    let middle = by_keys.iter().sum::<Vec3>() / by_keys.len() as f64;
    assert!((0.28..0.31).contains(&middle.x), "friction carries it along: {middle:?}");
    for how in ["node", "skin", "morph"] {
        write_slab(folder.path(), how);
        let carried = carried("mesh = \"slab.gltf\"\nobject = \"slab\"", folder.path());
        let worst = carried.iter().zip(&by_keys).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        assert!(worst < 1e-4, "{how}: {worst} m off");
    }
}

/// Two cloths from the first frame on, and a skin so thick that it is felt from farther away than anything is looked for.
#[test]
fn two_cloths_rest_on_the_thick_skin_of_an_animated_mesh() {
    let folder = tempfile::tempdir().unwrap();
    write_slab(folder.path(), "node");
    let cloth = |name: &str, x: f64| {
        format!(
            "[[cloth]]\nname = \"{name}\"\nmesh = {{ sheet = {{ vertices = [9, 9], size = [0.1, 0.1] }} }}\n\
             transform = {{ translate = [{x}, 0.15, 0] }}\nthickness = 0.001\nbend = 1e-5\n"
        )
    };
    let text = format!(
        "[scene]\nname = \"thick\"\nfps = 24\nframes = \"0-12\"\nsubsteps = 60\n{}{}[[collider]]\nname = \"slab\"\n\
         shape = \"mesh\"\nmesh = \"slab.gltf\"\nthickness = 0.12\n",
        cloth("left", -0.1),
        cloth("right", 0.1)
    );
    let world = World::in_folder(&text, folder.path(), &[]);
    world.simulate(|frame| {
        for vertices in frame.vertices {
            let lowest = vertices.positions.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
            assert!(lowest > 0.1205, "frame {}: {lowest}", frame.number);
            assert!(frame.number < 12 || lowest < 0.125, "it has come to rest: {lowest}");
        }
    });
}

/// Deeper than any triangle is near, in the middle of a slab that is moved by a clip: it is noticed in every frame, and led out.
#[test]
fn cloth_deep_inside_an_animated_body_is_noticed_and_led_out() {
    let folder = tempfile::tempdir().unwrap();
    write_slab(folder.path(), "node");
    let text = "[scene]\nname = \"deep\"\nfps = 24\nframes = \"0-12\"\nsubsteps = 20\n\
                [[cloth]]\nname = \"c\"\nmesh = { sheet = { vertices = [9, 9], size = [0.04, 0.04] } }\n\
                transform = { translate = [0, -0.08, 0] }\nthickness = 0.001\nbend = 1e-6\n\
                [[collider]]\nname = \"slab\"\nshape = \"mesh\"\nmesh = \"slab.gltf\"\n";
    let world = World::in_folder(text, folder.path(), &[]);
    let mut depths = Vec::new();
    world.simulate(|frame| depths.push(frame.quality[0].max_penetration));
    // 8 cm at 1 m/s take two frames.
    assert!(depths[0] > 0.02 && depths[0] < 0.06, "{depths:?}");
    assert!(depths[3..].iter().all(|depth| *depth < 1e-6), "{depths:?}");
}

#[test]
fn clips_start_late_run_faster_and_loop() {
    let folder = tempfile::tempdir().unwrap();
    write_slab(folder.path(), "node");
    let x_at = |animation: &str, frame: f64| {
        let text = format!(
            "[scene]\nname = \"a\"\nfps = 24\nframes = \"10-40\"\n[[cloth]]\nname = \"c\"\n\
             mesh = {{ sheet = {{ vertices = [3, 3], size = [0.1, 0.1] }} }}\ntransform = {{ translate = [0, 5, 0] }}\n\
             [[collider]]\nname = \"slab\"\nshape = \"mesh\"\nmesh = \"slab.gltf\"\n{animation}\n"
        );
        let world = World::in_folder(&text, folder.path(), &[]);
        let surface = world.model.colliders[0].animated().unwrap();
        surface.positions(Moment::at(frame))[0].x + 0.5
    };
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-6, "{a} {b}");
    close(x_at("", 22.0), 0.15);
    close(x_at("animation = \"Slide\"", 60.0), 0.3);
    close(x_at("animation = \"Slide\"", 0.0), 0.0);
    close(x_at("animation = { offset = 0.25 }", 10.0), 0.075);
    close(x_at("animation = { speed = 2 }", 16.0), 0.15);
    close(x_at("animation = { speed = -1, offset = 1 }", 16.0), 0.225);
    close(x_at("animation = { loop = true }", 10.0 + 24.0 * 3.5), 0.15);
    close(x_at("animation = { loop = true }", 10.0 - 6.0), 0.225);
}

/// A square of two triangles with an attribute: one corner held, one drawn, two free.
fn write_painted_square(folder: &Path) {
    let mut file = Gltf::default();
    let corners = [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [1.0, 0.0, 0.0]];
    let position = file.floats("VEC3", 4, corners.as_flattened());
    let pin = file.floats("SCALAR", 4, &[1.0, 0.25, 0.0, -1.0]);
    let indices: Vec<u8> = [0_u32, 1, 2, 0, 2, 3].iter().flat_map(|index| index.to_le_bytes()).collect();
    let indices = file.accessor("SCALAR", 5125, 6, &indices);
    let primitive = json!({ "attributes": { "POSITION": position, "_PIN": pin }, "indices": indices });
    let nodes = json!([{ "name": "square", "mesh": 0 }]);
    let scenes = json!([{ "nodes": [0] }]);
    file.write(
        folder,
        json!({ "scene": 0, "scenes": scenes, "nodes": nodes, "meshes": [{ "primitives": [primitive] }] }),
    );
}

#[test]
fn painted_weights_pin_the_vertices_of_a_gltf_cloth() {
    let folder = tempfile::tempdir().unwrap();
    write_painted_square(folder.path());
    let text = "[scene]\nname = \"a\"\nframes = \"0-4\"\n[[cloth]]\nname = \"c\"\nmesh = \"slab.gltf\"\nbend = 0\n\
                pins = [{ attribute = \"_PIN\", weight = 0.8 }, { vertices = [0] }]\n";
    let world = World::in_folder(text, folder.path(), &[]);
    let pins = &world.model.cloths[0].pins;
    assert_eq!(pins.vertices.iter().map(|pin| pin.vertex).collect::<Vec<_>>(), [0], "the last pin decides");
    assert_eq!(pins.soft.iter().map(|soft| soft.pin.vertex).collect::<Vec<_>>(), [1]);
    // What is left of a gap after a frame is (1 + w T) exp(-w T).
    let wt = pins.soft[0].frequency / 24.0;
    assert!(((1.0 + wt) * (-wt).exp() - (1.0 - 0.8 * 0.25)).abs() < 1e-9);
    world.simulate(|frame| assert!(frame.vertices[0].positions[0].norm() < 1e-9));
}

#[test]
fn a_waist_stays_on_the_hips_of_the_walking_figure() {
    let meshes = Path::new(env!("CARGO_MANIFEST_DIR")).join("meshes");
    let text = r#"
        [scene]
        name = "waist"
        frames = "1-5"
        substeps = 100
        [[cloth]]
        name = "skirt"
        mesh = "skirt_flared.obj"
        max_stretch = 0.05
        pins = [{ boundary = 0, follow = "figure" }]
        [[collider]]
        name = "figure"
        shape = "mesh"
        mesh = "walking_figure.glb"
        animation = { speed = 4 }
        transform = { translate = { keys = [[1, [0, 0, 0]], [5, [0, 0, 0.1]]] }, rotate = { keys = [[1, [0, 0, 0]], [5, [0, 10, 0]]] } }
    "#;
    let world = World::in_folder(text, &meshes, &[]);
    let cloth = &world.model.cloths[0];
    assert_eq!(cloth.pins.vertices.len(), 36);
    let surface = world.model.colliders[0].animated().unwrap();
    let corners_at = |frame: i64| {
        let positions = surface.positions(Moment::at(frame as f64));
        move |part: u32| surface.shape.triangles()[part as usize].map(|v| positions[v as usize])
    };
    // Each vertex in the coordinates of the triangle below it: barycentric, and an arm along edge, normal and across.
    let figure = MovingCollider::at(&world.model.colliders[0], 0, Moment::at(1.0));
    let at_start = corners_at(1);
    let bound = cloth.pins.vertices.iter().map(|pin| {
        let p = cloth.mesh.positions[pin.vertex as usize];
        let nearest = figure.nearest(p, 1.0).unwrap();
        let [a, b, c] = at_start(nearest.part);
        let solved = Mat3::from_columns(&[a, b, c]).try_inverse().unwrap() * nearest.place;
        let arm = axes([a, b, c]).transpose() * (p - nearest.place);
        (pin.vertex as usize, nearest.part, solved, arm)
    });
    let bound: Vec<_> = bound.collect();
    let mut moved = 0.0_f64;
    world.simulate(|frame| {
        let positions = &frame.vertices[0].positions;
        let corners_now = corners_at(frame.number);
        for (vertex, part, barycentric, arm) in &bound {
            let corners = corners_now(*part);
            let carried = Mat3::from_columns(&corners) * barycentric + axes(corners) * arm;
            let error = (positions[*vertex] - carried).norm();
            assert!(error < 1e-9, "frame {}: vertex {vertex} is {error} m off", frame.number);
        }
        let way = |v: u32| (positions[v as usize] - cloth.mesh.positions[v as usize]).norm();
        moved = cloth.pins.vertices.iter().map(|pin| way(pin.vertex)).fold(moved, f64::max);
    });
    assert!(moved > 0.1, "the hips move: {moved}");
}

/// Along the first edge, along the normal, and across both.
fn axes([a, b, c]: [Vec3; 3]) -> Mat3 {
    let (along, normal) = ((b - a).normalize(), (b - a).cross(&(c - a)).normalize());
    Mat3::from_columns(&[along, normal, along.cross(&normal)])
}

#[test]
fn two_cloths_follow_two_animated_colliders_from_the_first_frame_on() {
    let folder = tempfile::tempdir().unwrap();
    write_slab(folder.path(), "node");
    let cloth = |name: &str, z: f64, leader: &str| {
        format!(
            "[[cloth]]\nname = \"{name}\"\nmesh = {{ sheet = {{ vertices = [5, 5], size = [0.4, 0.4] }} }}\n\
             transform = {{ translate = [0, 0.01, {z}] }}\npins = [{{ boundary = 0, follow = \"{leader}\" }}]\n"
        )
    };
    let collider = |name: &str, keys: &str| {
        format!(
            "[[collider]]\nname = \"{name}\"\nshape = \"mesh\"\nmesh = \"slab.gltf\"\n\
             transform = {{ translate = {{ keys = {keys} }} }}\n"
        )
    };
    let text = [
        "[scene]\nname = \"two\"\nfps = 24\nframes = \"10-16\"\n".to_owned(),
        cloth("near", 0.0, "slides"),
        cloth("far", 3.0, "rises"),
        collider("slides", "[[10, [0, 0, 0]], [16, [0, 0, 0.06]]]"),
        collider("rises", "[[10, [0, 0, 3]], [16, [0, 0.1, 3]]]"),
    ];
    let world = World::in_folder(&text.concat(), folder.path(), &[]);
    let mut backend = CpuBackend::new(&world.scene, &world.model);
    for cloth in 0..2 {
        backend.fetch(&world.start, cloth, &mut Vertices::default());
    }
    let starts: Vec<Vec3> = world.model.cloths.iter().map(|cloth| cloth.mesh.positions[0]).collect();
    world.simulate(|frame| {
        // The clip's way and that of the keys add up.
        let part = (frame.number - 10) as f64 / 6.0;
        for (cloth, keyed) in [Vec3::new(0.0, 0.0, 0.06), Vec3::new(0.0, 0.1, 0.0)].into_iter().enumerate() {
            let way = frame.vertices[cloth].positions[0] - starts[cloth];
            let wanted = (keyed + Vec3::new(0.075, 0.0, 0.0)) * part;
            assert!((way - wanted).norm() < 1e-6, "cloth {cloth}, frame {}: {way:?}, not {wanted:?}", frame.number);
        }
    });
}
