//! `frames.jsonl`: one line of metrics a frame, handed to the system at once so that others can follow a running bake.
//! It grows under its final name for that reason; a line that was cut off has no line end and is not read.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::{CacheError, Result};
use crate::model::Promise;

/// A promise that had to yield in a frame, and where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Degraded {
    /// Which one.
    pub promise: Promise,
    /// The other object, if there is one; the object's own name where it is about itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with: Option<String>,
    /// How many vertices are concerned.
    pub count: u64,
    /// The first of them, as numbers of the mesh file counted from 0.
    pub vertices: Vec<u32>,
}

impl Degraded {
    /// Most vertices that are listed.
    pub const LISTED: usize = 256;
}

/// Metrics of an object in a frame. What other versions have measured besides is passed over.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ObjectRecord {
    /// The object's name.
    pub name: String,
    /// Largest relative stretch of the simulated mesh's visible edges.
    pub max_stretch: f64,
    /// 99 of 100 visible edges are stretched less.
    pub p99_stretch: f64,
    /// Largest part of its length that a visible edge has lost.
    pub max_compression: f64,
    /// Largest relative stretch of the constraints that the solver works against.
    pub max_constraint_stretch: f64,
    /// Mean relative stretch of those constraints.
    pub mean_constraint_stretch: f64,
    /// Of a soft body: largest relative error of the volume of one of its parts, and of the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_volume_error: Option<f64>,
    /// Of a soft body: relative error of its whole volume, negative if it has lost some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume_error: Option<f64>,
    /// Vertices in contact.
    pub contacts: u64,
    /// Depth of the deepest vertex below a collider's surface [m].
    pub max_penetration: f64,
    /// Edges that pierce a triangle of this or another mesh at the end of the frame.
    #[serde(default)]
    pub crossings: u64,
    /// Vertices that were let pass something in this frame, because they were inside of it or tangled with it.
    #[serde(default)]
    pub released: u64,
    /// Ways of vertices that were changed so that nothing crosses.
    #[serde(default)]
    pub cut: u64,
    /// Promises that had to yield in this frame, the weightiest first; empty if all were kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub degraded: Vec<Degraded>,
}

/// Metrics of a frame.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrameRecord {
    /// Its number.
    pub frame: i64,
    /// What it took to simulate [s].
    pub seconds: f64,
    /// How much of that went into where the colliders are and what is near them [s].
    #[serde(default)]
    pub collider_seconds: f64,
    /// How much of it went into triangles that touch [s].
    #[serde(default)]
    pub contact_seconds: f64,
    /// Steps it was cut into.
    pub substeps: u32,
    /// Sweeps over all constraints, and solves of the linear solvers, of all its steps.
    pub iterations: u64,
    /// Factorisations of the linear solvers.
    #[serde(default)]
    pub factorisations: u64,
    /// Whether it is in the store.
    pub written: bool,
    /// In the order of the scene.
    pub objects: Vec<ObjectRecord>,
}

impl FrameRecord {
    /// The first metric that JSON cannot hold.
    pub fn not_finite(&self) -> Option<String> {
        if !self.seconds.is_finite() || !self.collider_seconds.is_finite() || !self.contact_seconds.is_finite() {
            return Some("seconds".to_owned());
        }
        for object in &self.objects {
            let metrics = [
                ("max_stretch", object.max_stretch),
                ("p99_stretch", object.p99_stretch),
                ("max_compression", object.max_compression),
                ("max_constraint_stretch", object.max_constraint_stretch),
                ("mean_constraint_stretch", object.mean_constraint_stretch),
                ("max_penetration", object.max_penetration),
                ("max_volume_error", object.max_volume_error.unwrap_or_default()),
                ("volume_error", object.volume_error.unwrap_or_default()),
            ];
            if let Some((metric, _)) = metrics.iter().find(|(_, value)| !value.is_finite()) {
                return Some(format!("{metric} of \"{}\"", object.name));
            }
        }
        None
    }
}

/// Appends records to a log.
#[derive(Debug)]
pub struct FramesLog {
    path: PathBuf,
    file: File,
}

impl FramesLog {
    /// Starts an empty log, with all folders above it.
    pub fn create(path: &Path) -> Result<Self> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(CacheError::io("create the folder", folder))?;
        }
        let file = File::create(path).map_err(CacheError::io("create", path))?;
        Ok(FramesLog { path: path.to_owned(), file })
    }

    /// Appends a line in one write.
    pub fn append(&mut self, record: &FrameRecord) -> Result<()> {
        if let Some(metric) = record.not_finite() {
            return Err(CacheError::MetricNotFinite { file: self.path.clone(), frame: record.frame, metric });
        }
        let mut line =
            serde_json::to_vec(record).map_err(|error| CacheError::invalid(&self.path, error.to_string()))?;
        line.push(b'\n');
        self.file.write_all(&line).map_err(CacheError::io("write", &self.path))
    }
}

/// Reads a log. A last line without its end is kept if it is whole, else it was cut off and is left out.
pub fn read(path: &Path) -> Result<Vec<FrameRecord>> {
    let file = File::open(path).map_err(CacheError::io("open", path))?;
    let mut lines = BufReader::new(file);
    let (mut records, mut line, mut number) = (Vec::new(), Vec::new(), 0);
    loop {
        line.clear();
        number += 1;
        if lines.read_until(b'\n', &mut line).map_err(CacheError::io("read", path))? == 0 {
            return Ok(records);
        }
        match serde_json::from_slice(&line) {
            Ok(record) => records.push(record),
            Err(_) if !line.ends_with(b"\n") => {}
            Err(error) => {
                let (file, message) = (path.to_owned(), error.to_string());
                return Err(CacheError::InvalidLine { file, line: number, message });
            }
        }
    }
}
