//! Collects promises that were broken, vertex by vertex.

use std::collections::BTreeMap;

use crate::model::{Broken, Promise};

/// Vertices by what they broke with whom.
#[derive(Debug, Default)]
pub struct Breaks(BTreeMap<(Promise, Option<usize>), Vec<u32>>);

impl Breaks {
    /// A vertex for which a promise was broken; more than once is fine.
    pub fn add(&mut self, promise: Promise, with: Option<usize>, vertex: u32) {
        self.0.entry((promise, with)).or_default().push(vertex);
    }
}

impl From<Breaks> for Vec<Broken> {
    fn from(breaks: Breaks) -> Self {
        let broken = |((promise, with), mut vertices): (_, Vec<u32>)| {
            vertices.sort_unstable();
            vertices.dedup();
            Broken { promise, with, vertices }
        };
        breaks.0.into_iter().map(broken).collect()
    }
}
