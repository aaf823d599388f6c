//! A mesh of tetrahedra, five to a cell of a lattice.

use crate::math::Vec3;
use crate::math::sums::compensated_sum;

/// Tetrahedra of a cell.
pub const TETS_PER_CELL: usize = 5;

/// The faces of a tetrahedron, wound outwards when its volume is positive; face `k` of the list lies opposite to corner
/// `OPPOSITE[k]`.
const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// The two ends of each edge, and the two corners across from it.
const EDGES: [[usize; 4]; 6] = [[0, 1, 2, 3], [0, 2, 1, 3], [0, 3, 1, 2], [1, 2, 0, 3], [1, 3, 0, 2], [2, 3, 0, 1]];

/// Signed volume of a tetrahedron [m³]: a sixth of the determinant of the edges that leave its first corner.
pub fn tet_volume([a, b, c, d]: [Vec3; 4]) -> f64 {
    (b - a).dot(&(c - a).cross(&(d - a))) / 6.0
}

/// Tetrahedra that fill cells of a lattice.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TetMesh {
    /// Nodes [m].
    pub positions: Vec<Vec3>,
    /// Corners of the tetrahedra, in the order of positive volume.
    pub tets: Vec<[u32; 4]>,
    /// Corners of the cells, x fastest, then y, then z; cell `c` holds the tetrahedra `5 c` to `5 c + 4`.
    pub cells: Vec<[u32; 8]>,
    /// Edge of a cell before the surface was smoothed [m].
    pub cell_size: f64,
}

/// A face that belongs to one tetrahedron only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoundaryFace {
    /// Corners, wound outwards.
    pub corners: [u32; 3],
    /// Its tetrahedron.
    pub tet: u32,
}

/// How well-shaped the tetrahedra are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TetQuality {
    /// Smallest angle between two faces of a tetrahedron [degrees].
    pub smallest_angle: f64,
    /// Largest angle between two faces of a tetrahedron [degrees].
    pub largest_angle: f64,
    /// The worst tetrahedron.
    pub worst: u32,
    /// Three times its inscribed over its circumscribed radius: 1 is regular, 0 is flat, below 0 is inside out.
    pub worst_ratio: f64,
    /// Its volume [m³].
    pub worst_volume: f64,
}

impl TetMesh {
    /// Where the corners of a tetrahedron are.
    #[inline]
    pub fn points(&self, tet: usize) -> [Vec3; 4] {
        self.tets[tet].map(|node| self.positions[node as usize])
    }

    /// Signed volume of a tetrahedron [m³].
    #[inline]
    pub fn volume(&self, tet: usize) -> f64 {
        tet_volume(self.points(tet))
    }

    /// Volume of the five tetrahedra of a cell [m³].
    pub fn cell_volume(&self, cell: usize) -> f64 {
        (TETS_PER_CELL * cell..TETS_PER_CELL * (cell + 1)).map(|tet| self.volume(tet)).sum()
    }

    /// Volume of everything [m³].
    pub fn total_volume(&self) -> f64 {
        compensated_sum((0..self.tets.len()).map(|tet| self.volume(tet)))
    }

    /// The faces that belong to one tetrahedron only, by ascending tetrahedron.
    pub fn boundary(&self) -> Vec<BoundaryFace> {
        let mut faces: Vec<([u32; 3], BoundaryFace)> = Vec::with_capacity(4 * self.tets.len());
        for (tet, corners) in self.tets.iter().enumerate() {
            faces.extend(FACES.map(|face| {
                let corners = face.map(|k| corners[k]);
                let mut key = corners;
                key.sort_unstable();
                (key, BoundaryFace { corners, tet: tet as u32 })
            }));
        }
        faces.sort_unstable_by_key(|(key, face)| (*key, face.tet));
        let mut boundary: Vec<BoundaryFace> =
            faces.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() == 1).map(|same| same[0].1).collect();
        boundary.sort_unstable_by_key(|face| (face.tet, face.corners));
        boundary
    }

    /// The triangles of the surface, wound outwards.
    pub fn boundary_faces(&self) -> Vec<[u32; 3]> {
        self.boundary().into_iter().map(|face| face.corners).collect()
    }

    /// Every edge once, lower end first, ascending.
    pub fn edges(&self) -> Vec<[u32; 2]> {
        let of_tet =
            |corners: &[u32; 4]| EDGES.map(|[a, b, ..]| [corners[a].min(corners[b]), corners[a].max(corners[b])]);
        let mut edges: Vec<[u32; 2]> = self.tets.iter().flat_map(of_tet).collect();
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// Angles and the worst tetrahedron, the lowest among equals; `None` without any.
    pub fn quality(&self) -> Option<TetQuality> {
        let mut quality: Option<TetQuality> = None;
        for tet in 0..self.tets.len() {
            let points = self.points(tet);
            let (smallest, largest) = dihedral_angles(points);
            let ratio = radius_ratio(points);
            let found = quality.get_or_insert(TetQuality {
                smallest_angle: smallest,
                largest_angle: largest,
                worst: tet as u32,
                worst_ratio: ratio,
                worst_volume: tet_volume(points),
            });
            found.smallest_angle = found.smallest_angle.min(smallest);
            found.largest_angle = found.largest_angle.max(largest);
            if ratio < found.worst_ratio {
                (found.worst, found.worst_ratio, found.worst_volume) = (tet as u32, ratio, tet_volume(points));
            }
        }
        quality
    }
}

/// Smallest and largest angle between two faces of a tetrahedron [degrees].
pub fn dihedral_angles(points: [Vec3; 4]) -> (f64, f64) {
    let angle = |[a, b, c, d]: [usize; 4]| {
        let along = points[b] - points[a];
        let (one, other) = (along.cross(&(points[c] - points[a])), along.cross(&(points[d] - points[a])));
        one.cross(&other).norm().atan2(one.dot(&other)).to_degrees()
    };
    EDGES.map(angle).iter().fold((180.0_f64, 0.0_f64), |(low, high), &angle| (low.min(angle), high.max(angle)))
}

/// Three times the inscribed over the circumscribed radius, with the sign of the volume: 1 is regular, 0 is flat.
fn radius_ratio(points: [Vec3; 4]) -> f64 {
    let volume = tet_volume(points);
    let area = |[a, b, c]: [usize; 3]| 0.5 * (points[b] - points[a]).cross(&(points[c] - points[a])).norm();
    let surface: f64 = FACES.map(area).iter().sum();
    let [a, b, c] = [1, 2, 3].map(|k| points[k] - points[0]);
    let bulge = b.cross(&c) * a.norm_squared() + c.cross(&a) * b.norm_squared() + a.cross(&b) * c.norm_squared();
    // Inscribed: 3 V / surface; circumscribed: |bulge| / 12 |V|.
    let ratio = 108.0 * volume * volume.abs() / (surface * bulge.norm());
    if ratio.is_nan() { 0.0 } else { ratio }
}
