//! Sums in a fixed order, so that they do not depend on the thread count.

/// Terms added up one after the other with Neumaier's compensation: exact to the last bits for millions of terms.
pub fn compensated_sum(terms: impl IntoIterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0_f64);
    for term in terms {
        let next = sum + term;
        lost += if sum.abs() >= term.abs() { (sum - next) + term } else { (term - next) + sum };
        sum = next;
    }
    sum + lost
}
