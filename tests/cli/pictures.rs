//! Pictures through the program: which files it writes, what it says when it cannot.

use std::io::Cursor;

use image::{GenericImageView, ImageReader};

use crate::{Place, Run, TINY};

/// A sheet above a ball and a floor.
const BALL: &str = r#"[scene]
name = "drop"
frames = "1-6"
substeps = 4
[[cloth]]
name = "sheet"
mesh = { sheet = { vertices = [9, 9], size = [1.0, 1.0] } }
transform = { translate = [0, 0.62, 0] }
[[collider]]
name = "ball"
shape = "sphere"
center = [0, 0.3, 0]
radius = 0.3
[[collider]]
name = "floor"
shape = "plane"
point = [0, 0, 0]
normal = [0, 1, 0]
"#;

fn baked(scene: &str) -> Place {
    let place = Place::new(scene);
    place.bake(&[]).succeeds();
    place
}

impl Place {
    fn render(&self, arguments: &[&str]) -> Run {
        self.run(&[&["render", "job"], arguments].concat())
    }

    fn size_of(&self, name: &str) -> (u32, u32) {
        let bytes = self.read(name);
        if bytes.starts_with(b"RIFF") {
            // That of a moving WebP stands at its start, less one.
            assert_eq!(&bytes[8..16], b"WEBPVP8X");
            let number = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], 0]) + 1;
            return (number(24), number(27));
        }
        let reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().unwrap();
        reader.into_dimensions().unwrap()
    }
}

#[test]
fn stills_sheets_and_turntables_are_written_where_they_should_be() {
    let place = baked(BALL);
    place.render(&[]).ends_with(0, &["drop.png"]);
    assert_eq!(place.size_of("drop.png"), (1280, 720));
    place.render(&["--frames", "2,4-6x2", "--size", "64x36", "-o", "some/shot.png"]).succeeds();
    let names: Vec<String> =
        place.files("some").iter().map(|(path, _)| path.file_name().unwrap().to_str().unwrap().to_owned()).collect();
    assert_eq!(names, ["shot.0002.png", "shot.0004.png", "shot.0006.png"]);
    assert_eq!(place.size_of("some/shot.0004.png"), (64, 36));
    place.render(&["--sheet", "4", "--columns", "2", "--size", "100x60", "-o", "sheet.png"]).succeeds();
    assert_eq!(place.size_of("sheet.png"), (201, 121));
    place.render(&["--turntable", "3", "--size", "40x30", "-o", "turn.png"]).succeeds();
    let turns = [1, 2, 3].map(|n| place.read(&format!("turn.000{n}.png")));
    assert!(turns[0] != turns[1] && turns[1] != turns[2]);
    // The bake.kc does as well, and a finished GLB.
    place.run(&["render", "job/bake.kc", "-o", "kc.png", "--size", "64x36", "--frame", "2"]).succeeds();
    assert_eq!(place.read("kc.png"), place.read("some/shot.0002.png"));
    place.run(&["convert", "job", "--to", "glb"]).succeeds();
    let glb = place.files("job").into_iter().find(|(path, _)| path.extension().is_some_and(|e| e == "glb")).unwrap().0;
    place.run(&["render", glb.to_str().unwrap(), "-o", "glb.png", "--size", "64x36", "--frame", "2"]).succeeds();
    assert_eq!(place.size_of("glb.png"), (64, 36));
}

#[test]
fn moving_pictures_hold_every_frame() {
    let place = baked(BALL);
    for name in ["move.webp", "move.apng", "move.png"] {
        let animate: &[&str] = if name == "move.png" { &["--animate"] } else { &[] };
        place.render(&[&["-o", name, "--size", "64x48"], animate].concat()).ends_with(0, &["6 frames"]);
        assert_eq!(place.size_of(name), (64, 48));
    }
    assert_eq!(place.read("move.apng"), place.read("move.png"));
    let frames = |bytes: &[u8], chunk: &[u8]| bytes.windows(4).filter(|window| *window == chunk).count();
    assert_eq!(frames(&place.read("move.png"), b"fcTL"), 6);
    assert_eq!(frames(&place.read("move.webp"), b"ANMF"), 6);
    assert!(!place.path("move.webp.partial").exists());
}

/// Every option changes the picture, in the argument and in the environment alike, and threads change nothing.
#[test]
fn options_change_the_picture() {
    let place = baked(BALL);
    let shoot = |arguments: &[&str]| {
        place.render(&[&["-o", "a.png", "--size", "96x72", "--frame", "5"], arguments].concat()).succeeds();
        place.read("a.png")
    };
    let plain = shoot(&[]);
    let changes: [(&str, &str); 13] = [
        ("KILN_CAMERA", "80,20"),
        ("KILN_CAMERA", "-20,-10,3"),
        ("KILN_CAMERA", "2,1,2:0,0.4,0"),
        ("KILN_FOV", "60"),
        ("KILN_COLOUR", "stretch"),
        ("KILN_COLOUR", "contact"),
        ("KILN_WIREFRAME", "1"),
        ("KILN_FLAT", "1"),
        ("KILN_HIDE", "ball"),
        ("KILN_METRIC", "contacts,stretch"),
        ("KILN_FRAME_NUMBER", "1"),
        ("KILN_BACKGROUND", "#203040,#000000"),
        ("KILN_GROUND", "none"),
    ];
    let mut seen = vec![plain.clone()];
    for (name, value) in changes {
        let mut command = place.command(&["render", "job"]);
        command.args(["-o", "b.png", "--size", "96x72", "--frame", "5"]).env(name, value);
        Run::new(command.output().unwrap()).succeeds();
        let option = format!("--{}", name["KILN_".len()..].to_lowercase().replace('_', "-"));
        let typed = match value {
            "1" => shoot(&[&option]),
            value => shoot(&[&format!("{option}={value}")]),
        };
        assert!(place.read("b.png") == typed, "{name}={value} is not the same as {option}");
        assert!(!seen.contains(&typed), "{option} {value} changes nothing");
        seen.push(typed);
    }
    assert!(shoot(&["--threads", "1"]) == plain && shoot(&["--threads", "3"]) == plain);
    // A bake without a floor has its lowest point on the ground.
    let mut command = place.command(&["render", "job", "--size", "96x72"]);
    command.envs([("KILN_OUT", "wrong.png"), ("KILN_FRAMES", "1")]);
    command.envs([("KILN_RENDER_OUT", "right.png"), ("KILN_RENDER_FRAMES", "5")]);
    Run::new(command.output().unwrap()).succeeds();
    assert!(place.read("right.png") == plain && !place.path("wrong.png").exists());
}

/// A cloth behind its render mesh is shown where that is asked for.
#[test]
fn what_is_not_shown_by_itself_can_be_shown() {
    let place = Place::new(&BALL.replace(
        "[[collider]]\nname = \"ball\"",
        "[cloth.render_mesh]\nmesh = \"fine.obj\"\nwrite = \"instead\"\n[[collider]]\nname = \"ball\"",
    ));
    place.write("fine.obj", "v -0.3 0 -0.3\nv 0.3 0 -0.3\nv 0.3 0 0.3\nv -0.3 0 0.3\nf 1 4 3 2\n");
    place.bake(&[]).succeeds();
    let shoot = |arguments: &[&str]| {
        place.render(&[&["-o", "a.png", "--size", "96x72", "--frame", "5"], arguments].concat()).succeeds();
        place.read("a.png")
    };
    let plain = shoot(&[]);
    let shown = shoot(&["--show", "sheet"]);
    assert!(shown != plain);
    assert!(shoot(&["--show", "sheet", "--hide", "sheet"]) == plain);
}

/// What the environment says yields to what is typed, and means nothing where it does not fit.
#[test]
fn the_environment_rules_nothing_out() {
    let place = baked(TINY);
    let usual = ["render", "job", "--size", "32x24", "-o", "a.png"];
    let shoot = |name: &str, value: &str, more: &[&str]| {
        let mut command = place.command(&[&usual[..], more].concat());
        Run::new(command.env(name, value).output().unwrap()).succeeds();
        place.read("a.png")
    };
    let plain = shoot("KILN_COLUMNS", "3", &[]);
    assert_eq!(plain, shoot("KILN_FRAME", "1", &["--frames", "4"]));
    assert_eq!(plain, shoot("KILN_RENDER_FRAMES", "1-2", &["--frame", "4"]));
    let moving = shoot("KILN_SHEET", "2", &["--animate"]);
    assert!(moving.windows(4).any(|chunk| chunk == b"acTL") && place.size_of("a.png") == (32, 24));
    shoot("KILN_ANIMATE", "1", &["--sheet", "2"]);
    assert_eq!(place.size_of("a.png"), (65, 24));
    for (typed, words) in [
        (&["--frame", "1", "--frames", "1-2"][..], "--frames"),
        (&["--sheet", "2", "--animate"], "--animate"),
        (&["--columns", "2"], "--sheet"),
    ] {
        place.render(typed).ends_with(2, &[words]);
    }
}

#[test]
fn pictures_of_nothing_are_told() {
    let place = baked(TINY);
    let small = ["-o", "a.png", "--size", "32x24"];
    let warned = |more: &[&str], words: &[&str]| place.render(&[&small[..], more].concat()).ends_with(0, words);
    warned(&["--hide", "sheet"], &["warning", "every object is hidden"]);
    warned(&["--colour", "contact"], &["warning", "nothing else that could be near"]);
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let place = baked(TINY);
    let wrong: [(&[&str], i32, &[&str]); 20] = [
        (&["--frame", "9"], 3, &["no frame 9", "frames 1 to 4"]),
        (&["--frames", "2-7"], 3, &["no frame 5"]),
        (&["--frames", "2-"], 2, &["--frames", "2-"]),
        (&["--hide", "ball"], 3, &["--hide ball", "there are: sheet"]),
        (&["--show", "ball"], 3, &["--show ball"]),
        (&["--size", "0x10"], 2, &["at least one pixel"]),
        (&["--size", "20000x10"], 2, &["16383"]),
        (&["--size", "16000x16000"], 2, &["pixels in all"]),
        (&["--size", "10"], 2, &["1280x720"]),
        (&["--sheet", "0"], 2, &["--sheet"]),
        (&["--sheet", "4", "--size", "9000x9000"], 2, &["--size"]),
        (&["--camera", "1,2,3,4"], 2, &["--camera"]),
        (&["--camera", "0,95"], 2, &["elevation"]),
        (&["--camera", "0,1,2:0,1,2"], 2, &["its own place"]),
        (&["--fov", "170"], 2, &["150"]),
        (&["--samples", "3"], 2, &["1, 4, 8 and 16"]),
        (&["--background", "red"], 2, &["#e8ecf0"]),
        (&["-o", "picture.gif"], 2, &[".png"]),
        (&["-o", "job/manifest.json/x.png"], 74, &["manifest.json"]),
        (&["--metric", "beauty"], 2, &["beauty"]),
    ];
    for (arguments, code, words) in wrong {
        place.render(arguments).ends_with(code, words);
    }
    std::fs::create_dir(place.path("folder.png")).unwrap();
    place.render(&["-o", "folder.png"]).ends_with(2, &["this is a folder"]);
    place.run(&["render", "nothing"]).ends_with(3, &["nothing", "check the path"]);
    place.run(&["render", "scene.toml"]).ends_with(3, &["scene.toml"]);
    let pictures = std::fs::read_dir(place.path(".")).unwrap().filter(|entry| {
        let path = entry.as_ref().unwrap().path();
        path.is_file() && path.extension().is_some_and(|extension| extension != "toml")
    });
    assert_eq!(pictures.count(), 0, "something was left behind");
}

/// A bake that failed, and one that has only just begun.
#[test]
fn bakes_that_did_not_finish_are_shown() {
    let place = baked(BALL);
    let part = "job/bake.kc.partial";
    std::fs::rename(place.path("job/bake.kc"), place.path(part)).unwrap();
    for (status, words) in [("failed", &[][..]), ("running", &["still running", "frame 6"][..])] {
        let mut manifest = place.json("job/manifest.json");
        manifest["status"] = status.into();
        place.write("job/manifest.json", manifest.to_string());
        place.render(&["-o", "part.png", "--size", "64x36"]).ends_with(0, words);
        assert_eq!(place.size_of("part.png"), (64, 36));
    }
    std::fs::remove_file(place.path(part)).unwrap();
    place.render(&["-o", "none.png"]).ends_with(3, &["has no frames", "wait"]);
    let pixels = |name: &str| {
        let picture = image::load_from_memory(&place.read(name)).unwrap();
        (0..64).map(|x| picture.get_pixel(x, 20)).collect::<Vec<_>>()
    };
    assert!(pixels("part.png").windows(2).any(|pair| pair[0] != pair[1]), "nothing is in the picture");
}
