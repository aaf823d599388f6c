//! Elasticity and volume of a soft body of tetrahedra, on the device.
//!
//! Twin: `cpu/tet_filling.rs`; the kernels' twins are beside them.

use std::rc::Rc;

use bytemuck::{Pod, Zeroable};

use super::particles::{Four, Particles, four};
use super::reduce::{Control, Reduction};
use super::soft::DeviceFilling;
use super::work::{Binding, Dispatch, Gpu, Slab, Source};
use crate::algorithms::volume::{edge_spring, tet_volume};
use crate::model::{BodyState, SoftBodyModel, TetBody};

/// The kernels of springs.
pub const EDGE_SPRING: Source = Source {
    name: "edge_spring",
    text: include_str!("../../algorithms/volume/edge_spring.wgsl"),
    constants: &[("SHORTEST", edge_spring::SHORTEST), ("LONGEST", edge_spring::LONGEST)],
};
/// The kernel of volumes for parts of so many particles: as many have room in an invocation.
const fn volumes(name: &'static str, constants: &'static [(&'static str, f64)]) -> Source {
    Source { name, text: include_str!("../../algorithms/volume/tet_volume.wgsl"), constants }
}
/// The same for cells.
pub const CELL_VOLUME: Source = volumes(
    "tet_volume, cells",
    &[("LEAST_PART", tet_volume::LEAST_PART), ("LARGEST_WAY", tet_volume::LARGEST_WAY), ("MOST_NODES", 8.0)],
);
/// The same for rings: in a lattice of cubes with five tetrahedra each a particle has at most 18 neighbours.
pub const RING_VOLUME: Source = volumes(
    "tet_volume, rings",
    &[("LEAST_PART", tet_volume::LEAST_PART), ("LARGEST_WAY", tet_volume::LARGEST_WAY), ("MOST_NODES", 20.0)],
);

/// A spring as kernels have it.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct SpringData {
    ends: [u32; 2],
    stiffness: f32,
    original: f32,
}

/// What is the same for all springs and parts in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct ElasticData {
    h: f32,
    damping: f32,
    growth: f32,
    yields_at: f32,
    stays: f32,
    size: f32,
    inverse_size: f32,
    unused: f32,
}

/// A part that keeps its volume.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct PartData {
    first_node: u32,
    node_count: u32,
    first_tet: u32,
    tet_count: u32,
    /// [cells³]
    volume: f32,
}

/// A tetrahedron of a part.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct TetData {
    corners: u32,
    /// [cells³]
    rest: f32,
}

/// A lattice on the device.
pub struct GpuTets<'m> {
    gpu: Rc<Gpu>,
    body: &'m SoftBodyModel,
    tets: &'m TetBody,
    elastic: Slab<ElasticData>,
    /// The same as the device has it.
    known_elastic: Option<ElasticData>,
    lengths: Slab<f32>,
    /// Lengths as they were sent at the start of the frame.
    sent_lengths: Vec<f32>,
    /// One dispatch for each independent group.
    damp: Vec<Dispatch>,
    spring: Vec<Dispatch>,
    sweep: Vec<Dispatch>,
    worst: Reduction,
    flow: Dispatch,
}

impl<'m> GpuTets<'m> {
    /// For a lattice; none where a part has more particles than the kernel has room for.
    pub fn new(
        gpu: &Rc<Gpu>,
        body: &'m SoftBodyModel,
        tets: &'m TetBody,
        particles: &Particles,
        control: &Control,
    ) -> Option<Self> {
        let most = (0..tets.sets.len()).map(|set| tets.sets.set(set).len()).max().unwrap_or(0);
        let volume = [&CELL_VOLUME, &RING_VOLUME].into_iter().find(|source| {
            source.constants.iter().any(|(name, value)| *name == "MOST_NODES" && most as f64 <= *value)
        })?;
        let Particles { x, d, v, .. } = particles;
        let elastic = gpu.zeros::<ElasticData>("elastic", 1);

        let spring = |((&ends, &stiffness), &length): ((&[u32; 2], &f64), &f64)| SpringData {
            ends,
            stiffness: stiffness as f32,
            original: length as f32,
        };
        let springs: Vec<SpringData> =
            tets.edges.pairs().iter().zip(&tets.stiffnesses).zip(&tets.lengths).map(spring).collect();
        let springs = gpu.slab("springs", &springs);
        let lengths = gpu.zeros::<f32>("lengths", tets.lengths.len());
        let of_springs = |kernel, group, bytes, numbers: &[u32]| {
            let bound: [(u32, &dyn Binding); 6] = [(1, &elastic), (2, x), (3, d), (4, v), (5, &springs), (6, &lengths)];
            let bound: Vec<_> = bound.into_iter().filter(|(number, _)| numbers.contains(number)).collect();
            gpu.dispatch(&EDGE_SPRING, kernel, group, bytes, &bound)
        };
        let damp: Vec<Dispatch> = match body.flesh.damping > 0.0 {
            true => tets.edges.groups().map(|group| of_springs("damp", group, 144, &[1, 2, 3, 4, 5])).collect(),
            false => Vec::new(),
        };

        let (mut nodes, mut shape, mut parts, mut flat_tets) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let size = tets.tets.cell_size;
        for set in 0..tets.sets.len() {
            let (particles, places) = (tets.sets.set(set), tets.set_shape.row(set));
            parts.push(PartData {
                first_node: nodes.len() as u32,
                node_count: particles.len() as u32,
                first_tet: flat_tets.len() as u32,
                tet_count: tets.set_tets.row(set).len() as u32,
                volume: (tets.set_volumes[set] / size.powi(3)) as f32,
            });
            nodes.extend_from_slice(particles);
            shape.extend(places.iter().map(|place| four((place - places[0]) / size, 0.0)));
            let tet = |(corners, rest): (&tet_volume::Corners, &f64)| TetData {
                corners: u32::from_le_bytes(*corners),
                rest: (rest / size.powi(3)) as f32,
            };
            flat_tets.extend(tets.set_tets.row(set).iter().zip(tets.set_rest.row(set)).map(tet));
        }
        let count = parts.len().max(1);
        // Of a particle its number, place and way, and the way again; shapes at rest are hardly ever looked at.
        let bytes = 28 + (nodes.len() * 52 + flat_tets.len() * 8) / count;
        let errors = gpu.zeros::<Four>("errors", parts.len().div_ceil(4));
        let bound: [(u32, &dyn Binding); 9] = [
            (1, &elastic),
            (2, x),
            (3, d),
            (4, &gpu.slab("parts", &parts)),
            (5, &gpu.slab("nodes", &nodes)),
            (6, &gpu.slab("tetrahedra", &flat_tets)),
            (7, &gpu.slab::<Four>("shapes at rest", &shape)),
            (8, &errors),
            (9, &control.slab),
        ];
        let sweep =
            tets.sets.groups().map(|group| gpu.dispatch(volume, "keep_volumes", group, bytes, &bound)).collect();
        let spring = |group| of_springs("correct_positions", group, 116, &[1, 2, 3, 5, 6]);
        Some(GpuTets {
            gpu: Rc::clone(gpu),
            damp,
            spring: tets.edges.groups().map(spring).collect(),
            flow: of_springs("flow", 0..tets.lengths.len(), 88, &[1, 2, 3, 5, 6]),
            worst: Reduction::largest(gpu, &errors, &control.largest),
            sweep,
            elastic,
            known_elastic: None,
            lengths,
            sent_lengths: Vec::new(),
            body,
            tets,
        })
    }
}

impl DeviceFilling for GpuTets<'_> {
    fn begin_frame(&mut self, moving: &BodyState) {
        let lengths = if moving.flowed.is_empty() { &self.tets.lengths } else { &moving.flowed };
        let lengths: Vec<f32> = lengths.iter().map(|length| *length as f32).collect();
        // What flows has left others on the device.
        if self.body.flesh.plasticity.is_some() || self.sent_lengths != lengths {
            self.gpu.write(&self.lengths, 0, &lengths);
            self.sent_lengths = lengths;
        }
    }

    fn begin_step(&mut self, h: f64, frame: f64) {
        let size = self.tets.tets.cell_size;
        let plasticity = self.body.flesh.plasticity;
        let elastic = ElasticData {
            h: h as f32,
            damping: self.body.flesh.damping as f32,
            growth: self.body.growth(frame) as f32,
            yields_at: plasticity.map_or(0.0, |plasticity| plasticity.yields_at) as f32,
            stays: plasticity.map_or(0.0, |plasticity| edge_spring::stays(plasticity.creep, h)) as f32,
            size: size as f32,
            inverse_size: (1.0 / size) as f32,
            unused: 0.0,
        };
        if self.known_elastic != Some(elastic) {
            self.gpu.write(&self.elastic, 0, &[elastic]);
            self.known_elastic = Some(elastic);
        }
    }

    fn damp(&mut self) {
        self.gpu.run(&self.damp);
    }

    fn spring(&mut self) {
        self.gpu.run(&self.spring);
    }

    fn heed_contacts(&mut self, _: &Slab<u32>, _: &Control) {}

    fn sweep(&mut self, control: &Control) {
        self.gpu.run(&self.sweep);
        self.worst.run(&self.gpu);
        control.take_largest();
    }

    fn calm(&mut self) {}

    fn flow(&mut self) {
        if self.body.flesh.plasticity.is_some() {
            self.gpu.run([&self.flow]);
        }
    }

    fn read(&mut self, moving: &mut BodyState) {
        if self.body.flesh.plasticity.is_none() {
            return;
        }
        if moving.flowed.is_empty() {
            moving.flowed.clone_from(&self.tets.lengths);
        }
        let mut lengths = self.sent_lengths.clone();
        self.gpu.read(&self.lengths, &mut lengths);
        let both = self.sent_lengths.iter().zip(&lengths);
        // What has not flowed is what it was, to the last digit.
        for (flowed, (_, now)) in moving.flowed.iter_mut().zip(both).filter(|(_, (sent, now))| sent != now) {
            *flowed = f64::from(*now);
        }
        self.sent_lengths = lengths;
    }
}
