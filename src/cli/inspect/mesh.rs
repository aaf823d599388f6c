//! What is in a mesh file.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value as Json, json};

use super::unreadable;
use crate::bake::{Exit, Failure};
use crate::cli::terminal::{is_styled, log};
use crate::import::gltf::{self, GltfFile};
use crate::import::obj;
use crate::math::Vec3;
use crate::mesh::measures::bounds;
use crate::mesh::simulation_mesh::SimulationMesh;
use crate::mesh::surface::PolyMesh;
use crate::mesh::topology::Topology;
use crate::scene::diagnostics;
use crate::scene::problem::Problem;

/// An OBJ file.
pub fn obj(path: &Path) -> Result<Json, Failure> {
    let bytes = std::fs::read(path).map_err(|error| unreadable(path, &error))?;
    let file = obj::parse(path, &bytes).map_err(|problem| refuse(path, problem))?;
    let mesh = file.whole();
    let simulated = SimulationMesh::build(mesh);
    let mut report = head(path, bytes.len());
    report.extend(surface(mesh, &simulated));
    let groups: Vec<Json> =
        mesh.groups.iter().map(|group| json!({ "name": group.name, "faces": group.faces.len() })).collect();
    report.extend([
        ("objects".to_owned(), json!(file.object_names())),
        ("groups".to_owned(), json!(groups)),
        ("materials".to_owned(), json!(materials(mesh))),
        ("material_libraries".to_owned(), json!(mesh.material_libraries)),
    ]);
    report.extend(extent(bounds(mesh.positions.iter().copied())));
    report.extend(condition(&simulated));
    Ok(Json::Object(report))
}

/// A glTF file.
pub fn gltf(path: &Path) -> Result<Json, Failure> {
    let bytes = std::fs::read(path).map_err(|error| unreadable(path, &error))?;
    let report = gltf::parse(path, &bytes).and_then(|file| gltf_report(path, bytes.len(), &file));
    report.map_err(|problem| refuse(path, problem))
}

fn gltf_report(path: &Path, bytes: usize, file: &GltfFile) -> Result<Json, Problem> {
    let contents = file.contents()?;
    let mut meshes = Vec::new();
    let mut shown_bounds: Option<(Vec3, Vec3)> = None;
    for node in &contents.meshes {
        let loaded = file.load_node(node)?;
        let mesh = &loaded.mesh;
        let simulated = SimulationMesh::build(mesh);
        let own_bounds = bounds(mesh.positions.iter().copied());
        if node.is_shown {
            let corners = [shown_bounds, own_bounds].into_iter().flatten().flat_map(|(low, high)| [low, high]);
            shown_bounds = bounds(corners);
        }
        let attributes: Vec<Json> = mesh
            .attributes
            .iter()
            .map(|attribute| {
                let lowest = attribute.values.iter().copied().fold(f64::INFINITY, f64::min);
                let highest = attribute.values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let above = attribute.values.iter().filter(|value| **value > 0.0).count();
                json!({ "name": attribute.name, "min": lowest, "max": highest, "vertices_above_0": above })
            })
            .collect();
        let mut report = Map::new();
        report.extend([("name".to_owned(), json!(node.name)), ("in_scene".to_owned(), json!(node.is_shown))]);
        report.extend(surface(mesh, &simulated));
        report.extend([
            ("skin".to_owned(), json!(node.skin)),
            ("morph_targets".to_owned(), json!(node.morph_target_count)),
            ("moves".to_owned(), json!(loaded.animated.is_some())),
            ("attributes".to_owned(), json!(attributes)),
            ("materials".to_owned(), json!(materials(mesh))),
            ("left_out".to_owned(), json!(loaded.warnings.iter().map(|warning| &warning.message).collect::<Vec<_>>())),
        ]);
        report.extend(extent(own_bounds));
        report.extend(condition(&simulated));
        meshes.push(Json::Object(report));
    }
    let skins: Vec<Json> =
        contents.skins.iter().map(|(name, joints)| json!({ "name": name, "joints": joints })).collect();
    let animations: Vec<Json> = contents
        .animations
        .iter()
        .map(|animation| {
            json!({ "name": animation.name, "seconds": animation.length, "first_key": animation.start,
                "channels": animation.channel_count })
        })
        .collect();
    let files: Vec<&str> = file.external_files().iter().map(|file| file.uri.as_str()).collect();
    let mut report = head(path, bytes);
    report.extend([
        ("written_by".to_owned(), json!(contents.generator)),
        ("other_files".to_owned(), json!(files)),
        ("extensions_used".to_owned(), json!(contents.extensions_used)),
        ("extensions_required".to_owned(), json!(contents.extensions_required)),
        ("objects".to_owned(), json!(file.object_names())),
        ("meshes".to_owned(), json!(meshes)),
        ("joints".to_owned(), json!(contents.joints)),
        ("cameras".to_owned(), json!(contents.cameras)),
        ("other_nodes".to_owned(), json!(contents.others)),
        ("skins".to_owned(), json!(skins)),
        ("animations".to_owned(), json!(animations)),
        ("materials".to_owned(), json!(contents.materials)),
    ]);
    report.extend(extent(shown_bounds));
    Ok(Json::Object(report))
}

/// Shows what is wrong with a file and sums it up.
fn refuse(path: &Path, problem: Problem) -> Failure {
    log(&diagnostics::render(std::slice::from_ref(&problem), None, is_styled()));
    let cause = format!("{} cannot be used: {}", path.display(), problem.message);
    Failure::new(Exit::InvalidInput, cause, problem.help.unwrap_or_default())
}

fn head(path: &Path, bytes: usize) -> Map<String, Json> {
    let entries = [("kind", json!("mesh")), ("file", json!(path)), ("bytes", json!(bytes))];
    entries.map(|(key, value)| (key.to_owned(), value)).into_iter().collect()
}

/// How much of everything a mesh has.
fn surface(mesh: &PolyMesh, simulated: &SimulationMesh) -> Map<String, Json> {
    let mut by_size: BTreeMap<usize, u64> = BTreeMap::new();
    (0..mesh.face_count()).for_each(|face| *by_size.entry(mesh.face(face).len()).or_default() += 1);
    let by_size: Map<String, Json> =
        by_size.into_iter().map(|(size, count)| (format!("{size}_corners"), json!(count))).collect();
    let entries = [
        ("vertices", json!(mesh.positions.len())),
        ("faces", json!(mesh.face_count())),
        ("faces_by_size", json!(by_size)),
        ("triangles", json!(simulated.triangles.len())),
        ("texture_coordinates", json!(mesh.uvs.len())),
        ("normals", json!(mesh.normals.len())),
    ];
    entries.map(|(key, value)| (key.to_owned(), value)).into_iter().collect()
}

/// Names of the materials in the order in which faces have them.
fn materials(mesh: &PolyMesh) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for run in &mesh.materials {
        if !names.contains(&run.name.as_str()) {
            names.push(&run.name);
        }
    }
    names
}

fn extent(bounds: Option<(Vec3, Vec3)>) -> Map<String, Json> {
    let (low, high) = bounds.unwrap_or_default();
    let entries = [
        ("bounds", json!({ "min": list(low), "max": list(high), "size": list(high - low) })),
        ("unit_guess", json!(unit_guess((high - low).max()))),
    ];
    entries.map(|(key, value)| (key.to_owned(), value)).into_iter().collect()
}

/// How a mesh would do in a simulation.
fn condition(simulated: &SimulationMesh) -> Map<String, Json> {
    let topology = Topology::build(&simulated.triangles);
    let loops: Vec<usize> = topology.boundary_loops().iter().map(Vec::len).collect();
    let non_manifold = topology.edge_triangles.iter().filter(|triangles| triangles.len() > 2).count();
    let findings = json!({
        "welded_vertices": simulated.findings.welded_vertices,
        "degenerate_triangles": simulated.findings.degenerate_triangles,
        "duplicate_triangles": simulated.findings.duplicate_triangles,
        "isolated_vertices": simulated.findings.isolated_vertices,
        "non_manifold_edges": non_manifold,
    });
    [("boundary_loops".to_owned(), json!(loops)), ("findings".to_owned(), findings)].into_iter().collect()
}

fn list(v: Vec3) -> [f64; 3] {
    v.into()
}

/// Clothes and furniture are some metres large at most.
fn unit_guess(extent: f64) -> String {
    match extent {
        e if e > 2000.0 => format!("{e:.0} units large: millimetres? then write unit = \"mm\""),
        e if e > 20.0 => format!("{e:.0} units large: centimetres? then write unit = \"cm\""),
        e => format!("{e:.3} units large: plausible in metres"),
    }
}
