//! `kiln init`: a scene and a mesh to start from.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;

use super::terminal::{log, print};
use crate::bake::{Exit, Failure};

const SCENE: &str = include_str!("init_scene.toml");
/// Quads along each side of the sheet.
const QUADS: usize = 20;

#[derive(Debug, Args)]
pub struct InitArgs {
    /// Folder for the new files
    #[arg(default_value = ".")]
    folder: PathBuf,
}

pub fn run(arguments: &InitArgs) -> Result<(), Failure> {
    let folder = &arguments.folder;
    let files = [(folder.join("scene.toml"), SCENE.to_owned()), (folder.join("cloth.obj"), sheet_obj())];
    // Before anything is written, so that there is all or nothing.
    if let Some((path, _)) = files.iter().find(|(path, _)| path.symlink_metadata().is_ok()) {
        return Err(occupied(path));
    }
    let unwritable = |error: std::io::Error| {
        let cause = format!("cannot write into {}: {error}", folder.display());
        Failure::new(Exit::InputOutput, cause, "check the path and its permissions")
    };
    std::fs::create_dir_all(folder).map_err(unwritable)?;
    for (path, text) in &files {
        let mut file = File::create_new(path).map_err(unwritable)?;
        file.write_all(text.as_bytes()).map_err(unwritable)?;
        log(&format!("wrote {}", path.display()));
    }
    print(&format!("next: kiln bake {}\n", files[0].0.display()))
}

fn occupied(path: &Path) -> Failure {
    let cause = format!("{} exists already", path.display());
    Failure::new(Exit::InvalidInput, cause, "move it away or name another folder")
}

/// A sheet of one metre, upright, of quads with UVs; the group `top` is its upper row.
fn sheet_obj() -> String {
    let mut text = "# a sheet of 1 m x 1 m, upright, made by `kiln init`\no cloth\n".to_owned();
    let at = |i: usize| i as f64 / QUADS as f64;
    let points = || (0..=QUADS).flat_map(|row| (0..=QUADS).map(move |column| (row, column)));
    for (row, column) in points() {
        text += &format!("v {:.3} {:.3} 0\n", at(column) - 0.5, 2.0 - at(row));
    }
    for (row, column) in points() {
        text += &format!("vt {:.3} {:.3}\n", at(column), 1.0 - at(row));
    }
    for row in 0..QUADS {
        match row {
            0 => text += "g top\n",
            1 => text += "g body\n",
            _ => {}
        }
        for column in 0..QUADS {
            let first = row * (QUADS + 1) + column + 1;
            let below = first + QUADS + 1;
            let corners = [first, below, below + 1, first + 1].map(|corner| format!("{corner}/{corner}"));
            text += &format!("f {}\n", corners.join(" "));
        }
    }
    text
}
