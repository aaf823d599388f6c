//! A bake from its first to its last line.

use std::path::PathBuf;
use std::time::Instant;

use super::colliders::ColliderTracks;
use super::exit::{Exit, Failure};
use super::folder;
use super::frame_loop::FrameLoop;
use super::gates::Watch;
use super::outputs::{Plan, make_caches, write_rest_meshes};
use super::progress::{Position, Progress};
use crate::cache::frames_log::{self, FrameRecord, FramesLog};
use crate::cache::lock::JobLock;
use crate::cache::manifest::{DeviceLost, FileRecord, FrameSummary, Manifest, Status, TangledStart, Tool};
use crate::cache::names;
use crate::cache::store::{StoreReader, StoreWriter};
use crate::import;
use crate::model::{Model, State};
use crate::scene::Scene;
use crate::solver::Backend;
use crate::solver::device::DeviceReport;

/// A scene and the folder it is baked into.
pub struct Job<'a> {
    /// The scene.
    pub scene: &'a Scene,
    /// What is simulated.
    pub model: &'a Model,
    /// Where it starts.
    pub state: State,
    /// The job folder.
    pub folder: PathBuf,
    /// What simulates it, and on which device if that is not the processor.
    pub backend: Box<dyn Backend + 'a>,
    /// Its name and driver.
    pub device: Option<String>,
    /// Whether an older bake in the folder is removed first.
    pub restart: bool,
    /// Whether the first frame that breaks a promise ends the bake.
    pub strict: bool,
}

/// How a job ended that did not fail.
#[derive(Debug)]
pub enum Outcome {
    /// The folder holds this very bake already; nothing was touched.
    AlreadyThere(Box<Manifest>),
    /// All frames are written.
    Baked(Box<Summary>),
}

/// A finished bake in numbers.
#[derive(Debug)]
pub struct Summary {
    /// As on the disk.
    pub manifest: Manifest,
    /// The worst figures and the gates.
    pub watch: Watch,
    /// What it took [s].
    pub seconds: f64,
    /// Size of the store.
    pub store_bytes: u64,
    /// Cloths that stretched more than they should.
    pub overstretched: Vec<String>,
    /// What a device has done, if there was one.
    pub device: Option<DeviceReport>,
}

/// What was simulated and stored.
struct Baked {
    watch: Watch,
    store_bytes: u64,
    device: Option<DeviceReport>,
}

impl Outcome {
    /// The failure of a job that is complete but missed its gates.
    pub fn gate_failure(&self) -> Option<Failure> {
        match self {
            Outcome::Baked(summary) => summary.watch.failure(),
            Outcome::AlreadyThere(manifest) => (manifest.status == Status::GatesFailed).then(|| {
                let cause = manifest.message.as_deref().unwrap_or("a gate was missed");
                Failure::new(Exit::GateFailed, cause, "to bake the same again use --restart")
            }),
        }
    }
}

/// What is told of a cloth that started tangled.
fn describe_start(tangled: &TangledStart) -> String {
    let TangledStart { object, crossings, count, moved, left, .. } = tangled;
    let moved = 1000.0 * moved;
    format!(
        "\"{object}\" started with {count} vertices inside of something or tangled ({crossings} crossings); \
         at the first frame they have moved by up to {moved:.1} mm and {left} crossings are left"
    )
}

/// Why a strict bake ends with a frame.
fn yielded(record: &FrameRecord) -> Option<Failure> {
    let (object, degraded) = record.objects.iter().find_map(|object| Some((&object.name, object.degraded.first()?)))?;
    let with = degraded.with.as_ref().filter(|with| *with != object).map(|with| format!(" with \"{with}\""));
    let cause = format!(
        "frame {} of \"{object}\" breaks its promise of {}{} at {} vertices, the first is {}",
        record.frame,
        degraded.promise.name(),
        with.unwrap_or_default(),
        degraded.count,
        degraded.vertices.first().copied().unwrap_or_default()
    );
    let remedy = "give the cloth room or length there, or bake without --strict; frames.jsonl lists the vertices";
    Some(Failure::new(Exit::SimulationFailed, cause, remedy))
}

/// Tell if the device has gone.
fn note_lost(frames: &mut FrameLoop, frame: i64, manifest: &mut Manifest, progress: &mut dyn Progress) {
    if let Some(message) = frames.take_note() {
        progress.note(&format!("warning: frame {frame}: {message}"));
        manifest.device_lost = Some(DeviceLost { frame, message });
    }
}

impl Job<'_> {
    /// Bakes. The manifest hears how it ended; `progress` hears it from the caller, who knows of earlier failures too.
    pub fn run(self, progress: &mut dyn Progress) -> Result<Outcome, Failure> {
        let _lock = JobLock::acquire(&self.folder)?;
        let mut manifest = self.manifest()?;
        let plan = Plan::from_json(&manifest.scene)?;
        if let Some(same) = folder::prepare(&self.folder, &manifest, &plan, self.restart)? {
            let records =
                if self.strict { frames_log::read(&self.folder.join(names::FRAMES_LOG_FILE))? } else { Vec::new() };
            return match records.iter().find_map(yielded) {
                Some(failure) => Err(failure),
                None => Ok(Outcome::AlreadyThere(Box::new(same))),
            };
        }
        let path = self.folder.join(names::MANIFEST_FILE);
        manifest.write(&path)?;
        let start = Instant::now();
        let scene = self.scene;
        let baked = self.bake(&plan, &mut manifest, progress);
        let failure = match &baked {
            Ok(baked) => baked.watch.failure(),
            Err(failure) => Some(failure.clone()),
        };
        manifest.status = match &failure {
            None => Status::Complete,
            Some(failure) if failure.exit == Exit::GateFailed => Status::GatesFailed,
            Some(_) => Status::Failed,
        };
        manifest.exit_code = Some(failure.as_ref().map_or(Exit::Ok, |failure| failure.exit).number().into());
        manifest.message = failure.map(|failure| failure.cause);
        let recorded = manifest.write(&path);
        let Baked { watch, store_bytes, device } = baked?;
        recorded?;
        let seconds = start.elapsed().as_secs_f64();
        let overstretched = watch.overstretched(&scene.cloths);
        Ok(Outcome::Baked(Box::new(Summary { manifest, watch, seconds, store_bytes, overstretched, device })))
    }

    /// Simulates and writes everything except the manifest.
    fn bake(self, plan: &Plan, manifest: &mut Manifest, progress: &mut dyn Progress) -> Result<Baked, Failure> {
        let Job { scene, model, state, backend, folder, strict, .. } = self;
        let mut rest = write_rest_meshes(&folder, plan, model)?;
        let mut colliders = ColliderTracks::create(&folder, plan, scene, model, &mut rest)?;
        let mut frames = FrameLoop::on(backend, scene, model, state);
        let mut store = StoreWriter::create(&folder.join(names::STORE_FILE), &frames.store_header())?;
        let mut log = FramesLog::create(&folder.join(names::FRAMES_LOG_FILE))?;
        let mut watch = Watch::new(&scene.gates);
        let range = scene.first_frame..=scene.last_frame;
        let total = u64::from(scene.lead_in()) + range.clone().count() as u64;
        let mut position = Position { done: 0, total };
        progress.started(scene, total);
        for _ in 0..scene.lead_in() {
            let substeps = frames.lead_in()?;
            note_lost(&mut frames, scene.first_frame, manifest, progress);
            position.done += 1;
            progress.preroll_done(position, substeps);
        }
        for frame in range {
            let record = frames.simulate(frame)?;
            note_lost(&mut frames, frame, manifest, progress);
            if frame == scene.first_frame {
                manifest.tangled = frames.tangled_starts();
                manifest.tangled.iter().for_each(|tangled| progress.note(&describe_start(tangled)));
            }
            if record.written {
                store.append(frame, &frames.objects())?;
                colliders.append(frame)?;
                manifest.frames.written += 1;
            }
            log.append(&record)?;
            watch.observe(&record);
            if let Some(failure) = strict.then(|| yielded(&record)).flatten() {
                return Err(failure);
            }
            position.done += 1;
            progress.frame_done(position, &record);
        }
        let device = frames.device_report();
        let store = store.finish()?;
        rest.extend(colliders.finish()?);
        progress.caches(&plan.output.formats);
        let mut reader = StoreReader::open(&store.path)?;
        let (formats, frames) = (&plan.output.formats, &plan.written_frames);
        let mut tell = |text: &str| progress.note(text);
        manifest.caches = make_caches(&folder, plan, &mut reader, formats, frames, &folder, &mut tell)?;
        let log = FileRecord::read(&folder.join(names::FRAMES_LOG_FILE), names::FRAMES_LOG_FILE)?;
        let written = std::iter::once(&store).chain(&rest).map(|file| FileRecord::written(&folder, file));
        manifest.files = written.chain([log]).collect();
        Ok(Baked { watch, store_bytes: store.bytes, device })
    }

    /// The manifest of this job at its start.
    fn manifest(&self) -> Result<Manifest, Failure> {
        let scene = serde_json::to_value(self.scene).map_err(|error| {
            let cause = format!("the scene cannot be recorded: {error}");
            Failure::new(Exit::Unexpected, cause, "please report it together with the scene")
        })?;
        let input = |input: &import::InputFile| FileRecord {
            file: input.typed.clone(),
            bytes: input.bytes,
            xxh3: input.xxh3.clone(),
        };
        let frames = FrameSummary { first: self.scene.first_frame, last: self.scene.last_frame, written: 0 };
        let tool = Tool::current(self.device.clone());
        Ok(Manifest::running(tool, scene, self.model.inputs.iter().map(input).collect(), frames))
    }
}
