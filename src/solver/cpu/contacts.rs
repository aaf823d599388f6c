//! Which points of a body touch which colliders, kept over several steps.
//!
//! Contact points are the cloth's vertices (what is seen), its midpoint particles (twice as dense, so that a sharp rim does not
//! show between two vertices) and samples inside triangles that are large for what might show through them.
//!
//! Idea: a pair of point and collider that was found far apart sleeps until both together may have come that far; a pair that is near
//! has a plane, which moves with the part of the surface it was measured on and is measured again when the point has moved
//! relative to that. So between two measurements a plane is exact for flat colliders and off by `margin² / 2 radius` for round ones.

use std::time::Instant;

use rayon::prelude::*;

use super::StepWorld;
use super::breaks::Breaks;
use super::independent::larger;
use crate::algorithms::contact::friction::Friction;
use crate::algorithms::contact::resting::Resting;
use crate::algorithms::contact::restitution;
use crate::math::{Vec3, largest_norm};
use crate::mesh::bvh::Aabb;
use crate::model::{Anchor, BodyState, Model, MovingCollider, PairRule, Promise, Skin};

/// How far away a mesh is looked for, in edge lengths: pairs further apart sleep as if they were at this distance.
pub const SEARCH_EDGES: f64 = 3.0;
/// How far ahead a cloth that leaves the box it is watched in is watched from then on, in edge lengths.
const WATCH_EDGES: f64 = 2.0;
/// How far a point may move relative to the surface below its plane, in edge lengths: on a ball of ten edges' radius the plane is
/// then off by less than a ten-thousandth of an edge.
pub const PLANE_MARGIN: f64 = 0.04;
/// Speed at which what is inside a collider comes out [m/s].
pub const PUSH_OUT_SPEED: f64 = 1.0;
/// Cosine between two normals below which surfaces close on what is between them.
pub const OPPOSITE: f64 = -0.3;
/// Pairs from which on measuring them is shared out to threads.
const PARALLEL_PAIRS: usize = 256;
/// Sweeps over contacts of soft bodies: neighbours share particles, so one sweep would leave each where the next one has pushed it, and no
/// stack would come to rest.
pub const SOFT_SWEEPS: u32 = 4;

/// Part of the distance kept that may be missing at a frame's end before that counts as a broken promise.
pub const THIN: f64 = 0.5;
/// Least thickness that is judged, in edge lengths.
const LEAST_JUDGED: f64 = 0.01;
/// Depth in edge lengths up to which a vertex is moved out of a collider in one go.
const LEAVE_EDGES: f64 = 0.25;

/// A point that can touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// A simulation vertex.
    Vertex(u32),
    /// A midpoint particle.
    Particle(u32),
    /// A point inside a large triangle, into `Skin::samples`.
    Sample(u32),
}

impl Point {
    /// Where it is (or how fast), from the particles.
    pub fn value(self, skin: &Skin, particles: &[Vec3]) -> Vec3 {
        match self {
            Point::Vertex(v) => skin.map.vertex(v as usize, particles),
            Point::Particle(p) => particles[p as usize],
            Point::Sample(s) => mean(skin.samples.rows.row(s as usize), particles),
        }
    }

    /// Move it by moving the particles below it, each by its share.
    pub fn shift(self, skin: &Skin, particles: &mut [Vec3], by: Vec3) {
        match self {
            Point::Particle(p) => particles[p as usize] += by,
            Point::Vertex(v) => spread(skin.map.row(v as usize), skin, particles, by / skin.vertex_k[v as usize]),
            Point::Sample(s) => {
                spread(skin.samples.rows.row(s as usize), skin, particles, by / skin.samples.k[s as usize]);
            }
        }
    }
}

/// The weighted mean of some particles.
fn mean(row: &[(u32, f64)], particles: &[Vec3]) -> Vec3 {
    row.iter().fold(Vec3::zeros(), |sum, &(particle, weight)| sum + particles[particle as usize] * weight)
}

/// An impulse on a weighted mean of particles.
pub fn spread(row: &[(u32, f64)], skin: &Skin, particles: &mut [Vec3], impulse: Vec3) {
    for &(particle, weight) in row {
        particles[particle as usize] += impulse * (weight * skin.k[particle as usize]);
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
    /// Distance that is kept from the bare surface [m].
    pub thickness: f64,
    /// Whether the point is let pass, because another collider leaves no room.
    pub passes: bool,
    /// Which pair of point and collider it is.
    pair: u32,
    /// What the plane moves with.
    anchor: Anchor,
    /// The plane's point and normal in the anchor's coordinates.
    local_point: Vec3,
    local_normal: Vec3,
}

/// All pairs of a cloth's points and the colliders; those of one point stand together.
#[derive(Debug)]
pub struct Contacts {
    points: Vec<Point>,
    collider_count: usize,
    /// How the cloth touches each collider.
    rules: Vec<Option<PairRule>>,
    /// How far away the farthest surface is looked for [m].
    reach: f64,
    /// How far each collider and the cloth may have moved towards each other since the start of the frame [m].
    travelled: Vec<f64>,
    /// For each pair how far that may go until it has to be looked at; infinite for those that are active.
    sleeps_until: Vec<f64>,
    /// How far each collider may have moved from the start of the frame to that of the step [m].
    collider_travelled: Vec<f64>,
    /// For each pair what was seen when it was last looked at, if anything was near.
    seen: Vec<Option<Seen>>,
    /// Pairs that are near, ascending: vertices first.
    pub active: Vec<Contact>,
    /// Vertices that are let pass a collider in this step, and the collider, ascending.
    pub passing: Vec<(u32, u32)>,
}

/// What was near a point at some time.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// Where the point was.
    from: Vec3,
    /// How far away the surface was [m].
    distance: f64,
    /// Which part of it.
    part: u32,
    /// How far the collider had travelled by then [m].
    collider_travelled: f64,
}

/// What a look at a pair showed.
struct Look {
    seen: Option<Seen>,
    contact: Option<Box<Contact>>,
}

impl Contacts {
    /// Nothing known yet.
    pub fn new(number: usize, skin: &Skin, model: &Model) -> Self {
        let vertices = (0..skin.map.vertex_count() as u32).map(Point::Vertex);
        let midpoints = if skin.is_on_midpoints() { skin.k.len() as u32 } else { 0 };
        let particles = (0..midpoints).map(Point::Particle);
        let movable = |point: &Point| match *point {
            Point::Vertex(v) => skin.vertex_k[v as usize] > 0.0,
            Point::Particle(p) => skin.k[p as usize] > 0.0,
            Point::Sample(s) => skin.samples.k[s as usize] > 0.0,
        };
        let samples = (0..skin.samples.k.len() as u32).map(Point::Sample);
        let points: Vec<Point> = vertices.chain(particles).chain(samples).filter(movable).collect();
        let collider_count = model.colliders.len();
        let rules = model.contact.with_colliders(number).to_vec();
        Contacts {
            travelled: vec![0.0; collider_count],
            sleeps_until: vec![0.0; points.len() * collider_count],
            collider_travelled: vec![0.0; collider_count],
            seen: vec![None; points.len() * collider_count],
            points,
            collider_count,
            reach: rules.iter().flatten().map(|rule| search_reach(skin, rule)).fold(0.0, f64::max),
            rules,
            active: Vec::new(),
            passing: Vec::new(),
        }
    }

    /// Whether the cloth touches a collider at all.
    pub fn meets(&self, collider: usize) -> bool {
        self.rules[collider].is_some()
    }

    /// Forget everything, so that what follows depends on the state alone. What was seen last stays as a guess.
    pub fn reset(&mut self) {
        self.travelled.fill(0.0);
        self.sleeps_until.fill(f64::NEG_INFINITY);
        self.collider_travelled.fill(0.0);
        self.active.clear();
        self.passing.clear();
    }

    /// The box in which colliders are watched, if the cloth moves by `way` at most.
    pub fn watched_box(&self, skin: &Skin, moving: &BodyState, way: f64) -> Aabb {
        let around = moving.x.iter().fold(Aabb::empty(), |aabb, p| aabb.join(Aabb::around(*p)));
        // One edge more for vertices outside the midpoints.
        around.grown(self.reach + skin.mean_edge + way)
    }

    /// Watch the colliders where the cloth is now, and say where that is.
    pub fn watch(&self, number: usize, skin: &Skin, moving: &BodyState, colliders: &mut [MovingCollider]) -> Aabb {
        let around = self.watched_box(skin, moving, 0.0);
        colliders.iter_mut().for_each(|collider| collider.watch(number, around, WATCH_EDGES * skin.mean_edge));
        around
    }

    /// Bring the contacts up to date for a step from the positions at its start.
    pub fn find(&mut self, number: usize, skin: &Skin, moving: &BodyState, world: &mut StepWorld) {
        if self.collider_count == 0 {
            return;
        }
        let start = Instant::now();
        let cloth_way = world.h * (largest_norm(&moving.v) + world.h * world.gravity.norm());
        let mut ways = vec![cloth_way; self.collider_count];
        let is_watched =
            |collider: &MovingCollider| !collider.model.is_still() || collider.model.rigid_mesh().is_some();
        if world.colliders.iter().any(is_watched) {
            let around = self.watch(number, skin, moving, world.colliders);
            for (way, collider) in ways.iter_mut().zip(world.colliders.iter()) {
                *way += collider.step_motion(&around);
            }
        }
        self.travelled.iter_mut().zip(&ways).for_each(|(travelled, way)| *travelled += way);
        let margin = PLANE_MARGIN * skin.mean_edge;
        let (sleeps_until, rules) = (&mut self.sleeps_until, &self.rules);
        self.active.retain_mut(|contact| {
            let stays = contact.begin_step(skin, moving, world, rules, margin);
            if !stays {
                sleeps_until[contact.pair as usize] = f64::NEG_INFINITY;
            }
            stays
        });
        let mut due = Vec::new();
        let activations: Vec<Option<f64>> = self.rules.iter().map(|rule| rule.as_ref().map(activation)).collect();
        let mut pair = 0;
        for _ in 0..self.points.len() {
            for collider in 0..self.collider_count {
                if let Some(activation) = activations[collider]
                    && self.travelled[collider] > self.sleeps_until[pair]
                    && !self.sleeps_on(pair, skin, moving, ways[collider], activation)
                {
                    due.push(pair as u32);
                }
                pair += 1;
            }
        }
        if !due.is_empty() {
            world.colliders.iter_mut().for_each(|collider| collider.place(0));
            self.look(number, &due, skin, moving, world, &ways);
        }
        self.share_room(skin, moving);
        // Only now: what was seen was seen at the start of the step.
        self.collider_travelled.iter_mut().zip(&ways).for_each(|(travelled, way)| *travelled += way - cloth_way);
        *world.collider_seconds += start.elapsed().as_secs_f64();
    }

    /// Where colliders from opposite sides leave a point no room, their thickness yields first; where they overlap, the one that the scene names
    /// later lets the point pass.
    fn share_room(&mut self, skin: &Skin, moving: &BodyState) {
        self.passing.clear();
        for contacts in self.active.chunk_by_mut(|a, b| a.point == b.point) {
            contacts.iter_mut().for_each(|contact| contact.passes = false);
            for second in 1..contacts.len() {
                let (before, rest) = contacts.split_at_mut(second);
                let second = &mut rest[0];
                let at = second.point.value(skin, &moving.x);
                for first in before.iter_mut().filter(|first| !first.passes) {
                    let room = first.resting.above(at) + second.resting.above(at);
                    if room >= 0.0 || first.resting.normal.dot(&second.resting.normal) > OPPOSITE {
                        continue;
                    }
                    let thickness = first.thickness + second.thickness;
                    if room > -thickness {
                        for contact in [first, &mut *second] {
                            let share = room * contact.thickness / thickness;
                            contact.resting.allowed = contact.resting.allowed.min(share);
                        }
                    } else {
                        second.passes = true;
                    }
                }
                if second.passes
                    && let Point::Vertex(v) = second.point
                {
                    self.passing.push((v, second.anchor.collider));
                }
            }
        }
    }

    /// The promises about colliders that what is written has broken; `x` are the particles, and colliders are numbered from `body_count` on.
    pub fn judge(&self, skin: &Skin, body_count: usize, x: &[Vec3], written: &[Vec3], broken: &mut Breaks) {
        for &(v, collider) in &self.passing {
            broken.add(Promise::Crossing, Some(body_count + collider as usize), v);
        }
        for contact in self.active.iter().filter(|contact| !contact.passes && contact.resting.pressed > 0.0) {
            let Point::Vertex(v) = contact.point else { continue };
            let with = Some(body_count + contact.collider());
            // What is to touch without any distance may be off by rounding.
            let thickness = contact.thickness.max(LEAST_JUDGED * skin.mean_edge);
            let [sunk, slipped] = contact.given_way(written[v as usize], skin.map.vertex(v as usize, x));
            if sunk > thickness + LEAVE_EDGES * skin.mean_edge {
                broken.add(Promise::Crossing, with, v);
            } else if sunk > THIN * thickness {
                broken.add(Promise::Thickness, with, v);
            }
            if slipped > thickness {
                broken.add(Promise::Friction, with, v);
            }
        }
    }

    /// Written vertices that are a little below a surface are moved out exactly; what is deep inside is on its way out.
    pub fn leave_colliders(&self, skin: &Skin, world: &mut StepWorld, written: &mut [Vec3]) {
        world.colliders.iter_mut().for_each(|collider| collider.place(1));
        for contact in &self.active {
            let Point::Vertex(v) = contact.point else {
                continue;
            };
            let y = &mut written[v as usize];
            let mut out = Vec3::zeros();
            for (number, collider) in world.colliders.iter().enumerate() {
                if self.meets(number)
                    && !self.passes(v, number)
                    && let Some(nearest) = collider.nearest(*y, 0.0)
                    && (-LEAVE_EDGES * skin.mean_edge..0.0).contains(&nearest.distance)
                    && -nearest.distance > out.norm()
                {
                    out = nearest.normal * -nearest.distance;
                }
            }
            *y += out;
        }
    }

    /// How deep the deepest of some vertices is below the surface of a collider that it touches [m].
    pub fn deepest(&self, vertices: &[Vec3], colliders: &[MovingCollider]) -> f64 {
        let depth = |y: &Vec3| {
            let deepest = |depth: f64, collider: &MovingCollider| {
                collider.nearest(*y, 0.0).map_or(depth, |nearest| larger(depth, -nearest.distance))
            };
            let met = colliders.iter().enumerate().filter(|(number, _)| self.meets(*number));
            met.map(|(_, collider)| collider).fold(0.0, deepest)
        };
        let depths: Vec<f64> = vertices.par_iter().with_min_len(256).map(depth).collect();
        depths.into_iter().fold(0.0, larger)
    }

    /// What was pressed in the last step of a frame, where contacts are found elsewhere: `sums` are what was summed up for a point and a collider. The
    /// planes are those of the step's end, where the points are now.
    #[cfg(feature = "gpu")]
    pub fn take_pressed(
        &mut self,
        skin: &Skin,
        moving: &BodyState,
        world: &mut StepWorld,
        sums: impl Fn(Point, usize) -> (f64, Vec3) + Sync,
    ) {
        world.colliders.iter_mut().for_each(|collider| collider.place(1));
        let margin = PLANE_MARGIN * skin.mean_edge;
        let StepWorld { colliders, collider_friction, .. } = &*world;
        let (rules, count) = (&self.rules, self.collider_count);
        let contact = |(number, &point): (usize, &Point), collider: usize| {
            let rule = rules[collider].as_ref()?;
            let (pressed, held) = sums(point, collider);
            let at = point.value(skin, &moving.x);
            let nearest = colliders[collider].nearest(at, search_reach(skin, rule))?;
            if pressed <= 0.0 && nearest.distance >= activation(rule) + margin {
                return None;
            }
            let friction = rule.friction(skin.friction, collider_friction[collider]);
            let mut resting = Resting::new(nearest.normal, at, nearest.distance - rule.thickness, friction);
            resting.begin_step(at, 0.0, 0.0);
            (resting.pressed, resting.held) = (pressed, held);
            let anchor = colliders[collider].anchor(&nearest);
            let pose = colliders[collider].poses(&anchor)[1];
            Some(Contact {
                point,
                resting,
                surface_velocity: Vec3::zeros(),
                thickness: rule.thickness,
                passes: false,
                pair: (number * count + collider) as u32,
                anchor,
                local_point: pose.apply_inverse(at),
                local_normal: pose.rotation.inverse_transform_vector(&nearest.normal),
            })
        };
        let of_point = |numbered| (0..count).filter_map(move |collider| contact(numbered, collider));
        let all = self.points.par_iter().enumerate().with_min_len(PARALLEL_PAIRS);
        self.active = all.flat_map_iter(of_point).collect();
        self.share_room(skin, moving);
    }

    /// Whether a vertex is let pass a collider in this step.
    pub fn passes(&self, vertex: u32, collider: usize) -> bool {
        self.passing.binary_search(&(vertex, collider as u32)).is_ok()
    }

    /// Whether a pair can go on sleeping because its own point has moved less than the fastest one.
    fn sleeps_on(&mut self, pair: usize, skin: &Skin, moving: &BodyState, way: f64, activation: f64) -> bool {
        let Some(seen) = self.seen[pair].filter(|_| self.sleeps_until[pair] > f64::NEG_INFINITY) else {
            return false;
        };
        let collider = pair % self.collider_count;
        let moved = (self.points[pair / self.collider_count].value(skin, &moving.x) - seen.from).norm();
        let distance = seen.distance - moved - (self.collider_travelled[collider] - seen.collider_travelled);
        self.sleeps_until[pair] = self.travelled[collider] - way + distance - activation;
        self.travelled[collider] <= self.sleeps_until[pair]
    }

    fn look(
        &mut self,
        number: usize,
        due: &[u32],
        skin: &Skin,
        moving: &BodyState,
        world: &mut StepWorld,
        ways: &[f64],
    ) {
        let count = self.collider_count;
        let look = |&pair: &u32| {
            let (point, collider) = (self.points[pair as usize / count], pair as usize % count);
            let guess = self.seen[pair as usize].map(|seen| seen.part);
            let Some(rule) = &self.rules[collider] else {
                return Look { seen: None, contact: None };
            };
            let friction = rule.friction(skin.friction, world.collider_friction[collider]);
            look_at(pair, point, &world.colliders[collider], guess, rule, friction, ways[collider], skin, moving)
        };
        let looks: Vec<Look> = if due.len() >= PARALLEL_PAIRS && rayon::current_num_threads() > 1 {
            due.par_iter().with_min_len(PARALLEL_PAIRS / 4).map(look).collect()
        } else {
            due.iter().map(look).collect()
        };
        for (&pair, look) in due.iter().zip(&looks) {
            let collider = pair as usize % count;
            let Some(rule) = &self.rules[collider] else { continue };
            if look.seen.is_some_and(|seen| -seen.distance > search_reach(skin, rule)) {
                world.colliders[collider].watch_everything(number);
            }
        }
        for (&pair, look) in due.iter().zip(looks) {
            let collider = pair as usize % count;
            let Some(rule) = &self.rules[collider] else { continue };
            let (activation, reach) = (activation(rule), search_reach(skin, rule));
            let distance = look.seen.map_or(reach, |seen| seen.distance);
            // This step's way is in `travelled` already.
            let until = self.travelled[collider] - ways[collider] + distance - activation;
            self.sleeps_until[pair as usize] = if look.contact.is_some() { f64::INFINITY } else { until };
            let collider_travelled = self.collider_travelled[collider];
            self.seen[pair as usize] = look.seen.map(|seen| Seen { collider_travelled, ..seen });
            if let Some(mut contact) = look.contact {
                contact.begin_step(skin, moving, world, &self.rules, f64::INFINITY);
                self.active.push(*contact);
            }
        }
        self.active.sort_by_key(|contact| contact.pair);
    }
}

#[allow(clippy::too_many_arguments, reason = "a pair is made of that much")]
fn look_at(
    pair: u32,
    point: Point,
    collider: &MovingCollider,
    guess: Option<u32>,
    rule: &PairRule,
    friction: Friction,
    way: f64,
    skin: &Skin,
    moving: &BodyState,
) -> Look {
    let at = point.value(skin, &moving.x);
    let reach = search_reach(skin, rule);
    let Some(nearest) = collider.nearest_by(at, reach, guess) else {
        return Look { seen: None, contact: None };
    };
    let seen = Some(Seen { from: at, distance: nearest.distance, part: nearest.part, collider_travelled: 0.0 });
    if nearest.distance >= activation(rule) + PLANE_MARGIN * skin.mean_edge + way {
        return Look { seen, contact: None };
    }
    let anchor = collider.anchor(&nearest);
    let pose = collider.poses(&anchor)[0];
    let contact = Contact {
        point,
        resting: Resting::new(nearest.normal, at, nearest.distance - rule.thickness, friction),
        surface_velocity: Vec3::zeros(),
        thickness: rule.thickness,
        passes: false,
        pair,
        anchor,
        local_point: pose.apply_inverse(at),
        local_normal: pose.rotation.inverse_transform_vector(&nearest.normal),
    };
    Look { seen, contact: Some(Box::new(contact)) }
}

impl Contact {
    /// Whether it is a vertex out of some.
    pub fn is_of(&self, vertices: &[bool]) -> bool {
        matches!(self.point, Point::Vertex(v) if vertices[v as usize])
    }

    /// Move what is written out of the surface, without friction. Of midpoints the vertices are written, and nothing between them.
    pub fn push_out(&mut self, skin: &Skin, written: &mut [Vec3], thickness_yields: bool) {
        let below = if thickness_yields { self.thickness } else { 0.0 };
        match self.point {
            Point::Vertex(v) => {
                let y = &mut written[v as usize];
                *y += self.resting.push_out(*y, below);
            }
            _ if skin.is_on_midpoints() => {}
            point => {
                let by = self.resting.push_out(point.value(skin, written), below);
                if by != Vec3::zeros() {
                    point.shift(skin, written, by);
                }
            }
        }
    }

    /// Which collider.
    pub fn collider(&self) -> usize {
        self.anchor.collider as usize
    }

    /// How far a written point is below the thick surface, and how far it was moved along it from where the motion has left it [m].
    pub fn given_way(&self, written: Vec3, moved: Vec3) -> [f64; 2] {
        let normal = self.resting.normal;
        let way = written - moved;
        [-self.resting.above(written), (way - normal * way.dot(&normal)).norm()]
    }

    /// Work out where the plane and the point it carries along will be at the end of the step. False if the point has moved further
    /// over the surface than `margin` since the plane was measured.
    fn begin_step(
        &mut self,
        skin: &Skin,
        moving: &BodyState,
        world: &StepWorld,
        rules: &[Option<PairRule>],
        margin: f64,
    ) -> bool {
        let start = self.point.value(skin, &moving.x);
        let push = PUSH_OUT_SPEED * world.h;
        let collider = &world.colliders[self.anchor.collider as usize];
        // A distance that is not a number counts as too far.
        let is_near = |way: Vec3| way.norm_squared() < margin * margin;
        let restitution = rules[self.anchor.collider as usize].filter(|rule| rule.restitution > 0.0);
        let bounce = |normal: Vec3, surface_velocity: Vec3| {
            restitution.map_or(0.0, |rule| {
                let speed = (self.point.value(skin, &moving.v) - surface_velocity).dot(&normal);
                restitution::outgoing_speed(speed, rule.restitution, world.gravity.norm(), rule.thickness)
            })
        };
        if collider.model.is_still() {
            let bounce = bounce(self.resting.normal, Vec3::zeros());
            self.resting.begin_step(start, push, bounce);
            return is_near(start - self.resting.seen_at);
        }
        let [from, to] = collider.poses(&self.anchor);
        let local = from.apply_inverse(start);
        let carried_to = to.apply(local);
        self.resting.seen_at = to.apply(self.local_point);
        self.resting.normal = to.rotation * self.local_normal;
        self.surface_velocity = (carried_to - start) / world.h;
        let bounce = bounce(self.resting.normal, self.surface_velocity);
        self.resting.begin_step(carried_to, push, bounce);
        is_near(local - self.local_point)
    }
}

/// How far away a mesh is looked for [m].
fn search_reach(skin: &Skin, rule: &PairRule) -> f64 {
    SEARCH_EDGES * skin.mean_edge + activation(rule)
}

/// Distance from the surface at which a contact is watched, in thicknesses: the sweeps may push a point this much further.
pub const ACTIVATION: f64 = 1.5;

fn activation(rule: &PairRule) -> f64 {
    ACTIVATION * rule.thickness
}
