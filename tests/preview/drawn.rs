//! Which object each pixel of the page must show: triangles through its camera, the nearest one wins.

use image::RgbImage;
use kiln::bake::movie::Movie;
use kiln::math::Vec3;
use serde_json::Value as Json;

/// The camera of a page and where its picture stands in a screenshot.
pub struct Camera {
    pub eye: Vec3,
    right: Vec3,
    up: Vec3,
    pub forward: Vec3,
    scale: f64,
    pub left: f64,
    top: f64,
    pub width: f64,
    height: f64,
}

/// A movie of several and an object of it.
type Owner = (usize, usize);

/// What pixels must show.
pub struct Drawn<'c> {
    camera: &'c Camera,
    columns: usize,
    rows: usize,
    /// How far away what is seen is, and what it is.
    pixels: Vec<(f64, Option<Owner>)>,
}

/// How well pixels of a kind are those that were expected.
#[derive(Debug)]
pub struct Overlap {
    /// Pixels that should be of that kind.
    pub expected: usize,
    /// Pixels of that kind among those that should or are.
    pub shared: f64,
    /// Among those that should.
    pub hit: f64,
}

impl Camera {
    pub fn of(json: &Json) -> Self {
        let number = |name: &str| json[name].as_f64().unwrap();
        let vector = |name: &str| Vec3::from([0, 1, 2].map(|axis| json[name][axis].as_f64().unwrap()));
        Camera {
            eye: vector("eye"),
            right: vector("right"),
            up: vector("up"),
            forward: vector("forward"),
            scale: number("scale"),
            left: number("left"),
            top: number("top"),
            width: number("width"),
            height: number("height"),
        }
    }

    /// Pixels from the left and from above, and the distance.
    fn see(&self, point: [f32; 3]) -> Vec3 {
        let way = Vec3::from(point.map(f64::from)) - self.eye;
        let depth = way.dot(&self.forward);
        let x = 0.5 * self.width + self.scale * way.dot(&self.right) / depth;
        Vec3::new(x, 0.5 * self.height - self.scale * way.dot(&self.up) / depth, depth)
    }
}

impl<'c> Drawn<'c> {
    /// Of some movies together. Floors are not drawn: a grid stands for them.
    pub fn new(camera: &'c Camera, movies: &[(&Movie, &[Vec<[f32; 3]>])]) -> Self {
        let (columns, rows) = (camera.width as usize, camera.height as usize);
        let mut drawn = Drawn { camera, columns, rows, pixels: vec![(f64::INFINITY, None); columns * rows] };
        for (number, (movie, vertices)) in movies.iter().enumerate() {
            for (o, (object, vertices)) in movie.objects.iter().zip(*vertices).enumerate() {
                if object.name == "floor" {
                    continue;
                }
                let seen: Vec<Vec3> = vertices.iter().map(|&point| camera.see(point)).collect();
                for corners in &object.triangles {
                    drawn.fill(corners.map(|corner| seen[corner as usize]), (number, o));
                }
            }
        }
        drawn
    }

    fn fill(&mut self, [a, b, c]: [Vec3; 3], owner: Owner) {
        let area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
        if area == 0.0 || [a, b, c].iter().any(|corner| corner.z <= 0.0) {
            return;
        }
        let span = |axis: usize, size: usize| {
            let [low, high] = [f64::min, f64::max].map(|pick| pick(pick(a[axis], b[axis]), c[axis]));
            low.floor().max(0.0) as usize..(high.ceil().max(0.0) as usize).min(size)
        };
        for row in span(1, self.rows) {
            for column in span(0, self.columns) {
                let (x, y) = (column as f64 + 0.5, row as f64 + 0.5);
                let part = |p: Vec3, q: Vec3| ((q.x - p.x) * (y - p.y) - (q.y - p.y) * (x - p.x)) / area;
                let (of_c, of_a, of_b) = (part(a, b), part(b, c), part(c, a));
                if of_a < 0.0 || of_b < 0.0 || of_c < 0.0 {
                    continue;
                }
                // What is straight in space stays so in one over the distance.
                let depth = 1.0 / (of_a / a.z + of_b / b.z + of_c / c.z);
                let pixel = &mut self.pixels[row * self.columns + column];
                if depth < pixel.0 {
                    *pixel = (depth, Some(owner));
                }
            }
        }
    }

    pub fn owner(&self, place: usize) -> Option<Owner> {
        self.pixels[place].1
    }

    fn colour(&self, picture: &RgbImage, place: usize) -> [u8; 3] {
        let (column, row) = (place % self.columns, place / self.columns);
        picture.get_pixel((column as f64 + self.camera.left) as u32, (row as f64 + self.camera.top) as u32).0
    }

    /// Pixels that should be of a kind against those that are.
    pub fn overlap(
        &self,
        picture: &RgbImage,
        should: impl Fn(Option<Owner>) -> bool,
        is: impl Fn([u8; 3]) -> bool,
    ) -> Overlap {
        let (mut expected, mut both, mut either) = (0, 0, 0);
        for (place, pixel) in self.pixels.iter().enumerate() {
            let (should, is) = (should(pixel.1), is(self.colour(picture, place)));
            expected += usize::from(should);
            both += usize::from(should && is);
            either += usize::from(should || is);
        }
        let [shared, hit] = [either, expected].map(|all| both as f64 / all.max(1) as f64);
        Overlap { expected, shared, hit }
    }

    /// How many pixels `should` picks by place and owner, and the part of them that `is` so.
    pub fn share(
        &self,
        picture: &RgbImage,
        should: impl Fn(usize, Option<Owner>) -> bool,
        is: impl Fn([u8; 3]) -> bool,
    ) -> (usize, f64) {
        let places: Vec<usize> = (0..self.pixels.len()).filter(|&place| should(place, self.owner(place))).collect();
        let right = places.iter().filter(|&&place| is(self.colour(picture, place))).count();
        (places.len(), right as f64 / places.len().max(1) as f64)
    }

    /// The pixel of the screenshot that shows a vertex; none if something hides it.
    pub fn pixel_of_vertex(&self, vertices: &[Vec<[f32; 3]>], (_, object): Owner, vertex: usize) -> Option<[u32; 2]> {
        let seen = self.camera.see(vertices[object][vertex]);
        if seen.x < 0.0 || seen.y < 0.0 || seen.x >= self.columns as f64 || seen.y >= self.rows as f64 {
            return None;
        }
        let (depth, owner) = self.pixels[seen.y as usize * self.columns + seen.x as usize];
        let in_sight = owner.is_some_and(|(_, seen)| seen == object) && (depth - seen.z).abs() < 0.01 * seen.z;
        in_sight.then(|| [(seen.x + self.camera.left) as u32, (seen.y + self.camera.top) as u32])
    }
}
