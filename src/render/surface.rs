//! What pictures know of a mesh: worked out once, which corners share a normal, and which edges a wireframe shows; of every frame, normals.
//!
//! Corners share one where the mesh is smooth at rest. So boxes keep their edges, and seams of the texture, where files have every vertex
//! twice, do not show.

use std::collections::HashMap;

use super::Vec3f;
use super::look::CREASE_COSINE;

/// A mesh whose vertices move.
#[derive(Clone, Debug, Default)]
pub struct Surface {
    /// Corners of triangles.
    pub triangles: Vec<[u32; 3]>,
    /// For each corner which of the normals is its own.
    pub corners: Vec<[u32; 3]>,
    /// How many normals there are.
    pub normal_count: usize,
    /// For each triangle which of its edges a wireframe shows: bit `k` is the edge from corner `k` to the next.
    pub outlines: Vec<u8>,
    /// Of the shown edges at rest [m].
    pub mean_edge: f32,
}

fn point(p: [f32; 3]) -> Vec3f {
    Vec3f::from(p)
}

/// Twice the area along the normal of a triangle.
pub fn area_vector(corners: [[f32; 3]; 3]) -> Vec3f {
    let [a, b, c] = corners.map(point);
    (b - a).cross(&(c - a))
}

/// Sets that grow together; the lowest member stands for all.
struct Sets(Vec<u32>);

impl Sets {
    fn find(&mut self, mut member: u32) -> u32 {
        while self.0[member as usize] != member {
            let next = self.0[self.0[member as usize] as usize];
            self.0[member as usize] = next;
            member = next;
        }
        member
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}

/// A side of a triangle: its ends with the lower number first, the triangle, which of its edges, whether it runs upwards.
type Side = (u32, u32, u32, u8, bool);

impl Surface {
    /// Of a mesh at rest. Triangles with a corner that does not exist are left out. `inner` says of a triangle which of its edges lie
    /// inside of a polygon and are no lines of the mesh.
    pub fn new(rest: &[[f32; 3]], triangles: &[[u32; 3]], inner: impl Fn(usize) -> u8) -> Self {
        let known = |t: &[u32; 3]| t.iter().all(|&v| (v as usize) < rest.len());
        let numbered: Vec<(usize, [u32; 3])> =
            triangles.iter().copied().enumerate().filter(|(_, t)| known(t)).collect();
        let outlines = numbered.iter().map(|(n, _)| 7 & !inner(*n)).collect();
        let triangles: Vec<[u32; 3]> = numbered.into_iter().map(|(_, t)| t).collect();
        let mut sets = Sets((0..3 * triangles.len() as u32).collect());
        let normals: Vec<Vec3f> = triangles
            .iter()
            .map(|t| area_vector(t.map(|v| rest[v as usize])).try_normalize(0.0).unwrap_or_else(Vec3f::zeros))
            .collect();
        let open = join_smooth(&mut sets, &triangles, &normals, |v| v);
        // What the file has twice at the same place is one, if its edges are open.
        let mut places: HashMap<[u32; 3], u32> = HashMap::new();
        let first: Vec<u32> = rest
            .iter()
            .enumerate()
            .map(|(v, p)| *places.entry(p.map(|x| (x + 0.0).to_bits())).or_insert(v as u32))
            .collect();
        let open: Vec<Side> = open
            .into_iter()
            .map(|(low, high, t, k, up)| {
                let (a, b) = (first[low as usize], first[high as usize]);
                if a <= b { (a, b, t, k, up) } else { (b, a, t, k, !up) }
            })
            .collect();
        join_sides(&mut sets, open, &triangles, &normals, |v| first[v as usize]);
        let mut names: HashMap<u32, u32> = HashMap::new();
        let mut corners = Vec::with_capacity(triangles.len());
        for t in 0..triangles.len() as u32 {
            corners.push([0, 1, 2].map(|k| {
                let root = sets.find(3 * t + k);
                let next = names.len() as u32;
                *names.entry(root).or_insert(next)
            }));
        }
        let mut surface = Surface { triangles, corners, normal_count: names.len(), outlines, mean_edge: 0.0 };
        surface.mean_edge = surface.measure_edges(rest);
        surface
    }

    fn measure_edges(&self, rest: &[[f32; 3]]) -> f32 {
        let (mut sum, mut count) = (0.0_f64, 0_u32);
        for (t, outline) in self.triangles.iter().zip(&self.outlines) {
            for k in (0..3).filter(|k| outline >> k & 1 == 1) {
                sum += f64::from((point(rest[t[(k + 1) % 3] as usize]) - point(rest[t[k] as usize])).norm());
                count += 1;
            }
        }
        if count == 0 { 0.0 } else { (sum / f64::from(count)) as f32 }
    }

    /// Unit normals: the sum of the triangles that share one, each by its area; zero where there is none.
    pub fn normals(&self, positions: &[[f32; 3]], normals: &mut Vec<[f32; 3]>) {
        normals.clear();
        normals.resize(self.normal_count, [0.0; 3]);
        for (t, corners) in self.triangles.iter().zip(&self.corners) {
            let area = area_vector(t.map(|v| positions[v as usize]));
            if area.iter().all(|x| x.is_finite()) {
                for &corner in corners {
                    let normal = &mut normals[corner as usize];
                    *normal = [normal[0] + area.x, normal[1] + area.y, normal[2] + area.z];
                }
            }
        }
        for normal in normals {
            let size = normal.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
            *normal = if size > 0.0 { normal.map(|x| (f64::from(x) / size) as f32) } else { [0.0; 3] };
        }
    }
}

/// Joins corners over smooth edges with two sides; sides that found no partner come back.
fn join_smooth(sets: &mut Sets, triangles: &[[u32; 3]], normals: &[Vec3f], name: impl Fn(u32) -> u32) -> Vec<Side> {
    let mut sides = Vec::with_capacity(3 * triangles.len());
    for (t, corners) in triangles.iter().enumerate() {
        for k in 0..3 {
            let (a, b) = (corners[k], corners[(k + 1) % 3]);
            sides.push((a.min(b), a.max(b), t as u32, k as u8, a < b));
        }
    }
    join_sides(sets, sides, triangles, normals, name)
}

fn join_sides(
    sets: &mut Sets,
    mut sides: Vec<Side>,
    triangles: &[[u32; 3]],
    normals: &[Vec3f],
    name: impl Fn(u32) -> u32,
) -> Vec<Side> {
    sides.sort_unstable();
    let mut open = Vec::new();
    for sides in sides.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        match *sides {
            [side] => open.push(side),
            // Two that go along an edge in the same direction do not agree about their outside.
            [(low, high, s, _, up), (_, _, t, _, also_up)] if up != also_up => {
                let (one, other) = (normals[s as usize], normals[t as usize]);
                let is_flat = one == Vec3f::zeros() || other == Vec3f::zeros();
                if is_flat || one.dot(&other) >= CREASE_COSINE {
                    for end in [low, high] {
                        let corner = |t: u32| {
                            let k = triangles[t as usize].iter().position(|&v| name(v) == end).unwrap_or(0);
                            3 * t + k as u32
                        };
                        let (a, b) = (corner(s), corner(t));
                        sets.join(a, b);
                    }
                }
            }
            _ => {}
        }
    }
    open
}
