//! A model of a GPU in simulated time: what protocols are tested on, and what runs where there is no GPU.
//!
//! It shows the effects that measurements have to cope with: latency of launches, a cache that is cold or hot, dirty lines
//! that somebody else pays for, a timer with a step, noise, clocks that fall, kernels that hang or write the wrong thing.
//! Its figures are no measurements of anything.

mod cache;
mod cheats;
mod contents;
mod costs;
mod image;
mod options;
mod properties;
mod random;
mod timeline;

pub use cheats::Cheat;
pub use options::{Bimodal, SimFault, SimFaultKind, SimOptions, SimOptionsError, Throttle};

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use ridge_model::device::PeakUnit;
use ridge_model::quantity::{Bytes, Hertz, Nanos};

use crate::device::{
    Block, Buffer, ClockProbe, ClockReading, Compiled, Device, Effect, Event, Flush, Function,
    FunctionAttributes, GpuProcess, Graph, Inner, Launch, MemoryInfo, Module, Operations, Peer,
    PeerBuffer, PeerLink, Pinned, Prepared, PreparedProduct, Product, Program, Properties,
    Readings, Stream, ThrottleReason, ThrottleReasons, WindowEnd, check, element, end_of, inside,
    invalid,
};
use crate::error::{DeviceError, NoGpu, Result};
use contents::Contents;
use properties::properties;
use timeline::{EventState, Kernel, Memory, Op, Place, Stamps, State, Touched};

/// A simulated GPU.
pub struct SimDevice {
    properties: Properties,
    state: Rc<RefCell<State>>,
    failure: Cell<Option<(&'static str, u64)>>,
}

impl std::fmt::Debug for SimDevice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SimDevice")
            .field("name", &self.properties.name)
            .finish_non_exhaustive()
    }
}

struct SimStream {
    id: u64,
    state: Rc<RefCell<State>>,
}

impl Drop for SimStream {
    fn drop(&mut self) {
        if let Ok(mut state) = self.state.try_borrow_mut() {
            state.close_stream(self.id);
        }
    }
}

/// Bytes of the contents of memory that are looked at in one piece.
const LOOK_BYTES: u64 = 1 << 20;

/// The number that the bytes of an element are, little-endian.
fn word_of(element: &[u8]) -> u64 {
    element
        .iter()
        .rev()
        .fold(0, |word, byte| (word << 8) | u64::from(*byte))
}

struct SimModule {
    state: Rc<RefCell<State>>,
    kernels: Vec<String>,
    image: Vec<u8>,
    /// Memory of the variables that were asked for.
    globals: RefCell<HashMap<String, Rc<Memory>>>,
}

/// Something that belongs to a device and holds nothing else of it.
struct Owned<T> {
    state: Rc<RefCell<State>>,
    value: T,
}

impl SimDevice {
    /// Opens a simulated device.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] where the table does not know enough of the device: bandwidth, clock, SMs, memory and
    /// size of the L2.
    pub fn open(options: &SimOptions) -> Result<Self> {
        let state = State::new(options);
        let (Some(state), Some(properties)) = (state, properties(options)) else {
            return Err(DeviceError::Unsupported {
                feature: "simulating this device",
                reason: format!(
                    "the table lacks bandwidth, SM clock, SMs, memory or L2 of {}",
                    options.device.name
                ),
            });
        };
        Ok(Self {
            properties,
            state: Rc::new(RefCell::new(state)),
            failure: Cell::new(None),
        })
    }

    /// Records the names of the calls from here on.
    pub fn record_calls(&self) {
        self.state.borrow_mut().recorded = Some(Vec::new());
    }

    /// The names of the methods of [`Device`] that were called since [`SimDevice::record_calls`], in their order; a release
    /// of a blocked stream is `release`. Reading the clock is not recorded.
    pub fn take_calls(&self) -> Vec<&'static str> {
        self.state.borrow_mut().recorded.take().unwrap_or_default()
    }

    /// Lets a call fail with [`DeviceError::Injected`], once: the `nth` from now on, counted from 0, of the method `call`.
    pub fn fail(&self, call: &'static str, nth: u64) {
        self.failure.set(Some((call, nth)));
    }

    fn enter(&self, call: &'static str, cost: f64) -> Result<std::cell::RefMut<'_, State>> {
        let mut state = self.state.borrow_mut();
        if let Some(calls) = state.recorded.as_mut() {
            calls.push(call);
        }
        match self.failure.get() {
            Some((name, 0)) if name == call => {
                self.failure.set(None);
                return Err(DeviceError::Injected { call });
            }
            Some((name, nth)) if name == call => self.failure.set(Some((name, nth - 1))),
            _ => {}
        }
        state.call(call, cost)?;
        Ok(state)
    }

    fn memory_of(&self, inner: &Inner, what: &'static str) -> Result<Rc<Memory>> {
        let memory: Rc<Memory> = inner.get(what)?;
        if memory.owner.as_ptr() == Rc::as_ptr(&self.state) {
            Ok(memory)
        } else {
            Err(DeviceError::Foreign { what })
        }
    }

    fn stream_of(&self, stream: &Stream) -> Result<u64> {
        let what = "stream";
        let stream: Rc<SimStream> = stream.inner.get(what)?;
        self.own(&stream.state, what)?;
        Ok(stream.id)
    }

    fn owned<T: 'static>(&self, inner: &Inner, what: &'static str) -> Result<Rc<Owned<T>>> {
        let owned: Rc<Owned<T>> = inner.get(what)?;
        self.own(&owned.state, what)?;
        Ok(owned)
    }

    fn own(&self, state: &Rc<RefCell<State>>, what: &'static str) -> Result<()> {
        if Rc::ptr_eq(state, &self.state) {
            Ok(())
        } else {
            Err(DeviceError::Foreign { what })
        }
    }

    fn handle<T: 'static>(&self, value: T) -> Inner {
        Inner::new(Rc::new(Owned {
            state: Rc::clone(&self.state),
            value,
        }))
    }

    fn new_memory(&self, call: &'static str, bytes: u64, place: Place) -> Result<Inner> {
        let mut state = self.enter(call, costs::ALLOCATE_CALL)?;
        if bytes == 0 {
            return invalid("a buffer of no bytes".to_owned());
        }
        let free = self.free(&state);
        if place == Place::Device {
            if bytes > free {
                return Err(DeviceError::OutOfMemory {
                    asked: Bytes::from_count(bytes),
                    free: Some(Bytes::from_count(free)),
                    is_host: false,
                });
            }
            state.memory_used += bytes;
        }
        let id = state.id();
        let seed = state.options.seed;
        let memory = Rc::new(Memory {
            id,
            bytes,
            contents: RefCell::new(Contents::new(bytes, seed ^ id)),
            owner: Rc::downgrade(&self.state),
            freed: Rc::clone(&state.freed),
            place,
        });
        if place == Place::Device {
            state.memories.push(Rc::downgrade(&memory));
        }
        Ok(Inner::new(memory))
    }

    /// Memory that a kernel of our own looks at when the stream comes to it, which is waited for.
    fn looked_at(
        &self,
        call: &'static str,
        stream: &Stream,
        buffer: &Buffer,
        bytes: u64,
    ) -> Result<Rc<Memory>> {
        let mut state = self.enter(call, costs::LAUNCH_CALL)?;
        let stream = self.stream_of(stream)?;
        let memory = self.memory_of(&buffer.inner, "buffer")?;
        state.drain(stream, Nanos::new(f64::INFINITY))?;
        state.now += costs::EMPTY_KERNEL + state.reading(bytes);
        state.cache.touch(memory.id, 0, bytes, true, false);
        Ok(memory)
    }

    fn free(&self, state: &State) -> u64 {
        let total = self.properties.memory.get();
        let taken = total * state.options.memory_taken;
        ((total - taken) as u64).saturating_sub(state.memory_used)
    }

    fn transfer(
        &self,
        call: &'static str,
        stream: &Stream,
        from: &Inner,
        to: &Inner,
        bytes: u64,
    ) -> Result<()> {
        let mut state = self.enter(call, costs::SMALL_CALL)?;
        let stream = self.stream_of(stream)?;
        let from = self.memory_of(from, "buffer")?;
        let to = self.memory_of(to, "buffer")?;
        inside(0, bytes, from.bytes)?;
        inside(0, bytes, to.bytes)?;
        state.queue(stream, Op::Copy { from, to, bytes });
        Ok(())
    }
}

impl Device for SimDevice {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn memory(&self) -> Result<MemoryInfo> {
        let state = self.enter("memory", costs::SMALL_CALL)?;
        Ok(MemoryInfo {
            free: Bytes::from_count(self.free(&state)),
            total: self.properties.memory,
        })
    }

    fn sensors(&self) -> Readings {
        let mut state = self.state.borrow_mut();
        if !state.options.has_sensors {
            return Readings::default();
        }
        state.now += costs::SENSORS_CALL;
        let (clock, is_idle) = state.clock();
        let mut reasons = ThrottleReasons::NONE;
        if is_idle {
            reasons = reasons.with(ThrottleReason::Idle);
        }
        if let Some(throttle) = state.options.throttle
            && state.now >= throttle.after.get()
        {
            reasons = reasons.with(throttle.reason);
        }
        let limit = self.properties.power_limit_watts;
        let own = GpuProcess {
            pid: 1,
            memory_bytes: Some(state.memory_used),
        };
        let mut processes = vec![own];
        if state.options.is_shared {
            processes.push(GpuProcess {
                pid: 2,
                memory_bytes: Some(
                    (self.properties.memory.get() * state.options.memory_taken) as u64,
                ),
            });
        }
        let share = if is_idle { 0.12 } else { 0.8 };
        Readings {
            sm_clock: Some(Hertz::new(clock)),
            memory_clock: None,
            power_watts: limit.map(|limit| limit * share),
            energy_joules: limit.map(|limit| limit * 0.8 * state.worked() / 1e9),
            temperature_celsius: Some(if is_idle { 32.0 } else { 58.0 }),
            throttle: Some(reasons),
            processes: Some(processes),
        }
    }

    fn death(&self) -> Option<DeviceError> {
        self.state.borrow().death.clone()
    }

    fn now(&self) -> Nanos {
        let mut state = self.state.borrow_mut();
        state.now += costs::CLOCK_CALL;
        Nanos::new(state.now)
    }

    fn pause(&self, time: Nanos) {
        let mut state = self.state.borrow_mut();
        state.now += time.get().max(0.0);
    }

    fn allocate(&self, bytes: u64) -> Result<Buffer> {
        let inner = self.new_memory("allocate", bytes, Place::Device)?;
        Ok(Buffer { inner, bytes })
    }

    fn allocate_pinned(&self, bytes: u64) -> Result<Pinned> {
        let inner = self.new_memory("allocate_pinned", bytes, Place::Host)?;
        Ok(Pinned { inner, bytes })
    }

    fn write_pinned(&self, to: &Pinned, offset: u64, bytes: &[u8]) -> Result<()> {
        let _state = self.enter("write_pinned", costs::SMALL_CALL)?;
        let memory = self.memory_of(&to.inner, "pinned memory")?;
        inside(offset, bytes.len() as u64, to.bytes)?;
        let mut contents = memory.contents.borrow_mut();
        contents.write(offset, bytes.len() as u64, Rc::from(bytes));
        Ok(())
    }

    fn read_pinned(&self, from: &Pinned, offset: u64, into: &mut [u8]) -> Result<()> {
        let _state = self.enter("read_pinned", costs::SMALL_CALL)?;
        let memory = self.memory_of(&from.inner, "pinned memory")?;
        inside(offset, into.len() as u64, from.bytes)?;
        memory.contents.borrow().read(offset, into);
        Ok(())
    }

    fn write(&self, to: &Buffer, offset: u64, bytes: &[u8]) -> Result<()> {
        let mut state = self.enter("write", costs::SMALL_CALL)?;
        let memory = self.memory_of(&to.inner, "buffer")?;
        let length = bytes.len() as u64;
        inside(offset, length, to.bytes)?;
        state.now += costs::COPY_START + length as f64 / costs::PAGEABLE[0].min(state.link());
        state.cache.touch(memory.id, offset, length, false, true);
        let mut contents = memory.contents.borrow_mut();
        contents.write(offset, length, Rc::from(bytes));
        Ok(())
    }

    fn read(&self, from: &Buffer, offset: u64, into: &mut [u8]) -> Result<()> {
        let mut state = self.enter("read", costs::SMALL_CALL)?;
        let memory = self.memory_of(&from.inner, "buffer")?;
        let length = into.len() as u64;
        inside(offset, length, from.bytes)?;
        state.now += costs::COPY_START + length as f64 / costs::PAGEABLE[1].min(state.link());
        state.cache.touch(memory.id, offset, length, true, false);
        memory.contents.borrow().read(offset, into);
        Ok(())
    }

    fn count(&self, stream: &Stream, buffer: &Buffer, size: usize, mask: u64) -> Result<u64> {
        element(size)?;
        let memory = self.looked_at("count", stream, buffer, buffer.bytes)?;
        let contents = memory.contents.borrow();
        let mut found = 0;
        for start in (0..buffer.bytes).step_by(LOOK_BYTES as usize) {
            let bytes = (buffer.bytes - start).min(LOOK_BYTES) / size as u64 * size as u64;
            let mut part = vec![0; bytes as usize];
            contents.read(start, &mut part);
            found += part
                .chunks_exact(size)
                .filter(|element| word_of(element) & mask == mask)
                .count() as u64;
        }
        Ok(found)
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
        let touched = (indices.len() * size) as u64;
        let memory = self.looked_at("gather", stream, buffer, touched)?;
        let contents = memory.contents.borrow();
        let mut found = vec![0; indices.len() * size];
        for (index, element) in indices.iter().zip(found.chunks_exact_mut(size)) {
            contents.read(index * size as u64, element);
        }
        Ok(found)
    }

    fn is_equal(&self, stream: &Stream, one: &Buffer, other: &Buffer, bytes: u64) -> Result<bool> {
        inside(0, bytes, one.bytes)?;
        inside(0, bytes, other.bytes)?;
        let one = self.looked_at("is_equal", stream, one, bytes)?;
        let other = self.looked_at("is_equal", stream, other, bytes)?;
        let (one, other) = (one.contents.borrow(), other.contents.borrow());
        Ok((0..bytes).step_by(LOOK_BYTES as usize).all(|start| {
            let length = (bytes - start).min(LOOK_BYTES) as usize;
            let (mut left, mut right) = (vec![0; length], vec![0; length]);
            one.read(start, &mut left);
            other.read(start, &mut right);
            left == right
        }))
    }

    fn digest(&self, stream: &Stream, buffer: &Buffer) -> Result<u64> {
        let memory = self.looked_at("digest", stream, buffer, buffer.bytes)?;
        let contents = memory.contents.borrow();
        Ok(contents.digest(0, buffer.bytes))
    }

    fn mask(&self, stream: &Stream, buffer: &Buffer, key: u64) -> Result<()> {
        let memory = self.looked_at("mask", stream, buffer, buffer.bytes)?;
        let mut contents = memory.contents.borrow_mut();
        for start in (0..buffer.bytes).step_by(LOOK_BYTES as usize) {
            let length = (buffer.bytes - start).min(LOOK_BYTES) as usize;
            let mut part = vec![0; length];
            contents.read(start, &mut part);
            for (word, place) in part.chunks_mut(8).zip(start / 8..) {
                let numbers = random::mix(&[key, place]).to_le_bytes();
                for (byte, number) in word.iter_mut().zip(numbers) {
                    *byte ^= number;
                }
            }
            contents.write(start, length as u64, Rc::from(part));
        }
        Ok(())
    }

    fn fill(&self, stream: &Stream, buffer: &Buffer, byte: u8) -> Result<()> {
        let mut state = self.enter("fill", costs::LAUNCH_CALL)?;
        let stream = self.stream_of(stream)?;
        let memory = self.memory_of(&buffer.inner, "buffer")?;
        state.queue(stream, Op::Fill(memory, byte));
        Ok(())
    }

    fn copy(&self, stream: &Stream, from: &Buffer, to: &Buffer, bytes: u64) -> Result<()> {
        self.transfer("copy", stream, &from.inner, &to.inner, bytes)
    }

    fn upload(&self, stream: &Stream, from: &Pinned, to: &Buffer, bytes: u64) -> Result<()> {
        self.transfer("upload", stream, &from.inner, &to.inner, bytes)
    }

    fn download(&self, stream: &Stream, from: &Buffer, to: &Pinned, bytes: u64) -> Result<()> {
        self.transfer("download", stream, &from.inner, &to.inner, bytes)
    }

    fn peers(&self) -> Result<Vec<Peer>> {
        let state = self.enter("peers", costs::SMALL_CALL)?;
        let link = match state.options.device.nvlink {
            Some(_) => PeerLink::NvLink { links: None },
            None => PeerLink::Pcie,
        };
        let peer = |ordinal| Peer {
            ordinal,
            name: self.properties.name.clone(),
            uuid: Some(format!("SIM-peer-{ordinal}-{}", state.options.seed)),
            has_access: true,
            link: Some(link),
        };
        Ok((1..=state.options.peers).map(peer).collect())
    }

    fn allocate_peer(&self, peer: u32, bytes: u64) -> Result<PeerBuffer> {
        let others = self.state.borrow().options.peers;
        if peer == 0 {
            return invalid("GPU 0 is no other one".to_owned());
        }
        if peer > others {
            return Err(NoGpu::NoSuchDevice {
                ordinal: peer,
                count: others + 1,
            }
            .into());
        }
        let inner = self.new_memory("allocate_peer", bytes, Place::Peer)?;
        Ok(PeerBuffer { inner, bytes })
    }

    fn copy_to_peer(
        &self,
        stream: &Stream,
        from: &Buffer,
        to: &PeerBuffer,
        bytes: u64,
    ) -> Result<()> {
        self.transfer("copy_to_peer", stream, &from.inner, &to.inner, bytes)
    }

    fn copy_from_peer(
        &self,
        stream: &Stream,
        from: &PeerBuffer,
        to: &Buffer,
        bytes: u64,
    ) -> Result<()> {
        self.transfer("copy_from_peer", stream, &from.inner, &to.inner, bytes)
    }

    fn compile(&self, program: &Program) -> Result<Compiled> {
        let _state = self.enter("compile", costs::COMPILE_CALL)?;
        image::compile(program)
    }

    fn load(&self, image: &[u8]) -> Result<Module> {
        let _state = self.enter("load", costs::LOAD_CALL)?;
        let inner = Inner::new(Rc::new(SimModule {
            state: Rc::clone(&self.state),
            kernels: image::kernels_of(image)?,
            image: image.to_vec(),
            globals: RefCell::new(HashMap::new()),
        }));
        Ok(Module { inner })
    }

    fn function(&self, module: &Module, name: &str) -> Result<Function> {
        let state = self.enter("function", costs::SMALL_CALL)?;
        let module: Rc<SimModule> = module.inner.get("module")?;
        self.own(&module.state, "module")?;
        if !module.kernels.iter().any(|kernel| kernel == name) {
            return Err(DeviceError::NoSuchFunction {
                name: name.to_owned(),
                known: module.kernels.clone(),
            });
        }
        let has = |kind| {
            let mut faults = state.options.faults.iter();
            faults.any(|fault| fault.kernel == name && fault.what == kind)
        };
        let attributes = FunctionAttributes {
            max_threads: Some(if has(SimFaultKind::Registers) {
                256
            } else {
                1024
            }),
            is_debug: Some(has(SimFaultKind::Debug)),
            ..FunctionAttributes::default()
        };
        Ok(Function {
            inner: self.handle(()),
            name: name.to_owned(),
            attributes,
        })
    }

    fn global(&self, module: &Module, name: &str, bytes: u64) -> Result<Buffer> {
        let known = {
            let _state = self.enter("global", costs::SMALL_CALL)?;
            let module: Rc<SimModule> = module.inner.get("module")?;
            self.own(&module.state, "module")?;
            let variable = image::variable_of(&module.image, name);
            let variable = variable.ok_or_else(|| DeviceError::NoSuchGlobal {
                name: name.to_owned(),
            })?;
            if bytes == 0 {
                return invalid("a buffer of no bytes".to_owned());
            }
            // A size that cannot be read is the one that is asked for first.
            let known = module.globals.borrow().get(name).cloned();
            let size = known.as_ref().map(|memory| memory.bytes).or(variable.bytes);
            inside(0, bytes, size.unwrap_or(bytes))?;
            (module, known, size.unwrap_or(bytes))
        };
        let (module, known, size) = known;
        let memory = match known {
            Some(memory) => memory,
            None => {
                let memory: Rc<Memory> = self
                    .new_memory("allocate", size, Place::Device)?
                    .get("buffer")?;
                // What an image does not give a value is zero.
                memory.contents.borrow_mut().fill(0, size, 0);
                let mut globals = module.globals.borrow_mut();
                globals.insert(name.to_owned(), Rc::clone(&memory));
                memory
            }
        };
        Ok(Buffer {
            inner: Inner::new(memory),
            bytes,
        })
    }

    fn prepare(&self, launch: &Launch<'_>) -> Result<Prepared> {
        let _state = self.enter("prepare", costs::SMALL_CALL)?;
        let function = launch.function;
        self.owned::<()>(&function.inner, "function")?;
        check(
            &self.properties,
            &function.attributes,
            &function.name,
            launch,
        )?;
        for argument in launch.arguments {
            if let crate::device::Argument::Buffer { buffer, .. } = argument {
                self.memory_of(&buffer.inner, "buffer")?;
            }
        }
        let mut touched = Vec::with_capacity(launch.work.accesses.len());
        for access in launch.work.accesses {
            inside(access.offset, access.bytes, access.buffer.bytes)?;
            touched.push(Touched {
                memory: self.memory_of(&access.buffer.inner, "buffer")?,
                offset: access.offset,
                bytes: access.bytes,
                times: access.times,
                effect: access.effect.clone(),
            });
        }
        let kernel = Rc::new(Kernel {
            name: function.name.clone(),
            touched,
            operations: launch.work.operations.to_vec(),
            problem: launch.work.problem,
        });
        Ok(Prepared {
            inner: self.handle(kernel),
        })
    }

    fn launch(&self, stream: &Stream, launch: &Prepared) -> Result<()> {
        let mut state = self.enter("launch", costs::LAUNCH_CALL)?;
        let stream = self.stream_of(stream)?;
        let kernel = self.owned::<Rc<Kernel>>(&launch.inner, "launch")?;
        state.queue(stream, Op::Kernel(Rc::clone(&kernel.value)));
        Ok(())
    }

    fn products(&self, product: &Product<'_>, _most: usize) -> Result<Vec<PreparedProduct>> {
        let _state = self.enter("products", costs::SMALL_CALL)?;
        let mut touched = Vec::new();
        let buffers = [product.left, product.right, product.to];
        for (bytes, buffer) in product.bytes().into_iter().zip(buffers) {
            inside(0, bytes, buffer.bytes)?;
            let is_result = touched.len() == 2;
            touched.push(Touched {
                memory: self.memory_of(&buffer.inner, "buffer")?,
                offset: 0,
                bytes,
                times: 1.0,
                effect: if is_result {
                    Effect::Write(product.format)
                } else {
                    Effect::Read
                },
            });
        }
        let kernel = Rc::new(Kernel {
            name: "product".to_owned(),
            touched,
            operations: vec![Operations {
                format: product.format,
                unit: if product.format == ridge_model::NumberFormat::Fp32 {
                    PeakUnit::Vector
                } else {
                    PeakUnit::Tensor
                },
                count: product.operations(),
            }],
            problem: 1,
        });
        Ok(vec![PreparedProduct {
            inner: self.handle(kernel),
            algorithm: "simulated".to_owned(),
        }])
    }

    fn launch_product(&self, stream: &Stream, product: &PreparedProduct) -> Result<()> {
        let mut state = self.enter("launch_product", costs::LAUNCH_CALL)?;
        let stream = self.stream_of(stream)?;
        let kernel = self.owned::<Rc<Kernel>>(&product.inner, "product")?;
        state.queue(stream, Op::Kernel(Rc::clone(&kernel.value)));
        Ok(())
    }

    fn stream(&self) -> Result<Stream> {
        let mut state = self.enter("stream", costs::SMALL_CALL)?;
        let inner = Inner::new(Rc::new(SimStream {
            id: state.open_stream(),
            state: Rc::clone(&self.state),
        }));
        Ok(Stream { inner })
    }

    fn event(&self) -> Result<Event> {
        let _state = self.enter("event", costs::SMALL_CALL)?;
        let inner = self.handle(Rc::new(EventState::default()));
        Ok(Event { inner })
    }

    fn record(&self, stream: &Stream, event: &Event) -> Result<()> {
        let mut state = self.enter("record", costs::SMALL_CALL)?;
        let stream = self.stream_of(stream)?;
        let event = self.owned::<Rc<EventState>>(&event.inner, "event")?;
        state.queue(stream, Op::Record(event.value.record()));
        Ok(())
    }

    fn wait(&self, stream: &Stream, event: &Event) -> Result<()> {
        let mut state = self.enter("wait", costs::SMALL_CALL)?;
        let stream = self.stream_of(stream)?;
        let event = self.owned::<Rc<EventState>>(&event.inner, "event")?;
        // An event that was never recorded holds nobody.
        if let Some(reached) = event.value.last() {
            state.queue(stream, Op::Wait(reached));
        }
        Ok(())
    }

    fn elapsed(&self, from: &Event, to: &Event) -> Result<Nanos> {
        let state = self.enter("elapsed", costs::SMALL_CALL)?;
        let step = |event: &Event| {
            let event = self.owned::<Rc<EventState>>(&event.inner, "event")?;
            let reached = event.value.last().and_then(|reached| reached.get());
            let reached = reached.filter(|reached| *reached <= state.now);
            reached
                .map(|reached| (reached / costs::TIMER_STEP).floor())
                .ok_or(DeviceError::NotReady)
        };
        Ok(Nanos::new((step(to)? - step(from)?) * costs::TIMER_STEP))
    }

    fn is_done(&self, stream: &Stream) -> Result<bool> {
        let state = self.enter("is_done", costs::SMALL_CALL)?;
        Ok(state.is_done(self.stream_of(stream)?))
    }

    fn synchronize(&self, stream: &Stream, timeout: Nanos) -> Result<()> {
        let mut state = self.enter("synchronize", costs::SMALL_CALL)?;
        let stream = self.stream_of(stream)?;
        state.drain(stream, timeout)?;
        match state.take_expired() {
            Some(after) => Err(DeviceError::BlockExpired { after }),
            None => Ok(()),
        }
    }

    fn drain(&self) -> Result<Nanos> {
        let mut state = self.enter("drain", costs::SMALL_CALL)?;
        let started = state.now;
        state.drain_all()?;
        Ok(Nanos::new(state.now - started))
    }

    fn graph(&self, launches: &[&Prepared]) -> Result<Graph> {
        let _state = self.enter("graph", costs::LOAD_CALL)?;
        if launches.is_empty() {
            return invalid("a graph without launches".to_owned());
        }
        let kernels: Vec<Rc<Kernel>> = launches
            .iter()
            .map(|launch| {
                let kernel = self.owned::<Rc<Kernel>>(&launch.inner, "launch")?;
                Ok(Rc::clone(&kernel.value))
            })
            .collect::<Result<_>>()?;
        Ok(Graph {
            inner: self.handle(Rc::new(kernels)),
            launches: launches.len(),
        })
    }

    fn launch_graph(&self, stream: &Stream, graph: &Graph) -> Result<()> {
        let mut state = self.enter("launch_graph", costs::GRAPH_CALL)?;
        let stream = self.stream_of(stream)?;
        let kernels = self.owned::<Rc<Vec<Rc<Kernel>>>>(&graph.inner, "graph")?;
        state.queue(stream, Op::Graph(Rc::clone(&kernels.value)));
        Ok(())
    }

    fn block(&self, stream: &Stream, expires: Nanos) -> Result<Block> {
        let mut state = self.enter("block", costs::LAUNCH_CALL)?;
        let stream = self.stream_of(stream)?;
        let number = state.block(stream, expires)?;
        let shared = Rc::clone(&self.state);
        Ok(Block {
            release: Some(Box::new(move || {
                shared.borrow_mut().release(number);
            })),
        })
    }

    fn clock_probe(&self) -> Result<ClockProbe> {
        let _state = self.enter("clock_probe", costs::ALLOCATE_CALL)?;
        let inner = self.handle(Rc::new(Stamps::default()));
        Ok(ClockProbe { inner })
    }

    fn stamp(&self, stream: &Stream, probe: &ClockProbe, end: WindowEnd) -> Result<()> {
        let mut state = self.enter("stamp", costs::LAUNCH_CALL)?;
        let stream = self.stream_of(stream)?;
        let stamps = self.owned::<Rc<Stamps>>(&probe.inner, "probe")?;
        state.queue(stream, Op::Stamp(Rc::clone(&stamps.value), end));
        Ok(())
    }

    fn clock(&self, probe: &ClockProbe) -> Result<Option<ClockReading>> {
        let _state = self.enter("clock", costs::SMALL_CALL)?;
        let stamps = self.owned::<Rc<Stamps>>(&probe.inner, "probe")?;
        let (Some(start), Some(stop)) = (stamps.value.start.get(), stamps.value.stop.get()) else {
            return Ok(None);
        };
        let window = stop.1 - start.1;
        Ok((window > 0.0).then(|| ClockReading {
            clock: Hertz::new((stop.0 - start.0) / window * 1e9),
            window: Nanos::new(window),
            multiprocessors: self.properties.multiprocessors,
        }))
    }

    fn flush_l2(&self, stream: &Stream, flush: Flush) -> Result<()> {
        let mut state = self.enter("flush_l2", costs::LAUNCH_CALL)?;
        let stream = self.stream_of(stream)?;
        state.queue(stream, Op::Flush(flush));
        Ok(())
    }

    fn reset_persisting_l2(&self) -> Result<()> {
        self.enter("reset_persisting_l2", costs::SMALL_CALL)
            .map(|_| ())
    }
}

#[cfg(test)]
mod tests;
