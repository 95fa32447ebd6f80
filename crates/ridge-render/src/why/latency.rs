//! What is in flight, what has to be, and what is missing.

use ridge_diagnose::document::{Class, Kernel, Latency, LatencyLevel, LatencyVerdict};
use ridge_model::quantity::{Amount, Bytes, Unit};

use super::{Page, paragraph, percent};

/// Writes two lines for a kernel that waits for latency, unless it is its launch that counts; with `-v` every level of memory for every kernel.
pub(super) fn write(out: &mut String, kernel: &Kernel, page: &Page) {
    let Some(latency) = &kernel.latency else {
        return;
    };
    let is_launch = kernel
        .limiter
        .as_ref()
        .is_some_and(|limiter| limiter.class == Class::Launch);
    if let Some((verdict, missing)) = latency
        .verdict
        .filter(|_| !is_launch)
        .and_then(|verdict| Some((verdict, missing(verdict)?)))
    {
        let mut seen = match verdict {
            LatencyVerdict::DependentArithmetic { .. } => arithmetic(latency),
            _ => memory(latency),
        };
        seen.extend(warps(latency));
        if !seen.is_empty() {
            paragraph(out, &seen.join("; "), "   ", "     ", page);
        }
        paragraph(out, &missing, "   ", "     ", page);
    }
    if page.is_verbose {
        for level in &latency.levels {
            paragraph(out, &in_full(level), "     ", "       ", page);
        }
        if let Some(loads) = &latency.loads {
            let text = format!("loads: {}", loads.source.join(", "));
            paragraph(out, &text, "     ", "       ", page);
        }
    }
}

/// What the counters say of loads.
fn memory(latency: &Latency) -> Vec<String> {
    let mut parts = Vec::new();
    let loads = latency.loads.as_ref();
    let level = latency
        .levels
        .iter()
        .find(|level| Some(level.level) == loads.and_then(|loads| loads.waits_for));
    if let Some(level) = level {
        parts.push(format!(
            "in flight: {} an SM, {} saturate the {} at {:.0} cycles",
            Bytes::new(level.in_flight_bytes_per_sm),
            Bytes::new(level.needed_bytes_per_sm),
            level.level.label(),
            level.unloaded_cycles,
        ));
    }
    if let Some((cycles, per_warp)) = loads.and_then(|loads| loads.cycles.zip(loads.per_warp)) {
        parts.push(format!(
            "a load takes {cycles:.0} cycles, a waiting warp has {per_warp:.1} open"
        ));
    }
    parts
}

/// What the counters say of results in the SM.
fn arithmetic(latency: &Latency) -> Vec<String> {
    let waiting = latency.waiting.iter();
    waiting
        .map(|waiting| {
            format!(
                "of the waiting {} is for fixed latencies, {} for shared memory and other results in the SM",
                percent(waiting.fixed),
                percent(waiting.on_chip)
            )
        })
        .collect()
}

fn warps(latency: &Latency) -> Option<String> {
    let warps = latency.warps.as_ref()?;
    Some(match warps.most {
        Some(most) => format!("{:.1} of {most:.0} warps a scheduler", warps.resident),
        None => format!("{:.1} warps a scheduler", warps.resident),
    })
}

/// The verdict in words; nothing where latency is hidden, or is not what warps wait for.
fn missing(verdict: LatencyVerdict) -> Option<String> {
    Some(match verdict {
        LatencyVerdict::Hidden | LatencyVerdict::OtherWaiting => return None,
        LatencyVerdict::NotEnoughInFlight {
            factor,
            by_warps,
            by_each_warp,
        } => format!(
            "not enough in flight: {factor:.1} times as much would keep a unit busy, {}",
            shared(("each warp", by_each_warp), ("full SMs", by_warps))
        ),
        LatencyVerdict::NotEnoughWarps {
            factor,
            by_warps,
            by_each_warp,
        } => format!(
            "not enough warps: {factor:.1} times as much in flight would keep a unit busy, {}",
            shared(("full SMs", by_warps), ("each warp", by_each_warp))
        ),
        LatencyVerdict::AccessTooExpensive { factor } => format!(
            "each access is too expensive: it takes {factor:.1} times as long as an unloaded one"
        ),
        LatencyVerdict::DependentArithmetic { factor } => format!(
            "dependent arithmetic: {factor:.1} times as many independent instructions would keep a unit busy"
        ),
    })
}

/// Who supplies a factor: one of two, or both. A factor that reads as 1.0 is none.
fn shared((first, most): (&str, f64), (second, rest): (&str, f64)) -> String {
    if rest < 1.05 {
        format!("all of it from {first}")
    } else {
        format!("{most:.1} times from {first} and {rest:.1} times from {second}")
    }
}

fn in_full(level: &LatencyLevel) -> String {
    let rate = |value| Amount::new(value, Unit::BYTES_PER_SECOND);
    format!(
        "{}: {} of {}, {} in flight on an SM, {} saturate it at {:.0} cycles ({}); {}",
        level.level.label(),
        rate(level.bytes_per_s),
        rate(level.capacity_bytes_per_s),
        Bytes::new(level.in_flight_bytes_per_sm),
        Bytes::new(level.needed_bytes_per_sm),
        level.unloaded_cycles,
        level.unloaded_source,
        level.source.join(", "),
    )
}
