//! Scene and meshes into what a solver needs. The model is built once and never changes; `State` is what moves.

pub mod build_cloth;
pub mod build_collider;
pub mod build_pins;
pub mod state;

use std::path::Path;

pub use build_cloth::{ClothModel, Hang};
pub use build_collider::ColliderModel;
pub use state::{ClothState, State};

use crate::import::{self, InputFile};
use crate::mesh::simulation_mesh::SimulationMesh;
use crate::mesh::surface::PolyMesh;
use crate::mesh::topology::Topology;
use crate::scene::problem::{KeyPath, Place, Problem, Severity};
use crate::scene::{MeshSource, Scene, Shape, cloth_path, collider_path};

/// Everything that stays the same during a bake.
#[derive(Debug)]
pub struct Model {
    /// Cloths in the order of the scene.
    pub cloths: Vec<ClothModel>,
    /// Colliders in the order of the scene.
    pub colliders: Vec<ColliderModel>,
    /// The files it was built from, each once.
    pub inputs: Vec<InputFile>,
}

/// Read the meshes and build the model and its first state. Warnings come with success; all errors are found in one run.
pub fn build(scene: &Scene) -> Result<(Model, State, Vec<Problem>), Vec<Problem>> {
    let mut problems = Vec::new();
    let mut model = Model { cloths: Vec::new(), colliders: Vec::new(), inputs: Vec::new() };
    for (number, cloth) in scene.cloths.iter().enumerate() {
        let place = cloth_path(number);
        match import::read(&cloth.mesh, &cloth.placement, &place) {
            Ok(asset) => {
                note_unit(&cloth.mesh, cloth.placement.scale, &asset.mesh.positions, &place, &mut problems);
                remember(&mut model.inputs, asset.inputs);
                model.cloths.extend(ClothModel::build(cloth, asset.mesh, scene, &place, &mut problems));
            }
            Err(problem) => problems.push(problem),
        }
    }
    for (number, collider) in scene.colliders.iter().enumerate() {
        let place = collider_path(number);
        let asset = match &collider.shape {
            Shape::Mesh { mesh, placement } => match import::read(mesh, placement, &place) {
                Ok(asset) => {
                    note_unit(mesh, placement.scale, &asset.mesh.positions, &place, &mut problems);
                    remember(&mut model.inputs, asset.inputs);
                    Some(asset.mesh)
                }
                Err(problem) => {
                    problems.push(problem);
                    continue;
                }
            },
            _ => None,
        };
        model.colliders.extend(ColliderModel::build(collider, asset, &place, &mut problems));
    }
    if problems.iter().any(|problem| problem.severity == Severity::Error) {
        return Err(problems);
    }
    for (number, cloth) in model.cloths.iter().enumerate() {
        for collider in &model.colliders {
            note_overlap(cloth, collider, scene, &cloth_path(number), &mut problems);
        }
    }
    let state = State { cloths: model.cloths.iter().map(ClothState::at_rest).collect(), ..State::default() };
    Ok((model, state, problems))
}

fn remember(known: &mut Vec<InputFile>, inputs: Vec<InputFile>) {
    for input in inputs {
        if !known.contains(&input) {
            known.push(input);
        }
    }
}

/// Larger than this, in metres, a garment or prop was almost certainly modelled in centimetres.
const LARGEST_PLAUSIBLE: f64 = 20.0;

/// Warn about meshes that are too large to be meant in metres.
fn note_unit(
    source: &MeshSource,
    scale: f64,
    positions: &[crate::math::Vec3],
    place: &KeyPath,
    problems: &mut Vec<Problem>,
) {
    let MeshSource::File { typed, .. } = source else {
        return;
    };
    if let Some((low, high)) = crate::mesh::measures::bounds(positions.iter().copied())
        && (high - low).max() > LARGEST_PLAUSIBLE
    {
        let extent = (high - low).max();
        problems.push(
            Problem::warning(
                Place::Scene(place.key("mesh")),
                format!("`{}` is {extent:.0} m large ({:.0} units): centimetres?", file_name(typed), extent / scale),
            )
            .help("add `unit = \"cm\"` to this object, or `unit = \"m\"` with a `scale` if it is meant"),
        );
    }
}

fn file_name(typed: &str) -> &str {
    Path::new(typed).file_name().and_then(|name| name.to_str()).unwrap_or(typed)
}

/// Warn about a cloth that starts inside a collider.
fn note_overlap(
    cloth: &ClothModel,
    collider: &ColliderModel,
    scene: &Scene,
    place: &KeyPath,
    problems: &mut Vec<Problem>,
) {
    let pose = collider.motion.at(scene.first_frame as f64);
    let depth = |p: &crate::math::Vec3| collider.nearest(&pose, *p, 0.0).map_or(0.0, |nearest| -nearest.distance);
    let inside = cloth.mesh.positions.iter().map(depth).filter(|&depth| depth > 0.0);
    let (count, deepest) = inside.fold((0, 0.0_f64), |(count, deepest), depth| (count + 1, deepest.max(depth)));
    if count > 0 {
        let (name, collider) = (&cloth.name, &collider.name);
        let message = format!("`{name}` starts inside of `{collider}`: {count} vertices, {:.1} mm deep", 1e3 * deepest);
        let help = "move one of them; else it is pushed out at 1 m/s, which `preroll` can hide";
        problems.push(Problem::warning(Place::Scene(place.clone()), message).help(help));
    }
}

/// The triangles of an object's polygons and their edges; what was found and done is said, and `None` follows an error.
fn triangles(polygons: &PolyMesh, place: &KeyPath, problems: &mut Vec<Problem>) -> Option<(SimulationMesh, Topology)> {
    let mesh = SimulationMesh::build(polygons);
    let topology = Topology::build(&mesh.triangles);
    let at = || Place::Scene(place.key("mesh"));
    let findings = mesh.findings;
    let non_manifold_edges = topology.edge_triangles.iter().filter(|triangles| triangles.len() > 2).count();
    for (count, what, done) in [
        (
            findings.degenerate_triangles,
            "triangles without area",
            "they are written but take no part in the simulation",
        ),
        (findings.duplicate_triangles, "faces that are drawn twice", "each is simulated once and written as it is"),
        (findings.isolated_vertices, "vertices without a face", "they are written where they are"),
        (non_manifold_edges, "edges with more than two triangles", "simulated as sewn together there"),
    ] {
        if count > 0 {
            problems.push(Problem::warning(at(), format!("the mesh has {count} {what}")).help(done));
        }
    }
    if mesh.triangles.is_empty() {
        let flat = Problem::error(at(), "the mesh has no triangle with an area");
        problems.push(flat.help("check the mesh in its program: all faces are flat lines or points"));
        return None;
    }
    Some((mesh, topology))
}
