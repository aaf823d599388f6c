//! Wavefront OBJ: rest meshes, and one file a frame.
//!
//! Vertices, polygons, texture coordinates, names, groups, materials and smoothing groups are those of the artist's
//! mesh, in its order. Rest meshes have the artist's normals; frames of a mesh that has normals get new ones, with the same
//! hard edges. Numbers have as many digits as it takes to read back the same f32.
//!
//! Materials stand in an MTL file beside a rest mesh, so that formats made later know them. `Kd` and `Ke` are linear, as
//! Blender reads them: the numbers are kept as they are. MTL has no word for two-sided: the back is drawn unless a comment
//! says otherwise, which other readers skip.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::atomic::{AtomicFile, WrittenFile};
use super::error::{CacheError, Result};
use super::writers::{CacheWriter, Progress, Track};
use crate::import::mtl::SINGLE_SIDED;
use crate::mesh::normals::NormalGroups;
use crate::mesh::surface::{Material, PolyMesh};

/// Everything of an OBJ file that is the same in every frame.
struct Template {
    above_vertices: String,
    uvs: String,
    faces: String,
}

impl Template {
    /// `normals` says which normal a corner names, by the corner's number; where it has none, the corner names none.
    fn new(mesh: &PolyMesh, normals: impl Fn(usize) -> Option<u32>) -> Self {
        let mut above_vertices = "# written by Kiln\n".to_owned();
        for library in &mesh.material_libraries {
            above_vertices += &format!("mtllib {}\n", one_line(library));
        }
        if !mesh.name.is_empty() {
            above_vertices += &format!("o {}\n", one_line(&mesh.name));
        }
        let (mut uvs, mut faces) = (String::new(), String::new());
        for [u, v] in &mesh.uvs {
            let _ = writeln!(uvs, "vt {u} {v}"); // a String takes everything
        }
        put_faces(&mut faces, mesh, normals);
        Template { above_vertices, uvs, faces }
    }

    fn write(
        &self,
        path: &Path,
        positions: &[[f32; 3]],
        normals: &[[f32; 3]],
        text: &mut String,
    ) -> Result<WrittenFile> {
        text.clear();
        text.push_str(&self.above_vertices);
        for [x, y, z] in positions {
            let _ = writeln!(text, "v {x} {y} {z}");
        }
        text.push_str(&self.uvs);
        for [x, y, z] in normals {
            let _ = writeln!(text, "vn {x} {y} {z}");
        }
        let mut file = AtomicFile::create(path)?;
        for part in [&*text, &self.faces] {
            file.put(part.as_bytes())?;
        }
        file.commit()
    }
}

fn put_faces(text: &mut String, mesh: &PolyMesh, normals: impl Fn(usize) -> Option<u32>) {
    // Membership sorted by face, so that one walk over the faces meets it in order.
    let mut memberships: Vec<(u32, usize)> = Vec::new();
    for (number, group) in mesh.groups.iter().enumerate() {
        memberships.extend(group.faces.iter().map(|&face| (face, number)));
    }
    memberships.sort_unstable();
    let mut memberships = memberships.chunk_by(|a, b| a.0 == b.0).peekable();
    let mut materials = mesh.materials.iter().peekable();
    let mut smoothing = mesh.smoothing.iter().peekable();
    let mut current: Vec<usize> = Vec::new();
    for face in 0..mesh.face_count() {
        let groups = match memberships.next_if(|group| group[0].0 as usize == face) {
            Some(members) => members.iter().map(|member| member.1).collect(),
            None => Vec::new(),
        };
        if groups != current {
            // "default" is how OBJ says: no group any more.
            // Spaces part the names of several groups; materials of glTF files, which may have them, become groups too.
            let word = |group: &usize| one_line(&mesh.groups[*group].name).replace(char::is_whitespace, "_");
            let names: Vec<String> = groups.iter().map(word).collect();
            let names = if names.is_empty() { "default".to_owned() } else { names.join(" ") };
            let _ = writeln!(text, "g {names}");
            current = groups;
        }
        while let Some(run) = materials.next_if(|run| run.first_face as usize <= face) {
            let _ = writeln!(text, "usemtl {}", one_line(&run.name));
        }
        while let Some(run) = smoothing.next_if(|run| run.first_face as usize <= face) {
            let _ = writeln!(text, "s {}", one_line(&run.name));
        }
        text.push('f');
        for (corner, number) in mesh.face(face).iter().zip(mesh.face_starts[face] as usize..) {
            let _ = write!(text, " {}", u64::from(corner.position) + 1);
            let normal = normals(number);
            let _ = match (corner.uv.map(|uv| u64::from(uv) + 1), normal.map(|normal| u64::from(normal) + 1)) {
                (None, None) => Ok(()),
                (Some(uv), None) => write!(text, "/{uv}"),
                (None, Some(normal)) => write!(text, "//{normal}"),
                (Some(uv), Some(normal)) => write!(text, "/{uv}/{normal}"),
            };
        }
        text.push('\n');
    }
}

/// A name that cannot break its line.
fn one_line(name: &str) -> String {
    let name: String = name.chars().map(|c| if c.is_control() { '_' } else { c }).collect();
    match name.strip_suffix('\\') {
        Some(start) => format!("{start}_"), // else the next line would belong to it
        None => name,
    }
}

/// Writes a mesh with other positions and normals into one OBJ file, for example the rest mesh of a cache. There are as
/// many normals as in the mesh, or none.
pub fn write_obj(path: &Path, mesh: &PolyMesh, positions: &[[f32; 3]], normals: &[[f32; 3]]) -> Result<WrittenFile> {
    let object = mesh.name.clone();
    let mut progress = Progress::new(Track { object, vertex_count: mesh.positions.len(), frames: vec![0] });
    progress.accept(path, 0, positions)?;
    let named = |corner: usize| mesh.corners[corner].normal.filter(|_| !normals.is_empty());
    Template::new(mesh, named).write(path, positions, normals, &mut String::new())
}

/// Writes materials as an MTL file.
pub fn write_mtl(path: &Path, materials: &[Material]) -> Result<WrittenFile> {
    let mut text = "# written by Kiln\n".to_owned();
    for Material { name, base_color: [r, g, b, opacity], metallic, roughness, emissive, double_sided } in materials {
        let [er, eg, eb] = emissive;
        let _ = writeln!(text, "newmtl {}\nKd {r} {g} {b}\nd {opacity}\nKe {er} {eg} {eb}", one_line(name));
        let _ = writeln!(text, "Pm {metallic}\nPr {roughness}");
        if !double_sided {
            let _ = writeln!(text, "{SINGLE_SIDED}");
        }
    }
    let mut file = AtomicFile::create(path)?;
    file.put(text.as_bytes())?;
    file.commit()
}

/// Writes one OBJ file a frame.
pub struct ObjWriter {
    template: Template,
    /// The mesh and its smooth corners, where its source has normals.
    shading: Option<(PolyMesh, NormalGroups)>,
    files: Vec<PathBuf>,
    progress: Progress,
    text: String,
    written: Vec<WrittenFile>,
}

impl ObjWriter {
    /// Prepares the files, one for each frame of the track. They appear one by one, each of them whole.
    pub fn create(files: Vec<PathBuf>, mesh: &PolyMesh, track: Track) -> Result<Self> {
        let first = files.first().map_or(Path::new(""), PathBuf::as_path);
        if files.len() != track.frames.len() {
            let message = format!("{} file names for {} frames", files.len(), track.frames.len());
            return Err(CacheError::invalid(first, message));
        }
        if mesh.positions.len() != track.vertex_count {
            let (have, want) = (mesh.positions.len(), track.vertex_count);
            let message = format!("the mesh of \"{}\" has {have} vertices, its frames have {want}", track.object);
            return Err(CacheError::invalid(first, message));
        }
        let shading = (!mesh.normals.is_empty()).then(|| (mesh.clone(), NormalGroups::build(mesh)));
        let group = |corner: usize| {
            let groups = &shading.as_ref()?.1;
            mesh.corners[corner].normal.map(|_| groups.of_corner[corner])
        };
        let (template, progress) = (Template::new(mesh, group), Progress::new(track));
        Ok(ObjWriter { template, shading, files, progress, text: String::new(), written: Vec::new() })
    }
}

impl CacheWriter for ObjWriter {
    fn frame(&mut self, frame: i64, positions: &[[f32; 3]]) -> Result<()> {
        let next = self.files.get(self.written.len()).or(self.files.last());
        let path = next.map_or(Path::new(""), PathBuf::as_path);
        self.progress.accept(path, frame, positions)?;
        let shading = self.shading.as_ref();
        let normals = shading.map(|(mesh, groups)| groups.normals(mesh, positions)).unwrap_or_default();
        self.written.push(self.template.write(path, positions, &normals, &mut self.text)?);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<WrittenFile>> {
        let last = self.files.last().map_or(Path::new(""), PathBuf::as_path);
        self.progress.complete(last)?;
        Ok(self.written)
    }
}
