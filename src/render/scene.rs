//! What is in a picture.

use rayon::prelude::*;

use super::Vec3f;
use super::camera::Camera;
use super::ground::{Ground, Shadow};
use super::look;
use super::picture::Picture;
use super::raster::{self, Pieces};
use super::shade::Shading;
use super::surface::Surface;

/// How an object is coloured.
#[derive(Clone, Copy, Debug)]
pub enum Paint<'a> {
    /// In one colour, sRGB.
    Plain([f32; 3]),
    /// By figures of its vertices, in parts of the limit.
    Diverging {
        /// A figure for each vertex.
        values: &'a [f32],
        /// The figure at the end of the scale.
        limit: f32,
    },
    /// By how near its vertices are to something else, from 0 to 1.
    Near(&'a [f32]),
}

/// An object in a picture.
#[derive(Clone, Copy, Debug)]
pub struct Body<'a> {
    /// Its mesh.
    pub surface: &'a Surface,
    /// Where its vertices are [m].
    pub positions: &'a [[f32; 3]],
    /// Its colour.
    pub paint: Paint<'a>,
}

/// How a picture is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Style {
    /// Every triangle by itself.
    pub is_flat: bool,
    /// Lines along the edges of polygons.
    pub has_wires: bool,
    /// Samples of a pixel: 1, 4, 8 or 16.
    pub samples: u32,
    /// sRGB at the top and at the bottom.
    pub background: [[f32; 3]; 2],
}

impl Default for Style {
    fn default() -> Self {
        Style { is_flat: false, has_wires: false, samples: 8, background: look::BACKGROUND }
    }
}

/// Most samples of a pixel.
pub const SAMPLES: [u32; 4] = [1, 4, 8, 16];

/// All vertices and triangles of a picture, one object after the other, as the eye sees them.
pub struct Seen<'a> {
    /// From the eye, in directions of the world [m].
    pub places: Vec<Vec3f>,
    /// Unit normals.
    pub normals: Vec<[f32; 3]>,
    /// Corners and normals, counting through all objects.
    pub triangles: Vec<SeenTriangle>,
    /// In their order.
    pub bodies: Vec<Body<'a>>,
    /// Number of the first vertex of each object.
    pub first_vertex: Vec<u32>,
}

/// A triangle of a picture.
#[derive(Clone, Copy, Debug)]
pub struct SeenTriangle {
    /// Its vertices.
    pub vertices: [u32; 3],
    /// Their normals.
    pub normals: [u32; 3],
    /// Which object it belongs to.
    pub body: u32,
    /// Which of its edges a wireframe shows.
    pub outline: u8,
}

/// How many vertices or triangles a thread takes at once.
const CHUNK: usize = 4096;

impl<'a> Seen<'a> {
    fn new(bodies: &[Body<'a>], camera: &Camera) -> Self {
        let mut seen = Seen {
            places: Vec::new(),
            normals: Vec::new(),
            triangles: Vec::new(),
            bodies: bodies.to_vec(),
            first_vertex: Vec::new(),
        };
        // From the eye in double precision, so that nothing is lost far from the origin.
        let from_eye =
            |p: &[f32; 3]| -> Vec3f { [0, 1, 2].map(|axis| (f64::from(p[axis]) - camera.eye[axis]) as f32).into() };
        let of_body = |body: &Body| {
            let mut normals = Vec::new();
            body.surface.normals(body.positions, &mut normals);
            normals
        };
        let normals: Vec<Vec<[f32; 3]>> = bodies.par_iter().map(of_body).collect();
        for (number, (body, normals)) in bodies.iter().zip(normals).enumerate() {
            let (vertex, normal) = (seen.places.len() as u32, seen.normals.len() as u32);
            seen.first_vertex.push(vertex);
            seen.places.par_extend(body.positions.par_iter().with_min_len(CHUNK).map(from_eye));
            seen.normals.extend(normals);
            let surface = body.surface;
            let triangle = |t: usize| SeenTriangle {
                vertices: surface.triangles[t].map(|v| vertex + v),
                normals: surface.corners[t].map(|n| normal + n),
                body: number as u32,
                outline: surface.outlines[t],
            };
            seen.triangles.par_extend((0..surface.triangles.len()).into_par_iter().with_min_len(CHUNK).map(triangle));
        }
        seen
    }
}

/// Makes a picture of some objects on a ground.
pub fn draw(bodies: &[Body], camera: &Camera, ground: Option<&Ground>, style: &Style, size: [usize; 2]) -> Picture {
    match style.samples {
        1 => draw_with::<1>(bodies, camera, ground, style, size),
        4 => draw_with::<4>(bodies, camera, ground, style, size),
        16 => draw_with::<16>(bodies, camera, ground, style, size),
        _ => draw_with::<8>(bodies, camera, ground, style, size),
    }
}

fn draw_with<const N: usize>(
    bodies: &[Body],
    camera: &Camera,
    ground: Option<&Ground>,
    style: &Style,
    [width, height]: [usize; 2],
) -> Picture {
    let shadow = ground.map(|ground| Shadow::new(ground, bodies));
    let seen = Seen::new(bodies, camera);
    let view = raster::View::new(camera, [width, height]);
    let pieces = Pieces::new(&seen, &view);
    let shading = Shading::new(&seen, &view, camera, ground.zip(shadow.as_ref()), style);
    let mut picture = Picture::new(width, height, [0.0; 3]);
    let tiles: Vec<Vec<u8>> = (0..view.tile_count())
        .into_par_iter()
        .map_init(raster::Tile::<N>::new, |tile, number| {
            tile.see(&pieces, number, &view);
            shading.colour(tile)
        })
        .collect();
    for (number, pixels) in tiles.iter().enumerate() {
        let (place, [width, _]) = view.tile(number);
        picture.put(place, width, pixels);
    }
    picture
}
