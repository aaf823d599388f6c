//! `kiln convert`: caches from a stored bake.

use std::path::{Path, PathBuf};

use clap::Args;

use super::bake::describe_caches;
use super::terminal::log;
use crate::bake::outputs::{Plan, make_caches, uneven_frames};
use crate::bake::{Exit, Failure};
use crate::cache::lock::JobLock;
use crate::cache::manifest::{CacheFile, Manifest};
use crate::cache::names;
use crate::cache::store::StoreReader;
use crate::scene::Format;
use crate::scene::frames::parse_frames;

#[derive(Debug, Args)]
pub struct ConvertArgs {
    /// Job folder of a bake
    job: PathBuf,
    /// Formats to make: pc2, mdd, obj, glb
    #[arg(long, value_name = "FORMAT", env = "KILN_TO", value_delimiter = ',', required = true, value_parser = format)]
    to: Vec<Format>,
    /// Frames to take, such as 1001-1100 or 1,5,10-20 [default: all that are stored]
    #[arg(long, value_name = "RANGE", env = "KILN_CONVERT_FRAMES", allow_hyphen_values = true)]
    frames: Option<String>,
    /// Folder for the caches [default: the job folder]
    #[arg(long, value_name = "DIR", env = "KILN_CONVERT_OUT")]
    out: Option<PathBuf>,
}

fn format(name: &str) -> Result<Format, String> {
    let known = Format::ALL.map(Format::name);
    Format::ALL.into_iter().find(|format| format.name() == name).ok_or(format!("there are: {}", known.join(", ")))
}

pub fn run(arguments: &ConvertArgs) -> Result<(), Failure> {
    let job = arguments.job.as_path();
    if !job.join(names::MANIFEST_FILE).is_file() {
        let cause = format!("{} is not a job folder: it has no {}", job.display(), names::MANIFEST_FILE);
        return Err(Failure::new(Exit::InvalidInput, cause, "name the folder that `kiln bake` wrote"));
    }
    let elsewhere = arguments.out.as_deref().filter(|out| !is_same_folder(out, job));
    // Caches elsewhere change nothing in the job, which may even be read-only.
    let _lock = elsewhere.is_none().then(|| JobLock::acquire(job)).transpose()?;
    let path = job.join(names::MANIFEST_FILE);
    let mut manifest = Manifest::read(&path)?;
    let plan = Plan::from_json(&manifest.scene)?;
    let mut store = open_store(job, &manifest)?;
    let mut formats = arguments.to.clone();
    formats.sort();
    formats.dedup();
    let frames = match &arguments.frames {
        None => store.frames().to_vec(),
        Some(typed) => parse_frames(typed).map(|list| list.frames).map_err(|message| {
            Failure::new(Exit::InvalidInput, format!("--frames: {message}"), "write it like 1001-1100 or 1,5,10-20")
        })?,
    };
    if elsewhere.is_none() && frames != store.frames() {
        keep_whole_caches(&plan, &manifest, &formats, &frames)?;
    }
    uneven_frames(&formats, &frames).iter().for_each(|warning| log(warning));
    let made = make_caches(job, &plan, &mut store, &formats, &frames, elsewhere.unwrap_or(job), &mut log)?;
    for line in describe_caches(&made) {
        log(&line);
    }
    if elsewhere.is_none() {
        let is_new = |file: &CacheFile| made.iter().all(|new| new.file != file.file);
        manifest.caches.retain(is_new);
        manifest.caches.extend(made);
        manifest.write(&path)?;
    }
    log(&format!("done [{}]", Exit::Ok));
    Ok(())
}

fn is_same_folder(a: &Path, b: &Path) -> bool {
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// The store of a job; that of a bake that did not finish will do, but is announced.
fn open_store(job: &Path, manifest: &Manifest) -> Result<StoreReader, Failure> {
    let finished = job.join(names::STORE_FILE);
    let partial = job.join(names::PARTIAL_STORE_FILE);
    if finished.exists() || !partial.exists() {
        return Ok(StoreReader::open(&finished)?);
    }
    let store = StoreReader::open(&partial)?;
    let why = manifest.message.as_deref().unwrap_or("it was interrupted");
    log(&format!("warning: this bake did not finish ({why}); it has {} frames", store.frames().len()));
    if store.frames().is_empty() {
        let cause = format!("{} holds no frame", partial.display());
        return Err(Failure::new(Exit::InvalidInput, cause, "bake the scene again with --restart"));
    }
    Ok(store)
}

/// A cache of all frames in the job folder is not replaced by one of some frames.
fn keep_whole_caches(plan: &Plan, manifest: &Manifest, formats: &[Format], frames: &[i64]) -> Result<(), Failure> {
    let files = plan.cache_files(formats, frames);
    match manifest.caches.iter().find(|cache| files.contains(&cache.file)) {
        None => Ok(()),
        Some(cache) => {
            let cause = format!("{} is in the job folder already, with other frames", cache.file);
            Err(Failure::new(Exit::InvalidInput, cause, "choose another folder for it with --out"))
        }
    }
}
