//! Every kind of mistake: where it is shown, and what is said about it.

use std::path::Path;

use kiln::scene::problem::Place;
use kiln::scene::{diagnostics, read, read_text};

use crate::{SHORT, bad, expect, plain, summary};

/// Appended lines, and the only problem they cause, as `line:column message` (`SHORT` ends with line 6).
#[test]
fn each_mistake_is_named() {
    let cases = [
        // What the schema knows.
        ("strech = 1", "7:1 unknown key `strech`", "did you mean `max_stretch`?"),
        ("qqq = 1", "7:1 unknown key `qqq`", "possible here: `name`, `mesh`"),
        ("density = \"a\"", "7:11 expected a number, found a string", "Mass per area [kg/m2]"),
        ("density = 0", "7:11 0 is too small, it must be more than 0", ""),
        ("bend = -1", "7:8 -1 is too small, the least is 0", ""),
        ("bend = 1e13", "7:8 1e13 is beyond the 1e12 that a scene may hold", ""),
        ("bend = nan", "7:8 numbers must be finite", ""),
        ("bend = -inf", "7:8 numbers must be finite", ""),
        ("bend = 1e999", "7:8 numbers must be finite", ""),
        ("bend = 99999999999999999999", "7:8 this whole number is too large", ""),
        ("bend = 1979-05-27", "7:8 expected a number, found a date", ""),
        ("up = \"x\"", "7:6 expected one of `y`, `z`, found `x`", ""),
        ("unit = \"cmm\"", "7:8 expected one of `m`, `cm`, `mm`, `in`, `ft`, found `cmm`", "did you mean"),
        ("pins = 3", "7:8 expected an array, found a whole number", "held in place"),
        ("pins = [3]", "7:9 expected a table, found a whole number", ""),
        ("pins = [{ vertices = [] }]", "7:22 expected at least 1 values, found 0", ""),
        ("pins = [{ vertices = [-1] }]", "7:23 -1 is too small, the least is 0", ""),
        ("pins = [{ boundary = 5000000000 }]", "7:22 5000000000 is too large, the most is 4294967295", ""),
        ("pins = [{ sphere = { center = [0, 0, 0] } }]", "7:20 the key `radius` is missing", "Its radius [m]"),
        ("transform.translate = [1, 2]", "7:23 expected 3 values, found 2", "Shift [m]"),
        ("transform.translate = [1, 2, true]", "7:30 expected a number, found a boolean", "Shift [m]"),
        ("[wind]\nspeed = \"4\"", "8:9 expected a number or a table, found a string", "Mean speed [m/s]"),
        ("[wind]\nspeed = {}", "8:9 the key `keys` is missing", "Pairs of frame and value"),
        ("[wind]\nspeed = { keys = [] }", "8:18 expected at least 1 values, found 0", ""),
        ("[wind]\nspeed = { keys = [[1]] }", "8:19 expected 2 values, found 1", ""),
        ("[wind]\nspeed = { keys = [[1, [2, 3, 4]]] }", "8:23 expected a number, found an array", ""),
        (
            "[wind]\nspeed = { keys = [[1, 2]], interpolation = \"liner\" }",
            "8:44 expected one of `linear`, `step`, `smooth`, found `liner`",
            "did you mean `linear`?",
        ),
        ("[wind]\nseed = 1.5", "8:8 expected a whole number, found a number with a fraction", ""),
        ("[winds]", "7:2 unknown key `winds`", "did you mean `wind`?"),
        (
            "[output]\nformats = [\"pc3\"]",
            "8:12 expected one of `pc2`, `mdd`, `obj`, `glb`, found `pc3`",
            "did you mean `pc2`?",
        ),
        ("[collider]", "7:1 expected an array, found a table", "one [[collider]] each"),
        ("[[collider]]\nname = \"a\"", "7:1 the key `shape` is missing", "\"plane\""),
        (
            "[[collider]]\nname = \"a\"\nshape = \"spher\"",
            "9:9 expected one of `plane`, `sphere`, `box`, `capsule`, `cylinder`, `mesh`, found `spher`",
            "did you mean `sphere`?",
        ),
        (
            "model = \"midpiont\"",
            "7:9 expected one of `auto`, `midpoint`, `grid`, `stretch_only`, found `midpiont`",
            "did you mean `midpoint`?",
        ),
        (
            "solver = \"iteratve\"",
            "7:10 expected one of `auto`, `iterative`, `direct`, `strips`, `pcg`, found `iteratve`",
            "did you mean `iterative`?",
        ),
        ("solver = 1", "7:10 expected one of `auto`, `iterative`, `direct`, `strips`, `pcg`, found a whole number", ""),
        ("solvr = \"pcg\"", "7:1 unknown key `solvr`", "did you mean `solver`?"),
        ("warp = 0", "7:8 0 is too small, it must be more than 0", "along the warp"),
        ("shear = -1", "7:9 -1 is too small, it must be more than 0", "radian"),
        ("rest = \"mash\"", "7:8 expected `mesh`, found `mash`", ""),
        ("rest = 3", "7:8 expected `mesh` or a table, found a whole number", "sewing pattern"),
        ("rest = { uv = 0 }", "7:15 0 is too small, it must be more than 0", "Metres for one UV unit"),
        ("rest = {}", "7:8 the key `uv` is missing", "Metres for one UV unit"),
        ("rest = { uvs = 1 }", "7:10 unknown key `uvs`", "did you mean `uv`?"),
        ("rest_scale = 0", "7:14 0 is too small, it must be more than 0", "shrinks"),
        ("density_map = \"_THICK\"", "7:15 expected a table, found a string", "attribute"),
        ("density_map = { atribute = \"_A\" }", "7:17 unknown key `atribute`", "did you mean `attribute`?"),
        (
            "bend_map = { image = \"Cargo.toml\", channel = \"r\" }",
            "7:22 cannot read images of the kind `.toml`",
            "PNG",
        ),
        ("bend_map = { attribute = \"_A\", range = [1] }", "7:40 expected 2 values, found 1", "0 and 1"),
        (
            "bend_map = { image = \"presets/pictures/flag.png\", channel = \"red\" }",
            "7:61 expected one of `r`, `g`, `b`, `a`, `luminance`, found `red`",
            "",
        ),
        ("bend_map = { groups = { hem = \"a\" } }", "7:31 expected a number, found a string", ""),
        ("[gates]\nmax_edge_stretch = 1", "8:1 unknown key `max_edge_stretch`", "did you mean `max_stretch`?"),
        // What it does not.
        ("weft = 100", "7:8 there is a `weft`, but no `warp`: `cotton` has none of its own", "give both"),
        ("density_map = {}", "7:15 a map has exactly one of `attribute`, `image`, `groups`", ""),
        (
            "density_map = { attribute = \"_A\", groups = { hem = 2 } }",
            "7:15 a map has exactly one of `attribute`, `image`, `groups`",
            "keep one",
        ),
        ("stretch_map = { groups = {} }", "7:26 this map names no group", "collar"),
        ("stretch_map = { groups = { a = 1, hem = 0 } }", "7:41 the factor 0 is too small, it must be more than 0", ""),
        ("bend_map = { groups = { hem = -2 } }", "7:31 the factor -2 is too small, it must be at least 0", ""),
        (
            "density_map = { attribute = \"_A\", channel = \"r\" }",
            "7:35 `channel` is a key of images and has no meaning here",
            "remove",
        ),
        (
            "density_map = { groups = { a = 1 }, range = [0, 2] }",
            "7:37 `range` is a key of attributes and images and has no meaning here",
            "remove",
        ),
        ("bend_map = { image = \"src\" }", "7:22 `./src` is a folder, not an image", ""),
        ("bend_map = { image = \"src/libb.rs\" }", "7:22 there is no file `./src/libb.rs`", "did you mean `lib.rs`?"),
        ("bend_map = { image = \" \" }", "7:22 the path of the image is empty", ""),
        ("fabric = \"denym\"", "7:10 unknown fabric `denym`", "did you mean `denim`?"),
        ("fabric = \"\"", "7:10 unknown fabric ``", "`silk`"),
        ("unit = \"cm\"", "7:1 `unit` is for mesh files, but this mesh is made here, in metres and Y up", "remove"),
        (
            "pins = [{}]",
            "7:9 a pin has exactly one of `vertices`, `group`, `box`, `sphere`, `boundary`, `attribute`",
            "",
        ),
        (
            "pins = [{ group = \"a\", boundary = 0 }]",
            "7:9 a pin has exactly one of `vertices`, `group`, `box`, `sphere`, `boundary`, `attribute`",
            "",
        ),
        (
            "pins = [{ box = { min = [1, 0, 0], max = [0, 1, 1] } }]",
            "7:17 `min` is above `max`, so the box holds nothing",
            "",
        ),
        (
            "pins = [{ boundary = 0, follow = \"figur\" }]\n[[collider]]\nname = \"figure\"\nshape = \"sphere\"\n\
             center = [0, 0, 0]\nradius = 1",
            "7:34 there is no collider `figur`",
            "did you mean `figure`?",
        ),
        ("pins = [{ boundary = 0, follow = \"figure\" }]", "7:34 there is no collider `figure`", "add a [[collider]]"),
        ("pins = [{ boundary = 0, weight = 0 }]", "7:34 a pin of weight 0 holds nothing", "remove the pin"),
        ("pins = [{ boundary = 0, weight = 1.5 }]", "7:34 1.5 is too large, the most is 1", ""),
        (
            "pins = [{ boundary = 0, follow = 3 }]",
            "7:34 expected a string or a table, found a whole number",
            "collider",
        ),
        (
            "[[collider]]\nname = \"a\"\nshape = \"sphere\"\ncenter = [0, 0, 0]\nradius = 1\nanimation = \"Walk\"",
            "12:1 `animation` does not belong to a sphere",
            "`center`, `radius`",
        ),
        ("[wind]\nspeed = -1", "8:9 this must not be negative", ""),
        ("[wind]\nspeed = { keys = [[1, 2], [5, -1]] }", "8:31 this must not be negative", ""),
        ("[wind]\nspeed = { keys = [[5, 2], [5, 1]] }", "8:28 the frames of keys must ascend, but 5 follows 5", ""),
        ("[wind]\ndirection = [0, 0, 0]", "8:13 a direction must not be zero", ""),
        (
            "[wind]\ndirection = { keys = [[1, [1, 0, 0]], [5, [-2, 0, 0]]] }",
            "8:43 the way from the previous key's direction to its opposite leads through zero",
            "add a key",
        ),
        (
            "[output]\npattern = \"{object}\"\nformats = [\"obj\"]",
            "8:11 all frames of an OBJ sequence would be written under one name",
            "####",
        ),
        ("[output]\npattern = \"../{object}\"", "8:11 the pattern leaves the job's folder", ""),
        ("[output]\npattern = \"{objct}\"", "8:11 unknown token `{objct}`; did you mean `{object}`?", ""),
        (
            "[[collider]]\nname = \"cloth\"\nshape = \"sphere\"\ncenter = [0, 0, 0]\nradius = 1",
            "8:8 `cloth` is the name of `cloth[0]` already",
            "own name",
        ),
        (
            "[[collider]]\nname = \"a/b\"\nshape = \"sphere\"\ncenter = [0, 0, 0]\nradius = 1",
            "8:8 `/` cannot be part of a file name",
            "letters",
        ),
        (
            "[[collider]]\nname = \"a\"\nshape = \"sphere\"\ncenter = [0, 0, 0]",
            "7:1 the key `radius` is missing for a sphere",
            "`center`, `radius`",
        ),
        (
            "[[collider]]\nname = \"a\"\nshape = \"sphere\"\ncenter = [0, 0, 0]\nradius = 1\nsize = [1, 1, 1]",
            "12:1 `size` does not belong to a sphere",
            "`center`, `radius`",
        ),
        (
            "[[collider]]\nname = \"a\"\nshape = \"box\"\ncenter = [0, 0, 0]\nsize = [1, 0, 1]",
            "11:12 the size of a box must be more than 0",
            "",
        ),
        (
            "[[collider]]\nname = \"a\"\nshape = \"plane\"\npoint = [0, 0, 0]\nnormal = [0, 0, 0]",
            "11:10 a normal must not be zero",
            "",
        ),
        (
            "[[collider]]\nname = \"a\"\nshape = \"cylinder\"\nfrom = [0, 0, 0]\nto = [0, 0, 0]\nradius = 1",
            "11:6 a cylinder needs a length, but `from` and `to` are the same",
            "",
        ),
    ];
    for (lines, summary, help) in cases {
        expect(&bad(&format!("{SHORT}{lines}\n")), &[(summary, help)]);
    }
}

/// Lines of the shortest scene replaced.
#[test]
fn each_mistake_in_the_head_is_named() {
    let cases = [
        ("name = \"flag\"\n", "", "1:1 the key `name` is missing", "Name of the scene"),
        ("name = \"flag\"\n", "nmae = \"flag\"\n", "2:1 unknown key `nmae`", "did you mean `name`?"),
        ("\"flag\"", "\"\"", "2:8 a name must not be empty", ""),
        ("\"flag\"", "\"..\"", "2:8 a name must not start or end with a blank, or end with a dot", ""),
        ("\"flag\"", "\"nul.x\"", "2:8 Windows keeps the name `NUL` for itself", ""),
        ("\"flag\"", "\"a\\nb\"", "2:8 `\\n` cannot be part of a file name", ""),
        ("1001-1010", "1010-1001", "3:10 the range `1010-1001` runs backwards", "1001-1120"),
        ("1001-1010", "1-2000000", "3:10 1 to 2000000 are more than 1000000 frames", ""),
        ("\"1001-1010\"", "1.5", "3:10 expected a whole number or a string, found a number with a fraction", "1-100x2"),
        ("[scene]\n", "[scene]\nfps = 0\n", "2:7 this is no frame rate", "24000/1001"),
        ("[scene]\n", "[scene]\nfps = \"1/0\"\n", "2:7 this is no frame rate", ""),
        ("[scene]\n", "[scene]\nsubsteps = 0\n", "2:12 0 is too small, the least is 1", "or \"auto\""),
        ("[scene]\n", "[scene]\nsubsteps = 100001\n", "2:12 100001 is too large, the most is 100000", ""),
        ("[scene]\n", "[scene]\nsubsteps = \"atuo\"\n", "2:12 expected `auto`, found `atuo`", ""),
        ("[scene]\n", "[scene]\nsubsteps = { min = 0 }\n", "2:20 0 is too small, the least is 1", "Never fewer"),
        ("[scene]\n", "[scene]\nsubsteps = { least = 1 }\n", "2:14 unknown key `least`", "`min`, `max`"),
        (
            "[scene]\n",
            "[scene]\nsubsteps = { min = 20, max = 10 }\n",
            "2:12 `min` is 20, but `max` is only 10",
            "exchange",
        ),
        ("[5, 5]", "[5, 1]", "6:35 a sheet needs at least 2 vertices along each side", ""),
        ("[5, 5]", "[5000, 5000]", "6:18 25000000 vertices are more than the 4000000 that fit a bake", ""),
        ("[1.0, 1.0]", "[1.0, 0.0]", "6:52 the size of a sheet must be more than 0", ""),
        ("{ sheet", "{ shet", "6:10 unknown key `shet`", "did you mean `sheet`?"),
        (
            "{ sheet = { vertices = [5, 5], size = [1.0, 1.0] } }",
            "{}",
            "6:8 a made mesh is exactly one of `sheet`, `disc`, `box`, `ball`, `sphere` and `torus`",
            "",
        ),
        (
            "{ sheet = { vertices = [5, 5], size = [1.0, 1.0] } }",
            "{ ball = { radius = 1 }, sphere = { radius = 1, rings = 3, segments = 4 } }",
            "6:8 a made mesh is exactly one of `sheet`, `disc`, `box`, `ball`, `sphere` and `torus`",
            "",
        ),
        (
            "{ sheet = { vertices = [5, 5], size = [1.0, 1.0] } }",
            "{ disc = { radius = 1, inner = 5, rim = 2 } }",
            "6:48 2 is too small, the least is 3",
            "",
        ),
        (
            "{ sheet = { vertices = [5, 5], size = [1.0, 1.0] } }",
            "5",
            "6:8 expected a string or a table, found a whole number",
            "OBJ",
        ),
        ("{ sheet = { vertices = [5, 5], size = [1.0, 1.0] } }", "\"src\"", "6:8 `./src` is a folder, not a mesh", ""),
        (
            "{ sheet = { vertices = [5, 5], size = [1.0, 1.0] } }",
            "\"Cargo.toml\"",
            "6:8 cannot read meshes of the kind `.toml`",
            "OBJ",
        ),
        (
            "{ sheet = { vertices = [5, 5], size = [1.0, 1.0] } }",
            "'src\\libb.rs'",
            "6:8 there is no file `./src/libb.rs`",
            "did you mean `lib.rs`?",
        ),
    ];
    for (from, to, summary, help) in cases {
        let text = SHORT.replacen(from, to, 1);
        assert_ne!(text, SHORT);
        expect(&bad(&text), &[(summary, help)]);
    }
}

#[test]
fn several_mistakes_are_found_in_one_run_of_both_sorts() {
    let text = r#"[scene]
name = "a/b"
frames = "10-1"
[wind]
sped = 4
direction = [1, "a", 0]
[[cloth]]
name = "x"
mesh = "missing.obj"
fabric = "coton"
[[cloth]]
name = "x"
mesh = "Cargo.toml"
[[collider]]
name = "ball"
shape = "sphere"
center = "middle"
"#;
    let failure = bad(text);
    expect(
        &failure,
        &[
            ("2:8 `/` cannot be part of a file name", ""),
            ("3:10 the range `10-1` runs backwards", ""),
            ("5:1 unknown key `sped`", "speed"),
            ("6:17 expected a number, found a string", ""),
            ("9:8 there is no file `./missing.obj`", ""),
            ("10:10 unknown fabric `coton`", "cotton"),
            ("12:8 `x` is the name of `cloth[0]` already", ""),
            ("13:8 cannot read meshes of the kind `.toml`", ""),
            ("17:10 expected an array of 3, found a string", ""),
        ],
    );
}

#[test]
fn a_missing_or_wrong_required_key_hides_no_other_mistake() {
    let text = r#"[scene]
nmae = "a"
fps = 0
[wind]
direction = [0, 0, 0]
[[cloth]]
name = 3
mesh = { sheet = { vertices = [1, "a"], size = [1.0, 0.0] } }
fabric = "coton"
[[cloth]]
name = "x"
unit = "cm"
[[cloth]]
name = "x"
mesh = "missing.obj"
pins = [{ sphere = { center = [0, 0, 0] } }, {}]
[[collider]]
name = "a/b"
radius = 1
[[collider]]
name = "ball"
shape = "sphere"
center = [0, 0, 0]
"#;
    expect(
        &bad(text),
        &[
            ("1:1 the key `frames` is missing", "1001-1120"),
            ("2:1 unknown key `nmae`", "did you mean `name`?"),
            ("3:7 this is no frame rate", ""),
            ("5:13 a direction must not be zero", ""),
            ("7:8 expected a string, found a whole number", "Name of the cloth"),
            ("8:35 expected a whole number, found a string", ""),
            ("8:54 the size of a sheet must be more than 0", ""),
            ("9:10 unknown fabric `coton`", "cotton"),
            ("10:1 the key `mesh` is missing", "OBJ"),
            ("14:8 `x` is the name of `cloth[1]` already", ""),
            ("15:8 there is no file `./missing.obj`", ""),
            ("16:20 the key `radius` is missing", ""),
            ("16:46 a pin has exactly one of `vertices`, `group`, `box`, `sphere`, `boundary`, `attribute`", ""),
            ("17:1 the key `shape` is missing", "plane"),
            ("18:8 `/` cannot be part of a file name", ""),
            ("20:1 the key `radius` is missing for a sphere", ""),
        ],
    );
}

#[test]
fn a_scene_needs_cloth() {
    expect(
        &bad("[scene]\nname = \"a\"\nframes = \"1-2\"\n"),
        &[("1:1 there is no cloth and no soft body in this scene", "[[cloth]]")],
    );
    let both = [
        ("1:1 the table `[scene]` is missing", ""),
        ("1:1 there is no cloth and no soft body in this scene", "[[cloth]]"),
    ];
    expect(&bad(""), &both);
}

#[test]
fn two_cloths_need_two_file_names() {
    let text = format!("[output]\npattern = \"a.####\"\n{SHORT}{}", SHORT.split_at(43).1.replace("\"cloth\"", "\"b\""));
    expect(&bad(&text), &[("2:11 2 objects would be written under one name", "{object}")]);
}

#[test]
fn rendering_underlines_the_text() {
    let expected = "\
error: unknown key `strech`
 --> flag.toml:7:1
  |
7 | strech = 0.02
  | ^^^^^^
  |
  = help: did you mean `max_stretch`?
";
    let failure = bad(&format!("{SHORT}strech = 0.02\n"));
    assert_eq!(plain(&failure), expected);
    let styled = diagnostics::render(&failure.problems, failure.document.as_ref(), true);
    assert!(styled.contains("\u{1b}[") && styled.contains("strech"));
}

#[test]
fn rendering_never_prints_the_word_that_stops_farms() {
    let failure = bad(&SHORT.replace("\"flag\"", "\"Error: x\""));
    let text = plain(&failure);
    assert!(text.is_ascii() && text.contains("error: x") && !text.contains("Error:"), "{text}");
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let binary = folder.path().join("binary.toml");
    std::fs::write(&binary, b"[scene]\n\xff\xfe").unwrap();
    let missing = folder.path().join("missing.toml");
    let huge = folder.path().join("huge.toml");
    std::fs::File::create(&huge).unwrap().set_len((64 << 20) + 1).unwrap();
    let cases = [
        (binary.as_path(), "byte 8 belongs to no character"),
        (folder.path(), "a folder"),
        (&missing, "cannot read the scene file"),
        (&huge, "too large"),
    ];
    for (path, message) in cases {
        let failure = read(path, &[], None).unwrap_err();
        assert_eq!(failure.problems[0].place, Place::File(path.to_owned()));
        assert!(failure.problems[0].message.contains(message), "{failure:?}");
        assert!(plain(&failure).contains(&format!("--> {}", path.display())));
    }
}

#[test]
fn problems_in_other_files_render_with_their_line() {
    let problem =
        kiln::scene::problem::Problem::error(Place::Line("a.obj".into(), 12), "no such vertex").help("count again");
    let text = diagnostics::render(&[problem], None, false);
    assert!(
        text.starts_with("error: no such vertex\n")
            && text.contains("--> a.obj:12")
            && text.contains("help: count again"),
        "{text}"
    );
}

#[test]
fn chosen_frames_must_be_simulated() {
    let choose = |frames| read_text("flag.toml", SHORT, Path::new("."), &[], Some(frames));
    assert_eq!(choose("1003,1001-1002").unwrap().scene.written_frames, [1001, 1002, 1003]);
    let scene = choose("1005").unwrap().scene;
    assert_eq!((scene.first_frame, scene.last_frame), (1001, 1010));
    let failure = choose("1009-1011").unwrap_err();
    assert_eq!(summary(&failure, &failure.problems[0]), "--frames 1:1 frame 1011 is not in this scene");
    let failure = choose("9-1").unwrap_err();
    assert_eq!(summary(&failure, &failure.problems[0]), "--frames 1:1 the range `9-1` runs backwards");
}
