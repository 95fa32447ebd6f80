//! The kernel runs about as fast as a unit of the device can.
//!
//! # What it says
//! The L2, the execution pipes or the matrix pipes are busy for nearly as much of the duration as any kernel achieves.
//! No rearrangement of the same work makes it faster.
//!
//! # Evidence
//! The busiest row of the ledger against what is attainable on its unit.
//!
//! # Why it costs time
//! It does not: this is the roof.
//!
//! # What to do
//! Do less work: another algorithm, lower precision, fewer evaluations, results that are kept instead of computed
//! again. Where the operations of the computation were given (`ridge why --flops`), the verdict says how many of those
//! executed are more.
//!
//! # When it is wrong
//! When much of the work is not needed: divergence, unfused operations, excess sectors, precise functions. Those are
//! findings of their own and take this verdict's place when they promise a tenth or more.
//!
//! # References
//! `docs/design/ledger.md`, section on attainable peaks.

use super::draft::Draft;
use super::less_work;
use super::saving::Remedy;
use super::{Case, Outcome};
use crate::attainable::attainable;
use crate::ledger::{Resource, Row, Stage};
use crate::mix::TENSOR as TENSOR_OPCODES;

pub(super) const L2: &str = "at-l2-limit";
pub(super) const COMPUTE: &str = "at-compute-limit";
pub(super) const TENSOR: &str = "at-tensor-limit";

const L2_NEEDS: &[&str] = &["MemoryWorkloadAnalysis_Tables", "WorkloadDistribution"];
const L2_RETURN_NEEDS: &[&str] = &[
    "MemoryWorkloadAnalysis_Tables",
    "WorkloadDistribution",
    "SpeedOfLight_HierarchicalSingleRooflineChart",
];
const COMPUTE_NEEDS: &[&str] = &["InstructionStats", "WorkloadDistribution"];
const TENSOR_NEEDS: &[&str] = &[
    "InstructionStats",
    "WorkloadDistribution",
    "SpeedOfLight_HierarchicalTensorRooflineChart",
];

/// How busy the way from the L2 to the SMs is, which the basic set tells.
const RETURN: &str = "lts__lts2xbar_cycles_active.avg.pct_of_peak_sustained_elapsed";
/// Whether the matrix pipes work at all, which the basic set tells.
const PIPE: &str = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed";

/// A kernel is at the limit when less than a tenth of its time lies between it and the attainable roof.
const WITHIN: f64 = 0.10;

pub(super) fn l2(case: &Case<'_, '_>) -> Outcome {
    // The peak of the way back to the SMs is stored with a roofline only; a share tells whether it matters.
    let is_return_unknown = case.ledger.row(Stage::L2Return).is_none()
        && case.number(RETURN).is_none_or(|percent| {
            percent / 100.0 >= (1.0 - WITHIN) * attainable(Stage::L2Return).share
        });
    let lacks_sectors = case.lacks(&[
        "lts__t_requests.sum",
        "lts__t_sectors.sum",
        "lts__cycles_elapsed.sum",
    ]);
    let limit = Limit {
        id: L2,
        name: "L2 is",
        counts: |resource| resource == Resource::L2,
        is_unknown: lacks_sectors || is_return_unknown,
        needs: if is_return_unknown {
            L2_RETURN_NEEDS
        } else {
            L2_NEEDS
        },
    };
    limit.check(case)
}

pub(super) fn tensor(case: &Case<'_, '_>) -> Outcome {
    let is_used = match case.mix {
        Some(mix) => mix.of_opcodes(TENSOR_OPCODES) > 0.0,
        None => case.number(PIPE).is_none_or(|percent| percent > 0.0),
    };
    let has_operations = || {
        let mut counters = case.profile.metrics.beginning_with("sm__ops_path_tensor");
        counters.any(|metric| metric.number().is_some())
    };
    let limit = Limit {
        id: TENSOR,
        name: "matrix pipes are",
        counts: |resource| resource == Resource::Tensor,
        is_unknown: is_used && (case.lacks(&["sm__cycles_elapsed.sum"]) || !has_operations()),
        needs: TENSOR_NEEDS,
    };
    limit.check(case)
}

pub(super) fn compute(case: &Case<'_, '_>) -> Outcome {
    let limit = Limit {
        id: COMPUTE,
        name: "execution pipes are",
        counts: |resource| {
            use Resource::{Alu, Fma, Fp16, Fp64, Issue, Uniform, Xu};
            matches!(resource, Fma | Alu | Fp16 | Fp64 | Xu | Uniform | Issue)
        },
        is_unknown: case.mix.is_none()
            || case.lacks(&["smsp__inst_issued.sum", "smsp__cycles_elapsed.sum"]),
        needs: COMPUTE_NEEDS,
    };
    limit.check(case)
}

/// A roof: the resources under it, and whether the input tells how busy they are.
struct Limit {
    id: &'static str,
    name: &'static str,
    counts: fn(Resource) -> bool,
    is_unknown: bool,
    needs: &'static [&'static str],
}

impl Limit {
    fn check(&self, case: &Case<'_, '_>) -> Outcome {
        match case.ledger.busiest() {
            Some(busiest) if self.is_reached(busiest) => self.verdict(case, busiest),
            // A unit that is not seen may be the one that limits.
            _ if self.is_unknown => Outcome::NotChecked(self.needs),
            Some(_) => Outcome::Clear,
            None => Outcome::NotChecked(self.needs),
        }
    }

    fn is_reached(&self, busiest: &Row) -> bool {
        let gap = 1.0 - busiest.busy_share / attainable(busiest.stage).share;
        (self.counts)(busiest.resource) && gap <= WITHIN
    }

    fn verdict(&self, case: &Case<'_, '_>, busiest: &Row) -> Outcome {
        let (id, name, reach) = (self.id, self.name, attainable(busiest.stage));
        // Issue slots are filled by whatever is executed; the pipe behind them says what the work is.
        let pipe = [Stage::Fma, Stage::Alu, Stage::Half, Stage::Fp64, Stage::Xu]
            .into_iter()
            .max_by(|a, b| case.busy(*a).total_cmp(&case.busy(*b)));
        let title = format!(
            "the {name} busy for {:.0} % of the time ({}); about {:.0} % is what kernels attain",
            100.0 * busiest.busy_share.min(1.0),
            busiest.stage.label(),
            100.0 * reach.share
        );
        let mut draft = less_work::against_given(case, id, Draft::new(id, title))
            .seen(busiest.source.join(", "), busiest.demand, busiest.unit)
            .seen_against(
                format!("busy share, against what is attained ({})", reach.source),
                busiest.busy_share,
                "fraction",
                reach.share,
            )
            .act(&[
                "do less work: another algorithm, or results kept instead of computed again",
                "use lower precision where the numbers allow it",
            ]);
        if let Some(pipe) = pipe.filter(|_| id == COMPUTE) {
            draft = draft.seen_against(
                format!("busiest pipe: {}", pipe.label()),
                case.busy(pipe),
                "fraction",
                attainable(pipe).share,
            );
        }
        draft
            .falls("smsp__inst_executed.sum")
            .weigh(case, &Remedy::hiding(), self.needs)
    }
}
