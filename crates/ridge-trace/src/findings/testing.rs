//! Programs made for tests: times in microseconds.

use super::Finding;
use crate::timeline::{
    Api, Builder, Copied, CopyKind, Correlation, Launch, Memory, NewCall, NewWork, SourceKind,
};
use crate::{HostLink, analyse};

/// A program with one thread, one device and one stream.
pub(super) struct Program {
    records: Vec<Record>,
    pub(super) grid: [u32; 3],
}

enum Record {
    Kernel {
        name: String,
        grid: [u32; 3],
        call: Option<(i64, i64)>,
        at: (i64, i64),
    },
    Copy {
        copied: Copied,
        at: (i64, i64),
    },
    Call {
        name: String,
        at: (i64, i64),
    },
}

impl Program {
    pub(super) fn new() -> Self {
        Self {
            records: Vec::new(),
            grid: [256, 1, 1],
        }
    }

    /// A kernel with its launch call.
    pub(super) fn kernel(&mut self, name: &str, call: (i64, i64), at: (i64, i64)) {
        self.records.push(Record::Kernel {
            name: name.to_owned(),
            grid: self.grid,
            call: Some(call),
            at,
        });
    }

    /// A kernel whose call is not in the trace.
    pub(super) fn kernel_at(&mut self, name: &str, at: (i64, i64)) {
        self.records.push(Record::Kernel {
            name: name.to_owned(),
            grid: self.grid,
            call: None,
            at,
        });
    }

    /// A copy whose call is not in the trace; `host` is the memory on its side of the host.
    pub(super) fn copy(&mut self, kind: CopyKind, host: Memory, bytes: u64, at: (i64, i64)) {
        let (from, to) = match kind {
            CopyKind::HostToDevice => (host, Memory::Device),
            CopyKind::DeviceToHost => (Memory::Device, host),
            _ => (Memory::Device, Memory::Device),
        };
        let copied = Copied {
            kind,
            from,
            to,
            bytes: Some(bytes),
        };
        self.records.push(Record::Copy { copied, at });
    }

    /// A call that asks for nothing.
    pub(super) fn call(&mut self, name: &str, at: (i64, i64)) {
        self.records.push(Record::Call {
            name: name.to_owned(),
            at,
        });
    }

    pub(super) fn finding(&self, id: &str) -> Option<Finding> {
        self.finding_with(id, &[])
    }

    pub(super) fn finding_with(&self, id: &str, links: &[HostLink]) -> Option<Finding> {
        let mut builder = Builder::new(SourceKind::Recording);
        let process = builder.process(1);
        let thread = builder.thread(process, 1);
        let stream = builder.stream(Some(process), 0, Some(1), 7);
        let ns = |(start, end): (i64, i64)| (start * 1000, end * 1000);
        for (place, record) in self.records.iter().enumerate() {
            let correlation = Correlation::new(1 + place as u64);
            let work = |start_ns, end_ns| NewWork {
                start_ns,
                end_ns,
                stream,
                correlation,
                graph: None,
            };
            let (name, call) = match record {
                Record::Kernel {
                    name,
                    grid,
                    call,
                    at,
                } => {
                    let (start_ns, end_ns) = ns(*at);
                    let name = builder.name(name);
                    let launch = builder.launch(Launch {
                        grid: Some(*grid),
                        block: Some([128, 1, 1]),
                        ..Launch::default()
                    });
                    builder.push_kernel(work(start_ns, end_ns), name, launch);
                    ("cudaLaunchKernel", *call)
                }
                Record::Copy { copied, at } => {
                    let (start_ns, end_ns) = ns(*at);
                    builder.push_copy(work(start_ns, end_ns), *copied);
                    ("cudaMemcpyAsync", None)
                }
                Record::Call { name, at } => (name.as_str(), Some(*at)),
            };
            if let Some(at) = call {
                let (start_ns, end_ns) = ns(at);
                let name = builder.function(name);
                builder.push_call(NewCall {
                    start_ns,
                    end_ns,
                    name,
                    api: Api::Runtime,
                    thread,
                    correlation,
                });
            }
        }
        let trace = analyse(&builder.finish(), "made", links);
        trace.findings.into_iter().find(|finding| finding.id == id)
    }
}
