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

mod support;

use std::cell::RefCell;
use std::collections::BTreeSet;

use ncu_rep::redact::{Options, Redacted, Subject, redact, redact_to_vec};
use ncu_rep::report::RuleResult;
use ncu_rep::{Report, Value};
use support::{Kind, Maker, PRIVATE_NUMBERS, Random, message, varint};

const NAMED: Options = Options {
    rename_kernels: false,
};
const RENAMED: Options = Options {
    rename_kernels: true,
};

fn run(bytes: &[u8], options: &Options) -> Redacted {
    redact_to_vec(bytes, options).unwrap()
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    // Compares where the first byte fits; windows alone are slow on megabytes.
    let first = part[0];
    let mut start = 0;
    while let Some(place) = bytes[start..].iter().position(|byte| *byte == first) {
        start += place;
        if bytes[start..].starts_with(part) {
            return true;
        }
        start += 1;
    }
    false
}

/// Metrics whose values identify a machine; spelled out here, not asked from the code under test.
const PRIVATE: &[&str] = &[
    "numa__cpu_affinity",
    "numa__id_cpu",
    "numa__id_memory",
    "device__attribute_host_numa_id",
    "device__attribute_pci_bus_id",
    "device__attribute_pci_device_id",
    "device__attribute_pci_domain_id",
    "device__attribute_gpu_pci_device_id",
    "device__attribute_gpu_pci_ext_device_id",
    "device__attribute_gpu_pci_revision_id",
    "device__attribute_gpu_pci_sub_system_id",
    "device__attribute_multi_gpu_board_group_id",
];

const TIMES: std::ops::Range<u64> = 1_000_000_000_000_000_000..4_000_000_000_000_000_000;

/// Text that tells two values apart, whether they are numbers or not.
fn shown(value: &Option<Value<'_>>) -> String {
    match value {
        Some(Value::F64(value)) => format!("f64 {:x}", value.to_bits()),
        other => format!("{other:?}"),
    }
}

/// Compares all metrics of two reports and counts values, private ones and times.
fn compare_metrics(before: &Report<'_>, after: &Report<'_>, options: &Options) -> [usize; 3] {
    let (mut values, mut private, mut times) = (0, 0, 0);
    assert_eq!(before.len(), after.len());
    for (old, new) in before.profiles().zip(after.profiles()) {
        let (old, new) = (old.metrics(), new.metrics());
        assert_eq!((old.problems.len(), new.problems.len()), (0, 0));
        assert_eq!(old.value.len(), new.value.len());
        let mut offset = None;
        for (old, new) in old.value.iter().zip(&new.value) {
            assert_eq!((old.name, old.category), (new.name, new.category));
            if PRIVATE.contains(&old.name) {
                assert!(new.value.is_none() && !new.has_instances(), "{}", new.name);
                private += 1;
                continue;
            }
            assert_eq!(shown(&old.value), shown(&new.value), "{}", old.name);
            let (mut old_list, mut new_list) = (old.instances(), new.instances());
            loop {
                let (old_item, new_item) = match (old_list.next(), new_list.next()) {
                    (None, None) => break,
                    (Some(old), Some(new)) => (old.unwrap(), new.unwrap()),
                    other => panic!("{}: {other:?}", old.name),
                };
                values += 1;
                match (&old_item.key, &new_item.key) {
                    (Some(Value::U64(old)), Some(Value::U64(new))) if TIMES.contains(old) => {
                        times += 1;
                        assert!(*new > 0);
                        assert_eq!(*offset.get_or_insert(old - new), old - new);
                    }
                    (old_key, new_key) => assert_eq!(shown(old_key), shown(new_key)),
                }
                if old.name == "launch__kernel_name" && options.rename_kernels {
                    let Some(Value::Text(name)) = &new_item.value else {
                        panic!("{new_item:?}")
                    };
                    assert!(name.starts_with("kernel_"), "{name}");
                } else {
                    assert_eq!(
                        shown(&old_item.value),
                        shown(&new_item.value),
                        "{}",
                        old.name
                    );
                }
            }
        }
    }
    [values, private, times]
}

/// Everything in a report that a redaction has to remove, as bytes.
fn secrets(report: &Report<'_>, options: &Options) -> BTreeSet<Vec<u8>> {
    let mut texts: Vec<String> = Vec::new();
    let session = report.session();
    for system in [&session.host, &session.target].into_iter().flatten() {
        for text in [&system.build, &system.processor, &system.name] {
            texts.extend(text.iter().map(|text| text.to_string()));
        }
        texts.extend(system.addresses.iter().map(|text| text.to_string()));
    }
    // The path, its folders, and the name of the file.
    let path = |text: &str| -> Vec<String> {
        let folders = text.split('/').map(|folder| format!("/{folder}"));
        let name = text.rsplit('/').next().filter(|name| name.contains('.'));
        let name = name.map(str::to_owned);
        folders.chain(name).chain([text.to_owned()]).collect()
    };
    for process in report.processes() {
        texts.push(process.host.clone());
        texts.extend(path(&process.executable));
    }
    if let Some(line) = &session.command_line {
        let mut words = line.split_ascii_whitespace();
        texts.extend(path(words.next().unwrap()));
        let words: Vec<_> = words.collect();
        let program = words
            .iter()
            .position(|word| Some(*word) == session.collection.program.as_deref());
        // An argument that is also a part of a kernel's or metric's name is in the report for that reason.
        let is_name = |word: &str| {
            report.profiles().any(|profile| {
                let header = profile.header().value;
                let mangled = header.mangled_name.unwrap_or_default();
                mangled.contains(word)
                    || profile
                        .metrics()
                        .value
                        .iter()
                        .any(|metric| metric.name.contains(word))
            })
        };
        let words_of_program = words[program.unwrap()..].iter();
        texts.extend(
            words_of_program
                .filter(|word| !is_name(word))
                .map(|word| (*word).to_owned()),
        );
        let output = words.iter().position(|word| *word == "-o").unwrap();
        texts.push(words[output + 1].to_owned());
    }
    for reference in report.source_references() {
        let source = report.source(reference).unwrap().value;
        for file in &source.files {
            texts.extend(path(&file.path));
            texts.extend(
                file.content
                    .iter()
                    .flat_map(|text| text.lines())
                    .map(str::to_owned),
            );
        }
        if let Some(code) = source.cubin {
            texts.extend(strings(code, 16).into_iter().step_by(997));
        }
        let profiled: Vec<_> = report
            .profiles()
            .filter_map(|profile| profile.header().value.mangled_name)
            .collect();
        for entry in source.functions.iter().chain(&source.objects) {
            let is_shown = profiled.contains(&entry.symbol) && !options.rename_kernels;
            // The name of one function may be a part of another's.
            let is_part = profiled.iter().any(|name| name.contains(&*entry.symbol));
            if !is_shown && (options.rename_kernels || !is_part) {
                texts.push(entry.symbol.to_string());
            }
        }
    }
    for profile in report.profiles() {
        let header = profile.header().value;
        if options.rename_kernels {
            for name in [
                header.mangled_name,
                header.function_name,
                header.demangled_name,
            ] {
                texts.extend(name.map(|name| name.to_string()));
            }
        }
        for rule in profile.rules().value {
            for marker in rule.markers {
                texts.extend(marker.file.iter().flat_map(|file| path(file)));
                texts.push(marker.text.to_string());
            }
            for item in rule.items {
                texts.extend(item.message.map(|message| message.text.to_string()));
                texts.extend(
                    item.focus
                        .and_then(|focus| focus.advice)
                        .map(|text| text.to_string()),
                );
            }
        }
    }
    texts.extend(["/home", "user", "alice", "ridgepoint"].map(str::to_owned));
    let mut found: BTreeSet<Vec<u8>> = texts
        .into_iter()
        // Short ones, and words that are names of metrics or sections too, say nothing.
        // The version of the profiler stays.
        .filter(|text| !text.chars().all(|c| c.is_ascii_digit() || c == '.'))
        .filter(|text| text.len() >= 5 && !["fixed", "kernel", "--profile"].contains(&&**text))
        .map(String::into_bytes)
        .collect();
    for profile in report.profiles() {
        let header = profile.header().value;
        for number in [header.thread_id, header.created_unix_s]
            .into_iter()
            .flatten()
        {
            if number > 1 << 28 {
                found.insert(varint(number));
            }
        }
    }
    found
}

/// Printable runs of at least so many characters.
fn strings(bytes: &[u8], least: usize) -> Vec<String> {
    bytes
        .split(|byte| !byte.is_ascii_graphic() && *byte != b' ')
        .filter(|run| run.len() >= least)
        .map(|run| String::from_utf8(run.to_vec()).unwrap())
        .collect()
}

/// What looks like a path, an address or a user in a redacted report.
fn suspicious(bytes: &[u8]) -> Vec<String> {
    let mut found: Vec<String> = support::texts(bytes)
        .into_iter()
        // Few characters are a number with its tag more often than a text, and two line feeds are a tag and a length.
        .filter(|text| text.chars().count() > 4)
        .map(|text| text.trim().to_owned())
        // The same of a command line of 47 bytes that is alone in its message.
        .map(|text| text.replace("Z/ncu ", "ncu "))
        .filter(|text| {
            let is_version = text.contains("(build ") || text.starts_with("0.");
            let has_v4 = text
                .split(|c: char| !c.is_ascii_digit() && c != '.')
                .any(|word| word.split('.').filter(|part| !part.is_empty()).count() == 4);
            let is_known = [
                "FP32/64 Instructions",
                "FP16/32 Utilization",
                "FP32/64 Utilization",
                "FP64/32 Utilization",
                "Load/Store",
            ]
            .contains(&&**text);
            (text.contains(['/', '\\', '@']) && !is_known)
                || (has_v4 && !is_version)
                || text.to_ascii_lowercase().contains("home")
                || text.contains("::%")
        })
        .collect();
    let lower = bytes.to_ascii_lowercase();
    let words = [
        "/home",
        "/usr",
        "/opt",
        "c:\\",
        "home/",
        "fe80::",
        "fd00::",
        "192.0.2",
        "127.0.0.1",
        "_cu_",
    ];
    for word in words {
        if contains(&lower, word.as_bytes()) {
            found.push(word.to_owned());
        }
    }
    found
}

/// Checks one real report in both ways.
fn check(name: &str, bytes: &[u8]) -> [usize; 4] {
    let before = Report::parse(bytes).unwrap();
    let mut counts = [0; 4];
    for options in [NAMED, RENAMED] {
        let redacted = run(bytes, &options);
        assert_eq!(redacted.redaction.problems, [], "{name}");
        let after = Report::parse(&redacted.bytes).unwrap();
        assert_eq!(after.problems(), [], "{name}");
        let [values, private, times] = compare_metrics(&before, &after, &options);
        compare_rest(&before, &after, &options);
        // Nothing of the profiler's own is taken for something else.
        let doubtful = redacted.redaction.removed.iter().find(|removal| {
            matches!(
                removal.subject,
                Subject::MetricNames
                    | Subject::MetricTexts
                    | Subject::ForeignRules
                    | Subject::Components
                    | Subject::Unknown
            )
        });
        assert_eq!(doubtful, None, "{name}");

        let secrets = secrets(&before, &options);
        for secret in &secrets {
            assert!(
                !contains(&redacted.bytes, secret),
                "{name}: {}",
                String::from_utf8_lossy(secret)
            );
        }
        assert_eq!(suspicious(&redacted.bytes), [""; 0], "{name}");

        let again = run(&redacted.bytes, &options);
        assert!(again.bytes == redacted.bytes, "{name}: twice is not once");
        assert_eq!(again.redaction.removed, [], "{name}");
        counts = [values, private, times, secrets.len()];
    }
    counts
}

/// What stays beside the metrics.
fn compare_rest(before: &Report<'_>, after: &Report<'_>, options: &Options) {
    let (old, new) = (before.session(), after.session());
    let mut collection = old.collection.clone();
    collection.program = collection.program.map(|_| "app".to_owned());
    assert_eq!(new.collection, collection);
    assert_eq!(new.versions, old.versions);
    assert_eq!(new.devices.len(), old.devices.len());
    assert_eq!(after.processes().len(), before.processes().len());
    for (old, new) in old.devices.iter().zip(&new.devices) {
        assert_eq!((old.index, &old.name), (new.index, &new.name));
        let kept: Vec<_> = old
            .attributes
            .iter()
            .filter(|(name, _)| {
                let full = format!("device__attribute_{name}");
                !PRIVATE.contains(&&*full)
            })
            .cloned()
            .collect();
        assert_eq!(new.attributes, kept);
    }
    for (old, new) in before.profiles().zip(after.profiles()) {
        assert_eq!(old.kind(), new.kind());
        assert_eq!(old.sections().value, new.sections().value);
        let (old_rules, new_rules) = (old.rules().value, new.rules().value);
        assert_eq!(old_rules.len(), new_rules.len());
        for (old, new) in old_rules.iter().zip(&new_rules) {
            assert_eq!(
                (&old.id, &old.name, &old.section),
                (&new.id, &new.name, &new.section)
            );
            let heads = |rule: &RuleResult<'_>| -> Vec<String> {
                let messages = rule.messages().map(|(message, speedup)| {
                    format!(
                        "{:?} {:?} {:?} {speedup:?}",
                        message.id, message.kind, message.title
                    )
                });
                let focus = rule.items.iter().flat_map(|item| &item.focus);
                let focus = focus.map(|focus| format!("{} {:?}", focus.name, focus.value));
                messages.chain(focus).collect()
            };
            assert_eq!(heads(old), heads(new));
            let marks = |rule: &RuleResult<'_>| -> Vec<_> {
                rule.markers
                    .iter()
                    .map(|mark| (mark.line, mark.address))
                    .collect()
            };
            assert_eq!(marks(old), marks(new));
        }
        let (old, new) = (old.header().value, new.header().value);
        assert_eq!(old.launches, new.launches);
        assert_eq!(old.sources, new.sources);
        assert_eq!((old.scope, old.clock), (new.scope, new.clock));
        assert_eq!(
            (old.context_id, old.stream_id),
            (new.context_id, new.stream_id)
        );
        assert_eq!(old.driver_version, new.driver_version);
        assert_eq!((new.created_unix_s, &new.comment), (None, &None));
        if options.rename_kernels {
            assert_eq!(new.name().is_some(), old.name().is_some());
            assert!(new.name().is_none_or(|name| name.starts_with("kernel_")));
        } else {
            assert_eq!(old.demangled_name, new.demangled_name);
            assert_eq!(old.function_name, new.function_name);
        }
        // The function of a kernel is still found by its symbol, at the same address.
        let address = |report: &Report<'_>, name: &str, reference: u64| {
            let source = report.source(reference)?.value;
            let found = source.functions.iter().find(|entry| entry.symbol == name);
            found.map(|entry| entry.address)
        };
        if let (Some(old_name), Some(new_name), [reference]) =
            (&old.mangled_name, &new.mangled_name, &old.sources[..])
        {
            assert_eq!(
                address(before, old_name, *reference),
                address(after, new_name, *reference)
            );
        }
    }
}

#[test]
fn the_committed_report() {
    let [values, private, times, secrets] = check("vadd", &support::fixture());
    assert!(values > 10_000 && private > 20 && times > 1_000 && secrets > 100);
}

#[test]
#[ignore = "needs the collection of reports; RIDGE_CORPUS names its folders"]
#[expect(clippy::print_stderr, reason = "shown with --nocapture only")]
fn the_corpus() {
    let mut total = [0; 4];
    let reports = support::corpus();
    for path in &reports {
        let counts = check(&path.to_string_lossy(), &support::load(path));
        total = std::array::from_fn(|place| total[place] + counts[place]);
    }
    let [values, private, times, secrets] = total;
    eprintln!(
        "{} reports: {values} instances equal, {private} private metrics emptied, {times} times moved, {secrets} secrets looked for",
        reports.len()
    );
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
        let source = report.source(77).unwrap().value;
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
            .get(support::METRICS[4])
            .unwrap()
            .by_number()
            .unwrap();
        assert_eq!(series, [(0, 0.0), (1, 1.0), (1_001, 3.0)]);
        let metrics = profile.metrics().value;
        let breakdown = metrics.text(support::METRICS[8]);
        assert_eq!(breakdown, Some("gpu__time_duration.sum,other"));
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
                    1 => {
                        let (from, to) = (random.below(bytes.len()), random.below(bytes.len()));
                        let part = bytes[from..(from + random.below(64)).min(bytes.len())].to_vec();
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
                for reference in report.source_references() {
                    assert_eq!(report.source(reference).unwrap().problems, []);
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
    let bytes = support::fixture();
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
    let strings = support::METRICS
        .iter()
        .fold(message(), |table, name| table.text(1, name));
    let block = support::Block {
        header: message().part(4, strings),
        entries: vec![(Kind::Kernel, result); 100],
    };
    let bytes = support::file(&[block]);
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
    assert_eq!(redact_to_vec(newer, &NAMED).unwrap_err().code(), "NCU0016");
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let error = redact(&support::fixture(), &NAMED, &mut Full).unwrap_err();
    assert_eq!(error.code(), "NCU0015");
}
