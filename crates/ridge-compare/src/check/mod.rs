//! Results against budgets and a baseline: the gate of `ridge check`.
//!
//! Several results of one benchmark are runs of it: fresh processes that measured the same.
//! [`Config`] is what `ridge.toml` says, [`Found`] what a result holds, [`Baseline`] what it is compared with, and
//! [`evaluate`] the answer. Nothing here reads files or measures.

mod baseline;
mod budgets;
mod completeness;
mod config;
mod diagnosed;
pub mod document;
mod facts;
mod pattern;

pub use baseline::{Baseline, BaselineError};
pub use config::{Budget, Config, ConfigError};
pub use document::{BaselineFacts, Check, Document, Outcome, Rule};
pub use pattern::Pattern;

use std::collections::HashMap;

use ridge_bench::document::Document as Bench;
use ridge_diagnose::document::{Document as Diagnosis, Kernel};
use ridge_model::quantity::Nanos;

use crate::Verdict;
use crate::bench::{Options, Pair, compare};
use crate::kernels::{SAME_MEASUREMENT, is_same_measurement};
use facts::{Facts, of_bench};

/// What a result is.
#[derive(Clone, Debug)]
pub enum Found {
    /// Of `ridge bench`.
    Bench(Box<Bench>),
    /// Of `ridge why`.
    Diagnosis(Box<Diagnosis>),
}

impl Found {
    /// A result by what it is meant to be; `None` where it is neither.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Result<Self, String>> {
        baseline::result(bytes)
    }

    fn facts(&self, place: usize) -> Vec<Facts> {
        match self {
            Self::Bench(document) => of_bench(document, place),
            Self::Diagnosis(diagnosis) => diagnosed::facts(diagnosis, place),
        }
    }
}

/// A result with its name.
#[derive(Clone, Debug)]
pub struct Named {
    /// As people know it.
    pub name: String,
    /// What it is.
    pub found: Found,
    /// The one kernel of it that is looked at, by its name; all where it is absent.
    pub only: Option<String>,
}

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Budgets and rules.
    pub config: &'a Config,
    /// The file that they are from.
    pub config_file: Option<&'a str>,
    /// The file that the baseline is in, where it is in one.
    pub baseline_file: Option<&'a str>,
    /// The baseline with its name.
    pub baseline: Option<(&'a str, &'a Baseline)>,
    /// Whether the results are meant to hold only a part of what the baseline does.
    pub is_subset: bool,
    /// The version of the command.
    pub tool_version: &'a str,
}

/// Holds results against what is asked.
#[must_use]
pub fn evaluate(results: &[Named], asked: &Asked<'_>) -> Document {
    let all = results.iter().enumerate();
    let facts = facts::merged(
        all.flat_map(|(place, result)| result.found.facts(place))
            .collect(),
    );
    let mut checks: Vec<Check> = facts
        .iter()
        .filter_map(|facts| validity(facts, results))
        .collect();
    completeness::ended(results, &mut checks);
    let mut document = Document {
        schema: document::SCHEMA.to_owned(),
        version: document::VERSION,
        tool_version: asked.tool_version.to_owned(),
        outcome: Outcome::Pass,
        config: asked.config_file.map(str::to_owned),
        baseline: asked.baseline.map(|(name, baseline)| BaselineFacts {
            name: name.to_owned(),
            commit: baseline.commit.clone(),
            branch: baseline.branch.clone(),
            runs: baseline.results.len(),
        }),
        results: results.iter().map(|result| result.name.clone()).collect(),
        checks: Vec::new(),
        unmatched: Vec::new(),
        warnings: Vec::new(),
        measured_runs: 0,
        is_recorded: false,
    };
    if let Some((_, baseline)) = asked.baseline {
        against(results, baseline, asked, &mut checks, &mut document);
    }
    for check in &mut checks {
        place(check, asked);
    }
    let is_part = asked.is_subset || completeness::is_narrowed(results);
    budgets::check(&facts, asked, is_part, &mut checks);
    // What is worst is read first; the order of results is kept among equals.
    checks.sort_by_key(|check| std::cmp::Reverse(check.outcome));
    document.outcome = checks
        .iter()
        .map(|check| check.outcome)
        .max()
        // Where nothing was held against anything, nothing holds.
        .unwrap_or(Outcome::CannotTell);
    document.checks = checks;
    document
}

/// The place that a mark about the baseline goes to: what allows a slowdown, else the baseline itself, else the line that names
/// it.
fn place(check: &mut Check, asked: &Asked<'_>) {
    if !matches!(check.rule, Rule::Baseline | Rule::Completeness) || check.file.is_some() {
        return;
    }
    if check.line.is_some() {
        check.file = asked.config_file.map(str::to_owned);
    } else if let Some(file) = asked.baseline_file {
        check.file = Some(file.to_owned());
        check.line = Some(1);
    } else if let Some(line) = asked.config.baseline_line {
        check.file = asked.config_file.map(str::to_owned);
        check.line = Some(line);
    }
}

/// A check without numbers.
fn plain(rule: Rule, outcome: Outcome, subject: &str, text: String) -> Check {
    Check {
        rule,
        outcome,
        subject: subject.to_owned(),
        mode: None,
        verdict: None,
        value: None,
        lower: None,
        upper: None,
        limit: None,
        unit: String::new(),
        text,
        hint: None,
        file: None,
        line: None,
        result: None,
    }
}

/// A time that does not count fails by itself, with or without a baseline.
fn validity(facts: &Facts, results: &[Named]) -> Option<Check> {
    let first = facts.invalid.first()?;
    let more = match facts.invalid.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    Some(Check {
        mode: facts.mode,
        result: Some(facts.result),
        file: results.get(facts.result).map(|result| result.name.clone()),
        hint: Some(
            "`ridge bench` on the spec shows all of it; measure again once it is mended".to_owned(),
        ),
        ..plain(
            Rule::Validity,
            Outcome::Invalid,
            &facts.name,
            format!("{first}{more}"),
        )
    })
}

fn against(
    results: &[Named],
    baseline: &Baseline,
    asked: &Asked<'_>,
    checks: &mut Vec<Check>,
    document: &mut Document,
) {
    let mut options = Options::default();
    options.rules.machine_band = asked.config.band;
    if let Some(margin) = asked.config.margin {
        options.rules.margin = margin;
    }
    let after: Vec<&Bench> = results
        .iter()
        .filter_map(|result| bench(&result.found))
        .collect();
    let before: Vec<&Bench> = baseline.results.iter().filter_map(bench).collect();
    let comparison = compare(&before, &after, &options);
    let invalid: Vec<_> = checks
        .iter()
        .map(|check| (check.subject.clone(), check.mode))
        .collect();
    for pair in &comparison.pairs {
        // What is told as not valid already is not told again.
        let key = (pair.subject.state.clone(), Some(pair.subject.mode));
        if pair.verdict == Verdict::Invalid && invalid.contains(&key) {
            continue;
        }
        checks.push(of_pair(pair, asked.config));
    }
    let has_common = !comparison.pairs.is_empty();
    document.unmatched = comparison.unmatched;
    completeness::leave_out(results, &mut document.unmatched);
    document.warnings = comparison.warnings;
    if before.iter().all(|run| run.is_complete) {
        // That of the results is a check by itself.
        document
            .warnings
            .retain(|warning| warning.id != "incomplete");
    }
    let profiled = profiled(results, baseline, checks);
    if has_common || profiled {
        if !asked.is_subset {
            completeness::missing(results, baseline, &document.unmatched, checks);
        }
    } else {
        checks.push(Check {
            hint: Some(
                "compare results of the same spec, or record a baseline with --update".to_owned(),
            ),
            ..plain(
                Rule::Baseline,
                Outcome::CannotTell,
                "all results",
                "nothing of the results is in the baseline".to_owned(),
            )
        });
    }
}

fn bench(found: &Found) -> Option<&Bench> {
    match found {
        Found::Bench(document) => Some(document),
        Found::Diagnosis(_) => None,
    }
}

/// A pair against what it may be slower by.
fn of_pair(pair: &Pair, config: &Config) -> Check {
    let subject = &pair.subject;
    let budget = config.budgets.iter().find(|budget| {
        budget.slowdown.is_some()
            && budgets::is_for(budget, &subject.kernel, &subject.state, Some(subject.mode))
    });
    let allowed = budget.and_then(|budget| budget.slowdown);
    let limit = allowed.map_or(1.0, |share| 1.0 + share);
    // A gate asks one question: is it slower by more than is allowed? What lies between SAME and FASTER is no answer to
    // another question, and is fine here.
    let most = limit.max(1.0 + pair.margin.unwrap_or(0.0));
    let is_within = pair.ratio_upper.is_some_and(|upper| upper <= most) && is_only_wide(pair);
    let outcome = match pair.verdict {
        Verdict::Invalid => Outcome::Invalid,
        Verdict::Same | Verdict::Faster => Outcome::Pass,
        Verdict::Slower | Verdict::Ambiguous if is_within => Outcome::Pass,
        Verdict::Slower if pair.ratio_lower.is_some_and(|lower| lower > limit) => Outcome::Broken,
        Verdict::Slower | Verdict::Ambiguous => Outcome::CannotTell,
    };
    let reason = pair.invalid.first().or(pair.doubts.first());
    Check {
        rule: Rule::Baseline,
        outcome,
        subject: subject.state.clone(),
        mode: Some(subject.mode),
        verdict: Some(pair.verdict),
        value: pair.ratio,
        lower: pair.ratio_lower,
        upper: pair.ratio_upper,
        limit: Some(limit),
        unit: "ratio".to_owned(),
        text: told(pair, allowed),
        hint: reason.and_then(|reason| reason.hint.clone()).or_else(|| {
            (outcome == Outcome::Broken).then(|| {
                "`ridge why` tells what limits it; a change that is meant is recorded with --update"
                    .to_owned()
            })
        }),
        file: None,
        line: budget.map(|budget| budget.line_of(Rule::Baseline)),
        result: None,
    }
}

/// Whether nothing but the size of the difference stands in the way of a verdict.
fn is_only_wide(pair: &Pair) -> bool {
    pair.doubts
        .iter()
        .all(|doubt| ["wide-interval", "within-band"].contains(&doubt.id.as_str()))
}

fn percent(ratio: f64) -> String {
    format!("{:+.2} %", (ratio - 1.0) * 100.0)
}

fn told(pair: &Pair, allowed: Option<f64>) -> String {
    if let Some(reason) = pair.invalid.first() {
        return reason.text.clone();
    }
    let times = match (&pair.before, &pair.after) {
        (Some(before), Some(after)) => format!(
            "{:.4} before, {:.4} now",
            Nanos::new(before.median_ns),
            Nanos::new(after.median_ns)
        ),
        _ => String::new(),
    };
    let ratio = pair.ratio.map_or_else(String::new, percent);
    let interval = pair.ratio_lower.zip(pair.ratio_upper).map_or_else(
        || ", no interval".to_owned(),
        |(lower, upper)| format!(" ({} to {})", percent(lower), percent(upper)),
    );
    let band = pair
        .band
        .zip(pair.band_origin)
        .map_or_else(String::new, |(band, origin)| {
            format!(", band {:.2} % ({})", band * 100.0, origin.words())
        });
    let allowed = allowed.map_or_else(String::new, |share| {
        format!(", {:.2} % allowed", share * 100.0)
    });
    let doubt = pair
        .doubts
        .first()
        .map_or_else(String::new, |doubt| format!("; {}", doubt.text));
    format!("{times}: {ratio}{interval}{band}{allowed}{doubt}")
}

/// Kernels of reports that are on both sides. Durations of a profiler, one on each side, are told and never a verdict, unless
/// both are of one measurement. Whether there were any.
fn profiled(results: &[Named], baseline: &Baseline, checks: &mut Vec<Check>) -> bool {
    let before: HashMap<String, &Kernel> = baseline
        .results
        .iter()
        .flat_map(diagnosed::kernels)
        .collect();
    let mut has_any = false;
    for (place, result) in results.iter().enumerate() {
        for (name, kernel) in diagnosed::kernels(&result.found) {
            let Some(earlier) = before.get(&name) else {
                continue;
            };
            has_any = true;
            let times = diagnosed::duration(earlier).zip(diagnosed::duration(kernel));
            let Some((was, now)) = times else {
                continue;
            };
            let times = format!("{:.4} before, {:.4} now", Nanos::new(was), Nanos::new(now));
            let ratio = Some(now / was).filter(|ratio| ratio.is_finite());
            let is_same = is_same_measurement(earlier, kernel);
            let (verdict, outcome, text) = if is_same {
                (
                    Verdict::Same,
                    Outcome::Pass,
                    format!("{times}: {SAME_MEASUREMENT}"),
                )
            } else {
                (
                    Verdict::Ambiguous,
                    Outcome::CannotTell,
                    format!(
                        "{times}: {}; one duration of the profiler on each side says nothing about their spread",
                        ratio.map_or_else(String::new, percent)
                    ),
                )
            };
            checks.push(Check {
                verdict: Some(verdict),
                value: ratio,
                limit: Some(1.0),
                unit: "ratio".to_owned(),
                result: Some(place),
                hint: (!is_same).then(|| "measure both with `ridge bench`".to_owned()),
                ..plain(Rule::Baseline, outcome, &name, text)
            });
        }
    }
    has_any
}
