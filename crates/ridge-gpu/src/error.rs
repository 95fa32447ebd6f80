//! What can go wrong on the way to a GPU and on it.

use std::fmt;
use std::path::PathBuf;

use ridge_model::quantity::{Bytes, Nanos};

use crate::nvrtc::{CompileError, NoCompiler};

/// The result of a call to a device.
pub type Result<T> = std::result::Result<T, DeviceError>;

/// The version of the driver's interface or of a library: major and minor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// The major version.
    pub major: u32,
    /// The minor version.
    pub minor: u32,
}

impl Version {
    /// A version.
    #[must_use]
    pub const fn new(major: u32, minor: u32) -> Self {
        Self { major, minor }
    }

    /// The version in the driver's encoding: 13020 is 13.2.
    #[must_use]
    pub const fn decode(number: u32) -> Self {
        Self::new(number / 1000, number % 1000 / 10)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// Why there is no GPU to work on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoGpu {
    /// The driver's library cannot be loaded.
    NoDriver {
        /// The candidates, in the order in which they were tried.
        tried: Vec<PathBuf>,
    },
    /// The driver lacks a function without which nothing goes.
    OldDriver {
        /// The library.
        path: PathBuf,
        /// The function.
        function: &'static str,
    },
    /// The driver is there and does not start.
    Broken {
        /// The driver's word for it.
        reason: String,
    },
    /// The driver sees no GPU.
    NoDevice,
    /// The driver sees GPUs, but none with this number.
    NoSuchDevice {
        /// The number that was asked for, from 0.
        ordinal: u32,
        /// How many there are.
        count: u32,
    },
    /// The GPU is there, and cannot be used.
    Unusable {
        /// The driver's word for it.
        reason: String,
    },
}

impl NoGpu {
    /// The stable code of the reason.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoDriver { .. } => "GPU0101",
            Self::OldDriver { .. } => "GPU0102",
            Self::Broken { .. } => "GPU0103",
            Self::NoDevice => "GPU0104",
            Self::NoSuchDevice { .. } => "GPU0105",
            Self::Unusable { .. } => "GPU0106",
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::NoDriver { .. } => {
                "install NVIDIA's driver, or start the container with its GPUs (`--gpus all`)".to_owned()
            }
            Self::OldDriver { .. } => "update NVIDIA's driver: 11.4 (R470) is the oldest that works".to_owned(),
            Self::Broken { .. } => {
                "see what `nvidia-smi` says; after an update of the driver the machine needs a restart".to_owned()
            }
            Self::NoDevice => {
                "see what `nvidia-smi -L` lists, and whether CUDA_VISIBLE_DEVICES hides it".to_owned()
            }
            Self::NoSuchDevice { count, .. } => format!("choose a number from 0 to {}", count.saturating_sub(1)),
            Self::Unusable { .. } => {
                "see `nvidia-smi -q -d COMPUTE`: another process may have it for itself, or nobody may compute on it".to_owned()
            }
        }
    }
}

impl fmt::Display for NoGpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDriver { tried } => {
                write!(f, "NVIDIA's driver is not installed; looked for")?;
                for (place, path) in tried.iter().enumerate() {
                    let comma = if place == 0 { " " } else { ", " };
                    write!(f, "{comma}{}", path.display())?;
                }
                Ok(())
            }
            Self::OldDriver { path, function } => {
                write!(
                    f,
                    "the driver {} is too old: it has no {function}",
                    path.display()
                )
            }
            Self::Broken { reason } => write!(f, "the driver does not start: {reason}"),
            Self::NoDevice => write!(f, "the driver sees no GPU"),
            Self::NoSuchDevice { ordinal, count } => {
                write!(f, "there is no GPU {ordinal}: the driver sees {count}")
            }
            Self::Unusable { reason } => write!(f, "the GPU cannot be used: {reason}"),
        }
    }
}

impl std::error::Error for NoGpu {}

/// What a kernel did that ended its context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// It read or wrote memory that is not its own.
    IllegalAddress,
    /// It read or wrote at an address that its type does not allow.
    MisalignedAddress,
    /// It ran into an instruction that the device does not have.
    IllegalInstruction,
    /// An assertion in it failed.
    Assert,
    /// It used an address of one memory as one of another, jumped out of its code, or broke its stack.
    Corrupt,
    /// It ended otherwise: a trap, or a fault that the device does not name.
    Trap,
    /// The memory of the device had an error that it could not correct.
    MemoryError,
    /// The system ended it because it ran too long on a device that also drives a display.
    SystemTimeout,
    /// The device is gone.
    DeviceLost,
}

impl Fault {
    /// What happened, in words.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::IllegalAddress => {
                "a kernel read or wrote memory outside its buffers (illegal address)"
            }
            Self::MisalignedAddress => "a kernel used a misaligned address",
            Self::IllegalInstruction => "a kernel ran into an illegal instruction",
            Self::Assert => "an assertion in a kernel failed",
            Self::Corrupt => "a kernel used an invalid address space, program counter or stack",
            Self::Trap => "a kernel ended in a trap or an unspecified failure",
            Self::MemoryError => "device memory had an uncorrectable ECC error",
            Self::SystemTimeout => "the system ended a kernel that ran too long (display watchdog)",
            Self::DeviceLost => "the device is lost",
        }
    }

    /// What to do about it.
    #[must_use]
    pub const fn hint(self) -> &'static str {
        match self {
            Self::IllegalAddress | Self::MisalignedAddress | Self::Corrupt | Self::Trap => {
                "run it under `compute-sanitizer`, which names the thread and the line"
            }
            Self::IllegalInstruction => "check that the image was compiled for this device",
            Self::Assert => "see the assertion's message on the standard output of the process",
            Self::MemoryError | Self::DeviceLost => {
                "see `nvidia-smi -q` and the system's log (Xid)"
            }
            Self::SystemTimeout => "use smaller problems, or a device without a display",
        }
    }
}

/// Why a call to a device failed.
///
/// After a fatal one ([`DeviceError::is_fatal`]) every later call gives [`DeviceError::Dead`]: a context does not come
/// back, only a new process has a new one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum DeviceError {
    /// There is no GPU to work on.
    NoGpu(Box<NoGpu>),
    /// The driver is too old for something.
    DriverTooOld {
        /// What was asked for.
        feature: &'static str,
        /// From where on the driver can do it.
        needed: Version,
        /// The driver's version.
        found: Version,
    },
    /// The device or its sensors cannot do it.
    Unsupported {
        /// What was asked for.
        feature: &'static str,
        /// Why not.
        reason: String,
    },
    /// It needs a right that this process does not have.
    NoPermission {
        /// What was asked for.
        feature: &'static str,
    },
    /// The process that keeps the clock locked does not do its work.
    Keeper {
        /// What is wrong with it.
        reason: String,
    },
    /// There is no NVRTC to compile with.
    NoCompiler(Box<NoCompiler>),
    /// Source was not compiled.
    Compile(Box<CompileError>),
    /// An image is none, or none for this device.
    InvalidImage {
        /// The driver's word for it.
        reason: String,
        /// What the driver's compiler said about PTX; empty where it said nothing.
        log: String,
    },
    /// An image has no kernel of this name.
    NoSuchFunction {
        /// The name that was asked for.
        name: String,
        /// The names that it has, where they can be listed.
        known: Vec<String>,
    },
    /// An image has no variable of this name.
    NoSuchGlobal {
        /// The name that was asked for.
        name: String,
    },
    /// Arguments, shape or shared memory of a launch do not fit kernel or device.
    InvalidLaunch {
        /// What does not fit, with the value and the limit.
        reason: String,
    },
    /// The device has not enough registers, shared memory or clusters for the launch.
    LaunchOutOfResources {
        /// The kernel.
        function: String,
        /// The threads of a block, its registers and its shared memory.
        detail: String,
    },
    /// There is not enough memory.
    OutOfMemory {
        /// What was asked for.
        asked: Bytes,
        /// What was free, where it is known.
        free: Option<Bytes>,
        /// Whether it was memory of the host.
        is_host: bool,
    },
    /// A range is not inside its buffer.
    OutOfRange {
        /// Where it starts, in bytes.
        offset: u64,
        /// Its bytes.
        bytes: u64,
        /// The bytes of the buffer.
        size: u64,
    },
    /// A buffer, stream or other handle belongs to another device.
    Foreign {
        /// What it is.
        what: &'static str,
    },
    /// An event was not recorded, or what was queued before it is not done.
    NotReady,
    /// A kernel ended the context.
    Fault {
        /// What it did.
        fault: Fault,
        /// The call that found out: a later one than the launch.
        call: &'static str,
    },
    /// Work did not end in time. The context is given up with it.
    Timeout {
        /// How long was waited.
        after: Nanos,
    },
    /// A stream was blocked for so long that it released itself: something waited for work that could not start.
    BlockExpired {
        /// How long it was blocked.
        after: Nanos,
    },
    /// An earlier error ended the context.
    Dead {
        /// That error.
        cause: Box<DeviceError>,
    },
    /// The driver refused a call for a reason that has no variant of its own.
    Driver {
        /// The function.
        call: &'static str,
        /// The driver's number.
        number: i32,
        /// The driver's name and text for it.
        reason: String,
    },
    /// A failure that a test asked the simulated device for.
    Injected {
        /// The call.
        call: &'static str,
    },
}

impl DeviceError {
    /// The stable code of the reason.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoGpu(reason) => reason.code(),
            Self::DriverTooOld { .. } => "GPU0110",
            Self::Unsupported { .. } => "GPU0111",
            Self::NoPermission { .. } => "GPU0112",
            Self::Keeper { .. } => "GPU0113",
            Self::NoCompiler(reason) => reason.code(),
            Self::Compile(reason) => reason.code(),
            Self::InvalidImage { .. } => "GPU0120",
            Self::NoSuchFunction { .. } => "GPU0121",
            Self::InvalidLaunch { .. } => "GPU0122",
            Self::LaunchOutOfResources { .. } => "GPU0123",
            Self::OutOfMemory { .. } => "GPU0124",
            Self::OutOfRange { .. } => "GPU0125",
            Self::Foreign { .. } => "GPU0126",
            Self::NotReady => "GPU0127",
            Self::NoSuchGlobal { .. } => "GPU0128",
            Self::Fault { .. } => "GPU0130",
            Self::Timeout { .. } => "GPU0131",
            Self::BlockExpired { .. } => "GPU0132",
            Self::Dead { .. } => "GPU0133",
            Self::Driver { .. } => "GPU0140",
            Self::Injected { .. } => "GPU0199",
        }
    }

    /// Whether the context is of no more use: the process can report, and then has to end.
    #[must_use]
    pub const fn is_fatal(&self) -> bool {
        matches!(
            self,
            Self::Fault { .. } | Self::Timeout { .. } | Self::Dead { .. }
        )
    }

    /// The first error, where this one only repeats that there was one.
    #[must_use]
    pub fn root(&self) -> &Self {
        match self {
            Self::Dead { cause } => cause.root(),
            other => other,
        }
    }

    /// What to do about it, where there is something.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoGpu(reason) => reason.hint(),
            Self::DriverTooOld { needed, .. } => {
                format!("update NVIDIA's driver to one for CUDA {needed} or later")
            }
            Self::NoPermission { .. } => "run it as root, or do without".to_owned(),
            Self::Keeper { .. } => {
                "see `nvidia-smi -q -d CLOCK`; `nvidia-smi -rgc` leaves the clock to the driver again".to_owned()
            }
            Self::NoCompiler(_) => {
                "install the CUDA toolkit or the Python package nvidia-cuda-nvrtc, or set RIDGE_NVRTC to libnvrtc.so; \
                 images (cubin, PTX, fatbin) need no compiler"
                    .to_owned()
            }
            Self::InvalidImage { .. } => {
                "compile it for this device, or to PTX, which the driver compiles".to_owned()
            }
            Self::NoSuchGlobal { .. } => {
                "`__device__` and `__constant__` variables of the file have their plain names; those of a namespace, static \
                 ones and those that no kernel uses may have none"
                    .to_owned()
            }
            Self::LaunchOutOfResources { .. } => {
                "use a smaller block, or compile with __launch_bounds__ or --maxrregcount".to_owned()
            }
            Self::OutOfMemory { is_host: false, .. } => {
                "use a smaller problem, or end other processes on the GPU (`nvidia-smi`)".to_owned()
            }
            Self::Fault { fault, .. } => fault.hint().to_owned(),
            Self::Timeout { .. } => "allow more time, or look for a loop or a barrier that never ends".to_owned(),
            Self::BlockExpired { .. } => {
                "something waited inside the timed region: an allocation, a module that is loaded there, a profiler, or \
                 too many launches in the queue"
                    .to_owned()
            }
            Self::Dead { cause } => return cause.hint(),
            _ => return None,
        })
    }
}

impl From<NoGpu> for DeviceError {
    fn from(reason: NoGpu) -> Self {
        Self::NoGpu(Box::new(reason))
    }
}

impl From<NoCompiler> for DeviceError {
    fn from(reason: NoCompiler) -> Self {
        Self::NoCompiler(Box::new(reason))
    }
}

impl From<CompileError> for DeviceError {
    fn from(reason: CompileError) -> Self {
        Self::Compile(Box::new(reason))
    }
}

impl fmt::Display for DeviceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoGpu(reason) => reason.fmt(f),
            Self::DriverTooOld {
                feature,
                needed,
                found,
            } => write!(
                f,
                "{feature} needs a driver for CUDA {needed}, and this one is for {found}"
            ),
            Self::Unsupported { feature, reason } => {
                write!(f, "{feature} is not supported: {reason}")
            }
            Self::NoPermission { feature } => write!(f, "{feature} is not permitted to this user"),
            Self::Keeper { reason } => {
                write!(
                    f,
                    "the process that keeps the clock locked is of no use: {reason}"
                )
            }
            Self::NoCompiler(reason) => reason.fmt(f),
            Self::Compile(reason) => reason.fmt(f),
            Self::InvalidImage { reason, log } => {
                write!(f, "the image cannot be loaded: {reason}")?;
                let first = log.lines().find(|line| !line.trim().is_empty());
                first.map_or(Ok(()), |line| write!(f, ": {}", line.trim()))
            }
            Self::NoSuchFunction { name, known } => {
                write!(f, "the image has no kernel {name}")?;
                if known.is_empty() {
                    return Ok(());
                }
                write!(f, "; it has {}", known.join(", "))
            }
            Self::NoSuchGlobal { name } => write!(f, "the image has no variable {name}"),
            Self::InvalidLaunch { reason } => write!(f, "the launch does not fit: {reason}"),
            Self::LaunchOutOfResources { function, detail } => {
                write!(
                    f,
                    "the launch of {function} needs more than the device has: {detail}"
                )
            }
            Self::OutOfMemory {
                asked,
                free,
                is_host,
            } => {
                let owner = if *is_host { "host" } else { "device" };
                write!(f, "{owner} memory is not enough: {asked} asked for")?;
                free.map_or(Ok(()), |free| write!(f, ", {free} free"))
            }
            Self::OutOfRange {
                offset,
                bytes,
                size,
            } => write!(
                f,
                "{bytes} bytes from {offset} on are not inside a buffer of {size} bytes"
            ),
            Self::Foreign { what } => write!(f, "the {what} belongs to another device"),
            Self::NotReady => write!(f, "an event was not recorded, or is not reached yet"),
            Self::Fault { fault, call } => write!(f, "{}; seen by {call}", fault.text()),
            Self::Timeout { after } => write!(f, "work on the GPU did not end within {after}"),
            Self::BlockExpired { after } => {
                write!(f, "the blocked stream was not released within {after}")
            }
            Self::Dead { cause } => write!(f, "the context ended earlier: {cause}"),
            Self::Driver {
                call,
                number,
                reason,
            } => write!(f, "{call} failed with {number}: {reason}"),
            Self::Injected { call } => write!(f, "{call} failed because a test wanted it"),
        }
    }
}

impl std::error::Error for DeviceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Dead { cause } => Some(&**cause),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_decoded_as_the_driver_encodes_them() {
        assert_eq!(Version::decode(13_020), Version::new(13, 2));
        assert_eq!(Version::decode(11_040).to_string(), "11.4");
        assert!(Version::new(12, 4) < Version::new(13, 0));
    }

    #[test]
    fn what_ended_a_context_is_told_again() {
        let fault = DeviceError::Fault {
            fault: Fault::IllegalAddress,
            call: "cuStreamSynchronize",
        };
        let dead = DeviceError::Dead {
            cause: Box::new(fault.clone()),
        };
        assert!(fault.is_fatal() && dead.is_fatal());
        assert_eq!(dead.root(), &fault);
        assert_eq!(dead.hint(), fault.hint());
        assert_eq!(
            dead.to_string(),
            "the context ended earlier: a kernel read or wrote memory outside its buffers (illegal address); seen by \
             cuStreamSynchronize"
        );
    }
}
