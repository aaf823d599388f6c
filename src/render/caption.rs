//! What is written into pictures: lines of text, and the scale of a heat map.

use super::font::{text_width, write};
use super::look::INK;
use super::picture::Picture;

/// How high capitals are in a picture of this size [pixels].
pub fn text_size([width, height]: [usize; 2]) -> f32 {
    // Small pictures need text that is large for them.
    let side = (width as f32).min(1.6 * height as f32);
    (4.4 + side / 115.0).clamp(5.5, 40.0).min(side / 14.0).max(4.0)
}

/// Light on dark.
fn ink(picture: &Picture, place: [f32; 2], size: [f32; 2]) -> [f32; 3] {
    let whole = |x: f32| x.max(0.0) as usize;
    match picture.brightness(place.map(whole), size.map(whole)) > 0.45 {
        true => INK,
        false => [0.95, 0.96, 0.97],
    }
}

/// Lines in the upper left corner.
pub fn corner(picture: &mut Picture, lines: &[String]) {
    let size = text_size([picture.width(), picture.height()]);
    let left = 1.3 * size;
    for (number, line) in lines.iter().enumerate() {
        let base = 2.3 * size + 1.9 * size * number as f32;
        let colour = ink(picture, [left, base - size], [text_width(line, size), size]);
        write(picture, [left, base.round()], size, line, colour);
    }
}

/// The scale of a heat map.
pub struct Scale<'a> {
    /// What is shown.
    pub title: &'a str,
    /// The colour from 0 at the left to 1 at the right.
    pub colour: &'a dyn Fn(f32) -> [f32; 3],
    /// Texts, each with its place on the scale.
    pub marks: &'a [(f32, String)],
}

/// Draws a scale into the lower left corner.
pub fn legend(picture: &mut Picture, scale: &Scale) {
    let size = text_size([picture.width(), picture.height()]);
    let ends: f32 = scale.marks.iter().map(|(_, text)| text_width(text, size) + 1.5 * size).sum();
    let width =
        (24.0 * size).max(1.3 * ends).max(text_width(scale.title, size)).min(picture.width() as f32 - 5.0 * size);
    if width < 8.0 * size {
        return; // too small to be read
    }
    let (pad, bar) = (1.1 * size, size);
    let height = 2.0 * pad + size + 0.8 * size + bar + 0.8 * size + size;
    let (left, top) = (1.3 * size, picture.height() as f32 - height - 1.3 * size);
    picture.panel([left, top], [width + 2.0 * pad, height], 0.6 * size, [1.0; 3], 0.82);
    let left = left + pad;
    write(picture, [left, (top + pad + size).round()], size, scale.title, INK);
    let bar_top = (top + pad + 1.8 * size).round();
    let (first, last) = (left.round() as i64, (left + width).round() as i64);
    for x in first..last {
        let colour = (scale.colour)((x as f32 + 0.5 - left) / width);
        for y in bar_top as i64..(bar_top + bar.round()) as i64 {
            picture.blend(x, y, colour, 1.0);
        }
    }
    let base = (bar_top + bar + 0.8 * size + size).round();
    for (place, text) in scale.marks {
        let wide = text_width(text, size);
        // Inside of the scale: the first to its right, the last to its left.
        let at = (left + place * width - 0.5 * wide).clamp(left, (left + width - wide).max(left));
        write(picture, [at, base], size, text, INK);
    }
}
