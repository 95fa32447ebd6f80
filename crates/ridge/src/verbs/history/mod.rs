//! `ridge history`: results of earlier runs.

mod compare;
mod exchange;
mod parquet;
mod series;

use std::ffi::OsString;

use ridge_history::json::{Entry, LISTING, Listing, VERSION};
use ridge_history::{Filter, Head, IdPrefix, Labels, Record, Store};
use ridge_model::quantity::counted;

use crate::args::{ExportedAs, HistoryFormat, PlotFormat};
use crate::error::ExpectedError;
use crate::exit::{self, Code};
use crate::history::{Opened, Project, Spool, StorePlace, expected};
use crate::output::Output;
use crate::verbs::devices::layout;

/// What to do with which store.
pub(crate) struct HistoryOptions {
    pub(crate) store: Option<OsString>,
    pub(crate) action: Action,
}

pub(crate) enum Action {
    List {
        filter: Filter,
        limit: u64,
        format: Option<HistoryFormat>,
    },
    Show {
        result: String,
        is_document: bool,
        format: Option<HistoryFormat>,
    },
    Compare {
        before: String,
        after: String,
        format: Option<HistoryFormat>,
    },
    Plot {
        wanted: WantedSeries,
        format: Option<PlotFormat>,
    },
    Changes {
        wanted: WantedSeries,
        format: Option<HistoryFormat>,
    },
    Prune {
        filter: Filter,
        is_dry: bool,
    },
    Import {
        files: Vec<OsString>,
        labels: Labels,
    },
    Export {
        filter: Filter,
        format: ExportedAs,
    },
    Merge {
        stores: Vec<OsString>,
    },
    Send,
}

pub(crate) use series::WantedSeries;

pub(crate) fn run(options: &HistoryOptions, output: &mut Output) -> Result<Code, ExpectedError> {
    let project = Project::find_for(options.store.as_deref(), output)?;
    let place = project.store(options.store.as_deref());
    match &options.action {
        Action::List {
            filter,
            limit,
            format,
        } => list(&place, filter, *limit, *format, output),
        Action::Show {
            result,
            is_document,
            format,
        } => {
            let mut store = place.open_existing()?;
            let record = find(store.as_mut(), result)?;
            if *is_document {
                return document(&record, output);
            }
            show(&record, *format, output)
        }
        Action::Compare {
            before,
            after,
            format,
        } => {
            let mut store = place.open_existing()?;
            let before = find(store.as_mut(), before)?;
            let after = find(store.as_mut(), after)?;
            compare::run(&before, &after, self::format(*format, output)?, output)
        }
        Action::Prune { filter, is_dry } => prune(&place, filter, *is_dry, output),
        Action::Import { files, labels } => exchange::import(&place, files, labels, output),
        Action::Plot { wanted, format } => series::plot(&place, wanted, *format, output),
        Action::Changes { wanted, format } => series::changes(&place, wanted, *format, output),
        Action::Export { filter, format } => match format {
            ExportedAs::Jsonl => exchange::export(&place, filter, output),
            ExportedAs::Parquet => parquet::export(&place, filter, output),
        },
        Action::Merge { stores } => exchange::merge(&place, stores, output),
        Action::Send => send(&project, &place, output),
    }
}

fn list(
    place: &StorePlace,
    filter: &Filter,
    limit: u64,
    format: Option<HistoryFormat>,
    output: &Output,
) -> Result<Code, ExpectedError> {
    let format = self::format(format, output)?;
    let mut store = place.open_existing()?;
    let total = store.count(filter).map_err(|error| expected(&error))?;
    let newest = Filter {
        limit: Some(limit),
        ..filter.clone()
    };
    let heads = store.list(&newest).map_err(|error| expected(&error))?;
    let listing = Listing {
        schema: LISTING,
        version: VERSION,
        store: store.place().to_owned(),
        total,
        results: heads.iter().map(Entry::from).collect(),
    };
    match format {
        HistoryFormat::Json => output.json(&listing)?,
        HistoryFormat::Text => {
            output.write(&ridge_render::history::list(&listing, &layout(output)))?;
        }
    }
    Ok(exit::FINE)
}

fn show(
    record: &Record,
    format: Option<HistoryFormat>,
    output: &Output,
) -> Result<Code, ExpectedError> {
    let whole = ridge_history::exchange::exchange(record).map_err(|error| expected(&error))?;
    match self::format(format, output)? {
        HistoryFormat::Json => output.json(&whole)?,
        HistoryFormat::Text => {
            output.write(&ridge_render::history::show(&whole, &layout(output)))?;
        }
    }
    Ok(exit::FINE)
}

/// Writes a document as the command wrote it.
fn document(record: &Record, output: &Output) -> Result<Code, ExpectedError> {
    let whole = ridge_history::exchange::exchange(record).map_err(|error| expected(&error))?;
    output.json(&whole.document)?;
    Ok(exit::FINE)
}

fn prune(
    place: &StorePlace,
    filter: &Filter,
    is_dry: bool,
    output: &Output,
) -> Result<Code, ExpectedError> {
    let mut store = place.open_existing()?;
    let words = if is_dry {
        let count = store.count(filter).map_err(|error| expected(&error))?;
        format!(
            "{} would be removed from {}",
            counted(count, "result"),
            store.place()
        )
    } else {
        let count = store.prune(filter).map_err(|error| expected(&error))?;
        format!(
            "{} removed from {}",
            counted(count, "result"),
            store.place()
        )
    };
    output.write(&line(&words))?;
    Ok(exit::FINE)
}

fn send(project: &Project, place: &StorePlace, output: &Output) -> Result<Code, ExpectedError> {
    let spool = Spool::of(project);
    if spool.waiting().is_empty() {
        output.write("no result waits\n")?;
        return Ok(exit::FINE);
    }
    let mut store = open_to_write(place)?;
    let sent = spool
        .send(store.as_mut(), output)
        .map_err(|error| expected(&error))?;
    let left = u64::try_from(spool.waiting().len()).unwrap_or(u64::MAX);
    let words = format!("{} to {}", exchange::words(sent), store.place());
    output.write(&line(&words))?;
    Ok(if left > 0 {
        exit::UNREADABLE
    } else {
        exit::FINE
    })
}

/// Opens a store that has to take results.
fn open_to_write(place: &StorePlace) -> Result<Opened, ExpectedError> {
    let store = place.open().map_err(|error| expected(&error))?;
    match store.refuses_writes() {
        Some(error) => Err(expected(&error)),
        None => Ok(store),
    }
}

/// The result that is meant by a word.
fn find(store: &mut dyn Store, word: &str) -> Result<Record, ExpectedError> {
    let newest = |filter: Filter, store: &mut dyn Store| {
        store.latest(&filter).map_err(|error| expected(&error))
    };
    let text = |text: &str| Some(text.to_owned());
    let head = match word.split_once(':') {
        _ if word == "latest" => newest(Filter::default(), store)?,
        Some(("branch", name)) => newest(
            Filter {
                branch: text(name),
                ..Filter::default()
            },
            store,
        )?,
        Some(("commit", digits)) => newest(
            Filter {
                commit: Some(digits.to_ascii_lowercase()),
                ..Filter::default()
            },
            store,
        )?,
        Some(("label", label)) => {
            let (name, value) = match label.split_once('=') {
                Some((name, value)) => (name, text(value)),
                None => (label, None),
            };
            newest(
                Filter {
                    labels: vec![(name.to_owned(), value)],
                    ..Filter::default()
                },
                store,
            )?
        }
        _ => by_identifier(store, word)?,
    };
    let place = store.place().to_owned();
    let none = || {
        ExpectedError::usage(format!("no result of {place} is {word:?}")).with_hint(
            "`ridge history list` lists them; a result is the first digits of its identifier, latest, branch:NAME, commit:DIGITS or label:NAME[=VALUE]",
        )
    };
    let Some(head) = head else {
        return Err(none());
    };
    let record = store.get(head.id).map_err(|error| expected(&error))?;
    record.ok_or_else(none)
}

fn by_identifier(store: &mut dyn Store, word: &str) -> Result<Option<Head>, ExpectedError> {
    let prefix: IdPrefix = word.parse().map_err(|error: ridge_history::Error| {
        expected(&error).with_hint(
            "a result is the first digits of its identifier, latest, branch:NAME, commit:DIGITS or label:NAME[=VALUE]",
        )
    })?;
    let filter = Filter {
        id: Some(prefix),
        limit: Some(2),
        ..Filter::default()
    };
    let mut found = store.list(&filter).map_err(|error| expected(&error))?;
    if found.len() > 1 {
        let ids: Vec<String> = found.iter().map(|head| head.id.to_string()).collect();
        return Err(
            ExpectedError::usage(format!("several results begin with {word}"))
                .with_hint(format!("say more digits: {}", ids.join(", "))),
        );
    }
    Ok(found.pop())
}

/// A line for the answer. Addresses and paths in it are those of the user, and still no escapes for the terminal.
fn line(words: &str) -> String {
    format!("{}\n", ridge_render::escape::terminal(words))
}

fn format(format: Option<HistoryFormat>, output: &Output) -> Result<HistoryFormat, ExpectedError> {
    match (format, output.extension().as_deref()) {
        (Some(format), _) => Ok(format),
        (None, None | Some("txt" | "text" | "log")) => Ok(HistoryFormat::Text),
        (None, Some("json")) => Ok(HistoryFormat::Json),
        (None, Some(other)) => Err(ExpectedError::usage(format!(
            "the extension {other:?} of the output file names no format of `ridge history`"
        ))
        .with_hint("say --format text or --format json")),
    }
}
