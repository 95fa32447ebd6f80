//! What findings of a trace say about a question.

use ridge_trace::document::Finding;

use crate::document::Evidence;
use crate::inputs::{Named, Program};
use crate::part::{Part, figure};
use crate::words::path;

/// The findings of a program that a question is about, as reasons for a no; `None` where it has none of them.
pub(crate) fn faults(program: &Named<Program>, ids: &[&str]) -> Option<Part> {
    let found: Vec<&Finding> = program
        .content
        .trace
        .findings
        .iter()
        .filter(|finding| ids.contains(&finding.id.as_str()))
        .collect();
    if found.is_empty() {
        return None;
    }
    let file = program.name.as_str();
    let found_saving = found.iter().map(|f| f.saving_expected).reduce(f64::max);
    let titles: Vec<&str> = found.iter().map(|finding| finding.title.as_str()).collect();
    let mut part = Part::no(format!("{file}: {}", titles.join("; ")));
    for finding in found {
        let evidence = finding.evidence.iter().map(|evidence| Evidence {
            healthy: evidence.healthy,
            ..figure(
                file,
                Some(&format!("device {}", finding.device)),
                evidence.metric.clone(),
                evidence.value,
                &evidence.unit,
            )
        });
        part = part
            .with(evidence)
            .doing(finding.actions.iter().take(2).cloned());
    }
    // Findings of one trace may overlap: the largest stands.
    let saving = found_saving.unwrap_or_default();
    Some(part.saving(saving).then(timeline(file)))
}

/// The findings that a trace does not let anybody check, where a question is about one.
pub(crate) fn is_open(program: &Named<Program>, ids: &[&str]) -> bool {
    let mut checks = program.content.trace.not_checked.iter();
    checks.any(|check| ids.contains(&check.id.as_str()))
}

/// The command that shows a trace.
pub(crate) fn timeline(file: &str) -> String {
    format!("ridge timeline {} -v", path(file))
}
