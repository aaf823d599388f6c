//! Pictures: what is drawn against what geometry says, the same bytes always, and files that others can read.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test that cannot go on has failed")]

mod coverage;
mod files;
mod look;
mod same_bytes;
mod sphere;
mod text;

use kiln::math::Vec3;
use kiln::mesh::surface::PolyMesh;
use kiln::mesh::triangulate::triangulate;
use kiln::render::camera::Camera;
use kiln::render::picture::Picture;
use kiln::render::scene::{Body, Paint, Style, draw};
use kiln::render::surface::Surface;

/// A mesh that can be drawn.
pub struct Thing {
    pub surface: Surface,
    pub positions: Vec<[f32; 3]>,
}

impl Thing {
    pub fn new(mesh: &PolyMesh) -> Self {
        let mut triangles = Vec::new();
        for face in 0..mesh.face_count() {
            let corners = mesh.face(face);
            let points: Vec<Vec3> = corners.iter().map(|corner| mesh.positions[corner.position as usize]).collect();
            triangles.extend(triangulate(&points).into_iter().map(|ear| ear.map(|corner| corners[corner].position)));
        }
        Thing::of(mesh.positions.iter().map(|p| p.map(|x| x as f32).into()).collect(), &triangles)
    }

    pub fn of(positions: Vec<[f32; 3]>, triangles: &[[u32; 3]]) -> Self {
        Thing { surface: Surface::new(&positions, triangles, |_| 0), positions }
    }

    pub fn painted<'a>(&'a self, paint: Paint<'a>) -> Body<'a> {
        Body { surface: &self.surface, positions: &self.positions, paint }
    }

    pub fn white(&self) -> Body<'_> {
        self.painted(Paint::Plain([1.0; 3]))
    }
}

/// Black behind everything.
pub fn on_black(samples: u32) -> Style {
    Style { samples, background: [[0.0; 3]; 2], ..Style::default() }
}

/// A camera on the z axis that looks at the origin.
pub fn in_front(distance: f64) -> Camera {
    Camera::around(Vec3::zeros(), [0.0, 0.0], distance, 40.0)
}

pub fn shoot(bodies: &[Body], camera: &Camera, style: &Style, size: [usize; 2]) -> Picture {
    draw(bodies, camera, None, style, size)
}
