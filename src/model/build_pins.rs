//! Which vertices are held, and what leads them.

use crate::math::Vec3;
use crate::math::motion::Motion;
use crate::mesh::simulation_mesh::SimulationMesh;
use crate::mesh::surface::PolyMesh;
use crate::mesh::topology::Topology;
use crate::scene::problem::{KeyPath, Place, Problem};
use crate::scene::{Cloth, PinSelection};

/// A simulation vertex that a pin leads: three rows `B_v xⁿᶜ = target`; the cloth stays free to turn about it.
#[derive(Clone, Copy, Debug)]
pub struct PinnedVertex {
    /// Simulation vertex.
    pub vertex: u32,
    /// Into `Pins::motions`.
    pub motion: u32,
    /// Its place in the motion's own coordinates: where the first frame's pose puts it is where the mesh has it [m].
    pub rest: Vec3,
}

/// A particle both of whose edge's ends are pinned: it is led outright.
#[derive(Clone, Copy, Debug)]
pub struct LedParticle {
    /// Which particle.
    pub particle: u32,
    /// The two ends, into `Pins::vertices`.
    pub ends: [u32; 2],
}

/// All held things of a cloth.
#[derive(Clone, Debug, Default)]
pub struct Pins {
    /// Ascending by vertex.
    pub vertices: Vec<PinnedVertex>,
    /// Ascending by particle.
    pub particles: Vec<LedParticle>,
    /// The motions of the scene's pins.
    pub motions: Vec<Motion>,
}

/// Find the vertices of all pins. A vertex that several pins name follows the last of them. Motions count from their pose at the
/// first frame, so that pins start where the mesh has them, whatever coordinates their keys were made in. `None` after an error.
pub fn select(
    cloth: &Cloth,
    surface: &PolyMesh,
    mesh: &SimulationMesh,
    topology: &Topology,
    first_frame: f64,
    place: &KeyPath,
    problems: &mut Vec<Problem>,
) -> Option<Pins> {
    let mut motion_of: Vec<Option<u32>> = vec![None; mesh.positions.len()];
    let before = problems.len();
    for (number, pin) in cloth.pins.iter().enumerate() {
        let at = place.key("pins").index(number);
        match vertices(&pin.select, surface, mesh, topology, &at) {
            Ok(vertices) => vertices.iter().for_each(|&v| motion_of[v as usize] = Some(number as u32)),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.len() > before {
        return None;
    }
    let mut pins = Pins { motions: cloth.pins.iter().map(|pin| pin.motion.clone()).collect(), ..Pins::default() };
    let mut number_of = vec![None; mesh.positions.len()];
    for (vertex, motion) in motion_of.iter().enumerate() {
        if let Some(motion) = *motion {
            number_of[vertex] = Some(pins.vertices.len() as u32);
            let start = pins.motions[motion as usize].at(first_frame);
            let rest = start.apply_inverse(mesh.positions[vertex]);
            pins.vertices.push(PinnedVertex { vertex: vertex as u32, motion, rest });
        }
    }
    for (particle, &[a, b]) in topology.edges.iter().enumerate() {
        if let (Some(a), Some(b)) = (number_of[a as usize], number_of[b as usize]) {
            pins.particles.push(LedParticle { particle: particle as u32, ends: [a, b] });
        }
    }
    Some(pins)
}

/// The simulation vertices that one pin takes; at least one.
fn vertices(
    select: &PinSelection,
    surface: &PolyMesh,
    mesh: &SimulationMesh,
    topology: &Topology,
    at: &KeyPath,
) -> Result<Vec<u32>, Problem> {
    let within = |inside: &dyn Fn(Vec3) -> bool| -> Vec<u32> {
        (0..mesh.positions.len() as u32).filter(|&v| inside(mesh.positions[v as usize])).collect()
    };
    let (key, found) = match select {
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
    };
    if found.is_empty() {
        return Err(Problem::error(Place::Scene(at.key(key)), "this pin holds no vertex")
            .help("coordinates are metres in the world, after `unit`, `scale` and `transform`; `kiln inspect` shows the bounds"));
    }
    Ok(found)
}
