//! The native store.

use std::fs;
use std::path::{Path, PathBuf};

use kiln::cache::store::{ObjectFrame, StoreHeader, StoreObject, StoreReader, StoreWriter, StoredFrame};
use kiln::cache::{CacheError, Failure, names};
use kiln::scene::FrameRate;
use xxhash_rust::xxh3::xxh3_64;

const FRAMES: [i64; 3] = [-2, 1001, 1003];
/// Header: 28 fixed bytes, two objects of 12 bytes and their names, checksum. Frame: head and two vectors a vertex.
const HEADER_SIZE: usize = 28 + (12 + 5) + (12 + 4) + 8;
const FRAME_SIZE: usize = 24 + 24 * (4 + 3);
const END_SIZE: usize = 24;

fn header() -> StoreHeader {
    let object = |name: &str, vertex_count| StoreObject { name: name.into(), vertex_count };
    let fps = FrameRate { numerator: 24000, denominator: 1001 };
    StoreHeader { fps, objects: vec![object("shirt", 4), object("süd", 3)], has_velocities: true }
}

/// Numbers that need all their bits, with an exponent at each end.
fn points(count: usize, seed: i64) -> Vec<[f32; 3]> {
    let number = |i: usize| (i as f32 + 0.1) / (seed as f32 + 0.7) * if i.is_multiple_of(2) { 1e-30 } else { 1e30 };
    (0..count).map(|vertex| [0, 1, 2].map(|axis| number(3 * vertex + axis))).collect()
}

fn append(writer: &mut StoreWriter, frame: i64) -> Result<(), CacheError> {
    let (a, b, c, d) = (points(4, frame), points(4, frame + 7), points(3, frame + 8), points(3, frame + 9));
    writer
        .append(frame, &[ObjectFrame { positions: &a, velocities: &b }, ObjectFrame { positions: &c, velocities: &d }])
}

fn written_store(folder: &Path) -> PathBuf {
    let path = folder.join("deep").join(names::STORE_FILE);
    let mut writer = StoreWriter::create(&path, &header()).unwrap();
    for frame in FRAMES {
        append(&mut writer, frame).unwrap();
    }
    let written = writer.finish().unwrap();
    assert_eq!(written.bytes, fs::metadata(&path).unwrap().len());
    path
}

#[test]
fn everything_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = written_store(folder.path());
    assert_eq!(fs::metadata(&path).unwrap().len() as usize, HEADER_SIZE + 3 * FRAME_SIZE + END_SIZE);
    assert!(!names::partial(&path).exists());
    let mut reader = StoreReader::open(&path).unwrap();
    assert_eq!(reader.header(), &header());
    assert_eq!(reader.frames(), FRAMES);
    let mut frame = StoredFrame::default();
    for index in [2, 0, 1] {
        reader.read(index, &mut frame).unwrap();
        let number = FRAMES[index];
        assert_eq!(frame.frame, number);
        assert_eq!(frame.objects[0].positions, points(4, number));
        assert_eq!(frame.objects[0].velocities, points(4, number + 7));
        assert_eq!(frame.objects[1].positions, points(3, number + 8));
        assert_eq!(frame.objects[1].velocities, points(3, number + 9));
    }
    assert_eq!(reader.read(3, &mut frame).unwrap_err().failure(), Failure::InvalidData);
}

#[test]
fn a_finished_store_cut_anywhere_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    crate::for_every_length(&written_store(folder.path()), |copy, length| {
        let error = StoreReader::open(copy).expect_err(&format!("{length} bytes"));
        assert_eq!(error.failure(), Failure::InvalidData, "{length} bytes: {error}");
        assert!(error.to_string().contains("bake.kc"), "{error}");
    });
}

#[test]
fn a_partial_store_cut_anywhere_keeps_its_whole_frames() {
    let folder = tempfile::tempdir().unwrap();
    let path = written_store(folder.path());
    let partial = names::partial(&path);
    fs::rename(&path, &partial).unwrap();
    crate::for_every_length(&partial, |copy, length| match StoreReader::open(copy) {
        Err(error) => assert!(length < HEADER_SIZE, "{length} bytes: {error}"),
        Ok(mut reader) => {
            assert_eq!(reader.frames(), &FRAMES[..(length - HEADER_SIZE) / FRAME_SIZE]);
            for index in 0..reader.frames().len() {
                reader.read(index, &mut StoredFrame::default()).unwrap();
            }
        }
    });
}

#[test]
fn every_flipped_byte_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = written_store(folder.path());
    let bytes = fs::read(&path).unwrap();
    for place in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[place] ^= 0x10;
        fs::write(&path, &damaged).unwrap();
        let read_all = || -> Result<(), CacheError> {
            let mut reader = StoreReader::open(&path)?;
            (0..reader.frames().len()).try_for_each(|index| reader.read(index, &mut StoredFrame::default()))
        };
        let error = read_all().expect_err(&format!("byte {place}"));
        assert_eq!(error.failure(), Failure::InvalidData, "byte {place}: {error}");
        let payload = place.checked_sub(HEADER_SIZE + FRAME_SIZE + 24).is_some_and(|within| within < FRAME_SIZE - 24);
        if payload {
            let offset = (HEADER_SIZE + FRAME_SIZE) as u64;
            assert!(
                matches!(&error, CacheError::Damaged { frame: 1001, offset: at, file } if *at == offset && *file == path),
                "byte {place}: {error}"
            );
        }
    }
}

/// The header with other bytes from `place` on and a checksum that fits them.
fn forged(folder: &Path, place: usize, bytes: &[u8]) -> PathBuf {
    let path = written_store(folder);
    let mut content = fs::read(&path).unwrap();
    content[place..place + bytes.len()].copy_from_slice(bytes);
    let checksum = xxh3_64(&content[..HEADER_SIZE - 8]);
    content[HEADER_SIZE - 8..HEADER_SIZE].copy_from_slice(&checksum.to_le_bytes());
    fs::write(&path, content).unwrap();
    path
}

#[test]
fn a_newer_version_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = forged(folder.path(), 8, &7_u32.to_le_bytes());
    let error = StoreReader::open(&path).unwrap_err();
    assert!(matches!(error, CacheError::NewerVersion { found: 7, supported: 2, .. }), "{error}");
    let message = error.to_string();
    assert!(message.contains("version 7") && message.contains("version 2"), "{message}");
}

#[test]
fn absurd_counts_are_refused_before_memory_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let vertex_count_of_shirt = 28 + 4 + 5;
    let forgeries = [
        (vertex_count_of_shirt, (1_u64 << 60).to_le_bytes().to_vec()),
        (vertex_count_of_shirt, u64::MAX.to_le_bytes().to_vec()),
        (vertex_count_of_shirt, u64::from(u32::MAX).to_le_bytes().to_vec()),
        (24, u32::MAX.to_le_bytes().to_vec()), // object count
        (28, u32::MAX.to_le_bytes().to_vec()), // name length
        (12, u32::MAX.to_le_bytes().to_vec()), // header length
        (12, 0_u32.to_le_bytes().to_vec()),
        (16, 0_u32.to_le_bytes().to_vec()), // frame rate
    ];
    for (place, bytes) in forgeries {
        let error = StoreReader::open(&forged(folder.path(), place, &bytes)).unwrap_err();
        assert_eq!(error.failure(), Failure::InvalidData, "{error}");
    }
}

#[test]
fn an_interrupted_writer_leaves_whole_frames_under_the_partial_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(names::STORE_FILE);
    let mut writer = StoreWriter::create(&path, &header()).unwrap();
    append(&mut writer, 5).unwrap();
    append(&mut writer, 6).unwrap();
    drop(writer);
    assert!(!path.exists());
    let partial = folder.path().join(names::PARTIAL_STORE_FILE);
    let mut reader = StoreReader::open(&partial).unwrap();
    assert_eq!(reader.frames(), [5, 6]);
    reader.read(1, &mut StoredFrame::default()).unwrap();
}

#[test]
fn what_cannot_be_stored_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(names::STORE_FILE);
    let empty = StoreHeader { objects: Vec::new(), ..header() };
    assert!(StoreWriter::create(&path, &empty).is_err());
    let mut writer = StoreWriter::create(&path, &header()).unwrap();
    append(&mut writer, 5).unwrap();
    assert!(append(&mut writer, 5).is_err(), "frame numbers ascend");
    let (good, mut bad) = (points(4, 1), points(3, 1));
    assert!(writer.append(6, &[ObjectFrame { positions: &good, velocities: &good }]).is_err(), "an object is missing");
    for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        bad[2][1] = value;
        let objects = [
            ObjectFrame { positions: &good, velocities: &good },
            ObjectFrame { positions: &points(3, 1), velocities: &bad },
        ];
        let error = writer.append(6, &objects).unwrap_err();
        assert!(
            matches!(&error, CacheError::NotFinite { frame: 6, object, vertex: 2, quantity: "velocity", .. } if object == "süd"),
            "{error}"
        );
    }
    append(&mut writer, 6).unwrap();
    writer.finish().unwrap();
    assert_eq!(StoreReader::open(&path).unwrap().frames(), [5, 6], "refused frames left nothing behind");
}

#[test]
fn other_files_are_not_stores() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bake.kc");
    assert_eq!(StoreReader::open(&path).unwrap_err().failure(), Failure::InputOutput);
    assert_eq!(StoreReader::open(folder.path()).unwrap_err().failure(), Failure::InputOutput);
    fs::write(&path, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    assert_eq!(StoreReader::open(&path).unwrap_err().failure(), Failure::InvalidData);
}
