//! glTF 2.0, as text or binary: meshes of any nodes with their skins, morph targets and animations.
//!
//! ```text
//! bytes ─ document (JSON, chunks) ─ buffers ─ accessors (numbers) ─┬─ tree (nodes) ─ motion (skins, clips) ─┐
//!                                                                  └─ shape (primitives) ──────────────────┴─► Loaded
//! ```
//!
//! The JSON is read here because the common crate (gltf) refuses quantised files when it checks and panics on bad
//! indices when it does not, and its types want a source for every texture and a node for every channel, which
//! extensions leave out. The tests compare this reader with it.

mod accessors;
mod buffers;
pub mod contents;
mod document;
mod fault;
mod motion;
mod shape;
mod tree;

use std::path::{Path, PathBuf};

use buffers::Content;
pub use buffers::ExternalFile;

use super::choice::{Choice, list};
use crate::mesh::animated::AnimatedMesh;
use crate::mesh::surface::PolyMesh;
use crate::scene::problem::{Place, Problem};
use crate::scene::suggest::suggest;
use accessors::Accessors;
use document::Document;
use fault::{Fault, entry, fault};
use shape::Collected;
use tree::Tree;

/// All of a glTF file.
#[derive(Debug)]
pub struct GltfFile {
    path: PathBuf,
    document: Document,
    buffers: Vec<Content>,
    tree: Tree,
    node_names: Vec<String>,
    material_names: Vec<String>,
    external_files: Vec<ExternalFile>,
}

/// Which mesh nodes are meant, and by what name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// As in the file.
    pub name: String,
    nodes: Vec<usize>,
}

/// The meshes of a selection as one.
#[derive(Debug)]
pub struct Loaded {
    /// In the file's world, nothing moved; what has a skin, as it was bound.
    pub mesh: PolyMesh,
    /// How the vertices move; `None` if nothing in the file can move them.
    pub animated: Option<AnimatedMesh>,
    /// What was left out.
    pub warnings: Vec<Problem>,
}

/// Most frames per second that a file is believed to mean.
pub const FASTEST: f64 = 1000.0;

/// Read the content of a glTF file, and of the files it names; `path` is where it is.
pub fn parse(path: &Path, bytes: &[u8]) -> Result<GltfFile, Problem> {
    GltfFile::read(path, bytes).map_err(|fault| fault.problem(path))
}

impl GltfFile {
    fn read(path: &Path, bytes: &[u8]) -> Result<GltfFile, Fault> {
        let (json, binary) = document::unpack(bytes)?;
        let document = Document::parse(json)?;
        let tree = Tree::build(&document)?;
        for (n, node) in document.nodes.iter().enumerate() {
            if let Some(mesh) = node.mesh {
                entry(&document.meshes, mesh, "meshes", || format!("nodes[{n}].mesh"))?;
            }
        }
        let (buffers, external_files) = buffers::load(&document.buffers, binary, path)?;
        let name = |(n, node): (usize, &document::NodeText)| fault::name(node.name.as_ref(), || format!("node_{n}"));
        let node_names = document.nodes.iter().enumerate().map(name).collect();
        let material_names = shape::material_names(&document.materials);
        Ok(GltfFile { path: path.to_owned(), document, buffers, tree, node_names, material_names, external_files })
    }

    fn accessors(&self) -> Accessors<'_> {
        Accessors { document: &self.document, buffers: &self.buffers }
    }

    /// The files with the bytes of this one.
    pub fn external_files(&self) -> &[ExternalFile] {
        &self.external_files
    }

    /// Nodes with a mesh that the default scene shows.
    fn shown_mesh_nodes(&self) -> Vec<usize> {
        let has_mesh = |&node: &usize| self.document.nodes[node].mesh.is_some() && self.tree.is_shown[node];
        (0..self.document.nodes.len()).filter(has_mesh).collect()
    }

    /// Names of the nodes with a mesh that the default scene shows, in the order of the file.
    pub fn object_names(&self) -> Vec<&str> {
        self.shown_mesh_nodes().iter().map(|&node| self.node_names[node].as_str()).collect()
    }

    /// Every mesh that the default scene shows, each by itself, in the order of the file.
    pub fn every_object(&self) -> Vec<Selection> {
        let selection = |node: usize| Selection { name: self.node_names[node].clone(), nodes: vec![node] };
        self.shown_mesh_nodes().into_iter().map(selection).collect()
    }

    /// What Kiln has noted about frames in files of its own: frames per second and the number of the first one.
    pub fn noted_frames(&self) -> Option<(f64, i64)> {
        let scene = self.document.scenes.get(self.document.scene.unwrap_or_default())?;
        let extras = scene.extras.as_ref()?;
        let part = |n: usize| extras["fps"][n].as_f64().filter(|part| *part > 0.0);
        let rate = Some(part(0)? / part(1)?).filter(|rate| *rate > 0.0 && *rate <= FASTEST);
        Some((rate?, extras["first_frame"].as_i64()?))
    }

    /// What Kiln has noted about raw frames beside the file (`kiln_frames`), for the mesh of a selection.
    pub fn noted_stream(&self, selection: &Selection) -> Option<&serde_json::Value> {
        let mesh = self.document.nodes[*selection.nodes.first()?].mesh?;
        self.document.meshes[mesh].extras.as_ref()?.get("kiln_frames")
    }

    /// The meshes at and below a node; the only mesh node where nothing is named and there is nothing to choose.
    pub fn select(&self, name: Option<&str>) -> Result<Selection, Choice> {
        let Some(name) = name else {
            let nodes = self.shown_mesh_nodes();
            return match nodes.as_slice() {
                [] => Err(Choice {
                    message: "the scene of the file shows no mesh".to_owned(),
                    help: "export the mesh together with the scene that shows it".to_owned(),
                }),
                [only] => Ok(Selection { name: self.node_names[*only].clone(), nodes }),
                _ => Err(Choice {
                    message: format!("the file has {} objects and none is chosen", nodes.len()),
                    help: format!("add `object = \"...\"` with one of: {}", list(&self.object_names())),
                }),
            };
        };
        let named: Vec<usize> = (0..self.node_names.len()).filter(|&node| self.node_names[node] == name).collect();
        // Bones are often called like the mesh they move, and groups like what is in them.
        let mut meant: Vec<Vec<usize>> = Vec::new();
        for &node in named.iter().take(100) {
            let below = self.tree.mesh_nodes_below(&self.document, node);
            if !below.is_empty() && !meant.contains(&below) {
                meant.push(below);
            }
        }
        match meant.as_slice() {
            [nodes] if named.len() <= 100 => Ok(Selection { name: name.to_owned(), nodes: nodes.clone() }),
            [] if !named.is_empty() => Err(Choice {
                message: format!("`{name}` has no mesh, nor has anything below it"),
                help: format!("the file has: {}", list(&self.object_names())),
            }),
            [] => {
                let names = self.object_names();
                let known = list(&names);
                let all = self.node_names.iter().map(String::as_str);
                let near = suggest(name, names.iter().copied()).or_else(|| suggest(name, all));
                Err(Choice {
                    message: format!("there is no object `{name}` in the file"),
                    help: match near {
                        Some(near) => format!("did you mean `{near}`? It has: {known}"),
                        None => format!("it has: {known}"),
                    },
                })
            }
            _ => Err(Choice {
                message: format!("{} nodes of the file are called `{name}`", named.len()),
                help: "give every object its own name and export the file again".to_owned(),
            }),
        }
    }

    /// The meshes of a selection, and what moves them.
    pub fn load(&self, selection: &Selection) -> Result<Loaded, Problem> {
        let loaded = self.collect(selection).map_err(|fault| fault.problem(&self.path))?;
        if loaded.mesh.face_count() == 0 {
            let none = fault("", format!("`{}` has no triangles", selection.name));
            let help = "choose another object, or export a mesh with faces";
            return Err(none.help(help).problem(&self.path));
        }
        Ok(loaded)
    }

    fn collect(&self, selection: &Selection) -> Result<Loaded, Fault> {
        let motion = motion::read(self, &selection.nodes)?;
        let mut collected = Collected::new(&selection.name, motion.is_animated);
        for part in &motion.parts {
            collected.add(self, part)?;
        }
        let primitives = motion.parts.iter().map(|part| self.document.meshes[part.mesh].primitives.len());
        collected.finish(primitives.sum());
        let Collected { mesh, bound, findings, .. } = collected;
        let findings = motion.findings.into_iter().chain(findings);
        let warning = |finding: String| Problem::warning(Place::File(self.path.clone()), finding);
        Ok(Loaded {
            mesh,
            animated: motion.is_animated.then(|| AnimatedMesh::new(motion.rig, bound)),
            warnings: findings.map(warning).collect(),
        })
    }
}
