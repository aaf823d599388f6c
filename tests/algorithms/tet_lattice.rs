//! Tetrahedra in any triangles: whole, closed, mirrored with the body, of its volume, and none of them flat.

use std::time::Instant;

use kiln::algorithms::volume::pseudo_volume::{Resolution, Settings};
use kiln::algorithms::volume::tet_lattice::{ANGLES, LEAST_VOLUME, TetLattice};
use kiln::math::Vec3;
use kiln::mesh::tets::TetMesh;

use crate::pseudo_volume::{Soup, cells_of, closed_bodies, longest, slabs, turned};
use crate::{Random, assert_close, assert_near};

pub fn lattice_of(soup: &Soup, settings: &Settings) -> TetLattice {
    let plan = soup.plan(settings).unwrap();
    TetLattice::build(&plan, &slabs(&plan), settings).unwrap()
}

/// Everything that any lattice promises.
#[track_caller]
fn check(name: &str, lattice: &TetLattice) {
    let TetLattice { mesh, report } = lattice;
    assert_eq!((mesh.cells.len(), mesh.tets.len(), mesh.positions.len()), (report.cells, report.tets, report.nodes));
    assert!(report.cells > 0 && report.tets == 5 * report.cells, "{name}");
    assert_close(mesh.total_volume(), report.volume, 1e-9 * report.volume);
    let cell_volume = mesh.cell_size.powi(3);
    for (cell, corners) in mesh.cells.iter().enumerate() {
        let tets = &mesh.tets[5 * cell..5 * cell + 5];
        assert!(tets.iter().flatten().all(|node| corners.contains(node)), "{name}: a tetrahedron leaves its cell");
        for (k, tet) in tets.iter().enumerate() {
            let plain = cell_volume / if k == 0 { 3.0 } else { 6.0 };
            let volume = mesh.volume(5 * cell + k);
            assert!(volume >= (LEAST_VOLUME - 1e-9) * plain, "{name}: tetrahedron {tet:?} is flat: {volume}");
        }
        assert_close(mesh.cell_volume(cell), (5 * cell..5 * cell + 5).map(|t| mesh.volume(t)).sum(), 1e-12);
    }
    let mut faces: Vec<[u32; 3]> = Vec::new();
    for &[a, b, c, d] in &mesh.tets {
        faces.extend([[a, b, c], [a, b, d], [a, c, d], [b, c, d]]);
    }
    faces.iter_mut().for_each(|face| face.sort_unstable());
    faces.sort_unstable();
    let single = faces.chunk_by(|a, b| a == b).map(<[_]>::len).inspect(|count| assert!(*count <= 2, "{name}"));
    assert_eq!(single.filter(|count| *count == 1).count(), mesh.boundary_faces().len(), "{name}");
    // Closed: every edge of the surface is run along as often one way as the other.
    let mut runs: Vec<([u32; 2], i32)> = Vec::new();
    for face in mesh.boundary_faces() {
        for k in 0..3 {
            let (a, b) = (face[k], face[(k + 1) % 3]);
            runs.push(if a < b { ([a, b], 1) } else { ([b, a], -1) });
        }
    }
    runs.sort_unstable();
    let open = runs.chunk_by(|a, b| a.0 == b.0).filter(|same| same.iter().map(|run| run.1).sum::<i32>() != 0);
    assert_eq!(open.count(), 0, "{name}: the surface is open");
    // Outwards: the surface encloses the volume.
    let under = |[a, b, c]: [Vec3; 3]| a.dot(&b.cross(&c)) / 6.0;
    let enclosed = mesh.boundary_faces().iter().map(|f| under(f.map(|v| mesh.positions[v as usize]))).sum();
    assert_close(enclosed, report.volume, 1e-9 * report.volume.max(1.0));
    let quality = mesh.quality().unwrap();
    assert!(
        quality.smallest_angle > ANGLES[0] - 1e-6 && quality.largest_angle < ANGLES[1] + 1e-6,
        "{name}: {quality:?}"
    );
}

#[test]
fn closed_bodies_are_filled_to_their_volume() {
    println!("body           cells along   tets   volume %  angles          seconds");
    for (name, soup) in closed_bodies() {
        for cells in [6.0, 10.0, 17.3, 25.0] {
            let start = Instant::now();
            let lattice = lattice_of(&soup, &cells_of(longest(&soup) / cells));
            let seconds = start.elapsed().as_secs_f64();
            check(name, &lattice);
            let (report, quality) = (&lattice.report, lattice.mesh.quality().unwrap());
            let error = report.volume / soup.own_volume() - 1.0;
            println!(
                "{name:14} {cells:11} {:6} {:+10.3} {:5.1} {:5.1} {seconds:12.2}",
                report.tets,
                100.0 * error,
                quality.smallest_angle,
                quality.largest_angle
            );
            assert!(error.abs() < 0.03, "{name} at {cells} cells: off by {error}");
            assert_close(report.volume, report.pseudo_volume, 1e-3 * report.pseudo_volume);
            assert!(!report.was_fallback && (report.parts == 1 || cells == 6.0), "{name}: {report:?}");
        }
    }
}

#[test]
fn soups_are_filled_too() {
    let mut random = Random(81);
    let cube = Soup::cube(0.5).finer(4);
    let mut holed = cube.clone();
    holed.triangles.retain(|_| random.below(10) > 0);
    let mut flipped = turned(cube.clone());
    flipped.triangles.iter_mut().filter(|_| random.below(2) == 0).for_each(|t| t.swap(0, 1));
    let across = Soup::cube(0.5).and(&Soup::cube(0.5).moved(|p| p + Vec3::new(0.5, 0.25, 0.3)));
    let soups = [
        ("no lid", cube.clone().keep(|p| p.y < 0.49), 1.0),
        ("holes", holed, 1.0),
        ("flipped", flipped.clone(), 1.0),
        ("doubled", flipped.clone().and(&flipped), 1.0),
        ("across", across, 2.0 - 0.5 * 0.75 * 0.7),
        ("two", Soup::cube(0.5).and(&Soup::cube(0.5).moved(|p| p + Vec3::new(2.0, 0.3, 0.1))), 2.0),
    ];
    for (name, soup, volume) in soups {
        let lattice = lattice_of(&soup, &cells_of(0.1));
        check(name, &lattice);
        assert_close(lattice.report.volume, volume, 0.03 * volume);
        assert_eq!(lattice.report.parts, if name == "two" { 2 } else { 1 }, "{name}");
    }
}

/// The smallest place in one of the mesh's nodes for every node of another, in the order of the other's.
fn matching(mesh: &TetMesh, nodes: &[Vec3], tolerance: f64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..mesh.positions.len() as u32).collect();
    order.sort_by(|&a, &b| mesh.positions[a as usize].x.total_cmp(&mesh.positions[b as usize].x));
    let found = |p: &Vec3| {
        let first = order.partition_point(|&n| mesh.positions[n as usize].x < p.x - tolerance);
        let near = order[first..].iter().take_while(|&&n| mesh.positions[n as usize].x <= p.x + tolerance);
        let mut same = near.filter(|&&n| (mesh.positions[n as usize] - p).norm() <= tolerance);
        *same.next().unwrap_or_else(|| panic!("no node at {p:?}"))
    };
    nodes.iter().map(found).collect()
}

/// Whether `other` is `mesh` seen in a mirror across x = 0.
#[track_caller]
fn assert_mirrored(mesh: &TetMesh, other: &TetMesh) {
    assert_eq!((mesh.positions.len(), mesh.tets.len()), (other.positions.len(), other.tets.len()));
    let nodes: Vec<Vec3> = other.positions.iter().map(|p| Vec3::new(-p.x, p.y, p.z)).collect();
    let node_of = matching(mesh, &nodes, 1e-9 * mesh.cell_size);
    let sorted = |tets: Vec<[u32; 4]>| {
        let mut tets = tets;
        tets.iter_mut().for_each(|tet| tet.sort_unstable());
        tets.sort_unstable();
        tets
    };
    let renamed = other.tets.iter().map(|tet| tet.map(|node| node_of[node as usize])).collect();
    assert_eq!(sorted(renamed), sorted(mesh.tets.clone()));
}

#[test]
fn a_mirrored_body_has_the_mirrored_lattice() {
    for cells in [7.0, 12.0, 19.4] {
        let symmetric = [
            Soup::bumpy(3),
            Soup::cube(0.5),
            Soup::torus(1.0, 0.35, 64, 32),
            Soup::bumpy(3).keep(|p| p.y < 0.6),
            Soup::cube(0.5)
                .moved(|p| p + Vec3::new(0.7, 0.0, 0.0))
                .and(&Soup::cube(0.5).moved(|p| p - Vec3::new(0.7, 0.2, 0.1))),
        ];
        for soup in &symmetric[..4] {
            let lattice = lattice_of(soup, &cells_of(longest(soup) / cells));
            assert_mirrored(&lattice.mesh, &lattice.mesh);
        }
        let crooked = turned(Soup::bumpy(3).moved(|p| p + Vec3::new(0.1 * p.y * p.z, 0.0, 0.2 * p.x)));
        for soup in [crooked.clone(), crooked.keep(|p| p.x < 0.5), symmetric[4].clone()] {
            let settings = cells_of(longest(&soup) / cells);
            let mirrored = soup.clone().moved(|p| Vec3::new(-p.x, p.y, p.z));
            assert_mirrored(&lattice_of(&soup, &settings).mesh, &lattice_of(&mirrored, &settings).mesh);
        }
    }
}

#[test]
fn where_the_body_is_does_not_matter() {
    let (soup, shift) = (Soup::bumpy(2), Vec3::new(3.0, -17.0, 8.0));
    let here = lattice_of(&soup, &cells_of(0.25));
    let there = lattice_of(&soup.moved(|p| p + shift), &cells_of(0.25));
    assert_eq!(here.mesh.tets, there.mesh.tets);
    for (here, there) in here.mesh.positions.iter().zip(&there.mesh.positions) {
        assert_near(here + shift, *there, 1e-9);
    }
}

#[test]
fn what_is_too_thin_for_a_cell_is_covered_by_cells() {
    let plate = Soup::cuboid(Vec3::new(-0.5, 0.0, -0.5), Vec3::new(0.5, 0.0, 0.5));
    let triangle =
        Soup { positions: vec![Vec3::zeros(), Vec3::x(), Vec3::new(0.3, 0.8, 0.4)], triangles: vec![[0, 1, 2]] };
    let small = Soup::cuboid(Vec3::zeros(), Vec3::repeat(0.002)).and(&Soup::ball(1).moved(|p| p * 0.001 + Vec3::x()));
    let wire = Soup { positions: vec![Vec3::zeros(), Vec3::new(0.1, 0.7, 0.2)], triangles: vec![[0, 1, 1]] };
    let soups = [
        ("plate", plate.clone()),
        ("turned plate", turned(plate.clone())),
        ("triangle", triangle),
        ("2 mm", small),
        ("wire", wire),
    ];
    for (name, soup) in soups {
        let lattice = lattice_of(&soup, &cells_of(0.1));
        check(name, &lattice);
        let report = &lattice.report;
        assert!(report.was_fallback, "{name}");
        assert_eq!(report.vertices_outside, 0, "{name}");
        assert_close(report.volume, report.lattice_volume, 0.01 * report.lattice_volume);
        for resolution in [Resolution::Auto, Resolution::Count(1000)] {
            check(name, &lattice_of(&soup, &Settings { resolution, ..Settings::default() }));
        }
    }
    // Between two layers of cells, it has both, and no more than lie over it.
    let sheet = plate.keep(|p| p.amax() < 0.49);
    assert_eq!((sheet.triangles.len(), lattice_of(&sheet, &cells_of(0.1)).report.cells), (4, 200));
    assert!(!lattice_of(&Soup::cube(0.5), &cells_of(0.1)).report.was_fallback);
}

#[test]
fn notches_are_filled() {
    // A cube with a slot of one cell: its cells have four or five neighbours.
    let slotted = Soup::cuboid(Vec3::new(-0.6, -0.6, -0.6), Vec3::new(0.0, 0.6, 0.6))
        .and(&Soup::cuboid(Vec3::new(0.2, -0.6, -0.6), Vec3::new(0.6, 0.6, 0.6)))
        .and(&Soup::cuboid(Vec3::new(0.0, -0.6, -0.6), Vec3::new(0.2, 0.6, 0.0)))
        .and(&Soup::cuboid(Vec3::new(0.0, -0.6, 0.0), Vec3::new(0.2, 0.0, 0.6)))
        .and(&Soup::cuboid(Vec3::new(0.0, 0.2, 0.0), Vec3::new(0.2, 0.6, 0.6)));
    let lattice = lattice_of(&slotted, &Settings { smoothing: 0, ..cells_of(0.2) });
    check("slotted", &lattice);
    assert_eq!((lattice.report.filled_notches, lattice.report.cells), (3, 216));
    assert_eq!(lattice_of(&Soup::cube(0.6), &cells_of(0.2)).report.filled_notches, 0);
}

#[test]
fn smoothing_smooths_and_the_plain_lattice_is_plain() {
    let ball = Soup::ball(3);
    let roughness = |smoothing: u32| {
        let mesh = lattice_of(&ball, &Settings { smoothing, ..cells_of(0.15) }).mesh;
        let mut is_surface = vec![false; mesh.positions.len()];
        mesh.boundary_faces().iter().flatten().for_each(|&node| is_surface[node as usize] = true);
        let radii: Vec<f64> =
            (0..is_surface.len()).filter(|&n| is_surface[n]).map(|n| mesh.positions[n].norm()).collect();
        let mean = radii.iter().sum::<f64>() / radii.len() as f64;
        (radii.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / radii.len() as f64).sqrt() / 0.15
    };
    let [plain, some, more] = [0, 2, 4].map(roughness);
    // Fitted to the triangles, it does not depend on the steps any more; where cells would become flat it is not.
    assert!(plain > 0.4 && some < 0.5 * plain && more < 0.5 * plain, "{plain} {some} {more}");
    let lattice = lattice_of(&ball, &Settings { smoothing: 0, ..cells_of(0.15) });
    check("plain", &lattice);
    assert_close(lattice.report.volume, lattice.report.cells as f64 * 0.15_f64.powi(3), 1e-9);
    assert_eq!(lattice.report.volume, lattice.report.lattice_volume);
    let quality = lattice.mesh.quality().unwrap();
    assert_close(quality.smallest_angle, 2.0_f64.sqrt().atan().to_degrees(), 1e-6);
    assert_close(quality.largest_angle, 90.0, 1e-6);
}

#[test]
fn smoothing_that_would_flatten_is_taken_back() {
    // Cells that meet at edges and corners alone are pulled two ways.
    let mut random = Random(82);
    let mut blocks = Soup { positions: vec![], triangles: vec![] };
    for _ in 0..40 {
        let low = [0; 3].map(|_| 0.1 * random.below(8) as f64 + 1e-4);
        blocks = blocks.and(&Soup::cuboid(Vec3::from(low), Vec3::from(low).add_scalar(0.0998)));
    }
    for smoothing in [1, 4, 20, 100] {
        let lattice = lattice_of(&blocks, &Settings { smoothing, voxels_per_edge: Some(4), ..cells_of(0.1) });
        check("blocks", &lattice);
        assert!(smoothing < 20 || lattice.report.nodes_taken_back > 0);
    }
}

#[test]
fn vertices_outside_are_counted() {
    let ball = Soup::ball(3);
    let report = lattice_of(&ball, &cells_of(0.2)).report;
    assert!(report.vertices_outside > 50 && report.vertices_outside < ball.positions.len());
    assert_eq!(lattice_of(&Soup::cube(0.5).finer(2), &cells_of(0.1)).report.vertices_outside, 0);
    let far = Soup::cube(0.5).and(&Soup::cuboid(Vec3::repeat(2.0), Vec3::repeat(2.001)));
    assert!((8..=16).contains(&lattice_of(&far, &cells_of(0.1)).report.vertices_outside));
}

#[test]
fn a_scan_of_52_thousand_triangles_takes_a_moment() {
    let soup = Soup::bumpy_scan();
    let settings = cells_of(longest(&soup) / 16.0);
    let start = Instant::now();
    let plan = soup.plan(&settings).unwrap();
    let slabs = slabs(&plan);
    let field = start.elapsed().as_secs_f64();
    let lattice = TetLattice::build(&plan, &slabs, &settings).unwrap();
    println!(
        "{} triangles, voxels {:?}, {} tetrahedra: field {field:.2} s, all {:.2} s",
        soup.triangles.len(),
        lattice.report.grid_voxels,
        lattice.report.tets,
        start.elapsed().as_secs_f64()
    );
    check("scan", &lattice);
    assert_close(lattice.report.volume, soup.own_volume().abs(), 0.03 * soup.own_volume().abs());
}
