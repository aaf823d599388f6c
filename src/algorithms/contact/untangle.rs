//! Which way an edge has to move to leave a triangle that it pierces.
//!
//! Based on: Volino and Magnenat-Thalmann 2006, Resolving Surface Collisions through Intersection Contour Minimization
//! Idea:     where two surfaces cross, they share a contour. It needs no inside and no history to know that a shorter contour is less
//!           tangled: each edge that pierces a triangle is moved so that the contour through the point between them gets shorter.
//! Test:     tests/algorithms/untangle.rs

use crate::math::Vec3;

/// Below this cosine between an edge and a triangle's normal the edge lies in the plane and says nothing about a way out.
const ALONG: f64 = 1e-3;

/// Where an edge meets a triangle: its part of the way along the edge, and the weights of the corners.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piercing {
    /// From the first end.
    pub along: f64,
    /// They sum to one.
    pub corners: [f64; 3],
}

/// Where the line through an edge meets a triangle's plane; `None` if it runs along it.
pub fn piercing([p, q]: [Vec3; 2], [a, b, c]: [Vec3; 3]) -> Option<Piercing> {
    let normal = (b - a).cross(&(c - a));
    let (from, to) = ((p - a).dot(&normal), (q - a).dot(&normal));
    let doubled_area_squared = normal.norm_squared();
    if from == to || doubled_area_squared == 0.0 {
        return None;
    }
    let along = (from / (from - to)).clamp(0.0, 1.0);
    let at = p + (q - p) * along;
    let at_b = (at - a).cross(&(c - a)).dot(&normal) / doubled_area_squared;
    let at_c = (b - a).cross(&(at - a)).dot(&normal) / doubled_area_squared;
    Some(Piercing { along, corners: [1.0 - at_b - at_c, at_b, at_c] })
}

/// The direction in which the edge moves against the triangle so that their contour gets shorter fastest; unit length. `tips` are the corners of
/// the edge's own triangles opposite to it. `None` where the contour is straight, so that nothing is gained.
pub fn shorten_contour([p, q]: [Vec3; 2], tips: &[Vec3], [a, b, c]: [Vec3; 3]) -> Option<Vec3> {
    let normal = (b - a).cross(&(c - a)).try_normalize(0.0)?;
    let edge = (q - p).try_normalize(0.0)?;
    let rise = edge.dot(&normal);
    let mut gradient = Vec3::zeros();
    for tip in tips {
        // The contour in this triangle: along both planes, and away from the edge into the triangle.
        let inwards = (tip - p) - edge * (tip - p).dot(&edge);
        let along = normal.cross(&edge.cross(&inwards)).try_normalize(0.0)?;
        let along = if along.dot(&inwards) < 0.0 { -along } else { along };
        gradient += along;
        if rise.abs() > ALONG {
            gradient -= normal * (2.0 * edge.dot(&along) / rise);
        }
    }
    gradient.try_normalize(1e-9)
}
