//! What is in a store, a PC2 or an MDD file, and how Blender wants the latter two.

use std::path::Path;

use serde_json::{Value as Json, json};

use super::frame_ranges;
use crate::bake::Failure;
use crate::bake::outputs::Plan;
use crate::cache::manifest::Manifest;
use crate::cache::mdd::MddInfo;
use crate::cache::names;
use crate::cache::pc2::Pc2Info;
use crate::cache::store::{StoreReader, StoredFrame};
use crate::math::Vec3;
use crate::mesh::measures::bounds;
use crate::scene::frames::uniform_step;

/// A store; every frame is read, so a damaged one is found.
pub fn store(path: &Path) -> Result<Json, Failure> {
    let mut reader = StoreReader::open(path)?;
    let mut frame = StoredFrame::default();
    for index in 0..reader.frames().len() {
        reader.read(index, &mut frame)?;
    }
    let header = reader.header();
    let objects: Vec<Json> =
        header.objects.iter().map(|object| json!({ "name": object.name, "vertices": object.vertex_count })).collect();
    Ok(json!({
        "kind": "store",
        "file": path,
        "bytes": std::fs::metadata(path).map(|metadata| metadata.len()).unwrap_or_default(),
        "complete": !names::is_partial(path),
        "fps": format!("{}/{}", header.fps.numerator, header.fps.denominator),
        "frame_count": reader.frames().len(),
        "frames": frame_ranges(reader.frames()),
        "checksums": "all frames are intact",
        "coordinates": "metres, Y up, world",
        "objects": objects,
    }))
}

pub fn pc2(path: &Path) -> Result<Json, Failure> {
    let info = Pc2Info::read(path)?;
    let first = if info.sample_count > 0 { info.sample(0)? } else { Vec::new() };
    // The file has one step for all samples; the job beside it knows better.
    let is_even = written_frames(path, info.sample_count).is_none_or(|frames| uniform_step(&frames).is_some());
    let step = is_even.then_some(f64::from(info.sample_rate));
    Ok(json!({
        "kind": "pc2",
        "file": path,
        "points": info.point_count,
        "samples": info.sample_count,
        "start_frame": info.start_frame,
        "frames_per_sample": step.map_or(json!("irregular"), |step| json!(step)),
        "first_sample_bounds": bounds_of(&first),
        "coordinates": coordinates(path),
        "blender": blender("PC2", &info.start_frame.to_string(), step),
    }))
}

pub fn mdd(path: &Path) -> Result<Json, Failure> {
    let info = MddInfo::read(path)?;
    let first = if info.times.is_empty() { Vec::new() } else { info.frame(0)? };
    // The file knows seconds only; the job beside it knows frames.
    let frames = written_frames(path, info.times.len());
    let (start, step) = match frames.as_deref() {
        Some(frames @ [first, ..]) => (first.to_string(), uniform_step(frames).map(|step| step as f64)),
        _ => ("the first written frame (the file does not say)".to_owned(), is_even(&info.times).then_some(1.0)),
    };
    Ok(json!({
        "kind": "mdd",
        "file": path,
        "points": info.point_count,
        "samples": info.times.len(),
        "first_time": info.times.first(),
        "last_time": info.times.last(),
        "first_sample_bounds": bounds_of(&first),
        "coordinates": coordinates(path),
        "blender": blender("MDD", &start, step),
    }))
}

/// How to play a cache in Blender, whose modifier counts samples, not frames.
fn blender(format: &str, start: &str, step: Option<f64>) -> String {
    let scale = match step {
        None => return "the frames are irregular, so the Mesh Cache modifier cannot place them".to_owned(),
        Some(1.0) => "1".to_owned(),
        Some(step) => format!("1/{step}"),
    };
    format!(
        "Mesh Cache modifier: Format {format}, Frame Start {start}, Frame Scale {scale}; axes Forward +Y, Up +Z (they \
         leave the file as it is) on rest/<object>.obj from the same job"
    )
}

fn bounds_of(points: &[[f32; 3]]) -> Json {
    let points = points.iter().map(|point| Vec3::from(point.map(f64::from)));
    match bounds(points) {
        Some((low, high)) => json!({ "min": low, "max": high }),
        None => Json::Null,
    }
}

/// Unit, axis and space of a cache; only its job knows them.
fn coordinates(path: &Path) -> Json {
    match plan_of(path) {
        Some(plan) => json!({ "unit": plan.output.unit, "up": plan.output.up, "space": plan.output.space }),
        None => json!("unknown: the file does not say, and no job is around it"),
    }
}

/// The frames of a cache with so many samples, if its job is around it.
fn written_frames(path: &Path, sample_count: usize) -> Option<Vec<i64>> {
    plan_of(path).map(|plan| plan.written_frames).filter(|frames| frames.len() == sample_count)
}

/// Whether times are equally far apart, as far as their digits tell.
fn is_even(times: &[f32]) -> bool {
    let [first, second, ..] = times else {
        return true;
    };
    let tolerance = 4.0 * f32::EPSILON * times.last().unwrap_or(first).abs();
    times.windows(2).all(|pair| (pair[1] - pair[0] - (second - first)).abs() <= tolerance)
}

/// The plan of the job that a cache lies in; patterns may have put it some folders deeper.
fn plan_of(path: &Path) -> Option<Plan> {
    let path = path.canonicalize().ok()?;
    let mut folders = path.ancestors().skip(1).take(4);
    let (folder, manifest) =
        folders.find_map(|folder| Some((folder, Manifest::read(&folder.join(names::MANIFEST_FILE)).ok()?)))?;
    let is_listed = manifest.caches.iter().any(|cache| folder.join(&cache.file) == path);
    is_listed.then(|| Plan::from_json(&manifest.scene).ok())?
}
