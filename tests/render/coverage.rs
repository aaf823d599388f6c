//! Which triangle is seen: no gaps, nothing twice, nothing from behind the eye, nothing from numbers that are none.

use kiln::math::Vec3;
use kiln::mesh::generate;
use kiln::render::camera::{Camera, Framing};
use kiln::render::ground::Ground;
use kiln::render::scene::{Paint, Style, draw};

use crate::{Thing, in_front, on_black, shoot};

/// Scattered numbers between -1 and 1.
fn scattered(count: usize) -> impl Iterator<Item = f32> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    (0..count).map(move |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
    })
}

/// A sheet that covers the whole picture, with its inner vertices moved about, at one distance.
#[test]
fn triangles_that_share_edges_leave_no_gap() {
    let mesh = generate::sheet([40, 40], [4.0, 4.0]);
    let noise: Vec<f32> = scattered(2 * mesh.positions.len()).collect();
    let positions = mesh.positions.iter().enumerate().map(|(n, p)| {
        let (x, y) = (p.x as f32, p.z as f32);
        let inner = if x.abs() < 1.9 && y.abs() < 1.9 { 0.03 } else { 0.0 };
        [x + inner * noise[2 * n], y + inner * noise[2 * n + 1], 0.0]
    });
    let positions: Vec<[f32; 3]> = positions.collect();
    let thing = Thing { surface: Thing::new(&mesh).surface, positions };
    let style = Style { is_flat: true, ..on_black(16) };
    for distance in [2.0, 2.0371, 0.4] {
        let picture = shoot(&[thing.white()], &in_front(distance), &style, [160, 120]);
        // All have the same normal: any gap would let black through. Gloss and light from the eye change slowly.
        for y in 1..119 {
            for x in 1..159 {
                let (here, next) = (picture.pixel(x, y), picture.pixel(x + 1, y));
                assert!(here[0] > 100 && here[0].abs_diff(next[0]) < 4, "{here:?} beside {next:?} at {x}, {y}");
            }
        }
    }
}

/// Halves of a square meet along its diagonal; every sample belongs to one of them.
#[test]
fn a_shared_edge_belongs_to_one_triangle() {
    let corners = vec![[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]];
    let whole = Thing::of(corners.clone(), &[[0, 1, 2], [0, 2, 3]]);
    let halves = [[[0, 1, 2]], [[0, 2, 3]]].map(|half| Thing::of(corners.clone(), &half));
    let camera = in_front(4.0);
    let cover = |thing: &Thing| {
        let picture = shoot(&[thing.white()], &camera, &on_black(4), [64, 64]);
        let lit = shoot(&[whole.white()], &camera, &on_black(4), [64, 64]);
        (0..64 * 64)
            .map(|n| {
                let full = f64::from(lit.pixel(n % 64, n / 64)[0]);
                if full == 0.0 { 0.0 } else { f64::from(picture.pixel(n % 64, n / 64)[0]) / full }
            })
            .collect::<Vec<f64>>()
    };
    let [one, other] = [cover(&halves[0]), cover(&halves[1])];
    for (n, (one, other)) in one.iter().zip(&other).enumerate() {
        let both = one + other;
        assert!(both == 0.0 || (both - 1.0).abs() < 0.02, "pixel {n} is covered {both} times");
    }
}

#[test]
fn the_nearest_triangle_is_seen() {
    let at = |z: f32| Thing::of(vec![[-1.0, -1.0, z], [1.0, -1.0, z], [0.0, 1.0, z]], &[[0, 1, 2]]);
    let (near, far) = (at(0.1), at(-0.1));
    let red = near.painted(Paint::Plain([1.0, 0.0, 0.0]));
    let blue = far.painted(Paint::Plain([0.0, 0.0, 1.0]));
    for bodies in [[red, blue], [blue, red]] {
        let [r, _, b] = shoot(&bodies, &in_front(4.0), &on_black(8), [50, 50]).pixel(25, 25);
        assert!(r > 150 && b < 60, "{r}, {b}");
    }
    let behind = Camera::around(Vec3::zeros(), [std::f64::consts::PI, 0.0], 4.0, 40.0);
    let [r, _, b] = shoot(&[red, blue], &behind, &on_black(8), [50, 50]).pixel(25, 25);
    assert!(b > 150 && r < 60, "{r}, {b}");
}

/// A long strip that starts behind the eye: what is before it is seen, where it is.
#[test]
fn what_is_behind_the_eye_is_cut_off() {
    let corners = vec![[-1.0, -0.5, 50.0], [1.0, -0.5, 50.0], [1.0, -0.5, -50.0], [-1.0, -0.5, -50.0]];
    let strip = Thing::of(corners, &[[0, 1, 2], [0, 2, 3]]);
    let camera = in_front(2.0);
    let size = [200, 200];
    let picture = shoot(&[strip.white()], &camera, &on_black(4), size);
    let scale = 100.0 / camera.slope;
    for y in 0..200 {
        // A row below the middle sees the strip at a distance, where it is 2 wide. It ends 52 away.
        let down = y as f64 + 0.5 - 100.0;
        let distance = 0.5 * scale / down;
        if down > 0.0 && (45.0..65.0).contains(&distance) {
            continue; // rows that see the end of the strip
        }
        let half = if down > 0.0 && distance < 52.0 { scale / distance } else { -2.0 };
        for x in 0..200 {
            let aside = (x as f64 + 0.5 - 100.0).abs();
            let is_lit = picture.pixel(x, y) != [0; 3];
            assert!(is_lit || aside > half - 1.0, "nothing at {x}, {y}");
            assert!(!is_lit || aside < half + 1.5, "something at {x}, {y}");
        }
    }
}

#[test]
fn degenerate_triangles_and_odd_numbers_do_no_harm() {
    let (nan, inf) = (f32::NAN, f32::INFINITY);
    let odd = vec![
        [0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0],
        [0.5, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [nan, 0.0, 0.0],
        [0.0, inf, 0.0],
        [1e30, -1e30, 1e30],
        [-3e38, 3e38, -3e38],
        [1e-30, 0.0, 0.0],
        [0.0, 1e-30, 0.0],
        [0.0, 0.0, 3.0],
    ];
    let count = odd.len() as u32;
    let mut triangles = Vec::new();
    for a in 0..count {
        for b in 0..count {
            for c in 0..count {
                triangles.push([a, b, c]);
            }
        }
    }
    triangles.push([0, 1, 99]); // no such vertex
    let thing = Thing::of(odd, &triangles);
    let plain = Thing::of(vec![[-0.2, -0.3, 2.0], [0.2, -0.3, 2.0], [0.0, -0.1, 2.0]], &[[0, 1, 2]]);
    let values = vec![nan; count as usize];
    for paint in [Paint::Plain([0.5; 3]), Paint::Diverging { values: &values, limit: 0.0 }, Paint::Near(&values)] {
        for camera in [in_front(3.0), in_front(1e-6), in_front(1e12)] {
            for style in [on_black(8), Style { has_wires: true, is_flat: true, ..Style::default() }] {
                let ground = Ground::under(Vec3::repeat(-1.0), Vec3::repeat(1.0), -1.0);
                let bodies = [plain.white(), thing.painted(paint)];
                let picture = draw(&bodies, &camera, Some(&ground), &style, [40, 30]);
                assert_eq!(picture.pixels().len(), 3 * 40 * 30);
            }
        }
    }
    let camera = in_front(3.0);
    let alone = shoot(&[plain.white()], &camera, &on_black(8), [60, 60]);
    assert!(alone.pixels().iter().any(|&part| part > 0), "the plain triangle is not in the picture");
}

/// Framing: what must be seen is, and it fills the picture in one direction.
#[test]
fn framing_is_tight() {
    let points: Vec<Vec3> = scattered(300)
        .collect::<Vec<f32>>()
        .chunks_exact(3)
        .map(|p| Vec3::new(100.0 + 3.0 * f64::from(p[0]), f64::from(p[1]), f64::from(p[2])))
        .collect();
    for (direction, aspect) in [([0.5, 0.3], 1.8), ([0.0, 0.0], 0.5), ([2.5, -0.9], 1.0)] {
        let mut framing = Framing::new(direction, 35.0, aspect);
        points.iter().for_each(|p| framing.add(*p));
        framing.add(Vec3::repeat(f64::NAN));
        let camera = framing.camera(None);
        let mut most = [0.0_f64; 2];
        for p in &points {
            let from_eye = p - camera.eye;
            let depth = from_eye.dot(&camera.forward);
            assert!(depth > 0.0);
            let at = [from_eye.dot(&camera.right) / aspect, from_eye.dot(&camera.up)];
            most = [0, 1].map(|axis| most[axis].max((at[axis] / depth / camera.slope).abs()));
        }
        let largest = most[0].max(most[1]);
        assert!((largest - 1.0 / 1.1).abs() < 1e-6, "{most:?}");
    }
    // A single point, and nothing at all.
    let mut framing = Framing::default();
    assert!(framing.camera(None).eye.iter().all(|x| x.is_finite()));
    framing.add(Vec3::repeat(7.0));
    let camera = framing.camera(None);
    assert!((Vec3::repeat(7.0) - camera.eye).dot(&camera.forward) > 0.0);
}

/// A box keeps its edges, a ball is smooth, and a seam of the texture does not show.
#[test]
fn normals_are_shared_where_a_mesh_is_smooth() {
    let cuboid = Thing::new(&generate::cuboid([1.0, 1.0, 1.0], [2, 2, 2]));
    assert_eq!(cuboid.surface.normal_count, 24, "three for each corner");
    let ball = Thing::new(&generate::sphere(1.0, 12, 24));
    let mut used: Vec<u32> = ball.surface.corners.iter().flatten().copied().collect();
    used.sort_unstable();
    used.dedup();
    assert_eq!(used.len(), ball.positions.len());
    // The same sheet in one piece, and with its middle row twice.
    let row = |y: f32, z: f32| [[0.0, y, z], [1.0, y, z], [2.0, y, z]];
    let one = [row(0.0, 0.0), row(1.0, 0.3), row(2.0, 0.0)].concat();
    let two = [row(0.0, 0.0), row(1.0, 0.3), row(1.0, 0.3), row(2.0, 0.0)].concat();
    let strip = |first: u32, next: u32| {
        [0, 1]
            .into_iter()
            .flat_map(move |k| [[first + k, first + k + 1, next + k], [first + k + 1, next + k + 1, next + k]])
    };
    let one = Thing::of(one, &strip(0, 3).chain(strip(3, 6)).collect::<Vec<_>>());
    let two = Thing::of(two, &strip(0, 3).chain(strip(6, 9)).collect::<Vec<_>>());
    assert_eq!((one.surface.normal_count, two.surface.normal_count), (9, 9));
    let camera = Camera::around(Vec3::new(1.0, 1.0, 0.0), [0.4, 0.2], 5.0, 40.0);
    let pictures = [&one, &two].map(|thing| shoot(&[thing.white()], &camera, &on_black(4), [80, 80]));
    assert_eq!(pictures[0], pictures[1]);
}
