//! Pins hold, lead and let turn.

use crate::support::World;
use kiln::math::Vec3;

fn scene(pins: &str) -> World {
    World::new(&format!(
        r#"
        [scene]
        name = "pins"
        fps = 24
        frames = "0-24"
        [[cloth]]
        name = "sheet"
        mesh = {{ sheet = {{ vertices = [9, 9], size = [0.8, 0.8] }} }}
        pins = [{pins}]
        "#
    ))
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
        assert!(frame.quality[0].max_stretch <= 0.01);
    });
}

#[test]
fn an_all_pinned_cloth_moves_as_one() {
    let lift = "follow = { translate = { keys = [[0, [0, 0, 0]], [24, [0, 1, 0]]] } }";
    let world = scene(&format!("{{ boundary = 0 }}, {{ sphere = {{ center = [0, 0, 0], radius = 2 }}, {lift} }}"));
    let end = world.simulate(|frame| assert_eq!(frame.report.cloths[0].contacts, 0));
    for (x, rest) in end.cloths[0].x.iter().zip(&world.model.cloths[0].rest) {
        assert!((x - rest - Vec3::new(0.0, 1.0, 0.0)).norm() < 1e-12);
    }
}

#[test]
fn keys_in_world_coordinates_do_not_move_the_start() {
    let follow = |from: &str, to: &str| {
        let keys = format!("{{ keys = [[0, {from}], [24, {to}]] }}");
        scene(&format!("{{ vertices = [0, 8], follow = {{ translate = {keys}, rotate = [0, 30, 0] }} }}"))
    };
    let far = follow("[3, 1, -2]", "[3.5, 1, -2]").simulate(|frame| assert!(frame.quality[0].max_stretch <= 0.01));
    let near = follow("[0, 0, 0]", "[0.5, 0, 0]").simulate(|_| ());
    for (far, near) in far.cloths[0].x.iter().zip(&near.cloths[0].x) {
        assert!((far - near).norm() < 1e-3, "{far:?} {near:?}");
    }
}
