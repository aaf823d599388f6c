//! Scenes in which cloth is pressed, dragged and twisted against itself and against colliders. All of them start with
//! nothing crossing.

use std::fmt::Write;
use std::ops::RangeInclusive;

use tempfile::TempDir;

use crate::crossings::{Mesh, Point};
use crate::shapes::{self, Shape};
use crate::support::World;

/// How large a scene is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Seconds to simulate.
    Quick,
    /// About a minute to simulate.
    Large,
}

impl Size {
    fn pick<T>(self, quick: T, large: T) -> T {
        match self {
            Size::Quick => quick,
            Size::Large => large,
        }
    }
}

/// Frames and places, straight lines in between; before the first and after the last it holds.
type Path = Vec<(f64, Point)>;

/// A collider as the checker sees it.
#[derive(Clone, Debug)]
pub struct Collider {
    pub name: &'static str,
    pub shape: Shape,
    /// Where its origin is; empty for one that stays.
    pub path: Path,
}

impl Collider {
    /// How far it is moved at a frame.
    pub fn shift(&self, frame: f64) -> Point {
        match self.path.iter().position(|key| key.0 > frame) {
            _ if self.path.is_empty() => [0.0; 3],
            None => self.path[self.path.len() - 1].1,
            Some(0) => self.path[0].1,
            Some(next) => {
                let ((start, from), (end, to)) = (self.path[next - 1], self.path[next]);
                let part = (frame - start) / (end - start);
                [0, 1, 2].map(|k| from[k] + (to[k] - from[k]) * part)
            }
        }
    }

    /// Its mesh at a frame.
    pub fn at(&self, frame: i64) -> Mesh {
        let shift = self.shift(frame as f64);
        let positions: Vec<Point> = self.shape.positions.iter().map(|p| [0, 1, 2].map(|k| p[k] + shift[k])).collect();
        Mesh::new(self.name, &positions, &self.shape.triangles, &vec![true; positions.len()])
    }
}

/// A scene, all that it needs, and what the checker has to know.
#[derive(Clone, Debug)]
pub struct Scene {
    pub name: &'static str,
    /// The scene file.
    pub text: String,
    /// Names and contents of the files beside it.
    pub files: Vec<(String, String)>,
    /// In the order of the scene; planes are large rectangles.
    pub colliders: Vec<Collider>,
    /// What each cloth starts with [m/s]; empty if all are at rest. Scene files have no key for this.
    pub velocities: Vec<Point>,
    /// Frames in which colliders overlap where the cloth is: it has nowhere to be, so it may cross them then, but never
    /// itself.
    pub no_room: Option<RangeInclusive<i64>>,
}

impl Scene {
    pub fn new(name: &'static str, last_frame: i64) -> Scene {
        let text = format!("[scene]\nname = \"{name}\"\nfps = 24\nframes = \"0-{last_frame}\"\n");
        Scene { name, text, files: Vec::new(), colliders: Vec::new(), velocities: Vec::new(), no_room: None }
    }

    pub fn line(mut self, line: &str) -> Scene {
        writeln!(self.text, "{line}").unwrap();
        self
    }

    /// A flat sheet in the xz-plane, turned, then shifted.
    pub fn sheet(self, name: &str, vertices: [u32; 2], size: [f64; 2], rotate: Point, translate: Point) -> Scene {
        self.line(&format!(
            "[[cloth]]\nname = \"{name}\"\nmesh = {{ sheet = {{ vertices = {vertices:?}, size = {size:?} }} }}\n\
             transform = {{ rotate = {rotate:?}, translate = {translate:?} }}"
        ))
    }

    /// A cloth from a file.
    pub fn cloth(mut self, name: &str, shape: &Shape, translate: Point) -> Scene {
        self.files.push((format!("{name}.obj"), shape.obj()));
        self.line(&format!(
            "[[cloth]]\nname = \"{name}\"\nmesh = \"{name}.obj\"\ntransform = {{ translate = {translate:?} }}"
        ))
    }

    /// A collider from a file, at a place or on a path.
    pub fn collider(mut self, name: &'static str, shape: Shape, path: Path) -> Scene {
        self.files.push((format!("{name}.obj"), shape.obj()));
        let translate = keys(&path);
        self.colliders.push(Collider { name, shape, path });
        self.line(&format!(
            "[[collider]]\nname = \"{name}\"\nshape = \"mesh\"\nmesh = \"{name}.obj\"\n\
             transform = {{ translate = {translate} }}"
        ))
    }

    /// Solid ground below height 0.
    pub fn floor(mut self) -> Scene {
        const FAR: f64 = 10.0;
        let corner = |k: u32| if k == 0 { -FAR } else { FAR };
        let shape = shapes::lattice(2, 2, |i, j| [corner(i), 0.0, corner(j)]);
        self.colliders.push(Collider { name: "floor", shape, path: Vec::new() });
        self.line("[[collider]]\nname = \"floor\"\nshape = \"plane\"\npoint = [0, 0, 0]\nnormal = [0, 1, 0]")
    }

    /// Its files in a folder of their own.
    pub fn folder(&self) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, contents) in &self.files {
            std::fs::write(folder.path().join(name), contents).unwrap();
        }
        folder
    }

    /// Ready to be simulated; overrides as on the command line.
    pub fn world(&self, overrides: &[&str]) -> World {
        let mut world = World::in_folder(&self.text, self.folder().path(), overrides);
        for (cloth, &velocity) in world.start.bodies.iter_mut().zip(&self.velocities) {
            cloth.v.fill(velocity.into());
        }
        world
    }

    /// Names of what `crate::meshes` gives, for messages.
    pub fn mesh_names<'a>(&'a self, world: &'a World) -> Vec<&'a str> {
        let bodies = world.model.skins().map(|skin| skin.name.as_str());
        bodies.chain(self.colliders.iter().map(|collider| collider.name)).collect()
    }
}

/// A path as a scene file says it.
fn keys(path: &[(f64, Point)]) -> String {
    match path {
        [] => "[0, 0, 0]".to_owned(),
        [(_, place)] => format!("{place:?}"),
        _ => {
            let keys: Vec<String> = path.iter().map(|(frame, place)| format!("[{frame:?}, {place:?}]")).collect();
            format!("{{ keys = [{}] }}", keys.join(", "))
        }
    }
}

/// Every scene of a size.
pub fn all(size: Size) -> Vec<Scene> {
    vec![
        sheet_on_ball(size),
        folded_sheet(size, 0.004),
        dragged_through_ring(size),
        twisted_strip(size),
        pile_in_bowl(size),
        knot(size),
        pinch(size),
        two_sheets(size),
        teleport(size),
    ]
}

/// A sheet falls on a ball.
pub fn sheet_on_ball(size: Size) -> Scene {
    let n = size.pick(31, 61);
    Scene::new("sheet_on_ball", size.pick(36, 72))
        .sheet("sheet", [n, n], [1.2, 1.2], [0.0; 3], [0.0, 0.32, 0.0])
        .collider("ball", shapes::ball(0.3, size.pick(32, 96)), vec![(0.0, [0.0; 3])])
}

/// A sheet folded three times, so that it has eight layers, is let go a little above the floor.
pub fn folded_sheet(size: Size, gap: f64) -> Scene {
    let [layer, edge] = size.pick([0.06, 0.005], [0.08, 0.005]);
    Scene::new("folded_sheet", size.pick(6, 24))
        .cloth("sheet", &shapes::folded_strip(layer, layer, edge, gap), [0.0, 0.005, 0.0])
        .floor()
}

/// A sheet is drawn by its middle through a ring that is far too narrow for it.
pub fn dragged_through_ring(size: Size) -> Scene {
    let (n, last) = (size.pick(33, 61), size.pick(40, 60));
    let height = 0.06;
    Scene::new("dragged_through_ring", last)
        .sheet("sheet", [n, n], [0.8, 0.8], [0.0; 3], [0.0, height, 0.0])
        .line(&format!(
            "pins = [{{ sphere = {{ center = [0, {height}, 0], radius = 0.03 }}, follow = {{ translate = {} }} }}]",
            keys(&[(0.0, [0.0; 3]), (last as f64, [0.0, -0.9, 0.0])])
        ))
        .collider("ring", shapes::torus(0.11, 0.03, size.pick(36, 96)), vec![(0.0, [0.0; 3])])
}

/// A strip held at both ends, one of which turns five times. It comes closer meanwhile, as what is twisted gets
/// shorter.
pub fn twisted_strip(size: Size) -> Scene {
    let (vertices, last) = (size.pick([51, 7], [121, 15]), size.pick(72, 120));
    let end = |x: f64| format!("box = {{ min = [{:?}, -1, -1], max = [{:?}, 1, 1] }}", x - 0.001, x + 0.001);
    Scene::new("twisted_strip", last).sheet("strip", vertices, [1.0, 0.12], [0.0; 3], [0.0; 3]).line(&format!(
        "pins = [{{ {} }}, {{ {}, follow = {{ translate = {}, rotate = {} }} }}]",
        end(-0.5),
        end(0.5),
        keys(&[(0.0, [0.0; 3]), (last as f64, [-0.4, 0.0, 0.0])]),
        keys(&[(0.0, [0.0; 3]), (last as f64, [5.0 * 360.0, 0.0, 0.0])])
    ))
}

/// Sheets fall into a bowl, one after the other.
pub fn pile_in_bowl(size: Size) -> Scene {
    let (count, n) = size.pick((4, 17), (10, 17));
    pile(count, n, size.pick(32, 96), [0.03, 0.01], size.pick(32, 48))
}

/// Up to ten sheets of n × n vertices in a bowl with that many segments: heights of the lowest and between them.
pub fn pile(count: usize, n: u32, segments: u32, [lowest, gap]: [f64; 2], last_frame: i64) -> Scene {
    const NAMES: [&str; 10] = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
    let mut scene = Scene::new("pile_in_bowl", last_frame);
    for (number, name) in NAMES[..count].iter().enumerate() {
        let number = number as f64;
        let (turn, place) = ([0.0, 13.0 * number, 0.0], [0.0, lowest + gap * number, 0.0]);
        scene = scene.sheet(name, [n, n], [0.45, 0.45], turn, place);
    }
    scene.collider("bowl", shapes::bowl(0.35, 0.04, segments), vec![(0.0, [0.0; 3])])
}

/// A ribbon with an overhand knot in it is drawn tight.
pub fn knot(size: Size) -> Scene {
    let ([long, wide], last) = (size.pick([220, 6], [330, 8]), size.pick(48, 72));
    let unit = 0.03;
    // Two columns of vertices at each end, so that the ends do not turn.
    let vertices = |columns: [u32; 2]| (0..wide).flat_map(|j| columns.map(|i| i + j * long)).collect::<Vec<_>>();
    let pin = |columns: [u32; 2], way: f64| {
        let path = keys(&[(0.0, [0.0; 3]), (last as f64, [way, 0.0, 0.0])]);
        format!("{{ vertices = {:?}, follow = {{ translate = {path} }} }}", vertices(columns))
    };
    let pull = 4.5 * unit;
    Scene::new("knot", last).cloth("ribbon", &shapes::knotted_ribbon(unit, long, wide), [0.0; 3]).line(&format!(
        "pins = [{}, {}]",
        pin([0, 1], -pull),
        pin([long - 2, long - 1], pull)
    ))
}

/// Two balls close on a hanging sheet, overlap by 20 mm for half a second, and open again.
pub fn pinch(size: Size) -> Scene {
    let n = size.pick(25, 51);
    let (radius, open, closed) = (0.15, 0.21, 0.14);
    let path = |side: f64| {
        let place = |away: f64| [0.0, -0.3, side * away];
        vec![(0.0, place(open)), (12.0, place(closed)), (24.0, place(closed)), (36.0, place(open))]
    };
    let mut scene = hanging("pinch", n, 0.6, 48);
    for (name, side) in [("front", 1.0), ("back", -1.0)] {
        scene = scene.collider(name, shapes::ball(radius, size.pick(32, 96)), path(side));
    }
    // The balls touch after 6 of the 7 cm of their way; a frame is left for the cloth to come out.
    Scene { no_room: Some(10..=27), ..scene }
}

/// Two free sheets that fly into each other while both fall in a vacuum, so that each sees the other as if nothing drew
/// it.
pub fn two_sheets(size: Size) -> Scene {
    let n = size.pick(21, 71);
    let scene = Scene::new("two_sheets", size.pick(24, 36))
        .line("[air]\ndrag = 0")
        .sheet("left", [n, n], [0.5, 0.5], [0.0, 0.0, 80.0], [-0.15, 0.0, 0.0])
        .sheet("right", [n, n], [0.5, 0.5], [25.0, 0.0, -70.0], [0.2, 0.1, 0.07]);
    Scene { velocities: vec![[1.0, 0.3, 0.0], [-1.5, 0.0, -0.4]], ..scene }
}

/// A ball that is behind a hanging sheet at one frame and in front of it at the next, and touches its place at neither:
/// 7.7 m/s. The sheet is long enough to be taken along, so that its middle is in front of the ball then.
pub fn teleport(size: Size) -> Scene {
    let n = size.pick(25, 71);
    let place = |z: f64| [0.0, -0.5, z];
    let path = vec![(11.0, place(-0.16)), (12.0, place(0.16))];
    hanging("teleport", n, 0.8, 36).collider("ball", shapes::ball(0.1, size.pick(32, 96)), path)
}

/// A sheet that hangs in the xy-plane from its upper edge, which is at height 0.
pub fn hanging(name: &'static str, n: u32, size: f64, last_frame: i64) -> Scene {
    Scene::new(name, last_frame)
        .sheet("sheet", [n, n], [size, size], [90.0, 0.0, 0.0], [0.0, -0.5 * size, 0.0])
        .line("pins = [{ box = { min = [-1, -0.001, -1], max = [1, 0.001, 1] } }]")
}
