//! Where samples fall: the source lines (or instructions) that warps spend their time at.

use std::collections::HashMap;

use ncu_rep::Metrics;

use crate::code::CodeMap;
use crate::document::HotLine;
use crate::findings::places;
use crate::samples;

/// The lines with the most samples.
pub(crate) fn hot_lines(metrics: &Metrics<'_>, code: Option<&CodeMap>) -> Vec<HotLine> {
    let samples = samples::by_address(metrics);
    let total: f64 = samples.iter().map(|(_, count)| count).sum();
    let lines = places(&samples, code);
    if lines.is_empty() {
        return Vec::new();
    }
    let stalls = stalls_by_place(metrics, code);
    lines
        .into_iter()
        .map(|location| {
            let top_stall = stalls.get(&place_key(&location)).and_then(|reasons| {
                reasons
                    .iter()
                    .max_by(|a, b| a.1.total_cmp(b.1))
                    .map(|(reason, _)| reason.clone())
            });
            let text = code
                .zip(location.file.as_deref().zip(location.line))
                .and_then(|(code, (file, line))| code.line_text(file, line))
                .map(|text| text.trim().to_owned());
            HotLine {
                samples: location.share.unwrap_or(0.0) * total,
                top_stall,
                text,
                location,
            }
        })
        .collect()
}

/// What makes instructions count as one place: their line, or their own address without one.
type PlaceKey = (Option<String>, Option<u32>, Option<u64>);

fn place_key(location: &crate::document::Location) -> PlaceKey {
    let instruction = if location.line.is_some() {
        None
    } else {
        location.pc
    };
    (location.file.clone(), location.line, instruction)
}

fn stalls_by_place(
    metrics: &Metrics<'_>,
    code: Option<&CodeMap>,
) -> HashMap<PlaceKey, HashMap<String, f64>> {
    let mut places: HashMap<PlaceKey, HashMap<String, f64>> = HashMap::new();
    let mut keys: HashMap<u64, PlaceKey> = HashMap::new();
    for (reason, metric) in samples::by_reason(metrics) {
        if reason == "selected" {
            continue;
        }
        for (address, count) in metric.by_number().unwrap_or_default() {
            if count > 0.0 {
                let key = keys.entry(address).or_insert_with(|| {
                    place_key(
                        &code
                            .map_or_else(|| CodeMap::unknown(address), |code| code.locate(address)),
                    )
                });
                *places
                    .entry(key.clone())
                    .or_default()
                    .entry(reason.to_owned())
                    .or_default() += count;
            }
        }
    }
    places
}
