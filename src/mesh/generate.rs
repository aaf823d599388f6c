//! Meshes made by rule, for presets, tests and first tries.

use super::surface::{Corner, PolyMesh};
use crate::math::Vec3;

/// A mesh of faces with N corners each that has one UV a vertex.
fn from_faces<const N: usize>(name: &str, positions: Vec<Vec3>, uvs: Vec<[f64; 2]>, faces: &[[u32; N]]) -> PolyMesh {
    let corners =
        faces.iter().flatten().map(|&v| Corner { position: v, uv: Some(v), normal: None }).collect::<Vec<_>>();
    let face_starts = (0..=faces.len() as u32).map(|face| N as u32 * face).collect();
    PolyMesh { name: name.to_owned(), positions, uvs, corners, face_starts, ..PolyMesh::default() }
}

/// A flat rectangle in the xz-plane around the origin, seen from above counter-clockwise, its diagonals alternating like a
/// chessboard. Vertices run along x first.
pub fn sheet(vertices: [u32; 2], size: [f64; 2]) -> PolyMesh {
    let (positions, uvs) = lattice(vertices, size);
    let mut triangles = Vec::new();
    for (i, j, corners) in cells(vertices) {
        triangles.extend(halves(i, j, corners));
    }
    from_faces("sheet", positions, uvs, &triangles)
}

/// The same with four corners a face.
pub fn quad_sheet(vertices: [u32; 2], size: [f64; 2]) -> PolyMesh {
    let (positions, uvs) = lattice(vertices, size);
    let quads: Vec<[u32; 4]> = cells(vertices).map(|(_, _, [a, b, c, d])| [a, c, d, b]).collect();
    from_faces("sheet", positions, uvs, &quads)
}

/// The cells of a lattice: column, row, and corners, two of one row before two of the next.
fn cells([columns, rows]: [u32; 2]) -> impl Iterator<Item = (u32, u32, [u32; 4])> {
    (0..rows - 1).flat_map(move |j| {
        (0..columns - 1).map(move |i| {
            let a = j * columns + i;
            (i, j, [a, a + 1, a + columns, a + columns + 1])
        })
    })
}

/// The triangles of a cell, so that the diagonals of a lattice alternate like a chessboard.
fn halves(column: u32, row: u32, [a, b, c, d]: [u32; 4]) -> [[u32; 3]; 2] {
    if (column + row).is_multiple_of(2) { [[a, c, d], [a, d, b]] } else { [[a, c, b], [b, c, d]] }
}

/// Vertices of a flat rectangle and their UVs.
fn lattice([columns, rows]: [u32; 2], size: [f64; 2]) -> (Vec<Vec3>, Vec<[f64; 2]>) {
    let mut positions = Vec::new();
    let mut uvs = Vec::new();
    for j in 0..rows {
        for i in 0..columns {
            let (u, v) = (f64::from(i) / f64::from(columns - 1), f64::from(j) / f64::from(rows - 1));
            positions.push(Vec3::new((u - 0.5) * size[0], 0.0, (v - 0.5) * size[1]));
            uvs.push([u, 1.0 - v]);
        }
    }
    (positions, uvs)
}

/// A flat disc in the xz-plane around the origin: a middle vertex and rings that grow outwards, `inner` vertices in all
/// inside the rim (2 or 3 make no ring: then it is the middle one alone). No triangle has two rim edges.
pub fn disc(radius: f64, inner: u32, rim: u32) -> PolyMesh {
    let ring_sizes = ring_sizes(inner, rim);
    let ring_count = ring_sizes.len() as f64;
    let mut positions = vec![Vec3::zeros()];
    for (ring, &count) in ring_sizes.iter().enumerate() {
        let r = radius * (ring as f64 + 1.0) / ring_count;
        for k in 0..count {
            let angle = std::f64::consts::TAU * f64::from(k) / f64::from(count);
            positions.push(Vec3::new(r * angle.cos(), 0.0, -r * angle.sin()));
        }
    }
    let uvs = positions.iter().map(|p| [0.5 + 0.5 * p.x / radius, 0.5 - 0.5 * p.z / radius]).collect();

    let mut triangles: Vec<[u32; 3]> = Vec::new();
    let first = ring_sizes[0];
    triangles.extend((0..first).map(|k| [0, 1 + k, 1 + (k + 1) % first]));
    let mut inside_start = 1;
    for pair in ring_sizes.windows(2) {
        let (inside, outside) = (pair[0], pair[1]);
        let outside_start = inside_start + inside;
        // Walk round both rings at once, always closing the gap that is behind.
        let (mut i, mut o) = (0, 0);
        while i < inside || o < outside {
            let [a, b] = [inside_start + i % inside, outside_start + o % outside];
            let inside_next = (f64::from(i) + 0.5) / f64::from(inside);
            let outside_next = (f64::from(o) + 0.5) / f64::from(outside);
            if i < inside && (o == outside || inside_next < outside_next) {
                triangles.push([a, b, inside_start + (i + 1) % inside]);
                i += 1;
            } else {
                triangles.push([a, b, outside_start + (o + 1) % outside]);
                o += 1;
            }
        }
        inside_start = outside_start;
    }
    from_faces("disc", positions, uvs, &triangles)
}

/// Ring sizes from the middle to the rim: about 6, 12, 18 ..., the remainder spread over the outer rings.
fn ring_sizes(inner: u32, rim: u32) -> Vec<u32> {
    let to_place = inner.saturating_sub(1);
    let mut ring_count = 0;
    while 3 * (ring_count + 1) * (ring_count + 2) <= to_place {
        ring_count += 1;
    }
    let mut sizes: Vec<u32> = (1..=ring_count).map(|ring| 6 * ring).collect();
    let mut rest = to_place - 3 * ring_count * (ring_count + 1);
    if sizes.is_empty() && rest >= 3 {
        sizes.push(rest);
        rest = 0;
    }
    // One after the other from the outside in, again and again, until nothing is left.
    let count = sizes.len();
    for k in 0..rest as usize {
        if count > 0 {
            sizes[count - 1 - k % count] += 1;
        }
    }
    sizes.push(rim);
    sizes
}

/// A closed box around the origin, faces outwards, made of triangles whose diagonals alternate. Vertices on edges are shared.
pub fn cuboid(size: [f64; 3], vertices: [u32; 3]) -> PolyMesh {
    let (positions, triangles) = cuboid_lattice(vertices);
    let positions = positions.iter().map(|p| Vec3::from_fn(|axis, _| 0.5 * size[axis] * p[axis])).collect();
    without_uvs("box", positions, &triangles)
}

/// A closed ball around the origin, faces outwards: a box blown up so that its triangles are of about one size.
pub fn ball(radius: f64, vertices: u32) -> PolyMesh {
    let (positions, triangles) = cuboid_lattice([vertices; 3]);
    // Equal angles instead of equal lengths along the edges of the box.
    let blown = |p: &Vec3| p.map(|x| (x * std::f64::consts::FRAC_PI_4).tan()).normalize() * radius;
    without_uvs("ball", positions.iter().map(blown).collect(), &triangles)
}

/// A closed sphere around the origin by latitude and longitude, faces outwards, its poles on the y axis. Vertices begin with the
/// upper pole, then run along each ring, and end with the lower pole.
pub fn sphere(radius: f64, rings: u32, segments: u32) -> PolyMesh {
    let mut positions = vec![Vec3::y() * radius];
    for ring in 1..=rings {
        let latitude = std::f64::consts::PI * f64::from(ring) / f64::from(rings + 1);
        for segment in 0..segments {
            positions.push(around_y(radius * latitude.sin(), radius * latitude.cos(), segment, segments));
        }
    }
    positions.push(Vec3::y() * -radius);
    wrapped("sphere", positions, [segments, rings + 1], |segment, row| match row {
        0 => 0,
        row if row > rings => rings * segments + 1,
        row => 1 + (row - 1) * segments + segment % segments,
    })
}

/// A closed surface around the line from one point to another, faces outwards: `profile` are places along it [m from the first point] and
/// radii, from the first point on, between the two poles that close it.
pub fn turned(from: Vec3, to: Vec3, poles: [f64; 2], profile: &[[f64; 2]], segments: u32) -> PolyMesh {
    let axis = (to - from).try_normalize(0.0).unwrap_or_else(Vec3::y);
    let side = if axis.x.abs() < 0.9 { Vec3::x() } else { Vec3::z() };
    let across = axis.cross(&side).normalize();
    let third = axis.cross(&across);
    let rings = profile.len() as u32;
    let mut positions = vec![from + axis * poles[1]];
    for [along, radius] in profile.iter().rev() {
        positions.extend((0..segments).map(|segment| {
            let angle = std::f64::consts::TAU * f64::from(segment) / f64::from(segments);
            from + axis * *along + (across * angle.cos() - third * angle.sin()) * *radius
        }));
    }
    positions.push(from + axis * poles[0]);
    wrapped("turned", positions, [segments, rings + 1], |segment, row| match row {
        0 => 0,
        row if row > rings => rings * segments + 1,
        row => 1 + (row - 1) * segments + segment % segments,
    })
}

/// A closed torus around the y axis, faces outwards: `radius` from the origin to the middle of the tube, `tube` from there to the
/// surface. Vertices run along the largest ring first.
pub fn torus(radius: f64, tube: f64, around: u32, across: u32) -> PolyMesh {
    let mut positions = Vec::new();
    for ring in 0..across {
        let angle = std::f64::consts::TAU * f64::from(ring) / f64::from(across);
        for segment in 0..around {
            positions.push(around_y(radius + tube * angle.cos(), -tube * angle.sin(), segment, around));
        }
    }
    wrapped("torus", positions, [around, across], |segment, ring| ring % across * around + segment % around)
}

/// A point of a ring around the y axis, seen from above counter-clockwise.
fn around_y(radius: f64, height: f64, segment: u32, segments: u32) -> Vec3 {
    let angle = std::f64::consts::TAU * f64::from(segment) / f64::from(segments);
    Vec3::new(radius * angle.cos(), height, -radius * angle.sin())
}

/// A lattice of so many cells that is bent until it meets itself: `vertex` is the one at a column and a row, one more of each
/// than there are cells. UVs are those of the flat lattice, so they have a seam where vertices do not.
fn wrapped(name: &str, positions: Vec<Vec3>, cell_counts: [u32; 2], vertex: impl Fn(u32, u32) -> u32) -> PolyMesh {
    let places = cell_counts.map(|count| count + 1);
    let corner =
        |place: u32| Corner { position: vertex(place % places[0], place / places[0]), uv: Some(place), normal: None };
    let mut corners = Vec::new();
    for (i, j, cell) in cells(places) {
        for triangle in halves(i, j, cell).map(|half| half.map(corner)) {
            let [a, b, c] = triangle.map(|corner| corner.position);
            // At a pole, one half of a cell has no area.
            if a != b && b != c && c != a {
                corners.extend(triangle);
            }
        }
    }
    let face_starts = (0..=corners.len() as u32 / 3).map(|face| 3 * face).collect();
    let (_, uvs) = lattice(places, [1.0; 2]);
    PolyMesh { name: name.to_owned(), positions, uvs, corners, face_starts, ..PolyMesh::default() }
}

/// Vertices and triangles on the faces of a box from -1 to 1.
fn cuboid_lattice(vertices: [u32; 3]) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let mut numbers = std::collections::BTreeMap::new();
    let mut positions = Vec::new();
    let mut triangles = Vec::new();
    for axis in 0..3 {
        let [u, v] = [(axis + 1) % 3, (axis + 2) % 3];
        for end in [0, vertices[axis] - 1] {
            let mut number = |i: u32, j: u32| {
                let mut at = [0; 3];
                (at[axis], at[u], at[v]) = (end, i, j);
                *numbers.entry(at).or_insert_with(|| {
                    positions.push(Vec3::from_fn(|k, _| 2.0 * f64::from(at[k]) / f64::from(vertices[k] - 1) - 1.0));
                    positions.len() as u32 - 1
                })
            };
            for i in 0..vertices[u] - 1 {
                for j in 0..vertices[v] - 1 {
                    let [a, b, c, d] = [number(i, j), number(i + 1, j), number(i + 1, j + 1), number(i, j + 1)];
                    let halves = if (i + j) % 2 == 0 { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] };
                    // The third axis comes after the first two, so this order looks along it.
                    triangles.extend(halves.map(|[a, b, c]| if end == 0 { [a, c, b] } else { [a, b, c] }));
                }
            }
        }
    }
    (positions, triangles)
}

fn without_uvs(name: &str, positions: Vec<Vec3>, triangles: &[[u32; 3]]) -> PolyMesh {
    let corners = triangles.iter().flatten().map(|&v| Corner { position: v, uv: None, normal: None }).collect();
    let face_starts = (0..=triangles.len() as u32).map(|face| 3 * face).collect();
    PolyMesh { name: name.to_owned(), positions, corners, face_starts, ..PolyMesh::default() }
}
