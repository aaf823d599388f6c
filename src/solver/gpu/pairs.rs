//! Triangles against triangles on the device: measuring what may touch, pressing, taking away the speed of what was led apart.
//!
//! The processor keeps the lists of what may touch and says at the start of a step which of it is near (`cpu/touching`). The vertices of all cloths
//! stand in common arrays, with those of colliders that are near behind them; they are copied there and back on the device. Pairs that share a
//! vertex follow each other in the processor's order (`groups`).

use std::ops::Range;
use std::rc::Rc;

use bytemuck::{Pod, Zeroable};

use super::cloth::GpuCloth;
use super::groups::{Grouped, Runs, SMALL, arrange};
use super::particles::{Four, double, four, split};
use super::work::{Binding, Dispatch, Gpu, Slab, Source, Told, WORKGROUP};
use crate::algorithms::contact::proximity::{Pairing, STOUT};
use crate::model::Model;
use crate::solver::cpu::body_step::Bodies;
pub use crate::solver::cpu::touching::elsewhere::{NearPair, PairStep, PressElsewhere};

/// Squared sine of the angle below which edges count as parallel and triangles as flat, in single precision.
const PARALLEL: f64 = 1e-12;
/// Distance in parts of the size of both features below which there is no direction between them.
const LEAST_DISTANCE: f64 = 1e-7;
/// By how much a distance may be off, in parts of the size of both features: a lower bound must be one.
const DISTANCE_ERROR: f64 = 1e-5;
/// Most pairs that keep the processor's order: most of them are only passed over.
const MOST_IN_ORDER: usize = 64 * SMALL;

/// The kernels of pairs.
pub const PAIRS: Source = Source {
    name: "pairs",
    text: concat!(
        include_str!("../../algorithms/contact/proximity.wgsl"),
        include_str!("../../algorithms/contact/pair.wgsl")
    ),
    constants: &[
        ("PARALLEL", PARALLEL),
        ("STOUT", STOUT),
        ("LEAST_DISTANCE", LEAST_DISTANCE),
        ("DISTANCE_ERROR", DISTANCE_ERROR),
    ],
};

/// Two features that may touch, as kernels have them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct CandidateData {
    /// In the common arrays.
    pub vertices: [u32; 4],
    /// Distance that they keep [m].
    pub gap: f32,
    /// Coefficient while they slide.
    pub sliding: f32,
    /// Coefficient while they stick.
    pub sticking: f32,
    /// Two edges, not a vertex and a triangle.
    pub is_edges: u32,
}

impl CandidateData {
    fn new(pair: &NearPair) -> Self {
        CandidateData {
            vertices: pair.vertices,
            gap: pair.gap as f32,
            sliding: pair.friction.dynamic as f32,
            sticking: pair.friction.sticking as f32,
            is_edges: u32::from(pair.pairing == Pairing::EdgeEdge),
        }
    }
}

/// What was measured of them: see `pair.wgsl`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct PairData {
    /// Nearest point of the first side minus that of the second, in parts of the vertices.
    pub weights: [f32; 4],
    /// How far each vertex moves when that is to change by one.
    pub shares: [f32; 4],
    /// From the second side to the first.
    pub normal: [f32; 3],
    /// How far they are to be led apart [m].
    pub led: f32,
    /// What places on the device lack [m].
    pub lacking: [f32; 3],
    /// Whether they may touch at all.
    pub is_near: u32,
}

/// What is the same for all pairs in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct PressingData {
    /// Way by which what is too near is led apart at most [m].
    pub recover: f32,
    /// [s]
    pub h: f32,
    unused: [f32; 2],
}

/// The particles of a body, or of all.
#[derive(Clone, Debug)]
pub struct BodyArrays {
    /// Places and inverse masses.
    pub x: Slab<Four>,
    /// What places lack.
    pub low: Slab<Four>,
    /// Ways.
    pub d: Slab<Four>,
    /// Velocities.
    pub v: Slab<Four>,
    /// Where the body is in them.
    pub own: Range<usize>,
}

impl BodyArrays {
    fn zeros(gpu: &Gpu, len: usize) -> Self {
        BodyArrays {
            own: 0..len,
            x: gpu.zeros("places of surfaces", len),
            low: gpu.zeros("places of surfaces, low", len),
            d: gpu.zeros("ways of surfaces", len),
            v: gpu.zeros("velocities of surfaces", len),
        }
    }
}

/// Arrays with one item a pair, and what works on them.
struct Made {
    candidates: Slab<CandidateData>,
    pairs: Slab<PairData>,
    sums: Slab<Four>,
    distances: Slab<f32>,
    groups: Slab<u32>,
    measure: Dispatch,
    press: Grouped,
    calm: Grouped,
}

/// All pairs of triangles of a model.
pub struct DevicePairs {
    gpu: Rc<Gpu>,
    bodies: Vec<(BodyArrays, Range<usize>)>,
    /// All vertices of bodies, and behind them those of colliders that are near something.
    all: BodyArrays,
    /// Which ones these are, ascending, and what is known of them: places, what these lack, ways, velocities.
    near: Vec<u32>,
    colliders: [Vec<Four>; 4],
    pressing: Told<PressingData>,
    made: Made,
    /// What the device was told, in the order in which it came, and in the order of groups.
    known: Vec<NearPair>,
    order: Vec<u32>,
    runs: Runs,
}

impl DevicePairs {
    /// For the cloths of a model, which from now on leave their triangles to it; none where something else may touch, or bounce.
    pub fn of_model(gpu: &Rc<Gpu>, model: &Model, cloths: &mut [Option<GpuCloth>]) -> Option<Self> {
        let is_simple = model.soft_bodies.is_empty() && !model.has_bouncing_triangles();
        if !model.has_touching_triangles() || !is_simple {
            return None;
        }
        let arrays: Option<Vec<BodyArrays>> = cloths.iter().map(|cloth| cloth.as_ref()?.arrays()).collect();
        let pairs = Self::new(gpu, arrays?);
        cloths.iter_mut().flatten().for_each(GpuCloth::press_here);
        Some(pairs)
    }

    /// For bodies whose vertices are particles, in the order of their numbers.
    pub fn new(gpu: &Rc<Gpu>, bodies: Vec<BodyArrays>) -> Self {
        let mut end = 0;
        let ranges = bodies.into_iter().map(|body| {
            let range = end..end + body.own.len();
            end = range.end;
            (body, range)
        });
        let bodies: Vec<(BodyArrays, Range<usize>)> = ranges.collect();
        let all = BodyArrays::zeros(gpu, end);
        let pressing = Told::new(gpu, "pressing", 1);
        DevicePairs {
            made: Made::new(gpu, &all, &pressing, WORKGROUP as usize),
            gpu: Rc::clone(gpu),
            bodies,
            all,
            near: Vec::new(),
            colliders: Default::default(),
            pressing,
            known: Vec::new(),
            order: Vec::new(),
            runs: Runs::default(),
        }
    }

    /// How many vertices bodies have.
    fn body_vertices(&self) -> usize {
        self.bodies.last().map_or(0, |(_, range)| range.end)
    }

    fn gather(&self, of: impl Fn(&BodyArrays) -> &Slab<Four>) {
        for (body, range) in &self.bodies {
            self.gpu.copy_part((of(body), body.own.start), (of(&self.all), range.start), range.len());
        }
    }

    fn give_back(&self, of: impl Fn(&BodyArrays) -> &Slab<Four>) {
        for (body, range) in &self.bodies {
            self.gpu.copy_part((of(&self.all), range.start), (of(body), body.own.start), range.len());
        }
    }

    /// Where the vertices of colliders are in this step.
    fn place_colliders(&mut self, step: &PairStep) {
        let first = self.body_vertices();
        let mut colliders: [Vec<Four>; 4] = Default::default();
        for v in self.near.iter().map(|&v| v as usize) {
            let (from, to) = (&step.from[v], &step.to[v]);
            let [high, low] = split(*from, 0.0);
            let ways = [high, low, four(to - double(high), 0.0), four((to - from) / step.h, 0.0)];
            colliders.iter_mut().zip(ways).for_each(|(all, own)| all.push(own));
        }
        let BodyArrays { x, low, d, v, .. } = &self.all;
        for ((slab, known), now) in [x, low, d, v].into_iter().zip(&mut self.colliders).zip(colliders) {
            if *known != now {
                self.gpu.write(slab, first, &now);
                *known = now;
            }
        }
    }

    /// Arrays that are large enough; false where a binding is not.
    fn make_room(&mut self, pairs: usize) -> bool {
        let vertices = self.body_vertices() + self.near.len();
        let largest = self.gpu.limits().binding;
        let room =
            |needed: usize, size: usize| Some(needed.next_power_of_two()).filter(|n| (n * size) as u64 <= largest);
        let is_small = self.all.x.len() < vertices;
        if is_small {
            let Some(room) = room(vertices, size_of::<Four>()) else { return false };
            self.all = BodyArrays::zeros(&self.gpu, room);
            self.colliders = Default::default();
        }
        if is_small || self.made.pairs.len() < pairs {
            let Some(room) = room(pairs.max(self.made.pairs.len()), size_of::<PairData>()) else { return false };
            self.made = Made::new(&self.gpu, &self.all, &self.pressing, room);
        }
        true
    }

    /// Take these pairs, unless they are those of the last step; false if they are too many.
    fn take(&mut self, step: &PairStep) -> bool {
        if self.known == step.pairs {
            return true;
        }
        let first = self.body_vertices() as u32;
        self.near = step.pairs.iter().flat_map(|pair| pair.vertices).filter(|&v| v >= first).collect();
        self.near.sort_unstable();
        self.near.dedup();
        self.known.clear();
        self.order.clear();
        if !self.make_room(step.pairs.len()) {
            return false;
        }
        self.known.extend(step.pairs);
        let (pairs, near) = (&self.known, &self.near);
        let place = |v: u32| if v < first { v } else { first + near.partition_point(|known| *known < v) as u32 };
        let moved =
            |number: u32| pairs[number as usize].vertices.into_iter().map(|v| v as usize).filter(|&v| step.k[v] > 0.0);
        let keeps_order = pairs.len() <= MOST_IN_ORDER;
        let (order, starts) = arrange(pairs.len(), step.k.len(), keeps_order, |number| number, moved);
        let data = |&number: &u32| {
            let pair = &pairs[number as usize];
            CandidateData::new(&NearPair { vertices: pair.vertices.map(place), ..*pair })
        };
        let data: Vec<CandidateData> = order.iter().map(data).collect();
        self.order = order;
        // A turn for each workgroup's worth of pairs, and one to see that the group is done.
        self.runs = Runs::new(&starts, |group| group.len().div_ceil(WORKGROUP as usize) + 2);
        let Self { gpu, made, all, pressing, runs, .. } = self;
        gpu.write(&made.candidates, 0, &data);
        gpu.write(&made.groups, 0, &runs.list);
        let Made { candidates, pairs, sums, groups, press, calm, .. } = made;
        let bytes = size_of::<CandidateData>() + size_of::<PairData>() + 10 * size_of::<Four>();
        let make = |kernels: [&'static str; 2], own: &[(u32, &dyn Binding)], kernel: usize, range: Range<usize>| {
            let mut bound: Vec<(u32, &dyn Binding)> = vec![(1, &*candidates), (5, &*pairs), (6, &*sums)];
            bound.extend(own);
            if kernel == 1 {
                bound.push((9, &*groups));
            }
            gpu.dispatch(&PAIRS, kernels[kernel], range, bytes, &bound)
        };
        press.aim(gpu, runs, |kernel, range| {
            make(["press_pairs", "press_pairs_of_small_groups"], &[(4, &all.d)], kernel, range)
        });
        calm.aim(gpu, runs, |kernel, range| {
            make(["calm_pairs", "calm_pairs_of_small_groups"], &[(8, &*pressing), (10, &all.v)], kernel, range)
        });
        let all = 0..self.order.len();
        self.gpu.aim(&mut self.made.measure, all);
        true
    }

    /// In which order the pairs of this step are gone over.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// What was measured of each pair, and its sums, in the order in which they came. It waits for the device.
    pub fn read(&self) -> Vec<(PairData, Four)> {
        let (mut pairs, mut sums) = (Vec::new(), Vec::new());
        self.gpu.read(&self.made.pairs, &mut pairs);
        self.gpu.read(&self.made.sums, &mut sums);
        let mut result = vec![Default::default(); self.order.len()];
        for (&number, of_pair) in self.order.iter().zip(pairs.into_iter().zip(sums)) {
            result[number as usize] = of_pair;
        }
        result
    }
}

impl Made {
    fn new(gpu: &Gpu, all: &BodyArrays, pressing: &Told<PressingData>, room: usize) -> Self {
        let candidates = gpu.zeros::<CandidateData>("near pairs", room);
        let pairs = gpu.zeros::<PairData>("pairs", room);
        let sums = gpu.zeros::<Four>("sums of pairs", room);
        let distances = gpu.zeros::<f32>("distances of pairs", room);
        let BodyArrays { x, low, d, .. } = all;
        let bound: [(u32, &dyn Binding); 8] =
            [(1, &candidates), (2, x), (3, low), (4, d), (5, &pairs), (6, &sums), (7, &distances), (8, pressing)];
        let bytes = size_of::<CandidateData>() + size_of::<PairData>() + 13 * size_of::<Four>() + size_of::<f32>();
        Made {
            measure: gpu.dispatch(&PAIRS, "measure_pairs", 0..0, bytes, &bound),
            groups: gpu.zeros("groups of pairs", 2 * (room + 1)),
            candidates,
            pairs,
            sums,
            distances,
            press: Grouped::default(),
            calm: Grouped::default(),
        }
    }
}

impl PressElsewhere for DevicePairs {
    fn begin_step(&mut self, step: &PairStep) -> bool {
        if !self.take(step) {
            return false;
        }
        self.place_colliders(step);
        self.pressing.tell(
            &self.gpu,
            [PressingData { recover: step.recover as f32, h: step.h as f32, ..PressingData::default() }].into_iter(),
        );
        self.gather(|body| &body.x);
        if !step.pairs.is_empty() {
            self.gather(|body| &body.low);
            self.gather(|body| &body.d);
            self.gpu.run([&self.made.measure]);
        }
        true
    }

    fn press(&mut self) {
        if self.known.is_empty() {
            return;
        }
        self.gather(|body| &body.d);
        self.made.press.run(&self.gpu);
        self.give_back(|body| &body.d);
    }

    fn fetch(&mut self, bodies: &mut Bodies, distances: &mut Vec<f64>) {
        self.gather(|body| &body.d);
        let count = self.body_vertices();
        let (mut x, mut d, mut near) = (Vec::new(), Vec::new(), Vec::new());
        self.gpu.read_all([
            (&self.all.x.numbers_of(count), &mut x),
            (&self.all.d.numbers_of(count), &mut d),
            (&self.made.distances.numbers_of(self.order.len()), &mut near),
        ]);
        let (x, d): (&[Four], &[Four]) = (bytemuck::cast_slice(&x), bytemuck::cast_slice(&d));
        for ((_, range), body) in self.bodies.iter().zip(bodies) {
            // Nothing has come where the device is gone.
            if let (Some(places), Some(ways)) = (x.get(range.clone()), d.get(range.clone())) {
                body.receive(places, ways);
            }
        }
        distances.clear();
        distances.resize(self.order.len(), 0.0);
        for (&number, near) in self.order.iter().zip(near) {
            distances[number as usize] = f64::from(near);
        }
    }

    fn pressed(&mut self) -> Vec<bool> {
        let mut sums = Vec::new();
        self.gpu.read(&self.made.sums.numbers_of(self.order.len()), &mut sums);
        let mut pressed = vec![false; self.order.len()];
        for (&number, sum) in self.order.iter().zip(sums.chunks_exact(4)) {
            pressed[number as usize] = sum[3] > 0.0;
        }
        pressed
    }

    fn calm(&mut self) {
        if self.known.is_empty() {
            return;
        }
        self.gather(|body| &body.v);
        self.made.calm.run(&self.gpu);
        self.give_back(|body| &body.v);
    }
}
