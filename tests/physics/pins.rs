//! Pins hold, lead and let turn.

use crate::support::World;
use kiln::math::Vec3;

fn scene(pins: &str) -> World {
    scene_with(pins, "midpoint")
}

fn scene_with(pins: &str, model: &str) -> World {
    World::new(&format!(
        r#"
        [scene]
        name = "pins"
        fps = 24
        frames = "0-24"
        [[cloth]]
        name = "sheet"
        mesh = {{ sheet = {{ vertices = [9, 9], size = [0.8, 0.8], quads = {quads} }} }}
        model = "{model}"
        pins = [{pins}]
        "#,
        quads = model == "grid"
    ))
}

#[test]
fn on_vertices_a_pinned_vertex_is_a_led_particle() {
    for model in ["grid", "stretch_only"] {
        let world = scene_with("{ vertices = [0] }", model);
        let cloth = &world.model.cloths[0];
        let corner = cloth.mesh.positions[0];
        assert_eq!(cloth.pins.particles.len(), 1);
        assert_eq!(cloth.k.iter().filter(|k| **k == 0.0).count(), 1);
        let mut lowest = f64::INFINITY;
        world.simulate(|frame| {
            assert_eq!(frame.vertices[0].positions[0], corner, "{model}: frame {}", frame.number);
            lowest = lowest.min(frame.vertices[0].positions.iter().map(|p| p.y).fold(f64::INFINITY, f64::min));
        });
        assert!(lowest < -0.5, "{model}: it hangs down to {lowest}");
    }
}

#[test]
fn a_pinned_vertex_stays_and_the_cloth_turns_about_it() {
    let world = scene("{ vertices = [0] }");
    let corner = world.model.cloths[0].mesh.positions[0];
    let mut lowest = f64::INFINITY;
    world.simulate(|frame| {
        let positions = &frame.vertices[0].positions;
        assert!((positions[0] - corner).norm() < 1e-9, "frame {}: {}", frame.number, (positions[0] - corner).norm());
        lowest = lowest.min(positions.iter().map(|p| p.y).fold(f64::INFINITY, f64::min));
    });
    assert!(lowest < -0.5, "it hangs down to {lowest}");
    assert!(world.model.cloths[0].pins.particles.is_empty(), "a single pin clamps no edge");
}

#[test]
fn pinned_edges_follow_a_key_framed_motion() {
    let world = scene(
        "{ box = { min = [-1, -1, -0.41], max = [1, 1, -0.39] }, follow = {
            translate = { keys = [[0, [0, 0, 0]], [24, [0.5, 1, 0]]] },
            rotate = { keys = [[0, [0, 0, 0]], [24, [0, 90, 0]]] } } }",
    );
    let cloth = &world.model.cloths[0];
    assert_eq!(cloth.pins.vertices.len(), 9);
    assert_eq!(cloth.pins.particles.len(), 8, "edges with both ends pinned are led outright");
    world.simulate(|frame| {
        let pose = cloth.pins.motions[0].at(frame.number as f64);
        for pin in &cloth.pins.vertices {
            let error = (frame.vertices[0].positions[pin.vertex as usize] - pose.apply(pin.rest)).norm();
            assert!(error < 1e-6, "frame {}: vertex {} is {error} m off", frame.number, pin.vertex);
        }
        assert!(world.edge_stretch(&frame.vertices[0]).max <= 0.01);
    });
}

#[test]
fn an_all_pinned_cloth_moves_as_one() {
    let lift = "follow = { translate = { keys = [[0, [0, 0, 0]], [24, [0, 1, 0]]] } }";
    let world = scene(&format!("{{ boundary = 0 }}, {{ sphere = {{ center = [0, 0, 0], radius = 2 }}, {lift} }}"));
    let end = world.simulate(|frame| assert_eq!(frame.report.bodies[0].contacts, 0));
    for (x, rest) in end.bodies[0].x.iter().zip(&world.model.cloths[0].rest) {
        assert!((x - rest - Vec3::new(0.0, 1.0, 0.0)).norm() < 1e-12);
    }
}

#[test]
fn keys_in_world_coordinates_do_not_move_the_start() {
    let follow = |from: &str, to: &str| {
        let keys = format!("{{ keys = [[0, {from}], [24, {to}]] }}");
        scene(&format!("{{ vertices = [0, 8], follow = {{ translate = {keys}, rotate = [0, 30, 0] }} }}"))
    };
    let world = follow("[3, 1, -2]", "[3.5, 1, -2]");
    let far = world.simulate(|frame| assert!(world.edge_stretch(&frame.vertices[0]).max <= 0.01));
    let near = follow("[0, 0, 0]", "[0.5, 0, 0]").simulate(|_| ());
    for (far, near) in far.bodies[0].x.iter().zip(&near.bodies[0].x) {
        assert!((far - near).norm() < 1e-3, "{far:?} {near:?}");
    }
}

#[test]
fn pins_follow_the_surface_of_a_moving_primitive() {
    let world = World::new(
        r#"
        [scene]
        name = "carried"
        fps = 24
        frames = "0-24"
        [[cloth]]
        name = "sheet"
        mesh = { sheet = { vertices = [9, 9], size = [0.8, 0.8] } }
        pins = [{ box = { min = [-1, -1, -0.41], max = [1, 1, -0.39] }, follow = "bar" }]
        [[collider]]
        name = "bar"
        shape = "capsule"
        from = [-0.4, 0, -0.45]
        to = [0.4, 0, -0.45]
        radius = 0.02
        transform = { translate = { keys = [[0, [0, 0, 0]], [24, [0, 0.5, 0]]] }, rotate = { keys = [[0, [0, 0, 0]], [24, [0, 60, 0]]] } }
        "#,
    );
    let cloth = &world.model.cloths[0];
    assert_eq!(cloth.pins.vertices.len(), 9);
    let motion = &world.model.colliders[0].motion;
    let start = motion.at(0.0);
    world.simulate(|frame| {
        let pose = motion.at(frame.number as f64);
        for pin in &cloth.pins.vertices {
            let carried = pose.apply(start.apply_inverse(cloth.mesh.positions[pin.vertex as usize]));
            let error = (frame.vertices[0].positions[pin.vertex as usize] - carried).norm();
            assert!(error < 1e-6, "frame {}: vertex {} is {error} m off", frame.number, pin.vertex);
        }
    });
}

/// Gap of a softly pinned cloth after each frame, when it starts 1 m away from its place.
fn gaps(weight: f64, substeps: u32) -> Vec<f64> {
    let mut world = World::new(&format!(
        r#"
        [scene]
        name = "soft"
        fps = 24
        frames = "0-6"
        substeps = {substeps}
        gravity = [0, 0, 0]
        [air]
        drag = 0
        [[cloth]]
        name = "sheet"
        mesh = {{ sheet = {{ vertices = [3, 3], size = [0.2, 0.2] }} }}
        pins = [{{ sphere = {{ center = [0, 0, 0], radius = 1 }}, weight = {weight} }}]
        "#
    ));
    world.start.bodies[0].x.iter_mut().for_each(|x| *x += Vec3::x());
    let place = world.model.cloths[0].mesh.positions[4];
    assert_eq!(world.model.cloths[0].pins.soft.len(), 9);
    let mut gaps = Vec::new();
    world.simulate(|frame| gaps.push((frame.vertices[0].positions[4] - place).norm()));
    gaps
}

#[test]
fn a_soft_pin_closes_its_part_of_a_gap_in_a_frame_whatever_the_steps() {
    for weight in [0.2, 0.5, 0.9] {
        for (substeps, tolerance) in [(50, 0.02), (400, 0.003)] {
            let gaps = gaps(weight, substeps);
            assert!((gaps[0] - (1.0 - weight)).abs() < tolerance, "weight {weight}, {substeps} steps: {gaps:?}");
            assert!(gaps.windows(2).all(|pair| pair[1] < pair[0]), "no swing: {gaps:?}");
        }
    }
}
