//! All triangles that can touch, of cloths and of colliders, in one numbering.
//!
//! Each vertex and each edge belongs to one triangle, so that two triangles which come near each other name every pair of vertex and triangle
//! and of two edges once.

use crate::math::Vec3;
use crate::mesh::topology::Topology;

/// What a triangle brings into pairs: the vertices and edges that no triangle before it has brought.
#[derive(Clone, Copy, Debug, Default)]
pub struct Owned {
    vertices: [u32; 3],
    edges: [[u32; 2]; 3],
    vertex_count: u8,
    edge_count: u8,
}

impl Owned {
    /// Its vertices.
    pub fn vertices(&self) -> &[u32] {
        &self.vertices[..usize::from(self.vertex_count)]
    }

    /// Its edges.
    pub fn edges(&self) -> &[[u32; 2]] {
        &self.edges[..usize::from(self.edge_count)]
    }
}

/// A body: a range of vertices and of triangles.
#[derive(Clone, Copy, Debug)]
pub struct Body {
    /// Its first vertex.
    pub first_vertex: usize,
    /// How many it has.
    pub vertex_count: usize,
    /// Its first triangle.
    pub first_triangle: usize,
    /// How many it has.
    pub triangle_count: usize,
}

/// The bodies: cloths first, then colliders.
#[derive(Debug, Default)]
pub struct Surfaces {
    /// In the order they were added.
    pub bodies: Vec<Body>,
    /// Corners in the common numbering.
    pub triangles: Vec<[u32; 3]>,
    /// What each triangle brings.
    pub owned: Vec<Owned>,
    /// The body of each vertex.
    pub body_of: Vec<u16>,
    /// Inverse masses; 0 for what is led [1/kg].
    pub k: Vec<f64>,
    /// How near a vertex may come to its own body at most: less than its triangles are high [m].
    pub own_gap: Vec<f64>,
}

/// Part of its triangles' height that a vertex may ask for as a distance from its own body, so that a cloth at rest does not touch itself.
const GAP_OF_HEIGHT: f64 = 0.4;

impl Surfaces {
    /// Add a body: its vertices where they are at rest, their inverse masses, its triangles and their edges.
    pub fn add(&mut self, rest: &[Vec3], k: impl Iterator<Item = f64>, triangles: &[[u32; 3]], topology: &Topology) {
        let first_vertex = self.body_of.len();
        let body = self.bodies.len() as u16;
        self.bodies.push(Body {
            first_vertex,
            vertex_count: rest.len(),
            first_triangle: self.triangles.len(),
            triangle_count: triangles.len(),
        });
        let global = |v: u32| v + first_vertex as u32;
        self.body_of.extend(std::iter::repeat_n(body, rest.len()));
        self.k.extend(k);
        let mut gap = vec![f64::INFINITY; rest.len()];
        let mut vertex_is_taken = vec![false; rest.len()];
        let mut edge_is_taken = vec![false; topology.edges.len()];
        for (corners, edges) in triangles.iter().zip(&topology.triangle_edges) {
            self.triangles.push(corners.map(global));
            let [a, b, c] = corners.map(|v| rest[v as usize]);
            let doubled_area = (b - a).cross(&(c - a)).norm();
            let longest = (b - a).norm().max((c - b).norm()).max((a - c).norm());
            let mut owned = Owned::default();
            for (&vertex, &edge) in corners.iter().zip(edges) {
                gap[vertex as usize] = gap[vertex as usize].min(GAP_OF_HEIGHT * doubled_area / longest);
                if !std::mem::replace(&mut vertex_is_taken[vertex as usize], true) {
                    owned.vertices[usize::from(owned.vertex_count)] = global(vertex);
                    owned.vertex_count += 1;
                }
                if !std::mem::replace(&mut edge_is_taken[edge as usize], true) {
                    owned.edges[usize::from(owned.edge_count)] = topology.edges[edge as usize].map(global);
                    owned.edge_count += 1;
                }
            }
            self.owned.push(owned);
        }
        self.own_gap.extend(gap);
    }

    /// Take bodies away again, from this one on.
    pub fn truncate(&mut self, bodies: usize) {
        if let Some(first) = self.bodies.get(bodies).copied() {
            self.bodies.truncate(bodies);
            self.triangles.truncate(first.first_triangle);
            self.owned.truncate(first.first_triangle);
            self.body_of.truncate(first.first_vertex);
            self.k.truncate(first.first_vertex);
            self.own_gap.truncate(first.first_vertex);
        }
    }
}
