//! Reads a report made by hand that has every field of all four kinds of results. The reports of the corpus have no
//! ranges, no command lists, no NVTX and no call stacks.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    clippy::panic,
    reason = "tests"
)]

mod made;

use made::{METRICS, Maker, START};
use ncu_rep::report::{
    ClockStatus, Dim3, Launch, MessageKind, Scope, Severity, Speedup, StackKind, WorkloadKind,
};
use ncu_rep::{Category, Profile, Report, Value};

fn report_bytes() -> Vec<u8> {
    Maker {
        text: &|label| label.to_owned(),
        is_plausible: true,
    }
    .report()
}

/// Kind, name in the texts, and place among the results.
const KINDS: [(WorkloadKind, &str); 4] = [
    (WorkloadKind::Kernel, "kernel"),
    (WorkloadKind::Range, "range"),
    (WorkloadKind::CommandList, "list"),
    (WorkloadKind::Graph, "graph"),
];

/// Runs a check on the result of each kind.
fn each_kind(check: impl Fn(Profile<'_>, &str)) {
    let bytes = report_bytes();
    let report = Report::parse(&bytes).unwrap();
    assert_eq!(report.problems(), []);
    assert_eq!(report.len(), 4);
    for (profile, (kind, name)) in report.profiles().zip(KINDS) {
        assert_eq!(profile.kind(), kind);
        check(profile, name);
    }
}

#[test]
fn headers() {
    each_kind(|profile, name| {
        let kind = profile.kind();
        let header = profile.header();
        assert!(header.problems.is_empty());
        let header = header.value;
        let place = KINDS.iter().position(|known| known.0 == kind).unwrap() as u64;
        let own = |label: &str| Some(format!("{name} {label}"));
        let is_kernel = kind == WorkloadKind::Kernel;
        assert_eq!(header.kind, kind);
        assert_eq!(header.thread_id, Some(8_111_222 + 111 * place));
        assert_eq!(header.api_call_id, Some(41 + place));
        for (found, label) in [
            (&header.mangled_name, "mangled"),
            (&header.function_name, "function"),
            (&header.demangled_name, "demangled"),
        ] {
            assert_eq!(
                found.as_deref(),
                own(label).as_deref().filter(|_| is_kernel)
            );
        }
        let has_name = matches!(kind, WorkloadKind::Kernel | WorkloadKind::CommandList);
        assert_eq!(
            header.display_name.as_deref(),
            own("display name").as_deref().filter(|_| has_name)
        );
        assert_eq!(header.name(), header.display_name.as_deref());
        assert_eq!(header.comment.as_deref(), own("comment").as_deref());
        assert_eq!(header.created_unix_s, Some(1_795_995_160));
        let references: Vec<_> = header.sources.iter().map(|key| key.reference).collect();
        let expected: &[u64] = if is_kernel { &[77] } else { &[77, 78] };
        assert_eq!(references, expected);
        assert_eq!(header.api, Some(0));
        assert!(header.device_unsupported);
        assert_eq!(header.context_id, Some(51));
        assert_eq!(
            header.context_name.as_deref(),
            own("context name").as_deref()
        );
        let has_stream = kind != WorkloadKind::Range;
        assert_eq!(header.stream_id, Some(52).filter(|_| has_stream));
        assert_eq!(
            header.stream_name.as_deref(),
            own("stream name").as_deref().filter(|_| has_stream)
        );
        assert_eq!(
            header.clock,
            Some(ClockStatus {
                lock_requested: true,
                lock_done: false
            })
        );
        let scope = if is_kernel {
            Scope::Range
        } else {
            Scope::Launch
        };
        assert_eq!(header.scope, scope);
        let has_green = kind != WorkloadKind::CommandList;
        assert_eq!(header.green_context, Some(true).filter(|_| has_green));
        assert_eq!(header.driver_version, Some(580.159));

        let launch = |grid: [u32; 3], block| Launch {
            grid: Dim3 {
                x: grid[0],
                y: grid[1],
                z: grid[2],
            },
            block: Dim3 {
                x: block,
                y: 1,
                z: 1,
            },
        };
        let launches = match kind {
            WorkloadKind::Kernel => vec![launch([100, 2, 1], 256)],
            WorkloadKind::CommandList => {
                vec![launch([5, 1, 1], 64), launch([6, 1, 1], 128)]
            }
            _ => Vec::new(),
        };
        assert_eq!(header.launches, launches);
    });
}

#[test]
fn metrics() {
    each_kind(|profile, name| {
        let metrics = profile.metrics();
        assert!(metrics.problems.is_empty());
        let metrics = metrics.value;
        assert_eq!(metrics.len(), METRICS.len() + 2);
        for (metric, expected) in metrics.iter().zip(METRICS) {
            assert_eq!(metric.name, expected);
        }
        assert_eq!(metrics.number(METRICS[0]), Some(1234.5));
        assert_eq!(
            metrics.text(METRICS[8]),
            Some("gpu__time_duration.sum,sm__unknown.avg")
        );

        let instances = |name: &str| {
            let metric = metrics.get(name).unwrap();
            let list: Vec<_> = metric
                .instances()
                .map(|instance| {
                    let instance = instance.unwrap();
                    (instance.key, instance.value)
                })
                .collect();
            list
        };
        let key = |key| Some(Value::U64(key));
        assert_eq!(
            instances("launch__kernel_name"),
            [(key(0), Some(Value::Text(format!("{name} function").into())))]
        );
        assert_eq!(
            instances("smsp__pcsamp_sample_buffer_full"),
            [
                (key(0x7f00_0000_1010), Some(Value::U64(10))),
                (key(0x7f00_0000_1020), Some(Value::U32(20))),
                (key(0x7f00_0000_1030), None),
            ]
        );
        let opcodes = instances("sass__inst_executed_per_opcode");
        assert_eq!(
            opcodes[0],
            (Some(Value::Text("LDG.E".into())), Some(Value::F64(8.0)))
        );
        assert_eq!(opcodes[1].1, Some(Value::F32(0.5)));
        // Not a number is a value, and no number.
        let opcodes = metrics.get("sass__inst_executed_per_opcode").unwrap();
        assert!(matches!(opcodes.value, Some(Value::F64(value)) if value.is_nan()));
        assert_eq!(opcodes.number(), None);

        let series = metrics.get(METRICS[4]).unwrap();
        assert_eq!(series.category, Category::Series);
        assert_eq!(
            series.by_number().unwrap(),
            [(0, 0.0), (START, 1.0), (START + 1_000, 3.0)]
        );
        // Of the three of one name, the first counts; the others are not available.
        let [.., without, empty] = metrics.iter().as_slice() else {
            panic!("no metrics")
        };
        assert_eq!((&without.value, &empty.value), (&None, &None));
        assert_eq!(metrics.integer(METRICS[2]), Some(30));
    });
}

#[test]
fn rules() {
    each_kind(|profile, name| {
        let own = |label: &str| format!("{name} {label}");
        let rules = profile.rules();
        assert_eq!(rules.problems, []);
        let [rule] = &rules.value[..] else {
            panic!("{:?}", rules.value)
        };
        assert_eq!((&*rule.id, &*rule.name), ("SOLBottleneck", "Bottleneck"));
        assert_eq!(rule.section.as_deref(), Some("SpeedOfLight"));
        let [item, charts] = &rule.items[..] else {
            panic!("{:?}", rule.items)
        };
        let message = item.message.as_ref().unwrap();
        assert_eq!(message.id, Some(1));
        assert_eq!(message.kind, MessageKind::Optimisation);
        assert_eq!(message.title.as_deref(), Some("Long Scoreboard Stalls"));
        assert_eq!(message.text, own("message"));
        let focus = item.focus.as_ref().unwrap();
        assert_eq!(focus.message_id, Some(1));
        assert_eq!(focus.name, "gpu__time_duration.sum");
        assert_eq!(focus.value, Some(7.5));
        assert_eq!(focus.severity, Severity::High);
        assert_eq!(focus.advice.as_deref(), Some(&*own("advice")));
        assert_eq!(
            item.speedup,
            Some(Speedup {
                is_global: true,
                percent: 56.25
            })
        );
        let columns: Vec<_> = item
            .table
            .as_ref()
            .unwrap()
            .columns
            .iter()
            .map(|column| (&*column.name, column.values.clone()))
            .collect();
        let text = |text: String| Value::Text(text.into());
        let column_name = own("column name");
        assert_eq!(
            columns,
            [
                ("Location", vec![text(own("cell 1")), text(own("cell 2"))]),
                (
                    "Opcode",
                    vec![text("FADD".to_owned()), text(own("table opcode"))]
                ),
                (
                    &*column_name,
                    vec![Value::F64(20_000_000.0), Value::F64(5.0)]
                ),
                ("Size", vec![Value::U64(5), Value::U64(6)]),
                ("Size", vec![Value::U64(7), Value::U64(128)]),
            ]
        );
        let other = own("other source metric");
        assert_eq!(charts.source_metrics, [METRICS[2], &other]);
        assert_eq!(charts.proposes.as_deref(), Some(&*own("proposal")));

        let [line, instruction] = &rule.markers[..] else {
            panic!("{:?}", rule.markers)
        };
        assert_eq!((line.line, line.address), (Some(42), None));
        assert_eq!(line.kind, Some(MessageKind::Warning));
        assert_eq!(line.text, own("mark of a line"));
        assert_eq!(line.file.as_deref(), Some(&*own("marked file")));
        assert_eq!(
            (instruction.line, instruction.address),
            (None, Some(0x7f00_0000_1010))
        );
        assert_eq!(instruction.text, own("mark of an instruction"));
        assert_eq!(instruction.file, None);

        let sections = profile.sections();
        assert!(sections.problems.is_empty());
        assert_eq!(sections.value.len(), 1);
        assert_eq!(sections.value[0].id, "SpeedOfLight");
        assert_eq!(sections.value[0].title, "GPU Speed Of Light Throughput");
    });
}

#[test]
fn nvtx() {
    each_kind(|profile, name| {
        let own = |label: &str| format!("{name} nvtx {label}");
        let state = profile.nvtx();
        assert!(state.problems.is_empty());
        let state = state.value.unwrap();
        let domains: Vec<_> = state.domains.iter().map(|d| (d.id, &*d.name)).collect();
        assert_eq!(domains, [(1, &*own("domain")), (0, "")]);
        let [thread] = &state.threads[..] else {
            panic!("{:?}", state.threads)
        };
        assert_eq!(thread.id, 8_111_222);
        let stack: Vec<_> = thread
            .stack
            .iter()
            .map(|range| (range.domain, range.name.to_string(), range.category))
            .collect();
        assert_eq!(
            stack,
            [
                (1, own("outer"), None),
                (1, own("message"), Some(21)),
                (1, own("registered"), Some(21)),
            ]
        );
        assert_eq!(thread.stack[1].colour, Some(0xff00_ff00));
        let [range] = &state.ranges[..] else {
            panic!("{:?}", state.ranges)
        };
        assert_eq!((range.domain, &*range.name), (0, &*own("start")));
        assert_eq!(range.thread, Some(8_111_222));
        assert_eq!(range.category, Some(21));
    });
}

#[test]
fn stacks() {
    each_kind(|profile, name| {
        for (stack, language, kind) in [
            (profile.cpu_stack(), "native", StackKind::Native),
            (profile.python_stack(), "python", StackKind::Python),
        ] {
            let own = |label: &str| format!("{name} {language} {label}");
            assert!(stack.problems.is_empty());
            let stack = stack.value.unwrap();
            assert_eq!(stack.kind, kind);
            let [inner, outer] = &stack.frames[..] else {
                panic!("{:?}", stack.frames)
            };
            assert_eq!(inner.module.as_deref(), Some(&*own("module")));
            assert_eq!(inner.pc, Some(94_293_794_730_672));
            assert_eq!(inner.file.as_deref(), Some(&*own("file")));
            assert_eq!(inner.function.as_deref(), Some(&*own("function")));
            assert_eq!(inner.line, Some(17));
            assert_eq!(outer.function.as_deref(), Some(&*own("caller")));
            assert_eq!((&outer.module, outer.pc, outer.line), (&None, None, None));
        }
    });
}

#[test]
fn processes() {
    let bytes = report_bytes();
    let report = Report::parse(&bytes).unwrap();
    let found: Vec<_> = report
        .processes()
        .iter()
        .map(|process| (process.id, &*process.host, &*process.executable))
        .collect();
    assert_eq!(
        found,
        [
            (7_654_321, "first host", "first executable"),
            (7_654_322, "second host", "second executable"),
        ]
    );
    let ids: Vec<_> = report
        .profiles()
        .map(|profile| profile.process().unwrap().id)
        .collect();
    assert_eq!(ids, [7_654_321, 7_654_321, 7_654_322, 7_654_322]);
}

#[test]
fn sources() {
    let bytes = report_bytes();
    let report = Report::parse(&bytes).unwrap();
    let keys: Vec<_> = report.sources().collect();
    assert_eq!(
        keys.iter().map(|key| key.reference).collect::<Vec<_>>(),
        [77]
    );
    let header = report.profile(0).unwrap().header().value;
    assert_eq!(header.sources, keys);
    let source = report.source(keys[0]).unwrap();
    assert!(source.problems.is_empty());
    let source = source.value;
    assert_eq!(source.text.as_deref(), Some("source text"));
    assert_eq!(source.intermediate.as_deref(), Some("ptx"));
    assert_eq!(source.cubin, Some(&b"cubin"[..]));
    assert_eq!(source.sass_level, Some(9));
    assert_eq!(source.compute_capability, Some((9, 1)));
    assert_eq!(source.binary_flags, Some(4));
    let files: Vec<_> = source
        .files
        .iter()
        .map(|file| (&*file.path, file.content.as_deref()))
        .collect();
    assert_eq!(
        files,
        [("file path", Some("file content")), ("missing file", None)]
    );
    let symbols = |list: &[ncu_rep::report::Relocation<'_>]| -> Vec<_> {
        list.iter()
            .map(|entry| (entry.symbol.to_string(), entry.address, entry.symbol_index))
            .collect()
    };
    assert_eq!(
        symbols(&source.functions),
        [
            ("kernel mangled".to_owned(), 0x7f00_0000_1000, 11),
            ("other function".to_owned(), 0x7f00_0000_2000, 12),
            ("late function".to_owned(), 0x7f00_0000_4000, 14),
        ]
    );
    assert_eq!(
        symbols(&source.objects),
        [("data object".to_owned(), 0x7f00_0000_3000, 13)]
    );
}

#[test]
fn capture_details() {
    let bytes = report_bytes();
    let report = Report::parse(&bytes).unwrap();
    let session = report.session();
    assert_eq!(session.process_id, Some(7_654_321));
    assert_eq!(session.created_unix_s, Some(1_795_995_160));
    for (system, side) in [(&session.host, "host"), (&session.target, "target")] {
        let own = |label: &str| Some(format!("{side} {label}"));
        let system = system.as_ref().unwrap();
        assert_eq!(system.os.as_deref(), own("os").as_deref());
        assert_eq!(system.build.as_deref(), own("build").as_deref());
        assert_eq!(system.processor.as_deref(), own("processor").as_deref());
        assert_eq!(
            system.architecture.as_deref(),
            own("architecture").as_deref()
        );
        assert_eq!(system.name.as_deref(), own("name").as_deref());
        let addresses = [own("address 4").unwrap(), own("address 6").unwrap()];
        assert_eq!(system.addresses, addresses);
    }
    let [device] = &session.devices[..] else {
        panic!("{:?}", session.devices)
    };
    assert_eq!(device.index, 3);
    assert_eq!(device.name.as_deref(), Some("NVIDIA H200"));
    assert_eq!(
        device.attribute("multiprocessor_count"),
        Some(&Value::U64(132))
    );
    assert_eq!(device.attributes.len(), 4);
    assert_eq!(session.comment.as_deref(), Some("session comment"));
    assert_eq!(session.profiler_version(), Some("2025.3.1.0"));
    assert_eq!(session.version("version provider"), Some("version text"));
    let executable = session.executable.as_ref().unwrap();
    assert_eq!(executable.path.as_deref(), Some("executable path"));
    assert_eq!(
        executable.directory.as_deref(),
        Some("executable directory")
    );
    assert_eq!(
        executable.arguments.as_deref(),
        Some("executable arguments")
    );
    assert_eq!(executable.environment, ["environment 1", "environment 2"]);
    assert!(session.command_line.is_some());
    assert_eq!(session.collection.sets, ["full"]);
}
