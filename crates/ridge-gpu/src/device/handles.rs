//! Handles of what lives on a device. Dropping one frees what it stands for.
//!
//! None can be cloned, and none outlives its device: each keeps alive what it needs. A handle of one device that is
//! given to another is refused with [`DeviceError::Foreign`].

use std::any::Any;
use std::fmt;
use std::rc::Rc;

use ridge_model::quantity::{Hertz, Nanos};

use crate::error::{DeviceError, Result};

/// What a device keeps behind a handle. Others hold it too where they need it, such as a prepared launch its buffers.
#[derive(Clone)]
pub(crate) struct Inner(Rc<dyn Any>);

impl Inner {
    pub(crate) fn new<T: Any>(value: Rc<T>) -> Self {
        Self(value)
    }

    /// What is behind it, where it is of the expected type.
    pub(crate) fn get<T: Any>(&self, what: &'static str) -> Result<Rc<T>> {
        Rc::downcast(Rc::clone(&self.0)).map_err(|_| DeviceError::Foreign { what })
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}

/// Memory of the device.
#[derive(Debug)]
pub struct Buffer {
    pub(crate) inner: Inner,
    pub(crate) bytes: u64,
}

impl Buffer {
    /// Its size in bytes.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// Memory of the host that does not move, so that the device copies from and to it by itself.
#[derive(Debug)]
pub struct Pinned {
    pub(crate) inner: Inner,
    pub(crate) bytes: u64,
}

impl Pinned {
    /// Its size in bytes.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// A loaded image.
#[derive(Debug)]
pub struct Module {
    pub(crate) inner: Inner,
}

/// A kernel of a module.
#[derive(Debug)]
pub struct Function {
    pub(crate) inner: Inner,
    pub(crate) name: String,
    pub(crate) attributes: FunctionAttributes,
}

impl Function {
    /// Its name in the image.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it needs.
    #[must_use]
    pub const fn attributes(&self) -> &FunctionAttributes {
        &self.attributes
    }
}

/// What a kernel needs. What is not known is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionAttributes {
    /// Registers of a thread.
    pub registers: Option<u32>,
    /// Static shared memory of a block, in bytes.
    pub static_shared_bytes: Option<u32>,
    /// Local memory of a thread, in bytes: spills, and arrays that are not in registers.
    pub local_bytes: Option<u32>,
    /// Constant memory, in bytes.
    pub constant_bytes: Option<u32>,
    /// Threads of a block at most.
    pub max_threads: Option<u32>,
    /// The architecture of the machine code, such as 90.
    pub binary_version: Option<u32>,
    /// The architecture of the PTX that it was compiled from, such as 90.
    pub ptx_version: Option<u32>,
    /// The bytes of each parameter, from a driver that tells them (12.4).
    pub parameter_bytes: Option<Vec<u64>>,
    /// Whether it was built for debugging (`-G`), where the image tells: such code is many times slower.
    pub is_debug: Option<bool>,
}

/// A queue of work: what is in one runs in order.
#[derive(Debug)]
pub struct Stream {
    pub(crate) inner: Inner,
}

/// A point in a stream, with the time at which the stream reached it.
#[derive(Debug)]
pub struct Event {
    pub(crate) inner: Inner,
}

/// A launch whose arguments are checked and laid out: launching it allocates nothing.
#[derive(Debug)]
pub struct Prepared {
    pub(crate) inner: Inner,
}

/// Launches that are started with one call.
#[derive(Debug)]
pub struct Graph {
    pub(crate) inner: Inner,
    pub(crate) launches: usize,
}

impl Graph {
    /// How many launches it holds.
    #[must_use]
    pub const fn launches(&self) -> usize {
        self.launches
    }
}

/// A blocked stream. It is released by [`Block::release`], and on every other way out when this is dropped.
#[must_use = "dropping it releases the stream"]
pub struct Block {
    pub(crate) release: Option<Box<dyn FnOnce()>>,
}

impl Block {
    /// Lets the stream run.
    pub fn release(mut self) {
        self.let_go();
    }

    fn let_go(&mut self) {
        if let Some(release) = self.release.take() {
            release();
        }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        self.let_go();
    }
}

impl fmt::Debug for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Block")
    }
}

/// Room for the stamps of one window over which the SM clock is measured.
#[derive(Debug)]
pub struct ClockProbe {
    pub(crate) inner: Inner,
}

/// An end of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowEnd {
    /// Before the work.
    Start,
    /// Behind the work.
    Stop,
}

/// The SM clock over a window: cycles of each SM by the time of the device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockReading {
    /// The median over the SMs that were seen at both ends.
    pub clock: Hertz,
    /// The time between the stamps. The clock is not known better than two steps of the device's timer in this time.
    pub window: Nanos,
    /// How many SMs were seen at both ends.
    pub multiprocessors: u32,
}

/// How the L2 is flushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flush {
    /// With what.
    pub kind: FlushKind,
    /// How many times the size of the L2 is touched.
    pub times_l2: u32,
}

impl Flush {
    /// Reads twice the size of the L2.
    pub const READ: Self = Self {
        kind: FlushKind::Read,
        times_l2: 2,
    };
    /// Writes twice the size of the L2.
    pub const WRITE: Self = Self {
        kind: FlushKind::Write,
        times_l2: 2,
    };
}

/// With what the L2 is flushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlushKind {
    /// With loads: what is left in the L2 is clean.
    Read,
    /// With stores: what is left is dirty, and the next kernel pays for writing it back.
    Write,
}

impl FlushKind {
    /// The stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}
