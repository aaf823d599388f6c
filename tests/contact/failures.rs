//! What no bake should be given: it ends all the same, with finite numbers, says in which frames something is wrong, and is well
//! again a second after there is room.

use std::path::Path;
use std::time::Duration;

use kiln::math::Vec3;
use kiln::model::Moment;
use serde_json::json;

use crate::crossings::{self, Crossings, Mesh};
use crate::meshes;
use crate::scenes::{Scene, hanging};
use crate::shapes::{self, Shape};
use crate::support::{Frame, World};

/// Frames after which a cloth that has room again is well.
const RECOVERY: i64 = 24;
/// What any of these may take; seconds are enough for most.
const LONGEST: Duration = Duration::from_secs(120);

/// What a scene went through.
#[derive(Default)]
struct Survived {
    /// Frames that say that something is wrong.
    marked: Vec<i64>,
    /// Frames in which something crosses, and what.
    crossing: Vec<(i64, String)>,
    /// Frames that are longer than promised, and by how much.
    stretched: Vec<(i64, String)>,
}

impl Survived {
    /// From this frame on nothing crosses.
    #[track_caller]
    fn is_free_from(&self, frame: i64) {
        let late: Vec<_> = self.crossing.iter().filter(|(number, _)| *number >= frame).collect();
        assert!(late.is_empty(), "crosses from frame {frame} on: {late:#?}");
    }

    /// The same, and nothing is longer than promised: so it must be where nothing has crossed itself before, for that leaves no
    /// knots.
    #[track_caller]
    fn is_well_from(&self, frame: i64) {
        self.is_free_from(frame);
        let late: Vec<_> = self.stretched.iter().filter(|(number, _)| *number >= frame).collect();
        assert!(late.is_empty(), "too long from frame {frame} on: {late:#?}");
    }
}

/// Simulate with all that must hold in any scene; `all` gives cloths and colliders as they are at a frame.
#[track_caller]
fn survive(world: &World, names: &[&str], all: impl Fn(i64, &[&[Vec3]]) -> Vec<Mesh>) -> Survived {
    let mut survived = Survived::default();
    let start = std::time::Instant::now();
    world.simulate(|frame| {
        for (vertices, report) in frame.vertices.iter().zip(&frame.report.bodies) {
            let finite = |values: &[Vec3]| values.iter().all(|p| p.iter().all(|x| x.is_finite()));
            assert!(finite(&vertices.positions) && finite(&vertices.velocities), "frame {}", frame.number);
            assert_eq!(report.broken_at, None, "frame {}", frame.number);
        }
        let vertices: Vec<&[Vec3]> = frame.vertices.iter().map(|v| v.positions.as_slice()).collect();
        let found = crossings::find(&all(frame.number, &vertices));
        let said = describe(&frame, &found, names);
        println!("{said}");
        let is_marked = frame.report.bodies.iter().any(|cloth| {
            let touched = cloth.touched;
            cloth.used > 1.0 || touched.released > 0 || touched.crossings > 0
        });
        assert!(is_marked || found.total() == 0, "something crosses and no mark says so: {said}");
        if is_marked {
            survived.marked.push(frame.number);
        }
        if found.total() > 0 {
            survived.crossing.push((frame.number, said.clone()));
        }
        if frame.report.bodies.iter().any(|cloth| cloth.used > 1.0) {
            survived.stretched.push((frame.number, said));
        }
        assert!(start.elapsed() < LONGEST, "it goes on and on: frame {}", frame.number);
    });
    println!("{:.1} s", start.elapsed().as_secs_f64());
    survived
}

fn describe(frame: &Frame, found: &Crossings, names: &[&str]) -> String {
    let counted = Crossings { kinematic: Default::default(), at_corners: Default::default(), ..found.clone() };
    let cloths = frame.report.bodies.iter().map(|cloth| {
        let touched = cloth.touched;
        format!("used {:.2}, released {}, crossings {}", cloth.used, touched.released, touched.crossings)
    });
    let cloths: Vec<String> = cloths.collect();
    let steps = frame.report.substeps;
    format!("frame {}: {} [{}; {steps} steps]", frame.number, counted.describe(names), cloths.join("; "))
}

/// The same for a scene of rigid colliders.
#[track_caller]
fn survive_scene(scene: &Scene) -> Survived {
    let world = scene.world(&[]);
    survive(&world, &scene.mesh_names(&world), |frame, vertices| meshes(&world, scene, frame, vertices))
}

#[test]
fn a_ball_that_teleports_into_the_cloth_and_out_again() {
    let place = |z: f64| [0.0, -0.45, z];
    let path = vec![(3.0, place(-6.0)), (4.0, place(0.0)), (7.0, place(0.0)), (8.0, place(-6.0))];
    let scene = hanging("teleport_and_back", 21, 0.8, 8 + RECOVERY + 4).collider("ball", shapes::ball(0.15, 16), path);
    survive_scene(&scene).is_well_from(8 + RECOVERY);
}

/// It comes along the sheet, so that it folds it up before it.
#[test]
fn a_ball_that_appears_around_the_cloth_and_vanishes() {
    let place = |x: f64| [x, -0.4, 0.0];
    let path = vec![(3.0, place(5.0)), (4.0, place(0.0)), (6.0, place(0.0)), (7.0, place(5.0))];
    let scene = hanging("appear", 15, 0.4, 7 + RECOVERY + 4).collider("ball", shapes::ball(0.35, 16), path);
    let survived = survive_scene(&scene);
    assert!(survived.marked.iter().any(|frame| (4..=7).contains(frame)), "{:?}", survived.marked);
    survived.is_well_from(7 + RECOVERY);
}

#[test]
fn a_ball_with_holes() {
    let mut ball = shapes::ball(0.25, 20);
    let mut number = 0;
    ball.triangles.retain(|_| {
        number += 1;
        number % 5 != 0
    });
    let scene = Scene::new("holes", 24).sheet("sheet", [25, 25], [0.7, 0.7], [0.0; 3], [0.0, 0.26, 0.0]).collider(
        "ball",
        ball,
        vec![(0.0, [0.0; 3])],
    );
    survive_scene(&scene).is_well_from(0);
}

/// Two balls that overlap, as one mesh.
#[test]
fn a_body_that_crosses_itself() {
    let mut body = Shape::default();
    for x in [-0.12, 0.12] {
        let ball = shapes::ball(0.2, 20);
        let first = body.positions.len() as u32;
        body.positions.extend(ball.positions.iter().map(|p| [p[0] + x, p[1], p[2]]));
        body.triangles.extend(ball.triangles.iter().map(|t| t.map(|v| v + first)));
    }
    let scene = Scene::new("crossed", 24)
        .sheet("sheet", [25, 25], [0.7, 0.7], [0.0, 20.0, 0.0], [0.0, 0.21, 0.0])
        .collider("body", body, vec![(0.0, [0.0; 3])]);
    survive_scene(&scene).is_well_from(0);
}

#[test]
fn a_sheet_wholly_inside_a_body() {
    let scene = Scene::new("swallowed", RECOVERY + 8)
        .sheet("sheet", [11, 11], [0.12, 0.12], [10.0, 0.0, 20.0], [0.02, 0.03, 0.0])
        .collider("body", shapes::ball(0.25, 20), vec![(0.0, [0.0; 3])]);
    let survived = survive_scene(&scene);
    assert!(survived.marked.contains(&1), "{:?}", survived.marked);
    survived.is_well_from(RECOVERY);
}

#[test]
fn a_tube_wholly_inside_a_body() {
    let tube = shapes::lattice(21, 9, |i, j| {
        let angle = (15.0 + 330.0 * f64::from(i) / 20.0).to_radians();
        [0.06 * angle.cos(), 0.15 * (f64::from(j) / 8.0 - 0.5), 0.06 * angle.sin()]
    });
    let scene = Scene::new("swallowed_tube", RECOVERY + 8).cloth("tube", &tube, [0.0, 0.02, 0.01]).collider(
        "body",
        shapes::ball(0.25, 20),
        vec![(0.0, [0.0; 3])],
    );
    let survived = survive_scene(&scene);
    assert!(survived.marked.contains(&1), "{:?}", survived.marked);
    survived.is_well_from(RECOVERY);
}

/// How a file says that a ball is scaled.
#[derive(Clone, Copy, PartialEq)]
enum By {
    /// Its node is. By the rules of glTF triangles that a node mirrors are turned round, so its outside stays outside.
    Node,
    /// A morph target moves every vertex through the middle, and its inside comes out.
    Morph,
}

/// A ball as glTF, scaled by keys of (frame, factor).
fn write_scaled_ball(folder: &Path, radius: f64, keys: &[(i64, f32)], by: By) {
    let Shape { positions, triangles } = shapes::ball(radius, 12);
    let mut bytes: Vec<u8> = Vec::new();
    let (mut views, mut accessors) = (Vec::new(), Vec::new());
    let mut add = |kind: &str, component: u32, count: usize, more: Vec<u8>| {
        let view = views.len();
        views.push(json!({ "buffer": 0, "byteOffset": bytes.len(), "byteLength": more.len() }));
        accessors.push(json!({ "bufferView": view, "componentType": component, "count": count, "type": kind }));
        bytes.extend(more);
    };
    let floats = |values: Vec<f32>| values.into_iter().flat_map(f32::to_le_bytes).collect::<Vec<u8>>();
    let points = |sign: f64| floats(positions.as_flattened().iter().map(|&x| (sign * x) as f32).collect());
    add("VEC3", 5126, positions.len(), points(1.0));
    let corners = triangles.as_flattened().iter().flat_map(|v| v.to_le_bytes()).collect();
    add("SCALAR", 5125, 3 * triangles.len(), corners);
    add("SCALAR", 5126, keys.len(), floats(keys.iter().map(|(frame, _)| *frame as f32 / 24.0).collect()));
    add("VEC3", 5126, keys.len(), floats(keys.iter().flat_map(|(_, factor)| [*factor; 3]).collect()));
    add("VEC3", 5126, positions.len(), points(-1.0));
    add("SCALAR", 5126, keys.len(), floats(keys.iter().map(|(_, factor)| 1.0 - factor).collect()));
    let mut primitive = json!({ "attributes": { "POSITION": 0 }, "indices": 1 });
    if by == By::Morph {
        primitive["targets"] = json!([{ "POSITION": 4 }]);
    }
    let (path, output) = if by == By::Node { ("scale", 3) } else { ("weights", 5) };
    let document = json!({
        "asset": { "version": "2.0" },
        "buffers": [{ "uri": "ball.bin", "byteLength": bytes.len() }],
        "bufferViews": views,
        "accessors": accessors,
        "scene": 0,
        "scenes": [{ "nodes": [0] }],
        "nodes": [{ "name": "ball", "mesh": 0 }],
        "meshes": [{ "primitives": [primitive] }],
        "animations": [{
            "name": "Turn",
            "channels": [{ "sampler": 0, "target": { "node": 0, "path": path } }],
            "samplers": [{ "input": 2, "output": output }],
        }],
    });
    std::fs::write(folder.join("ball.bin"), bytes).unwrap();
    std::fs::write(folder.join("ball.gltf"), document.to_string()).unwrap();
}

/// When a ball that turns is as it was.
const RIGHT_AGAIN: i64 = 13;

/// A ball shrinks to a point and comes out of it on the other side, then the same back, under a sheet held by its corners.
#[track_caller]
fn survive_turning(by: By) -> Survived {
    let folder = tempfile::tempdir().unwrap();
    write_scaled_ball(folder.path(), 0.2, &[(0, 1.0), (1, 1.0), (6, -1.0), (8, -1.0), (RIGHT_AGAIN, 1.0)], by);
    let text = format!(
        "[scene]\nname = \"inside_out\"\nfps = 24\nframes = \"0-{}\"\nsubsteps = {{ max = 40 }}\n\
         [[cloth]]\nname = \"sheet\"\nmesh = {{ sheet = {{ vertices = [7, 7], size = [0.6, 0.6] }} }}\n\
         transform = {{ translate = [0, 0.21, 0] }}\npins = [{{ vertices = [0, 6, 42, 48] }}]\n\
         [[collider]]\nname = \"ball\"\nshape = \"mesh\"\nmesh = \"ball.gltf\"\nanimation = \"Turn\"\n",
        RIGHT_AGAIN + RECOVERY + 2
    );
    let world = World::in_folder(&text, folder.path(), &[]);
    let surface = world.model.colliders[0].animated().unwrap();
    survive(&world, &["sheet", "ball"], |frame, vertices| {
        let cloth = &world.model.cloths[0];
        let rounded: Vec<[f32; 3]> = vertices[0].iter().map(|v| v.map(|x| x as f32).into()).collect();
        let placed: Vec<[f64; 3]> = surface.positions(Moment::at(frame as f64)).into_iter().map(Into::into).collect();
        let led = vec![true; placed.len()];
        vec![
            Mesh::new("sheet", &rounded, &cloth.mesh.triangles, &cloth.is_led),
            Mesh::new("ball", &placed, surface.shape.triangles(), &led),
        ]
    })
}

#[test]
fn a_ball_that_turns_inside_out() {
    let survived = survive_turning(By::Morph);
    // While its inside is outside, everything around it is inside of it.
    assert!(survived.marked.iter().any(|frame| (5..=10).contains(frame)), "{:?}", survived.marked);
    survived.is_free_from(RIGHT_AGAIN + RECOVERY);
}

#[test]
fn a_ball_that_is_mirrored_through_a_point() {
    survive_turning(By::Node).is_free_from(RIGHT_AGAIN + RECOVERY);
}
