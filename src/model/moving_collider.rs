//! A collider during a frame: where it is at any time of it, and how far away.
//!
//! Idea: a mesh whose vertices move is evaluated exactly at a few times of the frame and goes straight in between. Only the part
//! that comes near a cloth takes part: it is chosen once a frame from the space that each triangle passes through, its hierarchy is
//! built then and refitted whenever distances are asked for. At both ends of a frame all of the mesh is there, so that cloth
//! deep inside a body is noticed; then all of it takes part.

use super::animated_surface::AnimatedSurface;
use super::{ColliderModel, Moment};
use crate::algorithms::contact::signed_distance::Nearest;
use crate::math::Vec3;
use crate::math::curve::Blend;
use crate::math::motion::Pose;
use crate::mesh::bvh::{Aabb, Bvh};

/// Pieces of a frame; at their ends the vertices are exact. A foot that swings through 15 degrees in a frame is off by half a
/// millimetre at most.
pub const PIECES: usize = 4;
/// By how much of its way a vertex on an arc may leave the box around start and end: an arc of 90 degrees leaves it by 0.21.
const BULGE: f64 = 0.25;

/// All of space.
const EVERYWHERE: Aabb =
    Aabb { low: Vec3::new(f64::MIN, f64::MIN, f64::MIN), high: Vec3::new(f64::MAX, f64::MAX, f64::MAX) };

/// A point that moves with a collider's surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Anchor {
    /// Into the model's colliders.
    pub collider: u32,
    /// Triangle of a mesh whose vertices move.
    part: u32,
    /// Where in the triangle.
    barycentric: [f64; 3],
}

/// A collider from the start to the end of a frame, and of a step in it.
#[derive(Debug)]
pub struct MovingCollider<'m> {
    /// What it is.
    pub model: &'m ColliderModel,
    number: u32,
    moments: [Moment; 2],
    /// Start and end of the step, as parts of the frame.
    step: [f64; 2],
    /// The same as poses, for colliders that move as a whole.
    poses: [Pose; 2],
    /// Which end of the step distances are asked for.
    end: usize,
    surface: Option<MovingSurface<'m>>,
    /// Of a mesh that moves as a whole: where the cloths are, and the triangles that come near them, ascending.
    near: Vec<Aabb>,
    near_triangles: Vec<u32>,
    /// How often the triangles that are near were chosen.
    choices: u64,
}

/// The triangles of a mesh that may touch a cloth.
#[derive(Clone, Copy, Debug)]
pub struct NearTriangles<'a> {
    /// Numbers of those that are near, ascending.
    pub numbers: &'a [u32],
    /// Corners of all.
    pub corners: &'a [[u32; 3]],
    /// Changes when others are near.
    pub choice: u64,
}

impl<'m> MovingCollider<'m> {
    /// A collider at one moment, all of it.
    pub fn at(model: &'m ColliderModel, number: usize, moment: Moment) -> Self {
        let pose = model.motion.at(moment.frame);
        let mut collider = MovingCollider {
            model,
            number: number as u32,
            moments: [moment; 2],
            step: [0.0, 1.0],
            poses: [pose; 2],
            end: 0,
            surface: model.animated().map(|surface| MovingSurface::new(surface, moment)),
            near: Vec::new(),
            near_triangles: Vec::new(),
            choices: 0,
        };
        if let Some(surface) = &mut collider.surface {
            surface.begin_frame([moment; 2], vec![EVERYWHERE]);
            surface.place(0.0);
        }
        collider
    }

    /// Take up a frame; `near` are the boxes around the cloths that may come to it, one each.
    pub fn begin_frame(&mut self, moments: [Moment; 2], near: &[Aabb]) {
        self.moments = moments;
        self.choices += 1;
        if let Some(surface) = &mut self.surface {
            surface.begin_frame(moments, near.to_vec());
        }
        self.near = near.to_vec();
        self.choose_rigid();
        self.begin_step([0.0, 0.0]);
    }

    /// Which triangles of a mesh that moves as a whole pass the boxes around the cloths.
    fn choose_rigid(&mut self) {
        let Some(mesh) = self.model.rigid_mesh() else {
            return;
        };
        let times = if self.model.is_still() { 1 } else { PIECES + 1 };
        let pose = |key: usize| {
            let part = key as f64 / PIECES as f64;
            self.model.motion.at(Moment::between(self.moments, part).frame)
        };
        let poses: Vec<Pose> = (0..times).map(pose).collect();
        let passes = |corners: &[u32; 3]| {
            let places = corners.map(|v| mesh.positions[v as usize]);
            let at = |pose: &Pose| places.iter().fold(Aabb::empty(), |aabb, p| aabb.join(Aabb::around(pose.apply(*p))));
            let boxes: Vec<Aabb> = poses.iter().map(at).collect();
            let way = boxes.windows(2).map(|pair| (pair[1].low - pair[0].low).norm()).fold(0.0, f64::max);
            let swept = boxes.into_iter().fold(Aabb::empty(), Aabb::join).grown(BULGE * way);
            self.near.iter().any(|near| near.meets(&swept))
        };
        let triangles = mesh.shape.triangles();
        self.near_triangles = (0..triangles.len() as u32).filter(|&t| passes(&triangles[t as usize])).collect();
    }

    /// The triangles that are near the cloths; none of a collider that has no triangles.
    pub fn near_triangles(&self) -> Option<NearTriangles<'_>> {
        let choice = self.choices;
        match (&self.surface, self.model.rigid_mesh()) {
            (Some(surface), _) => {
                let corners = surface.surface.shape.triangles();
                Some(NearTriangles { numbers: &surface.triangles, corners, choice })
            }
            (None, Some(mesh)) => {
                Some(NearTriangles { numbers: &self.near_triangles, corners: mesh.shape.triangles(), choice })
            }
            (None, None) => None,
        }
    }

    /// Where a vertex of a triangle that is near is at the start (0) or end (1) of the step.
    pub fn vertex(&self, vertex: u32, end: usize) -> Vec3 {
        match (&self.surface, self.model.rigid_mesh()) {
            (Some(surface), _) => surface.vertex(vertex, self.step[end]),
            (None, Some(mesh)) => self.poses[end].apply(mesh.positions[vertex as usize]),
            (None, None) => Vec3::zeros(),
        }
    }

    /// A cloth is in this box: if that is further than foreseen, look `ahead` of it [m].
    pub fn watch(&mut self, cloth: usize, near: Aabb, ahead: f64) {
        // Before the first frame one box stands for all cloths.
        if let Some(surface) = &mut self.surface
            && !surface.near.iter().any(|watched| watched.contains(&near))
        {
            if let Some(watched) = surface.near.get_mut(cloth) {
                *watched = watched.join(near.grown(ahead));
            }
            surface.choose();
            self.choices += 1;
        }
        if self.model.rigid_mesh().is_some()
            && let Some(watched) = self.near.get_mut(cloth)
            && !watched.contains(&near)
        {
            *watched = watched.join(near.grown(ahead));
            self.choose_rigid();
            self.choices += 1;
        }
    }

    /// A cloth is deep inside: all of the surface may be the nearest.
    pub fn watch_everything(&mut self, cloth: usize) {
        self.watch(cloth, EVERYWHERE, 0.0);
    }

    /// Keep triangles at hand although no cloth is near: pins follow them.
    pub fn keep(&mut self, anchors: impl Iterator<Item = Anchor>) {
        if let Some(surface) = &mut self.surface {
            surface.kept.extend(anchors.filter(|anchor| anchor.collider == self.number).map(|anchor| anchor.part));
        }
    }

    /// Take up a step, from one part of the frame to another. Distances are asked for at its start.
    pub fn begin_step(&mut self, step: [f64; 2]) {
        self.step = step;
        self.end = 0;
        self.poses = step.map(|part| self.model.motion.at(Moment::between(self.moments, part).frame));
    }

    /// Make ready for distances at the start (0) or the end (1) of the step.
    pub fn place(&mut self, end: usize) {
        self.end = end;
        if let Some(surface) = &mut self.surface {
            surface.place(self.step[end]);
        }
    }

    /// The nearest place of the surface, if it is within `reach`; primitives always answer.
    pub fn nearest(&self, point: Vec3, reach: f64) -> Option<Nearest> {
        self.nearest_by(point, reach, None)
    }

    /// The same; `guess` is a part of the surface that was near some time ago, and makes it faster.
    pub fn nearest_by(&self, point: Vec3, reach: f64, guess: Option<u32>) -> Option<Nearest> {
        match &self.surface {
            None => self.model.nearest_rigid(&self.poses[self.end], point, reach),
            Some(surface) => surface.nearest(point, reach, guess),
        }
    }

    /// A point of the surface, to follow it.
    pub fn anchor(&self, nearest: &Nearest) -> Anchor {
        let part = nearest.part;
        let barycentric = self.surface.as_ref().map_or([1.0, 0.0, 0.0], |surface| {
            barycentric(surface.corners(part).map(|v| surface.placed[v as usize]), nearest.place)
        });
        Anchor { collider: self.number, part, barycentric }
    }

    /// Where an anchor is, and how it is turned, at the start and end of the step.
    pub fn poses(&self, anchor: &Anchor) -> [Pose; 2] {
        match &self.surface {
            None => self.poses,
            Some(surface) => self.step.map(|part| {
                let corners = surface.corners(anchor.part).map(|v| surface.vertex(v, part));
                Pose::on_triangle(corners, anchor.barycentric)
            }),
        }
    }

    /// Where it is at the start and end of the step, if it moves as a whole.
    pub fn rigid_poses(&self) -> [Pose; 2] {
        self.poses
    }

    /// Where all vertices of a mesh that moves are at the ends of the frame's pieces, the part of it that is near or not.
    #[cfg(feature = "gpu")]
    pub fn keys(&self) -> Option<[Vec<Vec3>; PIECES + 1]> {
        let surface = self.surface.as_ref()?;
        let is_still = self.moments[0] == self.moments[1];
        Some(std::array::from_fn(|key| match key {
            0 | PIECES => surface.keys[key].clone(),
            _ if is_still => surface.keys[0].clone(),
            _ => surface.surface.positions(Moment::between(self.moments, key as f64 / PIECES as f64)),
        }))
    }

    /// The frame's start and end.
    pub fn moments(&self) -> [Moment; 2] {
        self.moments
    }

    /// Start and end of the step, as parts of the frame.
    pub fn step(&self) -> [f64; 2] {
        self.step
    }

    /// How far its surface moves in the step inside a box, at most [m].
    pub fn step_motion(&self, near: &Aabb) -> f64 {
        match &self.surface {
            Some(surface) => surface.way(self.step),
            None if self.model.is_still() => 0.0,
            None => {
                // A rigid motion is affine, so its displacement is largest at a corner.
                let [from, to] = &self.poses;
                let moved = |p: Vec3| (to.apply(from.apply_inverse(p)) - p).norm();
                near.corners().map(moved).fold(0.0, f64::max)
            }
        }
    }
}

fn barycentric([a, b, c]: [Vec3; 3], p: Vec3) -> [f64; 3] {
    let normal = (b - a).cross(&(c - a));
    let doubled_area = normal.norm_squared();
    if doubled_area == 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let at_b = (p - a).cross(&(c - a)).dot(&normal) / doubled_area;
    let at_c = (b - a).cross(&(p - a)).dot(&normal) / doubled_area;
    [1.0 - at_b - at_c, at_b, at_c]
}

/// The piece that a part of the frame lies in, and how far inside it.
pub fn piece(part: f64) -> (usize, f64) {
    let place = part * PIECES as f64;
    let piece = (place as usize).min(PIECES - 1);
    (piece, place - piece as f64)
}

/// How much of each piece passes between two parts of the frame.
pub fn passed([from, to]: [f64; 2]) -> [f64; PIECES] {
    std::array::from_fn(|piece| {
        let [start, end] = [piece, piece + 1].map(|key| key as f64 / PIECES as f64);
        (to.min(end) - from.max(start)).max(0.0) * PIECES as f64
    })
}

/// The part of an animated surface that is near.
#[derive(Debug)]
struct MovingSurface<'m> {
    surface: &'m AnimatedSurface,
    moments: [Moment; 2],
    /// Where the cloths are.
    near: Vec<Aabb>,
    /// Triangles that are needed wherever they are.
    kept: Vec<u32>,
    /// Positions at the ends of the pieces; those inside the frame only of the vertices in use.
    keys: Vec<Vec<Vec3>>,
    /// Vertices in use, ascending.
    vertices: Vec<u32>,
    /// Triangles whose distance is asked for, ascending, and their corners.
    triangles: Vec<u32>,
    corners: Vec<[u32; 3]>,
    /// The longest way of a vertex in use in each piece [m].
    ways: [f64; PIECES],
    bvh: Bvh,
    /// Positions that the hierarchy fits, and the part of the frame they are of.
    placed: Vec<Vec3>,
    placed_at: Option<f64>,
    /// Over all triangles; fits at the ends of the frame.
    whole: Bvh,
}

impl<'m> MovingSurface<'m> {
    fn new(surface: &'m AnimatedSurface, moment: Moment) -> Self {
        let start = surface.positions(moment);
        MovingSurface {
            whole: Bvh::build(&start, surface.shape.triangles()),
            surface,
            moments: [moment; 2],
            near: Vec::new(),
            kept: Vec::new(),
            placed: start.clone(),
            keys: vec![start; PIECES + 1],
            vertices: Vec::new(),
            triangles: Vec::new(),
            corners: Vec::new(),
            ways: [0.0; PIECES],
            bvh: Bvh::default(),
            placed_at: None,
        }
    }

    fn corners(&self, triangle: u32) -> [u32; 3] {
        self.surface.shape.triangles()[triangle as usize]
    }

    fn begin_frame(&mut self, moments: [Moment; 2], near: Vec<Aabb>) {
        if moments == self.moments && near == self.near {
            return; // the frame is simulated again
        }
        if moments != self.moments {
            if moments[0] == self.moments[1] {
                self.keys.swap(0, PIECES);
            } else {
                self.keys[0] = self.surface.positions(moments[0]);
            }
            self.keys[PIECES] =
                if moments[0] == moments[1] { self.keys[0].clone() } else { self.surface.positions(moments[1]) };
        }
        self.moments = moments;
        self.near = near;
        self.choose();
    }

    /// Which triangles are near, and where they are inside the frame.
    fn choose(&mut self) {
        let [start, end] = [&self.keys[0], &self.keys[PIECES]];
        let shape = &self.surface.shape;
        let passes = |corners: &[u32; 3]| {
            let mut swept = Aabb::empty();
            let mut way = 0.0_f64;
            for v in corners.map(|v| v as usize) {
                swept = swept.join(Aabb::around(start[v])).join(Aabb::around(end[v]));
                way = way.max((end[v] - start[v]).norm_squared());
            }
            let swept = swept.grown(BULGE * way.sqrt());
            self.near.iter().any(|near| near.meets(&swept))
        };
        let all = shape.triangles();
        self.triangles = (0..all.len() as u32).filter(|&t| passes(&all[t as usize])).collect();
        self.corners = self.triangles.iter().map(|&t| all[t as usize]).collect();
        let mut used = vec![false; start.len()];
        for v in self.corners.iter().flatten() {
            // The normal at a vertex comes from all triangles round it.
            let round = shape.around(*v).iter().flat_map(|&t| all[t as usize]);
            round.for_each(|v| used[v as usize] = true);
        }
        self.kept.iter().flat_map(|&t| all[t as usize]).for_each(|v| used[v as usize] = true);
        self.vertices = (0..start.len() as u32).filter(|&v| used[v as usize]).collect();
        for key in 1..PIECES {
            let pose = self.surface.pose(Moment::between(self.moments, key as f64 / PIECES as f64));
            for (&v, position) in self.vertices.iter().zip(self.surface.vertices(&pose, &self.vertices)) {
                self.keys[key][v as usize] = position;
            }
        }
        for (piece, way) in self.ways.iter_mut().enumerate() {
            let [from, to] = [&self.keys[piece], &self.keys[piece + 1]];
            let moved = |&v: &u32| (to[v as usize] - from[v as usize]).norm_squared();
            *way = self.vertices.iter().map(moved).fold(0.0, f64::max).sqrt();
        }
        self.bvh = Bvh::build(&self.keys[0], &self.corners);
        self.placed_at = None;
    }

    fn vertex(&self, vertex: u32, part: f64) -> Vec3 {
        let (piece, inside) = piece(part);
        self.keys[piece][vertex as usize].blend(self.keys[piece + 1][vertex as usize], inside)
    }

    fn place(&mut self, part: f64) {
        if self.placed_at == Some(part) {
            return;
        }
        self.placed_at = Some(part);
        if let Some(end) = self.end_of_frame() {
            self.placed.clone_from(&self.keys[end]);
            self.whole.refit(&self.placed, self.surface.shape.triangles());
            return;
        }
        let (piece, inside) = piece(part);
        let [from, to] = [&self.keys[piece], &self.keys[piece + 1]];
        for v in self.vertices.iter().map(|&v| v as usize) {
            self.placed[v] = from[v].blend(to[v], inside);
        }
        self.bvh.refit(&self.placed, &self.corners);
    }

    /// The complete positions that distances are asked for, if it is an end of the frame.
    fn end_of_frame(&self) -> Option<usize> {
        [0, PIECES].into_iter().find(|&key| self.placed_at == Some(key as f64 / PIECES as f64))
    }

    fn nearest(&self, point: Vec3, reach: f64, guess: Option<u32>) -> Option<Nearest> {
        let shape = &self.surface.shape;
        if self.end_of_frame().is_some() {
            return shape.nearest(&self.placed, &self.whole, None, point, reach, guess);
        }
        // Where other triangles are is not known.
        let guess = guess.filter(|guess| self.triangles.binary_search(guess).is_ok());
        shape.nearest(&self.placed, &self.bvh, Some(&self.triangles), point, reach, guess)
    }

    /// The longest way of a vertex between two parts of the frame.
    fn way(&self, step: [f64; 2]) -> f64 {
        passed(step).iter().zip(&self.ways).map(|(part, way)| part * way).sum()
    }
}
