//! Skirts on the walking figure: at four times its speed, in two layers, and one that is too tight for its steps.

use std::path::Path;

use kiln::bake::frame_loop::FrameLoop;
use kiln::cache::frames_log::FrameRecord;
use kiln::math::Vec3;
use kiln::model::Moment;

use crate::crossings::{self, Crossings, Mesh};
use crate::support::{World, full};

/// Where the figure stands.
const AXIS: [f64; 2] = [0.0, 0.03];

/// A mesh of the repository.
fn mesh_file(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("meshes").join(name).to_str().unwrap().to_owned()
}

/// The flared skirt, wider: about the figure's axis by this factor.
fn wider_skirt(folder: &Path, factor: f64) -> String {
    let text = std::fs::read_to_string(mesh_file("skirt_flared.obj")).unwrap();
    let wider = |line: &str| match line.strip_prefix("v ") {
        Some(numbers) => {
            let p: Vec<f64> = numbers.split_whitespace().map(|number| number.parse().unwrap()).collect();
            let [x, z] = [p[0], p[2]];
            let away = |x: f64, axis: f64| axis + (x - axis) * factor;
            format!("v {} {} {}\n", away(x, AXIS[0]), p[1], away(z, AXIS[1]))
        }
        None => format!("{line}\n"),
    };
    let path = folder.join("wider.obj");
    std::fs::write(&path, text.lines().map(wider).collect::<String>()).unwrap();
    path.to_str().unwrap().to_owned()
}

/// A walk: dressed, settled and then some frames of the clip.
struct Walk {
    dress: [u32; 2],
    last_frame: i64,
    speed: f64,
    /// Names and files.
    skirts: Vec<(&'static str, String)>,
}

/// What a frame of it looks like.
struct Seen {
    record: FrameRecord,
    crossings: Crossings,
    is_finite: bool,
}

impl Walk {
    fn world(&self) -> World {
        let [dress, settle] = self.dress;
        let mut text = format!(
            "[scene]\nname = \"walk\"\nfps = 24\nframes = \"1-{}\"\ndress_blend = {dress}\nsettle = {settle}\n",
            self.last_frame
        );
        for (name, mesh) in &self.skirts {
            text += &format!(
                "[[cloth]]\nname = \"{name}\"\nmesh = {mesh:?}\nfabric = \"cotton\"\nmax_stretch = 0.01\n\
                 pins = [{{ boundary = 0, follow = \"figure\" }}]\n"
            );
        }
        text += &format!(
            "[[collider]]\nname = \"figure\"\nshape = \"mesh\"\nmesh = {:?}\nthickness = 0.002\n\
             animation = {{ loop = true, speed = {:?} }}\n",
            mesh_file("walking_figure.glb"),
            self.speed
        );
        World::in_folder(&text, Path::new("."), &[])
    }
}

/// All frames of the range, with what leads up to it.
fn bake(world: &World) -> Vec<Seen> {
    let mut frames = FrameLoop::new(&world.scene, &world.model, world.start.clone());
    for _ in 0..world.scene.lead_in() {
        frames.lead_in().unwrap();
    }
    (world.scene.first_frame..=world.scene.last_frame)
        .map(|frame| {
            let record = frames.simulate(frame).unwrap();
            let cloths: Vec<&[[f32; 3]]> = frames.objects().iter().map(|object| object.positions).collect();
            let is_finite = cloths.iter().all(|cloth| cloth.as_flattened().iter().all(|x| x.is_finite()));
            Seen { record, crossings: crossings::find(&meshes(world, &cloths, Moment::at(frame as f64))), is_finite }
        })
        .collect()
}

/// The skirts with these vertices of their files, then the figure.
fn meshes(world: &World, cloths: &[&[[f32; 3]]], moment: Moment) -> Vec<Mesh> {
    let mut all: Vec<Mesh> = Vec::new();
    for (cloth, written) in world.model.cloths.iter().zip(cloths) {
        let mut positions = vec![[0.0_f32; 3]; cloth.mesh.positions.len()];
        for (place, simulated) in written.iter().zip(&cloth.mesh.from_file_vertex) {
            if let Some(v) = simulated {
                positions[*v as usize] = *place;
            }
        }
        all.push(Mesh::new(&cloth.name, &positions, &cloth.mesh.triangles, &cloth.is_led));
    }
    let surface = world.model.colliders[0].animated().unwrap();
    let positions: Vec<[f64; 3]> = surface.positions(moment).into_iter().map(Into::into).collect();
    all.push(Mesh::new("figure", &positions, surface.shape.triangles(), &vec![true; positions.len()]));
    all
}

/// What crosses before anything has moved.
fn at_start(world: &World) -> Crossings {
    let rounded = |p: &Vec3| p.map(|x| x as f32).into();
    let cloths: Vec<Vec<[f32; 3]>> =
        world.model.cloths.iter().map(|cloth| cloth.surface.positions.iter().map(rounded).collect()).collect();
    let cloths: Vec<&[[f32; 3]]> = cloths.iter().map(Vec::as_slice).collect();
    crossings::find(&meshes(world, &cloths, Moment::start(&world.scene)))
}

/// For messages: every number of a frame that tells whether it is as promised.
fn describe(world: &World, seen: &Seen) -> String {
    let mut names: Vec<&str> = world.model.cloths.iter().map(|cloth| cloth.name.as_str()).collect();
    names.push("figure");
    let Seen { record, crossings, .. } = seen;
    let objects = record.objects.iter().map(|object| {
        format!(
            "{}: stretch {:.4}, crossings {}, released {}, {}",
            object.name,
            object.max_stretch,
            object.crossings,
            object.released,
            object.degraded.iter().map(|broken| broken.promise.name()).collect::<Vec<_>>().join(", ")
        )
    });
    let objects: Vec<String> = objects.collect();
    let counted = Crossings { kinematic: Default::default(), at_corners: Default::default(), ..crossings.clone() };
    format!(
        "frame {}: {} [{}; {} steps, {:.2} s]",
        record.frame,
        counted.describe(&names),
        objects.join("; "),
        record.substeps,
        record.seconds
    )
}

#[track_caller]
fn nothing_crosses(world: &World) {
    let start = at_start(world);
    assert_eq!(start.total(), 0, "the start: {start:?}");
    let mut wrong = Vec::new();
    for seen in bake(world) {
        println!("{}", describe(world, &seen));
        let said: u64 = seen.record.objects.iter().map(|object| object.crossings).sum();
        assert_eq!(said > 0, seen.crossings.total() > 0, "the log and the checker agree: {}", describe(world, &seen));
        if seen.crossings.total() > 0 || !seen.is_finite {
            wrong.push(describe(world, &seen));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_skirt_on_a_figure_at_four_times_its_speed() {
    let skirts = vec![("skirt", mesh_file("skirt_flared.obj"))];
    let (dress, last_frame) = if full() { ([24, 12], 36) } else { ([12, 2], 8) };
    nothing_crosses(&Walk { dress, last_frame, speed: 4.0, skirts }.world());
}

#[test]
fn two_layers_on_the_walking_figure() {
    let folder = tempfile::tempdir().unwrap();
    let outer = wider_skirt(folder.path(), 1.08);
    let skirts = vec![("skirt", mesh_file("skirt_flared.obj")), ("outer", outer)];
    let (dress, last_frame) = if full() { ([24, 12], 48) } else { ([12, 2], 6) };
    nothing_crosses(&Walk { dress, last_frame, speed: 1.0, skirts }.world());
}

/// The preset as users have it; its start is looked at in the quick tier too.
#[test]
fn the_preset_of_two_layers() {
    let presets = Path::new(env!("CARGO_MANIFEST_DIR")).join("presets");
    let text = std::fs::read_to_string(presets.join("two_layers.toml")).unwrap();
    let world = World::in_folder(&text, &presets, &[]);
    assert_eq!(at_start(&world).total(), 0);
    if full() {
        nothing_crosses(&world);
    }
}

/// The figure strides wider than this skirt is: not all promises can be kept. The bake ends, its numbers are finite, and
/// frames in which something crosses or is too long say so.
#[test]
fn a_skirt_too_tight_for_its_figure() {
    let skirts = vec![("skirt", mesh_file("skirt_tight.obj"))];
    let (dress, last_frame) = if full() { ([24, 12], 48) } else { ([12, 2], 6) };
    let walk = Walk { dress, last_frame, speed: 1.0, skirts };
    let world = walk.world();
    let start = at_start(&world);
    println!("the start: {start:?}");
    let mut marked = 0;
    for seen in bake(&world) {
        println!("{}", describe(&world, &seen));
        let object = &seen.record.objects[0];
        let is_marked = !object.degraded.is_empty();
        marked += usize::from(is_marked);
        assert!(seen.is_finite, "{}", describe(&world, &seen));
        assert!(is_marked || seen.crossings.total() == 0, "not marked: {}", describe(&world, &seen));
        // Only what is let pass may cross.
        assert!(object.released > 0 || seen.crossings.total() == 0, "not released: {}", describe(&world, &seen));
    }
    assert!(marked > 0, "the skirt is not too tight");
}
