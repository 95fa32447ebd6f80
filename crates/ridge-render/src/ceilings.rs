//! The pages of `ridge ceilings`: one table for each family, with clock, power and peak beside each figure.

use std::fmt::Write;

use ridge_bench::ceilings::document::{Document, Family, Figure, Peer, PeerLink, Spread, Unit};
use ridge_model::quantity::{Amount, Hertz, Nanos, Ratio, Unit as Shown};

use crate::escape;
use crate::page::Layout;
use crate::style::Role;
use crate::table::{Column, Table};

/// Below this width some columns are left out.
const WIDE: usize = 110;

/// What people read of a value.
fn value(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Nanoseconds => Nanos::new(value).to_string(),
        Unit::BytesPerSecond => Amount::new(value, Shown::BYTES_PER_SECOND).to_string(),
        Unit::FlopsPerSecond => Amount::new(value, Shown::FLOPS_PER_SECOND).to_string(),
        Unit::OperationsPerSecond => Amount::new(value, Shown::from_static("OP/s")).to_string(),
    }
}

/// A count for one SM in one cycle.
fn per_cycle(figure: &Figure) -> Option<String> {
    let seen = figure.per_sm_cycle?;
    // Three digits that count, as everywhere.
    let digits = match seen {
        _ if seen >= 100.0 => 0,
        _ if seen >= 10.0 => 1,
        _ => 2,
    };
    Some(match figure.architecture_per_sm_cycle {
        Some(there) => format!("{seen:.digits$} of {there:.0}"),
        None => format!("{seen:.digits$}"),
    })
}

fn share(figure: &Figure) -> Option<String> {
    let peak = figure.peak.filter(|peak| *peak > 0.0)?;
    Some(Ratio::new(figure.burst.median / peak).to_string())
}

fn clock(spread: &Spread) -> Option<String> {
    Some(Hertz::new(spread.sm_clock_hz?).to_string())
}

fn power(spread: &Spread) -> Option<String> {
    Some(format!("{:.0} W", spread.state.power_w?))
}

/// The cells of a figure in the order of [`HEADERS`].
fn cells(figure: &Figure, absent: &str) -> Vec<String> {
    let or = |text: Option<String>| text.unwrap_or_else(|| absent.to_owned());
    let kept = figure.sustained.as_ref();
    let spread = figure.burst.best / figure.burst.median - 1.0;
    let p90 = figure.burst.p90 / figure.burst.median - 1.0;
    let percent = |change: f64| format!("{:+.1} %", change * 100.0);
    vec![
        format!("{} ({})", figure.name, figure.path.name()),
        value(figure.burst.median, figure.unit),
        if spread.is_finite() {
            percent(spread)
        } else {
            absent.to_owned()
        },
        if p90.is_finite() {
            percent(p90)
        } else {
            absent.to_owned()
        },
        or(clock(&figure.burst)),
        or(power(&figure.burst)),
        or(kept.map(|kept| value(kept.median, figure.unit))),
        or(kept.and_then(clock)),
        or(kept.and_then(power)),
        or(per_cycle(figure)),
        or(share(figure)),
    ]
}

const HEADERS: [&str; 11] = [
    "ceiling",
    "burst",
    "best",
    "p90",
    "clock",
    "power",
    "sustained",
    "its clock",
    "its power",
    "per SM and cycle",
    "of data sheet",
];
/// Columns of a page that is not wide.
const NARROW: [bool; 11] = [
    true, true, false, false, true, false, true, false, false, false, true,
];

/// The columns of a family in which something stands.
fn shown(figures: &[&Figure], is_wide: bool) -> [bool; 11] {
    let mut shown = [true; 11];
    for (place, shown) in shown.iter_mut().enumerate() {
        let is_filled = figures
            .iter()
            .any(|figure| !cells(figure, "")[place].is_empty());
        *shown = is_filled && (is_wide || NARROW[place]);
    }
    shown
}

fn of_family(document: &Document, family: Family) -> Vec<&Figure> {
    document
        .figures
        .iter()
        .filter(|figure| figure.family == family)
        .collect()
}

/// Whose ceilings these are, when they were measured and with what.
fn provenance(document: &Document) -> String {
    let machine = &document.machine;
    let mut parts = vec![format!("{} SMs", machine.multiprocessors)];
    if machine.is_simulated {
        parts.push("a model: nothing was measured".to_owned());
    }
    parts.extend(document.date.clone());
    parts.extend(
        machine
            .driver
            .as_ref()
            .map(|driver| format!("driver {driver}")),
    );
    parts.extend(
        machine
            .compiler
            .as_ref()
            .map(|version| format!("NVRTC {version}")),
    );
    parts.extend(
        machine
            .power_limit_w
            .map(|limit| format!("limit {limit:.0} W")),
    );
    parts.push(format!("ridge {}", document.tool_version));
    if document.took_ns > 0.0 {
        parts.push(format!("took {}", Nanos::new(document.took_ns)));
    }
    format!("{}: {}", machine.device, parts.join(", "))
}

/// Who the other GPU is, and what lies between.
fn other(peer: &Peer) -> String {
    let mut parts = vec![peer.name.clone()];
    parts.extend(peer.uuid.clone());
    parts.push(match (peer.link, peer.nvlinks) {
        (Some(PeerLink::NvLink), Some(links)) => {
            format!("NVLink, {links} links of this GPU are up")
        }
        (Some(PeerLink::NvLink), None) => "NVLink".to_owned(),
        (Some(PeerLink::Pcie), _) => "PCIe".to_owned(),
        (None, _) => "NVML does not tell what lies between".to_owned(),
    });
    if !peer.has_access {
        parts.push("copies go through the host".to_owned());
    }
    parts.join("; ")
}

const ABOUT: &str = "Burst: median of the repeats after a pause, a few milliseconds each; products of a library, which reach the \
                     limit of the power, rest before each repeat, and copies from and to the host are warmed up. Best and p90 (what \
                     nine of ten reached) are against it. Sustained: the last third of a run without pause. Clocks are those of the SMs while it ran; power is a \
                     mean over about a second. A multiply-add is two operations; copies count what is read and written. A \
                     library's figure is what can be reached, not the peak of the hardware.";

/// Writes the page.
#[must_use]
pub fn text(document: &Document, layout: &Layout) -> String {
    let mut out = String::new();
    let absent = layout.charset.absent();
    layout.heading(&mut out, &provenance(document));
    for family in Family::ALL {
        let figures = of_family(document, family);
        if figures.is_empty() {
            continue;
        }
        out.push('\n');
        let is_wide = layout.columns >= WIDE;
        let shown = shown(&figures, is_wide);
        let columns = HEADERS
            .iter()
            .zip(shown)
            .filter(|(_, shown)| *shown)
            .enumerate()
            .map(|(place, (header, _))| match place {
                0 => Column::left(family.title()).wrapped(1, 24),
                _ => Column::right(header),
            });
        let mut table = Table::new(columns);
        for figure in &figures {
            let kept = cells(figure, absent)
                .into_iter()
                .zip(shown)
                .filter(|(_, shown)| *shown)
                .map(|(cell, _)| cell);
            table.row(kept);
        }
        out.push_str(&table.render(layout.columns, layout.charset, layout.painter));
        if layout.is_verbose {
            for figure in &figures {
                let about = format!("{}: {}; {}", figure.name, figure.counts, figure.variant);
                layout.paragraph(&mut out, &about, "  ", "    ", Some(Role::Dim));
                if let Some(peer) = &figure.peer {
                    layout.paragraph(&mut out, &other(peer), "    ", "      ", Some(Role::Dim));
                }
                for detail in &figure.details {
                    let unit = match detail.unit.as_str() {
                        "1" => Shown::NONE,
                        unit => Shown::new(unit.to_owned()),
                    };
                    let shown = Amount::new(detail.value, unit);
                    let about = format!("{}: {shown}", detail.name);
                    layout.paragraph(&mut out, &about, "    ", "      ", Some(Role::Dim));
                }
            }
        }
    }
    let mut notes: Vec<(String, Role)> = Vec::new();
    for note in &document.machine.notes {
        notes.push((note.text.clone(), Role::Warning));
    }
    for missing in &document.missing {
        let what = missing.name.as_deref().unwrap_or(missing.family.title());
        notes.push((
            format!("not measured: {what}: {}", missing.failure),
            Role::Warning,
        ));
    }
    for warning in &document.warnings {
        let hint = warning
            .hint
            .as_ref()
            .map_or_else(String::new, |hint| format!("; {hint}"));
        notes.push((format!("{}{hint}", warning.text), Role::Warning));
    }
    if !notes.is_empty() {
        out.push('\n');
    }
    for (note, role) in notes {
        layout.paragraph(&mut out, &note, "! ", "  ", Some(role));
    }
    out.push('\n');
    layout.paragraph(&mut out, ABOUT, "", "", Some(Role::Dim));
    out
}

/// Writes the same tables as Markdown.
#[must_use]
pub fn markdown(document: &Document) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "## {}", escape::markdown(&provenance(document)));
    for family in Family::ALL {
        let figures = of_family(document, family);
        if figures.is_empty() {
            continue;
        }
        let shown = shown(&figures, true);
        let kept = |cells: Vec<String>| -> String {
            let cells: Vec<String> = cells
                .iter()
                .zip(shown)
                .filter(|(_, shown)| *shown)
                .map(|(cell, _)| escape::markdown(cell).into_owned())
                .collect();
            cells.join(" | ")
        };
        let mut headers: Vec<String> = HEADERS.iter().map(|header| (*header).to_owned()).collect();
        headers[0] = family.title().to_owned();
        let _ = writeln!(out, "\n| {} |", kept(headers));
        let count = shown.iter().filter(|shown| **shown).count();
        let _ = writeln!(out, "|---|{}", "---:|".repeat(count - 1));
        for figure in figures {
            let _ = writeln!(out, "| {} |", kept(cells(figure, "-")));
        }
    }
    let notes: Vec<String> = document
        .missing
        .iter()
        .map(|missing| {
            let what = missing.name.as_deref().unwrap_or(missing.family.title());
            format!("not measured: {what}: {}", missing.failure)
        })
        .chain(document.machine.notes.iter().map(|note| note.text.clone()))
        .chain(document.warnings.iter().map(|warning| warning.text.clone()))
        .collect();
    if !notes.is_empty() {
        out.push('\n');
    }
    for note in notes {
        let _ = writeln!(out, "- {}", escape::markdown(&note));
    }
    out
}

/// Writes one row for each figure, numbers in full.
#[must_use]
pub fn csv(document: &Document) -> String {
    let mut out = "id,family,name,path,format,unit,median,best,p90,repeats,repeat_ns,sm_clock_hz,power_w,temperature_c,\
                   throttle,sustained_median,sustained_sm_clock_hz,sustained_power_w,per_sm_cycle,\
                   architecture_per_sm_cycle,peak,counts,variant,checksum,peer_ordinal,peer_uuid,peer_link\n"
        .to_owned();
    let number = |number: Option<f64>| number.map_or_else(String::new, |number| number.to_string());
    for figure in &document.figures {
        let burst = &figure.burst;
        let kept = figure.sustained.as_ref();
        let peer = figure.peer.as_ref();
        let cells = [
            figure.id.clone(),
            figure.family.name().to_owned(),
            figure.name.clone(),
            figure.path.name().to_owned(),
            figure.format.clone().unwrap_or_default(),
            figure.unit.symbol().to_owned(),
            burst.median.to_string(),
            burst.best.to_string(),
            burst.p90.to_string(),
            burst.repeats.to_string(),
            burst.repeat_ns.to_string(),
            number(burst.sm_clock_hz),
            number(burst.state.power_w),
            number(burst.state.temperature_c),
            burst.state.throttle.join(" "),
            number(kept.map(|kept| kept.median)),
            number(kept.and_then(|kept| kept.sm_clock_hz)),
            number(kept.and_then(|kept| kept.state.power_w)),
            number(figure.per_sm_cycle),
            number(figure.architecture_per_sm_cycle),
            number(figure.peak),
            figure.counts.clone(),
            figure.variant.clone(),
            figure.checksum.clone().unwrap_or_default(),
            peer.map_or_else(String::new, |peer| peer.ordinal.to_string()),
            peer.and_then(|peer| peer.uuid.clone()).unwrap_or_default(),
            peer.and_then(|peer| peer.link)
                .map_or_else(String::new, |link| link.name().to_owned()),
        ];
        let cells: Vec<String> = cells
            .iter()
            .map(|cell| escape::csv(cell).into_owned())
            .collect();
        out.push_str(&cells.join(","));
        out.push('\n');
    }
    out
}
