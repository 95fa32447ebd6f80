use ridge_injection::format::{self, ChunkKind, Status, fold, number, record, text};

use super::*;
use crate::timeline::WorkKind;

/// A file, chunk by chunk.
struct Writer(Vec<u8>);

impl Writer {
    fn new() -> Self {
        Self(format::header().to_vec())
    }

    fn chunk(mut self, kind: ChunkKind, payload: &[u8]) -> Self {
        format::chunk(kind, payload, &mut self.0);
        self
    }

    fn process(self, id: u64) -> Self {
        let mut payload = Vec::new();
        for value in [id, 1, 5] {
            number(value, &mut payload);
        }
        text("app", &mut payload);
        text("0.1.0", &mut payload);
        self.chunk(ChunkKind::Process, &payload)
    }

    fn status(self, status: Status) -> Self {
        self.chunk(ChunkKind::Status, &status.payload())
    }

    fn clock(self, cupti_ns: u64, unix_ns: u64) -> Self {
        let mut payload = Vec::new();
        for value in [130_001, 13_000, cupti_ns, unix_ns] {
            number(value, &mut payload);
        }
        self.chunk(ChunkKind::Clock, &payload)
    }

    fn names(self, first: u64, names: &[&str]) -> Self {
        let mut payload = Vec::new();
        number(first, &mut payload);
        number(u64::try_from(names.len()).unwrap(), &mut payload);
        names.iter().for_each(|name| text(name, &mut payload));
        self.chunk(ChunkKind::Strings, &payload)
    }

    fn records(self, records: &[(u64, &[u64])]) -> Self {
        let mut payload = Vec::new();
        number(u64::try_from(records.len()).unwrap(), &mut payload);
        for (kind, fields) in records {
            number(*kind, &mut payload);
            number(u64::try_from(fields.len()).unwrap(), &mut payload);
            fields.iter().for_each(|field| number(*field, &mut payload));
        }
        self.chunk(ChunkKind::Records, &payload)
    }
}

/// A kernel of 100 ns on stream 7 of device 0, with name 1.
fn kernel(start: u64, correlation: u64) -> [u64; 16] {
    let (start, correlation) = (fold(start.cast_signed()), fold(correlation.cast_signed()));
    [
        start,
        101,
        0,
        1,
        7,
        correlation,
        1,
        32,
        4,
        1,
        1,
        128,
        1,
        1,
        0,
        0,
    ]
}

fn call(start: u64, correlation: u64) -> [u64; 6] {
    let (start, correlation) = (fold(start.cast_signed()), fold(correlation.cast_signed()));
    [start, 51, 9, correlation, 2, 0]
}

fn sample() -> Vec<u8> {
    Writer::new()
        .process(42)
        .status(Status {
            state: state::ENDED,
            dropped: 3,
            ..Status::default()
        })
        .clock(1_000, 1_001_000)
        .names(1, &["scale(float*)", "cudaLaunchKernel"])
        .records(&[
            (record::CALL, &call(2_000, 1)),
            (record::KERNEL, &kernel(500, 0)),
        ])
        .records(&[(record::KERNEL, &kernel(9_000, 1))])
        .0
}

#[test]
fn records_are_placed_on_the_clock_of_the_world() {
    let (timeline, recording) = read_all(&sample()).unwrap();
    let starts: Vec<i64> = timeline.work.iter().map(|work| work.start_ns).collect();
    assert_eq!(timeline.origin_unix_ns, Some(1_002_000));
    assert_eq!(starts, [500, 7_000]);
    assert_eq!(timeline.work[0].duration_ns(), 100);
    assert_eq!(timeline.calls[0].duration_ns(), 50);
    assert!(timeline.work.iter().all(|work| work.call.is_some()));
    assert_eq!(timeline.name(timeline.work[0].name), "scale(float*)");
    assert_eq!(timeline.completeness.dropped, Some(3));
    assert_eq!(timeline.completeness.unended, 0);
    assert_eq!(recording.processes[0].records, 3);
    assert_eq!(recording.processes[0].driver_version, Some(13_000));
}

/// What has been written stays readable wherever the file is cut.
#[test]
fn a_file_can_be_cut_at_every_byte() {
    let whole = sample();
    let mut most = 0;
    for end in 0..whole.len() {
        let Ok((timeline, _)) = read_all(&whole[..end]) else {
            assert!(end < 8, "{end}");
            continue;
        };
        let found = timeline.work.len() + timeline.calls.len();
        assert!(found >= most, "{end}");
        most = found;
        // A cut between chunks looks like a process that still runs, anything else is said.
        assert!(
            timeline.completeness.problems.len() <= 1,
            "{:?}",
            timeline.completeness.problems
        );
    }
    assert_eq!(most, 2, "the last chunk holds one more");
}

/// A byte that flips is noticed, and costs no more than its chunk.
#[test]
fn a_flipped_byte_costs_one_chunk() {
    let whole = sample();
    for at in format::HEADER_BYTES..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        let (timeline, _) = read_all(&damaged).unwrap();
        assert!(!timeline.completeness.problems.is_empty(), "{at}");
    }
    let last = whole.len() - 1;
    let mut damaged = whole;
    damaged[last] ^= 1;
    let (timeline, _) = read_all(&damaged).unwrap();
    assert_eq!((timeline.work.len(), timeline.calls.len()), (1, 1));
    assert!(
        timeline.completeness.problems[0]
            .to_string()
            .contains("checksum")
    );
}

#[test]
fn versions_of_the_future_are_passed_over_or_refused() {
    let mut next = sample();
    next[8] = 2;
    let error = read(&next).unwrap_err();
    assert_eq!(error.code(), "TRC0005");
    let mut minor = sample();
    minor[10] = 9;
    assert_eq!(read(&minor).unwrap().work.len(), 2);

    let mut longer = kernel(0, 1).to_vec();
    longer.extend([0; 8]);
    longer.extend([77; 20]);
    let mut file = Writer::new()
        .process(1)
        .records(&[(99, &[1, 2, 3]), (record::KERNEL, &longer)]);
    let mut unknown = Vec::new();
    format::chunk(ChunkKind::Clock, &[], &mut unknown);
    // A kind that there is none of, with its checksum.
    let (kind, length) = ([200, 0, 0, 0], [0; 4]);
    unknown[..4].copy_from_slice(&kind);
    unknown[8..12].copy_from_slice(&format::checksum(kind, length, &[]).to_le_bytes());
    file.0.extend(unknown);
    let timeline = read(&file.0).unwrap();
    assert_eq!(timeline.work.len(), 1);
    let skipped: Vec<&str> = timeline
        .completeness
        .skipped
        .iter()
        .map(|skipped| skipped.kind.as_str())
        .collect();
    assert_eq!(
        skipped,
        ["record of a later version", "chunk of a later version"]
    );
    assert!(timeline.completeness.problems.is_empty());
}

#[test]
fn what_contradicts_itself_is_left_out_and_said() {
    let endless = [fold(i64::MAX), u64::MAX, 9, 0, 0, 0];
    let huge_grid = {
        let mut fields = kernel(0, 1);
        fields[8] = u64::MAX;
        fields
    };
    let unknown_times = {
        let mut fields = kernel(0, 1);
        fields[1] = 0;
        fields
    };
    let file = Writer::new()
        .process(1)
        .records(&[
            (record::CALL, &endless),
            (record::KERNEL, &huge_grid),
            (record::KERNEL, &unknown_times),
            (record::MARKER, &[0, 4, 5, 0, 0, 0]),
        ])
        // Differences begin anew in each chunk.
        .records(&[(record::KERNEL, &kernel(0, 1))])
        .records(&[(record::KERNEL, &[1, 2, 3])])
        .chunk(ChunkKind::Records, &[0xff; 12])
        .chunk(ChunkKind::Strings, &[1, 0xff, 0xff, 0xff, 0xff, 0x0f]);
    let timeline = read(&file.0).unwrap();
    assert_eq!(timeline.work.len(), 1);
    assert_eq!(
        timeline.name(timeline.work[0].name),
        "kernel without a name"
    );
    assert_eq!(timeline.completeness.contradictory, 3);
    assert_eq!(
        timeline.completeness.skipped[0].kind,
        "kernels without times"
    );
    assert_eq!(timeline.completeness.problems.len(), 3);
    // Records before any process belong to nobody.
    let orphans = Writer::new().records(&[(record::KERNEL, &kernel(0, 1))]);
    let timeline = read(&orphans.0).unwrap();
    assert!(timeline.work.is_empty());
    assert_eq!(timeline.completeness.problems.len(), 1);
}

/// Each process counts the GPUs that it sees, from 0.
#[test]
fn one_number_can_be_two_gpus_and_two_numbers_one() {
    let device =
        |local: u64, identity: u64| [local, 0, 9, 0, 132, 1 << 37, 1 << 25, 1_980_000, identity];
    let on = |device: u64| {
        let mut fields = kernel(0, 1);
        fields[2] = device;
        fields
    };
    let file = Writer::new()
        .process(1)
        .records(&[(record::DEVICE, &device(0, 111)), (record::KERNEL, &on(0))])
        .process(2)
        .records(&[(record::DEVICE, &device(0, 222)), (record::KERNEL, &on(0))])
        .process(3)
        .records(&[(record::DEVICE, &device(1, 111)), (record::KERNEL, &on(1))]);
    let timeline = read(&file.0).unwrap();
    let devices: Vec<u64> = timeline
        .work
        .iter()
        .map(|work| timeline.devices[timeline.device_of(work)].number)
        .collect();
    assert_eq!(devices, [0, 1, 0]);
    assert_eq!(timeline.devices[0].multiprocessors, Some(132));
}

#[test]
fn ranges_without_an_end_reach_to_the_end() {
    let start = |time: i64, range: u64| [fold(time), 2, range, 9, 1, 0];
    let end = |time: i64, range: u64| [fold(time), 4, range, 9, 0, 0];
    let mark = |time: i64| [fold(time), 1, 0, 9, 1, 0];
    let file = Writer::new()
        .process(1)
        .clock(1, 1)
        .names(1, &["step"])
        .records(&[
            (record::MARKER, &start(1_000, 1)),
            (record::MARKER, &start(10, 2)),
            (record::MARKER, &end(20, 2)),
            (record::MARKER, &mark(5)),
            (record::KERNEL, &kernel(965, 1)),
        ]);
    let timeline = read(&file.0).unwrap();
    let ranges: Vec<(i64, i64)> = timeline
        .annotations
        .iter()
        .map(|range| (range.start_ns, range.end_ns))
        .collect();
    assert_eq!(ranges, [(0, 1_100), (10, 30), (35, 35)]);
    assert_eq!(timeline.completeness.unended, 1);
}

#[test]
fn names_can_be_replaced_and_places_left_out() {
    let file = Writer::new().names(7, &["_Z1kv", "cudaMalloc"]);
    let chunk = Chunks::new(&file.0).unwrap().next().unwrap();
    let renamed = with_names(&chunk, |name| {
        name.starts_with("_Z").then(|| "k()".to_owned())
    });
    let expected = Writer::new().names(7, &["k()", "cudaMalloc"]);
    assert_eq!(renamed.unwrap(), expected.0[format::HEADER_BYTES..]);
    assert!(without_places(&chunk).is_none());

    let mut payload = Vec::new();
    number(problem::NO_CUPTI, &mut payload);
    number(0, &mut payload);
    text("/home/me/libcupti.so\n", &mut payload);
    let file = Writer::new().chunk(ChunkKind::Problem, &payload);
    let chunk = Chunks::new(&file.0).unwrap().next().unwrap();
    let other = without_places(&chunk).unwrap();
    assert!(!String::from_utf8_lossy(&other).contains("home"));
    assert!(with_names(&chunk, |_| None).is_none());
}

#[test]
fn a_run_has_one_form() {
    let run = Run {
        tool_version: "0.1.0".to_owned(),
        started_unix_ns: 1_700_000_000_000_000_000,
        outcome: Outcome::Signalled(9),
    };
    let mut file = format::header().to_vec();
    file.extend(run.chunk());
    let (timeline, recording) = read_all(&file).unwrap();
    assert_eq!(recording.run, Some(run));
    assert_eq!(timeline.tool_version.as_deref(), Some("0.1.0"));
}

#[test]
fn other_inputs_are_refused() {
    for input in [&b""[..], b"RIDGE", b"SQLite format 3\0", b"\x7fELF"] {
        assert_eq!(read(input).unwrap_err().code(), "TRC0001");
    }
    // A header that is cut off says so.
    let timeline = read(b"RIDGETRC").unwrap();
    assert_eq!(timeline.completeness.problems.len(), 1);
    assert!(!matches!(
        read(&sample()).unwrap().work[0].kind,
        WorkKind::Graph
    ));
}

/// The end of a process since minor version 1: rank, local rank and size, each with one added, and what told the rank.
fn process_with(id: u64, ranks: &[u64], told_by: Option<&str>) -> Vec<u8> {
    let mut payload = Vec::new();
    for value in [id, 1, 5] {
        number(value, &mut payload);
    }
    text("app", &mut payload);
    text("0.1.0", &mut payload);
    for value in ranks {
        number(*value, &mut payload);
    }
    if let Some(told_by) = told_by {
        text(told_by, &mut payload);
    }
    payload
}

#[test]
fn ranks_of_processes() {
    let read_one = |payload: &[u8]| {
        let file = Writer::new().chunk(ChunkKind::Process, payload).0;
        let (timeline, recording) = read_all(&file).unwrap();
        assert!(timeline.completeness.problems.is_empty());
        (timeline.rank, recording.processes[0].rank.clone())
    };
    let rank = Rank {
        number: 3,
        local: Some(0),
        size: Some(8),
        told_by: "RANK".to_owned(),
    };
    let payload = process_with(9, &[4, 1, 9], Some("RANK"));
    assert_eq!(read_one(&payload), (Some(rank.clone()), Some(rank.clone())));
    // What the recorder writes is what is read.
    let mut written = process_with(9, &[], None);
    format::rank(Some(&rank), &mut written);
    assert_eq!(written, payload);
    let mut written = process_with(9, &[], None);
    format::rank(None, &mut written);
    assert_eq!(read_one(&written), (None, None));
    // Files of minor version 0 end before, and a part of a rank is none.
    assert_eq!(read_one(&process_with(9, &[], None)), (None, None));
    assert_eq!(read_one(&process_with(9, &[4, 1], None)), (None, None));
}

/// A trace has a rank where its processes agree, such as a rank and its children; a launcher without one does not matter.
#[test]
fn the_rank_of_a_recording() {
    let rank_of = |processes: &[&[u64]]| {
        let mut writer = Writer::new();
        for (id, ranks) in (1..).zip(processes) {
            writer = writer.chunk(ChunkKind::Process, &process_with(id, ranks, Some("RANK")));
        }
        read(&writer.0).unwrap().rank.map(|rank| rank.number)
    };
    assert_eq!(rank_of(&[&[0, 0, 0], &[4, 1, 9], &[4, 1, 9]]), Some(3));
    assert_eq!(rank_of(&[&[4, 1, 9], &[5, 2, 9]]), None);
    assert_eq!(rank_of(&[]), None);
}
