//! A collider whose vertices move: a mesh, the clip that moves it, and the scene's own motion on top.

use rayon::prelude::*;

use super::Moment;
use crate::algorithms::contact::signed_distance::{Sides, SurfaceShape};
use crate::import::choice::list;
use crate::math::Vec3;
use crate::math::motion::{Motion, Pose};
use crate::mesh::animated::{AnimatedMesh, MeshPose};
use crate::mesh::simulation_mesh::SimulationMesh;
use crate::scene::problem::{KeyPath, Place, Problem};
use crate::scene::{Animation, Scene};

/// Vertices from which on evaluating them is shared out to threads.
const PARALLEL_VERTICES: usize = 2048;

/// Which clip a collider plays, and when.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Playback {
    clip: usize,
    /// Length of the clip [s].
    length: f64,
    looped: bool,
    /// Time of the clip at frame 0 of the scene [s].
    start: f64,
    /// Clip seconds in a frame.
    pace: f64,
}

impl Playback {
    /// Finds the clip that the scene means.
    pub fn choose(mesh: &AnimatedMesh, wanted: &Animation, scene: &Scene, place: &KeyPath) -> Result<Self, Problem> {
        let clips = mesh.clips();
        let names: Vec<&str> = clips.iter().map(|(name, _)| *name).collect();
        let found = |name: &String| names.iter().position(|known| known == name);
        let refused = |message: String| {
            let help = match names.is_empty() {
                true => "the file has none; leave `animation` out to take it as it stands".to_owned(),
                false => format!("the file has: {}", list(&names)),
            };
            Err(Problem::error(Place::Scene(place.key("animation")), message).help(help))
        };
        let clip = match &wanted.clip {
            Some(name) => match found(name) {
                Some(clip) => clip,
                None => return refused(format!("the mesh file has no animation `{name}`")),
            },
            None if clips.len() > 1 => {
                return refused(format!("the mesh file has {} animations: name one", clips.len()));
            }
            None => 0,
        };
        let pace = wanted.speed * scene.fps.frame_seconds();
        Ok(Playback {
            clip,
            length: clips.get(clip).map_or(0.0, |(_, length)| *length),
            looped: wanted.looped,
            start: wanted.offset - scene.first_frame as f64 * pace,
            pace,
        })
    }

    /// Time of the clip at a (fractional) frame [s].
    pub fn seconds(&self, frame: f64) -> f64 {
        let seconds = self.start + frame * self.pace;
        if self.looped && self.length > 0.0 { seconds.rem_euclid(self.length) } else { seconds }
    }
}

/// A mesh whose vertices move.
#[derive(Clone, Debug)]
pub struct AnimatedSurface {
    /// Who borders whom; built from the bind pose.
    pub shape: SurfaceShape,
    mesh: AnimatedMesh,
    playback: Playback,
    motion: Motion,
    /// For each vertex of the shape one of the file that moves like it.
    file_vertex: Vec<u32>,
}

/// What all vertices share at one moment.
pub struct SurfacePose {
    mesh: MeshPose,
    placed: Pose,
}

impl AnimatedSurface {
    /// `welded` are the triangles of the mesh's polygons.
    pub fn build(mesh: AnimatedMesh, welded: SimulationMesh, sides: Sides, playback: Playback, motion: Motion) -> Self {
        let mut file_vertex = vec![0; welded.positions.len()];
        for (file, vertex) in welded.from_file_vertex.iter().enumerate().rev() {
            if let Some(vertex) = vertex {
                file_vertex[*vertex as usize] = file as u32;
            }
        }
        let shape = SurfaceShape::build(&welded.positions, welded.triangles, sides);
        AnimatedSurface { shape, mesh, playback, motion, file_vertex }
    }

    /// How many vertices there are.
    pub fn vertex_count(&self) -> usize {
        self.file_vertex.len()
    }

    /// Name of the clip that moves it; none if the file has no clips.
    pub fn clip(&self) -> Option<&str> {
        self.mesh.clips().get(self.playback.clip).map(|(name, _)| *name)
    }

    /// The pose at a moment.
    pub fn pose(&self, moment: Moment) -> SurfacePose {
        let seconds = self.playback.seconds(moment.frame);
        let mesh = self.mesh.pose(self.playback.clip, seconds, moment.dressed);
        SurfacePose { mesh, placed: self.motion.at(moment.frame) }
    }

    /// Where a vertex is.
    pub fn vertex(&self, pose: &SurfacePose, vertex: u32) -> Vec3 {
        pose.placed.apply(self.mesh.vertex(&pose.mesh, self.file_vertex[vertex as usize] as usize))
    }

    /// Where some vertices are, in parallel.
    pub fn vertices(&self, pose: &SurfacePose, vertices: &[u32]) -> Vec<Vec3> {
        vertices.par_iter().with_min_len(PARALLEL_VERTICES).map(|&vertex| self.vertex(pose, vertex)).collect()
    }

    /// Where all vertices are, in parallel.
    pub fn positions(&self, moment: Moment) -> Vec<Vec3> {
        let pose = self.pose(moment);
        let all = (0..self.vertex_count() as u32).into_par_iter();
        all.with_min_len(PARALLEL_VERTICES).map(|vertex| self.vertex(&pose, vertex)).collect()
    }
}
