//! Light and colour of what the samples of a picture see: once a pixel for each triangle in it, at the middle of the samples that see it.

use super::Vec3f;
use super::camera::Camera;
use super::ground::{Ground, GroundView, Shadow, light};
use super::look;
use super::raster::{NOTHING, Tile, View};
use super::scene::{Paint, Seen, SeenTriangle, Style};

/// Lines of a wireframe are so wide [pixels].
const WIRE_WIDTH: f32 = 1.0;

/// A function that is looked up between 0 and 1.
struct Table(Vec<f32>);

impl Table {
    fn new(f: fn(f32) -> f32) -> Self {
        const STEPS: usize = 4096;
        Table((0..=STEPS + 1).map(|n| f(n as f32 / STEPS as f32)).collect())
    }

    fn at(&self, x: f32) -> f32 {
        let x = x.clamp(0.0, 1.0) * (self.0.len() - 2) as f32;
        let cell = x as usize;
        self.0[cell] + (x - cell as f32) * (self.0[cell + 1] - self.0[cell])
    }
}

/// Everything that colours of a picture depend on.
pub struct Shading<'a> {
    seen: &'a Seen<'a>,
    view: &'a View,
    ground: Option<GroundView<'a>>,
    style: Style,
    light: Vec3f,
    forward: Vec3f,
    srgb: Table,
    linear: Table,
    /// Of each object how strong its lines are.
    wires: Vec<f32>,
}

impl<'a> Shading<'a> {
    /// Of a picture.
    pub fn new(
        seen: &'a Seen<'a>,
        view: &'a View,
        camera: &Camera,
        ground: Option<(&Ground, &'a Shadow)>,
        style: &Style,
    ) -> Self {
        let pixels = view.scale() / camera.distance as f32;
        // Fine meshes get fainter lines, or they would be black.
        let wire = |mean_edge: f32| (mean_edge * pixels / 22.0).clamp(0.07, 0.5);
        Shading {
            seen,
            view,
            ground: ground.map(|(ground, shadow)| GroundView::new(ground, shadow, view, camera.eye)),
            style: *style,
            light: light(),
            forward: camera.forward.map(|x| x as f32),
            srgb: Table::new(look::srgb),
            linear: Table::new(look::linear),
            wires: seen.bodies.iter().map(|body| wire(body.surface.mean_edge)).collect(),
        }
    }

    /// The pixels of a tile.
    pub fn colour<const N: usize>(&self, tile: &Tile<N>) -> Vec<u8> {
        let ([left, top], [width, height]) = (tile.place(), tile.size());
        let offsets = tile.offsets();
        let mut pixels = Vec::with_capacity(3 * width * height);
        for y in 0..height {
            for x in 0..width {
                let middle = [(left + x) as f32 + 0.5, (top + y) as f32 + 0.5];
                let ids = tile.triangles(x, y);
                let colour = if tile.is_empty() || ids.iter().all(|&id| id == NOTHING) {
                    self.behind(middle)
                } else if ids.iter().all(|&id| id == ids[0]) {
                    self.triangle(ids[0], middle)
                } else {
                    self.mixed(ids, &offsets, middle)
                };
                pixels.extend(colour.map(|part| (part * 255.0 + 0.5) as u8));
            }
        }
        pixels
    }

    /// Of a pixel that sees several things.
    fn mixed<const N: usize>(&self, ids: &[u32; N], offsets: &[[f32; 2]; N], middle: [f32; 2]) -> [f32; 3] {
        let mut sum = [0.0; 3];
        let mut is_done = [false; N];
        for k in 0..N {
            if is_done[k] {
                continue;
            }
            let (mut at, mut count) = ([0.0; 2], 0.0);
            for j in k..N {
                if ids[j] == ids[k] {
                    is_done[j] = true;
                    at = [at[0] + offsets[j][0], at[1] + offsets[j][1]];
                    count += 1.0;
                }
            }
            let colour = match ids[k] {
                NOTHING => self.behind(middle),
                id => self.triangle(id, [middle[0] + at[0] / count, middle[1] + at[1] / count]),
            };
            sum = [0, 1, 2].map(|part| sum[part] + colour[part] * (count / N as f32));
        }
        sum
    }

    /// Where nothing is.
    fn behind(&self, at: [f32; 2]) -> [f32; 3] {
        let [upper, lower] = self.style.background;
        let down = at[1] / self.view.size[1] as f32;
        let colour = [0, 1, 2].map(|k| upper[k] + down * (lower[k] - upper[k]));
        match self.ground.as_ref().and_then(|ground| ground.colour(at[0], at[1])) {
            Some((_, over, alpha)) => [0, 1, 2].map(|k| colour[k] + alpha * (over[k] - colour[k])),
            None => colour,
        }
    }

    /// How much each corner of a triangle counts where a ray meets its plane.
    fn weights(corners: &[Vec3f; 3], ray: Vec3f) -> [f32; 3] {
        let [a, b, c] = corners.map(|p| p.map(f64::from));
        let ray = ray.map(f64::from);
        let parts = [b.cross(&c).dot(&ray), c.cross(&a).dot(&ray), a.cross(&b).dot(&ray)];
        let sum: f64 = parts.iter().sum();
        if sum.abs() > 0.0 { parts.map(|part| (part / sum) as f32) } else { [1.0, 0.0, 0.0] }
    }

    fn triangle(&self, id: u32, at: [f32; 2]) -> [f32; 3] {
        let triangle = &self.seen.triangles[id as usize];
        let corners = triangle.vertices.map(|v| self.seen.places[v as usize]);
        let exact = Self::weights(&corners, self.view.ray(at[0], at[1]));
        // The middle of samples may be a little outside.
        let inside = exact.map(|weight| weight.clamp(0.0, 1.0));
        let sum: f32 = inside.iter().sum();
        let weights = if sum > 0.0 { inside.map(|weight| weight / sum) } else { [1.0, 0.0, 0.0] };
        let place: Vec3f = corners.iter().zip(weights).map(|(corner, weight)| corner * weight).sum();
        let towards_eye = -place.try_normalize(0.0).unwrap_or(self.forward);
        let edges = [corners[1] - corners[0], corners[2] - corners[0]];
        let face = edges[0].cross(&edges[1]).try_normalize(0.0).unwrap_or(towards_eye);
        let face = if face.dot(&towards_eye) < 0.0 { -face } else { face };
        let mut normal = face;
        if !self.style.is_flat {
            let normals = triangle.normals.map(|n| Vec3f::from(self.seen.normals[n as usize]));
            let smooth: Vec3f = normals.iter().zip(weights).map(|(normal, weight)| normal * weight).sum();
            normal = smooth.try_normalize(0.0).unwrap_or(face);
            // Cloth is seen from both sides.
            if normal.dot(&face) < 0.0 {
                normal = -normal;
            }
        }
        let mut colour = self.lit(self.albedo(triangle, weights), normal, towards_eye);
        if self.style.has_wires {
            let wire = self.wire(triangle, &corners, exact, at);
            colour = [0, 1, 2].map(|k| colour[k] + wire * (look::WIRE[k] - colour[k]));
        }
        // Only what is behind the ground, and not what lies on it.
        if let Some(ground) = self.ground.as_ref().filter(|ground| ground.hides(place.y))
            && let Some((along, over, alpha)) = ground.colour(at[0], at[1])
            && along < place.dot(&self.forward) * (1.0 - 1e-4)
        {
            colour = [0, 1, 2].map(|k| colour[k] + alpha * (over[k] - colour[k]));
        }
        colour
    }

    /// The colour of a place without light, sRGB.
    fn albedo(&self, triangle: &SeenTriangle, weights: [f32; 3]) -> [f32; 3] {
        let first = self.seen.first_vertex[triangle.body as usize];
        let figure = |values: &[f32]| -> f32 {
            let of_corner = |v: u32| values.get((v - first) as usize).copied().unwrap_or_default();
            triangle.vertices.iter().zip(weights).map(|(&v, weight)| weight * of_corner(v)).sum()
        };
        match self.seen.bodies[triangle.body as usize].paint {
            Paint::Plain(colour) => colour,
            Paint::Diverging { values, limit } => look::diverging(figure(values) / limit),
            Paint::Near(values) => look::near(figure(values)),
        }
    }

    fn lit(&self, albedo: [f32; 3], normal: Vec3f, towards_eye: Vec3f) -> [f32; 3] {
        let key = ((normal.dot(&self.light) + look::WRAP) / (1.0 + look::WRAP)).max(0.0);
        let front = look::FRONT * normal.dot(&towards_eye).max(0.0);
        let half = (self.light + towards_eye).try_normalize(0.0).unwrap_or(normal);
        let gloss = look::GLOSS * normal.dot(&half).max(0.0).powi(40) * key;
        let sky = 0.5 + 0.5 * normal.y;
        [0, 1, 2].map(|k| {
            let ambient = look::BOUNCE[k] + sky * (look::SKY[k] - look::BOUNCE[k]);
            let light = ambient + look::KEY[k] * key + front;
            self.srgb.at(self.linear.at(albedo[k]) * light + gloss)
        })
    }

    /// How much of a pixel lines of the mesh cover.
    fn wire(&self, triangle: &SeenTriangle, corners: &[Vec3f; 3], weights: [f32; 3], at: [f32; 2]) -> f32 {
        let right = Self::weights(corners, self.view.ray(at[0] + 1.0, at[1]));
        let below = Self::weights(corners, self.view.ray(at[0], at[1] + 1.0));
        let mut nearest = f32::INFINITY;
        for k in (0..3).filter(|k| triangle.outline >> k & 1 == 1) {
            let opposite = (k + 2) % 3;
            let slope = (right[opposite] - weights[opposite]).hypot(below[opposite] - weights[opposite]);
            nearest = nearest.min(weights[opposite].abs() / slope.max(1e-12));
        }
        // Each of the two sides of an edge draws half of the line.
        self.wires[triangle.body as usize] * (0.5 * WIRE_WIDTH + 0.5 - nearest).clamp(0.0, 1.0)
    }
}
