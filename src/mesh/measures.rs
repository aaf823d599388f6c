//! Lengths, areas and how much a mesh has stretched.

use crate::math::Vec3;

/// Area of a triangle [m²].
pub fn triangle_area(corners: [Vec3; 3]) -> f64 {
    0.5 * (corners[1] - corners[0]).cross(&(corners[2] - corners[0])).norm()
}

/// Edge stretch and compression of a mesh against its rest lengths.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EdgeStretch {
    /// The largest `l / l0 - 1`, at least 0.
    pub max: f64,
    /// 99 of 100 edges are at or below this.
    pub p99: f64,
    /// The largest `1 - l / l0`, at least 0.
    pub compression: f64,
}

/// How far the edges are longer and shorter than at rest; infinite where a position is not a number. `scratch` gets one entry
/// an edge.
pub fn edge_stretch(edges: &[[u32; 2]], rest: &[f64], positions: &[Vec3], scratch: &mut Vec<f64>) -> EdgeStretch {
    let mut compression = 0.0_f64;
    scratch.clear();
    scratch.extend(edges.iter().zip(rest).map(|(edge, rest)| {
        let stretch = stretch(*edge, *rest, positions);
        compression = compression.max(if stretch == f64::INFINITY { stretch } else { -stretch });
        stretch.max(0.0)
    }));
    if scratch.is_empty() {
        return EdgeStretch::default();
    }
    let rank = (scratch.len() * 99).div_ceil(100) - 1;
    let (_, p99, above) = scratch.select_nth_unstable_by(rank, f64::total_cmp);
    let p99 = *p99;
    EdgeStretch { max: above.iter().copied().fold(p99, f64::max), p99, compression }
}

/// By how much the worst edge is beyond its own limit: the largest `l / l0 - 1 - limit`; negative where all are within, and
/// infinitely so without edges.
pub fn edge_excess(edges: &[[u32; 2]], rest: &[f64], limits: &[f64], positions: &[Vec3]) -> f64 {
    let excess = |((edge, rest), limit): ((&[u32; 2], &f64), &f64)| stretch(*edge, *rest, positions) - limit;
    edges.iter().zip(rest).zip(limits).map(excess).fold(f64::NEG_INFINITY, f64::max)
}

/// `l / l0 - 1`; what is not a number must not pass for unstretched.
fn stretch([a, b]: [u32; 2], rest: f64, positions: &[Vec3]) -> f64 {
    let stretch = (positions[b as usize] - positions[a as usize]).norm() / rest - 1.0;
    if stretch.is_nan() { f64::INFINITY } else { stretch }
}

/// Corners of the box around some points; `None` without points.
pub fn bounds(points: impl IntoIterator<Item = Vec3>) -> Option<(Vec3, Vec3)> {
    points.into_iter().fold(None, |bounds, p| match bounds {
        None => Some((p, p)),
        Some((low, high)) => Some((low.inf(&p), high.sup(&p))),
    })
}
