//! Render meshes: tied to the simulated mesh when caches are made, so that caches made later are the same.

use rayon::prelude::*;

use crate::algorithms::render_mesh::{Binder, Bound, Surface};
use crate::cache::convert::Deform;
use crate::math::Vec3;
use crate::mesh::measures::bounds;
use crate::mesh::simulation_mesh::SimulationMesh;
use crate::mesh::surface::PolyMesh;

/// A vertex farther from the cloth than this part of the cloth's extent likely has another unit or pose.
const PLAUSIBLE_DISTANCE: f64 = 0.1;

/// How well a render mesh fits its cloth.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fit {
    /// Vertices of the render mesh.
    pub vertices: usize,
    /// Those that no normal of the cloth reaches; they keep their offset from the nearest point.
    pub outside: usize,
    /// Those that are implausibly far away.
    pub far: usize,
    /// The largest distance from the cloth [m].
    pub farthest: f64,
}

/// A render mesh tied to its cloth.
pub struct BoundMesh {
    triangles: Vec<[u32; 3]>,
    /// For each simulation vertex one of its file vertices.
    file_vertex: Vec<u32>,
    bound: Vec<Bound>,
    /// How well it fits.
    pub fit: Fit,
}

impl BoundMesh {
    /// Ties a render mesh to a cloth's mesh, both at rest in the world.
    pub fn build(cloth: &PolyMesh, render: &PolyMesh) -> Self {
        let SimulationMesh { positions, triangles, from_file_vertex, .. } = SimulationMesh::build(cloth);
        let mut file_vertex = vec![0; positions.len()];
        for (file, simulated) in from_file_vertex.iter().enumerate().rev() {
            if let Some(vertex) = simulated {
                file_vertex[*vertex as usize] = file as u32;
            }
        }
        let surface = Surface::new(positions, triangles);
        let binder = Binder::new(&surface);
        let bound: Vec<Bound> = match surface.triangles.is_empty() {
            true => Vec::new(),
            false => render.positions.par_iter().map(|&p| binder.bind(p)).collect(),
        };
        let extent = bounds(surface.positions.iter().copied()).map_or(0.0, |(low, high)| (high - low).norm());
        let fit = Fit {
            vertices: render.positions.len(),
            outside: bound.iter().filter(|bound| bound.is_outside).count(),
            far: bound.iter().filter(|bound| bound.distance > PLAUSIBLE_DISTANCE * extent).count(),
            farthest: bound.iter().map(|bound| bound.distance).fold(0.0, f64::max),
        };
        BoundMesh { triangles: surface.triangles, file_vertex, bound, fit }
    }
}

impl Deform for BoundMesh {
    fn deform(&self, stored: &[[f32; 3]], points: &mut Vec<[f32; 3]>) {
        let position = |&file: &u32| Vec3::from(stored[file as usize].map(f64::from));
        let surface = Surface::new(self.file_vertex.iter().map(position).collect(), self.triangles.clone());
        // Each vertex by itself: the same for every number of threads.
        self.bound.par_iter().map(|bound| bound.place(&surface).map(|x| x as f32).into()).collect_into_vec(points);
    }
}
