//! Numbers to bytes and back, without trusting the bytes.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use super::error::{CacheError, Result};

/// Appends points, each number encoded by `encode` (which decides the byte order).
pub fn put_points(buffer: &mut Vec<u8>, points: &[[f32; 3]], encode: fn(f32) -> [u8; 4]) {
    buffer.reserve(12 * points.len());
    for &number in points.as_flattened() {
        buffer.extend_from_slice(&encode(number));
    }
}

/// Replaces `points` by the ones in `bytes`, each number decoded by `decode`.
pub fn get_points(bytes: &[u8], points: &mut Vec<[f32; 3]>, decode: fn([u8; 4]) -> f32) {
    let numbers = bytes.as_chunks::<4>().0;
    points.clear();
    points.extend(numbers.as_chunks::<3>().0.iter().map(|point| point.map(decode)));
}

/// The first vertex with a number that is not finite.
pub fn first_not_finite(points: &[[f32; 3]]) -> Option<usize> {
    points.iter().position(|point| point.iter().any(|number| !number.is_finite()))
}

/// Fields of a header, one after the other; `None` where the header ends too early.
pub struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    /// The next `N` bytes.
    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*field)
    }

    /// The next `count` bytes.
    pub fn slice(&mut self, count: usize) -> Option<&'a [u8]> {
        let (field, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(field)
    }
}

/// Opens a file and asks for its length.
pub fn open(path: &Path) -> Result<(File, u64)> {
    let file = File::open(path).map_err(CacheError::io("open", path))?;
    let length = file.metadata().map_err(CacheError::io("open", path))?.len();
    Ok((file, length))
}

/// Fills `buffer` from `offset` on.
pub fn read_at(file: &mut File, path: &Path, offset: u64, buffer: &mut [u8]) -> Result<()> {
    file.seek(SeekFrom::Start(offset)).map_err(CacheError::io("read", path))?;
    file.read_exact(buffer).map_err(CacheError::io("read", path))
}
