//! Explicit bending of all cloth models, crumpled to a heap.

use kiln::algorithms::cloth::bending::Bending;
use kiln::math::Vec3;
use kiln::solver::gpu::cloth_parts::{BeatData, bending};
use kiln::solver::gpu::work::Told;

use crate::parity::sheet;
use crate::particles::Both;
use crate::support::World;
use crate::{noise, vector};

#[test]
fn bending_is_that_of_the_processor() {
    for model in ["midpoint", "grid", "stretch_only"] {
        let world = World::new(&sheet(model, ""));
        let cloth = &world.model.cloths[0];
        for middle in [Vec3::zeros(), Vec3::new(900.0, -400.0, 70.0)] {
            let mut next = noise(3);
            let crumpled = cloth.rest.iter().map(|rest| middle + rest + vector(&mut next) * 0.02);
            let mut both = Both::new(crumpled.collect(), cloth.k.clone());
            let (bend, beat, damping) = (1e-4, 1e-3, 0.01);
            let mut data = Told::new(&both.gpu, "beat", 1);
            data.tell(&both.gpu, [BeatData::new(bend, beat, damping)].into_iter());
            both.gpu.run(&bending(&both.gpu, &both.particles, &cloth.bending, &data));
            let (x, v) = (&both.moving.x, &both.moving.v);
            let measured: Vec<Vec3> =
                cloth.bending.rows.iter().map(|row| row.measure(x) + row.measure(v) * damping).collect();
            let change = |i: usize| cloth.bending.gradient(i, &measured) * (-bend * beat * cloth.k[i]);
            let largest = (0..x.len()).map(|i| change(i).norm()).fold(0.0, f64::max);
            let expected: Vec<Vec3> = v.iter().enumerate().map(|(i, v)| v + change(i)).collect();
            both.assert_velocities(&expected, 3e-7 * largest.max(1.0));
        }
    }
}

#[test]
fn nothing_that_bends_is_no_trouble() {
    let mut both = Both::random(10, Vec3::zeros());
    let data = Told::new(&both.gpu, "beat", 1);
    both.gpu.run(&bending(&both.gpu, &both.particles, &Bending::default(), &data));
    both.assert_velocities(&both.moving.v.clone(), 0.0);
}
