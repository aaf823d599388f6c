//! Closest points of two parts of cloth: against a slow search, against the plane between them, and where the answer is
//! known.

use std::hint::black_box;
use std::time::Instant;

use kiln::algorithms::contact::proximity::{
    Pairing, Proximity, distance_squared_edge_edge, distance_squared_vertex_triangle, edge_edge, proximity,
    vertex_triangle,
};
use kiln::math::Vec3;

use crate::{Random, assert_close, assert_near};

const PAIRINGS: [Pairing; 2] = [Pairing::VertexTriangle, Pairing::EdgeEdge];

/// How many points the first part has.
fn first_count(pairing: Pairing) -> usize {
    if pairing == Pairing::VertexTriangle { 1 } else { 2 }
}

/// Weights, normal and distance belong together; the normal is a unit vector.
#[track_caller]
fn check_form(pairing: Pairing, x: &[Vec3; 4], found: &Proximity) {
    let (first, second) = found.weights.split_at(first_count(pairing));
    assert!(first.iter().all(|&w| (0.0..=1.0).contains(&w)), "{x:?} {found:?}");
    assert!(second.iter().all(|&w| (-1.0..=0.0).contains(&w)), "{x:?} {found:?}");
    assert_close(first.iter().sum(), 1.0, 1e-15);
    assert_close(second.iter().sum(), -1.0, 1e-15);
    assert_close(found.normal.norm(), 1.0, 1e-15);
    let scale = x.iter().map(|p| p.amax()).fold(0.0, f64::max);
    let difference: Vec3 = (0..4).map(|i| x[i] * found.weights[i]).sum();
    assert_near(found.normal * found.distance, difference, 4e-15 * scale);
    let squared = match pairing {
        Pairing::VertexTriangle => distance_squared_vertex_triangle(x),
        Pairing::EdgeEdge => distance_squared_edge_edge(x),
    };
    assert_close(squared.sqrt(), found.distance, 1e-15 * found.distance);
}

/// No two points are nearer than the plane across the normal proves; 0 is always proven.
fn proven_distance(pairing: Pairing, x: &[Vec3; 4], normal: Vec3) -> f64 {
    let (first, second) = x.split_at(first_count(pairing));
    let pairs = first.iter().flat_map(|a| second.iter().map(move |b| (a - b).dot(&normal)));
    pairs.fold(f64::INFINITY, f64::min).max(0.0)
}

/// Four points of one of many kinds, about one metre apart.
fn points(kind: usize, random: &mut Random) -> [Vec3; 4] {
    let mut x: [Vec3; 4] = std::array::from_fn(|_| random.vector());
    let small = 10.0_f64.powf(random.within(-17.0, -1.0));
    match kind {
        0 => {}
        // Flat.
        1 => x.iter_mut().for_each(|p| p.z = 0.3),
        // Three points in a line; a grid makes it exact, and some of them equal.
        2 => x = x.map(|p| (p * 2.0).map(f64::round)),
        3 => x[3] = x[1] + (x[2] - x[1]) * random.within(-1.0, 2.0),
        // The same, but not quite.
        4 => x[3] = x[1] + (x[2] - x[1]) * random.within(-1.0, 2.0) + random.vector() * small,
        // Almost or exactly parallel edges.
        5 => x[3] = x[2] + (x[1] - x[0]) * random.within(-2.0, 2.0) + random.vector() * small,
        6 => x[3] = x[2] + (x[1] - x[0]) * random.within(-2.0, 2.0),
        // In one line.
        7 => x = std::array::from_fn(|_| Vec3::new(0.25, -0.5, 1.0) * random.within(-1.0, 1.0)),
        // Edges without length, or almost.
        8 => x[3] = x[2] + random.vector() * small,
        9 => x[1] = x[0] + random.vector() * small,
        10 => (x[1], x[3]) = (x[0], x[2]),
        11 => x = [x[0], x[1], x[1], x[1]],
        12 => x = [x[0]; 4],
        // A needle, its short edge in every place.
        13 => x[1 + random.below(3)] = x[1 + random.below(3)] + random.vector() * small,
        // A common end.
        14 => x[2] = x[0],
        // Small and far out.
        _ => x = x.map(|p| p * small + Vec3::new(3.0, -2.0, 1.0)),
    }
    x
}

const KINDS: usize = 16;

#[test]
fn the_plane_across_the_normal_proves_that_nothing_is_nearer() {
    let mut random = Random(200);
    for n in 0..200_000 {
        let x = points(n / 2 % KINDS, &mut random);
        let pairing = PAIRINGS[n % 2];
        let found = proximity(pairing, &x);
        check_form(pairing, &x, &found);
        // The normal of a small gap is known no better than rounding over the gap.
        let tolerance = (1e-14 / found.distance).max(5e-14).min(found.distance + 5e-14);
        assert_close(found.distance, proven_distance(pairing, &x, found.normal), tolerance);
    }
}

/// The lowest value of a convex function in an interval.
fn lowest(low: f64, high: f64, value: &dyn Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (low, high);
    for _ in 0..60 {
        let (left, right) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if value(left) < value(right) { high = right } else { low = left }
    }
    value(f64::midpoint(low, high))
}

#[test]
fn a_slow_search_finds_the_same_distance() {
    let mut random = Random(201);
    for n in 0..1200 {
        let x = points(n / 2 % KINDS, &mut random);
        let pairing = PAIRINGS[n % 2];
        let found = proximity(pairing, &x).distance;
        let on = |a: Vec3, b: Vec3, s: f64| a + (b - a) * s;
        let searched = match pairing {
            Pairing::VertexTriangle => lowest(0.0, 1.0, &|s| {
                lowest(0.0, 1.0, &|t| (x[0] - on(on(x[1], x[2], s), on(x[1], x[3], s), t)).norm())
            }),
            Pairing::EdgeEdge => {
                lowest(0.0, 1.0, &|s| lowest(0.0, 1.0, &|t| (on(x[0], x[1], s) - on(x[2], x[3], t)).norm()))
            }
        };
        // The search sees squares, and is blind below their rounding.
        assert!(found <= searched + 1e-14 && searched <= found + 3e-8, "{x:?}: {found}, searched {searched}");
    }
}

#[test]
fn a_vertex_over_a_face_has_its_height_even_over_a_needle() {
    let mut random = Random(202);
    for n in 0..100_000 {
        let [a, b, c, d] = [(); 4].map(|()| random.vector());
        let thin = if n % 2 == 0 { 1.0 } else { 10.0_f64.powf(random.within(-8.0, 0.0)) };
        // Needles with a short edge, and flat ones without.
        let c = if n % 4 == 1 { b + (c - b) * thin } else { a + (b - a) * random.within(-0.5, 1.5) + (c - d) * thin };
        let corners = [[a, b, c], [b, c, a], [c, a, b]][n % 3];
        let normal = (b - a).cross(&(c - a)).normalize();
        let weights = [random.within(0.01, 1.0), random.within(0.01, 1.0), random.within(0.01, 1.0)];
        let sum: f64 = weights.iter().sum();
        let foot: Vec3 = (0..3).map(|i| corners[i] * (weights[i] / sum)).sum();
        let height = 10.0_f64.powf(random.within(-12.0, 0.0));
        // What the normal of a needle is wrong by makes no difference near the needle.
        let wrong = 1e-15 * (1.0 + height / thin);
        let found = vertex_triangle(&[foot + normal * height, corners[0], corners[1], corners[2]]);
        assert_close(found.distance, height, wrong);
    }
}

#[test]
fn edges_that_pass_over_each_other_have_their_height_even_if_almost_parallel() {
    let mut random = Random(203);
    for _ in 0..100_000 {
        let along = random.vector().normalize();
        let normal = along.cross(&random.vector()).normalize();
        let angle = 10.0_f64.powf(random.within(-9.0, 0.0));
        let other = along * angle.cos() + normal.cross(&along) * angle.sin();
        let height = 10.0_f64.powf(random.within(-12.0, 0.0));
        let place = random.vector();
        let ends = [(); 4].map(|()| random.within(0.01, 1.0));
        let x = [
            place + normal * height - along * ends[0],
            place + normal * height + along * ends[1],
            place - other * ends[2],
            place + other * ends[3],
        ];
        let found = edge_edge(&x);
        assert_close(found.distance, height, 2e-15);
        assert_near(found.normal, normal, 2e-15 / height / angle);
    }
}

#[test]
fn every_part_of_a_triangle_is_found() {
    let [a, b, c] = [Vec3::zeros(), Vec3::x(), Vec3::y()];
    let cases = [
        ([-1.0, -1.0, 2.0], [1.0, 0.0, 0.0]),
        ([2.0, -0.5, 1.0], [0.0, 1.0, 0.0]),
        ([-0.5, 3.0, 0.0], [0.0, 0.0, 1.0]),
        ([1.0, 1.0, -1.0], [0.0, 0.5, 0.5]),
        ([-1.0, 0.25, 0.0], [0.75, 0.0, 0.25]),
        ([0.25, -1.0, 0.0], [0.75, 0.25, 0.0]),
        ([0.25, 0.25, 5.0], [0.5, 0.25, 0.25]),
    ];
    for (p, [of_a, of_b, of_c]) in cases {
        let p = Vec3::from(p);
        let found = vertex_triangle(&[p, a, b, c]);
        let foot = a * of_a + b * of_b + c * of_c;
        for (weight, expected) in found.weights.iter().zip([1.0, -of_a, -of_b, -of_c]) {
            assert_close(*weight, expected, 1e-15);
        }
        assert_near(found.normal, (p - foot).normalize(), 1e-15);
        assert_close(found.distance, (p - foot).norm(), 1e-15);
    }
}

#[test]
fn parallel_edges_meet_in_the_middle_of_their_overlap_whichever_way_round() {
    let at = |x: f64, y: f64| Vec3::new(x, y, 0.5);
    let [a, b, c, d] = [at(0.0, 0.0), at(4.0, 0.0), at(3.0, 1.0), at(8.0, 1.0)];
    for x in [[a, b, c, d], [b, a, c, d], [a, b, d, c], [b, a, d, c]] {
        for x in [x, [x[2], x[3], x[0], x[1]]] {
            let found = edge_edge(&x);
            assert_close(found.distance, 1.0, 1e-15);
            assert_close((x[0] * found.weights[0] + x[1] * found.weights[1]).x, 3.5, 1e-15);
        }
    }
}

#[test]
fn touching_parts_have_a_normal_across_them() {
    let corners = [Vec3::zeros(), Vec3::x(), Vec3::y()];
    for p in [Vec3::zeros(), Vec3::new(0.25, 0.25, 0.0), Vec3::new(0.5, 0.0, 0.0), Vec3::y()] {
        let found = vertex_triangle(&[p, corners[0], corners[1], corners[2]]);
        assert_eq!((found.distance, found.normal), (0.0, Vec3::z()));
    }
    let crossing = edge_edge(&[-Vec3::x(), Vec3::x(), -Vec3::y(), Vec3::y()]);
    assert_eq!((crossing.distance, crossing.normal), (0.0, Vec3::z()));
    // In one line: across it.
    let line = [0.75, 0.0, 0.5, 2.0].map(|s| Vec3::new(1.0, 2.0, -1.0) * s);
    for pairing in PAIRINGS {
        let found = proximity(pairing, &line);
        assert_close(found.distance, 0.0, 1e-15);
        assert_close(found.normal.dot(&line[3]), 0.0, 1e-15);
        assert_close(found.normal.norm(), 1.0, 1e-15);
    }
}

#[test]
fn no_finite_input_gives_anything_that_is_not_finite() {
    let mut random = Random(204);
    let sizes = [0.0, 1e-320, 1e-300, 1e-160, 1e-80, 1e-20, 1.0, 1e20, 1e80, 1e160, 1e300, f64::MAX];
    for n in 0..100_000 {
        let sizes = [(); 4].map(|()| sizes[random.below(sizes.len())]);
        let x: [Vec3; 4] = std::array::from_fn(|i| random.vector() * sizes[if n % 3 == 0 { 0 } else { i }]);
        for pairing in PAIRINGS {
            let found = proximity(pairing, &x);
            assert!(found.distance.is_finite() && found.distance >= 0.0, "{x:?} {found:?}");
            assert!(found.weights.iter().all(|w| w.abs() <= 1.0), "{x:?} {found:?}");
            assert_close(found.normal.norm(), 1.0, 1e-15);
        }
    }
}

#[test]
fn the_time_that_it_takes() {
    let mut random = Random(205);
    let sets: Vec<[Vec3; 4]> = (0..4096).map(|_| std::array::from_fn(|_| random.vector())).collect();
    // Vertices over the face, as they are in contact.
    let over: Vec<[Vec3; 4]> =
        sets.iter().map(|x| [(x[1] + x[2] + x[3]) / 3.0 + x[0] * 0.01, x[1], x[2], x[3]]).collect();
    let time = |name: &str, sets: &[[Vec3; 4]], run: &dyn Fn(&[[Vec3; 4]]) -> f64| {
        black_box(run(sets));
        let begin = Instant::now();
        for _ in 0..50 {
            black_box(run(black_box(sets)));
        }
        println!("{name}: {:.1} ns", begin.elapsed().as_nanos() as f64 / (50 * sets.len()) as f64);
    };
    let sum = |found: Proximity| found.distance + found.normal.x + found.weights[1];
    time("vertex_triangle, anywhere", &sets, &|sets| sets.iter().map(|x| sum(vertex_triangle(x))).sum());
    time("vertex_triangle, over the face", &over, &|sets| sets.iter().map(|x| sum(vertex_triangle(x))).sum());
    time("edge_edge", &sets, &|sets| sets.iter().map(|x| sum(edge_edge(x))).sum());
    time("distance_squared_vertex_triangle", &sets, &|sets| sets.iter().map(distance_squared_vertex_triangle).sum());
    time("distance_squared_edge_edge", &sets, &|sets| sets.iter().map(distance_squared_edge_edge).sum());
}
