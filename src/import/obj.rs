//! Wavefront OBJ, read so that the artist's file comes back: vertex order, polygons, UVs, normals, groups, materials,
//! smoothing groups. Left out are vertex colours, the third number of `vt`, lines, points and curves.
//!
//! Written here because the common crate (tobj) numbers vertices by first use and splits objects by material, so the order of
//! the file cannot be recovered from it, and its errors name no line. The tests compare this reader with tobj.

use std::collections::BTreeMap;
use std::path::Path;

use super::choice::{Choice, list};
use crate::math::Vec3;
use crate::mesh::surface::{Corner, FaceRun, Group, PolyMesh};
use crate::scene::problem::{Place, Problem};

/// All of an OBJ file.
#[derive(Debug, Default)]
pub struct ObjFile {
    /// The whole file as one mesh.
    mesh: PolyMesh,
    /// `o` statements that have faces.
    objects: Vec<Object>,
}

/// One `o` statement: the faces and vertices up to the next one.
#[derive(Debug, Default)]
struct Object {
    name: String,
    faces: Vec<u32>,
    vertices: Vec<std::ops::Range<u32>>,
}

/// Read the content of an OBJ file; `path` is for messages.
pub fn parse(path: &Path, bytes: &[u8]) -> Result<ObjFile, Problem> {
    let mut reader = Reader::default();
    reader.mesh.face_starts.push(0);
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut joined = String::new();
    let mut start_line = 1;
    for (number, raw) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let text = String::from_utf8_lossy(raw);
        let text = text.trim_end_matches('\r');
        // A comment may end in a folder of Windows; it does not swallow the next line.
        let (part, continues) = match text.strip_suffix('\\') {
            Some(part) if !part.contains('#') => (part, true),
            _ => (text, false),
        };
        if joined.is_empty() {
            start_line = number + 1;
        }
        // The common case is a line of its own: no copy.
        let result = if joined.is_empty() && !continues {
            reader.line(part)
        } else {
            joined.push_str(part);
            joined.push(' ');
            if continues {
                continue;
            }
            reader.line(&std::mem::take(&mut joined))
        };
        result
            .map_err(|(message, help)| Problem::error(Place::Line(path.to_owned(), start_line), message).help(help))?;
    }
    if !joined.is_empty() {
        reader
            .line(&joined)
            .map_err(|(message, help)| Problem::error(Place::Line(path.to_owned(), start_line), message).help(help))?;
    }
    reader.finish().ok_or_else(|| {
        Problem::error(Place::File(path.to_owned()), "the file has no faces")
            .help("export a mesh with faces (`f` lines) as Wavefront OBJ")
    })
}

/// A message and its remedy.
type Fault = (String, &'static str);

#[derive(Default)]
struct Reader {
    mesh: PolyMesh,
    objects: Vec<Object>,
    /// Names of the current `g` statement and the faces of every group so far.
    current_groups: Vec<String>,
    groups: BTreeMap<String, Vec<u32>>,
    group_order: Vec<String>,
}

impl Reader {
    fn line(&mut self, line: &str) -> Result<(), Fault> {
        let line = without_comment(line).trim();
        let (keyword, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        match keyword {
            "v" => {
                let [x, y, z] = numbers(rest, "v")?;
                self.mesh.positions.push(Vec3::new(x, y, z));
                let count = self.mesh.positions.len() as u32;
                if let Some(Object { vertices, .. }) = self.objects.last_mut() {
                    match vertices.last_mut() {
                        Some(range) if range.end == count - 1 => range.end = count,
                        _ => vertices.push(count - 1..count),
                    }
                }
            }
            "vt" => {
                // One-dimensional texture coordinates are allowed.
                let [u] = numbers(rest, "vt")?;
                let v = if rest.split_whitespace().nth(1).is_some() { numbers::<2>(rest, "vt")?[1] } else { 0.0 };
                self.mesh.uvs.push([u, v]);
            }
            "vn" => {
                let [x, y, z] = numbers(rest, "vn")?;
                self.mesh.normals.push(Vec3::new(x, y, z));
            }
            "f" => self.face(rest)?,
            "o" => self.objects.push(Object { name: rest.to_owned(), ..Object::default() }),
            "g" => {
                self.current_groups = rest.split_whitespace().map(str::to_owned).collect();
                for name in &self.current_groups {
                    if !self.groups.contains_key(name) {
                        self.groups.insert(name.clone(), Vec::new());
                        self.group_order.push(name.clone());
                    }
                }
            }
            "usemtl" => {
                let first_face = self.mesh.face_count() as u32;
                self.mesh.materials.push(FaceRun { first_face, name: rest.to_owned() });
            }
            "s" => {
                let first_face = self.mesh.face_count() as u32;
                self.mesh.smoothing.push(FaceRun { first_face, name: rest.to_owned() });
            }
            "mtllib" => self.mesh.material_libraries.push(rest.to_owned()),
            // Lines, points and curves say nothing about the surface; comments and blank lines nothing at all.
            "" | "l" | "p" | "vp" | "deg" | "bmat" | "step" | "cstype" | "curv" | "curv2" | "surf" | "parm"
            | "trim" | "hole" | "scrv" | "sp" | "end" | "con" | "mg" | "bevel" | "c_interp" | "d_interp" | "lod"
            | "shadow_obj" | "trace_obj" | "ctech" | "stech" | "call" | "csh" => {}
            other => {
                let shown: String = other.chars().take(20).flat_map(char::escape_default).collect();
                return Err((
                    format!("`{shown}` is not an OBJ statement"),
                    "is this a Wavefront OBJ file? Export the mesh again",
                ));
            }
        }
        Ok(())
    }

    fn face(&mut self, rest: &str) -> Result<(), Fault> {
        let first = self.mesh.corners.len();
        for word in rest.split_whitespace() {
            let mut parts = word.split('/');
            let position = index(parts.next().unwrap_or_default(), self.mesh.positions.len(), "vertex")?;
            let uv = match parts.next() {
                None | Some("") => None,
                Some(text) => Some(index(text, self.mesh.uvs.len(), "texture coordinate")?),
            };
            let normal = match parts.next() {
                None | Some("") => None,
                Some(text) => Some(index(text, self.mesh.normals.len(), "normal")?),
            };
            self.mesh.corners.push(Corner { position, uv, normal });
        }
        let count = self.mesh.corners.len() - first;
        if count < 3 {
            return Err((
                format!("a face needs at least 3 corners, this one has {count}"),
                "remove the face or mend it",
            ));
        }
        let face = self.mesh.face_count() as u32;
        self.mesh.face_starts.push(self.mesh.corners.len() as u32);
        if let Some(object) = self.objects.last_mut() {
            object.faces.push(face);
        }
        for name in &self.current_groups {
            if let Some(faces) = self.groups.get_mut(name) {
                faces.push(face);
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Option<ObjFile> {
        if self.mesh.face_count() == 0 {
            return None;
        }
        for name in self.group_order {
            if let Some(faces) = self.groups.remove(&name).filter(|faces| !faces.is_empty()) {
                self.mesh.groups.push(Group { name, faces });
            }
        }
        self.objects.retain(|object| !object.faces.is_empty());
        Some(ObjFile { mesh: self.mesh, objects: self.objects })
    }
}

/// A line up to its comment. In a name, `#` is a letter like others ("Material #25") unless it stands alone.
fn without_comment(line: &str) -> &str {
    let named = matches!(line.split_whitespace().next(), Some("o" | "g" | "usemtl" | "mtllib"));
    let alone = |at: usize| {
        let is_space = |c: Option<char>| c.is_none_or(char::is_whitespace);
        is_space(line[..at].chars().next_back()) && is_space(line[at + 1..].chars().next())
    };
    let comment = line.match_indices('#').map(|(at, _)| at).find(|&at| !named || alone(at));
    &line[..comment.unwrap_or(line.len())]
}

/// The first `N` numbers of a statement, all finite.
fn numbers<const N: usize>(rest: &str, statement: &str) -> Result<[f64; N], Fault> {
    let mut words = rest.split_whitespace();
    let mut values = [0.0; N];
    for value in &mut values {
        let word = words.next().ok_or_else(|| {
            (format!("`{statement}` needs {N} numbers"), "the line is cut short: export the mesh again")
        })?;
        *value = word.parse::<f64>().ok().filter(|x| x.is_finite()).ok_or_else(|| {
            let shown: String = word.chars().take(20).flat_map(char::escape_default).collect();
            (format!("`{shown}` is not a finite number"), "repair the mesh in its program and export it again")
        })?;
    }
    Ok(values)
}

/// An OBJ index: from 1, or counted back from the end when negative.
fn index(text: &str, count: usize, what: &str) -> Result<u32, Fault> {
    let shown: String = text.chars().take(20).flat_map(char::escape_default).collect();
    let number: i64 = text.parse().map_err(|_| {
        (format!("`{shown}` is not a {what} number"), "a face corner is `vertex/texture/normal`, counted from 1")
    })?;
    let zero_based = if number > 0 { Some(number - 1) } else { (count as i64).checked_add(number) };
    match zero_based {
        Some(i) if number != 0 && (0..count as i64).contains(&i) => u32::try_from(i).ok(),
        _ => None,
    }
    .ok_or_else(|| {
        let counted = if count == 1 { format!("1 {what}") } else { format!("{count} {}", plural(what)) };
        (format!("{what} {shown} does not exist: the file has {counted} up to here"), "export the mesh again")
    })
}

fn plural(what: &str) -> &'static str {
    match what {
        "vertex" => "vertices",
        "normal" => "normals",
        _ => "texture coordinates",
    }
}

impl ObjFile {
    /// Names of the objects that have faces, in the order of the file.
    pub fn object_names(&self) -> Vec<&str> {
        self.objects.iter().map(|object| object.name.as_str()).collect()
    }

    /// The whole file as one mesh.
    pub fn whole(&self) -> &PolyMesh {
        &self.mesh
    }

    /// One object or group; the whole file where nothing is named and there is nothing to choose.
    ///
    /// An object keeps every vertex that stands in its part of the file, used or not, because other programs count them so.
    pub fn select(&self, name: Option<&str>) -> Result<PolyMesh, Choice> {
        let Some(name) = name else {
            return match self.objects.as_slice() {
                [] => Ok(self.mesh.clone()),
                [only] => Ok(PolyMesh { name: only.name.clone(), ..self.mesh.clone() }),
                _ => Err(Choice {
                    message: format!("the file has {} objects and none is chosen", self.objects.len()),
                    help: format!("add `object = \"...\"` with one of: {}", list(&self.object_names())),
                }),
            };
        };
        let objects: Vec<&Object> = self.objects.iter().filter(|object| object.name == name).collect();
        if let [object] = objects.as_slice()
            && self.objects.len() == 1
        {
            return Ok(PolyMesh { name: object.name.clone(), ..self.mesh.clone() });
        }
        if !objects.is_empty() {
            let faces: Vec<u32> = objects.iter().flat_map(|object| object.faces.iter().copied()).collect();
            let vertices = objects.iter().flat_map(|object| object.vertices.iter().cloned().flatten());
            return Ok(self.part(name, &faces, vertices));
        }
        if let Some(group) = self.mesh.groups.iter().find(|group| group.name == name) {
            return Ok(self.part(name, &group.faces, std::iter::empty()));
        }
        let groups = self.mesh.groups.iter().map(|group| group.name.as_str());
        let names: Vec<&str> = self.objects.iter().map(|object| object.name.as_str()).chain(groups).collect();
        Err(Choice {
            message: format!("there is no object or group `{name}` in the file"),
            help: if names.is_empty() {
                "the file names no objects: leave `object` out".to_owned()
            } else {
                format!("it has: {}", list(&names))
            },
        })
    }

    /// A mesh of some faces, with the vertices they use and `extra_vertices`, in the order of the file.
    fn part(&self, name: &str, faces: &[u32], extra_vertices: impl Iterator<Item = u32>) -> PolyMesh {
        let whole = &self.mesh;
        let corners = || faces.iter().flat_map(|&face| whole.face(face as usize));
        let position = Renumbered::new(whole.positions.len(), corners().map(|c| c.position).chain(extra_vertices));
        let uv = Renumbered::new(whole.uvs.len(), corners().filter_map(|c| c.uv));
        let normal = Renumbered::new(whole.normals.len(), corners().filter_map(|c| c.normal));
        let mut face_starts = vec![0];
        let mut face_number = vec![None; whole.face_count()];
        for (new, &face) in faces.iter().enumerate() {
            face_number[face as usize] = Some(new as u32);
            face_starts.push(face_starts[new] + whole.face(face as usize).len() as u32);
        }
        let groups = whole
            .groups
            .iter()
            .map(|group| Group {
                name: group.name.clone(),
                faces: group.faces.iter().filter_map(|&face| face_number[face as usize]).collect(),
            })
            .filter(|group: &Group| !group.faces.is_empty())
            .collect();
        PolyMesh {
            name: name.to_owned(),
            positions: position.pick(&whole.positions),
            uvs: uv.pick(&whole.uvs),
            normals: normal.pick(&whole.normals),
            corners: corners()
                .map(|c| Corner {
                    position: position.new_number(c.position),
                    uv: c.uv.map(|i| uv.new_number(i)),
                    normal: c.normal.map(|i| normal.new_number(i)),
                })
                .collect(),
            face_starts,
            groups,
            materials: runs_of(faces, &whole.materials),
            smoothing: runs_of(faces, &whole.smoothing),
            material_libraries: whole.material_libraries.clone(),
            material_definitions: whole.material_definitions.clone(),
            attributes: Vec::new(),
        }
    }
}

/// The runs of some faces, which are numbered anew.
fn runs_of(faces: &[u32], whole: &[FaceRun]) -> Vec<FaceRun> {
    let mut runs: Vec<FaceRun> = Vec::new();
    for (new, face) in faces.iter().enumerate() {
        let run = whole.partition_point(|run| run.first_face <= *face).checked_sub(1).map(|run| &whole[run]);
        if let Some(run) = run.filter(|run| runs.last().is_none_or(|last| last.name != run.name)) {
            runs.push(FaceRun { first_face: new as u32, name: run.name.clone() });
        }
    }
    runs
}

/// Entries that are used, numbered anew in their old order.
struct Renumbered {
    old: Vec<u32>,
}

impl Renumbered {
    fn new(count: usize, used: impl Iterator<Item = u32>) -> Self {
        let mut is_used = vec![false; count];
        used.for_each(|i| is_used[i as usize] = true);
        Renumbered { old: (0..count as u32).filter(|&i| is_used[i as usize]).collect() }
    }

    fn new_number(&self, old: u32) -> u32 {
        self.old.partition_point(|&i| i < old) as u32
    }

    fn pick<T: Copy>(&self, values: &[T]) -> Vec<T> {
        self.old.iter().map(|&i| values[i as usize]).collect()
    }
}
