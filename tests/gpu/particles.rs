//! The same particles on the device and on the processor, for kernels and their twins.

use std::rc::Rc;

use kiln::math::Vec3;
use kiln::model::{BodyState, Pace};
use kiln::solver::gpu::Gpu;
use kiln::solver::gpu::particles::{Particles, StepData};

use crate::{noise, open, vector};

/// Particles somewhere, on the way to somewhere else.
pub struct Both {
    pub gpu: Rc<Gpu>,
    pub particles: Particles,
    pub moving: BodyState,
    /// Where they look ahead to.
    pub ahead: Vec<Vec3>,
    pub k: Vec<f64>,
}

/// What single precision holds of a number.
pub fn rounded(x: f64) -> f64 {
    f64::from(x as f32)
}

impl Both {
    /// Random ones in a cube of 2 m around a point; some are held, and some are in the same place.
    pub fn random(count: usize, middle: Vec3) -> Self {
        let mut next = noise(count as u64);
        let mut x: Vec<Vec3> = (0..count).map(|_| middle + vector(&mut next)).collect();
        (1..count).filter(|i| i % 17 == 0).for_each(|i| x[i] = x[i - 1]);
        let k = (0..count).map(|i| if i % 7 == 3 { 0.0 } else { rounded(2.0 + next()) }).collect();
        Self::new(x, k)
    }

    /// Those at some places with random velocities and ways.
    pub fn new(x: Vec<Vec3>, k: Vec<f64>) -> Self {
        let mut next = noise(x.len() as u64 + 1);
        let v: Vec<Vec3> = x.iter().map(|_| vector(&mut next).map(rounded)).collect();
        let mut ahead: Vec<Vec3> = x.iter().map(|x| x + vector(&mut next) * 0.1).collect();
        // What is in one place stays in one place.
        (1..x.len()).filter(|&i| x[i] == x[i - 1]).for_each(|i| ahead[i] = ahead[i - 1]);
        Self::with_ahead(x, v, ahead, k)
    }

    fn with_ahead(x: Vec<Vec3>, v: Vec<Vec3>, ahead: Vec<Vec3>, k: Vec<f64>) -> Self {
        let gpu = Rc::new(open(None));
        let mut particles = Particles::new(&gpu, &k, &[]);
        let pace = Pace { factor: 1.0, change: 1.0, strain: 0.0 };
        let moving = BodyState { x, v, written: Vec::new(), flowed: Vec::new(), pace };
        particles.load(&moving);
        particles.write_ahead(&ahead);
        Both { gpu, particles, moving, ahead, k }
    }

    /// The length of a step and gravity.
    pub fn begin_step(&mut self, gravity: Vec3, h: f64) {
        self.particles.begin_step(StepData::of(gravity, h, 0.0));
    }

    /// Compare look-ahead positions; how far they may be apart [m].
    #[track_caller]
    pub fn assert_ahead(&mut self, expected: &[Vec3], tolerance: f64) {
        let mut ahead = self.ahead.clone();
        self.particles.read_ahead(&mut ahead);
        assert_close(&ahead, expected, tolerance);
        assert_eq!(self.gpu.trouble(), None);
    }

    /// Compare velocities.
    #[track_caller]
    pub fn assert_velocities(&mut self, expected: &[Vec3], tolerance: f64) {
        let mut moving = self.moving.clone();
        self.particles.read_state(&mut moving);
        assert_close(&moving.v, expected, tolerance);
        assert_eq!(self.gpu.trouble(), None);
    }
}

/// Compare vectors.
#[track_caller]
pub fn assert_close(found: &[Vec3], expected: &[Vec3], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        let off = (found - expected).norm();
        assert!(off <= tolerance, "{i}: {found:?} for {expected:?}, {off:.1e} off");
    }
}

/// Numbers of different particles.
pub fn pick<const N: usize>(next: &mut impl FnMut() -> f64, count: usize) -> [u32; N] {
    let mut picked = [u32::MAX; N];
    for n in 0..N {
        while picked[n] == u32::MAX {
            let one = ((next() + 1.0) * 0.5 * count as f64) as u32 % count as u32;
            if !picked.contains(&one) {
                picked[n] = one;
            }
        }
    }
    picked
}
