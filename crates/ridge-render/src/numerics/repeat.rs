//! Runs of one program.

use ridge_model::quantity::grouped;
use ridge_numerics::determinism::document::{CauseName, Document, TensorVariation};
use ridge_numerics::measure::Number;

use super::parts::{figure, list, row};
use super::rows::{digits, number};
use crate::escape;
use crate::page::Layout;
use crate::style::Role;
use crate::table::{Column, Table};

const HEADS: [&str; 7] = [
    "tensor",
    "elements",
    "vary",
    "median steps",
    "most steps",
    "spread",
    "likely",
];

fn cells(tensor: &TensorVariation) -> [String; 7] {
    [
        format!(
            "{} {} {}",
            tensor.name.as_deref().unwrap_or("output"),
            tensor.format,
            list(&tensor.shape)
        ),
        grouped(tensor.elements),
        grouped(tensor.varying),
        format!("<= {}", grouped(tensor.median_steps)),
        grouped(tensor.max_steps),
        figure(tensor.max_relative),
        match tensor.cause {
            CauseName::None => "-",
            CauseName::RoundingOrder => "order of sums",
            CauseName::ElementOrder => "order of elements",
            CauseName::Race => "race",
            CauseName::UninitializedMemory => "uninitialized memory",
            CauseName::OtherInputs => "other inputs",
            CauseName::Unclear => "unclear",
        }
        .to_owned(),
    ]
}

fn counts(document: &Document) -> String {
    const MOST: usize = 12;
    let counts: Vec<String> = document
        .counts
        .iter()
        .take(MOST)
        .map(u64::to_string)
        .collect();
    let more = if document.counts.len() > MOST {
        ", ..."
    } else {
        ""
    };
    format!("runs that gave each output: {}{more}", counts.join(", "))
}

/// Elements to look at.
fn places(tensor: &TensorVariation) -> Vec<String> {
    let mut lines = vec![format!(
        "first at {}, {} of neighbours",
        list(&tensor.first),
        if tensor.stretches == 1 {
            "one stretch".to_owned()
        } else {
            format!("{} stretches", grouped(tensor.stretches))
        }
    )];
    if let Some(worst) = &tensor.worst {
        let digits = digits(&tensor.format);
        let end = |value: Option<f64>| {
            value.map_or_else(
                || "not finite".to_owned(),
                |value| number(Number::Finite(value), digits),
            )
        };
        let steps = worst.steps.map_or_else(
            || "NaN in some run".to_owned(),
            |steps| format!("{} steps", grouped(steps)),
        );
        lines.push(format!(
            "worst at {}: from {} to {} ({steps})",
            list(&worst.index),
            end(worst.lowest),
            end(worst.highest),
        ));
    }
    if tensor.not_finite > 0 {
        lines.push(format!(
            "{} NaN or infinite in some runs only",
            grouped(tensor.not_finite)
        ));
    }
    if tensor.implausible > 0 {
        lines.push(format!(
            "{} subnormal or huge in some run",
            grouped(tensor.implausible)
        ));
    }
    lines
}

const LEGEND: &str = "Steps are from number to number of the format (ULP). Spread is the distance between runs over the larger of the \
                      element and the root mean square of the output. The cause is a guess from sizes and places.";

/// Writes the page.
#[must_use]
pub fn text(document: &Document, layout: &Layout) -> String {
    let mut out = String::new();
    let (word, role) = if document.is_identical {
        ("REPEATS", Role::Good)
    } else {
        ("DIFFERS", Role::Bad)
    };
    layout.paragraph(
        &mut out,
        &format!("{word}  {}", document.sentence),
        "",
        "         ",
        Some(role),
    );
    if document.is_identical {
        return out;
    }
    layout.paragraph(&mut out, &counts(document), "", "  ", None);
    if !document.tensors.is_empty() {
        out.push('\n');
        let [first, rest @ .., last] = HEADS;
        let mut table = Table::new(
            std::iter::once(Column::left(first).truncated(1, 12))
                .chain(rest.map(Column::right))
                .chain([Column::left(last)])
                .collect::<Vec<_>>(),
        );
        for tensor in &document.tensors {
            table.row(cells(tensor));
        }
        out.push_str(&table.render(layout.columns, layout.charset, layout.painter));
        for tensor in &document.tensors {
            for line in places(tensor) {
                let line = match &tensor.name {
                    Some(name) if document.tensors.len() > 1 => format!("{name}: {line}"),
                    _ => line,
                };
                layout.paragraph(&mut out, &line, "  ", "    ", None);
            }
        }
    }
    out.push('\n');
    layout.paragraph(
        &mut out,
        &format!("likely: {}", document.cause.words()),
        "",
        "  ",
        Some(Role::Emphasis),
    );
    for action in &document.actions {
        layout.paragraph(&mut out, action, "* ", "  ", None);
    }
    for command in &document.commands {
        // A command is not broken into lines, so that it can be copied.
        out.push_str("  ");
        out.push_str(&escape::terminal(command));
        out.push('\n');
    }
    if !document.tensors.is_empty() {
        out.push('\n');
        layout.paragraph(&mut out, LEGEND, "", "", Some(Role::Dim));
    }
    out
}

/// Writes the same as Markdown.
#[must_use]
pub fn markdown(document: &Document) -> String {
    let word = if document.is_identical {
        "REPEATS"
    } else {
        "DIFFERS"
    };
    let mut out = format!("**{word}**: {}\n", escape::markdown(&document.sentence));
    if document.is_identical {
        return out;
    }
    out.push('\n');
    out.push_str(&counts(document));
    out.push('\n');
    if !document.tensors.is_empty() {
        out.push('\n');
        row(&mut out, &HEADS);
        out.push_str("|---|---:|---:|---:|---:|---:|---|\n");
        for tensor in &document.tensors {
            row(&mut out, &cells(tensor).each_ref().map(String::as_str));
        }
    }
    out.push_str("\nLikely: ");
    out.push_str(document.cause.words());
    out.push_str("\n\n");
    for action in &document.actions {
        out.push_str("* ");
        out.push_str(&escape::markdown(action));
        out.push('\n');
    }
    for command in &document.commands {
        out.push_str("* ");
        out.push_str(&escape::markdown_code(command));
        out.push('\n');
    }
    out
}
