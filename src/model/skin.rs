//! The surface of a body that deforms: what is seen, touches and is written, carried by particles. Contact and output know nothing else of a
//! body, so they do not ask what it is.

use std::collections::BTreeMap;

use crate::algorithms::cloth::conforming_map::ConformingMap;
use crate::algorithms::contact::friction::Friction;
use crate::import::InputFile;
use crate::math::Vec3;
use crate::math::rows::Rows;
use crate::mesh::simulation_mesh::SimulationMesh;
use crate::mesh::surface::PolyMesh;
use crate::mesh::topology::Topology;

/// A surface and the particles that carry it.
#[derive(Debug)]
pub struct Skin {
    /// The body's name in the scene.
    pub name: String,
    /// The artist's mesh in world coordinates at rest.
    pub surface: PolyMesh,
    /// Its welded triangles.
    pub mesh: SimulationMesh,
    /// Edges of the triangles.
    pub topology: Topology,
    /// Where the particles start [m].
    pub rest: Vec<Vec3>,
    /// Masses [kg]
    pub mass: Vec<f64>,
    /// Inverse masses; 0 where a particle is led by pins [1/kg].
    pub k: Vec<f64>,
    /// From particles to vertices.
    pub map: ConformingMap,
    /// What particles and vertices have to do with each other.
    pub carried: Carried,
    /// Inverse mass of each vertex, `B_v W B_vᵀ` [1/kg].
    pub vertex_k: Vec<f64>,
    /// The same where all vertices are moved at once, so that momentum is kept [1/kg].
    pub touch_k: Vec<f64>,
    /// Whether each vertex is held exactly by a pin.
    pub is_led: Vec<bool>,
    /// Points inside large triangles that touch colliders too.
    pub samples: Samples,
    /// Mean length of the triangles' edges [m].
    pub mean_edge: f64,
    /// Coulomb coefficients.
    pub friction: Friction,
    /// Of two cloths the one with the higher number is worn outside; none where there is no outside to lead to.
    pub layer: Option<i32>,
    /// Files besides the mesh that it came from.
    pub inputs: Vec<InputFile>,
}

/// How particles carry a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Carried {
    /// Each vertex is a particle.
    Itself,
    /// By the particles on the middles of edges, which touch colliders too.
    ByMidpoints,
    /// By those of a volume around it. Parts that are nearer than this when at rest are held apart by the volume itself [m].
    ByVolume(f64),
}

/// Points of the written triangles, between their vertices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// For each one the particles it is a weighted mean of.
    pub rows: Rows<(u32, f64)>,
    /// Their inverse masses [1/kg].
    pub k: Vec<f64>,
}

impl Skin {
    /// Where a file vertex is, from the simulation vertices' values; `None` for a vertex without a usable face.
    pub fn file_vertex(&self, file_vertex: usize, vertices: &[Vec3]) -> Option<Vec3> {
        self.mesh.from_file_vertex[file_vertex].map(|v| vertices[v as usize])
    }

    /// Whether the middles of edges are particles.
    pub fn is_on_midpoints(&self) -> bool {
        self.carried == Carried::ByMidpoints
    }
}

/// Radius of the thinnest thing that must not show between two samples: an ankle, a wrist [m].
const THIN_BODY: f64 = 0.03;
/// Most samples along an edge, so that a coarse mesh stays cheap.
const MOST_SAMPLES: f64 = 8.0;

/// How far contact points may be apart so that a round body between two of them rises less than the thickness above their chord [m].
pub fn sample_distance(thinnest: Option<f64>) -> f64 {
    // Nothing to touch, or nothing in between: the vertices and midpoints will do.
    thinnest.map(|thickness| (8.0 * THIN_BODY * thickness).sqrt()).filter(|d| *d > 0.0).unwrap_or(f64::INFINITY)
}

/// Points of a regular lattice on every triangle, those that neighbours share once: at least the midpoints of edges where those are no
/// particles, more where these are too far apart.
pub fn samples(
    mesh: &SimulationMesh,
    topology: &Topology,
    map: &ConformingMap,
    k: &[f64],
    on_midpoints: bool,
    distance: f64,
) -> Samples {
    let mut rows: Vec<Vec<(u32, f64)>> = Vec::new();
    for (triangle, corners) in mesh.triangles.iter().enumerate() {
        let edges = topology.triangle_edges[triangle];
        let [a, b, c] = corners.map(|v| mesh.positions[v as usize]);
        let longest = (b - a).norm().max((c - b).norm()).max((a - c).norm());
        let mut n = (longest / distance).ceil().min(MOST_SAMPLES) as u32;
        if n <= 2 {
            if on_midpoints || distance.is_infinite() {
                continue;
            }
            n = 2;
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
