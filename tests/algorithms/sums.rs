//! Sums that lose nothing.

use kiln::math::sums::compensated_sum;

use crate::{Random, assert_close};

#[test]
fn large_terms_that_cancel_leave_the_small_ones() {
    assert_close(compensated_sum([1.0, 1e100, 1.0, -1e100]), 2.0, 0.0);
    assert_close(compensated_sum([1e16, 1.0, -1e16]), 1.0, 0.0);
    assert_close(compensated_sum([]), 0.0, 0.0);
}

#[test]
fn a_million_tenths_are_a_hundred_thousand() {
    assert_close(compensated_sum(std::iter::repeat_n(0.1, 1_000_000)), 100_000.0, 0.0);
}

#[test]
fn it_agrees_with_exact_whole_number_sums() {
    let mut random = Random(130);
    let terms: Vec<i64> = (0..100_000).map(|_| random.bits() as i64 >> 12).collect();
    let exact: i128 = terms.iter().map(|t| i128::from(*t)).sum();
    assert_close(compensated_sum(terms.iter().map(|t| *t as f64)), exact as f64, 0.0);
}
