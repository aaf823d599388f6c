//! What stands beside the caches: manifest, frame log, lock, names.

use std::fs;
use std::path::{Path, PathBuf};

use kiln::cache::atomic::AtomicFile;
use kiln::cache::frames_log::{self, Degraded, FrameRecord, FramesLog, ObjectRecord};
use kiln::cache::lock::JobLock;
use kiln::cache::manifest::{CacheFile, FileRecord, FrameSummary, Manifest, Status, Tool, cpu_features};
use kiln::cache::{CacheError, Failure, names};
use kiln::model::Promise;
use kiln::scene::Format;

#[test]
fn an_atomic_file_appears_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b/file");
    let mut file = AtomicFile::create(&path).unwrap();
    file.put(b"half").unwrap();
    file.flush().unwrap();
    assert!(!path.exists() && names::partial(&path).exists());
    drop(file);
    assert!(!path.exists() && !names::partial(&path).exists());
    let mut file = AtomicFile::create(&path).unwrap();
    file.put(b"whole").unwrap();
    let written = file.commit().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"whole");
    let input = FileRecord::read(&path, "b/file").unwrap();
    assert_eq!((written.bytes, &written.xxh3), (5, &input.xxh3));
    assert_eq!(input.xxh3, format!("{:032x}", xxhash_rust::xxh3::xxh3_128(b"whole")));
    // A folder in the way.
    let error = AtomicFile::create(&folder.path().join("a/b")).unwrap().commit().unwrap_err();
    assert_eq!(error.failure(), Failure::InputOutput);
    assert!(!folder.path().join("a/b.partial").exists());
}

fn manifest(folder: &Path) -> Manifest {
    let mut file = AtomicFile::create(&folder.join("caches/flag.pc2")).unwrap();
    file.put(b"points").unwrap();
    let written = file.commit().unwrap();
    let inputs = vec![FileRecord::read(&written.path, "meshes/flag.obj").unwrap()];
    let scene = serde_json::json!({"name": "flag", "fps": {"numerator": 24, "denominator": 1}, "bend": 1e-5});
    let frames = FrameSummary { first: 1001, last: 1100, written: 50 };
    let mut manifest = Manifest::running(Tool::current(None), scene, inputs, frames);
    manifest.caches.push(CacheFile::new(folder, &written, Format::Pc2, "flag"));
    manifest
}

#[test]
fn a_manifest_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(names::MANIFEST_FILE);
    let mut manifest = manifest(folder.path());
    assert_eq!(manifest.caches[0].file, "caches/flag.pc2");
    manifest.write(&path).unwrap();
    assert_eq!(Manifest::read(&path).unwrap(), manifest);
    manifest.status = Status::GatesFailed;
    manifest.message = Some("stretch 0.03 is above 0.01".into());
    manifest.exit_code = Some(5);
    manifest.write(&path).unwrap();
    assert_eq!(Manifest::read(&path).unwrap(), manifest);
    assert!(fs::read_to_string(&path).unwrap().contains(r#""status": "gates_failed""#));
    assert!(cpu_features().starts_with(std::env::consts::ARCH));
}

#[test]
fn manifests_that_are_not_ours_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(names::MANIFEST_FILE);
    manifest(folder.path()).write(&path).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("\"version\": 1", "\"version\": 3, \"unheard_of\": true", 1)).unwrap();
    let error = Manifest::read(&path).unwrap_err();
    assert!(matches!(error, CacheError::NewerVersion { found: 3, supported: 1, .. }), "{error}");
    let replaced = text.replace("\"running\"", "\"dreaming\"");
    let added = text.replacen('{', "{\"unheard_of\": true,", 1);
    for bad in ["", "[1]", "{}", "\u{0}", "{\"version\": -1}", &text[..text.len() / 2], &replaced, &added] {
        fs::write(&path, bad).unwrap();
        let error = Manifest::read(&path).unwrap_err();
        assert_eq!(error.failure(), Failure::InvalidData, "{error}");
        assert!(error.to_string().contains("manifest.json"), "{error}");
    }
    fs::remove_file(&path).unwrap();
    assert_eq!(Manifest::read(&path).unwrap_err().failure(), Failure::InputOutput);
}

fn record(frame: i64) -> FrameRecord {
    let degraded =
        Degraded { promise: Promise::Crossing, with: Some("a \"b\"".into()), count: 3, vertices: vec![4, 5] };
    let object = ObjectRecord {
        max_volume_error: Some(0.004),
        volume_error: Some(-0.001),
        name: "flag \"left\"\n".into(),
        max_stretch: 0.1 + frame as f64,
        p99_stretch: 0.25,
        max_compression: 1.0 / 7.0,
        max_constraint_stretch: 1.0 / 3.0,
        mean_constraint_stretch: 1e-300,
        contacts: u64::MAX,
        max_penetration: -0.0,
        crossings: 3,
        released: 2,
        cut: 1,
        degraded: if frame % 2 == 0 { vec![degraded] } else { Vec::new() },
    };
    FrameRecord {
        frame,
        seconds: 0.016,
        collider_seconds: 0.0,
        contact_seconds: 0.5,
        substeps: 12,
        iterations: 99,
        factorisations: 7,
        written: frame > 0,
        objects: vec![object],
    }
}

fn written_log(folder: &Path) -> PathBuf {
    let path = folder.join("job").join(names::FRAMES_LOG_FILE);
    let mut log = FramesLog::create(&path).unwrap();
    for frame in -1..2 {
        log.append(&record(frame)).unwrap();
        assert_eq!(frames_log::read(&path).unwrap().last(), Some(&record(frame)), "readable at once");
    }
    path
}

#[test]
fn a_frame_log_comes_back_whatever_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = written_log(folder.path());
    let text = fs::read(&path).unwrap();
    assert_eq!(frames_log::read(&path).unwrap(), [-1, 0, 1].map(record));
    fs::write(&path, &text[..text.len() - 1]).unwrap();
    assert_eq!(frames_log::read(&path).unwrap().len(), 3, "only the last line end is missing");
    crate::for_every_length(&path, |copy, length| {
        let records = frames_log::read(copy).unwrap();
        let whole = text[..length].iter().filter(|&&byte| byte == b'\n').count();
        assert!(records.len() == whole || text[length] == b'\n', "{length} bytes");
    });
}

#[test]
fn a_malformed_line_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = written_log(folder.path());
    let text = fs::read_to_string(&path).unwrap();
    for bad in ["\"substeps\":null", "\"substeps\":1.5", "\"substeps\":4,\"mood\":1", "\u{7f}"] {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines[1] = lines[1].replace("\"substeps\":12", bad);
        fs::write(&path, lines.join("\n")).unwrap();
        let error = frames_log::read(&path).unwrap_err();
        assert!(matches!(error, CacheError::InvalidLine { line: 2, .. }), "{error}");
    }
}

#[test]
fn metrics_that_json_cannot_hold_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(names::FRAMES_LOG_FILE);
    let mut log = FramesLog::create(&path).unwrap();
    let spoil: [fn(&mut FrameRecord); 7] = [
        |record| record.seconds = f64::NAN,
        |record| record.objects[0].max_stretch = f64::INFINITY,
        |record| record.objects[0].p99_stretch = f64::NAN,
        |record| record.objects[0].max_compression = f64::NAN,
        |record| record.objects[0].max_constraint_stretch = f64::NEG_INFINITY,
        |record| record.objects[0].mean_constraint_stretch = f64::NAN,
        |record| record.objects[0].max_penetration = f64::NAN,
    ];
    for spoil in spoil {
        let mut bad = record(3);
        spoil(&mut bad);
        let error = log.append(&bad).unwrap_err();
        assert!(matches!(error, CacheError::MetricNotFinite { frame: 3, .. }), "{error}");
    }
    assert_eq!(fs::metadata(&path).unwrap().len(), 0);
}

#[test]
fn a_job_has_one_writer() {
    let folder = tempfile::tempdir().unwrap();
    let job = folder.path().join("new/job");
    let lock = JobLock::acquire(&job).unwrap();
    let error = JobLock::acquire(&job).unwrap_err();
    assert!(matches!(error, CacheError::Locked { .. }), "{error}");
    assert_eq!(error.failure(), Failure::InputOutput);
    drop(lock);
    JobLock::acquire(&job).unwrap();
}

#[test]
fn object_names_stay_in_their_folder() {
    let rest = |object| names::rest_file(object).to_string_lossy().replace('\\', "/");
    assert_eq!(rest("shirt"), "rest/shirt.obj");
    assert_eq!(rest("../../etc/passwd"), "rest/_._.._etc_passwd.obj");
    assert_eq!(rest(".hidden"), "rest/_hidden.obj");
    assert_eq!(rest(""), "rest/_.obj");
    assert_eq!(rest("a:b\\c\n"), "rest/a_b_c_.obj");
}
