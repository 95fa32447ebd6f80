//! What was launched: names, sizes, context. The part of a result beside its metrics.

use std::borrow::Cow;

use super::source::SourceKey;
use crate::error::{Error, Kind};
use crate::wire::Message;

/// What one profiled workload is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WorkloadKind {
    /// One kernel launch.
    Kernel,
    /// A range of API calls, profiled as one.
    Range,
    /// A command list, profiled as one.
    CommandList,
    /// A CUDA graph, profiled as one.
    Graph,
}

impl WorkloadKind {
    pub(super) fn field_name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel result",
            Self::Range => "range result",
            Self::CommandList => "command-list result",
            Self::Graph => "graph result",
        }
    }

    /// The field numbers of this kind's result message; zero where the kind does not have the field.
    pub(super) fn fields(self) -> &'static Numbers {
        match self {
            Self::Kernel => &Numbers {
                comment: 12,
                metrics: 13,
                created: 14,
                source: 15,
                api: 16,
                sections: 17,
                rules: 19,
                unsupported: 20,
                nvtx: 21,
                context: 22,
                stream: 23,
                clock: 25,
                context_name: 26,
                stream_name: 27,
                cpu_stack: 28,
                green_context: 30,
                python_stack: 32,
                driver: 35,
            },
            Self::Range => &Numbers {
                comment: 3,
                metrics: 4,
                created: 5,
                source: 15,
                api: 6,
                sections: 7,
                rules: 20,
                unsupported: 9,
                nvtx: 10,
                context: 11,
                stream: 0,
                clock: 12,
                context_name: 13,
                stream_name: 0,
                cpu_stack: 14,
                green_context: 16,
                python_stack: 17,
                driver: 21,
            },
            Self::CommandList => &Numbers {
                comment: 3,
                metrics: 4,
                created: 5,
                source: 17,
                api: 6,
                sections: 7,
                rules: 21,
                unsupported: 9,
                nvtx: 10,
                context: 11,
                stream: 12,
                clock: 13,
                context_name: 14,
                stream_name: 15,
                cpu_stack: 16,
                green_context: 0,
                python_stack: 22,
                driver: 25,
            },
            Self::Graph => &Numbers {
                comment: 3,
                metrics: 4,
                created: 5,
                source: 17,
                api: 6,
                sections: 7,
                rules: 22,
                unsupported: 9,
                nvtx: 10,
                context: 11,
                stream: 12,
                clock: 13,
                context_name: 14,
                stream_name: 15,
                cpu_stack: 16,
                green_context: 18,
                python_stack: 19,
                driver: 23,
            },
        }
    }
}

/// Field numbers of the parts that every kind of result has in its own place.
#[derive(Debug)]
pub(super) struct Numbers {
    pub(super) comment: u32,
    pub(super) metrics: u32,
    pub(super) created: u32,
    pub(super) source: u32,
    pub(super) api: u32,
    pub(super) sections: u32,
    pub(super) rules: u32,
    pub(super) unsupported: u32,
    pub(super) nvtx: u32,
    pub(super) context: u32,
    pub(super) stream: u32,
    pub(super) clock: u32,
    pub(super) context_name: u32,
    pub(super) stream_name: u32,
    pub(super) cpu_stack: u32,
    pub(super) green_context: u32,
    pub(super) python_stack: u32,
    pub(super) driver: u32,
}

/// A size in three dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dim3 {
    /// Extent in x.
    pub x: u32,
    /// Extent in y.
    pub y: u32,
    /// Extent in z.
    pub z: u32,
}

impl Dim3 {
    /// The product of the three extents.
    #[must_use]
    pub fn count(self) -> u64 {
        u64::from(self.x)
            .saturating_mul(u64::from(self.y))
            .saturating_mul(u64::from(self.z))
    }

    fn decode(message: Message<'_>) -> Result<Self, Error> {
        let mut size = Self { x: 0, y: 0, z: 0 };
        for field in message.fields() {
            let field = field?;
            let value = field
                .value
                .varint()
                .map_or(0, |value| u32::try_from(value).unwrap_or(u32::MAX));
            match field.number {
                1 => size.x = value,
                2 => size.y = value,
                3 => size.z = value,
                _ => {}
            }
        }
        Ok(size)
    }
}

/// Grid and block of one launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Launch {
    /// Blocks in the grid.
    pub grid: Dim3,
    /// Threads in a block.
    pub block: Dim3,
}

/// Whether the profiler was asked to hold the clocks, and did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockStatus {
    /// Holding was asked for.
    pub lock_requested: bool,
    /// Holding was done.
    pub lock_done: bool,
}

/// What the metrics of a result were collected over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One launch.
    Launch,
    /// A range; also a kernel node inside a graph.
    Range,
    /// A command list.
    CommandList,
    /// A scope that this version does not know.
    Other(u64),
}

/// The identity of one profiled workload.
#[derive(Clone, Debug)]
pub struct Header<'r> {
    /// What was profiled.
    pub kind: WorkloadKind,
    /// CPU thread that launched it; not the process id.
    pub thread_id: Option<u64>,
    /// Number of the API call.
    pub api_call_id: Option<u64>,
    /// Mangled name of the kernel.
    pub mangled_name: Option<Cow<'r, str>>,
    /// Function name of the kernel, without template arguments and parameters.
    pub function_name: Option<Cow<'r, str>>,
    /// Demangled name of the kernel; some reports leave it empty.
    pub demangled_name: Option<Cow<'r, str>>,
    /// Name given by the user or the profiler, for command lists and renamed kernels.
    pub display_name: Option<Cow<'r, str>>,
    /// Launches: one for a kernel, none for ranges and graphs, several for command lists.
    pub launches: Vec<Launch>,
    /// Comment of the user.
    pub comment: Option<Cow<'r, str>>,
    /// When it was profiled, in seconds since 1970.
    pub created_unix_s: Option<u64>,
    /// Keys of its sources; see [`crate::Report::source`].
    pub sources: Vec<SourceKey>,
    /// Number of the API; 0 is CUDA.
    pub api: Option<u64>,
    /// Whether the profiler said that it does not support the device.
    pub device_unsupported: bool,
    /// CUDA context.
    pub context_id: Option<u64>,
    /// CUDA stream.
    pub stream_id: Option<u64>,
    /// Name of the context, if the program gave one.
    pub context_name: Option<Cow<'r, str>>,
    /// Name of the stream, if the program gave one.
    pub stream_name: Option<Cow<'r, str>>,
    /// State of the clocks.
    pub clock: Option<ClockStatus>,
    /// What the metrics were collected over.
    pub scope: Scope,
    /// Whether a green context was in use.
    pub green_context: Option<bool>,
    /// Version of the driver, such as 580.159.
    pub driver_version: Option<f32>,
}

/// Sources kept of a range; real ones have as many as the program has modules.
const MAX_SOURCES: usize = 1 << 16;

impl<'r> Header<'r> {
    pub(super) fn decode(
        kind: WorkloadKind,
        process: u32,
        message: Message<'r>,
    ) -> (Self, Option<Error>) {
        let mut header = Self::new(kind);
        let error = header.fill(message, process).err();
        (header, error)
    }

    fn new(kind: WorkloadKind) -> Self {
        Self {
            kind,
            thread_id: None,
            api_call_id: None,
            mangled_name: None,
            function_name: None,
            demangled_name: None,
            display_name: None,
            launches: Vec::new(),
            comment: None,
            created_unix_s: None,
            sources: Vec::new(),
            api: None,
            device_unsupported: false,
            context_id: None,
            stream_id: None,
            context_name: None,
            stream_name: None,
            clock: None,
            scope: Scope::Launch,
            green_context: None,
            driver_version: None,
        }
    }

    fn fill(&mut self, message: Message<'r>, process: u32) -> Result<(), Error> {
        let numbers = self.kind.fields();
        let (mut grid, mut block) = (None, None);
        for field in message.fields() {
            let field = field?;
            let value = field.value;
            match field.number {
                number if number == numbers.metrics || number == numbers.sections => {}
                1 => self.thread_id = value.varint(),
                2 => self.api_call_id = value.varint(),
                number if number == numbers.comment => self.comment = some_text(value.text()),
                number if number == numbers.created => self.created_unix_s = value.varint(),
                number if number == numbers.source => self.add_source(field, process)?,
                number if number == numbers.api => self.api = value.varint(),
                number if number == numbers.unsupported => {
                    self.device_unsupported = value.flag() == Some(true)
                }
                number if number == numbers.context => self.context_id = value.varint(),
                number if number == numbers.stream => self.stream_id = value.varint(),
                number if number == numbers.context_name => {
                    self.context_name = some_text(value.text())
                }
                number if number == numbers.stream_name => {
                    self.stream_name = some_text(value.text())
                }
                number if number == numbers.green_context => self.green_context = value.flag(),
                number if number == numbers.driver => self.driver_version = value.float(),
                number if number == numbers.clock => {
                    self.clock = value.message().map(ClockStatus::decode).transpose()?;
                }
                number if self.kind == WorkloadKind::Kernel => match number {
                    5 => self.mangled_name = some_text(value.text()),
                    6 => self.function_name = some_text(value.text()),
                    7 => self.demangled_name = some_text(value.text()),
                    10 => grid = value.message().map(Dim3::decode).transpose()?,
                    11 => block = value.message().map(Dim3::decode).transpose()?,
                    29 => {
                        self.scope = match value.varint() {
                            None | Some(0 | 1) => Scope::Launch,
                            Some(2) => Scope::Range,
                            Some(3) => Scope::CommandList,
                            Some(other) => Scope::Other(other),
                        };
                    }
                    31 => self.display_name = some_text(value.text()),
                    _ => {}
                },
                18 if self.kind == WorkloadKind::CommandList => {
                    self.display_name = some_text(value.text())
                }
                20 if self.kind == WorkloadKind::CommandList => {
                    self.launches
                        .extend(value.message().map(Launch::decode).transpose()?.flatten());
                }
                _ => {}
            }
        }
        if let (Some(grid), Some(block)) = (grid, block) {
            self.launches.push(Launch { grid, block });
        }
        Ok(())
    }

    /// A kernel stores a source message that holds only its reference, the others plain numbers.
    fn add_source(&mut self, field: crate::wire::Field<'r>, process: u32) -> Result<(), Error> {
        let offset = field.value.message().map(|message| message.offset);
        let reference = match field.value.message() {
            None => field.value.varint(),
            Some(message) => {
                let mut reference = None;
                for field in message.fields() {
                    let field = field?;
                    if field.number == 1 {
                        reference = field.value.varint();
                    }
                }
                reference
            }
        };
        if self.sources.len() >= MAX_SOURCES {
            let kind = Kind::TooMany { limit: 65_536 };
            return Err(Error::new(kind, offset, "sources"));
        }
        self.sources
            .extend(reference.map(|reference| SourceKey { process, reference }));
        Ok(())
    }

    /// The best name for people: renamed, demangled, function or mangled name, in this order.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        [
            &self.display_name,
            &self.demangled_name,
            &self.function_name,
            &self.mangled_name,
        ]
        .into_iter()
        .find_map(|name| name.as_deref())
    }
}

/// An empty string in a report means that there is none.
pub(super) fn some_text(text: Option<Cow<'_, str>>) -> Option<Cow<'_, str>> {
    text.filter(|text| !text.is_empty())
}

impl ClockStatus {
    fn decode(message: Message<'_>) -> Result<Self, Error> {
        let mut status = Self {
            lock_requested: false,
            lock_done: false,
        };
        for field in message.fields() {
            let field = field?;
            match field.number {
                1 => status.lock_requested = field.value.flag() == Some(true),
                2 => status.lock_done = field.value.flag() == Some(true),
                _ => {}
            }
        }
        Ok(status)
    }
}

impl Launch {
    fn decode(message: Message<'_>) -> Result<Option<Self>, Error> {
        let (mut grid, mut block) = (None, None);
        for field in message.fields() {
            let field = field?;
            match field.number {
                1 => grid = field.value.message().map(Dim3::decode).transpose()?,
                2 => block = field.value.message().map(Dim3::decode).transpose()?,
                _ => {}
            }
        }
        Ok(grid.zip(block).map(|(grid, block)| Self { grid, block }))
    }
}
