//! Soft bodies whose shapes are matched: they keep their volume, come back from anything, and lie still.

use crate::support::{Frame, World, full};
use kiln::math::Vec3;
use kiln::model::{Promise, State};
use kiln::solver::cpu::CpuBackend;
use kiln::solver::{Backend, Drive, advance_frame};

const FLOOR: &str = "[[collider]]\nname = \"floor\"\nshape = \"plane\"\npoint = [0, 0, 0]\nnormal = [0, 1, 0]\n";
const BALL: &str = "mesh = { sphere = { radius = 0.3, rings = 19, segments = 20 } }";

fn scene(frames: u32, of_scene: &str, objects: &str) -> World {
    World::new(&format!(
        "[scene]\nname = \"test\"\nfps = 25\nframes = \"0-{frames}\"\n{of_scene}\n[air]\ndrag = 0\n{objects}"
    ))
}

fn body(name: &str, rest: &str, matching: &str) -> String {
    format!("[[soft_body]]\nname = \"{name}\"\nmodel = \"shape_matching\"\n{rest}\nshape_matching = {{ {matching} }}\n")
}

/// Momentum and angular momentum of everything.
fn momenta(world: &World, state: &State) -> [Vec3; 2] {
    let mut sums = [Vec3::zeros(); 2];
    for (skin, moving) in world.model.skins().zip(&state.bodies) {
        for ((x, v), m) in moving.x.iter().zip(&moving.v).zip(&skin.mass) {
            sums[0] += v * *m;
            sums[1] += x.cross(v) * *m;
        }
    }
    sums
}

/// The largest relative change of an edge of the first body.
fn strain(world: &World, x: &[Vec3]) -> f64 {
    let body = &world.model.soft_bodies[0];
    let changes = body.topology.edges.iter().zip(&body.mesh_edge_lengths);
    let change = |(&[a, b], rest): (&[u32; 2], &f64)| ((x[a as usize] - x[b as usize]).norm() / rest - 1.0).abs();
    changes.map(change).fold(0.0, f64::max)
}

/// The fastest vertex as anyone sees it from frame to frame.
fn seen_speed(frame: &Frame, before: &mut Vec<Vec3>) -> f64 {
    let now: Vec<Vec3> = frame.vertices.iter().flat_map(|body| body.positions.clone()).collect();
    let speed = now.iter().zip(&*before).map(|(now, before)| 25.0 * (now - before).norm()).fold(0.0, f64::max);
    *before = now;
    speed
}

#[test]
fn a_body_at_rest_stays_at_rest_and_a_falling_one_keeps_its_shape() {
    let world = scene(50, "gravity = [0, 0, 0]", &body("ball", BALL, ""));
    let end = world.simulate(|_| ());
    let rest = &world.model.soft_bodies[0].rest;
    let moved = end.bodies[0].x.iter().zip(rest).map(|(x, rest)| (x - rest).norm()).fold(0.0, f64::max);
    assert!(moved < 1e-12, "{moved}");

    let world = scene(25, "", &body("ball", BALL, ""));
    let end = world.simulate(|_| ());
    let fallen = Vec3::new(0.0, -0.5 * 9.81, 0.0);
    let rest = &world.model.soft_bodies[0].rest;
    let off = end.bodies[0].x.iter().zip(rest).map(|(x, rest)| (x - rest - fallen).norm()).fold(0.0, f64::max);
    assert!(off < 1e-11, "{off}");
}

/// Bent and spinning, with volume that comes back locally: the correction itself would not keep momentum.
#[test]
fn a_free_body_keeps_its_momentum() {
    let mesh = "mesh = { box = { size = [0.6, 0.2, 0.3], vertices = [13, 5, 7] } }";
    let mut world = scene(25, "gravity = [0, 0, 0]", &body("bar", mesh, "alpha = 0, damping = 20"));
    for (x, v) in world.start.bodies[0].x.clone().iter().zip(&mut world.start.bodies[0].v) {
        *v = Vec3::new(1.0, 3.0, -2.0).cross(x) + Vec3::new(0.5, 4.0 * x.x * x.x, 0.1);
    }
    let before = momenta(&world, &world.start);
    let end = world.simulate(|frame| assert!(frame.quality[0].volume_error.abs() < 0.005));
    let after = momenta(&world, &end);
    let [linear, angular] = [0, 1].map(|n| (after[n] - before[n]).norm() / before[n].norm());
    println!("momentum {linear:.1e}, angular momentum {angular:.1e}");
    assert!(linear < 1e-12 && angular < 1e-12, "{linear} {angular}");
}

#[test]
fn flattened_inverted_and_collapsed_bodies_recover_within_60_steps() {
    let bear = format!("mesh = \"{}/meshes/bear.obj\"", env!("CARGO_MANIFEST_DIR"));
    let meshes = [BALL, "mesh = { box = { size = [0.6, 0.4, 0.4], vertices = [13, 9, 9] } }", &bear];
    for mesh in meshes.into_iter().take(if full() { 3 } else { 2 }) {
        for scale in ["[1, 1, 0]", "[-1, 1, 1]", "[0, 0, 0]"] {
            let rest = format!("{mesh}\nstart_scale = {scale}\nself_collision = false");
            // One step a frame.
            let world = World::new(&format!(
                "[scene]\nname = \"test\"\nfps = 200\nframes = \"0-60\"\nsubsteps = 1\ngravity = [0, 0, 0]\n[air]\ndrag = 0\n{}",
                body("body", &rest, "omega = 3")
            ));
            assert!(strain(&world, &world.start.bodies[0].x) > 0.9 || scale.starts_with("[-"));
            let mut within = None;
            world.simulate(|frame| {
                let quality = frame.quality[0];
                let is_told = frame.report.bodies[0].broken.iter().any(|broken| broken.promise == Promise::Volume);
                assert_eq!(is_told, quality.volume_error.abs() > 0.005, "frame {}", frame.number);
                let is_back = !is_told && strain(&world, &frame.state.bodies[0].x) < 0.15;
                within = if is_back { within.or(Some(frame.number)) } else { None };
            });
            println!("{scale} {}: {within:?} steps", &mesh[..mesh.len().min(40)]);
            assert!(within.is_some(), "{mesh} {scale}");
        }
    }
}

/// One step a frame, so that a frame's end tells what its step was about.
fn flattened(rest: &str, matching: &str) -> World {
    let rest = format!("{rest}\nself_collision = false");
    World::new(&format!(
        "[scene]\nname = \"test\"\nfps = 200\nframes = \"0-60\"\nsubsteps = 1\ngravity = [0, 0, 0]\n[air]\ndrag = 0\n{}",
        body("body", &rest, matching)
    ))
}

#[test]
fn a_plastic_body_that_is_led_back_does_not_take_its_damage_for_its_shape() {
    let world = flattened(
        "mesh = { box = { size = [0.6, 0.4, 0.4], vertices = [13, 9, 9] } }\nstart_scale = [1, 0.1, 1]\n\
         plasticity = { yield = 0.01, creep = 100 }",
        "omega = 3",
    );
    let (mut before, mut lost_frames) = (1.0, 0);
    let end = world.simulate(|frame| {
        let error = frame.quality[0].volume_error.abs();
        if before > 0.35 && error > 0.35 {
            lost_frames += 1;
            assert!(
                frame.state.bodies[0].flowed.is_empty(),
                "frame {}: shapes flow that were not fitted",
                frame.number
            );
        }
        before = error;
    });
    assert!(lost_frames > 1, "{lost_frames}");
    let height = |x: &[Vec3]| x.iter().map(|x| x.y).fold(f64::NEG_INFINITY, f64::max);
    let [now, at_rest] = [&end.bodies[0].x, &world.model.soft_bodies[0].rest].map(|x| height(x));
    assert!(now > 0.9 * at_rest, "{now} of {at_rest} m");
}

#[test]
fn pins_lead_a_body_that_is_led_back() {
    let world = flattened(
        "mesh = { box = { size = [0.6, 0.4, 0.4], vertices = [13, 9, 9] } }\nstart_scale = [1, 0.1, 1]\n\
         pins = [{ box = { min = [-1, -1, -1], max = [-0.29, 1, 1] }, follow = { translate = { keys = [[0, [0, 0, 0]], [60, [0, 0, 0.3]]] } } }]",
        "omega = 3",
    );
    let (pins, mut lost_frames) = (&world.model.soft_bodies[0].pins.particles, 0);
    assert!(!pins.is_empty());
    let mut before = 1.0;
    world.simulate(|frame| {
        let error = frame.quality[0].volume_error.abs();
        // In the first frame pins come from where the scale has put them.
        if frame.number > 1 {
            lost_frames += u32::from(before > 0.35);
            for pin in pins {
                let v = frame.state.bodies[0].v[pin.particle as usize];
                assert!((v - Vec3::new(0.0, 0.0, 1.0)).norm() < 1e-9, "frame {}: {v:?}", frame.number);
            }
        }
        before = error;
    });
    assert!(lost_frames > 0);
    assert!(before < 0.005, "{before}");
}

#[test]
fn bodies_lie_still_three_seconds_after_they_were_put_down() {
    let box_of = |place: f64| {
        format!(
            "mesh = {{ box = {{ size = [0.4, 0.3, 0.4], vertices = [9, 7, 9] }} }}\ntransform = {{ translate = [0, {place}, 0] }}"
        )
    };
    let ball = format!("{BALL}\ntransform = {{ translate = [0, 0.305, 0] }}");
    let stiff = "omega = 4, stiffness = 1";
    let stack = |matching: &str| body("lower", &box_of(0.153), matching) + &body("upper", &box_of(0.458), matching);
    let scenes = [
        ("ball", body("ball", &ball, stiff)),
        ("box", body("box", &box_of(0.153), stiff)),
        ("stack", stack(stiff)),
        ("ball with default settings", body("ball", &ball, "")),
        ("box with default settings", body("box", &box_of(0.153), "")),
        ("stack with default settings", stack("")),
    ];
    for (name, bodies) in scenes {
        let world = scene(75, "", &format!("{bodies}{FLOOR}"));
        let (mut before, mut speed) = (Vec::new(), f64::INFINITY);
        world.simulate(|frame| speed = seen_speed(&frame, &mut before));
        println!("{name}: {:.4} mm/s after three seconds", 1e3 * speed);
        assert!(speed < 1e-3, "{name}: {speed} m/s");
    }
}

/// How much volume a ball under a plate loses at most, and by how much it is flatter.
fn pressed(matching: &str) -> f64 {
    let ball = format!("{BALL}\ntransform = {{ translate = [0, 0.305, 0] }}");
    let plate = "[[collider]]\nname = \"plate\"\nshape = \"box\"\ncenter = [0, 0.75, 0]\nsize = [2, 0.2, 2]\n\
                 transform = { translate = { keys = [[2, [0, 0, 0]], [20, [0, -0.37, 0]]] } }\n";
    let world = scene(22, "", &format!("{}{FLOOR}{plate}", body("ball", &ball, matching)));
    let (mut loss, mut touched) = (0.0_f64, 0);
    world.simulate(|frame| {
        loss = loss.max(-frame.quality[0].volume_error);
        touched = touched.max(frame.report.bodies[0].contacts);
        assert!(frame.quality[0].max_penetration < 1e-3, "frame {}", frame.number);
        assert!(frame.vertices[0].positions.iter().all(|x| x.norm() < 2.0), "{matching}: a peak");
    });
    assert!(touched > 50, "{touched}");
    loss
}

#[test]
fn a_pressed_ball_keeps_its_volume_if_it_shall() {
    for matching in
        ["omega = 4, stiffness = 1, alpha = 1", "omega = 4, stiffness = 1, alpha = 0.1", "alpha = 0.1, beta = 0"]
    {
        let loss = pressed(matching);
        println!("{matching}: {:.3} %", 100.0 * loss);
        assert!(loss <= 0.005, "{matching}: {loss}");
    }
    let loss = pressed("omega = 4, stiffness = 1, keep_volume = false");
    println!("not kept: {:.1} %", 100.0 * loss);
    assert!(loss > 0.1, "{loss}");
}

/// What is thin takes more volume the more it has: legs of a bear that falls were blown out to peaks of half its height.
#[test]
fn volume_comes_back_without_peaks() {
    let mesh = format!(
        "mesh = \"{}/meshes/bear.obj\"\ntransform = {{ translate = [0.31, 0.4, 0.05], rotate = [11, 22, -35] }}\n\
         self_collision = false",
        env!("CARGO_MANIFEST_DIR")
    );
    let bear = body("bear", &mesh, "omega = 3, stiffness = 0.9, alpha = 0.1, beta = 0.1");
    let world = scene(9, "", &format!("{bear}{FLOOR}"));
    let mut most = 0.0_f64;
    world.simulate(|frame| {
        assert!(frame.quality[0].volume_error.abs() < 0.005, "frame {}", frame.number);
        most = most.max(strain(&world, &frame.vertices[0].positions));
    });
    println!("longest edge {:.1} times its length", 1.0 + most);
    assert!(most < 5.0, "{most}");
}

#[test]
fn what_is_pressed_flat_stays_flatter_if_it_is_plastic() {
    let heights = ["", "plasticity = { yield = 0.02, creep = 20 }"].map(|plastic| {
        let ball = format!("{BALL}\ntransform = {{ translate = [0, 0.305, 0] }}\n{plastic}");
        let plate = "[[collider]]\nname = \"plate\"\nshape = \"box\"\ncenter = [0, 0.75, 0]\nsize = [2, 0.2, 2]\n\
                     transform = { translate = { keys = [[2, [0, 0, 0]], [12, [0, -0.3, 0]], [24, [0, -0.3, 0]], [30, [0, 1, 0]]] } }\n";
        let world = scene(75, "", &format!("{}{FLOOR}{plate}", body("ball", &ball, "omega = 4, stiffness = 1")));
        // The mean of the last second: an elastic ball swings after it was let go.
        let mut height = 0.0;
        world.simulate(|frame| {
            assert_eq!(frame.state.bodies[0].flowed.is_empty(), plastic.is_empty(), "what flows is remembered");
            let y = frame.vertices[0].positions.iter().map(|x| x.y);
            if frame.number > 50 {
                height += (y.clone().fold(0.0, f64::max) - y.fold(f64::INFINITY, f64::min)) / 25.0;
            }
        });
        height
    });
    println!("elastic {:.4} m, plastic {:.4} m high", heights[0], heights[1]);
    assert!(heights[0] > 0.5 && heights[1] < heights[0] - 0.05, "{heights:?}");
}

#[test]
fn pins_hold_and_turn_a_bar_that_keeps_its_volume() {
    let bar = "mesh = { box = { size = [0.3, 1.2, 0.3], vertices = [7, 25, 7] } }\nself_collision = false\n\
               pins = [{ box = { min = [-1, -1, -1], max = [1, -0.5, 1] } },\n\
               { box = { min = [-1, 0.5, -1], max = [1, 1, 1] }, follow = { rotate = { keys = [[0, [0, 0, 0]], [20, [0, 120, 0]]] } } }]";
    let losses = ["", "keep_volume = false"].map(|kept| {
        let world = scene(20, "gravity = [0, 0, 0]", &body("bar", bar, kept));
        let mut loss = 0.0;
        let end = world.simulate(|frame| loss = -frame.quality[0].volume_error);
        let model = &world.model.soft_bodies[0];
        for pin in &model.pins.particles {
            let (rest, x) = (model.rest[pin.particle as usize], end.bodies[0].x[pin.particle as usize]);
            let turned = nalgebra::Rotation3::from_axis_angle(&Vec3::y_axis(), f64::to_radians(120.0)) * rest;
            assert!((x - if rest.y < 0.0 { rest } else { turned }).norm() < 1e-9, "{rest:?} {x:?}");
        }
        loss
    });
    println!("loss {:.4} %, without the constraint {:.2} %", 100.0 * losses[0], 100.0 * losses[1]);
    assert!(losses[0].abs() < 0.005 && losses[1] > 0.02, "{losses:?}");
}

#[test]
fn states_are_bit_equal_for_1_2_3_8_threads() {
    // Enough particles for loops that are shared out.
    let cube = "mesh = { box = { size = [1, 1, 1], vertices = [54, 54, 54] } }\ntransform = { translate = [0, 0.51, 0], rotate = [3, 0, 5] }\n\
                self_collision = false\nplasticity = { yield = 0.001 }";
    let world = scene(3, "substeps = 4", &format!("{}{FLOOR}", body("cube", cube, "omega = 2")));
    assert!(world.model.soft_bodies[0].rest.len() > 16_384);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| world.simulate(|_| ()))
    };
    let one = run(1);
    assert!(one.bodies[0].v.iter().any(|v| v.norm() > 0.1));
    for threads in [2, 3, 8] {
        assert!(run(threads) == one, "{threads} threads");
    }
}

/// What a checkpoint holds is all there is: a backend that begins in the middle goes on with the same bits.
#[test]
fn a_bake_that_goes_on_from_a_state_has_the_same_bits() {
    let ball = format!("{BALL}\ntransform = {{ translate = [0, 0.31, 0] }}\nplasticity = {{ yield = 0.01 }}");
    let world = scene(8, "", &format!("{}{FLOOR}", body("ball", &ball, "")));
    let advance = |backend: &mut CpuBackend, state: &mut State, frame: u32| {
        let seconds = f64::from(frame) / 25.0;
        let moments = [frame, frame + 1].map(|frame| kiln::model::Moment::at(f64::from(frame)));
        let drive = Drive { moments, seconds, frame_seconds: 1.0 / 25.0, substeps: 1 };
        advance_frame(backend, &world.scene, &world.model, state, drive);
    };
    let (mut whole, mut parts) = (world.start.clone(), world.start.clone());
    let mut backend = CpuBackend::new(&world.scene, &world.model);
    for frame in 0..8 {
        advance(&mut backend, &mut whole, frame);
        let mut fresh = CpuBackend::new(&world.scene, &world.model);
        fresh.drive(Drive {
            moments: [kiln::model::Moment::at(0.0); 2],
            seconds: 0.0,
            frame_seconds: 0.04,
            substeps: 1,
        });
        advance(&mut fresh, &mut parts, frame);
        assert!(parts == whole, "frame {frame}");
    }
}
