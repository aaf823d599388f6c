//! The volume inside a closed surface, kept by moving its particles along their normals.
//!
//! Based on: [Bender14 §4.4.2.3] (Volumenerhaltung, 4.19-4.24); Hong, Jung, Choi and Welch 2006
//! Idea:     with n̄ the area-weighted normals summed at each particle, `V = 1/9 Σ xᵀ n̄` and `∇V = n̄ / 3`, exactly; one correction moves
//!           particles by their weights along that. Weights decide where volume that is lost comes back: where the shape was pushed in, where
//!           the opposite side came nearer, or everywhere.
//! Deviates: where the thesis takes how far a particle is from its goal, and how much the distance through the body has changed, only what
//!           would bring the volume nearer counts: a peak that has taken too much would else be given all that lacks, and the rest would empty
//!           into it. The thesis has `C = 3 V - 3 V₀` with `∇C = n̄ / 3`, which overshoots threefold. Weights are divided by the masses, so that
//!           equal ones keep momentum.
//! Test:     tests/algorithms/surface_volume.rs

use crate::math::Vec3;
use crate::math::rows::Rows;
use crate::mesh::bvh::Bvh;

/// Twice the area vectors of triangles, summed over those around a vertex and halved: `n̄` [m²].
#[inline(always)]
pub fn area_normal(doubled: &[Vec3], triangles: &[u32]) -> Vec3 {
    triangles.iter().fold(Vec3::zeros(), |sum, &t| sum + doubled[t as usize]) * 0.5
}

/// Twice the area vector of a triangle.
#[inline(always)]
pub fn doubled_area([a, b, c]: [Vec3; 3]) -> Vec3 {
    (b - a).cross(&(c - a))
}

/// The area normals of all vertices. The sums have the order of `area_normal`, so they are the same bits; the same holds for
/// the volume inside, which is returned.
pub fn area_normals(x: &[Vec3], triangles: &[[u32; 3]], outwards: f64, normals: &mut [Vec3]) -> f64 {
    normals.fill(Vec3::zeros());
    for corners in triangles {
        let [a, b, c] = corners.map(|v| v as usize);
        let doubled = doubled_area([x[a], x[b], x[c]]);
        normals[a] += doubled;
        normals[b] += doubled;
        normals[c] += doubled;
    }
    let about = x.first().copied().unwrap_or_default();
    let mut sum = 0.0;
    for (x, normal) in x.iter().zip(normals) {
        *normal *= 0.5 * outwards;
        sum += (x - about).dot(normal);
    }
    sum / 9.0
}

/// The volume inside, from places and area normals [m³].
pub fn volume(x: &[Vec3], normals: &[Vec3]) -> f64 {
    let about = x.first().copied().unwrap_or_default(); // any point will do; one that is near loses fewer digits
    x.iter().zip(normals).map(|(x, n)| (x - about).dot(n)).sum::<f64>() / 9.0
}

/// What brings a volume back: each particle goes along its area normal, by its weight times the multiplier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Correction {
    /// What weights are multiplied with.
    pub multiplier: f64,
    /// The longest way of a particle [m].
    pub longest: f64,
}

/// How a volume that lacks this much is brought back; `None` where no weight moves anything.
#[inline]
pub fn correction(lacking: f64, weight: impl Fn(usize) -> f64, normals: &[Vec3]) -> Option<Correction> {
    let (mut slope, mut longest) = (0.0, 0.0);
    for (i, normal) in normals.iter().enumerate() {
        let (weight, square) = (weight(i), normal.norm_squared());
        slope += weight * square;
        let way = weight * weight * square;
        longest = if way > longest { way } else { longest };
    }
    // The gradient is a third of the normal, here and in the way along it.
    let multiplier = 3.0 * lacking / slope;
    let correction = Correction { multiplier, longest: longest.sqrt() * multiplier.abs() };
    (slope > 0.0 && multiplier.is_finite()).then_some(correction)
}

/// How fast the volume grows [m³/s].
pub fn growth(v: &[Vec3], normals: &[Vec3]) -> f64 {
    v.iter().zip(normals).map(|(v, n)| v.dot(n)).sum::<f64>() / 3.0
}

/// What is inside, seen from each particle: the one across, and how far it is at rest.
#[derive(Clone, Debug, PartialEq)]
pub struct InnerStructure {
    /// The particle across, found along the normal inwards; itself where nothing is there.
    pub across: Vec<u32>,
    /// How far it is at rest [m].
    pub distances: Vec<f64>,
    /// How much a change of the distance counts: from `s_max` for the shortest to `s_min` for the longest.
    pub weights: Vec<f64>,
}

impl InnerStructure {
    /// Rays from each vertex against its normal, to the vertex nearest to where they come out.
    pub fn build(x: &[Vec3], triangles: &[[u32; 3]], normals: &[Vec3], [s_min, s_max]: [f64; 2]) -> Self {
        let bvh = Bvh::build(x, triangles);
        let find = |i: usize| {
            let inwards = -normals[i].try_normalize(0.0)?;
            let mut first: Option<(f64, u32)> = None;
            bvh.along(x[i], inwards, |t| {
                let corners = triangles[t as usize];
                if !corners.contains(&(i as u32))
                    && let Some(far) = hit(x[i], inwards, corners.map(|v| x[v as usize]))
                    && first.is_none_or(|(known, of)| (far, t) < (known, of))
                {
                    first = Some((far, t));
                }
                first.map_or(f64::INFINITY, |(far, _)| far)
            });
            let (far, t) = first?;
            let place = x[i] + inwards * far;
            let nearer = |a: &u32, b: &u32| {
                let far = |v: u32| (x[v as usize] - place).norm_squared();
                far(*a).total_cmp(&far(*b)).then(a.cmp(b))
            };
            triangles[t as usize].into_iter().min_by(nearer)
        };
        let across: Vec<u32> = (0..x.len()).map(|i| find(i).unwrap_or(i as u32)).collect();
        let distances: Vec<f64> = across.iter().enumerate().map(|(i, &k)| (x[i] - x[k as usize]).norm()).collect();
        let found = || distances.iter().copied().filter(|distance| *distance > 0.0);
        let (shortest, longest) = (found().fold(f64::INFINITY, f64::min), found().fold(0.0, f64::max));
        let weight = |&distance: &f64| match distance > 0.0 {
            true if longest > shortest => s_max + (s_min - s_max) * (distance - shortest) / (longest - shortest),
            true => s_max,
            false => 0.0,
        };
        InnerStructure { weights: distances.iter().map(weight).collect(), across, distances }
    }

    /// By how much the distance to the particle across has grown [m].
    #[inline(always)]
    pub fn change(&self, i: usize, x: &[Vec3]) -> f64 {
        (x[i] - x[self.across[i] as usize]).norm() - self.distances[i]
    }
}

/// How far along a ray a triangle is, whichever side it shows.
fn hit(from: Vec3, direction: Vec3, [a, b, c]: [Vec3; 3]) -> Option<f64> {
    let (ab, ac) = (b - a, c - a);
    let across = direction.cross(&ac);
    let determinant = ab.dot(&across);
    if determinant == 0.0 {
        return None;
    }
    let to_a = from - a;
    let u = to_a.dot(&across) / determinant;
    let along = to_a.cross(&ab);
    let v = direction.dot(&along) / determinant;
    let far = ac.dot(&along) / determinant;
    // Rays through an edge must not slip between two triangles.
    let slack = -1e-9;
    (u >= slack && v >= slack && u + v <= 1.0 - slack && far > 0.0).then_some(far)
}

/// How much of a volume that lacks each particle brings back, before contacts: the mean of a part for all alike (`alpha`) and one for where the
/// body has been deformed, by `local`.
pub fn blend(alpha: f64, local: &[f64], weights: &mut [f64]) {
    let (sum, count) = (local.iter().sum::<f64>(), local.len() as f64);
    let share = if sum > 0.0 && sum.is_finite() { (1.0 - alpha) / sum } else { 0.0 };
    let alike = if share > 0.0 { alpha } else { 1.0 } / count;
    for (weight, local) in weights.iter_mut().zip(local) {
        *weight = if share > 0.0 { local * share + alike } else { alike };
    }
}

/// The triangles around each vertex.
pub fn around(vertex_count: usize, triangles: &[[u32; 3]]) -> Rows<u32> {
    let mut around: Vec<Vec<u32>> = vec![Vec::new(); vertex_count];
    for (t, corners) in triangles.iter().enumerate() {
        corners.iter().for_each(|&v| around[v as usize].push(t as u32));
    }
    around.into_iter().collect()
}
