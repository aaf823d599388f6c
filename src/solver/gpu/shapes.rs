//! Elasticity and volume of a soft body whose shapes are matched, on the device. See `cpu/shape_filling.rs` for what is done and why; what a
//! kernel does is described beside its twin.
//!
//! ```text
//! damp     look_at_motion, judge_motion, sum_motions, find_motions, damp
//! spring   look, judge_whole, sum_moments, fit, find_ways, judge_ways, go
//! contacts look_inside, judge_inside, sum_weights, spread_weights, judge_weights
//! sweep    look_again, judge_volume, correct
//! calm     look_back, judge_growth, calm
//! flow     flow
//! ```
//!
//! What a `judge` finds about the whole body stays on the device. Every kernel finds its body by its particle: several bodies lie behind each other
//! in the same arrays and cost the dispatches of one.

use std::rc::Rc;

use bytemuck::{Pod, Zeroable};

use super::particles::{Four, Particles, four, single};
use super::reduce::{Control, ControlData};
use super::soft::DeviceFilling;
use super::work::{Binding, Dispatch, Gpu, Slab, Source, WORKGROUP};
use crate::algorithms::shape_matching::{matching, surface_volume};
use crate::math::{Vec3, polar};
use crate::model::{BodyState, ShapeBody, SoftBodyModel};
use crate::scene::ShapeMatching;
use crate::solver::cpu::shape_filling::{FINDS_BACK, LARGEST_WAY, LEAST_FREE, MENDED_ALIKE, SMALL_NORMAL};

/// The kernels of matched shapes.
pub const SHAPES: Source = Source {
    name: "shapes",
    text: concat!(
        include_str!("../../algorithms/shape_matching/fast_summation.wgsl"),
        include_str!("../../math/polar.wgsl"),
        include_str!("../../algorithms/shape_matching/matching.wgsl"),
        include_str!("../../algorithms/shape_matching/damping.wgsl"),
        include_str!("../../algorithms/shape_matching/surface_volume.wgsl"),
    ),
    constants: &[
        ("POLAR_STEPS", polar::MOST_STEPS as f64),
        ("POLAR_GUESS", polar::GUESS),
        ("FINDS_BACK_FROM", FINDS_BACK.start),
        ("FINDS_BACK_TO", FINDS_BACK.end),
        ("MENDED_ALIKE", MENDED_ALIKE),
        ("LEAST_FREE", LEAST_FREE),
        ("SMALL_NORMAL", SMALL_NORMAL),
        ("LARGEST_TURN", matching::LARGEST_TURN),
        ("MOST_FLOWED", matching::MOST_FLOWED),
    ],
};

/// What the processor says about a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Settings {
    volume: f32,
    normal_unit: f32,
    area: f32,
    alpha: f32,
    beta: f32,
    extent: f32,
    mass: f32,
    mean_mass: f32,
    largest_way: f32,
    most_count: f32,
    most_spin: f32,
    damping: f32,
    faster: f32,
    yields_at: f32,
    stays: f32,
    turn_unit: f32,
    keeps_volume: u32,
    is_free: u32,
    is_plastic: u32,
    first_chunk: u32,
    chunk_count: u32,
    unused: [u32; 3],
}

/// A body as kernels have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct BodyData {
    settings: Settings,
    about: Four,
    about_next: Four,
    turn: Four,
    /// What the device finds out for itself.
    found: [Four; 10],
}

/// A particle as kernels have it.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct ParticleData {
    rest: [f32; 3],
    mass: f32,
    share: f32,
    part: f32,
    stiffness: f32,
    body: u32,
    inner_weight: f32,
    inner_distance: f32,
    across: u32,
    square_at_rest: f32,
    ring: [u32; 2],
    stretches: [u32; 2],
}

/// A region as kernels have it.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct RegionData {
    centre: [f32; 3],
    inverse_mass: f32,
    normal: [f32; 3],
    unused: f32,
}

/// What a step knows of the surface at a particle: only the device looks into it.
type SurfaceData = [Four; 3];
/// How a region is turned, and a normal.
type TurnData = [Four; 2];
/// Four columns of running sums.
type Whole = [i32; 4];

/// Rows that a workgroup leaves for its chunk: `ROWS` of the kernels.
const ROWS: usize = 8;
/// Spins that count, in how often the fastest particle would go around the smallest region.
const MOST_SPINS: f64 = 8.0;
/// Largest entry of a turn with what has flowed.
const LARGEST_ENTRY: f64 = 2.5;

/// Arrays of matched bodies on the device.
pub struct GpuShapes<'m> {
    gpu: Rc<Gpu>,
    members: Vec<Member<'m>>,
    /// Their `BodyData`, so that the settings at the beginning of each can be written alone.
    bodies: Slab<Four>,
    flowed: Slab<Four>,
    begin: [Dispatch; 1],
    damp: Vec<Dispatch>,
    spring: Vec<Dispatch>,
    calm: Vec<Dispatch>,
    flow: Vec<Dispatch>,
    /// Made when it is known which particles touch and what says when sweeps are done.
    heed: Option<([wgpu::Buffer; 2], Vec<Dispatch>)>,
    sweep: Option<(wgpu::Buffer, Vec<Dispatch>)>,
    arrays: Arrays,
    reach: Reach,
}

/// One of the bodies.
struct Member<'m> {
    body: &'m SoftBodyModel,
    shape: &'m ShapeBody,
    /// Its first particle.
    start: usize,
    settings: Settings,
    /// What the device has of that.
    known: Settings,
    /// What the device has of what has flowed.
    known_flowed: Vec<Four>,
}

/// Where the particles of bodies of these sizes begin: each has whole workgroups for itself.
pub fn starts(sizes: impl Iterator<Item = usize>) -> Vec<usize> {
    let begin = |end: &mut usize, size: usize| {
        let start = *end;
        *end = (start + size).next_multiple_of(WORKGROUP as usize);
        Some(start)
    };
    sizes.scan(0, begin).collect()
}

/// Items of `BodyData`.
const BODY: usize = size_of::<BodyData>() / size_of::<Four>();

/// What kernels are bound to.
struct Arrays {
    particles: Slab<ParticleData>,
    stretches: Slab<[u32; 2]>,
    rings: Slab<[u32; 2]>,
    regions: Slab<RegionData>,
    spreads: Slab<Four>,
    turns: Slab<TurnData>,
    surface: Slab<SurfaceData>,
    work: Slab<Four>,
    moments: Slab<Whole>,
    transforms: Slab<Whole>,
    motions: Slab<Whole>,
    spins: Slab<Whole>,
    weights: Slab<Whole>,
    x: Slab<Four>,
    low: Slab<Four>,
    d: Slab<Four>,
    v: Slab<Four>,
}

impl<'m> GpuShapes<'m> {
    /// For a body whose particles are on the device.
    pub fn new(gpu: &Rc<Gpu>, body: &'m SoftBodyModel, shape: &'m ShapeBody, particles: &Particles) -> Self {
        Self::of_several(gpu, &[(body, shape)], particles)
    }

    /// For bodies of one kind (`kind`), whose particles are where `starts` has them.
    pub fn of_several(gpu: &Rc<Gpu>, bodies: &[(&'m SoftBodyModel, &'m ShapeBody)], particles: &Particles) -> Self {
        let starts = starts(bodies.iter().map(|(body, _)| body.rest.len()));
        let mut numbers = Numbers::default();
        let mut members = Vec::new();
        for (&(body, shape), start) in bodies.iter().zip(starts) {
            let first_chunk = (start / WORKGROUP as usize) as u32;
            let settings = Settings { first_chunk, ..settings(body, shape) };
            numbers.fill_up(start, members.len());
            numbers.add(body, shape, &settings, members.len());
            let (known, known_flowed) = (Settings::default(), Vec::new());
            members.push(Member { body, shape, start, settings, known, known_flowed });
        }
        let count = numbers.particles.len();
        let chunks = count.div_ceil(WORKGROUP as usize);
        // A row of so many times four columns for each invocation and each chunk, or none where these sums are not asked for.
        let rows = chunks * (WORKGROUP as usize + 1);
        let running =
            |name, width: usize, is_used: bool| gpu.zeros::<Whole>(name, if is_used { width * rows } else { 0 });
        let [keeps_volume, is_damped, is_plastic] =
            bodies.first().map_or([false; 3], |(body, shape)| kind(body, shape));
        let arrays = Arrays {
            particles: gpu.slab("shape particles", &numbers.particles),
            stretches: gpu.slab("stretches", &numbers.stretches),
            rings: gpu.slab("rings", &numbers.rings),
            regions: gpu.slab("regions", &numbers.regions),
            spreads: gpu.slab("spreads", &numbers.spreads),
            turns: gpu.zeros("turns", count),
            surface: gpu.zeros("surface", count),
            work: gpu.zeros("shape work", count + ROWS * chunks),
            moments: running("moments", 3, true),
            transforms: running("transforms", 3, true),
            motions: running("motions", 4, is_damped),
            spins: running("spins", 2, is_damped),
            weights: running("weights", 1, keeps_volume),
            x: particles.x.clone(),
            low: particles.low.clone(),
            d: particles.d.clone(),
            v: particles.v.clone(),
        };
        let data = gpu.zeros("bodies", members.len() * BODY);
        let flowed = gpu.zeros("flowed", if is_plastic { 3 * count } else { 0 });
        let reach = Reach::of(&numbers, count.max(1));
        let maker = Maker { gpu, bodies: &data, flowed: &flowed, arrays: &arrays, reach, count: members.len() };
        GpuShapes {
            begin: [maker.begin_turns()],
            damp: if is_damped { maker.damp() } else { Vec::new() },
            spring: maker.spring(),
            calm: if keeps_volume { maker.calm() } else { Vec::new() },
            flow: if is_plastic { maker.flow() } else { Vec::new() },
            heed: None,
            sweep: None,
            gpu: Rc::clone(gpu),
            members,
            bodies: data,
            flowed,
            arrays,
            reach,
        }
    }

    fn maker(&self) -> Maker<'_> {
        let GpuShapes { gpu, bodies, flowed, arrays, reach, members, .. } = self;
        Maker { gpu, bodies, flowed, arrays, reach: *reach, count: members.len() }
    }

    /// Prepare a frame for one of the bodies.
    pub fn begin_frame_of(&mut self, number: usize, moving: &BodyState) {
        let member = &mut self.members[number];
        let (body, shape) = (member.body, member.shape);
        let mass = &body.mass;
        let middle = moving.x.iter().zip(mass).map(|(x, m)| x * *m).sum::<Vec3>() / mass.iter().sum::<f64>();
        let turn = polar::quaternion(&shape.shapes.whole_turn(mass, &moving.x, middle));
        if body.flesh.plasticity.is_some() {
            let flowed: Vec<Four> = if moving.flowed.is_empty() {
                (0..3 * body.rest.len()).map(|row| four(Vec3::ith(row % 3, 1.0), 0.0)).collect()
            } else {
                moving.flowed.chunks_exact(3).map(|row| four(Vec3::new(row[0], row[1], row[2]), 0.0)).collect()
            };
            if member.known_flowed != flowed {
                self.gpu.write(&self.flowed, 3 * member.start, &flowed);
                member.known_flowed = flowed;
            }
        }
        let data = BodyData {
            settings: member.settings,
            about: four(middle, 0.0),
            about_next: four(middle, 0.0),
            turn: turn.map(|entry| entry as f32),
            ..BodyData::default()
        };
        self.gpu.write(&self.bodies, number * BODY, bytemuck::cast_slice(&[data]));
        member.known = member.settings;
    }

    /// After that, for all of them.
    pub fn begin_turns(&self) {
        self.gpu.run(&self.begin);
    }

    /// Prepare a step of one of the bodies.
    pub fn begin_step_of(&mut self, number: usize, h: f64) {
        let part = |rate: f64| 1.0 - (-rate * h).exp();
        let member = &mut self.members[number];
        let settings = &mut member.settings;
        settings.damping = part(member.shape.settings.damping) as f32;
        settings.faster = (h / ShapeMatching::STEP).powi(2) as f32;
        settings.stays = member.body.flesh.plasticity.map_or(0.0, |plasticity| part(plasticity.creep)) as f32;
        if member.settings != member.known {
            self.gpu.write(&self.bodies, number * BODY, bytemuck::cast_slice(&[member.settings]));
            member.known = member.settings;
        }
    }

    /// Bring what stays of one of the bodies into its state.
    pub fn read_of(&mut self, number: usize, moving: &mut BodyState) {
        let member = &mut self.members[number];
        if member.body.flesh.plasticity.is_none() {
            return;
        }
        let mut all = Vec::new();
        self.gpu.read(&self.flowed, &mut all);
        let own = 3 * member.start..3 * (member.start + member.body.rest.len());
        let Some(flowed) = all.get(own) else { return };
        member.known_flowed = flowed.to_vec();
        moving.flowed.clear();
        moving.flowed.extend(flowed.iter().flat_map(|row| row[..3].iter().map(|entry| f64::from(*entry))));
    }
}

/// What has to be alike for bodies to be simulated together: whether volume is kept, velocities are damped, and anything stays.
pub fn kind(body: &SoftBodyModel, shape: &ShapeBody) -> [bool; 3] {
    [shape.settings.keep_volume, shape.settings.damping > 0.0, body.flesh.plasticity.is_some()]
}

/// Bytes of the largest array that bodies of these sizes take, for each particle and what it looks at.
pub fn largest_array(body: &SoftBodyModel, shape: &ShapeBody) -> usize {
    let count = body.rest.len().next_multiple_of(WORKGROUP as usize);
    let stretches: usize = (0..body.rest.len()).map(|i| shape.regions.stretches(i).count()).sum();
    let rings = 3 * body.mesh.triangles.len();
    let running = 4 * size_of::<Whole>() * (count + count / WORKGROUP as usize);
    [PARTICLE * count, running, SURFACE * count, 8 * stretches, 8 * rings].into_iter().fold(0, usize::max)
}

impl DeviceFilling for GpuShapes<'_> {
    fn begin_frame(&mut self, moving: &BodyState) {
        self.begin_frame_of(0, moving);
        self.begin_turns();
    }

    fn begin_step(&mut self, h: f64, _: f64) {
        self.begin_step_of(0, h);
    }

    fn damp(&mut self) {
        self.gpu.run(&self.damp);
    }

    fn spring(&mut self) {
        self.gpu.run(&self.spring);
    }

    fn heed_contacts(&mut self, touches: &Slab<u32>, control: &Control) {
        if !self.members.iter().any(|member| member.shape.settings.keep_volume) {
            return;
        }
        let bound = [touches.buffer(), control.slab.buffer()];
        if self.heed.as_ref().is_none_or(|(known, _)| [&known[0], &known[1]] != bound) {
            self.heed = Some((bound.map(Clone::clone), self.maker().heed(touches, &control.slab)));
        }
        if let Some((_, heed)) = &self.heed {
            self.gpu.run(heed);
        }
    }

    fn sweep(&mut self, control: &Control) {
        if self.sweep.as_ref().is_none_or(|(known, _)| known != control.slab.buffer()) {
            self.sweep = Some((control.slab.buffer().clone(), self.maker().sweep(&control.slab)));
        }
        if let Some((_, sweep)) = &self.sweep {
            self.gpu.run(sweep);
        }
    }

    fn calm(&mut self) {
        self.gpu.run(&self.calm);
    }

    fn flow(&mut self) {
        self.gpu.run(&self.flow);
    }

    fn read(&mut self, moving: &mut BodyState) {
        self.read_of(0, moving);
    }
}

fn settings(body: &SoftBodyModel, shape: &ShapeBody) -> Settings {
    let count = body.rest.len();
    let ShapeMatching { alpha, beta, keep_volume, .. } = shape.settings;
    let extent = crate::math::largest_norm(&shape.shapes.rest);
    let regions = 0..count;
    let most_count = f64::from(regions.clone().map(|region| shape.regions.count(region)).max().unwrap_or(1));
    let width = |region: usize| {
        let centre = shape.shapes.centres[region];
        shape.regions.members(region).map(|i| (shape.shapes.rest[i] - centre).norm()).fold(0.0, f64::max)
    };
    let narrowest = regions.map(width).fold(f64::INFINITY, f64::min);
    let area = mean_area(body);
    Settings {
        volume: shape.volume as f32,
        normal_unit: (0.5 * shape.outwards / area) as f32,
        area: area as f32,
        alpha: alpha as f32,
        beta: beta as f32,
        extent: extent as f32,
        mass: count as f32,
        mean_mass: (body.mass.iter().sum::<f64>() / count as f64) as f32,
        largest_way: (LARGEST_WAY * shape.volume.cbrt()) as f32,
        most_count: most_count as f32,
        most_spin: (MOST_SPINS * extent / narrowest).clamp(MOST_SPINS, 4096.0) as f32,
        yields_at: body.flesh.plasticity.map_or(0.0, |plasticity| plasticity.yields_at) as f32,
        turn_unit: (LARGEST_ENTRY * most_count).log2().ceil().exp2() as f32,
        keeps_volume: u32::from(keep_volume),
        is_free: u32::from(body.k.iter().all(|k| *k > 0.0) && body.pins.soft.is_empty()),
        is_plastic: u32::from(body.flesh.plasticity.is_some()),
        chunk_count: count.div_ceil(WORKGROUP as usize) as u32,
        ..Settings::default()
    }
}

/// Mean area normal of a particle at rest, as long as these are far from cancelling each other [m²].
fn mean_area(body: &SoftBodyModel) -> f64 {
    let area = |corners: &[u32; 3]| {
        let [a, b, c] = corners.map(|v| body.rest[v as usize]);
        (b - a).cross(&(c - a)).norm()
    };
    let all: f64 = body.mesh.triangles.iter().map(area).sum();
    // Each triangle counts with half of its doubled area at three corners.
    1.5 * all / body.rest.len() as f64
}

/// What the device is told about particles and regions.
#[derive(Default)]
struct Numbers {
    particles: Vec<ParticleData>,
    regions: Vec<RegionData>,
    spreads: Vec<Four>,
    stretches: Vec<[u32; 2]>,
    rings: Vec<[u32; 2]>,
}

impl Numbers {
    /// Particles without mass up to a number, which belong to the body before this one.
    fn fill_up(&mut self, start: usize, body: usize) {
        let nothing = |across: usize| ParticleData {
            body: (body as u32).saturating_sub(1),
            across: across as u32,
            ..ParticleData::zeroed()
        };
        self.particles.extend((self.particles.len()..start).map(nothing));
        self.regions.resize(start, RegionData::zeroed());
        if !self.spreads.is_empty() {
            self.spreads.resize(3 * start, [0.0; 4]);
        }
    }

    /// The particles of a body behind those that are there.
    fn add(&mut self, body: &SoftBodyModel, shape: &ShapeBody, settings: &Settings, number: usize) {
        let (shapes, extent) = (&shape.shapes, f64::from(settings.extent));
        let heaviest = shapes.masses.iter().copied().fold(0.0, f64::max);
        let mean_mass = body.mass.iter().sum::<f64>() / body.mass.len() as f64;
        let start = self.particles.len() as u32;
        let numbers = self;
        let normal_unit = f64::from(settings.normal_unit);
        let doubled_normal = |i: usize| -> Vec3 {
            let corners = shape.around.row(i).iter().map(|&t| body.mesh.triangles[t as usize]);
            corners.map(|corners| surface_volume::doubled_area(corners.map(|v| body.rest[v as usize]))).sum()
        };
        for i in 0..body.rest.len() {
            let starts = [numbers.rings.len(), numbers.stretches.len()];
            numbers.rings.extend(
                shape
                    .around
                    .row(i)
                    .iter()
                    .map(|&t| others(body.mesh.triangles[t as usize], i as u32).map(|corner| start + corner)),
            );
            for stretch in shape.regions.stretches(i) {
                let [first, end] = [stretch.start, stretch.end].map(|particle| start + particle as u32);
                match &mut numbers.stretches[starts[1]..] {
                    // Paths mean nothing here: what follows each other is one.
                    [.., [_, before]] if *before == first => *before = end,
                    _ => numbers.stretches.push([first, end]),
                }
            }
            numbers.particles.push(ParticleData {
                rest: single(shapes.rest[i] / extent),
                mass: (body.mass[i] / mean_mass) as f32,
                share: (1.0 / f64::from(shape.regions.count(i))) as f32,
                part: (shapes.shared_mass[i] / heaviest) as f32,
                stiffness: shape.stiffness[i] as f32,
                body: number as u32,
                inner_weight: shape.inner.weights[i] as f32,
                inner_distance: shape.inner.distances[i] as f32,
                across: start + shape.inner.across[i],
                square_at_rest: (normal_unit * doubled_normal(i)).norm_squared() as f32,
                ring: [starts[0] as u32, numbers.rings.len() as u32],
                stretches: [starts[1] as u32, numbers.stretches.len() as u32],
            });
            numbers.regions.push(RegionData {
                centre: single(shapes.centres[i] / extent),
                inverse_mass: (heaviest / shapes.masses[i]) as f32,
                normal: single(shapes.normals[i] / (heaviest * extent)),
                unused: 0.0,
            });
            if body.flesh.plasticity.is_some() {
                let spread = shapes.inverse_spread[i] * (heaviest * extent);
                numbers.spreads.extend((0..3).map(|row| four(spread.row(row).transpose(), 0.0)));
            }
        }
    }
}

/// The other two corners of a triangle, as it goes around.
fn others([a, b, c]: [u32; 3], corner: u32) -> [u32; 2] {
    match corner {
        _ if corner == a => [b, c],
        _ if corner == b => [c, a],
        _ => [a, b],
    }
}

/// How much a particle looks at, on average.
#[derive(Clone, Copy)]
struct Reach {
    ring: usize,
    stretches: usize,
}

impl Reach {
    fn of(numbers: &Numbers, count: usize) -> Self {
        Reach { ring: numbers.rings.len().div_ceil(count), stretches: numbers.stretches.len().div_ceil(count) }
    }

    /// Bytes of a sum over a region, of rows of so many times four columns.
    fn sum(self, width: usize) -> usize {
        self.stretches * (8 + 32 * width)
    }

    /// Bytes of an area normal.
    fn normal(self) -> usize {
        32 + self.ring * (8 + 64)
    }
}

/// Makes dispatches: numbers of bindings are those of the kernels.
struct Maker<'a> {
    gpu: &'a Gpu,
    bodies: &'a Slab<Four>,
    flowed: &'a Slab<Four>,
    arrays: &'a Arrays,
    reach: Reach,
    /// How many bodies there are.
    count: usize,
}

/// Bytes of a particle, of what is known of its surface, and of what a workgroup leaves, for each invocation.
const PARTICLE: usize = size_of::<ParticleData>();
const SURFACE: usize = size_of::<SurfaceData>();
const LEFT: usize = ROWS * 16 / WORKGROUP as usize;

impl Maker<'_> {
    /// A kernel for all particles: `bound` are the bindings beside bodies and particles.
    fn each(&self, kernel: &'static str, bytes: usize, bound: &[(u32, &dyn Binding)]) -> Dispatch {
        let common: [(u32, &dyn Binding); 2] = [(1, self.bodies), (2, &self.arrays.particles)];
        let bound: Vec<_> = common.iter().chain(bound).copied().collect();
        self.gpu.dispatch(&SHAPES, kernel, 0..self.arrays.particles.len(), PARTICLE + bytes, &bound)
    }

    /// A kernel for each body.
    fn judge(&self, kernel: &'static str, bound: &[(u32, &dyn Binding)]) -> Dispatch {
        let common: [(u32, &dyn Binding); 2] = [(1, self.bodies), (11, &self.arrays.work)];
        let bound: Vec<_> = common.iter().chain(bound).copied().collect();
        let count = self.arrays.particles.len();
        let invocations = self.count * WORKGROUP as usize;
        let bytes = count * LEFT / invocations.max(1);
        self.gpu.dispatch_blocks(&SHAPES, kernel, count, invocations, bytes, &bound)
    }

    fn begin_turns(&self) -> Dispatch {
        self.each("begin_turns", 64, &[(12, &self.arrays.regions), (13, &self.arrays.turns)])
    }

    fn damp(&self) -> Vec<Dispatch> {
        let Arrays { x, low, v, motions, spins, stretches, regions, work, .. } = self.arrays;
        vec![
            self.each("look_at_motion", 48 + LEFT, &[(6, x), (7, low), (9, v), (11, work)]),
            self.judge("judge_motion", &[]),
            self.each("sum_motions", 48 + 64, &[(5, motions), (6, x), (7, low), (9, v)]),
            self.each(
                "find_motions",
                self.reach.sum(4) + 64,
                &[(3, stretches), (4, motions), (5, spins), (12, regions)],
            ),
            self.each("damp", self.reach.sum(2) + 64, &[(3, stretches), (4, spins), (6, x), (7, low), (9, v)]),
        ]
    }

    fn spring(&self) -> Vec<Dispatch> {
        let Arrays { x, low, d, surface, work, rings, moments, transforms, turns, regions, stretches, .. } =
            self.arrays;
        let flowed = if self.flowed.is_empty() { 0 } else { 48 };
        vec![
            self.each(
                "look",
                16 + self.reach.normal() + SURFACE + LEFT,
                &[(6, x), (7, low), (8, d), (10, surface), (11, work), (16, rings)],
            ),
            self.judge("judge_whole", &[]),
            self.each("sum_moments", 112, &[(5, moments), (6, x), (8, d), (10, surface), (13, turns)]),
            self.each(
                "fit",
                self.reach.sum(3) + 128 + flowed,
                &[(3, stretches), (4, moments), (5, transforms), (12, regions), (13, turns), (14, self.flowed)],
            ),
            self.each(
                "find_ways",
                self.reach.sum(3) + 48 + SURFACE + LEFT,
                &[(3, stretches), (4, transforms), (6, x), (8, d), (10, surface), (11, work)],
            ),
            self.judge("judge_ways", &[]),
            self.each("go", 64 + SURFACE, &[(8, d), (10, surface), (11, work), (13, turns)]),
        ]
    }

    fn heed(&self, touches: &Slab<u32>, control: &Slab<ControlData>) -> Vec<Dispatch> {
        let Arrays { x, d, surface, work, rings, weights, stretches, .. } = self.arrays;
        vec![
            self.each(
                "look_inside",
                32 + self.reach.normal() + SURFACE + LEFT,
                &[(6, x), (8, d), (10, surface), (11, work), (16, rings), (18, control)],
            ),
            self.judge("judge_inside", &[(18, control)]),
            self.each("sum_weights", SURFACE + 20, &[(5, weights), (10, surface), (17, touches)]),
            self.each(
                "spread_weights",
                self.reach.sum(1) + SURFACE + 20 + LEFT,
                &[(3, stretches), (4, weights), (6, x), (10, surface), (11, work), (17, touches)],
            ),
            self.judge("judge_weights", &[]),
        ]
    }

    fn sweep(&self, control: &Slab<ControlData>) -> Vec<Dispatch> {
        let Arrays { x, d, surface, work, rings, .. } = self.arrays;
        vec![
            self.each(
                "look_again",
                self.reach.normal() + SURFACE + LEFT,
                &[(6, x), (8, d), (10, surface), (11, work), (16, rings), (18, control)],
            ),
            self.judge("judge_volume", &[(18, control)]),
            self.each("correct", 32 + SURFACE, &[(8, d), (10, surface), (18, control)]),
        ]
    }

    fn calm(&self) -> Vec<Dispatch> {
        let Arrays { x, low, v, surface, work, .. } = self.arrays;
        vec![
            self.each("look_back", 48 + SURFACE + LEFT, &[(6, x), (7, low), (9, v), (10, surface), (11, work)]),
            self.judge("judge_growth", &[]),
            self.each("calm", 64 + SURFACE, &[(6, x), (7, low), (9, v), (10, surface)]),
        ]
    }

    fn flow(&self) -> Vec<Dispatch> {
        let Arrays { moments, stretches, regions, turns, spreads, .. } = self.arrays;
        vec![self.each(
            "flow",
            self.reach.sum(3) + 208,
            &[(3, stretches), (4, moments), (12, regions), (13, turns), (14, self.flowed), (15, spreads)],
        )]
    }
}
