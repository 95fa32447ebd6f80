//! `ridge trace`, with a program and a CUPTI in C: what the recorder does inside a program is the same as on a GPU, from
//! being loaded to its last buffer.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use ridge_trace::native::{self, Outcome, Recording};
use ridge_trace::{CopyKind, Memory, Timeline, WorkKind};

use crate::driver::{AOS, Folder, Ridge, Run, ridge, snapshot, without_durations};

/// The program and the library, compiled once. Contributors need a C compiler anyway.
pub(crate) struct Built {
    _folder: Folder,
    pub(crate) app: PathBuf,
    pub(crate) cupti: PathBuf,
}

pub(crate) static BUILT: LazyLock<Built> = LazyLock::new(|| {
    let folder = Folder::new();
    let compile = |name: &str, source: &str, options: &[&str]| {
        let path = folder.path().join(format!("{name}.c"));
        fs::write(&path, source).unwrap();
        let target = folder.path().join(name);
        let status = Command::new("cc")
            .args(["-O1", "-Wall", "-Wextra", "-Werror", "-o"])
            .args([&target, &path])
            .args(options)
            .status()
            .expect("a C compiler, which CONTRIBUTING.md asks for");
        assert!(status.success(), "{name}");
        target
    };
    let app = compile("app", include_str!("trace/app.c"), &["-ldl"]);
    let cupti = compile(
        "libcupti.so",
        include_str!("trace/cupti.c"),
        &["-shared", "-fPIC", "-lpthread"],
    );
    Built {
        app,
        cupti,
        _folder: folder,
    }
});

/// `ridge trace` of the program, in a folder.
fn trace(folder: &Folder, options: &[&str], program: &[&str]) -> Ridge {
    let app = BUILT.app.to_str().unwrap();
    let words = [&["trace"], options, &["--", app], program].concat();
    ridge(words)
        .within(folder)
        .env("PATH", "/usr/bin:/bin")
        .env("RIDGE_CUPTI", BUILT.cupti.to_str().unwrap())
}

fn read(folder: &Folder, name: &str) -> (Timeline, Recording) {
    let bytes = fs::read(folder.path().join(name)).unwrap();
    native::read_all(&bytes).unwrap()
}

fn kernels(timeline: &Timeline) -> usize {
    timeline
        .work
        .iter()
        .filter(|work| matches!(work.kind, WorkKind::Kernel { .. }))
        .count()
}

/// Nothing but the answer is left behind.
fn names(folder: &Folder) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Numbers of processes, times and places differ from run to run.
fn stable(run: &Run, folder: &Folder) -> String {
    let text = run
        .transcript()
        .replace(BUILT.app.to_str().unwrap(), "/build/app")
        .replace(folder.path().to_str().unwrap(), "FOLDER");
    let mut parts = text.split("process ");
    let mut hidden = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit());
        hidden.push_str("process ");
        hidden.push_str(if rest.len() < part.len() { "PID" } else { "" });
        hidden.push_str(rest);
    }
    without_durations(&hidden)
}

/// What launchers say in the environment is in the recording, as far as it is about the rank.
#[test]
fn the_rank_of_a_process_is_recorded() {
    let folder = Folder::new();
    let output = ["-o", "r%q{SLURM_PROCID}.ridgetrace"];
    trace(&folder, &output, &["begin", "launch", "3"])
        .env("SLURM_PROCID", "5")
        .env("SLURM_LOCALID", "1")
        .env("SLURM_NTASKS", "8")
        .run()
        .code(0);
    assert_eq!(names(&folder), ["r5.ridgetrace"]);
    let (timeline, recording) = read(&folder, "r5.ridgetrace");
    let rank = recording.processes[0].rank.clone().unwrap();
    assert_eq!((rank.number, rank.local, rank.size), (5, Some(1), Some(8)));
    assert_eq!(rank.told_by, "SLURM_PROCID");
    assert_eq!(timeline.rank, Some(rank));
    let page = ridge(["timeline", "r5.ridgetrace"])
        .within(&folder)
        .run()
        .fine()
        .stdout;
    assert!(page.contains("rank 5 of 8 (from SLURM_PROCID)"), "{page}");
}

#[test]
fn a_program_is_recorded() {
    let folder = Folder::new();
    let run = trace(
        &folder,
        &[],
        &["begin", "launch", "25", "range", "epoch 1", "say", "hello"],
    )
    .run();
    let run = run.code(0);
    assert_eq!(run.stdout, "hello\n");
    snapshot("trace_fine", &stable(&run, &folder));
    assert_eq!(names(&folder), ["app.ridgetrace"]);
    let (timeline, recording) = read(&folder, "app.ridgetrace");
    assert_eq!(kernels(&timeline), 25);
    // The call that only asks is left out; the others are joined with their work.
    assert_eq!(timeline.calls.len(), 27);
    assert_eq!(timeline.completeness.unmatched, 0);
    let first = &timeline.work[0];
    assert_eq!(
        timeline.name(first.name),
        "add(float const*, float const*, float*)"
    );
    assert_eq!(first.duration_ns(), 2_500);
    let call = timeline.call_of(first).unwrap();
    assert_eq!(timeline.name(call.name), "cudaLaunchKernel");
    assert_eq!(first.start_ns - call.start_ns, 5_000);
    let WorkKind::Kernel { launch } = first.kind else {
        panic!("a kernel")
    };
    let launch = timeline.launch(launch);
    assert_eq!(launch.grid, Some([264, 1, 1]));
    assert_eq!(launch.block, Some([256, 1, 1]));
    assert_eq!(
        (launch.registers, launch.shared_bytes),
        (Some(32), Some(4096))
    );
    let copy = timeline.work.iter().find_map(|work| work.copied()).unwrap();
    assert_eq!(copy.kind, CopyKind::HostToDevice);
    assert_eq!((copy.from, copy.to), (Memory::Pinned, Memory::Device));
    assert_eq!(copy.bytes, Some(1 << 20));
    assert_eq!(timeline.name(timeline.annotations[0].name), "epoch 1");
    assert_eq!(timeline.devices[0].name.as_deref(), Some("NVIDIA H200"));
    let run = recording.run.unwrap();
    assert_eq!(run.outcome, Outcome::Exited(0));
    assert!(recording.processes[0].has_ended());
    assert_eq!(recording.processes[0].program, "app");
    assert_eq!(recording.processes[0].cupti_version, Some(130_001));
    // The kernel happened while the program ran.
    let origin = timeline.origin_unix_ns.unwrap();
    assert!(origin >= i128::from(run.started_unix_ns) - 1_000_000);
}

/// What `ridge timeline` says of the recording is what the history keeps.
#[test]
fn a_recording_goes_into_the_history() {
    let folder = Folder::new();
    let run = trace(&folder, &["--record=ci"], &["begin", "launch", "25"]).run();
    run.code(0);
    let listed = ridge(["history", "list", "--kind", "trace", "--format", "json"])
        .within(&folder)
        .run();
    let listing: serde_json::Value = serde_json::from_str(&listed.code(0).stdout).unwrap();
    let result = &listing["results"][0];
    assert_eq!(result["name"], "app");
    assert_eq!(result["gpu"], "NVIDIA H200");
    assert_eq!(result["labels"][0]["name"], "ci");
    let shown = ridge(["history", "show", "label:ci", "--format", "json"])
        .within(&folder)
        .run();
    let record: serde_json::Value = serde_json::from_str(&shown.code(0).stdout).unwrap();
    let points = record["points"].as_array().unwrap();
    let kernels = points.iter().find(|point| point["metric"] == "kernels");
    assert_eq!(kernels.unwrap()["value"], 25.0);
    assert_eq!(record["document"]["schema"], "ridgepoint.timeline");
}

#[test]
fn a_name_that_is_chosen_here_takes_nobody_elses_place() {
    let folder = Folder::new();
    for expected in [1, 2, 3] {
        trace(&folder, &["-q"], &["begin", "launch", "1"])
            .run()
            .fine();
        assert_eq!(names(&folder).len(), expected);
    }
    assert_eq!(
        names(&folder),
        ["app-2.ridgetrace", "app-3.ridgetrace", "app.ridgetrace"]
    );
    // What is named is replaced.
    trace(
        &folder,
        &["-q", "-o", "app.ridgetrace"],
        &["begin", "launch", "4"],
    )
    .run()
    .fine();
    assert_eq!(kernels(&read(&folder, "app.ridgetrace").0), 4);
    assert_eq!(names(&folder).len(), 3);
}

#[test]
fn two_runs_at_once_do_not_meet() {
    let folder = Folder::new();
    std::thread::scope(|scope| {
        for count in ["100", "200", "300"] {
            let folder = &folder;
            scope.spawn(move || {
                trace(folder, &["-q"], &["begin", "launch", count])
                    .run()
                    .fine();
            });
        }
    });
    let mut found: Vec<usize> = names(&folder)
        .iter()
        .map(|name| kernels(&read(&folder, name).0))
        .collect();
    found.sort_unstable();
    assert_eq!(found, [100, 200, 300]);
}

#[test]
fn the_streams_of_the_program_are_its_own() {
    let folder = Folder::new();
    let run = trace(&folder, &["-q"], &["begin", "echo", "launch", "1"])
        .stdin(b"one\ntwo \xe2\x82\xac\n")
        .run()
        .fine();
    assert_eq!(run.stdout, "one\ntwo €\n");
}

#[test]
fn children_are_recorded_each_for_itself() {
    let folder = Folder::new();
    let run = trace(
        &folder,
        &[],
        &["begin", "launch", "5", "spawn", "begin", "launch", "7"],
    )
    .run()
    .code(0)
    .says("recorded 2 processes on 1 GPU");
    drop(run);
    let (timeline, recording) = read(&folder, "app.ridgetrace");
    assert_eq!(kernels(&timeline), 12);
    let [parent, child] = recording.processes.as_slice() else {
        panic!("{recording:?}")
    };
    assert_eq!(child.parent, parent.id);
    // Both count their calls from 1, and each kernel is joined with the call of its own process.
    assert_eq!(timeline.completeness.unmatched, 0);
    assert_eq!(timeline.streams.len(), 2);
}

/// A child that was forked off has the handlers of its parent, and runs them at its end.
#[test]
fn a_forked_child_does_not_write_into_the_file_of_its_parent() {
    let folder = Folder::new();
    trace(
        &folder,
        &["-q"],
        &[
            "begin", "launch", "5", "fork", "launch", "3", "flush", "exit", "0",
        ],
    )
    .run()
    .fine();
    let (timeline, recording) = read(&folder, "app.ridgetrace");
    assert_eq!(recording.processes.len(), 1);
    assert_eq!(kernels(&timeline), 5);
}

#[test]
fn a_program_may_close_files_that_it_does_not_know() {
    let folder = Folder::new();
    trace(
        &folder,
        &["-q"],
        &["begin", "launch", "5", "flush", "closefds", "launch", "5"],
    )
    .run()
    .fine();
    assert_eq!(kernels(&read(&folder, "app.ridgetrace").0), 10);
}

#[test]
fn a_crash_leaves_what_was_there() {
    for (how, signal) in [("abort", 6), ("kill", 9)] {
        let folder = Folder::new();
        let run = trace(
            &folder,
            &[],
            &["begin", "launch", "50", "flush", "launch", "9", how],
        )
        .run()
        .code(15)
        .says(&format!("was ended by signal {signal} "))
        .says("did not end in an orderly way");
        if how == "kill" {
            snapshot("trace_killed", &stable(&run, &folder));
        }
        let (timeline, recording) = read(&folder, "app.ridgetrace");
        assert_eq!(
            kernels(&timeline),
            50,
            "what came after the last buffer is lost"
        );
        assert_eq!(recording.run.unwrap().outcome, Outcome::Signalled(signal));
        assert_eq!(timeline.completeness.unended, 1);
    }
}

#[test]
fn a_program_that_fails_says_how() {
    let folder = Folder::new();
    trace(&folder, &[], &["begin", "launch", "2", "exit", "42"])
        .run()
        .code(15)
        .says("app ended with code 42; what it did until then is kept");
    let (timeline, recording) = read(&folder, "app.ridgetrace");
    assert_eq!(kernels(&timeline), 2);
    assert_eq!(recording.run.unwrap().outcome, Outcome::Exited(42));
    assert!(recording.processes[0].has_ended());
}

#[test]
fn an_interrupt_keeps_what_was_recorded() {
    for signal in ["INT", "TERM"] {
        let folder = Folder::new();
        let mut child = trace(&folder, &[], &["begin", "launch", "20", "flush", "hold"])
            .into_command()
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // The program is ready; this process has watched for signals since before it started it.
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        assert_eq!(line, "ready\n");
        let sent = Command::new("kill")
            .args([format!("-{signal}"), child.id().to_string()])
            .status()
            .unwrap();
        assert!(sent.success());
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert_eq!(kernels(&read(&folder, "app.ridgetrace").0), 20);
        assert_eq!(names(&folder), ["app.ridgetrace"]);
    }
}

#[test]
fn dropped_records_are_counted() {
    let folder = Folder::new();
    trace(&folder, &[], &["begin", "launch", "3", "drop", "1234"])
        .run()
        .code(0)
        .says("CUPTI dropped 1,234 records");
    let (timeline, _) = read(&folder, "app.ridgetrace");
    assert_eq!(timeline.completeness.dropped, Some(1234));
}

/// More than all buffers together: they are used again, and nothing is lost or dropped.
#[test]
fn many_records_pass_through_few_buffers() {
    let folder = Folder::new();
    trace(&folder, &["-q"], &["begin", "launch", "400000"])
        .run()
        .fine();
    let (timeline, recording) = read(&folder, "app.ridgetrace");
    assert_eq!(kernels(&timeline), 400_000);
    assert_eq!(timeline.completeness.dropped, Some(0));
    let status = recording.processes[0].status.unwrap();
    assert!(status.buffers <= 2, "{status:?}");
    let bytes = fs::metadata(folder.path().join("app.ridgetrace"))
        .unwrap()
        .len();
    let records = recording.processes[0].records;
    assert!(bytes < 30 * records, "{bytes} bytes for {records} records");
}

#[test]
fn without_cupti_the_program_runs_and_the_places_are_named() {
    let folder = Folder::new();
    let run = trace(&folder, &[], &["begin", "say", "works"])
        .env("RIDGE_CUPTI", "/nowhere/libcupti.so.13")
        .run()
        .code(4);
    assert_eq!(run.stdout, "works\n");
    snapshot("trace_without_cupti", &stable(&run, &folder));
    // Where it was looked for is a matter of the machine.
    let bytes = fs::read(folder.path().join("app.ridgetrace")).unwrap();
    assert!(!String::from_utf8_lossy(&bytes).contains("nowhere"));

    trace(&folder, &[], &["begin"])
        .env("RIDGE_CUPTI", "")
        .env("CUDA_HOME", "/opt/my-cuda")
        .run()
        .code(4)
        .says("looked where the system's loader looks")
        .says("looked in /opt/my-cuda/extras/CUPTI/lib64");
}

#[test]
fn a_cupti_that_cannot_be_used_is_said() {
    let folder = Folder::new();
    trace(&folder, &[], &["begin", "launch", "1"])
        .env("FAKE_BUSY", "1")
        .run()
        .code(4)
        .says("another tool uses CUPTI");
    trace(&folder, &[], &["begin", "launch", "1"])
        .env("FAKE_VERSION", "16")
        .run()
        .code(4)
        .says("its CUPTI has version 16");
    trace(&folder, &[], &["begin", "launch", "100"])
        .env("FAKE_SHIFT", "1")
        .run()
        .says("CUPTI's records of version 130001 do not look as this version of ridge knows them")
        .says("100 records of CUPTI contradict themselves");
    // Where functions cannot be asked for one by one, all calls are recorded.
    trace(
        &folder,
        &["-q", "-o", "old.ridgetrace"],
        &["begin", "launch", "5"],
    )
    .env("FAKE_OLD", "1")
    .run()
    .fine();
    assert_eq!(read(&folder, "old.ridgetrace").0.calls.len(), 10);
}

/// A kind that a GPU cannot record is said, and the rest is recorded.
#[test]
fn a_kind_that_is_refused_is_said() {
    let folder = Folder::new();
    trace(&folder, &[], &["begin", "launch", "1"])
        .env("FAKE_REFUSE", "1")
        .run()
        .code(0)
        .says("CUPTI refuses synchronizations (result 27)")
        .says("recorded 1 process");
}

#[test]
fn ranges_come_through_the_same_library() {
    let folder = Folder::new();
    let run = trace(&folder, &["-q"], &["nvtx", "begin", "range", "step"])
        .run()
        .code(0);
    assert_eq!(run.stdout, "nvtx taken: 1\n");
    let (timeline, recording) = read(&folder, "app.ridgetrace");
    assert_eq!(timeline.annotations.len(), 1);
    assert_eq!(recording.processes.len(), 1);
}

#[test]
fn a_program_that_uses_no_gpu_is_told_why_nothing_was_recorded() {
    let folder = Folder::new();
    let run = trace(&folder, &[], &["say", "hello"]).run().code(0);
    snapshot("trace_no_gpu", &stable(&run, &folder));
    let (timeline, recording) = read(&folder, "app.ridgetrace");
    assert!(timeline.work.is_empty() && recording.processes.is_empty());
    trace(&folder, &[], &["begin"])
        .run()
        .code(0)
        .says("the GPU was used, but no kernel was recorded");
}

#[test]
fn a_program_that_does_not_start_leaves_nothing() {
    let folder = Folder::with("notes.txt", "no program");
    let start = |program: &str| {
        ridge(["trace", "--", program])
            .within(&folder)
            .env("PATH", "/usr/bin:/bin")
            .run()
    };
    start("no-such-program")
        .code(2)
        .says("cannot start no-such-program: there is no such program");
    start("./notes.txt")
        .code(4)
        .says("permission denied")
        .says("chmod +x ./notes.txt");
    ridge(["trace"]).within(&folder).run().code(2);
    assert_eq!(names(&folder), ["notes.txt"]);
}

#[test]
fn an_answer_that_cannot_be_written_stops_the_run_before_it_begins() {
    let folder = Folder::new();
    for place in ["missing/x.ridgetrace", "."] {
        let run = trace(&folder, &["-o", place], &["say", "I ran"])
            .run()
            .code(4);
        run.says(&format!("cannot write {place}")).shows_nothing();
    }
    trace(&folder, &["-o", "x.pdf"], &["say", "I ran"])
        .run()
        .code(2)
        .shows_nothing();
    assert!(names(&folder).is_empty());
}

/// A file that may not grow stands for a disk that is full.
#[test]
fn a_full_disk_is_said_and_ends_neither_program_nor_answer() {
    let folder = Folder::new();
    let script = "trap '' XFSZ; ulimit -f 64; exec \"$@\"";
    let app = BUILT.app.to_str().unwrap();
    let run = ridge([
        "trace",
        "-o",
        "x.ridgetrace",
        "--",
        "sh",
        "-c",
        script,
        "sh",
        app,
        "begin",
        "launch",
        "10",
        "flush",
        "launch",
        "50000",
        "say",
        "went on",
    ])
    .within(&folder)
    .env("PATH", "/usr/bin:/bin")
    .env("RIDGE_CUPTI", BUILT.cupti.to_str().unwrap())
    .run()
    .code(4)
    .says("writing failed (File too large (os error 27))")
    .shows("went on");
    drop(run);
    let (timeline, recording) = read(&folder, "x.ridgetrace");
    assert!(kernels(&timeline) >= 10);
    let status = recording.processes[0].status.unwrap();
    assert_eq!(
        status.lost + recording.processes[0].records,
        50_010 * 2 + 5_001 * 2 + 2
    );
}

#[test]
fn another_library_that_gives_way_is_named() {
    let folder = Folder::new();
    trace(&folder, &[], &["begin", "launch", "1"])
        .env("CUDA_INJECTION64_PATH", "/opt/other/libother.so")
        .run()
        .code(0)
        .says(
            "CUDA_INJECTION64_PATH names /opt/other/libother.so, which is not loaded in this run",
        );
}

#[test]
fn chromes_events_hold_the_same() {
    let folder = Folder::new();
    trace(
        &folder,
        &["-q", "-o", "x.json"],
        &["begin", "launch", "25", "range", "r"],
    )
    .run()
    .fine();
    let bytes = fs::read(folder.path().join("x.json")).unwrap();
    let document: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    let events = document["traceEvents"].as_array().unwrap();
    let of = |category: &str| {
        events
            .iter()
            .filter(|event| event["cat"] == category && event["ph"] == "X")
            .count()
    };
    assert_eq!(
        (
            of("kernel"),
            of("gpu_memcpy"),
            of("cuda_runtime"),
            of("user_annotation")
        ),
        (25, 2, 27, 1)
    );
    // What reads traces of the PyTorch profiler reads these, and finds the same.
    let timeline = ridge_trace::chrome::read(&bytes).unwrap();
    assert_eq!(kernels(&timeline), 25);
    assert_eq!(timeline.completeness.unmatched, 0);
    assert!(
        timeline.completeness.skipped.is_empty(),
        "{:?}",
        timeline.completeness
    );
    assert_eq!(timeline.work[0].duration_ns(), 2_500);
    assert_eq!(names(&folder), ["x.json"]);
}

/// The file of a process, as a run that was killed leaves it, and each of its beginnings.
#[test]
fn what_a_killed_run_leaves_can_be_read() {
    let folder = Folder::new();
    let mut child = trace(
        &folder,
        &["-q"],
        &["begin", "launch", "20", "flush", "hold"],
    )
    .into_command()
    .stdin(Stdio::null())
    .stdout(Stdio::piped())
    .spawn()
    .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let part = |folder: &Path| -> PathBuf {
        let inner = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .find(|path| path.is_dir())
            .unwrap();
        fs::read_dir(inner)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .find(|path| path.extension().is_some_and(|ending| ending == "part"))
            .unwrap()
    };
    let part = part(folder.path());
    let bytes = fs::read(&part).unwrap();
    // The program waits for a signal, and dies with its number.
    let name = part.file_stem().unwrap().to_str().unwrap().to_owned();
    let (process, _) = name.split_once('-').unwrap();
    let sent = Command::new("kill")
        .args(["-KILL", process])
        .status()
        .unwrap();
    assert!(sent.success());
    assert_eq!(child.wait().unwrap().code(), Some(15));
    let (timeline, recording) = native::read_all(&bytes).unwrap();
    assert_eq!(kernels(&timeline), 20);
    assert!(recording.run.is_none());
    let mut most = 0;
    for end in 0..bytes.len() {
        match native::read(&bytes[..end]) {
            Ok(timeline) => {
                assert!(kernels(&timeline) >= most, "{end}");
                most = kernels(&timeline);
            }
            Err(_) => assert!(end < 8, "{end}"),
        }
    }
}

/// A recording of a real GPU; the README of the folder tells of what.
const FIXTURE: &str = "fixtures/traces/streams_graph_copies.ridgetrace";

#[test]
fn traces_are_exported_for_viewers() {
    let run = ridge(["export", FIXTURE, "--format", "chrome"])
        .run()
        .fine();
    let document = run.json();
    let events = document["traceEvents"].as_array().unwrap();
    let of = |key: &str, value: &str| events.iter().filter(|event| event[key] == value).count();
    assert_eq!((of("cat", "kernel"), of("cat", "gpu_memcpy")), (56, 9));
    // Each piece of work has an arrow, each call that asked for any is the start of one.
    assert_eq!(of("ph", "f"), 66);
    assert!(of("ph", "s") < 66, "one launch of a graph has eleven");
    // Traces of others go the same way.
    ridge([
        "export",
        "fixtures/traces/pytorch_kineto.json.gz",
        "--format",
        "chrome",
    ])
    .run()
    .fine()
    .shows("gpu_memcpy");
    ridge(["export", AOS, "--format", "chrome"])
        .run()
        .code(3)
        .says("name a recording of `ridge trace`");
    ridge(["export", FIXTURE, FIXTURE, "--format", "chrome"])
        .run()
        .code(2)
        .says("only one trace");
    ridge(["export", FIXTURE, "--format", "chrome", "--kernel", "x"])
        .run()
        .code(2)
        .says("a trace has no metrics");
}

#[test]
fn a_timeline_is_made_of_a_recording() {
    let run = ridge(["timeline", FIXTURE, "--format", "json"])
        .run()
        .code(0);
    let document = run.json();
    let trace = &document["traces"][0];
    assert_eq!(trace["completeness"]["work"], 66, "{trace}");
    assert_eq!(trace["completeness"]["unmatched"], 0);
    assert_eq!(trace["completeness"]["unended"], 0);
}
