//! One collider of the scene, ready to be asked how far away it is.

use crate::algorithms::contact::signed_distance::{self, Inside, MeshSurface, Nearest};
use crate::math::Vec3;
use crate::math::curve::Curve;
use crate::math::motion::{Motion, Pose};
use crate::mesh::surface::PolyMesh;
use crate::scene::problem::{KeyPath, Place, Problem};
use crate::scene::{Collider, Shape};

/// A collider.
#[derive(Debug)]
pub struct ColliderModel {
    /// Its name in the scene.
    pub name: String,
    /// How it moves.
    pub motion: Motion,
    /// Coulomb coefficient over time.
    pub friction: Curve<f64>,
    /// Added to a cloth's thickness [m].
    pub thickness: f64,
    form: Form,
}

#[derive(Debug)]
enum Form {
    Primitive(Shape),
    Mesh(Box<MeshSurface>),
}

impl ColliderModel {
    /// Build, or add to the problems why not. `mesh` is the placed mesh of a mesh collider.
    pub fn build(
        collider: &Collider,
        mesh: Option<PolyMesh>,
        place: &KeyPath,
        problems: &mut Vec<Problem>,
    ) -> Option<Self> {
        let form = match mesh {
            None => Form::Primitive(collider.shape.clone()),
            Some(polygons) => {
                let (mesh, _) = super::triangles(&polygons, place, problems)?;
                let surface = MeshSurface::build(mesh.positions, mesh.triangles);
                let warning = match surface.inside() {
                    Inside::Solid | Inside::Open => None,
                    Inside::InsideOut => {
                        Some(("the faces of the mesh look inwards", "taken as a solid body all the same"))
                    }
                    Inside::Mixed => Some((
                        "the faces of the mesh do not agree on which side is out",
                        "taken as a thin shell; make the normals consistent to get a solid body",
                    )),
                };
                problems.extend(
                    warning
                        .map(|(message, help)| Problem::warning(Place::Scene(place.key("mesh")), message).help(help)),
                );
                Form::Mesh(Box::new(surface))
            }
        };
        Some(ColliderModel {
            name: collider.name.clone(),
            motion: collider.motion.clone(),
            friction: collider.friction.clone(),
            thickness: collider.thickness,
            form,
        })
    }

    /// The nearest place of the surface for a world point, if it is within `reach`; primitives always answer.
    pub fn nearest(&self, pose: &Pose, point: Vec3, reach: f64) -> Option<Nearest> {
        let p = pose.apply_inverse(point);
        let nearest = match &self.form {
            Form::Mesh(mesh) => mesh.nearest(p, reach)?,
            Form::Primitive(shape) => match *shape {
                Shape::Plane { point, normal } => signed_distance::plane(p, point, normal),
                Shape::Sphere { center, radius } => signed_distance::sphere(p, center, radius),
                Shape::Box { center, size } => signed_distance::cuboid(p, center, size),
                Shape::Capsule { from, to, radius } => signed_distance::capsule(p, from, to, radius),
                Shape::Cylinder { from, to, radius } => signed_distance::cylinder(p, from, to, radius),
                Shape::Mesh { .. } => return None,
            },
        };
        Some(Nearest { normal: pose.rotation * nearest.normal, ..nearest })
    }
}
