//! Distances to colliders against samples of their surfaces, and meshes against the solids they stand for.

use std::f64::consts::TAU;

use kiln::algorithms::contact::signed_distance::{
    Inside, MeshSurface, Nearest, Sides, capsule, cuboid, cylinder, plane, sphere,
};
use kiln::math::Vec3;
use kiln::mesh::closest::closest_on_triangle;

use crate::{Mesh, Random, assert_close, assert_near};

const FROM: Vec3 = Vec3::new(-0.2, -0.3, 0.1);
const TO: Vec3 = Vec3::new(0.3, 0.5, 0.2);
const CENTER: Vec3 = Vec3::new(0.1, 0.2, -0.1);
const SIZE: Vec3 = Vec3::new(0.8, 0.5, 1.1);

/// A shape, whether a point is inside it, and points of its surface.
struct Shape {
    name: &'static str,
    nearest: fn(Vec3) -> Nearest,
    inside: fn(Vec3) -> bool,
    samples: Vec<Vec3>,
    /// No point of the surface is farther from a sample than this.
    spacing: f64,
}

/// A direction across the axis of the capsule and cylinder.
fn across(angle: f64) -> Vec3 {
    let axis = (TO - FROM).normalize();
    let u = axis.cross(&Vec3::z()).normalize();
    u * angle.cos() + axis.cross(&u) * angle.sin()
}

fn ball(center: Vec3, radius: f64) -> impl Iterator<Item = Vec3> {
    (0..=100).flat_map(move |i| {
        (0..200).map(move |j| {
            let (polar, angle) = (TAU / 2.0 * f64::from(i) / 100.0, TAU * f64::from(j) / 200.0);
            center + Vec3::new(polar.sin() * angle.cos(), polar.cos(), polar.sin() * angle.sin()) * radius
        })
    })
}

fn along_the_axis(p: Vec3) -> (f64, f64) {
    let t = (p - FROM).dot(&(TO - FROM)) / (TO - FROM).norm_squared();
    (t, (p - (FROM + (TO - FROM) * t)).norm())
}

fn shapes() -> Vec<Shape> {
    let grid = || (0..=100).flat_map(|i| (0..=100).map(move |j| (f64::from(i) / 100.0, f64::from(j) / 100.0)));
    let side = |radius: f64| grid().map(move |(u, v)| FROM + (TO - FROM) * u + across(TAU * v) * radius);
    let ends = grid().flat_map(|(u, v)| [FROM, TO].map(|end| end + across(TAU * v) * (0.25 * u)));
    let faces = grid().flat_map(|(u, v)| {
        (0..6).map(move |face| {
            let mut p = Vec3::zeros();
            p[face % 3] = if face < 3 { -0.5 } else { 0.5 };
            (p[(face + 1) % 3], p[(face + 2) % 3]) = (u - 0.5, v - 0.5);
            CENTER + p.component_mul(&SIZE)
        })
    });
    let on_capsule = |p: &Vec3| {
        let (t, _) = along_the_axis(*p);
        !(1e-9..=1.0 - 1e-9).contains(&t)
    };
    vec![
        Shape {
            name: "sphere",
            nearest: |p| sphere(p, CENTER, 0.4),
            inside: |p| (p - CENTER).norm() < 0.4,
            samples: ball(CENTER, 0.4).collect(),
            spacing: 0.02,
        },
        Shape {
            name: "box",
            nearest: |p| cuboid(p, CENTER, SIZE),
            inside: |p| (p - CENTER).abs().iter().zip(SIZE.iter()).all(|(x, size)| *x < 0.5 * size),
            samples: faces.collect(),
            spacing: 0.02,
        },
        Shape {
            name: "capsule",
            nearest: |p| capsule(p, FROM, TO, 0.25),
            inside: |p| {
                let t = along_the_axis(p).0.clamp(0.0, 1.0);
                (p - FROM - (TO - FROM) * t).norm() < 0.25
            },
            samples: side(0.25)
                .chain(ball(FROM, 0.25).filter(on_capsule))
                .chain(ball(TO, 0.25).filter(on_capsule))
                .collect(),
            spacing: 0.02,
        },
        Shape {
            name: "cylinder",
            nearest: |p| cylinder(p, FROM, TO, 0.25),
            inside: |p| {
                let (t, distance) = along_the_axis(p);
                (0.0..1.0).contains(&t) && distance < 0.25
            },
            samples: side(0.25).chain(ends).collect(),
            spacing: 0.02,
        },
    ]
}

#[test]
fn primitives_agree_with_samples_of_their_surface() {
    let mut random = Random(70);
    for shape in shapes() {
        for _ in 0..150 {
            let p = random.vector();
            let Nearest { distance, normal, .. } = (shape.nearest)(p);
            assert_eq!(distance < 0.0, (shape.inside)(p), "{}: sign at {p:?}", shape.name);
            let sampled = shape.samples.iter().map(|q| (q - p).norm()).fold(f64::INFINITY, f64::min);
            let found = distance.abs();
            assert!(found <= sampled + 1e-12 && sampled <= found + shape.spacing, "{}: {found} {sampled}", shape.name);
            assert_close(normal.norm(), 1.0, 1e-14);
            // The foot of the point is a point of the surface.
            let foot = p - normal * distance;
            let off = shape.samples.iter().map(|q| (q - foot).norm()).fold(f64::INFINITY, f64::min);
            assert!(off <= shape.spacing, "{}: the foot is off by {off}", shape.name);
        }
    }
}

#[test]
fn normals_are_the_gradient_of_the_distance() {
    let mut random = Random(71);
    let step = 1e-6;
    for shape in shapes() {
        let mut checked = 0;
        for _ in 0..300 {
            let p = random.vector();
            let at = |axis: usize, by: f64| {
                let mut q = p;
                q[axis] += by;
                (shape.nearest)(q)
            };
            let normal = (shape.nearest)(p).normal;
            let kink = (0..3).any(|axis| [-step, step].iter().any(|by| (at(axis, *by).normal - normal).norm() > 1e-3));
            if !kink {
                let gradient =
                    Vec3::from_fn(|axis, _| (at(axis, step).distance - at(axis, -step).distance) / (2.0 * step));
                assert_near(normal, gradient, 1e-4);
                checked += 1;
            }
        }
        assert!(checked > 280, "{}: only {checked} points", shape.name);
    }
}

#[test]
fn a_plane_has_everything_below_it_inside() {
    let normal = Vec3::new(1.0, 2.0, 2.0) / 3.0;
    for height in [-2.0, 0.0, 0.5] {
        let p = Vec3::new(2.0, -1.0, 0.0) + normal * height;
        assert_close(plane(p, Vec3::zeros(), normal).distance, height, 1e-15);
        assert_eq!(plane(p, Vec3::zeros(), normal).normal, normal);
    }
}

#[test]
fn centres_axes_and_points_without_a_direction_have_a_unit_normal() {
    let middle = (FROM + TO) / 2.0;
    let cases = [
        (sphere(CENTER, CENTER, 0.4), -0.4),
        (cuboid(CENTER, CENTER, SIZE), -0.25),
        (capsule(middle, FROM, TO, 0.25), -0.25),
        (capsule(FROM, FROM, FROM, 0.25), -0.25),
        (cylinder(middle, FROM, TO, 0.25), -0.25),
        (cylinder(TO, FROM, TO, 0.25), 0.0),
        (cylinder(Vec3::zeros(), -Vec3::x(), Vec3::x(), 0.5), -0.5),
        (cylinder(Vec3::zeros(), -Vec3::y(), Vec3::y(), 0.5), -0.5),
        (cylinder(Vec3::zeros(), -Vec3::z(), Vec3::z(), 2.0), -1.0),
    ];
    for (n, (nearest, distance)) in cases.into_iter().enumerate() {
        assert_close(nearest.distance, distance, 1e-15);
        assert!((nearest.normal.norm() - 1.0).abs() < 1e-14, "case {n}: {nearest:?}");
    }
    for axis in [Vec3::x(), Vec3::y(), Vec3::z(), TO - FROM] {
        let normal = capsule(axis * 0.1, -axis, axis, 0.25).normal;
        assert_close(normal.norm(), 1.0, 1e-14);
        assert_close(normal.dot(&axis), 0.0, 1e-14);
    }
    let on_axis = cylinder(middle, FROM, TO, 0.25).normal;
    assert_close(on_axis.dot(&(TO - FROM)), 0.0, 1e-14);
}

#[test]
fn a_point_just_outside_a_box_is_pushed_out_of_the_side_it_is_at() {
    for gap in [1e-3, 1e-9, 1e-11, 1e-13, 1e-15, 0.0, -1e-15, -1e-9] {
        let nearest = cuboid(Vec3::new(0.5 + gap, 0.1, 0.2), Vec3::zeros(), Vec3::repeat(1.0));
        assert_near(nearest.normal, Vec3::x(), 1e-9);
        assert_close(nearest.distance, gap, 1e-15);
    }
}

fn surface(mesh: &Mesh) -> MeshSurface {
    MeshSurface::build(mesh.positions.clone(), mesh.triangles.clone(), Sides::Auto)
}

fn cube() -> Mesh {
    let positions: Vec<Vec3> =
        (0..8).map(|c| Vec3::from_fn(|axis, _| if (c >> axis) & 1 == 1 { 0.5 } else { -0.5 })).collect();
    let quads: [[u32; 4]; 6] = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    Mesh::new(positions, quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect())
}

#[test]
fn a_cube_of_triangles_is_the_box() {
    let mesh = surface(&cube());
    assert_eq!(mesh.shape.inside(), Inside::Solid);
    let mut random = Random(72);
    for _ in 0..2000 {
        let p = random.vector();
        let (found, exact) = (mesh.nearest(p, 10.0).unwrap(), cuboid(p, Vec3::zeros(), Vec3::repeat(1.0)));
        assert_close(found.distance, exact.distance, 1e-14);
        assert_near(found.normal, exact.normal, 1e-10);
    }
}

#[test]
fn a_sphere_of_triangles_is_nearly_the_sphere_and_exactly_its_triangles() {
    let mesh = Mesh::icosphere(3);
    let surface = surface(&mesh);
    let mut random = Random(73);
    for _ in 0..300 {
        let p = random.vector() * 1.3;
        let found = surface.nearest(p, 10.0).unwrap();
        let facets = 0.01; // how deep the flat triangles lie below the sphere
        assert_close(found.distance, p.norm() - 1.0, facets);
        let brute = (0..mesh.triangles.len())
            .map(|t| (closest_on_triangle(p, mesh.points(t)).0 - p).norm())
            .fold(f64::INFINITY, f64::min);
        assert_close(found.distance.abs(), brute, 1e-14);
        assert_eq!(found.distance < 0.0, winding(&mesh, p) > 0.5);
        assert_close(found.normal.norm(), 1.0, 1e-14);
        assert!(found.normal.dot(&p) > 0.0 || p.norm() < 0.2);
    }
}

/// How often the mesh goes round a point: the solid angle of all triangles (van Oosterom and Strackee).
fn winding(mesh: &Mesh, p: Vec3) -> f64 {
    let solid_angle = |t: usize| {
        let [a, b, c] = mesh.points(t).map(|corner| corner - p);
        let [l, m, n] = [a, b, c].map(|v| v.norm());
        2.0 * a.dot(&b.cross(&c)).atan2(l * m * n + a.dot(&b) * n + b.dot(&c) * l + c.dot(&a) * m)
    };
    (0..mesh.triangles.len()).map(solid_angle).sum::<f64>() / (2.0 * TAU)
}

#[test]
fn the_sign_is_right_at_sharp_and_concave_places() {
    // Random spikes in and out: the sign must come from the right feature.
    let mut random = Random(74);
    let mut mesh = Mesh::icosphere(1);
    mesh.positions.iter_mut().for_each(|p| *p *= random.within(0.35, 1.6));
    let surface = surface(&mesh);
    for _ in 0..3000 {
        let p = random.vector() * 1.6;
        assert_eq!(surface.nearest(p, 10.0).unwrap().distance < 0.0, winding(&mesh, p) > 0.5, "at {p:?}");
    }
}

#[test]
fn many_thin_triangles_on_one_side_of_a_corner_do_not_turn_the_sign() {
    // A spike whose side towards +x is a fan of slivers: the mean of its normals would point to +x, the one by angles up.
    let side = (0..=60).map(|k| Vec3::new(0.2, 0.0, 0.2 - 0.4 * f64::from(k) / 60.0));
    let rim: Vec<Vec3> = side.chain([Vec3::new(-0.2, 0.0, -0.2), Vec3::new(-0.2, 0.0, 0.2)]).collect();
    let count = rim.len() as u32;
    let positions = [Vec3::y(), Vec3::zeros()].into_iter().chain(rim).collect();
    let triangles = (0..count).flat_map(|k| {
        let [a, b] = [2 + k, 2 + (k + 1) % count];
        [[0, a, b], [1, b, a]]
    });
    let mesh = Mesh::new(positions, triangles.collect());
    let surface = surface(&mesh);
    assert_eq!(surface.shape.inside(), Inside::Solid);
    let mut random = Random(75);
    for _ in 0..2000 {
        let p = random.vector() + Vec3::y();
        assert_eq!(surface.nearest(p, 10.0).unwrap().distance < 0.0, winding(&mesh, p) > 0.5, "at {p:?}");
    }
}

#[test]
fn points_on_edges_and_corners_are_at_distance_zero_and_pushed_outwards() {
    for mesh in [cube(), Mesh::icosphere(1)] {
        let surface = surface(&mesh);
        for p in mesh.positions.iter().copied().chain(mesh.midpoints()) {
            let nearest = surface.nearest(p, 1.0).unwrap();
            assert_close(nearest.distance, 0.0, 1e-15);
            assert_close(nearest.normal.norm(), 1.0, 1e-14);
            assert!(nearest.normal.dot(&p.normalize()) > 0.8, "{nearest:?} at {p:?}");
        }
    }
}

#[test]
fn an_open_mesh_has_no_inside() {
    let mesh = surface(&Mesh::sheet(4, 4, 1.0, 1.0));
    assert_eq!(mesh.shape.inside(), Inside::Open);
    for height in [-0.3, -1e-6, 1e-6, 0.3] {
        let nearest = mesh.nearest(Vec3::new(0.1, height, 0.2), 1.0).unwrap();
        assert_close(nearest.distance, f64::abs(height), 1e-15);
        assert_near(nearest.normal, Vec3::y() * height.signum(), 1e-9);
    }
}

#[test]
fn a_cube_wound_inwards_is_the_same_body() {
    let mut flipped = cube();
    flipped.triangles.iter_mut().for_each(|triangle| triangle.swap(0, 1));
    let (flipped, usual) = (surface(&flipped), surface(&cube()));
    assert_eq!(flipped.shape.inside(), Inside::InsideOut);
    let mut random = Random(79);
    for _ in 0..200 {
        let p = random.vector();
        assert_close(flipped.nearest(p, 10.0).unwrap().distance, usual.nearest(p, 10.0).unwrap().distance, 1e-15);
    }
}

#[test]
fn a_cube_that_is_wound_both_ways_is_a_shell() {
    let mut mixed = cube();
    mixed.triangles[3].swap(0, 1);
    let mixed = surface(&mixed);
    assert_eq!(mixed.shape.inside(), Inside::Mixed);
    assert!(mixed.nearest(Vec3::new(0.1, 0.4, 0.2), 1.0).unwrap().distance > 0.0);
}

#[test]
fn nothing_is_found_beyond_the_reach() {
    let mesh = surface(&cube());
    let p = Vec3::new(0.0, 1.5, 0.0);
    assert!(mesh.nearest(p, 0.999).is_none());
    assert_close(mesh.nearest(p, 1.001).unwrap().distance, 1.0, 1e-15);
    assert_eq!(mesh.positions.len(), 8);
}

/// The part of a mesh whose triangles lie above a height.
fn above(mesh: &Mesh, height: f64) -> Mesh {
    let is_above = |t: &usize| mesh.points(*t).iter().all(|p| p.y > height);
    let kept = (0..mesh.triangles.len()).filter(is_above).map(|t| mesh.triangles[t]).collect();
    Mesh::new(mesh.positions.clone(), kept)
}

fn sided(mesh: &Mesh, sides: Sides) -> MeshSurface {
    MeshSurface::build(mesh.positions.clone(), mesh.triangles.clone(), sides)
}

#[test]
fn a_hemisphere_with_one_side_has_an_inside_behind_its_faces() {
    let mesh = sided(&above(&Mesh::icosphere(3), 0.0), Sides::One);
    assert_eq!(mesh.shape.inside(), Inside::Behind);
    // The box is about 2 by 1 by 2, so a tenth of its diagonal is 0.3.
    let mut random = Random(81);
    for _ in 0..500 {
        let p = random.vector().normalize() * random.within(0.6, 1.4);
        if p.y < 0.25 {
            continue; // near the rim, or beyond it
        }
        for reach in [0.0, 10.0] {
            let facets = 0.01;
            match mesh.nearest(p, reach) {
                Some(near) if p.norm() < 0.98 - 0.3 => {
                    assert!(reach > 0.0 && near.distance > 0.0, "too deep: {near:?}")
                }
                Some(near) if p.norm() < 0.98 => {
                    // A point 0.3 behind may be either.
                    if p.norm() > 0.72 {
                        assert_close(near.distance, p.norm() - 1.0, facets);
                        assert!(near.normal.dot(&p) > 0.0);
                    }
                }
                Some(near) => assert_close(near.distance, p.norm() - 1.0, facets),
                None => assert!(reach == 0.0 && (p.norm() > 0.98 || p.norm() < 0.72), "nothing at {}", p.norm()),
            }
        }
    }
}

#[test]
fn a_patch_with_one_side_pushes_up_from_close_below_and_lets_cloth_hang_over_its_rim() {
    let mesh = sided(&Mesh::sheet(4, 4, 1.0, 1.0), Sides::One);
    let depth = 0.1 * 2f64.sqrt();
    let at = |height: f64| mesh.nearest(Vec3::new(0.1, 0.0, 0.2) + up_side(&mesh) * height, 1.0).unwrap();
    for height in [0.3, 1e-6, -1e-6, -0.9 * depth] {
        assert_close(at(height).distance, height, 1e-12);
        assert_near(at(height).normal, up_side(&mesh), 1e-9);
    }
    let far = at(-1.1 * depth);
    assert_close(far.distance, 1.1 * depth, 1e-12);
    assert_near(far.normal, -up_side(&mesh), 1e-9);
    for below in [1e-3, 0.5 * depth] {
        let beside = mesh.nearest(Vec3::new(0.502, 0.0, 0.1) - up_side(&mesh) * below, 1.0).unwrap();
        assert!(beside.distance > 0.0, "{beside:?}");
    }
}

/// Where the faces of a flat mesh look to.
fn up_side(mesh: &MeshSurface) -> Vec3 {
    let [a, b, c] = mesh.shape.triangles()[0].map(|v| mesh.positions[v as usize]);
    (b - a).cross(&(c - a)).normalize()
}

#[test]
fn a_closed_ball_can_be_a_shell() {
    let ball = Mesh::icosphere(3);
    let (shell, solid) = (sided(&ball, Sides::Two), sided(&ball, Sides::One));
    assert_eq!((shell.shape.inside(), solid.shape.inside()), (Inside::Shell, Inside::Solid));
    let p = Vec3::new(0.5, 0.3, 0.1);
    let near = shell.nearest(p, 1.0).unwrap();
    assert_close(near.distance, 1.0 - p.norm(), 0.01);
    assert!(near.normal.dot(&p) < -0.5);
    assert_close(solid.nearest(p, 1.0).unwrap().distance, p.norm() - 1.0, 0.01);
    // Nothing is looked for at any depth.
    assert!(shell.nearest(Vec3::zeros(), 0.5).is_none());
}

#[test]
fn faces_that_disagree_have_no_one_side() {
    let mut patch = Mesh::sheet(4, 4, 1.0, 1.0);
    patch.triangles[3].swap(0, 1);
    assert_eq!(sided(&patch, Sides::One).shape.inside(), Inside::Mixed);
    assert_eq!(sided(&patch, Sides::Auto).shape.inside(), Inside::Open);
    assert_eq!(sided(&patch, Sides::Two).shape.inside(), Inside::Shell);
}
