//! Sums and maxima in a fixed order, also of what is not a number.

use kiln::solver::gpu::reduce::{Control, Reduction};
use std::rc::Rc;

use crate::{noise, open};

#[test]
fn sums_and_maxima_are_those_of_the_processor() {
    let gpu = open(Some(kiln::solver::gpu::Limits { groups: 16, binding: 1 << 27 }));
    for count in [1, 63, 64, 1024, 1025, 5000, 70_000] {
        let mut next = noise(count as u64);
        let values: Vec<[f32; 4]> = (0..count).map(|_| std::array::from_fn(|_| (next() + 1.0) as f32)).collect();
        let slab = gpu.slab("values", &values);
        let [sum, most] = ["sum", "most"].map(|name| gpu.zeros::<[f32; 4]>(name, 1));
        Reduction::sum(&gpu, &slab, &sum).run(&gpu);
        Reduction::largest(&gpu, &slab, &most).run(&gpu);
        let (mut sums, mut largest) = (Vec::new(), Vec::new());
        gpu.read_all([(&sum, &mut sums), (&most, &mut largest)]);
        for n in 0..4 {
            let expected: f64 = values.iter().map(|v| f64::from(v[n])).sum();
            let off = (f64::from(sums[0][n]) / expected - 1.0).abs();
            assert!(off < 1e-6, "{count}: {off}");
            assert_eq!(largest[0][n], values.iter().map(|v| v[n]).fold(0.0, f32::max), "{count}");
        }
    }
    let slab = gpu.slab("values", &[[1.0_f32, f32::NAN, 3.0, f32::INFINITY], [2.0, 1.0, 1.0, 1.0]]);
    let most = gpu.zeros::<[f32; 4]>("most", 1);
    Reduction::largest(&gpu, &slab, &most).run(&gpu);
    let mut largest = Vec::new();
    gpu.read(&most, &mut largest);
    assert_eq!(largest[0], [2.0, 1e30, 3.0, 1e30]);
    assert_eq!(gpu.trouble(), None);
}

#[test]
fn sweeps_end_when_the_error_is_small_and_not_before_the_fewest() {
    let gpu = Rc::new(open(None));
    let control = Control::new(&gpu);
    control.aim(0.1, 3);
    control.begin();
    (0..2).for_each(|_| control.judge());
    assert_eq!((control.read().done, control.read().sweeps), (0, 2), "an error of nothing, but too few");
    (0..5).for_each(|_| control.judge());
    assert_eq!((control.read().done, control.read().sweeps), (1, 3));
    let mut data = control.read();
    for (worst, done) in [(0.2, 0), (0.05, 1), (f32::NAN, 1)] {
        data.worst = worst;
        (data.done, data.sweeps) = (0, 5);
        gpu.write(&control.slab, 0, &[data]);
        control.judge();
        assert_eq!(control.read().done, done, "{worst}");
    }
}
