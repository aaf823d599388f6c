//! Large linear systems on the device.
//!
//! ```text
//! Matrix              rows in bins: `algorithms/parallel/bin_csr`
//! MatrixAssembly      its entries from local contributions
//! Pcg                 conjugate gradients: three dispatches an iteration, more where the matrix does not fit into one binding
//! ```

use std::cell::Cell;
use std::ops::Range;
use std::rc::Rc;

use bytemuck::{Pod, Zeroable};

use super::particles::Four;
use super::work::{Binding, Dispatch, Gpu, Slab, Source, WORKGROUP};
use crate::algorithms::parallel::bin_csr::{Assembly, BIN, BinMatrix, Pattern};
use crate::math::rows::Rows;

macro_rules! with_conjugate_gradient {
    ($name:literal, $numbers:literal, $filter:literal) => {
        Source {
            name: $name,
            text: concat!(
                include_str!($numbers),
                include_str!("../../algorithms/parallel/bin_csr.wgsl"),
                include_str!("../../algorithms/systems/conjugate_gradient.wgsl"),
                include_str!($filter),
            ),
            constants: &[("BIN", BIN as f64)],
        }
    };
}

/// Products and conjugate gradients, for a matrix of numbers and one right-hand side.
pub const ONE: Source = with_conjugate_gradient!(
    "one right side",
    "../../algorithms/parallel/bin_csr_one.wgsl",
    "../../algorithms/systems/filter_numbers.wgsl"
);
/// The same for three right-hand sides, each of which is a system of its own.
pub const THREE: Source = with_conjugate_gradient!(
    "three right sides",
    "../../algorithms/parallel/bin_csr_three.wgsl",
    "../../algorithms/systems/filter_numbers.wgsl"
);
/// The same for a matrix of 3 × 3 blocks.
pub const BLOCKS: Source = with_conjugate_gradient!(
    "blocks",
    "../../algorithms/parallel/bin_csr_blocks.wgsl",
    "../../algorithms/systems/filter_blocks.wgsl"
);
/// Matrices from local contributions.
pub const ASSEMBLY: Source =
    Source { name: "assembly", text: include_str!("../../algorithms/parallel/assembly.wgsl"), constants: &[] };

/// Most parts that a sum is found in: every workgroup adds up all of them.
const MOST_PARTS: usize = 1024;

/// What rows and vectors of a system are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Numbers.
    One,
    /// A matrix of numbers; vectors of three (or four) numbers, each a system of its own.
    Three,
    /// 3 × 3 blocks; vectors of three numbers and one that is not used.
    Blocks,
}

impl Form {
    fn source(self) -> &'static Source {
        match self {
            Form::One => &ONE,
            Form::Three => &THREE,
            Form::Blocks => &BLOCKS,
        }
    }

    /// Numbers of a vector for each row.
    pub fn width(self) -> usize {
        if self == Form::One { 1 } else { 4 }
    }

    /// Numbers of an entry.
    fn planes(self) -> usize {
        if self == Form::Blocks { 9 } else { 1 }
    }
}

/// `System` of `bin_csr.wgsl`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct SystemData {
    rows: u32,
    padded: u32,
    bins: u32,
    groups: u32,
    turns: u32,
    most_iterations: u32,
    relative: f32,
    absolute: f32,
}

/// A matrix on the device.
pub struct Matrix {
    gpu: Rc<Gpu>,
    /// What its rows are.
    pub form: Form,
    data: Cell<SystemData>,
    system: Slab<SystemData>,
    /// Of bins, and the order in which rows stand in them.
    starts: Slab<u32>,
    /// The diagonal, plane by plane.
    pub diagonal: Slab<f32>,
    parts: Vec<Part>,
}

/// As much of a matrix as fits into a binding.
struct Part {
    groups: Range<usize>,
    slots: Range<usize>,
    columns: Slab<u32>,
    values: Slab<f32>,
}

impl Matrix {
    /// A matrix of zeros.
    pub fn new(gpu: &Rc<Gpu>, form: Form, pattern: &Pattern) -> Self {
        let all_groups = pattern.row_count().div_ceil(WORKGROUP as usize);
        let turns = all_groups.div_ceil(MOST_PARTS).max(1);
        let groups = all_groups.div_ceil(turns);
        let starts = pattern.starts();
        let bins_of_group = turns * WORKGROUP as usize / BIN;
        let start = |group: usize| starts[(group * bins_of_group).min(pattern.bin_count())] as usize;
        let most_slots = gpu.limits().binding as usize / (4 * form.planes());
        let mut parts = Vec::new();
        let mut first = 0;
        while first < groups {
            let fits = |end: &usize| (start(*end) - start(first)).next_multiple_of(4) <= most_slots;
            let end = (first + 2..=groups).take_while(fits).last().unwrap_or(first + 1);
            let slots = start(first)..start(end);
            parts.push(Part {
                groups: first..end,
                columns: gpu.slab("columns", &pattern.columns()[slots.clone()]),
                values: gpu.zeros("values", form.planes() * slots.len()),
                slots,
            });
            first = end;
        }
        let data = SystemData {
            rows: pattern.row_count() as u32,
            padded: pattern.padded_row_count() as u32,
            bins: pattern.bin_count() as u32,
            groups: groups as u32,
            turns: turns as u32,
            ..SystemData::default()
        };
        Matrix {
            gpu: Rc::clone(gpu),
            form,
            system: gpu.slab("system", &[data]),
            data: Cell::new(data),
            starts: gpu.slab("starts", &[starts, pattern.order()].concat()),
            diagonal: gpu.zeros("diagonal", form.planes() * pattern.padded_row_count()),
            parts,
        }
    }

    /// Where it is.
    pub fn gpu(&self) -> &Rc<Gpu> {
        &self.gpu
    }

    /// How many rows it has.
    pub fn row_count(&self) -> usize {
        self.data.get().rows as usize
    }

    /// How many bins its rows are in.
    pub(super) fn bin_count(&self) -> usize {
        self.data.get().bins as usize
    }

    /// A kernel that fills in the entries of each part: it gets the places of rows and the slots of the part, and arrays `starts`, `columns` and
    /// `values`.
    pub(super) fn fill(
        &self,
        mut dispatch: impl FnMut(Range<usize>, Range<usize>, [&dyn Binding; 3]) -> Dispatch,
    ) -> Vec<Dispatch> {
        let of_group = (self.data.get().turns * WORKGROUP) as usize;
        let part = |part: &Part| {
            let rows = of_group * part.groups.start..(of_group * part.groups.end).min(self.row_count());
            dispatch(rows, part.slots.clone(), [&self.starts, &part.columns, &part.values])
        };
        self.parts.iter().map(part).collect()
    }

    /// How many parts it comes in.
    pub fn part_count(&self) -> usize {
        self.parts.len()
    }

    /// Write its values.
    pub fn load<const SIDE: usize>(&self, matrix: &BinMatrix<SIDE>) {
        let single = |values: &[f64]| values.iter().map(|&value| value as f32).collect::<Vec<f32>>();
        self.gpu.write(&self.diagonal, 0, &single(&matrix.diagonal));
        let slots = matrix.pattern.columns().len();
        for part in &self.parts {
            let plane = |plane: usize| single(&matrix.values[plane * slots..][part.slots.clone()]);
            let values: Vec<f32> = (0..SIDE * SIDE).flat_map(plane).collect();
            self.gpu.write(&part.values, 0, &values);
        }
    }

    /// A kernel for all rows; each invocation has `bytes` for every one of its rows.
    fn for_rows(&self, kernel: &'static str, bytes: usize, bindings: &[(u32, &dyn Binding)]) -> Dispatch {
        let data = self.data.get();
        let mut all: Vec<(u32, &dyn Binding)> = vec![(1, &self.system)];
        all.extend_from_slice(bindings);
        let items = 0..(data.groups * WORKGROUP) as usize;
        self.gpu.dispatch(self.form.source(), kernel, items, bytes * data.turns as usize, &all)
    }

    /// A kernel that multiplies, part by part; a row has `bytes` besides the matrix.
    fn for_parts<'a>(
        &'a self,
        kernel: &'static str,
        bytes: usize,
        bindings: &'a [(u32, &'a dyn Binding)],
    ) -> impl Iterator<Item = Dispatch> + 'a {
        let (planes, width) = (self.form.planes(), self.form.width());
        self.parts.iter().map(move |part| {
            let items = WORKGROUP as usize * part.groups.start..WORKGROUP as usize * part.groups.end;
            // Of a slot its column, its value and what it is multiplied by; of a row its bin, its number, the diagonal and the same.
            let of_slots = part.slots.len() * 4 * (1 + planes + width) / items.len();
            let of_rows = self.data.get().turns as usize * (12 + 4 * (planes + width) + bytes);
            let mut all: Vec<(u32, &dyn Binding)> =
                vec![(1, &self.system), (2, &self.starts), (3, &part.columns), (4, &part.values), (5, &self.diagonal)];
            all.extend_from_slice(bindings);
            self.gpu.dispatch(self.form.source(), kernel, items, of_slots + of_rows, &all)
        })
    }

    /// `out = A x`
    pub fn product(&self, x: &dyn Binding, out: &dyn Binding) -> Vec<Dispatch> {
        self.for_parts("multiply", 4 * self.form.width(), &[(6, x), (7, out)]).collect()
    }
}

/// `Strides` of `assembly.wgsl`.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct StridesData {
    planes: u32,
    local: u32,
    assembled: u32,
    first: u32,
}

/// Makes a matrix from local contributions, which stand plane by plane in an array.
pub struct MatrixAssembly {
    dispatches: Vec<Dispatch>,
}

impl MatrixAssembly {
    /// For so many contributions, which the matrix's form makes numbers or blocks.
    pub fn new(gpu: &Gpu, matrix: &Matrix, assembly: &Assembly, count: usize, local: &Slab<f32>) -> Self {
        let mut dispatches = Vec::new();
        let planes = matrix.form.planes();
        let mut gather = |lists: &Rows<u32>, all: Range<usize>, assembled: &Slab<f32>| {
            let most = gpu.limits().binding as usize / 4 - 8;
            let mut first = all.start;
            while first < all.end {
                // As many lists as fit.
                let mut size = 0;
                let fits = |entry: &usize| {
                    size += lists.row(*entry).len();
                    size <= most && entry - first < most
                };
                let end = (first..all.end).take_while(fits).last().map_or(first, |last| last) + 1;
                let mut starts = vec![0_u32];
                let mut sources: Vec<u32> = Vec::new();
                for entry in first..end {
                    sources.extend(lists.row(entry));
                    starts.push(sources.len() as u32);
                }
                let strides = StridesData {
                    planes: planes as u32,
                    local: count as u32,
                    assembled: all.len() as u32,
                    first: (first - all.start) as u32,
                };
                let bytes = 8 + 4 * planes + sources.len() * (4 + 4 * planes) / (end - first);
                let bindings: [(u32, &dyn Binding); 5] = [
                    (1, &gpu.slab("strides", &[strides])),
                    (2, &gpu.slab("list starts", &starts)),
                    (3, &gpu.slab("sources", &sources)),
                    (4, local),
                    (5, assembled),
                ];
                let items = first - all.start..end - all.start;
                dispatches.push(gpu.dispatch(&ASSEMBLY, "assemble", items, bytes, &bindings));
                first = end;
            }
        };
        gather(&assembly.of_diagonal, 0..assembly.of_diagonal.len(), &matrix.diagonal);
        for part in &matrix.parts {
            gather(&assembly.of_slots, part.slots.clone(), &part.values);
        }
        MatrixAssembly { dispatches }
    }

    /// Do it.
    pub fn run(&self, gpu: &Gpu) {
        gpu.run(&self.dispatches);
    }
}

/// What may change in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Freedom {
    /// All of it.
    Free,
    /// What is across a direction of length 1 (blocks only).
    Across([f32; 3]),
    /// What is along a direction of length 1 (blocks only).
    Along([f32; 3]),
    /// Nothing.
    Held,
}

impl Freedom {
    fn data(self, form: Form) -> Vec<f32> {
        match (self, form) {
            (Freedom::Free, Form::Blocks) => vec![0.0; 4],
            (Freedom::Across([x, y, z]), Form::Blocks) => vec![x, y, z, 1.0],
            (Freedom::Along([x, y, z]), Form::Blocks) => vec![x, y, z, 2.0],
            (Freedom::Held, Form::Blocks) => vec![0.0, 0.0, 0.0, 3.0],
            (Freedom::Free, _) => vec![1.0],
            _ => vec![0.0],
        }
    }
}

/// `State` of `conjugate_gradient.wgsl`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct StateData {
    /// `r P r` of each system.
    pub error: Four,
    /// What is small enough.
    pub enough: Four,
    /// 1 where there is more to do.
    pub live: Four,
    /// How many iterations it took.
    pub iterations: Four,
}

impl StateData {
    /// Whether there is no more to do.
    pub fn is_idle(&self) -> bool {
        self.live == [0.0; 4]
    }

    /// Whether all systems were solved.
    pub fn is_solved(&self) -> bool {
        self.error.iter().zip(&self.enough).all(|(error, enough)| error <= enough)
    }

    /// Most iterations of a system.
    pub fn iterations(&self) -> u32 {
        self.iterations.iter().fold(0.0, |most: f32, n| most.max(*n)) as u32
    }
}

/// When a solution is good enough.
#[derive(Clone, Copy, Debug)]
pub struct Enough {
    /// The residual `sqrt(r P r)`, relative to that of the right-hand side.
    pub relative: f64,
    /// The residual itself, which must be as small as this too.
    pub absolute: f64,
    /// Iterations after which it ends anyway.
    pub most_iterations: u32,
}

/// Conjugate gradients with the inverse diagonal (or its blocks) as preconditioner, and a filter.
pub struct Pcg {
    gpu: Rc<Gpu>,
    /// The matrix; `renew` when it has changed.
    pub matrix: Matrix,
    /// Where it starts from, and the solution.
    pub x: Slab<f32>,
    /// The right-hand side.
    pub right: Slab<f32>,
    freedom: Slab<f32>,
    state: Slab<StateData>,
    invert: Dispatch,
    start: Vec<Dispatch>,
    iteration: Vec<Dispatch>,
    /// Iterations of the last solve: about what the next one will take.
    expected: Cell<u32>,
}

impl Pcg {
    /// For a matrix. With a filter, rows keep what they have in `x` as far as they may not change.
    pub fn new(matrix: Matrix, filter: Option<&[Freedom]>) -> Self {
        let gpu = Rc::clone(&matrix.gpu);
        let (form, width) = (matrix.form, matrix.form.width());
        let data = matrix.data.get();
        let vector = |name| gpu.zeros::<f32>(name, width * matrix.row_count());
        let (x, right, r, d, q) = (vector("x"), vector("right"), vector("r"), vector("d"), vector("q"));
        let inverse_planes = if form == Form::Blocks { 10 } else { 1 };
        let inverse = gpu.zeros::<f32>("inverse", inverse_planes * data.padded as usize);
        let free = vec![Freedom::Free; matrix.row_count()];
        let freedom: Vec<f32> = filter.unwrap_or(&free).iter().flat_map(|freedom| freedom.data(form)).collect();
        let freedom = gpu.slab("freedom", &freedom);
        let parts = gpu.zeros::<f32>("parts", 2 * width * data.groups as usize);
        let [state, before] = ["state", "state before"].map(|name| gpu.zeros::<StateData>(name, 1));
        let a = 4 * width; // bytes of a number of a vector
        let of_inverse = 4 * inverse_planes;

        let mut start = Vec::new();
        if filter.is_some() {
            // The right-hand side without what the kept part of x makes of it, in q.
            start.push(matrix.for_rows("keep", 16 + 2 * a, &[(7, &d), (11, &freedom), (12, &x)]));
            start.extend(matrix.for_parts("residual", 2 * a, &[(6, &d), (7, &q), (8, &right)]));
        }
        start.extend(matrix.for_parts("residual", 2 * a, &[(6, &x), (7, &r), (8, &right)]));
        let true_right = if filter.is_some() { &q } else { &right };
        let prepared: [(u32, &dyn Binding); 5] = [(8, true_right), (9, &inverse), (13, &r), (14, &d), (15, &parts)];
        start.push(matrix.for_rows("prepare", 4 * a + of_inverse, &prepared));
        let of_parts = 2 * a * (data.groups as usize).div_ceil(WORKGROUP as usize);
        let begin: [(u32, &dyn Binding); 3] = [(1, &matrix.system), (15, &parts), (17, &state)];
        start.push(gpu.dispatch(form.source(), "begin", 0..WORKGROUP as usize, of_parts, &begin));

        let multiply: [(u32, &dyn Binding); 4] = [(6, &d), (7, &q), (15, &parts), (16, &state)];
        let mut iteration: Vec<Dispatch> = matrix.for_parts("multiply_and_dot", a, &multiply).collect();
        let go: [(u32, &dyn Binding); 8] =
            [(6, &d), (8, &q), (9, &inverse), (12, &x), (13, &r), (15, &parts), (16, &state), (17, &before)];
        iteration.push(matrix.for_rows("go", 6 * a + of_inverse, &go));
        let turn: [(u32, &dyn Binding); 6] =
            [(9, &inverse), (13, &r), (14, &d), (15, &parts), (16, &before), (17, &state)];
        iteration.push(matrix.for_rows("turn_way", 3 * a + of_inverse, &turn));
        let inverted: [(u32, &dyn Binding); 3] = [(5, &matrix.diagonal), (10, &inverse), (11, &freedom)];
        let invert = matrix.for_rows("invert", 16 + 4 * form.planes() + of_inverse, &inverted);
        Pcg { gpu, x, right, freedom, state, invert, start, iteration, expected: Cell::new(0), matrix }
    }

    /// When a solution is good enough.
    pub fn aim(&self, enough: Enough) {
        let square = |a: f64| ((a * a) as f32).min(f32::MAX);
        let data = SystemData {
            most_iterations: enough.most_iterations,
            relative: square(enough.relative),
            absolute: square(enough.absolute),
            ..self.matrix.data.get()
        };
        if data != self.matrix.data.replace(data) {
            self.gpu.write(&self.matrix.system, 0, &[data]);
        }
    }

    /// Other rows may change from now on; `renew` afterwards. The filter must have been there from the beginning.
    pub fn filter(&self, filter: &[Freedom]) {
        let data: Vec<f32> = filter.iter().flat_map(|freedom| freedom.data(self.matrix.form)).collect();
        self.gpu.write(&self.freedom, 0, &data);
    }

    /// After the matrix or the filter has changed.
    pub fn renew(&self) {
        self.gpu.run([&self.invert]);
    }

    /// Begin a solve.
    pub fn begin(&self) {
        self.gpu.run(&self.start);
    }

    /// Some iterations, which do nothing where there is nothing to do.
    pub fn iterate(&self, count: u32) {
        self.gpu.run((0..count).flat_map(|_| &self.iteration));
    }

    /// Dispatches of an iteration.
    pub fn dispatches_per_iteration(&self) -> usize {
        self.iteration.len()
    }

    /// Wait, and see how far it is.
    pub fn state(&self) -> StateData {
        let mut state = vec![StateData { error: [f32::INFINITY; 4], ..StateData::default() }];
        self.gpu.read(&self.state, &mut state);
        state[0]
    }

    /// Solve, waiting after as many iterations as the last solve took and then every so many.
    pub fn solve(&self, every: u32) -> StateData {
        self.begin();
        let mut count = self.expected.get().max(1);
        let mut state;
        loop {
            self.iterate(count);
            state = self.state();
            if state.is_idle() {
                self.expected.set(state.iterations());
                return state;
            }
            count = every.max(1);
        }
    }
}
