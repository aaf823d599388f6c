//! Skins and animations into a rig: only the nodes that can move the chosen meshes are taken along.

use std::collections::{HashMap, HashSet};

use super::GltfFile;
use super::accessors::{KEY_ROTATIONS, KEY_VECTORS, KEY_WEIGHTS, MATRICES, TIMES};
use super::document::AnimationText;
use super::fault::{self, Fault, entry, fault};
use super::shape::Part;
use super::tree;
use crate::math::affine::Affine;
use crate::mesh::keys::{Interpolation, Keys};
use crate::mesh::rig::{Clip, Node, Rig, Skin, Target, Track};

/// Channels may share bytes, so the size of a file does not bound its keys; this is half a gigabyte of them.
const MOST_KEY_NUMBERS: usize = 1 << 26;

/// Every skin has a bind pose of all nodes; more of them together than this are no character.
const MOST_BOUND_NODES: usize = 1 << 22;

/// A rig and the mesh nodes that hang on it.
pub struct Motion {
    pub rig: Rig,
    pub parts: Vec<Part>,
    /// Whether anything in the file can move the vertices.
    pub is_animated: bool,
    /// What was left out.
    pub findings: Vec<String>,
}

/// What moves some mesh nodes.
pub fn read(file: &GltfFile, mesh_nodes: &[usize]) -> Result<Motion, Fault> {
    let document = &file.document;
    let mut rig = Rig::default();
    let mut skins: Vec<usize> = Vec::new();
    for &node in mesh_nodes {
        if let Some(skin) = document.nodes[node].skin {
            entry(&document.skins, skin, "skins", || format!("nodes[{node}].skin"))?;
            if !skins.contains(&skin) {
                skins.push(skin);
            }
        }
    }
    for &skin in &skins {
        for &joint in &document.skins[skin].joints {
            entry(&document.nodes, joint, "nodes", || format!("skins[{skin}].joints"))?;
        }
    }
    let joints = skins.iter().flat_map(|&skin| document.skins[skin].joints.iter().copied());
    let used = file.tree.with_ancestors(mesh_nodes.iter().copied().chain(joints));
    if skins.len().saturating_mul(used.len()) > MOST_BOUND_NODES {
        let message = format!("{} skins on {} nodes are too many", skins.len(), used.len());
        return Err(fault("skins", message).help("choose a smaller part of the file as `object`"));
    }
    let number: HashMap<usize, u32> = used.iter().enumerate().map(|(n, &node)| (node, n as u32)).collect();
    let parent = |node: usize| file.tree.parents[node].and_then(|parent| number.get(&parent).copied());
    rig.nodes = used.iter().map(|&node| Node { parent: parent(node), rest: file.tree.rest[node] }).collect();
    rig.mesh_nodes = mesh_nodes.iter().filter_map(|node| number.get(node).copied()).collect();
    for &skin in &skins {
        rig.skins.push(read_skin(file, skin, &number)?);
    }
    let mut parts: Vec<Part> = Vec::with_capacity(mesh_nodes.len());
    let mut morphs: HashMap<usize, (u32, usize)> = HashMap::new();
    for (n, &node) in mesh_nodes.iter().enumerate() {
        let text = &document.nodes[node];
        let mesh = text.mesh.unwrap_or_default();
        let morph_weights = morph_weights(file, node, mesh)?;
        let first_morph = rig.morph_weights.len() as u32;
        rig.morph_weights.extend(&morph_weights);
        morphs.insert(node, (first_morph, morph_weights.len()));
        let skin = text.skin.and_then(|skin| skins.iter().position(|&known| known == skin));
        let frame = skin.map_or(file.tree.worlds[node], |skin| rig.skins[skin].frame);
        let first_mover = skin.map_or(n, |skin| rig.first_joint(skin)) as u32;
        let joint_count = skin.map(|skin| rig.skins[skin].joints.len());
        parts.push(Part { node, mesh, frame, first_mover, joint_count, first_morph, morph_weights });
    }
    let mut left = MOST_KEY_NUMBERS;
    for (n, animation) in document.animations.iter().enumerate() {
        let clip = read_clip(file, n, animation, &number, &morphs, &mut left)?;
        rig.clips.push(clip);
    }
    let is_animated = !skins.is_empty() || rig.clips.iter().any(|clip| !clip.tracks.is_empty());
    let foreign = |(n, animation): (usize, &AnimationText)| {
        let count = animation.channels.iter().filter(|channel| channel.target.node.is_none()).count();
        (count > 0).then(|| format!("animations[{n}]: {count} channels that move no node are left out"))
    };
    let findings = document.animations.iter().enumerate().filter_map(foreign).collect();
    Ok(Motion { rig, parts, is_animated, findings })
}

/// How strong the morph targets of a mesh node are while nothing moves: the node's word, else the mesh's.
fn morph_weights(file: &GltfFile, node: usize, mesh: usize) -> Result<Vec<f64>, Fault> {
    let text = entry(&file.document.meshes, mesh, "meshes", || format!("nodes[{node}].mesh"))?;
    let count = text.primitives.first().map_or(0, |primitive| primitive.targets.len());
    let weights = file.document.nodes[node].weights.as_ref().or(text.weights.as_ref());
    match weights {
        Some(weights) if !weights.is_empty() && weights.len() != count => {
            let message = format!("has {} weights for the {count} morph targets of meshes[{mesh}]", weights.len());
            Err(fault(format!("nodes[{node}]"), message))
        }
        Some(weights) if !weights.is_empty() => Ok(weights.clone()),
        _ => Ok(vec![0.0; count]),
    }
}

fn read_skin(file: &GltfFile, index: usize, number: &HashMap<usize, u32>) -> Result<Skin, Fault> {
    let text = &file.document.skins[index];
    let at = || format!("skins[{index}]");
    if text.joints.is_empty() {
        return Err(fault(at(), "has no joints"));
    }
    let mut inverse_binds = vec![Affine::identity(); text.joints.len()];
    if let Some(accessor) = text.inverse_bind_matrices {
        let from = || format!("{}.inverseBindMatrices", at());
        let matrices = file.accessors().read(accessor, MATRICES, &from)?;
        if matrices.count() < text.joints.len() {
            let message = format!("has {} matrices for {} joints", matrices.count(), text.joints.len());
            return Err(fault(from(), message));
        }
        for (n, inverse_bind) in inverse_binds.iter_mut().enumerate() {
            *inverse_bind = tree::affine(&matrices.element::<16>(n))
                .ok_or_else(|| fault(from(), format!("the last row of matrix {n} is not 0, 0, 0, 1")))?;
        }
    }
    let frame = bind_frame(file, &text.joints, &inverse_binds);
    let joints = text.joints.iter().zip(inverse_binds);
    let joints = joints.filter_map(|(joint, inverse_bind)| Some((*number.get(joint)?, inverse_bind))).collect();
    Ok(Skin { joints, frame })
}

/// Where the mesh of a skin stands while it is bound. Most exporters bind in the world; some bind in the space of the
/// node that holds the skeleton, which may turn Z up or change the unit. The joints at rest tell which.
fn bind_frame(file: &GltfFile, joints: &[usize], inverse_binds: &[Affine]) -> Affine {
    let is_joint: HashSet<usize> = joints.iter().copied().collect();
    let parent = |node: usize| file.tree.parents[node];
    let root = joints.iter().copied().find(|&joint| parent(joint).is_none_or(|parent| !is_joint.contains(&parent)));
    let Some(holder) = root.and_then(parent) else {
        return Affine::identity();
    };
    let holder = file.tree.worlds[holder];
    let misfit = |frame: &Affine| -> f64 {
        joints
            .iter()
            .zip(inverse_binds)
            .map(|(&joint, inverse)| (file.tree.worlds[joint] * *inverse).distance(frame))
            .sum()
    };
    if misfit(&holder) < 0.999 * misfit(&Affine::identity()) { holder } else { Affine::identity() }
}

fn read_clip(
    file: &GltfFile,
    index: usize,
    animation: &AnimationText,
    number: &HashMap<usize, u32>,
    morphs: &HashMap<usize, (u32, usize)>,
    left: &mut usize,
) -> Result<Clip, Fault> {
    let mut times: HashMap<usize, Vec<f64>> = HashMap::new();
    let mut tracks: Vec<Track> = Vec::new();
    let mut seen: HashSet<(usize, &str)> = HashSet::new();
    let (mut start, mut end) = (f64::INFINITY, f64::NEG_INFINITY);
    for (n, channel) in animation.channels.iter().enumerate() {
        let at = format!("animations[{index}].channels[{n}]");
        let sampler = entry(&animation.samplers, channel.sampler, "samplers", || at.clone())?;
        let at_sampler = format!("animations[{index}].samplers[{}]", channel.sampler);
        let Some(node) = channel.target.node else { continue };
        entry(&file.document.nodes, node, "nodes", || at.clone())?;
        if let std::collections::hash_map::Entry::Vacant(new) = times.entry(sampler.input) {
            let keys = file.accessors().read(sampler.input, TIMES, &|| format!("{at_sampler}.input"))?.values;
            let (Some(&first), Some(&last)) = (keys.first(), keys.last()) else {
                return Err(fault(at_sampler, "has no keys"));
            };
            if let Some(back) = keys.windows(2).position(|pair| pair[1] < pair[0]) {
                let message = format!("key {} is earlier than the one before it", back + 1);
                return Err(fault(format!("{at_sampler}.input"), message));
            }
            (start, end) = (start.min(first), end.max(last));
            new.insert(keys);
        }
        let morph = morphs.get(&node).copied().filter(|(_, count)| *count > 0);
        let (target, wanted, width) = match (channel.target.path.as_str(), number.get(&node), morph) {
            ("translation", Some(&node), _) => (Target::Translation(node), KEY_VECTORS, 3),
            ("rotation", Some(&node), _) => (Target::Rotation(node), KEY_ROTATIONS, 4),
            ("scale", Some(&node), _) => (Target::Scale(node), KEY_VECTORS, 3),
            ("weights", _, Some((first, count))) => (Target::Weights(first), KEY_WEIGHTS, count),
            // Nodes that move none of these vertices.
            ("translation" | "rotation" | "scale" | "weights", ..) => continue,
            (other, ..) => {
                let shown: String = other.chars().take(20).flat_map(char::escape_default).collect();
                return Err(fault(at, format!("`{shown}` is nothing that can move")));
            }
        };
        if !seen.insert((node, channel.target.path.as_str())) {
            return Err(fault(at, format!("nodes[{node}].{} moves in two channels", channel.target.path)));
        }
        let interpolation = match sampler.interpolation.as_deref() {
            None | Some("LINEAR") => Interpolation::Linear,
            Some("STEP") => Interpolation::Step,
            Some("CUBICSPLINE") => Interpolation::CubicSpline,
            Some(other) => {
                let shown: String = other.chars().take(20).flat_map(char::escape_default).collect();
                return Err(fault(at_sampler, format!("`{shown}` is not an interpolation of glTF")));
            }
        };
        let keys = times[&sampler.input].clone();
        let values = file.accessors().read(sampler.output, wanted, &|| format!("{at_sampler}.output"))?.values;
        *left = left.checked_sub(keys.len() + values.len()).ok_or_else(|| {
            fault(&at, format!("the animations have more than {MOST_KEY_NUMBERS} numbers")).help("remove some keys")
        })?;
        let (key_count, value_count) = (keys.len(), values.len());
        let keys = Keys::new(interpolation, keys, values, width).ok_or_else(|| {
            let message = format!("has {value_count} numbers for {key_count} keys of {width} each");
            fault(format!("{at_sampler}.output"), message)
        })?;
        tracks.push(Track { target, keys });
    }
    let (start, length) = if start <= end { (start, end - start) } else { (0.0, 0.0) };
    let name = fault::name(animation.name.as_ref(), || format!("animation_{index}"));
    Ok(Clip { name, start, length, tracks })
}
