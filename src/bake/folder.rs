//! Whether a job may be written into its folder, and what has to go first.

use std::collections::HashSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::exit::{Exit, Failure};
use super::outputs::Plan;
use crate::cache::CacheError;
use crate::cache::manifest::{FileRecord, Manifest, Status};
use crate::cache::names;

/// Makes room for a job. The manifest comes back if the folder already holds the same one, finished.
pub fn prepare(folder: &Path, wanted: &Manifest, plan: &Plan, restart: bool) -> Result<Option<Manifest>, Failure> {
    let entries = entries(folder)?;
    if entries.is_empty() {
        return Ok(None);
    }
    let there = Manifest::read(&folder.join(names::MANIFEST_FILE));
    let content = match there {
        Ok(manifest) => match difference(&manifest, wanted, plan, folder) {
            None if !restart => return Ok(Some(manifest)),
            None => String::new(),
            Some(difference) => difference,
        },
        Err(CacheError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
            format!("files but no bake, such as `{}`", entries[0])
        }
        Err(error) => format!("a manifest that cannot be used: {error}"),
    };
    if !restart {
        let cause = format!("the job folder {} holds {content}", folder.display());
        let remedy = "bake again with --restart (files that are not Kiln's are kept), or elsewhere with --out";
        return Err(Failure::new(Exit::InvalidInput, cause, remedy));
    }
    let own = own_files(folder);
    refuse_foreign(folder, plan, &own)?;
    remove(folder, &own)?;
    Ok(None)
}

/// Names in the folder, sorted, without the lock.
fn entries(folder: &Path) -> Result<Vec<String>, Failure> {
    let unreadable = |source| CacheError::Io { file: folder.to_owned(), action: "look into", source };
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        entries.push(entry.map_err(unreadable)?.file_name().to_string_lossy().into_owned());
    }
    entries.retain(|name| name != names::LOCK_FILE);
    entries.sort();
    Ok(entries)
}

/// Why the job that is there does not stand for the wanted one; `None` if it does.
fn difference(there: &Manifest, wanted: &Manifest, plan: &Plan, folder: &Path) -> Option<String> {
    match there.status {
        Status::Complete | Status::GatesFailed => {}
        Status::Running => return Some("a bake that was interrupted".to_owned()),
        Status::Failed => {
            let message = there.message.as_deref().unwrap_or("no reason is recorded");
            return Some(format!("a bake that failed ({message})"));
        }
    }
    if there.scene != wanted.scene {
        let keys = wanted.scene.as_object().into_iter().flatten().map(|(key, _)| key);
        let changed: Vec<&str> =
            keys.filter(|key| there.scene.get(key) != wanted.scene.get(key)).map(String::as_str).collect();
        return Some(format!("the bake of another scene (different: {})", changed.join(", ")));
    }
    if there.inputs != wanted.inputs {
        let changed: Vec<&str> = wanted
            .inputs
            .iter()
            .filter(|input| !there.inputs.contains(input))
            .map(|input| input.file.as_str())
            .collect();
        return Some(format!("a bake with another version of its meshes (different: {})", changed.join(", ")));
    }
    if there.tool != wanted.tool {
        return Some(format!("a bake by {}", there.tool.describe()));
    }
    damaged_file(there, plan, folder).map(|file| format!("a bake whose file {file} is missing or damaged"))
}

/// A file of a finished job that is not as the manifest says.
fn damaged_file(there: &Manifest, plan: &Plan, folder: &Path) -> Option<String> {
    let fixed = [names::STORE_FILE, names::FRAMES_LOG_FILE].iter().map(PathBuf::from);
    let mut expected = fixed.chain(plan.rest_files()).chain(plan.collider_files());
    let unrecorded = expected.find(|file| !there.files.iter().any(|record| Path::new(&record.file) == file));
    if let Some(file) = unrecorded {
        return Some(file.display().to_string());
    }
    let files = there.files.iter().map(|record| (&record.file, record.bytes, &record.xxh3));
    let caches = there.caches.iter().map(|cache| (&cache.file, cache.bytes, &cache.xxh3));
    let records: Vec<_> = files.chain(caches).collect();
    let has_size = |file: &str, bytes: u64| {
        fs::metadata(folder.join(file)).is_ok_and(|metadata| metadata.is_file() && metadata.len() == bytes)
    };
    let has_content =
        |file: &str, xxh3: &str| FileRecord::read(&folder.join(file), file).is_ok_and(|record| record.xxh3 == xxh3);
    // Sizes first: they cost nothing.
    let wrong_size = records.iter().find(|(file, bytes, _)| !has_size(file, *bytes));
    let damaged = wrong_size.or_else(|| records.iter().find(|(file, _, xxh3)| !has_content(file, xxh3)));
    damaged.map(|(file, ..)| file.to_string())
}

/// What Kiln wrote. The manifest comes last: as long as it is there, it says what is Kiln's.
fn own_files(folder: &Path) -> Vec<PathBuf> {
    let fixed = [names::STORE_FILE, names::PARTIAL_STORE_FILE, names::FRAMES_LOG_FILE];
    let mut files: Vec<PathBuf> = fixed.iter().map(PathBuf::from).collect();
    match Manifest::read(&folder.join(names::MANIFEST_FILE)) {
        Ok(manifest) => {
            // A bake that was killed has not listed its caches yet, so its plan is asked too.
            files.extend(Plan::from_json(&manifest.scene).map(|plan| plan.files()).unwrap_or_default());
            files.extend(manifest.caches.iter().map(|cache| PathBuf::from(&cache.file)));
        }
        Err(CacheError::NewerVersion { .. }) => {}
        Err(_) => return files, // many programs write a `manifest.json`
    }
    let manifest = PathBuf::from(names::MANIFEST_FILE);
    // A manifest is text that anyone can write: it must not lead out of the folder.
    files.retain(|file| *file != manifest && file.components().all(|part| matches!(part, Component::Normal(_))));
    files.push(manifest);
    files
}

fn remove(folder: &Path, files: &[PathBuf]) -> Result<(), Failure> {
    for file in files {
        let path = folder.join(file);
        remove_if_there(&names::partial(&path))?;
        remove_if_there(&path)?;
    }
    for file in files {
        for parent in file.ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty()) {
            let _ = fs::remove_dir(folder.join(parent)); // only works for empty folders, as it should
        }
    }
    Ok(())
}

fn remove_if_there(path: &Path) -> Result<(), Failure> {
    match fs::remove_file(path) {
        Err(source) if !matches!(source.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            Err(CacheError::Io { file: path.to_owned(), action: "remove", source }.into())
        }
        _ => Ok(()),
    }
}

/// What is not Kiln's must not be written over.
fn refuse_foreign(folder: &Path, plan: &Plan, own: &[PathBuf]) -> Result<(), Failure> {
    let own: HashSet<&PathBuf> = own.iter().collect();
    let in_the_way = |file: &PathBuf| !own.contains(file) && folder.join(file).symlink_metadata().is_ok();
    match plan.files().into_iter().find(in_the_way) {
        None => Ok(()),
        Some(file) => {
            let cause = format!("{} is in the way and not known to be Kiln's", folder.join(file).display());
            Err(Failure::new(Exit::InvalidInput, cause, "move it away, or choose another folder with --out"))
        }
    }
}
