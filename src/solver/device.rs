//! Which device a bake runs on.

use std::fmt;
use std::str::FromStr;

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
