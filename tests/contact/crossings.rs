//! Which triangles cross. Shares nothing with what it judges: exact signs of determinants, and a sweep of its own.
//!
//! Idea: two triangles cross if the insides of both meet along a line, which is so wherever an edge of one goes
//! properly through the inside of the other. What only touches (at a point, along an edge, in one plane) does not
//! cross.

use std::collections::{BTreeMap, BTreeSet};

use robust::{Coord3D, orient3d};

/// x, y, z [m].
pub type Point = [f64; 3];
/// Three points.
pub type Triangle = [Point; 3];

/// How many offending pairs are kept to look at.
const FEW: usize = 8;

/// Triangles, some vertices of which are led by keys and cannot give way.
#[derive(Clone, Debug)]
pub struct Mesh {
    pub positions: Vec<Point>,
    pub triangles: Vec<[u32; 3]>,
    pub kinematic: Vec<bool>,
}

impl Mesh {
    /// The name is for messages.
    pub fn new<T: Copy + Into<f64>>(
        name: &str,
        positions: &[[T; 3]],
        triangles: &[[u32; 3]],
        kinematic: &[bool],
    ) -> Mesh {
        assert_eq!(positions.len(), kinematic.len(), "{name}: one flag a vertex");
        let positions: Vec<Point> = positions.iter().map(|p| p.map(Into::into)).collect();
        // Comparisons with what is no number are false, so such triangles would cross nothing.
        assert!(positions.iter().flatten().all(|x| x.is_finite()), "{name}: a coordinate is not finite");
        Mesh { positions, triangles: triangles.to_vec(), kinematic: kinematic.to_vec() }
    }

    pub fn triangle(&self, number: usize) -> Triangle {
        self.triangles[number].map(|v| self.positions[v as usize])
    }

    fn is_kinematic(&self, triangle: usize) -> bool {
        self.triangles[triangle].iter().all(|&v| self.kinematic[v as usize])
    }
}

/// Two triangles; the mesh with the lower number first, in one mesh the triangle with the lower number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    pub meshes: [usize; 2],
    pub triangles: [usize; 2],
}

/// Numbers of pairs by their two meshes; the same mesh twice is a mesh with itself.
pub type Counts = BTreeMap<[usize; 2], usize>;

/// What crosses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Crossings {
    /// Pairs with at least one vertex that can give way.
    pub counts: Counts,
    /// Pairs that keys alone have led through each other: no cloth could do anything about them. Not in `counts`.
    pub kinematic: Counts,
    /// Pairs of one mesh that share exactly one vertex, and the edge of one that lies opposite to it goes through the
    /// inside of the other. Not in `counts`, which leave out whatever shares a vertex.
    pub at_corners: Counts,
    /// The first few pairs of `counts`.
    pub first: Vec<Pair>,
}

impl Crossings {
    /// All of `counts`.
    pub fn total(&self) -> usize {
        self.counts.values().sum()
    }

    /// Of one mesh with itself.
    pub fn within(&self, mesh: usize) -> usize {
        self.between(mesh, mesh)
    }

    /// Of two meshes, in any order.
    pub fn between(&self, a: usize, b: usize) -> usize {
        self.counts.get(&[a.min(b), a.max(b)]).copied().unwrap_or_default()
    }

    /// For messages: who crosses whom how often, and where to look first.
    pub fn describe(&self, meshes: &[&str]) -> String {
        let name = |mesh: usize| meshes.get(mesh).copied().unwrap_or("?");
        let said = |what: &str, counts: &Counts| {
            let one = |(&[a, b], count): (&[usize; 2], &usize)| format!("{what}{} × {}: {count}", name(a), name(b));
            counts.iter().map(one).collect::<Vec<_>>()
        };
        let mut parts = said("", &self.counts);
        parts.extend(said("kinematic ", &self.kinematic));
        parts.extend(said("at corners ", &self.at_corners));
        if let Some(Pair { meshes: [a, b], triangles: [t, u] }) = self.first.first() {
            parts.push(format!("first {} {t} and {} {u}", name(*a), name(*b)));
        }
        if parts.is_empty() { "nothing crosses".to_owned() } else { parts.join(", ") }
    }
}

/// All crossings within and between meshes.
pub fn find(meshes: &[Mesh]) -> Crossings {
    let mut found = Found::default();
    for pair in candidates(meshes) {
        found.judge(meshes, pair);
    }
    found.finish()
}

/// The same without the sweep: every pair is looked at.
pub fn find_slowly(meshes: &[Mesh]) -> Crossings {
    let all: Vec<[usize; 2]> =
        meshes.iter().enumerate().flat_map(|(m, mesh)| (0..mesh.triangles.len()).map(move |t| [m, t])).collect();
    let mut found = Found::default();
    for (number, &a) in all.iter().enumerate() {
        for &b in &all[number + 1..] {
            found.judge(meshes, Pair { meshes: [a[0], b[0]], triangles: [a[1], b[1]] });
        }
    }
    found.finish()
}

#[derive(Default)]
struct Found {
    crossings: Crossings,
    /// The lowest ones, whatever order the pairs come in.
    first: BTreeSet<Pair>,
}

impl Found {
    fn judge(&mut self, meshes: &[Mesh], pair: Pair) {
        let Pair { meshes: [a, b], triangles: [t, u] } = pair;
        let corners = [meshes[a].triangles[t], meshes[b].triangles[u]];
        let points = [meshes[a].triangle(t), meshes[b].triangle(u)];
        let is_shared = |v: &u32| a == b && corners[1].contains(v);
        let counts = match corners[0].iter().filter(|v| is_shared(v)).count() {
            0 if !cross(&points[0], &points[1]) => return,
            0 if meshes[a].is_kinematic(t) && meshes[b].is_kinematic(u) => &mut self.crossings.kinematic,
            0 => {
                self.first.insert(pair);
                if self.first.len() > FEW {
                    self.first.pop_last();
                }
                &mut self.crossings.counts
            }
            // An edge from the shared vertex starts in the other plane and so is never found to go through it.
            1 if pierces(&points[0], &points[1]) || pierces(&points[1], &points[0]) => &mut self.crossings.at_corners,
            _ => return,
        };
        *counts.entry(pair.meshes).or_default() += 1;
    }

    fn finish(mut self) -> Crossings {
        self.crossings.first = self.first.into_iter().collect();
        self.crossings
    }
}

/// A triangle's box, and whose it is.
struct Boxed {
    low: Point,
    high: Point,
    mesh: usize,
    triangle: usize,
}

/// Pairs whose boxes touch.
///
/// Idea: boxes are sorted into columns across the two longest axes, those of more than one column into all of them;
/// each column is swept along the third. A pair that meets in several columns counts in the first that both have.
fn candidates(meshes: &[Mesh]) -> Vec<Pair> {
    let mut boxes = Vec::new();
    for (mesh, m) in meshes.iter().enumerate() {
        for triangle in 0..m.triangles.len() {
            let corners = m.triangle(triangle);
            let bound = |pick: fn(f64, f64) -> f64| {
                [0, 1, 2].map(|k| corners[1..].iter().fold(corners[0][k], |x, p| pick(x, p[k])))
            };
            boxes.push(Boxed { low: bound(f64::min), high: bound(f64::max), mesh, triangle });
        }
    }
    if boxes.is_empty() {
        return Vec::new();
    }
    // Where most of them are: a floor of two triangles must not decide how wide the columns are. What is beyond goes to
    // the outer ones.
    let most_of = |axis: usize| {
        let mut middles: Vec<f64> = boxes.iter().map(|b| 0.5 * (b.low[axis] + b.high[axis])).collect();
        middles.sort_by(f64::total_cmp);
        let few = middles.len() / 50;
        [middles[few], middles[middles.len() - 1 - few]]
    };
    let bounds = [0, 1, 2].map(most_of);
    let extent = |axis: usize| bounds[axis][1] - bounds[axis][0];
    let mut axes = [0, 1, 2];
    axes.sort_by(|&a, &b| extent(b).total_cmp(&extent(a)));
    let [first, second, along] = axes;
    boxes.sort_by(|a, b| a.low[along].total_cmp(&b.low[along]).then((a.mesh, a.triangle).cmp(&(b.mesh, b.triangle))));

    // Columns about as wide as a usual box, and not so many that large boxes fill memory.
    let mut widths: Vec<f64> =
        boxes.iter().map(|b| (b.high[first] - b.low[first]).max(b.high[second] - b.low[second])).collect();
    widths.sort_by(f64::total_cmp);
    let most = (boxes.len() as f64).sqrt().ceil().min(512.0);
    let width = (2.0 * widths[widths.len() / 2]).max(extent(first) / most).max(f64::MIN_POSITIVE);
    let count = |axis: usize| (extent(axis) / width) as usize + 1;
    let counts = [count(first), count(second)];
    let column = |x: f64, axis: usize| (((x - bounds[axis][0]) / width).max(0.0) as usize).min(count(axis) - 1);
    let mut columns: Vec<Vec<u32>> = vec![Vec::new(); counts[0] * counts[1]];
    for (number, b) in boxes.iter().enumerate() {
        for i in column(b.low[first], first)..=column(b.high[first], first) {
            for j in column(b.low[second], second)..=column(b.high[second], second) {
                columns[i * counts[1] + j].push(number as u32);
            }
        }
    }

    let mut pairs = Vec::new();
    for (number, members) in columns.iter().enumerate() {
        let here = [number / counts[1], number % counts[1]];
        for (k, &a) in members.iter().enumerate() {
            let a = &boxes[a as usize];
            let reached = members[k + 1..].iter().map(|&b| &boxes[b as usize]);
            for b in reached.take_while(|b| b.low[along] <= a.high[along]) {
                let touch = |axis: usize| a.low[axis] <= b.high[axis] && b.low[axis] <= a.high[axis];
                let shared = |axis: usize| column(a.low[axis].max(b.low[axis]), axis);
                if touch(first) && touch(second) && [shared(first), shared(second)] == here {
                    let ([m, t], [n, u]) = ([a.mesh, a.triangle], [b.mesh, b.triangle]);
                    let ([m, t], [n, u]) = if [m, t] < [n, u] { ([m, t], [n, u]) } else { ([n, u], [m, t]) };
                    pairs.push(Pair { meshes: [m, n], triangles: [t, u] });
                }
            }
        }
    }
    pairs
}

/// On which side of the plane through a, b and c the point d is: 1, -1, or 0 in it; exact.
fn side([a, b, c]: [Point; 3], d: Point) -> i8 {
    let [a, b, c, d] = [a, b, c, d].map(|[x, y, z]| Coord3D { x, y, z });
    let determinant = orient3d(a, b, c, d);
    i8::from(determinant > 0.0) - i8::from(determinant < 0.0)
}

/// On which side of another triangle's plane each corner is.
fn sides(triangle: &Triangle, plane: &Triangle) -> [i8; 3] {
    triangle.map(|corner| side(*plane, corner))
}

fn is_split(sides: [i8; 3]) -> bool {
    sides.contains(&1) && sides.contains(&-1)
}

/// Whether the insides of two triangles meet without lying in one plane.
pub fn cross(t: &Triangle, u: &Triangle) -> bool {
    let t_sides = sides(t, u);
    // Triangles that touch without crossing are the rule in cloth, and this tells most of them.
    if t_sides == [1; 3] || t_sides == [-1; 3] {
        return false;
    }
    let u_sides = sides(u, t);
    match [is_split(t_sides), is_split(u_sides)] {
        [true, true] => cuts_overlap(t, t_sides, u, u_sides),
        // Each lies on one side of the other, or one is so thin that it has no plane: then its edges decide.
        [true, false] => pierces(t, u),
        [false, true] => pierces(u, t),
        [false, false] => false,
    }
}

/// Whether an edge of the first triangle goes properly through the inside of the second.
fn pierces(t: &Triangle, u: &Triangle) -> bool {
    let t_sides = sides(t, u);
    (0..3).any(|k| {
        let [p, q] = [t[k], t[(k + 1) % 3]];
        let goes_through = t_sides[k] * t_sides[(k + 1) % 3] < 0;
        goes_through && {
            // The line of the edge passes all three edges of the triangle on the same side.
            let round = [0, 1, 2].map(|k| side([p, q, u[k]], u[(k + 1) % 3]));
            round == [1; 3] || round == [-1; 3]
        }
    })
}

/// Each plane cuts the other triangle along a piece of the line that both planes share: whether these pieces have more
/// than a point in common. Both triangles have corners on both sides of the other's plane.
fn cuts_overlap(t: &Triangle, t_sides: [i8; 3], u: &Triangle, u_sides: [i8; 3]) -> bool {
    let [p, mut q, mut r] = from_lone_corner(t, t_sides);
    let [a, mut b, mut c] = from_lone_corner(u, u_sides);
    // Turned so that each lone corner is on the same side of the other triangle, the pieces run the same way, one from
    // the edge pq to pr, the other from ac to ab.
    if side([a, b, c], p) < 0 {
        (b, c) = (c, b);
    }
    if side([p, q, r], a) < 0 {
        (q, r) = (r, q);
    }
    // Which of two edges meets the line first is the side on which they pass each other: each piece starts before the
    // other ends.
    side([p, q, a], b) < 0 && side([p, r, c], a) < 0
}

/// The corners in their order round the triangle, beginning with one that has no other on its side of the plane.
fn from_lone_corner(t: &Triangle, sides: [i8; 3]) -> Triangle {
    let is_lone = |k: &usize| sides[*k] != 0 && sides.iter().filter(|&&s| s == sides[*k]).count() == 1;
    let lone = (0..3).find(is_lone).unwrap_or(0);
    [0, 1, 2].map(|k| t[(lone + k) % 3])
}
