//! PC2 and MDD.

use std::fs;
use std::path::Path;

use kiln::cache::mdd::{MddInfo, MddWriter};
use kiln::cache::pc2::{Pc2Info, Pc2Writer};
use kiln::cache::writers::{CacheWriter, Track};
use kiln::cache::{CacheError, Failure, names};
use kiln::scene::FrameRate;

const NTSC: FrameRate = FrameRate { numerator: 24000, denominator: 1001 };

fn track(frames: &[i64]) -> Track {
    Track { object: "flag".into(), vertex_count: 6, frames: frames.to_vec() }
}

fn write(mut writer: Box<dyn CacheWriter>, frames: &[i64]) {
    let mesh = crate::grid(3, 2);
    for &frame in frames {
        writer.frame(frame, &crate::waving(&mesh, frame)).unwrap();
    }
    let files = writer.finish().unwrap();
    assert_eq!(files.len(), 1);
    assert_eq!(files[0].bytes, fs::metadata(&files[0].path).unwrap().len());
}

fn write_pc2(path: &Path, frames: &[i64]) {
    write(Box::new(Pc2Writer::create(path, track(frames)).unwrap()), frames);
}

fn write_mdd(path: &Path, frames: &[i64]) {
    write(Box::new(MddWriter::create(path, track(frames), NTSC).unwrap()), frames);
}

#[test]
fn pc2_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a").join("flag.pc2");
    let frames = [1001, 1003, 1005, 1007];
    write_pc2(&path, &frames);
    let bytes = fs::read(&path).unwrap();
    assert_eq!(bytes.len(), 32 + 12 * 6 * 4);
    assert_eq!(&bytes[..16], b"POINTCACHE2\0\x01\0\0\0");
    let info = Pc2Info::read(&path).unwrap();
    let expected = Pc2Info { path, point_count: 6, start_frame: 1001.0, sample_rate: 2.0, sample_count: 4 };
    assert_eq!(info, expected);
    for (index, frame) in frames.into_iter().enumerate() {
        assert_eq!(info.sample(index).unwrap(), crate::waving(&crate::grid(3, 2), frame));
    }
    assert!(info.sample(4).is_err());
}

#[test]
fn pc2_says_one_frame_a_sample_where_steps_differ_or_there_are_none() {
    let folder = tempfile::tempdir().unwrap();
    for frames in [&[1, 2, 4][..], &[9], &[i64::MIN, 0, i64::MAX]] {
        let path = folder.path().join("flag.pc2");
        drop(Pc2Writer::create(&path, track(frames)).unwrap());
        assert!(!names::partial(&path).exists());
    }
    write_pc2(&folder.path().join("gaps.pc2"), &[1, 2, 4]);
    assert_eq!(Pc2Info::read(&folder.path().join("gaps.pc2")).unwrap().sample_rate, 1.0);
    write_pc2(&folder.path().join("one.pc2"), &[9]);
    assert_eq!(Pc2Info::read(&folder.path().join("one.pc2")).unwrap().sample_rate, 1.0);
}

#[test]
fn mdd_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flag.mdd");
    let frames = [1001, 1002, 1005];
    write_mdd(&path, &frames);
    let bytes = fs::read(&path).unwrap();
    assert_eq!(bytes.len(), 8 + 4 * 3 + 12 * 6 * 3);
    assert_eq!(&bytes[..8], [0, 0, 0, 3, 0, 0, 0, 6]);
    let info = MddInfo::read(&path).unwrap();
    assert_eq!(info.point_count, 6);
    assert_eq!(info.times, [0.0, (1001.0_f64 / 24000.0) as f32, (4.0 * 1001.0_f64 / 24000.0) as f32]);
    for (index, frame) in frames.into_iter().enumerate() {
        assert_eq!(info.frame(index).unwrap(), crate::waving(&crate::grid(3, 2), frame));
    }
    assert!(info.frame(3).is_err());
    let stopped = FrameRate { numerator: 0, denominator: 1 };
    assert!(MddWriter::create(&path, track(&frames), stopped).is_err());
}

#[test]
fn files_cut_anywhere_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (pc2, mdd) = (folder.path().join("flag.pc2"), folder.path().join("flag.mdd"));
    write_pc2(&pc2, &[1, 2]);
    write_mdd(&mdd, &[1, 2]);
    let refused = |error: CacheError| {
        assert_eq!(error.failure(), Failure::InvalidData, "{error}");
        assert!(error.to_string().contains("flag."), "{error}");
    };
    crate::for_every_length(&pc2, |copy, _| refused(Pc2Info::read(copy).unwrap_err()));
    crate::for_every_length(&mdd, |copy, _| refused(MddInfo::read(copy).unwrap_err()));
}

#[test]
fn absurd_counts_are_refused_before_memory_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flag.cache");
    for counts in [[i32::MAX, i32::MAX], [-1, 1], [1, -1], [i32::MIN, i32::MIN], [i32::MAX, 0]] {
        let mut pc2 = names::PC2_MAGIC.to_vec();
        pc2.extend(1_i32.to_le_bytes());
        pc2.extend(counts[1].to_le_bytes());
        pc2.extend([0; 8]);
        pc2.extend(counts[0].to_le_bytes());
        fs::write(&path, &pc2).unwrap();
        // No points in very many samples is odd, but as long as it says it is.
        assert_eq!(Pc2Info::read(&path).is_ok(), counts == [i32::MAX, 0]);
        fs::write(&path, counts.map(i32::to_be_bytes).as_flattened()).unwrap();
        assert_eq!(MddInfo::read(&path).unwrap_err().failure(), Failure::InvalidData);
    }
}

#[test]
fn a_writer_that_does_not_finish_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flag.pc2");
    let positions = crate::waving(&crate::grid(3, 2), 1);
    let mut writer = Box::new(Pc2Writer::create(&path, track(&[1, 2])).unwrap());
    assert!(names::partial(&path).exists());
    writer.frame(1, &positions).unwrap();
    assert!(writer.frame(3, &positions).is_err(), "not in the track");
    assert!(writer.frame(2, &positions[1..]).is_err(), "a vertex is missing");
    let mut bad = positions.clone();
    bad[4][0] = f32::INFINITY;
    let error = writer.frame(2, &bad).unwrap_err();
    assert!(matches!(error, CacheError::NotFinite { frame: 2, vertex: 4, quantity: "position", .. }), "{error}");
    assert!(writer.finish().is_err(), "frame 2 is missing");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
