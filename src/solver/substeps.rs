//! How many steps a frame is cut into.
//!
//! A sweep carries an impulse one constraint further, so what a step of length h leaves behind at a pin is what gravity and the
//! swing add to the cloth behind it in that time. The rule takes the remaining stretch to be `2 a h² w n^0.7 / l`: l the edge
//! length, n the number of edges from the pins to the far end, w the vertices that hang on each pin, and `a = g + 3 v²/(n l)` the
//! acceleration that a pendulum of that length and mean square speed v² has at its lowest point. It chooses the step at which that
//! is the tolerance; and no step is so long that the fastest vertex passes more than half an edge.
//!
//! Where it comes from: sheets that hang from two corners, where w grows like n² and the stretch was seen to grow like n^2.7. That
//! the load and the distance enter apart is an assumption, made so that a cloth held along a whole edge is not given the steps of one
//! that hangs from two corners; a frame for which it is wrong is simulated again (`advance_frame`).

use crate::math::largest_norm;
use crate::model::{Model, State};
use crate::scene::{Scene, Substeps};

/// Growth of the remaining stretch with the number of edges, for the same load: what is left of 2.7 after the load's 2.
const REACH_EXPONENT: f64 = 0.7;
/// The factor of the law: about 2 at the worst frame of an undamped fall of 41 × 41 vertices, and a margin.
const STRETCH_FACTOR: f64 = 2.4;
/// Part of an edge that the fastest vertex may pass in a step.
const EDGE_PER_STEP: f64 = 0.5;
/// Longest step [s]: wind, drag and friction see the speed at its start.
const LONGEST_STEP: f64 = 1.0 / 480.0;

/// The number of steps for the frame that starts in this state.
pub fn choose(scene: &Scene, model: &Model, state: &State, frame: f64) -> u32 {
    let (least, most) = match scene.substeps {
        Substeps::Fixed(count) => return count,
        Substeps::Auto { least, most } => (least, most),
    };
    let frame_seconds = scene.fps.frame_seconds();
    let gravity = scene.gravity.at(frame).norm();
    let mut count = frame_seconds / LONGEST_STEP;
    for (cloth, moving) in model.cloths.iter().zip(&state.cloths) {
        let (n, edge) = (f64::from(cloth.hang.reach), cloth.mean_edge);
        let squares = moving.v.iter().map(|v| v.norm_squared());
        let mean_square = squares.sum::<f64>() / moving.v.len() as f64 + (gravity * frame_seconds).powi(2);
        let acceleration = gravity + 3.0 * mean_square / (n * edge);
        let left_behind = STRETCH_FACTOR * acceleration * cloth.hang.load * n.powf(REACH_EXPONENT) / edge;
        count = count.max(frame_seconds * (left_behind / cloth.fabric.max_stretch).sqrt());
        let fastest = largest_norm(&moving.v) + gravity * frame_seconds;
        count = count.max(frame_seconds * fastest / (EDGE_PER_STEP * edge));
    }
    // A float-to-integer cast saturates, and an endless or undefined wish becomes the most that is allowed.
    if count.is_finite() { (count.ceil() as u32).clamp(least, most) } else { most }
}
