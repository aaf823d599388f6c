//! One cloth of the scene into particles, constraints, bending and pins.

use std::collections::BTreeMap;

use super::MovingCollider;
use super::build_pins::{self, Pins};
use crate::algorithms::cloth::bending::Bending;
use crate::algorithms::cloth::conforming_map::ConformingMap;
use crate::algorithms::cloth::distance::Distance;
use crate::algorithms::cloth::nonconforming::Nonconforming;
use crate::algorithms::parallel::independent_groups::IndependentPairs;
use crate::math::Vec3;
use crate::math::rows::Rows;
use crate::mesh::measures::triangle_area;
use crate::mesh::simulation_mesh::SimulationMesh;
use crate::mesh::surface::PolyMesh;
use crate::mesh::topology::Topology;
use crate::scene::problem::{KeyPath, Place, Problem};
use crate::scene::{Cloth, Fabric, Scene};

/// A cloth, ready to be simulated.
#[derive(Debug)]
pub struct ClothModel {
    /// Its name in the scene.
    pub name: String,
    /// The artist's mesh in world coordinates at rest.
    pub surface: PolyMesh,
    /// Its welded triangles.
    pub mesh: SimulationMesh,
    /// Edges of the triangles; a particle has the number of its edge.
    pub topology: Topology,
    /// Rest positions of the particles [m].
    pub rest: Vec<Vec3>,
    /// Masses [kg]
    pub mass: Vec<f64>,
    /// Inverse masses; 0 where a particle is led by pins [1/kg].
    pub k: Vec<f64>,
    /// From particles to vertices.
    pub map: ConformingMap,
    /// Inverse mass of each vertex, `B_v W B_vᵀ` [1/kg].
    pub vertex_k: Vec<f64>,
    /// Which particles each constraint ties, in independent groups.
    pub pairs: IndependentPairs,
    /// The constraints, in the order of `pairs`.
    pub distances: Vec<Distance>,
    /// How many constraints belong to the boundary.
    pub boundary_pair_count: usize,
    /// How many constraints lie between two led particles and are not solved.
    pub led_pair_count: usize,
    /// Per particle: its triangles and the part of its mass that each one brings.
    pub triangle_shares: Rows<(u32, f64)>,
    /// Bending for 1 N m.
    pub bending: Bending,
    /// Bending stiffness in use [N m]: see `smooth_bend`.
    pub bend: f64,
    /// Square of the highest bending frequency [1/s²].
    pub bend_frequency_squared: f64,
    /// Particles and vertices that pins lead.
    pub pins: Pins,
    /// Edges of the written polygons, between simulation vertices.
    pub visible_edges: Vec<[u32; 2]>,
    /// Their rest lengths [m].
    pub visible_rest: Vec<f64>,
    /// Points inside large triangles that touch colliders too.
    pub samples: Samples,
    /// Mean length of the triangles' edges [m].
    pub mean_edge: f64,
    /// How the cloth hangs.
    pub hang: Hang,
    /// What it is made of.
    pub fabric: Fabric,
}

/// Points of the written triangles, between their vertices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// For each one the particles it is a weighted mean of.
    pub rows: Rows<(u32, f64)>,
    /// Their inverse masses [1/kg].
    pub k: Vec<f64>,
}

impl ClothModel {
    /// Build, or add to the problems why not. `colliders` are as they are at the start.
    pub fn build(
        cloth: &Cloth,
        surface: PolyMesh,
        scene: &Scene,
        colliders: &[Option<MovingCollider>],
        place: &KeyPath,
        problems: &mut Vec<Problem>,
    ) -> Option<Self> {
        let (mesh, topology) = super::triangles(&surface, |_| 0, place, problems)?;
        let pins = build_pins::select(cloth, &surface, &mesh, &topology, scene, colliders, place, problems)?;

        let model = Nonconforming::build(&mesh.positions, &mesh.triangles, &topology);
        let mass: Vec<f64> = model.areas.iter().map(|area| area * cloth.fabric.density).collect();
        let mut k: Vec<f64> = mass.iter().map(|m| 1.0 / m).collect();
        for led in &pins.particles {
            k[led.particle as usize] = 0.0;
        }
        let map = ConformingMap::build(mesh.positions.len(), &mesh.triangles, &topology);
        let vertex_k: Vec<f64> = (0..map.vertex_count()).map(|v| map.inverse_mass(v, &k)).collect();

        let free: Vec<_> =
            model.pairs.iter().filter(|pair| pair.particles.iter().any(|&p| k[p as usize] > 0.0)).collect();
        let pairs: Vec<[u32; 2]> = free.iter().map(|pair| pair.particles).collect();
        let (pairs, order) = IndependentPairs::arrange(k.len(), &pairs)?;
        let distances = order
            .iter()
            .map(|&row| {
                let pair = free[row as usize];
                let [a, b] = pair.particles.map(|p| k[p as usize]);
                Distance::new(pair.rest, a, b)
            })
            .collect();

        let bending = Bending::build(&mesh.positions, &mesh.triangles, &topology);
        let length = |&[a, b]: &[u32; 2]| (mesh.positions[b as usize] - mesh.positions[a as usize]).norm();
        let mean_edge = topology.edges.iter().map(length).sum::<f64>() / topology.edges.len() as f64;
        let gravity = scene.gravity.values().map(|g| g.norm()).fold(0.0, f64::max);
        let smooth_bend = smooth_bend(&cloth.fabric, gravity, mean_edge);
        let bend = if cloth.fabric.bend_is_typed { cloth.fabric.bend } else { smooth_bend };
        if smooth_bend > cloth.fabric.bend {
            let fine_edge = 100.0 * (cloth.fabric.bend / (cloth.fabric.density * gravity)).cbrt();
            let done = if cloth.fabric.bend_is_typed {
                format!("folds may look crumpled; bend = {smooth_bend:.1e} would be smooth")
            } else {
                let typed = cloth.fabric.bend;
                format!(
                    "bending is raised from {typed:.1e} to {bend:.1e} N m to keep it smooth; type `bend` to decide yourself"
                )
            };
            let message = format!("edges of {:.1} cm are too coarse for the folds of this fabric", 100.0 * mean_edge);
            problems.push(
                Problem::warning(Place::Scene(place.key("mesh")), message)
                    .help(format!("{done}; edges of {fine_edge:.1} cm need no help")),
            );
        }
        let visible_edges = visible_edges(&surface, &mesh);
        let visible_rest = visible_edges.iter().map(length).collect();
        let hang = hang(&pins, &mesh, &topology);
        let samples = samples(&mesh, &topology, &map, &k, sample_distance(scene, &cloth.fabric));
        Some(ClothModel {
            name: cloth.name.clone(),
            triangle_shares: triangle_shares(&mesh, &topology, &model.areas),
            rest: model.midpoints,
            boundary_pair_count: model.boundary_pair_count,
            led_pair_count: model.pairs.len() - free.len(),
            visible_rest,
            visible_edges,
            fabric: cloth.fabric.clone(),
            surface,
            mesh,
            topology,
            mass,
            map,
            vertex_k,
            pairs,
            distances,
            samples,
            bend_frequency_squared: bend * bending.highest_frequency_squared(&k),
            bending,
            bend,
            k,
            pins,
            mean_edge,
            hang,
        })
    }

    /// Where a file vertex is, from the simulation vertices' values; `None` for a vertex without a usable face.
    pub fn file_vertex(&self, file_vertex: usize, vertices: &[Vec3]) -> Option<Vec3> {
        self.mesh.from_file_vertex[file_vertex].map(|v| vertices[v as usize])
    }
}

fn triangle_shares(mesh: &SimulationMesh, topology: &Topology, areas: &[f64]) -> Rows<(u32, f64)> {
    let third = |t: u32| triangle_area(mesh.triangles[t as usize].map(|v| mesh.positions[v as usize])) / 3.0;
    let shares = topology.edge_triangles.iter().zip(areas);
    shares.map(|(triangles, area)| triangles.iter().map(|&t| (t, third(t) / area)).collect::<Vec<_>>()).collect()
}

/// The bending stiffness that a mesh of this edge length can show without crumpling: folds are not narrower than the bending
/// length `cbrt(bend / (density g))`, so edges longer than that get the stiffness whose bending length they are.
fn smooth_bend(fabric: &Fabric, gravity: f64, mean_edge: f64) -> f64 {
    fabric.bend.max(fabric.density * gravity * mean_edge.powi(3))
}

/// Edges of the artist's polygons between distinct simulation vertices, each once.
fn visible_edges(surface: &PolyMesh, mesh: &SimulationMesh) -> Vec<[u32; 2]> {
    let mut edges = Vec::new();
    for face in 0..surface.face_count() {
        let corners = surface.face(face);
        for (k, corner) in corners.iter().enumerate() {
            let next = corners[(k + 1) % corners.len()];
            let ends = [corner, &next].map(|c| mesh.from_file_vertex[c.position as usize]);
            if let [Some(a), Some(b)] = ends
                && a != b
            {
                edges.push([a.min(b), a.max(b)]);
            }
        }
    }
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// Radius of the thinnest thing that must not show between two samples: an ankle, a wrist [m].
const THIN_BODY: f64 = 0.03;
/// Most samples along an edge, so that a coarse mesh stays cheap.
const MOST_SAMPLES: f64 = 8.0;

/// How far contact points may be apart so that a round body between two of them rises less than the thickness above their chord [m].
fn sample_distance(scene: &Scene, fabric: &Fabric) -> f64 {
    let added = scene.colliders.iter().map(|collider| collider.thickness).reduce(f64::min);
    // Nothing to touch, or nothing in between: the vertices and midpoints will do.
    added
        .map(|added| (8.0 * THIN_BODY * (fabric.thickness + added)).sqrt())
        .filter(|d| *d > 0.0)
        .unwrap_or(f64::INFINITY)
}

/// Points of a regular lattice on every triangle whose vertices and midpoints are too far apart; those that neighbours share once.
fn samples(mesh: &SimulationMesh, topology: &Topology, map: &ConformingMap, k: &[f64], distance: f64) -> Samples {
    let mut rows: Vec<Vec<(u32, f64)>> = Vec::new();
    for (triangle, corners) in mesh.triangles.iter().enumerate() {
        let edges = topology.triangle_edges[triangle];
        let [a, b, c] = corners.map(|v| mesh.positions[v as usize]);
        let longest = (b - a).norm().max((c - b).norm()).max((a - c).norm());
        let n = (longest / distance).ceil().min(MOST_SAMPLES) as u32;
        if n <= 2 {
            continue;
        }
        for i in 0..=n {
            for j in 0..=n - i {
                let parts = [i, j, n - i - j];
                let on_edge = parts.iter().position(|&part| part == 0);
                let is_neighbours =
                    on_edge.is_some_and(|k| topology.edge_triangles[edges[k] as usize][0] != triangle as u32);
                if is_neighbours || parts.contains(&n) {
                    continue;
                }
                let mut row = BTreeMap::new();
                for (&corner, part) in corners.iter().zip(parts) {
                    for &(particle, weight) in map.row(corner as usize) {
                        *row.entry(particle).or_insert(0.0) += weight * f64::from(part) / f64::from(n);
                    }
                }
                rows.push(row.into_iter().collect());
            }
        }
    }
    let inverse_mass = |row: &Vec<(u32, f64)>| row.iter().map(|&(p, weight)| weight * weight * k[p as usize]).sum();
    Samples { k: rows.iter().map(inverse_mass).collect(), rows: rows.into_iter().collect() }
}

/// How far and how heavily a cloth hangs: what the impulses of a step have to travel and to carry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hang {
    /// Number of edges from the held vertices to the farthest one.
    pub reach: u32,
    /// Vertices for each held vertex.
    pub load: f64,
}

/// The worst of all pieces. A piece without held vertices lies on something sooner or later and hangs down from there with a part
/// of its width: it counts like a square of half its width, held at two corners.
fn hang(pins: &Pins, mesh: &SimulationMesh, topology: &Topology) -> Hang {
    let mut neighbours = vec![Vec::new(); mesh.positions.len()];
    for &[a, b] in &topology.edges {
        neighbours[a as usize].push(b);
        neighbours[b as usize].push(a);
    }
    let mut distance = vec![u32::MAX; mesh.positions.len()];
    let held = pins.vertices.iter().map(|pin| pin.vertex).collect::<Vec<_>>();
    let (mut reach, _) = spread(&held, &neighbours, &mut distance);
    let hanging = distance.iter().filter(|&&distance| distance != u32::MAX).count();
    let mut load = hanging as f64 / held.len().max(1) as f64;
    let mut from_anywhere = distance.clone();
    for vertex in 0..mesh.positions.len() {
        if distance[vertex] == u32::MAX {
            let (_, end) = spread(&[vertex as u32], &neighbours, &mut from_anywhere);
            let (across, _) = spread(&[end], &neighbours, &mut distance);
            let part = across.div_ceil(4);
            reach = reach.max(part);
            load = load.max(0.5 * f64::from(part * part));
        }
    }
    Hang { reach: reach.max(1), load: load.max(1.0) }
}

/// Breadth-first distances from some vertices; the largest one and where it is.
fn spread(from: &[u32], neighbours: &[Vec<u32>], distance: &mut [u32]) -> (u32, u32) {
    let mut queue = std::collections::VecDeque::new();
    for &vertex in from {
        distance[vertex as usize] = 0;
        queue.push_back(vertex);
    }
    let mut last = (0, from.first().copied().unwrap_or_default());
    while let Some(vertex) = queue.pop_front() {
        last = (distance[vertex as usize], vertex);
        for &next in &neighbours[vertex as usize] {
            if distance[next as usize] == u32::MAX {
                distance[next as usize] = last.0 + 1;
                queue.push_back(next);
            }
        }
    }
    last
}
