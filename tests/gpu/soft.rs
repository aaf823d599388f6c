//! What all soft bodies have: wind on a surface that particles carry, and soft pins.

use std::rc::Rc;

use kiln::algorithms::cloth::air;
use kiln::math::Vec3;
use kiln::solver::gpu::particles::{Particles, StepData};
use kiln::solver::gpu::soft::{AirTriangle, SKIN_AIR, SOFT_PINS, Share, SkinAir, SoftPinData, SoftPins};

use crate::support::World;
use crate::work::layout;
use crate::{noise, open, vector};

fn ball(rest: &str) -> World {
    World::new(&format!(
        "[scene]\nname = \"test\"\nfps = 50\nframes = \"0-1\"\n[air]\ndrag = 0\n[[soft_body]]\nname = \"ball\"\nmodel = \"tetrahedra\"\n\
         mesh = {{ ball = {{ radius = 0.3, vertices = 9 }} }}\ntetrahedra = {{ cell = 0.1 }}\ntransform = {{ translate = [4, 7, 1] }}\n\
         self_collision = false\n{rest}\n"
    ))
}

fn step(h: f64, drag: f64) -> StepData {
    let mut step = StepData::default();
    (step.h, step.drag) = (h as f32, drag as f32);
    step
}

#[test]
fn structs_are_laid_out_alike() {
    assert_eq!(layout(&SOFT_PINS, "SoftPin"), (vec![0, 16, 32], size_of::<SoftPinData>()));
    assert_eq!(layout(&SKIN_AIR, "Triangle"), (vec![0, 12], size_of::<AirTriangle>()));
    assert_eq!(layout(&SKIN_AIR, "Share"), (vec![0, 4], size_of::<Share>()));
    assert_eq!(layout(&SKIN_AIR, "Step").1, size_of::<StepData>());
}

#[test]
fn wind_is_that_of_the_processor() {
    let gpu = Rc::new(open(None));
    for pins in ["", "pins = [{ box = { min = [0, 0, -9], max = [4, 9, 9] } }]"] {
        let world = ball(pins);
        let body = &world.model.soft_bodies[0];
        let mut moving = world.start.bodies[0].clone();
        let mut next = noise(4);
        moving.v.iter_mut().for_each(|v| *v = vector(&mut next) * 2.0);
        // A triangle without area: all that carries it is in one place.
        let there = moving.x[0];
        for corner in body.mesh.triangles[0] {
            body.map.row(corner as usize).iter().for_each(|(particle, _)| moving.x[*particle as usize] = there);
        }
        let wind: Vec<Vec3> = body.mesh.triangles.iter().map(|_| vector(&mut next) * 30.0).collect();
        let (h, drag) = (0.01, 1.5);
        let mut particles = Particles::new(&gpu, &body.k, &body.pins.particles);
        particles.load(&moving);
        particles.begin_step(step(h, drag));
        SkinAir::new(&gpu, body, &particles).blow(&wind);
        let mut blown = moving.v.clone();
        particles.read_velocities(&mut blown);

        let mut expected = moving.v.clone();
        for (corners, wind) in body.mesh.triangles.iter().zip(&wind) {
            let corners = corners.map(|corner| corner as usize);
            let [a, b, c] = corners.map(|corner| body.map.vertex(corner, &moving.x));
            let area_vector = (b - a).cross(&(c - a));
            let velocity = corners.iter().map(|&corner| body.map.vertex(corner, &moving.v)).sum::<Vec3>() / 3.0;
            let k = corners.iter().map(|&corner| body.vertex_k[corner]).sum::<f64>() / 3.0;
            let area = 0.5 * area_vector.norm();
            if k > 0.0 && area > 1e-12 {
                let drag = drag * body.wind_share;
                let impulse = air::velocity_change(area_vector, wind - velocity, drag, 1.0 / (k * area), h) / (3.0 * k);
                for (particle, weight) in corners.iter().flat_map(|&corner| body.map.row(corner)) {
                    expected[*particle as usize] += impulse * (weight * body.k[*particle as usize]);
                }
            }
        }
        let changed = expected.iter().zip(&moving.v).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        let off = expected.iter().zip(&blown).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        println!("{changed} m/s, {off:.1e} off");
        assert!(changed > 0.01 && off < 2e-6, "{changed} {off}");
    }
    assert_eq!(gpu.trouble(), None);
}

#[test]
fn soft_pins_are_those_of_the_processor() {
    let gpu = Rc::new(open(None));
    let world = ball("pins = [{ box = { min = [0, 0, -9], max = [4, 9, 9] }, weight = 0.7 }]");
    let body = &world.model.soft_bodies[0];
    assert!(body.pins.soft.len() > 10);
    let moving = &world.start.bodies[0];
    let mut particles = Particles::new(&gpu, &body.k, &body.pins.particles);
    particles.load(moving);
    particles.begin_step(step(0.01, 0.0));
    let mut next = noise(6);
    let ahead: Vec<Vec3> = moving.x.iter().map(|x| x + vector(&mut next) * 0.02).collect();
    particles.write_ahead(&ahead);
    let places: Vec<[Vec3; 2]> = body
        .pins
        .soft
        .iter()
        .map(|soft| [0.1, 0.02].map(|way| moving.x[soft.pin.vertex as usize] + vector(&mut next) * way))
        .collect();
    let h = 0.01;
    SoftPins::new(&gpu, body, &particles).draw(body, &places, h);
    let mut drawn = ahead.clone();
    particles.read_ahead(&mut drawn);
    let mut expected = ahead.clone();
    for (soft, [start, end]) in body.pins.soft.iter().zip(&places) {
        let particle = soft.pin.vertex as usize;
        let (y, wh) = (expected[particle], soft.frequency * h);
        let way = y - moving.x[particle];
        expected[particle] += ((end - y) * (wh * wh) + ((end - start) - way) * (2.0 * wh)) / (1.0 + 2.0 * wh + wh * wh);
    }
    assert!(expected != ahead);
    let off = expected.iter().zip(&drawn).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
    println!("{off:.1e} m off");
    assert!(off < 1e-7, "{off}");
    assert_eq!(gpu.trouble(), None);
}
