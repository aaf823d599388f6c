//! Whole steps of cloths on a device against those of the processor.

use kiln::solver::gpu::GpuBackend;
use kiln::solver::gpu::cloth_parts::LAYOUTS;

use crate::open;
use crate::parity::{agree, agrees, on_device, sheet};
use crate::support::World;

const MODELS: [&str; 3] = ["stretch_only", "grid", "midpoint"];

#[test]
fn cloths_that_are_pulled_agree() {
    // Away from each other and up, so that attachments and pins have something to do.
    let pins = "[[cloth.pins]]\nvertices = [0]\nfollow = { translate = { keys = [[0, [0, 0, 0]], [1, [0.02, 0.03, 0]]] } }\n\
                [[cloth.pins]]\nvertices = [400, 401, 402]\nfollow = { translate = { keys = [[0, [0, 0, 0]], [1, [-0.02, 0.01, 0.03]]] } }";
    for model in MODELS {
        agrees(&format!("pulled {model}"), &pinned(model, &format!("bend = 0\n{pins}")));
    }
}

/// A sheet that says itself how it is pinned.
fn pinned(model: &str, rest: &str) -> String {
    sheet(model, rest).replace("pins = [{ vertices = [0, 20] }]\n", "")
}

#[test]
fn cloths_in_wind_agree() {
    for model in MODELS {
        let text = sheet(model, "bend = 0").replace("drag = 0", "drag = 1.2");
        let wind = "[wind]\nspeed = 9\ndirection = [0.3, 1, 0.2]\nturbulence = 0.4\n[[cloth]]";
        agrees(&format!("windy {model}"), &text.replace("[[cloth]]", wind));
    }
}

#[test]
fn cloths_that_bend_agree() {
    for model in MODELS {
        for bend in ["1e-5", "3e-3"] {
            let text = sheet(model, &format!("bend = {bend}\ntransform = {{ rotate = [20, 0, 0] }}"));
            agrees(&format!("bent {model}, {bend} N m"), &text);
        }
    }
}

#[test]
fn elastic_cloths_agree() {
    for model in MODELS {
        for fabric in ["jersey", "rubber"] {
            agrees(&format!("{fabric} {model}"), &sheet(model, &format!("fabric = \"{fabric}\"")));
        }
    }
}

#[test]
fn cloths_that_are_drawn_to_their_places_agree() {
    for model in MODELS {
        let pins = "[[cloth.pins]]\nbox = { min = [-1, -1, -1], max = [0.1, 1, 1] }\nweight = 0.7\n\
                    follow = { translate = { keys = [[0, [0, 0, 0]], [1, [0, 0.05, 0]]] } }\n\
                    [[cloth.pins]]\nvertices = [20]";
        agrees(&format!("drawn {model}"), &pinned(model, &format!("bend = 0\n{pins}")));
    }
}

#[test]
fn torn_cloths_agree() {
    for model in MODELS {
        agrees(&format!("torn {model}"), &sheet(model, "bend = 0\nrest_scale = 0.7692"));
    }
}

#[test]
fn what_solvers_do_stays_on_the_processor() {
    for (model, solver) in [("grid", "direct"), ("stretch_only", "pcg"), ("midpoint", "pcg"), ("grid", "strips")] {
        let world = World::new(&sheet(model, &format!("solver = \"{solver}\"")));
        let mut backend = GpuBackend::new(&world.scene, &world.model, open(None), false).unwrap();
        assert_eq!(world.simulate_on(&mut backend, |_| ()), world.simulate(|_| ()), "{solver}");
        assert_eq!(backend.gpu().counts().dispatches, 0, "{solver}");
    }
}

#[test]
fn threads_that_conjugate_gradients_hold_agree() {
    // The tightest is pulled so hard between its pins that some steps need another turn.
    for max_stretch in [0.01, 0.001, 0.0005] {
        let text = sheet("grid", &format!("solver = \"pcg\"\nmax_stretch = {max_stretch}"));
        agrees(&format!("pcg within {max_stretch}"), &text);
    }
}

#[test]
fn numbers_that_end_are_noticed() {
    for model in MODELS {
        let mut world = World::new(&sheet(model, "bend = 0"));
        world.start.bodies[0].v[60].x = f64::NAN;
        let mut backend = GpuBackend::new(&world.scene, &world.model, open(None), false).unwrap();
        let mut broken = None;
        world.simulate_on(&mut backend, |frame| broken = frame.report.bodies[0].broken_at);
        assert!(broken.is_some(), "{model}");
        assert_eq!(backend.gpu().trouble(), None);
    }
}

#[test]
fn cloths_that_touch_agree() {
    for model in MODELS {
        let text = sheet(model, "transform = { rotate = [10, 0, 0] }")
            .replace("self_collision = false", "self_collision = true");
        agrees(&format!("touching {model}"), &text);
    }
}

/// Several sheets beside each other in a wind, each with what it has of its own. Their coordinates are exact: rounding has quads cut along other
/// diagonals, which have other masses.
fn sheets(model: &str, common: &str, own: &[&str]) -> String {
    let quads = model == "grid";
    let cloth = |(number, own): (usize, &&str)| {
        format!(
            "[[cloth]]\nname = \"sheet {number}\"\nmesh = {{ sheet = {{ size = [1, 1], vertices = [17, 17], quads = {quads} }} }}\n\
             model = \"{model}\"\nsolver = \"iterative\"\nself_collision = false\ntransform = {{ translate = [{}, 0, 0] }}\n{common}\n{own}\n",
            2 * number,
        )
    };
    let cloths: String = own.iter().enumerate().map(cloth).collect();
    let between =
        |a: usize, b: usize| format!("[[contact]]\nbetween = [\"sheet {a}\", \"sheet {b}\"]\ncollide = false\n");
    let apart: String = (0..own.len()).flat_map(|b| (0..b).map(move |a| between(a, b))).collect();
    format!(
        "[scene]\nname = \"test\"\nfps = 30\nframes = \"0-1\"\nsubsteps = 20\n\
         [wind]\nspeed = 6\ndirection = [0.3, 1, 0.2]\n{cloths}{apart}"
    )
}

/// Held exactly and moved; drawn to a place besides; held where it is.
const PINS: [&str; 3] = [
    "[[cloth.pins]]\nvertices = [0, 16]\nfollow = { translate = { keys = [[0, [0, 0, 0]], [1, [0.02, 0.03, 0]]] } }",
    "[[cloth.pins]]\nvertices = [0, 16]\n[[cloth.pins]]\nvertices = [272, 288]\nweight = 0.7",
    "[[cloth.pins]]\nvertices = [0, 16]",
];

/// Their step takes the kernels of one of them; where bending is a system whose iterations are planned from its frequencies, a few more or less.
#[track_caller]
fn takes_kernels_of_one(name: &str, text: impl Fn(&[&str]) -> String) {
    let [one, three] = [&PINS[1..2], &PINS].map(|own| on_device(&World::new(&text(own)), None).1.dispatches);
    println!("{name}: {one} kernels for one, {three} for three");
    assert!(one > 0 && three <= one + one / 20, "{name}: {one} and {three}");
}

#[test]
fn cloths_of_equal_size_are_simulated_together() {
    for model in MODELS {
        for bend in ["1e-5", "3e-3"] {
            let text = |own: &[&str]| sheets(model, &format!("bend = {bend}"), own);
            agree(&format!("three {model} that bend with {bend} N m"), &World::new(&text(&PINS)));
            takes_kernels_of_one(&format!("{model}, {bend} N m"), text);
        }
    }
}

#[test]
fn cloths_of_equal_size_keep_what_they_have_of_their_own() {
    for model in MODELS {
        // One of them is torn apart at the start, which nothing holds back while it heals.
        let mut world = World::new(&sheets(model, "bend = 0", &PINS));
        let middle = world.start.bodies[1].x[0];
        world.start.bodies[1].x.iter_mut().for_each(|x| *x = middle + (*x - middle) * 1.3);
        agree(&format!("torn and whole {model}"), &world);
        let floor = "[[collider]]\nname = \"floor\"\nshape = \"plane\"\npoint = [0, -0.004, 0]\nnormal = [0, 1, 0]\n";
        let text = |own: &[&str]| sheets(model, "bend = 1e-5", own) + floor;
        agrees(&format!("{model} that lie on a floor"), &text(&PINS));
    }
    let mut world = World::new(&sheets("stretch_only", "bend = 0", &PINS));
    world.start.bodies[1].v[60].x = f64::NAN;
    let mut backend = GpuBackend::new(&world.scene, &world.model, open(None), false).unwrap();
    let mut broken = Vec::new();
    world.simulate_on(&mut backend, |frame| {
        broken = frame.report.bodies.iter().map(|body| body.broken_at.is_some()).collect();
    });
    assert_eq!(broken, [false, true, false]);
}

#[test]
fn structs_are_laid_out_as_kernels_see_them() {
    for layout in LAYOUTS {
        let text = layout.source.full_text();
        let module = wgpu::naga::front::wgsl::parse_str(&text).unwrap();
        let found = module.types.iter().find(|(_, found)| found.name.as_deref() == Some(layout.name)).unwrap().1;
        let wgpu::naga::TypeInner::Struct { members, span } = &found.inner else {
            panic!("{layout:?} is no struct");
        };
        assert_eq!(*span as usize, layout.size, "{layout:?}");
        for (member, offset) in members.iter().zip(layout.offsets) {
            assert_eq!(member.offset as usize, *offset, "{:?} in {layout:?}", member.name);
        }
    }
}
