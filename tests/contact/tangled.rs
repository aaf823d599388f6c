//! Cloth that starts tangled comes free: with another, with itself, and by its layer where only that tells which way.

use std::f64::consts::TAU;

use crate::scenes::Scene;
use crate::shapes::{Shape, lattice};
use crate::support::World;
use crate::{check, crossings, meshes};
use kiln::math::Vec3;

/// Frames within which it comes free.
const FREE_FROM: i64 = 16;

/// Weightless, so that nothing but the tangle moves it.
fn weightless(name: &'static str) -> Scene {
    Scene::new(name, 20).line("gravity = [0, 0, 0]")
}

#[track_caller]
fn comes_free(scene: &Scene) -> World {
    let world = scene.world(&[]);
    let found = check(&world, scene);
    assert!(found[0].1.total() > 10, "{}: it is not tangled: {:?}", scene.name, found[0].1);
    let last = found.iter().rev().find(|(_, crossings)| crossings.total() > 0);
    println!("{}: {} pairs cross at the start, the last in frame {:?}", scene.name, found[0].1.total(), last);
    for (frame, crossings) in found.iter().filter(|(frame, _)| *frame >= FREE_FROM) {
        assert_eq!(
            crossings.total(),
            0,
            "{} frame {frame}: {}",
            scene.name,
            crossings.describe(&scene.mesh_names(&world))
        );
    }
    world
}

/// A sheet in the xz-plane with a dent in its middle.
fn dented(n: u32, height: f64, depth: f64, aside: f64) -> Shape {
    let part = |k: u32| 0.5 * (f64::from(k) / f64::from(n - 1) - 0.5);
    lattice(n, n, |i, j| {
        let [x, z] = [part(i), part(j)];
        [x + aside, height - depth * (-(x * x + z * z) / 0.0016).exp(), z + aside]
    })
}

#[test]
fn a_dent_through_another_sheet() {
    let scene = weightless("dent").cloth("upper", &dented(21, 0.02, 0.05, 0.0), [0.0; 3]).cloth(
        "lower",
        &dented(21, 0.0, 0.0, 0.003),
        [0.0; 3],
    );
    comes_free(&scene);
}

/// A sheet folded over in a round turn, its upper half dented through its lower one.
#[test]
fn a_fold_dented_through_itself() {
    let (turn, half) = (0.015, 0.3);
    let bend = 0.5 * std::f64::consts::PI * turn;
    let sheet = lattice(41, 21, |i, j| {
        let [x, z] = [0.6 * f64::from(i) / 40.0, 0.3 * (f64::from(j) / 20.0 - 0.5)];
        let angle = (x - half + bend) / turn;
        let [along, mut height] = if x < half - bend {
            [x, 0.0]
        } else if x > half + bend {
            [2.0 * half - x, 2.0 * turn]
        } else {
            [half - bend + turn * angle.sin(), turn * (1.0 - angle.cos())]
        };
        if x > half {
            height -= 0.045 * (-((along - 0.12).powi(2) + z * z) / 0.0016).exp();
        }
        [along, height, z]
    });
    comes_free(&weightless("fold").cloth("sheet", &sheet, [0.0; 3]));
}

/// An upright tube with these radii along x and z; its faces look outwards.
fn tube(radius: [f64; 2], turned: f64) -> Shape {
    const SEGMENTS: u32 = 48;
    const ROWS: u32 = 13;
    let mut shape = Shape::default();
    for row in 0..ROWS {
        for segment in 0..SEGMENTS {
            let angle = TAU * f64::from(segment) / f64::from(SEGMENTS) + turned;
            shape.positions.push([radius[0] * angle.cos(), 0.025 * f64::from(row), radius[1] * angle.sin()]);
        }
    }
    for row in 0..ROWS - 1 {
        for segment in 0..SEGMENTS {
            let at = |row: u32, segment: u32| row * SEGMENTS + segment % SEGMENTS;
            let [a, b, c, d] = [at(row, segment), at(row, segment + 1), at(row + 1, segment), at(row + 1, segment + 1)];
            shape.triangles.extend([[a, c, d], [a, d, b]]);
        }
    }
    shape
}

/// A round tube and an oval one cross along four lines: which is the outer one, only the layer tells.
#[test]
fn layers_tell_which_tube_is_outside() {
    for outer in ["round", "oval"] {
        let layer = |name: &str| format!("layer = {}", i32::from(name == outer));
        let scene = weightless("tubes")
            .cloth("round", &tube([0.2, 0.2], 0.0), [0.0; 3])
            .line(&layer("round"))
            .cloth("oval", &tube([0.19, 0.21], 0.03), [0.0; 3])
            .line(&layer("oval"));
        let world = comes_free(&scene);
        // Mean distances from the axis: the outer one is farther out.
        let mut means = [0.0; 2];
        world.simulate(|frame| {
            let radius = |p: &Vec3| p.x.hypot(p.z);
            means = [0, 1].map(|cloth| {
                let positions = &frame.vertices[cloth].positions;
                positions.iter().map(radius).sum::<f64>() / positions.len() as f64
            });
        });
        assert_eq!(means[0] > means[1], outer == "round", "{outer} outside: {means:?}");
    }
}

/// What crosses at the start is in the report of the first frame, before anything moves.
#[test]
fn the_start_is_surveyed() {
    use kiln::bake::frame_loop::FrameLoop;
    let scene = weightless("surveyed").cloth("upper", &dented(21, 0.02, 0.05, 0.0), [0.0; 3]).cloth(
        "lower",
        &dented(21, 0.0, 0.0, 0.003),
        [0.0; 3],
    );
    let world = scene.world(&[]);
    let start: Vec<&[Vec3]> = world.start.bodies.iter().map(|cloth| cloth.written.as_slice()).collect();
    let seen = crossings::find(&meshes(&world, &scene, 0, &start));
    let mut frames = FrameLoop::new(&world.scene, &world.model, world.start.clone());
    let record = frames.simulate(0).unwrap();
    assert!(seen.total() > 0 && record.objects.iter().all(|object| object.crossings > 0), "{record:?}");
    assert!(record.objects.iter().all(|object| object.degraded[0].promise.name() == "crossing"), "{record:?}");
    let tangled = frames.tangled_starts();
    assert_eq!(tangled.len(), 2);
    assert!(tangled.iter().all(|start| start.moved == 0.0 && start.left == start.crossings && start.crossings > 0));
    assert!(tangled.iter().all(|start| start.vertices.len() as u64 == start.count), "{tangled:?}");
}
