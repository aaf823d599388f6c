//! The worst figures of a bake, and whether they keep the limits of `[gates]`.

use super::exit::{Exit, Failure};
use crate::cache::frames_log::{Degraded, FrameRecord, ObjectRecord};
use crate::model::Promise;
use crate::scene::{Cloth, Gates};

/// A figure of a frame that can have a limit.
struct Metric {
    /// As in `[gates]` and in `frames.jsonl`.
    name: &'static str,
    /// None for objects that do not have it.
    of: fn(&ObjectRecord) -> Option<f64>,
    limit: fn(&Gates) -> Option<f64>,
}

const METRICS: [Metric; 5] = [
    Metric { name: "max_stretch", of: |object| of_cloth(object, object.max_stretch), limit: |gates| gates.max_stretch },
    Metric {
        name: "max_constraint_stretch",
        of: |object| of_cloth(object, object.max_constraint_stretch),
        limit: |gates| gates.max_constraint_stretch,
    },
    Metric { name: "max_volume_error", of: |object| object.max_volume_error, limit: |gates| gates.max_volume_error },
    Metric { name: "max_penetration", of: |object| Some(object.max_penetration), limit: |gates| gates.max_penetration },
    Metric {
        name: "max_crossings",
        of: |object| Some(object.crossings as f64),
        limit: |gates| gates.max_crossings.map(|most| most as f64),
    },
];

/// Soft bodies may stretch.
fn of_cloth(object: &ObjectRecord, value: f64) -> Option<f64> {
    object.max_volume_error.is_none().then_some(value)
}

/// The worst value that one figure of one object had.
#[derive(Clone, Debug, PartialEq)]
pub struct Worst {
    /// As in `[gates]`.
    pub metric: &'static str,
    /// Whose figure it is.
    pub object: String,
    /// Relative for stretch and volume, metres for penetration, a number for crossings.
    pub value: f64,
    /// Where it was, the first one of equals.
    pub frame: i64,
    /// What the gate allows; none without a gate.
    pub limit: Option<f64>,
}

impl Worst {
    /// Whether the gate is missed.
    pub fn is_missed(&self) -> bool {
        self.limit.is_some_and(|limit| self.value > limit)
    }

    /// A value of this figure for people.
    pub fn show(&self, value: f64) -> String {
        match self.metric {
            "max_crossings" => format!("{value:.0}"),
            "max_penetration" => format!("{:.3} mm", 1000.0 * value),
            _ => format!("{:.3} %", 100.0 * value),
        }
    }
}

/// Frames in which a promise of an object had to yield.
#[derive(Clone, Debug, PartialEq)]
pub struct Yielded {
    /// Whose.
    pub object: String,
    /// Which.
    pub promise: Promise,
    /// The other object, if there is one.
    pub with: Option<String>,
    /// How many frames.
    pub frames: u64,
    /// The first one.
    pub first: i64,
    /// Most vertices in a frame.
    pub most: u64,
}

impl Yielded {
    /// For people.
    pub fn describe(&self) -> String {
        let Yielded { object, promise, with, frames, first, most } = self;
        let with =
            with.as_ref().filter(|with| *with != object).map_or(String::new(), |with| format!(" with \"{with}\""));
        let plural = |count: u64, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
        format!(
            "\"{object}\" broke its promise of {}{with} in {} (first in {first}, at most {}); frames.jsonl lists where",
            promise.name(),
            plural(*frames, "frame", "frames"),
            plural(*most, "vertex", "vertices"),
        )
    }
}

/// Collects the worst figures, frame by frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Watch {
    limits: Gates,
    worst: Vec<Worst>,
    yielded: Vec<Yielded>,
}

impl Watch {
    /// Watches with these limits.
    pub fn new(limits: &Gates) -> Self {
        Watch { limits: limits.clone(), worst: Vec::new(), yielded: Vec::new() }
    }

    /// Takes in a frame.
    pub fn observe(&mut self, record: &FrameRecord) {
        for object in &record.objects {
            for degraded in &object.degraded {
                let Degraded { promise, with, count, .. } = degraded.clone();
                let is_same = |y: &&mut Yielded| y.object == object.name && y.promise == promise && y.with == with;
                match self.yielded.iter_mut().find(is_same) {
                    Some(known) => (known.frames, known.most) = (known.frames + 1, known.most.max(count)),
                    None => {
                        let (object, first) = (object.name.clone(), record.frame);
                        self.yielded.push(Yielded { object, promise, with, frames: 1, first, most: count });
                    }
                }
            }
            for metric in &METRICS {
                let Some(value) = (metric.of)(object) else { continue };
                let frame = record.frame;
                match self.worst.iter_mut().find(|w| w.metric == metric.name && w.object == object.name) {
                    Some(worst) if value <= worst.value => {}
                    Some(worst) => (worst.value, worst.frame) = (value, frame),
                    None => {
                        let (limit, object) = ((metric.limit)(&self.limits), object.name.clone());
                        self.worst.push(Worst { metric: metric.name, object, value, frame, limit });
                    }
                }
            }
        }
    }

    /// One line for each cloth that stretched more than it should, whether there is a gate for it or not.
    pub fn overstretched(&self, cloths: &[Cloth]) -> Vec<String> {
        let line = |cloth: &Cloth| {
            let worst = self.worst.iter().find(|w| w.metric == METRICS[0].name && w.object == cloth.name)?;
            let (value, limit) = (worst.show(worst.value), worst.show(cloth.fabric.max_stretch));
            let (name, frame) = (&cloth.name, worst.frame);
            (worst.value > cloth.fabric.max_stretch).then(|| {
                format!("\"{name}\" stretched by {value} at frame {frame}, more than its max_stretch of {limit}: raise `substeps`, or look for pins and colliders that pull it apart")
            })
        };
        cloths.iter().filter_map(line).collect()
    }

    /// Promises that had to yield so far, in the order in which they first did.
    pub fn yielded(&self) -> &[Yielded] {
        &self.yielded
    }

    /// The worst figures so far, by object, then by figure.
    pub fn worst(&self) -> &[Worst] {
        &self.worst
    }

    /// The failure of a bake whose gates are missed: one message with all of them.
    pub fn failure(&self) -> Option<Failure> {
        let missed: Vec<String> = self.worst.iter().filter(|worst| worst.is_missed()).map(describe_miss).collect();
        let remedy = "all files are written; raise `substeps` or the limit in [gates], then bake with --restart";
        (!missed.is_empty()).then(|| Failure::new(Exit::GateFailed, missed.join("; "), remedy))
    }
}

fn describe_miss(worst: &Worst) -> String {
    let (value, limit) = (worst.show(worst.value), worst.show(worst.limit.unwrap_or_default()));
    format!(
        "gate {} missed: \"{}\" has {value} at frame {}, the limit is {limit}",
        worst.metric, worst.object, worst.frame
    )
}
