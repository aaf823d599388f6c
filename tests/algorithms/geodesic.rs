//! Distances along a surface: exact where it is flat, never too short.

use kiln::math::Vec3;
use kiln::mesh::generate as rule;
use kiln::mesh::geodesic::{Reached, distances, to_middle};

use crate::{Mesh, Random, assert_close};

fn from(sources: &[u32], mesh: &Mesh, across: bool) -> Vec<Reached> {
    let (lengths, around) = (mesh.edge_lengths(), mesh.vertex_triangles());
    distances(sources, &mesh.triangles, &mesh.topology, &lengths, &around, across)
}

/// The sources' and the vertices' straight distance, the nearest source's.
fn euclid(sources: &[u32], mesh: &Mesh, vertex: u32) -> f64 {
    sources.iter().map(|&source| mesh.distance(source, vertex)).fold(f64::INFINITY, f64::min)
}

#[test]
fn on_a_flat_sheet_it_is_the_straight_distance() {
    let mut random = Random(130);
    for mesh in [Mesh::sheet(9, 9, 1.0, 1.0), Mesh::sheet(21, 7, 1.0, 1.0), Mesh::equilateral(1.0, 1.0, 0.1)] {
        // Far enough from zigzag sides that the straight ways to the neighbours of a way stay inside too.
        let rectangle = |p: &Vec3| p.x.abs() <= 0.35 && p.z.abs() <= 0.35;
        for _ in 0..8 {
            let source =
                (0..).map(|_| random.below(mesh.positions.len())).find(|&v| rectangle(&mesh.positions[v])).unwrap();
            let found = from(&[source as u32], &mesh, true);
            for (v, reached) in found.iter().enumerate().filter(|(v, _)| rectangle(&mesh.positions[*v])) {
                assert_eq!(reached.source, 0);
                assert_close(reached.distance, mesh.distance(source as u32, v as u32), 1e-9);
            }
        }
    }
}

#[test]
fn on_irregular_flat_cloth_it_is_exact_but_for_a_few_ways_past_old_fronts() {
    // Obtuse triangles may be reached before both of their near vertices are; then the way runs along an edge.
    let mut random = Random(131);
    let (mut worst, mut mean, mut count) = (0.0_f64, 0.0, 0.0);
    for _ in 0..10 {
        let mesh = Mesh::disc(1.0, 400, 66).shaken_in_plane(0.012, &mut random);
        let source = random.below(300) as u32;
        for (v, reached) in from(&[source], &mesh, true).iter().enumerate().filter(|(v, _)| *v as u32 != source) {
            let ratio = reached.distance / mesh.distance(source, v as u32);
            assert!(ratio > 1.0 - 1e-9, "vertex {v} is nearer than the straight line: {ratio}");
            (worst, mean, count) = (worst.max(ratio - 1.0), mean + ratio - 1.0, count + 1.0);
        }
    }
    println!("irregular disc: too long by {:.3} % at most, {:.4} % on average", 100.0 * worst, 100.0 * mean / count);
    assert!(worst < 0.02 && mean / count < 1e-3, "{worst} {}", mean / count);
}

#[test]
fn of_several_sources_the_nearest_counts_and_no_way_is_too_short() {
    let mut random = Random(132);
    for mesh in [Mesh::sheet(17, 17, 1.0, 1.0), Mesh::equilateral(1.0, 1.0, 0.06)] {
        let (mut worst, mut off, mut count) = (0.0_f64, 0, 0);
        for _ in 0..10 {
            let sources: Vec<u32> = (0..4).map(|_| random.below(mesh.positions.len()) as u32).collect();
            let apart = (0..4).all(|i| (0..i).all(|j| sources[i] != sources[j]));
            if !apart {
                continue;
            }
            for (v, reached) in from(&sources, &mesh, true).iter().enumerate() {
                let straight = euclid(&sources, &mesh, v as u32);
                let own = mesh.distance(sources[reached.source as usize], v as u32);
                assert!(reached.distance >= own - 1e-9, "too short: {} of {own}", reached.distance);
                worst = worst.max(reached.distance / straight.max(1e-9) - 1.0);
                off += usize::from(reached.distance > straight + 1e-9);
                count += 1;
            }
        }
        // Where two fronts meet, a way can run along edges: 8.3 % too long at most on squares with diagonals, 15.5 % on
        // equilateral triangles.
        println!("several sources: {off} of {count} are longer than straight, at most by {:.2} %", 100.0 * worst);
        assert!(worst < 0.155, "{worst}");
    }
}

#[test]
fn a_pinned_edge_is_a_row_of_sources() {
    let mesh = Mesh::sheet(15, 11, 1.4, 1.0);
    let row: Vec<u32> = (0..15).collect();
    for (v, reached) in from(&row, &mesh, true).iter().enumerate() {
        assert_close(reached.distance, f64::from(v as u32 / 15) * 0.1, 1e-12);
    }
}

#[test]
fn on_a_cylinder_it_is_the_unrolled_distance_within_a_percent() {
    for flat in [Mesh::sheet(31, 31, 1.0, 1.0), Mesh::equilateral(1.0, 1.0, 0.03), Mesh::disc(0.5, 800, 90)] {
        let rolled = flat.clone().rolled(0.25);
        // From the middle, so that no straight way leaves the sheet between vertices of its rim.
        let middle =
            |&a: &u32, &b: &u32| flat.positions[a as usize].norm().total_cmp(&flat.positions[b as usize].norm());
        let source = (0..flat.positions.len() as u32).min_by(middle).unwrap();
        let mut worst = 0.0_f64;
        for (v, reached) in from(&[source], &rolled, true).iter().enumerate().filter(|(v, _)| *v as u32 != source) {
            let ratio = reached.distance / flat.distance(source, v as u32) - 1.0;
            worst = worst.max(ratio.abs());
            assert!(reached.distance >= rolled.distance(source, v as u32) - 1e-9, "shorter than through the air");
        }
        println!("cylinder: off by {:.3} % at most", 100.0 * worst);
        assert!(worst < 0.01, "{worst}");
    }
}

#[test]
fn round_a_closed_tube_it_is_the_shorter_of_both_ways() {
    // Pieces of a sheet whose left and right column are the same vertices.
    let (columns, rows, radius) = (48_u32, 30_u32, 0.15);
    let edge = std::f64::consts::TAU * radius / f64::from(columns);
    let sheet = Mesh::sheet(columns + 1, rows, 1.0, 1.0);
    let number = |v: u32| (v / (columns + 1)) * columns + (v % (columns + 1)) % columns;
    let place = |v: u32| {
        let angle = std::f64::consts::TAU * f64::from(v % columns) / f64::from(columns);
        Vec3::new(radius * angle.cos(), edge * f64::from(v / columns), radius * angle.sin())
    };
    let triangles = sheet.triangles.iter().map(|t| t.map(number)).collect();
    let tube = Mesh::new((0..columns * rows).map(place).collect(), triangles);
    // What the polygon with `columns` sides unrolls to.
    let side = 2.0 * radius * (std::f64::consts::PI / f64::from(columns)).sin();
    let source = 10;
    let (mut long, mut short) = (0.0_f64, 0.0_f64);
    for (v, reached) in from(&[source], &tube, true).iter().enumerate().filter(|(v, _)| *v as u32 != source) {
        let [dx, dy] = [v as u32 % columns, v as u32 / columns];
        let across = dx.abs_diff(source % columns);
        let unrolled = (f64::from(across.min(columns - across)) * side).hypot(f64::from(dy) * edge);
        long = long.max(reached.distance / unrolled - 1.0);
        short = short.max(1.0 - reached.distance / unrolled);
    }
    println!("tube: too long by {:.3} %, too short by {:.3} % at most", 100.0 * long, 100.0 * short);
    assert!(long < 0.01, "{long}");
    assert!(short < 1e-9, "{short}");
}

#[test]
fn no_way_is_shorter_than_the_straight_line_on_crumpled_cloth() {
    let mut random = Random(133);
    for mesh in [Mesh::sheet(12, 12, 1.0, 1.0), Mesh::disc(0.5, 90, 30), Mesh::icosphere(2)] {
        let mesh = mesh.shaken(0.05, &mut random);
        for source in [0, 5, 60] {
            let (across, along) = (from(&[source], &mesh, true), from(&[source], &mesh, false));
            for v in 0..mesh.positions.len() {
                assert!(across[v].distance >= mesh.distance(source, v as u32) - 1e-9);
                assert!(across[v].distance <= along[v].distance + 1e-9, "a way along edges is always one");
            }
        }
    }
}

#[test]
fn along_the_edges_of_quads_alone_it_counts_blocks() {
    let mesh = Mesh::of(&rule::quad_sheet([9, 7], [0.8, 0.6]));
    let mut lengths = mesh.edge_lengths();
    // Diagonals hold nothing.
    lengths.iter_mut().filter(|length| **length > 0.11).for_each(|length| *length = f64::INFINITY);
    let found = distances(&[0], &mesh.triangles, &mesh.topology, &lengths, &mesh.vertex_triangles(), false);
    for (v, reached) in found.iter().enumerate() {
        let d = mesh.positions[v] - mesh.positions[0];
        assert_close(reached.distance, d.x.abs() + d.z.abs(), 1e-12);
    }
}

#[test]
fn pieces_without_a_source_are_never_reached() {
    let one = Mesh::sheet(4, 4, 1.0, 1.0);
    let count = one.positions.len() as u32;
    let positions = one.positions.iter().chain(&one.positions).copied().collect();
    let moved = one.triangles.iter().map(|t| t.map(|v| v + count));
    let mesh = Mesh::new(positions, one.triangles.iter().copied().chain(moved).collect());
    for across in [false, true] {
        let found = from(&[3], &mesh, across);
        assert!(found[..count as usize].iter().all(|reached| reached.distance.is_finite()));
        assert!(found[count as usize..].iter().all(|reached| *reached == Reached::NEVER));
    }
    assert!(from(&[], &mesh, true).iter().all(|reached| *reached == Reached::NEVER));
    assert_eq!(to_middle([Reached::NEVER; 2], 1.0).distance, f64::INFINITY);
    let half = to_middle([Reached { distance: 2.0, source: 5 }, Reached::NEVER], 1.0);
    assert_eq!(half, Reached { distance: 2.5, source: 5 });
}

#[test]
fn the_middle_of_an_edge_is_measured_in_the_plane() {
    let mut random = Random(134);
    for _ in 0..200 {
        let (a, b, source) = (random.vector(), random.vector(), random.vector());
        let reached = |p: Vec3| Reached { distance: (p - source).norm(), source: 7 };
        let middle = to_middle([reached(a), reached(b)], (b - a).norm());
        assert_eq!(middle.source, 7);
        assert_close(middle.distance, ((a + b) / 2.0 - source).norm(), 1e-7);
    }
    // From two sources it goes along the edge, from the nearer end.
    let ends = [Reached { distance: 0.5, source: 1 }, Reached { distance: 0.4, source: 2 }];
    assert_eq!(to_middle(ends, 0.2), Reached { distance: 0.5, source: 2 });
}
