//! Which points of a cloth touch which colliders, kept over several steps.
//!
//! Contact points are the cloth's vertices (what is seen) and its midpoint particles (twice as dense, so that a sharp rim does not
//! show between two vertices).
//!
//! Idea: two lists, each kept until something may have moved through its margin. Pairs that are near live long and are found by
//! asking every point; planes of touching pairs live shorter and are found by asking the near pairs. A plane moves with its
//! collider, so between two measurements it is exact for flat colliders and off by `margin² / 2 radius` for round ones.

use rayon::prelude::*;

use super::StepWorld;
use crate::algorithms::contact::resting::Resting;
use crate::math::motion::Pose;
use crate::math::{Vec3, largest_norm};
use crate::model::{ClothModel, ClothState, ColliderModel};

/// Margin of the list of near pairs, in edge lengths: longer lists against fewer searches; not tuned.
const NEAR_MARGIN: f64 = 0.5;
/// Margin of the planes, in edge lengths: on a ball of ten edges' radius the plane is off by less than a ten-thousandth of an edge.
const PLANE_MARGIN: f64 = 0.04;
/// Speed at which what is inside a collider comes out [m/s].
const PUSH_OUT_SPEED: f64 = 1.0;
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

/// A point on a collider.
#[derive(Clone, Copy, Debug)]
pub struct Contact {
    /// What touches.
    pub point: Point,
    /// How, during this step.
    pub resting: Resting,
    /// Velocity of the collider's surface there [m/s].
    pub surface_velocity: Vec3,
    collider: u32,
    /// The plane's point and normal in the collider's own coordinates.
    local_point: Vec3,
    local_normal: Vec3,
}

/// The near pairs and the touching ones.
#[derive(Debug)]
pub struct Contacts {
    near: Vec<(Point, u32)>,
    near_travelled: f64,
    planes_travelled: f64,
    /// Touching pairs, vertices first.
    pub active: Vec<Contact>,
}

impl Contacts {
    /// Nothing known yet.
    pub fn new() -> Self {
        Contacts {
            near: Vec::new(),
            near_travelled: f64::INFINITY,
            planes_travelled: f64::INFINITY,
            active: Vec::new(),
        }
    }

    /// Forget the lists, so that what follows depends on the state alone.
    pub fn reset(&mut self) {
        *self = Contacts::new();
    }

    /// Bring the contacts up to date for a step from the positions at its start.
    pub fn find(&mut self, cloth: &ClothModel, moving: &ClothState, world: &StepWorld) {
        if world.model.colliders.is_empty() {
            return;
        }
        let cloth_speed = largest_norm(&moving.v);
        let step_length =
            world.h * (cloth_speed + world.h * world.gravity.norm()) + collider_motion(cloth, moving, world);
        let [near_margin, plane_margin] = [NEAR_MARGIN, PLANE_MARGIN].map(|edges| edges * cloth.mean_edge);
        self.near_travelled += step_length;
        self.planes_travelled += step_length;
        // A length that is not a number counts as too far.
        let within = |travelled: f64, margin: f64| travelled < margin;
        if !within(self.near_travelled, near_margin) {
            self.search(cloth, moving, near_margin + plane_margin + step_length, world);
            self.near_travelled = 0.0;
            self.planes_travelled = f64::INFINITY;
        }
        if !within(self.planes_travelled, plane_margin) {
            self.measure(cloth, moving, plane_margin + step_length, world);
            self.planes_travelled = 0.0;
        }
        for contact in &mut self.active {
            contact.begin_step(cloth, moving, world);
        }
    }

    /// All pairs that can touch before something has moved by the margin.
    fn search(&mut self, cloth: &ClothModel, moving: &ClothState, margin: f64, world: &StepWorld) {
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
                    let reach = activation(cloth, collider) + margin;
                    // A mesh answers only within its reach; look further, so that a point inside is found too.
                    let nearest = collider.nearest(&poses[0], at, reach + cloth.mean_edge)?;
                    (nearest.distance < reach).then_some((point, number as u32))
                })
                .collect()
        };
        self.near.clear();
        if rayon::current_num_threads() > 1 {
            self.near.par_extend(points.par_iter().with_min_len(512).flat_map_iter(near));
        } else {
            self.near.extend(points.iter().flat_map(near));
        }
    }

    /// The planes of near pairs that can touch before something has moved by the margin.
    fn measure(&mut self, cloth: &ClothModel, moving: &ClothState, margin: f64, world: &StepWorld) {
        let measure = |&(point, number): &(Point, u32)| {
            let collider = &world.model.colliders[number as usize];
            let pose = &world.collider_poses[number as usize][0];
            let reach = activation(cloth, collider) + margin;
            let at = point.value(cloth, &moving.x);
            let nearest = collider.nearest(pose, at, reach + cloth.mean_edge)?;
            let friction = (cloth.fabric.friction * world.collider_friction[number as usize]).sqrt();
            (nearest.distance < reach).then(|| Contact {
                point,
                resting: Resting::new(nearest.normal, at, nearest.distance - thickness(cloth, collider), friction),
                surface_velocity: Vec3::zeros(),
                collider: number,
                local_point: pose.apply_inverse(at),
                local_normal: pose.rotation.inverse() * nearest.normal,
            })
        };
        self.active.clear();
        if self.near.len() >= PARALLEL_CANDIDATES && rayon::current_num_threads() > 1 {
            let found: Vec<Option<Contact>> =
                self.near.par_iter().with_min_len(PARALLEL_CANDIDATES / 4).map(measure).collect();
            self.active.extend(found.into_iter().flatten());
        } else {
            self.active.extend(self.near.iter().filter_map(measure));
        }
    }
}

impl Contact {
    /// Where the plane and the point it carries along will be at the end of the step.
    fn begin_step(&mut self, cloth: &ClothModel, moving: &ClothState, world: &StepWorld) {
        let start = self.point.value(cloth, &moving.x);
        let push = PUSH_OUT_SPEED * world.h;
        let number = self.collider as usize;
        if world.model.colliders[number].motion.is_constant() {
            self.resting.begin_step(start, push);
            return;
        }
        let [from, to] = &world.collider_poses[number];
        let carried_to = to.apply(from.apply_inverse(start));
        self.resting.seen_at = to.apply(self.local_point);
        self.resting.normal = to.rotation * self.local_normal;
        self.resting.begin_step(carried_to, push);
        self.surface_velocity = (carried_to - start) / world.h;
    }
}

/// Distance that a cloth keeps from a collider's surface [m].
fn thickness(cloth: &ClothModel, collider: &ColliderModel) -> f64 {
    cloth.fabric.thickness + collider.thickness
}

/// Distance from the surface at which a contact is watched: the sweeps may push a point this much further.
fn activation(cloth: &ClothModel, collider: &ColliderModel) -> f64 {
    1.5 * thickness(cloth, collider)
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
    let corner = |c: usize| Vec3::from_fn(|axis, _| if (c >> axis) & 1 == 0 { low[axis] } else { high[axis] });
    let moved = |[from, to]: &[Pose; 2], p: Vec3| (to.apply(from.apply_inverse(p)) - p).norm();
    let poses = || world.collider_poses.iter();
    (0..8).map(|c| poses().map(|pose| moved(pose, corner(c))).fold(0.0, f64::max)).fold(0.0, f64::max)
}
