//! How far each particle can be from the pins: see `algorithms/cloth/attachment`.

use super::build_pins::Pins;
use crate::algorithms::cloth::attachment::Attachment;
use crate::mesh::geodesic::{self, Reached};
use crate::mesh::topology::Topology;

/// Most pins that hold one particle back, the nearest ones of separate patches.
const MOST_ATTACHMENTS: usize = 4;
/// Most patches of pins that are looked at one by one; the others count as one.
const MOST_PATCHES: usize = 16;

/// Attachments of all free particles. `lengths` are how long the edges may get, infinite for those that hold nothing; `across` as in
/// `geodesic::distances`.
#[allow(clippy::too_many_arguments, reason = "pins, mesh and masses decide together")]
pub fn build(
    pins: &Pins,
    triangles: &[[u32; 3]],
    topology: &Topology,
    vertex_count: usize,
    lengths: &[f64],
    across: bool,
    on_midpoints: bool,
    k: &[f64],
) -> Vec<Attachment> {
    let mut vertex_triangles = vec![Vec::new(); vertex_count];
    for (t, corners) in triangles.iter().enumerate() {
        corners.iter().for_each(|&v| vertex_triangles[v as usize].push(t as u32));
    }
    let mut of_particle: Vec<Vec<(f64, u32)>> = vec![Vec::new(); k.len()];
    for patch in patches(pins, topology, vertex_count) {
        let sources: Vec<u32> = patch.iter().map(|&pin| pins.vertices[pin as usize].vertex).collect();
        let reached = geodesic::distances(&sources, triangles, topology, lengths, &vertex_triangles, across);
        for (particle, found) in of_particle.iter_mut().enumerate() {
            let way = if on_midpoints {
                let ends = topology.edges[particle].map(|end| reached[end as usize]);
                geodesic::to_middle(ends, lengths[particle])
            } else {
                reached[particle]
            };
            if let Reached { distance, source } = way
                && distance.is_finite()
                && k[particle] > 0.0
            {
                found.push((distance, patch[source as usize]));
            }
        }
    }
    let mut attachments = Vec::new();
    for (particle, mut found) in of_particle.into_iter().enumerate() {
        found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let nearest = found.into_iter().take(MOST_ATTACHMENTS);
        attachments.extend(nearest.map(|(way, pin)| Attachment {
            particle: particle as u32,
            pin,
            longest_squared: way * way,
        }));
    }
    attachments
}

/// Pinned vertices that hang together, by their numbers among the pins.
fn patches(pins: &Pins, topology: &Topology, vertex_count: usize) -> Vec<Vec<u32>> {
    let mut number = vec![u32::MAX; vertex_count];
    for (pin, pinned) in pins.vertices.iter().enumerate() {
        number[pinned.vertex as usize] = pin as u32;
    }
    // The lowest pin that each one is known to hang together with.
    let mut lowest: Vec<u32> = (0..pins.vertices.len() as u32).collect();
    fn root(lowest: &mut [u32], mut pin: u32) -> u32 {
        while lowest[pin as usize] != pin {
            lowest[pin as usize] = lowest[lowest[pin as usize] as usize];
            pin = lowest[pin as usize];
        }
        pin
    }
    for &ends in &topology.edges {
        let [a, b] = ends.map(|end| number[end as usize]);
        if a != u32::MAX && b != u32::MAX {
            let [a, b] = [root(&mut lowest, a), root(&mut lowest, b)];
            lowest[a.max(b) as usize] = a.min(b);
        }
    }
    let mut patches: Vec<Vec<u32>> = Vec::new();
    let mut patch_of = std::collections::HashMap::new();
    for pin in 0..pins.vertices.len() as u32 {
        let next = patches.len();
        let patch = *patch_of.entry(root(&mut lowest, pin)).or_insert(next.min(MOST_PATCHES));
        if patch == next {
            patches.push(Vec::new());
        }
        patches[patch].push(pin);
    }
    patches
}
