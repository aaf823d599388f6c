//! The volume that triangles take up: closed, open, crossing, flipped and hardly there.

use kiln::algorithms::volume::pseudo_volume::{
    LatticeError, Plan, PseudoVolume, Resolution, Sample, Settings, Threshold, estimate_bytes,
};
use kiln::math::Vec3;
use rayon::prelude::*;

use crate::{Mesh, Random, assert_close};

/// Triangles without any promise.
#[derive(Clone)]
pub struct Soup {
    pub positions: Vec<Vec3>,
    pub triangles: Vec<[u32; 3]>,
}

impl Soup {
    pub fn ball(times: u32) -> Soup {
        let mesh = Mesh::icosphere(times);
        Soup { positions: mesh.positions, triangles: mesh.triangles }
    }

    /// A surface over a grid of two angles that close on themselves or not.
    fn over_grid(columns: u32, rows: u32, wraps_rows: bool, at: impl Fn(f64, f64) -> Vec3) -> Soup {
        let row_count = if wraps_rows { rows } else { rows + 1 };
        let place = |j: u32, i: u32| at(f64::from(i) / f64::from(columns), f64::from(j) / f64::from(rows));
        let positions =
            (0..row_count).flat_map(|j| (0..columns).map(move |i| (j, i))).map(|(j, i)| place(j, i)).collect();
        let number = |j: u32, i: u32| (j % row_count) * columns + i % columns;
        let quad = |j: u32, i: u32| [number(j, i), number(j, i + 1), number(j + 1, i + 1), number(j + 1, i)];
        let halves = |[a, b, c, d]: [u32; 4]| [[a, b, c], [a, c, d]];
        let triangles = (0..rows).flat_map(|j| (0..columns).flat_map(move |i| halves(quad(j, i)))).collect();
        Soup { positions, triangles }
    }

    pub fn torus(major: f64, minor: f64, columns: u32, rows: u32) -> Soup {
        let turn = std::f64::consts::TAU;
        Soup::over_grid(columns, rows, true, |u, v| {
            let radius = major + minor * (v * turn).cos();
            Vec3::new(radius * (u * turn).cos(), minor * (v * turn).sin(), -radius * (u * turn).sin())
        })
    }

    /// A ball with bumps, symmetric in x but neither in y nor in z: positions and triangles are mirrored to the last bit.
    pub fn bumpy(times: u32) -> Soup {
        let mut soup = Soup::ball(times);
        for p in &mut soup.positions {
            let along = p.x.abs();
            *p *= 1.0 + 0.15 * (4.0 * p.y + 0.7).sin() + 0.1 * (5.0 * p.z - 0.3).cos() + 0.2 * along * along;
        }
        soup
    }

    /// The same from quads over two angles: 52 thousand triangles, those at the poles without area.
    pub fn bumpy_scan() -> Soup {
        let turn = std::f64::consts::TAU;
        Soup::over_grid(230, 114, false, |u, v| {
            let (up, around) = ((0.5 * v * turn).cos(), (0.5 * v * turn).sin());
            let p = Vec3::new(around * (u * turn).cos(), up, -around * (u * turn).sin());
            p * (1.0 + 0.15 * (4.0 * p.y + 0.7).sin() + 0.1 * (5.0 * p.z - 0.3).cos() + 0.2 * p.x * p.x)
        })
    }

    /// Twelve triangles, outwards.
    pub fn cuboid(low: Vec3, high: Vec3) -> Soup {
        let positions =
            (0..8).map(|k| Vec3::from_fn(|axis, _| if k >> axis & 1 == 0 { low[axis] } else { high[axis] })).collect();
        let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let triangles = quads.iter().flat_map(|&[a, b, c, d]: &[u32; 4]| [[a, b, c], [a, c, d]]).collect();
        Soup { positions, triangles }
    }

    pub fn cube(half: f64) -> Soup {
        Soup::cuboid(Vec3::repeat(-half), Vec3::repeat(half))
    }

    /// Every triangle in four, `times` times, without shared vertices.
    pub fn finer(&self, times: u32) -> Soup {
        let mut corners: Vec<[Vec3; 3]> =
            self.triangles.iter().map(|t| t.map(|v| self.positions[v as usize])).collect();
        for _ in 0..times {
            corners = corners
                .iter()
                .flat_map(|&[a, b, c]| {
                    let [p, q, r] = [(b + c) / 2.0, (c + a) / 2.0, (a + b) / 2.0];
                    [[a, r, q], [b, p, r], [c, q, p], [p, q, r]]
                })
                .collect();
        }
        Soup {
            triangles: (0..corners.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect(),
            positions: corners.into_iter().flatten().collect(),
        }
    }

    pub fn and(mut self, other: &Soup) -> Soup {
        let first = self.positions.len() as u32;
        self.positions.extend(&other.positions);
        self.triangles.extend(other.triangles.iter().map(|t| t.map(|v| v + first)));
        self
    }

    pub fn moved(mut self, map: impl Fn(Vec3) -> Vec3) -> Soup {
        self.positions.iter_mut().for_each(|p| *p = map(*p));
        self
    }

    pub fn keep(mut self, keep: impl Fn(Vec3) -> bool) -> Soup {
        let positions = &self.positions;
        self.triangles.retain(|t| keep(t.iter().map(|&v| positions[v as usize]).sum::<Vec3>() / 3.0));
        self
    }

    /// By the divergence theorem; of a closed mesh.
    pub fn own_volume(&self) -> f64 {
        let under = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| self.positions[v as usize]);
            a.dot(&b.cross(&c)) / 6.0
        };
        self.triangles.iter().map(under).sum()
    }

    pub fn plan(&self, settings: &Settings) -> Result<Plan, LatticeError> {
        Plan::build(&self.positions, &self.triangles, settings)
    }
}

/// The layers of a field, on two threads as the caller would.
pub fn slabs(plan: &Plan) -> Vec<Vec<Sample>> {
    (0..plan.slab_count()).into_par_iter().map(|z| plan.slab(z)).collect()
}

pub fn cells_of(cell: f64) -> Settings {
    Settings { resolution: Resolution::Cell(cell), ..Settings::default() }
}

fn volume_of(soup: &Soup, settings: &Settings) -> PseudoVolume {
    let plan = soup.plan(settings).unwrap();
    PseudoVolume::classify(&plan, &slabs(&plan), settings).unwrap()
}

/// How far the volume is off, as a part of `expected`.
fn error(soup: &Soup, settings: &Settings, expected: f64) -> f64 {
    volume_of(soup, settings).volume / expected - 1.0
}

pub fn turned(soup: Soup) -> Soup {
    let turn = nalgebra::Rotation3::from_euler_angles(0.3, 0.5, 0.7);
    soup.moved(|p| turn * p)
}

pub fn closed_bodies() -> Vec<(&'static str, Soup)> {
    vec![
        ("ball", Soup::ball(3)),
        ("ball beside", Soup::ball(3).moved(|p| p * 0.03 + Vec3::new(7.137, -3.2, 0.071))),
        ("cube", Soup::cube(0.5)),
        ("turned cube", turned(Soup::cube(0.5))),
        ("torus", Soup::torus(1.0, 0.35, 64, 32)),
        ("turned torus", turned(Soup::torus(1.0, 0.35, 64, 32))),
        ("bumpy ball", Soup::bumpy(3)),
    ]
}

pub fn longest(soup: &Soup) -> f64 {
    let (low, high) = kiln::mesh::measures::bounds(soup.positions.iter().copied()).unwrap();
    (high - low).max()
}

#[test]
fn a_closed_body_has_its_own_volume() {
    for (name, soup) in closed_bodies() {
        for cells in [6.0, 10.0, 17.3, 31.0] {
            let error = error(&soup, &cells_of(longest(&soup) / cells), soup.own_volume());
            assert!(error.abs() < 0.01, "{name} at {cells} cells: off by {error}");
        }
    }
}

#[test]
fn a_thin_body_has_about_its_own_volume() {
    let bodies = [
        ("ring of 7 voxels", Soup::torus(1.0, 0.12, 64, 32), 0.1, 0.03),
        ("ring of 3 voxels", Soup::torus(1.0, 0.05, 64, 32), 0.1, 0.1),
        ("plate", Soup::cuboid(Vec3::new(-0.5, -0.02, -0.5), Vec3::new(0.5, 0.02, 0.5)), 0.1, 0.03),
        ("turned plate", turned(Soup::cuboid(Vec3::new(-0.5, -0.02, -0.5), Vec3::new(0.5, 0.02, 0.5))), 0.1, 0.03),
    ];
    for (name, soup, cell, tolerance) in bodies {
        let error = error(&soup, &cells_of(cell), soup.own_volume());
        assert!(error.abs() < tolerance, "{name}: off by {error}");
    }
}

#[test]
fn holes_and_a_missing_lid_are_closed() {
    let cube = Soup::cube(0.5).finer(4);
    let open = cube.clone().keep(|p| p.y < 0.49);
    assert!(open.triangles.len() * 6 == cube.triangles.len() * 5);
    assert!(error(&open, &cells_of(0.1), 1.0).abs() < 0.03);
    assert!(error(&turned(open), &cells_of(0.1), 1.0).abs() < 0.05);
    let mut random = Random(71);
    let mut holed = cube;
    holed.triangles.retain(|_| random.below(10) > 0);
    assert!(error(&holed, &cells_of(0.1), 1.0).abs() < 0.03);
    let window = Soup::ball(4).keep(|p| p.normalize().dot(&Vec3::new(1.0, 2.0, 3.0).normalize()) < 0.93);
    assert!(window.triangles.len() < 20 * 4usize.pow(4) - 100);
    assert!(error(&window, &cells_of(0.2), Soup::ball(4).own_volume()).abs() < 0.03);
}

#[test]
fn neither_winding_nor_copies_nor_fans_matter() {
    let mut random = Random(72);
    let ball = Soup::ball(3);
    let plain = volume_of(&ball, &cells_of(0.2));
    let mut flipped = ball.clone();
    flipped.triangles.iter_mut().filter(|_| random.below(2) == 0).for_each(|t| t.swap(0, 2));
    assert_eq!(volume_of(&flipped, &cells_of(0.2)), plain);
    let doubled = ball.clone().and(&flipped);
    assert_eq!(volume_of(&doubled, &cells_of(0.2)), plain);
    // Triangles without area, and unused vertices far away.
    let mut ragged = ball.clone();
    ragged.triangles.extend([[0, 0, 1], [5, 5, 5], [7, 8, 7], [9, 10, 10]]);
    ragged.positions.push(Vec3::repeat(100.0));
    assert_close(volume_of(&ragged, &cells_of(0.2)).volume, plain.volume, 0.01 * plain.volume);
    // A wall inside that shares its edges with the surface, three faces an edge, and lies on it elsewhere.
    let fan = Soup::cube(0.5).and(&Soup::cube(0.5).moved(|p| Vec3::new(p.x * 0.5 + 0.25, p.y, p.z)));
    for soup in [fan.clone(), turned(fan)] {
        assert!(error(&soup, &cells_of(0.1), 1.0).abs() < 0.03);
    }
}

#[test]
fn bodies_beside_and_across_each_other_add_up() {
    let two = Soup::cube(0.5).and(&Soup::ball(3).moved(|p| p * 0.5 + Vec3::new(2.0, 0.3, 0.1)));
    assert!(error(&two, &cells_of(0.15), 1.0 + Soup::ball(3).own_volume() / 8.0).abs() < 0.03);
    let across = Soup::cube(0.5).and(&Soup::cube(0.5).moved(|p| p + Vec3::new(0.5, 0.25, 0.3)));
    let shared = 0.5 * 0.75 * 0.7;
    for soup in [across.clone(), turned(across)] {
        let filled = volume_of(&soup, &cells_of(0.1));
        assert_close(filled.volume, 2.0 - shared, 0.03 * 2.0);
        assert!(filled.cavity_count > 0);
        let kept = volume_of(&soup, &Settings { fills_cavities: false, ..cells_of(0.1) });
        assert_close(kept.volume, 2.0 - 2.0 * shared, 0.05 * 2.0);
        assert_eq!(kept.cavity_count, 0);
    }
    let hollow = Soup::ball(3).and(&Soup::ball(3).moved(|p| p * 0.5));
    let kept = Settings { fills_cavities: false, ..cells_of(0.2) };
    assert!(error(&hollow, &kept, 0.875 * Soup::ball(3).own_volume()).abs() < 0.02);
}

/// Along one ray, sample by sample, as the thesis says it.
fn is_odd(samples: &[Vec<Sample>], voxels: [usize; 3], from: [usize; 3], step: [i64; 3], settings: &Settings) -> bool {
    let voxel = 1.0;
    let largest = samples.iter().flatten().map(|s| f64::from(s.distance)).fold(0.0, f64::max);
    let length = (step.iter().map(|s| s * s).sum::<i64>() as f64).sqrt();
    let (mut at, mut armed, mut count) = (from.map(|x| x as i64), true, 0);
    while (0..3).all(|axis| (0..voxels[axis] as i64).contains(&at[axis])) {
        let sample = samples[at[2] as usize][at[1] as usize * voxels[0] + at[0] as usize];
        let distance = f64::from(sample.distance);
        let slope = (0..3).map(|k| f64::from(sample.toward[k]) * step[k] as f64).sum::<f64>();
        let p = 1.0 - distance / largest;
        let is_above = match settings.k1 {
            Threshold::P(k1) => p > k1,
            Threshold::Voxels(k1) => distance / (slope / (distance * length)) < k1 * length * voxel,
        };
        let is_below = match settings.k2 {
            Threshold::P(k2) => p < k2,
            Threshold::Voxels(k2) => distance > k2 * length * voxel,
        };
        let (rises, falls) = (slope > 1e-5, slope < -1e-5);
        if armed && (is_above && rises || distance < 1e-5) {
            count += 1;
            armed = false;
        } else if !armed && is_below && falls {
            armed = true;
        }
        at = [0, 1, 2].map(|k| at[k] + step[k]);
    }
    count % 2 == 1
}

#[test]
fn the_recursion_counts_what_single_rays_count() {
    // Voxels of 1 m; a shape that is nowhere in line with them.
    let soup =
        turned(Soup::torus(1.0, 0.45, 24, 12)).moved(|p| p * 5.0).and(&turned(Soup::cube(1.7)).keep(|p| p.y < 1.0));
    for (k1, k2) in [
        (Threshold::Voxels(1.25), Threshold::Voxels(0.25)),
        (Threshold::Voxels(1.0), Threshold::Voxels(1.0)),
        (Threshold::P(0.85), Threshold::P(0.9)),
    ] {
        let settings = Settings { k1, k2, voxels_per_edge: Some(2), fills_cavities: false, ..cells_of(2.0) };
        let plan = soup.plan(&settings).unwrap();
        let (slabs, voxels) = (slabs(&plan), plan.grid().voxels());
        let found = PseudoVolume::classify(&plan, &slabs, &settings).unwrap();
        let mut differing = 0;
        for at in 0..found.inside.len() {
            let from = [at % voxels[0], at / voxels[0] % voxels[1], at / (voxels[0] * voxels[1])];
            let mut odd = 0;
            for k in (0..27).filter(|k| *k != 13) {
                let step = [k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1];
                odd += usize::from(is_odd(&slabs, voxels, from, step, &settings));
            }
            differing += usize::from(found.inside[at] != (odd > 13));
        }
        assert!(found.inside_count > 100 && found.inside_count < found.inside.len());
        // Single and double precision may decide differently at a threshold.
        assert!(differing <= found.inside.len() / 2000, "{differing} of {} with {k1:?}", found.inside.len());
    }
}

#[test]
fn samples_are_the_nearest_points() {
    let soup = Soup::bumpy(2);
    let brute = |p: Vec3| {
        let distances = soup.triangles.iter().map(|t| {
            let corners = t.map(|v| soup.positions[v as usize]);
            (kiln::mesh::closest::closest_on_triangle(p, corners).0 - p).norm()
        });
        distances.fold(f64::INFINITY, f64::min)
    };
    let by_voxels = Settings { voxels_per_edge: Some(2), ..cells_of(0.3) };
    let by_p = Settings { k1: Threshold::P(0.9), ..by_voxels };
    for (settings, reach) in [(by_voxels, 0.15 * (1.25 * 3.0_f64.sqrt() + 1.0)), (by_p, f64::INFINITY)] {
        let plan = soup.plan(&settings).unwrap();
        let [nx, ny, _] = plan.grid().voxels();
        let mut beyond = 0;
        for (z, slab) in slabs(&plan).iter().enumerate() {
            assert_eq!(*slab, plan.slab(z), "a layer depends on another");
            for (n, sample) in slab.iter().enumerate() {
                let p = plan.grid().voxel_centre([n % nx, n / nx % ny, z]) + plan.grid().centre;
                let distance = brute(p);
                assert_close(f64::from(sample.distance), distance.min(reach), 1e-6);
                let toward = Vec3::from(sample.toward.map(f64::from));
                if distance < reach - 1e-6 {
                    assert!(brute(p + toward) < 1e-6 || toward.norm() < distance - 1e-6);
                } else if distance > reach {
                    beyond += 1;
                    assert_eq!(toward, Vec3::zeros());
                }
            }
        }
        assert_eq!(beyond > 0, reach.is_finite());
    }
}

#[test]
fn mirrored_bodies_have_mirrored_fields() {
    // Many voxels of a cube are equally near to several of its sides, whose triangles are not mirrored.
    let crooked = turned(Soup::bumpy(2).moved(|p| p + Vec3::new(0.1 * p.y * p.z, 0.0, 0.2 * p.x)));
    for soup in [Soup::cube(0.5), crooked] {
        let mirrored = soup.clone().moved(|p| Vec3::new(-p.x, p.y, p.z));
        let settings = Settings { k1: Threshold::P(0.9), ..cells_of(longest(&soup) / 8.0) };
        let [here, there] = [&soup, &mirrored].map(|soup| soup.plan(&settings).unwrap());
        assert_eq!(here.grid().voxels(), there.grid().voxels());
        let nx = here.grid().voxels()[0];
        for (here, there) in slabs(&here).iter().zip(&slabs(&there)) {
            for n in 0..here.len() {
                let (one, other) = (here[n], there[n - n % nx + (nx - 1 - n % nx)]);
                assert_close(f64::from(one.distance), f64::from(other.distance), 1e-6);
                let [x, y, z] = other.toward.map(f64::from);
                assert!((Vec3::from(one.toward.map(f64::from)) - Vec3::new(-x, y, z)).norm() < 1e-6);
            }
        }
    }
}

#[test]
fn the_grid_is_even_centred_and_holds_the_body() {
    for (name, soup) in closed_bodies() {
        for cells in [1.0, 3.3, 10.0] {
            let cell = longest(&soup) / cells;
            let plan = soup.plan(&cells_of(cell)).unwrap();
            let grid = plan.grid();
            assert!(grid.cells.iter().all(|n| n % 2 == 0), "{name}");
            assert!((2..=8).contains(&grid.voxels_per_edge));
            let (low, high) = (grid.node([0; 3]), grid.node(grid.cells));
            assert_eq!(low, -high);
            let fits = |p: &Vec3| (0..3).all(|k| p[k] - low[k] > 0.99 * cell && high[k] - p[k] > 0.99 * cell);
            assert!(plan.positions().iter().all(fits), "{name}: no padding");
        }
    }
}

#[test]
fn automatic_and_counted_cells_are_about_as_many_as_promised() {
    for (name, soup) in closed_bodies() {
        let tets = |resolution: Resolution| {
            let plan = soup.plan(&Settings { resolution, ..Settings::default() }).unwrap();
            5.0 * soup.own_volume() / plan.grid().cell.powi(3)
        };
        let automatic = tets(Resolution::Auto);
        assert!((1500.0..25_000.0).contains(&automatic), "{name}: {automatic}");
        for count in [500, 3000, 40_000] {
            let counted = tets(Resolution::Count(count));
            assert_close(counted, f64::from(count), 0.1 * f64::from(count));
        }
    }
}

#[test]
fn what_cannot_be_is_said_before_anything_is_allocated() {
    let ball = Soup::ball(1);
    let refused = |soup: &Soup, settings: &Settings| soup.plan(settings).map(|plan| *plan.grid()).unwrap_err();
    for cell in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(refused(&ball, &cells_of(cell)), LatticeError::CellInvalid { .. }));
    }
    for cell in [1e-9, 1e-300, 0.001] {
        let LatticeError::CellTooSmall { needed, allowed, fits, .. } = refused(&ball, &cells_of(cell)) else {
            panic!("{cell} is too small");
        };
        assert!(needed > allowed);
        let grid = *ball.plan(&cells_of(fits)).unwrap().grid();
        let bytes = estimate_bytes(grid.cell_count() as f64, grid.voxel_count() as f64);
        assert!(bytes <= allowed as f64 && bytes > 0.3 * allowed as f64, "{fits}: {bytes} of {allowed}");
    }
    let text = refused(&ball, &cells_of(1e-3)).to_string();
    assert!(text.contains("0.001 m") && text.contains("2048 MiB") && text.contains("would fit"), "{text}");
    let mut broken = ball.clone();
    broken.positions[17].y = f64::NAN;
    assert_eq!(refused(&broken, &cells_of(0.1)), LatticeError::NotFinite { vertex: 17 });
    broken.positions[17].y = f64::INFINITY;
    assert_eq!(refused(&broken, &Settings::default()), LatticeError::NotFinite { vertex: 17 });
    broken.positions[17] = Vec3::repeat(1e308);
    broken.positions[18] = Vec3::repeat(-1e308);
    assert!(matches!(refused(&broken, &Settings::default()), LatticeError::NotFinite { .. }));
    let mut broken = ball.clone();
    broken.triangles[5][1] = 4000;
    assert_eq!(refused(&broken, &cells_of(0.1)), LatticeError::MissingVertex { triangle: 5 });
    broken.triangles.clear();
    assert_eq!(refused(&broken, &cells_of(0.1)), LatticeError::NoTriangle);
    let point = ball.clone().moved(|_| Vec3::x());
    assert_eq!(refused(&point, &Settings::default()), LatticeError::NoExtent);
    for settings in [
        Settings { density: 1.0, ..Settings::default() },
        Settings { density: f64::NAN, ..Settings::default() },
        Settings { k1: Threshold::P(1.5), ..Settings::default() },
        Settings { k2: Threshold::Voxels(-1.0), ..Settings::default() },
        Settings { voxels_per_edge: Some(0), ..Settings::default() },
        Settings { voxels_per_edge: Some(65), ..Settings::default() },
        Settings { resolution: Resolution::Count(0), ..Settings::default() },
    ] {
        assert!(matches!(refused(&ball, &settings), LatticeError::SettingInvalid { .. }), "{settings:?}");
    }
    assert!(matches!(
        refused(&ball, &Settings { memory: 0, ..Settings::default() }),
        LatticeError::CellTooSmall { .. }
    ));
    let settings = cells_of(0.5);
    let plan = ball.plan(&settings).unwrap();
    let few = plan.slab(0);
    assert_eq!(PseudoVolume::classify(&plan, &[few], &settings).unwrap_err(), LatticeError::FieldIncomplete);
}
