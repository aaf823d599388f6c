//! The scene file as the user types it. These types are also the published schema: their comments are what an artist
//! reads in the editor.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Channel, ClothKind, Format, Glb, MeshSides, RenderWrite, SoftKind, SolverChoice, Space, Unit, UpAxis, VolumeParts,
};
use crate::math::curve::Interpolation;

/// A scene for Kiln.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Kiln scene")]
pub struct SceneFile {
    /// What the scene is called, and its time.
    pub scene: SceneSection,
    /// Moving air.
    #[serde(default)]
    pub wind: WindSection,
    /// Air at rest.
    #[serde(default)]
    pub air: AirSection,
    /// Pieces of cloth, one [[cloth]] each.
    #[serde(default)]
    pub cloth: Vec<ClothEntry>,
    /// Soft bodies, one [[soft_body]] each.
    #[serde(default)]
    pub soft_body: Vec<SoftBodyEntry>,
    /// Things that cloth and soft bodies cannot enter, one [[collider]] each.
    #[serde(default)]
    pub collider: Vec<ColliderEntry>,
    /// Pairs of objects that touch in their own way, one [[contact]] each.
    #[serde(default)]
    pub contact: Vec<ContactEntry>,
    /// What is written, and how.
    #[serde(default)]
    pub output: OutputSection,
    /// Limits that a finished bake must keep, or it ends with exit code 5.
    #[serde(default)]
    pub gates: GatesSection,
}

/// Three numbers: x, y, z.
pub type Triple = [f64; 3];

/// A bare value, or keys over time such as { keys = [[1001, 0.0], [1010, 1.0]], interpolation = "linear" }.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Keyable_{T}")]
pub enum Keyable<T> {
    /// The same value at all times.
    Constant(T),
    /// Values that change over time.
    Keyed(Keyed<T>),
}

/// Values at frames.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Keyed_{T}")]
pub struct Keyed<T> {
    /// Pairs of frame and value, frames ascending; before the first and after the last key the value holds.
    #[schemars(length(min = 1))]
    pub keys: Vec<(f64, T)>,
    /// How values pass from key to key: linear, step or smooth.
    #[serde(default)]
    pub interpolation: Interpolation,
}

/// What the scene is called, and its time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SceneSection {
    /// Name of the scene and of its output folder; only characters that a file name may have.
    pub name: String,
    /// Frames per second: a whole number, or a fraction in quotes such as "24000/1001".
    #[serde(default = "default_fps")]
    pub fps: FpsText,
    /// Frames to write, in quotes: "1001-1120", with a step "1-100x2" or "1-100:2", or a list "1,5,10-20". Everything
    /// from the first to the last is simulated.
    pub frames: FramesText,
    /// Frames to simulate before the first one, with everything that moves already moving: the run-up of the shot.
    #[serde(default)]
    #[schemars(range(max = 1_000_000))]
    pub preroll: u32,
    /// Frames before those, in which nothing but the cloth moves, so that it settles.
    #[serde(default)]
    #[schemars(range(max = 1_000_000))]
    pub settle: u32,
    /// Frames before all others, in which animated colliders go from the pose they were bound in, which clothes are
    /// made for, to the pose that the simulation starts with.
    #[serde(default)]
    #[schemars(range(max = 1_000_000))]
    pub dress_blend: u32,
    /// Steps that a frame is cut into: a whole number from 1, or "auto", or bounds of the automatic choice such as
    /// { min = 20, max = 4000 }.
    #[serde(default = "default_substeps")]
    pub substeps: SubstepsText,
    /// Gravity [m/s2]: [x, y, z], or keys.
    #[serde(default = "default_gravity")]
    pub gravity: Keyable<Triple>,
}

fn default_fps() -> FpsText {
    FpsText::Whole(24)
}

fn default_substeps() -> SubstepsText {
    SubstepsText::Automatic(Auto::Auto)
}

fn default_gravity() -> Keyable<Triple> {
    Keyable::Constant([0.0, -9.81, 0.0])
}

/// Frames per second: a whole number, or a fraction in quotes such as "24000/1001".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum FpsText {
    /// A whole number.
    Whole(u32),
    /// A fraction such as "24000/1001".
    Fraction(String),
}

/// Frames: a single number, or ranges in quotes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum FramesText {
    /// A single frame.
    One(i64),
    /// Ranges such as "1001-1120".
    Ranges(String),
}

/// Steps per frame: a whole number from 1, or "auto", or { min = 20, max = 4000 }.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SubstepsText {
    /// Always this many.
    Fixed(#[schemars(range(min = 1, max = 100_000))] u32),
    /// As many as the scene needs.
    Automatic(Auto),
    /// As many as the scene needs, within bounds.
    Bounded(SubstepsBounds),
}

/// Bounds of the automatic choice of steps per frame.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubstepsBounds {
    /// Never fewer steps a frame than this; default 1.
    #[schemars(range(min = 1, max = 100_000))]
    pub min: Option<u32>,
    /// Never more steps a frame than this; default 20000.
    #[schemars(range(min = 1, max = 100_000))]
    pub max: Option<u32>,
}

/// Kiln decides.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Auto {
    /// As many as the scene needs.
    Auto,
}

/// Moving air.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WindSection {
    /// Where the wind blows to: [x, y, z] of any length, or keys.
    pub direction: Keyable<Triple>,
    /// Mean speed [m/s]: a number, or keys.
    pub speed: Keyable<f64>,
    /// Slow swelling of the speed, as a fraction of it (0.3 is lively): a number, or keys.
    pub gust: Keyable<f64>,
    /// Fast local variation, as a fraction of the speed (0.2 is lively): a number, or keys.
    pub turbulence: Keyable<f64>,
    /// Another seed, another weather: a whole number.
    pub seed: u64,
}

impl Default for WindSection {
    fn default() -> Self {
        WindSection {
            direction: Keyable::Constant([1.0, 0.0, 0.0]),
            speed: Keyable::Constant(0.0),
            gust: Keyable::Constant(0.0),
            turbulence: Keyable::Constant(0.0),
            seed: 0,
        }
    }
}

/// Air at rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AirSection {
    /// How strongly air holds cloth back; 1 is air as we know it, 0 a vacuum: a number, or keys.
    pub drag: Keyable<f64>,
}

impl Default for AirSection {
    fn default() -> Self {
        AirSection { drag: Keyable::Constant(1.0) }
    }
}

/// A mesh: the path of a glTF or OBJ file (relative to the scene file), or a made one such as
/// { sheet = { vertices = [41, 41], size = [4.0, 4.0] } }.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum MeshText {
    /// Path of a glTF or OBJ file, relative to the scene file.
    Path(String),
    /// A mesh that Kiln makes.
    Made(MadeMesh),
}

/// A mesh that Kiln makes: give exactly one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MadeMesh {
    /// A flat rectangle: { vertices = [41, 41], size = [4.0, 4.0] }.
    pub sheet: Option<SheetMesh>,
    /// A flat disc: { radius = 0.75, inner = 2302, rim = 120 }.
    pub disc: Option<DiscMesh>,
    /// A closed box: { size = [1.0, 0.5, 0.5], vertices = [11, 6, 6] }.
    #[serde(rename = "box")]
    pub cuboid: Option<CuboidMesh>,
    /// A closed ball: { radius = 0.5, vertices = 17 }.
    pub ball: Option<BallMesh>,
    /// A closed sphere by latitude and longitude: { radius = 0.5, rings = 39, segments = 40 }.
    pub sphere: Option<SphereMesh>,
    /// A closed torus: { radius = 0.5, tube = 0.2, around = 26, across = 15 }.
    pub torus: Option<TorusMesh>,
}

/// A closed box, centred on the origin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CuboidMesh {
    /// Length along x, y and z [m].
    pub size: [f64; 3],
    /// Number of vertices along x, y and z; default 11 each.
    pub vertices: Option<[u32; 3]>,
}

/// A closed ball, centred on the origin: a box blown up, so that its triangles are of about one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BallMesh {
    /// Radius [m].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub radius: f64,
    /// Number of vertices along the edges of the box it is blown up from; 17 make 1538 vertices. Default 17.
    pub vertices: Option<u32>,
}

/// A closed sphere by latitude and longitude, centred on the origin, its poles on the y axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SphereMesh {
    /// Radius [m].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub radius: f64,
    /// Number of rings of vertices between the two poles.
    #[schemars(range(min = 1))]
    pub rings: u32,
    /// Number of vertices of each ring.
    #[schemars(range(min = 3))]
    pub segments: u32,
}

/// A closed torus around the y axis, centred on the origin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TorusMesh {
    /// From the origin to the middle of the tube [m].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub radius: f64,
    /// Radius of the tube [m], below `radius`.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub tube: f64,
    /// Number of vertices around the y axis.
    #[schemars(range(min = 3))]
    pub around: u32,
    /// Number of vertices around the tube.
    #[schemars(range(min = 3))]
    pub across: u32,
}

/// A flat rectangle in the xz-plane, centred on the origin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SheetMesh {
    /// Number of vertices along x and along z.
    pub vertices: [u32; 2],
    /// Length along x and along z [m].
    pub size: [f64; 2],
    /// Faces with four corners instead of triangles.
    #[serde(default)]
    pub quads: bool,
}

/// A flat disc in the xz-plane, centred on the origin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiscMesh {
    /// Radius [m].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub radius: f64,
    /// Number of vertices inside the rim.
    #[schemars(range(min = 1))]
    pub inner: u32,
    /// Number of vertices on the rim.
    #[schemars(range(min = 3))]
    pub rim: u32,
}

/// A piece of cloth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClothEntry {
    /// Name of the cloth, and of its caches; no two objects may share one.
    pub name: String,
    /// Path of a glTF or OBJ file (relative to the scene file), or a made mesh such as
    /// { sheet = { vertices = [41, 41], size = [4.0, 4.0] } }.
    pub mesh: MeshText,
    /// Which object, group or node of the mesh file; may be left out if the file has at most one object.
    pub object: Option<String>,
    /// Unit of the mesh file: "m" (default), "cm", "mm", "in" or "ft".
    pub unit: Option<Unit>,
    /// Extra factor on the size of the mesh.
    #[serde(default = "default_scale")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub scale: f64,
    /// Which axis of the mesh file points up: "y" (default) or "z".
    pub up: Option<UpAxis>,
    /// Where the cloth starts.
    #[serde(default)]
    pub transform: StaticTransform,
    /// What it is made of: "silk", "cotton", "jersey", "wool", "denim", "rubber", "canvas" or "leather".
    #[serde(default = "default_fabric")]
    pub fabric: String,
    /// Mass per area [kg/m2]; without it, the fabric's.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub density: Option<f64>,
    /// Bending stiffness [N m]; without it, the fabric's.
    #[schemars(range(min = 0))]
    pub bend: Option<f64>,
    /// Time constant of bending damping [s]; without it, the fabric's.
    #[schemars(range(min = 0))]
    pub damping: Option<f64>,
    /// Friction coefficient, to which the other object's adds by the geometric mean; without it, the fabric's.
    #[schemars(range(min = 0))]
    pub friction: Option<f64>,
    /// Friction coefficient while the cloth sticks, not less than friction; without it, friction.
    #[schemars(range(min = 0))]
    pub static_friction: Option<f64>,
    /// How much of its speed is left when it bounces, from 0 to 1, times that of the other object; default 0: cloth does not
    /// bounce.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub restitution: f64,
    /// Distance that the cloth keeps from what it touches [m]; without it, the fabric's.
    #[schemars(range(min = 0))]
    pub thickness: Option<f64>,
    /// Whether it collides with itself; default true.
    pub self_collision: Option<bool>,
    /// Of two cloths the one with the higher number is worn outside: where they start tangled, it is led to the side that the
    /// inner one's faces look to. Default 0.
    #[serde(default)]
    #[schemars(range(min = -1000, max = 1000))]
    pub layer: i32,
    /// Largest relative stretch, 0.01 is one percent; without it, the fabric's.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub max_stretch: Option<f64>,
    /// Stiffness along the warp, the U direction of the mesh [N/m]; without it, the fabric's. A fabric that has none does
    /// not give at all below its max_stretch.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub warp: Option<f64>,
    /// Stiffness along the weft, across the warp [N/m]; without it, the fabric's, or else that of the warp.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub weft: Option<f64>,
    /// Shear stiffness between warp and weft [N/m per radian]; without it, the fabric's.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub shear: Option<f64>,
    /// How the cloth is made of particles: "auto" (default), "midpoint", "grid" or "stretch_only".
    #[serde(default)]
    pub model: ClothKind,
    /// How its constraints are solved: "auto" (default), "iterative", "direct", "strips" or "pcg".
    #[serde(default)]
    pub solver: SolverChoice,
    /// Which shape is free of stretch: "mesh" (default), the mesh as it stands in the file, or { uv = 1.0 }, its UV layout
    /// as a sewing pattern, with this many metres for one UV unit.
    #[serde(default)]
    pub rest: RestText,
    /// Factor on the lengths at rest: 0.95 shrinks the cloth by 5 percent, 1.05 lets it grow.
    #[serde(default = "default_scale")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub rest_scale: f64,
    /// Where density is more or less: { attribute = "_THICK" }, { image = "mask.png", range = [0.5, 2.0] } or
    /// { groups = { collar = 3.0 } }.
    pub density_map: Option<MapEntry>,
    /// Where bend is more or less: { attribute = "_STIFF" }, { image = "mask.png", range = [1, 10] } or
    /// { groups = { collar = 3.0 } }.
    pub bend_map: Option<MapEntry>,
    /// Where max_stretch is more or less: { attribute = "_ELASTIC" }, { image = "mask.png", range = [0.5, 2.0] } or
    /// { groups = { cuffs = 3.0 } }.
    pub stretch_map: Option<MapEntry>,
    /// Vertices that are held in place or led by a motion.
    #[serde(default)]
    pub pins: Vec<PinEntry>,
    /// A finer mesh that follows the cloth into the caches: the path of an OBJ file (relative to the scene file), or
    /// { mesh = "dense.obj", write = "beside" }.
    pub render_mesh: Option<RenderMeshText>,
}

/// A soft body: keeps its volume, whatever is done to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SoftBodyEntry {
    /// Name of the body, and of its caches; no two objects may share one.
    pub name: String,
    /// How it is made of particles: "tetrahedra" (default), a lattice through its inside, for any triangles: open, holed, crossing
    /// themselves, in several pieces; "shape_matching", the vertices of a closed mesh alone, which is faster and never breaks; or
    /// "auto", that for closed meshes and tetrahedra for others.
    #[serde(default)]
    pub model: SoftKind,
    /// Path of a glTF or OBJ file (relative to the scene file), or a made mesh such as { ball = { radius = 0.5 } } or
    /// { box = { size = [1.0, 0.5, 0.5] } }. It is what touches, and what is written unless there is a render_mesh.
    pub mesh: MeshText,
    /// Which object, group or node of the mesh file; may be left out if the file has at most one object.
    pub object: Option<String>,
    /// Unit of the mesh file: "m" (default), "cm", "mm", "in" or "ft".
    pub unit: Option<Unit>,
    /// Extra factor on the size of the mesh.
    #[serde(default = "default_scale")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub scale: f64,
    /// Which axis of the mesh file points up: "y" (default) or "z".
    pub up: Option<UpAxis>,
    /// Where the body starts.
    #[serde(default)]
    pub transform: StaticTransform,
    /// Mass per volume [kg/m3]; default 1000, which is water.
    #[serde(default = "default_density")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub density: f64,
    /// Young's modulus of tetrahedra [Pa]: 1000 is jelly, 1e4 (default) soft flesh, 1e5 a firm sponge, 1e6 rubber. Matched shapes have
    /// theirs in shape_matching.
    #[serde(default = "default_stiffness")]
    #[schemars(range(min = 0))]
    pub stiffness: f64,
    /// Time constant of the damping of tetrahedra [s]; default 0.02. Matched shapes have theirs in shape_matching.
    #[serde(default = "default_damping")]
    #[schemars(range(min = 0))]
    pub damping: f64,
    /// Friction coefficient, to which the other object's adds by the geometric mean; default 0.5.
    #[serde(default = "default_body_friction")]
    #[schemars(range(min = 0))]
    pub friction: f64,
    /// Friction coefficient while the body sticks, not less than friction; without it, friction.
    #[schemars(range(min = 0))]
    pub static_friction: Option<f64>,
    /// How much of its speed is left when it bounces, from 0 to 1, times that of the other object, besides what its own elasticity
    /// gives back; default 0.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub restitution: f64,
    /// Distance that the body keeps from what it touches [m]; default 0.002.
    #[serde(default = "default_body_thickness")]
    #[schemars(range(min = 0))]
    pub thickness: f64,
    /// Whether it collides with itself; default true.
    pub self_collision: Option<bool>,
    /// Largest relative error of its volume, of each part of it or, for matched shapes, of the whole: 0.005 (default) is half a percent.
    #[serde(default = "default_volume_tolerance")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub volume_tolerance: f64,
    /// Which parts keep their volume: "cells" (default), the cubes of the lattice, or "rings", all that meets in a particle.
    #[serde(default)]
    pub volume: VolumeParts,
    /// Pressure inside, above that outside [Pa]: the body grows until its stiffness holds it, and keeps that volume: a number, or
    /// keys. Default 0.
    #[serde(default = "default_pressure")]
    pub pressure: Keyable<f64>,
    /// What stays when it is bent too far: { yield = 0.1, creep = 2.0 }; without it, nothing.
    pub plasticity: Option<PlasticityEntry>,
    /// Where stiffness is more or less: { attribute = "_STIFF" }, { image = "mask.png", range = [1, 10] } or
    /// { groups = { head = 3.0 } }.
    pub stiffness_map: Option<MapEntry>,
    /// How its lattice is made: { cell = 0.05 }, { count = 1500 }; without it, Kiln decides.
    #[serde(default)]
    pub tetrahedra: TetrahedraEntry,
    /// How its shapes are matched: { omega = 3, stiffness = 0.9 }; without it, as here.
    #[serde(default)]
    pub shape_matching: ShapeMatchingEntry,
    /// Factors on its size at the start alone, about its middle: 0 is flat, less than 0 inside out. The body is led back to its shape.
    /// Default [1, 1, 1].
    #[serde(default = "default_start_scale")]
    pub start_scale: [f64; 3],
    /// Parts that are held in place or led: the particles nearest to the vertices that are named, and those inside of a box or
    /// sphere.
    #[serde(default)]
    pub pins: Vec<PinEntry>,
    /// A finer mesh that follows the body into the caches: the path of an OBJ file (relative to the scene file), or
    /// { mesh = "dense.obj", write = "beside" }.
    pub render_mesh: Option<RenderMeshText>,
}

fn default_start_scale() -> [f64; 3] {
    [1.0; 3]
}

fn default_density() -> f64 {
    1000.0
}

fn default_stiffness() -> f64 {
    1e4
}

fn default_damping() -> f64 {
    0.02
}

fn default_body_friction() -> f64 {
    0.5
}

fn default_body_thickness() -> f64 {
    0.002
}

fn default_volume_tolerance() -> f64 {
    0.005
}

fn default_pressure() -> Keyable<f64> {
    Keyable::Constant(0.0)
}

/// What stays of a deformation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlasticityEntry {
    /// Relative change of length that is still taken back.
    #[serde(rename = "yield")]
    #[schemars(range(min = 0))]
    pub yields_at: f64,
    /// How fast what is beyond it stays [1/s]: 1 keeps two thirds of it after a second. Default 2.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub creep: Option<f64>,
}

/// How the shapes of a soft body are matched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ShapeMatchingEntry {
    /// How many edges a region reaches around its vertex: 1 is softest, more is stiffer. Default 3.
    #[schemars(range(min = 1, max = 20))]
    pub omega: Option<u32>,
    /// Part of the way to its shape that a vertex goes in 5 ms, from 0 to 1; default 0.9.
    #[schemars(range(min = 0, max = 1))]
    pub stiffness: Option<f64>,
    /// How fast swinging calms down [1/s], without slowing how regions move and turn as a whole; default 300.
    #[schemars(range(min = 0))]
    pub damping: Option<f64>,
    /// Whether the volume inside is kept; default true.
    pub keep_volume: Option<bool>,
    /// Where volume that lacks comes back: 1 everywhere alike, 0 where the body is deformed. Default 0.2.
    #[schemars(range(min = 0, max = 1))]
    pub alpha: Option<f64>,
    /// How much the distance through the body counts for where it is deformed, beside how far each vertex is from its shape, from 0 to 1;
    /// default 0.1.
    #[schemars(range(min = 0, max = 1))]
    pub beta: Option<f64>,
    /// How much a change of the longest distance through the body counts, from 0 to 1; default 0.01.
    #[schemars(range(min = 0, max = 1))]
    pub s_min: Option<f64>,
    /// The same for the shortest; default 0.1.
    #[schemars(range(min = 0, max = 1))]
    pub s_max: Option<f64>,
}

/// How the lattice of a soft body is made: give at most one of cell and count.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TetrahedraEntry {
    /// Edge of its cubes [m], five tetrahedra each.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub cell: Option<f64>,
    /// About this many tetrahedra.
    #[schemars(range(min = 5))]
    pub count: Option<u32>,
    /// Part of a cube that must be inside the mesh for it to belong to the body, from 0 to 1; default 0.3.
    #[schemars(range(min = 0, max = 1))]
    pub density: Option<f64>,
    /// How near a ray must come to a surface to have crossed it, as the probability 1 - distance / largest distance. For meshes with
    /// thin parts; default k1_voxels = 1.25.
    #[schemars(range(min = 0, max = 1))]
    pub k1: Option<f64>,
    /// The same for how far away it must be again to cross the next one; default k2_voxels = 0.25.
    #[schemars(range(min = 0, max = 1))]
    pub k2: Option<f64>,
    /// k1 as a distance in voxels.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub k1_voxels: Option<f64>,
    /// k2 as a distance in voxels.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub k2_voxels: Option<f64>,
}

/// Which shape is free of stretch: "mesh", or { uv = 1.0 } for the UV layout with this many metres for one UV unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RestText {
    /// The mesh as it stands in the file.
    Word(RestWord),
    /// The UV layout.
    Uv(RestUv),
}

impl Default for RestText {
    fn default() -> Self {
        RestText::Word(RestWord::Mesh)
    }
}

/// The shape that needs no more words.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RestWord {
    /// The mesh as it stands in the file.
    Mesh,
}

/// The UV layout as a sewing pattern.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RestUv {
    /// Metres for one UV unit.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub uv: f64,
}

/// A factor for each vertex: give exactly one of attribute, image, groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MapEntry {
    /// A vertex attribute of a glTF mesh, such as "_THICK" or "COLOR_0.r".
    pub attribute: Option<String>,
    /// Path of a PNG or JPEG image (relative to the scene file), laid over the mesh by its UVs.
    pub image: Option<String>,
    /// Image: which of its channels: "luminance" (default), "r", "g", "b" or "a".
    pub channel: Option<Channel>,
    /// Groups of the mesh file and the factor inside each one, such as { collar = 3.0, hem = 2.0 }; elsewhere it is 1, and
    /// where groups meet, their factors multiply.
    pub groups: Option<BTreeMap<String, f64>>,
    /// Attribute, image: the factors that the values 0 and 1 stand for; default [0, 1].
    pub range: Option<[f64; 2]>,
}

/// A finer mesh that follows its object: a path, or a table with a mesh and how it is read and written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RenderMeshText {
    /// Path of a glTF or OBJ file, relative to the scene file.
    Path(String),
    /// A mesh and how it is read and written.
    Entry(RenderMeshEntry),
}

/// A finer mesh that follows a cloth or soft body, in its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RenderMeshEntry {
    /// Path of a glTF or OBJ file (relative to the scene file), or a made mesh such as
    /// { sheet = { vertices = [401, 401], size = [4.0, 4.0] } }.
    pub mesh: MeshText,
    /// Which object or group of the mesh file; may be left out if the file has at most one object.
    pub object: Option<String>,
    /// Unit of the mesh file; without it, that of the cloth's mesh.
    pub unit: Option<Unit>,
    /// Extra factor on the size of the mesh; without it, the cloth's.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub scale: Option<f64>,
    /// Which axis of the mesh file points up; without it, as in the cloth's mesh.
    pub up: Option<UpAxis>,
    /// "instead" (default): caches hold the render mesh under the cloth's name. "beside": both are written, the render mesh
    /// under the cloth's name and _render.
    #[serde(default)]
    pub write: RenderWrite,
}

fn default_scale() -> f64 {
    1.0
}

fn default_fabric() -> String {
    "cotton".to_owned()
}

/// A placement that does not change: turn first, then shift.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StaticTransform {
    /// Shift [m]: [x, y, z].
    pub translate: Triple,
    /// Angles about x, then y, then z [degrees].
    pub rotate: Triple,
}

/// Vertices that are held in place or led: give exactly one of vertices, group, box, sphere, boundary, attribute.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PinEntry {
    /// Vertex numbers of the mesh, counted from 0.
    #[schemars(length(min = 1))]
    pub vertices: Option<Vec<u32>>,
    /// A named group of the mesh file.
    pub group: Option<String>,
    /// All vertices that start in a box: { min = [x, y, z], max = [x, y, z] }, world coordinates [m].
    #[serde(rename = "box")]
    pub in_box: Option<BoxRegion>,
    /// All vertices that start in a sphere: { center = [x, y, z], radius = 0.1 }, world coordinates [m].
    #[serde(rename = "sphere")]
    pub in_sphere: Option<SphereRegion>,
    /// A border of the mesh by number; 0 is the longest.
    pub boundary: Option<u32>,
    /// A vertex attribute of a glTF mesh, such as "_PIN" or "COLOR_0.r": each vertex is pinned with its value as its
    /// weight, and not at all where that is 0.
    pub attribute: Option<String>,
    /// What the pinned vertices follow from where they start: the name of a collider, whose surface they stick to, or
    /// a motion; without it they stay there.
    pub follow: Option<FollowText>,
    /// How firmly they are held, from 0 to 1: 1 exactly; less is a spring that closes this part of a gap in one frame.
    #[schemars(range(min = 0, max = 1))]
    pub weight: Option<f64>,
}

/// What pinned vertices follow: the name of a collider, or a motion such as { translate = { keys = [[1, [0, 0, 0]], [24, [1, 0, 0]]] } }.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum FollowText {
    /// The name of a collider: each vertex keeps its place relative to the surface point that is nearest at the start.
    Collider(String),
    /// A motion.
    Motion(MovingTransform),
}

/// An animation of a mesh file: the name of a clip, or { clip = "Walk", loop = true, offset = 0.5, speed = 1.0 }.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum AnimationText {
    /// The name of a clip.
    Clip(String),
    /// How a clip is played.
    Played(AnimationEntry),
}

/// How an animation of a mesh file is played.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnimationEntry {
    /// Name of the clip; may be left out if the file has only one.
    pub clip: Option<String>,
    /// Whether it starts again at its end; otherwise its first and last pose hold. Default false.
    #[serde(rename = "loop")]
    pub looped: Option<bool>,
    /// Time of the clip at the scene's first frame [s]; default 0.
    pub offset: Option<f64>,
    /// How fast it plays: 2 is twice as fast, 0 stands still, -1 runs backwards; default 1.
    pub speed: Option<f64>,
}

/// A box along the axes, world coordinates [m].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoxRegion {
    /// Lowest corner [m]: [x, y, z].
    pub min: Triple,
    /// Highest corner [m]: [x, y, z].
    pub max: Triple,
}

/// A ball, world coordinates [m].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SphereRegion {
    /// Its middle [m]: [x, y, z].
    pub center: Triple,
    /// Its radius [m].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub radius: f64,
}

/// A motion: turn about the pivot first, then shift.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MovingTransform {
    /// Shift [m]: [x, y, z], or keys.
    pub translate: Option<Keyable<Triple>>,
    /// Angles about x, then y, then z [degrees]: [x, y, z], or keys.
    pub rotate: Option<Keyable<Triple>>,
    /// The point that the rotation leaves in place [m]; without it, the middle of a collider's shape, and the
    /// world's origin for collider meshes and pins.
    pub pivot: Option<Triple>,
}

/// The forms of colliders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ShapeName {
    /// Everything below a plane is solid: point, normal.
    Plane,
    /// A ball: center, radius.
    Sphere,
    /// A box: center, size.
    Box,
    /// A cylinder with round ends: from, to, radius.
    Capsule,
    /// A cylinder with flat ends: from, to, radius.
    Cylinder,
    /// A mesh file: mesh, object, unit, scale, up, animation, sides.
    Mesh,
}

/// Something that cloth and soft bodies cannot enter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ColliderEntry {
    /// Name of the collider; no two objects may share one.
    pub name: String,
    /// Its form: "plane", "sphere", "box", "capsule", "cylinder" or "mesh".
    pub shape: ShapeName,
    /// Plane: a point of it [m].
    pub point: Option<Triple>,
    /// Plane: where its outside is, [x, y, z] of any length.
    pub normal: Option<Triple>,
    /// Sphere, box: the middle [m].
    pub center: Option<Triple>,
    /// Sphere, capsule, cylinder: the radius [m].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub radius: Option<f64>,
    /// Box: its three edge lengths [m].
    pub size: Option<Triple>,
    /// Capsule, cylinder: middle of one end [m].
    pub from: Option<Triple>,
    /// Capsule, cylinder: middle of the other end [m].
    pub to: Option<Triple>,
    /// Mesh: path of a glTF or OBJ file, relative to the scene file.
    pub mesh: Option<MeshText>,
    /// Mesh: which object, group or node of the file; may be left out if the file has at most one object.
    pub object: Option<String>,
    /// Mesh: unit of the file: "m" (default), "cm", "mm", "in" or "ft".
    pub unit: Option<Unit>,
    /// Mesh: extra factor on its size.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub scale: Option<f64>,
    /// Mesh: which axis of the file points up: "y" (default) or "z".
    pub up: Option<UpAxis>,
    /// Mesh: which animation of the file moves it, and how: the name of a clip, or
    /// { clip = "Walk", loop = true, offset = 0.5, speed = 1.0 }; may be left out if the file has at most one.
    pub animation: Option<AnimationText>,
    /// Mesh: which sides push. "auto" (default): closed meshes are solid bodies, open ones are shells that push to whichever side
    /// the cloth is on. "one": also an open mesh has an inside, behind its faces, a tenth of its size deep. "two": also a closed
    /// mesh is a shell, so that cloth can be inside.
    pub sides: Option<MeshSides>,
    /// Friction coefficient: a number, or keys.
    #[serde(default = "default_friction")]
    pub friction: Keyable<f64>,
    /// Friction coefficient while cloth sticks to it, not less than friction: a number, or keys; without it, the same.
    pub static_friction: Option<Keyable<f64>>,
    /// How much of its speed is left to cloth that bounces off, from 0 to 1, times the cloth's own; default 0.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub restitution: f64,
    /// Added to the distance that cloth keeps [m].
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub thickness: f64,
    /// Where it is and how it moves.
    #[serde(default)]
    pub transform: MovingTransform,
}

fn default_friction() -> Keyable<f64> {
    Keyable::Constant(0.5)
}

/// How two objects touch, where that is not what follows from both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContactEntry {
    /// Names of two objects, at most one of them a collider: ["shirt", "coat"]; the same name twice means the object with itself.
    pub between: [String; 2],
    /// Whether they collide or pass through each other; default true.
    pub collide: Option<bool>,
    /// Friction coefficient, instead of the mean of both.
    #[schemars(range(min = 0))]
    pub friction: Option<f64>,
    /// Friction coefficient while they stick, not less than friction; without it, friction if that is given here, else the mean of
    /// both.
    #[schemars(range(min = 0))]
    pub static_friction: Option<f64>,
    /// Distance that they keep [m], instead of what follows from both.
    #[schemars(range(min = 0))]
    pub thickness: Option<f64>,
    /// How much of its speed is left to what bounces, from 0 to 1, instead of the product of both.
    #[schemars(range(min = 0, max = 1))]
    pub restitution: Option<f64>,
}

/// What is written, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OutputSection {
    /// Caches to make: any of "pc2", "mdd", "obj", "glb".
    pub formats: Vec<Format>,
    /// Unit of the written coordinates: "m", "cm", "mm", "in" or "ft"; GLB is always in metres.
    pub unit: Unit,
    /// Up axis of the written coordinates: "y" or "z"; GLB is always Y up.
    pub up: UpAxis,
    /// File name without extension. {object}, {scene} and a frame token (####, %04d, $F4 or {frame:04}) are filled in;
    /// formats with one file for all frames leave the frame out, GLB only has it beyond 240 frames.
    pub pattern: String,
    /// "world", or "local" for coordinates before the cloth's own transform.
    pub space: Space,
    /// How GLB files are written: { mode = "morph", quantize = false, sparse = false, normals = false }.
    pub glb: Glb,
    /// Whether colliders are kept too, so that `kiln preview` and `kiln render` can show them: 12 bytes a vertex and frame of those that move.
    pub colliders: bool,
}

impl Default for OutputSection {
    fn default() -> Self {
        OutputSection {
            formats: vec![Format::Pc2],
            unit: Unit::default(),
            up: UpAxis::default(),
            pattern: "{object}.####".to_owned(),
            space: Space::default(),
            glb: Glb::default(),
            colliders: true,
        }
    }
}

/// Limits that a finished bake must keep, or it ends with exit code 5.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GatesSection {
    /// On the relative stretch of the visible edges of the simulated mesh; 0.01 is one percent.
    #[schemars(range(min = 0))]
    pub max_stretch: Option<f64>,
    /// On the relative stretch of the constraints that the solver works against; 0.01 is one percent.
    #[schemars(range(min = 0))]
    pub max_constraint_stretch: Option<f64>,
    /// On the depth of a written vertex below a collider's surface [m].
    #[schemars(range(min = 0))]
    pub max_penetration: Option<f64>,
    /// Most edges that pierce a triangle in any frame: 0 for none.
    pub max_crossings: Option<u64>,
    /// On the relative error of a soft body's volume, of each part of it and of the whole; 0.005 is half a percent.
    #[schemars(range(min = 0))]
    pub max_volume_error: Option<f64>,
}
