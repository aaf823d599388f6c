//! Which device a bake runs on, and what can be said about it.

use std::fmt;
use std::ops::AddAssign;
use std::str::FromStr;

use super::Backend;
use super::cpu::CpuBackend;
use crate::model::Model;
use crate::scene::Scene;

/// Particles from which on `auto` looks for a graphics card. A step starts some twenty kernels, each of which takes a card at least five
/// microseconds; the processor goes over about seven thousand constraints in that time. Three times as many leave a margin for cards that are
/// slow to start and for what goes there and back.
pub const WORTH_A_CARD: usize = 20_000;

/// What the user asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// A graphics card if there is one and the scene is large enough to gain; never a software adapter.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// A graphics card: not a software adapter.
    Gpu,
    /// The adapter whose name has this in it, whatever it is.
    Named(String),
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        match typed {
            "auto" => Ok(DeviceChoice::Auto),
            "cpu" => Ok(DeviceChoice::Cpu),
            "gpu" => Ok(DeviceChoice::Gpu),
            _ => match typed.strip_prefix("gpu:").filter(|name| !name.is_empty()) {
                Some(name) => Ok(DeviceChoice::Named(name.to_owned())),
                None => Err("`auto`, `cpu`, `gpu` or `gpu:NAME` (a part of what `kiln devices` calls it)".to_owned()),
            },
        }
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceChoice::Auto => write!(f, "auto"),
            DeviceChoice::Cpu => write!(f, "cpu"),
            DeviceChoice::Gpu => write!(f, "gpu"),
            DeviceChoice::Named(name) => write!(f, "gpu:{name}"),
        }
    }
}

/// Why there is no device to run on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceError {
    /// None is what was asked for.
    Missing {
        /// What was looked for, and what there is.
        cause: String,
        /// What to do about it.
        remedy: String,
    },
    /// The scene does not fit into its memory.
    TooSmall {
        /// With numbers.
        cause: String,
        /// What to do about it.
        remedy: String,
    },
}

/// An adapter as `kiln devices` shows it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct AdapterSummary {
    /// As its driver calls it.
    pub name: String,
    /// Vulkan, Metal, DX12 or GL.
    pub interface: String,
    /// `discrete`, `integrated`, `virtual`, `software` or `unknown`.
    pub kind: String,
    /// Driver and version.
    pub driver: String,
    /// Bytes of one array that a kernel can be given.
    pub largest_binding: u64,
    /// Bytes of one array.
    pub largest_buffer: u64,
    /// Arrays that a kernel can be given.
    pub storage_buffers: u32,
    /// Invocations of a workgroup.
    pub workgroup: u32,
    /// Workgroups along one dimension.
    pub workgroups: u32,
    /// Whether `--profile` can measure kernels.
    pub has_timestamps: bool,
    /// Why it cannot be used, if it cannot.
    pub lacks: Option<String>,
}

impl AdapterSummary {
    /// Whether it is a processor that pretends.
    pub fn is_software(&self) -> bool {
        self.kind == "software"
    }
}

/// What was done on a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Kernels started.
    pub dispatches: u64,
    /// Compute passes.
    pub passes: u64,
    /// Lists of commands.
    pub submits: u64,
    /// Bytes that kernels read and wrote.
    pub kernel_bytes: u64,
    /// Transfers to the device.
    pub uploads: u64,
    /// Bytes of these.
    pub uploaded_bytes: u64,
    /// Transfers from the device, each of which waits for it.
    pub read_backs: u64,
    /// Bytes of these.
    pub read_bytes: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, more: Self) {
        self.dispatches += more.dispatches;
        self.passes += more.passes;
        self.submits += more.submits;
        self.kernel_bytes += more.kernel_bytes;
        self.uploads += more.uploads;
        self.uploaded_bytes += more.uploaded_bytes;
        self.read_backs += more.read_backs;
        self.read_bytes += more.read_bytes;
    }
}

/// The time that one kernel has taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KernelTime {
    /// Its name.
    pub kernel: &'static str,
    /// How often it ran.
    pub dispatches: u64,
    /// [s]
    pub seconds: f64,
}

/// What a device has done in a bake.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceReport {
    /// Work and transfers.
    pub counts: Counts,
    /// Bytes of its arrays.
    pub bytes: u64,
    /// Times of the kernels, if they were asked for and the device can tell; the longest first.
    pub kernels: Vec<KernelTime>,
}

/// How a device is to be used.
#[derive(Clone, Debug, Default)]
pub struct DeviceRequest {
    /// Which one.
    pub choice: DeviceChoice,
    /// Whether the bake goes on on the processor when the device is lost.
    pub may_fall_back: bool,
    /// Whether kernels are timed.
    pub profiles: bool,
    /// Bytes that may be used on it; no limit without it.
    pub memory: Option<u64>,
}

/// A backend and what it runs on.
pub struct Opened<'m> {
    /// What simulates.
    pub backend: Box<dyn Backend + 'm>,
    /// The device's name and driver; none for the processor.
    pub device: Option<String>,
    /// For the log: which one and why.
    pub line: String,
}

fn on_cpu<'m>(scene: &'m Scene, model: &'m Model, why: &str) -> Opened<'m> {
    let backend = Box::new(CpuBackend::new(scene, model));
    Opened { backend, device: None, line: format!("device: processor ({why})") }
}

/// The backend for a request.
pub fn open_backend<'m>(
    request: &DeviceRequest,
    scene: &'m Scene,
    model: &'m Model,
) -> Result<Opened<'m>, DeviceError> {
    if request.choice == DeviceChoice::Cpu {
        return Ok(on_cpu(scene, model, "as asked for"));
    }
    on_device(request, scene, model)
}

#[cfg(feature = "gpu")]
fn on_device<'m>(request: &DeviceRequest, scene: &'m Scene, model: &'m Model) -> Result<Opened<'m>, DeviceError> {
    use super::gpu;
    let choice = gpu::with_environment(&request.choice);
    let particles: usize = model.skins().map(|skin| skin.rest.len()).sum();
    if choice == DeviceChoice::Auto && particles < WORTH_A_CARD {
        let why = format!("{particles} particles; from {WORTH_A_CARD} on a graphics card is looked for");
        return Ok(on_cpu(scene, model, &why));
    }
    let opened = gpu::open(&choice, request.profiles, None).and_then(|device| {
        let device = device.with_memory(request.memory).kept_open();
        let name = device.name.clone();
        let backend = gpu::GpuBackend::new(scene, model, device, request.may_fall_back)?;
        let line =
            format!("device: {name}, {} MB; {}", backend.gpu().allocated().div_ceil(1 << 20), backend.describe());
        Ok(Opened { backend: Box::new(backend), device: Some(name), line })
    });
    match opened {
        Err(DeviceError::Missing { cause, .. } | DeviceError::TooSmall { cause, .. })
            if choice == DeviceChoice::Auto =>
        {
            Ok(on_cpu(scene, model, &cause))
        }
        opened => opened,
    }
}

#[cfg(not(feature = "gpu"))]
fn on_device<'m>(request: &DeviceRequest, scene: &'m Scene, model: &'m Model) -> Result<Opened<'m>, DeviceError> {
    if request.choice == DeviceChoice::Auto {
        return Ok(on_cpu(scene, model, NOT_BUILT_IN));
    }
    let remedy = "use --device cpu, or build Kiln with its feature `gpu`";
    Err(DeviceError::Missing { cause: NOT_BUILT_IN.to_owned(), remedy: remedy.to_owned() })
}

/// What a build without graphics cards says.
#[cfg(not(feature = "gpu"))]
const NOT_BUILT_IN: &str = "this Kiln was built without graphics cards";

/// All adapters, in the order in which they are taken.
pub fn list_adapters() -> Vec<AdapterSummary> {
    #[cfg(feature = "gpu")]
    return super::gpu::list();
    #[cfg(not(feature = "gpu"))]
    Vec::new()
}
