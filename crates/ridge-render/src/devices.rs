//! The table of devices, and the page of one, for people and for spreadsheets.

use ridge_model::Devices;
use ridge_model::device::document::{Device, Document, Peak, Value};
use ridge_model::device::{Confidence, PeakUnit};
use ridge_model::quantity::{Amount, Bandwidth, Bytes, Hertz, Intensity, Unit, grouped};
use ridge_model::{Device as Known, NumberFormat};

use crate::escape;
use crate::page::Layout;
use crate::style::Role;
use crate::table::{Column, Table};

/// Below this width some columns of the table are left out.
const WIDE_TABLE: usize = 114;
/// Below this width some columns of the peaks are left out.
const WIDE_PEAKS: usize = 100;

/// Writes the page: a table of several devices, or everything about one.
#[must_use]
pub fn text(document: &Document, layout: &Layout) -> String {
    match document.devices.as_slice() {
        [device] => one(device, layout),
        devices => table(devices, layout),
    }
}

fn table(devices: &[Device], layout: &Layout) -> String {
    let is_wide = layout.columns >= WIDE_TABLE;
    let columns = [
        (true, Column::left("device").truncated(1, 12)),
        // Where there is no room for the word, a mark warns.
        (!is_wide, Column::left("")),
        (true, Column::right("cc")),
        (true, Column::right("SMs")),
        (true, Column::right("memory")),
        (true, Column::right("bandwidth")),
        (is_wide, Column::right("L2")),
        (true, Column::right("FP32")),
        (true, Column::right("FP16 tensor")),
        (is_wide, Column::right("FP8 tensor")),
        (is_wide, Column::left("confidence")),
    ];
    let shown = columns.each_ref().map(|(is_shown, _)| *is_shown);
    let mut table = Table::new(kept(shown, columns.map(|(_, column)| column)));
    let absent = || layout.charset.absent().to_owned();
    for device in devices {
        let of = |format, unit| {
            let usual = |peak: &&Peak| {
                peak.input == format
                    && peak.unit == unit
                    && !peak.is_sparse
                    && (unit == PeakUnit::Vector || peak.accumulator == NumberFormat::Fp32)
            };
            device.peaks.iter().find(usual).map_or_else(absent, rate)
        };
        let cells = [
            device.name.clone(),
            match device.confidence {
                Confidence::Low => "?".to_owned(),
                Confidence::Medium | Confidence::High => String::new(),
            },
            device.compute_capability.clone(),
            device.multiprocessors.map_or_else(absent, count),
            device
                .memory_bytes
                .map_or_else(absent, |fact| Bytes::new(fact.value).to_string()),
            device.bandwidth_bytes_per_s.map_or_else(absent, bandwidth),
            device
                .l2_bytes
                .map_or_else(absent, |fact| Bytes::new(fact.value).binary().to_string()),
            of(NumberFormat::Fp32, PeakUnit::Vector),
            of(NumberFormat::Fp16, PeakUnit::Tensor),
            of(NumberFormat::Fp8E4m3, PeakUnit::Tensor),
            device.confidence.name().to_owned(),
        ];
        table.row(kept(shown, cells));
    }
    let mut out = table.render(layout.columns, layout.charset, layout.painter);
    out.push('\n');
    layout.paragraph(
        &mut out,
        "Dense peaks; tensor peaks with FP32 accumulate. `ridge devices NAME` shows all peaks of one device, their \
         sources and what is doubtful.",
        "",
        "",
        Some(Role::Dim),
    );
    let is_low = |device: &Device| device.confidence == Confidence::Low;
    if !is_wide && devices.iter().any(is_low) {
        layout.paragraph(
            &mut out,
            "? marks rows of low confidence, whose figures have to be checked before they are relied on.",
            "",
            "",
            Some(Role::Warning),
        );
    }
    out
}

fn count(fact: Value) -> String {
    format!("{:.0}", fact.value)
}

fn bandwidth(fact: Value) -> String {
    Bandwidth::new(fact.value).to_string()
}

fn rate(peak: &Peak) -> String {
    Amount::new(peak.operations_per_s, Unit::new(peak.rate_unit.clone())).to_string()
}

fn one(device: &Device, layout: &Layout) -> String {
    let mut out = String::new();
    layout.heading(
        &mut out,
        &format!(
            "{}, compute capability {}",
            device.name, device.compute_capability
        ),
    );
    if !device.aliases.is_empty() {
        let names = format!("the driver reports: {}", device.aliases.join(", "));
        layout.paragraph(&mut out, &names, "  ", "  ", None);
    }
    if !device.pci_ids.is_empty() {
        let ids = format!("PCI ids: {}", device.pci_ids.join(", "));
        layout.paragraph(&mut out, &ids, "  ", "  ", None);
    }
    out.push('\n');
    out.push_str(&figures(device, layout));
    out.push('\n');
    out.push_str(&peaks(device, layout));
    out.push('\n');
    layout.paragraph(
        &mut out,
        "A multiply-add is two operations. Derived peaks are SMs x operations of an SM in a cycle x clock. The ridge \
         point is the peak over the bandwidth of device memory. 2:4 is structured sparsity, whose skipped zeros count. \
         Unverified figures come from one secondary source.",
        "",
        "",
        Some(Role::Dim),
    );
    let trust = format!("confidence: {}", device.confidence.name());
    let text = match &device.doubts {
        Some(doubts) => format!("{trust}; to check: {doubts}"),
        None => trust,
    };
    let role = match device.confidence {
        Confidence::High => None,
        Confidence::Medium | Confidence::Low => Some(Role::Warning),
    };
    layout.paragraph(&mut out, &text, "", "  ", role);
    out
}

fn figures(device: &Device, layout: &Layout) -> String {
    type Text = fn(Value) -> String;
    let hertz: Text = |fact| format!("{:.4}", Hertz::new(fact.value));
    let bytes: Text = |fact| Bytes::new(fact.value).to_string();
    let binary: Text = |fact| format!("{:.4}", Bytes::new(fact.value).binary());
    let watts: Text = |fact| format!("{} W", fact.value);
    let rows: [(&str, Option<Value>, Text); 11] = [
        ("SMs", device.multiprocessors, count),
        ("SM clock", device.boost_clock_hz, hertz),
        ("SM clock of tensor peaks", device.tensor_clock_hz, hertz),
        ("memory", device.memory_bytes, bytes),
        ("memory bandwidth", device.bandwidth_bytes_per_s, bandwidth),
        ("L2", device.l2_bytes, binary),
        ("L2 bandwidth", device.l2_bandwidth_bytes_per_s, bandwidth),
        (
            "L1 bandwidth, all SMs",
            device.l1_bandwidth_bytes_per_s,
            bandwidth,
        ),
        (
            "host link, one direction",
            device.host_link_bytes_per_s,
            bandwidth,
        ),
        (
            "NVLink, one direction",
            device.nvlink_bytes_per_s,
            bandwidth,
        ),
        ("power limit", device.power_limit_w, watts),
    ];
    let mut table = Table::new([
        Column::left("figure"),
        Column::right("value"),
        Column::left("source"),
    ]);
    for (name, fact, text) in rows {
        let value = fact.map_or_else(|| layout.charset.absent().to_owned(), text);
        let source = fact.map_or("", |fact| fact.origin.name());
        table.row([name.to_owned(), value, source.to_owned()]);
    }
    table.render(layout.columns, layout.charset, layout.painter)
}

fn peaks(device: &Device, layout: &Layout) -> String {
    let absent = || layout.charset.absent().to_owned();
    let is_wide = layout.columns >= WIDE_PEAKS;
    let columns = [
        (true, Column::left("peak")),
        (true, Column::left("sum in")),
        (true, Column::right("rate")),
        (true, Column::right("clock")),
        (is_wide, Column::right("per SM and cycle")),
        (true, Column::right("ridge point")),
        (true, Column::left("source")),
    ];
    let shown = columns.each_ref().map(|(is_shown, _)| *is_shown);
    let mut table = Table::new(kept(shown, columns.map(|(_, column)| column)));
    for peak in &device.peaks {
        let sparse = if peak.is_sparse { ", 2:4" } else { "" };
        let cells = [
            format!("{} {}{sparse}", peak.input.peak_name(), peak.unit.name()),
            peak.accumulator.name().to_owned(),
            rate(peak),
            peak.clock_hz
                .map_or_else(absent, |clock| format!("{:.4}", Hertz::new(clock))),
            peak.operations_per_cycle.map_or_else(absent, per_cycle),
            peak.ridge_point.map_or_else(absent, |ridge| {
                Intensity::new(ridge).text(peak.input.is_integer())
            }),
            peak.origin.name().to_owned(),
        ];
        table.row(kept(shown, cells));
    }
    table.render(layout.columns, layout.charset, layout.painter)
}

/// Operations in a cycle: whole ones, but for rates that are a third of something.
fn per_cycle(count: f64) -> String {
    let whole = grouped(count as u64);
    if count.fract() == 0.0 {
        whole
    } else {
        let fraction = format!("{:.1}", count.fract());
        format!("{whole}{}", fraction.trim_start_matches('0'))
    }
}

/// The cells of the columns that there is room for.
fn kept<T, const N: usize>(shown: [bool; N], cells: [T; N]) -> impl Iterator<Item = T> {
    shown
        .into_iter()
        .zip(cells)
        .filter_map(|(is_shown, cell)| is_shown.then_some(cell))
}

/// Writes devices in the form that `--devices FILE` reads.
#[must_use]
pub fn csv<'d>(devices: impl IntoIterator<Item = &'d Known>) -> String {
    let mut out = Devices::columns().collect::<Vec<_>>().join(",");
    out.push('\n');
    for device in devices {
        let cells: Vec<String> = Devices::columns()
            .map(|column| device.cell(column).unwrap_or_default())
            .map(|cell| escape::csv(&cell).into_owned())
            .collect();
        out.push_str(&cells.join(","));
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_csv_is_a_table_of_devices() {
        let known = Devices::known();
        let again = Devices::parse(&csv(known.iter())).unwrap();
        assert_eq!(&again, known);
    }
}
