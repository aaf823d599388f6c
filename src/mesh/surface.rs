//! A polygon mesh exactly as it stands in the artist's file: order, polygons, UVs, groups, materials and smoothing are kept.

use crate::math::Vec3;

/// One corner of a polygon; indices into the mesh's own arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corner {
    /// Into `positions`.
    pub position: u32,
    /// Into `uvs`.
    pub uv: Option<u32>,
    /// Into `normals`.
    pub normal: Option<u32>,
}

/// A named set of faces (`g` in OBJ).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// As written in the file.
    pub name: String,
    /// Face numbers, ascending.
    pub faces: Vec<u32>,
}

/// A run of faces that share a material or a smoothing group; `first_face` up to the next run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaceRun {
    /// Where the run starts.
    pub first_face: u32,
    /// As written in the file.
    pub name: String,
}

/// One number for each vertex under a name, as glTF files can hold them (`_PIN`, or `COLOR_0.r` for a part of one).
#[derive(Clone, Debug, PartialEq)]
pub struct VertexAttribute {
    /// As in the file.
    pub name: String,
    /// One a vertex.
    pub values: Vec<f64>,
}

/// What a surface looks like, as far as every format can say it.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// As the faces name it.
    pub name: String,
    /// Red, green, blue and opacity, linear, 0 to 1.
    pub base_color: [f64; 4],
    /// 0 to 1.
    pub metallic: f64,
    /// 0 to 1.
    pub roughness: f64,
    /// Light of its own, linear.
    pub emissive: [f64; 3],
    /// Whether its back is drawn too.
    pub double_sided: bool,
}

/// A polygon mesh as imported. Nothing in it is ever reordered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolyMesh {
    /// Name of the object in the file; empty where the file has none.
    pub name: String,
    /// Vertex positions in the order of the file.
    pub positions: Vec<Vec3>,
    /// Texture coordinates in the order of the file.
    pub uvs: Vec<[f64; 2]>,
    /// Normals in the order of the file.
    pub normals: Vec<Vec3>,
    /// All corners, face after face.
    pub corners: Vec<Corner>,
    /// Where each face starts in `corners`, and one more entry for the end.
    pub face_starts: Vec<u32>,
    /// Named groups of faces.
    pub groups: Vec<Group>,
    /// Materials along the faces, ascending by `first_face`.
    pub materials: Vec<FaceRun>,
    /// Smoothing groups along the faces (`s` in OBJ), ascending by `first_face`.
    pub smoothing: Vec<FaceRun>,
    /// The material libraries that the file names, one entry for each statement.
    pub material_libraries: Vec<String>,
    /// What is known of the materials that the faces name.
    pub material_definitions: Vec<Material>,
    /// Numbers that the file holds for each vertex.
    pub attributes: Vec<VertexAttribute>,
}

impl PolyMesh {
    /// How many polygons there are.
    pub fn face_count(&self) -> usize {
        self.face_starts.len().saturating_sub(1)
    }

    /// The corners of one polygon.
    pub fn face(&self, face: usize) -> &[Corner] {
        &self.corners[self.face_starts[face] as usize..self.face_starts[face + 1] as usize]
    }

    /// The polygon that a corner belongs to.
    pub fn face_of_corner(&self, corner: u32) -> usize {
        self.face_starts.partition_point(|&start| start <= corner).saturating_sub(1)
    }
}
