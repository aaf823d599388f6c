//! One collider of the scene, ready to be asked how far away it is.

use super::animated_surface::{AnimatedSurface, Playback};
use crate::algorithms::contact::friction::Friction;
use crate::algorithms::contact::signed_distance::{self, Inside, MeshSurface, Nearest, Sides};
use crate::import::Asset;
use crate::math::Vec3;
use crate::math::curve::Curve;
use crate::math::motion::{Motion, Pose};
use crate::scene::problem::{KeyPath, Place, Problem};
use crate::scene::{Collider, MeshSides, Scene, Shape};

/// A collider.
#[derive(Debug)]
pub struct ColliderModel {
    /// Its name in the scene.
    pub name: String,
    /// How it moves.
    pub motion: Motion,
    friction: Curve<f64>,
    static_friction: Curve<f64>,
    form: Form,
}

#[derive(Debug)]
enum Form {
    Primitive(Shape),
    Mesh(Box<MeshSurface>),
    Animated(Box<AnimatedSurface>),
}

impl ColliderModel {
    /// Build, or add to the problems why not. `asset` is the placed mesh of a mesh collider.
    pub fn build(
        collider: &Collider,
        asset: Option<Asset>,
        scene: &Scene,
        place: &KeyPath,
        problems: &mut Vec<Problem>,
    ) -> Option<Self> {
        let form = match (&collider.shape, asset) {
            (Shape::Mesh { animation, sides, .. }, Some(asset)) => {
                if animation.is_typed && asset.animated.is_none() {
                    let problem =
                        Problem::error(Place::Key(place.key("animation")), "nothing in this mesh is animated");
                    problems
                        .push(problem.help("remove it, or name another `object`; `kiln inspect` shows what there is"));
                    return None;
                }
                let binding = |vertex| asset.animated.as_ref().map_or(0, |animated| animated.binding(vertex));
                let (mesh, _) = super::triangles(&asset.mesh, binding, place, problems)?;
                let sides = match sides {
                    MeshSides::Auto => Sides::Auto,
                    MeshSides::One => Sides::One,
                    MeshSides::Two => Sides::Two,
                };
                let form = match asset.animated {
                    Some(animated) => {
                        let playback = Playback::choose(&animated, animation, scene, place);
                        let playback = playback.map_err(|problem| problems.push(problem)).ok()?;
                        let motion = collider.motion.clone();
                        Form::Animated(Box::new(AnimatedSurface::build(animated, mesh, sides, playback, motion)))
                    }
                    None => Form::Mesh(Box::new(MeshSurface::build(mesh.positions, mesh.triangles, sides))),
                };
                problems.extend(form.side_problem(sides, place));
                form
            }
            (shape, _) => Form::Primitive(shape.clone()),
        };
        Some(ColliderModel {
            name: collider.name.clone(),
            motion: collider.motion.clone(),
            friction: collider.friction.clone(),
            static_friction: collider.static_friction.clone(),
            form,
        })
    }

    /// Coulomb coefficients of its surface at a frame.
    pub fn friction_at(&self, frame: f64) -> Friction {
        Friction::new(self.friction.at(frame), self.static_friction.at(frame))
    }

    /// The mesh of a collider whose vertices move.
    pub fn animated(&self) -> Option<&AnimatedSurface> {
        match &self.form {
            Form::Animated(surface) => Some(surface),
            _ => None,
        }
    }

    /// The mesh of a collider that moves as a whole.
    pub fn rigid_mesh(&self) -> Option<&MeshSurface> {
        match &self.form {
            Form::Mesh(mesh) => Some(mesh),
            _ => None,
        }
    }

    /// Whether it is made of triangles.
    pub fn has_triangles(&self) -> bool {
        !matches!(self.form, Form::Primitive(_))
    }

    /// Whether time changes nothing.
    pub fn is_still(&self) -> bool {
        self.animated().is_none() && self.motion.is_constant()
    }

    /// The nearest place of a surface that moves as a whole, for a world point, if it is within `reach`; primitives always answer.
    pub fn nearest_rigid(&self, pose: &Pose, point: Vec3, reach: f64) -> Option<Nearest> {
        let p = pose.apply_inverse(point);
        let nearest = match &self.form {
            Form::Animated(_) => return None,
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
        Some(Nearest { normal: pose.rotation * nearest.normal, place: pose.apply(nearest.place), ..nearest })
    }
}

impl Form {
    /// What looks wrong about the sides of a mesh.
    fn side_problem(&self, sides: Sides, place: &KeyPath) -> Option<Problem> {
        let shape = match self {
            Form::Primitive(_) => return None,
            Form::Mesh(mesh) => &mesh.shape,
            Form::Animated(surface) => &surface.shape,
        };
        let (message, help) = match shape.inside() {
            Inside::Solid | Inside::Open | Inside::Behind | Inside::Shell => return None,
            Inside::InsideOut => ("the faces of the mesh look inwards", "taken as a solid body all the same"),
            Inside::Mixed if sides == Sides::One => {
                let message = "the faces of the mesh do not agree on which side is out, so it has no `one` side";
                let help = "make its normals consistent, or write `sides = \"two\"` for a thin shell";
                return Some(Problem::error(Place::Scene(place.key("sides")), message).help(help));
            }
            Inside::Mixed => (
                "the faces of the mesh do not agree on which side is out",
                "taken as a thin shell; make the normals consistent to get a solid body",
            ),
        };
        Some(Problem::warning(Place::Scene(place.key("mesh")), message).help(help))
    }
}
