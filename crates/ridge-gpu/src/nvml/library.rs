//! The functions of NVML behind safe ones. One of the files of this crate that need `unsafe`.
//!
//! Signatures and numbers follow the documentation of NVML. Each function is optional: what a version lacks, or a device
//! does not support, is absent.
#![expect(
    unsafe_code,
    reason = "functions of a library of another language are unsafe to call"
)]

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::path::{Path, PathBuf};
use std::ptr;

/// A result code; zero is success.
type Status = c_int;

const INVALID_ARGUMENT: Status = 2;
const NOT_SUPPORTED: Status = 3;
const NO_PERMISSION: Status = 4;
const INSUFFICIENT_SIZE: Status = 7;

/// The question whether two GPUs reach each other over NVLink, and the answer that they do.
const P2P_NVLINK: c_int = 2;
const P2P_OK: c_int = 0;
/// No GPU has as many links.
const MOST_LINKS: c_uint = 64;

const CLOCK_SM: c_int = 1;
const CLOCK_MEMORY: c_int = 2;
const TEMPERATURE_GPU: c_int = 0;

/// A process, in the shape that the functions of version 2 and 3 have.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Process {
    pid: c_uint,
    memory: u64,
    gpu_instance: c_uint,
    compute_instance: c_uint,
}

/// NVML's word for memory that it cannot tell.
const NO_VALUE: u64 = u64::MAX;

/// A clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    Sm,
    Memory,
}

impl Clock {
    const fn number(self) -> c_int {
        match self {
            Self::Sm => CLOCK_SM,
            Self::Memory => CLOCK_MEMORY,
        }
    }
}

/// Why a setting was not changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    NoPermission,
    NotSupported,
    InvalidClock,
    Other(String),
}

macro_rules! functions {
    ($($field:ident: $($symbol:literal)|+ ($($parameter:ty),*);)*) => {
        struct Functions {
            $($field: Option<unsafe extern "C" fn($($parameter),*) -> Status>,)*
        }

        impl Functions {
            fn of(loaded: &libloading::Library) -> Self {
                Self {
                    $($field: {
                        let mut found = None;
                        for name in [$(concat!($symbol, "\0")),+] {
                            // SAFETY: the type is that of the functions of these names, as the vendor documents them. The
                            // library is never unloaded.
                            let symbol = unsafe {
                                loaded.get::<unsafe extern "C" fn($($parameter),*) -> Status>(name.as_bytes())
                            };
                            found = found.or(symbol.ok().map(|symbol| *symbol));
                        }
                        found
                    },)*
                }
            }
        }
    };
}

functions! {
    init: "nvmlInit_v2" ();
    driver_release: "nvmlSystemGetDriverVersion" (*mut c_char, c_uint);
    by_uuid: "nvmlDeviceGetHandleByUUID" (*const c_char, *mut *mut c_void);
    by_pci: "nvmlDeviceGetHandleByPciBusId_v2" (*const c_char, *mut *mut c_void);
    parent: "nvmlDeviceGetDeviceHandleFromMigDeviceHandle" (*mut c_void, *mut *mut c_void);
    clock: "nvmlDeviceGetClockInfo" (*mut c_void, c_int, *mut c_uint);
    max_clock: "nvmlDeviceGetMaxClockInfo" (*mut c_void, c_int, *mut c_uint);
    base_clock: "nvmlDeviceGetDefaultApplicationsClock" (*mut c_void, c_int, *mut c_uint);
    power: "nvmlDeviceGetPowerUsage" (*mut c_void, *mut c_uint);
    power_limit: "nvmlDeviceGetEnforcedPowerLimit" (*mut c_void, *mut c_uint);
    energy: "nvmlDeviceGetTotalEnergyConsumption" (*mut c_void, *mut u64);
    temperature: "nvmlDeviceGetTemperature" (*mut c_void, c_int, *mut c_uint);
    reasons: "nvmlDeviceGetCurrentClocksEventReasons" | "nvmlDeviceGetCurrentClocksThrottleReasons"
        (*mut c_void, *mut u64);
    processes: "nvmlDeviceGetComputeRunningProcesses_v3" | "nvmlDeviceGetComputeRunningProcesses_v2"
        (*mut c_void, *mut c_uint, *mut Process);
    p2p: "nvmlDeviceGetP2PStatus" (*mut c_void, *mut c_void, c_int, *mut c_int);
    nvlink: "nvmlDeviceGetNvLinkState" (*mut c_void, c_uint, *mut c_int);
    persistence: "nvmlDeviceGetPersistenceMode" (*mut c_void, *mut c_int);
    count: "nvmlDeviceGetCount_v2" (*mut c_uint);
    by_index: "nvmlDeviceGetHandleByIndex_v2" (c_uint, *mut *mut c_void);
    name: "nvmlDeviceGetName" (*mut c_void, *mut c_char, c_uint);
    uuid: "nvmlDeviceGetUUID" (*mut c_void, *mut c_char, c_uint);
    capability: "nvmlDeviceGetCudaComputeCapability" (*mut c_void, *mut c_int, *mut c_int);
    mig_mode: "nvmlDeviceGetMigMode" (*mut c_void, *mut c_uint, *mut c_uint);
    ecc_mode: "nvmlDeviceGetEccMode" (*mut c_void, *mut c_int, *mut c_int);
    lock: "nvmlDeviceSetGpuLockedClocks" (*mut c_void, c_uint, c_uint);
    unlock: "nvmlDeviceResetGpuLockedClocks" (*mut c_void);
}

/// NVML, loaded and started.
pub(crate) struct Nvml {
    functions: Functions,
    /// Never unloaded, as the driver.
    _loaded: libloading::Library,
}

impl Nvml {
    /// Loads the first candidate that is there and starts it; else why not.
    pub(crate) fn load(candidates: &[PathBuf]) -> Result<&'static Self, String> {
        let loaded = candidates.iter().find_map(|path| open(path));
        let loaded = loaded.ok_or_else(|| {
            let tried: Vec<String> = candidates
                .iter()
                .map(|path| path.display().to_string())
                .collect();
            format!("NVML is not installed; looked for {}", tried.join(", "))
        })?;
        let functions = Functions::of(&loaded);
        let init = functions
            .init
            .ok_or("NVML is too old: it has no nvmlInit_v2")?;
        // SAFETY: the function has no precondition.
        let status = unsafe { init() };
        if status != 0 {
            return Err(format!("NVML does not start: error {status}"));
        }
        Ok(Box::leak(Box::new(Self {
            functions,
            _loaded: loaded,
        })))
    }

    /// The driver's own version.
    pub(crate) fn driver_release(&self) -> Option<String> {
        let get = self.functions.driver_release?;
        let mut text = [0_u8; 96];
        // SAFETY: the buffer has as many bytes as are announced.
        let status = unsafe { get(text.as_mut_ptr().cast(), 96) };
        let text = CStr::from_bytes_until_nul(&text).ok()?;
        (status == 0).then(|| text.to_string_lossy().into_owned())
    }

    /// How many GPUs there are, whether this process may use them or not.
    pub(crate) fn count(&self) -> Option<u32> {
        let mut count = 0;
        // SAFETY: the pointer is to a value of the documented type that outlives the call.
        let status = unsafe { self.functions.count?(&raw mut count) };
        (status == 0).then_some(count)
    }

    /// The GPU with a number of NVML's own, which is not the driver's.
    pub(crate) fn by_index(&'static self, place: u32) -> Option<Gpu> {
        let mut device = ptr::null_mut();
        // SAFETY: the pointer is to one that outlives the call; NVML checks the number.
        let status = unsafe { self.functions.by_index?(place, &raw mut device) };
        (status == 0).then_some(Gpu { nvml: self, device })
    }

    /// The GPU with an identifier. One of a partition leads to its GPU, which has the sensors.
    pub(crate) fn by_uuid(&'static self, uuid: &str) -> Option<Gpu> {
        let get = self.functions.by_uuid?;
        let text = CString::new(uuid).ok()?;
        let mut device = ptr::null_mut();
        // SAFETY: the text ends in zero; the pointer is to one that outlives the call.
        let status = unsafe { get(text.as_ptr(), &raw mut device) };
        if status != 0 {
            return None;
        }
        if uuid.starts_with("MIG-") {
            let get = self.functions.parent?;
            let mut parent = ptr::null_mut();
            // SAFETY: NVML gave the handle just now; the pointer is to one that outlives the call.
            let status = unsafe { get(device, &raw mut parent) };
            device = if status == 0 { parent } else { return None };
        }
        Some(Gpu { nvml: self, device })
    }

    /// The GPU at a place on the bus.
    pub(crate) fn by_pci(&'static self, pci: &str) -> Option<Gpu> {
        let get = self.functions.by_pci?;
        let text = CString::new(pci).ok()?;
        let mut device = ptr::null_mut();
        // SAFETY: the text ends in zero; the pointer is to one that outlives the call.
        let status = unsafe { get(text.as_ptr(), &raw mut device) };
        (status == 0).then_some(Gpu { nvml: self, device })
    }
}

/// A GPU in NVML.
#[derive(Clone, Copy)]
pub(crate) struct Gpu {
    nvml: &'static Nvml,
    device: *mut c_void,
}

impl Gpu {
    /// A number that a function stores behind its device.
    fn number<T: Default>(
        self,
        get: Option<unsafe extern "C" fn(*mut c_void, *mut T) -> Status>,
    ) -> Option<T> {
        let mut value = T::default();
        // SAFETY: NVML gave the handle, and is never unloaded; the pointer is to a value of the documented type that outlives
        // the call.
        let status = unsafe { get?(self.device, &raw mut value) };
        (status == 0).then_some(value)
    }

    /// The same for a function that is told which number.
    fn chosen(
        self,
        get: Option<unsafe extern "C" fn(*mut c_void, c_int, *mut c_uint) -> Status>,
        which: c_int,
    ) -> Option<u32> {
        let mut value = 0;
        // SAFETY: as above.
        let status = unsafe { get?(self.device, which, &raw mut value) };
        (status == 0).then_some(value)
    }

    /// Two numbers that a function stores behind its device.
    fn pair<T: Default>(
        self,
        get: Option<unsafe extern "C" fn(*mut c_void, *mut T, *mut T) -> Status>,
    ) -> Option<(T, T)> {
        let (mut first, mut second) = (T::default(), T::default());
        // SAFETY: NVML gave the handle, and is never unloaded; the pointers are to values of the documented type that
        // outlive the call.
        let status = unsafe { get?(self.device, &raw mut first, &raw mut second) };
        (status == 0).then_some((first, second))
    }

    /// A text that a function stores behind its device.
    fn text(
        self,
        get: Option<unsafe extern "C" fn(*mut c_void, *mut c_char, c_uint) -> Status>,
    ) -> Option<String> {
        let mut text = [0_u8; 96];
        // SAFETY: NVML gave the handle; the buffer has as many bytes as are announced.
        let status = unsafe { get?(self.device, text.as_mut_ptr().cast(), 96) };
        let text = CStr::from_bytes_until_nul(&text).ok()?;
        (status == 0).then(|| text.to_string_lossy().into_owned())
    }

    pub(crate) fn name(self) -> Option<String> {
        self.text(self.nvml.functions.name)
    }

    pub(crate) fn uuid(self) -> Option<String> {
        self.text(self.nvml.functions.uuid)
    }

    /// The compute capability, major and minor.
    pub(crate) fn capability(self) -> Option<(u32, u32)> {
        let (major, minor) = self.pair(self.nvml.functions.capability)?;
        Some((major.try_into().ok()?, minor.try_into().ok()?))
    }

    /// Whether it is cut into partitions; absent where it cannot be.
    pub(crate) fn is_mig_on(self) -> Option<bool> {
        self.pair(self.nvml.functions.mig_mode)
            .map(|(now, _after_restart)| now != 0)
    }

    pub(crate) fn is_ecc_on(self) -> Option<bool> {
        self.pair(self.nvml.functions.ecc_mode)
            .map(|(now, _after_restart)| now != 0)
    }

    /// A clock in MHz.
    pub(crate) fn clock(self, clock: Clock) -> Option<u32> {
        self.chosen(self.nvml.functions.clock, clock.number())
    }

    /// The highest clock in MHz.
    pub(crate) fn max_clock(self, clock: Clock) -> Option<u32> {
        self.chosen(self.nvml.functions.max_clock, clock.number())
    }

    /// The clock that applications get by default, in MHz.
    pub(crate) fn base_clock(self, clock: Clock) -> Option<u32> {
        self.chosen(self.nvml.functions.base_clock, clock.number())
            .filter(|clock| *clock > 0)
    }

    /// Milliwatts.
    pub(crate) fn power(self) -> Option<u32> {
        self.number(self.nvml.functions.power)
    }

    /// Milliwatts.
    pub(crate) fn power_limit(self) -> Option<u32> {
        self.number(self.nvml.functions.power_limit)
    }

    /// Millijoules.
    pub(crate) fn energy(self) -> Option<u64> {
        self.number(self.nvml.functions.energy)
    }

    /// Degrees Celsius.
    pub(crate) fn temperature(self) -> Option<u32> {
        self.chosen(self.nvml.functions.temperature, TEMPERATURE_GPU)
    }

    /// What holds the clocks down, as bits.
    pub(crate) fn reasons(self) -> Option<u64> {
        self.number(self.nvml.functions.reasons)
    }

    pub(crate) fn is_persistent(self) -> Option<bool> {
        self.number(self.nvml.functions.persistence)
            .map(|mode| mode != 0)
    }

    /// Processes with the bytes that they hold, where NVML can tell.
    pub(crate) fn processes(self) -> Option<Vec<(u32, Option<u64>)>> {
        let list = self.nvml.functions.processes?;
        let mut processes = vec![Process::default(); 64];
        loop {
            let mut count = c_uint::try_from(processes.len()).ok()?;
            // SAFETY: NVML gave the handle; the list has room for as many as are announced.
            let status = unsafe { list(self.device, &raw mut count, processes.as_mut_ptr()) };
            match status {
                0 => {
                    let listed = processes.into_iter().take(count as usize);
                    let told = |memory: u64| (memory != NO_VALUE).then_some(memory);
                    return Some(
                        listed
                            .map(|process| (process.pid, told(process.memory)))
                            .collect(),
                    );
                }
                // More may have started since: half as many again.
                INSUFFICIENT_SIZE if processes.len() < 10_000 => {
                    let wanted = (count as usize + count as usize / 2).max(processes.len() * 2);
                    processes.resize(wanted, Process::default());
                }
                _ => return None,
            }
        }
    }

    /// Whether this GPU reaches another one over NVLink.
    pub(crate) fn has_nvlink_to(self, other: Self) -> Option<bool> {
        let get = self.nvml.functions.p2p?;
        let mut answer = 0;
        // SAFETY: NVML gave both handles; the pointer is to an enumeration, which is an integer, that outlives the call.
        let status = unsafe { get(self.device, other.device, P2P_NVLINK, &raw mut answer) };
        (status == 0).then_some(answer == P2P_OK)
    }

    /// How many of its NVLinks are up; absent where NVML knows of none.
    pub(crate) fn nvlinks(self) -> Option<u32> {
        let get = self.nvml.functions.nvlink?;
        let mut up = 0;
        for link in 0..MOST_LINKS {
            let mut is_up = 0;
            // SAFETY: NVML gave the handle and checks the number; the pointer is to an enumeration that outlives the call.
            let status = unsafe { get(self.device, link, &raw mut is_up) };
            // The numbers of links have no gaps.
            if status != 0 {
                break;
            }
            up += u32::from(is_up != 0);
        }
        (up > 0).then_some(up)
    }

    /// Locks the SM clock to a range, in MHz.
    pub(crate) fn lock(self, lowest: u32, highest: u32) -> Result<(), Refused> {
        let lock = self.nvml.functions.lock.ok_or(Refused::NotSupported)?;
        // SAFETY: NVML gave the handle, and checks the numbers.
        outcome(unsafe { lock(self.device, lowest, highest) })
    }

    /// Leaves the SM clock to the driver.
    pub(crate) fn unlock(self) -> Result<(), Refused> {
        let unlock = self.nvml.functions.unlock.ok_or(Refused::NotSupported)?;
        // SAFETY: NVML gave the handle.
        outcome(unsafe { unlock(self.device) })
    }
}

fn outcome(status: Status) -> Result<(), Refused> {
    match status {
        0 => Ok(()),
        INVALID_ARGUMENT => Err(Refused::InvalidClock),
        NOT_SUPPORTED => Err(Refused::NotSupported),
        NO_PERMISSION => Err(Refused::NoPermission),
        other => Err(Refused::Other(format!("NVML error {other}"))),
    }
}

/// Whether a library can be loaded. It stays so.
pub(crate) fn loads(path: &Path) -> bool {
    open(path)
        .map(|library| Box::leak(Box::new(library)))
        .is_some()
}

fn open(path: &Path) -> Option<libloading::Library> {
    // SAFETY: loading runs the library's initialisers. The user installed it as the vendor's library, or named it.
    unsafe { libloading::Library::new(path) }.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_not_there_is_told_and_no_panic() {
        let error = Nvml::load(&[PathBuf::from("/nonexistent/libnvidia-ml.so.1")]).err();
        assert_eq!(
            error.as_deref(),
            Some("NVML is not installed; looked for /nonexistent/libnvidia-ml.so.1")
        );
    }

    #[test]
    fn a_process_has_the_documented_layout() {
        assert_eq!(size_of::<Process>(), 24);
        assert_eq!(std::mem::offset_of!(Process, memory), 8);
    }

    #[test]
    fn what_nvml_answers_is_told_apart() {
        assert_eq!(outcome(0), Ok(()));
        assert_eq!(outcome(4), Err(Refused::NoPermission));
        assert_eq!(outcome(3), Err(Refused::NotSupported));
        assert_eq!(outcome(15), Err(Refused::Other("NVML error 15".to_owned())));
    }
}
