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
    Ok(json!({
        "kind": "pc2",
        "file": path,
        "points": info.point_count,
        "samples": info.sample_count,
        "start_frame": info.start_frame,
        "frames_per_sample": info.sample_rate,
        "first_sample_bounds": bounds_of(&first),
        "coordinates": coordinates(path),
        "blender": blender("PC2", &info.start_frame.to_string(), f64::from(info.sample_rate)),
    }))
}

pub fn mdd(path: &Path) -> Result<Json, Failure> {
    let info = MddInfo::read(path)?;
    let first = if info.times.is_empty() { Vec::new() } else { info.frame(0)? };
    // The file knows seconds only; the job beside it knows frames.
    let frames = plan_of(path).map(|plan| plan.written_frames).filter(|frames| frames.len() == info.times.len());
    let (start, step) = match frames.as_deref() {
        Some([first, second, ..]) => (first.to_string(), (second - first) as f64),
        Some([only]) => (only.to_string(), 1.0),
        _ => ("the first written frame (the file does not say)".to_owned(), 1.0),
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
fn blender(format: &str, start: &str, step: f64) -> String {
    let scale = if step == 1.0 { "1".to_owned() } else { format!("1/{step}") };
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

/// The plan of the job that a cache lies in; patterns may have put it some folders deeper.
fn plan_of(path: &Path) -> Option<Plan> {
    let path = path.canonicalize().ok()?;
    let mut folders = path.ancestors().skip(1).take(4);
    let (folder, manifest) =
        folders.find_map(|folder| Some((folder, Manifest::read(&folder.join(names::MANIFEST_FILE)).ok()?)))?;
    let is_listed = manifest.caches.iter().any(|cache| folder.join(&cache.file) == path);
    is_listed.then(|| Plan::from_json(&manifest.scene).ok())?
}
