//! Who may write into a job folder.

use crate::{Place, TINY};

#[test]
fn the_same_bake_is_not_baked_again() {
    let place = Place::new(TINY);
    place.bake(&[]).succeeds();
    let before = place.files("job");
    let changed = std::fs::metadata(place.path("job/bake.kc")).unwrap().modified().unwrap();
    let run = place.bake(&[]).ends_with(0, &["holds this very bake already"]);
    assert_eq!(run.out, "");
    assert_eq!(place.files("job"), before);
    assert_eq!(std::fs::metadata(place.path("job/bake.kc")).unwrap().modified().unwrap(), changed);
    place.bake(&["--restart"]).succeeds();
    assert_ne!(std::fs::metadata(place.path("job/bake.kc")).unwrap().modified().unwrap(), changed);
    // The log tells how long each frame took, and the manifest has its checksum.
    let timeless = |files: Vec<(std::path::PathBuf, Vec<u8>)>| -> Vec<_> {
        let is_timed = |path: &std::path::Path| path.ends_with("frames.jsonl") || path.ends_with("manifest.json");
        files.into_iter().filter(|(path, _)| !is_timed(path)).collect()
    };
    assert_eq!(timeless(place.files("job")), timeless(before), "the same bits again");
}

#[test]
fn a_damaged_bake_is_not_taken_for_a_whole_one() {
    let place = Place::new(TINY);
    place.bake(&[]).succeeds();
    place.run(&["convert", "job", "--to", "mdd"]).succeeds();
    place.bake(&[]).ends_with(0, &["nothing to do"]);
    type Damage = fn(&mut Vec<u8>);
    let flip: Damage = |bytes| *bytes.last_mut().unwrap() ^= 1;
    let damages: [(&str, Damage); 7] = [
        ("bake.kc", |bytes| bytes.truncate(100)),
        ("bake.kc", flip),
        ("rest/sheet.obj", |bytes| bytes.extend(b"# more\n")),
        ("rest/sheet.obj", flip),
        ("sheet.pc2", flip),
        ("sheet.mdd", flip),
        ("frames.jsonl", flip),
    ];
    for (name, damage) in damages {
        let path = format!("job/{name}");
        let whole = place.read(&path);
        let mut bytes = whole.clone();
        damage(&mut bytes);
        place.write(&path, bytes);
        place.bake(&[]).ends_with(3, &[&format!("a bake whose file {name} is missing or damaged"), "--restart"]);
        place.write(&path, whole);
    }
    std::fs::remove_file(place.path("job/rest/sheet.obj")).unwrap();
    place.bake(&[]).ends_with(3, &["rest/sheet.obj is missing"]);
    place.bake(&["--restart"]).succeeds();
    place.bake(&[]).ends_with(0, &["nothing to do"]);
}

#[test]
fn anything_else_is_refused_without_restart() {
    let place = Place::new(&TINY.replace("{ sheet = { vertices = [5, 5], size = [1.0, 1.0] } }", "\"cloth.obj\""));
    place.write("cloth.obj", "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 2 3\n");
    place.bake(&[]).succeeds();
    let before = place.files("job");
    place
        .bake(&["--set", "scene.gravity=[0, -1, 0]"])
        .ends_with(3, &["another scene (different: gravity)", "--restart"]);
    place.write("cloth.obj", "v 0 0 0\nv 1 0 0\nv 0 0 2\nf 1 2 3\n");
    place.bake(&[]).ends_with(3, &["another version of its meshes (different: cloth.obj)"]);
    assert_eq!(place.files("job"), before);
    place.bake(&["--restart"]).succeeds();
    std::fs::remove_file(place.path("job/sheet.pc2")).unwrap();
    place.bake(&[]).ends_with(3, &["sheet.pc2 is missing"]);
}

#[test]
fn foreign_files_survive_a_restart() {
    let place = Place::new(TINY);
    std::fs::create_dir_all(place.path("job/rest")).unwrap();
    for name in ["job/notes.txt", "job/rest/mine.obj", "job/sheet.abc"] {
        place.write(name, "mine");
    }
    place.bake(&[]).ends_with(3, &["files but no bake", "notes.txt", "--out"]);
    assert_eq!(place.files("job").len(), 4, "and the lock");
    place.bake(&["--restart"]).succeeds();
    let other = ["--restart", "--set", "output.formats=[\"mdd\"]", "--set", "cloth.sheet.name=cape"];
    place.bake(&other).succeeds();
    let files: Vec<String> = place
        .files("job")
        .into_iter()
        .map(|(path, _)| path.strip_prefix(place.path("job")).unwrap().to_string_lossy().into_owned())
        .collect();
    let expected = [
        ".lock",
        "bake.kc",
        "cape.mdd",
        "frames.jsonl",
        "manifest.json",
        "notes.txt",
        "rest/cape.obj",
        "rest/mine.obj",
        "sheet.abc",
    ];
    assert_eq!(files, expected);
}

#[test]
fn a_foreign_file_is_never_written_over() {
    let place = Place::new(TINY);
    place.bake(&[]).succeeds();
    place.write("job/sheet.mdd", "mine");
    let before = place.files("job");
    place.bake(&["--restart", "--set", "output.formats=[\"mdd\"]"]).ends_with(3, &["sheet.mdd is in the way"]);
    assert_eq!(place.files("job"), before, "the old bake is still there");
    std::fs::create_dir(place.path("web")).unwrap();
    place.write("web/manifest.json", "{\"name\": \"a web page\"}");
    place.run(&["bake", "scene.toml", "--out", "web", "--restart"]).ends_with(3, &["manifest.json is in the way"]);
}

#[test]
fn a_manifest_cannot_lead_a_restart_out_of_its_folder() {
    let place = Place::new(TINY);
    place.bake(&[]).succeeds();
    place.write("precious.pc2", "mine");
    let text = String::from_utf8(place.read("job/manifest.json")).unwrap();
    place.write("job/manifest.json", text.replace("\"sheet.pc2\"", "\"../precious.pc2\""));
    std::fs::remove_file(place.path("job/sheet.pc2")).unwrap();
    place.bake(&["--restart"]).succeeds();
    assert_eq!(place.read("precious.pc2"), b"mine");
}

#[test]
fn names_that_would_collide_are_found_before_the_simulation() {
    let two = TINY.replace("name = \"sheet\"", "name = \"a\"")
        + "[[cloth]]\nname = \"a1\"\nmesh = { sheet = { vertices = [5, 5], size = [1.0, 1.0] } }\n"
        + "[output]\nformats = [\"obj\"]\npattern = \"{object}#\"\n";
    let place = Place::new(&two.replace("1-4", "1-11"));
    place.bake(&[]).ends_with(3, &["two files would have the name `a11.obj`"]);
    place.run(&["check", "scene.toml"]).ends_with(3, &["a11.obj"]);
    assert!(!place.path("job").exists());
    let long = format!("output.pattern={}", "x".repeat(300));
    Place::new(TINY).bake(&["--set", &long]).ends_with(3, &["more than 240 bytes"]);
    Place::new(TINY).bake(&["--set", "output.pattern=bake.kc/{object}"]).ends_with(3, &["inside another file"]);
}

#[test]
fn a_folder_that_cannot_be_made_exits_with_74() {
    let place = Place::new(TINY);
    place.run(&["bake", "scene.toml", "--out", "scene.toml/job"]).ends_with(74, &["input/output"]);
}
