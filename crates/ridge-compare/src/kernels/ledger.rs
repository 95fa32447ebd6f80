//! Two ledgers beside each other.

use ridge_diagnose::Resource;
use ridge_diagnose::document::{Kernel, ResourceRow};

use super::document::{Busy, LedgerRow};

/// Joins the rows of both sides; what was not counted on one is absent there, and not zero.
pub(super) fn rows(before: &Kernel, after: &Kernel) -> Vec<LedgerRow> {
    let mut resources: Vec<Resource> = Vec::new();
    for row in before.resources.iter().chain(&after.resources) {
        if !resources.contains(&row.resource) {
            resources.push(row.resource);
        }
    }
    let mut rows: Vec<LedgerRow> = resources
        .into_iter()
        .map(|resource| {
            let (one, other) = (find(before, resource), find(after, resource));
            let is_one_amount = one
                .zip(other)
                .is_none_or(|(one, other)| one.stage == other.stage && one.unit == other.unit);
            LedgerRow {
                resource,
                before: one.map(|row| busy(before, row)),
                after: other.map(|row| busy(after, row)),
                unit: one
                    .or(other)
                    .filter(|_| is_one_amount)
                    .map(|row| row.unit.clone()),
            }
        })
        .collect();
    let most = |row: &LedgerRow| {
        let of = |busy: &Option<Busy>| busy.as_ref().map_or(0.0, |busy| busy.share);
        of(&row.before).max(of(&row.after))
    };
    rows.sort_by(|a, b| most(b).total_cmp(&most(a)));
    rows
}

fn find(kernel: &Kernel, resource: Resource) -> Option<&ResourceRow> {
    kernel.resources.iter().find(|row| row.resource == resource)
}

/// The shares are of the launch that was diagnosed, and so is the duration.
fn busy(kernel: &Kernel, row: &ResourceRow) -> Busy {
    Busy {
        stage: row.stage.clone(),
        share: row.busy_share,
        bound_ns: diagnosed_ns(kernel).map(|duration| duration * row.busy_share),
        demand: row.demand,
    }
}

/// The duration of the launch whose counters these are.
pub(super) fn diagnosed_ns(kernel: &Kernel) -> Option<f64> {
    kernel
        .launches
        .iter()
        .find(|launch| launch.index == kernel.diagnosed_launch)
        .and_then(|launch| launch.duration_ns)
}
