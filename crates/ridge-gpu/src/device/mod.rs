//! The device as measurements see it: one trait for a GPU behind NVIDIA's driver and for a simulated one.

mod check;
mod handles;
mod launch;
mod peer;
mod product;
mod properties;
mod sensors;

pub(crate) use check::{check, element, end_of, inside, invalid};
pub(crate) use handles::Inner;
pub use handles::{
    Block, Buffer, ClockProbe, ClockReading, Event, Flush, FlushKind, Function, FunctionAttributes,
    Graph, Module, Pinned, Prepared, Stream, WindowEnd,
};
pub use launch::{Access, Argument, Compiled, Dim3, Effect, Launch, Operations, Program, Work};
pub use peer::{Peer, PeerBuffer, PeerLink};
pub use product::{PreparedProduct, Product};
pub use properties::{DeviceKind, MemoryInfo, Properties, SensorSource};
pub use sensors::{GpuProcess, Readings, ThrottleReason, ThrottleReasons};

use ridge_model::quantity::Nanos;

use crate::error::{DeviceError, Result};

/// A GPU, or the model of one.
///
/// A device belongs to one thread. Its methods take `&self`, and streams, buffers and the like are handles that free
/// what they stand for when they are dropped. Whoever measures reads no clock but [`Device::now`], so that the same code
/// runs in simulated time.
///
/// Calls on a stream return before the work is done, unless they say otherwise. What went wrong in the work is told by a
/// later call, usually [`Device::synchronize`]. After a fatal error ([`DeviceError::is_fatal`]) each call gives
/// [`DeviceError::Dead`] with the first error, and dropping handles does nothing: the process reports and ends.
pub trait Device {
    /// What the device is. Read once, when it was opened.
    fn properties(&self) -> &Properties;

    /// How much memory is free.
    ///
    /// # Errors
    /// When the device is dead.
    fn memory(&self) -> Result<MemoryInfo>;

    /// What the sensors say. Takes up to a few milliseconds, so it is called outside of timed regions. Never fails: what
    /// cannot be read is absent.
    fn sensors(&self) -> Readings;

    /// The error that ended the context, if one did.
    fn death(&self) -> Option<DeviceError>;

    /// The time on the host's clock since the device was opened; it never goes back.
    fn now(&self) -> Nanos;

    /// Lets time pass on the host.
    fn pause(&self, time: Nanos);

    /// Allocates memory of the device. Its contents are arbitrary.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`]; [`DeviceError::InvalidLaunch`] for no bytes.
    fn allocate(&self, bytes: u64) -> Result<Buffer>;

    /// Allocates memory of the host that the device copies from and to by itself. Its contents are arbitrary.
    ///
    /// # Errors
    /// As [`Device::allocate`].
    fn allocate_pinned(&self, bytes: u64) -> Result<Pinned>;

    /// Writes into pinned memory. No copy from or to the range may be in a stream.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`].
    fn write_pinned(&self, to: &Pinned, offset: u64, bytes: &[u8]) -> Result<()>;

    /// Reads from pinned memory. No copy to the range may be in a stream.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`].
    fn read_pinned(&self, from: &Pinned, offset: u64, into: &mut [u8]) -> Result<()>;

    /// Copies ordinary (pageable) memory of the host to the device, and returns when it is there. Not ordered with
    /// streams: synchronize those that use the buffer first.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`], or an error of earlier work.
    fn write(&self, to: &Buffer, offset: u64, bytes: &[u8]) -> Result<()>;

    /// Copies memory of the device to ordinary (pageable) memory of the host, and returns when it is there. Not ordered
    /// with streams: synchronize those that write the buffer first.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`], or an error of earlier work.
    fn read(&self, from: &Buffer, offset: u64, into: &mut [u8]) -> Result<()>;

    /// Sets all bytes of a buffer: to zero, or to what no kernel writes (poison).
    ///
    /// # Errors
    /// When the device is dead.
    fn fill(&self, stream: &Stream, buffer: &Buffer, byte: u8) -> Result<()>;

    /// Copies the first bytes of one buffer to another, on the device.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`].
    fn copy(&self, stream: &Stream, from: &Buffer, to: &Buffer, bytes: u64) -> Result<()>;

    /// Copies the first bytes of pinned memory to the device.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`].
    fn upload(&self, stream: &Stream, from: &Pinned, to: &Buffer, bytes: u64) -> Result<()>;

    /// Copies the first bytes of a buffer to pinned memory.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`].
    fn download(&self, stream: &Stream, from: &Buffer, to: &Pinned, bytes: u64) -> Result<()>;

    /// How many elements of `size` bytes (1, 2, 4 or 8) of a buffer have all bits of `mask`. The device counts after what is in
    /// the stream, nothing is copied to the host, and the call returns when it is done: whoever has no patience for what is
    /// in the stream synchronizes first.
    ///
    /// # Errors
    /// [`DeviceError::InvalidLaunch`] for another size, or an error of earlier work.
    fn count(&self, stream: &Stream, buffer: &Buffer, size: usize, mask: u64) -> Result<u64>;

    /// The elements of `size` bytes (1, 2, 4 or 8) of a buffer that have these numbers, one behind the other, in the way of
    /// [`Device::count`].
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`]; [`DeviceError::InvalidLaunch`] for another size; [`DeviceError::OutOfMemory`], or an error
    /// of earlier work.
    fn gather(
        &self,
        stream: &Stream,
        buffer: &Buffer,
        size: usize,
        indices: &[u64],
    ) -> Result<Vec<u8>>;

    /// Whether the first bytes of two buffers are the same, in the way of [`Device::count`].
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`], or an error of earlier work.
    fn is_equal(&self, stream: &Stream, one: &Buffer, other: &Buffer, bytes: u64) -> Result<bool>;

    /// A number that follows from the bytes of a buffer and their places: other contents have another one but for a chance of
    /// 2^-64. In the way of [`Device::count`]. Devices of different kinds count differently.
    ///
    /// # Errors
    /// An error of earlier work.
    fn digest(&self, stream: &Stream, buffer: &Buffer) -> Result<u64>;

    /// Combines the bytes of a buffer, by exclusive or, with numbers that follow from a key and their places: nobody without
    /// the key can read what is there, and the same call again brings it back. Queued in the stream.
    ///
    /// # Errors
    /// When the device is dead.
    fn mask(&self, stream: &Stream, buffer: &Buffer, key: u64) -> Result<()>;

    /// The other GPUs of the machine that the driver shows to this process, in the order of their numbers.
    ///
    /// # Errors
    /// When the device is dead.
    fn peers(&self) -> Result<Vec<Peer>>;

    /// Allocates memory of another GPU, by its number ([`Peer::ordinal`]). Its contents are arbitrary.
    ///
    /// # Errors
    /// As [`Device::allocate`]; [`DeviceError::NoGpu`] where there is no such other GPU.
    fn allocate_peer(&self, peer: u32, bytes: u64) -> Result<PeerBuffer>;

    /// Copies the first bytes of a buffer to memory of another GPU. The copy engines of this device do it.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`].
    fn copy_to_peer(
        &self,
        stream: &Stream,
        from: &Buffer,
        to: &PeerBuffer,
        bytes: u64,
    ) -> Result<()>;

    /// Copies the first bytes of memory of another GPU to a buffer. The copy engines of this device do it.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`].
    fn copy_from_peer(
        &self,
        stream: &Stream,
        from: &PeerBuffer,
        to: &Buffer,
        bytes: u64,
    ) -> Result<()>;

    /// Compiles source for this device.
    ///
    /// # Errors
    /// [`DeviceError::NoCompiler`], or [`DeviceError::Compile`] with the compiler's log.
    fn compile(&self, program: &Program) -> Result<Compiled>;

    /// Loads an image: a cubin, PTX (which the driver compiles) or a fatbin.
    ///
    /// # Errors
    /// [`DeviceError::InvalidImage`], with the log of the driver's compiler where there is one.
    fn load(&self, image: &[u8]) -> Result<Module>;

    /// A kernel by its name in the image. It is loaded onto the device here, not at its first launch.
    ///
    /// # Errors
    /// [`DeviceError::NoSuchFunction`].
    fn function(&self, module: &Module, name: &str) -> Result<Function>;

    /// A variable of the image (`__device__` or `__constant__`) as memory: its first `bytes`. It starts with what the image
    /// gives it, and keeps its module.
    ///
    /// # Errors
    /// [`DeviceError::NoSuchGlobal`]; [`DeviceError::OutOfRange`] for a variable that is smaller;
    /// [`DeviceError::InvalidLaunch`] for no bytes.
    fn global(&self, module: &Module, name: &str, bytes: u64) -> Result<Buffer>;

    /// Checks a launch against kernel and device, asks for its shared memory, and lays its arguments out.
    ///
    /// # Errors
    /// [`DeviceError::InvalidLaunch`] with the limit that is broken, [`DeviceError::DriverTooOld`] and
    /// [`DeviceError::Unsupported`] for clusters.
    fn prepare(&self, launch: &Launch<'_>) -> Result<Prepared>;

    /// Launches.
    ///
    /// # Errors
    /// [`DeviceError::LaunchOutOfResources`], or an error of earlier work.
    fn launch(&self, stream: &Stream, launch: &Prepared) -> Result<()>;

    /// Asks the vendor's library (cuBLASLt) for its algorithms for a matrix product, at most `most`, best first as the library
    /// sees it.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] where there is no library, or it has none for this product;
    /// [`DeviceError::OutOfRange`] where a buffer is too small.
    fn products(&self, product: &Product<'_>, most: usize) -> Result<Vec<PreparedProduct>>;

    /// Launches a product. The first launch of an algorithm loads its kernel, which waits for the device.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] with what the library says, or an error of earlier work.
    fn launch_product(&self, stream: &Stream, product: &PreparedProduct) -> Result<()>;

    /// Makes a stream that does not wait for others.
    ///
    /// # Errors
    /// When the device is dead.
    fn stream(&self) -> Result<Stream>;

    /// Makes an event with a time.
    ///
    /// # Errors
    /// When the device is dead.
    fn event(&self) -> Result<Event>;

    /// Records an event: it gets its time when the stream comes to it. An event can be recorded again.
    ///
    /// # Errors
    /// When the device is dead.
    fn record(&self, stream: &Stream, event: &Event) -> Result<()>;

    /// Lets a stream wait for an event of another one.
    ///
    /// # Errors
    /// When the device is dead.
    fn wait(&self, stream: &Stream, event: &Event) -> Result<()>;

    /// The time between two events, as the device's timer has it, in whole nanoseconds. Nothing is subtracted.
    ///
    /// # Errors
    /// [`DeviceError::NotReady`] when one of them was not recorded or not reached.
    fn elapsed(&self, from: &Event, to: &Event) -> Result<Nanos>;

    /// Whether everything in a stream is done.
    ///
    /// # Errors
    /// An error of the work.
    fn is_done(&self, stream: &Stream) -> Result<bool>;

    /// Waits until everything in a stream is done, without giving up the processor for the first milliseconds.
    ///
    /// # Errors
    /// An error of the work; [`DeviceError::Timeout`] when it takes longer, which ends the context;
    /// [`DeviceError::BlockExpired`] when the stream had to release itself.
    fn synchronize(&self, stream: &Stream, timeout: Nanos) -> Result<()>;

    /// Waits until everything is done that this process started on the device, whatever stream it is in, and tells how long
    /// that took. No stream may be blocked. There is no limit to the time: whoever waits for code that may not end watches the
    /// process.
    ///
    /// # Errors
    /// An error of the work.
    fn drain(&self) -> Result<Nanos>;

    /// Puts launches into a graph, in this order, and loads it onto the device.
    ///
    /// # Errors
    /// [`DeviceError::InvalidLaunch`] without launches.
    fn graph(&self, launches: &[&Prepared]) -> Result<Graph>;

    /// Launches a graph.
    ///
    /// # Errors
    /// An error of earlier work.
    fn launch_graph(&self, stream: &Stream, graph: &Graph) -> Result<()>;

    /// Holds a stream back: what follows in it starts when the block is released. It releases itself after `expires`,
    /// which [`Device::synchronize`] then tells.
    ///
    /// One stream can be blocked at a time. Between block and release nothing may wait for the device, and not many more
    /// than 30 launches fit into the queue. Whoever frees memory or a module meanwhile releases the stream, since the driver
    /// waits for the device then.
    ///
    /// # Errors
    /// [`DeviceError::InvalidLaunch`] when a stream is blocked already.
    fn block(&self, stream: &Stream, expires: Nanos) -> Result<Block>;

    /// Makes room for measuring the SM clock over a window.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    fn clock_probe(&self) -> Result<ClockProbe>;

    /// Puts an end of the window into a stream: one small kernel that stamps cycles and time on every SM.
    ///
    /// # Errors
    /// When the device is dead.
    fn stamp(&self, stream: &Stream, probe: &ClockProbe, end: WindowEnd) -> Result<()>;

    /// The SM clock between the two ends, when both are reached; `None` when no SM was seen at both, or the time
    /// between is zero.
    ///
    /// # Errors
    /// When the device is dead.
    fn clock(&self, probe: &ClockProbe) -> Result<Option<ClockReading>>;

    /// Replaces the contents of the L2. The memory for it is allocated at the first call and kept.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`]; [`DeviceError::Unsupported`] where the size of the L2 is not known.
    fn flush_l2(&self, stream: &Stream, flush: Flush) -> Result<()>;

    /// Makes all persisting lines of the L2 ordinary ones. A device without persisting lines does nothing.
    ///
    /// # Errors
    /// An error of earlier work.
    fn reset_persisting_l2(&self) -> Result<()>;
}
