//! Sums and maxima over arrays, and when sweeps have done enough.

use std::rc::Rc;

use bytemuck::{Pod, Zeroable};

use super::particles::Four;
use super::work::{Dispatch, Gpu, Slab, Source, WORKGROUP};

/// Sums and maxima.
pub const REDUCE: Source =
    Source { name: "reduce", text: include_str!("../../algorithms/reduce.wgsl"), constants: &[] };
/// When sweeps have done enough.
pub const CONTROL: Source =
    Source { name: "control", text: include_str!("../../algorithms/control.wgsl"), constants: &[] };

/// What stands for an error that is not a number; `common.wgsl` has the twin.
pub const BROKEN: f32 = 1e30;
/// Values that a workgroup takes: `BLOCK` of the kernel.
const BLOCK: usize = 16 * WORKGROUP as usize;

/// One sum or maximum of all items of an array of four numbers each.
#[derive(Clone, Debug)]
pub struct Reduction {
    dispatches: [Dispatch; 2],
}

impl Reduction {
    /// The sums of `values`, into the first item of `result`.
    pub fn sum(gpu: &Gpu, values: &Slab<Four>, result: &Slab<Four>) -> Self {
        Self::new(gpu, ["sum_blocks", "sum_all"], values, result)
    }

    /// The largest of `values`, which are not negative; what is not a number counts as very large.
    pub fn largest(gpu: &Gpu, values: &Slab<Four>, result: &Slab<Four>) -> Self {
        Self::new(gpu, ["largest_of_blocks", "largest_of_all"], values, result)
    }

    fn new(gpu: &Gpu, [of_blocks, of_all]: [&'static str; 2], values: &Slab<Four>, result: &Slab<Four>) -> Self {
        let count = values.len();
        let blocks = count.div_ceil(BLOCK);
        let partial = gpu.zeros::<Four>("partial results", blocks);
        let group = WORKGROUP as usize;
        let first = gpu.dispatch_blocks(&REDUCE, of_blocks, count, blocks * group, 256, &[(1, values), (2, &partial)]);
        let second = gpu.dispatch_blocks(&REDUCE, of_all, blocks, group, 16, &[(2, &partial), (3, result)]);
        Reduction { dispatches: [first, second] }
    }

    /// Do it.
    pub fn run(&self, gpu: &Gpu) {
        gpu.run(&self.dispatches);
    }
}

/// What decides when sweeps have done enough: the twin is in `control.wgsl`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct ControlData {
    /// Whether what is asked for is done.
    pub done: u32,
    /// Sweeps in this turn.
    pub sweeps: u32,
    /// Largest relative error before the last sweep.
    pub worst: f32,
    /// Error that is small enough.
    pub enough: f32,
    /// Fewest sweeps.
    pub fewest: u32,
    /// Sweeps since this was written.
    pub total: u32,
    /// Whether it takes no part in this turn.
    pub is_off: u32,
    unused: u32,
}

impl ControlData {
    /// Whether the numbers have ended.
    pub fn is_broken(&self) -> bool {
        !self.worst.is_finite() || self.worst >= BROKEN
    }
}

/// The state of some sweeps, on the device: kernels that take part look at `done` first and leave `worst` behind.
#[derive(Clone)]
pub struct Control {
    gpu: Rc<Gpu>,
    /// For kernels of the sweeps.
    pub slab: Slab<ControlData>,
    /// Where a `Reduction` may leave the largest error: the largest of its four numbers.
    pub largest: Slab<Four>,
    begin: Dispatch,
    take_largest: Dispatch,
    judge: Dispatch,
}

impl Control {
    /// Nothing is done yet.
    pub fn new(gpu: &Rc<Gpu>) -> Self {
        Self::of_several(gpu, 1)
    }

    /// For so many bodies that are swept together, each until it is done itself.
    pub fn of_several(gpu: &Rc<Gpu>, count: usize) -> Self {
        let slab = gpu.zeros::<ControlData>("control", count);
        let largest = gpu.zeros::<Four>("largest error", 1);
        let dispatch = |kernel| gpu.dispatch(&CONTROL, kernel, 0..count, 32, &[(1, &slab)]);
        let take_largest = gpu.dispatch(&CONTROL, "take_largest", 0..1, 48, &[(1, &slab), (2, &largest)]);
        Control { begin: dispatch("begin"), take_largest, judge: dispatch("judge"), gpu: Rc::clone(gpu), slab, largest }
    }

    /// How small an error is enough, and the fewest sweeps; counts begin at zero.
    pub fn aim(&self, enough: f64, fewest: u32) {
        self.gpu.write(&self.slab, 0, &[ControlData { enough: enough as f32, fewest, ..ControlData::default() }]);
    }

    /// The same for each of several bodies, and which of them take part.
    pub fn aim_several(&self, aims: impl Iterator<Item = (f64, u32, bool)>) {
        let data = |(enough, fewest, is_in): (f64, u32, bool)| ControlData {
            enough: enough as f32,
            fewest,
            is_off: u32::from(!is_in),
            ..ControlData::default()
        };
        self.gpu.write(&self.slab, 0, &aims.map(data).collect::<Vec<ControlData>>());
    }

    /// Begin a turn of sweeps.
    pub fn begin(&self) {
        self.gpu.run([&self.begin]);
    }

    /// The error of the sweep is in `largest`; nothing once it is done.
    pub fn take_largest(&self) {
        self.gpu.run([&self.take_largest]);
    }

    /// After a sweep.
    pub fn judge(&self) {
        self.gpu.run([&self.judge]);
    }

    /// Wait, and see how far it is.
    pub fn read(&self) -> ControlData {
        self.read_all()[0]
    }

    /// The same of several bodies.
    pub fn read_all(&self) -> Vec<ControlData> {
        let mut data = vec![ControlData::default(); self.slab.len()];
        self.gpu.read(&self.slab, &mut data);
        data
    }
}
