//! Amdahl's bound for a whole report: how much of the time of all kernels the findings could save at most.
//!
//! A kernel with a share `p` of the time, of which a remedy saves a part `s`, makes the report shorter by `p · s`: at
//! most by `p`, however fast it gets.

use crate::document::{Kernel, Part, Source, Totals};
use crate::findings::is_verdict;

/// The kernels that matter take this part of the time. Whatever happens to the rest saves less than a fifth: a factor
/// of 1.25 at most. A larger part would add many kernels for little, since times of kernels fall off steeply.
const MOST_OF_THE_TIME: f64 = 0.8;
/// Shares are sums of quotients: four fifths may come out as a little less.
const ROUNDING: f64 = 1e-9;

/// The totals of each input whose launches have durations.
#[must_use]
pub fn totals(sources: &[Source], kernels: &[Kernel]) -> Vec<Totals> {
    sources
        .iter()
        .filter_map(|source| of_source(source.id, kernels))
        .collect()
}

fn of_source(source: usize, kernels: &[Kernel]) -> Option<Totals> {
    let mut order: Vec<usize> = (0..kernels.len())
        .filter(|place| kernels[*place].source == source && time_ns(&kernels[*place]) > 0.0)
        .collect();
    order.sort_by(|a, b| time_ns(&kernels[*b]).total_cmp(&time_ns(&kernels[*a])));
    // Shares are of the whole input, also where only some kernels were selected.
    let first = &kernels[*order.first()?];
    let share = first.time_share.filter(|share| *share > 0.0)?;
    let duration_ns = Some(time_ns(first) / share).filter(|ns| ns.is_finite())?;
    let mut reached = 0.0;
    let main = order
        .iter()
        .take_while(|place| {
            let is_needed = reached < MOST_OF_THE_TIME - ROUNDING;
            reached += kernels[**place].time_share.unwrap_or(0.0);
            is_needed
        })
        .copied()
        .collect();
    Some(Totals {
        source,
        duration_ns,
        main: part(main, kernels),
        all: part(order, kernels),
    })
}

/// The time of all launches of a group: as they were timed apart, where they were.
fn time_ns(kernel: &Kernel) -> f64 {
    if let Some(timed) = kernel.timed {
        return timed.total_ns;
    }
    let known = kernel
        .launches
        .iter()
        .filter_map(|launch| launch.duration_ns);
    known.sum()
}

fn part(places: Vec<usize>, kernels: &[Kernel]) -> Part {
    let mut part = Part {
        kernels: places,
        ..Part::default()
    };
    for place in &part.kernels {
        let kernel = &kernels[*place];
        let share = kernel.time_share.unwrap_or(0.0);
        // Savings of one kernel are never added: the remedies relieve the same resources.
        let (mut ceiling, mut expected) = (0.0_f64, 0.0_f64);
        for finding in &kernel.findings {
            ceiling = ceiling.max(finding.saving_ceiling);
            // A verdict bounds what is left to gain, but knows of no remedy.
            if !is_verdict(&finding.id) {
                expected = expected.max(finding.saving_expected);
            }
        }
        part.time_share += share;
        part.saving_ceiling += share * ceiling;
        part.saving_expected += share * expected;
    }
    // The sum of all shares is one up to rounding.
    part.time_share = part.time_share.min(1.0);
    part.saving_ceiling = part.saving_ceiling.min(part.time_share);
    part.saving_expected = part.saving_expected.min(part.saving_ceiling);
    part
}
