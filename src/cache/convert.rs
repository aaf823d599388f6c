//! From the store to any number of cache files, one frame in memory.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::atomic::WrittenFile;
use super::error::{CacheError, Result};
use super::glb::{self, Extent, GlbJob, GlbMesh, Grid};
use super::mdd::MddWriter;
use super::obj::ObjWriter;
use super::pc2::Pc2Writer;
use super::store::{StoreReader, StoredFrame};
use super::writers::{CacheWriter, Track};
use crate::math::Vec3;
use crate::math::motion::{Pose, rotation_from_degrees};
use crate::mesh::surface::PolyMesh;
use crate::scene::{Format, FrameRate, Glb, GlbMode, Output, Placement, Space, Unit, UpAxis};

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

    /// The same for what has no placement of its own.
    pub fn in_world(output: &Output) -> Self {
        Coordinates { local: None, unit: output.unit, up: output.up }
    }

    /// The same for one format: glTF is in metres and Y up by definition.
    pub fn for_format(self, format: Format) -> Self {
        match format {
            Format::Glb => Coordinates { unit: Unit::Metre, up: UpAxis::Y, ..self },
            _ => self,
        }
    }

    /// Whether `apply` changes nothing.
    pub fn is_identity(&self) -> bool {
        self.local.is_none() && self.unit == Unit::Metre && self.up == UpAxis::Y
    }

    /// Back into the world, for example from a rest mesh.
    pub fn to_world(&self, point: Vec3) -> Vec3 {
        let point = self.unit.metres()
            * match self.up {
                UpAxis::Y => point,
                UpAxis::Z => Vec3::new(point.x, point.z, -point.y),
            };
        self.local.map_or(point, |pose| pose.apply(point))
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

/// Makes the vertices of a mesh that follows a stored object.
pub trait Deform {
    /// The vertices in the world, from those of the stored object.
    fn deform(&self, stored: &[[f32; 3]], points: &mut Vec<[f32; 3]>);
}

/// A cache to be made.
#[derive(Clone, Copy)]
pub struct Target<'a> {
    /// Name of the object in the store.
    pub stored: &'a str,
    /// What the cache is called.
    pub object: &'a str,
    /// Its mesh, with the vertices of the store, or those that `deform` makes.
    pub mesh: &'a PolyMesh,
    /// What makes other vertices of the stored ones, for example a render mesh.
    pub deform: Option<&'a dyn Deform>,
    /// What to write.
    pub format: Format,
    /// In which coordinates; glTF has its own unit and axes.
    pub coordinates: Coordinates,
    /// How a GLB is written.
    pub glb: Glb,
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
/// is not stored, or if two files would have the same name. `tell` hears how large a GLB will be before it is written.
pub fn convert(
    reader: &mut StoreReader,
    targets: &[Target],
    frames: &[i64],
    folder: &Path,
    file_name: &FileName,
    tell: &mut dyn FnMut(String),
) -> Result<Vec<WrittenCache>> {
    let places = frames.iter().map(|&frame| place_of_frame(reader, frame)).collect::<Result<Vec<usize>>>()?;
    if places.is_empty() || !places.is_sorted_by(|a, b| a < b) {
        return Err(CacheError::invalid(reader.path(), "the frames to convert must ascend, and be at least one"));
    }
    let files: Vec<Vec<String>> = targets
        .iter()
        .map(|target| {
            format_files(target.format, target.glb, frames, |frame| file_name(target.object, target.format, frame))
        })
        .collect();
    refuse_same_names(folder, &files)?;
    let objects = targets.iter().map(|target| place_of_object(reader, target)).collect::<Result<Vec<usize>>>()?;
    let grids = find_grids(reader, targets, &objects, &places)?;
    let mut writers = Vec::new();
    for ((target, files), grid) in targets.iter().zip(&files).zip(grids) {
        writers.push(open_writer(reader.header().fps, target, frames, folder, files, grid, tell)?);
    }
    for_each_frame(reader, targets, &objects, &places, |number, frame, points| writers[number].frame(frame, points))?;
    let finish = |(target, writer): (&Target, Box<dyn CacheWriter>)| {
        Ok(WrittenCache { object: target.object.to_owned(), format: target.format, files: writer.finish()? })
    };
    targets.iter().zip(writers).map(finish).collect()
}

/// Shows every frame to every target, in the target's coordinates. What several targets share is worked out once.
fn for_each_frame(
    reader: &mut StoreReader,
    targets: &[Target],
    objects: &[usize],
    places: &[usize],
    mut show: impl FnMut(usize, i64, &[[f32; 3]]) -> Result<()>,
) -> Result<()> {
    let (mut stored, mut deformed, mut points) = (StoredFrame::default(), Vec::new(), Vec::new());
    for &place in places {
        reader.read(place, &mut stored)?;
        let mut last = None;
        for (number, target) in targets.iter().enumerate() {
            let mut world = &stored.objects[objects[number]].positions;
            if let Some(deform) = target.deform {
                if last != Some(target.object) {
                    deform.deform(world, &mut deformed);
                    last = Some(target.object);
                }
                world = &deformed;
            }
            let coordinates = target.coordinates.for_format(target.format);
            if coordinates.is_identity() {
                show(number, stored.frame, world)?;
                continue;
            }
            points.clear();
            points.extend(world.iter().map(|&point| coordinates.apply(point)));
            show(number, stored.frame, &points)?;
        }
    }
    Ok(())
}

/// The steps of quantised targets, which only all frames together can tell.
fn find_grids(
    reader: &mut StoreReader,
    targets: &[Target],
    objects: &[usize],
    places: &[usize],
) -> Result<Vec<Option<Grid>>> {
    let is_quantised = |target: &Target| target.format == Format::Glb && target.glb.quantize;
    let chosen: Vec<usize> = (0..targets.len()).filter(|&number| is_quantised(&targets[number])).collect();
    let mut grids = vec![None; targets.len()];
    if chosen.is_empty() {
        return Ok(grids);
    }
    let quantised: Vec<Target> = chosen.iter().map(|&number| targets[number]).collect();
    let objects: Vec<usize> = chosen.iter().map(|&number| objects[number]).collect();
    let mut extents = vec![Extent::default(); chosen.len()];
    for_each_frame(reader, &quantised, &objects, places, |number, _, points| {
        extents[number].add(points);
        Ok(())
    })?;
    chosen.iter().zip(&extents).for_each(|(&number, extent)| grids[number] = Some(extent.grid()));
    Ok(grids)
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

/// The files of a cache; `name` gives the name of one, with a frame number where there are several.
pub fn format_files(format: Format, glb: Glb, frames: &[i64], name: impl Fn(Option<i64>) -> String) -> Vec<String> {
    match format {
        Format::Pc2 | Format::Mdd => vec![name(None)],
        Format::Obj => frames.iter().map(|&frame| name(Some(frame))).collect(),
        Format::Glb => glb::files(glb, frames, name),
    }
}

fn refuse_same_names(folder: &Path, files: &[Vec<String>]) -> Result<()> {
    let mut seen = HashSet::new();
    match files.iter().flatten().find(|&file| !seen.insert(file)) {
        Some(file) => {
            let message = "two caches would have this name; put the object or the frame in it";
            Err(CacheError::invalid(&folder.join(file), message))
        }
        None => Ok(()),
    }
}

/// The place of a target's object in a stored frame.
fn place_of_object(reader: &StoreReader, target: &Target) -> Result<usize> {
    let objects = &reader.header().objects;
    let Some(place) = objects.iter().position(|object| object.name == target.stored) else {
        let stored: Vec<&str> = objects.iter().map(|object| object.name.as_str()).collect();
        let (file, object) = (reader.path().to_owned(), target.stored.to_owned());
        return Err(CacheError::MissingObject { file, object, stored: stored.join(", ") });
    };
    let (stored, have) = (objects[place].vertex_count, target.mesh.positions.len());
    if target.deform.is_none() && stored != have {
        let message = format!("\"{}\" has {stored} vertices here but {have} in its mesh", target.stored);
        return Err(CacheError::invalid(reader.path(), message));
    }
    Ok(place)
}

fn open_writer(
    fps: FrameRate,
    target: &Target,
    frames: &[i64],
    folder: &Path,
    files: &[String],
    grid: Option<Grid>,
    tell: &mut dyn FnMut(String),
) -> Result<Box<dyn CacheWriter>> {
    let vertex_count = target.mesh.positions.len();
    let track = Track { object: target.object.to_owned(), vertex_count, frames: frames.to_vec() };
    let paths: Vec<PathBuf> = files.iter().map(|file| folder.join(file)).collect();
    let single = paths.first().map_or(Path::new(""), PathBuf::as_path);
    Ok(match target.format {
        Format::Pc2 => Box::new(Pc2Writer::create(single, track)?),
        Format::Mdd => Box::new(MddWriter::create(single, track, fps)?),
        Format::Obj => Box::new(ObjWriter::create(paths, target.mesh, track)?),
        Format::Glb => {
            let (mesh, name) = (GlbMesh::build(target.mesh), target.object.to_owned());
            let job = GlbJob { mesh, name, frames: frames.to_vec(), fps, glb: target.glb, grid };
            tell_sizes(&job, files, tell);
            job.writer(paths, track)?
        }
    })
}

fn tell_sizes(job: &GlbJob, files: &[String], tell: &mut dyn FnMut(String)) {
    let vertices = job.mesh.vertex_count();
    let at_most = if job.glb.sparse { "at most " } else { "" };
    let rounded = match &job.grid {
        Some(grid) => format!(", rounded by at most {:.2e} m", grid.largest_error()),
        None => String::new(),
    };
    let counts = job.frames.chunks(glb::MAX_FRAMES).map(<[i64]>::len);
    let counts: Vec<usize> = match job.glb.mode {
        GlbMode::Morph => counts.collect(),
        GlbMode::Stream => vec![1, job.frames.len()],
    };
    for ((file, bytes), count) in files.iter().zip(job.sizes(files)).zip(counts) {
        let frames = if count == 1 { "1 frame".to_owned() } else { format!("{count} frames") };
        tell(format!("{file}: {frames} of {vertices} vertices, {at_most}{bytes} bytes{rounded}"));
    }
}
