//! A mesh whose vertices move over time: node animation, skin and morph targets, evaluated at any time.

use std::collections::HashMap;

use super::rig::Rig;
use crate::math::Vec3;
use crate::math::affine::{Affine, Local};
use crate::math::rows::Rows;

/// A mesh that can be evaluated at any time of a clip; vertices are those of the `PolyMesh` it came with.
#[derive(Clone, Debug)]
pub struct AnimatedMesh {
    rig: Rig,
    stages: Vec<Stage>,
    /// From the file's world to ours.
    placement: Affine,
    positions: Vec<Vec3>,
    influences: Rows<Influence>,
    morphs: Rows<Morph>,
    bindings: Vec<u32>,
}

/// A vertex as the file binds it.
#[derive(Clone, Debug, Default)]
pub struct BoundVertex {
    /// Before morph targets and movers.
    pub position: Vec3,
    /// Movers of the rig and how much each one counts; they are brought to a sum of 1.
    pub movers: Vec<(u32, f64)>,
    /// Numbers of morph weights, and where a full one shifts the vertex.
    pub morphs: Vec<(u32, Vec3)>,
}

#[derive(Clone, Copy, Debug)]
struct Influence {
    weight: f64,
    mover: u32,
}

#[derive(Clone, Copy, Debug)]
struct Morph {
    shift: Vec3,
    weight: u32,
}

/// Movers that share a bind pose: those of the mesh nodes, or those of one skin.
#[derive(Clone, Debug)]
struct Stage {
    bind: Vec<Local>,
    /// Where all its vertices stand in the bind pose; `None` for nodes, which have a place each.
    frame: Option<Affine>,
    /// A node, and the map from the mesh into that node's own space.
    movers: Vec<(u32, Affine)>,
}

/// Everything that all vertices share at one moment.
#[derive(Clone, Debug)]
pub struct MeshPose {
    /// Of each mover, from the mesh to the world.
    movers: Vec<Affine>,
    morph_weights: Vec<f64>,
}

impl AnimatedMesh {
    /// From a rig and the vertices that name its movers and morph weights.
    pub fn new(rig: Rig, vertices: impl IntoIterator<Item = BoundVertex>) -> Self {
        let nodes = rig.mesh_nodes.iter().map(|&node| (node, Affine::identity())).collect();
        let mut stages = vec![Stage { bind: rig.rest(), frame: None, movers: nodes }];
        stages.extend(rig.skins.iter().map(|skin| Stage {
            bind: rig.bound(skin),
            frame: Some(skin.frame),
            movers: skin.joints.clone(),
        }));
        let (mut positions, mut influences, mut morphs, mut bindings) = (Vec::new(), vec![], vec![], vec![]);
        let mut known: HashMap<Vec<u64>, u32> = HashMap::new();
        for mut vertex in vertices {
            let row = influences_of(&mut vertex.movers);
            vertex.morphs.retain(|(_, shift)| *shift != Vec3::zeros());
            let number = |x: f64| (x + 0.0).to_bits();
            let mut key = vec![row.len() as u64];
            key.extend(row.iter().flat_map(|influence| [u64::from(influence.mover), number(influence.weight)]));
            for (weight, shift) in &vertex.morphs {
                key.push(u64::from(*weight));
                key.extend(shift.iter().map(|&x| number(x)));
            }
            let next = known.len() as u32;
            bindings.push(*known.entry(key).or_insert(next));
            positions.push(vertex.position);
            influences.push(row);
            morphs.push(vertex.morphs.into_iter().map(|(weight, shift)| Morph { shift, weight }));
        }
        let (influences, morphs) = (influences.into_iter().collect(), morphs.into_iter().collect());
        AnimatedMesh { rig, stages, placement: Affine::identity(), positions, influences, morphs, bindings }
    }

    /// The same mesh elsewhere in the world.
    pub fn placed(mut self, placement: &Affine) -> Self {
        self.placement = *placement * self.placement;
        self
    }

    /// Names and lengths [s] of the clips in the file.
    pub fn clips(&self) -> Vec<(&str, f64)> {
        self.rig.clips.iter().map(|clip| (clip.name.as_str(), clip.length)).collect()
    }

    /// How far apart the nearest two keys of a clip are [s]; none without two.
    pub fn shortest_key_gap(&self, clip: usize) -> Option<f64> {
        let tracks = self.rig.clips.get(clip).into_iter().flat_map(|clip| &clip.tracks);
        let gaps = tracks.flat_map(|track| track.keys.times().windows(2)).map(|pair| pair[1] - pair[0]);
        gaps.filter(|gap| *gap > 0.0).min_by(f64::total_cmp)
    }

    /// How many vertices there are.
    pub fn vertex_count(&self) -> usize {
        self.positions.len()
    }

    /// The pose at a time [s] of a clip, from its start: 0 is the bind pose, 1 the clip's, in between `dressed` of the
    /// way. Before the start and after the end of a clip its first and last pose hold. Without such a clip, the pose in
    /// which the file rests.
    pub fn pose(&self, clip: usize, seconds: f64, dressed: f64) -> MeshPose {
        let (locals, mut morph_weights) = self.rig.at(self.rig.clips.get(clip), seconds);
        for (weight, rest) in morph_weights.iter_mut().zip(&self.rig.morph_weights) {
            *weight = if dressed >= 1.0 { *weight } else { rest + dressed.max(0.0) * (*weight - rest) };
        }
        let clip_worlds = self.rig.worlds(&locals);
        let mut movers = Vec::with_capacity(self.stages.iter().map(|stage| stage.movers.len()).sum());
        for stage in &self.stages {
            let mixed: Vec<Affine>;
            let worlds = match stage.frame {
                _ if dressed >= 1.0 => &clip_worlds,
                // Exactly where the mesh was modelled.
                Some(frame) if dressed <= 0.0 => {
                    movers.extend(stage.movers.iter().map(|_| self.placement * frame));
                    continue;
                }
                _ => {
                    let pairs = stage.bind.iter().zip(&locals);
                    let locals: Vec<Local> = pairs.map(|(bind, clip)| bind.towards(clip, dressed.max(0.0))).collect();
                    mixed = self.rig.worlds(&locals);
                    &mixed
                }
            };
            movers
                .extend(stage.movers.iter().map(|(node, inverse)| self.placement * worlds[*node as usize] * *inverse));
        }
        MeshPose { movers, morph_weights }
    }

    /// Where a vertex is in a pose, in the world [m].
    #[inline]
    pub fn vertex(&self, pose: &MeshPose, vertex: usize) -> Vec3 {
        let mut position = self.positions[vertex];
        for morph in self.morphs.row(vertex) {
            position += morph.shift * pose.morph_weights[morph.weight as usize];
        }
        let mut moved = Vec3::zeros();
        for influence in self.influences.row(vertex) {
            moved += pose.movers[influence.mover as usize].apply(position) * influence.weight;
        }
        moved
    }

    /// A number that is the same for two vertices if they always move together when they start at the same place.
    pub fn binding(&self, vertex: usize) -> u64 {
        u64::from(self.bindings[vertex])
    }
}

/// Each mover once, in order, without those that count nothing; together they weigh 1. A vertex that nothing holds goes
/// with the first mover it names.
fn influences_of(movers: &mut Vec<(u32, f64)>) -> Vec<Influence> {
    let first = movers.first().map_or(0, |(mover, _)| *mover);
    movers.retain(|(_, weight)| *weight > 0.0);
    movers.sort_by_key(|(mover, _)| *mover);
    let mut row: Vec<Influence> = Vec::with_capacity(movers.len());
    for &(mover, weight) in movers.iter() {
        match row.last_mut() {
            Some(last) if last.mover == mover => last.weight += weight,
            _ => row.push(Influence { weight, mover }),
        }
    }
    let sum: f64 = row.iter().map(|influence| influence.weight).sum();
    if !(sum > 0.0 && sum.is_finite()) {
        return vec![Influence { weight: 1.0, mover: first }];
    }
    row.iter_mut().for_each(|influence| influence.weight /= sum);
    row
}
