//! From a movie to pictures: what is shown of it, where the camera stands, which colours and figures belong to a frame.

use std::f64::consts::TAU;

use super::options::{CameraChoice, Colouring, GroundChoice, Metric};
use super::{RenderArgs, Shot, spread};
use crate::bake::movie::{Kind, Movie, MovieObject};
use crate::bake::{Exit, Failure, heat};
use crate::cache::frames_log::{FrameRecord, ObjectRecord};
use crate::cli::terminal::log;
use crate::math::Vec3;
use crate::render::camera::{Camera, Framing};
use crate::render::caption::{self, Scale};
use crate::render::ground::Ground;
use crate::render::look;
use crate::render::picture::Picture;
use crate::render::scene::{Body, Paint, Style, draw};
use crate::render::surface::Surface;

/// Vertices that are looked at to find out how far everything moves: more frames of small movies than of large ones.
const MEASURED_VERTICES: usize = 20_000_000;
/// At least so many frames, if there are as many.
const MEASURED_FRAMES: usize = 9;
/// Directions of a turn that are looked from to find out how far away the camera has to be.
const TURNS: u32 = 36;
/// What is flatter than this part of its size is a floor.
const FLAT: f64 = 1e-4;
/// A floor is not farther above everything than this part of the size of what moves.
const LOW: f64 = 0.02;
/// Colliders that are so many times larger than what moves are scenery, which need not be in the picture.
const SCENERY: f64 = 4.0;

/// A movie that pictures are taken of.
pub struct Film {
    movie: Movie,
    size: [usize; 2],
    style: Style,
    surfaces: Vec<Surface>,
    /// Of each object, for stretch.
    edges: Vec<Vec<[u32; 2]>>,
    /// Objects that are drawn.
    drawn: Vec<usize>,
    ground: Option<Ground>,
    stand: Stand,
    field_of_view: f64,
    colouring: Colouring,
    metrics: Vec<Metric>,
    has_number: bool,
    records: Vec<FrameRecord>,
    /// The end of the scale of each object.
    limits: Vec<f64>,
    volume_limit: f64,
    vertices: Vec<Vec<[f32; 3]>>,
    place: Option<usize>,
}

/// From where, before the camera turns.
struct Stand {
    choice: CameraChoice,
    /// Support points of all that must be seen, over all directions of a turntable.
    interest: Vec<Vec3>,
    bounds: (Vec3, Vec3),
    /// Whether it turns around everything.
    turns: bool,
}

/// Smallest and largest coordinates.
#[derive(Clone, Copy, Debug)]
struct Extent(Vec3, Vec3);

impl Extent {
    const NOTHING: Extent = Extent(
        Vec3::new(f64::INFINITY, f64::INFINITY, f64::INFINITY),
        Vec3::new(f64::NEG_INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY),
    );

    fn add(&mut self, p: &[f32; 3]) {
        if p.iter().all(|x| x.is_finite()) {
            let p = Vec3::from(p.map(f64::from));
            *self = Extent(self.0.inf(&p), self.1.sup(&p));
        }
    }

    fn join(self, other: Extent) -> Extent {
        Extent(self.0.inf(&other.0), self.1.sup(&other.1))
    }

    fn diagonal(&self) -> f64 {
        if self.0.x <= self.1.x { (self.1 - self.0).norm() } else { 0.0 }
    }
}

impl Film {
    /// Of a movie, with everything that does not change with frames.
    pub fn new(mut movie: Movie, arguments: &RenderArgs, shots: &[Shot], size: [usize; 2]) -> Result<Self, Failure> {
        let shown = shown(&movie, arguments)?;
        let surface = |object: &MovieObject| {
            let inner = inner_edges(object);
            Surface::new(&object.rest, &object.triangles, |triangle| inner.get(triangle).copied().unwrap_or_default())
        };
        let surfaces: Vec<Surface> = movie.objects.iter().map(surface).collect();
        // A camera that turns around one frame has to see no other.
        let only = shots.first().filter(|first| shots.len() > 1 && shots.iter().all(|shot| shot.place == first.place));
        let measured = measure(&mut movie, &shown, only.map(|shot| shot.place))?;
        let style = Style {
            is_flat: arguments.flat,
            has_wires: arguments.wireframe,
            samples: arguments.samples,
            background: arguments.background.map_or(look::BACKGROUND, |background| background.0),
        };
        let records = movie.records()?;
        let gate = movie.gates.max_volume_error.filter(|gate| *gate > 0.0);
        let mut film = Film {
            size,
            style,
            edges: vec![Vec::new(); movie.objects.len()],
            limits: movie
                .objects
                .iter()
                .map(|object| stretch_limit(&records, &object.name, object.max_stretch))
                .collect(),
            drawn: measured.drawn,
            ground: measured.ground,
            stand: Stand {
                choice: arguments.camera,
                interest: measured.interest,
                bounds: measured.bounds,
                turns: arguments.turntable.is_some(),
            },
            field_of_view: arguments.fov,
            colouring: arguments.colour,
            metrics: arguments.metric.clone(),
            has_number: arguments.frame_number || arguments.sheet.is_some(),
            records,
            volume_limit: gate.unwrap_or(look::USUAL_VOLUME),
            surfaces,
            vertices: Vec::new(),
            place: None,
            movie,
        };
        match arguments.ground {
            GroundChoice::Lines => {}
            GroundChoice::Shadow => film.ground.iter_mut().for_each(|ground| ground.cell = 0.0),
            GroundChoice::None => film.ground = None,
        }
        film.warn();
        if film.colouring == Colouring::Stretch {
            for (edges, object) in film.edges.iter_mut().zip(&film.movie.objects).filter(|(_, o)| o.has_lengths) {
                *edges = heat::polygon_edges(object);
            }
        }
        Ok(film)
    }

    /// Colours that show nothing, figures that are not there.
    fn warn(&self) {
        if self.drawn.is_empty() {
            log("warning: every object is hidden; the picture is empty");
            return;
        }
        let drawn = || self.drawn.iter().map(|&o| &self.movie.objects[o]);
        let has_volume =
            || self.records.iter().flat_map(|record| &record.objects).any(|o| o.max_volume_error.is_some());
        match self.colouring {
            Colouring::Stretch if !drawn().any(|object| object.has_lengths) => {
                log("warning: no object that is shown has lengths at rest; all are grey");
            }
            Colouring::Contact if drawn().all(|object| object.thickness == 0.0) => {
                log("warning: no object says how near others may come; nothing is coloured");
            }
            Colouring::Contact if !self.drawn.iter().any(|&o| self.has_others(o)) => {
                log("warning: there is nothing else that could be near; nothing is coloured");
            }
            Colouring::Volume if !has_volume() => log("warning: there is no soft body; all are grey"),
            _ => {}
        }
        if !self.metrics.is_empty() && self.records.is_empty() {
            log("warning: there are no figures of the frames; --metric shows nothing");
        }
    }

    /// Whether there is something that an object may touch, shown or not.
    fn has_others(&self, o: usize) -> bool {
        let object = &self.movie.objects[o];
        let is_body = |object: &MovieObject| object.kind != Kind::Collider;
        let touches = |other: &MovieObject| {
            other.kind != Kind::Render
                && (is_body(object) || is_body(other))
                && object.follows.as_ref() != Some(&other.name)
        };
        self.movie.objects.iter().enumerate().any(|(other, object)| other != o && touches(object))
    }

    /// The movie.
    pub fn movie(&self) -> &Movie {
        &self.movie
    }

    /// Of a picture.
    pub fn size(&self) -> [usize; 2] {
        self.size
    }

    /// Takes a picture.
    pub fn shoot(&mut self, shot: Shot) -> Result<Picture, Failure> {
        if self.place != Some(shot.place) {
            self.place = None;
            self.movie.read(shot.place, &mut self.vertices)?;
            self.place = Some(shot.place);
        }
        let frame = self.movie.frames[shot.place];
        let record = self.records.iter().find(|record| record.frame == frame);
        let figures = self.figures();
        let paint = |o: usize| -> Paint {
            let object = &self.movie.objects[o];
            match self.colouring {
                Colouring::Object => Paint::Plain(object.colour),
                Colouring::Stretch if object.has_lengths => {
                    Paint::Diverging { values: &figures[o], limit: self.limits[o] as f32 }
                }
                Colouring::Contact => Paint::Near(&figures[o]),
                Colouring::Volume => {
                    let own = record.and_then(|record| record.objects.iter().find(|own| own.name == object.name));
                    // Of its worst part: that is what the gate looks at.
                    let error = own.and_then(|own| own.max_volume_error.or(own.volume_error.map(f64::abs)));
                    Paint::Plain(
                        error.map_or(look::NEUTRAL, |error| look::diverging((error / self.volume_limit) as f32)),
                    )
                }
                Colouring::Stretch => Paint::Plain(look::NEUTRAL),
            }
        };
        let bodies: Vec<Body> = self
            .drawn
            .iter()
            .map(|&o| Body { surface: &self.surfaces[o], positions: &self.vertices[o], paint: paint(o) })
            .collect();
        let camera = self.camera(shot.turn);
        let mut picture = draw(&bodies, &camera, self.ground.as_ref(), &self.style, self.size);
        self.write_into(&mut picture, frame, record);
        Ok(picture)
    }

    /// Of each object's vertices, as the colours need them.
    fn figures(&self) -> Vec<Vec<f32>> {
        let objects = &self.movie.objects;
        match self.colouring {
            Colouring::Stretch => (objects.iter().zip(&self.edges).zip(&self.vertices))
                .map(|((object, edges), vertices)| heat::stretch(edges, &object.rest, vertices))
                .collect(),
            Colouring::Contact => heat::nearness(objects, &self.vertices),
            Colouring::Object | Colouring::Volume => Vec::new(),
        }
    }

    fn camera(&self, turn: f64) -> Camera {
        let aspect = self.size[0] as f64 / self.size[1] as f64;
        let framing = |direction: [f64; 2]| {
            let mut framing = Framing::new(direction, self.field_of_view, aspect);
            self.stand.interest.iter().for_each(|p| framing.add(*p));
            framing
        };
        let auto = |[azimuth, elevation]: [f64; 2], distance: Option<f64>| {
            let direction = [azimuth + TAU * turn, elevation];
            if !self.stand.turns {
                return framing(direction).camera(distance);
            }
            // One middle and one distance for the whole turn.
            let (low, high) = self.stand.bounds;
            let target = 0.5 * (low + high);
            let distance = distance.unwrap_or_else(|| {
                let of_turn = |n: u32| {
                    let direction = [azimuth + TAU * f64::from(n) / f64::from(TURNS), elevation];
                    let camera = Camera::around(target, direction, 0.0, self.field_of_view);
                    let far = |p: &Vec3| camera.distance_for(*p, aspect);
                    self.stand.interest.iter().map(far).fold(0.0, f64::max)
                };
                (0..TURNS).map(of_turn).fold(1e-6, f64::max)
            });
            Camera::around(target, direction, distance, self.field_of_view)
        };
        match self.stand.choice {
            CameraChoice::Auto => auto(look::DIRECTION, None),
            CameraChoice::Around(direction, distance) => auto(direction, distance),
            CameraChoice::At(eye, target) => {
                let (away, (s, c)) = (eye - target, (TAU * turn).sin_cos());
                let eye = target + Vec3::new(c * away.x + s * away.z, away.y, c * away.z - s * away.x);
                // The place and the target are apart, the options see to that.
                Camera::looking(eye, target, self.field_of_view).unwrap_or_else(|| auto(look::DIRECTION, None))
            }
        }
    }

    fn write_into(&self, picture: &mut Picture, frame: i64, record: Option<&FrameRecord>) {
        let mut lines = Vec::new();
        if self.has_number {
            lines.push(format!("frame {frame}"));
        }
        if let Some(record) = record {
            lines.extend(self.metrics.iter().filter_map(|metric| line(*metric, record)));
        }
        caption::corner(picture, &lines);
        let percent = |part: f64| format!("{} %", short(100.0 * part));
        // From one limit below 0 to one and a half above.
        let diverging = |part: f32| look::diverging(2.5 * part - 1.0);
        let of_limit = |limit: f64| {
            vec![
                (0.0, format!("\u{2212}{}", percent(limit))),
                (0.4, "0".to_owned()),
                (0.8, percent(limit)),
                (1.0, "over".to_owned()),
            ]
        };
        match self.colouring {
            Colouring::Object => {}
            Colouring::Stretch => {
                let limits = self.drawn.iter().filter(|&&o| self.movie.objects[o].has_lengths).map(|&o| self.limits[o]);
                let limits: Vec<f64> = limits.collect();
                let marks = match limits.as_slice() {
                    [] => return,
                    [first, rest @ ..] if rest.iter().all(|limit| limit == first) => of_limit(*first),
                    _ => vec![
                        (0.0, "\u{2212}limit".into()),
                        (0.4, "0".into()),
                        (0.8, "limit".into()),
                        (1.0, "over".into()),
                    ],
                };
                caption::legend(picture, &Scale { title: "stretch of edges", colour: &diverging, marks: &marks });
            }
            Colouring::Contact => {
                let marks = [(0.0, "apart".to_owned()), (1.0, "touches".to_owned())];
                caption::legend(picture, &Scale { title: "nearest other object", colour: &look::near, marks: &marks });
            }
            Colouring::Volume => {
                let marks = [(0.0, "0".to_owned()), (0.67, percent(self.volume_limit)), (1.0, "over".to_owned())];
                let colour = |part: f32| look::diverging(1.5 * part);
                let title = "volume error of the worst part";
                caption::legend(picture, &Scale { title, colour: &colour, marks: &marks });
            }
        }
    }
}

/// For each triangle which of its edges cut a polygon and are no lines of the mesh.
fn inner_edges(object: &MovieObject) -> Vec<u8> {
    let mut inner = vec![0; object.triangles.len()];
    let mut first = 0;
    for &[corners, count] in &object.faces {
        let pieces = (corners as usize).saturating_sub(2);
        for _ in 0..count {
            let polygon = &object.triangles[first..(first + pieces).min(object.triangles.len())];
            let edge = |t: &[u32; 3], k: usize| (t[k].min(t[(k + 1) % 3]), t[k].max(t[(k + 1) % 3]));
            for (n, triangle) in polygon.iter().enumerate() {
                for k in 0..3 {
                    let is_shared = |other: &[u32; 3]| (0..3).any(|j| edge(other, j) == edge(triangle, k));
                    if polygon.iter().enumerate().any(|(m, other)| m != n && is_shared(other)) {
                        inner[first + n] |= 1 << k;
                    }
                }
            }
            first = (first + pieces).min(object.triangles.len());
        }
    }
    inner
}

/// Which objects are shown.
fn shown(movie: &Movie, arguments: &RenderArgs) -> Result<Vec<bool>, Failure> {
    let named = |name: &str, option: &str| {
        let found = movie.objects.iter().position(|object| object.name == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = movie.objects.iter().map(|object| object.name.as_str()).collect();
            let cause = format!("{option} {name}: there is no such object in {}", movie.path.display());
            Failure::new(Exit::InvalidInput, cause, format!("there are: {}", names.join(", ")))
        })
    };
    let mut shown: Vec<bool> = movie.objects.iter().map(|object| object.is_shown).collect();
    for name in &arguments.show {
        shown[named(name, "--show")?] = true;
    }
    for name in &arguments.hide {
        shown[named(name, "--hide")?] = false;
    }
    Ok(shown)
}

/// The end of the scale: what an object promises, else the most that it ever was.
fn stretch_limit(records: &[FrameRecord], name: &str, promised: Option<f64>) -> f64 {
    let own = records.iter().flat_map(|record| &record.objects).filter(|own| own.name == name);
    let most = || own.map(|own| own.max_stretch).filter(|most| *most > 0.0).max_by(f64::total_cmp);
    promised.filter(|limit| *limit > 0.0).or_else(most).unwrap_or(look::USUAL_STRETCH)
}

/// Where everything is, over all frames.
struct Measured {
    drawn: Vec<usize>,
    ground: Option<Ground>,
    interest: Vec<Vec3>,
    bounds: (Vec3, Vec3),
}

/// Directions in which the farthest points count: enough for a camera that frames tightly.
const DIRECTIONS: usize = 400;

fn directions() -> Vec<Vec3> {
    // Evenly over the sphere, along a spiral.
    (0..DIRECTIONS)
        .map(|n| {
            let y = 1.0 - (2.0 * n as f64 + 1.0) / DIRECTIONS as f64;
            let (around, radius) = (n as f64 * 2.399_963_229_728_653, (1.0 - y * y).sqrt());
            Vec3::new(radius * around.cos(), y, radius * around.sin())
        })
        .collect()
}

fn measure(movie: &mut Movie, shown: &[bool], only: Option<usize>) -> Result<Measured, Failure> {
    let count = (MEASURED_VERTICES / movie.vertex_count().max(1)).max(MEASURED_FRAMES);
    let places = only.map_or_else(|| spread(count, movie.frames.len()).collect(), |place| vec![place]);
    let mut extents = vec![Extent::NOTHING; movie.objects.len()];
    let directions = directions();
    let mut farthest = vec![vec![(f64::NEG_INFINITY, Vec3::zeros()); DIRECTIONS]; movie.objects.len()];
    let mut vertices = Vec::new();
    for (n, &place) in places.iter().enumerate() {
        movie.read(place, &mut vertices)?;
        for (o, object) in movie.objects.iter().enumerate() {
            if n > 0 && object.is_still || !shown[o] && object.kind == Kind::Collider {
                continue;
            }
            let mut extent = Extent::NOTHING;
            vertices[o].iter().for_each(|p| extent.add(p));
            extents[o] = extents[o].join(extent);
            support(&vertices[o], &directions, &mut farthest[o]);
        }
    }
    let of = |wanted: &dyn Fn(usize) -> bool| {
        (0..extents.len()).filter(|&o| wanted(o)).fold(Extent::NOTHING, |all, o| all.join(extents[o]))
    };
    let is_collider = |o: usize| movie.objects[o].kind == Kind::Collider;
    let moving = of(&|o| shown[o] && !is_collider(o));
    let size = moving.diagonal();
    let lowest = of(&|o| shown[o]).0.y;
    let is_floor = |o: usize| {
        let Extent(low, high) = extents[o];
        let diagonal = extents[o].diagonal();
        is_collider(o) && high.y - low.y <= FLAT * diagonal.max(1e-9) && low.y - lowest <= LOW * size.max(1e-9)
    };
    let is_scenery = |o: usize| is_collider(o) && size > 0.0 && extents[o].diagonal() > SCENERY * size;
    let floors: Vec<bool> = (0..extents.len()).map(is_floor).collect();
    let counts = |o: usize| shown[o] && !floors[o] && !is_scenery(o);
    let drawn: Vec<usize> = (0..extents.len()).filter(|&o| shown[o] && !floors[o]).collect();
    let mut interest: Vec<Vec3> = Vec::new();
    for o in (0..extents.len()).filter(|&o| counts(o)) {
        interest.extend(farthest[o].iter().filter(|(far, _)| far.is_finite()).map(|(_, p)| *p));
    }
    let all = of(&counts);
    if all.diagonal() == 0.0 && all.0.x > all.1.x {
        let bounds = (Vec3::zeros(), Vec3::zeros());
        return Ok(Measured { drawn, ground: None, interest, bounds });
    }
    let floor = (0..extents.len()).filter(|&o| shown[o] && floors[o]).map(|o| extents[o].0.y).reduce(f64::min);
    let height = floor.unwrap_or(lowest);
    let ground = Some(Ground::under(all.0, all.1, height)).filter(|_| height.is_finite());
    Ok(Measured { drawn, ground, interest, bounds: (all.0, all.1) })
}

/// Widens the farthest points in all directions.
fn support(vertices: &[[f32; 3]], directions: &[Vec3], farthest: &mut [(f64, Vec3)]) {
    use rayon::prelude::*;
    farthest.par_iter_mut().zip(directions).for_each(|((far, point), direction)| {
        let [x, y, z] = [direction.x as f32, direction.y as f32, direction.z as f32];
        let mut most = f32::NEG_INFINITY;
        let mut at = 0;
        for (n, p) in vertices.iter().enumerate() {
            let here = x * p[0] + y * p[1] + z * p[2];
            if here > most {
                (most, at) = (here, n);
            }
        }
        if most.is_finite() && f64::from(most) > *far {
            (*far, *point) = (f64::from(most), Vec3::from(vertices[at].map(f64::from)));
        }
    });
}

/// Up to three digits that count.
fn short(x: f64) -> String {
    let digits = if x == 0.0 { 0.0 } else { (2.0 - x.abs().log10().floor()).clamp(0.0, 4.0) };
    let text = format!("{x:.*}", digits as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A figure of a frame for people: the worst of all objects.
fn line(metric: Metric, record: &FrameRecord) -> Option<String> {
    let worst = |of: &dyn Fn(&ObjectRecord) -> Option<f64>| record.objects.iter().filter_map(of).max_by(f64::total_cmp);
    let sum = |of: fn(&ObjectRecord) -> u64| record.objects.iter().map(of).sum::<u64>();
    Some(match metric {
        Metric::Stretch => {
            let of_cloth = |own: &ObjectRecord| own.max_volume_error.is_none().then_some(own.max_stretch);
            format!("stretch {:.2} %", 100.0 * worst(&of_cloth)?)
        }
        Metric::Volume => {
            let error = |own: &ObjectRecord| own.max_volume_error;
            format!("volume error {:.2} %", 100.0 * worst(&error)?)
        }
        Metric::Contacts => format!("contacts {}", sum(|own| own.contacts)),
        Metric::Penetration => format!("penetration {:.2} mm", 1000.0 * worst(&|own| Some(own.max_penetration))?),
        Metric::Crossings => format!("crossings {}", sum(|own| own.crossings)),
        Metric::Seconds => format!("{:.2} s", record.seconds),
    })
}
