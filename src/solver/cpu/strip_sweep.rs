//! One sweep over all strips: each path of constraints is solved exactly, group after group.
//!
//! Based on: [Bender14 §4.3.4]; the maths is in `algorithms/cloth/strips`

use super::independent::{PathScratch, sweep_paths};
use crate::algorithms::cloth::strips::{Link, Strips, solve_tridiagonal};
use crate::math::Vec3;
use crate::model::ClothModel;

/// Added to the diagonal, relative to it: a path that is folded back on itself has rows that depend on each other.
const REGULARISATION: f64 = 1e-6;
/// The same where links come and go, which makes folds of all sizes.
const SLACK_REGULARISATION: f64 = 1e-2;
/// Most times that links which would have to push are let go.
const RELEASES: u32 = 4;
/// Largest part of a length that one correction removes, as for single constraints.
const LARGEST_CORRECTION: f64 = 0.3;

/// Bring the look-ahead positions of every path to their lengths; the largest `|(l/l0)² - 1|` met.
pub fn positions(cloth: &ClothModel, strips: &Strips, ahead: &mut [Vec3]) -> f64 {
    sweep_paths(strips, ahead, |links, scratch| {
        let mut worst = 0.0_f64;
        let values = scratch.values.clone();
        solve(cloth, links, scratch, |i, row| {
            let d = values[i + 1] - values[i];
            let squared = d.norm_squared();
            let strain = cloth.distances[row].error(squared * cloth.distances[row].inverse_rest_squared - 1.0);
            worst = super::independent::larger(worst, strain.abs());
            let length = squared.sqrt();
            if length <= 0.0 || (strain <= 0.0 && cloth.distances[row].can_go_slack()) {
                return None;
            }
            let error = (length - cloth.lengths[row]).min(LARGEST_CORRECTION * length);
            Some((d / length, error))
        });
        worst
    })
}

/// Take the relative velocities along all links away; for constraints that hold both ways.
pub fn velocities(cloth: &ClothModel, strips: &Strips, x: &[Vec3], v: &mut [Vec3]) {
    sweep_paths(strips, v, |links, scratch| {
        let values = scratch.values.clone();
        solve(cloth, links, scratch, |i, _| {
            let d = x[links[i].ends[1] as usize] - x[links[i].ends[0] as usize];
            let length = d.norm();
            (length > 0.0).then(|| (d / length, (values[i + 1] - values[i]).dot(&d) / length))
        });
        0.0
    });
}

/// Solve `C W Cᵀ λ = e` along a path and apply it; `row` gives the direction and error of a link, or none where it is slack.
fn solve(
    cloth: &ClothModel,
    links: &[Link],
    scratch: &mut PathScratch,
    mut row: impl FnMut(usize, usize) -> Option<(Vec3, f64)>,
) {
    let PathScratch { values, directions, diagonal, beside, right } = scratch;
    directions.clear();
    let mut errors: Vec<f64> = Vec::with_capacity(links.len());
    for (i, link) in links.iter().enumerate() {
        let (n, error) = row(i, link.row as usize).unwrap_or((Vec3::zeros(), 0.0));
        directions.push(n);
        errors.push(error);
    }
    let regularised = 1.0 + if cloth.is_bilateral() { REGULARISATION } else { SLACK_REGULARISATION };
    // A thread pulls and does not push: what would have to is let go, and the rest is solved again.
    for _ in 0..RELEASES {
        diagonal.clear();
        beside.clear();
        right.clear();
        for (i, link) in links.iter().enumerate() {
            let [before, after] = link.ends.map(|p| cloth.k[p as usize]);
            if i > 0 {
                beside.push(-before * directions[i].dot(&directions[i - 1]));
            }
            let is_held = directions[i] == Vec3::zeros() || before + after <= 0.0;
            diagonal.push(if is_held { 1.0 } else { (before + after) * regularised });
            right.push(if is_held { 0.0 } else { errors[i] });
        }
        if !solve_tridiagonal(diagonal, beside, right) {
            return;
        }
        let mut is_released = false;
        for (i, link) in links.iter().enumerate() {
            if right[i] < 0.0 && cloth.distances[link.row as usize].can_go_slack() {
                (directions[i], right[i], is_released) = (Vec3::zeros(), 0.0, true);
            }
        }
        if !is_released {
            break;
        }
    }
    for (i, link) in links.iter().enumerate() {
        let impulse = directions[i] * right[i];
        let [before, after] = link.ends.map(|p| cloth.k[p as usize]);
        values[i] += impulse * before;
        values[i + 1] -= impulse * after;
    }
}
