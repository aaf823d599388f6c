//! Drape coefficient, as textile laboratories measure it (Cusick): a round cloth held between two smaller discs, and how much of the ring
//! around them its shadow covers.

use crate::support::{World, full};
use kiln::math::Vec3;

const RADIUS: f64 = 0.15;
const STAND: f64 = 0.09;

/// Area of what some triangles cover seen from above [m²], counted in cells of half a millimetre.
fn shadow(triangles: &[[u32; 3]], positions: &[Vec3]) -> f64 {
    const CELL: f64 = 0.0005;
    let side = (2.2 * RADIUS / CELL) as usize;
    let mut covered = vec![false; side * side];
    let at = |p: Vec3| [p.x / CELL + side as f64 / 2.0, p.z / CELL + side as f64 / 2.0];
    for corners in triangles {
        let [a, b, c] = corners.map(|v| at(positions[v as usize]));
        let cross =
            |p: [f64; 2], q: [f64; 2], r: [f64; 2]| (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]);
        let area = cross(a, b, c);
        let range = |axis: usize| {
            let low = a[axis].min(b[axis]).min(c[axis]).floor().max(0.0) as usize;
            let high = (a[axis].max(b[axis]).max(c[axis]).ceil() as usize).min(side - 1);
            low..=high
        };
        for i in range(0) {
            for j in range(1) {
                let p = [i as f64, j as f64];
                let weights = [cross(a, b, p), cross(b, c, p), cross(c, a, p)];
                if weights.iter().all(|w| w * area >= 0.0) {
                    covered[i * side + j] = true;
                }
            }
        }
    }
    covered.iter().filter(|c| **c).count() as f64 * CELL * CELL
}

/// Drape coefficient of a disc of so many rings (a multiple of five, so that one lies on the stand's rim) and its mean speed at the end.
fn drape(rings: u32, cloth: &str, frames: u32) -> (f64, f64) {
    let (inner, rim) = (1 + 3 * (rings - 1) * rings, 6 * rings);
    let world = World::new(&format!(
        r#"
        [scene]
        name = "drape"
        fps = 24
        frames = "0-{frames}"
        [[cloth]]
        name = "cloth"
        mesh = {{ disc = {{ radius = {RADIUS}, inner = {inner}, rim = {rim} }} }}
        pins = [{{ sphere = {{ center = [0, 0, 0], radius = {} }} }}]
        {cloth}
        "#,
        STAND + 1e-6
    ));
    let mesh = &world.model.cloths[0].mesh;
    assert_eq!(mesh.triangles.len() as u32, 6 * rings * rings);
    let (mut covered, mut speed) = (0.0, 0.0);
    world.simulate(|frame| {
        if frame.number == world.scene.last_frame {
            covered = shadow(&mesh.triangles, &frame.vertices[0].positions);
            let velocities = &frame.vertices[0].velocities;
            speed = (velocities.iter().map(|v| v.norm_squared()).sum::<f64>() / velocities.len() as f64).sqrt();
        }
    });
    let held: Vec<[u32; 3]> = mesh
        .triangles
        .iter()
        .filter(|t| t.iter().all(|&v| mesh.positions[v as usize].norm() < STAND + 1e-6))
        .copied()
        .collect();
    let [stand, all] = [&held, &mesh.triangles].map(|triangles| shadow(triangles, &mesh.positions));
    ((covered - stand) / (all - stand), speed)
}

#[test]
fn the_drape_coefficient_does_not_depend_on_the_resolution() {
    let resolutions: &[u32] = if full() { &[10, 15, 20] } else { &[10, 15] };
    let mut failures = Vec::new();
    for bend in ["5e-5", "2e-4"] {
        let cloth = format!("density = 0.2\nbend = {bend}\ndamping = 0.02");
        let found: Vec<f64> = resolutions
            .iter()
            .map(|&rings| {
                let (coefficient, speed) = drape(rings, &cloth, if full() { 72 } else { 48 });
                println!(
                    "bend {bend}, {} triangles: drape coefficient {coefficient:.4}, {speed:.4} m/s",
                    6 * rings * rings
                );
                coefficient
            })
            .collect();
        let (least, most) = found.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), &c| (a.min(c), b.max(c)));
        if most > 1.05 * least {
            failures.push(format!("bend {bend}: {found:.3?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Damping says how soon cloth comes to rest, not where.
#[test]
fn the_drape_coefficient_does_not_depend_on_damping() {
    let found = [0.01, 0.1].map(|damping| {
        let (coefficient, speed) = drape(15, &format!("density = 0.2\nbend = 5e-5\ndamping = {damping}"), 72);
        println!("damping {damping} s: drape coefficient {coefficient:.4}, {speed:.4} m/s");
        coefficient
    });
    assert!((found[0] / found[1] - 1.0).abs() < 0.02, "{found:.3?}");
}

#[test]
fn fabrics_drape_in_the_order_of_their_bending_lengths() {
    let rings = if full() { 15 } else { 10 };
    let mut found: Vec<(f64, f64, &str)> = Vec::new();
    for name in kiln::scene::fabric::names() {
        let fabric = kiln::scene::fabric::find(name).unwrap();
        let length = (fabric.bend / (fabric.density * 9.81)).cbrt();
        // Stiffness as measured, whatever the mesh can show.
        let cloth = format!("fabric = \"{name}\"\nbend = {}\ndamping = 0.02", fabric.bend);
        // On the coarse disc all hang still after four seconds, on the fine one silk and wool after ten.
        let (coefficient, speed) = drape(rings, &cloth, if full() { 240 } else { 96 });
        println!("{name}: bending length {:.1} mm, drape coefficient {coefficient:.4}, {speed:.4} m/s", 1e3 * length);
        found.push((length, coefficient, name));
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut failures = Vec::new();
    for (i, a) in found.iter().enumerate() {
        // Closer ones differ by less than the folds they happen to make. Rubber resists being curved two ways by its stiffness in the
        // plane too, which its bending length does not know of.
        let is_in_order = |b: &&(f64, f64, &str)| b.0 <= 1.05 * a.0 || b.1 > a.1 || [a.2, b.2].contains(&"rubber");
        for b in found[i + 1..].iter().filter(|b| !is_in_order(b)) {
            failures.push(format!("{} ({:.3}) does not drape more than {} ({:.3})", a.2, a.1, b.2, b.1));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
