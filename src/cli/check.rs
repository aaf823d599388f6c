//! `kiln check`: everything that `bake` would reject, without simulating.

use std::path::PathBuf;

use clap::Args;

use super::SceneArgs;
use super::load::{Loaded, load, plan};
use super::terminal::{counted, print, show_bytes};
use crate::bake::Failure;
use crate::bake::frame_loop::FrameLoop;
use crate::bake::outputs::{Plan, cached_polygons, glb_jobs};
use crate::model::Model;
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
            "cloth \"{}\": {}, {}, {} particles, {} constraints, {} held; {}\n",
            cloth.name,
            counted(cloth.surface.positions.len(), "vertex", "vertices"),
            counted(cloth.surface.face_count(), "face", "faces"),
            cloth.rest.len(),
            cloth.distances.len(),
            counted(cloth.pins.vertices.len(), "vertex", "vertices"),
            cloth.method()
        );
    }
    for body in &model.soft_bodies {
        text += &format!(
            "soft body \"{}\": {}, {}, {} particles, {} held; {}\n",
            body.name,
            counted(body.surface.positions.len(), "vertex", "vertices"),
            counted(body.surface.face_count(), "face", "faces"),
            body.rest.len(),
            counted(body.pins.particles.len(), "particle", "particles"),
            body.method()
        );
    }
    for (skin, render) in model.skins().zip(&model.render_meshes) {
        if let Some(render) = render {
            let (vertices, faces) = (render.positions.len(), render.face_count());
            text += &format!("render mesh of \"{}\": {vertices} vertices, {faces} faces\n", skin.name);
        }
    }
    for collider in &model.colliders {
        let animated = collider.animated().map(|surface| {
            let vertices = counted(surface.vertex_count(), "vertex", "vertices");
            format!(
                ": animated, {vertices}{}",
                surface.clip().map_or(String::new(), |clip| format!(", clip \"{clip}\""))
            )
        });
        text += &format!("collider \"{}\"{}\n", collider.name, animated.unwrap_or_default());
    }
    for tangled in FrameLoop::new(&scene, &model, state.clone()).tangled_starts() {
        let (object, crossings, count) = (tangled.object, tangled.crossings, tangled.count);
        text += &format!(
            "\"{object}\" starts with {count} vertices inside of something or tangled ({crossings} crossings): it is led out, \
             which `settle` can hide; `layer` tells which of two cloths is outside\n"
        );
    }
    let count = substeps::choose(&scene, &model, &state, scene.first_frame as f64);
    text += &match scene.substeps {
        Substeps::Auto { .. } => {
            format!("substeps: about {count} a frame at the start, more when things move fast\n")
        }
        Substeps::Fixed(_) => format!("substeps: {count} a frame\n"),
    };
    let (first, last, written) = (scene.first_frame, scene.last_frame, scene.written_frames.len());
    text += &format!("frames: {first}-{last}, {written} written, pre-roll {}\n", scene.lead_in());
    let plan = plan(&scene)?;
    let files: Vec<_> = if scene.output.formats.contains(&Format::Glb) {
        glb_jobs(&plan, &model, scene.fps)
            .iter()
            .flat_map(|(files, job)| {
                let at_most = if job.glb.sparse { "at most " } else { "" };
                let sizes = job.sizes(files).into_iter().map(move |bytes| format!("{at_most}{}", show_bytes(bytes)));
                files.clone().into_iter().zip(sizes).collect::<Vec<_>>()
            })
            .collect()
    } else {
        Vec::new()
    };
    for (file, size) in files {
        text += &format!("{file}: {size}\n");
    }
    let (store, caches) = sizes(&scene, &plan, &model);
    text += &format!("disk: about {} for the store and {} for the caches\n", show_bytes(store), show_bytes(caches));
    print(&text)
}

/// What the store and the caches will take, about.
fn sizes(scene: &Scene, plan: &Plan, model: &Model) -> (u64, u64) {
    let frames = scene.written_frames.len() as u64;
    let renders = model.soft_bodies.iter().filter_map(|body| body.render()).map(|render| render.weights.len() as u64);
    let stored: u64 = model.skins().map(|skin| skin.surface.positions.len() as u64).chain(renders).sum();
    let meshes = cached_polygons(plan, model);
    let vertices: u64 = meshes.iter().map(|mesh| mesh.positions.len() as u64).sum();
    let corners: u64 = meshes.iter().map(|mesh| mesh.corners.len() as u64).sum();
    let of_format = |format: &Format| match format {
        Format::Pc2 | Format::Mdd => 12 * vertices * frames,
        Format::Obj => (OBJ_VERTEX_BYTES * vertices + OBJ_CORNER_BYTES * corners) * frames,
        Format::Glb => glb_jobs(plan, model, scene.fps).iter().flat_map(|(files, job)| job.sizes(files)).sum(),
    };
    (24 * stored * frames, scene.output.formats.iter().map(of_format).sum())
}
