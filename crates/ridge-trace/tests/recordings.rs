//! Runs the fuzz target of recordings over `fuzz/regressions/recording/`: inputs that once made it fail, and hand-made
//! hostile ones; and over damaged copies of the recording that is a fixture.

#[path = "../../../fuzz/src/recordings.rs"]
pub mod recordings;

use std::fs;
use std::path::Path;

use ridge_trace::{CopyKind, Memory, Work, WorkKind, native};

fn root() -> &'static Path {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest
        .ancestors()
        .nth(2)
        .expect("two levels below the root")
}

#[test]
fn past_inputs_do_no_harm() {
    let folder = root().join("fuzz/regressions/recording");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        recordings::recording(&fs::read(entry.unwrap().path()).unwrap());
        count += 1;
    }
    assert!(count >= 5, "{count} inputs");
}

fn fixture() -> Vec<u8> {
    fs::read(root().join("fixtures/traces/streams_graph_copies.ridgetrace")).unwrap()
}

/// The program beside the recording tells what has to be in it.
#[test]
fn a_recording_of_an_h200_says_what_its_program_did() {
    let (timeline, recording) = native::read_all(&fixture()).unwrap();
    assert_eq!(recording.processes.len(), 2);
    assert!(
        recording
            .processes
            .iter()
            .all(|process| process.has_ended())
    );
    assert_eq!(recording.processes[1].parent, recording.processes[0].id);
    assert_eq!(timeline.completeness.unmatched, 0);
    assert_eq!(timeline.completeness.dropped, Some(0));
    assert!(timeline.completeness.problems.is_empty());

    let kernels = |name: &str| -> Vec<&Work> {
        let of = |work: &&Work| work.is_kernel() && timeline.name(work.name).starts_with(name);
        timeline.work.iter().filter(of).collect()
    };
    // Five rounds on three streams; a graph of ten kernels launched four times, and one kernel of the child.
    let spins = kernels("spin");
    assert_eq!((spins.len(), kernels("scale").len()), (15, 41));
    let mut streams: Vec<u64> = spins
        .iter()
        .map(|work| timeline.stream(work.stream).number)
        .collect();
    streams.sort_unstable();
    streams.dedup();
    assert_eq!(streams.len(), 3);
    let in_graph: Vec<&Work> = timeline
        .work
        .iter()
        .filter(|work| work.node.is_some())
        .collect();
    assert_eq!(in_graph.len(), 44, "ten kernels and a copy, four times");
    // 200,000 cycles at about 1.98 GHz.
    assert!(
        spins
            .iter()
            .all(|work| (95_000..115_000).contains(&work.duration_ns()))
    );

    let copies = |kind: CopyKind, from: Memory, to: Memory| {
        let is = |work: &&Work| {
            work.copied().is_some_and(|copy| {
                (copy.kind, copy.from, copy.to, copy.bytes) == (kind, from, to, Some(16 << 20))
            })
        };
        timeline.work.iter().filter(is).count()
    };
    use CopyKind::{DeviceToDevice, DeviceToHost, HostToDevice};
    use Memory::{Device, Pageable, Pinned};
    assert_eq!(copies(HostToDevice, Pageable, Device), 1);
    assert_eq!(copies(DeviceToHost, Device, Pageable), 1);
    assert_eq!(copies(HostToDevice, Pinned, Device), 1);
    assert_eq!(copies(DeviceToHost, Device, Pinned), 1);
    assert_eq!(copies(DeviceToDevice, Device, Device), 5);
    let memsets = timeline.work.iter().filter(|work| work.is_memset()).count();
    assert_eq!(memsets, 1);

    let ranges: Vec<&str> = timeline
        .annotations
        .iter()
        .map(|range| timeline.name(range.name))
        .collect();
    assert_eq!(ranges, ["everything", "copies", "streams", "graph", "mark"]);
    assert_eq!(timeline.devices[0].name.as_deref(), Some("NVIDIA H200"));
    assert_eq!(timeline.devices[0].multiprocessors, Some(132));
    let is_launch = |work: &&Work| matches!(work.kind, WorkKind::Kernel { .. });
    let registers = timeline
        .work
        .iter()
        .filter(is_launch)
        .all(|work| match work.kind {
            WorkKind::Kernel { launch } => timeline.launch(launch).registers.is_some_and(|n| n > 0),
            _ => true,
        });
    assert!(registers);
}

#[test]
fn damaged_copies_of_a_recording_do_no_harm() {
    let whole = fixture();
    for at in (0..whole.len()).step_by(7) {
        recordings::recording(&whole[..at]);
        let mut damaged = whole.clone();
        damaged[at] ^= 0x55;
        recordings::recording(&damaged);
    }
}
