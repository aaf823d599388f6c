//! Scene and meshes into what a solver needs. The model is built once and never changes; `State` is what moves.

pub mod animated_surface;
pub mod build_attachments;
pub mod build_cloth;
pub mod build_collider;
pub mod build_maps;
pub mod build_pins;
pub mod build_soft_body;
pub mod contact_rules;
pub mod discretise;
pub mod lattice_cache;
pub mod moving_collider;
pub mod promise;
pub mod rest_shape;
pub mod shape_body;
pub mod skin;
pub mod solver_choice;
pub mod state;
pub mod tet_body;

use std::path::Path;

pub use build_cloth::ClothModel;
pub use build_collider::ColliderModel;
pub use build_soft_body::{Inside, SoftBodyModel};
pub use contact_rules::{ContactRules, PairRule};
pub use moving_collider::{Anchor, MovingCollider, NearTriangles};
pub use promise::{Broken, Promise};
pub use shape_body::ShapeBody;
pub use skin::{Carried, Skin};
pub use state::{BodyState, Pace, State};
pub use tet_body::TetBody;

use crate::import::{self, InputFile};
use crate::math::curve::Blend;
use crate::mesh::simulation_mesh::SimulationMesh;
use crate::mesh::surface::PolyMesh;
use crate::mesh::topology::Topology;
use crate::scene::problem::{KeyPath, Place, Problem, Severity};
use crate::scene::{MeshSource, Scene, Shape};

/// Everything that stays the same during a bake.
#[derive(Debug)]
pub struct Model {
    /// Cloths in the order of the scene.
    pub cloths: Vec<ClothModel>,
    /// Soft bodies in the order of the scene.
    pub soft_bodies: Vec<SoftBodyModel>,
    /// Colliders in the order of the scene.
    pub colliders: Vec<ColliderModel>,
    /// How they touch.
    pub contact: ContactRules,
    /// For each cloth and soft body the mesh that follows it into the caches, in the world at rest.
    pub render_meshes: Vec<Option<PolyMesh>>,
    /// The files it was built from, each once.
    pub inputs: Vec<InputFile>,
}

impl Model {
    /// How many bodies deform: cloths, then soft bodies, which are numbered together.
    pub fn body_count(&self) -> usize {
        self.cloths.len() + self.soft_bodies.len()
    }

    /// What is seen of a body.
    pub fn skin(&self, body: usize) -> &Skin {
        match body.checked_sub(self.cloths.len()) {
            None => &self.cloths[body],
            Some(soft) => &self.soft_bodies[soft],
        }
    }

    /// The same of all bodies.
    pub fn skins(&self) -> impl Iterator<Item = &Skin> {
        (0..self.body_count()).map(|body| self.skin(body))
    }

    /// What holds each body.
    pub fn pins(&self) -> impl Iterator<Item = &build_pins::Pins> {
        self.cloths.iter().map(|cloth| &cloth.pins).chain(self.soft_bodies.iter().map(|body| &body.pins))
    }

    /// Whether anything can touch anything.
    pub fn has_contacts(&self) -> bool {
        let colliders = (0..self.body_count()).flat_map(|body| self.contact.with_colliders(body));
        self.has_touching_triangles() || colliders.flatten().next().is_some()
    }

    /// Whether a triangle of one body can touch one of another or of itself.
    pub fn has_touching_triangles(&self) -> bool {
        self.have_triangles_that(|_| true)
    }

    /// Whether any of these may bounce off each other.
    pub fn has_bouncing_triangles(&self) -> bool {
        self.have_triangles_that(|rule| rule.restitution > 0.0)
    }

    fn have_triangles_that(&self, touch_so: impl Fn(PairRule) -> bool) -> bool {
        let bodies = self.body_count();
        let has_triangles = |other: usize| match other.checked_sub(bodies) {
            None => true,
            Some(collider) => self.colliders[collider].has_triangles(),
        };
        let mut others = (0..bodies + self.colliders.len()).filter(|&other| has_triangles(other));
        others.any(|other| (0..bodies).any(|body| self.contact.between(body, other).is_some_and(&touch_so)))
    }

    /// The path of a body in the scene file.
    pub fn path(&self, body: usize) -> KeyPath {
        match body.checked_sub(self.cloths.len()) {
            None => KeyPath::cloth(body),
            Some(soft) => KeyPath::soft_body(soft),
        }
    }
}

/// A time of the scene: what keys and animations are asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// The (fractional) frame.
    pub frame: f64,
    /// How far animated colliders have come from their bind pose (0) to that of their animation (1).
    pub dressed: f64,
}

impl Moment {
    /// A time of the shot.
    pub fn at(frame: f64) -> Self {
        Moment { frame, dressed: 1.0 }
    }

    /// When the simulation starts.
    pub fn start(scene: &Scene) -> Self {
        Moment { frame: scene.start_frame() as f64, dressed: if scene.dress_blend > 0 { 0.0 } else { 1.0 } }
    }

    /// A part of the way from one to the other.
    pub fn between([from, to]: [Moment; 2], part: f64) -> Self {
        Moment { frame: from.frame.blend(to.frame, part), dressed: from.dressed.blend(to.dressed, part) }
    }
}

/// Read the meshes and build the model and its first state. Warnings come with success; all errors are found in one run.
pub fn build(scene: &Scene) -> Result<(Model, State, Vec<Problem>), Vec<Problem>> {
    let mut problems = Vec::new();
    let mut model = Model {
        cloths: Vec::new(),
        soft_bodies: Vec::new(),
        colliders: Vec::new(),
        contact: ContactRules::build(scene),
        render_meshes: Vec::new(),
        inputs: Vec::new(),
    };
    // Pins follow colliders, so those come first; what is wrong with them is told last, as they stand in the file.
    let mut collider_problems = Vec::new();
    let mut collider_inputs = Vec::new();
    let mut colliders = Vec::new();
    for (number, collider) in scene.colliders.iter().enumerate() {
        let place = KeyPath::collider(number);
        let asset = match &collider.shape {
            Shape::Mesh { mesh, placement, .. } => match import::read(mesh, placement, &place) {
                Ok(asset) => {
                    note_unit(mesh, placement.scale, &asset.mesh.positions, &place, &mut collider_problems);
                    collider_inputs.extend(asset.inputs.clone());
                    collider_problems.extend(asset.warnings.clone());
                    Some(asset)
                }
                Err(problem) => {
                    collider_problems.push(problem);
                    colliders.push(None);
                    continue;
                }
            },
            _ => None,
        };
        colliders.push(ColliderModel::build(collider, asset, scene, &place, &mut collider_problems));
    }
    let start = Moment::start(scene);
    let placed: Vec<Option<MovingCollider>> = colliders
        .iter()
        .enumerate()
        .map(|(number, collider)| Some(MovingCollider::at(collider.as_ref()?, number, start)))
        .collect();
    for (number, cloth) in scene.cloths.iter().enumerate() {
        let place = KeyPath::cloth(number);
        match import::read(&cloth.mesh, &cloth.placement, &place) {
            Ok(asset) => {
                note_unit(&cloth.mesh, cloth.placement.scale, &asset.mesh.positions, &place, &mut problems);
                remember(&mut model.inputs, asset.inputs);
                problems.extend(asset.warnings);
                if asset.animated.is_some() && scene.dress_blend == 0 {
                    let message = "the mesh is animated, but a cloth starts in the pose it was bound in";
                    let help = "`dress_blend` takes animated colliders from that pose to the first frame's";
                    problems.push(Problem::warning(Place::Scene(place.key("mesh")), message).help(help));
                }
                let thinnest = model.contact.thinnest(number);
                let built = ClothModel::build(cloth, asset.mesh, scene, &placed, thinnest, &place, &mut problems);
                remember(&mut model.inputs, built.iter().flat_map(|cloth| cloth.inputs.clone()).collect());
                model.cloths.extend(built);
            }
            Err(problem) => problems.push(problem),
        }
    }
    let renders = scene.cloths.iter().map(|cloth| &cloth.render_mesh);
    let renders = renders.chain(scene.soft_bodies.iter().map(|body| &body.render_mesh));
    for (number, render) in renders.enumerate() {
        let owner = match number.checked_sub(scene.cloths.len()) {
            None => KeyPath::cloth(number),
            Some(soft) => KeyPath::soft_body(soft),
        };
        let place = owner.key("render_mesh");
        let asset = render.as_ref().map(|render| import::read(&render.mesh, &render.placement, &place));
        let asset = asset.transpose().unwrap_or_else(|problem| {
            problems.push(problem);
            None
        });
        model.render_meshes.push(asset.map(|asset| {
            remember(&mut model.inputs, asset.inputs);
            problems.extend(asset.warnings);
            asset.mesh
        }));
    }
    for (number, body) in scene.soft_bodies.iter().enumerate() {
        let place = KeyPath::soft_body(number);
        match import::read(&body.mesh, &body.placement, &place) {
            Ok(asset) => {
                note_unit(&body.mesh, body.placement.scale, &asset.mesh.positions, &place, &mut problems);
                remember(&mut model.inputs, asset.inputs);
                problems.extend(asset.warnings);
                let number = scene.cloths.len() + number;
                let render = model.render_meshes[number].as_ref();
                let thinnest = model.contact.thinnest(number);
                let built =
                    SoftBodyModel::build(body, asset.mesh, render, scene, &placed, thinnest, &place, &mut problems);
                remember(&mut model.inputs, built.iter().flat_map(|body| body.inputs.clone()).collect());
                model.soft_bodies.extend(built);
            }
            Err(problem) => problems.push(problem),
        }
    }
    problems.extend(collider_problems);
    remember(&mut model.inputs, collider_inputs);
    if problems.iter().any(|problem| problem.severity == Severity::Error) {
        return Err(problems);
    }
    for (number, skin) in model.skins().enumerate() {
        for (other, collider) in placed.iter().enumerate() {
            if let Some(collider) = collider
                && model.contact.between(number, model.body_count() + other).is_some()
            {
                note_overlap(skin, collider, &model.path(number), &mut problems);
            }
        }
    }
    drop(placed);
    model.colliders = colliders.into_iter().flatten().collect();
    let mut state = State { bodies: model.skins().map(BodyState::at_rest).collect(), ..State::default() };
    for (body, moving) in scene.soft_bodies.iter().zip(&mut state.bodies[scene.cloths.len()..]) {
        moving.scale_at_start(body.start_scale);
    }
    Ok((model, state, problems))
}

fn remember(known: &mut Vec<InputFile>, inputs: Vec<InputFile>) {
    for input in inputs {
        if !known.contains(&input) {
            known.push(input);
        }
    }
}

/// Larger than this, in metres, a garment or prop was almost certainly modelled in centimetres.
const LARGEST_PLAUSIBLE: f64 = 20.0;

/// Warn about meshes that are too large to be meant in metres.
fn note_unit(
    source: &MeshSource,
    scale: f64,
    positions: &[crate::math::Vec3],
    place: &KeyPath,
    problems: &mut Vec<Problem>,
) {
    let MeshSource::File { typed, .. } = source else {
        return;
    };
    if let Some((low, high)) = crate::mesh::measures::bounds(positions.iter().copied())
        && (high - low).max() > LARGEST_PLAUSIBLE
    {
        let extent = (high - low).max();
        problems.push(
            Problem::warning(
                Place::Scene(place.key("mesh")),
                format!("`{}` is {extent:.0} m large ({:.0} units): centimetres?", file_name(typed), extent / scale),
            )
            .help("add `unit = \"cm\"` to this object, or `unit = \"m\"` with a `scale` if it is meant"),
        );
    }
}

fn file_name(typed: &str) -> &str {
    Path::new(typed).file_name().and_then(|name| name.to_str()).unwrap_or(typed)
}

/// Warn about a body that starts inside a collider.
fn note_overlap(skin: &Skin, collider: &MovingCollider, place: &KeyPath, problems: &mut Vec<Problem>) {
    let depth = |p: &crate::math::Vec3| collider.nearest(*p, 0.0).map_or(0.0, |nearest| -nearest.distance);
    let inside = skin.mesh.positions.iter().map(depth).filter(|&depth| depth > 0.0);
    let (count, deepest) = inside.fold((0, 0.0_f64), |(count, deepest), depth| (count + 1, deepest.max(depth)));
    if count > 0 {
        let (name, collider) = (&skin.name, &collider.model.name);
        let message = format!("`{name}` starts inside of `{collider}`: {count} vertices, {:.1} mm deep", 1e3 * deepest);
        let help = "move one of them; else it is pushed out at 1 m/s, which `settle` can hide";
        problems.push(Problem::warning(Place::Scene(place.clone()), message).help(help));
    }
}

/// The triangles of an object's polygons and their edges; what was found and done is said, and `None` follows an error.
fn triangles(
    polygons: &PolyMesh,
    binding: impl Fn(usize) -> u64,
    place: &KeyPath,
    problems: &mut Vec<Problem>,
) -> Option<(SimulationMesh, Topology)> {
    let mesh = SimulationMesh::build_apart(polygons, binding);
    let topology = Topology::build(&mesh.triangles);
    let at = || Place::Scene(place.key("mesh"));
    let findings = mesh.findings;
    let non_manifold_edges = topology.edge_triangles.iter().filter(|triangles| triangles.len() > 2).count();
    for (count, what, done) in [
        (
            findings.degenerate_triangles,
            "triangles without area",
            "they are written but take no part in the simulation",
        ),
        (findings.duplicate_triangles, "faces that are drawn twice", "each is simulated once and written as it is"),
        (findings.isolated_vertices, "vertices without a face", "they are written where they are"),
        (non_manifold_edges, "edges with more than two triangles", "simulated as sewn together there"),
    ] {
        if count > 0 {
            problems.push(Problem::warning(at(), format!("the mesh has {count} {what}")).help(done));
        }
    }
    if mesh.triangles.is_empty() {
        let flat = Problem::error(at(), "the mesh has no triangle with an area");
        problems.push(flat.help(
            "check the mesh in its program (an animated one in its bind pose): all faces are flat lines or points",
        ));
        return None;
    }
    Some((mesh, topology))
}
