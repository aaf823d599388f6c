//! Animated meshes made by hand: bind poses, the way out of them, what moves together.

use kiln::math::Vec3;
use kiln::math::affine::{Affine, Local};
use kiln::mesh::animated::{AnimatedMesh, BoundVertex};
use kiln::mesh::keys::{Interpolation, Keys};
use kiln::mesh::rig::{Clip, Node, Rig, Skin, Target, Track};
use nalgebra::UnitQuaternion;

use crate::Random;

const JOINTS: usize = 12;

/// A random tree of joints, bound somewhere else than it rests, and a clip that turns all of them.
fn rig(random: &mut Random) -> Rig {
    let local = |random: &mut Random| {
        let scale = Vec3::from_fn(|_, _| random.within(0.7, 1.4));
        Local::new(random.vector(), UnitQuaternion::from_scaled_axis(random.vector()), scale)
    };
    let parent = |n: usize, random: &mut Random| (n > 0).then(|| random.below(n) as u32);
    let nodes: Vec<Node> = (0..JOINTS).map(|n| Node { parent: parent(n, random), rest: local(random) }).collect();
    let joints = (0..JOINTS as u32).map(|n| (n, local(random).affine())).collect();
    let turns = |random: &mut Random| {
        let values = (0..3).flat_map(|_| UnitQuaternion::from_scaled_axis(random.vector()).coords.as_slice().to_vec());
        Keys::new(Interpolation::Linear, vec![1.0, 2.0, 3.0], values.collect(), 4).unwrap()
    };
    let tracks = (0..JOINTS as u32).map(|n| Track { target: Target::Rotation(n), keys: turns(random) }).collect();
    let skins = vec![Skin { joints, frame: local(random).affine() }];
    let clips = vec![Clip { name: "turn".into(), start: 1.0, length: 2.0, tracks }];
    Rig { nodes, mesh_nodes: Vec::new(), skins, morph_weights: vec![0.25, 0.0], clips }
}

fn vertices(random: &mut Random, count: usize) -> Vec<BoundVertex> {
    let vertex = |random: &mut Random| BoundVertex {
        position: random.vector(),
        movers: (0..6).map(|_| (random.below(JOINTS) as u32, random.within(0.0, 1.0))).collect(),
        morphs: (0..2).map(|n| (n, random.vector())).collect(),
    };
    (0..count).map(|_| vertex(random)).collect()
}

#[test]
fn the_bind_pose_is_the_mesh_as_modelled() {
    let mut random = Random(4);
    for _ in 0..20 {
        let rig = rig(&mut random);
        let bound = vertices(&mut random, 50);
        let animated = AnimatedMesh::new(rig.clone(), bound.clone());
        let at = |dressed: f64| animated.pose(0, 0.7, dressed);
        let (bind, almost, half) = (at(0.0), at(1e-9), at(0.5));
        let mut farthest = 0.0_f64;
        for (v, vertex) in bound.iter().enumerate() {
            let expected = rig.skins[0].frame.apply(vertex.position + vertex.morphs[0].1 * 0.25);
            assert!((animated.vertex(&bind, v) - expected).norm() < 1e-12);
            // The joints as they were bound, through all of their parents, say the same.
            assert!((animated.vertex(&almost, v) - expected).norm() < 1e-6);
            farthest = farthest.max((animated.vertex(&half, v) - expected).norm());
        }
        assert!(farthest > 0.1);
    }
}

#[test]
fn weights_are_brought_to_one_and_joints_named_twice_count_twice() {
    let mut random = Random(5);
    let rig = rig(&mut random);
    let position = random.vector();
    let vertex = |movers: &[(u32, f64)]| BoundVertex { position, movers: movers.to_vec(), morphs: Vec::new() };
    let bound = vec![
        vertex(&[(3, 0.25), (5, 0.75)]),
        vertex(&[(5, 3.0), (3, 1.0)]),
        vertex(&[(5, 1.5), (3, 1.0), (7, 0.0), (5, 1.5)]),
        vertex(&[(3, 1.0)]),
        vertex(&[(3, 0.0), (5, 0.0)]),
        vertex(&[(5, 0.75), (3, 0.2)]),
    ];
    let animated = AnimatedMesh::new(rig, bound);
    let pose = animated.pose(0, 1.3, 1.0);
    let places: Vec<Vec3> = (0..6).map(|v| animated.vertex(&pose, v)).collect();
    assert!((places[0] - places[1]).norm() < 1e-15 && (places[0] - places[2]).norm() < 1e-15);
    assert!((places[3] - places[4]).norm() < 1e-15 && (places[0] - places[5]).norm() > 1e-6);
    let bindings: Vec<u64> = (0..6).map(|v| animated.binding(v)).collect();
    assert!(bindings[0] == bindings[1] && bindings[1] == bindings[2] && bindings[3] == bindings[4]);
    assert!(bindings[0] != bindings[3] && bindings[0] != bindings[5]);
}

#[test]
fn morphs_are_part_of_a_binding() {
    let vertex =
        |morphs: &[(u32, Vec3)]| BoundVertex { position: Vec3::x(), movers: vec![(0, 1.0)], morphs: morphs.to_vec() };
    let mut random = Random(6);
    let bound =
        [&[][..], &[(0, Vec3::zeros())], &[(0, Vec3::y())], &[(1, Vec3::y())], &[(1, Vec3::y())]].map(vertex).to_vec();
    let animated = AnimatedMesh::new(rig(&mut random), bound);
    let bindings: Vec<u64> = (0..5).map(|v| animated.binding(v)).collect();
    assert!(bindings[0] == bindings[1] && bindings[3] == bindings[4]);
    assert!(bindings[0] != bindings[2] && bindings[2] != bindings[3]);
}

#[test]
fn a_placement_comes_last_and_times_count_from_the_first_key() {
    let mut random = Random(7);
    let placement = Affine { linear: kiln::math::Mat3::identity() * 0.01, shift: Vec3::new(1.0, 2.0, 3.0) };
    let animated = AnimatedMesh::new(rig(&mut random), vertices(&mut random, 20));
    let placed = animated.clone().placed(&placement);
    for (seconds, dressed) in [(0.0, 0.0), (0.4, 0.3), (1.1, 1.0)] {
        let (here, there) = (animated.pose(0, seconds, dressed), placed.pose(0, seconds, dressed));
        for v in 0..20 {
            assert!((placed.vertex(&there, v) - placement.apply(animated.vertex(&here, v))).norm() < 1e-12);
        }
    }
    assert_eq!(animated.clips(), [("turn", 2.0)]);
    let at = |seconds: f64| animated.vertex(&animated.pose(0, seconds, 1.0), 3);
    assert_eq!((at(-1.0), at(5.0)), (at(0.0), at(2.0)));
    assert!((at(0.0) - at(0.1)).norm() > 1e-3 && (at(1.9) - at(2.0)).norm() > 1e-3);
}

#[test]
fn singular_bind_matrices_still_give_the_bind_pose() {
    let mut random = Random(8);
    let mut rig = rig(&mut random);
    rig.skins[0].joints[4].1.linear = kiln::math::Mat3::zeros();
    let bound = vertices(&mut random, 50);
    let animated = AnimatedMesh::new(rig.clone(), bound.clone());
    let (bind, half) = (animated.pose(0, 0.0, 0.0), animated.pose(0, 0.0, 0.5));
    for (v, vertex) in bound.iter().enumerate() {
        let expected = rig.skins[0].frame.apply(vertex.position + vertex.morphs[0].1 * 0.25);
        assert!((animated.vertex(&bind, v) - expected).norm() < 1e-12);
        assert!(animated.vertex(&half, v).iter().all(|x| x.is_finite()));
    }
}
