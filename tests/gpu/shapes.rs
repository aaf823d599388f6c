//! Matched shapes on the device: sums over regions, rotations, every part of a step against its twin, whole steps against the processor.

use std::rc::Rc;

use kiln::math::polar::{quaternion, rotation};
use kiln::math::{Mat3, Vec3, largest_norm};
use kiln::model::{BodyState, ShapeBody, SoftBodyModel};
use kiln::solver::cpu::filling::Filling;
use kiln::solver::cpu::shape_filling::ShapeFilling;
use kiln::solver::device::Counts;
use kiln::solver::gpu::particles::{Particles, StepData};
use kiln::solver::gpu::reduce::Control;
use kiln::solver::gpu::shapes::{BodyData, GpuShapes, ParticleData, RegionData, SHAPES, Settings};
use kiln::solver::gpu::soft::DeviceFilling;
use kiln::solver::gpu::work::{Binding, Slab};
use kiln::solver::gpu::{Gpu, GpuBackend, Limits, Source};

use crate::parity::{agree, apart, on_device, size};
use crate::support::{World, full};
use crate::work::layout;
use crate::{noise, open, vector};

const H: f64 = 0.002;
const BAR: &str = "mesh = { box = { size = [0.6, 0.2, 0.3], vertices = [13, 5, 7] } }";
const BALL: &str = "mesh = { sphere = { radius = 0.3, rings = 19, segments = 20 } }";
const TORUS: &str = "mesh = { torus = { radius = 0.3, tube = 0.1, around = 26, across = 15 } }";
const HELD: &str = "pins = [{ box = { min = [-9, -9, -9], max = [2.8, 9, 9] } }]";
const PLASTIC: &str = "plasticity = { yield = 0.02, creep = 20 }";

/// A scene of one frame with one body away from the origin.
fn scene(steps: u32, gravity: &str, body: &str, matching: &str) -> String {
    format!(
        "[scene]\nname = \"test\"\nfps = 25\nframes = \"0-1\"\nsubsteps = {steps}\ngravity = {gravity}\n[air]\ndrag = 0\n[[soft_body]]\n\
         name = \"body\"\nmodel = \"shape_matching\"\ntransform = {{ translate = [3, 5, -2] }}\nself_collision = false\n{body}\n\
         shape_matching = {{ {matching} }}\n"
    )
}

fn turn(angles: Vec3) -> Mat3 {
    nalgebra::Rotation3::from_scaled_axis(angles).into_inner()
}

#[test]
fn structs_are_laid_out_alike() {
    assert_eq!(layout(&SHAPES, "Settings"), ((0..24).map(|n| 4 * n).collect(), size_of::<Settings>()));
    let (members, stride) = layout(&SHAPES, "Body");
    assert_eq!(stride, size_of::<BodyData>());
    let settings = size_of::<Settings>();
    // What the processor writes: about, reach, about_next, is_lost, turn.
    assert_eq!(members[..6], [0, settings, settings + 12, settings + 16, settings + 28, settings + 32]);
    let particle = vec![0, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 56];
    assert_eq!(layout(&SHAPES, "Particle"), (particle, size_of::<ParticleData>()));
    assert_eq!(layout(&SHAPES, "Region"), (vec![0, 12, 16, 28], size_of::<RegionData>()));
    assert_eq!(layout(&SHAPES, "Turn").1, 32);
    assert_eq!(layout(&SHAPES, "Surface").1, 48);
}

const SUMS: Source = Source {
    name: "sums of regions",
    text: concat!(
        include_str!("../../src/algorithms/shape_matching/fast_summation.wgsl"),
        "@compute @workgroup_size(WORKGROUP)
        fn run(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) local: u32) {
            var own = nothing();
            if (has_item(id)) {
                let i = 4u * item(id);
                own = Row(fixed(x[i]), fixed(x[i + 1u]), fixed(x[i + 2u]), fixed(x[i + 3u]));
            }
            scan(id, local, 4u, own);
        }
        @compute @workgroup_size(WORKGROUP)
        fn sum(@builtin(global_invocation_id) id: vec3u) {
            if (!has_item(id)) { return; }
            let i = item(id);
            let sums = sum_over(particles[i].stretches, 4u);
            work[4u * i] = vec4f(sums.a) / FIXED;
            work[4u * i + 1u] = vec4f(sums.b) / FIXED;
            work[4u * i + 2u] = vec4f(sums.c) / FIXED;
            work[4u * i + 3u] = vec4f(sums.e) / FIXED;
        }"
    ),
    constants: &[],
};

/// Sixteen columns of sums, of what a region of a body at its place adds up: masses times products of places.
#[test]
fn sums_over_regions_are_those_of_brute_force() {
    let gpu = open(Some(Limits { groups: 3, binding: 1 << 27 }));
    for (name, mesh) in [("bar", BAR), ("ball", BALL), ("torus", TORUS)] {
        for omega in [1, 3, 5] {
            let world = World::new(&scene(1, "[0, 0, 0]", mesh, &format!("omega = {omega}")));
            let shape = world.model.soft_bodies[0].shape().unwrap();
            let count = shape.regions.len();
            let heaviest = shape.shapes.masses.iter().copied().fold(0.0, f64::max);
            let extent = largest_norm(&shape.shapes.rest);
            let mut next = noise(omega);
            let values: Vec<[f32; 4]> = (0..count)
                .flat_map(|i| {
                    let (part, rest) = (shape.shapes.shared_mass[i] / heaviest, shape.shapes.rest[i] / extent);
                    let mut column = || [(); 4].map(|()| (part * rest[0] * (rest[1] + 0.1 * next()) * 0.8) as f32);
                    [column(), column(), column(), column()]
                })
                .collect();
            let mut particles = vec![[0_u32; 16]; count];
            let mut stretches = Vec::new();
            for (i, particle) in particles.iter_mut().enumerate() {
                particle[14] = stretches.len() as u32;
                stretches.extend(shape.regions.stretches(i).map(|stretch| [stretch.start as u32, stretch.end as u32]));
                particle[15] = stretches.len() as u32;
            }
            let running = gpu.zeros::<[i32; 4]>("running", 4 * 65 * count.div_ceil(64));
            let (values_there, sums) = (gpu.slab("values", &values), gpu.zeros::<[f32; 4]>("sums", 4 * count));
            let (particles, stretches) = (gpu.slab("particles", &particles), gpu.slab("stretches", &stretches));
            let run = gpu.dispatch(&SUMS, "run", 0..count, 128, &[(5, &running), (6, &values_there)]);
            let bound: [(u32, &dyn Binding); 4] = [(2, &particles), (3, &stretches), (4, &running), (11, &sums)];
            gpu.run([&run, &gpu.dispatch(&SUMS, "sum", 0..count, 128, &bound)]);
            let mut found = Vec::new();
            gpu.read(&sums, &mut found);
            let (mut worst, mut absolute): (f64, f64) = (0.0, 0.0);
            for region in 0..count {
                for n in 0..16 {
                    let value = |i: usize| f64::from(values[4 * i + n / 4][n % 4]);
                    let expected: f64 = shape.regions.members(region).map(value).sum();
                    let size: f64 = shape.regions.members(region).map(|i| value(i).abs()).sum();
                    let off = (f64::from(found[4 * region + n / 4][n % 4]) - expected).abs();
                    // Each one is rounded once to whole parts, and the sum to single precision.
                    let members = f64::from(shape.regions.count(region));
                    let most = members * 2.0_f64.powi(-31) + 6e-8 * expected.abs();
                    assert!(off <= most, "{off} of {size}");
                    absolute = absolute.max(off);
                    worst = worst.max(off / size.max(1e-3));
                }
            }
            println!("{name}, {omega} edges: {worst:.1e} of the parts, {absolute:.1e} of the heaviest region");
        }
    }
    assert_eq!(gpu.trouble(), None);
}

const POLAR: Source = Source {
    name: "rotations",
    text: concat!(
        include_str!("../../src/math/polar.wgsl"),
        "@group(0) @binding(1) var<storage, read> matrices: array<vec4f>;
        @group(0) @binding(2) var<storage, read_write> quaternions: array<vec4f>;
        @compute @workgroup_size(WORKGROUP)
        fn turn(@builtin(global_invocation_id) id: vec3u) {
            if (!has_item(id)) { return; }
            let i = item(id);
            let a = mat3x3f(matrices[3u * i].xyz, matrices[3u * i + 1u].xyz, matrices[3u * i + 2u].xyz);
            quaternions[i] = rotation(a, quaternions[i]);
        }"
    ),
    constants: SHAPES.constants,
};

#[test]
fn rotations_are_those_of_the_processor() {
    let mut next = noise(7);
    let none = Mat3::identity();
    // What, guess, and how far from the twin it may be: nothing where rounding decides.
    let mut cases: Vec<(&str, Mat3, Mat3, Option<f64>)> = Vec::new();
    for _ in 0..100 {
        let [u, w] = [turn(vector(&mut next) * 2.0), turn(vector(&mut next) * 2.0)];
        let near = turn(vector(&mut next) * 0.1) * u * w.transpose();
        let far = turn(vector(&mut next) * 3.0);
        let made = |values: [f64; 3]| u * Mat3::from_diagonal(&values.into()) * w.transpose();
        let [a, b] = [1.0 + next().abs(), 0.3 + 0.5 * next().abs()];
        cases.push(("near", made([a, b, 0.2]), near, Some(2e-6)));
        cases.push(("from anywhere", made([a, b, 0.2]), far, Some(2e-6)));
        cases.push(("nearly flat", made([a, b, 1e-4]), near, Some(3e-6)));
        cases.push(("flat", made([a, b, 0.0]), far, Some(3e-6)));
        cases.push(("reflected", made([a, b, -0.15]), near, Some(2e-5)));
        cases.push(("tiny", made([a, b, 0.2]) * 1e-20, near, Some(2e-6)));
        cases.push(("huge", made([a, b, 0.2]) * 1e20, far, Some(2e-6)));
        cases.push(("nearly a line", made([a, 1e-3, 1e-3]), near, Some(1e-3)));
        cases.push(("a line", made([a, 0.0, 0.0]), near, Some(1e-3)));
        cases.push(("a point", made([0.0, 0.0, 0.0]), near, Some(1e-6)));
        cases.push(("no number", made([f64::NAN, 1.0, 1.0]), near, Some(1e-6)));
        cases.push(("endless", made([1e39, 1.0, 1.0]), near, None));
        cases.push(("mirrored alike in two directions", made([a, -b, -b]), near, None));
    }
    cases.push(("none", none, none, Some(1e-7)));
    cases.push(("all reflected", -none, none, None));
    let matrices: Vec<[f32; 4]> = cases
        .iter()
        .flat_map(|(_, a, ..)| (0..3).map(|c| [a[(0, c)] as f32, a[(1, c)] as f32, a[(2, c)] as f32, 0.0]))
        .collect();
    let guesses: Vec<[f32; 4]> =
        cases.iter().map(|(_, _, guess, _)| quaternion(guess).map(|entry| entry as f32)).collect();
    let gpu = open(None);
    let (matrices, quaternions) = (gpu.slab("matrices", &matrices), gpu.slab("quaternions", &guesses));
    let bound: [(u32, &dyn Binding); 2] = [(1, &matrices), (2, &quaternions)];
    gpu.run([&gpu.dispatch(&POLAR, "turn", 0..cases.len(), 80, &bound)]);
    let mut found = Vec::new();
    gpu.read(&quaternions, &mut found);
    let mut worst = std::collections::BTreeMap::<&str, f64>::new();
    for ((name, a, guess, most), found) in cases.iter().zip(found) {
        let [w, i, j, k] = found.map(f64::from);
        assert!((w * w + i * i + j * j + k * k - 1.0).abs() < 1e-6, "{name}: {found:?}");
        let q = nalgebra::UnitQuaternion::new_normalize(nalgebra::Quaternion::new(w, i, j, k));
        let (there, here) = (q.to_rotation_matrix().into_inner(), rotation(a, guess));
        let off = (there - here).norm();
        let known = worst.entry(name).or_default();
        *known = known.max(off);
        if let Some(most) = most {
            assert!(off <= *most, "{name}: {off}");
        }
        let traces = [there, here].map(|r| (r.transpose() * a).trace() / a.norm());
        assert!(!traces[1].is_finite() || *name == "endless" || traces[0] >= traces[1] - 1e-5, "{name}: {traces:?}");
    }
    worst.iter().for_each(|(name, off)| println!("{name}: {off:.1e}"));
    assert_eq!(gpu.trouble(), None);
}

/// A body on the device and here.
struct Bench<'m> {
    body: &'m SoftBodyModel,
    shape: &'m ShapeBody,
    size: f64,
    moving: BodyState,
    particles: Particles,
    control: Control,
    touches: Slab<u32>,
    there: GpuShapes<'m>,
    here: ShapeFilling<'m>,
}

impl<'m> Bench<'m> {
    fn new(gpu: &Rc<Gpu>, world: &'m World) -> Bench<'m> {
        let body = &world.model.soft_bodies[0];
        let shape = body.shape().unwrap();
        let particles = Particles::new(gpu, &body.k, &body.pins.particles);
        let control = Control::new(gpu);
        control.aim(0.0, 1);
        Bench {
            size: largest_norm(&shape.shapes.rest),
            moving: world.start.bodies[0].clone(),
            there: GpuShapes::new(gpu, body, shape, &particles),
            here: ShapeFilling::new(body, shape),
            touches: gpu.zeros("touches", body.k.len()),
            body,
            shape,
            particles,
            control,
        }
    }

    /// Begin a step with every particle moved, as seen from the middle at rest, and with these velocities.
    fn begin(&mut self, place: impl Fn(Vec3) -> Vec3, velocity: impl FnMut(Vec3) -> Vec3) {
        let rest = &self.shape.shapes.rest;
        self.moving.x = rest.iter().map(|rest| place(*rest) + self.shape.middle).collect();
        self.moving.v = rest.iter().copied().map(velocity).collect();
        self.particles.load(&self.moving);
        // Rounded as the device has it.
        self.particles.read_state(&mut self.moving);
        let mut step = StepData::default();
        (step.h, step.inverse_h) = (H as f32, (1.0 / H) as f32);
        self.particles.begin_step(step);
        self.there.begin_frame(&self.moving);
        self.there.begin_step(H, 0.0);
        self.here.begin_frame(&self.moving);
        self.here.begin_step(H, 0.0);
    }

    /// Look-ahead positions, there and here: free motion and some noise.
    fn look_ahead(&mut self, by: f64) -> Vec<Vec3> {
        let mut next = noise(99);
        let free = |(x, v): (&Vec3, &Vec3)| x + v * H + vector(&mut next) * by;
        let ahead: Vec<Vec3> = self.moving.x.iter().zip(&self.moving.v).map(free).collect();
        self.particles.write_ahead(&ahead);
        self.ahead()
    }

    fn ahead(&mut self) -> Vec<Vec3> {
        let mut ahead = self.moving.x.clone();
        self.particles.read_ahead(&mut ahead);
        ahead
    }

    fn sweep_there(&mut self) -> f64 {
        self.control.begin();
        self.there.sweep(&self.control);
        f64::from(self.control.read().worst)
    }

    fn touch(&self, gpu: &Gpu, touches: &[bool]) {
        let touches: Vec<u32> = touches.iter().map(|touches| u32::from(*touches)).collect();
        gpu.write(&self.touches, 0, &touches);
    }
}

fn off(there: &[Vec3], here: &[Vec3]) -> f64 {
    there
        .iter()
        .zip(here)
        .map(|(a, b)| (a - b).norm())
        .fold(0.0, |most, off| if off.is_nan() { f64::NAN } else { most.max(off) })
}

#[track_caller]
fn assert_near(there: &[Vec3], here: &[Vec3], most: f64, what: &str) {
    let off = off(there, here);
    println!("{what}: {off:.1e} off");
    assert!(off <= most, "{what}: {off:.1e}");
}

/// A name, what it does to places, and how far goals may be off.
type Case = (&'static str, Box<dyn Fn(Vec3) -> Vec3>, f64);

/// What bodies are brought to, and how near the goals of single precision must come to the twin's, in parts of the body.
fn shapes() -> Vec<Case> {
    let turned = turn(Vec3::new(1.0, -0.5, 2.0));
    vec![
        ("at rest", Box::new(|x| x), 3e-6),
        ("turned", Box::new(move |x| turned * x), 3e-6),
        ("twisted", Box::new(|x| turn(Vec3::x() * (4.0 * x.x)) * x), 3e-6),
        ("bent", Box::new(move |x| turned * (x + Vec3::y() * (2.0 * x.x * x.x))), 3e-6),
        ("long", Box::new(|x| Vec3::new(3.0 * x.x, 0.6 * x.y, 0.6 * x.z)), 5e-6),
        ("flat", Box::new(|x| Vec3::new(x.x, x.y, 0.0)), 5e-6),
        ("inside out", Box::new(|x| Vec3::new(-x.x, x.y, x.z)), 5e-5),
        ("small", Box::new(|x| x * 1e-3), 1e-5),
    ]
}

#[test]
fn goals_are_those_of_the_processor() {
    let gpu = Rc::new(open(None));
    for (mesh, matching) in [
        (BAR, "omega = 2, keep_volume = false"),
        (BALL, "stiffness = 0.6"),
        (TORUS, "omega = 4, keep_volume = false"),
        (&format!("{BAR}\n{HELD}"), "keep_volume = false"),
    ] {
        let world = World::new(&scene(1, "[0, 0, 0]", mesh, matching));
        let mut bench = Bench::new(&gpu, &world);
        for (name, place, most) in shapes() {
            bench.begin(&place, |x| Vec3::new(1.0, 2.0, -3.0).cross(&x));
            let mut ahead = bench.look_ahead(0.002);
            bench.here.spring(&bench.moving, &mut ahead);
            bench.there.spring();
            let there = bench.ahead();
            assert_near(&there, &ahead, most * bench.size, name);
        }
    }
    assert_eq!(gpu.trouble(), None);
}

/// All in one point, or no numbers: what comes out may be anything that is a number, or is told.
#[test]
fn nothing_is_too_far_gone() {
    let gpu = Rc::new(open(None));
    for matching in ["keep_volume = false", ""] {
        let world = World::new(&scene(1, "[0, 0, 0]", BALL, matching));
        let mut bench = Bench::new(&gpu, &world);
        bench.begin(|_| Vec3::zeros(), |_| Vec3::zeros());
        let mut ahead = bench.look_ahead(0.0);
        bench.here.spring(&bench.moving, &mut ahead);
        bench.there.spring();
        let there = bench.ahead();
        assert_near(&there, &ahead, 1e-5, "one point");
        bench.begin(|x| x * 1e6, |_| Vec3::zeros());
        let mut ahead = bench.look_ahead(0.0);
        bench.here.spring(&bench.moving, &mut ahead);
        bench.there.spring();
        assert_near(&bench.ahead(), &ahead, 3.0, "a million times as large");
        bench.begin(|x| x, |_| Vec3::zeros());
        let mut ahead = bench.look_ahead(0.0);
        ahead[7].x = f64::NAN;
        bench.particles.write_ahead(&ahead);
        bench.there.heed_contacts(&bench.touches, &bench.control);
        assert_eq!(bench.sweep_there(), f64::from(1e30_f32));
    }
    assert_eq!(gpu.trouble(), None);
}

#[test]
fn damping_is_that_of_the_processor() {
    let gpu = Rc::new(open(None));
    for mesh in [BAR, BALL, TORUS, &format!("{BAR}\n{HELD}")] {
        let world = World::new(&scene(1, "[0, 0, 0]", mesh, "damping = 100"));
        let mut bench = Bench::new(&gpu, &world);
        for (name, place, _) in shapes() {
            let mut next = noise(3);
            let velocity =
                |x: Vec3| Vec3::new(0.0, -5.0, 1.0) + Vec3::new(1.0, 2.0, -3.0).cross(&x) + vector(&mut next);
            bench.begin(&place, velocity);
            bench.there.damp();
            bench.here.damp(&mut bench.moving);
            let expected = bench.moving.v.clone();
            let mut there = bench.moving.clone();
            bench.particles.read_state(&mut there);
            assert_near(&there.v, &expected, 1e-5, name);
        }
        // What moves as a whole is not damped at all.
        bench.begin(|x| x, |x| Vec3::new(0.0, -5.0, 1.0) + Vec3::new(1.0, 2.0, -3.0).cross(&x));
        let before = bench.moving.v.clone();
        bench.there.damp();
        let mut there = bench.moving.clone();
        bench.particles.read_state(&mut there);
        assert_near(&there.v, &before, 5e-6, "as a whole");
    }
    assert_eq!(gpu.trouble(), None);
}

#[test]
fn corrections_of_the_volume_are_those_of_the_processor() {
    let gpu = Rc::new(open(None));
    for (mesh, matching) in [
        (BAR, "alpha = 0, beta = 0.3"),
        (BALL, "alpha = 1"),
        (TORUS, "alpha = 0.1, beta = 0.1"),
        (BALL, "alpha = 0, beta = 1"),
        (&format!("{BAR}\n{HELD}"), "alpha = 0.2"),
        (BALL, "keep_volume = false"),
    ] {
        let world = World::new(&scene(1, "[0, 0, 0]", mesh, matching));
        let mut bench = Bench::new(&gpu, &world);
        let pressed: Box<dyn Fn(Vec3) -> Vec3> = Box::new(|x| Vec3::new(1.02 * x.x, 0.9 * x.y, 1.02 * x.z));
        let grown: Box<dyn Fn(Vec3) -> Vec3> = Box::new(|x| x + Vec3::x() * (0.3 * x.x * x.x));
        let lost: Box<dyn Fn(Vec3) -> Vec3> = Box::new(|x| x * 0.5);
        for (name, place) in [("pressed", pressed), ("grown", grown), ("lost", lost)] {
            for touching in [0.0, 0.2, 0.95] {
                let what = format!("{matching}, {name}, {touching} touch");
                bench.begin(&place, |x| Vec3::new(0.0, x.x, x.y));
                let mut ahead = bench.look_ahead(0.002);
                bench.here.spring(&bench.moving, &mut ahead);
                bench.there.spring();
                assert_near(&bench.ahead(), &ahead, 1e-5 * bench.size, &format!("{what}: goals"));
                let count = ahead.len() as f64;
                let touches: Vec<bool> = (0..ahead.len()).map(|i| (i as f64) < touching * count).collect();
                bench.touch(&gpu, &touches);
                bench.here.heed_contacts(&ahead, &touches);
                bench.there.heed_contacts(&bench.touches, &bench.control);
                for sweep in 0..4 {
                    let (error, there) = (bench.here.sweep(&mut ahead), bench.sweep_there());
                    assert!((error - there).abs() < 2e-6, "{what}, sweep {sweep}: error {there} is not {error}");
                }
                let there = bench.ahead();
                assert_near(&there, &ahead, 2e-5 * bench.size, &format!("{what}: places"));
                bench.particles.advance();
                let BodyState { x, v, .. } = &mut bench.moving;
                for ((v, x), ahead) in v.iter_mut().zip(&*x).zip(&ahead) {
                    *v = (ahead - x) / H;
                }
                x.copy_from_slice(&ahead);
                bench.here.calm(x, v);
                bench.there.calm();
                let mut there = bench.moving.clone();
                bench.particles.read_state(&mut there);
                assert_near(&there.v, &bench.moving.v, 3e-5 * bench.size / H, &format!("{what}: velocities"));
            }
        }
    }
    assert_eq!(gpu.trouble(), None);
}

#[test]
fn a_sweep_that_is_done_changes_nothing() {
    let gpu = Rc::new(open(None));
    let world = World::new(&scene(1, "[0, 0, 0]", BALL, ""));
    let mut bench = Bench::new(&gpu, &world);
    bench.begin(|x| x * 1.05, |_| Vec3::zeros());
    bench.look_ahead(0.001);
    bench.there.spring();
    bench.there.heed_contacts(&bench.touches, &bench.control);
    bench.sweep_there();
    bench.control.aim(10.0, 1);
    bench.control.begin();
    bench.control.judge();
    let before = bench.ahead();
    bench.there.sweep(&bench.control);
    assert_eq!(bench.ahead(), before);
}

#[test]
fn what_stays_is_that_of_the_processor() {
    let gpu = Rc::new(open(None));
    let world = World::new(&scene(1, "[0, 0, 0]", &format!("{BAR}\n{PLASTIC}"), ""));
    let mut bench = Bench::new(&gpu, &world);
    for (name, by) in [("bent", 2.0), ("bent more", 3.0), ("back", 0.0)] {
        for step in 0..3 {
            bench.begin(|x| x + Vec3::y() * (by * x.x * x.x), |_| Vec3::zeros());
            let mut ahead = bench.look_ahead(0.0);
            bench.here.spring(&bench.moving, &mut ahead);
            bench.there.spring();
            assert_near(&bench.ahead(), &ahead, 1e-5 * bench.size, name);
            bench.there.flow();
            let mut there = bench.moving.clone();
            bench.there.read(&mut there);
            bench.here.flow(&mut bench.moving);
            let pairs = there.flowed.iter().zip(&bench.moving.flowed);
            let off = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            let most = bench.moving.flowed.iter().copied().fold(0.0, f64::max);
            println!("{name}, step {step}: {off:.1e} off, {most}");
            assert_eq!(there.flowed.len(), 9 * bench.body.k.len());
            assert!(off < 1e-5, "{off}");
            bench.moving.flowed = there.flowed;
        }
    }
}

/// A body that was deformed and moves.
fn moved(text: &str) -> World {
    let mut world = World::new(text);
    let middle = world.model.soft_bodies[0].shape().unwrap().middle;
    let BodyState { x, v, .. } = &mut world.start.bodies[0];
    for (x, v) in x.iter_mut().zip(v) {
        let arm = *x - middle;
        *v = Vec3::new(1.0, 3.0, -2.0).cross(&arm) + Vec3::new(0.5, 4.0 * arm.x * arm.x, 0.1);
        *x += Vec3::y() * (0.5 * arm.x * arm.x);
    }
    world
}

/// A ball that was deformed and moves.
pub fn moved_ball() -> World {
    moved(&scene(20, "[0, -9.81, 0]", BALL, "alpha = 0.1, beta = 0.1"))
}

#[test]
fn twenty_steps_agree() {
    let held = format!("{BAR}\n{HELD}");
    let plastic = format!("{BAR}\n{PLASTIC}");
    for (name, body, matching) in [
        ("bar", BAR, "alpha = 0, beta = 0.5"),
        ("damped bar", BAR, "alpha = 1, damping = 50"),
        ("ball", BALL, "alpha = 0.1, beta = 0.1"),
        ("ball of any volume", BALL, "keep_volume = false, damping = 0"),
        ("held bar", held.as_str(), ""),
        ("plastic bar", plastic.as_str(), ""),
    ] {
        agree(name, &moved(&scene(20, "[0, -9.81, 0]", body, matching)));
    }
}

/// Pressed flat, it is led back as a whole.
#[test]
fn a_lost_body_is_led_back_alike() {
    let mut world = World::new(&scene(20, "[0, 0, 0]", BALL, ""));
    let middle = world.model.soft_bodies[0].shape().unwrap().middle;
    world.start.bodies[0].x.iter_mut().for_each(|x| x.y = middle.y + 0.3 * (x.y - middle.y));
    agree("flat ball", &world);
}

#[test]
fn a_free_body_keeps_its_momentum_and_volume() {
    let world = moved(&scene(40, "[0, 0, 0]", BAR, "alpha = 0, damping = 20"));
    let body = &world.model.soft_bodies[0];
    let middle = body.shape().unwrap().middle;
    let momenta = |moving: &BodyState| {
        let mut sums = [Vec3::zeros(); 2];
        for ((x, v), m) in moving.x.iter().zip(&moving.v).zip(&body.mass) {
            sums[0] += v * *m;
            sums[1] += (x - middle).cross(v) * *m;
        }
        sums
    };
    let end = on_device(&world, None).0;
    let (before, after) = (momenta(&world.start.bodies[0]), momenta(&end.bodies[0]));
    let [linear, angular] = [0, 1].map(|n| (after[n] - before[n]).norm() / before[n].norm());
    let filling = ShapeFilling::new(body, body.shape().unwrap());
    let volume = filling.whole_error(&end.bodies[0].x);
    println!("momentum {linear:.1e}, angular momentum {angular:.1e} in 40 steps, volume {volume:.1e}");
    assert!(linear < 1e-6 && angular < 1e-5, "{linear} {angular}");
    assert!(volume.abs() < body.flesh.volume_tolerance, "{volume}");
}

/// At rest nothing but rounding moves it.
#[test]
fn a_body_at_rest_stays_at_rest() {
    let world = World::new(&scene(100, "[0, 0, 0]", BALL, ""));
    let off = apart(&on_device(&world, None).0, &world.start) / size(&world);
    println!("{off:.1e} of its size in 100 steps");
    assert!(off < 1e-6, "{off}");
}

/// What one step of six bears takes.
#[test]
fn six_bears_take_few_dispatches() {
    if !full() {
        return;
    }
    let text = std::fs::read_to_string("presets/bears.toml").unwrap();
    let count = |steps: u32| {
        let overrides = [format!("scene.substeps={steps}"), "scene.frames=\"0-1\"".to_owned()];
        let overrides: Vec<&str> = overrides.iter().map(String::as_str).collect();
        let world = World::in_folder(&text, std::path::Path::new("presets"), &overrides);
        let mut backend = GpuBackend::new(&world.scene, &world.model, open(None), false).unwrap();
        world.simulate_on(&mut backend, |_| ());
        assert_eq!(backend.gpu().trouble(), None);
        (backend.gpu().counts(), backend.gpu().allocated())
    };
    let ((few, bytes), (more, _)) = (count(2), count(4));
    let each = |of: fn(&Counts) -> u64| (of(&more) - of(&few)) / 2;
    let dispatches = each(|counts| counts.dispatches);
    println!(
        "{dispatches} dispatches, {} bytes in kernels, {} bytes back in {} transfers, {} bytes sent; {bytes} bytes of arrays",
        each(|counts| counts.kernel_bytes),
        each(|counts| counts.read_bytes),
        each(|counts| counts.read_backs),
        each(|counts| counts.uploaded_bytes),
    );
    // 5 to damp, 7 for elasticity, 5 to heed contacts, 3 a sweep, 3 to calm, and what all bodies take.
    assert!(dispatches <= 6 * 40, "{dispatches}");
}
