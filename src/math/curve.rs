//! Values that may change over time: a constant, or key frames.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::Vec3;

/// How a curve passes from one key to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Interpolation {
    /// Straight lines between keys.
    #[default]
    Linear,
    /// Each key holds until the next one.
    Step,
    /// Slow start and slow stop at each key.
    Smooth,
}

/// What a curve can carry.
pub trait Blend: Copy {
    /// `self` at `t = 0`, `other` at `t = 1`.
    fn blend(self, other: Self, t: f64) -> Self;
}

impl Blend for f64 {
    fn blend(self, other: f64, t: f64) -> f64 {
        self + (other - self) * t
    }
}

impl Blend for Vec3 {
    fn blend(self, other: Vec3, t: f64) -> Vec3 {
        self + (other - self) * t
    }
}

/// A value over frames. Before the first and after the last key it holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve<T> {
    keys: Vec<(f64, T)>,
    interpolation: Interpolation,
}

impl<T: Blend> Curve<T> {
    /// The same value at all times.
    pub fn constant(value: T) -> Self {
        Curve { keys: vec![(0.0, value)], interpolation: Interpolation::Linear }
    }

    /// Keys as `(frame, value)`, frames strictly ascending, at least one; `None` otherwise.
    pub fn from_keys(keys: Vec<(f64, T)>, interpolation: Interpolation) -> Option<Self> {
        let ascending = keys.windows(2).all(|pair| pair[0].0 < pair[1].0);
        (!keys.is_empty() && ascending && keys.iter().all(|key| key.0.is_finite()))
            .then_some(Curve { keys, interpolation })
    }

    /// The value at a (fractional) frame.
    pub fn at(&self, frame: f64) -> T {
        let next = self.keys.partition_point(|key| key.0 <= frame);
        if next == 0 {
            return self.keys[0].1;
        }
        let (start, from) = self.keys[next - 1];
        let Some(&(end, to)) = self.keys.get(next) else {
            return from;
        };
        let t = (frame - start) / (end - start);
        match self.interpolation {
            Interpolation::Linear => from.blend(to, t),
            Interpolation::Step => from,
            Interpolation::Smooth => from.blend(to, t * t * (3.0 - 2.0 * t)),
        }
    }

    /// Whether time changes nothing.
    pub fn is_constant(&self) -> bool {
        self.keys.len() == 1
    }

    /// The same curve with every value changed by `f`.
    pub fn map<U>(&self, f: impl Fn(T) -> U) -> Curve<U> {
        Curve {
            keys: self.keys.iter().map(|&(frame, value)| (frame, f(value))).collect(),
            interpolation: self.interpolation,
        }
    }

    /// The frames of the keys, for range checks.
    pub fn frames(&self) -> impl Iterator<Item = f64> + '_ {
        self.keys.iter().map(|key| key.0)
    }

    /// The values at the keys, for range checks.
    pub fn values(&self) -> impl Iterator<Item = T> + '_ {
        self.keys.iter().map(|key| key.1)
    }
}

/// Written as in a scene file: a bare value, or `{ keys, interpolation }`.
impl<T: Serialize> Serialize for Curve<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let [(_, value)] = self.keys.as_slice() {
            return value.serialize(serializer);
        }
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("keys", &self.keys)?;
        map.serialize_entry("interpolation", &self.interpolation)?;
        map.end()
    }
}
