//! What scenes say about how objects touch.

use kiln::scene::{Body, ContactPair, MeshSides, Shape};

use crate::{SHORT, bad, expect, good};

/// Two cloths and two colliders; entries about pairs start in line 21.
fn scene(entries: &str) -> String {
    let objects = r#"[[cloth]]
name = "coat"
mesh = { sheet = { vertices = [5, 5], size = [1.0, 1.0] } }
friction = 0.9
[[collider]]
name = "floor"
shape = "plane"
point = [0, 0, 0]
normal = [0, 1, 0]
[[collider]]
name = "ball"
shape = "sphere"
center = [0, 0, 0]
radius = 1
"#;
    format!("{SHORT}{objects}{entries}\n")
}

fn contacts(entries: &str) -> Vec<ContactPair> {
    good(&scene(entries)).scene.contacts
}

#[test]
fn each_mistake_about_a_pair_is_named() {
    let between = |rest: &str| format!("[[contact]]\nbetween = [\"cloth\", \"coat\"]\n{rest}");
    let cases = [
        // What the schema knows.
        ("[[contact]]\ncollide = false".to_owned(), "21:1 the key `between` is missing", "Names of two objects"),
        ("[contact]".to_owned(), "21:1 expected an array, found a table", "one [[contact]] each"),
        ("[[contact]]\nbetween = [\"cloth\"]\ncollide = false".to_owned(), "22:11 expected 2 values, found 1", "Names of two"),
        (between("friction = -1"), "23:12 -1 is too small, the least is 0", "instead of the mean"),
        (between("static_friction = -1"), "23:19 -1 is too small, the least is 0", ""),
        (between("thickness = -0.001"), "23:13 -0.001 is too small, the least is 0", "[m]"),
        (between("restitution = 1.5"), "23:15 1.5 is too large, the most is 1", "product"),
        (between("restitution = -0.5"), "23:15 -0.5 is too small, the least is 0", ""),
        (between("colide = false"), "23:1 unknown key `colide`", "did you mean `collide`?"),
        // What it does not.
        (between(""), "21:1 this entry says nothing about its pair", "`collide = false`"),
        (
            between("collide = false\nfriction = 1"),
            "24:1 `friction` has no meaning for objects that pass through each other",
            "remove it",
        ),
        (
            between("collide = false\nthickness = 1"),
            "24:1 `thickness` has no meaning for objects that pass through each other",
            "remove it",
        ),
        (
            between("friction = 0.5\nstatic_friction = 0.4"),
            "24:19 the static friction 0.4 is below the friction 0.500",
            "raise it",
        ),
        (between("static_friction = 0.5"), "23:19 the static friction 0.5 is below the friction 0.600 of both", "`friction` here"),
        (
            "[[contact]]\nbetween = [\"cloth\", \"coart\"]\ncollide = false".to_owned(),
            "22:21 there is no object `coart`",
            "did you mean `coat`?",
        ),
        (
            "[[contact]]\nbetween = [\"xyz\", \"coat\"]\ncollide = false".to_owned(),
            "22:12 there is no object `xyz`",
            "`cloth`, `coat`, `floor`, `ball`",
        ),
        (
            "[[contact]]\nbetween = [\"floor\", \"ball\"]\ncollide = false".to_owned(),
            "22:11 `floor` and `ball` are colliders, and those do not collide with each other",
            "at least one cloth",
        ),
        (
            "[[contact]]\nbetween = [\"ball\", \"ball\"]\ncollide = false".to_owned(),
            "22:11 `ball` is a collider, and colliders do not collide with themselves",
            "at least one cloth",
        ),
        (
            between("collide = false\n[[contact]]\nbetween = [\"coat\", \"cloth\"]\nfriction = 1"),
            "25:11 `coat` and `cloth` are the pair of `contact[0]` already",
            "one entry",
        ),
        (
            "[[contact]]\nbetween = [\"coat\", \"coat\"]\nfriction = 1\n[[contact]]\nbetween = [\"coat\", \"coat\"]\nfriction = 1".to_owned(),
            "25:11 `coat` with itself is the pair of `contact[0]` already",
            "one entry",
        ),
    ];
    for (entries, problem, help) in cases {
        expect(&bad(&scene(&entries)), &[(problem, help)]);
    }
}

#[test]
fn an_entry_and_self_collision_must_not_say_the_opposite() {
    let entry =
        |typed: &str, rest: &str| format!("{SHORT}{typed}\n[[contact]]\nbetween = [\"cloth\", \"cloth\"]\n{rest}\n");
    for (typed, rest, problem) in [
        ("self_collision = true", "collide = false", "10:11 `self_collision = true` of `cloth` says the opposite"),
        ("self_collision = false", "collide = true", "10:11 `self_collision = false` of `cloth` says the opposite"),
        ("self_collision = false", "thickness = 0.01", "9:11 `self_collision = false` of `cloth` says the opposite"),
    ] {
        expect(&bad(&entry(typed, rest)), &[(problem, "keep one")]);
    }
    for (typed, rest, collides) in [
        ("", "collide = false", false),
        ("", "friction = 0.1", true),
        ("self_collision = false", "collide = false", false),
        ("self_collision = true", "collide = true", true),
    ] {
        assert_eq!(good(&entry(typed, rest)).scene.cloths[0].self_collision, collides, "{typed} {rest}");
    }
}

#[test]
fn pairs_keep_what_they_say() {
    assert_eq!(contacts(""), []);
    let plain = ContactPair {
        between: [Body::Cloth(0), Body::Collider(1)],
        collide: true,
        friction: None,
        static_friction: None,
        thickness: None,
        restitution: None,
    };
    let found = contacts(
        "[[contact]]\nbetween = [\"ball\", \"cloth\"]\nthickness = 0.004\nrestitution = 0.2\n\
         [[contact]]\nbetween = [\"coat\", \"cloth\"]\ncollide = false\n\
         [[contact]]\nbetween = [\"coat\", \"coat\"]\nfriction = 0.1\nstatic_friction = 0.15\n\
         [[contact]]\nbetween = [\"coat\", \"floor\"]\nfriction = 0",
    );
    let expected = [
        ContactPair { thickness: Some(0.004), restitution: Some(0.2), ..plain.clone() },
        ContactPair { between: [Body::Cloth(0), Body::Cloth(1)], collide: false, ..plain.clone() },
        ContactPair {
            between: [Body::Cloth(1), Body::Cloth(1)],
            friction: Some(0.1),
            static_friction: Some(0.15),
            ..plain.clone()
        },
        ContactPair { between: [Body::Cloth(1), Body::Collider(0)], friction: Some(0.0), ..plain },
    ];
    assert_eq!(found, expected);
}

#[test]
fn objects_have_friction_and_restitution_of_their_own() {
    let text = |cloth: &str, collider: &str| {
        format!(
            "{SHORT}{cloth}\n[[collider]]\nname = \"floor\"\nshape = \"plane\"\npoint = [0, 0, 0]\nnormal = [0, 1, 0]\n{collider}\n"
        )
    };
    let scene = good(&text("", "friction = { keys = [[1, 0.1], [2, 0.9]] }")).scene;
    let (cloth, floor) = (&scene.cloths[0], &scene.colliders[0]);
    assert_eq!((cloth.fabric.static_friction, cloth.fabric.restitution, cloth.layer), (None, 0.0, 0));
    assert_eq!((floor.static_friction.at(1.5), floor.restitution), (0.5, 0.0));

    let scene = good(&text(
        "static_friction = 0.8\nrestitution = 0.5\nlayer = -2",
        "static_friction = { keys = [[1, 0.5], [9, 0.7]] }\nrestitution = 1",
    ))
    .scene;
    let (cloth, floor) = (&scene.cloths[0], &scene.colliders[0]);
    assert_eq!((cloth.fabric.static_friction, cloth.fabric.restitution, cloth.layer), (Some(0.8), 0.5, -2));
    assert_eq!((floor.static_friction.at(9.0), floor.friction.at(9.0), floor.restitution), (0.7, 0.5, 1.0));

    for (cloth, collider, problem, help) in [
        ("static_friction = 0.3", "", "7:19 the static friction 0.3 is below the friction 0.4", "raise it"),
        ("restitution = 2", "", "7:15 2 is too large, the most is 1", "bounces"),
        ("layer = 0.5", "", "7:9 expected a whole number, found a number with a fraction", "worn outside"),
        ("layer = 5000000000", "", "7:9 5000000000 is too large, the most is 1000", ""),
        ("", "static_friction = 0.3", "13:19 the static friction 0.3 is below the friction 0.5", "raise it"),
        ("", "static_friction = -1", "13:19 this must not be negative", ""),
        (
            "",
            "static_friction = { keys = [[1, 0.6], [9, 0.2]] }",
            "13:19 the static friction 0.2 is below the friction 0.5 at frame 9",
            "raise it",
        ),
        ("", "restitution = -1", "13:15 -1 is too small, the least is 0", ""),
        ("", "sides = \"two\"", "13:1 `sides` does not belong to a plane", "`point`, `normal`"),
    ] {
        expect(&bad(&text(cloth, collider)), &[(problem, help)]);
    }
}

#[test]
fn meshes_have_sides() {
    let sides = |typed: &str| {
        let text = format!(
            "{SHORT}[[collider]]\nname = \"room\"\nshape = \"mesh\"\nmesh.disc = {{ radius = 1, inner = 1, rim = 5 }}\n{typed}\n"
        );
        match &good(&text).scene.colliders[0].shape {
            Shape::Mesh { sides, .. } => *sides,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(sides(""), MeshSides::Auto);
    assert_eq!(sides("sides = \"auto\""), MeshSides::Auto);
    assert_eq!(sides("sides = \"one\""), MeshSides::One);
    assert_eq!(sides("sides = \"two\""), MeshSides::Two);
}
