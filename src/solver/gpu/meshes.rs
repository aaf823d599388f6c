//! Mesh colliders on the device: boxes, triangles, and where their vertices are in a step. All bodies share them.
//!
//! Places are relative to the mesh's middle, so that single precision is enough wherever it is. A mesh that moves as a whole is sent once. One whose
//! vertices move is sent once a frame: all of it, at the ends of the frame's pieces, and boxes that hold what lies between; in each step the device
//! goes straight between them.

use bytemuck::{Pod, Zeroable};

use super::finding::FINDING;
use super::particles::{Four, four, single};
use super::work::{Binding, Dispatch, Gpu, Slab, Told};
use crate::algorithms::contact::signed_distance::{MeshSurface, SurfaceShape};
use crate::math::Vec3;
use crate::mesh::bvh::{Aabb, Bvh};
use crate::mesh::measures::bounds;
use crate::model::moving_collider::{PIECES, passed, piece};
use crate::model::{Model, Moment, MovingCollider};

/// Most nodes that wait while boxes are gone through; `MOST_DEPTH` of the kernel.
pub(super) const MOST_DEPTH: usize = 32;
/// Most boxes and triangles that a point looks at. Mesa's software Vulkan ends all loops of an invocation after 65535 turns; loops around
/// corners have to come out of the same.
pub(super) const MOST_TURNS: usize = 60_000;
/// Most triangles around a corner or an edge.
const MOST_AROUND: usize = 4096;
/// Part of a mesh's size that rounding takes from places on it, at most.
const ROUNDING: f64 = 1e-6;

// The kernel has one number for each piece of a frame in a vector.
const _: () = assert!(PIECES == 4);

/// `Mesh` of the kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct MeshData {
    order: u32,
    edges: u32,
    corners: u32,
    rims: u32,
    is_solid: u32,
    behind: f32,
    rounding: f32,
    unused: u32,
}

/// `Node` of the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct NodeData {
    low: [f32; 3],
    link: u32,
    high: [f32; 3],
    count: u32,
}

/// `Vertex` of the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct VertexData {
    place: Four,
    way: Four,
}

/// `Blend` of the kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct BlendData {
    piece: u32,
    inside: f32,
    vertices: u32,
    unused: u32,
    passed: [f32; 4],
}

/// What only a mesh has whose vertices move.
struct Moving {
    triangles: Vec<[u32; 3]>,
    bvh: Bvh,
    keys: Slab<Four>,
    blend: Told<BlendData>,
    place: Dispatch,
    /// The part of the frame that vertices were placed for last.
    placed: Option<[f64; 2]>,
}

/// A mesh collider on the device.
pub struct DeviceMesh {
    /// What does not change from step to step.
    pub(super) mesh: Told<MeshData>,
    /// Boxes.
    pub(super) nodes: Slab<NodeData>,
    /// Who borders whom.
    pub(super) lists: Slab<u32>,
    /// Where its vertices are in the step.
    pub(super) vertices: Slab<VertexData>,
    data: MeshData,
    middle: Vec3,
    moving: Option<Moving>,
}

/// The middle of some places, and how far the corners of the box around them are from it.
fn middle_and_size<'a>(positions: impl Iterator<Item = &'a Vec3>) -> (Vec3, f64) {
    let (low, high) = bounds(positions.copied()).unwrap_or_default();
    ((low + high) * 0.5, (high - low).norm() * 0.5)
}

/// The boxes around a middle, larger by more than rounding.
fn node_data(bvh: &Bvh, middle: Vec3, rounding: f64) -> Vec<NodeData> {
    let data = |node: &crate::mesh::bvh::Node| {
        let Aabb { low, high } = node.aabb.grown(rounding);
        NodeData { low: single(low - middle), link: node.link, high: single(high - middle), count: node.count }
    };
    bvh.nodes().iter().map(data).collect()
}

impl DeviceMesh {
    /// A mesh that keeps its shape; none where the device cannot have it.
    pub fn rigid(gpu: &Gpu, surface: &MeshSurface) -> Option<Self> {
        let MeshSurface { shape, positions, .. } = surface;
        let (middle, size) = middle_and_size(positions.iter());
        let nodes = node_data(surface.bvh(), middle, ROUNDING * size);
        let mut mesh = Self::new(gpu, shape, surface.bvh(), positions.len())?;
        let vertices = positions.iter().map(|p| VertexData { place: four(p - middle, 0.0), way: [0.0; 4] });
        gpu.write(&mesh.nodes, 0, &nodes);
        gpu.write(&mesh.vertices, 0, &vertices.collect::<Vec<VertexData>>());
        mesh.begin(gpu, middle, size);
        Some(mesh)
    }

    /// A mesh whose vertices move, and are here at some time; `load` says where they are in a frame.
    pub fn animated(gpu: &Gpu, shape: &SurfaceShape, positions: &[Vec3]) -> Option<Self> {
        let count = positions.len();
        let bvh = Bvh::build(positions, shape.triangles());
        let fits = ((PIECES + 1) * count * size_of::<Four>()) as u64 <= gpu.limits().binding;
        let mut mesh = Self::new(gpu, shape, &bvh, count).filter(|_| fits)?;
        let keys = gpu.zeros::<Four>("keys of a mesh", (PIECES + 1) * count);
        let blend = Told::new(gpu, "blend", 1);
        let bound: [(u32, &dyn Binding); 3] = [(18, &keys), (19, &blend), (20, &mesh.vertices)];
        let bytes = (PIECES + 1) * size_of::<Four>() + size_of::<VertexData>();
        let place = gpu.dispatch(&FINDING, "place_vertices", 0..count, bytes, &bound);
        mesh.moving = Some(Moving { triangles: shape.triangles().to_vec(), bvh, keys, blend, place, placed: None });
        Some(mesh)
    }

    fn new(gpu: &Gpu, shape: &SurfaceShape, bvh: &Bvh, vertex_count: usize) -> Option<Self> {
        let triangles = shape.triangles();
        let at_corner = (0..vertex_count as u32).map(|v| shape.around(v));
        let most_around = shape.edge_triangles().iter().chain(at_corner.clone()).map(<[u32]>::len).max()?;
        if triangles.is_empty() || bvh.depth() >= MOST_DEPTH || most_around > MOST_AROUND {
            return None;
        }
        let corners_and_edges = triangles.iter().zip(shape.triangle_edges());
        let mut lists: Vec<u32> = corners_and_edges.flat_map(|(corners, edges)| [*corners, *edges].concat()).collect();
        let order = lists.len() as u32;
        lists.extend(bvh.order());
        // Where each row begins, and then the rows.
        let add_rows = |lists: &mut Vec<u32>, rows: &[&[u32]]| {
            let start = lists.len();
            let mut at = (start + rows.len() + 1) as u32;
            lists.push(at);
            for row in rows {
                at += row.len() as u32;
                lists.push(at);
            }
            lists.extend(rows.iter().copied().flatten());
            start as u32
        };
        let edges = add_rows(&mut lists, &shape.edge_triangles().iter().collect::<Vec<&[u32]>>());
        let corners = add_rows(&mut lists, &at_corner.collect::<Vec<&[u32]>>());
        let rims = lists.len() as u32;
        lists.extend(shape.is_rim().iter().map(|is_rim| u32::from(*is_rim)));
        let sizes = [size_of_val(lists.as_slice()), size_of_val(bvh.nodes()), vertex_count * size_of::<VertexData>()];
        if sizes.iter().any(|size| *size as u64 > gpu.limits().binding) {
            return None;
        }
        let is_solid = u32::from(shape.is_solid());
        Some(DeviceMesh {
            data: MeshData {
                order,
                edges,
                corners,
                rims,
                is_solid,
                behind: shape.behind() as f32,
                ..Default::default()
            },
            mesh: Told::new(gpu, "mesh", 1),
            nodes: gpu.zeros("boxes of a mesh", bvh.nodes().len()),
            lists: gpu.slab("triangles of a mesh", &lists),
            vertices: gpu.zeros("vertices of a mesh", vertex_count),
            middle: Vec3::zeros(),
            moving: None,
        })
    }

    fn begin(&mut self, gpu: &Gpu, middle: Vec3, size: f64) {
        self.middle = middle;
        self.mesh.tell(gpu, [MeshData { rounding: (ROUNDING * size) as f32, ..self.data }].into_iter());
    }

    /// Where its own coordinates begin: in its own motion, or in the world during this frame if its vertices move.
    pub fn middle(&self) -> Vec3 {
        self.middle
    }

    /// Whether its vertices move.
    pub fn is_animated(&self) -> bool {
        self.moving.is_some()
    }

    /// Where all vertices are at the ends of a frame's pieces.
    pub fn load(&mut self, gpu: &Gpu, keys: &[Vec<Vec3>; PIECES + 1]) {
        let (middle, size) = middle_and_size(keys.iter().flatten());
        self.begin(gpu, middle, size);
        let Some(moving) = &mut self.moving else { return };
        moving.bvh.refit_along(&keys.each_ref().map(Vec::as_slice), &moving.triangles);
        gpu.write(&self.nodes, 0, &node_data(&moving.bvh, middle, ROUNDING * size));
        let places: Vec<Four> = keys.iter().flatten().map(|p| four(p - middle, 0.0)).collect();
        gpu.write(&moving.keys, 0, &places);
        moving.placed = None;
    }

    /// Bring its vertices to where they are in a step between these parts of the frame.
    pub fn place(&mut self, gpu: &Gpu, step: [f64; 2]) {
        let Some(moving) = self.moving.as_mut().filter(|moving| moving.placed != Some(step)) else { return };
        moving.placed = Some(step);
        let (piece, inside) = piece(step[0]);
        let (piece, inside, vertices) = (piece as u32, inside as f32, self.vertices.len() as u32);
        let passed = passed(step).map(|part| part as f32);
        moving.blend.tell(gpu, [BlendData { piece, inside, vertices, unused: 0, passed }].into_iter());
        gpu.run([&moving.place]);
    }
}

/// The mesh colliders of a model.
pub struct DeviceMeshes {
    /// None for primitives, for what no body touches, and where the device cannot have it.
    meshes: Vec<Option<DeviceMesh>>,
    /// The frame that was loaded last, for each.
    loaded: Vec<Option<[Moment; 2]>>,
}

impl DeviceMeshes {
    /// Those that bodies of a model touch.
    pub(super) fn new(gpu: &Gpu, model: &Model) -> Self {
        let is_met =
            |number: usize| (0..model.body_count()).any(|body| model.contact.with_colliders(body)[number].is_some());
        let mesh = |(number, collider): (usize, &crate::model::ColliderModel)| {
            if !is_met(number) {
                return None;
            }
            match (collider.animated(), collider.rigid_mesh()) {
                (Some(surface), _) => {
                    let positions = surface.positions(Moment::at(0.0));
                    DeviceMesh::animated(gpu, &surface.shape, &positions)
                }
                (None, Some(mesh)) => DeviceMesh::rigid(gpu, mesh),
                (None, None) => None,
            }
        };
        let meshes: Vec<Option<DeviceMesh>> = model.colliders.iter().enumerate().map(mesh).collect();
        DeviceMeshes { loaded: vec![None; meshes.len()], meshes }
    }

    /// That of a collider.
    pub fn of(&self, collider: usize) -> Option<&DeviceMesh> {
        self.meshes[collider].as_ref()
    }

    /// Where vertices are in a step: the first body that needs it has it done.
    pub(super) fn begin_step(&mut self, gpu: &Gpu, colliders: &[MovingCollider]) {
        for ((mesh, loaded), collider) in self.meshes.iter_mut().zip(&mut self.loaded).zip(colliders) {
            let Some(mesh) = mesh.as_mut().filter(|mesh| mesh.is_animated()) else { continue };
            if *loaded != Some(collider.moments())
                && let Some(keys) = collider.keys()
            {
                mesh.load(gpu, &keys);
                *loaded = Some(collider.moments());
            }
            mesh.place(gpu, collider.step());
        }
    }
}
