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

/// Where the span of the device went that the verdict is about.
pub(crate) fn shares(program: &Named<Program>) -> Vec<Evidence> {
    let trace = &program.content.trace;
    let number = trace.verdict.as_ref().map(|verdict| verdict.device);
    let mut devices = trace.devices.iter();
    let device = devices.find(|device| Some(device.number) == number && device.span_ns > 0.0);
    let Some(device) = device else {
        return Vec::new();
    };
    let name = format!("device {}", device.number);
    let share = |metric: &str, ns: f64| {
        let share = ns / device.span_ns;
        figure(&program.name, Some(&name), metric, share, "fraction")
    };
    vec![
        share("kernels, of the span", device.kernel_ns),
        share(
            "copies that no kernel hides, of the span",
            device.copy_exposed_ns,
        ),
        share("nothing, of the span", device.idle_ns),
    ]
}

/// The command that shows a trace.
pub(crate) fn timeline(file: &str) -> String {
    format!("ridge timeline {} -v", path(file))
}
