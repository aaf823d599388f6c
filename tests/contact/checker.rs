//! The checker itself is right.

use crate::crossings::{Crossings, Mesh, Pair, Point, Triangle, cross, find, find_slowly};

/// Numbers that look random and are the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mixed = (self.0 ^ (self.0 >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed ^ (mixed >> 29)
    }

    /// From 0 to 1.
    fn part(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, end: i64) -> i64 {
        (self.next() >> 16) as i64 % end
    }
}

/// Whether they cross, whichever is first and wherever each one begins and turns.
fn any_way_cross(t: Triangle, u: Triangle) -> bool {
    let answer = cross(&t, &u);
    let orders = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]];
    for a in orders {
        for b in orders {
            let (t, u) = (a.map(|k| t[k]), b.map(|k| u[k]));
            assert_eq!(cross(&t, &u), answer, "{t:?} {u:?}");
            assert_eq!(cross(&u, &t), answer, "{u:?} {t:?}");
        }
    }
    answer
}

const FLAT: Triangle = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];

#[test]
fn an_edge_through_the_inside_crosses() {
    assert!(any_way_cross(FLAT, [[0.2, 0.2, -1.0], [0.2, 0.2, 1.0], [3.0, 3.0, 0.5]]));
    // Hooked into each other: each has one edge in the other.
    assert!(any_way_cross(FLAT, [[0.2, 0.2, -1.0], [0.2, 0.2, 1.0], [-3.0, 0.1, 0.0]]));
    // By the least that a number can tell.
    let least = f64::from_bits(1.0_f64.to_bits() + 1) - 1.0;
    assert!(any_way_cross(FLAT, [[0.2, 0.2, -least], [0.2, 0.2, 1.0], [0.3, 0.2, 1.0]]));
    // A triangle without area has edges all the same.
    assert!(any_way_cross(FLAT, [[0.2, 0.2, -1.0], [0.2, 0.2, 1.0], [0.2, 0.2, 0.5]]));
}

#[test]
fn insides_that_cross_only_through_edges_and_corners_cross() {
    // Both are cut along the same piece, so that edges meet edges.
    let upright = [[0.0, 0.0, -1.0], [0.0, 1.0, -1.0], [0.0, 0.5, 1.0]];
    let lying = [[-1.0, 0.25, 0.0], [1.0, 0.25, 0.0], [0.0, 2.0, 0.0]];
    assert!(any_way_cross(upright, lying));
    // Cut from a corner on.
    assert!(any_way_cross(FLAT, [[0.0, 0.0, 0.0], [0.5, 0.5, 1.0], [0.5, 0.5, -1.0]]));
}

#[test]
fn what_only_touches_does_not_cross() {
    for (what, other) in [
        ("share an edge", [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.5, 1.0]]),
        ("share an edge in one plane", [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, -1.0, 0.0]]),
        ("overlap in one plane", [[0.1, 0.1, 0.0], [2.0, 0.0, 0.0], [0.0, 2.0, 0.0]]),
        ("are one", FLAT),
        ("touch with a corner in the inside", [[0.25, 0.25, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]),
        ("touch with an edge in the inside", [[0.25, 0.25, 0.0], [0.5, 0.25, 0.0], [0.0, 1.0, 1.0]]),
        ("touch corner to corner", [[1.0, 0.0, 0.0], [2.0, 0.0, 1.0], [2.0, 0.0, -1.0]]),
        ("touch edge to edge", [[0.5, 0.0, -1.0], [0.5, 0.0, 1.0], [0.5, -1.0, 0.0]]),
        ("cross the plane beside it", [[0.6, 0.6, -1.0], [0.6, 0.6, 1.0], [2.0, 2.0, 0.0]]),
        ("are a nanometre apart", FLAT.map(|[x, y, _]| [x, y, 1e-9])),
        ("are the least apart", FLAT.map(|[x, y, _]| [x, y, f64::from_bits(1.0_f64.to_bits() + 1) - 1.0])),
    ] {
        assert!(!any_way_cross(FLAT, other), "they {what}");
    }
}

/// Whether the insides of triangles with whole coordinates meet along a line: pieces of the line as exact fractions.
fn cross_by_fractions(t: [[i64; 3]; 3], u: [[i64; 3]; 3]) -> bool {
    type Whole = [i128; 3];
    let minus = |a: Whole, b: Whole| [0, 1, 2].map(|k| a[k] - b[k]);
    let times =
        |a: Whole, b: Whole| [0, 1, 2].map(|k| a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3]);
    let dot = |a: Whole, b: Whole| (0..3).map(|k| a[k] * b[k]).sum::<i128>();
    let [t, u] = [t, u].map(|t| t.map(|p| p.map(i128::from)));
    let normal = |t: [Whole; 3]| times(minus(t[1], t[0]), minus(t[2], t[0]));
    let direction = times(normal(t), normal(u));
    // The piece that a plane cuts out of a triangle, as fractions along the direction; denominators are positive.
    let piece = |t: [Whole; 3], u: [Whole; 3]| {
        let heights = t.map(|p| dot(minus(p, u[0]), normal(u)));
        let is_split = heights.iter().any(|h| *h > 0) && heights.iter().any(|h| *h < 0);
        let mut ends = Vec::new();
        for k in 0..3 {
            let ([p, q], [h, g]) = ([t[k], t[(k + 1) % 3]], [heights[k], heights[(k + 1) % 3]]);
            if h == 0 {
                ends.push((dot(p, direction), 1));
            }
            if (h < 0) != (g < 0) && h != 0 && g != 0 {
                let (over, under) = (dot(p, direction) * g - dot(q, direction) * h, g - h);
                ends.push(if under < 0 { (-over, -under) } else { (over, under) });
            }
        }
        ends.sort_by(|a, b| (a.0 * b.1).cmp(&(b.0 * a.1)));
        is_split.then(|| [ends[0], ends[ends.len() - 1]])
    };
    let is_less = |a: (i128, i128), b: (i128, i128)| a.0 * b.1 < b.0 * a.1;
    match [piece(t, u), piece(u, t)] {
        [Some([a, b]), Some([c, d])] => is_less(a, d) && is_less(c, b),
        _ => false,
    }
}

#[test]
fn triangles_with_whole_coordinates_cross_as_fractions_say() {
    // In a small lattice almost everything is degenerate in some way; in a large one almost nothing.
    let mut random = Random(1);
    for lattice in [2, 3, 4, 6, 1000] {
        let mut crossing = 0;
        for _ in 0..60_000 {
            let mut triangle = || [(); 3].map(|()| [(); 3].map(|()| random.below(lattice)));
            let (t, u) = (triangle(), triangle());
            let has_area = |t: [[i64; 3]; 3]| {
                let [a, b] = [1, 2].map(|corner: usize| [0, 1, 2].map(|k| t[corner][k] - t[0][k]));
                (0..3).any(|k| a[(k + 1) % 3] * b[(k + 2) % 3] != a[(k + 2) % 3] * b[(k + 1) % 3])
            };
            if !has_area(t) || !has_area(u) {
                continue;
            }
            let expected = cross_by_fractions(t, u);
            let [a, b] = [t, u].map(|t| t.map(|p| p.map(|x| x as f64)));
            assert_eq!(cross(&a, &b), expected, "{t:?} {u:?}");
            crossing += usize::from(expected);
        }
        assert!(crossing > 100, "{crossing} of {lattice}");
    }
}

/// Triangles of this size at random places, none sharing a vertex; some vertices are led.
fn soup(random: &mut Random, count: usize, size: f64) -> Mesh {
    let mut positions: Vec<[f32; 3]> = Vec::new();
    for _ in 0..count {
        let place = [(); 3].map(|()| random.part());
        let mut corner = || [0, 1, 2].map(|k| (place[k] + size * random.part()) as f32);
        positions.extend([corner(), corner(), corner()]);
    }
    let triangles: Vec<[u32; 3]> = (0..count as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    let kinematic: Vec<bool> = (0..count).flat_map(|_| [random.below(3) == 0; 3]).collect();
    Mesh::new("soup", &positions, &triangles, &kinematic)
}

#[test]
fn the_sweep_finds_what_looking_at_every_pair_finds() {
    let mut random = Random(2);
    for (count, size) in [(1, 0.5), (40, 1.0), (300, 0.3), (600, 0.05), (600, 0.2)] {
        let mut meshes: Vec<Mesh> = (0..3).map(|_| soup(&mut random, count, size)).collect();
        // One mesh of few large triangles, one of points, one that is empty.
        meshes.push(soup(&mut random, 5, 3.0));
        meshes.push(soup(&mut random, 5, 0.0));
        meshes.push(soup(&mut random, 0, 0.0));
        let found = find(&meshes);
        assert_eq!(found, find_slowly(&meshes), "{count} of {size}");
        assert!(count < 40 || found.total() > 20 && !found.kinematic.is_empty(), "{found:?}");
    }
}

#[test]
fn the_sweep_finds_what_looking_at_every_pair_finds_in_a_crumpled_sheet() {
    let mut random = Random(3);
    let (positions, triangles) = sheet(21, |x, z| [x, 0.0, z]);
    let positions: Vec<Point> = positions.iter().map(|p| p.map(|x| 0.2 * x + 0.1 * random.part())).collect();
    let meshes = [Mesh::new("sheet", &positions, &triangles, &vec![false; positions.len()])];
    let found = find(&meshes);
    assert_eq!(found, find_slowly(&meshes));
    assert!(found.within(0) > 1000 && found.at_corners[&[0, 0]] > 100, "{found:?}");
}

/// A sheet of n × n vertices over the unit square.
fn sheet(n: u32, place: impl Fn(f64, f64) -> Point) -> (Vec<Point>, Vec<[u32; 3]>) {
    let part = |k: u32| f64::from(k) / f64::from(n - 1);
    let positions = (0..n * n).map(|v| place(part(v % n), part(v / n))).collect();
    let cells = (0..n - 1).flat_map(|j| (0..n - 1).map(move |i| j * n + i));
    (positions, cells.flat_map(|a| [[a, a + n, a + n + 1], [a, a + n + 1, a + 1]]).collect())
}

/// Two wavy layers of n × n vertices, one above the other.
fn layers(n: u32, gap: f64) -> [Mesh; 2] {
    [("lower", 0.0), ("upper", gap)].map(|(name, height)| {
        let (positions, triangles) = sheet(n, |x, z| [x, 0.1 * (9.0 * x).sin() * (7.0 * z).cos() + height, z]);
        let positions: Vec<[f32; 3]> = positions.iter().map(|p| p.map(|x| x as f32)).collect();
        Mesh::new(name, &positions, &triangles, &vec![false; positions.len()])
    })
}

#[test]
fn one_crossing_in_a_large_clean_scene_is_found() {
    let n = 224;
    let mut meshes = layers(n, 0.001);
    assert!(meshes[0].triangles.len() + meshes[1].triangles.len() > 190_000);
    assert_eq!(find(&meshes), Crossings::default());
    // One vertex of the lower layer through the upper one: between three of its vertices, so that exactly one triangle
    // is hit.
    let inside = n as usize / 2 * (n as usize + 1);
    let hit = meshes[1].triangles.iter().position(|t| t[0] as usize == inside).unwrap();
    let [a, b, c] = meshes[1].triangle(hit);
    let middle = [0, 1, 2].map(|k| (a[k] + b[k] + c[k]) / 3.0);
    meshes[0].positions[inside] = [middle[0], middle[1] + 1e-6, middle[2]];
    let found = find(&meshes);
    let round_vertex: Vec<usize> =
        (0..meshes[0].triangles.len()).filter(|&t| meshes[0].triangles[t].contains(&(inside as u32))).collect();
    let expected: Vec<Pair> = round_vertex.iter().map(|&t| Pair { meshes: [0, 1], triangles: [t, hit] }).collect();
    assert_eq!(found.total(), expected.len(), "{found:?}");
    assert_eq!(found.between(1, 0), expected.len());
    assert_eq!(found.first, expected);
    // The same through its own sheet, joined to the other at no vertex.
    let joined = {
        let [lower, upper] = meshes;
        let count = lower.positions.len() as u32;
        let positions: Vec<Point> = lower.positions.into_iter().chain(upper.positions).collect();
        let moved = upper.triangles.iter().map(|t| t.map(|v| v + count));
        let triangles: Vec<[u32; 3]> = lower.triangles.into_iter().chain(moved).collect();
        let mut kinematic = vec![false; positions.len()];
        kinematic[inside] = true; // a single one leaves the others free to give way
        [Mesh::new("both", &positions, &triangles, &kinematic)]
    };
    let found = find(&joined);
    assert_eq!((found.within(0), found.kinematic.len()), (expected.len(), 0));
}

#[test]
fn pairs_that_share_a_vertex_are_told_apart() {
    // A fan of two triangles, the tip of the second bent through the first.
    let positions = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.2, 0.3, 0.1], [0.3, 0.2, -0.1]];
    let meshes = [Mesh::new("fan", &positions, &[[0, 1, 2], [0, 3, 4]], &[false; 5])];
    let found = find(&meshes);
    assert_eq!((found.total(), found.at_corners.get(&[0, 0])), (0, Some(&1)));
    assert_eq!(found, find_slowly(&meshes));
}

#[test]
fn pairs_that_cannot_give_way_are_told_apart() {
    let mut random = Random(4);
    let free = soup(&mut random, 60, 1.0);
    let led = Mesh { kinematic: vec![true; free.positions.len()], ..free.clone() };
    let loose = Mesh { kinematic: vec![false; free.positions.len()], ..free };
    let (led, loose) = (find(&[led]), find(&[loose]));
    assert_eq!((led.total(), led.kinematic), (0, loose.counts.clone()));
    assert!(loose.total() > 10 && loose.kinematic.is_empty());
}

#[test]
#[should_panic(expected = "not finite")]
fn what_is_no_number_is_refused() {
    Mesh::new("broken", &[[0.0, f64::NAN, 0.0]], &[], &[false]);
}
