//! Preconditioned conjugate gradients.
//!
//! Based on: [Bender14 §5.3.1.2], algorithm 5.3 with its line 20 as `d ← s + β d`
//! Idea:     starts from what is known, ends when the residual is a given part of the right-hand side (not of the first residual: a
//!           good start would never end).
//! Test:     tests/algorithms/conjugate_gradient.rs

/// Memory of a solve.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    residual: Vec<f64>,
    direction: Vec<f64>,
    preconditioned: Vec<f64>,
    product: Vec<f64>,
}

/// Solve `A x = b` from the `x` given, until `|r|² ≤ (tolerance |b|)²` or after `most` iterations; how many it took. `multiply` is
/// `out = A x`, `precondition` replaces its argument by an approximate solution.
pub fn solve(
    right: &[f64],
    x: &mut [f64],
    tolerance: f64,
    most: u32,
    scratch: &mut Scratch,
    mut multiply: impl FnMut(&[f64], &mut [f64]),
    mut precondition: impl FnMut(&mut Vec<f64>),
) -> u32 {
    let Scratch { residual: r, direction: d, preconditioned: s, product: q } = scratch;
    let n = right.len();
    q.resize(n, 0.0);
    multiply(x, q);
    r.clear();
    r.extend(right.iter().zip(&*q).map(|(b, q)| b - q));
    let limit = tolerance * tolerance * dot(right, right);
    s.clone_from(r);
    precondition(s);
    d.clone_from(s);
    let mut rs = dot(r, s);
    for iteration in 0..most {
        // Also ends where numbers have ended.
        if dot(r, r).is_nan() || dot(r, r) <= limit || rs <= 0.0 {
            return iteration;
        }
        multiply(d, q);
        let curvature = dot(d, q);
        if curvature.is_nan() || curvature <= 0.0 {
            return iteration;
        }
        let alpha = rs / curvature;
        for i in 0..n {
            x[i] += alpha * d[i];
            r[i] -= alpha * q[i];
        }
        s.clone_from(r);
        precondition(s);
        let next = dot(r, s);
        let beta = next / rs;
        rs = next;
        for i in 0..n {
            d[i] = s[i] + beta * d[i];
        }
    }
    most
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
