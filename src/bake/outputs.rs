//! Which files a job writes besides its store: rest meshes and caches.
//!
//! The plan is read from the resolved scene as JSON, during a bake as well as from the manifest of an old one, and the
//! polygons come from the job's own rest meshes. So caches that are made later are byte for byte those of the bake.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value as Json;

use super::exit::{Exit, Failure};
use crate::cache::atomic::WrittenFile;
use crate::cache::convert::{Coordinates, Target, convert};
use crate::cache::manifest::CacheFile;
use crate::cache::names;
use crate::cache::obj::write_obj;
use crate::cache::store::StoreReader;
use crate::import::obj;
use crate::math::Vec3;
use crate::mesh::surface::PolyMesh;
use crate::model::{ClothModel, Model};
use crate::scene::frames::uniform_step;
use crate::scene::pattern::Pattern;
use crate::scene::problem::{KeyPath, Place, Problem};
use crate::scene::{Format, Gates, Output, Placement};

/// Longest file name that every file system takes, with room for `.partial`.
const MAX_NAME_LENGTH: usize = 240;

/// A cloth, as far as its files are concerned.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct PlannedCloth {
    /// Its name in the scene.
    pub name: String,
    /// From file to world.
    pub placement: Placement,
}

/// What a resolved scene says about files.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Plan {
    /// The scene's name.
    pub name: String,
    /// Ascending.
    pub written_frames: Vec<i64>,
    /// The cloths in the order of the scene.
    pub cloths: Vec<PlannedCloth>,
    /// How they are written.
    pub output: Output,
    /// Limits for the figures.
    pub gates: Gates,
    #[serde(skip)]
    pattern: Option<Pattern>,
}

impl Plan {
    /// From a resolved scene as it stands in a manifest.
    pub fn from_json(scene: &Json) -> Result<Plan, Failure> {
        let invalid = |cause: String| {
            Failure::new(Exit::InvalidInput, format!("the manifest's scene cannot be used: {cause}"), "bake it again")
        };
        let mut plan = Plan::deserialize(scene).map_err(|error| invalid(error.to_string()))?;
        plan.pattern = Some(Pattern::parse(&plan.output.pattern).map_err(invalid)?);
        Ok(plan)
    }

    /// The file of a cache, relative to its folder.
    pub fn cache_file(&self, object: &str, format: Format, frame: Option<i64>) -> String {
        let name = self.pattern.as_ref().map(|pattern| pattern.file_name(object, &self.name, frame));
        format!("{}.{}", name.unwrap_or_default(), format.name())
    }

    /// The files of all caches in these formats, relative to their folder.
    pub fn cache_files(&self, formats: &[Format], frames: &[i64]) -> Vec<String> {
        let mut files = Vec::new();
        for cloth in &self.cloths {
            for &format in formats {
                match format {
                    Format::Pc2 | Format::Mdd => files.push(self.cache_file(&cloth.name, format, None)),
                    Format::Obj => {
                        files.extend(frames.iter().map(|&f| self.cache_file(&cloth.name, format, Some(f))));
                    }
                }
            }
        }
        files
    }

    /// Everything that a bake writes, relative to the job folder.
    pub fn files(&self) -> Vec<PathBuf> {
        let fixed = [names::STORE_FILE, names::PARTIAL_STORE_FILE, names::MANIFEST_FILE, names::FRAMES_LOG_FILE];
        let caches = self.cache_files(&self.output.formats, &self.written_frames);
        let rest = self.cloths.iter().map(|cloth| names::rest_file(&cloth.name));
        fixed.iter().map(PathBuf::from).chain(rest).chain(caches.iter().map(PathBuf::from)).collect()
    }

    /// What would go wrong only when the simulation is over: two files of one name, or a name that no disk takes.
    pub fn problem(&self) -> Option<Problem> {
        let files = self.files();
        let mut seen = HashSet::new();
        let fault = |message: String| {
            let place = Place::Scene(KeyPath::default().key("output").key("pattern"));
            Some(Problem::error(place, message).help("write the pattern like `{object}.####`"))
        };
        for file in &files {
            if !seen.insert(file.as_path()) {
                return fault(format!("two files would have the name `{}`", file.display()));
            }
            if file.iter().any(|part| part.len() > MAX_NAME_LENGTH) {
                return fault(format!("a file name of more than {MAX_NAME_LENGTH} bytes would be needed"));
            }
        }
        let is_file_and_folder = |file: &&PathBuf| file.ancestors().skip(1).any(|folder| seen.contains(folder));
        let both = files.iter().find(is_file_and_folder)?;
        fault(format!("`{}` would be a file inside another file", both.display()))
    }
}

/// A warning about frames whose gaps are lost in some of these formats.
pub fn uneven_frames(formats: &[Format], frames: &[i64]) -> Option<String> {
    let plays_evenly = |format: &Format| matches!(format, Format::Pc2 | Format::Mdd);
    let names: Vec<&str> = formats.iter().filter(|format| plays_evenly(format)).map(|format| format.name()).collect();
    let is_lost = uniform_step(frames).is_none() && !names.is_empty();
    is_lost.then(|| {
        format!(
            "warning: the written frames are irregular, and programs play {} as if there were no gaps; write frames \
             with one step, or obj files",
            names.join(" and ")
        )
    })
}

/// Writes `rest/<object>.obj` of every cloth, in the coordinates of the caches.
pub fn write_rest_meshes(job: &Path, plan: &Plan, model: &Model) -> Result<Vec<WrittenFile>, Failure> {
    let mut written = Vec::new();
    for (planned, cloth) in plan.cloths.iter().zip(&model.cloths) {
        let positions = rest_positions(plan, planned, cloth);
        let coordinates = Coordinates::new(&plan.output, &planned.placement);
        let normals: Vec<_> = cloth.surface.normals.iter().map(|n| coordinates.apply_to_direction(*n)).collect();
        written.push(write_obj(&job.join(names::rest_file(&cloth.name)), &cloth.surface, &positions, &normals)?);
    }
    Ok(written)
}

/// Makes caches of some frames of a job's store below `folder`, which need not be the job's own.
pub fn make_caches(
    job: &Path,
    plan: &Plan,
    store: &mut StoreReader,
    formats: &[Format],
    frames: &[i64],
    folder: &Path,
) -> Result<Vec<CacheFile>, Failure> {
    if formats.is_empty() {
        return Ok(Vec::new());
    }
    let meshes = plan.cloths.iter().map(|cloth| read_rest_mesh(job, &cloth.name)).collect::<Result<Vec<_>, _>>()?;
    let mut targets = Vec::new();
    for (cloth, mesh) in plan.cloths.iter().zip(&meshes) {
        let coordinates = Coordinates::new(&plan.output, &cloth.placement);
        targets.extend(formats.iter().map(|&format| Target { object: &cloth.name, mesh, format, coordinates }));
    }
    let file_name = |object: &str, format: Format, frame| plan.cache_file(object, format, frame);
    let written = convert(store, &targets, frames, folder, &file_name)?;
    let entries = written
        .iter()
        .flat_map(|cache| cache.files.iter().map(|file| CacheFile::new(folder, file, cache.format, &cache.object)));
    Ok(entries.collect())
}

fn read_rest_mesh(job: &Path, object: &str) -> Result<PolyMesh, Failure> {
    let path = job.join(names::rest_file(object));
    let remedy = "bake the scene again with --restart";
    let bytes = std::fs::read(&path).map_err(|error| {
        Failure::new(Exit::InputOutput, format!("cannot read the rest mesh {}: {error}", path.display()), remedy)
    })?;
    let unusable = |message| {
        Failure::new(Exit::InvalidInput, format!("the rest mesh {} is damaged: {message}", path.display()), remedy)
    };
    let file = obj::parse(&path, &bytes).map_err(|problem| unusable(problem.message))?;
    file.select(None).map_err(|choice| unusable(choice.message))
}

/// Meshes that are too large for the numbers of cache files.
pub fn rest_problems(plan: &Plan, model: &Model) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (number, (planned, cloth)) in plan.cloths.iter().zip(&model.cloths).enumerate() {
        let positions = rest_positions(plan, planned, cloth);
        if let Some(vertex) = positions.iter().position(|point| !point.iter().all(|x| x.is_finite())) {
            let message = format!("vertex {vertex} is too far away for a cache file");
            let place = Place::Scene(KeyPath::cloth(number).key("mesh"));
            problems.push(Problem::error(place, message).help("check `unit` and `scale`"));
        }
    }
    problems
}

fn rest_positions(plan: &Plan, planned: &PlannedCloth, cloth: &ClothModel) -> Vec<[f32; 3]> {
    let coordinates = Coordinates::new(&plan.output, &planned.placement);
    let to_file = |p: &Vec3| coordinates.apply(p.map(|x| x as f32).into());
    cloth.surface.positions.iter().map(to_file).collect()
}
