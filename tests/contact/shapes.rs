//! Meshes by rule.

use std::f64::consts::{FRAC_PI_2, PI, TAU};
use std::fmt::Write;

use crate::crossings::Point;

/// Vertices and triangles.
#[derive(Clone, Debug, Default)]
pub struct Shape {
    pub positions: Vec<Point>,
    pub triangles: Vec<[u32; 3]>,
}

impl Shape {
    /// As a file; numbers are written so that they are read back to the last bit.
    pub fn obj(&self) -> String {
        let mut text = String::new();
        for [x, y, z] in &self.positions {
            writeln!(text, "v {x} {y} {z}").unwrap();
        }
        for [a, b, c] in self.triangles.iter().map(|t| t.map(|v| v + 1)) {
            writeln!(text, "f {a} {b} {c}").unwrap();
        }
        text
    }
}

/// A lattice of points, its diagonals alternating like a chessboard; point (i, j) is vertex `i + j columns`.
pub fn lattice(columns: u32, rows: u32, place: impl Fn(u32, u32) -> Point) -> Shape {
    let positions = (0..rows).flat_map(|j| (0..columns).map(move |i| [i, j])).map(|[i, j]| place(i, j)).collect();
    let mut triangles = Vec::new();
    for j in 0..rows - 1 {
        for i in 0..columns - 1 {
            let a = i + j * columns;
            let [b, c, d] = [a + 1, a + columns, a + columns + 1];
            triangles.extend(if (i + j) % 2 == 0 { [[a, c, d], [a, d, b]] } else { [[a, c, b], [b, c, d]] });
        }
    }
    Shape { positions, triangles }
}

/// A profile of (radius, height) turned about the y axis. What is on its right is outside, so a profile that goes up
/// bounds a body around the axis. Ends at radius 0 become poles; a profile without poles is closed to a ring.
fn turned(profile: &[[f64; 2]], segments: u32) -> Shape {
    let mut shape = Shape::default();
    let mut rings: Vec<Vec<u32>> = Vec::new();
    for &[radius, height] in profile {
        let first = shape.positions.len() as u32;
        if radius == 0.0 {
            shape.positions.push([0.0, height, 0.0]);
            rings.push(vec![first; segments as usize]);
        } else {
            let angle = |k: u32| TAU * f64::from(k) / f64::from(segments);
            let place = |k: u32| [radius * angle(k).cos(), height, radius * angle(k).sin()];
            shape.positions.extend((0..segments).map(place));
            rings.push((first..first + segments).collect());
        }
    }
    if profile[0][0] > 0.0 {
        rings.push(rings[0].clone());
    }
    for pair in rings.windows(2) {
        for k in 0..segments as usize {
            let next = (k + 1) % segments as usize;
            let [a, b, c, d] = [pair[0][k], pair[0][next], pair[1][k], pair[1][next]];
            shape.triangles.extend([[a, c, b], [b, c, d]].into_iter().filter(|[a, b, c]| a != b && b != c && c != a));
        }
    }
    shape
}

/// Points of an arc, its angles from the radial direction up; both ends are among them.
fn arc(middle: [f64; 2], radius: f64, [from, to]: [f64; 2], pieces: u32) -> impl Iterator<Item = [f64; 2]> {
    (0..=pieces).map(move |k| {
        let angle = from + (to - from) * f64::from(k) / f64::from(pieces);
        [middle[0] + radius * angle.cos(), middle[1] + radius * angle.sin()]
    })
}

/// A ball around the origin.
pub fn ball(radius: f64, segments: u32) -> Shape {
    let mut profile: Vec<[f64; 2]> = arc([0.0, 0.0], radius, [-FRAC_PI_2, FRAC_PI_2], segments / 2).collect();
    let top = profile.len() - 1;
    (profile[0], profile[top]) = ([0.0, -radius], [0.0, radius]); // a cosine is not quite 0
    turned(&profile, segments)
}

/// A ring around the y axis: the radius of the circle in the middle of its tube, and that of the tube.
pub fn torus(radius: f64, tube: f64, segments: u32) -> Shape {
    let round: Vec<[f64; 2]> = arc([radius, 0.0], tube, [0.0, TAU], segments / 3).collect();
    turned(&round[..round.len() - 1], segments)
}

/// The lower half of a hollow ball around the origin; `radius` is that of the hollow. Its rim is round.
pub fn bowl(radius: f64, wall: f64, segments: u32) -> Shape {
    let pieces = segments / 4;
    let outside = arc([0.0, 0.0], radius + wall, [-FRAC_PI_2, 0.0], pieces).skip(1);
    let rim = arc([radius + 0.5 * wall, 0.0], 0.5 * wall, [0.0, PI], 6).skip(1).take(5);
    let inside = arc([0.0, 0.0], radius, [0.0, -FRAC_PI_2], pieces).take(pieces as usize);
    let mut profile = vec![[0.0, -radius - wall]];
    profile.extend(outside.chain(rim).chain(inside));
    profile.push([0.0, -radius]);
    turned(&profile, segments)
}

/// A strip folded in half three times, always in the same direction: layers of this length along x, in turns that are
/// half circles. Its lowest layer is at height 0 and the others lie above it, each one `gap` higher; z is its width.
pub fn folded_strip(layer: f64, width: f64, edge: f64, gap: f64) -> Shape {
    // From end to end of the strip; halving it three times puts its eighths on these layers.
    const LAYERS: [f64; 8] = [0.0, 7.0, 4.0, 3.0, 2.0, 5.0, 6.0, 1.0];
    /// Fewest pieces of a turn: corners that a cloth would not make.
    const TURN: f64 = 4.0;
    let along = (layer / edge).round() as u32;
    let mut profile: Vec<[f64; 2]> = Vec::new();
    for (eighth, height) in LAYERS.into_iter().enumerate() {
        let direction = if eighth % 2 == 0 { 1.0 } else { -1.0 };
        let x = |k: u32| direction * layer * (f64::from(k) / f64::from(along) - 0.5);
        profile.extend((0..=along).map(|k| [x(k), gap * height]));
        if let Some(next) = LAYERS.get(eighth + 1) {
            let radius = 0.5 * gap * (next - height).abs();
            let pieces = (PI * radius / edge).ceil().max(TURN) as u32;
            let up = (next - height).signum();
            let turn = arc([0.0, 0.0], radius, [-FRAC_PI_2, FRAC_PI_2], pieces).skip(1).take(pieces as usize - 1);
            let middle = 0.5 * gap * (next + height);
            profile.extend(turn.map(|[out, rise]| [direction * (0.5 * layer + out), middle + up * rise]));
        }
    }
    let across = (width / edge).round() as u32;
    lattice(profile.len() as u32, across + 1, |i, j| {
        let [x, y] = profile[i as usize];
        [x, y, width * (f64::from(j) / f64::from(across) - 0.5)]
    })
}

/// A ribbon of nearly square cells tied into a loose overhand knot; `unit` scales it, its ends are 15 of them apart.
/// Vertices run along it first.
///
/// Idea: the curve (t³ - 3t, t⁴ - 4t²) crosses itself three times, as the drawing of the knot does; both ends are then
/// bent outwards. At the crossings it passes alternately above and below itself. The ribbon stands upright on the
/// drawing, so that it is bent more than skewed: edges along it differ by a third from those in its middle at most.
pub fn knotted_ribbon(unit: f64, long: u32, wide: u32) -> Shape {
    /// Where the curve crosses itself, for t > 0: (√6 - √2) / 2, √3, (√6 + √2) / 2.
    const CROSSINGS: [f64; 3] = [0.517_638_090_205_041_5, 1.732_050_807_568_877_2, 1.931_851_652_578_136_6];
    /// Where the curve ends and is bent outwards, with this radius, and goes straight on for this length.
    const END: f64 = 2.0;
    const BEND: f64 = 1.5;
    const STRAIGHT: f64 = 4.0;
    /// How far above or below the drawing it crosses. The less, the less it is skewed, but it must be more than half
    /// its width.
    const LIFT: f64 = 0.5;
    const FINE: u32 = 4000;

    // Half of the drawing, from the middle to one end; the other half is its mirror image.
    let mut half: Vec<[f64; 2]> = Vec::new();
    let mut lengths = vec![0.0]; // from the middle
    let mut marks: Vec<f64> = Vec::new();
    let mut add = |half: &mut Vec<[f64; 2]>, p: [f64; 2]| {
        if let Some(last) = half.last() {
            lengths.push(lengths[lengths.len() - 1] + (p[0] - last[0]).hypot(p[1] - last[1]));
        }
        half.push(p);
        lengths[lengths.len() - 1]
    };
    for k in 0..=FINE {
        let t = END * f64::from(k) / f64::from(FINE);
        let length = add(&mut half, [t * t * t - 3.0 * t, t.powi(4) - 4.0 * t * t]);
        if CROSSINGS.get(marks.len()).is_some_and(|crossing| t >= *crossing) {
            marks.push(length);
        }
    }
    let heading = (4.0 * END.powi(3) - 8.0 * END).atan2(3.0 * END * END - 3.0);
    let [x, y] = half[half.len() - 1];
    let middle = [x + BEND * heading.sin(), y - BEND * heading.cos()];
    for [x, y] in arc(middle, BEND, [heading + FRAC_PI_2, FRAC_PI_2], FINE / 4).skip(1) {
        add(&mut half, [x, y]);
    }
    let [x, y] = half[half.len() - 1];
    for k in 1..=FINE / 4 {
        add(&mut half, [x + STRAIGHT * f64::from(k) / f64::from(FINE / 4), y]);
    }

    // Level at the crossings and at the end, and along the straight part back to the drawing's own plane.
    let end = lengths[lengths.len() - 1];
    let stops: [[f64; 2]; 5] =
        [[-marks[0], LIFT], [marks[0], -LIFT], [marks[1], LIFT], [marks[2], -LIFT], [end - 0.5 * STRAIGHT, 0.0]];
    let height = |length: f64| {
        let next = stops.iter().position(|stop| stop[0] > length);
        next.map_or(0.0, |next| {
            let ([from, low], [to, high]) = (stops[next - 1], stops[next]);
            low + (high - low) * 0.5 * (1.0 - (PI * (length - from) / (to - from)).cos())
        })
    };
    let right: Vec<Point> = half.iter().zip(&lengths).map(|(&[x, y], &length)| [x, y, height(length)]).collect();
    let left = right[1..].iter().rev().map(|[x, y, z]| [-x, *y, -z]);
    let line: Vec<Point> = left.chain(right.iter().copied()).collect();

    // Equal pieces of it, and the direction there.
    let minus = |a: Point, b: Point| [0, 1, 2].map(|k| a[k] - b[k]);
    let norm = |a: Point| a.iter().map(|x| x * x).sum::<f64>().sqrt();
    let steps: Vec<f64> = line.windows(2).map(|pair| norm(minus(pair[1], pair[0]))).collect();
    let cell = steps.iter().sum::<f64>() / f64::from(long - 1);
    let (mut piece, mut before) = (0, 0.0);
    let mut columns: Vec<[Point; 2]> = Vec::new();
    for k in 0..long {
        let length = cell * f64::from(k);
        while piece + 1 < steps.len() && before + steps[piece] < length {
            before += steps[piece];
            piece += 1;
        }
        let step = minus(line[piece + 1], line[piece]);
        let part = ((length - before) / steps[piece]).min(1.0);
        let middle = [0, 1, 2].map(|k| line[piece][k] + part * step[k]);
        // The upright direction, made square to the line.
        let slope = step[2] / steps[piece];
        let across = [0, 1, 2].map(|k| f64::from(u8::from(k == 2)) - slope * step[k] / steps[piece]);
        columns.push([middle, across.map(|x| x / norm(across))]);
    }
    lattice(long, wide, |i, j| {
        let [middle, across] = columns[i as usize];
        let aside = cell * (f64::from(j) - 0.5 * f64::from(wide - 1));
        [0, 1, 2].map(|k| unit * (middle[k] + aside * across[k]))
    })
}
