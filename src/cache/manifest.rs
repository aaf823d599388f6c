//! `manifest.json`: what was baked from what, by which program, and how it ended.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::atomic::{AtomicFile, WrittenFile, hexadecimal};
use super::error::{CacheError, Result};
use super::names::MANIFEST_VERSION;
use crate::scene::Format;

/// How far a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Being written, or killed without a chance to say so.
    Running,
    /// All frames written, every gate passed.
    Complete,
    /// Ended early; the message says why.
    Failed,
    /// All frames written, a gate did not pass.
    GatesFailed,
}

/// The program that wrote the job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// `kiln`.
    pub name: String,
    /// As in `kiln --version`.
    pub version: String,
    /// Processor and the features that may change the last bit, such as `x86_64+avx2+fma`.
    pub cpu: String,
    /// The graphics card that simulated, and its driver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
}

impl Tool {
    /// This program on this machine.
    pub fn current(device: Option<String>) -> Self {
        let (name, version) = (env!("CARGO_PKG_NAME").into(), env!("CARGO_PKG_VERSION").into());
        Tool { name, version, cpu: cpu_features(), device }
    }

    /// For people.
    pub fn describe(&self) -> String {
        let device = self.device.as_ref().map(|device| format!(" and {device}")).unwrap_or_default();
        format!("{} {} on {}{device}", self.name, self.version, self.cpu)
    }
}

/// A file and its fingerprint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileRecord {
    /// As the user wrote it; files of the job relative to its folder, with forward slashes.
    pub file: String,
    /// Its length.
    pub bytes: u64,
    /// xxh3_128 of its content, in hexadecimal.
    pub xxh3: String,
}

impl FileRecord {
    /// Takes the fingerprint of a file; `typed` is its name in the manifest.
    pub fn read(path: &Path, typed: &str) -> Result<Self> {
        let mut file = File::open(path).map_err(CacheError::io("open", path))?;
        let (mut digest, mut bytes) = (Xxh3::new(), 0);
        let mut buffer = vec![0; 1 << 16];
        loop {
            let count = file.read(&mut buffer).map_err(CacheError::io("read", path))?;
            if count == 0 {
                return Ok(FileRecord { file: typed.to_owned(), bytes, xxh3: hexadecimal(&digest) });
            }
            digest.update(&buffer[..count]);
            bytes += count as u64;
        }
    }

    /// The record of a file that was just written somewhere below `job_folder`.
    pub fn written(job_folder: &Path, written: &WrittenFile) -> Self {
        let relative = written.path.strip_prefix(job_folder).unwrap_or(&written.path);
        let parts: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
        FileRecord { file: parts.join("/"), bytes: written.bytes, xxh3: written.xxh3.clone() }
    }
}

/// Which frames there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrameSummary {
    /// First simulated frame.
    pub first: i64,
    /// Last simulated frame.
    pub last: i64,
    /// How many are in the store.
    pub written: u64,
}

/// A cache that was made from the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheFile {
    /// Relative to the job folder, with forward slashes.
    pub file: String,
    /// Its format.
    pub format: Format,
    /// Whose vertices it holds.
    pub object: String,
    /// Its length.
    pub bytes: u64,
    /// xxh3_128 of its content, in hexadecimal.
    pub xxh3: String,
}

impl CacheFile {
    /// The entry of a file that was just written somewhere below `job_folder`.
    pub fn new(job_folder: &Path, written: &WrittenFile, format: Format, object: &str) -> Self {
        let FileRecord { file, bytes, xxh3 } = FileRecord::written(job_folder, written);
        CacheFile { file, format, object: object.to_owned(), bytes, xxh3 }
    }
}

/// A cloth that started inside of something or crossing it, and what had become of that at the first frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TangledStart {
    /// The cloth.
    pub object: String,
    /// Edges that pierced a triangle at the start.
    pub crossings: u64,
    /// How many vertices were inside of something or tangled.
    pub count: u64,
    /// The first of them, as numbers of the mesh file counted from 0.
    pub vertices: Vec<u32>,
    /// How far the farthest of them has moved until the first frame [m].
    pub moved: f64,
    /// Edges that still pierce a triangle at the first frame.
    pub left: u64,
}

/// A device that went away during a bake.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceLost {
    /// The first frame that the processor has simulated.
    pub frame: i64,
    /// What was said about it.
    pub message: String,
}

/// Everything in `manifest.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Layout of this file.
    pub version: u32,
    /// The program that wrote the job.
    pub tool: Tool,
    /// How far the job is.
    pub status: Status,
    /// What the program ended with; none while it runs.
    pub exit_code: Option<i32>,
    /// Why it failed, if it did.
    pub message: Option<String>,
    /// Which frames there are.
    pub frames: FrameSummary,
    /// The files that decided the result.
    pub inputs: Vec<FileRecord>,
    /// What the bake wrote besides its caches: store, frame log, rest meshes. Empty until it is finished.
    #[serde(default)]
    pub files: Vec<FileRecord>,
    /// Cloths that started inside of something or crossing it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tangled: Vec<TangledStart>,
    /// Why it went on on the processor from some frame on, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_lost: Option<DeviceLost>,
    /// The caches that were made.
    pub caches: Vec<CacheFile>,
    /// The scene with every default filled in.
    pub scene: serde_json::Value,
}

impl Manifest {
    /// A job of this program that starts now.
    pub fn running(tool: Tool, scene: serde_json::Value, inputs: Vec<FileRecord>, frames: FrameSummary) -> Self {
        Manifest {
            version: MANIFEST_VERSION,
            tool,
            status: Status::Running,
            exit_code: None,
            message: None,
            frames,
            inputs,
            files: Vec::new(),
            tangled: Vec::new(),
            device_lost: None,
            caches: Vec::new(),
            scene,
        }
    }

    /// Writes the file, replacing an older one in one step.
    pub fn write(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self).map_err(|error| CacheError::invalid(path, error.to_string()))?;
        let mut file = AtomicFile::create(path)?;
        file.put(text.as_bytes())?;
        file.put(b"\n")?;
        file.commit().map(drop)
    }

    /// Reads the file; one of a later Kiln is refused.
    pub fn read(path: &Path) -> Result<Self> {
        /// All that is certain about a manifest of any version.
        #[derive(Deserialize)]
        struct Version {
            version: u32,
        }
        let malformed = |error: serde_json::Error| {
            CacheError::invalid(path, format!("this is not a manifest that Kiln can read: {error}"))
        };
        let text = fs::read(path).map_err(CacheError::io("read", path))?;
        let Version { version } = serde_json::from_slice(&text).map_err(malformed)?;
        if version > MANIFEST_VERSION {
            let (file, found, supported) = (path.to_owned(), version, MANIFEST_VERSION);
            return Err(CacheError::NewerVersion { file, found, supported });
        }
        serde_json::from_slice(&text).map_err(malformed)
    }
}

/// The processor and those of its features that linear algebra chooses its code by.
pub fn cpu_features() -> String {
    #[allow(unused_mut, reason = "other processors have nothing to add")]
    let mut features = std::env::consts::ARCH.to_owned();
    #[cfg(target_arch = "x86_64")]
    for (name, present) in [
        ("+avx2", is_x86_feature_detected!("avx2")),
        ("+fma", is_x86_feature_detected!("fma")),
        ("+avx512f", is_x86_feature_detected!("avx512f")),
    ] {
        features += if present { name } else { "" };
    }
    features
}
