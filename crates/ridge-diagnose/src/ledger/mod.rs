//! The resource ledger: what a kernel asks of each unit of the GPU, against what the unit can give.
//!
//! For each stage of each resource the demand `w` (bytes, sectors, wavefronts, warp instructions, operations) is set
//! against the capacity `c` at the clock of the run: the stage is busy for `t = w / c`, a share `t / T` of the
//! duration. No stage can be busy for longer than the kernel runs, so the largest share tells what binds, and
//! `1 − share` is what could be gained if everything else were hidden behind it.
//!
//! Shares are computed from demand and capacity, never copied from a percentage of the profiler. A stage that the
//! report does not let us compute is absent.

mod builder;
mod caches;
mod memory;
mod opcodes;
mod pipes;
mod resource;
mod stage;
mod tensor;

pub use resource::{Class, Resource};
pub use stage::Stage;

use ncu_rep::Metrics;
use ridge_model::Architecture;

use builder::{Builder, Capacity};

/// One row of the ledger.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The unit.
    pub stage: Stage,
    /// What the row counts for: the resource of the stage, or shared memory where most of what passes the data stage
    /// of the L1 comes from there.
    pub resource: Resource,
    /// How much was asked of it.
    pub demand: f64,
    /// What the demand is counted in.
    pub unit: &'static str,
    /// How much it can do in a second at the clock of this run.
    pub capacity_per_s: f64,
    /// The part of the duration for which it was busy, 0 to 1.
    pub busy_share: f64,
    /// The counters that the row was computed from.
    pub source: Vec<String>,
}

/// The ledger of one kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ledger {
    rows: Vec<Row>,
}

/// How much of the demand on some stages a remedy leaves, as a factor of 0 to 1. Stages not named keep theirs.
#[derive(Clone, Debug, Default)]
pub struct Relief(Vec<(Stage, f64)>);

impl Relief {
    /// Nothing changes.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Also leaves this part of the demand on a stage.
    #[must_use]
    pub fn leave(mut self, stage: Stage, factor: f64) -> Self {
        self.0.push((stage, factor.clamp(0.0, 1.0)));
        self
    }

    fn factor(&self, stage: Stage) -> f64 {
        let relieved = || self.0.iter().filter(|(relieved, _)| *relieved == stage);
        match stage {
            // Fewer instructions are also fetched less often, where nothing else is said.
            Stage::InstructionRequests | Stage::InstructionFills if relieved().next().is_none() => {
                let instructions = self.factor(Stage::Issue);
                // Smaller code also misses its caches less: what is left of the fetches is less than in proportion.
                if instructions < 1.0 {
                    instructions * instructions * instructions
                } else {
                    1.0
                }
            }
            _ => relieved().map(|(_, factor)| factor).product(),
        }
    }
}

impl Ledger {
    /// Computes every row that the metrics and the architecture allow.
    #[must_use]
    pub fn new(metrics: &Metrics<'_>, architecture: Option<&Architecture>) -> Self {
        let Some(mut builder) = Builder::new(metrics) else {
            return Self::default();
        };
        memory::add_rows(&mut builder, architecture);
        caches::add_rows(&mut builder, architecture);
        pipes::add_rows(&mut builder, architecture);
        if let Some(architecture) = architecture {
            tensor::add_row(&mut builder, &architecture.tensor);
        }
        Self {
            rows: builder.into_rows(),
        }
    }

    /// All rows, in the order of the memory hierarchy and then of the pipes.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The row of a stage.
    #[must_use]
    pub fn row(&self, stage: Stage) -> Option<&Row> {
        self.rows.iter().find(|row| row.stage == stage)
    }

    /// The busiest row of each resource, busiest first.
    #[must_use]
    pub fn by_resource(&self) -> Vec<&Row> {
        let mut best: Vec<&Row> = Vec::new();
        for row in &self.rows {
            match best.iter_mut().find(|known| known.resource == row.resource) {
                Some(known) if known.busy_share < row.busy_share => *known = row,
                Some(_) => {}
                None => best.push(row),
            }
        }
        best.sort_by(|a, b| b.busy_share.total_cmp(&a.busy_share));
        best
    }

    /// The busiest row of all.
    #[must_use]
    pub fn busiest(&self) -> Option<&Row> {
        self.rows
            .iter()
            .max_by(|a, b| a.busy_share.total_cmp(&b.busy_share))
    }

    /// The busiest stage after a remedy, and the share of today's duration for which it would be busy: the kernel
    /// cannot become shorter than that.
    #[must_use]
    pub fn bound_after(&self, relief: &Relief) -> Option<(&Row, f64)> {
        self.rows
            .iter()
            .map(|row| (row, row.busy_share * self.left(row, relief)))
            .max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The part of the demand on a row that a remedy leaves.
    fn left(&self, row: &Row, relief: &Relief) -> f64 {
        if row.stage != Stage::L1Data {
            return relief.factor(row.stage);
        }
        // Accesses to shared memory and those to global and local memory pass the data stage: each part shrinks with
        // its own accesses.
        let shared = shared_part(&self.rows, row);
        let others = [
            Stage::L1Wavefronts,
            Stage::L1Writeback,
            Stage::LsuInstructions,
        ]
        .map(|stage| relief.factor(stage))
        .into_iter()
        .fold(1.0, f64::min);
        shared * relief.factor(Stage::SharedWavefronts) + (1.0 - shared) * others
    }
}

/// The part of the wavefronts in the data stage that are accesses to shared memory.
fn shared_part(rows: &[Row], data: &Row) -> f64 {
    let shared = rows.iter().find(|row| row.stage == Stage::SharedWavefronts);
    match shared {
        Some(shared) if data.demand > 0.0 => (shared.demand / data.demand).min(1.0),
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(stage: Stage, demand: f64) -> Row {
        Row {
            stage,
            resource: stage.resource(),
            demand,
            unit: "wavefront",
            capacity_per_s: 10.0,
            busy_share: demand / 10.0,
            source: Vec::new(),
        }
    }

    #[test]
    fn a_remedy_relieves_its_part_of_the_data_stage() {
        let ledger = Ledger {
            rows: vec![row(Stage::SharedWavefronts, 6.0), row(Stage::L1Data, 8.0)],
        };
        let left = |relief: Relief| {
            let (row, share) = ledger.bound_after(&relief)?;
            Some((row.stage, (100.0 * share).round()))
        };
        let none = Relief::none();
        assert_eq!(left(none.clone()), Some((Stage::L1Data, 80.0)));
        // Without conflicts in shared memory the other quarter stays, and the other way round.
        let shared = none.clone().leave(Stage::SharedWavefronts, 0.0);
        assert_eq!(left(shared), Some((Stage::L1Data, 20.0)));
        let global = none.leave(Stage::L1Wavefronts, 0.5);
        assert_eq!(left(global), Some((Stage::L1Data, 70.0)));
    }
}
