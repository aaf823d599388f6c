//! What pictures cost: a table for people and one JSON object for machines.
//!
//! Run: `cargo bench --bench render` (with `-- --quick` for one short round). Best of several rounds, by the clock, on all threads that
//! rayon takes and on one. A picture is measured from vertices in memory to pixels, with normals, shadow and everything; its file apart.
#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark stops at the first surprise")]

#[allow(dead_code, reason = "made for the benchmarks of solvers")]
mod measure;
#[path = "../support/mod.rs"]
mod support;

use std::time::Instant;

use kiln::math::Vec3;
use kiln::mesh::generate;
use kiln::render::camera::{Camera, Framing};
use kiln::render::encode;
use kiln::render::ground::Ground;
use kiln::render::look;
use kiln::render::picture::Picture;
use kiln::render::scene::{Body, Paint, Style, draw};
use kiln::render::surface::Surface;
use measure::{Table, cpu_seconds, load_average};
use serde_json::json;

/// A draped sheet and balls below it.
struct Subject {
    surfaces: Vec<Surface>,
    positions: Vec<Vec<[f32; 3]>>,
    figures: Vec<Vec<f32>>,
}

impl Subject {
    fn new(triangles: usize) -> Self {
        let side = (triangles as f64 / 4.0).sqrt().round() as u32 + 1;
        let sheet = generate::sheet([side; 2], [2.0, 2.0]);
        let rings = (triangles as f64 / 2.0 / 4.0 / 4.0).sqrt().round() as u32;
        let ball = generate::sphere(0.3, rings, 2 * rings);
        let (mut surfaces, mut positions) = (Vec::new(), Vec::new());
        for n in 0..5 {
            let mesh = if n == 0 { &sheet } else { &ball };
            let moved = |p: &Vec3| -> [f32; 3] {
                if n == 0 {
                    let height = 0.15 * (9.0 * p.x + 2.0 * p.z).sin() * (3.0 * p.z).cos();
                    [p.x as f32, (0.9 + height) as f32, p.z as f32]
                } else {
                    let (x, z) = (if n % 2 == 0 { 0.5 } else { -0.5 }, if n > 2 { 0.5 } else { -0.5 });
                    [(p.x + x) as f32, (p.y + 0.3) as f32, (p.z + z) as f32]
                }
            };
            let places: Vec<[f32; 3]> = mesh.positions.iter().map(moved).collect();
            let mut corners = Vec::new();
            for face in 0..mesh.face_count() {
                let face: Vec<u32> = mesh.face(face).iter().map(|corner| corner.position).collect();
                corners.extend((1..face.len() - 1).map(|k| [face[0], face[k], face[k + 1]]));
            }
            surfaces.push(Surface::new(&places, &corners, |_| 0));
            positions.push(places);
        }
        let figures = positions.iter().map(|places| places.iter().map(|p| p[0]).collect()).collect();
        Subject { surfaces, positions, figures }
    }

    fn triangles(&self) -> usize {
        self.surfaces.iter().map(|surface| surface.triangles.len()).sum()
    }

    fn picture(&self, style: &Style, has_heat: bool, size: [usize; 2]) -> Picture {
        let bodies: Vec<Body> = (0..self.surfaces.len())
            .map(|n| Body {
                surface: &self.surfaces[n],
                positions: &self.positions[n],
                paint: match has_heat {
                    true => Paint::Diverging { values: &self.figures[n], limit: 0.8 },
                    false => Paint::Plain([0.26, 0.55, 0.76]),
                },
            })
            .collect();
        let mut framing = Framing::new(look::DIRECTION, look::FIELD_OF_VIEW, size[0] as f64 / size[1] as f64);
        for p in self.positions.iter().flatten() {
            framing.add(Vec3::from(p.map(f64::from)));
        }
        let camera: Camera = framing.camera(None);
        let (low, high) = framing.bounds().unwrap();
        draw(&bodies, &camera, Some(&Ground::under(low, high, low.y)), style, size)
    }
}

fn main() {
    let quick = std::env::args().any(|arg| arg == "--quick");
    let rounds = if quick { 1 } else { 7 };
    let threads = rayon::current_num_threads();
    let load = load_average();
    println!("{threads} threads and one, best of {rounds} rounds; load average {load:?}");
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let best = |work: &mut dyn FnMut()| {
        let seconds = (0..rounds).map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64()
        });
        seconds.fold(f64::INFINITY, f64::min)
    };
    let title = "pictures of a draped sheet and four balls, ms";
    let mut table = Table::new(
        title,
        [
            "triangles",
            "pixels",
            "samples",
            "how",
            "all threads",
            "one thread",
            "its CPU",
            "PNG",
            "PNG kB",
            "WebP",
            "WebP kB",
        ],
    );
    let smooth = Style::default();
    let (small, large) = ([640, 360], [1920, 1080]);
    let mut cases = vec![
        (100_000, large, smooth, "smooth"),
        (100_000, large, Style { samples: 1, ..smooth }, "smooth"),
        (100_000, large, Style { samples: 16, ..smooth }, "smooth"),
        (100_000, large, smooth, "heat map"),
        (100_000, large, Style { has_wires: true, ..smooth }, "wireframe"),
        (1_000, large, smooth, "smooth"),
        (100_000, small, smooth, "smooth"),
    ];
    if !quick {
        cases.push((1_000_000, large, smooth, "smooth"));
    }
    for (triangles, size, style, how) in cases {
        let subject = Subject::new(triangles);
        let mut picture = None;
        let has_heat = how == "heat map";
        let all = best(&mut || picture = Some(subject.picture(&style, has_heat, size)));
        let mut cpu = f64::INFINITY;
        let alone = best(&mut || {
            one.install(|| {
                let before = cpu_seconds();
                drop(subject.picture(&style, has_heat, size));
                cpu = cpu.min(cpu_seconds() - before);
            });
        });
        let picture = picture.unwrap();
        let (mut png, mut webp) = (Vec::new(), Vec::new());
        let png_seconds = best(&mut || {
            png.clear();
            encode::png(&mut png, &picture).unwrap();
        });
        let webp_seconds = best(&mut || webp = encode::webp(&picture).unwrap());
        table.row([
            subject.triangles().into(),
            format!("{} × {}", size[0], size[1]).into(),
            style.samples.into(),
            how.into(),
            (1e3 * all).into(),
            (1e3 * alone).into(),
            (1e3 * cpu).into(),
            (1e3 * png_seconds).into(),
            (png.len() as f64 / 1e3).into(),
            (1e3 * webp_seconds).into(),
            (webp.len() as f64 / 1e3).into(),
        ]);
    }
    println!("\nload average {:?}\n", load_average());
    println!(
        "{}",
        json!({ "benchmark": "render", "threads": threads, "clock": "wall", "quick": quick, "pictures": table.json() })
    );
}
