//! Several cloths as if they were one: what they are made of stands behind each other, with the numbers of one cloth behind those of the one before.

use super::shapes::starts;
use crate::algorithms::cloth::attachment::Attachment;
use crate::algorithms::cloth::bending::{BendRow, Bending};
use crate::algorithms::cloth::conforming_map::ConformingMap;
use crate::algorithms::cloth::elastic::Elastic;
use crate::algorithms::cloth::threads::Diagonal;
use crate::algorithms::parallel::independent_groups::IndependentPairs;
use crate::math::rows::Rows;
use crate::model::ClothModel;
use crate::model::build_pins::LedParticle;

/// What kernels need to know of cloths.
pub struct Joined {
    /// The first particle of each cloth, which has whole workgroups for itself.
    pub starts: Vec<usize>,
    /// Inverse masses of particles [1/kg]; what fills up a workgroup does not move.
    pub k: Vec<f64>,
    /// Their masses [kg].
    pub mass: Vec<f64>,
    /// What pins lead; pins are numbered through all cloths.
    pub led: Vec<LedParticle>,
    /// Which particles each distance ties, in independent groups.
    pub pairs: IndependentPairs,
    /// For each of these which cloth it is of, and which of its distances.
    pub distances: Vec<[usize; 2]>,
    /// Shear springs.
    pub diagonals: Vec<Diagonal>,
    /// Elastic triangles.
    pub elastic: Vec<Elastic>,
    /// How far particles can be from pins.
    pub attachments: Vec<Attachment>,
    /// The particles of triangles.
    pub triangles: Vec<[u32; 3]>,
    /// Their masses per area [kg/m²].
    pub densities: Vec<f64>,
    /// Per particle: its triangles and the part of its mass that each one brings.
    pub shares: Rows<(u32, f64)>,
    /// Bending for 1 N m.
    pub bending: Bending,
    /// From particles to vertices.
    pub map: ConformingMap,
    /// Vertices that are pinned exactly, and those that are drawn to their places.
    pub pinned: [Vec<u32>; 2],
}

impl Joined {
    /// From cloths that are there; none if one of them ties a particle to itself.
    pub fn new(cloths: &[&ClothModel]) -> Option<Self> {
        let starts = starts(cloths.iter().map(|cloth| cloth.k.len()));
        let (mut k, mut mass, mut led) = (Vec::new(), Vec::new(), Vec::new());
        let (mut ends, mut distances, mut diagonals, mut elastic) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (mut attachments, mut triangles, mut densities) = (Vec::new(), Vec::new(), Vec::new());
        let (mut shares, mut bends, mut map) = (Vec::new(), Vec::new(), Vec::new());
        let mut pinned: [Vec<u32>; 2] = Default::default();
        for (number, (cloth, &start)) in cloths.iter().zip(&starts).enumerate() {
            let particle = |p: u32| start as u32 + p;
            let shifted = |row: &[(u32, f64)]| row.iter().map(|&(p, weight)| (particle(p), weight)).collect();
            let (first_pin, first_vertex) = (pinned[0].len() as u32, map.len() as u32);
            let first_triangle = triangles.len() as u32;
            k.resize(start, 0.0);
            k.extend(&cloth.k);
            mass.resize(start, 1.0);
            mass.extend(&cloth.mass);
            led.extend(cloth.pins.particles.iter().map(|led| LedParticle {
                particle: particle(led.particle),
                ends: led.ends.map(|end| first_pin + end),
            }));
            ends.extend(cloth.pairs.pairs().iter().map(|ends| ends.map(particle)));
            distances.extend((0..cloth.distances.len()).map(|row| [number, row]));
            diagonals.extend(cloth.diagonals.iter().map(|own| Diagonal { ends: own.ends.map(particle), ..*own }));
            elastic.extend(cloth.elastic.iter().map(|own| Elastic { particles: own.particles.map(particle), ..*own }));
            attachments.extend(cloth.attachments.iter().map(|own| Attachment {
                particle: particle(own.particle),
                pin: first_pin + own.pin,
                ..*own
            }));
            triangles.extend(cloth.triangle_particles.iter().map(|own| own.map(particle)));
            densities.extend(&cloth.triangle_density);
            shares.resize_with(start, Vec::new);
            shares.extend(
                cloth
                    .triangle_shares
                    .iter()
                    .map(|row| row.iter().map(|&(t, share)| (first_triangle + t, share)).collect()),
            );
            bends.extend(
                cloth.bending.rows.iter().map(|own| BendRow { particles: own.particles.map(particle), ..*own }),
            );
            map.extend((0..cloth.map.vertex_count()).map(|v| -> Vec<(u32, f64)> { shifted(cloth.map.row(v)) }));
            pinned[0].extend(cloth.pins.vertices.iter().map(|pin| first_vertex + pin.vertex));
            pinned[1].extend(cloth.pins.soft.iter().map(|soft| first_vertex + soft.pin.vertex));
        }
        // What is arranged already keeps its groups: a distance is in the first group that has room for it, and it was before.
        let (pairs, order) = IndependentPairs::arrange(k.len(), &ends)?;
        let shares: Rows<(u32, f64)> = shares.into_iter().collect::<Vec<Vec<_>>>().into_iter().collect();
        Some(Joined {
            distances: order.iter().map(|&row| distances[row as usize]).collect(),
            bending: Bending::of_rows(bends, k.len()),
            map: ConformingMap::from_rows(map.into_iter().collect()),
            starts,
            k,
            mass,
            led,
            pairs,
            diagonals,
            elastic,
            attachments,
            triangles,
            densities,
            shares,
            pinned,
        })
    }
}
