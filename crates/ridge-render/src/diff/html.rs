//! The page for the browser: one file that loads nothing and runs nothing. Names from inputs reach it as text only.

use std::fmt::Write;

use ridge_compare::Verdict;
use ridge_compare::document::Document;
use ridge_compare::kernels::document::{Alone, Held, KernelPair, Kernels, Outcome};
use ridge_model::quantity::counted;
use ridge_model::roofline::document::Document as Roofline;

use super::part::Part;
use super::words;
use crate::charset::Charset;
use crate::escape;
use crate::kernel_name::shorten;
use crate::roofline::{Picture, svg};

const STYLE: &str = include_str!("page.css");

/// Nothing is loaded and no script runs.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";
/// Pairs with a part of their own; a browser shows no more in a moment.
const MOST_PARTS: usize = 100;
/// Pairs with a row in the first table.
const MOST_ROWS: usize = 1000;
const MOST_ALONE: usize = 200;
const NAME: usize = 90;

/// Writes the page. `roofline` holds the points of both sides and the pairs that arrows join.
#[must_use]
pub fn html(document: &Document, roofline: Option<(&Roofline, Picture)>) -> String {
    let title = format!("{} → {}", document.before, document.after);
    let mut out = [
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
        "<meta http-equiv=\"Content-Security-Policy\" content=\"",
        POLICY,
        "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
        "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
        &safe(&title),
        "</title>\n<style>",
        STYLE,
        "</style>\n</head>\n<body>\n<header><h1>",
        &safe(&title),
        "</h1>",
        &document.verdict.map_or_else(String::new, badge),
        "</header>\n",
    ]
    .concat();
    for note in &document.warnings {
        let _ = writeln!(out, "<p class=\"warning\">{}</p>", safe(&words::note(note)));
    }
    if let Some((roofline, picture)) = roofline {
        let _ = writeln!(
            out,
            "<section id=\"roofline\"><h2>Roofline</h2>\n<figure>{}</figure></section>",
            svg(roofline, picture)
        );
    }
    if let Some(kernels) = &document.kernels {
        write_kernels(&mut out, kernels);
    }
    for part in super::parts(document) {
        write_part(&mut out, &part);
    }
    out.push_str("</body>\n</html>\n");
    out
}

fn write_part(out: &mut String, part: &Part) {
    let _ = writeln!(out, "<section><h2>{}</h2>", safe(&part.title));
    if !part.lines.is_empty() {
        out.push_str("<ul>");
        for line in &part.lines {
            let class = line.verdict.map_or_else(String::new, |verdict| {
                format!(" class=\"{}\"", verdict.word().to_ascii_lowercase())
            });
            let _ = write!(out, "<li{class}>{}</li>", safe(&line.text));
        }
        out.push_str("</ul>\n");
    }
    if !part.rows.is_empty() {
        out.push_str("<table><thead><tr>");
        for (header, _) in &part.columns {
            let _ = write!(out, "<th>{}</th>", safe(header));
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for row in part.rows.iter().take(MOST_ROWS) {
            out.push_str("<tr>");
            for (cell, (_, is_number)) in row.iter().zip(&part.columns) {
                let class = if *is_number { " class=\"num\"" } else { "" };
                let _ = write!(out, "<td{class}>{}</td>", safe(cell));
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody></table>\n");
        more(
            out,
            part.rows.len(),
            MOST_ROWS,
            &format!("more {}", part.what),
        );
    }
    out.push_str("</section>\n");
}

fn safe(text: &str) -> String {
    escape::html_text(text).into_owned()
}

fn badge(verdict: Verdict) -> String {
    format!(
        "<strong class=\"badge {}\">{verdict}</strong>",
        verdict.word().to_ascii_lowercase()
    )
}

fn write_kernels(out: &mut String, kernels: &Kernels) {
    if kernels.pairs.len() > 1 {
        let _ = writeln!(
            out,
            "<section id=\"pairs\"><h2>{}</h2>",
            safe(&words::tally(&kernels.pairs))
        );
        if let Some(totals) = words::totals(kernels) {
            let _ = writeln!(out, "<p>{}</p>", safe(&totals));
        }
        out.push_str("<table><thead><tr><th>kernel</th><th>verdict</th><th>before</th><th>after</th><th>ratio</th><th>limit</th></tr></thead>\n<tbody>\n");
        for pair in kernels.pairs.iter().take(MOST_ROWS) {
            let time = &pair.time;
            let _ = writeln!(
                out,
                "<tr><td>{}</td><td>{}</td><td class=\"num\">{}</td><td class=\"num\">{}</td><td class=\"num\">{}</td><td>{}</td></tr>",
                safe(&shorten(&words::names(pair), NAME, Charset::Unicode)),
                badge(time.verdict),
                words::nanos(time.before_ns),
                words::nanos(time.after_ns),
                time.ratio
                    .map_or_else(|| words::ABSENT.to_owned(), words::ratio),
                safe(&pair.limiter.sentence),
            );
        }
        out.push_str("</tbody></table>\n");
        more(out, kernels.pairs.len(), MOST_ROWS, "more pair");
        out.push_str("</section>\n");
    }
    for pair in kernels.pairs.iter().take(MOST_PARTS) {
        write_pair(out, pair);
    }
    more(out, kernels.pairs.len(), MOST_PARTS, "more pair");
    write_alone(out, "Only before", &kernels.only_before);
    write_alone(out, "Only after", &kernels.only_after);
}

fn write_pair(out: &mut String, pair: &KernelPair) {
    let time = &pair.time;
    let _ = writeln!(
        out,
        "<section class=\"pair\"><h2>{}</h2>\n<p class=\"dim\">{}</p>",
        safe(&shorten(&words::names(pair), NAME, Charset::Unicode)),
        safe(&words::matched(pair))
    );
    let _ = writeln!(
        out,
        "<p class=\"time\">{} {} <span class=\"dim\">by {}</span></p>",
        badge(time.verdict),
        safe(&words::times(time)),
        safe(time.origin.words())
    );
    let clocks = words::clocks(time);
    let reasons: Vec<&str> = time
        .reasons
        .iter()
        .chain(&time.next_step)
        .chain(&clocks)
        .map(String::as_str)
        .collect();
    list(out, "", &reasons);
    let _ = writeln!(
        out,
        "<p class=\"limit\">{}</p>",
        safe(&pair.limiter.sentence)
    );
    write_ledger(out, pair);
    write_flaws(out, pair);
    let worse: Vec<&str> = words::worse(pair).collect();
    list(out, "Worse", &worse);
    let figures: Vec<String> = pair
        .work
        .iter()
        .filter(|figure| words::moved(figure))
        .map(words::figure)
        .collect();
    list(out, "Work", &refs(&figures));
    let figures: Vec<String> = pair.mechanism.iter().map(words::figure).collect();
    list(
        out,
        "How (this explains; time and ledger decide)",
        &refs(&figures),
    );
    list(out, "Left", &[&pair.left.sentence]);
    for warning in &pair.warnings {
        let _ = writeln!(
            out,
            "<p class=\"warning\">{}</p>",
            safe(&words::warning(warning))
        );
    }
    out.push_str("</section>\n");
}

fn refs(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

fn list(out: &mut String, title: &str, texts: &[&str]) {
    if texts.is_empty() {
        return;
    }
    if !title.is_empty() {
        let _ = writeln!(out, "<h3>{}</h3>", safe(title));
    }
    out.push_str("<ul>");
    for text in texts {
        let _ = write!(out, "<li>{}</li>", safe(text));
    }
    out.push_str("</ul>\n");
}

fn write_ledger(out: &mut String, pair: &KernelPair) {
    let rows: Vec<_> = pair
        .ledger
        .iter()
        .filter(|row| words::matters(row))
        .collect();
    if rows.is_empty() {
        return;
    }
    out.push_str("<table class=\"ledger\"><thead><tr><th>resource</th><th>stage</th><th>before</th><th></th><th>bound</th><th>after</th><th></th><th>bound</th><th>demand</th></tr></thead>\n<tbody>\n");
    for row in rows {
        let (before, was) = words::busy(row.before.as_ref());
        let (after, is) = words::busy(row.after.as_ref());
        let bar = |busy: Option<&ridge_compare::kernels::document::Busy>, class: &str| {
            let share = busy.map_or(0.0, |busy| busy.share.clamp(0.0, 1.0));
            format!(
                "<span class=\"bar {class}\" style=\"width:{:.0}px\"></span>",
                100.0 * share
            )
        };
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td>{}</td><td class=\"num\">{before}</td><td class=\"meter\">{}</td><td class=\"num\">{was}</td><td class=\"num\">{after}</td><td class=\"meter\">{}</td><td class=\"num\">{is}</td><td>{}</td></tr>",
            row.resource.label(),
            safe(&words::stage(row)),
            bar(row.before.as_ref(), "was"),
            bar(row.after.as_ref(), "is"),
            safe(&words::demand(row)),
        );
    }
    out.push_str("</tbody></table>\n");
}

fn write_flaws(out: &mut String, pair: &KernelPair) {
    if pair.flaws.is_empty() {
        return;
    }
    out.push_str("<h3>Flaws</h3>\n<ul class=\"flaws\">\n");
    for flaw in &pair.flaws {
        let class = if flaw.outcome == Outcome::Gone {
            "good"
        } else {
            "open"
        };
        let _ = write!(
            out,
            "<li class=\"{class}\"><strong>{}</strong>: {}<br><span class=\"dim\">{}</span>",
            safe(&flaw.id),
            safe(&words::flaw(flaw)),
            safe(&flaw.title)
        );
        if !flaw.verify.is_empty() {
            out.push_str("<ul>");
            for verify in &flaw.verify {
                let class = match verify.outcome {
                    Held::Held => "good",
                    Held::NotHeld => "open",
                    Held::CannotTell | Held::NotMeasured => "dim",
                };
                let _ = write!(
                    out,
                    "<li class=\"{class}\">{}</li>",
                    safe(&words::verify(verify))
                );
            }
            out.push_str("</ul>");
        }
        out.push_str("</li>\n");
    }
    out.push_str("</ul>\n");
}

fn write_alone(out: &mut String, title: &str, list: &[Alone]) {
    if list.is_empty() {
        return;
    }
    let _ = writeln!(out, "<section><h2>{}</h2>\n<ul>", safe(title));
    for alone in list.iter().take(MOST_ALONE) {
        let name = shorten(&alone.kernel.signature, NAME, Charset::Unicode);
        let _ = writeln!(
            out,
            "<li>{}: {}</li>",
            safe(&name),
            words::nanos(alone.total_ns)
        );
    }
    out.push_str("</ul>\n");
    more(out, list.len(), MOST_ALONE, "more kernel");
    out.push_str("</section>\n");
}

fn more(out: &mut String, count: usize, shown: usize, what: &str) {
    let more = count.saturating_sub(shown);
    if more > 0 {
        let _ = writeln!(
            out,
            "<p class=\"dim\">and {}; <code>--format json</code> lists all</p>",
            safe(&counted(more as u64, what))
        );
    }
}
