//! What is tangled is led apart, a little in each step, until nothing crosses.
//!
//! Idea: between cloths of different layers the way out is known: the outer one belongs on the side that the inner one's faces look to. Elsewhere
//! the contour along which surfaces cross is made shorter (`algorithms::contact::untangle`). What is inside a body is led out by its signed
//! distance (`contacts`), not here. The displacements give no speed: see `Touching::calm`.

use std::collections::BTreeMap;

use super::crossings::Crossing;
use super::surfaces::Surfaces;
use crate::algorithms::contact::untangle::{piercing, shorten_contour};
use crate::math::Vec3;

/// Speed at which what crosses is led apart [m/s].
const UNTANGLE_SPEED: f64 = 0.5;
/// Steps after which crossings are looked for again.
const LASTING_STEPS: u32 = 4;

/// What crosses in this part of a frame.
#[derive(Debug, Default)]
pub struct Tangles {
    crossings: Vec<Crossing>,
    /// The triangles at each edge that crosses.
    faces: BTreeMap<[u32; 2], Vec<[u32; 3]>>,
    /// Steps since they were looked for.
    age: u32,
    /// What was moved in the step, and by how much [m].
    pub shifts: Vec<(u32, Vec3)>,
}

impl Tangles {
    /// Take in what crosses.
    pub fn set(&mut self, crossings: Vec<Crossing>, surfaces: &Surfaces) {
        self.age = 0;
        self.shifts.clear();
        self.faces = crossings.iter().map(|crossing| (crossing.edge, Vec::new())).collect();
        self.crossings = crossings;
        if self.faces.is_empty() {
            return;
        }
        for corners in &surfaces.triangles {
            for k in 0..3 {
                let (a, b) = (corners[k], corners[(k + 1) % 3]);
                if let Some(faces) = self.faces.get_mut(&[a.min(b), a.max(b)]) {
                    faces.push(*corners);
                }
            }
        }
    }

    /// Whether it is time to look again.
    pub fn are_old(&mut self) -> bool {
        self.age += 1;
        !self.crossings.is_empty() && self.age > LASTING_STEPS
    }

    /// How the vertices shall move in a step of this length from where they are; momentum is kept. `layer` is that of a body, `is_led_out` tells
    /// crossings that others take care of.
    pub fn lead_apart(
        &mut self,
        surfaces: &Surfaces,
        x: &[Vec3],
        h: f64,
        layer: impl Fn(u16) -> Option<i32>,
        is_led_out: impl Fn(&Crossing) -> bool,
    ) {
        self.shifts.clear();
        let mut counts: BTreeMap<u32, f64> = BTreeMap::new();
        let vertices = |crossing: &Crossing| {
            let ([p, q], [a, b, c]) = (crossing.edge, crossing.triangle);
            [p, q, a, b, c]
        };
        let mut wishes = Vec::new();
        for crossing in self.crossings.iter().filter(|crossing| !is_led_out(crossing)) {
            let at = |v: u32| x[v as usize];
            let (edge, triangle) = (crossing.edge.map(at), crossing.triangle.map(at));
            let [of_edge, of_triangle] =
                [crossing.edge[0], crossing.triangle[0]].map(|v| layer(surfaces.body_of[v as usize]));
            let faces = &self.faces[&crossing.edge];
            let normal = |[a, b, c]: [Vec3; 3]| (b - a).cross(&(c - a));
            let direction = match (of_edge, of_triangle) {
                // The outer one goes where the inner one's faces look to.
                (Some(own), Some(other)) if own > other => normal(triangle).try_normalize(0.0),
                (Some(own), Some(other)) if own < other => {
                    let outwards: Vec3 = faces.iter().map(|face| normal(face.map(at))).sum();
                    (-outwards).try_normalize(0.0)
                }
                _ => {
                    let tip = |face: &[u32; 3]| face.iter().copied().find(|v| !crossing.edge.contains(v));
                    let tips: Vec<Vec3> = faces.iter().filter_map(tip).map(at).collect();
                    shorten_contour(edge, &tips, triangle)
                }
            };
            let (Some(direction), Some(at)) = (direction, piercing(edge, triangle)) else {
                continue;
            };
            let [a, b, c] = at.corners;
            vertices(crossing).iter().for_each(|&v| *counts.entry(v).or_default() += 1.0);
            wishes.push((crossing, direction, [1.0 - at.along, at.along, -a, -b, -c]));
        }
        let mut shifts: BTreeMap<u32, Vec3> = BTreeMap::new();
        for (crossing, direction, weights) in wishes {
            let vertices = vertices(crossing);
            let k = vertices.map(|v| surfaces.k[v as usize]);
            let inverse_mass: f64 = weights.iter().zip(k).map(|(w, k)| w * w * k).sum();
            if inverse_mass <= 0.0 {
                continue;
            }
            // Vertices with many crossings are not moved many times as fast.
            let most = vertices.iter().map(|v| counts[v]).fold(1.0, f64::max);
            let by = direction * (UNTANGLE_SPEED * h / (most * inverse_mass));
            for ((v, weight), k) in vertices.into_iter().zip(weights).zip(k) {
                if k > 0.0 {
                    *shifts.entry(v).or_default() += by * (weight * k);
                }
            }
        }
        self.shifts = shifts.into_iter().collect();
    }
}
