//! Puts a timeline together from records in any order.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::call::without_version;
use super::{
    Annotation, AnnotationKind, Api, Call, CallId, Completeness, Copied, Correlation, Device,
    Graph, Launch, LaunchId, NameId, Names, Overhead, Process, ProcessId, Rank, SourceKind, Stream,
    StreamId, SyncKind, Synchronisation, Thread, ThreadId, Timeline, Work, WorkKind,
};

/// When and where a piece of work ran, and what asked for it: what kernels, copies and settings of memory have in common.
#[derive(Clone, Copy, Debug)]
pub struct NewWork {
    /// When it began.
    pub start_ns: i64,
    /// When it was over.
    pub end_ns: i64,
    /// Where it ran.
    pub stream: StreamId,
    /// Joins it with its call.
    pub correlation: Option<Correlation>,
    /// The node of a graph that it is.
    pub graph: Option<Graph>,
}

/// A call of the host.
#[derive(Clone, Copy, Debug)]
pub struct NewCall {
    /// When it began.
    pub start_ns: i64,
    /// When it returned.
    pub end_ns: i64,
    /// The function; [`Builder::function`] strips the suffix of its version.
    pub name: NameId,
    /// Which interface it belongs to.
    pub api: Api,
    /// Which thread called.
    pub thread: ThreadId,
    /// Joins it with its work.
    pub correlation: Option<Correlation>,
}

/// Puts a timeline together.
#[derive(Debug)]
pub struct Builder {
    timeline: Timeline,
    devices: HashMap<u64, usize>,
    streams: HashMap<Stream, StreamId>,
    processes: HashMap<u64, ProcessId>,
    threads: HashMap<(ProcessId, u64), ThreadId>,
    launches: HashMap<Launch, LaunchId>,
}

impl Builder {
    /// Begins an empty timeline.
    #[must_use]
    pub fn new(source: SourceKind) -> Self {
        Self {
            timeline: Timeline {
                source,
                tool_version: None,
                origin_ns: 0,
                origin_unix_ns: None,
                rank: None,
                names: Names::default(),
                devices: Vec::new(),
                streams: Vec::new(),
                processes: Vec::new(),
                threads: Vec::new(),
                launches: Vec::new(),
                work: Vec::new(),
                calls: Vec::new(),
                synchronisations: Vec::new(),
                overheads: Vec::new(),
                annotations: Vec::new(),
                completeness: Completeness::default(),
                window: None,
            },
            devices: HashMap::new(),
            streams: HashMap::new(),
            processes: HashMap::new(),
            threads: HashMap::new(),
            launches: HashMap::new(),
        }
    }

    /// What is known not to be there; readers add to it.
    pub fn completeness(&mut self) -> &mut Completeness {
        &mut self.timeline.completeness
    }

    /// Says which version of which tool wrote the trace.
    pub fn set_tool_version(&mut self, version: impl Into<String>) {
        self.timeline.tool_version = Some(version.into());
    }

    /// Says what nanosecond since 1970 the time 0 of the records is.
    pub fn set_unix_ns_of_zero(&mut self, unix_ns: i128) {
        self.timeline.origin_unix_ns = Some(unix_ns);
    }

    /// Says which process of a distributed run it is.
    pub fn set_rank(&mut self, rank: Rank) {
        self.timeline.rank = Some(rank);
    }

    /// Finds or adds a name.
    pub fn name(&mut self, text: &str) -> NameId {
        self.timeline.names.intern(text)
    }

    /// Finds or adds the name of a function of the runtime or driver, without the suffix of its version.
    pub fn function(&mut self, text: &str) -> NameId {
        self.timeline.names.intern(without_version(text))
    }

    /// The text of a name.
    #[must_use]
    pub fn text(&self, name: NameId) -> &str {
        self.timeline.names.get(name)
    }

    /// Finds or adds a device by its number, to describe it.
    pub fn device(&mut self, number: u64) -> &mut Device {
        let place = self.device_place(number);
        &mut self.timeline.devices[place]
    }

    fn device_place(&mut self, number: u64) -> usize {
        let devices = &mut self.timeline.devices;
        *self.devices.entry(number).or_insert_with(|| {
            devices.push(Device {
                number,
                ..Device::default()
            });
            devices.len() - 1
        })
    }

    /// Finds or adds a process.
    pub fn process(&mut self, number: u64) -> ProcessId {
        let processes = &mut self.timeline.processes;
        *self.processes.entry(number).or_insert_with(|| {
            processes.push(Process {
                number,
                name: None,
                rank: None,
            });
            ProcessId::of_place(processes.len() - 1)
        })
    }

    /// Names a process.
    pub fn set_process_name(&mut self, process: ProcessId, name: &str) {
        if let Some(process) = self.timeline.processes.get_mut(process.place()) {
            process.name = Some(name.to_owned());
        }
    }

    /// Says which process of a distributed run one of several is.
    pub(crate) fn set_process_rank(&mut self, process: ProcessId, rank: Rank) {
        if let Some(process) = self.timeline.processes.get_mut(process.place()) {
            process.rank = Some(rank);
        }
    }

    /// Finds or adds a thread of a process.
    pub fn thread(&mut self, process: ProcessId, number: u64) -> ThreadId {
        let threads = &mut self.timeline.threads;
        *self.threads.entry((process, number)).or_insert_with(|| {
            threads.push(Thread {
                process,
                number,
                name: None,
            });
            ThreadId::of_place(threads.len() - 1)
        })
    }

    /// Names a thread.
    pub fn set_thread_name(&mut self, thread: ThreadId, name: &str) {
        if let Some(thread) = self.timeline.threads.get_mut(thread.place()) {
            thread.name = Some(name.to_owned());
        }
    }

    /// Names those of a list of processes and threads that have records.
    pub(crate) fn name_known(
        &mut self,
        processes: &[(u64, String)],
        threads: &[(u64, u64, String)],
    ) {
        for (number, name) in processes {
            if let Some(process) = self.processes.get(number).copied() {
                self.set_process_name(process, name);
            }
        }
        for (process, number, name) in threads {
            let process = self.processes.get(process).copied();
            let thread = process.and_then(|process| self.threads.get(&(process, *number)));
            if let Some(thread) = thread.copied() {
                self.set_thread_name(thread, name);
            }
        }
    }

    /// Finds or adds a stream of the device with a number.
    pub fn stream(
        &mut self,
        process: Option<ProcessId>,
        device: u64,
        context: Option<u64>,
        number: u64,
    ) -> StreamId {
        let device = self.device_place(device);
        let stream = Stream {
            process,
            device,
            context,
            number,
        };
        let streams = &mut self.timeline.streams;
        match self.streams.entry(stream) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                streams.push(new.key().clone());
                *new.insert(StreamId::of_place(streams.len() - 1))
            }
        }
    }

    /// Finds or adds a launch configuration.
    pub fn launch(&mut self, launch: Launch) -> LaunchId {
        let launches = &mut self.timeline.launches;
        *self.launches.entry(launch).or_insert_with(|| {
            launches.push(launch);
            LaunchId::of_place(launches.len() - 1)
        })
    }

    /// Adds a kernel: its signature, and how it was launched.
    pub fn push_kernel(&mut self, new: NewWork, name: NameId, launch: LaunchId) {
        self.push_work(new, name, WorkKind::Kernel { launch });
    }

    /// Adds a copy.
    pub fn push_copy(&mut self, new: NewWork, copied: Copied) {
        let name = self.name(&format!("Memcpy {}", copied.kind.name()));
        self.push_work(new, name, WorkKind::Copy(copied));
    }

    /// Adds the setting of so many bytes of memory.
    pub fn push_memset(&mut self, new: NewWork, bytes: Option<u64>) {
        let name = self.name("Memset");
        self.push_work(new, name, WorkKind::Memset { bytes });
    }

    /// Adds a graph of which the trace has only the whole.
    pub fn push_graph(&mut self, new: NewWork) {
        let name = self.name("CUDA graph");
        self.timeline.completeness.has_whole_graphs = true;
        self.push_work(new, name, WorkKind::Graph);
    }

    fn push_work(&mut self, new: NewWork, name: NameId, kind: WorkKind) {
        if self.is_interval(new.start_ns, new.end_ns) {
            self.timeline.work.push(Work {
                start_ns: new.start_ns,
                end_ns: new.end_ns,
                kind,
                correlation: new.correlation,
                node: new.graph.and_then(|graph| graph.node),
                graph: new.graph.and_then(|graph| graph.graph),
                name,
                stream: new.stream,
                call: None,
            });
        }
    }

    /// Adds a call.
    pub fn push_call(&mut self, new: NewCall) {
        self.timeline.completeness.has_calls = true;
        if self.is_interval(new.start_ns, new.end_ns) {
            self.timeline.calls.push(Call {
                start_ns: new.start_ns,
                end_ns: new.end_ns,
                correlation: new.correlation,
                name: new.name,
                thread: new.thread,
                api: new.api,
            });
        }
    }

    /// Adds a wait.
    pub fn push_synchronisation(
        &mut self,
        start_ns: i64,
        end_ns: i64,
        kind: SyncKind,
        stream: Option<StreamId>,
        correlation: Option<Correlation>,
    ) {
        self.timeline.completeness.has_synchronisations = true;
        if self.is_interval(start_ns, end_ns) {
            self.timeline.synchronisations.push(Synchronisation {
                start_ns,
                end_ns,
                kind,
                stream,
                correlation,
            });
        }
    }

    /// Adds time that the profiler took.
    pub fn push_overhead(&mut self, start_ns: i64, end_ns: i64, name: NameId) {
        if self.is_interval(start_ns, end_ns) {
            self.timeline.overheads.push(Overhead {
                start_ns,
                end_ns,
                name,
            });
        }
    }

    /// Adds a range with a name.
    pub fn push_annotation(
        &mut self,
        start_ns: i64,
        end_ns: i64,
        name: NameId,
        kind: AnnotationKind,
        thread: Option<ThreadId>,
    ) {
        if self.is_interval(start_ns, end_ns) {
            self.timeline.annotations.push(Annotation {
                start_ns,
                end_ns,
                name,
                kind,
                thread,
            });
        }
    }

    /// Whether two times are an interval. Half of the range of numbers is left for differences, and so long an interval is
    /// a fault: a hundred days.
    fn is_interval(&mut self, start_ns: i64, end_ns: i64) -> bool {
        const FARTHEST_NS: i64 = i64::MAX / 4;
        const LONGEST_NS: i64 = 1 << 53;
        let is_interval = -FARTHEST_NS <= start_ns
            && start_ns <= end_ns
            && end_ns <= FARTHEST_NS
            && end_ns - start_ns <= LONGEST_NS;
        self.timeline.completeness.contradictory += u64::from(!is_interval);
        is_interval
    }

    /// How many records there are so far.
    #[must_use]
    pub fn len(&self) -> usize {
        let timeline = &self.timeline;
        timeline.work.len()
            + timeline.calls.len()
            + timeline.synchronisations.len()
            + timeline.overheads.len()
            + timeline.annotations.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sorts the records, counts time from the first of them, and joins work with its calls.
    #[must_use]
    pub fn finish(self) -> Timeline {
        let mut timeline = self.timeline;
        timeline
            .work
            .sort_by_key(|work| (work.start_ns, work.end_ns));
        timeline
            .calls
            .sort_by_key(|call| (call.start_ns, call.end_ns));
        timeline
            .synchronisations
            .sort_by_key(|sync| (sync.start_ns, sync.end_ns));
        timeline.overheads.sort_by_key(|overhead| overhead.start_ns);
        // An outer range comes before the ranges in it.
        timeline
            .annotations
            .sort_by_key(|range| (range.start_ns, std::cmp::Reverse(range.end_ns)));
        set_origin(&mut timeline);
        join(&mut timeline);
        // Devices that a trace lists and never uses stay: they are of the machine. Empty ones without a description go
        // nowhere, since streams refer to devices by place.
        timeline
    }
}

/// Makes the first record begin at 0.
fn set_origin(timeline: &mut Timeline) {
    let firsts = [
        timeline.work.first().map(|work| work.start_ns),
        timeline.calls.first().map(|call| call.start_ns),
        timeline.synchronisations.first().map(|sync| sync.start_ns),
        timeline.overheads.first().map(|overhead| overhead.start_ns),
        timeline.annotations.first().map(|range| range.start_ns),
    ];
    let origin = firsts.into_iter().flatten().min().unwrap_or(0);
    let works = timeline
        .work
        .iter_mut()
        .map(|work| (&mut work.start_ns, &mut work.end_ns));
    let calls = timeline
        .calls
        .iter_mut()
        .map(|call| (&mut call.start_ns, &mut call.end_ns));
    let syncs = timeline
        .synchronisations
        .iter_mut()
        .map(|sync| (&mut sync.start_ns, &mut sync.end_ns));
    let overheads = timeline
        .overheads
        .iter_mut()
        .map(|overhead| (&mut overhead.start_ns, &mut overhead.end_ns));
    let ranges = timeline
        .annotations
        .iter_mut()
        .map(|range| (&mut range.start_ns, &mut range.end_ns));
    for (start, end) in works
        .chain(calls)
        .chain(syncs)
        .chain(overheads)
        .chain(ranges)
    {
        *start -= origin;
        *end -= origin;
    }
    timeline.origin_ns += origin;
    timeline.origin_unix_ns = timeline
        .origin_unix_ns
        .map(|zero| zero + i128::from(origin));
}

/// Joins work with its calls, by correlation and process where the process of the work is known.
fn join(timeline: &mut Timeline) {
    /// The call of a correlation, and whether several processes use the number.
    #[derive(Clone, Copy)]
    struct Candidate {
        call: CallId,
        process: ProcessId,
        is_shared: bool,
    }
    let threads = &timeline.threads;
    let mut of_process: HashMap<(ProcessId, Correlation), CallId> = HashMap::new();
    let mut of_any: HashMap<Correlation, Candidate> = HashMap::with_capacity(timeline.calls.len());
    let is_with_process = timeline
        .streams
        .iter()
        .any(|stream| stream.process.is_some())
        && timeline.processes.len() > 1;
    for (place, call) in timeline.calls.iter().enumerate() {
        let Some(correlation) = call.correlation else {
            continue;
        };
        let Some(thread) = threads.get(call.thread.place()) else {
            continue;
        };
        let call = CallId::of_place(place);
        if is_with_process {
            // The inner call of a pair with one number is the one that launches: it comes later.
            of_process.insert((thread.process, correlation), call);
        }
        of_any
            .entry(correlation)
            .and_modify(|known| {
                known.is_shared |= known.process != thread.process;
                known.call = call;
            })
            .or_insert(Candidate {
                call,
                process: thread.process,
                is_shared: false,
            });
    }
    let (mut unmatched, mut ambiguous) = (0, 0);
    for work in &mut timeline.work {
        let process = timeline
            .streams
            .get(work.stream.place())
            .and_then(|stream| stream.process);
        work.call = work.correlation.and_then(|correlation| match process {
            Some(process) if is_with_process => of_process.get(&(process, correlation)).copied(),
            _ => {
                let candidate = of_any.get(&correlation)?;
                ambiguous += u64::from(candidate.is_shared);
                Some(candidate.call).filter(|_| !candidate.is_shared)
            }
        });
        unmatched += u64::from(work.call.is_none());
    }
    if timeline.completeness.has_calls {
        timeline.completeness.unmatched = unmatched;
        timeline.completeness.ambiguous = ambiguous;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(builder: &mut Builder, process: Option<ProcessId>, start_ns: i64, correlation: u64) {
        let stream = builder.stream(process, 0, None, 7);
        let name = builder.name("k");
        let launch = builder.launch(Launch::default());
        let new = NewWork {
            start_ns,
            end_ns: start_ns + 10,
            stream,
            correlation: Correlation::new(correlation),
            graph: None,
        };
        builder.push_kernel(new, name, launch);
    }

    fn call(builder: &mut Builder, process: ProcessId, start_ns: i64, correlation: u64) {
        let thread = builder.thread(process, 1);
        let name = builder.function("cudaLaunchKernel_v7000");
        builder.push_call(NewCall {
            start_ns,
            end_ns: start_ns + 5,
            name,
            api: Api::Runtime,
            thread,
            correlation: Correlation::new(correlation),
        });
    }

    /// Two processes count their correlations from the same number.
    #[test]
    fn correlation_is_joined_within_a_process() {
        let mut builder = Builder::new(SourceKind::NsysSqlite);
        let (a, b) = (builder.process(1), builder.process(2));
        call(&mut builder, b, 130, 9);
        call(&mut builder, a, 100, 9);
        kernel(&mut builder, Some(b), 180, 9);
        kernel(&mut builder, Some(a), 150, 9);
        kernel(&mut builder, Some(a), 170, 8);
        let timeline = builder.finish();
        let starts: Vec<Option<i64>> = timeline
            .work
            .iter()
            .map(|work| timeline.call_of(work).map(|call| call.start_ns))
            .collect();
        assert_eq!(timeline.origin_ns, 100);
        assert_eq!(starts, [Some(0), None, Some(30)]);
        assert_eq!(
            (
                timeline.completeness.unmatched,
                timeline.completeness.ambiguous
            ),
            (1, 0)
        );
    }

    /// Where work does not tell its process, a number of two processes is of neither.
    #[test]
    fn what_two_could_have_asked_for_is_joined_with_neither() {
        let mut builder = Builder::new(SourceKind::ChromeJson);
        let (a, b) = (builder.process(1), builder.process(2));
        call(&mut builder, a, 0, 9);
        call(&mut builder, b, 0, 9);
        call(&mut builder, b, 0, 10);
        kernel(&mut builder, None, 20, 9);
        kernel(&mut builder, None, 40, 10);
        let timeline = builder.finish();
        assert_eq!(timeline.work[0].call, None);
        assert!(timeline.work[1].call.is_some());
        assert_eq!(
            (
                timeline.completeness.unmatched,
                timeline.completeness.ambiguous
            ),
            (1, 1)
        );
    }

    #[test]
    fn what_ends_before_it_starts_is_left_out() {
        let mut builder = Builder::new(SourceKind::Recording);
        let name = builder.name("n");
        builder.push_overhead(10, 5, name);
        builder.push_overhead(i64::MIN, i64::MAX, name);
        let timeline = builder.finish();
        assert!(timeline.overheads.is_empty());
        assert_eq!(timeline.completeness.contradictory, 2);
    }

    #[test]
    fn a_million_records_fit_in_a_hundred_megabytes() {
        assert!(size_of::<Work>() <= 88, "{}", size_of::<Work>());
        assert!(size_of::<Call>() <= 40, "{}", size_of::<Call>());
    }
}
