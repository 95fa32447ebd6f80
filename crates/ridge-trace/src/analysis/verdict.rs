//! What bounds a program, in one sentence.

use ridge_model::quantity::{Nanos, counted};

use super::Seen;
use super::gaps::GapClass;
use crate::document::{Bound, Verdict};
use crate::timeline::{Copied, Work};

/// About the device with the longest span: the others end sooner.
pub(super) fn verdict(seen: &[Seen<'_>]) -> Option<Verdict> {
    let seen = seen
        .iter()
        .max_by(|a, b| a.span_ns().total_cmp(&b.span_ns()))?;
    let device = &seen.device;
    let span = device.span_ns;
    if span <= 0.0 {
        return None;
    }
    let host: f64 = device
        .gaps
        .classes
        .iter()
        .filter(|class| class.class == GapClass::HostWait)
        .map(|class| class.lengths.sum_ns)
        .sum();
    let parts = [
        (Bound::Kernels, device.kernel_ns),
        (Bound::Copies, device.copy_exposed_ns),
        (Bound::Host, host),
        (Bound::Idle, device.idle_ns - host),
    ];
    let (bound, _) = parts.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let percent = |ns: f64| percent(ns / span);
    let (copies, kernels, idle) = (
        percent(device.copy_ns),
        percent(device.kernel_ns),
        percent(device.idle_ns),
    );
    let whole = Nanos::new(span);
    let title = match bound {
        Bound::Kernels => {
            format!("{kernels} of the span of {whole} is kernels; copies {copies}, idle {idle}")
        }
        Bound::Copies => {
            let (count, time) = pageable(seen.work());
            if 2.0 * time >= device.copy_exposed_ns {
                format!(
                    "{} of the span of {whole} is {}; all copies {copies}, kernels {kernels}, idle {idle}",
                    percent(time),
                    counted_as(count, "pageable copy", "pageable copies")
                )
            } else {
                format!(
                    "{} of the span of {whole} is copies beside which no kernel runs; all copies {copies}, kernels {kernels}, idle {idle}",
                    percent(device.copy_exposed_ns)
                )
            }
        }
        Bound::Host => format!(
            "for {} of the span of {whole} the device waits for the host; kernels {kernels}, copies {copies}, idle {idle} in all",
            percent(host)
        ),
        Bound::Idle => format!(
            "for {idle} of the span of {whole} nothing runs on the device; the host was late for {} of the span; kernels {kernels}, copies {copies}",
            percent(host)
        ),
    };
    Some(Verdict {
        bound,
        title,
        device: device.number,
    })
}

fn counted_as(count: u64, one: &str, more: &str) -> String {
    if count == 1 {
        counted(1, one)
    } else {
        format!("{count} {more}")
    }
}

/// How many copies are from or to pageable memory, and how long they take together.
fn pageable<'t>(work: impl Iterator<Item = &'t Work>) -> (u64, f64) {
    let mut intervals = Vec::new();
    for work in work.filter(|work| work.copied().is_some_and(Copied::is_pageable)) {
        intervals.push((work.start_ns, work.end_ns));
    }
    let count = intervals.len() as u64;
    (
        count,
        super::to_f64(super::Union::of_sorted(intervals).length()),
    )
}

/// Whole per cent, and what is neither nothing nor all does not become it.
pub(crate) fn percent(share: f64) -> String {
    match 100.0 * share {
        little if little > 0.0 && little < 0.5 => "<1 %".to_owned(),
        nearly if (99.5..100.0).contains(&nearly) => ">99 %".to_owned(),
        percent => format!("{percent:.0} %"),
    }
}
