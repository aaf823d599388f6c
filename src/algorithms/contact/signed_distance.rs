//! How far a point is from a collider's surface, and which way is out.
//!
//! Idea:     primitives in closed form; meshes by the nearest triangle. On a closed mesh the sign comes from the angle-weighted
//!           normal of the nearest face, edge or corner (Bærentzen and Aanæs 2005), which is right everywhere; an open mesh, or one
//!           whose faces do not agree on a side, has no inside and pushes away from whichever side the point is on. Where an open mesh is
//!           said to have one, it is what lies close behind the faces, not beyond the rim: cloth hangs over that.
//! Test:     tests/algorithms/signed_distance.rs      On the device: signed_distance.wgsl (primitives), signed_distance_mesh.wgsl

use crate::math::Vec3;
use crate::math::rows::Rows;
use crate::mesh::bvh::Bvh;
use crate::mesh::closest::{Feature, closest_on_triangle};
use crate::mesh::measures::bounds;
use crate::mesh::topology::Topology;

/// A point's nearest place on a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// Negative inside [m].
    pub distance: f64,
    /// Out of the body, unit length.
    pub normal: Vec3,
    /// Which triangle of a mesh; 0 for primitives.
    pub part: u32,
    /// The nearest point of the surface.
    pub place: Vec3,
}

impl Nearest {
    /// On a surface without parts.
    fn new(p: Vec3, distance: f64, normal: Vec3) -> Self {
        Nearest { distance, normal, part: 0, place: p - normal * distance }
    }
}

/// What is shorter has no direction [m].
pub const LEAST_LENGTH: f64 = 1e-12;

/// `v` at unit length, or `fallback` where it has no direction.
fn direction(v: Vec3, fallback: Vec3) -> Vec3 {
    let length = v.norm();
    if length > LEAST_LENGTH { v / length } else { fallback }
}

/// Everything below a plane is inside.
pub fn plane(p: Vec3, point: Vec3, normal: Vec3) -> Nearest {
    Nearest::new(p, (p - point).dot(&normal), normal)
}

/// A ball.
pub fn sphere(p: Vec3, center: Vec3, radius: f64) -> Nearest {
    Nearest::new(p, (p - center).norm() - radius, direction(p - center, Vec3::y()))
}

/// A ball swept along a segment.
pub fn capsule(p: Vec3, from: Vec3, to: Vec3, radius: f64) -> Nearest {
    let axis = to - from;
    let t = if axis.norm_squared() > 0.0 { (p - from).dot(&axis) / axis.norm_squared() } else { 0.0 };
    let arm = p - (from + axis * t.clamp(0.0, 1.0));
    Nearest::new(p, arm.norm() - radius, direction(arm, across(axis)))
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
        return Nearest::new(p, outside.norm(), normal);
    }
    let axis = excess.imax();
    let mut normal = Vec3::zeros();
    normal[axis] = sign[axis];
    Nearest::new(p, excess[axis], normal)
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
        return Nearest::new(p, distance, (end * beyond_end + radial * beyond_side) / distance);
    }
    if beyond_end > beyond_side { Nearest::new(p, beyond_end, end) } else { Nearest::new(p, beyond_side, radial) }
}

/// More than the rounding errors of distances between things some metres from the origin [m].
const ROUNDING: f64 = 1e-12;

/// Depth of what lies behind the faces of an open mesh, as a part of its bounding box's diagonal: a limb is thinner than the body is tall,
/// and farther away than that nobody knows what is inside.
const BEHIND_DEPTH: f64 = 0.1;

/// Which sides of a mesh push.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sides {
    /// The outside of a closed mesh, both sides of an open one.
    #[default]
    Auto,
    /// The side that the faces look to.
    One,
    /// Both: the mesh is a shell.
    Two,
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
    /// What lies behind the faces of an open mesh, down to some depth.
    Behind,
    /// Nothing: neighbouring faces are wound against each other, and the mesh is closed or is to have one side.
    Mixed,
    /// Nothing, although it may be closed: both sides are outside.
    Shell,
}

/// What does not change about a triangle mesh when its vertices move: who borders whom, and what it encloses.
#[derive(Clone, Debug)]
pub struct SurfaceShape {
    triangles: Vec<[u32; 3]>,
    triangle_edges: Vec<[u32; 3]>,
    edge_triangles: Rows<u32>,
    corner_triangles: Rows<u32>,
    inside: Inside,
    /// Vertices at the rim of an open mesh.
    is_rim: Vec<bool>,
    /// How far behind its faces an open mesh has an inside [m]; 0 where it has none.
    behind: f64,
}

impl SurfaceShape {
    /// From triangles that have area where the vertices are now.
    pub fn build(positions: &[Vec3], mut triangles: Vec<[u32; 3]>, sides: Sides) -> Self {
        let topology = Topology::build(&triangles);
        let inside = inside(positions, &triangles, &topology, sides);
        // Swapping two corners swaps two edges as well.
        let mut triangle_edges = topology.triangle_edges;
        if inside == Inside::InsideOut {
            triangles.iter_mut().for_each(|triangle| triangle.swap(1, 2));
            triangle_edges.iter_mut().for_each(|edges| edges.swap(1, 2));
        }
        let mut corner_triangles = vec![Vec::new(); positions.len()];
        for (triangle, corners) in triangles.iter().enumerate() {
            corners.iter().for_each(|&corner| corner_triangles[corner as usize].push(triangle as u32));
        }
        let mut is_rim = vec![false; positions.len()];
        for (edge, _) in topology.edges.iter().zip(&topology.edge_triangles).filter(|(_, meeting)| meeting.len() == 1) {
            edge.iter().for_each(|&v| is_rim[v as usize] = true);
        }
        let corners = triangles.iter().flatten().map(|&v| positions[v as usize]);
        let diagonal = bounds(corners).map_or(0.0, |(low, high)| (high - low).norm());
        SurfaceShape {
            is_rim,
            behind: if inside == Inside::Behind { BEHIND_DEPTH * diagonal } else { 0.0 },
            triangle_edges,
            edge_triangles: topology.edge_triangles.into_iter().collect(),
            corner_triangles: corner_triangles.into_iter().collect(),
            inside,
            triangles,
        }
    }

    /// What the mesh encloses.
    pub fn inside(&self) -> Inside {
        self.inside
    }

    /// Its triangles, wound outwards if it is a body.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// The triangles that meet at a vertex.
    pub fn around(&self, vertex: u32) -> &[u32] {
        self.corner_triangles.row(vertex as usize)
    }

    /// Of each triangle the edge opposite to each of its corners.
    pub fn triangle_edges(&self) -> &[[u32; 3]] {
        &self.triangle_edges
    }

    /// Of each edge the triangles that meet there.
    pub fn edge_triangles(&self) -> &Rows<u32> {
        &self.edge_triangles
    }

    /// Of each vertex whether it is at the rim of an open mesh.
    pub fn is_rim(&self) -> &[bool] {
        &self.is_rim
    }

    /// How far behind its faces an open mesh has an inside [m]; 0 where it has none.
    pub fn behind(&self) -> f64 {
        self.behind
    }

    /// Whether its inside goes to any depth.
    pub fn is_solid(&self) -> bool {
        matches!(self.inside, Inside::Solid | Inside::InsideOut)
    }

    /// The nearest place within `reach`, or at any depth inside a body, or within the depth that lies behind an open mesh. `bvh` is over the triangles that `numbers` names in
    /// ascending order, or over all of them. Equal distances are decided by the lower number. `guess` is a triangle that may
    /// well be the nearest: it changes the time that is taken, not the answer.
    pub fn nearest(
        &self,
        positions: &[Vec3],
        bvh: &Bvh,
        numbers: Option<&[u32]>,
        p: Vec3,
        reach: f64,
        guess: Option<u32>,
    ) -> Option<Nearest> {
        let is_solid = self.is_solid();
        let search = if is_solid && bvh.holds(p) { f64::INFINITY } else { reach.max(self.behind) };
        let mut best: Option<(f64, u32, Vec3, Feature)> = None;
        let mut visit = |triangle: u32| {
            let (q, feature) = closest_on_triangle(p, self.points(positions, triangle));
            let distance = (p - q).norm_squared();
            let nearer =
                best.is_none_or(|(least, number, ..)| distance < least || (distance == least && triangle < number));
            if distance <= search * search && nearer {
                best = Some((distance, triangle, q, feature));
            }
            // A little further, so that rounding does not decide between neighbours that are equally near.
            best.map_or(search * search, |(least, ..)| (least.sqrt() + ROUNDING).powi(2))
        };
        let within = guess.map_or(search * search, &mut visit);
        bvh.near(p, within, |place| visit(numbers.map_or(place, |numbers| numbers[place as usize])));
        let (distance_squared, triangle, q, feature) = best?;
        let feature_normal = self.feature_normal(positions, triangle, feature);
        let distance = distance_squared.sqrt();
        let may_be_inside = is_solid || distance <= self.behind && !self.is_at_rim(triangle, feature);
        let inside = may_be_inside && (p - q).dot(&feature_normal) < 0.0;
        let distance = if inside { -distance } else { distance };
        if distance > reach {
            return None;
        }
        let outwards = if inside { q - p } else { p - q };
        let normal = direction(outwards, direction(feature_normal, self.face_normal(positions, triangle)));
        Some(Nearest { distance, normal, part: triangle, place: q })
    }

    fn is_at_rim(&self, triangle: u32, feature: Feature) -> bool {
        match feature {
            Feature::Face => false,
            Feature::Edge(k) => {
                let edge = self.triangle_edges[triangle as usize][k as usize];
                self.edge_triangles.row(edge as usize).len() == 1
            }
            Feature::Corner(k) => self.is_rim[self.triangles[triangle as usize][k as usize] as usize],
        }
    }

    fn points(&self, positions: &[Vec3], triangle: u32) -> [Vec3; 3] {
        self.triangles[triangle as usize].map(|v| positions[v as usize])
    }

    fn face_normal(&self, positions: &[Vec3], triangle: u32) -> Vec3 {
        let [a, b, c] = self.points(positions, triangle);
        direction((b - a).cross(&(c - a)), Vec3::y())
    }

    fn feature_normal(&self, positions: &[Vec3], triangle: u32, feature: Feature) -> Vec3 {
        match feature {
            Feature::Face => self.face_normal(positions, triangle),
            Feature::Edge(k) => {
                let edge = self.triangle_edges[triangle as usize][k as usize];
                let meeting = self.edge_triangles.row(edge as usize);
                meeting.iter().map(|&t| self.face_normal(positions, t)).sum()
            }
            Feature::Corner(k) => {
                let corner = self.triangles[triangle as usize][k as usize];
                let weighted = |&t: &u32| {
                    let corners = self.triangles[t as usize];
                    let at = corners.iter().position(|&c| c == corner).unwrap_or_default();
                    let [p, q, r] = [0, 1, 2].map(|k| positions[corners[(at + k) % 3] as usize]);
                    self.face_normal(positions, t) * (q - p).angle(&(r - p))
                };
                self.around(corner).iter().map(weighted).sum()
            }
        }
    }
}

/// A triangle mesh that keeps its shape.
#[derive(Clone, Debug)]
pub struct MeshSurface {
    /// Who borders whom.
    pub shape: SurfaceShape,
    /// Vertices [m].
    pub positions: Vec<Vec3>,
    bvh: Bvh,
}

impl MeshSurface {
    /// From triangles that have area.
    pub fn build(positions: Vec<Vec3>, triangles: Vec<[u32; 3]>, sides: Sides) -> Self {
        let shape = SurfaceShape::build(&positions, triangles, sides);
        let bvh = Bvh::build(&positions, &shape.triangles);
        MeshSurface { shape, positions, bvh }
    }

    /// The boxes around its triangles.
    pub fn bvh(&self) -> &Bvh {
        &self.bvh
    }

    /// The nearest place within `reach`, or inside.
    pub fn nearest(&self, p: Vec3, reach: f64) -> Option<Nearest> {
        self.shape.nearest(&self.positions, &self.bvh, None, p, reach, None)
    }
}

fn inside(positions: &[Vec3], triangles: &[[u32; 3]], topology: &Topology, sides: Sides) -> Inside {
    let is_open = topology.edge_triangles.iter().any(|triangles| triangles.len() != 2);
    match sides {
        Sides::Two => return Inside::Shell,
        Sides::Auto if is_open => return Inside::Open,
        _ => {}
    }
    // Triangles that agree run along their common edge in opposite directions.
    let runs_up = |edge: usize, triangle: u32| {
        let corners = triangles[triangle as usize];
        let [low, high] = topology.edges[edge];
        (0..3).any(|k| corners[k] == low && corners[(k + 1) % 3] == high)
    };
    let agree = |(edge, meeting): (usize, &Vec<u32>)| match meeting.as_slice() {
        [one, other] => runs_up(edge, *one) != runs_up(edge, *other),
        _ => true,
    };
    if !topology.edge_triangles.iter().enumerate().all(agree) {
        return Inside::Mixed;
    }
    if is_open {
        return Inside::Behind;
    }
    // Six times the volume, from a point of the mesh so that far away meshes do not lose digits.
    let origin = positions[triangles[0][0] as usize];
    let volume = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| positions[v as usize] - origin);
        a.dot(&b.cross(&c))
    };
    if triangles.iter().map(volume).sum::<f64>() < 0.0 { Inside::InsideOut } else { Inside::Solid }
}
