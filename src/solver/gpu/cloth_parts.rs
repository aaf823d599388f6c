//! What a cloth's step is made of, as dispatches over a cloth's particles. What a kernel does is described beside its twin.

use std::collections::BTreeMap;
use std::ops::Range;

use bytemuck::{Pod, Zeroable};

use super::particles::{Four, Particles, four, single, split};
use super::work::{Binding, Dispatch, Gpu, Slab, Source, Told};
use crate::algorithms::cloth::air;
use crate::algorithms::cloth::attachment::Attachment;
use crate::algorithms::cloth::bending::Bending;
use crate::algorithms::cloth::conforming_map::{ConformingMap, WeightedReturn};
use crate::algorithms::cloth::distance::{self, Distance};
use crate::algorithms::cloth::elastic::Elastic;
use crate::algorithms::cloth::threads::{self, Diagonal};
use crate::algorithms::parallel::independent_groups::{IndependentPairs, IndependentSets};
use crate::math::Vec3;
use crate::math::rows::Rows;

/// The kernels of distances.
pub const DISTANCE: Source = Source {
    name: "distance",
    text: include_str!("../../algorithms/cloth/distance.wgsl"),
    constants: &[("LARGEST_CORRECTION", distance::LARGEST_CORRECTION)],
};
/// The kernel of attachments.
pub const ATTACHMENT: Source =
    Source { name: "attachment", text: include_str!("../../algorithms/cloth/attachment.wgsl"), constants: &[] };
/// The kernels of wind and drag.
pub const AIR: Source = Source {
    name: "air",
    text: include_str!("../../algorithms/cloth/air.wgsl"),
    constants: &[("AIR_DENSITY", air::AIR_DENSITY)],
};
/// The kernels of explicit bending.
pub const BENDING: Source =
    Source { name: "bending", text: include_str!("../../algorithms/cloth/bending.wgsl"), constants: &[] };
/// The kernel of diagonals.
pub const THREADS: Source = Source {
    name: "threads",
    text: include_str!("../../algorithms/cloth/threads.wgsl"),
    constants: &[("SHORTEST_DIAGONAL", threads::SHORTEST_DIAGONAL)],
};
/// The kernel of elastic triangles.
pub const ELASTIC: Source =
    Source { name: "elastic", text: include_str!("../../algorithms/cloth/elastic.wgsl"), constants: &[] };
/// The kernels of vertices that are moved by their particles.
pub const CONFORMING_MAP: Source =
    Source { name: "conforming_map", text: include_str!("../../algorithms/cloth/conforming_map.wgsl"), constants: &[] };

/// Most vertices that are held between midpoints: their matrix has as many numbers as the square of that.
pub const MOST_HELD: usize = 1024;

/// A distance.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct DistanceData {
    ends: [u32; 2],
    inverse_rest_squared: f32,
    push: f32,
}

impl DistanceData {
    /// Of two particles.
    pub fn new(ends: [u32; 2], distance: &Distance) -> Self {
        let Distance { inverse_rest_squared, push, .. } = *distance;
        DistanceData { ends, inverse_rest_squared: inverse_rest_squared as f32, push: push as f32 }
    }
}

/// Where a pinned vertex shall be at the end of a step.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct GoalData {
    /// The place; w is the part of the gap that is closed.
    high: Four,
    /// What the place lacks; w is the part of the difference between both ways that is closed.
    low: Four,
    /// The goal's own way in the step.
    way: Four,
}

impl GoalData {
    /// For a vertex that is there exactly.
    pub fn exact(ends: [Vec3; 2]) -> Self {
        Self::new(ends, 1.0, 0.0)
    }

    /// For one that is drawn there by a critically damped spring of this frequency times the length of the step.
    pub fn soft(ends: [Vec3; 2], wh: f64) -> Self {
        let all = 1.0 + 2.0 * wh + wh * wh;
        Self::new(ends, wh * wh / all, 2.0 * wh / all)
    }

    fn new([start, end]: [Vec3; 2], of_gap: f64, of_way: f64) -> Self {
        let [high, mut low] = split(end, of_gap);
        low[3] = of_way as f32;
        GoalData { high, low, way: four(end - start, 0.0) }
    }
}

/// The attachments of one particle.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct AttachedData {
    particle: u32,
    first: u32,
    end: u32,
    most: f32,
}

/// One attachment.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct AttachmentData {
    pin: u32,
    longest: f32,
}

/// A triangle in air.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct TriangleData {
    particles: [u32; 3],
    density: f32,
}

/// What is the same for all triangles in air.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct AirData {
    gravity: [f32; 3],
    h: f32,
    drag: f32,
    unused: [f32; 3],
}

impl AirData {
    /// For air that acts for some time [s].
    pub fn new(gravity: Vec3, h: f64, drag: f64) -> Self {
        AirData { gravity: single(gravity), h: h as f32, drag: drag as f32, unused: [0.0; 3] }
    }
}

/// A row of bending.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct BendRowData {
    particles: [u32; 5],
    coefficients: [f32; 5],
}

/// An impulse of bending.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct BeatData {
    damping: f32,
    scale: f32,
    unused: [f32; 2],
}

impl BeatData {
    /// With a stiffness [N m] over some time [s], and a damping time [s].
    pub fn new(bend: f64, beat: f64, damping: f64) -> Self {
        BeatData { damping: damping as f32, scale: (-bend * beat) as f32, unused: [0.0; 2] }
    }
}

/// A diagonal.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct DiagonalData {
    ends: [u32; 2],
    rest: f32,
    compliance: f32,
}

/// An elastic triangle.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct ElasticData {
    particles: [u32; 3],
    shear_compliance: f32,
    warp: Four,
    weft: Four,
}

/// A number with a weight, in a list.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct EntryData {
    number: u32,
    weight: f32,
}

/// A struct that kernels and this file share, for a test.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Where the kernels are.
    pub source: &'static Source,
    /// Its name there.
    pub name: &'static str,
    /// Bytes of one.
    pub size: usize,
    /// Where its members begin, without those that only fill it up.
    pub offsets: &'static [usize],
}

macro_rules! layout {
    ($source:ident, $name:literal, $data:ty, $($member:ident),+) => {
        Layout {
            source: &$source,
            name: $name,
            size: size_of::<$data>(),
            offsets: &[$(std::mem::offset_of!($data, $member)),+],
        }
    };
}

/// All of them.
pub const LAYOUTS: &[Layout] = &[
    layout!(DISTANCE, "Distance", DistanceData, ends, inverse_rest_squared, push),
    layout!(ATTACHMENT, "Attached", AttachedData, particle, first, end, most),
    layout!(ATTACHMENT, "Attachment", AttachmentData, pin, longest),
    layout!(ATTACHMENT, "Goal", GoalData, high, low, way),
    layout!(CONFORMING_MAP, "Goal", GoalData, high, low, way),
    layout!(CONFORMING_MAP, "Entry", EntryData, number, weight),
    layout!(AIR, "Entry", EntryData, number, weight),
    layout!(BENDING, "Entry", EntryData, number, weight),
    layout!(AIR, "Triangle", TriangleData, particles, density),
    layout!(AIR, "Air", AirData, gravity, h, drag),
    layout!(BENDING, "Row", BendRowData, particles, coefficients),
    layout!(BENDING, "Beat", BeatData, damping, scale),
    layout!(THREADS, "Diagonal", DiagonalData, ends, rest, compliance),
    layout!(ELASTIC, "Elastic", ElasticData, particles, shear_compliance, warp, weft),
];

/// Lists of different lengths.
struct Lists {
    starts: Slab<u32>,
    entries: Slab<EntryData>,
    /// Entries of a list on average.
    mean: usize,
}

impl Lists {
    fn new<'a>(gpu: &Gpu, lists: impl Iterator<Item = &'a [(u32, f64)]>) -> Self {
        let (mut starts, mut entries) = (vec![0], Vec::new());
        for list in lists {
            entries.extend(list.iter().map(|&(number, weight)| EntryData { number, weight: weight as f32 }));
            starts.push(entries.len() as u32);
        }
        let mean = entries.len().div_ceil((starts.len() - 1).max(1));
        Lists { starts: gpu.slab("starts of lists", &starts), entries: gpu.slab("entries of lists", &entries), mean }
    }
}

/// The distances of `pairs`, for places and for velocities: one dispatch for each independent group.
pub fn distances(
    gpu: &Gpu,
    particles: &Particles,
    pairs: &IndependentPairs,
    data: &Told<DistanceData>,
) -> [Vec<Dispatch>; 2] {
    let bound: [(u32, &dyn Binding); 4] = [(1, &particles.x), (2, &particles.d), (3, data), (4, &particles.v)];
    let position = |group| gpu.dispatch(&DISTANCE, "distance_positions", group, 112, &bound[..3]);
    let velocity = |group| gpu.dispatch(&DISTANCE, "distance_velocities", group, 144, &bound);
    [pairs.groups().map(position).collect(), pairs.groups().map(velocity).collect()]
}

/// Attachments to the goals of pins.
pub struct Attachments {
    /// Those of a particle together.
    attached: Vec<AttachedData>,
    told: Told<AttachedData>,
    /// Goes over all of them.
    pub dispatch: Dispatch,
}

impl Attachments {
    /// For these; they do nothing yet.
    pub fn new(gpu: &Gpu, particles: &Particles, attachments: &[Attachment], goals: &Told<GoalData>) -> Self {
        let mut sorted: Vec<&Attachment> = attachments.iter().collect();
        sorted.sort_by_key(|attachment| attachment.particle);
        let mut end = 0;
        let attached = sorted.chunk_by(|a, b| a.particle == b.particle).map(|of_one| {
            let first = end;
            end += of_one.len() as u32;
            AttachedData { particle: of_one[0].particle, first, end, most: 0.0 }
        });
        let attached: Vec<AttachedData> = attached.collect();
        let data = |one: &&Attachment| AttachmentData { pin: one.pin, longest: one.longest_squared.sqrt() as f32 };
        let data: Vec<AttachmentData> = sorted.iter().map(data).collect();
        let bytes = 64 + 40 * data.len().div_ceil(attached.len().max(1));
        let (told, data) = (Told::new(gpu, "attached", attached.len()), gpu.slab("attachments", &data));
        let bound: [(u32, &dyn Binding); 5] =
            [(1, &particles.x), (2, &particles.d), (3, &told), (4, &data), (5, goals)];
        let dispatch = gpu.dispatch(&ATTACHMENT, "attach", 0..attached.len(), bytes, &bound);
        Attachments { attached, told, dispatch }
    }

    /// By how much each of a particle's attachments corrects it at most [m].
    pub fn limit(&mut self, gpu: &Gpu, most: impl Fn(u32) -> f64) {
        let limited = |own: &AttachedData| AttachedData { most: most(own.particle) as f32, ..*own };
        self.told.tell(gpu, self.attached.iter().map(limited));
    }
}

/// Wind and drag: on the triangles, then on the particles. `shares` are the triangles of each particle and the part of its mass that they bring.
pub fn air(
    gpu: &Gpu,
    particles: &Particles,
    (triangles, densities): (&[[u32; 3]], &[f64]),
    shares: &Rows<(u32, f64)>,
    data: &Told<AirData>,
    wind: &Told<Four>,
) -> [Dispatch; 2] {
    let of_triangle = |(&particles, density): (&[u32; 3], &f64)| TriangleData { particles, density: *density as f32 };
    let slab: Vec<TriangleData> = triangles.iter().zip(densities).map(of_triangle).collect();
    let count = slab.len();
    let slab = gpu.slab("triangles", &slab);
    let changes = gpu.zeros::<Four>("changes by air", count);
    let lists = Lists::new(gpu, shares.iter());
    let at_triangles: [(u32, &dyn Binding); 7] =
        [(1, data), (2, &particles.x), (3, &particles.low), (4, &particles.v), (5, &slab), (6, wind), (7, &changes)];
    let at_particles: [(u32, &dyn Binding); 5] =
        [(2, &particles.x), (4, &particles.v), (7, &changes), (8, &lists.starts), (9, &lists.entries)];
    let bytes = 56 + 24 * lists.mean;
    [
        gpu.dispatch(&AIR, "blow_at_triangles", 0..count, 192, &at_triangles),
        gpu.dispatch(&AIR, "blow_at_particles", 0..particles.len(), bytes, &at_particles),
    ]
}

/// Explicit bending: rows are measured, then particles gather from them.
pub fn bending(gpu: &Gpu, particles: &Particles, bending: &Bending, data: &Told<BeatData>) -> [Dispatch; 2] {
    let row = |row: &crate::algorithms::cloth::bending::BendRow| BendRowData {
        particles: row.particles,
        coefficients: row.coefficients.map(|c| c as f32),
    };
    let rows: Vec<BendRowData> = bending.rows.iter().map(row).collect();
    let count = rows.len();
    let rows = gpu.slab("bending rows", &rows);
    let measured = gpu.zeros::<Four>("measured bending", count);
    let particle_rows = 0..if count > 0 { particles.len() } else { 0 };
    let lists = Lists::new(gpu, particle_rows.clone().map(|particle| bending.rows_of(particle)));
    let measure: [(u32, &dyn Binding); 6] =
        [(1, data), (2, &particles.x), (3, &particles.low), (4, &particles.v), (5, &rows), (6, &measured)];
    let gather: [(u32, &dyn Binding); 6] =
        [(1, data), (2, &particles.x), (4, &particles.v), (6, &measured), (7, &lists.starts), (8, &lists.entries)];
    [
        gpu.dispatch(&BENDING, "measure_bending", 0..count, 40 + 5 * 48 + 16, &measure),
        gpu.dispatch(&BENDING, "bend", particle_rows, 56 + 24 * lists.mean, &gather),
    ]
}

/// Shear springs of threads in independent groups. `None` if one has twice the same end.
pub fn diagonals(gpu: &Gpu, particles: &Particles, diagonals: &[Diagonal]) -> Option<Vec<Dispatch>> {
    let ends: Vec<[u32; 2]> = diagonals.iter().map(|diagonal| diagonal.ends).collect();
    let (pairs, order) = IndependentPairs::arrange(particles.len(), &ends)?;
    let data = |&row: &u32| {
        let Diagonal { ends, rest, compliance } = diagonals[row as usize];
        DiagonalData { ends, rest: rest as f32, compliance: compliance as f32 }
    };
    let data = gpu.slab("diagonals", &order.iter().map(data).collect::<Vec<DiagonalData>>());
    let bound: [(u32, &dyn Binding); 4] = [(1, &particles.step), (2, &particles.x), (3, &particles.d), (4, &data)];
    let dispatch = |group| gpu.dispatch(&THREADS, "shear_threads", group, 112, &bound);
    Some(pairs.groups().map(dispatch).collect())
}

/// Elastic triangles in independent groups. `None` if one has a particle twice.
pub fn elastic(gpu: &Gpu, particles: &Particles, elastic: &[Elastic]) -> Option<Vec<Dispatch>> {
    let sets: Vec<Vec<u32>> = elastic.iter().map(|elastic| elastic.particles.to_vec()).collect();
    let (sets, order) = IndependentSets::arrange(particles.len(), &sets)?;
    let data = |&row: &u32| {
        let Elastic { particles, columns: [warp, weft], compliance } = elastic[row as usize];
        let column = |[a, b, c]: [f64; 3], compliance| [a, b, c, compliance].map(|x| x as f32);
        let (warp, weft) = (column(warp, compliance[0]), column(weft, compliance[1]));
        ElasticData { particles, shear_compliance: compliance[2] as f32, warp, weft }
    };
    let data = gpu.slab("elastic triangles", &order.iter().map(data).collect::<Vec<ElasticData>>());
    let bound: [(u32, &dyn Binding); 4] = [(1, &particles.step), (2, &particles.x), (3, &particles.d), (4, &data)];
    let dispatch = |group: Range<usize>| gpu.dispatch(&ELASTIC, "stretch_elastically", group, 192, &bound);
    Some(sets.groups().map(dispatch).collect())
}

/// Vertices that are brought to their goals by the particles below them, all at once.
pub struct Held {
    /// The look-ahead positions.
    pub places: Vec<Dispatch>,
    /// The velocities after the step, for goals that are exact.
    pub velocities: Vec<Dispatch>,
}

impl Held {
    /// For vertices of a map over particles with the inverse masses `k`. Where each vertex is a particle of its own, nothing has to be solved.
    /// `None` if the device cannot do it.
    pub fn new(
        gpu: &Gpu,
        particles: &Particles,
        map: &ConformingMap,
        k: &[f64],
        vertices: Vec<u32>,
        goals: &Told<GoalData>,
    ) -> Option<Self> {
        let count = vertices.len();
        let is_particle = |&vertex: &u32| map.row(vertex as usize).len() == 1;
        let is_plain = vertices.iter().all(is_particle);
        if !is_plain && count > MOST_HELD {
            return None;
        }
        let mut below: BTreeMap<u32, Vec<(u32, f64)>> = BTreeMap::new();
        for (number, &vertex) in vertices.iter().enumerate() {
            for &(particle, weight) in map.row(vertex as usize) {
                let k = k[particle as usize];
                if k > 0.0 {
                    let share = if is_plain { 1.0 } else { weight * k };
                    below.entry(particle).or_default().push((number as u32, share));
                }
            }
        }
        let rows = Lists::new(gpu, vertices.iter().map(|&vertex| map.row(vertex as usize)));
        let columns = Lists::new(gpu, below.values().map(Vec::as_slice));
        let carriers: Vec<u32> = below.keys().copied().collect();
        let carrier_count = carriers.len();
        let carriers = gpu.slab("carriers", &carriers);
        let changes = gpu.zeros::<Four>("changes of vertices", count);
        // What only has one particle needs no multiplier: it moves as far as it shall.
        let (multipliers, multiply) = if is_plain {
            (changes.clone(), None)
        } else {
            let inverse = WeightedReturn::build(map, k, vertices)?.inverse();
            let inverse: Vec<f32> = inverse.iter().map(|&x| x as f32).collect();
            let inverse = gpu.slab("inverse of held vertices", &inverse);
            let multipliers = gpu.zeros::<Four>("multipliers", count);
            let bound: [(u32, &dyn Binding); 3] = [(9, &changes), (10, &inverse), (11, &multipliers)];
            let multiply = gpu.dispatch(&CONFORMING_MAP, "multiply", 0..count, 16 + 20 * count, &bound);
            (multipliers, Some(multiply))
        };
        let dispatch = |name, items, bytes, bound: &[(u32, &dyn Binding)]| {
            gpu.dispatch(&CONFORMING_MAP, name, 0..items, bytes, bound)
        };
        let Particles { x, low, d, v, step, .. } = particles;
        let row_bytes = |each: usize| 72 + each * rows.mean;
        let (starts, entries) = (&rows.starts, &rows.entries);
        let miss_places = dispatch(
            "miss_places",
            count,
            row_bytes(56),
            &[(2, x), (3, low), (4, d), (6, goals), (7, starts), (8, entries), (9, &changes)],
        );
        let miss_velocities = dispatch(
            "miss_velocities",
            count,
            row_bytes(24),
            &[(1, step), (5, v), (6, goals), (7, starts), (8, entries), (9, &changes)],
        );
        let (starts, entries) = (&columns.starts, &columns.entries);
        let column_bytes = 44 + 24 * columns.mean;
        let give = |name, values: (u32, &dyn Binding)| {
            let bound = [values, (7, starts), (8, entries), (11, &multipliers), (12, &carriers)];
            dispatch(name, carrier_count, column_bytes, &bound)
        };
        let give_places = give("give_places", (4, d));
        let give_velocities = give("give_velocities", (5, v));
        let chain = |first, last| std::iter::once(first).chain(multiply.clone()).chain([last]).collect();
        Some(Held { places: chain(miss_places, give_places), velocities: chain(miss_velocities, give_velocities) })
    }
}
