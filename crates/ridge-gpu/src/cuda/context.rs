//! A context and what it owns. Everything here is freed when it is dropped, and not at all once the context is dead: then
//! freeing would wait for what never ends.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use ridge_model::quantity::{Bytes, Nanos};

use super::driver::{
    Address, Arguments, DeviceNumber, Driver, Handle, HostMemory, Refused, Shape, status,
};
use crate::error::{DeviceError, Fault, Result};

/// How long a wait keeps the processor before it gives it up between two looks.
const SPIN: Duration = Duration::from_millis(5);
/// How long it gives it up.
const NAP: Duration = Duration::from_micros(20);
/// The words of the memory with which a stream is held back: the number of the release, and of the block that gave up.
const RELEASED: usize = 0;
const EXPIRED: usize = 1;

/// A context of the driver.
pub(super) struct Context {
    pub(super) driver: &'static Driver,
    device: DeviceNumber,
    handle: Handle,
    opened: Instant,
    death: RefCell<Option<DeviceError>>,
    /// The memory with which a stream is held back; absent until the device is set up.
    gate: RefCell<Option<HostMemory>>,
    /// The number of the last block, and whether it still holds.
    block: Cell<(u32, bool)>,
    block_expires: Cell<f64>,
    /// The block that gave up and was told.
    told: Cell<u32>,
}

impl Context {
    /// Enters the context of a device.
    pub(super) fn new(
        driver: &'static Driver,
        device: DeviceNumber,
    ) -> std::result::Result<Rc<Self>, Refused> {
        let handle = driver.retain(device)?;
        if let Err(refused) = driver.enter(handle) {
            driver.leave(device);
            return Err(refused);
        }
        Ok(Rc::new(Self {
            driver,
            device,
            handle,
            opened: Instant::now(),
            death: RefCell::new(None),
            gate: RefCell::new(None),
            block: Cell::new((0, false)),
            block_expires: Cell::new(0.0),
            told: Cell::new(0),
        }))
    }

    pub(super) fn now(&self) -> Nanos {
        // Whole nanoseconds of a double are exact for more than a hundred days.
        Nanos::new(self.opened.elapsed().as_nanos() as f64)
    }

    pub(super) fn death(&self) -> Option<DeviceError> {
        self.death.borrow().clone()
    }

    /// Refuses to go on after a fatal error.
    pub(super) fn alive(&self) -> Result<()> {
        match &*self.death.borrow() {
            Some(cause) => Err(DeviceError::Dead {
                cause: Box::new(cause.clone()),
            }),
            None => Ok(()),
        }
    }

    /// Whether something may be destroyed that the driver does not wait for.
    fn may_destroy(&self) -> bool {
        self.death.borrow().is_none()
    }

    /// Whether something may be freed.
    fn may_free(&self) -> bool {
        let may = self.may_destroy();
        if may {
            // The driver waits for the device before it frees, and a stream that is held back would never come to an end.
            self.release();
        }
        may
    }

    /// The error for a call that the driver refused; a fatal one is kept.
    pub(super) fn refused(&self, refused: &Refused) -> DeviceError {
        let error = error_of(refused);
        if error.is_fatal() {
            self.die(&error);
        }
        error
    }

    fn die(&self, error: &DeviceError) {
        self.release();
        self.death.borrow_mut().get_or_insert_with(|| error.clone());
    }

    /// A call of the driver, after which the context may be dead.
    pub(super) fn call<T>(
        &self,
        call: impl FnOnce(&Driver) -> std::result::Result<T, Refused>,
    ) -> Result<T> {
        self.alive()?;
        call(self.driver).map_err(|refused| self.refused(&refused))
    }

    /// Waits until a stream is done.
    pub(super) fn synchronize(&self, stream: &OwnedStream, timeout: Nanos) -> Result<()> {
        let started = Instant::now();
        while !self.call(|driver| driver.is_done(stream.handle))? {
            let waited = started.elapsed();
            if waited.as_nanos() as f64 > timeout.get() {
                let error = DeviceError::Timeout { after: timeout };
                self.die(&error);
                return Err(error);
            }
            if waited > SPIN {
                std::thread::sleep(NAP);
            } else {
                std::hint::spin_loop();
            }
        }
        self.tell_expired()
    }

    /// Tells once that a stream had to release itself.
    fn tell_expired(&self) -> Result<()> {
        let expired = match &*self.gate.borrow() {
            Some(gate) => gate.load(EXPIRED),
            None => 0,
        };
        if expired == self.told.get() {
            return Ok(());
        }
        self.told.set(expired);
        let (number, _) = self.block.get();
        if expired == number {
            self.block.set((number, false));
        }
        Err(DeviceError::BlockExpired {
            after: Nanos::new(self.block_expires.get()),
        })
    }

    /// Sets the memory up with which streams are held back.
    pub(super) fn set_gate(&self) -> Result<()> {
        let memory = self.call(|driver| driver.allocate_host(64))?;
        memory.store(RELEASED, 0);
        memory.store(EXPIRED, 0);
        *self.gate.borrow_mut() = Some(memory);
        Ok(())
    }

    /// The address of that memory on the device and the number of the next block; `None` when a stream is held back
    /// already.
    pub(super) fn next_block(&self, expires: Nanos) -> Option<(Address, u32)> {
        let (number, is_held) = self.block.get();
        if is_held {
            return None;
        }
        let address = self.gate.borrow().as_ref().map(HostMemory::address)?;
        self.block.set((number + 1, true));
        self.block_expires.set(expires.get());
        Some((address, number + 1))
    }

    /// Lets the stream run that a block holds back, if that one still holds.
    pub(super) fn release_block(&self, number: u32) {
        if self.block.get() == (number, true) {
            self.release();
        }
    }

    /// Lets the stream run that is held back, if one is.
    fn release(&self) {
        let (number, _) = self.block.get();
        if let Some(gate) = &*self.gate.borrow() {
            gate.store(RELEASED, number);
        }
        self.block.set((number, false));
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if !self.may_free() {
            return;
        }
        if let Some(gate) = self.gate.borrow_mut().take() {
            self.driver.free_host(&gate);
        }
        self.driver.leave(self.device);
    }
}

/// The error that a refused call means.
pub(super) fn error_of(refused: &Refused) -> DeviceError {
    let fault = match refused.status {
        status::ILLEGAL_ADDRESS => Some(Fault::IllegalAddress),
        status::MISALIGNED_ADDRESS => Some(Fault::MisalignedAddress),
        status::ILLEGAL_INSTRUCTION => Some(Fault::IllegalInstruction),
        status::ASSERT => Some(Fault::Assert),
        status::HARDWARE_STACK_ERROR | status::INVALID_ADDRESS_SPACE | status::INVALID_PC => {
            Some(Fault::Corrupt)
        }
        status::LAUNCH_FAILED => Some(Fault::Trap),
        // Contained errors, and those of the links between GPUs, end a context too.
        status::ECC_UNCORRECTABLE | status::NVLINK_UNCORRECTABLE | status::CONTAINED => {
            Some(Fault::MemoryError)
        }
        status::LAUNCH_TIMEOUT => Some(Fault::SystemTimeout),
        status::DEVICE_UNAVAILABLE
        | status::CONTEXT_IS_DESTROYED
        | status::MPS_CLIENT_TERMINATED => Some(Fault::DeviceLost),
        _ => None,
    };
    if let Some(fault) = fault {
        return DeviceError::Fault {
            fault,
            call: refused.call,
        };
    }
    match refused.status {
        status::NOT_READY => DeviceError::NotReady,
        status::NOT_SUPPORTED => DeviceError::Unsupported {
            feature: refused.call,
            reason: refused.reason.clone(),
        },
        _ => DeviceError::Driver {
            call: refused.call,
            number: refused.status,
            reason: refused.reason.clone(),
        },
    }
}

/// Memory of the device.
pub(super) struct OwnedMemory {
    pub(super) context: Rc<Context>,
    pub(super) address: Address,
    pub(super) bytes: u64,
    /// The module whose variable it is; its own memory where there is none.
    pub(super) module: Option<Rc<OwnedModule>>,
}

impl OwnedMemory {
    /// Where it is, for copies between contexts.
    pub(super) fn place(&self) -> (Handle, Address) {
        (self.context.handle, self.address)
    }

    pub(super) fn new(context: &Rc<Context>, bytes: u64) -> Result<Self> {
        context.alive()?;
        match context.driver.allocate(bytes) {
            Ok(address) => Ok(Self {
                context: Rc::clone(context),
                address,
                bytes,
                module: None,
            }),
            Err(refused) if refused.status == status::OUT_OF_MEMORY => {
                let free = context.driver.memory_info().ok();
                Err(DeviceError::OutOfMemory {
                    asked: Bytes::from_count(bytes),
                    free: free.map(|(free, _)| Bytes::from_count(free)),
                    is_host: false,
                })
            }
            Err(refused) => Err(context.refused(&refused)),
        }
    }
}

impl Drop for OwnedMemory {
    fn drop(&mut self) {
        if self.module.is_none() && self.context.may_free() {
            self.context.driver.free(self.address);
        }
    }
}

/// The context of another device of this machine, whose memory copies go to and come from.
pub(super) struct PeerContext {
    own: Rc<Context>,
    device: DeviceNumber,
    handle: Handle,
}

impl PeerContext {
    /// Enters it, and lets both devices reach each other's memory where they can: else copies go through the host.
    pub(super) fn new(own: &Rc<Context>, device: DeviceNumber) -> Result<Rc<Self>> {
        let handle = own.call(|driver| driver.retain(device))?;
        let peer = Self {
            own: Rc::clone(own),
            device,
            handle,
        };
        if own.driver.reaches(own.device, device) {
            own.call(|driver| driver.enable_access(handle))?;
        }
        if own.driver.reaches(device, own.device) {
            peer.inside(|driver| driver.enable_access(own.handle))?;
        }
        Ok(Rc::new(peer))
    }

    /// A call in this context, after which the own one is the current one again.
    fn inside<T>(
        &self,
        call: impl FnOnce(&Driver) -> std::result::Result<T, Refused>,
    ) -> Result<T> {
        self.own.call(|driver| driver.enter(self.handle))?;
        let value = self.own.call(call);
        let back = self.own.call(|driver| driver.enter(self.own.handle));
        // The first error is the one that counts.
        let value = value?;
        back.map(|()| value)
    }
}

impl Drop for PeerContext {
    fn drop(&mut self) {
        if self.own.may_free() {
            self.own.driver.leave(self.device);
        }
    }
}

/// Memory of another device.
pub(super) struct PeerMemory {
    peer: Rc<PeerContext>,
    address: Address,
    bytes: u64,
}

impl PeerMemory {
    pub(super) fn new(peer: &Rc<PeerContext>, bytes: u64) -> Result<Self> {
        match peer.inside(|driver| Ok(driver.allocate(bytes)))? {
            Ok(address) => Ok(Self {
                peer: Rc::clone(peer),
                address,
                bytes,
            }),
            Err(refused) if refused.status == status::OUT_OF_MEMORY => {
                let free = peer.inside(Driver::memory_info).ok();
                Err(DeviceError::OutOfMemory {
                    asked: Bytes::from_count(bytes),
                    free: free.map(|(free, _)| Bytes::from_count(free)),
                    is_host: false,
                })
            }
            Err(refused) => Err(peer.own.refused(&refused)),
        }
    }

    /// The context of the device that it is reached from.
    pub(super) fn reached_from(&self) -> &Rc<Context> {
        &self.peer.own
    }

    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Where it is, for copies between contexts.
    pub(super) fn place(&self) -> (Handle, Address) {
        (self.peer.handle, self.address)
    }
}

impl Drop for PeerMemory {
    fn drop(&mut self) {
        if self.peer.own.may_free() {
            // An error means that the device is of no more use, and then nothing is freed.
            let _ = self.peer.inside(|driver| {
                driver.free(self.address);
                Ok(())
            });
        }
    }
}

/// Pinned memory of the host.
pub(super) struct OwnedPinned {
    pub(super) context: Rc<Context>,
    pub(super) memory: HostMemory,
}

impl OwnedPinned {
    pub(super) fn new(context: &Rc<Context>, bytes: u64) -> Result<Self> {
        context.alive()?;
        match context.driver.allocate_host(bytes) {
            Ok(memory) => Ok(Self {
                context: Rc::clone(context),
                memory,
            }),
            Err(refused) if refused.status == status::OUT_OF_MEMORY => {
                Err(DeviceError::OutOfMemory {
                    asked: Bytes::from_count(bytes),
                    free: None,
                    is_host: true,
                })
            }
            Err(refused) => Err(context.refused(&refused)),
        }
    }
}

impl Drop for OwnedPinned {
    fn drop(&mut self) {
        if self.context.may_free() {
            self.context.driver.free_host(&self.memory);
        }
    }
}

/// A module.
pub(super) struct OwnedModule {
    pub(super) context: Rc<Context>,
    pub(super) handle: Handle,
    /// Whether it was built for debugging, where its image tells.
    pub(super) is_debug: Option<bool>,
}

impl Drop for OwnedModule {
    fn drop(&mut self) {
        if self.context.may_free() {
            self.context.driver.unload_module(self.handle);
        }
    }
}

/// A function, which keeps its module.
pub(super) struct OwnedFunction {
    pub(super) module: Rc<OwnedModule>,
    pub(super) handle: Handle,
}

/// A stream.
pub(super) struct OwnedStream {
    pub(super) context: Rc<Context>,
    pub(super) handle: Handle,
}

impl OwnedStream {
    pub(super) fn new(context: &Rc<Context>) -> Result<Self> {
        let handle = context.call(Driver::create_stream)?;
        Ok(Self {
            context: Rc::clone(context),
            handle,
        })
    }
}

impl Drop for OwnedStream {
    fn drop(&mut self) {
        if self.context.may_destroy() {
            self.context.driver.destroy_stream(self.handle);
        }
    }
}

/// An event.
pub(super) struct OwnedEvent {
    pub(super) context: Rc<Context>,
    pub(super) handle: Handle,
    pub(super) is_recorded: Cell<bool>,
}

impl Drop for OwnedEvent {
    fn drop(&mut self) {
        if self.context.may_destroy() {
            self.context.driver.destroy_event(self.handle);
        }
    }
}

/// A launch with everything that it needs.
pub(super) struct OwnedLaunch {
    pub(super) function: Rc<OwnedFunction>,
    pub(super) name: String,
    pub(super) shape: Shape,
    pub(super) arguments: Arguments,
    /// Memory that its arguments point to.
    pub(super) _memory: Vec<Rc<OwnedMemory>>,
}

/// A graph that is ready to be launched.
pub(super) struct OwnedGraph {
    pub(super) context: Rc<Context>,
    pub(super) handle: Handle,
    /// What its launches need.
    pub(super) _launches: Vec<Rc<OwnedLaunch>>,
}

impl Drop for OwnedGraph {
    fn drop(&mut self) {
        if self.context.may_destroy() {
            self.context.driver.destroy_graph(self.handle);
        }
    }
}

/// Room for reading the stamps of a window.
#[derive(Default)]
pub(super) struct ProbeRoom {
    pub(super) start: Vec<u8>,
    pub(super) stop: Vec<u8>,
    /// Clock and time of each SM.
    pub(super) windows: Vec<(f64, f64)>,
}

/// Room for the stamps of a window.
pub(super) struct OwnedProbe {
    pub(super) start: OwnedPinned,
    pub(super) stop: OwnedPinned,
    /// The numbers of the last stamps.
    pub(super) numbers: Cell<(u64, u64)>,
    /// SMs have numbers below this.
    pub(super) slots: Cell<u32>,
    /// Kept, so that a reading allocates nothing.
    pub(super) room: RefCell<ProbeRoom>,
}
