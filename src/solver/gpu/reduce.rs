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
    unused: [u32; 2],
}

/// The state of some sweeps, on the device: kernels that take part look at `done` first and leave `worst` behind.
#[derive(Clone)]
pub struct Control {
    gpu: Rc<Gpu>,
    /// For kernels of the sweeps.
    pub slab: Slab<ControlData>,
    begin: Dispatch,
    judge: Dispatch,
}

impl Control {
    /// Nothing is done yet.
    pub fn new(gpu: &Rc<Gpu>) -> Self {
        let slab = gpu.zeros::<ControlData>("control", 1);
        let dispatch = |kernel| gpu.dispatch(&CONTROL, kernel, 0..1, 32, &[(1, &slab)]);
        Control { begin: dispatch("begin"), judge: dispatch("judge"), gpu: Rc::clone(gpu), slab }
    }

    /// How small an error is enough, and the fewest sweeps; counts begin at zero.
    pub fn aim(&self, enough: f64, fewest: u32) {
        self.gpu.write(&self.slab, 0, &[ControlData { enough: enough as f32, fewest, ..ControlData::default() }]);
    }

    /// Begin a turn of sweeps.
    pub fn begin(&self) {
        self.gpu.run([&self.begin]);
    }

    /// After a sweep.
    pub fn judge(&self) {
        self.gpu.run([&self.judge]);
    }

    /// Wait, and see how far it is.
    pub fn read(&self) -> ControlData {
        let mut data = vec![ControlData::default()];
        self.gpu.read(&self.slab, &mut data);
        data[0]
    }
}
