//! Attachments: all of a particle in their order, also at a pin and without any length.

use kiln::algorithms::cloth::attachment::Attachment;
use kiln::math::Vec3;
use kiln::solver::gpu::cloth_parts::{Attachments, GoalData};
use kiln::solver::gpu::work::Told;

use crate::particles::{Both, pick};
use crate::{noise, vector};

#[test]
fn attachments_are_those_of_the_processor() {
    for middle in [Vec3::zeros(), Vec3::new(900.0, -400.0, 70.0)] {
        let mut both = Both::random(300, middle);
        let mut next = noise(5);
        let mut pins: Vec<Vec3> = (0..6).map(|_| middle + vector(&mut next)).collect();
        pins[5] = both.ahead[0];
        let random = (0..500).map(|_| {
            let longest = (next() + 1.0).max(0.0) * 0.6;
            let [particle] = pick(&mut next, 300);
            let [pin] = pick(&mut next, 6);
            Attachment { particle, pin, longest_squared: longest * longest }
        });
        let mut all: Vec<Attachment> = random.collect();
        all.extend([0.0, 1e-6].map(|longest_squared| Attachment { particle: 0, pin: 5, longest_squared }));
        for most in [0.05, 100.0] {
            let mut goals = Told::new(&both.gpu, "goals", pins.len());
            goals.tell(&both.gpu, pins.iter().map(|pin| GoalData::exact([Vec3::zeros(), *pin])));
            both.particles.write_ahead(&both.ahead);
            let mut attachments = Attachments::new(&both.gpu, &both.particles, &all, &goals);
            both.gpu.run([&attachments.dispatch]);
            both.assert_ahead(&both.ahead.clone(), 1e-7); // nobody has said how far they may go
            attachments.limit(&both.gpu, |particle| if particle == 7 { 0.0 } else { most });
            both.gpu.run([&attachments.dispatch]);
            let mut expected = both.ahead.clone();
            for attachment in all.iter().filter(|attachment| attachment.particle != 7) {
                attachment.correct(pins[attachment.pin as usize], &mut expected[attachment.particle as usize], most);
            }
            both.assert_ahead(&expected, 1e-6);
        }
        let nothing = Told::new(&both.gpu, "no goals", 0);
        both.particles.write_ahead(&both.ahead);
        both.gpu.run([&Attachments::new(&both.gpu, &both.particles, &[], &nothing).dispatch]);
        both.assert_ahead(&both.ahead.clone(), 1e-7);
    }
}
