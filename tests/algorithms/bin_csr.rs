//! Matrices in bins: against dense ones, and how much of them is padding.

use kiln::algorithms::cloth::bending::Bending;
use kiln::algorithms::cloth::nonconforming::Nonconforming;
use kiln::algorithms::parallel::bin_csr::{Assembly, BIN, BinBcsr, BinCsr, BinMatrix, Block, Pattern};
use kiln::algorithms::parallel::independent_groups::IndependentPairs;
use kiln::math::rows::Rows;
use nalgebra::{DMatrix, DVector};

use crate::pseudo_volume::{Soup, cells_of};
use crate::tet_lattice::lattice_of;
use crate::{Mesh, Random, assert_close};

fn block<const SIDE: usize>(random: &mut Random) -> Block<SIDE> {
    std::array::from_fn(|_| std::array::from_fn(|_| random.within(-1.0, 1.0)))
}

/// Rows of random lengths, some of them empty, all with a diagonal or none.
fn random_rows<const SIDE: usize>(count: usize, random: &mut Random) -> Rows<(u32, Block<SIDE>)> {
    let rows: Vec<Vec<(u32, Block<SIDE>)>> = (0..count)
        .map(|row| {
            let length = if row % 5 == 3 { 0 } else { random.below(9) };
            let mut entries: Vec<(u32, Block<SIDE>)> =
                (0..length).map(|_| (random.below(count) as u32, block(random))).collect();
            if row % 4 != 1 {
                entries.push((row as u32, block(random)));
            }
            entries
        })
        .collect();
    rows.into_iter().collect()
}

fn dense<const SIDE: usize>(rows: &Rows<(u32, Block<SIDE>)>) -> DMatrix<f64> {
    let mut matrix = DMatrix::zeros(SIDE * rows.len(), SIDE * rows.len());
    for (row, entries) in rows.iter().enumerate() {
        for (column, block) in entries {
            for (i, j) in (0..SIDE).flat_map(|i| (0..SIDE).map(move |j| (i, j))) {
                matrix[(SIDE * row + i, SIDE * *column as usize + j)] += block[i][j];
            }
        }
    }
    matrix
}

/// What a matrix holds, read slot by slot.
fn back<const SIDE: usize>(matrix: &BinMatrix<SIDE>) -> DMatrix<f64> {
    let pattern = &matrix.pattern;
    let size = SIDE * pattern.row_count();
    let mut all = DMatrix::zeros(size, size);
    for row in 0..pattern.row_count() {
        let own = (row, row, &matrix.diagonal, pattern.padded_row_count());
        let rest =
            pattern.slots(row).map(|s| (s, pattern.columns()[s] as usize, &matrix.values, pattern.columns().len()));
        for (at, column, planes, stride) in rest.chain([own]) {
            for (i, j) in (0..SIDE).flat_map(|i| (0..SIDE).map(move |j| (i, j))) {
                all[(SIDE * row + i, SIDE * column + j)] += planes[(SIDE * i + j) * stride + at];
            }
        }
    }
    all
}

fn check<const SIDE: usize>(count: usize, random: &mut Random) {
    let rows = random_rows::<SIDE>(count, random);
    let matrix = BinMatrix::<SIDE>::from_rows(&rows).unwrap();
    let pattern = &matrix.pattern;
    let expected = dense(&rows);
    assert!((back(&matrix) - &expected).amax() <= 1e-15);
    assert_eq!(pattern.padded_row_count(), count.next_multiple_of(BIN));
    assert_eq!(pattern.starts().len(), count.div_ceil(BIN) + 1);
    assert!(pattern.columns().iter().all(|&column| (column as usize) < count));
    let x: Vec<f64> = (0..SIDE * count).map(|_| random.within(-1.0, 1.0)).collect();
    let mut out = vec![7.0; x.len()];
    matrix.multiply(&x, &mut out);
    assert!((DVector::from_vec(out) - expected * DVector::from_vec(x)).amax() < 1e-13);
    for row in 0..count {
        let columns: Vec<usize> = pattern.slots(row).map(|slot| pattern.columns()[slot] as usize).collect();
        assert!(columns.windows(2).all(|pair| pair[0] < pair[1]), "in order, each one once");
        for column in (0..count).filter(|&column| column != row) {
            let found = pattern.slot(row, column).map(|slot| pattern.columns()[slot] as usize);
            assert_eq!(found, columns.contains(&column).then_some(column));
        }
    }
}

#[test]
fn a_matrix_comes_back_and_multiplies_as_a_dense_one() {
    let mut random = Random(310);
    for count in [1, 2, 31, 32, 33, 64, 75] {
        check::<1>(count, &mut random);
        check::<3>(count, &mut random);
    }
}

#[test]
fn empty_matrices_and_columns_that_are_not_there() {
    let empty = BinCsr::from_rows(&Rows::default()).unwrap();
    assert_eq!((empty.pattern.row_count(), empty.pattern.bin_count(), empty.pattern.padding()), (0, 0, 0.0));
    empty.multiply(&[], &mut []);
    let only_diagonal = BinCsr::from_rows(&[[(0, [[2.0]])]].into_iter().collect()).unwrap();
    assert_eq!((only_diagonal.pattern.entry_count(), only_diagonal.pattern.padding()), (0, 0.0));
    assert_eq!(BinCsr::from_rows(&[[(1, [[2.0]])]].into_iter().collect()), None);
    assert_eq!(Assembly::new(2, &[[0, 2]]), None);
}

#[test]
fn entries_stand_column_by_column_and_bins_are_as_wide_as_their_longest_row() {
    // Row 40 has three entries, all others of its bin one, those of the first bin two.
    let row = |i: u32| match i {
        40 => vec![0, 1, 2],
        0..32 => vec![(i + 1) % 64, (i + 5) % 64],
        _ => vec![(i + 1) % 64],
    };
    let pattern = Pattern::new(&(0..64).map(row).collect()).unwrap();
    assert_eq!(pattern.starts(), [0, 64, 160]);
    assert_eq!(pattern.entry_count(), 64 + 3 + 31);
    assert_close(pattern.padding(), 160.0 / 98.0 - 1.0, 1e-15);
    assert_eq!(pattern.slots(3).collect::<Vec<_>>(), [3, 35]);
    assert_eq!(pattern.slots(40).collect::<Vec<_>>(), [72, 104, 136]);
    assert_eq!(pattern.columns()[72..75], [0, 42, 43], "neighbours in memory are neighbouring rows");
    assert_eq!(pattern.columns()[105], 41, "what fills up looks at its own row");
}

#[test]
fn contributions_add_up() {
    let mut random = Random(311);
    let count = 37;
    let places: Vec<[u32; 2]> = (0..300).map(|_| [(); 2].map(|()| random.below(count - 1) as u32)).collect();
    let local: Vec<Block<3>> = places.iter().map(|_| block(&mut random)).collect();
    let (pattern, assembly) = Assembly::new(count, &places).unwrap();
    let mut matrix = BinBcsr::zeros(pattern);
    assembly.assemble(&local, &mut matrix);
    let mut rows: Vec<Vec<(u32, Block<3>)>> = vec![Vec::new(); count];
    for (&[row, column], block) in places.iter().zip(&local) {
        rows[row as usize].push((column, *block));
        if row != column {
            let turned = std::array::from_fn(|i| std::array::from_fn(|j| block[j][i]));
            rows[column as usize].push((row, turned));
        }
    }
    let expected = dense(&rows.into_iter().collect());
    assert!((back(&matrix) - expected).amax() < 1e-13);
}

#[test]
fn rows_change_places_where_that_leaves_less_to_fill_up() {
    // Every third row has four entries, the others one: three bins in their own order, of 4 columns each, one of them and two of 1 when sorted.
    let length = |i: u32| if i.is_multiple_of(3) { 4 } else { 1 };
    let row = |i: u32| (1..=length(i)).map(move |n| (i + n) % 96).collect::<Vec<u32>>();
    let pattern = Pattern::new(&(0..96).map(row).collect()).unwrap();
    assert_eq!(pattern.starts(), [0, 128, 160, 192]);
    assert_eq!(pattern.padding(), 0.0);
    let expected: Vec<u32> = (0..96).step_by(3).chain((0..96).filter(|i| i % 3 != 0)).collect();
    assert_eq!(pattern.order(), expected, "rows of one length keep their order");
    assert_eq!(pattern.slots(3).collect::<Vec<_>>(), [1, 33, 65, 97]);
    assert_eq!(pattern.columns()[128..131], [2, 3, 5], "of rows 1, 2 and 4");

    // Long rows far apart stay far apart; rows of a length stay where they are.
    let far = |i: u32| vec![(i + 1) % 2048; usize::from(i.is_multiple_of(600))];
    let order = Pattern::new(&(0..2048).map(far).collect()).unwrap().order().to_vec();
    let moved = order.iter().enumerate().map(|(place, &row)| place.abs_diff(row as usize)).max().unwrap();
    assert!(moved < 16 * BIN, "{moved}");
    let alike = Pattern::new(&(0..100).map(|i| vec![(i + 1) % 100]).collect()).unwrap();
    assert!(alike.order().is_sorted());
}

/// A row of the table: longest, shortest and mean row with its diagonal; the padding off the diagonal, of all, and if rows did not change places.
fn padding(name: &str, side: usize, columns: Vec<Vec<u32>>) -> f64 {
    let pattern = Pattern::new(&columns.into_iter().collect()).unwrap();
    let rows = pattern.row_count();
    let lengths = (0..rows).map(|row| side * (pattern.slots(row).len() + 1));
    let (entries, slots) = (pattern.entry_count(), pattern.columns().len());
    let all = (slots + pattern.padded_row_count()) as f64 / (entries + rows) as f64 - 1.0;
    let as_they_are: Vec<usize> = (0..rows).map(|row| pattern.slots(row).len()).collect();
    let as_they_are: usize = as_they_are.chunks(BIN).map(|bin| BIN * bin.iter().max().unwrap()).sum();
    assert!(slots <= as_they_are);
    println!(
        "{name:<46} {:>7} {:>10} {:>4} {:>4} {:>6.1} {:>6.2} % {:>6.2} % {:>6.2} %",
        side * rows,
        side * side * (entries + rows),
        lengths.clone().max().unwrap(),
        lengths.clone().min().unwrap(),
        lengths.sum::<usize>() as f64 / rows as f64,
        100.0 * pattern.padding(),
        100.0 * all,
        100.0 * (as_they_are as f64 / entries as f64 - 1.0),
    );
    pattern.padding()
}

/// The pattern of the constraint system of these pairs: rows meet that share a particle.
fn constraints(particle_count: usize, pairs: &[[u32; 2]]) -> Vec<Vec<u32>> {
    let mut of_particles = vec![Vec::new(); particle_count];
    for (row, pair) in pairs.iter().enumerate() {
        pair.iter().for_each(|&p| of_particles[p as usize].push(row as u32));
    }
    pairs.iter().map(|pair| pair.iter().flat_map(|&p| of_particles[p as usize].clone()).collect()).collect()
}

/// The same in the order in which constraints are kept.
fn arranged(particle_count: usize, pairs: &[[u32; 2]]) -> Vec<Vec<u32>> {
    constraints(particle_count, IndependentPairs::arrange(particle_count, pairs).unwrap().0.pairs())
}

/// The pattern of the matrix of bending: particles meet that share a row.
fn bending(particle_count: usize, bending: &Bending) -> Vec<Vec<u32>> {
    let mut columns = vec![Vec::new(); particle_count];
    for row in &bending.rows {
        row.particles.iter().for_each(|&i| columns[i as usize].extend(row.particles));
    }
    columns
}

#[test]
fn padding_is_small() {
    println!("{:<46}    size    entries most least  mean  padding   of all unsorted", "matrix");
    // Springs between neighbours, along diagonals, and past one neighbour: the published sheet.
    let side = 160_i64;
    let node = |i: i64, j: i64| (i * side + j) as u32;
    let near = |(i, j): (i64, i64)| -> Vec<u32> {
        let steps = [-2, -1, 0, 1, 2].into_iter().flat_map(|a| [-2_i64, -1, 0, 1, 2].map(|b| [a, b]));
        let ties = steps.filter(|[a, b]: &[i64; 2]| a * b == 0 || a.abs() == b.abs()).map(|[a, b]| [i + a, j + b]);
        ties.filter(|at| at.iter().all(|c| (0..side).contains(c))).map(|[i, j]| node(i, j)).collect()
    };
    let sheet: Vec<Vec<u32>> = (0..side).flat_map(|i| (0..side).map(move |j| (i, j))).map(near).collect();
    assert!(padding("springs of a sheet of 160 x 160", 3, sheet.clone()) < 0.01);
    // Published with a row for each number: 0.4 %, in an order that is not told. The width of bins makes no difference here.
    let numbers = |row: &Vec<u32>| row.iter().flat_map(|&c| [3 * c, 3 * c + 1, 3 * c + 2]).collect::<Vec<u32>>();
    let sheet = sheet.iter().flat_map(|row| [(); 3].map(|()| numbers(row))).collect();
    assert!(padding("the same, a row for each number", 1, sheet) < 0.01);

    let grid = Mesh::sheet(160, 160, 1.0, 1.0);
    let of_vertices = Bending::of_vertices(25_600, &grid.flat(), &grid.triangles, &grid.topology, |_| 1.0);
    let straight = |ends: &&[u32; 2]| [1, 160].contains(&ends[0].abs_diff(ends[1]));
    let edges: Vec<[u32; 2]> = grid.topology.edges.iter().filter(straight).copied().collect();
    assert_eq!(edges.len(), 2 * 160 * 159);
    assert!(padding("grid of 160 x 160, constraints", 1, arranged(25_600, &edges)) < 0.01);
    // Its diagonals alternate, and with them long and short rows.
    assert!(padding("sheet of 160 x 160, bending", 1, bending(25_600, &of_vertices)) < 0.01);

    let sheet = Mesh::sheet(100, 100, 1.0, 1.0);
    let model = Nonconforming::build(&sheet.positions, &sheet.flat(), &sheet.topology);
    let pairs: Vec<[u32; 2]> = model.pairs.iter().map(|pair| pair.particles).collect();
    let count = model.midpoints.len();
    assert_eq!(pairs.len(), 59_396);
    assert!(padding("sheet on a ball, 59 396 constraints", 1, arranged(count, &pairs)) < 0.03);
    assert!(padding("the same, triangle by triangle", 1, constraints(count, &pairs)) < 0.1);
    let of_midpoints = Bending::of_midpoints(&sheet.flat(), &sheet.triangles, &sheet.topology, |_| 1.0);
    assert!(padding("sheet on a ball, bending of midpoints", 1, bending(count, &of_midpoints)) < 0.1);

    // A node of a lattice has 18 neighbours or 6, and the next one the other.
    let lattice = lattice_of(&Soup::cube(0.5), &cells_of(0.125));
    let mut columns = vec![Vec::new(); lattice.mesh.positions.len()];
    for tet in &lattice.mesh.tets {
        tet.iter().for_each(|&node| columns[node as usize].extend(tet));
    }
    assert!(padding("tetrahedra in a box", 3, columns) < 0.1);
}
