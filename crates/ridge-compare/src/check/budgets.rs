//! Kernels against their budgets.

use ridge_bench::protocol::Mode;
use ridge_model::quantity::{Bytes, Nanos, Ratio};

use super::config::Budget;
use super::document::{Check, Outcome, Rule};
use super::facts::{Facts, Figure};
use super::{Asked, plain};

/// Whether a budget is for a kernel.
pub(super) fn is_for(budget: &Budget, kernel: &str, name: &str, mode: Option<Mode>) -> bool {
    budget.kernel.matches(kernel)
        && budget
            .state
            .as_ref()
            .is_none_or(|state| state.matches(name))
        && (budget.mode.is_none() || mode.is_none() || budget.mode == mode)
}

/// Holds every kernel against every budget that is for it. What is asked for and no result tells is not known, unless the results
/// are a part on purpose.
pub(super) fn check(facts: &[Facts], asked: &Asked<'_>, is_part: bool, checks: &mut Vec<Check>) {
    for budget in &asked.config.budgets {
        let meant: Vec<&Facts> = facts
            .iter()
            .filter(|facts| is_for(budget, &facts.kernel, &facts.name, facts.mode))
            .collect();
        let from = checks.len();
        if meant.is_empty() && is_part {
            // It is for what is left out on purpose.
            continue;
        }
        if meant.is_empty() {
            checks.push(Check {
                hint: Some("measure it, or take the budget out of the file".to_owned()),
                ..plain(
                    rule_of(budget),
                    Outcome::CannotTell,
                    &shown(budget),
                    "no result has a kernel that this budget is for".to_owned(),
                )
            });
        } else {
            limits(budget, &meant, checks);
        }
        for check in &mut checks[from..] {
            check.file = asked.config_file.map(str::to_owned);
            check.line = Some(budget.line_of(check.rule));
        }
    }
}

/// What a budget is told as where nothing is known of it.
fn rule_of(budget: &Budget) -> Rule {
    if budget.time.is_some() {
        Rule::Time
    } else if budget.share_of_bound.is_some() {
        Rule::ShareOfBound
    } else if budget.registers.is_some() {
        Rule::Registers
    } else if budget.local_memory.is_some() {
        Rule::LocalMemory
    } else if budget.occupancy.is_some() {
        Rule::Occupancy
    } else if budget.findings.is_empty() {
        Rule::Baseline
    } else {
        Rule::Finding
    }
}

fn shown(budget: &Budget) -> String {
    match &budget.state {
        Some(state) => format!("{} {state}", budget.kernel),
        None => budget.kernel.to_string(),
    }
}

/// A limit on a number.
struct Limit {
    rule: Rule,
    limit: f64,
    unit: &'static str,
    /// Whether more is worse.
    is_upper: bool,
    words: fn(f64) -> String,
    missing: &'static str,
}

fn limits(budget: &Budget, meant: &[&Facts], checks: &mut Vec<Check>) {
    let exact = |value: f64| Figure {
        value,
        interval: Some((value, value)),
    };
    let share = |value: f64| Ratio::new(value).to_string();
    if let Some(time) = budget.time {
        let limit = Limit {
            rule: Rule::Time,
            limit: time.get(),
            unit: "ns",
            is_upper: true,
            words: |value| format!("{:.4}", Nanos::new(value)),
            missing: "no result has a valid time of it; measure it with `ridge bench`",
        };
        each(&limit, meant, checks, |facts| facts.time);
    }
    if let Some(least) = budget.share_of_bound {
        let limit = Limit {
            rule: Rule::ShareOfBound,
            limit: least,
            unit: "share",
            is_upper: false,
            words: share,
            missing: "no result knows its lower bound; give bytes or flops in the spec",
        };
        each(&limit, meant, checks, |facts| facts.share_of_bound);
    }
    if let Some(most) = budget.registers {
        let limit = Limit {
            rule: Rule::Registers,
            limit: f64::from(most),
            unit: "registers",
            is_upper: true,
            words: |value| format!("{value:.0} registers"),
            missing: "no result knows the registers; results of `ridge bench` on a GPU do",
        };
        each(&limit, meant, checks, |facts| {
            facts.registers.map(|count| exact(f64::from(count)))
        });
    }
    if let Some(most) = budget.local_memory {
        let limit = Limit {
            rule: Rule::LocalMemory,
            limit: most.get(),
            unit: "bytes",
            is_upper: true,
            words: |value| format!("{} of local memory a thread", Bytes::new(value)),
            missing: "no result knows the local memory; results of `ridge bench` on a GPU do",
        };
        each(&limit, meant, checks, |facts| {
            facts.local_bytes.map(|bytes| exact(f64::from(bytes)))
        });
    }
    if let Some(least) = budget.occupancy {
        let limit = Limit {
            rule: Rule::Occupancy,
            limit: least,
            unit: "share",
            is_upper: false,
            words: share,
            missing: "no result knows the occupancy; results of `ridge bench` on a GPU and reports do",
        };
        each(&limit, meant, checks, |facts| facts.occupancy.map(exact));
    }
    for finding in &budget.findings {
        has_not(finding, meant, budget, checks);
    }
}

/// Holds each kernel of which the number is known against the limit.
fn each(
    limit: &Limit,
    meant: &[&Facts],
    checks: &mut Vec<Check>,
    figure: impl Fn(&Facts) -> Option<Figure>,
) {
    let known: Vec<(&Facts, Figure)> = meant
        .iter()
        // What is not valid is told as such, and no figure of it is a result.
        .filter(|facts| facts.invalid.is_empty())
        .filter_map(|facts| Some((*facts, figure(facts)?)))
        .collect();
    // A number with an interval speaks for the same kernel before one without.
    let has_better = |kernel: &str| {
        known
            .iter()
            .any(|(facts, figure)| facts.kernel == kernel && figure.interval.is_some())
    };
    let from = checks.len();
    for (facts, figure) in &known {
        if figure.interval.is_none() && has_better(&facts.kernel) {
            continue;
        }
        checks.push(held(limit, facts, *figure));
    }
    let is_told = meant.iter().any(|facts| !facts.invalid.is_empty());
    if checks.len() == from && !is_told {
        let subject = meant.first().map_or("", |facts| facts.name.as_str());
        let (text, hint) = limit
            .missing
            .split_once("; ")
            .unwrap_or((limit.missing, ""));
        checks.push(Check {
            limit: Some(limit.limit),
            unit: limit.unit.to_owned(),
            hint: Some(hint.to_owned()).filter(|hint| !hint.is_empty()),
            ..plain(limit.rule, Outcome::CannotTell, subject, text.to_owned())
        });
    }
}

fn held(limit: &Limit, facts: &Facts, figure: Figure) -> Check {
    let is_within = |value: f64| {
        if limit.is_upper {
            value <= limit.limit
        } else {
            value >= limit.limit
        }
    };
    let outcome = match figure.interval {
        Some((lower, upper)) => match (is_within(lower), is_within(upper)) {
            (true, true) => Outcome::Pass,
            (false, false) => Outcome::Broken,
            _ => Outcome::CannotTell,
        },
        None => Outcome::CannotTell,
    };
    let words = limit.words;
    let kind = if limit.is_upper {
        "at most"
    } else {
        "at least"
    };
    let interval = figure
        .interval
        .filter(|(lower, upper)| lower < upper)
        .map_or_else(String::new, |(lower, upper)| {
            format!(" ({} to {})", words(lower), words(upper))
        });
    let reason = match (outcome, figure.interval) {
        (Outcome::CannotTell, Some(_)) => "; the limit is within the interval",
        (Outcome::CannotTell, None) => {
            "; one duration of the profiler says nothing about its spread"
        }
        _ => "",
    };
    let hint = match (outcome, figure.interval) {
        (Outcome::CannotTell, Some(_)) => Some("measure longer: `ridge bench --min-time 2s`"),
        (Outcome::CannotTell, None) => Some("measure it with `ridge bench`"),
        (Outcome::Broken, _) => Some(
            "`ridge why` tells what limits it; a limit that no longer fits is changed in the file",
        ),
        _ => None,
    };
    Check {
        mode: facts.mode,
        value: Some(figure.value),
        lower: figure.interval.map(|(lower, _)| lower),
        upper: figure.interval.map(|(_, upper)| upper),
        limit: Some(limit.limit),
        unit: limit.unit.to_owned(),
        hint: hint.map(str::to_owned),
        result: Some(facts.result),
        ..plain(
            limit.rule,
            outcome,
            &facts.name,
            format!(
                "{}{interval}, {kind} {} allowed{reason}",
                words(figure.value),
                words(limit.limit)
            ),
        )
    }
}

/// A finding that must not come back.
fn has_not(finding: &str, meant: &[&Facts], budget: &Budget, checks: &mut Vec<Check>) {
    let mut is_known = false;
    for facts in meant {
        let Some(found) = &facts.findings else {
            continue;
        };
        is_known = true;
        let (outcome, text, hint) = if found.iter().any(|id| id == finding) {
            (
                Outcome::Broken,
                format!("{finding} is there"),
                Some(format!("`ridge explain {finding}`")),
            )
        } else if facts.not_checked.iter().any(|id| id == finding) {
            (
                Outcome::CannotTell,
                format!("{finding} was not checked: the report lacks its counters"),
                Some("collect it with `ncu --set full --import-source yes`".to_owned()),
            )
        } else {
            (Outcome::Pass, format!("no {finding}"), None)
        };
        checks.push(Check {
            hint,
            result: Some(facts.result),
            ..plain(Rule::Finding, outcome, &facts.name, text)
        });
    }
    if !is_known {
        checks.push(Check {
            hint: Some(
                "name a report of Nsight Compute, or what `ridge why --format json` wrote"
                    .to_owned(),
            ),
            ..plain(
                Rule::Finding,
                Outcome::CannotTell,
                &shown(budget),
                format!("no result tells whether there is {finding}"),
            )
        });
    }
}
