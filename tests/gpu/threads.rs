//! Diagonals of threads, in the order of their groups.

use kiln::algorithms::cloth::threads::Diagonal;
use kiln::algorithms::parallel::independent_groups::IndependentPairs;
use kiln::math::Vec3;
use kiln::solver::gpu::cloth_parts::diagonals;

use crate::noise;
use crate::particles::{Both, pick};

#[test]
fn diagonals_are_those_of_the_processor() {
    for middle in [Vec3::zeros(), Vec3::new(900.0, -400.0, 70.0)] {
        let mut both = Both::random(200, middle);
        let mut next = noise(4);
        let random = (0..300).map(|_| {
            let rest = 0.4 + 0.3 * next();
            Diagonal { ends: pick(&mut next, 200), rest, compliance: if next() > 0.0 { 1e-3 } else { 10.0 } }
        });
        let mut all: Vec<Diagonal> = random.collect();
        // In one place, both held, and much too short.
        all.extend([[16, 17], [3, 10], [1, 2]].map(|ends| Diagonal { ends, rest: 100.0, compliance: 1.0 }));
        let h = 0.002;
        both.begin_step(Vec3::zeros(), h);
        both.gpu.run(&diagonals(&both.gpu, &both.particles, &all).unwrap());
        let ends: Vec<[u32; 2]> = all.iter().map(|diagonal| diagonal.ends).collect();
        let mut expected = both.ahead.clone();
        for row in IndependentPairs::arrange(200, &ends).unwrap().1 {
            let [i, j] = all[row as usize].ends.map(|end| end as usize);
            let (mut a, mut b) = (expected[i], expected[j]);
            all[row as usize].correct_position(&mut a, &mut b, [both.k[i], both.k[j]], h);
            (expected[i], expected[j]) = (a, b);
        }
        let farthest = expected.iter().map(|x| (x - middle).norm()).fold(1.0, f64::max);
        both.assert_ahead(&expected, 2e-6 * farthest);
    }
    let both = Both::random(10, Vec3::zeros());
    assert!(diagonals(&both.gpu, &both.particles, &[]).unwrap().is_empty());
    let twice = Diagonal { ends: [1, 1], rest: 1.0, compliance: 1.0 };
    assert!(diagonals(&both.gpu, &both.particles, &[twice]).is_none());
}
