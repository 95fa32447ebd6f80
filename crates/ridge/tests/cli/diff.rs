//! `ridge diff`: every kind of input, every format, what it warns of, and its exit codes.

use serde_json::Value;

use crate::driver::{
    AOS, AOS_CSV, BANK_CONFLICT, Folder, Run, VADD, report, ridge, root, snapshot,
};
use crate::schema;

const BENCH: &str = "fixtures/formats/bench-1/copy.json";
const KINETO: &str = "fixtures/traces/pytorch_kineto.json.gz";
const RECORDING: &str = "fixtures/traces/streams_graph_copies.ridgetrace";

fn diff(arguments: &[&str]) -> Run {
    ridge(["diff"].iter().chain(arguments))
        .env("COLUMNS", "100")
        .run()
}

fn of(report: &str, kernel: &str) -> String {
    format!("{report}#{kernel}")
}

fn page(arguments: &[&str], code: u8) -> String {
    let page = diff(arguments).code(code).stdout;
    for line in page.lines() {
        let has_long_word = line.split_whitespace().any(|word| word.len() > 40);
        assert!(line.chars().count() <= 100 || has_long_word, "{line}");
    }
    page
}

/// The document of some arguments, which its schema describes.
fn document(arguments: &[&str], code: u8) -> Value {
    let run = diff(&[arguments, &["--format", "json", "--quiet"]].concat()).code(code);
    let document = run.json();
    let violations = schema::violations(&schema::named("diff"), &document);
    assert!(violations.is_empty(), "{violations:#?}");
    document
}

fn pair(document: &Value) -> &Value {
    &document["kernels"]["pairs"][0]
}

#[test]
fn pages() {
    let (before, after) = (
        of(BANK_CONFLICT, "bankconflict_slow"),
        of(BANK_CONFLICT, "bankconflict_fixed"),
    );
    snapshot("diff_bank_conflicts", &page(&[&before, &after], 11));
    snapshot("diff_verbose", &page(&[&before, &after, "-v"], 11));
    snapshot(
        "diff_markdown",
        &diff(&[&before, &after, "--format", "markdown", "-q"])
            .code(11)
            .stdout,
    );
    // Several kernels, of which one is renamed and one is alone.
    snapshot(
        "diff_reports",
        &page(&[AOS, VADD, "--match", "aos_slow=vadd_slow"], 11),
    );
    let narrow = ridge(["diff", &before, &after])
        .env("COLUMNS", "60")
        .env("LANG", "C")
        .run();
    let text = narrow.code(11).stdout;
    assert!(text.is_ascii(), "{text}");
    snapshot("diff_ascii_60", &text);
    snapshot("diff_help", &ridge(["diff", "--help"]).run().fine().stdout);
}

/// The known trap: instructions issue less often and wait longer, and the kernel is faster.
#[test]
fn fewer_instructions_that_wait_longer_are_faster() {
    let (before, after) = (of(VADD, "vadd_slow"), of(VADD, "vadd_fixed"));
    let document = document(&[&before, &after], 11);
    let pair = pair(&document);
    let mechanism = pair["mechanism"].as_array().unwrap();
    let figure = |start: &str| {
        let found = mechanism
            .iter()
            .find(|figure| figure["label"].as_str().unwrap().starts_with(start));
        let found = found.unwrap_or_else(|| panic!("no {start} in {mechanism:#?}"));
        (
            found["before"].as_f64().unwrap(),
            found["after"].as_f64().unwrap(),
        )
    };
    let (rate, stall) = (figure("issue rate"), figure("waiting for long_scoreboard"));
    assert!(rate.1 < rate.0 && stall.1 > stall.0, "{rate:?} {stall:?}");
    assert!(pair["time"]["ratio"].as_f64().unwrap() < 0.9);
    // None of it is held against the kernel.
    assert_eq!(
        pair["worse"].as_array().unwrap().len(),
        0,
        "{}",
        pair["worse"]
    );
    assert_eq!(pair["flaws"][0]["outcome"], "gone");
    diff(&[&before, &after])
        .code(11)
        .shows("this explains; time and ledger decide");
}

#[test]
fn a_measurement_against_itself_is_the_same() {
    for file in [AOS, VADD, AOS_CSV, KINETO, RECORDING, BENCH] {
        let run = diff(&[file, file, "--format", "json", "--quiet"]).code(0);
        assert_eq!(run.json()["verdict"], "same", "{file}");
    }
    // A copy of the bytes is the same measurement, another kernel of the file is not.
    let folder = Folder::with("copy.ncu-rep", report());
    folder.write("other.ncu-rep", report());
    ridge(["diff", "copy.ncu-rep", "other.ncu-rep"])
        .within(&folder)
        .run()
        .code(0)
        .shows("SAME");
    let (slow, fixed) = (of(AOS, "aos_slow"), of(AOS, "aos_fixed"));
    assert_eq!(document(&[&slow, &fixed], 11)["verdict"], "ambiguous");
}

#[test]
fn a_saved_diagnosis_says_what_its_report_says() {
    let folder = Folder::new();
    let root = root().join(AOS);
    let file = root.to_string_lossy();
    for format in ["json", "text"] {
        ridge([
            "why",
            &file,
            "--format",
            format,
            "-q",
            "-o",
            &format!("why.{format}"),
        ])
        .within(&folder)
        .run()
        .code(0);
    }
    let of_report = ridge([
        "diff",
        &of(&file, "aos_slow"),
        &of(&file, "aos_fixed"),
        "--format",
        "json",
        "-q",
    ])
    .within(&folder)
    .run()
    .code(11)
    .json();
    let saved = ridge([
        "diff",
        "why.json#aos_slow",
        "why.json#aos_fixed",
        "--format",
        "json",
        "-q",
    ])
    .within(&folder)
    .run()
    .code(11)
    .json();
    assert_eq!(pair(&of_report)["flaws"], pair(&saved)["flaws"]);
    assert_eq!(pair(&of_report)["ledger"], pair(&saved)["ledger"]);
    assert_eq!(pair(&of_report)["limiter"], pair(&saved)["limiter"]);
    assert_eq!(pair(&of_report)["time"], pair(&saved)["time"]);
    ridge(["diff", "why.json#nothing", "why.json"])
        .within(&folder)
        .run()
        .code(2)
        .says("aos_slow");
    let cut = folder.read("why.json");
    folder.write("cut.json", &cut[..cut.len() / 2]);
    ridge(["diff", "cut.json", "why.json"])
        .within(&folder)
        .run()
        .code(3)
        .says("DIA0001");
    folder.write(
        "later.json",
        cut.replacen("\"version\": 1", "\"version\": 2", 1),
    );
    ridge(["diff", "later.json", "why.json"])
        .within(&folder)
        .run()
        .code(3)
        .says("DIA0003");
}

/// What differs beside the code is said with what it spoils; another device makes no ratio.
#[test]
fn circumstances_spoil_conclusions() {
    let folder = Folder::new();
    ridge([
        "why",
        AOS,
        "--format",
        "json",
        "-q",
        "-o",
        &folder.path().join("a.json").to_string_lossy(),
    ])
    .run()
    .code(0);
    let text = folder.read("a.json");
    let other = |name: &str, from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        folder.write(name, text.replace(from, to));
        let run = ridge(["diff", "a.json", name, "--format", "json", "-q"])
            .within(&folder)
            .run();
        run.json()
    };
    let spoils = |document: &Value, code: &str| -> Vec<String> {
        let of_pair = document["kernels"]["pairs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|pair| &pair["warnings"]);
        let lists = of_pair.chain([&document["warnings"]]);
        let mut all = lists.flat_map(|list| list.as_array().unwrap());
        let found = all.find(|warning| warning["code"] == code);
        let found = found.unwrap_or_else(|| panic!("no {code} in {document:#}"));
        found["spoils"]
            .as_array()
            .unwrap()
            .iter()
            .map(|part| part.as_str().unwrap().to_owned())
            .collect()
    };
    let clocks = other(
        "clocks.json",
        "\"clock_control\": \"none\"",
        "\"clock_control\": \"base\"",
    );
    assert_eq!(
        spoils(&clocks, "clock-control-differs"),
        ["time", "ledger", "limiter"]
    );
    assert_eq!(clocks["verdict"], "ambiguous");
    let caches = other(
        "caches.json",
        "\"cache_control\": \"all\"",
        "\"cache_control\": \"none\"",
    );
    assert!(spoils(&caches, "cache-control-differs").contains(&"verify".to_owned()));
    let replay = other(
        "replay.json",
        "\"replay_mode\": \"kernel\"",
        "\"replay_mode\": \"application\"",
    );
    assert!(spoils(&replay, "replay-mode-differs").contains(&"time".to_owned()));
    let version = other(
        "version.json",
        "\"profiler_version\": \"",
        "\"profiler_version\": \"9",
    );
    assert!(spoils(&version, "tool-version-differs").contains(&"verify".to_owned()));
    let device = other("device.json", "NVIDIA H200", "NVIDIA A100");
    assert!(spoils(&device, "device-differs").contains(&"time".to_owned()));
    assert_eq!(device["verdict"], "invalid");
    assert!(pair(&device)["time"]["ratio"].is_null());
    ridge(["diff", "a.json", "device.json"])
        .within(&folder)
        .run()
        .code(12)
        .shows("INVALID");
    let sections = other("sections.json", "\"SourceCounters\",", "");
    assert!(spoils(&sections, "sections-differ").contains(&"flaws".to_owned()));
    // Twice of everything at another clock and in another grid.
    let mut twice: Value = serde_json::from_str(&text).unwrap();
    for kernel in twice["kernels"].as_array_mut().unwrap() {
        kernel["grid"][0] = (2 * kernel["grid"][0].as_u64().unwrap()).into();
        kernel["sm_clock_hz"] = 1.2e9.into();
        for counter in kernel["counters"].as_array_mut().unwrap() {
            counter["value"] = (2.0 * counter["value"].as_f64().unwrap()).into();
        }
    }
    folder.write("twice.json", twice.to_string());
    let run = ridge(["diff", "a.json", "twice.json", "--format", "json", "-q"])
        .within(&folder)
        .run();
    let twice = run.code(11).json();
    assert_eq!(spoils(&twice, "work-differs"), ["time", "ledger", "verify"]);
    assert_eq!(spoils(&twice, "clock-differs"), ["time"]);
    assert!(spoils(&twice, "launch-differs").is_empty());
    assert_eq!(pair(&twice)["matched_by"], "other-grid");
}

#[test]
fn timelines() {
    let document = document(&[RECORDING, RECORDING], 0);
    assert!(
        !document["timelines"]["kernels"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    // Another machine and another program: one verdict at most, and what is alone is listed.
    let run = diff(&[KINETO, RECORDING]);
    assert!(
        run.code == Some(11) || run.code == Some(12),
        "{}",
        run.transcript()
    );
    snapshot("diff_traces", &page(&[KINETO, KINETO], 0));
    run.shows("only before").shows("only after");
}

/// Every figure that a finding about programs asks to look at is known.
#[test]
fn figures_of_timelines_are_found() {
    let document = document(&[KINETO, KINETO], 0);
    let findings = document["timelines"]["findings"].as_array().unwrap();
    assert!(findings.len() > 1);
    for moved in findings
        .iter()
        .flat_map(|finding| finding["verify"].as_array().unwrap())
    {
        assert_eq!(moved["outcome"], "not-held", "nothing moved: {moved}");
        assert_eq!(moved["values"]["before"], moved["values"]["after"]);
    }
}

/// Two kernels of one result: with one on each side, and by hand among others.
#[test]
fn two_kernels_of_one_result_are_compared() {
    let diff = |arguments: &[&str]| ridge(["diff"].iter().chain(arguments)).run();
    let (scalar, vector) = (format!("{BENCH}#scalar"), format!("{BENCH}#vector"));
    let found = diff(&[&scalar, &vector, "--format", "json"]).json();
    let found = &found["benchmarks"];
    assert_eq!(found["pairs"][0]["kernel"], "vector");
    assert_eq!(found["pairs"][0]["kernel_before"], "scalar");
    assert_eq!(found["unmatched"].as_array().unwrap().len(), 0);
    diff(&[&scalar, &vector]).shows("scalar → vector");
    let page = diff(&[BENCH, BENCH, "--match", "scalar=vector"]);
    page.shows("scalar → vector").shows("on one side only");
    diff(&[BENCH, BENCH, "--match", "scalar=none"])
        .code(2)
        .says("there is no kernel \"none\" after")
        .says("scalar");
}

#[test]
fn results_of_benchmarks() {
    let folder = Folder::new();
    let text = std::fs::read_to_string(root().join(BENCH)).unwrap();
    let mut slower: Value = serde_json::from_str(&text).unwrap();
    for state in slower["states"].as_array_mut().unwrap() {
        for mode in state["modes"].as_array_mut().unwrap() {
            for time in mode["raw"]["times_ns"].as_array_mut().unwrap() {
                *time = (time.as_f64().unwrap() * 1.5).into();
            }
        }
    }
    folder.write("before.json", &text);
    folder.write("after.json", slower.to_string());
    let run = |after: &str| ridge(["diff", "before.json", after]).within(&folder).run();
    run("after.json").code(10).shows("SLOWER");
    ridge(["diff", "after.json", "before.json"])
        .within(&folder)
        .run()
        .code(0)
        .shows("FASTER");
    snapshot("diff_bench", &run("before.json").code(0).stdout);
}

#[test]
fn what_is_wrong_is_told() {
    diff(&[AOS, BENCH])
        .code(2)
        .says("--times BEFORE.json AFTER.json");
    diff(&[AOS, VADD, "--match", "nothing=vadd_slow"])
        .code(2)
        .says("aos_slow, aos_fixed");
    diff(&[AOS, VADD, "--match", "aos_slow=nothing"])
        .code(2)
        .says("vadd_slow");
    diff(&[AOS, VADD, "--match", "aos_slow"])
        .code(2)
        .says("two names with =");
    diff(&[AOS, VADD, "--times", AOS, VADD])
        .code(3)
        .says("ridge bench");
    diff(&[AOS, VADD, "--times", BENCH]).code(2);
    diff(&[AOS, "nowhere.ncu-rep"])
        .code(3)
        .says("there is no such file");
    diff(&[AOS]).code(2);
    diff(&["-", "-"]).code(2).says("only once");
    diff(&[BENCH, BENCH, "--match", "a=b"])
        .code(2)
        .says("--match");
    diff(&[KINETO, KINETO, "--times", BENCH, BENCH])
        .code(2)
        .says("--times");
    diff(&[AOS, VADD, "-o", "x.pdf"])
        .code(2)
        .says("--format text, json, markdown or html");
    // Nothing belongs together, which nobody can tell anything about.
    let aos = of(AOS, "aos_slow");
    let run = diff(&[AOS, VADD]).code(11);
    run.shows("only before: 2 kernels")
        .shows("no kernel before has its like after");
    // Times of other kernels are said to be of no use.
    diff(&[&aos, &of(AOS, "aos_fixed"), "--times", BENCH, BENCH])
        .code(11)
        .shows("no kernel is in the results of --times");
    // A report from standard input can be a side.
    ridge(["diff", "--", "-#aos_slow", &of(AOS, "aos_fixed")])
        .stdin(report())
        .run()
        .code(11)
        .shows("AMBIGUOUS");
}

/// A report that is cut off is compared as far as it goes, with code 3.
#[test]
fn half_a_report_is_half_an_answer() {
    let folder = Folder::with("cut.ncu-rep", &report()[..report().len() * 3 / 4]);
    folder.write("whole.ncu-rep", report());
    ridge(["diff", "whole.ncu-rep", "cut.ncu-rep"])
        .within(&folder)
        .run()
        .code(3)
        .shows("aos_slow");
}

/// Names that carry escapes and markup reach no page as they are.
#[test]
fn names_are_escaped() {
    const NAME: &str = "\u{1b}[31m<img src=x onerror=alert(1)>|`*_";
    let folder = Folder::new();
    let path = folder.path().join("a.json");
    ridge([
        "why",
        AOS,
        "--format",
        "json",
        "-q",
        "-o",
        &path.to_string_lossy(),
    ])
    .run()
    .code(0);
    let mut document: Value = serde_json::from_str(&folder.read("a.json")).unwrap();
    for kernel in document["kernels"].as_array_mut().unwrap() {
        kernel["name"] = NAME.into();
        kernel["signature"] = NAME.into();
    }
    document["sources"][0]["file"] = NAME.into();
    folder.write("hostile.json", document.to_string());
    for (format, shown) in [
        ("text", "\\x1b[31m<img"),
        ("markdown", "\\\\x1b"),
        ("html", "&lt;img"),
    ] {
        for (one, other) in [("hostile.json", "hostile.json"), ("a.json", "hostile.json")] {
            let run = ridge(["diff", one, other, "--format", format, "-v"])
                .within(&folder)
                .run();
            assert!(matches!(run.code, Some(0 | 11)), "{}", run.transcript());
            assert!(
                !run.stdout.contains('\u{1b}') && !run.stderr.contains('\u{1b}'),
                "{}",
                run.transcript()
            );
            assert!(
                format == "text" || !run.stdout.contains("<img"),
                "{}",
                run.transcript()
            );
            run.shows(shown);
        }
    }
}

/// What only became visible is not new, and what did not move is not gone.
#[test]
fn outcomes_are_what_the_counters_bear_out() {
    let outcome = |case: &str, id: &str| {
        let report = format!("fixtures/gallery/{case}.ncu-rep.zst");
        let arguments = [
            of(&report, &format!("{case}_slow")),
            of(&report, &format!("{case}_fixed")),
        ];
        let document = document(&[&arguments[0], &arguments[1]], 11);
        let flaws = pair(&document)["flaws"].as_array().unwrap();
        let flaw = flaws.iter().find(|flaw| flaw["id"] == id);
        let flaw = flaw.unwrap_or_else(|| panic!("no {id} in {flaws:#?}"));
        flaw["outcome"].as_str().unwrap().to_owned()
    };
    // The wait for barriers fell from 6.5 to 4.8 cycles.
    assert_eq!(outcome("ldpc_words", "barrier-stall"), "now-shows");
    assert_eq!(outcome("embedding_bag", "narrow-access"), "now-shows");
    // No barrier was there before.
    assert_eq!(outcome("compact_counter", "barrier-stall"), "new");
    // It was limited by latency before, too.
    assert_eq!(outcome("fence_each", "latency-bound"), "still");
    assert_eq!(outcome("int8_dot", "latency-bound"), "no-longer-limits");
    assert_eq!(outcome("ldpc_words", "bank-conflicts"), "gone");
}

/// Units that work longer in a kernel that is faster are worse where they limit it now; an occupancy that costs time has a
/// cause.
#[test]
fn only_what_limits_or_costs_time_is_worse() {
    let diffed = |case: &str| {
        let report = format!("fixtures/gallery/{case}.ncu-rep.zst");
        let arguments = [
            of(&report, &format!("{case}_slow")),
            of(&report, &format!("{case}_fixed")),
        ];
        document(&[&arguments[0], &arguments[1]], 11)
    };
    let worse = |document: &Value| -> Vec<String> {
        let remarks = pair(document)["worse"].as_array().unwrap();
        let text = |remark: &Value| remark["text"].as_str().unwrap().to_owned();
        remarks.iter().map(text).collect()
    };
    // Issue slots and the ALU pipe work longer there, too, and occupancy is lower.
    let bins = diffed("bin_counts");
    let texts = worse(&bins);
    assert_eq!(texts.len(), 1, "{texts:?}");
    assert!(texts[0].starts_with("shared memory works for"), "{texts:?}");
    // The share of the limiter is that of a unit without a row, which is named.
    let sentence = pair(&bins)["limiter"]["sentence"].as_str().unwrap();
    assert!(
        sentence.contains("L2-bound at 81 % (by lts__xbar2lts_cycles_active,"),
        "{sentence}"
    );
    let texts = worse(&diffed("row_projection"));
    assert!(
        texts
            .iter()
            .any(|text| text.contains(": registers limit it, 26 → 80 per thread")),
        "{texts:?}"
    );
}

/// Times of another size of the problem are no times of what was profiled.
#[test]
fn clean_times_of_another_size_are_invalid() {
    let folder = Folder::new();
    let (slow, fixed) = (of(AOS, "aos_slow"), of(AOS, "aos_fixed"));
    let kernels = document(&[&slow, &fixed], 11);
    let template: Value =
        serde_json::from_str(&std::fs::read_to_string(root().join(BENCH)).unwrap()).unwrap();
    let write = |name: &str, side: &str, size: u64, time_ns: f64| {
        let kernel = &pair(&kernels)[side];
        let mut results = template.clone();
        let mut state = results["states"][0].take();
        state["name"] = format!("aos[n={size}]").into();
        state["launches"][0]["entry"] = kernel["name"].clone();
        state["launches"][0]["grid"] = kernel["grid"].clone();
        state["launches"][0]["block"] = kernel["block"].clone();
        let mut mode = state["modes"][0].take();
        for (place, time) in mode["raw"]["times_ns"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .enumerate()
        {
            *time = (time_ns + 32.0 * (place % 3) as f64).into();
        }
        state["modes"] = vec![mode].into();
        results["states"] = vec![state].into();
        results["best"] = Vec::<Value>::new().into();
        folder.write(name, results.to_string());
        folder.path().join(name).to_string_lossy().into_owned()
    };
    let codes = |document: &Value| -> Vec<String> {
        let warnings = pair(document)["warnings"].as_array().unwrap();
        let code = |warning: &Value| warning["code"].as_str().unwrap().to_owned();
        warnings.iter().map(code).collect()
    };
    let before = write("before.json", "before", 4_194_304, 261_000.0);
    let like = write("like.json", "after", 4_194_304, 58_000.0);
    let found = document(&[&slow, &fixed, "--times", &before, &like], 0);
    assert_eq!(pair(&found)["time"]["verdict"], "faster");
    assert!(codes(&found).is_empty(), "{:?}", codes(&found));
    // Another axis, at a time that fits: it may be a block, and is said.
    let other = write("other.json", "after", 1_048_576, 58_000.0);
    let found = document(&[&slow, &fixed, "--times", &before, &other], 0);
    assert_eq!(codes(&found), ["times-axes-differ"]);
    // At a quarter of the time it is a quarter of the work.
    let small = write("small.json", "after", 1_048_576, 14_000.0);
    let found = document(&[&slow, &fixed, "--times", &before, &small], 12);
    assert_eq!(pair(&found)["time"]["verdict"], "invalid");
    assert!(pair(&found)["time"]["ratio"].is_null());
    // With the same axes, nobody knows why.
    let far = write("far.json", "after", 4_194_304, 14_000.0);
    let found = document(&[&slow, &fixed, "--times", &before, &far], 0);
    assert_eq!(codes(&found), ["times-far-from-profile"]);
}

/// One kernel of a trace: what the rest did is no part of the answer.
#[test]
fn one_kernel_of_a_trace_can_be_chosen() {
    let whole = diff(&[KINETO, KINETO, "--format", "json", "--quiet"]).code(0);
    let whole = whole.json();
    let kernels = whole["timelines"]["kernels"].as_array().unwrap();
    assert!(kernels.len() > 1 && whole["timelines"]["span"].is_object());
    let name = kernels[0]["before"].as_str().unwrap();
    let one = format!("{KINETO}#{name}");
    let found = document(&[&one, &one], 0);
    assert_eq!(found["timelines"]["kernels"].as_array().unwrap().len(), 1);
    assert!(found["timelines"]["span"].is_null());
    assert_eq!(found["timelines"]["devices"].as_array().unwrap().len(), 0);
    diff(&[&one, &one]).code(0).shows("SAME");
    let gone = format!("{KINETO}#gone_kernel");
    diff(&[&gone, KINETO])
        .code(2)
        .says("holds no kernel \"gone_kernel\"")
        .says("one of ");
    let launch = format!("{one}@0");
    diff(&[&launch, KINETO]).code(2).says("cannot be chosen");
}
