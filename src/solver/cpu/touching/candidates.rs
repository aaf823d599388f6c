//! Which vertices and triangles, and which edges, may touch soon: kept over many steps.
//!
//! Idea: pairs of clusters whose boxes are near each other, and for each of them the pairs of vertex and triangle and of two edges that are
//! nearer than a radius. Both lists stay complete as long as nothing has come nearer by more than their margin; how far that may be
//! is known from the motion of the clusters, with what two clusters have in common taken off. A distance once measured, less
//! that motion, is a lower bound, so most pairs are not measured again for many steps.

use rayon::prelude::*;

use super::clusters::{self, Cluster};
use super::surfaces::Surfaces;
use crate::algorithms::contact::proximity::{Pairing, Proximity, proximity};
use crate::math::Vec3;
use crate::mesh::bvh::Aabb;

/// Steps of the present motion that the list of a pair of clusters shall last.
const LASTING_STEPS: f64 = 32.0;
/// The same for the list of pairs of clusters.
const FAR_STEPS: f64 = 32.0;
/// How much faster than in the last step parts of a cluster may move against each other.
const LIKELY: f64 = 1.5;
/// Least and most margin, in mean edges: below it lists are made too often, beyond it they fill with neighbours along the surface. These were
/// the cheapest of those tried on the flag and the ball sheet.
const MARGIN: [f64; 2] = [0.2, 0.4];
/// Lists from which on making them is shared out to threads.
const PARALLEL_LISTS: usize = 8;

/// How far two bodies keep apart [m]; none where they pass through each other.
pub type Gaps<'a> = &'a (dyn Fn(u16, u16) -> Option<f64> + Sync);

/// Two features that may touch.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// Vertex and triangle, or the ends of two edges.
    pub vertices: [u32; 4],
    /// Which of both.
    pub pairing: Pairing,
    /// Distance that they keep [m].
    pub gap: f64,
    /// When it was last measured.
    distance: f64,
    /// The pair of clusters' approach at that time.
    measured_at: f64,
}

/// Two clusters that are near each other, or one that is near itself.
#[derive(Debug)]
pub struct ClusterPair {
    clusters: [u32; 2],
    /// How far their bodies keep apart [m].
    gap: f64,
    /// All features nearer than this were listed [m].
    radius: f64,
    /// How far the clusters may have come nearer since [m].
    approached: f64,
    /// What they may come nearer in this step [m].
    approach: f64,
    /// What may touch.
    pub list: Vec<Candidate>,
}

impl ClusterPair {
    /// A lower bound of a candidate's distance at the start of the step [m].
    pub fn at_least(&self, candidate: &Candidate) -> f64 {
        candidate.distance - (self.approached - candidate.measured_at)
    }

    /// Whether a candidate may touch in this step.
    pub fn is_near(&self, candidate: &Candidate) -> bool {
        self.at_least(candidate) <= candidate.gap + self.approach
    }

    /// How far its features may come nearer in this step [m].
    pub fn approach(&self) -> f64 {
        self.approach
    }

    /// Measure a candidate where it is at the start of the step.
    pub fn measure(&mut self, number: usize, x: &[Vec3]) -> Proximity {
        let candidate = &self.list[number];
        let near = proximity(candidate.pairing, &candidate.vertices.map(|v| x[v as usize]));
        self.note(number, near.distance);
        near
    }

    /// A candidate's distance at the start of the step, or what it is at least [m].
    pub fn note(&mut self, number: usize, distance: f64) {
        let candidate = &mut self.list[number];
        (candidate.distance, candidate.measured_at) = (distance, self.approached);
    }
}

/// All that may touch.
#[derive(Debug, Default)]
pub struct Candidates {
    clusters: Vec<Cluster>,
    /// Ascending by their clusters.
    pub pairs: Vec<ClusterPair>,
    /// Pairs of clusters farther apart than this were not listed [m].
    far: f64,
    /// How far two clusters may have come nearer since [m].
    far_approached: f64,
    mean_edge: f64,
    /// Largest distance that two bodies keep [m].
    largest_gap: f64,
}

impl Candidates {
    /// Whether nothing was ever looked at.
    pub fn is_empty(&self) -> bool {
        self.clusters.is_empty()
    }

    /// A cluster.
    pub fn cluster(&self, number: u32) -> &Cluster {
        &self.clusters[number as usize]
    }

    /// The clusters that are near each other or themselves, ascending.
    pub fn cluster_pairs(&self) -> impl Iterator<Item = [u32; 2]> + '_ {
        self.pairs.iter().map(|pair| pair.clusters)
    }

    /// Start over with where everything is now.
    pub fn reset(&mut self, surfaces: &Surfaces, x: &[Vec3], mean_edge: f64, largest_gap: f64) {
        self.clusters.clear();
        self.pairs.clear();
        for body in 0..surfaces.bodies.len() {
            clusters::build(surfaces, body, x, &mut self.clusters);
        }
        (self.far, self.far_approached, self.mean_edge) = (f64::NEG_INFINITY, 0.0, mean_edge);
        self.largest_gap = largest_gap;
    }

    /// Make the lists complete for a motion like the last one, with some room for what is faster; the guard looks closely.
    pub fn cover_likely(&mut self, surfaces: &Surfaces, gaps: Gaps, from: &[Vec3]) {
        for cluster in &mut self.clusters {
            cluster.spread *= LIKELY;
        }
        self.complete(surfaces, gaps, from);
    }

    /// Make the lists complete for a motion from the start to the end of a step.
    pub fn cover(&mut self, surfaces: &Surfaces, gaps: Gaps, from: &[Vec3], to: &[Vec3]) {
        clusters::observe(&mut self.clusters, from, to);
        self.complete(surfaces, gaps, from);
    }

    fn complete(&mut self, surfaces: &Surfaces, gaps: Gaps, from: &[Vec3]) {
        let fastest = self.clusters.iter().map(|c| c.way.norm() + c.spread).fold(0.0, f64::max);
        if self.far_approached + 2.0 * fastest > self.far {
            clusters::locate(&mut self.clusters, from);
            self.search(gaps, 2.0 * fastest);
        }
        let clusters = &self.clusters;
        let mut due = Vec::new();
        for (number, pair) in self.pairs.iter_mut().enumerate() {
            let [a, b] = pair.clusters;
            pair.approach = clusters::approach(&clusters[a as usize], &clusters[b as usize], a == b);
            if pair.approached + pair.approach > pair.radius - pair.gap {
                due.push(number);
            }
        }
        let [least, most] = MARGIN.map(|edges| edges * self.mean_edge);
        let make = |pair: &ClusterPair| {
            let lasting = (LASTING_STEPS * pair.approach).clamp(least, most);
            let margin = lasting.max(pair.gap).max(2.0 * pair.approach);
            let radius = pair.gap + margin;
            let [a, b] = pair.clusters;
            let [a, b] = [&clusters[a as usize], &clusters[b as usize]];
            (radius, list(surfaces, a, b, std::ptr::eq(a, b), from, radius, pair.gap))
        };
        let pairs = &self.pairs;
        let made: Vec<_> = if due.len() >= PARALLEL_LISTS && rayon::current_num_threads() > 1 {
            due.par_iter().map(|&number| make(&pairs[number])).collect()
        } else {
            due.iter().map(|&number| make(&pairs[number])).collect()
        };
        for (number, (radius, list)) in due.into_iter().zip(made) {
            let pair = &mut self.pairs[number];
            (pair.radius, pair.list, pair.approached) = (radius, list, 0.0);
        }
    }

    /// The step was taken.
    pub fn moved(&mut self) {
        let fastest = self.clusters.iter().map(|c| c.way.norm() + c.spread).fold(0.0, f64::max);
        self.far_approached += 2.0 * fastest;
        self.pairs.iter_mut().for_each(|pair| pair.approached += pair.approach);
    }

    /// Find the pairs of clusters that are near each other, by sweeping along the longest axis. What is known of pairs is kept.
    fn search(&mut self, gaps: Gaps, approach: f64) {
        let clusters = &self.clusters;
        let all = clusters.iter().fold(Aabb::empty(), |aabb, cluster| aabb.join(cluster.around));
        let axis = (all.high - all.low).imax();
        self.far = (FAR_STEPS * approach).clamp(0.5 * self.mean_edge, 4.0 * self.mean_edge).max(2.0 * approach);
        self.far_approached = 0.0;
        let mut order: Vec<u32> = (0..clusters.len() as u32).collect();
        order.sort_unstable_by(|&a, &b| {
            let low = |c: u32| clusters[c as usize].around.low[axis];
            low(a).total_cmp(&low(b)).then(a.cmp(&b))
        });
        let mut found = Vec::new();
        for (place, &a) in order.iter().enumerate() {
            let of_a = &clusters[a as usize];
            if let Some(gap) = gaps(of_a.body, of_a.body) {
                found.push(([a, a], gap));
            }
            for &b in &order[place + 1..] {
                let of_b = &clusters[b as usize];
                if of_b.around.low[axis] > of_a.around.high[axis] + self.far + self.largest_gap {
                    break;
                }
                if let Some(gap) = gaps(of_a.body, of_b.body)
                    && of_a.around.grown(self.far + gap).meets(&of_b.around)
                {
                    found.push(([a.min(b), a.max(b)], gap));
                }
            }
        }
        found.sort_unstable_by_key(|(clusters, _)| *clusters);
        let mut known = std::mem::take(&mut self.pairs).into_iter().peekable();
        self.pairs = found
            .into_iter()
            .map(|(clusters, gap)| {
                while known.next_if(|pair| pair.clusters < clusters).is_some() {}
                known.next_if(|pair| pair.clusters == clusters).unwrap_or(ClusterPair {
                    clusters,
                    gap,
                    radius: f64::NEG_INFINITY,
                    approached: 0.0,
                    approach: 0.0,
                    list: Vec::new(),
                })
            })
            .collect();
    }
}

/// Features of two clusters, or of one, that are nearer than a radius.
fn list(
    surfaces: &Surfaces,
    a: &Cluster,
    b: &Cluster,
    same: bool,
    x: &[Vec3],
    radius: f64,
    gap: f64,
) -> Vec<Candidate> {
    let around = |t: u32| {
        let corners = surfaces.triangles[t as usize];
        corners.iter().fold(Aabb::empty(), |aabb, &v| aabb.join(Aabb::around(x[v as usize])))
    };
    let [box_of_a, box_of_b] = [a, b].map(|cluster| cluster.around(x));
    let near = |cluster: &Cluster, other: &Aabb| -> Vec<(u32, Aabb)> {
        let reach = other.grown(radius);
        cluster.triangles.iter().map(|&t| (t, around(t))).filter(|(_, aabb)| same || reach.meets(aabb)).collect()
    };
    let (of_a, of_b) = (near(a, &box_of_b), if same { Vec::new() } else { near(b, &box_of_a) });
    let mut found = Lister { surfaces, x, radius, gap, is_own: a.body == b.body, list: Vec::new() };
    for (place, (s, around_s)) in of_a.iter().enumerate() {
        let reach = around_s.grown(radius);
        let others = if same { &of_a[place + 1..] } else { &of_b[..] };
        for (t, around_t) in others {
            if reach.meets(around_t) && !(found.is_own && surfaces.are_tied(*s, *t)) {
                found.triangles(*s, *t, around_s, around_t);
            }
        }
    }
    found.list
}

/// Collects features that are near each other.
struct Lister<'a> {
    surfaces: &'a Surfaces,
    x: &'a [Vec3],
    radius: f64,
    gap: f64,
    is_own: bool,
    list: Vec<Candidate>,
}

impl Lister<'_> {
    fn triangles(&mut self, s: u32, t: u32, around_s: &Aabb, around_t: &Aabb) {
        let surfaces = self.surfaces;
        let [of_s, of_t] = [s, t].map(|t| &surfaces.owned[t as usize]);
        for (owned, other, around) in [(of_s, t, around_t), (of_t, s, around_s)] {
            let corners = surfaces.triangles[other as usize];
            let reach = around.grown(self.radius);
            for &v in owned.vertices() {
                if !corners.contains(&v) && reach.meets(&Aabb::around(self.x[v as usize])) {
                    let [a, b, c] = corners;
                    self.add(Pairing::VertexTriangle, [v, a, b, c]);
                }
            }
        }
        for &[a, b] in of_s.edges() {
            let reach = Aabb::around(self.x[a as usize]).join(Aabb::around(self.x[b as usize])).grown(self.radius);
            for &[c, d] in of_t.edges() {
                let share = a == c || a == d || b == c || b == d;
                if !share && reach.meets(&Aabb::around(self.x[c as usize]).join(Aabb::around(self.x[d as usize]))) {
                    self.add(Pairing::EdgeEdge, [a, b, c, d]);
                }
            }
        }
    }

    fn add(&mut self, pairing: Pairing, vertices: [u32; 4]) {
        if vertices.iter().all(|&v| self.surfaces.k[v as usize] <= 0.0) {
            return; // all are led: nobody could keep them apart
        }
        let near = proximity(pairing, &vertices.map(|v| self.x[v as usize]));
        if near.distance >= self.radius {
            return;
        }
        let own = |gap: f64, v: &u32| gap.min(self.surfaces.own_gap[*v as usize]);
        let gap = if self.is_own { vertices.iter().fold(self.gap, own) } else { self.gap };
        self.list.push(Candidate { vertices, pairing, gap, distance: near.distance, measured_at: 0.0 });
    }
}
