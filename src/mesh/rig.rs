//! What moves the vertices of an animated mesh: a tree of nodes, skins that hang on it, and clips of key frames.

use super::keys::Keys;
use crate::math::affine::{Affine, Local};
use crate::math::{Mat3, Vec3};

/// A node of the tree.
#[derive(Clone, Debug)]
pub struct Node {
    /// Comes earlier in the list.
    pub parent: Option<u32>,
    /// Where the file puts it when nothing moves, seen from its parent.
    pub rest: Local,
}

/// Nodes that carry vertices by weights.
#[derive(Clone, Debug)]
pub struct Skin {
    /// A node, and the map from the mesh into that node's own space at the time of binding.
    pub joints: Vec<(u32, Affine)>,
    /// Where the mesh stands in the world while it is bound.
    pub frame: Affine,
}

/// What a track changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The shift of a node.
    Translation(u32),
    /// The turn of a node.
    Rotation(u32),
    /// The scale of a node.
    Scale(u32),
    /// Morph weights, from this one on.
    Weights(u32),
}

/// The keys of one thing that moves.
#[derive(Clone, Debug)]
pub struct Track {
    /// What it changes.
    pub target: Target,
    /// As many numbers a key as the target has.
    pub keys: Keys,
}

/// An animation of the file.
#[derive(Clone, Debug)]
pub struct Clip {
    /// As in the file.
    pub name: String,
    /// Time of its first key [s].
    pub start: f64,
    /// From the first key to the last [s].
    pub length: f64,
    /// What moves.
    pub tracks: Vec<Track>,
}

/// The whole machinery. Its movers, which vertices name by number, are `mesh_nodes` and then the joints of all skins.
#[derive(Clone, Debug, Default)]
pub struct Rig {
    /// Parents before children.
    pub nodes: Vec<Node>,
    /// Nodes whose vertices follow them rigidly.
    pub mesh_nodes: Vec<u32>,
    /// Skins.
    pub skins: Vec<Skin>,
    /// How strong every morph target is when nothing moves.
    pub morph_weights: Vec<f64>,
    /// Animations.
    pub clips: Vec<Clip>,
}

impl Rig {
    /// The mover of a skin's first joint; the others follow.
    pub fn first_joint(&self, skin: usize) -> usize {
        self.mesh_nodes.len() + self.skins.iter().take(skin).map(|skin| skin.joints.len()).sum::<usize>()
    }

    /// All nodes as the file rests.
    pub fn rest(&self) -> Vec<Local> {
        self.nodes.iter().map(|node| node.rest).collect()
    }

    /// Where nodes are in the world, from where they are in their parents.
    pub fn worlds(&self, locals: &[Local]) -> Vec<Affine> {
        let mut worlds: Vec<Affine> = Vec::with_capacity(locals.len());
        for (node, local) in self.nodes.iter().zip(locals) {
            let local = local.affine();
            worlds.push(node.parent.map_or(local, |parent| worlds[parent as usize] * local));
        }
        worlds
    }

    /// Where nodes are in their parents while a skin is bound. What is no joint rests.
    pub fn bound(&self, skin: &Skin) -> Vec<Local> {
        let mut bound_world: Vec<Option<Affine>> = vec![None; self.nodes.len()];
        for (node, inverse_bind) in &skin.joints {
            bound_world[*node as usize] = inverse_bind.inverse().map(|bind| skin.frame * bind);
        }
        let mut worlds: Vec<Affine> = Vec::with_capacity(self.nodes.len());
        let mut locals = Vec::with_capacity(self.nodes.len());
        for (node, bound) in self.nodes.iter().zip(bound_world) {
            let parent = node.parent.map_or(Affine::identity(), |parent| worlds[parent as usize]);
            let local = bound.and_then(|world| Some(parent.inverse()? * world)).filter(Affine::is_finite);
            worlds.push(parent * local.unwrap_or_else(|| node.rest.affine()));
            locals.push(local.map_or(node.rest, |local| Local::from_affine(&local, &node.rest)));
        }
        locals
    }

    /// Nodes and morph weights at a time of a clip [s from its start]; at rest without a clip.
    pub fn at(&self, clip: Option<&Clip>, seconds: f64) -> (Vec<Local>, Vec<f64>) {
        let (mut locals, mut weights) = (self.rest(), self.morph_weights.clone());
        let Some(clip) = clip else {
            return (locals, weights);
        };
        let time = clip.start + seconds.clamp(0.0, clip.length);
        for Track { target, keys } in &clip.tracks {
            let vector = || Vec3::new(keys.at(time, 0), keys.at(time, 1), keys.at(time, 2));
            match *target {
                Target::Translation(node) => locals[node as usize].translation = vector(),
                Target::Rotation(node) => locals[node as usize].rotation = keys.rotation_at(time),
                Target::Scale(node) => locals[node as usize].stretch = Mat3::from_diagonal(&vector()),
                Target::Weights(first) => {
                    let weights = weights.iter_mut().skip(first as usize).take(keys.width());
                    weights.enumerate().for_each(|(n, weight)| *weight = keys.at(time, n));
                }
            }
        }
        (locals, weights)
    }
}
