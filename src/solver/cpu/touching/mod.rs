//! Cloths and soft bodies against each other, against themselves and against the triangles of colliders.
//!
//! ```text
//! look     from the start of the step and the look-ahead: which features may touch (candidates), which do (contacts)
//! press    after the bodies' own constraints: one sweep over the contacts; linear solvers and this take turns
//! guard    what is tangled is led apart a little, then ways are cut short where something would cross
//! calm     after the step: the speed at which features that were too near were led apart is taken away again
//! ```
//!
//! Where all bodies are on a device, it measures what may touch and presses (`elsewhere`); what may touch, what is tangled and the guard stay here.
//!
//! All vertices of all bodies stand in one numbering, cloths first, then soft bodies, then colliders; contact does not ask what it touches.

mod candidates;
mod clusters;
mod crossings;
pub(in crate::solver) mod elsewhere;
mod guard;
mod surfaces;
mod tangles;

use std::time::Instant;

use rayon::prelude::*;

use self::candidates::{Candidate, Candidates, ClusterPair};
use self::crossings::Crossing;
use self::elsewhere::{NearPair, PairStep, PressElsewhere};
use self::guard::Guarded;
use self::surfaces::Surfaces;
use self::tangles::Tangles;
use super::StepWorld;
use super::body_step::{Bodies, push_vertex, vertices_of};
use super::breaks::Breaks;
use super::contacts::{SOFT_SWEEPS, THIN};
use crate::algorithms::contact::friction::Friction;
use crate::algorithms::contact::pair::PairContact;
use crate::algorithms::contact::proximity::{Pairing, proximity};
use crate::algorithms::contact::restitution;
use crate::math::Vec3;
use crate::mesh::topology::Topology;
use crate::model::{BodyState, Broken, Model, MovingCollider, PairRule, Promise};
use crate::solver::TouchCounts;

/// Speed at which features that are nearer than they should be are led apart [m/s].
const RECOVERY_SPEED: f64 = 0.3;
/// Sweeps over what bounces in a step: neighbours share vertices, and few contacts bounce for long.
const BOUNCE_SWEEPS: usize = 10;
/// Pairs of clusters from which on looking at them is shared out to threads.
const PARALLEL_PAIRS: usize = 64;

/// A collider whose triangles take part in this frame.
struct TouchedCollider {
    number: usize,
    choice: u64,
    /// Its vertices that are near, by their numbers in its mesh, ascending.
    vertices: Vec<u32>,
}

/// Everything that touches, and how.
pub struct Touching<'m> {
    model: &'m Model,
    /// Whether no triangle can touch another one, whatever happens.
    is_idle: bool,
    surfaces: Surfaces,
    colliders: Vec<TouchedCollider>,
    candidates: Candidates,
    /// Where all vertices are at the start and at the end of the step [m].
    from: Vec<Vec3>,
    to: Vec<Vec3>,
    contacts: Vec<PairContact>,
    /// Who measures and presses instead, if anybody does.
    elsewhere: Option<Box<dyn PressElsewhere + 'm>>,
    /// Whether that is so in this step: there may be too many pairs.
    is_elsewhere: bool,
    /// What was handed over, and which candidates that is: pairs of clusters and numbers in their lists.
    handed_over: Vec<NearPair>,
    candidates_of: Vec<[u32; 2]>,
    /// What was pressed there in the last step.
    pressed_elsewhere: Vec<[u32; 4]>,
    /// For each vertex the bodies that it is inside of, or that have no room for it, one bit a body.
    inside: Vec<u64>,
    /// The same and those that it is tangled with: all that it is let pass.
    released: Vec<u64>,
    tangles: Tangles,
    /// What was done since the start of the frame, for each body that deforms.
    pub counts: Vec<TouchCounts>,
    /// Promises that the frame has broken, for each body that deforms.
    pub broken: Vec<Vec<Broken>>,
    /// Time spent [s]; it decides nothing.
    pub seconds: f64,
}

/// More than the rounding errors of a distance [m].
const ROUNDING: f64 = 1e-9;

/// Whether a point is inside of a collider.
fn is_inside(collider: &MovingCollider, point: Vec3) -> bool {
    collider.nearest(point, 0.0).is_some_and(|near| near.distance < -ROUNDING)
}

/// The bit of a body; from the 64th on they share one.
fn bit(body: usize) -> u64 {
    1 << body.min(63)
}

/// Whether two features pass through each other: each side has a vertex that the other's body lets pass, or is led.
fn passes<'a>(surfaces: &'a Surfaces, released: &'a [u64]) -> impl Fn(Pairing, &[u32; 4]) -> bool + Sync + 'a {
    let is_any = released.iter().any(|bits| *bits != 0);
    move |pairing: Pairing, vertices: &[u32; 4]| {
        if !is_any {
            return false;
        }
        let (first, second) = vertices.split_at(pairing.split());
        let lets = |side: &[u32], other: &[u32]| {
            let of_other = bit(usize::from(surfaces.body_of[other[0] as usize]));
            side.iter().any(|&v| released[v as usize] & of_other != 0)
        };
        let is_led = |side: &[u32]| surfaces.k[side[0] as usize] <= 0.0;
        let [of_first, of_second] = [lets(first, second), lets(second, first)];
        of_first && (of_second || is_led(second)) || of_second && is_led(first)
    }
}

impl<'m> Touching<'m> {
    /// For the bodies of a model, and somebody who may press pairs for this.
    pub fn new(model: &'m Model, elsewhere: Option<Box<dyn PressElsewhere + 'm>>) -> Self {
        let mut surfaces = Surfaces::default();
        model.skins().for_each(|skin| surfaces.add_skin(skin));
        Touching {
            from: vec![Vec3::zeros(); surfaces.body_of.len()],
            to: vec![Vec3::zeros(); surfaces.body_of.len()],
            counts: vec![TouchCounts::default(); model.body_count()],
            broken: vec![Vec::new(); model.body_count()],
            colliders: Vec::new(),
            candidates: Candidates::default(),
            contacts: Vec::new(),
            elsewhere,
            is_elsewhere: false,
            handed_over: Vec::new(),
            candidates_of: Vec::new(),
            pressed_elsewhere: Vec::new(),
            inside: Vec::new(),
            released: Vec::new(),
            tangles: Tangles::default(),
            seconds: 0.0,
            is_idle: !model.has_touching_triangles(),
            surfaces,
            model,
        }
    }

    /// Prepare a frame; what follows depends on the state alone.
    pub fn begin_frame(&mut self) {
        self.counts.fill(TouchCounts::default());
        self.broken.fill(Vec::new());
        self.colliders.clear();
        self.surfaces.truncate(self.model.body_count());
        self.candidates = Candidates::default();
        self.contacts.clear();
        self.pressed_elsewhere.clear();
    }

    /// Take in the triangles of colliders that are near now, if they are others than before, and start over then.
    fn gather(&mut self, colliders: &[MovingCollider]) {
        let near = |number: usize| colliders[number].near_triangles().filter(|near| !near.numbers.is_empty());
        let known: Vec<(usize, u64)> = self.colliders.iter().map(|c| (c.number, c.choice)).collect();
        let now: Vec<(usize, u64)> =
            (0..colliders.len()).filter_map(|number| Some((number, near(number)?.choice))).collect();
        if known == now && !self.candidates.is_empty() {
            return;
        }
        self.surfaces.truncate(self.model.body_count());
        self.colliders.clear();
        for (number, choice) in now {
            let Some(near) = near(number) else { continue };
            let mut vertices: Vec<u32> = near.numbers.iter().flat_map(|&t| near.corners[t as usize]).collect();
            vertices.sort_unstable();
            vertices.dedup();
            let local = |v: u32| vertices.partition_point(|known| *known < v) as u32;
            let triangles: Vec<[u32; 3]> = near.numbers.iter().map(|&t| near.corners[t as usize].map(local)).collect();
            let places: Vec<Vec3> = vertices.iter().map(|&v| colliders[number].vertex(v, 0)).collect();
            let k = std::iter::repeat_n(0.0, vertices.len());
            self.surfaces.add(&places, k, &triangles, &Topology::build(&triangles));
            self.colliders.push(TouchedCollider { number, choice, vertices });
        }
        self.from.resize(self.surfaces.body_of.len(), Vec3::zeros());
        self.to.resize(self.surfaces.body_of.len(), Vec3::zeros());
        self.candidates = Candidates::default();
    }

    /// Where the colliders' vertices are at both ends of the step.
    fn place_colliders(&mut self, colliders: &[MovingCollider], ends: [usize; 2]) {
        let bodies = self.model.body_count();
        for (touched, body) in self.colliders.iter().zip(&self.surfaces.bodies[bodies..]) {
            let collider = &colliders[touched.number];
            for (place, &v) in touched.vertices.iter().enumerate() {
                self.from[body.first_vertex + place] = collider.vertex(v, ends[0]);
                self.to[body.first_vertex + place] = collider.vertex(v, ends[1]);
            }
        }
    }

    /// The model's number of one of the bodies that take part.
    fn number(model: &Model, colliders: &[TouchedCollider], body: u16) -> usize {
        match usize::from(body).checked_sub(model.body_count()) {
            None => usize::from(body),
            Some(touched) => model.body_count() + colliders[touched].number,
        }
    }

    /// How two bodies touch; none where they pass through each other.
    fn rule(model: &Model, colliders: &[TouchedCollider], a: u16, b: u16) -> Option<PairRule> {
        model.contact.between(Self::number(model, colliders, a), Self::number(model, colliders, b))
    }

    /// How far two bodies keep apart [m]; none where they pass through each other.
    fn gap(model: &Model, colliders: &[TouchedCollider], a: u16, b: u16) -> Option<f64> {
        Self::rule(model, colliders, a, b).map(|rule| rule.thickness)
    }

    /// See what may touch and what does, from the start of the step and the look-ahead positions.
    pub fn look(&mut self, bodies: &mut Bodies, states: &[BodyState], world: &StepWorld) {
        if self.is_idle {
            return;
        }
        let start = Instant::now();
        let StepWorld { colliders, .. } = world;
        self.gather(colliders);
        self.place_colliders(colliders, [0, 1]);
        for ((body, step), state) in self.surfaces.bodies.iter().zip(&*bodies).zip(states) {
            vertices_of(step.skin(), &state.x, &mut self.from[body.vertices()]);
            self.from[body.handles()].copy_from_slice(&state.x[..body.handle_count]);
        }
        if self.elsewhere.is_none() || self.candidates.is_empty() {
            self.take_look_ahead(bodies);
        }
        if self.candidates.is_empty() {
            self.start_over(colliders);
        }
        for (body, step) in self.surfaces.bodies.iter().zip(&*bodies) {
            for &(v, collider) in step.passing() {
                let number = self.colliders.iter().position(|touched| touched.number == collider as usize);
                if let Some(number) = number {
                    let (v, bit) = (body.first_vertex + v as usize, bit(self.model.body_count() + number));
                    self.inside[v] |= bit;
                    self.released[v] |= bit;
                }
            }
        }
        let (model, touched) = (self.model, &self.colliders);
        let gaps = |a: u16, b: u16| Self::gap(model, touched, a, b);
        self.candidates.cover_likely(&self.surfaces, &gaps, &self.from);
        if self.tangles.are_old() {
            self.release();
        }

        self.is_elsewhere = self.hand_over(world);
        if !self.is_elsewhere {
            if self.elsewhere.is_some() {
                self.take_look_ahead(bodies);
            }
            self.measure(world);
            self.bounce(bodies, states, world);
        }
        self.seconds += start.elapsed().as_secs_f64();
    }

    /// How two features touch, with their friction in this step; none where they pass through each other.
    fn friction_rule<'a>(
        model: &'a Model,
        touched: &'a [TouchedCollider],
        surfaces: &'a Surfaces,
        world: &'a StepWorld,
    ) -> impl Fn(&Candidate) -> Option<Friction> + Sync + 'a {
        let StepWorld { collider_friction, .. } = world;
        let friction = move |body: u16| {
            let number = Self::number(model, touched, body);
            match number.checked_sub(model.body_count()) {
                None => model.skin(number).friction,
                Some(collider) => collider_friction[collider],
            }
        };
        move |candidate: &Candidate| {
            let [a, b] = [0, 3].map(|side| surfaces.body_of[candidate.vertices[side] as usize]);
            Some(Self::rule(model, touched, a, b)?.friction(friction(a), friction(b)))
        }
    }

    /// Measure what may touch and see what does.
    fn measure(&mut self, world: &StepWorld) {
        let (surfaces, from, to) = (&self.surfaces, &self.from, &self.to);
        let rule = Self::friction_rule(self.model, &self.colliders, surfaces, world);
        let recover = RECOVERY_SPEED * world.h;
        let passes = passes(surfaces, &self.released);
        let look = |pair: &mut ClusterPair| {
            let mut found = Vec::new();
            for number in 0..pair.list.len() {
                let candidate = pair.list[number];
                if !pair.is_near(&candidate) || passes(candidate.pairing, &candidate.vertices) {
                    continue;
                }
                let near = pair.measure(number, from);
                let ways = candidate.vertices.map(|v| to[v as usize] - from[v as usize]);
                let coming: Vec3 = ways.iter().zip(near.weights).map(|(way, weight)| way * weight).sum();
                // What moves across may still come nearer by what the vertices move against each other.
                if near.distance > candidate.gap + coming.norm() {
                    continue;
                }
                let Some(friction) = rule(&candidate) else { continue };
                let mass = surfaces.inverse_mass(&candidate.vertices, &near.weights);
                found.extend(PairContact::new(candidate.vertices, &near, candidate.gap, recover, friction, mass));
            }
            found
        };
        let pairs = &mut self.candidates.pairs;
        self.contacts = if pairs.len() >= PARALLEL_PAIRS && rayon::current_num_threads() > 1 {
            pairs.par_iter_mut().with_min_len(16).flat_map_iter(look).collect()
        } else {
            pairs.iter_mut().flat_map(look).collect()
        };
        // An order that follows from the mesh, not from how it was clustered.
        self.contacts.sort_unstable_by_key(|contact| contact.vertices);
    }

    /// Let somebody else measure what may touch; false if nobody does.
    fn hand_over(&mut self, world: &StepWorld) -> bool {
        let Some(elsewhere) = &mut self.elsewhere else { return false };
        let surfaces = &self.surfaces;
        let rule = Self::friction_rule(self.model, &self.colliders, surfaces, world);
        let passes = passes(surfaces, &self.released);
        let mut near: Vec<(NearPair, [u32; 2])> = Vec::new();
        for (place, pair) in self.candidates.pairs.iter().enumerate() {
            for (number, candidate) in pair.list.iter().enumerate() {
                let Candidate { vertices, pairing, gap, .. } = *candidate;
                if pair.is_near(candidate)
                    && !passes(pairing, &vertices)
                    && let Some(friction) = rule(candidate)
                {
                    near.push((NearPair { vertices, pairing, gap, friction }, [place as u32, number as u32]));
                }
            }
        }
        // As `measure` has it.
        near.sort_unstable_by_key(|(pair, _)| pair.vertices);
        (self.handed_over, self.candidates_of) = near.into_iter().unzip();
        self.contacts.clear();
        elsewhere.begin_step(&PairStep {
            from: &self.from,
            to: &self.to,
            k: &surfaces.k,
            pairs: &self.handed_over,
            recover: RECOVERY_SPEED * world.h,
            h: world.h,
        })
    }

    /// Decide which contacts bounce if they are pressed.
    fn bounce(&mut self, bodies: &Bodies, states: &[BodyState], world: &StepWorld) {
        for number in 0..self.contacts.len() {
            let contact = &self.contacts[number];
            let [a, b] = [0, 3].map(|side| self.surfaces.body_of[contact.vertices[side] as usize]);
            let rule = Self::rule(self.model, &self.colliders, a, b).filter(|rule| rule.restitution > 0.0);
            if let Some(PairRule { restitution, thickness, .. }) = rule {
                let speed = contact.speed(self.velocities(contact, bodies, states, world.h));
                self.contacts[number].bounce =
                    restitution::outgoing_speed(speed, restitution, world.gravity.norm(), thickness);
            }
        }
    }

    /// The velocities of a contact's vertices.
    fn velocities(&self, contact: &PairContact, bodies: &Bodies, states: &[BodyState], h: f64) -> [Vec3; 4] {
        contact.vertices.map(|v| {
            let body = usize::from(self.surfaces.body_of[v as usize]);
            let v = v as usize;
            match body < self.model.body_count() {
                true => bodies[body].skin().map.vertex(v - self.surfaces.bodies[body].first_vertex, &states[body].v),
                false => (self.to[v] - self.from[v]) / h,
            }
        })
    }

    /// See what is near, inside and tangled without any memory.
    fn start_over(&mut self, colliders: &[MovingCollider]) {
        let (model, touched) = (self.model, &self.colliders);
        let gaps = |a: u16, b: u16| Self::gap(model, touched, a, b);
        let bodies = self.surfaces.bodies.len() as u16;
        let all = (0..bodies).flat_map(|a| (0..bodies).map(move |b| (a, b)));
        let largest = all.filter_map(|(a, b)| gaps(a, b)).fold(0.0, f64::max);
        let mean_edge = model.skins().map(|skin| skin.mean_edge).fold(f64::INFINITY, f64::min);
        self.candidates.reset(&self.surfaces, &self.from, mean_edge, largest);
        self.candidates.cover(&self.surfaces, &gaps, &self.from, &self.to);
        self.find_inside(colliders);
        self.release();
    }

    /// What is wrong with what is written, at the start of a frame.
    pub fn survey(&mut self, states: &[BodyState], colliders: &[MovingCollider]) {
        self.gather(colliders);
        self.place_colliders(colliders, [0, 0]);
        for (body, state) in self.surfaces.bodies.iter().zip(states) {
            self.from[body.vertices()].copy_from_slice(&state.written);
            self.from[body.handles()].copy_from_slice(&state.x[..body.handle_count]);
        }
        self.to.clone_from(&self.from);
        self.start_over(colliders);
        self.judge();
        // Colliders without triangles.
        for (number, collider) in colliders.iter().enumerate().filter(|(_, c)| c.near_triangles().is_none()) {
            let with = self.model.body_count() + number;
            for (body, state) in states.iter().enumerate() {
                if self.model.contact.between(body, with).is_none() {
                    continue;
                }
                let written = state.written.iter().enumerate();
                let inside = written.filter(|(_, y)| is_inside(collider, **y)).map(|(v, _)| v as u32);
                let vertices: Vec<u32> = inside.collect();
                if !vertices.is_empty() {
                    self.broken[body].insert(0, Broken { promise: Promise::Crossing, with: Some(with), vertices });
                }
            }
        }
    }

    /// Which vertices of bodies that deform are inside of colliders.
    fn find_inside(&mut self, colliders: &[MovingCollider]) {
        let (surfaces, bodies) = (&self.surfaces, self.model.body_count());
        self.inside.clear();
        self.inside.resize(surfaces.body_of.len(), 0);
        for body in &surfaces.bodies[..bodies] {
            for v in body.vertices() {
                for (touched, other) in self.colliders.iter().zip(bodies..) {
                    if Self::rule(self.model, &self.colliders, surfaces.body_of[v], other as u16).is_some()
                        && is_inside(&colliders[touched.number], self.from[v])
                    {
                        self.inside[v] |= bit(other);
                    }
                }
            }
        }
    }

    /// Let what is tangled or inside a body pass: whatever kept its distance there would hold it on the wrong side.
    fn release(&mut self) {
        let body = |v: u32| usize::from(self.surfaces.body_of[v as usize]);
        let crossings = crossings::find(&self.candidates, &self.surfaces, &self.from);
        self.released.clone_from(&self.inside);
        for crossing in &crossings {
            let (of_edge, of_triangle) = (body(crossing.edge[0]), body(crossing.triangle[0]));
            crossing.edge.iter().for_each(|&v| self.released[v as usize] |= bit(of_triangle));
            crossing.triangle.iter().for_each(|&v| self.released[v as usize] |= bit(of_edge));
        }
        self.tangles.set(crossings, &self.surfaces);
    }

    /// Lead apart what is tangled: where the vertices go in this step.
    fn untangle(&mut self, h: f64) {
        let (model, surfaces, inside) = (self.model, &self.surfaces, &self.inside);
        let layer = |body: u16| {
            let body = usize::from(body);
            if body < model.body_count() { model.skin(body).layer } else { None }
        };
        let is_led_out = |crossing: &Crossing| {
            let [of_edge, of_triangle] =
                [crossing.edge[0], crossing.triangle[0]].map(|v| bit(usize::from(surfaces.body_of[v as usize])));
            crossing.edge.iter().any(|&v| inside[v as usize] & of_triangle != 0)
                || crossing.triangle.iter().any(|&v| inside[v as usize] & of_edge != 0)
        };
        self.tangles.lead_apart(surfaces, &self.from, h, layer, is_led_out);
        for &(v, by) in &self.tangles.shifts {
            surfaces.push(v, by, |k| k / surfaces.k[v as usize], &mut self.to);
        }
        surfaces.carry(&mut self.to);
    }

    /// Bring the look-ahead positions here from wherever they are.
    fn take_look_ahead(&mut self, bodies: &mut Bodies) {
        bodies.iter_mut().for_each(|body| body.fetch());
        self.take_vertices(bodies);
    }

    /// The same after everything was pressed, with how far apart what was handed over is.
    fn take_all(&mut self, bodies: &mut Bodies, is_last: bool) {
        let Some(elsewhere) = self.elsewhere.as_mut().filter(|_| self.is_elsewhere) else {
            return self.take_look_ahead(bodies);
        };
        let mut distances = Vec::new();
        elsewhere.fetch(bodies, &mut distances);
        for (&[pair, number], distance) in self.candidates_of.iter().zip(distances) {
            self.candidates.pairs[pair as usize].note(number as usize, distance);
        }
        if is_last {
            let pressed = self.handed_over.iter().zip(elsewhere.pressed());
            self.pressed_elsewhere = pressed.filter(|(_, is_so)| *is_so).map(|(pair, _)| pair.vertices).collect();
        }
        self.take_vertices(bodies);
    }

    /// Where the look-ahead positions have the vertices and what carries them.
    fn take_vertices(&mut self, bodies: &Bodies) {
        for (body, step) in self.surfaces.bodies.iter().zip(bodies) {
            vertices_of(step.skin(), step.ahead(), &mut self.to[body.vertices()]);
            self.to[body.handles()].copy_from_slice(&step.ahead()[..body.handle_count]);
        }
    }

    /// Move the look-ahead positions so that the vertices are where they shall be.
    fn put_vertices(&self, bodies: &mut Bodies) {
        for (body, step) in self.surfaces.bodies.iter().zip(bodies) {
            let places = if body.handle_count > 0 { body.handles() } else { body.vertices() };
            step.put(&self.to[places]);
        }
    }

    /// Correct the look-ahead positions of the bodies by the contacts, once.
    pub fn press(&mut self, bodies: &mut Bodies) {
        if self.is_idle {
            return;
        }
        let start = Instant::now();
        if let Some(elsewhere) = self.elsewhere.as_mut().filter(|_| self.is_elsewhere) {
            elsewhere.press();
            self.seconds += start.elapsed().as_secs_f64();
            return;
        }
        self.take_look_ahead(bodies);
        if bodies.iter().any(|body| body.is_broken()) {
            return; // only seen now
        }
        let mut is_changed = false;
        let (surfaces, to) = (&self.surfaces, &mut self.to);
        let soft = self.model.cloths.len()..self.model.body_count();
        let is_soft = |v: u32| soft.contains(&usize::from(surfaces.body_of[v as usize]));
        let sweeps = if soft.is_empty() { 1 } else { SOFT_SWEEPS };
        for sweep in 0..sweeps {
            for contact in &mut self.contacts {
                if sweep > 0 && ![0, 3].iter().any(|&side| is_soft(contact.vertices[side])) {
                    continue;
                }
                let by = contact.correct_position(contact.vertices.map(|v| surfaces.place(v, to)));
                if by != Vec3::zeros() {
                    is_changed = true;
                    for (corner, v) in contact.vertices.into_iter().enumerate() {
                        surfaces.push(v, by, |k| contact.share(corner, k), to);
                    }
                }
            }
        }
        if is_changed {
            self.put_vertices(bodies);
        }
        self.seconds += start.elapsed().as_secs_f64();
    }

    /// Lead apart what is tangled, then cut short whatever would still cross.
    pub fn guard_step(&mut self, bodies: &mut Bodies, world: &StepWorld) {
        if self.is_idle {
            return;
        }
        let start = Instant::now();
        self.take_all(bodies, world.steps_left == 1);
        if bodies.iter().any(|body| body.is_broken()) {
            return; // only seen now
        }
        self.untangle(world.h);
        let guarded = self.guard();
        self.candidates.moved();
        self.count(&guarded);
        if !guarded.cut.is_empty() || !self.tangles.shifts.is_empty() {
            self.put_vertices(bodies);
        }
        self.seconds += start.elapsed().as_secs_f64();
    }

    fn guard(&mut self) -> Guarded {
        let (model, touched) = (self.model, &self.colliders);
        let gaps = |a: u16, b: u16| Self::gap(model, touched, a, b);
        let passes = passes(&self.surfaces, &self.released);
        guard::guard(&mut self.candidates, &self.surfaces, &gaps, &passes, &self.from, &mut self.to)
    }

    fn count(&mut self, guarded: &Guarded) {
        let body_of = &self.surfaces.body_of;
        self.counts.iter_mut().for_each(|counts| counts.contacts = 0);
        let counts = &mut self.counts;
        let mut each = |v: u32, add: &dyn Fn(&mut TouchCounts)| {
            if let Some(counts) = counts.get_mut(usize::from(body_of[v as usize])) {
                add(counts);
            }
        };
        let pressed = self.contacts.iter().filter(|contact| contact.pressed > 0.0).map(|contact| contact.vertices);
        for [first, .., last] in pressed.chain(self.pressed_elsewhere.iter().copied()) {
            each(first, &|counts| counts.contacts += 1);
            if body_of[first as usize] != body_of[last as usize] {
                each(last, &|counts| counts.contacts += 1);
            }
        }
        guarded.cut.iter().for_each(|&v| each(v, &|counts| counts.cut += 1));
        guarded.left.iter().for_each(|vertices| each(vertices[0], &|counts| counts.left += 1));
    }

    /// What crosses or is too near where everything is at the end, and what was let pass.
    fn judge(&mut self) {
        let (model, touched) = (self.model, &self.colliders);
        let gaps = |a: u16, b: u16| Self::gap(model, touched, a, b);
        self.candidates.moved();
        self.candidates.cover(&self.surfaces, &gaps, &self.to, &self.to);
        let surfaces = &self.surfaces;
        let bodies = model.body_count();
        let body = |v: u32| usize::from(surfaces.body_of[v as usize]);
        let in_model = |body: usize| if body < bodies { body } else { bodies + touched[body - bodies].number };
        self.counts.iter_mut().for_each(|counts| (counts.crossings, counts.released) = (0, 0));
        let mut breaks: Vec<Breaks> = (0..bodies).map(|_| Breaks::default()).collect();
        let mut add = |promise: Promise, with: usize, v: u32| {
            if let Some(breaks) = breaks.get_mut(body(v)) {
                breaks.add(promise, Some(in_model(with)), v - surfaces.bodies[body(v)].first_vertex as u32);
            }
        };
        for crossing in crossings::find(&self.candidates, surfaces, &self.to) {
            let [one, other] = [body(crossing.edge[0]), body(crossing.triangle[0])];
            for of in [one, other].into_iter().take(if one == other { 1 } else { 2 }) {
                if let Some(counts) = self.counts.get_mut(of) {
                    counts.crossings += 1;
                }
            }
            crossing.edge.iter().for_each(|&v| add(Promise::Crossing, other, v));
            crossing.triangle.iter().for_each(|&v| add(Promise::Crossing, one, v));
        }
        for (v, &bits) in self.released.iter().enumerate().filter(|(_, bits)| **bits != 0) {
            if let Some(counts) = self.counts.get_mut(body(v as u32)) {
                counts.released += 1;
            }
            let meets = |with: &usize| Self::rule(model, touched, surfaces.body_of[v], *with as u16).is_some();
            for with in (0..surfaces.bodies.len()).filter(|&with| bits & bit(with) != 0).filter(meets) {
                add(Promise::Crossing, with, v as u32);
            }
        }
        let passes = passes(surfaces, &self.released);
        for pair in &self.candidates.pairs {
            for candidate in &pair.list {
                let kept = (1.0 - THIN) * candidate.gap;
                if pair.at_least(candidate) > kept || passes(candidate.pairing, &candidate.vertices) {
                    continue;
                }
                if proximity(candidate.pairing, &candidate.vertices.map(|v| self.to[v as usize])).distance < kept {
                    let [one, other] = [body(candidate.vertices[0]), body(candidate.vertices[3])];
                    let [first, .., last] = candidate.vertices;
                    add(Promise::Thickness, other, first);
                    add(Promise::Thickness, one, last);
                }
            }
        }
        self.broken = breaks.into_iter().map(Vec::from).collect();
    }

    /// Take away the speed at which features were led apart and what was tangled was moved, and give what bounces its own.
    pub fn calm(&mut self, bodies: &mut Bodies, states: &mut [BodyState], world: &StepWorld) {
        if self.is_idle {
            return;
        }
        let h = world.h;
        if let Some(elsewhere) = self.elsewhere.as_mut().filter(|_| self.is_elsewhere) {
            elsewhere.calm();
        }
        // Contacts that are pressed here change them, and the state at a frame's end is complete.
        let are_asked_for = !self.is_elsewhere || !self.tangles.shifts.is_empty() || world.steps_left == 1;
        if are_asked_for && self.elsewhere.is_some() {
            bodies.iter_mut().zip(&mut *states).for_each(|(body, moving)| body.bring_velocities(moving));
        }
        for contact in self.contacts.iter().filter(|contact| contact.pressed > 0.0) {
            let by = contact.calm(self.velocities(contact, bodies, states, h), h);
            self.push(contact, by, bodies, states);
        }
        let bounces = |contact: &PairContact| contact.pressed > 0.0 && contact.bounce > 0.0;
        let bouncing: Vec<usize> = (0..self.contacts.len()).filter(|&n| bounces(&self.contacts[n])).collect();
        for number in std::iter::repeat_n(bouncing, BOUNCE_SWEEPS).flatten() {
            let velocities = self.velocities(&self.contacts[number], bodies, states, h);
            let by = self.contacts[number].rebound(velocities);
            self.push(&self.contacts[number], by, bodies, states);
        }
        for &(v, by) in &self.tangles.shifts {
            let body = usize::from(self.surfaces.body_of[v as usize]);
            let local = v as usize - self.surfaces.bodies[body].first_vertex;
            let Some(direction) = by.try_normalize(0.0) else { continue };
            // Only what is there: its way may have been cut.
            let skin = bodies[body].skin();
            let speed = skin.map.vertex(local, &states[body].v).dot(&direction).clamp(0.0, by.norm() / h);
            push_vertex(skin, local, &mut states[body].v, direction * (-speed / self.surfaces.k[v as usize]));
        }
        if are_asked_for && self.elsewhere.is_some() {
            bodies.iter_mut().zip(&*states).for_each(|(body, moving)| body.send_velocities(moving));
        }
    }

    /// Change the relative velocity of a contact's two sides.
    fn push(&self, contact: &PairContact, by: Vec3, bodies: &Bodies, states: &mut [BodyState]) {
        if by == Vec3::zeros() {
            return;
        }
        for (corner, v) in contact.vertices.map(|v| v as usize).into_iter().enumerate() {
            let body = usize::from(self.surfaces.body_of[v]);
            if body < self.model.body_count() {
                let local = v - self.surfaces.bodies[body].first_vertex;
                push_vertex(bodies[body].skin(), local, &mut states[body].v, by * contact.share(corner, 1.0));
            }
        }
    }

    /// The end of a frame: vertices move from where the last step has left them to where they are written, as far as nothing crosses.
    pub fn guard_written(&mut self, before: &[Vec<Vec3>], states: &mut [BodyState], colliders: &[MovingCollider]) {
        if self.is_idle {
            return;
        }
        let start = Instant::now();
        self.place_colliders(colliders, [1, 1]);
        for ((body, before), state) in self.surfaces.bodies.iter().zip(before).zip(&*states) {
            self.from[body.vertices()].copy_from_slice(before);
            self.to[body.vertices()].copy_from_slice(&state.written);
            for ends in [&mut self.from, &mut self.to] {
                ends[body.handles()].copy_from_slice(&state.x[..body.handle_count]);
            }
        }
        let guarded = self.guard();
        self.count(&guarded);
        self.judge();
        for (body, state) in self.surfaces.bodies.iter().zip(states).filter(|_| !guarded.cut.is_empty()) {
            state.written.copy_from_slice(&self.to[body.vertices()]);
        }
        self.seconds += start.elapsed().as_secs_f64();
    }

    /// The same for vertices that are where the last step has left them.
    pub fn judge_written(&mut self, states: &[BodyState]) {
        if self.is_idle {
            return;
        }
        for (body, state) in self.surfaces.bodies.iter().zip(states) {
            self.to[body.vertices()].copy_from_slice(&state.written);
        }
        self.judge();
    }
}
