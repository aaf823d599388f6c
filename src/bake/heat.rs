//! Figures of every vertex that colours can show: how far its edges are stretched, and how near it is to other objects.

use rayon::prelude::*;

use super::movie::{Kind, MovieObject};
use crate::math::Vec3;
use crate::mesh::bvh::Bvh;
use crate::mesh::closest::closest_on_triangle;

/// The edges of some triangles, each once, ascending.
pub fn edges(triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let mut edges: Vec<[u32; 2]> = triangles.iter().flat_map(ascending).collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}

fn ascending(&[a, b, c]: &[u32; 3]) -> [[u32; 2]; 3] {
    [[a, b], [b, c], [c, a]].map(|[a, b]| [a.min(b), a.max(b)])
}

/// The edges of an object's polygons, without the diagonals that cut them: nobody has promised that those keep their length.
pub fn polygon_edges(object: &MovieObject) -> Vec<[u32; 2]> {
    let mut sides: Vec<[u32; 2]> = Vec::new();
    let mut triangles = object.triangles.iter();
    for &[corners, count] in &object.faces {
        for _ in 0..count {
            let polygon: Vec<[u32; 3]> = triangles.by_ref().take(corners as usize - 2).copied().collect();
            let mut all: Vec<[u32; 2]> = polygon.iter().flat_map(ascending).collect();
            all.sort_unstable();
            // A diagonal belongs to two triangles of its polygon, a side to one.
            sides.extend(all.chunk_by(|a, b| a == b).filter(|alike| alike.len() == 1).map(|alike| alike[0]));
        }
    }
    sides.sort_unstable();
    sides.dedup();
    sides
}

/// Of each vertex the stretch of that edge which has changed most: `l / l0 - 1`.
pub fn stretch(edges: &[[u32; 2]], rest: &[[f32; 3]], positions: &[[f32; 3]]) -> Vec<f32> {
    let mut stretches = vec![0.0_f32; rest.len()];
    let length = |points: &[[f32; 3]], [a, b]: [u32; 2]| (point(points[b as usize]) - point(points[a as usize])).norm();
    for &edge in edges {
        let at_rest = length(rest, edge);
        if at_rest > 0.0 {
            let stretched = (length(positions, edge) / at_rest - 1.0) as f32;
            for vertex in edge {
                let known = &mut stretches[vertex as usize];
                if stretched.abs() > known.abs() {
                    *known = stretched;
                }
            }
        }
    }
    stretches
}

/// How near each object's surface is to any other one around its vertices: 1 within the distance that both keep, 0 from `REACH` times that on.
///
/// On something round the middles of a coarse mesh's edges and triangles touch while its vertices stand off, so they are looked at as well.
pub fn nearness(objects: &[MovieObject], positions: &[Vec<[f32; 3]>]) -> Vec<Vec<f32>> {
    let points: Vec<Vec<Vec3>> = positions.iter().map(|object| object.iter().copied().map(point).collect()).collect();
    let kept = |a: usize, b: usize| objects[a].thickness + objects[b].thickness;
    let touches = |a: usize, b: usize| {
        let is_body = |kind: Kind| kind != Kind::Collider;
        // A mesh and what follows it are one.
        a != b
            && kept(a, b) > 0.0
            && objects[b].kind != Kind::Render
            && (is_body(objects[a].kind) || is_body(objects[b].kind))
            && !(objects[a].kind == Kind::Render && objects[a].follows.as_ref() == Some(&objects[b].name))
    };
    let others = |a: usize| (0..objects.len()).filter(|&b| touches(a, b)).collect::<Vec<usize>>();
    let others: Vec<Vec<usize>> = (0..objects.len()).map(others).collect();
    // What keeps no distance is nowhere near: meshes of other tools cost nothing.
    if others.iter().all(Vec::is_empty) {
        return points.iter().map(|points| vec![0.0; points.len()]).collect();
    }
    let trees: Vec<Bvh> =
        objects.par_iter().zip(&points).map(|(object, points)| Bvh::build(points, &object.triangles)).collect();
    (0..objects.len())
        .map(|a| {
            let others = &others[a];
            if others.is_empty() {
                return vec![0.0; points[a].len()];
            }
            let kept = |b: usize| kept(a, b);
            let nearness_of = |p: Vec3| {
                let mut nearest = 0.0_f64;
                for &b in others {
                    let mut square = (REACH * kept(b)).powi(2);
                    trees[b].near(p, square, |triangle| {
                        let corners = objects[b].triangles[triangle as usize].map(|v| points[b][v as usize]);
                        let far = (closest_on_triangle(p, corners).0 - p).norm_squared();
                        if far < square {
                            square = far;
                        }
                        square
                    });
                    let beyond = (square.sqrt() - kept(b) * SLACK) / (kept(b) * (REACH - SLACK));
                    nearest = nearest.max((1.0 - beyond).clamp(0.0, 1.0));
                }
                nearest as f32
            };
            let finest = others.iter().map(|&b| REACH * kept(b)).fold(f64::INFINITY, f64::min);
            let samples = samples(&objects[a].triangles, &points[a], finest);
            let near: Vec<f32> = samples.par_iter().with_min_len(256).map(|sample| nearness_of(sample.0)).collect();
            let mut of_vertices = vec![0.0_f32; points[a].len()];
            for ((_, around), near) in samples.iter().zip(near) {
                for &vertex in around {
                    let known = &mut of_vertices[vertex as usize];
                    *known = known.max(near);
                }
            }
            of_vertices
        })
        .collect()
}

/// Points of a surface and the vertices around them: vertices, and of a mesh with edges longer than `finest` the middles too.
fn samples(triangles: &[[u32; 3]], points: &[Vec3], finest: f64) -> Vec<(Vec3, [u32; 3])> {
    let place = |v: u32| points[v as usize];
    let mut samples: Vec<(Vec3, [u32; 3])> =
        points.iter().zip(0..).map(|(&p, vertex): (&Vec3, u32)| (p, [vertex; 3])).collect();
    let first_sides: f64 = triangles.iter().map(|&[a, b, _]| (place(b) - place(a)).norm()).sum();
    if first_sides > finest * triangles.len() as f64 {
        samples.extend(edges(triangles).iter().map(|&[a, b]| (0.5 * (place(a) + place(b)), [a, b, b])));
        samples.extend(triangles.iter().map(|&around| (around.map(place).iter().sum::<Vec3>() / 3.0, around)));
    }
    samples
}

/// How far away something is seen as near, in parts of the distance that is kept.
pub const REACH: f64 = 4.0;
/// What lies on something is a little farther away than that.
const SLACK: f64 = 1.1;

fn point(p: [f32; 3]) -> Vec3 {
    Vec3::from(p.map(f64::from))
}
