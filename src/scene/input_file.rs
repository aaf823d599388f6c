//! Finds the files that a scene names.

use std::fs;
use std::path::{Path, PathBuf};

use super::suggest::suggest;

/// Why a file cannot be used.
pub struct Fault {
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

/// A kind of file.
#[derive(Clone, Copy)]
pub struct Kind {
    /// One of them, with its article.
    one: &'static str,
    /// The same without.
    name: &'static str,
    /// Several of them.
    plural: &'static str,
    /// Formats that can be read.
    extensions: &'static [&'static str],
    /// What to do about another format.
    remedy: &'static str,
}

/// Meshes.
pub const MESH: Kind = Kind {
    one: "a mesh",
    name: "mesh",
    plural: "meshes",
    extensions: &["obj", "gltf", "glb"],
    remedy: "export the mesh as glTF (`.glb`, `.gltf`) or OBJ (`.obj`)",
};

/// Images.
pub const IMAGE: Kind = Kind {
    one: "an image",
    name: "image",
    plural: "images",
    extensions: &["png", "jpg", "jpeg"],
    remedy: "save the image as PNG (`.png`) or JPEG (`.jpg`)",
};

/// Where a file is; relative paths start at `folder`, and both kinds of slashes will do.
pub fn find(typed: &str, folder: &Path, kind: Kind) -> Result<PathBuf, Fault> {
    let fault = |message: String, help: Option<String>| Err(Fault { message, help });
    if typed.trim().is_empty() {
        return fault(format!("the path of the {} is empty", kind.name), None);
    }
    let path = folder.join(typed.replace('\\', "/"));
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase()).unwrap_or_default();
    let help = || nearby_file(&path).map(|near| format!("did you mean `{near}`?"));
    match fs::metadata(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            fault(format!("there is no file `{}`", path.display()), help())
        }
        Err(error) => fault(format!("cannot look at `{}`: {error}", path.display()), None),
        Ok(metadata) if metadata.is_dir() => fault(format!("`{}` is a folder, not {}", path.display(), kind.one), None),
        Ok(_) if !kind.extensions.contains(&extension.as_str()) => {
            fault(format!("cannot read {} of the kind `.{extension}`", kind.plural), Some(kind.remedy.to_owned()))
        }
        Ok(_) => Ok(path),
    }
}

/// A file beside the missing one with a similar name.
fn nearby_file(path: &Path) -> Option<String> {
    let wanted = path.file_name()?.to_str()?;
    let entries = fs::read_dir(path.parent()?).ok()?;
    // Some asset folders are huge, and a suggestion is not worth a wait.
    let names: Vec<String> =
        entries.take(10_000).filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    suggest(wanted, names.iter().map(String::as_str)).map(str::to_owned)
}
