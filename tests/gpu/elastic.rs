//! Elastic triangles, in the order of their groups.

use kiln::algorithms::cloth::elastic::{Elastic, Stiffness};
use kiln::algorithms::parallel::independent_groups::IndependentSets;
use kiln::math::{Vec2, Vec3};
use kiln::solver::gpu::cloth_parts::elastic;

use crate::noise;
use crate::particles::{Both, pick};

#[test]
fn elastic_triangles_are_those_of_the_processor() {
    for middle in [Vec3::zeros(), Vec3::new(900.0, -400.0, 70.0)] {
        let mut places: Vec<Vec3> = Both::random(200, middle).moving.x;
        let k: Vec<f64> = (0..200).map(|i| if i % 7 == 3 { 0.0 } else { 2.0 }).collect();
        // All three of one in one place, where there is no direction to pull in.
        (181..183).for_each(|i| places[i] = places[180]);
        let mut both = Both::new(places, k);
        let mut next = noise(8);
        let stiffness = Stiffness { warp: 300.0, weft: 120.0, shear: 40.0 };
        let mut particles: Vec<[u32; 3]> = (0..150).map(|_| pick(&mut next, 180)).collect();
        particles.extend([[180, 181, 182], [16, 17, 100], [3, 10, 24]]);
        let triangle = |particles: &[u32; 3]| {
            let flat = [Vec2::new(0.0, 0.0), Vec2::new(1.0, 0.1 * next()), Vec2::new(0.2 * next(), 1.0)];
            Elastic::new(*particles, flat, 0.5, stiffness).unwrap()
        };
        let all: Vec<Elastic> = particles.iter().map(triangle).collect();
        let h = 0.005;
        both.begin_step(Vec3::zeros(), h);
        both.gpu.run(&elastic(&both.gpu, &both.particles, &all).unwrap());
        let sets: Vec<Vec<u32>> = particles.iter().map(|particles| particles.to_vec()).collect();
        let mut expected = both.ahead.clone();
        for row in IndependentSets::arrange(200, &sets).unwrap().1 {
            let numbers = particles[row as usize].map(|p| p as usize);
            if numbers[0] == 180 {
                continue; // the processor sees a direction in what rounding leaves
            }
            let mut x = numbers.map(|p| expected[p]);
            all[row as usize].correct_position(&mut x, numbers.map(|p| both.k[p]), h);
            numbers.into_iter().zip(x).for_each(|(p, x)| expected[p] = x);
        }
        assert!(expected.iter().zip(&both.ahead).any(|(a, b)| (a - b).norm() > 1e-3), "it pulls");
        both.assert_ahead(&expected, 5e-6);
    }
    let both = Both::random(10, Vec3::zeros());
    assert!(elastic(&both.gpu, &both.particles, &[]).unwrap().is_empty());
}
