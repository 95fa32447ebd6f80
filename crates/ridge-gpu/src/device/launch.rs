//! What is compiled and what is launched.

use std::path::PathBuf;
use std::rc::Rc;

use ridge_model::NumberFormat;
use ridge_model::device::PeakUnit;

use super::handles::{Buffer, Function};

/// CUDA source to compile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// CUDA C++.
    pub text: String,
    /// What the compiler calls it in its messages.
    pub name: String,
    /// Options of NVRTC, such as `--use_fast_math`. Without one that names an architecture, the device's own is added.
    pub options: Vec<String>,
    /// Folders in which headers are looked for.
    pub include_paths: Vec<PathBuf>,
    /// Headers by the name under which the source includes them.
    pub headers: Vec<(String, String)>,
    /// Kernels whose mangled names are wanted: `scale<float, 4>`, or a name without `extern "C"`.
    pub name_expressions: Vec<String>,
}

/// What the compiler made of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiled {
    /// The image: a cubin, or PTX where an option names a virtual architecture.
    pub image: Vec<u8>,
    /// What the compiler printed, such as warnings.
    pub log: String,
    /// The mangled name for each of [`Program::name_expressions`].
    pub lowered_names: Vec<String>,
}

/// Sizes in three directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dim3 {
    /// In the direction in which neighbouring threads differ.
    pub x: u32,
    /// In the second direction.
    pub y: u32,
    /// In the third direction.
    pub z: u32,
}

impl Dim3 {
    /// Sizes in all directions.
    #[must_use]
    pub const fn new(x: u32, y: u32, z: u32) -> Self {
        Self { x, y, z }
    }

    /// A size in one direction.
    #[must_use]
    pub const fn linear(x: u32) -> Self {
        Self::new(x, 1, 1)
    }

    /// The product of the sizes.
    #[must_use]
    pub const fn count(self) -> u64 {
        // Three 32-bit factors may leave 64 bits; no launch that exists does.
        (self.x as u64)
            .saturating_mul(self.y as u64)
            .saturating_mul(self.z as u64)
    }
}

impl std::fmt::Display for Dim3 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}x{}x{}", self.x, self.y, self.z)
    }
}

/// An argument of a kernel.
#[derive(Clone, Copy, Debug)]
pub enum Argument<'a> {
    /// The address of a buffer, `offset` bytes behind its start.
    Buffer {
        /// The buffer.
        buffer: &'a Buffer,
        /// Bytes behind its start.
        offset: u64,
    },
    /// A value of 8 bits.
    U8(u8),
    /// A value of 16 bits; halves are given by their bits.
    U16(u16),
    /// A value of 32 bits.
    U32(u32),
    /// A value of 64 bits.
    U64(u64),
    /// A signed value of 32 bits.
    I32(i32),
    /// A signed value of 64 bits.
    I64(i64),
    /// A value of single precision.
    F32(f32),
    /// A value of double precision.
    F64(f64),
    /// A structure that is passed by value: its bytes, as the device lays them out.
    Bytes(&'a [u8]),
}

impl<'a> Argument<'a> {
    /// The address of a buffer.
    #[must_use]
    pub const fn buffer(buffer: &'a Buffer) -> Self {
        Self::Buffer { buffer, offset: 0 }
    }

    /// The bytes of a value; `None` for a buffer, whose address only the device knows.
    #[must_use]
    pub fn value(&self) -> Option<Vec<u8>> {
        Some(match *self {
            Self::Buffer { .. } => return None,
            Self::U8(value) => vec![value],
            Self::U16(value) => value.to_ne_bytes().to_vec(),
            Self::U32(value) => value.to_ne_bytes().to_vec(),
            Self::U64(value) => value.to_ne_bytes().to_vec(),
            Self::I32(value) => value.to_ne_bytes().to_vec(),
            Self::I64(value) => value.to_ne_bytes().to_vec(),
            Self::F32(value) => value.to_ne_bytes().to_vec(),
            Self::F64(value) => value.to_ne_bytes().to_vec(),
            Self::Bytes(bytes) => bytes.to_vec(),
        })
    }
}

/// A launch, to be prepared once and launched many times.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// The kernel.
    pub function: &'a Function,
    /// Blocks.
    pub grid: Dim3,
    /// Threads of a block.
    pub block: Dim3,
    /// Blocks of a cluster.
    pub cluster: Option<Dim3>,
    /// Dynamic shared memory of a block, in bytes; more than 48 KiB is asked for where the device has it.
    pub dynamic_shared_bytes: u32,
    /// The arguments.
    pub arguments: &'a [Argument<'a>],
    /// What the launch does, for a device that cannot find out by itself. A real one ignores it.
    pub work: Work<'a>,
}

/// What a launch does: the declared truth of a simulated device.
#[derive(Clone, Copy, Debug, Default)]
pub struct Work<'a> {
    /// The memory that it touches, in the order in which it does.
    pub accesses: &'a [Access<'a>],
    /// The operations that it executes.
    pub operations: &'a [Operations],
    /// Names the problem: outputs of two launches agree when problem and inputs do, whatever the kernels are called.
    pub problem: u64,
}

/// Memory that a launch touches.
#[derive(Clone, Debug)]
pub struct Access<'a> {
    /// The buffer.
    pub buffer: &'a Buffer,
    /// Where it starts, in bytes.
    pub offset: u64,
    /// The bytes, each counted once.
    pub bytes: u64,
    /// How often all of them are moved between SMs and L2; below 1 where a part is skipped.
    pub times: f64,
    /// Whether it is read, written, or both.
    pub effect: Effect,
}

/// Whether memory is read or written, and what it holds then.
#[derive(Clone, Debug)]
pub enum Effect {
    /// It is read.
    Read,
    /// It is written with values that follow from the problem and from the contents of all memory that is read.
    Write(NumberFormat),
    /// It is written with these bytes, repeated or cut to the range: what somebody else computed.
    WriteBytes(Rc<[u8]>),
    /// It is read and written in place.
    Update(NumberFormat),
}

impl Effect {
    /// Whether the old contents matter.
    #[must_use]
    pub const fn reads(&self) -> bool {
        matches!(self, Self::Read | Self::Update(_))
    }

    /// Whether there are new contents.
    #[must_use]
    pub const fn writes(&self) -> bool {
        !matches!(self, Self::Read)
    }
}

/// Operations that a launch executes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Operations {
    /// What goes in.
    pub format: NumberFormat,
    /// The unit that executes them.
    pub unit: PeakUnit,
    /// How many; a multiply-add is two.
    pub count: f64,
}
