//! A thread that waits for each load or result before it asks for the next leaves memory and pipes idle, however many
//! threads there are.
//!
//! # How it is answered
//! No where a kernel has `latency-bound`. No as well where a finding says that too few warps are there, and each of them
//! would need a quarter more in flight, or beyond, although every SM were full. The figures are warps that could issue, and how often one
//! does. A flaw counts from 5 % of the time of its kernel on, and kernels by their share of the time; together the flaws
//! must cost 2 % of it for a no.
//!
//! # What to do
//! Several elements a thread, loads before their use, unrolled loops with several sums, 8- and 16-byte accesses,
//! asynchronous copies one tile ahead.
//!
//! # When it is wrong
//! Chains that the algorithm needs (recurrences, linked lists) cannot be cut; more of them side by side can run.

use ridge_diagnose::document::{Kernel, LatencyVerdict};

use crate::document::{Answer, Evidence};
use crate::inputs::Inputs;
pub(super) use crate::kernels::ask;
use crate::kernels::{Asked, Figures, NAMED, OfSource, WORTHWHILE, sources};
use crate::part::{Part, figure};
use crate::words::{percent, short};

pub(super) const ID: &str = "independent-work";
pub(super) const QUESTION: &str = "Has each thread enough independent work in flight?";

const ASKED: Asked = Asked {
    findings: &["latency-bound"],
    fine: "has enough in flight",
    figures,
};

/// Findings that name too few warps as the cause of waiting: where there is one, `latency-bound` is not told.
const TOO_FEW_WARPS: &[&str] = &[
    "underfilled-grid",
    "low-occupancy-registers",
    "low-occupancy-shared",
    "low-occupancy-block",
];

/// From this growth on, each warp lacks something. Latencies without load were measured on one GPU of each architecture, and
/// tell no more than that.
const TELLING: f64 = 1.25;

pub(super) fn look(inputs: &Inputs) -> Vec<Part> {
    sources(inputs).iter().map(of_source).collect()
}

fn of_source(source: &OfSource<'_>) -> Part {
    let part = source.answer(&ASKED);
    if part.answer != Answer::Yes {
        return part;
    }
    let lacking: Vec<(Lack<'_>, f64)> = source
        .kernels
        .iter()
        .filter_map(|weighed| Some((Lack::of(weighed.kernel)?, weighed.share)))
        .collect();
    let cost: f64 = lacking
        .iter()
        .map(|(lack, share)| lack.saving * share)
        .sum();
    if cost < WORTHWHILE {
        return part;
    }
    let reasons: Vec<String> = lacking
        .iter()
        .take(NAMED)
        .map(|(lack, share)| {
            let of_time = if source.kernels.len() == 1 {
                String::new()
            } else {
                format!(" ({} of the time)", percent(*share))
            };
            format!(
                "{}{of_time}: each warp needs {:.1} times as much in flight, even with as many warps as fit",
                short(&lack.kernel.name),
                lack.each
            )
        })
        .collect();
    let mut no = Part::no(format!(
        "{}; without it all takes up to {} less time",
        reasons.join("; "),
        percent(cost)
    ))
    .saving(cost)
    .doing([
        "load several elements before the first of them is used; keep several accumulators"
            .to_owned(),
        "work on several chains side by side in each thread".to_owned(),
    ]);
    for (lack, _) in lacking.iter().take(NAMED) {
        no = no
            .with(lack.evidence(source.file))
            .with(source.figures(lack.kernel, &ASKED))
            .then(source.why(lack.kernel));
    }
    no
}

/// A kernel whose warps would have too little in flight on full SMs.
struct Lack<'d> {
    kernel: &'d Kernel,
    /// By how much what each warp has in flight has to grow.
    each: f64,
    /// The part of the time that this saves at most, without the warps that are missing too.
    saving: f64,
}

impl<'d> Lack<'d> {
    fn of(kernel: &'d Kernel) -> Option<Self> {
        let mut findings = kernel.findings.iter();
        let of_warps = findings.find(|finding| TOO_FEW_WARPS.contains(&finding.id.as_str()))?;
        let latency = kernel.latency.as_ref()?;
        let each = match latency.verdict? {
            LatencyVerdict::NotEnoughInFlight { by_each_warp, .. }
            | LatencyVerdict::NotEnoughWarps { by_each_warp, .. } => by_each_warp,
            LatencyVerdict::DependentArithmetic { factor } => {
                factor / latency.warps.as_ref()?.missing_factor?.max(1.0)
            }
            _ => return None,
        };
        let saving = (1.0 - 1.0 / each).min(of_warps.saving_expected);
        (each >= TELLING).then_some(Self {
            kernel,
            each,
            saving,
        })
    }

    fn evidence(&self, file: &str) -> Vec<Evidence> {
        let about = Some(self.kernel.name.as_str());
        let grows = "growth of what each warp has in flight until a unit is busy, with full SMs";
        let mut list = vec![figure(file, about, grows, self.each, "").healthy(1.0)];
        let loads = self.kernel.latency.as_ref();
        let open = loads.and_then(|latency| latency.loads.as_ref()?.per_warp);
        list.extend(open.map(|open| {
            figure(
                file,
                about,
                "loads that a waiting warp has open",
                open,
                "load",
            )
            .healthy(open * self.each)
        }));
        list
    }
}

fn figures(figures: &mut Figures<'_>) {
    figures.counter("smsp__warps_eligible.avg.per_cycle_active", None);
    figures.counter("smsp__issue_active.avg.per_cycle_active", None);
}
