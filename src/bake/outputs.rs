//! Which files a job writes besides its store: rest meshes and caches.
//!
//! The plan is read from the resolved scene as JSON, during a bake as well as from the manifest of an old one, and the
//! polygons come from the job's own rest meshes. So caches that are made later are byte for byte those of the bake.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value as Json;

use super::exit::{Exit, Failure};
use super::render::BoundMesh;
use crate::cache::atomic::WrittenFile;
use crate::cache::convert::{Coordinates, Deform, Target, convert, format_files};
use crate::cache::glb::{GlbJob, GlbMesh};
use crate::cache::manifest::CacheFile;
use crate::cache::names;
use crate::cache::obj::{write_mtl, write_obj};
use crate::cache::store::StoreReader;
use crate::import::{mtl, obj};
use crate::math::Vec3;
use crate::mesh::surface::PolyMesh;
use crate::model::Model;
use crate::scene::frames::uniform_step;
use crate::scene::pattern::Pattern;
use crate::scene::problem::{KeyPath, Place, Problem};
use crate::scene::{Format, FrameRate, Gates, Output, Placement, RenderWrite, Unit, UpAxis, render_name};

/// Longest file name that every file system takes, with room for `.partial`.
const MAX_NAME_LENGTH: usize = 240;

/// A cloth or soft body, as far as its files are concerned.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct PlannedBody {
    /// Its name in the scene.
    pub name: String,
    /// From file to world.
    pub placement: Placement,
    /// What follows it into the caches.
    #[serde(default)]
    pub render_mesh: Option<PlannedRender>,
}

/// A render mesh, as far as files are concerned.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct PlannedRender {
    /// In place of the simulated mesh, or beside it.
    pub write: RenderWrite,
}

/// A collider, as far as its files are concerned.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct PlannedCollider {
    /// Its name in the scene.
    pub name: String,
}

/// A mesh that is written into caches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedMesh {
    /// What its caches are called.
    pub name: String,
    /// The number of its body: cloths, then soft bodies.
    pub body: usize,
    /// Whether it is the body's render mesh.
    pub is_render: bool,
}

/// What a resolved scene says about files.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Plan {
    /// The scene's name.
    pub name: String,
    /// Ascending.
    pub written_frames: Vec<i64>,
    /// The cloths in the order of the scene.
    pub cloths: Vec<PlannedBody>,
    /// The soft bodies in the order of the scene.
    #[serde(default)]
    pub soft_bodies: Vec<PlannedBody>,
    /// The colliders in the order of the scene.
    #[serde(default)]
    pub colliders: Vec<PlannedCollider>,
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

    /// Cloths, then soft bodies.
    pub fn bodies(&self) -> impl Iterator<Item = &PlannedBody> {
        self.cloths.iter().chain(&self.soft_bodies)
    }

    /// One of them.
    pub(super) fn body(&self, number: usize) -> &PlannedBody {
        match number.checked_sub(self.cloths.len()) {
            None => &self.cloths[number],
            Some(soft) => &self.soft_bodies[soft],
        }
    }

    /// The path of a body in the scene file.
    fn path(&self, number: usize) -> KeyPath {
        match number.checked_sub(self.cloths.len()) {
            None => KeyPath::cloth(number),
            Some(soft) => KeyPath::soft_body(soft),
        }
    }

    /// The file of a cache, relative to its folder.
    pub fn cache_file(&self, object: &str, format: Format, frame: Option<i64>) -> String {
        let name = self.pattern.as_ref().map(|pattern| pattern.file_name(object, &self.name, frame));
        format!("{}.{}", name.unwrap_or_default(), format.name())
    }

    /// The files of all caches in these formats, relative to their folder.
    pub fn cache_files(&self, formats: &[Format], frames: &[i64]) -> Vec<String> {
        let mut files = Vec::new();
        for mesh in self.cached_meshes() {
            for &format in formats {
                let name = |frame| self.cache_file(&mesh.name, format, frame);
                files.extend(format_files(format, self.output.glb, frames, name));
            }
        }
        files
    }

    /// The meshes that are written into caches, in the order of the bodies.
    pub fn cached_meshes(&self) -> Vec<CachedMesh> {
        let mut meshes = Vec::new();
        for (body, planned) in self.bodies().enumerate() {
            let write = planned.render_mesh.as_ref().map(|render| render.write);
            if write != Some(RenderWrite::Instead) {
                meshes.push(CachedMesh { name: planned.name.clone(), body, is_render: false });
            }
            match write {
                None => {}
                Some(RenderWrite::Instead) => {
                    meshes.push(CachedMesh { name: planned.name.clone(), body, is_render: true });
                }
                Some(RenderWrite::Beside) => {
                    meshes.push(CachedMesh { name: render_name(&planned.name), body, is_render: true });
                }
            }
        }
        meshes
    }

    /// The rest meshes of the job.
    pub fn rest_files(&self) -> Vec<PathBuf> {
        let of_body = |body: &PlannedBody| {
            let render = body.render_mesh.as_ref().map(|_| names::render_rest_file(&body.name));
            std::iter::once(names::rest_file(&body.name)).chain(render)
        };
        self.bodies().flat_map(of_body).collect()
    }

    /// The meshes of colliders.
    pub fn collider_files(&self) -> Vec<PathBuf> {
        let colliders = if self.output.colliders { self.colliders.as_slice() } else { &[] };
        colliders.iter().map(|collider| names::collider_file(&collider.name)).collect()
    }

    /// Everything that a bake writes, relative to the job folder.
    pub fn files(&self) -> Vec<PathBuf> {
        let fixed = [names::STORE_FILE, names::PARTIAL_STORE_FILE, names::MANIFEST_FILE, names::FRAMES_LOG_FILE];
        let colliders = self.collider_files();
        let store = Path::new(names::COLLIDER_STORE_FILE);
        let tracks = if colliders.is_empty() { vec![] } else { vec![store.to_owned(), names::partial(store)] };
        let caches = self.cache_files(&self.output.formats, &self.written_frames);
        // Which of them have materials is not known from the scene.
        let rest = self.rest_files().into_iter().flat_map(|file| [names::materials_file(&file), file]);
        let fixed = fixed.iter().map(PathBuf::from);
        fixed.chain(rest).chain(colliders).chain(tracks).chain(caches.iter().map(PathBuf::from)).collect()
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
             with one step, or obj or glb files",
            names.join(" and ")
        )
    })
}

/// Writes `rest/<object>.obj` of every body and `rest/<object>.render.obj` of every render mesh, in the coordinates of the
/// caches, with the materials beside them.
pub fn write_rest_meshes(job: &Path, plan: &Plan, model: &Model) -> Result<Vec<WrittenFile>, Failure> {
    let mut written = Vec::new();
    for (number, planned) in plan.bodies().enumerate() {
        let coordinates = Coordinates::new(&plan.output, &planned.placement);
        for is_render in [false, true] {
            let Some(mesh) = rest_mesh(model, number, is_render) else {
                continue;
            };
            let positions = rest_positions(&coordinates, mesh);
            let normals: Vec<_> = mesh.normals.iter().map(|n| coordinates.apply_to_direction(*n)).collect();
            let path = job.join(rest_file(planned, is_render));
            if mesh.material_definitions.is_empty() {
                written.push(write_obj(&path, mesh, &positions, &normals)?);
                continue;
            }
            let materials = names::materials_file(&path);
            let own = materials.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let mut mesh = mesh.clone();
            mesh.material_libraries.retain(|library| *library != own);
            mesh.material_libraries.insert(0, own);
            written.push(write_obj(&path, &mesh, &positions, &normals)?);
            written.push(write_mtl(&materials, &mesh.material_definitions)?);
        }
    }
    Ok(written)
}

fn rest_file(body: &PlannedBody, is_render: bool) -> PathBuf {
    if is_render { names::render_rest_file(&body.name) } else { names::rest_file(&body.name) }
}

/// A body's mesh, or its render mesh if it has one, in the world at rest.
fn rest_mesh(model: &Model, body: usize, is_render: bool) -> Option<&PolyMesh> {
    if is_render { model.render_meshes[body].as_ref() } else { Some(&model.skin(body).surface) }
}

/// Makes caches of some frames of a job's store below `folder`, which need not be the job's own. `tell` hears what is
/// written before it is.
pub fn make_caches(
    job: &Path,
    plan: &Plan,
    store: &mut StoreReader,
    formats: &[Format],
    frames: &[i64],
    folder: &Path,
    tell: &mut dyn FnMut(&str),
) -> Result<Vec<CacheFile>, Failure> {
    if formats.is_empty() {
        return Ok(Vec::new());
    }
    if formats.contains(&Format::Glb) && (plan.output.unit != Unit::Metre || plan.output.up != UpAxis::Y) {
        tell("GLB files are in metres and Y up, as glTF says; `unit` and `up` are for the other formats");
    }
    let cached = plan.cached_meshes();
    let mut meshes = Vec::new();
    for mesh in &cached {
        let body = plan.body(mesh.body);
        let polygons = read_rest_mesh(job, &rest_file(body, mesh.is_render))?;
        // What tetrahedra carry is in the store; other render meshes follow the simulated one.
        let in_store = names::stored_render(&body.name);
        let is_bound = mesh.is_render && !store.header().objects.iter().any(|object| object.name == in_store);
        let bound = is_bound.then(|| bind(job, plan, body, &polygons)).transpose()?;
        if let Some(BoundMesh { fit, .. }) = &bound {
            let (name, vertices, outside) = (&mesh.name, fit.vertices, fit.outside);
            let rest = names::render_rest_file(&body.name);
            let rest = rest.display();
            tell(&format!(
                "caches of \"{name}\" hold its render mesh, {vertices} vertices ({outside} beside its object); its rest mesh \
                 is {rest}"
            ));
        }
        meshes.push((polygons, bound));
    }
    let mut targets = Vec::new();
    let stored: Vec<String> = cached
        .iter()
        .zip(&meshes)
        .map(|(mesh, (_, bound))| {
            let name = &plan.body(mesh.body).name;
            if mesh.is_render && bound.is_none() { names::stored_render(name) } else { name.clone() }
        })
        .collect();
    for ((mesh, (polygons, bound)), stored) in cached.iter().zip(&meshes).zip(&stored) {
        let body = plan.body(mesh.body);
        let target = |&format: &Format| Target {
            stored,
            object: &mesh.name,
            mesh: polygons,
            deform: bound.as_ref().map(|bound| bound as &dyn Deform),
            format,
            coordinates: Coordinates::new(&plan.output, &body.placement),
            glb: plan.output.glb,
        };
        targets.extend(formats.iter().map(target));
    }
    let file_name = |object: &str, format: Format, frame| plan.cache_file(object, format, frame);
    let written = convert(store, &targets, frames, folder, &file_name, &mut |text| tell(&text))?;
    let entries = written
        .iter()
        .flat_map(|cache| cache.files.iter().map(|file| CacheFile::new(folder, file, cache.format, &cache.object)));
    Ok(entries.collect())
}

/// Ties a render mesh to its body, both as they are in the job.
pub(super) fn bind(job: &Path, plan: &Plan, body: &PlannedBody, render: &PolyMesh) -> Result<BoundMesh, Failure> {
    let coordinates = Coordinates::new(&plan.output, &body.placement);
    let in_world = |mesh: &PolyMesh| {
        let positions = mesh.positions.iter().map(|&p| coordinates.to_world(p)).collect();
        PolyMesh { positions, ..mesh.clone() }
    };
    let simulated = read_rest_mesh(job, &names::rest_file(&body.name))?;
    Ok(BoundMesh::build(&in_world(&simulated), &in_world(render)))
}

pub(super) fn read_rest_mesh(job: &Path, file: &Path) -> Result<PolyMesh, Failure> {
    let path = job.join(file);
    let remedy = "bake the scene again with --restart";
    let bytes = std::fs::read(&path).map_err(|error| {
        Failure::new(Exit::InputOutput, format!("cannot read the rest mesh {}: {error}", path.display()), remedy)
    })?;
    let unusable = |message| {
        Failure::new(Exit::InvalidInput, format!("the rest mesh {} is damaged: {message}", path.display()), remedy)
    };
    let file = obj::parse(&path, &bytes).map_err(|problem| unusable(problem.message))?;
    let mut mesh = file.select(None).map_err(|choice| unusable(choice.message))?;
    // Only its own library: those of the artist may lie beside it under the name of another cloth.
    if let Ok(library) = std::fs::read(names::materials_file(&path)) {
        mesh.material_definitions = mtl::parse(&String::from_utf8_lossy(&library));
    }
    Ok(mesh)
}

/// What is wrong with meshes when it comes to caches: too large for their numbers, or far from their cloth.
pub fn rest_problems(plan: &Plan, model: &Model) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (number, planned) in plan.bodies().enumerate() {
        let coordinates = Coordinates::new(&plan.output, &planned.placement);
        let path = plan.path(number);
        for (is_render, key) in [(false, "mesh"), (true, "render_mesh")] {
            let positions = rest_mesh(model, number, is_render).map(|mesh| rest_positions(&coordinates, mesh));
            let mut points = positions.iter().flatten();
            if let Some(vertex) = points.position(|point| !point.iter().all(|x| x.is_finite())) {
                let message = format!("vertex {vertex} is too far away for a cache file");
                let place = Place::Scene(path.key(key));
                problems.push(Problem::error(place, message).help("check `unit` and `scale`"));
            }
        }
        if let Some(render) = &model.render_meshes[number] {
            let fit = BoundMesh::build(&model.skin(number).surface, render).fit;
            if fit.far > 0 {
                let (far, vertices, farthest) = (fit.far, fit.vertices, fit.farthest);
                let message = format!("{far} of {vertices} vertices are far from its object, up to {farthest:.3} m");
                let place = Place::Scene(path.key("render_mesh"));
                let help = "both meshes should lie in the same place at rest: another `unit`, `up` or pose?";
                problems.push(Problem::warning(place, message).help(help));
            }
        }
    }
    if plan.output.formats.contains(&Format::Glb) {
        let any = FrameRate { numerator: 24, denominator: 1 }; // sizes do not hang on it
        for (mesh, (files, job)) in plan.cached_meshes().iter().zip(glb_jobs(plan, model, any)) {
            if let Some(fault) = job.size_fault(&files) {
                let key = if mesh.is_render { "render_mesh" } else { "mesh" };
                problems.push(Problem::error(Place::Scene(plan.path(mesh.body).key(key)), fault));
            }
        }
    }
    problems
}

/// The GLB files of a scene before it is baked, and what goes into them.
pub fn glb_jobs(plan: &Plan, model: &Model, fps: FrameRate) -> Vec<(Vec<String>, GlbJob)> {
    let job = |cached: CachedMesh| {
        let mesh = rest_mesh(model, cached.body, cached.is_render)?;
        let (frames, glb) = (plan.written_frames.clone(), plan.output.glb);
        let name = |frame| plan.cache_file(&cached.name, Format::Glb, frame);
        let files = format_files(Format::Glb, glb, &frames, name);
        Some((files, GlbJob { mesh: GlbMesh::build(mesh), name: cached.name, frames, fps, glb, grid: None }))
    };
    plan.cached_meshes().into_iter().filter_map(job).collect()
}

/// The mesh behind each entry of `cached_meshes`.
pub fn cached_polygons<'a>(plan: &Plan, model: &'a Model) -> Vec<&'a PolyMesh> {
    let meshes = plan.cached_meshes();
    meshes.iter().filter_map(|cached| rest_mesh(model, cached.body, cached.is_render)).collect()
}

fn rest_positions(coordinates: &Coordinates, mesh: &PolyMesh) -> Vec<[f32; 3]> {
    mesh.positions.iter().map(|p: &Vec3| coordinates.apply(p.map(|x| x as f32).into())).collect()
}
