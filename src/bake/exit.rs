//! How a run can end: the exit codes, and what a failure says to the user.

use std::fmt;

use crate::cache::CacheError;
use crate::solver::device::DeviceError;

/// Every exit code. Numbers are a promise to render farms and never change their meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// All frames written and every gate passed.
    Ok = 0,
    /// A fault in Kiln itself.
    Unexpected = 1,
    /// The command line is wrong.
    Usage = 2,
    /// The input is invalid: a retry fails again.
    InvalidInput = 3,
    /// The simulation failed; the frames before the failure are intact.
    SimulationFailed = 4,
    /// All frames written, a quality gate was missed.
    GateFailed = 5,
    /// Out of memory; a retry on a larger machine may work.
    OutOfMemory = 33,
    /// The device that was asked for does not exist, or was lost.
    NoDevice = 69,
    /// Reading or writing failed; a retry may work.
    InputOutput = 74,
    /// Stopped early with a checkpoint; a retry resumes.
    StoppedEarly = 75,
    /// SIGINT.
    Interrupted = 130,
    /// SIGTERM.
    Terminated = 143,
}

impl Exit {
    /// All of them, ascending.
    pub const ALL: [Exit; 12] = [
        Exit::Ok,
        Exit::Unexpected,
        Exit::Usage,
        Exit::InvalidInput,
        Exit::SimulationFailed,
        Exit::GateFailed,
        Exit::OutOfMemory,
        Exit::NoDevice,
        Exit::InputOutput,
        Exit::StoppedEarly,
        Exit::Interrupted,
        Exit::Terminated,
    ];

    /// What the system sees.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// What people see in logs.
    pub fn name(self) -> &'static str {
        match self {
            Exit::Ok => "ok",
            Exit::Unexpected => "unexpected",
            Exit::Usage => "usage",
            Exit::InvalidInput => "input invalid",
            Exit::SimulationFailed => "simulation failed",
            Exit::GateFailed => "gate failed",
            Exit::OutOfMemory => "out of memory",
            Exit::NoDevice => "no such device",
            Exit::InputOutput => "input/output",
            Exit::StoppedEarly => "stopped early",
            Exit::Interrupted => "interrupted",
            Exit::Terminated => "terminated",
        }
    }

    /// One line on what it means for whoever waits for the result.
    pub fn meaning(self) -> &'static str {
        match self {
            Exit::Ok => "all frames written and every gate passed",
            Exit::Unexpected => "a fault in Kiln itself",
            Exit::Usage => "the command line is wrong",
            Exit::InvalidInput => "scene, mesh or job folder cannot be used; a retry fails again",
            Exit::SimulationFailed => "the frames before the failure are intact",
            Exit::GateFailed => "all frames written, but a limit of [gates] was missed",
            Exit::OutOfMemory => "the scene does not fit into the memory of the device; a retry with more may work",
            Exit::NoDevice => "the device that was asked for does not exist, or was lost",
            Exit::InputOutput => "reading or writing failed; a retry may work",
            Exit::StoppedEarly => "reserved: a checkpoint was written, a retry resumes",
            Exit::Interrupted => "what shells report when SIGINT (Ctrl-C) ended Kiln; bake again with --restart",
            Exit::Terminated => "what shells report when SIGTERM ended Kiln; bake again with --restart",
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "exit code {}: {}", self.number(), self.name())
    }
}

/// Why a run did not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// How the program ends.
    pub exit: Exit,
    /// What went wrong, in one sentence without a full stop.
    pub cause: String,
    /// What to do about it.
    pub remedy: String,
}

impl Failure {
    /// A failure and its remedy.
    pub fn new(exit: Exit, cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        Failure { exit, cause: cause.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {} [{}]", self.cause, self.remedy, self.exit)
    }
}

impl From<DeviceError> for Failure {
    fn from(error: DeviceError) -> Self {
        match error {
            DeviceError::Missing { cause, remedy } => Failure::new(Exit::NoDevice, cause, remedy),
            DeviceError::TooSmall { cause, remedy } => Failure::new(Exit::OutOfMemory, cause, remedy),
        }
    }
}

impl From<CacheError> for Failure {
    fn from(error: CacheError) -> Self {
        let (exit, remedy) = match &error {
            CacheError::Io { .. } => (Exit::InputOutput, "check the path, its permissions and the free space"),
            CacheError::Locked { .. } => (Exit::InputOutput, "or choose another folder with --out"),
            CacheError::NotFinite { .. } | CacheError::MetricNotFinite { .. } => {
                (Exit::SimulationFailed, "raise `substeps`, or look for extreme values in the scene")
            }
            CacheError::NewerVersion { .. } => (Exit::InvalidInput, "or bake the scene again"),
            CacheError::MissingFrame { .. } | CacheError::MissingObject { .. } => {
                (Exit::InvalidInput, "choose from what is stored; `kiln inspect` lists it")
            }
            CacheError::Damaged { .. } | CacheError::Invalid { .. } | CacheError::InvalidLine { .. } => {
                (Exit::InvalidInput, "use an intact file, or bake the scene again with --restart")
            }
        };
        Failure::new(exit, error.to_string(), remedy)
    }
}
