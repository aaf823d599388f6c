//! Contact sheets: many pictures in one.

use super::picture::Picture;

/// Between pictures, in parts of a picture's width.
const GAP: f32 = 0.008;

/// A grid of pictures of one size, which is filled from left to right and from top to bottom.
pub struct Sheet {
    picture: Picture,
    cell: [usize; 2],
    gap: usize,
    columns: usize,
    filled: usize,
}

/// How many columns suit a number of pictures: about as wide as a page.
pub fn columns_for(count: usize, [width, height]: [usize; 2]) -> usize {
    let count = count.max(1);
    let score = |columns: usize| {
        let rows = count.div_ceil(columns);
        let shape = (columns * width) as f64 / (rows * height) as f64;
        // Gaps at the end look worse than a shape that is not quite that of a page.
        (shape / 1.9).ln().abs() + 1.2 * (rows * columns - count) as f64 / count as f64
    };
    (1..=count.min(12)).min_by(|&a, &b| score(a).total_cmp(&score(b))).unwrap_or(1)
}

impl Sheet {
    /// How large a sheet is.
    pub fn size(count: usize, columns: usize, [width, height]: [usize; 2]) -> [usize; 2] {
        let gap = Self::gap(width);
        let rows = count.div_ceil(columns.max(1));
        [columns * (width + gap) - gap.min(columns * width), rows * (height + gap) - gap.min(rows * height)]
    }

    fn gap(width: usize) -> usize {
        (GAP * width as f32).round().max(1.0) as usize
    }

    /// An empty one.
    pub fn new(count: usize, columns: usize, cell: [usize; 2], colour: [f32; 3]) -> Self {
        let [width, height] = Self::size(count, columns, cell);
        Sheet { picture: Picture::new(width, height, colour), cell, gap: Self::gap(cell[0]), columns, filled: 0 }
    }

    /// Where a picture is: its upper left corner.
    pub fn place(&self, number: usize) -> [usize; 2] {
        let at = [number % self.columns, number / self.columns];
        [0, 1].map(|axis| at[axis] * (self.cell[axis] + self.gap))
    }

    /// Adds the next picture.
    pub fn add(&mut self, picture: &Picture) {
        let place = self.place(self.filled);
        self.picture.put(place, picture.width(), picture.pixels());
        self.filled += 1;
    }

    /// The sheet.
    pub fn picture(&self) -> &Picture {
        &self.picture
    }
}
