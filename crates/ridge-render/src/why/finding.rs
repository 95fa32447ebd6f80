//! Findings: what it is, what it can save, where, what to do, how to check.

use ridge_diagnose::document::{Confidence, Direction, Document, Evidence, Finding, Verify};
use ridge_diagnose::is_verdict;
use ridge_model::quantity::{Amount, Unit};

use super::kernel::place;
use super::{Page, file_of, paragraph, percent, saved};
use crate::style::Role;

/// Actions and places that are shown without `-v`.
const FEW: usize = 2;

pub(super) fn write(out: &mut String, findings: &[Finding], page: &Page) {
    for finding in findings {
        out.push('\n');
        write_one(out, finding, page);
    }
}

/// Findings about several kernels, which stand before the kernels themselves.
pub(super) fn write_report(out: &mut String, document: &Document, files: &[String], page: &Page) {
    for found in &document.report_findings {
        out.push('\n');
        write_one(out, &found.finding, page);
        let names: Vec<String> = found
            .kernels
            .iter()
            .filter_map(|place| document.kernels.get(*place))
            .map(|kernel| kernel.name.clone())
            .collect();
        // Savings are parts of the time of these launches, which may be a small part of the whole.
        let share = found.time_share.map_or_else(String::new, |share| {
            format!(": {} of the time of all kernels", percent(share))
        });
        // They are launches in a row, so that all are of one input.
        let file = found
            .kernels
            .first()
            .and_then(|place| file_of(document, document.kernels.get(*place)?, files))
            .map_or_else(String::new, |file| format!(" of {file}"));
        paragraph(
            out,
            &format!("in {}{file}{share}", names.join(", ")),
            "     ",
            "       ",
            page,
        );
    }
}

fn write_one(out: &mut String, finding: &Finding, page: &Page) {
    let verdict = is_verdict(&finding.id);
    let role = if verdict { Role::Good } else { Role::Warning };
    let name = format!("{} {}", role.mark(), finding.id);
    let saving = if verdict {
        format!(": at most {} to gain", saved(finding.saving_ceiling))
    } else {
        format!(
            ": saves about {}, at most {}{}{}",
            saved(finding.saving_expected),
            saved(finding.saving_ceiling),
            finding.next_limit.map_or_else(String::new, |next| format!(
                "; next limit: {}",
                next.label()
            )),
            confidence(finding.confidence),
        )
    };
    let mut heading = String::new();
    paragraph(
        &mut heading,
        &format!("{name}{saving}"),
        "   ",
        "     ",
        page,
    );
    // The name is short enough to stand whole on the first line.
    out.push_str(&heading.replacen(&name, &page.painter.paint(role, &name).to_string(), 1));
    paragraph(out, &finding.title, "     ", "     ", page);
    let places: Vec<String> = finding
        .locations
        .iter()
        .take(if page.is_verbose { usize::MAX } else { FEW })
        .map(|location| match location.share {
            Some(share) => format!("{} ({})", place(location, page), percent(share)),
            None => place(location, page),
        })
        .collect();
    if !places.is_empty() {
        paragraph(
            out,
            &format!("at {}", places.join(", ")),
            "     ",
            "       ",
            page,
        );
    }
    let actions = finding
        .actions
        .iter()
        .take(if page.is_verbose { usize::MAX } else { FEW });
    for action in actions {
        paragraph(out, &format!("do: {action}"), "     ", "         ", page);
    }
    if page.is_verbose {
        for evidence in &finding.evidence {
            paragraph(
                out,
                &format!("seen: {}", evidence_text(evidence)),
                "     ",
                "         ",
                page,
            );
        }
    }
    if !finding.verify.is_empty() && !verdict {
        let list: Vec<String> = finding.verify.iter().map(verify_text).collect();
        paragraph(
            out,
            &format!("it worked if {}", list.join(", ")),
            "     ",
            "         ",
            page,
        );
    }
}

fn confidence(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::High => "",
        Confidence::Medium => " (derived)",
        Confidence::Low => " (inferred)",
    }
}

fn evidence_text(evidence: &Evidence) -> String {
    let amount = |value| Amount::new(value, Unit::new(evidence.unit.clone()));
    match evidence.healthy {
        Some(healthy) => format!(
            "{} = {} (healthy: {})",
            evidence.metric,
            amount(evidence.value),
            amount(healthy)
        ),
        None => format!("{} = {}", evidence.metric, amount(evidence.value)),
    }
}

fn verify_text(verify: &Verify) -> String {
    let target = verify
        .target
        .map(|target| format!(" {}", Amount::new(target, Unit::NONE)));
    match verify.direction {
        Direction::Up => format!(
            "{} rises{}",
            verify.metric,
            target.map_or_else(String::new, |t| format!(" to{t}"))
        ),
        Direction::Down => format!(
            "{} falls{}",
            verify.metric,
            target.map_or_else(String::new, |t| format!(" to{t}"))
        ),
        Direction::To => format!("{} comes near{}", verify.metric, target.unwrap_or_default()),
    }
}
