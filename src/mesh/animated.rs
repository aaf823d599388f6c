//! A mesh whose vertices move over time: node animation, skin and morph targets, evaluated at any time.

use crate::math::Vec3;

/// A mesh that can be evaluated at any time of a clip; vertices are those of the `PolyMesh` it came with.
#[derive(Clone, Debug)]
pub struct AnimatedMesh {
    positions: Vec<Vec3>,
}

/// Everything that all vertices share at one moment.
#[derive(Clone, Debug)]
pub struct MeshPose {}

impl AnimatedMesh {
    /// Names and lengths [s] of the clips in the file.
    pub fn clips(&self) -> Vec<(&str, f64)> {
        Vec::new()
    }

    /// The pose at a time [s] of a clip, from its start: 0 is the bind pose, 1 the clip's, in between `dressed` of the way. Before the start and after
    /// the end of a clip its first and last pose hold.
    pub fn pose(&self, _clip: usize, _seconds: f64, _dressed: f64) -> MeshPose {
        MeshPose {}
    }

    /// Where a vertex is in a pose, in the world [m].
    pub fn vertex(&self, _pose: &MeshPose, vertex: usize) -> Vec3 {
        self.positions[vertex]
    }

    /// A number that is the same for two vertices if they always move together when they start at the same place.
    pub fn binding(&self, _vertex: usize) -> u64 {
        0
    }
}
