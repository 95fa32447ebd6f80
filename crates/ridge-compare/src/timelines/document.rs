//! What a comparison of two timelines says, as data.
//!
//! Fields are only ever added within a version. Fractions are 0 to 1, times are nanoseconds, absent is `null`.

use ridge_trace::document::{Direction, GapClass};
use ridge_trace::{CopyKind, Memory};
use schemars::JsonSchema;
use serde::Serialize;

use crate::kernels::document::{Held, Outcome, Rule, Time};

/// What a program did with its GPUs before and after a change.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Timelines {
    /// From the first start to the last end on the device with the longest span; `null` where single kernels were chosen.
    pub span: Option<Time>,
    /// Devices in the order of their numbers; those that only one side has are left out.
    pub devices: Vec<DeviceChange>,
    /// Kernels that belong together, those that took most time before first.
    pub kernels: Vec<KernelChange>,
    /// Kernels before that are not after, those that take most time first.
    pub only_before: Vec<AloneKernel>,
    /// Kernels after that were not before.
    pub only_after: Vec<AloneKernel>,
    /// Copies by direction and memory.
    pub copies: Vec<CopyChange>,
    /// Findings before, then those that are new.
    pub findings: Vec<FindingChange>,
}

/// A number before and after; absent on a side that does not have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Two {
    /// Before.
    pub before: Option<f64>,
    /// After.
    pub after: Option<f64>,
}

impl Two {
    pub(super) const fn of(before: f64, after: f64) -> Self {
        Self {
            before: Some(before),
            after: Some(after),
        }
    }
}

/// A device before and after.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DeviceChange {
    /// Its number before.
    pub number: u64,
    /// Its name before.
    pub name_before: Option<String>,
    /// Its name after.
    pub name_after: Option<String>,
    /// From its first start to its last end.
    pub span_ns: Two,
    /// The share of the span in which something ran.
    pub busy_share: Two,
    /// A kernel ran.
    pub kernel_ns: Two,
    /// A copy and no kernel ran.
    pub copy_exposed_ns: Two,
    /// Nothing ran.
    pub idle_ns: Two,
    /// Pieces of work.
    pub kernels: Two,
    /// Times at which it had nothing to do, by class.
    pub gaps: Vec<GapChange>,
}

/// Gaps of one class.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GapChange {
    /// The class.
    pub class: GapClass,
    /// How many.
    pub count: Two,
    /// Their sum.
    pub sum_ns: Two,
}

/// Kernels of one name.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct KernelChange {
    /// The whole name before.
    pub before: String,
    /// The whole name after.
    pub after: String,
    /// How they were found to belong together.
    pub matched_by: Rule,
    /// How alike the names are, where that decided.
    pub similarity: Option<f64>,
    /// How many launches.
    pub launches: Two,
    /// What they take together.
    pub sum_ns: Two,
    /// One launch: medians, with a verdict.
    pub time: Time,
}

/// A kernel of one side.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AloneKernel {
    /// The whole name.
    pub name: String,
    /// How many launches.
    pub launches: u64,
    /// What they take together.
    pub sum_ns: f64,
}

/// Copies of one direction between the same kinds of memory.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CopyChange {
    /// From where to where.
    pub kind: CopyKind,
    /// What they read.
    pub from: Memory,
    /// What they wrote.
    pub to: Memory,
    /// How many.
    pub count: Two,
    /// Bytes of all.
    pub bytes: Two,
    /// What they take together.
    pub sum_ns: Two,
}

/// What became of a finding.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FindingChange {
    /// The finding.
    pub id: String,
    /// What it said before, or says now where it is new.
    pub title: String,
    /// What became of it.
    pub outcome: Outcome,
    /// What its remedy was expected to save, as a fraction of the span before, and is now.
    pub saving_expected: Two,
    /// What had to move, and whether it did.
    pub verify: Vec<FigureMoved>,
}

/// A figure that had to move.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FigureMoved {
    /// What it is of.
    pub metric: String,
    /// Which way it had to move.
    pub direction: Direction,
    /// Its values.
    pub values: Two,
    /// Its unit.
    pub unit: String,
    /// Whether it did.
    pub outcome: Held,
}
