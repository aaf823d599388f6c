//! Key frames as glTF has them: steps, straight lines or cubic splines between keys, held before the first and after
//! the last.

use nalgebra::{Quaternion, UnitQuaternion};

use crate::math::affine::slerp;

/// What happens between two keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// The earlier key holds.
    Step,
    /// A straight line; an arc of constant speed for turns.
    Linear,
    /// A Hermite spline; every key has the tangent before it, its value, and the tangent after it.
    CubicSpline,
}

/// Values over time; every key has `width` numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Keys {
    interpolation: Interpolation,
    times: Vec<f64>,
    values: Vec<f64>,
    width: usize,
}

/// Where a moment lies among keys.
enum Spot {
    At(usize),
    /// After this key, this share of the way to the next one, which is this far away [s].
    Between(usize, f64, f64),
}

impl Keys {
    /// `None` if there is no key, if times go back, or if there are not as many values as the keys need.
    pub fn new(interpolation: Interpolation, times: Vec<f64>, values: Vec<f64>, width: usize) -> Option<Self> {
        let per_key = if interpolation == Interpolation::CubicSpline { 3 } else { 1 };
        let is_ascending = times.is_sorted_by(|a, b| a <= b);
        let wanted = times.len().checked_mul(per_key)?.checked_mul(width)?;
        (!times.is_empty() && is_ascending && values.len() == wanted).then_some(Keys {
            interpolation,
            times,
            values,
            width,
        })
    }

    /// Times of the first and of the last key [s].
    pub fn span(&self) -> (f64, f64) {
        (self.times[0], self.times[self.times.len() - 1])
    }

    /// Times of all keys [s], ascending.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// Numbers a key.
    pub fn width(&self) -> usize {
        self.width
    }

    fn spot(&self, seconds: f64) -> Spot {
        let next = self.times.partition_point(|&time| time <= seconds);
        if next == 0 || next == self.times.len() {
            return Spot::At(next.saturating_sub(1));
        }
        let distance = self.times[next] - self.times[next - 1];
        Spot::Between(next - 1, (seconds - self.times[next - 1]) / distance, distance)
    }

    /// Number `n` of a key; of a spline's key, its value.
    fn value(&self, key: usize, n: usize) -> f64 {
        match self.interpolation {
            Interpolation::CubicSpline => self.values[(3 * key + 1) * self.width + n],
            _ => self.values[key * self.width + n],
        }
    }

    /// Number `n` between two keys of a spline; tangents are per second, so the distance of the keys scales them.
    fn spline(&self, key: usize, s: f64, distance: f64, n: usize) -> f64 {
        let leaving = distance * self.values[(3 * key + 2) * self.width + n];
        let arriving = distance * self.values[3 * (key + 1) * self.width + n];
        let (from, to) = (self.value(key, n), self.value(key + 1, n));
        let (s2, s3) = (s * s, s * s * s);
        (2.0 * s3 - 3.0 * s2 + 1.0) * from
            + (s3 - 2.0 * s2 + s) * leaving
            + (3.0 * s2 - 2.0 * s3) * to
            + (s3 - s2) * arriving
    }

    /// Number `n` of the value at a time [s].
    pub fn at(&self, seconds: f64, n: usize) -> f64 {
        match (self.spot(seconds), self.interpolation) {
            (Spot::At(key), _) | (Spot::Between(key, ..), Interpolation::Step) => self.value(key, n),
            (Spot::Between(key, s, _), Interpolation::Linear) => {
                (1.0 - s) * self.value(key, n) + s * self.value(key + 1, n)
            }
            (Spot::Between(key, s, distance), Interpolation::CubicSpline) => self.spline(key, s, distance, n),
        }
    }

    /// The turn at a time [s], from keys of four numbers x, y, z, w.
    pub fn rotation_at(&self, seconds: f64) -> UnitQuaternion<f64> {
        let turn = |key: usize| quaternion([0, 1, 2, 3].map(|n| self.value(key, n)));
        match (self.spot(seconds), self.interpolation) {
            (Spot::At(key), _) | (Spot::Between(key, ..), Interpolation::Step) => turn(key),
            (Spot::Between(key, s, _), Interpolation::Linear) => slerp(&turn(key), &turn(key + 1), s),
            (Spot::Between(key, s, distance), Interpolation::CubicSpline) => {
                quaternion([0, 1, 2, 3].map(|n| self.spline(key, s, distance, n)))
            }
        }
    }
}

/// A turn from x, y, z, w of any length; no turn if they are all 0.
pub fn quaternion([x, y, z, w]: [f64; 4]) -> UnitQuaternion<f64> {
    UnitQuaternion::try_new(Quaternion::new(w, x, y, z), 1e-150).unwrap_or_default()
}
