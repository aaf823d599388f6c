//! The adapters of this machine: which there are, which one is taken, and opening it.

use super::work::{Gpu, Limits, WORKGROUP};
use crate::solver::device::{AdapterSummary, DeviceChoice, DeviceError};

/// Arrays that our kernels are given at most: what WebGPU promises.
const STORAGE_BUFFERS: u32 = 8;
/// The environment's word for an adapter, as other programs over wgpu know it.
const NAME_VARIABLE: &str = "WGPU_ADAPTER_NAME";

fn instance() -> wgpu::Instance {
    // WGPU_BACKEND and its like.
    wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env())
}

/// The adapters behind these interfaces, or behind those that the environment names.
fn find(backends: wgpu::Backends) -> Vec<wgpu::Adapter> {
    let backends = wgpu::Backends::from_env().unwrap_or(backends);
    let mut adapters = pollster::block_on(instance().enumerate_adapters(backends));
    let saves_power = wgpu::PowerPreference::from_env() == Some(wgpu::PowerPreference::LowPower);
    let rank = |adapter: &wgpu::Adapter| match adapter.get_info().device_type {
        wgpu::DeviceType::DiscreteGpu => {
            if saves_power {
                1
            } else {
                0
            }
        }
        wgpu::DeviceType::IntegratedGpu => {
            if saves_power {
                0
            } else {
                1
            }
        }
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    };
    // The order of the interfaces is kept: Vulkan, Metal and DX12 come before GL.
    adapters.sort_by_key(rank);
    adapters
}

fn summary(adapter: &wgpu::Adapter) -> AdapterSummary {
    let (info, limits) = (adapter.get_info(), adapter.limits());
    let kind = match info.device_type {
        wgpu::DeviceType::DiscreteGpu => "discrete",
        wgpu::DeviceType::IntegratedGpu => "integrated",
        wgpu::DeviceType::VirtualGpu => "virtual",
        wgpu::DeviceType::Cpu => "software",
        wgpu::DeviceType::Other => "unknown",
    };
    let has_compute = adapter.get_downlevel_capabilities().flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS);
    let lacks = if !has_compute {
        Some("it has no compute shaders".to_owned())
    } else if limits.max_storage_buffers_per_shader_stage < STORAGE_BUFFERS {
        Some(format!(
            "a kernel can be given {} arrays, not {STORAGE_BUFFERS}",
            limits.max_storage_buffers_per_shader_stage
        ))
    } else if limits.max_compute_invocations_per_workgroup < WORKGROUP {
        Some(format!(
            "its workgroups have {} invocations, not {WORKGROUP}",
            limits.max_compute_invocations_per_workgroup
        ))
    } else {
        None
    };
    AdapterSummary {
        interface: match info.backend {
            wgpu::Backend::Vulkan => "Vulkan",
            wgpu::Backend::Metal => "Metal",
            wgpu::Backend::Dx12 => "DX12",
            wgpu::Backend::Gl => "GL",
            _ => "other",
        }
        .to_owned(),
        kind: kind.to_owned(),
        driver: format!("{} {}", info.driver, info.driver_info).trim().to_owned(),
        name: info.name,
        largest_binding: limits.max_storage_buffer_binding_size,
        largest_buffer: limits.max_buffer_size,
        storage_buffers: limits.max_storage_buffers_per_shader_stage,
        workgroup: limits.max_compute_invocations_per_workgroup,
        workgroups: limits.max_compute_workgroups_per_dimension,
        has_timestamps: adapter.features().contains(wgpu::Features::TIMESTAMP_QUERY),
        lacks,
    }
}

/// All adapters, in the order in which they are taken.
pub fn list() -> Vec<AdapterSummary> {
    find(wgpu::Backends::all()).iter().map(summary).collect()
}

/// What is taken of these, and why not if none is: its place in the list.
fn pick(adapters: &[AdapterSummary], choice: &DeviceChoice) -> Result<usize, DeviceError> {
    let is_sound = |adapter: &AdapterSummary| adapter.lacks.is_none();
    let found = match choice {
        DeviceChoice::Named(wanted) => {
            let wanted = wanted.to_lowercase();
            adapters.iter().position(|adapter| {
                is_sound(adapter)
                    && (adapter.name.to_lowercase().contains(&wanted)
                        // `gl:llvmpipe` where two interfaces have an adapter of the same name
                        || format!("{}:{}", adapter.interface, adapter.name).to_lowercase().contains(&wanted))
            })
        }
        _ => adapters.iter().position(|adapter| is_sound(adapter) && !adapter.is_software()),
    };
    found.ok_or_else(|| {
        let described =
            |adapter: &AdapterSummary| format!("{} ({}, {})", adapter.name, adapter.interface, adapter.kind);
        let there = match adapters {
            [] => "there is no adapter at all".to_owned(),
            _ => format!("there is {}", adapters.iter().map(described).collect::<Vec<_>>().join(", ")),
        };
        let cause = match choice {
            DeviceChoice::Named(wanted) => format!("no usable adapter has `{wanted}` in its name; {there}"),
            _ => format!("no graphics card was found; {there}"),
        };
        let remedy =
            "install its driver, name another with --device gpu:NAME (`kiln devices` lists them), or use --device cpu";
        DeviceError::Missing { cause, remedy: remedy.to_owned() }
    })
}

/// The choice with the environment's word taken in.
pub fn with_environment(choice: &DeviceChoice) -> DeviceChoice {
    let named = std::env::var(NAME_VARIABLE).ok().filter(|name| !name.is_empty());
    match (choice, named) {
        (DeviceChoice::Auto | DeviceChoice::Gpu, Some(name)) => DeviceChoice::Named(name),
        _ => choice.clone(),
    }
}

/// Open the adapter that is asked for. `limits` cuts work smaller than the device must, for tests.
pub fn open(choice: &DeviceChoice, profiles: bool, limits: Option<Limits>) -> Result<Gpu, DeviceError> {
    // GL is not even loaded where it is not needed.
    let mut adapters = find(wgpu::Backends::PRIMARY);
    let mut summaries: Vec<AdapterSummary> = adapters.iter().map(summary).collect();
    if pick(&summaries, choice).is_err() {
        adapters = find(wgpu::Backends::all());
        summaries = adapters.iter().map(summary).collect();
    }
    let number = pick(&summaries, choice)?;
    let (adapter, summary) = (&adapters[number], &summaries[number]);
    let required_limits = wgpu::Limits {
        max_storage_buffer_binding_size: summary.largest_binding,
        max_buffer_size: summary.largest_buffer,
        ..Default::default()
    };
    let timestamps = wgpu::Features::TIMESTAMP_QUERY;
    let required_features = if profiles && summary.has_timestamps { timestamps } else { wgpu::Features::empty() };
    let descriptor = wgpu::DeviceDescriptor { required_limits, required_features, ..Default::default() };
    let name = format!("{} ({}, {})", summary.name, summary.interface, summary.driver);
    let (device, queue) = pollster::block_on(adapter.request_device(&descriptor)).map_err(|error| {
        let cause = format!("{name} cannot be opened: {error}");
        DeviceError::Missing { cause, remedy: "try another adapter, or --device cpu".to_owned() }
    })?;
    let limits = limits.unwrap_or(Limits { groups: summary.workgroups, binding: summary.largest_binding });
    Ok(Gpu::new(device, queue, name, limits, profiles))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adapter(name: &str, interface: &str, kind: &str) -> AdapterSummary {
        AdapterSummary {
            name: name.to_owned(),
            interface: interface.to_owned(),
            kind: kind.to_owned(),
            driver: String::new(),
            largest_binding: 1 << 27,
            largest_buffer: 1 << 28,
            storage_buffers: 8,
            workgroup: 256,
            workgroups: 65_535,
            has_timestamps: false,
            lacks: None,
        }
    }

    #[test]
    fn software_is_taken_by_name_only() {
        let software =
            [adapter("llvmpipe (LLVM 15)", "Vulkan", "software"), adapter("llvmpipe (LLVM 15)", "GL", "software")];
        for choice in [DeviceChoice::Auto, DeviceChoice::Gpu] {
            assert!(matches!(pick(&software, &choice), Err(DeviceError::Missing { .. })), "{choice}");
        }
        let named = |name: &str| pick(&software, &DeviceChoice::Named(name.to_owned()));
        assert_eq!(named("LLVMpipe"), Ok(0));
        assert_eq!(named("gl:llvmpipe"), Ok(1));
        assert!(named("radeon").is_err());
        let mut both = software.to_vec();
        both.push(adapter("Radeon", "Vulkan", "discrete"));
        assert_eq!(pick(&both, &DeviceChoice::Gpu), Ok(2));
        both[2].lacks = Some("it has no compute shaders".to_owned());
        assert!(pick(&both, &DeviceChoice::Gpu).is_err());
    }
}
