//! What pairs of objects have of their own: bounce, distance, and whether they touch at all.

use crate::support::World;

/// A small stiff sheet in vacuum that starts flat at a height, and something below it.
fn fall(height: f64, seconds: f64, cloth: &str, below: &str) -> World {
    World::new(&format!(
        r#"
        [scene]
        name = "fall"
        fps = 100
        frames = "0-{}"
        substeps = 25
        [air]
        drag = 0
        [[cloth]]
        name = "sheet"
        mesh = {{ sheet = {{ vertices = [5, 5], size = [0.2, 0.2] }} }}
        transform = {{ translate = [0.003, {height}, 0.002] }}
        thickness = 0.001
        bend = 0.01
        {cloth}
        {below}
        "#,
        (100.0 * seconds) as u32
    ))
}

/// The sheet's lowest and highest vertex at the end of each frame.
fn heights(world: &World) -> Vec<[f64; 2]> {
    let mut heights = Vec::new();
    world.simulate(|frame| {
        assert_eq!(frame.report.bodies[0].touched.crossings, 0, "frame {}", frame.number);
        assert!(frame.quality[0].max_penetration < 1e-6, "frame {}", frame.number);
        let ys = || frame.vertices[0].positions.iter().map(|p| p.y);
        heights.push([ys().fold(f64::INFINITY, f64::min), ys().fold(f64::NEG_INFINITY, f64::max)]);
    });
    heights
}

const PLANE: &str =
    "[[collider]]\nname = \"floor\"\nshape = \"plane\"\npoint = [0, 0, 0]\nnormal = [0, 1, 0]\nrestitution = 1";
const MESH: &str = "[[collider]]\nname = \"floor\"\nshape = \"mesh\"\nmesh.sheet = { vertices = [4, 4], size = [1, 1] }\nrestitution = 1";
/// Another cloth that is held everywhere.
const CLOTH: &str = "[[cloth]]\nname = \"floor\"\nmesh.sheet = { vertices = [8, 8], size = [0.4, 0.4] }\n\
                     pins = [{ box = { min = [-1, -1, -1], max = [1, 0.01, 1] } }]\nthickness = 0.001\nrestitution = 1";

#[test]
fn it_rebounds_to_the_square_of_its_restitution() {
    for below in [PLANE, MESH, CLOTH] {
        for restitution in if below == CLOTH { vec![0.5] } else { vec![0.0, 0.5] } {
            let world = fall(0.201, 0.4, &format!("restitution = {restitution}"), below);
            let heights = heights(&world);
            let landed = heights.iter().position(|[low, _]| *low < 0.012).unwrap();
            let top = heights[landed + 1..].iter().map(|[low, high]| 0.5 * (low + high) - 0.001).fold(0.0, f64::max);
            let expected = restitution * restitution * 0.2;
            println!("{below}: restitution {restitution}: up to {top} m, {expected} expected");
            assert!((top - expected).abs() < (0.1 * expected).max(0.001), "{below}: {top} m instead of {expected} m");
        }
    }
}

#[test]
fn a_pair_keeps_its_own_distance() {
    for below in [PLANE, MESH, CLOTH] {
        let rule = "[[contact]]\nbetween = [\"floor\", \"sheet\"]\nthickness = 0.012";
        let world = fall(0.03, 0.5, "", &format!("{below}\n{rule}"));
        let [low, high] = *heights(&world).last().unwrap();
        println!("{below}: {low} to {high} m");
        assert!((0.0118..0.0125).contains(&low) && high < 0.0135, "{below}: {low} to {high}");
    }
}

#[test]
fn pairs_that_do_not_collide_pass_through_each_other() {
    let between = |other: &str| format!("[[contact]]\nbetween = [\"sheet\", \"{other}\"]\ncollide = false\n");
    let ball = "[[collider]]\nname = \"ball\"\nshape = \"sphere\"\ncenter = [0, 0.04, 0]\nradius = 0.03";
    let shelf = MESH.replace("floor", "shelf") + "\ntransform.translate = [0, 0.1, 0]";
    let net = CLOTH.replace("floor", "net").replace("0.01, 1]", "1, 1]") + "\ntransform.translate = [0, 0.15, 0]";
    let objects = format!("{net}\n{ball}\n{shelf}\n{}", PLANE.replace("restitution = 1", ""));
    let ends = |rules: String| *heights(&fall(0.2, 0.45, "", &format!("{objects}\n{rules}"))).last().unwrap();
    let lands_at = |rules: String| ends(rules)[0];
    let onto_floor = lands_at(between("net") + &between("ball") + &between("shelf"));
    assert!((onto_floor - 0.001).abs() < 2e-4, "{onto_floor}");
    // It tilts, but some of it is above the ball.
    let [_, onto_ball] = ends(between("net") + &between("shelf"));
    assert!(onto_ball > 0.07, "{onto_ball}");
    let onto_shelf = lands_at(between("net") + &between("ball"));
    assert!((onto_shelf - 0.101).abs() < 2e-4, "{onto_shelf}");
    let onto_net = lands_at(String::new());
    assert!((onto_net - 0.151).abs() < 2e-4, "{onto_net}");
}
