//! Groups that share no particle, and sweeps over them that do not depend on the thread count.

use std::collections::BTreeSet;

use kiln::algorithms::cloth::distance::{Distance, Keeps};
use kiln::algorithms::parallel::independent_groups::IndependentPairs;
use kiln::math::Vec3;
use kiln::solver::cpu::independent::{larger, sweep};

use crate::Random;

fn random_pairs(particles: usize, count: usize, random: &mut Random) -> Vec<[u32; 2]> {
    let pair = |random: &mut Random| {
        let a = random.below(particles);
        [a as u32, ((a + 1 + random.below(particles - 1)) % particles) as u32]
    };
    (0..count).map(|_| pair(random)).collect()
}

#[test]
fn no_group_names_a_particle_twice_and_every_pair_is_kept() {
    let mut random = Random(30);
    for (particles, count) in [(2, 1), (2, 5), (5, 40), (50, 200), (1000, 3000)] {
        let pairs = random_pairs(particles, count, &mut random);
        let (arranged, order) = IndependentPairs::arrange(particles, &pairs).unwrap();
        let mut degree = vec![0; particles];
        pairs.iter().flatten().for_each(|&p| degree[p as usize] += 1);
        assert!(arranged.groups().count() < 2 * degree.iter().max().unwrap());

        let mut next = 0;
        for group in arranged.groups() {
            assert_eq!(group.start, next);
            next = group.end;
            let mut seen = BTreeSet::new();
            assert!(!group.is_empty() && arranged.pairs()[group].iter().flatten().all(|p| seen.insert(*p)));
        }
        assert_eq!(next, count);
        assert_eq!(order.iter().collect::<BTreeSet<_>>().len(), count);
        let original: Vec<[u32; 2]> = order.iter().map(|&row| pairs[row as usize]).collect();
        assert_eq!(original, arranged.pairs());
        assert_eq!(arranged.particle_count(), particles);
    }
}

#[test]
fn the_arrangement_follows_from_the_list_alone() {
    let pairs = random_pairs(300, 2000, &mut Random(31));
    let arrange = || IndependentPairs::arrange(300, &pairs).unwrap();
    let (first, second) = (arrange(), arrange());
    assert_eq!(first.0.pairs(), second.0.pairs());
    assert_eq!(first.1, second.1);
}

#[test]
fn impossible_pairs_are_refused() {
    for bad in [[3, 3], [0, 4], [4, 0], [u32::MAX, 1]] {
        assert!(IndependentPairs::arrange(4, &[[0, 1], bad]).is_none(), "{bad:?}");
    }
    assert_eq!(IndependentPairs::arrange(0, &[]).unwrap().0.groups().count(), 0);
}

/// The pairs of a grid of particles.
fn grid(side: u32) -> Vec<[u32; 2]> {
    let across = (0..side * side).filter(|i| i % side + 1 < side).map(|i| [i, i + 1]);
    across.chain((0..side * (side - 1)).map(|i| [i, i + side])).collect()
}

#[test]
fn a_parallel_sweep_has_the_same_bits_for_every_number_of_threads() {
    let side = 160;
    let pairs = grid(side);
    assert!(pairs.len() >= 40_000);
    let (arranged, _) = IndependentPairs::arrange((side * side) as usize, &pairs).unwrap();
    assert!(arranged.groups().any(|group| group.len() >= 8192), "no group is large enough to be shared out");
    let start = Random(32).vectors((side * side) as usize);
    let distance = Distance::new(0.3, 1.0, 2.0, Keeps::Distance);
    let kernel = |row: usize, [a, b]: [u32; 2], x: &mut Vec3, y: &mut Vec3| {
        *x += Vec3::repeat(1e-3 * (y.x * (row as f64 + f64::from(a) - f64::from(b))).sin());
        distance.correct_position(x, y).abs()
    };
    let bits = |values: &[Vec3], worst: f64| -> Vec<u64> {
        values.iter().flat_map(|v| [v.x, v.y, v.z]).chain([worst]).map(f64::to_bits).collect()
    };
    let mut values = start.clone();
    let mut worst = 0.0;
    for _ in 0..3 {
        worst = 0.0;
        for (row, &[a, b]) in arranged.pairs().iter().enumerate() {
            let (mut x, mut y) = (values[a as usize], values[b as usize]);
            worst = larger(worst, kernel(row, [a, b], &mut x, &mut y));
            (values[a as usize], values[b as usize]) = (x, y);
        }
    }
    let expected = bits(&values, worst);
    for threads in [1, 2, 3, 8] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut values = start.clone();
        let worst = pool.install(|| (0..3).map(|_| sweep(&arranged, &mut values, kernel)).last().unwrap());
        assert!(bits(&values, worst) == expected, "{threads} threads give another result");
    }
}

#[test]
fn a_result_that_is_not_a_number_counts_as_infinite() {
    let (arranged, _) = IndependentPairs::arrange(4, &[[0, 1], [2, 3]]).unwrap();
    let mut values = vec![Vec3::zeros(); 4];
    let worst = sweep(&arranged, &mut values, |row, _, _, _| if row == 0 { f64::NAN } else { 1.0 });
    assert_eq!(worst, f64::INFINITY);
    assert_eq!(sweep(&arranged, &mut values, |row, _, _, _| row as f64), 1.0);
}

#[test]
#[should_panic(expected = "other particles")]
fn a_sweep_over_other_particles_is_refused() {
    let (arranged, _) = IndependentPairs::arrange(4, &[[0, 3]]).unwrap();
    sweep(&arranged, &mut [Vec3::zeros(); 3], |_, _, _, _| 0.0);
}
