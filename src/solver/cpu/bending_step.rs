//! Bending impulses, at a steady beat whatever the number of steps.
//!
//! Idea: the beat divides the frame and the steps divide the beat, so that its length is the same in all frames of a bake. Explicit where
//! that is stable; otherwise implicit, with matrices that are constant and factorised once a bake.
//!
//! An implicit impulse reckons with the motion it will cause, but in cloth at rest the constraints let none of it happen: what it takes off its
//! force for that motion makes the cloth too soft. So damping, which would take off most, acts before the force and on its own, on the
//! motion that there is: together they had a cloth hang lower the more it was damped, in zigzags as fine as its mesh.

use super::for_each;
use crate::math::Vec3;
use crate::math::sparse_cholesky::SparseCholesky;
use crate::model::{BodyState, ClothModel};
use crate::solver::substeps::EXPLICIT_BENDING;

/// How bending is integrated during a frame.
#[derive(Default)]
pub struct BendingStep {
    /// Steps between two impulses.
    interval: u32,
    /// Damping time in use [s].
    damping: f64,
    /// The factors of the implicit form and the beat they are for.
    implicit: Option<(f64, Implicit)>,
    is_implicit: bool,
    /// Whether the implicit form is solved elsewhere, so that no matrix is factorised here.
    pub is_elsewhere: bool,
    /// Rows as measured.
    measured: Vec<Vec3>,
    /// How often a matrix was factorised.
    pub factorisations: u32,
}

/// The implicit form.
struct Implicit {
    /// `M + bend h τ Q`, if there is damping.
    damping: Option<SparseCholesky>,
    /// `M + bend h² Q`
    force: SparseCholesky,
}

impl BendingStep {
    /// Plan a frame of so many steps of length `h`, with an impulse every `interval` steps.
    pub fn begin_frame(&mut self, cloth: &ClothModel, h: f64, interval: u32) {
        self.measured.resize(cloth.bending.rows.len(), Vec3::zeros());
        self.interval = interval;
        let beat = h * f64::from(interval);
        self.damping = cloth.fabric.damping;
        let frequency_squared = cloth.bend_frequency_squared;
        self.is_implicit = beat * beat * frequency_squared > EXPLICIT_BENDING * EXPLICIT_BENDING;
        if !self.is_implicit {
            // Damping has a limit of stability too. The fastest waves get all that it allows, slower ones less than asked for.
            self.damping = self.damping.min(EXPLICIT_BENDING / (beat * frequency_squared));
        }
        // The same beat up to the rounding of a division.
        let is_known = |known: f64| (known - beat).abs() <= 1e-9 * beat;
        if self.is_implicit && !self.is_elsewhere && !self.implicit.as_ref().is_some_and(|(known, _)| is_known(*known))
        {
            self.implicit = implicit_bending(cloth, beat).map(|implicit| (beat, implicit));
            self.factorisations += 1;
        }
    }

    /// The length of the beat that begins with this step of the frame, if one does [s].
    pub fn beat(&self, cloth: &ClothModel, h: f64, step: u32) -> Option<f64> {
        (step.is_multiple_of(self.interval) && cloth.bend > 0.0).then(|| self.frame_beat(h))
    }

    /// The length of this frame's beats [s].
    pub fn frame_beat(&self, h: f64) -> f64 {
        h * f64::from(self.interval)
    }

    /// Damping time of the explicit form, none where the implicit one is used [s].
    #[cfg(feature = "gpu")]
    pub fn explicit_damping(&self) -> Option<f64> {
        (!self.is_implicit || (self.implicit.is_none() && !self.is_elsewhere)).then_some(self.damping)
    }

    /// The impulse of a beat, if one begins with this step of the frame.
    pub fn apply(&mut self, cloth: &ClothModel, moving: &mut BodyState, h: f64, step: u32) {
        let Some(beat) = self.beat(cloth, h, step) else {
            return;
        };
        let (x, v, damping) = (&moving.x, &moving.v, self.damping);
        if let Some((_, implicit)) = self.implicit.as_mut().filter(|_| self.is_implicit) {
            // (M + k h τ Q) v' = M v, then (M + k h² Q) v" = M v' - h k Q x
            if let Some(factor) = &mut implicit.damping {
                for_each(&mut moving.v, |i, v| *v *= implicit_mass(cloth, i));
                factor.solve(&mut moving.v);
            }
            for_each(&mut self.measured, |row, measured| *measured = cloth.bending.rows[row].measure(x));
            let measured = &self.measured;
            for_each(&mut moving.v, |i, v| {
                let mass = implicit_mass(cloth, i);
                *v = *v * mass - cloth.bending.gradient(i, measured) * (beat * cloth.bend);
            });
            implicit.force.solve(&mut moving.v);
            return;
        }
        for_each(&mut self.measured, |row, measured| {
            let row = &cloth.bending.rows[row];
            *measured = row.measure(x) + row.measure(v) * damping;
        });
        let measured = &self.measured;
        let scale = -cloth.bend * beat;
        for_each(&mut moving.v, |i, v| *v += cloth.bending.gradient(i, measured) * (scale * cloth.k[i]));
    }
}

/// Mass in the implicit bending system: led particles are so heavy that bending cannot move them.
fn implicit_mass(cloth: &ClothModel, particle: usize) -> f64 {
    if cloth.k[particle] > 0.0 { cloth.mass[particle] } else { 1e9 * cloth.mass[particle] }
}

fn implicit_bending(cloth: &ClothModel, h: f64) -> Option<Implicit> {
    let damping = cloth.fabric.damping;
    Some(Implicit {
        damping: if damping > 0.0 { Some(mass_and_bending(cloth, cloth.bend * h * damping)?) } else { None },
        force: mass_and_bending(cloth, cloth.bend * h * h)?,
    })
}

/// `M + scale Q`
fn mass_and_bending(cloth: &ClothModel, scale: f64) -> Option<SparseCholesky> {
    let mut entries: Vec<(u32, u32, f64)> =
        (0..cloth.k.len()).map(|i| (i as u32, i as u32, implicit_mass(cloth, i))).collect();
    for row in &cloth.bending.rows {
        for (i, a) in row.particles.iter().zip(row.coefficients) {
            for (j, b) in row.particles.iter().zip(row.coefficients) {
                if i >= j && a != 0.0 && b != 0.0 {
                    entries.push((*i, *j, scale * row.weight * a * b));
                }
            }
        }
    }
    SparseCholesky::build(cloth.k.len(), &entries)
}
