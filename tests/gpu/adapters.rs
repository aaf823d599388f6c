//! Different adapters and interfaces: the same result within what kernels may differ by.

use kiln::solver::device::{DeviceChoice, DeviceError};
use kiln::solver::gpu::{self, GpuBackend};

use crate::parity::{apart, on_device, sheet, size};
use crate::support::World;

/// GL has another compiler for the same kernels.
#[test]
fn vulkan_and_gl_agree() {
    let gl = || gpu::open(&DeviceChoice::Named("gl:".to_owned()), false, None);
    match gl() {
        Ok(gl) => println!("compared with {}", gl.name),
        Err(DeviceError::Missing { cause, .. }) => return println!("there is no GL adapter to compare with: {cause}"),
        Err(error) => panic!("{error:?}"),
    }
    for (name, world) in [
        ("edges that go slack", World::new(&sheet("stretch_only", "bend = 0"))),
        ("midpoints that bend", World::new(&sheet("midpoint", "bend = 1e-5"))),
        ("threads that a linear system holds", World::new(&sheet("grid", "solver = \"pcg\"\nmax_stretch = 0.01"))),
        ("tetrahedra", World::new(&crate::tets::held_bar())),
        ("a matched shape", crate::shapes::moved_ball()),
        ("cloth on cloth", World::new(&crate::pairs::two_sheets("stretch_only", "iterative"))),
        ("cloth on a mesh that moves", crate::mesh_finding::sheet(20, 0.301, crate::mesh_finding::BALL)),
    ] {
        let mut backend = GpuBackend::new(&world.scene, &world.model, gl().unwrap(), false).unwrap();
        let end = world.simulate_on(&mut backend, |_| ());
        assert_eq!(backend.gpu().trouble(), None);
        assert!(backend.gpu().counts().dispatches > 0, "{name}");
        let apart = apart(&end, &on_device(&world, None).0) / size(&world);
        println!("{name}: {apart:.1e} of its size apart");
        assert!(apart < 1e-5, "{name}: {apart}");
    }
}
