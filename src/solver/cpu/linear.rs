//! All constraints of a cloth at once: factorised, or by conjugate gradients with an old factor.
//!
//! Based on: [Bender14 §4.3.3]; the maths is in `algorithms/systems`
//!
//! ```text
//! direct   directions and factor at the end of a step serve its velocities and the positions of the next one; up to three
//!          back-solves, a new factor at the look-ahead positions where the errors do not halve
//! pcg      directions at the look-ahead positions, started from the last multipliers, preconditioned by a factor in f32 that is
//!          renewed every few steps, or by the diagonal where there are too many rows to factorise
//! ```
//!
//! Rows that can go slack are a question of which ones pull: those that did in the last step or are too long now are taken in, those that would
//! have to push are let go and the rest is solved again (a primal-dual active set), with a new factor each time. They have no velocity of their own to keep.
//!
//! The load number `h² T / (m l)` of the tightest row says how far a step can trust its directions. Above a fifth those at the start
//! of the step would gain energy without any stretch to show it, so the look-ahead ones are taken.

use super::independent::larger;
use crate::algorithms::systems::conjugate_gradient::{self, Scratch};
use crate::algorithms::systems::linear_system::LinearSystem;
use crate::math::Vec3;
use crate::math::rows::Rows;
use crate::math::sparse_cholesky::{Layout, SparseCholesky};
use crate::model::ClothModel;

/// Most back-solves a step.
pub(in crate::solver) const MOST_SOLVES: u32 = 3;
/// Above this load number directions are taken from the look-ahead positions.
const LARGEST_LOAD: f64 = 0.2;
/// Part of the allowed stretch at which a step has done enough.
pub(in crate::solver) const ENOUGH: f64 = 0.1;
/// Steps that an old factor serves, and iterations after which it is renewed at once.
const STALE_STEPS: u32 = 12;
const STALE_ITERATIONS: u32 = 12;
/// Most iterations of a solve.
pub(in crate::solver) const MOST_ITERATIONS: u32 = 200;
/// Rows from which on a factor would not fit the memory of a farm machine.
const MOST_FACTORISED_ROWS: usize = 1_000_000;
/// Most times that rows which would have to push are let go in a solve.
pub(in crate::solver) const MOST_RELEASES: u32 = 4;

/// How the system is solved.
enum Method {
    Direct { factor: Box<SparseCholesky>, values: Vec<f64>, is_fresh: bool },
    Pcg { factor: Option<Box<SparseCholesky<f32>>>, values: Vec<f32>, right: Vec<f32>, age: u32, scratch: Box<Scratch> },
}

/// The solver of one cloth.
pub struct LinearSolver {
    system: LinearSystem,
    method: Method,
    directions: Vec<Vec3>,
    multipliers: Vec<f64>,
    /// Sum of this step's multipliers.
    total: Vec<f64>,
    right: Vec<f64>,
    by_particle: Vec<Vec3>,
    /// Load number of the last step.
    load: f64,
    /// Mass of all that is free to move [kg].
    heaviest: f64,
    /// Whether rows between particles can go slack, in which case only taut ones take part.
    can_go_slack: bool,
    /// Solves and factorisations since the last look.
    pub counts: LinearCounts,
}

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinearCounts {
    /// Back-solves, or iterations of conjugate gradients.
    pub solves: u64,
    /// Factorisations.
    pub factorisations: u64,
}

/// How a step went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solved {
    /// Largest `|(l/l0)² - 1|` that was met.
    pub worst: f64,
    /// Load number.
    pub load: f64,
}

impl LinearSolver {
    /// For a cloth; `None` where the system cannot be analysed.
    pub fn build(cloth: &ClothModel, is_direct: bool) -> Option<Self> {
        let mut rows: Vec<Vec<(u32, f64)>> =
            cloth.pairs.pairs().iter().map(|&[a, b]| vec![(a, -1.0), (b, 1.0)]).collect();
        if has_pin_rows(cloth) {
            for pin in &cloth.pins.vertices {
                rows.extend(std::iter::repeat_n(cloth.map.row(pin.vertex as usize).to_vec(), 3));
            }
        }
        let system = LinearSystem::build(rows.into_iter().collect::<Rows<_>>(), &cloth.k);
        let count = system.row_count();
        let entries = system.pattern().rows.len();
        let method = if is_direct {
            let factor = Box::new(SparseCholesky::analyse(system.pattern().clone(), Layout::Blocks, 1)?);
            Method::Direct { factor, values: vec![0.0; entries], is_fresh: false }
        } else {
            let factor = (count <= MOST_FACTORISED_ROWS)
                .then(|| SparseCholesky::analyse(system.pattern().clone(), Layout::Columns, 1).map(Box::new));
            Method::Pcg {
                factor: factor.flatten(),
                values: vec![0.0; entries],
                right: vec![0.0; count],
                age: u32::MAX,
                scratch: Box::default(),
            }
        };
        Some(LinearSolver {
            directions: vec![Vec3::zeros(); count],
            multipliers: vec![0.0; count],
            total: vec![0.0; count],
            right: vec![0.0; count],
            by_particle: vec![Vec3::zeros(); cloth.k.len()],
            load: 0.0,
            heaviest: cloth.mass.iter().zip(&cloth.k).filter(|(_, k)| **k > 0.0).map(|(m, _)| m).sum(),
            can_go_slack: !cloth.is_bilateral(),
            counts: LinearCounts::default(),
            system,
            method,
        })
    }

    /// Forget what earlier steps left, so that what follows depends on the state alone.
    pub fn reset(&mut self) {
        self.multipliers.fill(0.0);
        self.load = 0.0;
        self.counts = LinearCounts::default();
        match &mut self.method {
            Method::Direct { is_fresh, .. } => *is_fresh = false,
            Method::Pcg { age, .. } => *age = u32::MAX,
        }
    }

    /// Memory for the system, its factor and its values [B].
    pub fn bytes(&self) -> usize {
        let of_method = match &self.method {
            Method::Direct { factor, values, .. } => factor.bytes() + 8 * values.len(),
            Method::Pcg { factor, values, right, .. } => {
                factor.as_ref().map_or(0, |factor| factor.bytes()) + 4 * (values.len() + right.len())
            }
        };
        self.system.bytes() + of_method + self.directions.len() * (24 + 3 * 8) + 24 * self.by_particle.len()
    }

    /// Move look-ahead positions so that every row holds; `pins` are where the pinned vertices belong. `again` if contacts have moved them since
    /// the last time in this step.
    #[allow(clippy::too_many_arguments, reason = "a step is made of that much")]
    pub fn positions(
        &mut self,
        cloth: &ClothModel,
        x: &[Vec3],
        ahead: &mut [Vec3],
        pins: &[[Vec3; 2]],
        h: f64,
        gravity: f64,
        again: bool,
    ) -> Solved {
        let worst = match self.can_go_slack {
            true => self.pull(cloth, ahead, pins, again),
            false => self.hold(cloth, x, ahead, pins, again),
        };
        // The next step's multipliers will be like these.
        self.multipliers.clone_from(&self.total);
        // Rows that depend on each other, as on a straight line between two pins, share a tension that means nothing: none is larger than
        // what all of the cloth weighs at the acceleration it may have.
        let most = self.heaviest * cloth_acceleration(cloth, x, ahead, h, gravity) * h * h;
        let load = |(row, length): (usize, &f64)| self.total[row].min(most) * self.system.diagonal(row) / length;
        self.load = cloth.lengths.iter().enumerate().map(load).fold(0.0, larger);
        Solved { worst, load: self.load }
    }

    /// Rows that hold both ways; the largest error at the start.
    fn hold(&mut self, cloth: &ClothModel, x: &[Vec3], ahead: &mut [Vec3], pins: &[[Vec3; 2]], again: bool) -> f64 {
        let is_direct = matches!(self.method, Method::Direct { .. });
        let at_start = is_direct && self.load <= LARGEST_LOAD;
        if again {
            // The directions and the factor are good for all of the step.
            self.multipliers.fill(0.0);
        } else if !at_start {
            self.look(cloth, ahead);
            self.renew();
        } else if matches!(self.method, Method::Direct { is_fresh: false, .. }) {
            self.look(cloth, x);
            self.renew();
        }
        if !again {
            self.total.fill(0.0);
        }
        let (mut worst, mut before) = (0.0, f64::INFINITY);
        for solve in 0..MOST_SOLVES {
            let error = self.errors(cloth, ahead, pins);
            if solve == 0 {
                worst = error;
            }
            if error <= ENOUGH * cloth.fabric.max_stretch || !error.is_finite() {
                break;
            }
            if error > 0.5 * before {
                self.look(cloth, ahead);
                self.renew();
                self.errors(cloth, ahead, pins);
            }
            before = error;
            if solve > 0 {
                self.multipliers.fill(0.0);
            }
            self.solve(cloth);
            self.apply(ahead);
        }
        worst
    }

    /// Rows that pull and do not push; the largest error at the start.
    fn pull(&mut self, cloth: &ClothModel, ahead: &mut [Vec3], pins: &[[Vec3; 2]], again: bool) -> f64 {
        let mut worst = 0.0;
        if again {
            self.multipliers.fill(0.0);
        } else {
            self.total.clone_from(&self.multipliers); // of the last step: a guess which rows pull
        }
        // Each solve takes new factors here, so that taking turns has to do with one.
        for solve in 0..if again { 1 } else { MOST_SOLVES } {
            self.look(cloth, ahead);
            for (row, length) in cloth.lengths.iter().enumerate() {
                let is_long = self.system.measure(row, ahead).norm() > *length;
                if self.total[row] <= 0.0 && !is_long {
                    self.let_go(row);
                }
            }
            let error = self.errors(cloth, ahead, pins);
            if solve == 0 {
                worst = error;
                if !again {
                    self.total.fill(0.0);
                }
            }
            if error <= ENOUGH * cloth.fabric.max_stretch || !error.is_finite() {
                break;
            }
            for _ in 0..MOST_RELEASES {
                // A factor of other rows is worse than none.
                if let Method::Pcg { age, .. } = &mut self.method {
                    *age = u32::MAX;
                }
                self.renew();
                if solve > 0 {
                    self.multipliers.fill(0.0);
                }
                self.solve(cloth);
                let pushes: Vec<usize> =
                    (0..cloth.lengths.len()).filter(|&row| self.total[row] + self.multipliers[row] < 0.0).collect();
                pushes.iter().for_each(|&row| self.let_go(row));
                if pushes.is_empty() {
                    break;
                }
            }
            self.apply(ahead);
        }
        worst
    }

    /// Take a row out of the system.
    fn let_go(&mut self, row: usize) {
        self.directions[row] = Vec3::zeros();
        self.multipliers[row] = 0.0;
        self.right[row] = 0.0;
    }

    /// Move positions by the multipliers that were found.
    fn apply(&mut self, ahead: &mut [Vec3]) {
        self.system.apply(&self.directions, &self.multipliers, ahead);
        self.total.iter_mut().zip(&self.multipliers).for_each(|(total, multiplier)| *total += multiplier);
    }

    /// Take away the relative velocities along rows that hold both ways, at the end of the step; its factor serves the next one.
    pub fn velocities(&mut self, cloth: &ClothModel, x: &[Vec3], v: &mut [Vec3], pins: &[[Vec3; 2]], h: f64) {
        if self.can_go_slack || !matches!(self.method, Method::Direct { .. }) {
            return;
        }
        self.look(cloth, x);
        self.renew();
        for row in 0..self.directions.len() {
            let mut velocity = self.system.measure(row, v);
            if let Some(pin) = row.checked_sub(cloth.lengths.len()) {
                let [from, to] = pins[pin / 3];
                velocity -= (to - from) / h;
            }
            self.right[row] = velocity.dot(&self.directions[row]);
        }
        let kept = self.multipliers.clone();
        self.solve(cloth);
        self.system.apply(&self.directions, &self.multipliers, v);
        self.multipliers = kept;
    }

    /// Directions of all rows at some positions.
    fn look(&mut self, cloth: &ClothModel, at: &[Vec3]) {
        for row in 0..cloth.lengths.len() {
            let d = self.system.measure(row, at);
            let norm = d.norm();
            self.directions[row] = if norm > 0.0 { d / norm } else { Vec3::zeros() };
        }
        for row in cloth.lengths.len()..self.directions.len() {
            self.directions[row] = Vec3::ith((row - cloth.lengths.len()) % 3, 1.0);
        }
    }

    /// Fill in what each row is off by; the largest relative error of all rows, also of those that take no part.
    fn errors(&mut self, cloth: &ClothModel, ahead: &[Vec3], pins: &[[Vec3; 2]]) -> f64 {
        let mut worst = 0.0;
        for (row, length) in cloth.lengths.iter().enumerate() {
            let is_in = self.directions[row] != Vec3::zeros();
            let error = self.system.measure(row, ahead).norm() - length;
            self.right[row] = if is_in { error } else { 0.0 };
            if is_in || error > 0.0 {
                worst = larger(worst, error.abs() / length);
            }
        }
        for row in cloth.lengths.len()..self.directions.len() {
            let pin = (row - cloth.lengths.len()) / 3;
            let off = self.system.measure(row, ahead) - pins[pin][1];
            self.right[row] = off.dot(&self.directions[row]);
            worst = larger(worst, self.right[row].abs() / cloth.mean_edge);
        }
        worst
    }

    /// A factor for the present directions: at once for the direct method, when the old one is too old otherwise.
    fn renew(&mut self) {
        match &mut self.method {
            Method::Direct { factor, values, is_fresh } => {
                self.system.assemble(&self.directions, |entry, value| values[entry] = value);
                *is_fresh = factor.factorize(values);
                self.counts.factorisations += 1;
            }
            Method::Pcg { factor: Some(factor), values, age, .. } if *age >= STALE_STEPS => {
                self.system.assemble(&self.directions, |entry, value| values[entry] = value as f32);
                *age = if factor.factorize(values) { 0 } else { u32::MAX };
                self.counts.factorisations += 1;
            }
            Method::Pcg { .. } => {}
        }
    }

    /// Multipliers for the present errors.
    fn solve(&mut self, cloth: &ClothModel) {
        let LinearSolver { system, method, directions, multipliers, right, by_particle, counts, .. } = self;
        match method {
            Method::Direct { factor, is_fresh, .. } => {
                multipliers.clone_from(right);
                if *is_fresh {
                    factor.solve_columns(multipliers);
                } else {
                    multipliers.fill(0.0);
                }
                counts.solves += 1;
            }
            Method::Pcg { factor, right: single, age, scratch, .. } => {
                let size: f64 = right.iter().map(|e| e * e).sum::<f64>().sqrt();
                let enough = ENOUGH * cloth.fabric.max_stretch * cloth.mean_edge * (right.len() as f64).sqrt();
                let usable = *age != u32::MAX;
                let iterations = conjugate_gradient::solve(
                    right,
                    multipliers,
                    (enough / size.max(f64::MIN_POSITIVE)).min(0.01),
                    MOST_ITERATIONS,
                    scratch,
                    |x, out| system.multiply(directions, x, by_particle, out),
                    |values| match factor {
                        Some(factor) if usable => {
                            single.iter_mut().zip(&*values).for_each(|(s, v)| *s = *v as f32);
                            factor.solve_columns(single);
                            values.iter_mut().zip(&*single).for_each(|(v, s)| *v = f64::from(*s));
                        }
                        _ => values.iter_mut().enumerate().for_each(|(row, v)| *v /= system.diagonal(row)),
                    },
                );
                *age = if iterations > STALE_ITERATIONS || !usable { STALE_STEPS } else { age.saturating_add(1) };
                counts.solves += u64::from(iterations);
            }
        }
    }
}

/// Gravity, and what keeps a swing of the cloth's size on its circle at three times its mean square speed [m/s²].
fn cloth_acceleration(cloth: &ClothModel, x: &[Vec3], ahead: &[Vec3], h: f64, gravity: f64) -> f64 {
    let squares: f64 = ahead.iter().zip(x).map(|(ahead, x)| (ahead - x).norm_squared()).sum();
    gravity + 3.0 * squares / (h * h * x.len() as f64 * f64::from(cloth.reach) * cloth.mean_edge)
}

/// Whether pinned vertices are rows of the system: not where they are particles, which are led.
fn has_pin_rows(cloth: &ClothModel) -> bool {
    cloth.kind == crate::scene::ClothKind::Midpoint
}
