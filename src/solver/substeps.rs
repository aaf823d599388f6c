//! How many steps a frame is cut into.
//!
//! What a step of length h leaves behind of the stretch is `c a h² n / l`: l the edge length, n the number of edges from the pins to the far
//! end, and `a = g + 3 v²/(n l)` the acceleration that a pendulum of that length and mean square speed v² has at its lowest point. The rule
//! chooses the step at which that is half the tolerance, times a factor that each frame corrects by what it has really left behind; no step is
//! so long that the fastest vertex passes more than half an edge, and none longer than a beat, which divides the frame into equal parts that are
//! the same for all frames (bending needs that). Stiff bending has a shorter beat.
//!
//! Where it comes from: sheets that hang from two corners, 26² to 200² vertices, whose stretch was seen to go with `(n / steps)²` once the
//! attachments carry the load (before, with `n^2.7 / steps²`). The linear solvers leave next to nothing behind; their steps follow the load
//! number (`cpu::linear`), because beyond it energy grows while the tolerance is met.

use super::BodyReport;
use super::cpu::independent::larger;
use crate::math::largest_norm;
use crate::model::{ClothModel, Inside, Model, Pace, State};
use crate::scene::{ClothKind, Scene, SolverChoice, Substeps};

/// The c above.
const STRETCH_FACTOR: f64 = 2.1;
/// Part of an edge that the fastest vertex may pass in a step.
const EDGE_PER_STEP: f64 = 0.5;
/// Part of an edge that a wave of elastic stretch may pass in a step: implicit forces are stable beyond it, but lose their length.
const EDGE_PER_WAVE: f64 = 0.25;
/// Longest step, and longest time between two bending impulses [s]: wind, drag and friction see the speed at its start.
const BEAT_SECONDS: f64 = 1.0 / 480.0;
/// Bending is explicit while `beat * frequency` is below this (the limit of stability is 2).
pub const EXPLICIT_BENDING: f64 = 0.5;
/// Parts of a beat where bending could not be explicit: implicit bending is too soft where constraints act against it (see `bending_step`).
/// A draped disc of 600 and 2400 triangles differed by 4 % with one part and by 1 % with four.
const STIFF_BEAT_PARTS: u32 = 4;
/// Longest step where there are only soft bodies [s]: their springs are implicit, and their volumes hold at any step.
const SOFT_STEP_SECONDS: f64 = 1.0 / 240.0;
/// Part of a cell that a wave in a soft body may pass in a step: springs are swept once, so that longer steps make it softer (a tree in the wind
/// bent twice as far at 1 as at 0.5).
const CELL_PER_WAVE: f64 = 0.35;
/// Part of the allowed stretch that the steps shall leave.
const AIM: f64 = 0.5;
/// Load number that the linear solvers shall have.
const AIMED_LOAD: f64 = 0.05;
/// Load number above which a frame is simulated again.
pub const DANGEROUS_LOAD: f64 = 0.3;
/// How fast the factor may change from frame to frame, and its bounds. What a sweep leaves behind acts like a spring that is stiffer the shorter the
/// steps are, so changing them while the cloth is taut pumps energy: at 1.5 times a frame a sheet of threads gained 1.7 % of its swing, at
/// 1.1 times 0.15 %.
const FACTOR_CHANGE: [f64; 2] = [0.95, 1.1];
const FACTOR_BOUNDS: [f64; 2] = [0.1, 100.0];
/// How fast a soft body that needed more steps than the rule's comes back to it.
const SOFT_CALMS: f64 = 0.8;
/// Stretch that linear solvers are planned for when the load is not known yet.
const LINEAR_PLAN: f64 = 0.02;

/// Longest time between two bending impulses of a cloth [s].
pub fn beat_seconds(cloth: &ClothModel) -> f64 {
    BEAT_SECONDS / f64::from(beat_parts(cloth))
}

fn beat_parts(cloth: &ClothModel) -> u32 {
    let is_stiff = BEAT_SECONDS * BEAT_SECONDS * cloth.bend_frequency_squared > EXPLICIT_BENDING * EXPLICIT_BENDING;
    if is_stiff { STIFF_BEAT_PARTS } else { 1 }
}

/// The number of steps for the frame that starts in this state.
pub fn choose(scene: &Scene, model: &Model, state: &State, frame: f64) -> u32 {
    let (least, most) = match scene.substeps {
        Substeps::Fixed(count) => return count,
        Substeps::Auto { least, most } => (least, most),
    };
    let frame_seconds = scene.fps.frame_seconds();
    let gravity = scene.gravity.at(frame).norm();
    let parts = model.cloths.iter().map(beat_parts).max().unwrap_or(1);
    let beat = if model.cloths.is_empty() { SOFT_STEP_SECONDS } else { BEAT_SECONDS };
    let beats = (frame_seconds / beat * (1.0 - 1e-9)).ceil().max(1.0) * f64::from(parts);
    let mut count = beats.max(f64::from(least));
    for (cloth, moving) in model.cloths.iter().zip(&state.bodies) {
        let (n, edge) = (f64::from(cloth.reach), cloth.mean_edge);
        let squares = moving.v.iter().map(|v| v.norm_squared());
        let mean_square = squares.sum::<f64>() / moving.v.len() as f64 + (gravity * frame_seconds).powi(2);
        let acceleration = gravity + 3.0 * mean_square / (n * edge);
        let left_behind = STRETCH_FACTOR * acceleration * n / edge;
        count = count.max(moving.pace.factor * frame_seconds * (left_behind / (AIM * planned_stretch(cloth))).sqrt());
        if let Some(warp) = cloth.fabric.warp {
            let stiffest = warp.max(cloth.fabric.weft.unwrap_or(warp));
            let wave_speed = (stiffest / cloth.fabric.density).sqrt();
            let spacing = if cloth.kind == ClothKind::Midpoint { 0.5 * edge } else { edge };
            count = count.max(frame_seconds * wave_speed / (EDGE_PER_WAVE * spacing));
        }
        let fastest = largest_norm(&moving.v) + gravity * frame_seconds;
        count = count.max(frame_seconds * fastest / (EDGE_PER_STEP * edge));
    }
    for (body, moving) in model.soft_bodies.iter().zip(&state.bodies[model.cloths.len()..]) {
        // Matched shapes are stable for every step; where one is enough for the tetrahedra, it is for them.
        let (cell, wave_speed) = match &body.inside {
            Inside::Tetrahedra(tets) => (tets.tets.cell_size, (tets.stiffest / body.flesh.density).sqrt()),
            Inside::Shape(_) => (body.mean_edge, 0.0),
        };
        let fastest = largest_norm(&moving.v) + gravity * frame_seconds;
        let rule = frame_seconds / cell * (wave_speed / CELL_PER_WAVE).max(fastest / EDGE_PER_STEP);
        count = count.max(moving.pace.factor * rule.max(beats));
    }
    // Whole beats; an endless or undefined wish becomes the most that is allowed.
    let whole = (count / beats).ceil() * beats;
    if whole <= f64::from(most) { whole as u32 } else { ((f64::from(most) / beats).floor() * beats).max(1.0) as u32 }
}

fn planned_stretch(cloth: &ClothModel) -> f64 {
    match cloth.solver {
        SolverChoice::Direct | SolverChoice::Pcg => LINEAR_PLAN,
        _ => cloth.visible_limits.iter().copied().fold(f64::INFINITY, f64::min),
    }
}

/// The pace after a frame that took `more` times the steps of the rule. What the steps leave behind goes with their square; where it has not
/// even followed the last change of their number, something else stretches the cloth (a body in a tight waist), and steps beyond the rule's
/// are thrown away.
pub fn learn(pace: Pace, more: u32, report: &BodyReport, is_soft: bool) -> Pace {
    if is_soft {
        // The tolerance is met by sweeps, not by steps; where it took more steps it was for a moment.
        return Pace { factor: (pace.factor * SOFT_CALMS).max(1.0).max(f64::from(more)), ..pace };
    }
    let [slowest, fastest] = FACTOR_CHANGE;
    let more = f64::from(more);
    let by_strain = (report.strain / AIM).sqrt();
    let last_change = pace.change * more;
    let is_in_vain =
        by_strain > 1.0 && last_change != 1.0 && (report.strain * last_change > pace.strain) == (last_change > 1.0);
    let towards_rule = (1.0 / (pace.factor * more)).min(1.0);
    let wish = larger(if is_in_vain { towards_rule } else { by_strain }, (report.load / AIMED_LOAD).sqrt());
    let change = if wish.is_finite() { wish.clamp(slowest, fastest) } else { fastest };
    let factor = (pace.factor * more * change).clamp(FACTOR_BOUNDS[0], FACTOR_BOUNDS[1]);
    Pace { factor, change, strain: report.strain }
}
