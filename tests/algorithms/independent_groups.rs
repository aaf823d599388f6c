//! Groups that share no particle, and sweeps over them that do not depend on the thread count.

use std::collections::BTreeSet;

use kiln::algorithms::cloth::distance::{Distance, Keeps};
use kiln::algorithms::parallel::independent_groups::{IndependentPairs, IndependentSets};
use kiln::math::Vec3;
use kiln::solver::cpu::independent::{larger, sweep, sweep_sets};

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

/// Sets of up to eight particles, now and then none or one.
fn random_sets(particles: usize, count: usize, random: &mut Random) -> Vec<Vec<u32>> {
    let set = |random: &mut Random| {
        let size = random.below(9).min(particles);
        let mut set = BTreeSet::new();
        while set.len() < size {
            set.insert(random.below(particles) as u32);
        }
        // In any order: that of the particles in a set is the caller's.
        let mut set: Vec<u32> = set.into_iter().collect();
        set.rotate_left(size / 2);
        set
    };
    (0..count).map(|_| set(random)).collect()
}

#[test]
fn no_group_of_sets_names_a_particle_twice_and_every_set_is_kept() {
    let mut random = Random(33);
    for (particles, count) in [(1, 3), (8, 20), (50, 200), (1000, 2000)] {
        let sets = random_sets(particles, count, &mut random);
        let (arranged, order) = IndependentSets::arrange(particles, &sets).unwrap();
        let mut next = 0;
        for group in arranged.groups() {
            assert_eq!(group.start, next);
            next = group.end;
            let mut seen = BTreeSet::new();
            assert!(!group.is_empty() && group.flat_map(|set| arranged.set(set)).all(|p| seen.insert(*p)));
        }
        assert_eq!((next, arranged.len(), arranged.particle_count()), (count, count, particles));
        assert_eq!(order.iter().collect::<BTreeSet<_>>().len(), count);
        assert!(order.iter().enumerate().all(|(place, &old)| arranged.set(place) == sets[old as usize]));
        // The arrangement follows from the list alone.
        let (again, same) = IndependentSets::arrange(particles, &sets).unwrap();
        assert!(same == order && (0..count).all(|set| again.set(set) == arranged.set(set)));
    }
}

#[test]
fn impossible_sets_are_refused() {
    for bad in [vec![3, 3], vec![2, 0, 2], vec![4], vec![0, 1, 2, 4], vec![u32::MAX]] {
        assert!(IndependentSets::arrange(4, &[vec![0, 1], bad.clone()]).is_none(), "{bad:?}");
    }
    let (empty, _) = IndependentSets::arrange(0, &[]).unwrap();
    assert!(empty.is_empty() && empty.groups().count() == 0);
    assert_eq!(IndependentSets::arrange(4, &[vec![], vec![3, 0]]).unwrap().0.len(), 2);
}

/// The cubes of a lattice, eight particles each.
fn cubes(side: u32) -> Vec<Vec<u32>> {
    let node = |x: u32, y: u32, z: u32| (z * side + y) * side + x;
    let places = (0..side - 1).flat_map(|z| (0..side - 1).flat_map(move |y| (0..side - 1).map(move |x| [x, y, z])));
    places.map(|[x, y, z]| (0..8).map(|c| node(x + (c & 1), y + (c >> 1 & 1), z + (c >> 2))).collect()).collect()
}

#[test]
fn a_parallel_sweep_over_sets_has_the_same_bits_for_every_number_of_threads() {
    let side = 20;
    let sets = cubes(side);
    let particles = side.pow(3) as usize;
    let (arranged, _) = IndependentSets::arrange(particles, &sets).unwrap();
    assert!(arranged.len() > 4096 && arranged.groups().count() < 40, "{} groups", arranged.groups().count());
    let start = Random(34).vectors(particles);
    // Each value hangs on all of its set, and on what the groups before have left.
    let kernel = |set: usize, values: &mut [Vec3]| {
        let mean = values.iter().sum::<Vec3>() / values.len() as f64;
        values.iter_mut().for_each(|value| *value += (mean - *value) * (0.3 + 0.2 * (set as f64 + mean.x).sin()));
        mean.norm()
    };
    let bits = |values: &[Vec3], worst: f64| -> Vec<u64> {
        values.iter().flat_map(|v| [v.x, v.y, v.z]).chain([worst]).map(f64::to_bits).collect()
    };
    let (mut values, mut worst) = (start.clone(), 0.0);
    for _ in 0..3 {
        worst = 0.0;
        for set in 0..arranged.len() {
            let mut of_set: Vec<Vec3> = arranged.set(set).iter().map(|&p| values[p as usize]).collect();
            worst = larger(worst, kernel(set, &mut of_set));
            arranged.set(set).iter().zip(of_set).for_each(|(&p, value)| values[p as usize] = value);
        }
    }
    let expected = bits(&values, worst);
    for threads in [1, 2, 3, 8] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut values = start.clone();
        let mut run = || sweep_sets(&arranged, &mut values, |set, scratch| kernel(set, &mut scratch.values));
        let worst = pool.install(|| (0..3).map(|_| run()).last().unwrap());
        assert!(bits(&values, worst) == expected, "{threads} threads give another result");
    }
}

#[test]
fn scratch_of_a_set_is_as_long_as_the_set() {
    let (arranged, _) = IndependentSets::arrange(9, &[(0..8).collect(), vec![8, 1], vec![]]).unwrap();
    let mut values = vec![Vec3::zeros(); 9];
    let worst = sweep_sets(&arranged, &mut values, |set, scratch| {
        assert_eq!([scratch.values.len(), scratch.gradient.len()], [arranged.set(set).len(); 2]);
        if arranged.set(set).is_empty() { f64::NAN } else { 1.0 }
    });
    assert_eq!(worst, f64::INFINITY, "what is not a number counts as infinite");
}

#[test]
#[should_panic(expected = "other particles")]
fn a_sweep_over_sets_of_other_particles_is_refused() {
    let (arranged, _) = IndependentSets::arrange(4, &[vec![0, 3]]).unwrap();
    sweep_sets(&arranged, &mut [Vec3::zeros(); 3], |_, _| 0.0);
}
