//! Results of a simulated GPU against each other.

mod support;

use ridge_bench::document::{AxisValue, Document, Remark, Status};
use ridge_bench::protocol::Mode;
use ridge_compare::Verdict;
use ridge_compare::bench::{BandOrigin, Comparison, Options, compare};
use support::copies;

fn compared(before: &Document, after: &Document) -> Comparison {
    compare(&[before], &[after], &Options::default())
}

fn ids(remarks: &[Remark]) -> Vec<&str> {
    remarks.iter().map(|remark| remark.id.as_str()).collect()
}

#[test]
fn equal_results_are_the_same_and_slower_ones_are_slower() {
    let before = copies(1.0, "h200,seed=1");
    let found = compared(&before, &copies(1.0, "h200,seed=2"));
    assert_eq!(found.verdict, Some(Verdict::Same), "{found:?}");
    assert_eq!(found.pairs.len(), 2);
    assert!(
        found.warnings.is_empty() && found.unmatched.is_empty(),
        "{found:?}"
    );

    let found = compared(&before, &copies(1.1, "h200,seed=2"));
    let [plain, vector] = found.pairs.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!(
        (plain.verdict, vector.verdict),
        (Verdict::Slower, Verdict::Same)
    );
    assert_eq!(found.verdict, Some(Verdict::Slower));
    let ratio = plain.ratio.unwrap();
    assert!(plain.ratio_lower.unwrap() < ratio && ratio < plain.ratio_upper.unwrap());
    assert!(
        ratio > 1.09 && plain.band_origin == Some(BandOrigin::SingleRuns),
        "{plain:?}"
    );

    let faster = compared(&copies(1.1, "h200,seed=2"), &before);
    assert_eq!(faster.pairs[0].verdict, Verdict::Faster);
}

/// Two kernels of one result are compared where somebody says that they are one; nothing else is paired with them.
#[test]
fn kernels_are_one_by_hand() {
    let document = copies(1.1, "h200,seed=1");
    let options = Options {
        renamed: &[("plain", "vector")],
        ..Options::default()
    };
    let found = compare(&[&document], &[&document], &options);
    let [pair] = found.pairs.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!(pair.kernel_before.as_deref(), Some("plain"));
    assert_eq!(pair.subject.kernel, "vector");
    assert_eq!(pair.verdict, Verdict::Faster, "{pair:?}");
    let mut alone: Vec<_> = found
        .unmatched
        .iter()
        .map(|one| (one.subject.kernel.as_str(), one.is_new))
        .collect();
    alone.sort_unstable();
    assert_eq!(alone, [("plain", true), ("vector", false)]);
    // Both ways at once is an exchange.
    let options = Options {
        renamed: &[("plain", "vector"), ("vector", "plain")],
        ..Options::default()
    };
    let found = compare(&[&document], &[&document], &options);
    let verdicts: Vec<_> = found.pairs.iter().map(|pair| pair.verdict).collect();
    assert_eq!(verdicts, [Verdict::Slower, Verdict::Faster], "{found:?}");
    assert!(found.unmatched.is_empty());
    // Other work is still no comparison.
    let mut other = document.clone();
    other.states.retain(|state| state.kernel == "vector");
    other.states[0].bytes = other.states[0].bytes.map(|bytes| 2.0 * bytes);
    let options = Options {
        renamed: &[("plain", "vector")],
        ..Options::default()
    };
    let found = compare(&[&document], &[&other], &options);
    assert_eq!(found.pairs[0].verdict, Verdict::Invalid);
    assert_eq!(ids(&found.pairs[0].invalid), ["work-differs"]);
}

/// Runs that differ among themselves show by how much equal ones do.
#[test]
fn several_runs_are_a_control_for_each_other() {
    let seeded = |slowdown: f64, from: u64| -> Vec<Document> {
        (from..from + 3)
            .map(|seed| copies(slowdown, &format!("h200,seed={seed},process=0.001")))
            .collect()
    };
    let (before, after) = (seeded(1.0, 1), seeded(1.02, 11));
    let before: Vec<&Document> = before.iter().collect();
    let after: Vec<&Document> = after.iter().collect();
    let found = compare(&before, &after, &Options::default());
    assert_eq!(
        found.pairs[0].verdict,
        Verdict::Slower,
        "{:?}",
        found.pairs[0]
    );
    assert_ne!(found.pairs[0].band_origin, Some(BandOrigin::SingleRuns));
    assert_eq!(found.pairs[0].after.as_ref().unwrap().runs, 3);
    assert_eq!(
        found.pairs[1].verdict,
        Verdict::Same,
        "{:?}",
        found.pairs[1]
    );
}

#[test]
fn states_belong_together_by_kernel_axes_and_mode() {
    let before = copies(1.0, "h200");
    let mut after = before.clone();
    after.states[0].axes[0] = AxisValue {
        name: "n".to_owned(),
        value: 2_097_152.0,
    };
    after.states[1].modes[0].mode = Mode::Hot;
    let found = compared(&before, &after);
    assert!(found.pairs.is_empty());
    assert_eq!(found.verdict, None);
    let told: Vec<_> = found
        .unmatched
        .iter()
        .map(|state| {
            (
                state.subject.kernel.as_str(),
                state.subject.mode,
                state.is_new,
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("plain", Mode::Cold, true),
            ("vector", Mode::Cold, false),
            ("vector", Mode::Hot, true),
            ("plain", Mode::Cold, false),
        ]
    );
    // One benchmark on each side is the same one under another name, which is said.
    let mut renamed = before.clone();
    renamed.benchmark = "copies".to_owned();
    let found = compared(&before, &renamed);
    assert_eq!(found.pairs.len(), 2);
    assert_eq!(found.warnings[0].id, "spec");
}

/// Each of these makes the times those of something else: no ratio is given.
#[test]
fn what_may_not_be_compared_has_no_ratio() {
    type Change = fn(&mut Document);
    let changes: [(&str, Change); 12] = [
        ("gpu", |after| after.machine.device.push('X')),
        ("simulated", |after| after.machine.is_simulated = false),
        ("partition", |after| after.machine.multiprocessors = 16),
        ("driver", |after| {
            after.machine.driver = Some("1.0".to_owned())
        }),
        ("flush", |after| after.settings.flush_times_l2 = 4),
        ("fresh-inputs", |after| {
            after.settings.has_fresh_inputs = true
        }),
        ("work-differs", |after| after.states[0].bytes = Some(1.0)),
        ("work-differs", |after| after.states[0].buffers[0].seed = 2),
        ("work-differs", |after| after.states[0].repeat = 2),
        ("work-differs", |after| {
            after.states[0].buffers.retain(|buffer| !buffer.is_output);
        }),
        ("output-wrong", |after| {
            after.states[0].status = Status::Differs
        }),
        ("clock", |after| {
            after.states[0].modes[0].clock_hz = Some(1.58e9)
        }),
    ];
    let mut before = copies(1.0, "h200");
    before.machine.driver = Some("580.1".to_owned());
    for (id, change) in changes {
        let mut after = before.clone();
        change(&mut after);
        let found = compared(&before, &after);
        let pair = &found.pairs[0];
        assert_eq!(pair.verdict, Verdict::Invalid, "{id}");
        assert_eq!(ids(&pair.invalid), [id]);
        assert_eq!(
            (pair.ratio, pair.ratio_lower, pair.band),
            (None, None, None)
        );
        assert!(pair.invalid[0].hint.is_some(), "{id}");
    }
    // Launches and memory of their own may differ: that is what changes are for.
    let mut after = before.clone();
    after.states[0].launches[0].block = [128, 1, 1];
    let mut scratch = after.states[0].buffers[0].clone();
    scratch.name = "scratch".to_owned();
    scratch.is_output = false;
    after.states[0].buffers.push(scratch);
    assert_eq!(compared(&before, &after).verdict, Some(Verdict::Same));
}

#[test]
fn what_differs_beside_the_code_is_said_with_what_it_spoils() {
    let mut before = copies(1.0, "h200");
    before.machine.is_simulated = false;
    before.machine.uuid = Some("GPU-a".to_owned());
    before.machine.compiler = Some("13.0".to_owned());
    before.machine.power_limit_w = Some(700.0);
    before.machine.is_ecc_on = Some(true);
    let mut after = before.clone();
    after.machine.uuid = Some("GPU-b".to_owned());
    after.machine.compiler = Some("13.1".to_owned());
    after.machine.power_limit_w = Some(500.0);
    after.machine.is_ecc_on = Some(false);
    after.tool_version = "0.2.0".to_owned();
    after.settings.clock_tolerance = 0.05;
    after.is_complete = false;
    let found = compared(&before, &after);
    let told: Vec<&str> = found
        .warnings
        .iter()
        .map(|warning| warning.id.as_str())
        .collect();
    assert_eq!(
        told,
        [
            "gpu-unit",
            "compiler",
            "power-limit",
            "ecc",
            "tool-version",
            "clock-policy",
            "incomplete"
        ]
    );
    assert!(
        found
            .warnings
            .iter()
            .all(|warning| !warning.spoils.is_empty())
    );
    assert_eq!(found.verdict, Some(Verdict::Same));
}

/// A run that was disturbed does not count where another one does; without any, its own reason is given.
#[test]
fn disturbed_runs_are_left_out() {
    let fine = copies(1.0, "h200,seed=1");
    let mut disturbed = copies(1.0, "h200,seed=2");
    let place = 0;
    disturbed.states[place].status = Status::Invalid;
    let mode = &mut disturbed.states[place].modes[0];
    mode.median_ns = None;
    mode.invalid.push(Remark {
        id: "clock-not-held".to_owned(),
        text: "the clock was not held".to_owned(),
        hint: None,
    });
    let alone = compared(&fine, &disturbed);
    assert_eq!(alone.pairs[place].verdict, Verdict::Invalid);
    assert!(alone.pairs[place].after.is_none());
    assert!(
        alone.pairs[place].invalid[0].text.starts_with("after: "),
        "{alone:?}"
    );
    let found = compare(
        &[&fine],
        &[&disturbed, &copies(1.0, "h200,seed=3")],
        &Options::default(),
    );
    assert_eq!(found.pairs[place].verdict, Verdict::Same, "{found:?}");
    assert_eq!(found.pairs[place].after.as_ref().unwrap().runs, 1);
}

#[test]
fn a_state_that_failed_is_invalid_and_not_gone() {
    let fine = copies(1.0, "h200");
    let failed = copies(1.0, "h200,illegal=copy_plain");
    let found = compared(&fine, &failed);
    assert_eq!(found.pairs[0].verdict, Verdict::Invalid);
    assert!(
        ids(&found.pairs[0].invalid).contains(&"failed"),
        "{found:?}"
    );
}

#[test]
fn nothing_in_common_has_no_verdict() {
    let found = compare(&[], &[&copies(1.0, "h200")], &Options::default());
    assert_eq!(found.verdict, None);
    assert_eq!(found.unmatched.len(), 2);
    assert!(found.unmatched.iter().all(|state| state.is_new));
}
