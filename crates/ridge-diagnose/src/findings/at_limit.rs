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
//! again.
//!
//! # When it is wrong
//! When much of the work is not needed: divergence, unfused operations, excess sectors, precise functions. Those are
//! findings of their own and take this verdict's place when they promise a tenth or more.
//!
//! # References
//! `docs/design/ledger.md`, section on attainable peaks.

use super::draft::Draft;
use super::saving::Remedy;
use super::{Case, Outcome};
use crate::attainable::attainable;
use crate::ledger::{Resource, Stage};

pub(super) const L2: &str = "at-l2-limit";
pub(super) const COMPUTE: &str = "at-compute-limit";
pub(super) const TENSOR: &str = "at-tensor-limit";

const NEEDS: &[&str] = &["MemoryWorkloadAnalysis_Tables", "InstructionStats"];

/// A kernel is at the limit when less than a tenth of its time lies between it and the attainable roof.
const WITHIN: f64 = 0.10;

pub(super) fn l2(case: &Case<'_, '_>) -> Outcome {
    check(case, L2, "L2", |resource| resource == Resource::L2)
}

pub(super) fn tensor(case: &Case<'_, '_>) -> Outcome {
    check(case, TENSOR, "matrix pipes", |resource| {
        resource == Resource::Tensor
    })
}

pub(super) fn compute(case: &Case<'_, '_>) -> Outcome {
    check(case, COMPUTE, "execution pipes", |resource| {
        use Resource::{Alu, Fma, Fp16, Fp64, Issue, Uniform, Xu};
        matches!(resource, Fma | Alu | Fp16 | Fp64 | Xu | Uniform | Issue)
    })
}

fn check(
    case: &Case<'_, '_>,
    id: &'static str,
    name: &str,
    counts: fn(Resource) -> bool,
) -> Outcome {
    let Some(busiest) = case.ledger.busiest() else {
        return Outcome::NotChecked(NEEDS);
    };
    let reach = attainable(busiest.stage);
    let gap = (1.0 - busiest.busy_share / reach.share).max(0.0);
    if !counts(busiest.resource) || gap > WITHIN {
        return Outcome::Clear;
    }
    // Issue slots are filled by whatever is executed; the pipe behind them says what the work is.
    let pipe = [Stage::Fma, Stage::Alu, Stage::Half, Stage::Fp64, Stage::Xu]
        .into_iter()
        .max_by(|a, b| case.busy(*a).total_cmp(&case.busy(*b)));
    let title = format!(
        "the {name} are busy for {:.0} % of the time ({}); about {:.0} % is what kernels attain",
        100.0 * busiest.busy_share.min(1.0),
        busiest.stage.label(),
        100.0 * reach.share
    );
    let mut draft = Draft::new(id, title)
        .seen(busiest.source.join(", "), busiest.demand, busiest.unit)
        .seen(
            format!("attainable share ({})", reach.source),
            reach.share,
            "fraction",
        )
        .act(&[
            "do less work: another algorithm, or results kept instead of computed again",
            "use lower precision where the numbers allow it",
        ]);
    if let Some(pipe) = pipe.filter(|_| id == COMPUTE) {
        draft = draft.seen(
            format!("busiest pipe: {}", pipe.label()),
            case.busy(pipe),
            "fraction",
        );
    }
    draft
        .falls("smsp__inst_executed.sum")
        .weigh(case, &Remedy::hiding(), NEEDS)
}
