//! `--set PATH=VALUE`.

use kiln::math::Vec3;
use kiln::scene::{SolverChoice, Substeps, UpAxis};

use crate::{SHORT, expect, plain, read_set};

const BALL: &str = "[[collider]]\nname = \"big.ball\"\nshape = \"sphere\"\ncenter = [0, 0, 0]\nradius = 1\n";

#[test]
fn values_are_set_by_table_name_and_key() {
    let text = format!("{SHORT}pins = [{{ boundary = 0 }}]\n{BALL}");
    let sets = [
        "wind.speed=4",
        "wind.gust={ keys = [[1, 0], [2, 1]] }",
        "cloth.cloth.bend=0.5",
        "cloth.0.density = 0.25",
        "cloth.cloth.pins.0.boundary=1",
        "collider.big.ball.transform.translate=[0,1,0]",
        "collider.big.ball.radius=2",
        "output.up=z",
        "cloth.cloth.solver=pcg",
        "cloth.cloth.bend_map.groups.hem=2",
        "scene.fps=30000/1001",
        "scene.frames=1-20x2",
        "scene.substeps=4",
        "scene.substeps=5",
    ];
    let scene = read_set(&text, &sets).unwrap_or_else(|failure| panic!("{}", plain(&failure))).scene;
    assert_eq!((scene.wind.speed.at(1.0), scene.wind.gust.at(2.0)), (4.0, 1.0));
    assert_eq!((scene.cloths[0].fabric.bend, scene.cloths[0].fabric.density), (0.5, 0.25));
    assert_eq!(scene.cloths[0].pins[0].select, kiln::scene::PinSelection::Boundary(1));
    assert_eq!(scene.colliders[0].motion.translate.at(0.0), Vec3::y());
    assert_eq!(scene.output.up, UpAxis::Z);
    assert_eq!(scene.cloths[0].solver, SolverChoice::Pcg);
    assert!(scene.cloths[0].maps.bend.is_some());
    assert_eq!(scene.fps.denominator, 1001);
    assert_eq!(scene.written_frames.len(), 10);
    assert_eq!(scene.substeps, Substeps::Fixed(5));
}

#[test]
fn a_name_goes_before_a_number() {
    let text = format!("{SHORT}[[cloth]]\nname = \"0\"\nmesh = {{ sheet = {{ vertices = [5, 5], size = [1, 1] }} }}\n");
    let scene = read_set(&text, &["cloth.0.bend=7"]).unwrap().scene;
    assert_eq!(scene.cloths[1].fabric.bend, 7.0);
}

#[test]
fn mistakes_point_into_the_argument() {
    let cases = [
        ("nothing", "1:1 there is no `=` in this", "PATH=VALUE"),
        ("", "1:1 there is no `=` in this", "PATH=VALUE"),
        ("=4", "1:1 this is no key of a scene", "PATH=VALUE"),
        ("wind..speed=4", "1:1 this is no key of a scene", "PATH=VALUE"),
        ("wind.sped=4", "1:6 unknown key `sped`", "did you mean `speed`?"),
        ("wind.speed = fast", "1:14 expected a number or a table, found a string", ""),
        ("wind.speed=-4", "1:12 this must not be negative", ""),
        ("wind.speed=nan", "1:12 numbers must be finite", ""),
        ("wind.speed={ keys = [[1, 'a']] }", "1:26 expected a number, found a string", ""),
        ("cloth.cloht.bend=1", "1:7 nothing in `cloth` is called `cloht`", "did you mean `cloth`?"),
        ("cloth.1.bend=1", "1:7 nothing in `cloth` is called `1`", "`cloth`"),
        ("scene.name.first=1", "1:12 `scene.name` is a string, not a table", ""),
        ("output.up=x", "1:11 expected one of `y`, `z`, found `x`", ""),
        ("scene.gravity=[0,1", "1:15 expected an array of 3 or a table, found a string", "Gravity"),
        (
            "cloth.cloth.solver=pcgs",
            "1:20 expected one of `auto`, `iterative`, `direct`, `strips`, `pcg`, found `pcgs`",
            "did you mean `pcg`?",
        ),
        ("clth.cloth.bend=1", "1:1 unknown key `clth`", "did you mean `cloth`?"),
    ];
    for (argument, summary, help) in cases {
        let failure = read_set(SHORT, &[argument]).expect_err(argument);
        expect(&failure, &[(&format!("--set {summary}"), help)]);
    }
    let failure = read_set(SHORT, &["wind.sped=4"]).unwrap_err();
    assert!(plain(&failure).contains(" --> --set:1:6\n  |\n1 | wind.sped=4\n  |      ^^^^\n"), "{}", plain(&failure));
}
