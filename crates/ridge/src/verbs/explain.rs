//! `ridge explain`: what a finding, a rule of `ridge lint`, a line of the checklist, a metric, a stall reason or a term means.

mod known;
mod metric;
mod terms;

use ridge_model::spelling::distance;

use crate::args::ExplainFormat;
use crate::error::ExpectedError;
use crate::exit::{self, Code};
use crate::markdown;
use crate::output::Output;
use crate::pages::{page, page_ids};

/// What to explain.
pub(crate) struct ExplainOptions {
    pub(crate) name: Option<String>,
    pub(crate) format: Option<ExplainFormat>,
}

pub(crate) fn run(options: &ExplainOptions, output: &mut Output) -> Result<Code, ExpectedError> {
    let format = format(options, output)?;
    let page = match &options.name {
        None => list(),
        Some(name) => explain(name)?,
    };
    match format {
        ExplainFormat::Markdown => output.write(&page)?,
        ExplainFormat::Text => output.write(&markdown::text(
            &page,
            output.columns(),
            output.charset(),
            output.painter(),
        ))?,
    }
    Ok(exit::FINE)
}

fn format(options: &ExplainOptions, output: &Output) -> Result<ExplainFormat, ExpectedError> {
    Ok(match (options.format, output.extension().as_deref()) {
        (Some(format), _) => format,
        (None, None | Some("txt")) => ExplainFormat::Text,
        (None, Some("md" | "markdown")) => ExplainFormat::Markdown,
        (None, Some(other)) => {
            return Err(ExpectedError::usage(format!(
                "the extension {other:?} of the output file names no format of `ridge explain`"
            ))
            .with_hint("say --format text or --format markdown"));
        }
    })
}

/// The page of a name, as Markdown.
fn explain(name: &str) -> Result<String, ExpectedError> {
    let name = name.trim();
    page(&name.to_ascii_lowercase())
        .or_else(|| ridge_lint::page(&name.to_ascii_lowercase()))
        .or_else(|| term_or_line(name))
        .or_else(|| metric::stall_reason(name))
        .or_else(|| metric::page(name))
        .ok_or_else(|| {
            let near = nearest(name);
            let hint = if near.is_empty() {
                "`ridge explain` without a name lists what can be explained".to_owned()
            } else {
                near.join(" or ")
            };
            ExpectedError::usage(format!(
                "{name:?} is no finding, rule, metric, stall reason, term or line of the checklist"
            ))
            .with_hint(hint)
        })
}

/// A term, a line of the checklist, or both of one name on one page.
fn term_or_line(name: &str) -> Option<String> {
    let line = ridge_checklist::page(&name.to_ascii_lowercase());
    let Some(term) = terms::page(name) else {
        return line;
    };
    let mut page = term.to_owned();
    if let Some(line) = line {
        page.push_str("\n## In the checklist\n\n");
        for line in line.lines().skip(2) {
            // Headings go down below that of the part.
            if line.starts_with('#') {
                page.push('#');
            }
            page.push_str(line);
            page.push('\n');
        }
    }
    Some(page)
}

/// Everything that has a page of its own.
fn list() -> String {
    let mut page = "# What can be explained\n\n## Findings\n\n".to_owned();
    let bullets = |page: &mut String, names: &mut dyn Iterator<Item = String>| {
        for name in names {
            page.push_str("* ");
            page.push_str(&name);
            page.push('\n');
        }
    };
    bullets(&mut page, &mut page_ids().map(|id| format!("`{id}`")));
    page.push_str("\n## Rules of `ridge lint`\n\n");
    bullets(
        &mut page,
        &mut ridge_lint::page_ids().map(|id| format!("`{id}`")),
    );
    page.push_str("\n## Lines of `ridge checklist`\n\n");
    bullets(
        &mut page,
        &mut ridge_checklist::ids().map(|id| {
            let question = ridge_checklist::title(id).unwrap_or_default();
            format!("`{id}`: {question}")
        }),
    );
    page.push_str("\n## Terms\n\n");
    bullets(&mut page, &mut terms::names().map(str::to_owned));
    page.push_str("\n## Stall reasons\n\n");
    bullets(
        &mut page,
        &mut ridge_diagnose::stall_reasons().map(|reason| {
            format!(
                "`{reason}`: warps wait for {}",
                ridge_diagnose::stall_meaning(reason)
            )
        }),
    );
    page.push_str(
        "\n## Metrics\n\nAny metric, by the profiler's name, such as `dram__bytes_read.sum`. \
         `ridge export REPORT` lists those of a report.\n",
    );
    page
}

/// Names that may have been meant: those that contain the name or differ from it in few letters, nearest first.
fn nearest(name: &str) -> Vec<String> {
    let wanted = name.to_ascii_lowercase();
    let allowed = (wanted.chars().count() / 3).max(1);
    let known = page_ids()
        .chain(ridge_lint::page_ids())
        .chain(ridge_checklist::ids())
        .chain(terms::names())
        .chain(ridge_diagnose::stall_reasons())
        .chain(metric::COMMON.iter().copied())
        // Names of metrics are long and many: they are of no help for a word.
        .chain(known::names().filter(|_| wanted.contains('_')));
    let mut near: Vec<(usize, &str)> = known
        .filter_map(|known| {
            let lower = known.to_ascii_lowercase();
            let is_part = wanted.len() >= 3 && lower.contains(&wanted);
            let distance = if is_part {
                0
            } else {
                distance(&wanted, &lower)
            };
            (distance <= allowed).then_some((distance, known))
        })
        .collect();
    near.sort_by_key(|(distance, _)| *distance);
    near.into_iter()
        .take(3)
        .map(|(_, known)| format!("`ridge explain {known}`"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_in_the_list_can_be_explained() {
        for name in page_ids()
            .chain(ridge_lint::page_ids())
            .chain(ridge_checklist::ids())
            .chain(terms::names())
            .chain(ridge_diagnose::stall_reasons())
            .chain(metric::COMMON.iter().copied())
        {
            assert!(explain(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn near_names_are_offered() {
        assert_eq!(
            nearest("uncoalesced")[0],
            "`ridge explain uncoalesced-global`"
        );
        assert_eq!(nearest("wavefornt")[0], "`ridge explain wavefront`");
        assert!(nearest("xyzzyxyzzy").is_empty());
    }
}
