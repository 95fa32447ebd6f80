//! Recordings of `ridge trace`. `docs/design/recording.md` describes the format.
//!
//! A recording is a run's chunk, then for each process the chunks that its recorder wrote. The file of a single process,
//! as a run that was killed leaves it, is a recording too. What is cut off or damaged is left out, chunk by chunk, and said.
//!
//! Memory stays below 32 times the input.

mod chunk;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::num::{NonZeroU32, NonZeroU64};

use ridge_injection::format::{ChunkKind, Status, record, state, unfold};

pub use chunk::{Chunk, Chunks, is_recording};
use chunk::{Record, Values};

use crate::error::{Error, Problem};
use crate::timeline::{
    AnnotationKind, Api, Builder, Copied, CopyKind, Correlation, Graph, Launch, Memory, NameId,
    NewCall, NewWork, ProcessId, Rank, SourceKind, SyncKind, ThreadId, Timeline,
};

/// What a recording says about the run and its processes, beside the timeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// The run, where the recording has it.
    pub run: Option<Run>,
    /// Its processes that used a GPU, in the order of the recording.
    pub processes: Vec<RecordedProcess>,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Version of Ridgepoint.
    pub tool_version: String,
    /// When it began, in nanoseconds since 1970.
    pub started_unix_ns: u64,
    /// How the program ended.
    pub outcome: Outcome,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is not known.
    Unknown,
    /// With a code of its own.
    Exited(u64),
    /// By a signal.
    Signalled(u64),
}

/// A process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedProcess {
    /// Its number.
    pub id: u64,
    /// The number of the process that started it.
    pub parent: u64,
    /// The name of its program.
    pub program: String,
    /// When its recording began, in nanoseconds since 1970.
    pub started_unix_ns: u64,
    /// Version of its recorder.
    pub recorder_version: String,
    /// Its place among the processes of a distributed run, where its environment told it.
    pub rank: Option<Rank>,
    /// Version of CUPTI; absent where nothing could be recorded.
    pub cupti_version: Option<u64>,
    /// Version of CUDA that the driver supports, times 1000.
    pub driver_version: Option<u64>,
    /// How its recording stands; absent where that is damaged.
    pub status: Option<Status>,
    /// What could not be recorded: a number of [`problem`], a value, and words.
    pub problems: Vec<(u64, u64, String)>,
    /// Records in it.
    pub records: u64,
}

pub use ridge_injection::format::problem;

impl RecordedProcess {
    /// Whether it ended in an orderly way, so that nothing is missing at its end.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.status
            .is_some_and(|status| status.state == state::ENDED)
    }
}

impl Run {
    /// The chunk that says so.
    #[must_use]
    pub fn chunk(&self) -> Vec<u8> {
        use ridge_injection::format;
        let mut payload = Vec::new();
        format::text(&self.tool_version, &mut payload);
        format::number(self.started_unix_ns, &mut payload);
        let (kind, code) = match self.outcome {
            Outcome::Unknown => (0, 0),
            Outcome::Exited(code) => (1, code),
            Outcome::Signalled(signal) => (2, signal),
        };
        format::number(kind, &mut payload);
        format::number(code, &mut payload);
        let mut bytes = Vec::new();
        format::chunk(ChunkKind::Run, &payload, &mut bytes);
        bytes
    }

    fn of_payload(payload: &[u8]) -> Option<Self> {
        let mut values = Values(payload);
        let tool_version = values.text()?.to_owned();
        let started_unix_ns = values.number()?;
        let kind = values.number()?;
        let code = values.number()?;
        Some(Self {
            tool_version,
            started_unix_ns,
            outcome: match kind {
                1 => Outcome::Exited(code),
                2 => Outcome::Signalled(code),
                _ => Outcome::Unknown,
            },
        })
    }
}

/// The names of a chunk of names, each passed through a function, as a chunk again. None where it is no such chunk.
///
/// Names of kernels are recorded as the compiler made them; whoever can turn them into the programmer's does so here.
#[must_use]
pub fn with_names(chunk: &Chunk<'_>, rename: impl Fn(&str) -> Option<String>) -> Option<Vec<u8>> {
    use ridge_injection::format;
    if chunk.kind != Some(ChunkKind::Strings) {
        return None;
    }
    let mut values = Values(chunk.payload);
    let mut payload = Vec::with_capacity(chunk.payload.len());
    format::number(values.number()?, &mut payload);
    let count = values.number()?;
    format::number(count, &mut payload);
    for _ in 0..count {
        let name = values.text()?;
        let renamed = rename(name);
        format::text(renamed.as_deref().unwrap_or(name), &mut payload);
    }
    let mut bytes = Vec::new();
    format::chunk(ChunkKind::Strings, &payload, &mut bytes);
    (!bytes.is_empty()).then_some(bytes)
}

/// A chunk that says where CUPTI was looked for, without the places, as a chunk again. None where it is no such chunk.
#[must_use]
pub fn without_places(chunk: &Chunk<'_>) -> Option<Vec<u8>> {
    use ridge_injection::format;
    let mut values = Values(chunk.payload);
    if chunk.kind != Some(ChunkKind::Problem) || values.number()? != problem::NO_CUPTI {
        return None;
    }
    let mut payload = Vec::new();
    format::number(problem::NO_CUPTI, &mut payload);
    format::number(0, &mut payload);
    format::text("", &mut payload);
    let mut bytes = Vec::new();
    format::chunk(ChunkKind::Problem, &payload, &mut bytes);
    Some(bytes)
}

/// Reads a recording.
///
/// # Errors
/// When the input is no recording, or one of a version that cannot be read.
pub fn read(input: &[u8]) -> Result<Timeline, Error> {
    read_all(input).map(|(timeline, _)| timeline)
}

/// Reads a recording, with what it says about its processes.
///
/// # Errors
/// As [`read`].
pub fn read_all(input: &[u8]) -> Result<(Timeline, Recording), Error> {
    let mut chunks = Chunks::new(input)?;
    let mut reader = Reader {
        builder: Builder::new(SourceKind::Recording),
        recording: Recording::default(),
        devices: Devices::default(),
        process: None,
    };
    for chunk in chunks.by_ref() {
        reader.take(&chunk);
    }
    reader.end_process();
    for problem in chunks.into_problems() {
        reader.builder.completeness().problem(problem);
    }
    Ok(reader.finish())
}

struct Reader {
    builder: Builder,
    recording: Recording,
    devices: Devices,
    process: Option<InProcess>,
}

/// GPUs of all processes, each of which counts those that it sees.
#[derive(Default)]
struct Devices {
    /// The timeline's numbers, by what tells GPUs apart.
    numbers: HashMap<Identity, u64>,
    taken: HashSet<u64>,
}

/// What tells GPUs apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Identity {
    /// What is made from its UUID.
    Known(u64),
    /// The number that a process gives it.
    Number(u64),
}

impl Devices {
    /// The timeline's number of a GPU: that of the process, unless another GPU has it.
    fn number(&mut self, local: u64, identity: Option<u64>) -> u64 {
        let identity = identity.map_or(Identity::Number(local), Identity::Known);
        *self.numbers.entry(identity).or_insert_with(|| {
            let mut number = local;
            while !self.taken.insert(number) {
                number = number.wrapping_add(1);
            }
            number
        })
    }
}

/// A process whose chunks are being read.
struct InProcess {
    facts: RecordedProcess,
    id: ProcessId,
    names: HashMap<u64, NameId>,
    /// From CUPTI's clock to nanoseconds since 1970.
    shift_ns: i128,
    /// Devices as the process counts them, with the timeline's numbers.
    devices: HashMap<u64, u64>,
    /// The device of each context.
    contexts: HashMap<u64, u64>,
    /// Ranges that have not ended.
    open: HashMap<u64, (i64, NameId, Option<ThreadId>)>,
    last_ns: Option<i64>,
}

impl Reader {
    fn take(&mut self, chunk: &Chunk<'_>) {
        let is_whole = match chunk.kind {
            Some(ChunkKind::Run) => match Run::of_payload(chunk.payload) {
                Some(run) => {
                    self.builder.set_tool_version(&run.tool_version);
                    self.recording.run = Some(run);
                    true
                }
                None => false,
            },
            Some(ChunkKind::Process) => self.begin_process(chunk.payload).is_some(),
            Some(kind) => match &mut self.process {
                Some(process) => match kind {
                    ChunkKind::Status => {
                        process.facts.status = Status::of_payload(chunk.payload);
                        process.facts.status.is_some()
                    }
                    ChunkKind::Clock => process.clock(chunk.payload).is_some(),
                    ChunkKind::Problem => process.problem(chunk.payload).is_some(),
                    ChunkKind::Strings => process.names(chunk.payload, &mut self.builder).is_some(),
                    ChunkKind::Records => self.records(chunk.payload).is_some(),
                    // Kinds of later versions.
                    _ => true,
                },
                None => false,
            },
            None => {
                self.builder.completeness().skip("chunk of a later version");
                true
            }
        };
        if !is_whole {
            self.builder.completeness().problem(Problem {
                code: Problem::MALFORMED,
                offset: Some(chunk.offset),
                field: "chunk".to_owned(),
                reason: match chunk.kind {
                    Some(kind) => format!("what it holds is no {kind:?}").to_lowercase(),
                    None => "it is of no known kind".to_owned(),
                },
            });
        }
    }

    fn begin_process(&mut self, payload: &[u8]) -> Option<()> {
        self.end_process();
        let mut values = Values(payload);
        let facts = RecordedProcess {
            id: values.number()?,
            parent: values.number()?,
            started_unix_ns: values.number()?,
            program: values.text()?.to_owned(),
            recorder_version: values.text()?.to_owned(),
            rank: rank(&mut values),
            ..RecordedProcess::default()
        };
        let id = self.builder.process(facts.id);
        if !facts.program.is_empty() {
            self.builder.set_process_name(id, &facts.program);
        }
        if let Some(rank) = &facts.rank {
            self.builder.set_process_rank(id, rank.clone());
        }
        self.process = Some(InProcess {
            facts,
            id,
            names: HashMap::new(),
            shift_ns: 0,
            devices: HashMap::new(),
            contexts: HashMap::new(),
            open: HashMap::new(),
            last_ns: None,
        });
        Some(())
    }

    fn end_process(&mut self) {
        let Some(process) = self.process.take() else {
            return;
        };
        // Ranges that were open when the recording ends reach to its end.
        if let Some(last_ns) = process.last_ns {
            let mut open: Vec<_> = process.open.into_values().collect();
            open.sort_by_key(|(start_ns, name, _)| (*start_ns, *name));
            for (start_ns, name, thread) in open {
                self.builder.push_annotation(
                    start_ns,
                    last_ns.max(start_ns),
                    name,
                    AnnotationKind::User,
                    thread,
                );
            }
        }
        let completeness = self.builder.completeness();
        if let Some(status) = process.facts.status {
            let lost = status.dropped.saturating_add(status.lost);
            let before = completeness.dropped.unwrap_or(0);
            completeness.dropped = Some(before.saturating_add(lost));
            completeness.contradictory = completeness.contradictory.saturating_add(status.damaged);
        }
        // Of a process that could not be recorded, nothing is missing at the end.
        let is_recorded = process.facts.cupti_version.is_some();
        completeness.unended += u64::from(is_recorded && !process.facts.has_ended());
        self.recording.processes.push(process.facts);
    }

    /// None where the chunk ends early or a record lacks fields; what stands before has been taken.
    fn records(&mut self, payload: &[u8]) -> Option<()> {
        let mut values = Values(payload);
        let count = values.number()?;
        let mut time = 0_u64;
        let mut correlation = 0_u64;
        for _ in 0..count {
            let record = values.record()?;
            if record.count < record::required(record.kind) {
                return None;
            }
            let process = self.process.as_mut()?;
            process.facts.records = process.facts.records.saturating_add(1);
            let mut moment = Moment {
                time: &mut time,
                correlation: &mut correlation,
            };
            let is_known = match record.kind {
                record::KERNEL => process.kernel(&record, &mut moment, &mut self.builder),
                record::COPY => process.copy(&record, &mut moment, &mut self.builder),
                record::MEMSET => process.memset(&record, &mut moment, &mut self.builder),
                record::CALL => process.call(&record, &mut moment, &mut self.builder),
                record::SYNC => process.sync(&record, &mut moment, &mut self.builder),
                record::OVERHEAD => process.overhead(&record, &mut moment, &mut self.builder),
                record::MARKER => process.marker(&record, &mut moment, &mut self.builder),
                record::DEVICE => process.device(&record, &mut self.devices, &mut self.builder),
                record::CONTEXT => process.context(&record),
                record::THREAD_NAME => process.thread_name(&record, &mut self.builder),
                _ => {
                    self.builder
                        .completeness()
                        .skip("record of a later version");
                    Some(())
                }
            };
            if is_known.is_none() {
                self.builder.completeness().contradictory += 1;
            }
        }
        Some(())
    }

    fn finish(mut self) -> (Timeline, Recording) {
        self.builder.set_unix_ns_of_zero(0);
        let mut ranks = self
            .recording
            .processes
            .iter()
            .filter_map(|process| process.rank.as_ref());
        // Children of a rank inherit what tells it.
        if let Some(rank) = ranks.next()
            && ranks.all(|other| other.number == rank.number)
        {
            self.builder.set_rank(rank.clone());
        }
        (self.builder.finish(), self.recording)
    }
}

/// The rank at the end of a process, which recorders write since minor version 1.
fn rank(values: &mut Values<'_>) -> Option<Rank> {
    let mut optional = || values.number()?.checked_sub(1);
    let (number, local, size) = (optional(), optional(), optional());
    Some(Rank {
        number: number?,
        local,
        size,
        told_by: values.text()?.to_owned(),
    })
}

/// What differences count from, within a chunk.
struct Moment<'c> {
    time: &'c mut u64,
    correlation: &'c mut u64,
}

impl Moment<'_> {
    fn time(&mut self, folded: u64) -> u64 {
        *self.time = self.time.wrapping_add(unfold(folded).cast_unsigned());
        *self.time
    }

    fn correlation(&mut self, folded: u64) -> Option<Correlation> {
        *self.correlation = self
            .correlation
            .wrapping_add(unfold(folded).cast_unsigned());
        Correlation::new(*self.correlation)
    }
}

impl InProcess {
    fn clock(&mut self, payload: &[u8]) -> Option<()> {
        let mut values = Values(payload);
        let known = |value: u64| (value > 0).then_some(value);
        let cupti_version = known(values.number()?);
        let driver_version = known(values.number()?);
        let cupti_ns = values.number()?;
        let unix_ns = values.number()?;
        // The first one holds: later ones show how far the clocks drift, and must not tear the recording apart.
        if self.facts.cupti_version.is_none() {
            self.shift_ns = i128::from(unix_ns) - i128::from(cupti_ns);
            self.facts.cupti_version = cupti_version;
            self.facts.driver_version = driver_version;
        }
        Some(())
    }

    fn problem(&mut self, payload: &[u8]) -> Option<()> {
        /// More say nothing new.
        const MOST: usize = 100;
        let mut values = Values(payload);
        let problem = (
            values.number()?,
            values.number()?,
            values.text()?.to_owned(),
        );
        if self.facts.problems.len() < MOST {
            self.facts.problems.push(problem);
        }
        Some(())
    }

    fn names(&mut self, payload: &[u8], builder: &mut Builder) -> Option<()> {
        let mut values = Values(payload);
        let first = values.number()?;
        let count = values.number()?;
        for place in 0..count {
            let text = values.text()?;
            let id = builder.name(text);
            self.names.insert(first.checked_add(place)?, id);
        }
        Some(())
    }

    fn name(&self, id: u64, otherwise: &str, builder: &mut Builder) -> NameId {
        match self.names.get(&id) {
            Some(name) => *name,
            None => builder.name(otherwise),
        }
    }

    /// Nanoseconds since 1970; the end of the range of numbers where that is beyond it, which the builder refuses.
    fn unix_ns(&self, cupti_ns: u64) -> i64 {
        i64::try_from(i128::from(cupti_ns) + self.shift_ns).unwrap_or(i64::MAX)
    }

    /// The times of a record, where CUPTI knew them.
    fn span(
        &mut self,
        record: &Record,
        moment: &mut Moment<'_>,
        what: &str,
        builder: &mut Builder,
    ) -> Option<(i64, i64)> {
        let Some(duration) = record.optional(1) else {
            builder
                .completeness()
                .skip(&format!("{what} without times"));
            return None;
        };
        let start = moment.time(record.field(0));
        let span = (
            self.unix_ns(start),
            self.unix_ns(start.saturating_add(duration)),
        );
        self.last_ns = self.last_ns.max(Some(span.1));
        Some(span)
    }

    /// What all work has; `graph` is the field of its graph, behind which stands that of its node. None where CUPTI did not
    /// know the times.
    fn work(
        &mut self,
        record: &Record,
        moment: &mut Moment<'_>,
        (what, graph): (&str, usize),
        builder: &mut Builder,
    ) -> Option<NewWork> {
        let span = self.span(record, moment, what, builder);
        // The stream is named, and the correlation is counted on, whether the times are known or not.
        let device = record.field(2);
        let device = self.devices.get(&device).copied().unwrap_or(device);
        let stream = builder.stream(
            Some(self.id),
            device,
            Some(record.field(3)),
            record.field(4),
        );
        let correlation = moment.correlation(record.field(5));
        let (start_ns, end_ns) = span?;
        let node = NonZeroU64::new(record.field(graph.saturating_add(1)));
        let graph = record.small(graph).and_then(NonZeroU32::new);
        Some(NewWork {
            start_ns,
            end_ns,
            stream,
            correlation,
            graph: (graph.is_some() || node.is_some()).then_some(Graph { graph, node }),
        })
    }

    fn kernel(
        &mut self,
        record: &Record,
        moment: &mut Moment<'_>,
        builder: &mut Builder,
    ) -> Option<()> {
        let Some(new) = self.work(record, moment, ("kernels", 18), builder) else {
            return Some(());
        };
        let (fixed, more) = (record.field(14), record.field(15));
        let launch = builder.launch(Launch {
            grid: Some(record.three(8)?),
            block: Some(record.three(11)?),
            // Kernels without clusters say 0.
            cluster: record.three(20).filter(|sides| !sides.contains(&0)),
            registers: Some(record.small(7)?),
            static_shared_bytes: Some(fixed),
            dynamic_shared_bytes: Some(more),
            shared_bytes: Some(fixed.saturating_add(more)),
        });
        let name = self.name(record.field(6), "kernel without a name", builder);
        builder.push_kernel(new, name, launch);
        Some(())
    }

    fn copy(
        &mut self,
        record: &Record,
        moment: &mut Moment<'_>,
        builder: &mut Builder,
    ) -> Option<()> {
        if let Some(new) = self.work(record, moment, ("copies", 11), builder) {
            let copied = Copied {
                kind: copy_kind(record.field(7)),
                from: memory(record.field(8)),
                to: memory(record.field(9)),
                bytes: Some(record.field(6)),
            };
            builder.push_copy(new, copied);
        }
        Some(())
    }

    fn memset(
        &mut self,
        record: &Record,
        moment: &mut Moment<'_>,
        builder: &mut Builder,
    ) -> Option<()> {
        if let Some(new) = self.work(record, moment, ("memsets", 10), builder) {
            builder.push_memset(new, Some(record.field(6)));
        }
        Some(())
    }

    fn call(
        &mut self,
        record: &Record,
        moment: &mut Moment<'_>,
        builder: &mut Builder,
    ) -> Option<()> {
        let span = self.span(record, moment, "calls", builder);
        let correlation = moment.correlation(record.field(3));
        let Some((start_ns, end_ns)) = span else {
            return Some(());
        };
        let api = match record.field(5) {
            0 => Api::Runtime,
            _ => Api::Driver,
        };
        let name = self.name(record.field(4), "function without a name", builder);
        let thread = builder.thread(self.id, record.field(2));
        builder.push_call(NewCall {
            start_ns,
            end_ns,
            name,
            api,
            thread,
            correlation,
        });
        Some(())
    }

    fn sync(
        &mut self,
        record: &Record,
        moment: &mut Moment<'_>,
        builder: &mut Builder,
    ) -> Option<()> {
        let span = self.span(record, moment, "synchronizations", builder);
        let correlation = moment.correlation(record.field(4));
        let Some((start_ns, end_ns)) = span else {
            return Some(());
        };
        let kind = match record.field(5) {
            1 => SyncKind::Event,
            2 => SyncKind::StreamWait,
            3 => SyncKind::Stream,
            4 => SyncKind::Context,
            _ => SyncKind::Other,
        };
        let context = record.field(2);
        let device = self.contexts.get(&context).copied();
        let stream = record
            .optional(3)
            .zip(device)
            .map(|(stream, device)| builder.stream(Some(self.id), device, Some(context), stream));
        builder.push_synchronisation(start_ns, end_ns, kind, stream, correlation);
        Some(())
    }

    fn overhead(
        &mut self,
        record: &Record,
        moment: &mut Moment<'_>,
        builder: &mut Builder,
    ) -> Option<()> {
        let Some((start_ns, end_ns)) = self.span(record, moment, "overhead", builder) else {
            return Some(());
        };
        let name = builder.name(overhead_name(record.field(2)));
        builder.push_overhead(start_ns, end_ns, name);
        Some(())
    }

    fn marker(
        &mut self,
        record: &Record,
        moment: &mut Moment<'_>,
        builder: &mut Builder,
    ) -> Option<()> {
        /// Flags of markers.
        const MOMENT: u64 = 1;
        const START: u64 = 2;
        const END: u64 = 4;
        let time = moment.time(record.field(0));
        let time_ns = self.unix_ns(time);
        self.last_ns = self.last_ns.max(Some(time_ns));
        let range = record.field(2);
        let flags = record.field(1);
        let thread = match record.field(3) {
            0 => None,
            number => Some(builder.thread(self.id, number)),
        };
        if flags & (MOMENT | START) != 0 {
            let name = self.name(record.field(4), "range without a name", builder);
            if flags & START != 0 {
                self.open.insert(range, (time_ns, name, thread));
            } else {
                builder.push_annotation(time_ns, time_ns, name, AnnotationKind::User, thread);
            }
        } else if flags & END != 0 {
            let (start_ns, name, thread) = self.open.remove(&range)?;
            builder.push_annotation(start_ns, time_ns, name, AnnotationKind::User, thread);
        }
        Some(())
    }

    fn device(
        &mut self,
        record: &Record,
        known: &mut Devices,
        builder: &mut Builder,
    ) -> Option<()> {
        let local = record.field(0);
        let identity = Some(record.field(8)).filter(|identity| *identity != 0);
        /// More are no machine's.
        const MOST: usize = 4096;
        if known.taken.len() >= MOST {
            return None;
        }
        // Two processes can call two GPUs by one number, and one GPU by two.
        let number = known.number(local, identity);
        self.devices.insert(local, number);
        let name = self.names.get(&record.field(1)).copied();
        let name = name.map(|name| builder.text(name).to_owned());
        let device = builder.device(number);
        device.name = name;
        device.compute_capability = record.small(2).zip(record.small(3));
        device.multiprocessors = record.small(4);
        device.memory_bytes = Some(record.field(5));
        Some(())
    }

    fn context(&mut self, record: &Record) -> Option<()> {
        let device = record.field(1);
        let device = self.devices.get(&device).copied().unwrap_or(device);
        self.contexts.insert(record.field(0), device);
        Some(())
    }

    fn thread_name(&mut self, record: &Record, builder: &mut Builder) -> Option<()> {
        let name = *self.names.get(&record.field(1))?;
        let name = builder.text(name).to_owned();
        let thread = builder.thread(self.id, record.field(0));
        builder.set_thread_name(thread, &name);
        Some(())
    }
}

/// Kinds of copies, as CUPTI numbers them.
fn copy_kind(number: u64) -> CopyKind {
    match number {
        1 | 3 => CopyKind::HostToDevice,
        2 | 4 => CopyKind::DeviceToHost,
        5..=8 => CopyKind::DeviceToDevice,
        9 => CopyKind::HostToHost,
        10 => CopyKind::PeerToPeer,
        _ => CopyKind::Other,
    }
}

/// Kinds of memory, as CUPTI numbers them.
fn memory(number: u64) -> Memory {
    match number {
        1 => Memory::Pageable,
        2 => Memory::Pinned,
        3 | 6 => Memory::Device,
        4 => Memory::Array,
        5 | 7 => Memory::Managed,
        _ => Memory::Unknown,
    }
}

/// Kinds of overhead, as CUPTI numbers them, by the names that other tools show.
fn overhead_name(number: u64) -> &'static str {
    match (number & 0xffff, number >> 16) {
        (1, 0) => "Driver Compiler",
        (0, 1) => "Activity Buffer Flush",
        (0, 2) => "Instrumentation",
        (0, 3) => "Resource",
        (0, 4) => "Runtime Triggered Module Loading",
        (0, 5) => "Lazy Function Loading",
        (0, 6) => "Command Buffer Full",
        (0, 7) => "Activity Buffer Request",
        (0, 8) => "UVM Activity Init",
        _ => "Other Overhead",
    }
}
