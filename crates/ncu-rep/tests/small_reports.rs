//! Reports of small programs (`fixtures/programs`), one for each way of profiling.
//!
//! Expected values come from the programs, from the command lines, and from what the profiler prints for the same
//! reports (`fixtures/csv/small`); counts of entries from a walk over the wire data by another program.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

use std::path::{Path, PathBuf};

use ncu_rep::report::{
    CacheControl, ClockControl, Collection, MessageKind, NvtxRange, NvtxState, Process, ReplayMode,
    StackKind, WorkloadKind,
};
use ncu_rep::{Partial, Profile, Report};

const BASIC: &[&str] = &[
    "LaunchStats",
    "Occupancy",
    "SpeedOfLight",
    "WorkloadDistribution",
];

/// Name, kind of the workloads, for each the number of stored metrics, sections.
const REPORTS: &[(&str, WorkloadKind, &[usize], &[&str])] = &[
    ("apprange", WorkloadKind::Range, &[814], BASIC),
    ("basic", WorkloadKind::Kernel, &[563; 3], BASIC),
    ("full", WorkloadKind::Kernel, &[2246], &["…"; 21]),
    ("graph", WorkloadKind::Graph, &[2127], &["…"; 17]),
    (
        "graph_source",
        WorkloadKind::Graph,
        &[331],
        &["SourceCounters"],
    ),
    (
        "launches",
        WorkloadKind::Kernel,
        &[378, 381, 381, 381, 381, 381],
        &["SourceCounters"],
    ),
    ("nvtx", WorkloadKind::Kernel, &[563; 3], BASIC),
    ("python", WorkloadKind::Kernel, &[563; 3], BASIC),
    ("range", WorkloadKind::Range, &[546], BASIC),
    ("sol", WorkloadKind::Kernel, &[510; 3], &["SpeedOfLight"]),
    (
        "sourcecounters",
        WorkloadKind::Kernel,
        &[378],
        &["SourceCounters"],
    ),
    // Metrics asked for by name come as a section of their own.
    ("twometrics", WorkloadKind::Kernel, &[258; 3], &["section0"]),
    ("twoproc", WorkloadKind::Kernel, &[563; 5], BASIC),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

fn load(name: &str) -> Vec<u8> {
    let path = root().join(format!("reports/small/{name}.ncu-rep.zst"));
    let packed = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    zstd::decode_all(&packed[..]).unwrap()
}

/// The value, of which nothing may be missing.
fn whole<T>(part: Partial<T>) -> T {
    assert_eq!(part.problems, []);
    part.value
}

fn names<'r>(profiles: impl Iterator<Item = Profile<'r>>) -> Vec<String> {
    profiles
        .map(|profile| whole(profile.header()).name().unwrap_or("-").to_owned())
        .collect()
}

#[test]
fn every_report_is_read_whole() {
    for (name, kind, metrics, sections) in REPORTS {
        let bytes = load(name);
        let report = Report::parse(&bytes).unwrap();
        assert_eq!(report.problems(), [], "{name}");
        assert_eq!(report.format_version(), Some(7), "{name}");
        assert_eq!(report.len(), metrics.len(), "{name}");
        for (profile, count) in report.profiles().zip(*metrics) {
            assert_eq!(profile.kind(), *kind, "{name}");
            let header = whole(profile.header());
            assert!(header.thread_id.is_some(), "{name}");
            assert!(header.api_call_id.is_some(), "{name}");
            assert_eq!(header.context_id, Some(1), "{name}");
            assert_eq!(header.driver_version, Some(580.159), "{name}");
            assert_eq!(header.clock.map(|clock| clock.lock_done), Some(false));
            let found = whole(profile.metrics());
            assert_eq!(found.len(), *count, "{name}");
            for metric in &found {
                for instance in metric.instances() {
                    instance.unwrap();
                }
            }
            let found: Vec<String> = whole(profile.sections())
                .into_iter()
                .map(|section| section.id.into_owned())
                .collect();
            assert_eq!(found.len(), sections.len(), "{name}");
            if sections[0] != "…" {
                assert_eq!(found, *sections, "{name}");
            }
            whole(profile.rules());
            whole(profile.nvtx());
            whole(profile.cpu_stack());
            whole(profile.python_stack());
            assert!(!header.sources.is_empty(), "{name}");
            for key in header.sources {
                let source = whole(report.source(key).unwrap());
                assert_eq!(source.compute_capability, Some((9, 0)), "{name}");
                // The code of others was taken out of this report.
                assert_eq!(source.cubin.is_some(), *name != "python", "{name}");
                if *kind == WorkloadKind::Kernel {
                    let kernel = header.mangled_name.as_deref().unwrap();
                    let function = source.functions.iter().find(|f| f.symbol == kernel);
                    assert!(function.is_some(), "{name}: {kernel}");
                }
            }
        }
    }
}

#[test]
fn session_of_each_report() {
    for (name, ..) in REPORTS {
        let bytes = load(name);
        let report = Report::parse(&bytes).unwrap();
        let session = report.session();
        assert!(session.created_unix_s > Some(1_796_022_000), "{name}");
        let target = session.target.as_ref().unwrap();
        assert_eq!(target.os.as_deref(), Some("Linux"));
        assert_eq!(target.architecture.as_deref(), Some("x86_64"));
        assert_eq!(target.addresses[0], "192.0.2.2");
        for system in [&session.host, &session.target] {
            // What the script of the fixtures writes in place of the names of the machine.
            let system = system.as_ref().unwrap();
            assert_eq!(system.name.as_deref(), Some("pc"));
            assert_eq!(system.build.as_deref(), Some("#1 SMP PREEMPT_DYNAMIC --"));
        }
        assert_eq!(session.version("CUDA Version"), Some("13.0"));
        assert_eq!(session.version("PerfWorks"), Some("0.1.0"));
        assert_eq!(session.profiler_version(), Some("2025.3.1.0"));
        let [device] = session.devices.as_slice() else {
            panic!("{name}: {} devices", session.devices.len())
        };
        assert_eq!(device.name.as_deref(), Some("NVIDIA H200"));
        let number = |name| device.attribute(name).and_then(|value| value.integer());
        assert_eq!(number("multiprocessor_count"), Some(132), "{name}");
        assert_eq!(number("compute_capability_major"), Some(9));
        assert_eq!(number("total_memory"), Some(150_109_880_320));
        assert_eq!(
            device
                .attribute("confidential_computing_mode")
                .and_then(|value| value.text()),
            Some("No-CC")
        );
    }
}

#[test]
fn collection_follows_from_the_command_line() {
    let expect = |name: &str, change: fn(&mut Collection)| {
        let bytes = load(name);
        let report = Report::parse(&bytes).unwrap();
        let mut expected = Collection {
            replay: Some(ReplayMode::Kernel),
            caches: Some(CacheControl::FlushAll),
            clocks: Some(ClockControl::None),
            whole_graphs: Some(false),
            program: Some("./small".to_owned()),
            ..Collection::default()
        };
        change(&mut expected);
        assert_eq!(report.session().collection, expected, "{name}");
        let line = report.session().command_line.as_deref().unwrap();
        assert!(line.contains("ncu --clock-control none -f "), "{line}");
    };
    expect("sol", |c| c.sections = vec!["SpeedOfLight".to_owned()]);
    expect("sourcecounters", |c| {
        c.sections = vec!["SourceCounters".to_owned()]
    });
    expect("twometrics", |c| {
        c.metrics = ["gpu__time_duration.sum", "dram__bytes_read.sum"]
            .map(str::to_owned)
            .into();
    });
    expect("basic", |c| c.sets = vec!["basic".to_owned()]);
    expect("nvtx", |c| c.sets = vec!["basic".to_owned()]);
    expect("full", |c| c.sets = vec!["full".to_owned()]);
    expect("range", |c| {
        c.sets = vec!["basic".to_owned()];
        c.replay = Some(ReplayMode::Range);
    });
    expect("apprange", |c| {
        c.sets = vec!["basic".to_owned()];
        c.replay = Some(ReplayMode::ApplicationRange);
    });
    expect("graph", |c| {
        c.sets = vec!["full".to_owned()];
        c.whole_graphs = Some(true);
    });
    expect("twoproc", |c| {
        c.sets = vec!["basic".to_owned()];
        c.program = Some("bash".to_owned());
    });
    expect("python", |c| {
        c.sets = vec!["basic".to_owned()];
        c.program = Some("python3".to_owned());
    });
}

#[test]
fn partial_sets_hold_what_they_were_asked_for() {
    let two = load("twometrics");
    let two = Report::parse(&two).unwrap();
    assert_eq!(
        names(two.profiles()),
        [
            "copy(const float *, float *, int)",
            "stride(const float *, float *, int)",
            "transpose(const float *, float *, int)"
        ]
    );
    for profile in two.profiles() {
        let metrics = whole(profile.metrics());
        assert!(metrics.number("gpu__time_duration.sum") > Some(1000.0));
        // Each kernel reads 4 MiB.
        let bytes = metrics.number("dram__bytes_read.sum").unwrap();
        assert!((4e6..8e6).contains(&bytes), "{bytes}");
        assert!(
            metrics
                .get("sm__throughput.avg.pct_of_peak_sustained_elapsed")
                .is_none()
        );
        assert!(whole(profile.rules()).is_empty());
    }
    let sol = load("sol");
    let sol = Report::parse(&sol).unwrap();
    let metrics = sol.profile(0).unwrap();
    let metrics = whole(metrics.metrics());
    assert!(
        metrics
            .number("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed")
            .is_some()
    );
    assert!(metrics.get("smsp__pcsamp_sample_count").is_none());
}

fn range(name: &str, api_call: u64, thread: Option<u64>) -> NvtxRange<'_> {
    NvtxRange {
        name: name.into(),
        api_call_id: Some(api_call),
        thread,
        ..NvtxRange::default()
    }
}

/// The program opens `outer` and `inner` around `copy`, `outer` and a start/end range `started` around `stride`, and
/// nothing around `transpose`.
#[test]
fn nvtx_ranges_at_each_launch() {
    let bytes = load("nvtx");
    let report = Report::parse(&bytes).unwrap();
    let states: Vec<NvtxState<'_>> = report
        .profiles()
        .map(|profile| whole(profile.nvtx()).unwrap())
        .collect();
    for state in &states {
        let [domain] = state.domains.as_slice() else {
            panic!("{} domains", state.domains.len())
        };
        assert_eq!((domain.id, &*domain.name), (0, "<default domain>"));
        assert_eq!(state.threads.len(), 1);
        // The main thread has the number of the process.
        assert_eq!(state.threads[0].id, 817);
    }
    assert_eq!(
        states[0].threads[0].stack,
        [range("outer", 568, None), range("inner", 568, None)]
    );
    assert_eq!(states[0].ranges, []);
    assert_eq!(states[1].threads[0].stack, [range("outer", 568, None)]);
    assert_eq!(states[1].ranges, [range("started", 571, Some(817))]);
    assert_eq!(states[2].threads[0].stack, []);
    assert_eq!(states[2].ranges, []);
    // The same program without `--nvtx`.
    let bytes = load("basic");
    let report = Report::parse(&bytes).unwrap();
    assert!(report.profiles().all(|p| whole(p.nvtx()).is_none()));
}

#[test]
fn cpu_stack_of_a_native_program() {
    let bytes = load("nvtx");
    let report = Report::parse(&bytes).unwrap();
    for (profile, kernel) in report.profiles().zip(["copy", "stride", "transpose"]) {
        let header = whole(profile.header());
        assert_eq!(header.function_name.as_deref(), Some(kernel));
        assert_eq!((header.thread_id, header.stream_id), (Some(817), Some(13)));
        let stack = whole(profile.cpu_stack()).unwrap();
        assert_eq!(stack.kind, StackKind::Native);
        let functions: Vec<&str> = stack
            .frames
            .iter()
            .filter_map(|frame| frame.function.as_deref())
            .collect();
        // Innermost first: the runtime, the stub of the kernel, the program.
        assert_eq!(functions[1], "cudaLaunchKernel");
        assert_eq!(functions[4], format!("{kernel}(float const*, float*, int)"));
        assert_eq!(functions[5], "main");
        let main = &stack.frames[5];
        assert_eq!(main.module.as_deref(), Some("/tmp/w/./small"));
        assert!(main.pc.is_some());
        // The program was built without debug information: no file, and no line 0.
        assert_eq!((main.file.as_deref(), main.line), (None, None));
        assert!(whole(profile.python_stack()).is_none());
    }
}

/// Lines of the script: `outer` makes a tensor in line 5 and calls `inner` in line 6, which computes in line 3.
#[test]
fn python_and_native_stack_of_a_script() {
    let bytes = load("python");
    let report = Report::parse(&bytes).unwrap();
    let outer = [("outer", 5), ("<module>", 7)];
    let inner = [("inner", 3), ("outer", 6), ("<module>", 7)];
    let expected: [&[(&str, u64)]; 3] = [&outer, &inner, &inner];
    for (profile, expected) in report.profiles().zip(expected) {
        let stack = whole(profile.python_stack()).unwrap();
        assert_eq!(stack.kind, StackKind::Python);
        let frames: Vec<(&str, u64)> = stack
            .frames
            .iter()
            .map(|frame| (frame.function.as_deref().unwrap(), frame.line.unwrap()))
            .collect();
        assert_eq!(frames, expected);
        for frame in &stack.frames {
            assert_eq!(frame.file.as_deref(), Some("/tmp/w/t.py"));
            assert_eq!((frame.module.as_deref(), frame.pc), (None, None));
        }
        let stack = whole(profile.cpu_stack()).unwrap();
        assert_eq!(stack.kind, StackKind::Native);
        assert!(stack.frames.len() > 20);
        let has = |function: &str| {
            stack
                .frames
                .iter()
                .any(|frame| frame.function.as_deref() == Some(function))
        };
        assert!(has("cudaLaunchKernel") && has("Py_RunMain") && has("_start"));
        // NVTX was on, and the script uses none.
        let nvtx = whole(profile.nvtx()).unwrap();
        assert!(nvtx.ranges.is_empty() && nvtx.threads[0].stack.is_empty());
    }
    assert_eq!(
        report.processes(),
        [Process {
            id: 1256,
            host: "127.0.0.1".to_owned(),
            executable: "/usr/bin/python3.12".to_owned()
        }]
    );
}

/// A range of two launches, by both ways of replay.
#[test]
fn ranges() {
    for name in ["range", "apprange"] {
        let bytes = load(name);
        let report = Report::parse(&bytes).unwrap();
        let profile = report.profile(0).unwrap();
        let header = whole(profile.header());
        assert_eq!(header.kind, WorkloadKind::Range);
        assert_eq!((header.name(), header.launches.len()), (None, 0));
        assert_eq!((header.stream_id, header.api), (None, Some(0)));
        let metrics = whole(profile.metrics());
        assert!(
            metrics.number("gpu__time_duration.sum") > Some(5000.0),
            "{name}"
        );
        assert_eq!(metrics.number("launch__sm_count"), Some(132.0), "{name}");
        // Ranges store the state of NVTX whether it was asked for or not.
        assert_eq!(whole(profile.nvtx()).unwrap().domains.len(), 1);
        let source = whole(report.source(header.sources[0]).unwrap());
        let mut functions: Vec<&str> = source.functions.iter().map(|f| &*f.symbol).collect();
        functions.sort_unstable();
        assert_eq!(
            functions,
            ["_Z4copyPKfPfi", "_Z6stridePKfPfi", "_Z9transposePKfPfi"]
        );
    }
}

#[test]
fn a_graph_of_two_kernels() {
    let bytes = load("graph");
    let report = Report::parse(&bytes).unwrap();
    let profile = report.profile(0).unwrap();
    let header = whole(profile.header());
    assert_eq!((header.name(), header.launches.len()), (None, 0));
    assert_eq!(header.stream_id, Some(13));
    let metrics = whole(profile.metrics());
    // One instance for each node.
    let sizes = metrics.get("launch__grid_size").unwrap();
    assert_eq!(sizes.by_number().unwrap(), [(0, 4096.0), (1, 4096.0)]);

    // Samples are told apart by address, and each function has some.
    let samples = metrics.get("smsp__pcsamp_sample_count").unwrap();
    let source = whole(report.source(header.sources[0]).unwrap());
    let counts = samples.by_number().unwrap();
    let mut total = 0.0;
    for function in ["_Z4copyPKfPfi", "_Z6stridePKfPfi"] {
        let start = source
            .functions
            .iter()
            .find(|f| f.symbol == function)
            .unwrap()
            .address;
        let own: f64 = counts
            .iter()
            .filter(|(address, _)| (start..start + 512).contains(address))
            .map(|(_, count)| count)
            .sum();
        assert!(own > 0.0, "{function}");
        total += own;
    }
    assert_eq!(samples.number(), Some(total));
    assert_eq!(whole(profile.rules()).len(), 21);
}

/// Two processes number their sources alike: each result has the code of its own process.
#[test]
fn two_processes_with_equal_references() {
    let bytes = load("twoproc");
    let report = Report::parse(&bytes).unwrap();
    let process = |id| Process {
        id,
        host: "127.0.0.1".to_owned(),
        executable: "/tmp/w/small".to_owned(),
    };
    assert_eq!(report.processes(), [process(1162), process(1161)]);
    let keys: Vec<_> = report.sources().collect();
    assert_eq!(keys.len(), 2);
    assert_eq!(keys[0].reference, keys[1].reference);
    assert_ne!(keys[0], keys[1]);
    let mut by_process = [0, 0];
    for profile in report.profiles() {
        let header = whole(profile.header());
        let id = profile.process().unwrap().id;
        assert_eq!(header.thread_id, Some(id));
        let place = usize::from(id == 1161);
        by_process[place] += 1;
        assert_eq!(header.sources, [keys[place]]);
        let source = whole(report.source(keys[place]).unwrap());
        assert_eq!(source.functions.len(), 3);
        let kernel = header.mangled_name.as_deref().unwrap();
        let function = source
            .functions
            .iter()
            .find(|f| f.symbol == kernel)
            .unwrap();
        let metrics = whole(profile.metrics());
        assert_eq!(
            metrics.get("launch__function_pcs").and_then(|m| m
                .instances()
                .next()?
                .ok()?
                .value?
                .integer()),
            Some(function.address),
            "{kernel} of {id}"
        );
    }
    // `range` launches two kernels, the other process three.
    assert_eq!(by_process, [2, 3]);
}

#[test]
fn imported_source_text() {
    let bytes = load("launches");
    let report = Report::parse(&bytes).unwrap();
    let mut keys = report.sources();
    let source = whole(report.source(keys.next().unwrap()).unwrap());
    assert!(keys.next().is_none());
    let mut found = 0;
    for file in ["rep.cu", "helper.h"] {
        let text = std::fs::read_to_string(root().join("programs").join(file)).unwrap();
        let stored = source
            .files
            .iter()
            .find(|stored| stored.path == format!("/tmp/w/{file}"))
            .unwrap();
        assert_eq!(stored.content.as_deref(), Some(&*text));
        found += 1;
    }
    assert_eq!(found, source.files.len());
    let bytes = load("full");
    let report = Report::parse(&bytes).unwrap();
    let source = whole(report.source(report.sources().next().unwrap()).unwrap());
    let [file] = source.files.as_slice() else {
        panic!("{} files", source.files.len())
    };
    assert_eq!(file.path, "/tmp/w/small.cu");
    let text = file.content.as_deref().unwrap();
    assert!(text.starts_with("// Three small kernels for fixtures"));
    assert!(text.ends_with("    return 0;\n}\n"));
}

/// Rules of the full set: marks on instructions and lines, and the metric that places were ranked by.
#[test]
fn marks_of_rules() {
    let bytes = load("full");
    let report = Report::parse(&bytes).unwrap();
    let rules = whole(report.profile(0).unwrap().rules());
    assert_eq!(rules.len(), 22);
    let marks: Vec<_> = rules.iter().flat_map(|rule| &rule.markers).collect();
    assert_eq!(marks.len(), 8);
    assert!(
        marks
            .iter()
            .all(|mark| mark.kind == Some(MessageKind::Warning))
    );
    let lines: Vec<u64> = marks.iter().filter_map(|mark| mark.line).collect();
    assert_eq!(lines, [40, 37, 39, 39]);
    let metrics: Vec<_> = rules
        .iter()
        .flat_map(|rule| &rule.items)
        .flat_map(|item| &item.source_metrics)
        .collect();
    assert_eq!(metrics, ["derived__memory_l1_wavefronts_shared_excessive"]);
}
