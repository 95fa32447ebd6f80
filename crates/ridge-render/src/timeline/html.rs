//! The page for the browser: one file that loads nothing. A script draws the lanes from what the page carries; tables and
//! findings are there without it. Names from inputs reach the page as text only.

use std::fmt::Write;

use ridge_model::quantity::{Bandwidth, Bytes, Nanos};
use ridge_trace::document::{Device, Document, Trace};
use ridge_trace::lanes::Lanes;
use serde::Serialize;

use super::svg::svg as picture;
use super::text::{percent, shown_name};
use super::{finding, pack, ranks, svg, words};
use crate::charset::Charset;
use crate::escape;
use crate::kernel_name::shorten;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
const BODY: &str = include_str!("page.html");

/// Nothing is loaded, not even from where the page comes from.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// Rows of a table; --format json and csv have all.
const MOST_ROWS: usize = 200;

#[derive(Serialize)]
struct Data<'d> {
    length_ns: u64,
    shades: Vec<ShadeData>,
    names: Vec<&'d str>,
    lanes: Vec<LaneData>,
}

#[derive(Serialize)]
struct ShadeData {
    id: u8,
    label: &'static str,
    class: &'static str,
    /// 0 bottom, 1 top, 2 middle.
    anchor: u8,
}

#[derive(Serialize)]
struct LaneData {
    label: String,
    count: usize,
    /// What is added to the names of the lane: each trace has names of its own.
    first_name: usize,
    length_ns: u64,
    events: String,
    levels: Vec<usize>,
    pyramid: String,
}

/// Writes the page: `lanes` are those of the document's traces.
///
/// # Errors
/// When a value cannot be written as JSON, which no document can cause.
pub fn html(document: &Document, lanes: &[Lanes]) -> serde_json::Result<String> {
    let data = serde_json::to_string(&data(document, lanes))?;
    let title = format!("Timeline of {}", svg::names(document));
    let mut page = String::with_capacity(data.len() + 100_000);
    page.push_str("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"");
    page.push_str(POLICY);
    page.push_str(
        "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
    );
    page.push_str(&escape::html_text(&title));
    page.push_str("</title>\n<style>");
    page.push_str(STYLE);
    page.push_str("</style>\n</head>\n<body>\n");
    let (head, foot) = BODY.split_once("<!-- tables -->").unwrap_or((BODY, ""));
    page.push_str(&head.replacen("<!-- heading -->", &heading(document), 1));
    page.push_str("<noscript>\n");
    page.push_str(&picture(document, lanes));
    page.push_str("</noscript>\n");
    for (place, trace) in document.traces.iter().enumerate() {
        tables(&mut page, document, trace, place);
    }
    warnings(&mut page, document);
    page.push_str(foot);
    page.push_str("<script type=\"application/json\" id=\"data\">");
    page.push_str(&escape::json_in_script(&data));
    page.push_str("</script>\n<script>\n");
    page.push_str(SCRIPT);
    page.push_str("</script>\n</body>\n</html>\n");
    Ok(page)
}

fn data<'d>(document: &Document, lanes: &'d [Lanes]) -> Data<'d> {
    let mut names: Vec<&str> = Vec::new();
    let mut rows = Vec::new();
    for (trace, lanes) in document.traces.iter().zip(lanes) {
        let first_name = names.len();
        names.extend(lanes.names.iter().map(String::as_str));
        rows.extend(lanes.lanes.iter().map(|lane| LaneData {
            label: if document.traces.len() > 1 {
                let rank = trace
                    .rank
                    .map_or_else(|| shown_name(&trace.file), |rank| format!("rank {rank}"));
                format!("{rank}: {}", lane.label)
            } else {
                lane.label.clone()
            },
            count: lane.events.len(),
            first_name,
            length_ns: lanes.length_ns,
            events: pack::events(lane),
            levels: lane.levels.iter().map(Vec::len).collect(),
            pyramid: pack::pyramid(lane),
        }));
    }
    Data {
        length_ns: lanes.iter().map(|lanes| lanes.length_ns).max().unwrap_or(1),
        shades: svg::shades(lanes)
            .into_iter()
            .map(|shade| ShadeData {
                id: shade as u8,
                label: shade.label(),
                class: svg::class(shade),
                anchor: match svg::anchored(shade) {
                    svg::Anchored::Bottom => 0,
                    svg::Anchored::Top => 1,
                    svg::Anchored::Middle => 2,
                },
            })
            .collect(),
        names,
        lanes: rows,
    }
}

fn heading(document: &Document) -> String {
    let mut out = String::new();
    if let Some(ranks) = &document.ranks {
        push(
            &mut out,
            format_args!(
                "<p class=\"verdict\"><strong>{}</strong>: {}</p>\n",
                escape::html_text(&ranks::heading(ranks)),
                escape::html_text(&ranks.title)
            ),
        );
    }
    for trace in &document.traces {
        let verdict = match &trace.verdict {
            Some(verdict) => verdict.title.as_str(),
            None => "no GPU events",
        };
        push(
            &mut out,
            format_args!(
                "<p class=\"verdict\"><strong>{}</strong>: {}</p>\n<p class=\"dim\">{}</p>\n",
                escape::html_text(&shown_name(&trace.file)),
                escape::html_text(verdict),
                escape::html_text(&words::origin(trace))
            ),
        );
        if let Some(range) = &trace.range {
            push(
                &mut out,
                format_args!(
                    "<p class=\"dim\">{}</p>\n",
                    escape::html_text(&words::range(range))
                ),
            );
        }
    }
    out
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // A text takes whatever is written to it.
    let _ = out.write_fmt(text);
}

fn tables(out: &mut String, document: &Document, trace: &Trace, place: usize) {
    let of = if document.traces.len() > 1 {
        format!(" of {}", escape::html_text(&shown_name(&trace.file)))
    } else {
        String::new()
    };
    if !trace.findings.is_empty() {
        push(
            out,
            format_args!(
                "<section aria-labelledby=\"f{place}\"><h2 id=\"f{place}\">Findings{of}</h2>\n"
            ),
        );
        for found in &trace.findings {
            push(
                out,
                format_args!(
                    "<article class=\"finding\"><h3>{}</h3><p>saves about {}, at most {} of the span ({})</p><p>{}</p><ul>",
                    escape::html_text(&found.id),
                    percent(found.saving_expected),
                    percent(found.saving_ceiling),
                    Nanos::new(found.saving_ceiling_ns),
                    escape::html_text(&found.title)
                ),
            );
            for action in &found.actions {
                push(out, format_args!("<li>{}</li>", escape::html_text(action)));
            }
            out.push_str("</ul><details><summary>Evidence</summary><ul>");
            for evidence in &found.evidence {
                push(
                    out,
                    format_args!("<li>{}</li>", escape::html_text(&finding::seen(evidence))),
                );
            }
            out.push_str("</ul></details></article>\n");
        }
        out.push_str("</section>\n");
    }
    for device in &trace.devices {
        let id = format!("{place}-{}", device.number);
        push(
            out,
            format_args!(
                "<section aria-labelledby=\"d{id}\"><h2 id=\"d{id}\">Device {}{of}</h2>\n",
                escape::html_text(&words::device(device))
            ),
        );
        split(out, device);
        kernels(out, device);
        transfers(out, device);
        gaps(out, device);
        out.push_str("</section>\n");
    }
}

/// The head of a table whose columns after the first ones are numbers.
fn table(out: &mut String, caption: &str, texts: &[&str], numbers: &[&str]) {
    push(
        out,
        format_args!(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}\"><table><caption>{caption}</caption><thead><tr>"
        ),
    );
    for text in texts {
        push(out, format_args!("<th scope=\"col\">{text}</th>"));
    }
    for text in numbers {
        push(
            out,
            format_args!("<th scope=\"col\" class=\"num\">{text}</th>"),
        );
    }
    out.push_str("</tr></thead><tbody>\n");
}

fn row(out: &mut String, texts: &[String], numbers: &[String]) {
    out.push_str("<tr>");
    for text in texts {
        push(out, format_args!("<td class=\"k\">{text}</td>"));
    }
    for text in numbers {
        push(
            out,
            format_args!("<td class=\"num\">{}</td>", escape::html_text(text)),
        );
    }
    out.push_str("</tr>\n");
}

fn end(out: &mut String, all: usize) {
    out.push_str("</tbody></table></div>\n");
    if all > MOST_ROWS {
        push(
            out,
            format_args!(
                "<p class=\"dim\">and {} more; --format json has all</p>\n",
                all - MOST_ROWS
            ),
        );
    }
}

fn time(ns: f64) -> String {
    Nanos::new(ns).to_string()
}

fn split(out: &mut String, device: &Device) {
    table(out, "Where the span goes", &["part"], &["time", "share"]);
    let share = |ns: f64| percent(ns / device.span_ns.max(1.0));
    for (what, ns) in [
        ("kernels", device.kernel_ns),
        ("copies", device.copy_ns),
        ("copies beside kernels", device.overlap_ns),
        ("memory set", device.memset_ns),
        ("idle", device.idle_ns),
        ("all", device.span_ns),
    ] {
        row(out, &[what.to_owned()], &[time(ns), share(ns)]);
    }
    end(out, 0);
}

/// What finds a name in the lanes, where long ones are cut.
fn searched(name: &str) -> &str {
    const ENOUGH: usize = 250;
    let end = name
        .char_indices()
        .nth(ENOUGH)
        .map_or(name.len(), |(end, _)| end);
    name.get(..end).unwrap_or(name)
}

fn kernels(out: &mut String, device: &Device) {
    table(
        out,
        "Kernels",
        &["kernel"],
        &["runs", "total", "share", "median", "p90", "longest"],
    );
    for kernel in device.kernels.iter().take(MOST_ROWS) {
        let times = &kernel.durations;
        let name = format!(
            "<button type=\"button\" data-search=\"{}\" title=\"{}\">{}</button>",
            escape::html_attribute(searched(&kernel.name)),
            escape::html_attribute(&kernel.name),
            escape::html_text(&shorten(&kernel.name, 90, Charset::Unicode))
        );
        row(
            out,
            &[name],
            &[
                times.count.to_string(),
                time(times.sum_ns),
                percent(kernel.time_share),
                time(times.median_ns),
                time(times.p90_ns),
                time(times.max_ns),
            ],
        );
    }
    end(out, device.kernels.len());
}

fn transfers(out: &mut String, device: &Device) {
    if device.transfers.is_empty() {
        return;
    }
    table(
        out,
        "Copies",
        &["direction", "host memory"],
        &["runs", "bytes", "total", "rate", "of the link"],
    );
    for transfer in &device.transfers {
        let absent = || "–".to_owned();
        row(
            out,
            &[
                transfer.kind.name().to_owned(),
                words::host_memory(transfer.kind, transfer.from, transfer.to),
            ],
            &[
                transfer.durations.count.to_string(),
                transfer
                    .bytes
                    .map_or_else(absent, |bytes| Bytes::from_count(bytes).to_string()),
                time(transfer.durations.sum_ns),
                transfer
                    .rate_bytes_per_s
                    .map_or_else(absent, |rate| Bandwidth::new(rate).to_string()),
                transfer
                    .link_share
                    .filter(|_| transfer.is_rate_of_large)
                    .map_or_else(absent, percent),
            ],
        );
    }
    end(out, 0);
}

fn gaps(out: &mut String, device: &Device) {
    if device.gaps.longest.is_empty() {
        return;
    }
    table(out, "Longest gaps", &["at", "why", "between"], &["length"]);
    for gap in &device.gaps.longest {
        let at = format!(
            "<button type=\"button\" data-start=\"{}\" data-length=\"{}\">{}</button>",
            gap.start_ns,
            gap.length_ns,
            time(gap.start_ns)
        );
        let why = match gap.cause {
            Some(cause) => words::cause(cause, gap.call.as_deref()),
            None => words::gap(gap.class).to_owned(),
        };
        let between = format!(
            "{} and {}",
            shorten(&gap.before, 40, Charset::Unicode),
            shorten(&gap.behind, 40, Charset::Unicode)
        );
        row(
            out,
            &[
                at,
                escape::html_text(&why).into_owned(),
                escape::html_text(&between).into_owned(),
            ],
            &[time(gap.length_ns)],
        );
    }
    end(out, 0);
}

fn warnings(out: &mut String, document: &Document) {
    /// More are counted only.
    const MOST: usize = 20;
    if document.warnings.is_empty() {
        return;
    }
    out.push_str("<section aria-labelledby=\"warnings-title\" id=\"warnings\"><h2 id=\"warnings-title\">Warnings</h2>\n");
    for warning in document.warnings.iter().take(MOST) {
        push(
            out,
            format_args!("<p>{}</p>\n", escape::html_text(&warning.message)),
        );
    }
    if document.warnings.len() > MOST {
        push(
            out,
            format_args!(
                "<p>and {} more; --format json lists all</p>\n",
                document.warnings.len() - MOST
            ),
        );
    }
    out.push_str("</section>\n");
}
