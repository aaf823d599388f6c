//! OBJ files, read again by a library that is not ours.

use std::fs;
use std::path::Path;

use kiln::cache::obj::{ObjWriter, write_obj};
use kiln::cache::writers::{CacheWriter, Track};
use kiln::math::Vec3;
use kiln::mesh::surface::{Group, PolyMesh};

/// The vertices of a file, in its order.
pub fn vertices(path: &Path) -> Vec<[f32; 3]> {
    let text = fs::read_to_string(path).unwrap();
    let numbers = |line: &str| line.split(' ').map(|number| number.parse().unwrap()).collect::<Vec<f32>>();
    text.lines().filter_map(|line| line.strip_prefix("v ")).map(|line| numbers(line).try_into().unwrap()).collect()
}

#[test]
fn another_reader_finds_the_same_mesh() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = crate::grid(4, 3);
    let positions = crate::waving(&mesh, 7);
    let path = folder.path().join("rest").join("grid.obj");
    write_obj(&path, &mesh, &positions, &[]).unwrap();
    assert_eq!(vertices(&path), positions, "every bit, in order");
    let (models, _) = tobj::load_obj(&path, &tobj::LoadOptions::default()).unwrap();
    assert!(models.iter().all(|model| model.mesh.face_arities.iter().all(|&arity| arity == 4)));
    assert!(models.iter().all(|model| model.mesh.normals.is_empty()));
    // The reader starts a new model, with its own numbering, at each group and material: so corner by corner.
    let (mut corners, mut uvs) = (Vec::new(), Vec::new());
    for tobj::Mesh { positions, texcoords, indices, texcoord_indices, .. } in models.iter().map(|model| &model.mesh) {
        corners.extend(indices.iter().map(|&i| positions.as_chunks::<3>().0[i as usize]));
        uvs.extend(texcoord_indices.iter().map(|&i| texcoords.as_chunks::<2>().0[i as usize]));
    }
    let expected_corners: Vec<_> = mesh.corners.iter().map(|corner| positions[corner.position as usize]).collect();
    assert_eq!(corners, expected_corners);
    let expected_uvs: Vec<_> =
        mesh.corners.iter().map(|corner| mesh.uvs[corner.uv.unwrap() as usize].map(|x| x as f32)).collect();
    assert_eq!(uvs, expected_uvs);
}

#[test]
fn names_groups_and_materials_stand_where_they_stood() {
    let folder = tempfile::tempdir().unwrap();
    let mut mesh = crate::grid(3, 3);
    mesh.groups.push(Group { name: "all".into(), faces: vec![1, 3] });
    mesh.corners[4].uv = None;
    mesh.name = "two\nlines".into();
    let path = folder.path().join("grid.obj");
    write_obj(&path, &mesh, &crate::waving(&mesh, 0), &[]).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let structure: Vec<&str> = text.lines().filter(|line| !line.starts_with('v')).collect();
    let expected = [
        "# written by Kiln",
        "mtllib cloth.mtl",
        "o two_lines",
        "g hem",
        "usemtl silk",
        "f 1/1 4/4 5/5 2/2",
        "g hem all",
        "f 2 5/5 6/6 3/3",
        "g default",
        "usemtl wool",
        "f 4/4 7/7 8/8 5/5",
        "g all",
        "f 5/5 8/8 9/9 6/6",
    ];
    assert_eq!(structure, expected);
}

#[test]
fn a_sequence_has_one_whole_file_a_frame() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = crate::grid(3, 2);
    let track = Track { object: "flag".into(), vertex_count: 6, frames: vec![8, 9] };
    let files: Vec<_> = [8, 9].map(|frame| folder.path().join(format!("obj/flag.{frame:04}.obj"))).into();
    let mut writer = Box::new(ObjWriter::create(files.clone(), &mesh, track.clone()).unwrap());
    for frame in [8, 9] {
        writer.frame(frame, &crate::waving(&mesh, frame)).unwrap();
    }
    assert!(writer.frame(10, &crate::waving(&mesh, 10)).is_err());
    let written = writer.finish().unwrap();
    assert_eq!(written.iter().map(|file| file.path.clone()).collect::<Vec<_>>(), files);
    assert_eq!(fs::read_dir(folder.path().join("obj")).unwrap().count(), 2, "no temporary file is left");
    assert!(ObjWriter::create(files[..1].to_vec(), &mesh, track.clone()).is_err());
    assert!(ObjWriter::create(files, &crate::grid(2, 2), track).is_err());
}

#[test]
fn a_mesh_without_faces_is_no_trouble() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("empty.obj");
    write_obj(&path, &PolyMesh::default(), &[], &[]).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "# written by Kiln\n");
}

#[test]
fn a_sequence_of_a_mesh_with_normals_has_new_ones_with_the_same_hard_edges() {
    let folder = tempfile::tempdir().unwrap();
    let mut mesh = crate::grid(3, 2);
    mesh.normals = vec![Vec3::y(), Vec3::new(0.1, 1.0, 0.0)];
    mesh.corners.iter_mut().enumerate().for_each(|(corner, c)| c.normal = Some(u32::from(corner >= 4)));
    let track = Track { object: "flag".into(), vertex_count: 6, frames: vec![1] };
    let file = folder.path().join("flag.obj");
    let mut writer = Box::new(ObjWriter::create(vec![file.clone()], &mesh, track).unwrap());
    // A roof: the left quad rises at 45 degrees, the right one falls.
    let roof: Vec<[f32; 3]> =
        mesh.positions.iter().map(|p| [p.x as f32, 0.1 - (p.x as f32 - 0.1).abs(), p.z as f32]).collect();
    writer.frame(1, &roof).unwrap();
    writer.finish().unwrap();
    let (models, _) = tobj::load_obj(&file, &tobj::LoadOptions::default()).unwrap();
    let half = 0.5_f32.sqrt();
    let of_model = |mesh: &tobj::Mesh| -> Vec<[f32; 3]> {
        mesh.normal_indices.iter().map(|&i| mesh.normals.as_chunks::<3>().0[i as usize]).collect()
    };
    let normals: Vec<[f32; 3]> = models.iter().flat_map(|model| of_model(&model.mesh)).collect();
    assert_eq!(normals.len(), 8);
    for ([nx, ny, nz], x) in normals.into_iter().zip([-half, -half, -half, -half, half, half, half, half]) {
        assert!((nx - x).abs() < 1e-6 && (ny - half).abs() < 1e-6 && nz.abs() < 1e-6, "{nx} {ny} {nz}");
    }
}
