//! Where one looks from, and how far away to stand so that everything is in the picture.

use super::look;
use crate::math::Vec3;

/// Nothing nearer than this part of the distance to the target is seen.
const NEAREST: f64 = 1e-3;
/// A picture is so much larger than what has to be in it.
const MARGIN: f64 = 1.1;

/// A camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Where it stands [m].
    pub eye: Vec3,
    /// To the right of the picture.
    pub right: Vec3,
    /// Up in the picture.
    pub up: Vec3,
    /// Into the picture.
    pub forward: Vec3,
    /// How much of a thing's distance fits between the middle of the picture and its upper edge.
    pub slope: f64,
    /// How far away what it looks at is [m].
    pub distance: f64,
}

/// The slope of a field of view from top to bottom [degrees].
pub fn slope(field_of_view: f64) -> f64 {
    (field_of_view.to_radians() / 2.0).tan()
}

impl Camera {
    /// From around a target: `azimuth` 0 looks along -z, `elevation` from above [radians].
    pub fn around(target: Vec3, [azimuth, elevation]: [f64; 2], distance: f64, field_of_view: f64) -> Self {
        let ((sy, cy), (sp, cp)) = (azimuth.sin_cos(), elevation.sin_cos());
        let forward = Vec3::new(-cp * sy, -sp, -cp * cy);
        Camera {
            eye: target - distance * forward,
            right: Vec3::new(cy, 0.0, -sy),
            up: Vec3::new(-sp * sy, cp, -sp * cy),
            forward,
            slope: slope(field_of_view),
            distance,
        }
    }

    /// From one place to another one.
    pub fn looking(eye: Vec3, target: Vec3, field_of_view: f64) -> Option<Self> {
        let away = eye - target;
        let distance = away.norm();
        if !(distance > 0.0 && distance.is_finite()) {
            return None;
        }
        let azimuth = if away.x == 0.0 && away.z == 0.0 { 0.0 } else { away.x.atan2(away.z) };
        let elevation = (away.y / distance).clamp(-1.0, 1.0).asin();
        let camera = Camera::around(target, [azimuth, elevation], distance, field_of_view);
        Some(Camera { eye, ..camera })
    }

    /// How far away it has to be from what it looks at to see a point with a margin [m]; its own distance does not count.
    pub fn distance_for(&self, p: Vec3, aspect: f64) -> f64 {
        let from_target = p - (self.eye + self.distance * self.forward);
        let slope = self.slope / MARGIN;
        let aside = from_target.dot(&self.right).abs() / (slope * aspect);
        aside.max(from_target.dot(&self.up).abs() / slope) - from_target.dot(&self.forward)
    }

    /// The nearest that is seen [m].
    pub fn nearest(&self) -> f64 {
        NEAREST * self.distance
    }
}

/// How far points reach to all sides of a picture; finds the nearest place to stand from which all of them are seen.
#[derive(Clone, Debug)]
pub struct Framing {
    camera: Camera,
    slopes: [f64; 2],
    /// Of `±x - slope z` and `±y - slope z`.
    reach: [f64; 4],
    low: Vec3,
    high: Vec3,
    farthest: [f64; 2],
}

impl Framing {
    /// For a direction and a picture that is `aspect` times as wide as high.
    pub fn new(direction: [f64; 2], field_of_view: f64, aspect: f64) -> Self {
        let camera = Camera::around(Vec3::zeros(), direction, 0.0, field_of_view);
        let slopes = [camera.slope * aspect / MARGIN, camera.slope / MARGIN];
        let (low, high) = (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY));
        Framing {
            camera,
            slopes,
            reach: [f64::NEG_INFINITY; 4],
            low,
            high,
            farthest: [f64::INFINITY, f64::NEG_INFINITY],
        }
    }

    /// This point has to be seen; points that are not numbers do not count.
    pub fn add(&mut self, p: Vec3) {
        if !p.iter().all(|x| x.is_finite()) {
            return;
        }
        let Camera { right, up, forward, .. } = self.camera;
        let (x, y, z) = (p.dot(&right), p.dot(&up), p.dot(&forward));
        let [sx, sy] = self.slopes;
        for (reach, value) in self.reach.iter_mut().zip([x - sx * z, -x - sx * z, y - sy * z, -y - sy * z]) {
            *reach = reach.max(value);
        }
        (self.low, self.high) = (self.low.inf(&p), self.high.sup(&p));
        self.farthest = [self.farthest[0].min(z), self.farthest[1].max(z)];
    }

    /// What all points together span.
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        (self.low.x <= self.high.x).then_some((self.low, self.high))
    }

    /// The camera; `distance` replaces the one that would just do.
    pub fn camera(&self, distance: Option<f64>) -> Camera {
        let Some((low, high)) = self.bounds() else {
            let target = Vec3::new(0.0, 0.5, 0.0);
            return Camera { eye: target - 4.0 * self.camera.forward, distance: 4.0, ..self.camera };
        };
        let Camera { right, up, forward, .. } = self.camera;
        let [left, to_right, down, to_top] = [self.reach[1], self.reach[0], self.reach[3], self.reach[2]];
        let [sx, sy] = self.slopes;
        // As far back as the wider of the two directions needs; in the other one the middle.
        let z = (-(left + to_right) / (2.0 * sx)).min(-(down + to_top) / (2.0 * sy));
        let size = (high - low).norm().max(1e-6);
        let middle = 0.5 * (self.farthest[0] + self.farthest[1]);
        // A single point is looked at from somewhere.
        let z = z.min(self.farthest[0] - 0.05 * size).min(middle - 1e-3 * size);
        let (x, y) = ((to_right - left) / 2.0, (to_top - down) / 2.0);
        let z = distance.map_or(z, |distance| middle - distance);
        Camera { eye: x * right + y * up + z * forward, distance: middle - z, ..self.camera }
    }
}

impl Default for Framing {
    fn default() -> Self {
        Framing::new(look::DIRECTION, look::FIELD_OF_VIEW, 16.0 / 9.0)
    }
}
