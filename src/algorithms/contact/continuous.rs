//! When two moving parts of cloth come too near.
//!
//! Based on: Li, Kaufman and Jiang 2021, Codimensional Incremental Potential Contact (additive continuous collision
//!           detection);
//!           Mirtich 1996, Impulse-based Dynamic Simulation of Rigid Body Systems (conservative advancement)
//! Idea:     a distance changes no faster than its points move against each other. As long as that leaves a tenth of
//!           the gap, time may be advanced without looking; then the distance is taken anew. No polynomial is solved,
//!           so nothing is missed for a root that rounding has hidden.
//! Deviates: speed is the largest between a point of one part and a point of the other, which needs no mean motion to
//!           be taken away. It is also measured across the plane between the parts: as long as this plane separates
//!           them they do not meet, however fast they slide along it. The longer of both steps is taken, so layers that
//!           slide cost one look.
//! Test:     tests/algorithms/continuous.rs

use super::proximity::{Pairing, proximity};
use crate::math::Vec3;

/// How much of the gap a step leaves.
const LEAVE: f64 = 0.1;
/// How much of its distance a pair keeps that starts too near already.
const KEEP: f64 = 0.9;
/// A pair has come down to the separation when it is this much above it, relative to the separation.
const SLACK: f64 = 0.1;
/// More than the rounding errors of a distance, relative to the largest coordinate.
const ROUNDING: f64 = 16.0 * f64::EPSILON;
/// Looks at a pair, at most. One or two settle most pairs.
const LOOKS: usize = 64;
/// Coordinates up to which squares of squares are finite [m].
const LARGEST: f64 = 1e60;

/// How far the four points may go on their straight ways from `start` to `end`, as a fraction of the way; `None` for
/// all of it.
///
/// The distance is above `floor = min(separation, 0.9 * distance at the start)` [m] all the way to the returned
/// fraction, up to rounding. It never gets to zero, unless it was zero (below 4e-15 of the largest coordinate) at the
/// start: then the answer is 0. A pair that starts too near may thus part, slide and come a little nearer, but not
/// pass.
///
/// False alarms: a fraction is returned as well for a pair that only comes below `1.1 * floor` and not down to it, and
/// for one that 64 looks could not settle: parts that turn many times faster than they approach, and gaps below about
/// 1e-8 m, whose normal rounding blurs. These stop early, never late. Coordinates that are not finite, or above 1e60 m,
/// may not move.
pub fn first_contact(pairing: Pairing, start: &[Vec3; 4], end: &[Vec3; 4], separation: f64) -> Option<f64> {
    let coordinates = || start.iter().chain(end).flat_map(|point| point.iter()).map(|x| x.abs());
    if !coordinates().all(|x| x < LARGEST) {
        return Some(0.0);
    }
    let rounding = ROUNDING * coordinates().fold(0.0, larger);
    let moves: [Vec3; 4] = std::array::from_fn(|i| end[i] - start[i]);
    let fastest = fastest(pairing, &moves);
    let mut points = *start;
    let mut closest = proximity(pairing, &points);
    let floor = larger(rounding, separation.min(KEEP * closest.distance));
    if closest.distance <= floor {
        return Some(0.0);
    }
    let mut proven = 0.0;
    for _ in 0..LOOKS {
        let gap = larger(0.0, closest.distance - floor);
        let by_speed = (1.0 - LEAVE) * gap / fastest;
        let by_plane = plane_holds(pairing, &points, &moves, closest.normal, floor + LEAVE * gap);
        proven += larger(by_plane, by_speed);
        if proven >= 1.0 {
            return None;
        }
        if gap <= SLACK * floor {
            break;
        }
        points = std::array::from_fn(|i| start[i] + moves[i] * proven);
        closest = proximity(pairing, &points);
    }
    Some(proven)
}

/// The first where the second is no number. A plain comparison compiles to one instruction.
#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

/// Which points stand against each other.
#[inline(always)]
fn opposed(pairing: Pairing) -> &'static [[usize; 2]] {
    match pairing {
        Pairing::VertexTriangle => &[[0, 1], [0, 2], [0, 3]],
        Pairing::EdgeEdge => &[[0, 2], [0, 3], [1, 2], [1, 3]],
    }
}

/// The longest way that a point of one part goes against a point of the other [m]. Points between move by weighted
/// means, so that none of them goes farther.
#[inline]
fn fastest(pairing: Pairing, moves: &[Vec3; 4]) -> f64 {
    let squared = |&[i, j]: &[usize; 2]| (moves[i] - moves[j]).norm_squared();
    opposed(pairing).iter().map(squared).fold(0.0, larger).sqrt()
}

/// For which fraction of their moves the parts stay at least `apart` [m] from each other along a direction, and
/// therefore at all; 0 if they are not that far apart, infinite if they do not approach.
#[inline]
fn plane_holds(pairing: Pairing, points: &[Vec3; 4], moves: &[Vec3; 4], direction: Vec3, apart: f64) -> f64 {
    let height = points.map(|point| point.dot(&direction));
    let rise = moves.map(|way| way.dot(&direction));
    let mut holds = f64::INFINITY;
    for &[i, j] in opposed(pairing) {
        let (room, approach) = (height[i] - height[j] - apart, rise[j] - rise[i]);
        if room < 0.0 {
            return 0.0;
        }
        if approach > 0.0 && room < holds * approach {
            holds = room / approach;
        }
    }
    holds
}
