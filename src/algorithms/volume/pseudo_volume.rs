//! The space that a body takes up, from any triangles: open, holed, crossing each other, wound either way round.
//!
//! Based on: [Bender14 §4.4.1.1] (Pseudovolumen); Spillmann, Wagner and Teschner 2006; Nooruddin and Turk 2003
//! Idea:     `P(x) = 1 - α |d(x)|` says how likely the surface is at `x`. A ray crosses it where `P > k₁` rises, and
//!           may cross again once `P < k₂` falls; of many rays from a voxel the majority votes inside (odd) or outside
//!           (even).
//! Deviates: `k₁` and `k₂` may be given in steps of the ray, because `α` depends on the padding; `k₁` is then measured
//!           along the ray, so that grazing the surface is not crossing it, and distances are needed near the surface
//!           alone; rays run through voxel centres in 26 directions, so that one pass from the border inwards answers a
//!           direction for all voxels; what only the inside surrounds is inside too (where bodies overlap, parity says
//!           outside).
//! Test:     tests/algorithms/pseudo_volume.rs

use std::fmt;

use crate::math::Vec3;
use crate::math::sums::compensated_sum;
use crate::mesh::bvh::Bvh;
use crate::mesh::closest::closest_on_triangle;
use crate::mesh::measures::{bounds, triangle_area};
use crate::mesh::tets::TETS_PER_CELL;

/// Where a user puts `k₁` or `k₂`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    /// A value of `P`, 0 to 1.
    P(f64),
    /// A distance from the surface in steps of a ray, which are voxels or their diagonals. For `k₁` it is measured
    /// along the ray, up to the plane of the surface: a ray that grazes the surface has a long way to it.
    Voxels(f64),
}

impl Threshold {
    /// The distance from the surface that it stands for [m].
    fn distance(self, step: f64, largest: f64) -> f64 {
        match self {
            Threshold::P(p) => (1.0 - p) * largest,
            Threshold::Voxels(voxels) => voxels * step,
        }
    }
}

/// How fine the lattice is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Resolution {
    /// Edge of a cell [m].
    Cell(f64),
    /// About so many tetrahedra.
    Count(u32),
    /// About ten cells across, some thousand tetrahedra.
    #[default]
    Auto,
}

/// What a user may choose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// How fine the lattice is.
    pub resolution: Resolution,
    /// Voxels along the edge of a cell; without it as many as make about 64 along the longest axis.
    pub voxels_per_edge: Option<u32>,
    /// `k₁`: a surface is crossed where `P` rises above it.
    pub k1: Threshold,
    /// `k₂`: the next crossing counts after `P` has fallen below it.
    pub k2: Threshold,
    /// Whether what only the inside surrounds is inside too.
    pub fills_cavities: bool,
    /// A cell belongs to the body if more than this part of its voxels does, 0 to 1.
    pub density: f64,
    /// Steps that smooth the surface and give it the volume; 0 leaves the plain lattice.
    pub smoothing: u32,
    /// What the lattice may take while it is made [bytes].
    pub memory: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            resolution: Resolution::Auto,
            voxels_per_edge: None,
            // The last sample before a flat surface is less than a step away from it; a curved one has its plane
            // farther on.
            k1: Threshold::Voxels(1.25),
            // What is a voxel thick still counts twice.
            k2: Threshold::Voxels(0.25),
            fills_cavities: true,
            // At a half the plain lattice of a ball has about the ball's volume. Somewhat less covers more of what is
            // thin, and the few hundredths too much are pressed out of the surface, which leaves better tetrahedra than
            // pulling it out does.
            density: 0.4,
            smoothing: 4,
            memory: 2 << 30,
        }
    }
}

/// Why there is no lattice.
#[derive(Clone, Debug, PartialEq)]
pub enum LatticeError {
    /// The mesh has no triangle.
    NoTriangle,
    /// A triangle names a vertex that is not there.
    MissingVertex {
        /// The triangle.
        triangle: usize,
    },
    /// A vertex is not at a finite place.
    NotFinite {
        /// The vertex.
        vertex: usize,
    },
    /// All vertices are at one place.
    NoExtent,
    /// The edge of a cell is no length.
    CellInvalid {
        /// What was given [m].
        cell: f64,
    },
    /// A setting is out of its range.
    SettingInvalid {
        /// Its name.
        setting: &'static str,
        /// What was given.
        value: f64,
        /// What would be valid, as a range in words.
        valid: &'static str,
    },
    /// The lattice would not fit into memory.
    CellTooSmall {
        /// Edge of a cell [m].
        cell: f64,
        /// What it would take [bytes].
        needed: u64,
        /// What it may take [bytes].
        allowed: u64,
        /// Edge of a cell that would fit [m].
        fits: f64,
    },
    /// The samples are not those of this plan.
    FieldIncomplete,
}

impl fmt::Display for LatticeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LatticeError::NoTriangle => write!(f, "the mesh has no triangle; a body needs a surface"),
            LatticeError::MissingVertex { triangle } => {
                write!(f, "triangle {triangle} names a vertex that is not in the mesh; export the mesh again")
            }
            LatticeError::NotFinite { vertex } => {
                write!(f, "vertex {vertex} is not at a finite place; export the mesh again")
            }
            LatticeError::NoExtent => {
                write!(f, "all vertices are at one place; a body needs an extent, check the mesh's scale")
            }
            LatticeError::CellInvalid { cell } => {
                write!(f, "a cell of {cell} m cannot be; give a length above 0, or a number of tetrahedra")
            }
            LatticeError::SettingInvalid { setting, value, valid } => {
                write!(f, "{setting} = {value} is out of range; give {valid}")
            }
            LatticeError::CellTooSmall { cell, needed, allowed, fits } => {
                write!(
                    f,
                    "cells of {cell} m would take {} MiB where {} MiB may be used; cells of {:.*} m would fit",
                    needed >> 20,
                    allowed >> 20,
                    (2.0 - fits.log10().floor()).clamp(0.0, 12.0) as usize,
                    fits
                )
            }
            LatticeError::FieldIncomplete => write!(f, "the distance field has other layers than its plan"),
        }
    }
}

impl std::error::Error for LatticeError {}

/// Cells are laid around the box with this many to spare on each side, so that rays begin outside and the surface can
/// bulge.
const PADDING: f64 = 1.0;

/// A box that is this part of a cell larger than its cells is rounding.
const COVER_ROUNDING: f64 = 1e-9;

/// Voxels that are wanted along the longest axis: they resolve a sixtieth of the body, and a few hundred thousand
/// distances take about a second.
const VOXELS_ALONG: f64 = 64.0;

/// Fewest and most voxels along the edge of a cell: one would make a cell's density yes or no, and more than eight do
/// not move the density by a hundredth.
const VOXELS_PER_EDGE: [f64; 2] = [2.0, 8.0];

/// Most voxels along the edge of a cell that can be asked for.
const MOST_VOXELS_PER_EDGE: u32 = 64;

/// Bytes of a voxel while the volume is found: its sample, the state of a ray, its votes, whether it is inside, and the
/// flood.
const VOXEL_BYTES: f64 = 28.0;

/// Bytes of a cell of the body while the lattice is made: five tetrahedra, their faces and edges while they are sorted,
/// and a node's copies.
const CELL_BYTES: f64 = 1000.0;

/// What a grid takes while it is made into tetrahedra, should all of it be inside [bytes].
pub fn estimate_bytes(cells: f64, voxels: f64) -> f64 {
    cells * CELL_BYTES + voxels * VOXEL_BYTES
}

/// Cubes around a body, an even number along each axis, and smaller cubes in them. Coordinates are relative to its
/// centre, so that a mirrored body has a mirrored grid to the last bit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    /// The middle of the body's box [m].
    pub centre: Vec3,
    /// Cells along each axis, even.
    pub cells: [usize; 3],
    /// Edge of a cell [m].
    pub cell: f64,
    /// Voxels along the edge of a cell.
    pub voxels_per_edge: usize,
}

impl Grid {
    /// Around a box; `Err` is what it would take in memory.
    fn cover(centre: Vec3, extent: Vec3, cell: f64, voxels_per_edge: usize, memory: u64) -> Result<Self, f64> {
        let along: [f64; 3] = std::array::from_fn(|axis| {
            let half = (0.5 * extent[axis] / cell - COVER_ROUNDING).ceil().max(0.0);
            2.0 * (half + PADDING)
        });
        let cells = along[0] * along[1] * along[2];
        let voxels = cells * (voxels_per_edge as f64).powi(3);
        let bytes = estimate_bytes(cells, voxels);
        // Voxels and nodes are numbered in 32 bits.
        if bytes.is_nan() || bytes > memory as f64 || voxels.max(2.0 * cells) >= f64::from(u32::MAX) {
            return Err(bytes);
        }
        Ok(Grid { centre, cells: along.map(|n| n as usize), cell, voxels_per_edge })
    }

    /// Edge of a voxel [m].
    pub fn voxel(&self) -> f64 {
        self.cell / self.voxels_per_edge as f64
    }

    /// Voxels along each axis.
    pub fn voxels(&self) -> [usize; 3] {
        self.cells.map(|n| n * self.voxels_per_edge)
    }

    /// How many voxels there are.
    pub fn voxel_count(&self) -> usize {
        self.voxels().iter().product()
    }

    /// How many cells there are.
    pub fn cell_count(&self) -> usize {
        self.cells.iter().product()
    }

    /// Number of a cell, x fastest.
    #[inline]
    pub fn cell_number(&self, [x, y, z]: [usize; 3]) -> usize {
        (z * self.cells[1] + y) * self.cells[0] + x
    }

    /// Where a cell is.
    #[inline]
    pub fn cell_place(&self, number: usize) -> [usize; 3] {
        let [nx, ny, _] = self.cells;
        [number % nx, number / nx % ny, number / (nx * ny)]
    }

    /// Middle of a voxel, from the centre [m].
    pub fn voxel_centre(&self, place: [usize; 3]) -> Vec3 {
        let (voxels, size) = (self.voxels(), self.voxel());
        Vec3::from_fn(|axis, _| (place[axis] as f64 + 0.5 - 0.5 * voxels[axis] as f64) * size)
    }

    /// A corner of cells, from the centre [m].
    pub fn node(&self, place: [usize; 3]) -> Vec3 {
        Vec3::from_fn(|axis, _| (place[axis] as f64 - 0.5 * self.cells[axis] as f64) * self.cell)
    }
}

/// What the distance field knows at a voxel's middle. Single precision is a millionth of a voxel here.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// Distance from the surface, at most the plan's reach [m].
    pub distance: f32,
    /// Towards the nearest point [m]; the mean where several are equally near, so that mirrored bodies have mirrored
    /// fields. Nothing beyond the reach.
    pub toward: [f32; 3],
}

/// A grid around triangles, and all that a voxel needs to find its distance from them.
#[derive(Clone, Debug)]
pub struct Plan {
    grid: Grid,
    /// Distances are measured so far, in voxels.
    reach: f64,
    /// Relative to the grid's centre.
    positions: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    bvh: Bvh,
}

/// Points whose distances differ by less than this part of a voxel are equally near.
const TIE: f64 = 1e-9;

/// Points within this part of a voxel are the same nearest point: triangles that share it do not count twice.
const SAME_POINT: f64 = 1e-6;

/// Most equally near points that are kept: the middle of a finely meshed ball has thousands.
const MOST_TIES: usize = 32;

/// Equally near points of the surface.
#[derive(Default)]
struct Ties {
    points: Vec<(f64, Vec3)>,
}

impl Plan {
    /// Choose a grid. Nothing is allocated for it before it is known to fit.
    pub fn build(positions: &[Vec3], triangles: &[[u32; 3]], settings: &Settings) -> Result<Self, LatticeError> {
        check_settings(settings)?;
        let (low, high) = check_mesh(positions, triangles)?;
        let (centre, extent) = (low + (high - low) * 0.5, high - low);
        let longest = extent.max();
        let positions: Vec<Vec3> = positions.iter().map(|p| p - centre).collect();
        let bvh = Bvh::build(&positions, triangles);
        let no_grid = Grid { centre, cells: [0; 3], cell: longest, voxels_per_edge: 1 };
        let reach = reach(settings);
        let mut plan = Plan { grid: no_grid, reach, positions, triangles: triangles.to_vec(), bvh };
        let cell = match settings.resolution {
            Resolution::Cell(cell) => cell,
            Resolution::Count(count) => plan.cell_for_count(extent, f64::from(count), settings)?,
            Resolution::Auto => plan.automatic_cell(extent, settings)?,
        };
        plan.grid = chosen_grid(centre, extent, cell, settings)?;
        Ok(plan)
    }

    /// The grid.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Vertices relative to the grid's centre [m].
    pub fn positions(&self) -> &[Vec3] {
        &self.positions
    }

    /// The triangles.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// How many layers of voxels there are along z: each may be filled by another thread.
    pub fn slab_count(&self) -> usize {
        self.grid.voxels()[2]
    }

    /// The distance field of one layer, x fastest.
    pub fn slab(&self, z: usize) -> Vec<Sample> {
        let [nx, ny, _] = self.grid.voxels();
        let mut samples = Vec::with_capacity(nx * ny);
        let mut ties = Ties::default();
        // A neighbour's nearest triangle bounds the search; the answer does not depend on it.
        let mut row_guess = 0;
        for y in 0..ny {
            let mut guess = row_guess;
            for x in 0..nx {
                let (sample, triangle) = self.sample(self.grid.voxel_centre([x, y, z]), guess, &mut ties);
                samples.push(sample);
                guess = triangle;
                if x == 0 {
                    row_guess = triangle;
                }
            }
        }
        samples
    }

    /// All layers, one after the other.
    pub fn slabs(&self) -> Vec<Vec<Sample>> {
        (0..self.slab_count()).map(|z| self.slab(z)).collect()
    }

    fn sample(&self, p: Vec3, guess: u32, ties: &mut Ties) -> (Sample, u32) {
        let (distance, toward, triangle) = self.nearest(p, guess, self.reach * self.grid.voxel(), ties);
        (Sample { distance: distance as f32, toward: [0, 1, 2].map(|axis| toward[axis] as f32) }, triangle)
    }

    /// The way from a point, relative to the grid's centre, to the surface; `None` if that is farther than this [m]. Of several that are equally
    /// short, their mean.
    pub fn way_to_surface(&self, p: Vec3, within: f64) -> Option<Vec3> {
        let (distance, toward, _) = self.nearest(p, 0, within, &mut Ties::default());
        (distance < within).then_some(toward)
    }

    /// Distance and way to the surface, and a triangle that is there.
    fn nearest(&self, p: Vec3, guess: u32, reach: f64, ties: &mut Ties) -> (f64, Vec3, u32) {
        let voxel = self.grid.voxel();
        let (tie, same) = (TIE * voxel, SAME_POINT * voxel);
        ties.points.clear();
        let mut best = reach;
        let mut best_triangle = guess;
        let mut visit = |triangle: u32| {
            let q = self.nearest_on(triangle, p);
            let distance = (q - p).norm();
            if distance < best {
                if distance < best - tie {
                    ties.points.clear();
                }
                (best, best_triangle) = (distance, triangle);
            }
            let is_new = |(_, known): &(f64, Vec3)| (known - q).norm() > same;
            if distance <= best + tie && ties.points.len() < MOST_TIES && ties.points.iter().all(is_new) {
                ties.points.push((distance, q));
            }
            (best + tie).powi(2)
        };
        let within = visit(guess);
        self.bvh.near(p, within, visit);
        let nearest = ties.points.iter().filter(|(distance, _)| *distance <= best + tie);
        let (sum, count) = nearest.fold((Vec3::zeros(), 0.0), |(sum, count), (_, q)| (sum + (q - p), count + 1.0));
        let toward: Vec3 = if count > 0.0 { sum / count } else { sum };
        (best, toward, best_triangle)
    }

    fn nearest_on(&self, triangle: u32, p: Vec3) -> Vec3 {
        let corners = self.triangles[triangle as usize].map(|v| self.positions[v as usize]);
        let q = closest_on_triangle(p, corners).0;
        if q.iter().all(|x| x.is_finite()) {
            return q;
        }
        // Corners that coincide leave an edge; a corner of it is near enough to what has no area.
        corners.into_iter().fold(corners[0], |near, q| if (q - p).norm() < (near - p).norm() { q } else { near })
    }

    /// About the volume, from a coarse field [m³].
    fn coarse_volume(&mut self, extent: Vec3, settings: &Settings) -> Result<f64, LatticeError> {
        let cell = extent.max() / COARSE_CELLS;
        self.grid = chosen_grid(self.grid.centre, extent, cell, &Settings { voxels_per_edge: Some(2), ..*settings })?;
        let slabs = self.slabs();
        Ok(PseudoVolume::classify(self, &slabs, settings)?.volume)
    }

    /// Half of what the triangles measure: of a closed plate one side [m²].
    fn half_area(&self) -> f64 {
        let area = |t: &[u32; 3]| triangle_area(t.map(|v| self.positions[v as usize]));
        0.5 * compensated_sum(self.triangles.iter().map(area))
    }

    fn cell_for_count(&mut self, extent: Vec3, count: f64, settings: &Settings) -> Result<f64, LatticeError> {
        let volume = self.coarse_volume(extent, settings)?;
        let cell = (TETS_PER_CELL as f64 * volume / count).cbrt();
        let half_area = self.half_area();
        // What is thinner than half a cell is covered by the cells that it passes through.
        if volume < 0.5 * cell * half_area || cell <= 0.0 {
            let cell = (TETS_PER_CELL as f64 * CELLS_PER_TOUCHED_SQUARE * half_area / count).sqrt();
            return Ok(if cell > 0.0 { cell } else { extent.max() * TETS_PER_CELL as f64 / count });
        }
        Ok(cell)
    }

    fn automatic_cell(&mut self, extent: Vec3, settings: &Settings) -> Result<f64, LatticeError> {
        let longest = extent.max();
        let shortest = extent.min().max(longest * MEANINGFUL_EXTENT);
        let cell = shortest / AUTOMATIC_CELLS;
        let volume = self.coarse_volume(extent, settings)?;
        let tets = |cell: f64| TETS_PER_CELL as f64 * volume / cell.powi(3);
        let cell_of = |tets: f64| (TETS_PER_CELL as f64 * volume / tets).cbrt();
        let [fewest, most] = AUTOMATIC_TETS;
        let cell = if tets(cell) > most {
            cell_of(most)
        } else if tets(cell) < fewest {
            cell_of(fewest)
        } else {
            cell
        };
        Ok(cell.max(longest / MOST_AUTOMATIC_CELLS))
    }
}

/// Cells along the longest axis of the coarse field that a volume is guessed from: two dozen voxels are right to some
/// hundredths.
const COARSE_CELLS: f64 = 12.0;

/// Cells that a surface passes through per square of a cell's face: 1 when it lies along the cells, 2 when slanted.
const CELLS_PER_TOUCHED_SQUARE: f64 = 1.5;

/// Cells across the shortest extent: enough to bend and to keep a shape, a ball of some two thousand tetrahedra.
const AUTOMATIC_CELLS: f64 = 10.0;

/// An extent shorter than this part of the longest says that the body is a plate or a bar, not how fine it has to be.
const MEANINGFUL_EXTENT: f64 = 0.25;

/// Fewest and most tetrahedra, by volume: below, branches have no cell across; above, a frame takes seconds.
const AUTOMATIC_TETS: [f64; 2] = [2000.0, 20_000.0];

/// Most cells along the longest axis, for bodies with next to no volume.
const MOST_AUTOMATIC_CELLS: f64 = 64.0;

/// Voxels that distances are measured farther than the thresholds need.
const BEYOND_THRESHOLDS: f64 = 1.0;

/// How far distances are measured, in voxels: `P` compares with the largest one, voxels do not.
fn reach(settings: &Settings) -> f64 {
    match (settings.k1, settings.k2) {
        (Threshold::Voxels(k1), Threshold::Voxels(k2)) => k1.max(k2) * 3.0_f64.sqrt() + BEYOND_THRESHOLDS,
        _ => f64::INFINITY,
    }
}

fn check_settings(settings: &Settings) -> Result<(), LatticeError> {
    let invalid = |setting, value, valid: &'static str| Err(LatticeError::SettingInvalid { setting, value, valid });
    match settings.resolution {
        Resolution::Cell(cell) if !(cell > 0.0 && cell.is_finite()) => return Err(LatticeError::CellInvalid { cell }),
        Resolution::Count(0) => return invalid("the number of tetrahedra", 0.0, "at least 1"),
        _ => {}
    }
    for (name, threshold) in [("k1", settings.k1), ("k2", settings.k2)] {
        match threshold {
            Threshold::P(p) if !(0.0..=1.0).contains(&p) => return invalid(name, p, "a value from 0 to 1"),
            Threshold::Voxels(voxels) if !(voxels >= 0.0 && voxels.is_finite()) => {
                return invalid(name, voxels, "a number of voxels, at least 0");
            }
            _ => {}
        }
    }
    if !(0.0..1.0).contains(&settings.density) {
        return invalid("density", settings.density, "at least 0 and less than 1");
    }
    match settings.voxels_per_edge {
        Some(voxels) if !(1..=MOST_VOXELS_PER_EDGE).contains(&voxels) => {
            invalid("voxels per edge", f64::from(voxels), "1 to 64")
        }
        _ => Ok(()),
    }
}

/// The box around the triangles.
fn check_mesh(positions: &[Vec3], triangles: &[[u32; 3]]) -> Result<(Vec3, Vec3), LatticeError> {
    let is_finite = |p: &Vec3| p.iter().all(|x| x.is_finite());
    if let Some(vertex) = positions.iter().position(|p| !is_finite(p)) {
        return Err(LatticeError::NotFinite { vertex });
    }
    let names_missing = |t: &[u32; 3]| t.iter().any(|&v| v as usize >= positions.len());
    if let Some(triangle) = triangles.iter().position(names_missing) {
        return Err(LatticeError::MissingVertex { triangle });
    }
    let corners = triangles.iter().flatten().map(|&v| positions[v as usize]);
    let (low, high) = bounds(corners).ok_or(LatticeError::NoTriangle)?;
    if !is_finite(&(high - low)) {
        let far = positions.iter().enumerate().max_by(|a, b| a.1.amax().total_cmp(&b.1.amax()));
        return Err(LatticeError::NotFinite { vertex: far.map_or(0, |(vertex, _)| vertex) });
    }
    if (high - low).max() <= 0.0 {
        return Err(LatticeError::NoExtent);
    }
    Ok((low, high))
}

/// A cell that fits is found in steps of this factor, from one cell for the whole body downwards.
const FITTING: f64 = 1.1;

fn chosen_grid(centre: Vec3, extent: Vec3, cell: f64, settings: &Settings) -> Result<Grid, LatticeError> {
    let voxels_per_edge = |cell: f64| {
        let [fewest, most] = VOXELS_PER_EDGE;
        let automatic = (VOXELS_ALONG * cell / extent.max()).round().clamp(fewest, most) as usize;
        settings.voxels_per_edge.map_or(automatic, |voxels| voxels as usize)
    };
    let cover = |cell: f64| Grid::cover(centre, extent, cell, voxels_per_edge(cell), settings.memory);
    cover(cell).map_err(|bytes| {
        let mut fits = extent.max();
        while fits > cell && cover(fits / FITTING).is_ok() {
            fits /= FITTING;
        }
        LatticeError::CellTooSmall { cell, needed: bytes as u64, allowed: settings.memory, fits }
    })
}

/// The 26 directions of the rays: axes, diagonals of faces, diagonals of cubes.
fn directions() -> impl Iterator<Item = [i32; 3]> {
    let steps = -1..=1;
    let all = steps.clone().flat_map(move |z| {
        let steps = steps.clone();
        steps.clone().flat_map(move |y| steps.clone().map(move |x| [x, y, z]))
    });
    all.filter(|direction| *direction != [0, 0, 0])
}

/// How many there are.
const DIRECTIONS: u8 = 26;

/// A distance changes along a ray if it does so by more than this part of the way; and a sample within this part of a
/// voxel is on the surface.
const DERIVATIVE_ROUNDING: f32 = 1e-5;

/// Which voxels are inside.
#[derive(Clone, Debug, PartialEq)]
pub struct PseudoVolume {
    /// A voxel each, x fastest, then y, then z.
    pub inside: Vec<bool>,
    /// How many are.
    pub inside_count: usize,
    /// How many are because only the inside surrounds them.
    pub cavity_count: usize,
    /// The volume, the voxels at the surface by the part of them that is inside [m³].
    pub volume: f64,
}

impl PseudoVolume {
    /// Count crossings and vote. `slabs` is the plan's distance field.
    pub fn classify(plan: &Plan, slabs: &[Vec<Sample>], settings: &Settings) -> Result<Self, LatticeError> {
        let grid = plan.grid();
        let [nx, ny, nz] = grid.voxels();
        if slabs.len() != nz || slabs.iter().any(|slab| slab.len() != nx * ny) {
            return Err(LatticeError::FieldIncomplete);
        }
        let votes = votes(plan, slabs, settings);
        let mut inside: Vec<bool> = votes.into_iter().map(|odd| 2 * odd > DIRECTIONS).collect();
        let cavity_count = if settings.fills_cavities { fill_cavities(&mut inside, grid, slabs) } else { 0 };
        let voxel = grid.voxel();
        let part = |(n, &is_inside): (usize, &bool)| {
            let distance = f64::from(slabs[n / (nx * ny)][n % (nx * ny)].distance);
            let signed = if is_inside { -distance } else { distance };
            (0.5 - signed / voxel).clamp(0.0, 1.0)
        };
        let volume = compensated_sum(inside.iter().enumerate().map(part)) * voxel.powi(3);
        let inside_count = inside.iter().filter(|is_inside| **is_inside).count();
        Ok(PseudoVolume { inside, inside_count, cavity_count, volume })
    }
}

/// What a ray asks of a sample.
struct Ray {
    along: [f32; 3],
    /// Length of `along`.
    length: f32,
    near: f32,
    far: f32,
    is_near_along: bool,
    /// What counts as no change.
    rounding: f32,
    reach: f32,
}

impl Ray {
    /// Whether an armed ray crosses the surface here, and whether a disarmed one is armed again.
    #[inline]
    fn meets(&self, Sample { distance, toward }: Sample) -> (bool, bool) {
        // The derivative of P has the sign of the way towards the nearest point.
        let slope = toward[0] * self.along[0] + toward[1] * self.along[1] + toward[2] * self.along[2];
        // Along the ray, the plane through the nearest point is at distance / cos = distance² · length / slope.
        let is_near = if self.is_near_along {
            distance * distance * self.length < self.near * slope
        } else {
            distance < self.near
        };
        let crosses = is_near && slope > self.rounding || distance < self.rounding;
        // Beyond the reach the surface was left, however it was.
        let arms = distance > self.far && (slope < -self.rounding || distance >= self.reach);
        (crosses, arms)
    }
}

/// How many of its 26 rays cross the surface an odd number of times, a voxel each.
fn votes(plan: &Plan, slabs: &[Vec<Sample>], settings: &Settings) -> Vec<u8> {
    let grid = plan.grid();
    let [nx, ny, nz] = grid.voxels();
    let voxel = grid.voxel();
    let largest = slabs.iter().flatten().fold(0.0_f32, |largest, sample| largest.max(sample.distance));
    let mut votes = vec![0u8; grid.voxel_count()];
    // Whether a ray from here on crosses an odd number of times: bit 0 if it is disarmed here, bit 1 if it is armed.
    let mut odd = vec![0u8; grid.voxel_count()];
    for direction in directions() {
        let length = f64::from(direction.iter().map(|step| step * step).sum::<i32>()).sqrt();
        let distance = |threshold: Threshold| threshold.distance(length * voxel, f64::from(largest)) as f32;
        let ray = Ray {
            along: direction.map(|step| step as f32),
            length: length as f32,
            near: distance(settings.k1),
            far: distance(settings.k2),
            is_near_along: matches!(settings.k1, Threshold::Voxels(_)),
            rounding: DERIVATIVE_ROUNDING * voxel as f32,
            reach: (plan.reach * voxel) as f32,
        };
        let step = direction.map(|step| step as isize);
        let offset = step[0] + nx as isize * (step[1] + ny as isize * step[2]);
        // The next voxel along the ray is answered before this one, so the border is the first.
        let ordered = |n: usize, count: usize, axis: usize| if step[axis] > 0 { count - 1 - n } else { n };
        let ends =
            |at: usize, count: usize, axis: usize| step[axis] < 0 && at == 0 || step[axis] > 0 && at + 1 == count;
        for z in (0..nz).map(|n| ordered(n, nz, 2)) {
            for y in (0..ny).map(|n| ordered(n, ny, 1)) {
                let row_ends = ends(z, nz, 2) || ends(y, ny, 1);
                for x in (0..nx).map(|n| ordered(n, nx, 0)) {
                    let at = (z * ny + y) * nx + x;
                    let next = if row_ends || ends(x, nx, 0) { 0 } else { odd[at.wrapping_add_signed(offset)] };
                    let (next_disarmed, next_armed) = (next & 1, next >> 1);
                    let (crosses, arms) = ray.meets(slabs[z][y * nx + x]);
                    let from_armed = if crosses { 1 ^ next_disarmed } else { next_armed };
                    let from_disarmed = if arms { next_armed } else { next_disarmed };
                    odd[at] = from_armed << 1 | from_disarmed;
                    votes[at] += from_armed;
                }
            }
        }
    }
    votes
}

/// No step from one voxel to the next crosses a surface from which both are farther than this part of it: the distances
/// to where it crosses sum to one. A little more, for rounding.
const CLEAR: f32 = 0.5 + DERIVATIVE_ROUNDING;

/// Turn to inside what no way that is clear of the surface joins to the border; returns how many voxels.
fn fill_cavities(inside: &mut [bool], grid: &Grid, slabs: &[Vec<Sample>]) -> usize {
    let [nx, ny, nz] = grid.voxels();
    let clear = CLEAR * grid.voxel() as f32;
    let neighbours = |at: usize| {
        let (x, y, z) = (at % nx, at / nx % ny, at / (nx * ny));
        [
            (x > 0).then(|| at - 1),
            (x + 1 < nx).then(|| at + 1),
            (y > 0).then(|| at - nx),
            (y + 1 < ny).then(|| at + nx),
            (z > 0).then(|| at - nx * ny),
            (z + 1 < nz).then(|| at + nx * ny),
        ]
    };
    let mut is_reached = vec![false; inside.len()];
    let mut open: Vec<u32> = Vec::new();
    for first in 0..inside.len() {
        let is_border = neighbours(first).contains(&None);
        if is_border && !inside[first] && !is_reached[first] {
            is_reached[first] = true;
            open.push(first as u32);
        }
        while let Some(at) = open.pop() {
            for next in neighbours(at as usize).into_iter().flatten() {
                let is_clear = slabs[next / (nx * ny)][next % (nx * ny)].distance > clear;
                if is_clear && !inside[next] && !is_reached[next] {
                    is_reached[next] = true;
                    open.push(next as u32);
                }
            }
        }
    }
    // Voxels at the surface are outside if one beside them is reached.
    let is_cavity = |at: usize| {
        !inside[at] && !is_reached[at] && !neighbours(at).into_iter().flatten().any(|next| is_reached[next])
    };
    let cavities: Vec<usize> = (0..inside.len()).filter(|&at| is_cavity(at)).collect();
    cavities.iter().for_each(|&at| inside[at] = true);
    cavities.len()
}
