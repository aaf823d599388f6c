//! Free motion far from the origin: no place and no speed loses what single precision cannot hold.

use kiln::math::Vec3;
use kiln::model::{BodyState, Pace};
use kiln::solver::gpu::particles::{Particles, StepData};
use std::rc::Rc;

use crate::particles::{Both, rounded};
use crate::{noise, open, vector};

#[test]
fn a_thousand_small_steps_far_away_go_as_far_as_one_of_them_says() {
    let (count, h) = (200, rounded(1e-4));
    let gravity = Vec3::new(0.0, -9.81, 0.0).map(rounded);
    for middle in [Vec3::zeros(), Vec3::new(900.0, -400.0, 70.0)] {
        let mut next = noise(1);
        let k: Vec<f64> = (0..count).map(|i| if i % 7 == 3 { 0.0 } else { 2.0 }).collect();
        let x: Vec<Vec3> = (0..count).map(|_| middle + vector(&mut next)).collect();
        let v: Vec<Vec3> = (0..count).map(|_| vector(&mut next).map(rounded)).collect();
        let pace = Pace { factor: 1.0, change: 1.0, strain: 0.0 };
        let mut moving = BodyState { x, v, written: Vec::new(), flowed: Vec::new(), pace };
        let gpu = Rc::new(open(None));
        let mut particles = Particles::new(&gpu, &k, &[]);
        particles.load(&moving);
        particles.begin_step(StepData::of(gravity, h, 0.0));
        let mut expected = moving.clone();
        for _ in 0..1000 {
            particles.look_ahead(&[]);
            particles.advance();
            for (i, (x, v)) in expected.x.iter_mut().zip(&mut expected.v).enumerate() {
                let way = (*v + gravity * (0.5 * h)) * h;
                *x += way;
                *v = way / h + if k[i] > 0.0 { gravity * (0.5 * h) } else { Vec3::zeros() };
            }
        }
        particles.read_state(&mut moving);
        assert_eq!(gpu.trouble(), None);
        crate::particles::assert_close(&moving.v, &expected.v, 2e-4);
        // The way is a tenth of a metre, whatever the place is; one number alone would be off by centimetres.
        crate::particles::assert_close(&moving.x, &expected.x, 1e-5);
    }
}

#[test]
fn what_is_known_is_not_sent_again_but_what_has_moved_is() {
    let mut both = Both::random(50, Vec3::zeros());
    let sent = both.gpu.counts().uploads;
    both.particles.load(&both.moving);
    assert_eq!(both.gpu.counts().uploads, sent, "nothing has moved");
    both.begin_step(Vec3::zeros(), 1e-3);
    both.begin_step(Vec3::zeros(), 1e-3);
    assert_eq!(both.gpu.counts().uploads, sent + 1, "the same step");
    both.particles.look_ahead(&[]);
    both.particles.advance();
    assert!(!both.particles.is_current());
    both.particles.load(&both.moving);
    both.assert_velocities(&both.moving.v.clone(), 0.0);
    assert!(both.particles.is_current());
}
