//! Arguments of `ridge diff`.

use std::ffi::OsString;
use std::str::FromStr;

use clap::{Args, ValueEnum};

use super::checked;
use crate::error::ExpectedError;
use crate::verbs::diff::DiffOptions;

pub(super) const EXAMPLES: &str = "\
Examples:
  ridge diff old.ncu-rep new.ncu-rep          what became of each kernel
  ridge diff r.ncu-rep#sum_slow r.ncu-rep#sum_fast
                                              two kernels of one report
  ridge diff old.ncu-rep new.ncu-rep --match sum=sum_v2
                                              a kernel that was renamed
  ridge diff old.ncu-rep new.ncu-rep --times old.json new.json
                                              with the clean times of `ridge bench`
  ridge diff old.ncu-rep new.ncu-rep -o change.md
                                              for a pull request; -o change.html draws the roofline
  ridge diff before/collection.json after/collection.json
                                              what `ridge why --keep before -- ./app` collected
  ridge diff old.ridgetrace new.ridgetrace    two traces: span, kernels, gaps, copies
  ridge diff old.json new.json                two results of `ridge bench`
  ridge diff r.json#plain r.json#tiled        two kernels of one, on the same work

Durations of the profiler alone are AMBIGUOUS (code 11): nothing tells how far two of one version differ.";

#[derive(Debug, Args)]
pub(crate) struct DiffArguments {
    /// What was recorded before the change: a report (.ncu-rep, .ncu-repz), a CSV export of ncu, the collection.json of a
    /// kept folder, what `ridge why --format json` wrote, a trace, or a result of `ridge bench`, plain or packed; `-` is
    /// standard input, FILE#NAME or FILE#NAME@LAUNCH is one kernel
    #[arg(value_name = "BEFORE")]
    before: OsString,
    /// What was recorded after it, of the same kind
    #[arg(value_name = "AFTER")]
    after: OsString,
    /// Names of a kernel before and after that are one; may be given several times
    #[arg(long = "match", value_name = "BEFORE=AFTER", value_parser = str::parse::<Renamed>)]
    matches: Vec<Renamed>,
    /// Results of `ridge bench` before and after, whose times go before those of the profiler; may be given several times,
    /// once for each run
    #[arg(long, value_names = ["BEFORE", "AFTER"], num_args = 2)]
    times: Vec<OsString>,
    /// Format of the answer [default: text]
    #[arg(long, value_enum)]
    format: Option<DiffFormat>,
}

/// `BEFORE=AFTER`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Renamed {
    pub(crate) before: String,
    pub(crate) after: String,
}

impl FromStr for Renamed {
    type Err = &'static str;

    /// Operators have a `=` in their names; a pair has spaces around it there, or none inside the names.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (before, after) = text
            .split_once(" = ")
            .or_else(|| text.split_once('='))
            .ok_or("expected two names with = between them")?;
        let (before, after) = (before.trim(), after.trim());
        if before.is_empty() || after.is_empty() {
            return Err("a name is missing beside the =");
        }
        Ok(Self {
            before: before.to_owned(),
            after: after.to_owned(),
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffFormat {
    /// A page for people
    Text,
    /// One document, described by schemas/diff.schema.json
    Json,
    /// For a pull request
    Markdown,
    /// A page in one file, with both points and an arrow on the roofline
    Html,
}

impl DiffArguments {
    pub(crate) fn options(self) -> Result<DiffOptions, ExpectedError> {
        let mut files = vec![self.before, self.after];
        files.extend(self.times);
        // Standard input can be named once, wherever.
        let files = checked(files)?;
        let mut files = files.into_iter();
        let (Some(before), Some(after)) = (files.next(), files.next()) else {
            return Err(ExpectedError::internal("two files are required"));
        };
        let rest: Vec<OsString> = files.collect();
        Ok(DiffOptions {
            before,
            after,
            matches: self.matches,
            times: rest
                .chunks_exact(2)
                .map(|pair| (pair[0].clone(), pair[1].clone()))
                .collect(),
            format: self.format,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_names_are_split() {
        let of = |text: &str| {
            text.parse::<Renamed>()
                .map(|renamed| (renamed.before, renamed.after))
        };
        assert_eq!(of("a=b"), Ok(("a".to_owned(), "b".to_owned())));
        assert_eq!(
            of("operator== = equal"),
            Ok(("operator==".to_owned(), "equal".to_owned()))
        );
        assert!(of("a").is_err() && of("=b").is_err() && of("a= ").is_err());
    }
}
