//! Samples of warps by instruction.
//!
//! The profiler stores how many fell on each instruction, and how many of these had each reason not to issue. A list of metrics
//! that asks for reasons alone holds no count; reasons add up to it, since a sample has one.

use std::collections::BTreeMap;

use ncu_rep::{Metric, Metrics};

const COUNT: &str = "smsp__pcsamp_sample_count";
const REASON: &str = "smsp__pcsamp_warps_issue_stalled_";
const NOT_ISSUED: &str = "_not_issued";

/// Samples by reason. Those of cycles in which no warp issued are among them, and counted by the profiler once more.
pub(crate) fn by_reason<'m, 'r>(
    metrics: &'m Metrics<'r>,
) -> impl Iterator<Item = (&'m str, &'m Metric<'r>)> {
    metrics
        .beginning_with(REASON)
        .filter_map(|metric| Some((metric.name.strip_prefix(REASON)?, metric)))
        .filter(|(reason, _)| !reason.ends_with(NOT_ISSUED))
}

/// Samples by address; nothing where warps were not sampled.
pub(crate) fn by_address(metrics: &Metrics<'_>) -> Vec<(u64, f64)> {
    if let Some(count) = metrics.get(COUNT) {
        return count.by_number().unwrap_or_default();
    }
    let mut sums: BTreeMap<u64, f64> = BTreeMap::new();
    for (_, metric) in by_reason(metrics) {
        for (address, count) in metric.by_number().unwrap_or_default() {
            *sums.entry(address).or_default() += count;
        }
    }
    sums.into_iter().collect()
}

/// All samples; absent where warps were not sampled.
pub(crate) fn count(metrics: &Metrics<'_>) -> Option<f64> {
    metrics.number(COUNT).or_else(|| {
        by_reason(metrics)
            .filter_map(|(_, metric)| metric.number())
            .reduce(|sum, count| sum + count)
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Without the count, reasons tell the same.
    #[test]
    fn reasons_add_up_to_the_count() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../fixtures/gallery/bin_counts.ncu-rep.zst");
        let packed = std::fs::read(path).unwrap();
        let bytes = ncu_rep::unpack(&packed, 1 << 30).bytes;
        let report = ncu_rep::Report::parse(&bytes).unwrap();
        let profile = report.profile(0).unwrap();
        let whole = profile.metrics().value;
        let mut reasons = profile.metrics().value;
        reasons.retain(|name| name != COUNT);
        assert!(count(&whole).unwrap() > 100.0);
        assert_eq!(count(&whole), count(&reasons));
        let sampled = |metrics: &Metrics<'_>| {
            let mut all = by_address(metrics);
            all.retain(|(_, count)| *count > 0.0);
            all.sort_by_key(|(address, _)| *address);
            all
        };
        assert_eq!(sampled(&whole), sampled(&reasons));
    }
}
