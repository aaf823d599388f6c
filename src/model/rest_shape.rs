//! The shape in which a cloth is free of stretch: each triangle flat, with the directions of warp and weft.
//!
//! Idea: u runs along the warp, v along the weft. Taken from the mesh, a triangle keeps its lengths and is only turned; taken
//! from the UV layout, it is the sewing pattern's, so neighbours may disagree about the edge between them, as at a seam that
//! is eased in.

use nalgebra::Vector2;

use crate::math::Vec3;
use crate::mesh::measures::triangle_area;
use crate::mesh::simulation_mesh::SimulationMesh;
use crate::mesh::surface::PolyMesh;
use crate::mesh::topology::Topology;
use crate::scene::RestShape;
use crate::scene::problem::{KeyPath, Place, Problem};

/// Below this ratio of area to squared longest edge a triangle of the UV layout has no usable direction: single precision, in
/// which most files hold UVs, keeps about seven digits.
const THINNEST_UV_TRIANGLE: f64 = 1e-6;

/// Below this length of its part in the triangle's plane an axis of the world is too steep to show a direction.
const STEEPEST_AXIS: f64 = 0.1;

/// By this factor the areas of mesh and UV layout may differ; more, and the unit of the layout is probably wrong.
const PLAUSIBLE_AREA_RATIO: f64 = 2.0;

/// The triangles of a cloth at rest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RestTriangles {
    /// For each triangle its corners [m], in the order of the simulation mesh, counter-clockwise; u along the warp, v along the
    /// weft.
    pub corners: Vec<[Vector2<f64>; 3]>,
    /// Whether the directions come from UVs everywhere; else the world's axes stand in for them where there are none.
    pub has_directions: bool,
}

impl RestTriangles {
    /// Flatten all triangles; every length is multiplied by `scale`. `None` after an error.
    pub fn build(
        shape: RestShape,
        scale: f64,
        surface: &PolyMesh,
        mesh: &SimulationMesh,
        place: &KeyPath,
        problems: &mut Vec<Problem>,
    ) -> Option<Self> {
        let mut rest = match shape {
            RestShape::Mesh => Self::of_mesh(surface, mesh),
            RestShape::Uv { metres } => Self::of_uvs(metres, surface, mesh, place, problems)?,
        };
        rest.corners.iter_mut().flatten().for_each(|corner| *corner *= scale);
        Some(rest)
    }

    /// Each triangle as it is, turned.
    fn of_mesh(surface: &PolyMesh, mesh: &SimulationMesh) -> Self {
        let mut has_directions = true;
        let triangles = mesh.triangles.iter().zip(&mesh.triangle_corners);
        let corners = triangles
            .map(|(triangle, file_corners)| {
                let [a, b, c] = triangle.map(|v| mesh.positions[v as usize]);
                let normal = (b - a).cross(&(c - a)).normalize();
                let warp = uv_corners(surface, *file_corners).and_then(|uvs| warp([a, b, c], uvs));
                has_directions &= warp.is_some();
                let u = warp.unwrap_or_else(|| world_axis(normal));
                let v = normal.cross(&u);
                [a, b, c].map(|p| Vector2::new((p - a).dot(&u), (p - a).dot(&v)))
            })
            .collect();
        RestTriangles { corners, has_directions }
    }

    /// Each triangle as it lies in the UV layout.
    fn of_uvs(
        metres: f64,
        surface: &PolyMesh,
        mesh: &SimulationMesh,
        place: &KeyPath,
        problems: &mut Vec<Problem>,
    ) -> Option<Self> {
        let place = place.key("rest");
        let uvs: Vec<_> = mesh.triangle_corners.iter().map(|corners| uv_corners(surface, *corners)).collect();
        let help = "unwrap the mesh and export it with UVs, or use rest = \"mesh\"";
        if uvs.iter().all(Option::is_none) {
            let message = "the mesh has no UVs that it could take its rest shape from";
            problems.push(Problem::error(Place::Scene(place), message).help(help));
            return None;
        }
        let is_flat = |uvs: &Option<[Vector2<f64>; 3]>| uvs.is_some_and(|uvs| doubled_area_in(uvs).is_none());
        let faults: [(&str, Vec<usize>); 2] = [
            ("no UVs", (0..uvs.len()).filter(|&t| uvs[t].is_none()).collect()),
            ("no area in the UV layout", (0..uvs.len()).filter(|&t| is_flat(&uvs[t])).collect()),
        ];
        for (lack, triangles) in faults.iter().filter(|(_, triangles)| !triangles.is_empty()) {
            let face = surface.face_of_corner(mesh.triangle_corners[triangles[0]][0]);
            let have = if triangles.len() == 1 { "triangle has" } else { "triangles have" };
            let message = format!(
                "{} {have} {lack} and so no rest shape; the first is in face {face}, counted from 0",
                triangles.len()
            );
            problems.push(Problem::error(Place::Scene(place.clone()), message).help(help));
        }
        if faults.iter().any(|(_, triangles)| !triangles.is_empty()) {
            return None;
        }
        // A mirrored triangle is the same piece of cloth seen from behind.
        let upright = |uvs: [Vector2<f64>; 3]| {
            let side = doubled_area(uvs).signum();
            uvs.map(|uv| Vector2::new(uv.x, side * uv.y) * metres)
        };
        let corners: Vec<_> = uvs.into_iter().flatten().map(upright).collect();
        let rest = RestTriangles { corners, has_directions: true };
        let mesh_area: f64 = mesh.triangles.iter().map(|t| triangle_area(t.map(|v| mesh.positions[v as usize]))).sum();
        let rest_area: f64 = (0..rest.corners.len()).map(|t| rest.area(t)).sum();
        let ratio = rest_area / mesh_area;
        if !(1.0 / PLAUSIBLE_AREA_RATIO..=PLAUSIBLE_AREA_RATIO).contains(&ratio) {
            let message = format!(
                "the UV layout makes {} m2 of cloth, but the mesh has {} m2",
                three_digits(rest_area),
                three_digits(mesh_area)
            );
            let matching = three_digits(metres / ratio.sqrt());
            let help = format!("`rest = {{ uv = {matching} }}` would match the mesh; `rest_scale` shrinks or grows it");
            problems.push(Problem::warning(Place::Scene(place), message).help(help));
        }
        Some(rest)
    }

    /// Area of a triangle at rest [m²].
    pub fn area(&self, triangle: usize) -> f64 {
        0.5 * doubled_area(self.corners[triangle]).abs()
    }

    /// Length of each edge at rest [m]; the mean where the edge's triangles disagree.
    pub fn edge_lengths(&self, topology: &Topology) -> Vec<f64> {
        let length_in = |edge: u32, triangle: u32| {
            let opposite = topology.triangle_edges[triangle as usize].iter().position(|&e| e == edge).unwrap_or(0);
            let corners = self.corners[triangle as usize];
            (corners[(opposite + 1) % 3] - corners[(opposite + 2) % 3]).norm()
        };
        let mean = |(edge, triangles): (usize, &Vec<u32>)| {
            triangles.iter().map(|&triangle| length_in(edge as u32, triangle)).sum::<f64>() / triangles.len() as f64
        };
        topology.edge_triangles.iter().enumerate().map(mean).collect()
    }
}

/// The UVs of a triangle, if all three corners have one.
fn uv_corners(surface: &PolyMesh, corners: [u32; 3]) -> Option<[Vector2<f64>; 3]> {
    let uv = |corner: u32| {
        let number = surface.corners[corner as usize].uv?;
        surface.uvs.get(number as usize).map(|&[u, v]| Vector2::new(u, v))
    };
    let [a, b, c] = corners.map(uv);
    Some([a?, b?, c?])
}

/// Twice the area; negative if clockwise.
fn doubled_area([a, b, c]: [Vector2<f64>; 3]) -> f64 {
    (b - a).perp(&(c - a))
}

/// Twice the area of a triangle in the UV layout, if that is enough to tell its directions.
fn doubled_area_in([a, b, c]: [Vector2<f64>; 3]) -> Option<f64> {
    let longest = (b - a).norm_squared().max((c - b).norm_squared()).max((a - c).norm_squared());
    Some(doubled_area([a, b, c])).filter(|area| area.is_finite() && area.abs() > THINNEST_UV_TRIANGLE * longest)
}

/// The direction in a triangle in which U grows and V stays: how its warp threads run.
fn warp([a, b, c]: [Vec3; 3], uvs: [Vector2<f64>; 3]) -> Option<Vec3> {
    let area = doubled_area_in(uvs)?;
    let [to_b, to_c] = [uvs[1] - uvs[0], uvs[2] - uvs[0]];
    // The chain rule: b - a = P_u Δu + P_v Δv, and the same for c, solved for P_u; its length is of no interest.
    (((b - a) * to_c.y - (c - a) * to_b.y) * area.signum()).try_normalize(0.0)
}

/// The world's x axis laid into a plane; the z axis where x is too steep.
fn world_axis(normal: Vec3) -> Vec3 {
    let laid = |axis: Vec3| axis - normal * axis.dot(&normal);
    let [x, z] = [laid(Vec3::x()), laid(Vec3::z())];
    if x.norm() > STEEPEST_AXIS { x.normalize() } else { z.normalize() }
}

/// A positive number as short as three digits allow.
fn three_digits(x: f64) -> String {
    let digits = (2.0 - x.abs().log10().floor()).clamp(0.0, 12.0);
    format!("{x:.*}", if digits.is_finite() { digits as usize } else { 0 })
}
