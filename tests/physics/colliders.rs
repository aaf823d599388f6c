//! Cloth comes to rest on every kind of collider and never sinks in.

use crate::support::World;
use std::fmt::Write;

/// Drop a sheet of 0.6 m on a collider; returns the lowest and highest vertex, the speed and the contacts at the end.
struct Landed {
    lowest: f64,
    highest: f64,
    speed: f64,
    contacts: u32,
}

fn drop_on(collider: &str, folder: &std::path::Path, seconds: u32) -> Landed {
    let world = World::in_folder(
        &format!(
            r#"
            [scene]
            name = "drop"
            fps = 24
            frames = "0-{}"
            [[cloth]]
            name = "sheet"
            mesh = {{ sheet = {{ vertices = [17, 17], size = [0.6, 0.6] }} }}
            transform = {{ translate = [0, 0.05, 0] }}
            thickness = 0.003
            [[collider]]
            name = "it"
            {collider}
            "#,
            24 * seconds
        ),
        folder,
        &[],
    );
    let mut landed = Landed { lowest: 0.0, highest: 0.0, speed: 0.0, contacts: 0 };
    world.simulate(|frame| {
        let penetration = frame.quality[0].max_penetration;
        assert!(penetration < 1e-6, "{collider}: frame {}: {penetration} m deep", frame.number);
        let heights = || frame.vertices[0].positions.iter().map(|p| p.y);
        landed = Landed {
            lowest: heights().fold(f64::INFINITY, f64::min),
            highest: heights().fold(f64::NEG_INFINITY, f64::max),
            speed: frame.vertices[0].velocities.iter().map(|v| v.norm()).fold(0.0, f64::max),
            contacts: frame.report.bodies[0].contacts,
        };
    });
    landed
}

fn here() -> std::path::PathBuf {
    std::path::PathBuf::from(".")
}

#[test]
fn it_lies_flat_on_a_plane() {
    let landed = drop_on("shape = \"plane\"\npoint = [0, 0, 0]\nnormal = [0, 1, 0]", &here(), 2);
    assert!(
        (0.0029..0.0032).contains(&landed.lowest) && landed.highest < 0.004,
        "{} {}",
        landed.lowest,
        landed.highest
    );
    assert!(landed.speed < 0.01, "{} m/s", landed.speed);
    assert!(landed.contacts >= 289, "{} contacts", landed.contacts); // every vertex
}

#[test]
fn it_drapes_over_every_primitive() {
    for collider in [
        "shape = \"sphere\"\ncenter = [0, -0.15, 0]\nradius = 0.15",
        "shape = \"box\"\ncenter = [0, -0.1, 0]\nsize = [0.3, 0.2, 0.3]",
        "shape = \"capsule\"\nfrom = [-0.2, -0.1, 0]\nto = [0.2, -0.1, 0]\nradius = 0.1",
        "shape = \"cylinder\"\nfrom = [0, -0.2, 0]\nto = [0, 0, 0]\nradius = 0.18",
    ] {
        let landed = drop_on(collider, &here(), 2);
        assert!((-0.01..0.03).contains(&landed.highest), "{collider}: top at {}", landed.highest);
        assert!(landed.lowest < -0.04, "{collider}: hangs to {}", landed.lowest);
        assert!(landed.contacts > 10 && landed.speed < 1.0, "{collider}: {} {}", landed.contacts, landed.speed);
    }
}

/// A box as OBJ quads.
fn cube_obj(folder: &std::path::Path) {
    let mut obj = String::from("o cube\n");
    for corner in 0..8 {
        let side = |bit: u32, low: f64, high: f64| if (corner >> bit) & 1 == 0 { low } else { high };
        writeln!(obj, "v {} {} {}", side(0, -0.15, 0.15), side(1, -0.2, 0.0), side(2, -0.15, 0.15)).unwrap();
    }
    for face in ["1 3 4 2", "5 6 8 7", "1 2 6 5", "3 7 8 4", "1 5 7 3", "2 4 8 6"] {
        writeln!(obj, "f {face}").unwrap();
    }
    std::fs::write(folder.join("cube.obj"), obj).unwrap();
}

#[test]
fn a_mesh_holds_like_the_primitive_it_copies() {
    let folder = tempfile::tempdir().unwrap();
    cube_obj(folder.path());
    let mesh = drop_on("shape = \"mesh\"\nmesh = \"cube.obj\"", folder.path(), 1);
    let primitive = drop_on("shape = \"box\"\ncenter = [0, -0.1, 0]\nsize = [0.3, 0.2, 0.3]", folder.path(), 1);
    assert!((mesh.highest - primitive.highest).abs() < 2e-3, "{} {}", mesh.highest, primitive.highest);
    assert!((mesh.lowest - primitive.lowest).abs() < 2e-2, "{} {}", mesh.lowest, primitive.lowest);
}

/// A cloth of 0.1 m 6 cm (three edges) deep in a solid of 0.3 m: its depth at the start and what it needs to get out.
fn start_inside(collider: &str, folder: &std::path::Path) {
    let world = World::in_folder(
        &format!(
            r#"
            [scene]
            name = "inside"
            fps = 24
            frames = "0-24"
            [[cloth]]
            name = "sheet"
            mesh = {{ sheet = {{ vertices = [6, 6], size = [0.1, 0.1] }} }}
            transform = {{ translate = [0.01, -0.06, 0.02] }}
            [[collider]]
            name = "it"
            {collider}
            "#
        ),
        folder,
        &[],
    );
    let (mut first, mut last, mut fastest) = (0.0, 0.0, 0.0_f64);
    world.simulate(|frame| {
        if frame.number == 1 {
            first = frame.quality[0].max_penetration;
        }
        last = frame.quality[0].max_penetration;
        fastest = fastest.max(frame.vertices[0].velocities.iter().map(|v| v.norm()).fold(0.0, f64::max));
    });
    assert!((0.01..0.1).contains(&first), "{collider}: the depth is seen, {first}");
    assert_eq!(last, 0.0, "{collider}: it is out in the end");
    assert!(fastest < 5.0, "{collider}: led out, not shot out, {fastest} m/s");
}

#[test]
fn what_starts_inside_is_seen_and_comes_out() {
    let folder = tempfile::tempdir().unwrap();
    cube_obj(folder.path());
    start_inside("shape = \"box\"\ncenter = [0, -0.1, 0]\nsize = [0.3, 0.2, 0.3]", folder.path());
    start_inside("shape = \"mesh\"\nmesh = \"cube.obj\"", folder.path());
}

#[test]
fn an_open_mesh_carries_too() {
    let landed = drop_on("shape = \"mesh\"\nmesh = { sheet = { vertices = [3, 3], size = [1, 1] } }", &here(), 1);
    assert!((0.002..0.004).contains(&landed.lowest), "{}", landed.lowest);
}

#[test]
fn a_rising_collider_lifts_and_a_turning_one_takes_along() {
    let lift = "shape = \"plane\"\npoint = [0, 0, 0]\nnormal = [0, 1, 0]
                transform = { translate = { keys = [[12, [0, 0, 0]], [36, [0, 1, 0]]] } }";
    let landed = drop_on(lift, &here(), 2);
    assert!((1.0029..1.004).contains(&landed.lowest), "{}", landed.lowest);

    let turn = World::new(
        r#"
        [scene]
        name = "turn"
        fps = 24
        frames = "0-48"
        [[cloth]]
        name = "sheet"
        mesh = { sheet = { vertices = [9, 9], size = [0.3, 0.3] } }
        transform = { translate = [0, 0.0035, 0] }
        thickness = 0.003
        [[collider]]
        name = "disc"
        shape = "cylinder"
        from = [0, -0.1, 0]
        to = [0, 0, 0]
        radius = 0.5
        friction = 1.0
        transform = { rotate = { keys = [[0, [0, 0, 0]], [48, [0, 90, 0]]], interpolation = "smooth" } }
        "#,
    );
    let mut corner = kiln::math::Vec3::zeros();
    turn.simulate(|frame| corner = frame.vertices[0].positions[0]);
    // From (-0.15, -0.15) by 90 degrees about y.
    assert!((corner.x + 0.15).abs() < 0.01 && (corner.z - 0.15).abs() < 0.01, "{corner:?}");
}

#[test]
fn stiff_fabric_on_a_fine_mesh_is_stable_with_few_steps() {
    // Explicit bending would need many more steps here: this takes the implicit branch.
    let world = World::new(
        r#"
        [scene]
        name = "leather"
        fps = 24
        frames = "0-24"
        substeps = 60
        [[cloth]]
        name = "sheet"
        mesh = { sheet = { vertices = [21, 21], size = [0.2, 0.2] } }
        fabric = "leather"
        max_stretch = 0.2
        pins = [{ box = { min = [-0.11, -1, -1], max = [-0.09, 1, 1] } }]
        "#,
    );
    let cloth = &world.model.cloths[0];
    assert!(cloth.bend_frequency_squared.sqrt() / (24.0 * 60.0) > 1.0, "the case is not stiff any more");
    let mut tip = 0.0;
    world.simulate(|frame| {
        let positions = &frame.vertices[0].positions;
        assert!(positions.iter().all(|p| p.norm() < 0.5), "frame {} has exploded", frame.number);
        tip = positions[20 + 10 * 21].y;
    });
    assert!((-0.19..-0.001).contains(&tip), "it bends under its weight, a little: {tip}");
}
