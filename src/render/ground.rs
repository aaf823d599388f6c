//! The ground: lines to see how large things are, and the soft shadow of what stands on it.
//!
//! A shadow is drawn from above, along the light, deeper where what throws it is near the ground, and then made soft twice: a little,
//! and widely. The page does the same.

use rayon::prelude::*;

use super::Vec3f;
use super::look::{self, smooth_step};
use super::raster::View;
use super::scene::Body;
use crate::math::Vec3;

/// Pixels along the side of a shadow.
const SIZE: usize = 1024;
/// Of the wide one.
const WIDE: usize = SIZE / 4;
/// Rows that a thread draws at once.
const BAND: usize = 64;
/// How far the ground goes, in parts of the radius of what stands on it.
const EXTENT: f64 = 9.0;

/// The ground under some objects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ground {
    /// Below the middle of the objects [m].
    pub middle: Vec3,
    /// Of a ball around the objects [m].
    pub radius: f64,
    /// Half of what the shadow covers [m].
    pub reach: f64,
    /// Between lines [m]; 0 without lines.
    pub cell: f64,
}

impl Ground {
    /// Under objects that span a box.
    pub fn under(low: Vec3, high: Vec3, height: f64) -> Self {
        let radius = (0.5 * (high - low).norm()).max(1e-6);
        let above = high.y - height.min(low.y);
        let wide = (high.x - low.x).max(high.z - low.z);
        let middle = 0.5 * (low + high);
        Ground {
            middle: Vec3::new(middle.x, height, middle.z),
            radius,
            reach: 1.12 * (wide / 2.0 + 0.57 * above) + 0.1 * radius,
            cell: 10_f64.powf((radius / 5.0).log10().round()),
        }
    }
}

/// Towards the light.
pub fn light() -> Vec3f {
    Vec3f::from(look::TOWARDS_LIGHT).normalize()
}

/// How deep the shadow is everywhere around the middle of a ground.
pub struct Shadow {
    sharp: Vec<f32>,
    wide: Vec<f32>,
}

impl Shadow {
    /// Of some objects.
    pub fn new(ground: &Ground, bodies: &[Body]) -> Self {
        let light = light();
        let (scale, fading) = (SIZE as f32 / (2.0 * ground.reach as f32), 0.5 * ground.radius as f32);
        let lean = [light.x, light.z].map(|x| x / light.y);
        let place = |p: &[f32; 3]| -> [f32; 3] {
            let [x, y, z] = [0, 1, 2].map(|axis| (f64::from(p[axis]) - ground.middle[axis]) as f32);
            let height = y.max(0.0);
            let at = [x - lean[0] * height, z - lean[1] * height].map(|at| at * scale + 0.5 * SIZE as f32);
            let depth = look::FAR_SHADOW + (1.0 - look::FAR_SHADOW) * (-height / fading).exp();
            [at[0], at[1], depth]
        };
        let places: Vec<Vec<[f32; 3]>> =
            bodies.iter().map(|body| body.positions.par_iter().with_min_len(4096).map(place).collect()).collect();
        let mut mask = vec![0.0_f32; SIZE * SIZE];
        mask.par_chunks_mut(BAND * SIZE).enumerate().for_each(|(band, rows)| {
            let first = band * BAND;
            for (body, places) in bodies.iter().zip(&places) {
                for triangle in &body.surface.triangles {
                    throw(triangle.map(|v| places[v as usize]), first, rows);
                }
            }
        });
        let sharp = soften(&mask, SIZE, &bell(8, 24.0));
        let small: Vec<f32> = (0..WIDE * WIDE)
            .into_par_iter()
            .with_min_len(4096)
            .map(|n| {
                let (x, y) = (4 * (n % WIDE), 4 * (n / WIDE));
                (y..y + 4).map(|y| sharp[y * SIZE + x..y * SIZE + x + 4].iter().sum::<f32>()).sum::<f32>() / 16.0
            })
            .collect();
        let wide = soften(&small, WIDE, &bell(10, 37.5));
        Shadow { sharp, wide }
    }
}

/// Draws a triangle into some rows; deeper shadows win.
fn throw(corners: [[f32; 3]; 3], first: usize, rows: &mut [f32]) {
    let [a, b, c] = corners;
    let area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    if !(area.abs() > 1e-12 && area.is_finite()) {
        return;
    }
    let (low, high) = (a[1].min(b[1]).min(c[1]), a[1].max(b[1]).max(c[1]));
    let count = rows.len() / SIZE;
    if high < first as f32 || low > (first + count) as f32 {
        return;
    }
    let left = (a[0].min(b[0]).min(c[0]) - 0.5).ceil().clamp(0.0, SIZE as f32) as usize;
    let right = (a[0].max(b[0]).max(c[0]) - 0.5).floor().clamp(-1.0, SIZE as f32 - 1.0);
    let top = (low - 0.5).ceil().clamp(first as f32, (first + count) as f32) as usize;
    let bottom = (high - 0.5).floor().clamp(-1.0, (first + count) as f32 - 1.0);
    for y in top..(bottom + 1.0) as usize {
        let row = &mut rows[(y - first) * SIZE..(y - first + 1) * SIZE];
        for (x, deepest) in row.iter_mut().enumerate().take((right + 1.0) as usize).skip(left) {
            let (px, py) = (x as f32 + 0.5 - a[0], y as f32 + 0.5 - a[1]);
            let of_c = ((b[0] - a[0]) * py - (b[1] - a[1]) * px) / area;
            let of_b = (px * (c[1] - a[1]) - py * (c[0] - a[0])) / area;
            if of_b >= 0.0 && of_c >= 0.0 && of_b + of_c <= 1.0 {
                *deepest = deepest.max(a[2] + of_b * (b[2] - a[2]) + of_c * (c[2] - a[2]));
            }
        }
    }
}

/// Weights of a soft brush that add up to 1.
fn bell(reach: i32, square: f32) -> Vec<f32> {
    let weights: Vec<f32> = (-reach..=reach).map(|k| (-((k * k) as f32) / square).exp()).collect();
    let sum: f32 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

/// Along rows, then along columns; what is outside is like the border.
fn soften(values: &[f32], size: usize, weights: &[f32]) -> Vec<f32> {
    let reach = weights.len() / 2;
    let mut across = vec![0.0; size * size];
    across.par_chunks_mut(size).zip(values.par_chunks(size)).with_min_len(16).for_each_init(
        || vec![0.0; size + 2 * reach],
        |wider, (to, from)| {
            if from.iter().all(|&value| value == 0.0) {
                return;
            }
            wider[..reach].fill(from[0]);
            wider[reach..reach + size].copy_from_slice(from);
            wider[reach + size..].fill(from[size - 1]);
            for (k, weight) in weights.iter().enumerate() {
                for (to, from) in to.iter_mut().zip(&wider[k..k + size]) {
                    *to += weight * from;
                }
            }
        },
    );
    let mut down = vec![0.0; size * size];
    down.par_chunks_mut(size).with_min_len(16).enumerate().for_each(|(y, to)| {
        for (k, weight) in weights.iter().enumerate() {
            let from = (y + k).saturating_sub(reach).min(size - 1);
            for (to, from) in to.iter_mut().zip(&across[from * size..(from + 1) * size]) {
                *to += weight * from;
            }
        }
    });
    down
}

/// A value between four others.
fn between(values: &[f32], size: usize, [u, v]: [f32; 2]) -> f32 {
    let last = size - 1;
    let cell = |at: f32| {
        let at = (at * size as f32 - 0.5).clamp(0.0, last as f32);
        (at as usize, at - (at as usize) as f32)
    };
    let ((x, right), (y, below)) = (cell(u), cell(v));
    let (next, row, next_row) = ((x + 1).min(last), y * size, (y + 1).min(last) * size);
    let upper = values[row + x] * (1.0 - right) + values[row + next] * right;
    let lower = values[next_row + x] * (1.0 - right) + values[next_row + next] * right;
    upper * (1.0 - below) + lower * below
}

/// Rounded; far quicker than `round` where the processor has no such thing. Right below 2^22.
fn nearest_whole(x: f32) -> f32 {
    const SHIFT: f32 = 12_582_912.0; // 1.5 * 2^23: what is added to it loses its fraction
    (x + SHIFT) - SHIFT
}

/// A ground as the eye sees it.
pub struct GroundView<'a> {
    shadow: &'a Shadow,
    view: &'a View,
    /// Of the ground, from the eye.
    height: f32,
    /// Of the eye, from the middle.
    eye: [f32; 2],
    /// Of the middle, from a line of the grid.
    origin: [f32; 2],
    extent: f32,
    reach: f32,
    cell: f32,
}

impl<'a> GroundView<'a> {
    /// Of a ground.
    pub fn new(ground: &Ground, shadow: &'a Shadow, view: &'a View, eye: Vec3) -> Self {
        let from_eye = ground.middle - eye;
        let origin = |x: f64| if ground.cell > 0.0 { x.rem_euclid(10.0 * ground.cell) as f32 } else { 0.0 };
        GroundView {
            shadow,
            view,
            height: from_eye.y as f32,
            eye: [-from_eye.x as f32, -from_eye.z as f32],
            origin: [origin(ground.middle.x), origin(ground.middle.z)],
            extent: (EXTENT * ground.radius) as f32,
            reach: ground.reach as f32,
            cell: ground.cell as f32,
        }
    }

    /// Whether the ground lies before a place that is so far above the eye: whether it is on the other side of it than the eye.
    pub fn hides(&self, above_eye: f32) -> bool {
        (above_eye < self.height) == (self.height < 0.0)
    }

    /// What lies over things behind the ground at a place of the picture: how far away it is, its colour, and how much it hides.
    pub fn colour(&self, x: f32, y: f32) -> Option<(f32, [f32; 3], f32)> {
        let ray = self.view.ray(x, y);
        let along = self.height / ray.y;
        if !(along > 0.0 && along.is_finite()) {
            return None;
        }
        let place = [self.eye[0] + along * ray.x, self.eye[1] + along * ray.z];
        let square = place[0] * place[0] + place[1] * place[1];
        if square > self.extent * self.extent {
            return None;
        }
        let fade = 1.0 - smooth_step(0.12, 0.85, square.sqrt() / self.extent);
        let mut grid = 0.0;
        if self.cell > 0.0 && fade > 0.0 {
            // How far the next pixels are on the ground.
            let [across, down] = self.view.steps();
            let step = |step: Vec3f| {
                let further = -along * step.y / ray.y;
                [along * step.x + further * ray.x, along * step.z + further * ray.z]
            };
            let (across, down) = (step(across), step(down));
            let pixel = [0, 1].map(|axis| (across[axis].abs() + down[axis].abs()).max(1e-6 * self.cell));
            let lines = |cell: f32, strength: f32| {
                let line = |axis: usize| {
                    let pixel = pixel[axis] / cell;
                    if pixel >= 0.5 {
                        return 0.0;
                    }
                    let at = (place[axis] + self.origin[axis]) / cell;
                    let near = (at - nearest_whole(at)).abs();
                    if near >= pixel { 0.0 } else { (1.0 - near / pixel) * (1.0 - smooth_step(0.15, 0.5, pixel)) }
                };
                strength * line(0).max(line(1))
            };
            let [fine, coarse] = look::GRID_STRENGTH;
            grid = lines(self.cell, fine).max(lines(10.0 * self.cell, coarse)) * fade;
        }
        let mut shadow = 0.0;
        let at = place.map(|x| 0.5 + 0.5 * x / self.reach);
        if self.height < 0.0 && at.iter().all(|x| (0.0..=1.0).contains(x)) {
            let [sharp, wide] = look::SHADOW_STRENGTH;
            let edge = at.map(|x| smooth_step(0.0, 0.06, x) * (1.0 - smooth_step(0.94, 1.0, x)));
            shadow = (sharp * between(&self.shadow.sharp, SIZE, at) + wide * between(&self.shadow.wide, WIDE, at))
                * edge[0]
                * edge[1];
        }
        let alpha = shadow + grid * (1.0 - shadow);
        let part = shadow / alpha.max(1e-5);
        let colour = [0, 1, 2].map(|k| look::GRID[k] + part * (look::SHADOW[k] - look::GRID[k]));
        Some((along, colour, alpha))
    }
}
