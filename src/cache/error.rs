//! What can go wrong between the disk and a cache. Every variant names its file.

use std::io;
use std::path::{Path, PathBuf};

/// Result of everything in this room.
pub type Result<T> = std::result::Result<T, CacheError>;

/// The two kinds of failure that a farm treats differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The disk or another process; a retry may succeed (exit code 74).
    InputOutput,
    /// The data; a retry fails again (exit code 3).
    InvalidData,
}

/// Why a cache could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// The operating system said no.
    #[error("cannot {action} {}: {source}", .file.display())]
    Io {
        /// The file in question.
        file: PathBuf,
        /// What was tried, as a verb.
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// Another process writes this job.
    #[error("{} is held by another process that writes this job; wait for it or stop it", .file.display())]
    Locked {
        /// The lock file.
        file: PathBuf,
    },
    /// The content is not what it should be.
    #[error("{}: {message}", .file.display())]
    Invalid {
        /// The file in question.
        file: PathBuf,
        /// What is wrong, in one sentence without a full stop.
        message: String,
    },
    /// A line of a text file is not what it should be.
    #[error("{} line {line}: {message}", .file.display())]
    InvalidLine {
        /// The file in question.
        file: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong, in one sentence without a full stop.
        message: String,
    },
    /// Written by a later Kiln.
    #[error("{}: version {found} is newer than version {supported}, the newest this Kiln reads; update Kiln", .file.display())]
    NewerVersion {
        /// The file in question.
        file: PathBuf,
        /// Its version.
        found: u32,
        /// The newest version that can be read.
        supported: u32,
    },
    /// Stored bytes have changed since they were written.
    #[error("{}: frame {frame} (at byte {offset}) is damaged: its checksum does not match", .file.display())]
    Damaged {
        /// The file in question.
        file: PathBuf,
        /// The frame's number as stored (it may be what is damaged).
        frame: i64,
        /// Where the frame starts in the file.
        offset: u64,
    },
    /// A coordinate is infinite or not a number.
    #[error("{}: frame {frame}: vertex {vertex} of \"{object}\" has a {quantity} that is not finite", .file.display())]
    NotFinite {
        /// The file that was to be written.
        file: PathBuf,
        /// The frame's number.
        frame: i64,
        /// The object's name.
        object: String,
        /// Counted from 0.
        vertex: usize,
        /// `position` or `velocity`.
        quantity: &'static str,
    },
    /// A metric is infinite or not a number.
    #[error("{}: frame {frame}: {metric} is not finite", .file.display())]
    MetricNotFinite {
        /// The file that was to be written.
        file: PathBuf,
        /// The frame's number.
        frame: i64,
        /// The metric's name, with its object.
        metric: String,
    },
    /// A frame was asked for that is not stored.
    #[error("{}: frame {frame} is not stored; {stored}", .file.display())]
    MissingFrame {
        /// The file in question.
        file: PathBuf,
        /// The frame's number.
        frame: i64,
        /// Which frames are, in words.
        stored: String,
    },
    /// An object was asked for that is not stored.
    #[error("{}: object \"{object}\" is not stored; there are: {stored}", .file.display())]
    MissingObject {
        /// The file in question.
        file: PathBuf,
        /// The object's name.
        object: String,
        /// Which objects are, in words.
        stored: String,
    },
}

impl CacheError {
    /// Whether to retry.
    pub fn failure(&self) -> Failure {
        match self {
            CacheError::Io { .. } | CacheError::Locked { .. } => Failure::InputOutput,
            _ => Failure::InvalidData,
        }
    }

    /// Content that is not what it should be.
    pub(crate) fn invalid(file: &Path, message: impl Into<String>) -> Self {
        CacheError::Invalid { file: file.to_owned(), message: message.into() }
    }

    /// Gives a system error its file and what was tried; for `map_err`.
    pub(crate) fn io(action: &'static str, file: &Path) -> impl FnOnce(io::Error) -> CacheError {
        let file = file.to_owned();
        move |source| CacheError::Io { file, action, source }
    }
}
