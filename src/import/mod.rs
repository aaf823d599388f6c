//! Artists' files into polygon meshes, and placed in the world.

pub mod obj;

use std::path::Path;

use crate::math::Vec3;
use crate::math::motion::rotation_from_degrees;
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

/// A mesh in world coordinates, and the files it came from.
#[derive(Clone, Debug)]
pub struct Asset {
    /// The mesh, placed in the world [m]; an animated one in its bind pose.
    pub mesh: PolyMesh,
    /// How its vertices move, placed in the world too; `None` if nothing in the file can move them.
    pub animated: Option<AnimatedMesh>,
    /// None for a generated mesh, more than one for a file that names others.
    pub inputs: Vec<InputFile>,
}

/// Read and place the mesh of one scene object; `place` is that object's path in the scene file.
pub fn read(source: &MeshSource, placement: &Placement, place: &KeyPath) -> Result<Asset, Problem> {
    let (mut mesh, inputs) = match source {
        MeshSource::Sheet { vertices, size } => (generate::sheet(*vertices, *size), Vec::new()),
        MeshSource::Disc { radius, inner, rim } => (generate::disc(*radius, *inner, *rim), Vec::new()),
        MeshSource::File { typed, path, object } => {
            let bytes = read_bytes(path)?;
            let file = obj::parse(path, &bytes)?;
            let mesh = file.select(object.as_deref()).map_err(|choice| {
                let at = if object.is_some() { place.key("object") } else { place.key("mesh") };
                Problem::error(Place::Scene(at), format!("{}: {}", typed, choice.message)).help(choice.help)
            })?;
            let xxh3 = format!("{:032x}", xxhash_rust::xxh3::xxh3_128(&bytes));
            (mesh, vec![InputFile { typed: typed.clone(), bytes: bytes.len() as u64, xxh3 }])
        }
    };
    let rotation = rotation_from_degrees(placement.rotate);
    for p in &mut mesh.positions {
        *p = rotation * (to_y_up(*p, placement.up) * placement.scale) + placement.translate;
    }
    for n in &mut mesh.normals {
        *n = rotation * to_y_up(*n, placement.up);
    }
    if let Some(v) = mesh.positions.iter().position(|p| !p.iter().all(|x| x.is_finite())) {
        let message = format!("vertex {v} is too large for its unit and scale");
        return Err(Problem::error(Place::Scene(place.key("mesh")), message).help("check `unit` and `scale`"));
    }
    Ok(Asset { mesh, animated: None, inputs })
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
