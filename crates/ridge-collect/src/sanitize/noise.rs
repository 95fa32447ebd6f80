//! What tools report of programs that are right. Each kind is marked with why, and with what leaves it out.

use schemars::JsonSchema;
use serde::Serialize;

use super::record::{FaultKind, Record, Severity};

/// Why a record is likely no fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Noise {
    /// A look-up of a function that this driver does not have.
    EntryPointProbe,
    /// A call by which a library finds out what the machine can do.
    LibraryProbe,
    /// Code that relies on the lanes of a warp running together.
    WarpSynchronous,
}

impl Noise {
    /// The stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::EntryPointProbe => "entry-point-probe",
            Self::LibraryProbe => "library-probe",
            Self::WarpSynchronous => "warp-synchronous",
        }
    }

    /// Why it is likely no fault.
    #[must_use]
    pub const fn why(self) -> &'static str {
        match self {
            Self::EntryPointProbe => {
                "the runtime asks the driver for functions that only newer drivers have"
            }
            Self::LibraryProbe => "a library finds out by such calls what the machine can do",
            Self::WarpSynchronous => {
                "a warning: both accesses are of one warp, whose lanes are often meant to run together"
            }
        }
    }

    /// What leaves it out, or settles it.
    #[must_use]
    pub const fn remedy(self) -> &'static str {
        match self {
            Self::EntryPointProbe => "compute-sanitizer --ignore-getprocaddress-notfound",
            Self::LibraryProbe => "compute-sanitizer --report-api-errors explicit",
            Self::WarpSynchronous => {
                "put __syncwarp() between the accesses: since Volta lanes may run apart"
            }
        }
    }
}

/// Libraries that probe.
const PROBING: &[&str] = &[
    "libcublas",
    "libcudnn",
    "libnccl",
    "libcusolver",
    "libcufft",
    "libcusparse",
];

/// Whether a record is of a kind that programs without fault have too.
#[must_use]
pub fn noise(record: &Record) -> Option<Noise> {
    match record.kind {
        FaultKind::ApiError if record.text.contains("GetProcAddress") => {
            Some(Noise::EntryPointProbe)
        }
        FaultKind::ApiError => {
            let is_probe = |module: &str| {
                let name = module.rsplit('/').next().unwrap_or(module);
                PROBING.iter().any(|probing| name.starts_with(probing))
            };
            record
                .host_frames
                .iter()
                .filter_map(|frame| frame.module.as_deref())
                .any(is_probe)
                .then_some(Noise::LibraryProbe)
        }
        FaultKind::Race => {
            let is_warp = record.severity == Severity::Warning
                || record.text.contains("(Warp Level Programming)");
            is_warp.then_some(Noise::WarpSynchronous)
        }
        _ => None,
    }
}
