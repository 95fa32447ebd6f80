//! Kernels by name.

use std::collections::HashMap;

use super::distribution;
use crate::document::Kernel;
use crate::timeline::{LaunchId, NameId, Timeline, Work, WorkKind};

/// Kernels of the whole trace by name, the largest summed time first. Graphs as a whole count as one name.
#[must_use]
pub fn kernels(timeline: &Timeline) -> Vec<Kernel> {
    of(timeline, timeline.work.iter())
}

pub(super) fn of<'t>(timeline: &'t Timeline, work: impl Iterator<Item = &'t Work>) -> Vec<Kernel> {
    #[derive(Default)]
    struct Of {
        durations: Vec<i64>,
        launches: Vec<LaunchId>,
    }
    let mut by_name: HashMap<NameId, Of> = HashMap::new();
    let mut whole = 0;
    for work in work.filter(|work| work.is_kernel()) {
        let row = by_name.entry(work.name).or_default();
        row.durations.push(work.duration_ns());
        whole += work.duration_ns();
        if let WorkKind::Kernel { launch } = work.kind
            && !row.launches.contains(&launch)
            && row.launches.len() < MOST_CONFIGURATIONS
        {
            row.launches.push(launch);
        }
    }
    let whole = distribution::to_f64(whole.max(1));
    let mut rows: Vec<Kernel> = by_name
        .into_iter()
        .filter_map(|(name, row)| {
            let durations = distribution::of(row.durations)?;
            let launches = || row.launches.iter().map(|id| timeline.launch(*id));
            Some(Kernel {
                name: timeline.name(name).to_owned(),
                durations,
                time_share: durations.sum_ns / whole,
                grid: same(launches().map(|launch| launch.grid)),
                block: same(launches().map(|launch| launch.block)),
                configurations: row.launches.len() as u64,
                registers: same(launches().map(|launch| launch.registers)),
                shared_bytes: same(launches().map(|launch| launch.shared_bytes)),
            })
        })
        .collect();
    rows.sort_by(|a, b| {
        b.durations
            .sum_ns
            .total_cmp(&a.durations.sum_ns)
            .then_with(|| a.name.cmp(&b.name))
    });
    rows
}

/// More launch configurations of one kernel are not told apart.
const MOST_CONFIGURATIONS: usize = 1000;

/// The value that all have.
fn same<T: PartialEq>(values: impl Iterator<Item = Option<T>>) -> Option<T> {
    let mut values = values;
    let first = values.next()?;
    if values.all(|value| value == first) {
        first
    } else {
        None
    }
}
