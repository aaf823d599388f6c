//! Distances in place and in velocity, in the order of their groups.

use kiln::algorithms::cloth::distance::{Distance, Keeps};
use kiln::algorithms::parallel::independent_groups::IndependentPairs;
use kiln::math::Vec3;
use kiln::solver::gpu::cloth_parts::{DistanceData, distances};
use kiln::solver::gpu::work::Told;

use crate::noise;
use crate::particles::{Both, pick};

#[test]
fn distances_are_those_of_the_processor() {
    for middle in [Vec3::zeros(), Vec3::new(900.0, -400.0, 70.0)] {
        for keeps in [Keeps::Distance, Keeps::AtMost] {
            let mut both = Both::random(200, middle);
            let mut next = noise(2);
            let mut pairs: Vec<[u32; 2]> = (0..300).map(|_| pick(&mut next, 200)).collect();
            pairs.push([16, 17]); // in one place
            pairs.retain(|ends| ends.iter().any(|&end| both.k[end as usize] > 0.0));
            let (pairs, _) = IndependentPairs::arrange(200, &pairs).unwrap();
            let make = |&[a, b]: &[u32; 2]| {
                let mut distance = Distance::new(0.9 + 0.5 * next(), both.k[a as usize], both.k[b as usize], keeps);
                if a % 2 == 0 && keeps == Keeps::AtMost {
                    distance.resist(200.0, both.k[a as usize] + both.k[b as usize], 0.05);
                }
                distance
            };
            let all: Vec<Distance> = pairs.pairs().iter().map(make).collect();
            let mut data = Told::new(&both.gpu, "distances", all.len());
            data.tell(&both.gpu, pairs.pairs().iter().zip(&all).map(|(ends, d)| DistanceData::new(*ends, d)));
            let [places, velocities] = distances(&both.gpu, &both.particles, &pairs, &data);
            let mut expected = both.ahead.clone();
            let mut v = both.moving.v.clone();
            // Velocities are seen from the look-ahead positions here, as from the new places in a step.
            both.gpu.run(&velocities);
            for (&[a, b], distance) in pairs.pairs().iter().zip(&all) {
                let between = both.ahead[b as usize] - both.ahead[a as usize];
                if between != Vec3::zeros() {
                    let [mut v_a, mut v_b] = [v[a as usize], v[b as usize]];
                    distance.correct_velocity(between, &mut v_a, &mut v_b);
                    (v[a as usize], v[b as usize]) = (v_a, v_b);
                }
            }
            both.assert_velocities(&v, 3e-6);
            both.particles.write_ahead(&both.ahead);
            both.gpu.run(&places);
            for (&[a, b], distance) in pairs.pairs().iter().zip(&all) {
                let [mut p, mut q] = [expected[a as usize], expected[b as usize]];
                distance.correct_position(&mut p, &mut q);
                (expected[a as usize], expected[b as usize]) = (p, q);
            }
            both.assert_ahead(&expected, 5e-6);
        }
    }
}
