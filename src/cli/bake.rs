//! `kiln bake`

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::load::{Loaded, load};
use super::progress::{Style, listener};
use super::terminal::{counted, log, show_bytes};
use super::{SceneArgs, guarded, switch};
use crate::bake::{Exit, Failure, Job, Outcome, Progress, Summary};
use crate::cache::manifest::{CacheFile, cpu_features};
use crate::model::Promise;
use crate::scene::{Scene, Substeps};
use crate::solver::device::{DeviceChoice, DeviceReport, DeviceRequest, Opened, open_backend};
use crate::solver::substeps;

#[derive(Debug, Args)]
pub struct BakeArgs {
    /// Scene file; without it, a built-in demo: a tablecloth that falls over a round table
    scene: Option<PathBuf>,
    /// Job folder [default: output/<scene name>]
    #[arg(long, value_name = "DIR", env = "KILN_OUT")]
    out: Option<PathBuf>,
    #[command(flatten)]
    changes: SceneArgs,
    /// Threads to use [default: RAYON_NUM_THREADS, or all cores]; the result does not depend on it
    #[arg(long, value_name = "N", env = "KILN_THREADS", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Where to simulate: auto (a graphics card if there is one and the scene is large enough to gain), cpu, gpu, or gpu:NAME (a part of
    /// what `kiln devices` calls it)
    #[arg(long, value_name = "DEVICE", env = "KILN_DEVICE", default_value = "auto")]
    device: DeviceChoice,
    /// What to do when the device is lost: go on on the processor from the last frame, or stop with exit code 69
    #[arg(long, value_name = "WHAT", env = "KILN_DEVICE_LOST", value_enum, default_value_t = WhenLost::Continue)]
    device_lost: WhenLost,
    /// Most memory to use on the device, in megabytes; a scene that needs more is refused with exit code 33
    #[arg(long, value_name = "MB", env = "KILN_DEVICE_MEMORY")]
    device_memory: Option<u64>,
    /// Time every kernel of the device (which slows it down) and log a table at the end
    #[arg(long, env = "KILN_PROFILE", value_parser = switch())]
    profile: bool,
    /// How to show progress
    #[arg(long, value_name = "STYLE", env = "KILN_PROGRESS", value_enum, default_value_t = Style::Auto)]
    progress: Style,
    /// Remove an older bake from the job folder first; other files in it are kept
    #[arg(long, env = "KILN_RESTART", value_parser = switch())]
    restart: bool,
    /// Stop at the first frame in which a promise (crossing, stretch, thickness, friction) has to yield, with exit code 4
    #[arg(long, env = "KILN_STRICT", value_parser = switch())]
    strict: bool,
}

/// What to do when the device is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum WhenLost {
    Continue,
    Stop,
}

pub fn run(arguments: &BakeArgs) -> Result<(), Failure> {
    let mut progress = listener(arguments.progress);
    let baked = guarded(|| bake_in_pool(arguments, progress.as_mut()));
    let failure = match &baked {
        Ok((outcome, _)) => outcome.gate_failure(),
        Err(failure) => Some(failure.clone()),
    };
    progress.finished(failure.as_ref().map_or(Exit::Ok, |failure| failure.exit));
    // Only now, so that no bar is in the way.
    match &baked {
        Ok((Outcome::AlreadyThere(_), folder)) => {
            log(&format!("{} holds this very bake already; nothing to do", folder.display()));
        }
        Ok((Outcome::Baked(summary), folder)) => log_summary(summary, folder),
        Err(_) => {}
    }
    match failure {
        Some(failure) => Err(failure),
        None => {
            log(&format!("done [{}]", Exit::Ok));
            Ok(())
        }
    }
}

/// How the job ended, and its folder.
type Baked = (Outcome, PathBuf);

fn bake_in_pool(arguments: &BakeArgs, progress: &mut dyn Progress) -> Result<Baked, Failure> {
    let threads = arguments.threads.map_or(0, usize::from); // 0 is rayon's word for its default
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| {
        Failure::new(Exit::InputOutput, format!("cannot start the threads: {error}"), "try fewer with --threads")
    })?;
    pool.install(|| bake(arguments, progress))
}

fn bake(arguments: &BakeArgs, progress: &mut dyn Progress) -> Result<Baked, Failure> {
    let (version, threads) = (env!("CARGO_PKG_VERSION"), rayon::current_num_threads());
    log(&format!("kiln {version}, {}, {}", cpu_features(), counted(threads, "thread", "threads")));
    let Loaded { scene, model, state } = load(arguments.scene.as_deref(), &arguments.changes)?;
    let folder = arguments.out.clone().unwrap_or_else(|| Path::new("output").join(&scene.name));
    log_scene(&scene, &folder);
    for cloth in &model.cloths {
        log(&format!(
            "cloth \"{}\": {} vertices, {} particles, {} constraints; {}",
            cloth.name,
            cloth.surface.positions.len(),
            cloth.rest.len(),
            cloth.distances.len(),
            cloth.method()
        ));
    }
    for body in &model.soft_bodies {
        let vertices = body.surface.positions.len();
        log(&format!(
            "soft body \"{}\": {vertices} vertices, {} particles; {}",
            body.name,
            body.rest.len(),
            body.method()
        ));
    }
    if let Substeps::Auto { .. } = scene.substeps {
        let count = substeps::choose(&scene, &model, &state, scene.first_frame as f64);
        log(&format!("substeps: auto, {count} at the start"));
    }
    let BakeArgs { restart, strict, .. } = *arguments;
    let request = DeviceRequest {
        choice: arguments.device.clone(),
        may_fall_back: arguments.device_lost == WhenLost::Continue,
        profiles: arguments.profile,
        memory: arguments.device_memory.map(|megabytes| megabytes << 20),
    };
    let Opened { backend, device, line } = open_backend(&request, &scene, &model)?;
    log(&line);
    let job = Job { scene: &scene, model: &model, state, backend, device, folder: folder.clone(), restart, strict };
    Ok((job.run(progress)?, folder))
}

fn log_scene(scene: &Scene, folder: &Path) {
    let Scene { name, first_frame, last_frame, .. } = scene;
    let preroll = match scene.lead_in() {
        0 => String::new(),
        count => format!(" after {count} of pre-roll"),
    };
    log(&format!(
        "scene \"{name}\": {}{}, {}, frames {first_frame}-{last_frame}{preroll} at {:.3} fps, {} written, seed {}",
        counted(scene.cloths.len(), "cloth", "cloths"),
        match scene.soft_bodies.len() {
            0 => String::new(),
            count => format!(", {}", counted(count, "soft body", "soft bodies")),
        },
        counted(scene.colliders.len(), "collider", "colliders"),
        scene.fps.fps(),
        scene.written_frames.len(),
        scene.wind.seed
    ));
    log(&format!("job folder: {}", folder.display()));
}

fn log_summary(summary: &Summary, folder: &Path) {
    for worst in summary.watch.worst() {
        let verdict = match worst.limit {
            Some(limit) if worst.is_missed() => format!(", over its limit of {}", worst.show(limit)),
            Some(limit) => format!(", within its limit of {}", worst.show(limit)),
            None => String::new(),
        };
        let (metric, object, value) = (worst.metric, &worst.object, worst.show(worst.value));
        log(&format!("{metric} of \"{object}\": at most {value} (frame {}){verdict}", worst.frame));
    }
    for line in &summary.overstretched {
        log(&format!("warning: {line}"));
    }
    // Stretch has been told.
    for yielded in summary.watch.yielded().iter().filter(|yielded| yielded.promise != Promise::Stretch) {
        log(&format!("warning: {}", yielded.describe()));
    }
    summary.device.iter().for_each(log_device);
    for line in describe_caches(&summary.manifest.caches) {
        log(&line);
    }
    let frames = counted(summary.manifest.frames.written as usize, "frame", "frames");
    let (size, seconds) = (show_bytes(summary.store_bytes), summary.seconds);
    log(&format!("{frames} in {seconds:.1} s, store of {size} in {}", folder.display()));
}

fn log_device(report: &DeviceReport) {
    let counts = report.counts;
    log(&format!(
        "device: {} kernels in {} passes and {} submits moved {}; {} uploads ({}), {} read-backs ({})",
        counts.dispatches,
        counts.passes,
        counts.submits,
        show_bytes(counts.kernel_bytes),
        counts.uploads,
        show_bytes(counts.uploaded_bytes),
        counts.read_backs,
        show_bytes(counts.read_bytes)
    ));
    for time in &report.kernels {
        let each = 1e6 * time.seconds / time.dispatches as f64;
        log(&format!("  {:<24} {:>9.3} s {:>9} times {each:>9.1} us", time.kernel, time.seconds, time.dispatches));
    }
}

/// One line for each object and format.
pub fn describe_caches(caches: &[CacheFile]) -> Vec<String> {
    let same = |a: &CacheFile, b: &CacheFile| a.object == b.object && a.format == b.format;
    let describe = |files: &[CacheFile]| {
        let size = show_bytes(files.iter().map(|file| file.bytes).sum());
        match files {
            [only] => format!("cache of \"{}\": {} ({size})", only.object, only.file),
            [first, .., last] => {
                let count = files.len();
                format!("cache of \"{}\": {} to {} ({count} files, {size})", first.object, first.file, last.file)
            }
            [] => String::new(),
        }
    };
    caches.chunk_by(same).map(describe).collect()
}
