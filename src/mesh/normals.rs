//! Normals of a surface that has moved, with the hard edges that its artist gave it.
//!
//! Idea: corners that share a place and a normal in the artist's mesh are smooth together; those that share only the place
//! stand on two sides of a hard edge. Which corners belong together is settled once, on the undeformed mesh; then every
//! frame sums the normals of their faces, weighted by the corners' angles so that the triangulation does not show.
//!
//! Grouping is by the value of the artist's normal and not by its number: exporters write equal normals once, so the whole of
//! a flat sheet may share one number.

use std::collections::HashMap;

use super::surface::PolyMesh;
use crate::math::Vec3;

/// Corners that are shaded as one.
#[derive(Clone, Debug, Default)]
pub struct NormalGroups {
    /// For each corner of the mesh its group.
    pub of_corner: Vec<u32>,
    /// How many groups there are.
    pub count: usize,
}

impl NormalGroups {
    /// Groups the corners of an undeformed mesh. Corners without a normal are smooth wherever they share a place.
    pub fn build(mesh: &PolyMesh) -> Self {
        let bits = |v: Vec3| [v.x, v.y, v.z].map(|x| (x + 0.0).to_bits()); // + 0.0 makes -0 and 0 the same
        let mut numbers = HashMap::with_capacity(mesh.positions.len());
        let number = |corner: &super::surface::Corner| {
            let normal = corner.normal.map(|normal| bits(mesh.normals[normal as usize]));
            let next = numbers.len() as u32;
            *numbers.entry((bits(mesh.positions[corner.position as usize]), normal)).or_insert(next)
        };
        let of_corner = mesh.corners.iter().map(number).collect();
        NormalGroups { of_corner, count: numbers.len() }
    }

    /// The unit normal of each group where the vertices are at `positions`. A group whose faces cancel out or have no area
    /// gets an upright one: no reader takes a normal of another length.
    pub fn normals(&self, mesh: &PolyMesh, positions: &[[f32; 3]]) -> Vec<[f32; 3]> {
        let mut sums = vec![Vec3::zeros(); self.count];
        let mut points = Vec::new();
        for face in 0..mesh.face_count() {
            points.clear();
            points.extend(mesh.face(face).iter().map(|c| Vec3::from(positions[c.position as usize].map(f64::from))));
            let first = mesh.face_starts[face] as usize;
            add_face(&points, |corner, weighted| sums[self.of_corner[first + corner] as usize] += weighted);
        }
        let unit = |sum: &Vec3| sum.try_normalize(f64::MIN_POSITIVE).unwrap_or_else(Vec3::y);
        // What f32 cannot see beside 1 is zero, and not a long number in a text file.
        let round = |x: f64| if x.abs() < f64::from(f32::EPSILON) / 2.0 { 0.0 } else { x as f32 };
        sums.iter().map(|sum| unit(sum).map(round).into()).collect()
    }
}

/// Unit normals of the vertices of a triangle mesh; zero where triangles cancel out or have no area.
pub fn vertex_normals(positions: &[Vec3], triangles: &[[u32; 3]], normals: &mut Vec<Vec3>) {
    normals.clear();
    normals.resize(positions.len(), Vec3::zeros());
    for corners in triangles {
        let points = corners.map(|v| positions[v as usize]);
        add_face(&points, |corner, weighted| normals[corners[corner] as usize] += weighted);
    }
    for normal in normals {
        *normal = normal.try_normalize(f64::MIN_POSITIVE).unwrap_or_default();
    }
}

/// Gives each corner of a polygon the polygon's unit normal times the corner's angle; nothing where there is no area.
fn add_face(points: &[Vec3], mut add: impl FnMut(usize, Vec3)) {
    let count = points.len();
    let spokes = points.windows(2).skip(1).map(|pair| (pair[0] - points[0]).cross(&(pair[1] - points[0])));
    let Some(normal) = spokes.sum::<Vec3>().try_normalize(f64::MIN_POSITIVE) else {
        return;
    };
    for corner in 0..count {
        let to_next = points[(corner + 1) % count] - points[corner];
        let to_last = points[(corner + count - 1) % count] - points[corner];
        add(corner, normal * to_next.cross(&to_last).norm().atan2(to_next.dot(&to_last)));
    }
}
