//! A ball: its outline and its light against closed forms.

use kiln::math::Vec3;
use kiln::mesh::generate;
use kiln::render::camera::Camera;
use kiln::render::look;
use kiln::render::scene::Paint;

use crate::{Thing, in_front, on_black, shoot};

const RADIUS: f64 = 0.5;
/// So fine that flat triangles are not seen: sagitta of a 160th of a turn, 2e-4 of the radius, 0.03 pixels.
const RINGS: [u32; 2] = [160, 320];

fn ball() -> Thing {
    Thing::new(&generate::sphere(RADIUS, RINGS[0], RINGS[1]))
}

/// Radius in pixels of a ball in the middle of a picture: the cone that touches it.
fn outline(distance: f64, camera: &Camera, height: usize) -> f64 {
    let tangent = RADIUS / (distance * distance - RADIUS * RADIUS).sqrt();
    tangent / camera.slope * height as f64 / 2.0
}

#[test]
fn outline_is_that_of_a_ball() {
    let (size, thing) = ([401, 301], ball());
    for (distance, samples) in [(2.0, 8), (3.0, 16), (1.6, 4)] {
        let camera = in_front(distance);
        let picture = shoot(&[thing.white()], &camera, &on_black(samples), size);
        let (mut area, mut sum) = (0.0, [0.0; 2]);
        let expected = outline(distance, &camera, size[1]);
        for y in 0..size[1] {
            for x in 0..size[0] {
                let [dx, dy] = [x as f64 + 0.5 - size[0] as f64 / 2.0, y as f64 + 0.5 - size[1] as f64 / 2.0];
                let away = dx.hypot(dy);
                let is_lit = picture.pixel(x, y) != [0; 3];
                if away < expected - 0.75 {
                    assert!(is_lit, "a hole at {x}, {y}, {away} pixels from the middle of {expected}");
                }
                if away > expected + 0.75 {
                    assert!(!is_lit, "something at {x}, {y}, {away} pixels from the middle of {expected}");
                }
                // Half lit at the edge: the inner neighbour tells how bright it is where it is whole.
                let cover = if !is_lit {
                    0.0
                } else if away < expected - 1.5 {
                    1.0
                } else {
                    let inwards = |part: f64| (part * (1.0 - 2.5 / away)).floor();
                    let [ix, iy] = [
                        (size[0] as f64 / 2.0 + inwards(dx)).max(0.0) as usize,
                        (size[1] as f64 / 2.0 + inwards(dy)).max(0.0) as usize,
                    ];
                    (f64::from(picture.pixel(x, y)[0]) / f64::from(picture.pixel(ix, iy)[0])).min(1.0)
                };
                area += cover;
                sum = [sum[0] + cover * dx, sum[1] + cover * dy];
            }
        }
        let radius = (area / std::f64::consts::PI).sqrt();
        assert!((radius - expected).abs() < 0.08, "{radius} instead of {expected} pixels at {samples} samples");
        let middle = [sum[0] / area, sum[1] / area];
        assert!(middle.iter().all(|x| x.abs() < 0.05), "the middle is {middle:?} pixels off");
    }
}

/// What a ball of a colour looks like where a ray meets it, from its own normal.
fn lit(normal: Vec3, towards_eye: Vec3, albedo: [f64; 3]) -> [f64; 3] {
    let light = Vec3::from(look::TOWARDS_LIGHT.map(f64::from)).normalize();
    let wrap = f64::from(look::WRAP);
    let key = ((normal.dot(&light) + wrap) / (1.0 + wrap)).max(0.0);
    let front = f64::from(look::FRONT) * normal.dot(&towards_eye).max(0.0);
    let half = (light + towards_eye).normalize();
    let gloss = f64::from(look::GLOSS) * normal.dot(&half).max(0.0).powi(40) * key;
    let linear = |c: f64| if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) };
    let srgb = |c: f64| if c <= 0.0031308 { c * 12.92 } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 };
    [0, 1, 2].map(|k| {
        let (sky, bounce) = (f64::from(look::SKY[k]), f64::from(look::BOUNCE[k]));
        let ambient = bounce + (0.5 + 0.5 * normal.y) * (sky - bounce);
        let light = ambient + f64::from(look::KEY[k]) * key + front;
        255.0 * srgb((linear(albedo[k]) * light + gloss).clamp(0.0, 1.0))
    })
}

#[test]
fn light_is_that_of_a_ball() {
    let (size, thing, distance) = ([241, 241], ball(), 2.0);
    let albedo = [0.8, 0.45, 0.2];
    for direction in [[0.0, 0.0], [0.9, 0.5], [-2.0, -0.3]] {
        let camera = Camera::around(Vec3::zeros(), direction, distance, 40.0);
        let body = thing.painted(Paint::Plain(albedo.map(|x| x as f32)));
        let picture = shoot(&[body], &camera, &on_black(1), size);
        let (mut largest, mut count) = (0.0_f64, 0);
        for y in 0..size[1] {
            for x in 0..size[0] {
                let pixels = |at: usize, of: usize| (at as f64 + 0.5 - of as f64 / 2.0) / (size[1] as f64 / 2.0);
                let (across, up) = (camera.slope * pixels(x, size[0]), -camera.slope * pixels(y, size[1]));
                let ray = (camera.forward + across * camera.right + up * camera.up).normalize();
                // |eye + t ray| = RADIUS
                let along = camera.eye.dot(&ray);
                let square = along * along - camera.eye.norm_squared() + RADIUS * RADIUS;
                if square < (0.1 * RADIUS).powi(2) {
                    continue; // the rim, where a pixel sees a long way around the ball
                }
                let normal = (camera.eye + (-along - square.sqrt()) * ray) / RADIUS;
                let expected = lit(normal, -ray, albedo);
                for (part, expected) in picture.pixel(x, y).into_iter().zip(expected) {
                    largest = largest.max((f64::from(part) - expected).abs());
                }
                count += 1;
            }
        }
        assert!(count > 10_000, "only {count} pixels were compared");
        // Half a step of rounding, the rest is from the corners of the mesh.
        assert!(largest < 1.5, "{largest} of 255 from {direction:?}");
    }
}

#[test]
fn flat_light_is_that_of_each_triangle() {
    let thing = Thing::of(vec![[-0.5, -0.5, 0.0], [0.5, -0.5, 0.1], [0.0, 0.5, 0.3]], &[[0, 1, 2]]);
    let camera = in_front(3.0);
    let style = kiln::render::scene::Style { is_flat: true, ..on_black(1) };
    let picture = shoot(&[thing.white()], &camera, &style, [101, 101]);
    let [a, b, c] = [0, 1, 2].map(|k| Vec3::from(thing.positions[k].map(f64::from)));
    let normal = (b - a).cross(&(c - a)).normalize();
    let expected = lit(normal, Vec3::z(), [1.0; 3]);
    let middle = picture.pixel(50, 50);
    for k in 0..3 {
        assert!((f64::from(middle[k]) - expected[k]).abs() < 1.0, "{middle:?} instead of {expected:?}");
    }
    // From behind it is lit from behind.
    let behind = Camera::around(Vec3::zeros(), [std::f64::consts::PI, 0.0], 3.0, 40.0);
    let picture = shoot(&[thing.white()], &behind, &style, [101, 101]);
    let expected = lit(-normal, -Vec3::z(), [1.0; 3]);
    for (part, expected) in picture.pixel(50, 50).into_iter().zip(expected) {
        assert!((f64::from(part) - expected).abs() < 1.0, "{part} instead of {expected}");
    }
}
