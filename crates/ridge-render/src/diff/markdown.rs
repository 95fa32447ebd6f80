//! The same for a pull request: what matters in a table, the rest folded.

use std::fmt::Write;

use ridge_compare::document::Document;
use ridge_compare::kernels::document::{Alone, KernelPair, Kernels};
use ridge_model::quantity::counted;

use super::part::Part;
use super::words;
use crate::charset::Charset;
use crate::escape;
use crate::kernel_name::shorten;

/// Pairs with a row; comments of forges have a limit of 65,536 characters.
const MOST_ROWS: usize = 50;
/// Pairs with a part of their own.
const MOST_PARTS: usize = 5;
/// Kernels without a partner that are named.
const MOST_ALONE: usize = 10;
const NAME: usize = 60;

/// Writes the page.
#[must_use]
pub fn markdown(document: &Document) -> String {
    let mut out = String::new();
    let verdict = document
        .verdict
        .map_or("nothing to compare", |verdict| verdict.word());
    let _ = writeln!(
        out,
        "## {verdict}: {} → {}\n",
        safe(&document.before),
        safe(&document.after)
    );
    for note in &document.warnings {
        let _ = writeln!(out, "* **warning** {}", safe(&words::note(note)));
    }
    if !document.warnings.is_empty() {
        out.push('\n');
    }
    if let Some(kernels) = &document.kernels {
        write_kernels(&mut out, kernels);
    }
    for part in super::parts(document) {
        write_part(&mut out, &part);
    }
    out
}

fn write_part(out: &mut String, part: &Part) {
    let _ = writeln!(out, "### {}\n", safe(&part.title));
    for line in &part.lines {
        let _ = writeln!(out, "* {}", safe(&line.text));
    }
    if !part.lines.is_empty() {
        out.push('\n');
    }
    if part.rows.is_empty() {
        return;
    }
    let headers: Vec<&str> = part.columns.iter().map(|(header, _)| *header).collect();
    let rule: Vec<&str> = part
        .columns
        .iter()
        .map(|(_, is_number)| if *is_number { "---:" } else { "---" })
        .collect();
    let _ = writeln!(out, "| {} |\n| {} |", headers.join(" | "), rule.join(" | "));
    for row in part.rows.iter().take(MOST_ROWS) {
        let cells: Vec<String> = row.iter().map(|cell| safe(cell)).collect();
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    more(
        out,
        part.rows.len(),
        MOST_ROWS,
        &format!("more {}", part.what),
    );
    out.push('\n');
}

fn safe(text: &str) -> String {
    escape::markdown(text).into_owned()
}

fn write_kernels(out: &mut String, kernels: &Kernels) {
    if !kernels.pairs.is_empty() {
        let _ = writeln!(out, "| kernel | verdict | before | after | ratio | limit |");
        let _ = writeln!(out, "|---|---|---:|---:|---:|---|");
    }
    for pair in kernels.pairs.iter().take(MOST_ROWS) {
        let time = &pair.time;
        let ratio = time
            .ratio
            .map_or_else(|| words::ABSENT.to_owned(), words::ratio);
        let _ = writeln!(
            out,
            "| {} | **{}** by {} | {} | {} | {ratio} | {} |",
            safe(&shorten(&words::names(pair), NAME, Charset::Unicode)),
            time.verdict,
            safe(time.origin.words()),
            words::nanos(time.before_ns),
            words::nanos(time.after_ns),
            safe(&pair.limiter.sentence),
        );
    }
    more(out, kernels.pairs.len(), MOST_ROWS, "more pair");
    for pair in kernels.pairs.iter().take(MOST_PARTS) {
        write_pair(out, pair);
    }
    write_alone(out, "Only before", &kernels.only_before);
    write_alone(out, "Only after", &kernels.only_after);
}

fn write_pair(out: &mut String, pair: &KernelPair) {
    let title = shorten(&words::names(pair), NAME, Charset::Unicode);
    let _ = writeln!(
        out,
        "\n<details><summary>{}</summary>\n",
        escape::html_text(&title)
    );
    let mut line = |text: &str| {
        let _ = writeln!(out, "* {}", safe(text));
    };
    line(&words::matched(pair));
    line(&words::times(&pair.time));
    for reason in &pair.time.reasons {
        line(reason);
    }
    if let Some(step) = &pair.time.next_step {
        line(&format!("try: {step}"));
    }
    for warning in &pair.warnings {
        line(&format!("warning: {}", words::warning(warning)));
    }
    for text in words::worse(pair) {
        line(&format!("worse: {text}"));
    }
    line(&format!("left: {}", pair.left.sentence));
    let rows: Vec<_> = pair
        .ledger
        .iter()
        .filter(|row| words::matters(row))
        .collect();
    if !rows.is_empty() {
        let _ = writeln!(
            out,
            "\n| resource | stage | before | bound | after | bound |"
        );
        let _ = writeln!(out, "|---|---|---:|---:|---:|---:|");
    }
    for row in rows {
        let (before, was) = words::busy(row.before.as_ref());
        let (after, is) = words::busy(row.after.as_ref());
        let _ = writeln!(
            out,
            "| {} | {} | {before} | {was} | {after} | {is} |",
            row.resource.label(),
            safe(&words::stage(row)),
        );
    }
    if !pair.flaws.is_empty() {
        let _ = writeln!(out, "\n| flaw | | what had to move |");
        let _ = writeln!(out, "|---|---|---|");
    }
    for flaw in &pair.flaws {
        let moved: Vec<String> = flaw
            .verify
            .iter()
            .map(|verify| safe(&words::verify(verify)))
            .collect();
        let _ = writeln!(
            out,
            "| {} | {} | {} |",
            safe(&flaw.id),
            safe(&words::flaw(flaw)),
            moved.join("<br>")
        );
    }
    let _ = writeln!(out, "\n</details>");
}

fn write_alone(out: &mut String, title: &str, list: &[Alone]) {
    if list.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{title}:\n");
    for alone in list.iter().take(MOST_ALONE) {
        let name = shorten(&alone.kernel.signature, NAME, Charset::Unicode);
        let _ = writeln!(out, "* {}: {}", safe(&name), words::nanos(alone.total_ns));
    }
    more(out, list.len(), MOST_ALONE, "more kernel");
}

fn more(out: &mut String, count: usize, shown: usize, what: &str) {
    let more = count.saturating_sub(shown);
    if more > 0 {
        let _ = writeln!(
            out,
            "\nand {}; `--format json` lists all",
            counted(more as u64, what)
        );
    }
}
