//! Files that appear whole or not at all: written under a temporary name, renamed when everything is on the disk.

use std::fs::{self, File};
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

use super::error::{CacheError, Result};
use super::manifest::FileRecord;
use super::names;

/// A file that was written to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its length.
    pub bytes: u64,
    /// xxh3_128 of its content, in hexadecimal.
    pub xxh3: String,
}

/// A file under a temporary name until `commit`. Dropped before that, it leaves nothing behind.
pub struct AtomicFile {
    path: PathBuf,
    partial: PathBuf,
    file: BufWriter<File>,
    /// `None` if the start of the file is written last: then it is read once more instead.
    digest: Option<Xxh3>,
    bytes: u64,
    remove_on_drop: bool,
}

impl AtomicFile {
    /// Starts `<path>.partial`, with all folders above it. An older one is overwritten.
    pub fn create(path: &Path) -> Result<Self> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(CacheError::io("create the folder", folder))?;
        }
        let partial = names::partial(path);
        let file = File::create(&partial).map_err(CacheError::io("create", &partial))?;
        Ok(AtomicFile {
            path: path.to_owned(),
            partial,
            file: BufWriter::new(file),
            digest: Some(Xxh3::new()),
            bytes: 0,
            remove_on_drop: true,
        })
    }

    /// Like `create`, for a file whose first `bytes` are only known at its end: see `commit_with_head`.
    pub fn create_with_head(path: &Path, bytes: usize) -> Result<Self> {
        let mut file = AtomicFile::create(path)?;
        file.digest = None;
        file.put(&vec![0; bytes])?;
        Ok(file)
    }

    /// Leaves the temporary file in place if it is never committed.
    pub fn keep_partial(mut self) -> Self {
        self.remove_on_drop = false;
        self
    }

    /// The final name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends bytes.
    pub fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(CacheError::io("write", &self.partial))?;
        if let Some(digest) = &mut self.digest {
            digest.update(bytes);
        }
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Hands everything so far to the system, so that it survives the end of this process.
    pub fn flush(&mut self) -> Result<()> {
        self.file.flush().map_err(CacheError::io("write", &self.partial))
    }

    /// Fills in the start of the file, then commits it.
    pub fn commit_with_head(mut self, head: &[u8]) -> Result<WrittenFile> {
        self.file.seek(SeekFrom::Start(0)).map_err(CacheError::io("write", &self.partial))?;
        self.file.write_all(head).map_err(CacheError::io("write", &self.partial))?;
        self.commit()
    }

    /// Brings everything to the disk, then gives the file its final name.
    pub fn commit(mut self) -> Result<WrittenFile> {
        self.flush()?;
        let xxh3 = match &self.digest {
            Some(digest) => hexadecimal(digest),
            None => FileRecord::read(&self.partial, "")?.xxh3,
        };
        self.file.get_ref().sync_all().map_err(CacheError::io("write", &self.partial))?;
        fs::rename(&self.partial, &self.path).map_err(CacheError::io("rename to", &self.path))?;
        self.remove_on_drop = false;
        Ok(WrittenFile { path: self.path.clone(), bytes: self.bytes, xxh3 })
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if self.remove_on_drop {
            let _ = fs::remove_file(&self.partial); // nobody is left to tell
        }
    }
}

/// A digest the way manifests spell it.
pub(super) fn hexadecimal(digest: &Xxh3) -> String {
    format!("{:032x}", digest.digest128())
}
