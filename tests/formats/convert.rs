//! From the store to caches: coordinates, frames and names.

use std::fs;
use std::path::Path;

use kiln::cache::convert::{Coordinates, Target, convert};
use kiln::cache::mdd::MddInfo;
use kiln::cache::pc2::Pc2Info;
use kiln::cache::store::{ObjectFrame, StoreHeader, StoreObject, StoreReader, StoreWriter};
use kiln::cache::{CacheError, Failure, names};
use kiln::math::Vec3;
use kiln::mesh::surface::PolyMesh;
use kiln::scene::{Format, FrameRate, Glb, Output, Placement, Space, Unit, UpAxis};

pub fn output(unit: Unit, up: UpAxis, space: Space) -> Output {
    Output { formats: Vec::new(), unit, up, pattern: String::new(), space, glb: Glb::default(), colliders: false }
}

/// A cache of the object `flag` with the vertices of the store.
pub fn target(mesh: &PolyMesh, format: Format, coordinates: Coordinates) -> Target<'_> {
    Target { stored: "flag", object: "flag", mesh, deform: None, format, coordinates, glb: Glb::default() }
}

pub fn placement() -> Placement {
    let (rotate, translate) = (Vec3::new(0.0, 0.0, 90.0), Vec3::new(1.0, 2.0, 3.0));
    Placement { up: UpAxis::Y, scale: 1.0, rotate, translate }
}

/// A store of one waving object.
pub fn waving_store(folder: &Path, mesh: &PolyMesh, frames: impl Iterator<Item = i64>) -> StoreReader {
    let objects = vec![StoreObject { name: "flag".into(), vertex_count: mesh.positions.len() }];
    let fps = FrameRate { numerator: 24, denominator: 1 };
    let path = folder.join(names::STORE_FILE);
    let mut writer = StoreWriter::create(&path, &StoreHeader { fps, objects, has_velocities: true }).unwrap();
    for frame in frames {
        let positions = crate::waving(mesh, frame);
        writer.append(frame, &[ObjectFrame { positions: &positions, velocities: &positions }]).unwrap();
    }
    writer.finish().unwrap();
    StoreReader::open(&path).unwrap()
}

fn file_name(object: &str, format: Format, frame: Option<i64>) -> String {
    let number = frame.map(|frame| format!(".{frame:04}")).unwrap_or_default();
    format!("caches/{object}{number}.{}", format.name())
}

#[test]
fn coordinates_are_those_of_the_output() {
    let point = [1.0, 2.0, 5.0];
    let apply = |unit, up, space| Coordinates::new(&output(unit, up, space), &placement()).apply(point);
    assert_eq!(apply(Unit::Metre, UpAxis::Y, Space::World), point);
    assert_eq!(apply(Unit::Centimetre, UpAxis::Y, Space::World), [100.0, 200.0, 500.0]);
    assert_eq!(apply(Unit::Metre, UpAxis::Z, Space::World), [1.0, -5.0, 2.0]);
    // Shifted back to (0, 0, 2), which the turn about z leaves alone.
    assert_eq!(apply(Unit::Millimetre, UpAxis::Z, Space::Local), [0.0, -2000.0, 0.0]);
    let local = Coordinates::new(&output(Unit::Metre, UpAxis::Y, Space::Local), &placement());
    let turned = local.apply([1.0, 5.0, 3.0]); // world y is local x after a quarter turn
    assert!((turned[0] - 3.0).abs() < 1e-6 && turned[1].abs() < 1e-6 && turned[2] == 0.0, "{turned:?}");
}

#[test]
fn one_pass_writes_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = crate::grid(4, 3);
    let mut reader = waving_store(folder.path(), &mesh, 1..=6);
    let coordinates = Coordinates::new(&output(Unit::Metre, UpAxis::Z, Space::World), &placement());
    let targets = Format::ALL.map(|format| target(&mesh, format, coordinates));
    let written = convert(&mut reader, &targets, &[2, 4, 6], folder.path(), &file_name, &mut |_| {}).unwrap();
    assert_eq!(written.iter().map(|cache| cache.files.len()).collect::<Vec<_>>(), [1, 1, 3, 1]);
    let pc2 = Pc2Info::read(&folder.path().join("caches/flag.pc2")).unwrap();
    let mdd = MddInfo::read(&folder.path().join("caches/flag.mdd")).unwrap();
    assert_eq!((pc2.start_frame, pc2.sample_rate, pc2.sample_count), (2.0, 2.0, 3));
    assert_eq!(mdd.times, [0.0, 2.0 / 24.0, 4.0 / 24.0]);
    for (index, frame) in [2, 4, 6].into_iter().enumerate() {
        let expected: Vec<_> = crate::waving(&mesh, frame).iter().map(|&[x, y, z]| [x, -z, y]).collect();
        assert_eq!(pc2.sample(index).unwrap(), expected);
        assert_eq!(mdd.frame(index).unwrap(), expected);
        let obj = folder.path().join(format!("caches/flag.{frame:04}.obj"));
        assert_eq!(crate::obj::vertices(&obj), expected);
    }
    assert_eq!(fs::read_dir(folder.path().join("caches")).unwrap().count(), 6);
}

#[test]
fn what_is_not_stored_is_named_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = crate::grid(4, 3);
    let mut reader = waving_store(folder.path(), &mesh, 1..=3);
    let coordinates = Coordinates::new(&output(Unit::Metre, UpAxis::Y, Space::World), &placement());
    let flag = target(&mesh, Format::Pc2, coordinates);
    let mut attempt = |targets: &[Target], frames: &[i64], file_name: &dyn Fn(&str, Format, Option<i64>) -> String| {
        let error = convert(&mut reader, targets, frames, folder.path(), file_name, &mut |_| {}).unwrap_err();
        assert_eq!(error.failure(), Failure::InvalidData);
        assert!(!folder.path().join("caches/flag.pc2").exists() && !folder.path().join("same").exists());
        error
    };
    assert!(matches!(attempt(&[flag], &[2, 9], &file_name), CacheError::MissingFrame { frame: 9, .. }));
    let skirt = Target { stored: "skirt", object: "skirt", ..flag };
    let error = attempt(&[flag, skirt], &[2], &file_name);
    assert!(matches!(&error, CacheError::MissingObject { object, .. } if object == "skirt"), "{error}");
    attempt(&[flag], &[3, 2], &file_name);
    attempt(&[flag], &[], &file_name);
    attempt(&[Target { mesh: &crate::grid(3, 3), ..flag }], &[2], &file_name);
    let same = |_: &str, _: Format, _: Option<i64>| "same".to_owned();
    attempt(&[flag, Target { format: Format::Mdd, ..flag }], &[2], &same);
    attempt(&[Target { format: Format::Obj, ..flag }], &[1, 2], &same);
    assert!(!folder.path().join("caches").exists(), "not even a folder is made");
}

#[test]
fn coordinates_that_grow_out_of_their_numbers_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let objects = vec![StoreObject { name: "flag".into(), vertex_count: 1 }];
    let path = folder.path().join(names::STORE_FILE);
    let fps = FrameRate { numerator: 24, denominator: 1 };
    let mut writer = StoreWriter::create(&path, &StoreHeader { fps, objects, has_velocities: true }).unwrap();
    writer.append(1, &[ObjectFrame { positions: &[[1e38, 0.0, 0.0]], velocities: &[[0.0; 3]] }]).unwrap();
    writer.finish().unwrap();
    let mesh = PolyMesh { positions: vec![Vec3::zeros()], ..PolyMesh::default() };
    let coordinates = Coordinates::new(&output(Unit::Millimetre, UpAxis::Y, Space::World), &placement());
    let target = target(&mesh, Format::Mdd, coordinates);
    let mut reader = StoreReader::open(&path).unwrap();
    let error = convert(&mut reader, &[target], &[1], folder.path(), &file_name, &mut |_| {}).unwrap_err();
    assert!(matches!(error, CacheError::NotFinite { frame: 1, vertex: 0, .. }), "{error}");
}
