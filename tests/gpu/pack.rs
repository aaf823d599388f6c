//! Soft bodies that are simulated together: they end where each would alone, and cost the dispatches of one.

use crate::parity::{agree, apart, on_device, size};
use crate::support::World;

const SCENE: &str = "[scene]\nname = \"test\"\nfps = 50\nframes = \"0-1\"\nsubsteps = 10\n[air]\ndrag = 0\n";

/// A ball somewhere; sizes that do and do not fill up workgroups.
fn ball(name: &str, vertices: u32, place: [f64; 3], rest: &str) -> String {
    format!(
        "[[soft_body]]\nname = \"{name}\"\nmesh = {{ ball = {{ radius = 0.3, vertices = {vertices} }} }}\nself_collision = false\n\
         model = \"shape_matching\"\ntransform = {{ translate = {place:?} }}\n{rest}\n"
    )
}

/// Nothing touches anything.
fn apart_from_each_other(bodies: &[(&str, String)]) -> World {
    let mut text = SCENE.to_owned() + "gravity = [0, -9.81, 0]\n";
    text = text.replace("[air]\ndrag = 0\ngravity", "gravity") + "[air]\ndrag = 1\n";
    bodies.iter().for_each(|(_, body)| text += body);
    for (n, (a, _)) in bodies.iter().enumerate() {
        for (b, _) in &bodies[n + 1..] {
            text += &format!("[[contact]]\nbetween = [\"{a}\", \"{b}\"]\ncollide = false\n");
        }
    }
    World::new(&text)
}

fn balls(count: usize) -> Vec<(&'static str, String)> {
    let all = [
        ("one", 9, [0.0, 0.0, 0.0], "shape_matching = { omega = 2 }"),
        ("two", 8, [1.0, 0.5, 0.0], "pins = [{ vertices = [0, 3], follow = \"world\" }]"),
        ("three", 5, [0.0, 200.0, 0.0], "shape_matching = { omega = 1, stiffness = 0.5, alpha = 1 }"),
        ("four", 9, [2.0, 0.0, 1.0], "density = 200"),
    ];
    let all = all.into_iter().take(count);
    all.map(|(name, vertices, place, rest)| {
        (name, ball(name, vertices, place, &rest.replace(", follow = \"world\"", "")))
    })
    .collect()
}

#[test]
fn several_cost_what_one_does() {
    let [one, four] = [1, 4].map(|count| on_device(&apart_from_each_other(&balls(count)), None).1);
    println!("{one:?}\n{four:?}");
    // That one of them is pinned costs a kernel a step.
    assert!(four.dispatches <= one.dispatches + 10 * 2, "{} and {}", four.dispatches, one.dispatches);
    assert!(four.passes <= one.passes + 10 * 2);
    assert_eq!(four.read_backs, one.read_backs);
}

#[test]
fn each_ends_where_it_does_on_the_processor_and_alone() {
    let bodies = balls(4);
    let world = apart_from_each_other(&bodies);
    agree("four apart", &world);
    let (together, _) = on_device(&world, None);
    for (number, body) in bodies.into_iter().enumerate() {
        let alone = apart_from_each_other(&[body]);
        let (mut end, _) = on_device(&alone, None);
        let mut own = together.clone();
        own.bodies = vec![own.bodies.swap_remove(number)];
        end.wind_drift = own.wind_drift;
        let off = apart(&own, &end) / size(&alone);
        println!("{number}: {off:.1e} of its size");
        assert!(off < 1e-6, "{number}: {off}");
    }
}

#[test]
fn a_heap_of_them_agrees() {
    let floor = "[[collider]]\nname = \"floor\"\nshape = \"box\"\ncenter = [0, -0.1, 0]\nsize = [3, 0.2, 3]\nfriction = 0.5\n\
                 transform.translate = { keys = [[0, [0, 0, 0]], [1, [0.01, 0.005, 0]]] }\n";
    let heap = |damping: &str| {
        let matching = format!("shape_matching = {{ damping = {damping} }}");
        SCENE.to_owned()
            + &ball("low", 9, [0.0, 0.302, 0.0], &matching)
            + &ball("high", 8, [0.05, 0.904, 0.0], &matching)
            // Flat at first: it is led back while the others only fall.
            + &ball("flat", 9, [1.0, 0.6, 0.3], &format!("{matching}\nstart_scale = [1, 0.02, 1]"))
            + floor
    };
    agree("damped heap", &World::new(&heap("300")));
    agree("heap", &World::new(&heap("0")));
    // Colliders alone: found on the device.
    let alone = [("low", "high"), ("low", "flat"), ("high", "flat")];
    let apart = alone.map(|(a, b)| format!("[[contact]]\nbetween = [\"{a}\", \"{b}\"]\ncollide = false\n")).concat();
    agree("on the floor", &World::new(&(heap("5") + &apart)));
}
