//! Triangles against triangles on the device.

use std::mem::offset_of;
use std::rc::Rc;

use kiln::algorithms::contact::friction::Friction;
use kiln::algorithms::contact::pair::PairContact;
use kiln::algorithms::contact::proximity::{Pairing, Proximity, proximity};
use kiln::math::Vec3;
use kiln::solver::gpu::pairs::{
    BodyArrays, CandidateData, DevicePairs, NearPair, PAIRS, PairData, PairStep, PressElsewhere, PressingData,
};
use kiln::solver::gpu::particles::{Four, double, split};
use kiln::solver::gpu::{Gpu, GpuBackend, Limits};

use crate::parity::{agree, on_device, sheet};
use crate::support::World;
use crate::work::layout;
use crate::{noise, open, vector};

const H: f64 = 1e-3;
const RECOVER: f64 = 3e-4;

/// Vertices of two bodies and of colliders behind them, and pairs of features.
struct Bench {
    /// Where the first body, and all bodies, end.
    bodies: [usize; 2],
    k: Vec<f64>,
    from: Vec<Vec3>,
    /// From where the device has the vertices.
    ways: Vec<Vec3>,
    v: Vec<Vec3>,
    pairs: Vec<NearPair>,
}

impl Bench {
    fn new(seed: u64, count: usize, pair_count: usize) -> Self {
        let mut next = noise(seed);
        let bodies = [count / 3, count * 2 / 3];
        let places: Vec<Vec3> = (0..count).map(|_| vector(&mut next)).collect();
        let frictions = [0.0.into(), Friction::new(0.2, 0.6), 0.5.into(), f64::INFINITY.into()];
        let mut pick = || (((next() + 1.0) * 0.5 * count as f64) as usize).min(count - 1) as u32;
        let mut pairs = Vec::new();
        while pairs.len() < pair_count {
            let vertices = [pick(), pick(), pick(), pick()];
            let differ = (0..4).all(|n| !vertices[..n].contains(&vertices[n]));
            if differ && vertices.iter().any(|&v| (v as usize) < bodies[1]) {
                let n = pairs.len();
                let pairing = if n.is_multiple_of(2) { Pairing::VertexTriangle } else { Pairing::EdgeEdge };
                pairs.push(NearPair { vertices, pairing, gap: 0.2, friction: frictions[n % 4] });
            }
        }
        pairs.sort_by_key(|pair| pair.vertices);
        let k = |n: usize| if n >= bodies[1] || n % 5 == 3 { 0.0 } else { 1.0 + n as f64 % 3.0 };
        Bench {
            k: (0..count).map(k).collect(),
            from: places.iter().map(|p| known(*p)).collect(),
            ways: (0..count).map(|_| vector(&mut next) * 1e-2).collect(),
            v: (0..count).map(|_| vector(&mut next)).collect(),
            bodies,
            pairs,
        }
    }

    /// Where vertices are at the step's end.
    fn to(&self) -> Vec<Vec3> {
        self.from.iter().zip(&self.ways).map(|(x, d)| double(split(*x, 0.0)[0]) + d).collect()
    }

    /// The bodies' arrays, and what presses in them.
    fn on_device(&self, gpu: &Rc<Gpu>) -> (Vec<BodyArrays>, DevicePairs) {
        let body = |own: std::ops::Range<usize>| {
            let places = self.from[own.clone()].iter().zip(&self.k[own.clone()]).map(|(x, k)| split(*x, *k));
            let (x, low): (Vec<Four>, Vec<Four>) = places.map(|[x, low]| (x, low)).unzip();
            let fours = |values: &[Vec3]| values.iter().map(|v| four(*v)).collect::<Vec<Four>>();
            BodyArrays {
                x: gpu.slab("x", &x),
                low: gpu.slab("low", &low),
                d: gpu.slab("d", &fours(&self.ways[own.clone()])),
                v: gpu.slab("v", &fours(&self.v[own.clone()])),
                own: 0..own.len(),
            }
        };
        let bodies = vec![body(0..self.bodies[0]), body(self.bodies[0]..self.bodies[1])];
        let pairs = DevicePairs::new(gpu, bodies.clone());
        (bodies, pairs)
    }

    fn begin(&self, pairs: &mut DevicePairs) -> bool {
        let (from, to, k) = (&self.from, &self.to(), &self.k);
        pairs.begin_step(&PairStep { from, to, k, pairs: &self.pairs, recover: RECOVER, h: H })
    }

    /// How far single precision may be off: some units for each correction that a vertex gets.
    fn rounding(&self) -> f64 {
        1e-6 * (1.0 + 2.0 * self.pairs.len() as f64 / self.k.len() as f64)
    }

    fn corners<T: Copy>(&self, number: usize, of: &[T]) -> [T; 4] {
        self.pairs[number].vertices.map(|v| of[v as usize])
    }

    fn measured(&self, number: usize) -> Proximity {
        proximity(self.pairs[number].pairing, &self.corners(number, &self.from))
    }

    /// How large both features are together.
    fn size(&self, number: usize) -> f64 {
        let [a, b, c, d] = self.corners(number, &self.from);
        (b - a).amax().max((c - a).amax()).max((d - a).amax())
    }

    /// Sweeps on the processor, and the calm after them: ways and velocities.
    fn here(&self, sweeps: usize) -> (Vec<Vec3>, Vec<Vec3>, Vec<Option<PairContact>>) {
        self.here_in(&(0..self.pairs.len() as u32).collect::<Vec<u32>>(), sweeps)
    }

    /// The same in some order, which the contacts have too.
    fn here_in(&self, order: &[u32], sweeps: usize) -> (Vec<Vec3>, Vec<Vec3>, Vec<Option<PairContact>>) {
        let (mut to, mut v) = (self.to(), self.v.clone());
        // What colliders do is known from where they go.
        for n in self.bodies[1]..self.v.len() {
            v[n] = (to[n] - self.from[n]) / H;
        }
        let contact = |number: usize| {
            let (pair, near) = (&self.pairs[number], self.measured(number));
            let ways = self.corners(number, &to.iter().zip(&self.from).map(|(to, from)| to - from).collect::<Vec<_>>());
            let coming: Vec3 = ways.iter().zip(near.weights).map(|(way, weight)| way * weight).sum();
            let k = self.corners(number, &self.k);
            let mass = kiln::algorithms::contact::pair::inverse_mass(near.weights, k);
            let is_near = near.distance <= pair.gap + coming.norm();
            is_near.then(|| PairContact::new(pair.vertices, &near, pair.gap, RECOVER, pair.friction, mass)).flatten()
        };
        let mut contacts: Vec<Option<PairContact>> = order.iter().map(|&number| contact(number as usize)).collect();
        let push = |contact: &PairContact, values: &mut [Vec3], by: Vec3| {
            for (corner, n) in contact.vertices.iter().map(|&n| n as usize).enumerate() {
                values[n] += by * contact.share(corner, self.k[n]);
            }
        };
        for _ in 0..sweeps {
            for contact in contacts.iter_mut().flatten() {
                let by = contact.correct_position(contact.vertices.map(|n| to[n as usize]));
                push(contact, &mut to, by);
            }
        }
        for contact in contacts.iter().flatten() {
            let by = contact.calm(contact.vertices.map(|n| v[n as usize]), H);
            push(contact, &mut v, by);
        }
        let ways = to.iter().zip(&self.from).map(|(to, from)| to - double(split(*from, 0.0)[0]));
        (ways.collect(), v, contacts)
    }
}

fn four(v: Vec3) -> Four {
    [v.x as f32, v.y as f32, v.z as f32, 0.0]
}

/// A place as the device can tell it.
fn known(place: Vec3) -> Vec3 {
    let [high, low] = split(place, 0.0);
    double(high) + double(low)
}

fn read(
    gpu: &Gpu,
    bodies: &[BodyArrays],
    of: impl Fn(&BodyArrays) -> &kiln::solver::gpu::work::Slab<Four>,
) -> Vec<Vec3> {
    let mut all = Vec::new();
    for body in bodies {
        let mut items = Vec::new();
        gpu.read(of(body), &mut items);
        all.extend(items.into_iter().map(double));
    }
    all
}

fn distances(pairs: &mut DevicePairs) -> Vec<f64> {
    let mut distances = Vec::new();
    pairs.fetch(&mut [], &mut distances);
    distances
}

fn largest_difference(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
}

#[test]
fn structs_are_where_kernels_look_for_them() {
    let offsets = [
        offset_of!(CandidateData, vertices),
        offset_of!(CandidateData, gap),
        offset_of!(CandidateData, sliding),
        offset_of!(CandidateData, sticking),
        offset_of!(CandidateData, is_edges),
    ];
    assert_eq!(layout(&PAIRS, "Candidate"), (offsets.to_vec(), size_of::<CandidateData>()));
    let offsets = [
        offset_of!(PairData, weights),
        offset_of!(PairData, shares),
        offset_of!(PairData, normal),
        offset_of!(PairData, led),
        offset_of!(PairData, lacking),
        offset_of!(PairData, is_near),
    ];
    assert_eq!(layout(&PAIRS, "Pair"), (offsets.to_vec(), size_of::<PairData>()));
    let offsets = [offset_of!(PressingData, recover), offset_of!(PressingData, h), 8, 12];
    assert_eq!(layout(&PAIRS, "Pressing"), (offsets.to_vec(), size_of::<PressingData>()));
}

/// How far normals, times the distance, and lower bounds may be off in parts of the size: some units of single precision; and what bounds are
/// lowered by, for features that are nearly twice as long as they are wide and high.
const PLAIN: [f64; 2] = [4e-6, 2e-5];

/// The device's distances against the processor's, with the nearest points put in there again. Returns how many are near.
#[track_caller]
fn measures_rightly(name: &str, bench: &Bench, pairs: &mut DevicePairs, [normal_off, bound_off]: [f64; 2]) -> usize {
    assert!(bench.begin(pairs));
    let least = distances(pairs);
    let (mut worst, mut near_count) = ([0.0_f64; 3], 0);
    for (number, (found, _)) in pairs.read().into_iter().enumerate() {
        let (near, size) = (bench.measured(number), bench.size(number).max(1e-30));
        let weights = found.weights.map(f64::from);
        let split = bench.pairs[number].pairing.split();
        let x = bench.corners(number, &bench.from);
        let [first, second] = [0..split, split..4].map(|side| {
            let sum: f64 = side.clone().map(|n| weights[n]).sum();
            assert!(side.clone().all(|n| weights[n] * sum >= 0.0), "{name} {number}: {weights:?}");
            sum
        });
        assert!((first - 1.0).abs() < 1e-5 && (second + 1.0).abs() < 1e-5, "{name} {number}: {weights:?}");
        // From corners near each other, so that digits are left.
        let difference: Vec3 = x.iter().zip(weights).map(|(p, weight)| (p - x[0]) * weight).sum();
        let off = [
            (difference.norm() - near.distance).abs() / size,
            // Normals turn where the distance is rounding.
            if near.distance > 1e-3 * size {
                (Vec3::from(found.normal.map(f64::from)) - near.normal).norm() * near.distance / size
            } else {
                (Vec3::from(found.normal.map(f64::from)).norm() - 1.0).abs()
            },
            (near.distance - least[number]) / size,
        ];
        assert!(off[2] >= 0.0, "{name} {number}: {} is no lower bound of {}", least[number], near.distance);
        worst = std::array::from_fn(|n| worst[n].max(off[n]));
        near_count += usize::from(found.is_near != 0);
    }
    println!(
        "{name}: distance off by {:.1e}, normal by {:.1e}, bound by {:.1e} of the size, {near_count} near",
        worst[0], worst[1], worst[2]
    );
    assert!(worst[0] < 1e-6 && worst[1] < normal_off && worst[2] < bound_off, "{name}: {worst:?}");
    near_count
}

#[test]
fn distances_are_those_of_the_processor() {
    let gpu = Rc::new(open(None));
    for (name, scale, shift) in [
        ("plain", 1.0, Vec3::zeros()),
        ("tiny", 1e-5, Vec3::zeros()),
        ("far away", 0.1, Vec3::new(900.0, -300.0, 70.0)),
    ] {
        let mut bench = Bench::new(3, 300, 3000);
        bench.from.iter_mut().for_each(|x| *x = known(*x * scale + shift));
        bench.ways = bench.from.iter().map(|x| x - double(split(*x, 0.0)[0])).collect();
        bench.pairs.iter_mut().for_each(|pair| pair.gap *= scale);
        let near = measures_rightly(name, &bench, &mut bench.on_device(&gpu).1, PLAIN);
        let expected = (0..3000).filter(|&n| {
            let mass: f64 =
                bench.corners(n, &bench.k).iter().zip(bench.measured(n).weights).map(|(k, w)| k * w * w).sum();
            bench.measured(n).distance <= bench.pairs[n].gap && mass > 0.0
        });
        let expected = expected.count();
        assert!(near.abs_diff(expected) <= 2 && near > 100, "{name}: {near} of {expected} are near");
    }
    assert_eq!(gpu.trouble(), None);
}

#[test]
fn degenerate_features_have_distances_too() {
    let gpu = Rc::new(open(None));
    let mut next = noise(17);
    let mut bench = Bench::new(5, 3 * 400, 1);
    bench.pairs.clear();
    for case in 0..300 {
        let [p, u, v] = [0; 3].map(|_| vector(&mut next));
        let (s, t) = (0.5 + 0.4 * next(), 0.3 + 0.2 * next());
        let x = match case % 10 {
            // Parallel edges beside each other, beyond each other, and on each other.
            0 => [p, p + u, p + v, p + v + u],
            1 => [p, p + u, p + v + u * 3.0, p + v + u * 5.0],
            2 => [p, p + u, p + u * s, p + u * 2.0],
            // Edges that cross.
            3 => [p, p + u, p + u * s - v * t, p + u * s + v * (1.0 - t)],
            // Without length, one and both.
            4 => [p, p, p + u, p + v],
            5 => [p, p, p + u, p + u],
            // A vertex in the triangle, on its edge, on its corner.
            6 => [p + u * t + v * t, p, p + u, p + v],
            7 => [p + u * s, p, p + u, p + v],
            8 => [p, p, p + u, p + v],
            // All in one place.
            _ => [p; 4],
        };
        let first = 4 * (case % 200);
        for (n, x) in x.into_iter().enumerate() {
            bench.from[first + n] = known(x);
        }
        // Triangles: flat ones, needles, points.
        let pairing = if [4, 5, 9].contains(&(case % 10)) && case % 20 < 10 || (6..9).contains(&(case % 10)) {
            Pairing::VertexTriangle
        } else {
            Pairing::EdgeEdge
        };
        let vertices = [0, 1, 2, 3].map(|n| (first + n) as u32);
        bench.pairs.push(NearPair { vertices, pairing, gap: 0.1, friction: 0.3.into() });
        if case % 200 == 199 || case == 299 {
            bench.ways = bench.from.iter().map(|x| x - double(split(*x, 0.0)[0])).collect();
            measures_rightly(&format!("up to {case}"), &bench, &mut bench.on_device(&gpu).1, PLAIN);
            bench.pairs.clear();
        }
    }
    let mut needles = Bench::new(7, 900, 900);
    for pair in needles.pairs.iter_mut() {
        pair.pairing = Pairing::VertexTriangle;
        let [_, a, b, c] = pair.vertices.map(|v| v as usize);
        let along = needles.from[b] - needles.from[a];
        needles.from[c] = known(needles.from[a] + along * 0.7 + vector(&mut next) * 1e-4);
    }
    needles.ways = needles.from.iter().map(|x| x - double(split(*x, 0.0)[0])).collect();
    // Along a needle the nearest point may be anywhere where squares of distances do not differ: by the square root of single precision.
    measures_rightly("needles", &needles, &mut needles.on_device(&gpu).1, [3.5e-4, PLAIN[1]]);
    assert_eq!(gpu.trouble(), None);
}

#[test]
fn pairs_are_pressed_held_and_calmed_as_on_the_processor() {
    let gpu = Rc::new(open(None));
    // Many vertices share few pairs, few share many, and the last ones are too many for the processor's order.
    for (count, pair_count) in [(12, 1), (2000, 400), (40, 300), (300, 4000), (3000, 17_000)] {
        for sweeps in [1, 3] {
            let bench = Bench::new(count as u64, count, pair_count);
            let (bodies, mut pairs) = bench.on_device(&gpu);
            assert!(bench.begin(&mut pairs));
            (0..sweeps).for_each(|_| pairs.press());
            pairs.calm();
            let (d, v) = (read(&gpu, &bodies, |body| &body.d), read(&gpu, &bodies, |body| &body.v));
            let in_order: Vec<u32> = (0..pair_count as u32).collect();
            assert_eq!(pairs.order() == in_order, pair_count == 1, "groups stand behind each other");
            let order = if pair_count > 16_384 { pairs.order() } else { &in_order };
            let (expected_d, expected_v, contacts) = bench.here_in(order, sweeps);
            let all = bench.bodies[1];
            let off = [largest_difference(&d, &expected_d[..all]), largest_difference(&v, &expected_v[..all])];
            let size = |values: &[Vec3]| values.iter().map(|v| v.norm()).fold(0.0, f64::max);
            let moved = largest_difference(&bench.ways[..all], &expected_d[..all]);
            let pressed = pairs.pressed().iter().filter(|pressed| **pressed).count();
            let expected = contacts.iter().flatten().filter(|contact| contact.pressed > 0.0).count();
            println!(
                "{count} vertices, {pair_count} pairs, {sweeps} sweeps: ways off by {:.1e} of {moved:.1e}, velocities by {:.1e} of {:.1e}, {pressed} pressed",
                off[0],
                off[1],
                size(&expected_v)
            );
            let rounding = bench.rounding();
            assert!(off[0] < rounding * size(&expected_d[..all]), "{count}: ways off by {}", off[0]);
            assert!(off[1] < rounding * size(&expected_v), "{count}: velocities off by {}", off[1]);
            assert!(pressed.abs_diff(expected) <= 1 + expected / 500, "{pressed} of {expected} are pressed");
            assert!(pair_count < 100 || moved > 1e-3, "something was pressed");
        }
    }
    assert_eq!(gpu.trouble(), None);
}

#[test]
fn other_pairs_and_other_colliders_come_with_every_step() {
    let gpu = Rc::new(open(None));
    let mut bench = Bench::new(31, 90, 60);
    let (bodies, mut pairs) = bench.on_device(&gpu);
    for step in 0..4 {
        // More pairs than before, then fewer, then none.
        bench.pairs = Bench::new(40 + step, 90, [60, 700, 5, 1][step as usize]).pairs;
        if step == 3 {
            bench.pairs.clear();
        }
        let colliders = bench.bodies[1]..bench.from.len();
        colliders.for_each(|n| bench.from[n] = known(bench.from[n] + Vec3::new(0.01, -0.02, 0.03)));
        let fours: Vec<Four> = bench.ways.iter().map(|d| four(*d)).collect();
        gpu.write(&bodies[0].d, 0, &fours[..bench.bodies[0]]);
        gpu.write(&bodies[1].d, 0, &fours[bench.bodies[0]..bench.bodies[1]]);
        assert!(bench.begin(&mut pairs));
        pairs.press();
        let (expected, ..) = bench.here(1);
        let off = largest_difference(&read(&gpu, &bodies, |body| &body.d), &expected[..bench.bodies[1]]);
        let size = expected.iter().map(|d| d.norm()).fold(0.0, f64::max);
        assert!(off < bench.rounding() * size, "step {step}: off by {off} of {size}");
        assert_eq!(distances(&mut pairs).len(), bench.pairs.len());
    }
}

#[test]
fn small_limits_change_nothing_and_too_many_pairs_are_refused() {
    let bench = Bench::new(51, 200, 800);
    let pressed = |limits: Option<Limits>| {
        let gpu = Rc::new(open(limits));
        let (bodies, mut pairs) = bench.on_device(&gpu);
        let is_taken = bench.begin(&mut pairs);
        pairs.press();
        assert_eq!(gpu.trouble(), None);
        (is_taken, read(&gpu, &bodies, |body| &body.d))
    };
    let whole = pressed(None);
    assert!(whole.0);
    assert!(pressed(Some(Limits { groups: 4, binding: 1 << 17 })) == whole);
    // 1024 pairs of 64 bytes do not fit.
    assert!(!pressed(Some(Limits { groups: 4, binding: 1 << 15 })).0);
}

/// Two sheets, the upper one of which falls onto the lower one. The solver is that of the lower one.
pub fn two_sheets(model: &str, solver: &str) -> String {
    let quads = model == "grid";
    let cloth = |name: &str, height: f64, turn: f64, solver: &str, pins: &str| {
        format!(
            "[[cloth]]\nname = \"{name}\"\nmesh = {{ sheet = {{ size = [1, 1], vertices = [15, 15], quads = {quads} }} }}\n\
             model = \"{model}\"\nsolver = \"{solver}\"\n{pins}transform = {{ translate = [0, {height}, 0], rotate = [0, {turn}, 0] }}\n"
        )
    };
    format!(
        "[scene]\nname = \"test\"\nfps = 30\nframes = \"0-2\"\nsubsteps = 20\n[air]\ndrag = 0\n{}{}",
        cloth("lower", 0.0, 0.0, solver, "pins = [{ vertices = [0, 14, 210, 224] }]\n"),
        cloth("upper", 0.004, 33.0, "iterative", "")
    )
}

#[test]
fn cloths_on_cloths_agree() {
    for (model, solver) in [("stretch_only", "iterative"), ("grid", "iterative"), ("grid", "pcg")] {
        let world = World::new(&two_sheets(model, solver));
        let mut contacts = 0;
        world.simulate(|frame| contacts = frame.report.bodies[1].touched.contacts);
        assert!(contacts > 0, "{model}, {solver}: nothing touches");
        agree(&format!("{model}, {solver} on another one"), &world);
    }
}

#[test]
fn pairs_that_need_more_memory_than_is_allowed_end_the_work_on_the_device() {
    let gpu = Rc::new(open(None).with_memory(Some(1 << 20)));
    let bench = Bench::new(61, 300, 20_000);
    let (_bodies, mut pairs) = bench.on_device(&gpu);
    assert_eq!(gpu.trouble(), None);
    bench.begin(&mut pairs);
    assert!(gpu.trouble().unwrap().contains("more memory than the 1 MB that are allowed"), "{:?}", gpu.trouble());
}

/// Steps with more pairs than a binding holds are the processor's.
#[test]
fn pairs_that_do_not_fit_are_pressed_by_the_processor() {
    let world = World::new(&two_sheets("stretch_only", "iterative"));
    let small = Limits { groups: 65_535, binding: 1 << 15 };
    let [(whole, all), (end, counts)] = [None, Some(small)].map(|limits| on_device(&world, limits));
    let off = crate::parity::apart(&whole, &end) / crate::parity::size(&world);
    println!("{off:.1e} of its size; {} and {} read-backs", all.read_backs, counts.read_backs);
    assert!(counts.read_backs > all.read_backs + 5, "{} and {}", all.read_backs, counts.read_backs);
    assert!(off < 1e-5, "{off}");
}

/// What crosses is seen by the processor, so places come once a step; nothing else does, and little is sent.
#[test]
fn places_come_once_a_step_where_triangles_touch() {
    let text = sheet("stretch_only", "bend = 0").replace("self_collision = false", "self_collision = true");
    let (_, counts) = on_device(&World::new(&text), None);
    // In a frame besides the first look, the state, and velocities. Nothing is near enough to be pressed.
    assert_eq!(counts.read_backs, 20 + 3, "{counts:?}");
    // Where particles are, 32 bytes each, and a few bytes a pair.
    assert!(counts.read_bytes < 25 * 441 * 40 + 441 * 64, "{counts:?}");
}

#[test]
fn what_bounces_and_what_midpoints_carry_is_pressed_by_the_processor() {
    for (text, is_here) in [
        (two_sheets("stretch_only", "iterative"), true),
        (two_sheets("midpoint", "iterative"), false),
        (
            two_sheets("stretch_only", "iterative")
                .replace("[air]", "[[contact]]\nbetween = [\"lower\", \"upper\"]\nrestitution = 0.5\n[air]"),
            false,
        ),
    ] {
        let world = World::new(&text);
        let backend = GpuBackend::new(&world.scene, &world.model, open(None), false).unwrap();
        assert_eq!(backend.describe().contains("pressed there"), is_here, "{}", backend.describe());
    }
}
