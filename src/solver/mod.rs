//! Time steps. A backend gets what drives the world during one frame, advances the state, and hands back vertices.

pub mod cpu;
pub mod device;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod substeps;
pub mod wind;

use crate::math::Vec3;
use crate::model::{Broken, Model, Moment, Promise, State};
use crate::scene::{Scene, Substeps};
pub use cpu::linear::LinearCounts;
use device::DeviceReport;

/// What acts from outside during one frame.
#[derive(Clone, Copy, Debug)]
pub struct Drive {
    /// Start and end of the frame as everything that is keyed or animated sees them; equal while the cloth settles.
    pub moments: [Moment; 2],
    /// Seconds since the start of the bake, pre-roll included: the clock of the weather.
    pub seconds: f64,
    /// How long the frame is [s].
    pub frame_seconds: f64,
    /// Steps in it.
    pub substeps: u32,
}

/// What touching did to one body in a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TouchCounts {
    /// Contacts between features that pressed in the last step.
    pub contacts: u32,
    /// Ways of vertices that the guard has changed so that nothing crosses.
    pub cut: u32,
    /// Features that it could not keep apart.
    pub left: u32,
    /// Edges that pierce a triangle at the end of the frame, here or there.
    pub crossings: u32,
    /// Vertices that were let pass something in this frame.
    pub released: u32,
}

/// What a frame did to one body.
#[derive(Clone, Debug, Default)]
pub struct BodyReport {
    /// Sweeps over the constraints' positions.
    pub iterations: u64,
    /// Solves and factorisations of the linear solvers.
    pub linear: LinearCounts,
    /// Points in contact at the end.
    pub contacts: u32,
    /// What touching triangles did.
    pub touched: TouchCounts,
    /// Largest part of its allowed stretch that a visible edge has at the end, or of its tolerance that the volume of a soft body's part is off
    /// by: above 1 the promise is broken.
    pub used: f64,
    /// The same before the sweeps at the frame's end: what the steps alone have left. Of constraints, where vertices between midpoints say
    /// nothing about the steps.
    pub strain: f64,
    /// Largest load number of the linear solvers: see `cpu::linear`.
    pub load: f64,
    /// Where it went out of bounds: the simulation vertex that was fastest when the numbers ended. The rest of the frame was not
    /// simulated.
    pub broken_at: Option<u32>,
    /// Promises that had to yield, the weightiest first.
    pub broken: Vec<Broken>,
}

impl BodyReport {
    /// By how much the frame misses what it promises: 0 if it does not, infinite if its numbers have ended.
    pub fn missed_by(&self) -> f64 {
        if self.broken_at.is_some() {
            return f64::INFINITY;
        }
        if self.touched.left > 0 {
            // Worse than any stretch.
            return 1e6 * f64::from(self.touched.left);
        }
        let over = |value: f64, limit: f64| if value > limit { value / limit } else { 0.0 };
        let long = over(self.used, 1.0).max(over(self.load, substeps::DANGEROUS_LOAD));
        let yielded = |promise: Promise| {
            let vertices = self.broken.iter().filter(|broken| broken.promise == promise);
            vertices.map(|broken| broken.vertices.len()).sum::<usize>() as f64
        };
        // Less than any stretch.
        long + 1e-6 * yielded(Promise::Thickness) + 1e-9 * yielded(Promise::Friction)
    }

    /// The same to compare attempts by: no promise is kept at the price of a weightier one, so what crosses or was let pass counts more than
    /// any stretch.
    fn badness(&self) -> f64 {
        let crossing = self.broken.iter().filter(|broken| broken.promise == Promise::Crossing);
        self.missed_by() + 1e3 * crossing.map(|broken| broken.vertices.len()).sum::<usize>() as f64
    }
}

/// Written coordinates of one body: simulation vertices.
#[derive(Clone, Debug, Default)]
pub struct Vertices {
    /// [m]
    pub positions: Vec<Vec3>,
    /// [m/s]
    pub velocities: Vec<Vec3>,
}

/// What a frame looks like in numbers, for one body.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quality {
    /// Largest relative length error of the constraints.
    pub max_stretch: f64,
    /// Mean relative length error of the constraints.
    pub mean_stretch: f64,
    /// Deepest vertex below a collider's surface [m].
    pub max_penetration: f64,
    /// Of a soft body: largest relative error of a part's volume.
    pub max_volume_error: f64,
    /// Of a soft body: relative error of its whole volume, negative if it has lost some.
    pub volume_error: f64,
}

/// Time that parts of the work have taken [s].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PhaseSeconds {
    /// Where the colliders are, and what single points are near them.
    pub colliders: f64,
    /// Triangles that touch: finding what is near, pressing, guarding.
    pub touching: f64,
}

impl std::ops::AddAssign for PhaseSeconds {
    fn add_assign(&mut self, more: Self) {
        self.colliders += more.colliders;
        self.touching += more.touching;
    }
}

/// Something that can simulate, once it was made from a model.
pub trait Backend {
    /// Take in what acts during the next frame.
    fn drive(&mut self, drive: Drive);
    /// Simulate that frame.
    fn advance(&mut self, state: &mut State) -> Vec<BodyReport>;
    /// What is wrong with a state at the start of that frame, before anything moves.
    fn survey(&mut self, state: &State) -> Vec<BodyReport>;
    /// The vertices of a body and how good they are.
    fn fetch(&mut self, state: &State, body: usize, vertices: &mut Vertices) -> Quality;
    /// Time spent since this was last asked.
    fn take_seconds(&mut self) -> PhaseSeconds;
    /// What the user should know since this was last asked, such as that the device is gone.
    fn take_note(&mut self) -> Option<String> {
        None
    }
    /// Why nothing that it says from now on counts, if so.
    fn failure(&self) -> Option<String> {
        None
    }
    /// What a device has done, if there is one.
    fn device_report(&self) -> Option<DeviceReport> {
        None
    }
}

/// How often a frame that misses its tolerance is simulated again, each time with twice the steps.
const FRAME_RETRIES: u32 = 3;
/// What of a miss may be left after twice the steps, for another try to be worth its time.
const WORTH_REPEATING: f64 = 0.8;

/// Below any miss of stretch: what is left is thickness and friction.
const LENGTHS_KEPT: f64 = 0.5;

/// What one frame took.
#[derive(Clone, Debug, Default)]
pub struct FrameReport {
    /// Steps of the attempt that counts.
    pub substeps: u32,
    /// One report a body, of the attempt that counts.
    pub bodies: Vec<BodyReport>,
    /// Time spent, all attempts together; it decides nothing.
    pub seconds: PhaseSeconds,
}

/// Simulate one frame; `drive.substeps` is filled in here. With automatic steps, a frame that breaks its promise is simulated again from its
/// start with twice the steps: an impact can ask for more than the rule foresees. Where that hardly helps, it is not the steps, and the
/// better attempt counts.
pub fn advance_frame(
    backend: &mut dyn Backend,
    scene: &Scene,
    model: &Model,
    state: &mut State,
    drive: Drive,
) -> FrameReport {
    let mut substeps = substeps::choose(scene, model, state, drive.moments[0].frame);
    let most = match scene.substeps {
        Substeps::Auto { most, .. } => most,
        Substeps::Fixed(count) => count,
    };
    let start = state.clone();
    let mut before: Option<(f64, f64, State, FrameReport)> = None;
    // The first attempt that kept the lengths, which is what the number of steps is learnt from.
    let mut enough: Option<(u32, Vec<BodyReport>)> = None;
    let mut seconds = PhaseSeconds::default();
    for attempt in 0.. {
        backend.drive(Drive { substeps, ..drive });
        let bodies = backend.advance(state);
        seconds += backend.take_seconds();
        let worst = |of: fn(&BodyReport) -> f64| bodies.iter().map(of).fold(0.0, cpu::independent::larger);
        let (missed, badness) = (worst(BodyReport::missed_by), worst(BodyReport::badness));
        if enough.is_none() && missed < LENGTHS_KEPT {
            enough = Some((attempt, bodies.clone()));
        }
        let mut report = FrameReport { substeps, bodies, seconds };
        let hardly_helps = before.as_ref().is_some_and(|(last, ..)| missed > WORTH_REPEATING * last);
        if missed <= 0.0 || attempt == FRAME_RETRIES || 2 * substeps > most || hardly_helps {
            if let Some((.., better, of_better)) = before.filter(|(_, last, ..)| badness > *last) {
                *state = better;
                report = FrameReport { seconds, ..of_better };
            }
            // What more steps did not mend must not make the next frames dear.
            if let Some((attempt, reports)) = enough {
                for (number, (moving, report)) in state.bodies.iter_mut().zip(&reports).enumerate() {
                    let is_soft = number >= model.cloths.len();
                    moving.pace = substeps::learn(moving.pace, 1 << attempt, report, is_soft);
                }
            }
            return report;
        }
        before = Some((missed, badness, std::mem::replace(state, start.clone()), report));
        substeps *= 2;
    }
    FrameReport::default()
}
