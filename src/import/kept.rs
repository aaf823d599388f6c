//! Things that take long to make and were made before, by the fingerprint of what they were made from. Losing one costs the time to make it
//! again, so nothing here fails. The folder is `$KILN_CACHE`, or else `kiln` below the user's cache folder; each file ends with the XXH3-64 of
//! what is before.

use std::path::PathBuf;

use xxhash_rust::xxh3::xxh3_64;

/// What was kept under a name; `None` if nothing was, or if it is damaged.
pub fn load(kind: &str, name: &str) -> Option<Vec<u8>> {
    let mut bytes = std::fs::read(file(kind, name)?).ok()?;
    let content = bytes.len().checked_sub(8)?;
    let sum = u64::from_le_bytes(bytes[content..].try_into().ok()?);
    bytes.truncate(content);
    (xxh3_64(&bytes) == sum).then_some(bytes)
}

/// Keep something for the next time. A file appears under its name only when it is complete.
pub fn save(kind: &str, name: &str, mut bytes: Vec<u8>) {
    let Some(file) = file(kind, name) else {
        return;
    };
    bytes.extend(xxh3_64(&bytes).to_le_bytes());
    let partial = file.with_extension(format!("partial{}", std::process::id()));
    let made = file.parent().is_some_and(|folder| std::fs::create_dir_all(folder).is_ok());
    if !(made && std::fs::write(&partial, bytes).is_ok() && std::fs::rename(&partial, &file).is_ok()) {
        let _ = std::fs::remove_file(&partial);
    }
}

fn file(kind: &str, name: &str) -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = variable("KILN_CACHE")
        .or_else(|| variable("XDG_CACHE_HOME").map(|folder| folder.join("kiln")))
        .or_else(|| variable("HOME").map(|folder| folder.join(".cache/kiln")))
        .or_else(|| variable("LOCALAPPDATA").map(|folder| folder.join("kiln")))?;
    Some(folder.join(kind).join(name))
}
