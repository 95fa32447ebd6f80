//! What a diagnosis of the first tier left open.

use ridge_diagnose::Resource;
use ridge_diagnose::document::{Confidence, Kernel, ResourceRow};

use super::groups::{self, Group};

/// From this saving on a finding is worth a pass: smaller ones are accepted, as a verdict accepts them.
const WORTHWHILE: f64 = 0.10;

/// The groups of counters that can still change the first finding of a kernel, of which the first tier was collected.
///
/// * What warps wait for: unless a flaw was found that saves more than waiting can. Nothing that waiting costs is more than
///   the time in which no unit was at its limit. A flaw that waiting may explain is in doubt until that was looked at.
/// * Kinds of local memory: where there is any.
#[must_use]
pub fn open_questions(kernel: &Kernel) -> Vec<&'static Group> {
    let mut open: Vec<&'static Group> = Vec::new();
    let busiest = kernel
        .resources
        .iter()
        .filter_map(|row| Some(row.busy_share).filter(|share| share.is_finite()))
        .fold(0.0, f64::max);
    let unhidden = 1.0 - busiest;
    let is_settled = kernel.findings.first().is_some_and(|first| {
        let is_sure = first.confidence != Confidence::Low;
        is_sure && (unhidden < WORTHWHILE || unhidden < first.saving_expected)
    });
    if !is_settled {
        open.push(&groups::STALLS);
        open.push(&groups::SAMPLES);
    }
    let is_local = |row: &ResourceRow| row.resource == Resource::Local && row.demand > 0.0;
    if kernel.resources.iter().any(is_local) {
        open.push(&groups::SPILLS);
    }
    open
}

/// Whether the first finding of a kernel is about instructions, and nobody knows which.
#[must_use]
pub fn needs_place(kernel: &Kernel) -> bool {
    let is_placed = kernel.hot_lines.iter().any(|line| line.samples > 0.0);
    let first = kernel.findings.first();
    !is_placed && first.is_some_and(|finding| finding.locations.is_empty())
}
