//! `ridge why`: what limits each kernel of a report.

use std::collections::HashMap;
use std::sync::OnceLock;

use rayon::prelude::*;
use ridge_diagnose::document::{Document, Kernel, SCHEMA, Source, VERSION, Warning};
use ridge_diagnose::{CodeMap, Group, GroupKey, Options, diagnose};
use ridge_render::why::{Page, text};

use crate::args::WhyFormat;
use crate::error::ExpectedError;
use crate::evidence::{Evidence, shown_name};
use crate::exit::{self, Code};
use crate::filter::{Address, Launches, NameFilter};
use crate::input::Input;
use crate::output::Output;

/// What to diagnose and how to show it.
pub(crate) struct WhyOptions {
    pub(crate) files: Vec<String>,
    pub(crate) names: NameFilter,
    pub(crate) launches: Launches,
    pub(crate) top: usize,
    pub(crate) all: bool,
    pub(crate) format: Option<WhyFormat>,
}

/// Collects the document while inputs are read one after the other.
#[derive(Default)]
struct Answer {
    sources: Vec<Source>,
    kernels: Vec<Kernel>,
    warnings: Vec<Warning>,
    /// Names of kernels that the filters left out, to suggest them.
    left_out: Vec<String>,
    is_incomplete: bool,
}

pub(crate) fn run(options: &WhyOptions, output: &mut Output) -> Result<Code, ExpectedError> {
    let format = format(options, output)?;
    let mut answer = Answer::default();
    let mut failed: Option<ExpectedError> = None;
    for file in &options.files {
        if let Err(error) = answer.add_file(file, options, output) {
            // The other inputs are still worth an answer.
            if let Some(earlier) = failed.replace(error) {
                output.complain(&earlier);
            }
        }
    }
    if answer.sources.is_empty() {
        return Err(failed.unwrap_or_else(|| ExpectedError::usage("no input was named")));
    }
    if let Some(error) = &failed {
        output.complain(error);
    }
    if answer.kernels.is_empty() && !answer.left_out.is_empty() {
        return Err(nothing_matches(options, &answer.left_out));
    }
    let is_incomplete = answer.is_incomplete || failed.is_some();
    let document = answer.finish();
    match format {
        WhyFormat::Json => {
            let text = ridge_render::json::document(&document).map_err(|error| {
                ExpectedError::internal(format!("cannot write the document: {error}"))
            })?;
            output.write(&text)?;
            for warning in &document.warnings {
                output.warn(&warning_text(&document, warning));
            }
        }
        WhyFormat::Text => {
            let page = Page {
                columns: output.columns(),
                charset: output.charset(),
                painter: output.painter(),
                top: options.top,
                is_verbose: output.verbosity() > 0,
            };
            output.write(&text(&document, &page))?;
        }
    }
    Ok(if is_incomplete {
        exit::UNREADABLE
    } else {
        exit::FINE
    })
}

fn format(options: &WhyOptions, output: &Output) -> Result<WhyFormat, ExpectedError> {
    match (options.format, output.extension().as_deref()) {
        (Some(format), _) => Ok(format),
        (None, None | Some("txt" | "text" | "log")) => Ok(WhyFormat::Text),
        (None, Some("json")) => Ok(WhyFormat::Json),
        (None, Some(other)) => Err(ExpectedError::usage(format!(
            "the extension {other:?} of the output file names no format of `ridge why`"
        ))
        .with_hint("say --format text or --format json")),
    }
}

impl Answer {
    fn add_file(
        &mut self,
        name: &str,
        options: &WhyOptions,
        output: &Output,
    ) -> Result<(), ExpectedError> {
        let address = Address::new(name, |file| std::path::Path::new(file).exists())?;
        let input = Input::open(&address.file, output)?;
        let evidence = Evidence::new(&input).map_err(|error| {
            let cause = input.problem.as_ref().unwrap_or(&error);
            ExpectedError::unreadable(format!(
                "cannot read {}: {cause}",
                shown_name(&address.file)
            ))
            .with_hint(
                "`ridge why` reads .ncu-rep and .ncu-repz reports and the output of `ncu --csv`",
            )
        })?;
        let id = self.sources.len();
        let mut source = evidence.source(id, &address.file);
        for problem in input.problem.iter().chain(evidence.problems()) {
            self.add_problem(id, problem);
        }
        let survey = Survey::new(&evidence, options, &address);
        for problem in &survey.problems {
            self.add_problem(id, problem);
        }
        survey.describe(&mut source);
        self.warnings
            .extend(crate::caveats::caveats(&source, &survey.facts()));
        self.kernels
            .extend(survey.diagnose(&evidence, id, source.program.as_deref(), options));
        self.left_out.extend(survey.left_out);
        self.sources.push(source);
        Ok(())
    }

    fn add_problem(&mut self, source: usize, problem: &ncu_rep::Error) {
        self.is_incomplete |= !problem.is_remark();
        self.warnings.push(Warning {
            code: problem.code().to_owned(),
            message: problem.reason(),
            source: Some(source),
            offset: problem.offset(),
            field: Some(problem.field().to_owned()).filter(|field| !field.is_empty()),
        });
    }

    fn finish(self) -> Document {
        Document {
            schema: SCHEMA,
            version: VERSION,
            sources: self.sources,
            report_findings: ridge_diagnose::report_findings(&self.kernels),
            kernels: self.kernels,
            warnings: self.warnings,
        }
    }
}

/// First walk over an input: who is there, for how long, and which launches belong together.
#[derive(Default)]
struct Survey {
    /// Groups in order of first launch.
    groups: Vec<Group>,
    left_out: Vec<String>,
    sections: Vec<String>,
    passes: Option<(u64, u64)>,
    sm_clock_hz: Option<(f64, f64)>,
    total_ns: f64,
    clock_was_held: Option<bool>,
    /// Ranges, command lists and graphs: their counters mix several kernels.
    mixtures: usize,
    without_samples: usize,
    workloads: usize,
    problems: Vec<ncu_rep::Error>,
}

/// What the first walk keeps of one launch.
struct Glance {
    key: GroupKey,
    name: String,
    duration_ns: Option<f64>,
    sections: Vec<String>,
    passes: Option<u64>,
    sm_clock_hz: Option<f64>,
    clock_was_held: Option<bool>,
    is_mixture: bool,
    lacks_samples: bool,
    problems: Vec<ncu_rep::Error>,
}

fn glance(evidence: &Evidence<'_>, index: usize) -> Option<Glance> {
    let workload = evidence.workload(index)?;
    let metrics = &workload.profile.metrics;
    Some(Glance {
        key: workload.profile.group_key(),
        duration_ns: workload.profile.duration_ns(),
        passes: metrics.integer("profiler__replayer_passes"),
        sm_clock_hz: metrics
            .number("gpc__cycles_elapsed.avg.per_second")
            .filter(|hz| *hz > 0.0),
        lacks_samples: metrics
            .number("smsp__pcsamp_sample_count")
            .is_some_and(|count| count <= 0.0),
        is_mixture: workload.profile.is_mixture,
        clock_was_held: workload.clock_was_held,
        name: workload.profile.name,
        sections: workload.profile.sections,
        problems: workload.problems,
    })
}

impl Survey {
    fn new(evidence: &Evidence<'_>, options: &WhyOptions, address: &Address) -> Self {
        let glances: Vec<Option<Glance>> = (0..evidence.len())
            .into_par_iter()
            .map(|index| glance(evidence, index))
            .collect();
        let mut survey = Self::default();
        let mut places: HashMap<GroupKey, usize> = HashMap::new();
        for (index, glance) in glances.into_iter().enumerate() {
            let Some(glance) = glance else { continue };
            survey.total_ns += glance.duration_ns.unwrap_or(0.0);
            let is_chosen = (options.names.matches(&glance.name)
                || options.names.matches(&glance.key.signature))
                && options.launches.contains(index)
                && address.selects(&glance.name, index);
            if !is_chosen {
                if !survey.left_out.contains(&glance.name) {
                    survey.left_out.push(glance.name);
                }
                continue;
            }
            let groups = &mut survey.groups;
            let place = *places.entry(glance.key.clone()).or_insert_with(|| {
                groups.push(Group::default());
                groups.len() - 1
            });
            survey.groups[place]
                .launches
                .push((index, glance.duration_ns));
            survey.note(glance);
        }
        let total = survey.total_ns;
        for group in &mut survey.groups {
            let sum: f64 = group.launches.iter().filter_map(|(_, ns)| *ns).sum();
            group.time_share = (total > 0.0).then_some(sum / total);
        }
        survey
    }

    fn note(&mut self, glance: Glance) {
        self.workloads += 1;
        for section in glance.sections {
            if !self.sections.contains(&section) {
                self.sections.push(section);
            }
        }
        self.passes = widened(self.passes, glance.passes, u64::min, u64::max);
        self.sm_clock_hz = widened(self.sm_clock_hz, glance.sm_clock_hz, f64::min, f64::max);
        self.mixtures += usize::from(glance.is_mixture);
        self.without_samples += usize::from(glance.lacks_samples);
        self.clock_was_held = match (self.clock_was_held, glance.clock_was_held) {
            (Some(before), Some(now)) => Some(before && now),
            (before, now) => before.or(now),
        };
        self.problems.extend(glance.problems);
    }

    fn describe(&self, source: &mut Source) {
        source.collection.sections.clone_from(&self.sections);
        source.collection.passes = self.passes;
        source.collection.sm_clock_hz = self.sm_clock_hz;
        source.collection.clock_was_held = self.clock_was_held;
    }

    fn facts(&self) -> crate::caveats::Facts {
        crate::caveats::Facts {
            workloads: self.workloads,
            mixtures: self.mixtures,
            without_samples: self.without_samples,
        }
    }

    /// Second walk: the representative launch of each group through the three layers.
    fn diagnose(
        &self,
        evidence: &Evidence<'_>,
        id: usize,
        program: Option<&str>,
        options: &WhyOptions,
    ) -> Vec<Kernel> {
        // A module is shared by its kernels, and its line table is the same for all of them.
        let modules: HashMap<ncu_rep::report::SourceKey, OnceLock<Option<CodeMap>>> = self
            .groups
            .iter()
            .filter_map(|group| evidence.code_key(group.representative()?))
            .map(|key| (key, OnceLock::new()))
            .collect();
        let options = Options {
            min_saving: if options.all {
                0.0
            } else {
                Options::default().min_saving
            },
            program: program.map(str::to_owned),
        };
        self.groups
            .par_iter()
            .filter_map(|group| {
                let workload = evidence.workload(group.representative()?)?;
                let code = workload.code.and_then(|key| {
                    modules
                        .get(&key)?
                        .get_or_init(|| evidence.code(key))
                        .as_ref()
                });
                let mut kernel = diagnose(&workload.profile, group, code, &options);
                kernel.source = id;
                Some(kernel)
            })
            .collect()
    }
}

/// A range, widened by one more value.
fn widened<T: Copy>(
    range: Option<(T, T)>,
    value: Option<T>,
    min: impl Fn(T, T) -> T,
    max: impl Fn(T, T) -> T,
) -> Option<(T, T)> {
    match (range, value) {
        (Some((low, high)), Some(value)) => Some((min(low, value), max(high, value))),
        (None, Some(value)) => Some((value, value)),
        (range, None) => range,
    }
}

fn warning_text(document: &Document, warning: &Warning) -> String {
    let file = warning
        .source
        .and_then(|id| document.sources.get(id))
        .map(|source| shown_name(&source.file));
    let place = match (&warning.field, warning.offset) {
        (Some(field), Some(offset)) => format!("{field} (byte {offset}): "),
        (Some(field), None) => format!("{field}: "),
        (None, Some(offset)) => format!("byte {offset}: "),
        (None, None) => String::new(),
    };
    match file {
        Some(file) => format!("{file}: {place}{}", warning.message),
        None => format!("{place}{}", warning.message),
    }
}

/// At most so many names are offered.
const OFFERED: usize = 8;

fn nothing_matches(options: &WhyOptions, names: &[String]) -> ExpectedError {
    let wanted = match (options.names.expression(), options.launches.only()) {
        (Some(name), Some(launch)) => format!("no kernel matches {name:?} at launch {launch}"),
        (Some(name), None) => format!("no kernel matches {name:?}"),
        (None, Some(launch)) => format!("there is no launch {launch}"),
        (None, None) => "no kernel matches".to_owned(),
    };
    let shown: Vec<&str> = names.iter().take(OFFERED).map(String::as_str).collect();
    let more = names.len().saturating_sub(OFFERED);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    ExpectedError::usage(wanted).with_hint(format!("one of {}{more}", shown.join(", ")))
}
