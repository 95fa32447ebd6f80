//! CUPTI, NVIDIA's library for tools, behind safe functions. One of the files of this crate that need `unsafe`.
//!
//! Signatures and numbers follow the documentation of CUPTI (the chapters on the Activity API, the Callback API, versions
//! and results).
#![expect(
    unsafe_code,
    reason = "functions of a library of another language are unsafe to call"
)]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr;

use crate::activity::Pointer;

/// A result code; zero is success.
pub(crate) type Status = c_int;

/// CUPTI has another user already.
pub(crate) const MULTIPLE_SUBSCRIBERS: Status = 39;
/// The buffer holds no more records.
const MAX_LIMIT_REACHED: Status = 12;

/// Resolve all symbols at once, as a missing one would end the program later.
const RTLD_NOW: c_int = 2;
/// Only if it is loaded.
const RTLD_NOLOAD: c_int = 4;

/// Threads are named by the system's numbers.
const THREAD_ID_SYSTEM: u32 = 1;
/// Buffers are handed over zeroed.
const ATTRIBUTE_ZEROED: u32 = 5;
/// Also give back what is not complete.
const FLUSH_FORCED: u32 = 1;

unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlerror() -> *const c_char;
}

pub(crate) type Requested =
    unsafe extern "C" fn(buffer: *mut *mut u8, size: *mut usize, most_records: *mut usize);
pub(crate) type Completed = unsafe extern "C" fn(
    context: *mut c_void,
    stream: u32,
    buffer: *mut u8,
    size: usize,
    valid: usize,
);
type Callback = unsafe extern "C" fn(*mut c_void, u32, u32, *const c_void);
/// What NVTX asks a tool to do: to take its table of functions.
pub(crate) type NvtxTable = *const c_void;

/// Declares the table: for each function the field, the symbol and its parameters.
macro_rules! functions {
    (
        required { $($field:ident: $symbol:literal ($($parameter:ty),*);)* }
        optional { $($newer:ident: $newer_symbol:literal ($($newer_parameter:ty),*);)* }
    ) => {
        struct Functions {
            $($field: unsafe extern "C" fn($($parameter),*) -> Status,)*
            $($newer: Option<unsafe extern "C" fn($($newer_parameter),*) -> Status>,)*
        }

        impl Functions {
            fn of(library: &Library) -> Result<Self, &'static str> {
                Ok(Self {
                    $($field: {
                        let symbol = library.symbol($symbol).ok_or($symbol)?;
                        // SAFETY: the symbol is CUPTI's function of that name, whose documented type this is.
                        unsafe {
                            std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($parameter),*) -> Status>(symbol)
                        }
                    },)*
                    $($newer: library.symbol($newer_symbol).map(|symbol| {
                        // SAFETY: the symbol is CUPTI's function of that name, whose documented type this is.
                        unsafe {
                            std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($newer_parameter),*) -> Status>(symbol)
                        }
                    }),)*
                })
            }
        }
    };
}

functions! {
    required {
        get_version: "cuptiGetVersion" (*mut u32);
        get_timestamp: "cuptiGetTimestamp" (*mut u64);
        subscribe: "cuptiSubscribe" (*mut *mut c_void, Callback, *mut c_void);
        register: "cuptiActivityRegisterCallbacks" (Requested, Completed);
        enable: "cuptiActivityEnable" (u32);
        next_record: "cuptiActivityGetNextRecord" (*mut u8, usize, *mut *mut u8);
        dropped: "cuptiActivityGetNumDroppedRecords" (*mut c_void, u32, *mut usize);
        flush: "cuptiActivityFlushAll" (u32);
        callback_name: "cuptiGetCallbackName" (u32, u32, *mut *const c_char);
    }
    optional {
        thread_ids: "cuptiSetThreadIdType" (u32);
        set_attribute: "cuptiActivitySetAttribute" (u32, *mut usize, *mut c_void);
        enable_runtime: "cuptiActivityEnableRuntimeApi" (u32, u8);
        enable_driver: "cuptiActivityEnableDriverApi" (u32, u8);
        nvtx: "InitializeInjectionNvtx2" (NvtxTable);
        old_nvtx: "InitializeInjectionNvtx" (NvtxTable);
    }
}

/// A library that stays loaded.
struct Library(*mut c_void);

impl Library {
    fn open(path: &Path, flags: c_int) -> Result<Self, String> {
        let name = CString::new(path.as_os_str().as_encoded_bytes())
            .map_err(|_| "its name holds a zero byte".to_owned())?;
        // SAFETY: the name ends in a zero byte and lives during the call. The library is NVIDIA's or the one that the
        // user names; its constructors are trusted as those of the program's other libraries are.
        let handle = unsafe { dlopen(name.as_ptr(), flags) };
        if handle.is_null() {
            // SAFETY: no precondition; the text is valid until the next call of the loader in this thread.
            let words = unsafe { dlerror() };
            return Err(text_at(words)
                .map(|words| String::from_utf8_lossy(words).into_owned())
                .unwrap_or_default());
        }
        Ok(Self(handle))
    }

    fn symbol(&self, name: &str) -> Option<*mut c_void> {
        let name = CString::new(name).ok()?;
        // SAFETY: the handle came from `dlopen` and is never closed; the name ends in a zero byte.
        let symbol = unsafe { dlsym(self.0, name.as_ptr()) };
        Some(symbol).filter(|symbol| !symbol.is_null())
    }
}

/// The text at a place that a vendor's library names.
fn text_at(pointer: *const c_char) -> Option<&'static [u8]> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: CUPTI and the loader hand out texts that end in a zero byte, and the callers of this function look at one
    // before they give its buffer back, or call the loader again.
    Some(unsafe { CStr::from_ptr(pointer) }.to_bytes())
}

/// The text that a record names. The record's buffer must not have been given back.
pub(crate) fn text_of(pointer: Pointer) -> Option<&'static [u8]> {
    let address = usize::try_from(pointer.0).ok()?;
    text_at(ptr::with_exposed_provenance(address))
}

/// The major version of CUDA that the driver supports.
pub(crate) fn driver_version() -> Option<u32> {
    let name = Path::new("libcuda.so.1");
    let library = Library::open(name, RTLD_NOW | RTLD_NOLOAD)
        .or_else(|_| Library::open(name, RTLD_NOW))
        .ok()?;
    let symbol = library.symbol("cuDriverGetVersion")?;
    // SAFETY: the symbol is the driver's function of that name, whose documented type this is.
    let function = unsafe {
        std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_int) -> Status>(symbol)
    };
    let mut version = 0;
    // SAFETY: the place is valid for writes. The function may be called before the driver is initialized.
    let status = unsafe { function(&raw mut version) };
    u32::try_from(version)
        .ok()
        .filter(|version| status == 0 && *version > 0)
}

/// CUPTI as it is loaded.
pub(crate) struct Cupti {
    functions: Functions,
    pub(crate) version: u32,
}

impl Cupti {
    /// The first of the candidates that is CUPTI, or what was wrong with each of them.
    pub(crate) fn load(candidates: &[PathBuf]) -> Result<Self, Vec<(PathBuf, String)>> {
        let mut tried = Vec::new();
        for path in candidates {
            match Self::open(path) {
                Ok(cupti) => return Ok(cupti),
                Err(reason) => tried.push((path.clone(), reason)),
            }
        }
        Err(tried)
    }

    fn open(path: &Path) -> Result<Self, String> {
        let library = Library::open(path, RTLD_NOW)?;
        let functions =
            Functions::of(&library).map_err(|symbol| format!("has no function {symbol}"))?;
        let mut version = 0;
        // SAFETY: the place is valid for writes.
        let status = unsafe { (functions.get_version)(&raw mut version) };
        if status != 0 {
            return Err(format!("does not tell its version (result {status})"));
        }
        Ok(Self { functions, version })
    }

    /// Nanoseconds of the clock of records.
    pub(crate) fn timestamp(&self) -> Option<u64> {
        let mut time = 0;
        // SAFETY: the place is valid for writes.
        let status = unsafe { (self.functions.get_timestamp)(&raw mut time) };
        (status == 0).then_some(time)
    }

    /// Makes CUPTI ours, where it has no other user.
    pub(crate) fn subscribe(&self) -> Status {
        unsafe extern "C" fn nothing(_: *mut c_void, _: u32, _: u32, _: *const c_void) {}
        let mut subscriber = ptr::null_mut();
        // SAFETY: the place is valid for writes, and the function never goes away, since this library is not unloaded.
        unsafe { (self.functions.subscribe)(&raw mut subscriber, nothing, ptr::null_mut()) }
    }

    /// Sets what is better set before anything is recorded. Older versions lack some of it, which does no harm.
    pub(crate) fn prepare(&self) {
        if let Some(thread_ids) = self.functions.thread_ids {
            // SAFETY: no precondition.
            unsafe { thread_ids(THREAD_ID_SYSTEM) };
        }
        if let Some(set_attribute) = self.functions.set_attribute {
            let mut value: u8 = 1;
            let mut size = size_of::<u8>();
            // SAFETY: the attribute takes a byte, and both places are valid during the call.
            unsafe { set_attribute(ATTRIBUTE_ZEROED, &raw mut size, (&raw mut value).cast()) };
        }
    }

    /// Says who brings and takes buffers.
    pub(crate) fn register(&self, requested: Requested, completed: Completed) -> Status {
        // SAFETY: both functions keep to CUPTI's contract and never go away.
        unsafe { (self.functions.register)(requested, completed) }
    }

    /// Asks for records of a kind.
    pub(crate) fn enable(&self, kind: u32) -> Status {
        // SAFETY: no precondition; unknown kinds are refused.
        unsafe { (self.functions.enable)(kind) }
    }

    /// Asks for records of the calls of one function. False where this version cannot.
    pub(crate) fn enable_function(&self, is_driver: bool, function: u32) -> bool {
        let control = if is_driver {
            self.functions.enable_driver
        } else {
            self.functions.enable_runtime
        };
        control.is_some_and(|control| {
            // SAFETY: no precondition; unknown numbers are refused.
            unsafe { control(function, 1) == 0 }
        })
    }

    /// The name of a function: of the driver, or of the runtime.
    pub(crate) fn function_name(&self, is_driver: bool, function: u32) -> Option<String> {
        let domain = if is_driver { 1 } else { 2 };
        let mut name = ptr::null();
        // SAFETY: the place is valid for writes; unknown numbers are refused.
        let status = unsafe { (self.functions.callback_name)(domain, function, &raw mut name) };
        if status != 0 {
            return None;
        }
        Some(String::from_utf8_lossy(text_at(name)?).into_owned())
    }

    /// The place of the record after the given one in a buffer of CUPTI.
    pub(crate) fn next_record(
        &self,
        buffer: *mut u8,
        valid: usize,
        record: &mut *mut u8,
    ) -> Result<bool, Status> {
        // SAFETY: the buffer is one that CUPTI has just handed over with its length, and the record is null or one of it.
        match unsafe { (self.functions.next_record)(buffer, valid, record) } {
            0 => Ok(true),
            MAX_LIMIT_REACHED => Ok(false),
            status => Err(status),
        }
    }

    /// Records that CUPTI had no room for since the last question.
    pub(crate) fn dropped(&self) -> u64 {
        let mut count = 0_usize;
        // SAFETY: the place is valid for writes; no context and stream 0 mean the global queue.
        let status = unsafe { (self.functions.dropped)(ptr::null_mut(), 0, &raw mut count) };
        if status == 0 {
            u64::try_from(count).unwrap_or(u64::MAX)
        } else {
            0
        }
    }

    /// Has buffers completed: those whose records are complete, or all.
    pub(crate) fn flush(&self, is_forced: bool) -> Status {
        // SAFETY: called from threads of this library and from exit handlers, never from within a callback.
        unsafe { (self.functions.flush)(if is_forced { FLUSH_FORCED } else { 0 }) }
    }

    /// Lets CUPTI take what NVTX offers.
    pub(crate) fn take_nvtx(&self, table: NvtxTable, is_old: bool) -> Status {
        let function = if is_old {
            self.functions.old_nvtx
        } else {
            self.functions.nvtx
        };
        function.map_or(0, |function| {
            // SAFETY: the table is what NVTX hands to a tool, and goes on unchanged.
            unsafe { function(table) }
        })
    }
}
