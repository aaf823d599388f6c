//! The resolved scene: validated, every default filled in, lengths in metres, Y up. Nothing below `scene` sees anything else.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::math::Vec3;
use crate::math::curve::Curve;
use crate::math::motion::Motion;

/// Frames per second as a fraction, so that time comes from integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FrameRate {
    /// `24000` in `24000/1001`.
    pub numerator: u32,
    /// `1001` in `24000/1001`.
    pub denominator: u32,
}

impl FrameRate {
    /// Length of a frame [s].
    pub fn frame_seconds(self) -> f64 {
        f64::from(self.denominator) / f64::from(self.numerator)
    }

    /// Frames per second.
    pub fn fps(self) -> f64 {
        f64::from(self.numerator) / f64::from(self.denominator)
    }
}

/// How many steps a frame is cut into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Substeps {
    /// By the rule in `solver::substeps`, within bounds.
    Auto {
        /// Never fewer.
        least: u32,
        /// Never more.
        most: u32,
    },
    /// Always this many.
    Fixed(u32),
}

impl Substeps {
    /// The automatic choice where nothing else is said. More than 20000 steps a frame are never worth their time.
    pub const AUTO: Substeps = Substeps::Auto { least: 1, most: 20_000 };
}

impl Default for Substeps {
    fn default() -> Self {
        Substeps::AUTO
    }
}

/// Moving air.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Wind {
    /// Where it blows to; not zero, any length.
    pub direction: Curve<Vec3>,
    /// Mean speed [m/s].
    pub speed: Curve<f64>,
    /// Slow swelling of the speed, as a fraction of it.
    pub gust: Curve<f64>,
    /// Fast local variation, as a fraction of the speed.
    pub turbulence: Curve<f64>,
    /// Another seed, another weather.
    pub seed: u64,
}

/// Which axis of a file points up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum UpAxis {
    /// As in glTF, Maya and Houdini.
    #[default]
    Y,
    /// As in Blender and 3ds Max.
    Z,
}

/// A unit of length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Unit {
    /// Metres.
    #[default]
    #[serde(rename = "m")]
    Metre,
    /// Centimetres.
    #[serde(rename = "cm")]
    Centimetre,
    /// Millimetres.
    #[serde(rename = "mm")]
    Millimetre,
    /// Inches.
    #[serde(rename = "in")]
    Inch,
    /// Feet.
    #[serde(rename = "ft")]
    Foot,
}

impl Unit {
    /// Length of the unit [m].
    pub fn metres(self) -> f64 {
        match self {
            Unit::Metre => 1.0,
            Unit::Centimetre => 0.01,
            Unit::Millimetre => 0.001,
            Unit::Inch => 0.0254,
            Unit::Foot => 0.3048,
        }
    }
}

/// Where the vertices of an object come from.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MeshSource {
    /// A mesh file.
    File {
        /// As written in the scene file.
        typed: String,
        /// Where it is on this machine (relative paths start at the scene file).
        #[serde(skip)]
        path: PathBuf,
        /// Which object or group of the file.
        object: Option<String>,
    },
    /// A flat rectangle in the xz-plane, centred on the origin, made of quads or of triangles with alternating diagonals.
    Sheet {
        /// Vertices along x and along z.
        vertices: [u32; 2],
        /// Extent along x and along z [m].
        size: [f64; 2],
        /// Faces with four corners instead of triangles.
        quads: bool,
    },
    /// A flat disc in the xz-plane, centred on the origin, made of rings.
    Disc {
        /// Radius [m].
        radius: f64,
        /// Vertices inside the rim.
        inner: u32,
        /// Vertices on the rim.
        rim: u32,
    },
    /// A closed box, centred on the origin.
    Cuboid {
        /// Extent along x, y and z [m].
        size: [f64; 3],
        /// Vertices along x, y and z.
        vertices: [u32; 3],
    },
    /// A closed ball, centred on the origin: a box blown up.
    Ball {
        /// Radius [m].
        radius: f64,
        /// Vertices along the edges of that box.
        vertices: u32,
    },
    /// A closed sphere by latitude and longitude, centred on the origin, its poles on the y axis.
    Sphere {
        /// Radius [m].
        radius: f64,
        /// Rings of vertices between the poles.
        rings: u32,
        /// Vertices of a ring.
        segments: u32,
    },
    /// A closed torus around the y axis, centred on the origin.
    Torus {
        /// From the origin to the middle of the tube [m].
        radius: f64,
        /// Radius of the tube [m].
        tube: f64,
        /// Vertices around the y axis.
        around: u32,
        /// Vertices around the tube.
        across: u32,
    },
}

/// How file coordinates become world coordinates: axis, scale, then turn, then shift.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Placement {
    /// Which axis of the file points up.
    pub up: UpAxis,
    /// Metres per file unit, times the user's scale.
    pub scale: f64,
    /// Angles about x, then y, then z [degrees].
    pub rotate: Vec3,
    /// Shift [m].
    pub translate: Vec3,
}

/// What a cloth is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fabric {
    /// Mass per area [kg/m²].
    pub density: f64,
    /// Bending stiffness [N m].
    pub bend: f64,
    /// Whether a mesh that is too coarse for the fabric's folds may raise the stiffness: not where the user typed it.
    #[serde(skip_deserializing, default)]
    pub bend_is_typed: bool,
    /// How long bending resists its own rate: the time constant of bending damping [s].
    pub damping: f64,
    /// Coulomb coefficient while it slides; a pair uses the geometric mean of both sides.
    pub friction: f64,
    /// The same while it sticks, not less; without one, equal.
    pub static_friction: Option<f64>,
    /// Part of its speed that is left when it bounces; a pair uses the product of both sides.
    #[serde(default)]
    pub restitution: f64,
    /// Distance that the cloth keeps from what it touches [m].
    pub thickness: f64,
    /// Largest relative stretch.
    pub max_stretch: f64,
    /// Stiffness along the warp [N/m]; without one, the fabric does not give below its largest stretch.
    pub warp: Option<f64>,
    /// Stiffness along the weft [N/m]; there is one if and only if there is one along the warp.
    pub weft: Option<f64>,
    /// Shear stiffness between warp and weft [N/m per radian].
    pub shear: f64,
}

/// How a cloth is made of particles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClothKind {
    /// What suits the mesh.
    #[default]
    Auto,
    /// Particles on the middles of edges.
    Midpoint,
    /// Particles on vertices, constraints along the lines of a grid of quads.
    Grid,
    /// Particles on vertices, edges that resist stretch alone.
    StretchOnly,
}

impl ClothKind {
    /// Its name in scene files.
    pub fn name(self) -> &'static str {
        match self {
            ClothKind::Auto => "auto",
            ClothKind::Midpoint => "midpoint",
            ClothKind::Grid => "grid",
            ClothKind::StretchOnly => "stretch_only",
        }
    }
}

/// How the constraints of a cloth are solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SolverChoice {
    /// What suits the cloth.
    #[default]
    Auto,
    /// One constraint after the other, until all hold.
    Iterative,
    /// All at once, by factorising one system.
    Direct,
    /// Strip by strip, each at once in linear time.
    Strips,
    /// All at once, by preconditioned conjugate gradients.
    Pcg,
}

impl SolverChoice {
    /// Its name in scene files.
    pub fn name(self) -> &'static str {
        match self {
            SolverChoice::Auto => "auto",
            SolverChoice::Iterative => "iterative",
            SolverChoice::Direct => "direct",
            SolverChoice::Strips => "strips",
            SolverChoice::Pcg => "pcg",
        }
    }
}

/// Which shape of a cloth is free of stretch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RestShape {
    /// The mesh as it stands in the file.
    #[default]
    Mesh,
    /// Its UV layout.
    Uv {
        /// Length of one UV unit [m].
        metres: f64,
    },
}

/// Which number of a pixel counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Channel {
    /// Red.
    R,
    /// Green.
    G,
    /// Blue.
    B,
    /// Opacity; 1 in images without any.
    A,
    /// How bright it looks.
    #[default]
    Luminance,
}

/// Where the factors of a map come from, one for each vertex.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MapSource {
    /// An attribute of the mesh file's vertices.
    Attribute {
        /// As in the file.
        name: String,
        /// The factors that the values 0 and 1 stand for.
        range: [f64; 2],
    },
    /// An image, laid over the mesh by its UVs.
    Image {
        /// As written in the scene file.
        typed: String,
        /// Where it is on this machine (relative paths start at the scene file).
        #[serde(skip)]
        path: PathBuf,
        /// Which number of its pixels.
        channel: Channel,
        /// The factors that black (0) and white (1) stand for.
        range: [f64; 2],
    },
    /// Factors inside groups of the mesh file, by name; 1 elsewhere. Where groups meet, they multiply.
    Groups(BTreeMap<String, f64>),
}

/// Factors on what the fabric says, one for each vertex.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Maps {
    /// On the mass per area.
    pub density: Option<MapSource>,
    /// On the bending stiffness.
    pub bend: Option<MapSource>,
    /// On the largest stretch.
    pub max_stretch: Option<MapSource>,
}

/// Which vertices a pin takes, in the numbering and coordinates of the mesh file unless said otherwise.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PinSelection {
    /// Vertex numbers of the file, counted from 0.
    Vertices(Vec<u32>),
    /// All vertices of a named group.
    Group(String),
    /// All vertices in a box, world coordinates [m].
    Box {
        /// Lowest corner.
        min: Vec3,
        /// Highest corner.
        max: Vec3,
    },
    /// All vertices in a sphere, world coordinates [m].
    Sphere {
        /// Its middle.
        center: Vec3,
        /// Its radius.
        radius: f64,
    },
    /// A boundary loop, by number; loop 0 is the longest, ties by lowest vertex.
    Boundary(u32),
    /// All vertices with a value above 0 of this attribute; the value is their weight.
    Attribute(String),
}

/// What leads pinned vertices.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Follow {
    /// A key-framed motion.
    Motion(Motion),
    /// The surface of a collider, by its place in the scene.
    Collider(usize),
}

/// Vertices held in place or led.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pin {
    /// Which vertices.
    pub select: PinSelection,
    /// What they follow.
    pub follow: Follow,
    /// 1 holds exactly; less is the part of a gap that is closed in one frame.
    pub weight: f64,
}

/// A piece of cloth.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cloth {
    /// Unique among all objects.
    pub name: String,
    /// Its mesh.
    pub mesh: MeshSource,
    /// From file to world.
    pub placement: Placement,
    /// Its material.
    pub fabric: Fabric,
    /// Whether it collides with itself.
    pub self_collision: bool,
    /// Of two cloths the one with the higher number is worn outside.
    pub layer: i32,
    /// How it is made of particles.
    pub kind: ClothKind,
    /// How its constraints are solved.
    pub solver: SolverChoice,
    /// Which shape is free of stretch.
    pub rest: RestShape,
    /// Factor on the lengths at rest.
    pub rest_scale: f64,
    /// Where the fabric differs.
    pub maps: Maps,
    /// Held vertices.
    pub pins: Vec<Pin>,
    /// The mesh that is written in place of the simulated one, or beside it.
    pub render_mesh: Option<RenderMesh>,
}

/// How a soft body is made of particles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SoftKind {
    /// A lattice of tetrahedra through its inside.
    #[default]
    Tetrahedra,
    /// Nothing but its closed surface, in regions that keep their shapes.
    ShapeMatching,
    /// Matched shapes where the mesh is closed, tetrahedra otherwise.
    Auto,
}

/// How shapes are matched.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ShapeMatching {
    /// How many edges a region reaches around its particle.
    pub omega: u32,
    /// Part of the way to its goal that a particle goes in a step of `STEP`.
    pub stiffness: f64,
    /// Rate at which velocities become those of the regions [1/s].
    pub damping: f64,
    /// Whether the volume is kept.
    pub keep_volume: bool,
    /// Part of a volume that lacks which all particles bring back alike.
    pub alpha: f64,
    /// How much the distance through the body counts for the other part.
    pub beta: f64,
    /// The weight of the longest distance through the body.
    pub s_min: f64,
    /// The weight of the shortest.
    pub s_max: f64,
}

impl ShapeMatching {
    /// The step for which a stiffness is given: that of the thesis [s].
    pub const STEP: f64 = 0.005;
}

/// Which parts of a soft body keep their volume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum VolumeParts {
    /// The cells of its lattice, five tetrahedra each.
    #[default]
    Cells,
    /// All tetrahedra that meet in a particle.
    Rings,
}

/// What a soft body is made of.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Flesh {
    /// Mass per volume [kg/m³].
    pub density: f64,
    /// Young's modulus [Pa].
    pub stiffness: f64,
    /// Time constant of damping [s].
    pub damping: f64,
    /// Coulomb coefficient while it slides; a pair uses the geometric mean of both sides.
    pub friction: f64,
    /// The same while it sticks, not less.
    pub static_friction: f64,
    /// Part of its speed that is left when it bounces; a pair uses the product of both sides.
    pub restitution: f64,
    /// Distance that it keeps from what it touches [m].
    pub thickness: f64,
    /// Largest relative error of the volume of each of its parts.
    pub volume_tolerance: f64,
    /// Which parts.
    pub volume: VolumeParts,
    /// Inside, above that outside [Pa].
    pub pressure: Curve<f64>,
    /// What stays of a deformation.
    pub plasticity: Option<Plasticity>,
}

/// What stays of a deformation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Plasticity {
    /// Relative change of length that is still taken back.
    pub yields_at: f64,
    /// How fast what is beyond stays [1/s].
    pub creep: f64,
}

/// How fine a lattice is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LatticeSize {
    /// By the mesh.
    Auto,
    /// Edge of its cells [m].
    Cell(f64),
    /// About so many tetrahedra.
    Count(u32),
}

/// How near to a surface something is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Nearness {
    /// As the probability `1 - distance / largest distance`.
    Probability(f64),
    /// As a distance in voxels.
    Voxels(f64),
}

/// How the lattice of a soft body is made.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Lattice {
    /// How fine.
    pub size: LatticeSize,
    /// Part of a cell that must be inside.
    pub density: f64,
    /// How near a ray comes to a surface that it crosses.
    pub k1: Nearness,
    /// How far away it must be again before the next one.
    pub k2: Nearness,
}

impl Default for Lattice {
    fn default() -> Self {
        Lattice {
            size: LatticeSize::Auto,
            // Little, so that the lattice reaches over the mesh and can be fitted to it.
            density: 0.3,
            // A ray passes a voxel at a time, and the surface may be curved.
            k1: Nearness::Voxels(1.25),
            // What is a voxel thick still counts twice.
            k2: Nearness::Voxels(0.25),
        }
    }
}

/// A soft body.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SoftBody {
    /// Unique among all objects.
    pub name: String,
    /// How it is made of particles.
    pub kind: SoftKind,
    /// Its mesh.
    pub mesh: MeshSource,
    /// From file to world.
    pub placement: Placement,
    /// What it is made of.
    pub flesh: Flesh,
    /// Where its stiffness differs.
    pub stiffness_map: Option<MapSource>,
    /// How its lattice is made, if it has one.
    pub lattice: Lattice,
    /// How its shapes are matched, if they are.
    pub matching: ShapeMatching,
    /// Factors on its size at the start, about its middle.
    pub start_scale: [f64; 3],
    /// Whether it collides with itself.
    pub self_collision: bool,
    /// Held parts.
    pub pins: Vec<Pin>,
    /// The mesh that is written in place of its own, or beside it.
    pub render_mesh: Option<RenderMesh>,
}

/// A mesh that follows a cloth or soft body without taking part in the simulation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RenderMesh {
    /// Where it comes from.
    pub mesh: MeshSource,
    /// From file to world.
    pub placement: Placement,
    /// In place of the simulated mesh, or beside it.
    pub write: RenderWrite,
}

/// What becomes of the simulated mesh where there is a render mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RenderWrite {
    /// Caches under the cloth's name hold the render mesh; the simulated one is only in the store.
    #[default]
    Instead,
    /// Both are written, the render mesh under the cloth's name and `_render`.
    Beside,
}

/// How an animation of a mesh file is played.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Animation {
    /// Whether the scene file says anything about it.
    pub is_typed: bool,
    /// Name of the clip; `None` for the only one.
    pub clip: Option<String>,
    /// Whether it starts again at its end.
    pub looped: bool,
    /// Time of the clip at the first frame [s].
    pub offset: f64,
    /// Clip seconds in a second of the scene.
    pub speed: f64,
}

/// The form of a collider, before its motion.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// Everything below a plane is solid.
    Plane {
        /// A point of the plane [m].
        point: Vec3,
        /// Outwards, unit length.
        normal: Vec3,
    },
    /// A ball.
    Sphere {
        /// Its middle [m].
        center: Vec3,
        /// Its radius [m].
        radius: f64,
    },
    /// An axis-aligned box (turn it with the motion).
    Box {
        /// Its middle [m].
        center: Vec3,
        /// Its three edge lengths [m].
        size: Vec3,
    },
    /// A cylinder with half balls at both ends.
    Capsule {
        /// Middle of one ball [m].
        from: Vec3,
        /// Middle of the other [m].
        to: Vec3,
        /// Its radius [m].
        radius: f64,
    },
    /// A cylinder with flat ends.
    Cylinder {
        /// Middle of one end [m].
        from: Vec3,
        /// Middle of the other [m].
        to: Vec3,
        /// Its radius [m].
        radius: f64,
    },
    /// A triangle mesh.
    Mesh {
        /// Where it comes from.
        mesh: MeshSource,
        /// From file to world.
        placement: Placement,
        /// How the file's animation is played.
        animation: Animation,
        /// Which sides push.
        sides: MeshSides,
    },
}

/// Which sides of a collider's mesh push.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MeshSides {
    /// Closed meshes are solid bodies, open ones shells.
    #[default]
    Auto,
    /// Also an open mesh has an inside: behind its faces.
    One,
    /// Also a closed mesh is a shell.
    Two,
}

/// Something that cloth and soft bodies cannot enter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Collider {
    /// Unique among all objects.
    pub name: String,
    /// Its form.
    pub shape: Shape,
    /// How it moves.
    pub motion: Motion,
    /// Coulomb coefficient while cloth slides; a pair uses the geometric mean of both sides.
    pub friction: Curve<f64>,
    /// The same while it sticks; at no key less.
    pub static_friction: Curve<f64>,
    /// Part of its speed that is left to what bounces; a pair uses the product of both sides.
    pub restitution: f64,
    /// Added to the cloth's own thickness [m].
    pub thickness: f64,
}

/// An object that touches others, by its place in the scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Body {
    /// A cloth.
    Cloth(usize),
    /// A soft body.
    SoftBody(usize),
    /// A collider.
    Collider(usize),
}

/// What a pair of objects has instead of what follows from both.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ContactPair {
    /// In ascending order, so the first one is no collider.
    pub between: [Body; 2],
    /// Whether they collide.
    pub collide: bool,
    /// Coulomb coefficient while they slide.
    pub friction: Option<f64>,
    /// The same while they stick.
    pub static_friction: Option<f64>,
    /// Distance that they keep [m].
    pub thickness: Option<f64>,
    /// Part of its speed that is left to what bounces.
    pub restitution: Option<f64>,
}

/// A cache format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Point cache 2 (3ds Max, Blender): one file an object.
    Pc2,
    /// Motion designer (LightWave, Houdini, Blender): one file an object.
    Mdd,
    /// One OBJ file a frame.
    Obj,
    /// Binary glTF (Blender, browsers, engines): one file for every 240 frames.
    Glb,
}

impl Format {
    /// All of them, in the order of the documentation.
    pub const ALL: [Format; 4] = [Format::Pc2, Format::Mdd, Format::Obj, Format::Glb];

    /// Its name in scene files, and its file name extension.
    pub fn name(self) -> &'static str {
        match self {
            Format::Pc2 => "pc2",
            Format::Mdd => "mdd",
            Format::Obj => "obj",
            Format::Glb => "glb",
        }
    }
}

/// Which coordinates are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Space {
    /// World coordinates.
    #[default]
    World,
    /// The object's own: the transform of its scene entry taken out again.
    Local,
}

/// How a GLB holds motion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GlbMode {
    /// One morph target a frame: every viewer plays it.
    #[default]
    Morph,
    /// The first frame as GLB and all frames as raw numbers in a second file, for programs that play long shots.
    Stream,
}

/// How GLB files are written. Also what is typed in a scene file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Glb {
    /// "morph": one morph target a frame, at most 240 frames a file. "stream": the first frame as GLB and all frames as
    /// raw numbers in a file beside it.
    pub mode: GlbMode,
    /// Positions as 16-bit whole numbers: files are a third smaller and a little less exact.
    pub quantize: bool,
    /// Only vertices that moved since the file's first frame: smaller where much of the cloth is at rest.
    pub sparse: bool,
    /// Normals of every frame, so that viewers shade folds as they form: files are twice as large. Without them viewers keep
    /// the shading of the file's first frame.
    pub normals: bool,
}

/// What is written, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Output {
    /// Caches to make after the bake.
    pub formats: Vec<Format>,
    /// Unit of the written coordinates.
    pub unit: Unit,
    /// Up axis of the written coordinates.
    pub up: UpAxis,
    /// File name of a cache without its extension: see `scene::pattern`.
    pub pattern: String,
    /// World or local.
    pub space: Space,
    /// How GLB files are written.
    #[serde(default)]
    pub glb: Glb,
    /// Whether colliders are kept to be looked at.
    #[serde(default)]
    pub colliders: bool,
}

/// Limits that decide between exit codes 0 and 5.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gates {
    /// On the relative stretch of the visible edges of the simulated mesh.
    pub max_stretch: Option<f64>,
    /// On the constraints' relative stretch.
    pub max_constraint_stretch: Option<f64>,
    /// On the depth of a written vertex below a collider's surface [m].
    pub max_penetration: Option<f64>,
    /// Most edges that pierce a triangle.
    pub max_crossings: Option<u64>,
    /// On the relative error of a soft body's volume.
    #[serde(default)]
    pub max_volume_error: Option<f64>,
}

impl Scene {
    /// The first frame of the run-up: where everything that moves stands still until then.
    pub fn start_frame(&self) -> i64 {
        self.first_frame - i64::from(self.preroll)
    }

    /// Frames that are simulated before the first one.
    pub fn lead_in(&self) -> u32 {
        self.dress_blend.saturating_add(self.settle).saturating_add(self.preroll)
    }
}

/// Everything a bake needs to know except the meshes themselves.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scene {
    /// Also the job's default folder.
    pub name: String,
    /// Frames per second.
    pub fps: FrameRate,
    /// First simulated frame: the state before any step (after the pre-roll).
    pub first_frame: i64,
    /// Last simulated frame.
    pub last_frame: i64,
    /// The frames that are written, ascending, all within the range.
    pub written_frames: Vec<i64>,
    /// Frames simulated before the first one, with everything moving.
    pub preroll: u32,
    /// Frames before those, in which nothing but the cloth moves.
    pub settle: u32,
    /// Frames before all others, in which animated colliders go from their bind pose to the one they start with.
    pub dress_blend: u32,
    /// Steps a frame.
    pub substeps: Substeps,
    /// [m/s²]
    pub gravity: Curve<Vec3>,
    /// Moving air.
    pub wind: Wind,
    /// Drag coefficient of a face against air of 1.2 kg/m³; 0 is vacuum.
    pub drag: Curve<f64>,
    /// Cloths in the order of the file.
    pub cloths: Vec<Cloth>,
    /// Soft bodies in the order of the file.
    pub soft_bodies: Vec<SoftBody>,
    /// Colliders in the order of the file.
    pub colliders: Vec<Collider>,
    /// Pairs that touch in their own way, each pair at most once.
    pub contacts: Vec<ContactPair>,
    /// What is written.
    pub output: Output,
    /// When a finished bake is not good enough.
    pub gates: Gates,
}
