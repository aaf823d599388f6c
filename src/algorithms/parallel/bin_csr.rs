//! Sparse matrices for one thread a row.
//!
//! Based on: [Bender14 §5.3.1] (BIN-CSR, BIN-BCSR, assembly by lists)
//! Idea:     the diagonal is apart. Rows are in bins of 32; each bin is as wide as its longest row, and its entries stand column by column, so
//!           that neighbouring threads read neighbouring numbers and nothing has to be added up between them. Blocks of 3 × 3 share a column
//!           number, and each of their nine numbers has a plane of its own.
//! Deviates: a thread has a row of blocks where the thesis has one of numbers; where a row starts follows from where its bin does. Rows of 16
//!           neighbouring bins change places, long ones first, where that leaves less to fill up: only slots move, vectors, columns and the
//!           diagonal stay in the order of rows, and whoever uses a matrix need not know.
//! Test:     tests/algorithms/bin_csr.rs      On the device: bin_csr.wgsl

use crate::math::rows::Rows;

/// Rows of a bin.
pub const BIN: usize = 32;

/// Rows that may change places: far more than a bin has, and near enough that what they read stays together.
const WINDOW: usize = 16 * BIN;

/// A number, or a block of 3 × 3.
pub type Block<const SIDE: usize> = [[f64; SIDE]; SIDE];

/// Where the entries off the diagonal are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The row at each place.
    order: Vec<u32>,
    /// The place of each row.
    places: Vec<u32>,
    /// By rows.
    lengths: Vec<u32>,
    starts: Vec<u32>,
    columns: Vec<u32>,
}

impl Pattern {
    /// From the columns of each row; the diagonal may be among them. None if there is no such column.
    pub fn new(rows: &Rows<u32>) -> Option<Self> {
        let count = rows.len();
        let mut sorted: Vec<Vec<u32>> = Vec::with_capacity(count);
        for (row, columns) in rows.iter().enumerate() {
            let mut columns: Vec<u32> = columns.iter().copied().filter(|&c| c as usize != row).collect();
            columns.sort_unstable();
            columns.dedup();
            if columns.last().is_some_and(|&last| last as usize >= count) {
                return None;
            }
            sorted.push(columns);
        }
        let lengths: Vec<u32> = sorted.iter().map(|columns| columns.len() as u32).collect();
        let order = in_bins(&lengths);
        let mut places = vec![0; count];
        order.iter().enumerate().for_each(|(place, &row)| places[row as usize] = place as u32);
        let (mut starts, mut columns) = (vec![0], Vec::new());
        for bin in order.chunks(BIN) {
            for n in 0..width(bin, &lengths) {
                // What fills up a bin looks at its own row.
                let own = |lane: usize| bin.get(lane).copied().unwrap_or(count as u32 - 1);
                let column = |lane: usize| sorted[own(lane) as usize].get(n as usize).filter(|_| lane < bin.len());
                columns.extend((0..BIN).map(|lane| column(lane).copied().unwrap_or(own(lane))));
            }
            starts.push(columns.len() as u32);
        }
        Some(Pattern { order, places, lengths, starts, columns })
    }

    /// How many rows there are.
    pub fn row_count(&self) -> usize {
        self.lengths.len()
    }

    /// How many there are with those that fill up the last bin.
    pub fn padded_row_count(&self) -> usize {
        BIN * self.bin_count()
    }

    /// How many bins there are.
    pub fn bin_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The first slot of each bin, and the end of the last one.
    pub fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// The row at each place of a bin, bin by bin.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// The column of each slot.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Entries off the diagonal.
    pub fn entry_count(&self) -> usize {
        self.lengths.iter().map(|&length| length as usize).sum()
    }

    /// What is stored but is no entry, relative to what is: `slots / entries - 1`.
    pub fn padding(&self) -> f64 {
        match self.entry_count() {
            0 => 0.0,
            entries => self.columns.len() as f64 / entries as f64 - 1.0,
        }
    }

    /// Where the entries of a row begin.
    fn first_slot(&self, row: usize) -> usize {
        let place = self.places[row] as usize;
        self.starts[place / BIN] as usize + place % BIN
    }

    /// The slots of a row's entries, in the order of columns.
    pub fn slots(&self, row: usize) -> impl ExactSizeIterator<Item = usize> + '_ {
        let first = self.first_slot(row);
        (0..self.lengths[row] as usize).map(move |n| first + n * BIN)
    }

    /// The slot of an entry off the diagonal.
    pub fn slot(&self, row: usize, column: usize) -> Option<usize> {
        let first = self.first_slot(row);
        let (mut low, mut high) = (0, self.lengths[row] as usize);
        while low < high {
            let middle = usize::midpoint(low, high);
            match (self.columns[first + middle * BIN] as usize).cmp(&column) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Some(first + middle * BIN),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }
}

/// Entries of the longest of some rows.
fn width(bin: &[u32], lengths: &[u32]) -> u32 {
    bin.iter().map(|&row| lengths[row as usize]).max().unwrap_or_default()
}

/// The order of rows of these lengths that leaves least to fill up; their own where no other is better.
fn in_bins(lengths: &[u32]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..lengths.len() as u32).collect();
    for rows in order.chunks_mut(WINDOW) {
        let slots = |rows: &[u32]| rows.chunks(BIN).map(|bin| u64::from(width(bin, lengths))).sum::<u64>();
        let as_they_are = slots(rows);
        // No other order needs fewer slots: the n-th bin cannot be narrower than the longest row that the bins before it have no room for.
        let mut by_length = rows.to_vec();
        by_length.sort_by_key(|&row| std::cmp::Reverse(lengths[row as usize]));
        if slots(&by_length) < as_they_are {
            rows.copy_from_slice(&by_length);
        }
    }
    order
}

/// A matrix of numbers (`SIDE` is 1) or of blocks (3).
#[derive(Clone, Debug, PartialEq)]
pub struct BinMatrix<const SIDE: usize> {
    /// Where the entries are.
    pub pattern: Pattern,
    /// The diagonal: a plane for each number of a block, each with all rows of all bins.
    pub diagonal: Vec<f64>,
    /// The rest: a plane for each number of a block, each with all slots; 0 where there is no entry.
    pub values: Vec<f64>,
}

/// Numbers.
pub type BinCsr = BinMatrix<1>;
/// Blocks of 3 × 3.
pub type BinBcsr = BinMatrix<3>;

impl<const SIDE: usize> BinMatrix<SIDE> {
    /// Without any value.
    pub fn zeros(pattern: Pattern) -> Self {
        let diagonal = vec![0.0; SIDE * SIDE * pattern.padded_row_count()];
        let values = vec![0.0; SIDE * SIDE * pattern.columns.len()];
        BinMatrix { pattern, diagonal, values }
    }

    /// From the entries of each row, in any order; what is there more than once is added up. None if there is no such column.
    pub fn from_rows(rows: &Rows<(u32, Block<SIDE>)>) -> Option<Self> {
        let columns: Rows<u32> = rows.iter().map(|row| row.iter().map(|entry| entry.0)).collect();
        let mut matrix = Self::zeros(Pattern::new(&columns)?);
        for (row, entries) in rows.iter().enumerate() {
            for (column, block) in entries {
                matrix.add(row, *column as usize, block);
            }
        }
        Some(matrix)
    }

    /// Add to an entry that the pattern has.
    pub fn add(&mut self, row: usize, column: usize, block: &Block<SIDE>) {
        let (planes, stride, at) = if row == column {
            (&mut self.diagonal, self.pattern.padded_row_count(), row)
        } else {
            let Some(slot) = self.pattern.slot(row, column) else { return };
            (&mut self.values, self.pattern.columns.len(), slot)
        };
        for (plane, value) in block.as_flattened().iter().enumerate() {
            planes[plane * stride + at] += value;
        }
    }

    /// `out = A x`, with `SIDE` numbers a row.
    pub fn multiply(&self, x: &[f64], out: &mut [f64]) {
        let pattern = &self.pattern;
        let (padded, slots) = (pattern.padded_row_count(), pattern.columns.len());
        for (row, out) in out.chunks_exact_mut(SIDE).enumerate() {
            for (i, out) in out.iter_mut().enumerate() {
                let part = |planes: &[f64], stride: usize, at: usize, column: usize| -> f64 {
                    (0..SIDE).map(|j| planes[(SIDE * i + j) * stride + at] * x[SIDE * column + j]).sum()
                };
                let rest = pattern.slots(row);
                *out = part(&self.diagonal, padded, row, row)
                    + rest.map(|s| part(&self.values, slots, s, pattern.columns[s] as usize)).sum::<f64>();
            }
        }
    }
}

/// Which local contributions add up to each entry of a symmetric matrix, always in the same order.
///
/// A source is the number of a contribution, times two, and one more where its transpose is meant.
#[derive(Clone, Debug, PartialEq)]
pub struct Assembly {
    /// Of each row's diagonal.
    pub of_diagonal: Rows<u32>,
    /// Of each slot.
    pub of_slots: Rows<u32>,
}

impl Assembly {
    /// For contributions at these rows and columns; each one off the diagonal stands for itself and its mirror image.
    pub fn new(row_count: usize, places: &[[u32; 2]]) -> Option<(Pattern, Self)> {
        let mut columns: Vec<Vec<u32>> = vec![Vec::new(); row_count];
        for &[row, column] in places {
            columns.get_mut(row as usize)?.push(column);
            columns.get_mut(column as usize)?.push(row);
        }
        let pattern = Pattern::new(&columns.into_iter().collect())?;
        let mut of_diagonal: Vec<Vec<u32>> = vec![Vec::new(); pattern.padded_row_count()];
        let mut of_slots: Vec<Vec<u32>> = vec![Vec::new(); pattern.columns.len()];
        for (number, &[row, column]) in places.iter().enumerate() {
            let [row, column, source] = [row as usize, column as usize, 2 * number];
            if row == column {
                of_diagonal[row].push(source as u32);
            } else {
                of_slots[pattern.slot(row, column)?].push(source as u32);
                of_slots[pattern.slot(column, row)?].push(source as u32 + 1);
            }
        }
        let [of_diagonal, of_slots] = [of_diagonal, of_slots].map(|lists| lists.into_iter().collect());
        Some((pattern, Assembly { of_diagonal, of_slots }))
    }

    /// Add them up.
    pub fn assemble<const SIDE: usize>(&self, local: &[Block<SIDE>], matrix: &mut BinMatrix<SIDE>) {
        for (lists, planes) in [(&self.of_diagonal, &mut matrix.diagonal), (&self.of_slots, &mut matrix.values)] {
            for (at, sources) in lists.iter().enumerate() {
                for (i, j) in (0..SIDE).flat_map(|i| (0..SIDE).map(move |j| (i, j))) {
                    let value = |&source: &u32| {
                        let block = &local[source as usize / 2];
                        if source % 2 == 0 { block[i][j] } else { block[j][i] }
                    };
                    planes[(SIDE * i + j) * lists.len() + at] = sources.iter().map(value).sum();
                }
            }
        }
    }
}
