//! Findings: one flaw in one file, as a counterfactual on the ledger.
//!
//! A check either says what it found, says that all is well, or says what it needs and does not have. It never keys on
//! names of kernels, files or source text.

mod at_dram_limit;
mod bank_conflicts;
mod per_instruction;
pub(crate) use per_instruction::places;
mod saving;
mod uncoalesced_global;

use crate::document::{Finding, NotChecked};
use crate::profile::Case;

/// What a check says.
pub(crate) enum Outcome {
    /// A flaw or a verdict.
    Found(Box<Finding>),
    /// Nothing wrong.
    Clear,
    /// The input lacks counters; these sections of the profiler hold them.
    NotChecked(&'static [&'static str]),
}

/// A check: its name and how it looks at a case.
struct Check {
    id: &'static str,
    run: fn(&Case<'_, '_>) -> Outcome,
}

const CHECKS: &[Check] = &[
    Check {
        id: uncoalesced_global::ID,
        run: uncoalesced_global::check,
    },
    Check {
        id: bank_conflicts::ID,
        run: bank_conflicts::check,
    },
    Check {
        id: at_dram_limit::ID,
        run: at_dram_limit::check,
    },
];

/// From this expected saving on there is something better to do than to accept the limit.
const WORTHWHILE: f64 = 0.10;

/// Runs every check and orders what they found: largest expected saving first.
///
/// A verdict (`at-…`) says that no flaw is left; it stands first if nothing expects to save a tenth, and is left out
/// otherwise.
pub(crate) fn run(case: &Case<'_, '_>, min_saving: f64) -> (Vec<Finding>, Vec<NotChecked>) {
    let (mut flaws, mut verdicts, mut not_checked) = (Vec::new(), Vec::new(), Vec::new());
    for check in CHECKS {
        match (check.run)(case) {
            Outcome::Found(finding) if is_verdict(&finding.id) => verdicts.push(*finding),
            Outcome::Found(finding) if finding.saving_expected >= min_saving => {
                flaws.push(*finding)
            }
            Outcome::Found(_) | Outcome::Clear => {}
            Outcome::NotChecked(needs) => not_checked.push(NotChecked {
                id: check.id.to_owned(),
                needs: needs.iter().map(|&section| section.to_owned()).collect(),
            }),
        }
    }
    flaws.sort_by(|a, b| b.saving_expected.total_cmp(&a.saving_expected));
    if flaws
        .iter()
        .all(|finding| finding.saving_expected < WORTHWHILE)
    {
        verdicts.append(&mut flaws);
        flaws = verdicts;
    }
    (flaws, not_checked)
}

/// Whether a finding is an answer and no flaw.
#[must_use]
pub fn is_verdict(id: &str) -> bool {
    id.starts_with("at-")
}

/// The identifiers of all checks.
pub fn ids() -> impl Iterator<Item = &'static str> {
    CHECKS.iter().map(|check| check.id)
}
