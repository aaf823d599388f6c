//! Neighbouring triangles in clusters, with the box around each and how it moves in a step.

use rayon::prelude::*;

use super::surfaces::{Body, Surfaces};
use crate::math::Vec3;
use crate::mesh::bvh::Aabb;

/// Most triangles of a cluster: 16 to 64 cost about the same.
const CLUSTER_SIZE: usize = 32;
/// Clusters from which on looking at them is shared out to threads.
const PARALLEL_CLUSTERS: usize = 256;

/// Some triangles of one body that lie together.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// Whose they are.
    pub body: u16,
    /// Its triangles, ascending.
    pub triangles: Vec<u32>,
    /// Their vertices, ascending.
    vertices: Vec<u32>,
    /// Around them when pairs of clusters were last looked for.
    pub around: Aabb,
    /// Their mean displacement in the step [m].
    pub way: Vec3,
    /// Farthest that a vertex gets from moving like that [m].
    pub spread: f64,
}

/// Cut a body into clusters by where its vertices are: median splits, ties by number, so that they follow from the positions.
pub fn build(surfaces: &Surfaces, body: usize, x: &[Vec3], clusters: &mut Vec<Cluster>) {
    let Body { first_triangle, triangle_count, .. } = surfaces.bodies[body];
    let mut order: Vec<u32> = (first_triangle as u32..(first_triangle + triangle_count) as u32).collect();
    let centre = |t: u32| surfaces.triangles[t as usize].iter().map(|&v| x[v as usize]).sum::<Vec3>() / 3.0;
    let centres: Vec<Vec3> = order.iter().map(|&t| centre(t)).collect();
    let mut open = vec![(0, order.len())];
    while let Some((start, end)) = open.pop() {
        let part = &mut order[start..end];
        if part.len() > CLUSTER_SIZE {
            let at = |t: u32| centres[t as usize - first_triangle];
            let around = part.iter().fold(Aabb::empty(), |aabb, &t| aabb.join(Aabb::around(at(t))));
            let axis = (around.high - around.low).imax();
            let middle = part.len() / 2;
            part.select_nth_unstable_by(middle, |&a, &b| at(a)[axis].total_cmp(&at(b)[axis]).then(a.cmp(&b)));
            open.push((start + middle, end));
            open.push((start, start + middle));
        } else if !part.is_empty() {
            let mut triangles = part.to_vec();
            triangles.sort_unstable();
            let mut vertices: Vec<u32> = triangles.iter().flat_map(|&t| surfaces.triangles[t as usize]).collect();
            vertices.sort_unstable();
            vertices.dedup();
            let (around, way, spread) = (Aabb::empty(), Vec3::zeros(), 0.0);
            clusters.push(Cluster { body: body as u16, triangles, vertices, around, way, spread });
        }
    }
}

/// How the clusters move in a step.
pub fn observe(clusters: &mut [Cluster], from: &[Vec3], to: &[Vec3]) {
    for_each(clusters, |cluster| {
        let way: Vec3 = cluster.vertices.iter().map(|&v| to[v as usize] - from[v as usize]).sum();
        let way = way / cluster.vertices.len() as f64;
        let mut spread = 0.0;
        for &v in &cluster.vertices {
            let off = (to[v as usize] - from[v as usize] - way).norm_squared();
            // A plain comparison: f64::max takes many instructions.
            spread = if off > spread { off } else { spread };
        }
        (cluster.way, cluster.spread) = (way, spread.sqrt());
    });
}

/// Where the clusters are.
pub fn locate(clusters: &mut [Cluster], x: &[Vec3]) {
    for_each(clusters, |cluster| cluster.around = cluster.around(x));
}

fn for_each(clusters: &mut [Cluster], observe: impl Fn(&mut Cluster) + Sync + Send) {
    if clusters.len() >= PARALLEL_CLUSTERS && rayon::current_num_threads() > 1 {
        clusters.par_iter_mut().with_min_len(32).for_each(observe);
    } else {
        clusters.iter_mut().for_each(observe);
    }
}

impl Cluster {
    /// The box around it.
    pub fn around(&self, x: &[Vec3]) -> Aabb {
        self.vertices.iter().fold(Aabb::empty(), |aabb, &v| aabb.join(Aabb::around(x[v as usize])))
    }
}

/// How far two clusters, or the parts of one, may come nearer in the step [m].
pub fn approach(a: &Cluster, b: &Cluster, same: bool) -> f64 {
    if same { 2.0 * a.spread } else { (a.way - b.way).norm() + a.spread + b.spread }
}
