//! A tolerance can be met while energy grows without bound, so energy is looked at on its own.

use crate::hanging_sheet;
use crate::support::full;
use kiln::model::{ClothModel, ClothState};

/// Kinetic, potential and bending energy [J].
fn energy(cloth: &ClothModel, moving: &ClothState) -> f64 {
    let moving_mass = moving.v.iter().zip(&moving.x).zip(&cloth.mass);
    let mechanical: f64 = moving_mass.map(|((v, x), m)| m * (0.5 * v.norm_squared() + 9.81 * x.y)).sum();
    let bending =
        cloth.bending.rows.iter().map(|row| 0.5 * cloth.bend * row.weight * row.measure(&moving.x).norm_squared());
    mechanical + bending.sum::<f64>()
}

#[test]
fn a_pendulum_sheet_without_damping_gains_no_energy() {
    let (vertices, frames) = if full() { (41, 600) } else { (16, 150) };
    for max_stretch in [0.1, 0.01] {
        let world = hanging_sheet(vertices, frames, &format!("damping = 0\nmax_stretch = {max_stretch}"));
        let size = 0.1 * f64::from(vertices - 1);
        let cloth = &world.model.cloths[0];
        let start = energy(cloth, &world.start.cloths[0]);
        // What the sheet can lose by hanging down is the scale of the problem.
        let scale = 9.81 * cloth.mass.iter().sum::<f64>() * 0.5 * size;
        let mut highest = f64::NEG_INFINITY;
        world.simulate(|frame| {
            highest = highest.max((energy(cloth, &frame.state.cloths[0]) - start) / scale);
            assert!(highest < 0.01, "frame {}: gained {:.2} % of the swing", frame.number, 100.0 * highest);
        });
        println!(
            "{vertices}x{vertices}, {max_stretch}: largest gain {:.4} % of the swing in {frames} frames",
            100.0 * highest
        );
    }
}
