//! Primitives into one polygon mesh: vertices in file order, primitive after primitive.

use std::collections::BTreeMap;

use super::GltfFile;
use super::accessors::{ATTRIBUTE, INDICES, JOINTS, TEXTURE_COORDINATES, VECTORS, WEIGHTS};
use super::document::{MaterialText, PrimitiveText};
use super::fault::{self, Fault, entry, fault};
use crate::math::Vec3;
use crate::math::affine::Affine;
use crate::mesh::animated::BoundVertex;
use crate::mesh::surface::{Corner, FaceRun, Group, Material, PolyMesh, VertexAttribute};

/// Meshes may be shown by many nodes, and accessors may share bytes, so the size of a file bounds nothing. More
/// vertices than this cannot be simulated on any machine of today.
const MOST_VERTICES: usize = 1 << 24;
/// Six corners a vertex is what closed surfaces have; this is more.
const MOST_CORNERS: usize = 1 << 27;

/// Attributes and morph targets may share bytes too; this is how many of them all vertices together may have.
const MOST_VERTEX_ATTRIBUTES: usize = 1 << 26;

/// A node that shows a mesh, and how its vertices are bound.
pub struct Part {
    pub node: usize,
    pub mesh: usize,
    /// From the mesh to the world while nothing moves.
    pub frame: Affine,
    /// The mover of the node, or of its skin's first joint.
    pub first_mover: u32,
    /// How many joints the skin has; `None` without a skin.
    pub joint_count: Option<usize>,
    /// The number of its first morph weight.
    pub first_morph: u32,
    /// Morph weights while nothing moves.
    pub morph_weights: Vec<f64>,
}

/// The mesh so far.
pub struct Collected {
    pub mesh: PolyMesh,
    /// Filled only for a mesh that moves.
    pub bound: Vec<BoundVertex>,
    /// What was left out.
    pub findings: Vec<String>,
    is_animated: bool,
    groups: Vec<(String, Vec<u32>)>,
    vertex_attributes_left: usize,
}

/// Vertices of a primitive, which other primitives may share.
struct Block {
    first: u32,
    count: u32,
    has_uvs: bool,
    has_normals: bool,
}

impl Collected {
    pub fn new(name: &str, is_animated: bool) -> Self {
        let mesh = PolyMesh { name: name.to_owned(), face_starts: vec![0], ..PolyMesh::default() };
        Collected {
            mesh,
            bound: Vec::new(),
            findings: Vec::new(),
            is_animated,
            groups: Vec::new(),
            vertex_attributes_left: MOST_VERTEX_ATTRIBUTES,
        }
    }

    /// Adds all primitives of one mesh node.
    pub fn add(&mut self, file: &GltfFile, part: &Part) -> Result<(), Fault> {
        let mesh = entry(&file.document.meshes, part.mesh, "meshes", || format!("nodes[{}]", part.node))?;
        let mut blocks: BTreeMap<_, Block> = BTreeMap::new();
        for (n, primitive) in mesh.primitives.iter().enumerate() {
            let at = format!("meshes[{}].primitives[{n}]", part.mesh);
            let mode = primitive.mode.unwrap_or(4);
            if mode < 4 {
                self.findings.push(format!("{at}: points and lines are left out"));
                continue;
            }
            if mode > 6 {
                return Err(fault(at, format!("mode {mode} is not one of glTF's")));
            }
            let key = (&primitive.attributes, &primitive.targets);
            let block = match blocks.entry(key) {
                std::collections::btree_map::Entry::Occupied(known) => known.into_mut(),
                std::collections::btree_map::Entry::Vacant(new) => {
                    new.insert(self.add_vertices(file, part, primitive, &at)?)
                }
            };
            let first_face = self.mesh.face_count() as u32;
            self.add_faces(file, part, primitive, mode, block, &at)?;
            let material = match primitive.material {
                Some(material) => {
                    let text = entry(&file.document.materials, material, "materials", || at.clone())?;
                    let name = &file.material_names[material];
                    if !self.mesh.material_definitions.iter().any(|known| known.name == *name) {
                        self.mesh.material_definitions.push(definition(name, text));
                    }
                    name.as_str()
                }
                None => NO_MATERIAL,
            };
            if self.mesh.materials.last().is_none_or(|run| run.name != material) {
                self.mesh.materials.push(FaceRun { first_face, name: material.to_owned() });
            }
            let faces = first_face..self.mesh.face_count() as u32;
            match self.groups.iter_mut().find(|(name, _)| name == material) {
                Some((_, members)) => members.extend(faces),
                None => self.groups.push((material.to_owned(), faces.collect())),
            }
        }
        Ok(())
    }

    /// Fills up lists that the last primitives have no part in, and takes away what says nothing: groups and materials
    /// where all faces have the same.
    pub fn finish(&mut self, primitive_count: usize) {
        let vertex_count = self.mesh.positions.len();
        if !self.mesh.uvs.is_empty() {
            self.mesh.uvs.resize(vertex_count, [0.0; 2]);
        }
        if !self.mesh.normals.is_empty() {
            self.mesh.normals.resize(vertex_count, Vec3::zeros());
        }
        if primitive_count > 1 {
            self.mesh.groups = self.groups.drain(..).map(|(name, faces)| Group { name, faces }).collect();
            self.mesh.groups.retain(|group| !group.faces.is_empty());
        }
        if self.mesh.materials.iter().all(|run| run.name == NO_MATERIAL) {
            self.mesh.materials.clear();
            self.mesh.groups.clear();
        }
    }

    fn add_vertices(
        &mut self,
        file: &GltfFile,
        part: &Part,
        primitive: &PrimitiveText,
        at: &str,
    ) -> Result<Block, Fault> {
        let accessors = file.accessors();
        let attribute = |name: &str| primitive.attributes.get(name).copied();
        let position = attribute("POSITION").ok_or_else(|| fault(at, "has no POSITION"))?;
        let from = |name: &str| format!("{at}.attributes.{name}");
        let count = accessors.count(position, &|| from("POSITION"))?;
        let first = self.mesh.positions.len();
        if first + count > MOST_VERTICES {
            return Err(fault(at, format!("more than {MOST_VERTICES} vertices")).help("simplify the mesh"));
        }
        let wanted = count * (primitive.attributes.len() + primitive.targets.len());
        self.vertex_attributes_left = self.vertex_attributes_left.checked_sub(wanted).ok_or_else(|| {
            let help = "remove attributes or morph targets, or simplify the mesh";
            fault(at, format!("the vertices have more than {MOST_VERTEX_ATTRIBUTES} attributes and morph targets"))
                .help(help)
        })?;
        for (name, &accessor) in &primitive.attributes {
            let other = accessors.count(accessor, &|| from(name))?;
            if other != count {
                return Err(fault(from(name), format!("has {other} elements for {count} vertices")));
            }
        }
        let mut positions = accessors.read(position, VECTORS, &|| from("POSITION"))?;
        let morphs = self.morphs(file, part, primitive, count, at)?;
        let bound = self.is_animated.then(|| positions.clone());
        for (vertex, morphs) in morphs.iter().enumerate() {
            for (weight, shift) in morphs {
                let weight = part.morph_weights[(weight - part.first_morph) as usize];
                (0..3).for_each(|n| positions.values[3 * vertex + n] += weight * shift[n]);
            }
        }
        let placed = (0..count).map(|v| part.frame.apply(Vec3::from(positions.element::<3>(v))));
        self.mesh.positions.extend(placed);

        let has_uvs = self.add_uvs(file, attribute("TEXCOORD_0"), first, count, at)?;
        let has_normals = self.add_normals(file, part, attribute("NORMAL"), first, count, at)?;
        self.add_attributes(file, primitive, first, count, at)?;
        let movers = self.movers(file, part, primitive, count, at)?;
        if let Some(bound) = bound {
            let morphs = morphs.into_iter().chain(std::iter::repeat(Vec::new()));
            self.bound.extend((0..count).zip(movers).zip(morphs).map(|((v, movers), morphs)| BoundVertex {
                position: Vec3::from(bound.element::<3>(v)),
                movers,
                morphs,
            }));
        }
        Ok(Block { first: first as u32, count: count as u32, has_uvs, has_normals })
    }

    /// Morph shifts of each vertex; no entries at all without targets.
    fn morphs(
        &self,
        file: &GltfFile,
        part: &Part,
        primitive: &PrimitiveText,
        count: usize,
        at: &str,
    ) -> Result<Vec<Vec<(u32, Vec3)>>, Fault> {
        if primitive.targets.len() != part.morph_weights.len() {
            let (here, there) = (primitive.targets.len(), part.morph_weights.len());
            return Err(fault(at, format!("has {here} morph targets where {there} are expected")));
        }
        let mut morphs = Vec::new();
        for (n, target) in primitive.targets.iter().enumerate() {
            let Some(&accessor) = target.get("POSITION") else { continue };
            let from = || format!("{at}.targets[{n}].POSITION");
            let accessors = file.accessors();
            if accessors.count(accessor, &from)? != count {
                let message = format!("has {} elements for {count} vertices", accessors.count(accessor, &from)?);
                return Err(fault(from(), message));
            }
            let shifts = accessors.read(accessor, VECTORS, &from)?;
            morphs.resize(count, Vec::new());
            for (vertex, morphs) in morphs.iter_mut().enumerate() {
                let shift = Vec3::from(shifts.element::<3>(vertex));
                if shift != Vec3::zeros() {
                    morphs.push((part.first_morph + n as u32, shift));
                }
            }
        }
        Ok(morphs)
    }

    /// Movers and weights of each vertex.
    fn movers(
        &self,
        file: &GltfFile,
        part: &Part,
        primitive: &PrimitiveText,
        count: usize,
        at: &str,
    ) -> Result<Vec<Vec<(u32, f64)>>, Fault> {
        let Some(joint_count) = part.joint_count else {
            let movers = if self.is_animated { vec![vec![(part.first_mover, 1.0)]; count] } else { Vec::new() };
            return Ok(movers);
        };
        let mut movers: Vec<Vec<(u32, f64)>> = vec![Vec::new(); count];
        for set in 0.. {
            let names = [format!("JOINTS_{set}"), format!("WEIGHTS_{set}")];
            let [joints, weights] = names.each_ref().map(|name| primitive.attributes.get(name).copied());
            let (Some(joints), Some(weights)) = (joints, weights) else {
                if set == 0 || joints.is_some() || weights.is_some() {
                    let message = format!("has no {} and {} for the skin of its node", names[0], names[1]);
                    return Err(fault(at, message));
                }
                break;
            };
            let accessors = file.accessors();
            let from = |name: &str| format!("{at}.attributes.{name}");
            let joints = accessors.integers(joints, JOINTS, &|| from(&names[0]))?;
            let weights = accessors.read(weights, WEIGHTS, &|| from(&names[1]))?;
            let pairs = joints.chunks_exact(4).zip(weights.values.chunks_exact(4));
            for (vertex, (joints, weights)) in pairs.enumerate() {
                for (&joint, &weight) in joints.iter().zip(weights) {
                    if weight < 0.0 {
                        return Err(fault(from(&names[1]), format!("vertex {vertex} has a weight below 0")));
                    }
                    if joint as usize >= joint_count {
                        // What counts nothing may name anything.
                        if weight == 0.0 {
                            continue;
                        }
                        let message = format!("vertex {vertex} hangs on joint {joint}, and the skin has {joint_count}");
                        return Err(fault(from(&names[0]), message));
                    }
                    movers[vertex].push((part.first_mover + joint, weight));
                }
            }
        }
        // With all weights 0 the first joint named is the one to follow.
        movers.iter_mut().filter(|movers| movers.is_empty()).for_each(|movers| movers.push((part.first_mover, 1.0)));
        Ok(movers)
    }

    fn add_uvs(
        &mut self,
        file: &GltfFile,
        accessor: Option<usize>,
        first: usize,
        count: usize,
        at: &str,
    ) -> Result<bool, Fault> {
        let from = || format!("{at}.attributes.TEXCOORD_0");
        let uvs = match accessor {
            Some(accessor) => file.accessors().read_any(accessor, TEXTURE_COORDINATES, &from)?,
            None => return Ok(false),
        };
        if !uvs.values.iter().all(|x| x.is_finite()) {
            self.findings.push(format!("{}: not all are finite numbers, so they are left out", from()));
            return Ok(false);
        }
        self.mesh.uvs.resize(first, [0.0; 2]);
        self.mesh.uvs.extend((0..count).map(|v| uvs.element::<2>(v)).map(|[u, v]| [u, 1.0 - v]));
        Ok(true)
    }

    fn add_normals(
        &mut self,
        file: &GltfFile,
        part: &Part,
        accessor: Option<usize>,
        first: usize,
        count: usize,
        at: &str,
    ) -> Result<bool, Fault> {
        let from = || format!("{at}.attributes.NORMAL");
        let normals = match accessor {
            Some(accessor) => file.accessors().read_any(accessor, VECTORS, &from)?,
            None => return Ok(false),
        };
        if !normals.values.iter().all(|x| x.is_finite()) {
            self.findings.push(format!("{}: not all are finite numbers, so they are left out", from()));
            return Ok(false);
        }
        // A normal stays upright on its face when it goes by the cofactors; a mirror turns it inside out once more.
        let linear = part.frame.linear;
        let [x, y, z] = [0, 1, 2].map(|n| Vec3::from(linear.column(n)));
        let cofactors = crate::math::Mat3::from_columns(&[y.cross(&z), z.cross(&x), x.cross(&y)]);
        let cofactors = if linear.determinant() < 0.0 { -cofactors } else { cofactors };
        let is_moved = part.frame != Affine::identity();
        let placed = |v: usize| {
            let normal = Vec3::from(normals.element::<3>(v));
            let turned = cofactors * normal;
            if is_moved { turned.try_normalize(1e-150).unwrap_or(normal) } else { normal }
        };
        self.mesh.normals.resize(first, Vec3::zeros());
        self.mesh.normals.extend((0..count).map(placed));
        Ok(true)
    }

    /// Custom attributes and vertex colours, one list of numbers for each part of them.
    fn add_attributes(
        &mut self,
        file: &GltfFile,
        primitive: &PrimitiveText,
        first: usize,
        count: usize,
        at: &str,
    ) -> Result<(), Fault> {
        for (name, &accessor) in &primitive.attributes {
            let is_color = name.starts_with("COLOR_");
            let shown = fault::name(Some(name), String::new);
            if !(is_color || name.starts_with('_')) {
                continue;
            }
            let kind = file.document.accessors.get(accessor).map(|accessor| accessor.kind.as_str());
            if kind.is_some_and(|kind| kind.starts_with("MAT")) {
                continue;
            }
            let numbers = file.accessors().read(accessor, ATTRIBUTE, &|| format!("{at}.attributes.{name}"))?;
            for n in 0..numbers.width {
                let name = match (numbers.width, is_color) {
                    (1, _) => shown.clone(),
                    (_, true) => format!("{shown}.{}", ["r", "g", "b", "a"][n]),
                    (_, false) => format!("{shown}.{}", ["x", "y", "z", "w"][n]),
                };
                let attributes = &mut self.mesh.attributes;
                let known = attributes.iter().position(|attribute| attribute.name == name).unwrap_or_else(|| {
                    attributes.push(VertexAttribute { name, values: Vec::new() });
                    attributes.len() - 1
                });
                let values = &mut attributes[known].values;
                values.resize(first, 0.0);
                values.extend(numbers.values.iter().skip(n).step_by(numbers.width));
            }
        }
        let vertex_count = first + count;
        self.mesh.attributes.iter_mut().for_each(|attribute| attribute.values.resize(vertex_count, 0.0));
        Ok(())
    }

    fn add_faces(
        &mut self,
        file: &GltfFile,
        part: &Part,
        primitive: &PrimitiveText,
        mode: u64,
        block: &Block,
        at: &str,
    ) -> Result<(), Fault> {
        let from = || format!("{at}.indices");
        let indices: Vec<u32> = match primitive.indices {
            Some(accessor) => file.accessors().integers(accessor, INDICES, &from)?,
            None => (0..block.count).collect(),
        };
        if let Some(&wrong) = indices.iter().find(|&&index| index >= block.count) {
            return Err(fault(from(), format!("vertex {wrong} does not exist: there are {}", block.count)));
        }
        if mode == 4 && !indices.len().is_multiple_of(3) {
            return Err(fault(at, format!("{} corners are not a whole number of triangles", indices.len())));
        }
        let triangle_count = if mode == 4 { indices.len() / 3 } else { indices.len().saturating_sub(2) };
        if self.mesh.corners.len() + 3 * triangle_count > MOST_CORNERS {
            return Err(fault(at, format!("more than {} triangles", MOST_CORNERS / 3)).help("simplify the mesh"));
        }
        let is_mirrored = part.frame.linear.determinant() < 0.0;
        for n in 0..triangle_count {
            let mut triangle = match mode {
                4 => [3 * n, 3 * n + 1, 3 * n + 2],
                5 => [n, n + 1 + n % 2, n + 2 - n % 2],
                _ => [n + 1, n + 2, 0],
            }
            .map(|k| indices[k]);
            // Strips are stitched together with flat triangles.
            let [a, b, c] = triangle;
            if mode != 4 && (a == b || b == c || c == a) {
                continue;
            }
            if is_mirrored {
                triangle.swap(1, 2);
            }
            self.mesh.corners.extend(triangle.map(|index| {
                let vertex = block.first + index;
                Corner {
                    position: vertex,
                    uv: block.has_uvs.then_some(vertex),
                    normal: block.has_normals.then_some(vertex),
                }
            }));
            self.mesh.face_starts.push(self.mesh.corners.len() as u32);
        }
        Ok(())
    }
}

/// What primitives without a material are said to be made of, where others have one.
const NO_MATERIAL: &str = "default";

fn definition(name: &str, text: &MaterialText) -> Material {
    let pbr = &text.pbr_metallic_roughness;
    let [r, g, b, alpha] = pbr.base_color_factor;
    // In all other modes alpha makes nothing see-through, whatever it is.
    let opacity = if text.alpha_mode.as_deref() == Some("BLEND") { alpha } else { 1.0 };
    Material {
        name: name.to_owned(),
        base_color: [r, g, b, opacity],
        // The factor is only the most that the texture, which is left out, can say; all metal is drawn black.
        metallic: if pbr.metallic_roughness_texture.is_some() { 0.0 } else { pbr.metallic_factor },
        roughness: pbr.roughness_factor,
        emissive: text.emissive_factor,
        double_sided: text.double_sided,
    }
}

/// Names for all materials, no two alike.
pub fn material_names(materials: &[MaterialText]) -> Vec<String> {
    let mut taken: std::collections::HashSet<String> = std::collections::HashSet::from([NO_MATERIAL.to_owned()]);
    let mut unique = |(n, material): (usize, &MaterialText)| {
        let numbered = || format!("material_{n}");
        let name = fault::name(material.name.as_ref(), numbered);
        let name = if taken.contains(&name) { numbered() } else { name };
        taken.insert(name.clone());
        name
    };
    materials.iter().enumerate().map(&mut unique).collect()
}
