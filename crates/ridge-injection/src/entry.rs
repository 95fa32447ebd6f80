//! What is called from outside: by the driver when a program first uses the GPU, by NVTX, by CUPTI with buffers, and by
//! the C library at the end of the program. One of the files of this crate that need `unsafe`.
//!
//! Nothing here may harm the program: there is no panic that gets out, no output, no signal handler, and no file that
//! stays open. A process that was forked off is another one, with a file of its own.
#![expect(
    unsafe_code,
    reason = "functions that another language calls by name, and buffers that another library fills, are unsafe"
)]

use std::env;
use std::ffi::{c_int, c_void};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::activity::{Decoded, OLDEST_VERSION, Pointer, decode, kind};
use crate::cupti::{self, Cupti, MULTIPLE_SUBSCRIBERS, NvtxTable, Status};
use crate::format::problem;
use crate::rank::Rank;
use crate::recorder::{Process, Recorder, Source};
use crate::search::{Surroundings, mapped};
use crate::{CUPTI, EXTENSION, FLUSH_PERIOD_MS, FOLDER};

/// Words of a buffer that CUPTI fills: 1 MiB. A thread that records has one of its own, and what it holds is lost when
/// the program dies.
const BUFFER_WORDS: usize = 1 << 17;
/// CUPTI holds at most so many at once; what it has no room for then, it counts.
const MOST_HELD: u64 = 64;
/// Buffers that are kept ready.
const READY: usize = 4;
/// Records that look impossible before the layout is given up.
const MOST_DAMAGED: u64 = 16;

/// What is asked for, with a name for messages. Without the first, there is no recording.
const KINDS: &[(u32, &str)] = &[
    (kind::CONCURRENT_KERNEL, "kernels"),
    (kind::MEMCPY, "copies"),
    (kind::MEMCPY2, "copies between devices"),
    (kind::MEMSET, "memsets"),
    (kind::INTERNAL_LAUNCH_API, "launches by the driver"),
    (kind::SYNCHRONIZATION, "synchronizations"),
    (kind::OVERHEAD, "overhead"),
    (kind::MARKER, "NVTX ranges"),
    (kind::NAME, "NVTX names"),
    (kind::DEVICE, "devices"),
    (kind::CONTEXT, "contexts"),
];

/// Parts of names of calls that do no work: they ask for, or set, what the calling thread, a function or a device has.
/// Libraries make several for each launch, so that to record them would cost more than all else.
const LEFT_OUT: &[&str] = &[
    "Get",
    "Set",
    "Occupancy",
    "PeekAtLastError",
    "IsCapturing",
    "ExchangeStreamCaptureMode",
    "CallConfiguration",
    "CtxPushCurrent",
    "CtxPopCurrent",
];
/// Parts of names of calls that do work although the above says otherwise: they change graphs, or load code.
const KEPT: &[&str] = &[
    "GraphExec",
    "ModuleGet",
    "LibraryGet",
    "KernelGetFunction",
    "StreamSetAttribute",
    "DeviceSetLimit",
];
/// More functions than an interface has.
const MOST_FUNCTIONS: u32 = 4096;
/// After so many numbers without a name there are no more.
const MOST_UNNAMED: u32 = 64;

unsafe extern "C" {
    fn atexit(function: extern "C" fn()) -> c_int;
    fn sigfillset(set: *mut SignalSet) -> c_int;
    fn pthread_sigmask(how: c_int, set: *const SignalSet, old: *mut SignalSet) -> c_int;
}

const SIG_SETMASK: c_int = 2;

/// The signals of a mask, as the C library of Linux has them.
#[repr(C)]
struct SignalSet([u64; 16]);

/// The recording of a process.
struct Session {
    process: u32,
    cupti: Cupti,
    driver: u32,
    recorder: Mutex<Recorder>,
    ready: Mutex<Vec<Box<[u64]>>>,
    held: AtomicU64,
    damaged: AtomicU64,
    has_ended: AtomicBool,
    /// Taken while CUPTI is asked for buffers, so that the end waits for it.
    flushing: Mutex<()>,
}

/// The current one. It is never freed: CUPTI can call at any time.
static SESSION: AtomicPtr<Session> = AtomicPtr::new(ptr::null_mut());
/// The process that the recorder has begun in; a process that was forked off finds another number.
static BEGUN: AtomicU32 = AtomicU32::new(0);

/// The recording of this process.
fn session() -> Option<&'static Session> {
    // SAFETY: the pointer is null or came from a box that is never freed.
    let session = unsafe { SESSION.load(Ordering::Acquire).as_ref() }?;
    (session.process == process::id() && !session.has_ended.load(Ordering::Acquire))
        .then_some(session)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps a fault of the recorder from the program: recording ends, the program goes on.
fn guard<T>(otherwise: T, body: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
        if let Some(session) = session() {
            session.has_ended.store(true, Ordering::Release);
            let _ = catch_unwind(AssertUnwindSafe(|| {
                lock(&session.recorder).problem(problem::FAULT, 0, "");
            }));
        }
        otherwise
    })
}

/// What the driver calls when a program first uses it.
#[cfg_attr(injected, unsafe(no_mangle))]
#[expect(non_snake_case, reason = "the driver looks for this name")]
pub extern "C" fn InitializeInjection() -> c_int {
    guard((), begin);
    1
}

/// What NVTX calls when a program first uses it.
#[cfg_attr(injected, unsafe(no_mangle))]
#[expect(non_snake_case, reason = "NVTX looks for this name")]
pub extern "C" fn InitializeInjectionNvtx2(table: NvtxTable) -> c_int {
    guard(0, || take_nvtx(table, false))
}

/// What older versions of NVTX call.
#[cfg_attr(injected, unsafe(no_mangle))]
#[expect(non_snake_case, reason = "NVTX looks for this name")]
pub extern "C" fn InitializeInjectionNvtx(table: NvtxTable) -> c_int {
    guard(0, || take_nvtx(table, true))
}

fn take_nvtx(table: NvtxTable, is_old: bool) -> Status {
    begin();
    session().map_or(0, |session| session.cupti.take_nvtx(table, is_old))
}

/// Begins to record, unless that has been done or nobody asks for it.
fn begin() {
    let id = process::id();
    if BEGUN.swap(id, Ordering::AcqRel) == id {
        return;
    }
    let Some(folder) = env::var_os(FOLDER).map(PathBuf::from) else {
        return;
    };
    // What it would print belongs to the program.
    #[cfg(injected)]
    std::panic::set_hook(Box::new(|_| {}));
    let started_ns = wall_ns();
    let path = folder.join(format!("{id}-{started_ns}.{EXTENSION}"));
    let process = Process {
        id,
        parent: parent_id(),
        program: fs::read_to_string("/proc/self/comm")
            .map(|name| name.trim_end().to_owned())
            .unwrap_or_default(),
        started_ns,
        rank: Rank::of(|name| env::var(name).ok()),
    };
    // Without a file there is nothing to say it in; whoever waits for the file sees that there is none.
    let Ok(mut recorder) = Recorder::create(&path, &process) else {
        return;
    };
    let driver = cupti::driver_version().unwrap_or(0);
    let candidates = surroundings(driver).candidates();
    let cupti = match Cupti::load(&candidates) {
        Ok(cupti) => cupti,
        Err(tried) => return recorder.problem(problem::NO_CUPTI, 0, &reasons(&tried)),
    };
    if cupti.version < OLDEST_VERSION {
        return recorder.problem(problem::OLD_CUPTI, u64::from(cupti.version), "");
    }
    // A process that was forked off has the subscription of its parent.
    let is_inherited = !SESSION.load(Ordering::Acquire).is_null();
    match if is_inherited { 0 } else { cupti.subscribe() } {
        0 => {}
        MULTIPLE_SUBSCRIBERS => {
            return recorder.problem(problem::IN_USE, code(MULTIPLE_SUBSCRIBERS), "");
        }
        status => {
            return recorder.problem(problem::CALL_FAILED, code(status), "cuptiSubscribe");
        }
    }
    cupti.prepare();
    let session: &'static Session = Box::leak(Box::new(Session {
        process: id,
        cupti,
        driver,
        recorder: Mutex::new(recorder),
        ready: Mutex::new((0..READY).map(|_| buffer()).collect()),
        held: AtomicU64::new(0),
        damaged: AtomicU64::new(0),
        has_ended: AtomicBool::new(false),
        flushing: Mutex::new(()),
    }));
    SESSION.store(ptr::from_ref(session).cast_mut(), Ordering::Release);
    session.save_clock();
    session.enable();
    in_background(move || guard((), || session.flush_often()));
    // SAFETY: the function never goes away, since this library is not unloaded.
    unsafe { atexit(at_exit) };
}

/// A thread that gets none of the program's signals.
fn in_background(body: impl FnOnce() + Send + 'static) {
    // A new thread begins with the mask of the one that makes it. Without the thread, buffers come when they are full, and
    // at the end.
    let _ = without_signals(|| {
        thread::Builder::new()
            .name("ridge-trace".to_owned())
            .stack_size(256 << 10)
            .spawn(body)
    });
}

/// Keeps signals from the calling thread for a while: a handler that ends the program would wait for what this thread
/// holds, and a file that may not grow would end it.
fn without_signals<T>(body: impl FnOnce() -> T) -> T {
    let mut all = SignalSet([0; 16]);
    let mut before = SignalSet([0; 16]);
    // SAFETY: the place is as large as the C library's type.
    unsafe { sigfillset(&raw mut all) };
    // SAFETY: both places are valid.
    unsafe { pthread_sigmask(SIG_SETMASK, &raw const all, &raw mut before) };
    let result = body();
    // SAFETY: the place holds the mask that the thread had.
    unsafe { pthread_sigmask(SIG_SETMASK, &raw const before, ptr::null_mut()) };
    result
}

extern "C" fn at_exit() {
    guard((), || {
        if let Some(session) = session() {
            session.end();
        }
    });
}

/// What CUPTI calls when it needs a buffer.
unsafe extern "C" fn requested(place: *mut *mut u8, size: *mut usize, most_records: *mut usize) {
    let given = guard(None, || {
        let session = session()?;
        if session.held.load(Ordering::Acquire) >= MOST_HELD {
            return None;
        }
        session.held.fetch_add(1, Ordering::AcqRel);
        let ready = lock(&session.ready).pop();
        Some(Box::into_raw(ready.unwrap_or_else(buffer)))
    });
    let (buffer, bytes) = match given {
        Some(buffer) => (
            buffer.cast::<u8>(),
            BUFFER_WORDS.saturating_mul(size_of::<u64>()),
        ),
        None => (ptr::null_mut(), 0),
    };
    // SAFETY: CUPTI hands over three places to write to.
    unsafe { place.write(buffer) };
    // SAFETY: as above.
    unsafe { size.write(bytes) };
    // SAFETY: as above. 0 means as many as there is room for.
    unsafe { most_records.write(0) };
}

/// What CUPTI calls with a buffer that it has filled.
unsafe extern "C" fn completed(
    _context: *mut c_void,
    _stream: u32,
    buffer: *mut u8,
    _size: usize,
    valid: usize,
) {
    guard((), || {
        // One that another process has asked for, or that comes after the end, stays as it is.
        let Some(session) = session().filter(|_| !buffer.is_null()) else {
            return;
        };
        let valid = valid.min(BUFFER_WORDS.saturating_mul(size_of::<u64>()));
        without_signals(|| session.take(buffer, valid));
        session.held.fetch_sub(1, Ordering::AcqRel);
        let words = ptr::slice_from_raw_parts_mut(buffer.cast::<u64>(), BUFFER_WORDS);
        // SAFETY: every buffer that CUPTI has came from a box of this shape in `requested`, and CUPTI gives it back once.
        let mut words = unsafe { Box::from_raw(words) };
        // CUPTI was promised zeros, so that it need not write them while the program waits.
        words.fill(0);
        let mut ready = lock(&session.ready);
        if ready.len() < READY {
            ready.push(words);
        }
    });
}

fn buffer() -> Box<[u64]> {
    vec![0; BUFFER_WORDS].into_boxed_slice()
}

impl Session {
    /// Asks for all kinds of records.
    fn enable(&self) {
        let failed = |words: &str, status: Status| {
            lock(&self.recorder).problem(problem::CALL_FAILED, code(status), words);
        };
        let status = self.cupti.register(requested, completed);
        if status != 0 {
            return failed("cuptiActivityRegisterCallbacks", status);
        }
        for (kind, name) in KINDS {
            let status = self.cupti.enable(*kind);
            if status != 0 {
                failed(name, status);
            }
        }
        for (is_driver, kind, name) in [
            (false, kind::RUNTIME, "calls of the runtime"),
            (true, kind::DRIVER, "calls of the driver"),
        ] {
            // Older versions know all functions or none.
            if !self.enable_functions(is_driver) {
                let status = self.cupti.enable(kind);
                if status != 0 {
                    failed(name, status);
                }
            }
        }
    }

    /// Asks for the calls of those functions that are worth it, one by one. False where this version cannot. CUPTI looks at
    /// the others too, which takes a quarter of a microsecond for each of their calls, but makes no record of them.
    fn enable_functions(&self, is_driver: bool) -> bool {
        let mut has_any = false;
        let mut unnamed = 0_u32;
        for function in 1..MOST_FUNCTIONS {
            let Some(name) = self.cupti.function_name(is_driver, function) else {
                unnamed = unnamed.saturating_add(1);
                if unnamed > MOST_UNNAMED {
                    break;
                }
                continue;
            };
            unnamed = 0;
            has_any |=
                !is_left_out(plain(&name)) && self.cupti.enable_function(is_driver, function);
        }
        has_any
    }

    /// Writes down what CUPTI's clock says, and what the time is.
    fn save_clock(&self) {
        if let Some(time) = self.cupti.timestamp() {
            lock(&self.recorder).clock([self.cupti.version, self.driver], time, wall_ns());
        }
    }

    /// Has CUPTI hand over what is complete, from time to time, until the end.
    fn flush_often(&self) {
        loop {
            thread::sleep(Duration::from_millis(FLUSH_PERIOD_MS));
            let flushing = lock(&self.flushing);
            if session().is_none() {
                return;
            }
            // What fails now is tried again.
            self.cupti.flush(false);
            drop(flushing);
            self.count_dropped();
            lock(&self.recorder).save_status();
            let missing = READY.saturating_sub(lock(&self.ready).len());
            if missing > 0 {
                // Made outside the lock, which the program may wait for.
                let more: Vec<_> = (0..missing).map(|_| buffer()).collect();
                lock(&self.ready).extend(more);
            }
        }
    }

    /// Takes what CUPTI still has, complete or not, and ends.
    fn end(&self) {
        let flushing = lock(&self.flushing);
        self.cupti.flush(true);
        self.count_dropped();
        self.save_clock();
        // From here on, CUPTI is not called any more: the driver may be on its way out.
        self.has_ended.store(true, Ordering::Release);
        drop(flushing);
        lock(&self.recorder).end();
    }

    fn count_dropped(&self) {
        let dropped = self.cupti.dropped();
        if dropped > 0 {
            lock(&self.recorder).add_dropped(dropped);
        }
    }

    /// Takes the records of a buffer.
    fn take(&self, buffer: *mut u8, valid: usize) {
        let began = Instant::now();
        // SAFETY: CUPTI hands over a buffer of ours of which so many bytes are filled, and no longer writes to it.
        let bytes = unsafe { std::slice::from_raw_parts(buffer, valid) };
        let start = bytes.as_ptr().addr();
        let mut recorder = lock(&self.recorder);
        let mut record = ptr::null_mut();
        let source = FromCupti(&self.cupti);
        while let Ok(true) = self.cupti.next_record(buffer, valid, &mut record) {
            let rest = record
                .addr()
                .checked_sub(start)
                .and_then(|offset| bytes.get(offset..));
            let Some(rest) = rest else {
                break;
            };
            match decode(rest) {
                Decoded::Activity(activity) => recorder.add(&activity, &source),
                Decoded::Other => {}
                Decoded::Damaged => {
                    recorder.add_damaged();
                    let before = self.damaged.fetch_add(1, Ordering::AcqRel);
                    if before.saturating_add(1) == MOST_DAMAGED {
                        let version = u64::from(self.cupti.version);
                        recorder.problem(problem::LAYOUT, version, "");
                    }
                }
            }
        }
        recorder.finish();
        let spent = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        recorder.add_cost(spent, self.held.load(Ordering::Acquire));
    }
}

/// Names as CUPTI has them.
struct FromCupti<'c>(&'c Cupti);

impl Source for FromCupti<'_> {
    fn text(&self, pointer: Pointer) -> Option<&[u8]> {
        cupti::text_of(pointer)
    }

    fn function(&self, interface: u64, function: u32) -> Option<String> {
        if interface == 2 {
            return Some("launch".to_owned());
        }
        let name = self.0.function_name(interface == 1, function)?;
        Some(plain(&name).to_owned())
    }
}

/// Whether calls of a function are not recorded.
fn is_left_out(name: &str) -> bool {
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    has(LEFT_OUT) && !has(KEPT)
}

/// The name of a function as programs call it: CUPTI adds the version of CUDA that it came with, and how streams work.
fn plain(name: &str) -> &str {
    let name = match name.rsplit_once("_v") {
        Some((start, digits))
            if digits.len() >= 4 && digits.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            start
        }
        _ => name,
    };
    name.strip_suffix("_ptsz")
        .or_else(|| name.strip_suffix("_ptds"))
        .unwrap_or(name)
}

fn surroundings(driver: u32) -> Surroundings {
    let folders = |names: &[&str]| -> Vec<PathBuf> {
        let named = names.iter().filter_map(env::var_os).map(PathBuf::from);
        named.filter(|folder| folder.is_absolute()).collect()
    };
    let mut toolkits = folders(&["CUDA_HOME", "CUDA_PATH"]);
    toolkits.push(PathBuf::from("/usr/local/cuda"));
    for parent in ["/usr/local", "/opt"] {
        let mut found: Vec<PathBuf> = fs::read_dir(parent)
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| {
                path.file_name()
                    .and_then(|name| name.to_str())
                    .is_some_and(|name| name.starts_with("cuda"))
            })
            .collect();
        // Newest first, as far as names tell.
        found.sort();
        toolkits.extend(found.into_iter().rev());
    }
    let mut prefixes = folders(&["VIRTUAL_ENV", "CONDA_PREFIX"]);
    // The environment of the Python that this program may be.
    if let Some(prefix) = env::current_exe()
        .ok()
        .as_deref()
        .and_then(Path::parent)
        .and_then(Path::parent)
    {
        prefixes.push(prefix.to_owned());
    }
    let mut packages = Vec::new();
    for prefix in prefixes {
        let pythons = fs::read_dir(prefix.join("lib")).into_iter().flatten();
        let pythons = pythons.filter_map(|entry| Some(entry.ok()?.path()));
        packages.extend(
            pythons
                .filter(|path| {
                    path.file_name()
                        .and_then(|name| name.to_str())
                        .is_some_and(|name| name.starts_with("python3."))
                })
                .map(|python| python.join("site-packages"))
                .filter(|packages| packages.is_dir()),
        );
    }
    let maps = fs::read("/proc/self/maps").unwrap_or_default();
    Surroundings {
        named: env::var_os(CUPTI)
            .filter(|path| !path.is_empty())
            .map(PathBuf::from),
        mapped: mapped(&String::from_utf8_lossy(&maps)),
        toolkits,
        packages,
        driver_major: (driver > 0).then(|| driver.checked_div(1000).unwrap_or(0)),
    }
}

/// One line for each place; the loader's words only where a library was there and did not load.
fn reasons(tried: &[(PathBuf, String)]) -> String {
    let mut text = String::new();
    for (path, reason) in tried {
        text.push_str(&path.to_string_lossy());
        if path.exists() {
            text.push_str(": ");
            text.push_str(reason);
        }
        text.push('\n');
    }
    text
}

fn wall_ns() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .ok()
        .and_then(|time| u64::try_from(time.as_nanos()).ok())
        .unwrap_or(0)
}

fn parent_id() -> u32 {
    std::os::unix::process::parent_id()
}

fn code(status: Status) -> u64 {
    u64::try_from(status).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::{is_left_out, plain};

    #[test]
    fn functions_have_the_names_that_programs_use() {
        assert_eq!(plain("cudaLaunchKernel_v7000"), "cudaLaunchKernel");
        assert_eq!(plain("cudaLaunchKernel_ptsz_v7000"), "cudaLaunchKernel");
        assert_eq!(plain("cuMemcpyHtoDAsync_v2"), "cuMemcpyHtoDAsync_v2");
        assert_eq!(plain("cuMemcpyHtoDAsync_v2_ptsz"), "cuMemcpyHtoDAsync_v2");
        assert_eq!(plain("cuInit"), "cuInit");
    }

    #[test]
    fn calls_that_do_work_are_recorded() {
        for name in [
            "cudaLaunchKernel",
            "cuLaunchKernelEx",
            "cudaMemcpyAsync",
            "cudaMemsetAsync",
            "cuMemsetD8Async",
            "cudaMalloc",
            "cudaDeviceSynchronize",
            "cudaDeviceReset",
            "cudaGraphLaunch",
            "cudaGraphExecKernelNodeSetParams",
            "cudaEventQuery",
            "cuModuleLoadData",
            "cuModuleGetFunction",
            "cudaStreamWaitEvent",
            "cudaHostRegister",
            "cuMemAlloc_v2",
            "cudaMemPrefetchAsync",
        ] {
            assert!(!is_left_out(name), "{name}");
        }
        for name in [
            "cudaGetDevice",
            "cudaSetDevice",
            "cudaGetLastError",
            "cudaPeekAtLastError",
            "cudaStreamIsCapturing",
            "cuStreamGetCaptureInfo_v3",
            "cuCtxGetCurrent",
            "cuCtxPushCurrent_v2",
            "cuKernelGetName",
            "cuKernelSetAttribute",
            "cuGetErrorString",
            "cudaGetErrorString",
            "cuCtxGetLimit",
            "__cudaPushCallConfiguration",
            "cudaOccupancyMaxActiveClusters",
            "cuGetProcAddress_v2",
        ] {
            assert!(is_left_out(name), "{name}");
        }
    }
}
