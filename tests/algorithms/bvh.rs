//! The hierarchy of boxes against all triangles.

use kiln::math::Vec3;
use kiln::mesh::bvh::Bvh;
use kiln::mesh::closest::closest_on_triangle;

use crate::Random;

fn soup(count: usize, random: &mut Random) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let place = |random: &mut Random| {
        let centre = random.vector();
        [0; 3].map(|_| centre + random.vector() * 0.15)
    };
    let positions: Vec<Vec3> = (0..count).flat_map(|_| place(random)).collect();
    (positions, (0..count as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect())
}

fn check(bvh: &Bvh, positions: &[Vec3], triangles: &[[u32; 3]], random: &mut Random) {
    let distance_squared =
        |t: usize, p: Vec3| (closest_on_triangle(p, triangles[t].map(|v| positions[v as usize])).0 - p).norm_squared();
    for _ in 0..60 {
        let p = random.vector() * 1.5;
        let all: Vec<f64> = (0..triangles.len()).map(|t| distance_squared(t, p)).collect();
        let reach_squared = random.within(0.0, 0.5);
        let mut visited = vec![0; triangles.len()];
        bvh.near(p, reach_squared, |t| {
            visited[t as usize] += 1;
            reach_squared
        });
        for (t, distance) in all.iter().enumerate() {
            assert!(visited[t] <= 1 && (visited[t] == 1 || *distance > reach_squared), "triangle {t} was overlooked");
        }
        let mut nearest = f64::INFINITY;
        let mut looks = 0;
        bvh.near(p, f64::INFINITY, |t| {
            looks += 1;
            nearest = nearest.min(all[t as usize]);
            nearest
        });
        assert_eq!(nearest, all.iter().copied().fold(f64::INFINITY, f64::min));
        assert!(triangles.len() < 100 || looks < triangles.len() / 2, "{looks} looks are no saving");
    }
}

#[test]
fn near_finds_what_brute_force_finds_before_and_after_a_move() {
    let mut random = Random(61);
    for count in [1, 2, 4, 5, 9, 100, 700] {
        let (mut positions, triangles) = soup(count, &mut random);
        let mut bvh = Bvh::build(&positions, &triangles);
        check(&bvh, &positions, &triangles, &mut random);
        let pose = random.pose();
        positions.iter_mut().for_each(|p| *p = pose.rotation * *p + random.vector() * 0.1);
        bvh.refit(&positions, &triangles);
        check(&bvh, &positions, &triangles, &mut random);
    }
}

#[test]
fn triangles_on_one_spot_and_none_at_all_are_no_trouble() {
    let positions = vec![Vec3::zeros(), Vec3::x(), Vec3::y()];
    let bvh = Bvh::build(&positions, &[[0, 1, 2]; 50]);
    let mut count = 0;
    bvh.near(Vec3::zeros(), 1.0, |_| {
        count += 1;
        1.0
    });
    assert_eq!(count, 50);
    Bvh::build(&[], &[]).near(Vec3::zeros(), 1.0, |_| panic!("there is no triangle"));
}
