//! How far a point is from a collider's surface, and which way is out.
//!
//! Idea:     primitives in closed form; meshes by the nearest triangle. On a closed mesh the sign comes from the angle-weighted
//!           normal of the nearest face, edge or corner (Bærentzen and Aanæs 2005), which is right everywhere; an open mesh, or one
//!           whose faces do not agree on a side, has no inside and pushes away from whichever side the point is on.
//! Test:     tests/algorithms/signed_distance.rs

use crate::math::Vec3;
use crate::mesh::bvh::Bvh;
use crate::mesh::closest::{Feature, closest_on_triangle};
use crate::mesh::topology::Topology;

/// A point's nearest place on a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// Negative inside [m].
    pub distance: f64,
    /// Out of the body, unit length.
    pub normal: Vec3,
}

/// `v` at unit length, or `fallback` where it has no direction.
fn direction(v: Vec3, fallback: Vec3) -> Vec3 {
    let length = v.norm();
    if length > 1e-12 { v / length } else { fallback }
}

/// Everything below a plane is inside.
pub fn plane(p: Vec3, point: Vec3, normal: Vec3) -> Nearest {
    Nearest { distance: (p - point).dot(&normal), normal }
}

/// A ball.
pub fn sphere(p: Vec3, center: Vec3, radius: f64) -> Nearest {
    Nearest { distance: (p - center).norm() - radius, normal: direction(p - center, Vec3::y()) }
}

/// A ball swept along a segment.
pub fn capsule(p: Vec3, from: Vec3, to: Vec3, radius: f64) -> Nearest {
    let axis = to - from;
    let t = if axis.norm_squared() > 0.0 { (p - from).dot(&axis) / axis.norm_squared() } else { 0.0 };
    let arm = p - (from + axis * t.clamp(0.0, 1.0));
    Nearest { distance: arm.norm() - radius, normal: direction(arm, across(axis)) }
}

/// Some direction across an axis.
fn across(axis: Vec3) -> Vec3 {
    let axis = direction(axis, Vec3::y());
    direction(axis.cross(&Vec3::x()), Vec3::z())
}

/// An axis-aligned box.
pub fn cuboid(p: Vec3, center: Vec3, size: Vec3) -> Nearest {
    let local = p - center;
    let excess = local.abs() - size * 0.5;
    let sign = local.map(|x| if x < 0.0 { -1.0 } else { 1.0 });
    let outside = excess.sup(&Vec3::zeros());
    let farthest = outside.max();
    if farthest > 0.0 {
        // Scaled first: a point a hair outside has the normal of its side too.
        let normal = (outside.component_mul(&sign) / farthest).normalize();
        return Nearest { distance: outside.norm(), normal };
    }
    let axis = excess.imax();
    let mut normal = Vec3::zeros();
    normal[axis] = sign[axis];
    Nearest { distance: excess[axis], normal }
}

/// A cylinder with flat ends.
pub fn cylinder(p: Vec3, from: Vec3, to: Vec3, radius: f64) -> Nearest {
    let half_length = 0.5 * (to - from).norm();
    let axis = direction(to - from, Vec3::y());
    let local = p - (from + to) * 0.5;
    let along = local.dot(&axis);
    let arm = local - axis * along;
    let across_length = arm.norm();
    let radial = direction(arm, across(axis));
    let end = if along < 0.0 { -axis } else { axis };
    let (beyond_end, beyond_side) = (along.abs() - half_length, across_length - radius);
    if beyond_end > 0.0 && beyond_side > 0.0 {
        let distance = beyond_end.hypot(beyond_side);
        return Nearest { distance, normal: (end * beyond_end + radial * beyond_side) / distance };
    }
    if beyond_end > beyond_side {
        Nearest { distance: beyond_end, normal: end }
    } else {
        Nearest { distance: beyond_side, normal: radial }
    }
}

/// What a mesh encloses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inside {
    /// A body: every edge has two triangles, all wound the same way round.
    Solid,
    /// The same, but wound inwards; taken as the body that its surface encloses.
    InsideOut,
    /// Nothing: the mesh has a boundary or edges with more than two triangles.
    Open,
    /// Nothing: it is closed, but neighbouring faces are wound against each other.
    Mixed,
}

/// A triangle mesh with what it takes to tell inside from outside.
#[derive(Clone, Debug)]
pub struct MeshSurface {
    positions: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    triangle_edges: Vec<[u32; 3]>,
    bvh: Bvh,
    face_normals: Vec<Vec3>,
    edge_normals: Vec<Vec3>,
    corner_normals: Vec<Vec3>,
    inside: Inside,
}

impl MeshSurface {
    /// From triangles that have area.
    pub fn build(positions: Vec<Vec3>, mut triangles: Vec<[u32; 3]>) -> Self {
        let inside = inside(&positions, &triangles, &Topology::build(&triangles));
        if inside == Inside::InsideOut {
            triangles.iter_mut().for_each(|triangle| triangle.swap(1, 2));
        }
        let topology = Topology::build(&triangles);
        let bvh = Bvh::build(&positions, &triangles);
        let points = |t: &[u32; 3]| t.map(|v| positions[v as usize]);
        let face_normals: Vec<Vec3> = triangles
            .iter()
            .map(|t| {
                let [a, b, c] = points(t);
                direction((b - a).cross(&(c - a)), Vec3::y())
            })
            .collect();
        let mut edge_normals = vec![Vec3::zeros(); topology.edges.len()];
        let mut corner_normals = vec![Vec3::zeros(); positions.len()];
        for (t, normal) in face_normals.iter().enumerate() {
            let corners = points(&triangles[t]);
            for k in 0..3 {
                edge_normals[topology.triangle_edges[t][k] as usize] += normal;
                let (u, v) = (corners[(k + 1) % 3] - corners[k], corners[(k + 2) % 3] - corners[k]);
                corner_normals[triangles[t][k] as usize] += normal * u.angle(&v);
            }
        }
        let triangle_edges = topology.triangle_edges;
        MeshSurface { positions, triangles, triangle_edges, bvh, face_normals, edge_normals, corner_normals, inside }
    }

    /// What the mesh encloses.
    pub fn inside(&self) -> Inside {
        self.inside
    }

    /// The vertices, for bounds and pictures.
    pub fn positions(&self) -> &[Vec3] {
        &self.positions
    }

    /// The nearest place within `reach`, or at any depth inside a body. Equal distances are decided by the lower triangle number.
    pub fn nearest(&self, p: Vec3, reach: f64) -> Option<Nearest> {
        let is_solid = matches!(self.inside, Inside::Solid | Inside::InsideOut);
        let found = self.nearest_within(p, if is_solid && self.bvh.holds(p) { f64::INFINITY } else { reach })?;
        (found.distance <= reach).then_some(found)
    }

    fn nearest_within(&self, p: Vec3, reach: f64) -> Option<Nearest> {
        let mut best: Option<(f64, u32, Vec3, Feature)> = None;
        self.bvh.near(p, reach * reach, |triangle| {
            let (q, feature) =
                closest_on_triangle(p, self.triangles[triangle as usize].map(|v| self.positions[v as usize]));
            let distance = (p - q).norm_squared();
            let nearer =
                best.is_none_or(|(least, number, ..)| distance < least || (distance == least && triangle < number));
            if distance <= reach * reach && nearer {
                best = Some((distance, triangle, q, feature));
            }
            best.map_or(reach * reach, |(least, ..)| least)
        });
        let (distance_squared, triangle, q, feature) = best?;
        let t = triangle as usize;
        let feature_normal = match feature {
            Feature::Face => self.face_normals[t],
            Feature::Edge(k) => self.edge_normals[self.triangle_edges[t][k as usize] as usize],
            Feature::Corner(k) => self.corner_normals[self.triangles[t][k as usize] as usize],
        };
        let distance = distance_squared.sqrt();
        let is_solid = matches!(self.inside, Inside::Solid | Inside::InsideOut);
        let inside = is_solid && (p - q).dot(&feature_normal) < 0.0;
        let outwards = if inside { q - p } else { p - q };
        Some(Nearest {
            distance: if inside { -distance } else { distance },
            normal: direction(outwards, direction(feature_normal, self.face_normals[t])),
        })
    }
}

fn inside(positions: &[Vec3], triangles: &[[u32; 3]], topology: &Topology) -> Inside {
    if topology.edge_triangles.iter().any(|triangles| triangles.len() != 2) {
        return Inside::Open;
    }
    // Triangles that agree run along their common edge in opposite directions.
    let runs_up = |edge: usize, triangle: u32| {
        let corners = triangles[triangle as usize];
        let [low, high] = topology.edges[edge];
        (0..3).any(|k| corners[k] == low && corners[(k + 1) % 3] == high)
    };
    let agree = |(edge, meeting): (usize, &Vec<u32>)| runs_up(edge, meeting[0]) != runs_up(edge, meeting[1]);
    if !topology.edge_triangles.iter().enumerate().all(agree) {
        return Inside::Mixed;
    }
    // Six times the volume, from a point of the mesh so that far away meshes do not lose digits.
    let origin = positions[triangles[0][0] as usize];
    let volume = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| positions[v as usize] - origin);
        a.dot(&b.cross(&c))
    };
    if triangles.iter().map(volume).sum::<f64>() < 0.0 { Inside::InsideOut } else { Inside::Solid }
}
