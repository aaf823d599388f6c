//! Buffers, limits, counting, and what happens when the device goes.

use kiln::solver::gpu::{Limits, SOURCES, Source};

use crate::open;

#[test]
fn there_is_an_adapter() {
    println!("adapter: {}", open(None).name);
}

#[test]
fn all_kernels_keep_to_what_webgpu_promises() {
    for source in SOURCES {
        let text = source.full_text();
        let module = wgpu::naga::front::wgsl::parse_str(&text)
            .unwrap_or_else(|error| panic!("{}: {}", source.name, error.emit_to_string(&text)));
        let flags = wgpu::naga::valid::ValidationFlags::all();
        let mut validator = wgpu::naga::valid::Validator::new(flags, wgpu::naga::valid::Capabilities::default());
        let info = validator.validate(&module).unwrap_or_else(|error| panic!("{}: {error:?}", source.name));
        for (number, entry) in module.entry_points.iter().enumerate() {
            let used = info.get_entry_point(number);
            let is_storage = |space| matches!(space, wgpu::naga::AddressSpace::Storage { .. });
            let storage = module.global_variables.iter();
            let count = storage.filter(|(handle, v)| is_storage(v.space) && !used[*handle].is_empty()).count();
            assert!(count <= 8, "{} {}: {count} storage buffers", source.name, entry.name);
        }
    }
}

/// Structs that kernels are given and that tests beside their kernels compare with Rust's.
const COMPARED: &[(&str, &str)] = &[
    ("distance", "Distance"),
    ("attachment", "Attached"),
    ("attachment", "Attachment"),
    ("attachment", "Goal"),
    ("conforming_map", "Goal"),
    ("conforming_map", "Entry"),
    ("air", "Air"),
    ("air", "Triangle"),
    ("air", "Entry"),
    ("bending", "Row"),
    ("bending", "Beat"),
    ("bending", "Entry"),
    ("threads", "Diagonal"),
    ("elastic", "Elastic"),
    ("linear system", "Tie"),
    ("linear system", "Settings"),
    ("bending system", "BendRow"),
    ("bending system", "Settings"),
    ("resting", "Contact"),
    ("resting", "Part"),
    ("finding", "Finding"),
    ("finding", "Primitive"),
    ("finding", "Contact"),
    ("finding", "Part"),
    ("finding", "Seen"),
    ("pairs", "Candidate"),
    ("pairs", "Pair"),
    ("pairs", "Pressing"),
    ("finding", "Placed"),
    ("finding", "Mesh"),
    ("finding", "Node"),
    ("finding", "Vertex"),
    ("finding", "Blend"),
    ("assembly", "Strides"),
    ("shapes", "Body"),
    ("shapes", "Particle"),
    ("shapes", "Region"),
    ("shapes", "Turn"),
    ("shapes", "Surface"),
    ("soft_pins", "SoftPin"),
    ("skin_air", "Triangle"),
    ("skin_air", "Share"),
    ("edge_spring", "Spring"),
    ("edge_spring", "Elastic"),
    ("tet_volume, cells", "Elastic"),
    ("tet_volume, cells", "Part"),
    ("tet_volume, cells", "Tet"),
    // The same text.
    ("tet_volume, rings", "Elastic"),
    ("tet_volume, rings", "Part"),
    ("tet_volume, rings", "Tet"),
];

#[test]
fn every_struct_that_kernels_are_given_is_compared_with_its_twin() {
    use std::mem::offset_of;

    use kiln::solver::gpu::linear::{StateData, SystemData};
    use kiln::solver::gpu::particles::StepData;
    use kiln::solver::gpu::reduce::ControlData;
    use kiln::solver::gpu::work::Span;

    let mut missing = Vec::new();
    for source in SOURCES {
        let module = wgpu::naga::front::wgsl::parse_str(&source.full_text()).unwrap();
        for (_, variable) in module.global_variables.iter() {
            let own = &module.types[variable.ty];
            let kind = match own.inner {
                wgpu::naga::TypeInner::Array { base, .. } => &module.types[base],
                _ => own,
            };
            let wgpu::naga::TypeInner::Struct { .. } = kind.inner else { continue };
            let name = kind.name.as_deref().unwrap();
            let (members, stride) = layout(source, name);
            let (known, size) = match name {
                "Span" => (vec![0, 4, 8, 12], size_of::<Span>()),
                "Step" => {
                    let offsets = [
                        offset_of!(StepData, gravity),
                        offset_of!(StepData, h),
                        offset_of!(StepData, inverse_h),
                        offset_of!(StepData, drag),
                    ];
                    (offsets.to_vec(), size_of::<StepData>())
                }
                "Control" => {
                    let offsets = [
                        offset_of!(ControlData, done),
                        offset_of!(ControlData, sweeps),
                        offset_of!(ControlData, worst),
                        offset_of!(ControlData, enough),
                        offset_of!(ControlData, fewest),
                        offset_of!(ControlData, total),
                    ];
                    (offsets.to_vec(), size_of::<ControlData>())
                }
                "System" => (vec![0], size_of::<SystemData>()),
                "State" => (vec![0, 16, 32, 48], size_of::<StateData>()),
                _ => {
                    if !COMPARED.contains(&(source.name, name)) {
                        missing.push((source.name, name.to_owned()));
                    }
                    continue;
                }
            };
            // Some kernels only know the beginning of what controls them.
            assert!(stride == size || name == "Control" && stride < size, "{name} of {}: {stride}", source.name);
            let common = members.len().min(known.len());
            assert_eq!(members[..common], known[..common], "{name} of {}", source.name);
        }
    }
    assert!(missing.is_empty(), "compared nowhere: {missing:?}");
}

#[test]
fn what_was_written_is_read() {
    let gpu = open(None);
    for count in [0, 1, 5, 1000] {
        let numbers: Vec<u32> = (0..count).collect();
        let slab = gpu.slab("numbers", &numbers);
        gpu.write(&slab, 0, &numbers);
        let mut back = Vec::new();
        gpu.read(&slab, &mut back);
        assert_eq!(back, numbers);
    }
    assert_eq!(gpu.counts().read_backs, 3);
    assert_eq!(gpu.trouble(), None);
}

#[test]
fn what_does_not_fit_into_a_binding_is_told() {
    let gpu = open(Some(Limits { groups: 4, binding: 1024 }));
    gpu.zeros::<f32>("small", 256);
    assert_eq!(gpu.trouble(), None);
    gpu.zeros::<f32>("large", 257);
    assert!(gpu.trouble().unwrap().contains("`large` needs 1040 bytes"), "{:?}", gpu.trouble());
}

/// A device that goes away in the middle of a bake.
#[test]
fn a_bake_goes_on_on_the_processor_when_the_device_is_lost() {
    use kiln::model::Moment;
    use kiln::solver::cpu::CpuBackend;
    use kiln::solver::gpu::GpuBackend;
    use kiln::solver::{Backend, Drive};

    let world = crate::support::World::new(&crate::parity::sheet("stretch_only", "bend = 0"));
    let drive = |frame: u32| Drive {
        moments: [frame, frame + 1].map(|frame| Moment::at(f64::from(frame))),
        seconds: f64::from(frame) / 30.0,
        frame_seconds: 1.0 / 30.0,
        substeps: 20,
    };
    let advance = |backend: &mut dyn Backend, state: &mut kiln::model::State, frame: u32| {
        backend.drive(drive(frame));
        backend.advance(state);
    };
    for may_fall_back in [true, false] {
        let mut backend = GpuBackend::new(&world.scene, &world.model, open(None), may_fall_back).unwrap();
        let mut state = world.start.clone();
        advance(&mut backend, &mut state, 0);
        assert_eq!((backend.take_note(), backend.failure()), (None, None));
        let before = state.clone();
        backend.gpu().lose();
        advance(&mut backend, &mut state, 1);
        if !may_fall_back {
            assert!(backend.failure().unwrap().contains("lost"));
            assert_eq!((state, backend.take_note()), (before, None));
            continue;
        }
        assert!(backend.take_note().unwrap().contains("on the processor"));
        advance(&mut backend, &mut state, 2);
        assert_eq!((backend.take_note(), backend.failure()), (None, None), "told once");
        let mut expected = before;
        let mut processor = CpuBackend::new(&world.scene, &world.model);
        (1..3).for_each(|frame| advance(&mut processor, &mut expected, frame));
        assert_eq!(state, expected);
    }
}

/// Where the members of a kernel's struct are, and how far apart two such structs are in an array.
#[track_caller]
pub fn layout(source: &Source, name: &str) -> (Vec<usize>, usize) {
    let module = wgpu::naga::front::wgsl::parse_str(&source.full_text()).unwrap();
    let found = module.types.iter().find(|(_, kind)| kind.name.as_deref() == Some(name));
    let (handle, kind) = found.unwrap_or_else(|| panic!("{} has no `{name}`", source.name));
    let wgpu::naga::TypeInner::Struct { members, .. } = &kind.inner else { panic!("`{name}` is not a struct") };
    let mut layouter = wgpu::naga::proc::Layouter::default();
    layouter.update(module.to_ctx()).unwrap();
    (members.iter().map(|member| member.offset as usize).collect(), layouter[handle].to_stride() as usize)
}
