//! Blender, as artists would use our files: the rest mesh imported, the caches on Mesh Cache modifiers.

use std::path::{Path, PathBuf};
use std::process::Command;

use kiln::cache::convert::{Coordinates, convert};
use kiln::cache::names;
use kiln::cache::obj::write_obj;
use kiln::cache::store::{StoreReader, StoredFrame};
use kiln::mesh::surface::PolyMesh;
use kiln::scene::{Format, Space, Unit, UpAxis};

const FIRST_FRAME: i64 = 1001;
const FRAME_COUNT: i64 = 10;

/// Python with Blender as a module, as `tests/run` sets it up.
pub fn python() -> PathBuf {
    if let Some(python) = std::env::var_os("KILN_TEST_PYTHON") {
        return python.into();
    }
    clients().join("bpy-5.0.1/bin/python")
}

/// Where `tests/run` puts what it fetches.
pub fn clients() -> PathBuf {
    let home_cache = || std::env::home_dir().map(|home| home.join(".cache"));
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home_cache).unwrap_or_default();
    cache.join("kiln-tests")
}

#[test]
fn blender_plays_pc2_and_mdd_on_the_rest_mesh() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = crate::grid(12, 9);
    let frames: Vec<i64> = (FIRST_FRAME..FIRST_FRAME + FRAME_COUNT).collect();
    let mut reader = crate::convert::waving_store(folder.path(), &mesh, frames.iter().copied());
    let output = crate::convert::output(Unit::Metre, UpAxis::Z, Space::World);
    let coordinates = Coordinates::new(&output, &crate::convert::placement());
    let targets = [Format::Pc2, Format::Mdd].map(|format| crate::convert::target(&mesh, format, coordinates));
    let file_name = |object: &str, format: Format, _| format!("{object}.{}", format.name());
    convert(&mut reader, &targets, &frames, folder.path(), &file_name, &mut |_| {}).unwrap();

    let rest: Vec<[f32; 3]> =
        mesh.positions.iter().map(|p| coordinates.apply([p.x as f32, p.y as f32, p.z as f32])).collect();
    write_obj(&folder.path().join(names::rest_file("flag")), &mesh, &rest, &[]).unwrap();

    // What Blender should see, straight from the motion: the rest mesh, then every frame, Z up.
    let z_up = |points: Vec<[f32; 3]>| points.into_iter().map(|[x, y, z]| [x, -z, y]);
    let mut expected: Vec<[f32; 3]> =
        z_up(mesh.positions.iter().map(|p| p.map(|x| x as f32).into()).collect()).collect();
    for &frame in &frames {
        expected.extend(z_up(crate::waving(&mesh, frame)));
    }
    compare(folder.path(), &mesh, &expected);
}

/// The mesh in centimetres, baked by the program, turned and shifted; what Blender should see is worked out from the
/// store with sines and cosines alone.
#[test]
fn blender_plays_a_bake_in_world_and_local_space() {
    let mesh = crate::grid(12, 9);
    let translate = [0.4, 1.5, -0.7];
    for space in ["world", "local"] {
        let folder = tempfile::tempdir().unwrap();
        let centimetres: Vec<[f32; 3]> = mesh.positions.iter().map(|p| p.map(|x| (100.0 * x) as f32).into()).collect();
        write_obj(&folder.path().join("cloth.obj"), &mesh, &centimetres, &[]).unwrap();
        let (first, last) = (FIRST_FRAME, FIRST_FRAME + FRAME_COUNT - 1);
        let scene = format!(
            "[scene]\nname = \"flag\"\nframes = \"{first}-{last}\"\n\
             [[cloth]]\nname = \"flag\"\nmesh = \"cloth.obj\"\nunit = \"cm\"\nbend = 0.001\n\
             transform = {{ rotate = [20, -35, 50], translate = {translate:?} }}\npins = [{{ vertices = [0, 11] }}]\n\
             [output]\nup = \"z\"\nspace = \"{space}\"\nformats = [\"pc2\", \"mdd\"]\n"
        );
        std::fs::write(folder.path().join("scene.toml"), scene).unwrap();
        let mut kiln = Command::new(env!("CARGO_BIN_EXE_kiln"));
        let baked = kiln.args(["bake", "scene.toml", "--out", "job"]).current_dir(folder.path()).output().unwrap();
        assert!(baked.status.success(), "{}", String::from_utf8_lossy(&baked.stderr));

        let job = folder.path().join("job");
        let mut store = StoreReader::open(&job.join(names::STORE_FILE)).unwrap();
        let mut world: Vec<[f64; 3]> =
            mesh.positions.iter().map(|&p| add(turned([20.0, -35.0, 50.0], p.into()), translate)).collect();
        let mut frame = StoredFrame::default();
        for index in 0..FRAME_COUNT as usize {
            store.read(index, &mut frame).unwrap();
            world.extend(frame.objects[0].positions.iter().map(|p| p.map(f64::from)));
        }
        let back = |p: [f64; 3]| turned_back([20.0, -35.0, 50.0], add(p, translate.map(|x| -x)));
        let seen = |p: [f64; 3]| if space == "local" { back(p) } else { p };
        let expected: Vec<[f32; 3]> =
            world.into_iter().map(seen).map(|[x, y, z]| [x as f32, -z as f32, y as f32]).collect();
        let moved = expected[expected.len() - 1][2] - expected[mesh.positions.len() - 1][2];
        assert!(moved.abs() > 0.05, "the free corner falls");
        compare(&job, &mesh, &expected);
    }
}

fn add(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

/// Turned about one axis; the two others follow it in turn.
fn turned_about(axis: usize, degrees: f64, p: [f64; 3]) -> [f64; 3] {
    let (sine, cosine) = degrees.to_radians().sin_cos();
    let (a, b) = ((axis + 1) % 3, (axis + 2) % 3);
    let mut turned = p;
    turned[a] = cosine * p[a] - sine * p[b];
    turned[b] = sine * p[a] + cosine * p[b];
    turned
}

/// About x, then y, then z.
fn turned(degrees: [f64; 3], p: [f64; 3]) -> [f64; 3] {
    (0..3).fold(p, |p, axis| turned_about(axis, degrees[axis], p))
}

fn turned_back(degrees: [f64; 3], p: [f64; 3]) -> [f64; 3] {
    (0..3).rev().fold(p, |p, axis| turned_about(axis, -degrees[axis], p))
}

/// Lets Blender play `flag.pc2` and `flag.mdd` in a folder; `expected` is the rest mesh, then every frame.
fn compare(folder: &Path, mesh: &PolyMesh, expected: &[[f32; 3]]) {
    let python = python();
    assert!(python.exists(), "there is no Blender client at {}: run tests/run once, it fetches it", python.display());
    let bytes: Vec<u8> = expected.as_flattened().iter().flat_map(|number| number.to_le_bytes()).collect();
    std::fs::write(folder.join("expected.f32"), bytes).unwrap();

    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/formats/blender.py");
    let numbers = [FIRST_FRAME, FRAME_COUNT, mesh.positions.len() as i64, mesh.face_count() as i64];
    let result = Command::new(&python)
        .arg(script)
        .arg(folder)
        .args(numbers.map(|number| number.to_string()))
        .output()
        .unwrap_or_else(|error| panic!("cannot start {}: {error}; run tests/run", python.display()));
    let (out, err) = (String::from_utf8_lossy(&result.stdout), String::from_utf8_lossy(&result.stderr));
    println!("{out}{err}");
    assert!(result.status.success(), "Blender disagrees ({}), see above", result.status);
    assert_eq!(out.matches("worst error").count(), 3, "rest mesh, PC2 and MDD");
}
