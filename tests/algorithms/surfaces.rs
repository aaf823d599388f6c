//! Irregular meshes for what works on regions of a surface, and the slow way to these regions.

use std::collections::BTreeSet;

use kiln::algorithms::shape_matching::fast_summation::{self, Regions};
use kiln::algorithms::shape_matching::paths::{self, Paths};
use kiln::algorithms::shape_matching::surface_volume;
use kiln::math::rows::Rows;
use kiln::math::{Mat3, Vec3};
use kiln::mesh::generate as rule;

use crate::{Mesh, Random};

/// The same mesh with its vertices numbered anew: vertex `order[i]` becomes `i`.
pub fn renumbered(mesh: &Mesh, order: &[u32]) -> Mesh {
    let mut number = vec![0; order.len()];
    order.iter().enumerate().for_each(|(new, &old)| number[old as usize] = new as u32);
    let positions = order.iter().map(|&old| mesh.positions[old as usize]).collect();
    Mesh::new(positions, mesh.triangles.iter().map(|t| t.map(|v| number[v as usize])).collect())
}

/// The same mesh with numbers that say nothing about places.
pub fn shuffled(mesh: &Mesh, random: &mut Random) -> Mesh {
    let mut order: Vec<u32> = (0..mesh.positions.len() as u32).collect();
    for i in (1..order.len()).rev() {
        order.swap(i, random.below(i + 1));
    }
    renumbered(mesh, &order)
}

/// Several meshes as one.
pub fn joined(meshes: &[Mesh]) -> Mesh {
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for mesh in meshes {
        let first = positions.len() as u32;
        positions.extend(&mesh.positions);
        triangles.extend(mesh.triangles.iter().map(|t| t.map(|v| v + first)));
    }
    Mesh::new(positions, triangles)
}

/// One vertex with triangles around it that do not close.
pub fn fan(count: u32) -> Mesh {
    let rim = (0..=count).map(|i| {
        let angle = f64::from(i) * 5.0 / f64::from(count);
        Vec3::new(angle.cos(), 0.1 * f64::from(i % 3), angle.sin())
    });
    let positions = std::iter::once(Vec3::zeros()).chain(rim).collect();
    Mesh::new(positions, (1..=count).map(|i| [0, i + 1, i]).collect())
}

/// Closed ones in one part.
pub fn closed(random: &mut Random) -> Vec<Mesh> {
    let ball = Mesh::of(&rule::ball(0.5, 9)).shaken(0.02, random);
    let cuboid = Mesh::of(&rule::cuboid([1.0, 0.3, 0.6], [9, 4, 6])).shaken(0.02, random);
    let torus = Mesh::of(&rule::torus(0.5, 0.2, 26, 11)).shaken(0.01, random);
    [ball, cuboid, torus].iter().map(|mesh| shuffled(mesh, random)).collect()
}

/// Also several parts, a fan, a triangle.
pub fn irregular(random: &mut Random) -> Vec<Mesh> {
    let mut meshes = closed(random);
    let parts = shuffled(&joined(&meshes), random);
    meshes.extend([parts, fan(1), fan(2), fan(17), shuffled(&fan(40), random)]);
    meshes
}

pub fn neighbours(mesh: &Mesh) -> Rows<u32> {
    paths::neighbours(mesh.positions.len(), &mesh.topology.edges)
}

/// Numbered along its paths, as bodies are, and these.
pub fn along_paths(mesh: &Mesh) -> (Mesh, Paths) {
    let paths = Paths::build(&mesh.positions, &neighbours(mesh));
    (renumbered(mesh, &paths.order), paths)
}

/// What is within `omega` edges of each vertex, by triangles that share one.
pub fn members(mesh: &Mesh, omega: u32) -> Vec<BTreeSet<usize>> {
    let mut near = vec![BTreeSet::new(); mesh.positions.len()];
    for corners in &mesh.triangles {
        for v in corners {
            near[*v as usize].extend(corners.map(|v| v as usize));
        }
    }
    let mut all: Vec<BTreeSet<usize>> = (0..near.len()).map(|i| BTreeSet::from([i])).collect();
    for _ in 0..omega {
        all = all.iter().map(|held| held.iter().flat_map(|&i| near[i].iter().copied()).collect()).collect();
    }
    all
}

/// Running sums along all paths.
pub fn run<const N: usize>(regions: &Regions, value: impl Fn(usize) -> [f64; N]) -> Vec<[f64; N]> {
    let mut rows = vec![[f64::NAN; N]; regions.len() + regions.path_count()];
    for path in 0..regions.path_count() {
        let first = regions.particles(path..path + 1).start;
        fast_summation::run(&mut rows[regions.rows(path..path + 1)], |at| value(first + at));
    }
    rows
}

/// Area normals of all vertices.
pub fn area_normals(x: &[Vec3], triangles: &[[u32; 3]]) -> Vec<Vec3> {
    let around = surface_volume::around(x.len(), triangles);
    let doubled: Vec<Vec3> =
        triangles.iter().map(|corners| surface_volume::doubled_area(corners.map(|v| x[v as usize]))).collect();
    (0..x.len()).map(|i| surface_volume::area_normal(&doubled, around.row(i))).collect()
}

pub fn directions(x: &[Vec3], triangles: &[[u32; 3]]) -> Vec<Vec3> {
    area_normals(x, triangles).iter().map(|n| n.normalize()).collect()
}

pub fn masses(count: usize, random: &mut Random) -> Vec<f64> {
    (0..count).map(|_| random.within(0.2, 3.0)).collect()
}

/// A turn about a random axis.
pub fn turn(angle: f64, random: &mut Random) -> Mat3 {
    nalgebra::Rotation3::new(random.vector().normalize() * angle).into_inner()
}

/// The rotation nearest to a matrix of full rank, the slow way: nalgebra takes another algorithm for matrices whose size it does not know.
pub fn nearest_rotation(a: &Mat3) -> Mat3 {
    let svd = nalgebra::DMatrix::from_iterator(3, 3, a.iter().copied()).svd(true, true);
    let (u, v_t) = (svd.u.unwrap(), svd.v_t.unwrap());
    let mut signs = nalgebra::DVector::from_element(3, 1.0);
    signs[svd.singular_values.imin()] = (&u * &v_t).determinant().signum();
    let r = u * nalgebra::DMatrix::from_diagonal(&signs) * v_t;
    Mat3::from_iterator(r.iter().copied())
}
