//! Boxes around triangles, in a tree that is built once and refitted when the triangles move.

use crate::math::Vec3;

/// Triangles in a leaf: small enough that a query tests few, large enough that the tree stays shallow.
const LEAF_SIZE: usize = 4;

/// An axis-aligned box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    /// Lowest corner.
    pub low: Vec3,
    /// Highest corner.
    pub high: Vec3,
}

impl Aabb {
    /// The box that holds nothing.
    pub fn empty() -> Self {
        Aabb { low: Vec3::repeat(f64::INFINITY), high: Vec3::repeat(f64::NEG_INFINITY) }
    }

    /// The box that holds one point.
    pub fn around(p: Vec3) -> Self {
        Aabb { low: p, high: p }
    }

    /// The smallest box that holds both.
    pub fn join(self, other: Aabb) -> Aabb {
        Aabb { low: self.low.inf(&other.low), high: self.high.sup(&other.high) }
    }

    /// The box with its sides moved outwards.
    pub fn grown(self, by: f64) -> Aabb {
        Aabb { low: self.low.add_scalar(-by), high: self.high.add_scalar(by) }
    }

    /// Whether both share a point.
    pub fn meets(&self, other: &Aabb) -> bool {
        (0..3).all(|axis| self.low[axis] <= other.high[axis] && other.low[axis] <= self.high[axis])
    }

    /// Whether it holds all of the other.
    pub fn contains(&self, other: &Aabb) -> bool {
        (0..3).all(|axis| self.low[axis] <= other.low[axis] && other.high[axis] <= self.high[axis])
    }

    /// Whether a ray enters it before it has gone this far.
    pub fn is_entered(&self, from: Vec3, direction: Vec3, reach: f64) -> bool {
        let (mut first, mut last) = (0.0_f64, reach);
        for k in 0..3 {
            if direction[k] == 0.0 {
                if from[k] < self.low[k] || from[k] > self.high[k] {
                    return false;
                }
                continue;
            }
            let [a, b] = [self.low[k], self.high[k]].map(|side| (side - from[k]) / direction[k]);
            (first, last) = (first.max(a.min(b)), last.min(a.max(b)));
        }
        // Rounding must not lose what a ray grazes.
        first <= last + 1e-12 * (1.0 + first.abs())
    }

    /// Its eight corners.
    pub fn corners(&self) -> impl Iterator<Item = Vec3> + '_ {
        let side =
            |corner: usize, axis: usize| if (corner >> axis) & 1 == 0 { self.low[axis] } else { self.high[axis] };
        (0..8).map(move |corner| Vec3::from_fn(|axis, _| side(corner, axis)))
    }

    /// Squared distance of a point from the box, 0 inside.
    fn distance_squared(&self, p: Vec3) -> f64 {
        let outside = (self.low - p).sup(&(p - self.high)).sup(&Vec3::zeros());
        outside.norm_squared()
    }
}

/// One node: an inner node's first child follows it directly.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// Around all below it.
    pub aabb: Aabb,
    /// Inner node: number of the second child. Leaf: first entry in `Bvh::order`.
    pub link: u32,
    /// Triangles of a leaf; 0 for an inner node.
    pub count: u32,
}

/// A hierarchy of boxes over triangles.
#[derive(Clone, Debug, Default)]
pub struct Bvh {
    nodes: Vec<Node>,
    order: Vec<u32>,
}

impl Bvh {
    /// Median splits along the longest axis of the centres; ties by triangle number, so the tree follows from the mesh.
    pub fn build(positions: &[Vec3], triangles: &[[u32; 3]]) -> Self {
        let centres: Vec<Vec3> =
            triangles.iter().map(|t| t.iter().map(|&v| positions[v as usize]).sum::<Vec3>() / 3.0).collect();
        let mut bvh = Bvh { nodes: Vec::new(), order: (0..triangles.len() as u32).collect() };
        if !triangles.is_empty() {
            bvh.split(0, triangles.len(), &centres);
            bvh.refit(positions, triangles);
        }
        bvh
    }

    fn split(&mut self, start: usize, end: usize, centres: &[Vec3]) {
        let node = self.nodes.len();
        let leaf = Node { aabb: Aabb::empty(), link: start as u32, count: (end - start) as u32 };
        self.nodes.push(leaf);
        if end - start <= LEAF_SIZE {
            return;
        }
        let range = &self.order[start..end];
        let bounds = super::measures::bounds(range.iter().map(|&t| centres[t as usize]));
        let axis = bounds.map_or(0, |(low, high)| (high - low).imax());
        let middle = (start + end) / 2;
        self.order[start..end].select_nth_unstable_by(middle - start, |&a, &b| {
            centres[a as usize][axis].total_cmp(&centres[b as usize][axis]).then(a.cmp(&b))
        });
        self.split(start, middle, centres);
        self.nodes[node] = Node { aabb: Aabb::empty(), link: self.nodes.len() as u32, count: 0 };
        self.split(middle, end, centres);
    }

    /// Its nodes, the root first.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The triangles in the order of the leaves.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// How many nodes lie on the longest way down.
    pub fn depth(&self) -> usize {
        let mut depths = vec![1; self.nodes.len()];
        for (n, node) in self.nodes.iter().enumerate().rev().filter(|(_, node)| node.count == 0) {
            depths[n] = 1 + depths[n + 1].max(depths[node.link as usize]);
        }
        depths.first().copied().unwrap_or_default()
    }

    /// Make the boxes fit the triangles where they are now.
    pub fn refit(&mut self, positions: &[Vec3], triangles: &[[u32; 3]]) {
        self.refit_along(&[positions], triangles);
    }

    /// The same for all of these places of the triangles, and all straight ways between them.
    pub fn refit_along(&mut self, keys: &[&[Vec3]], triangles: &[[u32; 3]]) {
        for n in (0..self.nodes.len()).rev() {
            let Node { link, count, .. } = self.nodes[n];
            self.nodes[n].aabb = if count == 0 {
                self.nodes[n + 1].aabb.join(self.nodes[link as usize].aabb)
            } else {
                let leaf = &self.order[link as usize..(link + count) as usize];
                let corners = leaf.iter().flat_map(|&t| triangles[t as usize]);
                let places = corners.flat_map(|v| keys.iter().map(move |positions| positions[v as usize]));
                places.fold(Aabb::empty(), |aabb, p| aabb.join(Aabb::around(p)))
            };
        }
    }

    /// Whether a point is in the box around everything.
    pub fn holds(&self, p: Vec3) -> bool {
        self.nodes.first().is_some_and(|root| root.aabb.distance_squared(p) == 0.0)
    }

    /// Visit triangles that a ray may hit. `visit` gets a triangle and returns how far along the ray nothing is of interest any more.
    pub fn along(&self, from: Vec3, direction: Vec3, mut visit: impl FnMut(u32) -> f64) {
        let mut reach = f64::INFINITY;
        let mut stack: Vec<u32> = (0..self.nodes.len().min(1) as u32).collect();
        while let Some(at) = stack.pop() {
            let node = &self.nodes[at as usize];
            if !node.aabb.is_entered(from, direction, reach) {
                continue;
            }
            if node.count > 0 {
                for &triangle in &self.order[node.link as usize..(node.link + node.count) as usize] {
                    reach = visit(triangle);
                }
                continue;
            }
            stack.extend([node.link, at + 1]);
        }
    }

    /// Visit triangles that may be nearer than a distance. `visit` gets a triangle and returns the squared distance from which
    /// on nothing is of interest any more; it starts at `reach_squared`.
    pub fn near(&self, p: Vec3, reach_squared: f64, mut visit: impl FnMut(u32) -> f64) {
        if self.nodes.is_empty() {
            return;
        }
        let mut reach = reach_squared;
        // 64 levels hold more triangles than a u32 can number.
        let mut stack = [0u32; 64];
        let mut depth = 1;
        while depth > 0 {
            depth -= 1;
            let at = stack[depth];
            let node = &self.nodes[at as usize];
            if node.aabb.distance_squared(p) > reach {
                continue;
            }
            if node.count > 0 {
                for &triangle in &self.order[node.link as usize..(node.link + node.count) as usize] {
                    reach = visit(triangle);
                }
                continue;
            }
            let (first, second) = (at + 1, node.link);
            let distance = |n: u32| self.nodes[n as usize].aabb.distance_squared(p);
            let (near, far) = if distance(first) <= distance(second) { (first, second) } else { (second, first) };
            stack[depth] = far;
            stack[depth + 1] = near;
            depth += 2;
        }
    }
}
