//! What became of the flaws.

use ridge_diagnose::document::{Finding, Kernel};
use ridge_diagnose::is_verdict;

use super::document::{FlawChange, Outcome};
use super::ledger::diagnosed_ns;
use super::verify::verify;

/// A flaw that costs less than this part of what it cost is mostly mended.
const MOSTLY: f64 = 0.5;

/// The flaws before in their order, then those that are new.
pub(super) fn flaws(before: &Kernel, after: &Kernel) -> Vec<FlawChange> {
    let of = |kernel: &'_ Kernel, id: &str| -> Option<Finding> {
        kernel
            .findings
            .iter()
            .find(|finding| finding.id == id)
            .cloned()
    };
    let flawed = |kernel: &'_ Kernel| -> Vec<Finding> {
        kernel
            .findings
            .iter()
            .filter(|finding| !is_verdict(&finding.id))
            .cloned()
            .collect()
    };
    let costs = |kernel: &Kernel, finding: &Finding| {
        diagnosed_ns(kernel).map(|duration| duration * finding.saving_expected)
    };
    let mut list: Vec<FlawChange> = flawed(before)
        .iter()
        .map(|finding| {
            let now = of(after, &finding.id);
            let outcome = match &now {
                Some(now) => {
                    let cost = costs(before, finding).zip(costs(after, now));
                    match cost {
                        Some((one, other)) if other < MOSTLY * one => Outcome::Smaller,
                        _ => Outcome::Still,
                    }
                }
                None if after.not_checked.iter().any(|check| check.id == finding.id) => {
                    Outcome::NotChecked
                }
                None => Outcome::Gone,
            };
            FlawChange {
                id: finding.id.clone(),
                title: finding.title.clone(),
                outcome,
                expected_before: Some(finding.saving_expected),
                ceiling_before: Some(finding.saving_ceiling),
                expected_after: now.as_ref().map(|now| now.saving_expected),
                ceiling_after: now.as_ref().map(|now| now.saving_ceiling),
                confidence: finding.confidence,
                verify: verify(finding, before, after),
            }
        })
        .collect();
    let is_new = |finding: &&Finding| of(before, &finding.id).is_none();
    list.extend(
        flawed(after)
            .iter()
            .filter(is_new)
            .map(|finding| FlawChange {
                id: finding.id.clone(),
                title: finding.title.clone(),
                outcome: Outcome::New,
                expected_before: None,
                ceiling_before: None,
                expected_after: Some(finding.saving_expected),
                ceiling_after: Some(finding.saving_ceiling),
                confidence: finding.confidence,
                verify: Vec::new(),
            }),
    );
    list
}
