//! Edges, who borders whom, and the loops of a boundary.

use kiln::mesh::topology::Topology;

use crate::Mesh;

#[test]
fn every_edge_stands_once_with_its_triangles() {
    for mesh in [Mesh::sheet(5, 4, 1.0, 1.0), Mesh::disc(1.0, 40, 12), Mesh::icosphere(1)] {
        let topology = &mesh.topology;
        assert!(topology.edges.windows(2).all(|pair| pair[0] < pair[1]));
        for (number, [a, b]) in topology.edges.iter().enumerate() {
            let brute: Vec<u32> = (0..mesh.triangles.len() as u32)
                .filter(|t| mesh.triangles[*t as usize].contains(a) && mesh.triangles[*t as usize].contains(b))
                .collect();
            assert!(a < b);
            assert_eq!(topology.edge_triangles[number], brute);
        }
        for (corners, edges) in mesh.triangles.iter().zip(&topology.triangle_edges) {
            for k in 0..3 {
                let [a, b] = topology.edges[edges[k] as usize];
                assert!(corners.contains(&a) && corners.contains(&b) && a != corners[k] && b != corners[k]);
            }
        }
    }
}

#[test]
fn euler_counts_hold() {
    for (mesh, characteristic) in [(Mesh::sheet(6, 6, 1.0, 1.0), 1), (Mesh::icosphere(2), 2)] {
        let [v, e, f] = [mesh.positions.len(), mesh.topology.edges.len(), mesh.triangles.len()].map(|n| n as i64);
        assert_eq!(v - e + f, characteristic);
    }
}

#[test]
fn the_rim_of_a_sheet_is_one_loop_and_a_closed_mesh_has_none() {
    let loops = Mesh::sheet(5, 4, 1.0, 1.0).topology.boundary_loops();
    assert_eq!(loops.iter().map(Vec::len).collect::<Vec<_>>(), [14]);
    let walk = &loops[0];
    let mesh = Mesh::sheet(5, 4, 1.0, 1.0);
    for (a, b) in walk.iter().zip(walk.iter().cycle().skip(1)) {
        let edge = mesh.topology.edges.iter().position(|e| *e == [*a.min(b), *a.max(b)]).unwrap();
        assert_eq!(mesh.topology.edge_triangles[edge].len(), 1);
    }
    assert!(Mesh::icosphere(1).topology.boundary_loops().is_empty());
}

#[test]
fn a_ring_has_two_loops_the_longer_one_first() {
    // A square ring: outer corners 0-7, inner ones 8-11.
    let quads: [[u32; 4]; 4] = [[0, 1, 9, 8], [1, 2, 10, 9], [2, 3, 11, 10], [3, 0, 8, 11]];
    let mut triangles: Vec<[u32; 3]> = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    triangles.push([1, 0, 4]); // one more outside, so that the outer loop is longer
    let loops = Topology::build(&triangles).boundary_loops();
    assert_eq!(loops.iter().map(Vec::len).collect::<Vec<_>>(), [5, 4]);
    assert!(loops[1].iter().all(|v| *v >= 8));
}

#[test]
fn loops_that_touch_in_a_vertex_are_two_loops() {
    for triangles in [[[0, 1, 2], [2, 3, 4]], [[0, 1, 2], [0, 3, 4]], [[0, 1, 4], [2, 3, 4]], [[0, 3, 2], [1, 4, 3]]] {
        let loops = Topology::build(&triangles).boundary_loops();
        assert_eq!(loops.iter().map(Vec::len).collect::<Vec<_>>(), [3, 3], "{triangles:?}: {loops:?}");
        for (walk, triangle) in loops.iter().zip(triangles) {
            assert!(triangle.iter().all(|v| walk.contains(v)), "{triangles:?}: {loops:?}");
        }
    }
}

#[test]
fn an_edge_of_three_triangles_is_no_boundary() {
    let topology = Topology::build(&[[0, 1, 2], [0, 1, 3], [1, 0, 4]]);
    assert_eq!(topology.edge_triangles[0], [0, 1, 2]);
    assert!(topology.boundary_edges().all(|edge| edge != 0));
    assert_eq!(topology.boundary_edges().count(), 6);
    assert!(!topology.boundary_loops().is_empty());
}
