//! Bakes on a device against bakes on the processor, and against themselves.

use kiln::math::Vec3;
use kiln::model::{Moment, State};
use kiln::solver::device::Counts;
use kiln::solver::gpu::{GpuBackend, Limits};
use kiln::solver::{Backend, Drive};

use crate::open;
use crate::support::World;

/// How far two states are apart at most [m].
pub fn apart(a: &State, b: &State) -> f64 {
    let both = a.bodies.iter().zip(&b.bodies).flat_map(|(a, b)| a.x.iter().zip(&b.x));
    both.map(|(a, b): (&Vec3, &Vec3)| (a - b).norm()).fold(0.0, f64::max)
}

/// The size of everything at the start [m].
pub fn size(world: &World) -> f64 {
    let all = world.start.bodies.iter().flat_map(|body| &body.x);
    let (low, high) = kiln::mesh::measures::bounds(all.copied()).unwrap();
    (high - low).norm()
}

/// The end of a simulation on a device, and what it took.
pub fn on_device(world: &World, limits: Option<Limits>) -> (State, Counts) {
    let mut backend = GpuBackend::new(&world.scene, &world.model, open(limits), false).unwrap();
    let end = world.simulate_on(&mut backend, |_| ());
    assert_eq!(backend.gpu().trouble(), None);
    (end, backend.gpu().counts())
}

/// A scene of one frame with so many steps ends the same on device and processor.
#[track_caller]
pub fn agrees(name: &str, text: &str) {
    agree(name, &World::new(text));
}

/// The same for a world that is there.
#[track_caller]
pub fn agree(name: &str, world: &World) {
    let (end, counts) = on_device(world, None);
    let apart = apart(&end, &world.simulate(|_| ())) / size(world);
    println!("{name}: {apart:.1e} of its size; {counts:?}");
    assert!(apart < 1e-4, "{name}: {apart}");
    assert_eq!(on_device(world, None).0, end, "{name}: another run gives other bits");
}

/// A hanging sheet without anything to touch.
pub fn sheet(model: &str, rest: &str) -> String {
    let quads = model == "grid";
    format!(
        "[scene]\nname = \"test\"\nfps = 30\nframes = \"0-1\"\nsubsteps = 20\n[air]\ndrag = 0\n\
         [[cloth]]\nname = \"sheet\"\nmesh = {{ sheet = {{ size = [1, 1], vertices = [21, 21], quads = {quads} }} }}\nmodel = \"{model}\"\n\
         self_collision = false\npins = [{{ vertices = [0, 20] }}]\n{rest}\n"
    )
}

#[test]
fn a_hanging_sheet_agrees() {
    for model in ["stretch_only", "grid"] {
        agrees(model, &sheet(model, "bend = 0"));
    }
}

/// Nothing is sent where nothing can touch and nobody pulls, and the state comes back once a frame. Sweeps of soft bodies are looked at besides.
#[test]
fn the_state_stays_on_the_device() {
    for (name, world) in [
        ("edges", World::new(&sheet("stretch_only", "bend = 0"))),
        ("threads", World::new(&sheet("grid", "bend = 0"))),
        ("midpoints", World::new(&sheet("midpoint", "bend = 0"))),
        ("tetrahedra", World::new(&crate::tets::held_bar())),
        ("a matched shape", crate::shapes::moved_ball()),
    ] {
        let mut backend = GpuBackend::new(&world.scene, &world.model, open(None), false).unwrap();
        let mut state = world.start.clone();
        let mut counts = Vec::new();
        for frame in 0..4_u32 {
            backend.drive(Drive {
                moments: [frame, frame + 1].map(|frame| Moment::at(f64::from(frame))),
                seconds: f64::from(frame) / 30.0,
                frame_seconds: 1.0 / 30.0,
                substeps: 20,
            });
            backend.advance(&mut state);
            counts.push(backend.gpu().counts());
        }
        for pair in counts.windows(2) {
            let more = |count: fn(&Counts) -> u64| count(&pair[1]) - count(&pair[0]);
            // What begins the sweeps of a soft body, and what they are looked at for.
            let is_soft = !world.model.soft_bodies.is_empty();
            assert!(more(|c| c.uploaded_bytes) <= if is_soft { 512 } else { 0 }, "{name}: {counts:?}");
            assert!(more(|c| c.read_backs) == 1 || is_soft, "{name}: {counts:?}");
        }
    }
}

#[test]
fn small_limits_change_nothing() {
    for (name, world) in [
        ("threads", World::new(&sheet("grid", "bend = 0"))),
        ("threads that a linear system holds", World::new(&sheet("grid", "solver = \"pcg\""))),
        ("midpoints that bend", World::new(&sheet("midpoint", "bend = 3e-3"))),
        ("tetrahedra", World::new(&crate::tets::held_bar())),
        ("a matched shape", crate::shapes::moved_ball()),
    ] {
        let whole = on_device(&world, None).0;
        assert_eq!(on_device(&world, Some(Limits { groups: 8, binding: 1 << 20 })).0, whole, "{name}");
    }
}
