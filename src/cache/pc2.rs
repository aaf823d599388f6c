//! Point cache 2, as read by Blender's Mesh Cache modifier and 3ds Max. Little endian.
//!
//! ```text
//! "POINTCACHE2\0" | i32 version = 1 | i32 point count | f32 start frame | f32 sample rate | i32 sample count
//! then per sample, per point: 3 × f32
//! ```
//!
//! The start frame is the first written frame. The sample rate is in frames per sample: the step of the written
//! frames where it is the same everywhere, else 1 (the format cannot say more). The file knows neither unit, axis
//! nor topology: vertex order is that of the mesh.

use std::path::{Path, PathBuf};

use super::atomic::{AtomicFile, WrittenFile};
use super::bytes::{self, Fields, get_points, put_points};
use super::error::{CacheError, Result};
use super::names::{PC2_MAGIC, PC2_VERSION};
use super::writers::{CacheWriter, Progress, Track, count_i32};

const HEADER: usize = 32;

/// Writes a PC2 file.
pub struct Pc2Writer {
    file: AtomicFile,
    progress: Progress,
    buffer: Vec<u8>,
}

impl Pc2Writer {
    /// Starts the file.
    pub fn create(path: &Path, track: Track) -> Result<Self> {
        let point_count = count_i32(path, "vertices", track.vertex_count)?;
        let sample_count = count_i32(path, "frames", track.frames.len())?;
        let start_frame = track.frames.first().map_or(0.0, |&frame| frame as f32);
        let sample_rate = track.uniform_step().map_or(1.0, |step| step as f32);
        let mut file = AtomicFile::create(path)?;
        file.put(&PC2_MAGIC)?;
        file.put(&PC2_VERSION.to_le_bytes())?;
        file.put(&point_count.to_le_bytes())?;
        file.put(&start_frame.to_le_bytes())?;
        file.put(&sample_rate.to_le_bytes())?;
        file.put(&sample_count.to_le_bytes())?;
        Ok(Pc2Writer { file, progress: Progress::new(track), buffer: Vec::new() })
    }
}

impl CacheWriter for Pc2Writer {
    fn frame(&mut self, frame: i64, positions: &[[f32; 3]]) -> Result<()> {
        self.progress.accept(self.file.path(), frame, positions)?;
        self.buffer.clear();
        put_points(&mut self.buffer, positions, f32::to_le_bytes);
        self.file.put(&self.buffer)
    }

    fn finish(self: Box<Self>) -> Result<Vec<WrittenFile>> {
        self.progress.complete(self.file.path())?;
        Ok(vec![self.file.commit()?])
    }
}

/// The header of a PC2 file whose length fits it.
#[derive(Clone, Debug, PartialEq)]
pub struct Pc2Info {
    /// The file.
    pub path: PathBuf,
    /// Points of every sample.
    pub point_count: usize,
    /// Frame of the first sample.
    pub start_frame: f32,
    /// Frames per sample.
    pub sample_rate: f32,
    /// How many samples there are.
    pub sample_count: usize,
}

impl Pc2Info {
    /// Reads and checks the header.
    pub fn read(path: &Path) -> Result<Self> {
        let invalid = |message: String| CacheError::invalid(path, message);
        let (mut file, length) = bytes::open(path)?;
        if length < HEADER as u64 {
            return Err(invalid(format!("{length} bytes are too few for a PC2 file")));
        }
        let mut header = [0; HEADER];
        bytes::read_at(&mut file, path, 0, &mut header)?;
        if header[..12] != PC2_MAGIC {
            return Err(invalid("this is not a PC2 file".to_owned()));
        }
        let mut fields = Fields(&header[12..]);
        let mut next = || fields.array().unwrap_or_default();
        let version = i32::from_le_bytes(next());
        let point_count = i32::from_le_bytes(next());
        let start_frame = f32::from_le_bytes(next());
        let sample_rate = f32::from_le_bytes(next());
        let sample_count = i32::from_le_bytes(next());
        if version != PC2_VERSION {
            return Err(invalid(format!("PC2 version {version} is unknown")));
        }
        let (Ok(point_count), Ok(sample_count)) = (usize::try_from(point_count), usize::try_from(sample_count)) else {
            return Err(invalid(format!("{point_count} points and {sample_count} samples are not possible")));
        };
        let expected = HEADER as u128 + 12 * point_count as u128 * sample_count as u128;
        if u128::from(length) != expected {
            let message = format!("{point_count} points in {sample_count} samples need {expected} bytes, not {length}");
            return Err(invalid(message));
        }
        Ok(Pc2Info { path: path.to_owned(), point_count, start_frame, sample_rate, sample_count })
    }

    /// The points of a sample, counted from 0.
    pub fn sample(&self, index: usize) -> Result<Vec<[f32; 3]>> {
        if index >= self.sample_count {
            let message = format!("there is no sample {index}; the file has {}", self.sample_count);
            return Err(CacheError::invalid(&self.path, message));
        }
        let mut file = bytes::open(&self.path)?.0;
        let mut buffer = vec![0; 12 * self.point_count];
        let offset = HEADER as u64 + index as u64 * buffer.len() as u64;
        bytes::read_at(&mut file, &self.path, offset, &mut buffer)?;
        let mut points = Vec::with_capacity(self.point_count);
        get_points(&buffer, &mut points, f32::from_le_bytes);
        Ok(points)
    }
}
