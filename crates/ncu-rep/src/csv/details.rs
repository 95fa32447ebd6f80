//! The details page: a row per metric of a section or per message of a rule.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use super::number::{self, Style, Vote};
use super::{Kernel, Page, Reader, Rule, labels};
use crate::error::Kind;
use crate::metric::Value;
use crate::packed::PackedInstances;
use crate::report::{MessageKind, Speedup};

/// Columns that only this page has.
#[derive(Debug, Default)]
pub(super) struct Columns {
    section: Option<usize>,
    metric: Option<usize>,
    unit: Option<usize>,
    value: Option<usize>,
    rule: Option<usize>,
    rule_type: Option<usize>,
    text: Option<usize>,
    speedup_type: Option<usize>,
    speedup: Option<usize>,
}

impl Columns {
    /// The place for a column, by its title.
    pub(super) fn column(&mut self, title: &str) -> Option<&mut Option<usize>> {
        Some(match title {
            "Section Name" => &mut self.section,
            "Metric Name" => &mut self.metric,
            "Metric Unit" => &mut self.unit,
            "Metric Value" => &mut self.value,
            "Rule Name" => &mut self.rule,
            "Rule Type" => &mut self.rule_type,
            "Rule Description" => &mut self.text,
            "Estimated Speedup Type" => &mut self.speedup_type,
            "Estimated Speedup" => &mut self.speedup,
            _ => return None,
        })
    }

    /// Whether the header is one of this page.
    pub(super) fn is_complete(&self) -> bool {
        self.metric.is_some() && self.value.is_some()
    }
}

/// What rows of one launch have in common: its number, process and name.
type Key = (Option<u64>, Option<u64>, Arc<str>);

/// Reads the rows that belong to a header, which is the current row.
pub(super) fn read(reader: &mut Reader<'_>, columns: &super::Columns) {
    let Some(sections) = &columns.details else {
        return;
    };
    reader.accept();
    let style = style(reader, columns, sections);
    let mut launches: HashMap<Key, usize> = HashMap::new();
    // For each metric the last launch that has it: a metric may stand in several sections.
    let mut seen: Vec<usize> = Vec::new();
    while reader.next_row(columns) {
        let Some(kernel) = reader.kernel(columns, Page::Details) else {
            reader.reject();
            continue;
        };
        let is_cut = reader.check_cut(columns.count);
        let key = (kernel.id, kernel.place.process_id, Arc::clone(&kernel.name));
        let launch = *launches.entry(key).or_insert_with(|| {
            reader.push_kernel(kernel);
            reader.kernels.len().saturating_sub(1)
        });
        if let Some((slot, value)) = metric(reader, sections, style, launch, is_cut) {
            if seen.len() <= slot {
                seen.resize(slot.saturating_add(1), usize::MAX);
            }
            if let Some(last) = seen.get_mut(slot)
                && *last != launch
            {
                *last = launch;
                if let Some(kernel) = reader.kernels.get_mut(launch) {
                    kernel
                        .entries
                        .push(slot, value.as_ref(), &PackedInstances::default());
                }
            }
        }
        if let Some(rule) = rule(reader, sections, style)
            && let Some(kernel) = reader.kernels.get_mut(launch)
        {
            kernel.rules.push(rule);
        }
        reader.accept();
    }
}

/// The metric of the current row, if it has one.
fn metric(
    reader: &mut Reader<'_>,
    sections: &Columns,
    style: Style,
    launch: usize,
    is_cut: bool,
) -> Option<(usize, Option<Value<'static>>)> {
    let label = reader.row.cell(reader.text, sections.metric);
    if label.is_empty() {
        return None;
    }
    if sections.value.is_none_or(|index| index >= reader.row.len()) {
        if !is_cut {
            let reason = "the row of a metric ends before its value";
            reader.problem(Kind::Csv(Cow::Borrowed(reason)), reader.row.start, "row");
        }
        return None;
    }
    let section = reader.row.cell(reader.text, sections.section);
    let unit = reader.row.cell(reader.text, sections.unit);
    let major = reader
        .kernels
        .get(launch)
        .and_then(|kernel: &Kernel| kernel.place.compute_capability)
        .map(|(major, _)| major);
    let name = labels::metric_name(&section, &label, &unit, major)
        .unwrap_or_else(|| Cow::Owned(format!("{section}/{label}")));
    let slot = reader.slot(&name)?;
    let exponent = reader.exponent(&unit, reader.row.start);
    let cell = reader.row.cell(reader.text, sections.value);
    let value = reader.value(&cell, style, exponent);
    Some((slot, value))
}

/// The message of a rule in the current row, if it has one.
fn rule(reader: &mut Reader<'_>, sections: &Columns, style: Style) -> Option<Rule> {
    let row = &reader.row;
    let cell = |index| row.cell(reader.text, index);
    let name = cell(sections.rule);
    if name.is_empty() {
        return None;
    }
    let percent = cell(sections.speedup);
    let percent = number::number(percent.trim_end_matches(['%', ' ']), style, 0)
        .and_then(|value| value.number());
    let kind = match &*cell(sections.rule_type) {
        "INF" => MessageKind::Ok,
        "WRN" => MessageKind::Warning,
        "OPT" => MessageKind::Optimisation,
        "ERR" => MessageKind::Error,
        _ => MessageKind::None,
    };
    // Versions that state no kind estimate the whole kernel.
    let is_global = cell(sections.speedup_type) != "local";
    let (section, text) = (cell(sections.section), cell(sections.text));
    Some(Rule {
        section: reader.word(&section),
        name: reader.word(&name),
        kind,
        text: reader.word(&text),
        speedup: percent.map(|percent| Speedup { is_global, percent }),
    })
}

/// How numbers are written, from the rows ahead.
fn style(reader: &mut Reader<'_>, columns: &super::Columns, sections: &Columns) -> Style {
    let start = reader.place;
    let mut vote = Vote::default();
    while !vote.is_settled() && reader.next_row(columns) {
        for index in [sections.value, sections.speedup] {
            vote.add(&reader.row.cell(reader.text, index));
        }
        match reader.kernel(columns, Page::Details) {
            Some(_) => reader.accept(),
            None => reader.reject(),
        }
    }
    reader.place = start;
    vote.style(columns.separator)
}
