//! The canonical evidence of a trace: what ran on the GPUs, what the host asked for, and what is not known.
//!
//! Records are small, names and launch configurations are stored once, so that a million of them fit in a hundred
//! megabytes. All times are nanoseconds since [`Timeline::origin_ns`].

mod builder;
mod call;
mod completeness;
mod names;
mod work;

pub use builder::{Builder, NewCall, NewWork};
pub use call::{Api, Call, CallClass};
pub use completeness::{Completeness, Skipped};
pub use names::{NameId, Names};
pub use ridge_injection::rank::Rank;
pub use work::{Copied, CopyKind, Correlation, Graph, Launch, LaunchId, Memory, Work, WorkKind};

/// What wrote a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SourceKind {
    /// JSON of the PyTorch profiler (Kineto), or another tool that writes Chrome's trace events.
    ChromeJson,
    /// A database that `nsys export --type sqlite` wrote.
    NsysSqlite,
    /// A recording of `ridge trace`.
    Recording,
}

/// What a program did with its GPUs over time.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// What wrote it.
    pub source: SourceKind,
    /// Version of the tool that wrote it.
    pub tool_version: Option<String>,
    /// What all times count from: nanoseconds of the trace's own clock.
    pub origin_ns: i64,
    /// The origin as nanoseconds since 1970, where the trace tells.
    pub origin_unix_ns: Option<i128>,
    /// Its place among the processes of a distributed run, where it is that of one process.
    pub rank: Option<Rank>,
    /// Texts of all names.
    pub names: Names,
    /// GPUs on which something ran, and those that the trace describes.
    pub devices: Vec<Device>,
    /// Streams on which something ran.
    pub streams: Vec<Stream>,
    /// Processes with at least one record.
    pub processes: Vec<Process>,
    /// Threads with at least one record.
    pub threads: Vec<Thread>,
    /// Launch configurations, each stored once.
    pub launches: Vec<Launch>,
    /// What ran on GPUs, in order of its start.
    pub work: Vec<Work>,
    /// Calls of the runtime and the driver, in order of their start.
    pub calls: Vec<Call>,
    /// Waits, in order of their start. Not every trace has them beside the calls.
    pub synchronisations: Vec<Synchronisation>,
    /// What the profiler itself cost, in order of its start.
    pub overheads: Vec<Overhead>,
    /// Ranges that the program or its framework named, in order of their start.
    pub annotations: Vec<Annotation>,
    /// What the trace does not hold.
    pub completeness: Completeness,
    /// The part that is left of it, where it was cut.
    pub window: Option<Window>,
}

/// A part of a trace. All times of its timeline count from its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// How long it is.
    pub length_ns: i64,
    /// When it begins, from the first record of the whole trace.
    pub start_ns: i64,
    /// The range that it is.
    pub name: Option<String>,
    /// Which of the ranges of that name it is, from 1.
    pub place: u64,
    /// How many ranges have the name.
    pub of: u64,
    /// When the work of each device before it ended: at most 0.
    pub earlier_ns: Vec<Option<i64>>,
    /// Work that reaches over its borders, of which the part inside is left.
    pub cut_work: u64,
    /// Work that was asked for in it and ran only after it.
    pub later_work: u64,
}

impl Timeline {
    /// The text of a name.
    #[must_use]
    pub fn name(&self, id: NameId) -> &str {
        self.names.get(id)
    }

    /// The call that asked for a piece of work, where the trace has it.
    #[must_use]
    pub fn call_of(&self, work: &Work) -> Option<&Call> {
        self.calls.get(work.call?.place())
    }

    /// The stream that a piece of work ran on.
    #[must_use]
    pub fn stream(&self, id: StreamId) -> &Stream {
        &self.streams[id.place()]
    }

    /// How a kernel was launched.
    #[must_use]
    pub fn launch(&self, id: LaunchId) -> &Launch {
        &self.launches[id.place()]
    }

    /// The device that a piece of work ran on: a place in `devices`.
    #[must_use]
    pub fn device_of(&self, work: &Work) -> usize {
        self.stream(work.stream).device
    }

    /// First start and last end of what ran on GPUs.
    #[must_use]
    pub fn span_ns(&self) -> Option<(i64, i64)> {
        let first = self.work.first()?.start_ns;
        let last = self.work.iter().map(|work| work.end_ns).max()?;
        Some((first, last))
    }
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(std::num::NonZeroU32);

        impl $name {
            /// The id of a place in its list; the last one stands for all that do not fit.
            pub(crate) fn of_place(place: usize) -> Self {
                let number = u32::try_from(place).unwrap_or(u32::MAX).saturating_add(1);
                Self(std::num::NonZeroU32::new(number).unwrap_or(std::num::NonZeroU32::MAX))
            }

            /// The place in its list, from 0.
            #[must_use]
            pub fn place(self) -> usize {
                usize::try_from(self.0.get() - 1).unwrap_or(usize::MAX)
            }
        }
    };
}
pub(crate) use id;

id! {
    /// A place in [`Timeline::streams`].
    StreamId
}
id! {
    /// A place in [`Timeline::processes`].
    ProcessId
}
id! {
    /// A place in [`Timeline::threads`].
    ThreadId
}
id! {
    /// A place in [`Timeline::calls`].
    CallId
}

/// A GPU.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Device {
    /// The number that the trace gives it.
    pub number: u64,
    /// Its name.
    pub name: Option<String>,
    /// Its compute capability: major and minor.
    pub compute_capability: Option<(u32, u32)>,
    /// Its multiprocessors.
    pub multiprocessors: Option<u32>,
    /// Its memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Bytes that its memory moves in a second at best, as the trace says.
    pub memory_bytes_per_s: Option<f64>,
}

/// A stream of a device.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Stream {
    /// The process that it belongs to, where the trace tells.
    pub process: Option<ProcessId>,
    /// A place in [`Timeline::devices`].
    pub device: usize,
    /// Its context.
    pub context: Option<u64>,
    /// Its number.
    pub number: u64,
}

/// A process of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub number: u64,
    /// Its name. Private: it may hold a path.
    pub name: Option<String>,
    /// Its place among the processes of a distributed run.
    pub rank: Option<Rank>,
}

/// A thread of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its process.
    pub process: ProcessId,
    /// Its number.
    pub number: u64,
    /// Its name.
    pub name: Option<String>,
}

/// What a wait waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SyncKind {
    /// The host waits for an event.
    Event,
    /// A stream waits for an event; the host does not.
    StreamWait,
    /// The host waits for a stream.
    Stream,
    /// The host waits for all of a context.
    Context,
    /// Something else.
    Other,
}

/// A wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Synchronisation {
    /// When it began.
    pub start_ns: i64,
    /// When it was over.
    pub end_ns: i64,
    /// What it waits for.
    pub kind: SyncKind,
    /// The stream that waits, or is waited for.
    pub stream: Option<StreamId>,
    /// Joins it with its call.
    pub correlation: Option<Correlation>,
}

/// Time that the profiler itself took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overhead {
    /// When it began.
    pub start_ns: i64,
    /// When it was over.
    pub end_ns: i64,
    /// What it was.
    pub name: NameId,
}

/// Who named a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AnnotationKind {
    /// NVTX, or another range of the program's own.
    User,
    /// An operator of a framework.
    Operator,
    /// A range of the program, as far as its work ran on a GPU.
    Gpu,
}

/// A range with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// When it began.
    pub start_ns: i64,
    /// When it was over.
    pub end_ns: i64,
    /// Its name.
    pub name: NameId,
    /// Who named it.
    pub kind: AnnotationKind,
    /// The thread that it is on, where it is on one.
    pub thread: Option<ThreadId>,
}
