//! The large systems of a cloth on the device: all its distances at once, and implicit bending.
//!
//! The processor keeps factors (`cpu/linear.rs`, `cpu/bending_step.rs`); here there are conjugate gradients with the diagonal.

use std::rc::Rc;

use bytemuck::{Pod, Zeroable};

use super::joined::Joined;
use super::linear::{Enough, Form, Freedom, Matrix, Pcg, StateData};
use super::particles::{Four, Particles};
use super::reduce::Reduction;
use super::work::{Binding, Dispatch, Gpu, Slab, Source};
use crate::algorithms::parallel::bin_csr::{BIN, BinCsr, Pattern};
use crate::algorithms::systems::linear_system::{LinearSystem, REGULARISATION};
use crate::math::rows::Rows;
use crate::model::ClothModel;
use crate::solver::cpu::linear::{ENOUGH, LinearCounts, MOST_ITERATIONS, MOST_RELEASES, MOST_SOLVES, Solved};

/// The kernels of all distances at once.
pub const LINEAR_SYSTEM: Source = Source {
    name: "linear system",
    text: include_str!("../../algorithms/systems/linear_system.wgsl"),
    constants: &[("BIN", BIN as f64)],
};
/// The kernels of implicit bending.
pub const BENDING_SYSTEM: Source =
    Source { name: "bending system", text: include_str!("../../algorithms/cloth/bending_system.wgsl"), constants: &[] };

/// Iterations between looks at how far a solve is.
const LOOK_EVERY: u32 = 16;
/// Largest part of the errors that a solve may leave, however small they are.
const LARGEST_REST: f64 = 0.01;

/// `Tie` of `linear_system.wgsl`.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct TieData {
    ends: [u32; 2],
    length: f32,
    load: f32,
}

/// `Settings` of `linear_system.wgsl`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct SystemSettings {
    is_slack: u32,
    first_slot: u32,
    most: f32,
    most_by_square: f32,
    bins: u32,
    unused: [u32; 3],
}

/// All distances of a cloth as one linear system for their multipliers: see `cpu/linear.rs`.
///
/// It waits for the device after each solve and within long ones.
pub struct ConstraintSystem {
    gpu: Rc<Gpu>,
    /// Its `x` are the multipliers, its `right` what rows are off by.
    pcg: Pcg,
    can_go_slack: bool,
    /// Error that is small enough.
    enough: f64,
    /// Mass of all that is free to move [kg].
    heaviest: f64,
    /// What a square metre of moved particles adds to the largest tension.
    by_square: f64,
    settings: Slab<SystemSettings>,
    known_settings: SystemSettings,
    /// Sum of this step's multipliers.
    total: Slab<f32>,
    /// Rows that were let go so far.
    released: Slab<u32>,
    known_released: u32,
    look: Dispatch,
    fill: Vec<Dispatch>,
    measure: Dispatch,
    release: Dispatch,
    /// Move the look-ahead positions, and add to the totals.
    apply: [Dispatch; 2],
    clear_multipliers: Dispatch,
    clear_total: Dispatch,
    squares: Dispatch,
    sum: Reduction,
    loads: Dispatch,
    largest: Reduction,
    worst: Slab<Four>,
    /// Iterations since the last look.
    pub counts: LinearCounts,
}

impl ConstraintSystem {
    /// For distances between particles of a cloth.
    pub fn new(gpu: &Rc<Gpu>, cloth: &ClothModel, particles: &Particles) -> Option<Self> {
        let pairs = cloth.pairs.pairs();
        let rows: Rows<(u32, f64)> = pairs.iter().map(|&[a, b]| [(a, -1.0), (b, 1.0)]).collect();
        let system = LinearSystem::build(rows, &cloth.k);
        let count = system.row_count();
        let (mut matrix, recipe) = constant_part(&system)?;
        let on_device = Matrix::new(gpu, Form::One, &matrix.pattern);
        for row in 0..count {
            matrix.diagonal[row] = system.diagonal(row) * (1.0 + REGULARISATION);
        }
        on_device.load(&matrix);
        let pcg = Pcg::new(on_device, None);
        pcg.renew();
        let enough = ENOUGH * cloth.fabric.max_stretch;
        // The same error in every row, as the solver measures it.
        let inverse: f64 = (0..count).map(|row| 1.0 / matrix.diagonal[row]).sum();
        pcg.aim(Enough {
            relative: LARGEST_REST,
            absolute: enough * cloth.mean_edge * inverse.sqrt(),
            most_iterations: MOST_ITERATIONS,
        });

        let tie = |(row, (&ends, &length)): (usize, (&[u32; 2], &f64))| TieData {
            ends,
            length: length as f32,
            load: (system.diagonal(row) / length) as f32,
        };
        let ties: Vec<TieData> = pairs.iter().zip(&cloth.lengths).enumerate().map(tie).collect();
        let ties = gpu.slab("ties", &ties);
        let (list_starts, list) = lists(
            cloth.k.len(),
            pairs.iter().enumerate().flat_map(|(row, &[a, b])| {
                [(a, row as u32, -cloth.k[a as usize]), (b, row as u32, cloth.k[b as usize])]
            }),
        );
        let (list_starts, list) = (gpu.slab("rows of particles", &list_starts), gpu.slab("rows", &list));
        let directions = gpu.zeros::<Four>("directions", count);
        let total = gpu.zeros::<f32>("total", count);
        let released = gpu.zeros::<u32>("released", 1);
        let (sizes, of_particles) = (gpu.zeros::<Four>("sizes", count), gpu.zeros::<Four>("squares", cloth.k.len()));
        let [worst, sum] = ["worst", "sum"].map(|name| gpu.zeros::<Four>(name, 1));
        let can_go_slack = !cloth.is_bilateral();
        let bins = pcg.matrix.bin_count() as u32;
        let known_settings = SystemSettings { is_slack: u32::from(can_go_slack), bins, ..SystemSettings::default() };
        let settings = gpu.slab("settings", &[known_settings]);
        let (x, d) = (&particles.x, &particles.d);
        let dispatch = |kernel, items, bytes, bindings: &[(u32, &dyn Binding)]| {
            gpu.dispatch(&LINEAR_SYSTEM, kernel, 0..items, bytes, bindings)
        };
        let fill = pcg.matrix.fill(|rows, slots, [starts, columns, values]| {
            let bytes = slots.len() * 28 / rows.len().max(1) + 28;
            let of_part = SystemSettings { first_slot: slots.start as u32, ..known_settings };
            let of_part = gpu.slab("settings of a part", &[of_part]);
            let recipe: Vec<f32> = recipe[slots].iter().map(|&value| value as f32).collect();
            let recipe = gpu.slab("recipe", &recipe);
            let bindings: [(u32, &dyn Binding); 6] =
                [(1, &of_part), (5, &directions), (11, starts), (12, columns), (13, &recipe), (14, values)];
            gpu.dispatch(&LINEAR_SYSTEM, "fill", rows, bytes, &bindings)
        });
        let of_look: [(u32, &dyn Binding); 7] =
            [(1, &settings), (2, x), (3, d), (4, &ties), (5, &directions), (6, &total), (7, &pcg.x)];
        let of_measure: [(u32, &dyn Binding); 6] =
            [(2, x), (3, d), (4, &ties), (5, &directions), (8, &pcg.right), (9, &sizes)];
        let of_release: [(u32, &dyn Binding); 5] =
            [(5, &directions), (6, &total), (7, &pcg.x), (8, &pcg.right), (10, &released)];
        let of_apply: [(u32, &dyn Binding); 5] =
            [(3, d), (5, &directions), (7, &pcg.x), (15, &list_starts), (16, &list)];
        let of_loads: [(u32, &dyn Binding); 5] = [(1, &settings), (4, &ties), (6, &total), (9, &sizes), (17, &sum)];
        let particle_count = cloth.k.len();
        let size = particle_count as f64 * f64::from(cloth.reach) * cloth.mean_edge;
        let heaviest: f64 = cloth.mass.iter().zip(&cloth.k).filter(|(_, k)| **k > 0.0).map(|(mass, _)| mass).sum();
        Some(ConstraintSystem {
            look: dispatch("look", count, 104, &of_look),
            fill,
            measure: dispatch("measure", count, 116, &of_measure),
            release: dispatch("release", count, 8, &of_release),
            apply: [
                dispatch("apply", particle_count, 40 + 56 * count / particle_count.max(1), &of_apply),
                dispatch("tally", count, 12, &[(6, &total), (7, &pcg.x)]),
            ],
            clear_multipliers: dispatch("clear_multipliers", count, 4, &[(7, &pcg.x)]),
            clear_total: dispatch("clear_total", count, 4, &[(6, &total)]),
            squares: dispatch("squares", particle_count, 32, &[(3, d), (9, &of_particles)]),
            sum: Reduction::sum(gpu, &of_particles, &sum),
            loads: dispatch("loads", count, 36, &of_loads),
            largest: Reduction::largest(gpu, &sizes, &worst),
            can_go_slack,
            enough,
            heaviest,
            by_square: 3.0 * heaviest / size,
            known_settings,
            known_released: 0,
            settings,
            total,
            released,
            worst,
            counts: LinearCounts::default(),
            gpu: Rc::clone(gpu),
            pcg,
        })
    }

    /// Forget what earlier steps left, so that what follows depends on the state alone.
    pub fn reset(&mut self) {
        self.gpu.run([&self.clear_multipliers, &self.clear_total]);
        self.counts = LinearCounts::default();
    }

    /// Move the look-ahead positions on the device so that every row holds. `gravity` is its size [m/s²]; `again` if contacts have moved them
    /// since the last time in this step.
    pub fn positions(&mut self, h: f64, gravity: f64, again: bool) -> Solved {
        let worst = if self.can_go_slack { self.pull(again) } else { self.hold(again) };
        // The next step's multipliers will be like these.
        self.gpu.copy(&self.total, &self.pcg.x);
        let settings = SystemSettings {
            most: (self.heaviest * gravity * h * h) as f32,
            most_by_square: self.by_square as f32,
            ..self.known_settings
        };
        if settings != self.known_settings {
            self.gpu.write(&self.settings, 0, &[settings]);
            self.known_settings = settings;
        }
        self.gpu.run([&self.squares]);
        self.sum.run(&self.gpu);
        self.gpu.run([&self.loads]);
        Solved { worst, load: self.largest() }
    }

    /// Rows that hold both ways; the largest error at the start.
    fn hold(&mut self, again: bool) -> f64 {
        if again {
            self.gpu.run([&self.clear_multipliers]);
        } else {
            self.gpu.run([&self.look, &self.clear_total]);
            self.gpu.run(&self.fill);
        }
        let (mut worst, mut before) = (0.0, f64::INFINITY);
        for solve in 0..MOST_SOLVES {
            let error = self.error();
            if solve == 0 {
                worst = error;
            }
            if error <= self.enough || !error.is_finite() {
                break;
            }
            if error > 0.5 * before {
                self.gpu.run([&self.look]);
                self.gpu.run(&self.fill);
                self.gpu.run([&self.measure]);
            }
            before = error;
            if solve > 0 {
                self.gpu.run([&self.clear_multipliers]);
            }
            self.solve();
            self.gpu.run(&self.apply);
        }
        worst
    }

    /// Rows that pull and do not push; the largest error at the start.
    fn pull(&mut self, again: bool) -> f64 {
        let mut worst = 0.0;
        if again {
            self.gpu.run([&self.clear_multipliers]);
        } else {
            self.gpu.copy(&self.pcg.x, &self.total); // of the last step: a guess which rows pull
        }
        for solve in 0..if again { 1 } else { MOST_SOLVES } {
            self.gpu.run([&self.look]);
            let error = self.error();
            if solve == 0 {
                worst = error;
                if !again {
                    self.gpu.run([&self.clear_total]);
                }
            }
            if error <= self.enough || !error.is_finite() {
                break;
            }
            for _ in 0..MOST_RELEASES {
                self.gpu.run(&self.fill);
                if solve > 0 {
                    self.gpu.run([&self.clear_multipliers]);
                }
                self.solve();
                if !self.lets_go() {
                    break;
                }
            }
            self.gpu.run(&self.apply);
        }
        worst
    }

    /// Multipliers for the present errors.
    fn solve(&mut self) {
        self.counts.solves += u64::from(self.pcg.solve(LOOK_EVERY).iterations());
    }

    /// Let rows go that would have to push; whether there were any.
    fn lets_go(&mut self) -> bool {
        self.gpu.run([&self.release]);
        let mut released = vec![self.known_released];
        self.gpu.read(&self.released, &mut released);
        std::mem::replace(&mut self.known_released, released[0]) != released[0]
    }

    /// What each row is off by; the largest relative error. It waits for the device.
    pub fn error(&self) -> f64 {
        self.gpu.run([&self.measure]);
        self.largest()
    }

    fn largest(&self) -> f64 {
        self.largest.run(&self.gpu);
        let mut worst = vec![[f32::INFINITY; 4]];
        self.gpu.read(&self.worst, &mut worst);
        // What stands for something that is not a number.
        if worst[0][0] < 1e30 { f64::from(worst[0][0]) } else { f64::INFINITY }
    }
}

/// The whole pattern of a system, and for each slot what directions are multiplied with.
fn constant_part(system: &LinearSystem) -> Option<(BinCsr, Vec<f64>)> {
    let pattern = system.pattern();
    let mut columns: Vec<Vec<u32>> = vec![Vec::new(); system.row_count()];
    for column in 0..system.row_count() {
        for &row in &pattern.rows[pattern.starts[column]..pattern.starts[column + 1]] {
            columns[column].push(row as u32);
            columns[row].push(column as u32);
        }
    }
    let matrix = BinCsr::zeros(Pattern::new(&columns.into_iter().collect())?);
    let mut recipe = vec![0.0; matrix.values.len()];
    for column in 0..system.row_count() {
        for entry in pattern.starts[column]..pattern.starts[column + 1] {
            let row = pattern.rows[entry];
            for slot in [matrix.pattern.slot(row, column), matrix.pattern.slot(column, row)].into_iter().flatten() {
                recipe[slot] = system.recipe()[entry];
            }
        }
    }
    Some((matrix, recipe))
}

/// For each particle the rows that it is in, and a number for each of them; from all (particle, row, number).
fn lists(particle_count: usize, entries: impl Iterator<Item = (u32, u32, f64)>) -> (Vec<u32>, Vec<[u32; 2]>) {
    let mut of_particles: Vec<Vec<[u32; 2]>> = vec![Vec::new(); particle_count];
    for (particle, row, number) in entries {
        of_particles[particle as usize].push([row, (number as f32).to_bits()]);
    }
    let mut starts = vec![0];
    let mut all = Vec::new();
    for list in of_particles {
        all.extend(list);
        starts.push(all.len() as u32);
    }
    (starts, all)
}

/// Error of an impulse of implicit bending, relative to all of it.
const BENDING_ERROR: f64 = 1e-5;
/// Most iterations of one.
const MOST_BENDING_ITERATIONS: f64 = 1000.0;

/// `BendRow` of `bending_system.wgsl`.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct BendRowData {
    particles: [u32; 5],
    coefficients: [f32; 5],
    unused: [u32; 2],
}

/// `Settings` of `bending_system.wgsl`.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct BendingSettings {
    place: f32,
    time: f32,
    scale: f32,
    unused: f32,
}

/// Implicit bending: see `cpu/bending_step.rs`. Particles that are led keep their velocities.
///
/// It never waits: as many iterations are asked for as conjugate gradients can need, and those that are not needed do nothing.
pub struct BendingSystem {
    gpu: Rc<Gpu>,
    /// The beat that the matrices are for [s].
    beat: f64,
    damping: Option<Impulse>,
    force: Impulse,
}

/// One system of bending.
struct Impulse {
    pcg: Pcg,
    settings: Slab<BendingSettings>,
    /// Measure, gather.
    before: [Dispatch; 2],
    after: Dispatch,
    iterations: u32,
}

impl BendingSystem {
    /// For the bending of cloths that are like this one.
    pub fn new(gpu: &Rc<Gpu>, joined: &Joined, cloth: &ClothModel, particles: &Particles) -> Option<Self> {
        let data = |row: &crate::algorithms::cloth::bending::BendRow| BendRowData {
            particles: row.particles,
            coefficients: row.coefficients.map(|coefficient| coefficient as f32),
            unused: [0; 2],
        };
        let rows: Vec<BendRowData> = joined.bending.rows.iter().map(data).collect();
        let rows = gpu.slab("bending rows", &rows);
        let measured = gpu.zeros::<Four>("measured", rows.len());
        let entries = joined.bending.rows.iter().enumerate().flat_map(|(number, row)| {
            let entry =
                move |(&particle, coefficient): (&u32, f64)| (particle, number as u32, coefficient * row.weight);
            row.particles.iter().zip(row.coefficients).filter(|(_, coefficient)| *coefficient != 0.0).map(entry)
        });
        let (starts, list) = lists(joined.k.len(), entries);
        let bytes_of_list = 32 + 24 * list.len() / joined.k.len().max(1);
        let (starts, list) = (gpu.slab("bending rows of particles", &starts), gpu.slab("bending list", &list));
        let held = |k: &f64| if *k > 0.0 { Freedom::Free } else { Freedom::Held };
        let filter: Vec<Freedom> = joined.k.iter().map(held).collect();
        let has_led = filter.contains(&Freedom::Held);
        let pattern = mass_and_bending(joined, 0.0)?.pattern;
        let impulse = || {
            let matrix = Matrix::new(gpu, Form::Three, &pattern);
            let pcg = Pcg::new(matrix, has_led.then_some(filter.as_slice()));
            let settings = gpu.zeros::<BendingSettings>("bending", 1);
            let Particles { x, low, v, .. } = particles;
            let of_measure: [(u32, &dyn Binding); 6] =
                [(1, &settings), (2, x), (3, low), (4, v), (5, &rows), (6, &measured)];
            let of_gather: [(u32, &dyn Binding); 5] =
                [(1, &settings), (6, &measured), (7, &starts), (8, &list), (9, &pcg.right)];
            let all = 0..joined.k.len();
            let dispatch = |kernel, items, bytes, bindings: &[(u32, &dyn Binding)]| {
                gpu.dispatch(&BENDING_SYSTEM, kernel, items, bytes, bindings)
            };
            Impulse {
                before: [
                    dispatch("measure", 0..rows.len(), 304, &of_measure),
                    dispatch("gather", all.clone(), bytes_of_list, &of_gather),
                ],
                after: dispatch("change_velocities", all, 48, &[(4, v), (10, &pcg.x)]),
                iterations: 0,
                settings,
                pcg,
            }
        };
        Some(BendingSystem {
            damping: (cloth.fabric.damping > 0.0).then(impulse),
            force: impulse(),
            beat: 0.0,
            gpu: Rc::clone(gpu),
        })
    }

    /// Plan a frame with an impulse every `beat` [s].
    pub fn begin_frame(&mut self, joined: &Joined, cloth: &ClothModel, beat: f64) {
        // The same up to the rounding of a division.
        if (self.beat - beat).abs() > 1e-9 * beat {
            self.beat = beat;
            let (bend, time) = (cloth.bend, cloth.fabric.damping);
            let frequency_squared = cloth.bend_frequency_squared;
            self.force.plan(joined, [1.0, beat], bend * beat, bend * beat * beat, beat * beat * frequency_squared);
            if let Some(damping) = &mut self.damping {
                let scale = bend * beat * time;
                damping.plan(joined, [0.0, 1.0], scale, scale, beat * time * frequency_squared);
            }
        }
        // What follows depends on the state alone.
        for impulse in self.damping.iter().chain([&self.force]) {
            self.gpu.write(&impulse.pcg.x, 0, &vec![0.0; impulse.pcg.x.len()]);
        }
    }

    /// The impulse of a beat.
    pub fn apply(&self) {
        for impulse in self.damping.iter().chain([&self.force]) {
            self.gpu.run(&impulse.before);
            impulse.pcg.begin();
            impulse.pcg.iterate(impulse.iterations);
            self.gpu.run([&impulse.after]);
        }
    }

    /// Wait, and see how the last impulse was solved: damping, if there is any, and the force.
    pub fn states(&self) -> Vec<StateData> {
        self.damping.iter().chain([&self.force]).map(|impulse| impulse.pcg.state()).collect()
    }
}

impl Impulse {
    /// `(M + s Q) Δv = -f Q (place x + time v)`, where the largest eigenvalue of `s W Q` is known.
    fn plan(&mut self, joined: &Joined, [place, time]: [f64; 2], f: f64, s: f64, largest: f64) {
        let settings = BendingSettings { place: place as f32, time: time as f32, scale: -f as f32, unused: 0.0 };
        self.pcg.matrix.gpu().write(&self.settings, 0, &[settings]);
        if let Some(matrix) = mass_and_bending(joined, s) {
            self.pcg.matrix.load(&matrix);
        }
        // What conjugate gradients need at most for eigenvalues from 1 on, and half as much again: the diagonal does not make it worse on the
        // whole, but particles are not all alike.
        let enough = 0.75 * (1.0 + largest).sqrt() * (2.0 / BENDING_ERROR).ln();
        self.iterations = enough.ceil().min(MOST_BENDING_ITERATIONS) as u32 + 1;
        let most_iterations = self.iterations;
        self.pcg.aim(Enough { relative: BENDING_ERROR, absolute: f64::INFINITY, most_iterations });
        self.pcg.renew();
    }
}

/// `M + scale Q`
fn mass_and_bending(joined: &Joined, scale: f64) -> Option<BinCsr> {
    let mut rows: Vec<Vec<(u32, [[f64; 1]; 1])>> =
        joined.mass.iter().enumerate().map(|(i, mass)| vec![(i as u32, [[*mass]])]).collect();
    for row in &joined.bending.rows {
        let entries = || row.particles.iter().zip(row.coefficients).filter(|(_, coefficient)| *coefficient != 0.0);
        for (i, a) in entries() {
            rows[*i as usize].extend(entries().map(|(j, b)| (*j, [[scale * row.weight * a * b]])));
        }
    }
    BinCsr::from_rows(&rows.into_iter().collect())
}
