//! Whether what a finding said would move did move.

use ridge_diagnose::document::{Direction, Finding, Kernel, Verify};

use super::document::{Held, VerifyResult};
use super::time::counter;

/// A movement of less is not told from none.
const LEAST_MOVE: f64 = 0.01;
/// What has to come near a target has come near it when no more than this part of the distance is left. Of the pairs whose
/// times are known, the least that a complete fix went is 75 %.
const NEAR: f64 = 0.3;
/// What a launch takes. A change that makes it longer is no success by that alone.
pub(super) const DURATION: &str = "gpu__time_duration.sum";
/// What a launch does.
pub(super) const INSTRUCTIONS: &str = "smsp__inst_executed.sum";

/// Looks up what a finding asks for.
pub(super) fn verify(finding: &Finding, before: &Kernel, after: &Kernel) -> Vec<VerifyResult> {
    finding
        .verify
        .iter()
        .map(|verify| {
            // A finding that was stored has the value in its evidence, whether or not its document has counters.
            let evidence = |finding: &Finding| {
                let mut evidence = finding.evidence.iter();
                evidence
                    .find(|seen| seen.metric == verify.metric)
                    .map(|seen| seen.value)
            };
            let one = counter(before, &verify.metric).or_else(|| evidence(finding));
            let other =
                counter(after, &verify.metric).or_else(|| after.findings.iter().find_map(evidence));
            VerifyResult {
                metric: verify.metric.clone(),
                direction: verify.direction,
                target: verify.target,
                before: one,
                after: other,
                unit: unit(finding, &verify.metric, before, after),
                outcome: match one.zip(other) {
                    None => Held::NotMeasured,
                    Some((one, other)) if is_longer(verify) => {
                        let work = counter(before, INSTRUCTIONS).zip(counter(after, INSTRUCTIONS));
                        longer(verify, (one, other), work)
                    }
                    Some((one, other)) => held(verify, one, other),
                },
            }
        })
        .collect()
}

fn unit(finding: &Finding, metric: &str, before: &Kernel, after: &Kernel) -> String {
    let mut counters = before.counters.iter().chain(&after.counters);
    let counted = counters
        .find(|counter| counter.metric == metric)
        .map(|counter| &counter.unit);
    let mut evidence = finding.evidence.iter();
    counted
        .or_else(|| {
            evidence
                .find(|seen| seen.metric == metric)
                .map(|seen| &seen.unit)
        })
        .cloned()
        .unwrap_or_default()
}

fn held(verify: &Verify, before: f64, after: f64) -> Held {
    let least = LEAST_MOVE * before.abs();
    let is_held = match (verify.direction, verify.target) {
        (Direction::Up, target) => {
            after - before > least && target.is_none_or(|target| after >= target * (1.0 - NEAR))
        }
        (Direction::Down, target) => {
            before - after > least
                && target.is_none_or(|target| after <= target.max(0.0) * (1.0 + NEAR))
        }
        // Beyond the target is as good: an excess has no negative values, and what had to fall to the average fell with it.
        (Direction::To, Some(target)) => {
            let (whole, left) = (target - before, target - after);
            whole.abs() <= LEAST_MOVE * target.abs().max(before.abs()) || left / whole <= NEAR
        }
        (Direction::To, None) => false,
    };
    if is_held { Held::Held } else { Held::NotHeld }
}

/// Whether a finding asks for a longer launch.
fn is_longer(verify: &Verify) -> bool {
    verify.metric == DURATION && verify.direction == Direction::Up
}

/// A longer launch is a success where it does more: by as much, for what a launch costs by itself is spread over it.
fn longer(verify: &Verify, (before, after): (f64, f64), work: Option<(f64, f64)>) -> Held {
    match (held(verify, before, after), work) {
        (Held::Held, None) => Held::CannotTell,
        (Held::Held, Some((one, other))) if other * before < one * after * (1.0 - NEAR) => {
            Held::NotHeld
        }
        (outcome, _) => outcome,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(direction: Direction, target: Option<f64>, before: f64, after: f64) -> Held {
        let verify = Verify {
            metric: "m".to_owned(),
            direction,
            target,
        };
        held(&verify, before, after)
    }

    #[test]
    fn a_longer_launch_is_a_success_only_with_more_work() {
        let verify = Verify {
            metric: DURATION.to_owned(),
            direction: Direction::Up,
            target: Some(39_000.0),
        };
        assert!(is_longer(&verify));
        for (after, work, expected) in [
            (230_000.0, None, Held::CannotTell),
            (230_000.0, Some((464.0, 464.0)), Held::NotHeld),
            (230_000.0, Some((464.0, 4_640.0)), Held::NotHeld),
            (230_000.0, Some((464.0, 464_000.0)), Held::Held),
            (4_700.0, Some((464.0, 464_000.0)), Held::NotHeld),
            (4_700.0, None, Held::NotHeld),
        ] {
            let found = longer(&verify, (2_240.0, after), work);
            assert_eq!(found, expected, "{after} {work:?}");
        }
    }

    #[test]
    fn which_way_and_how_far() {
        use Direction::{Down, To, Up};
        for (direction, target, before, after, expected) in [
            (Down, None, 100.0, 50.0, Held::Held),
            (Down, None, 100.0, 99.5, Held::NotHeld),
            (Down, None, 0.0, 0.0, Held::NotHeld),
            (Up, None, 0.2, 0.9, Held::Held),
            (Up, None, 0.9, 0.2, Held::NotHeld),
            (Up, Some(7_800.0), 2_000.0, 3_000.0, Held::NotHeld),
            (Up, Some(7_800.0), 2_000.0, 9_000.0, Held::Held),
            (To, Some(0.0), 1e6, 0.0, Held::Held),
            (To, Some(0.0), 1e6, 9e5, Held::NotHeld),
            (To, Some(32.0), 9.0, 31.0, Held::Held),
            (To, Some(32.0), 9.0, 20.0, Held::NotHeld),
            // The average itself fell too.
            (To, Some(5e5), 9e5, 1e5, Held::Held),
            (To, None, 1.0, 1.0, Held::NotHeld),
        ] {
            assert_eq!(
                outcome(direction, target, before, after),
                expected,
                "{direction:?} {target:?}: {before} to {after}"
            );
        }
    }
}
