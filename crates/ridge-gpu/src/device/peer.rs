//! Other GPUs of the machine, and memory of theirs.

use crate::device::Inner;

/// Another GPU of the same machine. What is not known is absent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its number among those that the driver shows to this process.
    pub ordinal: u32,
    /// The name that the driver reports.
    pub name: String,
    /// The identifier, as [`crate::Properties::uuid`].
    pub uuid: Option<String>,
    /// Whether the device reaches its memory without the host. Copies go through the host where it does not.
    pub has_access: bool,
    /// What lies between.
    pub link: Option<PeerLink>,
}

/// What lies between two GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerLink {
    /// NVLink, directly or through switches.
    NvLink {
        /// How many links of the device are up, to this GPU and to others.
        links: Option<u32>,
    },
    /// PCIe, with or without the host between.
    Pcie,
}

/// Memory of another GPU.
#[derive(Debug)]
pub struct PeerBuffer {
    pub(crate) inner: Inner,
    pub(crate) bytes: u64,
}

impl PeerBuffer {
    /// Its size in bytes.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }
}
