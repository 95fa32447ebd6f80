//! Numbers over commits: `ridge history plot` and `ridge history changes`.

use std::collections::BTreeSet;

use ridge_history::changes::document;
use ridge_history::changes::document::Document;
use ridge_history::{Filter, Observation, Series, SeriesKey, Store};

use crate::args::{HistoryFormat, PlotFormat};
use crate::error::ExpectedError;
use crate::exit::{self, Code};
use crate::history::{StorePlace, expected};
use crate::output::Output;
use crate::verbs::devices::layout;

/// Charts that are looked at together. More are counted.
const MOST_CHARTS: usize = 6;
/// Subjects that are named where none of them was meant.
const SHOWN: usize = 6;
/// The word for all metrics.
const ALL: &str = "all";

/// Which series to look at.
pub(crate) struct WantedSeries {
    pub(crate) subjects: Vec<String>,
    /// What the metric begins with; times where nothing is said.
    pub(crate) metric: Option<String>,
    pub(crate) filter: Filter,
}

impl WantedSeries {
    fn has(&self, key: &SeriesKey) -> bool {
        let subject = self.subjects.is_empty()
            || self
                .subjects
                .iter()
                .any(|wanted| key.subject.contains(wanted.as_str()));
        let metric = match self.metric.as_deref() {
            Some(ALL) => true,
            Some(wanted) => key.metric.starts_with(wanted),
            None => key.unit == "ns",
        };
        // The filter of results asks for those that have a point about it; others of their points are not meant.
        let exact = self.filter.subject.as_ref();
        subject && metric && exact.is_none_or(|exact| key.subject == *exact)
    }
}

pub(super) fn plot(
    place: &StorePlace,
    wanted: &WantedSeries,
    format: Option<PlotFormat>,
    output: &Output,
) -> Result<Code, ExpectedError> {
    let format = plot_format(format, output)?;
    let document = read(place, wanted, MOST_CHARTS, output)?;
    match format {
        PlotFormat::Text => {
            output.write(&ridge_render::series::text(&document, &layout(output)))?
        }
        PlotFormat::Json => output.json(&document)?,
        PlotFormat::Svg => output.write(&ridge_render::series::svg(&document))?,
        PlotFormat::Html => {
            let page = ridge_render::series::html(&document).map_err(|error| {
                ExpectedError::internal(format!("cannot write the document: {error}"))
            })?;
            output.write(&page)?;
        }
    }
    Ok(exit::FINE)
}

pub(super) fn changes(
    place: &StorePlace,
    wanted: &WantedSeries,
    format: Option<HistoryFormat>,
    output: &Output,
) -> Result<Code, ExpectedError> {
    let format = super::format(format, output)?;
    let mut document = read(place, wanted, usize::MAX, output)?;
    match format {
        HistoryFormat::Text => {
            output.write(&ridge_render::series::changes(&document, &layout(output)))?;
        }
        HistoryFormat::Json => {
            for series in &mut document.series {
                series.points = None;
            }
            output.json(&document)?;
        }
    }
    Ok(exit::FINE)
}

/// Reads the series that are meant and looks for changes in them. Of too many, those that were measured last.
fn read(
    place: &StorePlace,
    wanted: &WantedSeries,
    most: usize,
    output: &Output,
) -> Result<Document, ExpectedError> {
    let mut store = place.open_existing()?;
    let there = store
        .series(&wanted.filter)
        .map_err(|error| expected(&error))?;
    let mut chosen: Vec<Series> = there
        .iter()
        .filter(|series| wanted.has(&series.key))
        .cloned()
        .collect();
    if chosen.is_empty() {
        return Err(nothing(store.as_ref(), wanted, &there));
    }
    let left_out = chosen.len().saturating_sub(most);
    if left_out > 0 {
        chosen.sort_by(|a, b| b.last.cmp(&a.last).then_with(|| a.key.cmp(&b.key)));
        chosen.truncate(most);
        chosen.sort_by(|a, b| a.key.cmp(&b.key));
    }
    let filter = Filter {
        subject: None,
        ..wanted.filter.clone()
    };
    let mut series: Vec<(SeriesKey, Vec<Observation>)> = Vec::with_capacity(chosen.len());
    for one in chosen {
        let points = store
            .points(&one.key, &filter)
            .map_err(|error| expected(&error))?;
        series.push((one.key, points));
    }
    say_branches(&series, output);
    let document = document(
        series
            .iter()
            .map(|(key, points)| (key.clone(), points.as_slice())),
        left_out as u64,
    );
    Ok(document)
}

/// Results of other branches lie between those of the main one: what they change is no change of it.
fn say_branches(series: &[(SeriesKey, Vec<Observation>)], output: &Output) {
    let branches: BTreeSet<&str> = series
        .iter()
        .flat_map(|(_, points)| points)
        .filter_map(|point| point.revision.branch.as_deref())
        .collect();
    if branches.len() > 1 {
        output.note(&format!(
            "results of {} branches are mixed in order of time; --branch NAME leaves those of one",
            branches.len()
        ));
    }
}

fn nothing(store: &dyn Store, wanted: &WantedSeries, there: &[Series]) -> ExpectedError {
    let place = store.place();
    if there.is_empty() {
        return ExpectedError::usage(format!("no result in {place} is what was asked for"))
            .with_hint(
                "`ridge history list` lists the results; `ridge bench SPEC.toml --record` adds one",
            );
    }
    let has_subject = |of: &Series| {
        let mut wanted = wanted.subjects.iter();
        wanted.any(|wanted| of.key.subject.contains(wanted.as_str()))
    };
    let hint = if !wanted.subjects.is_empty() && !there.iter().any(has_subject) {
        let subjects: BTreeSet<&str> = there.iter().map(|of| of.key.subject.as_str()).collect();
        let some: Vec<&str> = subjects.iter().copied().take(SHOWN).collect();
        let more = match subjects.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!(
            "name a part of a subject, letter for letter; there are: {}{more}",
            some.join(", ")
        )
    } else if wanted.metric.is_none() {
        format!("only times were looked for; --metric {ALL} takes all")
    } else {
        let metrics: BTreeSet<&str> = there.iter().map(|of| of.key.metric.as_str()).collect();
        let some: Vec<&str> = metrics.into_iter().take(12).collect();
        format!("metrics that there are: {}", some.join(", "))
    };
    ExpectedError::usage(format!("no series in {place} is what was asked for")).with_hint(hint)
}

fn plot_format(format: Option<PlotFormat>, output: &Output) -> Result<PlotFormat, ExpectedError> {
    match (format, output.extension().as_deref()) {
        (Some(format), _) => Ok(format),
        (None, None | Some("txt" | "text" | "log")) => Ok(PlotFormat::Text),
        (None, Some("json")) => Ok(PlotFormat::Json),
        (None, Some("svg")) => Ok(PlotFormat::Svg),
        (None, Some("html" | "htm")) => Ok(PlotFormat::Html),
        (None, Some(other)) => Err(ExpectedError::usage(format!(
            "the extension {other:?} of the output file names no format of `ridge history plot`"
        ))
        .with_hint("say --format text, json, svg or html")),
    }
}
