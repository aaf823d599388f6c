//! One collider of the scene, ready to be asked how far away it is.

use super::Moment;
use super::animated_surface::{AnimatedSurface, Playback};
use crate::algorithms::contact::friction::Friction;
use crate::algorithms::contact::signed_distance::{self, Inside, MeshSurface, Nearest, Sides};
use crate::import::Asset;
use crate::math::Vec3;
use crate::math::curve::Curve;
use crate::math::motion::{Motion, Pose};
use crate::mesh::bvh::Aabb;
use crate::mesh::generate;
use crate::mesh::surface::{Corner, PolyMesh};
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

    /// What it is, if that is no mesh.
    pub fn primitive(&self) -> Option<&Shape> {
        match &self.form {
            Form::Primitive(shape) => Some(shape),
            _ => None,
        }
    }

    /// Whether it is made of triangles.
    pub fn has_triangles(&self) -> bool {
        !matches!(self.form, Form::Primitive(_))
    }

    /// What it looks like: of a plane the part below a box. Vertices are where `outline_at` has them at some moment.
    pub fn outline(&self, around: &Aabb) -> PolyMesh {
        let of_triangles = |positions: Vec<Vec3>, triangles: &[[u32; 3]]| {
            let corners = triangles.iter().flatten().map(|&position| Corner { position, uv: None, normal: None });
            let face_starts = (0..=triangles.len() as u32).map(|face| 3 * face).collect();
            PolyMesh { positions, corners: corners.collect(), face_starts, ..PolyMesh::default() }
        };
        let mesh = match &self.form {
            Form::Animated(surface) => {
                of_triangles(vec![Vec3::zeros(); surface.vertex_count()], surface.shape.triangles())
            }
            Form::Mesh(mesh) => of_triangles(mesh.positions.clone(), mesh.shape.triangles()),
            Form::Primitive(shape) => primitive_outline(shape, around),
        };
        PolyMesh { name: self.name.clone(), ..mesh }
    }

    /// Where the vertices of its outline are at a moment.
    pub fn outline_at(&self, outline: &PolyMesh, moment: Moment) -> Vec<Vec3> {
        match &self.form {
            Form::Animated(surface) => surface.positions(moment),
            _ => {
                let pose = self.motion.at(moment.frame);
                outline.positions.iter().map(|p| pose.apply(*p)).collect()
            }
        }
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

/// Segments around what is round.
const ROUND: u32 = 48;
/// Half the width of what is shown of a plane, in parts of the size of what is above it.
const PLANE_EXTENT: f64 = 1.5;

/// What a primitive looks like, before its motion.
fn primitive_outline(shape: &Shape, around: &Aabb) -> PolyMesh {
    // A quarter of a circle in steps, as its sine and cosine.
    let steps = ROUND / 4;
    let quarter = |step: u32| (f64::from(step) / f64::from(steps) * std::f64::consts::FRAC_PI_2).sin_cos();
    let moved = |mut mesh: PolyMesh, by: Vec3| {
        mesh.positions.iter_mut().for_each(|p| *p += by);
        mesh
    };
    match *shape {
        Shape::Plane { point, normal } => {
            let (low, high) = (around.low, around.high);
            let middle = (low + high) * 0.5;
            let foot = middle - normal * (middle - point).dot(&normal);
            let half = PLANE_EXTENT * (high - low).norm();
            let side = if normal.x.abs() < 0.9 { Vec3::x() } else { Vec3::z() };
            let across = normal.cross(&side).normalize();
            let along = across.cross(&normal);
            let mut mesh = generate::quad_sheet([2, 2], [2.0 * half, 2.0 * half]);
            mesh.positions.iter_mut().for_each(|p| *p = foot + along * p.x + across * p.z);
            let [a, b, c] = [0, 1, 2].map(|corner| mesh.positions[mesh.corners[corner].position as usize]);
            if (b - a).cross(&(c - a)).dot(&normal) < 0.0 {
                mesh.corners.reverse();
            }
            mesh
        }
        Shape::Sphere { center, radius } => moved(generate::sphere(radius, ROUND / 2 - 1, ROUND), center),
        Shape::Box { center, size } => moved(generate::cuboid(size.into(), [2, 2, 2]), center),
        Shape::Capsule { from, to, radius } => {
            let length = (to - from).norm();
            let lower = (1..=steps).map(|step| {
                let (sin, cos) = quarter(step);
                [-radius * cos, radius * sin]
            });
            let upper = (0..steps).map(|step| {
                let (sin, cos) = quarter(step);
                [length + radius * sin, radius * cos]
            });
            let profile: Vec<[f64; 2]> = lower.chain(upper).collect();
            generate::turned(from, to, [-radius, length + radius], &profile, ROUND)
        }
        Shape::Cylinder { from, to, radius } => {
            let length = (to - from).norm();
            // Rings a little apart at the rim, so that it is seen as one.
            let rim = [0.99 * radius, radius];
            let profile = [[0.0, rim[0]], [0.0, rim[1]], [length, rim[1]], [length, rim[0]]];
            generate::turned(from, to, [0.0, length], &profile, ROUND)
        }
        Shape::Mesh { .. } => PolyMesh::default(),
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
