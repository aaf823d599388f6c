//! A soft body that is its closed surface: regions of vertices that keep their shapes, numbered along paths.

use crate::algorithms::shape_matching::fast_summation::Regions;
use crate::algorithms::shape_matching::matching::RestShapes;
use crate::algorithms::shape_matching::paths::{self, Paths};
use crate::algorithms::shape_matching::surface_volume::{self, InnerStructure};
use crate::math::Vec3;
use crate::math::rows::Rows;
use crate::mesh::measures::triangle_area;
use crate::mesh::simulation_mesh::SimulationMesh;
use crate::mesh::topology::Topology;
use crate::scene::ShapeMatching;
use crate::scene::problem::{KeyPath, Place, Problem};

/// What holds a soft body together that is only a surface.
#[derive(Debug)]
pub struct ShapeBody {
    /// What lies within some edges of each particle.
    pub regions: Regions,
    /// The shapes they keep.
    pub shapes: RestShapes,
    /// A point in the middle of the body at rest, from which `shapes` counts [m].
    pub middle: Vec3,
    /// Triangles around each particle.
    pub around: Rows<u32>,
    /// 1 where triangles face outwards, -1 where they face inwards.
    pub outwards: f64,
    /// Volume at rest [m³].
    pub volume: f64,
    /// Distances through the body.
    pub inner: InnerStructure,
    /// Part of the way to its goal that each particle goes in a step of `ShapeMatching::STEP`.
    pub stiffness: Vec<f64>,
    /// What the scene says.
    pub settings: ShapeMatching,
}

impl ShapeBody {
    /// Of a mesh that is closed and numbered along the paths; `factors` are on the stiffness.
    pub fn build(
        paths: &Paths,
        mesh: &SimulationMesh,
        topology: &Topology,
        mass: &[f64],
        settings: &ShapeMatching,
        factors: Option<&[f64]>,
    ) -> Self {
        let count = mesh.positions.len();
        let regions = Regions::build(paths, &paths::neighbours(count, &topology.edges), settings.omega);
        let around = surface_volume::around(count, &mesh.triangles);
        let doubled: Vec<Vec3> = (mesh.triangles.iter())
            .map(|corners| surface_volume::doubled_area(corners.map(|v| mesh.positions[v as usize])))
            .collect();
        let normals: Vec<Vec3> = (0..count).map(|i| surface_volume::area_normal(&doubled, around.row(i))).collect();
        let volume = surface_volume::volume(&mesh.positions, &normals);
        let outwards = if volume < 0.0 { -1.0 } else { 1.0 };
        let normals: Vec<Vec3> = normals.into_iter().map(|normal| normal * outwards).collect();
        let units: Vec<Vec3> = normals.iter().map(|n| n.try_normalize(0.0).unwrap_or_default()).collect();
        let total: f64 = mass.iter().sum();
        let middle = mesh.positions.iter().zip(mass).map(|(x, m)| x * *m).sum::<Vec3>() / total;
        let from_middle = mesh.positions.iter().map(|x| x - middle).collect();
        let inner = InnerStructure::build(&mesh.positions, &mesh.triangles, &normals, [settings.s_min, settings.s_max]);
        let stiffness = |i: usize| (settings.stiffness * factors.map_or(1.0, |factors| factors[i])).clamp(0.0, 1.0);
        ShapeBody {
            shapes: RestShapes::build(&regions, from_middle, mass, &units),
            regions,
            middle,
            around,
            outwards,
            volume: volume.abs(),
            inner,
            stiffness: (0..count).map(stiffness).collect(),
            settings: *settings,
        }
    }

    /// How it is made, for people.
    pub fn method(&self) -> String {
        let ShapeMatching { omega, keep_volume, .. } = self.settings;
        format!(
            "{} matched regions of {omega} edges around, {} paths, {:.1} stretches a region{}",
            self.regions.len(),
            self.regions.path_count(),
            self.regions.mean_stretches(),
            if keep_volume { ", the whole keeps its volume" } else { "" }
        )
    }
}

/// Why a mesh has no inside, if it has none.
pub fn why_open(mesh: &SimulationMesh, topology: &Topology) -> Option<String> {
    let counts = |wanted: fn(usize) -> bool| topology.edge_triangles.iter().filter(|t| wanted(t.len())).count();
    let (open, branched) = (counts(|n| n < 2), counts(|n| n > 2));
    if open > 0 {
        return Some(format!("this one has {open} open edges"));
    }
    if branched > 0 {
        return Some(format!("this one has {branched} edges with more than two triangles"));
    }
    // Two neighbours that face the same way pass their edge in opposite directions.
    let passes = |t: u32, [a, b]: [u32; 2]| {
        let [x, y, z] = mesh.triangles[t as usize];
        [[x, y], [y, z], [z, x]].contains(&[a, b])
    };
    let is_twisted = |(&edge, near): (&[u32; 2], &Vec<u32>)| passes(near[0], edge) == passes(near[1], edge);
    let twisted = topology.edges.iter().zip(&topology.edge_triangles).filter(|pair| is_twisted(*pair)).count();
    if twisted > 0 {
        return Some(format!("at {twisted} edges of this one faces turn from outwards to inwards"));
    }
    let six: f64 =
        (mesh.triangles.iter().map(|corners| corners.map(|v| mesh.positions[v as usize] - mesh.positions[0])))
            .map(|[a, b, c]| a.dot(&b.cross(&c)))
            .sum();
    let size = mesh.positions.iter().map(|x| (x - mesh.positions[0]).norm()).fold(0.0, f64::max);
    (six.abs() <= 1e-9 * size.powi(3)).then(|| "this one has no volume".to_owned())
}

/// Number the vertices of a mesh along paths, and its triangles as they come along these.
pub fn number_along_paths(mesh: &mut SimulationMesh, topology: &mut Topology) -> Paths {
    let paths = Paths::build(&mesh.positions, &paths::neighbours(mesh.positions.len(), &topology.edges));
    mesh.renumber(&paths.order);
    *topology = Topology::build(&mesh.triangles);
    paths
}

/// Masses by the area around each vertex [kg].
pub fn masses(mesh: &SimulationMesh, density: f64) -> Vec<f64> {
    let mut areas = vec![0.0; mesh.positions.len()];
    let mut six = 0.0;
    for corners in &mesh.triangles {
        let places = corners.map(|v| mesh.positions[v as usize]);
        let area = triangle_area(places);
        corners.iter().for_each(|&v| areas[v as usize] += area);
        let [a, b, c] = places.map(|p| p - mesh.positions[0]);
        six += a.dot(&b.cross(&c));
    }
    let share = density * six.abs() / 6.0 / areas.iter().sum::<f64>();
    areas.into_iter().map(|area| area * share).collect()
}

/// Tell of parts that nothing holds together.
pub fn note_parts(mesh: &SimulationMesh, topology: &Topology, place: &KeyPath, problems: &mut Vec<Problem>) {
    let near = paths::neighbours(mesh.positions.len(), &topology.edges);
    let mut is_seen = vec![false; mesh.positions.len()];
    let mut parts = 0;
    for start in 0..mesh.positions.len() {
        if std::mem::replace(&mut is_seen[start], true) {
            continue;
        }
        parts += 1;
        let mut open = vec![start as u32];
        while let Some(v) = open.pop() {
            for &next in near.row(v as usize) {
                if !std::mem::replace(&mut is_seen[next as usize], true) {
                    open.push(next);
                }
            }
        }
    }
    if parts > 1 {
        let message = format!("the mesh has {parts} parts that nothing holds together, and one volume for all");
        let help = "give each part a [[soft_body]] of its own, or use `model = \"tetrahedra\"`";
        problems.push(Problem::warning(Place::Scene(place.key("mesh")), message).help(help));
    }
}
