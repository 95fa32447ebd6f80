//! One process's file: activities become records, names become numbers, and whole chunks are appended.
//!
//! The file is opened anew for each append, since programs close files that they do not know, and a number that is used
//! again would lead into one of theirs.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::activity::{Activity, Pointer, Span, Work};
use crate::format::{self, ChunkKind, Status, fold, number, record, state, text};
use crate::rank::Rank;

/// Longer names are cut.
const MOST_NAME_BYTES: usize = 64 << 10;
/// When names fill so much, they are forgotten and numbered anew: programs can name ranges without end.
const MOST_NAMES_BYTES: usize = 16 << 20;
/// A chunk is written when it has grown to this.
const CHUNK_BYTES: usize = 1 << 20;
/// The longest record: its kind and length, and 23 fields of ten bytes.
const MOST_FIELDS: usize = 24;
/// CUPTI's number for no stream, context or event.
const NONE: u32 = u32::MAX;

/// Where names come from.
pub(crate) trait Source {
    /// The text that lies there.
    fn text(&self, pointer: Pointer) -> Option<&[u8]>;
    /// The name of a function of an interface.
    fn function(&self, interface: u64, function: u32) -> Option<String>;
}

/// What is known of the process when its file begins.
pub(crate) struct Process {
    pub(crate) id: u32,
    pub(crate) parent: u32,
    pub(crate) program: String,
    pub(crate) started_ns: u64,
    pub(crate) rank: Option<Rank>,
}

/// The file of a process.
pub(crate) struct Recorder {
    path: PathBuf,
    /// Where the last whole chunk ends.
    length: u64,
    status_offset: u64,
    status: Status,
    written: Status,
    names: Names,
    batch: Batch,
}

impl Recorder {
    /// Begins a file. There must be none.
    pub(crate) fn create(path: &Path, process: &Process) -> io::Result<Self> {
        let mut bytes = format::header().to_vec();
        let mut payload = Vec::new();
        number(u64::from(process.id), &mut payload);
        number(u64::from(process.parent), &mut payload);
        number(process.started_ns, &mut payload);
        text(&process.program, &mut payload);
        text(env!("CARGO_PKG_VERSION"), &mut payload);
        format::rank(process.rank.as_ref(), &mut payload);
        format::chunk(ChunkKind::Process, &payload, &mut bytes);
        let status_offset = length_of(&bytes);
        let status = Status::default();
        format::chunk(ChunkKind::Status, &status.payload(), &mut bytes);
        let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
        file.write_all(&bytes)?;
        Ok(Self {
            path: path.to_owned(),
            length: length_of(&bytes),
            status_offset,
            written: status,
            status,
            names: Names::default(),
            batch: Batch::default(),
        })
    }

    /// Says which CUPTI and driver the records come from, and what time it is.
    pub(crate) fn clock(&mut self, versions: [u32; 2], cupti_ns: u64, wall_ns: u64) {
        let mut payload = Vec::new();
        for value in versions {
            number(u64::from(value), &mut payload);
        }
        number(cupti_ns, &mut payload);
        number(wall_ns, &mut payload);
        let mut bytes = Vec::new();
        format::chunk(ChunkKind::Clock, &payload, &mut bytes);
        self.append(&bytes, 0);
    }

    /// Says what could not be recorded.
    pub(crate) fn problem(&mut self, code: u64, value: u64, words: &str) {
        let mut payload = Vec::new();
        number(code, &mut payload);
        number(value, &mut payload);
        text(words, &mut payload);
        let mut bytes = Vec::new();
        format::chunk(ChunkKind::Problem, &payload, &mut bytes);
        self.append(&bytes, 0);
    }

    /// Takes an activity.
    pub(crate) fn add(&mut self, activity: &Activity, source: &dyn Source) {
        self.batch.add(activity, &mut self.names, source);
        if self.batch.records.len().max(self.names.new.len()) >= CHUNK_BYTES {
            self.finish();
        }
    }

    /// Counts a record that does not look as it should.
    pub(crate) fn add_damaged(&mut self) {
        self.status.damaged = self.status.damaged.saturating_add(1);
    }

    /// Counts records that CUPTI had no room for.
    pub(crate) fn add_dropped(&mut self, count: u64) {
        self.status.dropped = self.status.dropped.saturating_add(count);
    }

    /// Counts what the recorder needed itself.
    pub(crate) fn add_cost(&mut self, spent_ns: u64, buffers: u64) {
        self.status.spent_ns = self.status.spent_ns.saturating_add(spent_ns);
        self.status.buffers = self.status.buffers.max(buffers);
    }

    /// Writes what has been taken.
    pub(crate) fn finish(&mut self) {
        let mut bytes = Vec::with_capacity(self.batch.records.len().saturating_add(64));
        if self.names.new_count > 0 {
            let mut payload = Vec::with_capacity(self.names.new.len().saturating_add(20));
            number(u64::from(self.names.first_new), &mut payload);
            number(u64::from(self.names.new_count), &mut payload);
            payload.append(&mut self.names.new);
            format::chunk(ChunkKind::Strings, &payload, &mut bytes);
            self.names.begin();
        }
        let count = self.batch.count;
        if count > 0 {
            let mut payload = Vec::with_capacity(self.batch.records.len().saturating_add(10));
            number(count, &mut payload);
            payload.append(&mut self.batch.records);
            format::chunk(ChunkKind::Records, &payload, &mut bytes);
            self.batch = Batch::default();
        }
        if !bytes.is_empty() {
            self.append(&bytes, count);
        }
    }

    /// Writes how the recording stands, where that has changed.
    pub(crate) fn save_status(&mut self) {
        if self.status == self.written {
            return;
        }
        let mut bytes = Vec::new();
        format::chunk(ChunkKind::Status, &self.status.payload(), &mut bytes);
        let written = OpenOptions::new()
            .write(true)
            .open(&self.path)
            .and_then(|mut file| {
                file.seek(SeekFrom::Start(self.status_offset))?;
                file.write_all(&bytes)
            });
        // It is tried again with the next change; nobody can be told.
        if written.is_ok() {
            self.written = self.status;
        }
    }

    /// Ends the file.
    pub(crate) fn end(&mut self) {
        self.finish();
        if self.status.state == state::RUNNING {
            self.status.state = state::ENDED;
        }
        self.save_status();
    }

    fn append(&mut self, bytes: &[u8], records: u64) {
        if self.status.state == state::WRITE_FAILED {
            self.status.lost = self.status.lost.saturating_add(records);
            return;
        }
        let opened = OpenOptions::new().append(true).open(&self.path);
        let written = opened.and_then(|mut file| {
            file.write_all(bytes).inspect_err(|_| {
                // Part of a chunk would only have to be thrown away by whoever reads it.
                let _ = cut(&file, self.length);
            })
        });
        match written {
            Ok(()) => self.length = self.length.saturating_add(length_of(bytes)),
            Err(error) => {
                self.status.state = state::WRITE_FAILED;
                self.status.error = error
                    .raw_os_error()
                    .and_then(|code| u32::try_from(code).ok())
                    .unwrap_or(0);
                self.status.lost = self.status.lost.saturating_add(records);
                self.save_status();
            }
        }
    }
}

fn cut(file: &File, length: u64) -> io::Result<()> {
    file.set_len(length)
}

fn length_of(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

/// Names and their numbers. 0 is no name.
struct Names {
    of_text: HashMap<Arc<[u8]>, u32>,
    /// The same text mostly comes from the same place, which is faster to look up; what lies there can change.
    of_pointer: HashMap<u64, (u32, Arc<[u8]>)>,
    of_function: HashMap<(u64, u32), u32>,
    bytes: usize,
    next: u32,
    first_new: u32,
    new_count: u32,
    new: Vec<u8>,
}

impl Default for Names {
    fn default() -> Self {
        Self {
            of_text: HashMap::new(),
            of_pointer: HashMap::new(),
            of_function: HashMap::new(),
            bytes: 0,
            next: 1,
            first_new: 1,
            new_count: 0,
            new: Vec::new(),
        }
    }
}

impl Names {
    /// The next name is the first of a chunk.
    fn begin(&mut self) {
        self.first_new = self.next;
        self.new_count = 0;
        if self.bytes > MOST_NAMES_BYTES {
            self.of_text.clear();
            self.of_pointer.clear();
            self.of_function.clear();
            self.bytes = 0;
        }
    }

    fn at(&mut self, pointer: Pointer, source: &dyn Source) -> u32 {
        let Some(bytes) = source.text(pointer) else {
            return 0;
        };
        let bytes = bytes.get(..MOST_NAME_BYTES).unwrap_or(bytes);
        if let Some((id, known)) = self.of_pointer.get(&pointer.0)
            && **known == *bytes
        {
            return *id;
        }
        let (id, kept) = self.of_bytes(bytes);
        // The entry itself, and what the table needs for it.
        self.bytes = self.bytes.saturating_add(64);
        self.of_pointer.insert(pointer.0, (id, kept));
        id
    }

    fn function(&mut self, interface: u64, function: u32, source: &dyn Source) -> u32 {
        if let Some(id) = self.of_function.get(&(interface, function)) {
            return *id;
        }
        let Some(name) = source.function(interface, function) else {
            return 0;
        };
        let (id, _) = self.of_bytes(name.as_bytes());
        self.of_function.insert((interface, function), id);
        id
    }

    fn of_bytes(&mut self, bytes: &[u8]) -> (u32, Arc<[u8]>) {
        if let Some((known, id)) = self.of_text.get_key_value(bytes) {
            return (*id, Arc::clone(known));
        }
        let id = self.next;
        self.next = self.next.saturating_add(1);
        self.new_count = self.new_count.saturating_add(1);
        text(&String::from_utf8_lossy(bytes), &mut self.new);
        let kept: Arc<[u8]> = Arc::from(bytes);
        self.bytes = self.bytes.saturating_add(bytes.len()).saturating_add(64);
        self.of_text.insert(Arc::clone(&kept), id);
        (id, kept)
    }
}

/// Records on their way into a chunk.
#[derive(Default)]
struct Batch {
    records: Vec<u8>,
    count: u64,
    time: u64,
    correlation: u32,
}

impl Batch {
    fn add(&mut self, activity: &Activity, names: &mut Names, source: &dyn Source) {
        match *activity {
            Activity::Kernel {
                ref work,
                name,
                registers,
                grid,
                block,
                static_bytes,
                dynamic_bytes,
                local_bytes,
                executed_bytes,
                launch,
                cluster,
            } => {
                let name = names.at(name, source);
                let mut fields = self.work(work);
                fields.add(name);
                fields.add(registers);
                fields.three(grid);
                fields.three(block);
                fields.add(static_bytes);
                fields.add(dynamic_bytes);
                fields.add(local_bytes);
                fields.add(launch);
                fields.add(work.graph);
                fields.add(work.node);
                fields.three(cluster);
                fields.add(executed_bytes);
                self.push(record::KERNEL, &fields);
            }
            Activity::Copy {
                ref work,
                bytes,
                kind,
                source: from,
                destination,
                flags,
                devices,
            } => {
                let mut fields = self.work(work);
                fields.add(bytes);
                fields.add(kind);
                fields.add(from);
                fields.add(destination);
                fields.add(flags);
                fields.add(work.graph);
                fields.add(work.node);
                if let Some([from, to]) = devices {
                    fields.add(u64::from(from).saturating_add(1));
                    fields.add(u64::from(to).saturating_add(1));
                }
                self.push(record::COPY, &fields);
            }
            Activity::Memset {
                ref work,
                bytes,
                value,
                memory,
                flags,
            } => {
                let mut fields = self.work(work);
                fields.add(bytes);
                fields.add(value);
                fields.add(memory);
                fields.add(flags);
                fields.add(work.graph);
                fields.add(work.node);
                self.push(record::MEMSET, &fields);
            }
            Activity::Call {
                span,
                interface,
                function,
                thread,
                correlation,
                result,
            } => {
                let name = names.function(interface, function, source);
                let mut fields = self.span(span);
                fields.add(thread);
                fields.add(self.correlation(correlation));
                fields.add(name);
                fields.add(interface);
                fields.add(result);
                self.push(record::CALL, &fields);
            }
            Activity::Sync {
                span,
                kind,
                context,
                stream,
                event,
                correlation,
            } => {
                let mut fields = self.span(span);
                fields.add(context);
                fields.add(or_none(stream));
                fields.add(self.correlation(correlation));
                fields.add(kind);
                fields.add(or_none(event));
                self.push(record::SYNC, &fields);
            }
            Activity::Overhead { span, kind, thread } => {
                let mut fields = self.span(span);
                fields.add(kind);
                fields.add(thread);
                self.push(record::OVERHEAD, &fields);
            }
            Activity::Marker {
                time,
                flags,
                range,
                thread,
                name,
                domain,
            } => {
                let mut fields = Fields::default();
                fields.add(self.time(time));
                fields.add(flags);
                fields.add(range);
                fields.add(thread);
                fields.add(names.at(name, source));
                fields.add(names.at(domain, source));
                self.push(record::MARKER, &fields);
            }
            Activity::Device {
                device,
                name,
                capability: [major, minor],
                sms,
                memory_bytes,
                l2_bytes,
                clock_khz,
                identity,
            } => {
                let mut fields = Fields::default();
                fields.add(device);
                fields.add(names.at(name, source));
                fields.add(major);
                fields.add(minor);
                fields.add(sms);
                fields.add(memory_bytes);
                fields.add(l2_bytes);
                fields.add(clock_khz);
                fields.add(identity);
                self.push(record::DEVICE, &fields);
            }
            Activity::Context {
                context,
                device,
                default_stream,
            } => {
                let mut fields = Fields::default();
                fields.add(context);
                fields.add(device);
                fields.add(default_stream);
                self.push(record::CONTEXT, &fields);
            }
            Activity::ThreadName { thread, name } => {
                let mut fields = Fields::default();
                fields.add(thread);
                fields.add(names.at(name, source));
                self.push(record::THREAD_NAME, &fields);
            }
        }
    }

    fn time(&mut self, time: u64) -> u64 {
        let difference = time.wrapping_sub(self.time).cast_signed();
        self.time = time;
        fold(difference)
    }

    fn correlation(&mut self, correlation: u32) -> u64 {
        let difference = i64::from(correlation).saturating_sub(i64::from(self.correlation));
        self.correlation = correlation;
        fold(difference)
    }

    fn span(&mut self, span: Span) -> Fields {
        let mut fields = Fields::default();
        if span.is_known() {
            fields.add(self.time(span.start));
            fields.add(span.end.saturating_sub(span.start).saturating_add(1));
        } else {
            fields.add(0_u32);
            fields.add(0_u32);
        }
        fields
    }

    fn work(&mut self, work: &Work) -> Fields {
        let mut fields = self.span(work.span);
        fields.add(work.device);
        fields.add(work.context);
        fields.add(work.stream);
        fields.add(self.correlation(work.correlation));
        fields
    }

    fn push(&mut self, kind: u64, fields: &Fields) {
        number(kind, &mut self.records);
        let fields = fields.trimmed(record::required(kind));
        number(u64::try_from(fields.len()).unwrap_or(0), &mut self.records);
        for field in fields {
            number(*field, &mut self.records);
        }
        self.count = self.count.saturating_add(1);
    }
}

/// One more than the number, or 0 for none.
fn or_none(value: u32) -> u64 {
    if value == NONE {
        0
    } else {
        u64::from(value).saturating_add(1)
    }
}

/// The fields of a record.
#[derive(Default)]
struct Fields {
    values: [u64; MOST_FIELDS],
    count: usize,
}

impl Fields {
    fn add(&mut self, value: impl Into<u64>) {
        if let Some(place) = self.values.get_mut(self.count) {
            *place = value.into();
            self.count = self.count.saturating_add(1);
        }
    }

    fn three(&mut self, values: [u32; 3]) {
        values.into_iter().for_each(|value| self.add(value));
    }

    /// Without the zeros at the end that are not required.
    fn trimmed(&self, required: usize) -> &[u64] {
        let values = self.values.get(..self.count).unwrap_or_default();
        let used = values.iter().rposition(|value| *value != 0);
        let length = used.map_or(0, |last| last.saturating_add(1)).max(required);
        values.get(..length).unwrap_or(values)
    }
}

#[cfg(test)]
#[expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::arithmetic_side_effects,
    reason = "tests"
)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::activity::{Decoded, decode, tests::kernel};

    struct Texts(Vec<&'static [u8]>);

    impl Source for Texts {
        fn text(&self, pointer: Pointer) -> Option<&[u8]> {
            self.0
                .get(usize::try_from(pointer.0).ok()?)
                .copied()
                .filter(|text| !text.is_empty())
        }

        fn function(&self, interface: u64, function: u32) -> Option<String> {
            Some(format!("call{interface}.{function}"))
        }
    }

    fn begun(folder: &Path) -> (PathBuf, Recorder) {
        let path = folder.join("1.part");
        let process = Process {
            id: 1,
            parent: 0,
            program: "app".to_owned(),
            started_ns: 5,
            rank: None,
        };
        let recorder = Recorder::create(&path, &process).unwrap();
        (path, recorder)
    }

    /// A folder of its own, without a dependency.
    fn folder(name: &str) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("ridge-recorder-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir(&folder).unwrap();
        folder
    }

    fn kinds(bytes: &[u8]) -> Vec<u32> {
        let mut found = Vec::new();
        let mut rest = &bytes[format::HEADER_BYTES..];
        while !rest.is_empty() {
            let word = |place: usize| <[u8; 4]>::try_from(&rest[place..place + 4]).unwrap();
            let length = usize::try_from(u32::from_le_bytes(word(4))).unwrap();
            let payload = &rest[format::CHUNK_HEADER_BYTES..format::CHUNK_HEADER_BYTES + length];
            assert_eq!(
                format::checksum(word(0), word(4), payload),
                u32::from_le_bytes(word(8))
            );
            found.push(u32::from_le_bytes(word(0)));
            rest = &rest[format::CHUNK_HEADER_BYTES + length..];
        }
        found
    }

    #[test]
    fn a_file_consists_of_whole_chunks_and_a_status_that_is_written_over() {
        let folder = folder("whole");
        let (path, mut recorder) = begun(&folder);
        let Decoded::Activity(activity) = decode(&kernel()) else {
            panic!("a kernel")
        };
        let mut texts = Texts(vec![b""; 0x1235]);
        texts.0[0x1234] = b"_Z6kernelv";
        recorder.add(&activity, &texts);
        recorder.add(&activity, &texts);
        recorder.finish();
        recorder.add_dropped(7);
        recorder.save_status();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(kinds(&bytes), [2, 3, 5, 6]);
        let found = |bytes: &[u8]| {
            bytes
                .windows(4)
                .position(|window| window == [3, 0, 0, 0])
                .and_then(|at| Status::of_payload(&bytes[at + 12..]))
                .unwrap()
        };
        assert_eq!(
            (found(&bytes).state, found(&bytes).dropped),
            (state::RUNNING, 7)
        );
        recorder.end();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(kinds(&bytes), [2, 3, 5, 6]);
        assert_eq!(found(&bytes).state, state::ENDED);
        // The second kernel is the first, at the same time: names, times and correlations cost a byte each.
        assert!(bytes.len() < 230, "{}", bytes.len());
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_name_that_changes_at_its_place_is_another_name() {
        let mut names = Names::default();
        let before = Texts(vec![b"", b"one"]);
        let after = Texts(vec![b"", b"two"]);
        let one = names.at(Pointer(1), &before);
        assert_eq!(names.at(Pointer(1), &before), one);
        assert_ne!(names.at(Pointer(1), &after), one);
        assert_eq!(names.at(Pointer(0), &before), 0);
        assert_eq!(names.new, b"\x03one\x03two");
    }

    #[test]
    fn names_are_forgotten_before_they_fill_the_memory() {
        struct Endless;
        impl Source for Endless {
            fn text(&self, _: Pointer) -> Option<&[u8]> {
                None
            }
            fn function(&self, _: u64, function: u32) -> Option<String> {
                Some(format!("{function:>65535}"))
            }
        }
        let mut names = Names::default();
        let mut most = 0;
        for function in 0..1024 {
            assert_eq!(names.function(0, function, &Endless), function + 1);
            most = most.max(names.bytes);
            if names.new.len() > CHUNK_BYTES {
                names.new.clear();
                names.begin();
            }
        }
        assert!(most < 20 << 20, "{most}");
    }

    #[test]
    fn what_cannot_be_written_is_counted() {
        let folder = folder("gone");
        let (path, mut recorder) = begun(&folder);
        std::fs::remove_file(&path).unwrap();
        let Decoded::Activity(activity) = decode(&kernel()) else {
            panic!("a kernel")
        };
        recorder.add(&activity, &Texts(Vec::new()));
        recorder.finish();
        recorder.add(&activity, &Texts(Vec::new()));
        recorder.end();
        assert_eq!(recorder.status.state, state::WRITE_FAILED);
        assert_eq!(recorder.status.lost, 2);
        assert_eq!(recorder.status.error, 2, "ENOENT");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    fn works() -> impl Strategy<Value = Work> {
        let span = prop_oneof![
            9 => (1_u64..1 << 61, 0_u64..1 << 40).prop_map(|(start, length)| Span {
                start,
                end: start + length,
            }),
            1 => Just(Span { start: 0, end: 0 }),
        ];
        (
            span,
            0_u32..8,
            any::<u32>(),
            any::<u32>(),
            any::<u32>(),
            any::<u32>(),
            any::<u64>(),
        )
            .prop_map(
                |(span, device, context, stream, correlation, graph, node)| Work {
                    span,
                    device,
                    context,
                    stream,
                    correlation,
                    graph,
                    node,
                },
            )
    }

    fn activities() -> impl Strategy<Value = Activity> {
        prop_oneof![
            (
                works(),
                0_u64..3,
                any::<[u32; 3]>(),
                any::<[u32; 3]>(),
                any::<u32>()
            )
                .prop_map(|(work, name, grid, block, dynamic_bytes)| {
                    Activity::Kernel {
                        work,
                        name: Pointer(name),
                        registers: 32,
                        grid,
                        block,
                        static_bytes: 16,
                        dynamic_bytes,
                        local_bytes: 0,
                        executed_bytes: 0,
                        launch: 0,
                        cluster: [0; 3],
                    }
                }),
            (works(), any::<u64>(), 0_u8..12).prop_map(|(work, bytes, kind)| Activity::Copy {
                work,
                bytes,
                kind,
                source: 1,
                destination: 3,
                flags: 1,
                devices: Some([0, 1]),
            }),
            (works(), any::<u64>()).prop_map(|(work, bytes)| Activity::Memset {
                work,
                bytes,
                value: 0,
                memory: 3,
                flags: 0,
            }),
            (works(), 0_u64..3, any::<u32>()).prop_map(|(work, interface, thread)| {
                Activity::Call {
                    span: work.span,
                    interface,
                    function: 7,
                    thread,
                    correlation: work.correlation,
                    result: 0,
                }
            }),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// What is written is what is read: in order of time, without what has no times.
        #[test]
        fn records_are_read_back(activities in proptest::collection::vec(activities(), 0..60)) {
            let folder = folder("property");
            let (path, mut recorder) = begun(&folder);
            let texts = Texts(vec![b"", b"one", b"two"]);
            for activity in &activities {
                recorder.add(activity, &texts);
            }
            recorder.end();
            let bytes = std::fs::read(&path).unwrap();
            std::fs::remove_dir_all(&folder).unwrap();
            let (timeline, recording) = ridge_trace::native::read_all(&bytes).unwrap();
            prop_assert!(timeline.completeness.problems.is_empty());
            prop_assert_eq!(recording.processes[0].records, length_of_list(&activities));
            let mut expected = Vec::new();
            for activity in &activities {
                let (span, correlation, node) = match activity {
                    Activity::Kernel { work, .. }
                    | Activity::Copy { work, .. }
                    | Activity::Memset { work, .. } => (work.span, work.correlation, Some(work.node)),
                    Activity::Call { span, correlation, .. } => (*span, *correlation, None),
                    _ => continue,
                };
                if span.is_known() {
                    expected.push((span.start, span.end, correlation, node));
                }
            }
            let unix = |time: i64| u64::try_from(time + timeline.origin_ns).unwrap();
            let correlation = |number: Option<ridge_trace::Correlation>| {
                number.map_or(0, |number| u32::try_from(number.get()).unwrap())
            };
            let mut found: Vec<_> = timeline
                .work
                .iter()
                .map(|work| {
                    let node = Some(work.node.map_or(0, std::num::NonZero::get));
                    (unix(work.start_ns), unix(work.end_ns), correlation(work.correlation), node)
                })
                .chain(timeline.calls.iter().map(|call| {
                    (unix(call.start_ns), unix(call.end_ns), correlation(call.correlation), None)
                }))
                .collect();
            expected.sort_unstable();
            found.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }

    fn length_of_list<T>(list: &[T]) -> u64 {
        u64::try_from(list.len()).unwrap()
    }
}
