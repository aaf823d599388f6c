//! From the store to any number of cache files, one frame in memory.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::atomic::WrittenFile;
use super::error::{CacheError, Result};
use super::mdd::MddWriter;
use super::obj::ObjWriter;
use super::pc2::Pc2Writer;
use super::store::{StoreReader, StoredFrame};
use super::writers::{CacheWriter, Track};
use crate::math::Vec3;
use crate::math::motion::{Pose, rotation_from_degrees};
use crate::mesh::surface::PolyMesh;
use crate::scene::{Format, Output, Placement, Space, Unit, UpAxis};

/// From the store's coordinates (metres, Y up, world) to those of a cache file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coordinates {
    /// Where the object's own origin is, if its own coordinates are wanted.
    local: Option<Pose>,
    unit: Unit,
    up: UpAxis,
}

impl Coordinates {
    /// As a scene asks for them; `placement` is that of the object.
    pub fn new(output: &Output, placement: &Placement) -> Self {
        let local = match output.space {
            Space::World => None,
            Space::Local => {
                Some(Pose { rotation: rotation_from_degrees(placement.rotate), translation: placement.translate })
            }
        };
        Coordinates { local, unit: output.unit, up: output.up }
    }

    /// A point in the coordinates of the file. Metres, Y up, world: the same bits.
    pub fn apply(&self, point: [f32; 3]) -> [f32; 3] {
        let mut point = Vec3::from(point.map(f64::from));
        if let Some(pose) = &self.local {
            point = pose.apply_inverse(point);
        }
        self.with_axes(point / self.unit.metres())
    }

    /// A direction, such as a normal, in the coordinates of the file. One that does not fit its numbers becomes zero.
    pub fn apply_to_direction(&self, direction: Vec3) -> [f32; 3] {
        let turned = self.local.map_or(direction, |pose| pose.rotation.inverse() * direction);
        let direction = self.with_axes(turned);
        if direction.iter().all(|x| x.is_finite()) { direction } else { [0.0; 3] }
    }

    fn with_axes(&self, v: Vec3) -> [f32; 3] {
        let [x, y, z] = match self.up {
            UpAxis::Y => [v.x, v.y, v.z],
            UpAxis::Z => [v.x, -v.z, v.y],
        };
        [x as f32, y as f32, z as f32]
    }
}

/// A cache to be made.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// Name of the object in the store.
    pub object: &'a str,
    /// Its mesh, with the vertices of the store.
    pub mesh: &'a PolyMesh,
    /// What to write.
    pub format: Format,
    /// In which coordinates.
    pub coordinates: Coordinates,
}

/// What became of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenCache {
    /// Name of the object.
    pub object: String,
    /// What was written.
    pub format: Format,
    /// One file, or one a frame.
    pub files: Vec<WrittenFile>,
}

/// Says where a cache goes, relative to the job folder. The frame is given for formats of one file a frame.
pub type FileName<'a> = dyn Fn(&str, Format, Option<i64>) -> String + 'a;

/// Makes caches of the given frames (ascending), in the order of the targets. Nothing is written if a frame or an object
/// is not stored, or if two files would have the same name.
pub fn convert(
    reader: &mut StoreReader,
    targets: &[Target],
    frames: &[i64],
    folder: &Path,
    file_name: &FileName,
) -> Result<Vec<WrittenCache>> {
    let places = frames.iter().map(|&frame| place_of_frame(reader, frame)).collect::<Result<Vec<usize>>>()?;
    if places.is_empty() || !places.is_sorted_by(|a, b| a < b) {
        return Err(CacheError::invalid(reader.path(), "the frames to convert must ascend, and be at least one"));
    }
    let mut files = Vec::new();
    for target in targets {
        files.push(target_files(target, frames, folder, file_name));
    }
    refuse_same_names(&files)?;
    let mut outlets = Vec::new();
    for (target, files) in targets.iter().zip(files) {
        outlets.push(open_outlet(reader, target, frames, files)?);
    }
    let (mut stored, mut points) = (StoredFrame::default(), Vec::new());
    for place in places {
        reader.read(place, &mut stored)?;
        for (target, (object, writer)) in targets.iter().zip(&mut outlets) {
            points.clear();
            points.extend(stored.objects[*object].positions.iter().map(|&point| target.coordinates.apply(point)));
            writer.frame(stored.frame, &points)?;
        }
    }
    let finish = |(target, (_, writer)): (&Target, (usize, Box<dyn CacheWriter>))| {
        Ok(WrittenCache { object: target.object.to_owned(), format: target.format, files: writer.finish()? })
    };
    targets.iter().zip(outlets).map(finish).collect()
}

fn place_of_frame(reader: &StoreReader, frame: i64) -> Result<usize> {
    let frames = reader.frames();
    frames.binary_search(&frame).map_err(|_| {
        let stored = match (frames.first(), frames.last()) {
            (Some(first), Some(last)) => format!("there are {} from {first} to {last}", frames.len()),
            _ => "there are none".to_owned(),
        };
        CacheError::MissingFrame { file: reader.path().to_owned(), frame, stored }
    })
}

fn target_files(target: &Target, frames: &[i64], folder: &Path, file_name: &FileName) -> Vec<PathBuf> {
    let path = |frame| folder.join(file_name(target.object, target.format, frame));
    match target.format {
        Format::Pc2 | Format::Mdd => vec![path(None)],
        Format::Obj => frames.iter().map(|&frame| path(Some(frame))).collect(),
    }
}

fn refuse_same_names(files: &[Vec<PathBuf>]) -> Result<()> {
    let mut seen = HashSet::new();
    match files.iter().flatten().find(|&file| !seen.insert(file)) {
        Some(file) => {
            Err(CacheError::invalid(file, "two caches would have this name; put the object or the frame in it"))
        }
        None => Ok(()),
    }
}

/// The writer of a target, and the place of its object in a stored frame.
fn open_outlet(
    reader: &StoreReader,
    target: &Target,
    frames: &[i64],
    files: Vec<PathBuf>,
) -> Result<(usize, Box<dyn CacheWriter>)> {
    let objects = &reader.header().objects;
    let Some(place) = objects.iter().position(|object| object.name == target.object) else {
        let stored: Vec<&str> = objects.iter().map(|object| object.name.as_str()).collect();
        let (file, object) = (reader.path().to_owned(), target.object.to_owned());
        return Err(CacheError::MissingObject { file, object, stored: stored.join(", ") });
    };
    let vertex_count = objects[place].vertex_count;
    if vertex_count != target.mesh.positions.len() {
        let have = target.mesh.positions.len();
        let message = format!("\"{}\" has {vertex_count} vertices here but {have} in its mesh", target.object);
        return Err(CacheError::invalid(reader.path(), message));
    }
    let track = Track { object: target.object.to_owned(), vertex_count, frames: frames.to_vec() };
    let single = files.first().map_or(Path::new(""), PathBuf::as_path);
    let writer: Box<dyn CacheWriter> = match target.format {
        Format::Pc2 => Box::new(Pc2Writer::create(single, track)?),
        Format::Mdd => Box::new(MddWriter::create(single, track, reader.header().fps)?),
        Format::Obj => Box::new(ObjWriter::create(files, target.mesh, track)?),
    };
    Ok((place, writer))
}
