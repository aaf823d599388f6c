//! What scenes say about soft bodies.

use kiln::scene::{
    Body, Flesh, Lattice, LatticeSize, MapSource, MeshSource, Nearness, PinSelection, Plasticity, RenderWrite,
    SoftBody, SoftKind, VolumeParts,
};

use crate::{bad, expect, good};

/// A scene with one soft body, whose further keys start in line 7.
fn scene(lines: &str) -> String {
    let head = "[scene]\nname = \"jelly\"\nframes = \"1-10\"\n[[soft_body]]\nname = \"ball\"\n";
    format!("{head}mesh = {{ ball = {{ radius = 0.5 }} }}\n{lines}\n")
}

fn body(lines: &str) -> SoftBody {
    good(&scene(lines)).scene.soft_bodies.remove(0)
}

#[test]
fn a_name_and_a_mesh_are_enough() {
    let body = body("");
    assert_eq!((body.name.as_str(), body.kind, body.self_collision), ("ball", SoftKind::Tetrahedra, true));
    assert_eq!(body.mesh, MeshSource::Ball { radius: 0.5, vertices: 17 });
    assert_eq!((body.pins.len(), body.render_mesh.is_none(), body.stiffness_map.is_none()), (0, true, true));
    assert_eq!(body.lattice, Lattice::default());
    let Flesh { density, stiffness, damping, friction, static_friction, .. } = body.flesh;
    assert_eq!([density, stiffness, damping, friction, static_friction], [1000.0, 1e4, 0.02, 0.5, 0.5]);
    let Flesh { restitution, thickness, volume_tolerance, volume, plasticity, pressure, .. } = body.flesh;
    assert_eq!([restitution, thickness, volume_tolerance, pressure.at(3.0)], [0.0, 0.002, 0.005, 0.0]);
    assert_eq!((volume, plasticity), (VolumeParts::Cells, None));
}

#[test]
fn every_key_is_taken() {
    let body = body(
        "model = \"tetrahedra\"\nscale = 2\ntransform = { translate = [1, 2, 3], rotate = [0, 90, 0] }\ndensity = 50\nstiffness = 2e5\n\
         damping = 0.1\nfriction = 0.2\nstatic_friction = 0.3\nrestitution = 0.5\nthickness = 0.01\nself_collision = false\n\
         volume_tolerance = 0.001\nvolume = \"rings\"\npressure = { keys = [[1, 0], [5, 100]] }\n\
         plasticity = { yield = 0.1, creep = 3.0 }\nstiffness_map = { groups = { head = 3.0 } }\n\
         tetrahedra = { count = 800, density = 0.2, k1 = 0.9, k2_voxels = 0.5 }\npins = [{ sphere = { center = [0, 0, 0], radius = 1 } }]\n\
         render_mesh = { mesh = { ball = { radius = 0.5, vertices = 33 } }, write = \"beside\" }",
    );
    assert_eq!((body.placement.scale, body.placement.translate.z, body.placement.rotate.y), (2.0, 3.0, 90.0));
    let flesh = &body.flesh;
    assert_eq!([flesh.density, flesh.stiffness, flesh.damping], [50.0, 2e5, 0.1]);
    assert_eq!([flesh.friction, flesh.static_friction, flesh.restitution, flesh.thickness], [0.2, 0.3, 0.5, 0.01]);
    assert_eq!((flesh.volume_tolerance, flesh.volume, body.self_collision), (0.001, VolumeParts::Rings, false));
    assert_eq!([1.0, 3.0, 9.0].map(|frame| flesh.pressure.at(frame)), [0.0, 50.0, 100.0]);
    assert_eq!(flesh.plasticity, Some(Plasticity { yields_at: 0.1, creep: 3.0 }));
    assert!(matches!(&body.stiffness_map, Some(MapSource::Groups(groups)) if groups["head"] == 3.0));
    let Lattice { size, density, k1, k2 } = body.lattice;
    assert_eq!((size, density), (LatticeSize::Count(800), 0.2));
    assert_eq!((k1, k2), (Nearness::Probability(0.9), Nearness::Voxels(0.5)));
    assert!(matches!(body.pins[0].select, PinSelection::Sphere { radius: 1.0, .. }));
    let render = body.render_mesh.unwrap();
    assert_eq!((render.write, render.placement.scale), (RenderWrite::Beside, 2.0));
    assert_eq!(render.mesh, MeshSource::Ball { radius: 0.5, vertices: 33 });
}

#[test]
fn made_bodies_have_sizes() {
    let mesh = |text: &str| format!("[scene]\nname = \"a\"\nframes = 1\n[[soft_body]]\nname = \"b\"\nmesh = {text}\n");
    let cuboid = good(&mesh("{ box = { size = [1, 2, 3] } }")).scene.soft_bodies.remove(0);
    assert_eq!(cuboid.mesh, MeshSource::Cuboid { size: [1.0, 2.0, 3.0], vertices: [11; 3] });
    let sphere = good(&mesh("{ sphere = { radius = 0.5, rings = 39, segments = 40 } }")).scene.soft_bodies.remove(0);
    assert_eq!(sphere.mesh, MeshSource::Sphere { radius: 0.5, rings: 39, segments: 40 });
    let torus =
        good(&mesh("{ torus = { radius = 0.5, tube = 0.2, around = 26, across = 15 } }")).scene.soft_bodies.remove(0);
    assert_eq!(torus.mesh, MeshSource::Torus { radius: 0.5, tube: 0.2, around: 26, across: 15 });
    for (text, message) in [
        ("{ box = { size = [1, 0, 1] } }", "6:29 the size of a box must be more than 0"),
        (
            "{ box = { size = [1, 1, 1], vertices = [2, 1, 2] } }",
            "6:51 a box needs at least 2 vertices along each side",
        ),
        ("{ ball = { radius = 1, vertices = 1 } }", "6:42 a ball needs at least 2 vertices along each side"),
        ("{ ball = { radius = 0 } }", "6:28 0 is too small, it must be more than 0"),
        (
            "{ ball = { radius = 1, vertices = 100000 } }",
            "6:17 60000000000 vertices are more than the 4000000 that fit a bake",
        ),
        ("{ sphere = { radius = 0, rings = 3, segments = 4 } }", "6:30 0 is too small, it must be more than 0"),
        ("{ sphere = { radius = 1, rings = 0, segments = 4 } }", "6:41 0 is too small, the least is 1"),
        ("{ sphere = { radius = 1, rings = 3, segments = 2 } }", "6:55 2 is too small, the least is 3"),
        (
            "{ sphere = { radius = 1, rings = 2000, segments = 2000 } }",
            "6:19 4000002 vertices are more than the 4000000 that fit a bake",
        ),
        (
            "{ torus = { radius = 0.5, tube = 0.5, around = 9, across = 9 } }",
            "6:41 the tube 0.5 is not thinner than the radius 0.5, so the torus has no hole",
        ),
        ("{ torus = { radius = 1, tube = 0, around = 9, across = 9 } }", "6:39 0 is too small, it must be more than 0"),
        (
            "{ torus = { radius = -1, tube = 0.5, around = 9, across = 9 } }",
            "6:29 -1 is too small, it must be more than 0",
        ),
        ("{ torus = { radius = 1, tube = 0.2, around = 2, across = 9 } }", "6:53 2 is too small, the least is 3"),
        ("{ torus = { radius = 1, tube = 0.2, around = 9, across = 2 } }", "6:65 2 is too small, the least is 3"),
        (
            "{ torus = { radius = 1, tube = 0.2, around = 4294967295, across = 4294967295 } }",
            "6:18 18446744065119617025 vertices are more than the 4000000 that fit a bake",
        ),
    ] {
        expect(&bad(&mesh(text)), &[(message, "")]);
    }
}

#[test]
fn each_mistake_is_named() {
    let cases = [
        ("model = \"jelly\"", "7:9 expected one of `tetrahedra`, `shape_matching`, `auto`, found `jelly`", ""),
        ("density = 0", "7:11 0 is too small, it must be more than 0", "water"),
        ("stiffness = -1", "7:13 -1 is too small, the least is 0", "Young"),
        ("damping = -1", "7:11 -1 is too small, the least is 0", "[s]"),
        ("volume_tolerance = 0", "7:20 0 is too small, it must be more than 0", "half a percent"),
        ("volume = \"cell\"", "7:10 expected one of `cells`, `rings`, found `cell`", "did you mean `cells`?"),
        ("pressure = -5", "7:12 this must not be negative", ""),
        ("stiffness = 0\npressure = 5", "8:12 without stiffness nothing holds the pressure inside", "`stiffness`"),
        ("friction = 0.5\nstatic_friction = 0.4", "8:19 the static friction 0.4 is below the friction 0.5", "raise it"),
        ("plasticity = { yield = -0.1 }", "7:24 -0.1 is too small, the least is 0", ""),
        ("plasticity = { creep = 1 }", "7:14 the key `yield` is missing", "taken back"),
        ("tetrahedra = { cell = 0 }", "7:23 0 is too small, it must be more than 0", "five tetrahedra"),
        ("tetrahedra = { cell = 0.1, count = 9 }", "7:14 `cell` and `count` both say how fine it is", "keep one"),
        ("tetrahedra = { k1 = 0.5, k1_voxels = 1 }", "7:14 `k1` and `k1_voxels` say the same", "keep one"),
        ("tetrahedra = { density = 2 }", "7:26 2 is too large, the most is 1", ""),
        ("tetrahedra = { cells = 0.1 }", "7:16 unknown key `cells`", "did you mean `cell`?"),
        ("fabric = \"silk\"", "7:1 unknown key `fabric`", ""),
        ("stiffness_map = { groups = { a = -1 } }", "7:34 the factor -1 is too small, it must be at least 0", ""),
    ];
    for (lines, message, help) in cases {
        expect(&bad(&scene(lines)), &[(message, help)]);
    }
}

#[test]
fn pairs_and_pins_know_soft_bodies() {
    let floor = "[[collider]]\nname = \"floor\"\nshape = \"plane\"\npoint = [0, 0, 0]\nnormal = [0, 1, 0]\n";
    let with = |pair: &str, rest: &str| scene(&format!("{floor}[[contact]]\nbetween = {pair}\n{rest}"));
    let pairs = good(&with("[\"floor\", \"ball\"]", "friction = 0.1")).scene.contacts;
    assert_eq!(pairs[0].between, [Body::SoftBody(0), Body::Collider(0)]);
    let resolved = good(&with("[\"ball\", \"ball\"]", "collide = false")).scene;
    assert!(!resolved.soft_bodies[0].self_collision);
    expect(
        &bad(&with("[\"ball\", \"bal\"]", "collide = false")),
        &[("13:20 there is no object `bal`", "did you mean `ball`?")],
    );
    expect(
        &bad(&with("[\"floor\", \"floor\"]", "collide = false")),
        &[("13:11 `floor` is a collider, and colliders do not collide with themselves", "cloth or soft body")],
    );
    expect(
        &bad(&scene(
            "pins = [{ boundary = 0, follow = \"flor\" }]\n[[collider]]\nname = \"floor\"\nshape = \"plane\"\npoint = [0, 0, 0]\nnormal = [0, 1, 0]",
        )),
        &[("7:34 there is no collider `flor`", "did you mean `floor`?")],
    );
}

#[test]
fn names_are_shared_with_cloths_and_colliders() {
    let twice = "[[cloth]]\nname = \"ball\"\nmesh = { sheet = { vertices = [3, 3], size = [1, 1] } }";
    expect(&bad(&scene(twice)), &[("5:8 `ball` is the name of `cloth[0]` already", "its own name")]);
    let rendered = "render_mesh = { mesh = { ball = { radius = 1 } }, write = \"beside\" }\n[[soft_body]]\nname = \"ball_render\"\n\
                    mesh = { ball = { radius = 1 } }";
    expect(&bad(&scene(rendered)), &[("7:15 `ball_render` is the name of `soft_body[1]` already", "its own name")]);
}

#[test]
fn how_shapes_are_matched_can_be_typed() {
    let usual = body("").matching;
    assert_eq!((usual.omega, usual.stiffness, usual.damping, usual.keep_volume), (3, 0.9, 300.0, true));
    assert_eq!([usual.alpha, usual.beta, usual.s_min, usual.s_max], [0.2, 0.1, 0.01, 0.1]);
    let typed = body(
        "model = \"shape_matching\"\nstart_scale = [1, 0, -1]\n\
         shape_matching = { omega = 2, stiffness = 1, damping = 0, keep_volume = false, alpha = 1, beta = 0, s_min = 0.2, s_max = 0.3 }",
    );
    assert_eq!((typed.kind, typed.start_scale), (SoftKind::ShapeMatching, [1.0, 0.0, -1.0]));
    let matching = typed.matching;
    assert_eq!((matching.omega, matching.stiffness, matching.damping, matching.keep_volume), (2, 1.0, 0.0, false));
    assert_eq!([matching.alpha, matching.beta, matching.s_min, matching.s_max], [1.0, 0.0, 0.2, 0.3]);
    assert_eq!(body("model = \"auto\"").kind, SoftKind::Auto);
    for (line, words) in [
        ("shape_matching = { omega = 0 }", "omega"),
        ("shape_matching = { stiffness = 1.5 }", "stiffness"),
        ("shape_matching = { alpha = -0.1 }", "alpha"),
        ("shape_matching = { rings = 2 }", "rings"),
        ("model = \"jelly\"", "jelly"),
    ] {
        let problems = format!("{:?}", bad(&scene(line)).problems);
        assert!(problems.contains(words), "{line}: {problems}");
    }
}
