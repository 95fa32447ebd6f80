//! Findings about a program: what it is, what it can save, what to do, how to check.

use ridge_model::quantity::{Amount, Nanos, Unit};
use ridge_trace::document::{Confidence, Direction, Evidence, Finding};

use super::text::{paragraph, percent};
use crate::page::Layout;
use crate::style::Role;

/// Actions that are shown without `-v`.
const FEW: usize = 2;

pub(super) fn write(out: &mut String, finding: &Finding, layout: &Layout) {
    let role = Role::Warning;
    let name = format!("{} {}", role.mark(), finding.id);
    let mut heading = String::new();
    let saving = format!(
        "{name}: saves about {}, at most {} of the span ({}){}",
        percent(finding.saving_expected),
        percent(finding.saving_ceiling),
        Nanos::new(finding.saving_ceiling_ns),
        confidence(finding.confidence)
    );
    paragraph(&mut heading, &saving, "   ", "     ", layout);
    out.push_str(&heading.replacen(&name, &layout.painter.paint(role, &name).to_string(), 1));
    paragraph(out, &finding.title, "     ", "     ", layout);
    let most = if layout.is_verbose { usize::MAX } else { FEW };
    for action in finding.actions.iter().take(most) {
        paragraph(out, &format!("do: {action}"), "     ", "         ", layout);
    }
    if layout.is_verbose {
        for evidence in &finding.evidence {
            paragraph(
                out,
                &format!("seen: {}", seen(evidence)),
                "     ",
                "         ",
                layout,
            );
        }
    }
    let verify: Vec<String> = finding
        .verify
        .iter()
        .map(|verify| {
            let moves = match verify.direction {
                Direction::Up => "rises",
                Direction::Down => "falls",
            };
            format!("{} {moves}", verify.metric)
        })
        .collect();
    paragraph(
        out,
        &format!("it worked if {}", verify.join(", ")),
        "     ",
        "         ",
        layout,
    );
}

fn confidence(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::High => "",
        Confidence::Medium => " (derived)",
        Confidence::Low => " (inferred)",
    }
}

/// A figure in words, with where it comes from.
pub(super) fn seen(evidence: &Evidence) -> String {
    let amount = |value: f64| match evidence.unit.as_str() {
        "ns" => Nanos::new(value).to_string(),
        unit => Amount::new(value, Unit::new(unit.to_owned())).to_string(),
    };
    let healthy = evidence.healthy.map_or_else(String::new, |healthy| {
        format!("; healthy: {}", amount(healthy))
    });
    format!(
        "{} = {} ({}{healthy})",
        evidence.metric,
        amount(evidence.value),
        evidence.origin.name()
    )
}
