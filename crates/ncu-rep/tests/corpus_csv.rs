//! Exports against the reports that they were made from, cell by cell.
//!
//! The small exports in `fixtures/csv` are always read. The comparison with reports needs the corpus: it is looked
//! for in `RIDGE_CORPUS`, then in `../shared/corpus`; without it those tests are reported as ignored.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    reason = "tests"
)]

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use ncu_rep::csv::{self, CsvReport, Kernel, Page};
use ncu_rep::report::Speedup;
use ncu_rep::{Metrics, Profile, Report, Unit, Value, unit_of};

/// Where the profiler's label of a unit is not ours: start of the name, a part of it, what is printed, why.
const EXCEPTIONS: &[(&str, &str, &str, &str)] = &[
    (
        "smsp__pcsamp_warps_issue_stalled_",
        "",
        "warp",
        "a count of samples",
    ),
    (
        "smsp__pcsamp_warps_issue_stalled_branch_resolving",
        "",
        "branches",
        "a count of samples",
    ),
    (
        "smsp__pcsamp_warps_issue_stalled_no_instructions",
        "",
        "inst",
        "a count of samples",
    ),
    ("smsp__pcsamp_sample_count", "", "", "a count of samples"),
    (
        "smsp__average_warps_issue_stalled_",
        ".ratio",
        "inst",
        "cycles per instruction; their sum is labelled cycle",
    ),
    ("smsp__imc_requests", ".sum", "cycle", "a count of requests"),
    ("sm__icc_requests", ".sum", "cycle", "a count of requests"),
    (
        "memory_l1_tag_requests_global",
        "",
        "sectors",
        "a count of requests",
    ),
    ("idc__requests", ".sum", "", "a count of requests"),
    ("l1tex__t_requests", ".sum", "", "a count of requests"),
    (
        "sm__sass_l1tex_t_requests",
        ".sum",
        "",
        "a count of requests",
    ),
    (
        "derived__local_spilling_requests",
        "",
        "",
        "a count of requests",
    ),
    (
        "memory_l1_wavefronts_shared",
        "",
        "sectors",
        "wavefronts, which have no unit elsewhere",
    ),
    ("gcc__xbar2gcc_sectors", ".sum", "", "a count of sectors"),
    (
        "derived__lts__lts2xbar_bytes",
        ".sum.peak_sustained",
        "Kbyte",
        "cycles per cycle times a size: byte/cycle",
    ),
    (
        "derived__lts__lts2xbar_bytes",
        ".sum.per_second",
        "Tbyte",
        "cycles per second times a size: byte/s",
    ),
    (
        "derived__l1tex__lsu_writeback_bytes",
        ".sum.peak_sustained",
        "",
        "cycles per cycle times a size: byte/cycle",
    ),
    (
        "derived__l1tex__lsu_writeback_bytes",
        ".sum.per_second",
        "",
        "cycles per second times a size: byte/s",
    ),
    (
        "derived__sm",
        "sass_thread_inst_executed",
        "thread",
        "a multiple of instructions per cycle",
    ),
    (
        "derived__smsp__inst_executed_op_branch_pct",
        "",
        "%",
        "a fraction between 0 and 1",
    ),
    (
        "derived__pct_occupancy_per_register_count",
        "",
        "%/register",
        "occupancy at a register count",
    ),
    (
        "derived__pct_occupancy_per_shared_mem_size",
        "",
        "%/Kbyte",
        "occupancy at a size",
    ),
    (
        "derived__pct_occupancy_per_barrier_count",
        "",
        "",
        "occupancy at a count of barriers",
    ),
    ("launch__block_dim_", "", "block", "threads of a block"),
    ("launch__block_size", "", "", "threads of a block"),
    ("launch__grid_", "", "", "blocks"),
    ("launch__cluster_dim_", "", "", "blocks"),
    ("launch__cluster_size", "", "", "blocks"),
    (
        "sass__inst_executed_per_opcode",
        "",
        "",
        "a count of instructions",
    ),
    (
        "sass__thread_inst_executed_",
        "per_opcode",
        "",
        "a count of instructions",
    ),
    ("sm__ops_path_tensor_", "", "", "operations"),
];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = vec![
        Trial::test("fixture::raw", || fixture_raw().map_err(Failed::from)),
        Trial::test("fixture::details", || {
            fixture_details().map_err(Failed::from)
        }),
        Trial::test("fixture::source", || fixture_source().map_err(Failed::from)),
        Trial::test("fixture::units", || {
            units(&fixture("aos_raw.csv")).map_err(Failed::from)
        }),
        Trial::test("fixture::pages_behind_each_other", || {
            fixture_pages().map_err(Failed::from)
        }),
        Trial::test("small::raw", || small_raw().map_err(Failed::from)),
        Trial::test("small::details", || small_details().map_err(Failed::from)),
        Trial::test("small::source", || small_source().map_err(Failed::from)),
        Trial::test("small::live", || small_live().map_err(Failed::from)),
        Trial::test("small::instances", || {
            small_instances().map_err(Failed::from)
        }),
        Trial::test("small::refused", || small_refused().map_err(Failed::from)),
        Trial::test("small::cut", || small_cut().map_err(Failed::from)),
        Trial::test("fixture::mutations", || mutations().map_err(Failed::from)),
        Trial::test("fixture::truncations", || {
            truncations().map_err(Failed::from)
        }),
    ];
    let corpus = corpus();
    for case in ["gemm", "aos"] {
        for (page, test) in [
            ("raw", raw_equals_report as fn(&Case) -> Result<(), String>),
            ("details", details_equal_report),
            ("source", source_equals_report),
            ("units", |case| units(&case.export("raw"))),
            ("text", text_export_is_named),
        ] {
            let corpus = corpus.clone();
            let trial = Trial::test(format!("corpus::{case}::{page}"), move || {
                let case = Case {
                    corpus: corpus.expect("the corpus"),
                    name: case,
                };
                test(&case).map_err(Failed::from)
            });
            trials.push(trial.with_ignored_flag(self::corpus().is_none()));
        }
    }
    if corpus.is_none() {
        eprintln_ignored();
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

#[expect(
    clippy::print_stderr,
    reason = "the reason belongs beside the list of ignored tests"
)]
fn eprintln_ignored() {
    eprintln!(
        "corpus tests are ignored: set RIDGE_CORPUS to the corpus, or put it at ../shared/corpus"
    );
}

// ------------------------------------------------------------------------------------------------------ inputs

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn corpus() -> Option<PathBuf> {
    let named = std::env::var_os("RIDGE_CORPUS").map(PathBuf::from);
    named
        .or_else(|| Some(root().join("../shared/corpus")))
        .filter(|folder| folder.join("text").is_dir())
}

fn unpacked(path: &Path) -> Vec<u8> {
    let packed = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    zstd::decode_all(&packed[..]).unwrap()
}

fn fixture(name: &str) -> String {
    String::from_utf8(unpacked(&root().join(format!("fixtures/csv/{name}.zst")))).unwrap()
}

struct Case {
    corpus: PathBuf,
    name: &'static str,
}

impl Case {
    fn export(&self, page: &str) -> String {
        let bytes = unpacked(
            &self
                .corpus
                .join(format!("text/{}_{page}.csv.zst", self.name)),
        );
        String::from_utf8(bytes).unwrap()
    }

    fn report(&self) -> Vec<u8> {
        unpacked(&self.corpus.join(format!("pairs/{}.ncu-rep.zst", self.name)))
    }
}

fn small(name: &str) -> String {
    fixture(&format!("small/{name}.csv"))
}

fn small_report(name: &str) -> Vec<u8> {
    unpacked(&root().join(format!("fixtures/reports/small/{name}.ncu-rep.zst")))
}

fn clean(text: &str) -> Result<CsvReport, String> {
    let report = csv::read(text.as_bytes()).map_err(|error| error.to_string())?;
    match report.problems.as_slice() {
        [] => Ok(report),
        problems => Err(format!("{problems:?}")),
    }
}

fn check(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

fn equal<T: PartialEq + std::fmt::Debug>(left: T, right: T, what: &str) -> Result<(), String> {
    check(left == right, || {
        format!("{what}: {left:?} is not {right:?}")
    })
}

/// The cells of a row in which every cell is quoted: a splitter that shares nothing with the one under test.
fn cells(line: &str) -> Vec<&str> {
    let line = line.strip_suffix(',').unwrap_or(line);
    let line = line.strip_prefix('"').unwrap_or(line);
    line.strip_suffix('"')
        .unwrap_or(line)
        .split("\",\"")
        .collect()
}

/// A printed number with what it stands for: the value in base units, and half of its last digit.
fn printed(cell: &str, unit: &str) -> Option<(f64, f64)> {
    let number: f64 = cell
        .replace(',', "")
        .parse()
        .ok()
        .filter(|number: &f64| number.is_finite())?;
    let decimals = cell
        .split_once('.')
        .map_or(0, |(_, fraction)| fraction.len() as i32);
    // Prefixes by hand, not by the code under test.
    let (above, below) = unit.split_once('/').unwrap_or((unit, ""));
    let prefix = |unit: &str| match unit {
        "ms" => 1e6,
        "us" => 1e3,
        "Ghz" | "Gbyte" => 1e9,
        "Mhz" | "Mbyte" => 1e6,
        "Kbyte" => 1e3,
        "Tbyte" => 1e12,
        _ => 1.0,
    };
    let factor = match below {
        "ns" => 1e9,
        "us" => 1e6,
        "ms" => 1e3,
        _ => prefix(above) * prefix(below),
    };
    Some((number * factor, 0.5 * 10_f64.powi(-decimals) * factor))
}

/// Whether a value is what a cell shows of it.
fn shows(cell: f64, half_digit: f64, value: f64) -> bool {
    (cell - value).abs() <= half_digit * (1.0 + 1e-6) + value.abs() * 1e-12
}

// ------------------------------------------------------------------------------------------- always: fixtures

fn fixture_raw() -> Result<(), String> {
    let report = clean(&fixture("aos_raw.csv"))?;
    equal(report.kernels.len(), 2, "kernels")?;
    let kernel = &report.kernels[0];
    equal(&*kernel.name, "aos_slow(P *, int, float)", "name")?;
    // As the text of the file shows them.
    let metrics = kernel.metrics();
    equal(metrics.len(), 2227 - 12, "metrics that are not blank")?;
    equal(
        metrics.number("gpu__time_duration.sum"),
        Some(260_736.0),
        "duration in ns",
    )?;
    equal(metrics.number("launch__sm_count"), Some(132.0), "SMs")?;
    equal(
        metrics.text("device__attribute_display_name"),
        Some("NVIDIA H200"),
        "device",
    )?;
    equal(metrics.number("derived_tempMetric4"), None, "nan")
}

fn fixture_details() -> Result<(), String> {
    let report = clean(&fixture("aos_details.csv"))?;
    equal(report.kernels.len(), 2, "kernels")?;
    equal(
        report
            .kernels
            .iter()
            .map(|kernel| kernel.rules.len())
            .sum::<usize>(),
        19,
        "rules",
    )?;
    // Both pages of the same launch agree within the digits of the coarser one.
    let raw = clean(&fixture("aos_raw.csv"))?;
    for (kernel, raw) in report.kernels.iter().zip(&raw.kernels) {
        equal(kernel.grid, raw.grid, "grid")?;
        let count = labels_show(&fixture("aos_details.csv"), kernel, &raw.metrics())?;
        equal(count, 84, "metrics with a name")?;
    }
    Ok(())
}

fn fixture_source() -> Result<(), String> {
    let report = clean(&fixture("aos_source.csv"))?;
    equal(report.kernels.len(), 2, "kernels")?;
    let raw = clean(&fixture("aos_raw.csv"))?;
    for (kernel, raw) in report.kernels.iter().zip(&raw.kernels) {
        equal(kernel.page, Page::Source, "page")?;
        equal(&kernel.name, &raw.name, "name")?;
        equal(kernel.code.len(), 32, "instructions")?;
        equal(
            &*kernel.code[0].text,
            "LDC R1, c[0x0][0x28]",
            "first instruction",
        )?;
        // The totals of the instructions are the values of the launch.
        let raw = raw.metrics();
        let mut totals = 0;
        for metric in &kernel.metrics() {
            if let Some(total) = metric.number().filter(|_| !metric.name.contains('/')) {
                equal(Some(total), raw.number(metric.name), metric.name)?;
                totals += 1;
            }
        }
        equal(totals, 55, "totals")?;
    }
    Ok(())
}

fn fixture_pages() -> Result<(), String> {
    let pages = ["aos_details.csv", "aos_source.csv", "aos_raw.csv"].map(fixture);
    let text = format!(
        "==PROF== Connected to process 761 (\"clinic\", x)\n1,234 \"lines, of\noutput{}==WARNING== \"a\n{}\n{}",
        pages[0], pages[1], pages[2]
    );
    check(csv::looks_like(text.as_bytes()), || {
        "not recognised".to_owned()
    })?;
    let list: Vec<Page> = clean(&text)?
        .kernels
        .iter()
        .map(|kernel| kernel.page)
        .collect();
    use Page::{Details, Raw, Source};
    equal(
        list,
        vec![Details, Details, Source, Source, Raw, Raw],
        "pages",
    )
}

/// Reads everything that a report offers.
fn walk(bytes: &[u8]) {
    let _ = csv::looks_like(bytes);
    if let Ok(report) = csv::read(bytes) {
        for kernel in report.kernels.iter().take(8) {
            for metric in &kernel.metrics() {
                let _ = (
                    metric.number(),
                    metric.by_number().map(|list| list.len()),
                    unit_of(metric.name),
                );
            }
        }
    }
}

/// Smaller versions of the fixtures, so that thousands of them can be read.
fn samples() -> Vec<Vec<u8>> {
    let raw = fixture("aos_raw.csv");
    let narrow: String = raw
        .lines()
        .map(|line| {
            cells(line)
                .into_iter()
                .take(40)
                .map(|cell| format!("\"{cell}\""))
                .collect::<Vec<_>>()
                .join(",")
                + "\n"
        })
        .collect();
    let details: String = fixture("aos_details.csv")
        .split_inclusive('\n')
        .take(25)
        .collect();
    let source: String = fixture("aos_source.csv")
        .split_inclusive('\n')
        .take(20)
        .collect();
    let all = format!("output, \"of\n{narrow}{details}{source}");
    [narrow, details, source, all]
        .map(String::into_bytes)
        .into()
}

fn mutations() -> Result<(), String> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % limit.max(1) as u64) as usize
    };
    let alphabet = b"\"\",;\n\r\t 0919.-+e/%\xff\xc3=IDx";
    for sample in samples() {
        for _ in 0..2000 {
            let mut bytes = sample.clone();
            for _ in 0..1 + random(8) {
                let place = random(bytes.len());
                match random(4) {
                    0 => bytes[place] = alphabet[random(alphabet.len())],
                    1 => bytes.insert(place, alphabet[random(alphabet.len())]),
                    2 => {
                        let end = (place + random(60)).min(bytes.len());
                        bytes.drain(place..end);
                    }
                    _ => {
                        let end = (place + random(200)).min(bytes.len());
                        let part = bytes[place..end].to_vec();
                        let target = random(bytes.len());
                        bytes.splice(target..target, part);
                    }
                }
                if bytes.is_empty() {
                    bytes.push(b'"');
                }
            }
            walk(&bytes);
        }
    }
    Ok(())
}

fn truncations() -> Result<(), String> {
    for sample in samples() {
        let whole = csv::read(&sample).unwrap();
        for end in (0..sample.len()).step_by(7) {
            walk(&sample[..end]);
            // What is left of a launch is what the launch had: a number that was cut is not a smaller number.
            let Ok(part) = csv::read(&sample[..end]) else {
                continue;
            };
            for (part, whole) in part.kernels.iter().zip(&whole.kernels) {
                // Of a kernel that is printed once nothing tells a cut at the end of a unit of code from the end.
                if part.page == Page::Source && part.code.len() != whole.code.len() {
                    let whole_units = part.code.len().is_multiple_of(8);
                    let has_totals = part.metrics().iter().any(|m| m.value.is_some());
                    check(whole_units || !has_totals, || {
                        format!("totals of {} instructions", part.code.len())
                    })?;
                    continue;
                }
                if part.name == whole.name && part.page == whole.page {
                    let whole = whole.metrics();
                    for metric in &part.metrics() {
                        let value = metric.number();
                        check(
                            value.is_none() || value == whole.number(metric.name),
                            || format!("{} is {value:?} after a cut at {end}", metric.name),
                        )?;
                    }
                }
            }
        }
    }
    Ok(())
}

// --------------------------------------------------------------------------------------------------- units

/// A printed unit without the prefix that depends on the value.
fn unprefixed(unit: &str) -> &str {
    unit.trim_start_matches(['K', 'M', 'G', 'T'])
}

fn units(raw: &str) -> Result<(), String> {
    let mut lines = raw.lines();
    let names = cells(lines.next().unwrap());
    let units = cells(lines.next().unwrap());
    equal(names.len(), 2238, "columns")?;
    let mut used = vec![false; EXCEPTIONS.len()];
    let mut wrong = Vec::new();
    // Eleven columns that identify the launch come first.
    for (name, unit) in names.iter().zip(&units).skip(11) {
        let ours = unit_of(name);
        let theirs = Unit::parse(unit)
            .ok_or_else(|| format!("unknown unit {unit}"))?
            .unit;
        let exception = EXCEPTIONS.iter().position(|(start, part, printed, _)| {
            name.starts_with(start)
                && name.contains(part)
                && unprefixed(unit) == unprefixed(printed)
                && ours != theirs
        });
        match exception {
            Some(place) => used[place] = true,
            None if ours == theirs => {}
            None => wrong.push(format!("{name}: printed {unit}, ours {ours}")),
        }
    }
    for (used, (start, ..)) in used.iter().zip(EXCEPTIONS) {
        if !used {
            wrong.push(format!("the exception {start} is not needed"));
        }
    }
    check(wrong.is_empty(), || wrong.join("\n"))
}

// ------------------------------------------------------------------------------- corpus: against the reports

/// Columns of the raw page that are no metrics.
const IDENTITY: [&str; 11] = [
    "ID",
    "Process ID",
    "Process Name",
    "Host Name",
    "Kernel Name",
    "Context",
    "Stream",
    "Block Size",
    "Grid Size",
    "Device",
    "CC",
];

/// Compares every cell of a raw page with the report; returns how many numbers, texts and absent values each launch has.
fn raw_shows(
    report: &CsvReport,
    text: &str,
    binary: &Report<'_>,
) -> Result<Vec<(usize, usize, usize)>, String> {
    equal(report.kernels.len(), binary.len(), "launches")?;
    let lines: Vec<Vec<&str>> = text.lines().map(cells).collect();
    let mut counts = Vec::new();
    for (index, (kernel, profile)) in report.kernels.iter().zip(binary.profiles()).enumerate() {
        let header = profile.header().value;
        equal(
            (kernel.place.context, kernel.place.stream),
            (header.context_id, header.stream_id),
            "context and stream",
        )?;
        let ours = kernel.metrics();
        let theirs = profile.metrics().value;
        let (mut numbers, mut texts, mut absent, mut blank) = (0, 0, 0, 0);
        for ((name, unit), cell) in lines[0].iter().zip(&lines[1]).zip(&lines[index + 2]) {
            if IDENTITY.contains(name) || name.contains("Domain:") {
                continue;
            }
            blank += usize::from(cell.is_empty());
            let value = ours.get(name).and_then(|metric| metric.value.clone());
            let expected = theirs.get(name);
            if cell.is_empty() && expected.is_none() {
                // A column that another launch has.
                equal(value, None, name)?;
                absent += 1;
                continue;
            }
            let expected = expected.ok_or_else(|| format!("{name} is not in the report"))?;
            match printed(cell, unit) {
                Some((_, half_digit)) => {
                    let value = value
                        .and_then(|value| value.number())
                        .ok_or_else(|| format!("{name} = {cell} is absent"))?;
                    let expected = expected
                        .number()
                        .ok_or_else(|| format!("{name} is absent in the report"))?;
                    check(shows(value, half_digit, expected), || {
                        format!("{name}: {value} is not {expected} ({cell} {unit})")
                    })?;
                    numbers += 1;
                }
                None if matches!(*cell, "" | "nan" | "no data") => {
                    equal(value, None, name)?;
                    equal(expected.number(), None, name)?;
                    absent += 1;
                }
                None => {
                    equal(value, expected.value.clone(), name)?;
                    texts += 1;
                }
            }
        }
        // And nothing more than what was printed.
        equal(ours.len(), numbers + texts + absent - blank, "metrics")?;
        counts.push((numbers, texts, absent));
    }
    Ok(counts)
}

fn raw_equals_report(case: &Case) -> Result<(), String> {
    let text = case.export("raw");
    let bytes = case.report();
    let binary = Report::parse(&bytes).map_err(|error| error.to_string())?;
    equal(
        raw_shows(&clean(&text)?, &text, &binary)?,
        vec![(2207, 5, 15); 2],
        "numbers, texts, absent values",
    )?;
    for (kernel, profile) in clean(&text)?.kernels.iter().zip(binary.profiles()) {
        launch_equals(kernel, &profile)?;
        equal(kernel.metrics().len(), 2227 - 12, "metrics")?;
    }
    Ok(())
}

/// Name and sizes of a kernel launch.
fn launch_equals(kernel: &Kernel, profile: &Profile<'_>) -> Result<(), String> {
    let header = profile.header().value;
    equal(Some(&*kernel.name), header.name(), "name")?;
    let launch = header.launches.first().ok_or("the report has no launch")?;
    equal(
        (kernel.grid, kernel.block),
        (Some(launch.grid), Some(launch.block)),
        "launch",
    )
}

/// Compares what a details page gives with metrics of the same launch; returns how many have a metric's name.
fn labels_show(text: &str, kernel: &Kernel, metrics: &Metrics<'_>) -> Result<usize, String> {
    // Digits of a number, by the number: labels are not unique.
    let mut digits: HashMap<u64, f64> = HashMap::new();
    for line in text.lines() {
        let row = cells(line);
        if let (Some(unit), Some(cell)) = (row.get(13), row.get(14))
            && let Some((value, half_digit)) = printed(cell, unit)
        {
            let entry = digits.entry(value.round() as u64).or_default();
            *entry = entry.max(half_digit);
        }
    }
    let mut count = 0;
    for metric in &kernel.metrics() {
        if metric.name.contains("Workload Analysis/") {
            continue;
        }
        let expected = metrics
            .get(metric.name)
            .ok_or_else(|| format!("{} is no metric of the launch", metric.name))?;
        match &metric.value {
            Some(Value::Text(text)) => {
                equal(Some(text.as_ref()), metrics.text(metric.name), metric.name)?
            }
            _ => {
                let value = metric
                    .number()
                    .ok_or_else(|| format!("{} is absent", metric.name))?;
                let half_digit = digits
                    .get(&(value.round() as u64))
                    .ok_or_else(|| format!("{value} was not printed"))?;
                let expected = expected
                    .number()
                    .ok_or_else(|| format!("{} is absent in the report", metric.name))?;
                check(shows(value, *half_digit + 5e-7, expected), || {
                    format!("{}: {value} is not {expected}", metric.name)
                })?;
            }
        }
        count += 1;
    }
    Ok(count)
}

fn details_equal_report(case: &Case) -> Result<(), String> {
    let text = case.export("details");
    let report = clean(&text)?;
    let bytes = case.report();
    let binary = Report::parse(&bytes).map_err(|error| error.to_string())?;
    equal(report.kernels.len(), binary.len(), "launches")?;
    for (kernel, profile) in report.kernels.iter().zip(binary.profiles()) {
        equal(
            labels_show(&text, kernel, &profile.metrics().value)?,
            84,
            "metrics with a name",
        )?;
        let unnamed: Vec<String> = kernel
            .metrics()
            .iter()
            .filter(|metric| metric.name.contains('/'))
            .map(|metric| metric.name.to_owned())
            .collect();
        let expected = ["Issue Slots Busy", "SM Busy"]
            .map(|label| format!("Compute Workload Analysis/{label}"));
        equal(unnamed, expected.to_vec(), "labels without name")?;
        rules_equal(kernel, &profile)?;
    }
    Ok(())
}

/// Messages of rules, in any order: rule, section, kind, estimate.
fn rules_equal(kernel: &Kernel, profile: &Profile<'_>) -> Result<(), String> {
    let key = |rule: &str, section: &str, kind, speedup: Option<Speedup>| {
        let is_global = speedup.map(|speedup| speedup.is_global);
        let percent = speedup.map(|speedup| speedup.percent);
        (
            (
                rule.to_owned(),
                section.to_owned(),
                format!("{kind:?}"),
                is_global,
            ),
            percent,
        )
    };
    let mut ours: Vec<_> = kernel
        .rules
        .iter()
        .map(|rule| key(&rule.name, &rule.section, rule.kind, rule.speedup))
        .collect();
    let mut theirs = Vec::new();
    for rule in profile.rules().value {
        for (message, speedup) in rule.messages() {
            let section = rule.section.as_deref().unwrap_or("");
            theirs.push(key(&rule.id, section, message.kind, speedup));
        }
    }
    for list in [&mut ours, &mut theirs] {
        list.sort_by(|this, that| {
            let order = this.0.cmp(&that.0);
            order.then(this.1.partial_cmp(&that.1).unwrap())
        });
    }
    let keys =
        |list: &[(_, _)]| -> Vec<_> { list.iter().map(|(key, _)| Clone::clone(key)).collect() };
    equal::<Vec<(String, String, String, Option<bool>)>>(keys(&ours), keys(&theirs), "messages")?;
    for ((key, ours), (_, theirs)) in ours.iter().zip(&theirs) {
        // Two decimals are printed, more of small ones.
        let differ = (ours.unwrap_or(0.0) - theirs.unwrap_or(0.0)).abs();
        check(
            differ <= 0.005_001 && ours.is_some() == theirs.is_some(),
            || format!("estimate of {key:?}: {ours:?} is not {theirs:?}"),
        )?;
    }
    Ok(())
}

fn source_equals_report(case: &Case) -> Result<(), String> {
    let report = clean(&case.export("source"))?;
    let bytes = case.report();
    let binary = Report::parse(&bytes).map_err(|error| error.to_string())?;
    equal(report.kernels.len(), binary.len(), "launches")?;
    let mut compared = 0;
    for (kernel, profile) in report.kernels.iter().zip(binary.profiles()) {
        equal(Some(&*kernel.name), profile.header().value.name(), "name")?;
        compared += instructions_show(kernel, &profile.metrics().value, true)?;
    }
    // Instructions times columns, for both kernels.
    equal(
        compared,
        if case.name == "gemm" {
            208 * 60 + 808 * 63
        } else {
            32 * 59 * 2
        },
        "values",
    )
}

/// Compares every value of a source page with the metrics of the same launch; returns how many there are. A page may
/// show one of several functions that the metrics are about: then totals and addresses of the others are not compared.
fn instructions_show(kernel: &Kernel, theirs: &Metrics<'_>, is_all: bool) -> Result<usize, String> {
    let mut compared = 0;
    let not_issued: f64 = kernel
        .metrics()
        .iter()
        .filter(|metric| metric.name.ends_with("_not_issued"))
        .filter_map(|m| m.number())
        .sum();
    for metric in &kernel.metrics() {
        let ours = metric.by_number().map_err(|error| error.to_string())?;
        if metric.name == "Source/Warp Stall Sampling (Not-issued Samples)" {
            equal(metric.number(), Some(not_issued), metric.name)?;
            continue;
        }
        let expected = theirs
            .get(metric.name)
            .ok_or_else(|| format!("{} is not in the report", metric.name))?;
        let is_code = metric.name.ends_with("_type");
        check(
            is_code || !is_all || metric.number() == expected.number(),
            || {
                format!(
                    "total of {}: {:?} is not {:?}",
                    metric.name,
                    metric.number(),
                    expected.number()
                )
            },
        )?;
        let expected: HashMap<u64, f64> = expected
            .by_number()
            .map_err(|error| error.to_string())?
            .into_iter()
            .collect();
        let ours: HashMap<u64, f64> = ours.into_iter().collect();
        for instruction in &kernel.code {
            // Neither lists what is zero always.
            let value =
                |list: &HashMap<u64, f64>| list.get(&instruction.address).copied().unwrap_or(0.0);
            equal(value(&ours), value(&expected), metric.name)?;
            compared += 1;
        }
        let outside = expected
            .keys()
            .filter(|address| kernel.code.iter().all(|i| i.address != **address))
            .count();
        check(!is_all || outside == 0, || {
            format!("{outside} addresses are not on the page")
        })?;
    }
    Ok(compared)
}

fn text_export_is_named(case: &Case) -> Result<(), String> {
    let bytes = unpacked(
        &case
            .corpus
            .join(format!("text/{}_details.txt.zst", case.name)),
    );
    let two = std::fs::read(case.corpus.join("text/gemm_two_metrics.txt"))
        .map_err(|error| error.to_string())?;
    for bytes in [bytes, two] {
        check(!csv::looks_like(&bytes), || {
            "taken for an export".to_owned()
        })?;
        let error = csv::read(&bytes).err().ok_or("text was read")?;
        equal(error.code(), "NCU0014", "code")?;
        check(error.to_string().contains("--csv --page raw"), || {
            error.to_string()
        })?;
    }
    Ok(())
}

// ----------------------------------------------------------------------- always: exports of the small reports

/// Pages of the reports in `fixtures/reports/small`: automatic and base units, a range, a graph, renamed kernels.
fn small_raw() -> Result<(), String> {
    for (export, report, launches, counts) in [
        ("raw_auto", "full", 1, (2207, 5, 15)),
        ("raw_base", "full", 1, (2207, 5, 15)),
        ("range_raw", "range", 1, (527, 5, 6)),
        ("graph_raw", "graph", 1, (2078, 5, 25)),
        ("nvtx_raw", "nvtx", 3, (549, 5, 1)),
    ] {
        let text = small(export);
        let bytes = small_report(report);
        let binary = Report::parse(&bytes).map_err(|error| error.to_string())?;
        let found = raw_shows(&clean(&text)?, &text, &binary)
            .map_err(|error| format!("{export}: {error}"))?;
        equal(found, vec![counts; launches], export)?;
        let kernels = clean(&text)?.kernels;
        let names: Vec<&str> = kernels.iter().map(|kernel| &*kernel.name).collect();
        let expected: &[&str] = match report {
            "full" => &["transpose(const float *, float *, int)"],
            "nvtx" => &[
                "inner/copy(const float *, float *, int)",
                "outer/stride(const float *, float *, int)",
                "transpose(const float *, float *, int)",
            ],
            other => &[other],
        };
        equal(names, expected.to_vec(), export)?;
        // A graph prints the sizes of its first node, a range prints none.
        equal(kernels[0].grid.is_some(), report != "range", export)?;
    }
    units(&small("raw_auto"))
}

fn small_details() -> Result<(), String> {
    for (export, report, counts) in [
        ("details_auto", "full", vec![84]),
        ("details_base", "full", vec![84]),
        ("basic_details", "basic", vec![49; 3]),
    ] {
        let text = small(export);
        let bytes = small_report(report);
        let binary = Report::parse(&bytes).map_err(|error| error.to_string())?;
        let kernels = clean(&text)?.kernels;
        let mut found = Vec::new();
        for (kernel, profile) in kernels.iter().zip(binary.profiles()) {
            launch_equals(kernel, &profile)?;
            rules_equal(kernel, &profile)?;
            let count = labels_show(&text, kernel, &profile.metrics().value)
                .map_err(|error| format!("{export}: {error}"))?;
            found.push(count);
        }
        equal(found, counts, export)?;
    }
    Ok(())
}

/// Printed while profiling, behind the profiler's log: other runs than those of the reports.
fn small_live() -> Result<(), String> {
    for (export, page, count) in [("live", Page::Details, 49), ("live_raw", Page::Raw, 554)] {
        let text = small(export);
        check(text.starts_with("==WARNING=="), || text[..40].to_owned())?;
        let kernels = clean(&text)?.kernels;
        equal(kernels.len(), 3, export)?;
        for (kernel, name) in kernels.iter().zip(["copy", "stride", "transpose"]) {
            equal(kernel.page, page, export)?;
            check(kernel.name.starts_with(name), || kernel.name.to_string())?;
            let metrics = kernel.metrics();
            let duration = metrics.number("gpu__time_duration.sum");
            check(duration > Some(1000.0), || format!("{duration:?}"))?;
            equal(metrics.len(), count, export)?;
        }
    }
    Ok(())
}

/// Pages of instructions, alone and below lines, against the instances and totals of the report.
fn small_source() -> Result<(), String> {
    for (export, report, instructions, compared) in [
        ("source_sass", "full", &[40][..], 2480),
        ("source_both", "full", &[40], 2480),
        (
            "launches_sass",
            "launches",
            &[32, 32, 32, 152, 24, 24],
            17320,
        ),
        (
            "launches_both",
            "launches",
            &[32, 32, 32, 152, 24, 24],
            17320,
        ),
        ("graph_sass", "graph_source", &[32, 32], 2368),
        ("graph_both", "graph_source", &[32, 32], 2368),
    ] {
        let kernels = clean(&small(export))?.kernels;
        let found: Vec<usize> = kernels.iter().map(|kernel| kernel.code.len()).collect();
        equal(found, instructions.to_vec(), export)?;
        let bytes = small_report(report);
        let binary = Report::parse(&bytes).map_err(|error| error.to_string())?;
        let mut values = 0;
        for (index, kernel) in kernels.iter().enumerate() {
            let is_graph = report == "graph_source";
            let profile = binary
                .profile(if is_graph { 0 } else { index })
                .ok_or("the report has too few results")?;
            if !is_graph {
                equal(Some(&*kernel.name), profile.header().value.name(), "name")?;
            }
            let has_lines = export.ends_with("_both");
            for instruction in &kernel.code {
                equal(!instruction.lines.is_empty(), has_lines, "lines")?;
            }
            values += instructions_show(kernel, &profile.metrics().value, !is_graph)
                .map_err(|error| format!("{export}: {error}"))?;
        }
        equal(values, compared, export)?;
    }
    Ok(())
}

/// `--print-metric-instances values`: the totals are those of the page without instances.
fn small_instances() -> Result<(), String> {
    let text = small("launches_raw_instances");
    let bytes = small_report("launches");
    let binary = Report::parse(&bytes).map_err(|error| error.to_string())?;
    // The page without lists of instances, as text.
    let page: String = text
        .lines()
        .map(|line| {
            let row = cells(line)
                .into_iter()
                .map(|cell| match cell.split_once(" (") {
                    _ if cell.starts_with('(') => "no data",
                    Some((total, _)) => total,
                    None => cell,
                });
            format!("\"{}\"\n", row.collect::<Vec<_>>().join("\",\""))
        })
        .collect();
    let found = raw_shows(&clean(&text)?, &page, &binary)?;
    equal(found, vec![(370, 5, 1); 6], "numbers, texts, absent values")
}

/// Exports that are recognised and hold nothing to read: the message names the export that does.
fn small_refused() -> Result<(), String> {
    for (export, advice) in [
        ("source_cuda", "--print-source sass"),
        ("launches_ptx", "--print-source sass"),
        ("summary", "without `--print-summary`"),
    ] {
        let text = small(export);
        check(!csv::looks_like(text.as_bytes()), || export.to_owned())?;
        let error = csv::read(text.as_bytes()).err().ok_or(export)?;
        equal(error.code(), "NCU0014", export)?;
        check(error.to_string().contains(advice), || error.to_string())?;
    }
    Ok(())
}

/// Pages that end early: a total is given only if it is that of the whole page.
fn small_cut() -> Result<(), String> {
    for export in ["source_sass", "source_both", "graph_both"] {
        let text = small(export);
        let whole = clean(&text)?;
        let last = [text.len() - 1, text.len() - 2];
        for end in (0..text.len()).step_by(53).chain(last) {
            let Ok(part) = csv::read(&text.as_bytes()[..end]) else {
                continue;
            };
            for kernel in &part.kernels {
                let Some(whole) = whole.kernels.iter().find(|whole| whole.name == kernel.name)
                else {
                    continue;
                };
                // See `truncations`.
                if kernel.code.len() != whole.code.len() && kernel.code.len().is_multiple_of(8) {
                    continue;
                }
                let whole = whole.metrics();
                for metric in &kernel.metrics() {
                    let value = metric.number();
                    check(
                        value.is_none() || value == whole.number(metric.name),
                        || {
                            format!(
                                "{export}: {} is {value:?} after a cut at {end}",
                                metric.name
                            )
                        },
                    )?;
                }
            }
        }
    }
    // Without the last line end nothing is missing.
    for export in ["source_sass", "source_both"] {
        let text = small(export);
        let kernels = clean(text.trim_end())?.kernels;
        equal(
            kernels[0].metrics().number("inst_executed"),
            Some(983_040.0),
            export,
        )?;
    }
    Ok(())
}
