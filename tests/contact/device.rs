//! Nothing crosses either where triangles are measured and pressed on a device: the same scenes, the same checker.

use kiln::solver::device::DeviceChoice;
use kiln::solver::gpu::{self, GpuBackend};

use crate::check_on;
use crate::scenes::{self, Scene, Size};
use crate::support::full;

#[track_caller]
fn nothing_crosses(scene: &Scene, overrides: &[&str]) {
    let adapter = std::env::var("KILN_TEST_ADAPTER").unwrap_or_else(|_| "vulkan:llvmpipe".to_owned());
    let gpu = gpu::open(&DeviceChoice::Named(adapter), false, None).unwrap();
    let world = scene.world(overrides);
    let mut backend = GpuBackend::new(&world.scene, &world.model, gpu, false).unwrap();
    assert!(backend.describe().contains("pressed there"), "{}", backend.describe());
    let names = scene.mesh_names(&world);
    let (start, mut contacts) = (std::time::Instant::now(), 0);
    for (frame, found) in check_on(&mut backend, &world, scene, |frame| {
        contacts = frame.report.bodies[0].touched.contacts.max(contacts);
    }) {
        assert_eq!(found.total(), 0, "{} frame {frame}: {}", scene.name, found.describe(&names));
    }
    assert_eq!(backend.gpu().trouble(), None);
    assert!(contacts > 10, "{}: {contacts} contacts", scene.name);
    println!(
        "{}: {:.1} s, {contacts} contacts, {:?}",
        scene.name,
        start.elapsed().as_secs_f64(),
        backend.gpu().counts()
    );
}

#[test]
fn cloths_on_cloths() {
    if full() {
        nothing_crosses(&scenes::two_sheets(Size::Quick), &[]);
        nothing_crosses(&scenes::folded_sheet(Size::Quick, 0.004), &[]);
    } else {
        // Until they lie on each other.
        nothing_crosses(&scenes::two_sheets(Size::Quick), &["scene.frames=\"0-9\""]);
    }
}

#[test]
fn a_sheet_on_a_ball() {
    let overrides: &[&str] =
        if full() { &[] } else { &["scene.frames=\"0-8\"", "cloth.sheet.mesh.sheet.vertices=[21, 21]"] };
    nothing_crosses(&scenes::sheet_on_ball(Size::Quick), overrides);
}
