//! `ridge checklist`: every kind of input, alone and together, and what is not known.

use serde_json::Value;

use crate::driver::{AOS, Folder, Run, VADD, ridge, root, snapshot};
use crate::schema::{named, violations};

/// A step of a network with pageable copies, `.item()` and tiny kernels, as counters and as a trace.
const STEP: &str = "fixtures/checklist/pytorch_step.ncu-rep.zst";
const TRACE: &str = "fixtures/traces/pytorch_kineto.json.gz";
const BENCH: &str = "fixtures/formats/bench-1/copy.json";

fn run(arguments: &[&str]) -> Run {
    ridge(
        ["checklist", "-q", "--ceilings", "none"]
            .iter()
            .chain(arguments),
    )
    .run()
}

fn within(folder: &Folder, arguments: &[&str]) -> Run {
    ridge(
        ["checklist", "-q", "--ceilings", "none"]
            .iter()
            .chain(arguments),
    )
    .within(folder)
    .run()
}

/// The document, held against its schema.
fn document(run: &Run) -> Value {
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(
        violations(&named("checklist"), &document),
        Vec::<String>::new()
    );
    document
}

fn line<'d>(document: &'d Value, id: &str) -> &'d Value {
    let mut lines = document["lines"].as_array().unwrap().iter();
    lines.find(|line| line["id"] == id).unwrap()
}

fn answer(document: &Value, id: &str) -> String {
    line(document, id)["answer"].as_str().unwrap().to_owned()
}

fn json(arguments: &[&str], code: u8) -> Value {
    let words = [arguments, ["--format", "json"].as_slice()].concat();
    document(&run(&words).code(code))
}

#[test]
fn the_page_of_a_kernel() {
    let run = run(&[&format!("{AOS}#aos_slow")]).code(10);
    snapshot("checklist_kernel", &run.stdout);
}

#[test]
fn a_step_with_its_trace_is_answered_or_asks_for_what_is_missing() {
    let document = json(&[STEP, TRACE], 10);
    for line in document["lines"].as_array().unwrap() {
        let next = line["next"].as_array().unwrap();
        let is_open = ["no", "unknown"].contains(&line["answer"].as_str().unwrap());
        assert_eq!(is_open, !next.is_empty(), "{line:#}");
        for command in next {
            let command = command.as_str().unwrap();
            assert!(
                ["ridge ", "ncu ", "cmake "]
                    .iter()
                    .any(|tool| command.starts_with(tool)),
                "{command}"
            );
        }
        if line["answer"] != "unknown" {
            assert!(!line["evidence"].as_array().unwrap().is_empty(), "{line:#}");
        }
        let has_advice = !line["actions"].as_array().unwrap().is_empty();
        assert!(has_advice || line["answer"] != "no", "{line:#}");
    }
    let reasons = |id: &str| {
        line(&document, id)["reasons"][0]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(answer(&document, "data-resident"), "no");
    assert!(reasons("data-resident").contains("6 copies from or to pageable memory"));
    assert_eq!(answer(&document, "host-ahead"), "no");
    assert!(reasons("host-ahead").contains("3 small results fetched and waited for"));
    assert_eq!(answer(&document, "enough-work"), "no");
    assert!(reasons("enough-work").contains("75 of 138 kernels"));
    assert_eq!(answer(&document, "gpu-busy"), "no");
    assert_eq!(answer(&document, "bottleneck-shown"), "yes");
    let break_even = line(&document, "enough-work")["evidence"]
        .as_array()
        .unwrap()
        .iter()
        .find(|evidence| {
            evidence["metric"]
                .as_str()
                .unwrap()
                .starts_with("break-even with a launch")
        })
        .unwrap();
    // 2 us at the 4.8 TB/s of an H200.
    assert!((break_even["value"].as_f64().unwrap() - 9.6e6).abs() < 1e5);
    snapshot(
        "checklist_step_markdown",
        &run(&[STEP, TRACE, "--format", "markdown"]).code(10).stdout,
    );
}

#[test]
fn what_was_saved_is_answered_as_what_it_was_made_of() {
    let folder = Folder::new();
    let file = folder.path().join("why.json");
    ridge(["why", "-q", AOS, "-o", file.to_str().unwrap()])
        .run()
        .fine();
    let saved = document(&within(&folder, &["why.json", "--format", "json"]).code(10));
    let report = json(&[AOS], 10);
    // Commands name the files that were given.
    let told = |document: &Value| -> Vec<Value> {
        let lines = document["lines"].as_array().unwrap().iter();
        lines
            .map(|line| serde_json::json!([line["answer"], line["reasons"], line["evidence"]]))
            .collect()
    };
    assert_eq!(told(&saved), told(&report));
    assert_eq!(saved["sources"][0]["kind"], "kernels");
}

#[test]
fn a_report_without_the_sections_is_open_and_not_well() {
    for file in ["sol", "twometrics"] {
        let document = json(&[&format!("fixtures/reports/small/{file}.ncu-rep.zst")], 0);
        let coalesced = line(&document, "coalesced");
        assert_eq!(coalesced["answer"], "unknown", "{file}");
        let next = coalesced["next"][0].as_str().unwrap();
        assert!(next.starts_with("ncu --"), "{next}");
    }
}

#[test]
fn another_device_has_its_own_break_even_and_an_unknown_one_has_none() {
    let folder = Folder::new();
    let file = folder.path().join("why.json");
    ridge(["why", "-q", AOS, "-o", file.to_str().unwrap()])
        .run()
        .fine();
    let text = folder.read("why.json");
    let sizes = |name: &str, capability: &str| -> Vec<f64> {
        let other = text
            .replace("NVIDIA H200", name)
            .replace("\"9.0\"", &format!("\"{capability}\""));
        folder.write("other.json", other);
        let found = document(&within(&folder, &["other.json", "--format", "json"]).code(10));
        assert_eq!(answer(&found, "coalesced"), "no");
        line(&found, "enough-work")["evidence"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|evidence| {
                evidence["metric"]
                    .as_str()
                    .unwrap()
                    .starts_with("break-even with a launch")
            })
            .map(|evidence| evidence["value"].as_f64().unwrap())
            .collect()
    };
    let of_a100 = sizes("NVIDIA A100-SXM4-80GB", "8.0");
    // 2 us at 2.04 TB/s.
    assert!((of_a100[0] - 4.08e6).abs() < 1e5, "{of_a100:?}");
    assert_eq!(sizes("NVIDIA Nothing", "7.7"), Vec::<f64>::new());
}

#[test]
fn inputs_of_all_kinds_come_together_each_once() {
    let folder = Folder::new();
    let copy = folder.write("copy.ncu-rep.zst", std::fs::read(root().join(AOS)).unwrap());
    let both = ridge([
        "checklist",
        AOS,
        TRACE,
        BENCH,
        copy.to_str().unwrap(),
        AOS,
        "--flags",
        "-O3",
        "--format",
        "json",
        "--ceilings",
        "none",
    ])
    .run()
    .code(10)
    .says("counts once");
    let document = document(&both);
    let kinds: Vec<&str> = document["sources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|source| source["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["kernels", "trace", "bench", "build"]);
    // What was measured on a model is no measurement.
    let measured = line(&document, "measured-properly");
    assert_eq!(measured["answer"], "no");
    assert!(!measured["evidence"].as_array().unwrap().is_empty());
    assert!(!measured["actions"].as_array().unwrap().is_empty());
    assert_eq!(answer(&document, "release-build"), "yes");
    // Two kernels of one file are two.
    let kernels = json(
        &[&format!("{AOS}#aos_slow"), &format!("{AOS}#aos_fixed")],
        10,
    );
    assert_eq!(kernels["sources"].as_array().unwrap().len(), 2);
}

#[test]
fn an_input_that_cannot_be_read_spares_the_others() {
    let folder = Folder::with("broken.json", "{\"schema\": \"ridgepoint.numerics\", ");
    folder.write("text.txt", "nothing that is known");
    folder.write(
        "list.json",
        "[{\"directory\": \"/\", \"file\": \"a.cu\", \"command\": ",
    );
    folder.write("good.zst", std::fs::read(root().join(VADD)).unwrap());
    for bad in ["broken.json", "text.txt", "list.json", "missing.ncu-rep"] {
        let run = within(&folder, &[bad, "good.zst", "--format", "json"]).code(3);
        assert!(run.stderr.contains(bad), "{}", run.stderr);
        assert_eq!(document(&run)["sources"].as_array().unwrap().len(), 1);
    }
    folder.write("other.json", "{\"schema\": \"of.something\"}");
    within(&folder, &["other.json"])
        .code(3)
        .says("answers of `ridge numerics`");
    // Alone it leaves nothing to answer.
    let alone = within(&folder, &["text.txt"]).code(3);
    assert!(alone.stdout.is_empty());
    within(&folder, &["good.zst", "--claims", "text.txt"])
        .code(3)
        .says("cpu-comparison");
    run(&[&format!("{TRACE}#softmax")])
        .code(2)
        .says("no kernel can be chosen");
    run(&[]).code(2);
}

/// What was given is not said to be missing.
#[test]
fn a_trace_without_a_device_is_no_missing_trace() {
    let folder = Folder::with(
        "host.json",
        r#"{"traceEvents":[{"ph":"X","name":"f","ts":1,"dur":5,"pid":1,"tid":1,"cat":"cpu_op"}]}"#,
    );
    let found = document(&within(&folder, &["host.json", "--format", "json"]).code(0));
    for id in [
        "enough-work",
        "data-resident",
        "gpu-busy",
        "host-ahead",
        "bottleneck-shown",
    ] {
        let line = line(&found, id);
        let reason = line["reasons"][0].as_str().unwrap();
        assert_eq!(line["answer"], "unknown");
        assert!(
            reason.ends_with("holds nothing that a device did"),
            "{id}: {reason}"
        );
        assert!(
            line["next"][0].as_str().unwrap().starts_with("ridge "),
            "{id}"
        );
    }
}

#[test]
fn flags_tell_how_it_is_built_and_what_they_do_to_results() {
    let document = json(&["--flags", "-O3 -lineinfo"], 0);
    assert_eq!(answer(&document, "release-build"), "yes");
    assert_eq!(answer(&document, "precision"), "unknown");
    let debug = json(&["--flags", "-O3 -G"], 10);
    assert_eq!(answer(&debug, "release-build"), "no");
    let fast = json(&["--flags", "-O3 --use_fast_math"], 0);
    let reason = line(&fast, "precision")["reasons"][0].as_str().unwrap();
    assert!(reason.contains("flush to zero"), "{reason}");
    let folder = Folder::with(
        "compile_commands.json",
        r#"[{"directory": "/b", "command": "nvcc -O3 -c a.cu", "file": "a.cu"},
            {"directory": "/b", "command": "nvcc -O0 -c b.cu", "file": "b.cu"}]"#,
    );
    let run = within(&folder, &["compile_commands.json"]).code(10);
    assert!(run.stdout.contains("1 of 2 commands"), "{}", run.stdout);
}

#[test]
fn results_that_were_compared_settle_precision_and_repeating() {
    let folder = Folder::new();
    let npy = |last: f32| {
        let mut head = "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }".to_owned();
        while !(head.len() + 11).is_multiple_of(64) {
            head.push(' ');
        }
        head.push('\n');
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((head.len() as u16).to_le_bytes());
        file.extend(head.as_bytes());
        for value in [1.0_f32, 2.0, 3.0, last] {
            file.extend(value.to_le_bytes());
        }
        file
    };
    folder.write("ref.npy", npy(4.0));
    folder.write("right.npy", npy(4.0));
    folder.write("wrong.npy", npy(5.0));
    for (output, code, expected) in [("right", 0, "yes"), ("wrong", 10, "no")] {
        let file = format!("{output}.npy");
        let answer_file = format!("{output}.json");
        ridge(["numerics", "ref.npy", &file, "-o", &answer_file])
            .within(&folder)
            .run();
        let run = within(
            &folder,
            &[
                &answer_file,
                "--flags",
                "-O3 --use_fast_math",
                "--format",
                "json",
            ],
        );
        let found = document(&run.code(code));
        assert_eq!(answer(&found, "precision"), expected, "{output}");
        assert_eq!(answer(&found, "reproducible"), "unknown");
    }
    folder.write("claims.toml", "[results]\nneeds_repeat = false\n");
    let claims =
        document(&within(&folder, &["--claims", "claims.toml", "--format", "json"]).code(0));
    assert_eq!(answer(&claims, "reproducible"), "not-applicable");
    assert_eq!(answer(&claims, "cpu-comparison"), "unknown");
}

#[cfg(unix)]
#[test]
fn runs_that_were_compared_settle_repeating() {
    let folder = Folder::new();
    for (name, script, code, expected) in [
        ("same", "printf abc > \"$1\"", 0, "yes"),
        ("other", "date +%N > \"$1\"; echo $$ >> \"$1\"", 10, "no"),
    ] {
        let file = format!("{name}.json");
        ridge([
            "numerics", "--repeat", "3", "-o", &file, "--", "/bin/sh", "-c", script, "sh",
            "{output}",
        ])
        .within(&folder)
        .env("PATH", "/usr/bin:/bin")
        .run();
        let found = document(&within(&folder, &[&file, "--format", "json"]).code(code));
        assert_eq!(answer(&found, "reproducible"), expected, "{name}");
    }
}

#[test]
fn a_comparison_with_the_cpu_is_as_fair_as_it_is_stated() {
    let folder = Folder::new();
    let fair = "[cpu]\ntime = \"120 ms\"\nthreads = 32\ncores = 32\nflags = \"-O3 -march=native\"\nsame_work = true\n\
                [gpu]\ntime = \"3 ms\"\nincludes_copies = true\n";
    let answer_to = |text: &str, code: u8| {
        folder.write("claims.toml", text);
        let found =
            document(&within(&folder, &["--claims", "claims.toml", "--format", "json"]).code(code));
        (
            answer(&found, "cpu-comparison"),
            line(&found, "cpu-comparison").clone(),
        )
    };
    let (found, line) = answer_to(fair, 0);
    assert_eq!(found, "yes");
    let ratio = line["evidence"].as_array().unwrap().last().unwrap().clone();
    assert!((ratio["value"].as_f64().unwrap() - 40.0).abs() < 1e-9);
    let reason = |line: &Value| line["reasons"][0].as_str().unwrap().to_owned();
    assert!(reason(&line).ends_with("the GPU is 40.00x as fast"));
    // What is fair can speak against the GPU.
    let (found, line) = answer_to(&fair.replace("3 ms", "240 ms"), 0);
    assert_eq!(found, "yes");
    assert!(reason(&line).ends_with("the CPU is the faster one, 2.00x"));
    for (from, to) in [
        ("threads = 32", "threads = 1"),
        ("-O3 -march=native", "-g"),
        ("same_work = true", "same_work = false"),
        ("includes_copies = true", "includes_copies = false"),
    ] {
        assert_eq!(answer_to(&fair.replace(from, to), 10).0, "no", "{to}");
    }
    assert_eq!(answer_to(&fair.replace("cores = 32\n", ""), 0).0, "unknown");
    folder.write("claims.toml", "[cpu]\nspeed = 3\n");
    within(&folder, &["--claims", "claims.toml"])
        .code(3)
        .says("speed");
}
