//! What diagnoses of kernels say about a question: which of its flaws they have, and what these cost together.

use ridge_diagnose::document::{Document, Finding, Kernel};
use ridge_model::quantity::counted;

use crate::document::Evidence;
use crate::inputs::{Diagnosed, Inputs, Named, Origin};
use crate::part::{Part, figure};
use crate::words::{list, path, percent, quote, short};

/// From this share of the time of all kernels on, flaws make the answer no. It is the saving below which `ridge why` does
/// not tell a finding of one kernel: what is not worth a line there is not worth one here.
pub(crate) const WORTHWHILE: f64 = 0.02;
/// From this share of the time of its own kernel on, a flaw counts. What a remedy saves differs from what is expected of it
/// by about so much (the median of `docs/diagnosis-accuracy.md`): below it nobody can tell whether it saves anything.
pub(crate) const CERTAIN: f64 = 0.05;
/// So many kernels are named.
pub(crate) const NAMED: usize = 3;
/// A whole profile of a program: what answers every question about its kernels.
pub(crate) fn whole_profile(program: Option<&str>) -> String {
    let program = program.map_or_else(
        || "PROGRAM".to_owned(),
        |program| format!("{} ...", quote(program)),
    );
    format!("ncu --set full --import-source yes -o report {program}")
}

/// A question about kernels.
pub(crate) struct Asked {
    /// Findings that make the answer no.
    pub(crate) findings: &'static [&'static str],
    /// What is so where none of them is there, as the end of a sentence that begins with the number of kernels.
    pub(crate) fine: &'static str,
    /// Figures that show it.
    pub(crate) figures: fn(&mut Figures<'_>),
}

/// Figures of one kernel.
pub(crate) struct Figures<'k> {
    kernel: &'k Kernel,
    file: &'k str,
    list: Vec<Evidence>,
}

impl Figures<'_> {
    /// Adds a counter, where it was collected.
    pub(crate) fn counter(&mut self, metric: &str, healthy: Option<f64>) {
        if let Some(counter) = self.kernel.counters.iter().find(|c| c.metric == metric) {
            let (value, unit) = (counter.value, counter.unit.clone());
            self.value(metric, value, &unit, healthy);
        }
    }

    /// The value of a counter.
    pub(crate) fn of(&self, metric: &str) -> Option<f64> {
        counter(self.kernel, metric)
    }

    /// Adds a figure that was derived.
    pub(crate) fn value(&mut self, metric: &str, value: f64, unit: &str, healthy: Option<f64>) {
        if value.is_finite() {
            self.list.push(Evidence {
                healthy,
                ..figure(self.file, Some(&self.kernel.name), metric, value, unit)
            });
        }
    }
}

/// The value of a counter.
pub(crate) fn counter(kernel: &Kernel, metric: &str) -> Option<f64> {
    let mut counters = kernel.counters.iter();
    counters
        .find(|counter| counter.metric == metric)
        .map(|counter| counter.value)
}

/// A kernel with its share of the time.
pub(crate) struct Weighed<'d> {
    pub(crate) place: usize,
    pub(crate) kernel: &'d Kernel,
    /// Share of the summed time of the kernels of its input; 1 where no duration is known.
    pub(crate) share: f64,
}

/// The kernels of one input of a diagnosis.
pub(crate) struct OfSource<'d> {
    pub(crate) document: &'d Document,
    origin: &'d Origin,
    /// The file as it was named.
    pub(crate) file: &'d str,
    /// Heaviest first.
    pub(crate) kernels: Vec<Weighed<'d>>,
}

/// The time that all launches of a kernel take.
fn time(kernel: &Kernel) -> Option<f64> {
    if let Some(timed) = &kernel.timed {
        return Some(timed.total_ns);
    }
    let known = kernel.launches.iter().filter_map(|l| l.duration_ns);
    let sum: f64 = known.sum();
    if sum > 0.0 {
        return Some(sum);
    }
    kernel.duration_ns
}

/// The inputs of all diagnoses, one by one.
pub(crate) fn sources(inputs: &Inputs) -> Vec<OfSource<'_>> {
    inputs.diagnoses.iter().flat_map(of_document).collect()
}

fn of_document(named: &Named<Diagnosed>) -> Vec<OfSource<'_>> {
    let document = &named.content.document;
    let mut ids: Vec<usize> = document.kernels.iter().map(|k| k.source).collect();
    ids.sort_unstable();
    ids.dedup();
    ids.into_iter()
        .map(|id| {
            let own = || {
                let kernels = document.kernels.iter().enumerate();
                kernels.filter(move |(_, kernel)| kernel.source == id)
            };
            let total: f64 = own().filter_map(|(_, kernel)| time(kernel)).sum();
            let mut kernels: Vec<Weighed<'_>> = own()
                .map(|(place, kernel)| Weighed {
                    place,
                    kernel,
                    share: match time(kernel) {
                        Some(time) if total > 0.0 => time / total,
                        _ => 1.0,
                    },
                })
                .collect();
            kernels.sort_by(|a, b| b.share.total_cmp(&a.share));
            let source = document.sources.iter().find(|source| source.id == id);
            OfSource {
                document,
                origin: &named.content.origin,
                file: source.map_or(named.name.as_str(), |source| source.file.as_str()),
                kernels,
            }
        })
        .collect()
}

impl OfSource<'_> {
    /// The command for a whole profile of its program.
    pub(crate) fn profile(&self) -> String {
        let id = self.kernels.first().map(|weighed| weighed.kernel.source);
        let mut sources = self.document.sources.iter();
        let source = sources.find(|source| Some(source.id) == id);
        whole_profile(source.and_then(|source| source.program.as_deref()))
    }

    /// Whether the bytes that a kernel needs at least were given for one of them.
    pub(crate) fn knows_what_is_needed(&self) -> bool {
        self.kernels.iter().any(|weighed| {
            let compulsory = weighed.kernel.compulsory.as_ref();
            compulsory.is_some_and(|compulsory| compulsory.bytes.is_some())
        })
    }

    /// A command about one kernel.
    pub(crate) fn why(&self, kernel: &Kernel) -> String {
        let file = match self.origin {
            Origin::Files(files) => {
                let files: Vec<String> = files.iter().map(|file| path(file)).collect();
                let name = quote(&format!("^{}$", literal(&kernel.name)));
                return format!("ridge why {} --kernel {name} -v", files.join(" "));
            }
            Origin::File(file) => file,
            Origin::Saved => self.file,
        };
        let word = format!("{file}#{}", kernel.name);
        format!("ridge why {} -v", path(&word))
    }

    /// The answer to a question.
    pub(crate) fn answer(&self, asked: &Asked) -> Part {
        let (flawed, small): (Vec<Flaw<'_>>, Vec<Flaw<'_>>) =
            self.flawed(asked).into_iter().partition(Flaw::counts);
        let cost_of = |flaws: &[Flaw<'_>]| -> f64 { flaws.iter().map(|flaw| flaw.cost).sum() };
        let cost = cost_of(&flawed);
        let mut of_all = self.of_all(asked);
        of_all.retain(Flaw::counts);
        let cost_of_all = of_all.iter().map(|flaw| flaw.cost).fold(0.0, f64::max);
        if cost >= WORTHWHILE || cost_of_all >= WORTHWHILE {
            return self.no(asked, &flawed, &of_all, cost.max(cost_of_all));
        }
        let open: Vec<&Weighed<'_>> = self
            .kernels
            .iter()
            .filter(|weighed| is_open(weighed.kernel, asked))
            .collect();
        let share: f64 = open.iter().map(|weighed| weighed.share).sum();
        match open.first() {
            Some(heaviest) if share >= WORTHWHILE => {
                let next = heaviest.kernel.settle_with.clone();
                let reason = format!(
                    "{} does not hold the counters for it in {} of {}",
                    self.file,
                    open.len(),
                    counted(self.kernels.len() as u64, "kernel"),
                );
                Part::unknown(reason, next.unwrap_or_else(|| self.profile()))
            }
            _ => self.yes(asked, flawed.len() + small.len(), cost + cost_of(&small)),
        }
    }

    fn yes(&self, asked: &Asked, flawed: usize, cost: f64) -> Part {
        let mut reason = match self.kernels.as_slice() {
            [one] => format!("{} {}", short(&one.kernel.name), asked.fine),
            several => format!(
                "{} of {}: each {}",
                counted(several.len() as u64, "kernel"),
                self.file,
                asked.fine
            ),
        };
        if flawed > 0 && self.kernels.len() == 1 {
            reason = format!(
                "{reason}; what is left of the flaw costs about {} of the time, and counts from {} on",
                percent(cost),
                percent(CERTAIN)
            );
        } else if flawed > 0 {
            reason = format!(
                "{reason}, but for {flawed} where it costs about {} of the time of all",
                percent(cost)
            );
        }
        let figures = self.kernels.iter().take(NAMED);
        Part::yes(reason).with(figures.flat_map(|weighed| self.figures(weighed.kernel, asked)))
    }

    fn no(&self, asked: &Asked, flawed: &[Flaw<'_>], of_all: &[Flaw<'_>], cost: f64) -> Part {
        let mut told: Vec<&Flaw<'_>> = flawed.iter().chain(of_all).collect();
        told.sort_by(|a, b| b.cost.total_cmp(&a.cost));
        let is_one = self.kernels.len() == 1;
        let named: Vec<String> = told
            .iter()
            .take(NAMED)
            .map(|flaw| {
                let names = list(
                    &flaw
                        .kernels
                        .iter()
                        .map(|kernel| short(&kernel.name))
                        .collect::<Vec<_>>(),
                );
                if is_one {
                    format!("{names}: {}", flaw.finding.title)
                } else {
                    format!(
                        "{names} ({} of the time): {}",
                        percent(flaw.share),
                        flaw.finding.title
                    )
                }
            })
            .collect();
        let more = told.len().saturating_sub(NAMED);
        let more = if more > 0 {
            format!("; and {more} more")
        } else {
            String::new()
        };
        let reason = format!(
            "{}{more}; without it {} takes about {} less time",
            named.join("; "),
            if is_one { "it" } else { "all together" },
            percent(cost.min(1.0))
        );
        let mut part = Part::no(reason).saving(cost);
        for flaw in told.iter().take(NAMED) {
            let Some(first) = flaw.kernels.first() else {
                continue;
            };
            let of_finding = flaw.finding.evidence.iter().map(|evidence| Evidence {
                healthy: evidence.healthy,
                ..figure(
                    self.file,
                    Some(&first.name),
                    evidence.metric.clone(),
                    evidence.value,
                    &evidence.unit,
                )
            });
            part = part
                .with(of_finding)
                .with(self.figures(first, asked))
                .doing(flaw.finding.actions.iter().take(2).cloned())
                .then(self.why(first));
        }
        part
    }

    /// The figures of a question for one kernel.
    pub(crate) fn figures(&self, kernel: &Kernel, asked: &Asked) -> Vec<Evidence> {
        let mut figures = Figures {
            kernel,
            file: self.file,
            list: Vec::new(),
        };
        (asked.figures)(&mut figures);
        figures.list
    }

    /// Kernels with a flaw that is asked about; of several flaws of one kernel the largest, as they are never added.
    fn flawed(&self, asked: &Asked) -> Vec<Flaw<'_>> {
        self.kernels
            .iter()
            .filter_map(|weighed| {
                let findings = weighed.kernel.findings.iter();
                let worst = findings
                    .filter(|finding| asked.findings.contains(&finding.id.as_str()))
                    .max_by(|a, b| a.saving_expected.total_cmp(&b.saving_expected))?;
                Some(Flaw {
                    kernels: vec![weighed.kernel],
                    finding: worst,
                    share: weighed.share,
                    cost: weighed.share * worst.saving_expected,
                })
            })
            .collect()
    }

    /// Flaws of several kernels together.
    fn of_all(&self, asked: &Asked) -> Vec<Flaw<'_>> {
        let findings = self.document.report_findings.iter();
        findings
            .filter(|found| asked.findings.contains(&found.finding.id.as_str()))
            .filter_map(|found| {
                let own: Vec<&Weighed<'_>> = self
                    .kernels
                    .iter()
                    .filter(|weighed| found.kernels.contains(&weighed.place))
                    .collect();
                // It is of these launches alone, which may be a part of those of its kernels.
                let share = found
                    .time_share
                    .unwrap_or_else(|| own.iter().map(|weighed| weighed.share).sum());
                (!own.is_empty()).then(|| Flaw {
                    kernels: own.iter().map(|weighed| weighed.kernel).collect(),
                    finding: &found.finding,
                    share,
                    cost: share * found.finding.saving_expected,
                })
            })
            .collect()
    }
}

/// A flaw that was found.
struct Flaw<'d> {
    kernels: Vec<&'d Kernel>,
    finding: &'d Finding,
    /// Share of the time of all kernels.
    share: f64,
    /// The part of the time of all kernels that its remedy is expected to save.
    cost: f64,
}

impl Flaw<'_> {
    /// Whether it costs its kernels so much that a remedy is worth it.
    fn counts(&self) -> bool {
        self.finding.saving_expected >= CERTAIN
    }
}

/// Whether the input does not tell all that is asked.
fn is_open(kernel: &Kernel, asked: &Asked) -> bool {
    kernel.counters.is_empty()
        || kernel
            .not_checked
            .iter()
            .any(|check| asked.findings.contains(&check.id.as_str()))
}

/// A regular expression that matches a text alone.
fn literal(text: &str) -> String {
    let mut expression = String::new();
    for character in text.chars() {
        if r"\.+*?()|[]{}^$".contains(character) {
            expression.push('\\');
        }
        expression.push(character);
    }
    expression
}

/// What every diagnosis says about a question.
pub(crate) fn parts(inputs: &Inputs, asked: &Asked) -> Vec<Part> {
    sources(inputs)
        .iter()
        .map(|source| source.answer(asked))
        .collect()
}

/// What to provide where there is no diagnosis.
pub(crate) fn ask(inputs: &Inputs) -> (String, Vec<String>) {
    let reason = if inputs.diagnoses.is_empty() {
        "no report of the kernels is given"
    } else {
        "what is given holds no kernel"
    };
    (
        reason.to_owned(),
        vec![
            whole_profile(None),
            format!("ridge why -- {}", inputs.program()),
        ],
    )
}
