//! What was profiled, where and how; and what makes the answer less certain.

use ridge_diagnose::document::{Collected, Document, LaunchesFrom, Source, SourceKind, Warning};
use ridge_model::quantity::Hertz;

use super::{Page, paragraph, percent, times};
use crate::escape;
use crate::style::Role;

pub(super) fn write(out: &mut String, document: &Document, source: &Source, page: &Page) {
    let painter = page.painter;
    let file = if source.file == "-" {
        "standard input"
    } else {
        &source.file
    };
    out.push_str(
        &painter
            .paint(Role::Heading, &escape::terminal(file))
            .to_string(),
    );
    out.push('\n');
    let facts = facts(source);
    if !facts.is_empty() {
        paragraph(out, &facts.join(", "), "  ", "  ", page);
    }
    if let Some(collected) = &source.collected {
        paragraph(out, &collection(collected), "  ", "  ", page);
    }
    for warning in document
        .warnings
        .iter()
        .filter(|warning| warning.source == Some(source.id))
    {
        write_warning(out, warning, page);
    }
}

/// What was run, and what part of the program it shows.
fn collection(collected: &Collected) -> String {
    let tiers: Vec<String> = collected
        .tiers
        .iter()
        .map(|tier| {
            let passes = match tier.passes {
                Some((low, high)) if low == high => times(high, "pass"),
                Some((low, high)) => format!("{low} to {high} passes"),
                None => "nothing".to_owned(),
            };
            let launches = times(tier.launches, "launch");
            let failure = if tier.failure.is_some() {
                ", failed"
            } else {
                ""
            };
            format!("tier {}: {passes} over {launches}{failure}", tier.tier)
        })
        .collect();
    let LaunchesFrom::TimingPass = collected.launches_from;
    format!(
        "collected here: {} of {} kernels, with {} of the GPU time of {}; {}. Launches were timed by the profiler, one after \
         the other with caches as they were, as there was no trace",
        collected.kernels_profiled,
        collected.kernels_seen,
        percent(collected.covered),
        times(collected.launches, "launch"),
        tiers.join("; ")
    )
}

fn facts(source: &Source) -> Vec<String> {
    let mut facts = Vec::new();
    let is_export = source.kind == SourceKind::NcuCsv;
    if is_export && source.devices.is_empty() {
        facts.push("the export does not tell the device".to_owned());
    }
    for device in &source.devices {
        let mut details = Vec::new();
        if let Some(capability) = &device.compute_capability {
            details.push(format!("compute capability {capability}"));
        }
        if let Some(count) = device.multiprocessors {
            details.push(format!("{count} SMs"));
        }
        let name = device.name.as_deref().unwrap_or(if is_export {
            "a device that the export does not name"
        } else {
            "a device without a name"
        });
        facts.push(if details.is_empty() {
            name.to_owned()
        } else {
            format!("{name} ({})", details.join(", "))
        });
    }
    if let Some(version) = &source.profiler_version {
        facts.push(format!("Nsight Compute {version}"));
    }
    if let Some(program) = &source.program {
        facts.push(format!("program {program}"));
    }
    let collection = &source.collection;
    if let Some(mode) = collection.replay_mode.as_deref() {
        facts.push(format!("{mode} replay"));
    }
    if let Some((low, high)) = collection.passes {
        facts.push(if low == high {
            format!("{high} pass{}", if high == 1 { "" } else { "es" })
        } else {
            format!("{low} to {high} passes")
        });
    }
    match collection.cache_control.as_deref() {
        Some("all") => facts.push("caches flushed".to_owned()),
        Some("none") => facts.push("caches left alone".to_owned()),
        _ => {}
    }
    match collection.clock_control.as_deref() {
        Some("base") => facts.push("clocks held at base".to_owned()),
        Some("boost") => facts.push("clocks held at boost".to_owned()),
        _ => {}
    }
    if let Some((low, high)) = collection.sm_clock_hz {
        facts.push(
            match (Hertz::new(low).to_string(), Hertz::new(high).to_string()) {
                (low, high) if low == high => format!("SM clock {high}"),
                (low, high) => format!("SM clock {low} to {high}"),
            },
        );
    }
    facts
}

pub(super) fn write_warning(out: &mut String, warning: &Warning, page: &Page) {
    let place = match (&warning.field, warning.offset) {
        (Some(field), Some(offset)) => format!("{field} (byte {offset}): "),
        (Some(field), None) => format!("{field}: "),
        (None, Some(offset)) => format!("byte {offset}: "),
        (None, None) => String::new(),
    };
    let mut text = String::new();
    paragraph(
        &mut text,
        &format!("{place}{}", warning.message),
        "  ! ",
        "    ",
        page,
    );
    for line in text.lines() {
        out.push_str(&page.painter.paint(Role::Warning, line).to_string());
        out.push('\n');
    }
}
