//! Lists of different lengths, one behind the other in memory.

/// Row `i` is the slice `entries[starts[i]..starts[i + 1]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows<T> {
    starts: Vec<u32>,
    entries: Vec<T>,
}

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Rows { starts: vec![0], entries: Vec::new() }
    }
}

impl<T> Rows<T> {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One row.
    #[inline(always)]
    pub fn row(&self, row: usize) -> &[T] {
        &self.entries[self.starts[row] as usize..self.starts[row + 1] as usize]
    }

    /// All rows in order.
    pub fn iter(&self) -> impl Iterator<Item = &[T]> {
        (0..self.len()).map(|row| self.row(row))
    }
}

impl<T, R: IntoIterator<Item = T>> FromIterator<R> for Rows<T> {
    fn from_iter<I: IntoIterator<Item = R>>(rows: I) -> Self {
        let mut result = Rows::default();
        for row in rows {
            result.entries.extend(row);
            result.starts.push(result.entries.len() as u32);
        }
        result
    }
}
