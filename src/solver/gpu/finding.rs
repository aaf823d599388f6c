//! Which points of a body are near colliders, found on the device: nothing has to come to the processor during a frame for that.
//!
//! The processor tells where the colliders are in a step, if they move. What was pressed comes back with the state at the frame's end. Where triangles
//! can touch, and a body touches several colliders, it also learns in every step which vertices are let pass one of them.

use std::cell::RefCell;
use std::rc::Rc;

use bytemuck::{Pod, Zeroable};

use super::contact::{DeviceContacts, row_of};
use super::meshes::{DeviceMesh, DeviceMeshes, MOST_DEPTH, MOST_TURNS};
use super::particles::{Four, Particles, single, split};
use super::reduce::Reduction;
use super::work::{Binding, Dispatch, Gpu, Slab, Source, Told};
use crate::algorithms::contact::friction::Friction;
use crate::algorithms::contact::{restitution, signed_distance};
use crate::math::motion::Pose;
use crate::math::{Mat3, Vec3};
use crate::mesh::bvh::Aabb;
use crate::model::{BodyState, Model, MovingCollider, Skin};
use crate::scene::Shape;
use crate::solver::cpu::StepWorld;
use crate::solver::cpu::contacts::{ACTIVATION, Contacts, OPPOSITE, PLANE_MARGIN, PUSH_OUT_SPEED, Point, SEARCH_EDGES};

/// The kernels that find contacts.
pub const FINDING: Source = Source {
    name: "finding",
    text: concat!(
        include_str!("../../algorithms/contact/signed_distance.wgsl"),
        include_str!("../../algorithms/contact/signed_distance_mesh.wgsl"),
        include_str!("../../algorithms/contact/finding.wgsl")
    ),
    constants: &[
        ("LEAST_LENGTH", signed_distance::LEAST_LENGTH),
        ("LEAST_THICKNESS", restitution::LEAST_THICKNESS),
        ("ACTIVATION", ACTIVATION),
        ("OPPOSITE", OPPOSITE),
        ("MOST_DEPTH", MOST_DEPTH as f64),
        ("MOST_TURNS", MOST_TURNS as f64),
    ],
};

/// Most colliders: each point compares all that are near with each other, and devices may end loops that take tens of thousands of turns.
const MOST_COLLIDERS: usize = 256;

/// Kinds besides primitives: a mesh that keeps its shape, and one whose vertices move.
const MESH: u32 = 5;
const ANIMATED: u32 = 6;

/// A collider during a step as kernels have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct PrimitiveData {
    place: [f32; 3],
    kind: u32,
    place_low: [f32; 3],
    radius: f32,
    axis_x: [f32; 3],
    sliding: f32,
    axis_y: [f32; 3],
    sticking: f32,
    axis_z: [f32; 3],
    thickness: f32,
    turn_x: [f32; 3],
    restitution: f32,
    turn_y: [f32; 3],
    is_met: u32,
    turn_z: [f32; 3],
    way: f32,
    shift: [f32; 3],
    travelled: f32,
    extent: [f32; 3],
    unused_1: f32,
    since: [f32; 3],
    unused_2: f32,
}

/// How a body touches a collider.
#[derive(Clone, Copy, Debug)]
pub struct Touching {
    /// Distance that is kept [m].
    pub thickness: f64,
    /// Part of its speed that is left to what bounces.
    pub restitution: f64,
    /// Coulomb coefficients.
    pub friction: Friction,
}

/// Where its own coordinates begin.
fn middle(shape: &Shape) -> Vec3 {
    match *shape {
        Shape::Plane { point, .. } => point,
        Shape::Sphere { center, .. } | Shape::Box { center, .. } => center,
        Shape::Capsule { from, to, .. } | Shape::Cylinder { from, to, .. } => (from + to) * 0.5,
        Shape::Mesh { .. } => Vec3::zeros(),
    }
}

impl PrimitiveData {
    /// A shape at the start and at the end of a step; none for a mesh. What no body touches has no `touching`.
    pub fn new(shape: &Shape, [from, to]: [Pose; 2], touching: Option<Touching>) -> Option<Self> {
        let (kind, extent, radius) = match *shape {
            Shape::Plane { normal, .. } => (0, normal, 0.0),
            Shape::Sphere { radius, .. } => (1, Vec3::zeros(), radius),
            Shape::Box { size, .. } => (2, size, 0.0),
            Shape::Capsule { from, to, radius } => (3, to - from, radius),
            Shape::Cylinder { from, to, radius } => (4, to - from, radius),
            Shape::Mesh { .. } => return None,
        };
        Some(Self::of_kind(kind, [extent, middle(shape)], radius, [from, to], touching))
    }

    /// The same for a mesh. Where its vertices move, the poses do not count.
    pub fn of_mesh(mesh: &DeviceMesh, poses: [Pose; 2], touching: Option<Touching>) -> Self {
        let places = [Vec3::zeros(), mesh.middle()];
        match mesh.is_animated() {
            true => Self::of_kind(ANIMATED, places, 0.0, [Pose::identity(); 2], touching),
            false => Self::of_kind(MESH, places, 0.0, poses, touching),
        }
    }

    fn of_kind(
        kind: u32,
        [extent, middle]: [Vec3; 2],
        radius: f64,
        [from, to]: [Pose; 2],
        touching: Option<Touching>,
    ) -> Self {
        let place = from.apply(middle);
        let [high, low] = split(place, 0.0);
        // Small differences of large numbers are taken here.
        let turn = (to.rotation * from.rotation.inverse()).into_inner() - Mat3::identity();
        let column = |m: &Mat3, n: usize| single(m.column(n).into_owned());
        let axes = from.rotation.matrix();
        let Touching { thickness, restitution, friction } =
            touching.unwrap_or(Touching { thickness: 0.0, restitution: 0.0, friction: Friction::from(0.0) });
        PrimitiveData {
            place: [high[0], high[1], high[2]],
            kind,
            place_low: [low[0], low[1], low[2]],
            radius: radius as f32,
            axis_x: column(axes, 0),
            sliding: friction.dynamic as f32,
            axis_y: column(axes, 1),
            sticking: friction.sticking as f32,
            axis_z: column(axes, 2),
            thickness: thickness as f32,
            turn_x: column(&turn, 0),
            restitution: restitution as f32,
            turn_y: column(&turn, 1),
            is_met: u32::from(touching.is_some()),
            turn_z: column(&turn, 2),
            shift: single(to.apply(middle) - place),
            extent: single(extent),
            ..PrimitiveData::default()
        }
    }

    /// The same where its surface moves by `way` in the step, has travelled that far in the frame before it, and its middle has come so far [m].
    #[must_use]
    pub fn on_its_way(self, way: f64, travelled: f64, since: Vec3) -> Self {
        PrimitiveData { way: way as f32, travelled: travelled as f32, since: single(since), ..self }
    }
}

/// What is known of a collider since the start of the frame.
#[derive(Clone, Copy, Debug, Default)]
struct History {
    /// Where it was then [m].
    place: Vec3,
    /// How far its surface may have moved [m].
    travelled: f64,
}

/// `Finding` of the kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct FindingData {
    h: f32,
    gravity: f32,
    push: f32,
    margin: f32,
    primitives: u32,
    is_first: u32,
    search: f32,
    words: u32,
}

impl FindingData {
    /// For a step of length `h` [s] with so much gravity [m/s²], edges of such a length [m] and so many colliders; with the first one of a frame
    /// everything is measured anew.
    pub fn new(h: f64, gravity: f64, mean_edge: f64, collider_count: usize, is_first: bool) -> Self {
        FindingData {
            h: h as f32,
            gravity: gravity as f32,
            push: (PUSH_OUT_SPEED * h) as f32,
            margin: (PLANE_MARGIN * mean_edge) as f32,
            primitives: collider_count as u32,
            is_first: u32::from(is_first),
            search: (SEARCH_EDGES * mean_edge) as f32,
            words: words(collider_count) as u32,
        }
    }
}

/// How many numbers have a bit for each collider.
fn words(collider_count: usize) -> usize {
    collider_count.div_ceil(u32::BITS as usize)
}

/// Where a contact was measured, and where a point is: only the device looks into these.
type SeenData = [Four; 3];
type PlacedData = [Four; 4];

/// Finds the contacts of one body.
pub struct Finder {
    gpu: Rc<Gpu>,
    finding: Told<FindingData>,
    primitives: Told<PrimitiveData>,
    measure: Dispatch,
    largest: Reduction,
    place: Dispatch,
    /// Primitives, each mesh, and what colliders leave between them.
    finds: Vec<Dispatch>,
    meshes: Option<Rc<RefCell<DeviceMeshes>>>,
    /// Of each point that can move, which colliders let it pass.
    passing: Slab<u32>,
    /// Whether the processor has to know that.
    tells_passing: bool,
    /// Of each point the number of its first contact, if it can move.
    places: Vec<Option<u32>>,
    /// Contacts of each.
    count: usize,
    /// Where the body is in this frame, and what the colliders have done in it.
    around: Aabb,
    histories: Vec<History>,
}

impl Finder {
    /// For a body and what it has in a model; none where the device cannot have a mesh that touches it, or where that is too much for a binding.
    pub(in crate::solver) fn of_skin(
        gpu: &Rc<Gpu>,
        number: usize,
        model: &Model,
        particles: &Particles,
        contacts: &mut DeviceContacts,
        meshes: &Rc<RefCell<DeviceMeshes>>,
    ) -> Option<Self> {
        let rules = model.contact.with_colliders(number);
        let met = |collider: usize| rules[collider].is_some();
        let kept = meshes.borrow();
        let is_known = |collider: usize| model.colliders[collider].primitive().is_some() || kept.of(collider).is_some();
        if rules.len() > MOST_COLLIDERS || !(0..rules.len()).filter(|&collider| met(collider)).all(is_known) {
            return None;
        }
        let own: Vec<Option<&DeviceMesh>> =
            (0..rules.len()).map(|collider| kept.of(collider).filter(|_| met(collider))).collect();
        let mut finder = Self::new(gpu, &own, particles, contacts)?;
        finder.meshes = Some(Rc::clone(meshes));
        finder.tells_passing = model.has_touching_triangles() && rules.iter().flatten().count() > 1;
        Some(finder)
    }

    /// For the points of a body that can move, and so many colliders: primitives have no mesh.
    pub fn new(
        gpu: &Rc<Gpu>,
        meshes: &[Option<&DeviceMesh>],
        particles: &Particles,
        contacts: &mut DeviceContacts,
    ) -> Option<Self> {
        let count = meshes.len();
        let standing = contacts.stand_by(count)?;
        let point_count = standing.lists.len() / (2 + count);
        let finding = Told::new(gpu, "finding", 1);
        let primitives = Told::new(gpu, "primitives", count);
        let all = standing.of_body.clone();
        let speeds = gpu.zeros::<Four>("speeds", all.len());
        let fastest = gpu.zeros::<Four>("fastest", 1);
        let points = gpu.slab("points", &standing.lists);
        let seen = gpu.zeros::<SeenData>("seen", standing.contacts.len());
        let placed = gpu.zeros::<PlacedData>("placed points", point_count);
        let passing = gpu.zeros::<u32>("passing", point_count * words(count));
        let Particles { x, low, v, .. } = particles;
        let bound: [(u32, &dyn Binding); 7] =
            [(1, &finding), (3, x), (4, low), (5, v), (6, standing.parts), (7, &points), (12, &placed)];
        let of_point = standing.parts.len().div_ceil(point_count.max(1)) * (12 + 48) + 8 + size_of::<PlacedData>();
        let place = gpu.dispatch(&FINDING, "place_points", 0..point_count, of_point, &bound);
        // Most contacts are asleep, and are looked at and written.
        let of_contact = 4 + size_of::<PrimitiveData>() + 64 + size_of::<SeenData>();
        let bound: [(u32, &dyn Binding); 7] = [
            (1, &finding),
            (2, &primitives),
            (7, &points),
            (8, standing.contacts),
            (9, &fastest),
            (11, &seen),
            (12, &placed),
        ];
        let mut finds = Vec::new();
        if meshes.iter().any(Option::is_none) {
            let bytes = size_of::<PlacedData>() + count * of_contact;
            finds.push(gpu.dispatch(&FINDING, "find_contacts", 0..point_count, bytes, &bound));
        }
        for (collider, mesh) in meshes.iter().enumerate().filter_map(|(collider, mesh)| Some((collider, (*mesh)?))) {
            let own: [(u32, &dyn Binding); 4] =
                [(14, &mesh.mesh), (15, &mesh.nodes), (16, &mesh.lists), (17, &mesh.vertices)];
            let bytes = size_of::<PlacedData>() + of_contact;
            let all_bound = [bound.as_slice(), &own].concat();
            let mut find = gpu.dispatch(&FINDING, "find_on_mesh", 0..point_count, bytes, &all_bound);
            gpu.aim_at_body(&mut find, collider as u32, 0..point_count);
            finds.push(find);
        }
        if count > 1 {
            let bound: [(u32, &dyn Binding); 6] =
                [(1, &finding), (2, &primitives), (7, &points), (8, standing.contacts), (12, &placed), (13, &passing)];
            let bytes = size_of::<PlacedData>() + count * (4 + 64) + 4 * words(count);
            finds.push(gpu.dispatch(&FINDING, "share_room", 0..point_count, bytes, &bound));
        }
        Some(Finder {
            measure: gpu.dispatch(&FINDING, "measure_speeds", all, 32, &[(5, v), (10, &speeds)]),
            largest: Reduction::largest(gpu, &speeds, &fastest),
            gpu: Rc::clone(gpu),
            places: standing.places,
            around: Aabb::empty(),
            histories: vec![History::default(); count],
            meshes: None,
            tells_passing: false,
            place,
            finds,
            passing,
            finding,
            primitives,
            count,
        })
    }

    /// The body is in this box: at the start of a frame, and later where that is known.
    pub(in crate::solver) fn watch(&mut self, around: Aabb) {
        self.around = around;
    }

    /// What is near at the start of a step of a frame.
    pub(in crate::solver) fn find(&mut self, number: usize, skin: &Skin, model: &Model, world: &StepWorld, step: u32) {
        let touching = |collider: usize| {
            let rule = model.contact.with_colliders(number)[collider]?;
            let friction = rule.friction(skin.friction, world.collider_friction[collider]);
            Some(Touching { thickness: rule.thickness, restitution: rule.restitution, friction })
        };
        let around = self.around;
        let meshes = self.meshes.clone();
        if let Some(meshes) = &meshes {
            meshes.borrow_mut().begin_step(&self.gpu, world.colliders);
        }
        let meshes = meshes.as_ref().map(|meshes| meshes.borrow());
        let data = |((place, collider), history): ((usize, &MovingCollider), &mut History)| {
            let (touching, poses) = (touching(place), collider.rigid_poses());
            let shape = collider.model.primitive();
            let (data, now) = match (shape, meshes.as_ref().and_then(|meshes| meshes.of(place))) {
                (Some(shape), _) => (PrimitiveData::new(shape, poses, touching)?, poses[0].apply(middle(shape))),
                (None, Some(mesh)) if mesh.is_animated() => {
                    (PrimitiveData::of_mesh(mesh, poses, touching), mesh.middle())
                }
                (None, Some(mesh)) => (PrimitiveData::of_mesh(mesh, poses, touching), poses[0].apply(mesh.middle())),
                (None, None) => return None,
            };
            if collider.model.is_still() {
                return Some(data);
            }
            if step == 0 {
                *history = History { place: now, travelled: 0.0 };
            }
            let way = collider.step_motion(&around);
            let before = history.travelled;
            history.travelled += way;
            Some(data.on_its_way(way, before, now - history.place))
        };
        // Meshes that no body touches are there as well.
        let colliders = world.colliders.iter().enumerate().zip(&mut self.histories);
        let primitives: Vec<PrimitiveData> = colliders.map(|known| data(known).unwrap_or_default()).collect();
        let finding = FindingData::new(world.h, world.gravity.norm(), skin.mean_edge, self.count, step == 0);
        self.find_near(finding, &primitives);
    }

    /// The same for these colliders.
    pub fn find_near(&mut self, finding: FindingData, primitives: &[PrimitiveData]) {
        self.finding.tell(&self.gpu, [finding].into_iter());
        self.primitives.tell(&self.gpu, primitives.iter().copied());
        self.gpu.run([&self.measure]);
        self.largest.run(&self.gpu);
        self.gpu.run(std::iter::once(&self.place).chain(&self.finds));
    }

    /// Which vertices are let pass which collider in this step, where that is asked for: this waits for the device.
    pub(in crate::solver) fn read_passing(&self, contacts: &mut Contacts, skin: &Skin) {
        if !self.tells_passing {
            return;
        }
        let mut bits = Vec::new();
        self.gpu.read(&self.passing, &mut bits);
        let words = words(self.count);
        let of_vertex = |(vertex, first): (usize, &Option<u32>)| {
            let point = (*first)? as usize / self.count;
            Some((vertex as u32, bits.get(point * words..(point + 1) * words)?))
        };
        let vertices = self.places.iter().take(skin.map.vertex_count()).enumerate().filter_map(of_vertex);
        let count = self.count as u32;
        let let_pass = |(vertex, bits): (u32, &[u32])| -> Vec<(u32, u32)> {
            let passes = |collider: &u32| bits[*collider as usize / 32] >> (collider % 32) & 1 != 0;
            (0..count).filter(passes).map(|collider| (vertex, collider)).collect()
        };
        contacts.passing = vertices.filter(|(_, bits)| bits.iter().any(|bits| *bits != 0)).flat_map(let_pass).collect();
    }

    /// At a frame's end, what its last step has pressed.
    pub(in crate::solver) fn read(
        &self,
        device: &DeviceContacts,
        contacts: &mut Contacts,
        skin: &Skin,
        moving: &BodyState,
        world: &mut StepWorld,
    ) {
        let (sums, places) = (device.sums(), &self.places);
        let at = |point: Point, collider: usize| {
            let first = places.get(row_of(skin, point) as usize).copied().flatten();
            first.and_then(|first| sums.get(first as usize + collider)).copied().unwrap_or_default()
        };
        contacts.take_pressed(skin, moving, world, at);
    }
}
