//! `ridge why -- PROGRAM` over a stand-in for the profiler, which answers with what the real one would have stored of a
//! recorded report.

use std::collections::BTreeSet;
use std::fs;
use std::process::Stdio;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use ncu_rep::redact::{Options, redact};
use ridge_collect::plan::groups::{self, Group};
use ridge_collect::plan::{FIRST, metrics};

use crate::driver::{Folder, Ridge, Run, ridge, root, snapshot};

/// A report with two kernels, of which one uses local memory.
const REPORT: &str = "fixtures/gallery/bin_counts.ncu-rep.zst";

fn bin_counts() -> &'static [u8] {
    static BYTES: LazyLock<Vec<u8>> =
        LazyLock::new(|| zstd::decode_all(fs::File::open(root().join(REPORT)).unwrap()).unwrap());
    &BYTES
}

/// The stand-in, with the reports of all tiers.
struct Fake {
    folder: Folder,
}

impl Fake {
    fn new() -> Self {
        let folder = Folder::new();
        let tiers: &[(u8, &[&Group])] = &[(0, &[]), (1, FIRST), (2, &[&groups::LOCAL])];
        for (tier, groups) in tiers {
            let mut wanted: BTreeSet<String> =
                metrics(groups).into_iter().map(str::to_owned).collect();
            // What the profiler stores with every result, and what a group of its own stands for.
            let all = ncu_rep::Report::parse(bin_counts()).unwrap();
            let names = all.profile(0).unwrap().metrics().value;
            wanted.extend(
                names
                    .iter()
                    .map(|metric| metric.name)
                    .filter(|name| {
                        name.starts_with("launch__")
                            || name.starts_with("device__")
                            || (*tier == 1 && name.starts_with("smsp__pcsamp_"))
                            || (*tier == 1
                                && name.ends_with(".l1tex__data_pipe_lsu_wavefronts.avg"))
                    })
                    .map(str::to_owned),
            );
            let options = Options {
                rename_kernels: false,
                metrics: Some(wanted),
            };
            let mut bytes = Vec::new();
            redact(bin_counts(), &options, &mut bytes).unwrap();
            fs::write(folder.path().join(format!("tier{tier}.ncu-rep")), bytes).unwrap();
        }
        Self { folder }
    }

    fn why(&self, arguments: &[&str]) -> Ridge {
        let fake = root().join("crates/ridge/tests/cli/fake_ncu.sh");
        ridge(["why"].iter().chain(arguments))
            .within(&self.folder)
            .env("RIDGE_NCU", &fake.to_string_lossy())
            .env("PATH", "/usr/bin:/bin")
            .env("FAKE", &self.folder.path().to_string_lossy())
    }

    fn commands(&self) -> Vec<String> {
        let text = fs::read_to_string(self.folder.path().join("commands")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

fn json(run: &Run) -> serde_json::Value {
    serde_json::from_str(&run.stdout).unwrap()
}

/// The first finding of each kernel.
fn first_findings(run: &Run) -> Vec<String> {
    let document = json(run);
    let mut list: Vec<String> = document["kernels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|kernel| {
            let id = kernel["findings"][0]["id"].as_str().unwrap_or("none");
            format!("{}: {id}", kernel["name"].as_str().unwrap())
        })
        .collect();
    list.sort();
    list
}

#[test]
fn the_answer_is_that_of_the_full_set() {
    let fake = Fake::new();
    let tiered = fake.why(&["--format", "json", "--", "true"]).run().code(0);
    let full = ridge(["why", "--format", "json", REPORT]).run();
    assert_eq!(first_findings(&tiered), first_findings(&full));
    let collected = &json(&tiered)["sources"][0]["collected"];
    assert_eq!(collected["target"], serde_json::json!(["true"]));
    let tiers: Vec<u64> = collected["tiers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tier| tier["tier"].as_u64().unwrap())
        .collect();
    assert_eq!(tiers[..2], [0, 1]);
    assert_eq!(collected["tiers"][1]["passes"], serde_json::json!([12, 12]));
    let commands = fake.commands();
    assert_eq!(commands.len(), tiers.len());
    assert!(
        commands
            .iter()
            .all(|line| line.contains("--clock-control none")),
        "{commands:?}"
    );
    assert!(
        commands[0].contains("--metrics gpu__time_duration.sum,"),
        "{}",
        commands[0]
    );
    assert!(
        commands[1].contains("--kernel-id ::regex:^("),
        "{}",
        commands[1]
    );
}

#[test]
fn what_was_kept_answers_the_same() {
    let fake = Fake::new();
    let live = fake
        .why(&["--format", "json", "--keep", "kept", "--", "true"])
        .run()
        .code(0);
    let kept = fake
        .why(&["--format", "json", "kept/collection.json"])
        .run()
        .code(0);
    let without_names = |run: &Run| {
        let mut document = json(run);
        document["sources"][0]["file"] = serde_json::Value::Null;
        document
    };
    assert_eq!(without_names(&live), without_names(&kept));
    let again = fake.why(&["--keep", "kept", "--", "true"]).run().code(2);
    assert!(
        again.stderr.contains("holds a collection"),
        "{}",
        again.stderr
    );
}

/// What was timed apart from the counters goes before durations of launches whose counters were collected, and is of one run
/// all the same.
#[test]
fn kept_collections_are_compared() {
    let fake = Fake::new();
    for folder in ["before", "after"] {
        fake.why(&["--keep", folder, "--", "true"]).run().code(0);
    }
    let files = ["before/collection.json", "after/collection.json"];
    let diff = |files: [&str; 2]| {
        ridge(["diff", "--format", "json", "-q", files[0], files[1]])
            .within(&fake.folder)
            .run()
    };
    let same = diff([files[0], files[0]]).code(0);
    assert_eq!(json(&same)["verdict"], "same");
    let path = fake.folder.path().join(files[1]);
    let halved: Vec<String> = fs::read_to_string(&path)
        .unwrap()
        .lines()
        .map(|line| match line.split_once("\"median_ns\": ") {
            Some((before, median)) => {
                let median: f64 = median.trim_end_matches(',').parse().unwrap();
                format!("{before}\"median_ns\": {}", median / 2.0)
            }
            None => line.to_owned(),
        })
        .collect();
    fs::write(&path, halved.join("\n")).unwrap();
    let faster = json(&diff(files).code(11));
    for pair in faster["kernels"]["pairs"].as_array().unwrap() {
        let time = &pair["time"];
        assert_eq!(
            (&time["origin"], &time["verdict"]),
            (&"timing-pass".into(), &"ambiguous".into()),
            "{time}"
        );
        assert!(
            (time["ratio"].as_f64().unwrap() - 0.5).abs() < 1e-9,
            "{time}"
        );
    }
}

#[test]
fn the_page_says_what_was_run_and_what_it_shows() {
    let run = Fake::new().why(&["--", "true"]).run().code(0);
    let page = run.stdout.split_once('\n').unwrap().1;
    snapshot("collect_page", page);
}

#[test]
fn reports_of_metrics_that_are_named_one_after_the_other_complete_each_other() {
    let fake = Fake::new();
    fake.why(&["--keep", "kept", "--", "true"]).run().code(0);
    let run = fake
        .why(&[
            "--format",
            "json",
            "kept/collection.json",
            "kept/tier1.ncu-rep",
            "kept/tier2.ncu-rep",
        ])
        .run()
        .code(0);
    assert_eq!(json(&run)["sources"].as_array().unwrap().len(), 1);
}

#[test]
fn commands_are_shown_and_nothing_is_run() {
    let fake = Fake::new();
    let run = fake.why(&["--dry-run", "--", "./app", "a b"]).run().code(0);
    snapshot("collect_dry_run", &run.stdout);
    assert!(fake.commands().is_empty());
}

#[test]
fn a_program_that_is_not_there() {
    let run = Fake::new().why(&["--", "./nothere"]).run().code(2);
    assert!(
        run.stderr.contains("no program \"./nothere\""),
        "{}",
        run.stderr
    );
}

#[test]
fn a_program_that_fails_leaves_what_was_profiled() {
    let run = Fake::new()
        .why(&["--format", "json", "--", "sh", "-c", "exit 3"])
        .run()
        .code(15);
    assert!(
        run.stderr.contains("sh ended with code 3"),
        "{}",
        run.stderr
    );
    assert_eq!(json(&run)["sources"][0]["collected"]["target_code"], 3);
    assert_eq!(json(&run)["kernels"].as_array().unwrap().len(), 2);
}

#[test]
fn no_kernel_was_launched() {
    let run = Fake::new()
        .why(&["--", "true"])
        .env("MODE", "none")
        .run()
        .code(4);
    assert!(run.stderr.contains("launched no kernel"), "{}", run.stderr);
    assert!(
        run.stderr.contains("CUDA_VISIBLE_DEVICES"),
        "{}",
        run.stderr
    );
    let off = Fake::new()
        .why(&["--profile-from-start", "off", "--", "true"])
        .env("MODE", "none")
        .run();
    assert!(off.stderr.contains("cudaProfilerStart"), "{}", off.stderr);
}

#[test]
fn what_the_machine_lacks() {
    for (mode, part) in [
        ("permission", "ERR_NVGPUCTRPERM"),
        ("old", "do not fit together"),
        ("full", "cannot be written"),
        ("memory", "--replay application"),
        ("crash", "ncu ended with"),
    ] {
        let run = Fake::new()
            .why(&["--", "true"])
            .env("MODE", mode)
            .run()
            .code(4);
        assert!(run.stderr.contains(part), "{mode}: {}", run.stderr);
    }
    let none = Fake::new()
        .why(&["--", "true"])
        .env("RIDGE_NCU", "/nowhere/ncu")
        .run()
        .code(4);
    assert!(
        none.stderr.contains("install Nsight Compute"),
        "{}",
        none.stderr
    );
}

/// `mpirun` gives each rank a folder of its own; the collections are compared kernel by kernel.
#[test]
fn collections_of_ranks_are_compared() {
    let fake = Fake::new();
    for rank in ["0", "1", "2", "3"] {
        fake.why(&["--keep", "run/%q{PMI_RANK}", "--", "true"])
            .env("PMI_RANK", rank)
            .env("PMI_SIZE", "4")
            .run()
            .code(0);
    }
    let folder = fake.folder.path();
    let read = |rank: u32| {
        let path = folder.join(format!("run/{rank}/collection.json"));
        let text = fs::read_to_string(&path).unwrap();
        (
            path,
            serde_json::from_str::<serde_json::Value>(&text).unwrap(),
        )
    };
    assert_eq!(
        read(3).1["collected"]["rank"],
        serde_json::json!({"number": 3, "local": null, "size": 4, "told_by": "PMI_RANK"})
    );
    let names: Vec<String> = (0..4)
        .rev()
        .map(|rank| format!("run/{rank}/collection.json"))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let equal = fake.why(&names).run().fine();
    assert!(
        equal.stdout.contains("none of 4 stands out"),
        "{}",
        equal.stdout
    );
    // Rank 2 takes a third longer for the kernel with most of the time. The file keeps its form.
    let edit = |rank: u32, from: &str, to: &str| {
        let path = read(rank).0;
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{from} in {text}");
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
    };
    let stored = read(2).1;
    let medians = stored["launches"].as_array().unwrap().iter();
    let median = medians
        .map(|row| row["median_ns"].as_f64().unwrap())
        .max_by(f64::total_cmp)
        .unwrap();
    edit(
        2,
        &format!("\"median_ns\": {median:?}"),
        &format!("\"median_ns\": {:?}", median * 4.0 / 3.0),
    );
    let page = fake.why(&names).env("COLUMNS", "120").run().fine().stdout;
    let part = page.split_once("4 ranks beside each other").unwrap().1;
    let part = part.split("\n\n").next().unwrap();
    snapshot("ranks_collections", part);
    let run = fake
        .why(&[&names[..], &["--format", "json"]].concat())
        .run()
        .code(0);
    let document = json(&run);
    assert_eq!(
        crate::schema::violations(&crate::schema::named("diagnosis"), &document),
        Vec::<String>::new()
    );
    let ranks = &document["ranks"];
    let labels: Vec<&str> = ranks["members"]
        .as_array()
        .unwrap()
        .iter()
        .map(|member| member["label"].as_str().unwrap())
        .collect();
    assert_eq!(labels, ["rank 0", "rank 1", "rank 2", "rank 3"]);
    assert_eq!(ranks["kernels"][0]["odd"], serde_json::json!([2]));
    assert_eq!(ranks["kernels"][0]["limiters_differ"], false);
    // A file that was written before ranks were stored is read, and told by its name.
    let text = fs::read_to_string(read(0).0).unwrap();
    let from = text.find(",\n    \"rank\": {").unwrap();
    let to = from + text[from..].find('}').unwrap() + 1;
    edit(0, &text[from..to], "");
    let old = json(
        &fake
            .why(&[&names[..], &["--format", "json"]].concat())
            .run()
            .code(0),
    );
    assert_eq!(old["ranks"]["members"][3]["label"], "run/0/collection.json");
}

#[test]
fn a_tier_that_fails_keeps_the_earlier_ones() {
    let run = Fake::new()
        .why(&["--format", "json", "--", "true"])
        .env("MODE", "memory")
        .env("TIER", "2")
        .run()
        .code(4);
    assert!(run.stderr.contains("tier 2 failed"), "{}", run.stderr);
    assert_eq!(json(&run)["kernels"].as_array().unwrap().len(), 2);
}

#[test]
fn a_name_that_matches_nothing_offers_the_closest() {
    let run = Fake::new()
        .why(&["--kernel", "bin_counts_slwo", "--", "true"])
        .run()
        .code(2);
    assert!(
        run.stderr
            .contains("one of bin_counts_slow, bin_counts_fixed"),
        "{}",
        run.stderr
    );
}

#[test]
fn one_kernel_is_chosen_by_name() {
    let fake = Fake::new();
    fake.why(&["--kernel", "slow", "--", "true"]).run().code(0);
    assert!(
        fake.commands()[1].contains("^(bin_counts_slow)$"),
        "{:?}",
        fake.commands()
    );
}

#[test]
fn one_launch_is_chosen_by_its_number() {
    let fake = Fake::new();
    fake.why(&["--launch", "1", "--", "true"]).run().code(0);
    assert!(
        fake.commands()[1].contains("^(bin_counts_fixed)$:1"),
        "{:?}",
        fake.commands()
    );
    let none = fake.why(&["--launch", "7", "--", "true"]).run().code(2);
    assert!(none.stderr.contains("the last one is 1"), "{}", none.stderr);
}

#[test]
fn what_the_program_prints_is_no_part_of_the_answer() {
    let script = "echo to-output; echo to-errors >&2";
    let run = Fake::new()
        .why(&["--format", "json", "--", "sh", "-c", script])
        .run()
        .code(0);
    json(&run);
    assert_eq!(run.stderr.matches("to-output").count(), 1, "{}", run.stderr);
    assert_eq!(run.stderr.matches("to-errors").count(), 1, "{}", run.stderr);
}

#[test]
fn standard_input_is_the_same_in_every_run() {
    let fake = Fake::new();
    fake.why(&["--", "sh", "-c", "cat >> read"])
        .stdin(b"line\n")
        .run()
        .code(0);
    let read = fs::read_to_string(fake.folder.path().join("read")).unwrap();
    assert_eq!(read.lines().count(), fake.commands().len(), "{read:?}");
    assert!(read.lines().all(|line| line == "line"), "{read:?}");
}

#[test]
fn a_program_that_leaves_a_process_behind_is_not_waited_for() {
    let start = Instant::now();
    Fake::new()
        .why(&["--", "sh", "-c", "sleep 30 &"])
        .run()
        .code(0);
    assert!(start.elapsed() < Duration::from_secs(25));
}

#[test]
fn an_interrupt_keeps_what_was_collected() {
    let fake = Fake::new();
    let mut command = fake
        .why(&["--format", "json", "--keep", "kept", "--", "true"])
        .env("MODE", "wait")
        .env("TIER", "2")
        .into_command();
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // As a terminal does, the whole group is told.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let child = command.spawn().unwrap();
    let waits = fake.folder.path().join("waits");
    while !waits.exists() {
        std::thread::yield_now();
    }
    let group = format!("-{}", child.id());
    let told = std::process::Command::new("kill")
        .args(["-INT", "--", &group])
        .status();
    assert!(told.unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["kernels"].as_array().unwrap().len(), 2);
    assert!(fake.folder.path().join("kept/collection.json").exists());
}

#[test]
fn two_at_once_do_not_share_a_folder() {
    let fake = Fake::new();
    let runs: Vec<_> = (0..2)
        .map(|_| {
            let mut command = fake.why(&["--keep", "kept", "--", "true"]).into_command();
            command
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    let mut codes: Vec<_> = runs
        .into_iter()
        .map(|child| child.wait_with_output().unwrap().status.code())
        .collect();
    codes.sort();
    assert_eq!(codes, [Some(0), Some(2)]);
}
