//! Redaction: metrics stay, secrets do not. Real reports, a report made by hand with a secret in every text, and
//! damaged ones.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    clippy::panic,
    reason = "tests"
)]

mod made;

use std::cell::RefCell;

use made::compare::{NAMED, RENAMED, check, contains, run};
use made::{Kind, Maker, PRIVATE_NUMBERS, Random, message, varint};
use ncu_rep::redact::{Subject, redact, redact_to_vec};
use ncu_rep::{Report, Value};

#[test]
fn the_committed_reports() {
    let [values, private, times, secrets] = check("vadd", &made::fixture());
    assert!(values > 10_000 && private > 20 && times > 1_000 && secrets > 100);
    // Ranges, graphs, NVTX, call stacks, two processes.
    let folder = made::root().join("fixtures/reports/small");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.to_string_lossy().contains(".ncu-rep") {
            check(&path.to_string_lossy(), &made::load(&path));
            count += 1;
        }
    }
    assert!(count >= 10);
}

/// A report with a secret of its own in every text, and the list of those.
fn planted(is_plausible: bool, make: impl Fn(usize) -> String) -> (Vec<u8>, Vec<(String, String)>) {
    let list = RefCell::new(Vec::new());
    let bytes = Maker {
        text: &|label| {
            let mut list = list.borrow_mut();
            // The same field of the same name is the same text: kernels are found by their names.
            if let Some((_, secret)) = list.iter().find(|(known, _)| known == label) {
                return String::clone(secret);
            }
            let secret = make(list.len());
            list.push((label.to_owned(), secret.clone()));
            secret
        },
        is_plausible,
    }
    .report();
    (bytes, list.into_inner())
}

/// Fields that hold kernel names, which stay unless they are to be renamed.
fn is_kernel_name(label: &str) -> bool {
    label.ends_with(" mangled") || label.ends_with(" function") || label.ends_with(" demangled")
}

fn word(number: usize) -> String {
    format!("zqPlanted{number:04}qz")
}

fn path(number: usize) -> String {
    format!("/home/zqalice/Planted-{number:04}.cu")
}

#[test]
fn no_planted_text_is_left() {
    for make in [word, path] {
        for is_plausible in [true, false] {
            for options in [NAMED, RENAMED] {
                let (bytes, secrets) = planted(is_plausible, make);
                assert!(secrets.len() > 200, "{}", secrets.len());
                let redacted = run(&bytes, &options);
                assert_eq!(redacted.redaction.problems, []);
                for (label, secret) in &secrets {
                    let native = label.contains("native") || label.contains("python");
                    if is_kernel_name(label)
                        && !native
                        && !options.rename_kernels
                        && make(0) == word(0)
                    {
                        continue;
                    }
                    assert!(
                        contains(&bytes, secret.as_bytes()),
                        "{label} is not planted"
                    );
                    assert!(
                        !contains(&redacted.bytes, secret.as_bytes()),
                        "{label}: {secret}"
                    );
                    // Nor a part of it.
                    assert!(
                        !contains(&redacted.bytes, &secret.as_bytes()[..12])
                            || (make(0) == word(0) && !options.rename_kernels),
                        "{label}"
                    );
                }
                let report = Report::parse(&redacted.bytes).unwrap();
                assert_eq!(report.problems(), []);
                let again = run(&redacted.bytes, &options);
                assert!(again.bytes == redacted.bytes);
                assert_eq!(again.redaction.removed, []);
            }
        }
    }
}

#[test]
fn no_private_number_is_left() {
    let (bytes, _) = planted(true, word);
    let redacted = run(&bytes, &NAMED);
    for number in PRIVATE_NUMBERS {
        assert!(contains(&bytes, &varint(number)), "{number} is not planted");
        assert!(!contains(&redacted.bytes, &varint(number)), "{number}");
    }
}

#[test]
fn everything_that_is_removed_is_listed() {
    let (bytes, _) = planted(true, word);
    let redacted = run(&bytes, &RENAMED);
    let subjects: Vec<_> = redacted
        .redaction
        .removed
        .iter()
        .map(|removal| removal.subject)
        .collect();
    for subject in [
        Subject::Machine,
        Subject::Program,
        Subject::CommandLine,
        Subject::Settings,
        Subject::Ids,
        Subject::HostAddresses,
        Subject::Times,
        Subject::Comments,
        Subject::GivenNames,
        Subject::Nvtx,
        Subject::CallStacks,
        Subject::SourceFiles,
        Subject::IntermediateCode,
        Subject::Cubins,
        Subject::Symbols,
        Subject::KernelNames,
        Subject::RuleTexts,
        Subject::MarkedFiles,
        Subject::SectionLayout,
        Subject::ForeignRules,
        Subject::DeviceIdentity,
        Subject::MetricTexts,
        Subject::MetricNames,
        Subject::Components,
        Subject::Opaque,
        Subject::Unknown,
    ] {
        assert!(subjects.contains(&subject), "{subject:?}");
        assert!(!subject.description().is_empty());
    }
    assert!(
        Subject::Cubins
            .consequence()
            .unwrap()
            .contains("source lines")
    );
    let identity = redacted
        .redaction
        .removed
        .iter()
        .find(|removal| removal.subject == Subject::DeviceIdentity);
    assert_eq!(
        identity.unwrap().places,
        ["device__attribute_pci_bus_id", "numa__cpu_affinity"]
    );
    assert_eq!(redacted.redaction.kernel_names, [""; 0]);
}

#[test]
fn kernels_are_renamed_everywhere_or_nowhere() {
    let text = |label: &str| match label {
        // The graph has a node of the kernel.
        "graph function" => "kernel function".to_owned(),
        _ => label.to_owned(),
    };
    let bytes = Maker {
        text: &text,
        is_plausible: true,
    }
    .report();
    for (options, kernel, range) in [
        (
            NAMED,
            ["kernel mangled", "kernel function", "kernel demangled"],
            "range function",
        ),
        (RENAMED, ["kernel_1"; 3], "kernel_2"),
    ] {
        let redacted = run(&bytes, &options);
        let report = Report::parse(&redacted.bytes).unwrap();
        let header = report.profile(0).unwrap().header().value;
        let names = [
            &header.mangled_name,
            &header.function_name,
            &header.demangled_name,
        ];
        assert_eq!(names.map(|name| name.as_deref().unwrap()), kernel);
        let node = |place: usize| {
            let metrics = report.profile(place).unwrap().metrics().value;
            let instance = metrics
                .get("launch__kernel_name")
                .unwrap()
                .instances()
                .next();
            match instance.unwrap().unwrap().value.unwrap() {
                Value::Text(text) => text.to_string(),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(
            (node(0), node(3)),
            (kernel[1].to_owned(), kernel[1].to_owned())
        );
        assert_eq!(node(1), range);
        let source = report.source(header.sources[0]).unwrap().value;
        let symbols: Vec<_> = source
            .functions
            .iter()
            .map(|entry| (&*entry.symbol, entry.address))
            .collect();
        assert_eq!(
            symbols,
            [
                (kernel[0], 0x7f00_0000_1000),
                ("function_1", 0x7f00_0000_2000),
                ("function_2", 0x7f00_0000_4000),
            ]
        );
        assert_eq!(source.objects[0].symbol, "object_1");
    }
}

#[test]
fn what_is_harmless_stays() {
    let bytes = Maker {
        text: &|label| label.to_owned(),
        is_plausible: true,
    }
    .report();
    let redacted = run(&bytes, &NAMED);
    let report = Report::parse(&redacted.bytes).unwrap();
    assert_eq!(
        report.session().command_line.as_deref(),
        Some(
            "ncu --set full --clock-control none --section section --metrics gpu__time_duration.sum,other app"
        )
    );
    assert_eq!(report.processes()[0].host, "host");
    let ids: Vec<_> = report
        .profiles()
        .map(|profile| profile.process().unwrap().id)
        .collect();
    assert_eq!(ids, [1, 1, 2, 2]);
    let threads: Vec<_> = report
        .profiles()
        .map(|profile| profile.header().value.thread_id)
        .collect();
    assert_eq!(threads, [Some(1), Some(2), Some(3), Some(4)]);
    for profile in report.profiles() {
        let rules = profile.rules();
        assert!(rules.problems.is_empty());
        let [rule] = &rules.value[..] else { panic!() };
        let columns: Vec<_> = rule.items[0]
            .table
            .as_ref()
            .unwrap()
            .columns
            .iter()
            .map(|column| column.values.clone())
            .collect();
        let removed = || Value::Text("(removed)".into());
        assert_eq!(columns[0], [removed(), removed()]);
        assert_eq!(columns[1], [Value::Text("FADD".into()), removed()]);
        assert_eq!(columns[2], [Value::F64(20_000_000.0), Value::F64(5.0)]);
        assert_eq!(columns[3], [Value::U64(5), Value::U64(6)]);
        assert_eq!(columns[4], [Value::U64(7), Value::U64(128)]);
        let series = profile
            .metrics()
            .value
            .get(made::METRICS[4])
            .unwrap()
            .by_number()
            .unwrap();
        assert_eq!(series, [(0, 0.0), (1, 1.0), (1_001, 3.0)]);
        let metrics = profile.metrics().value;
        let breakdown = metrics.text(made::METRICS[8]);
        assert_eq!(breakdown, Some("gpu__time_duration.sum,sm__unknown.avg"));
        assert!(profile.nvtx().value.is_none());
        assert!(profile.cpu_stack().value.is_none() && profile.python_stack().value.is_none());
    }
}

/// The strongest test: whatever is damaged, no secret gets through.
#[test]
fn damage_lets_nothing_through() {
    let mut random = Random(0x5eed_1234_5678_9abc);
    let mut readable = 0;
    for (options, make) in [
        (RENAMED, word as fn(usize) -> String),
        (NAMED, path),
        (RENAMED, path),
    ] {
        for is_plausible in [true, false] {
            let (bytes, secrets) = planted(is_plausible, make);
            // The part that all secrets share: enough to be a leak.
            let mark = &make(0).into_bytes()[..if make(0) == word(0) { 9 } else { 15 }];
            assert!(
                secrets
                    .iter()
                    .all(|(_, secret)| contains(secret.as_bytes(), mark))
            );
            for round in 0..1_500 {
                let mut bytes = bytes.clone();
                match round % 4 {
                    0 => bytes.truncate(random.below(bytes.len())),
                    // Shorter than a mark: a secret that is copied into the name of a metric is a part of that name.
                    1 => {
                        let (from, to) = (random.below(bytes.len()), random.below(bytes.len()));
                        let part = bytes[from..(from + random.below(9)).min(bytes.len())].to_vec();
                        bytes.splice(to..to, part);
                    }
                    _ => {}
                }
                for _ in 0..random.below(6) {
                    if bytes.is_empty() {
                        break;
                    }
                    let place = random.below(bytes.len());
                    match random.below(3) {
                        0 => bytes[place] ^= 1 << random.below(8),
                        1 => bytes[place] = random.next() as u8,
                        _ => bytes[place] = bytes[place].wrapping_add(1),
                    }
                }
                let Ok(redacted) = redact_to_vec(&bytes, &options) else {
                    continue;
                };
                readable += 1;
                assert!(!contains(&redacted.bytes, mark), "round {round}");
                for problem in &redacted.redaction.problems {
                    assert!(
                        !problem
                            .to_string()
                            .contains(&*String::from_utf8_lossy(mark))
                    );
                }
                for removal in &redacted.redaction.removed {
                    assert!(!format!("{removal:?}").contains(&*String::from_utf8_lossy(mark)));
                }
                let report = Report::parse(&redacted.bytes).unwrap();
                assert!(
                    report.problems().iter().all(|problem| problem.is_remark()),
                    "{:?}",
                    report.problems()
                );
                for profile in report.profiles() {
                    assert_eq!(profile.header().problems, []);
                    assert_eq!(profile.metrics().problems, []);
                    assert_eq!(profile.rules().problems, []);
                    assert_eq!(profile.sections().problems, []);
                }
                for key in report.sources() {
                    assert_eq!(report.source(key).unwrap().problems, []);
                }
                let again = run(&redacted.bytes, &options);
                assert!(again.bytes == redacted.bytes, "round {round}");
                assert_eq!(again.redaction.problems, []);
            }
        }
    }
    assert!(readable > 5_000, "{readable}");
}

#[test]
fn a_truncated_report_keeps_what_stands_before() {
    let bytes = made::fixture();
    let before = Report::parse(&bytes).unwrap();
    let cut = &bytes[..bytes.len() - 1_000_000];
    let redacted = run(cut, &NAMED);
    let problems = &redacted.redaction.problems;
    assert!(problems.iter().any(|problem| problem.is_truncated()));
    let after = Report::parse(&redacted.bytes).unwrap();
    assert_eq!(after.problems(), []);
    assert!(!after.is_empty() && after.len() < before.len());
}

#[test]
fn results_of_one_block_get_blocks_of_their_own() {
    let maker = Maker {
        text: &|label| label.to_owned(),
        is_plausible: true,
    };
    let result = maker.result(Kind::Kernel);
    let strings = made::METRICS
        .iter()
        .fold(message(), |table, name| table.text(1, name));
    let block = made::Block {
        header: message().part(4, strings),
        entries: vec![(Kind::Kernel, result); 100],
    };
    let bytes = made::file(&[block]);
    // The writer gets pieces of the size of one result.
    struct Pieces(Vec<usize>);
    impl std::io::Write for Pieces {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.push(bytes.len());
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut pieces = Pieces(Vec::new());
    redact(&bytes, &NAMED, &mut pieces).unwrap();
    assert!(pieces.0.iter().max().unwrap() * 50 < bytes.len());
    let redacted = run(&bytes, &NAMED);
    let report = Report::parse(&redacted.bytes).unwrap();
    assert_eq!((report.len(), report.problems().len()), (100, 0));
    assert_eq!(report.profile(99).unwrap().metrics().problems, []);
}

#[test]
fn what_cannot_be_redacted_is_refused() {
    assert_eq!(redact_to_vec(b"", &NAMED).unwrap_err().code(), "NCU0001");
    assert_eq!(
        redact_to_vec(b"\x7fELF", &NAMED).unwrap_err().code(),
        "NCU0002"
    );
    let newer = b"NVR\0\x02\0\0\0\x08\x08";
    assert_eq!(redact_to_vec(newer, &NAMED).unwrap_err().code(), "NCU0018");
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let error = redact(&made::fixture(), &NAMED, &mut Full).unwrap_err();
    assert_eq!(error.code(), "NCU0017");
}
