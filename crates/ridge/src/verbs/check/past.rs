//! Baselines among past results: what `ridge bench --record` stored.

use std::path::Path;

use ridge_compare::check::{Baseline, Found};
use ridge_history::{Filter, Head, Kind, Store};
use ridge_model::quantity::counted;

use super::baselines::Wanted;
use crate::error::ExpectedError;
use crate::history::{Project, expected};
use crate::output::Output;

/// Results that are looked at, newest first: enough for the runs of all benchmarks of a project.
const MOST_RESULTS: u64 = 200;
/// Runs of one benchmark that a baseline has at most.
const MOST_RUNS: usize = 9;

/// The newest results that are meant, of each benchmark those of one commit; `None` where there is no store or no such result.
pub(super) fn find(
    project: &Path,
    wanted: &Wanted,
    output: &Output,
) -> Result<Option<Baseline>, ExpectedError> {
    let place = Project::of(project, output)?.store(None);
    let Some(mut store) = place.look()? else {
        return Ok(None);
    };
    among(store.as_mut(), wanted, output)
}

fn among(
    store: &mut dyn Store,
    wanted: &Wanted,
    output: &Output,
) -> Result<Option<Baseline>, ExpectedError> {
    let mut filter = Filter {
        kind: Some(Kind::Bench),
        limit: Some(MOST_RESULTS),
        ..Filter::default()
    };
    match wanted {
        Wanted::File(_) => return Ok(None),
        Wanted::Label(label) => filter.labels.push((label.clone(), None)),
        Wanted::Commit(commit) => filter.commit = Some(commit.clone()),
        Wanted::Branch(branch) => filter.branch = Some(branch.clone()),
    }
    let heads = store.list(&filter).map_err(|error| expected(&error))?;
    let there = u64::try_from(heads.len()).unwrap_or(u64::MAX);
    let chosen = runs(heads, matches!(wanted, Wanted::Label(_)));
    let Some(first) = chosen.first() else {
        if there > 0 {
            output.warn(&format!(
                "left out is {} of {}, measured while files differed from the commit; such a result is a baseline under a label alone, which `ridge bench --record=LABEL` gives it",
                counted(there, "past result"),
                wanted.shown()
            ));
        }
        return Ok(None);
    };
    let mut baseline = Baseline {
        commit: first.revision.commit.clone(),
        branch: first.revision.branch.clone(),
        recorded_unix_s: u64::try_from(first.time.micros() / 1_000_000).ok(),
        ..Baseline::default()
    };
    for head in &chosen {
        let Some(record) = store.get(head.id).map_err(|error| expected(&error))? else {
            continue;
        };
        let bytes = record.document.json().map_err(|error| expected(&error))?;
        if let Some(found) = Found::read(&bytes) {
            let failed = |error: String| {
                ExpectedError::unreadable(format!("cannot read a past result: {error}"))
                    .with_hint("`ridge history list` shows what is stored")
            };
            baseline.results.push(found.map_err(failed)?);
        }
    }
    Ok(Some(baseline))
}

/// Of each benchmark the runs of the newest result's commit and GPU. Results of files that were changed after the commit are of
/// no commit, and count only where somebody gave them a label.
fn runs(heads: Vec<Head>, has_label: bool) -> Vec<Head> {
    let mut chosen: Vec<Head> = Vec::new();
    for head in heads {
        if head.revision.is_dirty == Some(true) && !has_label {
            continue;
        }
        let same: Vec<&Head> = chosen
            .iter()
            .filter(|other| other.name == head.name)
            .collect();
        let fits = same.first().is_none_or(|newest| {
            newest.revision.commit == head.revision.commit
                && newest.gpu.as_ref().map(|gpu| &gpu.name)
                    == head.gpu.as_ref().map(|gpu| &gpu.name)
        });
        if fits && same.len() < MOST_RUNS {
            chosen.push(head);
        }
    }
    chosen
}
