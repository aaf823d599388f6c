//! One cloth of the scene into particles, constraints, bending and pins.

use super::MovingCollider;
use super::build_attachments;
use super::build_maps::VertexMaps;
use super::build_pins::{self, Pins};
use super::discretise::{self, Blank};
use super::rest_shape::RestTriangles;
use super::skin::{self, Carried, Skin};
use super::solver_choice;
use crate::algorithms::cloth::attachment::Attachment;
use crate::algorithms::cloth::bending::Bending;
use crate::algorithms::cloth::conforming_map::{ConformingMap, WeightedReturn};
use crate::algorithms::cloth::distance::{Distance, Keeps};
use crate::algorithms::cloth::elastic::Elastic;
use crate::algorithms::cloth::threads::Diagonal;
use crate::algorithms::contact::friction::Friction;
use crate::algorithms::parallel::independent_groups::{IndependentPairs, IndependentSets};
use crate::math::rows::Rows;
use crate::mesh::simulation_mesh::SimulationMesh;
use crate::mesh::surface::PolyMesh;
use crate::mesh::topology::Topology;
use crate::scene::problem::{KeyPath, Place, Problem};
use crate::scene::{Cloth, ClothKind, Fabric, Scene, SolverChoice};

/// A cloth, ready to be simulated.
#[derive(Debug)]
pub struct ClothModel {
    /// What is seen of it and touches, and the particles below.
    pub skin: Skin,
    /// How it is made of particles; never `Auto`.
    pub kind: ClothKind,
    /// How its constraints are solved; never `Auto`.
    pub solver: SolverChoice,
    /// Why that one.
    pub solver_reason: String,
    /// Which particles each constraint ties, in independent groups.
    pub pairs: IndependentPairs,
    /// The constraints, in the order of `pairs`.
    pub distances: Vec<Distance>,
    /// Their lengths [m].
    pub lengths: Vec<f64>,
    /// How many constraints belong to the boundary.
    pub boundary_pair_count: usize,
    /// How many constraints lie between two led particles and are not solved.
    pub led_pair_count: usize,
    /// Shear springs of the grid model, in the order of independent groups.
    pub diagonals: Vec<Diagonal>,
    /// What edges that can go slack resist compression with, so that the cloth folds instead [N/m]; 0 where something else does that.
    pub compression: f64,
    /// Elasticity in the plane, below the limit of the constraints, in the order of independent groups.
    pub elastic: Vec<Elastic>,
    /// How far particles can be from pins.
    pub attachments: Vec<Attachment>,
    /// The particles of each triangle.
    pub triangle_particles: Vec<[u32; 3]>,
    /// Mass per area of each triangle [kg/m²].
    pub triangle_density: Vec<f64>,
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
    /// Their allowed stretch.
    pub visible_limits: Vec<f64>,
    /// Number of edges from the held vertices to the farthest one: how far impulses have to travel.
    pub reach: u32,
    /// What it is made of.
    pub fabric: Fabric,
}

/// A cloth is its skin and what holds that together.
impl std::ops::Deref for ClothModel {
    type Target = Skin;

    fn deref(&self) -> &Skin {
        &self.skin
    }
}

impl ClothModel {
    /// Build, or add to the problems why not. `colliders` are as they are at the start, `thinnest` is the least distance that the cloth
    /// keeps from one of them, if it touches any [m].
    pub fn build(
        cloth: &Cloth,
        surface: PolyMesh,
        scene: &Scene,
        colliders: &[Option<MovingCollider>],
        thinnest: Option<f64>,
        place: &KeyPath,
        problems: &mut Vec<Problem>,
    ) -> Option<Self> {
        let (mesh, topology) = super::triangles(&surface, |_| 0, place, problems)?;
        let kind = discretise::kind(cloth.kind, &surface);
        let on_midpoints = kind == ClothKind::Midpoint;
        let pins =
            build_pins::select(cloth, &surface, &mesh, &topology, on_midpoints, scene, colliders, place, problems);
        let flat = RestTriangles::build(cloth.rest, cloth.rest_scale, &surface, &mesh, place, problems);
        let maps = VertexMaps::build(&cloth.maps, &surface, &mesh, place, problems);
        let (pins, flat, maps) = (pins?, flat?, maps?);

        let edge_lengths = flat.edge_lengths(&topology);
        let limit = |&[a, b]: &[u32; 2]| {
            let factor = |factors: &Vec<f64>| 0.5 * (factors[a as usize] + factors[b as usize]);
            cloth.fabric.max_stretch * maps.max_stretch.as_ref().map_or(1.0, factor)
        };
        let limits: Vec<f64> = topology.edges.iter().map(limit).collect();
        let visible = visible_edges(&surface, &mesh, &topology);
        let is_led = is_led(&pins, mesh.positions.len());
        let blank = Blank {
            surface: &surface,
            mesh: &mesh,
            topology: &topology,
            flat: &flat,
            lengths: &edge_lengths,
            visible: &visible,
            limits: &limits,
            bend_factors: maps.bend.as_deref(),
            is_led: &is_led,
            fabric: &cloth.fabric,
        };
        let parts = blank.discretise(kind, place, problems)?;

        let density = |corners: &[u32; 3]| {
            let mean = |factors: &Vec<f64>| corners.iter().map(|&v| factors[v as usize]).sum::<f64>() / 3.0;
            cloth.fabric.density * maps.density.as_ref().map_or(1.0, mean)
        };
        let triangle_density: Vec<f64> = mesh.triangles.iter().map(density).collect();
        let third = |t: usize| flat.area(t) * triangle_density[t] / 3.0;
        let mut brought: Vec<Vec<(u32, f64)>> = vec![Vec::new(); parts.start.len()];
        for (t, particles) in parts.triangle_particles.iter().enumerate() {
            particles.iter().for_each(|&p| brought[p as usize].push((t as u32, third(t))));
        }
        let mass: Vec<f64> = brought.iter().map(|shares| shares.iter().map(|share| share.1).sum()).collect();
        for (shares, mass) in brought.iter_mut().zip(&mass) {
            shares.iter_mut().for_each(|share| share.1 /= mass);
        }
        let mut k: Vec<f64> = mass.iter().map(|m| 1.0 / m).collect();
        for led in &pins.particles {
            k[led.particle as usize] = 0.0;
        }
        let vertex_k: Vec<f64> = (0..parts.map.vertex_count()).map(|v| parts.map.inverse_mass(v, &k)).collect();

        let touch_k = if on_midpoints { touch_k(&parts.map, &k, &vertex_k) } else { vertex_k.clone() };

        let free: Vec<_> =
            parts.pairs.iter().filter(|pair| pair.particles.iter().any(|&p| k[p as usize] > 0.0)).collect();
        let pairs: Vec<[u32; 2]> = free.iter().map(|pair| pair.particles).collect();
        let (pairs, order) = IndependentPairs::arrange(k.len(), &pairs)?;
        let lengths: Vec<f64> = order.iter().map(|&row| free[row as usize].rest).collect();
        let distance = |(&[a, b], &rest): (&[u32; 2], &f64)| {
            let [k_a, k_b] = [a, b].map(|p| k[p as usize]);
            Distance::new(rest, k_a, k_b, parts.keeps)
        };
        let distances = pairs.pairs().iter().zip(&lengths).map(distance).collect();

        let mean_edge = edge_lengths.iter().sum::<f64>() / edge_lengths.len() as f64;
        let gravity = scene.gravity.values().map(|g| g.norm()).fold(0.0, f64::max);
        let smooth_bend = smooth_bend(&cloth.fabric, gravity, mean_edge);
        let bend = if cloth.fabric.bend_is_typed { cloth.fabric.bend } else { smooth_bend };
        if smooth_bend > cloth.fabric.bend {
            problems.push(too_coarse(&cloth.fabric, gravity, mean_edge, smooth_bend, place));
        }
        // What the attachments may rely on: along threads only where the cloth shears freely.
        let across = kind != ClothKind::Grid;
        let mut longest = vec![f64::INFINITY; edge_lengths.len()];
        let holding: &[u32] = if across { &(0..edge_lengths.len() as u32).collect::<Vec<_>>() } else { &visible };
        for &edge in holding {
            longest[edge as usize] = blank.longest(edge_lengths[edge as usize], limits[edge as usize]);
        }
        let attachments = build_attachments::build(
            &pins,
            &mesh.triangles,
            &topology,
            mesh.positions.len(),
            &longest,
            across,
            on_midpoints,
            &k,
        );
        let samples = skin::samples(&mesh, &topology, &parts.map, &k, on_midpoints, skin::sample_distance(thinnest));
        let visible_edge = |edge: &u32| topology.edges[*edge as usize];
        let is_bilateral = parts.keeps == Keeps::Distance;
        let reach = reach(&pins, &mesh, &topology);
        let tightest = limits.iter().copied().fold(f64::INFINITY, f64::min);
        let (solver, solver_reason) = solver_choice::choose(cloth.solver, kind, is_bilateral, reach, tightest);
        let compression = if is_bilateral || cloth.fabric.warp.is_some() {
            0.0
        } else {
            cloth.fabric.density * gravity * HANGING_METRES / WEIGHED_DOWN
        };
        let fabric = &cloth.fabric;
        Some(ClothModel {
            kind,
            solver,
            solver_reason,
            triangle_particles: parts.triangle_particles,
            triangle_density,
            triangle_shares: brought.into_iter().collect(),
            boundary_pair_count: parts.boundary_pair_count,
            led_pair_count: parts.pairs.len() - free.len(),
            visible_rest: visible.iter().map(|&edge| edge_lengths[edge as usize]).collect(),
            visible_limits: visible.iter().map(|&edge| limits[edge as usize]).collect(),
            visible_edges: visible.iter().map(visible_edge).collect(),
            fabric: fabric.clone(),
            reach,
            pairs,
            distances,
            lengths,
            diagonals: in_groups(k.len(), parts.diagonals, |diagonal| diagonal.ends.to_vec()),
            compression,
            elastic: in_groups(k.len(), parts.elastic, |elastic| elastic.particles.to_vec()),
            attachments,
            bend_frequency_squared: bend * parts.bending.highest_frequency_squared(&k),
            bending: parts.bending,
            bend,
            pins,
            skin: Skin {
                name: cloth.name.clone(),
                rest: parts.start,
                map: parts.map,
                carried: if on_midpoints { Carried::ByMidpoints } else { Carried::Itself },
                friction: Friction::new(fabric.friction, fabric.static_friction.unwrap_or(fabric.friction)),
                layer: Some(cloth.layer),
                inputs: maps.inputs,
                surface,
                mesh,
                topology,
                mass,
                k,
                vertex_k,
                touch_k,
                is_led,
                samples,
                mean_edge,
            },
        })
    }

    /// Model and solver, and why that solver, for people.
    pub fn method(&self) -> String {
        format!("{}, {} ({})", self.kind.name(), self.solver.name(), self.solver_reason)
    }

    /// Whether its constraints hold both ways, so that none can go slack.
    pub fn is_bilateral(&self) -> bool {
        self.distances.first().is_some_and(|distance| !distance.can_go_slack())
    }
}

/// Constraints in the order of independent groups, so that whoever solves a group at once and whoever goes through the list does the same.
fn in_groups<T: Copy>(particle_count: usize, constraints: Vec<T>, particles: impl Fn(&T) -> Vec<u32>) -> Vec<T> {
    let sets: Vec<Vec<u32>> = constraints.iter().map(particles).collect();
    match IndependentSets::arrange(particle_count, &sets) {
        Some((_, order)) => order.iter().map(|&row| constraints[row as usize]).collect(),
        None => constraints,
    }
}

/// Least part of its own mass that a vertex has when all are moved at once, so that no mesh makes it nothing or less.
const LIGHTEST: f64 = 0.1;

/// Inverse masses of vertices that are all moved at once.
fn touch_k(map: &ConformingMap, k: &[f64], vertex_k: &[f64]) -> Vec<f64> {
    let all = WeightedReturn::build(map, k, (0..vertex_k.len() as u32).collect());
    let masses = all.map_or_else(Vec::new, |mut all| all.masses());
    let inverse = |(v, &own): (usize, &f64)| match masses.get(v) {
        Some(&mass) if mass * own > LIGHTEST => 1.0 / mass,
        _ => own,
    };
    vertex_k.iter().enumerate().map(inverse).collect()
}

/// The bending stiffness that a mesh of this edge length can show without crumpling: folds are not narrower than the bending
/// length `cbrt(bend / (density g))`, so edges longer than that get the stiffness whose bending length they are.
fn smooth_bend(fabric: &Fabric, gravity: f64, mean_edge: f64) -> f64 {
    fabric.bend.max(fabric.density * gravity * mean_edge.powi(3))
}

/// Edges that can go slack resist compression so far that this length of cloth, standing on its edge, would be shorter by this part: little
/// enough to fold before it shrinks, and far too soft to lock.
const HANGING_METRES: f64 = 1.0;
const WEIGHED_DOWN: f64 = 0.02;

/// Folds of the fabric are narrower than the mesh can show.
fn too_coarse(fabric: &Fabric, gravity: f64, mean_edge: f64, smooth_bend: f64, place: &KeyPath) -> Problem {
    let fine_edge = 100.0 * (fabric.bend / (fabric.density * gravity)).cbrt();
    let typed = fabric.bend;
    let done = if fabric.bend_is_typed {
        format!("folds may look crumpled; bend = {smooth_bend:.1e} would be smooth")
    } else {
        format!(
            "bending is raised from {typed:.1e} to {smooth_bend:.1e} N m to keep it smooth; type `bend` to decide yourself"
        )
    };
    let message = format!("edges of {:.1} cm are too coarse for the folds of this fabric", 100.0 * mean_edge);
    Problem::warning(Place::Scene(place.key("mesh")), message)
        .help(format!("{done}; edges of {fine_edge:.1} cm need no help"))
}

/// Edges of the artist's polygons, as numbers of the topology's edges, ascending.
fn visible_edges(surface: &PolyMesh, mesh: &SimulationMesh, topology: &Topology) -> Vec<u32> {
    let mut edges = Vec::new();
    for face in 0..surface.face_count() {
        let corners = surface.face(face);
        for (k, corner) in corners.iter().enumerate() {
            let next = corners[(k + 1) % corners.len()];
            let ends = [corner, &next].map(|c| mesh.from_file_vertex[c.position as usize]);
            if let [Some(a), Some(b)] = ends
                && let Ok(edge) = topology.edges.binary_search(&[a.min(b), a.max(b)])
            {
                edges.push(edge as u32);
            }
        }
    }
    edges.sort_unstable();
    edges.dedup();
    edges
}

fn is_led(pins: &Pins, vertex_count: usize) -> Vec<bool> {
    let mut is_led = vec![false; vertex_count];
    pins.vertices.iter().for_each(|pin| is_led[pin.vertex as usize] = true);
    is_led
}

/// The longest way of all pieces. A piece without held vertices lies on something sooner or later and hangs down from there with a part
/// of its width.
fn reach(pins: &Pins, mesh: &SimulationMesh, topology: &Topology) -> u32 {
    let mut neighbours = vec![Vec::new(); mesh.positions.len()];
    for &[a, b] in &topology.edges {
        neighbours[a as usize].push(b);
        neighbours[b as usize].push(a);
    }
    let mut distance = vec![u32::MAX; mesh.positions.len()];
    let held = pins.vertices.iter().map(|pin| pin.vertex).collect::<Vec<_>>();
    let (mut reach, _) = spread(&held, &neighbours, &mut distance);
    let mut from_anywhere = distance.clone();
    for vertex in 0..mesh.positions.len() {
        if distance[vertex] == u32::MAX {
            let (_, end) = spread(&[vertex as u32], &neighbours, &mut from_anywhere);
            let (across, _) = spread(&[end], &neighbours, &mut distance);
            reach = reach.max(across.div_ceil(4));
        }
    }
    reach.max(1)
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
