//! A fine mesh that follows a coarse surface.
//!
//! Based on: [Bender14] 4.4.2.4, projection along the normal field. Idea: a vertex `p` belongs to the point `q` of the surface from whose
//! interpolated normal `n` it is straight ahead, `(p - q) × n = 0`, at a signed distance `d`; when the surface moves,
//! `p = q + d n`. The normal field has no jumps between triangles, so the fine mesh has none either.
//!
//! The equation is solved by Newton's method for `q + h n = p` in two barycentric coordinates and `h`; the length of `n`
//! does not matter there. In motion `n` is made a unit vector: else the distance would shrink in the middle of a triangle
//! whose corners lean apart.
//!
//! Triangles are flat, and a fine mesh would show it. So distances are measured from a rounded surface: at `q` it stands above
//! the triangle by `½ Σ bᵢ ((pᵢ - q)·nᵢ)(nᵢ·n)` (after Boubekeur and Alexa, Phong tessellation, 2008; with ½ a circle is met to
//! second order). It passes through the vertices, has no jumps at edges either, and drops out at rest and under rigid motion.
//!
//! A vertex that no normal reaches (beyond a border, in a sharp fold) keeps its offset from the nearest point in a frame made of
//! the normal there and the triangle's first edge: exact at rest and under rigid motion, and the distance stays.

use crate::math::Vec3;
use crate::mesh::bvh::Bvh;
use crate::mesh::closest::closest_on_triangle;
use crate::mesh::measures::bounds;
use crate::mesh::normals::vertex_normals;

/// A solution may be this far outside of its triangle, in barycentric coordinates: on an edge, rounding decides.
const EDGE: f64 = 1e-9;
/// Along its normal a vertex may be this much farther than the nearest point; beyond, the normals meet behind the vertex.
const REACH: f64 = 1.5;
/// Most triangles that are tried for a vertex. Only vertices much farther away than an edge length have more candidates.
const MAX_TRIES: usize = 64;
const MAX_NEWTON_STEPS: usize = 16;
/// Normals of neighbours that cancel out leave no direction.
const SHORTEST_NORMAL: f64 = 1e-6;

/// A triangle mesh at some moment, with its vertex normals.
#[derive(Clone, Debug, Default)]
pub struct Surface {
    /// Vertices [m].
    pub positions: Vec<Vec3>,
    /// Corners into `positions`.
    pub triangles: Vec<[u32; 3]>,
    normals: Vec<Vec3>,
}

/// A point of the surface.
struct Foot {
    origin: Vec3,
    /// Unit length.
    normal: Vec3,
    /// How far the rounded surface is above the triangle, along the normal [m].
    rise: f64,
}

impl Surface {
    /// With normals for these positions.
    pub fn new(positions: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Self {
        let mut surface = Surface { positions, triangles, normals: Vec::new() };
        surface.update_normals();
        surface
    }

    /// To be called when positions have changed.
    pub fn update_normals(&mut self) {
        vertex_normals(&self.positions, &self.triangles, &mut self.normals);
    }

    fn corners(&self, triangle: u32) -> [Vec3; 3] {
        self.triangles[triangle as usize].map(|v| self.positions[v as usize])
    }

    /// Corner, and the two edges from there.
    fn edges(&self, triangle: u32) -> [Vec3; 3] {
        let [a, b, c] = self.corners(triangle);
        [a, b - a, c - a]
    }

    fn foot(&self, triangle: u32, [u, v]: [f64; 2]) -> Foot {
        let corners = self.corners(triangle);
        let normals = self.triangles[triangle as usize].map(|v| self.normals[v as usize]);
        let weights = [1.0 - u - v, u, v];
        let sum = |vectors: &[Vec3; 3]| vectors[0] * weights[0] + vectors[1] * weights[1] + vectors[2] * weights[2];
        let origin = corners[0] + (corners[1] - corners[0]) * u + (corners[2] - corners[0]) * v;
        let flat = || {
            let across = (corners[1] - corners[0]).cross(&(corners[2] - corners[0]));
            across.try_normalize(f64::MIN_POSITIVE).unwrap_or_else(Vec3::y)
        };
        let normal = sum(&normals).try_normalize(SHORTEST_NORMAL).unwrap_or_else(flat);
        let above = |k: usize| weights[k] * (corners[k] - origin).dot(&normals[k]) * normals[k].dot(&normal);
        Foot { origin, normal, rise: 0.5 * (above(0) + above(1) + above(2)) }
    }

    /// The two directions across a normal, by the triangle's first edge.
    fn across(&self, triangle: u32, normal: Vec3) -> [Vec3; 2] {
        let [_, e1, e2] = self.edges(triangle);
        let across = |edge: Vec3| (edge - normal * edge.dot(&normal)).try_normalize(f64::MIN_POSITIVE);
        let tangent = across(e1).or_else(|| across(e2)).unwrap_or_else(Vec3::x);
        [tangent, normal.cross(&tangent)]
    }
}

/// Where a vertex of the fine mesh is, in terms of the surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    triangle: u32,
    /// Barycentric coordinates of the second and third corner.
    weights: [f64; 2],
    /// Along tangent, side and normal, from the rounded surface; only along the normal if one reaches the vertex [m].
    offset: [f64; 3],
    /// Whether no normal of the surface reaches the vertex.
    pub is_outside: bool,
    /// How far the vertex is from the surface at rest [m].
    pub distance: f64,
}

impl Bound {
    /// Where the vertex is when the surface is there.
    pub fn place(&self, surface: &Surface) -> Vec3 {
        let [along, aside, above] = self.offset;
        let Foot { origin, normal, rise } = surface.foot(self.triangle, self.weights);
        let ahead = origin + normal * (above + rise);
        if !self.is_outside {
            return ahead;
        }
        let [tangent, side] = surface.across(self.triangle, normal);
        ahead + tangent * along + side * aside
    }
}

/// Ties vertices to a surface at rest.
pub struct Binder<'a> {
    surface: &'a Surface,
    bvh: Bvh,
    /// Less than this is nothing [m].
    tiny: f64,
}

impl<'a> Binder<'a> {
    /// For a surface with at least one triangle.
    pub fn new(surface: &'a Surface) -> Self {
        let extent = bounds(surface.positions.iter().copied()).map_or(0.0, |(low, high)| (high - low).norm());
        Binder { surface, bvh: Bvh::build(&surface.positions, &surface.triangles), tiny: 1e-9 * extent }
    }

    /// Ties one vertex.
    pub fn bind(&self, p: Vec3) -> Bound {
        let mut nearest = (f64::INFINITY, 0, Vec3::zeros());
        self.bvh.near(p, f64::INFINITY, |triangle| {
            let point = closest_on_triangle(p, self.surface.corners(triangle)).0;
            let distance = (p - point).norm_squared();
            if (distance, triangle) < (nearest.0, nearest.1) {
                nearest = (distance, triangle, point);
            }
            nearest.0
        });
        let distance = nearest.0.sqrt();
        let mut best: Option<(f64, Bound)> = None;
        let mut reach = REACH * distance + self.tiny;
        let mut tries = 0;
        self.bvh.near(p, reach * reach, |triangle| {
            tries += 1;
            if tries > MAX_TRIES {
                return -1.0; // nothing is that near
            }
            if let Some((weights, above)) = self.straight_ahead(p, triangle)
                && above.abs() <= reach
                && best.as_ref().is_none_or(|(least, bound)| (above.abs(), triangle) < (*least, bound.triangle))
            {
                reach = above.abs();
                let offset = [0.0, 0.0, above - self.surface.foot(triangle, weights).rise];
                best = Some((reach, Bound { triangle, weights, offset, is_outside: false, distance }));
            }
            reach * reach
        });
        best.map_or_else(|| self.beside(p, nearest.1, nearest.2, distance), |(_, bound)| bound)
    }

    /// The point of a triangle from whose normal `p` is straight ahead, and the distance along it.
    fn straight_ahead(&self, p: Vec3, triangle: u32) -> Option<([f64; 2], f64)> {
        let [a, e1, e2] = self.surface.edges(triangle);
        let [n0, n1, n2] = self.surface.triangles[triangle as usize].map(|v| self.surface.normals[v as usize]);
        let (m1, m2) = (n1 - n0, n2 - n0);
        let (mut u, mut v, mut h) = (1.0 / 3.0, 1.0 / 3.0, 0.0);
        for _ in 0..MAX_NEWTON_STEPS {
            let n = n0 + m1 * u + m2 * v;
            let rest = p - (a + e1 * u + e2 * v + n * h);
            let (c1, c2) = (e1 + m1 * h, e2 + m2 * h);
            let (c2_n, n_c1, c1_c2) = (c2.cross(&n), n.cross(&c1), c1.cross(&c2));
            let determinant = c1.dot(&c2_n);
            if determinant.abs() <= f64::MIN_POSITIVE {
                return None;
            }
            let [du, dv, dh] = [c2_n, n_c1, c1_c2].map(|column| rest.dot(&column) / determinant);
            (u, v, h) = (u + du, v + dv, h + dh);
            // Far outside there is nothing to find, and the normals there mean nothing.
            let outside = -u.min(v).min(1.0 - u - v);
            if outside > 2.0 || outside.is_nan() {
                return None;
            }
            if du.abs().max(dv.abs()) < 1e-14 && dh.abs() <= 1e-6 * self.tiny {
                break;
            }
        }
        let n = n0 + m1 * u + m2 * v;
        let missed = (p - (a + e1 * u + e2 * v + n * h)).norm();
        let is_inside = u >= -EDGE && v >= -EDGE && u + v <= 1.0 + EDGE;
        (is_inside && missed <= 1e-3 * self.tiny && n.norm() > SHORTEST_NORMAL).then(|| ([u, v], h * n.norm()))
    }

    /// Ties a vertex to its nearest point.
    fn beside(&self, p: Vec3, triangle: u32, nearest: Vec3, distance: f64) -> Bound {
        let [a, e1, e2] = self.surface.edges(triangle);
        let to = nearest - a;
        let (e11, e12, e22) = (e1.norm_squared(), e1.dot(&e2), e2.norm_squared());
        let determinant = e11 * e22 - e12 * e12;
        let (t1, t2) = (to.dot(&e1), to.dot(&e2));
        let weights = if determinant > 0.0 {
            [(e22 * t1 - e12 * t2) / determinant, (e11 * t2 - e12 * t1) / determinant]
        } else {
            [0.0; 2]
        };
        let Foot { origin, normal, rise } = self.surface.foot(triangle, weights);
        let [tangent, side] = self.surface.across(triangle, normal);
        let away = p - origin;
        let offset = [away.dot(&tangent), away.dot(&side), away.dot(&normal) - rise];
        Bound { triangle, weights, offset, is_outside: true, distance }
    }
}
