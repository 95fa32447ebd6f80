//! Ranks beside each other, parts of traces, and names of files with variables in them.

use std::fmt::Write;

use serde_json::Value;

use crate::driver::{Folder, Ridge, Run, ridge, root, snapshot};
use crate::schema;

const STEPS: u64 = 10;
/// What an exchange takes once all ranks are there.
const EXCHANGE_US: u64 = 20;

/// A trace of the PyTorch profiler of one rank: in each step a product of `own_us`, and an exchange that ends when the rank
/// with the longest product, of `slowest_us`, has been there for 20 us. The name of the product is hostile.
fn rank(number: u64, own_us: u64, slowest_us: u64) -> String {
    let mut events = String::new();
    let mut correlation = 0;
    let mut kernel = |events: &mut String, name: &str, at: u64, took: u64| {
        correlation += 1;
        let _ = write!(
            events,
            r#"{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":5,"tid":5,"ts":{},"dur":2,"args":{{"correlation":{correlation}}}}},
            {{"ph":"X","cat":"kernel","name":"{name}","pid":0,"tid":7,"ts":{at},"dur":{took},"args":{{"correlation":{correlation},"device":0,"stream":7}}}},"#,
            at.saturating_sub(3),
        );
    };
    let step_us = slowest_us + EXCHANGE_US;
    for step in 0..STEPS {
        let begin = 10 + step * step_us;
        // No two launches take quite the same.
        let own = own_us + (step * 7 + number) % 3;
        kernel(&mut events, r"product<\u001b[31m, |x|>(float)", begin, own);
        kernel(&mut events, "exchange(float)", begin + own, step_us - own);
        let _ = write!(
            events,
            r#"{{"ph":"X","cat":"user_annotation","name":"ProfilerStep#{step}","pid":5,"tid":5,"ts":{begin},"dur":{step_us},"args":{{}}}},
            {{"ph":"X","cat":"user_annotation","name":"forward","pid":5,"tid":5,"ts":{begin},"dur":{own},"args":{{}}}},"#
        );
    }
    format!(
        r#"{{"baseTimeNanoseconds":1700000000000000000,"distributedInfo":{{"backend":"nccl","rank":{number},"world_size":4}},
        "traceEvents":[{}]}}"#,
        events.trim_end_matches(',')
    )
}

/// Four ranks, of which rank 2 takes a third longer for its products.
fn four() -> Folder {
    let folder = Folder::new();
    for number in 0..4 {
        let own = if number == 2 { 80 } else { 60 };
        folder.write(format!("r{number}.json"), rank(number, own, 84));
    }
    folder
}

fn timeline(folder: &Folder, arguments: &[&str]) -> Ridge {
    ridge(["timeline"].iter().chain(arguments))
        .within(folder)
        .env("COLUMNS", "100")
}

const ALL: [&str; 4] = ["r3.json", "r0.json", "r2.json", "r1.json"];

fn compared(arguments: &[&str]) -> Run {
    timeline(&four(), &[&ALL, arguments].concat()).run().fine()
}

#[test]
fn the_rank_that_comes_last_is_named() {
    let page = compared(&[]).stdout;
    snapshot("ranks_text", &page);
    assert!(!page.contains('\u{1b}'));
    for line in page.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
    // One page of four; all with -v.
    assert_eq!(page.matches("Device 0").count(), 1);
    let verbose = compared(&["-v"]).stdout;
    assert_eq!(verbose.matches("Device 0").count(), 4);
    snapshot(
        "ranks_markdown",
        &compared(&["--format", "markdown"]).stdout,
    );
}

#[test]
fn formats_say_the_same() {
    let document = compared(&["--format", "json"]).json();
    assert_eq!(
        schema::violations(&schema::named("timeline"), &document),
        Vec::<String>::new()
    );
    let ranks = &document["ranks"];
    let title = ranks["title"].as_str().unwrap();
    assert!(
        title.starts_with("rank 2 comes last in 10 of 10 launches"),
        "{title}"
    );
    assert_eq!(ranks["last"]["member"], 2);
    // In order of their ranks, which is not that of the files.
    let traces: Vec<u64> = ranks["members"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["trace"].as_u64().unwrap())
        .collect();
    assert_eq!(traces, [1, 3, 2, 0]);
    assert_eq!(document["traces"][2]["world_size"], 4);
    assert_eq!(document["traces"][2]["rank_told_by"], "distributedInfo");
    let odd: Vec<(u64, &str)> = ranks["odd"]
        .as_array()
        .unwrap()
        .iter()
        .map(|odd| {
            (
                odd["member"].as_u64().unwrap(),
                odd["figure"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(odd, [(2, "kernel-time"), (2, "kernel-median")]);
    let folder = four();
    for name in ["page.html", "page.svg", "page.md", "page.txt"] {
        timeline(&folder, &[&ALL[..], &["-o", name]].concat())
            .run()
            .fine();
        let text = folder.read(name).replace(['\n', '\\'], " ");
        assert!(text.contains("rank 2 comes last"), "{name}");
    }
}

#[test]
fn two_ranks_are_compared_and_none_is_odd() {
    let run = timeline(&four(), &["r0.json", "r1.json"]).run().fine();
    assert!(
        run.stdout.contains("which of two is odd cannot be told"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("2 of 4 ranks are here"));
    assert!(!run.stdout.contains("stands out"));
    // Both pages are there.
    assert_eq!(run.stdout.matches("Device 0").count(), 2);
}

#[test]
fn other_programs_are_no_ranks() {
    let folder = four();
    let other = rank(1, 60, 84)
        .replace("product", "other")
        .replace("exchange", "another");
    folder.write("r1.json", other);
    let page = timeline(&folder, &ALL)
        .run()
        .fine()
        .stdout
        .replace('\n', " ");
    assert!(
        page.contains("these are not traces of one program"),
        "{page}"
    );
}

#[test]
fn one_step_of_a_trace() {
    let folder = four();
    let run = timeline(&folder, &["r2.json", "--range", "ProfilerStep#4"])
        .run()
        .fine();
    snapshot("range_step", &run.stdout);
    let json = |range: &str| {
        let words = ["r2.json", "--range", range, "--format", "json"];
        timeline(&folder, &words).run().fine().json()
    };
    let third = json("forward#3");
    assert_eq!(
        schema::violations(&schema::named("timeline"), &third),
        Vec::<String>::new()
    );
    let range = &third["traces"][0]["range"];
    assert_eq!(
        (&range["name"], &range["place"], &range["of"]),
        (&"forward".into(), &3.into(), &10.into())
    );
    // The product and nothing else: its launch, and the whole of the part.
    let device = &third["traces"][0]["devices"][0];
    assert_eq!(device["counts"]["kernels"], 1);
    assert_eq!(device["span_ns"], range["length_ns"]);
    assert_eq!(device["idle_ns"], 0.0);
    // By time: half of a product of 80 us, which begins 10 us after the first record less the 3 us of its call.
    let span = json("0..43us");
    let device = &span["traces"][0]["devices"][0];
    assert_eq!(device["span_ns"], 43_000.0);
    assert_eq!(device["kernel_ns"], 40_000.0);
    assert_eq!(span["traces"][0]["range"]["cut_work"], 1);
    for format in ["svg", "html", "markdown", "text"] {
        let words = ["r2.json", "--range", "forward", "--format", format];
        let text = timeline(&folder, &words).run().fine().stdout;
        assert!(
            text.replace('\n', " ")
                .contains("only the range forward, number 1 of 10"),
            "{format}"
        );
    }
}

/// Four ranks at the same step.
#[test]
fn a_step_of_all_ranks() {
    let page = compared(&["--range", "ProfilerStep#4", "--format", "json"]).json();
    let rows = page["ranks"]["members"].as_array().unwrap();
    assert!(
        rows.iter().all(|row| row["span_ns"] == 104_000.0),
        "{rows:?}"
    );
}

#[test]
fn parts_that_are_not_there() {
    let folder = four();
    let mut text = String::new();
    for range in [
        "ProfilerStep#44",
        "forwrd",
        "forward#11",
        "forward#0",
        "2s..3s",
        "12..40",
        "40ms..12ms",
        "",
    ] {
        let run = timeline(&folder, &["r2.json", "--range", range])
            .run()
            .code(2);
        assert_eq!(run.stdout, "", "{range}");
        let _ = write!(text, "--range {range:?}\n{}\n", run.stderr);
    }
    // The fixture of a real program has operators and no ranges of its own.
    let kineto = root().join("fixtures/traces/pytorch_kineto.json.gz");
    let run = timeline(&folder, &[kineto.to_str().unwrap(), "--range", "aten::mn"])
        .run()
        .code(2);
    assert!(run.stderr.contains("one of aten::mm"), "{}", run.stderr);
    snapshot("range_mistakes", &text);
}

/// A rank is known from the environment; a file for each has its number in its name.
#[test]
fn variables_in_names() {
    let folder = Folder::new();
    let run = ridge([
        "trace",
        "-o",
        "r%q{OMPI_COMM_WORLD_RANK}.ridgetrace",
        "--",
        "true",
    ])
    .within(&folder)
    .env("PATH", "/usr/bin:/bin")
    .run()
    .code(2);
    snapshot("pattern_unset", &run.stderr);
    assert_eq!(folder.names(), Vec::<String>::new());
    ridge([
        "trace",
        "-o",
        "r%q{OMPI_COMM_WORLD_RANK}.ridgetrace",
        "--",
        "true",
    ])
    .within(&folder)
    .env("PATH", "/usr/bin:/bin")
    .env("OMPI_COMM_WORLD_RANK", "3")
    .run();
    assert_eq!(folder.names(), ["r3.ridgetrace"]);
    // One name for all ranks is one file in the end.
    let run = ridge(["trace", "-o", "all.ridgetrace", "--", "true"])
        .within(&folder)
        .env("PATH", "/usr/bin:/bin")
        .env("OMPI_COMM_WORLD_RANK", "3")
        .env("OMPI_COMM_WORLD_SIZE", "8")
        .run();
    assert!(
        run.stderr
            .contains("--output 'all-%q{OMPI_COMM_WORLD_RANK}.ridgetrace'"),
        "{}",
        run.stderr
    );
    let run = ridge(["why", "--keep", "run/%q{NOT_SET_HERE}", "--", "true"])
        .within(&folder)
        .env("RIDGE_NCU", "/usr/bin/true")
        .run()
        .code(2);
    assert!(
        run.stderr
            .contains("the variable NOT_SET_HERE of the environment is not set"),
        "{}",
        run.stderr
    );
}

#[test]
fn the_rank_of_a_document_is_text_of_a_stranger() {
    let folder = Folder::new();
    // What is no rank is none; one beyond the size has no size.
    for (info, rank, size) in [
        (r#"{"rank":-1}"#, Value::Null, Value::Null),
        (r#"{"rank":"x","world_size":2}"#, Value::Null, Value::Null),
        (r#"{"rank":7,"world_size":2}"#, 7.into(), Value::Null),
        (
            r#"{"rank":1,"world_size":2,"pg_config":[{"a":[1]}]}"#,
            1.into(),
            2.into(),
        ),
    ] {
        folder.write(
            "t.json",
            format!(r#"{{"distributedInfo":{info},"traceEvents":[]}}"#),
        );
        let document = timeline(&folder, &["t.json", "--format", "json"])
            .run()
            .fine()
            .json();
        let trace = &document["traces"][0];
        assert_eq!(
            (&trace["rank"], &trace["world_size"]),
            (&rank, &size),
            "{info}"
        );
    }
}
