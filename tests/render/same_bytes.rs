//! The same bytes from run to run and for every number of threads.

use kiln::math::Vec3;
use kiln::mesh::generate;
use kiln::render::camera::Camera;
use kiln::render::encode;
use kiln::render::ground::Ground;
use kiln::render::picture::Picture;
use kiln::render::scene::{Paint, Style, draw};

use crate::Thing;

fn picture() -> Picture {
    let ball = Thing::new(&generate::sphere(0.5, 60, 120));
    let mut sheet = Thing::new(&generate::sheet([80, 80], [2.0, 2.0]));
    for p in &mut sheet.positions {
        p[1] = 0.45 + 0.1 * (7.0 * p[0]).sin() * (5.0 * p[2]).cos();
    }
    let values: Vec<f32> = sheet.positions.iter().map(|p| p[0] * p[2]).collect();
    let bodies = [ball.white(), sheet.painted(Paint::Diverging { values: &values, limit: 0.5 })];
    let ground = Ground::under(Vec3::new(-1.0, -0.5, -1.0), Vec3::new(1.0, 0.6, 1.0), -0.5);
    let camera = Camera::around(Vec3::zeros(), [0.5, 0.3], 4.0, 35.0);
    draw(&bodies, &camera, Some(&ground), &Style { has_wires: true, ..Style::default() }, [331, 203])
}

#[test]
fn for_every_number_of_threads() {
    let files: Vec<Vec<u8>> = [1, 2, 3, 8, 1]
        .into_iter()
        .map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let picture = pool.install(picture);
            let mut file = Vec::new();
            encode::png(&mut file, &picture).unwrap();
            file.extend(encode::webp(&picture).unwrap());
            file
        })
        .collect();
    for (n, file) in files.iter().enumerate() {
        assert!(*file == files[0], "run {n} differs");
    }
}
