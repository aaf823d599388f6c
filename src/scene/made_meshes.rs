//! Resolves meshes that Kiln makes.

use super::MeshSource;
use super::file::{BallMesh, CuboidMesh, DiscMesh, MadeMesh, SheetMesh, SphereMesh, TorusMesh};
use super::problem::KeyPath;
use super::resolve::Resolver;

/// Most vertices of a made mesh; more would not fit the memory of a farm machine.
const MAX_VERTEX_COUNT: u64 = 4_000_000;

/// A made mesh and how many vertices it has, at most.
type Counted = (MeshSource, u64);

impl Resolver<'_> {
    pub(super) fn made_mesh(&mut self, made: &MadeMesh, path: &KeyPath) -> MeshSource {
        let [sheet, disc, cuboid, ball, sphere, torus] =
            ["sheet", "disc", "box", "ball", "sphere", "torus"].map(|key| path.key(key));
        let given = [
            made.sheet.as_ref().map(|mesh| (self.sheet(mesh, &sheet), sheet)),
            made.disc.as_ref().map(|mesh| (self.disc(mesh, &disc), disc)),
            made.cuboid.as_ref().map(|mesh| (self.cuboid(mesh, &cuboid), cuboid)),
            made.ball.as_ref().map(|mesh| (self.ball(mesh, &ball), ball)),
            made.sphere.as_ref().map(|mesh| (sphere_mesh(mesh), sphere)),
            made.torus.as_ref().map(|mesh| (self.torus(mesh, &torus), torus)),
        ];
        let mut given = given.into_iter().flatten();
        let (Some(((source, vertex_count), path_of_it)), None) = (given.next(), given.next()) else {
            self.error(path, "a made mesh is exactly one of `sheet`, `disc`, `box`, `ball`, `sphere` and `torus`");
            return MeshSource::Disc { radius: 1.0, inner: 1, rim: 3 };
        };
        if vertex_count > MAX_VERTEX_COUNT {
            let message = format!("{vertex_count} vertices are more than the {MAX_VERTEX_COUNT} that fit a bake");
            self.error(&path_of_it, message);
        }
        source
    }

    fn sheet(&mut self, sheet: &SheetMesh, path: &KeyPath) -> Counted {
        if let Some(axis) = sheet.vertices.iter().position(|count| *count < 2) {
            self.error(&path.key("vertices").index(axis), "a sheet needs at least 2 vertices along each side");
        }
        if let Some(axis) = sheet.size.iter().position(|length| *length <= 0.0) {
            self.error(&path.key("size").index(axis), "the size of a sheet must be more than 0");
        }
        let source = MeshSource::Sheet { vertices: sheet.vertices, size: sheet.size, quads: sheet.quads };
        (source, product(sheet.vertices[0], sheet.vertices[1]))
    }

    fn disc(&mut self, disc: &DiscMesh, path: &KeyPath) -> Counted {
        if matches!(disc.inner, 2 | 3) {
            let message = "the rings of a disc begin with a middle vertex and 3 round it: 1, or 4 and more";
            self.error(&path.key("inner"), message);
        }
        let source = MeshSource::Disc { radius: disc.radius, inner: disc.inner, rim: disc.rim };
        (source, u64::from(disc.inner) + u64::from(disc.rim))
    }

    fn cuboid(&mut self, cuboid: &CuboidMesh, path: &KeyPath) -> Counted {
        let vertices = cuboid.vertices.unwrap_or([11; 3]);
        if let Some(axis) = vertices.iter().position(|count| *count < 2) {
            self.error(&path.key("vertices").index(axis), "a box needs at least 2 vertices along each side");
        }
        if let Some(axis) = cuboid.size.iter().position(|length| *length <= 0.0) {
            self.error(&path.key("size").index(axis), "the size of a box must be more than 0");
        }
        let [x, y, z] = vertices;
        let sides = product(x, y).saturating_add(product(y, z)).saturating_add(product(z, x));
        (MeshSource::Cuboid { size: cuboid.size, vertices }, sides.saturating_mul(2))
    }

    fn ball(&mut self, ball: &BallMesh, path: &KeyPath) -> Counted {
        let vertices = ball.vertices.unwrap_or(17);
        if vertices < 2 {
            self.error(&path.key("vertices"), "a ball needs at least 2 vertices along each side");
        }
        (MeshSource::Ball { radius: ball.radius, vertices }, product(vertices, vertices).saturating_mul(6))
    }

    fn torus(&mut self, torus: &TorusMesh, path: &KeyPath) -> Counted {
        let TorusMesh { radius, tube, around, across } = *torus;
        if tube >= radius {
            let message = format!("the tube {tube} is not thinner than the radius {radius}, so the torus has no hole");
            self.error_with_help(&path.key("tube"), message, "`radius` reaches to the middle of the tube");
        }
        (MeshSource::Torus { radius, tube, around, across }, product(around, across))
    }
}

fn sphere_mesh(sphere: &SphereMesh) -> Counted {
    let SphereMesh { radius, rings, segments } = *sphere;
    (MeshSource::Sphere { radius, rings, segments }, product(rings, segments).saturating_add(2))
}

fn product(a: u32, b: u32) -> u64 {
    u64::from(a) * u64::from(b)
}
