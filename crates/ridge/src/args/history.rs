//! The arguments of `ridge history`, and of recording.

use std::ffi::OsString;

use clap::{Args, Subcommand, ValueEnum};
use ridge_history::{Filter, Kind, Labels, Timestamp};

use crate::error::ExpectedError;
use crate::history::{Recording, expected, now};
use crate::verbs::history::{Action, HistoryOptions, WantedSeries};

pub(super) const EXAMPLES: &str = "\
Examples:
  ridge bench spec.toml --record              measure, and record the result
  ridge bench spec.toml --record=nightly,variant=tiled
                                              with labels
  ridge history list                          the newest results
  ridge history list --branch main --since 30d --kind bench
  ridge history show 3f2a91c0                 one result, by the first digits of its identifier
  ridge history compare branch:main latest    the newest of main against the newest of all
  ridge history plot copy --branch main       times over commits, with what changed
  ridge history plot copy -o copy.html        the same as a page to point at
  ridge history changes --since 30d           which commits made something slower or faster
  ridge history export -o all.jsonl.zst       everything, for another store
  ridge history export --format parquet -o results
                                              a folder of tables for DuckDB, Spark and pandas
  ridge history merge ../other/.ridge/history.db
  ridge history prune --before 90d --keep baseline

The store is the file .ridge/history.db of the project, unless --store, RIDGE_HISTORY or the settings
(`[history] store = …` in ridge.toml) name another file or the PostgreSQL server of a team, as
postgres://USER@HOST:PORT/DATABASE with the password in PGPASSWORD. docs/history.md tells more.";

/// Whether the result is recorded.
#[derive(Debug, Args)]
pub(super) struct RecordArgument {
    /// Record the result in the history of the project, with labels such as nightly or variant=tiled
    #[arg(
        long,
        value_name = "LABEL,…",
        num_args = 0..,
        require_equals = true,
        value_delimiter = ','
    )]
    record: Option<Vec<String>>,
}

impl RecordArgument {
    pub(super) fn recording(self) -> Result<Recording, ExpectedError> {
        let Some(words) = self.record else {
            return Ok(Recording::default());
        };
        let mut labels = Labels::default();
        for word in words.iter().filter(|word| !word.trim().is_empty()) {
            labels.add(word).map_err(|error| expected(&error))?;
        }
        Ok(Recording {
            asked: Some(labels),
        })
    }
}

#[derive(Debug, Args)]
pub(crate) struct HistoryArguments {
    #[command(subcommand)]
    action: ActionArguments,
    /// The store: a file, or postgres://USER@HOST:PORT/DATABASE [default: RIDGE_HISTORY, else that of the project]
    #[arg(long, global = true, value_name = "STORE")]
    store: Option<OsString>,
}

#[derive(Debug, Subcommand)]
enum ActionArguments {
    /// List results, newest first
    List {
        #[command(flatten)]
        filter: FilterArguments,
        /// List so many, the newest
        #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
        limit: u64,
        /// Format of the answer [default: text]
        #[arg(long, value_enum)]
        format: Option<HistoryFormat>,
    },
    /// Show one result with its numbers
    Show {
        /// The first digits of its identifier, or latest, branch:NAME, commit:DIGITS or label:NAME[=VALUE] for the newest
        /// of these
        #[arg(value_name = "RESULT")]
        result: String,
        /// Write the document that the command wrote, which other commands read
        #[arg(long, conflicts_with = "format")]
        document: bool,
        /// Format of the answer [default: text]
        #[arg(long, value_enum)]
        format: Option<HistoryFormat>,
    },
    /// Compare two results: times of benchmarks with a verdict, other numbers side by side
    Compare {
        /// The earlier one, in the words of `show`
        #[arg(value_name = "BEFORE")]
        before: String,
        /// The later one
        #[arg(value_name = "AFTER")]
        after: String,
        /// Format of the answer [default: text]
        #[arg(long, value_enum)]
        format: Option<HistoryFormat>,
    },
    /// Draw numbers over commits, with the changes in them
    Plot {
        #[command(flatten)]
        wanted: SeriesArguments,
        /// Format of the answer [default: text]
        #[arg(long, value_enum)]
        format: Option<PlotFormat>,
    },
    /// Find the commits with which numbers changed
    Changes {
        #[command(flatten)]
        wanted: SeriesArguments,
        /// Format of the answer [default: text]
        #[arg(long, value_enum)]
        format: Option<HistoryFormat>,
    },
    /// Remove results
    Prune {
        #[command(flatten)]
        filter: FilterArguments,
        /// Keep results with this label, NAME or NAME=VALUE
        #[arg(long, value_name = "LABEL")]
        keep: Vec<String>,
        /// Say how many there are, and remove none
        #[arg(long)]
        dry_run: bool,
    },
    /// Store results of files: documents of bench, why, timeline and ceilings, and exports of other stores
    Import {
        /// Files, plain or packed with zstd; documents also with gzip
        #[arg(required = true, value_name = "FILE")]
        files: Vec<OsString>,
        /// Label documents, NAME or NAME=VALUE; what was exported keeps the labels that it has
        #[arg(long, value_name = "LABEL")]
        label: Vec<String>,
    },
    /// Write results as JSON lines, packed with zstd where the file ends in .zst, or as a folder of Parquet files
    Export {
        #[command(flatten)]
        filter: FilterArguments,
        /// Format of the answer
        #[arg(long, value_enum, default_value_t = ExportedAs::Jsonl)]
        format: ExportedAs,
    },
    /// Add the results of other stores that this one lacks
    Merge {
        /// Files, or addresses of servers
        #[arg(required = true, value_name = "STORE")]
        stores: Vec<OsString>,
    },
    /// Store the results that could not be stored when they were recorded
    Send,
}

/// Which results are meant.
#[derive(Debug, Args)]
struct FilterArguments {
    /// Only results of this command: bench, why, trace or ceilings
    #[arg(long, value_name = "COMMAND", value_parser = kind)]
    kind: Option<Kind>,
    /// Only results about this: the benchmark, report or program
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Only results on this model of GPU
    #[arg(long, value_name = "GPU")]
    gpu: Option<String>,
    /// Only results of this machine
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
    /// Only results of the commit that begins with these digits
    #[arg(long, value_name = "DIGITS", value_parser = commit)]
    commit: Option<String>,
    /// Only results of this branch
    #[arg(long, value_name = "BRANCH")]
    branch: Option<String>,
    /// Only results with this label, NAME or NAME=VALUE; of several, all
    #[arg(long, value_name = "LABEL")]
    label: Vec<String>,
    /// Only results with a number about exactly this, such as copy/scalar[n=1024]
    #[arg(long, value_name = "SUBJECT")]
    subject: Option<String>,
    /// Only results since a day (2026-11-30), a time, or so long ago (36h, 30d, 4w)
    #[arg(long, value_name = "WHEN", value_parser = moment)]
    since: Option<Timestamp>,
    /// Only results before that
    #[arg(long, value_name = "WHEN", value_parser = moment)]
    before: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HistoryFormat {
    /// A page for people
    Text,
    /// One document, described by schemas/history*.schema.json
    Json,
}

/// Which series are meant.
#[derive(Debug, Args)]
struct SeriesArguments {
    /// Only series whose subject contains this, such as the name of a benchmark; of several, any
    #[arg(value_name = "SUBJECT")]
    subjects: Vec<String>,
    /// Only metrics that begin with this, such as time.cold or registers; all for all [default: times]
    #[arg(long, value_name = "METRIC")]
    metric: Option<String>,
    #[command(flatten)]
    filter: FilterArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlotFormat {
    /// Charts in characters
    Text,
    /// One document, described by schemas/history-series.schema.json
    Json,
    /// A picture
    Svg,
    /// A page in one file: point at results
    Html,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportedAs {
    /// A line of JSON for each result, which `ridge history import` reads
    Jsonl,
    /// A folder of tables by day and GPU, with a row for each number
    Parquet,
}

impl SeriesArguments {
    fn wanted(self) -> WantedSeries {
        WantedSeries {
            subjects: self.subjects,
            metric: self.metric,
            filter: self.filter.filter(),
        }
    }
}

impl FilterArguments {
    fn filter(self) -> Filter {
        Filter {
            kind: self.kind,
            name: self.name,
            gpu: self.gpu,
            host: self.host,
            commit: self.commit,
            branch: self.branch,
            labels: self.label.iter().map(|label| wanted(label)).collect(),
            subject: self.subject,
            since: self.since,
            before: self.before,
            ..Filter::default()
        }
    }
}

impl HistoryArguments {
    pub(crate) fn options(self) -> Result<HistoryOptions, ExpectedError> {
        let action = match self.action {
            ActionArguments::List {
                filter,
                limit,
                format,
            } => Action::List {
                filter: filter.filter(),
                limit,
                format,
            },
            ActionArguments::Show {
                result,
                document,
                format,
            } => Action::Show {
                result,
                is_document: document,
                format,
            },
            ActionArguments::Compare {
                before,
                after,
                format,
            } => Action::Compare {
                before,
                after,
                format,
            },
            ActionArguments::Prune {
                filter,
                keep,
                dry_run,
            } => {
                let filter = filter.filter();
                if filter == Filter::default() {
                    return Err(ExpectedError::usage("nothing says what to remove").with_hint(
                        "name some results, as with --before 90d; --before tomorrow's date removes all",
                    ));
                }
                Action::Prune {
                    filter: Filter {
                        without_labels: keep.iter().map(|label| wanted(label)).collect(),
                        ..filter
                    },
                    is_dry: dry_run,
                }
            }
            ActionArguments::Import { files, label } => {
                let mut labels = Labels::default();
                for word in &label {
                    labels.add(word).map_err(|error| expected(&error))?;
                }
                Action::Import { files, labels }
            }
            ActionArguments::Export { filter, format } => Action::Export {
                filter: filter.filter(),
                format,
            },
            ActionArguments::Plot { wanted, format } => Action::Plot {
                wanted: wanted.wanted(),
                format,
            },
            ActionArguments::Changes { wanted, format } => Action::Changes {
                wanted: wanted.wanted(),
                format,
            },
            ActionArguments::Merge { stores } => Action::Merge { stores },
            ActionArguments::Send => Action::Send,
        };
        Ok(HistoryOptions {
            store: self.store,
            action,
        })
    }
}

/// A label that is asked for: with any value where none is given.
fn wanted(label: &str) -> (String, Option<String>) {
    match label.split_once('=') {
        Some((name, value)) => (name.trim().to_owned(), Some(value.trim().to_owned())),
        None => (label.trim().to_owned(), None),
    }
}

fn kind(text: &str) -> Result<Kind, String> {
    text.parse()
        .map_err(|error: ridge_history::Error| format!("failed to {error}"))
}

fn commit(text: &str) -> Result<String, &'static str> {
    let is_commit =
        (4..=64).contains(&text.len()) && text.bytes().all(|letter| letter.is_ascii_hexdigit());
    is_commit
        .then(|| text.to_ascii_lowercase())
        .ok_or("expected 4 to 64 hexadecimal digits of a commit")
}

/// A time, or how long ago it is.
fn moment(text: &str) -> Result<Timestamp, String> {
    let (number, unit) = text.split_at(text.len() - text.chars().last().map_or(0, char::len_utf8));
    let hours = match unit {
        "h" => Some(1),
        "d" => Some(24),
        "w" => Some(24 * 7),
        _ => None,
    };
    if let (Some(hours), Ok(count)) = (hours, number.parse::<u32>()) {
        let micros = i64::from(count) * hours * 3_600_000_000;
        return Ok(Timestamp::from_micros(
            now().micros().saturating_sub(micros),
        ));
    }
    text.parse().map_err(|_| {
        "expected a day such as 2026-11-30, a time such as 2026-11-30T18:00:00Z, or how long ago, such as 30d".to_owned()
    })
}
