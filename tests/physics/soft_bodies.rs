//! Bodies of tetrahedra: what they keep, how they fall, lie, bend, grow and are held.

use std::fmt::Write;

use crate::support::{Frame, World, full};
use kiln::math::Vec3;
use kiln::mesh::tets::tet_volume;
use kiln::model::{BodyState, Promise, SoftBodyModel, State, TetBody};
use kiln::solver::Backend;
use kiln::solver::cpu::CpuBackend;

const FLOOR: &str = "[[collider]]\nname = \"floor\"\nshape = \"plane\"\npoint = [0, 0, 0]\nnormal = [0, 1, 0]\n";
const BALL: &str = "mesh = { ball = { radius = 0.3, vertices = 9 } }\ntetrahedra = { cell = 0.1 }";
const NO_GRAVITY: &str = "gravity = [0, 0, 0]";

/// Some frames of things in vacuum.
fn scene(frames: u32, of_scene: &str, objects: &str) -> World {
    World::new(&text(frames, of_scene, objects))
}

fn text(frames: u32, of_scene: &str, objects: &str) -> String {
    format!("[scene]\nname = \"soft\"\nfps = 24\nframes = \"0-{frames}\"\n{of_scene}\n[air]\ndrag = 0\n{objects}\n")
}

fn soft(name: &str, rest: &str) -> String {
    format!("[[soft_body]]\nname = \"{name}\"\n{rest}\n")
}

fn at(place: [f64; 3]) -> String {
    format!("transform = {{ translate = {place:?} }}")
}

fn tets(body: &SoftBodyModel) -> &TetBody {
    body.tetrahedra().unwrap()
}

fn mass(body: &SoftBodyModel) -> f64 {
    body.mass.iter().sum()
}

fn mean(body: &SoftBodyModel, values: &[Vec3]) -> Vec3 {
    values.iter().zip(&body.mass).map(|(value, m)| value * *m).sum::<Vec3>() / mass(body)
}

/// Of all bodies together, about the origin.
fn momenta(world: &World, state: &State) -> [Vec3; 2] {
    let of_body = |body: &SoftBodyModel, moving: &BodyState| {
        let turning = moving.x.iter().zip(&moving.v).zip(&body.mass).map(|((x, v), m)| x.cross(v) * *m).sum::<Vec3>();
        [mean(body, &moving.v) * mass(body), turning]
    };
    let bodies = world.model.soft_bodies.iter().zip(&state.bodies);
    bodies.map(|(body, moving)| of_body(body, moving)).fold([Vec3::zeros(); 2], |[a, b], [c, d]| [a + c, b + d])
}

fn volumes<'a>(body: &'a SoftBodyModel, x: &'a [Vec3]) -> impl Iterator<Item = f64> + 'a {
    tets(body).tets.tets.iter().map(|corners| tet_volume(corners.map(|node| x[node as usize])))
}

fn fastest(frame: &Frame) -> f64 {
    frame.vertices.iter().flat_map(|body| &body.velocities).map(|v| v.norm()).fold(0.0, f64::max)
}

fn lowest(positions: &[Vec3]) -> f64 {
    positions.iter().map(|p| p.y).fold(f64::INFINITY, f64::min)
}

fn is_finite(state: &State) -> bool {
    let numbers = state.bodies.iter().flat_map(|body| body.x.iter().chain(&body.v).chain(&body.written));
    numbers.flatten().all(|x| x.is_finite())
}

/// A box of quads with groups "left" (x below 0) and "right", as a file says it.
fn grouped_box(size: [f64; 3], cells: [u32; 3]) -> String {
    let mesh = kiln::mesh::generate::cuboid(size, cells.map(|n| n + 1));
    let mut text = String::new();
    mesh.positions.iter().for_each(|p| writeln!(text, "v {} {} {}", p.x, p.y, p.z).unwrap());
    for (name, side) in [("left", -1.0), ("right", 1.0)] {
        writeln!(text, "g {name}").unwrap();
        for face in 0..mesh.face_count() {
            let corners: Vec<u32> = mesh.face(face).iter().map(|corner| corner.position).collect();
            let middle: f64 = corners.iter().map(|&v| mesh.positions[v as usize].x).sum();
            if (middle < 0.0) == (side < 0.0) {
                writeln!(text, "f {} {} {}", corners[0] + 1, corners[1] + 1, corners[2] + 1).unwrap();
            }
        }
    }
    text
}

/// A scene whose bodies take `bar.obj`.
fn with_bar(text: &str, size: [f64; 3], cells: [u32; 3]) -> World {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bar.obj"), grouped_box(size, cells)).unwrap();
    World::in_folder(text, folder.path(), &[])
}

#[test]
fn a_body_in_free_fall_falls_like_a_point() {
    let world = scene(24, "", &soft("ball", BALL));
    let body = &world.model.soft_bodies[0];
    let start = mean(body, &world.start.bodies[0].x);
    let end = world.simulate(|frame| {
        let seconds = frame.number as f64 / 24.0;
        let (x, v) = (mean(body, &frame.state.bodies[0].x), mean(body, &frame.state.bodies[0].v));
        let fallen = start - Vec3::y() * (0.5 * 9.81 * seconds * seconds);
        assert!((x - fallen).norm() < 1e-9, "frame {}: {:?}", frame.number, x - fallen);
        assert!((v + Vec3::y() * (9.81 * seconds)).norm() < 1e-9, "frame {}: {v:?}", frame.number);
    });
    let moved = end.bodies[0].x.iter().zip(&body.rest).map(|(x, rest)| x - rest).collect::<Vec<_>>();
    let differ = moved.iter().map(|way| (way - moved[0]).norm()).fold(0.0, f64::max);
    assert!(differ < 1e-9, "it has changed its shape by {differ} m");
}

#[test]
fn a_body_that_spins_in_free_space_keeps_its_momentum() {
    let mut world = scene(24, NO_GRAVITY, &soft("ball", BALL));
    let (spin, speed) = (Vec3::new(1.0, 3.0, -2.0), Vec3::new(0.5, -0.2, 0.1));
    let body = &mut world.start.bodies[0];
    body.v = body.x.iter().map(|x| speed + spin.cross(x)).collect();
    // So that springs and volumes have something to do.
    body.x.iter_mut().for_each(|x| *x = Vec3::new(1.1 * x.x, x.y / 1.1, x.z));
    let before = momenta(&world, &world.start);
    let (mut largest, mut turned) = (0.0_f64, 0.0_f64);
    world.simulate(|frame| {
        // About its middle, which flies on.
        let mut now = momenta(&world, frame.state);
        let middle = mean(&world.model.soft_bodies[0], &frame.state.bodies[0].x);
        now[1] -= middle.cross(&now[0]);
        largest = largest.max((now[0] - before[0]).norm() / before[0].norm());
        turned = turned.max((now[1] - before[1]).norm() / before[1].norm());
    });
    println!("momentum {largest:.1e}, angular momentum {turned:.1e} of what was there");
    assert!(largest < 1e-9, "{largest}");
    // Impulses act along edges and gradients as they are at the end of a step, so every step takes a little of the turning: about 5 % in a
    // second at this speed.
    assert!(turned < 0.07, "{turned}");
}

#[test]
fn a_body_at_rest_stays_at_rest() {
    // Many steps, in which a rounding error would grow if anything fed it.
    for (parts, steps) in [("cells", ""), ("rings", ""), ("cells", "\nsubsteps = 40")] {
        let world = scene(50, &format!("{NO_GRAVITY}{steps}"), &soft("ball", &format!("{BALL}\nvolume = \"{parts}\"")));
        // The rounding of a place over a step.
        let end = world.simulate(|frame| assert!(fastest(&frame) < 1e-10, "{parts}: {}", fastest(&frame)));
        for (x, rest) in end.bodies[0].x.iter().zip(&world.model.soft_bodies[0].rest) {
            assert!((x - rest).norm() < 1e-12, "{parts}: {:?}", x - rest);
        }
    }
}

/// A jelly ball dropped on a floor: its worst part, its whole, how low it came, and whether it kept its promise in every frame.
fn dropped(parts: &str, frames: u32) -> (f64, f64, f64, bool) {
    let jelly = format!("{BALL}\nstiffness = 1000\nvolume = \"{parts}\"\n{}", at([0.0, 0.6, 0.0]));
    let world = scene(frames, "", &format!("{}{FLOOR}", soft("ball", &jelly)));
    let body = &world.model.soft_bodies[0];
    let (mut worst, mut whole, mut least, mut kept, mut touched) = (0.0_f64, 0.0_f64, f64::INFINITY, true, 0);
    world.simulate(|frame| {
        let (quality, report) = (frame.quality[0], &frame.report.bodies[0]);
        worst = worst.max(quality.max_volume_error);
        whole = whole.max(quality.volume_error.abs());
        least = least.min(lowest(&frame.vertices[0].positions));
        touched += report.contacts;
        let is_told = report.broken.iter().any(|broken| broken.promise == Promise::Volume);
        assert_eq!(is_told, report.used > 1.0, "frame {}: {}", frame.number, report.used);
        assert!(report.broken.iter().all(|broken| broken.promise == Promise::Volume), "{:?}", report.broken);
        kept &= !is_told;
        // What is reported against what anyone can measure.
        let x = &frame.state.bodies[0].x;
        let [now, rest] = [x, &body.rest].map(|x| volumes(body, x).sum::<f64>());
        assert!((now / rest - 1.0 - quality.volume_error).abs() < 1e-12);
        let of_cell = |x: &[Vec3], cell: usize| volumes(body, x).skip(5 * cell).take(5).sum::<f64>();
        let cells =
            (0..tets(body).tets.cells.len()).map(|cell| (of_cell(x, cell) / of_cell(&body.rest, cell) - 1.0).abs());
        let seen = cells.fold(0.0, f64::max);
        assert!(parts == "rings" || (seen - quality.max_volume_error).abs() < 1e-9, "{seen} {quality:?}");
    });
    println!("{parts}: worst part {worst:.5}, whole {whole:.5}, lowest {least:.5} m, {touched} contacts");
    assert!(touched > 20 && worst > 1e-6, "{touched} contacts");
    (worst, whole, least, kept)
}

#[test]
fn a_jelly_ball_dropped_on_a_floor_keeps_its_volume_and_stays_above() {
    let (worst, whole, least, kept) = dropped("cells", if full() { 96 } else { 30 });
    assert!(worst <= 0.005 && whole <= 0.005 && least >= 0.0 && kept, "{worst} {whole} {least} {kept}");
}

/// Rings share more with each other than cells do, so that sweeps over them end before all are right; such frames are marked.
#[test]
fn rings_keep_the_volume_of_the_whole() {
    let (worst, whole, least, kept) = dropped("rings", if full() { 96 } else { 10 });
    assert!(worst <= 0.01 && whole <= 0.001 && least >= 0.0, "{worst} {whole} {least}");
    assert_eq!(kept, worst <= 0.005);
}

#[test]
fn a_body_that_starts_flat_or_inside_out_recovers() {
    let flat = |x: &Vec3| Vec3::new(x.x, 0.0, x.z);
    let mirrored = |x: &Vec3| Vec3::new(-x.x, x.y, x.z);
    let starts = [("flat", flat as fn(&Vec3) -> Vec3), ("inside out", mirrored)];
    for (name, start) in starts {
        for mesh in ["ball = { radius = 0.3, vertices = 9 }", "box = { size = [0.6, 0.4, 0.4], vertices = [7, 5, 5] }"]
        {
            let rest = format!("mesh = {{ {mesh} }}\ntetrahedra = {{ cell = 0.1 }}\nself_collision = false");
            let of_scene = format!("{NO_GRAVITY}\nsubsteps = 10");
            let mut world = scene(12, &of_scene, &soft("body", &rest));
            let body = &world.model.soft_bodies[0];
            world.start.bodies[0].x.iter_mut().for_each(|x| *x = start(x));
            assert!(volumes(body, &world.start.bodies[0].x).all(|volume| volume < 1e-12), "{name}");
            let mut steps = None;
            let end = world.simulate(|frame| {
                let turned = volumes(body, &frame.state.bodies[0].x).filter(|volume| *volume <= 0.0).count();
                if turned == 0 {
                    steps.get_or_insert(10 * frame.number);
                } else {
                    steps = None;
                }
            });
            println!("{name} {mesh}: {steps:?} steps");
            assert!(is_finite(&end) && steps.is_some(), "{name} {mesh}");
        }
    }
}

/// Speeds are those that anyone sees from frame to frame: what is stored has half a step of gravity in it, as a body has that falls.
#[test]
fn a_stack_of_boxes_comes_to_rest() {
    // Two of 1e5 Pa have 0.8 of the height at which a column this wide buckles under its own weight.
    for (count, stiffness) in [(1, 1e5), (2, 1e5), (3, 1e6)] {
        stack(count, stiffness);
    }
}

fn stack(count: u32, stiffness: f64) {
    let cube = |n: u32| {
        format!(
            "mesh = {{ box = {{ size = [0.4, 0.4, 0.4], vertices = [5, 5, 5] }} }}\ntetrahedra = {{ cell = 0.1 }}\n\
             stiffness = {stiffness}\n{}",
            at([0.0, 0.203 + 0.404 * f64::from(n), 0.0])
        )
    };
    let cubes: String = (0..count).map(|n| soft(&format!("cube {n}"), &cube(n))).collect();
    let world = scene(72, "", &format!("{cubes}{FLOOR}"));
    let mut before: Vec<Vec3> = Vec::new();
    let mut speed = f64::INFINITY;
    let end = world.simulate(|frame| {
        let now: Vec<Vec3> = frame.vertices.iter().flat_map(|body| body.positions.clone()).collect();
        speed = now.iter().zip(&before).map(|(now, before)| 24.0 * (now - before).norm()).fold(0.0, f64::max);
        before = now;
        assert!(frame.report.bodies.iter().all(|body| body.broken.is_empty()), "frame {}", frame.number);
    });
    println!("{count} boxes of {stiffness} Pa: {speed:.6} m/s after three seconds");
    assert!(speed < 1e-3, "{count} boxes: {speed} m/s after three seconds");
    let places: Vec<Vec3> =
        world.model.soft_bodies.iter().zip(&end.bodies).map(|(body, state)| mean(body, &state.x)).collect();
    assert!(places[0].y > 0.15 && places[0].xz().norm() < 0.01, "{places:?}");
    for pair in places.windows(2) {
        assert!(pair[1].y > pair[0].y + 0.3 && (pair[1] - pair[0]).xz().norm() < 0.01, "{places:?}");
    }
}

/// How far a stiff block has slid down an incline after each of 12 frames.
fn slide(degrees: f64, friction: f64) -> Vec<f64> {
    let slope = degrees.to_radians();
    let (normal, downhill) = (Vec3::new(slope.sin(), slope.cos(), 0.0), Vec3::new(slope.cos(), -slope.sin(), 0.0));
    let place = normal * 0.1021;
    let block = format!(
        "mesh = {{ box = {{ size = [0.3, 0.2, 0.3], vertices = [4, 3, 4] }} }}\ntetrahedra = {{ cell = 0.1 }}\n\
         stiffness = 1e6\nfriction = {friction}\n\
         transform = {{ rotate = [0, 0, -{degrees}], translate = [{}, {}, 0] }}",
        place.x, place.y
    );
    let incline = format!(
        "[[collider]]\nname = \"incline\"\nshape = \"plane\"\npoint = [0, 0, 0]\nnormal = [{}, {}, 0]\nfriction = {friction}",
        normal.x, normal.y
    );
    let world = scene(12, "", &format!("{}{incline}", soft("block", &block)));
    let body = &world.model.soft_bodies[0];
    let start = mean(body, &body.rest);
    let mut slid = Vec::new();
    world.simulate(|frame| {
        slid.push((mean(body, &frame.state.bodies[0].x) - start).dot(&downhill));
        assert_eq!(frame.quality[0].max_penetration, 0.0);
    });
    slid
}

#[test]
fn a_stiff_block_sticks_below_the_angle_of_friction_and_slides_above() {
    // The angle of 0.4 is 21.8 degrees. What sticks gives way a little when it is put down.
    for degrees in [15.0, 20.0] {
        let slid = slide(degrees, 0.4);
        let creep = 4.0 * (slid[11] - slid[5]);
        println!("{degrees} degrees: slid {:.6} m, creeps at {creep:.6} m/s", slid[11]);
        assert!(slid[11].abs() < 3e-3 && creep.abs() < 1e-3, "{degrees} degrees: {slid:?}");
    }
    for (degrees, friction) in [(25.0, 0.4), (35.0, 0.4), (20.0, 0.0)] {
        let slid = slide(degrees, friction);
        let slope = f64::to_radians(degrees);
        let acceleration = 9.81 * (slope.sin() - friction * slope.cos());
        // From three places, so that it does not matter how it was put down.
        let found = 16.0 * (slid[11] - 2.0 * slid[5]);
        let expected = 16.0 * 0.5 * acceleration * (0.25 - 2.0 * 0.0625);
        println!("{degrees} degrees, {friction}: {found:.4} for {expected:.4}");
        assert!((found / expected - 1.0).abs() < 0.08, "{degrees} degrees: {slid:?}, {acceleration} m/s²");
    }
}

#[test]
fn pressure_grows_a_body_to_the_predicted_volume_and_lets_it_go() {
    let (modulus, pressure) = (1e4, 2000.0);
    let keys = format!("pressure = {{ keys = [[0, 0], [8, {pressure}], [24, {pressure}], [32, 0]] }}");
    let world = scene(48, NO_GRAVITY, &soft("ball", &format!("{BALL}\nstiffness = {modulus}\n{keys}")));
    let body = &world.model.soft_bodies[0];
    // All lengths by p / (3 λ + 2 μ), where λ = μ and the modulus is 3 μ.
    let predicted = f64::powi(1.0 + pressure / (5.0 / 3.0 * modulus), 3);
    world.simulate(|frame| {
        let grown = volumes(body, &frame.state.bodies[0].x).sum::<f64>() / volumes(body, &body.rest).sum::<f64>();
        let expected = match frame.number {
            16..=24 => predicted,
            40.. => 1.0,
            _ => return,
        };
        assert!((grown / expected - 1.0).abs() < 0.03, "frame {}: {grown} for {expected}", frame.number);
        // And it is at rest there: its surface has grown with it, and the springs hold what presses.
        let positions = &frame.vertices[0].positions;
        let larger = positions.iter().map(|x| x.norm()).sum::<f64>() / positions.len() as f64 / 0.3;
        assert!((larger / expected.cbrt() - 1.0).abs() < 0.02, "frame {}: {larger}", frame.number);
    });
    assert!(predicted > 1.3);
}

/// A bar that is clamped at one end is bent by its weight, which ends after a second; how far its other end is down then and a second later.
fn bent(words: &str) -> [f64; 2] {
    let bar = format!(
        "mesh = {{ box = {{ size = [0.8, 0.2, 0.2], vertices = [9, 3, 3] }} }}\ntetrahedra = {{ cell = 0.1 }}\n\
         stiffness = 5e5\ndamping = 0.4\npins = [{{ box = {{ min = [-1, -1, -1], max = [-0.29, 1, 1] }} }}]\n{words}"
    );
    let gravity = "gravity = { keys = [[0, [0, -9.81, 0]], [23, [0, -9.81, 0]], [24, [0, 0, 0]]] }";
    let world = scene(60, gravity, &soft("bar", &bar));
    let body = &world.model.soft_bodies[0];
    let end: Vec<usize> = (0..body.mesh.positions.len()).filter(|&v| body.mesh.positions[v].x > 0.39).collect();
    let mut sags = Vec::new();
    world.simulate(|frame| {
        let down = end.iter().map(|&v| body.mesh.positions[v].y - frame.vertices[0].positions[v].y).sum::<f64>();
        sags.push(down / end.len() as f64);
        assert_eq!(frame.state.bodies[0].flowed.is_empty(), words.is_empty(), "what flows is remembered");
    });
    [sags[22], sags[59]]
}

#[test]
fn what_is_bent_stays_bent_if_it_is_plastic_and_springs_back_if_not() {
    let [elastic, back] = bent("");
    let [plastic, stays] = bent("plasticity = { yield = 0.02, creep = 5 }");
    println!("elastic {elastic:.4} m, then {back:.4}; plastic {plastic:.4} m, then {stays:.4}");
    // It still swings a little, about where it came from.
    assert!(elastic > 0.05 && back.abs() < 0.2 * elastic, "{elastic} {back}");
    assert!(plastic > elastic && stays > 0.3 * plastic, "{plastic} {stays}");
    // What never leaves the yield is as without.
    assert!((bent("plasticity = { yield = 5 }")[1] - back).abs() < 1e-9);
}

#[test]
fn boxes_groups_and_vertices_pin_particles_of_the_lattice() {
    let world = |pins: &str| {
        let bar = soft("bar", &format!("mesh = \"bar.obj\"\ntetrahedra = {{ cell = 0.1 }}\npins = [{pins}]"));
        with_bar(&text(8, "", &bar), [0.8, 0.2, 0.2], [8, 2, 2])
    };
    let held = |world: &World| -> Vec<usize> {
        let body = &world.model.soft_bodies[0];
        let held: Vec<usize> = body.pins.particles.iter().map(|led| led.particle as usize).collect();
        assert!(held.iter().all(|&p| body.k[p] == 0.0) && held.len() < body.k.len());
        assert_eq!(body.k.iter().filter(|k| **k == 0.0).count(), held.len());
        let end = world.simulate(|frame| {
            held.iter().for_each(|&p| assert_eq!(frame.state.bodies[0].x[p], body.rest[p]));
        });
        // The rest is not held.
        assert!(end.bodies[0].x.iter().zip(&body.rest).any(|(x, rest)| rest.y - x.y > 0.01));
        held
    };
    let by_box = world("{ box = { min = [-1, -1, -1], max = [-0.25, 1, 1] } }");
    let body = &by_box.model.soft_bodies[0];
    let inside = (0..body.rest.len()).filter(|&p| body.rest[p].x <= -0.25).count();
    let found = held(&by_box);
    assert!(found.len() == inside && inside == 18, "two layers of nine nodes, those inside too: {found:?}");

    let by_group = world("{ group = \"left\" }");
    let body = &by_group.model.soft_bodies[0];
    for &p in &held(&by_group) {
        assert!(body.rest[p].x < 0.051, "{:?}", body.rest[p]);
    }
    // Every vertex of the group is held by the particle that it hangs on most.
    for v in (0..body.mesh.positions.len()).filter(|&v| body.mesh.positions[v].x < -0.01) {
        let most = body.map.row(v).iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap().0;
        assert_eq!(body.k[most as usize], 0.0, "vertex {v}");
    }

    let by_vertices = world("{ vertices = [0, 3] }");
    let found = held(&by_vertices);
    assert_eq!(found.len(), 2);
    let body = &by_vertices.model.soft_bodies[0];
    for vertex in [0, 3] {
        let place = body.surface.positions[vertex];
        assert!(found.iter().any(|&p| (body.rest[p] - place).norm() < 0.06), "{place:?}");
    }
}

#[test]
fn pins_follow_a_collider_that_moves() {
    let bar = "mesh = { box = { size = [0.6, 0.2, 0.2], vertices = [7, 3, 3] } }\ntetrahedra = { cell = 0.1 }\n\
               pins = [{ box = { min = [-1, -1, -1], max = [-0.29, 1, 1] }, follow = \"hand\" }]";
    let hand = "[[collider]]\nname = \"hand\"\nshape = \"sphere\"\ncenter = [-0.4, 0, 0]\nradius = 0.05\ntransform = { \
                translate = { keys = [[0, [0, 0, 0]], [24, [0, 0.5, 0]]] }, rotate = { keys = [[0, [0, 0, 0]], [24, [0, 60, 0]]] } }";
    let world = scene(24, "", &format!("{}{hand}", soft("bar", bar)));
    let body = &world.model.soft_bodies[0];
    assert_eq!(body.pins.vertices.len(), 9);
    let motion = &world.model.colliders[0].motion;
    let end = world.simulate(|frame| {
        let (start, pose) = (motion.at(0.0), motion.at(frame.number as f64));
        for pin in &body.pins.vertices {
            let p = pin.vertex as usize;
            let error = (frame.state.bodies[0].x[p] - pose.apply(start.apply_inverse(body.rest[p]))).norm();
            assert!(error < 1e-9, "frame {}: particle {p} is {error} m off", frame.number);
        }
    });
    let moved = mean(body, &end.bodies[0].x) - mean(body, &body.rest);
    assert!(moved.y > 0.1, "the rest comes along: {moved:?}");
}

#[test]
fn a_map_makes_one_half_stiffer() {
    let bar = soft(
        "bar",
        "mesh = \"bar.obj\"\ntetrahedra = { cell = 0.1 }\nstiffness = 2e5\n\
         stiffness_map = { groups = { right = 10.0 } }\n\
         pins = [{ box = { min = [-0.06, -1, -1], max = [0.06, 1, 1] } }]",
    );
    let world = with_bar(&text(48, "", &bar), [1.2, 0.2, 0.2], [12, 2, 2]);
    let body = &world.model.soft_bodies[0];
    let mut sags = [0.0; 2];
    let mut speed = 0.0;
    world.simulate(|frame| {
        speed = fastest(&frame);
        sags = [-1.0, 1.0].map(|side| {
            let tip = (0..body.mesh.positions.len()).filter(|&v| side * body.mesh.positions[v].x > 0.59);
            let down: Vec<f64> = tip.map(|v| body.mesh.positions[v].y - frame.vertices[0].positions[v].y).collect();
            down.iter().sum::<f64>() / down.len() as f64
        });
    });
    println!("soft half sags by {:.4} m, stiff half by {:.4} m, {speed:.4} m/s", sags[0], sags[1]);
    assert!(sags[0] > 3.0 * sags[1] && sags[1] > 0.0, "{sags:?}");
}

#[test]
fn wind_pushes_a_body() {
    let blown = |wind: &str| {
        let text = format!(
            "[scene]\nname = \"wind\"\nfps = 24\nframes = \"0-24\"\n{NO_GRAVITY}\n{wind}\n{}",
            soft("ball", &format!("{BALL}\ndensity = 20"))
        );
        let world = World::new(&text);
        let end = world.simulate(|_| ());
        mean(&world.model.soft_bodies[0], &end.bodies[0].v)
    };
    let calm = blown("[wind]\nspeed = 0");
    let [windy, stronger] = [5, 10].map(|speed| blown(&format!("[wind]\ndirection = [1, 0, 0]\nspeed = {speed}")));
    let vacuum = blown("[wind]\ndirection = [1, 0, 0]\nspeed = 10\n[air]\ndrag = 0");
    println!("{windy:?} {stronger:?}");
    assert!(calm.norm() < 1e-12 && vacuum.norm() < 1e-12, "{calm:?} {vacuum:?}");
    assert!(windy.x > 0.1 && windy.x < 5.0 && windy.y.hypot(windy.z) < 0.02 * windy.x, "{windy:?}");
    assert!(stronger.x > 1.5 * windy.x && stronger.x < 10.0, "{stronger:?}");
}

#[test]
fn bodies_that_collide_in_free_space_keep_their_momentum() {
    let objects = format!(
        "{}{}",
        soft("left", &format!("{BALL}\n{}", at([-0.35, 0.0, 0.0]))),
        soft(
            "right",
            "mesh = { box = { size = [0.4, 0.5, 0.4], vertices = [5, 6, 5] } }\ntetrahedra = { cell = 0.1 }\n\
                       density = 300\ntransform = { translate = [0.3, 0.1, 0.05], rotate = [20, 30, 10] }"
        ),
    );
    let mut world = scene(24, NO_GRAVITY, &objects);
    world.start.bodies[0].v.fill(Vec3::new(1.0, 0.0, 0.1));
    world.start.bodies[1].v.fill(Vec3::new(-1.5, 0.2, 0.0));
    let [before, _] = momenta(&world, &world.start);
    let (mut largest, mut contacts) = (0.0_f64, 0);
    let end = world.simulate(|frame| {
        let [now, _] = momenta(&world, frame.state);
        largest = largest.max((now - before).norm() / before.norm());
        contacts += frame.report.bodies[0].touched.contacts;
        assert!(frame.report.bodies.iter().all(|body| body.touched.crossings == 0), "frame {}", frame.number);
    });
    println!("{largest:.1e} of the momentum, {contacts} contacts");
    assert!(largest < 1e-9 && contacts > 10, "{largest}, {contacts} contacts");
    let [left, right] = [0, 1].map(|body| mean(&world.model.soft_bodies[body], &end.bodies[body].v).x);
    assert!(left < right, "they part: {left} {right}");
}

#[test]
fn states_are_bit_equal_for_1_2_3_8_threads() {
    let ball = "mesh = { ball = { radius = 0.3, vertices = 13 } }\ntetrahedra = { cell = 0.042 }\nstiffness = 3000";
    let objects = format!(
        "{}{}{FLOOR}[wind]\nspeed = 2\nturbulence = 0.4\n",
        soft("lower", &format!("{ball}\n{}", at([0.0, 0.305, 0.0]))),
        soft("upper", &format!("{ball}\n{}", at([0.1, 0.93, 0.05]))),
    );
    let mut world = scene(2, "substeps = 20", &objects);
    world.start.bodies[1].v.fill(Vec3::new(0.0, -2.0, 0.0));
    for body in &world.model.soft_bodies {
        assert!(tets(body).sets.len() > 1024 && tets(body).edges.pairs().len() > 4096, "{}", body.method());
    }
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut contacts = [0, 0];
        let state = pool.install(|| {
            world.simulate(|frame| {
                contacts[0] += frame.report.bodies[0].contacts;
                contacts[1] += frame.report.bodies[1].touched.contacts;
            })
        });
        assert!(contacts.iter().all(|count| *count > 0), "{contacts:?}");
        state
    };
    let one = run(1);
    assert!(is_finite(&one));
    for threads in [2, 3, 8] {
        assert!(run(threads) == one, "{threads} threads give another result than one");
    }
}

/// What starts inside of something is told, led out and never shot.
#[test]
fn a_body_that_starts_overlapping_is_marked_and_does_not_explode() {
    let other = soft("other", &format!("{BALL}\n{}", at([0.35, 0.4, 0.1])));
    let wall = "[[collider]]\nname = \"wall\"\nshape = \"box\"\ncenter = [0.3, 0.3, 0]\nsize = [0.4, 0.4, 0.4]\n";
    let hill = "[[collider]]\nname = \"hill\"\nshape = \"mesh\"\nmesh = { ball = { radius = 0.3, vertices = 9 } }\n\
                transform = { translate = [0.35, 0.4, 0.1] }\n";
    for (name, second) in [("another body", other.as_str()), ("a box", wall), ("a mesh", hill)] {
        let objects = format!("{}{second}{FLOOR}", soft("ball", &format!("{BALL}\n{}", at([0.0, 0.302, 0.0]))));
        let world = scene(if crate::support::full() { 36 } else { 12 }, "", &objects);
        let mut backend = CpuBackend::new(&world.scene, &world.model);
        backend.drive(kiln::solver::Drive {
            moments: [kiln::model::Moment::at(0.0); 2],
            seconds: 0.0,
            frame_seconds: 1.0 / 24.0,
            substeps: 1,
        });
        let at_start = backend.survey(&world.start);
        let mut marked = at_start[0].broken.iter().filter(|broken| broken.promise <= Promise::Thickness).count();
        let (mut largest, mut quickest, mut last) = (0.0_f64, 0.0_f64, 0);
        let end = world.simulate(|frame| {
            let report = &frame.report.bodies[0];
            last = report.broken.len();
            marked += last;
            largest = largest.max(fastest(&frame));
            quickest = quickest.max(mean(&world.model.soft_bodies[0], &frame.state.bodies[0].v).norm());
            assert!(is_finite(frame.state) && report.broken_at.is_none(), "{name}: frame {}", frame.number);
        });
        println!(
            "{name}: {marked} marks, {last} in the last frame, a vertex {largest:.2} m/s, the whole {quickest:.2} m/s, lowest {:.4}",
            lowest(&end.bodies[0].written)
        );
        assert!(!at_start[0].broken.is_empty(), "{name}: the start is not marked");
        assert!(quickest < 3.0 && lowest(&end.bodies[0].written) > -0.01, "{name}: {quickest} m/s");
    }
}
