//! Large linear systems: products against the processor's, solutions against dense ones, and solves that cannot end well.

use std::rc::Rc;

use kiln::algorithms::parallel::bin_csr::{Assembly, BIN, BinBcsr, BinCsr, BinMatrix, Block, Pattern};
use kiln::math::Vec3;
use kiln::math::rows::Rows;
use kiln::solver::cpu::linear::LinearSolver;
use kiln::solver::gpu::cloth_systems::{BendingSystem, ConstraintSystem};
use kiln::solver::gpu::joined::Joined;
use kiln::solver::gpu::linear::{Enough, Form, Freedom, Matrix, MatrixAssembly, Pcg, StateData};
use kiln::solver::gpu::particles::Particles;
use kiln::solver::gpu::{Gpu, Limits};
use nalgebra::{DMatrix, DVector};

use crate::{noise, open, vector};

/// Symmetric, positive definite, sparse; every fifth row has its diagonal alone.
fn matrix<const SIDE: usize>(count: usize, seed: u64) -> BinMatrix<SIDE> {
    let mut next = noise(seed);
    let mut rows: Vec<Vec<(u32, Block<SIDE>)>> = vec![Vec::new(); count];
    let mut sums = vec![[0.0; SIDE]; count];
    for row in (0..count).filter(|row| row % 5 != 3) {
        for step in [1, 7, 40] {
            let other = (row + step) % count;
            if other % 5 == 3 || other <= row {
                continue;
            }
            let block: Block<SIDE> = std::array::from_fn(|_| std::array::from_fn(|_| next()));
            let turned: Block<SIDE> = std::array::from_fn(|i| std::array::from_fn(|j| block[j][i]));
            for i in 0..SIDE {
                sums[row][i] += block[i].iter().map(|a| a.abs()).sum::<f64>();
                sums[other][i] += turned[i].iter().map(|a| a.abs()).sum::<f64>();
            }
            rows[row].push((other as u32, block));
            rows[other].push((row as u32, turned));
        }
    }
    for row in 0..count {
        let mut block: Block<SIDE> = std::array::from_fn(|_| std::array::from_fn(|_| 0.3));
        (0..SIDE).for_each(|i| block[i][i] = sums[row][i] * 1.01 + 1.0 + next().abs());
        rows[row].push((row as u32, block));
    }
    BinMatrix::from_rows(&rows.into_iter().collect()).unwrap()
}

fn dense<const SIDE: usize>(matrix: &BinMatrix<SIDE>) -> DMatrix<f64> {
    let size = SIDE * matrix.pattern.row_count();
    let mut all = DMatrix::zeros(size, size);
    for column in 0..size {
        let mut unit = vec![0.0; size];
        unit[column] = 1.0;
        matrix.multiply(&unit, all.column_mut(column).as_mut_slice());
    }
    all
}

/// Numbers of a vector on the device; those that are not used are odd.
fn padded(form: Form, values: &[f64]) -> Vec<f32> {
    match form {
        Form::One => values.iter().map(|&v| v as f32).collect(),
        _ => values.chunks(3).flat_map(|v| [v[0] as f32, v[1] as f32, v[2] as f32, 0.0]).collect(),
    }
}

fn unpadded(form: Form, values: &[f32]) -> Vec<f64> {
    match form {
        Form::One => values.iter().map(|&v| f64::from(v)).collect(),
        _ => values.chunks(4).flat_map(|v| [v[0], v[1], v[2]].map(f64::from)).collect(),
    }
}

fn read(gpu: &Gpu, slab: &kiln::solver::gpu::work::Slab<f32>) -> Vec<f32> {
    let mut values = Vec::new();
    gpu.read(slab, &mut values);
    assert_eq!(gpu.trouble(), None);
    values
}

fn random(count: usize, seed: u64) -> Vec<f64> {
    let mut next = noise(seed);
    (0..count).map(|_| next()).collect()
}

/// `A x` for each right-hand side of a form.
fn product<const SIDE: usize>(form: Form, matrix: &BinMatrix<SIDE>, x: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; x.len()];
    if form != Form::Three {
        matrix.multiply(x, &mut out);
        return out;
    }
    for lane in 0..3 {
        let one: Vec<f64> = x.iter().copied().skip(lane).step_by(3).collect();
        let mut of_one = vec![0.0; one.len()];
        matrix.multiply(&one, &mut of_one);
        of_one.iter().enumerate().for_each(|(row, value)| out[3 * row + lane] = *value);
    }
    out
}

fn multiplies<const SIDE: usize>(form: Form, count: usize, limits: Option<Limits>, parts: usize) {
    let gpu = Rc::new(open(limits));
    let on_host = matrix::<SIDE>(count, count as u64);
    // Its rows are not all alike, so some change places.
    assert!(on_host.pattern.order().is_sorted() == (count <= BIN), "{count}");
    let on_device = Matrix::new(&gpu, form, &on_host.pattern);
    on_device.load(&on_host);
    assert!(on_device.part_count() >= parts, "{}", on_device.part_count());
    let x = random(count * if form == Form::One { 1 } else { 3 }, 5);
    let from = gpu.slab("from", &padded(form, &x));
    let to = gpu.zeros::<f32>("to", from.len());
    let dispatches = on_device.product(&from, &to);
    gpu.run(&dispatches);
    let found = unpadded(form, &read(&gpu, &to));
    for (found, expected) in found.iter().zip(product(form, &on_host, &x)) {
        assert!((found - expected).abs() < 1e-6 * 30.0, "{form:?} {count}: {found} is not {expected}");
    }
}

#[test]
fn products_are_those_of_the_processor() {
    for count in [0, 1, 31, 33, 64, 65, 1000, 70_000] {
        multiplies::<1>(Form::One, count, None, 0);
        multiplies::<1>(Form::Three, count, None, 0);
        multiplies::<3>(Form::Blocks, count, None, 0);
    }
}

#[test]
fn what_is_larger_than_a_binding_comes_in_parts() {
    // Enough for vectors, the diagonal and the order of rows, not for the entries.
    multiplies::<1>(Form::One, 5000, Some(Limits { groups: 10, binding: 20_800 }), 4);
    multiplies::<3>(Form::Blocks, 5000, Some(Limits { groups: 10, binding: 190_000 }), 4);
    let gpu = open(Some(Limits { groups: 10, binding: 20_800 }));
    let whole = open(None);
    let solve = |gpu: Gpu| {
        let gpu = Rc::new(gpu);
        let pcg = prepared::<1>(&gpu, Form::One, &matrix(5000, 8), None);
        gpu.write(&pcg.right, 0, &padded(Form::One, &random(5000, 9)));
        pcg.aim(Enough { relative: 1e-5, absolute: f64::INFINITY, most_iterations: 100 });
        let state = pcg.solve(10);
        assert!(state.is_solved());
        (read(&gpu, &pcg.x), state, pcg.dispatches_per_iteration())
    };
    let (x, state, dispatches) = solve(gpu);
    let (expected, of_whole, of_whole_dispatches) = solve(whole);
    assert_eq!((x, state), (expected, of_whole));
    assert!(dispatches > 5 && of_whole_dispatches == 3, "{dispatches} {of_whole_dispatches}");
}

fn prepared<const SIDE: usize>(
    gpu: &Rc<Gpu>,
    form: Form,
    on_host: &BinMatrix<SIDE>,
    filter: Option<&[Freedom]>,
) -> Pcg {
    let on_device = Matrix::new(gpu, form, &on_host.pattern);
    on_device.load(on_host);
    let pcg = Pcg::new(on_device, filter);
    pcg.renew();
    pcg
}

#[test]
fn contributions_are_gathered() {
    for binding in [1 << 27, 36_000] {
        let gpu = Rc::new(open(Some(Limits { groups: 30, binding })));
        gathers::<1>(&gpu, Form::One);
        gathers::<3>(&gpu, Form::Blocks);
    }
}

fn gathers<const SIDE: usize>(gpu: &Rc<Gpu>, form: Form) {
    let count = 500;
    let mut next = noise(77);
    let mut node = || ((next() + 1.0) * 0.4999 * count as f64) as u32;
    let places: Vec<[u32; 2]> = (0..900).map(|_| [node(), node()]).chain((0..10).map(|_| [7, 8])).collect();
    let (pattern, assembly) = Assembly::new(count, &places).unwrap();
    let mut next = noise(78);
    let local: Vec<Block<SIDE>> =
        places.iter().map(|_| std::array::from_fn(|_| std::array::from_fn(|_| f64::from(next() as f32)))).collect();
    let planes: Vec<f32> =
        (0..SIDE * SIDE).flat_map(|plane| local.iter().map(move |block| block.as_flattened()[plane] as f32)).collect();
    let mut on_host = BinMatrix::<SIDE>::zeros(pattern);
    assembly.assemble(&local, &mut on_host);
    let on_device = Matrix::new(gpu, form, &on_host.pattern);
    let local = gpu.slab("local", &planes);
    MatrixAssembly::new(gpu, &on_device, &assembly, places.len(), &local).run(gpu);
    let x = random(SIDE * count, 6);
    let from = gpu.slab("from", &padded(form, &x));
    let to = gpu.zeros::<f32>("to", from.len());
    gpu.run(&on_device.product(&from, &to));
    let found = unpadded(form, &read(gpu, &to));
    for (found, expected) in found.iter().zip(product(form, &on_host, &x)) {
        assert!((found - expected).abs() < 2e-5, "{form:?}: {found} is not {expected}");
    }
    // Local contributions may change; the lists are the same.
    gpu.write(&local, 0, &vec![0.0; planes.len()]);
    MatrixAssembly::new(gpu, &on_device, &assembly, places.len(), &local).run(gpu);
    gpu.run(&on_device.product(&from, &to));
    assert!(read(gpu, &to).iter().all(|value| *value == 0.0));
}

/// Solve and compare with a dense solve of what is free; returns the state.
fn solves<const SIDE: usize>(form: Form, count: usize, filter: Option<&[Freedom]>, relative: f64) -> StateData {
    let gpu = Rc::new(open(None));
    let on_host = matrix::<SIDE>(count, 20 + count as u64);
    let pcg = prepared(&gpu, form, &on_host, filter);
    let width = if form == Form::One { 1 } else { 3 };
    let (right, start) = (random(width * count, 21), random(width * count, 22));
    gpu.write(&pcg.right, 0, &padded(form, &right));
    gpu.write(&pcg.x, 0, &padded(form, &start));
    pcg.aim(Enough { relative, absolute: f64::INFINITY, most_iterations: 300 });
    let before = gpu.counts();
    let state = pcg.solve(8);
    let after = gpu.counts();
    assert!(state.is_solved() && state.is_idle(), "{form:?} {count}: {state:?}");
    let waits = after.read_backs - before.read_backs;
    let most = 3 * (state.iterations().max(1) + 8) + 6;
    assert!(after.dispatches - before.dispatches <= u64::from(most), "three dispatches an iteration");
    assert!(waits <= u64::from(state.iterations()) / 8 + 2, "{waits}");

    let found = unpadded(form, &read(&gpu, &pcg.x));
    let free = Freedom::Free;
    let all = dense(&on_host);
    for lane in 0..if form == Form::Three { 3 } else { 1 } {
        let pick = |values: &[f64]| -> DVector<f64> {
            match form {
                Form::Three => DVector::from_iterator(count, values.iter().copied().skip(lane).step_by(3)),
                _ => DVector::from_column_slice(values),
            }
        };
        let (found, start, right) = (pick(&found), pick(&start), pick(&right));
        // S: what may change.
        let mut s = DMatrix::<f64>::identity(all.nrows(), all.nrows());
        for row in 0..count {
            let freedom = filter.map_or(&free, |filter| &filter[row]);
            let mut block = s.view_mut((SIDE * row, SIDE * row), (SIDE, SIDE));
            match *freedom {
                Freedom::Free => {}
                Freedom::Held => block.fill(0.0),
                Freedom::Across(p) => {
                    (0..9).for_each(|n| block[(n / 3, n % 3)] -= f64::from(p[n / 3]) * f64::from(p[n % 3]));
                }
                Freedom::Along(p) => {
                    (0..9).for_each(|n| block[(n / 3, n % 3)] = f64::from(p[n / 3]) * f64::from(p[n % 3]));
                }
            }
        }
        let rest = DMatrix::<f64>::identity(all.nrows(), all.nrows()) - &s;
        let reduced = &s * &all * &s + &rest;
        let kept = &rest * &start;
        let expected = &kept + &s * reduced.lu().solve(&(&s * (&right - &all * &kept))).unwrap();
        let off = (&found - &expected).amax() / expected.amax();
        assert!(off < 30.0 * relative, "{form:?} {count}: off by {off}");
        assert!((&rest * (&found - &start)).amax() < 1e-6, "what is held stays");
        let residual = (&s * (&right - &all * &found)).norm() / (&s * (&right - &all * &kept)).norm().max(1e-3);
        assert!(residual < 5.0 * relative, "{form:?} {count}: {residual}");
    }
    state
}

#[test]
fn it_finds_what_a_dense_solve_finds() {
    for count in [1, 2, 40, 150] {
        solves::<1>(Form::One, count, None, 1e-5);
        solves::<1>(Form::Three, count, None, 1e-5);
        solves::<3>(Form::Blocks, count, None, 1e-5);
    }
}

#[test]
fn rows_that_are_filtered_keep_what_they_have() {
    let held = |row: usize| if row % 4 == 1 { Freedom::Held } else { Freedom::Free };
    let filter: Vec<Freedom> = (0..70).map(held).collect();
    solves::<1>(Form::One, 70, Some(&filter), 1e-5);
    solves::<1>(Form::Three, 70, Some(&filter), 1e-5);
    // On planes and lines that are not along axes, where a filter before the preconditioner alone would not do.
    let p = [0.6, 0.0, 0.8];
    let kinds = [Freedom::Free, Freedom::Across(p), Freedom::Along(p), Freedom::Held, Freedom::Across([0.0, 1.0, 0.0])];
    let filter: Vec<Freedom> = (0..70).map(|row| kinds[row % 5]).collect();
    solves::<3>(Form::Blocks, 70, Some(&filter), 1e-5);
    let all_held = vec![Freedom::Held; 70];
    assert_eq!(solves::<3>(Form::Blocks, 70, Some(&all_held), 1e-5).iterations(), 0);
}

#[test]
fn a_good_start_takes_no_iteration_and_a_bad_one_ends_too() {
    let gpu = Rc::new(open(None));
    let on_host = matrix::<1>(300, 31);
    for form in [Form::One, Form::Three] {
        let pcg = prepared(&gpu, form, &on_host, None);
        let width = if form == Form::One { 1 } else { 3 };
        gpu.write(&pcg.right, 0, &padded(form, &random(width * 300, 32)));
        let aim = |relative| pcg.aim(Enough { relative, absolute: f64::INFINITY, most_iterations: 500 });
        aim(1e-6);
        assert!(pcg.solve(5).iterations() > 4);
        let found = read(&gpu, &pcg.x);
        aim(1e-4);
        let again = pcg.solve(5);
        assert!(again.is_solved() && again.iterations() == 0, "{again:?}");
        assert_eq!(read(&gpu, &pcg.x), found);
        gpu.write(&pcg.x, 0, &vec![1e6; found.len()]);
        assert!(pcg.solve(5).is_idle());
        // An absolute limit: never more than asked for.
        gpu.write(&pcg.x, 0, &vec![0.0; found.len()]);
        pcg.aim(Enough { relative: 0.5, absolute: 1e-3, most_iterations: 500 });
        let state = pcg.solve(5);
        assert!(state.is_solved() && state.error[0].sqrt() <= 1e-3, "{state:?}");
    }
}

#[test]
fn each_system_of_three_ends_for_itself() {
    let gpu = Rc::new(open(None));
    let on_host = matrix::<1>(200, 41);
    let alone = prepared(&gpu, Form::One, &on_host, None);
    let three = prepared(&gpu, Form::Three, &on_host, None);
    let enough = Enough { relative: 1e-4, absolute: f64::INFINITY, most_iterations: 100 };
    alone.aim(enough);
    three.aim(enough);
    let mut right = random(600, 42);
    // The second has nothing to do, the third something that is not a number.
    right.iter_mut().skip(1).step_by(3).for_each(|b| *b = 0.0);
    right[5 + 3 * 60] = f64::NAN;
    gpu.write(&three.right, 0, &padded(Form::Three, &right));
    let first: Vec<f64> = right.iter().copied().step_by(3).collect();
    gpu.write(&alone.right, 0, &padded(Form::One, &first));
    let (one, all) = (alone.solve(4), three.solve(4));
    assert!(!all.is_solved() && all.is_idle());
    assert_eq!((one.iterations[0], one.error[0]), (all.iterations[0], all.error[0]));
    assert_eq!(all.iterations[1..], [0.0; 3]);
    assert_eq!(all.error[2], 1e30);
    let (one, all) = (read(&gpu, &alone.x), read(&gpu, &three.x));
    for (one, all) in one.iter().zip(all.chunks(4)) {
        assert_eq!(all, [*one, 0.0, 0.0, 0.0]);
    }
}

#[test]
fn what_cannot_be_solved_ends_and_leaves_numbers() {
    let gpu = Rc::new(open(None));
    let count = 100;
    let try_it = |on_host: &BinCsr, right: &[f64], most: u32| {
        let pcg = prepared(&gpu, Form::One, on_host, None);
        gpu.write(&pcg.right, 0, &padded(Form::One, right));
        pcg.aim(Enough { relative: 1e-5, absolute: f64::INFINITY, most_iterations: most });
        let state = pcg.solve(7);
        let x = read(&gpu, &pcg.x);
        assert!(x.iter().all(|x| x.is_finite()), "{state:?}");
        (state, x)
    };
    let sound = matrix::<1>(count, 51);
    let right = random(count, 52);
    // Nothing to do, or nothing allowed.
    let (state, x) = try_it(&sound, &vec![0.0; count], 50);
    assert!(state.is_solved() && state.iterations() == 0 && x.iter().all(|x| *x == 0.0));
    assert_eq!(try_it(&sound, &right, 0).0.iterations(), 0);
    let (state, _) = try_it(&sound, &right, 3);
    assert!(state.iterations() == 3 && !state.is_solved());
    // Numbers that are none.
    for bad in [f64::NAN, f64::INFINITY] {
        let mut broken = right.clone();
        broken[70] = bad;
        let (state, x) = try_it(&sound, &broken, 50);
        assert!(!state.is_solved() && x.iter().all(|x| *x == 0.0), "{state:?}");
        let mut broken = sound.clone();
        broken.values[3] = bad;
        assert!(!try_it(&broken, &right, 50).0.is_solved());
    }
    // No curvature, or one that points the other way.
    let mut flat = sound.clone();
    flat.diagonal.fill(0.0);
    assert_eq!(try_it(&flat, &right, 50).0.iterations(), 0);
    let mut negative = sound.clone();
    negative.values.iter_mut().for_each(|value| *value *= -100.0);
    let (state, _) = try_it(&negative, &right, 50);
    assert!(!state.is_solved() && state.iterations() < 50, "{state:?}");
    // A row without a diagonal beside sound ones: it stays as it is.
    let mut hole = sound.clone();
    hole.diagonal[8] = 0.0;
    assert_eq!(try_it(&hole, &right, 50).1[8], 0.0);
    assert_eq!(try_it(&BinCsr::zeros(Pattern::new(&Rows::default()).unwrap()), &[], 5).0.iterations(), 0);
    // Blocks that are flat.
    let mut blocks = BinBcsr::from_rows(&[[(0, [[1.0; 3]; 3])]].into_iter().collect()).unwrap();
    blocks.diagonal[0] = 2.0;
    let pcg = prepared(&gpu, Form::Blocks, &blocks, None);
    gpu.write(&pcg.right, 0, &[1.0, 1.0, 1.0, 0.0]);
    pcg.aim(Enough { relative: 1e-5, absolute: f64::INFINITY, most_iterations: 5 });
    assert_eq!(pcg.solve(1).iterations(), 0);
}

#[test]
fn it_may_end_before_it_is_waited_for_and_gives_the_same_bits() {
    let gpu = Rc::new(open(None));
    let on_host = matrix::<3>(2000, 61);
    let run = |every: Option<u32>| {
        let pcg = prepared(&gpu, Form::Blocks, &on_host, None);
        gpu.write(&pcg.right, 0, &padded(Form::Blocks, &random(6000, 62)));
        pcg.aim(Enough { relative: 1e-5, absolute: f64::INFINITY, most_iterations: 60 });
        let state = match every {
            Some(every) => pcg.solve(every),
            None => {
                pcg.begin();
                pcg.iterate(61);
                pcg.state()
            }
        };
        (read(&gpu, &pcg.x), state)
    };
    let first = run(Some(1));
    assert!(first.1.is_solved());
    for every in [Some(1), Some(7), Some(100), None] {
        assert_eq!(run(every), first);
    }
}

/// A hanging sheet, and where its particles would be without constraints.
fn hanging(rest: &str) -> (crate::support::World, Vec<Vec3>) {
    let world = crate::support::World::new(&format!(
        "[scene]\nname = \"test\"\nfps = 30\nframes = \"0-1\"\nsubsteps = 20\n[air]\ndrag = 0\n\
         [[cloth]]\nname = \"sheet\"\nmesh = {{ sheet = {{ size = [1, 1], vertices = [21, 21], quads = true }} }}\n\
         self_collision = false\npins = [{{ vertices = [0, 20] }}]\n{rest}\n"
    ));
    // A wave that makes most of it a little too long.
    let places = &world.start.bodies[0].x;
    let wave = |x: &Vec3| {
        let from = x - places[0];
        places[0] + from * (1.003 + 0.002 * (7.0 * from.x).sin()) + Vec3::new(0.0, 0.003 * (9.0 * from.z).sin(), 0.0)
    };
    let moved = |(x, k): (&Vec3, &f64)| if *k > 0.0 { wave(x) } else { *x };
    let ahead = places.iter().zip(&world.model.cloths[0].k).map(moved).collect();
    (world, ahead)
}

/// Three steps of constraints on both; the look-ahead positions of the last one.
fn constrained(rest: &str) {
    let (world, ahead) = hanging(rest);
    let cloth = &world.model.cloths[0];
    let mut moving = world.start.bodies[0].clone();
    let run = |moving: &mut kiln::model::BodyState| {
        let gpu = Rc::new(open(None));
        let mut particles = Particles::new(&gpu, &cloth.k, &[]);
        let mut on_device = ConstraintSystem::new(&gpu, cloth, &particles).unwrap();
        let mut on_host = LinearSolver::build(cloth, false).unwrap();
        let (mut here, mut there) = (ahead.clone(), ahead.clone());
        on_device.reset();
        for step in 0..4 {
            // Twice in a step, as where contacts have moved something.
            let again = step == 3;
            if again {
                for places in [&mut here, &mut there] {
                    places.iter_mut().skip(30).step_by(9).for_each(|p| p.y += 0.006);
                }
            }
            particles.load(moving);
            particles.write_ahead(&there);
            let before = gpu.counts();
            let of_host = on_host.positions(cloth, &moving.x, &mut here, &[], 1e-3, 9.81, again);
            let of_device = on_device.positions(1e-3, 9.81, again);
            particles.read_ahead(&mut there);
            assert_eq!(gpu.trouble(), None);
            let after = gpu.counts();
            let apart = here.iter().zip(&there).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
            println!(
                "{rest:?}: {apart:.1e} apart, {of_host:?} {of_device:?}, {} iterations, {} dispatches, {} waits",
                on_device.counts.solves,
                after.dispatches - before.dispatches,
                after.read_backs - before.read_backs
            );
            // They began a step from the same places, but where it is taken up again each goes on from its own.
            let part = if again && !cloth.is_bilateral() { 0.2 } else { 0.01 };
            assert!((of_host.worst - of_device.worst).abs() < part * of_host.worst + 1e-4);
            assert!((of_host.load - of_device.load).abs() < 0.1 * of_host.load + 1e-3);
            let stretch = |places: &[Vec3]| -> f64 {
                let of_pair = |(&[a, b], length): (&[u32; 2], &f64)| {
                    let stretch = (places[b as usize] - places[a as usize]).norm() / length - 1.0;
                    if cloth.is_bilateral() { stretch.abs() } else { stretch }
                };
                cloth.pairs.pairs().iter().zip(&cloth.lengths).map(of_pair).fold(0.0, f64::max)
            };
            println!("stretch left: {:.1e} and {:.1e}", stretch(&here), stretch(&there));
            assert!(again || stretch(&there) <= (1.5 * stretch(&here)).max(0.2 * cloth.fabric.max_stretch));
            // Which rows pull is a question of what a solve may leave: two answers are as good as each other and not the same.
            assert!(apart < if cloth.is_bilateral() { 2e-5 } else { 2e-3 }, "{rest}: {apart}");
            if step < 2 {
                moving.x.clone_from(&here);
                here.iter_mut().zip(&cloth.k).filter(|(_, k)| **k > 0.0).for_each(|(p, _)| p.y -= 5e-5);
                there.clone_from(&here);
            }
        }
        there
    };
    let first = run(&mut moving);
    assert_eq!(run(&mut world.start.bodies[0].clone()), first);
}

#[test]
fn constraints_that_hold_both_ways_agree_with_the_processor() {
    constrained("model = \"grid\"\nsolver = \"pcg\"\nbend = 0");
}

#[test]
fn constraints_that_only_pull_agree_with_the_processor() {
    constrained("model = \"stretch_only\"\nsolver = \"pcg\"\nbend = 0");
}

#[test]
fn implicit_bending_is_that_of_a_factor() {
    let (world, mut places) = hanging("model = \"grid\"\nbend = 0.05\ndamping = 0.02");
    let cloth = &world.model.cloths[0];
    assert!(cloth.bend > 0.0 && cloth.fabric.damping > 0.0, "{} {}", cloth.bend, cloth.fabric.damping);
    // Far from the origin, and all of it fast.
    places.iter_mut().for_each(|x| *x += Vec3::new(30.0, 2.0, -10.0));
    let mut next = noise(80);
    let v: Vec<Vec3> = places.iter().map(|_| Vec3::new(10.0, 0.0, 3.0) + vector(&mut next)).collect();
    let beat = 1e-3;
    let mass = |i: usize| if cloth.k[i] > 0.0 { cloth.mass[i] } else { 1e9 * cloth.mass[i] };
    let bending = |values: &[Vec3]| {
        let measured: Vec<Vec3> = cloth.bending.rows.iter().map(|row| row.measure(values)).collect();
        (0..values.len()).map(|i| cloth.bending.gradient(i, &measured)).collect::<Vec<Vec3>>()
    };
    let solve = |scale: f64, right: Vec<Vec3>| {
        let mut entries: Vec<(u32, u32, f64)> = (0..v.len()).map(|i| (i as u32, i as u32, mass(i))).collect();
        for row in &cloth.bending.rows {
            for (i, a) in row.particles.iter().zip(row.coefficients) {
                for (j, b) in row.particles.iter().zip(row.coefficients).filter(|(j, _)| i >= *j) {
                    entries.push((*i, *j, scale * row.weight * a * b));
                }
            }
        }
        let mut right = right;
        kiln::math::sparse_cholesky::SparseCholesky::build(v.len(), &entries).unwrap().solve(&mut right);
        right
    };
    let damped = solve(cloth.bend * beat * cloth.fabric.damping, (0..v.len()).map(|i| v[i] * mass(i)).collect());
    let gradients = bending(&places);
    let of_force = (0..v.len()).map(|i| damped[i] * mass(i) - gradients[i] * (beat * cloth.bend)).collect();
    let expected = solve(cloth.bend * beat * beat, of_force);

    let run = || {
        let gpu = Rc::new(open(None));
        let mut particles = Particles::new(&gpu, &cloth.k, &[]);
        let mut moving = world.start.bodies[0].clone();
        moving.x.clone_from(&places);
        moving.v.clone_from(&v);
        particles.load(&moving);
        let joined = Joined::new(&[cloth]).unwrap();
        let mut system = BendingSystem::new(&gpu, &joined, cloth, &particles).unwrap();
        system.begin_frame(&joined, cloth, beat);
        let before = gpu.counts();
        system.apply();
        let dispatches = gpu.counts().dispatches - before.dispatches;
        assert_eq!(gpu.counts().read_backs, before.read_backs, "it does not wait");
        let states = system.states();
        assert!(states.iter().all(StateData::is_solved), "{states:?}");
        println!(
            "{dispatches} dispatches, {:?} iterations",
            states.iter().map(StateData::iterations).collect::<Vec<_>>()
        );
        particles.read_state(&mut moving);
        assert_eq!(gpu.trouble(), None);
        moving.v
    };
    let found = run();
    let changed = expected.iter().zip(&v).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
    let apart = expected.iter().zip(&found).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
    println!("{apart:.1e} of {changed:.1e} m/s apart");
    assert!(apart < 1e-4 * changed + 2e-6 * 10.0, "{apart} of {changed}");
    assert_eq!(run(), found);
}

#[test]
fn structures_are_the_same_here_and_there() {
    use kiln::solver::gpu::cloth_systems as systems;
    use kiln::solver::gpu::linear as large;
    let cases = [
        (large::ONE, "System", size_of::<large::SystemData>()),
        (large::ONE, "State", size_of::<StateData>()),
        (large::ASSEMBLY, "Strides", size_of::<large::StridesData>()),
        (systems::LINEAR_SYSTEM, "Tie", size_of::<systems::TieData>()),
        (systems::LINEAR_SYSTEM, "Settings", size_of::<systems::SystemSettings>()),
        (systems::BENDING_SYSTEM, "BendRow", size_of::<systems::BendRowData>()),
        (systems::BENDING_SYSTEM, "Settings", size_of::<systems::BendingSettings>()),
    ];
    for (source, name, size) in cases {
        let module = wgpu::naga::front::wgsl::parse_str(&source.full_text()).unwrap();
        let found = module.types.iter().find(|(_, kind)| kind.name.as_deref() == Some(name)).unwrap().1;
        let wgpu::naga::TypeInner::Struct { members, span } = &found.inner else { panic!("{name}") };
        assert_eq!(*span as usize, size, "{name}");
        // No holes, so that the order alone decides.
        let mut end = 0;
        for member in members {
            assert_eq!(member.offset, end, "{name}");
            end += module.types[member.ty].inner.size(module.to_ctx());
        }
        assert_eq!(end, *span, "{name}");
    }
}
