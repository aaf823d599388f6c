//! The longest way from a pin: kept, capped, and never felt by cloth that is whole.

use kiln::algorithms::cloth::attachment::Attachment;
use kiln::math::Vec3;
use kiln::mesh::geodesic::distances;

use crate::{Mesh, Random, assert_close, assert_near};

fn attachment(longest: f64) -> Attachment {
    Attachment { particle: 0, pin: 0, longest_squared: longest * longest }
}

#[test]
fn what_is_within_stays_and_what_is_beyond_comes_to_the_bound() {
    let mut random = Random(140);
    for _ in 0..300 {
        let (pin, start) = (random.vector(), random.vector() * 3.0);
        let longest = random.within(0.1, 3.0);
        let mut particle = start;
        attachment(longest).correct(pin, &mut particle, f64::INFINITY);
        let before = (start - pin).norm();
        if before <= longest {
            assert_eq!(particle, start);
        } else {
            assert_near(particle, pin + (start - pin) * (longest / before), 1e-14);
        }
        // Again changes nothing but rounding.
        let once = particle;
        attachment(longest).correct(pin, &mut particle, f64::INFINITY);
        assert_near(particle, once, 1e-14);
    }
}

#[test]
fn no_step_is_longer_than_the_most() {
    let mut random = Random(141);
    for _ in 0..300 {
        let (pin, start, most) = (random.vector(), random.vector() * 10.0, random.within(0.0, 0.5));
        let mut particle = start;
        attachment(0.2).correct(pin, &mut particle, most);
        let beyond = ((start - pin).norm() - 0.2).max(0.0);
        assert_close((particle - start).norm(), beyond.min(most), 1e-13);
    }
}

#[test]
fn a_particle_on_its_pin_is_left_alone() {
    let mut particle = Vec3::repeat(0.3);
    attachment(0.0).correct(Vec3::repeat(0.3), &mut particle, 1.0);
    assert_eq!(particle, Vec3::repeat(0.3));
}

#[test]
fn cloth_that_bends_without_stretch_never_feels_it() {
    let flat = Mesh::equilateral(1.0, 1.0, 0.07);
    let (lengths, around) = (flat.edge_lengths(), flat.vertex_triangles());
    for source in [0, 40, 111] {
        let reached = distances(&[source], &flat.triangles, &flat.topology, &lengths, &around, true);
        // Rolled up, wound like a spiral, and waved.
        let shapes: [&dyn Fn(Vec3) -> Vec3; 3] = [
            &|p| Vec3::new(0.2 * (p.x / 0.2).sin(), 0.2 * (p.x / 0.2).cos(), p.z),
            &|p| Vec3::new(p.x, 0.07 * (p.z / 0.07).sin(), 0.07 * (p.z / 0.07).cos()),
            &|p| if p.x > 0.0 { Vec3::new(0.0, p.x, p.z) } else { p },
        ];
        for shape in shapes {
            let x: Vec<Vec3> = flat.positions.iter().map(|p| shape(*p)).collect();
            for (v, reached) in reached.iter().enumerate() {
                let mut particle = x[v];
                attachment(reached.distance + 1e-9).correct(x[source as usize], &mut particle, 1.0);
                assert_eq!(particle, x[v], "vertex {v} is held back");
            }
        }
    }
}
