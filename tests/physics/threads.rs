//! The same bits for every thread count.

use crate::support::World;

#[test]
fn states_are_bit_equal_for_1_2_3_8_threads() {
    // Large enough that constraints, particles and contacts are really shared out; the drop hits the ball at once.
    let world = World::new(
        r#"
        [scene]
        name = "threads"
        fps = 30
        frames = "0-3"
        substeps = 60
        [wind]
        speed = 3
        turbulence = 0.5
        [[cloth]]
        name = "sheet"
        mesh = { sheet = { vertices = [100, 100], size = [2, 2] } }
        transform = { translate = [0, 0.5, 0] }
        pins = [{ vertices = [0] }]
        [[collider]]
        name = "ball"
        shape = "sphere"
        center = [0, 0, 0]
        radius = 0.499
        [[collider]]
        name = "floor"
        shape = "mesh"
        mesh = { sheet = { vertices = [9, 9], size = [3, 3] } }
        transform = { translate = [0, 0.495, 0] }
        "#,
    );
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut contacts = 0;
            let state = world.simulate(|frame| contacts += frame.report.cloths[0].contacts);
            assert!(contacts > 1000, "{contacts} contacts");
            state
        })
    };
    let one = run(1);
    for threads in [2, 3, 8] {
        assert!(run(threads) == one, "{threads} threads give another result than one");
    }
}
