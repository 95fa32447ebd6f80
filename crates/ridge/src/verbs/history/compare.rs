//! Two results of the history side by side.

use ridge_bench::document::Document;
use ridge_compare::Verdict;
use ridge_compare::bench::{Options, Pair, compare as compare_bench};
use ridge_history::json::{Comparison, compare};
use ridge_history::{Kind, Record};

use crate::args::HistoryFormat;
use crate::error::ExpectedError;
use crate::exit::{self, Code};
use crate::history::expected;
use crate::output::Output;
use crate::verbs::devices::layout;

pub(super) fn run(
    before: &Record,
    after: &Record,
    format: HistoryFormat,
    output: &Output,
) -> Result<Code, ExpectedError> {
    if before.head.kind != after.head.kind {
        return Err(ExpectedError::usage(format!(
            "a result of `ridge {}` and one of `ridge {}` have nothing to compare",
            before.head.kind, after.head.kind
        ))
        .with_hint(
            "name two results of one command; `ridge history list --kind bench` lists some",
        ));
    }
    let mut comparison = compare((&before.head, &before.points), (&after.head, &after.points));
    if before.head.kind == Kind::Bench {
        judge(before, after, &mut comparison)?;
    }
    match format {
        HistoryFormat::Json => output.json(&comparison)?,
        HistoryFormat::Text => {
            output.write(&ridge_render::history::compare(
                &comparison,
                &layout(output),
            ))?;
        }
    }
    Ok(exit::FINE)
}

/// Puts verdicts beside the times of benchmarks: both documents hold all samples.
fn judge(
    before: &Record,
    after: &Record,
    comparison: &mut Comparison,
) -> Result<(), ExpectedError> {
    let read = |record: &Record| -> Result<Document, ExpectedError> {
        let json = record.document.json().map_err(|error| expected(&error))?;
        Document::read(&json).map_err(|error| {
            ExpectedError::unreadable(format!(
                "cannot read the document of result {}: {error}",
                record.head.id.short()
            ))
            .with_hint(error.hint())
        })
    };
    let (before, after) = (read(before)?, read(after)?);
    let found = compare_bench(&[&before], &[&after], &Options::default());
    for pair in &found.pairs {
        let subject = format!("{}/{}", pair.subject.benchmark, pair.subject.state);
        let metric = format!("time.{}", pair.subject.mode);
        let change = comparison
            .changes
            .iter_mut()
            .find(|change| change.subject == subject && change.metric == metric);
        if let Some(change) = change {
            change.ratio = pair.ratio.or(change.ratio);
            change.ratio_low = pair.ratio_lower;
            change.ratio_high = pair.ratio_upper;
            change.verdict = Some(pair.verdict.word().to_ascii_lowercase());
            change.reason = reason(pair);
        }
    }
    comparison.warnings = found
        .warnings
        .iter()
        .map(|warning| format!("{}: {}", warning.text, warning.spoils))
        .collect();
    Ok(())
}

fn reason(pair: &Pair) -> Option<String> {
    let remarks = match pair.verdict {
        Verdict::Invalid => &pair.invalid,
        Verdict::Ambiguous => &pair.doubts,
        _ => return None,
    };
    let texts: Vec<&str> = remarks.iter().map(|remark| remark.text.as_str()).collect();
    Some(texts.join("; ")).filter(|text| !text.is_empty())
}
