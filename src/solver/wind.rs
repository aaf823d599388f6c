//! The air's velocity over place and time.
//!
//! Idea: the mean wind swells and falls with the gust, and carries eddies: three independent noises of about half a metre that
//! drift with the mean wind and change within about half a second. Everything follows from the seed.

use crate::math::Vec3;
use crate::math::noise::value_noise;
use crate::scene::Wind;

/// Time in which a gust rises or falls [s].
const GUST_SECONDS: f64 = 1.5;
/// Size of an eddy [m].
const EDDY_METRES: f64 = 0.5;
/// Time in which an eddy turns into another one [s].
const EDDY_SECONDS: f64 = 0.5;

/// The wind during one frame.
#[derive(Clone, Copy, Debug)]
pub struct Weather {
    mean: Vec3,
    eddy_speed: f64,
    drift: Vec3,
    seconds: f64,
    seed: u64,
}

impl Weather {
    /// The weather at a key-frame time and a clock time, when the eddies have drifted so far.
    pub fn at(wind: &Wind, frame: f64, seconds: f64, drift: Vec3) -> Self {
        let speed = wind.speed.at(frame);
        let gust = value_noise(wind.seed, [seconds / GUST_SECONDS, 0.0, 0.0, 0.0]);
        let direction = wind.direction.at(frame);
        let direction = if direction.norm() > 0.0 { direction.normalize() } else { Vec3::zeros() };
        Weather {
            mean: direction * (speed * (1.0 + wind.gust.at(frame) * gust).max(0.0)),
            eddy_speed: speed * wind.turbulence.at(frame),
            drift,
            seconds,
            seed: wind.seed,
        }
    }

    /// The drift after some more seconds of this weather. Summed up, because a wind that changes must not move all of its past.
    pub fn drift_after(&self, seconds: f64) -> Vec3 {
        self.drift + self.mean * seconds
    }

    /// The air's velocity at a point [m/s].
    pub fn velocity(&self, point: Vec3) -> Vec3 {
        if self.eddy_speed == 0.0 {
            return self.mean;
        }
        let p = (point - self.drift) / EDDY_METRES;
        let t = self.seconds / EDDY_SECONDS;
        self.mean
            + Vec3::from_fn(|axis, _| {
                self.eddy_speed * value_noise(self.seed.wrapping_add(1 + axis as u64), [p.x, p.y, p.z, t])
            })
    }
}
