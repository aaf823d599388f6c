//! Artists' files into polygon meshes, and placed in the world.

pub mod choice;
pub mod gltf;
pub mod image;
pub mod kept;
pub mod mtl;
pub mod obj;

use std::path::Path;

use choice::Choice;

use crate::math::affine::Affine;
use crate::math::motion::rotation_from_degrees;
use crate::math::{Mat3, Vec3};
use crate::mesh::animated::AnimatedMesh;
use crate::mesh::generate;
use crate::mesh::surface::PolyMesh;
use crate::scene::problem::{KeyPath, Place, Problem};
use crate::scene::{MeshSource, Placement, UpAxis};

/// A file that a bake depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputFile {
    /// As written in the scene file.
    pub typed: String,
    /// Size.
    pub bytes: u64,
    /// XXH3-128 of its content, in hexadecimal.
    pub xxh3: String,
}

impl InputFile {
    /// The fingerprint of a file's content.
    pub fn new(typed: &str, bytes: &[u8]) -> Self {
        let xxh3 = format!("{:032x}", xxhash_rust::xxh3::xxh3_128(bytes));
        InputFile { typed: typed.to_owned(), bytes: bytes.len() as u64, xxh3 }
    }
}

/// A mesh in world coordinates, and the files it came from.
#[derive(Clone, Debug)]
pub struct Asset {
    /// The mesh, placed in the world [m]; an animated one in its bind pose.
    pub mesh: PolyMesh,
    /// How its vertices move, placed in the world too; `None` if nothing in the file can move them.
    pub animated: Option<AnimatedMesh>,
    /// None for a generated mesh, more than one for a file that names others.
    pub inputs: Vec<InputFile>,
    /// What of the file was left out.
    pub warnings: Vec<Problem>,
}

impl Asset {
    /// A mesh that nothing moves.
    fn still(mesh: PolyMesh, inputs: Vec<InputFile>) -> Self {
        Asset { mesh, animated: None, inputs, warnings: Vec::new() }
    }
}

/// Read and place the mesh of one scene object; `place` is that object's path in the scene file.
pub fn read(source: &MeshSource, placement: &Placement, place: &KeyPath) -> Result<Asset, Problem> {
    let mut asset = match source {
        MeshSource::Sheet { vertices, size, quads } => {
            let make = if *quads { generate::quad_sheet } else { generate::sheet };
            Asset::still(make(*vertices, *size), Vec::new())
        }
        MeshSource::Cuboid { size, vertices } => Asset::still(generate::cuboid(*size, *vertices), Vec::new()),
        MeshSource::Ball { radius, vertices } => Asset::still(generate::ball(*radius, *vertices), Vec::new()),
        MeshSource::Sphere { radius, rings, segments } => {
            Asset::still(generate::sphere(*radius, *rings, *segments), Vec::new())
        }
        MeshSource::Torus { radius, tube, around, across } => {
            Asset::still(generate::torus(*radius, *tube, *around, *across), Vec::new())
        }
        MeshSource::Disc { radius, inner, rim } => Asset::still(generate::disc(*radius, *inner, *rim), Vec::new()),
        MeshSource::File { typed, path, object } => {
            read_file(typed, path, object.as_deref()).map_err(|error| match error {
                FileError::Unusable(problem) => problem,
                FileError::Choice(choice) => {
                    let at = if object.is_some() { place.key("object") } else { place.key("mesh") };
                    Problem::error(Place::Scene(at), format!("{}: {}", typed, choice.message)).help(choice.help)
                }
            })?
        }
    };
    let rotation = rotation_from_degrees(placement.rotate);
    let placed = |p: Vec3| rotation * (to_y_up(p, placement.up) * placement.scale) + placement.translate;
    asset.mesh.positions.iter_mut().for_each(|p| *p = placed(*p));
    for n in &mut asset.mesh.normals {
        *n = rotation * to_y_up(*n, placement.up);
    }
    let axes = [Vec3::x(), Vec3::y(), Vec3::z()].map(|axis| rotation * (to_y_up(axis, placement.up) * placement.scale));
    let affine = Affine { linear: Mat3::from_columns(&axes), shift: placement.translate };
    asset.animated = asset.animated.map(|animated| animated.placed(&affine));
    if let Some(v) = asset.mesh.positions.iter().position(|p| !p.iter().all(|x| x.is_finite())) {
        let message = format!("vertex {v} is too large for its unit and scale");
        return Err(Problem::error(Place::Scene(place.key("mesh")), message).help("check `unit` and `scale`"));
    }
    Ok(asset)
}

/// Why a file gives no mesh.
enum FileError {
    Unusable(Problem),
    Choice(Choice),
}

fn read_file(typed: &str, path: &Path, object: Option<&str>) -> Result<Asset, FileError> {
    let bytes = read_bytes(path).map_err(FileError::Unusable)?;
    let mut inputs = vec![InputFile::new(typed, &bytes)];
    let folder = typed.rfind(['/', '\\']).map_or("", |slash| &typed[..=slash]);
    let typed = |name: &str| {
        let is_whole = name.starts_with("file://") || Path::new(name).is_absolute();
        if is_whole { name.to_owned() } else { format!("{folder}{name}") }
    };
    if !is_gltf(path) {
        let file = obj::parse(path, &bytes).map_err(FileError::Unusable)?;
        let mut mesh = file.select(object).map_err(FileError::Choice)?;
        let libraries = mtl::read_libraries(&mut mesh, path.parent().unwrap_or(Path::new("")));
        inputs.extend(libraries.into_iter().map(|file| InputFile { typed: typed(&file.typed), ..file }));
        return Ok(Asset::still(mesh, inputs));
    }
    let file = gltf::parse(path, &bytes).map_err(FileError::Unusable)?;
    let selection = file.select(object).map_err(FileError::Choice)?;
    inputs.extend(file.external_files().iter().map(|file| InputFile {
        typed: typed(&file.uri),
        bytes: file.bytes,
        xxh3: file.xxh3.clone(),
    }));
    let gltf::Loaded { mesh, animated, warnings } = file.load(&selection).map_err(FileError::Unusable)?;
    Ok(Asset { mesh, animated, inputs, warnings })
}

/// Whether a file is read as glTF, by its name.
pub fn is_gltf(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    ["gltf", "glb"].contains(&extension.as_str())
}

fn to_y_up(p: Vec3, up: UpAxis) -> Vec3 {
    match up {
        UpAxis::Y => p,
        UpAxis::Z => Vec3::new(p.x, p.z, -p.y),
    }
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, Problem> {
    std::fs::read(path).map_err(|error| {
        Problem::error(Place::File(path.to_owned()), format!("cannot read the mesh: {error}"))
            .help("check the path and its permissions; relative paths start at the scene file")
    })
}
