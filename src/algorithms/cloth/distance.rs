//! Two particles that keep their distance.
//!
//! Based on: [Bender14 §4.2.1], eqs. 4.1-4.3 (Distanzbedingung), signs as in 4.5
//! Idea:     measure the error on the look-ahead positions and remove it with a pair of opposite impulses.
//! Deviates: the impulse acts along the look-ahead direction, which stays stable at steps where the direction at the start of
//!           the step gains energy; and the length error is measured in squares, `(l² - l0²) / 2 l0²` for `(l - l0) / l`:
//!           equal to first order, no root, no division, and finite where two particles meet.
//! Test:     tests/algorithms/distance.rs

use crate::math::Vec3;

/// Largest part of the look-ahead distance that one correction removes. The squared form over-corrects by half here (at 26 %
/// stretch) and by less below, so a sweep cannot overshoot; it also caps the impulse that pulls a torn model together.
pub const LARGEST_CORRECTION: f64 = 0.3;

/// One distance constraint, ready for the sweep. A correction moves `a` by `+share_a * c d` and `b` by `-share_b * c d`.
#[derive(Clone, Copy, Debug)]
pub struct Distance {
    /// `1 / l0²` [1/m²]
    pub inverse_rest_squared: f64,
    /// `k_a / (k_a + k_b)`
    pub share_a: f64,
    /// `k_b / (k_a + k_b)`
    pub share_b: f64,
    /// Part of a missing length that a correction adds: 1 for a pair that keeps its distance, 0 for one that may come closer, and in between
    /// for one that resists it (see `resist`).
    pub push: f64,
}

/// What a pair of particles must keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeps {
    /// Its distance.
    Distance,
    /// At most its distance: a thread that goes slack.
    AtMost,
}

impl Distance {
    /// From the rest distance [m] and the two inverse masses, at least one of which is not zero.
    pub fn new(rest: f64, k_a: f64, k_b: f64, keeps: Keeps) -> Self {
        let sum = k_a + k_b;
        let share = |k: f64| if sum > 0.0 { k / sum } else { 0.0 };
        Distance {
            inverse_rest_squared: 1.0 / (rest * rest),
            share_a: share(k_a),
            share_b: share(k_b),
            push: if keeps == Keeps::AtMost { 0.0 } else { 1.0 },
        }
    }

    /// Let a pair that may come closer resist that like a spring of this stiffness [N/m], taken implicitly in steps of length `h` [s];
    /// `k` is the sum of both inverse masses.
    pub fn resist(&mut self, stiffness: f64, k: f64, h: f64) {
        let strength = stiffness * k * h * h;
        self.push = strength / (1.0 + strength);
    }

    /// `(l/l0)² - 1` of the look-ahead pair.
    #[inline(always)]
    pub fn squared_strain(&self, d: Vec3) -> f64 {
        d.norm_squared() * self.inverse_rest_squared - 1.0
    }

    /// Move the look-ahead positions of a pair to its rest distance; returns the squared strain before [4.2].
    #[inline(always)]
    pub fn correct_position(&self, a: &mut Vec3, b: &mut Vec3) -> f64 {
        let d = *b - *a;
        let strain = self.squared_strain(d);
        let correction = d * (0.5 * strain * if strain < 0.0 { self.push } else { 1.0 }).min(LARGEST_CORRECTION);
        *a += correction * self.share_a;
        *b -= correction * self.share_b;
        strain
    }

    /// Whether the pair may come closer than its distance.
    pub fn can_go_slack(&self) -> bool {
        self.push < 1.0
    }

    /// What of a squared strain counts as an error: shortness does not where the pair may go slack.
    #[inline(always)]
    pub fn error(&self, squared_strain: f64) -> f64 {
        // What is not a number stays one.
        if self.can_go_slack() && squared_strain < 0.0 { 0.0 } else { squared_strain }
    }

    /// Take the relative velocity along the pair away [4.3]; `d` is the pair's direction at rest length or close to it.
    #[inline(always)]
    pub fn correct_velocity(&self, d: Vec3, v_a: &mut Vec3, v_b: &mut Vec3) {
        // A pair that is too long would be over-corrected by its rest length.
        let inverse_squared = self.inverse_rest_squared.min(1.0 / d.norm_squared());
        let correction = d * ((*v_b - *v_a).dot(&d) * inverse_squared);
        *v_a += correction * self.share_a;
        *v_b -= correction * self.share_b;
    }
}

/// Relative stretch `|l/l0 - 1|` from the squared strain `(l/l0)² - 1`.
pub fn stretch(squared_strain: f64) -> f64 {
    ((1.0 + squared_strain).max(0.0).sqrt() - 1.0).abs()
}
