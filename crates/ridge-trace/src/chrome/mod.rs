//! Chrome's trace events, as the PyTorch profiler (Kineto) writes them.
//!
//! Events are read one after the other; of each, only what a timeline needs is decoded. What does not depend on the
//! input's size is an open bracket or two, so that memory is that of the timeline: at most three times the input.

mod cursor;
mod event;
mod number;

use std::collections::HashMap;
use std::num::{NonZeroU32, NonZeroU64};

use cursor::{Cursor, Scalar, Stop};
use event::{Args, Event};
use number::{whole, whole_at_end};

use crate::error::{Error, Problem};
use crate::timeline::{
    AnnotationKind, Api, Builder, Copied, CopyKind, Correlation, Graph, Launch, Memory, NewCall,
    NewWork, ProcessId, Rank, SourceKind, SyncKind, ThreadId, Timeline,
};

/// Reads a trace: an object with `traceEvents`, or a bare array of events.
///
/// What could be read of a damaged input is returned, with the reason in
/// [`Completeness::problems`](crate::Completeness::problems).
///
/// # Errors
/// When there are no events to look for.
pub fn read(input: &[u8]) -> Result<Timeline, Error> {
    let mut reader = Reader {
        builder: Builder::new(SourceKind::ChromeJson),
        base_ns: None,
        has_events: false,
        pids: HashMap::new(),
        process_names: Vec::new(),
        thread_names: Vec::new(),
    };
    let mut cursor = Cursor::new(input);
    let place = reader.top(&mut cursor);
    if let Err((stop, field)) = place {
        let problem = match stop {
            Stop::End => Problem {
                code: Problem::TRUNCATED,
                offset: u64::try_from(input.len()).ok(),
                field,
                reason: "the input ends within it".to_owned(),
            },
            Stop::Unexpected(at) => Problem {
                code: Problem::MALFORMED,
                offset: u64::try_from(at).ok(),
                field,
                reason: match input.get(at) {
                    Some(byte) if byte.is_ascii_graphic() => {
                        format!("unexpected `{}`", char::from(*byte))
                    }
                    Some(byte) => format!("unexpected byte {byte:#04x}"),
                    None => "the input ends within it".to_owned(),
                },
            },
            Stop::Depth(at) => Problem {
                code: Problem::MALFORMED,
                offset: u64::try_from(at).ok(),
                field,
                reason: "values are nested more than 128 deep".to_owned(),
            },
        };
        reader.builder.completeness().problem(problem);
    }
    if !reader.has_events {
        return Err(Error::NoEvents);
    }
    Ok(reader.finish())
}

/// Whether an input looks like JSON.
pub(crate) fn is_json(input: &[u8]) -> bool {
    matches!(Cursor::new(input).peek(), Ok(b'{' | b'['))
}

struct Reader {
    builder: Builder,
    base_ns: Option<i128>,
    has_events: bool,
    /// Numbers of processes whose name is no number.
    pids: HashMap<String, u64>,
    process_names: Vec<(u64, String)>,
    thread_names: Vec<(u64, u64, String)>,
}

/// Where the reader stopped, and what it was reading.
type Stopped = (Stop, String);

impl Reader {
    fn top(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Stopped> {
        let at_top = |stop| (stop, "the top level".to_owned());
        if cursor.peek().map_err(at_top)? == b'[' {
            return self.events(cursor);
        }
        cursor.expect(b'{').map_err(at_top)?;
        let mut is_first = true;
        while let Some(key) = cursor.key(&mut is_first).map_err(at_top)? {
            let within = |stop| (stop, format!("{:?}", shortened(&key)));
            match key.as_ref() {
                "traceEvents" if cursor.peek().map_err(within)? == b'[' => self.events(cursor)?,
                "deviceProperties" => self.devices(cursor).map_err(within)?,
                "baseTimeNanoseconds" => {
                    let value = cursor.scalar().map_err(within)?;
                    self.base_ns = value.and_then(|value| value.as_str().parse().ok());
                }
                "distributedInfo" => self.rank(cursor).map_err(within)?,
                _ => cursor.skip().map_err(within)?,
            }
        }
        Ok(())
    }

    fn events(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Stopped> {
        self.has_events = true;
        let mut count = 0_u64;
        let mut is_first = true;
        cursor
            .expect(b'[')
            .map_err(|stop| (stop, "\"traceEvents\"".to_owned()))?;
        loop {
            let within = |stop| (stop, format!("event {count} of \"traceEvents\""));
            if !cursor.element(&mut is_first).map_err(within)? {
                return Ok(());
            }
            if cursor.peek().map_err(within)? == b'{' {
                let event = Event::read(cursor).map_err(within)?;
                self.add(&event);
            } else {
                cursor.skip().map_err(within)?;
                self.builder.completeness().skip("element that is no event");
            }
            count += 1;
        }
    }

    fn rank(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Stop> {
        if !cursor.take(b'{')? {
            return cursor.skip();
        }
        let (mut rank, mut size) = (None, None);
        let mut is_first = true;
        while let Some(key) = cursor.key(&mut is_first)? {
            let value = cursor.scalar()?;
            let whole = || value.as_ref().and_then(|value| whole(value.as_str()));
            match key.as_ref() {
                "rank" => rank = whole(),
                "world_size" => size = whole(),
                _ => {}
            }
        }
        if let Some(number) = rank {
            self.builder.set_rank(Rank {
                number,
                local: None,
                // What is not below the size shows that one of the two is wrong, and the place is what files are told by.
                size: size.filter(|size| number < *size),
                told_by: "distributedInfo".to_owned(),
            });
        }
        Ok(())
    }

    fn devices(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Stop> {
        if !cursor.take(b'[')? {
            return cursor.skip();
        }
        let mut is_first = true;
        while cursor.element(&mut is_first)? {
            if !cursor.take(b'{')? {
                cursor.skip()?;
                continue;
            }
            self.device(cursor)?;
        }
        Ok(())
    }

    fn device(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Stop> {
        let (mut number, mut name) = (None, None);
        let (mut major, mut minor, mut sms, mut memory) = (None, None, None, None);
        let mut is_first = true;
        while let Some(key) = cursor.key(&mut is_first)? {
            let value = cursor.scalar()?;
            let whole = || value.as_ref().and_then(|value| whole(value.as_str()));
            let small = || whole().and_then(|value| u32::try_from(value).ok());
            match key.as_ref() {
                "id" => number = whole(),
                "name" => name = value.as_ref().map(|value| value.as_str().to_owned()),
                "computeMajor" => major = small(),
                "computeMinor" => minor = small(),
                "numSms" => sms = small(),
                "totalGlobalMem" => memory = whole(),
                _ => {}
            }
        }
        if let Some(number) = number {
            let device = self.builder.device(number);
            device.name = name;
            device.compute_capability = major.zip(minor);
            device.multiprocessors = sms;
            device.memory_bytes = memory;
        }
        Ok(())
    }

    fn add(&mut self, event: &Event<'_>) {
        match event.phase.as_deref() {
            Some("X") => {}
            Some("M") => return self.metadata(event),
            // Flows repeat what correlations say; instants and counters are no intervals.
            Some("s" | "t" | "f" | "i" | "I" | "C") => return,
            Some(other) => {
                let kind = format!("phase {other}");
                return self.builder.completeness().skip(&kind);
            }
            None => return self.builder.completeness().skip("event without phase"),
        }
        let category = event.category.as_deref().unwrap_or_default();
        let kind = match category {
            "kernel" | "Kernel" => Category::Kernel,
            "gpu_memcpy" | "Memcpy" => Category::Copy,
            "gpu_memset" | "Memset" => Category::Memset,
            "cuda_runtime" | "Runtime" => Category::Call(Api::Runtime),
            "cuda_driver" => Category::Call(Api::Driver),
            "cuda_sync" => Category::Sync,
            "cpu_op" | "Operator" => Category::Range(AnnotationKind::Operator),
            "user_annotation" => Category::Range(AnnotationKind::User),
            "gpu_user_annotation" => Category::Range(AnnotationKind::Gpu),
            "overhead" => Category::Overhead,
            // What the profiler says of itself, and stacks of Python: of no use for a timeline of the GPU.
            "Trace" | "python_function" | "cuda_profiler_range" => return,
            other => {
                let kind = if other.is_empty() {
                    "no category"
                } else {
                    other
                };
                return self.builder.completeness().skip(kind);
            }
        };
        let times = event.start_ns.and_then(|start| {
            let end = start.checked_add(event.duration_ns?)?;
            Some((start, end))
        });
        let (Some((start_ns, end_ns)), Some(name)) = (times, event.name.as_deref()) else {
            self.builder.completeness().contradictory += 1;
            return;
        };
        let correlation = event.args.correlation.and_then(Correlation::new);
        match kind {
            Category::Kernel | Category::Copy | Category::Memset => {
                self.add_work(event, &kind, name, (start_ns, end_ns), correlation);
            }
            Category::Call(api) => {
                let Some(thread) = self.thread(event) else {
                    self.builder.completeness().contradictory += 1;
                    return;
                };
                let name = self.builder.function(name);
                self.builder.push_call(NewCall {
                    start_ns,
                    end_ns,
                    name,
                    api,
                    thread,
                    correlation,
                });
            }
            Category::Sync => {
                let kind = match event.args.kind.as_deref().unwrap_or(name) {
                    "Stream Sync" => SyncKind::Stream,
                    "Event Sync" => SyncKind::Event,
                    "Context Sync" => SyncKind::Context,
                    "Stream Wait Event" => SyncKind::StreamWait,
                    _ => SyncKind::Other,
                };
                let stream = event.args.device.zip(event.args.stream);
                let stream = stream.map(|(device, stream)| {
                    self.builder
                        .stream(None, device, event.args.context, stream)
                });
                self.builder
                    .push_synchronisation(start_ns, end_ns, kind, stream, correlation);
            }
            Category::Range(kind) => {
                let thread = if kind == AnnotationKind::Gpu {
                    None
                } else {
                    self.thread(event)
                };
                let name = self.builder.name(name);
                self.builder
                    .push_annotation(start_ns, end_ns, name, kind, thread);
            }
            Category::Overhead => {
                let name = self.builder.name(name);
                self.builder.push_overhead(start_ns, end_ns, name);
            }
        }
    }

    fn add_work(
        &mut self,
        event: &Event<'_>,
        kind: &Category,
        name: &str,
        (start_ns, end_ns): (i64, i64),
        correlation: Option<Correlation>,
    ) {
        let args = &event.args;
        // Older files number the device and the stream only by row.
        let device = args.device.or_else(|| whole(event.pid.as_ref()?.as_str()));
        let stream = args
            .stream
            .or_else(|| whole_at_end(event.tid.as_ref()?.as_str()));
        let (Some(device), Some(stream)) = (device, stream) else {
            self.builder.completeness().contradictory += 1;
            return;
        };
        let stream = self.builder.stream(None, device, args.context, stream);
        let new = NewWork {
            start_ns,
            end_ns,
            stream,
            correlation,
            graph: graph(args),
        };
        match kind {
            Category::Copy => self.builder.push_copy(new, copied(name, args)),
            Category::Memset => self.builder.push_memset(new, args.bytes),
            _ => {
                let name = self.builder.name(name);
                let launch = self.builder.launch(Launch {
                    grid: args.grid,
                    block: args.block,
                    cluster: args.cluster,
                    registers: args.registers,
                    shared_bytes: args.shared_bytes,
                    ..Launch::default()
                });
                self.builder.push_kernel(new, name, launch);
            }
        }
    }

    /// The thread of an event of the host.
    fn thread(&mut self, event: &Event<'_>) -> Option<ThreadId> {
        let process = self.process_number(event.pid.as_ref()?.as_str());
        let process: ProcessId = self.builder.process(process);
        let tid = event.tid.as_ref().map_or("0", Scalar::as_str);
        let thread = whole(tid).or_else(|| whole_at_end(tid)).unwrap_or(0);
        Some(self.builder.thread(process, thread))
    }

    /// Names that are no numbers get numbers from the upper end, where no system has processes.
    fn process_number(&mut self, pid: &str) -> u64 {
        if let Some(number) = whole(pid) {
            return number;
        }
        if let Some(known) = self.pids.get(pid) {
            return *known;
        }
        let number = u64::MAX - u64::try_from(self.pids.len()).unwrap_or(0);
        self.pids.insert(pid.to_owned(), number);
        number
    }

    /// Names of processes and threads; those of rows without records are dropped at the end.
    fn metadata(&mut self, event: &Event<'_>) {
        /// More are dropped: a trace may list every thread of a machine.
        const MOST: usize = 100_000;
        let Some(name) = &event.args.name else {
            return;
        };
        let number =
            |value: &Option<Scalar<'_>>| value.as_ref().and_then(|value| whole(value.as_str()));
        let Some(process) = number(&event.pid) else {
            return;
        };
        match event.name.as_deref() {
            Some("process_name") if self.process_names.len() < MOST => {
                self.process_names
                    .push((process, name.clone().into_owned()));
            }
            Some("thread_name") if self.thread_names.len() < MOST => {
                if let Some(thread) = number(&event.tid) {
                    self.thread_names
                        .push((process, thread, name.clone().into_owned()));
                }
            }
            _ => {}
        }
    }

    fn finish(mut self) -> Timeline {
        let is_after_1970 = self.base_ns.unwrap_or(0);
        // Without a base, times of old files count from 1970, and those of other tools from anywhere.
        if self.base_ns.is_some() {
            self.builder.set_unix_ns_of_zero(is_after_1970);
        }
        self.builder
            .name_known(&self.process_names, &self.thread_names);
        self.builder.finish()
    }
}

enum Category {
    Kernel,
    Copy,
    Memset,
    Call(Api),
    Sync,
    Range(AnnotationKind),
    Overhead,
}

fn graph(args: &Args<'_>) -> Option<Graph> {
    let graph = args
        .graph
        .and_then(|graph| u32::try_from(graph).ok())
        .and_then(NonZeroU32::new);
    let node = args.graph_node.and_then(NonZeroU64::new);
    (graph.is_some() || node.is_some()).then_some(Graph { graph, node })
}

/// Direction and kinds of memory, which stand in the name: `Memcpy HtoD (Pageable -> Device)`.
fn copied(name: &str, args: &Args<'_>) -> Copied {
    let kind = args.kind.as_deref();
    let says = |word: &str| name.contains(word) || kind.is_some_and(|kind| kind.contains(word));
    let kind = if says("HtoD") || says("HostToDevice") {
        CopyKind::HostToDevice
    } else if says("DtoH") || says("DeviceToHost") {
        CopyKind::DeviceToHost
    } else if says("DtoD") || says("DeviceToDevice") {
        CopyKind::DeviceToDevice
    } else if says("PtoP") || says("PeerToPeer") {
        CopyKind::PeerToPeer
    } else if says("HtoH") || says("HostToHost") {
        CopyKind::HostToHost
    } else {
        CopyKind::Other
    };
    let sides = name
        .split_once('(')
        .and_then(|(_, sides)| sides.trim_end_matches(')').split_once("->"));
    let memory = |side: &str| match side.trim() {
        "Pageable" => Memory::Pageable,
        "Pinned" => Memory::Pinned,
        "Device" => Memory::Device,
        "Array" => Memory::Array,
        "Managed" => Memory::Managed,
        _ => Memory::Unknown,
    };
    let (from, to) = sides.map_or((Memory::Unknown, Memory::Unknown), |(from, to)| {
        (memory(from), memory(to))
    });
    Copied {
        kind,
        from,
        to,
        bytes: args.bytes,
    }
}

/// The beginning of a key, for a message.
fn shortened(key: &str) -> String {
    key.chars().take(40).collect()
}

#[cfg(test)]
mod tests;
