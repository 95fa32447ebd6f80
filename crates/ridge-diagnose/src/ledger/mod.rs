//! The resource ledger: what a kernel asks of each unit of the GPU, against what the unit can give.
//!
//! For each stage of each resource the demand `w` (bytes, sectors, wavefronts, warp instructions, operations) is set
//! against the capacity `c` at the clock of the run: the stage is busy for `t = w / c`, a share `t / T` of the
//! duration. No stage can be busy for longer than the kernel runs, so the largest share tells what binds, and
//! `1 − share` is what could be gained if everything else were hidden behind it.
//!
//! Shares are computed from demand and capacity, never copied from a percentage of the profiler. A stage that the
//! report does not let us compute is absent.

mod caches;
mod memory;
mod opcodes;
mod pipes;
mod resource;
mod shapes;
mod tensor;

pub use resource::{Class, Resource};

use ncu_rep::Metrics;
use ridge_model::Architecture;
use ridge_model::arch::Figure;
use ridge_model::arch::tensor::Board;

/// A stage of a resource: one unit that work passes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Bytes over the interface of the device memory.
    DramBytes,
    /// Tag look-ups of the L2.
    L2Requests,
    /// Sectors looked up in the L2.
    L2Sectors,
    /// Data from the L2 to the SMs.
    L2Return,
    /// Sectors written by SMs into the L2.
    L2Write,
    /// Global and local accesses in the L1, one wavefront after the other.
    L1Wavefronts,
    /// Data of global and local memory from the L1 to the registers.
    L1Writeback,
    /// Data of global, local and shared memory in the L1, one wavefront after the other.
    L1Data,
    /// Sectors from the L2 into the L1.
    L1Fill,
    /// Bytes from the L1 to the L2.
    L1Store,
    /// Wavefronts in shared memory.
    SharedWavefronts,
    /// Instructions into the load/store unit.
    LsuInstructions,
    /// Issue slots.
    Issue,
    /// Single-precision and integer multiply-add instructions.
    Fma,
    /// Instructions that only the heavy half of the FMA pipe executes.
    FmaHeavy,
    /// Integer, logic and comparison instructions.
    Alu,
    /// Double-precision instructions.
    Fp64,
    /// Special functions and conversions.
    Xu,
    /// Uniform instructions.
    Uniform,
    /// Matrix operations.
    Tensor,
    /// Half-precision multiply-adds on the matrix pipe.
    HalfOnTensor,
    /// Packed half-precision arithmetic, where its rate does not depend on the compiler.
    Half,
    /// Accesses of local memory in the L1, a part of its wavefronts.
    LocalWavefronts,
    /// Atomics and reductions in the L2, if they were spread evenly.
    AtomicsL2,
    /// Wavefronts of atomics in shared memory.
    AtomicsShared,
    /// Requests to the indexed constant cache of an SM.
    ConstantRequests,
    /// Requests for constants to the cache that the SMs of a GPC share.
    ConstantFills,
    /// Requests to the instruction cache of an SM.
    InstructionRequests,
    /// Requests for instructions to the cache that the SMs of a GPC share.
    InstructionFills,
}

impl Stage {
    /// The resource that the stage belongs to.
    #[must_use]
    pub fn resource(self) -> Resource {
        match self {
            Self::DramBytes => Resource::Dram,
            Self::L2Requests | Self::L2Sectors | Self::L2Return | Self::L2Write => Resource::L2,
            Self::L1Wavefronts
            | Self::L1Writeback
            | Self::L1Data
            | Self::L1Fill
            | Self::L1Store
            | Self::LsuInstructions => Resource::L1,
            Self::SharedWavefronts => Resource::Shared,
            Self::Issue => Resource::Issue,
            Self::Fma | Self::FmaHeavy => Resource::Fma,
            Self::Alu => Resource::Alu,
            Self::Fp64 => Resource::Fp64,
            Self::Xu => Resource::Xu,
            Self::Uniform => Resource::Uniform,
            Self::Tensor => Resource::Tensor,
            Self::HalfOnTensor | Self::Half => Resource::Fp16,
            Self::LocalWavefronts => Resource::Local,
            Self::AtomicsL2 => Resource::AtomicL2,
            Self::AtomicsShared => Resource::AtomicShared,
            Self::ConstantRequests | Self::ConstantFills => Resource::Constant,
            Self::InstructionRequests | Self::InstructionFills => Resource::InstructionFetch,
        }
    }

    /// What people read: the unit inside the resource.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::DramBytes => "interface",
            Self::L2Requests => "tag look-ups",
            Self::L2Sectors => "sectors",
            Self::L2Return => "data to SMs",
            Self::L2Write => "data from SMs",
            Self::L1Wavefronts => "global and local wavefronts",
            Self::L1Writeback => "global data to registers",
            Self::L1Data => "data stage",
            Self::L1Fill => "fill from L2",
            Self::L1Store => "stores to L2",
            Self::SharedWavefronts => "wavefronts",
            Self::LsuInstructions => "LSU instructions",
            Self::Issue => "instructions",
            Self::Fma => "FP32 and integer multiply",
            Self::FmaHeavy => "heavy half: integer multiply, 16-bit",
            Self::Alu => "integer and logic",
            Self::Fp64 => "FP64",
            Self::Xu => "special functions, conversions",
            Self::Uniform => "uniform instructions",
            Self::Tensor => "matrix operations",
            Self::HalfOnTensor => "multiply-adds on the matrix pipe",
            Self::Half => "packed arithmetic",
            Self::LocalWavefronts => "wavefronts",
            Self::AtomicsL2 => "atomic sectors",
            Self::AtomicsShared => "atomic wavefronts",
            Self::ConstantRequests => "requests in the SM",
            Self::ConstantFills => "requests in the GPC",
            Self::InstructionRequests => "requests in the SM",
            Self::InstructionFills => "requests in the GPC",
        }
    }
}

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
        let mut builder = Builder {
            metrics,
            duration_s: 0.0,
            rows: Vec::new(),
        };
        let Some(duration_ns) = metrics
            .number("gpu__time_duration.sum")
            .filter(|ns| *ns > 0.0)
        else {
            return Self::default();
        };
        builder.duration_s = duration_ns * 1e-9;
        memory::add_rows(&mut builder, architecture);
        caches::add_rows(&mut builder, architecture);
        pipes::add_rows(&mut builder, architecture);
        if let Some(architecture) = architecture {
            tensor::add_row(&mut builder, &architecture.tensor);
        }
        Self { rows: builder.rows }
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

/// Above this part of what passes a stage of two uses, the stage counts for that use.
const MOST: f64 = 0.5;

/// A share above this cannot come from differences between passes.
const CONTRADICTION: f64 = 1.1;

/// Adds rows while the metrics for them are there.
pub(crate) struct Builder<'m, 'r> {
    metrics: &'m Metrics<'r>,
    duration_s: f64,
    rows: Vec<Row>,
}

/// The capacity of a stage: so many units of work in a cycle of each of the units that a counter of cycles sums over.
#[derive(Clone, Copy)]
pub(crate) struct Capacity {
    pub(crate) per_cycle: f64,
    /// A metric that sums elapsed cycles over all units, such as `lts__cycles_elapsed.sum`.
    pub(crate) cycles: &'static str,
}

impl Builder<'_, '_> {
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.metrics.number(name)
    }

    /// Adds a row whose demand is the sum of counters; absent when any of them is.
    pub(crate) fn add_sum(
        &mut self,
        stage: Stage,
        counters: &[&str],
        unit: &'static str,
        capacity: Capacity,
    ) {
        let demand: Option<f64> = counters.iter().map(|counter| self.number(counter)).sum();
        if let Some(demand) = demand {
            let source = counters.iter().map(|&counter| counter.to_owned()).collect();
            self.add(stage, demand, unit, capacity, source);
        }
    }

    /// The same where the architecture has a figure for the capacity; absent where it has none.
    pub(crate) fn add_figure(
        &mut self,
        stage: Stage,
        counters: &[&str],
        unit: &'static str,
        figure: Option<Figure>,
        cycles: &'static str,
    ) {
        if let Some(Figure { value, .. }) = figure {
            let capacity = Capacity {
                per_cycle: value,
                cycles,
            };
            self.add_sum(stage, counters, unit, capacity);
        }
    }

    /// How many units of a kind the counters were summed over.
    pub(crate) fn units(&self, unit: &str) -> Option<f64> {
        let all = self.number(&format!("{unit}__cycles_elapsed.sum"))?;
        let mean = self.number(&format!("{unit}__cycles_elapsed.avg"))?;
        (all > 0.0 && mean > 0.0).then(|| all / mean)
    }

    /// The class of the board; absent where the report does not name it.
    pub(crate) fn board(&self) -> Option<Board> {
        self.metrics
            .text("device__attribute_display_name")
            .map(Board::of)
    }

    /// Adds a row for a demand; absent when the cycles of the unit are.
    pub(crate) fn add(
        &mut self,
        stage: Stage,
        demand: f64,
        unit: &'static str,
        capacity: Capacity,
        mut source: Vec<String>,
    ) {
        let Some(cycles) = self.number(capacity.cycles).filter(|cycles| *cycles > 0.0) else {
            return;
        };
        source.push(capacity.cycles.to_owned());
        self.push(
            stage,
            demand,
            unit,
            capacity.per_cycle * cycles / self.duration_s,
            source,
        );
    }

    /// Adds a row for a demand against a capacity per second.
    pub(crate) fn push(
        &mut self,
        stage: Stage,
        demand: f64,
        unit: &'static str,
        capacity_per_s: f64,
        source: Vec<String>,
    ) {
        let busy_share = demand / capacity_per_s / self.duration_s;
        // Counters of different passes disagree by a few per cent, and then a unit is busy all the time. A row that says
        // far more contradicts itself and is left out.
        if demand >= 0.0 && capacity_per_s > 0.0 && busy_share <= CONTRADICTION {
            let busy_share = busy_share.min(1.0);
            let mut row = Row {
                stage,
                resource: stage.resource(),
                demand,
                unit,
                capacity_per_s,
                busy_share,
                source,
            };
            if stage == Stage::L1Data && shared_part(&self.rows, &row) > MOST {
                row.resource = Resource::Shared;
            }
            self.rows.push(row);
        }
    }

    pub(crate) fn duration_s(&self) -> f64 {
        self.duration_s
    }
}
