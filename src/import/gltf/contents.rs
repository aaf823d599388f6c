//! What is in a glTF file, for people who look before they bake.

use std::collections::HashSet;

use super::accessors::TIMES;
use super::fault::{self, Fault, entry};
use super::{GltfFile, Loaded, Selection};
use crate::scene::problem::Problem;

/// A summary of a file.
#[derive(Debug)]
pub struct Contents {
    /// The program that wrote it.
    pub generator: Option<String>,
    /// Extensions that occur.
    pub extensions_used: Vec<String>,
    /// Extensions without which it cannot be read.
    pub extensions_required: Vec<String>,
    /// Nodes with a mesh, in the order of the file.
    pub meshes: Vec<MeshNode>,
    /// Names of nodes that some skin hangs on.
    pub joints: Vec<String>,
    /// Names of nodes with a camera.
    pub cameras: Vec<String>,
    /// Names of all other nodes.
    pub others: Vec<String>,
    /// Names of the skins, and how many joints each has.
    pub skins: Vec<(String, usize)>,
    /// Animations.
    pub animations: Vec<Animation>,
    /// Names of the materials.
    pub materials: Vec<String>,
}

/// A node with a mesh.
#[derive(Debug)]
pub struct MeshNode {
    selection: Selection,
    /// Its name.
    pub name: String,
    /// Whether the default scene shows it.
    pub is_shown: bool,
    /// Name of its skin.
    pub skin: Option<String>,
    /// How many morph targets its mesh has.
    pub morph_target_count: usize,
}

/// An animation.
#[derive(Debug)]
pub struct Animation {
    /// As in the file.
    pub name: String,
    /// Time of its first key [s].
    pub start: f64,
    /// From the first key to the last [s].
    pub length: f64,
    /// How many things it moves.
    pub channel_count: usize,
}

impl GltfFile {
    /// What is in the file.
    pub fn contents(&self) -> Result<Contents, Problem> {
        self.summarise().map_err(|fault| fault.problem(&self.path))
    }

    /// One mesh node by itself; it may be without triangles.
    pub fn load_node(&self, node: &MeshNode) -> Result<Loaded, Problem> {
        self.collect(&node.selection).map_err(|fault| fault.problem(&self.path))
    }

    fn summarise(&self) -> Result<Contents, Fault> {
        let document = &self.document;
        let skin_name =
            |n: usize| fault::name(document.skins.get(n).and_then(|skin| skin.name.as_ref()), || format!("skin_{n}"));
        let is_joint: HashSet<usize> = document.skins.iter().flat_map(|skin| skin.joints.iter().copied()).collect();
        let (mut meshes, mut joints, mut cameras, mut others) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (n, node) in document.nodes.iter().enumerate() {
            let name = self.node_names[n].clone();
            match node.mesh {
                Some(mesh) => {
                    let primitives =
                        &entry(&document.meshes, mesh, "meshes", || format!("nodes[{n}].mesh"))?.primitives;
                    meshes.push(MeshNode {
                        selection: Selection { name: name.clone(), nodes: vec![n] },
                        name,
                        is_shown: self.tree.is_shown[n],
                        skin: node.skin.map(skin_name),
                        morph_target_count: primitives.first().map_or(0, |primitive| primitive.targets.len()),
                    });
                }
                None if is_joint.contains(&n) => joints.push(name),
                None if node.camera.is_some() => cameras.push(name),
                None => others.push(name),
            }
        }
        let mut animations = Vec::new();
        for (n, animation) in document.animations.iter().enumerate() {
            let (mut start, mut end) = (f64::INFINITY, f64::NEG_INFINITY);
            let inputs: HashSet<usize> = animation.samplers.iter().map(|sampler| sampler.input).collect();
            for input in inputs {
                let times = self.accessors().read(input, TIMES, &|| format!("animations[{n}].samplers"))?.values;
                (start, end) = times.iter().fold((start, end), |(start, end), &time| (start.min(time), end.max(time)));
            }
            let name = fault::name(animation.name.as_ref(), || format!("animation_{n}"));
            let (start, length) = if start <= end { (start, end - start) } else { (0.0, 0.0) };
            animations.push(Animation { name, start, length, channel_count: animation.channels.len() });
        }
        Ok(Contents {
            generator: document.asset.generator.as_ref().map(|text| fault::name(Some(text), String::new)),
            extensions_used: document.extensions_used.clone(),
            extensions_required: document.extensions_required.clone(),
            meshes,
            joints,
            cameras,
            others,
            skins: document.skins.iter().enumerate().map(|(n, skin)| (skin_name(n), skin.joints.len())).collect(),
            animations,
            materials: self.material_names.clone(),
        })
    }
}
