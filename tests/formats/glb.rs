//! GLB files: read again by hand, by Khronos' validator, by Blender and by three.js.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use kiln::cache::convert::{Coordinates, Target, WrittenCache, convert};
use kiln::cache::glb::{GlbJob, GlbMesh};
use kiln::cache::store::{ObjectFrame, StoreHeader, StoreObject, StoreReader, StoreWriter};
use kiln::cache::{CacheError, names};
use kiln::math::Vec3;
use kiln::mesh::surface::{FaceRun, Material, PolyMesh};
use kiln::scene::{Format, FrameRate, Glb, GlbMode, Space, Unit, UpAxis};
use serde_json::Value as Json;
use tempfile::TempDir;

const FPS: FrameRate = FrameRate { numerator: 24, denominator: 1 };

/// Quads with a UV seam, a hard edge, two materials (one of them known) and a face without any.
fn garment() -> PolyMesh {
    let mut mesh = crate::grid(12, 9);
    let seam = mesh.uvs.clone();
    mesh.uvs.extend(seam.iter().map(|[u, v]| [u + 1.0, *v]));
    mesh.normals = vec![Vec3::y(), Vec3::new(0.1, 0.9, 0.0).normalize()];
    for face in 0..mesh.face_count() {
        let right = face % 11 >= 5;
        for corner in mesh.face_starts[face] as usize..mesh.face_starts[face + 1] as usize {
            mesh.corners[corner].normal = Some(u32::from(right));
            mesh.corners[corner].uv = mesh.corners[corner].uv.map(|uv| if right { uv + seam.len() as u32 } else { uv });
        }
    }
    mesh.materials =
        vec![FaceRun { first_face: 1, name: "silk".into() }, FaceRun { first_face: 40, name: "wool".into() }];
    mesh.material_definitions.push(Material {
        name: "silk".into(),
        base_color: [0.8, 0.1, 0.1, 1.0],
        metallic: 0.0,
        roughness: 0.3,
        emissive: [0.0; 3],
        double_sided: true,
    });
    mesh
}

/// The waves of the first frames, before they run away; a shot may begin at 1001.
fn swaying(mesh: &PolyMesh, frame: i64) -> Vec<[f32; 3]> {
    crate::waving(mesh, frame % 1000)
}

/// A cloth that only moves on one side.
fn half_moving(mesh: &PolyMesh, frame: i64) -> Vec<[f32; 3]> {
    let (moved, still) = (swaying(mesh, frame), swaying(mesh, 0));
    let pick = |(v, (moved, still)): (usize, (&[f32; 3], &[f32; 3]))| if v % 12 < 3 { *moved } else { *still };
    moved.iter().zip(&still).enumerate().map(pick).collect()
}

/// Hardly moving: differences of some hundredths of a millimetre, which take the most digits in JSON.
fn creeping(mesh: &PolyMesh, frame: i64) -> Vec<[f32; 3]> {
    let way = -2e-5 - 3.1e-7 * frame as f64;
    let place = |p: &Vec3| (p * 0.02 + Vec3::new(1.0, 1.1, 1.3) * if frame == 1 { 0.0 } else { way }).map(|x| x as f32);
    mesh.positions.iter().map(|p| place(p).into()).collect()
}

/// A folder with a store and the GLB files made of it.
struct Made {
    folder: TempDir,
    mesh: PolyMesh,
    frames: Vec<i64>,
    positions: Vec<Vec<[f32; 3]>>,
    written: Vec<PathBuf>,
    told: Vec<String>,
}

type Pose = fn(&PolyMesh, i64) -> Vec<[f32; 3]>;

fn make(mesh: PolyMesh, frames: Vec<i64>, glb: Glb, pose: Pose) -> Made {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(names::STORE_FILE);
    let objects = vec![StoreObject { name: "flag".into(), vertex_count: mesh.positions.len() }];
    let mut writer = StoreWriter::create(&path, &StoreHeader { fps: FPS, objects, has_velocities: true }).unwrap();
    let positions: Vec<_> = frames.iter().map(|&frame| pose(&mesh, frame)).collect();
    for (frame, positions) in frames.iter().zip(&positions) {
        writer.append(*frame, &[ObjectFrame { positions, velocities: positions }]).unwrap();
    }
    writer.finish().unwrap();
    let mut told = Vec::new();
    let written = write(folder.path(), &mesh, &frames, glb, &mut told).unwrap();
    let written = written[0].files.iter().map(|file| file.path.clone()).collect();
    Made { folder, mesh, frames, positions, written, told }
}

fn write(
    folder: &Path,
    mesh: &PolyMesh,
    frames: &[i64],
    glb: Glb,
    told: &mut Vec<String>,
) -> Result<Vec<WrittenCache>, CacheError> {
    let mut reader = StoreReader::open(&folder.join(names::STORE_FILE)).unwrap();
    // Unit and axis must make no difference.
    let output = crate::convert::output(Unit::Centimetre, UpAxis::Z, Space::World);
    let coordinates = Coordinates::new(&output, &crate::convert::placement());
    let target = Target { glb, ..crate::convert::target(mesh, Format::Glb, coordinates) };
    let file_name = |object: &str, format: Format, frame: Option<i64>| {
        let number = frame.map(|frame| format!(".{frame:04}")).unwrap_or_default();
        format!("{object}{number}.{}", format.name())
    };
    convert(&mut reader, &[target], frames, folder, &file_name, &mut |text| told.push(text))
}

const MORPH: Glb = Glb { mode: GlbMode::Morph, quantize: false, sparse: false, normals: false };
const SHADED: Glb = Glb { normals: true, ..MORPH };
const QUANTISED: Glb = Glb { quantize: true, ..MORPH };
const SPARSE: Glb = Glb { sparse: true, ..MORPH };
const SMALLEST: Glb = Glb { quantize: true, sparse: true, ..MORPH };
const ALL: Glb = Glb { normals: true, ..SMALLEST };
const STREAM: Glb = Glb { mode: GlbMode::Stream, ..MORPH };

fn shot() -> Vec<i64> {
    (1001..=1020).collect()
}

/// The largest error of a quantised file, as it was told.
fn told_error(made: &Made) -> f64 {
    let line = &made.told[0];
    line.split("at most ").last().unwrap().trim_end_matches(" m").parse().unwrap_or_else(|_| panic!("{line}"))
}

/// A GLB, taken apart.
struct Read {
    json: Json,
    binary: Vec<u8>,
}

impl Read {
    fn new(path: &Path) -> Read {
        let bytes = fs::read(path).unwrap();
        let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        assert_eq!((&bytes[..4], number(4), number(8)), (&b"glTF"[..], 2, bytes.len()));
        let (json_length, json_kind) = (number(12), &bytes[16..20]);
        let binary = 20 + json_length;
        assert_eq!((json_kind, &bytes[binary + 4..binary + 8]), (&b"JSON"[..], &b"BIN\0"[..]));
        assert_eq!((json_length % 4, number(binary) + binary + 8), (0, bytes.len()));
        let json = serde_json::from_slice(&bytes[20..binary]).unwrap();
        Read { json, binary: bytes[binary + 8..].to_vec() }
    }

    fn view(&self, view: &Json) -> &[u8] {
        let view = &self.json["bufferViews"][view.as_u64().unwrap() as usize];
        let number = |key: &str| view[key].as_u64().unwrap_or(0) as usize;
        &self.binary[number("byteOffset")..number("byteOffset") + number("byteLength")]
    }

    /// The numbers of an accessor, sparse ones filled in; bounds are checked where they are given.
    fn numbers(&self, accessor: &Json) -> Vec<f64> {
        let accessor = &self.json["accessors"][accessor.as_u64().unwrap() as usize];
        let width = match accessor["type"].as_str().unwrap() {
            "SCALAR" => 1,
            "VEC2" => 2,
            _ => 3,
        };
        let count = accessor["count"].as_u64().unwrap() as usize;
        let kind = accessor["componentType"].as_u64().unwrap();
        let mut values = vec![0.0; width * count];
        if let Some(view) = accessor.get("bufferView") {
            let stride = self.json["bufferViews"][view.as_u64().unwrap() as usize]["byteStride"].as_u64();
            let bytes = self.view(view);
            let stride = stride.map_or(width * size(kind), |stride| stride as usize);
            for (row, value) in values.chunks_mut(width).enumerate() {
                let at = row * stride;
                value.copy_from_slice(&decode(kind, &bytes[at..at + width * size(kind)]));
            }
        }
        if let Some(sparse) = accessor.get("sparse") {
            let count = sparse["count"].as_u64().unwrap() as usize;
            let index_kind = sparse["indices"]["componentType"].as_u64().unwrap();
            let indices = decode(index_kind, &self.view(&sparse["indices"]["bufferView"])[..count * size(index_kind)]);
            assert!(indices.is_sorted_by(|a, b| a < b));
            let listed = decode(kind, &self.view(&sparse["values"]["bufferView"])[..count * width * size(kind)]);
            for (index, value) in indices.iter().zip(listed.chunks(width)) {
                values[width * *index as usize..][..width].copy_from_slice(value);
            }
        }
        for (key, pick) in [("min", f64::min as fn(f64, f64) -> f64), ("max", f64::max)] {
            for (axis, bound) in accessor[key].as_array().into_iter().flatten().enumerate() {
                let actual = values.iter().skip(axis).step_by(width).copied().reduce(pick).unwrap();
                assert_eq!(bound.as_f64(), Some(actual), "{key} of {accessor}");
            }
        }
        values
    }

    fn primitives(&self) -> &[Json] {
        self.json["meshes"][0]["primitives"].as_array().unwrap()
    }

    /// The vertices of every frame, as a viewer would show them.
    fn frames(&self) -> Vec<Vec<[f64; 3]>> {
        let primitive = &self.primitives()[0];
        let node = &self.json["nodes"][0];
        let numbers = |key: &str, default: f64| {
            [0, 1, 2].map(|axis| node.get(key).map_or(default, |values| values[axis].as_f64().unwrap()))
        };
        let (translation, scale) = (numbers("translation", 0.0), numbers("scale", 1.0));
        let base = self.numbers(&primitive["attributes"]["POSITION"]);
        let targets: Vec<Vec<f64>> = primitive["targets"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|target| self.numbers(&target["POSITION"]))
            .collect();
        let weights = match self.json.get("animations") {
            Some(animations) => self.numbers(&animations[0]["samplers"][0]["output"]),
            None => Vec::new(),
        };
        let shown = |weights: &[f64]| {
            let mut sum = base.clone();
            for (target, weight) in targets.iter().zip(weights) {
                sum.iter_mut().zip(target).for_each(|(sum, x)| *sum += weight * x);
            }
            let in_world = |p: &[f64]| [0, 1, 2].map(|axis| p[axis] * scale[axis] + translation[axis]);
            sum.chunks(3).map(in_world).collect::<Vec<_>>()
        };
        match targets.len() {
            0 => vec![shown(&[])],
            count => weights.chunks(count).map(shown).collect(),
        }
    }
}

fn size(kind: u64) -> usize {
    if matches!(kind, 5122 | 5123) { 2 } else { 4 }
}

fn decode(kind: u64, bytes: &[u8]) -> Vec<f64> {
    let four = bytes.as_chunks::<4>().0.iter();
    let two = bytes.as_chunks::<2>().0.iter();
    match kind {
        5122 => two.map(|b| i16::from_le_bytes(*b).into()).collect(),
        5123 => two.map(|b| u16::from_le_bytes(*b).into()).collect(),
        5125 => four.map(|b| u32::from_le_bytes(*b).into()).collect(),
        _ => four.map(|b| f32::from_le_bytes(*b).into()).collect(),
    }
}

/// For each GLB vertex the mesh vertex at the same place in the first frame.
fn sources(shown: &[[f64; 3]], mesh: &[[f32; 3]]) -> Vec<usize> {
    let apart = |a: &[f64; 3], b: &[f32; 3]| (0..3).map(|k| (a[k] - f64::from(b[k])).abs()).fold(0.0, f64::max);
    let nearest = |p: &[f64; 3]| (0..mesh.len()).min_by(|&a, &b| apart(p, &mesh[a]).total_cmp(&apart(p, &mesh[b])));
    shown.iter().map(|p| nearest(p).unwrap()).collect()
}

/// The largest difference between what a file shows and what is stored.
fn worst_error(read: &Read, positions: &[Vec<[f32; 3]>]) -> f64 {
    let frames = read.frames();
    assert_eq!(frames.len(), positions.len());
    let sources = sources(&frames[0], &positions[0]);
    let mut worst = 0.0_f64;
    for (shown, stored) in frames.iter().zip(positions) {
        for (p, &source) in shown.iter().zip(&sources) {
            (0..3).for_each(|axis| worst = worst.max((p[axis] - f64::from(stored[source][axis])).abs()));
        }
    }
    worst
}

#[test]
fn every_kind_shows_the_stored_frames() {
    for (glb, pose) in [(MORPH, swaying as Pose), (QUANTISED, swaying), (SPARSE, half_moving), (SMALLEST, half_moving)]
    {
        let made = make(garment(), shot(), glb, pose);
        assert_eq!(made.written.len(), 1);
        let read = Read::new(&made.written[0]);
        let limit = if glb.quantize { told_error(&made) * 1.01 + 1e-7 } else { 2e-7 };
        let worst = worst_error(&read, &made.positions);
        let bytes = fs::metadata(&made.written[0]).unwrap().len();
        println!("{glb:?}: worst error {worst:.2e}, {bytes} bytes, {}", made.told[0]);
        assert!(worst <= limit, "{glb:?}: {worst} > {limit}");
        let told: u64 = made.told[0].split(" bytes").next().unwrap().rsplit(' ').next().unwrap().parse().unwrap();
        assert!(if glb.sparse { bytes <= told } else { bytes == told }, "{bytes} bytes, {}", made.told[0]);
        assert_eq!(made.told.len(), 1);
    }
    let bytes = |glb| fs::metadata(&make(garment(), shot(), glb, half_moving).written[0]).unwrap().len();
    assert!(bytes(SMALLEST) < bytes(SPARSE) && bytes(SPARSE) < bytes(QUANTISED) && bytes(QUANTISED) < bytes(MORPH));
}

#[test]
fn numbers_of_any_length_fit_the_room_that_is_left_for_them() {
    for glb in [MORPH, SHADED, QUANTISED, SPARSE, SMALLEST, ALL] {
        let made = make(garment(), (1..=200).collect(), glb, creeping);
        let error = worst_error(&Read::new(&made.written[0]), &made.positions);
        assert!(error < 1e-6, "{glb:?}: {error}");
    }
}

#[test]
fn the_mesh_is_the_artists() {
    let made = make(garment(), shot(), MORPH, swaying);
    let read = Read::new(&made.written[0]);
    let json = &read.json;
    assert_eq!(json["asset"]["generator"], format!("kiln {}", env!("CARGO_PKG_VERSION")));
    assert_eq!((&json["nodes"][0]["name"], &json["meshes"][0]["name"]), (&"flag".into(), &"flag".into()));
    assert_eq!(
        json["scenes"][0]["extras"],
        serde_json::json!({"fps": [24, 1], "first_frame": 1001, "last_frame": 1020})
    );
    let names: Vec<String> = (1002..=1020).map(|frame: i64| frame.to_string()).collect();
    assert_eq!(json["meshes"][0]["extras"]["targetNames"], serde_json::json!(names));
    let materials = json["materials"].as_array().unwrap();
    let named: Vec<&Json> = materials.iter().map(|material| &material["name"]).collect();
    assert_eq!(named, [&Json::Null, &"silk".into(), &"wool".into()]);
    assert_eq!(materials[1]["pbrMetallicRoughness"]["baseColorFactor"], serde_json::json!([0.8, 0.1, 0.1, 1.0]));
    for material in materials {
        assert_eq!(
            (&material["pbrMetallicRoughness"]["metallicFactor"], &material["doubleSided"]),
            (&0.0.into(), &true.into())
        );
    }
    // The first face has no material, the next 39 are silk, the other 48 wool: two triangles each.
    let triangles: Vec<usize> = read.primitives().iter().map(|p| read.numbers(&p["indices"]).len() / 3).collect();
    assert_eq!(triangles, [2, 78, 96]);
    // One column of vertices is split by the seam and the hard edge, which fall together.
    let attributes = &read.primitives()[0]["attributes"];
    let base = read.numbers(&attributes["POSITION"]);
    assert_eq!(base.len() / 3, 12 * 9 + 9);
    let sources = sources(&read.frames()[0], &made.positions[0]);
    assert!(sources.is_sorted(), "in the order of the mesh");
    let uvs = read.numbers(&attributes["TEXCOORD_0"]);
    for (uv, &source) in uvs.chunks(2).zip(&sources) {
        let [u, v] = made.mesh.uvs[source];
        assert!((uv[0] - u).abs().min((uv[0] - u - 1.0).abs()) < 1e-6 && (uv[1] - (1.0 - v)).abs() < 1e-6);
    }
    let normals = read.numbers(&attributes["NORMAL"]);
    let split: Vec<usize> = (1..sources.len()).filter(|&v| sources[v] == sources[v - 1]).collect();
    assert_eq!(split.len(), 9);
    for v in split {
        let [a, b] = [&normals[3 * v - 3..3 * v], &normals[3 * v..3 * v + 3]];
        assert!((0..3).any(|axis| (a[axis] - b[axis]).abs() > 1e-3), "the edge stays hard");
    }
    assert!(normals.chunks(3).all(|n| (n.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-6));
}

#[test]
fn normals_of_every_frame_are_those_of_its_own_shape() {
    for (glb, pose) in [(SHADED, swaying as Pose), (ALL, half_moving)] {
        let made = make(garment(), shot(), glb, pose);
        let read = Read::new(&made.written[0]);
        let primitive = &read.primitives()[0];
        let base = read.numbers(&primitive["attributes"]["NORMAL"]);
        for (number, target) in primitive["targets"].as_array().unwrap().iter().enumerate() {
            let differences = read.numbers(&target["NORMAL"]);
            // A file that starts at this frame has its normals as base.
            let frame = made.frames[number + 1];
            let alone = make(garment(), vec![frame], MORPH, pose);
            let expected = Read::new(&alone.written[0]);
            let expected = expected.numbers(&expected.primitives()[0]["attributes"]["NORMAL"]);
            for (x, (normal, difference)) in expected.iter().zip(base.iter().zip(&differences)) {
                assert!((normal + difference - x).abs() < 1e-6);
            }
        }
    }
}

#[test]
fn long_shots_become_files_of_240_frames_and_gaps_keep_their_time() {
    let made = make(crate::grid(3, 3), (1001..=1250).collect(), MORPH, swaying);
    let written: Vec<_> = made.written.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(written, ["flag.1001.glb", "flag.1241.glb"]);
    let [first, second] = [0, 1].map(|file| Read::new(&made.written[file]));
    assert!(worst_error(&first, &made.positions[..240]) < 4e-7 && worst_error(&second, &made.positions[240..]) < 4e-7);
    let times = second.numbers(&second.json["animations"][0]["samplers"][0]["input"]);
    let expected: Vec<f64> = (0..10).map(|frame| f64::from((f64::from(frame) / 24.0) as f32)).collect();
    assert_eq!(times, expected);

    let made = make(crate::grid(3, 3), vec![-3, 5, 6, 30], MORPH, swaying);
    let read = Read::new(&made.written[0]);
    let times = read.numbers(&read.json["animations"][0]["samplers"][0]["input"]);
    assert_eq!(times, [0.0, 8.0, 9.0, 33.0].map(|frame: f64| f64::from((frame / 24.0) as f32)));

    let made = make(crate::grid(3, 3), vec![7], MORPH, swaying);
    let read = Read::new(&made.written[0]);
    assert!(read.json.get("animations").is_none() && read.primitives()[0].get("targets").is_none());
    assert!(worst_error(&read, &made.positions) == 0.0);
}

#[test]
fn a_stream_is_ready_for_a_vertex_buffer() {
    let made = make(garment(), (1001..=1300).collect(), STREAM, swaying);
    let names: Vec<_> = made.written.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["flag.glb", "flag.frames.bin"]);
    let read = Read::new(&made.written[0]);
    let vertices = 12 * 9 + 9;
    let expected = serde_json::json!({
        "uri": "flag.frames.bin", "frames": {"first": 1001, "step": 1, "count": 300}, "fps": [24, 1],
        "vertices": vertices, "bytes_per_frame": 12 * vertices,
    });
    assert_eq!(read.json["meshes"][0]["extras"]["kiln_frames"], expected);
    let sources = sources(&read.frames()[0], &made.positions[0]);
    let numbers = decode(5126, &fs::read(&made.written[1]).unwrap());
    for (frame, stored) in numbers.chunks(3 * vertices).zip(&made.positions) {
        let expected: Vec<f64> = sources.iter().flat_map(|&source| stored[source].map(f64::from)).collect();
        assert!(frame == expected);
    }
    assert_eq!(numbers.len(), 3 * vertices * 300);
    let told: Vec<u64> = made.written.iter().map(|path| fs::metadata(path).unwrap().len()).collect();
    assert!(
        made.told[0].contains(&told[0].to_string()) && made.told[1].contains(&told[1].to_string()),
        "{:?}",
        made.told
    );
    let uneven = make(garment(), vec![1, 2, 9], STREAM, swaying);
    let frames = &Read::new(&uneven.written[0]).json["meshes"][0]["extras"]["kiln_frames"]["frames"];
    assert_eq!(*frames, serde_json::json!([1, 2, 9]));
}

#[test]
fn a_frame_that_cannot_be_written_leaves_nothing() {
    for glb in [MORPH, STREAM, SPARSE] {
        let made = make(crate::grid(3, 3), (1..=5).collect(), glb, swaying);
        made.written.iter().for_each(|path| fs::remove_file(path).unwrap());
        // The third frame is damaged.
        let store = made.folder.path().join(names::STORE_FILE);
        let mut bytes = fs::read(&store).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&store, bytes).unwrap();
        let error = write(made.folder.path(), &made.mesh, &made.frames, glb, &mut Vec::new()).unwrap_err();
        assert!(matches!(error, CacheError::Damaged { .. }), "{error}");
        let left: Vec<_> = fs::read_dir(made.folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, [names::STORE_FILE], "{glb:?}");
    }
}

#[test]
fn what_cannot_be_a_glb_is_refused_before_anything_is_written() {
    let empty = PolyMesh { positions: vec![Vec3::zeros(); 3], face_starts: vec![0], ..PolyMesh::default() };
    let made_of = |mesh: &PolyMesh| {
        let folder = tempfile::tempdir().unwrap();
        let objects = vec![StoreObject { name: "flag".into(), vertex_count: 3 }];
        let header = StoreHeader { fps: FPS, objects, has_velocities: true };
        let mut writer = StoreWriter::create(&folder.path().join(names::STORE_FILE), &header).unwrap();
        writer.append(1, &[ObjectFrame { positions: &[[0.0; 3]; 3], velocities: &[[0.0; 3]; 3] }]).unwrap();
        writer.finish().unwrap();
        write(folder.path(), mesh, &[1], MORPH, &mut Vec::new()).unwrap_err().to_string()
    };
    assert!(made_of(&empty).contains("without faces"));
    if std::env::var_os("KILN_TEST_FULL").is_some() {
        let mesh = GlbMesh::build(&kiln::mesh::generate::sheet([1300, 1300], [1.0, 1.0]));
        let job = |glb, last| GlbJob {
            mesh: mesh.clone(),
            name: "f".into(),
            frames: (1..=last).collect(),
            fps: FPS,
            glb,
            grid: None,
        };
        let files = ["f.glb".to_owned(), "f.frames.bin".to_owned()];
        assert!(job(MORPH, 240).size_fault(&files).unwrap().contains("mode = \"stream\""));
        for (glb, last) in [(MORPH, 200), (QUANTISED, 240), (STREAM, 1000)] {
            assert_eq!(job(glb, last).size_fault(&files), None);
        }
    }
}

/// The folder of the pinned packages, as `tests/run` sets it up.
fn node_modules() -> PathBuf {
    let modules = std::env::var_os("KILN_TEST_NODE_MODULES").map(PathBuf::from).unwrap_or_else(|| {
        crate::blender::clients().join("node-validator-3.10-three-0.187.0-puppeteer-24.43.1/node_modules")
    });
    assert!(modules.is_dir(), "there are no packages at {}: run tests/run once, it fetches them", modules.display());
    modules
}

#[track_caller]
fn run(command: &mut Command) -> String {
    let result = command.output().unwrap_or_else(|error| panic!("cannot start {command:?}: {error}; run tests/run"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&result.stdout), text(&result.stderr));
    println!("{out}{err}");
    assert!(result.status.success(), "{command:?} disagrees ({}), see above\n{out}{err}", result.status);
    out
}

#[test]
fn the_validator_has_no_complaint() {
    let long = (1001..=1250).collect();
    let kinds = [
        make(garment(), shot(), MORPH, swaying),
        make(garment(), shot(), QUANTISED, swaying),
        make(garment(), shot(), SPARSE, half_moving),
        make(garment(), shot(), SMALLEST, half_moving),
        make(garment(), shot(), STREAM, swaying),
        make(crate::grid(3, 3), long, MORPH, swaying),
        make(garment(), vec![1], MORPH, swaying),
        make(garment(), shot(), SHADED, swaying),
        make(garment(), shot(), ALL, half_moving),
        // Nothing moves at all.
        make(garment(), shot(), SMALLEST, |mesh, _| swaying(mesh, 1)),
    ];
    let files = kinds.iter().flat_map(|made| &made.written).filter(|path| path.extension().unwrap() == "glb");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/formats/validator.mjs");
    let out = run(Command::new("node").arg(script).arg(node_modules()).args(files));
    assert_eq!(out.matches("0 errors, 0 warnings").count(), 11);
}

/// The vertices of some frames in a file, for clients.
fn expectation(made: &Made, frames: &[usize]) -> PathBuf {
    let path = made.folder.path().join("expected.f32");
    let numbers = frames.iter().flat_map(|&frame| made.positions[frame].as_flattened());
    fs::write(&path, numbers.flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>()).unwrap();
    path
}

#[test]
fn blender_shows_every_frame() {
    let uneven = vec![1, 2, 9, 10, 30];
    let kinds = [
        make(garment(), shot(), MORPH, swaying),
        make(garment(), shot(), QUANTISED, swaying),
        make(garment(), shot(), SPARSE, half_moving),
        make(garment(), shot(), SMALLEST, half_moving),
        make(garment(), uneven, MORPH, swaying),
        make(garment(), shot(), ALL, half_moving),
        make(garment(), vec![1], MORPH, swaying),
    ];
    let mut arguments = vec![kinds[0].mesh.positions.len().to_string()];
    for made in &kinds {
        let all: Vec<usize> = (0..made.frames.len()).collect();
        let quantised = made.told[0].contains("rounded");
        let tolerance = if quantised { told_error(made) * 1.01 + 1e-6 } else { 1e-5 };
        let frames: Vec<String> = made.frames.iter().map(i64::to_string).collect();
        let (glb, expected) = (&made.written[0], expectation(made, &all));
        arguments.extend([glb.display().to_string(), expected.display().to_string()]);
        arguments.extend([made.frames[0].to_string(), "24".to_owned(), tolerance.to_string(), frames.join(",")]);
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/formats/glb_blender.py");
    let out = run(Command::new(crate::blender::python()).arg(script).args(arguments));
    assert_eq!(out.matches("worst error").count(), kinds.len());
}

#[test]
fn three_js_draws_frame_ten() {
    for (name, glb, pose) in [("morph", MORPH, swaying as Pose), ("shaded", SHADED, swaying), ("all", ALL, half_moving)]
    {
        let made = make(garment(), shot(), glb, pose);
        let tolerance = if glb.quantize { told_error(&made) * 1.01 + 1e-6 } else { 1e-5 };
        let expected = expectation(&made, &[0, 10]);
        let picture = std::env::temp_dir().join(format!("kiln-three-{name}.png"));
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/formats/three.mjs");
        let mut node = Command::new("node");
        node.arg(script).arg(node_modules()).arg("/usr/bin/chromium").arg(&made.written[0]).arg(expected);
        let out = run(node
            .args([made.mesh.positions.len().to_string(), (10.0 / 24.0).to_string(), tolerance.to_string()])
            .arg(&picture));
        assert!(out.contains("worst error") && out.contains("silk"), "{out}");
        println!("{}", picture.display());
    }
}
