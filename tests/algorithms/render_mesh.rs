//! Render meshes: exact at rest and under rigid motion, smooth and at their distance under bending.

use kiln::algorithms::render_mesh::{Binder, Bound, Surface};
use kiln::math::Vec3;
use kiln::math::motion::{Pose, rotation_from_degrees};
use kiln::mesh::generate;
use kiln::mesh::simulation_mesh::SimulationMesh;

use crate::Random;

fn sheet(count: u32, shape: impl Fn(Vec3) -> Vec3) -> Surface {
    let mesh = SimulationMesh::build(&generate::sheet([count, count], [1.0, 1.0]));
    Surface::new(mesh.positions.into_iter().map(shape).collect(), mesh.triangles)
}

fn bumpy(p: Vec3) -> Vec3 {
    Vec3::new(p.x, 0.08 * (7.0 * p.x).sin() * (5.0 * p.z + 1.0).cos(), p.z + 0.05 * (4.0 * p.x).sin())
}

/// Rolled up about the z axis, without stretch.
fn rolled(p: Vec3) -> Vec3 {
    let radius = 0.4 - p.y;
    Vec3::new(radius * (p.x / 0.4).sin(), 0.4 - radius * (p.x / 0.4).cos(), p.z)
}

/// A sharp fold along the z axis.
fn folded(p: Vec3) -> Vec3 {
    Vec3::new(p.x.abs() * 0.2, p.x * 0.98, p.z)
}

fn moved(surface: &Surface, to: impl Fn(Vec3) -> Vec3) -> Surface {
    Surface::new(surface.positions.iter().map(|&p| to(p)).collect(), surface.triangles.clone())
}

/// Points all around a sheet: near, on it, and beyond its borders.
fn points_around(count: usize) -> Vec<Vec3> {
    let mut random = Random(5);
    let point = |_| {
        let p = bumpy(Vec3::new(random.within(-0.6, 0.6), 0.0, random.within(-0.6, 0.6)));
        p + Vec3::new(0.0, random.within(-0.04, 0.04), 0.0)
    };
    (0..count).map(point).collect()
}

fn bind(surface: &Surface, points: &[Vec3]) -> Vec<Bound> {
    let binder = Binder::new(surface);
    points.iter().map(|&p| binder.bind(p)).collect()
}

fn worst(bound: &[Bound], surface: &Surface, expected: impl Iterator<Item = Vec3>) -> f64 {
    bound.iter().zip(expected).map(|(bound, p)| (bound.place(surface) - p).norm()).fold(0.0, f64::max)
}

#[test]
fn rest_and_rigid_motion_are_exact() {
    let pose =
        Pose { rotation: rotation_from_degrees(Vec3::new(31.0, -72.0, 140.0)), translation: Vec3::new(3.0, -1.0, 2.0) };
    for surface in [sheet(21, bumpy), sheet(3, bumpy), sheet(11, folded)] {
        let points = points_around(4000);
        let bound = bind(&surface, &points);
        let outside = bound.iter().filter(|bound| bound.is_outside).count();
        assert!(outside > 300 && outside < 3000, "{outside} are beyond the border");
        let at_rest = worst(&bound, &surface, points.iter().copied());
        let turned = worst(&bound, &moved(&surface, |p| pose.apply(p)), points.iter().map(|&p| pose.apply(p)));
        println!("{outside} outside, at rest {at_rest:.1e}, turned {turned:.1e}");
        assert!(at_rest < 1e-13 && turned < 1e-12);
    }
}

#[test]
fn bending_keeps_the_distance() {
    let flat = sheet(21, |p| p);
    let bent = moved(&flat, rolled);
    let (mut random, binder) = (Random(9), Binder::new(&flat));
    for _ in 0..2000 {
        let on_sheet = Vec3::new(random.within(-0.5, 0.5), 0.0, random.within(-0.5, 0.5));
        let d = random.within(-0.05, 0.05);
        let [foot, tip] = [on_sheet, on_sheet + d * Vec3::y()].map(|p| binder.bind(p));
        assert!(!foot.is_outside && !tip.is_outside && (tip.distance - d.abs()).abs() < 1e-12);
        let [foot, tip] = [foot, tip].map(|bound| bound.place(&bent));
        assert!(((tip - foot).norm() - d.abs()).abs() < 1e-12);
        // The exact roll, up to the coarseness of the sheet.
        assert!((tip - rolled(on_sheet + d * Vec3::y())).norm() < 4e-3, "{tip} {d}");
    }
}

#[test]
fn a_bent_sheet_is_round() {
    let flat = sheet(21, |p| p);
    let bent = moved(&flat, rolled);
    let (mut random, binder) = (Random(3), Binder::new(&flat));
    // Between two vertices of the sheet the triangles are this far below the roll.
    let sagitta = 0.05_f64.powi(2) / (8.0 * 0.4);
    let mut worst = 0.0_f64;
    for _ in 0..4000 {
        // At the border a vertex knows only one side of its normal.
        let p = Vec3::new(random.within(-0.44, 0.44), 0.0, random.within(-0.44, 0.44));
        let placed = binder.bind(p).place(&bent);
        worst = worst.max((placed.x.hypot(placed.y - 0.4) - 0.4).abs());
    }
    println!("flat triangles {sagitta:.2e}, rounded {worst:.2e}");
    assert!(worst < 0.25 * sagitta);
    for (v, p) in flat.positions.iter().enumerate() {
        assert!((binder.bind(*p).place(&bent) - bent.positions[v]).norm() < 1e-12, "vertices are met");
    }
}

#[test]
fn a_fine_mesh_has_no_jumps() {
    let coarse = sheet(11, |p| p);
    // 40 × 40 fine squares on each coarse one: far more than 16 times as many.
    let fine = generate::sheet([401, 401], [1.04, 1.04]);
    let points: Vec<Vec3> = fine.positions.iter().map(|p| p + Vec3::new(0.0, 0.01, 0.0)).collect();
    let bound = bind(&coarse, &points);
    let bent = moved(&coarse, rolled);
    let placed: Vec<Vec3> = bound.iter().map(|bound| bound.place(&bent)).collect();
    let spacing = 1.04 / 400.0;
    for row in 0..401 {
        for column in 1..401 {
            for pair in [[row * 401 + column - 1, row * 401 + column], [(column - 1) * 401 + row, column * 401 + row]] {
                let length = (placed[pair[0]] - placed[pair[1]]).norm();
                assert!(length > 0.8 * spacing && length < 1.2 * spacing, "{length} instead of {spacing}");
            }
        }
    }
}

#[test]
fn beyond_a_border_the_distance_stays() {
    let flat = sheet(11, |p| p);
    let bent = moved(&flat, rolled);
    for away in [0.001, 0.02, 0.3] {
        let p = Vec3::new(0.5 + away, 0.0, 0.1);
        let [edge, bound] = [Vec3::new(0.5, 0.0, 0.1), p].map(|p| Binder::new(&flat).bind(p));
        assert!(bound.is_outside && (bound.distance - away).abs() < 1e-12);
        assert!(((bound.place(&bent) - edge.place(&bent)).norm() - away).abs() < 1e-12);
    }
}

#[test]
fn nothing_makes_a_vertex_infinite() {
    let surface = sheet(5, folded);
    let mut points = points_around(500);
    points.extend(surface.positions.iter().copied());
    points.extend([Vec3::new(100.0, 3.0, -8.0), Vec3::new(0.05, 0.0, 0.0), Vec3::zeros(), Vec3::zeros()]);
    let bound = bind(&surface, &points);
    assert_eq!(bound[bound.len() - 1], bound[bound.len() - 2], "equal points are tied equally");
    let shapes: [fn(Vec3) -> Vec3; 4] =
        [|_| Vec3::zeros(), |p| Vec3::new(p.x, 0.0, 0.0), |p| p * 1e-200, |p| Vec3::new(p.x, p.y, p.y)];
    for shape in shapes {
        let flat = moved(&surface, shape);
        assert!(bound.iter().all(|bound| bound.place(&flat).iter().all(|x| x.is_finite())));
    }
}

#[test]
fn layers_that_come_close_stay_with_their_own() {
    // Two layers 1 cm apart, joined at one end.
    let hairpin = |p: Vec3| Vec3::new(p.x.abs(), if p.x > 0.0 { 0.005 } else { -0.005 }, p.z);
    let surface = sheet(21, |p| if p.x == 0.0 { p } else { hairpin(p) });
    let binder = Binder::new(&surface);
    let opened = moved(&surface, |p| Vec3::new(p.x, p.y * 20.0, p.z));
    for (y, sign) in [(0.007, 1.0), (0.003, 1.0), (-0.003, -1.0), (-0.007, -1.0)] {
        let bound = binder.bind(Vec3::new(0.33, y, 0.21));
        assert!((bound.distance - 0.002).abs() < 1e-9);
        assert!((bound.place(&opened).y - sign * 0.1).abs() < 0.01);
    }
}
