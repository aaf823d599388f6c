//! Elasticity and volume of a soft body of tetrahedra.
//!
//! Based on: [Bender14 §4.4.1.2]
//!
//! No step begins with the pressure of the one before: sweeps leave slow errors, which such a guess adds up over the steps, against a motion that
//! nothing damps, and what is at rest begins to swing. More than two thirds of it is unstable, and half of it saves nothing.

use super::filling::Filling;
use super::independent::{larger, sweep, sweep_sets};
use crate::algorithms::volume::edge_spring::{self, EdgeSpring};
use crate::algorithms::volume::tet_volume;
use crate::math::Vec3;
use crate::model::{BodyState, SoftBodyModel, TetBody};

/// Most sweeps over the volumes in a step.
const MOST_SWEEPS: u32 = 400;
/// Fewest: with one alone, which is often enough for the tolerance, heavy bodies never come to rest.
const LEAST_SWEEPS: u32 = 4;

/// A lattice's private memory.
pub struct TetFilling<'m> {
    body: &'m SoftBodyModel,
    tets: &'m TetBody,
    /// Springs for the present step.
    springs: Vec<EdgeSpring>,
    h: f64,
    /// How many times its volume at rest it has at the end of the step.
    growth: f64,
}

impl<'m> TetFilling<'m> {
    /// Memory for a soft body.
    pub fn new(body: &'m SoftBodyModel, tets: &'m TetBody) -> Self {
        TetFilling { body, tets, springs: Vec::new(), h: 0.0, growth: 1.0 }
    }

    /// Relative error of each part's volume.
    fn errors<'a>(&'a self, x: &'a [Vec3]) -> impl Iterator<Item = f64> + 'a {
        let tets = self.tets;
        (0..tets.sets.len()).map(move |set| {
            let particles = tets.sets.set(set);
            let at = |corners: &tet_volume::Corners| {
                let [a, b, c, d] = corners.map(|corner| x[particles[usize::from(corner)] as usize]);
                (b - a).dot(&(c - a).cross(&(d - a))) / 6.0
            };
            let volume: f64 = tets.set_tets.row(set).iter().map(at).sum();
            tet_volume::relative_error(volume, tets.set_volumes[set] * self.growth)
        })
    }
}

impl Filling for TetFilling<'_> {
    fn begin_frame(&mut self, _: &BodyState) {}

    fn begin_step(&mut self, h: f64, frame: f64) {
        self.growth = self.body.growth(frame);
        if self.h != h {
            self.h = h;
            let damping = self.body.flesh.damping;
            let spring = |stiffness: &f64| EdgeSpring::new(*stiffness, damping, h);
            self.springs = self.tets.stiffnesses.iter().map(spring).collect();
        }
    }

    fn damp(&mut self, moving: &mut BodyState) {
        let (body, springs) = (self.body, &self.springs);
        if body.flesh.damping > 0.0 {
            let BodyState { x, v, .. } = moving;
            sweep(&self.tets.edges, v, |row, ends, a, b| {
                let difference = x[ends[1] as usize] - x[ends[0] as usize];
                springs[row].damp(a, b, difference, ends.map(|end| body.k[end as usize]));
                0.0
            });
        }
    }

    fn spring(&mut self, moving: &BodyState, ahead: &mut [Vec3]) {
        let (body, springs) = (self.body, &self.springs);
        let lengths = if moving.flowed.is_empty() { &self.tets.lengths } else { &moving.flowed };
        sweep(&self.tets.edges, ahead, |row, ends, a, b| {
            springs[row].correct_position(a, b, lengths[row], ends.map(|end| body.k[end as usize]));
            0.0
        });
    }

    fn heed_contacts(&mut self, _: &[Vec3], _: &[bool]) {}

    fn moves_only_what_is_free(&self) -> bool {
        false
    }

    fn sweep(&mut self, ahead: &mut [Vec3]) -> f64 {
        let (tets, growth) = (self.tets, self.growth);
        sweep_sets(&tets.sets, ahead, |set, scratch| {
            let k = tets.set_k.row(set);
            let (values, gradient) = (&mut scratch.values, &mut scratch.gradient);
            let error = tet_volume::correct_position(&tets.part(set), growth, values, k, gradient);
            let least = tet_volume::LEAST_PART * tets.set_volumes[set] * growth;
            if error > 1.0 - tet_volume::LEAST_PART
                && tet_volume::volume(tets.set_tets.row(set), &scratch.values) < least
            {
                tet_volume::turn_back(tets.set_shape.row(set), tets.tets.cell_size, &mut scratch.values, k);
            }
            error
        })
    }

    fn sweeps(&self) -> [u32; 2] {
        [LEAST_SWEEPS, MOST_SWEEPS]
    }

    fn enough(&self) -> f64 {
        1.0
    }

    fn calm(&mut self, _: &[Vec3], _: &mut [Vec3]) {}

    fn flow(&self, moving: &mut BodyState) {
        let (tets, Some(plasticity)) = (self.tets, self.body.flesh.plasticity) else {
            return;
        };
        if moving.flowed.is_empty() {
            moving.flowed.clone_from(&tets.lengths);
        }
        let BodyState { x, flowed, .. } = moving;
        for ((rest, &[a, b]), &original) in flowed.iter_mut().zip(tets.edges.pairs()).zip(&tets.lengths) {
            let length = (x[b as usize] - x[a as usize]).norm();
            *rest = edge_spring::flow(*rest, length, original, plasticity.yields_at, plasticity.creep, self.h);
        }
    }

    fn worst_error(&self, x: &[Vec3]) -> f64 {
        self.errors(x).fold(0.0, larger)
    }

    fn whole_error(&self, x: &[Vec3]) -> f64 {
        let volume = |x: &[Vec3]| -> f64 {
            let of_one = |corners: &[u32; 4]| {
                let [a, b, c, d] = corners.map(|node| x[node as usize]);
                (b - a).dot(&(c - a).cross(&(d - a)))
            };
            self.tets.tets.tets.iter().map(of_one).sum()
        };
        volume(x) / (volume(&self.body.rest) * self.growth) - 1.0
    }

    fn mark_broken(&self, x: &[Vec3], is_broken: &mut [bool]) {
        let tolerance = self.body.flesh.volume_tolerance;
        for (set, _) in self.errors(x).enumerate().filter(|(_, error)| *error > tolerance) {
            self.tets.sets.set(set).iter().for_each(|&particle| is_broken[particle as usize] = true);
        }
    }
}
