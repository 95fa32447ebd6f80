//! A GPU behind NVIDIA's driver.

mod context;
mod driver;
mod identity;
mod own;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;

use ridge_model::quantity::{Bytes, Hertz, Nanos};

use crate::cublaslt;
use crate::device::{
    Argument, Block, Buffer, ClockProbe, ClockReading, Compiled, Device, Event, Flush, FlushKind,
    Function, FunctionAttributes, Graph, Inner, Launch, MemoryInfo, Module, Peer, PeerBuffer,
    PeerLink, Pinned, Prepared, PreparedProduct, Product, Program, Properties, Readings,
    SensorSource, Stream, WindowEnd, check, element, end_of, inside, invalid,
};
use crate::error::{DeviceError, NoGpu, Result, Version};
use crate::nvml::{self, Gpu, Nvml};
use crate::nvrtc::{self, Compiler};
use crate::search::Search;
use context::{
    Context, OwnedEvent, OwnedFunction, OwnedGraph, OwnedLaunch, OwnedMemory, OwnedModule,
    OwnedPinned, OwnedProbe, OwnedStream, PeerContext, PeerMemory, ProbeRoom, error_of,
};
use driver::{Arguments, DeviceNumber, Driver, Shape, function_attribute, name_of, status};
use identity::{DEFAULT_SHARED, Identity, properties};
use own::OwnKernels;

/// Which GPU is opened, and where its libraries may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CudaOptions {
    /// The number of the GPU among those that the driver shows to this process, from 0.
    pub ordinal: u32,
    /// Where the driver may be.
    pub driver: Vec<PathBuf>,
    /// Where NVRTC may be.
    pub nvrtc: Vec<PathBuf>,
    /// Where NVML may be.
    pub nvml: Vec<PathBuf>,
    /// Where cuBLASLt may be.
    pub cublaslt: Vec<PathBuf>,
}

impl Default for CudaOptions {
    /// The first GPU, with libraries where they usually are.
    fn default() -> Self {
        Self::found(&Search::default())
    }
}

impl CudaOptions {
    /// The first GPU, with libraries where a search finds them.
    #[must_use]
    pub fn found(search: &Search) -> Self {
        Self {
            ordinal: 0,
            driver: Search::driver(),
            nvrtc: search.nvrtc(),
            nvml: Search::nvml(),
            cublaslt: search.cublaslt(),
        }
    }
}

/// A GPU behind NVIDIA's driver.
pub struct CudaDevice {
    properties: Properties,
    context: Rc<Context>,
    /// The number of the device in the driver.
    number: DeviceNumber,
    own: OwnKernels,
    nvml: Option<&'static Nvml>,
    gpu: Option<Gpu>,
    /// The contexts of other GPUs that were asked for, by their numbers.
    peers: RefCell<BTreeMap<u32, Rc<PeerContext>>>,
    compiler: std::result::Result<Compiler, nvrtc::NoCompiler>,
    /// Where cuBLASLt may be, and the library once it was asked for: it is large, and few ask.
    cublaslt: Vec<PathBuf>,
    products: OnceCell<std::result::Result<Rc<cublaslt::Library>, String>>,
    /// Where graphs are captured.
    capture: OwnedStream,
    flushed: RefCell<Option<Rc<OwnedMemory>>>,
    stamps: Cell<u64>,
}

impl std::fmt::Debug for CudaDevice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CudaDevice")
            .field("name", &self.properties.name)
            .finish_non_exhaustive()
    }
}

/// How many readings of the timer are looked at for its step.
const TIMER_READINGS: u32 = 8192;
/// How long the kernels that are started when a device is opened may take.
const OPENING: Nanos = Nanos::new(20e9);
/// SMs have numbers below this.
const MOST_SMS: u32 = 1024;
/// Bytes of the stamp of an SM.
const STAMP_BYTES: u64 = 32;
/// Clusters of more blocks have to be allowed for each function.
const PORTABLE_CLUSTER: u64 = 8;

impl CudaDevice {
    /// How many GPUs the driver shows to this process.
    ///
    /// # Errors
    /// [`DeviceError::NoGpu`] where there is no driver, or it does not start. A driver without GPUs is one too.
    pub fn count(options: &CudaOptions) -> Result<u32> {
        let driver = Driver::load(&options.driver)?;
        driver.device_count().map_err(|refused| error_of(&refused))
    }

    /// Opens a GPU: enters its context, loads the kernels of our own, runs each once, and reads what the device is.
    ///
    /// # Errors
    /// [`DeviceError::NoGpu`], or what the driver refuses. A missing compiler or missing sensors are no error here.
    pub fn open(options: &CudaOptions) -> Result<Self> {
        let driver = Driver::load(&options.driver)?;
        let count = driver
            .device_count()
            .map_err(|refused| error_of(&refused))?;
        if count == 0 {
            return Err(NoGpu::NoDevice.into());
        }
        if options.ordinal >= count {
            let ordinal = options.ordinal;
            return Err(NoGpu::NoSuchDevice { ordinal, count }.into());
        }
        let compiler = Compiler::load(&options.nvrtc);
        let nvml = Nvml::load(&options.nvml);
        let number = driver
            .device(options.ordinal)
            .map_err(|refused| error_of(&refused))?;
        let context = Context::new(driver, number).map_err(|refused| NoGpu::Unusable {
            reason: refused.reason,
        })?;
        let identity = Identity::of(driver, number, nvml.as_ref().ok().copied());
        let mut properties = properties(driver, number, options.ordinal, &identity)?;
        properties.sensors = match (&nvml, identity.gpu) {
            (Ok(_), Some(_)) => SensorSource::Nvml,
            (Ok(_), None) => SensorSource::Absent {
                reason: "NVML does not find this GPU".to_owned(),
            },
            (Err(reason), _) => SensorSource::Absent {
                reason: reason.clone(),
            },
        };
        let nvml = nvml.ok();
        properties.driver_release = nvml.and_then(Nvml::driver_release);
        properties.compiler = compiler.as_ref().ok().map(|compiler| {
            let (major, minor) = compiler.version();
            Version::new(major, minor)
        });
        context.set_gate()?;
        let own = OwnKernels::load(&context)?;
        let mut device = Self {
            properties,
            number,
            own,
            nvml,
            gpu: identity.gpu,
            peers: RefCell::default(),
            compiler,
            cublaslt: options.cublaslt.clone(),
            products: OnceCell::new(),
            capture: OwnedStream::new(&context)?,
            context,
            flushed: RefCell::new(None),
            stamps: Cell::new(0),
        };
        device.properties.timer_step = device.start()?;
        Ok(device)
    }

    /// Runs each kernel of our own once, so that all are loaded; the step of the timer.
    fn start(&self) -> Result<Option<Nanos>> {
        let stream = self.stream()?;
        self.block(&stream, OPENING)?.release();
        self.synchronize(&stream, OPENING)?;
        let probe = self.clock_probe()?;
        self.stamp(&stream, &probe, WindowEnd::Start)?;
        self.stamp(&stream, &probe, WindowEnd::Stop)?;
        let result = OwnedPinned::new(&self.context, 8)?;
        let own = stream.inner.get::<OwnedStream>("stream")?;
        self.own
            .timer_step(&own, result.memory.address(), TIMER_READINGS)?;
        let nothing = OwnedMemory::new(&self.context, 16)?;
        self.own.read(&own, &nothing, 1, 1)?;
        self.synchronize(&stream, OPENING)?;
        let step = word(&result, 0);
        Ok((step != u64::MAX && step > 0).then(|| Nanos::from_count(step)))
    }

    fn own_of<T: 'static>(
        &self,
        inner: &Inner,
        what: &'static str,
        context: impl Fn(&T) -> &Rc<Context>,
    ) -> Result<Rc<T>> {
        let owned: Rc<T> = inner.get(what)?;
        if Rc::ptr_eq(context(&owned), &self.context) {
            Ok(owned)
        } else {
            Err(DeviceError::Foreign { what })
        }
    }

    /// The context of another GPU, entered at the first time.
    fn peer(&self, ordinal: u32) -> Result<Rc<PeerContext>> {
        if let Some(known) = self.peers.borrow().get(&ordinal) {
            return Ok(Rc::clone(known));
        }
        let driver = self.context.driver;
        let count = self.context.call(Driver::device_count)?;
        if ordinal >= count {
            return Err(NoGpu::NoSuchDevice { ordinal, count }.into());
        }
        let number = self.context.call(|_| driver.device(ordinal))?;
        if number == self.number {
            return invalid(format!("GPU {ordinal} is no other one"));
        }
        let peer = PeerContext::new(&self.context, number)?;
        self.peers.borrow_mut().insert(ordinal, Rc::clone(&peer));
        Ok(peer)
    }

    fn peer_memory_of(&self, buffer: &PeerBuffer) -> Result<Rc<PeerMemory>> {
        self.own_of(
            &buffer.inner,
            "memory of another GPU",
            |own: &PeerMemory| own.reached_from(),
        )
    }

    fn stream_of(&self, stream: &Stream) -> Result<Rc<OwnedStream>> {
        self.own_of(&stream.inner, "stream", |own: &OwnedStream| &own.context)
    }

    fn memory_of(&self, buffer: &Buffer) -> Result<Rc<OwnedMemory>> {
        self.own_of(&buffer.inner, "buffer", |own: &OwnedMemory| &own.context)
    }

    fn pinned_of(&self, pinned: &Pinned) -> Result<Rc<OwnedPinned>> {
        self.own_of(&pinned.inner, "pinned memory", |own: &OwnedPinned| {
            &own.context
        })
    }

    fn event_of(&self, event: &Event) -> Result<Rc<OwnedEvent>> {
        self.own_of(&event.inner, "event", |own: &OwnedEvent| &own.context)
    }

    fn launch_of(&self, launch: &Prepared) -> Result<Rc<OwnedLaunch>> {
        self.own_of(&launch.inner, "launch", |own: &OwnedLaunch| {
            &own.function.module.context
        })
    }

    fn probe_of(&self, probe: &ClockProbe) -> Result<Rc<OwnedProbe>> {
        self.own_of(&probe.inner, "probe", |own: &OwnedProbe| &own.start.context)
    }

    /// Runs a kernel of our own that adds to a word, and gives the word.
    fn counted(
        &self,
        stream: &OwnedStream,
        launch: impl FnOnce(&OwnedMemory) -> Result<()>,
    ) -> Result<u64> {
        let sum = OwnedMemory::new(&self.context, 8)?;
        self.context
            .call(|driver| driver.queue_fill(stream.handle, sum.address, 0, sum.bytes))?;
        launch(&sum)?;
        self.context.synchronize(stream, OPENING)?;
        let mut bytes = [0; 8];
        self.context
            .call(|driver| driver.read(sum.address, &mut bytes))?;
        Ok(u64::from_ne_bytes(bytes))
    }

    /// Blocks of the kernels that go through memory: eight of 256 threads fill an SM.
    const fn readers(&self) -> u32 {
        self.properties.multiprocessors * 8
    }

    fn start_launch(&self, stream: &OwnedStream, launch: &OwnedLaunch) -> Result<()> {
        self.context.alive()?;
        let result = self
            .context
            .driver
            .launch(stream.handle, &launch.shape, &launch.arguments);
        result.map_err(|refused| match refused.status {
            status::LAUNCH_OUT_OF_RESOURCES => DeviceError::LaunchOutOfResources {
                function: launch.name.clone(),
                detail: format!(
                    "a grid of {:?} blocks of {:?} threads with {} bytes of dynamic shared memory; {}",
                    launch.shape.grid, launch.shape.block, launch.shape.shared_bytes, refused.reason
                ),
            },
            status::INVALID_CLUSTER_SIZE | status::INVALID_VALUE => DeviceError::InvalidLaunch {
                reason: format!(
                    "the driver refuses a grid of {:?} blocks of {:?} threads, clusters of {:?}: {}",
                    launch.shape.grid, launch.shape.block, launch.shape.cluster, refused.reason
                ),
            },
            _ => self.context.refused(&refused),
        })
    }

    /// What a function needs.
    fn attributes(&self, function: &OwnedFunction) -> FunctionAttributes {
        let driver = self.context.driver;
        let get = |attribute| driver.function_attribute(function.handle, attribute);
        FunctionAttributes {
            registers: get(function_attribute::NUM_REGS),
            static_shared_bytes: get(function_attribute::SHARED_SIZE_BYTES),
            local_bytes: get(function_attribute::LOCAL_SIZE_BYTES),
            constant_bytes: get(function_attribute::CONST_SIZE_BYTES),
            max_threads: get(function_attribute::MAX_THREADS_PER_BLOCK),
            binary_version: get(function_attribute::BINARY_VERSION),
            ptx_version: get(function_attribute::PTX_VERSION),
            parameter_bytes: driver.parameters(function.handle),
            is_debug: function.module.is_debug,
        }
    }
}

/// A product with one of its algorithms, and the memory that it works on.
struct OwnedProduct {
    context: Rc<Context>,
    plan: Rc<cublaslt::Plan>,
    place: usize,
    memory: Vec<Rc<OwnedMemory>>,
}

/// A number of 64 bits in pinned memory.
fn word(memory: &OwnedPinned, index: u64) -> u64 {
    let mut bytes = [0; 8];
    memory.memory.read(index * 8, &mut bytes);
    u64::from_ne_bytes(bytes)
}

/// What a block of the probe leaves.
struct StampOfSm {
    time: u64,
    cycles: u64,
    number: u64,
    /// Numbers of SMs are below this.
    sms: u64,
}

fn stamp_of(bytes: &[u8]) -> StampOfSm {
    let word = |index: usize| {
        let word = bytes.get(index * 8..index * 8 + 8);
        word.and_then(|word| word.try_into().ok())
            .map_or(0, u64::from_ne_bytes)
    };
    StampOfSm {
        time: word(0),
        cycles: word(1),
        number: word(2),
        sms: word(3),
    }
}

/// Whether an image was built for debugging: a cubin then has sections that `-lineinfo` does not make, and PTX says so
/// in its target. Other images do not tell.
fn is_debug(image: &[u8]) -> Option<bool> {
    let holds = |what: &[u8]| image.windows(what.len()).any(|window| window == what);
    if image.starts_with(b"\x7fELF") {
        return Some(holds(b".debug_info\0"));
    }
    let text = std::str::from_utf8(image).ok()?;
    let target = text
        .lines()
        .find_map(|line| line.trim_start().strip_prefix(".target"))?;
    Some(target.split(',').any(|word| word.trim() == "debug"))
}

impl Device for CudaDevice {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn memory(&self) -> Result<MemoryInfo> {
        let (free, total) = self.context.call(Driver::memory_info)?;
        Ok(MemoryInfo {
            free: Bytes::from_count(free),
            total: Bytes::from_count(total),
        })
    }

    fn sensors(&self) -> Readings {
        self.gpu.map(nvml::readings).unwrap_or_default()
    }

    fn death(&self) -> Option<DeviceError> {
        self.context.death()
    }

    fn now(&self) -> Nanos {
        self.context.now()
    }

    fn pause(&self, time: Nanos) {
        let seconds = time.seconds();
        if seconds > 0.0 {
            // A pause of more than a day is a mistake, and none of infinity is possible.
            std::thread::sleep(std::time::Duration::from_secs_f64(seconds.min(86_400.0)));
        }
    }

    fn allocate(&self, bytes: u64) -> Result<Buffer> {
        if bytes == 0 {
            return invalid("a buffer of no bytes".to_owned());
        }
        let inner = Inner::new(Rc::new(OwnedMemory::new(&self.context, bytes)?));
        Ok(Buffer { inner, bytes })
    }

    fn allocate_pinned(&self, bytes: u64) -> Result<Pinned> {
        if bytes == 0 {
            return invalid("a buffer of no bytes".to_owned());
        }
        let inner = Inner::new(Rc::new(OwnedPinned::new(&self.context, bytes)?));
        Ok(Pinned { inner, bytes })
    }

    fn write_pinned(&self, to: &Pinned, offset: u64, bytes: &[u8]) -> Result<()> {
        self.context.alive()?;
        inside(offset, bytes.len() as u64, to.bytes)?;
        self.pinned_of(to)?.memory.write(offset, bytes);
        Ok(())
    }

    fn read_pinned(&self, from: &Pinned, offset: u64, into: &mut [u8]) -> Result<()> {
        self.context.alive()?;
        inside(offset, into.len() as u64, from.bytes)?;
        self.pinned_of(from)?.memory.read(offset, into);
        Ok(())
    }

    fn write(&self, to: &Buffer, offset: u64, bytes: &[u8]) -> Result<()> {
        inside(offset, bytes.len() as u64, to.bytes)?;
        let memory = self.memory_of(to)?;
        self.context
            .call(|driver| driver.write(memory.address + offset, bytes))
    }

    fn read(&self, from: &Buffer, offset: u64, into: &mut [u8]) -> Result<()> {
        inside(offset, into.len() as u64, from.bytes)?;
        let memory = self.memory_of(from)?;
        self.context
            .call(|driver| driver.read(memory.address + offset, into))
    }

    fn fill(&self, stream: &Stream, buffer: &Buffer, byte: u8) -> Result<()> {
        let (stream, memory) = (self.stream_of(stream)?, self.memory_of(buffer)?);
        self.context
            .call(|driver| driver.queue_fill(stream.handle, memory.address, byte, memory.bytes))
    }

    fn copy(&self, stream: &Stream, from: &Buffer, to: &Buffer, bytes: u64) -> Result<()> {
        inside(0, bytes, from.bytes)?;
        inside(0, bytes, to.bytes)?;
        let stream = self.stream_of(stream)?;
        let (from, to) = (self.memory_of(from)?, self.memory_of(to)?);
        self.context
            .call(|driver| driver.queue_copy(stream.handle, from.address, to.address, bytes))
    }

    fn upload(&self, stream: &Stream, from: &Pinned, to: &Buffer, bytes: u64) -> Result<()> {
        inside(0, bytes, from.bytes)?;
        inside(0, bytes, to.bytes)?;
        let stream = self.stream_of(stream)?;
        let (from, to) = (self.pinned_of(from)?, self.memory_of(to)?);
        self.context
            .call(|driver| driver.queue_upload(stream.handle, &from.memory, to.address, bytes))
    }

    fn download(&self, stream: &Stream, from: &Buffer, to: &Pinned, bytes: u64) -> Result<()> {
        inside(0, bytes, from.bytes)?;
        inside(0, bytes, to.bytes)?;
        let stream = self.stream_of(stream)?;
        let (from, to) = (self.memory_of(from)?, self.pinned_of(to)?);
        self.context
            .call(|driver| driver.queue_download(stream.handle, from.address, &to.memory, bytes))
    }

    fn count(&self, stream: &Stream, buffer: &Buffer, size: usize, mask: u64) -> Result<u64> {
        element(size)?;
        let (stream, memory) = (self.stream_of(stream)?, self.memory_of(buffer)?);
        self.counted(&stream, |sum| {
            let what = (size as u32, mask);
            self.own.count(&stream, &memory, what, sum, self.readers())
        })
    }

    fn gather(
        &self,
        stream: &Stream,
        buffer: &Buffer,
        size: usize,
        indices: &[u64],
    ) -> Result<Vec<u8>> {
        element(size)?;
        inside(0, end_of(indices, size), buffer.bytes)?;
        let (stream, memory) = (self.stream_of(stream)?, self.memory_of(buffer)?);
        if indices.is_empty() {
            return Ok(Vec::new());
        }
        let mut words: Vec<u8> = indices
            .iter()
            .flat_map(|index| index.to_ne_bytes())
            .collect();
        let numbers = OwnedMemory::new(&self.context, words.len() as u64)?;
        let found = OwnedMemory::new(&self.context, words.len() as u64)?;
        self.context
            .call(|driver| driver.write(numbers.address, &words))?;
        self.own.gather(
            &stream,
            &memory,
            size as u32,
            &numbers,
            &found,
            self.readers(),
        )?;
        self.context.synchronize(&stream, OPENING)?;
        self.context
            .call(|driver| driver.read(found.address, &mut words))?;
        // The machines that have such devices are little-endian: the bytes of an element come first.
        Ok(words
            .chunks_exact(8)
            .flat_map(|word| &word[..size])
            .copied()
            .collect())
    }

    fn is_equal(&self, stream: &Stream, one: &Buffer, other: &Buffer, bytes: u64) -> Result<bool> {
        inside(0, bytes, one.bytes)?;
        inside(0, bytes, other.bytes)?;
        let stream = self.stream_of(stream)?;
        let (one, other) = (self.memory_of(one)?, self.memory_of(other)?);
        let differing = self.counted(&stream, |sum| {
            self.own
                .differ(&stream, &one, &other, bytes, sum, self.readers())
        })?;
        Ok(differing == 0)
    }

    fn digest(&self, stream: &Stream, buffer: &Buffer) -> Result<u64> {
        let (stream, memory) = (self.stream_of(stream)?, self.memory_of(buffer)?);
        self.counted(&stream, |sum| {
            self.own.digest(&stream, &memory, sum, self.readers())
        })
    }

    fn mask(&self, stream: &Stream, buffer: &Buffer, key: u64) -> Result<()> {
        let (stream, memory) = (self.stream_of(stream)?, self.memory_of(buffer)?);
        self.own.mask(&stream, &memory, key, self.readers())
    }

    fn peers(&self) -> Result<Vec<Peer>> {
        let driver = self.context.driver;
        let count = self.context.call(Driver::device_count)?;
        let mut peers = Vec::new();
        for ordinal in 0..count {
            let number = self.context.call(|_| driver.device(ordinal))?;
            if number == self.number {
                continue;
            }
            let identity = Identity::of(driver, number, self.nvml);
            let has_nvlink = self
                .gpu
                .zip(identity.gpu)
                .and_then(|(own, other)| own.has_nvlink_to(other));
            peers.push(Peer {
                ordinal,
                name: self.context.call(|_| driver.device_name(number))?,
                uuid: identity.uuid,
                has_access: driver.reaches(self.number, number),
                link: has_nvlink.map(|has_nvlink| {
                    if has_nvlink {
                        PeerLink::NvLink {
                            links: self.gpu.and_then(Gpu::nvlinks),
                        }
                    } else {
                        PeerLink::Pcie
                    }
                }),
            });
        }
        Ok(peers)
    }

    fn allocate_peer(&self, peer: u32, bytes: u64) -> Result<PeerBuffer> {
        self.context.alive()?;
        if bytes == 0 {
            return invalid("a buffer of no bytes".to_owned());
        }
        let peer = self.peer(peer)?;
        let inner = Inner::new(Rc::new(PeerMemory::new(&peer, bytes)?));
        Ok(PeerBuffer { inner, bytes })
    }

    fn copy_to_peer(
        &self,
        stream: &Stream,
        from: &Buffer,
        to: &PeerBuffer,
        bytes: u64,
    ) -> Result<()> {
        let stream = self.stream_of(stream)?;
        let (from, to) = (self.memory_of(from)?, self.peer_memory_of(to)?);
        inside(0, bytes, from.bytes)?;
        inside(0, bytes, to.bytes())?;
        self.context
            .call(|driver| driver.queue_to_peer(stream.handle, from.place(), to.place(), bytes))
    }

    fn copy_from_peer(
        &self,
        stream: &Stream,
        from: &PeerBuffer,
        to: &Buffer,
        bytes: u64,
    ) -> Result<()> {
        let stream = self.stream_of(stream)?;
        let (from, to) = (self.peer_memory_of(from)?, self.memory_of(to)?);
        inside(0, bytes, from.bytes())?;
        inside(0, bytes, to.bytes)?;
        self.context
            .call(|driver| driver.queue_to_peer(stream.handle, from.place(), to.place(), bytes))
    }

    fn compile(&self, program: &Program) -> Result<Compiled> {
        let compiler = self.compiler.as_ref().map_err(Clone::clone)?;
        let compiled = compiler.compile(&nvrtc::Source {
            text: &program.text,
            name: &program.name,
            capability: self.properties.capability,
            include_paths: &program.include_paths,
            options: &program.options,
            headers: &program.headers,
            name_expressions: &program.name_expressions,
        })?;
        Ok(Compiled {
            image: compiled.image,
            log: compiled.log,
            lowered_names: compiled.lowered_names,
        })
    }

    fn load(&self, image: &[u8]) -> Result<Module> {
        self.context.alive()?;
        // The driver looks for the end of an image by what stands in it.
        if image.len() < 4 {
            return Err(DeviceError::InvalidImage {
                reason: format!("{} bytes are no image", image.len()),
                log: String::new(),
            });
        }
        let handle =
            self.context
                .driver
                .load_module(image)
                .map_err(|(refused, log)| match refused.status {
                    status::INVALID_IMAGE
                    | status::NO_BINARY_FOR_GPU
                    | status::INVALID_PTX
                    | status::JIT_COMPILER_NOT_FOUND
                    | status::UNSUPPORTED_PTX_VERSION
                    | status::INVALID_SOURCE => DeviceError::InvalidImage {
                        reason: refused.reason,
                        log,
                    },
                    _ => self.context.refused(&refused),
                })?;
        let inner = Inner::new(Rc::new(OwnedModule {
            context: Rc::clone(&self.context),
            handle,
            is_debug: is_debug(image),
        }));
        Ok(Module { inner })
    }

    fn function(&self, module: &Module, name: &str) -> Result<Function> {
        self.context.alive()?;
        let module = self.own_of(&module.inner, "module", |own: &OwnedModule| &own.context)?;
        let driver = self.context.driver;
        let missing = || DeviceError::NoSuchFunction {
            name: name.to_owned(),
            known: driver.function_names(module.handle).unwrap_or_default(),
        };
        let text = name_of(name).ok_or_else(missing)?;
        let handle =
            driver
                .function(module.handle, &text)
                .map_err(|refused| match refused.status {
                    status::NOT_FOUND => missing(),
                    _ => self.context.refused(&refused),
                })?;
        self.context.call(|driver| driver.load_function(handle))?;
        let function = OwnedFunction { module, handle };
        let attributes = self.attributes(&function);
        Ok(Function {
            inner: Inner::new(Rc::new(function)),
            name: name.to_owned(),
            attributes,
        })
    }

    fn global(&self, module: &Module, name: &str, bytes: u64) -> Result<Buffer> {
        self.context.alive()?;
        if bytes == 0 {
            return invalid("a buffer of no bytes".to_owned());
        }
        let module = self.own_of(&module.inner, "module", |own: &OwnedModule| &own.context)?;
        let missing = || DeviceError::NoSuchGlobal {
            name: name.to_owned(),
        };
        let text = name_of(name).ok_or_else(missing)?;
        let (address, size) =
            self.context
                .driver
                .global(module.handle, &text)
                .map_err(|refused| match refused.status {
                    // The second is said of a symbol that is a function. Nothing else of the call can be invalid.
                    status::NOT_FOUND | status::INVALID_VALUE => missing(),
                    _ => self.context.refused(&refused),
                })?;
        inside(0, bytes, size)?;
        let inner = Inner::new(Rc::new(OwnedMemory {
            context: Rc::clone(&self.context),
            address,
            bytes,
            module: Some(module),
        }));
        Ok(Buffer { inner, bytes })
    }

    fn prepare(&self, launch: &Launch<'_>) -> Result<Prepared> {
        let asked = launch.function;
        let function = self.own_of(&asked.inner, "function", |own: &OwnedFunction| {
            &own.module.context
        })?;
        check(&self.properties, &asked.attributes, &asked.name, launch)?;
        if launch.cluster.is_some() && !self.context.driver.has_launch_attributes() {
            return Err(DeviceError::DriverTooOld {
                feature: "a launch in clusters",
                needed: Version::new(11, 8),
                found: self.context.driver.version(),
            });
        }
        let fixed = asked.attributes.static_shared_bytes.unwrap_or(0);
        if fixed.saturating_add(launch.dynamic_shared_bytes) > DEFAULT_SHARED {
            self.context.call(|driver| {
                driver.set_function_attribute(
                    function.handle,
                    function_attribute::MAX_DYNAMIC_SHARED_SIZE_BYTES,
                    launch.dynamic_shared_bytes,
                )
            })?;
        }
        if launch
            .cluster
            .is_some_and(|cluster| cluster.count() > PORTABLE_CLUSTER)
        {
            self.context.call(|driver| {
                driver.set_function_attribute(
                    function.handle,
                    function_attribute::NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
                    1,
                )
            })?;
        }
        let mut memory = Vec::new();
        let mut values = Vec::with_capacity(launch.arguments.len());
        for argument in launch.arguments {
            values.push(match argument {
                Argument::Buffer { buffer, offset } => {
                    let own = self.memory_of(buffer)?;
                    let address = own.address + offset;
                    memory.push(own);
                    address.to_ne_bytes().to_vec()
                }
                value => value.value().unwrap_or_default(),
            });
        }
        let sizes = |dimensions: crate::device::Dim3| [dimensions.x, dimensions.y, dimensions.z];
        let shape = Shape {
            function: function.handle,
            grid: sizes(launch.grid),
            block: sizes(launch.block),
            cluster: launch.cluster.map(sizes),
            shared_bytes: launch.dynamic_shared_bytes,
        };
        let prepared = OwnedLaunch {
            function,
            name: asked.name.clone(),
            shape,
            arguments: Arguments::new(&values, asked.attributes.parameter_bytes.is_some()),
            _memory: memory,
        };
        Ok(Prepared {
            inner: Inner::new(Rc::new(prepared)),
        })
    }

    fn launch(&self, stream: &Stream, launch: &Prepared) -> Result<()> {
        let (stream, launch) = (self.stream_of(stream)?, self.launch_of(launch)?);
        self.start_launch(&stream, &launch)
    }

    fn products(&self, product: &Product<'_>, most: usize) -> Result<Vec<PreparedProduct>> {
        self.context.alive()?;
        let unsupported = |reason: String| DeviceError::Unsupported {
            feature: "a matrix product of cuBLASLt",
            reason,
        };
        let memory = [product.left, product.right, product.to, product.workspace]
            .into_iter()
            .map(|buffer| self.memory_of(buffer))
            .collect::<Result<Vec<_>>>()?;
        for (bytes, memory) in product.bytes().into_iter().zip(&memory) {
            inside(0, bytes, memory.bytes)?;
        }
        let library = self
            .products
            .get_or_init(|| cublaslt::load(&self.cublaslt))
            .as_ref()
            .map_err(|reason| unsupported(reason.clone()))?;
        let plan = Rc::new(cublaslt::plan(library, product, most).map_err(unsupported)?);
        Ok((0..plan.algorithms())
            .map(|place| PreparedProduct {
                algorithm: plan
                    .algorithm_id(place)
                    .map_or_else(|| format!("number {place}"), |id| format!("algorithm {id}")),
                inner: Inner::new(Rc::new(OwnedProduct {
                    context: Rc::clone(&self.context),
                    plan: Rc::clone(&plan),
                    place,
                    memory: memory.clone(),
                })),
            })
            .collect())
    }

    fn launch_product(&self, stream: &Stream, product: &PreparedProduct) -> Result<()> {
        self.context.alive()?;
        let stream = self.stream_of(stream)?;
        let product = self.own_of(&product.inner, "product", |own: &OwnedProduct| &own.context)?;
        let mut addresses = [0; 4];
        for (address, memory) in addresses.iter_mut().zip(&product.memory) {
            *address = memory.address;
        }
        let queued = product
            .plan
            .queue(product.place, addresses, stream.handle.pointer());
        queued.map_err(|reason| DeviceError::Unsupported {
            feature: "a matrix product of cuBLASLt",
            reason,
        })
    }

    fn stream(&self) -> Result<Stream> {
        let inner = Inner::new(Rc::new(OwnedStream::new(&self.context)?));
        Ok(Stream { inner })
    }

    fn event(&self) -> Result<Event> {
        let handle = self.context.call(Driver::create_event)?;
        let inner = Inner::new(Rc::new(OwnedEvent {
            context: Rc::clone(&self.context),
            handle,
            is_recorded: Cell::new(false),
        }));
        Ok(Event { inner })
    }

    fn record(&self, stream: &Stream, event: &Event) -> Result<()> {
        let (stream, event) = (self.stream_of(stream)?, self.event_of(event)?);
        self.context
            .call(|driver| driver.record(stream.handle, event.handle))?;
        event.is_recorded.set(true);
        Ok(())
    }

    fn wait(&self, stream: &Stream, event: &Event) -> Result<()> {
        let (stream, event) = (self.stream_of(stream)?, self.event_of(event)?);
        self.context
            .call(|driver| driver.wait(stream.handle, event.handle))
    }

    fn elapsed(&self, from: &Event, to: &Event) -> Result<Nanos> {
        self.context.alive()?;
        let (from, to) = (self.event_of(from)?, self.event_of(to)?);
        if !from.is_recorded.get() || !to.is_recorded.get() {
            return Err(DeviceError::NotReady);
        }
        let milliseconds = self
            .context
            .call(|driver| driver.elapsed(from.handle, to.handle))?;
        Ok(Nanos::new((f64::from(milliseconds) * 1e6).round()))
    }

    fn is_done(&self, stream: &Stream) -> Result<bool> {
        let stream = self.stream_of(stream)?;
        self.context.call(|driver| driver.is_done(stream.handle))
    }

    fn synchronize(&self, stream: &Stream, timeout: Nanos) -> Result<()> {
        let stream = self.stream_of(stream)?;
        self.context.synchronize(&stream, timeout)
    }

    fn drain(&self) -> Result<Nanos> {
        let started = self.now();
        self.context.call(Driver::synchronize)?;
        Ok(self.now() - started)
    }

    fn graph(&self, launches: &[&Prepared]) -> Result<Graph> {
        if launches.is_empty() {
            return invalid("a graph without launches".to_owned());
        }
        let owned: Vec<Rc<OwnedLaunch>> = launches
            .iter()
            .map(|launch| self.launch_of(launch))
            .collect::<Result<_>>()?;
        let stream = self.capture.handle;
        self.context.call(|driver| driver.begin_capture(stream))?;
        let queued = owned
            .iter()
            .try_for_each(|launch| self.start_launch(&self.capture, launch));
        // A capture that was begun has to end, also when something went wrong; the first error is the one that counts.
        let ended = self.context.call(|driver| driver.end_capture(stream));
        queued?;
        let graph = OwnedGraph {
            context: Rc::clone(&self.context),
            handle: ended?,
            _launches: owned,
        };
        self.context
            .call(|driver| driver.upload_graph(stream, graph.handle))?;
        self.context.synchronize(&self.capture, OPENING)?;
        Ok(Graph {
            inner: Inner::new(Rc::new(graph)),
            launches: launches.len(),
        })
    }

    fn launch_graph(&self, stream: &Stream, graph: &Graph) -> Result<()> {
        let stream = self.stream_of(stream)?;
        let graph = self.own_of(&graph.inner, "graph", |own: &OwnedGraph| &own.context)?;
        self.context
            .call(|driver| driver.launch_graph(stream.handle, graph.handle))
    }

    fn block(&self, stream: &Stream, expires: Nanos) -> Result<Block> {
        self.context.alive()?;
        let stream = self.stream_of(stream)?;
        let Some((address, number)) = self.context.next_block(expires) else {
            return invalid("a stream is blocked already".to_owned());
        };
        let context = Rc::clone(&self.context);
        // From here on every way out releases.
        let block = Block {
            release: Some(Box::new(move || context.release_block(number))),
        };
        self.own.block(&stream, address, number, expires)?;
        Ok(block)
    }

    fn clock_probe(&self) -> Result<ClockProbe> {
        let room = || OwnedPinned::new(&self.context, u64::from(MOST_SMS) * STAMP_BYTES);
        let probe = OwnedProbe {
            start: room()?,
            stop: room()?,
            numbers: Cell::new((0, 0)),
            slots: Cell::new(MOST_SMS),
            room: RefCell::default(),
        };
        // Stamps have numbers from 1 on.
        let nothing = vec![0; (u64::from(MOST_SMS) * STAMP_BYTES) as usize];
        probe.start.memory.write(0, &nothing);
        probe.stop.memory.write(0, &nothing);
        Ok(ClockProbe {
            inner: Inner::new(Rc::new(probe)),
        })
    }

    fn stamp(&self, stream: &Stream, probe: &ClockProbe, end: WindowEnd) -> Result<()> {
        let (stream, probe) = (self.stream_of(stream)?, self.probe_of(probe)?);
        let number = self.stamps.get() + 1;
        self.stamps.set(number);
        let (start, stop) = probe.numbers.get();
        let memory = match end {
            WindowEnd::Start => {
                probe.numbers.set((number, 0));
                &probe.start
            }
            WindowEnd::Stop => {
                probe.numbers.set((start, number));
                &probe.stop
            }
        };
        let blocks = self.properties.multiprocessors;
        let address = memory.memory.address();
        let queued = self.own.stamp(&stream, address, MOST_SMS, number, blocks);
        if queued.is_err() {
            probe.numbers.set((start, stop));
        }
        queued
    }

    fn clock(&self, probe: &ClockProbe) -> Result<Option<ClockReading>> {
        self.context.alive()?;
        let probe = self.probe_of(probe)?;
        let (first, last) = probe.numbers.get();
        if first == 0 || last == 0 {
            return Ok(None);
        }
        // This is done between samples. At one go and only what can have been stamped: a call for each word took 30 us in a
        // build that does not inline it.
        let bytes = probe.slots.get() as usize * STAMP_BYTES as usize;
        let ProbeRoom {
            start,
            stop,
            windows,
        } = &mut *probe.room.borrow_mut();
        for (memory, bytes_read) in [(&probe.start, &mut *start), (&probe.stop, &mut *stop)] {
            bytes_read.resize(bytes, 0);
            memory.memory.read(0, bytes_read);
        }
        windows.clear();
        let slots = |bytes| <[u8]>::chunks_exact(bytes, STAMP_BYTES as usize).map(stamp_of);
        for (start, stop) in slots(start).zip(slots(stop)) {
            if start.number != first || stop.number != last {
                continue;
            }
            let time = stop.time.wrapping_sub(start.time) as f64;
            let cycles = stop.cycles.wrapping_sub(start.cycles) as f64;
            // A difference of more than an hour is one below zero.
            if time > 0.0 && time < 3.6e12 && cycles > 0.0 {
                windows.push((cycles / time * 1e9, time));
            }
            if let Some(numbers) = u32::try_from(stop.sms).ok().filter(|sms| *sms > 0) {
                probe.slots.set(numbers.min(MOST_SMS));
            }
        }
        windows.sort_unstable_by(|(one, _), (other, _)| one.total_cmp(other));
        let middle = windows.get(windows.len() / 2).copied();
        Ok(middle.map(|(clock, window)| ClockReading {
            clock: Hertz::new(clock),
            window: Nanos::new(window),
            multiprocessors: u32::try_from(windows.len()).unwrap_or(u32::MAX),
        }))
    }

    fn flush_l2(&self, stream: &Stream, flush: Flush) -> Result<()> {
        let stream = self.stream_of(stream)?;
        let Some(l2) = self.properties.l2 else {
            return Err(DeviceError::Unsupported {
                feature: "flushing the L2",
                reason: "the driver does not tell its size".to_owned(),
            });
        };
        // A whole number of the 16 bytes that a thread reads.
        let bytes = (l2.get() as u64 * u64::from(flush.times_l2.max(1))).div_ceil(16) * 16;
        let held = self.flushed.borrow().clone();
        let memory = match held {
            Some(memory) if memory.bytes >= bytes => memory,
            _ => {
                let memory = Rc::new(OwnedMemory::new(&self.context, bytes)?);
                *self.flushed.borrow_mut() = Some(Rc::clone(&memory));
                memory
            }
        };
        match flush.kind {
            FlushKind::Write => self
                .context
                .call(|driver| driver.queue_fill(stream.handle, memory.address, 0, bytes)),
            FlushKind::Read => self.own.read(&stream, &memory, bytes / 16, self.readers()),
        }
    }

    fn reset_persisting_l2(&self) -> Result<()> {
        if self.properties.max_persisting_l2.is_none() {
            return Ok(());
        }
        self.context.call(Driver::reset_persisting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_for_debugging_are_told() {
        assert_eq!(
            is_debug(b".version 8.0\n.target sm_90, debug\n"),
            Some(true)
        );
        assert_eq!(is_debug(b".version 8.0\n.target sm_90\n"), Some(false));
        assert_eq!(
            is_debug(b"\x7fELF\x02.debug_line\0.debug_frame\0"),
            Some(false)
        );
        assert_eq!(
            is_debug(b"\x7fELF\x02.debug_line\0.debug_info\0"),
            Some(true)
        );
        assert_eq!(is_debug(b"\x50\xed\x55\xba\xff"), None);
    }

    #[test]
    fn without_a_driver_there_is_a_reason_and_no_panic() {
        let options = CudaOptions {
            driver: vec![PathBuf::from("/nonexistent/libcuda.so.1")],
            ..CudaOptions::default()
        };
        let error = CudaDevice::open(&options).unwrap_err();
        assert_eq!(error.code(), "GPU0101");
        assert!(error.hint().unwrap().contains("driver"));
        assert_eq!(CudaDevice::count(&options).unwrap_err(), error);
    }
}
