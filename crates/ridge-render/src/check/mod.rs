//! What `ridge check` found, for people, pull requests and the tools of CI.

mod github;
mod junit;
mod markdown;
mod sarif;
mod text;

pub use github::github;
pub use junit::junit;
pub use markdown::markdown;
pub use sarif::sarif;
pub use text::text;

use ridge_compare::check::{Check, Document, Outcome, Rule};
use ridge_model::quantity::counted;

use crate::style::Role;

const fn role(outcome: Outcome) -> Role {
    match outcome {
        Outcome::Pass => Role::Good,
        Outcome::CannotTell => Role::Warning,
        Outcome::Broken | Outcome::Invalid => Role::Bad,
    }
}

/// The word of a check: the verdict where there is one, else the outcome.
fn word(check: &Check) -> &'static str {
    match (check.outcome, check.verdict) {
        // Allowed by a budget: the verdict stands, and is not what decides.
        (_, Some(verdict)) => verdict.word(),
        (outcome, None) => outcome.word(),
    }
}

/// The subject with its mode.
fn subject(check: &Check) -> String {
    check.mode.map_or_else(
        || check.subject.clone(),
        |mode| format!("{}, {mode}", check.subject),
    )
}

/// One sentence on the whole.
fn headline(document: &Document) -> String {
    let count = |outcome| {
        let checks = document.checks.iter();
        checks.filter(|check| check.outcome == outcome).count()
    };
    let total = u64::try_from(document.checks.len()).unwrap_or(u64::MAX);
    let words = match document.outcome {
        Outcome::Pass => "all hold",
        Outcome::CannotTell => "cannot tell",
        Outcome::Broken => "broken",
        Outcome::Invalid => "not valid",
    };
    if document.checks.is_empty() {
        return "cannot tell: nothing was checked, for want of a baseline and of budgets"
            .to_owned();
    }
    let mut parts = Vec::new();
    for (outcome, word) in [
        (Outcome::Invalid, "invalid"),
        (Outcome::Broken, "broken"),
        (Outcome::CannotTell, "cannot tell"),
        (Outcome::Pass, "hold"),
    ] {
        match count(outcome) {
            0 => {}
            number => parts.push(format!("{number} {word}")),
        }
    }
    format!(
        "{words}: of {}, {}",
        counted(total, "check"),
        parts.join(", ")
    )
}

/// What the results were held against.
fn against(document: &Document) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(baseline) = &document.baseline {
        let mut facts = Vec::new();
        if let Some(commit) = &baseline.commit {
            let short: String = commit.chars().take(12).collect();
            facts.push(format!("commit {short}"));
        }
        if let Some(branch) = &baseline.branch {
            facts.push(format!("branch {branch}"));
        }
        let runs = u64::try_from(baseline.runs).unwrap_or(u64::MAX);
        facts.push(counted(runs, "run"));
        lines.push(format!("baseline {} ({})", baseline.name, facts.join(", ")));
    }
    if let Some(config) = &document.config {
        lines.push(format!("budgets of {config}"));
    }
    if document.measured_runs > 0 {
        let runs = u64::try_from(document.measured_runs).unwrap_or(u64::MAX);
        lines.push(format!("measured here in {}", counted(runs, "run")));
    }
    lines
}

/// What is not in the list of checks and has to be known.
fn remarks(document: &Document) -> Vec<String> {
    let mut lines: Vec<String> = document
        .warnings
        .iter()
        .map(|warning| format!("{}; this spoils {}", warning.text, warning.spoils))
        .collect();
    let names = |is_new: bool| {
        let states = document
            .unmatched
            .iter()
            .filter(|state| state.is_new == is_new)
            // What counts is among the checks.
            .filter(|state| {
                !document.checks.iter().any(|check| {
                    check.rule == Rule::Completeness
                        && check.subject == state.subject.state
                        && check.mode == Some(state.subject.mode)
                })
            });
        let names: Vec<String> = states
            .map(|state| format!("{} ({})", state.subject.state, state.subject.mode))
            .collect();
        names
    };
    for (names, what) in [
        (names(true), "not in the baseline"),
        (names(false), "in the baseline only"),
    ] {
        if !names.is_empty() {
            lines.push(format!("{what}: {}", names.join(", ")));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use ridge_bench::protocol::Mode;
    use ridge_compare::Verdict;
    use ridge_compare::bench::{Subject, Unmatched, Warning};
    use ridge_compare::check::BaselineFacts;
    use ridge_compare::check::document::{SCHEMA, VERSION};

    use super::*;
    use crate::charset::Charset;
    use crate::page::Layout;
    use crate::style::Painter;

    /// A document with every outcome, and names that try to break out of every format.
    pub(super) fn document() -> Document {
        let check = |rule, outcome, subject: &str, text: &str| Check {
            rule,
            outcome,
            subject: subject.to_owned(),
            mode: Some(Mode::Cold),
            verdict: None,
            value: Some(1.031),
            lower: Some(1.028),
            upper: Some(1.034),
            limit: Some(1.0),
            unit: "ratio".to_owned(),
            text: text.to_owned(),
            hint: Some("do this".to_owned()),
            file: Some("ridge.toml".to_owned()),
            line: Some(7),
            result: Some(0),
        };
        let hostile = "<script>k\u{1b}[31m|`%0A]]>\u{202e}\n::error::,:\"'&";
        Document {
            schema: SCHEMA.to_owned(),
            version: VERSION,
            tool_version: "0.1.0".to_owned(),
            outcome: Outcome::Invalid,
            config: Some("ridge.toml".to_owned()),
            baseline: Some(BaselineFacts {
                name: "branch:main".to_owned(),
                commit: Some("0123456789abcdef0123".to_owned()),
                branch: Some("main".to_owned()),
                runs: 3,
            }),
            results: vec!["result.json".to_owned()],
            checks: vec![
                check(Rule::Validity, Outcome::Invalid, hostile, hostile),
                Check {
                    verdict: Some(Verdict::Slower),
                    line: None,
                    file: None,
                    ..check(
                        Rule::Baseline,
                        Outcome::Broken,
                        "tile[n=4096]",
                        "1.020 ms before, 1.052 ms now: +3.10 % (+2.80 % to +3.40 %), band 0.50 % (least band)",
                    )
                },
                check(
                    Rule::Time,
                    Outcome::CannotTell,
                    "tile[n=4096]",
                    "1.052 ms (1.049 ms to 1.056 ms), at most 1.050 ms allowed; the limit is within the interval",
                ),
                Check {
                    hint: None,
                    ..check(
                        Rule::Registers,
                        Outcome::Pass,
                        "tile[n=4096]",
                        "64 registers, at most 64 registers allowed",
                    )
                },
            ],
            unmatched: vec![Unmatched {
                subject: Subject {
                    benchmark: "gemm".to_owned(),
                    state: "new[n=4096]".to_owned(),
                    kernel: "new".to_owned(),
                    axes: Vec::new(),
                    mode: Mode::Cold,
                },
                is_new: true,
            }],
            warnings: vec![Warning {
                id: "compiler".to_owned(),
                text: "the compiler was 13.0 and is 13.1".to_owned(),
                spoils: "whose doing a difference is".to_owned(),
            }],
            measured_runs: 2,
            is_recorded: false,
        }
    }

    fn written() -> ridge_history::Timestamp {
        "2026-11-30T18:00:00.25Z".parse().unwrap()
    }

    fn layout(charset: Charset) -> Layout {
        Layout {
            columns: 80,
            charset,
            painter: Painter::plain(),
            is_verbose: false,
        }
    }

    #[test]
    fn every_format_has_a_snapshot() {
        let document = document();
        insta::assert_snapshot!("check_text", text(&document, &layout(Charset::Unicode)));
        insta::assert_snapshot!("check_markdown", markdown(&document));
        insta::assert_snapshot!("check_sarif", sarif(&document));
        insta::assert_snapshot!("check_junit", junit(&document, written()));
        insta::assert_snapshot!("check_github", github(&document));
    }

    /// No format lets a control character or an override through, and each keeps its own frame.
    #[test]
    fn names_do_not_break_out() {
        let document = document();
        let all = [
            text(&document, &layout(Charset::Ascii)),
            markdown(&document),
            sarif(&document),
            junit(&document, written()),
            github(&document),
        ];
        for output in &all {
            assert!(
                !output.contains('\u{1b}') && !output.contains('\u{202e}'),
                "{output}"
            );
        }
        let [_, markdown, sarif, junit, github] = &all;
        assert!(!markdown.contains("<script>"), "{markdown}");
        assert!(
            !junit.contains("<script>") && !junit.contains("]]>"),
            "{junit}"
        );
        // One command a line, each of them ours.
        assert!(
            github.lines().all(|line| line.starts_with("::error ")
                || line.starts_with("::warning ")
                || line.starts_with("::notice ")),
            "{github}"
        );
        assert_eq!(github.lines().count(), 4);
        let parsed: serde_json::Value = serde_json::from_str(sarif).unwrap();
        assert_eq!(parsed["runs"][0]["results"].as_array().unwrap().len(), 3);
    }

    /// The same facts in every format.
    #[test]
    fn formats_agree() {
        let document = document();
        for output in [
            text(&document, &layout(Charset::Unicode)),
            markdown(&document),
            sarif(&document),
            junit(&document, written()),
            github(&document),
        ] {
            for fact in ["tile", "+3.10 %", "1.049 ms"] {
                let plain = output.replace("%25", "%").replace('\n', " ");
                let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
                assert!(plain.contains(fact), "{fact}: {output}");
            }
        }
    }

    #[test]
    fn nothing_checked_is_said() {
        let nothing = Document {
            outcome: Outcome::CannotTell,
            checks: Vec::new(),
            baseline: None,
            config: None,
            unmatched: Vec::new(),
            warnings: Vec::new(),
            measured_runs: 0,
            ..document()
        };
        let page = text(&nothing, &layout(Charset::Unicode));
        assert!(page.contains("nothing was checked"), "{page}");
        assert!(github(&nothing).starts_with("::warning "));
        assert!(
            junit(&nothing, written()).contains("skipped=\"1\""),
            "{}",
            junit(&nothing, written())
        );
    }
}
