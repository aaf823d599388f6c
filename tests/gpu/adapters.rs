//! Different adapters and interfaces: the same result within what kernels may differ by.

use kiln::solver::device::{DeviceChoice, DeviceError};
use kiln::solver::gpu::{self, GpuBackend};

use crate::parity::{apart, on_device, sheet, size};
use crate::support::World;

/// GL has another compiler for the same kernels.
#[test]
fn vulkan_and_gl_agree() {
    let gl = match gpu::open(&DeviceChoice::Named("gl:".to_owned()), false, None) {
        Ok(gl) => gl,
        Err(DeviceError::Missing { cause, .. }) => return println!("there is no GL adapter to compare with: {cause}"),
        Err(error) => panic!("{error:?}"),
    };
    println!("compared with {}", gl.name);
    let world = World::new(&sheet("stretch_only", "bend = 0"));
    let mut backend = GpuBackend::new(&world.scene, &world.model, gl, false).unwrap();
    let end = world.simulate_on(&mut backend, |_| ());
    assert_eq!(backend.gpu().trouble(), None);
    let apart = apart(&end, &on_device(&world, None).0) / size(&world);
    println!("{apart:.1e} of its size apart");
    assert!(apart < 1e-5, "{apart}");
}
