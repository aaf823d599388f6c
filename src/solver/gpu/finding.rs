//! Which points of a body are near primitive colliders, found on the device: nothing has to come to the processor during a frame.
//!
//! The processor tells where the primitives are in a step, if they move. What was pressed comes back with the state at the frame's end.

use std::rc::Rc;

use bytemuck::{Pod, Zeroable};

use super::contact::{DeviceContacts, row_of};
use super::particles::{Four, Particles, single, split};
use super::reduce::Reduction;
use super::work::{Binding, Dispatch, Gpu, Source, Told};
use crate::algorithms::contact::friction::Friction;
use crate::algorithms::contact::{restitution, signed_distance};
use crate::math::motion::Pose;
use crate::math::{Mat3, Vec3};
use crate::mesh::bvh::Aabb;
use crate::model::{BodyState, Model, MovingCollider, Skin};
use crate::scene::Shape;
use crate::solver::cpu::StepWorld;
use crate::solver::cpu::contacts::{ACTIVATION, Contacts, OPPOSITE, PLANE_MARGIN, PUSH_OUT_SPEED, Point};

/// The kernels that find contacts.
pub const FINDING: Source = Source {
    name: "finding",
    text: concat!(
        include_str!("../../algorithms/contact/signed_distance.wgsl"),
        include_str!("../../algorithms/contact/finding.wgsl")
    ),
    constants: &[
        ("LEAST_LENGTH", signed_distance::LEAST_LENGTH),
        ("LEAST_THICKNESS", restitution::LEAST_THICKNESS),
        ("ACTIVATION", ACTIVATION),
        ("OPPOSITE", OPPOSITE),
    ],
};

/// Most primitives: each point compares all that are near with each other, and devices may end loops that take tens of thousands of turns.
const MOST_PRIMITIVES: usize = 256;

/// A primitive during a step as kernels have it.
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

/// How a body touches a primitive.
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
        let middle = middle(shape);
        let place = from.apply(middle);
        let [high, low] = split(place, 0.0);
        // Small differences of large numbers are taken here.
        let turn = (to.rotation * from.rotation.inverse()).into_inner() - Mat3::identity();
        let column = |m: &Mat3, n: usize| single(m.column(n).into_owned());
        let axes = from.rotation.matrix();
        let Touching { thickness, restitution, friction } =
            touching.unwrap_or(Touching { thickness: 0.0, restitution: 0.0, friction: Friction::from(0.0) });
        Some(PrimitiveData {
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
        })
    }

    /// The same where its surface moves by `way` in the step, has travelled that far in the frame before it, and its middle has come so far [m].
    #[must_use]
    pub fn on_its_way(self, way: f64, travelled: f64, since: Vec3) -> Self {
        PrimitiveData { way: way as f32, travelled: travelled as f32, since: single(since), ..self }
    }
}

/// What is known of a primitive since the start of the frame.
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
    unused: [u32; 2],
}

impl FindingData {
    /// For a step of length `h` [s] with so much gravity [m/s²], edges of such a length [m] and so many primitives; with the first one of a frame
    /// everything is measured anew.
    pub fn new(h: f64, gravity: f64, mean_edge: f64, primitive_count: usize, is_first: bool) -> Self {
        FindingData {
            h: h as f32,
            gravity: gravity as f32,
            push: (PUSH_OUT_SPEED * h) as f32,
            margin: (PLANE_MARGIN * mean_edge) as f32,
            primitives: primitive_count as u32,
            is_first: u32::from(is_first),
            unused: [0; 2],
        }
    }
}

/// Where a contact was measured: only the device looks into it.
type SeenData = [Four; 2];

/// Finds the contacts of one body.
pub struct Finder {
    gpu: Rc<Gpu>,
    finding: Told<FindingData>,
    primitives: Told<PrimitiveData>,
    measure: Dispatch,
    largest: Reduction,
    find: Dispatch,
    /// Of each point the number of its first contact, if it can move.
    places: Vec<Option<u32>>,
    /// Contacts of each.
    count: usize,
    /// Where the body is in this frame, and what the primitives have done in it.
    around: Aabb,
    histories: Vec<History>,
}

impl Finder {
    /// For a body and what it has in a model; none where something else than primitives touches it, or where that is too much for a binding.
    pub(in crate::solver) fn of_skin(
        gpu: &Rc<Gpu>,
        number: usize,
        model: &Model,
        particles: &Particles,
        contacts: &mut DeviceContacts,
    ) -> Option<Self> {
        let rules = model.contact.with_colliders(number);
        let is_simple =
            |(collider, rule): (usize, &Option<_>)| rule.is_none() || model.colliders[collider].primitive().is_some();
        if model.has_touching_triangles() || rules.len() > MOST_PRIMITIVES || !rules.iter().enumerate().all(is_simple) {
            return None;
        }
        Self::new(gpu, rules.len(), particles, contacts)
    }

    /// For the points of a body that can move, and so many primitives.
    pub fn new(gpu: &Rc<Gpu>, count: usize, particles: &Particles, contacts: &mut DeviceContacts) -> Option<Self> {
        let standing = contacts.stand_by(count)?;
        let point_count = standing.lists.len() / (2 + count);
        let finding = Told::new(gpu, "finding", 1);
        let primitives = Told::new(gpu, "primitives", count);
        let all = standing.of_body.clone();
        let speeds = gpu.zeros::<Four>("speeds", all.len());
        let fastest = gpu.zeros::<Four>("fastest", 1);
        let points = gpu.slab("points", &standing.lists);
        let seen = gpu.zeros::<SeenData>("seen", standing.contacts.len());
        let Particles { x, low, v, .. } = particles;
        let bound: [(u32, &dyn Binding); 10] = [
            (1, &finding),
            (2, &primitives),
            (3, x),
            (4, low),
            (5, v),
            (6, standing.parts),
            (7, &points),
            (8, standing.contacts),
            (9, &fastest),
            (11, &seen),
        ];
        let of_point = standing.parts.len().div_ceil(point_count.max(1)) * (12 + 48 * (1 + count)) + 8;
        let bytes = of_point + count * (4 + size_of::<PrimitiveData>() + 64 + 64);
        let find = gpu.dispatch(&FINDING, "find_contacts", 0..point_count, bytes, &bound);
        Some(Finder {
            measure: gpu.dispatch(&FINDING, "measure_speeds", all, 32, &[(5, v), (10, &speeds)]),
            largest: Reduction::largest(gpu, &speeds, &fastest),
            gpu: Rc::clone(gpu),
            places: standing.places,
            around: Aabb::empty(),
            histories: vec![History::default(); count],
            find,
            finding,
            primitives,
            count,
        })
    }

    /// A frame begins with the body in this box.
    pub(in crate::solver) fn begin_frame(&mut self, around: Aabb) {
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
        let data = |((place, collider), history): ((usize, &MovingCollider), &mut History)| {
            let data = PrimitiveData::new(collider.model.primitive()?, collider.rigid_poses(), touching(place))?;
            if collider.model.is_still() {
                return Some(data);
            }
            let now = collider.rigid_poses()[0].apply(middle(collider.model.primitive()?));
            if step == 0 {
                *history = History { place: now, travelled: 0.0 };
            }
            let way = collider.step_motion(&around);
            let before = history.travelled;
            history.travelled += way;
            Some(data.on_its_way(way, before, now - history.place))
        };
        // Meshes that the body does not touch are there as well.
        let colliders = world.colliders.iter().enumerate().zip(&mut self.histories);
        let primitives: Vec<PrimitiveData> = colliders.map(|known| data(known).unwrap_or_default()).collect();
        let finding = FindingData::new(world.h, world.gravity.norm(), skin.mean_edge, self.count, step == 0);
        self.find_near(finding, &primitives);
    }

    /// The same for these primitives.
    pub fn find_near(&mut self, finding: FindingData, primitives: &[PrimitiveData]) {
        self.finding.tell(&self.gpu, [finding].into_iter());
        self.primitives.tell(&self.gpu, primitives.iter().copied());
        self.gpu.run([&self.measure]);
        self.largest.run(&self.gpu);
        self.gpu.run([&self.find]);
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
