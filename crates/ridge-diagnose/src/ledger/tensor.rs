//! The row of the matrix pipes.
//!
//! All kinds of products share the pipes and each has a peak of its own: the busy time of all kinds is added up.

use std::collections::BTreeSet;

use ridge_model::arch::tensor::Tensor;

use super::{Builder, Capacity, Stage};
use crate::work::tensor::{Products, products};

const SM_CYCLES: &str = "sm__cycles_elapsed.sum";

/// Work of several kinds.
#[derive(Default)]
struct Work {
    operations: f64,
    /// Cycles of one SM that the operations take at their peaks.
    cycles: f64,
    /// The peak of a kind that may have no work: the capacity of a pipe that does nothing.
    idle_peak: Option<f64>,
    source: BTreeSet<String>,
}

impl Work {
    fn add(&mut self, operations: f64, peak: f64) {
        self.operations += operations;
        self.cycles += operations / peak;
        self.idle_peak = self.idle_peak.or(Some(peak));
    }
}

/// Adds the row; absent when neither the counters nor the opcodes tell all the work, or a peak is not known.
pub(super) fn add_row(builder: &mut Builder<'_, '_>, tensor: &Tensor) {
    let Some(work) = work(builder, tensor) else {
        return;
    };
    // With work of several kinds the capacity is their mean, weighted with the work.
    let per_cycle = if work.cycles > 0.0 {
        Some(work.operations / work.cycles)
    } else {
        work.idle_peak
    };
    if let Some(per_cycle) = per_cycle {
        let capacity = Capacity {
            per_cycle,
            cycles: SM_CYCLES,
        };
        let source = work.source.into_iter().collect();
        builder.add(
            Stage::Tensor,
            work.operations,
            "operation",
            capacity,
            source,
        );
    }
}

fn work(builder: &Builder<'_, '_>, tensor: &Tensor) -> Option<Work> {
    let mut work = Work::default();
    for products in products(builder.metrics(), tensor)? {
        let operations = products.operations;
        match peak(builder, tensor, &products) {
            Some((peak, stored)) => {
                work.add(operations, peak);
                if operations > 0.0 {
                    work.source.insert(products.source);
                    work.source.extend(stored);
                }
            }
            None if operations > 0.0 => return None,
            None => {}
        }
    }
    Some(work)
}

/// Operations a cycle of one SM and the metric that they come from: the peak that the report stores, else the
/// architecture's figure.
fn peak(
    builder: &Builder<'_, '_>,
    tensor: &Tensor,
    products: &Products,
) -> Option<(f64, Option<String>)> {
    if let Some(counter) = products.counter.filter(|counter| counter.has_own_peak) {
        let name = format!("{}.sum.peak_sustained", counter.name);
        let stored = builder.number(&name).filter(|peak| *peak > 0.0);
        if let (Some(peak), Some(units)) = (stored, builder.units("sm")) {
            return Some((peak / units, Some(name)));
        }
    }
    let figure = tensor.rate(
        products.operands,
        products.family,
        products.is_sparse,
        builder.board(),
    );
    Some((figure?.value, None))
}
