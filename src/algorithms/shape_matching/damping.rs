//! Damping that leaves regions free to move and turn as a whole.
//!
//! Based on: [Bender14 §4.4.2.2] (Dämpfung); Müller, Heidelberger, Hennix and Ratcliff 2007; Rivers and James 2007 for regions
//! Idea:     each region has the velocity and spin that its momentum gives it; a particle's velocity is drawn to the mean of what the regions
//!           that hold it would give it. All sums are sums over regions, and with masses shared out as in `matching` momentum is kept.
//! Test:     tests/algorithms/damping.rs

use crate::math::{Mat3, Vec3};

/// A row of sums: `Σ m`, `Σ m x`, `Σ m v`, `Σ m x × v`, and the six different entries of `Σ m x xᵀ`.
pub type Motions = [f64; 16];
/// How a region moves: its spin, then its velocity where `x` is zero.
pub type Motion = [f64; 6];

/// Part of the mean inertia below which a region has none around some axis: its particles are on a line.
const THIN: f64 = 1e-9;

/// A particle's part of the sums.
#[inline(always)]
pub fn motions(mass: f64, x: Vec3, v: Vec3) -> Motions {
    let (p, l) = (x * mass, x.cross(&v) * mass);
    [
        mass,
        p.x,
        p.y,
        p.z,
        v.x * mass,
        v.y * mass,
        v.z * mass,
        l.x,
        l.y,
        l.z,
        p.x * x.x,
        p.x * x.y,
        p.x * x.z,
        p.y * x.y,
        p.y * x.z,
        p.z * x.z,
    ]
}

/// How a region moves as a whole.
#[inline(always)]
pub fn motion(sums: &Motions) -> Motion {
    let [mass, px, py, pz, vx, vy, vz, lx, ly, lz, xx, xy, xz, yy, yz, zz] = *sums;
    let (centre, velocity) = (Vec3::new(px, py, pz) / mass, Vec3::new(vx, vy, vz) / mass);
    let momentum = Vec3::new(lx, ly, lz) - centre.cross(&velocity) * mass;
    let [xx, yy, zz] = [xx - px * centre.x, yy - py * centre.y, zz - pz * centre.z];
    let [xy, xz, yz] = [xy - px * centre.y, xz - px * centre.z, yz - py * centre.z];
    let inertia = Mat3::new(yy + zz, -xy, -xz, -xy, xx + zz, -yz, -xz, -yz, xx + yy);
    // The inverse from cofactors: it is symmetric.
    let (c00, c01, c02) = (
        inertia.m22 * inertia.m33 - yz * yz,
        inertia.m23 * inertia.m13 - inertia.m12 * inertia.m33,
        inertia.m12 * inertia.m23 - inertia.m22 * inertia.m13,
    );
    let (c11, c12, c22) = (
        inertia.m11 * inertia.m33 - xz * xz,
        inertia.m12 * inertia.m13 - inertia.m11 * inertia.m23,
        inertia.m11 * inertia.m22 - xy * xy,
    );
    let determinant = inertia.m11 * c00 + inertia.m12 * c01 + inertia.m13 * c02;
    let mean = (inertia.m11 + inertia.m22 + inertia.m33) / 3.0;
    let share = if mean > 0.0 && determinant > THIN * mean * mean * mean { 1.0 / determinant } else { 0.0 };
    let spin = Vec3::new(
        c00 * momentum.x + c01 * momentum.y + c02 * momentum.z,
        c01 * momentum.x + c11 * momentum.y + c12 * momentum.z,
        c02 * momentum.x + c12 * momentum.y + c22 * momentum.z,
    ) * share;
    let at_zero = velocity - spin.cross(&centre);
    [spin.x, spin.y, spin.z, at_zero.x, at_zero.y, at_zero.z]
}

/// The velocity that the regions around a particle at `x` give it, from the sum of their motions.
#[inline(always)]
pub fn velocity(sum: &Motion, count: u32, x: Vec3) -> Vec3 {
    let share = 1.0 / f64::from(count);
    Vec3::new(sum[0], sum[1], sum[2]).cross(&x) * share + Vec3::new(sum[3], sum[4], sum[5]) * share
}
