//! The row of the matrix pipes.
//!
//! All kinds of products share the pipes and each has a peak of its own: the busy time of all kinds is added up.

use std::collections::BTreeSet;

use ridge_model::arch::tensor::{Counter, Tensor};

use super::shapes::product;
use super::{Builder, Capacity, Stage};
use crate::mix::InstructionMix;

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
    let is_counted = tensor
        .counters
        .iter()
        .any(|counter| operations(builder, counter).is_some());
    let work = if is_counted {
        by_counters(builder, tensor)
    } else {
        by_opcodes(builder, tensor)
    };
    let Some(work) = work else {
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

fn operations(builder: &Builder<'_, '_>, counter: &Counter) -> Option<f64> {
    builder.number(&format!("{}.sum", counter.name))
}

/// The work by the counters of operations.
fn by_counters(builder: &Builder<'_, '_>, tensor: &Tensor) -> Option<Work> {
    let mut work = Work::default();
    for counter in tensor.counters {
        let Some(count) = operations(builder, counter) else {
            continue;
        };
        match peak(builder, tensor, counter) {
            Some((peak, stored)) => {
                work.add(count, peak);
                if count > 0.0 {
                    work.source.insert(format!("{}.sum", counter.name));
                    work.source.extend(stored);
                }
            }
            None if count > 0.0 => return None,
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
    counter: &Counter,
) -> Option<(f64, Option<String>)> {
    let name = format!("{}.sum.peak_sustained", counter.name);
    let stored = builder
        .number(&name)
        .filter(|peak| *peak > 0.0 && counter.has_own_peak);
    if let (Some(peak), Some(units)) = (stored, builder.units("sm")) {
        return Some((peak / units, Some(name)));
    }
    let figure = tensor.rate(
        counter.operands,
        counter.family,
        counter.is_sparse,
        builder.board(),
    );
    Some((figure?.value, None))
}

/// The work by opcodes, for profiles without those counters: the opcode names the shape of the product.
fn by_opcodes(builder: &Builder<'_, '_>, tensor: &Tensor) -> Option<Work> {
    let mix = InstructionMix::of(builder.metrics())?;
    let mut work = Work::default();
    for (opcode, modifiers, count) in mix.iter() {
        if !opcode.ends_with("MMA") || count <= 0.0 {
            continue;
        }
        let product = product(opcode, modifiers)?;
        let peak = tensor.rate(
            product.operands,
            product.family,
            product.is_sparse,
            builder.board(),
        )?;
        work.add(count * product.operations, peak.value);
        work.source.insert(mix.source().to_owned());
    }
    (work.operations > 0.0).then_some(work)
}
