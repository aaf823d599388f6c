//! Which triangle each sample of a picture sees.
//!
//! Idea:  corners are rounded to 1/256 of a pixel and edges tested in whole numbers, so that triangles that share an edge never leave a gap
//!        and never both own a sample. Depth is `1/z`, which is linear in the picture; of equals the first triangle is seen.
//! Tiles: squares of 32 pixels, each by itself.

use rayon::prelude::*;

use super::Vec3f;
use super::camera::Camera;
use super::scene::{Seen, SeenTriangle};

/// Pixels along the side of a tile.
pub const TILE: usize = 32;
/// Parts of a pixel.
const PARTS: i32 = 256;
/// How far outside of the middle of a picture corners may be [pixels]; beyond it triangles are cut.
const GUARD: f32 = 30_000.0;
/// Edges of pieces that are smaller than this fit into 32 bits [parts of a pixel].
const SMALL: i32 = 64 * PARTS;
/// How many triangles a thread takes at once.
const CHUNK: usize = 4096;
/// A sample that sees nothing.
pub const NOTHING: u32 = u32::MAX;

/// Where samples of a pixel are, in parts of it from its middle. No two share a row or a column.
pub fn pattern<const N: usize>() -> [[i32; 2]; N] {
    let rows: &[usize] = match N {
        4 => &[1, 3, 0, 2],
        8 => &[2, 5, 0, 7, 3, 6, 1, 4],
        16 => &[6, 11, 0, 13, 3, 8, 15, 5, 10, 1, 12, 7, 2, 14, 4, 9],
        _ => &[0],
    };
    let step = PARTS / N as i32;
    std::array::from_fn(|k| [k, rows[k % rows.len()]].map(|n| step * n as i32 + step / 2 - PARTS / 2))
}

/// A camera with a picture before it.
#[derive(Clone, Copy, Debug)]
pub struct View {
    right: Vec3f,
    up: Vec3f,
    forward: Vec3f,
    nearest: f32,
    /// Pixels of something as large as it is far away.
    scale: f32,
    /// In pixels.
    pub size: [usize; 2],
    tiles: [usize; 2],
}

impl View {
    /// Of a picture.
    pub fn new(camera: &Camera, size: [usize; 2]) -> Self {
        let [right, up, forward] = [camera.right, camera.up, camera.forward].map(|axis| axis.map(|x| x as f32));
        View {
            right,
            up,
            forward,
            nearest: camera.nearest() as f32,
            scale: (size[1] as f64 / (2.0 * camera.slope)) as f32,
            size,
            tiles: size.map(|pixels| pixels.div_ceil(TILE)),
        }
    }

    /// How many tiles there are.
    pub fn tile_count(&self) -> usize {
        self.tiles[0] * self.tiles[1]
    }

    /// Upper left corner and size of a tile.
    pub fn tile(&self, number: usize) -> ([usize; 2], [usize; 2]) {
        let place = [TILE * (number % self.tiles[0]), TILE * (number / self.tiles[0])];
        (place, [0, 1].map(|axis| TILE.min(self.size[axis] - place[axis])))
    }

    /// From the eye through a place of the picture; one long into the picture.
    pub fn ray(&self, x: f32, y: f32) -> Vec3f {
        let [across, down] = [x - 0.5 * self.size[0] as f32, y - 0.5 * self.size[1] as f32];
        self.forward + self.right * (across / self.scale) - self.up * (down / self.scale)
    }

    /// How a ray changes from a pixel to the next: to the right, and down.
    pub fn steps(&self) -> [Vec3f; 2] {
        [self.right / self.scale, -self.up / self.scale]
    }

    /// Pixels of something as large as it is far away.
    pub fn scale(&self) -> f32 {
        self.scale
    }

    /// To the right, up and into the picture.
    fn turn(&self, place: &Vec3f) -> Vec3f {
        Vec3f::new(place.dot(&self.right), place.dot(&self.up), place.dot(&self.forward))
    }

    /// Where something is in the picture, in parts of a pixel, and `1/z`.
    fn project(&self, p: &Vec3f) -> ([i32; 2], f32) {
        let w = 1.0 / p.z;
        let at =
            |offset: f32, size: usize| ((offset * w * self.scale + 0.5 * size as f32) * PARTS as f32).round() as i32;
        ([at(p.x, self.size[0]), at(-p.y, self.size[1])], w)
    }
}

/// A triangle in the picture, or a part of one, with its corners in the same turn as those of the picture.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// In parts of a pixel.
    corners: [[i32; 2]; 3],
    /// `1/z` at the first corner, and how it grows with pixels.
    depth: [f32; 3],
    /// Smallest and largest `1/z`.
    range: [f32; 2],
    triangle: u32,
}

impl Piece {
    fn new(corners: [([i32; 2], f32); 3], triangle: u32, view: &View) -> Option<Piece> {
        let [(a, wa), (mut b, mut wb), (mut c, mut wc)] = corners;
        let wide = |p: [i32; 2]| [i64::from(p[0] - a[0]), i64::from(p[1] - a[1])];
        let cross = |b: [i64; 2], c: [i64; 2]| b[0] * c[1] - b[1] * c[0];
        let mut area = cross(wide(b), wide(c));
        if area == 0 {
            return None;
        }
        if area < 0 {
            (b, wb, c, wc) = (c, wc, b, wb);
            area = -area;
        }
        let low = [0, 1].map(|axis| a[axis].min(b[axis]).min(c[axis]));
        let high = [0, 1].map(|axis| a[axis].max(b[axis]).max(c[axis]));
        if (0..2).any(|axis| high[axis] < 0 || low[axis] > view.size[axis] as i32 * PARTS) {
            return None;
        }
        let ([bx, by], [cx, cy]) = (wide(b).map(|x| x as f64), wide(c).map(|x| x as f64));
        let (db, dc) = (f64::from(wb) - f64::from(wa), f64::from(wc) - f64::from(wa));
        let grow = |x: f64| (x * f64::from(PARTS) / area as f64) as f32;
        let depth = [wa, grow(db * cy - dc * by), grow(dc * bx - db * cx)];
        let range = [wa.min(wb).min(wc), wa.max(wb).max(wc)];
        Some(Piece { corners: [a, b, c], depth, range, triangle })
    }

    fn bounds(&self) -> [[i32; 2]; 2] {
        let [a, b, c] = self.corners;
        let of = |pick: fn(i32, i32) -> i32| [0, 1].map(|axis| pick(pick(a[axis], b[axis]), c[axis]));
        [of(i32::min), of(i32::max)]
    }
}

/// The pieces of a picture, and which of them each tile has to look at.
pub struct Pieces {
    pieces: Vec<Piece>,
    /// Of tile `n` the entries from `starts[n]` to `starts[n + 1]`, ascending.
    starts: Vec<u32>,
    entries: Vec<u32>,
}

impl Pieces {
    /// Of all triangles that are in the picture.
    pub fn new(seen: &Seen, view: &View) -> Self {
        let turned: Vec<Vec3f> = seen.places.par_iter().with_min_len(CHUNK).map(|place| view.turn(place)).collect();
        let of_chunk = |(chunk, triangles): (usize, &[SeenTriangle])| {
            let mut pieces = Vec::with_capacity(triangles.len());
            for (n, triangle) in triangles.iter().enumerate() {
                let corners = triangle.vertices.map(|v| turned[v as usize]);
                cut(corners, (chunk * CHUNK + n) as u32, view, &mut pieces);
            }
            pieces
        };
        let chunks: Vec<Vec<Piece>> = seen.triangles.par_chunks(CHUNK).enumerate().map(of_chunk).collect();
        let pieces = chunks.concat();
        let mut starts = vec![0_u32; view.tile_count() + 1];
        for piece in &pieces {
            for tile in tiles_of(piece, view) {
                starts[tile + 1] += 1;
            }
        }
        for tile in 0..view.tile_count() {
            starts[tile + 1] += starts[tile];
        }
        let mut next = starts.clone();
        let mut entries = vec![0; starts[view.tile_count()] as usize];
        for (number, piece) in pieces.iter().enumerate() {
            for tile in tiles_of(piece, view) {
                entries[next[tile] as usize] = number as u32;
                next[tile] += 1;
            }
        }
        Pieces { pieces, starts, entries }
    }
}

fn tiles_of(piece: &Piece, view: &View) -> impl Iterator<Item = usize> {
    let [low, high] = piece.bounds();
    let tile = |part: i32, axis: usize| {
        (part.max(0) as usize / (TILE * PARTS as usize)).min(view.tiles[axis].saturating_sub(1))
    };
    let (left, right) = (tile(low[0], 0), tile(high[0], 0));
    let (top, bottom, across) = (tile(low[1], 1), tile(high[1], 1), view.tiles[0]);
    (top..=bottom).flat_map(move |y| (left..=right).map(move |x| y * across + x))
}

/// Cuts off what is too near to the eye or too far aside, and keeps the rest.
fn cut(corners: [Vec3f; 3], triangle: u32, view: &View, pieces: &mut Vec<Piece>) {
    if !corners.iter().all(|p| p.iter().all(|x| x.is_finite())) {
        return;
    }
    let aside = GUARD / view.scale;
    let outside = |p: &Vec3f| p.z < view.nearest || p.x.abs() > aside * p.z || p.y.abs() > aside * p.z;
    if !corners.iter().any(outside) {
        pieces.extend(Piece::new(corners.map(|p| view.project(&p)), triangle, view));
        return;
    }
    // Signed distances that must not be negative.
    let planes: [&dyn Fn(&Vec3f) -> f32; 5] =
        [&|p| p.z - view.nearest, &|p| aside * p.z - p.x, &|p| aside * p.z + p.x, &|p| aside * p.z - p.y, &|p| {
            aside * p.z + p.y
        }];
    let mut polygon = corners.to_vec();
    for plane in planes {
        let mut kept = Vec::with_capacity(polygon.len() + 1);
        for (k, p) in polygon.iter().enumerate() {
            let q = &polygon[(k + 1) % polygon.len()];
            let (at_p, at_q) = (plane(p), plane(q));
            if at_p >= 0.0 {
                kept.push(*p);
            }
            if (at_p < 0.0) != (at_q < 0.0) {
                kept.push(p + (q - p) * (at_p / (at_p - at_q)));
            }
        }
        polygon = kept;
        if polygon.len() < 3 {
            return;
        }
    }
    // Rounding may leave a corner a little in front of the nearest plane.
    let corner = |p: &Vec3f| view.project(&Vec3f::new(p.x, p.y, p.z.max(view.nearest)));
    for k in 1..polygon.len() - 1 {
        pieces.extend(Piece::new([&polygon[0], &polygon[k], &polygon[k + 1]].map(corner), triangle, view));
    }
}

/// A square of the picture: what each of its samples sees.
pub struct Tile<const N: usize> {
    place: [usize; 2],
    size: [usize; 2],
    depth: Vec<[f32; N]>,
    triangle: Vec<[u32; N]>,
    is_empty: bool,
    offsets: [[i32; 2]; N],
}

impl<const N: usize> Tile<N> {
    /// One that sees nothing.
    pub fn new() -> Self {
        Tile {
            place: [0; 2],
            size: [0; 2],
            depth: vec![[0.0; N]; TILE * TILE],
            triangle: vec![[NOTHING; N]; TILE * TILE],
            is_empty: true,
            offsets: pattern(),
        }
    }

    /// Upper left corner.
    pub fn place(&self) -> [usize; 2] {
        self.place
    }

    /// In pixels.
    pub fn size(&self) -> [usize; 2] {
        self.size
    }

    /// The triangles that the samples of a pixel see.
    pub fn triangles(&self, x: usize, y: usize) -> &[u32; N] {
        &self.triangle[y * TILE + x]
    }

    /// Whether there is no triangle at all.
    pub fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Where samples are, in parts of a pixel from its middle.
    pub fn offsets(&self) -> [[f32; 2]; N] {
        self.offsets.map(|offset| offset.map(|part| part as f32 / PARTS as f32))
    }

    /// Looks at a tile of a picture.
    pub fn see(&mut self, pieces: &Pieces, number: usize, view: &View) {
        (self.place, self.size) = view.tile(number);
        let entries = &pieces.entries[pieces.starts[number] as usize..pieces.starts[number + 1] as usize];
        self.is_empty = entries.is_empty();
        if self.is_empty {
            return;
        }
        self.depth.fill([0.0; N]);
        self.triangle.fill([NOTHING; N]);
        for &entry in entries {
            let piece = &pieces.pieces[entry as usize];
            let [low, high] = piece.bounds();
            if high[0] - low[0] < SMALL && high[1] - low[1] < SMALL {
                self.add::<i32>(piece, low, high);
            } else {
                self.add::<i64>(piece, low, high);
            }
        }
    }

    fn add<T: Whole>(&mut self, piece: &Piece, low: [i32; 2], high: [i32; 2]) {
        let first = [0, 1].map(|axis| (low[axis].div_euclid(PARTS)).max(self.place[axis] as i32));
        let last =
            [0, 1].map(|axis| (high[axis].div_euclid(PARTS)).min((self.place[axis] + self.size[axis]) as i32 - 1));
        if first[0] > last[0] || first[1] > last[1] {
            return;
        }
        let middle = [0, 1].map(|axis| first[axis] * PARTS + PARTS / 2);
        let edges: [Edge<T, N>; 3] =
            std::array::from_fn(|k| Edge::new(piece.corners[k], piece.corners[(k + 1) % 3], middle, &self.offsets));
        let [w0, wx, wy] = piece.depth;
        let at_corner = [0, 1].map(|axis| (middle[axis] - piece.corners[0][axis]) as f32 / PARTS as f32);
        let within: [f32; N] = std::array::from_fn(|k| {
            let [x, y] = self.offsets[k].map(|part| part as f32 / PARTS as f32);
            wx * x + wy * y
        });
        let mut row = [edges[0].start, edges[1].start, edges[2].start];
        for y in first[1]..=last[1] {
            let mut at = row;
            let w_row = w0 + wy * (at_corner[1] + (y - first[1]) as f32);
            let line = (y as usize - self.place[1]) * TILE;
            for x in first[0]..=last[0] {
                if !(0..3).any(|k| at[k] + edges[k].highest < T::ZERO) {
                    let pixel = line + x as usize - self.place[0];
                    let w = w_row + wx * (at_corner[0] + (x - first[0]) as f32);
                    let is_full = (0..3).all(|k| at[k] + edges[k].lowest >= T::ZERO);
                    let (depth, triangle) = (&mut self.depth[pixel], &mut self.triangle[pixel]);
                    for k in 0..N {
                        let is_in = is_full
                            || (at[0] + edges[0].within[k] >= T::ZERO
                                && at[1] + edges[1].within[k] >= T::ZERO
                                && at[2] + edges[2].within[k] >= T::ZERO);
                        // Thin triangles have steep depths: never beyond their corners.
                        let here = (w + within[k]).clamp(piece.range[0], piece.range[1]);
                        if is_in && here > depth[k] {
                            depth[k] = here;
                            triangle[k] = piece.triangle;
                        }
                    }
                }
                for k in 0..3 {
                    at[k] = at[k] + edges[k].across;
                }
            }
            for k in 0..3 {
                row[k] = row[k] + edges[k].down;
            }
        }
    }
}

impl<const N: usize> Default for Tile<N> {
    fn default() -> Self {
        Tile::new()
    }
}

/// Whole numbers that are large enough.
trait Whole: Copy + Ord + std::ops::Add<Output = Self> + std::ops::Mul<Output = Self> + From<i32> {
    const ZERO: Self;
}

impl Whole for i32 {
    const ZERO: i32 = 0;
}

impl Whole for i64 {
    const ZERO: i64 = 0;
}

/// How far inside of an edge samples are; not negative inside.
struct Edge<T, const N: usize> {
    /// At the middle of the first pixel.
    start: T,
    /// From a pixel to the next.
    across: T,
    down: T,
    /// Of the samples of a pixel.
    within: [T; N],
    lowest: T,
    highest: T,
}

impl<T: Whole, const N: usize> Edge<T, N> {
    fn new(a: [i32; 2], b: [i32; 2], middle: [i32; 2], offsets: &[[i32; 2]; N]) -> Self {
        let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
        let value = |x: i32, y: i32| T::from(dx) * T::from(y) + T::from(-dy) * T::from(x);
        // What lies on an edge belongs to one side of it: to triangles below or to the right.
        let owns = dy < 0 || (dy == 0 && dx > 0);
        let within: [T; N] = std::array::from_fn(|k| value(offsets[k][0], offsets[k][1]));
        Edge {
            start: value(middle[0] - a[0], middle[1] - a[1]) + T::from(if owns { 0 } else { -1 }),
            across: value(PARTS, 0),
            down: value(0, PARTS),
            lowest: within.iter().copied().min().unwrap_or(T::ZERO),
            highest: within.iter().copied().max().unwrap_or(T::ZERO),
            within,
        }
    }
}
