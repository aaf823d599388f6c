//! One soft body of the scene: its mesh and pins, and what fills it.

use super::build_maps;
use super::build_pins::{self, LedParticle, PinnedVertex, Pins, SoftPin};
use super::shape_body::{self, ShapeBody};
use super::skin::{self, Carried, Skin};
use super::tet_body::{self, TetBody};
use super::{MovingCollider, triangles};
use crate::algorithms::cloth::conforming_map::ConformingMap;
use crate::algorithms::contact::friction::Friction;
use crate::algorithms::shape_matching::paths::Paths;
use crate::algorithms::volume::edge_spring;
use crate::algorithms::volume::embedding::Embedding;
use crate::algorithms::volume::tet_lattice::TetLattice;
use crate::math::Vec3;
use crate::mesh::simulation_mesh::SimulationMesh;
use crate::mesh::surface::PolyMesh;
use crate::mesh::topology::Topology;
use crate::scene::problem::{KeyPath, Place, Problem};
use crate::scene::{Flesh, PinSelection, Scene, SoftBody, SoftKind};

/// A soft body, ready to be simulated.
#[derive(Debug)]
pub struct SoftBodyModel {
    /// What is seen of it and touches, and the particles below.
    pub skin: Skin,
    /// What holds it together.
    pub inside: Inside,
    /// Particles that pins lead: `vertex` is a particle here.
    pub pins: Pins,
    /// What it is made of.
    pub flesh: Flesh,
    /// Part of the air's force on a triangle that counts: both sides of a closed surface are in the wind, and only one of them is met.
    pub wind_share: f64,
    /// Lengths at rest of the edges of its mesh [m].
    pub mesh_edge_lengths: Vec<f64>,
}

/// What holds a soft body together.
#[derive(Debug)]
pub enum Inside {
    /// A lattice through its inside, whose nodes are the particles.
    Tetrahedra(Box<TetBody>),
    /// Nothing: its vertices are the particles, and regions of them keep their shapes.
    Shape(Box<ShapeBody>),
}

/// A soft body is its skin and what fills it.
impl std::ops::Deref for SoftBodyModel {
    type Target = Skin;

    fn deref(&self) -> &Skin {
        &self.skin
    }
}

/// Particles farther apart than this at rest, in cells, can touch: neighbours are held apart by the tetrahedra between them.
const TIED_CELLS: f64 = 1.5;

/// The particles of a body, before anything holds them.
struct Particles {
    rest: Vec<Vec3>,
    mass: Vec<f64>,
    map: ConformingMap,
    carried: Carried,
    of: Filling,
}

enum Filling {
    Lattice(TetLattice),
    Surface(Paths),
}

impl SoftBodyModel {
    /// Build, or add to the problems why not. `colliders` are as they are at the start, `thinnest` is the least distance that the body keeps from
    /// one of them, if it touches any [m].
    #[allow(clippy::too_many_arguments, reason = "all of the scene decides what a body is")]
    pub fn build(
        body: &SoftBody,
        surface: PolyMesh,
        render: Option<&PolyMesh>,
        scene: &Scene,
        colliders: &[Option<MovingCollider>],
        thinnest: Option<f64>,
        place: &KeyPath,
        problems: &mut Vec<Problem>,
    ) -> Option<Self> {
        let (mut mesh, mut topology) = triangles(&surface, |_| 0, place, problems)?;
        let open = shape_body::why_open(&mesh, &topology);
        let by_shape = match (body.kind, &open) {
            (SoftKind::Tetrahedra, _) | (SoftKind::Auto, Some(_)) => false,
            (SoftKind::Auto | SoftKind::ShapeMatching, None) => true,
            (SoftKind::ShapeMatching, Some(why)) => {
                let message = format!("shapes are matched on closed meshes, and {why}");
                let help = "close the mesh, or use `model = \"tetrahedra\"`, which fills any triangles";
                problems.push(Problem::error(Place::Scene(place.key("model")), message).help(help));
                return None;
            }
        };
        let particles = if by_shape {
            Self::on_surface(body, &mut mesh, &mut topology, place, problems)?
        } else {
            Self::in_lattice(body, &mesh, place, problems)?
        };
        let Particles { rest, mass, map, carried, of } = particles;
        let factors = match &body.stiffness_map {
            None => None,
            Some(map) => Some(build_maps::factors(map, &surface, &mesh, "stiffness_map", place, problems)?),
        };
        let pins = select_pins(body, &surface, &mesh, &topology, &rest, &map, scene, colliders, place, problems)?;
        let mut k: Vec<f64> = mass.iter().map(|m| 1.0 / m).collect();
        for led in &pins.particles {
            k[led.particle as usize] = 0.0;
        }
        let factor_values = factors.as_ref().map(|factors| factors.values.as_slice());
        let flesh = &body.flesh;
        let inside = match of {
            Filling::Lattice(lattice) => {
                let body = TetBody::build(lattice, flesh, &k, &map, factor_values, render, place, problems)?;
                Inside::Tetrahedra(Box::new(body))
            }
            Filling::Surface(paths) => Inside::Shape(Box::new(ShapeBody::build(
                &paths,
                &mesh,
                &topology,
                &mass,
                &body.matching,
                factor_values,
            ))),
        };
        let vertex_k: Vec<f64> = (0..map.vertex_count()).map(|v| map.inverse_mass(v, &k)).collect();
        let edge_length = |&[a, b]: &[u32; 2]| (mesh.positions[b as usize] - mesh.positions[a as usize]).norm();
        let mesh_edge_lengths: Vec<f64> = topology.edges.iter().map(edge_length).collect();
        let mean_edge = mesh_edge_lengths.iter().sum::<f64>() / mesh_edge_lengths.len().max(1) as f64;
        let is_closed = topology.edge_triangles.iter().all(|triangles| triangles.len() == 2);
        Some(SoftBodyModel {
            flesh: flesh.clone(),
            wind_share: if is_closed { 0.5 } else { 1.0 },
            mesh_edge_lengths,
            skin: Skin {
                name: body.name.clone(),
                rest,
                carried,
                friction: Friction::new(flesh.friction, flesh.static_friction),
                layer: None,
                inputs: factors.and_then(|factors| factors.input).into_iter().collect(),
                samples: skin::samples(&mesh, &topology, &map, &k, false, skin::sample_distance(thinnest)),
                touch_k: vertex_k.clone(),
                is_led: vertex_k.iter().map(|k| *k <= 0.0).collect(),
                surface,
                mesh,
                topology,
                mass,
                k,
                map,
                vertex_k,
                mean_edge,
            },
            inside,
            pins,
        })
    }

    /// Its vertices, numbered along paths.
    fn on_surface(
        body: &SoftBody,
        mesh: &mut SimulationMesh,
        topology: &mut Topology,
        place: &KeyPath,
        problems: &mut Vec<Problem>,
    ) -> Option<Particles> {
        if body.flesh.pressure.values().any(|pressure| pressure > 0.0) {
            let message = "matched shapes have no stiffness in pascals that could hold a pressure";
            let help = "use `model = \"tetrahedra\"` for a body that grows";
            problems.push(Problem::error(Place::Scene(place.key("pressure")), message).help(help));
            return None;
        }
        let paths = shape_body::number_along_paths(mesh, topology);
        shape_body::note_parts(mesh, topology, place, problems);
        Some(Particles {
            mass: shape_body::masses(mesh, body.flesh.density),
            rest: mesh.positions.clone(),
            map: ConformingMap::identity(mesh.positions.len()),
            carried: Carried::Itself,
            of: Filling::Surface(paths),
        })
    }

    /// The nodes of its lattice.
    fn in_lattice(
        body: &SoftBody,
        mesh: &SimulationMesh,
        place: &KeyPath,
        problems: &mut Vec<Problem>,
    ) -> Option<Particles> {
        let lattice = match tet_body::make_lattice(mesh, &tet_body::settings(&body.lattice)) {
            Ok(lattice) => lattice,
            Err(message) => {
                problems.push(Problem::error(Place::Scene(place.key("tetrahedra")), message));
                return None;
            }
        };
        let embedding = Embedding::build(&lattice.mesh, &mesh.positions);
        tet_body::note_lattice(&lattice.report, &embedding, place, problems);
        Some(Particles {
            mass: tet_body::masses(&lattice.mesh, body.flesh.density),
            rest: lattice.mesh.positions.clone(),
            map: ConformingMap::from_rows(embedding.weights.iter().map(|row| row.iter().copied()).collect()),
            carried: Carried::ByVolume(TIED_CELLS * lattice.mesh.cell_size),
            of: Filling::Lattice(lattice),
        })
    }

    /// Its tetrahedra, if it has any.
    pub fn tetrahedra(&self) -> Option<&TetBody> {
        match &self.inside {
            Inside::Tetrahedra(body) => Some(body),
            Inside::Shape(_) => None,
        }
    }

    /// Its regions, if it has any.
    pub fn shape(&self) -> Option<&ShapeBody> {
        match &self.inside {
            Inside::Tetrahedra(_) => None,
            Inside::Shape(body) => Some(body),
        }
    }

    /// What carries its render mesh, where that is not its own surface.
    pub fn render(&self) -> Option<&Embedding> {
        self.tetrahedra()?.render.as_ref()
    }

    /// How many times its volume at rest it has at a frame.
    pub fn growth(&self, frame: f64) -> f64 {
        edge_spring::growth(self.flesh.pressure.at(frame), self.flesh.stiffness)
    }

    /// How it is made, for people.
    pub fn method(&self) -> String {
        match &self.inside {
            Inside::Tetrahedra(body) => body.method(&self.flesh),
            Inside::Shape(body) => body.method(),
        }
    }
}

/// Which particles pins hold: those nearest to the vertices they name, and those inside of a box or sphere. The last pin that names one counts.
#[allow(clippy::too_many_arguments, reason = "all of the scene decides what a pin holds")]
fn select_pins(
    body: &SoftBody,
    surface: &PolyMesh,
    mesh: &SimulationMesh,
    topology: &Topology,
    particles: &[Vec3],
    map: &ConformingMap,
    scene: &Scene,
    colliders: &[Option<MovingCollider>],
    place: &KeyPath,
    problems: &mut Vec<Problem>,
) -> Option<Pins> {
    let mut pin_of: Vec<Option<(usize, f64)>> = vec![None; particles.len()];
    let mut is_sound = true;
    for (number, pin) in body.pins.iter().enumerate() {
        let at = place.key("pins").index(number);
        let holds = |p: &Vec3| match &pin.select {
            PinSelection::Box { min, max } => (0..3).all(|k| (min[k]..=max[k]).contains(&p[k])),
            PinSelection::Sphere { center, radius } => (p - center).norm() <= *radius,
            _ => false,
        };
        let inside: Vec<usize> = (0..pin_of.len()).filter(|&node| holds(&particles[node])).collect();
        inside.iter().for_each(|&node| pin_of[node] = Some((number, pin.weight)));
        match build_pins::vertices(&pin.select, surface, mesh, topology, &at) {
            Ok(vertices) => {
                for (v, value) in vertices {
                    let heaviest = map.row(v as usize).iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
                    if let Some(&(node, _)) = heaviest {
                        pin_of[node as usize] = Some((number, pin.weight * value));
                    }
                }
            }
            Err(_) if !inside.is_empty() => {}
            Err(problem) => {
                problems.push(problem);
                is_sound = false;
            }
        }
    }
    if !is_sound {
        return None;
    }
    let mut pins = Pins { motions: build_pins::motions(&body.pins), ..Pins::default() };
    let mut leaders = build_pins::Leaders::new(&body.pins, scene, colliders);
    for (node, pin) in pin_of.iter().enumerate() {
        let Some((number, weight)) = *pin else { continue };
        let (lead, rest) = leaders.lead(number, particles[node])?;
        let pinned = PinnedVertex { vertex: node as u32, lead, rest };
        if weight >= 1.0 {
            let own = pins.vertices.len() as u32;
            pins.particles.push(LedParticle { particle: node as u32, ends: [own; 2] });
            pins.vertices.push(pinned);
        } else {
            let frequency = build_pins::spring_frequency(weight) / scene.fps.frame_seconds();
            pins.soft.push(SoftPin { pin: pinned, frequency });
        }
    }
    leaders.note_far(place, problems);
    Some(pins)
}
