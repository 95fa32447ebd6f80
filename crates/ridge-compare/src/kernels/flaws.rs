//! What became of the flaws.

use ridge_diagnose::document::{Class, Direction, Finding, Kernel, Verify};
use ridge_diagnose::is_verdict;

use super::circumstances::other_size;
use super::document::{FlawChange, Held, Outcome, VerifyResult};
use super::ledger::diagnosed_ns;
use super::time::counter;
use super::verify::{DURATION, INSTRUCTIONS, verify};

/// A flaw that costs less than this part of what it cost is mostly mended.
const MOSTLY: f64 = 0.5;
/// A counter that is worse by less is what it was: counters and a rewrite move it by that much.
const NOISE: f64 = 0.1;
/// Any rewrite changes how many instructions there are. A flaw that asks for fewer is worse from so many more on.
const MANY_MORE: f64 = 0.5;

/// The flaws before in their order, then those that were not found before.
pub(super) fn flaws(before: &Kernel, after: &Kernel) -> Vec<FlawChange> {
    let mut list: Vec<FlawChange> = flawed(before)
        .map(|finding| {
            let now = find(after, &finding.id);
            let verify = verify(finding, before, after);
            FlawChange {
                id: finding.id.clone(),
                title: finding.title.clone(),
                outcome: outcome(finding, now, &verify, before, after),
                expected_before: Some(finding.saving_expected),
                ceiling_before: Some(finding.saving_ceiling),
                expected_after: now.map(|now| now.saving_expected),
                ceiling_after: now.map(|now| now.saving_ceiling),
                confidence: finding.confidence,
                verify,
            }
        })
        .collect();
    let is_unknown = |finding: &&Finding| find(before, &finding.id).is_none();
    list.extend(flawed(after).filter(is_unknown).map(|finding| FlawChange {
        id: finding.id.clone(),
        title: finding.title.clone(),
        outcome: if limits(before, &finding.id) {
            // The limiter had its name before.
            Outcome::Still
        } else if is_worse(finding, before, after) {
            Outcome::New
        } else {
            Outcome::NowShows
        },
        expected_before: None,
        ceiling_before: None,
        expected_after: Some(finding.saving_expected),
        ceiling_after: Some(finding.saving_ceiling),
        confidence: finding.confidence,
        verify: Vec::new(),
    }));
    list
}

fn find<'k>(kernel: &'k Kernel, id: &str) -> Option<&'k Finding> {
    kernel.findings.iter().find(|finding| finding.id == id)
}

fn flawed(kernel: &Kernel) -> impl Iterator<Item = &Finding> {
    let is_flaw = |finding: &&Finding| !is_verdict(&finding.id);
    kernel.findings.iter().filter(is_flaw)
}

fn outcome(
    finding: &Finding,
    now: Option<&Finding>,
    verify: &[VerifyResult],
    before: &Kernel,
    after: &Kernel,
) -> Outcome {
    let costs = |kernel: &Kernel, finding: &Finding| {
        diagnosed_ns(kernel).map(|duration| duration * finding.saving_expected)
    };
    match now {
        Some(now) => match costs(before, finding).zip(costs(after, now)) {
            Some((one, other)) if other < MOSTLY * one => Outcome::Smaller,
            _ => Outcome::Still,
        },
        None if limits(after, &finding.id) => Outcome::Still,
        None if after.not_checked.iter().any(|check| check.id == finding.id) => Outcome::NotChecked,
        None => gone(verify.iter().map(|result| result.outcome)),
    }
}

/// What is not found any more is gone where nothing that it asked for says otherwise.
pub(crate) fn gone(verify: impl IntoIterator<Item = Held>) -> Outcome {
    let says_otherwise = |held| matches!(held, Held::NotHeld | Held::CannotTell);
    if verify.into_iter().any(says_otherwise) {
        Outcome::NoLongerLimits
    } else {
        Outcome::Gone
    }
}

/// Whether what limits the kernel has the name of the finding: then it is there, whether or not the finding is.
fn limits(kernel: &Kernel, id: &str) -> bool {
    let class = kernel.limiter.as_ref().map(|limiter| limiter.class);
    match id {
        "latency-bound" => class == Some(Class::Latency),
        "launch-bound" => class == Some(Class::Launch),
        _ => false,
    }
}

/// Whether a counter of the finding is worse after than before, by what it has to do and by what a healthy kernel shows.
fn is_worse(finding: &Finding, before: &Kernel, after: &Kernel) -> bool {
    // With another size of the problem, all amounts are others.
    let is_other_size = other_size(before, after).is_some();
    let tells = |metric: &str| tells(metric) && !(is_other_size && metric.ends_with(".sum"));
    let worse = |metric: &str, wanted: &Verify| {
        let (one, other) = counter(before, metric).zip(counter(after, metric))?;
        Some(moved_away(wanted, one, other))
    };
    let by_verify = finding
        .verify
        .iter()
        .filter(|wanted| tells(&wanted.metric))
        .filter_map(|wanted| worse(&wanted.metric, wanted));
    let by_evidence = finding
        .evidence
        .iter()
        .filter(|seen| {
            let is_asked = finding
                .verify
                .iter()
                .any(|wanted| wanted.metric == seen.metric);
            !is_asked && tells(&seen.metric)
        })
        .filter_map(|seen| {
            let wanted = Verify {
                metric: seen.metric.clone(),
                direction: Direction::To,
                target: Some(seen.healthy?),
            };
            worse(&seen.metric, &wanted)
        });
    by_verify.chain(by_evidence).any(|is_worse| is_worse)
}

/// A shorter time is no flaw, and what is a share of the time is another one when the rest takes less.
fn tells(metric: &str) -> bool {
    !(metric == DURATION
        || metric.ends_with(".per_second")
        || metric.ends_with(".pct_of_peak_sustained_elapsed"))
}

fn moved_away(wanted: &Verify, before: f64, after: f64) -> bool {
    let noise = if wanted.metric == INSTRUCTIONS {
        MANY_MORE
    } else {
        NOISE
    };
    match (wanted.direction, wanted.target) {
        (Direction::Up, _) => after < before * (1.0 - noise),
        (Direction::Down, _) => after > before * (1.0 + noise),
        (Direction::To, Some(target)) => {
            (after - target).abs() > (before - target).abs() + noise * before.abs()
        }
        (Direction::To, None) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_way_is_worse() {
        use Direction::{Down, To, Up};
        for (metric, direction, target, before, after, expected) in [
            // The wait for barriers fell, and its share of all waiting rose.
            ("stalled_barrier", Down, None, 6.5, 4.8, false),
            ("stalled_barrier", Down, None, 0.186, 0.505, true),
            ("stalled_barrier", Down, None, 0.0, 2.1, true),
            ("eligible", Up, None, 2.3, 1.2, true),
            ("eligible", Up, None, 0.04, 0.37, false),
            ("excessive", To, Some(0.0), 0.0, 2_097_152.0, true),
            ("excessive", To, Some(0.0), 9e6, 2e6, false),
            ("waves", Up, None, 0.25, 0.25, false),
            (INSTRUCTIONS, Down, None, 8.91e6, 9.96e6, false),
            (INSTRUCTIONS, Down, None, 8.91e6, 35e6, true),
        ] {
            let wanted = Verify {
                metric: metric.to_owned(),
                direction,
                target,
            };
            let found = moved_away(&wanted, before, after);
            assert_eq!(found, expected, "{metric}: {before} to {after}");
        }
        assert!(!tells(DURATION) && !tells("dram__bytes.sum.per_second"));
        assert!(tells(
            "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio"
        ));
    }

    #[test]
    fn gone_is_what_its_evidence_bears_out() {
        assert_eq!(gone([]), Outcome::Gone);
        assert_eq!(gone([Held::Held, Held::NotMeasured]), Outcome::Gone);
        assert_eq!(gone([Held::NotHeld]), Outcome::NoLongerLimits);
        assert_eq!(gone([Held::Held, Held::NotHeld]), Outcome::NoLongerLimits);
        assert_eq!(gone([Held::CannotTell]), Outcome::NoLongerLimits);
    }
}
