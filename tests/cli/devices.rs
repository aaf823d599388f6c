//! Graphics cards on the command line: listing, choosing, what happens when there is none or it is too small.
//!
//! The adapter is Mesa's software Vulkan, or the one that `KILN_TEST_ADAPTER` names.

use super::{Place, Run, TINY};

/// Enough particles for `auto` to look for a card.
const LARGE: &str = r#"[scene]
name = "large"
frames = "1-2"
substeps = 1
[[cloth]]
name = "sheet"
mesh = { sheet = { vertices = [150, 150], size = [1.0, 1.0] } }
self_collision = false
bend = 0
"#;

fn adapter() -> String {
    std::env::var("KILN_TEST_ADAPTER").unwrap_or_else(|_| "vulkan:llvmpipe".to_owned())
}

/// Run where no adapter can be found.
fn run_without_adapters(place: &Place, arguments: &[&str]) -> Run {
    let mut command = place.command(arguments);
    // Of both Vulkan loaders' words, and nothing but Vulkan.
    command
        .env("VK_DRIVER_FILES", "/nowhere.json")
        .env("VK_ICD_FILENAMES", "/nowhere.json")
        .env("WGPU_BACKEND", "vulkan");
    Run::new(command.output().unwrap())
}

#[test]
fn devices_lists_the_adapters_and_what_would_be_used() {
    let place = Place::new(TINY);
    let run = place.run(&["devices"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    let name = adapter();
    let name = name.rsplit(':').next().unwrap_or(&name);
    assert!(run.out.contains(name) && run.out.contains("Vulkan"), "{}", run.out);
    assert!(run.out.contains("--device auto") || run.out.contains("--device gpu takes"), "{}", run.out);

    let json: serde_json::Value = serde_json::from_str(&place.run(&["devices", "--json"]).out).unwrap();
    let adapters = json["adapters"].as_array().unwrap();
    assert!(adapters.iter().any(|adapter| adapter["name"].as_str().unwrap().contains(name)), "{json}");
    assert!(adapters.iter().all(|adapter| adapter["largest_binding"].as_u64().unwrap() > 0), "{json}");

    let none = run_without_adapters(&place, &["devices"]);
    assert_eq!(none.code, Some(0), "{}", none.err);
    assert!(none.out.contains("no adapters"), "{}", none.out);
}

#[test]
fn without_a_card_gpu_fails_and_auto_bakes_the_same_bytes_as_the_processor() {
    let place = Place::new(LARGE);
    let bake = ["bake", "scene.toml", "--out"];
    for (device, remedy) in [("gpu", "--device cpu"), ("gpu:radeon", "radeon")] {
        let run = run_without_adapters(&place, &[&bake[..], &["none", "--device", device]].concat());
        assert_eq!(run.code, Some(69), "{device}: {}", run.err);
        assert!(run.err.contains(remedy) && run.err.contains("there is no adapter at all"), "{device}: {}", run.err);
        assert_eq!(run.err.matches("Error:").count(), 1, "{}", run.err);
        assert!(!place.path("none").exists(), "a folder for nothing");
    }
    let auto = run_without_adapters(&place, &[&bake[..], &["auto", "--device", "auto"]].concat());
    assert_eq!(auto.code, Some(0), "{}", auto.err);
    assert_eq!(auto.err.matches("device: processor (no graphics card was found").count(), 1, "{}", auto.err);
    let cpu = place.run(&[&bake[..], &["cpu", "--device", "cpu"]].concat());
    assert_eq!(cpu.code, Some(0), "{}", cpu.err);
    assert!(place.read("auto/bake.kc") == place.read("cpu/bake.kc"), "another result");
    let caches = place.json("cpu/manifest.json")["caches"].clone();
    assert!(!caches.as_array().unwrap().is_empty(), "{caches}");
    for cache in caches.as_array().unwrap() {
        let file = cache["file"].as_str().unwrap();
        assert!(place.read(&format!("auto/{file}")) == place.read(&format!("cpu/{file}")), "{file} is another");
    }
    assert_eq!(place.json("auto/manifest.json")["tool"], place.json("cpu/manifest.json")["tool"]);
}

#[test]
fn a_software_adapter_is_used_only_by_its_name() {
    let place = Place::new(LARGE);
    let mut command = place.command(&["bake", "scene.toml", "--device", "gpu", "--out", "gpu"]);
    let software =
        Run::new(command.env("WGPU_BACKEND", "vulkan").env("VK_LOADER_DRIVERS_SELECT", "*lvp*").output().unwrap());
    assert_eq!(software.code, Some(69), "{}", software.err);
    assert!(software.err.contains("software"), "{}", software.err);

    let named = place.run(&["bake", "scene.toml", "--device", &format!("gpu:{}", adapter()), "--out", "named"]);
    assert_eq!(named.code, Some(0), "{}", named.err);
    assert!(named.err.contains("read-backs"), "{}", named.err);
    let device = place.json("named/manifest.json")["tool"]["device"].clone();
    assert!(device.as_str().unwrap().contains("Vulkan"), "{device}");

    // The environment's words.
    let mut command = place.command(&["bake", "scene.toml", "--out", "named"]);
    let again = Run::new(command.env("KILN_DEVICE", format!("gpu:{}", adapter())).output().unwrap());
    assert!(again.err.contains("nothing to do"), "{}", again.err);
    let mut command = place.command(&["bake", "scene.toml", "--out", "named"]);
    let again = Run::new(command.env("WGPU_ADAPTER_NAME", adapter()).output().unwrap());
    assert!(again.err.contains("nothing to do"), "{}", again.err);
    let other = place.run(&["bake", "scene.toml", "--device", "cpu", "--out", "named"]);
    assert_eq!(other.code, Some(3), "{}", other.err);
    assert!(other.err.contains(device.as_str().unwrap()), "{}", other.err);
}

#[test]
fn a_scene_that_is_too_large_for_the_device_is_refused_with_numbers() {
    let place = Place::new(LARGE);
    let device = format!("gpu:{}", adapter());
    let run = place.run(&["bake", "scene.toml", "--device", &device, "--device-memory", "1"]);
    assert_eq!(run.code, Some(33), "{}", run.err);
    assert!(run.err.contains("MB, 1 MB are allowed"), "{}", run.err);
}

#[test]
fn kernels_are_timed_where_that_is_asked_for() {
    let place = Place::new(TINY);
    let run = place.run(&["bake", "scene.toml", "--device", &format!("gpu:{}", adapter()), "--profile"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    for kernel in ["look_ahead", "distance_positions", "advance"] {
        let row = run.err.lines().find(|line| line.trim_start().starts_with(kernel));
        assert!(row.is_some_and(|row| row.ends_with("us") && row.contains("times")), "{kernel}: {}", run.err);
    }
}

#[test]
fn a_device_that_does_not_exist_as_a_word_is_a_usage_error() {
    let place = Place::new(TINY);
    for device in ["gpus", "gpu:", "cuda"] {
        let run = place.run(&["bake", "scene.toml", "--device", device]);
        assert_eq!(run.code, Some(2), "{device}: {}", run.err);
    }
}
