//! The page for the browser: one file that loads nothing. It carries the picture and a table of the changes, which are there
//! without its script; that tells about the result that one points at. Texts from the store reach the page as text only.

use std::collections::HashMap;
use std::fmt::Write;

use ridge_history::changes::document::{Document, PointRow, SeriesRow};
use serde::Serialize;

use super::picture::{self, HEIGHT, LEFT, RIGHT, WIDTH};
use super::scale::Scale;
use super::words;
use crate::escape;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
const BODY: &str = include_str!("page.html");

/// Nothing is loaded, not even from where the page comes from.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// What the script needs: the frame of the picture, and the points in columns.
#[derive(Serialize)]
struct Data<'d> {
    width: f64,
    left: f64,
    right: f64,
    height: f64,
    commits: Vec<&'d str>,
    series: Vec<SeriesData<'d>>,
}

#[derive(Serialize)]
struct SeriesData<'d> {
    title: String,
    top: f64,
    low_edge: f64,
    high_edge: f64,
    value: Vec<f64>,
    text: Vec<String>,
    interval: Vec<Option<String>>,
    samples: Vec<Option<u64>>,
    time: Vec<&'d str>,
    /// Places in `commits`.
    commit: Vec<Option<usize>>,
    dirty: Vec<bool>,
    changes: Vec<ChangeData>,
}

#[derive(Serialize)]
struct ChangeData {
    point: usize,
    text: String,
}

/// Writes the page.
///
/// # Errors
/// When a value cannot be written as JSON, which no document can cause.
pub fn html(document: &Document) -> serde_json::Result<String> {
    let data = serde_json::to_string(&data(document))?;
    let mut tables = String::new();
    for (place, series) in document.series.iter().enumerate() {
        table(&mut tables, place, series);
    }
    let (before, behind) = BODY.split_once("<!-- picture -->").unwrap_or((BODY, ""));
    let (between, foot) = behind.split_once("<!-- tables -->").unwrap_or((behind, ""));
    let title = match document.series.as_slice() {
        [one] => words::title(one),
        many => format!("{} series of results", many.len()),
    };
    Ok([
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"",
        POLICY,
        "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
        &escape::html_text(&title),
        "</title>\n<style>",
        STYLE,
        "</style>\n</head>\n<body>\n",
        before,
        &picture::svg(document),
        between,
        &tables,
        foot,
        "<script type=\"application/json\" id=\"data\">",
        &escape::json_in_script(&data),
        "</script>\n<script>\n",
        SCRIPT,
        "</script>\n</body>\n</html>\n",
    ]
    .concat())
}

fn data(document: &Document) -> Data<'_> {
    let mut commits = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    let series = document
        .series
        .iter()
        .enumerate()
        .map(|(place, series)| {
            let points = series.points.as_deref().unwrap_or_default();
            let scale = Scale::of(series);
            let value = |value: f64| words::value(value, &series.unit);
            let interval = |point: &PointRow| {
                let (low, high) = point.low.zip(point.high)?;
                Some(format!("{} to {}", value(low), value(high)))
            };
            SeriesData {
                title: words::title(series),
                top: picture::top_of(place),
                low_edge: scale.low,
                high_edge: scale.high,
                value: points.iter().map(|point| point.value).collect(),
                text: points.iter().map(|point| value(point.value)).collect(),
                interval: points.iter().map(interval).collect(),
                samples: points.iter().map(|point| point.samples).collect(),
                time: points.iter().map(|point| point.time.as_str()).collect(),
                commit: points
                    .iter()
                    .map(|point| {
                        let commit = point.commit.as_deref()?;
                        Some(*places.entry(commit).or_insert_with(|| {
                            commits.push(commit);
                            commits.len() - 1
                        }))
                    })
                    .collect(),
                dirty: points
                    .iter()
                    .map(|point| point.is_dirty == Some(true))
                    .collect(),
                changes: series
                    .changes
                    .iter()
                    .map(|change| ChangeData {
                        point: change.point,
                        text: words::sentence(change, &series.unit),
                    })
                    .collect(),
            }
        })
        .collect();
    Data {
        width: WIDTH,
        left: LEFT,
        right: RIGHT,
        height: HEIGHT,
        commits,
        series,
    }
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // A text takes whatever is written to it.
    let _ = out.write_fmt(text);
}

fn table(out: &mut String, place: usize, series: &SeriesRow) {
    push(
        out,
        format_args!(
            "<section aria-labelledby=\"s{place}\"><h2 id=\"s{place}\">{}</h2>\n",
            escape::html_text(&words::title(series))
        ),
    );
    if series.changes.is_empty() {
        push(
            out,
            format_args!(
                "<p class=\"dim\">{}</p>\n",
                escape::html_text(&words::nothing(series))
            ),
        );
    } else {
        out.push_str("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Changes\"><table><thead><tr><th scope=\"col\">commit</th><th scope=\"col\">day</th><th scope=\"col\" class=\"num\">change</th><th scope=\"col\">95 % interval</th><th scope=\"col\"></th><th scope=\"col\" class=\"num\">from</th><th scope=\"col\" class=\"num\">to</th><th scope=\"col\" class=\"num\">confidence</th></tr></thead><tbody>\n");
        for change in &series.changes {
            let judgement = words::judgement(change.is_worse, change.difference);
            push(
                out,
                format_args!(
                    "<tr><td><button type=\"button\" data-series=\"{place}\" data-point=\"{}\">{}</button></td><td>{}</td><td class=\"num\">{}</td><td>{}</td><td{}>{judgement}</td><td class=\"num\">{}</td><td class=\"num\">{}</td><td class=\"num\">{}</td></tr>\n",
                    change.point,
                    escape::html_text(&words::place(change)),
                    escape::html_text(words::day(&change.time)),
                    escape::html_text(&words::size(change, &series.unit)),
                    escape::html_text(&words::interval(change.ratio_low, change.ratio_high)),
                    if change.is_worse == Some(true) {
                        " class=\"worse\""
                    } else {
                        ""
                    },
                    escape::html_text(&words::value(change.level_before, &series.unit)),
                    escape::html_text(&words::value(change.level, &series.unit)),
                    escape::html_text(&words::confidence(change.confidence)),
                ),
            );
        }
        out.push_str("</tbody></table></div>\n");
    }
    for segment in &series.segments {
        if let Some(drift) = &segment.drift {
            push(
                out,
                format_args!(
                    "<p>{}</p>\n",
                    escape::html_text(&words::drift(series, segment, drift))
                ),
            );
        }
    }
    out.push_str("</section>\n");
}
