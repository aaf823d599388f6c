//! Files on disk: round trips, damage, and clients that are not Kiln.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod blender;
mod convert;
mod glb;
mod job_files;
mod obj;
mod point_caches;
#[path = "../import/sample.rs"]
#[allow(dead_code, reason = "made for the tests of the importer")]
mod sample;
mod skinning;
mod store;
mod tets;

use std::path::{Path, PathBuf};

use kiln::math::Vec3;
use kiln::mesh::surface::{Corner, FaceRun, Group, PolyMesh};

/// A flat grid of quads in the xz-plane with UVs, a group and two materials.
fn grid(columns: u32, rows: u32) -> PolyMesh {
    let mut mesh =
        PolyMesh { name: "grid".into(), material_libraries: vec!["cloth.mtl".into()], ..PolyMesh::default() };
    for row in 0..rows {
        for column in 0..columns {
            mesh.positions.push(Vec3::new(f64::from(column) * 0.1, 0.0, f64::from(row) * 0.1));
            mesh.uvs.push([f64::from(column) / f64::from(columns - 1), f64::from(row) / f64::from(rows - 1)]);
        }
    }
    mesh.face_starts.push(0);
    for row in 0..rows - 1 {
        for column in 0..columns - 1 {
            let first = row * columns + column;
            let corner = |position| Corner { position, uv: Some(position), normal: None };
            mesh.corners.extend([first, first + columns, first + columns + 1, first + 1].map(corner));
            mesh.face_starts.push(mesh.corners.len() as u32);
        }
    }
    let faces = mesh.face_count() as u32;
    mesh.groups.push(Group { name: "hem".into(), faces: (0..columns - 1).collect() });
    mesh.materials.push(FaceRun { first_face: 0, name: "silk".into() });
    mesh.materials.push(FaceRun { first_face: faces / 2, name: "wool".into() });
    mesh
}

/// The grid in motion, in metres with Y up; no two frames and no two vertices alike.
fn waving(mesh: &PolyMesh, frame: i64) -> Vec<[f32; 3]> {
    let t = frame as f64 * 0.21;
    let wave =
        |p: &Vec3| Vec3::new(p.x + 0.05 * t.sin(), 0.3 * (4.0 * p.x + 2.5 * p.z + t).sin(), p.z * (1.0 + 0.1 * t));
    mesh.positions.iter().map(|p| wave(p).map(|x| x as f32).into()).collect()
}

/// Copies of a file cut off at every length, under the same name in another folder.
fn for_every_length(file: &Path, mut look: impl FnMut(&Path, usize)) {
    let bytes = std::fs::read(file).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let copy: PathBuf = folder.path().join(file.file_name().unwrap());
    for length in 0..bytes.len() {
        std::fs::write(&copy, &bytes[..length]).unwrap();
        look(&copy, length);
    }
}
