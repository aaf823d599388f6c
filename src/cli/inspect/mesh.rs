//! What is in a mesh file.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value as Json, json};

use super::unreadable;
use crate::bake::{Exit, Failure};
use crate::cli::terminal::{is_styled, log};
use crate::import::obj;
use crate::math::Vec3;
use crate::mesh::measures::bounds;
use crate::mesh::simulation_mesh::SimulationMesh;
use crate::mesh::topology::Topology;
use crate::scene::diagnostics;

pub fn inspect(path: &Path) -> Result<Json, Failure> {
    let bytes = std::fs::read(path).map_err(|error| unreadable(path, &error))?;
    let file = obj::parse(path, &bytes).map_err(|problem| {
        log(&diagnostics::render(std::slice::from_ref(&problem), None, is_styled()));
        let cause = format!("{} cannot be used: {}", path.display(), problem.message);
        Failure::new(Exit::InvalidInput, cause, problem.help.unwrap_or_default())
    })?;
    let mesh = file.whole();
    let mut faces_by_size: BTreeMap<usize, u64> = BTreeMap::new();
    (0..mesh.face_count()).for_each(|face| *faces_by_size.entry(mesh.face(face).len()).or_default() += 1);
    let faces_by_size: serde_json::Map<String, Json> =
        faces_by_size.into_iter().map(|(size, count)| (format!("{size}_corners"), json!(count))).collect();
    let mut materials: Vec<&str> = Vec::new();
    for run in &mesh.materials {
        if !materials.contains(&run.name.as_str()) {
            materials.push(&run.name);
        }
    }
    let groups: Vec<Json> =
        mesh.groups.iter().map(|group| json!({ "name": group.name, "faces": group.faces.len() })).collect();
    let simulated = SimulationMesh::build(mesh);
    let topology = Topology::build(&simulated.triangles);
    let loops: Vec<usize> = topology.boundary_loops().iter().map(Vec::len).collect();
    let non_manifold = topology.edge_triangles.iter().filter(|triangles| triangles.len() > 2).count();
    let (low, high) = bounds(mesh.positions.iter().copied()).unwrap_or_default();
    Ok(json!({
        "kind": "mesh",
        "file": path,
        "bytes": bytes.len(),
        "vertices": mesh.positions.len(),
        "faces": mesh.face_count(),
        "faces_by_size": faces_by_size,
        "triangles": simulated.triangles.len(),
        "texture_coordinates": mesh.uvs.len(),
        "normals": mesh.normals.len(),
        "objects": file.object_names(),
        "groups": groups,
        "materials": materials,
        "material_libraries": mesh.material_libraries,
        "bounds": { "min": list(low), "max": list(high), "size": list(high - low) },
        "unit_guess": unit_guess((high - low).max()),
        "boundary_loops": loops,
        "findings": {
            "welded_vertices": simulated.findings.welded_vertices,
            "degenerate_triangles": simulated.findings.degenerate_triangles,
            "duplicate_triangles": simulated.findings.duplicate_triangles,
            "isolated_vertices": simulated.findings.isolated_vertices,
            "non_manifold_edges": non_manifold,
        },
    }))
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
