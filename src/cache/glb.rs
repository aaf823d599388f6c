//! Binary glTF 2.0: what browsers, engines and Blender play without a plug-in. Always metres and Y up, as the format says.
//!
//! Mode `morph`: the first frame is the mesh, every later one a morph target (differences of positions), and an animation
//! with one key a frame gives exactly one target the weight 1. Keys stand at (frame - first frame of the file) / fps, so gaps
//! keep their time; after the last key the last frame holds. A file has at most 240 frames, because viewers put targets
//! into the layers of a texture and are only sure to have 256; longer shots become several files, each named by its first
//! frame. Targets are called by their frame numbers.
//!
//! ```text
//! header | JSON, padded with blanks to a length known beforehand | BIN: indices, UVs, times, weights, positions, normals,
//!                                                                   then target after target as the frames come
//! ```
//!
//! `quantize`: positions and differences as 16-bit steps (KHR_mesh_quantization), undone by the node's translation and scale;
//! a frame is off by half a step at most, because differences are taken between rounded positions. `sparse`: a target only
//! lists vertices that moved, unless listing all of them is smaller. `normals`: targets have normals too. Without them a viewer
//! shades every frame like the first one: a sheet that starts flat keeps a flat sheet's shading while it falls into folds.
//!
//! Mode `stream`, for shots of any length: `<name>.glb` is the first frame alone, `<name>.frames.bin` every frame as
//! little-endian f32 x, y, z in the vertex order of the GLB, ready for a vertex buffer. The mesh's extras describe it:
//! `{"kiln_frames": {"uri", "frames": {"first", "step", "count"} or [numbers], "fps": [numerator, denominator], "vertices",
//! "bytes_per_frame"}}`.
//!
//! Vertices are split where corners differ in UV or normal, in the order of the mesh; without a split they are the mesh's own.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value as Json, json};

use super::atomic::{AtomicFile, WrittenFile};
use super::bytes::put_points;
use super::error::{CacheError, Result};
use super::names::{GLB_BIN_CHUNK, GLB_FRAMES_SUFFIX, GLB_JSON_CHUNK, GLB_MAGIC, GLB_VERSION};
use super::writers::{CacheWriter, Progress, Track};
use crate::import::mtl;
use crate::math::Vec3;
use crate::mesh::normals::NormalGroups;
use crate::mesh::surface::{Material, PolyMesh};
use crate::mesh::triangulate::triangulate;
use crate::scene::{FrameRate, Glb, GlbMode};

/// Most frames of one file.
pub const MAX_FRAMES: usize = 240;
/// Header of the file and heads of its two chunks.
const FRAMING: u64 = 12 + 8 + 8;
/// Largest 16-bit step in use; a little less than there is, for what rounding adds.
const LARGEST_STEP: f64 = 32_760.0;

/// No f32 takes more letters in JSON: 17 digits behind all the zeros that are written before an exponent stands in for them.
const LONGEST_NUMBER: f64 = -1.234_567_935_171_071_4e-5;

/// Bytes from one vector of 16-bit steps to the next.
const WHOLE_STRIDE: usize = 8;

const FLOAT: u32 = 5126;
const SHORT: u32 = 5122;
const UNSIGNED_SHORT: u32 = 5123;
const UNSIGNED_INT: u32 = 5125;
const VERTEX_BUFFER: u32 = 34962;
const INDEX_BUFFER: u32 = 34963;

/// The files that some frames go to. `name` gives the name of a GLB, with a frame number where there are several.
pub fn files(glb: Glb, frames: &[i64], name: impl Fn(Option<i64>) -> String) -> Vec<String> {
    match glb.mode {
        GlbMode::Stream => {
            let mesh = name(None);
            let data = format!("{}{GLB_FRAMES_SUFFIX}", mesh.strip_suffix(".glb").unwrap_or(&mesh));
            vec![mesh, data]
        }
        GlbMode::Morph if frames.len() <= MAX_FRAMES => vec![name(None)],
        GlbMode::Morph => frames.chunks(MAX_FRAMES).map(|chunk| name(Some(chunk[0]))).collect(),
    }
}

/// The triangles of one material.
#[derive(Clone, Debug)]
struct Part {
    material: Material,
    indices: Vec<u32>,
}

/// A mesh as glTF wants it: triangles, and vertices that have one UV and one normal each.
#[derive(Clone, Debug)]
pub struct GlbMesh {
    mesh: PolyMesh,
    groups: NormalGroups,
    /// For each vertex its position in the mesh.
    position: Vec<u32>,
    /// For each vertex its normal.
    group: Vec<u32>,
    /// V downwards; none if the mesh has none.
    uvs: Vec<[f32; 2]>,
    parts: Vec<Part>,
}

impl GlbMesh {
    /// Cuts polygons into triangles and splits vertices, by the rest mesh.
    pub fn build(mesh: &PolyMesh) -> Self {
        let groups = NormalGroups::build(mesh);
        let has_uvs = mesh.corners.iter().any(|corner| corner.uv.is_some());
        let uv = |corner: usize| match mesh.corners[corner].uv {
            // What f32 cannot hold is no place in a picture.
            Some(uv) => [mesh.uvs[uv as usize][0], 1.0 - mesh.uvs[uv as usize][1]]
                .map(|x| Some(x as f32).filter(|x| x.is_finite()).unwrap_or_default()),
            None => [0.0; 2],
        };
        // Numbered by first use, then in the order of the mesh.
        let mut numbers = HashMap::new();
        let mut first_corner = Vec::new();
        let mut vertex_of_corner = Vec::with_capacity(mesh.corners.len());
        for (number, corner) in mesh.corners.iter().enumerate() {
            let key = (corner.position, uv(number).map(f32::to_bits), groups.of_corner[number]);
            let vertex = *numbers.entry(key).or_insert_with(|| {
                first_corner.push(number);
                first_corner.len() - 1
            });
            vertex_of_corner.push(vertex);
        }
        let mut order: Vec<usize> = (0..first_corner.len()).collect();
        order.sort_by_key(|&vertex| (mesh.corners[first_corner[vertex]].position, vertex));
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, &old)| place[old] = new as u32);
        let of_vertex = |vertex: &usize| first_corner[*vertex];

        let mut parts: Vec<Part> = Vec::new();
        let mut runs = mesh.materials.iter().peekable();
        let mut part = None;
        for face in 0..mesh.face_count() {
            while let Some(run) = runs.next_if(|run| run.first_face as usize <= face) {
                part = Some(part_of(&mut parts, mesh, &run.name));
            }
            let part = *part.get_or_insert_with(|| part_of(&mut parts, mesh, ""));
            let first = mesh.face_starts[face] as usize;
            let points: Vec<Vec3> = mesh.face(face).iter().map(|c| mesh.positions[c.position as usize]).collect();
            let corners = triangulate(&points).into_iter().flatten();
            parts[part].indices.extend(corners.map(|corner| place[vertex_of_corner[first + corner]]));
        }
        parts.retain(|part| !part.indices.is_empty());
        GlbMesh {
            position: order.iter().map(|vertex| mesh.corners[of_vertex(vertex)].position).collect(),
            group: order.iter().map(|vertex| groups.of_corner[of_vertex(vertex)]).collect(),
            uvs: if has_uvs { order.iter().map(|vertex| uv(of_vertex(vertex))).collect() } else { Vec::new() },
            mesh: mesh.clone(),
            groups,
            parts,
        }
    }

    /// How many vertices the files have.
    pub fn vertex_count(&self) -> usize {
        self.position.len()
    }

    fn gather(&self, positions: &[[f32; 3]], gathered: &mut Vec<[f32; 3]>) {
        gathered.clear();
        gathered.extend(self.position.iter().map(|&position| positions[position as usize]));
    }

    /// A unit normal for each vertex, where the mesh is at these positions.
    fn normals(&self, positions: &[[f32; 3]]) -> Vec<[f32; 3]> {
        let normals = self.groups.normals(&self.mesh, positions);
        self.group.iter().map(|&group| normals[group as usize]).collect()
    }

    /// 16 bits where they do: all ones is not an index.
    fn index_type(&self) -> (u32, usize) {
        if self.vertex_count() < usize::from(u16::MAX) { (UNSIGNED_SHORT, 2) } else { (UNSIGNED_INT, 4) }
    }

    fn put_index(&self, buffer: &mut Vec<u8>, index: u32) {
        match self.index_type() {
            (UNSIGNED_SHORT, _) => buffer.extend_from_slice(&(index as u16).to_le_bytes()),
            _ => buffer.extend_from_slice(&index.to_le_bytes()),
        }
    }
}

/// The part of a material, by name; made where it is not there yet.
fn part_of(parts: &mut Vec<Part>, mesh: &PolyMesh, name: &str) -> usize {
    parts.iter().position(|part| part.material.name == name).unwrap_or_else(|| {
        let known = mesh.material_definitions.iter().find(|material| material.name == name);
        let material = known.cloned().unwrap_or_else(|| mtl::plain(name));
        parts.push(Part { material, indices: Vec::new() });
        parts.len() - 1
    })
}

/// Where the vertices are in all frames: decides the steps of a quantised file.
#[derive(Clone, Debug)]
pub struct Extent {
    low: [f32; 3],
    high: [f32; 3],
    first: Vec<[f32; 3]>,
    largest_difference: f64,
    frame_count: usize,
}

impl Default for Extent {
    fn default() -> Self {
        let (low, high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
        Extent { low, high, first: Vec::new(), largest_difference: 0.0, frame_count: 0 }
    }
}

impl Extent {
    /// The next frame; where a new file starts, differences do too.
    pub fn add(&mut self, positions: &[[f32; 3]]) {
        if self.frame_count.is_multiple_of(MAX_FRAMES) {
            self.first = positions.to_vec();
        }
        self.frame_count += 1;
        for (point, first) in positions.iter().zip(&self.first) {
            for axis in 0..3 {
                self.low[axis] = self.low[axis].min(point[axis]);
                self.high[axis] = self.high[axis].max(point[axis]);
                let difference = (f64::from(point[axis]) - f64::from(first[axis])).abs();
                self.largest_difference = self.largest_difference.max(difference);
            }
        }
    }

    /// The finest steps that hold everything.
    pub fn grid(&self) -> Grid {
        let middle = |axis: usize| ((f64::from(self.low[axis]) + f64::from(self.high[axis])) / 2.0) as f32;
        let origin = [0, 1, 2].map(middle).map(|x| if x.is_finite() { x } else { 0.0 });
        let half = (0..3).map(|axis| {
            let from_origin = |x: f32| (f64::from(x) - f64::from(origin[axis])).abs();
            from_origin(self.low[axis]).max(from_origin(self.high[axis]))
        });
        let largest = half.filter(|x| x.is_finite()).fold(self.largest_difference, f64::max);
        Grid { origin, step: ((largest / LARGEST_STEP) as f32).max(f32::MIN_POSITIVE) }
    }
}

/// Positions in 16-bit steps from an origin; both are f32, so that every reader undoes the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    origin: [f32; 3],
    step: f32,
}

impl Grid {
    /// How far a written coordinate can be off [m].
    pub fn largest_error(&self) -> f64 {
        f64::from(self.step) / 2.0
    }

    fn steps(&self, point: [f32; 3]) -> [i16; 3] {
        let step = |axis: usize| (f64::from(point[axis]) - f64::from(self.origin[axis])) / f64::from(self.step);
        [0, 1, 2].map(|axis| step(axis).round() as i16)
    }
}

/// Lowest and highest number along each axis, as they stand in the file.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    low: [f64; 3],
    high: [f64; 3],
}

impl Bounds {
    /// As long in JSON as numbers can be.
    fn longest(whole: bool) -> Bounds {
        let number = if whole { f64::from(i16::MIN) } else { LONGEST_NUMBER };
        Bounds { low: [number; 3], high: [number; 3] }
    }

    fn of(points: impl Iterator<Item = [f64; 3]>) -> Bounds {
        let mut bounds = Bounds { low: [f64::INFINITY; 3], high: [f64::NEG_INFINITY; 3] };
        for point in points {
            for (axis, x) in point.into_iter().enumerate() {
                bounds.low[axis] = bounds.low[axis].min(x);
                bounds.high[axis] = bounds.high[axis].max(x);
            }
        }
        bounds
    }

    fn put(&self, accessor: &mut Map<String, Json>, whole: bool) {
        let numbers = |values: [f64; 3]| if whole { json!(values.map(|x| x as i64)) } else { json!(values) };
        accessor.insert("min".into(), numbers(self.low));
        accessor.insert("max".into(), numbers(self.high));
    }
}

/// Vectors that are in the file, one a vertex.
#[derive(Clone, Copy, Debug)]
struct Stored {
    bounds: Bounds,
    /// How many vertices are listed; all of them without a list.
    listed: Option<usize>,
    /// Whether they are 16-bit steps.
    whole: bool,
}

/// A morph target that is in the file.
#[derive(Clone, Copy, Debug)]
struct Target {
    positions: Stored,
    normals: Option<Stored>,
}

/// One file: what is in it, and where.
struct Layout<'a> {
    mesh: &'a GlbMesh,
    name: &'a str,
    frames: &'a [i64],
    fps: FrameRate,
    glb: Glb,
    grid: Option<Grid>,
    extras: Option<Json>,
}

/// Rounded up to the alignment of chunks and views.
fn aligned(bytes: usize) -> usize {
    bytes.next_multiple_of(4)
}

impl Layout<'_> {
    fn target_count(&self) -> usize {
        self.frames.len().saturating_sub(1)
    }

    /// Bytes of all vectors; whole numbers are padded to four bytes.
    fn dense_bytes(&self, whole: bool) -> usize {
        (if whole { WHOLE_STRIDE } else { 12 }) * self.mesh.vertex_count()
    }

    /// Bytes of a list of vertices: their numbers, then their vectors.
    fn listed_bytes(&self, count: usize, whole: bool) -> [usize; 2] {
        let value = if whole { 6 } else { 12 };
        [aligned(count * self.mesh.index_type().1), aligned(count * value)]
    }

    /// The JSON, and the length of the binary chunk that it describes.
    fn document(&self, base: &Bounds, targets: &[Target]) -> (Vec<u8>, usize) {
        let Layout { mesh, frames, fps, grid, .. } = self;
        let mut buffer = Buffer::default();
        let vertex_count = mesh.vertex_count();
        let (index_type, index_bytes) = mesh.index_type();
        let primitives: Vec<_> = mesh
            .parts
            .iter()
            .map(|part| {
                let view = buffer.view(part.indices.len() * index_bytes, Some(INDEX_BUFFER), None);
                buffer.accessor(json!({
                    "bufferView": view, "componentType": index_type, "count": part.indices.len(), "type": "SCALAR",
                }))
            })
            .collect();
        let uvs = (!mesh.uvs.is_empty()).then(|| {
            let view = buffer.view(8 * vertex_count, Some(VERTEX_BUFFER), None);
            buffer.accessor(json!({
                "bufferView": view, "componentType": FLOAT, "count": vertex_count, "type": "VEC2",
            }))
        });
        let animation = (!targets.is_empty()).then(|| {
            let times = buffer.view(4 * frames.len(), None, None);
            let times = buffer.accessor(json!({
                "bufferView": times, "componentType": FLOAT, "count": frames.len(), "type": "SCALAR",
                "min": [0.0], "max": [f64::from(self.seconds(frames.len() - 1))],
            }));
            let weights = buffer.view(4 * frames.len() * targets.len(), None, None);
            let weights = buffer.accessor(json!({
                "bufferView": weights, "componentType": FLOAT, "count": frames.len() * targets.len(), "type": "SCALAR",
            }));
            json!([{
                "name": self.name,
                "channels": [{ "sampler": 0, "target": { "node": 0, "path": "weights" } }],
                "samplers": [{ "input": times, "interpolation": "LINEAR", "output": weights }],
            }])
        });
        let vectors = |buffer: &mut Buffer, stored: &Stored| {
            let mut accessor = Map::new();
            if stored.listed.is_none() {
                let stride = stored.whole.then_some(WHOLE_STRIDE);
                let view = buffer.view(self.dense_bytes(stored.whole), Some(VERTEX_BUFFER), stride);
                accessor.insert("bufferView".into(), view.into());
            }
            accessor.insert("componentType".into(), if stored.whole { SHORT } else { FLOAT }.into());
            accessor.insert("count".into(), vertex_count.into());
            accessor.insert("type".into(), "VEC3".into());
            stored.bounds.put(&mut accessor, stored.whole);
            if let Some(count) = stored.listed {
                let [numbers, values] =
                    self.listed_bytes(count, stored.whole).map(|bytes| buffer.view(bytes, None, None));
                let sparse = json!({
                    "count": count,
                    "indices": { "bufferView": numbers, "componentType": index_type },
                    "values": { "bufferView": values },
                });
                accessor.insert("sparse".into(), sparse);
            }
            buffer.accessor(Json::Object(accessor))
        };
        let base = vectors(&mut buffer, &Stored { bounds: *base, listed: None, whole: grid.is_some() });
        let normals = buffer.view(12 * vertex_count, Some(VERTEX_BUFFER), None);
        let normals = buffer.accessor(json!({
            "bufferView": normals, "componentType": FLOAT, "count": vertex_count, "type": "VEC3",
        }));
        let mut target = |target: &Target| {
            let mut attributes = json!({ "POSITION": vectors(&mut buffer, &target.positions) });
            if let Some(normals) = &target.normals {
                attributes["NORMAL"] = vectors(&mut buffer, normals).into();
            }
            attributes
        };
        let targets: Vec<Json> = targets.iter().map(&mut target).collect();

        let mut attributes = json!({ "POSITION": base, "NORMAL": normals });
        if let Some(uvs) = uvs {
            attributes["TEXCOORD_0"] = uvs.into();
        }
        let primitive = |(material, indices): (usize, &usize)| {
            let mut primitive = json!({ "attributes": attributes, "indices": indices, "material": material });
            if !targets.is_empty() {
                primitive["targets"] = json!(targets);
            }
            primitive
        };
        let mut node = json!({ "name": self.name, "mesh": 0 });
        if let Some(grid) = grid {
            node["translation"] = json!(grid.origin.map(f64::from));
            node["scale"] = json!([grid.step; 3].map(f64::from));
        }
        let mut extras = self.extras.clone().unwrap_or_else(|| json!({}));
        if !targets.is_empty() {
            let names: Vec<String> = frames[1..].iter().map(i64::to_string).collect();
            extras["targetNames"] = json!(names);
        }
        let mut document = json!({
            "asset": { "version": "2.0", "generator": format!("kiln {}", env!("CARGO_PKG_VERSION")) },
            "scene": 0,
            "scenes": [{ "name": self.name, "nodes": [0], "extras": {
                "fps": [fps.numerator, fps.denominator], "first_frame": frames.first(), "last_frame": frames.last(),
            } }],
            "nodes": [node],
            "meshes": [{
                "name": self.name,
                "primitives": primitives.iter().enumerate().map(primitive).collect::<Vec<_>>(),
                "extras": extras,
            }],
            "materials": mesh.parts.iter().map(|part| material(&part.material)).collect::<Vec<_>>(),
            "accessors": buffer.accessors,
            "bufferViews": buffer.views,
            "buffers": [{ "byteLength": buffer.length }],
        });
        if let Some(animation) = animation {
            document["animations"] = animation;
        }
        if grid.is_some() {
            document["extensionsUsed"] = json!(["KHR_mesh_quantization"]);
            document["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
        }
        (document.to_string().into_bytes(), buffer.length)
    }

    /// Room for the JSON, whatever the numbers in it will be, and the most that the binary chunk can take.
    fn room(&self) -> (usize, usize) {
        let whole = self.grid.is_some();
        let longest = |whole, listed| Stored { bounds: Bounds::longest(whole), listed, whole };
        let target = |listed| Target {
            positions: longest(whole, listed),
            normals: self.glb.normals.then(|| longest(false, listed)),
        };
        let document = |listed| self.document(&Bounds::longest(whole), &vec![target(listed); self.target_count()]);
        let (dense, bytes) = document(None);
        // A list's description is longer, though its numbers never are: else it would not be one.
        let json = if self.glb.sparse { document(Some(self.mesh.vertex_count())).0.len() } else { dense.len() };
        (aligned(json), bytes)
    }

    /// The size of the file; an upper bound where targets may be sparse.
    fn bytes(&self) -> u64 {
        let (json, binary) = self.room();
        FRAMING + json as u64 + binary as u64
    }

    /// When a frame is shown, from integers [s].
    fn seconds(&self, frame: usize) -> f32 {
        let elapsed = (self.frames[frame] - self.frames[0]) as f64;
        (elapsed * f64::from(self.fps.denominator) / f64::from(self.fps.numerator)) as f32
    }

    /// Everything in the binary chunk that stands before the positions.
    fn put_head(&self, bytes: &mut Vec<u8>) {
        for part in &self.mesh.parts {
            part.indices.iter().for_each(|&index| self.mesh.put_index(bytes, index));
            bytes.resize(aligned(bytes.len()), 0);
        }
        self.mesh.uvs.as_flattened().iter().for_each(|x| bytes.extend_from_slice(&x.to_le_bytes()));
        if self.target_count() == 0 {
            return;
        }
        (0..self.frames.len()).for_each(|frame| bytes.extend_from_slice(&self.seconds(frame).to_le_bytes()));
        for frame in 0..self.frames.len() {
            for target in 0..self.target_count() {
                let weight: f32 = if target + 1 == frame { 1.0 } else { 0.0 };
                bytes.extend_from_slice(&weight.to_le_bytes());
            }
        }
    }
}

/// Views and accessors of the one buffer, in the order of its bytes.
#[derive(Default)]
struct Buffer {
    views: Vec<Json>,
    accessors: Vec<Json>,
    length: usize,
}

impl Buffer {
    fn view(&mut self, bytes: usize, target: Option<u32>, stride: Option<usize>) -> usize {
        let mut view = json!({ "buffer": 0, "byteOffset": self.length, "byteLength": bytes });
        if let Some(stride) = stride {
            view["byteStride"] = stride.into();
        }
        if let Some(target) = target {
            view["target"] = target.into();
        }
        self.length = aligned(self.length + bytes);
        self.views.push(view);
        self.views.len() - 1
    }

    fn accessor(&mut self, accessor: Json) -> usize {
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }
}

fn material(material: &Material) -> Json {
    let Material { name, base_color, metallic, roughness, emissive, double_sided } = material;
    let mut json = json!({
        "pbrMetallicRoughness": {
            "baseColorFactor": base_color, "metallicFactor": metallic, "roughnessFactor": roughness,
        },
        "doubleSided": double_sided,
    });
    if !name.is_empty() {
        json["name"] = name.as_str().into();
    }
    if emissive.iter().any(|&x| x > 0.0) {
        json["emissiveFactor"] = json!(emissive.map(|x| x.min(1.0)));
    }
    if base_color[3] < 1.0 {
        json["alphaMode"] = "BLEND".into();
    }
    json
}

/// What a GLB is made of besides its frames.
#[derive(Clone, Debug)]
pub struct GlbJob {
    /// The mesh.
    pub mesh: GlbMesh,
    /// Name of node, mesh and animation.
    pub name: String,
    /// Ascending.
    pub frames: Vec<i64>,
    /// Frames per second.
    pub fps: FrameRate,
    /// How it is written.
    pub glb: Glb,
    /// The steps of a quantised one.
    pub grid: Option<Grid>,
}

impl GlbJob {
    fn layout<'a>(&'a self, frames: &'a [i64], extras: Option<Json>) -> Layout<'a> {
        let GlbJob { mesh, name, fps, glb, .. } = self;
        // Sizes are asked for before the steps are known, and do not depend on them.
        let longest = LONGEST_NUMBER as f32;
        let unknown = Grid { origin: [longest; 3], step: -longest };
        let grid = glb.quantize.then(|| self.grid.unwrap_or(unknown));
        Layout { mesh, name, frames, fps: *fps, glb: *glb, grid, extras }
    }

    fn stream_layout(&self, data: &str) -> Layout<'_> {
        let frames = match crate::scene::frames::uniform_step(&self.frames) {
            Some(step) => json!({ "first": self.frames.first(), "step": step, "count": self.frames.len() }),
            None => json!(self.frames),
        };
        let vertices = self.mesh.vertex_count();
        let extras = json!({ "kiln_frames": {
            "uri": data, "frames": frames, "fps": [self.fps.numerator, self.fps.denominator],
            "vertices": vertices, "bytes_per_frame": 12 * vertices,
        } });
        let mut layout = self.layout(&self.frames[..self.frames.len().min(1)], Some(extras));
        layout.glb.mode = GlbMode::Stream;
        layout
    }

    /// The sizes of the files, in the order of `files`. Exact, and never exceeded where targets are sparse.
    pub fn sizes(&self, files: &[String]) -> Vec<u64> {
        match self.glb.mode {
            GlbMode::Morph => self.frames.chunks(MAX_FRAMES).map(|chunk| self.layout(chunk, None).bytes()).collect(),
            GlbMode::Stream => {
                let data = files.get(1).map_or("", |file| file.rsplit('/').next().unwrap_or_default());
                let frame = 12 * self.mesh.vertex_count() as u64;
                vec![self.stream_layout(data).bytes(), frame * self.frames.len() as u64]
            }
        }
    }

    /// Why the files cannot be written: a GLB counts its bytes with 32 bits.
    pub fn size_fault(&self, files: &[String]) -> Option<String> {
        let glb_files = if self.glb.mode == GlbMode::Stream { 1 } else { usize::MAX };
        let largest = self.sizes(files).into_iter().take(glb_files).max()?;
        let vertices = self.mesh.vertex_count();
        (largest > u64::from(u32::MAX)).then(|| {
            format!(
                "{vertices} vertices in {} frames need {:.1} GB, and a GLB cannot be larger than 4.3 GB; use glb = {{ mode \
                 = \"stream\" }}, `quantize`, or fewer frames",
                self.frames.len().min(MAX_FRAMES),
                largest as f64 / 1e9
            )
        })
    }

    /// Starts writing; `paths` are those of `files`.
    pub fn writer(self, paths: Vec<PathBuf>, track: Track) -> Result<Box<dyn CacheWriter>> {
        let first = paths.first().map_or(Path::new(""), PathBuf::as_path);
        if self.mesh.parts.is_empty() {
            return Err(CacheError::invalid(first, "a mesh without faces cannot be written as GLB"));
        }
        let names: Vec<String> = paths.iter().map(|path| path.to_string_lossy().into_owned()).collect();
        if let Some(fault) = self.size_fault(&names) {
            return Err(CacheError::invalid(first, fault));
        }
        let progress = Progress::new(track);
        match (self.glb.mode, paths.as_slice()) {
            (GlbMode::Stream, [mesh, data]) => {
                let points = Vec::new();
                let file = AtomicFile::create(data)?;
                let (mesh_file, buffer) = (mesh.clone(), Vec::new());
                Ok(Box::new(StreamWriter { job: self, mesh_file, file, progress, points, buffer, chunk: None }))
            }
            (GlbMode::Morph, paths) if paths.len() == self.frames.len().div_ceil(MAX_FRAMES) => {
                let (files, points) = (paths.to_vec(), Vec::new());
                let (chunk, written) = (None, Vec::new());
                Ok(Box::new(MorphWriter { job: self, files, progress, points, chunk, written }))
            }
            _ => Err(CacheError::invalid(first, "the number of files does not fit the frames")),
        }
    }
}

/// A GLB that is being written.
struct Chunk {
    file: AtomicFile,
    json_room: usize,
    base: Vec<[f32; 3]>,
    base_normals: Vec<[f32; 3]>,
    base_bounds: Bounds,
    stored: Vec<Target>,
    binary_bytes: usize,
    bytes: Vec<u8>,
}

impl Chunk {
    /// Writes all but the morph targets; `base` are the positions of the first frame, `all` those of the whole mesh.
    fn start(path: &Path, layout: &Layout, base: Vec<[f32; 3]>, all: &[[f32; 3]]) -> Result<Self> {
        let json_room = layout.room().0;
        let file = AtomicFile::create_with_head(path, FRAMING as usize + json_room)?;
        let mut bytes = Vec::new();
        layout.put_head(&mut bytes);
        let base_bounds = match layout.grid {
            None => {
                put_points(&mut bytes, &base, f32::to_le_bytes);
                Bounds::of(base.iter().map(|point| point.map(f64::from)))
            }
            Some(grid) => {
                base.iter().for_each(|&point| grid.steps(point).put_aligned(&mut bytes));
                Bounds::of(base.iter().map(|&point| grid.steps(point).map(f64::from)))
            }
        };
        let base_normals = layout.mesh.normals(all);
        put_points(&mut bytes, &base_normals, f32::to_le_bytes);
        let stored = Vec::new();
        let mut chunk = Chunk { file, json_room, base, base_normals, base_bounds, stored, binary_bytes: 0, bytes };
        chunk.flush()?;
        Ok(chunk)
    }

    fn flush(&mut self) -> Result<()> {
        self.bytes.resize(aligned(self.bytes.len()), 0);
        self.binary_bytes += self.bytes.len();
        self.file.put(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }

    /// Adds a frame after the first one; `all` are the positions of the whole mesh.
    fn add(&mut self, layout: &Layout, points: &[[f32; 3]], all: &[[f32; 3]]) -> Result<()> {
        let positions = match layout.grid {
            None => put_target(layout, &mut self.bytes, &differences(points, &self.base)),
            Some(grid) => {
                let difference = |(&p, &q): (&[f32; 3], &[f32; 3])| {
                    let [p, q] = [grid.steps(p), grid.steps(q)];
                    [0, 1, 2].map(|axis| p[axis].saturating_sub(q[axis]))
                };
                let differences: Vec<[i16; 3]> = points.iter().zip(&self.base).map(difference).collect();
                put_target(layout, &mut self.bytes, &differences)
            }
        };
        let normals = layout.glb.normals.then(|| {
            let normals = layout.mesh.normals(all);
            put_target(layout, &mut self.bytes, &differences(&normals, &self.base_normals))
        });
        self.stored.push(Target { positions, normals });
        self.flush()
    }

    /// Writes the header and the JSON into their room and gives the file its name.
    fn finish(self, layout: &Layout) -> Result<WrittenFile> {
        let (mut json, binary_bytes) = layout.document(&self.base_bounds, &self.stored);
        if json.len() > self.json_room || binary_bytes != self.binary_bytes {
            return Err(CacheError::invalid(self.file.path(), "the GLB does not fit the room that was left for it"));
        }
        json.resize(self.json_room, b' ');
        let length = |bytes: usize| (bytes as u32).to_le_bytes(); // fits: `size_fault` has looked
        let mut head = Vec::with_capacity(json.len() + FRAMING as usize);
        head.extend_from_slice(&GLB_MAGIC);
        head.extend_from_slice(&GLB_VERSION.to_le_bytes());
        head.extend_from_slice(&length(FRAMING as usize + json.len() + binary_bytes));
        head.extend_from_slice(&length(json.len()));
        head.extend_from_slice(&GLB_JSON_CHUNK);
        head.extend_from_slice(&json);
        head.extend_from_slice(&length(binary_bytes));
        head.extend_from_slice(&GLB_BIN_CHUNK);
        self.file.commit_with_head(&head)
    }
}

fn differences(points: &[[f32; 3]], base: &[[f32; 3]]) -> Vec<[f32; 3]> {
    points.iter().zip(base).map(|(p, q)| [p[0] - q[0], p[1] - q[1], p[2] - q[2]]).collect()
}

/// A vector as it stands in a target.
trait Difference: Copy + Default + PartialEq {
    /// Whether it is made of 16-bit steps.
    const WHOLE: bool;
    fn numbers(self) -> [f64; 3];
    /// Appended without gaps.
    fn put(self, bytes: &mut Vec<u8>);
    /// Appended in the four-byte alignment of vertex data.
    fn put_aligned(self, bytes: &mut Vec<u8>);
}

impl Difference for [f32; 3] {
    const WHOLE: bool = false;
    fn numbers(self) -> [f64; 3] {
        self.map(f64::from)
    }
    fn put(self, bytes: &mut Vec<u8>) {
        self.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
    }
    fn put_aligned(self, bytes: &mut Vec<u8>) {
        self.put(bytes);
    }
}

impl Difference for [i16; 3] {
    const WHOLE: bool = true;
    fn numbers(self) -> [f64; 3] {
        self.map(f64::from)
    }
    fn put(self, bytes: &mut Vec<u8>) {
        self.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
    }
    fn put_aligned(self, bytes: &mut Vec<u8>) {
        self.put(bytes);
        bytes.extend_from_slice(&[0; 2]);
    }
}

/// Writes differences, all or only those that are not zero.
fn put_target<T: Difference>(layout: &Layout, bytes: &mut Vec<u8>, differences: &[T]) -> Stored {
    let bounds = Bounds::of(differences.iter().map(|difference| difference.numbers()));
    let moved = || differences.iter().enumerate().filter(|(_, difference)| **difference != T::default());
    // No list is empty in glTF: one vertex that did not move stands in.
    let count = if layout.glb.sparse { moved().count().max(1) } else { differences.len() };
    let is_smaller = || layout.listed_bytes(count, T::WHOLE).iter().sum::<usize>() < layout.dense_bytes(T::WHOLE);
    if !layout.glb.sparse || !is_smaller() {
        bytes.reserve(layout.dense_bytes(T::WHOLE));
        differences.iter().for_each(|difference| difference.put_aligned(bytes));
        return Stored { bounds, listed: None, whole: T::WHOLE };
    }
    let listed: Vec<(usize, &T)> = match moved().next() {
        Some(_) => moved().collect(),
        None => differences.iter().enumerate().take(1).collect(),
    };
    listed.iter().for_each(|(vertex, _)| layout.mesh.put_index(bytes, *vertex as u32));
    bytes.resize(aligned(bytes.len()), 0);
    listed.iter().for_each(|(_, difference)| difference.put(bytes));
    bytes.resize(aligned(bytes.len()), 0);
    Stored { bounds, listed: Some(count), whole: T::WHOLE }
}

/// Writes morph targets.
struct MorphWriter {
    job: GlbJob,
    files: Vec<PathBuf>,
    progress: Progress,
    points: Vec<[f32; 3]>,
    chunk: Option<Chunk>,
    written: Vec<WrittenFile>,
}

impl CacheWriter for MorphWriter {
    fn frame(&mut self, frame: i64, positions: &[[f32; 3]]) -> Result<()> {
        let path = self.files.get(self.written.len()).or(self.files.last()).map_or(Path::new(""), PathBuf::as_path);
        let number = self.progress.accept(path, frame, positions)?;
        let first = number - number % MAX_FRAMES;
        let frames = &self.job.frames[first..self.job.frames.len().min(first + MAX_FRAMES)];
        let layout = self.job.layout(frames, None);
        self.job.mesh.gather(positions, &mut self.points);
        let mut chunk = match self.chunk.take() {
            None => Chunk::start(path, &layout, self.points.clone(), positions)?,
            Some(mut chunk) => {
                chunk.add(&layout, &self.points, positions)?;
                chunk
            }
        };
        if number + 1 == first + frames.len() {
            chunk.bytes = Vec::new();
            self.written.push(chunk.finish(&layout)?);
        } else {
            self.chunk = Some(chunk);
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<WrittenFile>> {
        self.progress.complete(self.files.last().map_or(Path::new(""), PathBuf::as_path))?;
        Ok(self.written)
    }
}

/// Writes the first frame as GLB and all of them as raw numbers.
struct StreamWriter {
    job: GlbJob,
    mesh_file: PathBuf,
    file: AtomicFile,
    progress: Progress,
    points: Vec<[f32; 3]>,
    buffer: Vec<u8>,
    chunk: Option<Chunk>,
}

impl StreamWriter {
    /// What the GLB calls the other file.
    fn data_name(&self) -> String {
        self.file.path().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }
}

impl CacheWriter for StreamWriter {
    fn frame(&mut self, frame: i64, positions: &[[f32; 3]]) -> Result<()> {
        self.progress.accept(self.file.path(), frame, positions)?;
        self.job.mesh.gather(positions, &mut self.points);
        if self.chunk.is_none() {
            let data = self.data_name();
            let layout = self.job.stream_layout(&data);
            self.chunk = Some(Chunk::start(&self.mesh_file, &layout, self.points.clone(), positions)?);
        }
        self.buffer.clear();
        put_points(&mut self.buffer, &self.points, f32::to_le_bytes);
        self.file.put(&self.buffer)
    }

    fn finish(self: Box<Self>) -> Result<Vec<WrittenFile>> {
        self.progress.complete(self.file.path())?;
        let data = self.data_name();
        let layout = self.job.stream_layout(&data);
        let Some(chunk) = self.chunk else {
            return Err(CacheError::invalid(&self.mesh_file, "there are no frames"));
        };
        let mesh = chunk.finish(&layout)?;
        Ok(vec![mesh, self.file.commit()?])
    }
}
