//! `ridge why -- PROGRAM` over stand-ins: one for the profiler, which answers with what the real one would have stored of a
//! recorded report, and one for CUPTI, with a program that has it record kernels (see `trace.rs`).

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use ncu_rep::redact::{Options, redact};
use ridge_collect::plan::groups::{self, Group};
use ridge_collect::plan::{COUNTERS, metrics};

use crate::driver::{Folder, Ridge, Run, ridge, root, snapshot};
use crate::trace::BUILT;

/// A report with two kernels, of which one uses local memory.
const REPORT: &str = "fixtures/gallery/bin_counts.ncu-rep.zst";

fn bin_counts() -> &'static [u8] {
    static BYTES: LazyLock<Vec<u8>> =
        LazyLock::new(|| zstd::decode_all(fs::File::open(root().join(REPORT)).unwrap()).unwrap());
    &BYTES
}

/// What the profiler stores for its group of reasons: no count, and no reasons of cycles in which nothing issued.
fn is_sample(name: &str) -> bool {
    name.starts_with("smsp__pcsamp_")
        && name != "smsp__pcsamp_sample_count"
        && !name.ends_with("_not_issued")
}

/// What the profiler would have written for these counters.
fn report_of(groups: &[&Group]) -> Vec<u8> {
    let has_samples = groups.iter().any(|group| group.id == groups::SAMPLES.id);
    let mut wanted: BTreeSet<String> = metrics(groups).into_iter().map(str::to_owned).collect();
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
                    || (has_samples && is_sample(name))
                    || (has_samples && name.ends_with(".l1tex__data_pipe_lsu_wavefronts.avg"))
            })
            .map(str::to_owned),
    );
    let options = Options {
        rename_kernels: false,
        metrics: Some(wanted),
    };
    let mut bytes = Vec::new();
    redact(bin_counts(), &options, &mut bytes).unwrap();
    bytes
}

/// The stand-in, with the reports of all tiers.
struct Fake {
    folder: Folder,
}

impl Fake {
    fn new() -> Self {
        let folder = Folder::new();
        for (report, groups) in [("tier0", [].as_slice()), ("tier1", COUNTERS)] {
            let path = folder.path().join(format!("{report}.ncu-rep"));
            fs::write(path, report_of(groups)).unwrap();
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

    /// The same with a program that can be recorded: words are what it does.
    fn recorded(&self, options: &[&str], words: &[&str]) -> Ridge {
        let app = BUILT.app.to_str().unwrap();
        self.why(&[options, &["--", app, "begin"], words].concat())
            .env("RIDGE_CUPTI", BUILT.cupti.to_str().unwrap())
    }

    fn names(&self, folder: &str) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.folder.path().join(folder))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn commands(&self) -> Vec<String> {
        let text = fs::read_to_string(self.folder.path().join("commands")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

/// The kernels of the report, as the recorder sees them: name, blocks, threads, local memory, duration, pause before it.
const SLOW: &[&str] = &[
    "kernel",
    "bin_counts_slow",
    "4096",
    "128",
    "1024",
    "900000",
    "1000",
];
const FIXED: &[&str] = &[
    "kernel",
    "bin_counts_fixed",
    "4096",
    "128",
    "0",
    "30000",
    "1000",
];

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
    // The recording, which holds nothing, then the profiler in its place.
    assert_eq!(tiers[..3], [0, 0, 1]);
    assert_eq!(collected["launches_from"], "timing-pass");
    assert_eq!(collected["tiers"][2]["passes"], serde_json::json!([12, 12]));
    let commands = fake.commands();
    assert_eq!(commands.len(), tiers.len() - 1);
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
fn a_report_that_a_collection_names_is_part_of_it() {
    let fake = Fake::new();
    fake.why(&["--keep", "kept", "--", "true"]).run().code(0);
    let run = fake
        .why(&[
            "--format",
            "json",
            "kept/collection.json",
            "kept/tier1.ncu-rep",
        ])
        .run()
        .code(0);
    assert_eq!(json(&run)["sources"].as_array().unwrap().len(), 1);
}

/// As collections were made that left local memory to a run of its own.
#[test]
fn reports_of_a_collection_complete_each_other() {
    let fake = Fake::new();
    fake.why(&["--keep", "kept", "--", "true"]).run().code(0);
    let kept = fake.folder.path().join("kept");
    let file = kept.join("collection.json");
    let mut collection: serde_json::Value =
        serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let tiers = collection["collected"]["tiers"].as_array_mut().unwrap();
    let mut more = tiers.last().unwrap().clone();
    more["tier"] = 2.into();
    more["report"] = "tier2.ncu-rep".into();
    tiers.push(more);
    // What kind of file it is stands first.
    let (collected, launches) = (&collection["collected"], &collection["launches"]);
    let text = format!(
        r#"{{"schema": "ridgepoint.collection", "version": 1, "collected": {collected}, "launches": {launches}}}"#
    );
    fs::write(&file, text).unwrap();
    let (local, others): (Vec<&Group>, Vec<&Group>) = COUNTERS
        .iter()
        .partition(|group| group.id == groups::LOCAL.id);
    fs::write(kept.join("tier1.ncu-rep"), report_of(&others)).unwrap();
    fs::write(kept.join("tier2.ncu-rep"), report_of(&local)).unwrap();
    let run = fake
        .why(&["--format", "json", "kept/collection.json"])
        .run()
        .code(0);
    let full = ridge(["why", "--format", "json", REPORT]).run();
    assert_eq!(first_findings(&run), first_findings(&full));
    let without = fake
        .why(&["--format", "json", "kept/tier1.ncu-rep"])
        .run()
        .code(0);
    assert_ne!(json(&run)["kernels"], json(&without)["kernels"]);
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
    Fake::new()
        .why(&["--", "./nothere"])
        .run()
        .code(2)
        .says("cannot start ./nothere: there is no such program");
}

#[test]
fn a_program_that_fails_leaves_what_was_profiled() {
    let run = Fake::new()
        .recorded(
            &["--format", "json"],
            &[SLOW, FIXED, &["exit", "3"]].concat(),
        )
        .run()
        .code(15)
        .says("app ended with code 3; what it did until then is in the answer");
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
        none.stderr.contains("install Nsight Compute")
            && none.stderr.contains("looked in RIDGE_NCU (/nowhere/ncu)"),
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
    // Recorded once, then profiled.
    assert_eq!(read.lines().count(), 1 + fake.commands().len(), "{read:?}");
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

/// As a terminal does, the whole group is told.
fn interrupt_in(tier: &str) -> (Fake, std::process::Output) {
    let fake = Fake::new();
    let mut command = fake
        .why(&["--format", "json", "--keep", "kept", "--", "true"])
        .env("MODE", "wait")
        .env("TIER", tier)
        .into_command();
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
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
    assert!(fake.folder.path().join("kept/collection.json").exists());
    (fake, output)
}

#[test]
fn an_interrupt_keeps_what_was_collected() {
    let (fake, output) = interrupt_in("1");
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["kernels"].as_array().unwrap().len(), 2);
    assert_eq!(fake.commands().len(), 2);
    let (fake, output) = interrupt_in("0");
    assert!(output.stdout.is_empty(), "{output:?}");
    assert_eq!(fake.commands().len(), 1);
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

// With a recording of the program.

/// The report's kernels three times, with nothing between them.
fn three_times() -> Vec<&'static str> {
    [SLOW, FIXED].concat().repeat(3)
}

fn tiers(run: &Run) -> Vec<(u64, Option<u64>)> {
    json(run)["sources"][0]["collected"]["tiers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tier| (tier["tier"].as_u64().unwrap(), tier["passes"][1].as_u64()))
        .collect()
}

#[test]
fn launches_and_times_are_those_of_the_recording() {
    let fake = Fake::new();
    let run = fake
        .recorded(&["--format", "json", "--keep", "kept"], &three_times())
        .run()
        .code(0);
    let document = json(&run);
    let collected = &document["sources"][0]["collected"];
    assert_eq!(collected["launches_from"], "trace");
    assert_eq!(collected["launches"], 6);
    assert_eq!(collected["kernels_seen"], 2);
    // One look without the profiler, one with it.
    assert_eq!(tiers(&run), [(0, None), (1, Some(12))]);
    let commands = fake.commands();
    assert_eq!(commands.len(), 1);
    // The one in the middle of three, by its own name.
    assert!(
        commands[0].contains("^(bin_counts_slow)$:2"),
        "{commands:?}"
    );
    let kernel = &document["kernels"][0];
    assert_eq!(kernel["name"], "bin_counts_slow");
    assert_eq!(kernel["timed"]["launches"], 3);
    assert_eq!(kernel["timed"]["median_ns"], 900_000.0);
    assert_eq!(kernel["timed"]["total_ns"], 2_700_000.0);
    // Under the profiler it took as long as the report says.
    let profiled = kernel["duration_ns"].as_f64().unwrap();
    assert!((profiled - 905_728.0).abs() < 1.0, "{profiled}");
    let share = kernel["time_share"].as_f64().unwrap();
    assert!((share - 2.7 / 2.79).abs() < 1e-9, "{share}");
    let whole = document["totals"][0]["duration_ns"].as_f64().unwrap();
    assert!((whole - 2_790_000.0).abs() < 1.0, "{whole}");
    assert_eq!(
        fake.names("kept"),
        [
            "collection.json",
            "tier1.log",
            "tier1.ncu-rep",
            "trace.ridgetrace"
        ]
    );
    assert_eq!(collected["traced"]["file"], "trace.ridgetrace");
    let busy = collected["traced"]["busy_share"].as_f64().unwrap();
    assert!(busy > 0.99, "{busy}");
    // What was kept answers the same, and the recording is one like others.
    let kept = ridge(["why", "--format", "json", "kept/collection.json"])
        .within(&fake.folder)
        .run()
        .code(0);
    assert_eq!(json(&kept)["kernels"], document["kernels"]);
    assert_eq!(json(&kept)["totals"], document["totals"]);
    ridge(["timeline", "kept/trace.ridgetrace"])
        .within(&fake.folder)
        .run()
        .code(0)
        .shows("bin_counts_slow");
}

#[test]
fn the_first_finding_is_that_of_the_full_set() {
    let run = Fake::new()
        .recorded(&["--format", "json"], &three_times())
        .run()
        .code(0);
    let full = ridge(["why", "--format", "json", REPORT]).run();
    assert_eq!(first_findings(&run), first_findings(&full));
}

#[test]
fn the_page_shows_the_recorded_and_the_profiled_time() {
    let run = Fake::new().recorded(&[], &three_times()).run().code(0);
    let page = run.stdout.split_once('\n').unwrap().1;
    snapshot("collect_recorded_page", page);
    assert!(run.stderr.is_empty(), "{}", run.stderr);
}

/// As the profiler prints it for a program that it runs for each pass.
#[test]
fn a_program_that_is_run_for_each_pass_is_read() {
    let fake = Fake::new();
    let run = fake
        .recorded(
            &["--format", "json", "--replay", "application"],
            &three_times(),
        )
        .run()
        .code(0);
    let commands = fake.commands();
    assert_eq!(commands.len(), 1, "{commands:?}");
    assert!(commands[0].contains("--replay-mode application"));
    assert_eq!(tiers(&run), [(0, None), (1, Some(12))]);
}

#[test]
fn a_program_that_waits_most_of_the_time_is_told_before_its_kernels() {
    let fake = Fake::new();
    let slow = &[
        "kernel",
        "bin_counts_slow",
        "4096",
        "128",
        "1024",
        "100000",
        "300000",
    ];
    let run = fake
        .recorded(&["--keep", "kept"], &slow.repeat(4))
        .run()
        .code(0);
    let text = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("! the GPU is busy 31 % of the time: "),
        "{text}"
    );
    assert!(
        text.contains("Look at the whole first: `ridge timeline kept/trace.ridgetrace`"),
        "{text}"
    );
    let kernels = text.find("1 bin_counts_slow").unwrap();
    assert!(text.find("the GPU is busy").unwrap() < kernels);
    // What was not kept cannot be looked at.
    fake.recorded(&[], &slow.repeat(4))
        .run()
        .code(0)
        .shows("with --keep DIR");
}

#[test]
fn a_window_of_the_profiler_is_found_in_the_recording() {
    let fake = Fake::new();
    let words = [
        FIXED,
        SLOW,
        &["profiler", "on"],
        SLOW,
        &["profiler", "off"],
        SLOW,
    ]
    .concat();
    let run = fake
        .recorded(&["--format", "json", "--profile-from-start", "off"], &words)
        .run()
        .code(0);
    let collected = &json(&run)["sources"][0]["collected"];
    assert_eq!(collected["launches_from"], "trace");
    assert_eq!(collected["launches"], 1);
    let command = &fake.commands()[0];
    assert!(command.contains("--profile-from-start off"), "{command}");
    assert!(command.contains("^(bin_counts_slow)$:1"), "{command}");
}

#[test]
fn without_a_window_in_the_recording_the_profiler_tells() {
    let fake = Fake::new();
    let run = fake
        .recorded(
            &["--format", "json", "--profile-from-start", "off"],
            &three_times(),
        )
        .run()
        .code(0)
        .says("it holds no call of cudaProfilerStart");
    assert_eq!(
        json(&run)["sources"][0]["collected"]["launches_from"],
        "timing-pass"
    );
    assert!(fake.commands()[0].contains("--cache-control none"));
}

#[test]
fn without_cupti_the_profiler_tells_the_launches() {
    let fake = Fake::new();
    let run = fake
        .recorded(&["--format", "json"], &three_times())
        .env("RIDGE_CUPTI", "/nowhere/libcupti.so")
        .run()
        .code(0)
        .says("CUPTI, NVIDIA's library for tools, was not found")
        .says("the profiler times them, one after the other")
        .says("`ridge doctor` tells whether CUPTI");
    let collected = &json(&run)["sources"][0]["collected"];
    assert_eq!(collected["launches_from"], "timing-pass");
    assert_eq!(collected["traced"], serde_json::Value::Null);
    assert_eq!(json(&run)["kernels"].as_array().unwrap().len(), 2);
    assert_eq!(fake.commands().len(), 2);
}

#[test]
fn a_recording_without_kernels_is_said() {
    let fake = Fake::new();
    fake.recorded(&[], &[])
        .run()
        .code(0)
        .says("the program used a GPU, but no kernel was recorded");
    // Neither the recorder nor the profiler sees one.
    let run = fake
        .recorded(&[], &[])
        .env("MODE", "none")
        .run()
        .code(4)
        .says("launched no kernel that the profiler saw")
        .says("`ridge doctor`");
    run.shows_nothing();
}

#[test]
fn a_program_that_ends_early_is_not_profiled() {
    let fake = Fake::new();
    fake.why(&["--keep", "kept", "--", "sh", "-c", "exit 3"])
        .run()
        .code(15)
        .says("sh ended with code 3 before it used a GPU")
        .says("run it by itself: sh -c 'exit 3'");
    fake.recorded(&["--keep", "kept"], &["exit", "4"])
        .run()
        .code(15)
        .says("ended with code 4 before it launched a kernel");
    assert!(fake.commands().is_empty());
    // The folder is free for the next run.
    fake.recorded(&["--keep", "kept"], SLOW).run().code(0);
}

#[test]
fn a_program_that_is_killed_keeps_what_was_recorded() {
    let fake = Fake::new();
    let words = [SLOW, FIXED, &["flush", "kill"]].concat();
    let run = fake
        .recorded(&["--format", "json", "--keep", "kept"], &words)
        .run()
        .code(15)
        .says("was ended by signal 9 (SIGKILL); what it did until then is in the answer")
        .says("did not end in an orderly way");
    let collected = &json(&run)["sources"][0]["collected"];
    assert_eq!(collected["target_signal"], 9);
    assert_eq!(collected["launches"], 2);
    assert_eq!(json(&run)["kernels"].as_array().unwrap().len(), 2);
}

#[test]
fn a_program_that_is_killed_under_the_profiler_is_said() {
    let words = [SLOW, FIXED, &["unrecorded", "abort"]].concat();
    let run = Fake::new()
        .recorded(&["--format", "json"], &words)
        .run()
        .code(15)
        .says("ended with code 6, which is that of a signal (SIGABRT)");
    let collected = &json(&run)["sources"][0]["collected"];
    assert_eq!(collected["target_code"], 6);
    assert_eq!(collected["target_signal"], serde_json::Value::Null);
    assert_eq!(json(&run)["kernels"].as_array().unwrap().len(), 2);
}

#[test]
fn kernels_of_children_are_seen() {
    let words = [&["spawn", "begin"], SLOW, FIXED].concat();
    let run = Fake::new()
        .recorded(&["--format", "json"], &words)
        .run()
        .code(0);
    assert_eq!(json(&run)["sources"][0]["collected"]["launches"], 2);
    // A child that was forked off writes nothing; what its parent launched before counts.
    let words = [SLOW, &["fork", "exit", "0"]].concat();
    let run = Fake::new()
        .recorded(&["--format", "json"], &words)
        .run()
        .code(0);
    assert_eq!(json(&run)["sources"][0]["collected"]["launches"], 1);
}

#[test]
fn several_processes_are_told() {
    let words = [SLOW, &["spawn", "begin"], SLOW].concat();
    let run = Fake::new()
        .recorded(&["--format", "json"], &words)
        .run()
        .code(0);
    let collected = &json(&run)["sources"][0]["collected"];
    assert_eq!(collected["launches"], 2);
    let told = collected["traced"]["differences"][0].as_str().unwrap();
    assert!(told.starts_with("2 processes launch kernels"), "{told}");
}

#[test]
fn streams_and_input_of_a_recorded_program() {
    let fake = Fake::new();
    let run = fake
        .recorded(
            &["--format", "json"],
            &[&["say", "words", "echo"], SLOW].concat(),
        )
        .stdin(b"typed\n")
        .run()
        .code(0);
    json(&run);
    // The program prints to both streams, once.
    assert_eq!(run.stderr.matches("words").count(), 2, "{}", run.stderr);
    // Two streams that end in one have no order: one may come between two pieces of the other.
    let rest = run.stderr.replace("words\n", "");
    assert_eq!(rest.matches("typed").count(), 1, "{}", run.stderr);
}

#[test]
fn launches_that_are_not_there_again() {
    let fake = Fake::new();
    let run = fake
        .recorded(&["--format", "json"], &three_times())
        .env("MODE", "moved")
        .run()
        .code(0)
        .says("the first launch of each kernel was profiled in their place");
    let commands = fake.commands();
    assert!(commands[0].contains("$:2"), "{commands:?}");
    assert!(commands[1].contains("$:1"), "{commands:?}");
    assert_eq!(json(&run)["kernels"].as_array().unwrap().len(), 2);
    // Nor is the first: what there was instead is named.
    Fake::new()
        .recorded(&[], &three_times())
        .env("MODE", "other")
        .run()
        .code(4)
        .says("are not there again: bin_counts_fixed, bin_counts_slow");
}

/// What the report does not hold is named, and the rest is answered.
#[test]
fn a_kernel_that_is_not_there_again_is_named() {
    let other = &[
        "kernel",
        "_ZN2ns5otherIiEEvPT_",
        "8",
        "32",
        "0",
        "900000",
        "1000",
    ];
    Fake::new()
        .recorded(&[], &[SLOW, other].concat())
        .run()
        .code(0)
        .says(
            "1 of 2 kernels were not launched again as they were recorded, and are left out: other",
        );
}

#[test]
fn a_first_tier_that_fails_keeps_the_recording() {
    for (mode, part) in [
        ("permission", "ERR_NVGPUCTRPERM"),
        ("full", "the report cannot be written"),
        ("crash", "ncu ended with"),
        ("replay", "--replay application runs the whole program"),
        ("memory", "--replay application runs the whole program"),
    ] {
        let fake = Fake::new();
        let run = fake
            .recorded(&["--keep", "kept"], &three_times())
            .env("MODE", mode)
            .run()
            .code(4)
            .says(part);
        run.shows_nothing();
        let text = fs::read_to_string(fake.folder.path().join("kept/collection.json")).unwrap();
        let stored: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(stored["collected"]["launches"], 6, "{mode}");
        assert!(
            stored["collected"]["tiers"][1]["failure"].is_string(),
            "{mode}"
        );
        // It says why there is no answer, and what there is.
        ridge(["why", "kept/collection.json"])
            .within(&fake.folder)
            .run()
            .code(3)
            .says("holds no report of the profiler: ")
            .says("`ridge timeline kept/trace.ridgetrace`");
    }
}

#[test]
fn the_other_replay_is_offered_once() {
    let run = Fake::new()
        .recorded(&["--replay", "application"], &three_times())
        .env("MODE", "replay")
        .run()
        .code(4)
        .says("cannot be run again for its next pass");
    assert!(
        !run.stderr.contains("--replay application runs"),
        "{}",
        run.stderr
    );
}

/// A file that may not grow stands for a disk that is full.
#[test]
fn a_full_disk_under_the_recorder_is_said() {
    let fake = Fake::new();
    let script = "trap '' XFSZ; ulimit -f 64; exec \"$@\"";
    let app = BUILT.app.to_str().unwrap();
    let words = [
        &[
            "--format", "json", "--", "sh", "-c", script, "sh", app, "begin",
        ],
        SLOW,
        &["flush", "launch", "50000"],
    ]
    .concat();
    let run = fake
        .why(&words)
        .env("RIDGE_CUPTI", BUILT.cupti.to_str().unwrap())
        .run()
        .says("writing failed (File too large (os error 27))");
    assert!(json(&run)["sources"][0]["collected"]["launches"].as_u64() >= Some(1));
}

#[test]
fn an_interrupt_while_recording_keeps_the_recording() {
    for signal in ["INT", "TERM"] {
        let fake = Fake::new();
        let mut command = fake
            .recorded(&["--keep", "kept"], &[SLOW, &["flush", "hold"]].concat())
            .into_command();
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // The program is ready; what it prints comes by standard error.
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        errors.read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        let sent = std::process::Command::new("kill")
            .args([format!("-{signal}"), child.id().to_string()])
            .status();
        assert!(sent.unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert!(fake.commands().is_empty());
        assert_eq!(fake.names("kept"), ["collection.json", "trace.ridgetrace"]);
    }
}

#[test]
fn nothing_is_run_where_the_profiler_is_missing() {
    let fake = Fake::new();
    fake.why(&["--keep", "kept", "--", "sh", "-c", "echo ran > ran"])
        .env("RIDGE_NCU", "/nowhere/ncu")
        .run()
        .code(4)
        .says("this machine is not ready for profiling: ")
        .says("ncu: not installed");
    assert!(!fake.folder.path().join("ran").exists());
    assert!(fake.names("kept").is_empty());
}

/// Everything that stands in the way is said at once: whoever installs the profiler is not to find out then that the driver is
/// missing too.
#[test]
fn what_is_missing_is_said_at_once() {
    let run = Fake::new()
        .why(&["--", "true"])
        .env("RIDGE_NCU", "/nowhere/ncu")
        .run()
        .code(4)
        .says("ncu: not installed")
        .says("install Nsight Compute");
    let doctor = ridge(["doctor", "--format", "json"]).run().json();
    let lines = doctor["lines"].as_array().unwrap();
    let driver = lines.iter().find(|line| line["id"] == "driver").unwrap();
    assert_eq!(
        run.stderr.contains("driver: "),
        driver["state"] == "fails",
        "{driver} {}",
        run.stderr
    );
}

#[test]
fn names_of_recorded_kernels_are_chosen_and_offered() {
    let fake = Fake::new();
    fake.recorded(&["--kernel", "bin_counts_slwo"], &three_times())
        .run()
        .code(2)
        .says("one of bin_counts_slow, bin_counts_fixed");
    assert!(fake.commands().is_empty());
    fake.recorded(&["--launch", "3"], &three_times())
        .run()
        .code(0);
    assert!(
        fake.commands()[0].contains("^(bin_counts_fixed)$:2"),
        "{:?}",
        fake.commands()
    );
}
