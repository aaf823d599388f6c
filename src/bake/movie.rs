//! What a bake, or an animated glTF file, looks like: meshes, and where their vertices are in every frame. Pictures and previews see nothing
//! else of a job.
//!
//! All coordinates are metres, Y up, in the world. A bake that is still running has the frames that are stored so far; `refresh` finds more.

use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::exit::{Exit, Failure};
use super::outputs::{Plan, bind, read_rest_mesh};
use super::render::BoundMesh;
use crate::cache::convert::{Coordinates, Deform};
use crate::cache::frames_log::{self, FrameRecord};
use crate::cache::manifest::{Manifest, Status};
use crate::cache::names;
use crate::cache::store::{StoreReader, StoredFrame};
use crate::import::gltf::{self, GltfFile, Loaded, Selection};
use crate::math::Vec3;
use crate::mesh::animated::AnimatedMesh;
use crate::mesh::surface::PolyMesh;
use crate::mesh::triangulate::triangulate;
use crate::scene::{Gates, RenderWrite};

/// Frames per second of a file whose keys are not evenly spaced.
const USUAL_RATE: f64 = 30.0;
/// Rates that the distance of keys is believed to mean.
const RATES: std::ops::RangeInclusive<f64> = 10.0..=120.0;
/// Most frames that an animation in a file is shown with: an hour at 24 a second, and some more.
const MOST_FRAMES: f64 = 100_000.0;
/// Numbers of frames that every JSON reader takes as they are: below 2 to the 53.
const NUMBERS: std::ops::RangeInclusive<i64> = -(1 << 53)..=1 << 53;

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A simulated cloth.
    Cloth,
    /// A soft body.
    SoftBody,
    /// A mesh that follows a cloth or soft body.
    Render,
    /// What the others collide with.
    Collider,
    /// A mesh of a glTF file.
    Mesh,
}

/// An object of a movie.
#[derive(Clone, Debug)]
pub struct MovieObject {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// Vertices at rest.
    pub rest: Vec<[f32; 3]>,
    /// Its polygons, cut as the simulation cuts them.
    pub triangles: Vec<[u32; 3]>,
    /// Which triangles are one polygon: how many corners, and how many such polygons follow each other.
    pub faces: Vec<[u32; 2]>,
    /// sRGB.
    pub colour: [f32; 3],
    /// Whether it is shown unless asked for: what stands behind a render mesh is not.
    pub is_shown: bool,
    /// Whether lengths at rest are those of `rest`.
    pub has_lengths: bool,
    /// Largest stretch that it promises.
    pub max_stretch: Option<f64>,
    /// Whether it never moves.
    pub is_still: bool,
    /// What it keeps between itself and others [m].
    pub thickness: f64,
    /// The object that it follows.
    pub follows: Option<String>,
}

/// Something to look at.
pub struct Movie {
    /// The scene's or the file's name.
    pub title: String,
    /// Frames per second.
    pub fps: f64,
    /// The numbers of the frames that there are, ascending.
    pub frames: Vec<i64>,
    /// First and last of all that there will be.
    pub planned: [i64; 2],
    /// In the order of `read`.
    pub objects: Vec<MovieObject>,
    /// How far the bake is; none of a file.
    pub status: Option<Status>,
    /// Why it failed.
    pub message: Option<String>,
    /// What it has to keep.
    pub gates: Gates,
    /// The job folder, or the file.
    pub path: PathBuf,
    source: Source,
}

enum Source {
    Job(Box<JobSource>),
    Files(Vec<FileObject>),
}

/// The stores of a job. They are opened anew while it is running.
struct JobSource {
    bodies: Option<StoreReader>,
    colliders: Option<StoreReader>,
    parts: Vec<Part>,
    stored: StoredFrame,
}

/// Where the vertices of an object come from.
enum Part {
    /// An object of the store of bodies.
    Stored(String),
    /// A mesh that follows one.
    Bound(String, Box<BoundMesh>),
    /// An object of the store of colliders.
    Moving(String),
    /// Its rest.
    Still,
}

enum FileObject {
    Still(Vec<[f32; 3]>),
    Animated {
        mesh: Box<AnimatedMesh>,
        clip: usize,
        first_frame: i64,
        fps: f64,
    },
    /// Raw frames beside the file.
    Stream {
        path: PathBuf,
        vertices: usize,
    },
}

fn unusable(path: &Path, cause: impl std::fmt::Display, remedy: &str) -> Failure {
    Failure::new(Exit::InvalidInput, format!("{}: {cause}", path.display()), remedy)
}

impl Movie {
    /// Of a job folder, of the store in one, or of a glTF file.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let metadata = fs::metadata(path).map_err(|error| {
            let exit =
                if error.kind() == std::io::ErrorKind::NotFound { Exit::InvalidInput } else { Exit::InputOutput };
            Failure::new(exit, format!("cannot read {}: {error}", path.display()), "check the path")
        })?;
        if metadata.is_dir() {
            return Self::of_job(path);
        }
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        match extension.as_str() {
            "glb" | "gltf" => Self::of_file(path),
            "kc" | "partial" | "json" | "jsonl" => {
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
                Self::of_job(folder)
            }
            _ => Err(unusable(
                path,
                "this is nothing that can be looked at",
                "name a job folder, its bake.kc, or a .glb or .gltf file",
            )),
        }
    }

    fn of_job(folder: &Path) -> Result<Self, Failure> {
        let manifest_path = folder.join(names::MANIFEST_FILE);
        if !manifest_path.is_file() {
            let cause = format!("this is not a job folder: it has no {}", names::MANIFEST_FILE);
            return Err(unusable(folder, cause, "name the folder that `kiln bake` wrote"));
        }
        let manifest = Manifest::read(&manifest_path)?;
        let plan = Plan::from_json(&manifest.scene)?;
        let part = |name: &str| manifest.scene["fps"][name].as_f64().filter(|part| *part > 0.0);
        let Some((numerator, denominator)) = part("numerator").zip(part("denominator")) else {
            return Err(unusable(&manifest_path, "the scene has no frame rate", "bake it again"));
        };
        let fps = numerator / denominator;
        if !is_rate(fps) {
            return Err(unusable(
                &manifest_path,
                format!("it has {fps} frames per second, more than {}", gltf::FASTEST),
                "bake it with fewer",
            ));
        }
        let (mut objects, mut parts) = (Vec::new(), Vec::new());
        let bodies = open_store(folder, names::STORE_FILE)?;
        let stored =
            |name: &str| bodies.iter().any(|store| store.header().objects.iter().any(|object| object.name == name));
        for number in 0..plan.bodies().count() {
            let body = plan.body(number);
            let coordinates = Coordinates::new(&plan.output, &body.placement);
            let mesh = in_world(&coordinates, read_rest_mesh(folder, &names::rest_file(&body.name))?);
            let is_cloth = number < plan.cloths.len();
            let text = if is_cloth {
                &manifest.scene["cloths"][number]
            } else {
                &manifest.scene["soft_bodies"][number - plan.cloths.len()]
            };
            let is_replaced = body.render_mesh.as_ref().is_some_and(|render| render.write == RenderWrite::Instead);
            let mut object =
                MovieObject::new(&body.name, if is_cloth { Kind::Cloth } else { Kind::SoftBody }, &mesh, objects.len());
            object.is_shown = !is_replaced;
            object.has_lengths = is_cloth && text["rest"] == "mesh" && text["rest_scale"].as_f64() == Some(1.0);
            object.max_stretch = text["fabric"]["max_stretch"].as_f64();
            let material = if is_cloth { &text["fabric"] } else { &text["flesh"] };
            object.thickness = material["thickness"].as_f64().unwrap_or_default();
            let (colour, thickness) = (object.colour, object.thickness);
            objects.push(object);
            parts.push(Part::Stored(body.name.clone()));
            if body.render_mesh.is_some() {
                let polygons = read_rest_mesh(folder, &names::render_rest_file(&body.name))?;
                let in_store = names::stored_render(&body.name);
                parts.push(match stored(&in_store) {
                    true => Part::Stored(in_store),
                    false => Part::Bound(body.name.clone(), Box::new(bind(folder, &plan, body, &polygons)?)),
                });
                let mesh = in_world(&coordinates, polygons);
                let name = crate::scene::render_name(&body.name);
                objects.push(MovieObject {
                    colour,
                    is_shown: is_replaced,
                    thickness,
                    follows: Some(body.name.clone()),
                    ..MovieObject::new(&name, Kind::Render, &mesh, 0)
                });
            }
        }
        let colliders = open_store(folder, names::COLLIDER_STORE_FILE)?;
        for (number, collider) in plan.colliders.iter().enumerate() {
            let file = names::collider_file(&collider.name);
            if !folder.join(&file).is_file() {
                continue; // a bake without `output.colliders`, or an older one
            }
            let text = &manifest.scene["colliders"][number];
            let thickness = text["thickness"].as_f64().unwrap_or_default();
            let mesh = in_world(&Coordinates::in_world(&plan.output), read_rest_mesh(folder, &file)?);
            let moves = |store: &StoreReader| store.header().objects.iter().any(|object| object.name == collider.name);
            let is_still = !colliders.as_ref().is_some_and(moves);
            parts.push(if is_still { Part::Still } else { Part::Moving(collider.name.clone()) });
            objects.push(MovieObject {
                is_still,
                thickness,
                ..MovieObject::new(&collider.name, Kind::Collider, &mesh, objects.len())
            });
        }
        let source = JobSource { bodies, colliders, parts, stored: StoredFrame::default() };
        let mut movie = Movie {
            title: plan.name.clone(),
            fps,
            frames: Vec::new(),
            planned: [manifest.frames.first, manifest.frames.last],
            objects,
            status: Some(manifest.status),
            message: manifest.message,
            gates: plan.gates,
            path: folder.to_owned(),
            source: Source::Job(Box::new(source)),
        };
        movie.take_frames();
        Ok(movie)
    }

    fn of_file(path: &Path) -> Result<Self, Failure> {
        let bytes = fs::read(path).map_err(|error| {
            Failure::new(
                Exit::InputOutput,
                format!("cannot read {}: {error}", path.display()),
                "check the path and its permissions",
            )
        })?;
        let refused = |problem: crate::scene::problem::Problem| {
            let help = problem.help.clone().unwrap_or_else(|| "export it again".to_owned());
            unusable(path, &problem.message, &help)
        };
        let file = gltf::parse(path, &bytes).map_err(refused)?;
        let selections = file.every_object();
        if selections.is_empty() {
            return Err(unusable(
                path,
                "the scene of the file shows no mesh",
                "export a mesh together with the scene that shows it",
            ));
        }
        let loaded = selections.iter().map(|selection| file.load(selection)).collect::<Result<Vec<Loaded>, _>>();
        let loaded = loaded.map_err(refused)?;
        let (fps, first_frame, count) = timing(path, &file, &loaded)?;
        let mut frames: Vec<i64> = (0..count).map(|frame| first_frame + frame).collect();
        let (mut objects, mut sources, mut fps) = (Vec::new(), Vec::new(), fps);
        for (selection, Loaded { mesh, animated, .. }) in selections.iter().zip(loaded) {
            let mut object = MovieObject::new(&selection.name, Kind::Mesh, &mesh, objects.len());
            let stream = file.noted_stream(selection).map(|noted| stream(path, noted, selection, mesh.positions.len()));
            sources.push(match (stream.transpose()?, animated) {
                (Some((source, numbers, rate)), _) => {
                    (frames, fps) = (numbers, rate);
                    source
                }
                (None, Some(mesh)) => FileObject::Animated { mesh: Box::new(mesh), clip: 0, first_frame, fps },
                (None, None) => {
                    object.is_still = true;
                    FileObject::Still(object.rest.clone())
                }
            });
            objects.push(object);
        }
        let planned = [frames.first(), frames.last()].map(|frame| frame.copied().unwrap_or_default());
        let title = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (gates, path, source) = (Gates::default(), path.to_owned(), Source::Files(sources));
        Ok(Movie { title, fps, frames, planned, objects, status: None, message: None, gates, path, source })
    }

    /// Frames that both stores of a job have.
    fn take_frames(&mut self) {
        if let Source::Job(job) = &self.source {
            let mut frames = job.bodies.as_ref().map(|store| store.frames().to_vec()).unwrap_or_default();
            if let Some(colliders) = &job.colliders {
                frames.truncate(colliders.frames().len());
            }
            self.frames = frames;
        }
    }

    /// Look whether a bake that is running has come further.
    pub fn refresh(&mut self) -> Result<(), Failure> {
        if self.status != Some(Status::Running) {
            return Ok(());
        }
        let manifest = Manifest::read(&self.path.join(names::MANIFEST_FILE))?;
        if let Source::Job(job) = &mut self.source {
            let bodies = open_store(&self.path, names::STORE_FILE)?;
            let colliders = open_store(&self.path, names::COLLIDER_STORE_FILE)?;
            job.check(&self.path, &self.objects, [&bodies, &colliders])?;
            (job.bodies, job.colliders) = (bodies, colliders);
        }
        // Not before the stores were opened: of a bake that has ended nobody asks for more frames.
        (self.status, self.message) = (Some(manifest.status), manifest.message);
        self.take_frames();
        Ok(())
    }

    /// The vertices of all objects in a frame, by its place in `frames`.
    pub fn read(&mut self, place: usize, vertices: &mut Vec<Vec<[f32; 3]>>) -> Result<(), Failure> {
        let Some(&frame) = self.frames.get(place) else {
            let cause = format!("there is no frame at place {place}; there are {}", self.frames.len());
            return Err(unusable(&self.path, cause, "choose one of its frames"));
        };
        vertices.resize_with(self.objects.len(), Vec::new);
        match &mut self.source {
            Source::Job(job) => job.read(place, &self.objects, vertices),
            Source::Files(files) => {
                for ((file, object), vertices) in files.iter().zip(&self.objects).zip(vertices) {
                    file.read(place, frame, vertices)?;
                    if !vertices.as_flattened().iter().all(|x| x.is_finite()) {
                        let cause = format!("frame {frame} of `{}` has numbers that are not finite", object.name);
                        return Err(unusable(&self.path, cause, "bake or export it again"));
                    }
                }
                Ok(())
            }
        }
    }

    /// The figures of all frames; none of a file.
    pub fn records(&self) -> Result<Vec<FrameRecord>, Failure> {
        let log = self.path.join(names::FRAMES_LOG_FILE);
        if self.status.is_none() || !log.is_file() {
            return Ok(Vec::new());
        }
        Ok(frames_log::read(&log)?)
    }

    /// How many vertices all objects have.
    pub fn vertex_count(&self) -> usize {
        self.objects.iter().map(|object| object.rest.len()).sum()
    }
}

impl JobSource {
    /// Whether stores that were opened anew have the meshes of before: a bake may have been started again with others.
    fn check(&self, folder: &Path, objects: &[MovieObject], stores: [&Option<StoreReader>; 2]) -> Result<(), Failure> {
        for (part, object) in self.parts.iter().zip(objects) {
            let (store, name, count) = match part {
                Part::Stored(name) => (stores[0], name, Some(object.rest.len())),
                Part::Bound(name, _) => (stores[0], name, None),
                Part::Moving(name) => (stores[1], name, Some(object.rest.len())),
                Part::Still => continue,
            };
            let Some(store) = store else { continue };
            let count = count.or_else(|| objects.iter().find(|o| o.name == *name).map(|o| o.rest.len()));
            let found = store.header().objects.iter().find(|known| known.name == *name);
            if found.map(|known| known.vertex_count) != count {
                let cause = format!("`{name}` is no longer the mesh it was; the bake was started again");
                return Err(unusable(folder, cause, "start the preview again"));
            }
        }
        Ok(())
    }

    fn read(&mut self, place: usize, objects: &[MovieObject], vertices: &mut [Vec<[f32; 3]>]) -> Result<(), Failure> {
        let JobSource { bodies, colliders, parts, stored } = self;
        for (store, of_colliders) in [(bodies, false), (colliders, true)] {
            let Some(store) = store else { continue };
            store.read(place, stored)?;
            let known = |name: &str| store.header().objects.iter().position(|object| object.name == name);
            for ((part, object), vertices) in parts.iter().zip(objects).zip(vertices.iter_mut()) {
                match part {
                    Part::Stored(name) | Part::Moving(name) if matches!(part, Part::Moving(_)) == of_colliders => {
                        let positions = known(name).map(|number| &stored.objects[number].positions);
                        let positions = positions.filter(|positions| positions.len() == object.rest.len());
                        let Some(positions) = positions else {
                            let cause = format!("`{name}` does not have the vertices of its rest mesh");
                            return Err(unusable(store.path(), cause, "bake the scene again with --restart"));
                        };
                        vertices.clone_from(positions);
                    }
                    Part::Bound(name, bound) if !of_colliders => {
                        if let Some(number) = known(name) {
                            bound.deform(&stored.objects[number].positions, vertices);
                        }
                    }
                    Part::Still => vertices.clone_from(&object.rest),
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

impl FileObject {
    fn read(&self, place: usize, frame: i64, vertices: &mut Vec<[f32; 3]>) -> Result<(), Failure> {
        match self {
            FileObject::Still(rest) => vertices.clone_from(rest),
            FileObject::Animated { mesh, clip, first_frame, fps } => {
                let pose = mesh.pose(*clip, (frame - first_frame) as f64 / fps, 1.0);
                let vertex = |vertex: usize| mesh.vertex(&pose, vertex).map(|x| x as f32).into();
                (0..mesh.vertex_count()).into_par_iter().with_min_len(4096).map(vertex).collect_into_vec(vertices);
            }
            FileObject::Stream { path, vertices: count } => {
                use std::io::{Read, Seek, SeekFrom};
                let mut bytes = vec![0; 12 * count];
                let read = || -> std::io::Result<()> {
                    let mut file = fs::File::open(path)?;
                    file.seek(SeekFrom::Start((place * bytes.len()) as u64))?;
                    file.read_exact(&mut bytes)
                };
                read_stream(path, read)?;
                let number = |at: usize, n: usize| {
                    let at = 12 * at + 4 * n;
                    f32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
                };
                vertices.clear();
                vertices.extend((0..*count).map(|at| [number(at, 0), number(at, 1), number(at, 2)]));
            }
        }
        Ok(())
    }
}

fn read_stream(path: &Path, read: impl FnOnce() -> std::io::Result<()>) -> Result<(), Failure> {
    read().map_err(|error| {
        let cause = format!("cannot read the raw frames {}: {error}", path.display());
        Failure::new(Exit::InputOutput, cause, "keep the file beside its GLB, or bake again")
    })
}

/// Whether frames can follow each other that fast.
fn is_rate(fps: f64) -> bool {
    fps > 0.0 && fps <= gltf::FASTEST
}

/// Frames per second, the number of the first frame and how many there are.
fn timing(path: &Path, file: &GltfFile, loaded: &[Loaded]) -> Result<(f64, i64, i64), Failure> {
    let animated = || loaded.iter().filter_map(|loaded| loaded.animated.as_ref());
    let length = animated().filter_map(|mesh| mesh.clips().first().map(|clip| clip.1)).fold(0.0, f64::max);
    let noted = file.noted_frames().filter(|(fps, first)| is_rate(*fps) && NUMBERS.contains(first));
    let (fps, first) = noted.unwrap_or_else(|| {
        let gap = animated().filter_map(|mesh| mesh.shortest_key_gap(0)).min_by(f64::total_cmp);
        let rate = gap.map(|gap| (1.0 / gap).round()).filter(|rate| RATES.contains(rate));
        (rate.unwrap_or(USUAL_RATE), 0)
    });
    // The last key is a frame of its own, rounding or not.
    let count = (length * fps + 1e-3).floor() + 1.0;
    if !(1.0..=MOST_FRAMES).contains(&count) {
        let count = if count < 1e15 { format!("{count}") } else { format!("{count:.0e}") };
        let cause = format!("its animation has {count} frames, more than {MOST_FRAMES}");
        return Err(unusable(path, cause, "export a shorter one"));
    }
    Ok((fps, first, count as i64))
}

/// The raw frames that Kiln has noted in a GLB, their numbers and frames per second.
fn stream(
    path: &Path,
    noted: &serde_json::Value,
    selection: &Selection,
    vertices: usize,
) -> Result<(FileObject, Vec<i64>, f64), Failure> {
    let wrong = |what: &str| {
        let cause = format!("the raw frames of `{}` are described wrongly: {what}", selection.name);
        unusable(path, cause, "bake it again")
    };
    let uri = noted["uri"].as_str().ok_or_else(|| wrong("no file is named"))?;
    if uri.contains(['/', '\\']) || uri.contains("..") {
        return Err(wrong("the file is not beside the GLB"));
    }
    if noted["vertices"].as_u64() != Some(vertices as u64) {
        return Err(wrong("they have other vertices"));
    }
    let fps = noted["fps"][0].as_f64().zip(noted["fps"][1].as_f64()).map(|(n, d)| n / d).filter(|fps| is_rate(*fps));
    let fps = fps.ok_or_else(|| wrong("their frame rate is not one between 0 and 1000"))?;
    let path = path.with_file_name(uri);
    let bytes = fs::metadata(&path).map_err(|error| {
        let cause = format!("cannot read the raw frames {}: {error}", path.display());
        Failure::new(Exit::InvalidInput, cause, "keep the file beside its GLB")
    })?;
    let stored = bytes.len() / (12 * vertices.max(1) as u64);
    let frames = &noted["frames"];
    let count = match frames.as_array() {
        Some(numbers) => Some(numbers.len() as u64),
        None => frames["count"].as_u64(),
    };
    // Before the numbers are made: a file may claim any number of them.
    if count.is_some_and(|count| count > stored) {
        return Err(unusable(&path, "the file is too short for its frames", "copy it again, or bake again"));
    }
    let numbers: Option<Vec<i64>> = match frames.as_array() {
        Some(numbers) => numbers.iter().map(serde_json::Value::as_i64).collect(),
        None => (|| {
            let (first, step) = (frames["first"].as_i64()?, frames["step"].as_i64()?);
            (0..count? as i64).map(|n| n.checked_mul(step)?.checked_add(first)).collect()
        })(),
    };
    let numbers = numbers.filter(|numbers| numbers.iter().all(|number| NUMBERS.contains(number)));
    let numbers = numbers.ok_or_else(|| wrong("no frames are named"))?;
    if !numbers.is_sorted_by(|a, b| a < b) {
        return Err(wrong("the numbers of the frames do not ascend"));
    }
    Ok((FileObject::Stream { path, vertices }, numbers, fps))
}

/// A store of a job, finished or not; none where there is none yet.
fn open_store(folder: &Path, name: &str) -> Result<Option<StoreReader>, Failure> {
    let finished = folder.join(name);
    // A bake may finish between two looks.
    for path in [finished.clone(), names::partial(&finished), finished] {
        match StoreReader::open(&path) {
            Ok(store) => return Ok(Some(store)),
            Err(_) if !path.exists() => {}
            // The header of one that was started just now may not be there yet.
            Err(_) if names::is_partial(&path) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}

fn in_world(coordinates: &Coordinates, mesh: PolyMesh) -> PolyMesh {
    PolyMesh { positions: mesh.positions.iter().map(|&p| coordinates.to_world(p)).collect(), ..mesh }
}

/// Colours of things that follow each other in a scene; colliders are grey.
const COLOURS: [[f32; 3]; 8] = [
    [0.85, 0.36, 0.32],
    [0.26, 0.55, 0.76],
    [0.93, 0.69, 0.27],
    [0.38, 0.66, 0.46],
    [0.60, 0.44, 0.72],
    [0.35, 0.70, 0.71],
    [0.87, 0.54, 0.65],
    [0.62, 0.57, 0.47],
];
const GREY: [f32; 3] = [0.66, 0.67, 0.69];

/// A part of a linear colour as screens show it.
fn srgb(linear: f64) -> f32 {
    let linear = linear.clamp(0.0, 1.0);
    (if linear <= 0.003_130_8 { 12.92 * linear } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 }) as f32
}

impl MovieObject {
    fn new(name: &str, kind: Kind, mesh: &PolyMesh, number: usize) -> Self {
        let (mut triangles, mut faces) = (Vec::new(), Vec::<[u32; 2]>::new());
        for face in 0..mesh.face_count() {
            let corners = mesh.face(face);
            let points: Vec<Vec3> = corners.iter().map(|corner| mesh.positions[corner.position as usize]).collect();
            let ears = triangulate(&points);
            let sides = ears.len() as u32 + 2;
            match faces.last_mut().filter(|run| run[0] == sides) {
                Some(run) => run[1] += 1,
                None => faces.push([sides, 1]),
            }
            triangles.extend(ears.into_iter().map(|ear| ear.map(|corner| corners[corner].position)));
        }
        // What another tool has coloured keeps its colour.
        let own = mesh.material_definitions.first().filter(|_| kind == Kind::Mesh).map(|material| material.base_color);
        let own = own.filter(|colour| colour[..3] != [1.0; 3]).map(|[r, g, b, _]| [r, g, b].map(srgb));
        MovieObject {
            name: name.to_owned(),
            kind,
            rest: mesh.positions.iter().map(|p| p.map(|x| x as f32).into()).collect(),
            triangles,
            faces,
            colour: match own {
                Some(colour) => colour,
                None if kind == Kind::Collider => GREY,
                None => COLOURS[number % COLOURS.len()],
            },
            is_shown: true,
            has_lengths: false,
            max_stretch: None,
            is_still: false,
            thickness: 0.0,
            follows: None,
        }
    }
}
