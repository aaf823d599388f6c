//! What all cache formats have in common: they are told which frames will come, then they get them one by one.

use std::path::Path;

use super::atomic::WrittenFile;
use super::bytes::first_not_finite;
use super::error::{CacheError, Result};
use crate::scene::frames::uniform_step;

/// Writes one object into one cache format. Dropped before `finish`, it leaves no half file.
pub trait CacheWriter {
    /// The next frame of the track, in the coordinates of the file.
    fn frame(&mut self, frame: i64, positions: &[[f32; 3]]) -> Result<()>;

    /// Closes the files; an error if frames of the track are missing.
    fn finish(self: Box<Self>) -> Result<Vec<WrittenFile>>;
}

/// What a writer will be given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Track {
    /// The object's name, for messages.
    pub object: String,
    /// The same in every frame.
    pub vertex_count: usize,
    /// Ascending.
    pub frames: Vec<i64>,
}

impl Track {
    /// The distance of the frames if it is the same everywhere; 1 for a single frame.
    pub fn uniform_step(&self) -> Option<i64> {
        uniform_step(&self.frames)
    }
}

/// Holds a writer's frames against its track, so that no file is written that says anything else.
pub(super) struct Progress {
    track: Track,
    next: usize,
}

impl Progress {
    pub(super) fn new(track: Track) -> Self {
        Progress { track, next: 0 }
    }

    /// Accepts the next frame, and says the how-many-th of the track it is.
    pub(super) fn accept(&mut self, file: &Path, frame: i64, positions: &[[f32; 3]]) -> Result<usize> {
        let Track { object, vertex_count, frames } = &self.track;
        if frames.get(self.next) != Some(&frame) {
            return Err(CacheError::invalid(file, format!("frame {frame} of \"{object}\" does not come next")));
        }
        if positions.len() != *vertex_count {
            let given = positions.len();
            let message = format!("frame {frame} of \"{object}\" has {given} vertices instead of {vertex_count}");
            return Err(CacheError::invalid(file, message));
        }
        if let Some(vertex) = first_not_finite(positions) {
            let (file, object) = (file.to_owned(), object.clone());
            return Err(CacheError::NotFinite { file, frame, object, vertex, quantity: "position" });
        }
        self.next += 1;
        Ok(self.next - 1)
    }

    /// An error if frames are missing.
    pub(super) fn complete(&self, file: &Path) -> Result<()> {
        match self.track.frames.get(self.next) {
            None => Ok(()),
            Some(frame) => {
                let message = format!("frame {frame} of \"{}\" was never written", self.track.object);
                Err(CacheError::invalid(file, message))
            }
        }
    }
}

/// A count as the formats store it.
pub(super) fn count_i32(file: &Path, what: &str, count: usize) -> Result<i32> {
    i32::try_from(count)
        .map_err(|_| CacheError::invalid(file, format!("{count} {what} are more than the format can hold")))
}
