//! Motion designer data, as read by LightWave, Houdini and Blender's Mesh Cache modifier. Big endian.
//!
//! ```text
//! i32 frame count | i32 point count | f32 time of each frame [s]
//! then per frame, per point: 3 × f32
//! ```
//!
//! The first written frame is at time 0, every other at its distance from it divided by the frame rate, so gaps
//! between written frames are kept. The file knows neither unit, axis nor topology: vertex order is that of the mesh.

use std::path::{Path, PathBuf};

use super::atomic::{AtomicFile, WrittenFile};
use super::bytes::{self, get_points, put_points};
use super::error::{CacheError, Result};
use super::writers::{CacheWriter, Progress, Track, count_i32};
use crate::scene::FrameRate;

const COUNTS: usize = 8;

/// Writes an MDD file.
pub struct MddWriter {
    file: AtomicFile,
    progress: Progress,
    buffer: Vec<u8>,
}

impl MddWriter {
    /// Starts the file.
    pub fn create(path: &Path, track: Track, fps: FrameRate) -> Result<Self> {
        let point_count = count_i32(path, "vertices", track.vertex_count)?;
        let frame_count = count_i32(path, "frames", track.frames.len())?;
        if fps.numerator == 0 {
            return Err(CacheError::invalid(path, "the frame rate is zero"));
        }
        let mut file = AtomicFile::create(path)?;
        file.put(&frame_count.to_be_bytes())?;
        file.put(&point_count.to_be_bytes())?;
        let first = track.frames.first().copied().unwrap_or_default();
        for frame in &track.frames {
            let seconds = frame.saturating_sub(first) as f64 * f64::from(fps.denominator) / f64::from(fps.numerator);
            file.put(&(seconds as f32).to_be_bytes())?;
        }
        Ok(MddWriter { file, progress: Progress::new(track), buffer: Vec::new() })
    }
}

impl CacheWriter for MddWriter {
    fn frame(&mut self, frame: i64, positions: &[[f32; 3]]) -> Result<()> {
        self.progress.accept(self.file.path(), frame, positions)?;
        self.buffer.clear();
        put_points(&mut self.buffer, positions, f32::to_be_bytes);
        self.file.put(&self.buffer)
    }

    fn finish(self: Box<Self>) -> Result<Vec<WrittenFile>> {
        self.progress.complete(self.file.path())?;
        Ok(vec![self.file.commit()?])
    }
}

/// The header of an MDD file whose length fits it.
#[derive(Clone, Debug, PartialEq)]
pub struct MddInfo {
    /// The file.
    pub path: PathBuf,
    /// Points of every frame.
    pub point_count: usize,
    /// The time of each frame [s].
    pub times: Vec<f32>,
}

impl MddInfo {
    /// Reads and checks the header.
    pub fn read(path: &Path) -> Result<Self> {
        let invalid = |message: String| CacheError::invalid(path, message);
        let (mut file, length) = bytes::open(path)?;
        if length < COUNTS as u64 {
            return Err(invalid(format!("{length} bytes are too few for an MDD file")));
        }
        let mut counts = [0; COUNTS];
        bytes::read_at(&mut file, path, 0, &mut counts)?;
        let [frame_count, point_count] = [0, 4].map(|at| i32::from_be_bytes([0, 1, 2, 3].map(|i| counts[at + i])));
        let (Ok(frame_count), Ok(point_count)) = (usize::try_from(frame_count), usize::try_from(point_count)) else {
            return Err(invalid(format!("{frame_count} frames of {point_count} points: this is not an MDD file")));
        };
        let expected = COUNTS as u128 + 4 * frame_count as u128 + 12 * point_count as u128 * frame_count as u128;
        if u128::from(length) != expected {
            let message = format!("{frame_count} frames of {point_count} points need {expected} bytes, not {length}");
            return Err(invalid(message));
        }
        let mut times = vec![0; 4 * frame_count];
        bytes::read_at(&mut file, path, COUNTS as u64, &mut times)?;
        let times = times.as_chunks::<4>().0.iter().map(|&time| f32::from_be_bytes(time)).collect();
        Ok(MddInfo { path: path.to_owned(), point_count, times })
    }

    /// The points of a frame, counted from 0.
    pub fn frame(&self, index: usize) -> Result<Vec<[f32; 3]>> {
        if index >= self.times.len() {
            let message = format!("there is no frame {index}; the file has {}", self.times.len());
            return Err(CacheError::invalid(&self.path, message));
        }
        let mut file = bytes::open(&self.path)?.0;
        let mut buffer = vec![0; 12 * self.point_count];
        let offset = (COUNTS + 4 * self.times.len()) as u64 + index as u64 * buffer.len() as u64;
        bytes::read_at(&mut file, &self.path, offset, &mut buffer)?;
        let mut points = Vec::with_capacity(self.point_count);
        get_points(&buffer, &mut points, f32::from_be_bytes);
        Ok(points)
    }
}
