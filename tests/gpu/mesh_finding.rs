//! Points near meshes, found on the device: against the processor's distances and planes, and whole bakes.

use std::mem::size_of;
use std::path::Path;
use std::rc::Rc;

use kiln::algorithms::contact::friction::Friction;
use kiln::algorithms::contact::restitution::outgoing_speed;
use kiln::algorithms::contact::signed_distance::{Inside, MeshSurface, Nearest, Sides, SurfaceShape};
use kiln::math::motion::Pose;
use kiln::math::rows::Rows;
use kiln::math::{Mat3, Vec3};
use kiln::mesh::bvh::Bvh;
use kiln::mesh::closest::closest_on_triangle;
use kiln::mesh::generate;
use kiln::mesh::simulation_mesh::SimulationMesh;
use kiln::mesh::surface::PolyMesh;
use kiln::model::moving_collider::{PIECES, piece};
use kiln::model::{BodyState, Pace};
use kiln::solver::gpu::contact::{ContactData, DeviceContacts};
use kiln::solver::gpu::finding::{FINDING, Finder, FindingData, PrimitiveData, Touching};
use kiln::solver::gpu::meshes::{BlendData, DeviceMesh, MeshData, NodeData, VertexData};
use kiln::solver::gpu::particles::{Particles, StepData};
use kiln::solver::gpu::{Gpu, Limits};
use nalgebra::Rotation3;

use crate::parity::{agree, on_device};
use crate::support::World;
use crate::work::layout;
use crate::{noise, open, vector};

const H: f64 = 1e-3;
const GRAVITY: f64 = 9.81;

#[test]
fn structs_are_where_kernels_look_for_them() {
    assert_eq!(layout(&FINDING, "Mesh"), ((0..8).map(|n| 4 * n).collect(), size_of::<MeshData>()));
    assert_eq!(layout(&FINDING, "Node"), (vec![0, 12, 16, 28], size_of::<NodeData>()));
    assert_eq!(layout(&FINDING, "Vertex"), (vec![0, 12, 16, 28], size_of::<VertexData>()));
    assert_eq!(layout(&FINDING, "Blend"), (vec![0, 4, 8, 12, 16], size_of::<BlendData>()));
}

/// Points that are a particle each.
struct Points {
    gpu: Rc<Gpu>,
    particles: Particles,
    contacts: DeviceContacts,
    finder: Finder,
}

impl Points {
    fn new(gpu: &Rc<Gpu>, count: usize, meshes: &[Option<&DeviceMesh>]) -> Self {
        let particles = Particles::new(gpu, &vec![1.0; count], &[]);
        let rows: Rows<(u32, f64, f64)> = (0..count as u32).map(|i| [(i, 1.0, 1.0)]).collect();
        let mut contacts = DeviceContacts::new(gpu, rows, &particles);
        let finder = Finder::new(gpu, meshes, &particles, &mut contacts).unwrap();
        Points { gpu: Rc::clone(gpu), particles, contacts, finder }
    }

    /// The contacts that are found in a step, and how many were read for that.
    fn find(&mut self, x: &[Vec3], v: &[Vec3], finding: FindingData, colliders: &[PrimitiveData]) -> Vec<ContactData> {
        let pace = Pace { factor: 1.0, change: 1.0, strain: 0.0 };
        let state = BodyState { written: x.to_vec(), x: x.to_vec(), v: v.to_vec(), flowed: Vec::new(), pace };
        self.particles.load(&state);
        self.particles.begin_step(StepData::of(Vec3::new(0.0, -GRAVITY, 0.0), H, 0.0));
        self.finder.find_near(finding, colliders);
        let contacts = self.contacts.contacts();
        assert_eq!(self.gpu.trouble(), None);
        contacts
    }
}

fn is_awake(contact: &ContactData) -> bool {
    contact.row_start != contact.row_end
}

fn double(v: [f32; 3]) -> Vec3 {
    Vec3::from(v.map(f64::from))
}

fn welded(mesh: &PolyMesh) -> SimulationMesh {
    SimulationMesh::build(mesh)
}

/// A cube of side 1 with a vertex in the middle of an edge that only one of the faces there knows: between them lies a triangle without area.
fn cube_with_a_seam() -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let mut positions: Vec<Vec3> =
        (0..8).map(|c| Vec3::from_fn(|axis, _| if (c >> axis) & 1 == 1 { 0.5 } else { -0.5 })).collect();
    let quads: [[u32; 4]; 6] = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let mut triangles: Vec<[u32; 3]> = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    let [a, b, c] = triangles[0];
    positions.push((positions[a as usize] + positions[b as usize]) * 0.5);
    triangles[0] = [a, 8, c];
    triangles.extend([[8, b, c], [a, b, 8]]);
    (positions, triangles)
}

/// A ball with random spikes in and out.
fn spiky(seed: u64) -> SimulationMesh {
    let mut next = noise(seed);
    let mut mesh = welded(&generate::ball(1.0, 5));
    mesh.positions.iter_mut().for_each(|p| *p *= 0.9 + 0.4 * next());
    mesh
}

/// Meshes of every kind, and what is meant by them.
fn meshes() -> Vec<(&'static str, MeshSurface, Inside)> {
    let built = |mesh: SimulationMesh, sides| MeshSurface::build(mesh.positions, mesh.triangles, sides);
    let ball = || welded(&generate::ball(0.8, 9));
    let turned_round = |mut mesh: SimulationMesh| {
        mesh.triangles.iter_mut().for_each(|triangle| triangle.swap(1, 2));
        mesh
    };
    let half = |mut mesh: SimulationMesh| {
        let positions = mesh.positions.clone();
        mesh.triangles.retain(|t| t.iter().all(|&v| positions[v as usize].y > -0.05));
        mesh
    };
    let (positions, triangles) = cube_with_a_seam();
    vec![
        ("a ball", built(ball(), Sides::Auto), Inside::Solid),
        ("spikes", built(spiky(81), Sides::Auto), Inside::Solid),
        ("a ring", built(welded(&generate::torus(0.7, 0.25, 30, 12)), Sides::One), Inside::Solid),
        ("a box", built(welded(&generate::cuboid([1.0, 0.5, 1.5], [3, 2, 4])), Sides::Auto), Inside::Solid),
        ("a cube with a seam", MeshSurface::build(positions, triangles, Sides::Auto), Inside::Solid),
        ("a ball inside out", built(turned_round(ball()), Sides::Auto), Inside::InsideOut),
        ("a bowl", built(half(ball()), Sides::Auto), Inside::Open),
        ("a bowl with an inside", built(half(ball()), Sides::One), Inside::Behind),
        ("a shell", built(ball(), Sides::Two), Inside::Shell),
        ("a sheet", built(welded(&generate::sheet([7, 5], [1.4, 1.0])), Sides::Auto), Inside::Open),
        (
            "one triangle",
            MeshSurface::build(vec![Vec3::zeros(), Vec3::x(), Vec3::y()], vec![[0, 1, 2]], Sides::Two),
            Inside::Shell,
        ),
    ]
}

/// Corners, middles of edges and of faces.
fn on_surface(surface: &MeshSurface) -> Vec<Vec3> {
    let corners = surface.shape.triangles().iter().map(|t| t.map(|v| surface.positions[v as usize]));
    let places = |[a, b, c]: [Vec3; 3]| [a, (a + b) * 0.5, (a + b * 2.0 + c) * 0.25];
    corners.flat_map(places).collect()
}

/// More than planes in single precision are off: what they do to places in a step [m].
const LARGEST_ERROR: f64 = 1e-6;
/// More than rounding takes from a distance, with meshes of about 1 m [m].
const ROUNDING: f64 = 1e-6;

/// Whether another place of the surface is as near, in another direction.
fn is_between(surface: &MeshSurface, p: Vec3, nearest: &Nearest) -> bool {
    surface.shape.triangles().iter().any(|t| {
        let (q, _) = closest_on_triangle(p, t.map(|v| surface.positions[v as usize]));
        (q - p).norm() < nearest.distance.abs() + 2.0 * ROUNDING && (q - nearest.place).norm() > 0.5 * ROUNDING
    })
}

#[test]
fn distances_and_normals_are_those_of_the_processor() {
    let gpu = Rc::new(open(None));
    let mut next = noise(82);
    let (edge, thickness) = (0.1, 0.5);
    // Pairs are near up to here.
    let limit = 1.5 * thickness + 0.04 * edge;
    let rotated = Pose {
        rotation: Rotation3::from_scaled_axis(Vec3::new(0.4, -1.1, 0.7)),
        translation: Vec3::new(300.0, -200.0, 1000.0),
    };
    for (name, surface, inside) in meshes() {
        assert_eq!(surface.shape.inside(), inside, "{name}");
        let mesh = DeviceMesh::rigid(&gpu, &surface).unwrap();
        // Far from the origin too: only differences count.
        for pose in [Pose::identity(), rotated] {
            let mut local: Vec<Vec3> = (0..1500).map(|_| vector(&mut next) * 1.2).collect();
            local.extend((0..50).map(|_| vector(&mut next) * 1e-3));
            let random = local.len();
            local.extend(on_surface(&surface));
            let x: Vec<Vec3> = local.iter().map(|p| pose.apply(*p)).collect();
            let touching = Touching { thickness, restitution: 0.0, friction: Friction::from(0.0) };
            let collider = PrimitiveData::of_mesh(&mesh, [pose; 2], Some(touching));
            let finding = FindingData::new(H, 0.0, edge, 1, true);
            let mut points = Points::new(&gpu, x.len(), &[Some(&mesh)]);
            let found = points.find(&x, &vec![Vec3::zeros(); x.len()], finding, &[collider]);
            let (mut off, mut turned, mut between, mut far) = (0.0_f64, 0.0_f64, 0, 0);
            for (number, ((x, local), contact)) in x.iter().zip(&local).zip(&found).enumerate() {
                let nearest = surface.nearest(*local, 3.0 * edge + 1.5 * thickness);
                let Some(nearest) = nearest.filter(|nearest| nearest.distance < limit - ROUNDING) else {
                    let is_close = nearest.is_some_and(|nearest| nearest.distance < limit + ROUNDING);
                    assert!(!is_awake(contact) || is_close, "{name}: nothing is near {local:?}");
                    far += 1;
                    continue;
                };
                assert!(is_awake(contact), "{name}: {nearest:?} is near {local:?}");
                let distance = f64::from(contact.gap) + thickness;
                let normal = pose.rotation.inverse_transform_vector(&double(contact.normal));
                assert!((normal.norm() - 1.0).abs() < 1e-5, "{name}: {normal:?} at {x:?}");
                off = off.max((distance.abs() - nearest.distance.abs()).abs());
                if is_between(&surface, *local, &nearest) {
                    between += 1;
                    continue;
                }
                off = off.max((distance - nearest.distance).abs());
                if number < random {
                    turned = turned.max((normal - nearest.normal).norm() * nearest.distance.abs());
                } else if pose == Pose::identity() && name == "a cube with a seam" {
                    // Places without any rounding; devices need not know angles any better.
                    assert!((normal - nearest.normal).norm() < 1e-5, "{name}: {normal:?}, {nearest:?} at {local:?}");
                } else if surface.shape.is_solid() && name != "spikes" {
                    // Rounding decides which of the faces there it is.
                    let out = surface.nearest(local + normal * 1e-3, 1.0).unwrap();
                    assert!(out.distance > 2e-4, "{name}: {normal:?}, {nearest:?} at {local:?}");
                }
            }
            println!(
                "{name}: off by {off:.1e}, normals by {turned:.1e} of their lengths; {between} between, {far} far"
            );
            assert!(off < ROUNDING && turned < ROUNDING, "{name}: {off} {turned}");
            assert!(between < local.len() / 20, "{name}: {between}");
        }
    }
}

/// A mesh that moves, in double precision.
struct Twin<'a> {
    shape: &'a SurfaceShape,
    /// At the start and the end of the step, before the poses.
    ends: [Vec<Vec3>; 2],
    poses: [Pose; 2],
    bvh: Bvh,
    is_animated: bool,
}

/// A plane of a point, which moves with a part of the mesh.
#[derive(Clone, Copy, Debug)]
struct Plane {
    part: u32,
    barycentric: [f64; 3],
    point: Vec3,
    normal: Vec3,
    gap: f64,
}

impl Twin<'_> {
    fn nearest(&self, x: Vec3, reach: f64) -> Option<Nearest> {
        let p = self.poses[0].apply_inverse(x);
        self.shape.nearest(&self.ends[0], &self.bvh, None, p, reach, None)
    }

    fn corners(&self, part: u32, end: usize) -> [Vec3; 3] {
        self.shape.triangles()[part as usize].map(|v| self.ends[end][v as usize])
    }

    fn anchor(&self, part: u32, barycentric: [f64; 3]) -> [Pose; 2] {
        if !self.is_animated {
            return self.poses;
        }
        [0, 1].map(|end| Pose::on_triangle(self.corners(part, end), barycentric))
    }

    /// Of all triangles that single precision cannot tell apart: what is nearest to an edge may move with either of two.
    fn planes(&self, x: Vec3, nearest: &Nearest, thickness: f64) -> Vec<Plane> {
        let p = self.poses[0].apply_inverse(x);
        let side = nearest.distance.signum();
        let plane = |part: u32| {
            let (place, _) = closest_on_triangle(p, self.corners(part, 0));
            let distance = side * (p - place).norm();
            let is_as_near = (distance - nearest.distance).abs() < 0.3 * ROUNDING;
            let is_same = (place - nearest.place).norm() < 0.3 * ROUNDING;
            let normal = if is_same { nearest.normal } else { (p - place) / distance };
            is_as_near.then(|| self.plane(x, &Nearest { distance, normal, part, place }, thickness))
        };
        (0..self.shape.triangles().len() as u32).filter_map(plane).collect()
    }

    fn plane(&self, x: Vec3, nearest: &Nearest, thickness: f64) -> Plane {
        let [a, b, c] = self.corners(nearest.part, 0);
        let edges = Mat3::from_columns(&[b - a, c - a, (b - a).cross(&(c - a))]);
        let at = edges.try_inverse().unwrap() * (nearest.place - a);
        let barycentric = [1.0 - at.x - at.y, at.x, at.y];
        let own = self.anchor(nearest.part, barycentric)[0];
        let normal = self.poses[0].rotation * nearest.normal;
        Plane {
            part: nearest.part,
            barycentric,
            point: own.apply_inverse(x),
            normal: own.rotation.inverse_transform_vector(&normal),
            gap: nearest.distance - thickness,
        }
    }

    /// How far the surface moves.
    fn way(&self) -> f64 {
        let [from, to] = &self.ends;
        let moved = |(a, b): (&Vec3, &Vec3)| (self.poses[1].apply(*b) - self.poses[0].apply(*a)).norm();
        from.iter().zip(to).map(moved).fold(0.0, f64::max)
    }
}

/// Several steps with points that fly around a mesh that moves: the same planes are kept and measured anew.
fn follow<'a>(
    name: &str,
    gpu: &Rc<Gpu>,
    mesh: &mut DeviceMesh,
    step: impl Fn(&mut DeviceMesh, u32) -> Twin<'a>,
) -> Vec<ContactData> {
    let mut next = noise(83);
    let (edge, thickness, restitution) = (0.05, 0.02, 0.5);
    let margin = 0.04 * edge;
    let friction = Friction::new(0.2, 0.6);
    let first = step(mesh, 0);
    // Some fly near the surface, some inside, some far away.
    let near: Vec<Vec3> = first.ends[0].iter().map(|p| first.poses[0].apply(*p)).collect();
    let mut x: Vec<Vec3> =
        (0..700).map(|n| near[n % near.len()] + vector(&mut next) * [0.05, 0.2, 0.6][n % 3]).collect();
    let v: Vec<Vec3> = x.iter().map(|_| vector(&mut next) * 0.8).collect();
    let fastest = v.iter().map(|v| v.norm()).fold(0.0, f64::max);
    let mut points = Points::new(gpu, x.len(), &[Some(&*mesh)]);
    let mut planes: Vec<Vec<Plane>> = vec![Vec::new(); x.len()];
    let (mut travelled, mut since) = (0.0, Vec3::zeros());
    let (mut off, mut kept, mut measured) = ([0.0_f64; 4], 0, 0);
    let mut found = Vec::new();
    for number in 0..12 {
        let twin = step(mesh, number);
        let touching = Touching { thickness, restitution, friction };
        let (way, poses) = (1.01 * twin.way(), twin.poses);
        let collider = PrimitiveData::of_mesh(mesh, poses, Some(touching)).on_its_way(way, travelled, since);
        let finding = FindingData::new(H, GRAVITY, edge, 1, number == 0);
        found = points.find(&x, &v, finding, &[collider]);
        let reach = H * (fastest + H * GRAVITY) + way;
        for (((x, v), known), contact) in x.iter().zip(&v).zip(&mut planes).zip(&found) {
            let local = |plane: &Plane| twin.anchor(plane.part, plane.barycentric)[0].apply_inverse(*x);
            if known.first().is_none_or(|plane| (local(plane) - plane.point).norm() >= margin) {
                let nearest = twin.nearest(*x, 3.0 * edge + 1.5 * thickness);
                let distance = nearest.map_or(f64::INFINITY, |nearest| nearest.distance);
                // What is not near enough for a contact in this step may sleep.
                if distance > 1.5 * thickness + reach - ROUNDING && !is_awake(contact) {
                    known.clear();
                    continue;
                }
                assert!(distance < 1.5 * thickness + margin + reach + ROUNDING, "{name}: {distance} is far");
                *known = nearest.map_or(Vec::new(), |nearest| twin.planes(*x, &nearest, thickness));
                measured += 1;
            } else {
                kept += 1;
            }
            assert!(is_awake(contact), "{name}: a contact is missing at {x:?}");
            let errors = |plane: &Plane| {
                let [from, to] = twin.anchor(plane.part, plane.barycentric);
                let at = from.apply_inverse(*x);
                let carried = to.apply(at) - x;
                let normal = to.rotation * plane.normal;
                let gap = plane.gap + (at - plane.point).dot(&plane.normal);
                let lacking = x - x.map(|c| f64::from(c as f32));
                let above = gap - (lacking + carried).dot(&normal) - (gap + H).min(0.0);
                let bounce = outgoing_speed((v - carried / H).dot(&normal), restitution, GRAVITY, thickness);
                let speeds = (double(contact.surface_velocity) - carried / H).norm();
                [
                    (double(contact.normal) - normal).norm() * (gap + thickness).abs(),
                    (f64::from(contact.gap) - gap).abs().max((f64::from(contact.above) - above).abs()),
                    (double(contact.slipped) + lacking + carried).norm(),
                    H * speeds.max((f64::from(contact.bounce) - bounce).abs()),
                ]
            };
            let worst = |plane: &Plane| errors(plane).into_iter().fold(0.0, f64::max);
            let tried: Vec<_> = known.iter().map(|plane| (*plane, errors(plane))).collect();
            known.sort_by(|a, b| worst(a).total_cmp(&worst(b)));
            known.retain(|plane| worst(plane) < LARGEST_ERROR);
            let Some(plane) = known.first() else {
                panic!("{name}: no such plane in step {number} at {x:?}: {contact:?}, {tried:?}")
            };
            let all = errors(plane);
            off.iter_mut().zip(all).for_each(|(off, new)| *off = if new > *off || new.is_nan() { new } else { *off });
        }
        x.iter_mut().zip(&v).for_each(|(x, v)| *x += v * H);
        travelled += way;
        since = poses[1].apply(mesh.middle()) - first.poses[0].apply(mesh.middle());
    }
    println!("{name}: {kept} kept, {measured} measured, off by {off:?}");
    assert!(kept > 500 && measured > 100, "{name}: {kept} {measured}");
    found
}

#[test]
fn planes_on_a_mesh_that_moves_as_a_whole_are_those_of_the_processor() {
    let gpu = Rc::new(open(None));
    let mesh = spiky(84);
    let surface = MeshSurface::build(mesh.positions, mesh.triangles, Sides::Auto);
    for far in [Vec3::zeros(), Vec3::new(-700.0, 300.0, 200.0)] {
        let mut mesh = DeviceMesh::rigid(&gpu, &surface).unwrap();
        let pose = |step: u32| {
            let rotation = Rotation3::from_scaled_axis(Vec3::new(0.3, 1.0 + 1e-3 * f64::from(step), 0.2));
            Pose { rotation, translation: far + Vec3::new(0.0, 6e-4, -3e-4) * f64::from(step) }
        };
        let step = |_: &mut DeviceMesh, step: u32| Twin {
            shape: &surface.shape,
            ends: [surface.positions.clone(), surface.positions.clone()],
            poses: [pose(step), pose(step + 1)],
            bvh: surface.bvh().clone(),
            is_animated: false,
        };
        follow("a mesh that moves as a whole", &gpu, &mut mesh, step);
    }
}

#[test]
fn planes_on_a_mesh_whose_vertices_move_are_those_of_the_processor() {
    let mesh = welded(&generate::ball(0.8, 7));
    let shape = SurfaceShape::build(&mesh.positions, mesh.triangles, Sides::Auto);
    let far = Vec3::new(40.0, -20.0, 100.0);
    // It turns, moves and swells.
    let keys: [Vec<Vec3>; PIECES + 1] = std::array::from_fn(|key| {
        let t = key as f64;
        let turn = Rotation3::from_scaled_axis(Vec3::new(0.004, -0.003, 0.002) * t);
        let swollen = |p: &Vec3| far + turn * p * (1.0 + 0.003 * t * p.y) + Vec3::new(1e-3, -2e-3, 1e-3) * t;
        mesh.positions.iter().map(swollen).collect()
    });
    let at = |part: f64| -> Vec<Vec3> {
        let (piece, inside) = piece(part);
        keys[piece].iter().zip(&keys[piece + 1]).map(|(a, b)| a + (b - a) * inside).collect()
    };
    let mut last = Vec::new();
    for limits in [None, Some(Limits { groups: 4, binding: 1 << 20 })] {
        let gpu = Rc::new(open(limits));
        let mut mesh = DeviceMesh::animated(&gpu, &shape, &keys[2]).unwrap();
        mesh.load(&gpu, &keys);
        let step = |mesh: &mut DeviceMesh, step: u32| {
            // Steps that begin and end in different pieces are among them.
            let parts = [step, step + 1].map(|step| f64::from(step) / 14.0);
            mesh.place(&gpu, parts);
            let ends = parts.map(at);
            let bvh = Bvh::build(&ends[0], shape.triangles());
            Twin { shape: &shape, ends, poses: [Pose::identity(); 2], bvh, is_animated: true }
        };
        last.push(follow("a mesh whose vertices move", &gpu, &mut mesh, step));
    }
    assert_eq!(last[0], last[1], "small limits give other bits");
}

#[test]
fn what_a_device_cannot_have_stays_with_the_processor() {
    let gpu = open(Some(Limits { groups: 64, binding: 1 << 16 }));
    let surface = |vertices| {
        let mesh = welded(&generate::ball(1.0, vertices));
        MeshSurface::build(mesh.positions, mesh.triangles, Sides::Auto)
    };
    assert!(DeviceMesh::rigid(&gpu, &surface(9)).is_some());
    let large = surface(40);
    assert!(DeviceMesh::rigid(&gpu, &large).is_none());
    assert!(DeviceMesh::animated(&gpu, &large.shape, &large.positions).is_none());
    assert_eq!(gpu.trouble(), None);
}

pub fn sheet(substeps: u32, height: f64, colliders: &str) -> World {
    let text = format!(
        "[scene]\nname = \"test\"\nfps = 30\nframes = \"0-1\"\nsubsteps = {substeps}\n\
         [[cloth]]\nname = \"sheet\"\nmesh = {{ sheet = {{ size = [0.6, 0.6], vertices = [13, 13] }} }}\n\
         transform = {{ translate = [0, {height}, 0] }}\nself_collision = false\nbend = 1e-5\n{colliders}"
    );
    World::in_folder(&text, Path::new(env!("CARGO_MANIFEST_DIR")), &[])
}

pub const BALL: &str = "[[collider]]\nname = \"ball\"\nshape = \"mesh\"\nmesh = { ball = { radius = 0.3, vertices = 9 } }\n\
                    transform.translate = { keys = [[0, [0, 0, 0]], [1, [0, 0.01, 0]]] }\n\
                    transform.rotate = { keys = [[0, [0, 0, 0]], [1, [0, 5, 0]]] }\n";

#[test]
fn bakes_with_meshes_agree() {
    let figure = "[[collider]]\nname = \"figure\"\nshape = \"mesh\"\nmesh = \"meshes/walking_figure.glb\"\n\
                  animation = { loop = true, offset = 0.3 }\nthickness = 0.002\n";
    let floor = "[[collider]]\nname = \"floor\"\nshape = \"plane\"\npoint = [0, 0.298, 0]\nnormal = [0, 1, 0]\n";
    // Below the plane: what lies on the ball has no room.
    let lid = "[[collider]]\nname = \"lid\"\nshape = \"plane\"\npoint = [0, 0.2995, 0]\nnormal = [0, -1, 0]\n";
    for (name, world) in [
        ("a ball", sheet(20, 0.301, BALL)),
        ("a ball and a floor", sheet(20, 0.301, &format!("{BALL}{floor}"))),
        ("a ball under a lid", sheet(20, 0.301, &format!("{BALL}{lid}"))),
        ("a figure", sheet(20, 1.0, figure)),
    ] {
        agree(name, &world);
    }
}

#[test]
fn a_step_with_meshes_asks_for_no_velocities() {
    let per_step = |colliders: &str| {
        let counts = [10, 20].map(|steps| on_device(&sheet(steps, 0.301, colliders), None).1);
        let more = |f: fn(&kiln::solver::device::Counts) -> u64| (f(&counts[1]) - f(&counts[0])) as f64 / 10.0;
        (more(|counts| counts.read_backs), more(|counts| counts.uploads))
    };
    let one = per_step(BALL);
    let two = per_step(&format!(
        "{BALL}[[collider]]\nname = \"second\"\nshape = \"sphere\"\ncenter = [0, -1, 0]\nradius = 0.1\n"
    ));
    println!("read backs and uploads of a step: {one:?}, with two colliders {two:?}");
    // Where vertices are, for the guard; which of them are let pass.
    assert_eq!((one.0, two.0), (1.0, 2.0));
}
