//! Counters by instruction: sums, and the places where something happens.

use std::collections::HashMap;

use ncu_rep::Metrics;

use crate::code::CodeMap;
use crate::document::Location;

/// The value of a per-instruction metric over the whole kernel: what is stored, or the sum of the instances.
pub(crate) fn total(metrics: &Metrics<'_>, name: &str) -> Option<f64> {
    let metric = metrics.get(name)?;
    if let Some(total) = metric.number() {
        return Some(total);
    }
    let instances = metric.by_number().ok()?;
    (!instances.is_empty()).then(|| instances.iter().map(|(_, value)| value).sum())
}

/// Differences of two metrics by address: what is there beyond the ideal.
pub(crate) fn excess(metrics: &Metrics<'_>, actual: &str, ideal: &str) -> Vec<(u64, f64)> {
    let list = |name| {
        metrics
            .get(name)
            .and_then(|metric| metric.by_number().ok())
            .unwrap_or_default()
    };
    let ideal: HashMap<u64, f64> = list(ideal).into_iter().collect();
    list(actual)
        .into_iter()
        .map(|(address, value)| (address, value - ideal.get(&address).copied().unwrap_or(0.0)))
        .filter(|(_, excess)| *excess > 0.0)
        .collect()
}

/// At most this many places are named; a reader looks at the first few.
const MAX_PLACES: usize = 5;
/// Places with less than this share of the whole are noise.
const MIN_SHARE: f64 = 0.02;

/// The places with the largest values: by source line where the code has line data, else by instruction.
pub(crate) fn places(values: &[(u64, f64)], code: Option<&CodeMap>) -> Vec<Location> {
    let whole: f64 = values.iter().map(|(_, value)| value).sum();
    if whole <= 0.0 {
        return Vec::new();
    }
    // Instructions of one line count together; the one with the most stands for the line.
    let mut lines: HashMap<(Option<String>, Option<u32>, u64), Line> = HashMap::new();
    for &(address, value) in values {
        let location = code.map_or_else(|| CodeMap::unknown(address), |code| code.locate(address));
        let instruction = if location.line.is_some() { 0 } else { address };
        let key = (location.file.clone(), location.line, instruction);
        let line = lines.entry(key).or_default();
        line.value += value;
        if value > line.largest {
            line.largest = value;
            line.location = location;
        }
    }
    let mut lines: Vec<Line> = lines.into_values().collect();
    lines.sort_by(|a, b| {
        b.value
            .total_cmp(&a.value)
            .then_with(|| a.location.pc.cmp(&b.location.pc))
    });
    lines
        .into_iter()
        .map(|line| Location {
            share: Some(line.value / whole),
            ..line.location
        })
        .filter(|location| location.share >= Some(MIN_SHARE))
        .take(MAX_PLACES)
        .collect()
}

/// What one line has: all its instructions together, and the largest of them.
#[derive(Default)]
struct Line {
    location: Location,
    value: f64,
    largest: f64,
}
