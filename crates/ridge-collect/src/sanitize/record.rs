//! What a tool reports: one record for each thing that it found, and what it says about the run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A tool of `compute-sanitizer`.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Tool {
    /// Accesses out of bounds and misaligned, errors of the API, leaks.
    Memcheck,
    /// Hazards between threads on shared memory.
    Racecheck,
    /// Reads of memory that nobody wrote.
    Initcheck,
    /// Barriers that not all threads reach.
    Synccheck,
}

impl Tool {
    /// All tools, in the order in which they are run: faults of memory spoil what the others say.
    pub const ALL: [Self; 4] = [
        Self::Memcheck,
        Self::Racecheck,
        Self::Initcheck,
        Self::Synccheck,
    ];

    /// The name, as `--tool` takes it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memcheck => "memcheck",
            Self::Racecheck => "racecheck",
            Self::Initcheck => "initcheck",
            Self::Synccheck => "synccheck",
        }
    }
}

impl std::str::FromStr for Tool {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|tool| tool.name() == text)
            .ok_or_else(|| {
                let names = Self::ALL.map(Self::name);
                format!("{text:?} is none of {}", names.join(", "))
            })
    }
}

/// How bad the tool calls what it found.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// A fault.
    Error,
    /// Perhaps one.
    Warning,
    /// To be known.
    Info,
}

impl Severity {
    /// The stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }

    /// What the word of a tool means, in any case.
    pub(super) fn of(word: &str) -> Option<Self> {
        let is = |name: &str| word.eq_ignore_ascii_case(name);
        if is("error") || is("fatal") {
            Some(Self::Error)
        } else if is("warning") || is("warn") {
            Some(Self::Warning)
        } else if is("info") {
            Some(Self::Info)
        } else {
            None
        }
    }
}

/// What kind of fault it is.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// An access outside every allocation.
    OutOfBounds,
    /// An access at an address that its size does not allow.
    Misaligned,
    /// An access that is invalid for another reason.
    InvalidAccess,
    /// A read of memory that nobody wrote.
    UninitializedRead,
    /// A barrier that not all threads reach, or with wrong arguments.
    Barrier,
    /// Two accesses to shared memory without order.
    Race,
    /// A call of the API that failed.
    ApiError,
    /// Memory that was not freed.
    Leak,
    /// A wrong `malloc` or `free` on the device.
    Heap,
    /// Memory that was allocated and never written.
    UnusedMemory,
    /// A column of the tensor memory that is not allocated.
    TensorMemory,
    /// A wrong sequence of matrix instructions of a warpgroup.
    Warpgroup,
    /// Threads that wait for each other for ever.
    Deadlock,
    /// A kernel that ended itself: an assertion, a trap, an illegal instruction.
    Exception,
    /// Something that this version does not know.
    Other,
}

impl FaultKind {
    /// All kinds.
    pub const ALL: [Self; 15] = [
        Self::OutOfBounds,
        Self::Misaligned,
        Self::InvalidAccess,
        Self::UninitializedRead,
        Self::Barrier,
        Self::Race,
        Self::ApiError,
        Self::Leak,
        Self::Heap,
        Self::UnusedMemory,
        Self::TensorMemory,
        Self::Warpgroup,
        Self::Deadlock,
        Self::Exception,
        Self::Other,
    ];

    /// The stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OutOfBounds => "out-of-bounds",
            Self::Misaligned => "misaligned",
            Self::InvalidAccess => "invalid-access",
            Self::UninitializedRead => "uninitialized-read",
            Self::Barrier => "barrier",
            Self::Race => "race",
            Self::ApiError => "api-error",
            Self::Leak => "leak",
            Self::Heap => "heap",
            Self::UnusedMemory => "unused-memory",
            Self::TensorMemory => "tensor-memory",
            Self::Warpgroup => "warpgroup",
            Self::Deadlock => "deadlock",
            Self::Exception => "exception",
            Self::Other => "other",
        }
    }

    /// What to do about it; `None` where only the tool's own text helps.
    #[must_use]
    pub const fn advice(self) -> Option<&'static str> {
        Some(match self {
            Self::OutOfBounds => {
                "compare the index with the size of the buffer: a missing bounds check in the last block is the usual cause"
            }
            Self::Misaligned => {
                "access at multiples of the size: a pointer that was cast to a wider type has to be aligned to it"
            }
            Self::InvalidAccess => {
                "check the pointer: freed, of another memory, or used before its allocation"
            }
            Self::UninitializedRead => {
                "write the buffer first (cudaMemset, a copy or a kernel); a benchmark that reads its old output on purpose is expected here"
            }
            Self::Barrier => {
                "let every thread of the block (or of the mask) reach the same barrier; in warp-specialised kernels this can be a false alarm"
            }
            Self::Race => {
                "put __syncthreads(), or __syncwarp() inside a warp, between the write and the other access"
            }
            Self::ApiError => "check the arguments of that call, and the error of each call",
            Self::Leak => "free what is allocated, before the context ends",
            Self::Heap => "free each device allocation once, with the pointer that malloc returned",
            Self::UnusedMemory => "allocate less, or write what is allocated",
            Self::TensorMemory => {
                "allocate tensor memory columns before they are used, and stay inside them"
            }
            Self::Warpgroup => "follow the order of wgmma: fence, instructions, commit, wait",
            Self::Deadlock => "look at which threads arrive at the barrier, and how often",
            Self::Exception => "see the message of the assertion, or what the kernel traps on",
            Self::Other => return None,
        })
    }

    /// The same for an error of the API that only tells what a kernel did before.
    pub(super) fn advice_for(self, text: &str) -> Option<&'static str> {
        let is_late = [
            "cudaErrorLaunchFailure",
            "cudaErrorAssert",
            "cudaErrorIllegalAddress",
            "cudaErrorMisalignedAddress",
            "cudaErrorLaunchTimeout",
        ]
        .iter()
        .any(|name| text.contains(name));
        if self == Self::ApiError && is_late {
            return Some(
                "this call only tells that a kernel before it failed: mend that fault first",
            );
        }
        self.advice()
    }

    /// The kind that the first line of a record, or the text of one in XML, tells.
    pub(super) fn of(text: &str) -> Option<Self> {
        let has = |part: &str| text.contains(part);
        let is = |start: &str| text.starts_with(start);
        Some(
            if has("Race reported between") || has("hazard detected at") || is("Race condition") {
                Self::Race
            } else if has("nvalid __") {
                if has("misaligned") {
                    Self::Misaligned
                } else if has("out of bounds") {
                    Self::OutOfBounds
                } else {
                    Self::InvalidAccess
                }
            } else if is("Uninitialized ") {
                Self::UninitializedRead
            } else if is("Barrier error") || is("Invalid arguments") {
                Self::Barrier
            } else if is("Warpgroup MMA") {
                Self::Warpgroup
            } else if is("Program hit ") {
                Self::ApiError
            } else if is("Leaked ") {
                Self::Leak
            } else if is("Malloc/Free error") {
                Self::Heap
            } else if is("Unused __") {
                Self::UnusedMemory
            } else if is("Tensor Memory ") {
                Self::TensorMemory
            } else if is("Deadlock detected") {
                Self::Deadlock
            } else if is("Warp assert")
                || is("Warp ")
                || is("Lane ")
                || is("Device-side assert")
                || has("exception")
                || is("Illegal instruction")
            {
                Self::Exception
            } else {
                return None;
            },
        )
    }

    /// The tool that reports it, where only one does.
    pub(super) const fn tool(self) -> Option<Tool> {
        Some(match self {
            Self::Race => Tool::Racecheck,
            Self::UninitializedRead | Self::UnusedMemory => Tool::Initcheck,
            Self::Barrier | Self::Warpgroup | Self::Deadlock => Tool::Synccheck,
            Self::OutOfBounds
            | Self::Misaligned
            | Self::InvalidAccess
            | Self::ApiError
            | Self::Leak
            | Self::Heap
            | Self::TensorMemory => Tool::Memcheck,
            Self::Exception | Self::Other => return None,
        })
    }
}

/// A place in device code.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Place {
    /// The function, as the tool writes it.
    pub function: Option<String>,
    /// The kernel of which the function is a copy, where the tool says so.
    pub clone_of: Option<String>,
    /// The source file, where the code has line information.
    pub file: Option<String>,
    /// The line in it, from 1.
    pub line: Option<u32>,
    /// The instruction, as bytes from the start of the function.
    pub offset: Option<u64>,
}

/// One of the accesses of a race.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Access {
    /// `read` or `write`.
    pub direction: String,
    /// Where.
    pub place: Place,
    /// The thread, where the tool names one.
    pub thread: Option<[u32; 3]>,
    /// Hazards with the first access; one for each byte.
    pub hazards: Option<u64>,
}

/// Which memory was accessed, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Memory {
    /// `global`, `shared`, `local`, …
    pub space: Option<String>,
    /// `read`, `write` or `atomic`.
    pub direction: Option<String>,
    /// The size of the access in bytes.
    pub bytes: Option<u64>,
    /// The address, in hexadecimal digits after `0x`.
    pub address: Option<String>,
    /// The allocation that is next to it.
    pub nearest: Option<Nearest>,
}

/// Where an address lies, seen from an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// Below its start.
    Before,
    /// In it.
    Inside,
    /// Behind its end.
    After,
}

impl Side {
    /// The word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::Inside => "inside",
            Self::After => "after",
        }
    }
}

/// The allocation that is next to an address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Nearest {
    /// On which side of it the address lies.
    pub side: Side,
    /// How far away, in bytes; the byte behind the end is 1 after it.
    pub distance_bytes: Option<u64>,
    /// The size of the allocation.
    pub size_bytes: Option<u64>,
}

/// A frame of the host's stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct HostFrame {
    /// The function.
    pub function: Option<String>,
    /// The program or library.
    pub module: Option<String>,
    /// The source file.
    pub file: Option<String>,
    /// The line in it, from 1.
    pub line: Option<u32>,
    /// The place in the module, in bytes.
    pub offset: Option<u64>,
}

/// One thing that a tool found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Record {
    /// What kind of fault it is.
    pub kind: FaultKind,
    /// How bad the tool calls it.
    pub severity: Severity,
    /// The tool's own words.
    pub text: String,
    /// Where the device code was.
    pub place: Option<Place>,
    /// The thread.
    pub thread: Option<[u32; 3]>,
    /// Its block.
    pub block: Option<[u32; 3]>,
    /// The memory that it is about.
    pub memory: Option<Memory>,
    /// The accesses of a race: the first, then those against it.
    pub accesses: Vec<Access>,
    /// Callers of the device function, the kernel last.
    pub device_frames: Vec<Place>,
    /// The moment of the host's stack: `kernel launch time`, `allocation time`, `error`.
    pub host_moment: Option<String>,
    /// The host's stack, the innermost frame first.
    pub host_frames: Vec<HostFrame>,
    /// What else the tool says, line by line.
    pub more: Vec<String>,
}

impl Record {
    pub(super) fn new(kind: FaultKind, severity: Severity, text: &str) -> Self {
        Self {
            kind,
            severity,
            text: text.to_owned(),
            place: None,
            thread: None,
            block: None,
            memory: None,
            accesses: Vec::new(),
            device_frames: Vec::new(),
            host_moment: None,
            host_frames: Vec::new(),
            more: Vec::new(),
        }
    }

    /// The kernel in which it happened, as far as the tool tells.
    #[must_use]
    pub fn kernel(&self) -> Option<&str> {
        let own = self.place.as_ref();
        let outermost = self
            .device_frames
            .last()
            .and_then(|frame| frame.function.as_deref());
        let of_device = outermost
            .or_else(|| own?.clone_of.as_deref())
            .or_else(|| own?.function.as_deref());
        // The function behind `assert` ends a kernel without a frame of it. The host's stub has its name.
        if of_device.is_some_and(|name| name.starts_with("__assertfail")) {
            let names = |frame: &'_ HostFrame| {
                frame
                    .function
                    .as_deref()
                    .is_some_and(|name| name.starts_with("__device_stub__"))
            };
            let stub = self.host_frames.iter().position(names);
            let behind = stub.and_then(|stub| self.host_frames.get(stub + 1));
            // Short stacks leave the stub out and keep what it is called by, with its parameters.
            let first = self.host_frames.first().filter(|frame| {
                let name = frame.function.as_deref().unwrap_or_default();
                self.host_frames.len() > 1 && name.ends_with(')')
            });
            let kernel = behind.or(first);
            return kernel
                .and_then(|frame| frame.function.as_deref())
                .or(of_device);
        }
        of_device
    }

    /// The innermost frame of the host that is the program's own and not CUDA's.
    #[must_use]
    pub fn host_site(&self) -> Option<&HostFrame> {
        let base = |name: &str| name.split(['(', '<']).next().unwrap_or_default().to_owned();
        let kernel = self.kernel().map(base);
        let is_cuda = |frame: &&HostFrame| {
            let name = frame.function.as_deref().unwrap_or_default();
            let module = frame.module.as_deref().unwrap_or_default();
            let of_driver = name
                .strip_prefix("cu")
                .is_some_and(|rest| rest.starts_with(char::is_uppercase));
            of_driver
                || name.starts_with("cuda")
                || name.contains("cudart")
                || name.starts_with("__cuda")
                || name.starts_with("__device_stub__")
                || module.contains("libcuda.so")
                || module.contains("libcudart.so")
                // What the compiler makes of a kernel on the host.
                || kernel.as_deref() == Some(&base(name))
        };
        self.host_frames
            .iter()
            .find(|frame| !is_cuda(frame) && frame.function.is_some())
            .or_else(|| self.host_frames.first())
    }
}

/// What a tool says about its run beside the records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Notice {
    /// What it means.
    pub kind: NoticeKind,
    /// The tool's own words.
    pub text: String,
}

/// What a notice means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NoticeKind {
    /// The tool itself failed.
    InternalError,
    /// The program returned an error.
    TargetFailed,
    /// The program ended before it called CUDA.
    NoCuda,
    /// The program did not end as programs do.
    Crashed,
    /// The tool does not support the GPU, the driver, or where they run.
    NotSupported,
    /// Something else.
    Other,
}

/// What a tool counts at the end of its run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Summary {
    /// Errors.
    pub errors: Option<u64>,
    /// Warnings; racecheck alone counts them.
    pub warnings: Option<u64>,
    /// Errors that were counted and not printed.
    pub not_printed: Option<u64>,
    /// Bytes that were not freed.
    pub leaked_bytes: Option<u64>,
}

impl Summary {
    /// Whether the run ended with a summary.
    #[must_use]
    pub const fn is_there(&self) -> bool {
        self.errors.is_some()
    }
}

/// One run of one tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// The tool, where it is known or the output tells.
    pub tool: Option<Tool>,
    /// Whether it is of the XML form, which has no banner and no summary.
    pub is_xml: bool,
    /// Whether the tool's first line is there.
    pub has_banner: bool,
    /// What it found.
    pub records: Vec<Record>,
    /// Records that were read and not kept, beyond the most that are.
    pub not_kept: u64,
    /// What it counts.
    pub summary: Summary,
    /// What else it says.
    pub notices: Vec<Notice>,
}

impl Run {
    /// More records are counted only.
    pub(super) const MOST_RECORDS: usize = 100_000;
    /// More notices are left out.
    pub(super) const MOST_NOTICES: usize = 100;

    pub(super) fn keep(&mut self, record: Record) {
        if self.tool.is_none() {
            self.tool = record.kind.tool();
        }
        if self.records.len() < Self::MOST_RECORDS {
            self.records.push(record);
        } else {
            self.not_kept = self.not_kept.saturating_add(1);
        }
    }

    pub(super) fn note(&mut self, kind: NoticeKind, text: &str) {
        if self.notices.len() < Self::MOST_NOTICES {
            self.notices.push(Notice {
                kind,
                text: text.to_owned(),
            });
        }
    }
}
