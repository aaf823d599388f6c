//! How near two parts of cloth are: a vertex and a triangle, or two edges.
//!
//! Based on: Ericson, Real-Time Collision Detection (2005), section 5.1 (closest points of segments and triangles)
//! Idea:     both are pairs of convex hulls; the closest points are weighted means of four points, and whatever is
//!           returned lies on both parts, so that rounding can only make a distance too large, and that by a few units
//!           of the last place.
//! Deviates: the ill-conditioned coordinate comes from cross products, whose errors grow with 1 / angle and not with 1
//!           / angle², and the other one is then the best for it. What error is left slides the closest points along
//!           needles and almost parallel edges, where it does not change their distance. Parallel edges that run beside
//!           each other meet in the middle of the overlap, whichever way round they are given.
//! Twin:     proximity.wgsl      Test: tests/algorithms/proximity.rs

use crate::math::Vec3;

/// Which two parts the four points of a pair are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairing {
    /// The first point against the triangle of the other three.
    VertexTriangle,
    /// The edge of the first two points against the edge of the last two.
    EdgeEdge,
}

impl Pairing {
    /// How many of the four points are on the first side.
    #[inline]
    pub fn split(self) -> usize {
        match self {
            Pairing::VertexTriangle => 1,
            Pairing::EdgeEdge => 2,
        }
    }
}

/// The closest points of two parts. Lengths of parts and gaps between 1e-75 and 1e75 m are resolved to rounding; beyond
/// that the points still lie on their parts and all numbers are finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proximity {
    /// Between the closest points, never negative [m].
    pub distance: f64,
    /// From the second part to the first, unit length. Where the parts touch: across both of them, as far as they have
    /// a direction.
    pub normal: Vec3,
    /// `Σ weights[i] * x[i]` is `normal * distance`. Those of the first part sum to 1, those of the second to -1, and
    /// none has the sign of the other part.
    pub weights: [f64; 4],
}

/// Squared sine of the angle below which edges count as parallel and triangles as flat: there, the closest points may
/// be taken anywhere along the parts, and the distance does not show it.
const PARALLEL: f64 = 1e-28;

/// Either pairing.
#[inline]
pub fn proximity(pairing: Pairing, x: &[Vec3; 4]) -> Proximity {
    match pairing {
        Pairing::VertexTriangle => vertex_triangle(x),
        Pairing::EdgeEdge => edge_edge(x),
    }
}

/// The vertex `x[0]` against the triangle of the others. The weights are 1 and, for the triangle, three that sum to -1.
/// A vertex in the triangle has its normal, right-handed with the order of the corners.
#[inline]
pub fn vertex_triangle(x: &[Vec3; 4]) -> Proximity {
    let (difference, weights) = closest_vertex_triangle(x);
    finish(difference, weights, x[2] - x[1], x[3] - x[1], x[3] - x[2])
}

/// The edge `x[0]`-`x[1]` against the edge `x[2]`-`x[3]`. The weights are `1 - s`, `s`, `t - 1` and `-t`. Edges that
/// cross have the cross product of their directions as normal.
#[inline]
pub fn edge_edge(x: &[Vec3; 4]) -> Proximity {
    let (difference, weights) = closest_edge_edge(x);
    finish(difference, weights, x[1] - x[0], x[3] - x[2], Vec3::zeros())
}

/// The square of the distance of a vertex from a triangle [m²].
#[inline]
pub fn distance_squared_vertex_triangle(x: &[Vec3; 4]) -> f64 {
    closest_vertex_triangle(x).0.norm_squared()
}

/// The square of the distance between two edges [m²].
#[inline]
pub fn distance_squared_edge_edge(x: &[Vec3; 4]) -> f64 {
    closest_edge_edge(x).0.norm_squared()
}

/// 0 to 1; 0 for what is no number. Plain comparisons compile to two instructions.
#[inline(always)]
fn unit_interval(x: f64) -> f64 {
    let x = if x > 0.0 { x } else { 0.0 };
    if x < 1.0 { x } else { 1.0 }
}

/// Squared height over base of triangles that may stand on any edge.
pub const STOUT: f64 = 1e-2;

/// From the triangle's closest point to the vertex, and the weights.
#[inline]
fn closest_vertex_triangle(x: &[Vec3; 4]) -> (Vec3, [f64; 4]) {
    let (ab, bc, ca) = (x[2] - x[1], x[3] - x[2], x[1] - x[3]);
    let (to_a, to_b, to_c) = (x[0] - x[1], x[0] - x[2], x[0] - x[3]);
    let (ab_squared, bc_squared, ca_squared) = (ab.norm_squared(), bc.norm_squared(), ca.norm_squared());
    let normal = ca.cross(&ab);
    let area = normal.norm_squared();

    let is_stout = area > STOUT * bc_squared * bc_squared
        && area > STOUT * ab_squared * ab_squared
        && area > STOUT * ca_squared * ca_squared;
    let on_face = if is_stout {
        foot_on_face(ab, -ca, to_a, normal, area, ab_squared)
    } else {
        foot_on_thin_face([ab, bc, ca], [to_a, to_b, to_c], [ab_squared, bc_squared, ca_squared])
    };
    if let Some((difference, [of_a, of_b, of_c])) = on_face {
        return (difference, [1.0, -of_a, -of_b, -of_c]);
    }

    // Else it is on one of the edges.
    let along_ab = unit_interval(to_a.dot(&ab) / ab_squared);
    let along_bc = unit_interval(to_b.dot(&bc) / bc_squared);
    let along_ca = unit_interval(to_c.dot(&ca) / ca_squared);
    let (from_ab, from_bc, from_ca) = (to_a - ab * along_ab, to_b - bc * along_bc, to_c - ca * along_ca);
    let (ab_far, bc_far, ca_far) = (from_ab.norm_squared(), from_bc.norm_squared(), from_ca.norm_squared());
    if bc_far < ab_far && bc_far <= ca_far {
        (from_bc, [1.0, 0.0, along_bc - 1.0, -along_bc])
    } else if ca_far < ab_far {
        (from_ca, [1.0, -along_ca, 0.0, along_ca - 1.0])
    } else {
        (from_ab, [1.0, along_ab - 1.0, -along_ab, 0.0])
    }
}

/// From the foot of the perpendicular to the vertex, and the weights of the corners, if the foot is inside. How far it
/// is from the base `ab` is found by cross products; how far along it by the projection, which makes up for the errors
/// of the former.
#[inline(always)]
fn foot_on_face(
    ab: Vec3,
    ac: Vec3,
    to_a: Vec3,
    normal: Vec3,
    normal_squared: f64,
    ab_squared: f64,
) -> Option<(Vec3, [f64; 3])> {
    let of_c = ab.cross(&to_a).dot(&normal) / normal_squared;
    let beside = to_a - ac * of_c;
    let of_b = beside.dot(&ab) / ab_squared;
    let of_a = 1.0 - of_b - of_c;
    (of_a > 0.0 && of_b > 0.0 && of_c > 0.0).then(|| (beside - ab * of_b, [of_a, of_b, of_c]))
}

/// The same for a triangle that must stand on its longest edge to be told well; `None` as well if it is flat.
#[cold]
fn foot_on_thin_face(edges: [Vec3; 3], arms: [Vec3; 3], squares: [f64; 3]) -> Option<(Vec3, [f64; 3])> {
    let longer = if squares[1] > squares[0] { 1 } else { 0 };
    let a = if squares[2] > squares[longer] { 2 } else { longer };
    let c = (a + 2) % 3;
    let (ab, ac) = (edges[a], -edges[c]);
    let normal = ab.cross(&ac);
    let normal_squared = normal.norm_squared();
    if normal_squared <= PARALLEL * squares[a] * squares[c] {
        return None;
    }
    let (difference, mut weights) = foot_on_face(ab, ac, arms[a], normal, normal_squared, squares[a])?;
    weights.rotate_right(a);
    Some((difference, weights))
}

/// From the second edge's closest point to the first edge's, and the weights.
#[inline]
fn closest_edge_edge(x: &[Vec3; 4]) -> (Vec3, [f64; 4]) {
    let (first, second, between) = (x[1] - x[0], x[3] - x[2], x[0] - x[2]);
    let (first_squared, second_squared) = (first.norm_squared(), second.norm_squared());
    let (mixed, first_between, second_between) = (first.dot(&second), first.dot(&between), second.dot(&between));
    let on_first = |t: f64| unit_interval((t * mixed - first_between) / first_squared);
    let on_second = |s: f64| unit_interval((s * mixed + second_between) / second_squared);

    let across = first.cross(&second);
    let across_squared = across.norm_squared();
    let s = if across_squared > PARALLEL * first_squared * second_squared {
        unit_interval(second.cross(&between).dot(&across) / across_squared)
    } else {
        0.5 * (on_first(0.0) + on_first(1.0))
    };
    // The best on the second edge for it, and then on the first: exact if an end was met, no change else.
    let t = on_second(s);
    let s = on_first(t);
    (between + first * s - second * t, [1.0 - s, s, t - 1.0, -t])
}

/// Distance and direction of a difference. Where it has none, across `u` and `v`, or else across the longest of all
/// three.
#[inline(always)]
fn finish(difference: Vec3, weights: [f64; 4], u: Vec3, v: Vec3, w: Vec3) -> Proximity {
    let squared = difference.norm_squared();
    if squared > 1e-280 && squared < f64::MAX {
        let distance = squared.sqrt();
        return Proximity { distance, normal: difference * (1.0 / distance), weights };
    }
    finish_extreme(difference, weights, [u, v, w])
}

/// The same for differences whose squares are too small or too large.
#[cold]
fn finish_extreme(difference: Vec3, weights: [f64; 4], [u, v, w]: [Vec3; 3]) -> Proximity {
    if let Some((length, normal)) = length_and_direction(difference) {
        return Proximity { distance: length, normal, weights };
    }
    let directions = [u, v, w].map(|v| length_and_direction(v).unwrap_or((0.0, Vec3::zeros())));
    let across = directions[0].1.cross(&directions[1].1);
    let longest = directions.iter().fold((0.0, Vec3::zeros()), |best, next| if next.0 > best.0 { *next } else { best });
    let normal = length_and_direction(across)
        .filter(|(sine, _)| sine * sine > PARALLEL)
        .or_else(|| length_and_direction(longest.1.cross(&thinnest_axis(longest.1))))
        .map_or(Vec3::y(), |(_, direction)| direction);
    let is_finite = difference.iter().all(|x| x.is_finite());
    Proximity { distance: if is_finite { 0.0 } else { f64::MAX }, normal, weights }
}

/// Without overflow; `None` below 1e-300 and for what is not finite.
fn length_and_direction(v: Vec3) -> Option<(f64, Vec3)> {
    let size = v.amax();
    if !v.iter().all(|x| x.is_finite()) || size < 1e-300 {
        return None;
    }
    let scaled = v / size;
    let length = scaled.norm();
    Some(((size * length).min(f64::MAX), scaled / length))
}

/// The axis along which a vector is shortest.
fn thinnest_axis(v: Vec3) -> Vec3 {
    let mut axis = Vec3::zeros();
    axis[v.iamin()] = 1.0;
    axis
}
