//! Blender, as artists would use our files: the rest mesh imported, the caches on Mesh Cache modifiers.

use std::path::PathBuf;
use std::process::Command;

use kiln::cache::convert::{Coordinates, Target, convert};
use kiln::cache::names;
use kiln::cache::obj::write_obj;
use kiln::scene::{Format, Space, Unit, UpAxis};

const FIRST_FRAME: i64 = 1001;
const FRAME_COUNT: i64 = 10;

/// Python with Blender as a module, as `tests/run` sets it up.
fn python() -> PathBuf {
    if let Some(python) = std::env::var_os("KILN_TEST_PYTHON") {
        return python.into();
    }
    let home_cache = || std::env::home_dir().map(|home| home.join(".cache"));
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home_cache).unwrap_or_default();
    cache.join("kiln-tests/bpy-5.0.1/bin/python")
}

#[test]
fn blender_plays_pc2_and_mdd_on_the_rest_mesh() {
    let python = python();
    assert!(python.exists(), "there is no Blender client at {}: run tests/run once, it fetches it", python.display());
    let folder = tempfile::tempdir().unwrap();
    let mesh = crate::grid(12, 9);
    let frames: Vec<i64> = (FIRST_FRAME..FIRST_FRAME + FRAME_COUNT).collect();
    let mut reader = crate::convert::waving_store(folder.path(), &mesh, frames.iter().copied());
    let output = crate::convert::output(Unit::Metre, UpAxis::Z, Space::World);
    let coordinates = Coordinates::new(&output, &crate::convert::placement());
    let targets = [Format::Pc2, Format::Mdd].map(|format| Target { object: "flag", mesh: &mesh, format, coordinates });
    let file_name = |object: &str, format: Format, _| format!("{object}.{}", format.name());
    convert(&mut reader, &targets, &frames, folder.path(), &file_name).unwrap();

    let rest: Vec<[f32; 3]> =
        mesh.positions.iter().map(|p| coordinates.apply([p.x as f32, p.y as f32, p.z as f32])).collect();
    write_obj(&folder.path().join(names::rest_file("flag")), &mesh, &rest).unwrap();

    // What Blender should see, straight from the motion: the rest mesh, then every frame, Z up.
    let z_up = |points: Vec<[f32; 3]>| points.into_iter().map(|[x, y, z]| [x, -z, y]);
    let mut expected: Vec<[f32; 3]> =
        z_up(mesh.positions.iter().map(|p| p.map(|x| x as f32).into()).collect()).collect();
    for &frame in &frames {
        expected.extend(z_up(crate::waving(&mesh, frame)));
    }
    let bytes: Vec<u8> = expected.as_flattened().iter().flat_map(|number| number.to_le_bytes()).collect();
    std::fs::write(folder.path().join("expected.f32"), bytes).unwrap();

    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/formats/blender.py");
    let numbers = [FIRST_FRAME, FRAME_COUNT, mesh.positions.len() as i64, mesh.face_count() as i64];
    let result = Command::new(&python)
        .arg(script)
        .arg(folder.path())
        .args(numbers.map(|number| number.to_string()))
        .output()
        .unwrap_or_else(|error| panic!("cannot start {}: {error}; run tests/run", python.display()));
    let (out, err) = (String::from_utf8_lossy(&result.stdout), String::from_utf8_lossy(&result.stderr));
    println!("{out}{err}");
    assert!(result.status.success(), "Blender disagrees ({}), see above", result.status);
    assert_eq!(out.matches("worst error").count(), 3, "rest mesh, PC2 and MDD");
}
