//! Kernels before and after, for the terminal.

use ridge_compare::kernels::document::{Alone, KernelPair, Kernels};
use ridge_model::quantity::counted;

use super::page::Page;
use super::words;
use crate::kernel_name::shorten;
use crate::style::Role;
use crate::table::{Column, Table};

/// Pairs that are shown whole without `-v`: those that took most time.
const MOST_WHOLE: usize = 3;
/// Kernels without a partner that are named without `-v`.
const MOST_ALONE: usize = 5;
/// Columns of a page from which on there is room for what was asked of a resource.
const DEMAND_FROM: usize = 110;
/// Columns of a name in a list.
const NAME: usize = 60;
/// Without `-v`, actions and figures that did not move are left out, and so many flaws are shown with what had to move.
const MOST_FLAWS: usize = 4;

pub(super) fn write(out: &mut String, kernels: &Kernels, layout: &Page<'_>) {
    let whole = if layout.is_verbose {
        kernels.pairs.len()
    } else {
        kernels.pairs.len().min(MOST_WHOLE)
    };
    if kernels.pairs.len() > 1 {
        layout.paragraph(out, &words::tally(&kernels.pairs), "", "  ", None);
        if let Some(text) = words::totals(kernels) {
            layout.paragraph(out, &text, "", "  ", None);
        }
    }
    for pair in &kernels.pairs[..whole] {
        out.push('\n');
        write_pair(out, pair, layout);
    }
    if kernels.pairs.len() > whole {
        out.push('\n');
        write_rest(out, &kernels.pairs[whole..], layout);
    }
    write_alone(out, "only before", &kernels.only_before, layout);
    write_alone(out, "only after", &kernels.only_after, layout);
    if !(kernels.only_before.is_empty() || kernels.only_after.is_empty()) {
        let text = "--match BEFORE=AFTER joins what was renamed";
        layout.paragraph(out, text, "", "  ", Some(Role::Dim));
    }
}

fn write_pair(out: &mut String, pair: &KernelPair, layout: &Page<'_>) {
    layout.heading(out, &words::names(pair));
    layout.paragraph(out, &words::matched(pair), "  ", "    ", Some(Role::Dim));
    let time = &pair.time;
    layout.paragraph(out, &words::times(time), "  time ", "    ", None);
    let verdict = format!(
        "{} {} by {}",
        words::role(time.verdict).mark(),
        time.verdict,
        time.origin.words()
    );
    layout.paragraph(out, &verdict, "  ", "    ", Some(words::role(time.verdict)));
    for reason in &time.reasons {
        layout.paragraph(out, reason, "    ", "      ", None);
    }
    if let Some(step) = &time.next_step {
        layout.paragraph(
            out,
            &format!("try: {step}"),
            "    ",
            "      ",
            Some(Role::Dim),
        );
    }
    if let Some(clocks) = words::clocks(time).filter(|_| layout.is_verbose) {
        layout.paragraph(out, &clocks, "    ", "      ", Some(Role::Dim));
    }
    layout.paragraph(out, &pair.limiter.sentence, "  limit ", "    ", None);
    if pair.limiter.is_borne_out == Some(false) {
        layout.paragraph(
            out,
            "the ledgers alone do not bear that out: a unit that no counter of the ledger shows is busier",
            "    ",
            "    ",
            Some(Role::Dim),
        );
    }
    write_ledger(out, pair, layout);
    write_flaws(out, pair, layout);
    for text in words::worse(pair) {
        let text = format!("{} worse: {text}", Role::Warning.mark());
        layout.paragraph(out, &text, "  ", "    ", Some(Role::Warning));
    }
    write_figures(out, pair, layout);
    layout.paragraph(out, &pair.left.sentence, "  left ", "    ", None);
    for warning in &pair.warnings {
        let text = format!("{} {}", Role::Warning.mark(), words::warning(warning));
        layout.paragraph(out, &text, "  ", "    ", Some(Role::Warning));
    }
}

fn write_ledger(out: &mut String, pair: &KernelPair, layout: &Page<'_>) {
    let has_demand = layout.columns >= DEMAND_FROM;
    let mut columns = vec![
        Column::left(" "),
        Column::left("resource"),
        Column::left("stage").truncated(2, 6),
        Column::right("before"),
        Column::right("bound"),
        Column::right("after"),
        Column::right("bound"),
    ];
    if has_demand {
        columns.push(Column::left("demand").truncated(3, 8));
    }
    let mut table = Table::new(columns);
    let rows = pair
        .ledger
        .iter()
        .filter(|row| layout.is_verbose || words::matters(row));
    for row in rows {
        let (before, was) = words::busy(row.before.as_ref());
        let (after, is) = words::busy(row.after.as_ref());
        let mut cells = vec![
            " ".to_owned(),
            row.resource.label().to_owned(),
            words::stage(row),
            before,
            was,
            after,
            is,
        ];
        if has_demand {
            cells.push(words::demand(row));
        }
        table.row(layout.cells(cells));
    }
    if !table.is_empty() {
        out.push('\n');
        out.push_str(&table.render(layout.columns, layout.charset, layout.painter));
        out.push('\n');
    }
}

fn write_flaws(out: &mut String, pair: &KernelPair, layout: &Page<'_>) {
    let most = if layout.is_verbose {
        usize::MAX
    } else {
        MOST_FLAWS
    };
    for flaw in pair.flaws.iter().take(most) {
        let role = words::outcome_role(flaw.outcome);
        let text = format!("{} {}: {}", role.mark(), flaw.id, words::flaw(flaw));
        layout.paragraph(out, &text, "  ", "    ", Some(role));
        for verify in &flaw.verify {
            layout.paragraph(out, &words::verify(verify), "      ", "        ", None);
        }
    }
    let more = pair.flaws.len().saturating_sub(most);
    if more > 0 {
        let text = format!("and {}; -v shows all", counted(more as u64, "more flaw"));
        layout.paragraph(out, &text, "  ", "    ", Some(Role::Dim));
    }
}

fn write_figures(out: &mut String, pair: &KernelPair, layout: &Page<'_>) {
    let text = |figures: &[ridge_compare::kernels::document::Figure]| -> String {
        let list: Vec<String> = figures
            .iter()
            .filter(|figure| layout.is_verbose || words::moved(figure))
            .map(words::figure)
            .collect();
        list.join("; ")
    };
    let work = text(&pair.work);
    if !work.is_empty() {
        layout.paragraph(out, &work, "  work ", "    ", None);
    }
    let mechanism = text(&pair.mechanism);
    if !mechanism.is_empty() {
        // A reader who sees longer stalls has to know that they decide nothing.
        let text = format!("{mechanism} (this explains; time and ledger decide)");
        layout.paragraph(out, &text, "  how ", "    ", Some(Role::Dim));
    }
}

/// The other pairs, a line each.
fn write_rest(out: &mut String, pairs: &[KernelPair], layout: &Page<'_>) {
    /// More lines are no page.
    const MOST: usize = 20;
    let mut table = Table::new([
        Column::left("verdict"),
        Column::left("kernel").truncated(1, 12),
        Column::right("before"),
        Column::right("after"),
        Column::left("limit").truncated(2, 12),
    ]);
    for pair in pairs.iter().take(MOST) {
        table.row(layout.cells([
            pair.time.verdict.word().to_owned(),
            shorten(&words::names(pair), NAME, layout.charset),
            words::nanos(pair.time.before_ns),
            words::nanos(pair.time.after_ns),
            pair.limiter.sentence.clone(),
        ]));
    }
    out.push_str(&table.render(layout.columns, layout.charset, layout.painter));
    let more = pairs.len().saturating_sub(MOST);
    if more > 0 {
        let text = format!("and {}; -v shows all", counted(more as u64, "more pair"));
        layout.paragraph(out, &text, "", "  ", Some(Role::Dim));
    }
}

fn write_alone(out: &mut String, title: &str, list: &[Alone], layout: &Page<'_>) {
    if list.is_empty() {
        return;
    }
    let most = if layout.is_verbose {
        usize::MAX
    } else {
        MOST_ALONE
    };
    out.push('\n');
    layout.paragraph(
        out,
        &format!("{title}: {}", counted(list.len() as u64, "kernel")),
        "",
        "  ",
        None,
    );
    for alone in list.iter().take(most) {
        let name = shorten(&alone.kernel.signature, NAME, layout.charset);
        let size = words::size(&alone.kernel).map_or_else(String::new, |size| format!(", {size}"));
        let text = format!("{name}{size}: {}", words::nanos(alone.total_ns));
        layout.paragraph(out, &text, "  ", "    ", None);
    }
    let more = list.len().saturating_sub(most);
    if more > 0 {
        let text = format!("and {}; -v shows all", counted(more as u64, "more kernel"));
        layout.paragraph(out, &text, "  ", "    ", Some(Role::Dim));
    }
}
