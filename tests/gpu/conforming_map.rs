//! Vertices that are held between midpoints or drawn to their places, in place and in velocity.

use kiln::algorithms::cloth::conforming_map::WeightedReturn;
use kiln::math::Vec3;
use kiln::model::ClothModel;
use kiln::solver::gpu::cloth_parts::{GoalData, Held, MOST_HELD};
use kiln::solver::gpu::work::Told;

use crate::parity::sheet;
use crate::particles::{Both, rounded};
use crate::support::World;
use crate::{noise, vector};

/// Where the vertices come from and shall go to.
fn goals(cloth: &ClothModel, x: &[Vec3], vertices: &[u32]) -> Vec<[Vec3; 2]> {
    let mut next = noise(6);
    let goal = |&v: &u32| {
        let start = cloth.map.vertex(v as usize, x);
        [start, start + vector(&mut next) * 0.05]
    };
    vertices.iter().map(goal).collect()
}

#[test]
fn held_vertices_are_those_of_the_processor() {
    let h = rounded(0.002);
    for (model, frequency) in [("midpoint", None), ("midpoint", Some(300.0)), ("grid", Some(300.0))] {
        let world = World::new(&sheet(model, ""));
        let cloth = &world.model.cloths[0];
        for middle in [Vec3::zeros(), Vec3::new(900.0, -400.0, 70.0)] {
            // Single ones, neighbours, and all of a patch.
            let vertices: Vec<u32> = [5, 6, 30, 51].into_iter().chain(100..160).chain([440]).collect();
            let mut both = Both::new(cloth.rest.iter().map(|x| x + middle).collect(), cloth.k.clone());
            both.begin_step(Vec3::zeros(), h);
            let ends = goals(cloth, &both.moving.x, &vertices);
            let mut told = Told::new(&both.gpu, "goals", ends.len());
            told.tell(
                &both.gpu,
                ends.iter().map(|ends| match frequency {
                    None => GoalData::exact(*ends),
                    Some(frequency) => GoalData::soft(*ends, frequency * h),
                }),
            );
            let held = Held::new(&both.gpu, &both.particles, &cloth.map, &cloth.k, vertices.clone(), &told).unwrap();
            both.gpu.run(&held.places);
            let mut all = WeightedReturn::build(&cloth.map, &cloth.k, vertices.clone()).unwrap();
            let mut expected = both.ahead.clone();
            let x = &both.moving.x;
            all.apply(&cloth.map, &cloth.k, &mut expected, |n, y| {
                let Some(frequency) = frequency else { return ends[n][1] - y };
                let way = y - cloth.map.vertex(vertices[n] as usize, x);
                let wh = frequency * h;
                let [from, to] = ends[n];
                ((to - y) * (wh * wh) + ((to - from) - way) * (2.0 * wh)) / (1.0 + 2.0 * wh + wh * wh)
            });
            both.assert_ahead(&expected, 3e-6);
            if frequency.is_none() {
                both.gpu.run(&held.velocities);
                let mut expected = both.moving.v.clone();
                all.apply(&cloth.map, &cloth.k, &mut expected, |n, v| (ends[n][1] - ends[n][0]) / h - v);
                // Goals move at some 25 m/s.
                both.assert_velocities(&expected, 3e-4);
            }
        }
    }
}

#[test]
fn the_inverse_is_one() {
    let world = World::new(&sheet("midpoint", ""));
    let cloth = &world.model.cloths[0];
    for count in [1, 2, 3, 4, 50] {
        let mut all = WeightedReturn::build(&cloth.map, &cloth.k, (0..count).collect()).unwrap();
        let (inverse, masses) = (all.inverse(), all.masses());
        let count = count as usize;
        for (row, mass) in masses.iter().enumerate() {
            let sum: f64 = (0..count).map(|column| inverse[column * count + row]).sum();
            assert!((sum / mass - 1.0).abs() < 1e-9, "{count}: {sum} for {mass}");
        }
    }
}

#[test]
fn too_many_held_vertices_are_left_to_the_processor() {
    let mesh = "mesh = { sheet = { size = [1, 1], vertices = [33, 33] } }";
    let world = World::new(&format!(
        "[scene]\nname = \"many\"\nfps = 24\nframes = \"0-1\"\n[[cloth]]\nname = \"sheet\"\n{mesh}\nmodel = \"midpoint\"\n"
    ));
    let cloth = &world.model.cloths[0];
    let both = Both::new(cloth.rest.clone(), cloth.k.clone());
    let held = |count: usize| {
        let goals = Told::new(&both.gpu, "goals", count);
        Held::new(&both.gpu, &both.particles, &cloth.map, &cloth.k, (0..count as u32).collect(), &goals)
    };
    assert!(held(MOST_HELD + 1).is_none());
    assert!(held(100).is_some());
}
