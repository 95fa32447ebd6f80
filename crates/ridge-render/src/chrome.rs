//! Timelines as Chrome's trace events, which Perfetto and `chrome://tracing` show.
//!
//! Keys are those of the PyTorch profiler, so that whatever reads its traces reads these. Each GPU is a process with a row
//! for each stream; each process of the host has a row for each thread; an arrow leads from each call to the work that it
//! asked for. Viewers cannot show what overlaps in one row, so that it goes to a row beside.

use std::collections::HashMap;
use std::io::{self, BufWriter, Write};

use ridge_trace::{
    Annotation, AnnotationKind, Api, Copied, Launch, Memory, Stream, StreamId, SyncKind, ThreadId,
    Timeline, Work, WorkKind,
};
use serde_json::{Value, json};

/// The process of what belongs to neither a GPU nor a thread.
const OTHER: i64 = -1;
/// Rows of it: waits from here on, and before them what the profiler cost.
const FIRST_WAIT_ROW: u64 = 1000;
/// Rows for what overlaps stand behind all numbers of streams and threads that occur.
const FIRST_EXTRA_ROW: u64 = 1 << 32;

/// Writes a timeline as one JSON document, event by event.
///
/// # Errors
/// When the sink takes no more.
pub fn write(timeline: &Timeline, sink: &mut dyn Write) -> io::Result<()> {
    let mut out = Events {
        sink: BufWriter::with_capacity(1 << 16, sink),
        is_first: true,
    };
    out.begin(timeline)?;
    let mut rows = Rows::new(timeline);
    for (place, device) in timeline.devices.iter().enumerate() {
        let number = signed(device.number);
        let name = device.name.as_deref().unwrap_or("GPU");
        let sort = i64::try_from(place).unwrap_or(0) + 5_000_000;
        out.process(number, &format!("GPU {}: {name}", device.number), sort)?;
    }
    for process in &timeline.processes {
        let name = process.name.as_deref().unwrap_or("process");
        let number = signed(process.number);
        out.process(number, &format!("{name} ({})", process.number), number)?;
    }
    for thread in &timeline.threads {
        let process = timeline.processes.get(thread.process.place());
        let process = process.map_or(OTHER, |process| signed(process.number));
        let name = match &thread.name {
            Some(name) => format!("{name} ({})", thread.number),
            None => format!("thread {}", thread.number),
        };
        out.row(process, thread.number, &name)?;
    }
    if !timeline.synchronisations.is_empty() || !timeline.overheads.is_empty() {
        out.process(OTHER, "Waits and overhead", i64::MAX)?;
    }
    ranges(timeline, &mut rows, &mut out)?;
    for (place, call) in timeline.calls.iter().enumerate() {
        let (process, thread) = rows.of_thread(call.thread);
        let category = match call.api {
            Api::Runtime => "cuda_runtime",
            Api::Driver => "cuda_driver",
        };
        let name = timeline.name(call.name);
        let correlation = call.correlation.map(ridge_trace::Correlation::get);
        out.event(
            category,
            name,
            (process, thread),
            (call.start_ns, call.end_ns),
            &args([("correlation", correlation.map(Value::from))]),
        )?;
        if rows.has_work(place) {
            out.arrow("s", place, (process, thread), call.start_ns)?;
        }
    }
    for work in &timeline.work {
        let (row, new_row) = rows.of_work(timeline, work);
        if let Some(name) = new_row {
            out.row(row.0, row.1, &name)?;
        }
        let (category, name) = described(timeline, work);
        out.event(
            category,
            &name,
            row,
            (work.start_ns, work.end_ns),
            &details(timeline, work),
        )?;
        if let Some(call) = work.call {
            out.arrow("f", call.place(), row, work.start_ns)?;
        }
    }
    let mut lanes = Lanes::default();
    for wait in &timeline.synchronisations {
        let lane = lanes.place(wait.start_ns, wait.end_ns);
        let name = match wait.kind {
            SyncKind::Event => "Event Sync",
            SyncKind::StreamWait => "Stream Wait Event",
            SyncKind::Stream => "Stream Sync",
            SyncKind::Context => "Context Sync",
            SyncKind::Other => "Sync",
        };
        let stream = wait.stream.map(|stream| timeline.stream(stream));
        let device = stream.and_then(|stream| timeline.devices.get(stream.device));
        out.event(
            "cuda_sync",
            name,
            (OTHER, FIRST_WAIT_ROW + lane),
            (wait.start_ns, wait.end_ns),
            &args([
                ("cuda_sync_kind", Some(name.into())),
                ("device", device.map(|device| device.number.into())),
                ("stream", stream.map(|stream| stream.number.into())),
                (
                    "correlation",
                    wait.correlation.map(|correlation| correlation.get().into()),
                ),
            ]),
        )?;
    }
    let mut lanes = Lanes::default();
    for overhead in &timeline.overheads {
        let lane = lanes.place(overhead.start_ns, overhead.end_ns);
        let name = timeline.name(overhead.name);
        out.event(
            "overhead",
            name,
            (OTHER, lane),
            (overhead.start_ns, overhead.end_ns),
            &json!({}),
        )?;
    }
    out.end()
}

/// Ranges in the rows of their threads, as far as they nest there.
fn ranges<W: Write>(timeline: &Timeline, rows: &mut Rows, out: &mut Events<W>) -> io::Result<()> {
    let mut open: HashMap<Option<ThreadId>, Vec<i64>> = HashMap::new();
    let mut beside: HashMap<Option<ThreadId>, Lanes> = HashMap::new();
    for range in &timeline.annotations {
        let Annotation {
            start_ns, end_ns, ..
        } = *range;
        let ends = open.entry(range.thread).or_default();
        while ends.last().is_some_and(|end| *end <= start_ns) {
            ends.pop();
        }
        let row = match range.thread {
            Some(thread) if ends.last().is_none_or(|end| end_ns <= *end) => {
                ends.push(end_ns);
                rows.of_thread(thread)
            }
            thread => {
                let lane = beside.entry(thread).or_default().place(start_ns, end_ns);
                let process = thread.map_or(OTHER, |thread| rows.of_thread(thread).0);
                let (row, is_new) = rows.extra(process, thread, lane);
                if is_new {
                    let name = thread.map_or_else(
                        || "ranges".to_owned(),
                        |thread| format!("ranges of thread {}", rows.of_thread(thread).1),
                    );
                    out.row(process, row, &name)?;
                }
                (process, row)
            }
        };
        let category = match range.kind {
            AnnotationKind::User => "user_annotation",
            AnnotationKind::Operator => "cpu_op",
            AnnotationKind::Gpu => "gpu_user_annotation",
        };
        let name = timeline.name(range.name);
        out.event(category, name, row, (start_ns, end_ns), &json!({}))?;
    }
    Ok(())
}

/// Category and name of work.
fn described<'t>(timeline: &'t Timeline, work: &Work) -> (&'static str, std::borrow::Cow<'t, str>) {
    match &work.kind {
        WorkKind::Kernel { .. } | WorkKind::Graph => ("kernel", timeline.name(work.name).into()),
        WorkKind::Copy(Copied { kind, from, to, .. }) => (
            "gpu_memcpy",
            format!(
                "Memcpy {} ({} -> {})",
                kind.name(),
                memory(*from),
                memory(*to)
            )
            .into(),
        ),
        WorkKind::Memset { .. } => ("gpu_memset", "Memset".into()),
    }
}

fn memory(memory: Memory) -> &'static str {
    match memory {
        Memory::Pageable => "Pageable",
        Memory::Pinned => "Pinned",
        Memory::Device => "Device",
        Memory::Array => "Array",
        Memory::Managed => "Managed",
        Memory::Unknown => "Unknown",
    }
}

fn details(timeline: &Timeline, work: &Work) -> Value {
    let stream = timeline.stream(work.stream);
    let device = timeline.devices.get(stream.device);
    let mut all = vec![
        ("device", device.map(|device| device.number.into())),
        ("context", stream.context.map(Value::from)),
        ("stream", Some(stream.number.into())),
        (
            "correlation",
            work.correlation.map(|correlation| correlation.get().into()),
        ),
        ("graph id", work.graph.map(|graph| graph.get().into())),
        ("graph node id", work.node.map(|node| node.get().into())),
    ];
    match &work.kind {
        WorkKind::Kernel { launch } => {
            let Launch {
                grid,
                block,
                cluster,
                registers,
                shared_bytes,
                ..
            } = timeline.launch(*launch);
            all.extend([
                ("grid", grid.map(Value::from_iter)),
                ("block", block.map(Value::from_iter)),
                ("cluster", cluster.map(Value::from_iter)),
                ("registers per thread", registers.map(Value::from)),
                ("shared memory", shared_bytes.map(Value::from)),
            ]);
        }
        WorkKind::Copy(Copied { bytes, .. }) => {
            all.push(("bytes", bytes.map(Value::from)));
            // As other tools call it, with 1 GB being 10^9 bytes.
            let rate = bytes
                .zip(u64::try_from(work.duration_ns()).ok())
                .filter(|(_, duration)| *duration > 0)
                .map(|(bytes, duration)| float(bytes) / float(duration));
            all.push(("memory bandwidth (GB/s)", rate.map(Value::from)));
        }
        WorkKind::Memset { bytes } => all.push(("bytes", bytes.map(Value::from))),
        WorkKind::Graph => {}
    }
    args(all)
}

/// What is known of a list of arguments.
fn args<'k>(all: impl IntoIterator<Item = (&'k str, Option<Value>)>) -> Value {
    let known = all
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), value?)));
    Value::Object(known.collect())
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a rate for people has a few digits"
)]
fn float(value: u64) -> f64 {
    value as f64
}

/// Numbers of rows are signed in the format; those that do not fit are not of this world.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Rows in which nothing overlaps.
#[derive(Default)]
struct Lanes(Vec<i64>);

impl Lanes {
    /// The first row that is free at a time.
    fn place(&mut self, start_ns: i64, end_ns: i64) -> u64 {
        let lane = match self.0.iter().position(|end| *end <= start_ns) {
            Some(lane) => lane,
            None => {
                self.0.push(i64::MIN);
                self.0.len() - 1
            }
        };
        self.0[lane] = end_ns;
        u64::try_from(lane).unwrap_or(u64::MAX)
    }
}

/// Which row of which process something stands in.
struct Rows {
    threads: Vec<(i64, u64)>,
    lanes: HashMap<StreamId, Lanes>,
    /// Rows of streams: two processes can call two streams of a GPU by one number.
    streams: HashMap<(StreamId, u64), u64>,
    taken: HashMap<(i64, u64), ()>,
    extra: HashMap<(Option<ThreadId>, u64), u64>,
    calls_with_work: Vec<bool>,
}

impl Rows {
    fn new(timeline: &Timeline) -> Self {
        let threads = timeline.threads.iter().map(|thread| {
            let process = timeline.processes.get(thread.process.place());
            let process = process.map_or(OTHER, |process| signed(process.number));
            (process, thread.number)
        });
        let mut calls_with_work = vec![false; timeline.calls.len()];
        for call in timeline.work.iter().filter_map(|work| work.call) {
            if let Some(has_work) = calls_with_work.get_mut(call.place()) {
                *has_work = true;
            }
        }
        Self {
            threads: threads.collect(),
            lanes: HashMap::new(),
            streams: HashMap::new(),
            taken: HashMap::new(),
            extra: HashMap::new(),
            calls_with_work,
        }
    }

    fn has_work(&self, call: usize) -> bool {
        self.calls_with_work.get(call).copied().unwrap_or(false)
    }

    fn of_thread(&self, thread: ThreadId) -> (i64, u64) {
        self.threads
            .get(thread.place())
            .copied()
            .unwrap_or((OTHER, 0))
    }

    /// The row of work, and its name where it is a new one.
    fn of_work(&mut self, timeline: &Timeline, work: &Work) -> ((i64, u64), Option<String>) {
        let stream = timeline.stream(work.stream);
        let device = timeline.devices.get(stream.device);
        let device = device.map_or(OTHER, |device| signed(device.number));
        let lanes = self.lanes.entry(work.stream).or_default();
        let lane = lanes.place(work.start_ns, work.end_ns);
        if let Some(row) = self.streams.get(&(work.stream, lane)) {
            return ((device, *row), None);
        }
        let mut row = if lane == 0 {
            stream.number
        } else {
            FIRST_EXTRA_ROW
        };
        while self.taken.insert((device, row), ()).is_some() {
            row = row.max(FIRST_EXTRA_ROW).wrapping_add(1);
        }
        self.streams.insert((work.stream, lane), row);
        ((device, row), Some(stream_name(timeline, stream, lane)))
    }

    /// A row for ranges that do not nest, and whether it is a new one.
    fn extra(&mut self, process: i64, thread: Option<ThreadId>, lane: u64) -> (u64, bool) {
        if let Some(row) = self.extra.get(&(thread, lane)) {
            return (*row, false);
        }
        let mut row = FIRST_EXTRA_ROW;
        while self.taken.insert((process, row), ()).is_some() {
            row = row.wrapping_add(1);
        }
        self.extra.insert((thread, lane), row);
        (row, true)
    }
}

fn stream_name(timeline: &Timeline, stream: &Stream, lane: u64) -> String {
    let mut name = format!("stream {}", stream.number);
    let several = timeline.processes.len() > 1;
    if let Some(process) = stream
        .process
        .filter(|_| several)
        .and_then(|process| timeline.processes.get(process.place()))
    {
        name.push_str(" of process ");
        name.push_str(&process.number.to_string());
    }
    if lane > 0 {
        name.push_str(", what overlaps");
    }
    name
}

/// Events on their way out, one on each line.
struct Events<W: Write> {
    sink: BufWriter<W>,
    is_first: bool,
}

impl<W: Write> Events<W> {
    fn begin(&mut self, timeline: &Timeline) -> io::Result<()> {
        let devices: Vec<Value> = timeline
            .devices
            .iter()
            .map(|device| {
                args([
                    ("id", Some(device.number.into())),
                    ("name", device.name.clone().map(Value::from)),
                    ("totalGlobalMem", device.memory_bytes.map(Value::from)),
                    (
                        "computeMajor",
                        device.compute_capability.map(|(major, _)| major.into()),
                    ),
                    (
                        "computeMinor",
                        device.compute_capability.map(|(_, minor)| minor.into()),
                    ),
                    ("numSms", device.multiprocessors.map(Value::from)),
                ])
            })
            .collect();
        writeln!(self.sink, "{{\n\"schemaVersion\": 1,")?;
        writeln!(self.sink, "\"deviceProperties\": {},", Value::from(devices))?;
        writeln!(self.sink, "\"displayTimeUnit\": \"ns\",")?;
        if let Some(origin) = timeline.origin_unix_ns {
            writeln!(self.sink, "\"baseTimeNanoseconds\": {origin},")?;
        }
        if let Some(rank) = &timeline.rank {
            let info = args([
                ("rank", Some(rank.number.into())),
                ("world_size", rank.size.map(Value::from)),
            ]);
            writeln!(self.sink, "\"distributedInfo\": {info},")?;
        }
        write!(self.sink, "\"traceEvents\": [")
    }

    fn end(&mut self) -> io::Result<()> {
        writeln!(self.sink, "\n]\n}}")?;
        self.sink.flush()
    }

    fn next(&mut self) -> io::Result<()> {
        self.sink
            .write_all(if self.is_first { b"\n" } else { b",\n" })?;
        self.is_first = false;
        Ok(())
    }

    fn process(&mut self, process: i64, name: &str, sort: i64) -> io::Result<()> {
        self.next()?;
        let args = json!({ "name": name });
        write!(
            self.sink,
            r#"{{"ph":"M","name":"process_name","pid":{process},"tid":0,"ts":0,"args":{args}}}"#
        )?;
        self.next()?;
        write!(
            self.sink,
            r#"{{"ph":"M","name":"process_sort_index","pid":{process},"tid":0,"ts":0,"args":{{"sort_index":{sort}}}}}"#
        )
    }

    fn row(&mut self, process: i64, row: u64, name: &str) -> io::Result<()> {
        self.next()?;
        let args = json!({ "name": name });
        write!(
            self.sink,
            r#"{{"ph":"M","name":"thread_name","pid":{process},"tid":{row},"ts":0,"args":{args}}}"#
        )
    }

    fn event(
        &mut self,
        category: &str,
        name: &str,
        (process, row): (i64, u64),
        (start_ns, end_ns): (i64, i64),
        args: &Value,
    ) -> io::Result<()> {
        self.next()?;
        write!(
            self.sink,
            r#"{{"ph":"X","cat":"{category}","name":{},"pid":{process},"tid":{row},"ts":{},"dur":{},"args":{args}}}"#,
            Value::from(name),
            Microseconds(start_ns),
            Microseconds(end_ns.saturating_sub(start_ns)),
        )
    }

    /// One end of an arrow from a call to its work.
    fn arrow(
        &mut self,
        phase: &str,
        id: usize,
        (process, row): (i64, u64),
        time_ns: i64,
    ) -> io::Result<()> {
        self.next()?;
        let binding = if phase == "f" { r#","bp":"e""# } else { "" };
        write!(
            self.sink,
            r#"{{"ph":"{phase}","cat":"ac2g","name":"ac2g","id":{id},"pid":{process},"tid":{row},"ts":{}{binding}}}"#,
            Microseconds(time_ns),
        )
    }
}

/// Nanoseconds as the format's microseconds, exactly.
struct Microseconds(i64);

impl std::fmt::Display for Microseconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let magnitude = self.0.unsigned_abs();
        let sign = if self.0 < 0 { "-" } else { "" };
        write!(f, "{sign}{}.{:03}", magnitude / 1000, magnitude % 1000)
    }
}

#[cfg(test)]
mod tests {
    use ridge_trace::{Builder, CopyKind, Correlation, Graph, NewCall, NewWork, SourceKind};

    use super::*;

    fn document(timeline: &Timeline) -> Value {
        let mut text = Vec::new();
        write(timeline, &mut text).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    fn events<'d>(document: &'d Value, category: &str) -> Vec<&'d Value> {
        let all = document["traceEvents"].as_array().unwrap();
        all.iter()
            .filter(|event| event["cat"] == category)
            .collect()
    }

    fn sample() -> Timeline {
        let mut builder = Builder::new(SourceKind::Recording);
        builder.set_unix_ns_of_zero(1_700_000_000_000_000_000);
        let process = builder.process(42);
        let thread = builder.thread(process, 43);
        let name = builder.name("cudaGraphLaunch");
        let correlation = Correlation::new(9);
        builder.push_call(NewCall {
            start_ns: 1_000,
            end_ns: 3_500,
            name,
            api: Api::Runtime,
            thread,
            correlation,
        });
        let name = builder.name("evil\u{1b}[31m\"</script>");
        let launch = builder.launch(Launch {
            grid: Some([4, 1, 1]),
            block: Some([256, 1, 1]),
            registers: Some(32),
            ..Launch::default()
        });
        let stream = builder.stream(Some(process), 0, Some(1), 7);
        // Two nodes of a graph at once, and one after them.
        for (start_ns, node) in [(4_000, 1), (4_100, 2), (9_001, 3)] {
            let new = NewWork {
                start_ns,
                end_ns: start_ns + 2_345,
                stream,
                correlation,
                graph: Some(Graph {
                    graph: std::num::NonZeroU32::new(5),
                    node: std::num::NonZeroU64::new(node),
                }),
            };
            builder.push_kernel(new, name, launch);
        }
        let new = NewWork {
            start_ns: 20_000,
            end_ns: 21_000,
            stream,
            correlation: None,
            graph: None,
        };
        let copied = Copied {
            kind: CopyKind::HostToDevice,
            from: Memory::Pinned,
            to: Memory::Device,
            bytes: Some(50_000),
        };
        builder.push_copy(new, copied);
        for (start_ns, end_ns) in [(1_000, 5_000), (2_000, 3_000), (4_500, 9_000)] {
            builder.push_annotation(start_ns, end_ns, name, AnnotationKind::User, Some(thread));
        }
        builder.finish()
    }

    /// What the PyTorch profiler writes where it knows the rank.
    #[test]
    fn the_rank_is_kept() {
        let mut timeline = sample();
        assert_eq!(document(&timeline).get("distributedInfo"), None);
        timeline.rank = Some(ridge_trace::Rank {
            number: 3,
            local: Some(3),
            size: Some(8),
            told_by: "RANK".to_owned(),
        });
        let info = &document(&timeline)["distributedInfo"];
        assert_eq!(*info, json!({"rank": 3, "world_size": 8}));
        let mut text = Vec::new();
        write(&timeline, &mut text).unwrap();
        let rank = ridge_trace::read(&text).unwrap().rank.unwrap();
        assert_eq!((rank.number, rank.size), (3, Some(8)));
    }

    #[test]
    fn times_are_exact_and_arrows_join() {
        let mut text = Vec::new();
        write(&sample(), &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains(r#""ts":3.000,"dur":2.345"#), "{text}");
        assert!(!text.contains('\u{1b}'));
        let document = document(&sample());
        assert_eq!(
            document["baseTimeNanoseconds"],
            1_700_000_000_000_001_000_i64
        );
        let arrows = events(&document, "ac2g");
        let of = |phase| arrows.iter().filter(|arrow| arrow["ph"] == phase).count();
        assert_eq!((of("s"), of("f")), (1, 3));
        let kernels = events(&document, "kernel");
        assert_eq!(kernels[0]["args"]["grid"], json!([4, 1, 1]));
        assert_eq!(kernels[0]["args"]["graph node id"], 1);
        assert!(kernels[0]["args"].get("cluster").is_none());
        let copies = events(&document, "gpu_memcpy");
        assert_eq!(copies[0]["name"], "Memcpy HtoD (Pinned -> Device)");
        assert_eq!(copies[0]["args"]["memory bandwidth (GB/s)"], 50.0);
    }

    /// Slices of one row that overlap without nesting are what viewers drop.
    #[test]
    fn nothing_overlaps_in_a_row() {
        let document = document(&sample());
        let mut rows: HashMap<(i64, u64), Vec<(f64, f64)>> = HashMap::new();
        for event in document["traceEvents"].as_array().unwrap() {
            if event["ph"] == "X" {
                let row = (
                    event["pid"].as_i64().unwrap(),
                    event["tid"].as_u64().unwrap(),
                );
                let start = event["ts"].as_f64().unwrap();
                let end = start + event["dur"].as_f64().unwrap();
                rows.entry(row).or_default().push((start, end));
            }
        }
        assert_eq!(rows.len(), 4, "two rows of the stream, two of the thread");
        for slices in rows.values() {
            for a in slices {
                for b in slices {
                    let is_apart = a.1 <= b.0 + 1e-6 || b.1 <= a.0 + 1e-6;
                    let is_nested = (a.0 <= b.0 && b.1 <= a.1) || (b.0 <= a.0 && a.1 <= b.1);
                    assert!(is_apart || is_nested, "{a:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn an_empty_timeline_is_a_document_too() {
        let document = document(&Builder::new(SourceKind::Recording).finish());
        assert_eq!(document["traceEvents"], json!([]));
    }
}
