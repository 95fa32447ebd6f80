//! What was profiled, where and how; and what makes the answer less certain.

use ridge_diagnose::document::{
    Collected, Document, LaunchesFrom, Source, SourceKind, Traced, Warning,
};
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
        if let Some(whole) = collected
            .traced
            .as_ref()
            .and_then(|traced| program(traced, &source.file))
        {
            let mut text = String::new();
            paragraph(&mut text, &whole, "  ! ", "    ", page);
            for line in text.lines() {
                out.push_str(&page.painter.paint(Role::Warning, line).to_string());
                out.push('\n');
            }
        }
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
            let launches = times(tier.launches, "launch");
            let failure = if tier.failure.is_some() {
                ", failed"
            } else {
                ""
            };
            let what = match tier.passes {
                Some((low, high)) if low == high => {
                    format!("{} over {launches}", times(high, "pass"))
                }
                Some((low, high)) => format!("{low} to {high} passes over {launches}"),
                None if tier.tier == 0 => format!("{launches} recorded"),
                None => "nothing".to_owned(),
            };
            format!("tier {}: {what}{failure}", tier.tier)
        })
        .collect();
    let timed = match collected.launches_from {
        LaunchesFrom::Trace => {
            "Times of launches and shares are those of the recording, without the profiler"
        }
        LaunchesFrom::TimingPass => {
            "Launches were timed by the profiler, one after the other with caches as they were, as there was no recording of \
             them"
        }
    };
    let differences: Vec<String> = collected
        .traced
        .iter()
        .flat_map(|traced| &traced.differences)
        .map(|difference| format!("; {difference}"))
        .collect();
    format!(
        "collected here: {} of {} kernels, with {} of the GPU time of {}; {}. {timed}{}",
        collected.kernels_profiled,
        collected.kernels_seen,
        percent(collected.covered),
        times(collected.launches, "launch"),
        tiers.join("; "),
        differences.concat(),
    )
}

/// Where kernels are not what most of the time goes to: that, and where to look first.
fn program(traced: &Traced, file: &str) -> Option<String> {
    let busy = traced.busy_share.filter(|_| !traced.is_bound_by_kernels)?;
    let verdict = traced.verdict.as_ref()?;
    let finding = traced
        .finding
        .as_ref()
        .map_or_else(String::new, |finding| format!(" ({finding})"));
    let look = match &traced.file {
        Some(trace) => {
            let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
            let slash = if folder.is_empty() { "" } else { "/" };
            let path = format!("{folder}{slash}{trace}");
            format!("`ridge timeline {}`", escape::terminal(&path))
        }
        None => "with --keep DIR, `ridge timeline DIR/trace.ridgetrace` shows it".to_owned(),
    };
    Some(format!(
        "the GPU is busy {} of the time: {verdict}{finding}. Look at the whole first: {look}",
        percent(busy)
    ))
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
