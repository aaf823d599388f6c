//! Two writers of one job are refused. The lock belongs to the process: it ends with it, however that ends.

use std::fs::{self, File, TryLockError};
use std::path::Path;

use super::error::{CacheError, Result};
use super::names;

/// The right to write into a job folder, until it is dropped.
#[derive(Debug)]
pub struct JobLock {
    _file: File,
}

impl JobLock {
    /// Takes the lock of a job folder, which is created if need be; does not wait.
    pub fn acquire(job_folder: &Path) -> Result<Self> {
        fs::create_dir_all(job_folder).map_err(CacheError::io("create the folder", job_folder))?;
        let path = job_folder.join(names::LOCK_FILE);
        // The file stays for ever: removing it would let a third process lock another file of the same name.
        let file = File::options().create(true).append(true).open(&path).map_err(CacheError::io("open", &path))?;
        match file.try_lock() {
            Ok(()) => Ok(JobLock { _file: file }),
            Err(TryLockError::WouldBlock) => Err(CacheError::Locked { file: path }),
            Err(TryLockError::Error(source)) => Err(CacheError::Io { file: path, action: "lock", source }),
        }
    }
}
