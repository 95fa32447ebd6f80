//! Whether everything is there that was to be measured: runs that came to their end, and the states of the baseline.
//!
//! A gate that passes because a kernel was not measured is no gate. What is left out on purpose is said so: with one kernel of a
//! result, or with results that are meant to be a part.

use std::collections::HashSet;

use ridge_bench::document::Document as Bench;

use super::document::{Check, Outcome, Rule};
use super::{Baseline, Found, Named, bench, diagnosed, plain};
use crate::bench::Unmatched;

/// What to do about a state that is missing.
const MEASURE: &str = "measure it too, take it out of the baseline with --update, or say --subset where it is left out on purpose";

/// Runs that did not come to their end.
pub(super) fn ended(results: &[Named], checks: &mut Vec<Check>) {
    for (place, result) in results.iter().enumerate() {
        let Some(document) = bench(&result.found).filter(|document| !document.is_complete) else {
            continue;
        };
        checks.push(Check {
            result: Some(place),
            file: Some(result.name.clone()),
            hint: Some("measure it again, to its end".to_owned()),
            ..plain(
                Rule::Completeness,
                Outcome::CannotTell,
                &document.benchmark,
                unfinished(document),
            )
        });
    }
}

fn unfinished(document: &Bench) -> String {
    let error = document
        .specs
        .iter()
        .find_map(|spec| Some((spec, spec.error.as_ref()?)));
    match error {
        Some((spec, error)) => format!(
            "{} was not measured to its end: {}",
            spec.benchmark, error.text
        ),
        None => format!(
            "the run was not measured to its end: {} of its states {} there",
            document.states.len(),
            if document.states.len() == 1 {
                "is"
            } else {
                "are"
            }
        ),
    }
}

/// Takes away what the results leave out because each of them is narrowed to one kernel.
pub(super) fn leave_out(results: &[Named], unmatched: &mut Vec<Unmatched>) {
    unmatched.retain(|state| {
        state.is_new
            || is_meant(results, &state.subject.kernel, |found| {
                bench(found).is_some()
            })
    });
}

/// Whether each result is narrowed to one kernel.
pub(super) fn is_narrowed(results: &[Named]) -> bool {
    !results.is_empty() && results.iter().all(|result| result.only.is_some())
}

/// Whether a kernel is one that the results of a kind are to hold.
fn is_meant(results: &[Named], kernel: &str, is_kind: impl Fn(&Found) -> bool) -> bool {
    let mut only = results
        .iter()
        .filter(|result| is_kind(&result.found))
        .map(|result| result.only.as_deref())
        .peekable();
    only.peek().is_none() || only.any(|only| only.is_none_or(|only| only == kernel))
}

/// States and kernels that only the baseline has.
pub(super) fn missing(
    results: &[Named],
    baseline: &Baseline,
    unmatched: &[Unmatched],
    checks: &mut Vec<Check>,
) {
    let missing = |subject: &str| Check {
        hint: Some(MEASURE.to_owned()),
        ..plain(
            Rule::Completeness,
            Outcome::CannotTell,
            subject,
            "the baseline has it, and no result does".to_owned(),
        )
    };
    for state in unmatched.iter().filter(|state| !state.is_new) {
        checks.push(Check {
            mode: Some(state.subject.mode),
            ..missing(&state.subject.state)
        });
    }
    let mut there: HashSet<String> = results
        .iter()
        .flat_map(|result| diagnosed::kernels(&result.found))
        .map(|(name, _)| name)
        .collect();
    let is_diagnosis = |found: &Found| matches!(found, Found::Diagnosis(_));
    for (name, kernel) in baseline.results.iter().flat_map(diagnosed::kernels) {
        if there.contains(&name) || !is_meant(results, &kernel.name, is_diagnosis) {
            continue;
        }
        checks.push(missing(&name));
        // Said once, however many launches the baseline has.
        there.insert(name);
    }
}
