//! Springs along edges: their force, their damping, what stays of a deformation, and the modulus of a block made of them.

use kiln::algorithms::volume::edge_spring::{EdgeSpring, flow, growth, stiffness};
use kiln::algorithms::volume::tet_volume;
use kiln::math::Vec3;
use kiln::model::SoftBodyModel;
use kiln::solver::cpu::independent::{sweep, sweep_sets};

use crate::support::World;
use crate::{Random, assert_close, assert_near};

const H: f64 = 1.0 / 240.0;

/// Two particles and what ties them.
struct Pair {
    x: [Vec3; 2],
    v: [Vec3; 2],
    k: [f64; 2],
    length: f64,
    /// Stiffness and time constant of damping.
    spring: [f64; 2],
}

impl Pair {
    fn step(&mut self, forces: [Vec3; 2]) {
        self.step_by(H, forces);
    }

    fn step_by(&mut self, h: f64, forces: [Vec3; 2]) {
        let spring = EdgeSpring::new(self.spring[0], self.spring[1], h);
        let [v_a, v_b] = &mut self.v;
        spring.damp(v_a, v_b, self.x[1] - self.x[0], self.k);
        let [mut a, mut b] = [0, 1].map(|i| self.x[i] + (self.v[i] + forces[i] * (self.k[i] * h)) * h);
        spring.correct_position(&mut a, &mut b, self.length, self.k);
        self.v = [(a - self.x[0]) / h, (b - self.x[1]) / h];
        self.x = [a, b];
    }

    fn momentum(&self) -> Vec3 {
        (0..2).filter(|&i| self.k[i] > 0.0).map(|i| self.v[i] / self.k[i]).sum()
    }

    fn energy(&self) -> f64 {
        (0..2).map(|i| 0.5 * self.v[i].norm_squared() / self.k[i]).sum()
    }
}

#[test]
fn a_load_stretches_a_spring_by_what_its_stiffness_says() {
    for stiffness in [10.0_f64, 1e3, 1e6] {
        let spring = [stiffness, 2.0 / (0.5 * stiffness).sqrt()]; // so that it does not swing for long
        let mut pair =
            Pair { x: [Vec3::zeros(), -Vec3::y() * 0.3], v: [Vec3::zeros(); 2], k: [0.0, 0.5], length: 0.3, spring };
        for _ in 0..5000 {
            pair.step([Vec3::zeros(), Vec3::new(0.0, -3.0, 0.0)]);
        }
        assert_eq!(pair.x[0], Vec3::zeros(), "what is led stays");
        assert_near(pair.x[1], -Vec3::y() * (0.3 + 3.0 / stiffness), 1e-9);
        assert!(pair.v[1].norm() < 1e-9);
    }
}

#[test]
fn the_impulse_is_that_of_the_force_at_the_end_of_the_step() {
    let mut random = Random(90);
    for _ in 0..50 {
        let (stiffness, time, length) =
            (10_f64.powf(random.within(0.0, 6.0)), random.within(0.0, 0.1), random.within(0.1, 1.0));
        let k = [random.within(0.1, 10.0), random.within(0.1, 10.0)];
        let [a, b] = [random.vector(), random.vector()];
        let [mut end_a, mut end_b] = [a, b];
        let spring = EdgeSpring::new(stiffness, time, H);
        spring.correct_position(&mut end_a, &mut end_b, length, k);
        // Along the edge nothing but the length has changed, so what pulls can be told from where the ends are now.
        let along = (b - a).normalize();
        let force = stiffness * ((end_b - end_a).dot(&along) - length);
        for (moved, k, sign) in [(end_a - a, k[0], 1.0), (end_b - b, k[1], -1.0)] {
            assert_near(moved, along * (sign * force * k * H * H), 1e-11 * (1.0 + force.abs() * H * H));
        }
        // Damping the same with the rate that is left.
        let v = [random.vector(), random.vector()];
        let [mut end_a, mut end_b] = v;
        spring.damp(&mut end_a, &mut end_b, b - a, k);
        let force = stiffness * time * (end_b - end_a).dot(&along);
        for (change, k, sign) in [(end_a - v[0], k[0], 1.0), (end_b - v[1], k[1], -1.0)] {
            assert_near(change, along * (sign * force * k * H), 1e-9 * (1.0 + force.abs() * H));
        }
    }
}

#[test]
fn momentum_is_kept() {
    let mut random = Random(91);
    for most in [1.0, 1e3] {
        let (k, spring) = ([random.within(0.1, 1.0), most], [1e5, 0.02]);
        let mut pair = Pair {
            x: [random.vector(), random.vector()],
            v: [random.vector(), random.vector()],
            k,
            length: 0.4,
            spring,
        };
        let before = pair.momentum();
        for _ in 0..200 {
            pair.step([Vec3::zeros(); 2]);
        }
        // Velocities are differences of places over a step, whose rounding this is.
        assert_near(pair.momentum(), before, 1e-11);
    }
}

#[test]
fn damping_acts_along_the_edge_alone() {
    let along = Vec3::new(2.0, 1.0, -2.0) / 3.0;
    let across = Vec3::new(1.0, 0.0, 1.0) / 2.0_f64.sqrt();
    let after = |velocity: Vec3| {
        let [mut a, mut b] = [Vec3::zeros(), velocity];
        EdgeSpring::new(1e3, 1.0, H).damp(&mut a, &mut b, along * 0.5, [1.0, 1.0]);
        b - a
    };
    assert_near(after(across), across, 1e-15);
    assert!(after(along).norm() < 0.2, "{:?}", after(along));
    assert_near(after(along + across), after(along) + across, 1e-15);

    // A dumb-bell that turns once in some three seconds: after a turn it has lost no more with damping than the steps take without.
    let left = |damping: f64| {
        let turn = along.cross(&Vec3::y()).normalize() * 0.5;
        let (x, v) = ([-along * 0.25, along * 0.25], [-turn, turn]);
        let mut pair = Pair { x, v, k: [1.0; 2], length: 0.5, spring: [1e6, damping] };
        let before = pair.energy();
        (0..16 * 754).for_each(|_| pair.step_by(H / 16.0, [Vec3::zeros(); 2]));
        pair.energy() / before
    };
    let [free, damped] = [left(0.0), left(0.02)];
    println!("of the energy of turning is left: {free} without, {damped} with damping");
    assert!(damped > free - 1e-3 && damped > 0.99, "{free} {damped}");
}

#[test]
fn damping_takes_away_what_swings_along_the_edge() {
    let left = |damping: f64| {
        let (x, v) = ([Vec3::zeros(), Vec3::x()], [-Vec3::x(), Vec3::x()]);
        let mut pair = Pair { x, v, k: [1.0; 2], length: 1.0, spring: [10.0, damping] };
        let mut largest = 0.0_f64;
        for step in 0..480 {
            pair.step([Vec3::zeros(); 2]);
            if step >= 400 {
                largest = largest.max(pair.energy());
            }
        }
        largest
    };
    // Time constants of the swing's envelope: 2 / (τ ω²), ω² = 20.
    let [free, little, much] = [left(0.0), left(0.05), left(0.3)];
    println!("energy after two seconds: {free} {little} {much}");
    assert!(free > 0.4 && little < 0.35 * free && much < 1e-3 * free, "{free} {little} {much}");
}

#[test]
fn no_stiffness_is_too_large_for_a_step() {
    let mut random = Random(92);
    for (stiffness, damping) in [(1e12, 0.0), (1e12, 1.0), (1e12, 1e-9), (1e-9, 1e3)] {
        // At its length, because what is stretched is energy too, and of such a spring more than any speed has.
        let a = random.vector();
        let (x, v) = ([a, a + random.vector().normalize() * 0.4], [random.vector(), random.vector()]);
        let mut pair = Pair { x, v, k: [1.0, 20.0], length: 0.4, spring: [stiffness, damping] };
        let most = pair.energy();
        for _ in 0..1000 {
            pair.step([Vec3::zeros(); 2]);
            assert!(pair.energy() <= most * (1.0 + 1e-9), "{stiffness}, {damping}: {} of {most}", pair.energy());
        }
        let length = (pair.x[1] - pair.x[0]).norm();
        assert!(stiffness < 1.0 || (length - 0.4).abs() < 1e-3, "{stiffness}, {damping}: {length}");
    }
}

#[test]
fn ends_at_one_place_wait_for_a_direction() {
    let spring = EdgeSpring::new(1e6, 0.1, H);
    let [mut a, mut b] = [Vec3::repeat(0.5); 2];
    spring.correct_position(&mut a, &mut b, 0.3, [1.0, 1.0]);
    assert_eq!([a, b], [Vec3::repeat(0.5); 2]);
    spring.damp(&mut a, &mut b, Vec3::zeros(), [1.0, 1.0]);
    assert_eq!([a, b], [Vec3::repeat(0.5); 2]);
}

#[test]
fn a_spring_yields_creeps_and_is_bounded() {
    let rest = |length: f64| flow(1.0, length, 1.0, 0.1, 2.0, H);
    // What is within the yield is taken back, all of it.
    for length in [0.9, 0.95, 1.0, 1.05, 1.1] {
        assert_eq!(rest(length), 1.0, "{length}");
    }
    let stays = 1.0 - (-2.0 * H).exp();
    assert_close(rest(1.5), 1.0 + stays * 0.4, 1e-15);
    assert_close(rest(0.5), 1.0 - stays * 0.4, 1e-15);
    // It ends where what is left is within the yield.
    let held = |length: f64| (0..5000).fold(1.0, |rest, _| flow(rest, length, 1.0, 0.1, 2.0, H));
    assert_close(held(1.5), 1.5 / 1.1, 1e-9);
    assert_close(held(0.5), 0.5 / 0.9, 1e-9);
    // Neither a point nor endless.
    assert_close(held(1e6), 5.0, 0.0);
    assert_close(held(0.0), 0.2, 0.0);
    assert_close(flow(2.0, 1e9, 2.0, 0.0, 1e9, H), 10.0, 0.0);
    // One whole step or two halves: two thirds stay after a second at a rate of one.
    let halves = flow(flow(1.0, 2.0, 1.0, 0.0, 1.0, 0.5), 2.0, 1.0, 0.0, 1.0, 0.5);
    assert_close(halves, flow(1.0, 2.0, 1.0, 0.0, 1.0, 1.0), 1e-15);
    assert_close(halves, 1.632, 1e-3);
}

#[test]
fn pressure_grows_a_body_by_what_its_modulus_lets_it() {
    assert_eq!((growth(0.0, 1e4), growth(-5.0, 1e4), growth(0.0, 0.0)), (1.0, 1.0, 1.0));
    // A cube of the lattice has three edges and three diagonals of its own, whose energies sum to three moduli, less what the lattice is
    // stiffer than its springs; so all lengths are twice at a pressure of two such moduli.
    assert_close(growth(2.0 / 1.3 * 3e4, 3e4), 8.0, 1e-12);
    // A little pressure: three times the change of lengths.
    assert_close(growth(1.0, 1e4), 1.0 + 3.0 * 1e-4 * 0.65, 2e-8);
    assert_eq!(growth(1.0, 0.0), f64::INFINITY);
}

#[test]
fn a_block_of_twice_the_edge_has_springs_of_twice_the_stiffness() {
    // Volumes go with the cube of the edge, so that blocks of the same material do not depend on the size of their cells.
    assert_close(stiffness(1e4, 8.0, 2.0) / stiffness(1e4, 1.0, 1.0), 2.0, 1e-12);
    assert_close(stiffness(3e4, 1.0, 1.0) / stiffness(1e4, 1.0, 1.0), 3.0, 1e-12);
}

/// Steps and damping are those that a scene has if it says nothing. Stretch a bar along x by a pull on both ends and let it come to rest; its modulus as seen in its middle.
fn modulus(cell: f64, typed: f64) -> f64 {
    let world = World::new(&format!(
        r#"
        [scene]
        name = "bar"
        frames = "0-1"
        [[soft_body]]
        name = "bar"
        mesh = {{ box = {{ size = [1.2, 0.4, 0.4], vertices = [7, 3, 3] }} }}
        stiffness = {typed}
        tetrahedra = {{ cell = {cell} }}
        "#
    ));
    let body: &SoftBodyModel = &world.model.soft_bodies[0];
    let inside = body.tetrahedra().unwrap();
    assert!(inside.tets.cells.len() >= 24, "{} cells", inside.tets.cells.len());
    let (area, pull) = (0.16, 0.03 * typed);
    let low = body.rest.iter().map(|x| x.x).fold(f64::INFINITY, f64::min);
    // Each end is pulled where its material is, which masses tell: a node of an edge has half of one of a face.
    let is_end = |side: f64| move |x: &Vec3| (side * x.x + low).abs() < 0.3 * cell;
    let mut forces = vec![Vec3::zeros(); body.rest.len()];
    for side in [-1.0, 1.0] {
        let here: Vec<usize> = (0..forces.len()).filter(|&i| is_end(side)(&body.rest[i])).collect();
        let mass: f64 = here.iter().map(|&i| body.mass[i]).sum();
        here.iter().for_each(|&i| forces[i].x = side * pull * area * body.mass[i] / mass);
    }
    let h = H * (1e4 / typed).sqrt().min(1.0); // as the rule for steps has it
    let springs: Vec<EdgeSpring> =
        inside.stiffnesses.iter().map(|s| EdgeSpring::new(*s, body.flesh.damping, h)).collect();
    let (mut x, mut v) = (body.rest.clone(), vec![Vec3::zeros(); body.rest.len()]);
    for _ in 0..2500 {
        sweep(&inside.edges, &mut v, |row, [a, b], at_a, at_b| {
            let [a, b] = [a as usize, b as usize];
            springs[row].damp(at_a, at_b, x[b] - x[a], [body.k[a], body.k[b]]);
            0.0
        });
        let mut ahead: Vec<Vec3> = (0..x.len()).map(|i| x[i] + (v[i] + forces[i] * (body.k[i] * h)) * h).collect();
        sweep(&inside.edges, &mut ahead, |row, ends, at_a, at_b| {
            springs[row].correct_position(at_a, at_b, inside.lengths[row], ends.map(|end| body.k[end as usize]));
            0.0
        });
        for _ in 0..10 {
            sweep_sets(&inside.sets, &mut ahead, |set, scratch| {
                let (values, gradient) = (&mut scratch.values, &mut scratch.gradient);
                tet_volume::correct_position(&inside.part(set), 1.0, values, inside.set_k.row(set), gradient)
            });
        }
        // Nothing holds the bar, so what the sweeps turn it by has to be taken away.
        v = ahead.iter().zip(&x).map(|(ahead, x)| (ahead - x) * (0.98 / h)).collect();
        x = ahead;
    }
    let fastest = v.iter().map(|v| v.norm()).fold(0.0, f64::max);
    assert!(fastest < 1e-4, "it still moves at {fastest} m/s");
    // Slope of the displacement over the place in the middle half, where the ends are forgotten.
    let middle: Vec<usize> = (0..x.len()).filter(|&i| body.rest[i].x.abs() < 0.31).collect();
    let squares: f64 = middle.iter().map(|&i| body.rest[i].x.powi(2)).sum();
    let strain = middle.iter().map(|&i| body.rest[i].x * (x[i].x - body.rest[i].x)).sum::<f64>() / squares;
    // Thinner by half of what it is longer: it keeps its volume.
    let across: f64 = middle.iter().map(|&i| body.rest[i].y.powi(2)).sum();
    let thinner = middle.iter().map(|&i| body.rest[i].y * (x[i].y - body.rest[i].y)).sum::<f64>() / across;
    println!(
        "cells of {cell} m: strain {strain:.5}, across {thinner:.5}, modulus {:.4} of {typed}",
        pull / strain / typed
    );
    assert!((thinner / strain + 0.5).abs() < 0.05, "across {thinner}, along {strain}");
    pull / strain
}

#[test]
fn a_bar_has_the_modulus_that_was_typed_whatever_its_cells() {
    let typed = 1e4;
    let [coarse, fine] = [modulus(0.2, typed), modulus(0.1, typed)];
    for found in [coarse, fine] {
        assert!((found / typed - 1.0).abs() < 0.25, "{found} Pa for {typed}");
    }
    assert!((coarse / fine - 1.0).abs() < 0.1, "{coarse} Pa in coarse cells, {fine} in fine ones");
    // Ten times as stiff is ten times as stiff.
    assert!((modulus(0.2, 10.0 * typed) / coarse / 10.0 - 1.0).abs() < 0.05);
}
