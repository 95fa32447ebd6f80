//! Why a state has no times.

use std::fmt;

use ridge_gpu::DeviceError;
use ridge_gpu::nvrtc::CompileError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a state has no times.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// The stable code of the reason.
    pub code: String,
    /// What kind of reason it is.
    pub kind: FailureKind,
    /// What happened.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
    /// What a compiler printed.
    pub log: Option<String>,
}

/// What kind of reason there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// The source does not compile.
    Compile,
    /// The image is none, or has no such kernel.
    Image,
    /// The launch does not fit kernel or device.
    Launch,
    /// There is not enough memory.
    Memory,
    /// The kernel ended its context: an illegal address, a trap and the like.
    Fault,
    /// The kernel did not end.
    Hang,
    /// Something waited inside the timed region.
    Wait,
    /// The machine lacks something: a compiler, a newer driver, a permission.
    Machine,
    /// The process that worked on the GPU ended or did not answer.
    Worker,
}

impl FailureKind {
    /// The stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Compile => "compile",
            Self::Image => "image",
            Self::Launch => "launch",
            Self::Memory => "memory",
            Self::Fault => "fault",
            Self::Hang => "hang",
            Self::Wait => "wait",
            Self::Machine => "machine",
            Self::Worker => "worker",
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl From<DeviceError> for Failure {
    fn from(error: DeviceError) -> Self {
        let root = error.root();
        let kind = match root {
            DeviceError::Compile(_) => FailureKind::Compile,
            DeviceError::InvalidImage { .. }
            | DeviceError::NoSuchFunction { .. }
            | DeviceError::NoSuchGlobal { .. } => FailureKind::Image,
            DeviceError::InvalidLaunch { .. } | DeviceError::LaunchOutOfResources { .. } => {
                FailureKind::Launch
            }
            DeviceError::OutOfMemory { .. } => FailureKind::Memory,
            DeviceError::Fault { .. } => FailureKind::Fault,
            DeviceError::Timeout { .. } => FailureKind::Hang,
            DeviceError::BlockExpired { .. } => FailureKind::Wait,
            _ => FailureKind::Machine,
        };
        let log = match root {
            DeviceError::Compile(reason) => match &**reason {
                CompileError::Refused { log, .. } => Some(log.clone()),
                _ => None,
            },
            DeviceError::InvalidImage { log, .. } => Some(log.clone()),
            _ => None,
        };
        Self {
            code: root.code().to_owned(),
            kind,
            message: root.to_string(),
            hint: root.hint(),
            log: log.filter(|log| !log.trim().is_empty()),
        }
    }
}
