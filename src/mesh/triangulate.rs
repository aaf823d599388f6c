//! Polygons into triangles, without new vertices.
//!
//! Idea: cut ears in the polygon's mean plane (Newell's normal), the best-shaped ear first, so that quads split along
//! the diagonal that gives the rounder triangles and concave polygons come out right.

use crate::math::Vec3;

/// Area-weighted normal of a polygon, twice its area long (Newell).
fn newell_normal(points: &[Vec3]) -> Vec3 {
    let mut normal = Vec3::zeros();
    for (i, p) in points.iter().enumerate() {
        let q = points[(i + 1) % points.len()];
        normal += (p - points[0]).cross(&(q - points[0]));
    }
    normal
}

/// Corner numbers (0 to n - 1) of the triangles of one polygon: always n - 2 of them.
pub fn triangulate(points: &[Vec3]) -> Vec<[usize; 3]> {
    let mut left: Vec<usize> = (0..points.len()).collect();
    let mut triangles = Vec::with_capacity(points.len().saturating_sub(2));
    if points.len() > 3 {
        let normal = newell_normal(points);
        while left.len() > 3 {
            let ear = best_ear(points, &left, normal);
            let n = left.len();
            triangles.push([left[(ear + n - 1) % n], left[ear], left[(ear + 1) % n]]);
            left.remove(ear);
        }
    }
    if let [a, b, c] = left[..] {
        triangles.push([a, b, c]);
    }
    triangles
}

/// The ear whose two remaining pieces are least thin. Degenerate polygons have none: then the flattest corner is taken, and
/// the flat triangles are dropped (and reported) later. Corners may share a place (a hole joined to the rim by a bridge).
fn best_ear(points: &[Vec3], left: &[usize], normal: Vec3) -> usize {
    let n = left.len();
    let mut best = (f64::NEG_INFINITY, 0);
    let mut flattest = (f64::INFINITY, 0);
    for i in 0..n {
        let corner = |k: usize| points[left[(i + k) % n]];
        let [a, b, c] = [corner(n - 1), corner(0), corner(1)];
        let doubled_area = (b - a).cross(&(c - a)).dot(&normal);
        let inside = |p: Vec3| {
            [(a, b), (b, c), (c, a)].iter().all(|(from, to)| (to - from).cross(&(p - from)).dot(&normal) >= 0.0)
        };
        if doubled_area.abs() < flattest.0 {
            flattest = (doubled_area.abs(), i);
        }
        // At a corner that has the ear's own place, the polygon may pass outside the ear, but not through it.
        let enters = |q: Vec3| (b - a).cross(&(q - a)).dot(&normal) > 0.0 && (c - b).cross(&(q - b)).dot(&normal) > 0.0;
        let in_the_way = |k: usize| match corner(k) {
            p if p == b => enters(corner(k - 1)) || enters(corner(k + 1)),
            p => p != a && p != c && inside(p),
        };
        if doubled_area <= 0.0 || (2..n - 1).any(in_the_way) {
            continue;
        }
        // In a quad the other triangle counts as much as the ear itself.
        let mut roundness = shape(a, b, c);
        if n == 4 {
            roundness = roundness.min(shape(a, c, corner(2)));
        }
        if roundness > best.0 {
            best = (roundness, i);
        }
    }
    if best.0 > f64::NEG_INFINITY { best.1 } else { flattest.1 }
}

/// Area over squared edge lengths: largest for the equilateral triangle.
fn shape(a: Vec3, b: Vec3, c: Vec3) -> f64 {
    let edges = (b - a).norm_squared() + (c - b).norm_squared() + (a - c).norm_squared();
    if edges > 0.0 { (b - a).cross(&(c - a)).norm() / edges } else { 0.0 }
}
