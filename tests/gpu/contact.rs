//! Points against planes on the device.

use std::mem::offset_of;
use std::rc::Rc;

use kiln::algorithms::contact::friction::Friction;
use kiln::algorithms::contact::resting::Resting;
use kiln::math::Vec3;
use kiln::model::{BodyState, Pace};
use kiln::solver::gpu::contact::{ContactData, DeviceContacts, PartData, PointRows, RESTING, Touch};
use kiln::solver::gpu::particles::{Four, Particles, StepData, double};
use kiln::solver::gpu::reduce::ControlData;
use kiln::solver::gpu::work::Slab;
use kiln::solver::gpu::{Gpu, Limits};

use crate::parity::{agrees, on_device};
use crate::support::World;
use crate::work::layout;
use crate::{noise, open, vector};

const H: f64 = 1e-3;

fn body(x: Vec<Vec3>, v: Vec<Vec3>) -> BodyState {
    let pace = Pace { factor: 1.0, change: 1.0, strain: 0.0 };
    BodyState { written: x.clone(), x, v, flowed: Vec::new(), pace }
}

fn four(v: Vec3) -> Four {
    [v.x as f32, v.y as f32, v.z as f32, 0.0]
}

fn read(gpu: &Gpu, slab: &Slab<Four>) -> Vec<Vec3> {
    let mut items = Vec::new();
    gpu.read(slab, &mut items);
    items.into_iter().map(double).collect()
}

fn step_data(gravity: Vec3) -> StepData {
    let mut data = StepData::default();
    (data.gravity, data.h, data.inverse_h) = (gravity.map(|c| c as f32).into(), H as f32, (1.0 / H) as f32);
    data
}

/// Points on the device, and what the processor makes of the same.
struct Bench {
    k: Vec<f64>,
    rows: PointRows,
    x: Vec<Vec3>,
    d: Vec<Vec3>,
    v: Vec<Vec3>,
    touches: Vec<Touch>,
}

impl Bench {
    /// Points over some particles of their own each, or over any that others may have too.
    fn new(seed: u64, point_count: usize, is_shared: bool) -> Self {
        let mut next = noise(seed);
        let particle_count = if is_shared { point_count.div_ceil(2).max(4) } else { 4 * point_count };
        // Some cannot move.
        let k: Vec<f64> = (0..particle_count).map(|n| if n % 5 == 3 { 0.0 } else { 2.0 + next() }).collect();
        let mut row = |n: usize| -> Vec<(u32, f64, f64)> {
            let size = 1 + n % 4;
            let pick = |m: usize, next: &mut dyn FnMut() -> f64| {
                if is_shared {
                    ((next() + 1.0) * 0.5 * particle_count as f64) as usize % particle_count
                } else {
                    4 * n + m
                }
            };
            let mut particles: Vec<usize> = (0..size).map(|m| pick(m, &mut next)).collect();
            particles.sort_unstable();
            particles.dedup();
            // Vertices over midpoints have negative weights too.
            let weights: Vec<f64> = particles.iter().map(|_| 0.4 + next()).collect();
            let point_k: f64 = particles.iter().zip(&weights).map(|(&p, w)| w * w * k[p]).sum();
            let share = |p: usize, w: f64| if point_k > 0.0 { w * k[p] / point_k } else { 0.0 };
            particles.iter().zip(&weights).map(|(&p, &w)| (p as u32, w, share(p, w))).collect()
        };
        let rows: PointRows = (0..point_count).map(&mut row).collect();
        let x: Vec<Vec3> = (0..particle_count).map(|_| vector(&mut next) * 3.0).collect();
        let d: Vec<Vec3> = (0..particle_count).map(|_| vector(&mut next) * 1e-3).collect();
        let v: Vec<Vec3> = (0..particle_count).map(|_| vector(&mut next)).collect();
        let mut bench = Bench { k, rows, x, d, v, touches: Vec::new() };
        for point in 0..point_count {
            // Up to two colliders for a point.
            for n in 0..(point % 3) {
                let at = bench.value(point, &bench.x);
                let normal = vector(&mut next).try_normalize(1e-3).unwrap_or(Vec3::y());
                let friction = match (point + n) % 4 {
                    0 => Friction::from(0.0),
                    1 => Friction::new(0.2, 0.6),
                    2 => Friction::from(0.5),
                    _ => Friction::from(f64::INFINITY),
                };
                let mut resting = Resting::new(normal, at + vector(&mut next) * 0.01, next() * 0.01, friction);
                let carried_to = at + vector(&mut next) * 1e-3;
                resting.begin_step(carried_to, 1e-3, if point % 7 == 0 { 0.5 } else { 0.0 });
                bench.touches.push(Touch { point: point as u32, resting, surface_velocity: vector(&mut next) });
            }
        }
        bench
    }

    fn value(&self, point: usize, of: &[Vec3]) -> Vec3 {
        self.rows.row(point).iter().fold(Vec3::zeros(), |sum, &(p, w, _)| sum + of[p as usize] * w)
    }

    fn on_device(&self, gpu: &Rc<Gpu>) -> (Particles, DeviceContacts) {
        let mut particles = Particles::new(gpu, &self.k, &[]);
        let contacts = DeviceContacts::new(gpu, self.rows.clone(), &particles);
        particles.load(&body(self.x.clone(), self.v.clone()));
        gpu.write(&particles.d, 0, &self.d.iter().map(|d| four(*d)).collect::<Vec<Four>>());
        particles.begin_step(step_data(Vec3::zeros()));
        (particles, contacts)
    }

    /// Sweeps over positions and then one over velocities in this order; the sums are left in `touches`.
    fn here(&mut self, order: &[u32], sweeps: usize) -> (Vec<Vec3>, Vec<Vec3>) {
        let places = self.x.iter().map(|x| x.map(|c| f64::from(c as f32)));
        let start: Vec<Vec3> = places.collect();
        let (mut ahead, mut v) = (self.d.iter().zip(&start).map(|(d, x)| x + d).collect::<Vec<Vec3>>(), self.v.clone());
        let mut touches = self.touches.clone();
        for sweep in 0..=sweeps {
            for touch in order.iter().map(|&n| n as usize) {
                let touch = &mut touches[touch];
                let point = touch.point as usize;
                let (values, by) = if sweep < sweeps {
                    let by = touch.resting.correct_position(self.value(point, &ahead));
                    (&mut ahead, by)
                } else {
                    let velocity = self.value(point, &v) - touch.surface_velocity;
                    (&mut v, touch.resting.correct_velocity(velocity, H))
                };
                self.rows.row(point).iter().for_each(|&(p, _, share)| values[p as usize] += by * share);
            }
        }
        self.touches = touches;
        (ahead.iter().zip(&start).map(|(y, x)| y - x).collect(), v)
    }
}

fn largest_difference(a: &[Vec3], b: &[Vec3]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
}

#[test]
fn structs_are_where_kernels_look_for_them() {
    let offsets = vec![
        offset_of!(ContactData, normal),
        offset_of!(ContactData, above),
        offset_of!(ContactData, slipped),
        offset_of!(ContactData, sliding),
        offset_of!(ContactData, surface_velocity),
        offset_of!(ContactData, sticking),
        offset_of!(ContactData, bounce),
        offset_of!(ContactData, row_start),
        offset_of!(ContactData, row_end),
        offset_of!(ContactData, gap),
    ];
    assert_eq!(layout(&RESTING, "Contact"), (offsets, size_of::<ContactData>()));
    let offsets = vec![offset_of!(PartData, particle), offset_of!(PartData, weight), offset_of!(PartData, share)];
    assert_eq!(layout(&RESTING, "Part"), (offsets, size_of::<PartData>()));
    let offsets = vec![
        offset_of!(ControlData, done),
        offset_of!(ControlData, sweeps),
        offset_of!(ControlData, worst),
        offset_of!(ControlData, enough),
        offset_of!(ControlData, fewest),
        offset_of!(ControlData, total),
        24,
        28,
    ];
    assert_eq!(layout(&RESTING, "Control"), (offsets, size_of::<ControlData>()));
    assert_eq!(layout(&RESTING, "Step").1, size_of::<StepData>());
}

#[test]
fn points_are_pressed_and_held_as_on_the_processor() {
    let gpu = Rc::new(open(None));
    for (count, is_shared) in
        [(1, false), (2, false), (50, false), (2000, false), (7, true), (300, true), (3000, true), (6000, true)]
    {
        for sweeps in if count > 1000 { vec![3] } else { vec![1, 3] } {
            let mut bench = Bench::new(count as u64, count, is_shared);
            let (particles, mut contacts) = bench.on_device(&gpu);
            contacts.begin_step(&bench.x, &bench.touches);
            (0..sweeps).for_each(|_| contacts.positions_anyway());
            let d = read(&gpu, &particles.d);
            contacts.velocities();
            let (v, sums) = (read(&gpu, &particles.v), contacts.sums());
            // Too many do not keep the processor's order.
            let in_order: Vec<u32> = (0..bench.touches.len() as u32).collect();
            let order = if count < 6000 { &in_order } else { contacts.order() };
            let (expected_d, expected_v) = bench.here(order, sweeps);
            let off = [largest_difference(&d, &expected_d), largest_difference(&v, &expected_v)];
            println!("{count} {is_shared} {sweeps}: {off:?}, {} dispatches", contacts.dispatches());
            // Ways are some centimetres, velocities some metres per second; weights that almost cancel make shares large.
            let size = |values: &[Vec3]| values.iter().map(|v| v.norm()).fold(1e-2, f64::max);
            assert!(off[0] < 4e-6 * size(&expected_d), "{count} {is_shared} {sweeps}: places off by {}", off[0]);
            assert!(
                off[1] < 4e-6 * size(&expected_v) / 1e-2,
                "{count} {is_shared} {sweeps}: velocities off by {}",
                off[1]
            );
            for (touch, (pressed, _)) in bench.touches.iter().zip(sums) {
                assert!((touch.resting.pressed - pressed).abs() < 1e-4 * size(&expected_d), "{pressed}");
            }
        }
    }
    assert_eq!(gpu.trouble(), None);
}

#[test]
fn contacts_of_a_group_share_nothing_that_moves_and_those_of_a_point_keep_their_order() {
    let gpu = Rc::new(open(None));
    // Many points over eight particles: more groups than there are dispatches, or bits in a set.
    let mut bench = Bench::new(5, 3000, true);
    let rows = (0..200).map(|n| (0..4).map(|m| (m + 4 * (n % 2), 0.25, 0.25)).collect::<Vec<_>>());
    bench.rows = rows.collect();
    bench.touches = (0..200).flat_map(|point| [Touch { point, ..bench.touches[0] }; 2]).collect();
    let (particles, mut contacts) = bench.on_device(&gpu);
    contacts.begin_step(&bench.x, &bench.touches);
    assert_eq!(contacts.dispatches(), 1, "all groups are small");
    let mut last = vec![None; 200];
    for &number in contacts.order() {
        let point = bench.touches[number as usize].point as usize;
        assert!(last[point] < Some(number));
        last[point] = Some(number);
    }
    contacts.positions_anyway();
    let d = read(&gpu, &particles.d);
    let (expected, _) = bench.here(contacts.order(), 1);
    assert!(largest_difference(&d, &expected) < 1e-6);
}

#[test]
fn the_last_of_a_long_chain_has_its_turn() {
    let gpu = Rc::new(open(None));
    // Each shares some of its forty particles with every other one: they follow each other one by one.
    let mut bench = Bench::new(13, 1500, true);
    bench.k.fill(2.0);
    let rows = (0..1500).map(|n| (0..40).map(|m| ((n * 7) % 40 + m, 0.025, 1.0)).collect::<Vec<_>>());
    bench.rows = rows.collect();
    let (particles, mut contacts) = bench.on_device(&gpu);
    contacts.begin_step(&bench.x, &bench.touches);
    assert!(contacts.dispatches() > 1, "more turns than a device takes in one go");
    contacts.positions_anyway();
    let d = read(&gpu, &particles.d);
    contacts.velocities();
    let (v, sums) = (read(&gpu, &particles.v), contacts.sums());
    let in_order: Vec<u32> = (0..bench.touches.len() as u32).collect();
    assert_eq!(contacts.order(), in_order);
    let (expected_d, expected_v) = bench.here(&in_order, 1);
    let off = [largest_difference(&d, &expected_d), largest_difference(&v, &expected_v)];
    let size = |values: &[Vec3]| values.iter().map(|v| v.norm()).fold(1e-2, f64::max);
    println!("off by {off:?} of {} and {}", size(&expected_d), size(&expected_v));
    assert!(off[0] < 4e-6 * size(&expected_d), "places off by {}", off[0]);
    assert!(off[1] < 4e-6 * size(&expected_v) / 1e-2, "velocities off by {}", off[1]);
    let moves = |(touch, (pressed, _)): &(&Touch, (f64, Vec3))| touch.resting.pressed > 1e-4 && *pressed > 1e-4;
    let last = bench.touches.iter().zip(sums).rev().take(100);
    assert!(last.filter(moves).count() > 10, "the last ones press");
}

#[test]
fn momentum_is_what_surfaces_give() {
    let gpu = Rc::new(open(None));
    let mut bench = Bench::new(11, 400, true);
    // Only what can move, without anything that cancels.
    bench.k.iter_mut().for_each(|k| *k = k.max(0.5));
    let k = bench.k.clone();
    bench.rows = (0..400_usize)
        .map(|n| {
            let parts: Vec<(usize, f64)> = (0..3).map(|m| ((n * 7 + m * 31) % k.len(), 1.0 / 3.0)).collect();
            let point_k: f64 = parts.iter().map(|&(p, w)| w * w * k[p]).sum();
            parts.into_iter().map(|(p, w)| (p as u32, w, w * k[p] / point_k)).collect::<Vec<_>>()
        })
        .collect();
    let (particles, mut contacts) = bench.on_device(&gpu);
    contacts.begin_step(&bench.x, &bench.touches);
    (0..3).for_each(|_| contacts.positions_anyway());
    let momentum = |d: &[Vec3]| d.iter().zip(&k).fold(Vec3::zeros(), |sum, (d, k)| sum + d / *k);
    let gained = momentum(&read(&gpu, &particles.d)) - momentum(&bench.d);
    let given = bench.touches.iter().zip(contacts.sums()).fold(Vec3::zeros(), |sum, (touch, (pressed, held))| {
        let row = bench.rows.row(touch.point as usize);
        let point_k: f64 = row.iter().map(|&(p, w, _)| w * w * k[p as usize]).sum();
        sum + (touch.resting.normal * pressed + held) / point_k
    });
    assert!((gained - given).norm() < 1e-5 * given.norm(), "{gained} {given}");
}

#[test]
fn what_is_done_is_left_alone_and_what_is_no_number_stays_where_it_is() {
    let gpu = Rc::new(open(None));
    let mut bench = Bench::new(3, 60, false);
    bench.d[8].x = f64::NAN;
    let (particles, mut contacts) = bench.on_device(&gpu);
    contacts.begin_step(&bench.x, &bench.touches);
    let mut data = ControlData::default();
    data.done = 1;
    let control = gpu.slab("control", &[data]);
    let before = read(&gpu, &particles.d);
    contacts.positions(&control);
    let bits = |values: &[Vec3]| values.iter().flatten().map(|c| c.to_bits()).collect::<Vec<u64>>();
    assert_eq!(bits(&read(&gpu, &particles.d)), bits(&before));
    gpu.write(&control, 0, &[ControlData::default()]);
    contacts.positions(&control);
    let after = read(&gpu, &particles.d);
    assert_ne!(bits(&after), bits(&before));
    assert_eq!(after.iter().filter(|d| !d.norm().is_finite()).count(), 1);
    // Nothing touches: nothing is done.
    contacts.begin_step(&bench.x, &[]);
    let dispatches = gpu.counts().dispatches;
    contacts.positions_anyway();
    contacts.velocities();
    assert_eq!(gpu.counts().dispatches, dispatches);
    assert_eq!(gpu.trouble(), None);
}

#[test]
fn particles_below_pressed_points_are_marked() {
    let gpu = Rc::new(open(None));
    let mut bench = Bench::new(9, 500, true);
    let (particles, mut contacts) = bench.on_device(&gpu);
    let touches = gpu.slab("touches", &vec![7_u32; particles.len()]);
    for touching in [bench.touches.clone(), bench.touches[..100].to_vec(), Vec::new()] {
        bench.touches = touching;
        contacts.begin_step(&bench.x, &bench.touches);
        contacts.positions_anyway();
        contacts.mark(&touches);
        let mut expected = vec![0; particles.len()];
        for (touch, (pressed, _)) in bench.touches.iter().zip(contacts.sums()) {
            let row = bench.rows.row(touch.point as usize);
            row.iter().filter(|_| pressed > 0.0).for_each(|part| expected[part.0 as usize] = 1);
        }
        let mut marked = Vec::new();
        gpu.read(&touches, &mut marked);
        assert_eq!(marked, expected);
        assert_eq!(expected.contains(&1), !bench.touches.is_empty());
    }
}

#[test]
fn bits_do_not_depend_on_the_run_or_on_limits() {
    let run = |limits| {
        let gpu = Rc::new(open(limits));
        let bench = Bench::new(21, 3000, true);
        let (particles, mut contacts) = bench.on_device(&gpu);
        contacts.begin_step(&bench.x, &bench.touches);
        (0..5).for_each(|_| contacts.positions_anyway());
        contacts.velocities();
        assert_eq!(gpu.trouble(), None);
        (read(&gpu, &particles.d), read(&gpu, &particles.v))
    };
    let whole = run(None);
    assert_eq!(run(None), whole);
    assert_eq!(run(Some(Limits { groups: 8, binding: 1 << 20 })), whole);
}

/// Blocks on slopes that fall along x, far from the origin, for some steps; how far each is along and above its slope, and how fast.
fn slide(slopes: &[(f64, Friction, f64)], steps: usize) -> Vec<[f64; 3]> {
    let gpu = Rc::new(open(None));
    let origin = Vec3::new(100.3, 7.1, -50.7);
    let gravity = Vec3::new(0.0, -9.81, 0.0);
    let count = slopes.len();
    let mut particles = Particles::new(&gpu, &vec![1.0; count], &[]);
    let rows: PointRows = (0..count as u32).map(|n| [(n, 1.0, 1.0)]).collect();
    let mut contacts = DeviceContacts::new(&gpu, rows, &particles);
    let axes = |degrees: f64| {
        let angle = degrees.to_radians();
        [Vec3::new(angle.cos(), -angle.sin(), 0.0), Vec3::new(angle.sin(), angle.cos(), 0.0)]
    };
    let v = slopes.iter().map(|&(degrees, _, speed)| axes(degrees)[0] * speed).collect();
    let mut state = body(vec![origin; count], v);
    particles.load(&state);
    for _ in 0..steps {
        let touch = |(n, &(degrees, friction, _)): (usize, &(f64, Friction, f64))| {
            let mut resting = Resting::new(axes(degrees)[1], origin, 0.0, friction);
            resting.begin_step(state.x[n], 1e-3, 0.0);
            Touch { point: n as u32, resting, surface_velocity: Vec3::zeros() }
        };
        let touches: Vec<Touch> = slopes.iter().enumerate().map(touch).collect();
        contacts.begin_step(&state.x, &touches);
        particles.begin_step(step_data(gravity));
        particles.look_ahead(&[]);
        (0..3).for_each(|_| contacts.positions_anyway());
        particles.advance();
        contacts.velocities();
        particles.read_state(&mut state);
    }
    let measure = |(n, &(degrees, ..)): (usize, &(f64, Friction, f64))| {
        let ([down, normal], way) = (axes(degrees), state.x[n] - origin);
        [way.dot(&down), way.dot(&normal), state.v[n].dot(&down)]
    };
    slopes.iter().enumerate().map(measure).collect()
}

#[test]
fn a_block_sticks_below_the_friction_angle_and_slides_above_it() {
    let tangent = 20.0_f64.to_radians().tan();
    let both = Friction { dynamic: 0.2, sticking: 0.5 };
    let sticks = [(19.9, tangent.into(), 0.0), (0.0, 0.3.into(), 0.0), (26.0, both, 0.0)];
    let slides = [(20.1, tangent, 0.0), (45.0, 0.3, 0.0), (60.0, 1.0, 0.0), (30.0, 0.0, 0.0), (10.0, 0.5, 3.0)];
    let slides = slides.map(|(degrees, friction, speed)| (degrees, Friction::from(friction), speed));
    let steps = 500;
    let ends = slide(&[sticks.as_slice(), slides.as_slice()].concat(), steps);
    for [along, above, speed] in &ends[..sticks.len()] {
        assert!(along.abs() < 1e-6 && above.abs() < 1e-6 && speed.abs() < 1e-5, "{along} {above} {speed}");
    }
    let seconds = steps as f64 * H;
    for ((degrees, friction, start), [along, above, speed]) in slides.iter().zip(&ends[sticks.len()..]) {
        let angle = f64::to_radians(*degrees);
        let acceleration = 9.81 * (angle.sin() - friction.dynamic * angle.cos());
        let (expected, way) =
            (start + acceleration * seconds, start * seconds + 0.5 * acceleration * seconds * seconds);
        assert!((speed - expected).abs() < 1e-4 + 2e-3 * expected.abs(), "{degrees}: {speed} {expected}");
        assert!((along - way).abs() < 1e-4 + 4e-3 * way.abs(), "{degrees}: {along} {way}");
        assert!(above.abs() < 1e-6, "{degrees}: {above}");
    }
}

/// A sheet that falls onto something.
fn falling(collider: &str) -> String {
    "[scene]\nname = \"test\"\nfps = 30\nframes = \"0-1\"\nsubsteps = 20\n[air]\ndrag = 0\n\
     [[cloth]]\nname = \"sheet\"\nmesh = { sheet = { size = [1, 1], vertices = [21, 21], quads = false } }\ntransform = { translate = [0, 0.5, 0] }\n\
     model = \"stretch_only\"\nself_collision = false\nbend = 0\n"
        .to_owned()
        + collider
}

#[test]
fn a_sheet_on_colliders_agrees() {
    for (name, collider) in [
        (
            "ball",
            "[[collider]]\nname = \"ball\"\nshape = \"sphere\"\ncenter = [0.05, 0.2, 0]\nradius = 0.295\nfriction = 0.4\n",
        ),
        (
            "lift",
            "[[collider]]\nname = \"lift\"\nshape = \"box\"\ncenter = [0, 0.39, 0]\nsize = [0.6, 0.2, 0.6]\nfriction = 0.3\n\
          transform.translate = { keys = [[0, [0, 0, 0]], [1, [0.01, 0.01, 0]]] }\n",
        ),
    ] {
        let text = falling(collider);
        agrees(name, &text);
        let world = World::new(&text);
        let small = Limits { groups: 16, binding: 1 << 20 };
        assert_eq!(on_device(&world, Some(small)).0, on_device(&world, None).0, "{name}: limits");
    }
}

/// A ball that moves downwards from above the origin.
fn soft_ball(name: &str, height: f64, rest: &str) -> String {
    format!(
        "[[soft_body]]\nname = \"{name}\"\nmesh = {{ ball = {{ radius = 0.3, vertices = 9 }} }}\nself_collision = false\n\
         transform = {{ translate = [0, {height}, 0] }}\n{rest}\n"
    )
}

#[test]
fn soft_bodies_on_colliders_and_on_each_other_agree() {
    let scene = "[scene]\nname = \"test\"\nfps = 50\nframes = \"0-1\"\nsubsteps = 10\n[air]\ndrag = 0\n";
    let lift = "[[collider]]\nname = \"lift\"\nshape = \"box\"\ncenter = [0.1, -0.1, 0]\nsize = [0.6, 0.2, 0.6]\nfriction = 0.5\n\
                transform.translate = { keys = [[0, [0, 0, 0]], [1, [0.01, 0.01, 0]]] }\n";
    for model in ["model = \"tetrahedra\"\ntetrahedra = { cell = 0.1 }", "model = \"shape_matching\""] {
        agrees("on a lift", &format!("{scene}{}{lift}", soft_ball("ball", 0.302, model)));
        // Nearer than their thickness, but not in each other: how a tangle is cut hangs on the last digit.
        let two = soft_ball("one", 0.302, model) + &soft_ball("other", 0.903, model);
        agrees("on each other", &format!("{scene}{two}"));
    }
}
