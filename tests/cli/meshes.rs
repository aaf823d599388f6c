//! Meshes of every sort of quality: refused with a line, or baked. Never a panic.

use crate::{Place, TINY};

const TRIANGLE: &str = "v 0 0 0\nv 1 0 0\nv 0 0 1\n";

fn with_mesh(mesh: impl AsRef<[u8]>) -> Place {
    let place = Place::new(&TINY.replace("{ sheet = { vertices = [5, 5], size = [1.0, 1.0] } }", "\"cloth.obj\""));
    place.write("cloth.obj", mesh);
    place
}

#[test]
fn meshes_that_cannot_be_used_are_refused_with_their_line() {
    let refused: [(&str, String, &str); 13] = [
        ("a number cut off", "v 0 0 0\nv 1 0".into(), "cloth.obj:2"),
        ("not a number", "v 0 0 0\nv 1 nan 0\n".into(), "cloth.obj:2"),
        ("infinite", "v 0 0 inf\n".into(), "cloth.obj:1"),
        ("a huge index", format!("{TRIANGLE}f 1 2 99999999999999999999\n"), "cloth.obj:4"),
        ("an index beyond the end", format!("{TRIANGLE}f 1 2 4\n"), "cloth.obj:4"),
        ("index 0", format!("{TRIANGLE}f 0 1 2\n"), "cloth.obj:4"),
        ("before the start", format!("{TRIANGLE}\nf -1 -2 -4\n"), "cloth.obj:5"),
        ("two corners", format!("{TRIANGLE}f 1 2\n"), "cloth.obj:4"),
        ("empty", String::new(), "no faces"),
        ("only vertices", TRIANGLE.into(), "no faces"),
        ("no area", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n".into(), "no triangle with an area"),
        ("another language", "<html>\n<body>".into(), "cloth.obj:1"),
        ("too large", TRIANGLE.replace('1', "1e60") + "f 1 2 3\n", "too far away"),
    ];
    for (what, mesh, words) in refused {
        println!("{what}");
        let place = with_mesh(&mesh);
        place.bake(&[]).ends_with(3, &[words, "cloth.obj"]);
        place.run(&["check", "scene.toml"]).ends_with(3, &[words]);
        assert!(!place.path("job").exists());
        let inspected = place.run(&["inspect", "cloth.obj"]);
        assert!(matches!(inspected.code, Some(0 | 3)), "{}", inspected.err);
    }
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let noise: Vec<u8> = (0..4096_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let mut glb = b"glTF\x02\0\0\0".to_vec();
    glb.extend(&noise);
    for mesh in [noise, glb, vec![0; 1000], vec![0xff; 1000]] {
        with_mesh(mesh).bake(&[]).ends_with(3, &["cloth.obj"]);
    }
}

#[test]
fn a_mesh_cut_off_anywhere_is_refused_or_baked() {
    let whole = format!("o cloth\n{TRIANGLE}v 1 0 1\nvt 0 0\ng hem\nusemtl silk\nf 1/1 2/1 4/1 3/1\n");
    for length in (0..whole.len()).step_by(3) {
        let run = with_mesh(&whole[..length]).bake(&[]);
        let code = run.code.unwrap_or(-1);
        assert!(code == 0 || code == 3, "{length}: {}", run.err);
        run.ends_with(code, &[]);
    }
}

#[test]
fn meshes_with_blemishes_bake_and_the_log_says_so() {
    let quad = format!("{TRIANGLE}v 1 0 1\n");
    let baked: [(&str, String, &str); 8] = [
        ("no newline at the end", format!("{quad}f 1 2 4 3"), ""),
        ("Windows line ends", format!("{quad}f 1 2 4 3\n").replace('\n', "\r\n"), ""),
        ("negative indices", format!("{quad}f -4 -3 -1 -2\n"), ""),
        ("duplicate faces", format!("{quad}f 1 2 3\nf 2 4 3\nf 3 1 2\n"), "1 faces that are drawn twice"),
        ("an isolated vertex", format!("{quad}v 5 5 5\nf 1 2 4 3\n"), "1 vertices without a face"),
        ("a flat triangle", format!("{quad}v 2 0 0\nf 1 2 4 3\nf 1 2 5\n"), "1 triangles without area"),
        (
            "three faces at an edge",
            format!("{quad}v 1 1 1\nv 1 -1 1\nf 1 2 4\nf 1 5 4\nf 1 6 4\n"),
            "1 edges with more than two",
        ),
        ("repeated vertices", format!("{quad}{TRIANGLE}f 1 2 3\nf 6 4 7\n"), ""),
    ];
    for (what, mesh, words) in baked {
        println!("{what}");
        let place = with_mesh(&mesh);
        place.bake(&[]).ends_with(0, &[words]);
        let vertices = mesh.lines().filter(|line| line.starts_with("v ")).count();
        assert_eq!(place.read("job/sheet.pc2").len(), 32 + 4 * 12 * vertices, "{what}");
        place.run(&["inspect", "cloth.obj", "--json"]).succeeds();
    }
}

#[test]
fn the_rest_mesh_keeps_libraries_smoothing_and_normals() {
    let mesh = "mtllib a.mtl b.mtl\nmtllib c.mtl\no part\nv 0 0 0\nv 1 0 0\nv 0 0 1\nv 1 0 1\nvt 0 0\nvn 0 1 0\nvn 0 0 1\n\
                s 1\nf 1/1/1 2/1/1 3/1/2\ns off\nf 2//1 4//1 3//2\n";
    let place = with_mesh(mesh);
    let turned = ["--set", "cloth.sheet.transform={ rotate = [90, 0, 0] }", "--set", "output.formats=[\"obj\"]"];
    let lines = |file: &str, starts: &[&str]| -> Vec<String> {
        let text = String::from_utf8(place.read(file)).unwrap();
        let is_wanted = |line: &&str| starts.iter().any(|start| line.starts_with(start));
        text.lines().filter(is_wanted).map(str::to_owned).collect()
    };
    place.bake(&turned).succeeds();
    let faces = ["s 1", "f 1/1/1 2/1/1 3/1/2", "s off", "f 2//1 4//1 3//2"];
    let libraries = ["mtllib a.mtl b.mtl", "mtllib c.mtl"];
    assert_eq!(lines("job/rest/sheet.obj", &["s ", "f "]), faces);
    assert_eq!(lines("job/rest/sheet.obj", &["mtllib"]), libraries);
    assert_eq!(lines("job/sheet.0002.obj", &["mtllib"]), libraries);
    // New normals for every frame: one for each vertex, because no vertex has two in the file.
    assert_eq!(lines("job/sheet.0002.obj", &["s ", "f "]), ["s 1", "f 1/1/1 2/1/2 3/1/3", "s off", "f 2//2 4//4 3//3"]);
    assert_eq!(lines("job/sheet.0002.obj", &["vn"]), ["vn 0 0 -1"; 4]);
    let normals = |place: &Place| -> Vec<f32> {
        let text = String::from_utf8(place.read("job/rest/sheet.obj")).unwrap();
        let numbers = text.lines().filter_map(|line| line.strip_prefix("vn ")).flat_map(|line| line.split(' '));
        numbers.map(|number| number.parse().unwrap()).collect()
    };
    let expect = |expected: [f32; 6]| {
        let found = normals(&place);
        assert!(found.len() == 6 && found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?}");
    };
    // Up turned about x is towards us, and what was towards us points down.
    expect([0.0, 0.0, 1.0, 0.0, -1.0, 0.0]);
    place.bake(&[&turned[..], &["--restart", "--set", "output.up=z", "--set", "output.unit=cm"]].concat()).succeeds();
    expect([0.0, -1.0, 0.0, 0.0, 0.0, -1.0]);
    place.bake(&[&turned[..], &["--restart", "--set", "output.space=local"]].concat()).succeeds();
    expect([0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
}

#[test]
fn several_objects_have_to_be_chosen_from() {
    let place = with_mesh(format!("o front\n{TRIANGLE}f 1 2 3\no back\n{TRIANGLE}f 4 5 6\n"));
    place.bake(&[]).ends_with(3, &["2 objects and none is chosen", "front", "back"]);
    place.bake(&["--set", "cloth.sheet.object=back"]).succeeds();
    place.bake(&["--set", "cloth.sheet.object=bach", "--restart"]).ends_with(3, &["no object or group `bach`"]);
}

#[test]
fn a_mesh_in_centimetres_is_noticed() {
    let place = with_mesh(TRIANGLE.replace('1', "172") + "f 1 2 3\n");
    place.run(&["check", "scene.toml"]).ends_with(0, &["centimetres?", "unit = \"cm\""]);
    assert!(place.run(&["inspect", "cloth.obj"]).succeeds().out.contains("centimetres?"));
}

#[test]
fn a_mesh_whose_faces_disagree_has_no_one_side() {
    let place = Place::new(&format!(
        "{TINY}\n[[collider]]\nname = \"hill\"\nshape = \"mesh\"\nmesh = \"hill.obj\"\nsides = \"one\"\n"
    ));
    place.write("hill.obj", "v 0 -9 0\nv 1 -9 0\nv 0 -9 1\nv 1 -9 1\nf 1 3 2\nf 2 3 4\n");
    place.run(&["check", "scene.toml"]).ends_with(0, &[]);
    place.write("hill.obj", "v 0 -9 0\nv 1 -9 0\nv 0 -9 1\nv 1 -9 1\nf 1 3 2\nf 2 4 3\n");
    place.run(&["check", "scene.toml"]).ends_with(3, &["do not agree", "sides = \"one\"", "sides = \"two\""]);
    place.run(&["check", "scene.toml", "--set", "collider.hill.sides=two"]).ends_with(0, &[]);
}
