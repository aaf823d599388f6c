//! Particles of a body on the device, and what the processor knows of them.
//!
//! A place is two numbers of single precision, and a look-ahead the way to it: see `algorithms/motion.wgsl`. The state that a frame begins with
//! decides all that follows: it is sent again unless the device has it already, to the bit.

use std::rc::Rc;

use bytemuck::{Pod, Zeroable};

use super::work::{Dispatch, Gpu, Slab, Source, Told, WORKGROUP};
use crate::math::Vec3;
use crate::model::BodyState;
use crate::model::build_pins::LedParticle;
use crate::solver::cpu::StepWorld;

/// The kernels of free motion.
pub const MOTION: Source =
    Source { name: "motion", text: include_str!("../../algorithms/motion.wgsl"), constants: &[] };

/// Four numbers, the last of which is often unused.
pub type Four = [f32; 4];

/// What is the same for all particles during a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct StepData {
    /// [m/s²]
    pub gravity: [f32; 3],
    /// [s]
    pub h: f32,
    /// [1/s]
    pub inverse_h: f32,
    /// Drag of the air.
    pub drag: f32,
    unused: [f32; 2],
}

impl StepData {
    /// For a step.
    pub fn new(world: &StepWorld) -> Self {
        Self::of(world.gravity, world.h, world.drag)
    }

    /// For a step of length `h` [s].
    pub fn of(gravity: Vec3, h: f64, drag: f64) -> Self {
        let (h, inverse_h) = (h as f32, (1.0 / h) as f32);
        StepData { gravity: single(gravity), h, inverse_h, drag: drag as f32, unused: [0.0; 2] }
    }
}

/// A vector in single precision.
pub fn single(v: Vec3) -> [f32; 3] {
    v.map(|c| c as f32).into()
}

/// The same with a fourth number.
pub fn four(v: Vec3, w: f64) -> Four {
    let [x, y, z] = single(v);
    [x, y, z, w as f32]
}

/// A vector in double precision.
pub fn double(v: Four) -> Vec3 {
    Vec3::new(f64::from(v[0]), f64::from(v[1]), f64::from(v[2]))
}

/// A place as two numbers of single precision.
pub fn split(place: Vec3, k: f64) -> [Four; 2] {
    let high = four(place, k);
    [high, four(place - double(high), 0.0)]
}

/// The particles of a body.
pub struct Particles {
    gpu: Rc<Gpu>,
    k: Vec<f64>,
    /// Place and inverse mass [m, 1/kg].
    pub x: Slab<Four>,
    /// What the places lack [m].
    pub low: Slab<Four>,
    /// Ways from `x` to the look-ahead positions [m].
    pub d: Slab<Four>,
    /// Velocities [m/s].
    pub v: Slab<Four>,
    /// What is the same for all.
    pub step: Told<StepData>,
    led: Vec<LedParticle>,
    led_to: Told<Four>,
    /// What the device has in these arrays, as far as that is known here.
    known: Option<Known>,
    /// Whether places and velocities there are still those.
    is_current: bool,
    /// Whether anything was written since the last `finish_loading`.
    is_loaded_anew: bool,
    look_ahead: Dispatch,
    lead: Dispatch,
    advance: Dispatch,
}

struct Known {
    x: Vec<Four>,
    low: Vec<Four>,
    v: Vec<Four>,
    d: Vec<Four>,
}

impl Known {
    fn zeros(count: usize) -> Self {
        let zeros = || vec![[0.0; 4]; count];
        Known { x: zeros(), low: zeros(), v: zeros(), d: zeros() }
    }
}

impl Particles {
    /// For inverse masses and particles that pins lead.
    pub fn new(gpu: &Rc<Gpu>, k: &[f64], led: &[LedParticle]) -> Self {
        let zeros = |name| gpu.zeros::<Four>(name, k.len());
        let (x, low, d, v) = (zeros("places"), zeros("places, low"), zeros("ways"), zeros("velocities"));
        let step = Told::<StepData>::new(gpu, "step", 1);
        let led_numbers = gpu.slab("led", &led.iter().map(|led| led.particle).collect::<Vec<u32>>());
        let led_to = Told::<Four>::new(gpu, "led to", 2 * led.len());
        let all = 0..k.len();
        Particles {
            look_ahead: gpu.dispatch(
                &MOTION,
                "look_ahead",
                all.clone(),
                48,
                &[(1, &step), (3, &low), (4, &d), (5, &v)],
            ),
            lead: gpu.dispatch(&MOTION, "lead", 0..led.len(), 68, &[(2, &x), (4, &d), (6, &led_numbers), (7, &led_to)]),
            advance: gpu.dispatch(&MOTION, "advance", all, 112, &[(1, &step), (2, &x), (3, &low), (4, &d), (5, &v)]),
            gpu: Rc::clone(gpu),
            k: k.to_vec(),
            x,
            low,
            d,
            v,
            step,
            led: led.to_vec(),
            led_to,
            known: None,
            is_current: false,
            is_loaded_anew: false,
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.k.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.k.is_empty()
    }

    /// Begin from a state.
    pub fn load(&mut self, moving: &BodyState) {
        self.load_part(0, moving);
        self.finish_loading();
    }

    /// The same for one of several bodies, whose first particle is this one; `finish_loading` after all of them.
    pub fn load_part(&mut self, start: usize, moving: &BodyState) {
        let own = start..start + moving.x.len();
        let (mut x, mut low): (Vec<Four>, Vec<Four>) =
            moving.x.iter().zip(&self.k[own.clone()]).map(|(x, k)| split(*x, *k)).map(|[x, low]| (x, low)).unzip();
        let mut v: Vec<Four> = moving.v.iter().map(|v| four(*v, 0.0)).collect();
        let known = self.known.get_or_insert_with(|| Known::zeros(self.k.len()));
        let is_same = known.x[own.clone()] == x && known.low[own.clone()] == low && known.v[own.clone()] == v;
        if self.is_current && is_same {
            return;
        }
        // What fills up the last workgroup of a body is where the body is, and has no mass.
        let count = (own.end.next_multiple_of(WORKGROUP as usize)).min(self.k.len()) - start;
        let place = moving.x.first().map_or([[0.0; 4]; 2], |x| split(*x, 0.0));
        x.resize(count, place[0]);
        low.resize(count, place[1]);
        v.resize(count, [0.0; 4]);
        for (slab, all, part) in
            [(&self.x, &mut known.x, x), (&self.low, &mut known.low, low), (&self.v, &mut known.v, v)]
        {
            self.gpu.write(slab, start, &part);
            all[start..start + count].copy_from_slice(&part);
        }
        self.is_loaded_anew = true;
    }

    /// What was loaded is what the device has.
    pub fn finish_loading(&mut self) {
        if std::mem::take(&mut self.is_loaded_anew) {
            // As after a step.
            self.gpu.copy(&self.low, &self.d);
            self.known.iter_mut().for_each(|known| known.d.fill([0.0; 4]));
        }
        self.is_current = true;
    }

    /// Velocities that may have been changed here since the last step.
    pub fn load_velocities(&mut self, moving: &BodyState) {
        self.load_velocities_of(0, moving);
    }

    /// The same for the body whose first particle is this one.
    pub fn load_velocities_of(&mut self, start: usize, moving: &BodyState) {
        let Some(known) = &mut self.known else { return };
        let v: Vec<Four> = moving.v.iter().map(|v| four(*v, 0.0)).collect();
        let own = start..start + v.len();
        if known.v[own.clone()] != v {
            self.gpu.write(&self.v, start, &v);
            known.v[own].copy_from_slice(&v);
        }
    }

    /// What is the same for all particles in this step.
    pub fn begin_step(&mut self, data: StepData) {
        self.step.tell(&self.gpu, [data].into_iter());
    }

    /// Free motion; what is led goes where pins have the vertices at the end of the step.
    pub fn look_ahead(&mut self, pin_targets: &[[Vec3; 2]]) {
        let mean = |led: &LedParticle| {
            let [a, b] = led.ends.map(|end| pin_targets[end as usize][1]);
            (a + b) * 0.5
        };
        self.led_to.tell(&self.gpu, self.led.iter().flat_map(|led| split(mean(led), 0.0)));
        self.is_current = false;
        self.gpu.run([&self.look_ahead, &self.lead]);
    }

    /// The step to the look-ahead positions. Afterwards `d` holds what rounding has taken from the places.
    pub fn advance(&self) {
        self.gpu.run([&self.advance]);
        self.gpu.copy(&self.low, &self.d);
    }

    /// Bring the look-ahead positions here.
    pub fn read_ahead(&mut self, ahead: &mut [Vec3]) {
        self.bring_ahead();
        self.ahead_of(0, ahead);
    }

    /// The same for all bodies; `ahead_of` has them.
    pub fn bring_ahead(&mut self) {
        let Some(known) = &mut self.known else { return };
        self.gpu.read(&self.d, &mut known.d);
    }

    /// The same with the places at the start of the step, where those are not known here.
    pub fn bring_places_and_ahead(&mut self) {
        let Some(known) = &mut self.known else { return };
        self.gpu.read_all([(&self.x, &mut known.x), (&self.d, &mut known.d)]);
    }

    /// They were brought with those of others, for the body whose first particle is this one.
    pub fn receive_of(&mut self, start: usize, places: &[Four], ways: &[Four]) {
        let Some(known) = &mut self.known else { return };
        known.x[start..start + places.len()].copy_from_slice(places);
        known.d[start..start + ways.len()].copy_from_slice(ways);
    }

    /// The look-ahead positions that came last, of the body whose first particle is this one.
    pub fn ahead_of(&self, start: usize, ahead: &mut [Vec3]) {
        let Some(known) = &self.known else { return };
        for ((ahead, x), d) in ahead.iter_mut().zip(&known.x[start..]).zip(&known.d[start..]) {
            *ahead = double(*x) + double(*d);
        }
    }

    /// Take look-ahead positions that were changed here.
    pub fn write_ahead(&mut self, ahead: &[Vec3]) {
        self.write_ahead_of(0, ahead);
    }

    /// The same for the body whose first particle is this one.
    pub fn write_ahead_of(&mut self, start: usize, ahead: &[Vec3]) {
        let Some(known) = &mut self.known else { return };
        let way = |(ahead, x): (&Vec3, &Four)| four(ahead - double(*x), 0.0);
        let d: Vec<Four> = ahead.iter().zip(&known.x[start..]).map(way).collect();
        self.gpu.write(&self.d, start, &d);
        known.d[start..start + d.len()].copy_from_slice(&d);
    }

    /// Whether what was read or loaded last is still so: nothing has moved since.
    pub fn is_current(&self) -> bool {
        self.is_current
    }

    /// Bring velocities here that have changed since the places came.
    pub fn read_velocities(&mut self, v: &mut [Vec3]) {
        self.bring_velocities();
        self.velocities_of(0, v);
    }

    /// The same for all bodies; `velocities_of` has them.
    pub fn bring_velocities(&mut self) {
        let Some(known) = &mut self.known else { return };
        self.gpu.read(&self.v, &mut known.v);
    }

    /// The velocities that came last, of the body whose first particle is this one.
    pub fn velocities_of(&self, start: usize, v: &mut [Vec3]) {
        let Some(known) = &self.known else { return };
        v.iter_mut().zip(&known.v[start..]).for_each(|(v, known)| *v = double(*known));
    }

    /// Bring places and velocities here.
    pub fn read_state(&mut self, moving: &mut BodyState) {
        self.bring_state();
        self.state_of(0, moving);
    }

    /// The same for all bodies; `state_of` has them.
    pub fn bring_state(&mut self) {
        let Some(known) = &mut self.known else { return };
        let Known { x, low, v, .. } = known;
        self.gpu.read_all([(&self.x, x), (&self.low, low), (&self.v, v)]);
        self.is_current = true;
    }

    /// The places and velocities that came last, of the body whose first particle is this one.
    pub fn state_of(&self, start: usize, moving: &mut BodyState) {
        let Some(known) = &self.known else { return };
        for (i, (x, v)) in moving.x.iter_mut().zip(&mut moving.v).enumerate() {
            *x = double(known.x[start + i]) + double(known.low[start + i]);
            *v = double(known.v[start + i]);
        }
    }
}
