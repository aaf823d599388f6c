//! One touching point: it does not sink in, and it slides only against friction.
//!
//! Based on: [Bender14 §3.4, §4.3.6] (Kollision und bleibender Kontakt mit Reibung), look-ahead as in 2.3
//! Idea:     the plane is frozen; normal and tangential impulses are summed over all sweeps and the *sum* is kept
//!           within Coulomb's cone, so that sticking and sliding are exact whatever the number of sweeps.
//! Test:     tests/algorithms/resting.rs

use super::friction::Friction;
use crate::math::Vec3;

/// A contact of one point during one step. Impulses are per unit mass times the step: lengths [m].
#[derive(Clone, Copy, Debug)]
pub struct Resting {
    /// Out of the body.
    pub normal: Vec3,
    /// The point's position when the plane was frozen.
    pub seen_at: Vec3,
    /// Its distance from the thick surface then; negative when inside.
    pub gap: f64,
    /// Where it would be if it moved with the surface.
    pub carried_to: Vec3,
    /// Coulomb coefficients.
    pub friction: Friction,
    /// How far below the thick surface the point may still be at the end of the step: 0, or negative where it was deep inside.
    pub allowed: f64,
    /// How fast the point leaves after the step if it was pressed [m/s]: more than 0 where it bounces.
    pub bounce: f64,
    /// Sum of normal corrections so far, never negative.
    pub pressed: f64,
    /// Sum of tangential corrections so far.
    pub held: Vec3,
}

impl Resting {
    /// A point seen at a place, `gap` above the thick surface there.
    pub fn new(normal: Vec3, seen_at: Vec3, gap: f64, friction: impl Into<Friction>) -> Self {
        Resting {
            normal,
            seen_at,
            gap,
            carried_to: seen_at,
            friction: friction.into(),
            allowed: 0.0,
            bounce: 0.0,
            pressed: 0.0,
            held: Vec3::zeros(),
        }
    }

    /// Start a step without impulses; a point that sticks will be at `carried_to` at its end. What is deep inside already comes
    /// out by at most `push` in the step: out of a bad start it is led, not shot. A point that is pressed leaves at the speed of its `bounce`.
    pub fn begin_step(&mut self, carried_to: Vec3, push: f64, bounce: f64) {
        self.carried_to = carried_to;
        let gap = self.gap + (carried_to - self.seen_at).dot(&self.normal);
        self.allowed = (gap + push).min(0.0);
        self.bounce = bounce;
        self.pressed = 0.0;
        self.held = Vec3::zeros();
    }

    /// The displacement that a point at look-ahead position `y` still needs [m].
    #[inline]
    pub fn correct_position(&mut self, y: Vec3) -> Vec3 {
        let push = self.push_out(y, 0.0);
        let slip = y - self.carried_to;
        push + self.hold(slip - self.normal * slip.dot(&self.normal))
    }

    /// How far a point is above the thick surface; negative below it [m].
    #[inline]
    pub fn above(&self, y: Vec3) -> f64 {
        self.gap + (y - self.seen_at).dot(&self.normal)
    }

    /// The same without friction, which is the first to give way where the cloth could not keep its length otherwise. The point may be this
    /// much below the thick surface.
    #[inline]
    pub fn push_out(&mut self, y: Vec3, below: f64) -> Vec3 {
        let gap = self.above(y) + below - self.allowed;
        let pressed = (self.pressed - gap).max(0.0);
        let push = pressed - self.pressed;
        self.pressed = pressed;
        self.normal * push
    }

    /// The velocity change that a point with velocity `v` against the surface still needs [m/s]; only where the position pass
    /// pressed. The speed at which a sunken point was pushed out is taken away again, so nothing jumps: it is
    /// at rest then, or bounces.
    #[inline]
    pub fn correct_velocity(&mut self, v: Vec3, h: f64) -> Vec3 {
        if self.pressed <= 0.0 {
            return Vec3::zeros();
        }
        let normal_speed = v.dot(&self.normal);
        let excess = normal_speed - self.bounce;
        self.pressed = (self.pressed - excess * h).max(f64::MIN_POSITIVE);
        let slip = v - self.normal * normal_speed;
        self.hold(slip * h) / h - self.normal * excess
    }

    /// Oppose a tangential displacement as far as the cone allows.
    #[inline]
    fn hold(&mut self, slip: Vec3) -> Vec3 {
        let held = self.friction.allow(self.held - slip, self.pressed);
        let change = held - self.held;
        self.held = held;
        change
    }
}
