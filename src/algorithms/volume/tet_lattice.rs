//! Tetrahedra that fill a pseudo-volume: a lattice of cells, five tetrahedra each, with a smoothed surface.
//!
//! Based on: [Bender14 §4.4.1.1] (Modell); Diziol, Bender and Bayer 2009; Desbrun et al. 1999 for the umbrella operator
//! Idea:     a cell belongs to the body if enough of its voxels do; notches are filled; the surface is smoothed by the umbrella of the
//!           umbrella over axis-aligned edges alone, because diagonals would make a symmetric body asymmetric.
//! Deviates: a cell's inner tetrahedron has the nodes of even `i + j + k` in a grid that is even along each axis, so that the mesh of a
//!           mirrored body is the mirrored mesh; the volume that is kept is the pseudo-volume, not the lattice's; where smoothing
//!           would flatten a tetrahedron it is taken back towards the plain lattice; the smoothed surface is moved onto the triangles,
//!           because what sticks out of the lattice is extrapolated, and swings wildly; what is too thin for any cell is covered
//!           by the cells that its surface passes through.
//! Test:     tests/algorithms/tet_lattice.rs

use serde::{Deserialize, Serialize};

use super::pseudo_volume::{Grid, LatticeError, Plan, PseudoVolume, Sample, Settings};
use crate::math::Vec3;
use crate::math::rows::Rows;
use crate::mesh::tets::{TETS_PER_CELL, TetMesh, dihedral_angles, tet_volume};

/// How a lattice came about.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Cells of the body.
    pub cells: usize,
    /// Its tetrahedra.
    pub tets: usize,
    /// Its nodes.
    pub nodes: usize,
    /// Edge of a cell [m].
    pub cell_size: f64,
    /// Cells of the grid along each axis.
    pub grid_cells: [usize; 3],
    /// Voxels of the grid along each axis.
    pub grid_voxels: [usize; 3],
    /// Voxels inside.
    pub inside_voxels: usize,
    /// Those of them that are inside because only the inside surrounds them.
    pub cavity_voxels: usize,
    /// Whether the body was too thin for any cell and consists of the cells that the surface passes through.
    pub was_fallback: bool,
    /// Cells that were added to fill notches.
    pub filled_notches: usize,
    /// Parts that are not joined by a face of cells; more than one fall apart.
    pub parts: usize,
    /// The volume that the triangles take up [m³].
    pub pseudo_volume: f64,
    /// Volume of the plain lattice [m³].
    pub lattice_volume: f64,
    /// Volume of the tetrahedra [m³].
    pub volume: f64,
    /// Vertices of triangles that lie in no cell of the plain lattice.
    pub vertices_outside: usize,
    /// Nodes where smoothing was taken back.
    pub nodes_taken_back: usize,
}

/// A body of tetrahedra.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TetLattice {
    /// The tetrahedra.
    pub mesh: TetMesh,
    /// How they came about.
    pub report: Report,
}

impl TetLattice {
    /// Fill the volume that the plan's distance field encloses.
    pub fn build(plan: &Plan, slabs: &[Vec<Sample>], settings: &Settings) -> Result<Self, LatticeError> {
        let grid = plan.grid();
        let volume = PseudoVolume::classify(plan, slabs, settings)?;
        let mut is_body = dense_cells(grid, &volume.inside, settings.density);
        let was_fallback = !is_body.contains(&true);
        if was_fallback {
            is_body = touched_cells(plan);
        }
        let filled_notches = fill_notches(grid, &mut is_body);
        let mut mesh = plain_lattice(grid, &is_body);
        let lattice_volume = mesh.total_volume();
        // What a surface without an inside weighs is not known; its cells keep their volume.
        let target = if was_fallback {
            lattice_volume
        } else {
            let [least, most] = VOLUME_CHANGE;
            volume.volume.clamp(least * lattice_volume, most * lattice_volume)
        };
        let nodes_taken_back = match settings.smoothing {
            0 => 0,
            steps => Smoothing::new(&mesh).run(&mut mesh, plan, steps, target),
        };
        let report = Report {
            cells: mesh.cells.len(),
            tets: mesh.tets.len(),
            nodes: mesh.positions.len(),
            cell_size: grid.cell,
            grid_cells: grid.cells,
            grid_voxels: grid.voxels(),
            inside_voxels: volume.inside_count,
            cavity_voxels: volume.cavity_count,
            was_fallback,
            filled_notches,
            parts: count_parts(grid, &is_body),
            pseudo_volume: volume.volume,
            lattice_volume,
            volume: mesh.total_volume(),
            vertices_outside: count_outside(plan, &is_body),
            nodes_taken_back,
        };
        mesh.positions.iter_mut().for_each(|p| *p += grid.centre);
        Ok(TetLattice { mesh, report })
    }
}

/// The cells of which more than a part is inside.
fn dense_cells(grid: &Grid, inside: &[bool], density: f64) -> Vec<bool> {
    let m = grid.voxels_per_edge;
    let [nx, ny, _] = grid.voxels();
    let mut counts = vec![0u32; grid.cell_count()];
    for (at, _) in inside.iter().enumerate().filter(|(_, is_inside)| **is_inside) {
        counts[grid.cell_number([at % nx / m, at / nx % ny / m, at / (nx * ny) / m])] += 1;
    }
    let least = density * m.pow(3) as f64;
    counts.into_iter().map(|count| f64::from(count) > least).collect()
}

/// Along an axis where it extends over less than this part of a cell, a triangle is flat: one in the plane between cells passes
/// through both.
const FLAT: f64 = 1e-9;

/// Otherwise a triangle passes through a cell if it reaches in by more than this part of it.
const REACHES_IN: f64 = 1e-12;

/// The cells that some triangle passes through.
fn touched_cells(plan: &Plan) -> Vec<bool> {
    let grid = plan.grid();
    let mut is_touched = vec![false; grid.cell_count()];
    for corners in plan.triangles() {
        let points = corners.map(|v| plan.positions()[v as usize]);
        let low = points[0].inf(&points[1]).inf(&points[2]);
        let high = points[0].sup(&points[1]).sup(&points[2]);
        let half = (high - low).map(|extent| {
            let is_flat = extent < FLAT * grid.cell;
            grid.cell * (0.5 + if is_flat { FLAT } else { -REACHES_IN })
        });
        // One more on either side; the test below decides.
        let range: [_; 3] = std::array::from_fn(|axis| {
            let place = |x: f64| x / grid.cell + 0.5 * grid.cells[axis] as f64;
            (place(low[axis]) - 1.0).floor().max(0.0) as usize..grid.cells[axis].min(place(high[axis]) as usize + 2)
        });
        for z in range[2].clone() {
            for y in range[1].clone() {
                for x in range[0].clone() {
                    let number = grid.cell_number([x, y, z]);
                    if !is_touched[number] {
                        let middle = grid.node([x, y, z]).add_scalar(0.5 * grid.cell);
                        is_touched[number] = meets_box(points.map(|p| p - middle), half);
                    }
                }
            }
        }
    }
    is_touched
}

/// Whether a triangle and a box around the origin share a point: no axis separates them (Akenine-Möller 2001).
fn meets_box(points: [Vec3; 3], half: Vec3) -> bool {
    let edges = [points[1] - points[0], points[2] - points[1], points[0] - points[2]];
    let is_separated_by = |axis: Vec3| {
        let along = points.map(|p| p.dot(&axis));
        let reach = half.dot(&axis.abs());
        along.iter().all(|x| *x > reach) || along.iter().all(|x| *x < -reach)
    };
    let units = [Vec3::x(), Vec3::y(), Vec3::z()];
    let crossed = units.iter().flat_map(|unit| edges.map(|edge| unit.cross(&edge)));
    !units.iter().copied().chain([edges[0].cross(&edges[1])]).chain(crossed).any(is_separated_by)
}

/// The numbers of the cells that share a face with one.
fn face_neighbours(grid: &Grid, number: usize) -> impl Iterator<Item = usize> {
    let place = grid.cell_place(number);
    let strides = [1, grid.cells[0], grid.cells[0] * grid.cells[1]];
    let cells = grid.cells;
    (0..3).flat_map(move |axis| {
        let before = (place[axis] > 0).then(|| number - strides[axis]);
        let after = (place[axis] + 1 < cells[axis]).then(|| number + strides[axis]);
        before.into_iter().chain(after)
    })
}

/// A cell with more than so many of its six face neighbours in the body is a notch.
const NOTCH_NEIGHBOURS: usize = 3;

/// Add notches until there is none; returns how many. What comes out does not depend on the order.
fn fill_notches(grid: &Grid, is_body: &mut [bool]) -> usize {
    let mut filled = 0;
    let mut open: Vec<usize> = (0..is_body.len()).collect();
    while let Some(number) = open.pop() {
        let neighbours = face_neighbours(grid, number).filter(|&other| is_body[other]).count();
        if !is_body[number] && neighbours > NOTCH_NEIGHBOURS {
            is_body[number] = true;
            filled += 1;
            open.extend(face_neighbours(grid, number).filter(|&other| !is_body[other]));
        }
    }
    filled
}

/// How many parts the body has that are not joined by a face.
fn count_parts(grid: &Grid, is_body: &[bool]) -> usize {
    let mut is_open = is_body.to_vec();
    let mut parts = 0;
    for first in 0..is_body.len() {
        let mut open = Vec::new();
        if is_open[first] {
            is_open[first] = false;
            open.push(first);
            parts += 1;
        }
        while let Some(number) = open.pop() {
            for other in face_neighbours(grid, number) {
                if is_open[other] {
                    is_open[other] = false;
                    open.push(other);
                }
            }
        }
    }
    parts
}

/// How many vertices of triangles lie in no cell; one on a face lies in the cells on both sides.
fn count_outside(plan: &Plan, is_body: &[bool]) -> usize {
    let grid = plan.grid();
    let mut is_used = vec![false; plan.positions().len()];
    plan.triangles().iter().flatten().for_each(|&v| is_used[v as usize] = true);
    let is_covered = |p: &Vec3| {
        let place = |axis: usize, by: f64| {
            let along = p[axis] / grid.cell + 0.5 * grid.cells[axis] as f64 + by;
            (along.max(0.0) as usize).min(grid.cells[axis] - 1)
        };
        (0..8).any(|corner| {
            let number = std::array::from_fn(|axis| place(axis, if corner >> axis & 1 == 0 { -FLAT } else { FLAT }));
            is_body[grid.cell_number(number)]
        })
    };
    plan.positions().iter().zip(is_used).filter(|(p, is_used)| *is_used && !is_covered(p)).count()
}

/// The five tetrahedra of a cell whose first corner is an even node: the inner one of the even nodes, then one for each odd node
/// with its three neighbours; bit 0 of a corner is x, bit 1 y, bit 2 z.
const EVEN_CELL: [[usize; 4]; TETS_PER_CELL] = [[0, 3, 6, 5], [0, 1, 3, 5], [0, 3, 2, 6], [0, 6, 4, 5], [3, 6, 5, 7]];

/// The same for a cell whose first corner is odd: mirrored in x, so two corners swapped to keep the volume positive.
fn odd_cell() -> [[usize; 4]; TETS_PER_CELL] {
    EVEN_CELL.map(|[a, b, c, d]| [a ^ 1, b ^ 1, d ^ 1, c ^ 1])
}

/// Cells of the body and their tetrahedra, relative to the grid's centre.
fn plain_lattice(grid: &Grid, is_body: &[bool]) -> TetMesh {
    let along = grid.cells.map(|n| n + 1);
    let node_number = |[x, y, z]: [usize; 3]| (z * along[1] + y) * along[0] + x;
    let corners_of = |cell: usize| -> [usize; 8] {
        let [x, y, z] = grid.cell_place(cell);
        std::array::from_fn(|corner| node_number([x + (corner & 1), y + (corner >> 1 & 1), z + (corner >> 2)]))
    };
    let body = || (0..is_body.len()).filter(|&cell| is_body[cell]);
    let mut node_of = vec![u32::MAX; along.iter().product()];
    body().flat_map(corners_of).for_each(|node| node_of[node] = 0);
    let mut positions = Vec::new();
    for (number, node) in node_of.iter_mut().enumerate().filter(|(_, node)| **node == 0) {
        *node = positions.len() as u32;
        let place = [number % along[0], number / along[0] % along[1], number / (along[0] * along[1])];
        positions.push(grid.node(place));
    }
    let mut mesh = TetMesh { positions, tets: Vec::new(), cells: Vec::new(), cell_size: grid.cell };
    for cell in body() {
        let corners = corners_of(cell).map(|node| node_of[node]);
        let is_even = grid.cell_place(cell).iter().sum::<usize>() % 2 == 0;
        let tets = if is_even { EVEN_CELL } else { odd_cell() };
        mesh.cells.push(corners);
        mesh.tets.extend(tets.map(|tet| tet.map(|corner| corners[corner])));
    }
    mesh
}

/// The pseudo-volume is met where it is within these factors of the plain lattice's; beyond, cells cover something else than
/// the voxels found, and moving them would not make it right.
const VOLUME_CHANGE: [f64; 2] = [0.5, 1.6];

/// How far a step of smoothing goes against the umbrella of the umbrella: the shortest waves, whose eigenvalue is 4, vanish in one.
const SMOOTHING_STEP: f64 = 0.25;

/// How far the surface of the lattice looks for that of the triangles, in cells: a cell that is a third inside reaches out by less.
const FIT_CELLS: f64 = 0.9;

/// Sweeps that carry the surface's movement inwards; half a dozen cells deep is where it ends.
const INNER_SWEEPS: usize = 10;

/// Newton steps towards a volume; the error squares in each.
const NEWTON_STEPS: usize = 3;

/// Rounds of moving the surface to the volume and taking back what flattens.
const ROUNDS: usize = 6;

/// A volume is met when it is off by less than this part.
const VOLUME_MET: f64 = 1e-10;

/// Every tetrahedron keeps at least this part of its volume in the plain lattice.
pub const LEAST_VOLUME: f64 = 0.25;

/// Angles between faces of a tetrahedron stay within these [degrees]; in the plain lattice they are 55 to 90.
pub const ANGLES: [f64; 2] = [15.0, 155.0];

/// What is taken back is taken back by this factor at a time, and altogether when little is left of it.
const TAKE_BACK: f64 = 0.75;

/// What little is.
const NOTHING_LEFT: f64 = 0.03;

/// The plain lattice and who is beside whom in it.
struct Smoothing {
    plain: Vec<Vec3>,
    plain_volumes: Vec<f64>,
    /// Neighbours over axis-aligned edges: of a node at the surface along the surface, of an inner node all six.
    beside: Rows<u32>,
    is_surface: Vec<bool>,
    faces: Vec<[u32; 3]>,
    /// How much of its movement each node keeps, 1 unless taken back.
    kept: Vec<f64>,
}

impl Smoothing {
    fn new(mesh: &TetMesh) -> Self {
        let faces = mesh.boundary_faces();
        let mut is_surface = vec![false; mesh.positions.len()];
        faces.iter().flatten().for_each(|&node| is_surface[node as usize] = true);
        let mut edges: Vec<[u32; 2]> = Vec::with_capacity(12 * mesh.cells.len());
        for corners in &mesh.cells {
            let ends = |corner: usize, axis: usize| [corners[corner], corners[corner | 1 << axis]];
            let from = |axis: usize| (0..8usize).filter(move |corner| corner >> axis & 1 == 0);
            edges.extend((0..3).flat_map(|axis| from(axis).map(move |corner| ends(corner, axis))));
        }
        edges.sort_unstable();
        let mut beside = vec![Vec::new(); mesh.positions.len()];
        for same in edges.chunk_by(|a, b| a == b) {
            // An edge that four cells surround runs through the inside, even if both its ends are on the surface.
            let is_along_surface = same.len() < 4;
            let [a, b] = same[0];
            for (one, other) in [(a, b), (b, a)] {
                if is_along_surface || !is_surface[one as usize] {
                    beside[one as usize].push(other);
                }
            }
        }
        Smoothing {
            plain: mesh.positions.clone(),
            plain_volumes: (0..mesh.tets.len()).map(|tet| mesh.volume(tet)).collect(),
            beside: beside.into_iter().collect(),
            is_surface,
            faces,
            kept: vec![1.0; mesh.positions.len()],
        }
    }

    /// Smooth the surface and give the mesh a volume, as far as the tetrahedra bear it; returns at how many nodes they did not.
    fn run(mut self, mesh: &mut TetMesh, plan: &Plan, steps: u32, target: f64) -> usize {
        for _ in 0..steps {
            self.smooth(&mut mesh.positions);
        }
        self.fit(&mut mesh.positions, plan);
        self.carry_inwards(&mut mesh.positions);
        self.take_back(mesh);
        for _ in 0..ROUNDS {
            self.reach_volume(&mut mesh.positions, target);
            self.carry_inwards(&mut mesh.positions);
            let is_good = self.take_back(mesh);
            if is_good || (self.volume(&mesh.positions) - target).abs() <= VOLUME_MET * target {
                break;
            }
        }
        self.kept.iter().filter(|kept| **kept < 1.0).count()
    }

    /// Nodes of the lattice's surface move onto that of the triangles, where it is near.
    fn fit(&self, positions: &mut [Vec3], plan: &Plan) {
        let within = FIT_CELLS * plan.grid().cell;
        for (p, _) in positions.iter_mut().zip(&self.is_surface).filter(|(_, is_surface)| **is_surface) {
            if let Some(way) = plan.way_to_surface(*p, within) {
                *p += way;
            }
        }
    }

    /// `x -= λ U² x` along the surface.
    fn smooth(&self, positions: &mut [Vec3]) {
        let first = self.umbrella(positions);
        let second = self.umbrella(&first);
        for (p, bend) in positions.iter_mut().zip(second) {
            *p -= bend * SMOOTHING_STEP;
        }
    }

    /// The mean of the neighbours less the node itself; nothing inside.
    fn umbrella(&self, values: &[Vec3]) -> Vec<Vec3> {
        let at = |node: usize| {
            if self.is_surface[node] { self.mean_beside(node, values) - values[node] } else { Vec3::zeros() }
        };
        (0..values.len()).map(at).collect()
    }

    fn mean_beside(&self, node: usize, values: &[Vec3]) -> Vec3 {
        let beside = self.beside.row(node);
        beside.iter().fold(Vec3::zeros(), |sum, &other| sum + values[other as usize]) / beside.len().max(1) as f64
    }

    /// The volume within the surface [m³].
    fn volume(&self, positions: &[Vec3]) -> f64 {
        let under = |face: &[u32; 3]| {
            let [a, b, c] = face.map(|node| positions[node as usize]);
            a.dot(&b.cross(&c)) / 6.0
        };
        self.faces.iter().map(under).sum()
    }

    /// Newton's steps along the gradient of the volume; nodes that were taken back move less.
    fn reach_volume(&self, positions: &mut [Vec3], target: f64) {
        for _ in 0..NEWTON_STEPS {
            let mut gradient = vec![Vec3::zeros(); positions.len()];
            for face in &self.faces {
                let [a, b, c] = face.map(|node| positions[node as usize]);
                let share = (b - a).cross(&(c - a)) / 6.0;
                face.iter().for_each(|&node| gradient[node as usize] += share);
            }
            let slope: f64 = gradient.iter().zip(&self.kept).map(|(g, kept)| kept * g.norm_squared()).sum();
            if slope <= 0.0 {
                return;
            }
            let step = (target - self.volume(positions)) / slope;
            for ((p, g), kept) in positions.iter_mut().zip(gradient).zip(&self.kept) {
                *p += g * (step * kept);
            }
        }
    }

    /// Inner nodes follow the surface: each to the mean of its six neighbours, all at once.
    fn carry_inwards(&self, positions: &mut [Vec3]) {
        for _ in 0..INNER_SWEEPS {
            let at = |node: usize| {
                if self.is_surface[node] { positions[node] } else { self.mean_beside(node, positions) }
            };
            let moved: Vec<Vec3> = (0..positions.len()).map(at).collect();
            for ((p, moved), kept) in positions.iter_mut().zip(moved).zip(&self.kept) {
                *p += (moved - *p) * *kept;
            }
        }
    }

    /// Move the nodes of flattened tetrahedra back towards the plain lattice, where no tetrahedron is flat, until none is. Returns
    /// whether none was.
    fn take_back(&mut self, mesh: &mut TetMesh) -> bool {
        let mut was_good = true;
        loop {
            let mut is_flattened = vec![false; mesh.positions.len()];
            let mut is_good = true;
            for (tet, plain) in mesh.tets.iter().zip(&self.plain_volumes) {
                let points = tet.map(|node| mesh.positions[node as usize]);
                // What is not a number is flattened too.
                let (smallest, largest) = dihedral_angles(points);
                let is_round =
                    tet_volume(points) >= LEAST_VOLUME * plain && smallest >= ANGLES[0] && largest <= ANGLES[1];
                if !is_round {
                    is_good = false;
                    tet.iter().for_each(|&node| is_flattened[node as usize] = true);
                }
            }
            if is_good {
                return was_good;
            }
            was_good = false;
            for (node, _) in is_flattened.iter().enumerate().filter(|(_, is_flattened)| **is_flattened) {
                let before = self.kept[node];
                let after = if TAKE_BACK * before < NOTHING_LEFT { 0.0 } else { TAKE_BACK * before };
                self.kept[node] = after;
                let (plain, p) = (self.plain[node], &mut mesh.positions[node]);
                *p = if after == 0.0 { plain } else { plain + (*p - plain) * TAKE_BACK };
            }
        }
    }
}
