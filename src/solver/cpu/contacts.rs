//! Which points of a cloth touch which colliders, kept over several steps.
//!
//! Contact points are the cloth's vertices (what is seen, three quarters of the quality) and its midpoint particles (twice as
//! dense, so that a sharp rim does not show between two vertices).
//!
//! Idea: a list of near pairs with a margin lives until something may have moved through the margin; only those pairs are measured
//! in every step.

use rayon::prelude::*;

use super::StepWorld;
use crate::algorithms::contact::resting::Resting;
use crate::math::Vec3;
use crate::model::{ClothModel, ClothState};

/// Margin of the list in edge lengths: longer lists against fewer rebuilds, flat between 0.25 and 1.
const MARGIN_EDGES: f64 = 0.5;
/// Pairs from which on measuring them is shared out to threads.
const PARALLEL_CANDIDATES: usize = 1024;

/// A point that can touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// A simulation vertex.
    Vertex(u32),
    /// A midpoint particle.
    Particle(u32),
}

impl Point {
    /// Where it is (or how fast), from the particles.
    pub fn value(self, cloth: &ClothModel, particles: &[Vec3]) -> Vec3 {
        match self {
            Point::Vertex(v) => cloth.map.vertex(v as usize, particles),
            Point::Particle(p) => particles[p as usize],
        }
    }

    /// Move it by moving the particles below it, each by its share.
    pub fn shift(self, cloth: &ClothModel, particles: &mut [Vec3], by: Vec3) {
        match self {
            Point::Particle(p) => particles[p as usize] += by,
            Point::Vertex(v) => {
                let impulse = by / cloth.vertex_k[v as usize];
                for &(particle, weight) in cloth.map.row(v as usize) {
                    particles[particle as usize] += impulse * (weight * cloth.k[particle as usize]);
                }
            }
        }
    }
}

/// A point on a collider during this step.
#[derive(Clone, Copy, Debug)]
pub struct Contact {
    /// What touches.
    pub point: Point,
    /// How.
    pub resting: Resting,
    /// Velocity of the collider's surface there [m/s].
    pub surface_velocity: Vec3,
}

/// The list of near pairs and the contacts of the current step.
#[derive(Debug, Default)]
pub struct Contacts {
    candidates: Vec<(Point, u32)>,
    /// How much of the margin may be used up.
    travelled: f64,
    /// The contacts of this step, vertices first.
    pub active: Vec<Contact>,
}

impl Contacts {
    /// Forget the list, so that what follows depends on the state alone.
    pub fn reset(&mut self) {
        self.travelled = f64::INFINITY;
        self.active.clear();
    }

    /// Find the contacts of a step from the look-ahead positions `ahead`.
    pub fn find(&mut self, cloth: &ClothModel, moving: &ClothState, ahead: &[Vec3], world: &StepWorld) {
        self.active.clear();
        if world.model.colliders.is_empty() {
            return;
        }
        let margin = MARGIN_EDGES * cloth.mean_edge;
        let cloth_speed = moving.v.iter().map(|v| v.norm_squared()).fold(0.0, f64::max).sqrt();
        let step_length = world.h * (cloth_speed + world.h * world.gravity.norm());
        // What colliders move is bounded over the cloth's own points below, when a pair is measured; here over the list's life.
        self.travelled += step_length + collider_motion(cloth, moving, world);
        if !(self.travelled < margin) {
            self.collect(cloth, moving, margin, world);
            self.travelled = 0.0;
        }
        let measure = |&(point, collider): &(Point, u32)| {
            measure(point, collider as usize, cloth, moving, ahead, step_length, world)
        };
        if self.candidates.len() >= PARALLEL_CANDIDATES && rayon::current_num_threads() > 1 {
            let found: Vec<Option<Contact>> =
                self.candidates.par_iter().with_min_len(PARALLEL_CANDIDATES / 4).map(measure).collect();
            self.active.extend(found.into_iter().flatten());
        } else {
            self.active.extend(self.candidates.iter().filter_map(measure));
        }
    }

    /// All pairs that can touch before something has moved by the margin.
    fn collect(&mut self, cloth: &ClothModel, moving: &ClothState, margin: f64, world: &StepWorld) {
        let vertices = (0..cloth.map.vertex_count() as u32).map(Point::Vertex);
        let particles = (0..cloth.k.len() as u32).map(Point::Particle);
        let movable = |point: &Point| match *point {
            Point::Vertex(v) => cloth.vertex_k[v as usize] > 0.0,
            Point::Particle(p) => cloth.k[p as usize] > 0.0,
        };
        let points: Vec<Point> = vertices.chain(particles).filter(movable).collect();
        let near = |&point: &Point| -> Vec<(Point, u32)> {
            let at = point.value(cloth, &moving.x);
            let colliders = world.model.colliders.iter().zip(&world.collider_poses).enumerate();
            colliders
                .filter_map(|(number, (collider, poses))| {
                    // Twice the margin on top: once for the list's life, once for the step that ends it.
                    let reach = cloth.fabric.thickness + collider.thickness + 2.0 * margin;
                    // A mesh answers only within its reach; look further, so that a point inside is found too.
                    let nearest = collider.nearest(&poses[1], at, reach + cloth.mean_edge)?;
                    (nearest.distance < reach).then_some((point, number as u32))
                })
                .collect()
        };
        self.candidates.clear();
        if rayon::current_num_threads() > 1 {
            self.candidates.par_extend(points.par_iter().with_min_len(512).flat_map_iter(near));
        } else {
            self.candidates.extend(points.iter().flat_map(near));
        }
    }
}

/// How far any collider moves in the step where the cloth is: a bound over the corners of the box around the cloth.
fn collider_motion(cloth: &ClothModel, moving: &ClothState, world: &StepWorld) -> f64 {
    if world.model.colliders.iter().all(|collider| collider.motion.is_constant()) {
        return 0.0;
    }
    let Some((low, high)) = crate::mesh::measures::bounds(moving.x.iter().copied()) else {
        return 0.0;
    };
    // A rigid motion is affine, so its displacement is largest at a corner. One edge more for vertices outside the midpoints.
    let (low, high) = (low.add_scalar(-cloth.mean_edge), high.add_scalar(cloth.mean_edge));
    let corners = (0..8).map(|c| Vec3::from_fn(|axis, _| if (c >> axis) & 1 == 0 { low[axis] } else { high[axis] }));
    let moved = |p: Vec3| {
        world
            .collider_poses
            .iter()
            .map(move |[from, to]| (to.apply(from.apply_inverse(p)) - p).norm())
            .fold(0.0, f64::max)
    };
    corners.map(moved).fold(0.0, f64::max)
}

/// The contact of a pair in this step, if there is one.
fn measure(
    point: Point,
    number: usize,
    cloth: &ClothModel,
    moving: &ClothState,
    ahead: &[Vec3],
    step_length: f64,
    world: &StepWorld,
) -> Option<Contact> {
    let collider = &world.model.colliders[number];
    let [from, to] = &world.collider_poses[number];
    let thickness = cloth.fabric.thickness + collider.thickness;
    // The sweeps may still move the point by about as much as the step did.
    let activation = 0.5 * thickness + 2.0 * step_length;
    let seen_at = point.value(cloth, ahead);
    let nearest = collider.nearest(to, seen_at, thickness + activation + cloth.mean_edge)?;
    let gap = nearest.distance - thickness;
    if !(gap < activation) {
        return None;
    }
    let start = point.value(cloth, &moving.x);
    let carried_to = to.apply(from.apply_inverse(start));
    let friction = (cloth.fabric.friction * world.collider_friction[number]).sqrt();
    let resting =
        Resting { normal: nearest.normal, seen_at, gap, carried_to, friction, pressed: 0.0, held: Vec3::zeros() };
    Some(Contact { point, resting, surface_velocity: (carried_to - start) / world.h })
}
