//! Scenes that are accepted, and what they become.

use kiln::math::Vec3;
use kiln::scene::*;

use crate::{SHORT, good};

#[test]
fn the_shortest_scene_gets_every_default() {
    let resolved = good(SHORT);
    assert_eq!(resolved.problems, []);
    let scene = resolved.scene;
    assert_eq!((scene.name.as_str(), scene.fps.numerator, scene.fps.denominator), ("flag", 24, 1));
    assert_eq!((scene.first_frame, scene.last_frame, scene.preroll), (1001, 1010, 0));
    assert_eq!(scene.written_frames, (1001..=1010).collect::<Vec<_>>());
    assert_eq!(scene.substeps, Substeps::Auto { least: 1, most: 20_000 });
    assert_eq!(scene.gravity.at(0.0), Vec3::new(0.0, -9.81, 0.0));
    assert_eq!((scene.wind.speed.at(0.0), scene.drag.at(0.0)), (0.0, 1.0));
    let cloth = &scene.cloths[0];
    assert_eq!(cloth.mesh, MeshSource::Sheet { vertices: [5, 5], size: [1.0, 1.0], quads: false });
    assert_eq!((cloth.fabric.density, cloth.fabric.bend), (0.15, 1e-5));
    assert_eq!(cloth.placement.scale, 1.0);
    assert_eq!((cloth.fabric.warp, cloth.fabric.weft, cloth.fabric.shear), (None, None, 45.0));
    assert_eq!((cloth.kind, cloth.solver), (ClothKind::Auto, SolverChoice::Auto));
    assert_eq!((cloth.rest, cloth.rest_scale), (RestShape::Mesh, 1.0));
    assert_eq!(cloth.maps, Maps::default());
    assert_eq!(scene.output.formats, [Format::Pc2]);
    assert_eq!(scene.output.pattern, "{object}.####");
    assert_eq!(scene.gates, Gates::default());
}

#[test]
fn a_scene_with_everything() {
    let text = r#"
[scene]
name = "everything"
fps = "24000/1001"
frames = "1-100x2"
preroll = 10
substeps = 8
gravity = { keys = [[1, [0, -9.81, 0]], [50, [0, 0, 0]]], interpolation = "step" }
[wind]
direction = { keys = [[1, [1, 0, 0]], [10, [0, 0, 1]]] }
speed = { keys = [[1, 0], [11, 10.0]], interpolation = "smooth" }
gust = 0.3
turbulence = 0.2
seed = 42
[air]
drag = 0.5
[[cloth]]
name = "round.table"
mesh = { disc = { radius = 0.75, inner = 2302, rim = 120 } }
scale = 2
transform = { translate = [0, 1, 0], rotate = [90, 0, 0] }
fabric = "denim"
bend = 0
max_stretch = 0.02
pins = [
  { vertices = [0, 4] },
  { box = { min = [0, 0, 0], max = [1, 1, 1] }, follow = { translate = { keys = [[1, [0, 0, 0]], [5, [1, 0, 0]]] } } },
]
[[collider]]
name = "floor"
shape = "plane"
point = [0, -1, 0]
normal = [0, 2, 0]
friction = { keys = [[1, 0.1], [2, 0.9]] }
[[collider]]
name = "pole"
shape = "capsule"
from = [0, 0, 0]
to = [0, 2, 0]
radius = 0.1
thickness = 0.01
transform = { rotate = { keys = [[1, [0, 0, 0]], [24, [0, 360, 0]]] } }
[[collider]]
name = "crate"
shape = "box"
center = [0, 0, 0]
size = [1, 2, 3]
transform = { translate = [0, 1, 0], pivot = [1, 1, 1] }
[output]
formats = ["obj", "pc2", "obj"]
unit = "cm"
up = "z"
pattern = '{scene}\{object}_$F4'
space = "local"
[gates]
max_stretch = 0.02
max_constraint_stretch = 0.03
max_penetration = 0.001
"#;
    let scene = good(text).scene;
    assert_eq!((scene.fps.numerator, scene.fps.denominator), (24000, 1001));
    assert_eq!((scene.first_frame, scene.last_frame), (1, 100));
    assert_eq!(scene.written_frames.len(), 50);
    assert_eq!(scene.substeps, Substeps::Fixed(8));
    assert_eq!(scene.gravity.at(49.0).y, -9.81);
    assert_eq!(scene.wind.speed.at(6.0), 5.0);
    assert_eq!(scene.wind.seed, 42);
    let cloth = &scene.cloths[0];
    assert_eq!((cloth.fabric.density, cloth.fabric.bend, cloth.fabric.max_stretch), (0.4, 0.0, 0.02));
    assert_eq!(cloth.placement.scale, 2.0);
    assert_eq!(cloth.pins[0].select, PinSelection::Vertices(vec![0, 4]));
    assert!(
        matches!(&cloth.pins[1].follow, Follow::Motion(motion) if motion.translate.at(3.0) == Vec3::new(0.5, 0.0, 0.0))
    );
    let pivots: Vec<Vec3> = scene.colliders.iter().map(|collider| collider.motion.pivot).collect();
    assert_eq!(pivots, [Vec3::new(0.0, -1.0, 0.0), Vec3::new(0.0, 1.0, 0.0), Vec3::new(1.0, 1.0, 1.0)]);
    assert!(matches!(&scene.colliders[0].shape, Shape::Plane { normal, .. } if *normal == Vec3::y()));
    assert_eq!(scene.output.formats, [Format::Pc2, Format::Obj]);
    assert_eq!(scene.output.pattern, "{scene}/{object}_$F4");
    assert_eq!(scene.output.space, Space::Local);
    assert_eq!(scene.gates.max_penetration, Some(0.001));
    assert_eq!((scene.gates.max_stretch, scene.gates.max_constraint_stretch), (Some(0.02), Some(0.03)));
}

/// The cloth of the shortest scene with some more lines.
fn cloth(lines: &str) -> Cloth {
    good(&format!("{SHORT}{lines}\n")).scene.cloths.remove(0)
}

#[test]
fn models_and_solvers_are_chosen_by_name() {
    let kinds = [ClothKind::Auto, ClothKind::Midpoint, ClothKind::Grid, ClothKind::StretchOnly];
    for kind in kinds {
        assert_eq!(cloth(&format!("model = \"{}\"", kind.name())).kind, kind);
    }
    use SolverChoice::{Auto, Direct, Iterative, Pcg, Strips};
    for solver in [Auto, Iterative, Direct, Strips, Pcg] {
        assert_eq!(cloth(&format!("solver = \"{}\"", solver.name())).solver, solver);
    }
}

#[test]
fn stiffness_comes_from_the_fabric_and_the_scene() {
    let stiffness = |lines: &str| {
        let fabric = cloth(lines).fabric;
        (fabric.warp, fabric.weft, fabric.shear)
    };
    assert_eq!(stiffness("warp = 500"), (Some(500.0), Some(500.0), 45.0));
    assert_eq!(stiffness("warp = 500\nweft = 200\nshear = 20"), (Some(500.0), Some(200.0), 20.0));
    assert_eq!(stiffness("fabric = \"jersey\""), (Some(300.0), Some(120.0), 40.0));
    assert_eq!(stiffness("fabric = \"jersey\"\nweft = 60"), (Some(300.0), Some(60.0), 40.0));
    assert_eq!(stiffness("fabric = \"rubber\""), (Some(750.0), Some(750.0), 250.0));
    assert_eq!(cloth("fabric = \"rubber\"").fabric.max_stretch, 1.0);
}

#[test]
fn the_rest_shape_is_the_mesh_or_its_uv_layout() {
    assert_eq!(cloth("rest = \"mesh\"").rest, RestShape::Mesh);
    let pattern = cloth("rest = { uv = 1.5 }\nrest_scale = 0.95");
    assert_eq!((pattern.rest, pattern.rest_scale), (RestShape::Uv { metres: 1.5 }, 0.95));
}

#[test]
fn maps_come_from_attributes_images_and_groups() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mask.PNG"), "found, not read").unwrap();
    let lines = "density_map = { attribute = \"_THICK\" }\n\
                 bend_map = { image = \"mask.PNG\", channel = \"g\", range = [1, 10] }\n\
                 stretch_map = { groups = { collar = 3.0, \"left hem\" = 2 } }\n";
    let scene = read_text("flag.toml", &format!("{SHORT}{lines}"), folder.path(), &[], None).unwrap().scene;
    let maps = &scene.cloths[0].maps;
    assert_eq!(maps.density, Some(MapSource::Attribute { name: "_THICK".to_owned(), range: [0.0, 1.0] }));
    let image = MapSource::Image {
        typed: "mask.PNG".to_owned(),
        path: folder.path().join("mask.PNG"),
        channel: Channel::G,
        range: [1.0, 10.0],
    };
    assert_eq!(maps.bend, Some(image));
    let groups = [("collar".to_owned(), 3.0), ("left hem".to_owned(), 2.0)];
    assert_eq!(maps.max_stretch, Some(MapSource::Groups(groups.into())));
    // A factor of 0 leaves a place without bending stiffness.
    cloth("bend_map.groups = { soft = 0 }");
}

#[test]
fn the_choice_of_steps_can_be_bounded() {
    let substeps =
        |typed: &str| good(&SHORT.replace("[scene]\n", &format!("[scene]\nsubsteps = {typed}\n"))).scene.substeps;
    assert_eq!(substeps("\"auto\""), Substeps::AUTO);
    assert_eq!(substeps("{}"), Substeps::AUTO);
    assert_eq!(substeps("{ min = 20, max = 4000 }"), Substeps::Auto { least: 20, most: 4000 });
    assert_eq!(substeps("{ max = 40 }"), Substeps::Auto { least: 1, most: 40 });
    assert_eq!(substeps("{ min = 50000 }"), Substeps::Auto { least: 50_000, most: 50_000 });
    assert_eq!(substeps("7"), Substeps::Fixed(7));
}

#[test]
fn pins_may_have_headers_of_their_own() {
    let scene = good(&format!("{SHORT}[[cloth.pins]]\nboundary = 0\n[[cloth.pins]]\ngroup = \"hem\"\n")).scene;
    let selections: Vec<_> = scene.cloths[0].pins.iter().map(|pin| pin.select.clone()).collect();
    assert_eq!(selections, [PinSelection::Boundary(0), PinSelection::Group("hem".to_owned())]);
}

#[test]
fn mesh_files_are_found_beside_the_scene_with_either_slash() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("meshes")).unwrap();
    std::fs::write(folder.path().join("meshes/shirt.OBJ"), "v 0 0 0\n").unwrap();
    let path = folder.path().join("scene.toml");
    let head =
        "[scene]\nname = \"a\"\nframes = 7\n[[cloth]]\nname = \"shirt\"\nunit = \"cm\"\nscale = 2\nobject = \"body\"\n";
    std::fs::write(&path, format!("{head}mesh = 'meshes\\shirt.OBJ'\n")).unwrap();
    let scene = read(&path, &[], None).unwrap().scene;
    assert_eq!(scene.written_frames, [7]);
    assert_eq!(scene.cloths[0].placement.scale, 0.02);
    let expected = MeshSource::File {
        typed: "meshes\\shirt.OBJ".to_owned(),
        path: folder.path().join("meshes/shirt.OBJ"),
        object: Some("body".to_owned()),
    };
    assert_eq!(scene.cloths[0].mesh, expected);
}

#[test]
fn windows_line_ends_and_a_byte_order_mark_are_fine() {
    good(&format!("\u{feff}{}", SHORT.replace('\n', "\r\n")));
}

#[test]
fn the_schema_is_complete_and_free_of_null() {
    let schema = schema();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(schema["title"], "Kiln scene");
    let text = schema.to_string();
    assert!(!text.contains("null"));
    for key in ["turbulence", "max_constraint_stretch", "pivot", "boundary", "stretch_only", "luminance"] {
        assert!(text.contains(key), "{key}");
    }
    assert_eq!(schema["$defs"]["WindSection"]["properties"]["direction"]["default"][0], 1.0);
}

#[test]
fn names_that_differ_in_case_only_are_warned_about() {
    let resolved =
        good(&format!("{SHORT}[[cloth]]\nname = \"Cloth\"\nmesh.sheet = {{ vertices = [2, 2], size = [1, 1] }}\n"));
    assert_eq!(resolved.problems.len(), 1);
    assert!(resolved.problems[0].message.contains("upper and lower case"));
}
