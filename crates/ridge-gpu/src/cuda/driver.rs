//! The functions of NVIDIA's driver behind safe ones. One of the files of this crate that need `unsafe`.
//!
//! Signatures and numbers follow the documentation of the driver's interface (CUDA Driver API, "Data types" and the
//! chapters on devices, contexts, modules, memory, streams, events, execution and graphs). Where a function has had several
//! shapes, the name is that of the symbol with the documented one, such as `cuMemAlloc_v2`.
#![expect(
    unsafe_code,
    reason = "functions of a library of another language are unsafe to call"
)]

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::path::{Path, PathBuf};
use std::ptr;

use crate::error::{NoGpu, Version};

/// A result code; zero is success.
pub(super) type Status = c_int;
/// A device's number in the driver.
pub(super) type DeviceNumber = c_int;
/// An address on the device.
pub(super) type Address = u64;
/// A handle: a pointer that only the driver looks behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Handle(*mut c_void);

impl Handle {
    /// The pointer, for libraries that work in streams of the driver.
    pub(super) const fn pointer(self) -> *mut c_void {
        self.0
    }
}

/// Status codes that are told apart.
pub(super) mod status {
    use super::Status;

    pub(crate) const INVALID_VALUE: Status = 1;
    pub(crate) const OUT_OF_MEMORY: Status = 2;
    pub(crate) const STUB_LIBRARY: Status = 34;
    pub(crate) const DEVICE_UNAVAILABLE: Status = 46;
    pub(crate) const NO_DEVICE: Status = 100;
    pub(crate) const INVALID_IMAGE: Status = 200;
    pub(crate) const NO_BINARY_FOR_GPU: Status = 209;
    pub(crate) const ECC_UNCORRECTABLE: Status = 214;
    pub(crate) const INVALID_PTX: Status = 218;
    pub(crate) const JIT_COMPILER_NOT_FOUND: Status = 221;
    pub(crate) const NVLINK_UNCORRECTABLE: Status = 220;
    pub(crate) const CONTAINED: Status = 226;
    pub(crate) const UNSUPPORTED_PTX_VERSION: Status = 222;
    pub(crate) const INVALID_SOURCE: Status = 300;
    pub(crate) const NOT_FOUND: Status = 500;
    pub(crate) const NOT_READY: Status = 600;
    pub(crate) const ILLEGAL_ADDRESS: Status = 700;
    pub(crate) const LAUNCH_OUT_OF_RESOURCES: Status = 701;
    pub(crate) const LAUNCH_TIMEOUT: Status = 702;
    pub(crate) const CONTEXT_IS_DESTROYED: Status = 709;
    pub(crate) const ASSERT: Status = 710;
    pub(crate) const HARDWARE_STACK_ERROR: Status = 714;
    pub(crate) const ILLEGAL_INSTRUCTION: Status = 715;
    pub(crate) const MISALIGNED_ADDRESS: Status = 716;
    pub(crate) const INVALID_ADDRESS_SPACE: Status = 717;
    pub(crate) const INVALID_PC: Status = 718;
    pub(crate) const LAUNCH_FAILED: Status = 719;
    pub(crate) const NOT_SUPPORTED: Status = 801;
    pub(crate) const PEER_ACCESS_ALREADY_ENABLED: Status = 704;
    pub(crate) const MPS_CLIENT_TERMINATED: Status = 810;
    pub(crate) const INVALID_CLUSTER_SIZE: Status = 912;
}

/// Attributes of a device.
pub(super) mod device_attribute {
    use std::ffi::c_int;

    pub(crate) const MAX_THREADS_PER_BLOCK: c_int = 1;
    pub(crate) const MAX_SHARED_MEMORY_PER_BLOCK: c_int = 8;
    pub(crate) const CLOCK_RATE: c_int = 13;
    pub(crate) const MULTIPROCESSOR_COUNT: c_int = 16;
    pub(crate) const KERNEL_EXEC_TIMEOUT: c_int = 17;
    pub(crate) const ECC_ENABLED: c_int = 32;
    pub(crate) const MEMORY_CLOCK_RATE: c_int = 36;
    pub(crate) const GLOBAL_MEMORY_BUS_WIDTH: c_int = 37;
    pub(crate) const L2_CACHE_SIZE: c_int = 38;
    pub(crate) const ASYNC_ENGINE_COUNT: c_int = 40;
    pub(crate) const COMPUTE_CAPABILITY_MAJOR: c_int = 75;
    pub(crate) const COMPUTE_CAPABILITY_MINOR: c_int = 76;
    pub(crate) const MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: c_int = 97;
    pub(crate) const MAX_PERSISTING_L2_CACHE_SIZE: c_int = 108;
    pub(crate) const CLUSTER_LAUNCH: c_int = 120;
}

/// Attributes of a function.
pub(super) mod function_attribute {
    use std::ffi::c_int;

    pub(crate) const MAX_THREADS_PER_BLOCK: c_int = 0;
    pub(crate) const SHARED_SIZE_BYTES: c_int = 1;
    pub(crate) const CONST_SIZE_BYTES: c_int = 2;
    pub(crate) const LOCAL_SIZE_BYTES: c_int = 3;
    pub(crate) const NUM_REGS: c_int = 4;
    pub(crate) const PTX_VERSION: c_int = 5;
    pub(crate) const BINARY_VERSION: c_int = 6;
    pub(crate) const MAX_DYNAMIC_SHARED_SIZE_BYTES: c_int = 8;
    pub(crate) const NON_PORTABLE_CLUSTER_SIZE_ALLOWED: c_int = 14;
}

/// A stream that does not wait for the default one.
const STREAM_NON_BLOCKING: c_uint = 1;
/// Host memory that the device can address.
const HOST_DEVICE_MAP: c_uint = 2;
/// Capture that only watches the calls of this thread.
const CAPTURE_THREAD_LOCAL: c_int = 1;
/// Options of the driver's compiler.
const JIT_ERROR_LOG_BUFFER: c_int = 5;
const JIT_ERROR_LOG_BUFFER_SIZE_BYTES: c_int = 6;
/// The attribute of a launch that holds the shape of a cluster.
const LAUNCH_CLUSTER_DIMENSION: c_int = 4;
/// Room for what the driver's compiler says.
const JIT_LOG_BYTES: usize = 16 << 10;

/// An attribute of a launch: a number, then 64 bytes that depend on it.
#[repr(C)]
struct LaunchAttribute {
    id: c_int,
    padding: [u8; 4],
    value: [u32; 16],
}

/// A launch with attributes.
#[repr(C)]
struct LaunchConfig {
    grid: [c_uint; 3],
    block: [c_uint; 3],
    shared_bytes: c_uint,
    stream: *mut c_void,
    attributes: *mut LaunchAttribute,
    attribute_count: c_uint,
}

/// Declares the table: for each function the field, the symbol and its parameters. Those that are required are in every
/// driver from 11.4 on.
macro_rules! functions {
    (
        required { $($field:ident: $symbol:literal ($($parameter:ty),*);)* }
        optional { $($newer:ident: $newer_symbol:literal ($($newer_parameter:ty),*);)* }
    ) => {
        struct Functions {
            $($field: unsafe extern "C" fn($($parameter),*) -> Status,)*
            $($newer: Option<unsafe extern "C" fn($($newer_parameter),*) -> Status>,)*
        }

        /// The symbol of a function, by the name of its field.
        fn symbol(field: &'static str) -> &'static str {
            match field {
                $(stringify!($field) => $symbol,)*
                $(stringify!($newer) => $newer_symbol,)*
                other => other,
            }
        }

        impl Functions {
            /// Looks all functions up; the name of a required one that is missing.
            fn of(loaded: &libloading::Library) -> Result<Self, &'static str> {
                Ok(Self {
                    $($field: {
                        let name = concat!($symbol, "\0").as_bytes();
                        // SAFETY: the type is that of the function of this name, as the vendor documents it. The library is
                        // never unloaded.
                        let symbol = unsafe {
                            loaded.get::<unsafe extern "C" fn($($parameter),*) -> Status>(name)
                        };
                        *symbol.map_err(|_| $symbol)?
                    },)*
                    $($newer: {
                        let name = concat!($newer_symbol, "\0").as_bytes();
                        // SAFETY: as above.
                        let symbol = unsafe {
                            loaded.get::<unsafe extern "C" fn($($newer_parameter),*) -> Status>(name)
                        };
                        symbol.ok().map(|symbol| *symbol)
                    },)*
                })
            }
        }
    };
}

functions! {
    required {
        init: "cuInit" (c_uint);
        driver_version: "cuDriverGetVersion" (*mut c_int);
        error_name: "cuGetErrorName" (Status, *mut *const c_char);
        error_string: "cuGetErrorString" (Status, *mut *const c_char);
        device_count: "cuDeviceGetCount" (*mut c_int);
        device_get: "cuDeviceGet" (*mut DeviceNumber, c_int);
        device_name: "cuDeviceGetName" (*mut c_char, c_int, DeviceNumber);
        device_attribute: "cuDeviceGetAttribute" (*mut c_int, c_int, DeviceNumber);
        device_memory: "cuDeviceTotalMem_v2" (*mut usize, DeviceNumber);
        device_pci: "cuDeviceGetPCIBusId" (*mut c_char, c_int, DeviceNumber);
        context_retain: "cuDevicePrimaryCtxRetain" (*mut *mut c_void, DeviceNumber);
        context_release: "cuDevicePrimaryCtxRelease_v2" (DeviceNumber);
        context_set: "cuCtxSetCurrent" (*mut c_void);
        peer_access: "cuDeviceCanAccessPeer" (*mut c_int, DeviceNumber, DeviceNumber);
        peer_enable: "cuCtxEnablePeerAccess" (*mut c_void, c_uint);
        reset_persisting: "cuCtxResetPersistingL2Cache" ();
        context_wait: "cuCtxSynchronize" ();
        memory_info: "cuMemGetInfo_v2" (*mut usize, *mut usize);
        allocate: "cuMemAlloc_v2" (*mut Address, usize);
        free: "cuMemFree_v2" (Address);
        host_allocate: "cuMemHostAlloc" (*mut *mut c_void, usize, c_uint);
        host_free: "cuMemFreeHost" (*mut c_void);
        host_address: "cuMemHostGetDevicePointer_v2" (*mut Address, *mut c_void, c_uint);
        copy_to_device: "cuMemcpyHtoD_v2" (Address, *const c_void, usize);
        copy_to_host: "cuMemcpyDtoH_v2" (*mut c_void, Address, usize);
        queue_to_device: "cuMemcpyHtoDAsync_v2" (Address, *const c_void, usize, *mut c_void);
        queue_to_host: "cuMemcpyDtoHAsync_v2" (*mut c_void, Address, usize, *mut c_void);
        queue_copy: "cuMemcpyDtoDAsync_v2" (Address, Address, usize, *mut c_void);
        queue_to_peer: "cuMemcpyPeerAsync" (Address, *mut c_void, Address, *mut c_void, usize, *mut c_void);
        queue_fill: "cuMemsetD8Async" (Address, u8, usize, *mut c_void);
        module_load: "cuModuleLoadDataEx" (*mut *mut c_void, *const c_void, c_uint, *mut c_int, *mut *mut c_void);
        module_unload: "cuModuleUnload" (*mut c_void);
        module_function: "cuModuleGetFunction" (*mut *mut c_void, *mut c_void, *const c_char);
        module_global: "cuModuleGetGlobal_v2" (*mut Address, *mut usize, *mut c_void, *const c_char);
        function_attribute: "cuFuncGetAttribute" (*mut c_int, c_int, *mut c_void);
        function_set: "cuFuncSetAttribute" (*mut c_void, c_int, c_int);
        launch: "cuLaunchKernel" (
            *mut c_void, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, *mut c_void, *mut *mut c_void,
            *mut *mut c_void
        );
        stream_create: "cuStreamCreate" (*mut *mut c_void, c_uint);
        stream_destroy: "cuStreamDestroy_v2" (*mut c_void);
        stream_query: "cuStreamQuery" (*mut c_void);
        stream_wait: "cuStreamWaitEvent" (*mut c_void, *mut c_void, c_uint);
        event_create: "cuEventCreate" (*mut *mut c_void, c_uint);
        event_destroy: "cuEventDestroy_v2" (*mut c_void);
        event_record: "cuEventRecord" (*mut c_void, *mut c_void);
        event_elapsed: "cuEventElapsedTime" (*mut f32, *mut c_void, *mut c_void);
        capture_begin: "cuStreamBeginCapture_v2" (*mut c_void, c_int);
        capture_end: "cuStreamEndCapture" (*mut c_void, *mut *mut c_void);
        graph_instantiate: "cuGraphInstantiateWithFlags" (*mut *mut c_void, *mut c_void, u64);
        graph_destroy: "cuGraphDestroy" (*mut c_void);
        graph_upload: "cuGraphUpload" (*mut c_void, *mut c_void);
        graph_launch: "cuGraphLaunch" (*mut c_void, *mut c_void);
        graph_exec_destroy: "cuGraphExecDestroy" (*mut c_void);
    }
    optional {
        // 11.4; the first shape does not know partitions.
        device_uuid: "cuDeviceGetUuid_v2" (*mut [u8; 16], DeviceNumber);
        // 11.8.
        launch_ex: "cuLaunchKernelEx" (*const LaunchConfig, *mut c_void, *mut *mut c_void, *mut *mut c_void);
        // 12.4, all of them.
        function_load: "cuFuncLoad" (*mut c_void);
        function_parameter: "cuFuncGetParamInfo" (*mut c_void, usize, *mut usize, *mut usize);
        function_name: "cuFuncGetName" (*mut *const c_char, *mut c_void);
        module_count: "cuModuleGetFunctionCount" (*mut c_uint, *mut c_void);
        module_functions: "cuModuleEnumerateFunctions" (*mut *mut c_void, c_uint, *mut c_void);
        // 12.8: this one also takes events that are still in use.
        event_elapsed_2: "cuEventElapsedTime_v2" (*mut f32, *mut c_void, *mut c_void);
    }
}

/// What the driver says about a call that it refused.
#[derive(Clone, Debug)]
pub(super) struct Refused {
    pub(super) call: &'static str,
    pub(super) status: Status,
    pub(super) reason: String,
}

/// The driver, loaded and started.
pub(super) struct Driver {
    functions: Functions,
    version: Version,
    /// Never unloaded: the driver has threads of its own.
    _loaded: libloading::Library,
}

/// Calls a function and turns its status into a result. The last argument is the SAFETY comment of that call: the
/// precondition, and who guarantees it.
macro_rules! call {
    ($driver:expr, $field:ident($($argument:expr),*), $because:literal) => {{
        // SAFETY: `$because`.
        let status = unsafe { ($driver.functions.$field)($($argument),*) };
        $driver.check(stringify!($field), status)
    }};
}

impl Driver {
    /// Loads the first candidate that is there and starts the driver.
    pub(super) fn load(candidates: &[PathBuf]) -> Result<&'static Self, NoGpu> {
        let found = candidates.iter().find_map(|path| Some((open(path)?, path)));
        let Some((loaded, path)) = found else {
            return Err(NoGpu::NoDriver {
                tried: candidates.to_vec(),
            });
        };
        let functions = Functions::of(&loaded).map_err(|function| NoGpu::OldDriver {
            path: path.clone(),
            function,
        })?;
        let mut driver = Self {
            functions,
            version: Version::new(0, 0),
            _loaded: loaded,
        };
        call!(driver, init(0), "no flags are defined").map_err(|refused| match refused.status {
            status::NO_DEVICE => NoGpu::NoDevice,
            status::STUB_LIBRARY => NoGpu::Broken {
                reason: format!(
                    "{} is the toolkit's stub for linking, not the driver",
                    path.display()
                ),
            },
            _ => NoGpu::Broken {
                reason: refused.reason,
            },
        })?;
        let mut number = 0;
        call!(
            driver,
            driver_version(&raw mut number),
            "the pointer is to an integer that outlives the call"
        )
        .map_err(|refused| NoGpu::Broken {
            reason: refused.reason,
        })?;
        driver.version = Version::decode(u32::try_from(number).unwrap_or(0));
        Ok(Box::leak(Box::new(driver)))
    }

    /// The version of CUDA that the driver is for.
    pub(super) const fn version(&self) -> Version {
        self.version
    }

    /// Success, or the driver's words for what went wrong.
    fn check(&self, field: &'static str, status: Status) -> Result<(), Refused> {
        if status == 0 {
            return Ok(());
        }
        let call = symbol(field);
        let mut name = ptr::null();
        // SAFETY: the pointer is to one that outlives the call; the function takes any number.
        let named = unsafe { (self.functions.error_name)(status, &raw mut name) };
        let mut text = ptr::null();
        // SAFETY: as above.
        let told = unsafe { (self.functions.error_string)(status, &raw mut text) };
        let mut words = Vec::new();
        for (status, word) in [(named, name), (told, text)] {
            if status == 0 && !word.is_null() {
                // SAFETY: the driver returns a text that ends in zero and is never freed.
                let word = unsafe { CStr::from_ptr(word) };
                words.push(word.to_string_lossy().into_owned());
            }
        }
        let reason = if words.is_empty() {
            format!("error {status}")
        } else {
            words.join(", ")
        };
        Err(Refused {
            call,
            status,
            reason,
        })
    }

    pub(super) fn device_count(&self) -> Result<u32, Refused> {
        let mut count = 0;
        call!(
            self,
            device_count(&raw mut count),
            "the pointer is to an integer that outlives the call"
        )?;
        Ok(u32::try_from(count).unwrap_or(0))
    }

    pub(super) fn device(&self, ordinal: u32) -> Result<DeviceNumber, Refused> {
        let mut device = 0;
        let ordinal = c_int::try_from(ordinal).unwrap_or(c_int::MAX);
        call!(
            self,
            device_get(&raw mut device, ordinal),
            "the pointer is to an integer that outlives the call; the driver checks the number"
        )?;
        Ok(device)
    }

    pub(super) fn device_name(&self, device: DeviceNumber) -> Result<String, Refused> {
        let mut name = [0_u8; 256];
        call!(
            self,
            device_name(name.as_mut_ptr().cast(), 256, device),
            "the buffer has as many bytes as are announced"
        )?;
        Ok(text_of(&name))
    }

    pub(super) fn device_pci(&self, device: DeviceNumber) -> Result<String, Refused> {
        let mut name = [0_u8; 32];
        call!(
            self,
            device_pci(name.as_mut_ptr().cast(), 32, device),
            "the buffer has as many bytes as are announced"
        )?;
        Ok(text_of(&name))
    }

    pub(super) fn device_uuid(&self, device: DeviceNumber) -> Option<[u8; 16]> {
        let get = self.functions.device_uuid?;
        let mut uuid = [0; 16];
        // SAFETY: the pointer is to 16 bytes that outlive the call.
        let status = unsafe { get(&raw mut uuid, device) };
        (status == 0).then_some(uuid)
    }

    pub(super) fn device_memory(&self, device: DeviceNumber) -> Result<u64, Refused> {
        let mut bytes = 0;
        call!(
            self,
            device_memory(&raw mut bytes, device),
            "the pointer is to a number that outlives the call"
        )?;
        Ok(bytes as u64)
    }

    /// An attribute; absent where the driver does not know it.
    pub(super) fn attribute(&self, device: DeviceNumber, attribute: c_int) -> Option<u32> {
        let mut value = 0;
        call!(
            self,
            device_attribute(&raw mut value, attribute, device),
            "the pointer is to an integer that outlives the call; the driver checks both numbers"
        )
        .ok()?;
        u32::try_from(value).ok()
    }

    /// Retains the context of a device that all users in this process share.
    pub(super) fn retain(&self, device: DeviceNumber) -> Result<Handle, Refused> {
        let mut context = ptr::null_mut();
        call!(
            self,
            context_retain(&raw mut context, device),
            "the pointer is to one that outlives the call"
        )?;
        Ok(Handle(context))
    }

    /// Makes a context the current one of this thread.
    pub(super) fn enter(&self, context: Handle) -> Result<(), Refused> {
        call!(
            self,
            context_set(context.0),
            "its owner has retained the context"
        )
    }

    /// Whether a device reaches the memory of another one without the host.
    pub(super) fn reaches(&self, device: DeviceNumber, other: DeviceNumber) -> bool {
        let mut answer = 0;
        call!(
            self,
            peer_access(&raw mut answer, device, other),
            "the pointer is to an integer that outlives the call; the driver checks both numbers"
        )
        .is_ok_and(|()| answer != 0)
    }

    /// Lets the current context reach the memory of another one.
    pub(super) fn enable_access(&self, to: Handle) -> Result<(), Refused> {
        let enabled = call!(
            self,
            peer_enable(to.0, 0),
            "its owner has retained the context, and no flags are defined"
        );
        match enabled {
            Err(refused) if refused.status == status::PEER_ACCESS_ALREADY_ENABLED => Ok(()),
            other => other,
        }
    }

    /// Queues a copy between the memories of two contexts; the caller keeps both until it is done.
    pub(super) fn queue_to_peer(
        &self,
        stream: Handle,
        from: (Handle, Address),
        to: (Handle, Address),
        bytes: u64,
    ) -> Result<(), Refused> {
        call!(
            self,
            queue_to_peer(to.1, to.0.0, from.1, from.0.0, size(bytes), stream.0),
            "the stream and both contexts live; addresses are the devices' to check"
        )
    }

    pub(super) fn leave(&self, device: DeviceNumber) {
        let _ = call!(
            self,
            context_release(device),
            "`retain` retained the context, and nothing of it is used any more"
        );
    }

    pub(super) fn memory_info(&self) -> Result<(u64, u64), Refused> {
        let (mut free, mut total) = (0, 0);
        call!(
            self,
            memory_info(&raw mut free, &raw mut total),
            "both pointers are to numbers that outlive the call"
        )?;
        Ok((free as u64, total as u64))
    }

    pub(super) fn reset_persisting(&self) -> Result<(), Refused> {
        call!(self, reset_persisting(), "a context is current")
    }

    pub(super) fn allocate(&self, bytes: u64) -> Result<Address, Refused> {
        let mut address = 0;
        call!(
            self,
            allocate(&raw mut address, size(bytes)),
            "the pointer is to an address that outlives the call"
        )?;
        Ok(address)
    }

    /// Frees memory that `allocate` gave and that nothing uses any more.
    pub(super) fn free(&self, address: Address) {
        let _ = call!(
            self,
            free(address),
            "the owner of the address frees it once"
        );
    }

    /// Allocates host memory that does not move; where it is for the host and for the device.
    pub(super) fn allocate_host(&self, bytes: u64) -> Result<HostMemory, Refused> {
        let mut start = ptr::null_mut();
        call!(
            self,
            host_allocate(&raw mut start, size(bytes), HOST_DEVICE_MAP),
            "the pointer is to one that outlives the call"
        )?;
        let mut memory = HostMemory {
            start: start.cast(),
            bytes: size(bytes),
            address: 0,
        };
        let address = call!(
            self,
            host_address(&raw mut memory.address, start, 0),
            "the memory was allocated for mapping just now"
        );
        if let Err(refused) = address {
            self.free_host(&memory);
            return Err(refused);
        }
        Ok(memory)
    }

    /// Frees memory that `allocate_host` gave and that nothing uses any more.
    pub(super) fn free_host(&self, memory: &HostMemory) {
        let _ = call!(
            self,
            host_free(memory.start.cast()),
            "the owner of the memory frees it once"
        );
    }

    /// Copies bytes to the device, to a range that the caller has checked.
    pub(super) fn write(&self, to: Address, bytes: &[u8]) -> Result<(), Refused> {
        call!(
            self,
            copy_to_device(to, bytes.as_ptr().cast(), bytes.len()),
            "the slice has these bytes, and the call returns when they were read"
        )
    }

    /// Copies bytes from the device, from a range that the caller has checked.
    pub(super) fn read(&self, from: Address, into: &mut [u8]) -> Result<(), Refused> {
        call!(
            self,
            copy_to_host(into.as_mut_ptr().cast(), from, into.len()),
            "the slice has room for these bytes, and the call returns when they are written"
        )
    }

    /// Queues a copy from the start of pinned memory; the caller keeps both until it is done.
    pub(super) fn queue_upload(
        &self,
        stream: Handle,
        from: &HostMemory,
        to: Address,
        bytes: u64,
    ) -> Result<(), Refused> {
        call!(
            self,
            queue_to_device(to, from.start.cast(), size(bytes), stream.0),
            "the caller has checked the range and keeps the memory"
        )
    }

    /// Queues a copy to the start of pinned memory; the caller keeps both until it is done.
    pub(super) fn queue_download(
        &self,
        stream: Handle,
        from: Address,
        to: &HostMemory,
        bytes: u64,
    ) -> Result<(), Refused> {
        call!(
            self,
            queue_to_host(to.start.cast(), from, size(bytes), stream.0),
            "the caller has checked the range and keeps the memory"
        )
    }

    pub(super) fn queue_copy(
        &self,
        stream: Handle,
        from: Address,
        to: Address,
        bytes: u64,
    ) -> Result<(), Refused> {
        call!(
            self,
            queue_copy(to, from, size(bytes), stream.0),
            "the stream lives; addresses are the device's to check"
        )
    }

    pub(super) fn queue_fill(
        &self,
        stream: Handle,
        to: Address,
        byte: u8,
        bytes: u64,
    ) -> Result<(), Refused> {
        call!(
            self,
            queue_fill(to, byte, size(bytes), stream.0),
            "the stream lives; addresses are the device's to check"
        )
    }

    /// Loads an image; what its compiler said comes with the error.
    pub(super) fn load_module(&self, image: &[u8]) -> Result<Handle, (Refused, String)> {
        // PTX is a text that has to end in zero; nobody minds a zero behind the other kinds.
        let mut image = image.to_vec();
        image.push(0);
        let mut log = vec![0_u8; JIT_LOG_BYTES];
        let mut options = [JIT_ERROR_LOG_BUFFER, JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        // The size is passed as the value of the pointer.
        let mut values = [
            log.as_mut_ptr().cast::<c_void>(),
            ptr::without_provenance_mut::<c_void>(JIT_LOG_BYTES),
        ];
        let mut module = ptr::null_mut();
        let result = call!(
            self,
            module_load(
                &raw mut module,
                image.as_ptr().cast(),
                2,
                options.as_mut_ptr(),
                values.as_mut_ptr()
            ),
            "the image, both lists of two and the buffer for the log, whose size is announced, outlive the call"
        );
        match result {
            Ok(()) => Ok(Handle(module)),
            Err(refused) => Err((refused, text_of(&log))),
        }
    }

    /// Unloads a module of which nothing runs.
    pub(super) fn unload_module(&self, module: Handle) {
        let _ = call!(
            self,
            module_unload(module.0),
            "the owner of the module unloads it once"
        );
    }

    pub(super) fn function(&self, module: Handle, name: &CStr) -> Result<Handle, Refused> {
        let mut function = ptr::null_mut();
        call!(
            self,
            module_function(&raw mut function, module.0, name.as_ptr()),
            "the module lives, and the name ends in zero"
        )?;
        Ok(Handle(function))
    }

    /// Where a variable of a module is, and its size.
    pub(super) fn global(&self, module: Handle, name: &CStr) -> Result<(Address, u64), Refused> {
        let (mut address, mut bytes) = (0, 0);
        call!(
            self,
            module_global(&raw mut address, &raw mut bytes, module.0, name.as_ptr()),
            "the module lives, the name ends in zero, and the pointers are to numbers that outlive the call"
        )?;
        Ok((address, bytes as u64))
    }

    /// Loads a function onto the device, where the driver can be told to.
    pub(super) fn load_function(&self, function: Handle) -> Result<(), Refused> {
        let Some(load) = self.functions.function_load else {
            return Ok(());
        };
        // SAFETY: the function is of a module that lives.
        let status = unsafe { load(function.0) };
        self.check("function_load", status)
    }

    /// The names of the functions of a module, where the driver tells them.
    pub(super) fn function_names(&self, module: Handle) -> Option<Vec<String>> {
        /// A module with more has no list that a person reads.
        const MOST: u32 = 256;
        let count_of = self.functions.module_count?;
        let list = self.functions.module_functions?;
        let name_of = self.functions.function_name?;
        let mut count = 0;
        // SAFETY: the module lives; the pointer is to a number that outlives the call.
        let status = unsafe { count_of(&raw mut count, module.0) };
        let count = if status == 0 {
            count.min(MOST)
        } else {
            return None;
        };
        let mut functions = vec![ptr::null_mut(); count as usize];
        // SAFETY: the list has room for as many as are announced.
        let status = unsafe { list(functions.as_mut_ptr(), count, module.0) };
        if status != 0 {
            return None;
        }
        let mut names = Vec::with_capacity(functions.len());
        for function in functions {
            let mut name = ptr::null();
            // SAFETY: the driver listed the function just now.
            let status = unsafe { name_of(&raw mut name, function) };
            if status == 0 && !name.is_null() {
                // SAFETY: the name ends in zero and lives as long as the module.
                let name = unsafe { CStr::from_ptr(name) };
                names.push(name.to_string_lossy().into_owned());
            }
        }
        Some(names)
    }

    /// The bytes of each parameter of a function, where the driver tells them.
    pub(super) fn parameters(&self, function: Handle) -> Option<Vec<u64>> {
        /// Parameters have at most 32,764 bytes in all.
        const MOST: usize = 32_764;
        let get = self.functions.function_parameter?;
        let mut sizes = Vec::new();
        while sizes.len() < MOST {
            let (mut offset, mut bytes) = (0, 0);
            // SAFETY: the function is of a module that lives; both pointers are to numbers that outlive the call.
            let status = unsafe { get(function.0, sizes.len(), &raw mut offset, &raw mut bytes) };
            match status {
                0 => sizes.push(bytes as u64),
                // There is no parameter with this number.
                status::INVALID_VALUE => return Some(sizes),
                _ => return None,
            }
        }
        None
    }

    /// An attribute of a function; absent where the driver does not know it.
    pub(super) fn function_attribute(&self, function: Handle, attribute: c_int) -> Option<u32> {
        let mut value = 0;
        call!(
            self,
            function_attribute(&raw mut value, attribute, function.0),
            "the function is of a module that lives; the pointer is to an integer that outlives the call"
        )
        .ok()?;
        u32::try_from(value).ok()
    }

    pub(super) fn set_function_attribute(
        &self,
        function: Handle,
        attribute: c_int,
        value: u32,
    ) -> Result<(), Refused> {
        let value = c_int::try_from(value).unwrap_or(c_int::MAX);
        call!(
            self,
            function_set(function.0, attribute, value),
            "the function is of a module that lives; the driver checks the value"
        )
    }

    /// Whether launches can have attributes.
    pub(super) const fn has_launch_attributes(&self) -> bool {
        self.functions.launch_ex.is_some()
    }

    /// Launches. The arguments have to be those that the kernel takes; the caller keeps what they point to.
    pub(super) fn launch(
        &self,
        stream: Handle,
        shape: &Shape,
        arguments: &Arguments,
    ) -> Result<(), Refused> {
        let [grid_x, grid_y, grid_z] = shape.grid;
        let [block_x, block_y, block_z] = shape.block;
        // The driver reads the list and does not write it.
        let list = arguments.pointers.as_ptr().cast_mut();
        let Some(cluster) = shape.cluster else {
            return call!(
                self,
                launch(
                    shape.function.0,
                    grid_x,
                    grid_y,
                    grid_z,
                    block_x,
                    block_y,
                    block_z,
                    shape.shared_bytes,
                    stream.0,
                    list,
                    ptr::null_mut()
                ),
                "function and stream live; the list has a pointer to enough bytes for each parameter, see `Arguments`"
            );
        };
        let Some(launch) = self.functions.launch_ex else {
            return self.check("launch_ex", status::NOT_SUPPORTED);
        };
        let mut value = [0; 16];
        value[..3].copy_from_slice(&cluster);
        let mut attribute = LaunchAttribute {
            id: LAUNCH_CLUSTER_DIMENSION,
            padding: [0; 4],
            value,
        };
        let config = LaunchConfig {
            grid: shape.grid,
            block: shape.block,
            shared_bytes: shape.shared_bytes,
            stream: stream.0,
            attributes: &raw mut attribute,
            attribute_count: 1,
        };
        // SAFETY: as for a launch without attributes; configuration and attribute outlive the call.
        let status = unsafe { launch(&raw const config, shape.function.0, list, ptr::null_mut()) };
        self.check("launch_ex", status)
    }

    pub(super) fn create_stream(&self) -> Result<Handle, Refused> {
        let mut stream = ptr::null_mut();
        call!(
            self,
            stream_create(&raw mut stream, STREAM_NON_BLOCKING),
            "the pointer is to one that outlives the call"
        )?;
        Ok(Handle(stream))
    }

    pub(super) fn destroy_stream(&self, stream: Handle) {
        let _ = call!(
            self,
            stream_destroy(stream.0),
            "the owner of the stream destroys it once"
        );
    }

    /// Waits until everything in the context is done.
    pub(super) fn synchronize(&self) -> Result<(), Refused> {
        call!(self, context_wait(), "a context is current")
    }

    /// Whether everything in a stream is done.
    pub(super) fn is_done(&self, stream: Handle) -> Result<bool, Refused> {
        // SAFETY: the stream lives.
        let status = unsafe { (self.functions.stream_query)(stream.0) };
        // Whoever waits asks again and again, and needs no words for a stream that is not done.
        if status == status::NOT_READY {
            return Ok(false);
        }
        self.check("stream_query", status).map(|()| true)
    }

    pub(super) fn wait(&self, stream: Handle, event: Handle) -> Result<(), Refused> {
        call!(
            self,
            stream_wait(stream.0, event.0, 0),
            "stream and event live"
        )
    }

    pub(super) fn create_event(&self) -> Result<Handle, Refused> {
        let mut event = ptr::null_mut();
        call!(
            self,
            event_create(&raw mut event, 0),
            "the pointer is to one that outlives the call"
        )?;
        Ok(Handle(event))
    }

    pub(super) fn destroy_event(&self, event: Handle) {
        let _ = call!(
            self,
            event_destroy(event.0),
            "the owner of the event destroys it once"
        );
    }

    pub(super) fn record(&self, stream: Handle, event: Handle) -> Result<(), Refused> {
        call!(
            self,
            event_record(event.0, stream.0),
            "stream and event live"
        )
    }

    /// Milliseconds between two events.
    pub(super) fn elapsed(&self, from: Handle, to: Handle) -> Result<f32, Refused> {
        let mut milliseconds = 0.0;
        let get = self
            .functions
            .event_elapsed_2
            .unwrap_or(self.functions.event_elapsed);
        // SAFETY: both events live; the pointer is to a number that outlives the call.
        let status = unsafe { get(&raw mut milliseconds, from.0, to.0) };
        self.check("event_elapsed", status)?;
        Ok(milliseconds)
    }

    pub(super) fn begin_capture(&self, stream: Handle) -> Result<(), Refused> {
        call!(
            self,
            capture_begin(stream.0, CAPTURE_THREAD_LOCAL),
            "the stream lives"
        )
    }

    /// Ends a capture and makes what was captured ready to be launched.
    pub(super) fn end_capture(&self, stream: Handle) -> Result<Handle, Refused> {
        let mut graph = ptr::null_mut();
        call!(
            self,
            capture_end(stream.0, &raw mut graph),
            "the stream lives; the pointer is to one that outlives the call"
        )?;
        let mut ready = ptr::null_mut();
        let result = call!(
            self,
            graph_instantiate(&raw mut ready, graph, 0),
            "the capture gave the graph just now"
        );
        let _ = call!(
            self,
            graph_destroy(graph),
            "what was made of the graph does not need it"
        );
        result.map(|()| Handle(ready))
    }

    pub(super) fn upload_graph(&self, stream: Handle, graph: Handle) -> Result<(), Refused> {
        call!(
            self,
            graph_upload(graph.0, stream.0),
            "stream and graph live"
        )
    }

    pub(super) fn launch_graph(&self, stream: Handle, graph: Handle) -> Result<(), Refused> {
        call!(
            self,
            graph_launch(graph.0, stream.0),
            "stream and graph live"
        )
    }

    pub(super) fn destroy_graph(&self, graph: Handle) {
        let _ = call!(
            self,
            graph_exec_destroy(graph.0),
            "the owner of the graph destroys it once"
        );
    }
}

/// What is launched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) function: Handle,
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    pub(super) cluster: Option<[u32; 3]>,
    pub(super) shared_bytes: u32,
}

/// Arguments as the driver wants them: a list of pointers to their bytes.
///
/// The driver reads as many bytes as the kernel's parameters have, whatever was given. Where it tells the sizes, `prepare`
/// compares them. For a driver that does not, the list is longer than any kernel's, and there are zeros behind each
/// value, so that nothing is read that is not here.
pub(super) struct Arguments {
    pointers: Vec<*mut c_void>,
    /// What the pointers are to. Neither moves nor changes.
    _bytes: Box<[u64]>,
}

/// Parameters of a kernel have at most so many bytes, and so there are not more of them.
const MOST_PARAMETER_BYTES: usize = 4_096;

impl Arguments {
    /// Lays arguments out. `is_checked` says that number and sizes are those of the kernel.
    pub(super) fn new(values: &[Vec<u8>], is_checked: bool) -> Self {
        let slack = if is_checked { 0 } else { MOST_PARAMETER_BYTES };
        // Each value starts at a multiple of 16 bytes, which the largest vector types need.
        let words: Vec<usize> = values
            .iter()
            .map(|value| value.len().div_ceil(16).max(1) * 2)
            .collect();
        let all: usize = words.iter().sum::<usize>() + slack / 8 + 2;
        let mut bytes = vec![0_u64; all].into_boxed_slice();
        let mut starts = Vec::with_capacity(values.len());
        let mut start = 0;
        for (value, count) in values.iter().zip(&words) {
            for (word, chunk) in bytes[start..].iter_mut().zip(value.chunks(8)) {
                let mut padded = [0; 8];
                padded[..chunk.len()].copy_from_slice(chunk);
                *word = u64::from_ne_bytes(padded);
            }
            starts.push(start);
            start += count;
        }
        // From here on nothing writes to the words: the pointers stay good as long as the box does.
        starts.resize(starts.len() + slack, start);
        let pointers = starts
            .iter()
            .map(|start| (&raw const bytes[*start]).cast_mut().cast())
            .collect();
        Self {
            pointers,
            _bytes: bytes,
        }
    }
}

/// Memory of the host that does not move. Whoever allocated it frees it.
#[derive(Debug)]
pub(super) struct HostMemory {
    start: *mut u8,
    bytes: usize,
    address: Address,
}

impl HostMemory {
    /// Where the device sees it.
    pub(super) const fn address(&self) -> Address {
        self.address
    }

    /// Writes bytes to a range that the caller has checked.
    pub(super) fn write(&self, offset: u64, bytes: &[u8]) {
        let offset = size(offset);
        assert!(offset <= self.bytes && bytes.len() <= self.bytes - offset);
        // SAFETY: the range is inside the allocation, by the assertion.
        let to = unsafe { self.start.add(offset) };
        // SAFETY: both ranges have this length and do not overlap, since nobody has a slice of pinned memory.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
    }

    /// Reads bytes from a range that the caller has checked.
    pub(super) fn read(&self, offset: u64, into: &mut [u8]) {
        let offset = size(offset);
        assert!(offset <= self.bytes && into.len() <= self.bytes - offset);
        // SAFETY: the range is inside the allocation, by the assertion.
        let from = unsafe { self.start.add(offset) };
        // SAFETY: both ranges have this length and do not overlap, since nobody has a slice of pinned memory.
        unsafe { ptr::copy_nonoverlapping(from, into.as_mut_ptr(), into.len()) };
    }

    /// A word that the device may be reading or writing at the same time.
    fn word(&self, index: usize) -> &std::sync::atomic::AtomicU32 {
        assert!((index + 1) * 4 <= self.bytes);
        // SAFETY: the word is inside the allocation, by the assertion.
        let place = unsafe { self.start.cast::<u32>().add(index) };
        // SAFETY: the driver aligns its allocations to pages; all accesses of the host to these words are atomic.
        unsafe { std::sync::atomic::AtomicU32::from_ptr(place) }
    }

    pub(super) fn store(&self, index: usize, value: u32) {
        self.word(index)
            .store(value, std::sync::atomic::Ordering::SeqCst);
    }

    pub(super) fn load(&self, index: usize) -> u32 {
        self.word(index).load(std::sync::atomic::Ordering::SeqCst)
    }
}

fn open(path: &Path) -> Option<libloading::Library> {
    // SAFETY: loading runs the library's initialisers. The user installed it as the vendor's driver, or named it.
    unsafe { libloading::Library::new(path) }.ok()
}

/// Sizes are 64 bits wide here, as on every system with a driver.
fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// The text up to the first zero.
fn text_of(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0);
    String::from_utf8_lossy(&bytes[..end.unwrap_or(bytes.len())]).into_owned()
}

/// A name as the driver takes it.
pub(super) fn name_of(name: &str) -> Option<CString> {
    CString::new(name).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::{offset_of, size_of};

    /// The layout that the documentation of `CUlaunchConfig` and `CUlaunchAttribute` gives on a 64-bit system.
    #[test]
    fn structures_have_the_documented_layout() {
        assert_eq!(size_of::<LaunchConfig>(), 56);
        assert_eq!(offset_of!(LaunchConfig, shared_bytes), 24);
        assert_eq!(offset_of!(LaunchConfig, stream), 32);
        assert_eq!(offset_of!(LaunchConfig, attributes), 40);
        assert_eq!(offset_of!(LaunchConfig, attribute_count), 48);
        assert_eq!(size_of::<LaunchAttribute>(), 72);
        assert_eq!(offset_of!(LaunchAttribute, value), 8);
    }

    #[test]
    fn arguments_point_to_their_bytes_and_unchecked_ones_to_zeros_behind() {
        let read = |arguments: &Arguments, index: usize| {
            let start = arguments._bytes.as_ptr() as usize;
            let place = arguments.pointers[index] as usize - start;
            assert_eq!(place % 16, 0);
            arguments._bytes[place / 8]
        };
        let values = [vec![1, 0, 0, 0], vec![2; 24], 3_u64.to_ne_bytes().to_vec()];
        let checked = Arguments::new(&values, true);
        assert_eq!(checked.pointers.len(), 3);
        assert_eq!(read(&checked, 0), 1);
        assert_eq!(read(&checked, 1), 0x0202_0202_0202_0202);
        assert_eq!(read(&checked, 2), 3);
        let unchecked = Arguments::new(&values, false);
        assert_eq!(unchecked.pointers.len(), 3 + MOST_PARAMETER_BYTES);
        assert_eq!(read(&unchecked, 5), 0);
        assert!(Arguments::new(&[], true).pointers.is_empty());
    }

    #[test]
    fn a_driver_that_is_not_there_is_no_panic() {
        let tried = vec![PathBuf::from("/nonexistent/libcuda.so.1")];
        let Err(error) = Driver::load(&tried) else {
            panic!("loaded");
        };
        assert_eq!(error.code(), "GPU0101");
        assert!(error.to_string().contains("/nonexistent/libcuda.so.1"));
    }
}
