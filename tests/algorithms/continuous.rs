//! Moving parts of cloth, brought together so that when and where they meet is known.

use std::hint::black_box;
use std::time::Instant;

use kiln::algorithms::contact::continuous::first_contact;
use kiln::algorithms::contact::proximity::{Pairing, proximity};
use kiln::math::Vec3;
use kiln::math::motion::Pose;

use crate::Random;

const CASES: usize = 100_000;
const NONE: Vec3 = Vec3::new(0.0, 0.0, 0.0);

/// Four points on their ways.
#[derive(Clone, Copy, Debug)]
struct Moving {
    pairing: Pairing,
    start: [Vec3; 4],
    end: [Vec3; 4],
}

impl Moving {
    fn at(&self, t: f64) -> [Vec3; 4] {
        std::array::from_fn(|i| self.start[i] + (self.end[i] - self.start[i]) * t)
    }

    fn distance(&self, t: f64) -> f64 {
        proximity(self.pairing, &self.at(t)).distance
    }

    /// The longest way of one point against another.
    fn fastest(&self) -> f64 {
        let moves: [Vec3; 4] = std::array::from_fn(|i| self.end[i] - self.start[i]);
        moves.iter().flat_map(|a| moves.iter().map(move |b| (a - b).norm())).fold(0.0, f64::max)
    }

    fn posed(mut self, pose: &Pose) -> Moving {
        self.start = self.start.map(|p| pose.rotation * p + pose.translation);
        self.end = self.end.map(|p| pose.rotation * p + pose.translation);
        self
    }

    fn first_contact(&self, separation: f64) -> Option<f64> {
        first_contact(self.pairing, &self.start, &self.end, separation)
    }
}

fn power(random: &mut Random, low: f64, high: f64) -> f64 {
    10.0_f64.powf(random.within(low, high))
}

/// None, or from a tenth of a millimetre to almost nothing.
fn some_separation(random: &mut Random) -> f64 {
    if random.below(4) == 0 { 0.0 } else { power(random, -12.0, -3.0) }
}

/// A place and a way of meeting: at time `meet` the places `weights` of both parts are one, and `depth` past each other
/// along `direction` at the end. `moves` are the moves of the points; those of the first part are overruled. Returns
/// the time, too.
fn meeting(
    pairing: Pairing,
    mut points: [Vec3; 4],
    moves: [Vec3; 4],
    weights: [f64; 4],
    direction: Vec3,
    [height, depth]: [f64; 2],
) -> (Moving, f64) {
    let meet = height / (height + depth);
    // All points are where they are at the meeting.
    let first = if pairing == Pairing::VertexTriangle { 1 } else { 2 };
    let apart: Vec3 = (0..4).map(|i| points[i] * weights[i]).sum();
    points[..first].iter_mut().for_each(|p| *p -= apart);
    let drift: Vec3 = (0..4).map(|i| moves[i] * weights[i]).sum();
    let approach = -direction * (height + depth) - drift;
    let moves: [Vec3; 4] = std::array::from_fn(|i| if i < first { moves[i] + approach } else { moves[i] });
    let start = std::array::from_fn(|i| points[i] - moves[i] * meet);
    let end = std::array::from_fn(|i| points[i] + moves[i] * (1.0 - meet));
    (Moving { pairing, start, end }, meet)
}

/// It is found, before it happens, and nothing comes too near until then. Returns how far above the floor it stopped,
/// relative to the floor.
#[track_caller]
fn check_hit(moving: &Moving, meet: f64, separation: f64) -> f64 {
    let Some(found) = moving.first_contact(separation) else { panic!("missed at {meet}: {moving:?}, {separation}") };
    let start = moving.distance(0.0);
    let rounding = 4e-15 * moving.start.iter().chain(&moving.end).map(|p| p.amax()).fold(0.0, f64::max);
    assert!((0.0..=1.0).contains(&found), "{found}");
    let floor = separation.min(0.9 * start);
    if start > 2.0 * rounding {
        assert!(found < meet, "{found} is after {meet}: {moving:?}, {separation}");
        for k in 0..=8 {
            let distance = moving.distance(found * f64::from(k) / 8.0);
            assert!(distance > floor - rounding / 4.0 && distance > 0.0, "{distance} at {k}: {moving:?}, {separation}");
        }
    }
    moving.distance(found) / floor.max(rounding) - 1.0
}

/// Many meetings, and how many of them stopped well before they had to, for want of looks. Not judged are parts that
/// turn fast while they are very near from the start, and gaps so small that rounding blurs the normal.
fn check_hits(name: &str, seed: u64, mut make: impl FnMut(&mut Random) -> (Moving, f64)) {
    let mut random = Random(seed);
    let (mut early, mut judged) = (0, 0);
    for _ in 0..CASES {
        let (moving, meet) = make(&mut random);
        let (moving, separation) = (moving.posed(&random.pose()), some_separation(&mut random));
        let above = check_hit(&moving, meet, separation);
        let start = moving.distance(0.0);
        if separation > 1e-7 && start > 1e-6 && start > 0.1 * moving.fastest() {
            judged += 1;
            early += usize::from(above > 0.15);
        }
    }
    println!("{name}: 0 of {CASES} missed, {early} of {judged} stopped early");
    assert!(early * 50 <= judged && judged > CASES / 50, "{name}: {early} of {judged} stopped early");
}

fn triangle_weights(random: &mut Random) -> [f64; 3] {
    let weights = [(); 3].map(|()| random.within(0.02, 1.0));
    weights.map(|w| w / weights.iter().sum::<f64>())
}

fn heights(random: &mut Random, deepest: f64) -> [f64; 2] {
    [power(random, -6.0, 0.0), power(random, -11.0, deepest)]
}

#[test]
fn a_vertex_that_goes_through_a_triangle_is_found() {
    check_hits("vertex through triangle", 300, |random| {
        let points: [Vec3; 4] = std::array::from_fn(|_| random.vector());
        let [a, b, c] = triangle_weights(random);
        let direction = (points[2] - points[1]).cross(&(points[3] - points[1])).normalize();
        let depth = heights(random, -3.0);
        meeting(Pairing::VertexTriangle, points, [NONE; 4], [1.0, -a, -b, -c], direction, depth)
    });
}

#[test]
fn a_vertex_that_goes_through_a_moving_triangle_anyhow_is_found() {
    check_hits("vertex through moving triangle", 301, |random| {
        let points: [Vec3; 4] = std::array::from_fn(|_| random.vector());
        let speed = power(random, -4.0, 0.0);
        let moves: [Vec3; 4] = std::array::from_fn(|_| random.vector() * speed);
        let [a, b, c] = triangle_weights(random);
        let (direction, depth) = (random.vector().normalize(), heights(random, -0.5));
        meeting(Pairing::VertexTriangle, points, moves, [1.0, -a, -b, -c], direction, depth)
    });
}

#[test]
fn a_vertex_that_goes_through_near_an_edge_is_found() {
    check_hits("vertex near an edge", 302, |random| {
        let points: [Vec3; 4] = std::array::from_fn(|_| random.vector());
        let near = power(random, -8.0, -3.0);
        let along = if random.below(4) == 0 { near } else { random.within(0.1, 0.8) };
        let mut weights = [1.0, -near, -along, near + along - 1.0];
        weights[1..].rotate_left(random.below(3));
        let direction = (points[2] - points[1]).cross(&(points[3] - points[1])).normalize();
        meeting(Pairing::VertexTriangle, points, [NONE; 4], weights, direction, heights(random, -3.0))
    });
}

#[test]
fn a_vertex_that_meets_a_triangle_in_its_plane_is_found() {
    check_hits("vertex in the plane", 303, |random| {
        let mut flat = || random.vector().component_mul(&Vec3::new(1.0, 1.0, 0.0));
        let points: [Vec3; 4] = std::array::from_fn(|_| flat());
        let moves: [Vec3; 4] = std::array::from_fn(|_| flat() * 0.1);
        let along = random.within(0.05, 0.95);
        let [edge, height] = [points[2] - points[1], points[3] - points[1]];
        let outwards = (edge * (edge.dot(&height) / edge.norm_squared()) - height).normalize();
        let depth = heights(random, -3.0);
        meeting(Pairing::VertexTriangle, points, moves, [1.0, along - 1.0, -along, 0.0], outwards, depth)
    });
}

#[test]
fn edges_that_go_through_each_other_are_found() {
    check_hits("edges", 304, |random| {
        let points: [Vec3; 4] = std::array::from_fn(|_| random.vector());
        let speed = power(random, -4.0, 0.0);
        let moves: [Vec3; 4] = std::array::from_fn(|_| random.vector() * speed);
        let [s, t] = [(); 2].map(|()| random.within(0.0, 1.0));
        let (direction, depth) = (random.vector().normalize(), heights(random, -0.5));
        meeting(Pairing::EdgeEdge, points, moves, [1.0 - s, s, t - 1.0, -t], direction, depth)
    });
}

#[test]
fn edges_that_are_almost_parallel_are_found() {
    check_hits("almost parallel edges", 305, |random| {
        let mut points: [Vec3; 4] = std::array::from_fn(|_| random.vector());
        let along = points[1] - points[0];
        let normal = along.cross(&random.vector()).normalize();
        let angle = power(random, -8.0, -2.0);
        let turned = along * angle.cos() + normal.cross(&along) * angle.sin();
        points[3] = points[2] + turned * random.within(0.3, 1.5) * if random.below(2) == 0 { 1.0 } else { -1.0 };
        let [s, t] = [(); 2].map(|()| random.within(0.01, 0.99));
        let moves = if random.below(2) == 0 { [NONE; 4] } else { [random.vector() * 0.1; 4] };
        meeting(Pairing::EdgeEdge, points, moves, [1.0 - s, s, t - 1.0, -t], normal, heights(random, -3.0))
    });
}

#[test]
fn edges_that_meet_in_a_plane_are_found() {
    check_hits("edges in a plane", 306, |random| {
        let mut flat = || random.vector().component_mul(&Vec3::new(1.0, 1.0, 0.0));
        let points: [Vec3; 4] = std::array::from_fn(|_| flat());
        let moves: [Vec3; 4] = std::array::from_fn(|_| flat() * 0.1);
        // The end of the first comes upon the second from its own side.
        let [s, t] = [f64::from(random.below(2) as u32), random.within(0.05, 0.95)];
        let along = points[3] - points[2];
        let arm = if s == 0.0 { points[1] - points[0] } else { points[0] - points[1] };
        let towards = (arm - along * (along.dot(&arm) / along.norm_squared())).normalize();
        meeting(Pairing::EdgeEdge, points, moves, [1.0 - s, s, t - 1.0, -t], towards, heights(random, -3.0))
    });
}

#[test]
fn parts_that_are_degenerate_are_found_as_well() {
    check_hits("degenerate parts", 307, |random| {
        let mut points: [Vec3; 4] = std::array::from_fn(|_| random.vector());
        let pairing = [Pairing::VertexTriangle, Pairing::EdgeEdge][random.below(2)];
        match random.below(3) {
            0 => points[3] = points[2],
            1 => points[3] = points[1] + (points[2] - points[1]) * random.within(-1.0, 2.0),
            _ => points[3] = points[2] + (points[1] - points[0]) * random.within(-1.5, 1.5),
        }
        let weights = match pairing {
            Pairing::VertexTriangle => {
                let [a, b, c] = triangle_weights(random);
                [1.0, -a, -b, -c]
            }
            Pairing::EdgeEdge => {
                let [s, t] = [(); 2].map(|()| random.within(0.0, 1.0));
                [1.0 - s, s, t - 1.0, -t]
            }
        };
        let (direction, depth) = (random.vector().normalize(), heights(random, -0.5));
        meeting(pairing, points, [NONE; 4], weights, direction, depth)
    });
}

/// Random motion of one pairing or the other.
fn anyhow(random: &mut Random, n: usize) -> Moving {
    let pairing = [Pairing::VertexTriangle, Pairing::EdgeEdge][n % 2];
    let start: [Vec3; 4] = std::array::from_fn(|_| random.vector());
    let speed = power(random, -3.0, 0.0);
    let common = random.vector();
    Moving { pairing, start, end: start.map(|p| p + common + random.vector() * speed) }
}

#[test]
fn what_does_not_come_near_gives_no_alarm() {
    let mut random = Random(308);
    let mut closest: f64 = 1.0;
    for n in 0..CASES {
        let moving = anyhow(&mut random, n);
        let samples = 100;
        let least = (0..=samples).map(|k| moving.distance(f64::from(k) / f64::from(samples))).fold(1e9, f64::min);
        // Between samples it may be less by what the points move in half the time.
        let least = least - 0.5 * moving.fastest() / f64::from(samples);
        if least <= 0.0 {
            continue;
        }
        closest = closest.min(least);
        let found = moving.first_contact(least / random.within(1.2, 10.0));
        assert_eq!(found, None, "{moving:?} keeps {least}");
    }
    assert!(closest < 1e-4, "{closest}");
}

#[test]
fn a_narrow_miss_gives_no_alarm() {
    let mut random = Random(309);
    for n in 0..CASES {
        let miss = power(&mut random, -7.0, -1.0);
        let common = [random.vector(); 4];
        let moving = if n % 2 == 0 {
            // Past an edge, and through the plane.
            let outside = Vec3::new(random.within(0.1, 0.9), -miss, 0.0);
            let way = Vec3::new(random.within(-0.3, 0.3), 0.0, 1.0) * power(&mut random, -2.0, 0.0);
            let start = [outside + way, Vec3::zeros(), Vec3::x(), Vec3::new(0.3, 0.7, 0.0)];
            let (points, moves) = (start, [way * -random.within(1.2, 3.0), NONE, NONE, NONE]);
            let end = std::array::from_fn(|i| points[i] + moves[i] + common[i]);
            Moving { pairing: Pairing::VertexTriangle, start, end }
        } else {
            // The end of one edge past the middle of another.
            let slope = Vec3::new(random.within(-1.0, 1.0), -1.0, 0.0);
            let tip = Vec3::new(random.within(0.1, 0.9), -miss, 0.0);
            let way = Vec3::z() * power(&mut random, -2.0, 0.0);
            let start = [tip + way, tip + slope + way, Vec3::zeros(), Vec3::x()];
            let moves = [way * -random.within(1.2, 3.0), NONE];
            let end = std::array::from_fn(|i| start[i] + moves[i / 2] + common[i]);
            Moving { pairing: Pairing::EdgeEdge, start, end }
        };
        let moving = moving.posed(&random.pose());
        let separation = if n % 3 == 0 { 0.0 } else { miss / random.within(1.5, 100.0) };
        assert_eq!(moving.first_contact(separation), None, "{moving:?} misses by {miss}, {separation}");
    }
}

#[test]
fn layers_that_lie_on_each_other_slide_and_part_but_do_not_pass() {
    let (separation, far) = (1e-3, Vec3::new(0.5, 0.0, 0.3));
    for gap in [1.05e-3, 1e-3, 0.5e-3, 1e-6, 1e-9] {
        let triangle = [Vec3::zeros(), Vec3::x(), Vec3::z()];
        let vertex = Vec3::new(0.2, gap, 0.2);
        let to = |p: Vec3| {
            let start = [vertex, triangle[0], triangle[1], triangle[2]];
            let moving = Moving { pairing: Pairing::VertexTriangle, start, end: [p, start[1], start[2], start[3]] };
            (moving, moving.first_contact(separation))
        };
        assert_eq!(to(vertex + far).1, None);
        assert_eq!(to(vertex + far + Vec3::y()).1, None);
        assert_eq!(to(vertex).1, None);
        let (moving, found) = to(vertex - Vec3::y() + far);
        let left = moving.distance(found.unwrap());
        assert!(left > separation.min(0.9 * gap) && left < gap, "{left} of {gap}");
    }
}

#[test]
fn what_touches_already_may_not_move() {
    let start = [Vec3::new(0.2, 0.0, 0.2), Vec3::zeros(), Vec3::x(), Vec3::z()];
    let end = start.map(|p| p + Vec3::new(0.1, 0.2, p.x));
    assert_eq!(first_contact(Pairing::VertexTriangle, &start, &end, 1e-3), Some(0.0));
}

#[test]
fn a_pressed_pair_never_passes_however_often_it_is_stepped() {
    let mut random = Random(310);
    for n in 0..1000 {
        let pairing = [Pairing::VertexTriangle, Pairing::EdgeEdge][n % 2];
        let mut x = [Vec3::new(0.2, 0.1, 0.2), Vec3::zeros(), Vec3::x(), Vec3::z()];
        if pairing == Pairing::EdgeEdge {
            x = [Vec3::new(-1.0, 0.1, 0.0), Vec3::new(1.0, 0.1, 0.0), -Vec3::z(), Vec3::z()];
        }
        for _ in 0..100 {
            let end: [Vec3; 4] = std::array::from_fn(|i| {
                let down = if i < if n % 2 == 0 { 1 } else { 2 } { -Vec3::y() } else { Vec3::y() };
                x[i] + (down + random.vector() * 0.1) * 0.01
            });
            let t = first_contact(pairing, &x, &end, 1e-4).unwrap_or(1.0);
            x = std::array::from_fn(|i| x[i] + (end[i] - x[i]) * t);
            let found = proximity(pairing, &x);
            assert!(found.distance > 0.0 && found.normal.y > 0.0, "{found:?}");
        }
    }
}

#[test]
fn input_that_is_no_number_or_huge_may_not_move() {
    let start = [Vec3::new(0.2, 1.0, 0.2), Vec3::zeros(), Vec3::x(), Vec3::z()];
    for bad in [f64::NAN, f64::INFINITY, f64::MAX, -1e200] {
        for (i, axis) in [(0, 1), (2, 0)] {
            let mut end = start;
            end[i][axis] = bad;
            assert_eq!(first_contact(Pairing::VertexTriangle, &start, &end, 1e-3), Some(0.0));
            assert_eq!(first_contact(Pairing::EdgeEdge, &end, &start, 1e-3), Some(0.0));
        }
    }
    let end = start.map(|p| p - Vec3::y() * p.x);
    let found = first_contact(Pairing::VertexTriangle, &start, &end, f64::NAN);
    assert!(found.is_none_or(|t| (0.0..=1.0).contains(&t)));
}

#[test]
fn the_time_that_it_takes() {
    let mut random = Random(311);
    let time = |name: &str, sets: &[Moving], separation: f64| {
        let count = || sets.iter().filter(|moving| black_box(*moving).first_contact(separation).is_some()).count();
        let hits = count();
        let begin = Instant::now();
        (0..20).for_each(|_| assert_eq!(black_box(count()), hits));
        let each = begin.elapsed().as_nanos() as f64 / (20 * sets.len()) as f64;
        println!("first_contact, {name}: {each:.0} ns ({hits} of {} hit)", sets.len());
    };
    for (first, name) in ["vertex and triangle", "edges"].iter().enumerate() {
        let sets: Vec<Moving> = (0..4096).map(|_| anyhow(&mut random, first)).collect();
        time(&format!("{name} anyhow"), &sets, 1e-4);
        // Moves of a tenth of the distance, as most pairs of a broad phase.
        let slow = |moving: &Moving| {
            let end = std::array::from_fn(|i| moving.at(0.0)[i] + random.vector() * (0.1 * moving.distance(0.0)));
            Moving { end, ..*moving }
        };
        time(&format!("{name} that stay apart"), &sets.iter().map(slow).collect::<Vec<_>>(), 1e-4);
    }
}
