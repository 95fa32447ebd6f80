//! The gate: results of a simulated GPU and of the profiler against budgets and baselines.

mod support;

use ridge_bench::document::{Document as Bench, Status};
use ridge_compare::Verdict;
use ridge_compare::check::{
    Asked, Baseline, Check, Config, Document, Found, Named, Outcome, Rule, evaluate,
};
use support::copies;

fn bench(document: Bench) -> Found {
    Found::Bench(Box::new(document))
}

fn named(found: Found) -> Named {
    Named {
        name: "result.json".to_owned(),
        found,
        only: None,
    }
}

fn baseline(documents: Vec<Bench>) -> Baseline {
    Baseline {
        results: documents.into_iter().map(bench).collect(),
        ..Baseline::default()
    }
}

fn checked(results: Vec<Found>, baseline: Option<&Baseline>, config: &str) -> Document {
    let config = Config::read(config).unwrap();
    let results: Vec<Named> = results.into_iter().map(named).collect();
    evaluate(
        &results,
        &Asked {
            config: &config,
            config_file: Some("ridge.toml"),
            baseline_file: None,
            baseline: baseline.map(|baseline| ("main", baseline)),
            is_subset: false,
            tool_version: "0.1.0",
        },
    )
}

fn of(document: &Document, rule: Rule) -> Vec<&Check> {
    document
        .checks
        .iter()
        .filter(|check| check.rule == rule)
        .collect()
}

/// Noise alone passes: every state of every run, with what processes differ by, against one baseline.
#[test]
fn noise_alone_passes_a_hundred_times_in_a_hundred() {
    let before = baseline(vec![copies(1.0, "h200,seed=1,process=0.001")]);
    for seed in 100..200 {
        let after = copies(1.0, &format!("h200,seed={seed},process=0.001"));
        let found = checked(vec![bench(after)], Some(&before), "");
        assert_eq!(
            found.outcome,
            Outcome::Pass,
            "seed {seed}: {:?}",
            found.checks
        );
        assert_eq!(found.checks.len(), 2);
    }
}

/// A kernel that is 3 % slower fails the gate, alone of the two.
#[test]
fn a_planted_slowdown_of_three_percent_is_broken() {
    let before = baseline(vec![copies(1.0, "h200,seed=1,process=0.001")]);
    for seed in 300..330 {
        let after = copies(1.03, &format!("h200,seed={seed},process=0.001"));
        let found = checked(vec![bench(after)], Some(&before), "");
        assert_eq!(
            found.outcome,
            Outcome::Broken,
            "seed {seed}: {:?}",
            found.checks
        );
        let [first, second] = found.checks.as_slice() else {
            panic!("{found:?}")
        };
        assert_eq!(first.subject, "plain[n=1048576]");
        assert_eq!(first.verdict, Some(Verdict::Slower));
        assert_eq!(second.outcome, Outcome::Pass, "seed {seed}: {second:?}");
    }
}

/// What lies between SAME and FASTER passes: the gate asks whether it is slower.
#[test]
fn a_little_faster_passes() {
    let before = baseline(vec![copies(1.01, "h200,seed=1")]);
    let found = checked(vec![bench(copies(1.0, "h200,seed=2"))], Some(&before), "");
    let check = of(&found, Rule::Baseline)[0];
    assert_eq!(check.verdict, Some(Verdict::Ambiguous), "{check:?}");
    assert_eq!(found.outcome, Outcome::Pass);
}

/// Several results of a benchmark are runs of it: one row each state, and a disturbed one does not count.
#[test]
fn results_of_one_benchmark_are_runs_of_it() {
    let mut disturbed = copies(1.0, "h200,seed=3");
    disturbed.states[0].status = Status::Invalid;
    let mode = &mut disturbed.states[0].modes[0];
    mode.invalid.push(ridge_bench::document::Remark {
        id: "clock-not-held".to_owned(),
        text: "the clock was not held".to_owned(),
        hint: None,
    });
    let runs = || vec![bench(copies(1.0, "h200,seed=2")), bench(disturbed.clone())];
    let config = "[[budget]]\nkernel = \"plain\"\ntime = \"1 ms\"";
    let found = checked(runs(), None, config);
    assert_eq!(found.outcome, Outcome::Pass, "{found:?}");
    assert_eq!(found.checks.len(), 1);
    let alone = checked(vec![bench(disturbed.clone())], None, config);
    assert_eq!(alone.outcome, Outcome::Invalid);
}

#[test]
fn a_slowdown_within_what_is_allowed_passes() {
    let before = baseline(vec![copies(1.0, "h200,seed=1")]);
    let after = || vec![bench(copies(1.04, "h200,seed=2"))];
    let with = |slowdown: &str| {
        let config = format!("[[budget]]\nkernel = \"plain\"\nslowdown = \"{slowdown}\"");
        checked(after(), Some(&before), &config)
    };
    let allowed = with("6 %");
    assert_eq!(allowed.outcome, Outcome::Pass, "{:?}", allowed.checks);
    let check = of(&allowed, Rule::Baseline)[0];
    assert_eq!(
        (check.verdict, check.limit, check.line),
        (Some(Verdict::Slower), Some(1.06), Some(3))
    );
    assert_eq!(with("1 %").outcome, Outcome::Broken);
    // The limit is within the interval: more samples would tell.
    let on_the_edge = with("4 %");
    assert_eq!(
        on_the_edge.outcome,
        Outcome::CannotTell,
        "{:?}",
        on_the_edge.checks
    );
}

#[test]
fn budgets_hold_the_interval_and_not_the_median() {
    let run = copies(1.0, "h200,seed=1");
    let median = run.states[0].modes[0].median_ns.unwrap();
    let time = |share: f64| {
        let config = format!(
            "[[budget]]\nkernel = \"plain\"\ntime = \"{} ns\"",
            median * share
        );
        checked(vec![bench(run.clone())], None, &config)
    };
    let within = time(1.05);
    assert_eq!(within.outcome, Outcome::Pass);
    let broken = time(0.95);
    let check = of(&broken, Rule::Time)[0];
    assert_eq!(check.outcome, Outcome::Broken);
    assert_eq!(
        (check.file.as_deref(), check.line),
        (Some("ridge.toml"), Some(3))
    );
    assert!(check.text.contains("at most"), "{}", check.text);
    assert_eq!(time(1.0).outcome, Outcome::CannotTell);
}

#[test]
fn registers_local_memory_and_occupancy_are_those_of_the_result() {
    let mut run = copies(1.0, "h200,seed=1");
    let function = &mut run.states[0].functions[0];
    function.registers = Some(128);
    function.local_bytes = Some(64);
    let ask = |line: &str| {
        let config = format!("[[budget]]\nkernel = \"plain\"\n{line}");
        checked(vec![bench(run.clone())], None, &config).outcome
    };
    assert_eq!(ask("registers = 128"), Outcome::Pass);
    assert_eq!(ask("registers = 127"), Outcome::Broken);
    assert_eq!(ask("local_memory = \"64 B\""), Outcome::Pass);
    assert_eq!(ask("local_memory = 0"), Outcome::Broken);
    // 128 registers let 16 of 64 warps in on compute capability 9.0.
    assert_eq!(ask("occupancy = 0.25"), Outcome::Pass);
    assert_eq!(ask("occupancy = 0.26"), Outcome::Broken);
    run.states[0].functions.clear();
    let ask = |line: &str| {
        let config = format!("[[budget]]\nkernel = \"plain\"\n{line}");
        checked(vec![bench(run.clone())], None, &config)
    };
    // Absent is not zero.
    for line in [
        "registers = 1",
        "local_memory = 0",
        "occupancy = 0.1",
        "share_of_bound = 0.1",
    ] {
        let found = ask(line);
        assert_eq!(found.outcome, Outcome::CannotTell, "{line}: {found:?}");
        assert!(found.checks[0].hint.is_some(), "{line}");
    }
}

/// As `ridge why --format json` writes it, with a field of a later version.
const DIAGNOSIS: &str = include_str!("support/diagnosis.json");

fn diagnosis() -> Found {
    Found::read(DIAGNOSIS.as_bytes()).unwrap().unwrap()
}

#[test]
fn a_finding_that_must_not_come_back() {
    let ask = |line: &str| {
        let config = format!("[[budget]]\nkernel = \"gemm\"\n{line}");
        checked(vec![diagnosis()], None, &config)
    };
    let back = ask("findings = \"register-spill\"");
    assert_eq!(back.outcome, Outcome::Broken);
    assert!(
        back.checks[0]
            .hint
            .as_deref()
            .unwrap()
            .contains("ridge explain")
    );
    assert_eq!(ask("findings = \"tail-effect\"").outcome, Outcome::Pass);
    assert_eq!(
        ask("findings = \"bank-conflicts\"").outcome,
        Outcome::CannotTell
    );
    assert_eq!(ask("registers = 96").outcome, Outcome::Pass);
    assert_eq!(ask("registers = 95").outcome, Outcome::Broken);
    assert_eq!(ask("occupancy = 0.5").outcome, Outcome::Pass);
    assert_eq!(ask("occupancy = 0.6").outcome, Outcome::Broken);
    // A benchmark says nothing about findings.
    let config = "[[budget]]\nkernel = \"plain\"\nfindings = \"register-spill\"";
    let found = checked(vec![bench(copies(1.0, "h200"))], None, config);
    assert_eq!(found.outcome, Outcome::CannotTell);
}

/// One duration on each side has no spread, so that nothing can be told, however far they are apart.
#[test]
fn single_durations_of_the_profiler_tell_nothing() {
    let slower = DIAGNOSIS.replace("\"duration_ns\": 1000.0", "\"duration_ns\": 2000.0");
    let before = Baseline::read(DIAGNOSIS.as_bytes()).unwrap();
    let after = Found::read(slower.as_bytes()).unwrap().unwrap();
    let found = checked(vec![after], Some(&before), "");
    assert_eq!(found.outcome, Outcome::CannotTell);
    assert_eq!(found.checks[0].verdict, Some(Verdict::Ambiguous));
    assert!(
        found.checks[0]
            .text
            .contains("says nothing about their spread")
    );
    let budget = "[[budget]]\nkernel = \"gemm\"\ntime = \"1 ms\"";
    assert_eq!(
        checked(vec![diagnosis()], None, budget).outcome,
        Outcome::CannotTell
    );
}

#[test]
fn what_is_not_valid_is_told_once_and_decides() {
    let before = baseline(vec![copies(1.0, "h200,seed=1")]);
    let mut after = copies(1.1, "h200,seed=2");
    after.states[1].status = Status::Differs;
    let found = checked(
        vec![bench(after)],
        Some(&before),
        "[[budget]]\nkernel = \"vector\"\ntime = \"1 ns\"",
    );
    assert_eq!(found.outcome, Outcome::Invalid);
    let told: Vec<_> = found
        .checks
        .iter()
        .map(|check| (check.rule, check.outcome))
        .collect();
    assert_eq!(
        told,
        [
            (Rule::Validity, Outcome::Invalid),
            (Rule::Baseline, Outcome::Broken)
        ]
    );
}

#[test]
fn nothing_in_common_and_nothing_asked_cannot_be_told() {
    let nothing = checked(vec![bench(copies(1.0, "h200"))], None, "");
    assert_eq!(
        (nothing.outcome, nothing.checks.len()),
        (Outcome::CannotTell, 0)
    );
    let other = checked(
        vec![bench(copies(1.0, "h200"))],
        Some(&Baseline::default()),
        "",
    );
    assert_eq!(other.outcome, Outcome::CannotTell);
    assert_eq!(other.unmatched.len(), 2);
    let unknown = checked(
        vec![bench(copies(1.0, "h200"))],
        None,
        "[[budget]]\nkernel = \"gone\"\ntime = \"1 s\"",
    );
    assert_eq!(unknown.outcome, Outcome::CannotTell);
    assert_eq!(unknown.checks[0].subject, "gone");
}

#[test]
fn a_baseline_is_read_as_it_was_written() {
    let run = copies(1.0, "h200,seed=1");
    let bytes = serde_json::to_vec(&run).unwrap();
    let facts = Baseline {
        label: Some("release".to_owned()),
        commit: Some("0123abc".to_owned()),
        branch: Some("main".to_owned()),
        recorded_unix_s: Some(1_700_000_000),
        results: Vec::new(),
    };
    let text = facts.write(&[&bytes, DIAGNOSIS.as_bytes()]).unwrap();
    assert!(Baseline::looks_like(text.as_bytes()));
    let read = Baseline::read(text.as_bytes()).unwrap();
    assert_eq!(read.label.as_deref(), Some("release"));
    assert_eq!(
        (read.commit.as_deref(), read.branch.as_deref()),
        (Some("0123abc"), Some("main"))
    );
    match read.results.as_slice() {
        [Found::Bench(document), Found::Diagnosis(_)] => assert_eq!(**document, run),
        other => panic!("{other:?}"),
    }
    // A result by itself is a baseline, too.
    assert_eq!(Baseline::read(&bytes).unwrap().results.len(), 1);
    for wrong in [
        "",
        "{}",
        "{\"schema\":\"ridgepoint.baseline\",\"version\":9,\"results\":[]}",
        "{\"schema\":\"ridgepoint.baseline\",\"version\":1,\"results\":[{}]}",
        "{\"schema\":\"ridgepoint.baseline\",\"version\":1,\"resu",
        "{\"schema\":\"ridgepoint.diagnosis\",\"version\":9,\"kernels\":[]}",
    ] {
        let error = Baseline::read(wrong.as_bytes()).unwrap_err();
        assert_eq!(error.code(), "CHK0002", "{wrong}");
    }
}

/// What the baseline has and the results lack is no pass, and neither is a run that did not come to its end.
#[test]
fn what_is_missing_is_no_pass() {
    let before = baseline(vec![copies(1.0, "h200,seed=1")]);
    let mut after = copies(1.0, "h200,seed=2");
    let lost = after.states.pop().unwrap();
    let found = checked(vec![bench(after.clone())], Some(&before), "");
    assert_eq!(found.outcome, Outcome::CannotTell);
    let missing = of(&found, Rule::Completeness);
    assert_eq!(missing.len(), lost.modes.len(), "{missing:?}");
    assert_eq!(missing[0].subject, lost.name);
    assert!(missing[0].hint.as_ref().unwrap().contains("--subset"));
    // It is slower beside: that is worse.
    let mut slower = copies(1.05, "h200,seed=2");
    slower.states.truncate(1);
    let found = checked(vec![bench(slower)], Some(&before), "");
    assert_eq!(found.outcome, Outcome::Broken);
    assert_eq!(of(&found, Rule::Completeness).len(), 1);

    let on_purpose = |only: Option<&str>, is_subset: bool| {
        let config = Config::default();
        let result = Named {
            only: only.map(str::to_owned),
            ..named(bench(after.clone()))
        };
        evaluate(
            &[result],
            &Asked {
                config: &config,
                config_file: None,
                baseline_file: None,
                baseline: Some(("main", &before)),
                is_subset,
                tool_version: "0.1.0",
            },
        )
    };
    let subset = on_purpose(None, true);
    assert_eq!(subset.outcome, Outcome::Pass, "{subset:?}");
    assert_eq!(subset.unmatched.len(), 1);
    let narrowed = on_purpose(Some(&after.states[0].kernel), false);
    assert_eq!(narrowed.outcome, Outcome::Pass, "{narrowed:?}");
    assert!(narrowed.unmatched.is_empty());
    let other = on_purpose(Some(&lost.kernel), false);
    assert_eq!(other.outcome, Outcome::CannotTell);

    let mut interrupted = copies(1.0, "h200,seed=2");
    interrupted.is_complete = false;
    for (before, config) in [
        (Some(&before), ""),
        (None, "[[budget]]\nkernel = \"plain\"\ntime = \"1 ms\""),
    ] {
        let found = checked(vec![bench(interrupted.clone())], before, config);
        assert_eq!(found.outcome, Outcome::CannotTell, "{found:?}");
        let ended = of(&found, Rule::Completeness);
        assert!(
            ended[0].text.contains("not measured to its end"),
            "{ended:?}"
        );
        assert!(found.warnings.is_empty(), "{:?}", found.warnings);
    }
}
