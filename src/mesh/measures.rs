//! Lengths, areas and how much a mesh has stretched.

use crate::math::Vec3;

/// Area of a triangle [m²].
pub fn triangle_area(corners: [Vec3; 3]) -> f64 {
    0.5 * (corners[1] - corners[0]).cross(&(corners[2] - corners[0])).norm()
}

/// Edge stretch of a mesh against its rest lengths.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EdgeStretch {
    /// The largest `l / l0 - 1`, at least 0.
    pub max: f64,
    /// 99 of 100 edges are at or below this.
    pub p99: f64,
}

/// How far the edges are longer than at rest; infinite where a position is not a number. `scratch` gets one entry an edge.
pub fn edge_stretch(edges: &[[u32; 2]], rest: &[f64], positions: &[Vec3], scratch: &mut Vec<f64>) -> EdgeStretch {
    let stretch = |(&[a, b], rest): (&[u32; 2], &f64)| {
        let stretch = (positions[b as usize] - positions[a as usize]).norm() / rest - 1.0;
        // What is not a number must not pass for unstretched.
        if stretch.is_nan() { f64::INFINITY } else { stretch.max(0.0) }
    };
    scratch.clear();
    scratch.extend(edges.iter().zip(rest).map(stretch));
    if scratch.is_empty() {
        return EdgeStretch::default();
    }
    let rank = (scratch.len() * 99).div_ceil(100) - 1;
    let (_, p99, above) = scratch.select_nth_unstable_by(rank, f64::total_cmp);
    let p99 = *p99;
    EdgeStretch { max: above.iter().copied().fold(p99, f64::max), p99 }
}

/// Corners of the box around some points; `None` without points.
pub fn bounds(points: impl IntoIterator<Item = Vec3>) -> Option<(Vec3, Vec3)> {
    points.into_iter().fold(None, |bounds, p| match bounds {
        None => Some((p, p)),
        Some((low, high)) => Some((low.inf(&p), high.sup(&p))),
    })
}
