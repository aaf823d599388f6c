//! Points of a body against the surfaces of colliders, on the device.
//!
//! The processor finds at the start of a step which points are near which surfaces (`cpu::contacts`) and what planes these have there. The
//! device presses and holds the points in every sweep. Contacts that share a particle must follow each other: they are arranged in
//! independent groups. Large groups have a dispatch of their own; small ones are one workgroup's, which goes through them in turn, as many in a
//! run as a device finishes.
//!
//! Each contact undoes a little of what those before it have done, so the order shows: up to some number it is the processor's, and results
//! are the same but for rounding. More contacts are arranged in as few groups as will do.

use std::ops::Range;
use std::rc::Rc;

use bytemuck::{Pod, Zeroable};

use super::particles::{Four, Particles, double, four, single};
use super::reduce::ControlData;
use super::work::{Binding, Dispatch, Gpu, Slab, Source, WORKGROUP};
use crate::algorithms::contact::resting::Resting;
use crate::math::Vec3;
use crate::math::rows::Rows;
use crate::model::Skin;
use crate::solver::cpu::contacts::{Contact, Contacts, Point};

/// The kernels of contacts.
pub const RESTING: Source = Source {
    name: "resting",
    text: include_str!("../../algorithms/contact/resting.wgsl"),
    constants: &[("LEAST_PRESSED", f32::MIN_POSITIVE as f64)],
};

/// Groups with no more contacts than this are small.
const SMALL: usize = 4 * WORKGROUP as usize;
/// Most contacts that keep the processor's order: what depends on each other in it is a long chain of small groups.
const MOST_IN_ORDER: usize = 16 * SMALL;
/// The same of those that stand by whether or not they are near: most of them are only passed over.
const MOST_STANDING_IN_ORDER: usize = 4 * MOST_IN_ORDER;
/// Most dispatches for large groups; what does not fit into these counts as small.
const MOST_DISPATCHES: usize = 32;
/// Most turns of loops, inner and outer ones together, that an invocation may take: after 65535 Mesa's software Vulkan ends them all without a
/// word.
const MOST_TURNS: usize = 60_000;

/// A contact as kernels have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct ContactData {
    /// Out of the collider.
    pub normal: [f32; 3],
    /// How far above what is allowed the point is without any way of its particles [m].
    pub above: f32,
    /// From where the point would be if it moved with the surface to where it is without any way [m].
    pub slipped: [f32; 3],
    /// Coefficient while it slides.
    pub sliding: f32,
    /// Velocity of the surface [m/s].
    pub surface_velocity: [f32; 3],
    /// Coefficient while it sticks.
    pub sticking: f32,
    /// How fast the point leaves after the step if it was pressed [m/s].
    pub bounce: f32,
    /// Its particles, in the list of all.
    pub row_start: u32,
    /// Behind the last one.
    pub row_end: u32,
    /// How far above the thick surface it is at the start, where the device has found it [m].
    pub gap: f32,
}

/// A particle below a point as kernels have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct PartData {
    /// Which one.
    pub particle: u32,
    /// Its part of the point's place.
    pub weight: f32,
    /// How far it moves when the point is to move by one.
    pub share: f32,
}

/// The points of a body that may touch, as means of its particles: for each of these its number, its weight, and how far it moves when the point
/// is to move by one.
pub type PointRows = Rows<(u32, f64, f64)>;

/// A point of a body in touch with a surface during a step.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    /// Into the body's `PointRows`.
    pub point: u32,
    /// How.
    pub resting: Resting,
    /// Velocity of the surface there [m/s].
    pub surface_velocity: Vec3,
}

/// All points of a body: vertices, particles on the middles of edges, samples.
pub(in crate::solver) fn point_rows(skin: &Skin) -> PointRows {
    let spread = |row: &[(u32, f64)], point_k: f64| -> Vec<(u32, f64, f64)> {
        let share = |particle: u32, weight: f64| {
            if point_k > 0.0 { weight * skin.k[particle as usize] / point_k } else { 0.0 }
        };
        row.iter().map(|&(particle, weight)| (particle, weight, share(particle, weight))).collect()
    };
    let vertices = (0..skin.map.vertex_count()).map(|v| spread(skin.map.row(v), skin.vertex_k[v]));
    let midpoints = (0..midpoint_count(skin) as u32).map(|particle| vec![(particle, 1.0, 1.0)]);
    let samples = (0..skin.samples.k.len()).map(|s| spread(skin.samples.rows.row(s), skin.samples.k[s]));
    vertices.chain(midpoints).chain(samples).collect()
}

fn midpoint_count(skin: &Skin) -> usize {
    if skin.is_on_midpoints() { skin.k.len() } else { 0 }
}

/// Where a point is in `point_rows`.
pub(in crate::solver) fn row_of(skin: &Skin, point: Point) -> u32 {
    let vertices = skin.map.vertex_count() as u32;
    match point {
        Point::Vertex(v) => v,
        Point::Particle(p) => vertices + p,
        Point::Sample(s) => vertices + midpoint_count(skin) as u32 + s,
    }
}

/// Independent groups of contacts of these points: the contacts in the order of their groups, and where each group begins, with the end of
/// the last one. All contacts that share a particle keep their order, unless there are too many; then only those of one point do, which stand
/// together.
fn arrange(rows: &PointRows, particle_count: usize, points: &[u32], most_in_order: usize) -> (Vec<u32>, Vec<usize>) {
    let mut groups: Vec<Vec<u32>> = Vec::new();
    let mut waiting: Vec<u32> = (0..points.len() as u32).collect();
    let mut taken = vec![0_u64; particle_count];
    let keeps_order = points.len() <= most_in_order;
    while !waiting.is_empty() {
        let first = groups.len();
        taken.fill(0);
        let mut before = None;
        waiting.retain(|&number| {
            let point = points[number as usize];
            let moved = || rows.row(point as usize).iter().filter(|part| part.2 != 0.0).map(|part| part.0 as usize);
            let earlier = match before {
                Some((same, group)) if same == point => u64::MAX >> (u64::BITS - 1 - group),
                _ => 0,
            };
            let used = moved().fold(earlier, |used, particle| used | taken[particle]);
            let group = if keeps_order { u64::BITS - used.leading_zeros() } else { used.trailing_ones() };
            before = Some((point, group.min(u64::BITS - 1)));
            if group == u64::BITS {
                // In the next turn, and what shares a particle with it not before that.
                moved().for_each(|particle| taken[particle] = u64::MAX);
                return true;
            }
            moved().for_each(|particle| taken[particle] |= 1 << group);
            let group = first + group as usize;
            groups.resize_with(groups.len().max(group + 1), Vec::new);
            groups[group].push(number);
            false
        });
    }
    let mut starts = vec![0];
    starts.extend(groups.iter().scan(0, |end, group| {
        *end += group.len();
        Some(*end)
    }));
    (groups.into_iter().flatten().collect(), starts)
}

/// What all kernels of contacts share.
struct Shared {
    parts: Slab<PartData>,
    /// As many as there is room for.
    contacts: Slab<ContactData>,
    sums: Slab<Four>,
    /// Where the groups of each run of small ones begin in this array, with the end of the last run; then where each group begins, with the end of
    /// the last one.
    groups: Slab<u32>,
    /// Bytes that an average contact reads and writes.
    bytes: usize,
    /// Which body of several.
    number: u32,
}

impl Shared {
    fn dispatch(
        &self,
        gpu: &Gpu,
        kernel: &'static str,
        range: Range<usize>,
        own: &[(u32, Box<dyn Binding>)],
    ) -> Dispatch {
        let mut bound: Vec<(u32, &dyn Binding)> =
            own.iter().map(|(number, binding)| (*number, binding.as_ref())).collect();
        bound.extend([(4, &self.contacts as &dyn Binding), (5, &self.parts), (6, &self.sums)]);
        if kernel.ends_with("small_groups") {
            bound.push((7, &self.groups));
        }
        let mut dispatch = gpu.dispatch(&RESTING, kernel, range.clone(), self.bytes, &bound);
        if self.number > 0 {
            gpu.aim_at_body(&mut dispatch, self.number, range);
        }
        dispatch
    }
}

/// A kernel for all groups.
struct Grouped {
    /// For a large group, and for all small ones.
    kernels: [&'static str; 2],
    /// What it is given besides what all share.
    own: Vec<(u32, Box<dyn Binding>)>,
    large: Vec<(Range<usize>, Dispatch)>,
    /// For each run.
    small: Vec<(Range<usize>, Dispatch)>,
}

impl Grouped {
    fn new(kernels: [&'static str; 2], own: Vec<(u32, Box<dyn Binding>)>) -> Self {
        Grouped { kernels, own, large: Vec::new(), small: Vec::new() }
    }

    /// Large groups are those of these ranges; small ones are in so many runs.
    fn aim(&mut self, gpu: &Gpu, shared: &Shared, large: &[Range<usize>], runs: usize) {
        // One workgroup for each run, whose start is the number of the run.
        let small: Vec<Range<usize>> = (0..runs).map(|run| run..run + WORKGROUP as usize).collect();
        let all = [(&mut self.large, large), (&mut self.small, small.as_slice())];
        for (kernel, (dispatches, ranges)) in self.kernels.into_iter().zip(all) {
            for number in 0..dispatches.len().max(ranges.len()) {
                // Dispatches that have nothing to do now may have later.
                let range = ranges.get(number).cloned().unwrap_or_default();
                match dispatches.get_mut(number) {
                    Some((aimed, _)) if *aimed == range => {}
                    Some((aimed, dispatch)) => {
                        gpu.aim(dispatch, range.clone());
                        *aimed = range;
                    }
                    None => {
                        let dispatch = shared.dispatch(gpu, kernel, range.clone(), &self.own);
                        dispatches.push((range, dispatch));
                    }
                }
            }
        }
    }

    fn run(&self, gpu: &Gpu) {
        gpu.run(self.large.iter().chain(&self.small).map(|(_, dispatch)| dispatch));
    }
}

/// What is needed to find out which contacts are near.
pub(super) struct Standing<'a> {
    /// Of each point that can move where its particles begin and end, and its contact with each primitive.
    pub lists: Vec<u32>,
    /// Of all points the number of the first contact.
    pub places: Vec<Option<u32>>,
    /// The body's particles.
    pub of_body: Range<usize>,
    /// The particles below points.
    pub parts: &'a Slab<PartData>,
    /// The contacts.
    pub contacts: &'a Slab<ContactData>,
}

/// The contacts of one body.
pub struct DeviceContacts {
    gpu: Rc<Gpu>,
    rows: PointRows,
    /// Where each row begins in the list of all particles below points.
    row_starts: Vec<u32>,
    /// Its particles, among all that are in the same arrays.
    of_body: Range<usize>,
    d: Slab<Four>,
    /// Sweeps that end by their number have nothing that says when they are done.
    endless: Slab<ControlData>,
    shared: Shared,
    /// The points that touch in this step, one for each contact.
    points: Vec<u32>,
    /// The contacts in the order of their groups.
    order: Vec<u32>,
    /// Ranges of large groups, and how many runs there are of small ones.
    large: Vec<Range<usize>>,
    runs: usize,
    begin: Dispatch,
    /// For each array that says when sweeps are done.
    positions: Vec<(wgpu::Buffer, Grouped)>,
    velocities: Grouped,
    marks: Option<(wgpu::Buffer, [Dispatch; 2])>,
}

impl DeviceContacts {
    /// For the points of a body.
    pub(in crate::solver) fn of_skin(gpu: &Rc<Gpu>, skin: &Skin, particles: &Particles) -> Self {
        Self::new(gpu, point_rows(skin), particles)
    }

    /// For the points of one of several bodies that share arrays: which one, and where its particles are.
    pub(in crate::solver) fn of_part(
        gpu: &Rc<Gpu>,
        skin: &Skin,
        particles: &Particles,
        number: usize,
        own: Range<usize>,
    ) -> Self {
        Self::make(gpu, point_rows(skin), particles, number as u32, own)
    }

    /// For these points; none touches yet.
    pub fn new(gpu: &Rc<Gpu>, rows: PointRows, particles: &Particles) -> Self {
        Self::make(gpu, rows, particles, 0, 0..particles.len())
    }

    fn make(gpu: &Rc<Gpu>, rows: PointRows, particles: &Particles, number: u32, of_body: Range<usize>) -> Self {
        let part = |&(particle, weight, share): &(u32, f64, f64)| PartData {
            particle: of_body.start as u32 + particle,
            weight: weight as f32,
            share: share as f32,
        };
        let parts: Vec<PartData> = rows.iter().flatten().map(part).collect();
        let mut row_starts = vec![0];
        row_starts.extend(rows.iter().scan(0, |end, row| {
            *end += row.len() as u32;
            Some(*end)
        }));
        let mean = parts.len().div_ceil(rows.len().max(1));
        let of_part = 2 * size_of::<PartData>() + 3 * size_of::<Four>();
        let room = rows.len();
        let shared = Shared {
            parts: gpu.slab("particles below points", &parts),
            contacts: gpu.zeros("contacts", room),
            sums: gpu.zeros("sums of contacts", room),
            groups: gpu.zeros("groups of contacts", 2 * (room + 1)),
            bytes: size_of::<ContactData>() + 2 * size_of::<Four>() + mean * of_part,
            number,
        };
        let own: Vec<(u32, Box<dyn Binding>)> =
            vec![(3, Box::new(particles.v.clone())), (8, Box::new(particles.step.clone()))];
        DeviceContacts {
            begin: gpu.dispatch(&RESTING, "contact_begin", 0..0, size_of::<Four>(), &[(6, &shared.sums)]),
            positions: Vec::new(),
            velocities: Grouped::new(["contact_velocities", "contact_velocities_of_small_groups"], own),
            marks: None,
            gpu: Rc::clone(gpu),
            rows,
            row_starts,
            of_body,
            d: particles.d.clone(),
            endless: gpu.zeros("endless", number as usize + 1),
            shared,
            points: Vec::new(),
            order: Vec::new(),
            large: Vec::new(),
            runs: 0,
        }
    }

    /// From now on each point that can move has a contact with each of some primitives, whether or not they are near: which ones are, and how, the
    /// device finds out. What is needed for that; none where it does not fit into a binding.
    pub(super) fn stand_by(&mut self, primitive_count: usize) -> Option<Standing<'_>> {
        let moves = |row: &[(u32, f64, f64)]| row.iter().any(|part| part.2 != 0.0);
        let mut places = vec![None; self.rows.len()];
        let mut points = Vec::new();
        for (point, place) in places.iter_mut().enumerate().filter(|(point, _)| moves(self.rows.row(*point))) {
            *place = Some(points.len() as u32);
            points.extend(std::iter::repeat_n(point as u32, primitive_count));
        }
        let largest = points.len() * size_of::<ContactData>();
        if points.is_empty() || largest as u64 > self.gpu.limits().binding {
            return None;
        }
        self.make_room(points.len());
        self.points = points;
        let (order, starts) = arrange(&self.rows, self.of_body.len(), &self.points, MOST_STANDING_IN_ORDER);
        self.order = order;
        self.regroup(&starts);
        let mut slots = vec![0; self.order.len()];
        self.order.iter().enumerate().for_each(|(slot, &number)| slots[number as usize] = slot as u32);
        let of_point = |(point, slots): (&[u32], &[u32])| {
            let point = point[0] as usize;
            [&[self.row_starts[point], self.row_starts[point + 1]], slots].concat()
        };
        let chunks = self.points.chunks(primitive_count).zip(slots.chunks(primitive_count));
        let lists: Vec<u32> = chunks.flat_map(of_point).collect();
        let (of_body, Shared { parts, contacts, .. }) = (self.of_body.clone(), &self.shared);
        Some(Standing { lists, places, of_body, parts, contacts })
    }

    /// Begin a step whose contacts the device has found.
    pub fn begin_found(&self) {
        self.gpu.run([&self.begin]);
    }

    /// Begin a step with what the processor has found, from the positions at the step's start.
    pub(in crate::solver) fn load(&mut self, skin: &Skin, x: &[Vec3], contacts: &Contacts) {
        let touch = |contact: &Contact| Touch {
            point: row_of(skin, contact.point),
            resting: contact.resting,
            surface_velocity: contact.surface_velocity,
        };
        let touches: Vec<Touch> = contacts.active.iter().filter(|contact| !contact.passes).map(touch).collect();
        self.begin_step(x, &touches);
    }

    /// Begin a step; those of one point stand together. `x` are the places of the particles at its start.
    pub fn begin_step(&mut self, x: &[Vec3], touches: &[Touch]) {
        self.make_room(touches.len());
        let points = touches.iter().map(|touch| touch.point);
        let is_new = !points.clone().eq(self.points.iter().copied());
        if is_new {
            self.points = points.collect();
            let (order, starts) = arrange(&self.rows, self.of_body.len(), &self.points, MOST_IN_ORDER);
            self.order = order;
            self.regroup(&starts);
        }
        let data: Vec<ContactData> = self.order.iter().map(|&number| self.data(x, &touches[number as usize])).collect();
        self.gpu.write(&self.shared.contacts, 0, &data);
        self.gpu.run([&self.begin]);
    }

    /// As kernels have it. All that is large is subtracted here.
    fn data(&self, x: &[Vec3], touch: &Touch) -> ContactData {
        let (point, resting) = (touch.point as usize, &touch.resting);
        let on_device = |place: Vec3| double(four(place, 0.0));
        let without_way = self
            .rows
            .row(point)
            .iter()
            .fold(Vec3::zeros(), |sum, &(particle, weight, _)| sum + on_device(x[particle as usize]) * weight);
        ContactData {
            normal: single(resting.normal),
            above: (resting.above(without_way) - resting.allowed) as f32,
            slipped: single(without_way - resting.carried_to),
            sliding: resting.friction.dynamic as f32,
            surface_velocity: single(touch.surface_velocity),
            sticking: resting.friction.sticking as f32,
            bounce: resting.bounce as f32,
            row_start: self.row_starts[point],
            row_end: self.row_starts[point + 1],
            gap: 0.0,
        }
    }

    /// Larger arrays where there are more contacts than ever.
    fn make_room(&mut self, count: usize) {
        if count <= self.shared.contacts.len() {
            return;
        }
        let room = count.next_power_of_two();
        self.shared.contacts = self.gpu.zeros("contacts", room);
        self.shared.sums = self.gpu.zeros("sums of contacts", room);
        self.shared.groups = self.gpu.zeros("groups of contacts", 2 * (room + 1));
        self.begin = self.gpu.dispatch(&RESTING, "contact_begin", 0..0, size_of::<Four>(), &[(6, &self.shared.sums)]);
        self.positions.clear();
        self.velocities.large.clear();
        self.velocities.small.clear();
        self.marks = None;
        self.points.clear();
    }

    fn regroup(&mut self, starts: &[usize]) {
        let ranges: Vec<Range<usize>> = starts.windows(2).map(|ends| ends[0]..ends[1]).collect();
        let large = ranges.iter().rposition(|range| range.len() > SMALL).map_or(0, |last| last + 1);
        let large = large.min(MOST_DISPATCHES);
        self.large = ranges[..large].to_vec();
        let mut runs = Vec::new();
        let mut turns = MOST_TURNS;
        for (number, range) in ranges.iter().enumerate().skip(large) {
            let of_group = self.turns(range.clone());
            if turns + of_group > MOST_TURNS {
                runs.push(number);
                turns = 0;
            }
            turns += of_group;
        }
        self.runs = runs.len();
        runs.push(ranges.len());
        let list = runs.iter().map(|group| runs.len() + group).chain(starts.iter().copied());
        self.gpu.write(&self.shared.groups, 0, &list.map(|number| number as u32).collect::<Vec<u32>>());
        let all = self.positions.iter_mut().map(|(_, grouped)| grouped).chain([&mut self.velocities]);
        all.for_each(|grouped| grouped.aim(&self.gpu, &self.shared, &self.large, self.runs));
        self.gpu.aim(&mut self.begin, 0..self.points.len());
        if let Some((_, [_, mark])) = &mut self.marks {
            self.gpu.aim(mark, 0..self.points.len());
        }
    }

    /// How many turns of loops an invocation takes at most for a small group: each loop takes one more to see that it is done.
    fn turns(&self, group: Range<usize>) -> usize {
        let longest = |contacts: &[u32]| {
            contacts.iter().map(|&number| self.rows.row(self.points[number as usize] as usize).len()).max()
        };
        let at_once = self.order[group].chunks(WORKGROUP as usize);
        at_once.map(|contacts| 1 + 2 * (longest(contacts).unwrap_or(0) + 1)).sum::<usize>() + 2
    }

    /// In which order the contacts of this step are gone through.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// How many dispatches a sweep takes.
    pub fn dispatches(&self) -> usize {
        self.large.len() + self.runs
    }

    /// Press and hold all points once, unless that is `done`.
    pub fn positions(&mut self, control: &Slab<ControlData>) {
        let known = self.positions.iter().position(|(buffer, _)| buffer == control.buffer());
        let number = known.unwrap_or_else(|| {
            let own: Vec<(u32, Box<dyn Binding>)> = vec![(1, Box::new(control.clone())), (2, Box::new(self.d.clone()))];
            let mut grouped = Grouped::new(["contact_positions", "contact_positions_of_small_groups"], own);
            grouped.aim(&self.gpu, &self.shared, &self.large, self.runs);
            self.positions.push((control.buffer().clone(), grouped));
            self.positions.len() - 1
        });
        self.positions[number].1.run(&self.gpu);
    }

    /// The same in any case.
    pub fn positions_anyway(&mut self) {
        let endless = self.endless.clone();
        self.positions(&endless);
    }

    /// After the step, take out of velocities what leads into surfaces or slides on them.
    pub fn velocities(&self) {
        self.velocities.run(&self.gpu);
    }

    /// Which particles carry points that are pressed: 1 for these, 0 for all others.
    pub fn mark(&mut self, touches: &Slab<u32>) {
        if self.marks.as_ref().is_none_or(|(buffer, _)| buffer != touches.buffer()) {
            let forget =
                self.gpu.dispatch(&RESTING, "contact_forget_touches", self.of_body.clone(), 4, &[(9, touches)]);
            let own: [(u32, Box<dyn Binding>); 1] = [(9, Box::new(touches.clone()))];
            let mark = self.shared.dispatch(&self.gpu, "contact_touches", 0..self.points.len(), &own);
            self.marks = Some((touches.buffer().clone(), [forget, mark]));
        }
        if let Some((_, marks)) = &self.marks {
            self.gpu.run(marks);
        }
    }

    /// Wait, and bring normal and tangential sums here: one for each contact of this step.
    pub fn sums(&self) -> Vec<(f64, Vec3)> {
        let mut sums = Vec::new();
        self.gpu.read(&self.shared.sums, &mut sums);
        let mut result = vec![(0.0, Vec3::zeros()); self.points.len()];
        for (&number, sum) in self.order.iter().zip(&sums) {
            result[number as usize] = (f64::from(sum[3]), double(*sum));
        }
        result
    }

    /// Wait, and bring the contacts of this step here.
    pub fn contacts(&self) -> Vec<ContactData> {
        let mut contacts = Vec::new();
        self.gpu.read(&self.shared.contacts, &mut contacts);
        let mut result = vec![ContactData::default(); self.points.len()];
        self.order.iter().zip(contacts).for_each(|(&number, contact)| result[number as usize] = contact);
        result
    }

    /// Bring the sums into the contacts that this step began with.
    pub(in crate::solver) fn read(&self, contacts: &mut Contacts) {
        if self.points.is_empty() {
            return;
        }
        let pressing = contacts.active.iter_mut().filter(|contact| !contact.passes);
        for (contact, (pressed, held)) in pressing.zip(self.sums()) {
            (contact.resting.pressed, contact.resting.held) = (pressed, held);
        }
    }
}
