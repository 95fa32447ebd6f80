//! Quirks of the format, each on a few events.

use super::*;
use crate::timeline::WorkKind;

fn events(events: &str) -> Timeline {
    read(format!("{{\"traceEvents\": [{events}]}}").as_bytes()).unwrap()
}

const KERNEL: &str = r#"{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 20.5, "dur": 1.25,
    "args": {"correlation": 3, "device": 0, "context": 1, "stream": 7, "grid": [2, 66, 1], "block": [384, 1, 1],
    "registers per thread": 168, "shared memory": 213188, "graph node id": 8}}"#;
const CALL: &str = r#"{"ph": "X", "cat": "cuda_driver", "name": "cuLaunchKernelEx", "pid": 11, "tid": 12, "ts": 10, "dur": 4, "args": {"correlation": 3}}"#;

#[test]
fn a_kernel_finds_its_call() {
    let timeline = events(&[KERNEL, CALL].join(","));
    let work = &timeline.work[0];
    assert_eq!((work.start_ns, work.end_ns), (10_500, 11_750));
    let WorkKind::Kernel { launch } = work.kind else {
        panic!("{work:?}")
    };
    let launch = timeline.launch(launch);
    assert_eq!(launch.grid, Some([2, 66, 1]));
    assert_eq!(launch.shared_bytes, Some(213_188));
    assert_eq!(work.node.map(NonZeroU64::get), Some(8));
    let call = timeline.call_of(work).unwrap();
    assert_eq!((call.start_ns, call.api), (0, Api::Driver));
    assert_eq!(timeline.name(call.name), "cuLaunchKernelEx");
    assert_eq!(timeline.completeness.unmatched, 0);
}

#[test]
fn the_file_can_be_a_bare_array() {
    let timeline = read(format!("\u{feff}\n[{KERNEL}]").as_bytes()).unwrap();
    assert_eq!(timeline.work.len(), 1);
    // There are no calls at all: nothing is said about what does not match.
    assert_eq!(timeline.completeness.unmatched, 0);
}

/// Categories, rows and copies as older profilers wrote them.
#[test]
fn old_spellings_are_known() {
    let timeline = events(
        r#"{"ph":"X","cat":"Kernel","name":"k","pid":"0","tid":"stream 7","ts":1,"dur":1,"args":{"external id":4}},
        {"ph":"X","cat":"Memcpy","name":"Memcpy DtoH (Device -> Pageable)","pid":"0","tid":"stream 7","ts":3,"dur":0,
         "args":{"stream":7,"bytes":4,"memory bandwidth (GB/s)":inf}},
        {"ph":"X","cat":"Runtime","name":"cudaLaunchKernel","pid":"21","tid":"21","ts":0,"dur":1},
        {"ph":"X","cat":"Operator","name":"aten::mm","pid":"21","tid":"21","ts":0,"dur":2}"#,
    );
    assert_eq!(timeline.work.len(), 2);
    let copied = timeline.work[1].copied().unwrap();
    assert_eq!(
        (copied.kind, copied.to),
        (CopyKind::DeviceToHost, Memory::Pageable)
    );
    assert_eq!(copied.bytes, Some(4));
    assert!(copied.is_pageable() && !copied.is_pinned());
    assert_eq!((timeline.calls.len(), timeline.annotations.len()), (1, 1));
    assert_eq!(timeline.streams.len(), 1);
}

#[test]
fn amd_copies_tell_their_direction_and_no_size() {
    let timeline = events(
        r#"{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Host -> Device)","pid":2,"tid":0,"ts":1,"dur":1,"args":{"device":2,"stream":0,"kind":"HtoD"}},
        {"ph":"X","cat":"gpu_memcpy","name":"CopyHostToDevice","pid":2,"tid":0,"ts":1,"dur":1,"args":{"device":2,"stream":0}}"#,
    );
    for work in &timeline.work {
        let copied = work.copied().unwrap();
        assert_eq!(
            (copied.kind, copied.from, copied.bytes),
            (CopyKind::HostToDevice, Memory::Unknown, None)
        );
    }
}

#[test]
fn what_is_not_known_is_counted() {
    let timeline = events(
        r#"{"ph":"X","cat":"mtia_ccp_events","name":"a","pid":1,"tid":1,"ts":1,"dur":1},
        {"ph":"X","cat":"mtia_ccp_events","name":"b","pid":1,"tid":1,"ts":1,"dur":1},
        {"ph":"B","cat":"x","name":"b"}, 7, null,
        {"ph":"X","cat":"kernel","name":"no end","pid":0,"tid":7,"ts":1},
        {"ph":"X","cat":"kernel","name":"nan","pid":0,"tid":7,"ts":nan,"dur":1},
        {"ph":"X","cat":"kernel","name":"back","pid":0,"tid":7,"ts":1,"dur":-1},
        {"ph":"X","cat":"cuda_runtime","name":"nowhere","ts":1,"dur":1},
        {"ph":"X","cat":"kernel","name":"no row","pid":"","tid":"","ts":1,"dur":1},
        {"ph":"s","cat":"ac2g","id":1}, {"ph":"C","name":"counter","ts":1}"#,
    );
    let counts: Vec<(&str, u64)> = timeline
        .completeness
        .skipped
        .iter()
        .map(|skipped| (skipped.kind.as_str(), skipped.count))
        .collect();
    assert_eq!(
        counts,
        [
            ("mtia_ccp_events", 2),
            ("phase B", 1),
            ("element that is no event", 2)
        ]
    );
    assert_eq!(timeline.completeness.contradictory, 5);
    assert!(timeline.work.is_empty());
}

#[test]
fn a_file_without_gpu_events_is_read() {
    let timeline = events(
        r#"{"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":1,"ts":1,"dur":1,"args":{}}"#,
    );
    assert_eq!(timeline.span_ns(), None);
    assert_eq!(timeline.annotations.len(), 1);
    assert!(timeline.completeness.problems.is_empty());
}

#[test]
fn devices_process_and_rank_are_described() {
    let timeline = read(
        br#"{"deviceProperties":[{"id":1,"name":"NVIDIA H200","computeMajor":9,"computeMinor":0,"numSms":132,"totalGlobalMem":150109880320}, 3],
        "distributedInfo":{"backend":"nccl","rank":5,"world_size":8,"pg_count":1,"pg_config":[{"pg_name":"0","ranks":[0,1]}]}, "baseTimeNanoseconds": 1790857026000000000, "traceEvents":[
        {"ph":"X","cat":"cuda_runtime","name":"cudaMalloc","pid":9,"tid":10,"ts":1.5,"dur":1},
        {"ph":"M","name":"process_name","pid":9,"tid":0,"args":{"name":"python3"}},
        {"ph":"M","name":"thread_name","pid":9,"tid":10,"args":{"name":"main"}},
        {"ph":"M","name":"process_name","pid":77,"tid":0,"args":{"name":"GPU 77"}}]}"#,
    )
    .unwrap();
    let device = &timeline.devices[0];
    assert_eq!(
        (device.number, device.name.as_deref()),
        (1, Some("NVIDIA H200"))
    );
    assert_eq!(
        (device.compute_capability, device.multiprocessors),
        (Some((9, 0)), Some(132))
    );
    let rank = timeline.rank.unwrap();
    assert_eq!((rank.number, rank.size), (5, Some(8)));
    assert_eq!(rank.told_by, "distributedInfo");
    assert_eq!(timeline.origin_unix_ns, Some(1_790_857_026_000_001_500));
    assert_eq!(timeline.processes.len(), 1);
    assert_eq!(timeline.processes[0].name.as_deref(), Some("python3"));
    assert_eq!(timeline.threads[0].name.as_deref(), Some("main"));
}

#[test]
fn what_is_no_trace_is_an_error() {
    for input in [
        "",
        "7",
        "{}",
        "{\"a\": [1]}",
        "{\"traceEvents\": 3}",
        "{\"traceEvents\"",
        "hello",
    ] {
        assert_eq!(
            read(input.as_bytes()).unwrap_err(),
            Error::NoEvents,
            "{input}"
        );
    }
}

/// Wherever the file is cut, the events before the cut are there, and the cut is said.
#[test]
fn every_beginning_of_a_file_is_read() {
    let whole =
        format!("{{\"schemaVersion\": 1, \"traceEvents\": [{CALL},\n{KERNEL}], \"end\": [1]}}");
    let begin = whole.find('[').unwrap() + 1;
    for length in begin..whole.len() {
        let timeline = read(&whole.as_bytes()[..length]).unwrap();
        let complete = usize::from(length >= whole.find(CALL).unwrap() + CALL.len());
        assert_eq!(timeline.calls.len(), complete, "{length}");
        assert_eq!(timeline.completeness.problems.len(), 1, "{length}");
        assert_eq!(
            timeline.completeness.problems[0].code,
            Problem::TRUNCATED,
            "{length}"
        );
    }
    assert!(
        read(whole.as_bytes())
            .unwrap()
            .completeness
            .problems
            .is_empty()
    );
}

#[test]
fn damage_names_its_place() {
    let timeline = read(br#"{"traceEvents":[{"ph":"X"},{"ph" "X"}]}"#).unwrap();
    let problem = &timeline.completeness.problems[0];
    assert_eq!(
        problem.to_string(),
        "event 1 of \"traceEvents\": unexpected `\"` at byte 33"
    );
}
