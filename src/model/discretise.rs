//! A cloth's triangles or quads into particles and what ties them: the three models of cloth.
//!
//! | model | particles | keeps | bending |
//! |---|---|---|---|
//! | midpoint | edge midpoints | three distances a triangle, and the boundary's | each triangle's own plane |
//! | grid | vertices | edges of quads; diagonals are springs | second differences along threads |
//! | stretch_only | vertices | no edge gets longer | hinges |
//!
//! An elastic fabric has stiffness in its plane instead, and what is kept is an upper limit.

use crate::algorithms::cloth::bending::Bending;
use crate::algorithms::cloth::conforming_map::ConformingMap;
use crate::algorithms::cloth::distance::Keeps;
use crate::algorithms::cloth::elastic::{Elastic, Stiffness};
use crate::algorithms::cloth::nonconforming::{Nonconforming, Pair};
use crate::algorithms::cloth::threads::{Diagonal, thread_bends};
use crate::math::{Vec2, Vec3};
use crate::mesh::simulation_mesh::SimulationMesh;
use crate::mesh::surface::PolyMesh;
use crate::mesh::topology::Topology;
use crate::scene::problem::{KeyPath, Place, Problem};
use crate::scene::{ClothKind, Fabric};

use super::rest_shape::RestTriangles;

/// Part of the allowed stretch at which the limit of an elastic fabric acts; the rest is for what a step leaves behind.
const ELASTIC_SHARE: f64 = 0.9;

/// What is known of a cloth before its model is chosen.
pub struct Blank<'a> {
    /// Its mesh.
    pub surface: &'a PolyMesh,
    /// Its welded triangles.
    pub mesh: &'a SimulationMesh,
    /// Their edges.
    pub topology: &'a Topology,
    /// Their shape at rest.
    pub flat: &'a RestTriangles,
    /// Edge lengths at rest [m].
    pub lengths: &'a [f64],
    /// Edges of the written polygons, into the topology's.
    pub visible: &'a [u32],
    /// Allowed stretch of each edge.
    pub limits: &'a [f64],
    /// Factor of each vertex on the bending stiffness.
    pub bend_factors: Option<&'a [f64]>,
    /// Whether each vertex is held exactly by a pin.
    pub is_led: &'a [bool],
    /// Its material.
    pub fabric: &'a Fabric,
}

/// Particles and what ties them.
pub struct Discretisation {
    /// Where the particles start [m].
    pub start: Vec<Vec3>,
    /// The particles of each triangle.
    pub triangle_particles: Vec<[u32; 3]>,
    /// From particles to vertices.
    pub map: ConformingMap,
    /// Pairs that keep their distance.
    pub pairs: Vec<Pair>,
    /// Or how they keep it.
    pub keeps: Keeps,
    /// How many pairs belong to the boundary of the midpoint model.
    pub boundary_pair_count: usize,
    /// Shear springs of the grid model.
    pub diagonals: Vec<Diagonal>,
    /// Elasticity in the plane.
    pub elastic: Vec<Elastic>,
    /// Bending for 1 N m.
    pub bending: Bending,
}

/// The model that a cloth gets; `Auto` is decided here.
pub fn kind(asked: ClothKind, surface: &PolyMesh) -> ClothKind {
    match asked {
        ClothKind::Auto if first_other_polygon(surface).is_none() => ClothKind::Grid,
        ClothKind::Auto => ClothKind::StretchOnly,
        typed => typed,
    }
}

/// Factor on the bending stiffness between two parts of these sizes: where one of them is held, all of the bend is in the other. Without it a
/// cloth hangs from a clamp as if it were half an edge longer.
fn free_part_factor([(p, p_is_held), (q, q_is_held)]: [(f64, bool); 2]) -> f64 {
    match [p_is_held, q_is_held] {
        [true, false] => (p + q) / q,
        [false, true] => (p + q) / p,
        _ => 1.0,
    }
}

/// The first face that is no quad.
fn first_other_polygon(surface: &PolyMesh) -> Option<usize> {
    (0..surface.face_count()).find(|&face| surface.face(face).len() != 4)
}

impl Blank<'_> {
    /// Particles for a model; not for `Auto`. `None` after an error.
    pub fn discretise(&self, kind: ClothKind, place: &KeyPath, problems: &mut Vec<Problem>) -> Option<Discretisation> {
        match kind {
            ClothKind::Midpoint => Some(self.midpoints()),
            ClothKind::Grid => {
                if let Some(face) = first_other_polygon(self.surface) {
                    let message =
                        format!("face {face} (counted from 0) is no quad, and `grid` is made of threads of quads");
                    let help = "use model = \"stretch_only\" or \"midpoint\" for triangles, or \"auto\"";
                    problems.push(Problem::error(Place::Scene(place.key("model")), message).help(help));
                    return None;
                }
                Some(self.threads())
            }
            ClothKind::StretchOnly | ClothKind::Auto => Some(self.edges()),
        }
    }

    fn is_elastic(&self) -> bool {
        self.fabric.warp.is_some()
    }

    /// How long something may get whose allowed stretch is this.
    pub fn longest(&self, rest: f64, limit: f64) -> f64 {
        if self.is_elastic() { rest * (1.0 + ELASTIC_SHARE * limit) } else { rest }
    }

    fn keeps(&self, inextensible: Keeps) -> Keeps {
        if self.is_elastic() { Keeps::AtMost } else { inextensible }
    }

    fn edge_bend_factor(&self, edge: usize) -> f64 {
        let [a, b] = self.topology.edges[edge];
        let of_map = self.bend_factors.map_or(1.0, |factors| 0.5 * (factors[a as usize] + factors[b as usize]));
        let areas = match self.topology.edge_triangles[edge][..] {
            [p, q] => [p, q].map(|t| (self.flat.area(t as usize), self.is_held(&self.mesh.triangles[t as usize]))),
            _ => return of_map,
        };
        of_map * free_part_factor(areas)
    }

    /// Whether all of some vertices are held.
    fn is_held(&self, vertices: &[u32]) -> bool {
        vertices.iter().all(|&v| self.is_led[v as usize])
    }

    fn elastic(&self, particles: &[[u32; 3]], place: impl Fn(&[Vec2; 3]) -> [Vec2; 3]) -> Vec<Elastic> {
        let Some(warp) = self.fabric.warp else {
            return Vec::new();
        };
        let stiffness = Stiffness { warp, weft: self.fabric.weft.unwrap_or(warp), shear: self.fabric.shear };
        let triangles = particles.iter().zip(&self.flat.corners).enumerate();
        triangles
            .filter_map(|(t, (&particles, corners))| {
                Elastic::new(particles, place(corners), self.flat.area(t), stiffness)
            })
            .collect()
    }

    fn midpoints(&self) -> Discretisation {
        let Blank { mesh, topology, flat, .. } = self;
        let mut model = Nonconforming::build(&mesh.positions, &flat.corners, topology);
        let limit_of = |particle: u32| self.limits[particle as usize];
        for pair in &mut model.pairs {
            let [a, b] = pair.particles.map(limit_of);
            pair.rest = self.longest(pair.rest, a.min(b));
        }
        Discretisation {
            start: model.midpoints,
            triangle_particles: topology.triangle_edges.clone(),
            map: ConformingMap::build(mesh.positions.len(), &mesh.triangles, topology),
            pairs: model.pairs,
            keeps: self.keeps(Keeps::Distance),
            boundary_pair_count: model.boundary_pair_count,
            diagonals: Vec::new(),
            elastic: self
                .elastic(&topology.triangle_edges, |&[a, b, c]| [b + c, c + a, a + b].map(|twice| twice * 0.5)),
            bending: Bending::of_midpoints(&flat.corners, &mesh.triangles, topology, |e| self.edge_bend_factor(e)),
        }
    }

    fn edges(&self) -> Discretisation {
        let Blank { mesh, topology, flat, .. } = self;
        let bending = Bending::of_vertices(mesh.positions.len(), &flat.corners, &mesh.triangles, topology, |e| {
            self.edge_bend_factor(e)
        });
        let all: Vec<u32> = (0..topology.edges.len() as u32).collect();
        self.on_vertices(&all, Keeps::AtMost, bending)
    }

    fn threads(&self) -> Discretisation {
        let Blank { mesh, topology, flat, .. } = self;
        let edges: Vec<[u32; 2]> = self.visible.iter().map(|&e| topology.edges[e as usize]).collect();
        let lengths: Vec<f64> = self.visible.iter().map(|&e| self.lengths[e as usize]).collect();
        let mut areas = vec![0.0; mesh.positions.len()];
        for (t, corners) in mesh.triangles.iter().enumerate() {
            corners.iter().for_each(|&v| areas[v as usize] += flat.area(t) / 3.0);
        }
        let mut bends = thread_bends(&edges, &lengths, &mesh.positions, |v| {
            areas[v as usize] * self.bend_factors.map_or(1.0, |factors| factors[v as usize])
        });
        for bend in &mut bends {
            let ([before, after], [a, b, c]) = (bend.lengths, bend.vertices);
            bend.area *= free_part_factor([(before, self.is_held(&[a, b])), (after, self.is_held(&[b, c]))]);
        }
        let bending = Bending::of_threads(mesh.positions.len(), &bends);
        let mut model = self.on_vertices(self.visible, self.keeps(Keeps::Distance), bending);
        if !self.is_elastic() {
            model.diagonals = self.diagonals();
        }
        model
    }

    /// Both diagonals of every quad. The one that its two triangles share has their length; the other is measured with them laid
    /// flat, which two triangles that share an edge always can be.
    fn diagonals(&self) -> Vec<Diagonal> {
        let compliance = 1.0 / self.fabric.shear;
        let mut diagonals = Vec::new();
        let visible: std::collections::HashSet<u32> = self.visible.iter().copied().collect();
        for (edge, triangles) in self.topology.edge_triangles.iter().enumerate() {
            if visible.contains(&(edge as u32)) {
                continue;
            }
            let ends = self.topology.edges[edge];
            diagonals.push(Diagonal { ends, rest: self.lengths[edge], compliance });
            let [p, q] = match triangles[..] {
                [p, q] => [p, q],
                _ => continue,
            };
            let apex = |t: u32| {
                let k = self.topology.triangle_edges[t as usize].iter().position(|&e| e as usize == edge).unwrap_or(0);
                let corners = self.flat.corners[t as usize];
                let at = |end: u32| {
                    let corner = self.mesh.triangles[t as usize].iter().position(|&c| c == end).unwrap_or(0);
                    corners[corner]
                };
                let base = at(ends[1]) - at(ends[0]);
                let to = corners[k] - at(ends[0]);
                (self.mesh.triangles[t as usize][k], to.dot(&base) / base.norm(), (to.perp(&base) / base.norm()).abs())
            };
            let [(a, along_a, beside_a), (b, along_b, beside_b)] = [p, q].map(apex);
            if a != b {
                let rest = (along_a - along_b).hypot(beside_a + beside_b);
                diagonals.push(Diagonal { ends: [a.min(b), a.max(b)], rest, compliance });
            }
        }
        diagonals
    }

    fn on_vertices(&self, edges: &[u32], keeps: Keeps, bending: Bending) -> Discretisation {
        let pair = |&edge: &u32| Pair {
            particles: self.topology.edges[edge as usize],
            rest: self.longest(self.lengths[edge as usize], self.limits[edge as usize]),
        };
        Discretisation {
            start: self.mesh.positions.clone(),
            triangle_particles: self.mesh.triangles.clone(),
            map: ConformingMap::identity(self.mesh.positions.len()),
            pairs: edges.iter().map(pair).collect(),
            keeps,
            boundary_pair_count: 0,
            diagonals: Vec::new(),
            elastic: self.elastic(&self.mesh.triangles, |corners| *corners),
            bending,
        }
    }
}
