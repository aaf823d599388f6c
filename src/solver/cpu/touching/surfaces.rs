//! All triangles that can touch, of cloths, soft bodies and colliders, in one numbering.
//!
//! The vertices of a soft body are carried by particles of the volume around it, four each. Those stand behind the body's vertices in the same
//! numbering, as "handles": moving what touches means moving the handles below it. Other vertices are their own handles.
//!
//! Each vertex and each edge belongs to one triangle, so that two triangles which come near each other name every pair of vertex and triangle
//! and of two edges once.

use crate::algorithms::contact::pair;
use crate::math::Vec3;
use crate::mesh::topology::Topology;
use crate::model::{Carried, Skin};

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
    /// How many handles stand behind them; 0 where vertices are their own.
    pub handle_count: usize,
    /// Parts of it that are nearer than this at rest do not touch each other [m].
    tied: f64,
    /// Where its rows begin.
    first_row: usize,
    /// Its first triangle.
    pub first_triangle: usize,
    /// How many it has.
    pub triangle_count: usize,
}

impl Body {
    /// The numbers of its vertices.
    pub fn vertices(&self) -> std::ops::Range<usize> {
        self.first_vertex..self.first_vertex + self.vertex_count
    }

    /// The numbers of its handles, where vertices are not their own.
    pub fn handles(&self) -> std::ops::Range<usize> {
        let first = self.first_vertex + self.vertex_count;
        first..first + self.handle_count
    }
}

/// The handles of a carried vertex and their weights, which sum to one.
type Row = [(u32, f64); 4];

/// The bodies: cloths first, then soft bodies, then colliders.
#[derive(Debug, Default)]
pub struct Surfaces {
    /// In the order they were added.
    pub bodies: Vec<Body>,
    /// Corners in the common numbering.
    pub triangles: Vec<[u32; 3]>,
    /// What each triangle brings.
    pub owned: Vec<Owned>,
    /// The body of each vertex and handle.
    pub body_of: Vec<u16>,
    /// Inverse masses of vertices and handles; 0 for what is led [1/kg].
    pub k: Vec<f64>,
    /// Where vertices are at rest [m].
    rest: Vec<Vec3>,
    /// What carries vertices.
    rows: Vec<Row>,
    /// How near a vertex may come to its own body at most: less than its triangles are high [m].
    pub own_gap: Vec<f64>,
}

/// Part of its triangles' height that a vertex may ask for as a distance from its own body, so that a cloth at rest does not touch itself.
const GAP_OF_HEIGHT: f64 = 0.4;

impl Surfaces {
    /// Add a body that deforms.
    pub fn add_skin(&mut self, skin: &Skin) {
        let k = skin.touch_k.iter().zip(&skin.is_led).map(|(&k, &is_led)| if is_led { 0.0 } else { k });
        self.add(&skin.mesh.positions, k, &skin.mesh.triangles, &skin.topology);
        let (Carried::ByVolume(tied), Some(body)) = (skin.carried, self.bodies.last_mut()) else {
            return;
        };
        body.tied = tied;
        body.handle_count = skin.k.len();
        let first = (body.first_vertex + body.vertex_count) as u32;
        let number = self.bodies.len() as u16 - 1;
        self.body_of.extend(std::iter::repeat_n(number, skin.k.len()));
        self.k.extend(&skin.k);
        self.rest.extend(&skin.rest);
        self.own_gap.extend(std::iter::repeat_n(f64::INFINITY, skin.k.len()));
        self.rows.extend((0..skin.map.vertex_count()).map(|v| {
            let row = skin.map.row(v);
            // Fewer than four only where two of them are the same.
            std::array::from_fn(|n| row.get(n).map_or((first, 0.0), |&(particle, weight)| (first + particle, weight)))
        }));
    }

    /// Add a body: its vertices where they are at rest, their inverse masses, its triangles and their edges.
    pub fn add(&mut self, rest: &[Vec3], k: impl Iterator<Item = f64>, triangles: &[[u32; 3]], topology: &Topology) {
        let first_vertex = self.body_of.len();
        let body = self.bodies.len() as u16;
        self.bodies.push(Body {
            first_vertex,
            vertex_count: rest.len(),
            handle_count: 0,
            tied: 0.0,
            first_row: self.rows.len(),
            first_triangle: self.triangles.len(),
            triangle_count: triangles.len(),
        });
        let global = |v: u32| v + first_vertex as u32;
        self.body_of.extend(std::iter::repeat_n(body, rest.len()));
        self.k.extend(k);
        self.rest.extend(rest);
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
            self.rest.truncate(first.first_vertex);
            self.rows.truncate(first.first_row);
            self.own_gap.truncate(first.first_vertex);
        }
    }

    /// What carries a vertex; none where it is its own handle.
    #[inline]
    pub fn row(&self, vertex: u32) -> Option<&Row> {
        let body = &self.bodies[usize::from(self.body_of[vertex as usize])];
        (body.handle_count > 0).then(|| &self.rows[body.first_row + vertex as usize - body.first_vertex])
    }

    /// Where a vertex is, from its handles.
    #[inline]
    pub fn place(&self, vertex: u32, x: &[Vec3]) -> Vec3 {
        match self.row(vertex) {
            None => x[vertex as usize],
            Some(row) => row.iter().fold(Vec3::zeros(), |sum, &(handle, weight)| sum + x[handle as usize] * weight),
        }
    }

    /// Push a vertex: its handles move by a part of `by`, which `share` tells for an inverse mass.
    #[inline]
    pub fn push(&self, vertex: u32, by: Vec3, share: impl Fn(f64) -> f64, x: &mut [Vec3]) {
        match self.row(vertex) {
            None => x[vertex as usize] += by * share(self.k[vertex as usize]),
            Some(row) => {
                for &(handle, weight) in row {
                    x[handle as usize] += by * share(weight * self.k[handle as usize]);
                }
            }
        }
    }

    /// Put the vertices that are carried where their handles have them.
    pub fn carry(&self, x: &mut [Vec3]) {
        for body in self.bodies.iter().filter(|body| body.handle_count > 0) {
            for v in body.vertices() {
                x[v] = self.place(v as u32, x);
            }
        }
    }

    /// The handles below some vertices that are free to move, ascending.
    pub fn free_handles(&self, vertices: &[u32]) -> Vec<u32> {
        let mut handles = Vec::with_capacity(vertices.len());
        let mut is_carried = false;
        for &v in vertices {
            match self.row(v) {
                None => handles.push(v),
                Some(row) => {
                    is_carried = true;
                    handles.extend(row.iter().filter(|(_, weight)| *weight != 0.0).map(|(handle, _)| *handle));
                }
            }
        }
        handles.retain(|&handle| self.k[handle as usize] > 0.0);
        if is_carried {
            handles.sort_unstable();
            handles.dedup();
        }
        handles
    }

    /// Inverse mass of a weighted sum of vertices: vertices that share a handle move together [1/kg].
    pub fn inverse_mass(&self, vertices: &[u32; 4], weights: &[f64; 4]) -> f64 {
        if vertices.iter().all(|&v| self.row(v).is_none()) {
            return pair::inverse_mass(*weights, vertices.map(|v| self.k[v as usize]));
        }
        let (mut found, mut count) = ([(0, 0.0); 16], 0);
        for (&v, &weight) in vertices.iter().zip(weights) {
            let own = [(v, 1.0)];
            for &(handle, share) in self.row(v).map_or(&own[..], |row| &row[..]) {
                let known = found[..count].iter_mut().find(|(known, _): &&mut (u32, f64)| *known == handle);
                match known {
                    Some((_, sum)) => *sum += weight * share,
                    None => {
                        found[count] = (handle, weight * share);
                        count += 1;
                    }
                }
            }
        }
        found[..count].iter().map(|&(handle, sum)| sum * sum * self.k[handle as usize]).sum()
    }

    /// Whether two triangles are parts of one body that its volume holds apart.
    pub fn are_tied(&self, s: u32, t: u32) -> bool {
        let [of_s, of_t] = [s, t].map(|t| self.triangles[t as usize]);
        let number = self.body_of[of_s[0] as usize];
        let tied = self.bodies[usize::from(number)].tied;
        if tied <= 0.0 || number != self.body_of[of_t[0] as usize] {
            return false;
        }
        let is_near = |a: u32, b: u32| (self.rest[a as usize] - self.rest[b as usize]).norm_squared() < tied * tied;
        of_s.iter().any(|&a| of_t.iter().any(|&b| is_near(a, b)))
    }
}
