//! Compares a real report with its redacted copy.

use std::collections::BTreeSet;

use ncu_rep::redact::{Options, Redacted, Subject, redact_to_vec};
use ncu_rep::report::{RuleResult, SourceKey};
use ncu_rep::{Report, Value};

use super::{texts, varint};

pub const NAMED: Options = Options {
    rename_kernels: false,
    metrics: None,
};
pub const RENAMED: Options = Options {
    rename_kernels: true,
    metrics: None,
};

pub fn run(bytes: &[u8], options: &Options) -> Redacted {
    redact_to_vec(bytes, options).unwrap()
}

pub fn contains(bytes: &[u8], part: &[u8]) -> bool {
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
        // An argument that is also a part of a kernel's or metric's name, or of an option, is in the report for that reason.
        let options = &words[..program.unwrap()];
        let is_name = |word: &str| {
            options.iter().any(|option| option.contains(word))
                || report.profiles().any(|profile| {
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
        let output = words[output + 1];
        // A report may be called after the set or the mode that it was made with.
        if words.iter().filter(|word| word.contains(output)).count() == 1 {
            texts.push(output.to_owned());
        }
    }
    for key in report.sources() {
        let source = report.source(key).unwrap().value;
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
    let mut found: Vec<String> = texts(bytes)
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

/// Checks one real report with and without names of kernels. Counts instances, private metrics, times and secrets.
pub fn check(name: &str, bytes: &[u8]) -> [usize; 4] {
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
                let sources = rule.items.iter().flat_map(|item| &item.source_metrics);
                let sources = sources.map(|name| name.to_string());
                let focus = rule.items.iter().flat_map(|item| &item.focus);
                let focus = focus.map(|focus| format!("{} {:?}", focus.name, focus.value));
                messages.chain(focus).chain(sources).collect()
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
        let address = |report: &Report<'_>, name: &str, key: SourceKey| {
            let source = report.source(key)?.value;
            let found = source.functions.iter().find(|entry| entry.symbol == name);
            found.map(|entry| entry.address)
        };
        if let (Some(old_name), Some(new_name), [key]) =
            (&old.mangled_name, &new.mangled_name, &old.sources[..])
        {
            assert_eq!(
                address(before, old_name, *key),
                address(after, new_name, *key)
            );
        }
    }
}
