//! Elasticity in the plane: measures, forces, balance.

use kiln::algorithms::cloth::elastic::{Elastic, Stiffness};
use kiln::math::{Vec2, Vec3};

use crate::{Random, assert_close, assert_near};

const STIFFNESS: Stiffness = Stiffness { warp: 300.0, weft: 120.0, shear: 40.0 };

/// A triangle of any shape in the plane.
fn flat(random: &mut Random) -> [Vec2; 3] {
    loop {
        let corners = std::array::from_fn(|_| Vec2::new(random.within(-1.0, 1.0), random.within(-1.0, 1.0)));
        let area = 0.5 * (corners[1] - corners[0]).perp(&(corners[2] - corners[0]));
        if area.abs() > 0.1 {
            return corners;
        }
    }
}

fn area([a, b, c]: [Vec2; 3]) -> f64 {
    0.5 * (b - a).perp(&(c - a)).abs()
}

fn elastic(flat: [Vec2; 3]) -> Elastic {
    Elastic::new([0, 1, 2], flat, area(flat), STIFFNESS).unwrap()
}

/// Somewhere in space, stretched along u and v and sheared by an angle.
fn placed(flat: [Vec2; 3], [u, v]: [f64; 2], shear: f64, random: &mut Random) -> [Vec3; 3] {
    let pose = random.pose();
    flat.map(|p| pose.apply(Vec3::new(p.x * u + p.y * v * shear.sin(), p.y * v * shear.cos(), 0.0)))
}

#[test]
fn moved_and_turned_it_has_no_strain_and_stays() {
    let mut random = Random(160);
    for _ in 0..100 {
        let flat = flat(&mut random);
        let elastic = elastic(flat);
        let start = placed(flat, [1.0, 1.0], 0.0, &mut random);
        assert!(elastic.strains(start).iter().all(|strain| strain.abs() < 1e-13));
        assert!(elastic.energy(start) < 1e-20);
        let mut x = start;
        elastic.correct_position(&mut x, [1.0, 2.0, 3.0], 0.01);
        (0..3).for_each(|i| assert_near(x[i], start[i], 1e-12));
    }
}

#[test]
fn strains_are_stretch_along_warp_and_weft_and_the_sine_of_the_shear() {
    let mut random = Random(161);
    for _ in 0..100 {
        let flat = flat(&mut random);
        let (u, v, shear) = (random.within(0.5, 2.0), random.within(0.5, 2.0), random.within(-1.0, 1.0));
        let x = placed(flat, [u, v], shear, &mut random);
        let found = elastic(flat).strains(x);
        assert_close(found[0], u - 1.0, 1e-12);
        assert_close(found[1], v - 1.0, 1e-12);
        assert_close(found[2], shear.sin(), 1e-12);
        let [e_u, e_v, e_s] = found;
        let Stiffness { warp, weft, shear } = STIFFNESS;
        let density = 0.5 * (warp * e_u * e_u + weft * e_v * e_v + shear * e_s * e_s);
        assert_close(elastic(flat).energy(x), area(flat) * density, 1e-9);
    }
}

#[test]
fn in_a_short_step_it_moves_as_the_gradient_of_its_energy_says() {
    let mut random = Random(162);
    for _ in 0..50 {
        let flat = flat(&mut random);
        let elastic = elastic(flat);
        let stretch = [random.within(0.7, 1.5), random.within(0.7, 1.5)];
        let start = placed(flat, stretch, random.within(-0.5, 0.5), &mut random);
        let k = [random.within(0.5, 2.0), random.within(0.5, 2.0), random.within(0.5, 2.0)];
        let h = 1e-5;
        let mut x = start;
        elastic.correct_position(&mut x, k, h);
        let step = |i: usize, axis: usize, by: f64| {
            let mut moved = start;
            moved[i][axis] += by;
            elastic.energy(moved)
        };
        for i in 0..3 {
            let force = (x[i] - start[i]) / (h * h * k[i]);
            let slope = Vec3::from_fn(|axis, _| (step(i, axis, 1e-6) - step(i, axis, -1e-6)) / 2e-6);
            assert_near(force, -slope, 1e-4 * (1.0 + slope.norm()));
        }
    }
}

#[test]
fn momentum_is_kept_and_energy_never_grows_whatever_the_step() {
    let mut random = Random(163);
    for _ in 0..200 {
        let flat = flat(&mut random);
        let elastic = elastic(flat);
        let start: [Vec3; 3] = std::array::from_fn(|_| random.vector());
        let k = [random.within(0.1, 5.0), random.within(0.1, 5.0), random.within(0.1, 5.0)];
        for h in [1e-4, 1e-2, 1.0, 1e3] {
            let mut x = start;
            elastic.correct_position(&mut x, k, h);
            assert!(x.iter().all(|x| x.iter().all(|x| x.is_finite())));
            let impulse: Vec3 = (0..3).map(|i| (x[i] - start[i]) / k[i]).sum();
            assert_near(impulse, Vec3::zeros(), 1e-11);
            let torque: Vec3 = (0..3).map(|i| start[i].cross(&((x[i] - start[i]) / k[i]))).sum();
            if h < 1e-3 {
                assert_near(torque, Vec3::zeros(), 1e-4);
            }
        }
        // Again and again in a long step ends at rest.
        let mut x = placed(flat, [1.3, 0.8], 0.3, &mut random);
        let before = elastic.energy(x);
        (0..2000).for_each(|_| elastic.correct_position(&mut x, k, 1.0));
        assert!(elastic.energy(x) < 1e-6 * before, "{} of {before}", elastic.energy(x));
    }
}

#[test]
fn held_particles_stay_and_no_size_breaks_it() {
    let mut random = Random(164);
    let flat = flat(&mut random);
    let start = placed(flat, [1.5, 0.7], 0.4, &mut random);
    let mut x = start;
    elastic(flat).correct_position(&mut x, [0.0, 1.0, 0.0], 0.01);
    assert_eq!([x[0], x[2]], [start[0], start[2]]);
    assert_ne!(x[1], start[1]);
    let mut x = start;
    elastic(flat).correct_position(&mut x, [0.0; 3], 0.01);
    assert_eq!(x, start);
    let mut x = [Vec3::zeros(); 3];
    elastic(flat).correct_position(&mut x, [1.0; 3], 0.01);
    assert!(x.iter().all(|x| *x == Vec3::zeros()), "what has no direction stays");
    let line = [Vec2::zeros(), Vec2::new(1.0, 1.0), Vec2::new(2.0, 2.0)];
    assert!(Elastic::new([0, 1, 2], line, 0.0, STIFFNESS).is_none());
}

/// Stretch of a strip `w` wide and `l` long whose lower side is held and whose upper side is drawn up by `force` [N] in all, when it
/// has come to rest; the load is along the warp or the weft.
fn loaded(force: f64, w: f64, l: f64, along_warp: bool) -> f64 {
    let place = |x: f64, y: f64| if along_warp { Vec2::new(y, x) } else { Vec2::new(x, y) };
    let corners = [place(0.0, 0.0), place(w, 0.0), place(0.0, l), place(w, l)];
    let triangles = [[0, 1, 2], [1, 3, 2]].map(|particles: [u32; 3]| {
        let flat = particles.map(|p| corners[p as usize]);
        Elastic::new(particles, flat, area(flat), STIFFNESS).unwrap()
    });
    let up = if along_warp { Vec3::x() } else { Vec3::y() };
    let across = if along_warp { Vec3::y() } else { Vec3::x() };
    let mut x = corners.map(|p| Vec3::new(p.x, p.y, 0.0));
    let (start, h, k) = (x, 1e-3, 20.0);
    // Without momentum: what a step moves is forgotten.
    for _ in 0..40_000 {
        for p in [2, 3] {
            x[p] += up * (h * h * k * 0.5 * force);
        }
        for elastic in &triangles {
            let particles = elastic.particles.map(|p| p as usize);
            let mut moved = particles.map(|p| x[p]);
            elastic.correct_position(&mut moved, particles.map(|p| if p < 2 { 0.0 } else { k }), h);
            (0..3).for_each(|i| x[particles[i]] = moved[i]);
        }
    }
    assert!((x[2] - start[2]).dot(&across).abs() < 1e-6, "it does not grow narrower");
    ((x[2] + x[3] - start[2] - start[3]).dot(&up) / 2.0) / l
}

#[test]
fn a_loaded_strip_is_longer_by_the_load_over_stiffness_and_width() {
    for (force, w, l) in [(1.0, 0.1, 0.3), (3.0, 0.2, 0.2), (0.1, 0.1, 0.1)] {
        for (along_warp, stiffness) in [(true, STIFFNESS.warp), (false, STIFFNESS.weft)] {
            let (found, expected) = (loaded(force, w, l, along_warp), force / (stiffness * w));
            println!("{force} N on {w} m: strain {found:.6}, expected {expected:.6}");
            assert_close(found, expected, 2e-3 * expected);
        }
    }
}
