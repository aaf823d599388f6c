//! Sums over regions by running sums along paths, against sums over what a search finds.

use std::collections::BTreeSet;

use kiln::algorithms::shape_matching::damping::motions;
use kiln::algorithms::shape_matching::fast_summation::Regions;
use kiln::math::{Mat3, Vec3};

use crate::surfaces::{along_paths, closed, irregular, masses, members, neighbours, run};
use crate::{Mesh, Random};

/// All meshes with all widths of regions: the mesh numbered along its paths, its regions, and what they should hold.
fn over_all(seed: u64, mut check: impl FnMut(&Mesh, &Regions, &[BTreeSet<usize>], &mut Random)) {
    let mut random = Random(seed);
    for mesh in irregular(&mut random) {
        let (mesh, paths) = along_paths(&mesh);
        for omega in 1..=5 {
            let regions = Regions::build(&paths, &neighbours(&mesh), omega);
            check(&mesh, &regions, &members(&mesh, omega), &mut random);
        }
    }
}

#[test]
fn a_region_is_what_a_search_finds() {
    over_all(230, |mesh, regions, expected, _| {
        assert_eq!(regions.len(), mesh.positions.len());
        for (region, expected) in expected.iter().enumerate() {
            let found: Vec<usize> = regions.members(region).collect();
            assert_eq!(found.len(), expected.len(), "none twice");
            assert_eq!(&found.into_iter().collect::<BTreeSet<_>>(), expected);
            assert_eq!(regions.count(region) as usize, expected.len());
        }
    });
}

#[test]
fn what_holds_a_particle_is_what_it_holds() {
    over_all(231, |_, regions, _, _| {
        let mut holders = vec![Vec::new(); regions.len()];
        for region in 0..regions.len() {
            regions.members(region).for_each(|i| holders[i].push(region));
        }
        for (region, mut holders) in holders.into_iter().enumerate() {
            holders.sort_unstable();
            let mut held: Vec<usize> = regions.members(region).collect();
            held.sort_unstable();
            assert_eq!(held, holders);
        }
    });
}

#[test]
fn paths_share_out_all_particles_and_rows() {
    over_all(232, |_, regions, _, _| {
        let all = 0..regions.path_count();
        assert_eq!(regions.particles(all.clone()), 0..regions.len());
        assert_eq!(regions.rows(all.clone()), 0..regions.len() + regions.path_count());
        for path in all {
            let (rows, particles) = (regions.rows(path..path + 1), regions.particles(path..path + 1));
            assert_eq!((rows.start, rows.len()), (particles.start + path, particles.len() + 1));
        }
    });
}

fn check_sums<const N: usize>(seed: u64) {
    over_all(seed, |_, regions, expected, random| {
        // Not all of one size, nor of one sign.
        let value = |random: &mut Random| std::array::from_fn(|n| random.within(-1.0, 1.0) * 10_f64.powi(n as i32 % 5));
        let values: Vec<[f64; N]> = (0..regions.len()).map(|_| value(random)).collect();
        let running = run(regions, |i| values[i]);
        for (region, members) in expected.iter().enumerate() {
            let found = regions.sum(&running, region);
            for n in 0..N {
                let sum: f64 = members.iter().map(|&i| values[i][n]).sum();
                let size: f64 = members.iter().map(|&i| values[i][n].abs()).sum();
                assert!((found[n] - sum).abs() <= 1e-10 * size, "{} is not {sum}, parts of {size}", found[n]);
            }
        }
    });
}

#[test]
fn sums_of_any_width_are_those_of_brute_force() {
    check_sums::<1>(233);
    check_sums::<6>(234);
    check_sums::<12>(235);
    check_sums::<16>(236);
}

#[test]
fn whole_numbers_are_summed_exactly() {
    over_all(237, |_, regions, expected, random| {
        let values: Vec<f64> = (0..regions.len()).map(|_| random.below(1000) as f64).collect();
        let running = run(regions, |i| [values[i]]);
        for (region, members) in expected.iter().enumerate() {
            assert_eq!(regions.sum(&running, region), [members.iter().map(|&i| values[i]).sum::<f64>()]);
        }
    });
}

#[test]
fn far_from_the_origin_a_middle_keeps_the_digits() {
    let mut random = Random(238);
    for mesh in closed(&mut random) {
        let (mesh, paths) = along_paths(&mesh);
        let x: Vec<Vec3> = mesh.positions.iter().map(|x| x + Vec3::new(1000.0, -1000.0, 1000.0)).collect();
        let mass = masses(x.len(), &mut random);
        let middle = x.iter().zip(&mass).map(|(x, m)| x * *m).sum::<Vec3>() / mass.iter().sum::<f64>();
        for omega in 1..=5 {
            let regions = Regions::build(&paths, &neighbours(&mesh), omega);
            let running = run(&regions, |i| motions(mass[i], x[i] - middle, Vec3::zeros()));
            for (region, members) in members(&mesh, omega).iter().enumerate() {
                let total: f64 = members.iter().map(|&i| mass[i]).sum();
                let centre = members.iter().map(|&i| x[i] * mass[i]).sum::<Vec3>() / total;
                let arms = members.iter().map(|&i| (x[i] - centre, mass[i]));
                let expected: Mat3 = arms.map(|(arm, m)| arm * arm.transpose() * m).sum();
                // The spread about the centre of the region, where sums about the origin would cancel to nothing.
                let [mass, px, py, pz, .., xx, xy, xz, yy, yz, zz] = regions.sum(&running, region);
                let p = Vec3::new(px, py, pz);
                let found = Mat3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz) - p * p.transpose() / mass;
                let error = (found - expected).norm() / expected.norm();
                assert!(error < 1e-10, "{error}");
            }
        }
    }
}
