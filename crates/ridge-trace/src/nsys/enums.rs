//! Numbers that stand for words. A database names them in tables of its own; without these, they are those of CUPTI.

use std::collections::HashMap;

use crate::timeline::{CopyKind, Memory, SyncKind};

/// What the numbers of a table stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Copy,
    Memory,
    Sync,
}

/// The tables that name them.
pub(super) const TABLES: &[(&str, Kind)] = &[
    ("ENUM_CUDA_MEMCPY_OPER", Kind::Copy),
    ("ENUM_CUDA_MEM_KIND", Kind::Memory),
    ("ENUM_CUPTI_SYNC_TYPE", Kind::Sync),
];

/// The names that a database gives.
#[derive(Debug, Default)]
pub(super) struct Enums {
    names: HashMap<(Kind, i64), String>,
}

impl Enums {
    pub(super) fn learn(&mut self, kind: Kind, id: i64, name: &str) {
        self.names.insert((kind, id), name.to_owned());
    }

    /// The last word of a name that the database gives: `CUDA_MEMCPY_KIND_HTOD` is `HTOD`.
    fn ending(&self, kind: Kind, id: i64, prefix: &str) -> Option<&str> {
        self.names.get(&(kind, id))?.strip_prefix(prefix)
    }

    pub(super) fn copy(&self, id: Option<i64>) -> CopyKind {
        let Some(id) = id else {
            return CopyKind::Other;
        };
        match (self.ending(Kind::Copy, id, "CUDA_MEMCPY_KIND_"), id) {
            (Some("HTOD"), _) | (None, 1) => CopyKind::HostToDevice,
            (Some("DTOH"), _) | (None, 2) => CopyKind::DeviceToHost,
            (Some("DTOD"), _) | (None, 8) => CopyKind::DeviceToDevice,
            (Some("HTOH"), _) | (None, 9) => CopyKind::HostToHost,
            (Some("PTOP"), _) | (None, 10) => CopyKind::PeerToPeer,
            (Some("UVM_HTOD"), _) | (None, 11) => CopyKind::UnifiedToDevice,
            (Some("UVM_DTOH"), _) | (None, 12) => CopyKind::UnifiedToHost,
            _ => CopyKind::Other,
        }
    }

    pub(super) fn memory(&self, id: i64) -> Memory {
        match (
            self.ending(Kind::Memory, id, "CUDA_MEMOPR_MEMORY_KIND_"),
            id,
        ) {
            (Some("PAGEABLE"), _) | (None, 0) => Memory::Pageable,
            (Some("PINNED"), _) | (None, 1) => Memory::Pinned,
            (Some("DEVICE" | "DEVICE_STATIC"), _) | (None, 2 | 5) => Memory::Device,
            (Some("ARRAY"), _) | (None, 3) => Memory::Array,
            (Some("MANAGED" | "MANAGED_STATIC"), _) | (None, 4 | 6) => Memory::Managed,
            _ => Memory::Unknown,
        }
    }

    pub(super) fn sync(&self, id: Option<i64>) -> SyncKind {
        let Some(id) = id else {
            return SyncKind::Other;
        };
        match (
            self.ending(Kind::Sync, id, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_"),
            id,
        ) {
            (Some("EVENT_SYNCHRONIZE"), _) | (None, 1) => SyncKind::Event,
            (Some("STREAM_WAIT_EVENT"), _) | (None, 2) => SyncKind::StreamWait,
            (Some("STREAM_SYNCHRONIZE"), _) | (None, 3) => SyncKind::Stream,
            (Some("CONTEXT_SYNCHRONIZE"), _) | (None, 4) => SyncKind::Context,
            _ => SyncKind::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_database_go_before_numbers() {
        let mut enums = Enums::default();
        assert_eq!(enums.copy(Some(1)), CopyKind::HostToDevice);
        assert_eq!(enums.memory(0), Memory::Pageable);
        assert_eq!(enums.memory(99), Memory::Unknown);
        assert_eq!(enums.sync(Some(4)), SyncKind::Context);
        enums.learn(Kind::Copy, 1, "CUDA_MEMCPY_KIND_DTOH");
        enums.learn(Kind::Memory, 0, "CUDA_MEMOPR_MEMORY_KIND_PINNED");
        enums.learn(Kind::Sync, 4, "SOMETHING_ELSE");
        assert_eq!(enums.copy(Some(1)), CopyKind::DeviceToHost);
        assert_eq!(enums.memory(0), Memory::Pinned);
        // A name of another form is no name that is known: the number counts.
        assert_eq!(enums.sync(Some(4)), SyncKind::Context);
    }
}
