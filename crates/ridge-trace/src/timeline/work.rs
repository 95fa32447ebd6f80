//! What ran on a GPU.

use std::num::{NonZeroU32, NonZeroU64};

use super::{CallId, NameId, StreamId};

/// Joins work with the call that asked for it. Unique within a process only; one call can ask for many pieces of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Correlation(NonZeroU64);

impl Correlation {
    /// None for 0, which CUPTI gives to what no call asked for.
    #[must_use]
    pub fn new(number: u64) -> Option<Self> {
        NonZeroU64::new(number).map(Self)
    }

    /// Its number.
    #[must_use]
    pub fn get(self) -> u64 {
        self.0.get()
    }
}

super::id! {
    /// A place in [`Timeline::launches`](super::Timeline::launches).
    LaunchId
}

/// How a kernel was launched. What the trace does not tell is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Launch {
    /// Blocks: x, y, z.
    pub grid: Option<[u32; 3]>,
    /// Threads of a block: x, y, z.
    pub block: Option<[u32; 3]>,
    /// Blocks of a cluster: x, y, z.
    pub cluster: Option<[u32; 3]>,
    /// Registers of a thread.
    pub registers: Option<u32>,
    /// Static shared memory of a block in bytes.
    pub static_shared_bytes: Option<u64>,
    /// Dynamic shared memory of a block in bytes.
    pub dynamic_shared_bytes: Option<u64>,
    /// Static and dynamic shared memory together; known also where the parts are not.
    pub shared_bytes: Option<u64>,
}

/// The node of a graph that a piece of work is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Graph {
    /// The graph.
    pub graph: Option<NonZeroU32>,
    /// The node of it; absent where the trace has the graph as a whole.
    pub node: Option<NonZeroU64>,
}

/// From where to where a copy goes.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum CopyKind {
    /// Host to device.
    HostToDevice,
    /// Device to host.
    DeviceToHost,
    /// Within a device.
    DeviceToDevice,
    /// From one device to another.
    PeerToPeer,
    /// Host to host.
    HostToHost,
    /// Pages of managed memory, to the device.
    UnifiedToDevice,
    /// Pages of managed memory, to the host.
    UnifiedToHost,
    /// Something else.
    Other,
}

impl CopyKind {
    /// The usual short name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::HostToDevice => "HtoD",
            Self::DeviceToHost => "DtoH",
            Self::DeviceToDevice => "DtoD",
            Self::PeerToPeer => "PtoP",
            Self::HostToHost => "HtoH",
            Self::UnifiedToDevice => "UM HtoD",
            Self::UnifiedToHost => "UM DtoH",
            Self::Other => "other",
        }
    }
}

/// What kind of memory a copy reads or writes.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Memory {
    /// Host memory that the system may move: the driver copies it through a buffer of its own.
    Pageable,
    /// Host memory that is locked in place.
    Pinned,
    /// Device memory.
    Device,
    /// An array of textures.
    Array,
    /// Managed memory.
    Managed,
    /// The trace does not tell, or something else.
    Unknown,
}

/// A copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    /// From where to where.
    pub kind: CopyKind,
    /// What it reads.
    pub from: Memory,
    /// What it writes.
    pub to: Memory,
    /// Its size in bytes.
    pub bytes: Option<u64>,
}

impl Copied {
    /// Whether its side on the host is pageable.
    #[must_use]
    pub fn is_pageable(&self) -> bool {
        self.from == Memory::Pageable || self.to == Memory::Pageable
    }

    /// Whether its side on the host is pinned.
    #[must_use]
    pub fn is_pinned(&self) -> bool {
        self.from == Memory::Pinned || self.to == Memory::Pinned
    }
}

/// What a piece of work is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkKind {
    /// A kernel.
    Kernel {
        /// How it was launched.
        launch: LaunchId,
    },
    /// A copy.
    Copy(Copied),
    /// Setting memory to a value.
    Memset {
        /// Its size in bytes.
        bytes: Option<u64>,
    },
    /// A graph as a whole, whose kernels the trace does not tell apart.
    Graph,
}

/// A piece of work of a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// When it began.
    pub start_ns: i64,
    /// When it was over.
    pub end_ns: i64,
    /// What it is.
    pub kind: WorkKind,
    /// Joins it with its call.
    pub correlation: Option<Correlation>,
    /// The node of a graph that it is, where it is one.
    pub node: Option<NonZeroU64>,
    /// The graph of the node.
    pub graph: Option<NonZeroU32>,
    /// Its name: of a kernel its signature.
    pub name: NameId,
    /// Where it ran.
    pub stream: StreamId,
    /// The call that asked for it, where the trace has it.
    pub call: Option<CallId>,
}

impl Work {
    /// How long it took.
    #[must_use]
    pub fn duration_ns(&self) -> i64 {
        self.end_ns.saturating_sub(self.start_ns)
    }

    /// Whether it computes: a kernel, or a graph as a whole.
    #[must_use]
    pub fn is_kernel(&self) -> bool {
        matches!(self.kind, WorkKind::Kernel { .. } | WorkKind::Graph)
    }

    /// The copy that it is.
    #[must_use]
    pub fn copied(&self) -> Option<&Copied> {
        match &self.kind {
            WorkKind::Copy(copied) => Some(copied),
            _ => None,
        }
    }

    /// Whether it sets memory.
    #[must_use]
    pub fn is_memset(&self) -> bool {
        matches!(self.kind, WorkKind::Memset { .. })
    }
}
