//! The nodes of a glTF file as a tree: who hangs on whom, where everything rests, and what a name stands for.

use super::document::{Document, NodeText};
use super::fault::{Fault, entry, fault};
use crate::math::affine::{Affine, Local};
use crate::math::{Mat3, Vec3};
use crate::mesh::keys::quaternion;

/// How far the last row of a matrix may be off 0, 0, 0, 1: exporters compute it in single precision.
const AFFINE_TOLERANCE: f64 = 1e-4;

/// All nodes of a file.
#[derive(Debug)]
pub struct Tree {
    pub parents: Vec<Option<usize>>,
    /// Parents before children.
    pub order: Vec<usize>,
    /// Where the file puts nodes in their parents.
    pub rest: Vec<Local>,
    /// Where the file puts nodes in its world.
    pub worlds: Vec<Affine>,
    /// Whether the default scene shows them.
    pub is_shown: Vec<bool>,
}

impl Tree {
    /// Checks that the nodes are a tree; no step of it calls itself, so a chain may have any length.
    pub fn build(document: &Document) -> Result<Tree, Fault> {
        let nodes = &document.nodes;
        let mut parents: Vec<Option<usize>> = vec![None; nodes.len()];
        for (n, node) in nodes.iter().enumerate() {
            for &child in &node.children {
                entry(nodes, child, "nodes", || format!("nodes[{n}].children"))?;
                if let Some(other) = parents[child] {
                    let message = format!("nodes[{child}] is already a child of nodes[{other}]");
                    return Err(fault(format!("nodes[{n}].children"), message));
                }
                parents[child] = Some(n);
            }
        }
        let mut order: Vec<usize> = (0..nodes.len()).filter(|&n| parents[n].is_none()).collect();
        let mut next = 0;
        while let Some(&node) = order.get(next) {
            order.extend(&nodes[node].children);
            next += 1;
        }
        if order.len() < nodes.len() {
            let mut is_reached = vec![false; nodes.len()];
            order.iter().for_each(|&node| is_reached[node] = true);
            let lost = is_reached.iter().position(|reached| !reached).unwrap_or_default();
            return Err(fault(format!("nodes[{lost}].children"), "the node hangs below itself"));
        }
        let rest = nodes.iter().enumerate().map(|(n, node)| local(n, node)).collect::<Result<Vec<Local>, Fault>>()?;
        let mut worlds = vec![Affine::identity(); nodes.len()];
        for &node in &order {
            let local = rest[node].affine();
            worlds[node] = parents[node].map_or(local, |parent| worlds[parent] * local);
            if !worlds[node].is_finite() {
                return Err(fault(format!("nodes[{node}]"), "its place in the world is not finite"));
            }
        }
        let is_shown = shown(document, &parents, &order)?;
        Ok(Tree { parents, order, rest, worlds, is_shown })
    }

    /// The nodes with a mesh at or below a node, in the order in which the file lists children.
    pub fn mesh_nodes_below(&self, document: &Document, node: usize) -> Vec<usize> {
        let mut found = Vec::new();
        let mut waiting = vec![node];
        while let Some(node) = waiting.pop() {
            if document.nodes[node].mesh.is_some() {
                found.push(node);
            }
            waiting.extend(document.nodes[node].children.iter().rev());
        }
        found
    }

    /// Some nodes and all that they hang on, parents before children.
    pub fn with_ancestors(&self, nodes: impl Iterator<Item = usize>) -> Vec<usize> {
        let mut is_needed = vec![false; self.parents.len()];
        for node in nodes {
            let mut next = Some(node);
            while let Some(node) = next.filter(|&node| !is_needed[node]) {
                is_needed[node] = true;
                next = self.parents[node];
            }
        }
        self.order.iter().copied().filter(|&node| is_needed[node]).collect()
    }
}

/// Which nodes the default scene shows, or else the first one; all of them in a file without scenes.
fn shown(document: &Document, parents: &[Option<usize>], order: &[usize]) -> Result<Vec<bool>, Fault> {
    let number = document.scene.unwrap_or(0);
    if document.scenes.is_empty() && document.scene.is_none() {
        return Ok(vec![true; order.len()]);
    }
    let scene = entry(&document.scenes, number, "scenes", || "scene".to_owned())?;
    let mut is_shown = vec![false; order.len()];
    for &root in &scene.nodes {
        entry(&document.nodes, root, "nodes", || format!("scenes[{number}].nodes"))?;
        is_shown[root] = true;
    }
    for &node in order {
        is_shown[node] |= parents[node].is_some_and(|parent| is_shown[parent]);
    }
    Ok(is_shown)
}

fn local(n: usize, node: &NodeText) -> Result<Local, Fault> {
    if let Some(matrix) = &node.matrix {
        let affine =
            affine(matrix).ok_or_else(|| fault(format!("nodes[{n}].matrix"), "its last row is not 0, 0, 0, 1"))?;
        return Ok(Local::from_affine(&affine, &Local::new(Vec3::zeros(), quaternion([0.0; 4]), Vec3::repeat(1.0))));
    }
    let translation = node.translation.unwrap_or_default().into();
    let rotation = quaternion(node.rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]));
    Ok(Local::new(translation, rotation, node.scale.unwrap_or([1.0; 3]).into()))
}

/// A matrix, column after column; `None` if it is not affine.
pub fn affine(m: &[f64; 16]) -> Option<Affine> {
    let last_row = [m[3], m[7], m[11], m[15] - 1.0];
    last_row.iter().all(|x| x.abs() <= AFFINE_TOLERANCE).then(|| Affine {
        linear: Mat3::new(m[0], m[4], m[8], m[1], m[5], m[9], m[2], m[6], m[10]),
        shift: Vec3::new(m[12], m[13], m[14]),
    })
}
