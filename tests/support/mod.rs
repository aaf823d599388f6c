//! What several test binaries and the benchmark need: a scene from text, simulated without the command line.
#![allow(dead_code, reason = "not every binary uses all of it")]

use std::path::Path;

use kiln::mesh::measures::{EdgeStretch, edge_stretch};
use kiln::model::{Model, Moment, State};
use kiln::scene::{Scene, diagnostics};
use kiln::solver::cpu::CpuBackend;
use kiln::solver::{Backend, Drive, FrameReport, Quality, Vertices, advance_frame};

/// A scene and its model.
pub struct World {
    pub scene: Scene,
    pub model: Model,
    pub start: State,
}

/// One simulated frame.
pub struct Frame<'a> {
    pub number: i64,
    pub state: &'a State,
    pub report: &'a FrameReport,
    /// Of each body: cloths, then soft bodies.
    pub quality: &'a [Quality],
    /// Of each body: cloths, then soft bodies.
    pub vertices: &'a [Vertices],
}

impl World {
    /// From the text of a scene file; paths in it start at `folder`.
    pub fn in_folder(text: &str, folder: &Path, overrides: &[&str]) -> World {
        let overrides: Vec<String> = overrides.iter().map(|&o| o.to_owned()).collect();
        let resolved = kiln::scene::read_text("test.toml", text, folder, &overrides, None).unwrap_or_else(|failure| {
            panic!("{}", diagnostics::render(&failure.problems, failure.document.as_ref(), false))
        });
        let (model, start, _) = kiln::model::build(&resolved.scene)
            .unwrap_or_else(|problems| panic!("{}", diagnostics::render(&problems, Some(&resolved.document), false)));
        World { scene: resolved.scene, model, start }
    }

    /// From the text of a scene file without meshes of its own.
    pub fn new(text: &str) -> World {
        World::in_folder(text, Path::new("."), &[])
    }

    /// Simulate all frames; `see` is called after each one.
    pub fn simulate(&self, see: impl FnMut(Frame)) -> State {
        self.simulate_on(&mut CpuBackend::new(&self.scene, &self.model), see)
    }

    /// The same on some backend.
    pub fn simulate_on(&self, backend: &mut dyn Backend, mut see: impl FnMut(Frame)) -> State {
        let World { scene, model, .. } = self;
        let mut state = self.start.clone();
        let mut vertices: Vec<Vertices> = model.skins().map(|_| Vertices::default()).collect();
        let frame_seconds = scene.fps.frame_seconds();
        // As in a bake, the first frame is looked at before anything moves.
        for (body, vertices) in vertices.iter_mut().enumerate() {
            backend.fetch(&state, body, vertices);
        }
        for frame in scene.first_frame..scene.last_frame {
            let seconds = (frame - scene.first_frame) as f64 * frame_seconds;
            let moments = [frame, frame + 1].map(|frame| Moment::at(frame as f64));
            let drive = Drive { moments, seconds, frame_seconds, substeps: 1 };
            let report = advance_frame(backend, scene, model, &mut state, drive);
            let quality: Vec<Quality> =
                (0..model.body_count()).map(|body| backend.fetch(&state, body, &mut vertices[body])).collect();
            let frame = frame + 1;
            see(Frame { number: frame, state: &state, report: &report, quality: &quality, vertices: &vertices });
        }
        state
    }

    /// Edge stretch of the first cloth.
    pub fn edge_stretch(&self, vertices: &Vertices) -> EdgeStretch {
        let cloth = &self.model.cloths[0];
        edge_stretch(&cloth.visible_edges, &cloth.visible_rest, &vertices.positions, &mut Vec::new())
    }
}

/// Whether the long tier was asked for.
pub fn full() -> bool {
    std::env::var_os("KILN_TEST_FULL").is_some()
}
