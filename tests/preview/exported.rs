//! Exported pages: what they may say of a bake, and what they must not overwrite.

use std::path::{Path, PathBuf};

use kiln::bake::heat;
use kiln::bake::movie::Movie;
use serde_json::json;

use super::browser::{browse, buffer, frame_of, pictures};
use super::{Baked, SCENE, kiln, numbers, text};

/// Exit code and what was said.
fn export(of: &Path, page: &Path, more: &[&str]) -> (Option<i32>, String) {
    let output = kiln(&["preview", text(of), "--export", text(page)]).args(more).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// A sheet of short edges on a small ball, so near to each other that 16 bits hold what colours need.
fn fine_scene() -> String {
    let scene = SCENE.replace("size = [1.0, 1.0]", "size = [0.3, 0.3]").replace("0.72", "0.51");
    let scene = scene.replace("radius = 0.3", "radius = 0.1");
    let (before, after) = (scene.find("[[collider]]\nname = \"floor\"").unwrap(), scene.find("[output]").unwrap());
    scene[..before].to_owned() + &scene[after..]
}

#[test]
fn colours_by_stretch_are_right_in_an_exported_page() {
    let baked = Baked::new(&fine_scene());
    let mut movie = Movie::open(&baked.job()).unwrap();
    let frame = 1012;
    let vertices = frame_of(&mut movie, frame);
    let sheet = &movie.objects[0];
    let expected = heat::stretch(&heat::polygon_edges(sheet), &sheet.rest, &vertices[0]);
    let limit = sheet.max_stretch.unwrap() as f32;
    // 0.2 mm along each axis: what nobody sees in places, but twice the scale of stretch.
    for (name, more, is_right) in [("fine", &[][..], true), ("coarse", &["--precision", "0.000346"][..], false)] {
        let page = baked.path(&format!("{name}.html"));
        let (code, said) = export(&baked.job(), &page, more);
        assert_eq!(code, Some(0), "{said}");
        assert_eq!(said.contains("stretch within"), !is_right, "{said}");
        let folder = pictures(&format!("stretch-{name}"));
        let url = format!("file://{}", page.display());
        browse("heat", &json!({ "url": url, "frame": frame, "folder": folder }));
        let shown = numbers(&buffer(&folder, "stretch", 0, "stretch"));
        // Where one edge is as much too short as another is too long, either may be shown.
        let apart = shown.iter().zip(&expected).map(|(a, b)| (a.abs() - b.abs()).abs()).fold(0.0, f32::max);
        let largest = |all: &[f32]| all.iter().copied().fold(0.0, f32::max);
        let of_largest = (largest(&shown[..expected.len()]) - largest(&expected)).abs();
        println!("{name}: {} and {} of the limit {limit}; {said}", apart / limit, of_largest / limit);
        assert!(of_largest <= apart && (apart < 0.15 * limit) == is_right, "{name}: {apart}");
        let said_bound = said.split("stretch within ").nth(1).and_then(|rest| rest.split(' ').next());
        if let Some(bound) = said_bound {
            assert!(f64::from(apart) <= 0.01 * bound.parse::<f64>().unwrap(), "{apart}: {said}");
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}

#[test]
fn nothing_but_pages_is_overwritten() {
    let baked = Baked::new(SCENE);
    let scene = baked.path("scene.toml");
    let glb = baked.job().join("sheet.glb");
    let folder = baked.path("folder.html");
    std::fs::create_dir(&folder).unwrap();
    for (of, page, says) in [
        (&baked.job(), &scene, "end in .html"),
        (&glb, &glb, "end in .html"),
        (&baked.job(), &baked.path("page"), "end in .html"),
        (&baked.job(), &folder, "folder"),
    ] {
        let before = std::fs::read(page).ok();
        let (code, said) = export(of, page, &[]);
        assert_eq!(code, Some(2), "{}: {said}", page.display());
        assert!(said.contains(says), "{}: {said}", page.display());
        assert_eq!(std::fs::read(page).ok(), before, "{}", page.display());
    }
    let page = baked.path("page.HTM");
    let (code, said) = export(&baked.job(), &page, &["--no-contact"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(page.is_file() && !said.contains(" 0 mm") && !said.contains("0.00 mm"), "{said}");
    assert!(!std::fs::read_to_string(page).unwrap().contains("kiln-0-contact\""));
}

#[test]
fn what_is_not_finite_is_not_exported() {
    let baked = Baked::new(&format!("{SCENE}glb = {{ mode = \"stream\" }}\n"));
    let page = baked.path("page.html");
    let (code, said) = export(&baked.job(), &page, &["--precision", "1.7e308"]);
    assert_eq!(code, Some(3), "{said}");
    let streams: Vec<PathBuf> = std::fs::read_dir(baked.job())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "bin"))
        .collect();
    assert_eq!(streams.len(), 1, "{streams:?}");
    let glb = baked.job().join("sheet.glb");
    for wrong in [f32::NAN, f32::INFINITY] {
        let mut bytes = std::fs::read(&streams[0]).unwrap();
        bytes[1200..1204].copy_from_slice(&wrong.to_le_bytes());
        std::fs::write(&streams[0], bytes).unwrap();
        let (code, said) = export(&glb, &page, &[]);
        assert_eq!(code, Some(3), "{said}");
        assert!(said.contains("sheet") && said.contains("finite"), "{said}");
    }
    assert!(!page.exists());
}

#[test]
fn what_keeps_no_distance_has_no_contact() {
    let figure = concat!(env!("CARGO_MANIFEST_DIR"), "/meshes/walking_figure.glb");
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let (code, said) = export(figure.as_ref(), &page, &["--every", "20"]);
    assert_eq!(code, Some(0), "{said}");
    let document = std::fs::read_to_string(page).unwrap();
    assert!(document.contains("id=\"kiln-0-frames\"") && !document.contains("id=\"kiln-0-contact\""));
    let baked = Baked::new(SCENE);
    let page = baked.path("page.html");
    assert_eq!(export(&baked.job(), &page, &[]).0, Some(0));
    assert!(std::fs::read_to_string(page).unwrap().contains("id=\"kiln-0-contact\""), "what keeps one has it");
}

#[test]
fn the_environment_of_exports_does_not_stop_a_preview() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = kiln(&["preview", text(&folder.path().join("nothing"))]);
    command.envs([("KILN_EVERY", "2"), ("KILN_PRECISION", "0.001"), ("KILN_NO_CONTACT", "1")]);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    // It comes as far as looking for the bake.
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("check the path"), "{said}");
}
