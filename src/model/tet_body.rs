//! The inside of a soft body as a lattice of tetrahedra: parts that keep their volume, and springs.

use rayon::prelude::*;

use super::lattice_cache;
use crate::algorithms::cloth::conforming_map::ConformingMap;
use crate::algorithms::parallel::independent_groups::{IndependentPairs, IndependentSets};
use crate::algorithms::volume::edge_spring;
use crate::algorithms::volume::embedding::Embedding;
use crate::algorithms::volume::pseudo_volume::{Plan, Resolution, Settings, Threshold};
use crate::algorithms::volume::tet_lattice::{Report, TetLattice};
use crate::algorithms::volume::tet_volume::{Corners, Part};
use crate::math::Vec3;
use crate::math::rows::Rows;
use crate::mesh::simulation_mesh::SimulationMesh;
use crate::mesh::surface::PolyMesh;
use crate::mesh::tets::{TETS_PER_CELL, TetMesh};
use crate::scene::problem::{KeyPath, Place, Problem};
use crate::scene::{Flesh, Lattice, LatticeSize, Nearness, VolumeParts};

/// What fills a soft body of tetrahedra.
#[derive(Debug)]
pub struct TetBody {
    /// Its tetrahedra.
    pub tets: TetMesh,
    /// How they came about.
    pub lattice: Report,
    /// The particles of each part that keeps its volume, in independent groups.
    pub sets: IndependentSets,
    /// Inverse masses of a part's particles, in the order of `sets` [1/kg].
    pub set_k: Rows<f64>,
    /// Where a part's particles are at rest [m].
    pub set_shape: Rows<Vec3>,
    /// Tetrahedra of each part, as places among its particles.
    pub set_tets: Rows<Corners>,
    /// Their volumes at rest [m³].
    pub set_rest: Rows<f64>,
    /// The sum of these for each part [m³].
    pub set_volumes: Vec<f64>,
    /// Which particles each spring ties, in independent groups.
    pub edges: IndependentPairs,
    /// Lengths of the springs at rest, in the order of `edges` [m].
    pub lengths: Vec<f64>,
    /// Their stiffnesses [N/m].
    pub stiffnesses: Vec<f64>,
    /// Young's modulus where it is stiffest [Pa].
    pub stiffest: f64,
    /// What carries its render mesh.
    pub render: Option<Embedding>,
}

/// Largest growth by pressure: beyond it springs along edges say nothing about a material.
const LARGEST_GROWTH: f64 = 8.0;
/// Farthest that a vertex may be outside of the lattice before that is told, in cells.
const FAR_OUTSIDE: f64 = 1.0;
/// Rounds in which factors of a map spread from the surface inwards.
const SPREADING_ROUNDS: usize = 64;

impl TetBody {
    /// Build, or add to the problems why not. `k` are the inverse masses of the nodes, `map` carries the mesh, `factors` are those of its vertices
    /// on the stiffness.
    #[allow(clippy::too_many_arguments, reason = "all of the body decides what fills it")]
    pub fn build(
        lattice: TetLattice,
        flesh: &Flesh,
        k: &[f64],
        map: &ConformingMap,
        factors: Option<&[f64]>,
        render: Option<&PolyMesh>,
        place: &KeyPath,
        problems: &mut Vec<Problem>,
    ) -> Option<Self> {
        let TetLattice { mesh: tets, report: lattice } = lattice;
        let parts = match flesh.volume {
            VolumeParts::Cells => cells(&tets),
            VolumeParts::Rings => rings(&tets),
        };
        let free: Vec<_> = parts.into_iter().filter(|part| part.nodes.iter().any(|&n| k[n as usize] > 0.0)).collect();
        let nodes: Vec<Vec<u32>> = free.iter().map(|part| part.nodes.clone()).collect();
        let (sets, order) = IndependentSets::arrange(k.len(), &nodes)?;
        let in_order = || order.iter().map(|&part| &free[part as usize]);
        let volumes_of = |part: &PartNodes| part.tets.iter().map(|&tet| tets.volume(tet as usize)).collect::<Vec<_>>();

        let node_factors = factors.map(|factors| spread_factors(factors, map, &tets));
        let (edges, lengths, stiffnesses) = springs(&tets, k, flesh.stiffness, node_factors.as_deref())?;
        let softest = node_factors.iter().flatten().copied().fold(1.0, f64::min) * flesh.stiffness;
        let stiffest = node_factors.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
        let stiffest = if stiffest.is_finite() { stiffest * flesh.stiffness } else { flesh.stiffness };
        let growth = flesh.pressure.values().map(|p| edge_spring::growth(p, softest)).fold(1.0, f64::max);
        if growth.is_nan() || growth > LARGEST_GROWTH {
            let message = format!("this pressure would blow the body up to {growth:.1} times its volume");
            let help = format!("raise `stiffness`, or keep the pressure below {:.0} Pa", 1.5 * softest);
            problems.push(Problem::error(Place::Scene(place.key("pressure")), message).help(help));
            return None;
        }
        Some(TetBody {
            set_k: in_order().map(|part| part.nodes.iter().map(|&n| k[n as usize]).collect::<Vec<_>>()).collect(),
            set_shape: in_order()
                .map(|part| part.nodes.iter().map(|&n| tets.positions[n as usize]).collect::<Vec<_>>())
                .collect(),
            set_tets: in_order().map(|part| part.corners.iter().copied()).collect(),
            set_rest: in_order().map(volumes_of).collect(),
            set_volumes: in_order().map(|part| volumes_of(part).iter().sum()).collect(),
            sets,
            edges,
            lengths,
            stiffnesses,
            stiffest,
            render: render.map(|render| Embedding::build(&tets, &render.positions)),
            tets,
            lattice,
        })
    }

    /// A part that keeps its volume.
    #[inline]
    pub fn part(&self, set: usize) -> Part<'_> {
        Part {
            tets: self.set_tets.row(set),
            rest: self.set_rest.row(set),
            volume: self.set_volumes[set],
            size: self.tets.cell_size,
        }
    }

    /// How it is made, for people.
    pub fn method(&self, flesh: &Flesh) -> String {
        let parts = match flesh.volume {
            VolumeParts::Cells => "cells",
            VolumeParts::Rings => "rings",
        };
        format!(
            "{} tetrahedra in cells of {:.3} m, {} {parts} that keep their volume, {} springs",
            self.tets.tets.len(),
            self.tets.cell_size,
            self.sets.len(),
            self.lengths.len()
        )
    }
}

/// Masses of the nodes, shared out by cells: by tetrahedra every other node would weigh five times its neighbours, and light ones on the surface
/// are shot out when something hits it [kg].
pub(super) fn masses(tets: &TetMesh, density: f64) -> Vec<f64> {
    let mut masses = vec![0.0; tets.positions.len()];
    for (cell, corners) in tets.cells.iter().enumerate() {
        let eighth = 0.125 * density * tets.cell_volume(cell);
        corners.iter().for_each(|&node| masses[node as usize] += eighth);
    }
    masses
}

/// What the scene says, in the words of the lattice.
pub fn settings(lattice: &Lattice) -> Settings {
    let threshold = |nearness: Nearness| match nearness {
        Nearness::Probability(p) => Threshold::P(p),
        Nearness::Voxels(voxels) => Threshold::Voxels(voxels),
    };
    Settings {
        resolution: match lattice.size {
            LatticeSize::Auto => Resolution::Auto,
            LatticeSize::Cell(cell) => Resolution::Cell(cell),
            LatticeSize::Count(count) => Resolution::Count(count),
        },
        k1: threshold(lattice.k1),
        k2: threshold(lattice.k2),
        density: lattice.density,
        ..Settings::default()
    }
}

/// The lattice of a mesh: from the cache if it was made before.
pub fn make_lattice(mesh: &SimulationMesh, settings: &Settings) -> Result<TetLattice, String> {
    let key = lattice_cache::key(&mesh.positions, &mesh.triangles, settings);
    if let Some(known) = lattice_cache::load(&key) {
        return Ok(known);
    }
    let plan = Plan::build(&mesh.positions, &mesh.triangles, settings).map_err(|error| error.to_string())?;
    let slabs: Vec<_> = (0..plan.slab_count()).into_par_iter().map(|z| plan.slab(z)).collect();
    let lattice = TetLattice::build(&plan, &slabs, settings).map_err(|error| error.to_string())?;
    lattice_cache::save(&key, &lattice);
    Ok(lattice)
}

/// What the user should know about the lattice.
pub(super) fn note_lattice(lattice: &Report, embedding: &Embedding, place: &KeyPath, problems: &mut Vec<Problem>) {
    let at = || Place::Scene(place.key("mesh"));
    let cell = lattice.cell_size;
    if lattice.was_fallback {
        let message = format!("the mesh is too thin for cells of {cell:.3} m: no cell is full enough");
        let help = "all cells that its surface passes through are the body, which is thicker and heavier than the mesh; smaller \
                    cells follow it closer: `tetrahedra = { cell = ... }`";
        problems.push(Problem::warning(at(), message).help(help));
    }
    let farthest = embedding.outside.iter().copied().fold(0.0, f64::max);
    if farthest > FAR_OUTSIDE {
        let count = embedding.outside.iter().filter(|outside| **outside > FAR_OUTSIDE).count();
        let message = format!("{count} vertices are outside of the lattice, up to {farthest:.1} cells of {cell:.3} m");
        let help = "they follow the nearest cell stiffly; smaller cells or a smaller `density` reach them: \
                    `tetrahedra = { cell = ..., density = 0.2 }`";
        problems.push(Problem::warning(at(), message).help(help));
    }
    if lattice.parts > 1 {
        let message = format!("the lattice has {} parts that nothing holds together", lattice.parts);
        let help = "if they are one body, use larger cells or a smaller `density`";
        problems.push(Problem::warning(at(), message).help(help));
    }
}

/// A part of the lattice that keeps its volume.
struct PartNodes {
    nodes: Vec<u32>,
    /// Numbers of its tetrahedra.
    tets: Vec<u32>,
    /// Their corners as places in `nodes`.
    corners: Vec<Corners>,
}

impl PartNodes {
    fn new(tets: Vec<u32>, mesh: &TetMesh) -> Self {
        let mut nodes: Vec<u32> = tets.iter().flat_map(|&tet| mesh.tets[tet as usize]).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let local = |node: u32| nodes.partition_point(|known| *known < node) as u8;
        let corners = tets.iter().map(|&tet| mesh.tets[tet as usize].map(local)).collect();
        PartNodes { nodes, tets, corners }
    }
}

fn cells(mesh: &TetMesh) -> Vec<PartNodes> {
    let count = TETS_PER_CELL as u32;
    (0..mesh.cells.len() as u32)
        .map(|cell| PartNodes::new((count * cell..count * (cell + 1)).collect(), mesh))
        .collect()
}

fn rings(mesh: &TetMesh) -> Vec<PartNodes> {
    let mut around: Vec<Vec<u32>> = vec![Vec::new(); mesh.positions.len()];
    for (tet, corners) in mesh.tets.iter().enumerate() {
        corners.iter().for_each(|&node| around[node as usize].push(tet as u32));
    }
    around.into_iter().map(|tets| PartNodes::new(tets, mesh)).collect()
}

/// Springs along all edges that can move, their lengths and stiffnesses.
type Springs = (IndependentPairs, Vec<f64>, Vec<f64>);

fn springs(mesh: &TetMesh, k: &[f64], modulus: f64, factors: Option<&[f64]>) -> Option<Springs> {
    let edges = mesh.edges();
    let mut volume_around = vec![0.0; edges.len()];
    for (tet, corners) in mesh.tets.iter().enumerate() {
        for a in 0..4 {
            for b in a + 1..4 {
                let [a, b] = [corners[a].min(corners[b]), corners[a].max(corners[b])];
                let edge = edges.partition_point(|known| *known < [a, b]);
                volume_around[edge] += mesh.volume(tet);
            }
        }
    }
    let can_move = |[a, b]: [u32; 2]| k[a as usize] > 0.0 || k[b as usize] > 0.0;
    let free: Vec<usize> = (0..edges.len()).filter(|&edge| modulus > 0.0 && can_move(edges[edge])).collect();
    let pairs: Vec<[u32; 2]> = free.iter().map(|&edge| edges[edge]).collect();
    let (pairs, order) = IndependentPairs::arrange(k.len(), &pairs)?;
    let length = |&[a, b]: &[u32; 2]| (mesh.positions[b as usize] - mesh.positions[a as usize]).norm();
    let lengths: Vec<f64> = pairs.pairs().iter().map(length).collect();
    let stiffness = |((&[a, b], &length), &row): ((&[u32; 2], &f64), &u32)| {
        let factor = factors.map_or(1.0, |factors| 0.5 * (factors[a as usize] + factors[b as usize]));
        edge_spring::stiffness(modulus * factor, volume_around[free[row as usize]], length)
    };
    let stiffnesses = pairs.pairs().iter().zip(&lengths).zip(&order).map(stiffness).collect();
    Some((pairs, lengths, stiffnesses))
}

/// A factor for each node from those of the vertices: those in its tetrahedra count by their weights, and what is farther inside takes the mean
/// of its neighbours.
fn spread_factors(of_vertices: &[f64], map: &ConformingMap, mesh: &TetMesh) -> Vec<f64> {
    let mut sums = vec![[0.0, 0.0]; mesh.positions.len()];
    for (vertex, factor) in of_vertices.iter().enumerate() {
        for &(node, weight) in map.row(vertex) {
            let weight = weight.max(0.0);
            sums[node as usize][0] += weight * factor;
            sums[node as usize][1] += weight;
        }
    }
    let mut factors: Vec<Option<f64>> =
        sums.iter().map(|[sum, weight]| (*weight > 1e-9).then(|| sum / weight)).collect();
    let edges = mesh.edges();
    for _ in 0..SPREADING_ROUNDS {
        let mut means = vec![[0.0, 0.0]; factors.len()];
        for &[a, b] in &edges {
            for (own, other) in [(a, b), (b, a)] {
                if let (None, Some(factor)) = (factors[own as usize], factors[other as usize]) {
                    means[own as usize][0] += factor;
                    means[own as usize][1] += 1.0;
                }
            }
        }
        let mut is_done = true;
        for (factor, [sum, count]) in factors.iter_mut().zip(means) {
            if factor.is_none() && count > 0.0 {
                *factor = Some(sum / count);
                is_done = false;
            }
        }
        if is_done {
            break;
        }
    }
    factors.into_iter().map(|factor| factor.unwrap_or(1.0)).collect()
}
