//! Points near primitives, found on the device: against distances and contacts of the processor, and whole bakes.

use std::mem::offset_of;
use std::rc::Rc;

use kiln::algorithms::contact::friction::Friction;
use kiln::algorithms::contact::resting::Resting;
use kiln::algorithms::contact::restitution::outgoing_speed;
use kiln::algorithms::contact::signed_distance::{self, Nearest};
use kiln::math::Vec3;
use kiln::math::motion::Pose;
use kiln::math::rows::Rows;
use kiln::model::{BodyState, Pace};
use kiln::scene::Shape;
use kiln::solver::gpu::contact::{ContactData, DeviceContacts, PartData, PointRows};
use kiln::solver::gpu::finding::{FINDING, Finder, FindingData, PrimitiveData, Touching};
use kiln::solver::gpu::particles::{Four, Particles, StepData, double};
use nalgebra::Rotation3;

use crate::parity::{apart, on_device, size};
use crate::support::World;
use crate::work::layout;
use crate::{noise, open, vector};

const H: f64 = 1e-3;
const GRAVITY: f64 = 9.81;
const EDGE: f64 = 0.05;
/// More than any surface moves in the step.
const WAY: f64 = 0.01;

#[test]
fn structs_are_where_kernels_look_for_them() {
    let offsets = (0..11).flat_map(|n| [16 * n, 16 * n + 12]).collect::<Vec<usize>>();
    assert_eq!(layout(&FINDING, "Primitive"), (offsets, size_of::<PrimitiveData>()));
    assert_eq!(layout(&FINDING, "Finding"), ((0..8).map(|n| 4 * n).collect(), size_of::<FindingData>()));
    assert_eq!(layout(&FINDING, "Contact"), layout(&kiln::solver::gpu::contact::RESTING, "Contact"));
    assert_eq!(layout(&FINDING, "Contact").0[9], offset_of!(ContactData, gap));
    assert_eq!(layout(&FINDING, "Seen"), (vec![0, 12, 16, 28, 32, 36, 40, 44], 48));
    assert_eq!(layout(&FINDING, "Placed"), ((0..4).flat_map(|n| [16 * n, 16 * n + 12]).collect(), 64));
    assert_eq!(layout(&FINDING, "Part").1, size_of::<PartData>());
}

/// A primitive that moves in the step.
struct Moving {
    shape: Shape,
    poses: [Pose; 2],
    touching: Touching,
}

impl Moving {
    fn nearest(&self, point: Vec3) -> Nearest {
        let p = self.poses[0].apply_inverse(point);
        let nearest = match self.shape {
            Shape::Plane { point, normal } => signed_distance::plane(p, point, normal),
            Shape::Sphere { center, radius } => signed_distance::sphere(p, center, radius),
            Shape::Box { center, size } => signed_distance::cuboid(p, center, size),
            Shape::Capsule { from, to, radius } => signed_distance::capsule(p, from, to, radius),
            Shape::Cylinder { from, to, radius } => signed_distance::cylinder(p, from, to, radius),
            Shape::Mesh { .. } => panic!("no primitive"),
        };
        Nearest { normal: self.poses[0].rotation * nearest.normal, ..nearest }
    }

    /// A contact of a point, as the processor has it in the step in which it was measured.
    fn contact(&self, start: Vec3, velocity: Vec3, reach: f64) -> Option<(Resting, Vec3)> {
        let nearest = self.nearest(start);
        let [from, to] = &self.poses;
        let carried_to = to.apply(from.apply_inverse(start));
        let Touching { thickness, restitution, friction } = self.touching;
        if nearest.distance >= 1.5 * thickness + 0.04 * EDGE + reach + WAY {
            return None;
        }
        let surface_velocity = (carried_to - start) / H;
        let normal = to.rotation * from.rotation.inverse_transform_vector(&nearest.normal);
        let speed = (velocity - surface_velocity).dot(&normal);
        let mut resting = Resting::new(normal, carried_to, nearest.distance - thickness, friction);
        resting.begin_step(carried_to, H, outgoing_speed(speed, restitution, GRAVITY, thickness));
        Some((resting, surface_velocity))
    }
}

fn turn(v: Vec3) -> Rotation3<f64> {
    Rotation3::from_scaled_axis(v)
}

/// One of each kind, in any place and pose around `middle`; every other one stands still.
fn primitives(next: &mut impl FnMut() -> f64, middle: Vec3) -> Vec<Moving> {
    let size = |next: &mut dyn FnMut() -> f64| 0.3 + 0.1 * next();
    (0..6)
        .map(|n| {
            let at = middle + vector(next) * 0.2;
            let shape = match n {
                0 => Shape::Plane { point: at, normal: vector(next).normalize() },
                1 => Shape::Sphere { center: at, radius: size(next) },
                2 => Shape::Box { center: at, size: Vec3::new(size(next), size(next), size(next)) },
                3 => Shape::Capsule { from: at, to: at + vector(next) * 0.3, radius: size(next) },
                4 => Shape::Cylinder { from: at, to: at + vector(next) * 0.3, radius: size(next) },
                // Without any length.
                _ => Shape::Capsule { from: at, to: at, radius: size(next) },
            };
            // About the middle, so that things stay where they are.
            let about = |rotation: Rotation3<f64>, shift: Vec3| Pose {
                rotation,
                translation: middle - rotation * middle + shift,
            };
            let rotation = turn(vector(next));
            let from = about(rotation, vector(next) * 0.1);
            let to = about(
                turn(vector(next) * 2e-3) * rotation,
                from.translation - (middle - rotation * middle) + vector(next) * 1e-3,
            );
            let friction = match n {
                0 => Friction::from(f64::INFINITY),
                1 => Friction::new(0.2, 0.6),
                _ => Friction::from(0.4),
            };
            let restitution = if n % 3 == 2 { 0.5 } else { 0.0 };
            let touching = Touching { thickness: 0.004, restitution, friction };
            Moving { shape, poses: if n % 2 == 0 { [from, from] } else { [from, to] }, touching }
        })
        .collect()
}

/// What is left after so many sweeps, on the device and here: ways, velocities and what was pressed.
type Outcome = (Vec<Vec3>, Vec<Vec3>, Vec<f64>);

/// Points of three particles each, all its own, with some places for them.
struct Points {
    rows: PointRows,
    x: Vec<Vec3>,
    d: Vec<Vec3>,
    v: Vec<Vec3>,
    k: Vec<f64>,
}

impl Points {
    fn new(places: &[Vec3], seed: u64) -> Self {
        let mut next = noise(seed);
        let weights = [0.5, 0.75, -0.25];
        let k: Vec<f64> = (0..3 * places.len()).map(|i| if i % 15 < 3 { 0.0 } else { 2.0 + next() }).collect();
        let row = |n: usize| {
            let of = |m: usize| (3 * n + m, weights[m]);
            let point_k: f64 = (0..3).map(of).map(|(i, w)| w * w * k[i]).sum();
            let share = |(i, w): (usize, f64)| if point_k > 0.0 { w * k[i] / point_k } else { 0.0 };
            (0..3).map(of).map(|(i, w)| (i as u32, w, share((i, w)))).collect::<Vec<_>>()
        };
        let rows: Rows<(u32, f64, f64)> = (0..places.len()).map(row).collect();
        let mut x = Vec::new();
        for place in places {
            let [a, b] = [vector(&mut next) * 0.02, vector(&mut next) * 0.02];
            // So that the mean of the three is there.
            x.extend([place + a, place + b, place + (a * 0.5 + b * 0.75) * 4.0]);
        }
        let d = x.iter().map(|_| vector(&mut next) * 2e-3).collect();
        let v = x.iter().map(|_| vector(&mut next) * 2.0).collect();
        Points { rows, x, d, v, k }
    }

    fn value(&self, point: usize, of: &[Vec3]) -> Vec3 {
        self.rows.row(point).iter().fold(Vec3::zeros(), |sum, &(p, w, _)| sum + of[p as usize] * w)
    }

    fn there(&self, primitives: &[Moving], sweeps: usize) -> Outcome {
        let gpu = Rc::new(open(None));
        let mut particles = Particles::new(&gpu, &self.k, &[]);
        let mut contacts = DeviceContacts::new(&gpu, self.rows.clone(), &particles);
        let pace = Pace { factor: 1.0, change: 1.0, strain: 0.0 };
        let state =
            BodyState { written: self.x.clone(), x: self.x.clone(), v: self.v.clone(), flowed: Vec::new(), pace };
        particles.load(&state);
        let mut finder = Finder::new(&gpu, &vec![None; primitives.len()], &particles, &mut contacts).unwrap();
        // Ways begin with what places in single precision lack, as on the look-ahead.
        let way = |(x, d): (&Vec3, &Vec3)| {
            let way = x + d - x.map(|c| f64::from(c as f32));
            [way.x as f32, way.y as f32, way.z as f32, 0.0]
        };
        gpu.write(&particles.d, 0, &self.x.iter().zip(&self.d).map(way).collect::<Vec<Four>>());
        particles.begin_step(StepData::of(Vec3::new(0.0, -GRAVITY, 0.0), H, 0.0));
        let data = |p: &Moving| {
            PrimitiveData::new(&p.shape, p.poses, Some(p.touching)).unwrap().on_its_way(WAY, 0.0, Vec3::zeros())
        };
        finder.find_near(
            FindingData::new(H, GRAVITY, EDGE, primitives.len(), true),
            &primitives.iter().map(data).collect::<Vec<PrimitiveData>>(),
        );
        contacts.begin_found();
        (0..sweeps).for_each(|_| contacts.positions_anyway());
        contacts.velocities();
        let (mut d, mut v) = (Vec::new(), Vec::new());
        gpu.read_all([(&particles.d, &mut d), (&particles.v, &mut v)]);
        let sums = contacts.sums();
        assert_eq!(gpu.trouble(), None);
        let way = |(x, d): (&Vec3, &Four)| x.map(|c| f64::from(c as f32)) + double(*d) - x;
        let d = self.x.iter().zip(&d).map(way).collect();
        (d, v.into_iter().map(double).collect(), sums.into_iter().map(|sum| sum.0).collect())
    }

    fn here(&self, primitives: &[Moving], sweeps: usize) -> Outcome {
        let (mut ahead, mut v) =
            (self.x.iter().zip(&self.d).map(|(x, d)| x + d).collect::<Vec<Vec3>>(), self.v.clone());
        let fastest = self.v.iter().map(|v| v.norm()).filter(|speed| speed.is_finite()).fold(0.0, f64::max);
        let reach = H * (fastest + H * GRAVITY);
        let mut pressed = Vec::new();
        for point in (0..self.rows.len()).filter(|&point| self.rows.row(point).iter().any(|part| part.2 != 0.0)) {
            let (start, velocity) = (self.value(point, &self.x), self.value(point, &self.v));
            let mut contacts: Vec<_> = primitives.iter().map(|p| p.contact(start, velocity, reach)).collect();
            share_room(&mut contacts, primitives, start);
            let shift = |values: &mut Vec<Vec3>, by: Vec3| {
                self.rows.row(point).iter().for_each(|&(p, _, share)| values[p as usize] += by * share);
            };
            for _ in 0..sweeps {
                for (resting, _) in contacts.iter_mut().flatten() {
                    let by = resting.correct_position(self.value(point, &ahead));
                    shift(&mut ahead, by);
                }
            }
            for (resting, surface_velocity) in contacts.iter_mut().flatten() {
                let by = resting.correct_velocity(self.value(point, &v) - *surface_velocity, H);
                shift(&mut v, by);
            }
            pressed.extend(contacts.iter().map(|contact| contact.as_ref().map_or(0.0, |(resting, _)| resting.pressed)));
        }
        (ahead.iter().zip(&self.x).map(|(y, x)| y - x).collect(), v, pressed)
    }
}

/// What opposite primitives leave a point: their thickness yields first, then the later one lets it pass.
fn share_room(contacts: &mut [Option<(Resting, Vec3)>], primitives: &[Moving], start: Vec3) {
    for second in 1..contacts.len() {
        let mut passes = false;
        for first in 0..second {
            let (Some((a, _)), Some((b, _))) = (contacts[first], contacts[second]) else { continue };
            let room = a.above(start) + b.above(start);
            if room >= 0.0 || a.normal.dot(&b.normal) > -0.3 {
                continue;
            }
            let both = [first, second].map(|n| primitives[n].touching.thickness);
            let thickness = both[0] + both[1];
            if room <= -thickness {
                passes = true;
                continue;
            }
            for (n, own) in [first, second].into_iter().zip(both) {
                if let Some((resting, _)) = &mut contacts[n] {
                    resting.allowed = resting.allowed.min(room * own / thickness);
                }
            }
        }
        if passes {
            contacts[second] = None;
        }
    }
}

#[test]
fn opposite_primitives_share_the_room_between_them() {
    let mut next = noise(74);
    let plane = |height: f64, normal: Vec3, thickness: f64, shift: f64| {
        let touching = Touching { thickness, restitution: 0.0, friction: Friction::from(0.3) };
        let to = Pose { rotation: Rotation3::identity(), translation: Vec3::new(0.0, shift, 0.0) };
        let shape = Shape::Plane { point: Vec3::new(0.1, height, 0.0), normal };
        Moving { shape, poses: [Pose::identity(), to], touching }
    };
    // Enough room, too little for the thickness, and none at all; the third one is in the way of neither.
    let mut seen = Vec::new();
    for height in [0.02, 0.007, 0.001, -0.004] {
        let primitives = [
            plane(0.0, Vec3::y(), 0.004, 0.0),
            plane(height, -Vec3::y(), 0.008, -5e-4),
            plane(0.0, Vec3::x(), 0.004, 0.0),
        ];
        let places: Vec<Vec3> =
            (0..200).map(|_| Vec3::new(0.2 + 0.1 * next(), 0.5 * height + 0.01 * next(), next())).collect();
        let points = Points::new(&places, 75);
        let (d, _, pressed) = points.there(&primitives, 3);
        let (here_d, ..) = points.here(&primitives, 3);
        // Velocities are another matter: where two push against each other, whether one is left pressing at all hangs on the last digit.
        println!("{height}: off by {:.1e}", off(&d, &here_d));
        assert!(off(&d, &here_d) < 1e-6, "{height}");
        // Pressed by both, and by the later one alone.
        seen.push(pressed.chunks(3).filter(|pressed| pressed[1] > 0.0).count());
    }
    assert!(seen[1] > 20 && seen[3] == 0, "the later one lets points pass where both overlap: {seen:?}");
}

fn off(a: &[Vec3], b: &[Vec3]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b).norm())
        .fold(0.0, |most, off| if off > most || off.is_nan() { off } else { most })
}

/// One primitive at a time, so that no room has to be shared.
#[test]
fn points_are_found_and_pressed_as_on_the_processor() {
    let mut next = noise(71);
    // Far from the origin too: only differences count.
    for middle in [Vec3::zeros(), Vec3::new(200.0, -300.0, 1000.0)] {
        for moving in primitives(&mut next, middle) {
            let places: Vec<Vec3> = (0..400).map(|_| middle + vector(&mut next) * 0.4).collect();
            let points = Points::new(&places, 72);
            let one = [moving];
            let (d, v, pressed) = points.there(&one, 2);
            let (here_d, here_v, here_pressed) = points.here(&one, 2);
            let touching = here_pressed.iter().filter(|pressed| **pressed > 0.0).count();
            assert!((3..390).contains(&touching), "{touching} of 400 touch");
            let most = here_pressed.iter().zip(&pressed).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            println!(
                "{:?}: {touching} touch, off by {:.1e} {:.1e} {most:.1e}",
                one[0].shape,
                off(&d, &here_d),
                off(&v, &here_v)
            );
            // Places are some tenths of a metre from the primitive's, with 24 bits; velocities are that in a millisecond.
            assert!(off(&d, &here_d) < 1e-6 && most < 1e-6, "{:?}", one[0].shape);
            assert!(off(&v, &here_v) < 2e-3, "{:?}", one[0].shape);
        }
    }
}

#[test]
fn what_has_no_direction_gets_the_processors() {
    let origin = Vec3::zeros();
    let still = [Pose::identity(); 2];
    let touching = Touching { thickness: 0.01, restitution: 0.0, friction: Friction::from(0.5) };
    let x = Vec3::new(0.5, 0.0, 0.0);
    for shape in [
        Shape::Sphere { center: origin, radius: 0.5 },
        Shape::Box { center: origin, size: Vec3::new(1.0, 1.0, 1.0) },
        Shape::Capsule { from: -x, to: x, radius: 0.5 },
        Shape::Capsule { from: origin, to: origin, radius: 0.5 },
        Shape::Cylinder { from: -x, to: x, radius: 0.25 },
        Shape::Cylinder { from: origin, to: origin, radius: 0.5 },
        Shape::Plane { point: origin, normal: Vec3::y() },
    ] {
        // The very middle, on the axis, on surface and edge; and something that is no number, which stays what it is and disturbs nobody.
        let half = Vec3::new(0.5, 0.5, 0.5);
        let places = [x, origin, x * 0.5, x, half, half * 1.001, -half, origin, Vec3::new(0.0, 1e-30, 0.0)];
        let mut points = Points::new(&places, 73);
        points.x = places.iter().flat_map(|place| [*place; 3]).collect();
        points.d.fill(Vec3::zeros());
        points.x[24..27].fill(Vec3::new(f64::NAN, 0.0, 0.0));
        let one = [Moving { shape, poses: still, touching }];
        let (d, v, _) = points.there(&one, 1);
        let (here_d, here_v, _) = points.here(&one, 1);
        assert!(off(&d[..24], &here_d[..24]) < 1e-6, "{:?}", one[0].shape);
        assert!(off(&v[..24], &here_v[..24]) < 2e-3, "{:?}", one[0].shape);
    }
}

fn sheet(substeps: u32, model: &str, colliders: &str) -> World {
    let quads = model == "grid";
    World::new(&format!(
        "[scene]\nname = \"test\"\nfps = 30\nframes = \"0-1\"\nsubsteps = {substeps}\n[air]\ndrag = 0\n\
         [[cloth]]\nname = \"sheet\"\nmesh = {{ sheet = {{ size = [0.6, 0.6], vertices = [13, 13], quads = {quads} }} }}\n\
         transform = {{ translate = [0, 0.5, 0] }}\nmodel = \"{model}\"\nsolver = \"iterative\"\nself_collision = false\nbend = 0\n{colliders}"
    ))
}

/// The sheet lies 0.5 m high.
const COLLIDERS: [(&str, &str); 5] = [
    ("plane", "shape = \"plane\"\npoint = [0, 0.497, 0]\nnormal = [0.1, 1, 0]\n"),
    (
        "sphere",
        "shape = \"sphere\"\ncenter = [0.1, 0, 0]\nradius = 0.496\ntransform.translate = { keys = [[0, [0, 0, 0]], [1, [0, 0.01, 0]]] }\n",
    ),
    (
        "box",
        "shape = \"box\"\ncenter = [0, 0.397, 0]\nsize = [0.5, 0.2, 0.5]\ntransform.rotate = { keys = [[0, [0, 0, 0]], [1, [0, 5, 0]]] }\n",
    ),
    ("capsule", "shape = \"capsule\"\nfrom = [-0.2, 0.296, 0]\nto = [0.2, 0.296, 0.1]\nradius = 0.2\n"),
    ("cylinder", "shape = \"cylinder\"\nfrom = [0, 0.3, 0]\nto = [0, 0.497, 0]\nradius = 0.2\n"),
];

#[test]
fn a_bake_with_primitives_stays_on_the_device() {
    let plane = COLLIDERS[0];
    let of_each = COLLIDERS.map(|collider| ("stretch_only", collider));
    // The points of midpoints have many particles each, and depend on each other in long chains.
    for (model, (name, collider)) in of_each.into_iter().chain([("midpoint", plane), ("grid", plane)]) {
        let text = |steps| sheet(steps, model, &format!("[[collider]]\nname = \"thing\"\nfriction = 0.4\n{collider}"));
        let world = text(20);
        let (end, many) = on_device(&world, None);
        assert!(many.dispatches > 0, "{model} on {name} is on the device");
        assert_eq!(on_device(&world, None).0, end, "{model} on {name}: another run gives other bits");
        let off = apart(&end, &world.simulate(|_| ())) / size(&world);
        println!("{model} on {name}: {off:.1e} of its size");
        assert!(off < 1e-4, "{model} on {name}: {off}");
        let few = on_device(&text(10), None).1;
        assert_eq!(few.read_backs, many.read_backs, "{name}: nothing is read in a step");
        // What moves is told in every step, and nothing else.
        let more = many.uploaded_bytes - few.uploaded_bytes;
        assert!(more <= 10 * 1024, "{name}: {more}");
    }
}
