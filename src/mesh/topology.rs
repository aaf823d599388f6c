//! Edges of a triangle mesh and who borders whom.

/// Edges of a triangle mesh. Edges are numbered by their ascending end points, so the numbering follows from the mesh.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    /// End points, lower number first.
    pub edges: Vec<[u32; 2]>,
    /// For each triangle the edge opposite to each of its corners.
    pub triangle_edges: Vec<[u32; 3]>,
    /// For each edge the triangles that have it, ascending: one on the boundary, more than two where not manifold.
    pub edge_triangles: Vec<Vec<u32>>,
}

impl Topology {
    /// All edges of the triangles.
    pub fn build(triangles: &[[u32; 3]]) -> Self {
        let opposite = |corners: &[u32; 3], k: usize| {
            let [a, b] = [corners[(k + 1) % 3], corners[(k + 2) % 3]];
            [a.min(b), a.max(b)]
        };
        let mut edges: Vec<[u32; 2]> = triangles.iter().flat_map(|t| (0..3).map(|k| opposite(t, k))).collect();
        edges.sort_unstable();
        edges.dedup();
        let number = |ends: [u32; 2]| edges.partition_point(|edge| *edge < ends) as u32;
        let triangle_edges: Vec<[u32; 3]> =
            triangles.iter().map(|t| std::array::from_fn(|k| number(opposite(t, k)))).collect();
        let mut edge_triangles = vec![Vec::new(); edges.len()];
        for (triangle, edges) in triangle_edges.iter().enumerate() {
            for &edge in edges {
                edge_triangles[edge as usize].push(triangle as u32);
            }
        }
        Topology { edges, triangle_edges, edge_triangles }
    }

    /// Edges with exactly one triangle.
    pub fn boundary_edges(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.edges.len()).filter(|&edge| self.edge_triangles[edge].len() == 1)
    }

    /// Closed loops of boundary vertices, the longest first, ties by lowest vertex. No loop passes a vertex twice: loops that
    /// touch are loops of their own. Where an edge has more than two triangles, a walk may end without closing.
    pub fn boundary_loops(&self) -> Vec<Vec<u32>> {
        let mut at_vertex: std::collections::BTreeMap<u32, Vec<usize>> = std::collections::BTreeMap::new();
        for edge in self.boundary_edges() {
            for end in self.edges[edge] {
                at_vertex.entry(end).or_default().push(edge);
            }
        }
        let mut used = vec![false; self.edges.len()];
        let mut loops = Vec::new();
        let mut place_in_walk = std::collections::HashMap::new();
        for &start in at_vertex.keys() {
            let (mut vertex, mut walk) = (start, Vec::new());
            place_in_walk.clear();
            while let Some(&edge) = at_vertex[&vertex].iter().find(|&&edge| !used[edge]) {
                used[edge] = true;
                place_in_walk.insert(vertex, walk.len());
                walk.push(vertex);
                let [a, b] = self.edges[edge];
                vertex = if a == vertex { b } else { a };
                if let Some(&from) = place_in_walk.get(&vertex) {
                    let closed = walk.split_off(from);
                    for passed in &closed {
                        place_in_walk.remove(passed);
                    }
                    loops.push(closed);
                }
            }
            if !walk.is_empty() {
                loops.push(walk);
            }
        }
        loops.sort_by_key(|walk| (std::cmp::Reverse(walk.len()), walk.iter().min().copied()));
        loops
    }
}
