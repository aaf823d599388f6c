//! Meshes that nobody models on purpose: they bake to numbers, or building says why not.

use std::fmt::Write;
use std::path::Path;

use crate::support::World;
use crate::{MODELS, SOLVERS};
use kiln::scene::diagnostics;

/// Build, or the reason why not.
fn build(text: &str, folder: &Path) -> Result<World, String> {
    let resolved = kiln::scene::read_text("test.toml", text, folder, &[], None).unwrap_or_else(|failure| {
        panic!("{}", diagnostics::render(&failure.problems, failure.document.as_ref(), false))
    });
    let (model, start, _) = kiln::model::build(&resolved.scene)
        .map_err(|problems| diagnostics::render(&problems, Some(&resolved.document), false))?;
    Ok(World { scene: resolved.scene, model, start })
}

fn obj(positions: &[[f64; 3]], faces: &[Vec<u32>]) -> String {
    let mut text = String::new();
    for [x, y, z] in positions {
        writeln!(text, "v {x} {y} {z}").unwrap();
    }
    for face in faces {
        let corners: Vec<String> = face.iter().map(|v| (v + 1).to_string()).collect();
        writeln!(text, "f {}", corners.join(" ")).unwrap();
    }
    text
}

/// Bake ten frames with every model and solver. Models that refuse must say why; those in `must` must not refuse.
#[track_caller]
fn check(name: &str, text: &str, pins: &str, must: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mesh.obj"), text).unwrap();
    let mut failures = Vec::new();
    for model in MODELS {
        for solver in SOLVERS {
            let scene = format!(
                r#"
                [scene]
                name = "degenerate"
                fps = 24
                frames = "0-10"
                substeps = {{ max = 1000 }}
                [[cloth]]
                name = "cloth"
                mesh = "mesh.obj"
                model = "{model}"
                solver = "{solver}"
                pins = [{pins}]
                [[collider]]
                name = "floor"
                shape = "plane"
                point = [0, -0.5, 0]
                normal = [0, 1, 0]
                "#
            );
            let told = format!("{name}: {model} {solver}");
            let world = match build(&scene, folder.path()) {
                Ok(world) => world,
                Err(reason) => {
                    println!("{told}: refused: {}", reason.lines().next().unwrap_or_default());
                    if reason.trim().is_empty() {
                        failures.push(format!("{told}: refused without a reason"));
                    }
                    if must.contains(&model) {
                        failures.push(format!("{told}: {reason}"));
                    }
                    continue;
                }
            };
            let (mut peak, mut used, mut broken, mut substeps, mut farthest) = (0.0_f64, 0.0_f64, None, 0, 0.0_f64);
            let mut cut = 0;
            world.simulate(|frame| {
                peak = peak.max(world.edge_stretch(&frame.vertices[0]).max);
                used = used.max(frame.report.bodies[0].used);
                broken = broken.or(frame.report.bodies[0].broken_at.map(|_| frame.number));
                substeps += frame.report.substeps;
                cut += frame.report.bodies[0].touched.cut;
                let norms = frame.vertices[0]
                    .positions
                    .iter()
                    .map(|p| if p.norm().is_nan() { f64::INFINITY } else { p.norm() });
                farthest = norms.fold(farthest, f64::max);
            });
            println!("{told}: stretch {peak:.5}, farthest {farthest:.2} m, {substeps} substeps");
            if broken.is_some() || !farthest.is_finite() || farthest > 10.0 {
                failures.push(format!("{told}: broken in frame {broken:?}, farthest {farthest} m"));
            }
            // A fan of 200 midpoints crumples so tightly that it could keep its lengths only by crossing itself.
            let is_tangled = cut > 0 && name.starts_with("fan") && model == "midpoint";
            if used > 1.0 && !is_tangled {
                failures.push(format!("{told}: {used} of the allowed stretch"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

const TRIANGLES: [&str; 2] = ["stretch_only", "midpoint"];

#[test]
fn one_triangle() {
    let text = obj(&[[0.0, 0.0, 0.0], [0.3, 0.0, 0.0], [0.0, 0.0, 0.4]], &[vec![0, 1, 2]]);
    check("one triangle, free", &text, "", &TRIANGLES);
    check("one triangle, one pin", &text, "{ vertices = [0] }", &TRIANGLES);
    check("one triangle, two pins", &text, "{ vertices = [0, 1] }", &TRIANGLES);
    check("one triangle, all pinned", &text, "{ vertices = [0, 1, 2] }", &TRIANGLES);
}

#[test]
fn one_quad() {
    let text = obj(&[[0.0, 0.0, 0.0], [0.3, 0.0, 0.0], [0.3, 0.0, 0.4], [0.0, 0.0, 0.4]], &[vec![0, 3, 2, 1]]);
    check("one quad, free", &text, "", &MODELS);
    check("one quad, one pin", &text, "{ vertices = [0] }", &MODELS);
    check("one quad, all pinned", &text, "{ vertices = [0, 1, 2, 3] }", &MODELS);
}

#[test]
fn closed_meshes_without_a_boundary() {
    let corner = |i: u32| [0, 1, 2].map(|axis| if i >> axis & 1 == 0 { -0.15 } else { 0.15 });
    let corners: Vec<[f64; 3]> = (0..8).map(corner).collect();
    let cube: Vec<Vec<u32>> =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]].map(Vec::from).to_vec();
    check("cube, free", &obj(&corners, &cube), "", &MODELS);
    check("cube, pinned", &obj(&corners, &cube), "{ vertices = [2, 3] }", &MODELS);
    let tetrahedron = obj(
        &[[0.0, 0.3, 0.0], [0.2, 0.0, 0.2], [-0.2, 0.0, 0.2], [0.0, 0.0, -0.2]],
        &[vec![0, 2, 1], vec![0, 1, 3], vec![0, 3, 2], vec![1, 2, 3]],
    );
    check("tetrahedron", &tetrahedron, "{ vertices = [0] }", &TRIANGLES);
}

#[test]
fn several_pieces_of_which_one_is_pinned() {
    let mut positions = Vec::new();
    let mut faces = Vec::new();
    for piece in 0..4_u32 {
        let (x, z) = (f64::from(piece % 2), f64::from(piece / 2));
        for j in 0..3 {
            for i in 0..3 {
                positions.push([x + 0.1 * f64::from(i), 0.2, z + 0.1 * f64::from(j)]);
            }
        }
        for cell in [0, 1, 3, 4] {
            let a = 9 * piece + cell;
            faces.push(vec![a, a + 3, a + 4, a + 1]);
        }
    }
    check("four pieces", &obj(&positions, &faces), "{ vertices = [0] }", &MODELS);
}

#[test]
fn three_triangles_on_one_edge() {
    let positions = [[0.0, 0.0, 0.0], [0.2, 0.0, 0.0], [0.1, 0.2, 0.0], [0.1, 0.0, 0.2], [0.1, 0.0, -0.2]];
    let text = obj(&positions, &[vec![0, 1, 2], vec![0, 1, 3], vec![0, 1, 4]]);
    check("three on an edge, free", &text, "", &TRIANGLES);
    check("three on an edge, pinned", &text, "{ vertices = [2] }", &TRIANGLES);
    // A wall on the middle of a sheet.
    let mut positions: Vec<[f64; 3]> = Vec::new();
    for j in 0..3 {
        positions.extend((0..5).map(|i| [0.1 * f64::from(i), 0.0, 0.1 * f64::from(j)]));
    }
    let mut faces = Vec::new();
    for j in 0..2_u32 {
        faces.extend((0..4).map(|i| vec![5 * j + i, 5 * j + i + 5, 5 * j + i + 6, 5 * j + i + 1]));
    }
    positions.extend((0..5).map(|i| [0.1 * f64::from(i), 0.1, 0.1]));
    faces.extend((0..4).map(|i| vec![5 + i, 6 + i, 16 + i, 15 + i]));
    check("a wall on a sheet", &obj(&positions, &faces), "{ vertices = [0, 4] }", &MODELS);
}

#[test]
fn a_fan_of_200_triangles() {
    let mut positions = vec![[0.0, 0.0, 0.0]];
    for k in 0..200 {
        let angle = std::f64::consts::TAU * f64::from(k) / 200.0;
        positions.push([0.4 * angle.cos(), 0.0, -0.4 * angle.sin()]);
    }
    let faces: Vec<Vec<u32>> = (0..200).map(|k| vec![0, 1 + k, 1 + (k + 1) % 200]).collect();
    check("fan, held in its middle", &obj(&positions, &faces), "{ vertices = [0] }", &TRIANGLES);
    check("fan, held at its rim", &obj(&positions, &faces), "{ vertices = [1] }", &TRIANGLES);
    check("fan, free", &obj(&positions, &faces), "", &TRIANGLES);
}

#[test]
fn triangles_of_one_to_a_thousand() {
    // A strip whose cells grow from 0.5 mm to 50 cm.
    let mut x = 0.0;
    let mut positions = Vec::new();
    let columns = 12;
    for i in 0..columns {
        positions.extend([[x, 0.0, 0.0], [x, 0.0, 0.2]]);
        x += 0.0005 * 1000.0_f64.powf(f64::from(i) / f64::from(columns - 2));
    }
    let faces: Vec<Vec<u32>> = (0..columns as u32 - 1).map(|i| vec![2 * i, 2 * i + 1, 2 * i + 3, 2 * i + 2]).collect();
    check("1:1000, held at the small end", &obj(&positions, &faces), "{ vertices = [0, 1] }", &MODELS);
    check("1:1000, free", &obj(&positions, &faces), "", &MODELS);
}
