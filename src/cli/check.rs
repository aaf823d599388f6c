//! `kiln check`: everything that `bake` would reject, without simulating.

use std::path::PathBuf;

use clap::Args;

use super::SceneArgs;
use super::load::{Loaded, load};
use super::terminal::{counted, print, show_bytes};
use crate::bake::Failure;
use crate::model::ClothModel;
use crate::scene::{Format, Scene, Substeps};
use crate::solver::substeps;

/// Bytes of a vertex line in an OBJ file, about.
const OBJ_VERTEX_BYTES: u64 = 34;
/// Bytes of a face corner in an OBJ file, about.
const OBJ_CORNER_BYTES: u64 = 11;

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Scene file
    scene: PathBuf,
    #[command(flatten)]
    changes: SceneArgs,
}

pub fn run(arguments: &CheckArgs) -> Result<(), Failure> {
    let Loaded { scene, model, state } = load(Some(&arguments.scene), &arguments.changes)?;
    let mut text = format!("{} can be baked\n", arguments.scene.display());
    for cloth in &model.cloths {
        text += &format!(
            "cloth \"{}\": {}, {}, {} particles, {} constraints, {} held\n",
            cloth.name,
            counted(cloth.surface.positions.len(), "vertex", "vertices"),
            counted(cloth.surface.face_count(), "face", "faces"),
            cloth.rest.len(),
            cloth.distances.len(),
            counted(cloth.pins.vertices.len(), "vertex", "vertices")
        );
    }
    for collider in &model.colliders {
        text += &format!("collider \"{}\"\n", collider.name);
    }
    let count = substeps::choose(&scene, &model, &state, scene.first_frame as f64);
    text += &match scene.substeps {
        Substeps::Auto => format!("substeps: about {count} a frame at the start, more when the cloth moves fast\n"),
        Substeps::Fixed(_) => format!("substeps: {count} a frame\n"),
    };
    let (first, last, written) = (scene.first_frame, scene.last_frame, scene.written_frames.len());
    text += &format!("frames: {first}-{last}, {written} written, pre-roll {}\n", scene.lead_in());
    let (store, caches) = sizes(&scene, &model.cloths);
    text += &format!("disk: about {} for the store and {} for the caches\n", show_bytes(store), show_bytes(caches));
    print(&text)
}

/// What the store and the caches will take, about.
fn sizes(scene: &Scene, cloths: &[ClothModel]) -> (u64, u64) {
    let frames = scene.written_frames.len() as u64;
    let vertices: u64 = cloths.iter().map(|cloth| cloth.surface.positions.len() as u64).sum();
    let corners: u64 = cloths.iter().map(|cloth| cloth.surface.corners.len() as u64).sum();
    let of_format = |format: &Format| match format {
        Format::Pc2 | Format::Mdd => 12 * vertices,
        Format::Obj => OBJ_VERTEX_BYTES * vertices + OBJ_CORNER_BYTES * corners,
    };
    let caches: u64 = scene.output.formats.iter().map(of_format).sum();
    (24 * vertices * frames, caches * frames)
}
