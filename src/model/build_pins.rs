//! Which vertices are held, and what leads them.

use super::{Anchor, MovingCollider};
use crate::math::Vec3;
use crate::math::motion::Motion;
use crate::mesh::simulation_mesh::SimulationMesh;
use crate::mesh::surface::PolyMesh;
use crate::mesh::topology::Topology;
use crate::scene::problem::{KeyPath, Place, Problem};
use crate::scene::{Cloth, Follow, Pin, PinSelection, Scene};

/// What leads a pinned vertex.
#[derive(Clone, Copy, Debug)]
pub enum Lead {
    /// Into `Pins::motions`.
    Motion(u32),
    /// A point of a collider's surface.
    Surface(Anchor),
}

/// A simulation vertex that a pin leads: three rows `B_v xⁿᶜ = target`; the cloth stays free to turn about it.
#[derive(Clone, Copy, Debug)]
pub struct PinnedVertex {
    /// Simulation vertex.
    pub vertex: u32,
    /// What leads it.
    pub lead: Lead,
    /// Its place in the leader's own coordinates: where the leader's pose at the start puts it is where the mesh has it [m].
    pub rest: Vec3,
}

/// A vertex that is drawn to its place by a critically damped spring.
#[derive(Clone, Copy, Debug)]
pub struct SoftPin {
    /// Where its place is.
    pub pin: PinnedVertex,
    /// Angular frequency of the spring [1/s].
    pub frequency: f64,
}

/// A particle that is led outright: a pinned vertex, or the midpoint of an edge whose ends are both pinned.
#[derive(Clone, Copy, Debug)]
pub struct LedParticle {
    /// Which particle.
    pub particle: u32,
    /// The two ends, into `Pins::vertices`; twice the same for a vertex.
    pub ends: [u32; 2],
}

/// All held things of a cloth.
#[derive(Clone, Debug, Default)]
pub struct Pins {
    /// Those that are held exactly, ascending by vertex.
    pub vertices: Vec<PinnedVertex>,
    /// Those with a weight below 1, ascending by vertex.
    pub soft: Vec<SoftPin>,
    /// Ascending by particle.
    pub particles: Vec<LedParticle>,
    /// The motions of the scene's pins.
    pub motions: Vec<Motion>,
}

impl Pins {
    /// The surface points that pins follow.
    pub fn anchors(&self) -> impl Iterator<Item = Anchor> + '_ {
        let pins = self.vertices.iter().chain(self.soft.iter().map(|soft| &soft.pin));
        pins.filter_map(|pin| match pin.lead {
            Lead::Surface(anchor) => Some(anchor),
            Lead::Motion(_) => None,
        })
    }
}

/// Farther from the surface that it follows than this, a pinned vertex was probably meant to follow something else [m].
const FAR_FROM_LEADER: f64 = 0.2;

/// Find the vertices of all pins. A vertex that several pins name follows the last of them. Motions count from their pose at the
/// start, so that pins start where the mesh has them, whatever coordinates their keys were made in. Particles are vertices, or
/// midpoints of edges. `None` after an error.
#[allow(clippy::too_many_arguments, reason = "all of the scene decides what a pin holds")]
pub fn select(
    cloth: &Cloth,
    surface: &PolyMesh,
    mesh: &SimulationMesh,
    topology: &Topology,
    on_midpoints: bool,
    scene: &Scene,
    colliders: &[Option<MovingCollider>],
    place: &KeyPath,
    problems: &mut Vec<Problem>,
) -> Option<Pins> {
    let mut pin_of: Vec<Option<(usize, f64)>> = vec![None; mesh.positions.len()];
    let before = problems.len();
    for (number, pin) in cloth.pins.iter().enumerate() {
        let at = place.key("pins").index(number);
        match vertices(&pin.select, surface, mesh, topology, &at) {
            Ok(vertices) => {
                vertices.iter().for_each(|&(v, value)| pin_of[v as usize] = Some((number, pin.weight * value)));
            }
            Err(problem) => problems.push(problem),
        }
    }
    if problems.len() > before {
        return None;
    }
    let mut pins = Pins { motions: motions(&cloth.pins), ..Pins::default() };
    let mut leaders = Leaders::new(&cloth.pins, scene, colliders);
    let mut number_of = vec![None; mesh.positions.len()];
    for (vertex, pin) in pin_of.iter().enumerate() {
        let Some((number, weight)) = *pin else {
            continue;
        };
        let (lead, rest) = leaders.lead(number, mesh.positions[vertex])?;
        let pinned = PinnedVertex { vertex: vertex as u32, lead, rest };
        if weight >= 1.0 {
            number_of[vertex] = Some(pins.vertices.len() as u32);
            pins.vertices.push(pinned);
        } else {
            pins.soft.push(SoftPin { pin: pinned, frequency: spring_frequency(weight) / scene.fps.frame_seconds() });
        }
    }
    leaders.note_far(place, problems);
    let ends_of = |particle: usize| if on_midpoints { topology.edges[particle] } else { [particle as u32; 2] };
    for particle in 0..if on_midpoints { topology.edges.len() } else { mesh.positions.len() } {
        if let [Some(a), Some(b)] = ends_of(particle).map(|end| number_of[end as usize]) {
            pins.particles.push(LedParticle { particle: particle as u32, ends: [a, b] });
        }
    }
    Some(pins)
}

/// The motion of each pin; those that follow a collider have none of their own.
pub(super) fn motions(pins: &[Pin]) -> Vec<Motion> {
    let motion = |pin: &Pin| match &pin.follow {
        Follow::Motion(motion) => motion.clone(),
        Follow::Collider(_) => Motion::still(),
    };
    pins.iter().map(motion).collect()
}

/// Finds what leads points of an object.
pub(super) struct Leaders<'a, 'm> {
    pins: &'a [Pin],
    start_frame: f64,
    colliders: &'a [Option<MovingCollider<'m>>],
    /// Of each pin how far away from what it follows a point was [m].
    farthest: Vec<f64>,
}

impl<'a, 'm> Leaders<'a, 'm> {
    /// For the pins of an object; `colliders` are as they are at the start.
    pub fn new(pins: &'a [Pin], scene: &Scene, colliders: &'a [Option<MovingCollider<'m>>]) -> Self {
        Leaders { pins, start_frame: scene.start_frame() as f64, colliders, farthest: vec![0.0; pins.len()] }
    }

    /// What leads a point by a pin, and the point in the leader's own coordinates. `None` for a collider that could not be built, which has been
    /// reported.
    pub fn lead(&mut self, pin: usize, p: Vec3) -> Option<(Lead, Vec3)> {
        let (lead, pose) = match &self.pins[pin].follow {
            Follow::Motion(motion) => (Lead::Motion(pin as u32), motion.at(self.start_frame)),
            Follow::Collider(collider) => {
                let collider = self.colliders[*collider].as_ref()?;
                let nearest = collider.nearest(p, f64::INFINITY)?;
                self.farthest[pin] = self.farthest[pin].max(nearest.distance);
                let anchor = collider.anchor(&nearest);
                (Lead::Surface(anchor), collider.poses(&anchor)[0])
            }
        };
        Some((lead, pose.apply_inverse(p)))
    }

    /// Warn about points that are far away from what they follow.
    pub fn note_far(&self, place: &KeyPath, problems: &mut Vec<Problem>) {
        for (number, distance) in self.farthest.iter().enumerate().filter(|(_, distance)| **distance > FAR_FROM_LEADER)
        {
            let message = format!("a vertex of this pin is {:.0} cm away from what it follows", 100.0 * distance);
            let at = Place::Scene(place.key("pins").index(number));
            let help = "check `unit`, `transform`, and `dress_blend` for the bind pose";
            problems.push(Problem::warning(at, message).help(help));
        }
    }
}

/// The frequency, times the length of a frame, at which a critically damped spring closes a part of a gap in one frame.
pub(super) fn spring_frequency(weight: f64) -> f64 {
    // What is left of a gap, (1 + w) exp(-w), falls with w; below 40 more than an f64 can tell from 0 is left.
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..60 {
        let middle: f64 = 0.5 * (low + high);
        if (1.0 + middle) * (-middle).exp() > 1.0 - weight { low = middle } else { high = middle }
    }
    high
}

/// The simulation vertices that one pin takes and their weights; at least one.
pub(super) fn vertices(
    select: &PinSelection,
    surface: &PolyMesh,
    mesh: &SimulationMesh,
    topology: &Topology,
    at: &KeyPath,
) -> Result<Vec<(u32, f64)>, Problem> {
    let within = |inside: &dyn Fn(Vec3) -> bool| -> Vec<u32> {
        (0..mesh.positions.len() as u32).filter(|&v| inside(mesh.positions[v as usize])).collect()
    };
    let (key, found): (_, Vec<u32>) = match select {
        PinSelection::Vertices(file_vertices) => {
            let count = surface.positions.len();
            if let Some(bad) = file_vertices.iter().find(|&&v| v as usize >= count) {
                return Err(Problem::error(Place::Scene(at.key("vertices")), format!("there is no vertex {bad}"))
                    .help(format!("the mesh has {count} vertices, numbered 0 to {}", count - 1)));
            }
            ("vertices", file_vertices.iter().filter_map(|&v| mesh.from_file_vertex[v as usize]).collect())
        }
        PinSelection::Group(name) => {
            let Some(group) = surface.groups.iter().find(|group| &group.name == name) else {
                let names: Vec<String> = surface.groups.iter().map(|group| format!("`{}`", group.name)).collect();
                let help = if names.is_empty() {
                    "the mesh has no groups: select by `box`, `sphere`, `boundary` or `vertices`".to_owned()
                } else {
                    format!("it has: {}", names.join(", "))
                };
                return Err(
                    Problem::error(Place::Scene(at.key("group")), format!("the mesh has no group `{name}`")).help(help)
                );
            };
            let corners = group.faces.iter().flat_map(|&face| surface.face(face as usize));
            ("group", corners.filter_map(|c| mesh.from_file_vertex[c.position as usize]).collect())
        }
        PinSelection::Box { min, max } => ("box", within(&|p| (0..3).all(|k| (min[k]..=max[k]).contains(&p[k])))),
        PinSelection::Sphere { center, radius } => ("sphere", within(&|p| (p - center).norm() <= *radius)),
        PinSelection::Boundary(number) => {
            let loops = topology.boundary_loops();
            let Some(boundary) = loops.get(*number as usize) else {
                let help = match loops.len() {
                    0 => "the mesh is closed".to_owned(),
                    1 => "the mesh has one boundary loop, number 0".to_owned(),
                    count => format!("the mesh has {count} boundary loops, numbered from 0 by falling length"),
                };
                return Err(Problem::error(
                    Place::Scene(at.key("boundary")),
                    format!("there is no boundary loop {number}"),
                )
                .help(help));
            };
            ("boundary", boundary.clone())
        }
        PinSelection::Attribute(name) => return painted(name, surface, mesh, at),
    };
    if found.is_empty() {
        return Err(Problem::error(Place::Scene(at.key(key)), "this pin holds no vertex")
            .help("coordinates are metres in the world, after `unit`, `scale` and `transform`; `kiln inspect` shows the bounds"));
    }
    Ok(found.into_iter().map(|v| (v, 1.0)).collect())
}

/// The vertices that an attribute of the mesh gives a weight.
fn painted(name: &str, surface: &PolyMesh, mesh: &SimulationMesh, at: &KeyPath) -> Result<Vec<(u32, f64)>, Problem> {
    let refused =
        |message: String, help: String| Err(Problem::error(Place::Scene(at.key("attribute")), message).help(help));
    let Some(attribute) = surface.attributes.iter().find(|attribute| attribute.name == name) else {
        let names: Vec<String> = surface.attributes.iter().map(|attribute| format!("`{}`", attribute.name)).collect();
        let help = match names.is_empty() {
            true => "the mesh has none; glTF files keep them under names that start with `_`".to_owned(),
            false => format!("it has: {}", names.join(", ")),
        };
        return refused(format!("the mesh has no vertex attribute `{name}`"), help);
    };
    let mut weights = vec![0.0_f64; mesh.positions.len()];
    for (file_vertex, value) in attribute.values.iter().enumerate() {
        if let Some(v) = mesh.from_file_vertex[file_vertex] {
            // Vertices that are one in the simulation are held as firmly as the firmest of them.
            weights[v as usize] = weights[v as usize].max(value.min(1.0));
        }
    }
    let found: Vec<(u32, f64)> = weights
        .iter()
        .enumerate()
        .filter(|(_, weight)| **weight > 0.0)
        .map(|(v, weight)| (v as u32, *weight))
        .collect();
    if found.is_empty() {
        let help = "its values are all 0 or less; 1 holds a vertex exactly, less holds it softly".to_owned();
        return refused(format!("the attribute `{name}` pins no vertex"), help);
    }
    Ok(found)
}
