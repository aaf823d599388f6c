//! Text in pictures: letters are strokes, and a pixel is as dark as a round pen would make it.

use super::glyphs::{BASE, CAPITAL, glyph};
use super::picture::Picture;

/// Between letters, in units of the glyphs.
const GAP: f32 = 3.2;
/// Of a stroke, in units of the glyphs.
const PEN: f32 = 1.55;
/// Pieces of a smooth stroke between two points.
const PIECES: usize = 6;

/// How wide a text is whose capitals are `size` pixels high.
pub fn text_width(text: &str, size: f32) -> f32 {
    let units: f32 = text.chars().map(|letter| glyph(letter).0 + GAP).sum();
    (units - GAP).max(0.0) * size / CAPITAL
}

/// The pieces of the strokes of a letter, in units of the glyphs above the base line.
pub fn segments(letter: char) -> Vec<[[f32; 2]; 2]> {
    let mut segments = Vec::new();
    for stroke in glyph(letter).1.split_whitespace() {
        let (is_smooth, digits) = match stroke.strip_prefix('~') {
            Some(digits) => (true, digits),
            None => (false, stroke),
        };
        let digits: Vec<f32> =
            digits.chars().filter_map(|digit| digit.to_digit(16)).map(|digit| digit as f32).collect();
        let points: Vec<[f32; 2]> = digits.chunks_exact(2).map(|point| [point[0], point[1] - BASE]).collect();
        let chain = if is_smooth { smooth(&points) } else { points };
        segments.extend(chain.windows(2).map(|pair| [pair[0], pair[1]]));
    }
    segments
}

/// A curve through points; closed if it ends where it starts.
fn smooth(points: &[[f32; 2]]) -> Vec<[f32; 2]> {
    let (Some(&first), Some(&last)) = (points.first(), points.last()) else { return Vec::new() };
    let is_closed = points.len() > 2 && first == last;
    let count = points.len();
    let at = |n: isize| -> [f32; 2] {
        match n {
            n if n < 0 && is_closed => points[count - 2],
            n if n < 0 => first,
            n if n as usize >= count && is_closed => points[1],
            n if n as usize >= count => last,
            n => points[n as usize],
        }
    };
    let mut chain = vec![first];
    for k in 0..count as isize - 1 {
        let [a, b, c, d] = [at(k - 1), at(k), at(k + 1), at(k + 2)];
        for piece in 1..=PIECES {
            let t = piece as f32 / PIECES as f32;
            chain.push([0, 1].map(|axis| {
                let [a, b, c, d] = [a[axis], b[axis], c[axis], d[axis]];
                let (one, two, three) = (c - a, 2.0 * a - 5.0 * b + 4.0 * c - d, 3.0 * b - a - 3.0 * c + d);
                b + 0.5 * t * (one + t * (two + t * three))
            }));
        }
    }
    chain
}

/// Writes text with the start of its base line at a place; capitals are `size` pixels high.
pub fn write(picture: &mut Picture, [left, base]: [f32; 2], size: f32, text: &str, colour: [f32; 3]) {
    let scale = size / CAPITAL;
    // A pen thinner than a pixel is a pixel wide and fainter.
    let pen = PEN * scale;
    let (half, strength) = (0.5 * pen.max(1.0), pen.min(1.0).powf(0.6));
    let mut left = left;
    for letter in text.chars() {
        let strokes: Vec<[[f32; 2]; 2]> =
            segments(letter).iter().map(|ends| ends.map(|[x, y]| [left + scale * x, base - scale * y])).collect();
        let mut box_ = [f32::INFINITY, f32::INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY];
        for [x, y] in strokes.iter().flatten() {
            box_ = [box_[0].min(*x), box_[1].min(*y), box_[2].max(*x), box_[3].max(*y)];
        }
        if !strokes.is_empty() {
            let reach = half + 1.0;
            for y in (box_[1] - reach).floor() as i64..=(box_[3] + reach).ceil() as i64 {
                for x in (box_[0] - reach).floor() as i64..=(box_[2] + reach).ceil() as i64 {
                    let pixel = [x as f32 + 0.5, y as f32 + 0.5];
                    let away = strokes.iter().map(|&ends| distance(pixel, ends)).fold(f32::INFINITY, f32::min);
                    let cover = (half + 0.5 - away).clamp(0.0, 1.0);
                    if cover > 0.0 {
                        picture.blend(x, y, colour, strength * cover);
                    }
                }
            }
        }
        left += scale * (glyph(letter).0 + GAP);
    }
}

/// From a point to a piece of a stroke.
fn distance([x, y]: [f32; 2], [[ax, ay], [bx, by]]: [[f32; 2]; 2]) -> f32 {
    let (dx, dy) = (bx - ax, by - ay);
    let square = dx * dx + dy * dy;
    let along = if square > 0.0 { (((x - ax) * dx + (y - ay) * dy) / square).clamp(0.0, 1.0) } else { 0.0 };
    (x - ax - along * dx).hypot(y - ay - along * dy)
}
