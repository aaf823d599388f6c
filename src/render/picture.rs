//! A picture: rows of pixels from the top, three bytes each, sRGB.

/// A picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

/// A colour as bytes.
pub fn bytes(colour: [f32; 3]) -> [u8; 3] {
    colour.map(|part| (part.clamp(0.0, 1.0) * 255.0 + 0.5) as u8)
}

impl Picture {
    /// All of one colour.
    pub fn new(width: usize, height: usize, colour: [f32; 3]) -> Self {
        Picture { width, height, pixels: bytes(colour).repeat(width * height) }
    }

    /// Pixels across.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Pixels from top to bottom.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Three bytes a pixel.
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// A pixel.
    pub fn pixel(&self, x: usize, y: usize) -> [u8; 3] {
        let at = 3 * (y * self.width + x);
        [self.pixels[at], self.pixels[at + 1], self.pixels[at + 2]]
    }

    /// Puts rows of pixels, `width` pixels each, with their upper left corner at a place; what does not fit is left out.
    pub fn put(&mut self, [left, top]: [usize; 2], width: usize, pixels: &[u8]) {
        let shown = width.min(self.width.saturating_sub(left));
        for (y, row) in pixels.chunks_exact((3 * width).max(1)).enumerate().take(self.height.saturating_sub(top)) {
            let at = 3 * ((top + y) * self.width + left);
            self.pixels[at..at + 3 * shown].copy_from_slice(&row[..3 * shown]);
        }
    }

    /// Part of it; all of it must be inside.
    pub fn part(&self, [left, top]: [usize; 2], [width, height]: [usize; 2]) -> Picture {
        let mut pixels = Vec::with_capacity(3 * width * height);
        for y in top..top + height {
            let at = 3 * (y * self.width + left);
            pixels.extend_from_slice(&self.pixels[at..at + 3 * width]);
        }
        Picture { width, height, pixels }
    }

    /// The smallest rectangle outside of which another picture of the same size is the same: place and size.
    pub fn difference(&self, other: &Picture) -> Option<([usize; 2], [usize; 2])> {
        let row = 3 * self.width;
        let differs = |y: &usize| self.pixels[y * row..(y + 1) * row] != other.pixels[y * row..(y + 1) * row];
        let top = (0..self.height).find(differs)?;
        let bottom = (0..self.height).rev().find(differs)?;
        let (mut left, mut right) = (self.width, 0);
        for y in top..=bottom {
            let (a, b) = (&self.pixels[y * row..(y + 1) * row], &other.pixels[y * row..(y + 1) * row]);
            if let Some(first) = (0..row).find(|&at| a[at] != b[at]) {
                left = left.min(first / 3);
            }
            if let Some(last) = (0..row).rev().find(|&at| a[at] != b[at]) {
                right = right.max(last / 3);
            }
        }
        Some(([left, top], [right + 1 - left, bottom + 1 - top]))
    }

    /// Lays a colour over a pixel, if there is such a pixel.
    pub fn blend(&mut self, x: i64, y: i64, colour: [f32; 3], alpha: f32) {
        if x < 0 || y < 0 || x >= self.width as i64 || y >= self.height as i64 {
            return;
        }
        let at = 3 * (y as usize * self.width + x as usize);
        for (byte, part) in self.pixels[at..at + 3].iter_mut().zip(colour) {
            let below = f32::from(*byte);
            *byte = (below + alpha * (255.0 * part - below) + 0.5) as u8;
        }
    }

    /// Lays a colour over a rectangle with its corners rounded.
    pub fn panel(
        &mut self,
        [left, top]: [f32; 2],
        [width, height]: [f32; 2],
        radius: f32,
        colour: [f32; 3],
        alpha: f32,
    ) {
        let middle = [left + width / 2.0, top + height / 2.0];
        let half = [width / 2.0 - radius, height / 2.0 - radius];
        for y in top.floor() as i64..=(top + height).ceil() as i64 {
            for x in left.floor() as i64..=(left + width).ceil() as i64 {
                let dx = ((x as f32 + 0.5 - middle[0]).abs() - half[0]).max(0.0);
                let dy = ((y as f32 + 0.5 - middle[1]).abs() - half[1]).max(0.0);
                let inside = (radius + 0.5 - dx.hypot(dy)).clamp(0.0, 1.0);
                if inside > 0.0 {
                    self.blend(x, y, colour, alpha * inside);
                }
            }
        }
    }

    /// How bright it is around a place, from 0 to 1.
    pub fn brightness(&self, [left, top]: [usize; 2], [width, height]: [usize; 2]) -> f32 {
        let (mut sum, mut count) = (0.0, 0);
        for y in top..(top + height).min(self.height) {
            for x in left..(left + width).min(self.width) {
                let [r, g, b] = self.pixel(x, y).map(f32::from);
                sum += (0.30 * r + 0.59 * g + 0.11 * b) / 255.0;
                count += 1;
            }
        }
        if count == 0 { 1.0 } else { sum / count as f32 }
    }
}
