//! Bodies of tetrahedra: springs and volumes against their twins, whole steps against the processor.

use std::rc::Rc;

use kiln::algorithms::volume::edge_spring::{self, EdgeSpring};
use kiln::algorithms::volume::tet_volume::{self, LEAST_PART};
use kiln::math::Vec3;
use kiln::model::{BodyState, SoftBodyModel, TetBody};
use kiln::solver::Backend;
use kiln::solver::cpu::independent::{larger, sweep, sweep_sets};
use kiln::solver::gpu::particles::{Particles, StepData};
use kiln::solver::gpu::reduce::Control;
use kiln::solver::gpu::soft::DeviceFilling;
use kiln::solver::gpu::tets::{CELL_VOLUME, EDGE_SPRING, ElasticData, GpuTets, PartData, SpringData, TetData};
use kiln::solver::gpu::{Gpu, GpuBackend, Limits};

use crate::parity::{agree, apart, on_device, size};
use crate::support::World;
use crate::work::layout;
use crate::{noise, open, vector};

const H: f64 = 0.002;
const CELL: f64 = 0.1;

/// A bar of cells, away from the origin.
fn bar(rest: &str) -> String {
    format!(
        "[scene]\nname = \"test\"\nfps = 50\nframes = \"0-1\"\nsubsteps = 20\n[air]\ndrag = 0\n[[soft_body]]\nname = \"bar\"\n\
         model = \"tetrahedra\"\nmesh = {{ box = {{ size = [0.6, 0.3, 0.3], vertices = [7, 4, 4] }} }}\ntetrahedra = {{ cell = {CELL} }}\n\
         transform = {{ translate = [3, 5, -2] }}\nself_collision = false\n{rest}\n"
    )
}

const HELD: &str = "pins = [{ box = { min = [0, 0, -9], max = [2.71, 9, 9] } }]";

/// A body on the device, and where it is.
struct Bench<'m> {
    body: &'m SoftBodyModel,
    tets: &'m TetBody,
    moving: BodyState,
    particles: Particles,
    control: Control,
    filling: GpuTets<'m>,
}

impl<'m> Bench<'m> {
    fn new(gpu: &Rc<Gpu>, world: &'m World) -> Bench<'m> {
        let body = &world.model.soft_bodies[0];
        let tets = body.tetrahedra().unwrap();
        let particles = Particles::new(gpu, &body.k, &body.pins.particles);
        let control = Control::new(gpu);
        control.aim(0.0, 1);
        let filling = GpuTets::new(gpu, body, tets, &particles, &control).unwrap();
        Bench { body, tets, moving: world.start.bodies[0].clone(), particles, control, filling }
    }

    /// Every particle moved by up to this part of a cell, with a random velocity, at the start of a step.
    fn shake(&mut self, by: f64, seed: u64) {
        let mut next = noise(seed);
        for (x, v) in self.moving.x.iter_mut().zip(&mut self.moving.v) {
            *x += vector(&mut next) * (by * CELL);
            *v = vector(&mut next);
        }
        self.begin();
    }

    fn begin(&mut self) {
        self.particles.load(&self.moving);
        self.filling.begin_frame(&self.moving);
        self.filling.begin_step(H, 0.0);
        let mut step = StepData::default();
        step.h = H as f32;
        self.particles.begin_step(step);
        // Rounded as the device has it.
        self.particles.read_state(&mut self.moving);
    }

    /// Look-ahead positions, there and here.
    fn look_ahead(&mut self, way: f64) -> Vec<Vec3> {
        let mut next = noise(99);
        let ahead: Vec<Vec3> = self.moving.x.iter().map(|x| x + vector(&mut next) * way).collect();
        self.particles.write_ahead(&ahead);
        self.ahead()
    }

    fn ahead(&mut self) -> Vec<Vec3> {
        let mut ahead = self.moving.x.clone();
        self.particles.read_ahead(&mut ahead);
        ahead
    }

    fn sweep_here(&self, ahead: &mut [Vec3], growth: f64) -> f64 {
        let tets = self.tets;
        sweep_sets(&tets.sets, ahead, |set, scratch| {
            let k = tets.set_k.row(set);
            let (values, gradient) = (&mut scratch.values, &mut scratch.gradient);
            let error = tet_volume::correct_position(&tets.part(set), growth, values, k, gradient);
            let least = LEAST_PART * tets.set_volumes[set] * growth;
            if error > 1.0 - LEAST_PART && tet_volume::volume(tets.set_tets.row(set), &scratch.values) < least {
                tet_volume::turn_back(tets.set_shape.row(set), tets.tets.cell_size, &mut scratch.values, k);
            }
            error
        })
    }

    fn sweep_there(&mut self) -> f64 {
        self.control.begin();
        self.filling.sweep(&self.control);
        f64::from(self.control.read().worst)
    }

    fn worst(&self, x: &[Vec3]) -> f64 {
        let error = |set: usize| {
            let places: Vec<Vec3> = self.tets.sets.set(set).iter().map(|p| x[*p as usize]).collect();
            tet_volume::relative_error(
                tet_volume::volume(self.tets.set_tets.row(set), &places),
                self.tets.set_volumes[set],
            )
        };
        (0..self.tets.sets.len()).map(error).fold(0.0, larger)
    }

    fn momentum(&self, values: &[Vec3]) -> Vec3 {
        values.iter().zip(&self.body.mass).map(|(value, m)| value * *m).sum()
    }
}

#[track_caller]
fn assert_near(there: &[Vec3], here: &[Vec3], most: f64, what: &str) {
    let off = there.iter().zip(here).map(|(a, b)| (a - b).norm()).fold(0.0, larger);
    println!("{what}: {off:.1e} off");
    assert!(off <= most, "{what}: {off}");
}

#[test]
fn structs_are_laid_out_alike() {
    assert_eq!(layout(&EDGE_SPRING, "Spring"), (vec![0, 8, 12], size_of::<SpringData>()));
    for source in [&EDGE_SPRING, &CELL_VOLUME] {
        assert_eq!(layout(source, "Elastic"), ((0..8).map(|n| 4 * n).collect(), size_of::<ElasticData>()));
    }
    assert_eq!(layout(&CELL_VOLUME, "Part"), ((0..5).map(|n| 4 * n).collect(), size_of::<PartData>()));
    assert_eq!(layout(&CELL_VOLUME, "Tet"), (vec![0, 4], size_of::<TetData>()));
}

#[test]
fn springs_are_those_of_the_processor() {
    let gpu = Rc::new(open(Some(Limits { groups: 4, binding: 1 << 27 })));
    for (held, damping) in [("", 0.02), (HELD, 5.0)] {
        let world = World::new(&bar(&format!("damping = {damping}\n{held}")));
        let mut bench = Bench::new(&gpu, &world);
        for (seed, by) in [(1, 0.01), (2, 0.5)] {
            bench.shake(by, seed);
            // Two in one place have no direction.
            bench.moving.x[1] = bench.moving.x[0];
            bench.begin();
            let spring = |stiffness: &f64| EdgeSpring::new(*stiffness, damping, H);
            let springs: Vec<EdgeSpring> = bench.tets.stiffnesses.iter().map(spring).collect();
            let (k, x) = (&bench.body.k, &bench.moving.x);
            let mut v = bench.moving.v.clone();
            sweep(&bench.tets.edges, &mut v, |row, [a, b], v_a, v_b| {
                let [a, b] = [a as usize, b as usize];
                springs[row].damp(v_a, v_b, x[b] - x[a], [k[a], k[b]]);
                0.0
            });
            bench.filling.damp();
            let mut damped = v.clone();
            bench.particles.read_velocities(&mut damped);
            assert_near(&damped, &v, 2e-6, "damped");

            let mut ahead = bench.look_ahead(0.01);
            let before = ahead.clone();
            sweep(&bench.tets.edges, &mut ahead, |row, ends, a, b| {
                springs[row].correct_position(a, b, bench.tets.lengths[row], ends.map(|end| k[end as usize]));
                0.0
            });
            bench.filling.spring();
            let sprung = bench.ahead();
            assert_near(&sprung, &ahead, 2e-6 * CELL, "sprung");
            if held.is_empty() {
                let ways = |after: &[Vec3]| after.iter().zip(&before).map(|(a, b)| a - b).collect::<Vec<_>>();
                let made = bench.momentum(&ways(&sprung)).norm();
                let moved: f64 = ways(&sprung).iter().zip(&bench.body.mass).map(|(way, m)| way.norm() * m).sum();
                println!("momentum made: {:.1e}", made / moved);
                assert!(made < 1e-6 * moved, "{made} of {moved}");
            }
        }
    }
    assert_eq!(gpu.trouble(), None);
}

#[test]
fn volumes_are_those_of_the_processor() {
    let gpu = Rc::new(open(Some(Limits { groups: 4, binding: 1 << 27 })));
    for volume in ["cells", "rings"] {
        for held in ["", HELD] {
            let world = World::new(&bar(&format!("volume = \"{volume}\"\n{held}")));
            let mut bench = Bench::new(&gpu, &world);
            let start = bench.moving.x.clone();
            let middle = start.iter().sum::<Vec3>() / start.len() as f64;
            // Shaken, flat but for a little, inside out.
            for (by, scale) in [
                (0.0, [1.0; 3]),
                (0.02, [1.0; 3]),
                (0.3, [1.0; 3]),
                (1.5, [1.0; 3]),
                (0.01, [1.0, 0.0, 1.0]),
                (0.01, [1.0, -0.6, 1.0]),
                (0.01, [-0.5, -0.7, -1.1]),
            ] {
                let scaled = |x: &Vec3| middle + (x - middle).component_mul(&Vec3::from(scale));
                bench.moving.x = start.iter().map(scaled).collect();
                bench.shake(by, 5);
                let mut ahead = bench.look_ahead(0.001);
                let before = ahead.clone();
                let expected = bench.sweep_here(&mut ahead, 1.0);
                let worst = bench.sweep_there();
                let swept = bench.ahead();
                println!("{volume} {scale:?} worst {worst} for {expected}");
                assert!((worst - expected).abs() < 2e-6 * (1.0 + expected), "{worst} for {expected}");
                assert_near(&swept, &ahead, 2e-5 * CELL, &format!("{volume} shaken by {by}, scaled {scale:?}"));
                if held.is_empty() {
                    let ways: Vec<Vec3> = swept.iter().zip(&before).map(|(a, b)| a - b).collect();
                    let moved: f64 = ways.iter().zip(&bench.body.mass).map(|(way, m)| way.norm() * m).sum();
                    let made = bench.momentum(&ways).norm();
                    println!("momentum made: {made:.1e} of {moved:.1e}");
                    let rounding = 1e-9 * CELL * bench.body.mass.iter().sum::<f64>();
                    assert!(made < 1e-6 * moved + rounding, "{made} of {moved}");
                }
            }
        }
    }
    assert_eq!(gpu.trouble(), None);
}

#[test]
fn what_has_no_volume_or_is_inside_out_finds_back() {
    let gpu = Rc::new(open(None));
    for volume in ["cells", "rings"] {
        for scale in [[0.0; 3], [1.0, 0.0, 1.0], [-1.0, 1.0, 1.0], [-1.0, -1.0, -1.0]] {
            let world = World::new(&bar(&format!("volume = \"{volume}\"\nstart_scale = {scale:?}")));
            let mut bench = Bench::new(&gpu, &world);
            bench.begin();
            bench.look_ahead(0.0);
            bench.control.begin();
            let mut errors = Vec::new();
            for _ in 0..8 {
                for _ in 0..200 {
                    bench.filling.sweep(&bench.control);
                }
                let ahead = bench.ahead();
                errors.push(bench.worst(&ahead));
            }
            println!("{volume} {scale:?}: {errors:?}");
            assert!(errors[1] < 0.1 && errors[7] < 2e-4, "{volume} {scale:?}: {errors:?}");
        }
    }
}

#[test]
fn what_is_not_a_number_is_told_and_sweeps_end() {
    let gpu = Rc::new(open(None));
    let world = World::new(&bar(""));
    let mut bench = Bench::new(&gpu, &world);
    bench.begin();
    let mut ahead = bench.look_ahead(0.0);
    ahead[7].y = f64::NAN;
    bench.particles.write_ahead(&ahead);
    bench.control.begin();
    for _ in 0..3 {
        bench.filling.sweep(&bench.control);
        bench.control.judge();
    }
    let seen = bench.control.read();
    assert!(seen.is_broken() && seen.done == 1 && seen.sweeps == 1, "{seen:?}");
}

#[test]
fn nothing_moves_once_sweeps_are_done() {
    let gpu = Rc::new(open(None));
    let world = World::new(&bar(""));
    let mut bench = Bench::new(&gpu, &world);
    bench.shake(0.1, 3);
    let before = bench.look_ahead(0.0);
    bench.control.aim(10.0, 1);
    bench.control.begin();
    bench.filling.sweep(&bench.control);
    bench.control.judge();
    let after = bench.ahead();
    assert!(after != before);
    (0..3).for_each(|_| bench.filling.sweep(&bench.control));
    assert_eq!(bench.ahead(), after);
}

#[test]
fn what_stays_is_what_stays_on_the_processor() {
    let gpu = Rc::new(open(None));
    let world = World::new(&bar("plasticity = { yield = 0.05, creep = 20.0 }"));
    let mut bench = Bench::new(&gpu, &world);
    bench.shake(0.3, 8);
    bench.filling.flow();
    let mut flowed = bench.moving.clone();
    bench.filling.read(&mut flowed);
    let mut changed = 0;
    for (row, &[a, b]) in bench.tets.edges.pairs().iter().enumerate() {
        let original = bench.tets.lengths[row];
        let length = (bench.moving.x[b as usize] - bench.moving.x[a as usize]).norm();
        let expected = edge_spring::flow(original, length, original, 0.05, 20.0, H);
        assert!((flowed.flowed[row] - expected).abs() < 1e-6 * CELL);
        changed += usize::from(flowed.flowed[row] != original);
        assert_eq!(flowed.flowed[row] == original, expected == original, "{expected} of {original}");
    }
    assert!(changed > 100 && changed < flowed.flowed.len(), "{changed} of {}", flowed.flowed.len());
    // The next frame begins with these.
    let twice = |bench: &mut Bench, moving: &BodyState| {
        bench.filling.begin_frame(moving);
        bench.filling.flow();
        let mut again = moving.clone();
        bench.filling.read(&mut again);
        again.flowed
    };
    assert_eq!(twice(&mut bench, &flowed), twice(&mut bench, &flowed));
    assert_eq!(gpu.trouble(), None);
}

/// A world whose first body flies and turns.
fn spinning(text: &str) -> World {
    let mut world = World::new(text);
    let moving = &mut world.start.bodies[0];
    let middle = moving.x.iter().sum::<Vec3>() / moving.x.len() as f64;
    let turn = Vec3::new(1.0, 2.0, 3.0);
    for (x, v) in moving.x.iter().zip(&mut moving.v) {
        *v = turn.cross(&(x - middle)) + Vec3::new(0.3, 0.0, 0.1);
    }
    world
}

/// A scene with a bar that is held at one end.
pub fn held_bar() -> String {
    bar(HELD)
}

#[test]
fn a_held_bar_agrees() {
    agree("held", &World::new(&bar(HELD)));
    agree("held by rings", &World::new(&bar(&format!("volume = \"rings\"\n{HELD}"))));
    let soft = HELD.replace(" }]", ", weight = 0.5 }]");
    agree("held softly", &World::new(&bar(&soft)));
}

#[test]
fn a_bar_that_flies_and_turns_agrees_and_keeps_its_momentum() {
    let world = spinning(&bar(""));
    agree("flying", &world);
    let (end, _) = on_device(&world, None);
    let body = &world.model.soft_bodies[0];
    let mass: f64 = body.mass.iter().sum();
    let mean = |v: &[Vec3]| v.iter().zip(&body.mass).map(|(v, m)| v * *m).sum::<Vec3>() / mass;
    let expected = mean(&world.start.bodies[0].v) + Vec3::new(0.0, -9.81, 0.0) / 50.0;
    let off = (mean(&end.bodies[0].v) - expected).norm();
    println!("speed of the whole: {off:.1e} m/s off");
    assert!(off < 2e-5, "{off}");
}

#[test]
fn growth_and_flow_and_wind_agree() {
    agree("growing", &World::new(&bar("pressure = { keys = [[0, 0], [1, 3000]] }")));
    let plastic = spinning(&bar("stiffness = 2000\nplasticity = { yield = 0.01, creep = 30.0 }\ndamping = 0.001"));
    agree("flowing", &plastic);
    let windy = bar("").replace("drag = 0", "drag = 1") + "[wind]\ndirection = [1, 0.2, 0]\nspeed = 20\n";
    agree("in the wind", &spinning(&windy));
}

#[test]
fn volumes_are_within_the_tolerance() {
    let world = spinning(&bar("volume_tolerance = 0.0005"));
    let mut backend = GpuBackend::new(&world.scene, &world.model, open(None), false).unwrap();
    let end = world.simulate_on(&mut backend, |frame| {
        println!("worst {:.1e}, sweeps {}", frame.quality[0].max_volume_error, frame.report.bodies[0].iterations);
        assert!(frame.quality[0].max_volume_error < 0.0005);
    });
    assert!(apart(&end, &world.simulate(|_| ())) / size(&world) < 1e-4);
    println!("{:?}", backend.gpu().counts());
}

#[test]
fn a_bar_that_falls_onto_a_floor_agrees() {
    let floor = "[[collider]]\nname = \"floor\"\nshape = \"plane\"\npoint = [0, 4.8475, 0]\nnormal = [0, 1, 0]\n";
    let world = World::new(&(bar("") + floor));
    agree("floor", &world);
    let mut backend = GpuBackend::new(&world.scene, &world.model, open(None), false).unwrap();
    world.simulate_on(&mut backend, |frame| assert!(frame.report.bodies[0].contacts > 10, "{:?}", frame.report.bodies));
}

#[test]
fn bars_that_meet_agree() {
    let other = "[[soft_body]]\nname = \"other\"\nmodel = \"tetrahedra\"\n\
        mesh = { box = { size = [0.4, 0.3, 0.4], vertices = [5, 4, 5] } }\ntetrahedra = { cell = 0.1 }\n\
        transform = { translate = [3.1, 4.696, -2] }\n";
    let world = spinning(&(bar("").replace("self_collision = false\n", "") + other));
    agree("two bars", &world);
    let mut backend = GpuBackend::new(&world.scene, &world.model, open(None), false).unwrap();
    world.simulate_on(&mut backend, |frame| {
        let contacts: u32 = frame.report.bodies.iter().map(|body| body.touched.contacts).sum();
        assert!(contacts > 0, "{:?}", frame.report.bodies);
    });
}

#[test]
fn a_body_whose_numbers_end_is_told_and_what_follows_is_sound() {
    let world = World::new(&bar(HELD));
    let mut backend = GpuBackend::new(&world.scene, &world.model, open(None), false).unwrap();
    let expected = world.simulate_on(&mut backend, |_| ());
    let mut bad = world.start.clone();
    let free = world.model.soft_bodies[0].k.iter().position(|k| *k > 0.0).unwrap();
    bad.bodies[0].v[free].y = f64::NAN;
    assert!(backend.advance(&mut bad)[0].broken_at.is_some());
    assert_eq!(world.simulate_on(&mut backend, |_| ()), expected);
}
